//! Two nodes as real processes: a daemon each, and its ranks, of which some are frozen or killed.

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::gateway::{Dial, Node, Piece, Place, Rank, SERVICE};
use crate::transport::socket::{Identity, Members, Tls};
use crate::transport::{self, Hello, Lane, Transport};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// What a process is: `daemon NODE ADDRESS` or `rank`.
const ROLE: &str = "MUSTER_TEST_GATEWAY_ROLE";

/// What begins the lines that are meant for the test.
const MARK: &str = "gateway: ";

/// Ranks of the two nodes.
const RANKS: [u16; 2] = [3, 2];

/// Who is frozen or killed.
const SUBJECT: Place = Place { node: 0, rank: 0 };

/// Sizes of the messages between each two ranks, in turn.
const SIZES: [usize; 8] = [0, 64, 8192, 5000, 8193, 100_000, 3, 200_000];
const MESSAGES: u64 = 16;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn start(role: &str, stdin: Stdio) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "gateway::tests::processes::process", "--nocapture"]);
    command.env(ROLE, role).stdin(stdin);
    // A daemon's ranks write to the same pipe.
    if role != "rank" {
        command.stdout(Stdio::piped());
    }
    command.spawn().unwrap()
}

/// What a started process does: no test of its own, and nothing to do when it is run as one.
#[test]
fn process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match role.split(' ').collect::<Vec<_>>()[..] {
        ["rank"] => rank(),
        ["daemon", node, address] => daemon(node.parse().unwrap(), &address.parse().unwrap()),
        _ => panic!("no role {role}"),
    }
}

fn say(what: &str) {
    // One write, so that lines of several processes do not mix.
    let line = format!("\n{MARK}{what}\n");
    rustix::io::write(std::io::stdout().as_fd(), line.as_bytes()).unwrap();
}

/// Children that do not outlive their daemon, even when they are stopped.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Node 1 listens, and node 0 connects to it.
fn daemon(index: u32, address: &Address) {
    let is_over = Arc::new(AtomicBool::new(false));
    let mut node = Node::new(index, &RANKS).unwrap();
    let mut doorman = None;
    if index == 1 {
        let listener = match address {
            Address::Tls(..) => protected(1).listen(address),
            _ => transport::of(address).unwrap().listen(address),
        };
        let mut listener = listener.unwrap();
        say(&format!("address {}", listener.address()));
        let (door, over) = (node.door().unwrap(), is_over.clone());
        doorman = Some(std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                if let Ok(adapter) = listener.accept(Deadline::after(Duration::from_millis(20))) {
                    assert_eq!(adapter.hello().service, SERVICE);
                    // Who has given up meanwhile tries again.
                    let _ = door.adopt(adapter, 0..2, soon());
                }
            }
        }));
    } else if let Address::Tls(..) = address {
        node.keep_connected(1, dial(address));
    } else {
        node.connect(1, address, soon()).unwrap();
    }
    let mut children = Children(Vec::new());
    for rank in 0..RANKS[index as usize].into() {
        let child = start("rank", node.admit(rank).unwrap().into());
        say(&format!("pid {rank} {}", child.id()));
        children.0.push(child);
    }
    let over = is_over.clone();
    std::thread::spawn(move || {
        // The test's end of the pipe closes when it is over, whatever way.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        over.store(true, Ordering::Relaxed);
    });
    while !is_over.load(Ordering::Relaxed) {
        node.progress(Deadline::after(Duration::from_millis(20)));
        children.0.iter_mut().for_each(|child| drop(child.try_wait()));
    }
    drop(children);
    if let Some(doorman) = doorman {
        doorman.join().unwrap();
    }
}

/// TLS as one of the two nodes.
fn protected(node: u32) -> Tls {
    let identity = |node: u32| Identity::from_secret(&[node as u8 + 1; 32]);
    let members = Members::default();
    (0..2).for_each(|node| members.pin(&node.to_string(), identity(node).public_key()).unwrap());
    Tls::new(&identity(node), &members)
}

/// How node 1 is reached over TLS.
fn dial(address: &Address) -> Dial {
    let (tls, to) = (protected(0), address.clone());
    let hello = Hello { name: "0".to_owned(), service: SERVICE.to_owned(), lane: Lane::Bulk };
    Arc::new(move |deadline| tls.connect(&to, &hello, deadline))
}

/// The byte at `at` of message `number` from one rank to another.
fn byte(from: Place, to: Place, number: u64, at: usize) -> u8 {
    let pair = (from.node * 8 + from.rank) * 16 + to.node * 8 + to.rank;
    (at as u64 * 7 + number * 13 + u64::from(pair)) as u8
}

