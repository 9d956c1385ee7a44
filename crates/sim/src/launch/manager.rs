//! The manager's part of launches: what `launch.rs`, `pieces.rs`, `report.rs`, `mail.rs`,
//! `nodes.rs`, `epochs.rs` and `again.rs` of `machine/src/manager/` do, over the same `Progress`,
//! `Flow`, `Holdings`, `Outbox`, `Presence` and `Shipping`. A launch is a row of steps
//! ([`super::job`]), where the manager's thread waits for each.

use super::daemon::{Hands, Landing, Tell};
use super::job::{Failed, Job, Step};
use super::node::{CONT, TERM};
use super::{Prices, Wish};
use muster_fabric::primitive::{Nodes, Outcome, Refusal};
use muster_fabric::protocol::{NodeId, Payload, Time};
use muster_machine::launch::{Order, Rank, Report, Said, What, exit_in, session_of};
use muster_machine::manager::holdings::Holdings;
use muster_machine::manager::outbox::{self, Outbox, Sending};
use muster_machine::manager::presence::{Closed, Coming, EVIDENCE, Presence, Way};
use muster_machine::manager::progress::{Action, PAUSE};
use muster_machine::manager::shipping::Shipping;
use muster_machine::manager::spec::Phase;
use muster_machine::memory::{LEASE, STROBE, id_of, name_of};
use muster_machine::slots::Slots;
use muster_machine::strober::Table;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// How often a question is asked: for a minute.
const TIMES: usize = 12_000;

/// How long ranks have to end when they are told to, and how long what was killed has.
const GRACE: Duration = Duration::from_secs(5);
const DRAIN: Duration = Duration::from_secs(10);

/// How long wiping what is left of a job may take, unless it is to begin again.
const WIPE: Duration = Duration::from_secs(2);

/// The pause before it is asked once more whether all have a table of slots.
const LOOK: Duration = Duration::from_micros(300);

/// The pause before a node asks once more to be taken in.
const AGAIN: Duration = Duration::from_millis(50);

/// Within this a thread sees what another has done.
pub(super) const SOON: Duration = Duration::from_micros(1);

/// The pause before what was refused, since too much is under way, is sent once more.
const REFUSED: Duration = Duration::from_millis(5);

/// What is waited for.
pub(super) enum Wait {
    /// A step of a job's launch.
    Step(u32),
    /// The answer of a question, and how often it was asked.
    Answer(u32, usize),
    /// It is asked again.
    Ask(u32, usize),
    /// Bytes of a job are on their way to some nodes.
    Flying(u32, Nodes, Payload),
    /// Others may send files.
    Room,
    /// A letter is read.
    Letter(Payload),
    /// An order that nobody waits for; how long that may take.
    Mail,
    MailLate(u64),
    /// It is sent again.
    MailAgain,
    /// What is done is to be forgotten.
    Forget,
    /// A start of a daemon asks once more to be taken in.
    Join(NodeId, u64),
    /// What became of a daemon whose connection has closed.
    Evidence(NodeId, Line),
    /// A table of slots.
    Table,
    /// Whether all have it; and that is asked again.
    Strobed,
    StrobedYet,
    Pause(u32),
    Grace(u32),
    Drain(u32),
    /// What is left of an attempt is not waited for any longer.
    Wipe(u32),
}

/// What is done when an order has arrived that no launch waits for, or cannot arrive.
enum Then {
    /// Nothing is left of an attempt.
    Wiped(u32),
    /// A node that was lost, and has forgotten what it ran, is taken in again.
    Link(NodeId, u64),
}

/// A connection to a node: which, and to which start of its daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line(u64, u64);

impl Way for Line {
    fn instance(&self) -> u64 {
        self.1
    }

    fn is(&self, other: &Line) -> bool {
        self == other
    }
}

/// The manager.
pub(super) struct Manager {
    pub prices: Prices,
    pub members: Nodes,
    nodes: BTreeMap<NodeId, Presence<Line>>,
    /// Connections that there were.
    lines: u64,
    /// Which starts of daemons have said that they join, and are not taken in yet.
    coming: Coming<NodeId>,
    pub holdings: Holdings,
    pub shipping: Shipping,
    /// Pieces of all jobs that are on their way.
    pub flying: usize,
    pub waits: HashMap<u64, Wait>,
    /// By what letters call them.
    jobs: BTreeMap<u32, Job>,
    /// The last number of a job or an attempt.
    last: u32,
    outbox: Outbox<Then>,
    /// The order of these that is on its way.
    sending: Option<Sending<Then>>,
    /// It will be looked whether what is done is to be forgotten.
    is_due: bool,
}

