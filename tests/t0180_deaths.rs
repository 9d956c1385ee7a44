//! Daemons of a cluster of 64 nodes are killed by SIGKILL at random moments, while jobs of several
//! kinds are launched and run: the right jobs fail, with the right words, the others complete;
//! nothing is orphaned, and who was killed comes back clean and takes jobs.
//!
//! A round is drawn from a seed, which is printed: `MUSTER_DEATHS_SEED=N` begins with that one,
//! `MUSTER_DEATHS_ROUNDS=N` says how many. `cargo xtask kills` does 200.

mod cluster;
#[path = "cluster/random.rs"]
mod random;

use cluster::{Cluster, Output, Running, signal, until};
use random::Random;
use rustix::process::Signal;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const NODES: usize = 64;

/// Rounds where nobody asks for more.
const ROUNDS: u64 = 10;

/// Rounds on one cluster; then another is brought up.
const ROUNDS_OF_ONE: u64 = 50;

/// Daemons that are killed in a round, in turn.
const KILLED: [usize; 3] = [1, 2, 8];

/// All that a round does is begun within this time.
const SPAN: u64 = 400;

/// Bytes of what is sent along: some pieces.
const BIG: usize = 2_500_000;

/// The kinds of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Ends at once; told in one report.
    Short,
    /// Runs until it is told to end, with a family of processes.
    Long,
    /// The same; it has been seen to run before anything is killed.
    Settled,
    /// Reads files that are sent along.
    Files,
    /// Reads its input, so the manager has hold of its sessions.
    Held,
    /// Runs until it is told to end, whoever is lost.
    Tolerant,
    /// Has files, runs until it is told to end, and begins again when somebody is lost.
    Again,
}

const KINDS: [Kind; 7] =
    [Kind::Short, Kind::Long, Kind::Settled, Kind::Files, Kind::Held, Kind::Tolerant, Kind::Again];

/// A job of a round.
struct Job {
    kind: Kind,
    nodes: BTreeSet<usize>,
    running: Running,
}

/// What happens in a round.
enum Deed {
    Start(Kind, BTreeSet<usize>),
    Kill(usize),
}

/// A cluster, and what its jobs look at.
struct Stage {
    cluster: Cluster,
    flag: PathBuf,
    /// Daemons that were killed.
    killed: Cell<u64>,
}

fn list(nodes: &BTreeSet<usize>) -> String {
    nodes.iter().map(|node| format!("n{node}")).collect::<Vec<_>>().join(",")
}

impl Stage {
    fn up() -> Stage {
        let cluster = Cluster::up("t0180", NODES);
        let flag = cluster.work().join("flag");
        Stage { cluster, flag, killed: Cell::new(0) }
    }

    fn start(&self, kind: Kind, nodes: BTreeSet<usize>) -> Job {
        let waits = format!(
            "(setsid sleep 600 &); echo begun $MUSTER_RANK; \
             until [ -e {} ]; do sleep 0.2; done; echo ended $MUSTER_RANK",
            self.flag.display()
        );
        let counts = format!("{waits} of $MUSTER_RESTART_COUNT and $(wc -c < big)");
        let (flags, line): (&[&str], &str) = match kind {
            Kind::Short => (&["--input", "none"], "echo short $MUSTER_RANK"),
            Kind::Long | Kind::Settled => (&["--input", "none"], &waits),
            Kind::Files => (&["--input", "none", "--bcast", "big"], "wc -c < big"),
            Kind::Held => (&["--input", "all"], "cat; echo held $MUSTER_RANK"),
            Kind::Tolerant => (&["--input", "none", "--tolerate"], &waits),
            Kind::Again => (&["--input", "none", "--requeue=20", "--bcast", "big"], &counts),
        };
        let list = list(&nodes);
        let mut args = vec!["run", "-w", &list];
        args.extend(flags);
        args.extend(["sh", "-c", line]);
        let running = self.cluster.muster(&args).input("in\n").start();
        Job { kind, nodes, running }
    }

