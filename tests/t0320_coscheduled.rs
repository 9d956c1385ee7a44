//! The order of messages: the same in every run of the coscheduled mode, and once more as it was.
//!
//! `MUSTER_DIGESTS=N` says how often a program that receives from any source is run while the
//! machine does other things; Sweep3D has a fiftieth of that. `cargo xtask digests` does 1,000.

mod cluster;
mod mpi;
#[path = "cluster/random.rs"]
mod random;

use cluster::{Cluster, Output, until};
use mpi::{Mpi, root};
use random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Runs a program on nodes and ranks, with more flags.
fn ran(cluster: &Cluster, nodes: &str, ranks: &str, more: &[&str]) -> Output {
    let args = [&["run", "-N", nodes, "-n", ranks], more].concat();
    let done = cluster.muster(&args).run();
    assert_eq!(done.code, 0, "{more:?} on {nodes} nodes, {ranks} ranks: {}", done.err);
    done
}

/// The digest that a run has told of.
fn digest(done: &Output) -> String {
    let line = done.err.lines().find_map(|line| line.strip_prefix("muster: digest "));
    line.unwrap_or_else(|| panic!("no digest: {}", done.err)).to_owned()
}

#[test]
fn receives_from_any_source_and_tests_are_told_the_same_in_every_coscheduled_run() {
    let mpi = Mpi::installed();
    let program = mpi.program("chosen");
    let cluster = Cluster::up("t0320same", 3);
    let flags = ["--mpi=bcs", "--digest", &program];
    let first = ran(&cluster, "1", "5", &flags);
    for nodes in ["1", "1", "2", "3", "3", "2", "1"] {
        let again = ran(&cluster, nodes, "5", &flags);
        assert_eq!(again.out, first.out, "on {nodes} nodes");
        assert_eq!(digest(&again), digest(&first), "on {nodes} nodes");
    }
    // Another number of ranks is another run.
    assert_ne!(digest(&ran(&cluster, "1", "4", &flags)), digest(&first));
}

#[test]
fn a_program_has_one_digest_however_long_the_slices_are_and_whoever_waits_for_their_ends() {
    let mpi = Mpi::installed();
    let program = mpi.program("chosen");
    let cluster = Cluster::up("t0320strobes", 3);
    let flags = ["--mpi=bcs", "--digest", &program];
    let first = ran(&cluster, "2", "5", &flags);
    let ways: [&[&str]; 5] = [
        &["--strobe", "20us"],
        &["--strobe", "1ms"],
        &["--strobe", "20us", "--fixed-strobes"],
        &["--strobe", "1ms", "--fixed-strobes"],
        &["--strobe", "150us", "--fixed-strobes"],
    ];
    for way in ways {
        for nodes in ["1", "3"] {
            let again = ran(&cluster, nodes, "5", &[way, &flags].concat());
            assert_eq!(again.out, first.out, "{way:?} on {nodes} nodes");
            assert_eq!(digest(&again), digest(&first), "{way:?} on {nodes} nodes");
        }
    }
}

#[test]
fn ranks_that_all_wait_on_whichever_nodes_exchange_at_once_without_a_strobe() {
    let mpi = Mpi::installed();
    let program = mpi.program("chosen");
    let cluster = Cluster::up("t0320early", 3);
    let flags = ["--mpi=bcs", "--digest", &program];
    let first = ran(&cluster, "1", "5", &flags);
    for nodes in ["2", "3"] {
        // Who waited for a strobe would wait for hours.
        let again = ran(&cluster, nodes, "5", &[&["--strobe", "1000h"], &flags[..]].concat());
        assert_eq!(again.out, first.out, "on {nodes} nodes");
        assert_eq!(digest(&again), digest(&first), "on {nodes} nodes");
    }
}

