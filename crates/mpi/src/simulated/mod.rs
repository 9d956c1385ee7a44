//! Messages between the processes of a job whose network is simulated, with its time: a real
//! process for each rank, of which one goes on at a time.
//!
//! A rank that waits gives its turn away, with what it has sent since it had it, and sleeps until
//! the simulator (`muster_sim::ranks`) gives it back, with what has come by then. While a rank has
//! the turn no time passes, and nothing comes: so what happens depends on nothing but the programs
//! and the simulator's seed. A rank that only asks, and finds nothing, waits for a moment.

pub mod wire;

use muster_message::{Alarm, Arrival, Carrier, Failure, Take};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, BufReader};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wire::{Given, Part, Said, Setup, Turn};

/// How often a rank may look in vain, how long it waits when it looks once more, and how often that
/// is doubled: what comes ends the wait, so it is only the rank's work that becomes less.
const LOOKS: u32 = 2;
const MOMENT: Duration = Duration::from_micros(1);
const DOUBLED: u32 = 10;

/// How long a program takes to look at the clock: without that one that waits for a time, and
/// calls nothing else, would wait for ever.
const GLANCE: u64 = 20;

/// The time of a simulation, as a rank knows it.
#[derive(Clone, Debug, Default)]
pub struct Clock(Arc<AtomicU64>);

impl Clock {
    /// What a program is told, which takes it a moment.
    pub fn look(&self) -> Duration {
        Duration::from_nanos(self.0.fetch_add(GLANCE, Ordering::Relaxed))
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// A rank's end of a simulated network.
pub struct Simulated {
    setup: Setup,
    line: Arc<Line>,
    from: BufReader<UnixStream>,
    clock: Clock,
    sent: Vec<Part>,
    came: VecDeque<Part>,
    /// Bytes that are on the way, by where they go.
    flying: BTreeMap<u32, u64>,
    gone: BTreeSet<u32>,
    in_vain: u32,
}

/// What is said goes here. Another thread may say that it wants the turn while it is away.
struct Line {
    to: Mutex<UnixStream>,
    is_away: AtomicBool,
    is_wanted: AtomicBool,
}

impl Line {
    fn to(&self) -> MutexGuard<'_, UnixStream> {
        self.to.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the turn away, unless somebody here wants it; whether it is away.
    fn give(&self, turn: Turn) -> io::Result<()> {
        let mut to = self.to();
        Said::Turn(turn).write(&mut *to)?;
        self.is_away.store(true, Ordering::Relaxed);
        if self.is_wanted.load(Ordering::Relaxed) { Said::Wants.write(&mut *to) } else { Ok(()) }
    }

    /// The turn is back.
    fn has(&self) {
        let _to = self.to();
        self.is_away.store(false, Ordering::Relaxed);
        self.is_wanted.store(false, Ordering::Relaxed);
    }

    /// Ends the wait that goes on, or else the next.
    fn want(&self) {
        let mut to = self.to();
        let is_first = !self.is_wanted.swap(true, Ordering::Relaxed);
        if is_first && self.is_away.load(Ordering::Relaxed) {
            // Who waits notices by itself that nobody listens any more.
            let _ = Said::Wants.write(&mut *to);
        }
    }
}

impl Simulated {
    /// Joins a simulation, by the path of the simulator's socket, and waits for the first turn.
    ///
    /// # Errors
    /// That there is no simulator.
    pub fn join(path: &Path, rank: u32) -> io::Result<Simulated> {
        let mut to = UnixStream::connect(path)?;
        Said::Hello(rank).write(&mut to)?;
        let mut from = BufReader::new(to.try_clone()?);
        let setup = Setup::read(&mut from)?;
        let (is_away, is_wanted) = (AtomicBool::new(true), AtomicBool::new(false));
        let mut joined = Simulated {
            setup,
            line: Arc::new(Line { to: Mutex::new(to), is_away, is_wanted }),
            from,
            clock: Clock::default(),
            sent: Vec::new(),
            came: VecDeque::new(),
            flying: BTreeMap::new(),
            gone: BTreeSet::new(),
            in_vain: 0,
        };
        joined.await_turn()?;
        Ok(joined)
    }

    /// How many ranks the job has.
    pub fn size(&self) -> u32 {
        self.setup.size
    }

    /// The ranks of this node.
    pub fn neighbours(&self) -> Range<u32> {
        self.setup.neighbours.clone()
    }

    /// The simulation's time.
    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }

    /// Gives the turn away, for so long at most, and has it again.
    fn give_turn(&mut self, most: Duration, room: &[u32]) -> Result<(), Failure> {
        let sent = std::mem::take(&mut self.sent);
        let turn = Turn { now: self.clock.now(), most, room: room.to_vec(), sent };
        let given = self.line.give(turn).and_then(|()| self.await_turn());
        given.map_err(|error| Failure::Broken(format!("the simulator has ended: {error}")))
    }

    fn await_turn(&mut self) -> io::Result<()> {
        let given = Given::read(&mut self.from)?;
        self.line.has();
        self.clock.0.store(given.now.as_nanos() as u64, Ordering::Relaxed);
        for (to, bytes) in given.freed {
            if let Some(flying) = self.flying.get_mut(&to) {
                *flying -= bytes;
                if *flying == 0 {
                    self.flying.remove(&to);
                }
            }
        }
        for rank in given.gone {
            self.flying.remove(&rank);
            self.gone.insert(rank);
        }
        self.came.extend(given.parts);
        Ok(())
    }
}

/// The bytes of a message from `offset` on, of which `head` and `body` are the halves.
fn cut(head: &[u8], body: &[u8], offset: usize, piece: usize) -> Vec<u8> {
    if offset == 0 {
        let end = piece.saturating_sub(head.len()).min(body.len());
        [head, &body[..end]].concat()
    } else {
        let rest = &body[offset - head.len()..];
        rest[..rest.len().min(piece)].to_vec()
    }
}

impl Carrier for Simulated {
    fn send(&mut self, to: u32, head: &[u8], body: &[u8], offset: usize) -> Result<usize, Failure> {
        if let Some(gone) = self.is_gone(to) {
            return Err(gone);
        }
        let flying = self.flying.entry(to).or_default();
        if *flying >= self.setup.window {
            return Ok(0);
        }
        let bytes = cut(head, body, offset, self.setup.piece as usize);
        let (length, total) = (bytes.len(), (head.len() + body.len()) as u64);
        *flying += length as u64;
        self.sent.push(Part { other: to, total, offset: offset as u64, bytes });
        Ok(length)
    }

