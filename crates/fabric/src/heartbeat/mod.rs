//! The heartbeat: one master strobes, and all nodes see the same sequence of strobes.
//!
//! **Strobes** leave the master at a fixed period, numbered without gaps, each with the events
//! that have gathered since the last. They go down a k-ary tree, and nobody waits for anybody.
//! Members and period are events too (the first strobe announces both), so all that a node knows
//! follows from the sequence, and a node takes strobes in their order only. The strobe that
//! announces a tree goes down the old one too: whose new parent cannot be heard has to know whom to
//! ask, and who is removed has to know that. *Micro-heartbeats* divide the period at each node by
//! itself. A *death* or a submission may ask for a strobe before its time; the grid of the period
//! stays where it is.
//!
//! **Who has missed some** sees a gap, or its connection ends, or it has just begun: it asks
//! (`resume`) the sender, its parent, and then, as long as nothing comes, its ancestors up to the
//! master. Who is asked sends what is missing in order, or, when it no longer keeps that, says
//! where to go on (`resync`): then the node's user has to ask for the state some other way.
//!
//! **Who is late** is known from reports that come up the tree, one for each `report_every`
//! strobes, each with those of the whole subtree that are behind (`late.rs`). The master tells its
//! user, and moves them to the end of the tree, where nobody depends on them; the next strobe
//! announces that. When they are in time again they go back to their places. A connection that
//! ends is reported at once. What that means (removal, a new epoch) is for the user to say with
//! [`Request::Members`].
//!
//! **Silence**: a node that hears no strobe for long ([`Config::silence`]) suspects itself first:
//! it tells its user, and asks the master.
//!
//! **A new master** begins with a `first` sequence beyond all that were used before it (its epoch,
//! shifted, will do): strobes of an old master then are old news, and are dropped.

mod history;
mod late;
mod master;
mod tree;
#[allow(missing_docs, reason = "docs/wire/heartbeat.md says what the fields are")]
pub mod wire;

#[cfg(test)]
mod tests;

pub use wire::{Behind, Event, MEMBERS, PERIOD, USER, Why};

use crate::protocol::{Malformed, NodeId, Outgoing, Payload, Protocol, Time};
use history::History;
use late::Children;
use master::Master;
use muster_base::limits;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;
use tree::Tree;
use wire::{Members, Message, Rhythm, Strobe};

/// How a heartbeat beats. All nodes need the same `master`; the rest of the rhythm and the tree is
/// the master's.
#[derive(Clone, Debug)]
pub struct Config {
    /// This node.
    pub me: NodeId,
    /// Who strobes.
    pub master: NodeId,
    /// Children of a node in the tree.
    pub arity: u16,
    /// From strobe to strobe: 300 us to a minute.
    pub period: Duration,
    /// Micro-heartbeats of a period; 1 for none.
    pub micro: u16,
    /// A node reports once in so many strobes, or four times in `lateness`, whichever is rarer.
    pub report_every: u64,
    /// A node is late when its report is so many strobes behind, at least two reports' worth, and
    /// not before `lateness`.
    pub late: u64,
    /// See `late`.
    pub lateness: Duration,
    /// A node is worried after so many periods without a strobe, and not before `silence`.
    pub silent_periods: u32,
    /// See `silent_periods`.
    pub silence: Duration,
    /// The master's first sequence, for which others have no use: beyond all that an earlier life
    /// of the master has used, or its strobes are old news to everybody.
    pub first: u64,
}

impl Config {
    /// The usual heartbeat: 1 ms. What runs on a machine takes its first sequence from
    /// [`crate::global::incarnation`].
    pub fn new(me: NodeId, master: NodeId, first: u64) -> Config {
        Config {
            me,
            master,
            arity: 8,
            period: Duration::from_millis(1),
            micro: 1,
            report_every: 32,
            late: 64,
            lateness: Duration::ZERO,
            silent_periods: 16,
            silence: Duration::from_secs(5),
            first,
        }
    }

