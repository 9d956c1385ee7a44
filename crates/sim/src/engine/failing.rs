//! Faults: what strikes a run, and what mends.

use super::links::{Epoch, Link};
use super::trace::Kind;
use super::{Engine, Event, Flight, NEVER};
use crate::engine::User;
use crate::fault::Fault;
use muster_fabric::protocol::{NodeId, Protocol};

impl<P: Protocol, U: User<P>> Engine<P, U> {
    /// An end of a link will learn that a connection has ended.
    pub(super) fn learn_soon(&mut self, link: u32, end: usize, epoch: Epoch) {
        let ends = self.links.ends(link);
        // Across a cut no evidence comes; silence is noticed late.
        let is_cut = self.is_cut(ends[Link::other(end)], ends[end]);
        let (first, last) = if is_cut { self.network.patience } else { self.network.evidence };
        let time = self.now + self.random.between(first, last);
        self.calendar.add(time, Event::Lost { link, end: end as u8, epoch });
    }

    pub(super) fn lost(&mut self, link: u32, end: u8, epoch: Epoch) {
        let ends = self.links.ends(link);
        let (node, peer) = (ends[usize::from(end)], ends[Link::other(usize::from(end))]);
        if self.waits(node, Event::Lost { link, end, epoch }) {
            return;
        }
        if self.links[link].learn(usize::from(end), epoch) {
            self.call_lost(node, peer);
        }
    }

    /// Tells a core that its connection to a peer has ended.
    pub(super) fn call_lost(&mut self, number: u32, peer: u32) {
        self.tell(Kind::Lost, number, peer, &[]);
        let Some(at) = self.occupy(number, 0) else {
            return;
        };
        let node = &mut self.nodes[number as usize];
        let clock = node.clock.shows(at);
        node.core.as_mut().expect("it lives").lost(clock, NodeId(peer));
        self.drain(number);
    }

    /// Whether nothing gets from one node to another.
    pub(super) fn is_cut(&self, a: u32, b: u32) -> bool {
        if self.blocks.iter().any(|(_, from, to)| (*from, *to) == (a, b)) {
            return true;
        }
        if self.cuts == 0 {
            return false;
        }
        let [a, b] = [a, b].map(|node| self.nodes[node as usize].islands);
        (a ^ b) & self.cuts != 0
    }

    /// A message has come to a cut: it waits there, and its connection does not for ever.
    pub(super) fn hold(&mut self, flight: u32) {
        let number = self.flights.get(flight).link;
        if let Some(hold) = self.links.hold(number, flight) {
            let (first, last) = self.network.patience;
            let time = self.now + self.random.between(first, last);
            self.calendar.add(time, Event::Expire { link: number, hold });
        }
    }

    pub(super) fn expire(&mut self, number: u32, hold: u32) {
        if !self.links.holds(number, hold) {
            return;
        }
        for flight in self.links.release(number) {
            self.flights.take(flight);
        }
        self.links[number].void();
        self.both_learn(number);
    }

    /// Both ends of a link will learn that its last connection has ended.
    fn both_learn(&mut self, number: u32) {
        for end in 0..2 {
            if let Some(epoch) = self.links[number].untold(end) {
                let time = self.random.between(self.network.evidence.0, self.network.evidence.1);
                self.calendar
                    .add(self.now + time, Event::Lost { link: number, end: end as u8, epoch });
            }
        }
    }

    pub(super) fn strike(&mut self, at: u32) {
        self.tell(Kind::Fault, at, 0, &[]);
        let now = self.now;
        // What is to happen to a dead node, or to a connection of one that has none, does not.
        let mut happens = true;
        let mends = match self.schedule[at as usize].1.clone() {
            Fault::Kill(node, back) => {
                happens = self.kill(node.0);
                back
            }
            Fault::Pause(node, time) => {
                let node = &mut self.nodes[node.0 as usize];
                happens = node.core.is_some();
                if happens {
                    node.paused = node.paused.max(now + time);
                }
                Some(time)
            }
            Fault::Slow(node, times, time) => {
                self.nodes[node.0 as usize].slow = times;
                Some(time)
            }
            Fault::Reset(a, b) => {
                happens = self.reset(a.0, b.0);
                None
            }
            Fault::Cut(nodes, time) => {
                // More than 64 cuts at once share bits; what counts is that it is the same each
                // time.
                let bit = 1 << (at % 64);
                self.cuts |= bit;
                for node in nodes {
                    self.nodes[node.0 as usize].islands |= bit;
                }
                Some(time)
            }
            Fault::Block(a, b, both, time) => {
                let may = |ends: [u32; 2]| time.is_some() || !ends.contains(&0);
                let way = self.link_of(a.0, b.0, may).map(|link| self.links.ends(link));
                happens = way.is_some();
                if let Some([low, high]) = way {
                    let to = if low == a.0 { high } else { low };
                    self.blocks.push((at, a.0, to));
                    self.blocks.extend(both.then_some((at, to, a.0)));
                }
                time
            }
            Fault::Spike(more, time) => {
                self.spike += more;
                Some(time)
            }
        };
        self.struck += u64::from(happens);
        if let Some(time) = mends {
            self.calendar.add(now + time, Event::Mend(at));
        }
    }

