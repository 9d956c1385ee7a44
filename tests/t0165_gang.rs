//! Jobs that take turns: real programs, a real strober, and whoever of them may die.

mod cluster;
mod mpi;

use cluster::{Cluster, Running, signal, until};
use mpi::Mpi;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A cluster of two nodes whose jobs count, each in a file.
struct Gang {
    cluster: Cluster,
    jobs: Vec<Running>,
}

/// A turn that a test may wait for, and one that no test sees the end of.
const SHORT: u32 = 300;
const LONG: u32 = 8000;

impl Gang {
    fn up(test: &str) -> Gang {
        let cluster = Cluster::up(test, 2);
        Gang { cluster, jobs: Vec::new() }
    }

    /// Runs the next job, on both nodes.
    fn run(&mut self) {
        self.run_script("while :; do COUNT; done");
    }

    /// Runs a job of which each rank does that, and counts where it says so.
    fn run_script(&mut self, script: &str) {
        let script = script.replace("COUNT", "echo >> WORK/$MUSTER_JOB.$MUSTER_RANK");
        let script = script.replace("WORK", self.cluster.work().to_str().unwrap());
        self.jobs.push(self.cluster.muster(&["run", "-N", "2", "sh", "-c", &script]).start());
    }

    /// A pipe that has a name, in the jobs' directory.
    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.cluster.work().join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        path
    }

    /// Lets jobs take turns.
    fn take_turns(&self, slice_ms: u32, slots: &str) {
        let (secs, nanos) = (slice_ms / 1000, slice_ms % 1000 * 1_000_000);
        let table =
            format!("{{\"slice\":{{\"secs\":{secs},\"nanos\":{nanos}}},\"slots\":{slots}}}\n");
        self.cluster.muster(&["write", "/slots"]).input(table).run().ok();
        let count = serde_json::from_str::<Vec<Vec<u32>>>(slots).unwrap().len();
        until("the strober has the table", || self.told("slots") == count as u64);
    }

    /// Has one job wait for its turn, for so long that nobody sees it come.
    fn stop_one(&self, runs: u32, waits: u32) {
        self.take_turns(LONG, &format!("[[{runs}],[{waits}]]"));
        if self.told("slot") != 0 {
            self.take_turns(LONG, "[]");
            self.take_turns(LONG, &format!("[[{waits}],[{runs}]]"));
        }
    }

    /// What the strober tells of itself, which needs no manager.
    fn strober(&self) -> Option<Value> {
        let mut stream = UnixStream::connect(self.cluster.directory().join("strobe.sock")).ok()?;
        stream.write_all(b"\n").ok()?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// The same, as soon as it answers.
    fn answer(&self) -> Value {
        let mut told = None;
        until("the strober answers", || {
            told = self.strober();
            told.is_some()
        });
        told.unwrap()
    }

    fn told(&self, what: &str) -> u64 {
        self.answer()[what].as_u64().unwrap()
    }

    /// The slot, and what tells its turn from all others: who gets in step begins turns that are
    /// not counted as strobes, and even some of another slot and then again one of this.
    fn turn(&self) -> (u64, [Value; 2]) {
        let mut told = self.answer();
        (told["slot"].as_u64().unwrap(), ["strobes", "turn"].map(|what| told[what].take()))
    }

    /// How far the ranks of a job have counted.
    fn count(&self, job: u32) -> u64 {
        let path = |rank: u32| self.cluster.work().join(format!("{job}.{rank}"));
        let of = |rank: u32| fs::metadata(path(rank)).map_or(0, |file| file.len());
        of(0) + of(1)
    }

    /// The jobs that counted during one turn. What was being written when it began may be written
    /// after that: one number a rank.
    fn who_counts(&self) -> (u64, Vec<u32>) {
        let jobs = || [1, 2].map(|job| self.count(job));
        loop {
            let turn = self.turn();
            let before = jobs();
            let mut after = before;
            while after == before && self.turn() == turn {
                std::thread::sleep(Duration::from_millis(30));
                after = jobs();
            }
            std::thread::sleep(Duration::from_millis(50));
            after = jobs();
            if self.turn() == turn {
                let count = |job: &u32| after[*job as usize - 1] > before[*job as usize - 1] + 2;
                return (turn.0, [1, 2].into_iter().filter(count).collect());
            }
        }
    }

    /// Lets both jobs take turns, and asserts that they do so for some.
    fn see_turns(&self) {
        self.take_turns(SHORT, "[[1],[2]]");
        let mut seen = [0; 2];
        while seen.iter().any(|turns| *turns < 2) {
            let (slot, who) = self.who_counts();
            let slot = slot as usize;
            // On a busy machine it may not have come to count.
            assert!(who.is_empty() || who == [slot as u32 + 1], "{who:?} in slot {slot}");
            seen[slot] += usize::from(!who.is_empty());
        }
    }

    /// Kills the strober until its keeper gives it up. Of the ten seconds in which ten deaths count
    /// the pauses before nine starts take most, so each is killed as soon as it is noted. Where
    /// that took too long, the keeper forgets those deaths, and its pauses are short again.
    fn kill_strober_for_good(&self) {
        const TRY: Duration = Duration::from_secs(12);
        const FORGETS: Duration = Duration::from_secs(10);
        let log = self.cluster.directory().join("keeper.log");
        let mut begun = Instant::now();
        until("the strober is given up", || {
            if begun.elapsed() > TRY + FORGETS {
                begun = Instant::now();
            }
            for _ in 0..100 {
                if let Some(pid) = self.cluster.noted("strober").filter(|_| begun.elapsed() < TRY) {
                    signal(pid, Signal::KILL);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            let said = fs::read_to_string(&log).unwrap();
            said.contains("strober died 10 times within 10 s: given up\n")
        });
    }

    fn await_count(&self, job: u32) {
        let before = self.count(job);
        until(&format!("job {job} counts"), || self.count(job) > before + 2);
    }

    /// A rank that is born runs until the first turn that begins when it is listed, where ranks are
    /// stopped by signals.
    fn await_listed(&self, job: u32) {
        self.await_count(job);
        let list = self.cluster.directory().join(format!("ranks/j{job}"));
        let listed = || fs::read_dir(&list).map_or(0, |ranks| ranks.flatten().count());
        let is_listed = || self.has_groups() || listed() == 2;
        until(&format!("the ranks of job {job} are listed"), is_listed);
    }

    /// Directories of jobs' control groups, wherever they are.
    fn group(&self, job: u32) -> Option<PathBuf> {
        let own = fs::read_to_string(self.cluster.directory().join("cgroup")).ok()?;
        let directory = fs::metadata(self.cluster.directory()).unwrap();
        let (device, inode) = (directory.dev(), directory.ino());
        Some(PathBuf::from(own).join(format!("muster-default-{device:x}-{inode:x}-jobs/j{job}")))
    }

    /// Whether processes are stopped by what they cannot undo.
    fn has_groups(&self) -> bool {
        self.strober().is_some_and(|told| told["by"] == "freezer")
    }

    fn down(mut self) {
        self.jobs.clear();
        self.cluster.down();
    }
}

#[test]
fn jobs_of_two_slots_take_turns_and_never_both_run() {
    let mut gang = Gang::up("turns");
    gang.run();
    gang.run();
    (1..=2).for_each(|job| gang.await_count(job));
    gang.see_turns();
    // Both again, in one slot.
    gang.take_turns(SHORT, "[[1,2]]");
    (1..=2).for_each(|job| gang.await_count(job));
    gang.down();
}

#[test]
fn a_job_is_born_at_its_turn_and_an_ended_one_gives_its_slot_up() {
    let mut gang = Gang::up("born");
    gang.run();
    gang.await_count(1);
    gang.stop_one(1, 2);
    let turn = gang.told("strobes");
    gang.run();
    if let Some(group) = gang.group(2).filter(|_| gang.has_groups()) {
        let populated = || fs::read_to_string(group.join("cgroup.events")).unwrap_or_default();
        until("it has processes", || populated().contains("populated 1"));
        let is_early = gang.cluster.work().join("2.0").exists();
        assert!(!is_early || gang.told("strobes") > turn, "it ran before its turn");
    }
    // Killed while it stands still.
    gang.cluster.muster(&["kill", "-s", "KILL", "2"]).run().ok();
    until("job 2 has ended", || gang.cluster.job(2)["state"] == "done");
    until("its slot is given up", || gang.told("slots") == 1);
    if let Some(group) = gang.group(2) {
        until("its group is gone", || !group.exists());
    }
    gang.await_count(1);
    gang.down();
}

#[test]
fn sigcont_does_not_wake_a_job_that_waits_for_its_turn() {
    let mut gang = Gang::up("cont");
    gang.run();
    gang.run();
    (1..=2).for_each(|job| gang.await_count(job));
    if !gang.has_groups() {
        return gang.down(); // By signals, it does, until the next strobe.
    }
    gang.stop_one(1, 2);
    let told = || -> Option<Vec<i32>> {
        let job = gang.cluster.job(2);
        let pid = |rank: &Value| rank["pid"].as_i64().map(|pid| pid as i32);
        job["ranks"].as_array()?.iter().map(pid).collect()
    };
    until("its processes are known", || told().is_some());
    let pids = told().expect("they are");
    let (turn, before) = (gang.told("strobes"), gang.count(2));
    gang.cluster.muster(&["kill", "-s", "CONT", "2"]).run().ok();
    pids.iter().for_each(|pid| signal(*pid, Signal::CONT));
    gang.await_count(1);
    let after = gang.count(2);
    assert!(after <= before + 2 || gang.told("strobes") > turn, "{before} {after}");
    gang.down();
}

#[test]
fn a_turn_in_which_a_whole_job_sleeps_is_lent_and_given_back_when_one_rank_wakes() {
    let mut gang = Gang::up("lent");
    let (stop, go) = (gang.cluster.work().join("stop"), gang.pipe("go.0"));
    gang.pipe("go.1");
    let sleeps = "read word < WORK/go.$MUSTER_RANK";
    gang.run_script(&format!(
        "while :; do while [ ! -e WORK/stop ]; do COUNT; done; {sleeps}; done"
    ));
    gang.await_count(1);
    gang.run();
    (1..=2).for_each(|job| gang.await_count(job));
    if !gang.has_groups() {
        return gang.down(); // What has left a process group is not known.
    }
    gang.stop_one(1, 2);
    let (turn, lent) = (gang.told("strobes"), gang.told("lent"));
    // Open at both ends, so that what rank 0 sleeps for is its line: who opened it, and wrote only
    // then, would wake it twice.
    let mut go = fs::File::options().read(true).write(true).open(go).unwrap();
    fs::write(&stop, "").unwrap();
    until("the turn is lent", || gang.told("lent") > lent);
    gang.await_count(2);
    fs::remove_file(&stop).unwrap();
    go.write_all(b"\n").unwrap();
    gang.await_count(1);
    until("it is given back", || {
        let before = gang.count(2);
        std::thread::sleep(Duration::from_millis(20));
        gang.count(2) == before
    });
    gang.await_count(1);
    assert!(gang.told("lent") == lent + 1 || gang.told("strobes") > turn, "it is lent no more");
    // Who stands still would be waited for at the end.
    gang.take_turns(LONG, "[]");
    gang.down();
}

#[test]
fn a_rank_that_computes_keeps_the_turn_of_its_job_though_all_others_sleep() {
    let mut gang = Gang::up("kept");
    gang.pipe("never");
    let sleeps = "[ $MUSTER_RANK = 0 ] && read word < WORK/never";
    gang.run_script(&format!("COUNT; {sleeps}; while :; do COUNT; done"));
    gang.run();
    (1..=2).for_each(|job| gang.await_count(job));
    gang.take_turns(10, "[[1],[2]]");
    let turn = gang.told("strobes");
    until("each has had some turns", || gang.told("strobes") > turn + 60);
    assert_eq!(gang.told("lent"), 0);
    gang.down();
}

#[test]
fn ranks_that_wait_in_mpi_lend_their_turn_and_go_on_when_they_can() {
    let mpi = Mpi::installed();
    let program = mpi.program("waits");
    let mut gang = Gang::up("waits");
    gang.run();
    gang.await_count(1);
    for (job, mode) in [(2, "--mpi=direct"), (3, "--mpi=bcs")] {
        let pipe = gang.pipe(mode);
        let path = pipe.to_str().unwrap();
        let run = gang.cluster.muster(&["run", "-N", "2", "-n", "4", mode, &program, path]);
        let run = run.start();
        run.await_out("waits");
        if gang.has_groups() {
            let lent = gang.told("lent");
            gang.stop_one(job, 1);
            until("the turn is lent", || gang.told("lent") > lent);
            gang.await_count(1);
        }
        fs::write(pipe, "\n").unwrap();
        assert_eq!(run.wait().ok().sorted(), ["goes on", "ok 4", "waits"], "{mode}");
        gang.take_turns(LONG, "[]");
    }
    gang.down();
}

#[test]
fn a_killed_strober_is_started_again_and_goes_on() {
    let mut gang = Gang::up("again");
    gang.run();
    gang.run();
    (1..=2).for_each(|job| gang.await_count(job));
    gang.take_turns(SHORT, "[[1],[2]]");
    let stamp = gang.told("stamp");
    let old = gang.cluster.kill("strober");
    until("there is another", || gang.cluster.pid("strober").is_some_and(|pid| pid != old));
    until("it goes on", || gang.told("strobes") > 2);
    assert_eq!((gang.told("stamp"), gang.told("slots")), (stamp, 2));
    gang.down();
}

/// On a full disk a strober cannot keep its table.
#[test]
fn a_strober_that_has_lost_its_table_is_told_it_again() {
    let mut gang = Gang::up("lost");
    gang.run();
    gang.run();
    (1..=2).for_each(|job| gang.await_count(job));
    gang.take_turns(SHORT, "[[1],[2]]");
    let stamp = gang.told("stamp");
    fs::remove_file(gang.cluster.directory().join("strobe")).unwrap();
    let old = gang.cluster.kill("strober");
    until("there is another", || gang.cluster.pid("strober").is_some_and(|pid| pid != old));
    until("it has the table", || gang.told("slots") == 2);
    assert!(gang.told("stamp") >= stamp);
    gang.down();
}

#[test]
fn a_strober_that_dies_again_and_again_leaves_no_job_stopped() {
    let mut gang = Gang::up("dies");
    gang.run();
    gang.run();
    (1..=2).for_each(|job| gang.await_count(job));
    gang.stop_one(1, 2);
    gang.kill_strober_for_good();
    (1..=2).for_each(|job| gang.await_count(job));
    // Others are launched as ever.
    gang.cluster.muster(&["run", "-N", "2", "true"]).run().ok();
    gang.down();
}

#[test]
fn turns_go_on_without_a_manager_and_the_next_one_takes_them_over() {
    let mut gang = Gang::up("manager");
    let set = format!("gang slice={SHORT}ms slots=2\n");
    gang.cluster.muster(&["write", "/scheduler"]).input(set).run().ok();
    gang.run();
    gang.run();
    until("they take turns", || gang.told("slots") == 2);
    (1..=2).for_each(|job| gang.await_count(job));
    let (stamp, strobes) = (gang.told("stamp"), gang.told("strobes"));
    gang.cluster.kill("manager");
    until("turns go on", || gang.told("strobes") > strobes + 2);
    gang.cluster.await_nodes(2);
    until("the next one's table is there", || {
        gang.told("stamp") > stamp && gang.told("slots") == 2
    });
    (1..=2).for_each(|job| gang.await_count(job));
    gang.down();
}

#[test]
fn an_ordinary_users_jobs_take_turns_by_signals_and_he_is_told() {
    let Some(cluster) = Cluster::of_nobody("nobody") else { return };
    let said = cluster.muster(&["up", "-N", "2"]).run().ok();
    cluster.note("default");
    let mut gang = Gang { cluster, jobs: Vec::new() };
    let told = gang.answer();
    let is_limited = told["by"] == "signals" || told["scheduled"] == "shared";
    assert!(!said.err.contains("[N125]"), "no jobs take turns yet: {}", said.err);
    let said = gang.cluster.muster(&["scheduler", "gang", "--slice", "300us"]).run().ok();
    assert_eq!(is_limited, said.err.contains("[N125]"), "{told} {}", said.err);
    let slots = gang.cluster.json(&["cat", "/slots"]);
    let by = if is_limited { json!(["n0"]) } else { json!([]) };
    assert_eq!(slots["least_by"], by, "{slots}");
    gang.cluster.muster(&["scheduler", "share"]).run().ok();
    gang.run();
    gang.run();
    (1..=2).for_each(|job| gang.await_listed(job));
    gang.see_turns();
    gang.stop_one(1, 2);
    gang.kill_strober_for_good();
    (1..=2).for_each(|job| gang.await_count(job));
    gang.down();
}

#[test]
fn a_killed_keeper_takes_stopped_jobs_along() {
    let mut gang = Gang::up("keeper");
    gang.run();
    gang.run();
    (1..=2).for_each(|job| gang.await_count(job));
    gang.stop_one(1, 2);
    gang.cluster.kill("keeper");
    gang.jobs.clear();
    gang.cluster.leftovers();
}

#[test]
fn ranks_that_take_turns_may_not_be_real_time_and_others_if_their_user_may() {
    let cluster = Cluster::none("t0165limit");
    let raise = "prlimit --rtprio=5:5 --pid $$";
    if cluster.muster(&["--version"]).after(&format!("{raise} || exit 77")).run().code == 77 {
        eprintln!("the limit of real-time priorities cannot be raised here: nothing tested");
        return;
    }
    cluster.muster(&["up", "-N", "1"]).after(raise).run().ok();
    cluster.note("default");
    let run = |script: &str| cluster.muster(&["run", "sh", "-c", script]).run().out;
    let limit = || run("awk '/^Max realtime priority/ {print $4, $5}' /proc/self/limits");
    // Root may anyway: one who is not is held to the limit.
    let tried = || run("setpriv --reuid 65534 --clear-groups chrt -f 1 echo may 2>&1");
    let may = tried();
    assert_eq!(limit(), "5 5\n");
    cluster.muster(&["scheduler", "gang"]).run().ok();
    assert_eq!(limit(), "0 0\n");
    let refused = tried();
    assert!(!refused.contains("may\n") && refused.contains("not permitted"), "{may}{refused}");
    cluster.muster(&["scheduler", "fcfs"]).run().ok();
    assert_eq!((limit().as_str(), tried()), ("5 5\n", may));
    cluster.down();
}

#[test]
fn where_jobs_take_turns_ranks_that_fill_the_machine_are_bound_and_all_are_nicer() {
    let cluster = Cluster::up("t0165bind", 2);
    let list = |path: &str| {
        let status = fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.unwrap().trim().to_owned()
    };
    let all = list("/proc/self/status");
    let count = rustix::thread::sched_getaffinity(None).unwrap().count() as usize;
    let run = |ranks: usize, flags: &[&str]| {
        let ranks = ranks.to_string();
        let say = "awk '/^Cpus_allowed_list/ {print $2}' /proc/self/status";
        let args = [&["run", "-N", "2", "-n", &ranks], flags, &["sh", "-c", say]].concat();
        cluster.muster(&args).run().ok().sorted().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let anywhere = |ranks: usize| vec![all.clone(); ranks];
    assert_eq!(run(2 * count, &[]), anywhere(2 * count));
    let nice = || cluster.muster(&["run", "nice"]).run().ok().out.trim().parse::<i32>().unwrap();
    let usual = nice();
    cluster.muster(&["scheduler", "gang"]).run().ok();
    assert_eq!(nice(), (usual + 5).min(19), "they stand back behind who starts the next job");
    let bound = run(2 * count, &[]);
    let mut different = bound.clone();
    different.dedup();
    assert_eq!(different.len(), count, "each processor has some: {bound:?}");
    assert!(bound.chunks(2).all(|two| two[0] == two[1]), "each has two: {bound:?}");
    assert!(bound.iter().all(|one| one.parse::<u32>().is_ok()), "each has one: {bound:?}");
    assert_eq!(run(2 * count, &["--no-bind"]), anywhere(2 * count));
    if count > 1 {
        assert_eq!(run(2 * count + 1, &[]), anywhere(2 * count + 1));
    }
    cluster.down();
}

/// The group of a rank that is killed goes when others see that it is empty; a daemon once waited
/// for the kernel's word of that for five seconds, and was killed for it.
#[test]
fn a_cluster_with_jobs_that_take_turns_ends_by_itself() {
    let cluster = Cluster::up("t0165", 2);
    cluster.muster(&["scheduler", "gang"]).run().ok();
    for _ in 0..2 {
        cluster.muster(&["run", "--detach", "-N", "2", "sleep", "1000"]).run().ok();
    }
    until("both have a turn", || {
        cluster.json(&["ps", "--json"])["jobs"]
            .as_array()
            .is_some_and(|jobs| jobs.iter().filter(|job| job["state"] == "running").count() == 2)
    });
    let said = cluster.muster(&["down"]).run().ok();
    assert!(
        !said.out.contains("killed") && !said.err.contains("killed"),
        "{} {}",
        said.out,
        said.err
    );
    cluster.leftovers();
}
