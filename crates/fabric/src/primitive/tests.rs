//! Small clusters of cores over a network that keeps order, message by message.

mod apart;

use super::message::Renewal;
use super::*;
use crate::protocol::{NodeId, Outgoing, Payload, Protocol, Time};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Cores and the messages between them; who is cut off neither gets nor sends any, and some ways
/// are none.
struct Cluster {
    cores: BTreeMap<u32, Core>,
    network: VecDeque<(NodeId, Outgoing)>,
    cut: Vec<u32>,
    /// Nothing goes from the first to the second.
    ways: Vec<(u32, u32)>,
    /// Nothing goes from any to any other but the master.
    is_star: bool,
    now: Time,
    notices: BTreeMap<u32, Vec<Notice>>,
    messages: usize,
    /// Of these, those to the master.
    to_master: usize,
}

fn config(node: u32) -> Config {
    let mut config = Config::new(NodeId(node), 1 << 32);
    (config.arity, config.regions, config.variables, config.events) = (2, vec![4096], 4, 4);
    config
}

impl Cluster {
    fn new(nodes: u32) -> Cluster {
        Cluster::wide(nodes, 2)
    }

    /// With a tree that is so wide.
    fn wide(nodes: u32, arity: usize) -> Cluster {
        let mut cluster = Cluster::before(nodes, arity);
        cluster.beats(1);
        cluster
    }

    /// In which nobody has a lease yet.
    fn before(nodes: u32, arity: usize) -> Cluster {
        Cluster::over(nodes, arity, 4096)
    }

    /// In which a region has so many bytes.
    fn over(nodes: u32, arity: usize, region: u64) -> Cluster {
        let members = Nodes::range(0..=nodes - 1);
        let config = |node| Config { arity, regions: vec![region], ..config(node) };
        let core = |node| (node, Core::member(config(node), members.clone(), Time(0)));
        Cluster {
            cores: (0..nodes).map(core).collect(),
            network: VecDeque::new(),
            cut: vec![],
            ways: vec![],
            is_star: false,
            now: Time(0),
            notices: BTreeMap::new(),
            messages: 0,
            to_master: 0,
        }
    }

    /// Moves messages until there are none.
    fn settle(&mut self) {
        loop {
            for (node, core) in &mut self.cores {
                while let Some(out) = core.outgoing() {
                    self.network.push_back((NodeId(*node), out));
                }
                let notices = self.notices.entry(*node).or_default();
                notices.extend(std::iter::from_fn(|| core.notice()));
            }
            let Some((from, out)) = self.network.pop_front() else { return };
            let is_way = !self.ways.contains(&(from.0, out.to.0));
            let is_way = is_way && !(self.is_star && from.0 != 0 && out.to.0 != 0);
            if self.cut.contains(&from.0) || self.cut.contains(&out.to.0) || !is_way {
                continue;
            }
            self.messages += 1;
            self.to_master += usize::from(out.to.0 == 0);
            if let Some(core) = self.cores.get_mut(&out.to.0) {
                core.receive(self.now, from, &out.head, out.body).expect("a message");
            }
        }
    }

    fn beats(&mut self, count: usize) {
        for _ in 0..count {
            self.settle();
            self.now = self.now + Duration::from_millis(250);
            for (node, core) in &mut self.cores {
                if !self.cut.contains(node) || *node != 0 {
                    core.tick(self.now);
                }
            }
        }
        self.settle();
    }

    /// Time passes, and every node but those that are cut off does what it is time for. Returns how
    /// many messages the master was sent in each beat.
    fn pass(&mut self, beats: usize, is_so: impl Fn(&Cluster) -> bool) -> Vec<usize> {
        let mut count = vec![];
        for _ in 0..beats {
            let (begin, until) = (self.to_master, self.now + Duration::from_millis(250));
            loop {
                self.settle();
                assert!(is_so(self), "at {:?}", self.now);
                let there = self.cores.iter().filter(|(node, _)| !self.cut.contains(node));
                let next = there.filter_map(|(_, core)| core.alarm()).min().expect("they beat");
                if next > until {
                    break;
                }
                self.now = self.now.max(next);
                for (node, core) in &mut self.cores {
                    if !self.cut.contains(node) {
                        core.tick(self.now);
                    }
                }
            }
            self.now = until;
            count.push(self.to_master - begin);
        }
        count
    }