    /// Says what is out of range, if anything is.
    pub(crate) fn check(&self) -> Result<Rhythm, String> {
        if !(1..=limits::ARITY_MAX).contains(&usize::from(self.arity)) {
            return Err(format!("{} children, not 1 to {}", self.arity, limits::ARITY_MAX));
        }
        let (every, late) = (self.report_every, self.late);
        if every == 0 || late / 2 < every {
            return Err(format!(
                "late after {late} strobes, with a report once in {every}: reports come once in 1 \
                 or more, and late is who lacks two of them"
            ));
        }
        if !(1..wire::SEQUENCE_END).contains(&self.first) {
            let end = wire::SEQUENCE_END;
            return Err(format!(
                "{} as the first sequence: that is 1 or more, below {end}",
                self.first
            ));
        }
        Rhythm::of(self.period, self.micro)
    }
}

/// What the master's user may ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// These take part from the next strobe on.
    Members {
        /// The membership's number, which only grows.
        epoch: u64,
        /// In the order in which the tree is to have them, as far as they are in time.
        members: Vec<NodeId>,
    },
    /// The next strobe carries this.
    Event(Event),
    /// Do not wait for the period to end.
    Early,
    /// Beat otherwise from the next strobe on.
    Period {
        /// From strobe to strobe.
        period: Duration,
        /// Micro-heartbeats of a period.
        micro: u16,
    },
}

/// What the user is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A strobe: the same at all nodes, in the same order.
    Strobe {
        /// Its number.
        sequence: u64,
        /// The membership's.
        epoch: u64,
        /// It came before its time.
        early: bool,
        /// What it says.
        events: Vec<Event>,
        /// When it came here.
        when: Time,
    },
    /// A part of the period has passed.
    Micro {
        /// The strobe that began the period.
        sequence: u64,
        /// Which part begins, from 1 on. One whose time has passed unseen is left out.
        index: u16,
    },
    /// The strobes between these two are lost to this node.
    Resync {
        /// The last one that was seen.
        seen: u64,
        /// The one after which it goes on.
        sequence: u64,
    },
    /// This node is no longer a member.
    Removed {
        /// Since this epoch.
        epoch: u64,
    },
    /// No strobe came for long: this node may be the one that is cut off.
    Silent {
        /// When the last one came.
        since: Time,
    },
    /// At the master: a node does not keep up.
    Late {
        /// Which.
        node: NodeId,
        /// The last strobe it is known to have seen.
        seen: u64,
        /// How many strobes behind that is.
        behind: u64,
    },
    /// At the master: a node's connection to its parent in the tree has ended.
    Lost {
        /// Which.
        node: NodeId,
    },
    /// At the master: a node is in time again.
    InTime {
        /// Which.
        node: NodeId,
    },
    /// The request cannot be carried out.
    Refused {
        /// Which.
        request: Request,
        /// Why.
        why: String,
    },
}

/// The state of one node, the master or another.
#[derive(Debug)]
pub struct Heartbeat {
    config: Config,
    tree: Tree,
    /// The strobe that announced the tree.
    tree_since: u64,
    rhythm: Rhythm,
    /// The last strobe in the sequence.
    seen: u64,
    history: History,
    children: Children,
    /// When the last strobe came.
    heard: Time,
    /// When the last one came that was not early.
    paced: Time,
    is_silent: bool,
    /// Who is asked for strobes when: none while nothing seems to be missing.
    asking: Option<Asking>,
    /// The next part of the period.
    micro: Option<(Time, u16)>,
    master: Option<Master>,
    out: VecDeque<Outgoing>,
    notices: VecDeque<Notice>,
}

/// A search for strobes that are missing.
#[derive(Debug)]
struct Asking {
    /// The next try.
    at: Time,
    /// How many have been asked.
    tries: usize,
}

/// Periods between two tries to get what is missing.
const RETRY_PERIODS: u32 = 8;
/// And no sooner than this: a connection has to be made.
const RETRY_MIN: Duration = Duration::from_millis(50);

