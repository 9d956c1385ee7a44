//! What the shell has, and what is done with it by the thread that holds it (`engine.rs`).

use super::door::Doors;
use super::inbox::{Command, Connected};
use super::multicast::Multicast;
use super::peer::{Peer, State};
use super::watch::{Ready, Watch};
use super::{Clock, Handler, Setup, Traffic, wire};
use crate::error::{Error, Result};
use crate::protocol::{Malformed, NodeId, Outgoing, Protocol, Time};
use crate::strategy::Datagram;
use muster_base::limits::SHELL_TURN;
use std::collections::{BTreeMap, VecDeque};
use std::io::IoSlice;
use std::sync::Arc;
use std::time::Duration;

/// How long a sleep lasts while connections cannot wake it: at first, and after many in vain. To
/// look takes some 20 us, so an idle shell needs half a percent of a core.
const NAP: Duration = Duration::from_micros(50);
const NAP_MAX: Duration = Duration::from_millis(4);

/// Whether a failure to connect tells of the peer: that nobody is there, or somebody else. That we
/// have no descriptor or thread, or that no answer came in time, does not: a protocol that took it
/// for the peer's end would remove one that lives.
fn tells_of_peer(error: &Error) -> bool {
    use Error::{Closed, Dead, Malformed, Refused, Untrusted, Version};
    matches!(
        error,
        Refused { .. }
            | Dead { .. }
            | Closed { .. }
            | Untrusted { .. }
            | Malformed { .. }
            | Version { .. }
    )
}

