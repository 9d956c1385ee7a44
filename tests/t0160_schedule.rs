//! Who gets which nodes when: queues, gangs, drained nodes, partitions.

mod cluster;

use cluster::{Cluster, MUSTER, Running, signal, stop, until};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A cluster of four nodes whose jobs are chosen by this scheduler.
fn up(test: &str, scheduler: &[&str]) -> Cluster {
    let cluster = Cluster::none(test);
    cluster.muster(&[&["up", "-N", "4", "--scheduler"], scheduler].concat()).run().ok();
    cluster.note("default");
    cluster
}

/// A job that runs until the file of its name is there.
fn job(cluster: &Cluster, name: &str, flags: &[&str]) -> Running {
    let until = format!("echo began; until [ -e {} ]; do sleep 0.05; done", name);
    let work = cluster.work();
    let all = [&["run", "-J", name, "-D", work.to_str().unwrap()], flags, &["sh", "-c", &until]];
    cluster.muster(&all.concat()).start()
}

fn end(cluster: &Cluster, name: &str) {
    std::fs::write(cluster.work().join(name), "").unwrap();
}

/// The jobs that are not done, by name.
fn listed(cluster: &Cluster, name: &str) -> Option<Value> {
    let jobs = cluster.json(&["ps", "--json"])["jobs"].as_array().unwrap().clone();
    jobs.into_iter().find(|job| job["name"] == name)
}

fn await_state(cluster: &Cluster, name: &str, state: &str) -> Value {
    let mut found = Value::Null;
    until(&format!("job {name} is {state}"), || {
        found = listed(cluster, name).unwrap_or_default();
        found["state"] == state
    });
    found
}

#[test]
fn with_fcfs_jobs_start_in_order_and_say_what_they_wait_for() {
    let cluster = up("t0160fcfs", &["fcfs"]);
    let first = job(&cluster, "first", &["-N", "2"]);
    first.await_out("began\nbegan");
    let all = job(&cluster, "all", &["-N", "4"]);
    await_state(&cluster, "all", "pending");
    // Two nodes are free, but nobody passes.
    let time = Duration::from_secs(3);
    let small = job(&cluster, "small", &["-N", "1", "--time", "3s"]);
    let waiting = await_state(&cluster, "small", "pending");
    let since = Instant::now();
    assert_eq!(waiting["why"], "1 node asked, 2 free; ahead of it: job 2");
    // Who waits has no ranks yet, however they are asked for.
    assert_eq!(cluster.job(3)["ranks"], Value::Null);
    let ranks = cluster.muster(&["ps", "-r", "1", "3"]).run().ok().out;
    assert_eq!(ranks.lines().count(), 3, "{ranks}");
    let followed = cluster.muster(&["logs", "-f", &waiting["id"].to_string()]).start();
    until("it is said what they wait for", || {
        all.err().contains("job 2 waits: 4 nodes asked, 2 free  [N110]")
            && small.err().contains("job 3 waits: 1 node asked, 2 free; ahead of it: job 2  [N110]")
    });
    let table = cluster.muster(&["ps"]).run().ok().out;
    assert!(table.contains("pending") && table.contains("ahead of it: job 2"), "{table}");
    end(&cluster, "first");
    first.wait().ok();
    all.await_out("began\nbegan\nbegan\nbegan");
    until("it has waited for longer than it may run", || since.elapsed() > time);
    await_state(&cluster, "small", "pending");
    end(&cluster, "small");
    end(&cluster, "all");
    assert_eq!(all.wait().ok().err.matches("waits").count(), 1, "it is said once");
    assert_eq!(small.wait().ok().out, "began\n");
    assert_eq!(followed.wait().ok().out, "began\n", "who follows waits with it");
    cluster.down();
}

#[test]
fn the_time_a_job_waits_is_none_that_it_is_sent_in_and_outlives_the_manager() {
    let cluster = up("t0160timing", &["fcfs"]);
    let first = job(&cluster, "first", &["-N", "4"]);
    first.await_out("began\nbegan\nbegan\nbegan");
    cluster.file("data", 0o644, vec![b'x'; 1 << 20]);
    let second = job(&cluster, "second", &["-N", "2", "--timing", "--bcast", "data"]);
    let id = await_state(&cluster, "second", "pending")["id"].as_u64().unwrap();
    end(&cluster, "first");
    first.wait().ok();
    second.await_out("began\nbegan");
    let manager = cluster.kill("manager");
    until("another manager", || cluster.pid("manager").is_some_and(|pid| pid != manager));
    cluster.await_nodes(4);
    end(&cluster, "second");
    let said = second.wait().ok().err;
    let phases = ["job 2 on 2 nodes: hand over ", ", wait ", ", send ", " (place ", ", execute "];
    assert!(phases.iter().all(|phase| said.contains(phase)), "{said}");
    assert!(said.contains("1 of 1 chunks") && !said.contains("not known"), "{said}");
    let (before, job) = (cluster.job(1), cluster.job(id));
    let at =
        |job: &Value, what: &str| job[what].as_f64().unwrap_or_else(|| panic!("{what}: {job}"));
    let row = ["submitted", "queued", "allotted", "placed", "sent", "started", "over", "ended"];
    assert!(row.map(|what| at(&job, what)).is_sorted(), "{job}");
    let until = at(&before, "over");
    assert!(at(&job, "queued") <= until && until <= at(&job, "allotted"), "{before} {job}");
    assert!(before["queued"].is_null(), "it did not wait: {before}");
    cluster.down();
}

