//! The daemon's part: it makes the segment and the connections, lets ranks in and sees them end,
//! and sees to what nobody comes for.

use super::awake::Awake;
use super::control;
use super::endpoint::{Core, Loss, Wire};
use super::frame::{EPOCH_MAX, Opening};
use super::gate::{self, Gate, OTHER};
use super::layout::{Endpoint, Layout, Memory, Process};
use super::line;
use super::line::Kept;
use super::meeting::{self, Asking};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::transport::shared::{segment, socket};
use crate::transport::{self, Adapter, Hello, Lane};
use muster_base::limits::{GATEWAY_NODES_MAX, GATEWAY_RANKS_MAX, HELLO_TIME};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// The service by which a hello asks for the gateway.
pub const SERVICE: &str = "gateway";

/// Why a rank is refused that was let in before.
pub(super) const BEFORE: &str = "it was let in before: a rank can run one MPI program, and another \
                                 one needs a launch of its own (muster run)";

/// How often the daemon looks whether something lies there that nobody has come for.
const LOOK: Duration = Duration::from_millis(5);

/// Looks at a role that is kept, after which it is taken away: 50 ms, a thousand times a pass.
const LOOKS: u32 = 10;

/// Between two tries to reach a node again.
const AGAIN: Duration = Duration::from_millis(10);

/// How long a node that is to connect to this one is waited for before it is asked to: it does so
/// by itself as soon as one of its ranks is there.
const ASKED: Duration = Duration::from_millis(100);

/// How long a node may be silent. One that only stands still is not lost, and who has lost it for
/// good is told so ([`Door::lose`]) long before.
const SILENT: Duration = Duration::from_secs(60);

/// How long it may take: as long as it tries, twice.
const PARTED: Duration = SILENT.saturating_mul(2);

/// How a node is reached.
pub type Dial = Arc<dyn Fn(Deadline) -> Result<Box<dyn Adapter>> + Send + Sync>;

/// How a node is connected.
#[derive(Default)]
struct Peer {
    /// How it is reached, if this node knows.
    to: Option<Dial>,
    /// Whether it is this node that connects.
    is_ours: bool,
    /// Since when that node is waited for, where it is the one that connects.
    parted: Option<Instant>,
    /// It was asked to.
    is_asked: bool,
    /// The epoch of the last connection, or of the one that is being made.
    epoch: u32,
    /// What was seen of the roles, and how often the same.
    seen: [(u64, u32); 2],
    /// Who makes a new connection.
    dialing: Option<JoinHandle<()>>,
}

/// A connection that was made, or that could not be.
struct Made {
    node: usize,
    epoch: u32,
    /// It is this node that has connected.
    is_dialed: bool,
    kept: Option<Kept>,
}

/// What other threads have for the daemon's.
enum Event {
    Made(Made),
    /// A node that was to connect could not be asked to, since a connection of this epoch.
    Unasked(usize, u32),
    /// A rank is to be let in, by this socket.
    Rank {
        rank: u32,
        control: OwnedFd,
    },
    /// A node is lost.
    Lost(u32),
    End,
}

/// A rank as the daemon sees it.
struct Member {
    /// Closed when it has ended.
    control: OwnedFd,
    /// How many bells it was given.
    bells: usize,
    /// The epochs of the connections that it was given.
    told: Vec<u32>,
}

/// The daemon's end: one node of one job.
pub struct Node {
    gate: Gate,
    memory: OwnedFd,
    peers: Vec<Peer>,
    members: Vec<Option<Member>>,
    events: (Sender<Event>, Receiver<Event>),
    /// Nobody need connect any more.
    is_over: Arc<AtomicBool>,
    looked: Instant,
    ready: Vec<u64>,
    awake: Awake,
}

/// Takes in connections of other nodes, and ranks, from any thread.
pub struct Door {
    layout: Layout,
    events: Sender<Event>,
    bell: OwnedFd,
}

impl Door {
    /// Lets a rank in by the socket by which it has asked for that. It is `rank` of this node.
    pub fn let_in(&self, rank: u32, asking: Asking) {
        self.tell(Event::Rank { rank, control: asking.socket });
    }

