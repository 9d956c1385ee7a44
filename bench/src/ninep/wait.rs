//! How a client waits for what it receives.
//!
//! To sleep leaves the processor to others; to look again and again saves the time of waking up.
//! Which of the two makes a server look best depends on the server, so each is measured with both
//! and gets the better.

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How long to look before sleeping after all.
const LOOK: Duration = Duration::from_micros(200);

/// A way of waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wait {
    /// Sleep until something is there.
    Sleep,
    /// Look for it first, for a short while.
    Look,
}

impl Wait {
    /// Both, by turns.
    pub const ALL: [Wait; 2] = [Wait::Sleep, Wait::Look];

    /// Receives what is there, at least a byte unless the stream has ended.
    pub fn receive(self, socket: &impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
        let start = Instant::now();
        while self == Wait::Look && start.elapsed() < LOOK {
            match recv(socket, &mut *buffer, RecvFlags::DONTWAIT) {
                Err(Errno::AGAIN) => {}
                done => return Ok(done?.1),
            }
        }
        Ok(recv(socket, buffer, RecvFlags::empty())?.1)
    }

    /// Fills a buffer.
    pub fn receive_all(self, socket: &impl AsFd, buffer: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.receive(socket, &mut buffer[done..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                more => done += more,
            }
        }
        Ok(())
    }
}
