//! Global memory as programs use it: the three primitives, and who takes part.
//!
//! Regions and events are here, where any thread may look at them: what a transfer carries is in
//! the region before its event is signalled, and a transfer is signalled here in the order of all
//! operations.
//!
//! When a member ends, and when the master says that it is none any more, its operations end with
//! an error: done at all nodes or at none, but nobody here knows which.

use super::board::{self, Board, Membership};
use super::cores::{Cores, Told};
use super::heartbeat::Log;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::heartbeat::{self, Heartbeat};
use crate::limits::{PENDING_BYTES_MAX, PENDING_MAX, TELL_MAX, TOLD_BYTES_MAX, TRANSFER_MAX};
use crate::primitive::{
    Config, Core, Nodes, Notice, Outcome, Refusal, Relation, Request, TERM_MAX,
};
use crate::protocol::{NodeId, Payload, Time};
use crate::region::{Region, Rights};
use crate::shell::{Hand, Handler, Setup, Shell, Traffic};
use crate::transport::Listener;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// How long it may take to find out who is missing when a deadline has passed.
const GLANCE: Duration = Duration::from_millis(20);

/// How an operation ended.
type Ending = std::result::Result<Outcome, Refusal>;

/// A node's part of global memory, and its way to the others'.
///
/// ```
/// # use muster_fabric::{Address, Deadline, global::{Begin, Member, incarnation}};
/// # use muster_fabric::{primitive::{Config, Nodes, Relation}, protocol::NodeId};
/// # use muster_fabric::{shell::{Setup, Transports}, transport};
/// # use std::time::Duration;
/// # fn main() -> muster_fabric::Result<()> {
/// let nodes = [NodeId(0), NodeId(1)];
/// let any: Address = "tcp!127.0.0.1!0".parse()?;
/// let listeners = [transport::of(&any)?.listen(&any)?, transport::of(&any)?.listen(&any)?];
/// let addresses = listeners.iter().map(|listener| listener.address().clone());
/// let setup = Setup {
///     me: NodeId(0),
///     service: "example".to_owned(),
///     addresses: nodes.into_iter().zip(addresses).collect(),
///     transports: Transports::default(),
///     patience: Duration::ZERO,
///     group: None,
/// };
/// let all: Nodes = nodes.into_iter().collect();
/// let members = nodes.into_iter().zip(listeners).map(|(me, listener)| {
///     let config = Config { regions: vec![4096], ..Config::new(me, incarnation()) };
///     Member::start(Setup { me, ..setup.clone() }, listener, config, Begin::With(all.clone()))
/// });
/// let members = members.collect::<muster_fabric::Result<Vec<Member>>>()?;
///
/// // Five bytes at offset 8 of region 0 at both; then event 3 is signalled there.
/// let soon = Deadline::after(Duration::from_secs(30));
/// let transfer = members[1].xfer_and_signal(&all, (0, 8), b"hello".to_vec(), Some(3), None)?;
/// assert_eq!(members[0].wait_event(3, 0, soon)?, 1);
/// let mut bytes = [0; 5];
/// members[0].read(0, 8, &mut bytes)?;
/// assert_eq!(&bytes, b"hello");
/// transfer.wait(soon)?;
///
/// // Variable 2 is 0 at both, so it becomes 1 at both.
/// let is_zero = (2, Relation::Equal, 0);
/// assert!(members[0].compare_and_write(&all, is_zero, Some((2, 1)), soon)?);
/// assert!(!members[1].compare_and_write(&all, is_zero, None, soon)?);
/// # Ok(())
/// # }
/// ```
pub struct Member {
    shell: Shell<Cores>,
    shared: Arc<Shared>,
    tickets: AtomicU64,
    is_master: bool,
    config: Config,
    /// What the heartbeat tells, where there is one.
    log: Option<Arc<Log>>,
}

