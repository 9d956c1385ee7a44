//! Ways that are none between members that the master reaches.

use super::*;

/// A firewall between two of them. All that is done waits for who has to pass it on.
#[test]
fn a_way_that_is_none_between_two_members_holds_nobody_up_for_ever() {
    // Below node 4 are 5 and 6. To it, from it, or neither.
    for ways in [vec![(4, 6)], vec![(6, 4)], vec![(4, 6), (6, 4)]] {
        let mut cluster = Cluster::new(7);
        cluster.beats(4);
        cluster.ways = ways.clone();
        cluster.transfer(5, 1, Nodes::range(0..=6));
        cluster.compare(2, 2, 0, Some(8));
        cluster.pass(60, |_| true);
        assert_eq!(cluster.outcomes(5), [(1, Outcome::Committed)], "{ways:?}");
        assert_eq!(cluster.outcomes(2), [(2, Outcome::Committed)], "{ways:?}");
        for (node, core) in &cluster.cores {
            assert_eq!(core.variable(cluster.now, 0), Some(8), "node {node}, {ways:?}");
            let removed = |notice: &&Notice| matches!(notice, Notice::Removed { .. });
            assert_eq!(cluster.notices[node].iter().filter(removed).count(), 0, "{ways:?}");
        }
        // Once, for this one: nobody moves any more.
        let epoch = cluster.cores[&0].epoch().0;
        assert_eq!(cluster.cores[&6].apart, Nodes::one(NodeId(6)), "{ways:?}");
        cluster.pass(60, |_| true);
        assert_eq!(cluster.cores[&0].epoch().0, epoch, "{ways:?}");
    }
}

/// Its outcome is all that goes there, and that this is done all that comes from there: who was not
/// told that kept it for ever, and has room for few.
#[test]
fn who_cannot_be_reached_from_above_or_reach_it_learns_how_all_ends_and_tells_that_it_is_done() {
    for way in [(4, 6), (6, 4)] {
        let mut cluster = Cluster::new(7);
        cluster.beats(4);
        cluster.ways = vec![way];
        cluster.transfer(6, 1, Nodes::one(NodeId(1)));
        cluster.pass(60, |_| true);
        assert_eq!(cluster.outcomes(6), [(1, Outcome::Committed)], "{way:?}");
        assert_eq!(cluster.cores[&0].under_way(), 0, "{way:?}");
    }
}

/// Where the way was good in the last tree: the next does not come there, and leases do.
#[test]
fn who_is_below_another_in_a_new_tree_hears_of_it_also_by_a_way_that_is_none() {
    for restarts in [false, true] {
        let mut cluster = Cluster::new(7);
        cluster.beats(4);
        // Without node 1 the runs are 2, 3, 4 and 5, 6; before, 4 was the master's child.
        cluster.ways = vec![(2, 4), (4, 2)];
        cluster.cut = vec![1];
        match restarts {
            false => cluster.request(0, Request::Evidence { node: NodeId(1) }),
            true => {
                let all = Nodes::range(0..=6);
                let master = Core::restarted(config(0), &all, 2, cluster.now);
                cluster.cores.insert(0, master);
            }
        }
        cluster.pass(80, |_| true);
        let others = Nodes::range(2..=6).with(NodeId(0));
        assert_eq!(cluster.cores[&4].epoch().1, &others, "{restarts}");
        cluster.transfer(6, 1, others);
        cluster.pass(40, |_| true);
        assert_eq!(cluster.outcomes(6), [(1, Outcome::Committed)], "{restarts}");
    }
}

/// Nothing is ordered that waits for it.
#[test]
fn what_a_member_tells_comes_though_it_does_not_reach_the_one_above() {
    let mut cluster = Cluster::new(7);
    cluster.beats(4);
    cluster.ways = vec![(6, 4)];
    cluster.request(6, Request::Tell { region: 0, body: b"done".to_vec().into() });
    cluster.pass(60, |_| true);
    let told = |notice: &&Notice| matches!(notice, Notice::Told { .. });
    assert_eq!(cluster.notices[&0].iter().filter(told).count(), 1);
}

