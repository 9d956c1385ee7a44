//! kill -9 of whatever there is: it is told, other jobs go on, nothing is orphaned.

mod cluster;
#[path = "cluster/random.rs"]
mod random;

use cluster::{Cluster, Running, signal, stop, until};
use random::Random;
use rustix::process::Signal;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const KILLS: usize = 20;

/// Ten deaths within ten seconds and the keeper gives a daemon up.
const PACE: Duration = Duration::from_millis(1150);

/// Children of every kind that could survive their parent.
const FAMILY: &str = "setsid sleep 600 & (setsid sh -c 'sleep 600 & exec sleep 600' &) ; \
                      sleep 600 & echo ready; exec sleep 600";

/// A job on n2 and n3 that counts until it is told to end.
struct Counter {
    job: Running,
    flag: PathBuf,
}

impl Counter {
    fn start(cluster: &Cluster) -> Counter {
        let flag = cluster.work().join("flag");
        // A megabyte at a time: more than all windows on its way hold.
        let line = format!(
            "$| = 1; my $n = 0; until (-e '{}') {{ my $s = ''; \
             for (1 .. 20000) {{ $s .= sprintf(\"%s %09d 0123456789012345678901234567890\\n\", \
             $ENV{{MUSTER_RANK}}, $n++) }} print $s; select(undef, undef, undef, 0.2) }} \
             print \"$ENV{{MUSTER_RANK}} end $n\\n\"",
            flag.display()
        );
        let job =
            cluster.muster(&["run", "-w", "n[2-3]", "-J", "counter", "perl", "-e", &line]).start();
        job.await_out("1 000019999");
        Counter { job, flag }
    }

    /// Tells it to end; its output must be whole.
    fn end(self) {
        std::fs::write(&self.flag, "").unwrap();
        let said = self.job.wait().ok();
        let mut next = [0; 2];
        let mut ended = [false; 2];
        for (at, line) in said.out.lines().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let rank: usize = words[0].parse().unwrap_or(9);
            assert!(rank < 2, "line {at}: {line:?}");
            if words[1] == "end" {
                assert_eq!(words[2], next[rank].to_string());
                ended[rank] = true;
            } else {
                assert_eq!(words[1], format!("{:09}", next[rank]), "line {at}");
                next[rank] += 1;
            }
        }
        assert_eq!(ended, [true; 2]);
    }
}

/// A job with a family on n0 and n1.
fn family(cluster: &Cluster) -> Running {
    let job = cluster.muster(&["run", "-w", "n[0-1]", "sh", "-c", FAMILY]).start();
    until("both ranks run", || job.out().matches("ready").count() == 2);
    job
}

/// Waits until no process of a family is left.
fn no_family(cluster: &Cluster) {
    let family = || -> Vec<String> {
        cluster.processes().into_values().filter(|line| line.contains("sleep\x00600")).collect()
    };
    until("the family is gone", || family().is_empty());
}

#[test]
fn a_node_daemon_is_killed_twenty_times() {
    let cluster = Cluster::up("t0120node", 4);
    let counter = Counter::start(&cluster);
    for kill in 0..KILLS {
        let start = Instant::now();
        let node = ["n0", "n1"][kill % 2];
        let job = family(&cluster);
        cluster.kill(node);
        let said = job.wait().code(125).says(node);
        let told = "was lost: its daemon was killed by signal 9";
        assert!(said.err.contains(told) && said.err.contains("[E304"), "{}", said.err);
        no_family(&cluster);
        cluster.await_nodes(4);
        std::thread::sleep((PACE / 2).saturating_sub(start.elapsed()));
    }
    let status = cluster.json(&["cat", "status"]);
    assert_eq!(
        (&status["nodes"][0]["losses"], &status["nodes"][2]["losses"]),
        (&10.into(), &0.into())
    );
    counter.end();
    cluster.muster(&["run", "-N", "4", "true"]).run().ok();
    cluster.no_job_processes();
    cluster.down();
}

