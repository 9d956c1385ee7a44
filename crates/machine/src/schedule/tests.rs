//! Schedulers under jobs that come, run and end as chance wills, in a clock of their own.

mod blips;
mod crowds;
mod slots;

use super::easy::Reservation;
use super::*;
use proptest::prelude::*;

const NODES: u32 = 6;

/// A job as it will be.
#[derive(Debug, Clone)]
struct Plan {
    comes: u64,
    nodes: usize,
    /// The first and the last of its nodes, if it names any.
    among: Option<(u32, u32)>,
    runs: u64,
    /// What it says above what it needs; `None` if it says nothing.
    slack: Option<u64>,
}

/// A node that is drained for a while.
type Drain = (u32, u64, u64);

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let among = prop_oneof![3 => Just(None), 2 => (0..NODES, 0..NODES).prop_map(Some)];
    let slack = prop_oneof![3 => (0..20_u64).prop_map(Some), 1 => Just(None)];
    let one = (0..40_u64, 1..=NODES as usize, among, 1..30_u64, slack);
    let plan = |(comes, nodes, among, runs, slack): (u64, usize, Option<(u32, u32)>, u64, _)| {
        let among = among.map(|(one, other)| (one.min(other), one.max(other)));
        let most = among.map_or(NODES, |(first, last)| last - first + 1);
        Plan { comes, nodes: nodes.min(most as usize), among, runs, slack }
    };
    prop::collection::vec(one.prop_map(plan), 1..24)
}

fn drains() -> impl Strategy<Value = Vec<Drain>> {
    prop::collection::vec((0..NODES, 0..40_u64, 1..40_u64), 0..3)
}

/// A cluster with a clock.
struct World<'a> {
    plans: &'a [Plan],
    schedule: Schedule,
    now: u64,
    /// When each job started, and where.
    started: BTreeMap<u32, (u64, Vec<u32>)>,
    running: BTreeMap<u32, u64>,
    /// The jobs that had a reservation, and when each was to start at the latest.
    firsts: BTreeMap<u32, u64>,
}

impl World<'_> {
    fn new<'a>(plans: &'a [Plan], config: &str) -> World<'a> {
        let mut schedule = Schedule::default();
        (0..NODES).for_each(|node| schedule.set_up(node, true));
        schedule.set_config(Config::parse(config).unwrap());
        let (started, running) = (BTreeMap::new(), BTreeMap::new());
        World { plans, schedule, now: 0, started, running, firsts: BTreeMap::new() }
    }

    fn ask(&self, job: usize) -> Ask {
        let plan = &self.plans[job];
        Ask {
            job: job as u32,
            nodes: plan.nodes,
            among: plan.among.map(|(first, last)| (first..=last).collect()),
            is_named: plan.among.is_some(),
            time: plan.slack.map(|slack| Duration::from_secs(plan.runs + slack)),
            ..Ask::default()
        }
    }

    /// A second passes: jobs end, others come, and some start.
    fn tick(&mut self, drains: &[Drain]) -> Vec<Start> {
        for (node, from, length) in drains {
            let on = (*from..from + length).contains(&self.now);
            self.schedule.set_drained(*node, on);
        }
        let over: Vec<u32> =
            self.running.iter().filter(|(_, end)| **end == self.now).map(|(job, _)| *job).collect();
        for job in over {
            self.running.remove(&job);
            self.schedule.ended(job);
        }
        for job in 0..self.plans.len() {
            if self.plans[job].comes == self.now {
                let ask = self.ask(job);
                self.schedule.submit(ask);
            }
        }
        let starts = self.schedule.step(Duration::from_secs(self.now));
        for start in &starts {
            let plan = &self.plans[start.job as usize];
            self.running.insert(start.job, self.now + plan.runs);
            let before = self.started.insert(start.job, (self.now, start.nodes.clone()));
            assert_eq!(before, None, "job {} started twice", start.job);
            let distinct: BTreeSet<&u32> = start.nodes.iter().collect();
            assert_eq!(distinct.len(), plan.nodes, "{start:?}");
            let (first, last) = plan.among.unwrap_or((0, NODES));
            assert!(start.nodes.iter().all(|node| (first..=last).contains(node)), "{start:?}");
        }
        self.now += 1;
        starts
    }

    /// Until all have ended. Time enough for one after another, and the drains.
    fn run(&mut self, drains: &[Drain], mut look: impl FnMut(&mut World<'_>, &[Start])) {
        while self.started.len() < self.plans.len() || !self.running.is_empty() {
            assert!(self.now < 1000, "starved: {:?} of {:?}", self.started, self.plans);
            let starts = self.tick(drains);
            look(self, &starts);
        }
    }

    fn alone_on_their_nodes<'j>(&self, jobs: impl Iterator<Item = &'j u32>) {
        let mut taken = BTreeMap::new();
        for job in jobs {
            for node in &self.started[job].1 {
                let other = taken.insert(*node, *job);
                assert_eq!(other, None, "node {node} has job {job} too");
            }
        }
    }

    /// If a job that waits has a reservation, it is not put off as long as it has it.
    fn keeps_its_word(&mut self, starts: &[Start]) {
        for start in starts {
            self.firsts.remove(&start.job);
        }
        for (job, at) in &self.firsts {
            assert!(self.now - 1 < *at, "job {job} was to start at {at}");
        }
        let cluster = &self.schedule.cluster;
        let mut wanted = BTreeSet::new();
        for ask in &cluster.pending {
            let reach = cluster.reach(ask);
            let is_first = reach.iter().all(|node| !wanted.contains(node));
            wanted.extend(reach);
            let others = BTreeSet::new();
            let reserved =
                is_first.then(|| Reservation::of(ask, cluster, &cluster.busy(), &others));
            if let Some(at) = reserved.flatten().and_then(|reserved| reserved.at) {
                let before = self.firsts.entry(ask.job).or_insert(at.as_secs());
                *before = at.as_secs().min(*before);
            }
        }
    }
}

