//! What `muster top` shows, without terminal, connection or clock: overviews and keys go in, rows
//! and what to do come out.

use crate::cmd::jobs;
use muster_machine::manager::overview::{NodeOverview, Overview};
use muster_machine::manager::spec::Status as Job;
use muster_machine::slots::Slots;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

/// A key that means something here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Quit,
    Up,
    Down,
    Left,
    Right,
    Sort,
    Kill,
    Yes,
    /// Any other.
    Other,
}

/// What is to be done because of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Nothing,
    Quit,
    Kill(u32),
}

/// By what jobs are sorted; the largest come first, but numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Number,
    Cpu,
    Memory,
    Time,
}

impl Order {
    /// Its column's head.
    pub fn name(self) -> &'static str {
        match self {
            Order::Number => "JOB",
            Order::Cpu => "CPU%",
            Order::Memory => "MEM",
            Order::Time => "TIME",
        }
    }

    fn next(self) -> Order {
        match self {
            Order::Number => Order::Cpu,
            Order::Cpu => Order::Memory,
            Order::Memory => Order::Time,
            Order::Time => Order::Number,
        }
    }
}

/// A job as it is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobRow {
    pub id: u32,
    pub state: &'static str,
    pub name: String,
    pub user: String,
    pub nodes: Vec<String>,
    pub ranks: usize,
    /// Percent of one processor since the overview before; none at the first.
    pub percent: Option<f64>,
    /// Seconds of processor time.
    pub cpu: f64,
    pub memory_kib: u64,
    pub time: f64,
}

/// How a node is. One that is drained as well as down or slow is the latter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Health {
    Up,
    /// It gets no jobs.
    Drained,
    /// It is there, and does not answer.
    Slow,
    #[default]
    Down,
}

impl Health {
    fn of(node: &NodeOverview) -> Health {
        match (node.state.as_str(), &node.drained) {
            ("up", None) => Health::Up,
            ("up", Some(_)) => Health::Drained,
            ("slow", _) => Health::Slow,
            _ => Health::Down,
        }
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Health::Up => "up",
            Health::Drained => "drained",
            Health::Slow => "slow",
            Health::Down => "down",
        }
    }
}

/// A node as it is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeRow {
    pub name: String,
    pub health: Health,
    /// What is to be told of it in place of what it does.
    pub why: Option<String>,
    /// Percent of one processor that its ranks take.
    pub percent: Option<f64>,
    pub cpus: Option<u64>,
    pub load: Option<f64>,
    /// Bytes in use, and of how many.
    pub memory: Option<(u64, u64)>,
    pub ranks: usize,
}

/// The state.
#[derive(Debug, Default)]
pub struct Model {
    pub cluster: String,
    /// Other clusters that the view has, and this picture not.
    pub left_out: Vec<String>,
    pub now: Overview,
    /// Percent of one processor, by job and by node.
    of_jobs: BTreeMap<u32, f64>,
    of_nodes: BTreeMap<String, f64>,
    pub order: Order,
    /// The job that is chosen.
    pub chosen: Option<u32>,
    /// The first line of nodes that is shown; behind the last begins the first again.
    pub from_line: usize,
    /// Whether to end this job is being asked.
    pub asked: Option<u32>,
    /// What went wrong last, or was done.
    pub note: Option<String>,
    /// The last look failed.
    pub is_silent: bool,
}

impl Model {
    /// Nothing is known yet.
    pub fn new(cluster: &str, left_out: Vec<String>) -> Model {
        Model { cluster: cluster.to_owned(), left_out, ..Model::default() }
    }

