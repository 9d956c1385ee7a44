//! What the ranks of a job find out about all of them at once: that all are *quiet*, or that what
//! each has told of its *live* state is so much at least (`docs/wire/vote.md`, `include/muster.h`).
//! It is for run-times that have to know when nothing is left to do, or what nobody needs any more.
//!
//! *On a node* each rank has a state, told over a socket of its own. The node's part of it all is
//! in variables of global memory, four for each job: whether all ranks here are quiet, the least
//! that is live here, and two for questions. So a question is one for nodes, whatever the number of
//! ranks, and COMPARE-AND-WRITE answers it for all of them.
//!
//! *Quiescence* is more than one look at each node: one that was looked at may be told to go on by
//! one that was not. Three operations find it out:
//!
//! 1. all are quiet, and then everybody's *mark* becomes a number that was never used;
//! 2. all are quiet;
//! 3. everybody's mark still is that number; then everybody's *found* becomes it, too.
//!
//! A node puts its mark out after each time that it has become busy or quiet. So where 3 finds the
//! mark nobody has become busy since 2 has found all quiet: when 3 was asked, which was after 2 was
//! answered, all were quiet at once. A message under way would belie that; so a rank is quiet only
//! once what it has sent was received, by who was busy by then. Who asks while another does waits
//! for what that finds ([`ASKED`]): each would put its mark in the other's place.
//!
//! *Who may die when.* A rank that has ended is quiet, and holds nothing. This daemon: its ranks
//! die with it. Another node: it is no member, and who asks is told so. A node that joins, perhaps
//! again, is given what was ever *found* for these variables, though it was taken away since: so it
//! believes nothing of that before it has put its marks out as a member since that epoch.

use super::Node;
use super::gateway::rank_of;
use crate::descriptors::{ACCEPT_AGAIN, is_to_wait};
use crate::memory::{Memory, Vote, id_of};
use muster_base::limits::SESSIONS_MAX;
use muster_fabric::primitive::{Nodes, Relation};
use muster_fabric::protocol::NodeId;
use muster_fabric::{Deadline, Error, Result};
use rustix::net::sockopt::socket_peercred;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long one operation may take.
const ANSWER: Duration = Duration::from_secs(5);

/// How long a question that somebody else has begun is waited for before it is asked again.
const ASKED: Duration = Duration::from_millis(20);

/// How long a process may take to say which rank it is.
const HELLO: Duration = Duration::from_secs(2);

/// The longest line that a rank says.
const LINE_MAX: u64 = 128;

/// Where ranks of a node vote.
pub(super) fn path(node: &Node) -> PathBuf {
    node.setup.directory.join("vote")
}

/// What a rank has told of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// Nothing so far, or that it is busy.
    Busy,
    Quiet,
    /// It has ended.
    Gone,
}

/// One rank.
#[derive(Clone, Copy)]
struct Rank {
    said: Said,
    live: u64,
    is_here: bool,
    /// All have been found quiet since it has said that it is, and others here have gone on.
    is_told: bool,
}

/// The ranks of a job on this node.
struct Ranks {
    all: Vec<Rank>,
    /// The node has become busy or quiet, or has joined, and its marks are not put out so far: that
    /// may fail, and whoever says something next is to make up for it.
    is_owed: bool,
    /// The epoch in which the node had joined when its part was last put out.
    joined: u64,
}

/// The votes of a job's ranks on this node.
pub(super) struct Ballot {
    memory: Arc<Memory>,
    vote: Vote,
    /// The job's nodes.
    nodes: Nodes,
    ranks: Mutex<Ranks>,
    /// The mark that was seen last, and since when: somebody asks.
    seen: Mutex<Option<(u64, Instant)>>,
}

impl Ballot {
    /// For `count` ranks here of a job on these nodes. It has its four variables for itself.
    pub(super) fn new(memory: &Arc<Memory>, vote: Vote, nodes: Nodes, count: usize) -> Ballot {
        let rank = Rank { said: Said::Busy, live: 0, is_here: false, is_told: false };
        let ranks = Mutex::new(Ranks { all: vec![rank; count], is_owed: true, joined: 0 });
        Ballot { memory: memory.clone(), vote, nodes, ranks, seen: Mutex::default() }
    }

