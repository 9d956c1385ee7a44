//! Trouble that is nobody's death: programs that cannot run, daemons that stand still, a full disk
//! at one receiver. Each ends with one clear message, or with none; the cluster is whole after it,
//! and nothing is left.

mod cluster;

use cluster::{Cluster, signal, stop, until};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Signal, pidfd_getfd, pidfd_open};
use std::fs;
use std::time::Duration;

/// Longer than a lease, than silence proves a death, and than a client waits for an answer.
const LONG: Duration = Duration::from_secs(10);

/// Nothing of any job is left on the nodes, and they take another.
fn is_whole(cluster: &Cluster, nodes: usize) {
    cluster.no_job_processes();
    for node in 0..nodes {
        until("no session is left", || cluster.sessions(node) == 0);
    }
    let said = cluster.muster(&["run", "-N", &nodes.to_string(), "echo", "well"]).run().ok();
    assert_eq!(said.out.matches("well").count(), nodes, "{said:?}");
}

fn losses(cluster: &Cluster) -> u64 {
    let status = cluster.json(&["cat", "status"]);
    status["nodes"].as_array().unwrap().iter().map(|n| n["losses"].as_u64().unwrap()).sum()
}

/// A program of this machine, with some of its bytes changed.
fn changed(name: &str, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let path = ["/usr/bin", "/bin"].map(|dir| format!("{dir}/{name}"));
    let path = path.iter().find(|path| fs::metadata(path).is_ok()).expect("it is everywhere");
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    bytes
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let at = bytes.windows(from.len()).position(|part| part == from).expect("it is there");
    bytes[at..at + to.len()].copy_from_slice(to);
}

/// Cuts the connections that lead into a node: what a lost route or a firewall would do to them.
fn cut(cluster: &Cluster, node: &str) {
    let pid = Pid::from_raw(cluster.await_pid(node)).expect("a process");
    let daemon = pidfd_open(pid, PidfdFlags::empty()).expect("it runs");
    let socket = format!("/{node}.sock");
    let all = fs::read_to_string("/proc/net/unix").unwrap();
    // Num RefCount Protocol Flags Type St Inode Path; 03 is connected.
    let fields = all.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let is_meant =
        |line: &Vec<&str>| line.len() == 8 && line[5] == "03" && line[7].ends_with(&socket);
    let inodes: Vec<String> =
        fields.filter(is_meant).map(|line| format!("socket:[{}]", line[6])).collect();
    let mut count = 0;
    for entry in fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).unwrap().flatten() {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        if inodes.iter().any(|inode| target.as_os_str() == inode.as_str()) {
            let number = entry.file_name().to_str().unwrap().parse().unwrap();
            let end = pidfd_getfd(&daemon, number, PidfdGetfdFlags::empty()).expect("we may");
            rustix::net::shutdown(&end, rustix::net::Shutdown::Both).expect("it is connected");
            count += 1;
        }
    }
    assert!(count > 0, "nobody was connected to {node}");
}

#[test]
fn a_node_whose_connection_from_the_manager_breaks_joins_again_and_is_clean() {
    let cluster = Cluster::up("t0185cut", 3);
    let daemon = cluster.await_pid("n1");
    let flag = cluster.work().join("flag");
    let line = format!(
        "(setsid sleep 600 &); echo begun $MUSTER_RANK; until [ -e {} ]; do sleep 0.1; done",
        flag.display()
    );
    let start = |args: &[&str]| {
        let fixed = ["run", "--input", "none"];
        let running = cluster.muster(&[&fixed[..], args, &["sh", "-c", &line]].concat()).start();
        until("it has begun", || running.out().matches("begun").count() == 2);
        running
    };
    let plain = start(&["-w", "n0,n1"]);
    let tolerant = start(&["-w", "n1,n2", "--tolerate"]);
    let again = start(&["-w", "n1,n2", "--requeue"]);
    cut(&cluster, "n1");
    let said = plain.wait().code(125);
    assert!(said.err.contains("rank 1 on n1 was lost: its connection closed"), "{said:?}");
    until("the job begins again", || again.out().matches("begun").count() == 4);
    cluster.await_nodes(3);
    assert_eq!(cluster.await_pid("n1"), daemon, "it never died");
    // One for the attempt that runs: what the tolerant job had there is gone.
    until("only one session is left", || cluster.sessions(1) == 1);
    fs::write(&flag, "").unwrap();
    let said = tolerant.wait().code(0);
    assert!(said.err.contains("rank 0 on n1 was lost, the others went on"), "{said:?}");
    again.wait().code(0);
    assert_eq!(losses(&cluster), 1);
    is_whole(&cluster, 3);
    cluster.down();
}

