//! Nodes that are processes of their own and die, or stop: this test's program is started again.

use super::*;
use crate::address::Address;
use crate::heartbeat::{self, Event, Notice, Request, USER, Why};
use crate::protocol::Payload;
use crate::region::{Region, Rights};
use crate::shell::Transports;
use crate::shell::multicast::Group;
use crate::transport::{self, Listener};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;

/// Nodes of every test here.
const COUNT: u32 = 3;

/// Where nodes listen, with which a process also knows that it is one of them.
const DIR: &str = "MUSTER_TEST_GLOBAL_DIR";
/// Which node a process is.
const NODE: &str = "MUSTER_TEST_GLOBAL_NODE";
/// What it does.
const ROLE: &str = "MUSTER_TEST_GLOBAL_ROLE";

/// How the role of one ends that has a heartbeat.
const BEATS: &str = " and beat";

/// The port of its multicast group, if it has one.
const PORT: &str = "MUSTER_TEST_GLOBAL_PORT";

/// What a process says when it takes part.
const UP: &str = "it takes part";

/// A directory that goes with the test.
struct Ground {
    dir: PathBuf,
    /// Of a multicast group.
    port: Option<u16>,
}

impl Ground {
    fn new(name: &str) -> Ground {
        let dir = std::env::temp_dir().join(format!("muster-{name}-{}", std::process::id()));
        std::fs::create_dir(&dir).expect("a directory can be made");
        Ground { dir, port: None }
    }