    /// Its variables.
    pub(super) fn vote(&self) -> Vote {
        self.vote
    }

    fn lock(&self) -> MutexGuard<'_, Ranks> {
        self.ranks.lock().expect("no holder panics")
    }

    /// Changes what a rank has said, and tells it before anybody can act on the answer.
    fn change(&self, rank: usize, change: impl FnOnce(&mut Rank)) -> Result<()> {
        let mut ranks = self.lock();
        let was_quiet = fold(&ranks.all).0;
        ranks.change(rank, change);
        let goes_on = was_quiet && !fold(&ranks.all).0;
        if goes_on && self.is_found(ranks.joined, Deadline::after(ANSWER))? {
            let quiet = ranks.all.iter_mut().filter(|rank| rank.said == Said::Quiet);
            quiet.for_each(|rank| rank.is_told = true);
        }
        self.publish(&mut ranks)
    }

    /// Sets this node's part. Also where nothing has changed: a node that was taken for dead and is
    /// back has forgotten it.
    fn publish(&self, ranks: &mut Ranks) -> Result<()> {
        loop {
            for (variable, value) in told(self.vote, fold(&ranks.all), ranks.is_owed) {
                self.memory.set(variable, value)?;
            }
            // What was set is so once one can read it.
            let (_, joined) = self.memory.get_since(self.vote.live(), Deadline::after(ANSWER))?;
            if ranks.is_out(joined) {
                return Ok(());
            }
        }
    }

    /// Whether all were found quiet, as far as a node knows that has put out its part as a member
    /// since the epoch `joined`.
    fn is_found(&self, joined: u64, deadline: Deadline) -> Result<bool> {
        let (found, since) = self.memory.get_since(self.vote.found(), deadline)?;
        Ok(found != 0 && since == joined)
    }

    /// Whether all ranks of the job are quiet at one moment since this one is.
    fn is_quiescent(&self, rank: usize) -> Result<bool> {
        let deadline = Deadline::after(ANSWER);
        let mut ranks = self.lock();
        if ranks.all[rank].is_told {
            return Ok(true);
        }
        self.publish(&mut ranks)?;
        let (is_quiet, joined) = (fold(&ranks.all).0, ranks.joined);
        drop(ranks);
        if self.is_found(joined, deadline)? {
            return Ok(true);
        }
        if !is_quiet || self.is_asked(deadline)? {
            return Ok(false);
        }
        for (comparison, write) in questions(self.vote, number(self.memory.me())) {
            if !self.memory.compare(&self.nodes, comparison, write, deadline)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether another one has just asked the same.
    fn is_asked(&self, deadline: Deadline) -> Result<bool> {
        let mark = self.memory.get(self.vote.mark(), deadline)?;
        let mut seen = self.seen.lock().expect("no holder panics");
        if mark == 0 {
            *seen = None;
            return Ok(false);
        }
        match *seen {
            Some((number, since)) if number == mark => Ok(since.elapsed() < ASKED),
            _ => {
                *seen = Some((mark, Instant::now()));
                Ok(true)
            }
        }
    }

    /// Whether what each rank of the job has told is so much at least.
    fn is_reached(&self, value: u64) -> Result<bool> {
        let mut ranks = self.lock();
        self.publish(&mut ranks)?;
        let has_here = fold(&ranks.all).1 >= value;
        drop(ranks);
        let comparison = (self.vote.live(), Relation::AtLeast, value);
        Ok(has_here
            && self.memory.compare(&self.nodes, comparison, None, Deadline::after(ANSWER))?)
    }

    /// Does what a line says; the answer.
    fn obey(&self, rank: usize, line: &str) -> std::result::Result<&'static str, String> {
        let told = |result: Result<bool>| match result {
            Ok(true) => Ok("1"),
            Ok(false) => Ok("0"),
            Err(Error::WouldBlock) => Err("too much is under way: ask again".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        let said = |said| {
            let change = |rank: &mut Rank| {
                rank.is_told &= said == rank.said;
                rank.said = said;
            };
            self.change(rank, change).map(|()| true)
        };
        let number = |text: &str| {
            let number = text.parse::<u64>();
            number.map_err(|_| format!("'{text}' is no number of 64 bits"))
        };
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["quiet"] => told(said(Said::Quiet)),
            ["busy"] => told(said(Said::Busy)),
            ["quiescent"] => told(self.is_quiescent(rank)),
            ["live", value] => {
                let (value, before) = (number(value)?, self.lock().all[rank].live);
                if value < before {
                    return Err(format!("live state only grows: {value} after {before}"));
                }
                told(self.change(rank, |rank| rank.live = value).map(|()| true))
            }
            ["reached", value] => told(self.is_reached(number(value)?)),
            _ => Err(format!("'{line}' is no vote: quiet, busy, quiescent, live N or reached N")),
        }
    }

    /// Lets a process in as a rank; it is the only one.
    fn enter(&self, rank: usize) -> std::result::Result<(), String> {
        let mut ranks = self.lock();
        let before = ranks.all[rank];
        if std::mem::replace(&mut ranks.all[rank].is_here, true) {
            return Err("a process of this rank votes already".to_owned());
        }
        drop(ranks);
        let entered = self.change(rank, |rank| {
            // One before it has ended.
            let live = if rank.said == Said::Gone { 0 } else { rank.live };
            (rank.said, rank.live) = (Said::Busy, live);
        });
        entered.map_err(|error| {
            // It may come again; if not, it was never there.
            self.lock().change(rank, |rank| *rank = before);
            error.to_string()
        })
    }

    fn leave(&self, rank: usize) {
        let gone = Rank { said: Said::Gone, live: u64::MAX, is_here: false, is_told: false };
        // Nobody is left to be told.
        let _ = self.change(rank, |rank| *rank = gone);
    }
}

impl Ranks {
    fn change(&mut self, rank: usize, change: impl FnOnce(&mut Rank)) {
        let before = fold(&self.all).0;
        change(&mut self.all[rank]);
        self.is_owed |= fold(&self.all).0 != before;
    }

    /// All of the node's part was set, by one that has joined in this epoch. False if it has to be
    /// set again: it may have joined in between.
    fn is_out(&mut self, joined: u64) -> bool {
        self.is_owed = std::mem::replace(&mut self.joined, joined) != joined;
        !self.is_owed
    }
}

impl Drop for Ballot {
    /// A later job has the variables. What could not be set is what that finds: its ranks are
    /// quiet by a number of its own, but may be taken to hold what this one's did.
    fn drop(&mut self) {
        for variable in self.vote.all() {
            let _ = self.memory.set(variable, 0);
        }
    }
}

/// The node's part: whether all are quiet, and the least that is live.
fn fold(ranks: &[Rank]) -> (bool, u64) {
    let is_quiet = ranks.iter().all(|rank| rank.said != Said::Busy);
    (is_quiet, ranks.iter().map(|rank| rank.live).min().unwrap_or(u64::MAX))
}

/// What a node sets of itself, one after the other. The mark goes last: who becomes busy after he
/// was found quiet has taken it away by the time that he may act.
fn told(
    vote: Vote,
    (quiet, live): (bool, u64),
    has_turned: bool,
) -> impl Iterator<Item = (u32, u64)> {
    let marks = [(vote.mark(), 0), (vote.found(), 0)];
    let state = [(vote.quiet(), if quiet { vote.yes() } else { 0 }), (vote.live(), live)];
    state.into_iter().chain(marks.into_iter().filter(move |_| has_turned))
}

/// A comparison, and what is written where it holds.
type Question = ((u32, Relation, u64), Option<(u32, u64)>);

/// The questions by which quiescence is found, one after the other.
fn questions(vote: Vote, number: u64) -> [Question; 3] {
    let all_quiet = (vote.quiet(), Relation::Equal, vote.yes());
    [
        (all_quiet, Some((vote.mark(), number))),
        (all_quiet, None),
        ((vote.mark(), Relation::Equal, number), Some((vote.found(), number))),
    ]
}

/// A number that nobody has used: the time, in what is about microseconds, and the node.
fn number(me: NodeId) -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() >> 10;
    LAST.fetch_max(now as u64, Ordering::Relaxed);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    number << u16::BITS | u64::from(me.0 & u32::from(u16::MAX))
}

