//! Steps: jobs that run on the nodes of the job in which they were started.
//!
//! A job that waits for one it has started itself would wait for ever if that one waited for its
//! nodes. So where nodes are a job's own, what is started in it runs on them at once, if it fits
//! there, and in its slot. To the scheduler there is only the job around it: what a step takes is
//! taken already. So it has no more time than that job has left. A step that is still there when
//! that job ends is a job like any other from then on, whose nodes are its own.

use super::{Ask, Cluster, Running, Start};
use crate::slots::Slots;
use std::collections::{BTreeMap, HashMap};

/// The steps that run.
#[derive(Debug, Default)]
pub(super) struct Steps {
    running: BTreeMap<u32, Running>,
}

impl Steps {
    /// The job in which one was started, if that runs.
    pub(super) fn host<'a>(&'a self, ask: &Ask, cluster: &'a Cluster) -> Option<&'a Running> {
        let host = ask.within?;
        cluster.running.get(&host).or_else(|| self.running.get(&host))
    }

    /// The job on whose nodes a step runs.
    pub(super) fn host_of(&self, step: u32) -> Option<u32> {
        self.running.get(&step)?.ask.within
    }

    /// The jobs around one, from the one in which it was started outwards, as long as these run.
    fn hosts<'a>(&'a self, ask: &Ask, cluster: &'a Cluster) -> impl Iterator<Item = &'a Running> {
        let first = self.host(ask, cluster);
        std::iter::successors(first, |host| self.host(&host.ask, cluster))
    }

