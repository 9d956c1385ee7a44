//! Any calls and answers from a peer leave an invocation without a panic, with a call of its own
//! under way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::communicator::invocation::{ANSWER, CALL};
use muster_fabric::communicator::{Invocation, Object};
use muster_fabric::strategy::{ActiveMessage, Handler, Handlers, Ready, Wait};
use muster_fabric::transport::{Peer, Protection};
use muster_fabric::{Deadline, Error, Result};
use std::io::IoSlice;
use std::sync::LazyLock;

static PEER: LazyLock<Peer> = LazyLock::new(|| Peer::new("fuzzer".to_owned(), Protection::Plain));

/// Brings messages: a byte for the handler, one for the size, then so many bytes.
struct Input<'a>(&'a [u8]);

impl Wait for Input<'_> {
    fn peer(&self) -> &Peer {
        &PEER
    }

    fn me(&self) -> &str {
        "me"
    }

    fn wait(&mut self, _: Ready, _: Deadline) -> Result<()> {
        Ok(())
    }
}

impl ActiveMessage for Input<'_> {
    fn limit(&self) -> usize {
        200
    }

    fn try_call(&mut self, _: Handler, _: &[IoSlice<'_>]) -> Result<()> {
        Ok(())
    }

    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize> {
        let [kind, size, rest @ ..] = self.0 else { return Ok(0) };
        let (message, rest) = rest.split_at(rest.len().min(usize::from(*size)));
        self.0 = rest;
        let handler = [CALL, ANSWER, Handler::from(*kind)][usize::from(*kind).min(2)];
        let mut answer = |_: Handler, bytes: &[u8]| assert!(bytes.len() <= 200);
        let malformed = |what| Error::Malformed { peer: PEER.name.clone(), what };
        handlers.handle(handler, message, &mut answer).map(|()| 1).map_err(malformed)
    }
}

/// Returns its arguments, and refuses odd methods.
struct Echo;

impl Object for Echo {
    fn invoke(&mut self, method: u16, bytes: &[u8]) -> std::result::Result<Vec<u8>, String> {
        if method % 2 == 1 { Err("odd".to_owned()) } else { Ok(bytes.to_vec()) }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut invocation = Invocation::new(Input(bytes));
    invocation.register(7, Box::new(Echo)).expect("there is room");
    let _call = invocation.start(1, 1, b"hi", Deadline::now());
    while invocation.progress().is_ok_and(|count| count > 0) {}
});
