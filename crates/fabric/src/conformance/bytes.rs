//! Promises about bytes, active messages and remote copies.

use super::{Subject, is_end, meet, pattern, soon, together};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::region::{Region, Rights};
use crate::strategy::{
    ActiveMessage, Completion, Handler, Handlers, Key, Ready, RemoteCopy, Stream, Wait,
};
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn write(end: &mut dyn Stream, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match end.try_write(bytes) {
            Ok(size) => bytes = &bytes[size..],
            Err(Error::WouldBlock) => end.wait(Ready::Send, soon()).unwrap(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn read_to_end(end: &mut dyn Stream) -> Vec<u8> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 10_000]);
    loop {
        match end.try_read(&mut buffer) {
            Ok(0) => return all,
            Ok(size) => all.extend_from_slice(&buffer[..size]),
            Err(Error::WouldBlock) => end.wait(Ready::Receive, soon()).unwrap(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Bytes arrive as they were written, up to where the writer finished; the other way stays open.
pub fn bytes_end_where_the_writer_ends_them(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.stream().unwrap(), accepted.stream().unwrap());
    let bytes = pattern(3_000_000, 1);
    let request = || {
        write(&mut *one, &bytes);
        one.finish(soon()).unwrap();
        read_to_end(&mut *one)
    };
    let (answer, request) = together(request, || {
        let request = read_to_end(&mut *other);
        write(&mut *other, b"all of it");
        other.finish(soon()).unwrap();
        request
    });
    assert!(request == bytes, "{} other bytes", request.len());
    assert_eq!(answer, b"all of it");
}

/// The end of bytes waits for room no longer than its deadline, and is said then by another try.
pub fn the_end_of_bytes_waits_no_longer_than_its_deadline(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.stream().unwrap(), accepted.stream().unwrap());
    // Many small pieces take all the room that there is, also where an end needs little.
    let (mut count, mut refused) = (0, 0);
    while refused < 3 {
        match one.try_write(&[7; 64]) {
            Ok(size) => (count, refused) = (count + size, 0),
            Err(error) => {
                assert!(error.is_would_block(), "{error}");
                refused += 1;
            }
        }
    }
    // A stream may end without room for it.
    let has_ended = match one.finish(Deadline::now()) {
        Err(Error::Deadline { waited, .. }) => {
            assert!(waited < Duration::from_secs(2), "it has waited {waited:?}");
            false
        }
        ended => ended.is_ok(),
    };
    let finish = || {
        if !has_ended {
            one.finish(soon()).unwrap();
        }
        one.flush(soon()).unwrap();
    };
    let ((), bytes) = together(finish, || read_to_end(&mut *other));
    assert!(bytes == vec![7; count], "{} bytes of {count}", bytes.len());
}

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

/// Runs `ask` at one end while the other, which exposes a region, only lets things get on.
fn copy(
    subject: &impl Subject,
    region: &Region,
    ask: impl FnOnce(&mut dyn RemoteCopy, Key) + Send,
) {
    let (connected, accepted) = meet(subject);
    let mut owner = accepted.remote_copy().unwrap();
    let key = owner.expose(region).unwrap();
    let done = AtomicBool::new(false);
    let asking = || {
        let mut asker = connected.remote_copy().unwrap();
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ask(&mut *asker, key)));
        done.store(true, Ordering::Release);
        outcome.map(|()| asker)
    };
    let (asked, ()) = together(asking, || {
        while !done.load(Ordering::Acquire) {
            assert!(owner.try_progress().unwrap().is_none(), "the owner asked for nothing");
            let moment = Deadline::after(Duration::from_millis(1));
            match owner.wait(Ready::Receive, moment) {
                Ok(()) | Err(Error::Deadline { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
    if let Err(panic) = asked {
        std::panic::resume_unwind(panic);
    }
}

fn completion(end: &mut dyn RemoteCopy) -> Completion {
    loop {
        match end.try_progress().unwrap() {
            Some(completion) => return completion,
            None => end.wait(Ready::Receive, soon()).unwrap(),
        }
    }
}

/// Puts and gets of some MiB arrive whole, take effect in order and complete once each.
pub fn large_copies_arrive(subject: &impl Subject) {
    let region = Region::new(5_000_000, Rights::ALL);
    let bytes = pattern(4_000_001, 3);
    copy(subject, &region, |end, key| {
        end.try_put(key, 17, &bytes, 1).unwrap();
        end.try_put(key, 18, b"later", 2).unwrap();
        end.try_get(key, 17, bytes.len(), 3).unwrap();
        for token in [1, 2] {
            let put = completion(end);
            assert_eq!((put.token, put.result.is_ok()), (token, true));
        }
        let got = completion(end);
        assert_eq!((got.token, &got.bytes[1..6]), (3, &b"later"[..]));
        assert!(got.bytes[6..] == bytes[6..] && got.result.is_ok());
        assert!(end.try_progress().unwrap().is_none(), "each completes once");
    });
    let mut there = [0; 5];
    region.read(18, &mut there).unwrap();
    assert_eq!(&there, b"later");
}

/// The owner's rights and bounds hold, a refusal changes nothing, and the connection goes on.
pub fn copies_respect_rights_and_bounds(subject: &impl Subject) {
    let region = Region::new(1000, Rights::READ);
    copy(subject, &region, |end, key| {
        let refused = |end: &mut dyn RemoteCopy, token| {
            let completion = completion(end);
            let error = completion.result.expect_err("this is not allowed");
            assert!(matches!(error, Error::Access { .. }), "{error}");
            assert_eq!((completion.token, completion.bytes.len()), (token, 0));
        };
        end.try_put(key, 0, b"x", 1).unwrap();
        refused(end, 1);
        end.try_get(key, 1, 1000, 2).unwrap();
        refused(end, 2);
        end.try_get(key, u64::MAX, 2, 3).unwrap();
        refused(end, 3);
        end.try_get(Key(key.0 ^ 0x5555), 0, 1, 4).unwrap();
        refused(end, 4);
        end.try_get(key, 0, 1000, 5).unwrap();
        assert_eq!(completion(end).bytes, [0; 1000]);
    });
    let region = Region::new(1000, Rights::WRITE);
    copy(subject, &region, |end, key| {
        end.try_get(key, 0, 1, 1).unwrap();
        assert!(completion(end).result.is_err());
        end.try_put(key, 500, &[1; 501], 2).unwrap();
        assert!(completion(end).result.is_err());
        end.try_put(key, 999, &[2], 3).unwrap();
        assert!(completion(end).result.is_ok());
    });
    let mut there = [0; 1000];
    region.read(0, &mut there).unwrap();
    assert!(there[..999].iter().all(|&byte| byte == 0) && there[999] == 2);
}

/// Who puts when the peer is gone is told so, and so is who lets things get on after that.
pub fn a_put_after_the_end_is_told_of_it(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut end, mut owner) = (connected.remote_copy().unwrap(), accepted.remote_copy().unwrap());
    let key = owner.expose(&Region::new(1000, Rights::ALL)).unwrap();
    drop(owner);
    told_of_the_end(|| end.try_put(key, 0, &[1; 1000], 1));
    for _ in 0..2 {
        told_of_the_end(|| end.try_progress().map(drop));
    }
}

fn told_of_the_end(mut ask: impl FnMut() -> crate::Result<()>) {
    let late = soon();
    loop {
        match ask() {
            Ok(()) | Err(Error::WouldBlock) => assert!(late.left().is_some(), "nobody tells"),
            Err(error) => return assert!(is_end(&error), "{error}"),
        }
    }
}