impl Manager {
    /// The manager of a cluster, all of whose nodes are there.
    pub fn new(prices: Prices, members: Nodes) -> Manager {
        let joined = |node: NodeId| {
            let mut presence = Presence::default();
            presence.joined(Line(0, super::instance(0)));
            (node, presence)
        };
        Manager {
            prices,
            nodes: members.iter().skip(1).map(joined).collect(),
            members,
            lines: 0,
            coming: Coming::default(),
            holdings: Holdings::default(),
            shipping: Shipping::default(),
            flying: 0,
            waits: HashMap::new(),
            jobs: BTreeMap::new(),
            last: 0,
            outbox: Outbox::default(),
            sending: None,
            is_due: false,
        }
    }

    /// Jobs that have not ended, an order that is on its way, and nodes that are not there.
    pub fn open(&self) -> Vec<String> {
        let jobs = self.jobs.values().filter(|job| !job.is_over).map(Job::open);
        let order = self.sending.iter().map(|one| format!("{:?} goes to {}", one.order, one.to));
        let away = |(node, presence): (&NodeId, &Presence<Line>)| {
            let (is_up, is_member) = (presence.is_up(), self.members.contains(*node));
            let text = format!("{node} is up: {is_up}, a member: {is_member}");
            (!is_up || !is_member).then_some(text)
        };
        jobs.chain(order).chain(self.nodes.iter().filter_map(away)).collect()
    }

    /// A client submits a job.
    pub fn submit(&mut self, wish: Wish, hands: &mut Hands) {
        self.last += 1;
        self.begin(Job::new(self.last, wish, hands.now), hands);
    }

    /// An attempt begins.
    fn begin(&mut self, mut job: Job, hands: &mut Hands) {
        let id = job.attempt;
        job.steps.extend([Step::Work(self.prices.begin), Step::Place]);
        self.jobs.insert(id, job);
        self.go_on(id, hands);
    }

    /// Gives all strobers a table of slots: as all nodes are machines here, to all nodes.
    pub fn strobe(&mut self, hands: &mut Hands) {
        let slots = Slots { slice: Duration::from_millis(2), slots: vec![vec![1], vec![2]] };
        let table = Table { term: 1, number: 1, phase: Duration::ZERO, slots };
        let ticket = hands.send(self.linked(), Order::Strobe(table).letter().into());
        self.waits.insert(ticket, Wait::Table);
    }

    fn ask_strobers(&mut self, hands: &mut Hands) {
        let ticket = hands.ask(self.linked(), STROBE, 1 << 32 | 1);
        self.waits.insert(ticket, Wait::Strobed);
    }

    fn linked(&self) -> Nodes {
        let linked = self.nodes.iter().filter(|(_, presence)| presence.link.is_some());
        linked.map(|(node, _)| *node).collect()
    }

    /// The nodes that can be given jobs, and which start of each it is.
    pub fn up(&self) -> Vec<(NodeId, u64)> {
        let up = self.nodes.iter().filter(|(_, presence)| presence.is_up());
        up.filter_map(|(node, presence)| Some((*node, presence.link?.instance()))).collect()
    }

    /// Whether a node is still the start of its daemon that it was.
    pub fn is_there(&self, node: NodeId, instance: u64) -> bool {
        let link = self.nodes.get(&node).and_then(|presence| presence.link);
        link.is_some_and(|link| link.instance() == instance)
    }

    /// Takes the steps of a job's launch that can be taken now.
    pub fn go_on(&mut self, id: u32, hands: &mut Hands) {
        let Some(mut job) = self.jobs.remove(&id) else { return };
        while !job.waits && !job.steps.is_empty() {
            let ended = job.is_ended().then(|| (None, "it was ended".to_owned()));
            let failed = ended.or_else(|| job.failed());
            match failed.map_or_else(|| job.step(self, hands), Err) {
                Ok(true) => {}
                Ok(false) => break,
                Err(failed) => self.start_failed(&mut job, failed, false, hands),
            }
        }
        match std::mem::take(&mut job.runs) {
            true => {
                self.release(&mut job, hands);
                self.ordered(job, hands);
            }
            false => drop(self.jobs.insert(id, job)),
        }
        self.post(hands);
    }