/// Where ranks vote. Dropping it ends that.
pub(super) struct Booth {
    is_over: Arc<AtomicBool>,
    at: PathBuf,
    thread: Option<JoinHandle<()>>,
}

impl Booth {
    /// Opens it.
    ///
    /// # Errors
    /// When its socket cannot be made, or no thread is left.
    pub(super) fn open(node: &Arc<Node>, memory: &Arc<Memory>) -> io::Result<Booth> {
        let at = path(node);
        // Left behind by a daemon that was killed.
        let _ = std::fs::remove_file(&at);
        let listener = UnixListener::bind(&at)?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (node, memory, over) = (node.clone(), memory.clone(), is_over.clone());
        let attend = move || {
            let places = Arc::new(());
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let stream = match stream {
                    Ok(stream) => stream,
                    Err(error) => {
                        if is_to_wait(&error) {
                            std::thread::sleep(ACCEPT_AGAIN);
                        }
                        continue;
                    }
                };
                let (node, memory, place) = (node.clone(), memory.clone(), places.clone());
                // One is of who hands them out.
                if Arc::strong_count(&place) <= SESSIONS_MAX + 1 {
                    // Who is hung up on is told by that.
                    let serve = move || {
                        let _ = serve(&node, &memory, &stream);
                        drop(place);
                    };
                    let _ = Builder::new().name("vote".into()).spawn(serve);
                }
            }
        };
        let thread = Builder::new().name("votes".into()).spawn(attend)?;
        Ok(Booth { is_over, at, thread: Some(thread) })
    }
}

