//! The manager's part of launches: what `launch.rs`, `pieces.rs`, `report.rs`, `mail.rs`,
//! `epochs.rs` and `again.rs` of `machine/src/manager/` do, over the same `Progress`, `Flow` and
//! `Holdings`. A launch is a row of steps ([`super::job`]), where the manager's thread waits for
//! each.

use super::daemon::{Hands, Landing, Tell};
use super::job::{Failed, Job, Step};
use super::{Prices, Wish};
use muster_fabric::primitive::{Nodes, Outcome};
use muster_fabric::protocol::{NodeId, Payload};
use muster_machine::launch::{Order, Rank, Report, Said, What, exit_in, session_of};
use muster_machine::manager::holdings::Holdings;
use muster_machine::manager::progress::{Action, PAUSE};
use muster_machine::manager::spec::Phase;
use muster_machine::memory::{STROBE, id_of, name_of};
use muster_machine::slots::Slots;
use muster_machine::strober::Table;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

/// How long nodes may keep what is left of jobs that are done.
const FORGET: Duration = Duration::from_millis(100);

/// The pause before an order is sent once more that nobody waits for, and how often that is tried.
const AGAIN: (Duration, u32) = (Duration::from_millis(20), 20);

/// How often a question is asked: for a minute.
const TIMES: usize = 12_000;

/// How long ranks have to end when they are told to, and how long what was killed has.
const GRACE: Duration = Duration::from_secs(5);
const DRAIN: Duration = Duration::from_secs(10);

/// How long wiping what is left of a job may take, unless it is to begin again.
const WIPE: Duration = Duration::from_secs(2);

/// The pause before it is asked once more whether all have a table of slots.
const LOOK: Duration = Duration::from_micros(300);

/// What is waited for.
pub(super) enum Wait {
    /// A step of a job's launch.
    Step(u32),
    /// The answer of a question, and how often it was asked.
    Answer(u32, usize),
    /// It is asked again.
    Ask(u32, usize),
    /// Bytes of a job are on their way.
    Flying(u32),
    /// A letter is read.
    Letter(Payload),
    /// An order that nobody waits for.
    Mail,
    /// It is sent again.
    MailAgain,
    /// What is done is to be forgotten.
    Forget,
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
    Nothing,
    /// Nothing is left of an attempt.
    Wiped(u32),
    /// A node that was lost, and has forgotten what it ran, is taken in again.
    Link(NodeId, u64),
}

/// Orders that no launch waits for, one after the other.
#[derive(Default)]
struct Mail {
    orders: VecDeque<(Nodes, Order, Then)>,
    tries: u32,
    done: Vec<(u32, Nodes)>,
    is_due: bool,
}

/// The manager.
pub(super) struct Manager {
    pub prices: Prices,
    pub members: Nodes,
    /// Which start of a node's daemon has a connection to us.
    pub links: BTreeMap<NodeId, u64>,
    /// Which start had the last connection that has ended.
    lost: BTreeMap<NodeId, u64>,
    pub holdings: Holdings,
    pub waits: HashMap<u64, Wait>,
    /// By what letters call them.
    jobs: BTreeMap<u32, Job>,
    /// The last number of a job or an attempt.
    last: u32,
    mail: Mail,
}

impl Manager {
    /// The manager of a cluster, all of whose nodes are there.
    pub fn new(prices: Prices, members: Nodes) -> Manager {
        let links = members.iter().skip(1).map(|node| (node, super::instance(0))).collect();
        Manager {
            prices,
            members,
            links,
            lost: BTreeMap::new(),
            holdings: Holdings::default(),
            waits: HashMap::new(),
            jobs: BTreeMap::new(),
            last: 0,
            mail: Mail::default(),
        }
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
        let ticket = hands.send(self.nodes(), Order::Strobe(table).letter().into());
        self.waits.insert(ticket, Wait::Table);
    }

    fn ask_strobers(&mut self, hands: &mut Hands) {
        let ticket = hands.ask(self.nodes(), STROBE, 1 << 32 | 1);
        self.waits.insert(ticket, Wait::Strobed);
    }