/// The evidence of a death is waited for 5 s. A node that came back meanwhile and dies again has
/// its own 5 s: the end of the first does not call the second a connection that closed.
#[test]
fn a_node_that_dies_again_is_not_judged_by_its_first_death() {
    let cluster = Cluster::up("t0120again", 2);
    let keeper = cluster.await_pid("keeper");
    let mut first = None;
    for (before, silent) in [(0, 500), (4500, 1500)] {
        let job = family(&cluster);
        let begun = *first.get_or_insert_with(Instant::now);
        std::thread::sleep(Duration::from_millis(before).saturating_sub(begun.elapsed()));
        // Nobody tells what became of n1 while its keeper does not run.
        stop(keeper);
        signal(cluster.await_pid("n1"), Signal::KILL);
        std::thread::sleep(Duration::from_millis(silent));
        signal(keeper, Signal::CONT);
        job.wait().code(125).says("n1 was lost: its daemon was killed by signal 9");
        cluster.await_nodes(2);
    }
    cluster.down();
}

#[test]
fn the_manager_is_killed_twenty_times() {
    let cluster = Cluster::up("t0120manager", 4);
    let counter = Counter::start(&cluster);
    let family = family(&cluster);
    for _ in 0..KILLS {
        let start = Instant::now();
        let old = cluster.kill("manager");
        until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
        cluster.await_nodes(4);
        let listed = cluster.muster(&["ps"]).run().ok().out;
        assert_eq!(listed.matches("running").count(), 2, "{listed}");
        let said = cluster.muster(&["run", "-N", "2", "echo", "new"]).run().ok();
        assert_eq!(said.out, "new\nnew\n");
        std::thread::sleep(PACE.saturating_sub(start.elapsed()));
    }
    family.signal(Signal::INT);
    family.wait().code(130);
    no_family(&cluster);
    counter.end();
    cluster.no_job_processes();
    cluster.down();
}

#[test]
fn muster_run_is_killed_twenty_times() {
    let cluster = Cluster::up("t0120run", 4);
    let counter = Counter::start(&cluster);
    for _ in 0..KILLS {
        let job = family(&cluster);
        job.signal(Signal::KILL);
        assert_eq!(job.wait().code, 137);
        no_family(&cluster);
    }
    until("all of them are told of as ended", || {
        let all = cluster.json(&["ps", "--all", "--json"]);
        let jobs = all["jobs"].as_array().unwrap().iter();
        jobs.filter(|job| job["why"] == "its client went away").count() == KILLS
    });
    counter.end();
    cluster.no_job_processes();
    cluster.down();
}

/// A job that is only being started, or being ended, when the manager is killed.
#[test]
fn the_manager_is_killed_at_odd_moments() {
    let cluster = Cluster::up("t0120odd", 4);
    let big: Vec<u8> = (0..40_000_000_u32).map(|n| (n >> 3) as u8).collect();
    cluster.file("big", 0o644, &big);
    // Its files are on their way.
    for wait in [0, 10, 30, 60, 100, 200] {
        let job = cluster.muster(&["run", "-N", "4", "--bcast", "big", "sleep", "600"]).start();
        std::thread::sleep(Duration::from_millis(wait));
        let old = cluster.kill("manager");
        until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
        cluster.await_nodes(4);
        job.signal(Signal::INT);
        // One that comes at once is the first.
        std::thread::sleep(Duration::from_millis(100));
        job.signal(Signal::INT);
        assert_ne!(job.wait().code, 0);
        std::thread::sleep(PACE);
    }
    // It is being ended, and the first failure stays what it was.
    let fail = cluster.work().join("fail");
    let line = format!(
        "trap '' TERM; echo ready; while :; do sleep 0.1; \
         [ $MUSTER_RANK = 1 ] && [ -e {} ] && exit 3; done",
        fail.display()
    );
    let job = cluster.muster(&["run", "-N", "4", "--grace", "10s", "sh", "-c", &line]).start();
    until("all run", || job.out().matches("ready").count() == 4);
    fs::write(fail, "").unwrap();
    until("it is being ended", || cluster.muster(&["ps"]).run().ok().out.contains("ending"));
    cluster.kill("manager");
    job.wait().code(3);
    until("all jobs are done", || cluster.muster(&["ps"]).run().ok().out.lines().count() <= 1);
    cluster.no_job_processes();
    for node in 0..4 {
        until("no session is left", || cluster.sessions(node) == 0);
    }
    cluster.down();
}