#[test]
fn a_program_that_cannot_run_is_told_in_one_sentence() {
    let cluster = Cluster::up("t0185programs", 2);
    let machine = |low, high| {
        changed("true", move |bytes| {
            (bytes[18], bytes[19]) = (low, high);
        })
    };
    // s390x, the other byte order and all; and a machine that nobody has heard of.
    cluster.file(
        "s390x",
        0o755,
        changed("true", |bytes| {
            bytes[5] = 2;
            (bytes[18], bytes[19]) = (0, 22);
        }),
    );
    cluster.file("aarch64", 0o755, machine(183, 0));
    cluster.file("unheard", 0o755, machine(0xed, 0xfe));
    cluster.file("cut", 0o755, changed("true", |bytes| bytes.truncate(40)));
    cluster.file(
        "lacks",
        0o755,
        changed("true", |bytes| {
            replace(bytes, b"libc.so.6", b"libq.so.6");
        }),
    );
    cluster.file("plain", 0o644, "text");
    cluster.file("bare", 0o755, "echo x\n");
    cluster.file("empty", 0o755, "");
    let run = |args: &[&str]| cluster.muster(&[&["run", "-N", "2"][..], args].concat()).run();
    for (args, code, id, word) in [
        (&["./s390x"][..], 126, "E102", "s390x"),
        (&["./aarch64"], 126, "E102", "Build it for x86_64"),
        (&["./unheard"], 126, "E102", "./unheard"),
        (&["./cut"], 126, "E102", "./cut"),
        (&["./bare"], 126, "E102", "its first line must name its interpreter, as #!/bin/sh"),
        (&["./empty"], 126, "E102", "its first line must name its interpreter, as #!/bin/sh"),
        (&["./plain"], 126, "E103", "chmod +x ./plain"),
        (&["./nothing"], 127, "E101", "not found here"),
        (&["nothing"], 127, "E101", "searched its PATH"),
        (&["./lacks"], 127, "E105", "libq.so.6"),
    ] {
        let said = run(args).code(code).says(word).without_loaders();
        said.sentence(id);
        assert!(said.out.is_empty(), "{said:?}");
    }
    // A shell that starts several programs would run it all the same.
    for args in [&["mpiexec", "./bare"][..], &["mpiexec", "true", ":", "./bare"]] {
        let said = cluster.muster(args).run().code(126).says("as #!/bin/sh");
        said.sentence("E102");
    }
    // What the client cannot see the node says.
    let path = cluster.work().join("aarch64");
    let said = run(&["--no-send", path.to_str().unwrap()]).code(126);
    said.sentence("E102");
    is_whole(&cluster, 2);
    cluster.down();
}

#[test]
fn a_size_or_a_time_that_cannot_be_is_refused_at_once() {
    let cluster = Cluster::up("t0185limits", 2);
    let run = |args: &[&str]| cluster.muster(&[&["run"][..], args, &["true"]].concat()).run();
    run(&["-N", "2", "-n", "100000"]).code(125).says("3072 at most").sentence("E111");
    run(&["-n", "4000000000"]).code(125).sentence("E111");
    run(&["-N", "3"]).code(125).says("2 exist").sentence("E110");
    for time in ["0", "-5", "soon", "99:99", "1e99", "400d", "5m5", ""] {
        let said = run(&[&format!("--time={time}")]).code(2).says("--time");
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
    }
    assert_eq!(cluster.json(&["ps", "--json"])["jobs"].as_array().unwrap().len(), 0);
    is_whole(&cluster, 2);
    cluster.down();
}

/// A manager that follows one which has died is not there for some milliseconds. Commands failed at
/// once then, and in a view they said that there was no such view.
#[test]
fn a_manager_whose_socket_is_not_there_yet_is_waited_for() {
    let cluster = Cluster::up("t0185between", 1);
    cluster.muster(&["view", "create", "lab", "--nodes", "n0"]).run().ok();
    let (socket, aside) = (cluster.directory().join("manager.sock"), cluster.work().join("s"));
    for words in [&["ps"][..], &["--view", "lab", "ps"], &["run", "true"]] {
        fs::rename(&socket, &aside).unwrap();
        let running = cluster.muster(words).start();
        std::thread::sleep(Duration::from_millis(300));
        fs::rename(&aside, &socket).unwrap();
        running.wait().ok();
    }
    fs::rename(&socket, &aside).unwrap();
    cluster.muster(&["--view", "lab", "ps"]).run().code(1).sentence("E121");
    fs::rename(&aside, &socket).unwrap();
    cluster.down();
}

/// It has no lease of anybody's: when it goes on, it must take nobody for dead who waited for it.
#[test]
fn a_manager_that_stands_still_for_ten_seconds_loses_nothing() {
    let cluster = Cluster::up("t0185manager", 4);
    let flag = cluster.work().join("flag");
    let line = format!(
        "echo begun; until [ -e {} ]; do sleep 0.1; done; echo ended $MUSTER_RANK",
        flag.display()
    );
    let job = cluster.muster(&["run", "-N", "4", "--input", "none", "sh", "-c", &line]).start();
    until("all run", || job.out().matches("begun").count() == 4);
    let pid = cluster.await_pid("manager");
    stop(pid);
    std::thread::sleep(LONG / 2);
    // It ends while nobody can be told.
    fs::write(&flag, "").unwrap();
    std::thread::sleep(LONG / 2);
    signal(pid, Signal::CONT);
    let said = job.wait().ok();
    assert_eq!(said.out.matches("ended").count(), 4, "{said:?}");
    assert_eq!((cluster.await_pid("manager"), losses(&cluster)), (pid, 0));
    is_whole(&cluster, 4);
    cluster.down();
}