    fn request(&mut self, node: u32, request: Request) {
        let core = self.cores.get_mut(&node).expect("a node");
        core.request(self.now, request);
    }

    fn transfer(&mut self, node: u32, ticket: u64, set: Nodes) {
        let body = Payload::from(ticket.to_le_bytes().to_vec());
        let (remote, local) = (Some(1), Some(2));
        let request = Request::Transfer { ticket, set, region: 0, offset: 8, body, remote, local };
        self.request(node, request);
    }

    fn compare(&mut self, node: u32, ticket: u64, value: u64, write: Option<u64>) {
        let set = Nodes::range(0..=self.cores.len() as u32 - 1);
        let write = write.map(|value| (0, value));
        let (variable, relation) = (0, Relation::Equal);
        self.request(node, Request::Compare { ticket, set, variable, relation, value, write });
    }

    fn outcomes(&self, node: u32) -> Vec<(u64, Outcome)> {
        let outcome = |notice: &Notice| match notice {
            Notice::Completed { ticket, outcome, .. } => Some((*ticket, *outcome)),
            _ => None,
        };
        self.notices[&node].iter().filter_map(outcome).collect()
    }

    fn delivered(&self, node: u32) -> Vec<(u64, Vec<u8>)> {
        let delivered = |notice: &Notice| match notice {
            Notice::Delivered { seq, body, .. } => Some((*seq, body.to_vec())),
            _ => None,
        };
        self.notices[&node].iter().filter_map(delivered).collect()
    }
}

#[test]
fn a_transfer_from_any_node_reaches_its_set_and_signals_both_sides() {
    let mut cluster = Cluster::new(7);
    cluster.transfer(5, 9, Nodes::range(2..=4));
    cluster.settle();
    assert_eq!(cluster.outcomes(5), [(9, Outcome::Committed)]);
    for node in 0..7 {
        let inside = (2..=4).contains(&node);
        assert_eq!(cluster.delivered(node).len(), usize::from(inside), "node {node}");
        let now = cluster.now;
        assert_eq!(cluster.cores[&node].event(now, 1), Some(u64::from(inside)));
        assert_eq!(cluster.cores[&node].event(now, 2), Some(u64::from(node == 5)));
    }
}

#[test]
fn what_comes_to_members_before_their_first_lease_waits_for_that_and_for_no_beat() {
    let mut cluster = Cluster::before(8, 2);
    cluster.transfer(0, 1, Nodes::range(0..=7));
    cluster.settle();
    assert_eq!(cluster.outcomes(0), []);
    // They ask for one; time stands still.
    cluster.cores.values_mut().for_each(|core| core.tick(Time(0)));
    cluster.settle();
    assert_eq!(cluster.outcomes(0), [(1, Outcome::Committed)]);
    assert!((0..8).all(|node| cluster.delivered(node).len() == 1));
}

/// Four in five were left as if they had been lost, and came again a beat or two later: a thousand
/// reports of a job's end took two seconds.
#[test]
fn more_members_than_may_have_something_under_way_ask_at_once_and_none_waits_for_a_beat() {
    let nodes = muster_base::limits::STAGED_MAX as u32 * 5 / 4;
    let mut cluster = Cluster::new(nodes);
    for round in 1..=2 {
        for node in 1..nodes {
            cluster.transfer(node, round, Nodes::one(NodeId(0)));
        }
        cluster.settle();
        for node in 1..nodes {
            assert_eq!(cluster.outcomes(node).len() as u64, round, "node {node}");
        }
    }
    assert_eq!(cluster.delivered(0).len() as u32, 2 * (nodes - 1));
}

