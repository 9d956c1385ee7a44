//! The matrix of slots and nodes.

use super::*;

/// Six nodes, and jobs 0, 1, ... of so many nodes each, all at once.
fn matrix(config: &str, jobs: &[usize]) -> Schedule {
    let mut schedule = Schedule::default();
    (0..NODES).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::parse(config).unwrap());
    for (job, nodes) in jobs.iter().enumerate() {
        schedule.submit(Ask { job: job as u32, nodes: *nodes, ..Ask::default() });
    }
    schedule.step(Duration::ZERO);
    schedule
}

#[test]
fn jobs_of_later_slots_move_forward_when_there_is_room() {
    let mut schedule = matrix("gang placement=first", &[3, 3, 6, 3]);
    assert_eq!(schedule.slots().slots, [vec![0, 1], vec![2], vec![1, 3]]);
    schedule.ended(0);
    schedule.step(Duration::ZERO);
    assert_eq!(schedule.slots().slots, [vec![1, 3], vec![2]]);
    schedule.ended(2);
    schedule.step(Duration::ZERO);
    assert_eq!(schedule.slots().slots, [vec![1, 3]]);
}

#[test]
fn buddies_lie_above_each_other_and_who_fits_nowhere_waits() {
    let nodes = |schedule: &Schedule, job| schedule.cluster.running[&job].nodes.clone();
    let mut schedule = matrix("gang slots=2 placement=buddy", &[1, 2, 4, 2, 6]);
    assert_eq!(nodes(&schedule, 0), [0]);
    assert_eq!(nodes(&schedule, 1), [2, 3]);
    assert_eq!((nodes(&schedule, 2), nodes(&schedule, 3)), (vec![0, 1, 2, 3], vec![4, 5]));
    assert_eq!(schedule.slots().slots, [vec![0, 1, 3], vec![2, 3]]);
    let told = "6 nodes asked, 2 free in the emptiest of 2 slots";
    assert_eq!(schedule.reason(4, name, |_| true).unwrap(), told);
    schedule.ended(2);
    schedule.step(Duration::ZERO);
    assert_eq!(schedule.slots().slots, [vec![0, 1, 3], vec![4]]);
}

/// A service on one node of the only block kept a job of as many as were free waiting for ever, and
/// all behind it.
#[test]
fn buddies_take_what_is_free_where_no_slot_has_a_block() {
    let nodes = |schedule: &Schedule, job| schedule.cluster.running[&job].nodes.clone();
    let mut schedule = matrix("gang slots=1 placement=buddy", &[1, 4]);
    assert_eq!((nodes(&schedule, 0), schedule.waiting()), (vec![0], vec![]));
    assert_eq!(nodes(&schedule, 1), [1, 2, 3, 4]);
    schedule.submit(Ask { job: 2, nodes: 1, ..Ask::default() });
    schedule.step(Duration::ZERO);
    assert_eq!(nodes(&schedule, 2), [5]);
}

#[test]
fn no_slot_is_opened_while_another_has_room() {
    for placement in ["buddy", "first"] {
        let schedule = matrix(&format!("gang slots=2 placement={placement}"), &[1, 4]);
        assert_eq!(schedule.cluster.running[&1].nodes, [1, 2, 3, 4]);
        assert_eq!(schedule.slots().slots, [[0, 1]]);
    }
}

#[test]
fn slots_that_are_more_than_there_may_be_get_no_new_jobs() {
    let mut schedule = Schedule::default();
    (0..2).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::parse("gang slots=3").unwrap());
    let on = |job, node| Ask { job, nodes: 1, among: Some(vec![node]), ..Ask::default() };
    (0..3).for_each(|job| schedule.submit(on(job, 0)));
    assert_eq!(schedule.step(Duration::ZERO).len(), 3);
    schedule.set_config(Config::parse("gang slots=1").unwrap());
    (3..5).for_each(|job| schedule.submit(on(job, 1)));
    let starts = schedule.step(Duration::ZERO);
    assert_eq!(starts, [Start { job: 3, nodes: vec![1] }], "they would take turns");
    assert_eq!(schedule.slots().slots, [vec![0, 3], vec![1, 3], vec![2, 3]]);
    let told = "1 node asked, 0 free in the only slot; ahead of it: job 4";
    schedule.submit(on(5, 1));
    assert_eq!(schedule.reason(5, name, |_| true).unwrap(), told);
}

/// A manager that was started again has jobs that run and jobs that wait, and no nodes yet.
#[test]
fn while_nothing_may_start_those_that_run_take_turns_all_the_same() {
    let mut schedule = Schedule::default();
    schedule.set_config(Config::parse("gang slots=3").unwrap());
    (0..2).for_each(|job| {
        schedule.runs(Ask { job, nodes: 1, ..Ask::default() }, vec![0], Duration::ZERO);
    });
    schedule.submit(Ask { job: 2, nodes: 1, ..Ask::default() });
    schedule.hold(true);
    (0..2).for_each(|node| schedule.set_up(node, true));
    assert_eq!(schedule.step(Duration::ZERO), []);
    assert_eq!(schedule.slots().slots, [vec![0], vec![1]]);
    assert_eq!(schedule.waiting(), [2]);
    schedule.hold(false);
    assert_eq!(schedule.step(Duration::ZERO), [Start { job: 2, nodes: vec![1] }]);
}

/// A service that tolerates losses kept a node that was back, idle, for as long as it ran.
#[test]
fn a_node_that_a_job_goes_on_without_is_for_others() {
    for config in ["fcfs", "easy", "gang slots=1 placement=first", "share"] {
        let mut schedule = matrix(config, &[6]);
        schedule.gives_up(0, &BTreeSet::from([4]));
        schedule.submit(Ask { job: 1, nodes: 1, ..Ask::default() });
        let starts = schedule.step(Duration::ZERO);
        assert_eq!(starts, [Start { job: 1, nodes: vec![4] }], "{config}");
        schedule.submit(Ask { job: 2, nodes: 1, ..Ask::default() });
        assert_eq!(schedule.step(Duration::ZERO).is_empty(), config != "share");
    }
}