impl Drop for Booth {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // It looks when somebody comes.
        let comes = UnixStream::connect(&self.at).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| comes) {
            // A thread that panicked has said so; there is nothing more to end.
            let _ = thread.join();
        }
    }
}

/// Serves one process until it hangs up.
fn serve(node: &Arc<Node>, memory: &Arc<Memory>, stream: &UnixStream) -> io::Result<()> {
    let mut lines = BufReader::new(stream);
    let say = |text: &str| (&mut &*stream).write_all(format!("{text}\n").as_bytes());
    stream.set_read_timeout(Some(HELLO))?;
    let Some(hello) = line(&mut lines)? else { return Ok(()) };
    stream.set_read_timeout(None)?;
    let (ballot, rank) = match enter(node, memory, stream, &hello) {
        Ok(entered) => entered,
        Err(why) => return say(&format!("error {why}")),
    };
    let served = say("1").and_then(|()| {
        while let Some(line) = line(&mut lines)? {
            match ballot.obey(rank, &line) {
                Ok(answer) => say(answer)?,
                Err(why) => say(&format!("error {why}"))?,
            }
        }
        Ok(())
    });
    ballot.leave(rank);
    served.or_else(|error| say(&format!("error {error}")))
}

/// The next line, if there is one.
fn line(from: &mut BufReader<&UnixStream>) -> io::Result<Option<String>> {
    let mut line = String::new();
    if io::Read::take(&mut *from, LINE_MAX).read_line(&mut line)? == LINE_MAX as usize {
        return Err(io::Error::other(format!("a line has less than {LINE_MAX} bytes")));
    }
    Ok(line.strip_suffix('\n').map(str::to_owned))
}