    /// One round: what is drawn from its seed happens, then all of it is looked at.
    fn round(&self, seed: u64, kills: usize) {
        let mut random = Random::new(seed);
        // Another one each time: what nodes hold is not sent again.
        self.cluster.file("big", 0o644, random.bytes(BIG));
        let victims = random.some_of(NODES, kills);
        let settled_nodes = self.some_nodes(&mut random);
        let settled = self.start(Kind::Settled, settled_nodes);
        let tolerant_nodes = self.some_nodes(&mut random);
        let tolerant = self.start(Kind::Tolerant, tolerant_nodes);
        let again_nodes = self.some_nodes(&mut random);
        let again = self.start(Kind::Again, again_nodes);
        for job in [&settled, &tolerant, &again] {
            let all = job.nodes.len();
            until("a job has begun everywhere", || {
                job.running.out().matches("begun").count() == all
            });
        }
        let mut agenda: Vec<(u64, Deed)> = Vec::new();
        for victim in &victims {
            agenda.push((random.below(SPAN), Deed::Kill(*victim)));
        }
        for _ in 0..6 {
            let kind = KINDS[random.below(KINDS.len() as u64) as usize];
            let nodes = self.some_nodes(&mut random);
            agenda.push((random.below(SPAN), Deed::Start(kind, nodes)));
        }
        agenda.sort_by_key(|(at, _)| *at);
        let pids: BTreeMap<usize, i32> =
            victims.iter().map(|node| (*node, self.pid(*node))).collect();
        let mut jobs = vec![settled, tolerant, again];
        let begun = Instant::now();
        for (at, deed) in agenda {
            std::thread::sleep(Duration::from_millis(at).saturating_sub(begun.elapsed()));
            match deed {
                Deed::Kill(node) => signal(pids[&node], Signal::KILL),
                Deed::Start(kind, nodes) => jobs.push(self.start(kind, nodes)),
            }
        }
        // Whoever is hit is told of it, and whoever is not goes on, until all may end.
        std::thread::sleep(Duration::from_millis(100));
        fs::write(&self.flag, "").unwrap();
        for (at, job) in jobs.into_iter().enumerate() {
            check(job, at < 3, &victims);
        }
        fs::remove_file(&self.flag).unwrap();
        self.killed.set(self.killed.get() + kills as u64);
        self.is_clean();
    }

    fn some_nodes(&self, random: &mut Random) -> BTreeSet<usize> {
        let count = [1, 3, 8, 24, NODES][random.below(5) as usize];
        random.some_of(NODES, count)
    }

    /// A node's daemon, as the keeper has noted it.
    fn pid(&self, node: usize) -> i32 {
        let pids = fs::read_to_string(self.cluster.directory().join("pids")).unwrap();
        let name = format!("n{node} ");
        let line = pids.lines().find_map(|line| line.strip_prefix(&name));
        line.and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("it runs")
    }

    /// Deaths that the manager has seen.
    fn losses(&self) -> u64 {
        let status = self.cluster.json(&["cat", "status"]);
        status["nodes"].as_array().unwrap().iter().map(|n| n["losses"].as_u64().unwrap()).sum()
    }

    /// Nothing of any job is left, and all nodes take jobs again.
    fn is_clean(&self) {
        // A node that died just now is up until that is seen.
        until("all deaths were seen", || self.losses() == self.killed.get());
        self.cluster.await_nodes(NODES);
        let said = self.cluster.muster(&["run", "-N", "64", "echo", "here"]).run().ok();
        assert_eq!(said.out.matches("here").count(), NODES, "{said:?}");
        self.cluster.no_job_processes();
        for node in 0..NODES {
            until("no session is left", || self.cluster.sessions(node) == 0);
        }
    }
}

/// What a rank of a job that is not hit prints.
fn expected(kind: Kind, ranks: usize) -> Vec<String> {
    let mut lines: Vec<String> = match kind {
        Kind::Again => unreachable!("it tells its attempt"),
        Kind::Files => vec![BIG.to_string(); ranks],
        Kind::Short => (0..ranks).map(|rank| format!("short {rank}")).collect(),
        Kind::Held => {
            (0..ranks).flat_map(|rank| ["in".to_owned(), format!("held {rank}")]).collect()
        }
        Kind::Long | Kind::Settled | Kind::Tolerant => {
            let both = |rank| [format!("begun {rank}"), format!("ended {rank}")];
            (0..ranks).flat_map(both).collect()
        }
    };
    lines.sort_unstable();
    lines
}

/// Whether a job ended as it should; `was_settled` if it ran before anything was killed.
fn check(job: Job, was_settled: bool, victims: &BTreeSet<usize>) {
    let (kind, nodes) = (job.kind, job.nodes);
    let said = job.running.wait();
    let hit: Vec<usize> = nodes.intersection(victims).copied().collect();
    if kind == Kind::Again {
        return began_again(&said, &nodes, &hit, was_settled);
    }
    let is_whole = said.code == 0 && said.sorted() == expected(kind, nodes.len());
    if hit.is_empty() {
        assert!(is_whole, "{kind:?} on {nodes:?} was not hit: {said:?}");
        return;
    }
    // It may have ended before its node did.
    if is_whole && !was_settled {
        return;
    }
    match kind {
        Kind::Tolerant if was_settled || said.code == 0 => tolerated(&said, &nodes, &hit),
        _ => failed(&said, &nodes, &hit, was_settled),
    }
}

