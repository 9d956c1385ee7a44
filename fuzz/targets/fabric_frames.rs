//! Any bytes from a peer, cut anywhere, leave every strategy over a stream without a panic: as
//! messages, as bytes, as active messages, and as puts, gets and answers at both of their ends. The
//! memory that they take is what their lengths were allowed to announce.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::region::{Region, Rights};
use muster_fabric::strategy::emulated::{Active, Copied, Framed, Streamed};
use muster_fabric::strategy::{
    ActiveMessage, Datagram, Handler, Handlers, Key, Ready, RemoteCopy, Stream, Wait,
};
use muster_fabric::transport::{Peer, Protection};
use muster_fabric::{Deadline, Error, Result};
use std::sync::LazyLock;

static PEER: LazyLock<Peer> = LazyLock::new(|| Peer::new("fuzzer".to_owned(), Protection::Plain));

/// Brings the input in pieces, then nothing more; takes so many bytes and then no more.
struct Input<'a> {
    bytes: &'a [u8],
    step: usize,
    room: usize,
}

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

impl Stream for Input<'_> {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        let size = bytes.len().min(self.room);
        self.room -= size;
        if size == 0 { Err(Error::WouldBlock) } else { Ok(size) }
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let size = self.bytes.len().min(self.step).min(buffer.len());
        buffer[..size].copy_from_slice(&self.bytes[..size]);
        self.bytes = &self.bytes[size..];
        Ok(size)
    }

    fn finish(&mut self, _: Deadline) -> Result<()> {
        Ok(())
    }
}

/// Takes all even handlers, and answers as long as what came.
struct Even;

impl Handlers for Even {
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        answer: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        if handler % 2 != 0 {
            return Err("odd".to_owned());
        }
        answer(handler, arguments);
        Ok(())
    }
}

// The first two bytes say in which pieces the rest arrives, and how much may leave.
fuzz_target!(|bytes: &[u8]| {
    let [step, room, bytes @ ..] = bytes else { return };
    let input = || Input { bytes, step: 1 + usize::from(*step), room: usize::from(*room) * 64 };

    let mut messages = Framed::new(input());
    let mut taken = 0;
    while messages.try_take(&mut |message| taken += 4 + message.len()).is_ok() {}
    assert!(taken <= bytes.len());

    let (mut stream, mut buffer) = (Streamed::new(Framed::new(input())), [0; 100]);
    while stream.try_read(&mut buffer).is_ok_and(|size| size > 0) {}

    let mut calls = Active::new(Framed::new(input()));
    while calls.try_progress(&mut Even).is_ok_and(|count| count > 0) {}

    let mut copies = Copied::new(Active::new(Framed::new(input())));
    for rights in [Rights::ALL, Rights::READ, Rights::WRITE] {
        copies.expose(&Region::new(100, rights)).expect("there is room");
    }
    let _ = copies.try_put(Key(1), 0, &[1; 70_000], 1);
    let _ = copies.try_get(Key(1), 0, 70_000, 2);
    let _ = copies.try_get(Key(1), 0, 0, 3);
    let mut completions = 0;
    for _ in 0..bytes.len() {
        match copies.try_progress() {
            Ok(None) => {}
            Ok(Some(completion)) => {
                completions += 1;
                assert_eq!(completion.token, completions);
            }
            Err(_) => break,
        }
    }
    assert!(completions <= 3);
});
