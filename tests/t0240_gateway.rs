//! Ranks of a job ask their node's daemon for the job's gateway, and talk to all others.
//! Their program is this file's: see `rank`.

mod cluster;
mod hosts;

use cluster::{Call, Cluster, Running, until};
use hosts::Hosts;
use muster_fabric::gateway::{Piece, Place, Rank};
use muster_fabric::{Deadline, Error};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// What the program is to do.
const ROLE: &str = "MUSTER_TEST_GATEWAY";

/// What begins the lines that are meant for the test.
const MARK: &str = "gateway: ";

/// Sizes of the messages from each rank to each other.
const SIZES: [usize; 5] = [0, 1, 8192, 8193, 300_000];

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn number(name: &str) -> u32 {
    std::env::var(name).expect(name).parse().expect(name)
}

fn say(what: impl std::fmt::Display) {
    // One write, so that lines of several ranks do not mix.
    let line = format!("\n{MARK}{what}\n");
    rustix::io::write(rustix::stdio::stdout(), line.as_bytes()).expect("a stream");
}

/// The program of a rank: no test of its own, and nothing to do when it is run as one.
#[test]
fn rank() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let (job, rank) = (number("MUSTER_JOB"), number("MUSTER_RANK"));
    let at = std::env::var("MUSTER_GATEWAY").expect("a rank has it");
    let meet = |job, rank| Rank::meet(Path::new(&at), (job, rank), soon());
    match role.as_str() {
        "exchange" => exchange(meet(job, rank).expect("it is let in"), rank),
        "wrong" => {
            say(meet(job, rank + 1).err().expect("another rank's"));
            say(meet(job + 1, rank).err().expect("another job's"));
            let own = meet(job, rank).expect("its own");
            say(meet(job, rank).err().expect("it is in"));
            drop(own);
            say(meet(job, rank).err().expect("it was in"));
        }
        "wait" => {
            let own = meet(job, rank).expect("its own");
            say("in");
            watch(own, None);
        }
        // Rank 0 of all comes late.
        "late" => {
            if rank == 0 {
                await_flag();
            }
            let own = meet(job, rank).expect("it is let in");
            say("in");
            exchange(own, rank);
        }
        // All come late.
        "later" => {
            say("waits");
            await_flag();
            exchange(meet(job, rank).expect("it is let in"), rank);
        }
        // The first attempt does not get far.
        "again" => {
            let own = meet(job, rank).expect("it is let in");
            if number("MUSTER_RESTART_COUNT") == 0 {
                say("in");
                watch(own, None);
            } else {
                exchange(own, rank);
            }
        }
        _ => {
            let (how, lost) = role.split_once(' ').expect("a role");
            let own = meet(job, rank).expect("its own");
            say("in");
            lose(own, rank, how, lost.parse().expect("a rank"));
        }
    }
}

/// One of all ranks is lost, and the others see it: `without` it, which ends at a word, or while
/// they send `to` it, which goes on.
fn lose(own: Rank, rank: u32, how: &str, lost: u32) {
    let place = places(own.shape())[lost as usize];
    match (how, rank == lost) {
        ("without", true) => {
            await_flag();
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).expect("it is it");
        }
        ("to", true) => watch(own, None),
        ("without", false) => watch(own, Some(place)),
        ("to", false) => pour(own, place),
        _ => panic!("no role {how} {lost}"),
    }
    say(format!("rank {rank} saw it"));
}

