//! The cluster's global memory as its daemons use it: who is which node, and letters among them.
//!
//! The manager leads; a node daemon asks it to be taken in. One region, [`LETTERS`], is a letter
//! box: what XFER-AND-SIGNAL puts there, or members tell, is kept as it came, one letter each,
//! until its node's daemon takes it. The manager's letters to nodes are orders, theirs to it are
//! reports ([`crate::launch`]).
//!
//! The manager's heartbeat goes to all nodes, which answer only now and then: who is late is known
//! by that (`manager/beat.rs`), and what all are to do at the same moment is an event of a strobe.

use crate::keeper::Directory;
pub use crate::roster::MANAGER;
use crate::roster::{Roster, listening, transport_of, transports};
use muster_base::limits::{LETTER_MAX, PERIOD_MAX_US, PERIOD_MIN_US};
use muster_base::span;
use muster_fabric::global::{Beats, Begin, Member, Membership, Pulse, Transfer, incarnation};
use muster_fabric::heartbeat::{self, Request, Why};
use muster_fabric::primitive::{Config, KINDS, Nodes, Relation};
use muster_fabric::protocol::{NodeId, Payload};
use muster_fabric::region::{Memory as RegionMemory, Region, Rights};
use muster_fabric::shell::Setup;
use muster_fabric::shell::multicast::Group;
use muster_fabric::{Address, Deadline, Error, Result};
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// The region for letters.
const LETTERS: u32 = 0;

/// What daemons of one cluster call themselves to each other.
const SERVICE: &str = "muster";

/// Variables: each tells what nodes have of one job's files.
pub const VARIABLES: u32 = 64;

/// One variable more: the stamp of the table of slots that a node has told its strober.
pub const STROBE: u32 = VARIABLES;

/// How many jobs of a node can vote at a time, each with four variables behind that.
const VOTES: u32 = 256;

/// The variables of a job's attempt whose ranks vote (`node/vote.rs`): two whose numbers differ by
/// a multiple of [`VOTES`] have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vote(u32);

impl Vote {
    /// Those of a job's attempt.
    pub fn of(attempt: u32) -> Vote {
        Vote(attempt)
    }

    /// Whether all ranks of a node are quiet: [`yes`](Vote::yes) if they are.
    pub fn quiet(self) -> u32 {
        STROBE + 1 + self.0 % VOTES * 4
    }

    /// What no other attempt says of itself, also if it has left it there.
    pub fn yes(self) -> u64 {
        self.0.into()
    }

    /// The least that is live on a node.
    pub fn live(self) -> u32 {
        self.quiet() + 1
    }

    /// The number of the question that has found the node quiet.
    pub fn mark(self) -> u32 {
        self.quiet() + 2
    }

    /// The number of the question that has found all quiet.
    pub fn found(self) -> u32 {
        self.quiet() + 3
    }

    /// All four.
    pub fn all(self) -> [u32; 4] {
        [self.quiet(), self.live(), self.mark(), self.found()]
    }
}

/// The pause before a letter is sent again that was not taken.
const BUSY: Duration = Duration::from_millis(1);

/// Children of a node in the trees that operations go down and answers come up.
const ARITY: usize = 16;

/// How long a node may be silent before it is no member any more: its lease, and the slack between
/// two clocks.
pub const LEASE: Duration = Duration::from_millis(2250);

/// From strobe to strobe, as long as nothing else is set.
pub const PERIOD: Duration = Duration::from_millis(200);

/// A node is late that is so far behind the heartbeat. It may be busy only, so it is long for a
/// machine that has anything to do.
const LATENESS: Duration = Duration::from_secs(1);

/// And by so many strobes.
pub const LATE: u64 = 5;

/// A strobe's number has the term of its manager above these bits, so that the next one's are
/// larger: in 300 us each there are as many in ten years.
const TERM_SHIFT: u32 = 40;

/// Where a manager writes which one it is.
const TERM: &str = "term";

/// That with the manager's memory, which begins after its term.
const JOURNAL: &str = "journal";

/// The number of a node, from its name: `n3` has 4.
pub fn id_of(name: &str) -> Option<NodeId> {
    let number: u32 = name.strip_prefix('n')?.parse().ok()?;
    Some(NodeId(number.checked_add(1)?))
}

/// The name of a node.
pub fn name_of(node: NodeId) -> String {
    node.0.checked_sub(1).map_or_else(|| "the manager".to_owned(), |number| format!("n{number}"))
}

