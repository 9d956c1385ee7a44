//! What it costs to choose where many wait.

use super::*;

/// How often the cluster is looked at for who waits, where so many wait for nodes that are taken.
fn looks(config: &str, nodes: u32, waiting: u32, time: impl Fn(u32) -> u64) -> usize {
    let mut schedule = Schedule::default();
    (0..nodes).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::parse(config).unwrap());
    let ask =
        |job, time| Ask { job, nodes: 1, time: Some(Duration::from_secs(time)), ..Ask::default() };
    (0..nodes).for_each(|job| schedule.submit(ask(job, 1000 + u64::from(job))));
    assert_eq!(schedule.step(Duration::ZERO).len(), nodes as usize);
    (0..waiting).for_each(|job| schedule.submit(ask(nodes + job, time(job))));
    schedule.cluster.looks.set(0);
    assert_eq!(schedule.step(Duration::ZERO), []);
    schedule.cluster.looks.get()
}

/// Each of a thousand jobs looked at all moments at which one of 256 ends: four seconds, at each
/// event, in which nobody was answered.
#[test]
fn who_waits_behind_the_first_costs_no_look_at_each_end_of_those_that_run() {
    let (nodes, waiting) = (64, 500);
    for config in ["fcfs", "easy", "gang slots=1"] {
        let all = looks(config, nodes, waiting, u64::from);
        assert!(all <= 2 * (nodes + waiting) as usize, "{config}: {all}");
        let alike = looks(config, nodes, waiting, |_| 5);
        assert!(alike <= 2 * nodes as usize, "{config}: {alike} for an array");
    }
}

/// `ps` asks it of each that waits: 1000 jobs of one partition before 1000 of another took it a
/// third of a second.
#[test]
fn to_say_why_a_job_waits_costs_no_look_at_each_of_those_ahead_that_are_alike() {
    let mut schedule = Schedule::default();
    (0..2).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::parse("fcfs").unwrap());
    let part = |node| Partition { nodes: [node].into(), ..Partition::default() };
    let parts = [("a", part(0)), ("b", part(1))];
    schedule.set_partitions(parts.map(|(name, part)| (name.to_owned(), part)).into());
    let ask =
        |job, name: &str| Ask { job, nodes: 1, partition: Some(name.to_owned()), ..Ask::default() };
    (0..500).for_each(|job| schedule.submit(ask(job, "a")));
    (500..1000).for_each(|job| schedule.submit(ask(job, "b")));
    assert_eq!(schedule.step(Duration::ZERO).len(), 2);
    schedule.cluster.looks.set(0);
    let why = schedule.reason(999, name, |_| true).unwrap();
    assert!(why.ends_with("ahead of it: jobs 501, 502, 503, 504 and more"), "{why}");
    assert!(schedule.cluster.looks.get() <= 8, "{}", schedule.cluster.looks.get());
}