/// Waits until the test makes the file.
fn await_flag() {
    let flag = std::env::var("FLAG").expect("a file's name");
    while !Path::new(&flag).exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until another rank is gone, or for ever.
fn watch(mut own: Rank, lost: Option<Place>) {
    let short = || Deadline::after(Duration::from_millis(20));
    while !lost.is_some_and(|place| own.is_gone(place)) {
        match own.take(short(), &mut |_| ()) {
            Ok(()) | Err(Error::Deadline { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Sends to another rank until that is gone.
fn pour(mut own: Rank, lost: Place) {
    loop {
        match own.try_send(lost, b"", b"more", 0) {
            Ok(_) => {}
            Err(Error::WouldBlock) => own.wait(&[lost], Duration::from_millis(20)).expect("room"),
            Err(Error::Dead { .. }) if own.is_gone(lost) => return,
            Err(error) => panic!("{error}"),
        }
    }
}

/// All ranks, in their order.
fn places(shape: &[u16]) -> Vec<Place> {
    let of_node = |(node, ranks): (u32, &u16)| {
        (0..u32::from(*ranks)).map(move |rank| Place { node, rank }).collect::<Vec<_>>()
    };
    (0..).zip(shape).flat_map(of_node).collect()
}

/// The byte at `at` of a message.
fn byte(from: u32, to: u32, message: usize, at: usize) -> u8 {
    (at * 7 + message * 13 + from as usize * 31 + to as usize * 101) as u8
}

/// What has come from a rank: whole messages, and bytes of the next.
type Got = BTreeMap<Place, (usize, usize)>;

/// Sends to all other ranks, and takes what they send.
fn exchange(mut own: Rank, me: u32) {
    let shape = own.shape().to_vec();
    let places = places(&shape);
    assert_eq!(places.len(), number("MUSTER_SIZE") as usize);
    assert_eq!(places[me as usize], own.place());
    assert_eq!(own.place().rank, number("MUSTER_LOCAL_RANK"));
    let rank_of: BTreeMap<Place, u32> = places.iter().copied().zip(0..).collect();
    let others: Vec<Place> =
        places.iter().filter(|place| **place != own.place()).copied().collect();
    let mut got: Got = others.iter().map(|place| (*place, (0, 0))).collect();
    for (message, size) in SIZES.into_iter().enumerate() {
        for to in &others {
            let bytes: Vec<u8> = (0..size).map(|at| byte(me, rank_of[to], message, at)).collect();
            send(&mut own, *to, &bytes, &mut |piece| check(&rank_of, me, &mut got, piece));
        }
    }
    while got.values().any(|(messages, _)| *messages < SIZES.len()) {
        own.take(soon(), &mut |piece| check(&rank_of, me, &mut got, piece)).expect("a piece");
    }
    own.flush(soon()).expect("they take it");
    say(format!("rank {me} of {shape:?} has messages of {}", others.len()));
}

fn send(own: &mut Rank, to: Place, bytes: &[u8], take: &mut impl FnMut(Piece<'_>)) {
    let (mut offset, (head, body)) = (0, bytes.split_at(bytes.len().min(64)));
    loop {
        match own.try_send(to, head, body, offset) {
            Ok(sent) => offset += sent,
            Err(Error::WouldBlock) => own.wait(&[to], Duration::from_secs(60)).expect("room"),
            Err(error) => panic!("{error}"),
        }
        while own.try_take(take).is_ok() {}
        if offset == bytes.len() {
            return;
        }
    }
}

/// Pieces come in order, and with the right bytes.
fn check(rank_of: &BTreeMap<Place, u32>, me: u32, got: &mut Got, mut piece: Piece<'_>) {
    let (message, offset) = got.get_mut(&piece.from).expect("another rank's");
    assert_eq!((piece.total as usize, piece.offset as usize), (SIZES[*message], *offset));
    let from = rank_of[&piece.from];
    let is_right = |(at, there): (usize, &u8)| *there == byte(from, me, *message, *offset + at);
    let bytes = piece.bytes.to_vec();
    assert!(bytes.iter().enumerate().all(is_right), "message {message} of {from}");
    *offset += bytes.len();
    if *offset == SIZES[*message] {
        (*message, *offset) = (*message + 1, 0);
    }
}

/// `muster run` of the program, in a role.
fn run(cluster: &Cluster, role: &str, flags: &[&str]) -> Call {
    run_by(cluster, role, flags, &[])
}

/// The same by way of another program.
fn run_by(cluster: &Cluster, role: &str, flags: &[&str], by: &[&str]) -> Call {
    let flag = cluster.work().join("flag").display().to_string();
    let args = arguments(role, flags, by);
    cluster.muster(&args.iter().map(String::as_str).collect::<Vec<_>>()).env("FLAG", &flag)
}

fn arguments(role: &str, flags: &[&str], by: &[&str]) -> Vec<String> {
    let program = std::env::current_exe().expect("a program").display().to_string();
    let role = format!("{ROLE}={role}");
    let begin = ["run", "--input", "none", "--env", &role];
    let end = [program.as_str(), "--exact", "rank", "--nocapture"];
    [&begin[..], flags, by, &end[..]].concat().into_iter().map(str::to_owned).collect()
}

/// What ranks wait for.
fn let_go(cluster: &Cluster) {
    fs::write(cluster.work().join("flag"), "").expect("a file");
}

/// Waits until so many lines of that have come.
fn await_lines(running: &Running, what: &str, count: usize) {
    let line = format!("{MARK}{what}");
    until(&format!("{count} say {what:?}"), || {
        running.out().lines().filter(|said| **said == line).count() == count
    });
}

/// What the ranks of a job say that is so spread when they have exchanged messages.
fn exchanged(shape: &[usize]) -> Vec<String> {
    let size: usize = shape.iter().sum();
    let line = |rank| format!("rank {rank} of {shape:?} has messages of {}", size - 1);
    (0..size).map(line).collect()
}

/// What ranks have said, sorted.
fn said(out: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix(MARK)).collect();
    lines.sort_unstable();
    lines
}

/// What a daemon holds: descriptors, threads, memory that it shares.
fn held(cluster: &Cluster, node: &str) -> (usize, usize, usize) {
    let pid = cluster.await_pid(node);
    let entries = |what: &str| fs::read_dir(format!("/proc/{pid}/{what}")).expect(what).flatten();
    let is_shared = |entry: &fs::DirEntry| {
        let to = fs::read_link(entry.path()).unwrap_or_default();
        to.to_string_lossy().contains("muster-gateway")
    };
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("its maps");
    let shared = entries("fd").filter(is_shared).count() + maps.matches("muster-gateway").count();
    (entries("fd").count(), entries("task").count(), shared)
}

/// Waits until no daemon has a part of a gateway.
fn await_none(cluster: &Cluster, nodes: usize) {
    cluster.await_nodes(nodes);
    let holds_none = |node: usize| held(cluster, &format!("n{node}")).2 == 0;
    until("no gateway is left", || (0..nodes).all(holds_none));
}

const NODES: [&str; 3] = ["n0", "n1", "n2"];

#[test]
fn ranks_of_all_nodes_exchange_messages_and_nothing_is_left() {
    let cluster = Cluster::up("t0240", NODES.len());
    // What daemons keep for the next job they have then: processes that are free.
    cluster.muster(&["run", "-N", "3", "-n", "8", "sleep", "0.5"]).run().ok();
    let mut before = NODES.map(|node| held(&cluster, node));
    until("nothing changes", || {
        let last = std::mem::replace(&mut before, NODES.map(|node| held(&cluster, node)));
        (0..3).all(|node| cluster.sessions(node) == 0) && before == last
    });
    let exchange = || {
        let out = run(&cluster, "exchange", &["-N", "3", "-n", "8"]).run().ok().out;
        assert_eq!(said(&out), exchanged(&[3, 3, 2]));
    };
    (0..3).for_each(|_| exchange());
    // Free processes end where a mount of the machine changes, whoever's it is: they are there
    // again behind another run. What a run leaves grows with each.
    until(&format!("daemons hold {before:?}"), || {
        let soon = Instant::now() + Duration::from_secs(5);
        let is_so = || NODES.map(|node| held(&cluster, node)) == before;
        while !is_so() && Instant::now() < soon {
            std::thread::sleep(Duration::from_millis(10));
        }
        is_so() || {
            exchange();
            false
        }
    });
    cluster.down();
}

#[test]
fn a_job_that_does_not_ask_has_no_gateway_and_one_on_one_node_has() {
    let cluster = Cluster::up("t0240", 1);
    let flag = cluster.work().join("flag");
    let wait = format!("echo in; until [ -e {} ]; do sleep 0.1; done", flag.display());
    let quiet = cluster.muster(&["run", "-n", "2", "sh", "-c", &wait]).start();
    quiet.await_out("in\nin\n");
    assert_eq!(held(&cluster, "n0").2, 0);
    let out = run(&cluster, "exchange", &["-n", "2"]).run().ok().out;
    assert_eq!(said(&out), exchanged(&[2]));
    fs::write(&flag, "").expect("a file");
    quiet.wait().ok();
    cluster.down();
}

#[test]
fn a_rank_may_be_any_descendant_of_its_jobs_program() {
    let cluster = Cluster::up("t0240", 2);
    let by = ["sh", "-c", "setsid sh -c '\"$@\"; :' sh \"$@\" & wait", "sh"];
    let out = run_by(&cluster, "exchange", &["-N", "2"], &by).run().ok().out;
    assert_eq!(said(&out), exchanged(&[1, 1]));
    cluster.down();
}

#[test]
fn ranks_of_a_user_without_any_rights_get_it_too() {
    let Some(cluster) = Cluster::of_nobody("t0240") else { return };
    cluster.muster(&["up", "-N", "2"]).run().ok();
    let out = run(&cluster, "exchange", &["-N", "2", "-n", "3"]).run().ok().out;
    assert_eq!(said(&out), exchanged(&[2, 1]));
    cluster.down();
}

#[test]
fn who_is_not_that_rank_of_that_job_is_refused_with_a_sentence() {
    let cluster = Cluster::up("t0240", 1);
    let mut waiting = run(&cluster, "wait", &[]).start();
    waiting.await_out("in\n");
    let gate = cluster.directory().join("n0/gate");
    let why =
        |job, rank| Rank::meet(&gate, (job, rank), soon()).err().expect("refused").to_string();
    let own = std::process::id();
    let refuses = "the node's daemon refuses";
    let stranger = format!("{refuses}: process {own} does not belong to rank 0 of job 1");
    assert_eq!(why(1, 0), stranger);
    assert_eq!(why(1, 1), format!("{refuses}: n0 runs no rank 1 of a job 1"));
    assert_eq!(why(2, 0), format!("{refuses}: n0 runs no rank 0 of a job 2"));
    let out = run(&cluster, "wrong", &["-n", "2"]).run().ok().out;
    let lines = said(&out);
    let count = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
    assert_eq!(lines.len(), 8, "{lines:?}");
    assert_eq!(count("does not belong to rank 1 of job 2"), 1, "{lines:?}");
    assert_eq!(count("n0 runs no rank 2 of a job 2"), 1, "{lines:?}");
    assert_eq!(count("of a job 3"), 2, "{lines:?}");
    assert_eq!(count("refuses: it was let in before"), 4, "{lines:?}");
    assert!(!waiting.ended(), "it is where it was");
    cluster.muster(&["kill", "1"]).run();
    waiting.wait();
    cluster.down();
    let gone = Rank::meet(&gate, (1, 0), soon()).err().expect("nobody is there").to_string();
    assert!(gone.contains("nobody listens there"), "{gone}");
}

#[test]
fn a_node_that_is_wanted_is_there_before_its_own_ranks_ask() {
    let cluster = Cluster::up("t0240", 2);
    let running = run(&cluster, "late", &["-N", "2"]).start();
    await_lines(&running, "in", 1);
    until("the other node has a part", || held(&cluster, "n0").2 > 0);
    let_go(&cluster);
    let out = running.wait().ok().out;
    assert_eq!(said(&out)[..2], ["in", "in"]);
    assert_eq!(said(&out)[2..], exchanged(&[1, 1]));
    cluster.down();
}

#[test]
fn a_rank_that_dies_is_gone_for_ranks_of_all_nodes() {
    let cluster = Cluster::up("t0240", 2);
    let flags = ["-N", "2", "-n", "4", "--keep-going"];
    let running = run(&cluster, "without 1", &flags).start();
    await_lines(&running, "in", 4);
    let_go(&cluster);
    for rank in [0, 2, 3] {
        await_lines(&running, &format!("rank {rank} saw it"), 1);
    }
    running.wait();
    await_none(&cluster, 2);
    cluster.down();
}

#[test]
fn ranks_of_a_node_whose_daemon_dies_are_gone_for_all_others() {
    for (lost, node) in [("0", "n0"), ("2", "n2")] {
        let cluster = Cluster::up("t0240", 3);
        let running = run(&cluster, &format!("without {lost}"), &["-N", "3", "--tolerate"]).start();
        await_lines(&running, "in", 3);
        cluster.kill(node);
        let others = (0..3).filter(|rank| rank.to_string() != lost);
        let seen: Vec<String> = others.map(|rank| format!("rank {rank} saw it")).collect();
        let output = running.wait();
        assert_eq!(said(&output.out)[3..], seen, "{}", output.err);
        await_none(&cluster, 3);
        cluster.down();
    }
}

#[test]
fn a_job_that_begins_again_has_another_gateway() {
    let cluster = Cluster::up("t0240", 3);
    let running = run(&cluster, "again", &["-N", "2", "-n", "4", "--requeue"]).start();
    await_lines(&running, "in", 4);
    let node = cluster.job(1)["nodes"][0].as_str().expect("a name").to_owned();
    cluster.kill(&node);
    let out = running.wait().ok().out;
    let lines: Vec<&str> = said(&out).into_iter().filter(|line| *line != "in").collect();
    assert_eq!(lines, exchanged(&[2, 2]));
    await_none(&cluster, 3);
    cluster.down();
}

#[test]
fn a_job_keeps_its_gateway_and_can_still_ask_when_the_manager_is_another() {
    let cluster = Cluster::up("t0240", 2);
    let running = run(&cluster, "later", &["-N", "2", "-n", "4"]).start();
    await_lines(&running, "waits", 4);
    let old = cluster.kill("manager");
    until("there is another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(2);
    let_go(&cluster);
    let out = running.wait().ok().out;
    assert_eq!(said(&out)[..4], exchanged(&[2, 2]));
    await_none(&cluster, 2);
    cluster.down();
}

#[test]
fn jobs_that_take_turns_have_a_gateway_each() {
    let cluster = Cluster::up("t0240", 2);
    cluster.muster(&["scheduler", "gang"]).run().ok();
    let start = || run(&cluster, "later", &["-N", "2", "-n", "4"]).start();
    let both = [start(), start()];
    both.iter().for_each(|running| await_lines(running, "waits", 4));
    let_go(&cluster);
    for running in both {
        assert_eq!(said(&running.wait().ok().out)[..4], exchanged(&[2, 2]));
    }
    cluster.down();
}

#[test]
fn ranks_of_several_hosts_exchange_messages() {
    let hosts = Hosts::new("t0240", 3);
    hosts.file("lab.txt", 0o600, "h[1-3]\n");
    hosts.muster(&["init"]).run().ok();
    hosts.muster(&["up", "--hosts", "lab.txt"]).run().ok();
    let args = arguments("exchange", &["-N", "3", "-n", "7"], &[]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    for _ in 0..3 {
        let out = hosts.muster(&args).run().ok().out;
        assert_eq!(said(&out), exchanged(&[3, 2, 2]));
    }
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

/// Nothing ends a connection over which something is under way to who is not there any more, but
/// the kernel after a quarter of an hour.
#[test]
fn ranks_of_a_host_that_is_cut_off_are_gone_for_those_who_send_to_them() {
    let hosts = Hosts::new("t0240", 3);
    hosts.file("lab.txt", 0o600, "h[1-3]\n");
    hosts.muster(&["init"]).run().ok();
    hosts.muster(&["up", "--hosts", "lab.txt"]).run().ok();
    let args = arguments("to 2", &["-N", "3", "--tolerate"], &[]);
    let running = hosts.muster(&args.iter().map(String::as_str).collect::<Vec<_>>()).start();
    await_lines(&running, "in", 3);
    hosts.inside(None, "ip link set v3 down");
    await_lines(&running, "rank 0 saw it", 1);
    await_lines(&running, "rank 1 saw it", 1);
    running.wait();
    let said = hosts.muster(&["down"]).run().ok();
    assert!(said.out.contains("the hosts of n2 could not be reached"), "{}", said.out);
}