/// Nobody hears of the one above then either.
#[test]
fn nobody_is_apart_because_the_master_stood_still_or_was_cut_off() {
    let mut cluster = Cluster::new(7);
    cluster.beats(4);
    cluster.cut = vec![0];
    cluster.pass(80, |_| true);
    cluster.cut.clear();
    cluster.pass(80, |_| true);
    cluster.compare(6, 1, 0, Some(8));
    cluster.pass(8, |_| true);
    assert_eq!(cluster.outcomes(6), [(1, Outcome::Committed)]);
    assert_eq!(cluster.cores[&0].apart, Nodes::none());
}

#[test]
fn members_that_reach_nobody_but_the_master_work_together_all_the_same() {
    let mut cluster = Cluster::new(20);
    cluster.is_star = true;
    cluster.transfer(19, 1, Nodes::range(0..=19));
    cluster.pass(200, |_| true);
    assert_eq!(cluster.outcomes(19), [(1, Outcome::Committed)]);
}

/// There is room for some of them only. All waited for the others, for ever.
#[test]
fn of_too_many_that_reach_nobody_but_the_master_some_stay_outside_and_the_others_go_on() {
    let mut cluster = Cluster::new(150);
    cluster.is_star = true;
    cluster.transfer(0, 1, Nodes::range(0..=149));
    cluster.pass(120, |_| true);
    assert!(matches!(cluster.outcomes(0)[..], [(1, Outcome::NotMember(_))]));
    let (epoch, members) = cluster.cores[&0].epoch();
    let members = members.clone();
    assert!(members.len() > tree::APART_MAX);
    cluster.transfer(0, 2, members.clone());
    cluster.settle();
    assert_eq!(cluster.outcomes(0)[1], (2, Outcome::Committed));
    cluster.pass(60, |cluster| {
        let others = cluster.cores.values().filter(|core| !members.contains(core.node()));
        others.into_iter().all(|core| !core.is_current(cluster.now))
    });
    assert_eq!(cluster.cores[&0].epoch().0, epoch, "nobody is taken in and lost again");
}

#[test]
fn who_cannot_reach_who_would_be_above_is_taken_in() {
    let mut cluster = Cluster::new(7);
    cluster.beats(4);
    cluster.ways = vec![(4, 6), (6, 4)];
    cluster.request(0, Request::Evidence { node: NodeId(6) });
    let again = Config { incarnation: 2 << 32, ..config(6) };
    cluster.cores.insert(6, Core::outside(again, cluster.now));
    cluster.pass(60, |_| true);
    assert!(cluster.cores[&6].is_current(cluster.now));
    cluster.compare(6, 1, 0, Some(8));
    cluster.pass(8, |_| true);
    assert_eq!(cluster.outcomes(6), [(1, Outcome::Committed)]);
    let epoch = cluster.cores[&0].epoch().0;
    cluster.pass(60, |_| true);
    assert_eq!(cluster.cores[&0].epoch().0, epoch);
    // In another life it is where it was, as the way may be another.
    cluster.ways.clear();
    cluster.request(0, Request::Evidence { node: NodeId(6) });
    cluster.pass(60, |_| true);
    assert_eq!(cluster.cores[&0].apart, Nodes::none());
}

/// It got no lease any more, as if there was no room for it.
#[test]
fn who_says_twice_that_it_is_apart_has_the_last_place_that_there_is() {
    let mut cluster = Cluster::new(150);
    let (now, master) = (cluster.now, cluster.cores.get_mut(&0).expect("a node"));
    let (head, body) = Message::Apart { epoch: master.epoch().0 }.encode();
    let count = |master: &Core| {
        let sequencer = master.sequencer.as_ref().expect("it leads");
        (sequencer.apart.len(), sequencer.beyond.len())
    };
    for node in (1..150).rev() {
        // No tick comes between.
        for _ in 0..2 {
            master.receive(now, NodeId(node), &head, body.clone()).expect("a message");
        }
        if count(master).0 == tree::APART_MAX {
            break;
        }
    }
    assert_eq!(count(master), (tree::APART_MAX, 0));
}