impl Heartbeat {
    /// A node that has not seen anything; if it is the master it strobes at the first tick.
    ///
    /// # Panics
    /// If the configuration is out of range: it is the program's own.
    pub fn new(config: Config, now: Time) -> Heartbeat {
        let rhythm = config.check().expect("a heartbeat within its limits");
        let is_master = config.me == config.master;
        Heartbeat {
            tree: Tree::new(Members { epoch: 0, arity: config.arity, order: Vec::new() }),
            tree_since: 0,
            rhythm,
            seen: if is_master { config.first - 1 } else { 0 },
            history: History::default(),
            children: Children::default(),
            heard: now,
            paced: now,
            is_silent: false,
            asking: (!is_master).then_some(Asking { at: now, tries: 0 }),
            micro: None,
            master: is_master.then(|| Master::new(now, &config, rhythm)),
            out: VecDeque::new(),
            notices: VecDeque::new(),
            config,
        }
    }

    /// The last strobe in the sequence that this node has.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Who takes part, as far as this node knows, in the order of the tree.
    pub fn members(&self) -> &[NodeId] {
        &self.tree.members().order
    }

    /// The period, as far as this node knows.
    pub fn period(&self) -> Duration {
        self.rhythm.period
    }

    /// At the master: who is not in time, why, and the last strobe that it is known to have seen.
    pub fn late(&self) -> impl Iterator<Item = Behind> {
        let late = self.master.iter().flat_map(Master::late);
        late.map(|(node, (why, seen))| Behind { node: *node, why: *why, seen: *seen })
    }

    fn send(&mut self, to: NodeId, message: &Message) {
        let (head, body) = message.encode();
        self.out.push_back(Outgoing { to, head, body });
    }

    /// Takes the next strobe of the sequence: learns from it, passes it on, keeps it, tells it.
    fn take(&mut self, now: Time, from: NodeId, strobe: Strobe) {
        let Strobe { sequence, epoch, early, .. } = strobe;
        let events: Vec<Event> = wire::events(&strobe.events).collect();
        (self.seen, self.heard, self.is_silent) = (sequence, now, false);
        let mut gone = Vec::new();
        for event in &events {
            // The message was checked when it came, and the master's own events are right.
            match event.kind {
                MEMBERS => {
                    gone.extend(self.set_tree(Members::decode(&event.bytes).expect("checked")));
                }
                PERIOD => {
                    self.rhythm = Rhythm::decode(&event.bytes).expect("checked");
                    self.children.begin_at(sequence);
                }
                _ => {}
            }
        }
        // Strobes that come faster than they are made were held up: the children have them later.
        if !early && now - std::mem::replace(&mut self.paced, now) < self.rhythm.period / 2 {
            self.children.excuse(sequence);
        }
        // Only who is asked knows for certain that this node is there.
        let parent = self.tree.parent(self.config.me);
        if parent.is_some_and(|parent| parent != from) {
            let at = now + self.retry();
            self.asking.get_or_insert(Asking { at, tries: 0 });
        } else {
            self.asking = None;
        }
        let message = Message::Strobe(strobe);
        let children: Vec<NodeId> = self.children.reachable().chain(gone).collect();
        children.into_iter().for_each(|child| self.send(child, &message));
        let Message::Strobe(strobe) = message else { unreachable!("it was made above") };
        self.history.push(strobe);
        self.micro = (self.rhythm.micro > 1).then(|| (now + self.part(1), 1));
        self.notices.push_back(Notice::Strobe { sequence, epoch, early, events, when: now });
        if sequence.is_multiple_of(self.report_every()) {
            self.report();
        }
    }

    /// How many strobes there are in a time, of those that are not early.
    fn strobes_in(&self, time: Duration) -> u64 {
        time.as_nanos().div_ceil(self.rhythm.period.as_nanos()) as u64
    }

    fn report_every(&self) -> u64 {
        self.config.report_every.max(self.strobes_in(self.config.lateness / 4))
    }

    /// How far into the period a part begins.
    fn part(&self, index: u16) -> Duration {
        self.rhythm.period * u32::from(index) / u32::from(self.rhythm.micro)
    }

    /// Tells that a part of the period has begun.
    fn divide(&mut self, now: Time) {
        let Some((at, index)) = self.micro.filter(|(at, _)| *at <= now) else { return };
        debug_assert!(at >= self.heard);
        let parts = u128::from(self.rhythm.micro);
        let begun = (now - self.heard).as_nanos() * parts / self.rhythm.period.as_nanos();
        let index = u128::from(index).max(begun);
        self.micro = None;
        // Past the period's end the next strobe is what is waited for.
        if index < parts {
            let index = index as u16;
            self.notices.push_back(Notice::Micro { sequence: self.seen, index });
            if index + 1 < self.rhythm.micro {
                self.micro = Some((self.heard + self.part(index + 1), index + 1));
            }
        }
    }

