//! MPI programs on a simulated network: the same that run on real nodes (`tests/t0300_mpi.rs`),
//! with the library as it ships.

#[path = "../../../tests/mpi/mod.rs"]
mod mpi;

/// What the programs' builder asks for: it installs the library that lies beside this.
mod cluster {
    pub const MUSTER: &str = env!("CARGO_BIN_EXE_muster-sim");
}

use cluster::MUSTER;
use mpi::Mpi;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// How a job has ended.
struct Done {
    code: i32,
    out: String,
    err: String,
}

impl Done {
    /// What comes behind a word in what was told.
    fn behind(&self, word: &str) -> &str {
        let found = self.err.rsplit_once(word).map(|(_, text)| text);
        found.and_then(|text| text.split_whitespace().next()).unwrap_or_else(|| {
            panic!("nothing is told of {word}: {}", self.err);
        })
    }

    /// Covers all of its messages.
    fn trace(&self) -> &str {
        self.behind(" digest ")
    }
}

/// A job: its ranks, its seed and network, and whether it is coscheduled.
struct Job<'a> {
    ranks: u32,
    seed: u32,
    network: &'a str,
    is_coscheduled: bool,
}

impl Job<'_> {
    fn run(&self, more: &[&str], command: &[&str]) -> Done {
        let mut simulator = Command::new(MUSTER);
        simulator.args(["--ranks", &self.ranks.to_string(), "--seed", &self.seed.to_string()]);
        simulator.args(["--network", self.network]).args(more).args(command);
        // What a cache of freed memory holds is no use of memory.
        simulator.env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
        if self.is_coscheduled {
            simulator.env("MUSTER_MPI", "bcs").env("MUSTER_MPI_DIGEST", "1");
        }
        // What a rank that is killed has not removed goes with it.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-sim-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        let done = simulator.env("TMPDIR", &folder).output();
        fs::remove_dir_all(&folder).unwrap();
        let done = done.unwrap();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let code = done.status.code().unwrap_or(-1);
        Done { code, out: text(&done.stdout), err: text(&done.stderr) }
    }
}

fn direct(ranks: u32, seed: u32) -> Job<'static> {
    let network = ["calm", "rough", "wild"][seed as usize % 3];
    Job { ranks, seed, network, is_coscheduled: false }
}

fn coscheduled(ranks: u32, seed: u32) -> Job<'static> {
    Job { is_coscheduled: true, ..direct(ranks, seed) }
}

/// Programs whose work grows with the ranks' number alone.
const LIGHT: [&str; 9] = [
    "forms",
    "groups",
    "datatypes",
    "requests",
    "neighbors",
    "inquiry",
    "topologies",
    "older",
    "window_errors",
];

/// Programs that send much.
const HEAVY: [&str; 10] = [
    "point",
    "collectives",
    "short",
    "between",
    "partitioned",
    "buffers",
    "polling",
    "windows",
    "shared",
    "atomic",
];

fn is_right(programs: &[&str], ranks: &[u32], coscheduled_ranks: &[u32]) {
    let mpi = Mpi::installed();
    for (seed, name) in (1..).zip(programs) {
        let program = mpi.program(name);
        let jobs = ranks.iter().map(|ranks| direct(*ranks, seed + ranks));
        let jobs = jobs.chain(coscheduled_ranks.iter().map(|ranks| coscheduled(*ranks, seed)));
        for job in jobs {
            let Job { ranks, seed, network, is_coscheduled } = job;
            let done = job.run(&[], &[&program]);
            assert_eq!(
                (done.code, done.out),
                (0, format!("ok {ranks}\n")),
                "{name}: {ranks} ranks, seed {seed}, {network}, coscheduled: {is_coscheduled}: {}",
                done.err
            );
        }
    }
}

#[test]
fn programs_that_send_much_are_right_on_a_simulated_network_in_both_modes() {
    is_right(&HEAVY, &[1, 2, 5], &[3]);
}

#[test]
fn programs_are_right_on_up_to_64_ranks_of_a_simulated_network_in_both_modes() {
    is_right(&LIGHT, &[1, 7, 33, 64], &[2, 64]);
}

#[test]
fn ranks_of_one_simulated_node_share_windows_and_threads_of_a_rank_its_turns() {
    let mpi = Mpi::installed();
    for (name, nodes) in [
        ("windows", "1"),
        ("windows", "2"),
        ("atomic", "1"),
        ("atomic", "2"),
        ("files", "2"),
        ("threads", "2"),
    ] {
        let done = direct(4, 1).run(&["--nodes", nodes], &[&mpi.program(name)]);
        assert_eq!((done.code, &*done.out), (0, "ok 4\n"), "{name}: {}", done.err);
    }
}