/// The protocol and its peers.
pub struct Runner<P: Protocol> {
    setup: Setup,
    clock: Clock,
    pub commands: VecDeque<Command<P>>,
    doors: Doors<P>,
    multicast: Option<Box<Multicast>>,
    /// There is more to be sent by multicast.
    is_casting: bool,
    /// What the protocol wants sent, where there is multicast.
    batch: Vec<Outgoing>,
    traffic: Arc<Traffic>,
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
    lost: Vec<(NodeId, String)>,
    attempts: u64,
    /// When the first was queued of what was not sent since.
    unsent: Option<Time>,
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
        (doors, multicast): (Doors<P>, Option<Box<Multicast>>),
        traffic: Arc<Traffic>,
        protocol: P,
        handler: Box<dyn Handler<P>>,
    ) -> Runner<P> {
        Runner {
            setup,
            clock,
            commands: VecDeque::new(),
            doors,
            multicast,
            is_casting: false,
            batch: Vec::new(),
            traffic,
            protocol,
            handler,
            untold: VecDeque::new(),
            peers: BTreeMap::new(),
            rest: Vec::new(),
            blind: Vec::new(),
            nap: NAP,
            lost: Vec::new(),
            attempts: 0,
            unsent: None,
            sleeps_until: None,
        }
    }

    /// Takes what there is: the time, commands, and messages of peers that are ready.
    pub fn step(&mut self, ready: &mut Ready) {
        // Time first: a node that was stopped is to know that before it hears of anything.
        self.keep_time();
        while let Some(command) = self.commands.pop_front() {
            self.carry_out(command);
        }
        self.hear(std::mem::take(&mut ready.group));
        // Who sends without end is ready each time: it has one turn all the same.
        ready.nodes.append(&mut self.rest);
        ready.nodes.sort_unstable();
        ready.nodes.dedup();
        for node in ready.nodes.drain(..) {
            self.receive(node, false);
        }
        let mut came = false;
        for node in std::mem::take(&mut self.blind) {
            came |= self.receive(node, false);
        }
        self.nap = if came { NAP } else { (self.nap * 2).min(NAP_MAX) };
        self.collect();
    }

    /// Now; what is due by then has been done.
    fn keep_time(&mut self) -> Time {
        let now = self.clock.now();
        if self.protocol.alarm().is_some_and(|alarm| alarm <= now) {
            let waits = self.peers.values().filter(|peer| peer.waiting() > 0);
            self.protocol.waits(&mut waits.map(|peer| peer.node));
            self.protocol.tick(now);
        }
        now
    }

    /// Goodbye to all, then nobody comes any more.
    pub fn end(mut self) {
        self.commands.clear();
        self.peers.clear();
        drop(self.doors);
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
            self.lose(node, "it has begun again");
        }
        self.raise(node, life, connection);
    }

    fn connected(&mut self, node: NodeId, attempt: u64, result: Result<Option<Connected>>) {
        let now = self.clock.now();
        let peer = self.peer(node);
        if !matches!(peer.state, State::Connecting { attempt: last } if last == attempt) {
            return;
        }
        match result {
            Ok(Some(Connected { life, connection })) => self.raise(node, life, connection),
            // The peer's own is on its way, and what is queued waits for it.
            Ok(None) => {
                peer.state = State::Idle;
                peer.pause(now);
            }
            Err(error) => {
                peer.pause(now);
                match tells_of_peer(&error) {
                    true => self.lose(node, error),
                    false => self.forget(node, error),
                }
            }
        }
    }

    /// There is a connection.
    fn raise(&mut self, node: NodeId, life: u64, connection: Box<dyn Datagram>) {
        self.peer(node).raise(life, connection);
        self.traffic.trouble_ends(node);
        self.rest.push(node);
        if let Some(multicast) = &mut self.multicast {
            multicast.caster.raised(node);
        }
    }

    /// A connection has ended.
    fn lose(&mut self, node: NodeId, why: impl ToString) {
        self.forget(node, why);
        self.protocol.lost(self.clock.now(), node);
    }

    /// There is no connection, and what is queued for it is lost.
    fn forget(&mut self, node: NodeId, why: impl ToString) {
        self.traffic.trouble_begins(node, why.to_string());
        self.empty(node);
        self.peer(node).state = State::Idle;
    }

    /// What is queued for it is lost.
    fn empty(&mut self, node: NodeId) {
        self.peer(node).empty();
        if let Some(multicast) = &mut self.multicast {
            multicast.caster.lost(self.clock.now(), node);
        }
    }

    /// Gives the protocol what a peer has sent; to the very end of it, if that has to be known.
    /// Whether something came.
    fn receive(&mut self, node: NodeId, to_the_end: bool) -> bool {
        for count in 0..SHELL_TURN {
            // This thread may have been stopped since the last message.
            let now = self.keep_time();
            let Some(peer) = self.peers.get_mut(&node) else { return false };
            let mut malformed = None;
            let (protocol, multicast) = (&mut self.protocol, &mut self.multicast);
            let taken = peer.take(&mut |is_control, head, body| {
                let body = match multicast {
                    // What is urgent waits for no body, as it did at the sender.
                    Some(multicast) if is_control || !P::is_urgent(head) => {
                        multicast.caster.take(now, node, (is_control, head), body)
                    }
                    // A peer that could use multicast says so to all.
                    _ => Ok((!is_control).then_some(body)),
                };
                malformed = match body {
                    Ok(body) => body.and_then(|body| protocol.receive(now, node, head, body).err()),
                    Err(what) => Some(Malformed { from: node, what: what.to_owned() }),
                };
            });
            match (taken, malformed) {
                (Ok(true), None) => {
                    let is_drained = peer.is_drained();
                    self.deliver();
                    if !to_the_end && is_drained {
                        return true;
                    }
                }
                (Ok(false), _) => return count > 0,
                (Ok(true), Some(malformed)) => {
                    self.lose(node, malformed);
                    return false;
                }
                (Err(error), _) => {
                    self.lose(node, error);
                    return false;
                }
            }
        }
        self.rest.push(node);
        true
    }

    /// Hears what came by multicast, and sees to what is due there.
    fn hear(&mut self, is_ready: bool) {
        let Some(multicast) = &mut self.multicast else { return };
        let now = self.clock.now();
        let is_due = multicast.caster.alarm().is_some_and(|alarm| alarm <= now);
        // What is asked for must not lie in the socket: this thread may not have run for long.
        let is_all = !(is_ready || is_due) || multicast.receive(now);
        if is_due && is_all {
            multicast.caster.tick(now);
        }
        multicast.join_again();
        self.deliver();
    }

    /// Gives the protocol messages that have waited for a body, which is there.
    fn deliver(&mut self) {
        let ready = |multicast: &mut Option<Box<Multicast>>| multicast.as_mut()?.caster.ready();
        while let Some((from, head, body)) = ready(&mut self.multicast) {
            let now = self.keep_time();
            if let Err(malformed) = self.protocol.receive(now, from, &head, body) {
                self.lose(from, malformed);
            }
        }
    }

    /// Queues a message for a peer.
    fn push(&mut self, is_control: bool, message: Outgoing) {
        let (to, is_urgent) = (message.to, !is_control && P::is_urgent(&message.head));
        let peer = self.peer(to);
        if peer.push(is_control, is_urgent, message) {
            return;
        }
        match peer.is_up() {
            true => self.lose(to, "it does not read what is sent to it"),
            // To connect may take long, which tells nothing of it: what is needed comes again.
            false => self.empty(to),
        }
    }

    /// Queues what goes out where there is multicast; false if there is nothing.
    fn route(&mut self) -> bool {
        let Some(multicast) = &mut self.multicast else { return false };
        multicast.caster.route(&mut self.batch);
        let mut some = false;
        let next = |multicast: &mut Option<Box<Multicast>>| multicast.as_mut()?.caster.outgoing();
        while let Some(parcel) = next(&mut self.multicast) {
            some = true;
            self.unsent.get_or_insert(self.clock.now());
            self.push(parcel.is_control, parcel.message);
        }
        some
    }

    /// Queues what the protocol wants sent and told; false if there is nothing.
    fn collect(&mut self) -> bool {
        self.handler.changed(self.clock.now(), &self.protocol);
        let mut some = false;
        loop {
            let mut more = false;
            while let Some(message) = self.protocol.outgoing() {
                more = true;
                self.unsent.get_or_insert(self.clock.now());
                match self.multicast {
                    Some(_) if !P::is_urgent(&message.head) => self.batch.push(message),
                    _ => self.push(false, message),
                }
            }
            more |= self.route();
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

    /// Since when something waits to be sent.
    pub fn unsent(&self) -> Option<Time> {
        self.unsent
    }

    /// Sends what the protocol wants sent.
    pub fn send(&mut self) {
        loop {
            self.cast();
            if !(self.serve() || self.collect()) {
                break;
            }
        }
        self.unsent = None;
    }

    /// Sends by multicast what there is room for; what is said of that leaves with other messages.
    fn cast(&mut self) {
        let Some(multicast) = &mut self.multicast else { return };
        self.is_casting = multicast.send(self.clock.now());
        self.route();
    }

    /// Connects to peers, and sends what is queued for them; true if some of them are lost.
    fn serve(&mut self) -> bool {
        let now = self.clock.now();
        for peer in self.peers.values_mut() {
            if peer.wants_connection() && peer.not_before <= now {
                let Some(address) = self.setup.addresses.get(&peer.node) else {
                    peer.pause(now);
                    self.lost.push((peer.node, "there is no address of it".to_owned()));
                    continue;
                };
                self.attempts += 1;
                peer.state = State::Connecting { attempt: self.attempts };
                self.doors.connect(peer.node, address.clone(), self.attempts);
            }
            if peer.retry.is_none_or(|retry| retry <= now)
                && let Err(error) = peer.send(now, &self.traffic)
            {
                self.lost.push((peer.node, error.to_string()));
            }
        }
        self.lose_all()
    }

    /// Tells of connections that have ended; false if there are none.
    fn lose_all(&mut self) -> bool {
        let some = !self.lost.is_empty();
        while let Some((node, why)) = self.lost.pop() {
            self.lose(node, why);
        }
        some
    }

    /// When something is to be done, whatever comes.
    pub fn alarm(&self) -> Option<Time> {
        let connect = |peer: &Peer| peer.wants_connection().then_some(peer.not_before);
        let retry = |peer: &Peer| peer.retry.filter(|_| !peer.is_near);
        let peers = self.peers.values().filter_map(|peer| retry(peer).or(connect(peer)));
        let multicast = self.multicast.as_ref().and_then(|multicast| multicast.caster.alarm());
        peers.chain(self.protocol.alarm()).chain(multicast).min()
    }

    /// Looks at those peers that memory tells of; whether there are others to be looked at.
    pub fn glance(&mut self, ready: &mut Ready) -> bool {
        let mut is_all = self.multicast.is_none();
        for peer in self.peers.values_mut() {
            match peer.glance() {
                Some(is_ready) => ready.nodes.extend(is_ready.then_some(peer.node)),
                None => is_all = false,
            }
        }
        !is_all
    }

    /// Whether there is no room at peers that are only looked at: they tell of none.
    pub fn is_stuck(&self) -> bool {
        self.peers.values().any(|peer| peer.is_near && peer.retry.is_some())
    }

    /// Before the shell's thread sleeps: has those peers tell of what comes that were only looked
    /// at, and looks for room at them by the time. False if something has come from one.
    pub fn doze(&mut self, end: &mut Option<Time>) -> bool {
        let now = self.clock.now();
        // Time first, as in every step.
        if self.protocol.alarm().is_some_and(|alarm| alarm <= now) {
            return false;
        }
        let awake = |peer: &mut Peer| std::mem::take(&mut peer.is_awake).then_some(peer.node);
        let awake: Vec<NodeId> = self.peers.values_mut().filter_map(awake).collect();
        let mut came = false;
        for node in awake {
            self.peer(node).ask_to_tell();
            came |= self.receive(node, false);
        }
        came |= self.collect() || self.unsent.is_some();
        let retries = self.peers.values().filter(|peer| peer.is_near).filter_map(|peer| peer.retry);
        *end = retries.chain(self.alarm()).chain(*end).min();
        !came
    }

    /// Before a sleep, whoever sleeps: watches the peers, and says when it is to end at the latest.
    pub fn settle(&mut self, watch: &Watch) -> Option<Time> {
        for peer in self.peers.values_mut() {
            match watch.see_to(peer) {
                Ok(true) => {}
                Ok(false) => self.blind.push(peer.node),
                Err(error) => self.lost.push((peer.node, error.to_string())),
            }
        }
        if let Some(multicast) = &mut self.multicast {
            watch.see_to_group(multicast);
        }
        if self.lose_all() || !self.rest.is_empty() || self.is_casting {
            return Some(Time::default());
        }
        let nap = (!self.blind.is_empty()).then(|| self.clock.now() + self.nap);
        self.alarm().into_iter().chain(nap).min()
    }
}