/// Half of 64 reports of 512 KiB were left, and came again after two beats, then four; and the room
/// was not back before the origins' next beats.
#[test]
fn more_bytes_than_the_master_has_room_for_are_asked_at_once_and_none_waits_for_a_beat() {
    let bytes = 1 << 20;
    let mut cluster = Cluster::over(40, 2, bytes);
    cluster.beats(1);
    let body = Payload::from(vec![1; bytes as usize]);
    for node in 1..40 {
        let (ticket, set, region, offset) = (1, Nodes::one(NodeId(0)), 0, 0);
        let (body, remote, local) = (body.clone(), None, None);
        let transfer = Request::Transfer { ticket, set, region, offset, body, remote, local };
        cluster.request(node, transfer);
    }
    cluster.settle();
    for node in 1..40 {
        assert_eq!(cluster.outcomes(node), [(1, Outcome::Committed)], "node {node}");
    }
}

#[test]
fn a_node_set_of_too_many_ranges_is_refused_and_nothing_happens() {
    let mut cluster = Cluster::new(2);
    let most = u32::try_from(muster_base::limits::SET_RANGES_MAX).unwrap();
    for (ticket, ranges) in [(1, most), (2, most + 1)] {
        cluster.transfer(1, ticket, (0..ranges).map(|node| NodeId(2 * node)).collect());
    }
    cluster.settle();
    let refused = Notice::Refused { ticket: 2, why: Refusal::Scattered };
    assert!(cluster.notices[&1].contains(&refused));
    assert_eq!(cluster.outcomes(1), [(1, Outcome::NotMember(NodeId(2)))]);
}

#[test]
fn of_conflicting_compare_and_writes_one_wins_everywhere() {
    let mut cluster = Cluster::new(7);
    for node in 0..7 {
        cluster.compare(node, u64::from(node), 0, Some(u64::from(node) + 10));
    }
    cluster.settle();
    let won: Vec<u32> =
        (0..7).filter(|node| cluster.outcomes(*node)[0].1 == Outcome::Committed).collect();
    assert_eq!(won.len(), 1);
    for core in cluster.cores.values() {
        assert_eq!(core.variable(cluster.now, 0), Some(u64::from(won[0]) + 10));
    }
}

#[test]
fn operations_of_one_origin_end_in_order_and_see_one_another() {
    let mut cluster = Cluster::new(5);
    cluster.compare(3, 1, 0, Some(7));
    cluster.compare(3, 2, 7, None);
    cluster.transfer(3, 3, Nodes::range(0..=4));
    cluster.compare(3, 4, 0, None);
    cluster.settle();
    let ends = [Outcome::Committed, Outcome::Committed, Outcome::Committed, Outcome::NotHeld];
    assert_eq!(cluster.outcomes(3), (1..).zip(ends).collect::<Vec<_>>());
}

#[test]
fn a_silent_node_is_removed_and_what_needed_it_fails() {
    let mut cluster = Cluster::new(7);
    cluster.cut = vec![1];
    cluster.transfer(6, 1, Nodes::range(0..=6));
    cluster.transfer(6, 2, Nodes::range(2..=6));
    cluster.beats(12);
    assert_eq!(cluster.outcomes(6), [(1, Outcome::NotMember(NodeId(1))), (2, Outcome::Committed)]);
    assert!(!cluster.cores[&1].is_current(cluster.now), "its lease is over");
    assert!((0..7).filter(|node| *node != 1).all(|node| cluster.delivered(node).len() <= 1));

    // It comes back, learns that it was removed, and takes over what was written meanwhile.
    let set = cluster.cores[&0].epoch().1.clone();
    let (variable, relation, value, write) = (0, Relation::Equal, 0, Some((3, 5)));
    cluster.request(2, Request::Compare { ticket: 3, set, variable, relation, value, write });
    cluster.settle();
    cluster.cut = vec![];
    cluster.beats(5);
    assert_eq!(cluster.cores[&0].epoch().1.len(), 7);
    assert_eq!(cluster.cores[&1].variable(cluster.now, 3), Some(5));
    cluster.transfer(1, 4, Nodes::range(0..=6));
    cluster.settle();
    assert_eq!(cluster.outcomes(1), [(4, Outcome::Committed)]);
}

