//! What of a simulated job is not a process: its network, its time, and whose turn it is.

use crate::calendar::Calendar;
use crate::digest::Digest;
use crate::engine::slab::Slab;
use crate::network::{Costs, Network};
use crate::random::Random;
use crate::{MICRO, SECOND};
use muster_mpi::simulated::wire::{Given, Part, Setup, Turn};
use std::collections::HashMap;
use std::time::Duration;

/// When a job begins. Programs may take a time of zero for none.
const START: u64 = SECOND;

/// How much nearer ranks of the same node are.
const NEARER: u64 = 10;

/// What happens at a moment.
#[derive(Clone, Copy)]
enum Event {
    /// A part has come.
    Arrive(u32),
    /// A sender learns that so many bytes have come to a rank.
    Free { rank: u32, to: u32, bytes: u64 },
    /// A wait has lasted as long as it may.
    Wake { rank: u32, wait: u64 },
    /// All others learn that a rank has ended.
    Gone(u32),
    /// A rank is to be killed.
    Kill(u32),
}

/// What is to be done next.
pub enum Step {
    /// A rank has its turn.
    Turn(u32, Given),
    /// A rank is to be killed.
    Kill(u32),
    /// Nothing: no rank is left.
    End,
}

/// A rank.
#[derive(Default)]
struct Rank {
    /// The time as it knows it: behind all that it has done.
    clock: u64,
    /// Until when its adapter is sending.
    sending: u64,
    /// When the last that it has sent is there.
    arrival: u64,
    /// Those to whom it waits to send more; while it has its turn, and when it has ended: nothing.
    waits: Option<Vec<u32>>,
    /// How often it has had its turn.
    turns: u64,
    has_ended: bool,
    /// What it will be told.
    came: Vec<Part>,
    freed: Vec<(u32, u64)>,
    /// Of how many ranks that have ended it was told.
    told: usize,
}

/// The machine.
pub struct Machine {
    network: Network,
    random: Random,
    nodes: u32,
    setup: Setup,
    calendar: Calendar<Event>,
    parts: Slab<(u32, Part)>,
    ranks: Vec<Rank>,
    living: u32,
    /// When the last part of a rank comes to another one.
    rows: HashMap<(u32, u32), u64>,
    gone: Vec<u32>,
    now: u64,
    digest: Digest,
    /// Messages' parts that have come, and their bytes.
    pub carried: (u64, u64),
    /// Turns that ranks have had.
    pub turns: u64,
}

impl Machine {
    /// A machine for so many ranks on so many nodes. What it does not know of its network is drawn.
    pub fn new((ranks, nodes): (u32, u32), network: Network, seed: u64) -> Machine {
        let mut random = Random::new(seed).branch(7);
        let (piece, window, offered_from) = (
            *random.pick(&[256, 1 << 10, 8 << 10, 64 << 10]),
            *random.pick(&[4 << 10, 64 << 10, 1 << 20]),
            *random.pick(&[1 << 10, 8 << 10, 64 << 10]),
        );
        let mut calendar = Calendar::default();
        (0..ranks).for_each(|rank| calendar.add(START, Event::Wake { rank, wait: 0 }));
        let first = |_| Rank { clock: START, waits: Some(Vec::new()), ..Rank::default() };
        Machine {
            network,
            random,
            nodes,
            setup: Setup { size: ranks, neighbours: 0..0, piece, window, offered_from },
            calendar,
            parts: Slab::default(),
            ranks: (0..ranks).map(first).collect(),
            living: ranks,
            rows: HashMap::new(),
            gone: Vec::new(),
            now: START,
            digest: Digest::default(),
            carried: (0, 0),
            turns: 0,
        }
    }

    /// Kills a rank so long after the beginning.
    pub fn kill(&mut self, rank: u32, after: Duration) {
        self.calendar.add(START + after.as_nanos() as u64, Event::Kill(rank));
    }

    /// The node of a rank.
    fn node(&self, rank: u32) -> u64 {
        u64::from(rank) * u64::from(self.nodes) / self.ranks.len() as u64
    }

    /// What a rank is told before its first turn.
    pub fn setup(&self, rank: u32) -> Setup {
        let node = self.node(rank);
        let here = (0..self.setup.size).filter(|other| self.node(*other) == node);
        let neighbours = here.clone().min().unwrap_or(rank)..here.max().unwrap_or(rank) + 1;
        Setup { neighbours, ..self.setup.clone() }
    }

