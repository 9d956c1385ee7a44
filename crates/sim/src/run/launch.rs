//! Launches under faults: every job ends, with the right words; all of it is left nowhere; and what
//! belongs to one start of a node, or to one attempt at a job, is never taken for another's. A job
//! that may begin again does, as often as it may; and who is said to have left has had a reason.
//!
//! A client submits jobs one after another, some with files, some that fail, some that may begin
//! again. Nodes die in every phase of a launch and come back, stand still, get slow, are cut off;
//! the manager stands still for up to ten seconds, all clocks are up to an hour apart; chunks come
//! corrupt, disks are full, nodes drop chunks that they had.

use super::{MASTER, NODES, Outcome, Scenario};
use crate::engine::{Agenda, Engine, Moment, User};
use crate::fault::{self, Fault, Range, Schedule};
use crate::launch::{Ask, Daemon, Ended, Flaws, Makers, Prices, Tell, Wish, instance};
use crate::network::{Costs, Network};
use crate::random::Random;
use crate::{MICRO, MILLI, SECOND};
use muster_fabric::protocol::NodeId;
use muster_machine::manager::spec::End;
use muster_machine::memory::id_of;
use std::collections::{BTreeMap, BTreeSet};

/// The runs.
pub const SCENARIO: Scenario = Scenario { name: "launch", faults, run };

/// Jobs of a run.
const JOBS: u64 = 12;

/// When the last job is submitted and the last fault comes, at the latest: most launches are
/// in the midst of something then.
const END: u64 = 400 * MILLI;

/// The longest that anything stands still: the manager, too.
const LONGEST: u64 = 10 * SECOND;

/// Within this all jobs have ended and all is forgotten after the last fault has mended: a lease
/// of a node that was removed, the time of grace and that to drain, and the nodes' coming back.
const SETTLES: u64 = 40 * SECOND;

/// Of a million nodes that die so many die with whoever keeps them.
const KEEPERLESS: u32 = 100_000;

/// Within this whoever keeps a node has seen it die, and said so.
const SEEN: u64 = 20 * MILLI;

/// Within this it is seen that a machine does not answer.
const SILENT: u64 = 6 * SECOND;

/// A launch takes about so long here: 2 ms of work, spread over the phases.
const PRICES: Prices = Prices {
    begin: 300 * MICRO,
    give: 10_000,
    letter: 10_000,
    keep: 10_000,
    rank: 500 * MICRO,
    report: 20 * MICRO,
};

fn faults(seed: u64) -> Schedule {
    let range = Range {
        nodes: NODES,
        when: (0, END),
        faults: 12,
        longest: LONGEST,
        forever: 200_000,
        blocked: 0,
    };
    let mut schedule = fault::draw(&mut Random::new(seed).branch(5), &range);
    // The manager's own restart is not simulated: its journal is a file. It stands still instead.
    for (_, fault) in &mut schedule {
        if let Fault::Kill(MASTER, back) = fault {
            *fault = Fault::Pause(MASTER, back.unwrap_or(LONGEST));
        }
    }
    schedule
}

fn run(seed: u64, faults: &Schedule, trace: usize) -> Outcome {
    let network = Network::rough(Costs::FAST);
    let user = Clients::new(Random::new(seed).branch(6), faults);
    let mut engine = Engine::new(seed, NODES, true, network, user);
    engine.keep_trace(trace);
    engine.plan(faults.clone());
    // With a connection of its core's a node loses the one that the manager has to it.
    for (time, fault) in faults {
        if let Fault::Reset(node, _) = fault {
            engine.ask(*time, MASTER, Ask::Broke(*node));
        }
    }
    for wish in engine.user.wishes() {
        let after = engine.user.draw.below(END);
        engine.ask(after, MASTER, Ask::Launch(wish));
    }
    let mends = faults.iter().map(|(time, fault)| time + fault.lasts()).max().unwrap_or(0);
    let failed = |user: &mut Clients| user.failure.is_some();
    engine.run(mends.max(END) + SETTLES, failed);
    let failure = engine.user.failure.take();
    let failure = failure.or_else(|| settled(&engine).err());
    Outcome::of(&engine, failure)
}