#[test]
fn jobs_of_a_higher_priority_get_their_nodes_before_those_that_came_first() {
    let cluster = up("t0160priority", &["fcfs"]);
    let first = job(&cluster, "first", &["-N", "4"]);
    first.await_out("began\nbegan\nbegan\nbegan");
    let mut jobs = Vec::new();
    for (name, priority) in [("idle", "-1"), ("usual", "0"), ("urgent", "5")] {
        let flags = ["-N", "4", &format!("--priority={priority}")];
        jobs.push((name, job(&cluster, name, &flags)));
        await_state(&cluster, name, "pending");
    }
    let mut before = "first";
    let mut runs = first;
    while let Some((name, next)) = jobs.pop() {
        end(&cluster, before);
        runs.wait().ok();
        next.await_out("began\nbegan\nbegan\nbegan");
        for (other, _) in &jobs {
            assert_eq!(await_state(&cluster, other, "pending")["state"], "pending");
        }
        (before, runs) = (name, next);
    }
    end(&cluster, before);
    runs.wait().ok();
    cluster.down();
}

#[test]
fn with_easy_a_short_job_passes_and_a_long_one_does_not() {
    let cluster = up("t0160easy", &["easy"]);
    let first = job(&cluster, "first", &["-N", "2", "--time", "10m"]);
    first.await_out("began\nbegan");
    let all = job(&cluster, "all", &["-N", "4", "--time", "1m"]);
    await_state(&cluster, "all", "pending");
    let long = job(&cluster, "long", &["-N", "1", "--time", "11m"]);
    await_state(&cluster, "long", "pending");
    let untold = job(&cluster, "untold", &["-N", "1"]);
    await_state(&cluster, "untold", "pending");
    let passed = cluster.muster(&["run", "-N", "2", "--time", "1m", "echo", "passed"]).run().ok();
    assert_eq!(passed.out, "passed\npassed\n");
    assert_eq!(await_state(&cluster, "all", "pending")["state"], "pending");
    ["first", "all", "long", "untold"].iter().for_each(|name| end(&cluster, name));
    [first, all, long, untold].into_iter().for_each(|one| drop(one.wait().ok()));
    cluster.down();
}

/// Whether a process is connected to somebody: a socket is among its files.
fn has_a_connection(pid: i32) -> bool {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let mut ends = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    ends.any(|end| end.to_string_lossy().starts_with("socket:"))
}

#[test]
fn a_job_that_waits_with_its_files_survives_the_manager() {
    let cluster = up("t0160restart", &["fcfs"]);
    let first = job(&cluster, "first", &["-N", "4"]);
    first.await_out("began\nbegan\nbegan\nbegan");
    let script = "#!/bin/sh\nread word < data; echo $MUSTER_RANK ${#word}\n";
    cluster.file("show", 0o755, script);
    cluster.file("data", 0o644, vec![b'x'; 3 << 20]);
    let all = |count: &str, name: &str, more: &[&str]| {
        let flags = ["run", "-N", count, "-J", name, "--bcast", "data"];
        cluster.muster(&[&flags[..], more, &["./show"]].concat())
    };
    // One whose client waits, one that was left alone, and one whose client is gone meanwhile.
    let waits = all("2", "waits", &[]).start();
    await_state(&cluster, "waits", "pending");
    let detached = all("3", "detached", &["--detach"]).run().ok();
    let id: u64 = detached.out.trim().parse().unwrap();
    let gone = all("4", "gone", &[]).start();
    await_state(&cluster, "gone", "pending");
    let follow = |flags: &[&str]| {
        let logs = cluster.muster(&[&["logs", "-f", detached.out.trim()], flags].concat()).start();
        until("it waits for the job", || has_a_connection(logs.pid()));
        logs
    };
    let followed = [follow(&[]), follow(&["--label"])];
    let manager = cluster.kill("manager");
    gone.signal(Signal::KILL);
    until("another manager", || cluster.pid("manager").is_some_and(|pid| pid != manager));
    cluster.await_nodes(4);
    for name in ["waits", "detached"] {
        assert_eq!(await_state(&cluster, name, "pending")["state"], "pending");
    }
    until("the one without a client is gone", || listed(&cluster, "gone").is_none());
    end(&cluster, "first");
    first.wait().ok();
    let said = waits.wait().ok();
    assert_eq!(said.sorted(), ["0 3145728", "1 3145728"]);
    for logs in followed {
        assert_eq!(logs.wait().ok().out.lines().count(), 3);
    }
    until("the detached one is done", || cluster.job(id)["state"] == "done");
    assert_eq!(cluster.job(id)["exit"], 0);
    let kept = std::fs::read_dir(cluster.directory().join("jobs")).unwrap().flatten();
    let kept = kept.filter(|file| file.path().extension().is_some_and(|e| e == "files"));
    assert_eq!(kept.count(), 0, "files that were kept are gone");
    cluster.down();
}