/// What a rank has for another, and how far it is.
struct Going {
    to: Place,
    number: u64,
    offset: usize,
    bytes: Vec<u8>,
}

impl Going {
    fn next(&mut self, from: Place, number: u64) {
        let size = SIZES[(number + u64::from(self.to.rank)) as usize % SIZES.len()];
        // One message of the largest size.
        let size = if number == MESSAGES / 2 { 4 << 20 } else { size };
        self.bytes = (0..size).map(|at| byte(from, self.to, number, at)).collect();
        (self.number, self.offset) = (number, 0);
    }
}

/// Sends to all other ranks of both nodes, takes what they send, and says what it has.
fn rank() {
    let control = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let mut rank = Rank::join(control, soon()).unwrap();
    // Only then its end of the socket closes with the process.
    let null = std::fs::File::open("/dev/null").unwrap();
    rustix::stdio::dup2_stdin(&null).unwrap();
    let me = rank.place();
    let of = |node: u32| (0..RANKS[node as usize].into()).map(move |rank| Place { node, rank });
    let peers: Vec<Place> = of(0).chain(of(1)).filter(|place| *place != me).collect();
    let mut going: Vec<Going> =
        peers.iter().map(|to| Going { to: *to, number: 0, offset: 0, bytes: Vec::new() }).collect();
    going.iter_mut().for_each(|going| going.next(me, 0));
    let mut got: BTreeMap<Place, (u64, u64)> = peers.iter().map(|from| (*from, (0, 0))).collect();
    let mut has_others = false;
    loop {
        let mut is_moved = push(&mut rank, me, &mut going);
        while rank.try_take(&mut |piece: Piece<'_>| check(me, &mut got, piece)).is_ok() {
            is_moved = true;
        }
        let has = |from: &Place| got[from].0 == MESSAGES || rank.is_gone(*from);
        if !has_others && peers.iter().filter(|from| **from != SUBJECT).all(has) {
            has_others = true;
            say(&format!("others {} {}", me.node, me.rank));
        }
        if going.is_empty() && peers.iter().all(has) {
            break;
        }
        if !is_moved {
            let room: Vec<Place> = going.iter().map(|going| going.to).collect();
            rank.wait(&room, Duration::from_secs(60)).unwrap();
        }
    }
    rank.flush(soon()).unwrap();
    say(&format!("done {} {}", me.node, me.rank));
    // Others may still need what the gateway brings; it ends with the daemon.
    while let Ok(()) | Err(Error::Deadline { .. }) = rank.take(soon(), &mut |_| ()) {}
}

/// Sends what there is room for, whoever comes first; whether anything was.
fn push(rank: &mut Rank, me: Place, going: &mut Vec<Going>) -> bool {
    let mut is_moved = false;
    going.retain_mut(|one| {
        let (head, body) = one.bytes.split_at(one.bytes.len().min(17));
        match rank.try_send(one.to, head, body, one.offset) {
            Ok(sent) => {
                is_moved = true;
                one.offset += sent;
                if one.offset < one.bytes.len() {
                    return true;
                }
                let number = one.number + 1;
                if number < MESSAGES {
                    one.next(me, number);
                }
                number < MESSAGES
            }
            Err(Error::WouldBlock) => true,
            Err(Error::Dead { .. }) if one.to == SUBJECT => false,
            Err(error) => panic!("{error}"),
        }
    });
    is_moved
}

/// Pieces come in order, and with the right bytes.
fn check(me: Place, got: &mut BTreeMap<Place, (u64, u64)>, mut piece: Piece<'_>) {
    let (number, offset) = got.get_mut(&piece.from).unwrap();
    assert_eq!(piece.offset, *offset, "{number} from {}", piece.from);
    let is_right = |(at, there): (usize, &u8)| {
        *there == byte(piece.from, me, *number, piece.offset as usize + at)
    };
    let bytes = piece.bytes.to_vec();
    assert!(bytes.iter().enumerate().all(is_right), "{number} from {}", piece.from);
    *offset += bytes.len() as u64;
    if *offset == piece.total {
        (*number, *offset) = (*number + 1, 0);
    }
}

/// Two daemons and what they say.
struct Cluster {
    daemons: Vec<Child>,
    lines: std::sync::mpsc::Receiver<(usize, String)>,
    heard: Vec<(String, String)>,
    pids: BTreeMap<Place, Pid>,
    folder: PathBuf,
}

