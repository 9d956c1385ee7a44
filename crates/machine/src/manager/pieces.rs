//! A job's files on their way to the nodes of its ranks: one relay stream in pieces, each an
//! XFER-AND-SIGNAL to all of them, with COMPARE-AND-WRITE as flow control (STORM, section 4.1).

use super::Manager;
use super::job::{Job, State};
use super::report::said;
use super::spec::Phase;
use crate::launch::{Piece, Shipment, What};
use crate::memory::{Memory, VARIABLES};
use muster_fabric::global::Transfer;
use muster_fabric::primitive::Nodes;
use muster_fabric::{Deadline, Error as FabricError};
use muster_ninep::error::{Errno, Error};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

/// Bytes of a piece: so many that what each costs beside its bytes does not count.
const PIECE: usize = 512 * 1024;

/// Pieces that a node may have and not have unpacked.
const WINDOW: u64 = 4;

/// Pieces of one job that are on their way at once.
const FLYING: usize = 2;

/// Pieces of all jobs: half of what a member may have under way (`PENDING_BYTES_MAX`), the rest is
/// for orders.
const FLYING_MAX: usize = 4;

/// How long to wait for others at once, before looking whether the job is still to be started.
const LOOK: Duration = Duration::from_millis(5);

/// How long a question may take to be answered before it is asked again.
const ANSWER: Duration = Duration::from_secs(1);

/// How long a piece may take to arrive everywhere, and to be unpacked.
const PATIENCE: Duration = Duration::from_secs(60);

/// The pauses between two questions whether nodes have unpacked something: the first, the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));

/// What one count takes of a variable: the rest is the shipment's number.
const COUNTS: u32 = 20;

/// Who sends files: each in a variable of its own, with numbers that no shipment before it had, and
/// not too much at once.
#[derive(Default)]
pub(super) struct Shipments {
    state: Mutex<Busy>,
    changed: Condvar,
}

#[derive(Default)]
struct Busy {
    variables: Vec<u32>,
    last: u64,
    /// Pieces of all jobs that are on their way.
    flying: Vec<Weak<Flight>>,
    /// Pieces that are about to be.
    starting: usize,
}

impl Shipments {
    fn lock(&self) -> MutexGuard<'_, Busy> {
        self.state.lock().expect("no holder panics")
    }

    /// Takes something as soon as it is there, for a job that is still to be started.
    fn take<T>(
        &self,
        job: &Job,
        what: &str,
        mut free: impl FnMut(&mut Busy) -> Option<T>,
    ) -> std::result::Result<T, Failed> {
        let until = Instant::now() + PATIENCE;
        let mut busy = self.lock();
        loop {
            if let Some(taken) = free(&mut busy) {
                return Ok(taken);
            }
            if Instant::now() > until {
                let text = format!("other jobs are sending files: no {what} for {PATIENCE:?}");
                return Err((None, Error::new(Errno::AGAIN, format!("{text}  [E306]"))));
            }
            busy = self.changed.wait_timeout(busy, LOOK).expect("no holder panics").0;
            drop(busy);
            check(job)?;
            busy = self.lock();
        }
    }
}

/// A job that was ended meanwhile gets no files.
fn check(job: &Job) -> std::result::Result<(), Failed> {
    match job.state().progress.phase() {
        Phase::Starting => Ok(()),
        _ => Err((None, super::launch::ended())),
    }
}

/// A shipment's variable. Dropping it lets others have it.
struct Booking {
    manager: Arc<Manager>,
    shipment: Shipment,
}

impl Booking {
    fn make(manager: Arc<Manager>, job: &Job) -> std::result::Result<Booking, Failed> {
        let shipment = manager.shipments.take(job, "variable is free", |busy| {
            let variable = (0..VARIABLES).find(|one| !busy.variables.contains(one))?;
            // Also above those of a manager before this one.
            busy.last = ((super::now() * 1000.0) as u64).max(busy.last + 1);
            busy.variables.push(variable);
            Some(Shipment { variable, start: busy.last << COUNTS })
        })?;
        Ok(Booking { manager, shipment })
    }

    /// Waits until one more piece can go. A job whose client is slow does not hold others up: what
    /// has landed, whoever it belongs to, is seen here.
    fn room(&self, job: &Job) -> std::result::Result<(), Failed> {
        self.manager.shipments.take(job, "piece can go", |busy| {
            busy.flying
                .retain(|flight| flight.upgrade().is_some_and(|flight| !flight.has_landed()));
            let is_free = busy.flying.len() + busy.starting < FLYING_MAX;
            busy.starting += usize::from(is_free);
            is_free.then_some(())
        })
    }
}