    /// A job's files are not on their way any more: others may send theirs.
    fn release(&mut self, job: &mut Job, hands: &mut Hands) {
        let (booked, turn) = job.release();
        if let Some((want, turn)) = turn {
            self.shipping.leave(want, turn);
        }
        if let Some(variable) = booked {
            self.shipping.give_back(variable, hands.now);
        }
        if booked.is_some() || turn.is_some() {
            self.later(SOON, Wait::Room, hands);
        }
    }

    /// An order to a job has arrived, or what it was to do is done.
    fn ordered(&mut self, mut job: Job, hands: &mut Hands) {
        let actions = job.ordered(hands.now);
        self.act(&mut job, actions, hands);
        self.keep(job, hands);
    }

    /// Takes a job back, and what its ranks have said while it was started.
    fn keep(&mut self, mut job: Job, hands: &mut Hands) {
        let early = job.take_early();
        self.jobs.insert(job.attempt, job);
        early.into_iter().for_each(|(instance, said)| self.heard(instance, said, hands));
    }

    /// A launch has failed; it may be known that this is for the loss of a node.
    fn start_failed(&mut self, job: &mut Job, failed: Failed, is_lost: bool, hands: &mut Hands) {
        self.release(job, hands);
        let is_lost = is_lost || !job.has_its_nodes(self);
        let actions = job.start_failed(failed, is_lost && job.may_begin_again());
        self.act(job, actions, hands);
        // Something of it may have been on its way when its nodes were told to forget it.
        if job.progress.phase() == Phase::Done && !job.set.is_empty() {
            let forget = Order::Forget { jobs: vec![job.attempt] };
            self.outbox.push(job.set.clone(), forget, None);
        }
    }

    pub fn landed(&mut self, ticket: u64, landing: Landing, hands: &mut Hands) {
        let is_done = landing == Ok(Outcome::Committed);
        match self.waits.remove(&ticket) {
            Some(Wait::Step(id)) => {
                let Some(mut job) = self.jobs.remove(&id) else { return };
                job.waits = false;
                let is_lost = matches!(landing, Ok(Outcome::NotMember(_)));
                if is_done {
                    self.release(&mut job, hands);
                    self.ordered(job, hands);
                } else if is_lost && job.has_its_nodes(self) {
                    // Who has fallen silent lives, and gets it when it answers.
                    job.order_again();
                    self.jobs.insert(id, job);
                } else {
                    let why = not_landed(landing);
                    let text = format!("the order to launch has not arrived: {why}  [E306]");
                    self.start_failed(&mut job, (None, text), is_lost, hands);
                    self.keep(job, hands);
                }
                self.go_on(id, hands);
            }
            Some(Wait::Answer(id, times)) => {
                let Some(job) = self.jobs.get_mut(&id) else { return };
                if is_done {
                    (job.waits, job.is_reached) = (false, true);
                    return self.go_on(id, hands);
                }
                let broken = match landing {
                    Ok(Outcome::NotMember(node)) => Some(gone(node)),
                    Err(Refusal::Full) | Ok(Outcome::NotHeld) if times < TIMES => None,
                    _ if times < TIMES => Some(not_landed(landing)),
                    _ if times == TIMES => Some("the nodes do not unpack them".to_owned()),
                    _ => None,
                };
                if let Some(why) = broken {
                    job.broke(&why);
                    return self.go_on(id, hands);
                }
                let pause = job.pause(times);
                self.later(pause, Wait::Ask(id, times + 1), hands);
            }
            Some(Wait::Flying(id, to, letter)) => {
                self.flying -= 1;
                self.shipping.moved(hands.now);
                self.later(SOON, Wait::Room, hands);
                let Some(job) = self.jobs.get_mut(&id) else { return };
                job.flying -= 1;
                if landing == Err(Refusal::Full) {
                    // A node that stands still holds up all that is asked, until its lease ends.
                    job.send_again(to, letter);
                    self.waits.retain(|_, wait| !matches!(wait, Wait::Step(of) if *of == id));
                    return self.later(REFUSED, Wait::Step(id), hands);
                }
                if !is_done {
                    job.broken = Some(super::job::not_sent(&not_landed(landing)));
                }
                self.go_on(id, hands);
            }
            Some(Wait::Mail) if is_done => self.settle(hands),
            Some(Wait::Mail) => {
                let is_refused = matches!(landing, Err(Refusal::Full | Refusal::NotMember));
                self.mail_failed(is_refused, hands);
            }
            Some(Wait::Table) if is_done => self.ask_strobers(hands),
            Some(Wait::Strobed) if is_done => hands.told.push_back(Tell::Strobed),
            Some(Wait::Strobed) => self.later(LOOK, Wait::StrobedYet, hands),
            _ => {}
        }
    }

