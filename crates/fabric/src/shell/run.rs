//! What the shell has, and what is done with it by the thread that holds it (`engine.rs`).

use super::door::Doors;
use super::inbox::{Command, Connected};
use super::peer::{Peer, State};
use super::watch::Watch;
use super::{Clock, Handler, Setup, wire};
use crate::error::Result;
use crate::protocol::{NodeId, Protocol, Time};
use crate::strategy::Datagram;
use muster_base::limits::SHELL_TURN;
use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;
use std::time::Duration;

/// How long a sleep lasts while connections cannot wake it: at first, and after many in vain. To
/// look takes some 20 us, so an idle shell needs half a percent of a core.
const NAP: Duration = Duration::from_micros(50);
const NAP_MAX: Duration = Duration::from_millis(4);

/// The protocol and its peers.
pub struct Runner<P: Protocol> {
    setup: Setup,
    clock: Clock,
    pub commands: VecDeque<Command<P>>,
    doors: Doors<P>,
    protocol: P,
    handler: Box<dyn Handler<P>>,
    /// What the handler has not been told.
    untold: VecDeque<P::Notice>,
    peers: BTreeMap<NodeId, Peer>,
    /// Peers that have to be looked at, whatever the descriptors say.
    rest: Vec<NodeId>,
    /// Peers whose connections have no descriptor, and how long to sleep because of them.
    blind: Vec<NodeId>,
    nap: Duration,
    lost: Vec<NodeId>,
    attempts: u64,
    /// Something was queued for a peer, and nothing was sent since.
    is_unsent: bool,
    /// The shell's thread sleeps, and until when.
    pub sleeps_until: Option<Time>,
}

impl<P: Protocol + Send + 'static> Runner<P>
where
    P::Request: Send,
{
    pub fn new(
        setup: Setup,
        clock: Clock,
        doors: Doors<P>,
        protocol: P,
        handler: Box<dyn Handler<P>>,
    ) -> Runner<P> {
        Runner {
            setup,
            clock,
            commands: VecDeque::new(),
            doors,
            protocol,
            handler,
            untold: VecDeque::new(),
            peers: BTreeMap::new(),
            rest: Vec::new(),
            blind: Vec::new(),
            nap: NAP,
            lost: Vec::new(),
            attempts: 0,
            is_unsent: false,
            sleeps_until: None,
        }
    }

    /// Takes what there is: the time, commands, and messages of peers that are ready.
    pub fn step(&mut self, ready: &mut Vec<NodeId>) {
        // Time first: a node that was stopped is to know that before it hears of anything.
        if self.protocol.alarm().is_some_and(|alarm| alarm <= self.clock.now()) {
            self.protocol.tick(self.clock.now());
        }
        while let Some(command) = self.commands.pop_front() {
            self.carry_out(command);
        }
        ready.append(&mut self.rest);
        for node in ready.drain(..) {
            self.receive(node, false);
        }
        let mut came = false;
        for node in std::mem::take(&mut self.blind) {
            came |= self.receive(node, false);
        }
        self.nap = if came { NAP } else { (self.nap * 2).min(NAP_MAX) };
        self.collect();
    }

    /// Goodbye to all, then nobody comes any more.
    pub fn end(mut self) {
        self.commands.clear();
        self.peers.clear();
        self.doors.close();
    }

    fn carry_out(&mut self, command: Command<P>) {
        let now = self.clock.now();
        match command {
            Command::Request(request) => self.protocol.request(now, request),
            Command::Look(look) => {
                // Who looks may know of the protocol no more than the handler does.
                self.collect();
                self.tell();
                look(now, &mut self.protocol);
            }
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
        if !is_used || said.is_err() {
            return;
        }
        if self.peer(node).is_up() {
            self.lose(node);
        }
        self.peer(node).raise(life, connection);
        self.rest.push(node);
    }

    fn connected(&mut self, node: NodeId, attempt: u64, result: Result<Option<Connected>>) {
        let now = self.clock.now();
        let peer = self.peer(node);
        if !matches!(peer.state, State::Connecting { attempt: last } if last == attempt) {
            return;
        }
        match result {
            Ok(Some(Connected { life, connection })) => {
                peer.raise(life, connection);
                self.rest.push(node);
            }
            // The peer's own is on its way, and what is queued waits for it.
            Ok(None) => {
                peer.state = State::Idle;
                peer.pause(now);
            }
            Err(_) => {
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
    /// Whether something came.
    fn receive(&mut self, node: NodeId, to_the_end: bool) -> bool {
        let now = self.clock.now();
        for count in 0..SHELL_TURN {
            let Some(peer) = self.peers.get_mut(&node) else { return false };
            let mut malformed = false;
            let protocol = &mut self.protocol;
            let taken = peer.take(&mut |head, body| {
                malformed = protocol.receive(now, node, head, body).is_err();
            });
            match taken {
                Ok(true) if !malformed => {
                    if !to_the_end && peer.is_drained() {
                        return true;
                    }
                }
                Ok(false) => return count > 0,
                Ok(true) | Err(_) => {
                    self.lose(node);
                    return false;
                }
            }
        }
        self.rest.push(node);
        true
    }

    /// Queues what the protocol wants sent and told; false if there is nothing.
    fn collect(&mut self) -> bool {
        self.handler.changed(self.clock.now(), &self.protocol);
        let mut some = false;
        loop {
            let mut more = false;
            while let Some(message) = self.protocol.outgoing() {
                (more, self.is_unsent) = (true, true);
                let to = message.to;
                if !self.peer(to).push(message) {
                    self.lose(to);
                }
            }
            while let Some(notice) = self.protocol.notice() {
                more = true;
                self.untold.push_back(notice);
            }
            if !more {
                return some;
            }
            some = true;
        }
    }

    /// Tells the handler what there is to tell; false if there is nothing.
    pub fn tell(&mut self) -> bool {
        let now = self.clock.now();
        let some = !self.untold.is_empty();
        while let Some(notice) = self.untold.pop_front() {
            self.handler.notice(now, &self.protocol, notice);
        }
        some
    }

    pub fn has_untold(&self) -> bool {
        !self.untold.is_empty()
    }

    pub fn is_unsent(&self) -> bool {
        self.is_unsent
    }

    /// Sends what the protocol wants sent.
    pub fn send(&mut self) {
        while self.serve() || self.collect() {}
        self.is_unsent = false;
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
    pub fn alarm(&self) -> Option<Time> {
        let connect = |peer: &Peer| peer.wants_connection().then_some(peer.not_before);
        let peers = self.peers.values().filter_map(|peer| peer.retry.or(connect(peer)));
        peers.chain(self.protocol.alarm()).min()
    }

    /// Before a sleep, whoever sleeps: watches the peers, and says when it is to end at the latest.
    pub fn settle(&mut self, watch: &Watch) -> Option<Time> {
        for peer in self.peers.values_mut() {
            match watch.see_to(peer) {
                Ok(true) => {}
                Ok(false) => self.blind.push(peer.node),
                Err(_) => self.lost.push(peer.node),
            }
        }
        if self.lose_all() || !self.rest.is_empty() {
            return Some(Time::default());
        }
        let nap = (!self.blind.is_empty()).then(|| self.clock.now() + self.nap);
        self.alarm().into_iter().chain(nap).min()
    }
}
