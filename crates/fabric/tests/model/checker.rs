//! What may happen in a state, and what must hold in all of them.

use super::cluster::{Ask, BEAT, Cluster, Health, LOCAL, REMOTE, Saw, Setting};
use muster_fabric::primitive::Outcome;
use muster_fabric::protocol::{NodeId, Time};
use stateright::{Model, Property};
use std::collections::{BTreeMap, BTreeSet};

/// What may happen.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The next message from one node to another arrives.
    Deliver(u32, u32),
    /// It arrives, and will arrive once more.
    Duplicate(u32, u32),
    /// The one behind it arrives first.
    Swap(u32, u32),
    /// It is lost.
    Lose(u32, u32),
    /// A node's timer, which was due while it was paused, or is at its beginning.
    Tick(u32),
    /// Nothing is under way: time passes until the next timers.
    Pass,
    /// So it does though messages are under way, which have left their senders or not.
    Delay(bool),
    /// A node dies; what it had sent arrives.
    Crash(u32),
    /// A node dies, and with it what it had sent.
    Vanish(u32),
    /// It starts again.
    Restart(u32),
    /// The master is told that a node is dead: it is, or it is falsely suspected.
    Accuse(u32),
    /// A node stops.
    Pause(u32),
    /// It goes on, after some time or none.
    Wake(u32),
    /// Nothing reaches a node, and nothing comes from it.
    Cut(u32),
    /// Messages reach it again.
    Heal(u32),
    /// Nothing comes from one node to another any more.
    Block(u32, u32),
}

impl Model for Setting {
    type State = Cluster;
    type Action = Action;

    fn init_states(&self) -> Vec<Cluster> {
        vec![Cluster::new(self)]
    }

    fn actions(&self, state: &Cluster, actions: &mut Vec<Action>) {
        let budget = &state.budget;
        let health = |node: u32| state.nodes[node as usize].health;
        for (&(from, to), channel) in &state.channels {
            if health(to) == Health::Paused {
                continue;
            }
            actions.push(Action::Deliver(from, to));
            if budget.duplicates > 0 {
                actions.push(Action::Duplicate(from, to));
            }
            if budget.losses > 0 {
                actions.push(Action::Lose(from, to));
            }
            if budget.swaps > 0 && channel.len() > 1 {
                actions.push(Action::Swap(from, to));
            }
        }
        // What is under way to a paused node waits for it.
        let is_quiet = state.channels.keys().all(|(_, to)| health(*to) == Health::Paused);
        if state.now < self.beats * BEAT {
            if is_quiet {
                actions.push(Action::Pass);
            } else if budget.delays > 0 {
                actions.extend([Action::Delay(false), Action::Delay(true)]);
            }
        }
        for node in 0..self.nodes {
            if !is_quiet && state.is_due(node) {
                actions.push(Action::Tick(node));
            }
            self.faults(state, node, actions);
        }
    }

