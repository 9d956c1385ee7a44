//! TCP as it is: messages over a connection of `tcp!HOST!PORT`, and a second connection over which
//! the stages are measured: from the sender's memory into the kernel, the wire, and out of the
//! kernel into the receiver's memory. A packet is what one round of system calls moves.
//!
//! To measure the stages, who probes writes a length in eight bytes and so many bytes. The other
//! end lets them arrive, reads them, and answers with the nanoseconds in eight bytes.

use super::memory::PATIENCE;
use super::{MESSAGE_MAX, Track};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::pipeline::calibrate::{Effort, Medium, Sample, calibrate};
use crate::pipeline::choice::Grid;
use crate::pipeline::costs::Costs;
use crate::strategy::{Datagram, Ready, Stream};
use std::io::IoSlice;
use std::time::{Duration, Instant};

/// What it takes the kernel at most to have all of a packet at the other end.
const ARRIVAL: Duration = Duration::from_micros(200);

/// Packets are longer than what is gathered into one; how many are under way the kernel decides.
pub(super) fn grid() -> Grid {
    let packets = (13..=20).map(|power| 1 << power).collect();
    Grid { packets, slots: vec![4], single: false, ..Grid::new(usize::MAX, 4096) }
}

/// The sender's side.
pub(super) struct Socket {
    /// For the stages, until messages are measured.
    pub(super) bytes: Option<Box<dyn Stream>>,
    pub(super) messages: Box<dyn Datagram>,
    pub(super) source: Vec<u8>,
}

impl Track for Socket {
    fn costs(&mut self, effort: Effort, _time: Duration) -> Result<(Costs, Duration)> {
        let start = Instant::now();
        let bytes = self.bytes.as_deref_mut().expect("stages are measured first");
        let mut stages = Stages { bytes, source: &self.source, failed: None };
        let costs = calibrate(&mut stages, effort);
        match stages.failed {
            Some(error) => Err(error),
            None => Ok((costs, start.elapsed())),
        }
    }

    fn send(&mut self, bytes: usize, wants_reply: bool) -> Result<()> {
        self.source[0] = u8::from(wants_reply);
        let parts = [IoSlice::new(&self.source[..bytes])];
        self.messages.send(&parts, Deadline::after(PATIENCE))
    }

    fn reply(&mut self) -> Result<()> {
        self.bytes = None;
        self.messages.take(Deadline::after(PATIENCE), &mut |_| ())
    }

    fn source(&self) -> &[u8] {
        &self.source
    }
}

/// A connection whose stages are measured.
struct Stages<'a> {
    bytes: &'a mut dyn Stream,
    source: &'a [u8],
    failed: Option<Error>,
}

impl Stages<'_> {
    /// Moves a packet: the time of the write, of the read, and of all.
    fn pass(&mut self, packet: usize) -> Result<[Duration; 3]> {
        write(self.bytes, &(packet as u64).to_le_bytes())?;
        let start = Instant::now();
        write(self.bytes, &self.source[..packet])?;
        let ours = start.elapsed();
        let mut told = [0; 8];
        read(self.bytes, &mut told)?;
        Ok([ours, Duration::from_nanos(u64::from_le_bytes(told)), start.elapsed()])
    }

    fn measured(&mut self, packet: usize) -> [Duration; 3] {
        match self.pass(packet) {
            Ok(times) => times,
            Err(error) => {
                self.failed.get_or_insert(error);
                Default::default()
            }
        }
    }
}

impl Medium for Stages<'_> {
    /// What is left of a way there and back when both ends' work is taken away.
    fn hop(&mut self) -> Duration {
        let [_, _, both] = self.measured(0);
        let [ours, theirs, _] = self.measured(1);
        (both / 2).saturating_sub(ours + theirs)
    }

    fn copies(&mut self, sample: Sample) -> [Duration; 2] {
        let [ours, theirs, _] = self.measured(sample.packet);
        [ours, theirs]
    }

    fn single_copy(&mut self, _sample: Sample) -> Option<Duration> {
        None
    }
}

/// Who waits looks again and again: a sleep would be measured as well.
fn spin<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    let since = Instant::now();
    loop {
        match attempt() {
            Err(Error::WouldBlock) if since.elapsed() < PATIENCE => std::hint::spin_loop(),
            done => return done,
        }
    }
}

fn write(to: &mut dyn Stream, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        let count = spin(|| to.try_write(bytes))?;
        bytes = &bytes[count..];
    }
    Ok(())
}

fn read(from: &mut dyn Stream, mut into: &mut [u8]) -> Result<()> {
    while !into.is_empty() {
        match spin(|| from.try_read(into))? {
            0 => return Err(Error::Closed { peer: from.peer().name.clone() }),
            count => into = &mut into[count..],
        }
    }
    Ok(())
}

/// The other end of [`Stages`], until the stream ends.
pub(super) fn serve_stages(bytes: &mut dyn Stream) -> Result<()> {
    let mut into = vec![3; MESSAGE_MAX];
    loop {
        let mut head = [0; 8];
        bytes.wait(Ready::Receive, Deadline::after(PATIENCE))?;
        match read(bytes, &mut head) {
            Err(Error::Closed { .. }) => return Ok(()),
            done => done?,
        }
        let packet = usize::try_from(u64::from_le_bytes(head)).unwrap_or(usize::MAX);
        let into = into.get_mut(..packet).ok_or_else(|| Error::Malformed {
            peer: bytes.peer().name.clone(),
            what: format!("a packet of {packet} bytes"),
        })?;
        let arrived = Instant::now();
        while packet > 0 && arrived.elapsed() < ARRIVAL {
            std::hint::spin_loop();
        }
        let start = Instant::now();
        read(bytes, into)?;
        let took = start.elapsed().as_nanos() as u64;
        write(bytes, &took.to_le_bytes())?;
    }
}

/// The other end of the messages, until the connection ends.
pub(super) fn serve_messages(messages: &mut dyn Datagram) -> Result<()> {
    loop {
        let mut wants_reply = false;
        let deadline = Deadline::after(PATIENCE);
        match messages.take(deadline, &mut |message| wants_reply = message.first() == Some(&1)) {
            Ok(()) if wants_reply => messages.send(&[IoSlice::new(&[0])], deadline)?,
            Ok(()) => {}
            Err(Error::Closed { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