    /// Starts a node as a process.
    fn spawn(&self, node: u32, role: &str) -> Process {
        let child = Command::new(std::env::current_exe().expect("a test is a program"))
            .args(["--exact", "global::tests::processes::node", "--nocapture"])
            .env(DIR, &self.dir)
            .env(NODE, node.to_string())
            .env(ROLE, role)
            .envs(self.port.map(|port| (PORT, port.to_string())))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Process(child.expect("it starts again"))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
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

fn meet(dir: &Path, node: u32) -> (Setup, Box<dyn Listener>) {
    let address = |node: u32| Address::Unix(dir.join(node.to_string()));
    let setup = Setup {
        me: NodeId(node),
        service: "global".to_owned(),
        addresses: (0..COUNT).map(|node| (NodeId(node), address(node))).collect(),
        transports: Transports::default(),
        patience: Duration::ZERO,
        group: None,
    };
    let address = address(node);
    let transport = transport::of(&address).expect("it is known");
    (setup, transport.listen(&address).expect("it is free"))
}

/// Leases are long: who is removed was proven dead.
fn member(dir: &Path, node: u32, begin: Begin) -> Member {
    member_of(dir, None, node, begin)
}

/// One that is in a multicast group.
fn member_of(dir: &Path, group: Option<Group>, node: u32, begin: Begin) -> Member {
    let (setup, listener) = meet(dir, node);
    let setup = Setup { group, ..setup };
    let config = config_of(node);
    Member::start(setup, listener, config, begin).expect("a member starts")
}

fn config_of(node: u32) -> Config {
    let (beat, regions) = (Duration::from_millis(50), vec![1 << 20]);
    let lease = Duration::from_secs(60);
    Config { lease, beat, regions, ..Config::new(NodeId(node), incarnation()) }
}

/// One that has a heartbeat.
fn strober(dir: &Path, node: u32, begin: Begin) -> Member {
    let (setup, listener) = meet(dir, node);
    let period = Duration::from_millis(2);
    let beat = heartbeat::Config::new(NodeId(node), NodeId(0), incarnation());
    let beat = heartbeat::Config { arity: 2, period, report_every: 8, late: 16, ..beat };
    let regions = vec![Region::new(1 << 20, Rights::ALL)];
    let member = Member::start_over(setup, listener, config_of(node), begin, regions, Some(beat));
    member.expect("a member starts")
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
    let role = std::env::var(ROLE).expect("it was set");
    let (role, beats) = role.strip_suffix(BEATS).map_or((&*role, false), |role| (role, true));
    let begin = match role {
        "with" => Begin::With(all()),
        "join" => Begin::Join,
        "two" => Begin::With(Nodes::range(0..=1)),
        "two again" => Begin::Again { nodes: Nodes::range(0..=1), term: 2 },
        _ => Begin::Again { nodes: all(), term: 2 },
    };
    let port = std::env::var(PORT).ok().map(|port| port.parse().expect("a port"));
    let group = port.map(super::multicast::group);
    let member = match beats {
        true => strober(&dir, node, begin),
        false => member_of(&dir, group, node, begin),
    };
    if let Some(mut beats) = member.beats() {
        until(&mut beats, |notice| matches!(notice, Notice::Strobe { .. }));
        println!("\n{UP}");
    }
    let _ = std::io::stdin().read(&mut [0]);
    drop(member);
}

#[test]
fn a_master_that_is_killed_and_started_again_loses_nothing() {
    let ground = Ground::new("master");
    let master = ground.spawn(0, "with");
    let [one, two] = [1, 2].map(|node| member(&ground.dir, node, Begin::With(all())));
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
    let [zero, one] = [0, 1].map(|node| member(&ground.dir, node, Begin::With(all())));
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

/// Starts all three in a group, one of them as a process, and waits until it is heard.
fn start_group(name: &str, child: u32, here: [u32; 2]) -> (Ground, Process, [Member; 2]) {
    let port = super::multicast::free_port();
    let mut ground = Ground::new(name);
    ground.port = Some(port);
    let process = ground.spawn(child, "with");
    let group = super::multicast::group(port);
    let start = |node| member_of(&ground.dir, Some(group.clone()), node, Begin::With(all()));
    let members = here.map(start);
    (ground, process, members)
}

#[test]
fn a_member_killed_in_the_midst_of_multicast_leaves_all_or_none_among_the_others() {
    let (_ground, child, [zero, one]) = start_group("cast", 2, [0, 1]);
    super::multicast::wait_for_hearers(&zero, 2);
    let all = all();
    let data = Payload::from(vec![7; 1 << 20]);
    let put = || zero.xfer_and_signal(&all, (0, 0), data.clone(), Some(1), None).expect("asked");
    for _ in 0..10 {
        put().wait(soon()).expect("all live");
    }
    assert!(zero.traffic().cast.load(Ordering::Relaxed) > 1 << 20);
    let under_way = [put(), put(), put(), put()];
    child.kill();
    zero.declare_dead(NodeId(2)).expect("it leads");
    let is_done = |transfer: &Transfer| match transfer.wait(soon()) {
        Ok(()) => true,
        Err(Error::Dead { .. }) => false,
        Err(error) => panic!("{error}"),
    };
    let done = 10 + under_way.iter().filter(|transfer| is_done(transfer)).count() as u64;
    // The others go on, and have seen the same.
    let living = Nodes::range(0..=1);
    let last = zero.xfer_and_signal(&living, (0, 0), vec![8; 1 << 20], Some(2), None);
    last.expect("asked").wait(soon()).expect("they live");
    assert_eq!(one.wait_event(2, 0, soon()).expect("a member"), 1);
    for member in [&zero, &one] {
        assert_eq!(member.test_event(1).expect("a member"), done);
    }
}

#[test]
fn the_next_life_of_a_root_casts_with_another_key() {
    let (ground, master, [one, two]) = start_group("root", 0, [1, 2]);
    let all = all();
    let put = |byte| {
        let data = vec![byte; 1 << 20];
        let transfer = one.xfer_and_signal(&all, (0, 0), data, Some(1), None).expect("asked");
        transfer.wait(soon()).expect("it is done");
        two.wait_event(1, u64::from(byte) - 1, soon()).expect("it is a member");
        let mut bytes = [0];
        two.read(0, (1 << 20) - 1, &mut bytes).expect("it is a member");
        assert_eq!(bytes, [byte]);
    };
    let heard = |member: &Member| member.traffic().heard.load(Ordering::Relaxed);
    let has_parts = |heard: u64| heard > 700;
    let mut number = 0;
    let mut until_cast = |before: u64| {
        while !has_parts(heard(&two) - before) {
            number += 1;
            put(number);
        }
    };
    until_cast(0);
    let before = heard(&two);
    master.kill();
    let _master = ground.spawn(0, "again");
    until_cast(before);
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
    let mut child = ground.spawn(2, "with and beat");
    let [zero, one] = [0, 1].map(|node| strober(&ground.dir, node, Begin::With(all())));
    let (mut beats, mut others) = (zero.beats().expect("it has"), one.beats().expect("it has"));
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

    // Who is no member of global memory hears no heartbeat either.
    let before = zero.membership().epoch;
    zero.declare_dead(slow).expect("it leads");
    zero.wait_epoch(before, soon()).expect("it is told");
    assert_eq!(late(), None);
    let end = Request::Event(Event::new(USER, b"end".to_vec()));
    zero.strobe(vec![Request::Early, end], soon()).expect("it can");
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
            let members = one.pulse(soon()).expect("looked").members;
            assert_eq!(members, [NodeId(0), NodeId(1)]);
            return;
        }
    }
}

#[test]
fn the_next_life_of_a_master_strobes_on() {
    let ground = Ground::new("strobes");
    let master = ground.spawn(0, "two and beat");
    let one = strober(&ground.dir, 1, Begin::With(Nodes::range(0..=1)));
    let mut beats = one.beats().expect("it has");
    let strobe = |notice: &Notice| matches!(notice, Notice::Strobe { .. });
    until(&mut beats, strobe);
    master.kill();
    let _master = ground.spawn(0, "two again and beat");
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