/// How a member begins.
#[derive(Clone, Debug)]
pub enum Begin {
    /// As one of those with whom the cluster begins; the master is one of them. Only in its first
    /// life: who has been a member has to join.
    With(Nodes),
    /// As one that asks the master to be taken in, until it is: [`Member::wait_epoch`] tells.
    Join,
    /// As the master, after the last one has ended: it asks all nodes that may be members what was
    /// under way.
    Again {
        /// All that may be.
        nodes: Nodes,
        /// Which master this is, larger than that of any before; the one that the cluster began
        /// with had 1. A number in a file that grows by one with each start will do.
        term: u32,
    },
}

/// What the shell's thread and the users share.
struct Shared {
    board: Board,
    regions: Vec<Region>,
    open: Mutex<HashMap<u64, Open>>,
    /// Bytes of letters for the master so far, and of those that do not wait here any more.
    letters: AtomicUsize,
    gone: AtomicUsize,
}

/// An operation that has not ended.
struct Open {
    tell: SyncSender<Ending>,
    local: Option<u32>,
    bytes: usize,
}

/// A transfer under way. It goes on whether this is kept or not.
#[derive(Debug)]
pub struct Transfer(Asked);

/// A comparison under way, with what it may write. It goes on whether this is kept or not.
#[derive(Debug)]
pub struct Comparison(Asked);

/// An operation that was asked for, and what has to be said of it where nobody answers.
#[derive(Debug)]
struct Asked {
    told: Receiver<Ending>,
    /// What was told.
    ended: OnceCell<Ending>,
    hand: Hand<Cores>,
    node: NodeId,
    /// Of whom it counts that this node does not reach him: elsewhere than at the master of that
    /// one alone, since all else goes by others.
    only: Option<NodeId>,
    set: Nodes,
    what: &'static str,
}

/// Takes the core's notices. When it is dropped, the shell has ended.
struct Desk {
    shared: Arc<Shared>,
    log: Option<Arc<Log>>,
    /// What the board says.
    until: Option<Time>,
}

impl Begin {
    /// Says what cannot be.
    fn check(&self, setup: &Setup, config: &Config) -> std::result::Result<(), String> {
        let Config { node, master, .. } = *config;
        if setup.me != node {
            return Err(format!("{node} cannot run as {}", setup.me));
        }
        config.check()?;
        match self {
            Begin::With(members) if !members.contains(master) => {
                Err(format!("{master} leads, and is no member"))
            }
            Begin::With(members) if !members.contains(node) => {
                Err(format!("{node} is none of those it begins with"))
            }
            Begin::Join if node == master => {
                Err(format!("{node} leads: there is nobody to take it in"))
            }
            Begin::Again { .. } if node != master => Err(format!("{master} leads, not {node}")),
            Begin::Again { term, .. } if !(2..=TERM_MAX).contains(term) => {
                Err(format!("a master that begins again has a term of 2 to {TERM_MAX}, not {term}"))
            }
            _ => Ok(()),
        }
    }

    /// The core of who begins so.
    fn core(self, config: Config, now: Time) -> Core {
        match self {
            Begin::With(members) => Core::member(config, members, now),
            Begin::Join => Core::outside(config, now),
            Begin::Again { nodes, term } => Core::restarted(config, &nodes, term, now),
        }
    }
}

impl Member {
    /// Starts a member whose regions are memory of this process.
    ///
    /// # Errors
    /// [`Error::Refused`] where nobody can begin so, or with no such [`Config`];
    /// [`Error::Exhausted`] for regions that memory does not hold; those of [`Shell::start`].
    pub fn start(
        setup: Setup,
        listener: Box<dyn Listener>,
        config: Config,
        begin: Begin,
    ) -> Result<Member> {
        let region =
            |size: &u64| Region::try_new(usize::try_from(*size).unwrap_or(usize::MAX), Rights::ALL);
        let regions = config.regions.iter().map(region).collect::<Result<_>>()?;
        Member::start_over(setup, listener, config, begin, regions, None)
    }