/// What holds long after the last fault.
fn settled(engine: &Engine<Daemon, Clients>) -> Result<(), String> {
    let user = &engine.user;
    if user.ended.len() as u64 != JOBS {
        let open = engine.core(MASTER).map(Daemon::open).unwrap_or_default();
        let ended = user.ended.keys();
        return Err(format!("of {JOBS} jobs these have ended: {ended:?}\n{}", open.join("\n")));
    }
    for node in (1..NODES).map(NodeId) {
        let Some(core) = engine.core(node) else { continue };
        let left = core.left();
        if !left.is_empty() {
            return Err(format!("of jobs {left:?} something is left at {node}"));
        }
        if !engine.core(MASTER).is_some_and(|master| master.members().contains(node)) {
            return Err(format!("{node} does not belong to the cluster again"));
        }
        if !engine.core(MASTER).is_some_and(|master| master.reaches(node)) {
            return Err(format!("{node} lives, and gets no jobs any more"));
        }
    }
    user.running.iter().next().map_or(Ok(()), |(node, attempt, rank)| {
        Err(format!("rank {rank} of attempt {attempt} still runs at {node}"))
    })
}

/// Who submits, and judges.
struct Clients {
    draw: Random,
    makers: Makers,
    /// Nodes of this run may be flawed: in most seeds, with faults or without.
    may_be_flawed: bool,
    faults: Schedule,
    /// Which connections were made to end.
    resets: Vec<[NodeId; 2]>,
    ended: BTreeMap<u32, Ended>,
    /// Which start of each node's daemon there is.
    alive: BTreeMap<NodeId, u64>,
    /// Programs that run, by attempts.
    running: BTreeSet<(NodeId, u32, usize)>,
    /// How often a rank's program has begun in an attempt, and how those ended that have.
    begun: BTreeMap<(u32, usize), u32>,
    statuses: BTreeMap<(u32, usize), i32>,
    /// How many chunks were all there of each when it began.
    chunks: BTreeMap<(u32, usize), usize>,
    /// Nodes at which a chunk is corrupt, that have no room, or that drop what they had.
    flawed: BTreeSet<NodeId>,
    failure: Option<String>,
}

impl Clients {
    fn new(mut draw: Random, faults: &Schedule) -> Clients {
        Clients {
            makers: Makers::new(NODES, PRICES),
            may_be_flawed: draw.below(4) > 0,
            draw,
            faults: faults.clone(),
            resets: Vec::new(),
            ended: BTreeMap::new(),
            alive: BTreeMap::new(),
            running: BTreeSet::new(),
            begun: BTreeMap::new(),
            statuses: BTreeMap::new(),
            chunks: BTreeMap::new(),
            flawed: BTreeSet::new(),
            failure: None,
        }
    }

    /// The jobs; a few share their files, so that chunks are there already.
    fn wishes(&mut self) -> Vec<Wish> {
        let draw = &mut self.draw;
        let wish = |_| {
            let lasts = *draw.pick(&[0, 0, 500, 20_000, 300_000]);
            let status = *draw.pick(&[0, 0, 0, 0, 0, 3 << 8]);
            let files = (0..*draw.pick(&[0, 0, 1, 3, 7])).map(|at| 5_000 + 1_000 * at).collect();
            Wish {
                nodes: draw.between(1, u64::from(NODES)) as usize,
                program: (lasts, status),
                files,
                salt: draw.below(4),
                env: String::new(),
                requeue: *draw.pick(&[0, 0, 1, 3]),
            }
        };
        (0..JOBS).map(wish).collect()
    }

    fn fail(&mut self, at: Moment, what: String) {
        self.failure.get_or_insert(format!("{}, at {} ns: {what}", at.node, at.now));
    }