#[test]
fn an_ended_connection_proves_the_death_of_members_that_were_heard_of_and_of_no_others() {
    let mut cluster = Cluster::before(3, 2);
    let members = Nodes::range(0..=2);
    let config = Config { end_is_death: true, ..config(0) };
    cluster.cores.insert(0, Core::member(config, members.clone(), Time(0)));
    let lost = |cluster: &mut Cluster, node| {
        let now = cluster.now;
        cluster.cores.get_mut(&0).expect("it leads").lost(now, NodeId(node));
        cluster.cores[&0].epoch().1.clone()
    };
    // It does not listen yet, so nobody can connect to it.
    assert_eq!(lost(&mut cluster, 2), members);
    cluster.beats(1);
    assert_eq!(lost(&mut cluster, 2), Nodes::range(0..=1));
}

/// Its connection ends between its asking and the tick that would take it in.
#[test]
fn a_node_that_dies_after_asking_to_be_a_member_is_not_waited_for() {
    let mut cluster = Cluster::new(3);
    cluster.request(0, Request::Evidence { node: NodeId(2) });
    cluster.cores.insert(2, Core::outside(config(2), cluster.now));
    let now = cluster.now;
    let tick = |cluster: &mut Cluster, node| {
        cluster.cores.get_mut(&node).expect("a node").tick(now);
        cluster.settle();
    };
    // It is told the epoch, and asks again.
    tick(&mut cluster, 2);
    cluster.cores.remove(&2);
    cluster.request(0, Request::Evidence { node: NodeId(2) });
    cluster.beats(1);
    cluster.transfer(0, 1, Nodes::range(0..=1));
    cluster.settle();
    assert_eq!(*cluster.cores[&0].epoch().1, Nodes::range(0..=1));
    assert_eq!(cluster.outcomes(0), [(1, Outcome::Committed)]);
}

/// Its clock was set back while it was down: the master took what it asked for long done.
#[test]
fn a_node_that_is_restarted_with_lower_numbers_is_heard() {
    let mut cluster = Cluster::new(4);
    cluster.transfer(3, 1, Nodes::range(0..=3));
    cluster.settle();
    for (life, incarnation) in [(2, 1 << 20), (3, 1 << 40), (4, 1 << 10)] {
        cluster.request(0, Request::Evidence { node: NodeId(3) });
        let config = Config { incarnation, ..config(3) };
        cluster.cores.insert(3, Core::outside(config, cluster.now));
        cluster.beats(3);
        cluster.transfer(3, life, Nodes::range(0..=3));
        cluster.beats(1);
        assert_eq!(cluster.outcomes(3).last(), Some(&(life, Outcome::Committed)));
        assert_eq!(cluster.delivered(1).len() as u64, life);
    }
}

/// The master's clock was set back while it was down: nobody has heard that what it had asked for
/// last is known everywhere, so its numbers are in what it collects.
#[test]
fn a_master_that_is_restarted_with_lower_numbers_is_heard() {
    let mut cluster = Cluster::new(4);
    let all = Nodes::range(0..=3);
    let lives = [1 << 40, 1 << 20, 1 << 10].map(|incarnation| Config { incarnation, ..config(0) });
    cluster.cores.insert(0, Core::restarted(lives[0].clone(), &all, 2, cluster.now));
    cluster.beats(3);
    for (term, life) in (3..).zip(&lives[1..]) {
        cluster.transfer(0, term, all.clone());
        cluster.settle();
        assert_eq!(cluster.outcomes(0).last(), Some(&(term, Outcome::Committed)));
        cluster.cores.insert(0, Core::restarted(life.clone(), &all, term as u32, cluster.now));
        cluster.beats(3);
    }
    cluster.transfer(0, 9, all);
    cluster.settle();
    assert_eq!(cluster.outcomes(0).last(), Some(&(9, Outcome::Committed)));
}

/// Each of two hundred sent the master a message of its own in each beat.
#[test]
fn renewals_go_up_the_tree_together_and_everybody_has_its_lease() {
    let mut cluster = Cluster::wide(200, 6);
    let all_current =
        |cluster: &Cluster| cluster.cores.values().all(|core| core.is_current(cluster.now));
    // They begin at different times.
    for (node, core) in &mut cluster.cores {
        core.lease.next_renewal = cluster.now + Duration::from_millis(u64::from(*node * 7 % 250));
    }
    cluster.pass(12, all_current);
    let sent = cluster.pass(40, all_current);
    // A child asks when it is time to, and when those below it have; each time it also says what
    // it has.
    assert!(sent.iter().sum::<usize>() <= 40 * 6 * 6, "{sent:?}");
}