    /// Starts a member whose regions are over memory of the user's choice, as a file that is
    /// received straight to its place; `config` names none, or has the sizes of these. What is
    /// written there is written by the shell, which waits for it.
    ///
    /// With a heartbeat, of which all members have one or none: the master of the one is that of
    /// the other, and so are the members ([`Member::beats`]).
    ///
    /// # Errors
    /// As [`Member::start`]; [`Error::Refused`] for a heartbeat that is out of range, and for a
    /// region that peers may not write.
    pub fn start_over(
        setup: Setup,
        listener: Box<dyn Listener>,
        mut config: Config,
        begin: Begin,
        regions: Vec<Region>,
        heartbeat: Option<heartbeat::Config>,
    ) -> Result<Member> {
        begin.check(&setup, &config).map_err(board::refused)?;
        let (me, master) = (config.node, config.master);
        if let Some(heartbeat) = &heartbeat {
            heartbeat.check().map_err(board::refused)?;
            if (heartbeat.me, heartbeat.master) != (me, master) {
                return Err(board::refused("the heartbeat is another node's, or another master's"));
            }
        }
        if let Some(index) = regions.iter().position(|region| !region.rights().write) {
            let what = format!("region {index} may not be written, as transfers do");
            return Err(board::refused(what));
        }
        let log = heartbeat.is_some().then(|| Arc::new(Log::new(me, master)));
        let sizes = regions.iter().map(|region| region.size() as u64).collect();
        let named = std::mem::replace(&mut config.regions, sizes);
        if !(named.is_empty() || named == config.regions) {
            let given = &config.regions;
            let what =
                format!("the configuration has regions of {named:?} bytes, given are {given:?}");
            return Err(board::refused(what));
        }
        let board = Board::new(me, master, config.events);
        let open = Mutex::default();
        let (letters, gone) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shared = Arc::new(Shared { board, regions, open, letters, gone });
        let (is_master, known) = (me == master, config.clone());
        let desk = Desk { shared: shared.clone(), log: log.clone(), until: None };
        let core = |now| {
            let core = begin.core(config, now);
            let (epoch, members) = core.epoch();
            shared.board.open(epoch, members.clone(), &Nodes::none(), Nodes::none());
            Cores::new(core, heartbeat.map(|config| Heartbeat::new(config, now)), is_master)
        };
        let shell = Shell::start(setup, listener, core, desk)?;
        Ok(Member { shell, shared, tickets: AtomicU64::new(0), is_master, config: known, log })
    }

    /// What the heartbeat tells, where there is one.
    pub(super) fn log(&self) -> Option<&Arc<Log>> {
        self.log.as_ref()
    }

