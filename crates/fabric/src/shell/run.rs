//! The shell's thread.

use super::door::Doors;
use super::inbox::{Command, Connected, Inbox};
use super::peer::{Peer, State};
use super::watch::Watch;
use super::{Clock, Handler, Setup, wire};
use crate::error::Result;
use crate::protocol::{NodeId, Payload, Protocol, Time};
use crate::strategy::Datagram;
use muster_base::limits::SHELL_TURN;
use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// Who yields may wait for a few slices of others before it runs again: not when an alarm is near.
const SLICES: Duration = Duration::from_millis(20);

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
    /// What to look for at the peers' descriptors.
    watch: Watch,
    /// Peers that have to be looked at, and those whose turn has ended before they had.
    ready: Vec<NodeId>,
    rest: Vec<NodeId>,
    lost: Vec<NodeId>,
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
        watch: Watch,
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
            watch,
            ready: Vec::new(),
            rest: Vec::new(),
            lost: Vec::new(),
            attempts: 0,
            is_brisk: false,
        }
    }

    /// Runs until the inbox is closed.
    pub fn run(mut self) {
        // Otherwise timers of usual threads may be 50 us late, to spare wake-ups.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        super::sys::ask_for_short_slices();
        while self.inbox.take(&mut self.commands) {
            // Time first: a node that was stopped is to know that before it hears of anything.
            if self.protocol.alarm().is_some_and(|alarm| alarm <= self.clock.now()) {
                self.protocol.tick(self.clock.now());
            }
            while let Some(command) = self.commands.pop_front() {
                self.carry_out(command);
            }
            for at in 0..self.ready.len() {
                self.receive(self.ready[at], false);
            }
            std::mem::swap(&mut self.ready, &mut self.rest);
            self.rest.clear();
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
            Command::Look(look) => look(now, &mut self.protocol),
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
        self.receive(node, true);
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

    /// Gives the protocol what a peer has sent; to the very end of it, if that has to be known.
    fn receive(&mut self, node: NodeId, to_the_end: bool) {
        let now = self.clock.now();
        for _ in 0..SHELL_TURN {
            let Some(peer) = self.peers.get_mut(&node) else { return };
            let mut malformed = false;
            let protocol = &mut self.protocol;
            let taken = peer.take(&mut |head, body| {
                let body = Payload::from(body.to_vec());
                malformed = protocol.receive(now, node, head, body).is_err();
            });
            match taken {
                Ok(true) if !malformed => {
                    if !to_the_end && peer.is_drained() {
                        return;
                    }
                }
                Ok(false) => return,
                Ok(true) | Err(_) => return self.lose(node),
            }
        }
        self.rest.push(node);
    }

    /// Sends what the protocol wants sent, and tells what it has to tell, until there is nothing.
    fn pump(&mut self) {
        self.handler.changed(self.clock.now(), &self.protocol);
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
            if !touched && !self.serve() {
                return;
            }
        }
    }

    /// Connects to peers, and sends what is queued for them; true if some of them are lost.
    fn serve(&mut self) -> bool {
        let now = self.clock.now();
        for peer in self.peers.values_mut() {
            if peer.wants_connection() && peer.not_before <= now {
                let Some(address) = self.setup.addresses.get(&peer.node) else {
                    peer.pause(now);
                    self.lost.push(peer.node);
                    continue;
                };
                self.attempts += 1;
                peer.state = State::Connecting { attempt: self.attempts };
                self.doors.connect(peer.node, address.clone(), self.attempts);
            }
            if peer.retry.is_none_or(|retry| retry <= now) && peer.send(now).is_err() {
                self.lost.push(peer.node);
            }
        }
        self.lose_all()
    }

    /// Tells of connections that have ended; false if there are none.
    fn lose_all(&mut self) -> bool {
        let some = !self.lost.is_empty();
        while let Some(node) = self.lost.pop() {
            self.lose(node);
        }
        some
    }

    /// When something is to be done, whatever comes.
    fn alarm(&self) -> Option<Time> {
        let connect = |peer: &Peer| peer.wants_connection().then_some(peer.not_before);
        let peers = self.peers.values().filter_map(|peer| peer.retry.or(connect(peer)));
        peers.chain(self.protocol.alarm()).min()
    }

    /// Waits for something to do: without sleeping as long as that promises to be short. Meanwhile
    /// others have the core: they may be those whose messages are waited for, and then many of
    /// these are there at once.
    fn wait(&mut self) {
        if !self.ready.is_empty() {
            return self.look(Some(Duration::ZERO));
        }
        let (begun, patience) = (self.clock.now(), self.setup.patience);
        let end = self.alarm();
        let mut now = begun;
        let mut may_look = self.is_brisk;
        while may_look && end.is_none_or(|end| end > now) {
            if end.is_none_or(|end| end - now > SLICES) {
                std::thread::yield_now();
            }
            self.look(Some(Duration::ZERO));
            if !self.ready.is_empty() || self.inbox.has_some() {
                return self.is_brisk = true;
            }
            now = self.clock.now();
            may_look = self.is_brisk && now - begun < patience;
        }
        self.look(end.map(|end| end - self.clock.now()));
        self.is_brisk = self.clock.now() - begun < patience;
    }

    fn look(&mut self, time: Option<Duration>) {
        for peer in self.peers.values_mut() {
            if self.watch.see_to(peer).is_err() {
                self.lost.push(peer.node);
            }
        }
        if !self.lose_all() {
            self.watch.look(time, &mut self.ready);
        }
    }
}
