//! Nodes that are processes of their own and die, or stop: this test's program is started again.

use super::*;
use crate::address::Address;
use crate::heartbeat::{self, Event, Notice, Request, USER, Why};
use crate::shell::Setup;
use crate::transport::{self, Listener};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Nodes of every test here.
const COUNT: u32 = 3;

/// Where nodes listen, with which a process also knows that it is one of them.
const DIR: &str = "MUSTER_TEST_GLOBAL_DIR";
/// Which node a process is.
const NODE: &str = "MUSTER_TEST_GLOBAL_NODE";
/// What it does.
const ROLE: &str = "MUSTER_TEST_GLOBAL_ROLE";

/// What a process says when it takes part.
const UP: &str = "it takes part";

/// A directory that goes with the test.
struct Ground(PathBuf);

impl Ground {
    fn new(name: &str) -> Ground {
        let dir = std::env::temp_dir().join(format!("muster-{name}-{}", std::process::id()));
        std::fs::create_dir(&dir).expect("a directory can be made");
        Ground(dir)
    }

    /// Starts a node as a process.
    fn spawn(&self, node: u32, role: &str) -> Process {
        let child = Command::new(std::env::current_exe().expect("a test is a program"))
            .args(["--exact", "global::tests::processes::node", "--nocapture"])
            .env(DIR, &self.0)
            .env(NODE, node.to_string())
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Process(child.expect("it starts again"))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A node that does not outlive its test: it ends when its standard input does.
struct Process(Child);

impl Process {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("it is there");
    }

    /// Waits until it says that it takes part.
    fn takes_part(&mut self) {
        let out = self.0.stdout.take().expect("it is piped");
        let mut lines = BufReader::new(out).lines();
        assert!(lines.any(|line| line.is_ok_and(|line| line == UP)), "it ends before");
    }

    /// SIGKILL, and the process is reaped.
    fn kill(mut self) {
        self.0.kill().expect("it is there");
        self.0.wait().expect("it is there");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn meet(dir: &Path, node: u32, service: &str) -> (Setup, Box<dyn Listener>) {
    let address = |node: u32| Address::Unix(dir.join(node.to_string()));
    let setup = Setup {
        me: NodeId(node),
        service: service.to_owned(),
        addresses: (0..COUNT).map(|node| (NodeId(node), address(node))).collect(),
        transports: transport::of,
        patience: Duration::ZERO,
    };
    let address = address(node);
    let transport = transport::of(&address).expect("it is known");
    (setup, transport.listen(&address).expect("it is free"))
}

/// Leases are long: who is removed was proven dead.
fn member(dir: &Path, node: u32, begin: Begin) -> Member {
    let (setup, listener) = meet(dir, node, "primitives");
    let me = NodeId(node);
    let (beat, regions) = (Duration::from_millis(50), vec![64]);
    let lease = Duration::from_secs(60);
    let config = Config { lease, beat, regions, ..Config::new(me, incarnation()) };
    Member::start(setup, listener, config, begin).expect("a member starts")
}

fn strober(dir: &Path, node: u32) -> Heartbeat {
    let (setup, listener) = meet(dir, node, "heartbeat");
    let period = Duration::from_millis(2);
    let config = heartbeat::Config::new(NodeId(node), NodeId(0), incarnation());
    let config = heartbeat::Config { arity: 2, period, report_every: 8, late: 16, ..config };
    let heartbeat = Heartbeat::start(setup, listener, config).expect("it starts");
    if node == 0 {
        let members = (0..COUNT).map(NodeId).collect();
        heartbeat.ask(Request::Members { epoch: 1, members }, soon()).expect("it can");
    }
    heartbeat
}

fn all() -> Nodes {
    Nodes::range(0..=COUNT - 1)
}

/// What a process does until its standard input ends: no test, and nothing to do as one.
#[test]
fn node() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let dir = PathBuf::from(dir);
    let node = std::env::var(NODE).expect("it was set").parse().expect("a number");
    let begin = match std::env::var(ROLE).expect("it was set").as_str() {
        "with" => Some(Begin::With(all())),
        "join" => Some(Begin::Join),
        "again" => Some(Begin::Again { nodes: all(), term: 2 }),
        _ => None,
    };
    let member = begin.map(|begin| member(&dir, node, begin));
    let heartbeat = member.is_none().then(|| strober(&dir, node));
    if let Some(heartbeat) = &heartbeat {
        until(&mut heartbeat.beats(), |notice| matches!(notice, Notice::Strobe { .. }));
        println!("\n{UP}");
    }
    let _ = std::io::stdin().read(&mut [0]);
    drop((member, heartbeat));
}

#[test]
fn a_master_that_is_killed_and_started_again_loses_nothing() {
    let ground = Ground::new("master");
    let master = ground.spawn(0, "with");
    let [one, two] = [1, 2].map(|node| member(&ground.0, node, Begin::With(all())));
    let all = all();
    let put = |bytes: &[u8]| one.xfer_and_signal(&all, (0, 0), bytes.to_vec(), Some(1), Some(2));
    assert!(one.compare_and_write(&all, (0, Relation::Equal, 0), Some((0, 7)), soon()).unwrap());
    put(b"before").expect("asked").wait(soon()).expect("it is done");
    let before = two.membership().epoch;
    master.kill();

    // Who asks or waits meanwhile goes on when the master is there again.
    let meanwhile = put(b"meanwhile").expect("asked");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| two.wait_event(1, 1, soon()));
        let _master = ground.spawn(0, "again");
        meanwhile.wait(soon()).expect("it is done");
        assert_eq!(waiter.join().expect("no panic").expect("it is signalled"), 2);
        let mut bytes = [0; 9];
        two.read(0, 0, &mut bytes).expect("it is a member");
        assert_eq!(&bytes, b"meanwhile");
        assert_eq!(one.test_event(2).expect("it is a member"), 2);
        // The new master has the variables too.
        assert!(two.compare_and_write(&all, (0, Relation::Equal, 7), None, soon()).unwrap());
        let after = two.wait_epoch(before, soon()).expect("there was one");
        assert_eq!((&after.members, after.joined(NodeId(1))), (&all, None));
    });
}