    /// As [`Shell::look`].
    pub(super) fn look<R: Send + 'static>(
        &self,
        deadline: Deadline,
        look: impl FnOnce(Time, &mut Cores) -> R + Send + 'static,
    ) -> Result<R> {
        self.shell.look(deadline, look)
    }

    /// XFER-AND-SIGNAL: puts data into a region at all nodes of a set or at none, then signals an
    /// event there, and one here. It does not wait.
    ///
    /// At most [`TRANSFER_MAX`] bytes go at once, to a set of at most
    /// [`crate::limits::SET_RANGES_MAX`] ranges. [`PENDING_MAX`] operations of this node with
    /// [`PENDING_BYTES_MAX`] bytes may be under way, and one more is not taken: who keeps a clone
    /// of the data, which copies nothing, tries again when one of them has ended, as
    /// [`Transfer::wait`] tells.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] when too much is under way; those of [`Shell::request`].
    pub fn xfer_and_signal(
        &self,
        set: &Nodes,
        (region, offset): (u32, u64),
        data: impl Into<Payload>,
        remote: Option<u32>,
        local: Option<u32>,
    ) -> Result<Transfer> {
        let body = data.into();
        let what = "to take a transfer (XFER-AND-SIGNAL)";
        let bytes = body.len();
        let asked = self.submit(set, (local, bytes), what, |ticket| Request::Transfer {
            ticket,
            set: set.clone(),
            region,
            offset,
            body,
            remote,
            local,
        })?;
        Ok(Transfer(asked))
    }

    /// Tells the master a letter, which is written into a region there: combined with others on
    /// its way, in no order with operations, once or more often. It is lost if a member on its way
    /// dies, and an epoch begins then: who misses it has to ask for it.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than [`TELL_MAX`] bytes; [`Error::Refused`] for no
    /// region, or more bytes than it has; [`Error::WouldBlock`] while [`TOLD_BYTES_MAX`]
    /// wait here to be told; those of [`Shell::request`].
    pub fn tell(&self, region: u32, letter: impl Into<Payload>) -> Result<()> {
        let body = letter.into();
        if body.len() > TELL_MAX {
            let (what, limit) = ("a letter to the master", TELL_MAX);
            return Err(Error::TooLarge { what, size: body.len(), limit });
        }
        taken(self.config.beyond(region, 0, body.len()))?;
        let (letters, bytes) = (&self.shared.letters, body.len());
        let gone = self.shared.gone.load(Ordering::Acquire);
        if letters.load(Ordering::Relaxed).wrapping_sub(gone) >= TOLD_BYTES_MAX {
            return Err(Error::WouldBlock);
        }
        // Before the shell can count it.
        letters.fetch_add(bytes, Ordering::Relaxed);
        let asked = self.shell.request(Request::Tell { region, body });
        if asked.is_err() {
            letters.fetch_sub(bytes, Ordering::Relaxed);
        }
        asked
    }

    /// TEST-EVENT, not waiting: how often an event was signalled here.
    ///
    /// # Errors
    /// [`Error::NotMember`] while this node may not say; [`Error::Refused`] for no event.
    pub fn test_event(&self, event: u32) -> Result<u64> {
        self.shared.board.count(event, || self.shell.clock().now())
    }

    /// TEST-EVENT, waiting until an event was signalled here more often than so many times. It
    /// waits on where this node may not say so for a while, as when the master is restarted.
    ///
    /// # Errors
    /// [`Error::NotMember`] at once when this node was removed or has never been taken in, and
    /// with the deadline when its lease has ended; [`Error::Deadline`]; [`Error::Closed`] when the
    /// member has ended; [`Error::Refused`] for no event.
    pub fn wait_event(&self, event: u32, more_than: u64, deadline: Deadline) -> Result<u64> {
        let now = || self.shell.clock().now();
        self.shared.board.wait_event(event, more_than, now, deadline)
    }

    /// COMPARE-AND-WRITE: whether the comparison holds at all nodes of a set; if so, `write` says
    /// which variable gets which value there.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] when [`PENDING_MAX`] operations of this node are under way;
    /// [`Error::Deadline`]: the operation goes on ([`Member::start_compare`]); [`Error::Dead`] when
    /// a node of the set is no member; [`Error::NotMember`] when this one is none;
    /// [`Error::Refused`].
    pub fn compare_and_write(
        &self,
        set: &Nodes,
        (variable, relation, value): (u32, Relation, u64),
        write: Option<(u32, u64)>,
        deadline: Deadline,
    ) -> Result<bool> {
        self.start_compare(set, (variable, relation, value), write)?.wait(deadline)
    }

    /// As [`Member::compare_and_write`], not waiting: for who has other things to do meanwhile, or
    /// has to know how one ended that was late.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] as there; those of [`Shell::request`].
    pub fn start_compare(
        &self,
        set: &Nodes,
        (variable, relation, value): (u32, Relation, u64),
        write: Option<(u32, u64)>,
    ) -> Result<Comparison> {
        let what = match write {
            Some(_) => "to compare and write (COMPARE-AND-WRITE)",
            None => "to answer a query (COMPARE-AND-WRITE)",
        };
        let asked = self.submit(set, (None, 0), what, |ticket| Request::Compare {
            ticket,
            set: set.clone(),
            variable,
            relation,
            value,
            write,
        })?;
        Ok(Comparison(asked))
    }

    /// Sets this node's own instance of a variable.
    ///
    /// # Errors
    /// [`Error::Refused`] for no variable; those of [`Shell::request`].
    pub fn set_variable(&self, variable: u32, value: u64) -> Result<()> {
        self.check_variable(variable)?;
        self.shell.request(Request::Set { variable, value })
    }

    /// This node's own instance of a variable.
    ///
    /// # Errors
    /// [`Error::NotMember`] while this node may not say; [`Error::Refused`] for no variable; those
    /// of [`Shell::look`].
    pub fn variable(&self, variable: u32, deadline: Deadline) -> Result<u64> {
        self.variable_since(variable, deadline).map(|(value, _)| value)
    }

    /// As [`Member::variable`], and the epoch in which this node has joined, or joined again. What
    /// COMPARE-AND-WRITE had written until then it was given anew, whatever it has set since that
    /// was written.
    ///
    /// # Errors
    /// As [`Member::variable`].
    pub fn variable_since(&self, variable: u32, deadline: Deadline) -> Result<(u64, u64)> {
        self.check_variable(variable)?;
        let value = self.look(deadline, move |now, cores| {
            let value = cores.primitives.variable(now, variable);
            value.map(|value| (value, cores.primitives.joined()))
        })?;
        value.ok_or_else(|| self.shared.board.silence())
    }

    fn check_variable(&self, variable: u32) -> Result<()> {
        taken(self.config.no_variable(variable))
    }

    /// Reads from this node's instance of a region.
    ///
    /// # Errors
    /// [`Error::NotMember`] while this node may not say what is there; [`Error::Access`] outside
    /// of it.
    pub fn read(&self, region: u32, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let known = self.region(region, offset, bytes.len())?;
        known.read(offset, bytes).map_err(|error| error.of_region(region))?;
        self.shared.board.check(self.shell.clock().now())
    }

    /// Writes into this node's instance of a region, as one does that has joined and has fetched
    /// what the others have.
    ///
    /// # Errors
    /// [`Error::Access`] outside of it.
    pub fn write(&self, region: u32, offset: u64, bytes: &[u8]) -> Result<()> {
        let known = self.region(region, offset, bytes.len())?;
        known.write(offset, bytes).map_err(|error| error.of_region(region))
    }

    fn region(&self, key: u32, offset: u64, count: usize) -> Result<&Region> {
        let why = "there is no such region";
        let region = self.shared.regions.get(key as usize);
        region.ok_or(Error::Access { key: Some(key), offset, count, why })
    }

    /// The epoch and its members, as far as this node knows.
    pub fn membership(&self) -> Membership {
        self.shared.board.membership()
    }

    /// Waits for an epoch after this one: others have joined or were removed, or this node was.
    ///
    /// # Errors
    /// [`Error::Deadline`]; [`Error::Closed`] when the member has ended.
    pub fn wait_epoch(&self, after: u64, deadline: Deadline) -> Result<Membership> {
        self.shared.board.wait_epoch(after, deadline)
    }

    /// At the master: says that there is proof of a node's death, as when its process was reaped or
    /// its link is closed. It is removed at once, not when its lease has ended; if it lives after
    /// all, it joins again.
    ///
    /// # Errors
    /// [`Error::Refused`] where this node does not lead; those of [`Shell::request`].
    pub fn declare_dead(&self, node: NodeId) -> Result<()> {
        if !self.is_master {
            return Err(board::refused("only the master removes nodes"));
        }
        self.shell.request(Request::Evidence { node })
    }

    /// What this member has moved.
    pub fn traffic(&self) -> &Traffic {
        self.shell.traffic()
    }

    fn submit(
        &self,
        set: &Nodes,
        (local, bytes): (Option<u32>, usize),
        what: &'static str,
        request: impl FnOnce(u64) -> Request,
    ) -> Result<Asked> {
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        let (tell, told) = sync_channel(1);
        if !self.shared.open(ticket, Open { tell, local, bytes }) {
            return Err(Error::WouldBlock);
        }
        if let Err(error) = self.shell.request(request(ticket)) {
            self.shared.lock().remove(&ticket);
            return Err(error);
        }
        let (hand, node, set) = (self.shell.hand(), self.shared.board.node(), set.clone());
        let only = Some(self.config.master).filter(|_| !self.is_master);
        Ok(Asked { told, ended: OnceCell::new(), hand, node, only, set, what })
    }
}