impl Cluster {
    fn new(scheme: &str) -> Cluster {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-gateway-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let at = match scheme {
            "unix" => format!("unix!{}/socket", folder.display()),
            _ => format!("{scheme}!127.0.0.1!0"),
        };
        let (say, lines) = std::sync::mpsc::channel();
        let (daemons, heard, pids) = (Vec::new(), Vec::new(), BTreeMap::new());
        let mut cluster = Cluster { daemons, lines, heard, pids, folder };
        let mut daemon = start(&format!("daemon 1 {at}"), Stdio::piped());
        listen(1, daemon.stdout.take().unwrap(), say.clone());
        cluster.daemons.push(daemon);
        let at = cluster.hear("address", 1).pop().unwrap();
        let mut daemon = start(&format!("daemon 0 {at}"), Stdio::piped());
        listen(0, daemon.stdout.take().unwrap(), say);
        cluster.daemons.push(daemon);
        cluster
    }

    /// Waits until so many lines began with a word, and gives what followed.
    fn hear(&mut self, word: &str, count: usize) -> Vec<String> {
        loop {
            let said = self.heard.iter().filter(|(first, _)| first == word);
            let said: Vec<String> = said.map(|(_, rest)| rest.clone()).collect();
            if said.len() == count {
                return said;
            }
            let (node, line) = self.lines.recv_timeout(Duration::from_secs(120)).expect(word);
            let (first, rest) = line.split_once(' ').unwrap();
            if first == "pid" {
                let (rank, pid) = rest.split_once(' ').unwrap();
                let place = Place { node: node as u32, rank: rank.parse().unwrap() };
                let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
                self.pids.insert(place, pid);
            }
            self.heard.push((first.to_owned(), rest.to_owned()));
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.pids[&SUBJECT], signal).unwrap();
    }

    /// Ends it all, and sees that nothing is left.
    fn end(mut self) {
        for daemon in &mut self.daemons {
            drop(daemon.stdin.take());
        }
        for daemon in &mut self.daemons {
            assert!(daemon.wait().unwrap().success());
        }
        for pid in self.pids.values() {
            assert!(test_kill_process(*pid).is_err(), "process {pid} is left");
        }
        assert_eq!(std::fs::read_dir(&self.folder).unwrap().count(), 0);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            drop(daemon.stdin.take());
            let _ = daemon.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn listen(node: usize, from: ChildStdout, say: std::sync::mpsc::Sender<(usize, String)>) {
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if let Some(line) = line.strip_prefix(MARK) {
                let _ = say.send((node, line.to_owned()));
            }
        }
    });
}

const ALL: usize = RANKS[0] as usize + RANKS[1] as usize;

/// A moment that is another one each time.
fn moment() -> Duration {
    use std::hash::{BuildHasher, RandomState};
    Duration::from_micros(RandomState::new().hash_one(0) % 150_000)
}

#[test]
fn messages_of_all_sizes_come_in_all_directions_and_nothing_is_left() {
    for scheme in ["unix", "tcp", "tls"] {
        let mut cluster = Cluster::new(scheme);
        cluster.hear("done", ALL);
        cluster.end();
    }
}

#[test]
fn who_is_frozen_keeps_nobody_else_waiting_and_misses_nothing() {
    for scheme in ["unix", "tcp", "tls"] {
        let mut cluster = Cluster::new(scheme);
        cluster.hear("pid", ALL);
        std::thread::sleep(moment());
        cluster.signal(Signal::STOP);
        // The others lack its messages only.
        cluster.hear("others", ALL - 1);
        cluster.signal(Signal::CONT);
        cluster.hear("done", ALL);
        cluster.end();
    }
}

#[test]
fn who_is_frozen_again_and_again_misses_nothing() {
    for scheme in ["unix", "tcp", "tls"] {
        let mut cluster = Cluster::new(scheme);
        cluster.hear("pid", ALL);
        for _ in 0..8 {
            std::thread::sleep(moment() / 8);
            cluster.signal(Signal::STOP);
            std::thread::sleep(moment());
            cluster.signal(Signal::CONT);
        }
        cluster.hear("done", ALL);
        cluster.end();
    }
}

#[test]
fn who_is_killed_keeps_nobody_else_waiting_and_all_are_told() {
    for scheme in ["unix", "tcp", "tls"] {
        let mut cluster = Cluster::new(scheme);
        cluster.hear("pid", ALL);
        std::thread::sleep(moment());
        cluster.signal(Signal::KILL);
        // It may have been faster.
        let dead = format!("{} {}", SUBJECT.node, SUBJECT.rank);
        let others = cluster.hear("done", ALL - 1).iter().filter(|who| **who != dead).count();
        cluster.hear("done", 2 * (ALL - 1) - others);
        cluster.end();
    }
}