    /// The cluster has been looked at.
    pub fn sample(&mut self, now: Overview) {
        let span = now.at - self.now.at;
        // Without one before, or with a clock that was set back, there is no rate.
        let is_rate = self.now.at > 0.0 && span > 0.0;
        let percent = |before: u64, after: u64| {
            let used = Duration::from_micros(after.saturating_sub(before));
            used.as_secs_f64() / span * 100.0
        };
        let cpu = |job: &Job| job.usage.map_or(0, |usage| usage.cpu_us());
        let before: BTreeMap<u32, u64> =
            self.now.jobs.iter().map(|job| (job.id, cpu(job))).collect();
        let of_job = |job: &Job| (job.id, percent(*before.get(&job.id).unwrap_or(&0), cpu(job)));
        let of_jobs = now.jobs.iter().map(of_job).collect();
        let before: BTreeMap<&str, u64> =
            self.now.nodes.iter().map(|node| (node.name.as_str(), node.cpu_us)).collect();
        let of_node = |node: &NodeOverview| {
            let before = *before.get(node.name.as_str()).unwrap_or(&0);
            (node.name.clone(), percent(before, node.cpu_us))
        };
        let of_nodes = now.nodes.iter().map(of_node).collect();
        (self.of_jobs, self.of_nodes) =
            if is_rate { (of_jobs, of_nodes) } else { Default::default() };
        self.now = now;
        self.is_silent = false;
        let is_there = |id: &u32| self.now.jobs.iter().any(|job| job.id == *id);
        self.chosen = self.chosen.filter(is_there);
        self.asked = self.asked.filter(is_there);
    }

    /// Something is to be told.
    pub fn tell(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }

    /// It could not be looked at: what was seen before stays.
    pub fn silent(&mut self, why: impl Into<String>) {
        self.is_silent = true;
        self.tell(why);
    }

    /// A key was pressed.
    pub fn key(&mut self, key: Key) -> Action {
        if let Some(job) = self.asked.take() {
            return if key == Key::Yes { Action::Kill(job) } else { Action::Nothing };
        }
        match key {
            Key::Quit => return Action::Quit,
            Key::Sort => self.order = self.order.next(),
            Key::Up => self.choose(-1),
            Key::Down => self.choose(1),
            Key::Left => self.from_line = self.from_line.saturating_sub(1),
            Key::Right => self.from_line += 1,
            Key::Kill if self.chosen.is_some() => self.asked = self.chosen,
            Key::Kill => self.tell("choose a job first, with the arrows"),
            Key::Yes | Key::Other => {}
        }
        Action::Nothing
    }

    fn choose(&mut self, step: isize) {
        let rows = self.jobs();
        let at = rows.iter().position(|row| Some(row.id) == self.chosen);
        let next = match at {
            Some(at) => at.saturating_add_signed(step).min(rows.len().saturating_sub(1)),
            None if step > 0 => 0,
            None => rows.len().saturating_sub(1),
        };
        self.chosen = rows.get(next).map(|row| row.id);
    }

    /// The jobs, sorted.
    pub fn jobs(&self) -> Vec<JobRow> {
        let row = |job: &Job| {
            let usage = job.usage.unwrap_or_default();
            JobRow {
                id: job.id,
                state: jobs::state(job),
                name: jobs::name(job).to_owned(),
                user: jobs::user(job.user),
                nodes: job.nodes.clone(),
                ranks: job.size,
                percent: self.of_jobs.get(&job.id).copied(),
                cpu: usage.cpu_us() as f64 / 1e6,
                memory_kib: jobs::memory(job, &usage),
                time: jobs::elapsed(job, self.now.at).max(0.0),
            }
        };
        let mut rows: Vec<JobRow> = self.now.jobs.iter().map(row).collect();
        let order = self.order;
        rows.sort_by(|a, b| {
            let by = match order {
                Order::Number => Ordering::Equal,
                Order::Cpu => b.percent.unwrap_or(b.cpu).total_cmp(&a.percent.unwrap_or(a.cpu)),
                Order::Memory => b.memory_kib.cmp(&a.memory_kib),
                Order::Time => b.time.total_cmp(&a.time),
            };
            by.then(a.id.cmp(&b.id))
        });
        rows
    }