    /// Learns the tree, and says whose parent this node was and no longer is.
    fn set_tree(&mut self, members: Members) -> Vec<NodeId> {
        let (me, was) = (self.config.me, self.tree.contains(self.config.me));
        let epoch = members.epoch;
        (self.tree, self.tree_since) = (Tree::new(members), self.seen);
        let gone = self.children.set(self.tree.children(me), self.seen);
        if was && !self.tree.contains(me) {
            self.notices.push_back(Notice::Removed { epoch });
        }
        gone
    }

    /// Tells the parent who is behind, or, as the master, the user.
    fn report(&mut self) {
        let late = self.config.late.max(self.strobes_in(self.config.lateness));
        let report = self.children.known(self.seen, late);
        let Some(master) = &mut self.master else {
            if let Some(parent) = self.tree.parent(self.config.me) {
                self.send(parent, &Message::Report(report));
            }
            return;
        };
        for one in &report.behind {
            let (node, (is_news, seen)) = (one.node, master.blame(one));
            let behind = self.seen - seen.min(self.seen);
            self.notices.extend(match one.why {
                Why::Late => Some(Notice::Late { node, seen, behind }),
                Why::Lost if is_news => Some(Notice::Lost { node }),
                Why::Lost | Why::New => None,
            });
        }
        // What was said before the tree was as it is says nothing of who was moved.
        if !report.truncated && report.since >= self.tree_since {
            let behind: HashSet<NodeId> = report.behind.iter().map(|one| one.node).collect();
            let named = |node: NodeId| behind.contains(&node);
            let is_in_time = |node| !named(node) && !self.tree.ancestors(node).any(named);
            let found = master.forgive(is_in_time).into_iter();
            self.notices.extend(found.map(|node| Notice::InTime { node }));
        }
    }

    /// Looks for strobes that are missing, at once if nobody is being asked.
    fn ask(&mut self, now: Time, whom: NodeId) {
        if self.master.is_none() && self.asking.is_none() {
            self.asking = Some(Asking { at: now + self.retry(), tries: 1 });
            self.send(whom, &Message::Resume { seen: self.seen });
        }
    }

    /// Asks the next of those who may have what is missing: the parent first, the master last.
    fn ask_again(&mut self, now: Time) {
        let Some(Asking { at, tries }) = self.asking else { return };
        if at > now {
            return;
        }
        let whom = self.tree.ancestors(self.config.me).nth(tries).unwrap_or(self.config.master);
        let is_last = whom == self.config.master;
        let at = now + self.retry();
        self.asking = Some(Asking { at, tries: if is_last { 0 } else { tries + 1 } });
        self.send(whom, &Message::Resume { seen: self.seen });
    }

    fn retry(&self) -> Duration {
        (self.rhythm.period * RETRY_PERIODS).max(RETRY_MIN)
    }

    /// Sends a node what it has missed.
    fn resume(&mut self, to: NodeId, seen: u64) {
        self.children.find(to);
        if seen >= self.seen {
            return;
        }
        let missed: Option<Vec<Strobe>> =
            self.history.after(seen).map(|strobes| strobes.cloned().collect());
        match missed {
            Some(strobes) => {
                strobes.into_iter().for_each(|strobe| self.send(to, &Message::Strobe(strobe)));
            }
            None => {
                let members = self.tree.members().clone();
                let (sequence, rhythm) = (self.seen, self.rhythm);
                self.send(to, &Message::Resync { sequence, rhythm, members });
            }
        }
    }