    pub fn woken(&mut self, token: u64, hands: &mut Hands) {
        match self.waits.remove(&token) {
            Some(Wait::Step(id)) => {
                if let Some(job) = self.jobs.get_mut(&id) {
                    job.waits = false;
                }
                self.go_on(id, hands);
            }
            Some(Wait::Ask(id, times)) => {
                let Some(mut job) = self.jobs.remove(&id) else { return };
                job.waits = false;
                let is_open = job.progress.phase() == Phase::Starting && job.failed().is_none();
                if is_open {
                    job.ask(times, self, hands);
                }
                self.jobs.insert(id, job);
                self.go_on(id, hands);
            }
            Some(Wait::Letter(letter)) => {
                let (report, _) = Report::read(&letter).expect("nodes' reports can be read");
                self.told(report, hands);
            }
            Some(Wait::MailAgain) => self.mail_again(hands),
            Some(Wait::MailLate(ticket)) => self.mail_late(ticket, hands),
            Some(Wait::Room) => self.room(hands),
            Some(Wait::Join(node, instance)) => self.joins(node, instance, hands),
            Some(Wait::Evidence(node, line)) => {
                let presence = self.nodes.entry(node).or_default();
                if presence.waits_for_evidence(&line) {
                    self.give_up(node, hands);
                }
                self.call_back(&Nodes::one(node));
                self.post(hands);
            }
            Some(Wait::StrobedYet) => self.ask_strobers(hands),
            Some(Wait::Forget) => {
                self.is_due = false;
                self.post(hands);
            }
            // What is to begin again waits until its nodes have been told.
            Some(Wait::Wipe(id)) => self.wiped(id, |job| !job.progress.is_again(), hands),
            Some(Wait::Pause(id)) => self.progressed(id, hands, |job| job.progress.pause_over()),
            Some(Wait::Grace(id)) => self.progressed(id, hands, |job| job.progress.grace_over()),
            Some(Wait::Drain(id)) => self.progressed(id, hands, |job| job.progress.drain_over()),
            _ => {}
        }
    }

    /// Something happens to a job, and what is to be done for that is done.
    fn progressed(
        &mut self,
        id: u32,
        hands: &mut Hands,
        deed: impl FnOnce(&mut Job) -> Vec<Action>,
    ) {
        let Some(mut job) = self.jobs.remove(&id) else { return };
        let actions = deed(&mut job);
        self.act(&mut job, actions, hands);
        self.jobs.insert(id, job);
        self.go_on(id, hands);
        self.post(hands);
    }

    fn act(&mut self, job: &mut Job, actions: Vec<Action>, hands: &mut Hands) {
        for action in actions {
            let (ranks, nodes) = job.alone();
            match action {
                Action::Signal(signal) => {
                    let order = Order::Signal { job: job.attempt, ranks, signal };
                    self.outbox.push(nodes, order, None);
                }
                Action::Ask => {
                    for signal in [TERM, CONT] {
                        let ranks = ranks.clone();
                        let order = Order::Signal { job: job.attempt, ranks, signal };
                        self.outbox.push(nodes.clone(), order, None);
                    }
                }
                Action::EndAll => {
                    let order = Order::End { job: job.attempt };
                    self.outbox.push(nodes, order, None);
                    self.later(DRAIN, Wait::Drain(job.attempt), hands);
                }
                // Its node has seen to that.
                Action::EndRank(_) => {}
                Action::Pause => self.later(PAUSE, Wait::Pause(job.attempt), hands),
                Action::Grace => self.later(GRACE, Wait::Grace(job.attempt), hands),
                Action::Finish => self.finish(job, hands),
            }
        }
    }