#[test]
fn a_job_that_waits_ends_at_ctrl_c_and_when_it_is_killed_and_others_go_on() {
    let cluster = up("t0160kill", &["fcfs"]);
    let first = job(&cluster, "first", &["-N", "3"]);
    first.await_out("began\nbegan\nbegan");
    let one = job(&cluster, "one", &["-N", "2"]);
    let id = await_state(&cluster, "one", "pending")["id"].as_u64().unwrap();
    let two = job(&cluster, "two", &["-N", "2"]);
    await_state(&cluster, "two", "pending");
    let three = job(&cluster, "three", &["-N", "1"]);
    await_state(&cluster, "three", "pending");
    one.signal(Signal::INT);
    assert_eq!(one.wait().code, 130);
    until("it is gone", || cluster.job(id)["state"] == "done");
    let told = cluster.job(id);
    assert_eq!((&told["exit"], &told["why"]), (&130.into(), &"it got the signal INT".into()));
    cluster.muster(&["kill", &(id + 1).to_string()]).run().ok();
    two.wait().code(143).says("while it waited: it was told to end  [E305, exit 143]");
    // Nobody is ahead of it now.
    three.await_out("began");
    // A signal ends one that has no ranks to get it, or is refused; and no number that is none
    // keeps others from what they are told.
    let four = job(&cluster, "four", &["-N", "2"]);
    let waiting = await_state(&cluster, "four", "pending")["id"].as_u64().unwrap().to_string();
    cluster.muster(&["logs", &waiting]).run().code(0).says("waits and has printed nothing");
    let refused = cluster.muster(&["kill", "-s", "USR1", &waiting]).run();
    refused.code(1).says("the job waits for its nodes: nothing of it runs");
    cluster.muster(&["kill", "-s", "TERM", "4000", &waiting]).run().code(1).says("no job 4000");
    four.wait().code(143).says("while it waited: it got the signal TERM");
    ["first", "three"].iter().for_each(|name| end(&cluster, name));
    [first, three].into_iter().for_each(|one| drop(one.wait().ok()));
    cluster.no_job_processes();
    cluster.down();
}