    /// As [`Node::lose`].
    pub fn lose(&self, node: u32) {
        self.tell(Event::Lost(node));
    }

    /// Has [`Node::serve`] end.
    pub fn end(&self) {
        self.tell(Event::End);
    }

    fn tell(&self, event: Event) {
        // Where the node is gone sockets end here.
        let _ = self.events.send(event);
        gate::ring(self.bell.as_fd());
    }

    /// Opens a connection that came for [`SERVICE`], from who may be one of `nodes`: over the
    /// network the one whose key was shown.
    ///
    /// # Errors
    /// The connection's, and [`Error::Malformed`] when it is no node's of this job, or says that it
    /// is another.
    pub fn adopt(
        &self,
        adapter: Box<dyn Adapter>,
        nodes: Range<u32>,
        deadline: Deadline,
    ) -> Result<()> {
        let layout = &self.layout;
        let own = |theirs: Opening| {
            let node = theirs.node as usize;
            let is_known = layout.ranks.get(node) == Some(&theirs.ranks) && node != layout.node;
            let is_it = is_known && nodes.contains(&theirs.node);
            is_it.then(|| Opening { epoch: theirs.epoch, ..opening(layout) })
        };
        let (theirs, kept) = line::accept(adapter, own, deadline)?;
        if theirs.epoch == 0 {
            // This node does so by itself, now that it is there.
            return Ok(());
        }
        let (node, epoch) = (theirs.node as usize, theirs.epoch);
        self.tell(Event::Made(Made { node, epoch, is_dialed: false, kept: Some(kept) }));
        Ok(())
    }
}

fn opening(layout: &Layout) -> Opening {
    Opening { node: layout.node as u32, ranks: layout.ranks[layout.node], epoch: 0 }
}

/// Connects to a node.
fn dial(layout: &Layout, node: usize, to: &Dial, epoch: u32, deadline: Deadline) -> Result<Kept> {
    let own = Opening { epoch, ..opening(layout) };
    line::offer(to(deadline)?, own, (node as u32, layout.ranks[node]), deadline)
}

impl Node {
    /// Node `node` of a job that has so many ranks on each node.
    ///
    /// # Errors
    /// [`Error::Refused`] for a job of more nodes, or of more ranks on one of them, than can
    /// exchange messages; [`Error::Exhausted`].
    ///
    /// # Panics
    /// Where the job has no such node.
    pub fn new(node: u32, ranks: &[u16]) -> Result<Node> {
        let most = ranks.iter().copied().max().unwrap_or(0).into();
        for (count, what, limit) in [
            (ranks.len(), "nodes", GATEWAY_NODES_MAX),
            (most, "ranks on one of its nodes", GATEWAY_RANKS_MAX),
        ] {
            if count > limit {
                let why = format!("its job has {count} {what}, and {limit} can exchange messages");
                return Err(Error::Refused { peer: "the gateway".to_owned(), why });
            }
        }
        let layout = Layout::new(node as usize, ranks);
        let size = layout.words * 8;
        let memory = segment::memory("muster-gateway", size)?;
        rustix::fs::fcntl_add_seals(&memory, rustix::fs::SealFlags::SEAL)
            .map_err(|errno| Error::io("cannot seal shared memory", errno))?;
        let mapped = segment::map(memory.as_fd(), size, true)?;
        mapped.keep_from_dumps();
        let mapped = Arc::new(mapped);
        let here = layout.here();
        let bells = (0..=here).map(|_| gate::bell()).collect::<Result<Vec<OwnedFd>>>()?;
        let peers = ranks.iter().map(|_| Peer::default()).collect();
        let core = Core::new(mapped, layout, here);
        core.layout.peers().for_each(|node| core.close(node, None));
        let node = Node {
            gate: Gate::new(core, bells)?,
            memory,
            peers,
            members: (0..here).map(|_| None).collect(),
            events: channel(),
            is_over: Arc::default(),
            looked: Instant::now(),
            ready: Vec::with_capacity(64),
            awake: Awake::new(ranks.iter().map(|ranks| usize::from(*ranks)).sum::<usize>() <= 1),
        };
        node.share_machine(here);
        Ok(node)
    }