    /// All ranks are closed: wipes what is left, then tells everybody.
    fn finish(&mut self, job: &mut Job, hands: &mut Hands) {
        let id = job.attempt;
        if job.is_well() {
            let ranks = job.progress.ranks().len();
            self.outbox.done(hands.now, id, job.set.clone(), ranks);
        }
        if job.is_well() || job.set.is_empty() {
            return self.finished(job, hands);
        }
        // After a failure some of them may run.
        let forget = Order::Forget { jobs: vec![id] };
        self.outbox.push(job.set.clone(), forget, Some(Then::Wiped(id)));
        self.later(WIPE, Wait::Wipe(id), hands);
    }

    fn wiped(&mut self, id: u32, is_meant: impl Fn(&Job) -> bool, hands: &mut Hands) {
        if let Some(mut job) = self.jobs.remove(&id) {
            if is_meant(&job) {
                self.finished(&mut job, hands);
            }
            self.jobs.insert(id, job);
        }
    }

    /// Nothing of an attempt runs any more: its client is told, unless another one follows.
    fn finished(&mut self, job: &mut Job, hands: &mut Hands) {
        if std::mem::replace(&mut job.is_over, true) {
            return;
        }
        if job.progress.cleared().is_some() {
            self.last += 1;
            return self.begin(job.another(self.last), hands);
        }
        job.times.ended = Some(hands.now);
        job.tell(hands);
    }

    fn later(&mut self, time: Duration, wait: Wait, hands: &mut Hands) {
        let token = hands.after(time);
        self.waits.insert(token, wait);
    }

    /// A letter has come: it is read when those before it are.
    pub fn delivered(&mut self, letter: Payload, hands: &mut Hands) {
        let token = hands.work(self.prices.report);
        self.waits.insert(token, Wait::Letter(letter));
    }

    fn told(&mut self, report: Report, hands: &mut Hands) {
        if let (true, Some(node)) = (report.said.is_empty(), id_of(&report.node)) {
            self.joins(node, report.instance, hands);
        }
        for said in report.said {
            self.heard(report.instance, said, hands);
        }
    }

    /// A node joins. One that was lost and comes back as the same daemon is made to forget all that
    /// it ran before it is taken in.
    fn joins(&mut self, node: NodeId, instance: u64, hands: &mut Hands) {
        if self.is_there(node, instance) {
            return;
        }
        if !self.coming.comes(&node, instance) {
            // It asks again.
            return self.later(AGAIN, Wait::Join(node, instance), hands);
        }
        if !self.nodes.entry(node).or_default().is_lost(instance) {
            return hands.told.push_back(Tell::Connect(node, instance));
        }
        self.give_up(node, hands);
        let (jobs, expected, only) = (Vec::new(), Vec::new(), Some(instance));
        let order = Order::Keep { last: self.last, jobs, expected, only };
        self.outbox.push(Nodes::one(node), order, Some(Then::Link(node, instance)));
        self.post(hands);
    }

    /// There is a connection to it, or cannot be.
    pub fn connected(&mut self, node: NodeId, instance: u64, is_there: bool, hands: &mut Hands) {
        let is_meant = self.coming.is(&node, instance);
        self.coming.over(&node, instance);
        if !is_there || !is_meant {
            return;
        }
        self.lines += 1;
        let joined = self.nodes.entry(node).or_default().joined(Line(self.lines, instance));
        let Some((lost, why)) = joined else { return };
        lost.into_iter().for_each(|line| self.lose_ranks(node, line, &why, hands));
    }

