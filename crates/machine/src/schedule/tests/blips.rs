//! Nodes that go, and mostly come back.

use super::*;

const NOBODY: [u32; 0] = [];
const EXCLUSIVE: [&str; 3] = ["fcfs", "easy", "gang slots=1"];

fn ask(job: u32, nodes: usize) -> Ask {
    Ask { job, nodes, ..Ask::default() }
}

fn step(schedule: &mut Schedule, now: Duration) -> Vec<u32> {
    schedule.step(now).into_iter().map(|start| start.job).collect()
}

/// Four nodes, on the last of which job 0 runs; job 1 waits for all, and three behind it for one.
fn waiting(config: &str) -> Schedule {
    let mut schedule = Schedule::default();
    (0..4).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::parse(config).unwrap());
    schedule.submit(Ask { among: Some(vec![3]), ..ask(0, 1) });
    assert_eq!(step(&mut schedule, Duration::ZERO), [0]);
    schedule.submit(ask(1, 4));
    (2..5).for_each(|job| schedule.submit(ask(job, 1)));
    assert_eq!(step(&mut schedule, Duration::ZERO), NOBODY, "{config}");
    schedule
}

/// A daemon that was started again had those behind it take its nodes, for as long as they ran.
#[test]
fn the_first_keeps_its_place_though_a_node_is_gone_for_a_moment() {
    let seconds = Duration::from_secs;
    for config in EXCLUSIVE {
        let mut schedule = waiting(config);
        schedule.set_now(seconds(1000));
        schedule.set_up(3, false);
        schedule.ended(0);
        assert_eq!(step(&mut schedule, seconds(1000)), NOBODY, "{config}");
        // It is told of more than once, and the clock is set.
        schedule.clock_set(seconds(1030), seconds(5030));
        schedule.set_now(seconds(5030));
        schedule.set_up(3, false);
        assert_eq!(schedule.next(), Some(seconds(5060)));
        assert_eq!(step(&mut schedule, seconds(5059)), NOBODY, "{config}");
        schedule.set_up(3, true);
        assert_eq!((step(&mut schedule, seconds(5059)), schedule.next()), (vec![1], None));
    }
}

#[test]
fn a_node_that_does_not_come_back_within_a_minute_holds_up_nobody_nor_does_one_that_is_drained() {
    let seconds = Duration::from_secs;
    for config in EXCLUSIVE {
        for is_drained in [false, true] {
            let mut schedule = waiting(config);
            schedule.set_now(seconds(1000));
            schedule.set_up(3, false);
            schedule.set_drained(3, is_drained);
            let now = if is_drained { 1000 } else { 1060 };
            assert_eq!(step(&mut schedule, seconds(now)), [2, 3, 4], "{config}");
        }
    }
}

/// They are more than the first lacks: as if they were there for it, and the others to spare.
#[test]
fn nodes_that_have_gone_do_not_cost_the_first_those_that_are_there() {
    let seconds = Duration::from_secs;
    let mut schedule = Schedule::default();
    (0..8).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::parse("easy").unwrap());
    schedule.submit(Ask { among: Some((0..4).collect()), ..ask(5, 4) });
    schedule.submit(Ask { time: Some(seconds(100)), among: Some(vec![4]), ..ask(6, 1) });
    assert_eq!(step(&mut schedule, Duration::ZERO), [5, 6]);
    schedule.submit(ask(1, 4));
    (2..5).for_each(|job| schedule.submit(ask(job, 1)));
    assert_eq!(step(&mut schedule, Duration::ZERO), NOBODY);
    // A host of four dies, with what ran there.
    (0..4).for_each(|node| schedule.set_up(node, false));
    schedule.ended(5);
    schedule.set_now(seconds(1));
    assert_eq!(step(&mut schedule, seconds(1)), NOBODY);
}

/// Whoever does with fewer does not wait.
#[test]
fn who_gives_no_number_of_nodes_does_at_once_without_one_that_has_gone() {
    for config in EXCLUSIVE {
        let mut schedule = Schedule::default();
        (0..4).for_each(|node| schedule.set_up(node, true));
        schedule.set_config(Config::parse(config).unwrap());
        schedule.set_up(3, false);
        schedule.submit(Ask { least: Some(1), ..ask(1, 4) });
        let nodes = vec![0, 1, 2];
        assert_eq!(schedule.step(Duration::ZERO), [Start { job: 1, nodes }], "{config}");
    }
}