proptest! {
    #[test]
    fn fcfs_starts_in_order_and_a_node_has_one_job(plans in plans(), drains in drains()) {
        let mut world = World::new(&plans, "fcfs");
        world.run(&drains, |world, _| world.alone_on_their_nodes(world.running.keys()));
        let mut world = World::new(&plans, "fcfs");
        world.run(&[], |_, _| ());
        for (job, plan) in plans.iter().enumerate() {
            for (other, later) in plans.iter().enumerate() {
                let behind = (later.comes, other) > (plan.comes, job);
                // One that names no nodes meets everybody.
                if behind && plan.among.is_none() {
                    let start = |job: usize| world.started[&(job as u32)].0;
                    prop_assert!(start(job) <= start(other), "{job} before {other}");
                }
            }
        }
    }

    #[test]
    fn easy_never_delays_the_first_and_starts_all(plans in plans(), drains in drains()) {
        let mut world = World::new(&plans, "easy");
        world.run(&drains, |world, _| world.alone_on_their_nodes(world.running.keys()));
        let mut world = World::new(&plans, "easy");
        world.run(&[], |world, starts| world.keeps_its_word(starts));
    }

    #[test]
    fn a_slot_has_one_job_on_a_node_and_every_job_has_a_slot(
        plans in plans(),
        drains in drains(),
        config in prop_oneof![
            Just("gang slots=1"), Just("gang slots=3 placement=buddy"),
            Just("gang slots=3 placement=first"),
        ],
    ) {
        let mut world = World::new(&plans, config);
        world.run(&drains, |world, _| {
            let table = world.schedule.slots();
            let level = if config.contains('3') { 3 } else { 1 };
            assert!(table.slots.len() <= level, "{table:?}");
            table.slots.iter().for_each(|slot| world.alone_on_their_nodes(slot.iter()));
            let there: BTreeSet<&u32> = table.slots.iter().flatten().collect();
            assert_eq!(there, world.running.keys().collect());
            // Slots are unified: no job of a later one fits into an earlier one.
            for (at, slot) in table.slots.iter().enumerate() {
                assert!(!slot.is_empty(), "{table:?}");
                let taken: BTreeSet<u32> =
                    slot.iter().flat_map(|job| world.started[job].1.clone()).collect();
                for job in table.slots[at + 1..].iter().flatten() {
                    let fits = world.started[job].1.iter().all(|node| !taken.contains(node));
                    assert!(!fits, "job {job} fits into slot {at} of {table:?}");
                }
            }
        });
    }

    #[test]
    fn a_scheduler_that_takes_over_finds_all_jobs_and_stops_none(
        plans in plans(),
        switches in prop::collection::vec((0..60_u64, 0..4_usize), 1..6),
    ) {
        let configs = ["share", "fcfs", "easy", "gang slots=2"];
        let mut world = World::new(&plans, "gang slots=3");
        world.run(&[], |world, _| {
            let running: BTreeSet<u32> = world.schedule.cluster.running.keys().copied().collect();
            assert_eq!(running, world.running.keys().copied().collect());
            for (_, which) in switches.iter().filter(|(at, _)| *at == world.now) {
                world.schedule.set_config(Config::parse(configs[*which]).unwrap());
            }
        });
    }
}