#[test]
fn what_a_program_is_told_does_not_depend_on_which_rank_is_late() {
    let mpi = Mpi::installed();
    let program = mpi.program("timing");
    let cluster = Cluster::up("t0320late", 2);
    let log = cluster.work().join("log");
    let log = log.to_str().unwrap();
    let recorded = ["--mpi=bcs", "--digest", "--record", log, &program, "3", "unread"];
    let recorded = ran(&cluster, "1", "3", &recorded);
    let first = ran(&cluster, "1", "3", &["--mpi=bcs", "--digest", &program]);
    for late in ["0", "1", "2"] {
        for nodes in ["1", "2"] {
            let again = ran(&cluster, nodes, "3", &["--mpi=bcs", "--digest", &program, late]);
            assert_eq!(again.out, first.out, "{late} is late on {nodes} nodes");
            assert_eq!(digest(&again), digest(&first), "{late} is late on {nodes} nodes");
        }
        let replay = ["--digest", "--replay", log, &program, late, "unread"];
        let again = ran(&cluster, "2", "3", &replay);
        assert_eq!(again.out, recorded.out, "{late} is late in a replay");
    }
}

#[test]
fn a_test_that_waits_for_a_rank_that_waits_outside_of_mpi_says_so_once() {
    let mpi = Mpi::installed();
    let program = mpi.program("elsewhere");
    let cluster = Cluster::up("t0320elsewhere", 2);
    let file = cluster.work().join("go-on");
    let args = ["run", "-N", "2", "-n", "4", "--mpi=bcs", &program, file.to_str().unwrap()];
    let run = cluster.muster(&args).start();
    until("it is told", || run.err().contains("[N504]"));
    // The turns of the others have come by then.
    thread::sleep(Duration::from_secs(5));
    std::fs::write(&file, "").unwrap();
    let done = run.wait().ok();
    assert_eq!(done.err.matches("[N504]").count(), 1, "{}", done.err);
    assert!(done.err.contains("MPI_Test has waited 10 s until all ranks wait"), "{}", done.err);
}

#[test]
fn a_recorded_run_is_run_once_more_on_other_nodes() {
    let mpi = Mpi::installed();
    let program = mpi.program("chosen");
    let cluster = Cluster::up("t0320again", 3);
    for mode in ["direct", "bcs"] {
        let log = cluster.work().join(format!("{mode}.log"));
        let log = log.to_str().unwrap();
        let mode = format!("--mpi={mode}");
        let first = ran(&cluster, "2", "5", &[&mode, "--digest", "--record", log, &program]);
        for nodes in ["1", "3"] {
            let again = ran(&cluster, nodes, "5", &["--digest", "--replay", log, &program]);
            assert_eq!(again.out, first.out, "{mode}, again on {nodes} nodes");
            assert_eq!(digest(&again), digest(&first), "{mode}, again on {nodes} nodes");
        }
    }
}

#[test]
fn what_ranks_ask_of_one_another_is_asked_once_more_in_the_same_order() {
    let mpi = Mpi::installed();
    let program = mpi.program("served");
    let cluster = Cluster::up("t0320served", 2);
    let (log, file) = (cluster.work().join("log"), cluster.work().join("file"));
    let (log, file) = (log.to_str().unwrap(), file.to_str().unwrap());
    for mode in ["--mpi=direct", "--mpi=bcs"] {
        let first = ran(&cluster, "2", "5", &[mode, "--digest", "--record", log, &program, file]);
        for nodes in ["1", "2", "2"] {
            let flags = ["--digest", "--replay", log, &program, file];
            let again = ran(&cluster, nodes, "5", &flags);
            assert_eq!(again.out, first.out, "{mode}, again on {nodes} nodes");
            assert_eq!(digest(&again), digest(&first), "{mode}, again on {nodes} nodes");
        }
    }
}