/// They were killed when their nodes had joined the next one, and a checkpoint was torn.
#[test]
fn ranks_of_a_job_that_is_ending_have_their_time_when_the_manager_is_killed() {
    let cluster = Cluster::up("t0120grace", 3);
    let fail = cluster.work().join("fail");
    let line = format!(
        "trap 'echo asked; sleep 4; echo saved; exit' TERM; echo ready; \
         while :; do sleep 0.1; [ $MUSTER_RANK = 1 ] && [ -e {} ] && exit 3; done",
        fail.display()
    );
    let job = cluster.muster(&["run", "-N", "3", "--grace", "1m", "sh", "-c", &line]).start();
    until("all run", || job.out().matches("ready").count() == 3);
    fs::write(fail, "").unwrap();
    until("they are asked", || job.out().matches("asked").count() == 2);
    cluster.kill("manager");
    let said = job.wait().code(3);
    assert_eq!(said.out.matches("saved").count(), 2, "{said:?}");
    cluster.no_job_processes();
    cluster.down();
}

/// TERM waited for them to go on, and KILL came first.
#[test]
fn ranks_that_are_stopped_hear_that_their_job_is_to_end() {
    let cluster = Cluster::up("t0120stopped", 2);
    let line = "trap 'echo saved; exit' TERM; echo ready; while :; do sleep 0.1; done";
    let job = cluster.muster(&["run", "-N", "2", "--grace", "1m", "sh", "-c", line]).start();
    until("all run", || job.out().matches("ready").count() == 2);
    cluster.muster(&["kill", "-s", "STOP", "1"]).run().ok();
    cluster.muster(&["kill", "1"]).run();
    let said = job.wait();
    assert_eq!(said.out.matches("saved").count(), 2, "{said:?}");
    cluster.no_job_processes();
    cluster.down();
}

/// A write that the old manager had passed on but not answered reached the ranks twice.
#[test]
fn input_is_neither_lost_nor_doubled_when_the_manager_is_killed() {
    let cluster = Cluster::up("t0120input", 3);
    let big = Random::new(1).bytes(40_000_000);
    let path = cluster.file("big", 0o644, &big);
    let mut here = std::process::Command::new("md5sum");
    here.stdin(std::fs::File::open(path).unwrap());
    let here = String::from_utf8(here.output().unwrap().stdout).unwrap();
    // Slow enough to be under way when the manager dies.
    let line = "perl -e 'while (sysread(STDIN, $b, 65536)) { print $b; \
                select(undef, undef, undef, 0.002) }' | md5sum";
    let args = ["run", "-n", "3", "-i", "all", "sh", "-c", line];
    let mut job = cluster.muster(&args).input(big).start();
    until("it runs", || cluster.muster(&["ps"]).run().ok().out.contains("running"));
    for _ in 0..5 {
        std::thread::sleep(PACE / 4);
        if job.ended() {
            break;
        }
        let old = cluster.kill("manager");
        until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
        cluster.await_nodes(3);
    }
    let said = job.wait().ok();
    assert!(said.err.contains("gone for a moment"), "it was too fast: {}", said.err);
    assert_eq!(said.sorted(), [here.trim_end(); 3]);
    cluster.down();
}

#[test]
fn a_frozen_node_does_not_hold_up_the_end() {
    let cluster = Cluster::up("t0120stop", 4);
    let job = family(&cluster);
    stop(cluster.await_pid("n0"));
    let said = cluster.muster(&["down"]).run().ok();
    assert!(said.out.contains("is down: 4 nodes n[0-3] ended"), "{}", said.out);
    drop(job);
    cluster.leftovers();
}