#[test]
fn a_seed_is_run_again_message_for_message_and_another_one_is_another_run() {
    let mpi = Mpi::installed();
    for name in ["point", "between", "chosen"] {
        let program = mpi.program(name);
        let [first, again, other] = [5, 5, 8].map(|seed| direct(4, seed).run(&[], &[&program]));
        assert_eq!((first.out.as_str(), first.trace()), (again.out.as_str(), again.trace()));
        assert_ne!(first.trace(), other.trace(), "{name}");
    }
}

/// Also of programs whose ranks share memory, which has another name each time.
#[test]
fn a_coscheduled_program_has_one_digest_however_long_messages_take() {
    let mpi = Mpi::installed();
    for name in ["chosen", "point", "forms", "polling", "shared", "timing"] {
        let program = mpi.program(name);
        let run = |seed| coscheduled(5, seed).run(&[], &[&program]);
        let first = run(0);
        let digest = |done: &Done| done.behind("muster: digest ").to_owned();
        // Of the calm network all seeds are alike where messages are short.
        for seed in [1, 2, 4, 5, 7] {
            let done = run(seed);
            assert_eq!((done.code, &done.out), (0, &first.out), "{name}: {}", done.err);
            assert_eq!(digest(&done), digest(&first), "{name}, seed {seed}");
            assert_ne!(done.trace(), first.trace(), "{name}, seed {seed}");
        }
    }
}

/// What the error handler ends the job with: the class, or that it is in a status.
const GONE: [i32; 2] = [58, 19];

#[test]
fn whenever_a_rank_is_killed_all_that_wait_for_it_are_told() {
    let mpi = Mpi::installed();
    let mut ended = 0;
    for (name, last) in
        [("between", 2_000), ("windows", 8_000), ("partitioned", 6_000), ("short", 20_000)]
    {
        let program = mpi.program(name);
        for at in 1..=12 {
            let kill = format!("1@{}", last * at / 12);
            let done = direct(4, at).run(&["--kill", &kill], &[&program]);
            // It may have come to its end before.
            let is_right = done.code == 0 && done.out == "ok 4\n";
            let is_told = GONE.contains(&done.code) && done.err.contains("MPI_ERR_");
            assert!(is_right || is_told, "{name}, {kill}: {} {}", done.code, done.err);
            ended += u32::from(is_told);
        }
    }
    assert!(ended > 24, "most were killed before their end: {ended} of 48");
}

#[test]
fn a_deadlock_is_told_and_a_job_ends_with_its_first_failure() {
    let mpi = Mpi::installed();
    let (deadlock, fails) = (mpi.program("deadlock"), mpi.program("fails"));
    let done = direct(4, 1).run(&[], &[&deadlock, "cycle"]);
    let says = "rank 1: MPI_Recv waits for a message with tag 7 from rank 0 in halo";
    assert!(done.code == 1 && done.err.contains(says), "{}", done.err);
    for (how, code) in [("abort", 7), ("exit", 3), ("signal", 134), ("leave-barrier", 58)] {
        let done = direct(4, 2).run(&[], &[&fails, how]);
        assert_eq!(done.code, code, "{how}: {}", done.err);
    }
}

/// The bytes that the library keeps in the heap of a rank: the mean, and the most.
fn held(program: &str, ranks: u32) -> (f64, f64) {
    let done = direct(ranks, 2).run(&[], &[program]);
    assert_eq!(done.code, 0, "{}", done.err);
    let mut words = done.out.split_whitespace().skip(1).map(|word| word.parse().unwrap());
    (words.next().unwrap(), words.next().unwrap())
}

#[test]
fn what_the_library_keeps_in_memory_does_not_grow_with_the_job() {
    let mpi = Mpi::installed();
    let program =
        mpi.built("memory", &["-D_GNU_SOURCE"], &[mpi::root().join("tests/mpi/memory.c")]);
    let (mean, most) = held(&program, 16);
    for ranks in [64, 256] {
        let now = held(&program, ranks);
        assert!((now.0 / mean - 1.0).abs() < 0.1, "{ranks} ranks: {now:?}, and {mean} of 16");
        // Who is the root of all trees has more children in larger ones.
        assert!(now.1 < most * 1.25, "{ranks} ranks: {now:?}, and {most} of 16");
    }
}

#[test]
fn what_cannot_be_simulated_is_told_in_one_sentence() {
    let mpi = Mpi::installed();
    let program = mpi.program("older");
    let done = direct(2, 0).run(&[], &["/nowhere/program"]);
    assert!(done.err.contains("/nowhere/program cannot be started"), "{}", done.err);
    let done = direct(2, 0).run(&["--kill", "2@5"], &[&program]);
    assert!(done.code == 2 && done.err.contains("--kill: there is no rank 2"), "{}", done.err);
    let alone = Command::new(&program)
        .env("MUSTER_SIMULATION", "/nowhere/socket")
        .env("MUSTER_RANK", "0")
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&alone.stderr);
    assert!(err.contains("/nowhere/socket, where no simulator is"), "{err}");
}
