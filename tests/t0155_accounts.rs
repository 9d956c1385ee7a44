//! What jobs have used is accounted: children, killed and short ranks included; while they run,
//! when they have ended, and after the manager has died.

mod cluster;

use cluster::{Cluster, until};
use muster_base::limits::JOBS_REMEMBERED;
use muster_ninep::tree::OpenFlags;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Burns processor time for about a third of a second in a child, and waits for it.
const BURN: &str = "perl -e 'my ($u, $s) = (0, 0); \
                    until ($u + $s > 0.3) { $_ ** 2 for 1 .. 10000; ($u, $s) = times }'; true";

fn number(usage: &Value, name: &str) -> u64 {
    usage[name].as_u64().unwrap_or_else(|| panic!("no {name} in {usage}"))
}

fn cpu(usage: &Value) -> u64 {
    number(usage, "user_us") + number(usage, "system_us")
}

/// The numbers that are sums of the ranks', and those that are the longest rank's.
const SUMS: [&str; 8] = [
    "user_us",
    "system_us",
    "max_rss_kib",
    "rss_kib",
    "read",
    "written",
    "disk_read",
    "disk_written",
];
const LONGEST: [&str; 2] = ["wall_us", "slice_us"];

/// Asserts that a job's usage is that of its ranks.
fn assert_sums(job: &Value) {
    let ranks = job["ranks"].as_array().expect("ranks");
    let of = |name: &'static str| ranks.iter().map(move |rank| number(&rank["usage"], name));
    for name in SUMS {
        assert_eq!(number(&job["usage"], name), of(name).sum::<u64>(), "{name}: {job}");
    }
    for name in LONGEST {
        assert_eq!(Some(number(&job["usage"], name)), of(name).max(), "{name}: {job}");
    }
}

#[test]
fn a_rank_is_accounted_with_its_children_and_a_job_with_its_ranks() {
    let cluster = Cluster::up("t0155children", 2);
    cluster.muster(&["run", "-n", "3", "sh", "-c", BURN]).run().ok();
    let job = cluster.job(1);
    for rank in job["ranks"].as_array().unwrap() {
        let used = cpu(&rank["usage"]);
        assert!((300_000..3_000_000).contains(&used), "{rank}");
        assert!(number(&rank["usage"], "wall_us") >= 300_000 / 2, "{rank}");
        assert_eq!(rank["usage"]["slice_us"], rank["usage"]["wall_us"]);
    }
    assert_sums(&job);
    // A child that the kernel reaps, since its parent has said that it will not wait.
    let said = cluster.muster(&["run", "perl", "-e", &reaped_by_nobody()]).run().ok();
    let used = cpu(&cluster.job(2)["usage"]);
    let has_groups = said.out.contains("/muster-");
    assert!(used >= 300_000 || !has_groups, "{used}, and control groups: {has_groups}");
    // One that is left behind, with a child of its own that has ended.
    let line = format!("mkfifo on; ({BURN}; echo on > on; sleep 600) & read word < on");
    cluster.muster(&["run", "sh", "-c", &line]).run().ok();
    assert!(cpu(&cluster.job(3)["usage"]) >= 300_000, "{}", cluster.job(3));
    cluster.down();
}

/// A program that says which control group it is in, and whose child burns 0.3 s and is reaped by
/// the kernel.
fn reaped_by_nobody() -> String {
    "open(my $group, '<', '/proc/self/cgroup') or die; print <$group>; close $group; $| = 1; \
     $SIG{CHLD} = 'IGNORE'; my $child = fork; \
     if (!$child) { my ($u, $s) = (0, 0); \
     until ($u + $s > 0.3) { $_ ** 2 for 1 .. 10000; ($u, $s) = times } exit } \
     select(undef, undef, undef, 0.05) while kill 0, $child"
        .to_owned()
}

#[test]
fn memory_and_bytes_are_those_that_were_used() {
    let cluster = Cluster::up("t0155memory", 1);
    let line = "my $x = 'x' x (64 << 20); open(my $f, '>', 'out') or die; \
                print $f 'y' x 1_000_000; close $f; open($f, '<', 'out') or die; local $/; \
                my $y = <$f>; \
                print length $y";
    let said = cluster.muster(&["run", "perl", "-e", line]).run().ok();
    assert_eq!(said.out, "1000000");
    let usage = cluster.job(1)["usage"].clone();
    // Perl keeps a copy of a constant it computes.
    assert!((64 << 10..160 << 10).contains(&number(&usage, "max_rss_kib")), "{usage}");
    assert_eq!(number(&usage, "rss_kib"), 0);
    // And the answer; what it reads besides are libraries.
    assert_eq!(number(&usage, "written"), 1_000_007, "{usage}");
    assert!((1_000_000..2_000_000).contains(&number(&usage, "read")), "{usage}");
    cluster.down();
}