impl Transfer {
    /// Waits until it is done at all nodes, or known not to be. To ask again, by this or by
    /// [`Transfer::look`], brings the same.
    ///
    /// # Errors
    /// As [`Member::compare_and_write`]; [`Error::TooLarge`] for more than [`TRANSFER_MAX`] bytes.
    pub fn wait(&self, deadline: Deadline) -> Result<()> {
        self.0.ending(deadline).map(drop)
    }

    /// How it has ended, if that is known. It does not wait.
    pub fn look(&self) -> Option<Result<()>> {
        self.0.look().map(|ended| ended.map(drop))
    }
}

impl Comparison {
    /// Waits until it is known whether it has held at all nodes; if so, what it writes is written
    /// there. May be asked again, as by who was late.
    ///
    /// # Errors
    /// As [`Member::compare_and_write`].
    pub fn wait(&self, deadline: Deadline) -> Result<bool> {
        self.0.ending(deadline)
    }

    /// Whether it has held, if that is known. It does not wait.
    pub fn look(&self) -> Option<Result<bool>> {
        self.0.look()
    }
}

impl Asked {
    /// How it has ended, if that is known.
    fn look(&self) -> Option<Result<bool>> {
        match self.ended.get().copied().map_or_else(|| self.told.try_recv(), Ok) {
            Ok(ending) => Some(end(self.keep(ending))),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(gone())),
        }
    }

    /// It is told once, and may be asked for again.
    fn keep(&self, ending: Ending) -> Ending {
        *self.ended.get_or_init(|| ending)
    }

    /// Waits for the end: whether it was carried out.
    fn ending(&self, deadline: Deadline) -> Result<bool> {
        if let Some(ended) = self.look() {
            return ended;
        }
        match self.hand.wait(&self.told, deadline) {
            Ok(ending) => end(self.keep(ending)),
            Err(RecvTimeoutError::Timeout) => self.late(deadline),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }

    /// The deadline has passed: says who is missing, as far as this node can tell. It takes no
    /// longer to look than it has been waited for.
    fn late(&self, deadline: Deadline) -> Result<bool> {
        let most = deadline.waited().min(GLANCE);
        let awaited = self.hand.glance(most, |now, cores| cores.primitives.awaited(now)).flatten();
        // Who looks is told first what there was to tell.
        if let Some(ended) = self.look() {
            return ended;
        }
        let missing = awaited.filter(|nodes| !nodes.is_empty());
        let missing = missing.as_ref().unwrap_or(&self.set);
        let trouble = |node| Some((node, self.hand.traffic().trouble(node)?));
        let mut counts = missing.iter().filter(|node| self.only.is_none_or(|only| only == *node));
        let what = match counts.find_map(trouble) {
            Some((node, why)) => format!("{} ({node} is not reached: {why})", self.what),
            None => self.what.to_owned(),
        };
        Err(deadline.missed(self.node, missing, what))
    }
}