    /// Says how many ranks of the job this machine has, of other nodes on it as well: where they
    /// are more than it has processors, they wait in another way. To be said before any joins.
    pub fn share_machine(&self, ranks: usize) {
        // A rank may be bound to one, so it cannot know.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let core = &self.gate.core;
        let crowd = core.layout.process(core.layout.here(), Process::Crowd);
        core.memory.store(crowd, (ranks > processors).into());
    }

    /// The socket by which a rank joins ([`super::Rank::join`]): to be given to its process. When
    /// all copies of it are closed the rank has ended.
    ///
    /// # Errors
    /// [`Error::Exhausted`]; [`Error::Refused`] for a rank that was let in before.
    pub fn admit(&mut self, rank: u32) -> Result<OwnedFd> {
        let failed = |errno: Errno| Error::io("making a socket for a rank", errno);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (control, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(failed)?;
        self.let_in(rank, &control)?;
        self.seat(rank, control);
        Ok(theirs)
    }

    /// Welcomes a rank.
    fn let_in(&mut self, rank: u32, control: &OwnedFd) -> Result<()> {
        let refused = |why: &str| Error::Refused { peer: format!("rank {rank}"), why: why.into() };
        let Some(member) = self.members.get(rank as usize) else {
            return Err(refused("the node has no such rank"));
        };
        if member.is_some() || self.has_ended(rank) {
            return Err(refused(BEFORE));
        }
        let welcome = control::welcome(rank as usize, &self.gate.core.layout);
        socket::send(control.as_fd(), &welcome, Some(self.memory.as_fd()))
            .map_err(|errno| Error::io("welcoming a rank", errno))?;
        self.gate.watch(control.as_fd(), OTHER + u64::from(rank))
    }

    fn seat(&mut self, rank: u32, control: OwnedFd) {
        let told = vec![0; self.peers.len()];
        self.members[rank as usize] = Some(Member { control, bells: 0, told });
        self.hand_out();
    }

    /// Who takes in connections of other nodes, and ranks.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn door(&self) -> Result<Door> {
        let daemon = self.gate.core.layout.here();
        let bell = self.gate.bell(daemon).try_clone_to_owned();
        let bell = bell.map_err(|source| Error::io("opening a gateway's door", source))?;
        Ok(Door { layout: self.gate.core.layout.clone(), events: self.events.0.clone(), bell })
    }

    /// Connects to another node, whose door is open; from now on this node sees to it that the two
    /// are connected.
    ///
    /// # Errors
    /// The connection's; [`Error::Refused`] for what is none of the job's other nodes.
    pub fn connect(&mut self, node: u32, to: &Address, deadline: Deadline) -> Result<()> {
        let layout = &self.gate.core.layout;
        if !layout.is_peer(node) {
            let (nodes, own) = (layout.ranks.len(), layout.node);
            let why = format!("of {nodes} nodes this is {own}: there is no other node {node}");
            return Err(Error::Refused { peer: "the gateway".to_owned(), why });
        }
        let (at, to) = (node as usize, to.clone());
        let name = format!("node {}", self.gate.core.layout.node);
        let hello = Hello { name, service: SERVICE.to_owned(), lane: Lane::Bulk };
        let to: Dial = Arc::new(move |deadline| transport::of(&to)?.connect(&to, &hello, deadline));
        let epoch = self.peers[at].epoch + 1;
        let kept = dial(&self.gate.core.layout, at, &to, epoch, deadline)?;
        let peer = &mut self.peers[at];
        (peer.to, peer.is_ours, peer.epoch) = (Some(to), true, epoch);
        self.install(Made { node: at, epoch, is_dialed: true, kept: Some(kept) });
        Ok(())
    }

