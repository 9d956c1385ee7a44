//! Promises about active messages.

use super::{Subject, is_end, meet, soon, together};
use crate::error::Error;
use crate::strategy::{ActiveMessage, Handler, Handlers, Ready, Wait};
use std::io::IoSlice;

#[derive(Default)]
struct Log {
    calls: Vec<(Handler, u32)>,
}

const ASK: Handler = 1;
const ANSWER: Handler = 2;

impl Handlers for Log {
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        answer: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        let number = arguments.try_into().map_err(|_| "no number")?;
        self.calls.push((handler, u32::from_le_bytes(number)));
        if handler == ASK {
            answer(ANSWER, arguments);
        }
        Ok(())
    }
}

/// Calls are carried out once and in order, and so are their answers; another handler's number
/// ends the connection.
pub fn calls_are_carried_out_in_order(subject: &impl Subject) {
    const COUNT: u32 = 2000;
    let (connected, accepted) = meet(subject);
    let mut one = connected.active_message().unwrap();
    let mut other = accepted.active_message().unwrap();
    let ask = || {
        let (mut log, mut asked) = (Log::default(), 0u32);
        while log.calls.len() < COUNT as usize {
            if asked < COUNT && one.try_call(ASK, &[IoSlice::new(&asked.to_le_bytes())]).is_ok() {
                asked += 1;
            } else if one.try_progress(&mut log).unwrap() == 0 {
                one.wait(Ready::Receive, soon()).unwrap();
            }
        }
        one.try_call(ASK, &[IoSlice::new(b"no number")]).unwrap();
        (one, log.calls)
    };
    let ((_one, answers), calls) = together(ask, || {
        let mut log = Log::default();
        loop {
            match other.try_progress(&mut log) {
                Ok(0) => other.wait(Ready::Receive, soon()).unwrap(),
                Ok(_) => {}
                Err(error) => {
                    assert!(matches!(error, Error::Malformed { .. }), "{error}");
                    return log.calls;
                }
            }
        }
    });
    let numbered = |handler| (0..COUNT).map(move |number| (handler, number)).collect::<Vec<_>>();
    assert!(answers == numbered(ANSWER) && calls == numbered(ASK));
}

/// What was called and flushed is carried out though its caller is gone.
pub fn what_was_called_and_flushed_is_carried_out(subject: &impl Subject) {
    const COUNT: u32 = 1000;
    let (connected, accepted) = meet(subject);
    let mut one = connected.active_message().unwrap();
    let mut other = accepted.active_message().unwrap();
    let call = move || {
        let mut called = 0u32;
        while called < COUNT {
            match one.try_call(ANSWER, &[IoSlice::new(&called.to_le_bytes())]) {
                Ok(()) => called += 1,
                Err(Error::WouldBlock) => one.wait(Ready::Send, soon()).unwrap(),
                Err(error) => panic!("{error}"),
            }
        }
        while !one.try_flush().unwrap() {
            one.wait(Ready::Send, soon()).unwrap();
        }
        drop(one);
    };
    let ((), calls) = together(call, || {
        let mut log = Log::default();
        loop {
            match other.try_progress(&mut log) {
                Ok(0) => {
                    // Its end may be what is waited for, and is told by the next try.
                    let waited = other.wait(Ready::Receive, soon());
                    assert!(waited.as_ref().map_or_else(is_end, |_| true), "{waited:?}");
                }
                Ok(_) => {}
                Err(error) => {
                    assert!(is_end(&error), "{error}");
                    return log.calls;
                }
            }
        }
    });
    let all: Vec<_> = (0..COUNT).map(|number| (ANSWER, number)).collect();
    assert!(calls == all, "{} calls were carried out, or others", calls.len());
}