#[test]
fn those_below_a_node_that_stands_still_ask_the_master_themselves() {
    let mut cluster = Cluster::wide(60, 3);
    cluster.pass(8, |_| true);
    // A child of the master, with a third of all below it.
    let still = cluster.cores[&0].place.children[1].node.0;
    assert!(cluster.cores[&still].place.children.len() == 3);
    cluster.cut = vec![still];
    let others_current = |cluster: &Cluster| {
        let mut others = cluster.cores.iter().filter(|(node, _)| **node != still);
        others.all(|(_, core)| core.is_current(cluster.now))
    };
    cluster.pass(30, others_current);
    assert!(!cluster.cores[&0].epoch().1.contains(NodeId(still)), "it was removed");
    assert_eq!(cluster.cores[&0].epoch().1.len(), 59);
    assert!(!cluster.cores[&still].is_current(cluster.now));
    cluster.cut = vec![];
    cluster.pass(12, others_current);
    assert_eq!(cluster.cores[&0].epoch().1.len(), 60, "it is back");
}

/// Somebody below it may have died long ago.
#[test]
fn what_a_node_has_gathered_before_it_stood_still_is_not_passed_on() {
    let mut cluster = Cluster::wide(12, 2);
    cluster.pass(8, |_| true);
    let node = cluster.cores[&0].place.children[0].node;
    let (now, beat) = (cluster.now, Duration::from_millis(250));
    let core = cluster.cores.get_mut(&node.0).expect("it is there");
    let child = core.place.children[0].node;
    let asked = |after: Duration, core: &Core| {
        let mut core = core.clone();
        let renewals = vec![Renewal { node: child, stamp: now.0 }];
        let (head, body) = Message::Renew { epoch: core.epoch().0, renewals }.encode();
        core.receive(now, child, &head, body).expect("a renewal");
        core.tick(now + after);
        let sent = std::iter::from_fn(|| core.outgoing());
        let said = sent.map(|out| Message::decode(&out.head, out.body).expect("a message"));
        let renewals = |message| match message {
            Message::Renew { renewals, .. } => Some(renewals),
            _ => None,
        };
        let said: Vec<Vec<Renewal>> = said.filter_map(renewals).collect();
        said.into_iter().flatten().map(|renewal| renewal.node).collect::<Vec<_>>()
    };
    assert_eq!(asked(beat, core), [node, child]);
    assert_eq!(asked(beat + Duration::from_nanos(1), core), [node]);
}

#[test]
fn who_asks_in_anothers_name_or_where_it_is_not_below_is_refused() {
    let mut cluster = Cluster::wide(12, 2);
    cluster.pass(2, |_| true);
    let [first, second] = [0, 1].map(|at| cluster.cores[&0].place.children[at].node);
    let (now, stamp) = (cluster.now, cluster.now.0);
    let core = cluster.cores.get_mut(&first.0).expect("it is there");
    let child = core.place.children[0].node;
    for (from, node) in [(second, second), (child, second), (child, first)] {
        let renewals = vec![Renewal { node, stamp }];
        let (head, body) = Message::Renew { epoch: core.epoch().0, renewals }.encode();
        core.receive(now, from, &head, body).expect_err("refused");
    }
}

/// A lease that an earlier life of a node has asked for, by a clock that was hours ahead.
#[test]
fn a_lease_of_a_time_that_has_not_come_is_none() {
    let mut cluster = Cluster::new(3);
    cluster.beats(3);
    let stamp = cluster.now.0 + 3_600_000_000_000;
    let epoch = cluster.cores[&2].epoch().0;
    let renewals = vec![Renewal { node: NodeId(2), stamp }];
    let (head, body) = Message::Granted { epoch, renewals }.encode();
    let (now, node) = (cluster.now, cluster.cores.get_mut(&2).expect("a node"));
    node.receive(now, NodeId(0), &head, body).expect("a message");
    // Nobody hears of it any more: its lease ends.
    cluster.now = Time(cluster.now.0 + 60_000_000_000);
    assert_eq!(cluster.cores[&2].variable(cluster.now, 0), None);
}

