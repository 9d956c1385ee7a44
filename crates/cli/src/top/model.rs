//! What `muster top` shows, without terminal, connection or clock: overviews and keys go in, rows
//! and what to do come out.

use crate::job_rows;
use crate::members::{JobName, label, labels};
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    Nothing,
    Quit,
    Kill(JobName),
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
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    pub id: JobName,
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
    /// Its name begins with that of another cluster.
    pub is_elsewhere: bool,
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

/// One of the clusters that are seen.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Its name; none of the one whose view it is.
    pub name: Option<String>,
    pub overview: Overview,
}

/// What was seen at one look.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    /// The one whose view it is, and those that this merges with it.
    pub parts: Vec<Part>,
    /// Those of them that are not reached.
    pub left_out: Vec<String>,
}

impl From<Overview> for Sight {
    fn from(overview: Overview) -> Sight {
        Sight { parts: vec![Part { name: None, overview }], left_out: Vec::new() }
    }
}

/// Who takes turns with whom in one cluster.
pub struct Matrix<'a> {
    /// Its name; none of the one whose view it is.
    pub cluster: Option<&'a str>,
    pub slots: &'a Slots,
    pub nodes: Vec<&'a str>,
    /// A row for each slot, a cell for each node, in it the jobs that have their turn there then.
    pub cells: Vec<Vec<Vec<u32>>>,
}

/// The state.
#[derive(Debug, Default)]
pub struct Model {
    cluster: String,
    now: Sight,
    /// Percent of one processor, by job and by node.
    of_jobs: BTreeMap<JobName, f64>,
    of_nodes: BTreeMap<String, f64>,
    pub order: Order,
    /// The job that is chosen.
    pub chosen: Option<JobName>,
    /// The first line of nodes that is shown; behind the last begins the first again.
    pub from_line: usize,
    /// Whether to end this job is being asked.
    pub asked: Option<JobName>,
    /// What went wrong last, or was done.
    pub note: Option<String>,
    /// The last look failed.
    pub is_silent: bool,
}

impl Part {
    fn job(&self, job: &Job) -> JobName {
        JobName::of(self.name.as_deref(), job.id)
    }

    fn node(&self, node: &NodeOverview) -> String {
        label(self.name.as_deref(), &node.name)
    }

    /// What its jobs and nodes have used since, in percent of one processor; nothing without a
    /// look before, or with a clock that was set back.
    fn rates(&self, before: &Part) -> (BTreeMap<JobName, f64>, BTreeMap<String, f64>) {
        let span = self.overview.at - before.overview.at;
        if before.overview.at <= 0.0 || span <= 0.0 {
            return Default::default();
        }
        let percent = |before: u64, after: u64| {
            let used = Duration::from_micros(after.saturating_sub(before));
            used.as_secs_f64() / span * 100.0
        };
        let cpu = |job: &Job| job.usage.map_or(0, |usage| usage.cpu_us());
        let old: BTreeMap<u32, u64> =
            before.overview.jobs.iter().map(|job| (job.id, cpu(job))).collect();
        let of_job =
            |job: &Job| (self.job(job), percent(old.get(&job.id).copied().unwrap_or(0), cpu(job)));
        let jobs = self.overview.jobs.iter().map(of_job).collect();
        let old: BTreeMap<&str, u64> =
            before.overview.nodes.iter().map(|node| (node.name.as_str(), node.cpu_us)).collect();
        let of_node = |node: &NodeOverview| {
            let old = old.get(node.name.as_str()).copied().unwrap_or(0);
            (self.node(node), percent(old, node.cpu_us))
        };
        (jobs, self.overview.nodes.iter().map(of_node).collect())
    }

    fn matrix(&self) -> Option<Matrix<'_>> {
        let Part { name, overview } = self;
        let slots = overview.slots.as_ref().filter(|slots| slots.slots.len() > 1)?;
        let of_job: BTreeMap<u32, &Vec<String>> =
            overview.jobs.iter().map(|job| (job.id, &job.nodes)).collect();
        let cell = |slot: &Vec<u32>, node: &String| -> Vec<u32> {
            let is_there = |job: &&u32| of_job.get(job).is_some_and(|nodes| nodes.contains(node));
            slot.iter().filter(is_there).copied().collect()
        };
        let nodes = || overview.nodes.iter().map(|node| &node.name);
        let row = |slot: &Vec<u32>| nodes().map(|name| cell(slot, name)).collect();
        let cells = slots.slots.iter().map(row).collect();
        let nodes = nodes().map(String::as_str).collect();
        Some(Matrix { cluster: name.as_deref(), slots, nodes, cells })
    }
}

