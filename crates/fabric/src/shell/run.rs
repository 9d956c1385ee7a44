//! The shell's thread.

use super::door::Doors;
use super::inbox::{Command, Connected, Inbox};
use super::peer::{Peer, State};
use super::{Clock, Handler, Setup, wire};
use crate::error::Result;
use crate::protocol::{NodeId, Payload, Protocol, Time};
use crate::strategy::Datagram;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

/// Messages taken from one peer before the next one's turn.
const TURN: usize = 64;

/// What the thread has.
pub struct Runner<P: Protocol, H> {
    setup: Setup,
    clock: Clock,
    inbox: Arc<Inbox<P>>,
    commands: VecDeque<Command<P>>,
    doors: Doors<P>,
    protocol: P,
    handler: H,
    peers: BTreeMap<NodeId, Peer>,
    /// Peers that have to be looked at, whatever their descriptors say.
    ready: Vec<NodeId>,
    attempts: u64,
    /// The last sleep was short.
    is_brisk: bool,
}

impl<P: Protocol + Send + 'static, H: Handler<P>> Runner<P, H>
where
    P::Request: Send,
{
    pub fn new(
        setup: Setup,
        clock: Clock,
        inbox: Arc<Inbox<P>>,
        doors: Doors<P>,
        protocol: P,
        handler: H,
    ) -> Runner<P, H> {
        Runner {
            setup,
            clock,
            inbox,
            commands: VecDeque::new(),
            doors,
            protocol,
            handler,
            peers: BTreeMap::new(),
            ready: Vec::new(),
            attempts: 0,
            is_brisk: false,
        }
    }

    /// Runs until the inbox is closed.
    pub fn run(mut self) {
        // Otherwise timers of usual threads may be 50 us late, to spare wake-ups.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        while self.inbox.take(&mut self.commands) {
            // Time first: a node that was stopped is to know that before it hears of anything.
            if self.protocol.alarm().is_some_and(|alarm| alarm <= self.clock.now()) {
                self.protocol.tick(self.clock.now());
            }
            while let Some(command) = self.commands.pop_front() {
                self.carry_out(command);
            }
            for node in std::mem::take(&mut self.ready) {
                self.receive(node);
            }
            self.pump();
            self.wait();
        }
        self.commands.clear();
        // Goodbye to all, then nobody comes any more.
        self.peers.clear();
        self.doors.close();
    }

    fn carry_out(&mut self, command: Command<P>) {
        let now = self.clock.now();
        match command {
            Command::Request(request) => self.protocol.request(now, request),
            Command::Look(look) => look(now, &self.protocol),
            Command::Accepted { node, life, connection } => self.accepted(node, life, connection),
            Command::Connected { node, attempt, result } => self.connected(node, attempt, result),
        }
    }

    fn peer(&mut self, node: NodeId) -> &mut Peer {
        self.peers.entry(node).or_insert_with(|| Peer::new(node))
    }

    /// Decides whether a connection is the one to use.
    fn accepted(&mut self, node: NodeId, life: u64, mut connection: Box<dyn Datagram>) {
        // The peer may know before us that the last one has ended.
        self.receive(node);
        let (me, own) = (self.setup.me, self.doors.life);
        let is_used = match &self.peer(node).state {
            State::Up { life: known, .. } => *known != life,
            State::Connecting { .. } => node < me,
            State::Idle => true,
        } && node != me;
        let said = connection.try_send(&[IoSlice::new(&wire::verdict(is_used, own))]);
        if !is_used || said.is_err() || connection.descriptor().is_none() {
            return;
        }
        if self.peer(node).is_up() {
            self.lose(node);
        }
        self.peer(node).raise(life, connection);
        self.ready.push(node);
    }

    fn connected(&mut self, node: NodeId, attempt: u64, result: Result<Option<Connected>>) {
        let now = self.clock.now();
        let peer = self.peer(node);
        if !matches!(peer.state, State::Connecting { attempt: last } if last == attempt) {
            return;
        }
        match result {
            Ok(Some(Connected { life, connection })) if connection.descriptor().is_some() => {
                peer.raise(life, connection);
                self.ready.push(node);
            }
            // The peer's own is on its way, and what is queued waits for it.
            Ok(None) => {
                peer.state = State::Idle;
                peer.pause(now);
            }
            Ok(Some(_)) | Err(_) => {
                peer.pause(now);
                self.lose(node);
            }
        }
    }

    /// A connection has ended.
    fn lose(&mut self, node: NodeId) {
        let now = self.clock.now();
        self.peer(node).fall();
        self.protocol.lost(now, node);
    }

    /// Gives the protocol what a peer has sent.
    fn receive(&mut self, node: NodeId) {
        let now = self.clock.now();
        for _ in 0..TURN {
            let Some(peer) = self.peers.get_mut(&node) else { return };
            let mut malformed = false;
            let protocol = &mut self.protocol;
            let taken = peer.take(&mut |head, body| {
                malformed =
                    protocol.receive(now, node, head, Payload::from(body.to_vec())).is_err();
            });
            match taken {
                Ok(true) if !malformed => {}
                Ok(false) => return,
                Ok(true) | Err(_) => return self.lose(node),
            }
        }
        self.ready.push(node);
    }

    /// Sends what the protocol wants sent, and tells what it has to tell, until there is nothing.
    fn pump(&mut self) {
        loop {
            let mut touched = false;
            while let Some(message) = self.protocol.outgoing() {
                touched = true;
                let to = message.to;
                if !self.peer(to).push(message) {
                    self.lose(to);
                }
            }
            let now = self.clock.now();
            while let Some(notice) = self.protocol.notice() {
                touched = true;
                self.handler.notice(now, &self.protocol, notice);
            }
            if !touched {
                let nodes: Vec<NodeId> = self.peers.keys().copied().collect();
                let lost = nodes.into_iter().filter(|node| !self.serve(*node)).count();
                if lost == 0 {
                    return;
                }
            }
        }
    }

    /// Connects to a peer, or sends what is queued for it; false if it is lost.
    fn serve(&mut self, node: NodeId) -> bool {
        let now = self.clock.now();
        let peer = self.peers.get_mut(&node).expect("it is known");
        if peer.wants_connection() && peer.not_before <= now {
            let Some(address) = self.setup.addresses.get(&node) else {
                peer.pause(now);
                self.lose(node);
                return false;
            };
            self.attempts += 1;
            peer.state = State::Connecting { attempt: self.attempts };
            self.doors.connect(node, address.clone(), self.attempts);
        }
        if peer.retry.is_none_or(|retry| retry <= now) && peer.send(now).is_err() {
            self.lose(node);
            return false;
        }
        true
    }

    /// When something is to be done, whatever comes.
    fn alarm(&self) -> Option<Time> {
        let connect = |peer: &Peer| peer.wants_connection().then_some(peer.not_before);
        let peers = self.peers.values().filter_map(|peer| peer.retry.or(connect(peer)));
        peers.chain(self.protocol.alarm()).min()
    }

    /// Waits for something to do: without sleeping as long as that promises to be short.
    fn wait(&mut self) {
        let (begun, patience) = (self.clock.now(), self.setup.patience);
        if !self.ready.is_empty() {
            return self.poll(Some(Duration::ZERO));
        }
        let end = self.alarm();
        while self.is_brisk && self.ready.is_empty() {
            let now = self.clock.now();
            if now - begun >= patience || end.is_some_and(|end| end <= now) {
                break;
            }
            self.poll(Some(Duration::ZERO));
            if self.ready.is_empty() && self.inbox.has_some() {
                return;
            }
        }
        if self.ready.is_empty() {
            self.poll(end.map(|end| end - self.clock.now()));
        }
        self.is_brisk = self.clock.now() - begun < patience;
    }

    fn poll(&mut self, time: Option<Duration>) {
        let mut nodes = Vec::with_capacity(self.peers.len());
        let mut fds = Vec::with_capacity(self.peers.len() + 1);
        fds.push(PollFd::from_borrowed_fd(self.inbox.descriptor(), PollFlags::IN));
        for peer in self.peers.values() {
            if let Some((fd, flags)) = interest(peer) {
                nodes.push(peer.node);
                fds.push(PollFd::from_borrowed_fd(fd, flags));
            }
        }
        let time = time.map(|time| Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        });
        // Interrupted, or short of memory for a moment: all are looked at again.
        if poll(&mut fds, time.as_ref()).is_ok() {
            let ready = nodes.iter().zip(&fds[1..]).filter(|(_, fd)| !fd.revents().is_empty());
            self.ready.extend(ready.map(|(node, _)| *node));
        }
    }
}

/// What to wait for at a peer.
fn interest(peer: &Peer) -> Option<(BorrowedFd<'_>, PollFlags)> {
    let State::Up { connection, .. } = &peer.state else { return None };
    let waits_for_room = peer.is_full && peer.retry.is_none();
    let room = if waits_for_room { PollFlags::OUT } else { PollFlags::empty() };
    Some((connection.descriptor()?, PollFlags::IN | room))
}