/// A parent that stood still passes on what an earlier life of its child was granted.
#[test]
fn a_lease_that_was_granted_to_an_earlier_life_is_none() {
    let mut cluster = Cluster::wide(3, 1);
    cluster.beats(3);
    let before = cluster.cores[&0].epoch().0;
    cluster.request(0, Request::Evidence { node: NodeId(2) });
    let again = Config { arity: 1, incarnation: 2 << 32, ..config(2) };
    cluster.cores.insert(2, Core::outside(again, cluster.now));
    cluster.beats(6);
    let until = |cluster: &Cluster| cluster.cores[&2].current_until().expect("it is a member");
    let last = until(&cluster);
    cluster.now = cluster.now + Duration::from_millis(100);
    for (epoch, counts) in [(before, false), (cluster.cores[&0].epoch().0, true)] {
        let renewals = vec![Renewal { node: NodeId(2), stamp: cluster.now.0 }];
        let (head, body) = Message::Granted { epoch, renewals }.encode();
        let (now, parent) = (cluster.now, cluster.cores.get_mut(&1).expect("a node"));
        parent.receive(now, NodeId(0), &head, body).expect("a message");
        cluster.settle();
        assert_eq!(until(&cluster) > last, counts, "granted in epoch {epoch}");
    }
}

#[test]
fn a_restarted_master_finishes_what_was_decided_and_origins_ask_again() {
    let mut cluster = Cluster::new(7);
    cluster.transfer(6, 1, Nodes::range(1..=5));
    cluster.compare(4, 2, 0, Some(8));
    // Some messages into it, the master dies.
    for _ in 0..9 {
        let (from, out) = match cluster.network.pop_front() {
            Some(message) => message,
            None => {
                for (node, core) in &mut cluster.cores {
                    while let Some(out) = core.outgoing() {
                        cluster.network.push_back((NodeId(*node), out));
                    }
                }
                continue;
            }
        };
        let core = cluster.cores.get_mut(&out.to.0).expect("a node");
        core.receive(cluster.now, from, &out.head, out.body).expect("a message");
    }
    cluster.network.retain(|(from, out)| from.0 != 0 && out.to.0 != 0);
    let all = Nodes::range(0..=6);
    cluster.cores.insert(0, Core::restarted(config(0), &all, 2, cluster.now));
    cluster.beats(3);
    assert_eq!(cluster.outcomes(6), [(1, Outcome::Committed)]);
    assert_eq!(cluster.outcomes(4), [(2, Outcome::Committed)]);
    for node in 1..=5 {
        assert_eq!(cluster.delivered(node).len(), 1);
        assert_eq!(cluster.cores[&node].variable(cluster.now, 0), Some(8));
    }
}

#[test]
fn too_much_is_refused_and_all_that_was_taken_ends() {
    let mut cluster = Cluster::new(6);
    for node in 0..6 {
        for ticket in 0..100 {
            cluster.transfer(node, ticket, Nodes::range(0..=5));
        }
    }
    cluster.beats(40);
    for node in 0..6 {
        assert_eq!(cluster.outcomes(node).len(), 64);
        assert_eq!(cluster.delivered(node).len(), 64 * 6);
        assert_eq!(cluster.delivered(node), cluster.delivered(0));
    }
}

#[test]
fn a_transfer_costs_three_messages_for_each_node() {
    let mut cluster = Cluster::new(64);
    let before = cluster.messages;
    for ticket in 0..16 {
        cluster.transfer(0, ticket, Nodes::range(0..=63));
        cluster.settle();
    }
    let each = (cluster.messages - before) / 16;
    assert!(each <= 3 * 63 + 63 / 3, "{each} messages: stage, staged, decide, and few reports");
}

impl Cluster {
    fn tell(&mut self, node: u32, body: &[u8]) {
        self.request(node, Request::Tell { region: 0, body: body.to_vec().into() });
    }