    /// A rank has said something. Before the job counts as started it is kept for then.
    fn heard(&mut self, instance: u64, said: Said, hands: &mut Hands) {
        let Some(job) = self.jobs.get_mut(&said.job) else { return };
        let (id, rank) = (job.attempt, said.rank);
        if job.progress.phase() == Phase::Starting {
            job.early.push((instance, said));
            let is_asked = |wait: &Wait| matches!(wait, Wait::Ask(of, _) if *of == id);
            if job.is_answered() && self.waits.values().any(is_asked) {
                self.waits.retain(|_, wait| !is_asked(wait));
                job.waits = false;
            }
            return self.go_on(id, hands);
        }
        if matches!(said.what, What::Lacks { .. }) {
            // Nobody gives it any more.
            return self.progressed(id, hands, |job| match job.progress.ranks().get(rank) {
                Some(one) if !job.has_files && !job.progress.is_closed(rank) => {
                    let why = format!("{} has dropped parts of the job's files  [E205]", one.node);
                    job.progress.rank_failed(rank, 125, &why)
                }
                _ => Vec::new(),
            });
        }
        if job.instances.get(rank) != Some(&instance) || !job.claim(rank) {
            return;
        }
        self.progressed(id, hands, |job| match said.what {
            What::Failed { why } => job.progress.rank_failed(rank, exit_in(&why), &why),
            What::Ended { status, .. } => {
                let mut actions = job.progress.rank_exited(rank, status);
                actions.extend(job.progress.rank_closed(rank));
                actions
            }
            What::Follow { .. } | What::Lacks { .. } | What::Unpacks => Vec::new(),
        });
    }

    /// The connection to a node has closed: it is waited for what became of its daemon.
    pub fn lost(&mut self, node: NodeId, hands: &mut Hands) {
        let Some(presence) = self.nodes.get_mut(&node) else { return };
        let Some(line) = presence.link else { return };
        let Some(Closed { is_known, .. }) = presence.closed(&line, hands.now) else { return };
        if is_known {
            self.give_up(node, hands);
        }
        self.later(EVIDENCE, Wait::Evidence(node, line), hands);
    }

    /// A start of a daemon has ended: its connection closes, and whoever keeps it may tell that.
    pub fn died(&mut self, node: NodeId, instance: u64, is_told: bool, hands: &mut Hands) {
        let presence = self.nodes.entry(node).or_default();
        if is_told && presence.told("was killed by signal 9", hands.now) {
            self.give_up(node, hands);
        }
        if self.is_there(node, instance) {
            self.lost(node, hands);
        }
    }

    /// Calls the ranks of a node that is down lost.
    fn give_up(&mut self, node: NodeId, hands: &mut Hands) {
        if let Some((line, why)) = self.nodes.entry(node).or_default().give_up() {
            self.lose_ranks(node, line, &why, hands);
        }
    }

    /// Tells those of some nodes to join that were lost by their connections alone.
    fn call_back(&mut self, nodes: &Nodes) {
        let known = self.nodes.iter().filter(|(node, _)| nodes.contains(**node));
        let lost = known.filter_map(|(node, presence)| Some((*node, presence.calls_back()?)));
        for (node, instance) in lost.collect::<Vec<_>>() {
            self.outbox.push(Nodes::one(node), Order::Join { instance }, None);
        }
    }

    fn lose_ranks(&mut self, node: NodeId, line: Line, why: &str, hands: &mut Hands) {
        let open = self.jobs.values().filter(|job| job.progress.phase() != Phase::Done);
        for id in open.map(|job| job.attempt).collect::<Vec<_>>() {
            self.progressed(id, hands, |job| {
                let ranks: Vec<usize> = job.open_ranks(&name_of(node), line.instance());
                let lose = |rank: usize| {
                    job.claim(rank);
                    job.progress.rank_lost(rank, why)
                };
                ranks.into_iter().flat_map(lose).collect()
            });
        }
    }

    /// Who comes in may have missed orders: it is told which jobs there still are.
    pub fn epoch(&mut self, members: Nodes, joined: &Nodes, hands: &mut Hands) {
        let new = |node: &NodeId| !self.members.contains(*node) || joined.contains(*node);
        let new: Nodes = members.iter().filter(new).collect();
        self.members = members;
        self.call_back(&new);
        if self.last > 0 && !new.is_empty() {
            self.tell_jobs(new);
        }
        self.hear_again();
        let heard = Time(hands.now.0.saturating_sub(LEASE.as_nanos() as u64));
        for (node, presence) in &mut self.nodes {
            presence.heard(self.members.contains(*node), heard, hands.now);
        }
        self.post(hands);
    }

    fn tell_jobs(&mut self, new: Nodes) {
        let open = || self.jobs.values().filter(|job| job.progress.phase() != Phase::Done);
        let expected = open().flat_map(|job| unheard(job, &new)).collect();
        let jobs = open().map(|job| job.attempt).collect();
        let keep = Order::Keep { last: self.last, jobs, expected, only: None };
        self.outbox.push(new, keep, None);
    }

