//! Thousands of short sessions and jobs: what the daemons hold does not grow.

mod cluster;
#[path = "cluster/spawn.rs"]
mod spawn;

use cluster::{Cluster, signal, until};
use muster_ninep::error::Errno;
use muster_ninep::tree::OpenFlags;
use rustix::process::Signal;
use spawn::Session;
use std::fs;
use std::time::{Duration, Instant};

/// How long to go on with each kind.
const TIME: Duration = Duration::from_secs(10);

/// How many are enough.
const ENOUGH: usize = 10_000;

/// What a process holds.
#[derive(Debug, Clone, Copy)]
struct Held {
    descriptors: usize,
    threads: usize,
    /// Resident memory, KiB.
    memory: usize,
    children: usize,
}

fn held(pid: i32) -> Held {
    let count = |what: &str| fs::read_dir(format!("/proc/{pid}/{what}")).unwrap().count();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let all_threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let children = children.map_or(0, |_| {
        let of = |task: fs::DirEntry| {
            let text = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            text.split_whitespace().count()
        };
        all_threads.map(of).sum()
    });
    Held {
        descriptors: count("fd"),
        threads: count("task"),
        memory: memory.trim().trim_end_matches(" kB").parse().unwrap(),
        children,
    }
}

/// Asserts that a daemon comes back to what it held before.
fn assert_flat(what: &str, pid: i32, before: Held, growth: usize) {
    let flat = |now: Held| {
        now.descriptors <= before.descriptors + 4
            && now.threads <= before.threads + 2
            && now.children <= before.children
            && now.memory <= before.memory + growth
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    while !flat(held(pid)) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(flat(held(pid)), "{what}: {before:?} became {:?}", held(pid));
}

fn no_sessions(cluster: &Cluster, node: &str) {
    until("no session has a directory", || cluster.sessions(node.trim_start_matches('n')) == 0);
    let procs = cluster.muster(&["cat", &format!("nodes/{node}/procs")]).run().ok();
    assert_eq!(procs.out, "", "sessions of {node}");
}

#[test]
fn thousands_of_sessions_leave_nothing_at_their_node() {
    let cluster = Cluster::up("t0150sessions", 1);
    let socket = cluster.directory().join("n0.sock");
    let node = cluster.await_pid("n0");
    let many = |until: Instant, most: usize, runs: bool| {
        let mut count = 0;
        while Instant::now() < until && count < most {
            let session = Session::open(&socket);
            // One that nobody has entered is for a shell, and stays a while.
            assert_eq!(session.client.read(&session.path("id")).unwrap(), b"/0");
            if runs {
                session.client.write(&session.path("argv"), "sh -c 'echo x; sleep 9 &'\n").unwrap();
                session.order("exec").unwrap();
                session.client.read(&session.path("wait")).unwrap();
            }
            count += 1;
        }
        count
    };
    let soon = || Instant::now() + TIME;
    many(soon(), 300, false);
    many(soon(), 100, true);
    no_sessions(&cluster, "n0");
    let before = held(node);
    let (empty, running) = (many(soon(), ENOUGH, false), many(soon(), ENOUGH, true));
    eprintln!("{empty} sessions, {running} with a program");
    no_sessions(&cluster, "n0");
    assert_flat("node", node, before, 8 * 1024);
    cluster.no_job_processes();
    cluster.down();
}

#[test]
fn thousands_of_jobs_leave_nothing_anywhere() {
    let cluster = Cluster::up("t0150jobs", 2);
    let client = cluster.client("manager");
    let one = |at: usize| {
        let clone = client.open("jobs/clone", OpenFlags::default()).unwrap().into_fid();
        let id = String::from_utf8(clone.read_at(0, 32).unwrap()).unwrap();
        let argv = match at % 4 {
            0 => "\"true\"",
            1 => "\"nonexist\"",
            2 => "\"sh\",\"-c\",\"echo out; sleep 60 & exit 3\"",
            _ => "\"sleep\",\"60\"",
        };
        let spec = format!("{{\"argv\":[{argv}],\"nodes\":2,\"time_ms\":3600000}}");
        client.write(&format!("jobs/{id}/spec"), spec).unwrap();
        let started = client.write(&format!("jobs/{id}/ctl"), "start\n");
        assert_eq!(started.is_err(), at % 4 == 1, "{started:?}");
        match at % 4 {
            // Its client goes away.
            3 => drop(clone),
            _ => drop(client.read(&format!("jobs/{id}/wait")).unwrap()),
        }
    };
    let daemons = ["manager", "n0", "n1"].map(|name| (name, cluster.await_pid(name)));
    // As many as are remembered, so that what is kept of each is there.
    (0..320).for_each(one);
    let before = daemons.map(|(_, pid)| held(pid));
    let (start, mut count) = (Instant::now(), 0);
    while start.elapsed() < 2 * TIME && count < ENOUGH {
        one(count);
        count += 1;
    }
    eprintln!("{count} jobs");
    for ((name, pid), before) in daemons.into_iter().zip(before) {
        // The manager keeps ended jobs for a while: time limits, what they were.
        assert_flat(name, pid, before, 16 * 1024);
    }
    no_sessions(&cluster, "n0");
    no_sessions(&cluster, "n1");
    cluster.no_job_processes();
    let logs = fs::read_dir(cluster.directory().join("jobs")).unwrap().count();
    assert!(logs <= 300, "{logs} logs");
    let journal = fs::metadata(cluster.directory().join("journal")).unwrap().len();
    assert!(journal < 3 << 20, "{journal} bytes of journal");
    // A new manager takes up no more than the old one had.
    let old = cluster.kill("manager");
    until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(2);
    let listed = cluster.json(&["ps", "--all", "--json"])["jobs"].as_array().unwrap().len();
    assert!((200..=300).contains(&listed), "{listed} jobs");
    assert!(fs::read_dir(cluster.directory().join("jobs")).unwrap().count() <= 300);
    cluster.muster(&["run", "-N", "2", "true"]).run().ok();
    cluster.down();
}

/// Each holds what it needs of what is scarce only while it needs it.
#[test]
fn many_jobs_with_files_at_once_all_get_them() {
    let cluster = Cluster::up("t0150files", 3);
    let big: Vec<u8> = (0..6_000_000_u32).map(|n| (n >> 5) as u8).collect();
    cluster.file("big", 0o644, &big);
    let line = "wc -c < big";
    let flags = ["run", "-N", "3", "--bcast", "big", "sh", "-c", line];
    let jobs: Vec<_> = (0..12).map(|_| cluster.muster(&flags).start()).collect();
    for job in jobs {
        let said = job.wait().ok();
        assert_eq!(said.out.matches("6000000").count(), 3, "{said:?}");
    }
    // One whose client has stopped halfway takes nothing from the others.
    let slow = cluster.muster(&["run", "-N", "3", "--bcast", "big", "sleep", "600"]).start();
    signal(slow.pid(), Signal::STOP);
    cluster.muster(&flags).run().ok();
    signal(slow.pid(), Signal::CONT);
    // One that is killed while its files are on their way ends at once.
    slow.signal(Signal::TERM);
    slow.signal(Signal::TERM);
    drop(slow);
    cluster.no_job_processes();
    cluster.muster(&["run", "-N", "3", "true"]).run().ok();
    cluster.down();
}

/// A daemon has some descriptors for each rank, and users come with 1,024 at most.
#[test]
fn ranks_are_not_limited_by_the_descriptors_that_a_user_comes_with() {
    let cluster = Cluster::none("t0150few");
    let run = ["run", "-N", "1", "-n", "100", "-o", "%n.out", "sh", "-c", "ulimit -n; sleep 3"];
    cluster.muster(&run).after("ulimit -S -n 96").run().ok();
    for rank in 0..100 {
        let said = fs::read_to_string(cluster.work().join(format!("{rank}.out"))).unwrap();
        assert_eq!(said, "96\n", "what it would have had");
    }
    cluster.down();
}

/// One client had all requests under way that a node's connection takes: jobs there failed, or
/// their output ended early and they with 0.
#[test]
fn a_client_that_waits_for_as_much_as_it_may_stops_no_job() {
    let cluster = Cluster::up("t0150waits", 1);
    let client = cluster.client("manager");
    let session = client.open("nodes/n0/clone", OpenFlags::default()).unwrap().into_fid();
    let id = String::from_utf8(session.read_at(0, 32).unwrap()).unwrap();
    let wait = client.open(&format!("nodes/n0/{}/wait", id.trim()), OpenFlags::default()).unwrap();
    let (told, refused) = std::sync::mpsc::channel();
    for _ in 0..20_000 {
        let told = told.clone();
        // The test's end answers those that wait.
        wait.fid().read_then(0, 64, move |answer| drop(told.send(answer.err())));
    }
    let error = refused.recv_timeout(Duration::from_secs(60)).expect("an answer");
    assert_eq!(error.expect("it cannot wait so often").errno, Errno::AGAIN);
    let line = "sleep 1; exec seq 100000";
    let said = cluster.muster(&["run", "-w", "n0", "sh", "-c", line]).run().ok();
    assert_eq!(said.out.lines().count(), 100_000);
    drop((wait, session, client));
    cluster.down();
}