/// The cluster's global memory, as one daemon has it.
pub struct Memory {
    member: Member,
    counts: Counts,
    letters: Arc<Letters>,
    me: NodeId,
    before: Vec<NodeId>,
    term: u32,
}

/// How often this node has begun something.
#[derive(Default)]
struct Counts {
    transfers: AtomicU64,
    queries: AtomicU64,
}

impl Memory {
    /// What this node has begun and moved, in words.
    pub fn tell(&self) -> String {
        let (counts, traffic) = (&self.counts, self.member.traffic());
        let told = [
            ("transfers", &counts.transfers),
            ("queries", &counts.queries),
            ("letters", &self.letters.came),
            ("messages", &traffic.messages),
            ("bytes", &traffic.sent),
            ("multicast", &traffic.cast),
            ("hearers", &traffic.hearers),
        ];
        let kinds = KINDS.into_iter().zip(&traffic.kinds);
        let all = told.into_iter().chain(kinds);
        all.map(|(name, count)| format!("{name} {}\n", count.load(Ordering::Relaxed))).collect()
    }

    /// Bytes that this node has sent by multicast.
    pub fn multicast(&self) -> u64 {
        self.member.traffic().cast.load(Ordering::Relaxed)
    }

    /// This node.
    pub fn me(&self) -> NodeId {
        self.me
    }

    /// For a manager: how many there have been of this cluster, it included.
    pub fn term(&self) -> u32 {
        self.term
    }

    /// For a manager: the nodes that there were under one before it.
    pub fn before(&self) -> &[NodeId] {
        &self.before
    }

    /// The manager's part of it, for the cluster in `directory`.
    ///
    /// # Errors
    /// When its socket or the file with its term cannot be made.
    pub fn lead(directory: &Directory, roster: &Roster) -> io::Result<Memory> {
        let at = directory.path().join(TERM);
        let term = last_term(&at)? + 1;
        if term == 1 && directory.path().join(JOURNAL).exists() {
            return Err(no_number(&at));
        }
        write_term(&at, term)?;
        if term == 1 {
            return Memory::start(roster, MANAGER, Begin::With(Nodes::one(MANAGER)), term);
        }
        let nodes = match roster.is_beyond() {
            true => roster.shells().into_keys().collect(),
            false => known(directory.path())?,
        };
        let before = nodes.iter().filter(|node| *node != MANAGER).collect();
        let memory = Memory::start(roster, MANAGER, Begin::Again { nodes, term }, term)?;
        Ok(Memory { before, ..memory })
    }

    /// A node's part of it. It asks to be taken in, for as long as it takes.
    ///
    /// # Errors
    /// When its socket cannot be made, or `name` is no node's.
    pub fn join(roster: &Roster, name: &str) -> io::Result<Memory> {
        let me = id_of(name);
        let me = me.ok_or_else(|| io::Error::other(format!("{name} is no name of a node")))?;
        Memory::start(roster, me, Begin::Join, 1)
    }

    fn start(roster: &Roster, me: NodeId, begin: Begin, term: u32) -> io::Result<Memory> {
        let addresses = roster.shells();
        let here = addresses.get(&me).cloned().map(listening);
        let here = here.ok_or_else(|| io::Error::other(format!("{} is no member", name_of(me))))?;
        if let Address::Unix(socket) = &here {
            // Left behind by a daemon that was killed.
            let _ = fs::remove_file(socket);
        }
        let setup = Setup {
            me,
            service: SERVICE.to_owned(),
            addresses,
            transports: transports(),
            patience: Duration::ZERO,
            // Half a tree's width is many.
            group: roster.group(me).map(|group| Group { many: ARITY / 2, ..group }),
        };
        let letters = Arc::new(Letters::default());
        let regions = vec![Region::over(letters.clone(), Rights::WRITE)];
        let config = Config::new(me, incarnation());
        let config = Config {
            lease: LEASE - config.slack,
            arity: ARITY,
            variables: STROBE + 1 + VOTES * 4,
            // The kernel closes a dead process's sockets. Whose connection breaks on its way, and
            // who lives after all, joins again.
            end_is_death: true,
            ..config
        };
        let started = transport_of(&here).and_then(|transport| transport.listen(&here)).and_then(
            |listener| {
                Member::start_over(setup, listener, config, begin, regions, Some(beat(me, term)))
            },
        );
        let member = started.map_err(|error| io::Error::other(format!("{error}  [E133]")))?;
        if let Some(error) = member.traffic().no_group.get() {
            // Nobody may be there to read it.
            let _ = writeln!(io::stderr(), "{}: no multicast: {error}", name_of(me));
        }
        let counts = Counts::default();
        Ok(Memory { member, counts, letters, me, before: Vec::new(), term })
    }