#[test]
fn a_drained_node_gets_no_jobs_until_it_is_resumed_even_by_another_manager() {
    let cluster = Cluster::up("t0160drain", 3);
    let there = job(&cluster, "there", &["-w", "n2"]);
    there.await_out("began");
    cluster.muster(&["nodes", "--drain", "n[1-2]", "--reason", "new  memory"]).run().ok();
    let state = |node: usize| cluster.json(&["nodes", "--json"])["nodes"][node].clone();
    assert_eq!((&state(2)["state"], &state(2)["why"]), (&"drained".into(), &"new  memory".into()));
    let since = state(0)["since"].clone();
    let old = cluster.kill("manager");
    until("another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(1);
    until("all are there", || state(2)["state"] == "drained" && state(1)["state"] == "drained");
    assert_eq!(state(0)["since"], since, "it was up all the time");
    // What runs there goes on, and what fits elsewhere runs at once.
    let on = cluster.muster(&["run", "printenv", "MUSTER_NODE"]).run().ok();
    assert_eq!(on.out, "n0\n");
    // Who names no number of nodes does without them.
    let five = cluster.muster(&["run", "-n", "5", "printenv", "MUSTER_NODE"]).run().ok();
    assert_eq!(five.out, "n0\n".repeat(5));
    let both = job(&cluster, "both", &["-N", "2"]);
    let why = await_state(&cluster, "both", "pending")["why"].clone();
    assert_eq!(why, "2 nodes asked, 1 can take it; n[1-2] drained");
    cluster.muster(&["nodes", "--resume", "n1"]).run().ok();
    both.await_out("began\nbegan");
    assert_eq!(state(1)["state"], "up");
    ["there", "both"].iter().for_each(|name| end(&cluster, name));
    [there, both].into_iter().for_each(|one| drop(one.wait().ok()));
    cluster.muster(&["nodes", "--drain", "n9", "--reason", "x"]).run().code(1).says("no node n9");
    cluster.muster(&["nodes", "--drain", "n0"]).run().code(2).says("--reason");
    cluster.down();
}

/// The keeper stands still, so that nobody starts the daemon again for now.
#[test]
fn a_job_for_a_node_that_is_down_waits_until_it_is_up_again_by_default_and_in_a_queue() {
    for scheduler in ["share", "fcfs"] {
        let cluster = up("t0160down", &[scheduler]);
        let keeper = cluster.await_pid("keeper");
        stop(keeper);
        cluster.kill("n3");
        cluster.await_nodes(3);
        for (name, asked) in [("all", ["-N", "4"]), ("named", ["-w", "n3"])] {
            let waits = cluster.muster(&[&["run", "-J", name], &asked[..], &["hostname"]].concat());
            let waits = waits.start();
            let why = await_state(&cluster, name, "pending")["why"].to_string();
            assert!(why.contains("can take it; n3 down or slow"), "{why}");
            signal(keeper, Signal::CONT);
            waits.wait().ok();
            stop(keeper);
            cluster.kill("n3");
            cluster.await_nodes(3);
        }
        let five = cluster.muster(&["run", "-N", "5", "true"]).run().code(125);
        five.says("4 exist (n[0-2] up, n3 down). Nothing queued. Use -N 4  [E110");
        signal(keeper, Signal::CONT);
        cluster.await_nodes(4);
        cluster.down();
    }
}

#[test]
fn with_gang_two_jobs_have_all_nodes_at_once_and_the_third_waits() {
    let gang = ["gang", "--slice", "2ms", "--slots", "2", "--placement", "first"];
    let cluster = up("t0160gang", &gang);
    let set = cluster.muster(&["scheduler"]).run().ok().out;
    assert_eq!(set, "gang slice=2ms slots=2 placement=first\n");
    let jobs: Vec<Running> = ["a", "b"].map(|name| job(&cluster, name, &["-N", "4"])).into();
    jobs.iter().for_each(|job| job.await_out("began\nbegan\nbegan\nbegan"));
    let third = job(&cluster, "c", &["-N", "1"]);
    let why = await_state(&cluster, "c", "pending")["why"].clone();
    assert_eq!(why, "1 node asked, 0 free in the emptiest of 2 slots");
    let table = cluster.json(&["cat", "/slots"]);
    let [one, other] = [[[1], [2]], [[2], [1]]].map(|slots| serde_json::json!(slots));
    assert!(table["slots"] == one || table["slots"] == other, "{table}");
    end(&cluster, "a");
    third.await_out("began");
    ["b", "c"].iter().for_each(|name| end(&cluster, name));
    jobs.into_iter().chain([third]).for_each(|one| drop(one.wait().ok()));
    cluster.down();
}

#[test]
fn what_a_job_runs_has_the_nodes_of_that_job_though_no_others_are_free() {
    let cluster = up("t0160within", &["fcfs"]);
    let script = |name: &str, lines: &str| {
        cluster.file(name, 0o755, format!("#!/bin/sh -e\n{lines}\n"));
    };
    let middle = format!("{MUSTER} run -n 4 -D $PWD ./middle");
    script("outer", &format!("[ $MUSTER_RANK != 0 ] || exec {middle}"));
    let inner = format!("{MUSTER} run -D $PWD ./inner");
    script("middle", &format!("echo $MUSTER_NODE; [ $MUSTER_RANK != 3 ] || exec {inner}"));
    script("inner", "echo within $MUSTER_NODE; until [ -e end ]; do sleep 0.05; done");
    let work = cluster.work();
    let outer = ["run", "-w", "n[2-3]", "-D", work.to_str().unwrap(), "./outer"];
    for scheduler in [&["fcfs"][..], &["easy"], &["gang", "--slots", "2"]] {
        cluster.muster(&[&["scheduler"], scheduler].concat()).run().ok();
        let first = cluster.muster(&outer).start();
        first.await_out("within n2");
        let host = listed(&cluster, "outer").unwrap()["id"].clone();
        assert_eq!(listed(&cluster, "middle").unwrap()["within"], host);
        let table = cluster.muster(&["ps"]).run().ok().out;
        assert!(table.contains(&format!("in job {host}")), "{table}");
        // With gang there are other turns, which another job has.
        let takes_turns = scheduler[0] == "gang";
        let other = takes_turns.then(|| job(&cluster, "other", &["-w", "n[2-3]"]));
        other.iter().for_each(|job| job.await_out("began\nbegan"));
        let waits = cluster.muster(&["run", "-w", "n2", "-J", "waits", "true"]).start();
        await_state(&cluster, "waits", "pending");
        let slots = cluster.json(&["cat", "/slots"])["slots"].clone();
        let of_slot = |slot: &Value| slot.as_array().unwrap().len();
        let jobs: Vec<usize> = slots.as_array().unwrap().iter().map(of_slot).collect();
        let all_in_one: &[usize] = if takes_turns { &[3, 1] } else { &[] };
        assert_eq!(jobs, all_in_one, "all take the same turns: {slots}");
        end(&cluster, "end");
        if let Some(other) = other {
            end(&cluster, "other");
            other.wait().ok();
        }
        let said = first.wait().ok();
        assert_eq!(said.sorted(), ["n2", "n2", "n3", "n3", "within n2"], "{scheduler:?}");
        waits.wait().ok();
        std::fs::remove_file(work.join("end")).unwrap();
    }
    cluster.down();
}

#[test]
fn what_a_driver_on_one_node_runs_has_nodes_of_the_job_around_it() {
    let cluster = up("t0160driver", &["fcfs"]);
    let script = |name: &str, words: &str| {
        let line = format!("[ $MUSTER_RANK != 0 ] || exec {MUSTER} {words}");
        cluster.file(name, 0o755, format!("#!/bin/sh -e\n{line}\n"));
    };
    script("outer", "run -N 1 -D $PWD ./driver");
    script("driver", "run -N 2 printenv MUSTER_NODE");
    let work = cluster.work();
    let run = |name: &str| {
        let all = ["run", "-N", "4", "-D", work.to_str().unwrap(), name];
        cluster.muster(&all).run().ok().sorted().join(" ")
    };
    assert_eq!(run("./outer"), "n1 n2");
    cluster.muster(&["view", "create", "lab", "--nodes", "n[2-3]"]).run().ok();
    script("viewer", "--view lab run -N 1 printenv MUSTER_NODE");
    assert_eq!(run("./viewer"), "n2", "also in a view of it");
    script("two", "mpiexec -ppn 2 printenv MUSTER_NODE");
    let two = ["run", "-w", "n3,n1", "-D", work.to_str().unwrap(), "./two"];
    let said = cluster.muster(&two).run().ok();
    assert_eq!(said.sorted(), ["n1", "n1", "n3", "n3"], "mpiexec counts those of the job");
    cluster.down();
}

#[test]
fn another_manager_finds_what_a_job_runs_on_that_jobs_nodes() {
    let cluster = up("t0160found", &["gang", "--slots", "2"]);
    let until_end = "until [ -e end ]; do sleep 0.05; done";
    cluster.file("inner", 0o755, format!("#!/bin/sh\necho began; {until_end}\n"));
    cluster.file("where", 0o755, "#!/bin/sh\necho $MUSTER_RANK $MUSTER_NODE\n");
    let run = |words: &str| format!("{MUSTER} run -D $PWD {words}\n");
    let both = run("-N 1 ./inner") + &run("-N 2 ./where");
    cluster.file("outer", 0o755, format!("#!/bin/sh\n[ $MUSTER_RANK = 0 ] || exit 0\n{both}"));
    let work = cluster.work();
    let outer = ["run", "-w", "n2,n0", "-D", work.to_str().unwrap(), "./outer"];
    let outer = cluster.muster(&outer).start();
    outer.await_out("began");
    let manager = cluster.kill("manager");
    until("another manager", || cluster.pid("manager").is_some_and(|pid| pid != manager));
    cluster.await_nodes(4);
    let other = job(&cluster, "other", &["-N", "4"]);
    other.await_out("began\nbegan\nbegan\nbegan");
    let slots = cluster.json(&["cat", "/slots"])["slots"].clone();
    assert_eq!(slots, serde_json::json!([[1, 2], [3]]));
    ["end", "other"].iter().for_each(|name| end(&cluster, name));
    other.wait().ok();
    assert_eq!(outer.wait().ok().sorted(), ["0 n2", "1 n0", "began"], "in the order of that job");
    cluster.down();
}

#[test]
fn another_scheduler_takes_over_while_jobs_run_and_wait() {
    let cluster = up("t0160switch", &["fcfs"]);
    let first = job(&cluster, "first", &["-N", "4"]);
    first.await_out("began\nbegan\nbegan\nbegan");
    let second = job(&cluster, "second", &["-N", "4"]);
    await_state(&cluster, "second", "pending");
    // As a script does it.
    cluster.muster(&["write", "/scheduler"]).input("gang slice=1s slots=2\n").run().ok();
    second.await_out("began\nbegan\nbegan\nbegan");
    let third = job(&cluster, "third", &["-N", "4"]);
    await_state(&cluster, "third", "pending");
    cluster.muster(&["scheduler", "share"]).run().ok();
    third.await_out("began\nbegan\nbegan\nbegan");
    cluster.muster(&["scheduler", "easy"]).run().ok();
    let old = cluster.kill("manager");
    until("another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(4);
    assert_eq!(cluster.muster(&["cat", "/scheduler"]).run().ok().out, "easy\n");
    let fourth = job(&cluster, "fourth", &["-N", "1"]);
    await_state(&cluster, "fourth", "pending");
    for name in ["first", "second", "third", "fourth"] {
        end(&cluster, name);
    }
    [first, second, third, fourth].into_iter().for_each(|one| drop(one.wait().ok()));
    cluster.down();
}

#[test]
fn a_partition_has_nodes_a_priority_a_longest_time_and_reserved_times() {
    let cluster = up("t0160part", &["fcfs"]);
    let make = |words: &[&str]| {
        cluster.muster(&[&["partition", "create"], words].concat()).run().ok();
    };
    make(&["small", "--nodes", "n[2-3]", "--time", "1h", "--priority", "10"]);
    let on = cluster.muster(&["run", "-p", "small", "-n", "2", "printenv", "MUSTER_NODE"]).run();
    assert_eq!(on.ok().sorted(), ["n2", "n3"]);
    for (flags, said) in [
        (
            &["-p", "small", "-N", "3"][..],
            "partition small: 3 nodes asked, 2 exist (n[2-3], all up)",
        ),
        (
            &["-p", "small", "-t", "2h"],
            "2h asked, but a job of partition small has 1h at most. Use",
        ),
        (
            &["-p", "small", "-t", "unlimited"],
            "unlimited time asked, but a job of partition small has 1h at most. Use --time 1h",
        ),
        (&["-p", "large"], "there is no partition large. See: muster partition"),
        (&["-p", "small", "-w", "n0"], "partition small: there is no node n0; there are n[2-3]"),
    ] {
        let call = cluster.muster(&[&["run"], flags, &["true"]].concat());
        call.run().code(125).says(said);
    }
    // Its jobs go first.
    let first = job(&cluster, "first", &["-N", "4"]);
    first.await_out("began\nbegan\nbegan\nbegan");
    let plain = job(&cluster, "plain", &["-w", "n2"]);
    await_state(&cluster, "plain", "pending");
    let better = job(&cluster, "better", &["-p", "small", "-w", "n2"]);
    await_state(&cluster, "better", "pending");
    end(&cluster, "first");
    better.await_out("began");
    await_state(&cluster, "plain", "pending");
    ["plain", "better"].iter().for_each(|name| end(&cluster, name));
    [first, plain, better].into_iter().for_each(|one| drop(one.wait().ok()));
    // For a year its nodes are its own.
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let window = format!("@{now}-@{}", now + 365 * 86_400);
    make(&["small", "--nodes", "n[2-3]", "--reserve", &window]);
    let all = job(&cluster, "outside", &["-N", "3"]);
    await_state(&cluster, "outside", "pending");
    cluster.muster(&["run", "-p", "small", "-N", "2", "true"]).run().ok();
    let list = cluster.muster(&["cat", "/partitions"]).run().ok().out;
    assert_eq!(list, format!("small nodes=n[2-3] reserve={window}\n"));
    cluster.muster(&["partition", "delete", "small"]).run().ok();
    all.await_out("began\nbegan\nbegan");
    end(&cluster, "outside");
    all.wait().ok();
    cluster.down();
}

#[test]
fn a_partition_is_refused_that_nobody_could_use_and_its_end_while_jobs_wait_for_it() {
    let cluster = up("t0160refused", &["fcfs"]);
    let make = |words: &[&str]| {
        cluster.muster(&[&["partition", "create"], words].concat()).run().ok();
    };
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let window = format!("@{now}-@{}", now + 365 * 86_400);
    make(&["small", "--nodes", "n[2-3]", "--reserve", &window]);
    // Nobody would get a node that is reserved for two at once.
    for (reserve, said) in [
        (
            &*window,
            format!("{window} meets {window}, for which n3 is reserved for partition small"),
        ),
        ("00:00-01:00", format!("00:00-01:00 meets {window}, for which n3")),
        ("@1-@2", "@1-@2 is over".to_owned()),
    ] {
        let words = ["partition", "create", "late", "--nodes", "n3", "--reserve", reserve];
        cluster.muster(&words).run().code(1).says(&said);
    }
    // Its jobs would wait for ever.
    make(&["idle", "--nodes", "n0", "--reserve", "00:00-00:00"]);
    let busy = job(&cluster, "busy", &["-p", "idle", "-N", "1"]);
    busy.await_out("began");
    let more = job(&cluster, "more", &["-p", "idle", "-N", "1"]);
    await_state(&cluster, "more", "pending");
    let kept = cluster.muster(&["partition", "delete", "idle"]).run().code(1);
    kept.says("partition idle is in use by jobs ").says(". First: muster kill ");
    ["more", "busy"].iter().for_each(|name| end(&cluster, name));
    [busy, more].into_iter().for_each(|one| drop(one.wait()));
    cluster.muster(&["partition", "delete", "idle"]).run().ok();
    cluster.down();
}

#[test]
fn a_cluster_comes_up_also_for_who_works_in_a_view_as_a_rule() {
    let cluster = Cluster::none("t0160up");
    cluster.muster(&["up", "-N", "2"]).env("MUSTER_VIEW", "lab").run().ok();
    cluster.note("default");
    cluster.muster(&["ps"]).env("MUSTER_VIEW", "lab").run().code(1).says("no view lab");
    cluster.muster(&["run", "-N", "2", "true"]).run().ok();
    cluster.down();
}

#[test]
fn a_view_has_its_nodes_and_jobs_and_shows_no_others() {
    let cluster = Cluster::up("t0160view", 4);
    let lab = |words: &[&str]| cluster.muster(&[&["--view", "lab"], words].concat());
    cluster.muster(&["view", "create", "lab", "--nodes", "n[2-3]", "--user", "ann"]).run().ok();
    let outside = job(&cluster, "outside", &["-N", "4"]);
    outside.await_out("began\nbegan\nbegan\nbegan");
    let on = lab(&["run", "-N", "2", "printenv", "MUSTER_NODE"]).run().ok();
    assert_eq!(on.sorted(), ["n2", "n3"]);
    // What is for the view of a job is called by that name in the job.
    let named = ["run", "-N", "2", "printenv", "MUSTER_VIEW"];
    assert_eq!(lab(&named).run().ok().out, "lab\nlab\n");
    assert_eq!(cluster.muster(&named).run().code(1).out, "", "it was made in no view");
    lab(&["run", "-N", "3", "true"]).run().code(125).says("view lab: 3 nodes asked, 2 exist");
    lab(&["run", "-w", "n0", "true"]).run().code(125).says("there is no node n0; there are n[2-3]");
    let json = |words: &[&str]| lab(&[words, &["--json"]].concat()).run().ok().json();
    let nodes = json(&["nodes"])["nodes"].as_array().unwrap().len();
    assert_eq!((nodes, json(&["ps"])["jobs"].as_array().unwrap().len()), (2, 0));
    let past = json(&["ps", "--all"])["jobs"].as_array().unwrap().clone();
    // The two that were refused are there as well.
    assert!(past.len() == 4 && past.iter().all(|job| job["view"] == "lab"), "{past:?}");
    cluster.muster(&["partition", "create", "rest", "--nodes", "n[0-1]"]).run().ok();
    let common = lab(&["run", "--partition", "rest", "true"]).run().code(125);
    common.says("view lab and partition rest have no node in common");
    cluster.muster(&["partition", "delete", "rest"]).run().ok();
    assert_eq!(lab(&["ls", "/nodes"]).run().ok().sorted(), ["n2", "n3"]);
    assert_eq!(lab(&["history"]).run().ok().out.matches("outside").count(), 0);
    lab(&["kill", "1"]).run().code(1).says("there is no job 1");
    lab(&["down"]).run().code(2).says("down ends the whole cluster, not the view lab alone");
    lab(&["cat", "/nodes/n0/name"]).run().code(1).says("/nodes/n0: No such file");
    lab(&["nodes", "--drain", "n2", "--reason", "x"]).run().code(1).says("see all: --view /");
    lab(&["partition"]).run().code(1).says("see all: --view /");
    // Whoever is named sees it without asking, and who asks for a name that is none is told so.
    let ann = cluster.muster(&["run", "-N", "2", "printenv", "MUSTER_NODE"]).env("USER", "ann");
    assert_eq!(ann.run().ok().sorted(), ["n2", "n3"]);
    cluster.muster(&["--view", "none", "ps"]).run().code(1).says("there is no view none. See:");
    let mount = cluster.work().join("m");
    std::fs::create_dir(&mount).expect("made");
    lab(&["mount", mount.to_str().expect("text")]).run().ok();
    let seen = std::fs::read_dir(mount.join("nodes")).expect("mounted").count();
    cluster.muster(&["umount", mount.to_str().expect("text")]).run().ok();
    assert_eq!(seen, 2, "the mount is of the view");
    // A job of it that waits is its own also after a restart.
    cluster.muster(&["scheduler", "fcfs"]).run().ok();
    let waits = lab(&["run", "-J", "waits", "-n", "2", "printenv", "MUSTER_NODE"]).start();
    await_state(&cluster, "waits", "pending");
    let old = cluster.kill("manager");
    until("another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(4);
    cluster.muster(&["view", "delete", "lab"]).run().code(1).says("in use by job");
    end(&cluster, "outside");
    outside.wait().ok();
    assert_eq!(waits.wait().ok().sorted(), ["n2", "n3"]);
    let listed = cluster.muster(&["cat", "/views/ctl"]).run().ok().out;
    assert_eq!(listed, "lab nodes=n[2-3] user=ann\n");
    cluster.muster(&["view", "delete", "lab"]).run().ok();
    lab(&["ps"]).run().code(1).says("there is no view lab");
    cluster.down();
}

#[test]
fn jobs_of_a_view_spread_over_its_nodes_and_down_counts_them_all() {
    let cluster = Cluster::up("t0160spread", 4);
    let made = ["view", "create", "lab", "--nodes", "n[2-3]", "--json"];
    assert!(cluster.json(&made)["cluster"].is_string());
    for _ in 0..2 {
        cluster.muster(&["--view", "lab", "run", "--detach", "sleep", "1000"]).run().ok();
    }
    let status = cluster.json(&["ps", "--json"]);
    let jobs = status["jobs"].as_array().unwrap();
    let nodes: BTreeSet<String> = jobs.iter().map(|job| job["nodes"][0].to_string()).collect();
    assert_eq!(nodes.len(), 2, "{status}");
    // Of more nodes than ranks the first are used, in the order in which they are named.
    let words = ["run", "-w", "n3,n1,n0", "-n", "2", "-l", "printenv", "MUSTER_NODE"];
    assert_eq!(cluster.muster(&words).run().ok().sorted(), ["0: n3", "1: n1"]);
    let done = cluster.muster(&["--view", "/", "down"]).run().ok();
    assert!(done.out.contains("with 2 jobs"), "{}", done.out);
}

#[test]
fn what_cannot_be_set_or_asked_is_refused_in_a_sentence() {
    let cluster = Cluster::up("t0160bad", 1);
    for (words, code, said) in [
        (
            &["scheduler", "lottery"][..],
            2,
            "no scheduler 'lottery', but share, fcfs, easy and gang",
        ),
        (&["scheduler", "gang", "--slice", "200us"], 2, "a slice of 200us cannot be"),
        (&["scheduler", "gang", "--slice", "9s"], 2, "it takes from 300us to 8s"),
        (&["scheduler", "gang", "--slots", "0"], 2, "slots=0 cannot be: 1 to 64"),
        (&["scheduler", "--slice", "1ms"], 2, "nothing that share has"),
        (&["write", "/scheduler", "gang slice=1us"], 1, "a slice of 1us cannot be"),
        (&["partition", "create", "p", "--nodes", "n7"], 1, "there is no node n7"),
        (&["partition", "create", "p q", "--nodes", "n0"], 1, "'p q' is no name"),
        (&["partition", "delete", "p"], 1, "there is no partition p"),
        (&["write", "/partitions", "make it so"], 1, "is no command of partitions"),
        (&["run", "--time", "0", "true"], 2, "a time is longer than nothing"),
        (&["run", "--time", "soon", "true"], 2, "is no time"),
        (&["run", "-N", "2", "true"], 125, "2 nodes asked, 1 exist (n0, all up)"),
    ] {
        let said = cluster.muster(words).run().code(code).says(said);
        assert_eq!(said.err.trim().lines().count(), 1, "{}", said.err);
    }
    assert_eq!(cluster.muster(&["scheduler"]).run().ok().out, "share\n");
    let bad = Cluster::none("t0160badup");
    bad.muster(&["up", "--scheduler", "gang", "--slice", "1us"])
        .run()
        .code(2)
        .says("1us cannot be");
    bad.leftovers();
    cluster.down();
}

/// It was the tolerant job's for as long as that ran, idle.
#[test]
fn a_node_that_a_tolerant_job_has_lost_is_for_others_when_it_is_back() {
    let cluster = up("t0160lost", &["fcfs"]);
    let tolerant = job(&cluster, "tolerant", &["-N", "4", "--tolerate", "--priority", "3"]);
    tolerant.await_out("began\nbegan\nbegan\nbegan");
    signal(cluster.await_pid("n1"), Signal::KILL);
    // Its other nodes are taken.
    let other = cluster.muster(&["run", "-w", "n1", "hostname"]).start();
    other.wait().ok();
    let listed = listed(&cluster, "tolerant").unwrap();
    assert_eq!((&listed["state"], &listed["priority"]), (&"running".into(), &3.into()));
    end(&cluster, "tolerant");
    tolerant.wait().ok();
    cluster.down();
}

/// A partition's longest time was void for what was started in its jobs.
#[test]
fn a_step_ends_with_the_time_of_the_job_around_it() {
    let cluster = up("t0160step", &["fcfs"]);
    cluster
        .muster(&["partition", "create", "short", "--nodes", "n[0-1]", "--time", "30s"])
        .run()
        .ok();
    let step = format!("{MUSTER} run -J step --time 1h sleep 600");
    let host = cluster.muster(&["run", "-p", "short", "-N", "1", "sh", "-c", &step]).start();
    let step = await_state(&cluster, "step", "running");
    assert!(step["time_ms"].as_u64().is_some_and(|time| time <= 30_000), "{step}");
    assert_eq!(listed(&cluster, "sh").unwrap()["partition"], "short");
    cluster.muster(&["kill", "1"]).run().ok();
    host.wait();
    cluster.down();
}
