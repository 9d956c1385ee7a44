//! Any bytes from a client who works on files leave the server session, and the tests' tree that
//! keeps the files in memory, within their limits: answers are whole messages, the outbox is
//! bounded, and when the session ends no fid is left. The seeds are the samples of
//! `docs/wire/9p.md`, one conversation for each version.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_base::limits::OUTBOX_MAX;
use muster_ninep::message::Frame;
use muster_ninep::session::Session;
use muster_ninep::tree::Peer;
use muster_ninep::version::Dialect;
use std::io::IoSlice;
use std::sync::atomic::Ordering;

#[path = "../../crates/ninep/tests/ram/mod.rs"]
mod ram;

/// More than one answer beyond the limit must never wait: the largest is a message.
const SLACK: usize = 64 * 1024;

fuzz_target!(|bytes: &[u8]| {
    let tree = ram::Ram::new();
    let mut session = Session::new(tree.clone(), Peer::default(), || {});
    let mut rest = bytes;
    loop {
        let Ok(done) = session.receive(rest) else { break };
        rest = &rest[done..];
        let most = OUTBOX_MAX + session.msize() + SLACK;
        assert!(session.outbox().len() <= most);
        let stalled = session.is_stalled();
        session.conclude();
        check(&take(&mut session));
        if done == 0 && !stalled {
            break;
        }
    }
    session.close();
    assert!(session.is_settled());
    assert_eq!(tree.fids.load(Ordering::Relaxed), 0);
});

fn take(session: &mut Session<ram::Ram>) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !session.outbox().is_empty() {
        let mut pieces: Vec<IoSlice<'_>> = Vec::new();
        session.outbox().pieces(&mut pieces);
        let before = bytes.len();
        pieces.iter().for_each(|piece| bytes.extend_from_slice(piece));
        session.outbox().consume(bytes.len() - before);
    }
    bytes
}

fn check(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let cut = Frame::cut(bytes, u32::MAX).expect("a size");
        let (frame, size) = cut.expect("a whole message");
        let dialects = [Dialect::Plan9, Dialect::Unix, Dialect::Linux];
        assert!(dialects.into_iter().any(|dialect| frame.answer(dialect).is_ok()));
        bytes = &bytes[size..];
    }
}
