//! Ranks of a job ask their node's daemon for the job's gateway, and talk to all others.
//! Their program is this file's: see `rank`.

mod cluster;

use cluster::{Call, Cluster, until};
use muster_fabric::gateway::{Piece, Place, Rank};
use muster_fabric::{Deadline, Error};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

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
            let mut own = meet(job, rank).expect("its own");
            say("in");
            while let Err(Error::Deadline { .. }) = own.take(soon(), &mut |_| ()) {}
        }
        other => panic!("no role {other}"),
    }
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
    let of_node = |(node, ranks): (u32, &u16)| {
        (0..u32::from(*ranks)).map(move |rank| Place { node, rank }).collect::<Vec<_>>()
    };
    let places: Vec<Place> = (0..).zip(&shape).flat_map(of_node).collect();
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

fn send(own: &mut Rank, to: Place, bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) {
    let (mut offset, (head, body)) = (0, bytes.split_at(bytes.len().min(64)));
    loop {
        match own.try_send(to, head, body, offset) {
            Ok(sent) => offset += sent,
            Err(Error::WouldBlock) => own.wait(&[to], soon()).expect("room"),
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
    let (role, program) = (format!("{ROLE}={role}"), std::env::current_exe().expect("a program"));
    let mut args = vec!["run", "--input", "none", "--env", &role];
    args.extend_from_slice(flags);
    args.extend_from_slice(by);
    args.extend([program.to_str().expect("a name"), "--exact", "rank", "--nocapture"]);
    cluster.muster(&args)
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
    for _ in 0..3 {
        let out = run(&cluster, "exchange", &["-N", "3", "-n", "8"]).run().ok().out;
        let expected: Vec<String> =
            (0..8).map(|rank| format!("rank {rank} of [3, 3, 2] has messages of 7")).collect();
        assert_eq!(said(&out), expected);
    }
    until(&format!("daemons hold {before:?}"), || NODES.map(|node| held(&cluster, node)) == before);
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
    let one = |rank| format!("rank {rank} of [2] has messages of 1");
    assert_eq!(said(&out), [one(0), one(1)]);
    fs::write(&flag, "").expect("a file");
    quiet.wait().ok();
    cluster.down();
}

#[test]
fn a_rank_may_be_any_descendant_of_its_jobs_program() {
    let cluster = Cluster::up("t0240", 2);
    let by = ["sh", "-c", "setsid sh -c '\"$@\"; :' sh \"$@\" & wait", "sh"];
    let out = run_by(&cluster, "exchange", &["-N", "2"], &by).run().ok().out;
    let one = |rank| format!("rank {rank} of [1, 1] has messages of 1");
    assert_eq!(said(&out), [one(0), one(1)]);
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