/// Jobs 0, 1, ... that come at once: nodes, seconds they run, whether they say so.
fn at_once(jobs: &[(usize, u64, bool)]) -> Vec<Plan> {
    let plan = |(nodes, runs, says): &(usize, u64, bool)| Plan {
        comes: 0,
        nodes: *nodes,
        among: None,
        runs: *runs,
        slack: says.then_some(0),
    };
    jobs.iter().map(plan).collect()
}

fn starts(config: &str, plans: &[Plan]) -> Vec<u64> {
    let mut world = World::new(plans, config);
    world.run(&[], |_, _| ());
    world.started.values().map(|(at, _)| *at).collect()
}

#[test]
fn easy_lets_pass_who_ends_in_time_or_is_not_in_the_way() {
    // The second wants all nodes and waits for the first.
    let all = |third| at_once(&[(4, 10, true), (6, 5, true), third]);
    assert_eq!(starts("fcfs", &all((2, 5, true))), [0, 10, 15]);
    assert_eq!(starts("easy", &all((2, 10, true))), [0, 10, 0]);
    assert_eq!(starts("easy", &all((2, 11, true))), [0, 10, 15]);
    assert_eq!(starts("easy", &all((2, 5, false))), [0, 10, 15], "it does not say how long");
    // The second leaves one node.
    let most = |third| at_once(&[(4, 10, true), (5, 5, true), third]);
    assert_eq!(starts("easy", &most((1, 50, false))), [0, 10, 0]);
    assert_eq!(starts("easy", &most((2, 50, false))), [0, 10, 15]);
}

/// Each of them would leave it one node too few, once the one before has ended.
#[test]
fn easy_lets_no_row_of_jobs_without_a_time_pass_who_waits_for_another_such_job() {
    let stream = [(1, 4, false), (1, 20, false), (1, 20, false)];
    let all = [&[(2, 6, false), (2, 10, false), (5, 5, true)][..], &stream].concat();
    assert_eq!(starts("easy", &at_once(&all)), [0, 0, 10, 10, 14, 15]);
}

/// What is kept for a job that waits for one node alone is no use to it elsewhere.
#[test]
fn easy_keeps_nodes_also_for_who_waits_behind_one_that_can_have_a_few_of_them_only() {
    let mut schedule = Schedule::default();
    (0..NODES).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::Easy);
    let ask = |job, nodes, among: Option<Vec<u32>>, time| Ask {
        job,
        nodes,
        among,
        time: (time > 0).then(|| Duration::from_secs(time)),
        ..Ask::default()
    };
    let step = |schedule: &mut Schedule, now| {
        let starts = schedule.step(Duration::from_secs(now));
        starts.into_iter().map(|start| (start.job, start.nodes)).collect::<Vec<_>>()
    };
    // The first job is a service, for whose node the third waits; the fourth could have any.
    let (one, others) = (Some(vec![0]), Some(vec![1, 2, 3]));
    for one in [ask(1, 1, one.clone(), 0), ask(2, 3, others, 10), ask(3, 1, one, 0)] {
        schedule.submit(one);
    }
    schedule.submit(ask(4, 4, None, 10));
    schedule.submit(ask(5, 1, None, 0));
    assert_eq!(step(&mut schedule, 0), [(1, vec![0]), (2, vec![1, 2, 3]), (5, vec![4])]);
    // One more of those would put the fourth off, and the next one that, too.
    schedule.submit(ask(6, 1, None, 0));
    schedule.submit(ask(7, 1, None, 10));
    assert_eq!(step(&mut schedule, 0), [(7, vec![5])]);
    schedule.ended(2);
    schedule.ended(7);
    assert_eq!(step(&mut schedule, 10), [(4, vec![1, 2, 3, 5])]);
}

