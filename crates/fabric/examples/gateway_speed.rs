//! What the gateway costs: the time of 64 bytes from a rank of one node to a rank of another, over
//! the gateway and over a connection of their own, in turn; and what an idle waiter uses.
//!
//!     cargo run --release -p muster-fabric --example gateway_speed
//!
//! Two nodes of one rank each, all processes of this machine. Median of rounds, one way, in us.
#![allow(clippy::print_stdout, reason = "it prints what it has measured")]

use muster_fabric::gateway::{Node, Place, Rank};
use muster_fabric::strategy::Datagram;
use muster_fabric::transport::{self, Hello, Lane};
use muster_fabric::{Address, Deadline};
use std::io::IoSlice;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROLE: &str = "MUSTER_GATEWAY_SPEED";
const ROUNDS: usize = 12;
const TURNS: u32 = 4000;
const SIZE: usize = 64;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn start(role: String, stdin: Stdio) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("a program"));
    command.env(ROLE, role).stdin(stdin);
    command.spawn().expect("it starts")
}

fn main() {
    match std::env::var(ROLE) {
        Err(_) => ["tcp", "unix"].into_iter().for_each(measure),
        Ok(role) => match role.split(' ').collect::<Vec<_>>()[..] {
            ["daemon", node, at] => daemon(node.parse().expect("a number"), at),
            ["rank", at] => rank(at),
            _ => panic!("no role {role}"),
        },
    }
}

fn address(scheme: &str, which: u16) -> String {
    let process = std::process::id();
    match scheme {
        "tcp" => format!("tcp!127.0.0.1!{}", 20_000 + process as u16 % 10_000 * 4 + which),
        _ => format!("unix!{}/muster-speed-{process}-{which}", std::env::temp_dir().display()),
    }
}

fn measure(scheme: &str) {
    println!("{scheme}:");
    let at = format!("{}+{}", address(scheme, 0), address(scheme, 1));
    let mut daemons: Vec<Child> =
        (0..2).map(|node| start(format!("daemon {node} {at}"), Stdio::piped())).collect();
    assert!(daemons[0].wait().expect("it ends").success());
    drop(daemons[1].stdin.take());
    assert!(daemons[1].wait().expect("it ends").success());
}

/// Node 0's daemon ends with its rank, the other one's with it.
fn daemon(index: u32, at: &str) {
    let (here, direct) = at.split_once('+').expect("two addresses");
    let here: Address = here.parse().expect("an address");
    let mut node = Node::new(index, &[1, 1]).expect("a node");
    if index == 1 {
        let transport = transport::of(&here).expect("a transport");
        let mut listener = transport.listen(&here).expect("it listens");
        let adapter = listener.accept(soon()).expect("the other node");
        node.door().expect("a door").adopt(adapter, 0..2, soon()).expect("it opens");
    } else {
        while let Err(error) = node.connect(1, &here, soon()) {
            assert!(matches!(error, muster_fabric::Error::Refused { .. }), "{error}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let control = node.admit(0).expect("it is admitted");
    let mut child = start(format!("rank {direct}"), control.into());
    while child.try_wait().expect("a child").is_none() {
        node.progress(Deadline::after(Duration::from_millis(100)));
    }
}

fn rank(direct: &str) {
    let control = std::io::stdin().as_fd().try_clone_to_owned().expect("a socket");
    let mut rank = Rank::join(control, soon()).expect("it is let in");
    let direct: Address = direct.parse().expect("an address");
    let transport = transport::of(&direct).expect("a transport");
    let mut wire = if rank.place().node == 1 {
        let mut listener = transport.listen(&direct).expect("it listens");
        listener.accept(soon()).expect("the other rank").datagram().expect("messages")
    } else {
        let hello = Hello { name: "rank".into(), service: "speed".into(), lane: Lane::Bulk };
        loop {
            match transport.connect(&direct, &hello, soon()) {
                Ok(adapter) => break adapter.datagram().expect("messages"),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    };
    let (mut over_gateway, mut over_own) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        over_own.push(turns(&mut || own(&mut *wire, rank_is_first(&rank))));
        let is_first = rank_is_first(&rank);
        over_gateway.push(turns(&mut || gateway(&mut rank, is_first)));
    }
    if rank_is_first(&rank) {
        let (gateway, own) = (median(over_gateway), median(over_own));
        println!(
            "  64 B over the gateway {gateway:.2}, of their own {own:.2}: {:.2}",
            gateway / own
        );
        stream(&mut rank);
        idle(&mut rank);
    } else {
        let mut got = 0;
        while got < STREAM {
            rank.take(soon(), &mut |piece| got += piece.bytes.len()).expect("a piece");
        }
        gateway_send(&mut rank);
        // Until the other one has ended.
        let long = Deadline::after(Duration::from_secs(4));
        let _ = rank.take(long, &mut |_| ());
    }
}

fn rank_is_first(rank: &Rank) -> bool {
    rank.place().node == 0
}

/// One way, in microseconds.
fn turns(turn: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..TURNS).for_each(|_| turn());
    start.elapsed().as_secs_f64() * 1e6 / f64::from(TURNS) / 2.0
}

fn own(wire: &mut dyn Datagram, is_first: bool) {
    let send = |wire: &mut dyn Datagram| {
        wire.send(&[IoSlice::new(&[1; SIZE])], soon()).expect("it is sent");
    };
    if is_first {
        send(wire);
    }
    wire.take(soon(), &mut |bytes| assert_eq!(bytes.len(), SIZE)).expect("it comes");
    if !is_first {
        send(wire);
    }
}

fn gateway_send(rank: &mut Rank) {
    let to = Place { node: 1 - rank.place().node, rank: 0 };
    rank.send(to, &[1; SIZE], &[], soon()).expect("it is sent");
}

fn gateway(rank: &mut Rank, is_first: bool) {
    if is_first {
        gateway_send(rank);
    }
    rank.take(soon(), &mut |piece| assert_eq!(piece.bytes.len(), SIZE)).expect("it comes");
    if !is_first {
        gateway_send(rank);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

const STREAM: usize = 256 << 20;

fn stream(rank: &mut Rank) {
    let bytes = vec![1; 1 << 20];
    let start = Instant::now();
    for _ in 0..STREAM / bytes.len() {
        rank.send(Place { node: 1, rank: 0 }, &[], &bytes, soon()).expect("it is sent");
    }
    rank.take(soon(), &mut |_| ()).expect("it has all");
    let rate = STREAM as f64 / start.elapsed().as_secs_f64() / 1e9;
    println!("  messages of 1 MiB one way {rate:.2} GB/s");
}

fn idle(rank: &mut Rank) {
    let used = || {
        let usage = std::fs::read_to_string("/proc/self/schedstat").expect("it is there");
        usage.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).expect("nanoseconds") / 1e9
    };
    let before = used();
    let time = Duration::from_secs(2);
    rank.take(Deadline::after(time), &mut |_| ()).expect_err("nothing comes");
    let share = (used() - before) / time.as_secs_f64();
    println!("  an idle waiter uses {:.3} % of a processor", share * 100.0);
}