    /// The same without waiting for it, if this node comes first of the two; otherwise that node is
    /// to do so, and is asked to if it does not. It is lost if it does not answer. With what is
    /// none of the job's other nodes there is nothing to keep.
    pub fn keep_connected(&mut self, node: u32, to: Dial) {
        if !self.gate.core.layout.is_peer(node) {
            return;
        }
        let is_ours = self.gate.core.layout.node < node as usize;
        let peer = &mut self.peers[node as usize];
        (peer.to, peer.is_ours) = (Some(to), is_ours);
        self.part(node as usize, None);
    }

    /// Whether there is a connection to a node: never to what is none of the job's other nodes.
    pub fn is_connected(&self, node: u32) -> bool {
        let core = &self.gate.core;
        core.layout.is_peer(node) && core.epoch(node as usize).is_some()
    }

    /// Whether a rank here has ended; one that is not of this node has not.
    pub fn has_ended(&self, rank: u32) -> bool {
        let (core, rank) = (&self.gate.core, rank as usize);
        rank < core.layout.here() && core.is_over(rank)
    }

    /// A node is lost, as others know: sends to its ranks fail from now on. Of what is none of the
    /// job's other nodes there is nothing to lose.
    pub fn lose(&mut self, node: u32) {
        if self.gate.core.layout.is_peer(node) {
            self.part(node as usize, Some(Loss::Told));
        }
    }

    /// Does the daemon's part until the deadline: to be called again and again.
    pub fn progress(&mut self, deadline: Deadline) {
        while let Some(left) = deadline.left().filter(|_| !self.is_over.load(Ordering::Relaxed)) {
            self.step(left);
        }
    }

    /// Does the daemon's part until [`Door::end`].
    pub fn serve(mut self) {
        self.progress(Deadline::after(Duration::MAX));
    }