/// The second waits for nodes of both partitions, and has none kept: that is no reason to keep none
/// for the third.
#[test]
fn easy_keeps_nodes_for_who_waits_behind_one_for_whom_none_are_kept() {
    let mut schedule = Schedule::default();
    (0..4).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::Easy);
    let ask = |job, nodes, among: &[u32]| Ask {
        job,
        nodes,
        among: Some(among.to_vec()),
        ..Ask::default()
    };
    schedule.submit(ask(1, 1, &[0]));
    schedule.submit(ask(2, 1, &[2]));
    assert_eq!(schedule.step(Duration::ZERO).len(), 2);
    schedule.submit(ask(3, 2, &[0, 1]));
    schedule.submit(ask(4, 4, &[0, 1, 2, 3]));
    schedule.submit(ask(5, 2, &[2, 3]));
    schedule.submit(ask(6, 1, &[2, 3]));
    assert_eq!(schedule.step(Duration::ZERO), []);
    schedule.ended(2);
    let starts = schedule.step(Duration::ZERO);
    assert_eq!(starts, [Start { job: 5, nodes: vec![2, 3] }]);
}

/// Which rank runs where hangs on it: two of them on n2 and four on n1, say.
#[test]
fn nodes_that_a_job_names_are_its_own_in_its_order_whatever_is_kept_for_others() {
    for config in ["share", "fcfs", "easy", "gang slots=2 placement=first"] {
        let mut schedule = Schedule::default();
        (0..5).for_each(|node| schedule.set_up(node, true));
        schedule.set_config(Config::parse(config).unwrap());
        let time = |seconds| Some(Duration::from_secs(seconds));
        let named = |job, among: Vec<u32>| Ask {
            job,
            nodes: among.len(),
            among: Some(among),
            is_named: true,
            ..Ask::default()
        };
        // With easy, nodes 0, 2 and 4 are kept for job 2, which can spare one of them.
        schedule.submit(Ask { time: time(10), ..named(1, vec![0, 4]) });
        schedule.submit(Ask { nodes: 2, ..named(2, vec![0, 2, 4]) });
        schedule.submit(Ask { time: time(100), ..named(3, vec![2, 1]) });
        let starts = schedule.step(Duration::ZERO);
        let nodes = starts.iter().find(|start| start.job == 3).map(|start| &start.nodes[..]);
        assert_eq!(nodes, (config != "fcfs").then_some(&[2, 1][..]), "{config}");
    }
}

#[test]
fn who_gives_no_number_of_nodes_does_without_those_that_take_no_jobs_also_later() {
    for config in ["share", "fcfs", "easy", "gang slots=1"] {
        let mut schedule = Schedule::default();
        (0..4).for_each(|node| schedule.set_up(node, true));
        schedule.set_config(Config::parse(config).unwrap());
        let step = |schedule: &mut Schedule| {
            let starts = schedule.step(Duration::ZERO);
            starts.into_iter().map(|start| (start.job, start.nodes)).collect::<Vec<_>>()
        };
        let asks = |least| Ask { job: 1, nodes: 8, least, ..Ask::default() };
        schedule.submit(asks(Some(2)));
        assert_eq!(step(&mut schedule), [(1, vec![0, 1, 2, 3])], "{config}");
        schedule.ended(1);
        // One is gone for good, and the job begins again.
        schedule.set_up(2, false);
        schedule.submit(Ask { again: true, ..asks(Some(2)) });
        assert_eq!(step(&mut schedule), [(1, vec![0, 1, 3])], "{config}");
        schedule.ended(1);
        // What its ranks do not fit on is not enough.
        [0, 1].into_iter().for_each(|node| schedule.set_drained(node, true));
        schedule.submit(asks(Some(2)));
        assert_eq!(step(&mut schedule), [], "{config}");
        let told = "2 nodes asked, 1 can take it; n[0-1] drained, n2 down or slow";
        assert_eq!(schedule.reason(1, name, |_| true).unwrap(), told);
        schedule.set_drained(0, false);
        assert_eq!(step(&mut schedule), [(1, vec![0, 3])], "{config}");
        schedule.ended(1);
        schedule.submit(asks(None));
        assert_eq!(step(&mut schedule), [], "{config}: who says how many has as many");
    }
}