    /// For a manager: has the next strobe carry an event, or come at once, or later ones come
    /// otherwise.
    ///
    /// # Errors
    /// As [`Member::strobe`].
    pub fn strobe(&self, requests: Vec<Request>, deadline: Deadline) -> Result<()> {
        self.member.strobe(requests, deadline)
    }

    /// Follows the heartbeat.
    pub fn beats(&self) -> Beats {
        self.member.beats().expect("daemons have one")
    }

    /// For a manager: who is late, with the last strobe that each is known to have seen, or 0.
    ///
    /// # Errors
    /// As [`Member::late`].
    pub fn late(&self, deadline: Deadline) -> Result<Vec<(NodeId, u64)>> {
        let late = self.member.late(deadline)?;
        let late = late.iter().filter(|one| one.why == Why::Late);
        Ok(late.map(|one| (one.node, one.seen)).collect())
    }

    /// What this node knows of the heartbeat, in words.
    ///
    /// # Errors
    /// As [`Member::pulse`].
    pub fn tell_pulse(&self, deadline: Deadline) -> Result<String> {
        let Pulse { seen, period, members } = self.member.pulse(deadline)?;
        let (term, number) = (seen >> TERM_SHIFT, seen & ((1 << TERM_SHIFT) - 1));
        let period = period.as_micros();
        let nodes = members.iter().filter(|node| **node != MANAGER).count();
        Ok(format!("term {term}\nstrobe {number}\nperiod_us {period}\nnodes {nodes}\n"))
    }

    /// Sends a letter to a set of nodes: to all or to none. It does not wait.
    ///
    /// # Errors
    /// As [`Member::xfer_and_signal`].
    pub fn send(&self, to: &Nodes, letter: impl Into<Payload>) -> Result<Transfer> {
        self.counts.transfers.fetch_add(1, Ordering::Relaxed);
        self.member.xfer_and_signal(to, (LETTERS, 0), letter, None, None)
    }

    /// Sends a letter, which is sent again if so much is under way that it is not taken.
    ///
    /// # Errors
    /// As [`Member::xfer_and_signal`].
    pub fn send_surely(self: &Arc<Memory>, to: &Nodes, letter: Vec<u8>) -> Result<Letter> {
        let sent = match self.send(to, letter.clone()) {
            Err(error) if !error.is_would_block() => return Err(error),
            sent => sent,
        };
        Ok(Letter { memory: self.clone(), to: to.clone(), letter, sent })
    }

    /// Tells the manager a short letter, combined with others on its way. It may come twice, and
    /// is lost if a node on the way dies, which all learn; so who waits for it asks again then.
    ///
    /// # Errors
    /// As [`Member::tell`].
    pub fn report(&self, letter: Vec<u8>) -> Result<()> {
        self.member.tell(LETTERS, letter)
    }

    /// Sets this node's instance of a variable.
    ///
    /// # Errors
    /// As [`Member::set_variable`].
    pub fn set(&self, variable: u32, value: u64) -> Result<()> {
        self.member.set_variable(variable, value)
    }

    /// This node's instance of a variable.
    ///
    /// # Errors
    /// As [`Member::variable`].
    pub fn get(&self, variable: u32, deadline: Deadline) -> Result<u64> {
        self.member.variable(variable, deadline)
    }

    /// This node's instance of a variable, and the epoch in which this node has joined last.
    ///
    /// # Errors
    /// As [`Member::variable`].
    pub fn get_since(&self, variable: u32, deadline: Deadline) -> Result<(u64, u64)> {
        self.member.variable_since(variable, deadline)
    }

    /// Whether a comparison holds at all nodes of a set; if so, `write` is done there.
    ///
    /// # Errors
    /// As [`Member::compare_and_write`].
    pub fn compare(
        &self,
        set: &Nodes,
        comparison: (u32, Relation, u64),
        write: Option<(u32, u64)>,
        deadline: Deadline,
    ) -> Result<bool> {
        self.counts.queries.fetch_add(1, Ordering::Relaxed);
        self.member.compare_and_write(set, comparison, write, deadline)
    }

