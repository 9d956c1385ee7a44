//! A job's files on their way to the nodes of its light ranks: one relay stream in pieces, each an
//! XFER-AND-SIGNAL to all of them, with COMPARE-AND-WRITE as flow control (STORM, section 4.1).

use super::Manager;
use super::job::Job;
use crate::launch::{Piece, Shipment, What};
use crate::memory::{Memory, VARIABLES};
use muster_fabric::Deadline;
use muster_fabric::global::Transfer;
use muster_fabric::primitive::Nodes;
use muster_ninep::error::{Errno, Error, Result, fail};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes of a piece: so many that what each costs beside its bytes does not count.
const PIECE: usize = 512 * 1024;

/// Pieces that a node may have and not have unpacked.
const WINDOW: u64 = 4;

/// Pieces that are on their way at once.
const FLYING: usize = 2;

/// How long a piece may take to arrive everywhere, and to be unpacked.
const PATIENCE: Duration = Duration::from_secs(60);

/// The pauses between two questions whether nodes have unpacked something: the first, the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));

/// What one count takes of a variable: the rest is the shipment's number.
const COUNTS: u32 = 20;

/// Who sends files: each in a variable of its own, with numbers that no shipment before it had.
#[derive(Default)]
pub(super) struct Shipments {
    busy: Vec<u32>,
    last: u64,
}

/// A shipment's variable. Dropping it lets others have it.
struct Booking {
    manager: Arc<Manager>,
    shipment: Shipment,
}

impl Booking {
    fn make(manager: Arc<Manager>) -> Result<Booking> {
        let mut shipments = lock(&manager.shipments);
        let Some(variable) = (0..VARIABLES).find(|one| !shipments.busy.contains(one)) else {
            return fail(Errno::AGAIN, format!("{VARIABLES} jobs are being sent files already"));
        };
        // Also above those of a manager before this one.
        let now = (super::now() * 1000.0) as u64;
        shipments.last = now.max(shipments.last + 1);
        shipments.busy.push(variable);
        let start = shipments.last << COUNTS;
        drop(shipments);
        Ok(Booking { manager, shipment: Shipment { variable, start } })
    }
}

impl Drop for Booking {
    fn drop(&mut self) {
        let variable = self.shipment.variable;
        lock(&self.manager.shipments).busy.retain(|one| *one != variable);
    }
}

fn lock(shipments: &Mutex<Shipments>) -> std::sync::MutexGuard<'_, Shipments> {
    shipments.lock().expect("no holder panics")
}

/// Why files do not arrive, and at which rank.
pub(super) type Failed = (Option<usize>, Error);

/// A stream on its way.
pub(super) struct Pieces {
    memory: Arc<Memory>,
    booking: Booking,
    to: Nodes,
    job: u32,
    sent: u64,
    flying: VecDeque<Transfer>,
    /// What is too short for a piece.
    part: Vec<u8>,
}

impl Pieces {
    pub(super) fn new(manager: Arc<Manager>, job: u32, to: Nodes) -> Result<Pieces> {
        let memory = manager.memory.clone();
        let booking = Booking::make(manager)?;
        let flying = VecDeque::new();
        Ok(Pieces { memory, booking, to, job, sent: 0, flying, part: Vec::new() })
    }

    pub(super) fn shipment(&self) -> Shipment {
        self.booking.shipment
    }

    /// Sends more of the stream; waits while nodes are behind.
    pub(super) fn push(&mut self, job: &Job, bytes: &[u8]) -> std::result::Result<(), Failed> {
        self.part.extend_from_slice(bytes);
        while self.part.len() >= PIECE {
            let rest = self.part.split_off(PIECE);
            let piece = std::mem::replace(&mut self.part, rest);
            self.send(job, &piece)?;
        }
        Ok(())
    }

    /// Waits until all nodes have unpacked all of it.
    pub(super) fn finish(mut self, job: &Job) -> std::result::Result<(), Failed> {
        let last = std::mem::take(&mut self.part);
        self.send(job, &last)?;
        self.land(0)?;
        self.await_unpacked(job, self.sent)
    }

    fn send(&mut self, job: &Job, bytes: &[u8]) -> std::result::Result<(), Failed> {
        self.land(FLYING - 1)?;
        if self.sent >= WINDOW {
            self.await_unpacked(job, self.sent + 1 - WINDOW)?;
        }
        self.sent += 1;
        let count = self.booking.shipment.start + self.sent;
        let letter = Piece { job: self.job, count, bytes }.letter();
        let sent = self.memory.send(&self.to, letter).map_err(not_sent)?;
        self.flying.push_back(sent);
        Ok(())
    }

    /// Waits until no more than so many are on their way.
    fn land(&mut self, most: usize) -> std::result::Result<(), Failed> {
        while self.flying.len() > most {
            let first = self.flying.pop_front().expect("there is one");
            first.wait(Deadline::after(PATIENCE)).map_err(not_sent)?;
        }
        Ok(())
    }

    fn await_unpacked(&self, job: &Job, count: u64) -> std::result::Result<(), Failed> {
        let Shipment { variable, start } = self.booking.shipment;
        let (mut pause, until) = (PAUSES.0, Instant::now() + PATIENCE);
        loop {
            if let Some(failed) = failed(job) {
                return Err(failed);
            }
            let wanted = (variable, start + count);
            let asked = self.memory.is_at_least(&self.to, wanted, Deadline::after(PATIENCE));
            if asked.map_err(not_sent)? {
                return Ok(());
            }
            if Instant::now() > until {
                let text = format!("the nodes have not unpacked the job's files for {PATIENCE:?}");
                return Err((None, Error::new(Errno::TIMEDOUT, format!("{text}  [E306]"))));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    }
}

/// What a rank that cannot have its files has said.
fn failed(job: &Job) -> Option<Failed> {
    let state = job.state();
    state.early.iter().find_map(|heard| match &heard.what {
        What::Failed { why } => Some((Some(heard.rank), Error::new(Errno::IO, why.clone()))),
        _ => None,
    })
}

fn not_sent(error: muster_fabric::Error) -> Failed {
    let why = super::report::named(&error);
    (None, Error::new(Errno::IO, format!("the job's files have not arrived: {why}  [E205]")))
}
