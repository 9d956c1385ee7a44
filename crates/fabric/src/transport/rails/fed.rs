//! A rail on which any bytes come, for those who look for bytes that break it.

use super::rail::Rail;
use super::receive::Receiver;
use super::send::Sender;
use super::wire::{HEAD_MAX, Head, JOIN, Join};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::Time;
use crate::strategy::{Ready, Stream, Wait};
use crate::transport::{Peer, Protection};
use muster_base::limits::RAILS_WINDOW_SYSTEM;

/// Gives its bytes in portions, and takes all that is sent.
struct Script {
    peer: Peer,
    bytes: Vec<u8>,
    given: usize,
}

impl Wait for Script {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        "a rail"
    }

    fn wait(&mut self, _: Ready, _: Deadline) -> Result<()> {
        Ok(())
    }
}

impl Stream for Script {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn try_read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let rest = &self.bytes[self.given..];
        let size = buffer.len().min(rest.len()).min(1 + self.given % 100);
        buffer[..size].copy_from_slice(&rest[..size]);
        self.given += size;
        Ok(size)
    }

    fn finish(&mut self, _: Deadline) -> Result<()> {
        Ok(())
    }
}

/// Reads any bytes as a join, as a head, and as all that comes over a rail.
///
/// # Panics
/// When what was read is written otherwise, or more is read than came.
pub fn read_as_all(bytes: &[u8]) {
    if let Ok(Some(join)) = Join::read(bytes) {
        assert_eq!(join.write(), bytes[..JOIN]);
    }
    if let Ok(Some((head, size))) = Head::read(bytes) {
        let mut written = [0; HEAD_MAX];
        assert_eq!(head.write(&mut written), size);
        assert_eq!(written[..size], bytes[..size]);
    }
    let peer = Peer::new("any".to_owned(), Protection::Plain);
    let script = Script { peer, bytes: bytes.to_vec(), given: 0 };
    let mut rail = Rail::new(0, "rail 0".to_owned(), Box::new(script));
    let mut sender = Sender::new(2, RAILS_WINDOW_SYSTEM);
    let mut receiver = Receiver::new(2, RAILS_WINDOW_SYSTEM);
    sender.write(&[7; 1000]);
    sender.end();
    while sender.give(0, Time(0)).is_some() {}
    let (mut read, mut now) = (0, Time(0));
    let end = loop {
        now.0 += 1;
        if let Err(error) = rail.receive(&mut sender, &mut receiver, now) {
            break error;
        }
        read += receiver.read(&mut [0; 500]);
        if receiver.is_due(0, true) {
            receiver.tell(0);
        }
    };
    assert!(read <= bytes.len() && sender.missing() <= 1001);
    assert!(matches!(end, Error::Closed { .. } | Error::Malformed { .. }), "{end}");
}