/// Lets a process in that says `rank JOB RANK` and is one.
fn enter(
    node: &Arc<Node>,
    memory: &Arc<Memory>,
    stream: &UnixStream,
    hello: &str,
) -> std::result::Result<(Arc<Ballot>, usize), String> {
    let numbers = hello.strip_prefix("rank ").and_then(|rest| rest.split_once(' '));
    let numbers = numbers.and_then(|(job, rank)| Some((job.parse().ok()?, rank.parse().ok()?)));
    let (job, rank) = numbers.ok_or_else(|| format!("'{hello}' is not: rank JOB RANK"))?;
    let who = socket_peercred(stream).map_err(|error| error.to_string())?;
    let pid = who.pid.as_raw_nonzero().get().try_into().ok();
    let (attempt, local) = rank_of(node, (job, rank), (who.uid.as_raw(), pid))?;
    let ballot = node.gateways.ballot(memory, attempt)?;
    ballot.enter(local as usize)?;
    Ok((ballot, local as usize))
}

/// The nodes of a job.
pub(super) fn nodes_of<'a>(names: impl Iterator<Item = &'a String>) -> Nodes {
    names.filter_map(|name| id_of(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashSet, VecDeque};

    const NODES: usize = 2;
    /// Messages that ranks send in all, and times that it is asked.
    const MOST: (usize, u64) = (3, 2);

    /// A node's variables, and what it is about to set.
    type Held = ([u64; 4], VecDeque<(u32, u64)>);

    /// Nodes of a rank each, messages among them, and one who asks. Each step is one of what a
    /// daemon does, and any other may come between two.
    #[derive(Clone, PartialEq, Eq, Hash)]
    struct World {
        vote: Vote,
        nodes: [Held; NODES],
        /// By rank: whether it has work, and messages that it has sent and that nobody has.
        ranks: [(bool, usize); NODES],
        /// From whom, to whom, and whether it has come, so that the receiver is to say first that
        /// it is busy.
        messages: Vec<(usize, usize, bool)>,
        sent: usize,
        /// By node: the questions that it has looked at, and those of which it has the outcome.
        looked: [usize; NODES],
        wrote: [usize; NODES],
        number: u64,
    }

    impl World {
        fn new() -> World {
            World {
                vote: Vote::of(7),
                nodes: Default::default(),
                ranks: [(true, 0); NODES],
                messages: Vec::new(),
                sent: 0,
                looked: [0; NODES],
                wrote: [0; NODES],
                number: 1,
            }
        }

        fn set(&mut self, node: usize, (variable, value): (u32, u64)) {
            self.nodes[node].0[(variable - self.vote.quiet()) as usize] = value;
        }

        fn tell(&mut self, node: usize, is_quiet: bool) {
            self.nodes[node].1.extend(told(self.vote, (is_quiet, 0), true));
        }

        /// What may happen at a node.
        fn acts(&self, node: usize) -> Vec<World> {
            let mut next = self.clone();
            if let Some(told) = next.nodes[node].1.pop_front() {
                next.set(node, told);
                return vec![next];
            }
            if let Some(at) = self.messages.iter().position(|m| m.1 == node && m.2) {
                let (from, ..) = next.messages.remove(at);
                next.ranks[node].0 = true;
                next.ranks[from].1 -= 1;
                return vec![next];
            }
            let mut all = Vec::new();
            if let Some(at) = self.messages.iter().position(|m| m.1 == node) {
                let mut next = self.clone();
                next.messages[at].2 = true;
                if !self.ranks[node].0 {
                    next.tell(node, false);
                }
                all.push(next);
            }
            if self.ranks[node].0 && self.sent < MOST.0 {
                let mut next = self.clone();
                next.sent += 1;
                next.messages.push((node, (node + 1) % NODES, false));
                next.ranks[node].1 += 1;
                all.push(next);
            }
            if self.ranks[node] == (true, 0) {
                next.ranks[node].0 = false;
                next.tell(node, true);
                all.push(next);
            }
            all
        }

        /// What was asked goes on at a node: it looks at a question before it writes what comes of
        /// it, once all have looked, and writes that before it looks at the next one.
        fn ask(&self, node: usize, questions: &[Question]) -> Option<World> {
            let (looks, writes) = (self.looked[node], self.wrote[node]);
            let of_all = *self.looked.iter().min()?;
            let mut next = self.clone();
            if looks > writes {
                next.wrote[node] += 1;
                if let Some(write) = questions[writes].1 {
                    next.set(node, write);
                }
                return (of_all == looks).then_some(next);
            }
            let (variable, relation, value) = questions[looks].0;
            let here = self.nodes[node].0[(variable - self.vote.quiet()) as usize];
            assert_eq!(relation, Relation::Equal);
            if here == value {
                next.looked[node] += 1;
            } else {
                (next.looked, next.wrote) = ([0; NODES], [0; NODES]);
                next.number += 1;
            }
            // The next one is asked once the one before was answered.
            (of_all == looks && next.number <= MOST.1).then_some(next)
        }
    }

    /// All that may come of asking these questions: how often it is found, and how often although
    /// somebody has work, or gets some.
    fn explore(which: &[usize]) -> (usize, usize) {
        let mut known = HashSet::from([World::new()]);
        let mut open = vec![World::new()];
        let (mut found, mut early) = (0, 0);
        while let Some(world) = open.pop() {
            let all = questions(world.vote, world.number);
            let asked: Vec<Question> = which.iter().map(|at| all[*at]).collect();
            if world.looked == [asked.len(); NODES] {
                found += 1;
                let works = world.ranks.iter().any(|(works, _)| *works);
                early += usize::from(works || !world.messages.is_empty());
                continue;
            }
            for node in 0..NODES {
                let next = world.acts(node).into_iter().chain(world.ask(node, &asked));
                open.extend(next.filter(|next| known.insert(next.clone())));
            }
        }
        (found, early)
    }

    #[test]
    fn who_finds_that_nothing_is_left_is_right_whatever_comes_between() {
        let (found, early) = explore(&[0, 1, 2]);
        assert!(found > 0 && early == 0, "{found} found, {early} too early");
    }

    #[test]
    fn with_one_question_less_it_would_be_found_too_early() {
        for which in [&[0][..], &[0, 1], &[0, 2]] {
            assert_ne!(explore(which).1, 0, "{which:?}");
        }
    }

    /// What has failed is said again by the rank, whose state is what it was told to be by then.
    #[test]
    fn marks_are_owed_until_they_are_out_also_where_that_has_failed_once() {
        let rank = |said| Rank { said, live: 0, is_here: true, is_told: false };
        let all = vec![rank(Said::Quiet), rank(Said::Quiet)];
        let mut ranks = Ranks { all, is_owed: false, joined: 5 };
        let busy = |rank: &mut Rank| rank.said = Said::Busy;
        ranks.change(0, busy);
        assert!(ranks.is_owed);
        ranks.change(0, busy);
        assert!(ranks.is_owed, "nobody has put them out");
        ranks.is_owed = false;
        ranks.change(1, busy);
        assert!(!ranks.is_owed, "the node was busy before");
        assert!(ranks.is_out(5));
        assert!(!ranks.is_out(8) && ranks.is_owed, "it has joined since, and was given others");
        assert!(ranks.is_out(8) && !ranks.is_owed);
    }

    #[test]
    fn a_node_is_quiet_once_all_its_ranks_are_and_holds_the_least_that_one_does() {
        let rank = |said, live| Rank { said, live, is_here: true, is_told: false };
        assert_eq!(fold(&[rank(Said::Quiet, 3), rank(Said::Busy, 2)]), (false, 2));
        assert_eq!(fold(&[rank(Said::Quiet, 3), rank(Said::Gone, u64::MAX)]), (true, 3));
    }

    #[test]
    fn no_two_questions_have_the_same_number() {
        let all: HashSet<u64> = (0..100).map(|at| number(NodeId(at % 4))).collect();
        assert_eq!(all.len(), 100);
        let node = |me| number(NodeId(me)) & 0xffff;
        assert_eq!((node(3), node(4)), (3, 4), "nor two of different nodes");
    }

    #[test]
    fn jobs_whose_numbers_are_near_have_variables_of_their_own() {
        let all = (1..=256).flat_map(|job| Vote::of(job).all());
        let mut distinct: Vec<u32> = all.collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 1024);
        assert_eq!(Vote::of(1).all(), Vote::of(257).all());
        assert_ne!(Vote::of(1).yes(), Vote::of(257).yes(), "what the first has left is no yes");
    }
}