    /// Goes on somewhere else in the sequence.
    fn resync(&mut self, now: Time, from: NodeId, sequence: u64, rhythm: Rhythm, to: Members) {
        if sequence <= self.seen || self.master.is_some() {
            return;
        }
        let seen = std::mem::replace(&mut self.seen, sequence);
        (self.rhythm, self.heard, self.is_silent, self.asking) = (rhythm, now, false, None);
        self.micro = None;
        self.history.clear();
        // Who was a child gets no strobe from here: those in between are missing.
        self.set_tree(to);
        self.notices.push_back(Notice::Resync { seen, sequence });
        // Strobes come from the parent, which has to know that this node is there.
        if let Some(parent) = self.tree.parent(self.config.me).filter(|parent| *parent != from) {
            self.ask(now, parent);
        }
    }

    fn silence(&self) -> Duration {
        (self.rhythm.period * self.config.silent_periods).max(self.config.silence)
    }

    /// Carries out a request, or says why not.
    ///
    /// # Errors
    /// What [`Notice::Refused`] says.
    pub fn command(&mut self, now: Time, request: &Request) -> Result<(), String> {
        self.carry_out(request)?;
        self.tick(now);
        Ok(())
    }

    fn carry_out(&mut self, request: &Request) -> Result<(), String> {
        let me = self.config.me;
        let Some(master) = &mut self.master else {
            return Err(format!("{} is the master, not {me}", self.config.master));
        };
        match request {
            Request::Members { epoch, members } => master.set_members(*epoch, members)?,
            Request::Event(event) => master.push(event.clone())?,
            Request::Early => master.ask_early(),
            Request::Period { period, micro } => {
                master.set_rhythm(Rhythm::of(*period, *micro)?);
            }
        }
        Ok(())
    }
}

impl Protocol for Heartbeat {
    type Request = Request;
    type Notice = Notice;

    fn request(&mut self, now: Time, request: Request) {
        if let Err(why) = self.command(now, &request) {
            self.notices.push_back(Notice::Refused { request, why });
        }
    }

    fn receive(
        &mut self,
        now: Time,
        from: NodeId,
        head: &[u8],
        body: Payload,
    ) -> Result<(), Malformed> {
        let bad = |what: String| Malformed { from, what };
        match Message::decode(head, &body).map_err(bad)? {
            Message::Strobe(_) if self.master.is_some() => {
                return Err(bad("a strobe for the master".to_owned()));
            }
            Message::Strobe(strobe) if strobe.sequence == self.seen + 1 => {
                self.take(now, from, strobe);
            }
            Message::Strobe(strobe) if strobe.sequence > self.seen => self.ask(now, from),
            // Old news: it came another way before.
            Message::Strobe(_) => {}
            Message::Report(report) => {
                let sequence = report.sequence;
                // Another node may well be ahead of this one: it has asked further up.
                if self.master.is_some() && sequence > self.seen {
                    return Err(bad(format!("a report of strobe {sequence}, before it was made")));
                }
                if self.children.report(from, report) {
                    self.report();
                }
            }
            Message::Resume { seen } => self.resume(from, seen),
            Message::Resync { sequence, rhythm, members } => {
                self.resync(now, from, sequence, rhythm, members);
            }
        }
        Ok(())
    }

    fn lost(&mut self, now: Time, peer: NodeId) {
        if self.children.lose(peer) {
            self.report();
        }
        if self.tree.parent(self.config.me) == Some(peer) {
            self.ask(now, peer);
        }
    }

    fn tick(&mut self, now: Time) {
        if let Some(master) = &mut self.master {
            let (due, early) = master.due();
            if due <= now {
                let strobe = master.strobe(now, early, self.rhythm, self.tree.members());
                self.take(now, self.config.me, strobe);
            }
            return self.divide(now);
        }
        if !self.is_silent && now - self.heard >= self.silence() {
            self.is_silent = true;
            self.notices.push_back(Notice::Silent { since: self.heard });
            self.asking.get_or_insert(Asking { at: now, tries: usize::MAX });
        }
        self.ask_again(now);
        self.divide(now);
    }

    fn alarm(&self) -> Option<Time> {
        let strobe = self.master.as_ref().map(|master| master.due().0);
        let silent =
            (self.master.is_none() && !self.is_silent).then(|| self.heard + self.silence());
        let asking = self.asking.as_ref().map(|asking| asking.at);
        let micro = self.micro.map(|(at, _)| at);
        [strobe, silent, asking, micro].into_iter().flatten().min()
    }

    fn outgoing(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    fn notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}