/// It took a cluster that it did not see for one that had crashed, and what had its keeper's number
/// among the job's own processes for the keeper.
#[test]
fn a_job_cannot_take_its_own_cluster_down() {
    let cluster = Cluster::up("t0120own", 1);
    let inside = |line: &str| cluster.muster(&["run", "sh", "-c", line, cluster::MUSTER]).run();
    let said = inside("$0 down").code(1);
    assert!(said.err.contains("a job cannot take its own cluster down"), "{}", said.err);
    // Nor one that it does not call its own, and does not see either.
    let said = inside("unset MUSTER_JOB; $0 down").code(1);
    assert!(said.out.is_empty() && said.err.contains("[E129"), "{} {}", said.out, said.err);
    cluster.muster(&["run", "true"]).run().ok();
    cluster.down();
}

/// It waited for ever, without a word.
#[test]
fn a_job_cannot_wait_for_itself_nor_for_what_it_was_started_in() {
    let cluster = Cluster::up("t0120self", 1);
    let inside = |line: &str| cluster.muster(&["run", "sh", "-c", line, cluster::MUSTER]).run();
    let said = inside("$0 wait $MUSTER_JOB").code(1);
    assert!(said.err.contains("this is a part of job 1, which"), "{}", said.err);
    let said = inside("outer=$MUSTER_JOB $0 run sh -c '$0 wait $outer' $0").code(1);
    assert!(said.err.contains("this is a part of job 2, which"), "{}", said.err);
    // Others are waited for.
    inside("$0 wait 1; test $? = 1").ok();
    cluster.down();
}

/// They waited for 10 s for another manager, and said that it does not answer.
#[test]
fn who_waits_for_a_job_hears_that_its_cluster_was_taken_down() {
    let cluster = Cluster::up("t0120down", 1);
    let runs = cluster.muster(&["run", "sh", "-c", "echo runs; sleep 1000"]).start();
    runs.await_out("runs");
    let others = [&["wait", "1"][..], &["logs", "-f", "1"]].map(|it| cluster.muster(it).start());
    others[1].await_out("runs");
    cluster.muster(&["down"]).run().ok();
    let why = "job 1 was ended: the cluster was taken down  [E305";
    runs.wait().code(125).says(why);
    let [waits, follows] = others;
    follows.wait().code(1).says(why);
    // It may not have begun to wait.
    assert_eq!(waits.wait().code, 1);
    cluster.leftovers();
}

/// The second found daemons without a keeper, and told of a crash.
#[test]
fn two_who_take_a_cluster_down_at_once_tell_of_no_crash() {
    let cluster = Cluster::up("t0120twice", 2);
    let both = [0; 2].map(|_| cluster.muster(&["down"]).start());
    for down in both {
        let said = down.wait().ok();
        assert!(!said.out.contains("crash"), "{}", said.out);
    }
    cluster.leftovers();
}

#[test]
fn a_job_on_a_frozen_node_can_be_killed() {
    let cluster = Cluster::up("t0120frozen", 4);
    let job = family(&cluster);
    let counter = Counter::start(&cluster);
    let node = cluster.await_pid("n0");
    stop(node);
    let id = cluster.json(&["ps", "--json"])["jobs"][0]["id"].to_string();
    cluster.muster(&["kill", &id]).run().ok();
    let said = job.wait().code(143);
    assert!(said.err.contains("n0"), "{}", said.err);
    counter.end();
    signal(node, Signal::CONT);
    // What it was told meanwhile it does now.
    no_family(&cluster);
    cluster.down();
}

#[test]
fn the_keeper_is_killed() {
    let cluster = Cluster::up("t0120keeper", 4);
    let job = family(&cluster);
    cluster.kill("keeper");
    assert_eq!(job.wait().code, 125);
    cluster.leftovers();
}

#[test]
fn an_embedded_run_is_killed() {
    for _ in 0..5 {
        let cluster = Cluster::none("t0120embedded");
        let job = cluster.muster(&["run", "-n", "2", "sh", "-c", FAMILY]).start();
        until("both ranks run", || job.out().matches("ready").count() == 2);
        job.signal(Signal::KILL);
        job.wait().code(137);
        cluster.leftovers();
    }
}