fn gone() -> Error {
    Error::Closed { peer: "the member".to_owned() }
}

/// What the user is told of an operation's end.
fn end(ending: Ending) -> Result<bool> {
    match ending {
        Ok(Outcome::Committed) => Ok(true),
        Ok(Outcome::NotHeld) => Ok(false),
        Ok(Outcome::NotMember(node)) => {
            Err(Error::Dead { peer: node.to_string(), evidence: "it is no member".to_owned() })
        }
        Ok(Outcome::MasterLost | Outcome::Again) => {
            Err(board::refused("the master was restarted; nothing was done"))
        }
        Ok(Outcome::Unknown) => {
            Err(board::refused("this node was removed before it learned the outcome"))
        }
        Err(why) => Err(refusal(why)),
    }
}

/// The error of what is refused, if it is.
fn taken(why: Option<Refusal>) -> Result<()> {
    why.map_or(Ok(()), |why| Err(refusal(why)))
}

/// What the user is told of what was not taken.
fn refusal(why: Refusal) -> Error {
    match why {
        Refusal::Full => Error::WouldBlock,
        Refusal::NotMember => {
            let why = "nothing was asked of the others".to_owned();
            Error::NotMember { node: "this node".to_owned(), why }
        }
        Refusal::Long(size) => Error::TooLarge { what: "a transfer", size, limit: TRANSFER_MAX },
        why => board::refused(why.to_string()),
    }
}