#[test]
fn short_ranks_are_accounted_and_idle_ones_have_used_nothing() {
    let cluster = Cluster::up("t0155short", 2);
    cluster.muster(&["run", "-n", "4", "true"]).run().ok();
    let job = cluster.job(1);
    assert_sums(&job);
    for rank in job["ranks"].as_array().unwrap() {
        let usage = &rank["usage"];
        assert!(cpu(usage) > 0 && cpu(usage) < 1_000_000, "{rank}");
        assert!(number(usage, "wall_us") > 0 && number(usage, "max_rss_kib") > 100, "{rank}");
        // It writes nothing, and reads its libraries' heads.
        assert_eq!(number(usage, "written"), 0, "{rank}");
    }
    // One that cannot be run has used nothing, and nobody says that it has.
    cluster.muster(&["run", "--chdir", "/no/such", "true"]).run().code(125);
    assert_eq!(cluster.job(2)["usage"], Value::Null);
    cluster.down();
}

#[test]
fn what_runs_is_told_live_and_what_was_killed_is_not_forgotten() {
    let cluster = Cluster::up("t0155live", 2);
    let burn = "$| = 1; print \"on\\n\"; 1 while 1";
    let job = cluster.muster(&["run", "-n", "2", "-J", "burner", "perl", "-e", burn]).start();
    job.await_out("on\non\n");
    let seen = |json: &Value| cpu(&json["jobs"][0]["usage"]);
    // A node that a busy machine keeps from its answer for a second is left out.
    let is_told = |one: &Value| one["usage"].is_object();
    until("it has burnt 0.2 s", || {
        let listed = cluster.json(&["ps", "--json"]);
        is_told(&listed["jobs"][0]) && seen(&listed) > 200_000
    });
    let mut listed = Value::Null;
    until("all of it is told", || {
        listed = cluster.json(&["ps", "--json", "1"]);
        let job = &listed["jobs"][0];
        is_told(job) && job["ranks"].as_array().unwrap().iter().all(is_told)
    });
    assert!(seen(&listed) > 200_000);
    assert!(number(&listed["jobs"][0]["usage"], "rss_kib") > 1000, "{listed}");
    assert_sums(&listed["jobs"][0]);
    let mut overview = Value::Null;
    until("all nodes tell theirs", || {
        overview = cluster.json(&["cat", "/usage"]);
        overview["nodes"].as_array().unwrap().iter().all(|node| node["mem_total"].is_number())
    });
    for node in overview["nodes"].as_array().unwrap() {
        assert_eq!((&node["state"], &node["ranks"]), (&"up".into(), &1.into()), "{node}");
        assert!(node["cpu_us"].as_u64() > Some(0) && node["mem_total"].as_u64() > Some(0));
    }
    let row = cluster.muster(&["ps"]).run().ok().out;
    assert!(row.contains("burner") && row.contains("CPU") && row.contains("running"), "{row}");
    cluster.muster(&["kill", "1"]).run().ok();
    job.wait().code(143);
    let job = cluster.job(1);
    assert!(cpu(&job["usage"]) > 200_000, "{job}");
    assert_sums(&job);
    cluster.down();
}

#[test]
fn a_node_that_does_not_answer_delays_what_is_told_and_prevents_nothing() {
    let cluster = Cluster::up("t0155silent", 2);
    let job = cluster.muster(&["run", "-N", "2", "sh", "-c", "echo on; sleep 600"]).start();
    until("it runs", || job.out().matches("on").count() == 2);
    let silent = cluster.await_pid("n1");
    cluster::stop(silent);
    // The other one may be late as well, on a busy machine.
    until("what the other node has to say is told", || {
        let overview = cluster.json(&["cat", "/usage"]);
        assert_eq!(overview["nodes"][1]["why"], "does not answer", "{overview}");
        overview["nodes"][0]["load"].is_number() && overview["jobs"][0]["usage"].is_object()
    });
    cluster.muster(&["ps"]).run().ok();
    cluster::signal(silent, rustix::process::Signal::CONT);
    cluster.muster(&["kill", "1"]).run().ok();
    job.wait().code(143);
    cluster.down();
}