#[test]
fn easy_keeps_nodes_for_the_first_of_each_partition() {
    let mut schedule = Schedule::default();
    (0..4).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::Easy);
    let part = |nodes| Partition { nodes, ..Partition::default() };
    let parts = [("x".to_owned(), part([0].into())), ("y".to_owned(), part([1, 2, 3].into()))];
    schedule.set_partitions(BTreeMap::from(parts));
    let ask = |job, partition: &str, nodes, time| Ask {
        job,
        nodes,
        time: (time > 0).then(|| Duration::from_secs(time)),
        partition: Some(partition.to_owned()),
        ..Ask::default()
    };
    let step = |schedule: &mut Schedule, now| {
        let starts = schedule.step(Duration::from_secs(now));
        starts.into_iter().map(|start| (start.job, start.nodes)).collect::<Vec<_>>()
    };
    for one in [ask(1, "x", 1, 0), ask(2, "x", 1, 0), ask(3, "y", 1, 10), ask(4, "y", 3, 10)] {
        schedule.submit(one);
    }
    assert_eq!(step(&mut schedule, 0), [(1, vec![0]), (3, vec![1])], "2 and 4 wait");
    // Job 4 is not the first of all that wait, but nobody who waits before it wants its nodes.
    [ask(5, "y", 1, 0), ask(6, "y", 1, 10), ask(7, "y", 1, 11)]
        .into_iter()
        .for_each(|one| schedule.submit(one));
    assert_eq!(step(&mut schedule, 0), [(6, vec![2])], "who has ended by then passes");
    schedule.ended(3);
    schedule.ended(6);
    assert_eq!(step(&mut schedule, 10), [(4, vec![1, 2, 3])]);
}

#[test]
fn easy_keeps_nodes_for_who_can_start_when_a_reserved_time_is_over() {
    let (minute, day) = (Duration::from_secs(60), Duration::from_secs(86_400) * 20_000);
    let night = Window::parse("22:00-06:00").unwrap();
    // An hour at noon of the day after, just once: too early for a job of 7 h from 06:00 on.
    let noon = Window { from: day + minute * 2160, to: day + minute * 2220, daily: false };
    for (windows, starts) in [(vec![night.clone()], 30), (vec![night, noon], 37)] {
        let mut schedule = Schedule::default();
        (0..2).for_each(|node| schedule.set_up(node, true));
        schedule.set_config(Config::Easy);
        let part = Partition { nodes: [0].into(), reserved: windows, ..Partition::default() };
        schedule.set_partitions(BTreeMap::from([("night".to_owned(), part)]));
        let ask = |job, nodes, hours: u32| {
            let time = Some(minute * 60 * hours);
            Ask { job, nodes, time, ..Ask::default() }
        };
        let step = |schedule: &mut Schedule, hour: u32| {
            let starts = schedule.step(day + minute * 60 * hour);
            starts.into_iter().map(|start| start.job).collect::<Vec<_>>()
        };
        let long = if starts == 30 { 3 } else { 7 };
        schedule.submit(Ask { partition: Some("night".to_owned()), ..ask(1, 1, 8) });
        schedule.submit(ask(2, 2, long));
        assert_eq!(step(&mut schedule, 12), [1], "until 20:00, too late for job 2");
        // Neither before, nor when there is too little time for job 2, nor in the night.
        schedule.submit(ask(3, 1, starts - 12 + 1));
        schedule.submit(ask(4, 1, starts - 12));
        assert_eq!(step(&mut schedule, 12), [4], "who has ended by then passes");
        schedule.ended(4);
        assert!(step(&mut schedule, 19).is_empty());
        schedule.ended(1);
        for hour in 20..starts {
            assert!(step(&mut schedule, hour).is_empty(), "at {hour}");
        }
        assert_eq!(step(&mut schedule, starts), [2]);
    }
}

#[test]
fn easy_keeps_nothing_for_who_waits_for_a_reserved_time_of_more_than_a_day() {
    let mut schedule = Schedule::default();
    (0..2).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::Easy);
    let seconds = Duration::from_secs;
    let reserved = vec![Window { from: seconds(0), to: seconds(86_500), daily: false }];
    let part = Partition { nodes: [0].into(), reserved, ..Partition::default() };
    schedule.set_partitions(BTreeMap::from([("year".to_owned(), part)]));
    let ask = |job, nodes| Ask { job, nodes, ..Ask::default() };
    [ask(1, 2), ask(2, 1)].into_iter().for_each(|one| schedule.submit(one));
    assert_eq!(schedule.step(seconds(1)), [Start { job: 2, nodes: vec![1] }]);
    schedule.ended(2);
    schedule.submit(ask(3, 1));
    assert_eq!(schedule.step(seconds(100)), [], "it is over within a day now");
    assert_eq!(
        schedule.reason(3, name, |_| true).unwrap(),
        "1 node asked, 1 free; ahead of it: job 1"
    );
    assert_eq!(schedule.step(seconds(86_500))[0].job, 1);
}