/// Waits until no node has a session.
fn no_sessions(cluster: &Cluster) {
    until("nodes have forgotten all jobs", || {
        let list = |node: u32| cluster.muster(&["ls", &format!("/nodes/n{node}")]).run().ok().out;
        (0..4).all(|node| !list(node).split_whitespace().any(|name| name.parse::<u32>().is_ok()))
    });
}

#[test]
fn who_waits_for_jobs_hears_how_they_end_also_of_another_manager() {
    let cluster = Cluster::up("t0120wait", 2);
    let go = cluster.work().join("go");
    let line = format!("until [ -e {} ]; do sleep 0.05; done; exit $1", go.display());
    let [bad, good] = ["3", "0"].map(|exit| {
        // Neither is ended because the other has failed.
        let args = ["--detach", "--keep-going", "-n", "2", "sh", "-c", &line, "sh", exit];
        cluster.muster(&[&["run"], &args[..]].concat()).run().ok().out.trim().to_owned()
    });
    let mut waits = cluster.muster(&["wait", &good, &bad]).start();
    std::thread::sleep(Duration::from_millis(300));
    cluster.kill("manager");
    cluster.await_nodes(2);
    assert!(!waits.ended(), "{}", waits.err());
    fs::write(&go, "").unwrap();
    waits.wait().code(3).says("ranks 0-1 on n[0-1] exited 3  [E302, exit 3]");
    let said = cluster.muster(&["wait", &good]).run().ok();
    assert_eq!((said.out, said.err), Default::default());
    cluster.muster(&["wait", "99"]).run().code(1).says("there is no job 99");
    cluster.down();
}

/// Ranks that end at once are told of in one report, which may be lost with the manager; so may
/// the word that a job is done with.
#[test]
fn short_jobs_outlive_the_manager_and_leave_no_session() {
    let cluster = Cluster::up("t0120short", 4);
    let line = "echo out $MUSTER_RANK; echo err >&2; exit 0";
    for kill in 0..KILLS as u64 / 2 {
        let start = Instant::now();
        let call = cluster.muster(&["run", "--input", "none", "-n", "8", "sh", "-c", line]);
        let mut job = call.start();
        std::thread::sleep(Duration::from_millis(2 * kill));
        cluster.kill("manager");
        until("the command ends", || job.ended());
        let said = job.wait();
        // A manager that dies before the job runs takes it along, and says so.
        match said.code {
            0 => {
                let mut lines: Vec<&str> = said.out.lines().collect();
                lines.sort_unstable();
                let all: Vec<String> = (0..8).map(|rank| format!("out {rank}")).collect();
                assert_eq!(lines, all, "{said:?}");
                assert_eq!(said.err.matches("err\n").count(), 8, "{said:?}");
            }
            code => assert!(code == 125 && said.err.contains("manager"), "{said:?}"),
        }
        cluster.await_nodes(4);
        no_sessions(&cluster);
        std::thread::sleep(PACE.saturating_sub(start.elapsed()));
    }
    cluster.muster(&["run", "--input", "none", "-n", "8", "true"]).run().ok();
    // Before the nodes are told that it is done.
    cluster.kill("manager");
    cluster.await_nodes(4);
    no_sessions(&cluster);
    cluster.no_job_processes();
    cluster.down();
}

/// A node that was stopped while its job was ended hears of that when it is back.
#[test]
fn a_node_that_was_away_forgets_what_was_ended_meanwhile() {
    let cluster = Cluster::up("t0120away", 4);
    let job = cluster.muster(&["run", "-N", "4", "sh", "-c", "echo ready; exec sleep 600"]).start();
    until("all run", || job.out().matches("ready").count() == 4);
    let node = cluster.await_pid("n2");
    stop(node);
    let id = cluster.json(&["ps", "--json"])["jobs"][0]["id"].to_string();
    cluster.muster(&["kill", &id]).run().ok();
    let said = job.wait();
    assert_ne!(said.code, 0, "{said:?}");
    signal(node, Signal::CONT);
    cluster.no_job_processes();
    no_sessions(&cluster);
    // It was silent for so long that it gets no jobs until it has been heard again.
    cluster.await_nodes(4);
    cluster.muster(&["run", "-N", "4", "true"]).run().ok();
    cluster.down();
}