    fn take(&mut self, take: &mut impl Take) -> Result<bool, Failure> {
        if self.came.is_empty() {
            self.in_vain = self.in_vain.saturating_add(1);
            if self.in_vain > LOOKS {
                let times = (self.in_vain - LOOKS - 1).min(DOUBLED);
                self.give_turn(MOMENT * (1 << times), &[])?;
            }
        }
        let Some(part) = self.came.pop_front() else { return Ok(false) };
        self.in_vain = 0;
        let (total, offset) = (part.total as usize, part.offset as usize);
        take.take(Arrival::new(part.other, total, offset, &mut &part.bytes[..]));
        Ok(true)
    }

    fn wait(&mut self, room: &[u32], time: Duration) -> Result<(), Failure> {
        self.in_vain = 0;
        if self.came.is_empty() { self.give_turn(time, room) } else { Ok(()) }
    }

    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn alarm(&self) -> Option<Alarm> {
        let line = self.line.clone();
        Some(Box::new(move || line.want()))
    }

    fn has_delivered(&mut self, time: Duration) -> Result<bool, Failure> {
        if !self.flying.is_empty() && self.came.is_empty() {
            self.give_turn(time, &[])?;
        }
        Ok(self.flying.is_empty())
    }

    fn offered_from(&self, _: u32) -> usize {
        usize::try_from(self.setup.offered_from).unwrap_or(usize::MAX)
    }

    fn is_gone(&self, rank: u32) -> Option<Failure> {
        let evidence = || "its process or its node has ended".to_owned();
        self.gone.contains(&rank).then(|| Failure::Gone { rank, evidence: evidence() })
    }
}