    /// The nodes for a job among those of the job in which it was started or, if it does not fit
    /// there, of one around that: all of them wait for it. And that job.
    fn place<'a>(&'a self, ask: &Ask, cluster: &'a Cluster) -> Option<(&'a Running, Vec<u32>)> {
        let fit = |host: &'a Running| Some((host, self.fit(ask, host, cluster)?));
        self.hosts(ask, cluster).find_map(fit)
    }

    /// The nodes for a job among those of another, if it fits there: the ones with the fewest
    /// steps, unless it names them.
    fn fit(&self, ask: &Ask, host: &Running, cluster: &Cluster) -> Option<Vec<u32>> {
        let own: HashMap<u32, usize> = host.nodes.iter().copied().zip(0..).collect();
        let mut nodes = match &ask.among {
            Some(named) if ask.is_named => named.clone(),
            _ => host.nodes.clone(),
        };
        // Its job has them already, so it does not matter whether they take others.
        let is_up = |node: &u32| cluster.nodes.get(node).is_some_and(|condition| condition.up);
        nodes.retain(|node| own.contains_key(node) && is_up(node) && cluster.is_asked(ask, *node));
        let need = ask.need(nodes.len());
        if nodes.len() < need {
            return None;
        }
        if !ask.is_named {
            let mut load: HashMap<u32, usize> = HashMap::new();
            let is_there = |step: &&Running| step.ask.within == Some(host.ask.job);
            for node in self.running.values().filter(is_there).flat_map(|step| &step.nodes) {
                *load.entry(*node).or_default() += 1;
            }
            nodes.sort_by_key(|node| load.get(node).copied().unwrap_or(0));
            nodes.truncate(need);
            // Ranks follow the order of the nodes, as in the job around them.
            nodes.sort_by_key(|node| own.get(node));
        }
        nodes.truncate(need);
        Some(nodes)
    }

    /// Starts what waits and fits into the job in which it was started.
    pub(super) fn start(&mut self, cluster: &mut Cluster) -> Vec<Start> {
        let mut starts = Vec::new();
        for mut ask in std::mem::take(&mut cluster.pending) {
            match self.place(&ask, cluster) {
                Some((host, nodes)) => {
                    let left = host.end().map(|end| end.saturating_sub(cluster.now));
                    ask.time = ask.time.into_iter().chain(left).min();
                    ask.within = Some(host.ask.job);
                    starts.push(Start { job: ask.job, nodes: nodes.clone() });
                    self.running.insert(ask.job, Running { ask, nodes, since: cluster.now });
                }
                None => cluster.pending.push(ask),
            }
        }
        starts
    }

    /// A job has ended, a step or not. Its steps are now those of the job around it.
    pub(super) fn ended(&mut self, job: u32, cluster: &mut Cluster) {
        let around = self.running.remove(&job).and_then(|step| step.ask.within);
        for (number, mut step) in std::mem::take(&mut self.running) {
            let is_left = step.ask.within == Some(job);
            if is_left {
                step.ask.within = around;
            }
            let steps =
                if is_left && around.is_none() { &mut cluster.running } else { &mut self.running };
            steps.insert(number, step);
        }
    }

    /// Jobs run since before this schedule was: the steps among them are found.
    pub(super) fn find(&mut self, cluster: &mut Cluster) {
        let around = |job: &Running| {
            let has_all = |host: &&Running| job.nodes.iter().all(|node| host.nodes.contains(node));
            Some(self.hosts(&job.ask, cluster).find(has_all)?.ask.job)
        };
        let found = cluster.running.iter().filter_map(|(job, one)| Some((*job, around(one)?)));
        let found: Vec<(u32, u32)> = found.collect();
        for (job, host) in found {
            if let Some(mut step) = cluster.running.remove(&job) {
                step.ask.within = Some(host);
                self.running.insert(job, step);
            }
        }
    }

    /// They are jobs like any other from now on.
    pub(super) fn release(&mut self, cluster: &mut Cluster) {
        cluster.running.append(&mut self.running);
    }

    /// Each of them.
    pub(super) fn running_mut(&mut self) -> impl Iterator<Item = &mut Running> {
        self.running.values_mut()
    }

    /// Gives each step its job's turns.
    pub(super) fn join(&self, slots: &mut Slots) {
        for slot in &mut slots.slots {
            // A step within a step has a higher number than that.
            for (number, step) in &self.running {
                let is_in = |job: &u32| slot.contains(job);
                if step.ask.within.as_ref().is_some_and(is_in) {
                    slot.push(*number);
                }
            }
            slot.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Config, Moment, Schedule};
    use super::*;
    use std::time::Duration;

    const NOWHERE: [u32; 0] = [];

    /// Four nodes.
    fn cluster(config: &str) -> Schedule {
        let mut schedule = Schedule::default();
        (0..4).for_each(|node| schedule.set_up(node, true));
        schedule.set_config(Config::parse(config).unwrap());
        schedule
    }

    fn ask(job: u32, nodes: usize) -> Ask {
        Ask { job, nodes, ..Ask::default() }
    }

    fn step(job: u32, nodes: usize, within: u32) -> Ask {
        Ask { within: Some(within), ..ask(job, nodes) }
    }

    /// Where it starts; nowhere if it waits.
    fn place(schedule: &mut Schedule, ask: Ask) -> Vec<u32> {
        let job = ask.job;
        schedule.submit(ask);
        let mut starts = schedule.step(Moment::ZERO);
        assert!(starts.iter().all(|start| start.job == job), "{starts:?}");
        starts.pop().map(|start| start.nodes).unwrap_or_default()
    }

    fn next(schedule: &mut Schedule) -> Vec<Start> {
        schedule.step(Moment::ZERO)
    }

    #[test]
    fn what_a_job_starts_runs_on_its_nodes_at_once_where_these_have_least_to_do() {
        for config in ["fcfs", "easy", "gang slots=1"] {
            let mut schedule = cluster(config);
            assert_eq!(place(&mut schedule, ask(1, 4)), [0, 1, 2, 3]);
            assert_eq!(place(&mut schedule, ask(2, 1)), NOWHERE, "all are taken");
            assert_eq!(place(&mut schedule, step(3, 2, 1)), [0, 1]);
            assert_eq!(place(&mut schedule, step(4, 1, 1)), [2]);
            assert_eq!(place(&mut schedule, step(5, 2, 1)), [0, 3], "in the order of the job");
            let named = Ask { among: Some(vec![2, 0]), is_named: true, ..step(6, 2, 1) };
            assert_eq!(place(&mut schedule, named), [2, 0], "as it says");
            let few = Ask { least: Some(1), ..step(7, 9, 1) };
            assert_eq!(place(&mut schedule, few), [0, 1, 2, 3], "with as many as there are");
        }
    }

    #[test]
    fn what_does_not_fit_into_its_job_waits_like_any_other_and_is_told_why() {
        let mut schedule = cluster("fcfs");
        assert_eq!(place(&mut schedule, ask(1, 2)), [0, 1]);
        assert_eq!(place(&mut schedule, step(2, 3, 1)), NOWHERE);
        let told = "3 nodes asked, 2 free; job 1, in which it was started, has 2";
        assert_eq!(schedule.reason(2, |node| format!("n{node}"), |_| true).unwrap(), told);
        schedule.ended(2);
        let elsewhere = Ask { among: Some(vec![1, 2]), is_named: true, ..step(3, 2, 1) };
        assert_eq!(place(&mut schedule, elsewhere), NOWHERE);
        schedule.ended(3);
        assert_eq!(place(&mut schedule, step(4, 1, 9)), [2], "of a job that is over");
        // A node of its job is down: with what is left it does without.
        schedule.set_up(0, false);
        assert_eq!(place(&mut schedule, step(5, 1, 1)), [1]);
        assert_eq!(place(&mut schedule, step(6, 2, 1)), NOWHERE);
        schedule.set_up(0, true);
        assert_eq!(next(&mut schedule), [Start { job: 6, nodes: vec![0, 1] }]);
    }

    #[test]
    fn what_does_not_fit_into_its_job_gets_nodes_of_one_around_that() {
        for config in ["fcfs", "easy", "gang slots=2"] {
            let mut schedule = cluster(config);
            assert_eq!(place(&mut schedule, ask(1, 4)).len(), 4);
            assert_eq!(place(&mut schedule, step(2, 1, 1)), [0]);
            assert_eq!(place(&mut schedule, step(3, 1, 2)), [0]);
            assert_eq!(place(&mut schedule, step(4, 2, 3)), [1, 2], "where one step less is");
            let named = Ask { among: Some(vec![3]), is_named: true, ..step(5, 1, 3) };
            assert_eq!(place(&mut schedule, named), [3]);
            assert_eq!(
                [1, 2, 3, 4].map(|job| schedule.host(job)),
                [None, Some(1), Some(2), Some(1)]
            );
            assert_eq!(place(&mut schedule, step(6, 5, 3)), NOWHERE);
            schedule.ended(6);
            // They are steps of the first: what ends between does not matter to them.
            [2, 3].iter().for_each(|job| schedule.ended(*job));
            if config == "gang slots=2" {
                assert_eq!(schedule.slots().slots, [vec![1, 4, 5]]);
            }
            schedule.ended(1);
            let named = Ask { among: Some(vec![0, 1, 2, 3]), is_named: true, ..ask(7, 1) };
            assert_eq!(place(&mut schedule, named), [0], "the others have theirs still");
        }
    }

    #[test]
    fn where_nodes_are_shared_what_a_job_starts_spreads_over_all() {
        let mut schedule = cluster("share");
        assert_eq!(place(&mut schedule, ask(1, 1)), [0]);
        assert_eq!(place(&mut schedule, step(2, 1, 1)), [1]);
    }

    #[test]
    fn a_scheduler_that_shares_nodes_counts_steps_also_those_that_were_there_before_it() {
        let mut schedule = cluster("fcfs");
        assert_eq!(place(&mut schedule, ask(1, 2)), [0, 1]);
        assert_eq!(place(&mut schedule, step(2, 1, 1)), [0]);
        schedule.set_config(Config::parse("share").unwrap());
        schedule.runs(step(3, 1, 1), vec![2], Moment::ZERO);
        schedule.runs(step(4, 1, 1), vec![1], Moment::ZERO);
        assert_eq!(place(&mut schedule, ask(5, 3)), [0, 2, 3], "of equal ones the first");
        // Where nodes are a job's own again those on its nodes are steps of it again.
        schedule.set_config(Config::parse("gang slots=2 placement=first").unwrap());
        assert!(next(&mut schedule).is_empty());
        assert_eq!(schedule.slots().slots, [vec![1, 2, 3, 4], vec![5]]);
    }

    #[test]
    fn steps_have_the_turns_of_their_job_also_those_of_steps() {
        let mut schedule = cluster("gang slots=2");
        assert_eq!(place(&mut schedule, ask(1, 4)).len(), 4);
        assert_eq!(place(&mut schedule, ask(2, 4)).len(), 4);
        assert_eq!(place(&mut schedule, step(3, 2, 1)), [0, 1]);
        assert_eq!(place(&mut schedule, step(4, 1, 3)), [0]);
        assert_eq!(place(&mut schedule, step(5, 1, 2)), [0]);
        assert_eq!(schedule.slots().slots, [vec![1, 3, 4], vec![2, 5]]);
        schedule.ended(3);
        assert!(next(&mut schedule).is_empty());
        assert_eq!(schedule.slots().slots, [vec![1, 4], vec![2, 5]]);
    }

    #[test]
    fn a_step_that_outlives_its_job_keeps_its_nodes_and_no_others() {
        let mut schedule = cluster("fcfs");
        assert_eq!(place(&mut schedule, ask(1, 4)).len(), 4);
        assert_eq!(place(&mut schedule, step(2, 2, 1)), [0, 1]);
        assert_eq!(place(&mut schedule, step(3, 1, 2)), [0]);
        assert_eq!(place(&mut schedule, ask(4, 2)), NOWHERE);
        assert_eq!(place(&mut schedule, ask(5, 2)), NOWHERE);
        schedule.ended(1);
        assert_eq!(next(&mut schedule), [Start { job: 4, nodes: vec![2, 3] }]);
        schedule.ended(2);
        assert!(next(&mut schedule).is_empty(), "the step's step is there");
        schedule.ended(3);
        assert_eq!(next(&mut schedule), [Start { job: 5, nodes: vec![0, 1] }]);
    }

    /// Its nodes may be reserved for others then, or promised to them.
    #[test]
    fn a_step_has_no_more_time_than_is_left_to_the_jobs_around_it() {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs());
        let timed = |ask, time| Ask { time: Some(Duration::from_secs(time)), ..ask };
        let mut schedule = cluster("easy");
        assert_eq!(place(&mut schedule, timed(ask(1, 4), 100)).len(), 4);
        schedule.set_now(Moment::from_secs(10));
        schedule.submit(step(2, 2, 1));
        schedule.submit(timed(step(3, 1, 2), 20));
        schedule.submit(timed(step(4, 1, 2), 200));
        assert_eq!(schedule.step(Moment::from_secs(10)).len(), 3);
        assert_eq!(
            [2, 3, 4].map(|job| seconds(schedule.time(job))),
            [Some(90), Some(20), Some(90)]
        );
        // One that fits nowhere in it is a job of its own.
        schedule.submit(timed(step(5, 5, 1), 500));
        (0..5).for_each(|node| schedule.set_up(node, true));
        schedule.ended(1);
        [2, 3, 4].iter().for_each(|job| schedule.ended(*job));
        assert_eq!(next(&mut schedule).len(), 1);
        assert_eq!(seconds(schedule.time(5)), Some(500));
    }

    #[test]
    fn another_manager_finds_steps_again_in_whichever_order_it_reads_of_them() {
        // The third has not fitted into the second.
        let inner = [vec![1], vec![0, 1]];
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for (nodes, order) in inner.iter().flat_map(|nodes| orders.map(|order| (nodes, order))) {
            let first = (ask(1, 2), vec![0, 1]);
            let jobs = [first, (step(2, 1, 1), vec![1]), (step(3, 1, 2), nodes.clone())];
            let mut schedule = cluster("gang slots=2");
            for at in order {
                let (ask, nodes) = jobs[at].clone();
                schedule.runs(ask, nodes, Moment::ZERO);
            }
            assert_eq!(place(&mut schedule, ask(4, 4)).len(), 4);
            assert_eq!(schedule.slots().slots, [vec![1, 2, 3], vec![4]], "{order:?}");
        }
    }
}