    fn nodes(&self) -> Nodes {
        self.links.keys().copied().collect()
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
            true => self.ordered(job, hands),
            false => drop(self.jobs.insert(id, job)),
        }
        self.post(hands);
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
        let has_lost = |(node, instance): (NodeId, &u64)| self.links.get(&node) != Some(instance);
        let is_lost = is_lost || job.set.iter().zip(&job.instances).any(has_lost);
        let actions = job.start_failed(failed, is_lost && job.may_begin_again());
        self.act(job, actions, hands);
        // Something of it may have been on its way when its nodes were told to forget it.
        if job.progress.phase() == Phase::Done && !job.set.is_empty() {
            let forget = Order::Forget { jobs: vec![job.attempt] };
            self.mail.orders.push_back((job.set.clone(), forget, Then::Nothing));
        }
    }

    pub fn landed(&mut self, ticket: u64, landing: Landing, hands: &mut Hands) {
        let is_done = landing == Some(Outcome::Committed);
        match self.waits.remove(&ticket) {
            Some(Wait::Step(id)) => {
                let Some(mut job) = self.jobs.remove(&id) else { return };
                job.waits = false;
                if is_done {
                    self.ordered(job, hands);
                } else {
                    let is_lost = matches!(landing, Some(Outcome::NotMember(_)));
                    let why = not_landed(landing);
                    let text = format!("the order to launch has not arrived: {why}  [E306]");
                    self.start_failed(&mut job, (None, text), is_lost, hands);
                    self.keep(job, hands);
                }
                self.go_on(id, hands);
            }
            Some(Wait::Answer(id, times)) => {
                let Some(job) = self.jobs.get_mut(&id) else { return };
                if landing == Some(Outcome::Committed) {
                    (job.waits, job.is_reached) = (false, true);
                    return self.go_on(id, hands);
                }
                let broken = match landing {
                    Some(Outcome::NotMember(node)) => Some(gone(node)),
                    _ if times == TIMES => Some("the nodes do not unpack them".to_owned()),
                    _ => None,
                };
                if let Some(why) = broken {
                    (job.waits, job.broken) = (false, Some(super::job::not_sent(&why)));
                    return self.go_on(id, hands);
                }
                let pause = job.pause(times);
                self.later(pause, Wait::Ask(id, times + 1), hands);
            }
            Some(Wait::Flying(id)) => {
                let Some(job) = self.jobs.get_mut(&id) else { return };
                job.flying -= 1;
                if !is_done {
                    job.broken = Some(super::job::not_sent(&not_landed(landing)));
                }
                self.go_on(id, hands);
            }
            Some(Wait::Mail) => self.mailed(is_done, hands),
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
            Some(Wait::MailAgain) => self.send_mail(hands),
            Some(Wait::StrobedYet) => self.ask_strobers(hands),
            Some(Wait::Forget) => {
                let done = std::mem::take(&mut self.mail.done);
                self.mail.is_due = false;
                let to: Nodes = done.iter().flat_map(|(_, nodes)| nodes.iter()).collect();
                let jobs = done.into_iter().map(|(job, _)| job).collect();
                self.mail.orders.push_back((to, Order::Forget { jobs }, Then::Nothing));
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
                    self.mail.orders.push_back((nodes, order, Then::Nothing));
                }
                Action::EndAll => {
                    let order = Order::End { job: job.attempt };
                    self.mail.orders.push_back((nodes, order, Then::Nothing));
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
            self.mail.done.push((id, job.set.clone()));
            if !std::mem::replace(&mut self.mail.is_due, true) {
                self.later(FORGET, Wait::Forget, hands);
            }
        }
        if job.is_well() || job.set.is_empty() {
            return self.finished(job, hands);
        }
        // After a failure some of them may run.
        let forget = Order::Forget { jobs: vec![id] };
        self.mail.orders.push_back((job.set.clone(), forget, Then::Wiped(id)));
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
        if self.lost.get(&node) == Some(&instance) && !self.links.contains_key(&node) {
            let order = Order::Keep { last: self.last, jobs: Vec::new(), expected: Vec::new() };
            self.mail.orders.push_back((Nodes::one(node), order, Then::Link(node, instance)));
            return self.post(hands);
        }
        if self.links.insert(node, instance).is_some_and(|one| one != instance) {
            self.lose_ranks(node, hands);
        }
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

    /// The connection to a node has ended: so have the ranks there.
    pub fn lost(&mut self, node: NodeId, hands: &mut Hands) {
        if let Some(instance) = self.links.remove(&node) {
            self.lost.insert(node, instance);
            self.lose_ranks(node, hands);
        }
    }

    fn lose_ranks(&mut self, node: NodeId, hands: &mut Hands) {
        let (name, why) = (name_of(node), gone(node));
        let open = self.jobs.values().filter(|job| job.progress.phase() != Phase::Done);
        for id in open.map(|job| job.attempt).collect::<Vec<_>>() {
            self.progressed(id, hands, |job| {
                let ranks: Vec<usize> = job.open_ranks(&name);
                let lose = |rank: usize| {
                    job.claim(rank);
                    job.progress.rank_lost(rank, &why)
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
        if self.last == 0 {
            return;
        }
        if !new.is_empty() {
            self.tell_jobs(new);
        }
        self.hear_again();
        self.post(hands);
    }

    fn tell_jobs(&mut self, new: Nodes) {
        let open = || self.jobs.values().filter(|job| job.progress.phase() != Phase::Done);
        let expected = open().flat_map(|job| unheard(job, &new)).collect();
        let jobs = open().map(|job| job.attempt).collect();
        let keep = Order::Keep { last: self.last, jobs, expected };
        self.mail.orders.push_back((new, keep, Then::Nothing));
    }

    /// Has nodes say again how ranks have ended of which nobody has heard.
    fn hear_again(&mut self) {
        let open = self.jobs.values().filter(|job| job.progress.phase() != Phase::Done);
        let unheard = open.map(|job| (job.attempt, job.unheard_at()));
        let (jobs, nodes): (Vec<u32>, Vec<Nodes>) =
            unheard.filter(|(_, nodes)| !nodes.is_empty()).unzip();
        let nodes: Nodes = nodes.iter().flat_map(Nodes::iter).collect();
        if !nodes.is_empty() {
            self.mail.orders.push_back((nodes, Order::Again { jobs }, Then::Nothing));
        }
    }

    /// Sends the next order that no launch waits for, if none is on its way.
    fn post(&mut self, hands: &mut Hands) {
        if self.mail.tries == 0 && !self.mail.orders.is_empty() {
            self.send_mail(hands);
        }
    }

    fn send_mail(&mut self, hands: &mut Hands) {
        while let Some((to, order, _)) = self.mail.orders.front() {
            let there: Nodes = to.iter().filter(|node| self.members.contains(*node)).collect();
            if !there.is_empty() && self.mail.tries < AGAIN.1 {
                self.mail.tries += 1;
                let ticket = hands.send(there, order.letter().into());
                self.waits.insert(ticket, Wait::Mail);
                return;
            }
            self.settle(false, hands);
            if self.mail.tries > 0 {
                return;
            }
        }
    }

    fn mailed(&mut self, is_done: bool, hands: &mut Hands) {
        if is_done {
            self.settle(true, hands);
            return self.post(hands);
        }
        self.later(AGAIN.0, Wait::MailAgain, hands);
    }

    /// The first order has arrived, or cannot: what is to be done then. That may send the next.
    fn settle(&mut self, has_arrived: bool, hands: &mut Hands) {
        self.mail.tries = 0;
        match self.mail.orders.pop_front() {
            Some((_, _, Then::Wiped(id))) => self.wiped(id, |_| true, hands),
            Some((_, _, Then::Link(node, instance))) if has_arrived => {
                self.links.entry(node).or_insert(instance);
            }
            // It joins once more.
            Some((_, _, Then::Link(..) | Then::Nothing)) | None => {}
        }
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
        Some(Outcome::NotMember(node)) => gone(node),
        Some(outcome) => format!("{outcome:?}"),
        None => "it was not taken".to_owned(),
    }
}