/// The control group of a process, if the kernel tells how long it was frozen.
fn group_of(pid: &Value) -> Option<PathBuf> {
    let read = |path: &str| fs::read_to_string(path).expect("a file of the kernel");
    let own = read(&format!("/proc/{pid}/cgroup"));
    let own = own.lines().find_map(|line| line.strip_prefix("0::/")).expect("a group").to_owned();
    let mounts = read("/proc/self/mountinfo");
    let mut mounts = muster_machine::mounts::read(mounts.as_bytes());
    let group = mounts.find(|mount| mount.kind == "cgroup2")?.at.join(own);
    let tells = fs::read_to_string(group.join("cgroup.stat.local")).unwrap_or_default();
    (group.join("cgroup.procs").exists() && tells.contains("frozen_usec")).then_some(group)
}

#[test]
fn what_stood_still_is_no_slice_time() {
    let cluster = Cluster::up("t0155slice", 1);
    let job = cluster.muster(&["run", "sh", "-c", "echo on; sleep 600"]).start();
    job.await_out("on");
    let pid = || cluster.job(1)["ranks"][0]["pid"].clone();
    until("its process is known", || pid().is_number());
    let Some(group) = group_of(&pid()) else {
        eprintln!("not here: the kernel does not tell how long a group was frozen");
        return;
    };
    let lost = || {
        let usage = cluster.job(1)["usage"].clone();
        number(&usage, "wall_us") - number(&usage, "slice_us")
    };
    assert_eq!(lost(), 0);
    fs::write(group.join("cgroup.freeze"), "1").expect("it can be frozen");
    until("it has stood still for 0.2 s", || lost() > 200_000);
    fs::write(group.join("cgroup.freeze"), "0").expect("it can go on");
    let thawed = lost();
    cluster.muster(&["kill", "--signal", "TERM", "1"]).run().ok();
    job.wait().code(143);
    assert!((200_000..=thawed).contains(&lost()), "{thawed}: {}", cluster.job(1));
    assert!(number(&cluster.job(1)["usage"], "slice_us") > 0);
    cluster.down();
}

/// The session that knew it is gone by then.
#[test]
fn what_a_rank_has_used_that_ended_before_the_manager_died_is_not_forgotten() {
    let cluster = Cluster::up("t0155closed", 2);
    let flag = cluster.work().join("flag");
    let wait = format!("until [ -e {} ]; do sleep 0.1; done", flag.display());
    let line = format!("if [ $MUSTER_RANK = 0 ]; then {BURN}; else {wait}; fi");
    let running = cluster.muster(&["run", "-N", "2", "--input", "none", "sh", "-c", &line]).start();
    let first = || cluster.job(1)["ranks"][0].clone();
    until("the job runs", || cluster.muster(&["ps"]).run().out.contains("running"));
    until("the first rank has ended and its session is gone", || {
        let rank = first();
        rank["state"] == "done" && rank["usage"].is_object() && cluster.sessions(0) == 0
    });
    let used = first()["usage"].clone();
    assert!(cpu(&used) >= 300_000, "{used}");
    let old = cluster.kill("manager");
    until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(2);
    assert_eq!(first()["usage"], used);
    fs::write(&flag, "").unwrap();
    running.wait().ok();
    let job = cluster.job(1);
    assert_eq!(job["ranks"][0]["usage"], used);
    assert_sums(&job);
    cluster.down();
}

#[test]
fn the_history_outlives_the_manager() {
    let cluster = Cluster::up("t0155history", 2);
    cluster.muster(&["run", "-n", "3", "-J", "first", "sh", "-c", BURN]).run().ok();
    cluster.muster(&["run", "-J", "second", "false"]).run().code(1);
    let history = |words: &[&str]| -> Vec<Value> {
        let all = cluster.json(&[&["history", "--json"], words].concat());
        all["jobs"].as_array().expect("jobs").clone()
    };
    let names = |words: &[&str]| -> Vec<String> {
        history(words).iter().map(|job| job["name"].as_str().unwrap().to_owned()).collect()
    };
    let before = history(&[]);
    assert_eq!(names(&[]), ["first", "second"]);
    assert_eq!(before[0]["usage"], cluster.job(1)["usage"]);
    assert_eq!((&before[0]["size"], &before[0]["end"]), (&3.into(), &"done".into()));
    let old = cluster.kill("manager");
    until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(2);
    assert_eq!(history(&[]), before);
    cluster.muster(&["run", "-J", "third", "true"]).run().ok();
    assert_eq!(names(&["--state", "done"]), ["first", "third"]);
    assert_eq!(names(&["--since", "1h", "--last", "1"]), ["third"]);
    assert!(names(&["--user", "nobody-of-this-name"]).is_empty());
    let listed = cluster.muster(&["history", "--state", "failed"]).run().ok().out;
    assert!(listed.contains("second") && listed.contains("failed") && !listed.contains("first"));
    for (words, said) in [
        (["--since", "soon"], "is no time"),
        (["--state", "gone"], "a job ends as done, failed, killed, timeout or lost"),
        (["--last", "many"], "it is no whole number"),
    ] {
        let told = cluster.muster(&["history", words[0], words[1]]).run().code(2).says(said);
        assert_eq!(told.err.lines().count(), 1, "{}", told.err);
    }
    cluster.down();
}