#[test]
fn a_log_that_cannot_be_followed_is_told_in_one_sentence() {
    let mpi = Mpi::installed();
    let program = mpi.program("chosen");
    let cluster = Cluster::up("t0320wrong", 1);
    let log = cluster.work().join("log");
    let log = log.to_str().unwrap();
    // What cannot be written or read is known before anything runs.
    let early = |words: &[&str]| cluster.muster(&[&["run", "--json"], words, &["true"]].concat());
    let done = early(&["--record", "none/log"]).run().code(2).says("First: mkdir -p none");
    assert!(done.out.contains("\"E140\""), "{}", done.out);
    early(&["--record", "."]).run().code(2).says("--record: . is a directory");
    early(&["--replay", "nolog"]).run().code(2).says("--replay nolog: No such file or directory");
    ran(&cluster, "1", "3", &["--record", log, &program]);
    let fails = |ranks: &str, log: &str| {
        let done = cluster.muster(&["run", "-n", ranks, "--replay", log, &program]).run();
        assert_ne!(done.code, 0, "{ranks} ranks");
        done.err
    };
    assert!(fails("2", log).contains("it is of 3 ranks, and this job has 2"));
    assert!(fails("4", log).contains("it is of 3 ranks, and this job has 4"));
    // Rank 0 may be on another host, where nobody has looked.
    let unseen = ["run", "-n", "3", "--env", "MUSTER_MPI_REPLAY=/nowhere/log", &program];
    let unread = cluster.muster(&unseen).run().err;
    assert!(unread.contains("the log /nowhere/log cannot be read"), "{unread}");
    let text = std::fs::read_to_string(log).unwrap();
    std::fs::write(log, text.replace("receive", "deceive")).unwrap();
    assert!(fails("3", log).contains("line 3 is no line of a log"));
    // One that was cut.
    std::fs::write(log, text.strip_suffix("end\n").unwrap()).unwrap();
    assert!(fails("3", log).contains("it does not end as the log of 3 ranks"));
    // One with fewer receives from any source than the program has.
    let fewer = text.lines().filter(|line| !line.starts_with("receive"));
    std::fs::write(log, fewer.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let departed = fails("3", log);
    assert!(departed.contains("the run departs from the log"), "{departed}");
    assert!(departed.contains("[E505]"), "{departed}");
    // One of a program whose calls were told of other operations than this one has.
    let others = text.lines().map(|line| match line.split_once(": ") {
        Some((what, _)) if what.starts_with("all") => format!("{what}: 70 71 72\n"),
        _ => format!("{line}\n"),
    });
    std::fs::write(log, others.collect::<String>()).unwrap();
    assert!(fails("3", log).contains("the run departs from the log"));
}

#[test]
fn sessions_that_outlast_the_end_of_mpi_are_in_the_digest_and_in_the_log() {
    let mpi = Mpi::installed();
    let program = mpi.program("outlasting");
    let cluster = Cluster::up("t0320outlasting", 2);
    let log = cluster.work().join("log");
    let log = log.to_str().unwrap();
    // Each once waited for the other in `MPI_Finalize`, to say so, and was told of a deadlock.
    ran(&cluster, "1", "3", &[&program, "late"]);
    // Not when another rank has said that all is well.
    let sources = |done: &Output| done.out.replace("ok 3\n", "");
    let first = ran(&cluster, "1", "3", &["--mpi=bcs", "--digest", &program]);
    for nodes in ["1", "2"] {
        let again = ran(&cluster, nodes, "3", &["--mpi=bcs", "--digest", &program]);
        assert_eq!(sources(&again), sources(&first), "on {nodes} nodes");
        assert_eq!(digest(&again), digest(&first), "on {nodes} nodes");
        let recorded = ran(&cluster, nodes, "3", &["--digest", "--record", log, &program]);
        let again = ran(&cluster, "2", "3", &["--digest", "--replay", log, &program]);
        assert_eq!(sources(&again), sources(&recorded), "again on {nodes} nodes");
        assert_eq!(digest(&again), digest(&recorded), "again on {nodes} nodes");
    }
}

#[test]
fn a_run_that_departs_from_its_log_ends_whatever_the_program_does_with_errors() {
    let mpi = Mpi::installed();
    let program = mpi.program("departs");
    let cluster = Cluster::up("t0320departs", 1);
    let log = cluster.work().join("log");
    let log = log.to_str().unwrap();
    ran(&cluster, "1", "3", &["--record", log, &program, "5", "0"]);
    ran(&cluster, "1", "3", &["--replay", log, &program, "5", "0"]);
    // It receives less, or more, or with another tag, or probes where it tested.
    for other in [["3", "0"], ["6", "0"], ["5", "1"], ["5", "2"]] {
        let args = [&["run", "-n", "3", "--replay", log, &program], &other[..]].concat();
        let done = cluster.muster(&args).run();
        assert_ne!(done.code, 0, "{other:?}");
        assert!(done.err.contains("the run departs from the log"), "{other:?}: {}", done.err);
        assert_eq!(done.err.matches("[E505]").count(), 1, "{other:?}: {}", done.err);
        assert!(!done.err.contains("goes on"), "{other:?}: {}", done.err);
    }
}

#[test]
fn a_log_that_cannot_be_written_is_told_at_the_beginning_and_of_a_run_that_fails_there_is_none() {
    let mpi = Mpi::installed();
    let program = mpi.program("departs");
    let cluster = Cluster::up("t0320unwritten", 1);
    let log = cluster.work().join("log");
    let log = log.to_str().unwrap();
    // Where nobody has looked before, as on another host.
    let unseen = ["run", "-n", "2", "--env", "MUSTER_MPI_RECORD=/nowhere/log", &program, "5", "0"];
    let unwritten = cluster.muster(&unseen).run();
    assert!(unwritten.err.contains("the log /nowhere/log cannot be written"), "{}", unwritten.err);
    assert!(!unwritten.out.contains("begun"), "{}", unwritten.out);
    ran(&cluster, "1", "3", &["--record", log, &program, "5", "0"]);
    let failed = cluster.muster(&["run", "-n", "3", "--record", log, &program, "5", "3"]).run();
    assert_ne!(failed.code, 0);
    let again = cluster.muster(&["run", "-n", "3", "--replay", log, &program, "5", "0"]).run();
    assert!(again.err.contains("it is empty: the run that was to write it"), "{}", again.err);
}

/// A replay once found no line for a call that had failed, and so took another's.
#[test]
fn calls_that_fail_are_in_the_log_as_well() {
    let mpi = Mpi::installed();
    let program = mpi.program("partitioned");
    let cluster = Cluster::up("t0320failing", 1);
    let log = cluster.work().join("log");
    let log = log.to_str().unwrap();
    for mode in ["--mpi=direct", "--mpi=bcs"] {
        let first = ran(&cluster, "1", "3", &[mode, "--digest", "--record", log, &program]);
        let again = ran(&cluster, "1", "3", &["--digest", "--replay", log, &program]);
        assert_eq!(again.out, first.out, "{mode}");
        assert_eq!(digest(&again), digest(&first), "{mode}");
    }
}

#[test]
fn sweep3d_has_the_same_digits_and_one_digest_however_it_is_spread() {
    let mpi = Mpi::installed();
    let program = mpi.sweep3d();
    let deck = root().join("apps/sweep3d/decks/converge");
    let cluster = Cluster::up("t0320sweep", 2);
    let flags = ["--mpi=bcs", "--digest", &program, deck.to_str().unwrap(), "2", "2"];
    let first = digest(&ran(&cluster, "1", "4", &flags));
    assert_eq!(digest(&ran(&cluster, "2", "4", &flags)), first);
}

/// Threads that use the machine's processors for random times, as others who work there do.
struct Load {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn new(seed: u64) -> Load {
        let is_over = Arc::new(AtomicBool::new(false));
        let each = |number| {
            let (is_over, mut random) = (is_over.clone(), Random::new(seed + number));
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let until = Instant::now() + Duration::from_micros(random.below(20_000));
                    while Instant::now() < until {
                        std::hint::spin_loop();
                    }
                    thread::sleep(Duration::from_micros(random.below(40_000)));
                }
            })
        };
        let threads = (0..3).map(each).collect();
        Load { is_over, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

#[test]
fn whatever_else_the_machine_does_a_program_has_one_digest() {
    let runs = std::env::var("MUSTER_DIGESTS").ok().and_then(|text| text.parse().ok());
    let runs: usize = runs.unwrap_or(20);
    let mpi = Mpi::installed();
    let (chosen, sweep) = (mpi.program("chosen"), mpi.sweep3d());
    let deck = root().join("apps/sweep3d/decks/50-4x4");
    let cluster = Cluster::up("t0320load", 4);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let _load = Load::new(now.as_secs());
    let (any, sweep) = (["7", &chosen].to_vec(), ["16", &sweep, deck.to_str().unwrap()].to_vec());
    for (program, runs) in [(any, runs), (sweep, (runs / 50).max(2))] {
        let flags = [&["--mpi=bcs", "--digest"], &program[1..]].concat();
        let (begun, mut first) = (Instant::now(), None);
        for run in 0..runs {
            let one = digest(&ran(&cluster, "4", program[0], &flags));
            assert_eq!(&one, first.get_or_insert(one.clone()), "{}, run {run}", program[1]);
        }
        eprintln!("{}: {runs} runs, one digest, {:.0?}", program[1], begun.elapsed());
    }
}