impl Model {
    /// Nothing is known yet.
    pub fn new(cluster: &str) -> Model {
        Model { cluster: cluster.to_owned(), ..Model::default() }
    }

    /// Which clusters it shows.
    pub fn title(&self) -> String {
        let others = self.now.parts.iter().filter_map(|part| part.name.as_deref());
        let all: Vec<&str> = std::iter::once(&*self.cluster).chain(others).collect();
        let mut title =
            format!("cluster{} {}", if all.len() > 1 { "s" } else { "" }, all.join(", "));
        if !self.now.left_out.is_empty() {
            title += &format!(" without {}", self.now.left_out.join(", "));
        }
        title
    }

    /// Whether it shows more than one cluster.
    pub fn is_merged(&self) -> bool {
        self.now.parts.len() > 1
    }

    /// Whether there is something to show.
    pub fn has_looked(&self) -> bool {
        !self.now.parts.is_empty()
    }

    /// The clusters have been looked at.
    pub fn sample(&mut self, now: impl Into<Sight>) {
        let now = now.into();
        (self.of_jobs, self.of_nodes) = Default::default();
        for part in &now.parts {
            let before = self.now.parts.iter().find(|before| before.name == part.name);
            let (jobs, nodes) = before.map(|before| part.rates(before)).unwrap_or_default();
            self.of_jobs.extend(jobs);
            self.of_nodes.extend(nodes);
        }
        self.now = now;
        self.is_silent = false;
        let there: Vec<JobName> = self.jobs().into_iter().map(|row| row.id).collect();
        self.chosen = self.chosen.take().filter(|id| there.contains(id));
        self.asked = self.asked.take().filter(|id| there.contains(id));
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
            Key::Kill if self.chosen.is_some() => self.asked = self.chosen.clone(),
            Key::Kill => self.tell("choose a job first, with the arrows"),
            Key::Yes | Key::Other => {}
        }
        Action::Nothing
    }

    fn choose(&mut self, step: isize) {
        let rows = self.jobs();
        let at = rows.iter().position(|row| Some(&row.id) == self.chosen.as_ref());
        let next = match at {
            Some(at) => at.saturating_add_signed(step).min(rows.len().saturating_sub(1)),
            None if step > 0 => 0,
            None => rows.len().saturating_sub(1),
        };
        self.chosen = rows.get(next).map(|row| row.id.clone());
    }

    /// The jobs, sorted.
    pub fn jobs(&self) -> Vec<JobRow> {
        let row = |part: &Part, job: &Job| {
            let (usage, id) = (job.usage.unwrap_or_default(), part.job(job));
            JobRow {
                percent: self.of_jobs.get(&id).copied(),
                id,
                state: job_rows::state(job),
                name: job_rows::name(job).to_owned(),
                user: job_rows::user(job.user),
                nodes: labels(part.name.as_deref(), &job.nodes),
                ranks: job.size,
                cpu: usage.cpu_us() as f64 / 1e6,
                memory_kib: job_rows::memory(job, &usage),
                time: job_rows::elapsed(job, part.overview.at).max(0.0),
            }
        };
        let of = |part: &'_ Part| -> Vec<JobRow> {
            part.overview.jobs.iter().map(|job| row(part, job)).collect()
        };
        let mut rows: Vec<JobRow> = self.now.parts.iter().flat_map(of).collect();
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

    /// The nodes, in their clusters' order.
    pub fn nodes(&self) -> Vec<NodeRow> {
        let why = |node: &NodeOverview| {
            let drained = node.drained.as_ref().map(|reason| format!("drained: {reason}"));
            let drained = drained.filter(|_| node.state != "up");
            let all: Vec<String> = node.why.iter().cloned().chain(drained).collect();
            (!all.is_empty()).then(|| all.join("; "))
        };
        let row = |part: &Part, node: &NodeOverview| NodeRow {
            name: part.node(node),
            is_elsewhere: part.name.is_some(),
            health: Health::of(node),
            why: why(node),
            percent: self.of_nodes.get(&part.node(node)).copied(),
            cpus: node.cpus,
            load: node.load,
            memory: node
                .mem_total
                .zip(node.mem_available)
                .map(|(all, free)| (all.saturating_sub(free), all)),
            ranks: node.ranks,
        };
        let of = |part: &'_ Part| -> Vec<NodeRow> {
            part.overview.nodes.iter().map(|node| row(part, node)).collect()
        };
        self.now.parts.iter().flat_map(of).collect()
    }

    /// Who takes turns with whom, for each cluster where jobs do.
    pub fn matrices(&self) -> impl Iterator<Item = Matrix<'_>> {
        self.now.parts.iter().filter_map(Part::matrix)
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
        model.jobs().iter().map(|row| row.id.number).collect()
    }

    #[test]
    fn rates_are_of_the_time_between_two_looks() {
        let mut model = Model::new("default");
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
        let mut model = Model::new("default");
        let nodes = json!([
            {"name": "n0", "state": "up"}, {"name": "n1", "state": "up", "drained": "disk"},
            {"name": "n2", "state": "slow", "why": "silent"},
            {"name": "n3", "state": "down", "why": "died", "drained": "disk"},
        ]);
        let overview = json!({"at": 1.0, "nodes": nodes});
        model.sample(serde_json::from_value::<Overview>(overview).unwrap());
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
        let mut model = Model::new("default");
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
        let mut model = Model::new("default");
        model.sample(overview(100.0, &[(1, 5, 7), (2, 0, 9)]));
        assert_eq!(model.key(Key::Kill), Action::Nothing);
        assert!(model.note.is_some() && model.asked.is_none());
        for _ in 0..3 {
            assert_eq!(model.key(Key::Down), Action::Nothing);
        }
        assert_eq!(model.chosen, Some(JobName::here(2)));
        model.key(Key::Kill);
        assert_eq!(
            (model.asked.clone(), model.key(Key::Quit)),
            (Some(JobName::here(2)), Action::Nothing)
        );
        model.key(Key::Kill);
        assert_eq!(
            (model.key(Key::Yes), model.asked.take()),
            (Action::Kill(JobName::here(2)), None)
        );
        model.key(Key::Up);
        assert_eq!(model.chosen, Some(JobName::here(1)));
        // One that has ended is no longer asked about.
        model.key(Key::Kill);
        model.sample(overview(101.0, &[(2, 0, 9)]));
        assert_eq!((model.chosen.clone(), model.key(Key::Yes)), (None, Action::Nothing));
        assert_eq!(model.key(Key::Quit), Action::Quit);
    }

    #[test]
    fn the_matrix_has_a_row_for_each_slot_and_a_cell_for_each_node() {
        let mut model = Model::new("default");
        let mut now = overview(100.0, &[(1, 5, 7), (2, 0, 9), (3, 0, 0)]);
        now.jobs[0].nodes = vec!["n0".to_owned(), "n1".to_owned()];
        let slots = vec![vec![1], vec![2, 3]];
        now.slots = Some(Slots { slice: Duration::from_millis(2), slots });
        model.sample(now.clone());
        let cells = |model: &Model| model.matrices().next().map(|matrix| matrix.cells);
        let expected = vec![vec![vec![1], vec![1]], vec![vec![], vec![2, 3]]];
        assert_eq!(cells(&model), Some(expected));
        now.slots.as_mut().unwrap().slots.pop();
        model.sample(now);
        assert_eq!(cells(&model), None);
    }

    #[test]
    fn clusters_that_a_view_merges_have_names_and_rates_of_their_own() {
        let mut model = Model::new("default");
        let other =
            |at, cpu| Part { name: Some("big".into()), overview: overview(at, &[(1, cpu, 3)]) };
        let own = |at, cpu| Part { name: None, overview: overview(at, &[(1, cpu, 9), (2, 0, 1)]) };
        let sight = |parts| Sight { parts, left_out: vec!["far".into()] };
        // Their clocks differ.
        model.sample(sight(vec![own(100.0, 0), other(5000.0, 0)]));
        model.sample(sight(vec![own(102.0, 1_000_000), other(5001.0, 2_000_000)]));
        assert_eq!(model.title(), "clusters default, big without far");
        let rows = model.jobs();
        assert_eq!(
            (&*rows[0].nodes, &*rows[2].nodes),
            (&["n1".into()][..], &["big.n1".into()][..])
        );
        let told: Vec<_> = rows.iter().map(|row| (row.id.label(), row.percent)).collect();
        let of = |name: &str, percent| (name.to_owned(), Some(percent));
        assert_eq!(told, [of("1", 50.0), of("2", 0.0), of("big.1", 200.0)]);
        let nodes: Vec<String> = model.nodes().into_iter().map(|row| row.name).collect();
        assert_eq!(nodes, ["n0", "n1", "big.n0", "big.n1"]);
        assert_eq!(model.nodes()[3].percent, Some(200.0));
        // That one is away for a moment, and so is its job that was chosen.
        model.key(Key::Up);
        assert_eq!(model.chosen, Some(JobName::of(Some("big"), 1)));
        model.sample(sight(vec![own(103.0, 1_000_000)]));
        assert_eq!((model.chosen.clone(), model.jobs().len()), (None, 2));
    }
}