#[test]
fn jobs_end_as_they_would_have_though_the_clock_is_set() {
    // Back, and forth: the one that runs has 10 s more either way.
    for now in [100, 5000] {
        let mut schedule = Schedule::default();
        (0..2).for_each(|node| schedule.set_up(node, true));
        schedule.set_config(Config::Easy);
        let seconds = Duration::from_secs;
        let ask =
            |job, nodes, time| Ask { job, nodes, time: Some(seconds(time)), ..Ask::default() };
        schedule.submit(ask(1, 1, 10));
        schedule.submit(ask(2, 2, 10));
        schedule.step(seconds(1000));
        schedule.clock_set(seconds(1000), seconds(now));
        [ask(3, 1, 11), ask(4, 1, 10)].into_iter().for_each(|one| schedule.submit(one));
        assert_eq!(schedule.step(seconds(now)), [Start { job: 4, nodes: vec![1] }]);
    }
}

/// Its files took a while, and who passed the first that waits was counted from before that.
#[test]
fn a_job_ends_by_when_its_programs_have_begun() {
    let mut schedule = Schedule::default();
    (0..2).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::Easy);
    let seconds = Duration::from_secs;
    let ask = |job, nodes, time| Ask { job, nodes, time: Some(seconds(time)), ..Ask::default() };
    [ask(1, 1, 10), ask(2, 2, 10), ask(3, 1, 11)].into_iter().for_each(|one| schedule.submit(one));
    assert_eq!(schedule.step(seconds(1000)), [Start { job: 1, nodes: vec![0] }]);
    schedule.counts_from(1, seconds(1001));
    assert_eq!(schedule.step(seconds(1001)), []);
    schedule.counts_from(1, seconds(1002));
    assert_eq!(schedule.step(seconds(1001)), [Start { job: 3, nodes: vec![1] }]);
}

#[test]
fn who_waits_is_told_why_and_for_whom() {
    let plans = at_once(&[(4, 10, true), (6, 5, true), (3, 1, false), (7, 1, true)]);
    let mut world = World::new(&plans, "easy");
    world.tick(&[]);
    let reason = |world: &World<'_>, job| world.schedule.reason(job, name, |_| true);
    assert_eq!(reason(&world, 0), None);
    assert_eq!(reason(&world, 1).unwrap(), "6 nodes asked, 2 free");
    assert_eq!(reason(&world, 2).unwrap(), "3 nodes asked, 2 free; ahead of it: job 1");
    assert!(reason(&world, 3).unwrap().starts_with("7 nodes asked, 6 can take it"));
    world.schedule.set_drained(5, true);
    let told = "6 nodes asked, 5 can take it; n5 drained";
    assert_eq!(reason(&world, 1).unwrap(), told);
}

#[test]
fn priority_goes_first_and_a_reserved_partition_is_kept_free() {
    let mut schedule = Schedule::default();
    (0..4).for_each(|node| schedule.set_up(node, true));
    schedule.set_config(Config::Fcfs);
    let seconds = Duration::from_secs;
    let reserved = vec![Window { from: seconds(100), to: seconds(200), daily: false }];
    let night = Partition { nodes: (2..4).collect(), priority: 5, time: None, reserved };
    schedule.set_partitions(BTreeMap::from([("night".to_owned(), night)]));
    let ask = |job, nodes, time: u64| {
        let time = (time > 0).then(|| seconds(time));
        Ask { job, nodes, time, ..Ask::default() }
    };
    let at = |schedule: &mut Schedule, now| {
        let starts = schedule.step(seconds(now));
        starts.into_iter().map(|start| (start.job, start.nodes)).collect::<Vec<_>>()
    };
    // One that would run into the window gets none of its nodes, nor does one that never ends.
    schedule.submit(ask(1, 2, 51));
    schedule.submit(ask(2, 1, 0));
    schedule.submit(ask(3, 2, 40));
    schedule.submit(Ask { partition: Some("night".to_owned()), ..ask(4, 2, 500) });
    schedule.submit(Ask { priority: 9, ..ask(5, 1, 50) });
    assert_eq!(schedule.next(), Some(seconds(100)));
    let first = at(&mut schedule, 50);
    assert_eq!(first, [(5, vec![0]), (4, vec![2, 3])], "by priority; nobody passes job 1");
    schedule.ended(5);
    assert_eq!(at(&mut schedule, 60), [(1, vec![0, 1])]);
    schedule.ended(4);
    assert_eq!(at(&mut schedule, 61), [], "the nodes are free, but job 2 is in the way");
    schedule.ended(2);
    assert_eq!(at(&mut schedule, 62), [], "too late for 40 s: the window begins at 100");
    assert_eq!(at(&mut schedule, 200), [(3, vec![2, 3])]);
}