#[test]
fn a_node_whose_process_was_reaped_is_removed_and_its_next_life_is_taken_in() {
    let ground = Ground::new("node");
    let child = ground.spawn(2, "with");
    let [zero, one] = [0, 1].map(|node| member(&ground.0, node, Begin::With(all())));
    let (all, dead) = (all(), NodeId(2));
    assert!(one.compare_and_write(&all, (0, Relation::Equal, 0), Some((0, 7)), soon()).unwrap());
    let before = one.membership().epoch;
    child.kill();
    // The dead one's lease is good for a minute, so the transfer waits until there is proof.
    let transfer = one.xfer_and_signal(&all, (0, 0), vec![1], Some(1), None).expect("asked");
    zero.declare_dead(dead).expect("it leads");
    let error = transfer.wait(soon()).expect_err("not all have it");
    assert!(matches!(&error, Error::Dead { peer, .. } if *peer == dead.to_string()), "{error}");
    let removed = one.wait_epoch(before, soon()).expect("it is told");
    assert_eq!(removed.members, Nodes::range(0..=1));
    assert_eq!(one.test_event(1).expect("it is a member"), 0, "all or none");

    let _child = ground.spawn(2, "join");
    for member in [&zero, &one] {
        let mut told = member.wait_epoch(removed.epoch, soon()).expect("it is told");
        while told.joined(dead).is_none() {
            told = member.wait_epoch(told.epoch, soon()).expect("it is told");
        }
        assert_eq!((&told.members, told.joined(NodeId(1))), (&all, None));
    }
    // It has the variables, and its operations count on.
    assert!(one.compare_and_write(&all, (0, Relation::Equal, 7), None, soon()).unwrap());
}

/// Waits until the beats tell of something.
fn until(beats: &mut Beats, mut is_it: impl FnMut(&Notice) -> bool) -> Notice {
    let deadline = soon();
    loop {
        let notice = beats.next(deadline).expect("the heartbeat goes on");
        if is_it(&notice) {
            return notice;
        }
        assert!(deadline.left().is_some(), "it is not told: the last was {notice:?}");
    }
}

#[test]
fn a_node_that_stops_is_named_and_so_is_one_that_dies() {
    let ground = Ground::new("late");
    let mut child = ground.spawn(2, "beat");
    let [zero, one] = [0, 1].map(|node| strober(&ground.0, node));
    let (mut beats, mut others) = (zero.beats(), one.beats());
    let slow = NodeId(2);
    child.takes_part();
    let late = || {
        let late = zero.late(soon()).expect("it knows").into_iter();
        late.filter(|one| one.node == slow).map(|one| one.why).next()
    };
    child.signal(Signal::STOP);
    until(&mut beats, |_| late() == Some(Why::Late));
    child.signal(Signal::CONT);
    until(&mut beats, |_| late().is_none());
    child.kill();
    until(&mut beats, |notice| matches!(notice, Notice::Lost { node } if *node == slow));

    let members = vec![NodeId(0), NodeId(1)];
    zero.ask(Request::Members { epoch: 2, members }, soon()).expect("it can");
    assert_eq!(zero.late(soon()).expect("it knows"), []);
    zero.ask(Request::Event(Event::new(USER, b"end".to_vec())), soon()).expect("it can");
    zero.ask(Request::Early, soon()).expect("it can");
    // The other one has heard the same all the time, and every strobe once.
    let mut last = None;
    loop {
        let Notice::Strobe { sequence, events, .. } = others.next(soon()).expect("it goes on")
        else {
            continue;
        };
        assert!(last.is_none_or(|last| last + 1 == sequence), "{sequence} after {last:?}");
        last = Some(sequence);
        if events.iter().any(|event| event.kind == USER) {
            assert_eq!(one.members(soon()).expect("looked"), [NodeId(0), NodeId(1)]);
            return;
        }
    }
}

#[test]
fn the_next_life_of_a_master_strobes_on() {
    let ground = Ground::new("strobes");
    let master = ground.spawn(0, "beat");
    let one = strober(&ground.0, 1);
    let mut beats = one.beats();
    let strobe = |notice: &Notice| matches!(notice, Notice::Strobe { .. });
    until(&mut beats, strobe);
    master.kill();
    let _master = ground.spawn(0, "beat");
    let Notice::Resync { seen, sequence } =
        until(&mut beats, |notice| matches!(notice, Notice::Resync { .. }))
    else {
        unreachable!("it was asked for");
    };
    assert!(sequence > seen);
    let Notice::Strobe { sequence: next, .. } = until(&mut beats, strobe) else {
        unreachable!("it was asked for");
    };
    assert_eq!(next, sequence + 1);
}