    /// A connection of two living nodes: that of `a` with `b`, or if they have none, one of those
    /// that `a` has: nodes talk along their trees, and two of 64 that are drawn hardly ever do.
    fn link_of(&self, a: u32, b: u32, may: impl Fn([u32; 2]) -> bool) -> Option<u32> {
        let is_open = |link: &u32| {
            let lives = |node: u32| self.nodes[node as usize].core.is_some();
            let of = &self.links[*link];
            self.links.ends(*link).into_iter().all(lives)
                && (0..2).any(|end| of.open(end).is_some())
        };
        let links = &self.nodes[a as usize].links;
        let links = links.iter().copied().filter(|link| may(self.links.ends(*link)));
        let open: Vec<u32> = links.filter(is_open).collect();
        let meant = open.iter().copied().find(|link| self.links.ends(*link).contains(&b));
        meant.or_else(|| Some(open[(b as usize).checked_rem(open.len())?]))
    }

    /// Ends such a connection; false if there is none.
    fn reset(&mut self, a: u32, b: u32) -> bool {
        let Some(number) = self.link_of(a, b, |_| true) else { return false };
        self.user.reset(self.now, self.links.ends(number).map(NodeId));
        self.links[number].sever();
        self.both_learn(number);
        true
    }

    pub(super) fn mend(&mut self, at: u32) {
        self.tell(Kind::Mend, at, 0, &[]);
        match self.schedule[at as usize].1.clone() {
            Fault::Kill(node, _) => self.revive(node.0),
            Fault::Pause(node, _) => self.resume(node.0),
            Fault::Slow(node, ..) => self.nodes[node.0 as usize].slow = 1,
            Fault::Reset(..) => {}
            Fault::Cut(nodes, _) => {
                let bit = 1 << (at % 64);
                self.cuts &= !bit;
                nodes.iter().for_each(|node| self.nodes[node.0 as usize].islands &= !bit);
                self.let_go();
            }
            Fault::Block(..) => {
                self.blocks.retain(|(fault, ..)| *fault != at);
                self.let_go();
            }
            Fault::Spike(more, _) => self.spike -= more,
        }
    }

    /// Ends a node's life; false if it has none.
    fn kill(&mut self, number: u32) -> bool {
        let at = self.moment(number, self.now);
        let node = &mut self.nodes[number as usize];
        if node.core.take().is_none() {
            return false;
        }
        (node.alarm, node.armed, node.paused) = (NEVER, NEVER, 0);
        let waiting = std::mem::take(&mut node.waiting);
        self.user.end(at, &mut self.agenda);
        self.take_agenda();
        // What waited for it finds nobody.
        for event in waiting {
            self.again(event);
        }
        for at in 0..self.nodes[number as usize].links.len() {
            let link = self.nodes[number as usize].links[at];
            let end = usize::from(self.links.ends(link)[0] == number);
            self.links[link].sever();
            if let Some(epoch) = self.links[link].untold(end) {
                self.learn_soon(link, end, epoch);
            }
        }
        true
    }

    fn revive(&mut self, number: u32) {
        if self.nodes[number as usize].core.is_some() {
            return;
        }
        for at in 0..self.nodes[number as usize].links.len() {
            let link = self.nodes[number as usize].links[at];
            let end = usize::from(self.links.ends(link)[1] == number);
            self.links[link].forget(end);
        }
        self.nodes[number as usize].life += 1;
        self.begin(number);
    }

    fn resume(&mut self, number: u32) {
        let node = &mut self.nodes[number as usize];
        if node.paused > self.now {
            return;
        }
        for event in std::mem::take(&mut node.waiting) {
            self.again(event);
        }
    }

    /// What waited for a node happens now, in its order.
    fn again(&mut self, event: Event) {
        match event {
            Event::Arrive(flight) => self.deliver(flight),
            Event::Tick(node) => self.tick(node),
            Event::Ask(asked) => self.asked(asked),
            Event::Lost { link, end, epoch } => self.lost(link, end, epoch),
            Event::Expire { .. } | Event::Fault(_) | Event::Mend(_) => {
                unreachable!("nodes do not wait with it")
            }
        }
    }

    /// Something is over that has held messages up. What another holds up has waited since then,
    /// and goes on waiting.
    fn let_go(&mut self) {
        let held: Vec<u32> = self.links.held().collect();
        for link in held {
            let [a, b] = self.links.ends(link);
            if self.is_cut(a, b) && self.is_cut(b, a) {
                continue;
            }
            for flight in self.links.release(link) {
                let &Flight { from, to, .. } = self.flights.get(flight);
                if self.is_cut(from, to) { self.hold(flight) } else { self.deliver(flight) }
            }
        }
    }
}