    /// How long it took until now.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.now - START)
    }

    /// Covers all that has happened.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Whether nothing happens for long, unless it is a thread of a rank that does something.
    pub fn is_idle(&mut self) -> bool {
        self.calendar.upcoming().is_none_or(|next| next > self.now + SECOND / 10)
    }

    /// A rank has given its turn away.
    pub fn waits(&mut self, rank: u32, turn: Turn) {
        let of = &mut self.ranks[rank as usize];
        of.clock = of.clock.max(turn.now.as_nanos() as u64);
        for part in turn.sent {
            self.send(rank, part);
        }
        let of = &mut self.ranks[rank as usize];
        let until = of.clock.saturating_add(turn.most.as_nanos() as u64);
        of.waits = Some(turn.room);
        self.calendar.add(until, Event::Wake { rank, wait: of.turns });
    }

    /// A thread of a rank wants the turn that this rank has given away.
    pub fn wants(&mut self, rank: u32) {
        let wait = self.ranks[rank as usize].turns;
        self.calendar.add(self.now, Event::Wake { rank, wait });
    }

    /// A rank has ended. Others learn that behind all that it has sent.
    pub fn ended(&mut self, rank: u32) {
        let of = &mut self.ranks[rank as usize];
        if !std::mem::replace(&mut of.has_ended, true) {
            of.waits = None;
            self.living -= 1;
            let (first, last) = self.network.evidence;
            let evidence = self.now + self.random.between(first, last);
            self.calendar.add(evidence.max(of.arrival + 1), Event::Gone(rank));
        }
    }

    fn send(&mut self, from: u32, part: Part) {
        let (to, bytes) = (part.other, part.bytes.len());
        if to >= self.setup.size {
            return;
        }
        let costs = self.costs(from, to);
        let delay = self.network.delay(&mut self.random);
        let of = &mut self.ranks[from as usize];
        of.clock += costs.works(bytes);
        let leaves = of.clock.max(of.sending);
        of.sending = leaves + costs.occupies(bytes);
        let arrival = leaves + costs.streams(bytes) + costs.latency + delay;
        let last = self.rows.entry((from, to)).or_default();
        *last = arrival.max(*last + 1);
        of.arrival = of.arrival.max(*last);
        let number = self.parts.put((to, Part { other: from, ..part }));
        self.calendar.add(*last, Event::Arrive(number));
    }

    fn costs(&self, from: u32, to: u32) -> Costs {
        let costs = self.network.costs;
        if self.node(from) == self.node(to) {
            Costs { latency: costs.latency / NEARER, ..costs }
        } else {
            costs
        }
    }

    /// Goes on to what is to be done next.
    pub fn advance(&mut self) -> Step {
        while self.living > 0
            && let Some((time, event)) = self.calendar.take(u64::MAX)
        {
            self.now = self.now.max(time);
            let woken = match event {
                Event::Arrive(number) => self.arrive(number),
                Event::Free { rank, to, bytes } => {
                    let of = &mut self.ranks[rank as usize];
                    of.freed.push((to, bytes));
                    of.waits.as_ref().is_some_and(|room| room.contains(&to)).then_some(rank)
                }
                Event::Wake { rank, wait } => {
                    let of = &self.ranks[rank as usize];
                    (of.turns == wait && of.waits.is_some()).then_some(rank)
                }
                Event::Gone(rank) => {
                    self.gone.push(rank);
                    None
                }
                Event::Kill(rank) if !self.ranks[rank as usize].has_ended => {
                    return Step::Kill(rank);
                }
                Event::Kill(_) => None,
            };
            if let Some(rank) = woken {
                return Step::Turn(rank, self.give(rank));
            }
        }
        Step::End
    }

    /// A part has come; whom it wakes.
    fn arrive(&mut self, number: u32) -> Option<u32> {
        let (to, part) = self.parts.take(number);
        self.digest.number(self.now);
        self.digest.number(u64::from(to) << 32 | u64::from(part.other));
        self.digest.number(part.total << 32 ^ part.offset);
        self.carried = (self.carried.0 + 1, self.carried.1 + part.bytes.len() as u64);
        let of = &mut self.ranks[to as usize];
        if of.has_ended {
            return None;
        }
        of.came.push(part);
        of.waits.is_some().then_some(to)
    }

    /// Gives a rank its turn.
    fn give(&mut self, rank: u32) -> Given {
        self.turns += 1;
        self.digest.number(self.now);
        self.digest.number(rank.into());
        let of = &mut self.ranks[rank as usize];
        (of.waits, of.turns) = (None, of.turns + 1);
        let (parts, freed) = (std::mem::take(&mut of.came), std::mem::take(&mut of.freed));
        let work = parts.iter().map(|part| self.network.costs.works(part.bytes.len()));
        of.clock = of.clock.max(self.now) + work.sum::<u64>();
        let gone = self.gone[of.told..].to_vec();
        of.told = self.gone.len();
        let now = of.clock;
        for part in &parts {
            let (to, bytes) = (rank, part.bytes.len() as u64);
            let told = now + self.costs(rank, part.other).latency;
            self.calendar.add(told, Event::Free { rank: part.other, to, bytes });
        }
        Given { now: Duration::from_nanos(now), freed, gone, parts }
    }
}

/// Networks that a job can be simulated on, by their names.
pub fn networks() -> [(&'static str, Network); 3] {
    // One on which what leaves later is often there earlier, if it is of another rank.
    let wild = Network { jitter: 200 * MICRO, ..Network::rough(Costs::FAST) };
    let calm = Network::calm(Costs::FAST);
    [("calm", calm), ("rough", Network::rough(Costs::FAST)), ("wild", wild)]
}