    /// Has nodes say again how ranks have ended of which nobody has heard.
    fn hear_again(&mut self) {
        let open = self.jobs.values().filter(|job| job.progress.phase() != Phase::Done);
        let unheard = open.map(|job| (job.attempt, job.unheard_at()));
        let (jobs, nodes): (Vec<u32>, Vec<Nodes>) =
            unheard.filter(|(_, nodes)| !nodes.is_empty()).unzip();
        let nodes: Nodes = nodes.iter().flat_map(Nodes::iter).collect();
        if !nodes.is_empty() {
            self.outbox.push(nodes, Order::Again { jobs }, None);
        }
    }

    /// Who waits to send files may do so now.
    fn room(&mut self, hands: &mut Hands) {
        let waiting = self.jobs.values_mut().filter(|job| job.turn.is_some());
        let waiting: Vec<u32> = waiting.map(|job| job.attempt).collect();
        waiting.into_iter().for_each(|id| self.go_on(id, hands));
    }

    /// Sends orders that no launch waits for, one after the other.
    fn post(&mut self, hands: &mut Hands) {
        while self.sending.is_none() {
            self.sending = self.outbox.next(hands.now);
            if self.sending.is_none() {
                if let (Some(due), false) = (self.outbox.due(), self.is_due) {
                    self.is_due = true;
                    self.later(due - hands.now, Wait::Forget, hands);
                }
                return;
            }
            if !self.send_mail(hands) {
                self.settle(hands);
            }
        }
    }

    /// Sends the order to those who are there; false if that is nobody.
    fn send_mail(&mut self, hands: &mut Hands) -> bool {
        let Some(Sending { to, order, .. }) = &self.sending else { return false };
        let there: Nodes = to.iter().filter(|node| self.members.contains(*node)).collect();
        if there.is_empty() {
            return false;
        }
        let ticket = hands.send(there, order.letter().into());
        self.waits.insert(ticket, Wait::Mail);
        self.later(outbox::PATIENCE, Wait::MailLate(ticket), hands);
        true
    }

    fn mail_again(&mut self, hands: &mut Hands) {
        if !self.send_mail(hands) {
            self.settle(hands);
        }
    }

    /// The order has taken its time: if it has not arrived by now, it has failed.
    fn mail_late(&mut self, ticket: u64, hands: &mut Hands) {
        if self.waits.remove(&ticket).is_some() {
            self.mail_failed(false, hands);
        }
    }

    fn mail_failed(&mut self, is_refused: bool, hands: &mut Hands) {
        let Some(sending) = &mut self.sending else { return };
        match sending.failed(hands.now, is_refused) {
            Some(pause) => self.later(pause, Wait::MailAgain, hands),
            None => self.settle(hands),
        }
    }

    /// The order has arrived, or cannot: what is to be done then. The next one is sent.
    fn settle(&mut self, hands: &mut Hands) {
        match self.sending.take().and_then(|sending| sending.then) {
            Some(Then::Wiped(id)) => self.wiped(id, |_| true, hands),
            Some(Then::Link(node, instance)) => {
                hands.told.push_back(Tell::Connect(node, instance));
            }
            None => {}
        }
        self.post(hands);
    }
}

/// Ranks on these nodes that have their order by now, and of which nobody has heard.
fn unheard(job: &Job, nodes: &Nodes) -> Vec<(String, u32, Rank)> {
    if job.progress.phase() == Phase::Starting || job.times.started.is_none() {
        return Vec::new();
    }
    let ranks = job.progress.ranks().iter().filter(|rank| !job.claimed[rank.rank]);
    let there = ranks.filter(|rank| id_of(&rank.node).is_some_and(|node| nodes.contains(node)));
    let each = there.map(|rank| {
        let (number, local) = (rank.rank, rank.local);
        let session = session_of(job.attempt, local);
        (rank.node.clone(), job.attempt, Rank { rank: number, local, session })
    });
    each.collect()
}

fn gone(node: NodeId) -> String {
    format!("{} has left the cluster", name_of(node))
}

pub(super) fn not_landed(landing: Landing) -> String {
    match landing {
        Ok(Outcome::NotMember(node)) => gone(node),
        Ok(outcome) => format!("{outcome:?}"),
        Err(why) => why.to_string(),
    }
}