    fn ran(
        &mut self,
        at: Moment,
        (attempt, rank): (u32, usize),
        status: Option<i32>,
        chunks: usize,
    ) {
        match status {
            None => {
                self.chunks.insert((attempt, rank), chunks);
                self.running.insert((at.node, attempt, rank));
                let times = self.begun.entry((attempt, rank)).or_default();
                *times += 1;
                if *times > 1 {
                    self.fail(at, format!("rank {rank} of attempt {attempt} runs a second time"));
                }
            }
            Some(status) => {
                self.running.remove(&(at.node, attempt, rank));
                self.statuses.insert((attempt, rank), status);
            }
        }
    }

    /// Whether a fault has struck by now.
    fn has_struck(&self, now: u64) -> bool {
        self.faults.iter().any(|(time, _)| *time <= now)
    }

    /// Whether files that are not there have a reason not to be: who is named has a flaw, or may
    /// have missed something. Where nobody is named, something has struck.
    fn may_lack_files(&self, why: &str, now: u64) -> bool {
        let words = why.split(|letter: char| !letter.is_ascii_alphanumeric());
        let named: Vec<NodeId> = words.filter_map(id_of).collect();
        let has_reason = |node: &NodeId| {
            let is_flawed = self.flawed.contains(node) && !why.contains(" has left ");
            is_flawed || self.may_have_left(*node, now)
        };
        if named.is_empty() { self.has_struck(now) } else { named.iter().all(has_reason) }
    }

    /// Whether something has happened that makes a node leave the cluster.
    fn may_have_left(&self, node: NodeId, now: u64) -> bool {
        let of = |one: NodeId| one == node || one == MASTER;
        self.faults.iter().any(|(time, fault)| {
            let may = match fault {
                Fault::Kill(one, _) => *one == node,
                Fault::Pause(one, _) | Fault::Slow(one, ..) => of(*one),
                // Which connection of its core's that is, the run says.
                Fault::Reset(one, _) => *one == node,
                Fault::Cut(nodes, _) => nodes.contains(&node) != nodes.contains(&MASTER),
                // Which way that is, the run says.
                Fault::Block(..) | Fault::Spike(..) => true,
            };
            may && *time <= now
        }) || self.resets.iter().any(|ends| ends.iter().copied().all(of))
    }

    /// Whether a node may be silent though it lives: no job begins again beside what may run there.
    fn may_be_silent(&self, now: u64) -> bool {
        let ends = |fault: &Fault| matches!(fault, Fault::Kill(..) | Fault::Reset(..));
        self.faults.iter().any(|(time, fault)| *time <= now && !ends(fault))
    }