    fn step(&mut self, left: Duration) {
        let most = LOOK.saturating_sub(self.looked.elapsed()).min(left);
        let mut ready = std::mem::take(&mut self.ready);
        let slept = self.gate.sleep(if self.is_idle() { left } else { most }, &mut ready);
        if slept.is_err() {
            // It does what it can without being told of anything.
            std::thread::sleep(most);
        }
        if !slept.unwrap_or_default() {
            // A rank may have rung: it sends for others no more, and they rely on that.
            self.gate.core.layout.peers().for_each(|node| self.gate.send(node));
        }
        for ready in &ready {
            match usize::try_from(*ready).expect("a number here") {
                node if node < self.peers.len() => self.see(node),
                other => self.see_off(other - OTHER as usize),
            }
        }
        self.ready = ready;
        while let Ok(event) = self.events.1.try_recv() {
            match event {
                Event::Made(made) => self.install(made),
                Event::Unasked(node, epoch) => self.unasked(node, epoch),
                Event::Rank { rank, control } => match self.let_in(rank, &control) {
                    Ok(()) => self.seat(rank, control),
                    Err(Error::Refused { why, .. }) => meeting::refuse(&control, &why),
                    Err(error) => meeting::refuse(&control, &error.to_string()),
                },
                Event::Lost(node) => self.lose(node),
                Event::End => self.is_over.store(true, Ordering::Relaxed),
            }
        }
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            self.look();
        }
        let core = &self.gate.core;
        let mut here = (0..).zip(&self.members).filter(|(_, member)| member.is_some());
        self.awake.attend(|| here.any(|(rank, _)| core.is_awake(rank)));
        self.gate.tell();
    }

    /// Whether there is nothing to look for again and again.
    fn is_idle(&self) -> bool {
        let has_all = |member: &Member| member.bells > self.gate.core.layout.here();
        self.peers.len() == 1 && self.members.iter().flatten().all(has_all)
    }

    /// Something is to be done about a connection.
    fn see(&mut self, node: usize) {
        let Some(line) = self.gate.line(node) else { return };
        if line.has_ended() {
            return self.part(node, None);
        }
        if self.gate.is_sentinel(node) {
            self.gate.receive(node, false);
        }
        self.gate.send(node);
    }

    /// A rank's end of its socket is closed.
    fn see_off(&mut self, rank: usize) {
        let Some(member) = self.members[rank].take() else { return };
        self.gate.unwatch(member.control.as_fd());
        self.gate.core.end(rank);
        for node in self.gate.core.layout.peers() {
            let sentinel = self.gate.core.layout.endpoint(node, Endpoint::Sentinel);
            self.gate.core.memory.replace(sentinel, rank as u64 + 1, 0);
            let has_role = [Endpoint::Sending, Endpoint::Receiving]
                .iter()
                .any(|role| self.gate.core.holder(node, *role) == Some(rank));
            if has_role {
                self.part(node, None);
            }
            self.gate.send(node);
        }
        self.gate.ring_all();
    }

    /// Whether something lies there that nobody has come for, and whether somebody keeps a role.
    fn look(&mut self) {
        self.hand_out();
        for node in self.gate.core.layout.peers() {
            let Some(epoch) = self.gate.core.epoch(node) else {
                self.miss(node);
                continue;
            };
            let mut is_kept = false;
            for (index, role) in [Endpoint::Sending, Endpoint::Receiving].into_iter().enumerate() {
                let at = self.gate.core.layout.endpoint(node, role);
                let word = self.gate.core.memory.load(at);
                let (seen, times) = &mut self.peers[node].seen[index];
                *times = if *seen == word { *times + 1 } else { 0 };
                *seen = word;
                let is_idle = *times > 0;
                if self.gate.core.holder(node, role).is_some() {
                    is_kept |= *times >= LOOKS;
                } else if is_idle && role == Endpoint::Receiving {
                    self.stand_in(node);
                } else if is_idle && self.gate.core.has_work(node, epoch) {
                    self.gate.send(node);
                }
            }
            if is_kept {
                self.part(node, None);
            }
        }
    }

    /// Nobody has received for a while: if something has come meanwhile, the sentinel is stopped.
    fn stand_in(&mut self, node: usize) {
        let at = self.gate.core.layout.endpoint(node, Endpoint::Sentinel);
        let daemon = self.gate.core.layout.here() as u64 + 1;
        if self.gate.receive(node, false) {
            self.gate.core.memory.store(at, daemon);
        } else {
            self.gate.core.memory.replace(at, 0, daemon);
        }
    }

    /// A connection is no more, or is to be no more; a new one is made unless the node is lost.
    fn part(&mut self, node: usize, loss: Option<Loss>) {
        let loss = loss.or(self.gate.core.loss(node));
        self.gate.core.close(node, loss);
        self.gate.cut(node);
        self.gate.tell_all();
        let peer = &mut self.peers[node];
        (peer.parted, peer.is_asked) = (None, false);
        if loss.is_some() {
            return;
        }
        let Some(to) = peer.to.clone().filter(|_| peer.is_ours) else {
            peer.parted = Some(Instant::now());
            return;
        };
        if peer.epoch == EPOCH_MAX || peer.dialing.as_ref().is_some_and(|one| !one.is_finished()) {
            return;
        }
        let Ok(door) = self.door() else { return };
        let peer = &mut self.peers[node];
        peer.epoch += 1;
        let epoch = peer.epoch;
        let is_over = self.is_over.clone();
        let dialing = move || {
            let kept = dial_again((&door.layout, node), &to, epoch, &is_over);
            door.tell(Event::Made(Made { node, epoch, is_dialed: true, kept }));
        };
        let thread = Builder::new().name(format!("dials node {node}")).spawn(dialing);
        self.peers[node].dialing = thread.ok();
    }

    /// There is no connection to a node. Where that one is to connect, it is asked to in a while.
    fn miss(&mut self, node: usize) {
        let peer = &mut self.peers[node];
        if peer.is_ours && peer.dialing.is_none() && self.gate.core.loss(node).is_none() {
            // There was no thread for it, or no descriptor.
            return self.part(node, None);
        }
        let Some(waited) = peer.parted.map(|since| since.elapsed()) else { return };
        if waited >= PARTED {
            return self.part(node, Some(Loss::Refused));
        }
        let Some(to) = peer.to.clone().filter(|_| waited >= ASKED && !peer.is_asked) else {
            return;
        };
        let (epoch, is_over) = (peer.epoch, self.is_over.clone());
        let Ok(door) = self.door() else { return };
        let asking = move || {
            if dial_again((&door.layout, node), &to, 0, &is_over).is_none() {
                door.tell(Event::Unasked(node, epoch));
            }
        };
        // It ends with its try, whether the node is still there or not.
        let thread = Builder::new().name(format!("asks node {node}")).spawn(asking);
        self.peers[node].is_asked = thread.is_ok();
    }

    /// A node does not answer, unless it has connected meanwhile: whether that connection has ended
    /// since or not, this says nothing of the node any more.
    pub(super) fn unasked(&mut self, node: usize, epoch: u32) {
        if self.peers[node].epoch == epoch && !self.is_connected(node as u32) {
            self.part(node, Some(Loss::Refused));
        }
    }

    /// A connection was made, or could not be. Of two nodes only one makes any.
    fn install(&mut self, made: Made) {
        let Made { node, epoch, is_dialed, kept } = made;
        let peer = &mut self.peers[node];
        let is_next = match peer.is_ours {
            // Whoever dials has numbered it already; of an earlier try nobody waits for anything.
            true => is_dialed && epoch == peer.epoch,
            false => !is_dialed && epoch > peer.epoch,
        };
        if let Some(thread) = peer.dialing.take_if(|_| is_dialed && is_next) {
            // It has nothing more to do than to end.
            let _ = thread.join();
        }
        let Some(kept) = kept else {
            if is_next {
                self.part(node, Some(Loss::Refused));
            }
            return;
        };
        let line = self.gate.new_line(kept, epoch);
        if self.gate.core.loss(node).is_some() || !is_next {
            return line.hang_up();
        }
        let peer = &mut self.peers[node];
        (peer.epoch, peer.parted, peer.seen) = (epoch, None, [(0, 0); 2]);
        self.gate.core.close(node, None);
        if self.gate.set_line(node, line).is_err() {
            return self.part(node, None);
        }
        self.gate.core.open(node, epoch);
        self.hand_out();
        self.gate.send(node);
        self.gate.tell_all();
    }

    /// Gives ranks the bells and then the connections that they do not have; who has no room for it
    /// gets it later.
    fn hand_out(&mut self) {
        let here = self.gate.core.layout.here();
        for member in self.members.iter_mut().flatten() {
            while member.bells <= here {
                let (bytes, bell) = (control::bell(member.bells), self.gate.bell(member.bells));
                if socket::send(member.control.as_fd(), &bytes, Some(bell)).is_err() {
                    break;
                }
                member.bells += 1;
            }
            if member.bells <= here {
                continue;
            }
            for node in self.gate.core.layout.peers() {
                let Some(line) = self.gate.line(node) else { continue };
                let epoch = line.epoch();
                if member.told[node] == epoch {
                    continue;
                }
                let bytes = control::line(node, epoch, line.keys());
                let sent = socket::send(member.control.as_fd(), &bytes, Some(line.descriptor()));
                if sent.is_ok() {
                    member.told[node] = epoch;
                }
            }
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for node in self.gate.core.layout.peers() {
            self.gate.core.close(node, Some(Loss::Told));
            self.gate.cut(node);
            if let Some(thread) = self.peers[node].dialing.take() {
                // It ends with its try, at its deadline at the latest.
                let _ = thread.join();
            }
        }
    }
}

/// Connects again; none when nobody needs it, nobody has been there for as long as a hello may
/// take, or who is there has been silent for [`SILENT`].
fn dial_again(
    (layout, node): (&Layout, usize),
    to: &Dial,
    epoch: u32,
    is_over: &AtomicBool,
) -> Option<Kept> {
    let (until, mut refused) = (Deadline::after(SILENT), None);
    while until.left().is_some() && !is_over.load(Ordering::Relaxed) {
        match dial(layout, node, to, epoch, Deadline::after(HELLO_TIME)) {
            Ok(kept) => return Some(kept),
            // It may stand still.
            Err(Error::Deadline { .. }) => refused = None,
            // It may be overloaded, or begin just now.
            Err(_) if refused.get_or_insert_with(Instant::now).elapsed() >= HELLO_TIME => break,
            Err(_) => std::thread::sleep(AGAIN),
        }
    }
    None
}