    /// Whether a variable is at least so much at all nodes of a set.
    ///
    /// # Errors
    /// As [`Member::compare_and_write`].
    pub fn is_at_least(
        &self,
        set: &Nodes,
        (variable, value): (u32, u64),
        deadline: Deadline,
    ) -> Result<bool> {
        self.compare(set, (variable, Relation::AtLeast, value), None, deadline)
    }

    /// A letter that was read: its memory is used for another.
    pub fn give_back(&self, letter: Vec<u8>) {
        self.letters.give_back(letter);
    }

    /// The next letter, waited for; none once [`Memory::close`] was called.
    pub fn next(&self) -> Option<Vec<u8>> {
        self.letters.take()
    }

    /// The next letter, if there is one now.
    pub fn next_there(&self) -> Option<Vec<u8>> {
        self.letters.lock().letters.pop_front()
    }

    /// No letter is taken any more.
    pub fn close(&self) {
        self.letters.close();
    }

    /// Waits for an epoch after this one.
    ///
    /// # Errors
    /// As [`Member::wait_epoch`].
    pub fn wait_epoch(&self, after: u64, deadline: Deadline) -> Result<Membership> {
        self.member.wait_epoch(after, deadline)
    }

    /// The members of now.
    pub fn members(&self) -> Nodes {
        self.member.membership().members
    }

    /// Those of a set that are members now.
    pub fn members_of(&self, set: &Nodes) -> Nodes {
        self.members().iter().filter(|node| set.contains(*node)).collect()
    }

    /// Waits until all of a set are members.
    ///
    /// # Errors
    /// [`Error::Deadline`], which says who is missing; [`Error::Closed`].
    pub fn await_members(&self, set: &Nodes, deadline: Deadline) -> Result<()> {
        let mut membership = self.member.membership();
        loop {
            let Some(missing) = set.iter().find(|node| !membership.members.contains(*node)) else {
                return Ok(());
            };
            membership = match self.member.wait_epoch(membership.epoch, deadline) {
                Err(Error::Deadline { .. }) => {
                    let what = "to belong to the cluster's global memory";
                    return Err(deadline.missed("the manager", name_of(missing), what));
                }
                other => other?,
            };
        }
    }
}

/// How a daemon takes part in the heartbeat: the first strobe of each manager's is above all that
/// those before it have used.
fn beat(me: NodeId, term: u32) -> heartbeat::Config {
    let first = (u64::from(term) << TERM_SHIFT) + 1;
    let config = heartbeat::Config::new(me, MANAGER, first);
    let arity = u16::try_from(ARITY).expect("a tree's width");
    heartbeat::Config {
        arity,
        period: PERIOD,
        report_every: 1,
        late: LATE,
        lateness: LATENESS,
        ..config
    }
}

/// A letter on its way.
pub struct Letter {
    memory: Arc<Memory>,
    to: Nodes,
    letter: Vec<u8>,
    /// Or there was no room for it.
    sent: Result<Transfer>,
}

impl Letter {
    /// Waits until it has arrived at all nodes, or is known not to.
    ///
    /// # Errors
    /// As [`Transfer::wait`].
    pub fn arrive(mut self, deadline: Deadline) -> Result<()> {
        loop {
            match self.sent.and_then(|transfer| transfer.wait(deadline)) {
                Err(Error::WouldBlock) if deadline.left().is_some() => {
                    std::thread::sleep(BUSY);
                    self.sent = self.memory.send(&self.to, self.letter.clone());
                }
                done => return done,
            }
        }
    }
}

/// Reads a heartbeat's period.
///
/// # Errors
/// One sentence.
pub fn read_period(text: &str) -> std::result::Result<Duration, String> {
    let range = Duration::from_micros(PERIOD_MIN_US)..=Duration::from_micros(PERIOD_MAX_US);
    let period = span::parse(text).map_err(|why| format!("{why}  [E134]"))?;
    match range.contains(&period) {
        true => Ok(period),
        false => Err(format!(
            "a heartbeat's period of {} cannot be: it takes from {} to {}  [E134]",
            span::write(period),
            span::write(*range.start()),
            span::write(*range.end()),
        )),
    }
}

/// The name of a node's socket in its cluster's directory.
pub fn socket_of(name: &str) -> Option<String> {
    id_of(name).map(|node| format!("f{}.sock", node.0))
}