#[test]
fn shared_nodes_get_jobs_by_turns_and_an_idle_cluster_its_first_nodes() {
    let mut schedule = Schedule::default();
    (0..4).for_each(|node| schedule.set_up(node, true));
    let mut nodes_of = |asks: &[(u32, usize)]| {
        let ask = |(job, nodes): &(u32, usize)| Ask { job: *job, nodes: *nodes, ..Ask::default() };
        asks.iter().for_each(|one| schedule.submit(ask(one)));
        let starts = schedule.step(Duration::ZERO);
        starts.into_iter().map(|start| start.nodes).collect::<Vec<_>>()
    };
    assert_eq!(nodes_of(&[(1, 1)]), [[0]]);
    assert_eq!(nodes_of(&[(2, 2), (3, 2)]), [[1, 2], [0, 3]]);
    assert_eq!(nodes_of(&[(4, 1)]), [[1]]);
    schedule.ended(3);
    let named = Ask { job: 5, nodes: 1, among: Some(vec![1, 3]), is_named: true, ..Ask::default() };
    schedule.submit(named);
    schedule.submit(Ask { job: 6, nodes: 3, ..Ask::default() });
    let starts = schedule.step(Duration::ZERO);
    assert_eq!((&starts[0].nodes[..], &starts[1].nodes[..]), (&[1][..], &[0, 2, 3][..]));
    (1..=6).for_each(|job| schedule.ended(job));
    schedule.submit(Ask { job: 7, nodes: 2, ..Ask::default() });
    assert_eq!(schedule.step(Duration::ZERO)[0].nodes, [0, 1]);
}

#[test]
fn a_job_never_gets_a_node_that_it_excludes() {
    for config in ["share", "fcfs", "easy", "gang slots=2"] {
        let mut schedule = Schedule::default();
        schedule.set_config(Config::parse(config).unwrap());
        (0..4).for_each(|node| schedule.set_up(node, true));
        let without = |job, nodes, except: &[u32]| Ask {
            job,
            nodes,
            except: except.to_vec(),
            time: Some(Duration::from_secs(9)),
            ..Ask::default()
        };
        schedule.submit(without(1, 2, &[0, 2]));
        let starts = schedule.step(Duration::ZERO);
        assert_eq!(starts[0].nodes, [1, 3], "{config}");
        // A part of it keeps to what it says as well.
        schedule.submit(Ask { within: Some(1), ..without(2, 1, &[0, 1, 2]) });
        assert_eq!(schedule.step(Duration::ZERO)[0].nodes, [3], "{config}");
        // It waits for one that it may have, though others are free.
        (0..2).for_each(|node| schedule.set_up(node, false));
        schedule.submit(without(3, 1, &[2, 3]));
        assert!(schedule.step(Duration::ZERO).is_empty(), "{config}");
        schedule.set_up(0, true);
        assert_eq!(schedule.step(Duration::ZERO)[0].nodes, [0], "{config}");
    }
}

#[test]
fn jobs_of_a_view_are_shared_among_its_nodes() {
    let mut schedule = Schedule::default();
    (0..4).for_each(|node| schedule.set_up(node, true));
    for job in 0..3 {
        schedule.submit(Ask { job, nodes: 1, among: Some(vec![2, 3]), ..Ask::default() });
    }
    let starts = schedule.step(Duration::ZERO);
    assert_eq!(starts.iter().map(|start| start.nodes[0]).collect::<Vec<_>>(), [2, 3, 2]);
}