/// Silence is no death: it is told of, and what it ran goes on when it does.
#[test]
fn a_node_that_stands_still_for_ten_seconds_is_slow_and_not_dead() {
    let cluster = Cluster::up("t0185node", 4);
    let flag = cluster.work().join("flag");
    let line = format!(
        "echo begun; until [ -e {} ]; do sleep 0.1; done; echo ended $MUSTER_RANK",
        flag.display()
    );
    let job = cluster.muster(&["run", "-N", "4", "--input", "none", "sh", "-c", &line]).start();
    until("all run", || job.out().matches("begun").count() == 4);
    let pid = cluster.await_pid("n1");
    stop(pid);
    let others = cluster.muster(&["run", "-w", "n[0,2-3]", "echo", "well"]);
    let others = others.start();
    until("it is listed as slow", || {
        let listed = cluster.muster(&["nodes", "--long"]).run().ok().out;
        let line = listed.lines().find(|line| line.starts_with("n1 ")).unwrap_or("").to_owned();
        line.contains(" slow ") && line.contains("has not answered for ")
    });
    let listed = cluster.muster(&["ls", "/nodes"]).run().ok().out;
    assert_eq!(listed.matches('n').count(), 4, "{listed}");
    // It will come: who asks for it waits as long as it does.
    let asks = [&["-w", "n1"][..], &["-N", "4"]].map(|nodes| {
        let asks = cluster.muster(&[&["run"], nodes, &["echo", "came"]].concat()).start();
        until("it waits for its nodes", || asks.err().contains("[N110]"));
        asks
    });
    let (ours, its) = ("waits for n1", "has not answered for ");
    until("who waits for it is told so", || job.err().contains(ours) && job.err().contains(its));
    assert_eq!(others.wait().ok().out.matches("well").count(), 3);
    fs::write(&flag, "").unwrap();
    std::thread::sleep(LONG / 2);
    signal(pid, Signal::CONT);
    let said = job.wait().ok();
    assert_eq!(said.out.matches("ended").count(), 4, "{said:?}");
    let came = asks.map(|asks| asks.wait().ok().out.matches("came").count());
    assert_eq!(came, [1, 4]);
    assert_eq!((cluster.await_pid("n1"), losses(&cluster)), (pid, 0));
    cluster.await_nodes(4);
    is_whole(&cluster, 4);
    cluster.down();
}

/// A node gets no jobs from when its lease has ended, long before it is called slow. One that it
/// was given just before is not lost: the order is sent again when the node answers.
#[test]
fn a_job_for_a_node_that_has_just_stopped_waits_until_it_goes_on() {
    let cluster = Cluster::up("t0185stop", 2);
    let pid = cluster.await_pid("n1");
    let ask = || cluster.muster(&["run", "-w", "n1", "--input", "none", "echo", "came"]).start();
    stop(pid);
    let ordered = ask();
    until("its lease has ended", || {
        cluster.muster(&["cat", "heartbeat"]).run().ok().out.contains("nodes 1\n")
    });
    let waits = ask();
    until("it waits for its node", || waits.err().contains("n1 down or slow"));
    until("who has the node waits for it, too", || {
        let told = ordered.err();
        told.contains("waits for n1, which has not answered") || told.contains("n1 down or slow")
    });
    signal(pid, Signal::CONT);
    for one in [ordered, waits] {
        assert!(one.wait().ok().out.contains("came"));
    }
    assert_eq!((cluster.await_pid("n1"), losses(&cluster)), (pid, 0));
    is_whole(&cluster, 2);
    cluster.down();
}

#[test]
fn a_disk_that_is_full_at_one_receiver_costs_the_job_and_names_the_node() {
    let cluster = Cluster::up("t0185disk", 3);
    let at = cluster.directory().join("n1").to_str().unwrap().to_owned();
    let mount = |args: &[&str]| std::process::Command::new(args[0]).args(&args[1..]).status();
    let mounted = mount(&["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "muster", &at]);
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("only root can mount a small disk: nothing tested");
        return;
    }
    let guard = Mounted(at);
    cluster.file("big", 0o644, vec![7; 6 << 20]);
    let send = |nodes: &str| {
        let args = ["run", "-w", nodes, "--input", "none", "--bcast", "big", "wc", "-c", "big"];
        cluster.muster(&args).run()
    };
    for _ in 0..3 {
        let said = send("n[0-2]").code(125).says("on n1").says("No space left");
        said.sentence("E205");
        until("nothing is left of it", || (0..3).all(|node| cluster.sessions(node) == 0));
    }
    assert_eq!(send("n[0,2]").ok().out.matches("6291456").count(), 2);
    drop(guard);
    assert_eq!(send("n[0-2]").ok().out.matches("6291456").count(), 3);
    is_whole(&cluster, 3);
    cluster.down();
}

/// A mount that goes with the test.
struct Mounted(String);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").args(["-l", &self.0]).status();
    }
}