/// A job that was hit says who was, and that it is ours to answer for.
fn failed(said: &Output, nodes: &BTreeSet<usize>, hit: &[usize], was_settled: bool) {
    assert_eq!(said.code, 125, "on {nodes:?}, hit {hit:?}: {said:?}");
    // It may have waited for one that was down, or said nothing for long.
    let is_wait = |line: &&str| line.ends_with("[N110]") || line.ends_with("[N306]");
    let lines = said.err.lines().filter(|line| !is_wait(line));
    let lines: Vec<&str> = lines.collect();
    assert!((1..=hit.len().max(2)).contains(&lines.len()), "too many words: {said:?}");
    let named = |node: &usize| names(&said.err).contains(node);
    assert!(hit.iter().any(named), "none of {hit:?} is named: {said:?}");
    let blamed = names(&said.err).into_iter().all(|node| hit.contains(&node));
    assert!(blamed, "somebody else than {hit:?} is named: {said:?}");
    assert!(lines.iter().all(|line| line.contains("  [E")), "no id: {said:?}");
    if was_settled {
        let lost = lines[0].starts_with("muster: rank") && lines[0].contains("lost: its daemon");
        assert!(lost && said.err.contains("killed by signal 9"), "{said:?}");
        assert!(said.err.contains("[E304, exit 125]"), "{said:?}");
    }
}

/// A job that lost ranks and went on: the others' output is whole, and the lost are named.
fn tolerated(said: &Output, nodes: &BTreeSet<usize>, hit: &[usize]) {
    let lost: BTreeSet<usize> = names(&said.err);
    let is_all = hit.len() == nodes.len();
    assert_eq!(said.code, if is_all { 125 } else { 0 }, "{said:?}");
    assert!(lost.iter().all(|node| hit.contains(node)), "{hit:?}: {said:?}");
    for (rank, node) in nodes.iter().enumerate() {
        let ended = said.out.lines().any(|line| line == format!("ended {rank}"));
        assert!(ended != lost.contains(node), "rank {rank} on n{node}: {said:?}");
    }
}

/// A job that begins again ends well whoever dies, with the output of a whole attempt, and says
/// that it was not the first.
fn began_again(said: &Output, nodes: &BTreeSet<usize>, hit: &[usize], was_settled: bool) {
    // Nodes that are down when it is handed in are none that it lost.
    if !was_settled && said.err.contains("[E114") {
        return failed(said, nodes, hit, was_settled);
    }
    assert_eq!(said.code, 0, "on {nodes:?}, hit {hit:?}: {said:?}");
    let attempts = said.err.matches("begins again, attempt").count();
    assert!(attempts <= hit.len() && (attempts > 0 || !was_settled || hit.is_empty()), "{said:?}");
    for rank in 0..nodes.len() {
        let line = format!("ended {rank} of {attempts} and {BIG}");
        assert_eq!(said.out.lines().filter(|one| **one == line).count(), 1, "{line}: {said:?}");
    }
}

/// The nodes that a text names, folded or not.
fn names(text: &str) -> BTreeSet<usize> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "[],-".contains(c)));
    let sets = words.map(|word| word.trim_end_matches(',')).filter(|word| {
        let rest = word.strip_prefix('n').unwrap_or("");
        rest.starts_with(|c: char| c.is_ascii_digit() || c == '[')
    });
    let all = sets.filter_map(|set| muster_base::nodeset::expand(set).ok()).flatten();
    all.filter_map(|name| name[1..].parse().ok()).collect()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn of_64_daemons_any_may_be_killed_at_any_moment() {
    let rounds = number("MUSTER_DEATHS_ROUNDS").unwrap_or(ROUNDS);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let first = number("MUSTER_DEATHS_SEED").unwrap_or(now.as_secs());
    let (begun, mut killed, mut done) = (Instant::now(), 0, 0);
    while done < rounds {
        let stage = Stage::up();
        let last = rounds.min(done + ROUNDS_OF_ONE);
        while done < last {
            let seed = first + done;
            let kills = KILLED[(seed % KILLED.len() as u64) as usize];
            eprintln!("round {done}: seed {seed}, {kills} killed, {:.0?}", begun.elapsed());
            stage.round(seed, kills);
            (killed, done) = (killed + kills, done + 1);
        }
        stage.cluster.down();
    }
    eprintln!("{done} rounds, {killed} daemons killed, {:.0?}", begun.elapsed());
}