impl Open {
    fn counted(&self) -> usize {
        self.bytes.min(TRANSFER_MAX)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().expect("nobody panics with it")
    }

    /// False where so much is under way that the core would not take one more: it counts no more
    /// than is open here. What no transfer can have is for the core to refuse.
    fn open(&self, ticket: u64, operation: Open) -> bool {
        let mut open = self.lock();
        let bytes: usize = open.values().chain([&operation]).map(Open::counted).sum();
        let has_room = open.len() < PENDING_MAX && bytes <= PENDING_BYTES_MAX;
        if has_room {
            open.insert(ticket, operation);
        }
        has_room
    }

    fn end(&self, ticket: u64, ending: Ending) {
        let Some(Open { tell, local, .. }) = self.lock().remove(&ticket) else { return };
        if let (Ok(Outcome::Committed), Some(local)) = (ending, local) {
            self.board.signal(local);
        }
        // Nobody has to wait for it.
        let _ = tell.try_send(ending);
    }
}

impl Desk {
    fn take(&self, notice: Notice) {
        let Shared { board, regions, .. } = &*self.shared;
        match notice {
            Notice::Delivered { region, offset, body, event, .. } => {
                regions[region as usize].write(offset, &body).expect("the core has checked it");
                if let Some(event) = event {
                    board.signal(event);
                }
            }
            Notice::Told { region, body } => {
                regions[region as usize].write(0, &body).expect("the core has checked it");
            }
            Notice::Completed { ticket, outcome, .. } => self.shared.end(ticket, Ok(outcome)),
            Notice::Refused { ticket, why } => self.shared.end(ticket, Err(why)),
            Notice::Epoch { epoch, members, joined, apart } => {
                board.open(epoch, members, &joined, apart);
            }
            Notice::Removed { epoch } => board.remove(epoch),
            Notice::Written { .. } | Notice::Joined { .. } => {}
        }
    }
}

impl Handler<Cores> for Desk {
    fn notice(&mut self, now: Time, cores: &Cores, told: Told) {
        // First: what is told may be what this node may speak of.
        self.changed(now, cores);
        match told {
            Told::Primitives(notice) => self.take(notice),
            Told::Heartbeat(notice) => {
                let log = self.log.as_ref();
                log.expect("who has a heartbeat keeps what it tells").push(notice);
            }
        }
    }

    fn changed(&mut self, _: Time, cores: &Cores) {
        let gone = cores.told.wrapping_sub(cores.primitives.untold());
        self.shared.gone.store(gone, Ordering::Release);
        let until = cores.primitives.current_until();
        if until != self.until {
            self.until = until;
            self.shared.board.speak_until(until);
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.shared.board.end();
        self.shared.lock().clear();
        self.log.iter().for_each(|log| log.end());
    }
}