    fn next_state(&self, state: &Cluster, action: Action) -> Option<Cluster> {
        let mut next = state.clone();
        match action {
            Action::Deliver(from, to) => {
                self.seen.note(to, &next.channels[&(from, to)][0]);
                next.deliver(self, from, to, 0);
            }
            Action::Duplicate(from, to) => {
                next.budget.duplicates -= 1;
                let out = next.channels[&(from, to)][0].clone();
                next.receive(self, from, &out);
            }
            Action::Swap(from, to) => {
                next.budget.swaps -= 1;
                next.deliver(self, from, to, 1);
            }
            Action::Lose(from, to) => {
                next.budget.losses -= 1;
                next.take(from, to, 0);
            }
            Action::Tick(node) => next.tick(self, node, &[]),
            Action::Pass => next.pass(self, false),
            Action::Delay(waits) => {
                next.budget.delays -= 1;
                next.pass(self, waits);
            }
            Action::Crash(node) => next.crash(self, node, false),
            Action::Vanish(node) => next.crash(self, node, true),
            Action::Restart(0) => {
                next.budget.master_restarts -= 1;
                next.restart(self, 0);
            }
            Action::Restart(node) => {
                next.budget.restarts -= 1;
                next.restart(self, node);
            }
            Action::Accuse(node) => {
                if state.nodes[node as usize].health != Health::Dead {
                    next.budget.suspicions -= 1;
                    let at = Some(state.nodes[0].core.epoch().0);
                    next.change(self, node, |node, _| node.suspected = at);
                }
                next.accuse(self, node);
            }
            Action::Pause(node) => {
                next.budget.pauses -= 1;
                next.change(self, node, |node, _| node.health = Health::Paused);
            }
            Action::Cut(node) => {
                next.budget.cuts -= 1;
                next.sever(node);
                next.change(self, node, |node, _| node.health = Health::Cut);
            }
            Action::Wake(node) | Action::Heal(node) => {
                next.change(self, node, |node, _| node.health = Health::Well);
            }
            Action::Block(from, to) => {
                next.budget.blocks -= 1;
                next.channels.remove(&(from, to));
                next.blocked.insert((from, to));
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Setting>> {
        vec![
            Property::always("atomicity", atomicity),
            Property::always("agreement", |_, state| agreement(state)),
            Property::always("sequential consistency", |setting, state| {
                consistency(setting, state)
            }),
            Property::always("nobody delivers without a lease", |_, state: &Cluster| {
                state.nodes.iter().all(|node| !node.is_late)
            }),
            Property::always("the master goes on without nobody who answers", |_, state| {
                leases(state)
            }),
            Property::always("an event is seen with its delivery", |setting, state: &Cluster| {
                living(state).all(|(at, node)| events(setting, state.clock(at), node))
            }),
            Property::always("no message is malformed", |_, state: &Cluster| {
                state.nodes.iter().all(|node| !node.is_confused)
            }),
            Property::always("progress", progress),
        ]
    }
}

impl Setting {
    fn faults(&self, state: &Cluster, node: u32, actions: &mut Vec<Action>) {
        let budget = &state.budget;
        let master_well = state.nodes[0].health == Health::Well;
        let is_member = state.nodes[0].core.epoch().1.contains(NodeId(node));
        let accusable = node != 0 && master_well && is_member;
        let may_be_suspected = accusable && budget.suspicions > 0;
        match state.nodes[node as usize].health {
            Health::Well => {
                let crashes = if node == 0 { budget.master_restarts } else { budget.crashes };
                if crashes > 0 {
                    actions.extend([Action::Crash(node), Action::Vanish(node)]);
                }
                if node != 0 && budget.pauses > 0 {
                    actions.push(Action::Pause(node));
                }
                if node != 0 && budget.cuts > 0 {
                    actions.push(Action::Cut(node));
                }
                if may_be_suspected {
                    actions.push(Action::Accuse(node));
                }
                if node != 0 && budget.blocks > 0 {
                    let others = (1..self.nodes).filter(|other| *other != node);
                    actions.extend(others.map(|other| Action::Block(node, other)));
                }
            }
            Health::Dead => {
                if node == 0 || budget.restarts > 0 {
                    actions.push(Action::Restart(node));
                }
                if accusable {
                    actions.push(Action::Accuse(node));
                }
            }
            health => {
                actions.push(match health {
                    Health::Paused => Action::Wake(node),
                    _ => Action::Heal(node),
                });
                if may_be_suspected {
                    actions.push(Action::Accuse(node));
                }
            }
        }
    }
}

impl Cluster {
    fn crash(&mut self, setting: &Setting, node: u32, with_messages: bool) {
        if node != 0 {
            self.budget.crashes -= 1;
        }
        match with_messages {
            true => self.sever(node),
            false => self.channels.retain(|(_, to), _| *to != node),
        }
        self.change(setting, node, |node, _| {
            node.health = Health::Dead;
            node.is_broken = true;
            node.log.clear();
            node.ended.clear();
            node.told.clear();
        });
    }
}

/// The nodes whose users can compare what they saw.
fn living(state: &Cluster) -> impl Iterator<Item = (u32, &super::cluster::Node)> {
    let nodes = (0..).zip(state.nodes.iter().map(|node| &**node));
    nodes.filter(|(_, node)| node.health != Health::Dead)
}

/// Those of them that are members, as far as can be known: a node that was removed learns it later,
/// and its user then has to fetch what it missed.
fn current(state: &Cluster) -> impl Iterator<Item = (u32, &super::cluster::Node)> {
    let last = living(state).map(|(_, node)| node.core.epoch().0).max();
    living(state).filter(move |(_, node)| !node.is_broken && Some(node.core.epoch().0) == last)
}

/// What an operation leaves at the nodes of its set.
fn trace(setting: &Setting, ticket: u64) -> Option<(u32, u32, Saw)> {
    let (origin, ask) = setting.asks[ticket as usize];
    match ask {
        Ask::Put(first, last) => Some((first, last, Saw::Delivered(origin, ticket))),
        Ask::Win(first, last, value) => Some((first, last, Saw::Wrote(0, value))),
        Ask::Query(..) | Ask::Tell => None,
    }
}

fn has(node: &super::cluster::Node, saw: Saw) -> bool {
    node.log.iter().any(|(_, seen)| *seen == saw)
}

/// What was said to have failed was done nowhere, what was done was done once.
fn atomicity(setting: &Setting, state: &Cluster) -> bool {
    let failed = |outcome| !matches!(outcome, Outcome::Committed | Outcome::Unknown);
    current(state).all(|(_, node)| {
        let once = (0..node.log.len())
            .all(|at| node.log[..at].iter().all(|(_, earlier)| *earlier != node.log[at].1));
        let ended = node.ended.iter().filter(|(_, _, outcome)| failed(*outcome));
        once && ended
            .filter_map(|(ticket, ..)| trace(setting, *ticket))
            .all(|(.., saw)| current(state).all(|(_, other)| !has(other, saw)))
    })
}

/// All nodes see operations in the order of their numbers, and give them the same numbers.
fn agreement(state: &Cluster) -> bool {
    let mut numbers = BTreeMap::new();
    living(state).all(|(_, node)| {
        let rising = node.log.windows(2).all(|two| two[0].0 < two[1].0);
        rising && node.log.iter().all(|(seq, saw)| numbers.entry(*seq).or_insert(*saw) == saw)
    })
}

/// One after the other in the order of their numbers, comparisons give the answers that they gave;
/// and an origin's operations have numbers in the order in which it asked.
fn consistency(setting: &Setting, state: &Cluster) -> bool {
    // What is known of each number: what was written, and what comparisons answered.
    let mut order: BTreeMap<u64, (Option<u64>, Option<bool>)> = BTreeMap::new();
    for (_, node) in current(state) {
        for (seq, saw) in &node.log {
            if let Saw::Wrote(_, value) = saw {
                order.entry(*seq).or_default().0 = Some(*value);
            }
        }
        let mut last = 0;
        for (ticket, seq, outcome) in &node.ended {
            let (Some(seq), true) =
                (*seq, matches!(outcome, Outcome::Committed | Outcome::NotHeld))
            else {
                continue;
            };
            if seq <= last {
                return false;
            }
            last = seq;
            let committed = *outcome == Outcome::Committed;
            match setting.asks[*ticket as usize].1 {
                Ask::Put(..) | Ask::Tell => {}
                Ask::Win(_, _, value) => {
                    order.entry(seq).or_default().0 = committed.then_some(value);
                    order.entry(seq).or_default().1 = Some(committed);
                }
                Ask::Query(..) => order.entry(seq).or_default().1 = Some(committed),
            }
        }
    }
    let mut variable = 0;
    order.into_values().all(|(wrote, answer)| {
        let right = answer.is_none_or(|answer| answer == (variable == 0));
        // Only comparisons that hold write.
        let may = wrote.is_none() || variable == 0;
        variable = wrote.unwrap_or(variable);
        right && may
    })
}

/// A lease is for this: whom the master goes on without answers nothing any more. But for those of
/// whom it was told that they are dead: it does not wait for their leases.
fn leases(state: &Cluster) -> bool {
    let master = &state.nodes[0];
    if master.health != Health::Well || state.is_collecting() {
        return true;
    }
    let members = master.core.epoch().1;
    let mut others = living(state).filter(|(at, _)| !members.contains(NodeId(*at)));
    others.all(|(at, node)| node.suspected.is_some() || !node.core.is_current(state.clock(at)))
}

/// TEST-EVENT, asked in every state: a node sees an event as often as it was delivered what signals
/// it, not before and not less; its own when what it asked for has ended well. Without a lease it
/// sees nothing.
fn events(setting: &Setting, now: Time, node: &super::cluster::Node) -> bool {
    let delivered = node.log.iter().filter(|(_, saw)| matches!(saw, Saw::Delivered(..))).count();
    let put = |ticket: u64| matches!(setting.asks[ticket as usize].1, Ask::Put(..));
    let is_done = |outcome| outcome == Outcome::Committed;
    let ended = node.ended.iter().filter(|(ticket, _, outcome)| put(*ticket) && is_done(*outcome));
    let counts = [(REMOTE, delivered), (LOCAL, ended.count())];
    let expected = |count| node.core.is_current(now).then_some(count as u64);
    counts.into_iter().all(|(event, count)| node.core.event(now, event) == expected(count))
}

/// Within this all is over after the last fault: removal, joining again, or being taken for apart.
const PATIENCE: u64 = 40 * BEAT;

/// Where nothing is under way: if no more faults happen, everything ends, and well.
fn progress(setting: &Setting, state: &Cluster) -> bool {
    if !state.channels.is_empty() {
        return true;
    }
    let mut state = state.clone();
    for node in 0..setting.nodes {
        match state.nodes[node as usize].health {
            Health::Well => {}
            Health::Paused | Health::Cut => {
                state.change(setting, node, |node, _| node.health = Health::Well);
            }
            Health::Dead if node == 0 => state.restart(setting, 0),
            Health::Dead => {}
        }
    }
    let until = state.now + PATIENCE;
    while state.now < until && !is_finished(setting, &state) {
        state.pass(setting, false);
        state.drain(setting);
    }
    is_finished(setting, &state)
        && leases(&state)
        && atomicity(setting, &state)
        && agreement(&state)
        && consistency(setting, &state)
}

/// All is over: the master knows of nothing that is not done, every operation has ended at its
/// origin, all living are members, what is done is done at all nodes of its set that were members
/// throughout, or at none, and all nodes of a set have the same variable, those that have joined
/// again too.
fn is_finished(setting: &Setting, state: &Cluster) -> bool {
    let (epoch, members) = state.nodes[0].core.epoch();
    let members: Vec<u32> = members.iter().map(|node| node.0).collect();
    if members != living(state).map(|(at, _)| at).collect::<Vec<_>>() {
        return false;
    }
    if living(state).any(|(_, node)| node.core.epoch().0 != epoch) {
        return false;
    }
    if state.nodes[0].core.under_way() > 0 {
        return false;
    }
    // What is told may die with a member, or with the master.
    let has_lost = living(state).count() < state.nodes.len() || state.terms > 1;
    let has_lost = has_lost || living(state).any(|(_, node)| node.is_broken);
    (0..).zip(&setting.asks).all(|(ticket, (origin, ask))| {
        if matches!(ask, Ask::Tell) {
            return has_lost || state.nodes[0].told.contains(&ticket);
        }
        let node = &state.nodes[*origin as usize];
        let ended = node.ended.iter().find(|(ended, ..)| *ended == ticket);
        if ended.is_none() && !node.is_broken {
            return false;
        }
        let Some((first, last, saw)) = trace(setting, ticket) else { return true };
        let variables: BTreeSet<_> = living(state)
            .filter(|(at, _)| (first..=last).contains(at))
            .map(|(at, node)| node.core.variable(state.clock(at), 0))
            .collect();
        if variables.len() > 1 {
            return false;
        }
        let within = living(state).filter(|(at, _)| (first..=last).contains(at));
        let mut whole = within.filter(|(_, node)| !node.is_broken).map(|(_, node)| has(node, saw));
        match ended {
            // What a removed origin was told may have died with the master: all or none, then.
            Some((_, _, Outcome::Committed)) if !node.is_broken => whole.all(|done| done),
            Some((_, _, Outcome::Unknown | Outcome::Committed)) | None => {
                let done: Vec<bool> = whole.collect();
                done.iter().all(|one| *one == done[0])
            }
            Some(_) => whole.all(|done| !done),
        }
    })
}