    /// The nodes, in the cluster's order.
    pub fn nodes(&self) -> Vec<NodeRow> {
        let why = |node: &NodeOverview| {
            let drained = node.drained.as_ref().map(|reason| format!("drained: {reason}"));
            let drained = drained.filter(|_| node.state != "up");
            let all: Vec<String> = node.why.iter().cloned().chain(drained).collect();
            (!all.is_empty()).then(|| all.join("; "))
        };
        let row = |node: &NodeOverview| NodeRow {
            name: node.name.clone(),
            health: Health::of(node),
            why: why(node),
            percent: self.of_nodes.get(&node.name).copied(),
            cpus: node.cpus,
            load: node.load,
            memory: node
                .mem_total
                .zip(node.mem_available)
                .map(|(all, free)| (all.saturating_sub(free), all)),
            ranks: node.ranks,
        };
        self.now.nodes.iter().map(row).collect()
    }

    /// The matrix: a row for each slot, a cell for each node, in it the jobs that have their turn
    /// there then. None unless jobs take turns.
    pub fn matrix(&self) -> Option<(&Slots, Vec<Vec<Vec<u32>>>)> {
        let slots = self.now.slots.as_ref().filter(|slots| slots.slots.len() > 1)?;
        let of_job: BTreeMap<u32, &Vec<String>> =
            self.now.jobs.iter().map(|job| (job.id, &job.nodes)).collect();
        let cell = |slot: &Vec<u32>, node: &String| -> Vec<u32> {
            let is_there = |job: &&u32| of_job.get(job).is_some_and(|nodes| nodes.contains(node));
            slot.iter().filter(is_there).copied().collect()
        };
        let names: Vec<&String> = self.now.nodes.iter().map(|node| &node.name).collect();
        let row = |slot: &Vec<u32>| names.iter().map(|name| cell(slot, name)).collect();
        Some((slots, slots.slots.iter().map(row).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Jobs by number, with processor time in microseconds and memory in KiB.
    fn overview(at: f64, jobs: &[(u32, u64, u64)]) -> Overview {
        let job = |(id, cpu, memory): &(u32, u64, u64)| {
            json!({"id": id, "state": "running", "name": "/bin/a", "nodes": ["n1"], "size": 2,
                "started": id, "usage": {"user_us": cpu, "rss_kib": memory}})
        };
        let cpu: u64 = jobs.iter().map(|job| job.1).sum();
        serde_json::from_value(json!({
            "at": at, "jobs": jobs.iter().map(job).collect::<Vec<_>>(),
            "nodes": [
                {"name": "n0", "state": "down", "why": "it died"},
                {"name": "n1", "state": "up", "cpu_us": cpu, "mem_total": 10, "mem_available": 4},
            ],
        }))
        .expect("an overview")
    }

    fn ids(model: &Model) -> Vec<u32> {
        model.jobs().iter().map(|row| row.id).collect()
    }

    #[test]
    fn rates_are_of_the_time_between_two_looks() {
        let mut model = Model::new("default", Vec::new());
        model.sample(overview(100.0, &[(1, 500_000, 7), (2, 0, 9)]));
        assert_eq!(model.jobs()[0].percent, None);
        model.sample(overview(102.0, &[(1, 2_500_000, 7), (2, 0, 9), (3, 1_000_000, 1)]));
        let percent: Vec<_> = model.jobs().iter().map(|row| row.percent).collect();
        assert_eq!(percent, [Some(100.0), Some(0.0), Some(50.0)]);
        assert_eq!((model.jobs()[0].cpu, model.jobs()[0].time), (2.5, 101.0));
        let nodes = model.nodes();
        assert_eq!((nodes[0].health, nodes[0].why.as_deref()), (Health::Down, Some("it died")));
        assert_eq!((nodes[1].percent, nodes[1].memory), (Some(150.0), Some((6, 10))));
        // A job that has ended takes its time along, and clocks are set back.
        model.sample(overview(103.0, &[(2, 0, 9)]));
        assert_eq!(model.nodes()[1].percent, Some(0.0));
        model.sample(overview(50.0, &[(2, 0, 9)]));
        assert_eq!(model.jobs()[0].percent, None);
    }

    #[test]
    fn a_node_that_is_slow_is_not_down_and_one_that_is_drained_is_not_up() {
        let mut model = Model::new("default", Vec::new());
        let nodes = json!([
            {"name": "n0", "state": "up"}, {"name": "n1", "state": "up", "drained": "disk"},
            {"name": "n2", "state": "slow", "why": "silent"},
            {"name": "n3", "state": "down", "why": "died", "drained": "disk"},
        ]);
        model.sample(serde_json::from_value(json!({"at": 1.0, "nodes": nodes})).unwrap());
        let rows = model.nodes();
        let told: Vec<_> = rows.iter().map(|row| (row.health.name(), row.why.as_deref())).collect();
        let expected = [
            ("up", None),
            ("drained", None),
            ("slow", Some("silent")),
            ("down", Some("died; drained: disk")),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn jobs_are_sorted_by_what_is_asked() {
        let mut model = Model::new("default", Vec::new());
        model.sample(overview(100.0, &[(1, 5, 7), (2, 0, 9), (3, 9, 1)]));
        let mut orders = Vec::new();
        for _ in 0..5 {
            orders.push((model.order.name(), ids(&model)));
            assert_eq!(model.key(Key::Sort), Action::Nothing);
        }
        assert_eq!(orders[0], ("JOB", vec![1, 2, 3]));
        assert_eq!(orders[1], ("CPU%", vec![3, 1, 2]));
        assert_eq!(orders[2], ("MEM", vec![2, 1, 3]));
        assert_eq!(orders[3], ("TIME", vec![1, 2, 3]));
        assert_eq!(orders[4], orders[0]);
    }

    #[test]
    fn a_job_is_killed_only_if_it_is_chosen_and_that_is_confirmed() {
        let mut model = Model::new("default", Vec::new());
        model.sample(overview(100.0, &[(1, 5, 7), (2, 0, 9)]));
        assert_eq!(model.key(Key::Kill), Action::Nothing);
        assert!(model.note.is_some() && model.asked.is_none());
        for _ in 0..3 {
            assert_eq!(model.key(Key::Down), Action::Nothing);
        }
        assert_eq!(model.chosen, Some(2));
        model.key(Key::Kill);
        assert_eq!((model.asked, model.key(Key::Quit)), (Some(2), Action::Nothing));
        model.key(Key::Kill);
        assert_eq!((model.key(Key::Yes), model.asked), (Action::Kill(2), None));
        model.key(Key::Up);
        assert_eq!(model.chosen, Some(1));
        // One that has ended is no longer asked about.
        model.key(Key::Kill);
        model.sample(overview(101.0, &[(2, 0, 9)]));
        assert_eq!((model.chosen, model.key(Key::Yes)), (None, Action::Nothing));
        assert_eq!(model.key(Key::Quit), Action::Quit);
    }

    #[test]
    fn the_matrix_has_a_row_for_each_slot_and_a_cell_for_each_node() {
        let mut model = Model::new("default", Vec::new());
        let mut now = overview(100.0, &[(1, 5, 7), (2, 0, 9), (3, 0, 0)]);
        now.jobs[0].nodes = vec!["n0".to_owned(), "n1".to_owned()];
        let slots = vec![vec![1], vec![2, 3]];
        now.slots = Some(Slots { slice: Duration::from_millis(2), slots });
        model.sample(now.clone());
        let (_, cells) = model.matrix().expect("a matrix");
        assert_eq!(cells, [[vec![1], vec![1]], [vec![], vec![2, 3]]]);
        now.slots.as_mut().unwrap().slots.pop();
        model.sample(now);
        assert!(model.matrix().is_none());
    }
}