    /// Whether a job's end is what has happened.
    fn has_ended(&mut self, at: Moment, ended: Ended) {
        let (job, attempt) = (ended.job, ended.attempt);
        let all = (0..ended.ranks).map(|rank| self.statuses.get(&(attempt, rank)).copied());
        let statuses: Vec<Option<i32>> = all.collect();
        let why = ended.why.clone().unwrap_or_default();
        let has_struck = self.has_struck(at.now);
        let is_of_files = why.contains("[E205]");
        let (failed, allowed) = ended.failed;
        let left = why.split_once(" has left the cluster").map(|(left, _)| left);
        let left = left.and_then(|text| text.rsplit(' ').next()).and_then(id_of);
        let lost = why.split_once(" was lost: ").map(|(lost, _)| lost);
        let lost = lost.and_then(|text| text.rsplit(' ').next()).and_then(id_of);
        let begun = self.chunks.range((attempt, 0)..(attempt + 1, 0));
        let lack_files = begun.clone().any(|(_, chunks)| *chunks != ended.chunks);
        let runs = self.running.iter().any(|(_, one, _)| *one == attempt);
        let wrong = match ended.end {
            _ if failed > allowed => Some("has begun again too often"),
            _ if !has_struck && ended.ranks != ended.wanted.min(NODES as usize - 1) => {
                Some("has other nodes than it wanted")
            }
            End::Done if ended.exit != 0 => Some("is done, with an exit status"),
            End::Lost if ended.exit != 125 => Some("has lost a node, with another exit status"),
            End::Failed if why.contains(" was lost: ") => Some("has lost a node, and only failed"),
            End::Lost if failed < allowed && !self.may_be_silent(at.now) => {
                Some("has lost a node, and does not begin again")
            }
            _ if left.or(lost).is_some_and(|node| !self.may_have_left(node, at.now)) => {
                Some("names a node that has not left")
            }
            _ if lack_files => Some("has ranks that ran without all of its files"),
            _ if runs && !has_struck => Some("has ended, and runs"),
            End::Done if statuses.iter().any(|status| *status != Some(0)) => {
                Some("is done, and not all of its ranks have ended well")
            }
            End::Done => None,
            End::Failed if is_of_files && !self.may_lack_files(&why, at.now) => {
                Some("has not got its files, though nothing went wrong where that is")
            }
            // Who dies or cannot keep them is named as that.
            End::Failed if why.contains("do not unpack") => Some("has waited in vain for files"),
            End::Failed if why.contains(" exited 3") => {
                let is_so = statuses.contains(&Some(3 << 8)) && ended.exit == 3;
                (!is_so).then_some("is told to have exited 3, and no rank has, or it has not")
            }
            End::Lost | End::Failed if ended.exit == 0 => Some("has failed with exit status 0"),
            End::Lost | End::Failed if !has_struck && !is_of_files => {
                Some("was ended, though nothing went wrong")
            }
            End::Lost | End::Failed if why.is_empty() => Some("was ended without a word"),
            End::Lost | End::Failed => None,
            End::Killed | End::Timeout => Some("was ended by nobody"),
        };
        if let Some(wrong) = wrong {
            self.fail(at, format!("job {job} {wrong}: {ended:?}"));
        }
        if self.ended.insert(job, ended).is_some() {
            self.fail(at, format!("job {job} has ended twice"));
        }
    }
}

impl User<Daemon> for Clients {
    fn begin(&mut self, at: Moment, _: &mut Agenda<Ask>) -> Daemon {
        let is_flawed = self.may_be_flawed && at.node != MASTER;
        let mut flaw = || is_flawed && self.draw.happens(5_000);
        let (corrupts, is_full) = (flaw(), flaw());
        let mut often = || is_flawed && self.draw.happens(50_000);
        let flaws = Flaws { corrupts, is_full, drops: often(), changes: often() };
        if flaws.corrupts || flaws.is_full || flaws.drops || flaws.changes {
            self.flawed.insert(at.node);
        }
        self.alive.insert(at.node, instance(at.life));
        self.makers.daemon(at.node, at.life, at.clock, flaws)
    }

    fn end(&mut self, at: Moment, agenda: &mut Agenda<Ask>) {
        // Its processes end with it.
        self.running.retain(|(node, ..)| *node != at.node);
        // Its connection closes, and whoever keeps it tells why, before that or after it; if that
        // is gone as well, its machine may say nothing for long.
        let (is_told, start) = (!self.draw.happens(KEEPERLESS), instance(at.life));
        self.alive.remove(&at.node);
        let mut seen = || self.draw.below(if is_told { SEEN } else { SILENT });
        agenda.ask(seen(), MASTER, Ask::Died(at.node, start, false));
        if is_told {
            agenda.ask(seen(), MASTER, Ask::Died(at.node, start, true));
        }
    }

    fn reset(&mut self, _now: u64, ends: [NodeId; 2]) {
        self.resets.push(ends);
    }

    fn notice(&mut self, at: Moment, told: Tell, agenda: &mut Agenda<Ask>) {
        match told {
            Tell::Work(time, ask) => agenda.work(at, time, ask),
            Tell::Ended(ended) => self.has_ended(at, ended),
            Tell::Strobed => {}
            Tell::Connect(node, start) => {
                let is_there = self.alive.get(&node) == Some(&start);
                agenda.ask(self.draw.below(MILLI), MASTER, Ask::Connected(node, start, is_there));
            }
            Tell::Ran { attempt, rank, status, chunks } => {
                self.ran(at, (attempt, rank), status, chunks);
            }
        }
    }
}