/// How often a manager was started here. What cannot be read is no beginning, nor what is gone
/// while the journal is there: nodes that have lived under a later term would not hear a manager of
/// the first.
fn last_term(at: &Path) -> io::Result<u32> {
    let text = match fs::read_to_string(at) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        read => read?,
    };
    text.trim().parse().map_err(|_| no_number(at))
}

fn no_number(at: &Path) -> io::Error {
    let at = at.display();
    io::Error::other(format!("{at} has no number: take the cluster down (muster down)  [E133]"))
}

/// Writes how often one was. A manager that dies here has led or has not: the first number is
/// renamed into place, and a later one, which is as long or longer, is one short write into the
/// room that the last has. So a manager that can still make room can be started on a full disk.
fn write_term(at: &Path, term: u32) -> io::Result<()> {
    let text = format!("{term}\n");
    if term > 1 {
        return fs::File::options().write(true).open(at)?.write_all(text.as_bytes());
    }
    let new = at.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(&new, at)
}

/// All nodes of one machine that may be members: those that have made a socket.
fn known(directory: &Path) -> io::Result<Nodes> {
    let mut found = vec![MANAGER];
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix('f')?.strip_suffix(".sock"));
        found.extend(number.and_then(|number| number.parse().ok()).map(NodeId));
    }
    Ok(found.into_iter().collect())
}

/// A letter box, seen as a region: each write is a letter.
#[derive(Default)]
struct Letters {
    /// How many have come.
    came: AtomicU64,
    state: Mutex<Tray>,
    changed: Condvar,
}

/// What is in a letter box.
#[derive(Default)]
struct Tray {
    letters: VecDeque<Vec<u8>>,
    /// Memory for the next: fresh memory costs more than to copy into it.
    spare: Vec<Vec<u8>>,
    is_closed: bool,
}

/// Letters whose memory is kept for others.
const SPARE: usize = 8;

impl RegionMemory for Letters {
    fn size(&self) -> usize {
        LETTER_MAX
    }

    /// Nobody reads it where it lies.
    fn read(&self, _: usize, bytes: &mut [u8]) {
        bytes.fill(0);
    }

    fn write(&self, _: usize, bytes: &[u8]) {
        self.came.fetch_add(1, Ordering::Relaxed);
        let mut state = self.lock();
        let mut letter = state.spare.pop().unwrap_or_default();
        drop(state);
        letter.clear();
        letter.extend_from_slice(bytes);
        self.lock().letters.push_back(letter);
        self.changed.notify_one();
    }
}

impl Letters {
    fn lock(&self) -> MutexGuard<'_, Tray> {
        self.state.lock().expect("nobody panics with it")
    }

    fn take(&self) -> Option<Vec<u8>> {
        let empty = |state: &mut Tray| state.letters.is_empty() && !state.is_closed;
        let state = self.changed.wait_while(self.lock(), empty);
        let mut state = state.expect("nobody panics with it");
        if state.is_closed { None } else { state.letters.pop_front() }
    }

    fn give_back(&self, letter: Vec<u8>) {
        let mut state = self.lock();
        if state.spare.len() < SPARE {
            state.spare.push(letter);
        }
    }

    fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_term_that_cannot_be_read_is_no_first_one() {
        let scratch = Scratch::new("term");
        let at = scratch.join(TERM);
        assert_eq!(last_term(&at).unwrap(), 0);
        for term in [1, 2, 9, 10, 4_000_000_000] {
            write_term(&at, term).unwrap();
            assert_eq!(last_term(&at).unwrap(), term);
        }
        fs::write(&at, "").unwrap();
        assert!(last_term(&at).unwrap_err().to_string().contains("has no number"));
    }

    #[test]
    fn a_manager_that_has_a_journal_and_no_term_is_no_first_one() {
        let scratch = Scratch::new("termless");
        let place = scratch.join("x");
        for path in [&*scratch, &place] {
            fs::create_dir_all(path).unwrap();
            fs::set_permissions(path, PermissionsExt::from_mode(0o700)).unwrap();
        }
        let directory = Directory::at(&place).unwrap();
        let roster = Roster::of(&directory).unwrap();
        fs::write(place.join(JOURNAL), "").unwrap();
        let said = Memory::lead(&directory, &roster).err().expect("refused").to_string();
        assert!(said.contains("/x/term has no number"), "{said}");
        assert!(!place.join(TERM).exists());
        fs::remove_file(place.join(JOURNAL)).unwrap();
        Memory::lead(&directory, &roster).unwrap();
    }
}