    /// What the master was told, sorted.
    fn told(&self) -> Vec<Vec<u8>> {
        let told = |notice: &Notice| match notice {
            Notice::Told { body, .. } => Some(body.to_vec()),
            _ => None,
        };
        let mut all: Vec<_> = self.notices[&0].iter().filter_map(told).collect();
        all.sort();
        all
    }
}

#[test]
fn what_many_members_tell_comes_to_the_master_in_few_messages_and_once() {
    let mut cluster = Cluster::new(64);
    let told: Vec<Vec<u8>> = (0..64).map(|node: u8| vec![node; usize::from(node)]).collect();
    (0..64).for_each(|node| cluster.tell(node, &told[node as usize]));
    let before = cluster.to_master;
    cluster.settle();
    assert_eq!(cluster.told(), told);
    let messages = cluster.to_master - before;
    assert!(3 * messages <= 63, "{messages} of 63 members");
    // What was not acknowledged at once is with the next beats, and nothing comes twice.
    cluster.beats(8);
    assert_eq!(cluster.told(), told);
}

#[test]
fn what_the_parent_did_not_get_is_told_again_by_itself_also_in_another_epoch() {
    let mut cluster = Cluster::new(7);
    // Node 1 is above 2 and 3.
    cluster.cut = vec![1];
    (2..4).for_each(|node| cluster.tell(node, &[node as u8]));
    cluster.settle();
    assert_eq!(cluster.told(), [[]; 0]);
    cluster.request(0, Request::Evidence { node: NodeId(1) });
    cluster.beats(4);
    assert_eq!(cluster.told(), [[2], [3]]);
}

#[test]
fn who_is_asked_again_in_the_epoch_without_one_that_has_died_on_the_way_is_heard() {
    let mut cluster = Cluster::new(7);
    cluster.tell(3, &[3]);
    // It has gone to node 1, which dies with it.
    let core = cluster.cores.get_mut(&3).expect("a node");
    let out = core.outgoing().expect("a message");
    assert_eq!(out.to, NodeId(1));
    let (now, one) = (cluster.now, cluster.cores.get_mut(&1).expect("a node"));
    one.receive(now, NodeId(3), &out.head, out.body).expect("a message");
    // It says that it has it before that.
    cluster.cores.get_mut(&1).expect("a node").tick(now + Duration::from_millis(250));
    let one = cluster.cores.get_mut(&1).expect("a node");
    let answers: Vec<Outgoing> = std::iter::from_fn(|| one.outgoing()).collect();
    let core = cluster.cores.get_mut(&3).expect("a node");
    for out in answers.into_iter().filter(|out| out.to == NodeId(3)) {
        core.receive(now, NodeId(1), &out.head, out.body).expect("a message");
    }
    cluster.cut = vec![1];
    cluster.request(0, Request::Evidence { node: NodeId(1) });
    cluster.beats(8);
    assert_eq!(cluster.told(), [[]; 0]);
    cluster.tell(3, &[3]);
    cluster.settle();
    assert_eq!(cluster.told(), [[3]]);
}

#[test]
fn what_is_told_outside_of_memory_or_cut_off_is_an_error_and_changes_nothing() {
    let told = |body: Vec<u8>| {
        let mut cluster = Cluster::new(3);
        let (carried, epoch) = (Carried::Tell(body.into()), cluster.cores[&0].epoch().0);
        let message = Message::Linked { epoch, number: 0, expected: 0, done: 0, carried };
        let (now, (head, body)) = (cluster.now, message.encode());
        let master = cluster.cores.get_mut(&0).expect("the master");
        let before = master.clone();
        let received = master.receive(now, NodeId(1), &head, body);
        assert!(received.is_ok() || *master == before);
        received.is_ok()
    };
    let record = |region: u32, length: u32, bytes: usize| {
        [&region.to_le_bytes()[..], &length.to_le_bytes(), &vec![0; bytes]].concat()
    };
    assert!(told(record(0, 4096, 4096)));
    assert!(!told(record(0, 4097, 4097)));
    assert!(!told(record(1, 1, 1)));
    assert!(!told(record(0, 9, 8)));
    assert!(!told(vec![0; 7]));
}