#[test]
fn who_waits_in_a_partition_that_is_deleted_is_not_let_loose_on_all_nodes() {
    for config in ["share", "fcfs", "easy", "gang slots=2"] {
        let mut schedule = Schedule::default();
        (0..4).for_each(|node| schedule.set_up(node, true));
        schedule.set_config(Config::parse(config).unwrap());
        let part = || {
            let part = Partition { nodes: [9].into(), priority: 0, time: None, reserved: vec![] };
            BTreeMap::from([("lab".to_owned(), part)])
        };
        schedule.set_partitions(part());
        let partition = Some("lab".to_owned());
        schedule.submit(Ask { job: 1, nodes: 1, partition, ..Ask::default() });
        schedule.submit(Ask { job: 2, nodes: 4, ..Ask::default() });
        schedule.set_partitions(BTreeMap::new());
        let starts = schedule.step(Duration::ZERO);
        assert_eq!(starts.iter().map(|start| start.job).collect::<Vec<_>>(), [2], "{config}");
        assert_eq!(schedule.reason(1, name, |_| true).unwrap(), "its partition lab was deleted");
        schedule.set_partitions(part());
        schedule.set_up(9, true);
        assert_eq!(schedule.step(Duration::ZERO)[0].nodes, [9], "{config}");
    }
}

#[test]
fn who_waits_for_nodes_that_are_reserved_each_day_is_told_to_say_how_long() {
    let mut schedule = Schedule::default();
    (0..4).for_each(|node| schedule.set_up(node, true));
    let hours = |hours: u64| Duration::from_secs(hours * 3600);
    let reserved = vec![Window { from: hours(22), to: hours(30), daily: true }];
    let night = Partition { nodes: (0..4).collect(), priority: 0, time: None, reserved };
    schedule.set_partitions(BTreeMap::from([("night".to_owned(), night)]));
    let ask = |job, time| Ask { job, nodes: 2, time, ..Ask::default() };
    schedule.submit(ask(1, None));
    schedule.submit(ask(2, Some(hours(17))));
    assert_eq!(schedule.step(hours(12)), []);
    for job in [1, 2] {
        let told = schedule.reason(job, name, |_| true).unwrap();
        let until = "n[0-3] reserved for partition night 22:00-06:00 UTC";
        let hint = "(with a --time that ends before that, 4 can)";
        assert_eq!(told, format!("2 nodes asked, 0 can take it; {until} {hint}"));
    }
    schedule.submit(ask(3, Some(hours(9))));
    assert_eq!(schedule.step(hours(12)).len(), 1);
    // At night there is nothing to be done.
    schedule.step(hours(23));
    assert!(schedule.reason(1, name, |_| true).unwrap().ends_with("22:00-06:00 UTC"));
}

#[test]
fn who_waits_for_nodes_that_are_reserved_once_is_told_for_which_partition_and_how_long() {
    let mut schedule = Schedule::default();
    let seconds = Duration::from_secs;
    (0..2).for_each(|node| schedule.set_up(node, true));
    let reserved = vec![Window { from: seconds(3600), to: seconds(9000), daily: false }];
    let tour = Partition { nodes: [1].into(), reserved, ..Partition::default() };
    schedule.set_partitions(BTreeMap::from([("tour".to_owned(), tour)]));
    schedule.submit(Ask { job: 1, nodes: 2, ..Ask::default() });
    for (now, when) in [(0, "from 1h to 150m from now"), (5390, "for 61m more")] {
        assert_eq!(schedule.step(seconds(now)), []);
        let told = format!("2 nodes asked, 1 can take it; n1 reserved for partition tour {when}");
        assert!(schedule.reason(1, name, |_| true).unwrap().starts_with(&told), "{told}");
    }
}

/// What nodes are called.
fn name(node: u32) -> String {
    format!("n{node}")
}

#[test]
fn who_waits_again_goes_before_others_of_its_priority_and_those_of_them_as_they_came() {
    let mut schedule = Schedule::default();
    let ask = |job, priority, again| Ask { job, nodes: 1, priority, again, ..Ask::default() };
    let all =
        [(7, 0, true), (9, 0, false), (3, 0, true), (8, 0, false), (5, 0, true), (6, 1, false)];
    all.into_iter().for_each(|(job, priority, again)| schedule.submit(ask(job, priority, again)));
    assert_eq!(schedule.waiting(), [6, 3, 5, 7, 9, 8]);
    // Priorities of partitions may have changed.
    schedule.set_partitions(BTreeMap::new());
    assert_eq!(schedule.waiting(), [6, 3, 5, 7, 9, 8]);
}