/// The first that was not there ended it, and of the others nothing was told.
#[test]
fn of_several_that_are_named_those_are_told_that_are_there() {
    let cluster = Cluster::up("t0155several", 1);
    for _ in 0..2 {
        cluster.muster(&["run", "true"]).run().ok();
    }
    let said = cluster.muster(&["ps", "--json", "1", "999", "2"]).run().code(1);
    said.sentence("E162");
    assert_eq!(said.json()["jobs"].as_array().unwrap().len(), 2);
    let said = cluster.muster(&["cat", "/nope", "/jobs/1/wait"]).run().code(1);
    said.sentence("E160");
    assert_eq!(said.json()["id"], 1);
    let said = cluster.muster(&["ls", "/nope", "/jobs/2/ranks"]).run().code(1);
    said.sentence("E160");
    assert_eq!(said.out, "\n/jobs/2/ranks:\n0\n");
    cluster.down();
}

#[test]
fn who_asks_for_json_is_told_by_json_what_has_failed() {
    let cluster = Cluster::up("t0155json", 1);
    for (words, code, id) in [
        (&["ps", "999", "--json"][..], 1, "E162"),
        (&["up", "--json"], 1, "E124"),
        (&["--cluster", "no", "ps", "--json"], 1, "E120"),
        (&["nodes", "--jsn", "--json"], 2, "E100"),
    ] {
        let said = cluster.muster(words).run().code(code);
        let told = said.json();
        assert_eq!((&told["schema"], &told["error"]["id"]), (&1.into(), &id.into()), "{words:?}");
    }
    cluster.down();
}

/// A loop that started 300 jobs lost the exit statuses of the first, and who waited for all of them
/// heard that there was no job 1, and nothing of the others.
#[test]
fn how_a_job_has_ended_is_known_when_no_more_is_kept_of_it() {
    let cluster = Cluster::up("t0155forgotten", 1);
    let client = cluster.client("manager");
    for exit in [3, 0].into_iter().chain([0; JOBS_REMEMBERED + 1]).chain([4]) {
        let clone = client.open("jobs/clone", OpenFlags::default()).unwrap().into_fid();
        let id = String::from_utf8(clone.read_at(0, 32).unwrap()).unwrap();
        let spec = format!("{{\"argv\":[\"sh\",\"-c\",\"exit {exit}\"]}}");
        client.write(&format!("jobs/{id}/spec"), spec).unwrap();
        client.write(&format!("jobs/{id}/ctl"), "start\n").unwrap();
        client.read(&format!("jobs/{id}/wait")).unwrap();
    }
    let last = (JOBS_REMEMBERED + 4).to_string();
    let gone = "has ended with exit status 3, and what it printed is not kept any more";
    for words in [&["logs", "1"][..], &["ps", "1"], &["cat", "/jobs/1/stdout"]] {
        cluster.muster(words).run().code(1).says(gone).says("[E166]");
    }
    let told = cluster.json(&["history", "--json", "1"]);
    let all = told["jobs"].as_array().unwrap();
    assert_eq!((all.len(), &all[0]["id"], &all[0]["exit"]), (1, &1.into(), &3.into()));
    let told = cluster.muster(&["history", "999", "2", "--json"]).run().code(1);
    told.says("no job 999 is remembered").says("[E162]");
    let told = cluster.muster(&["kill", "1"]).run().ok();
    assert_eq!(told.out, "job 1 has ended already with exit status 3\n");
    cluster.muster(&["wait", "1"]).run().code(3).says(gone);
    let said = cluster.muster(&["wait", "2"]).run().ok();
    assert_eq!((said.out, said.err), Default::default());
    // Each is waited for whatever becomes of those before, and named.
    let said = cluster.muster(&["wait", "2", "999", "1", &last]).run().code(1);
    let lines: Vec<&str> = said.err.lines().collect();
    assert_eq!(lines.len(), 3, "{}", said.err);
    assert!(lines[0].starts_with("job 999: muster: there is no job 999"), "{}", said.err);
    assert!(lines[1].starts_with("job 1: muster: job 1 has ended"), "{}", said.err);
    assert!(lines[2].starts_with(&format!("job {last}: your program: ")), "{}", said.err);
    drop(client);
    cluster.down();
}