impl Drop for Booking {
    fn drop(&mut self) {
        let variable = self.shipment.variable;
        self.manager.shipments.lock().variables.retain(|one| *one != variable);
        self.manager.shipments.changed.notify_all();
    }
}

/// A piece on its way, and how it has arrived.
struct Flight {
    state: Mutex<(Transfer, Option<Landing>)>,
}

type Landing = std::result::Result<(), String>;

impl Flight {
    fn new(transfer: Transfer) -> Arc<Flight> {
        Arc::new(Flight { state: Mutex::new((transfer, None)) })
    }

    /// Waits for it.
    fn land(&self, deadline: Deadline) -> Landing {
        let mut state = self.state.lock().expect("no holder panics");
        let (transfer, landing) = &mut *state;
        landing.get_or_insert_with(|| transfer.wait(deadline).map_err(|e| said(&e))).clone()
    }

    /// Whether it has arrived or failed, as far as can be told at once.
    fn has_landed(&self) -> bool {
        let Ok(mut state) = self.state.try_lock() else { return false };
        let (transfer, landing) = &mut *state;
        if landing.is_none() {
            *landing = match transfer.wait(Deadline::after(Duration::ZERO)) {
                Err(FabricError::Deadline { .. }) => None,
                done => Some(done.map_err(|error| said(&error))),
            };
        }
        landing.is_some()
    }
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
    flying: VecDeque<Arc<Flight>>,
    /// What is too short for a piece.
    part: Vec<u8>,
}

impl Pieces {
    pub(super) fn new(
        manager: Arc<Manager>,
        job: &Job,
        to: Nodes,
    ) -> std::result::Result<Pieces, Failed> {
        let memory = manager.memory.clone();
        let booking = Booking::make(manager, job)?;
        let flying = VecDeque::new();
        Ok(Pieces { memory, booking, to, job: job.id, sent: 0, flying, part: Vec::new() })
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
        check(job)?;
        self.land(FLYING - 1)?;
        if self.sent >= WINDOW {
            self.await_unpacked(job, self.sent + 1 - WINDOW)?;
        }
        self.sent += 1;
        let count = self.booking.shipment.start + self.sent;
        let letter = Piece { job: self.job, count, bytes }.letter();
        self.booking.room(job)?;
        let sent = self.memory.send(&self.to, letter).map(Flight::new);
        let mut busy = self.booking.manager.shipments.lock();
        busy.starting -= 1;
        busy.flying.extend(sent.as_ref().ok().map(Arc::downgrade));
        drop(busy);
        let flight = sent.map_err(|error| not_sent(said(&error)))?;
        self.flying.push_back(flight);
        Ok(())
    }

    /// Waits until no more than so many are on their way.
    fn land(&mut self, most: usize) -> std::result::Result<(), Failed> {
        while self.flying.len() > most {
            let first = self.flying.pop_front().expect("there is one");
            first.land(Deadline::after(PATIENCE)).map_err(not_sent)?;
            self.booking.manager.shipments.changed.notify_all();
        }
        Ok(())
    }

    fn await_unpacked(&self, job: &Job, count: u64) -> std::result::Result<(), Failed> {
        let Shipment { variable, start } = self.booking.shipment;
        let (mut pause, until) = (PAUSES.0, Instant::now() + PATIENCE);
        loop {
            if let Some(failed) = failed(&job.state(), |_| true) {
                return Err(failed);
            }
            check(job)?;
            let wanted = (variable, start + count);
            match self.memory.is_at_least(&self.to, wanted, Deadline::after(ANSWER)) {
                Ok(true) => return Ok(()),
                // Much is under way, or somebody is slow to answer.
                Ok(false) | Err(FabricError::WouldBlock | FabricError::Deadline { .. }) => {}
                Err(error) => return Err(not_sent(said(&error))),
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

/// What a rank that cannot have its files, or cannot be run, has said while the job was being
/// started.
pub(super) fn failed(state: &State, is_meant: impl Fn(usize) -> bool) -> Option<Failed> {
    state.early.iter().filter(|heard| is_meant(heard.rank)).find_map(|heard| match &heard.what {
        What::Failed { why } => Some((Some(heard.rank), Error::new(Errno::IO, why.clone()))),
        _ => None,
    })
}

fn not_sent(why: String) -> Failed {
    (None, Error::new(Errno::IO, format!("the job's files have not arrived: {why}  [E205]")))
}
