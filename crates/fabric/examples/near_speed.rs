//! What messages between ranks of one node cost through the gateway's rings.
//!
//!     cargo run --release -p muster-fabric --example near_speed [RANKS]
//!
//! All ranks are processes of this machine, the first two on a core each; the others only look on
//! in the first part, asleep. Medians of rounds: half round trips of messages with a head of 24
//! bytes, 8 bytes in windows of 64, the throughput of large messages, and a barrier of all ranks,
//! bound to no core.
#![allow(clippy::print_stdout, reason = "it prints what it has measured")]

use muster_fabric::gateway::{Node, Piece, Place, Rank};
use muster_fabric::{Deadline, Error};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROLE: &str = "MUSTER_NEAR_SPEED";
const ROUNDS: usize = 15;
const HEAD: [u8; 24] = [7; 24];

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn main() {
    if std::env::var(ROLE).is_ok() {
        return rank();
    }
    let ranks: u16 = std::env::args().nth(1).map_or(2, |word| word.parse().expect("ranks"));
    let mut node = Node::new(0, &[ranks]).expect("a node");
    let mut children: Vec<Child> = Vec::new();
    for rank in 0..ranks.into() {
        let control = node.admit(rank).expect("it is admitted");
        let mut command = Command::new(std::env::current_exe().expect("a program"));
        command.env(ROLE, ranks.to_string()).stdin(Stdio::from(control));
        children.push(command.spawn().expect("it starts"));
    }
    while children.iter_mut().any(|child| child.try_wait().expect("a child").is_none()) {
        node.progress(Deadline::after(Duration::from_millis(100)));
    }
}

fn bind(cores: &[usize]) {
    let mut set = CpuSet::new();
    cores.iter().for_each(|core| set.set(*core));
    sched_setaffinity(None, &set).expect("a core");
}

fn rank() {
    let ranks: u32 = std::env::var(ROLE).expect("ranks").parse().expect("a number");
    let control = std::io::stdin().as_fd().try_clone_to_owned().expect("a socket");
    let mut rank = Rank::join(control, soon()).expect("it is let in");
    let me = rank.place().rank;
    let mut buffer = vec![0; 4 << 20];
    if me < 2 {
        bind(&[me as usize]);
        for size in [8, 64, 256, 1024, 4096, 8192, 16384, 65536, 1 << 20, 4 << 20] {
            let turns = if size > 65536 { 40 } else { 4000 };
            let (best, micros) = measure(|| half_trip(&mut rank, &mut buffer[..size], turns));
            if me == 0 {
                let rate = size as f64 / micros / 1000.0;
                println!("{size:>8} B: {micros:.3} us, best {best:.3}, {rate:.1} GB/s");
            }
        }
        let (best, rate) = measure(|| window(&mut rank, &mut buffer[..8], 1000));
        let (best_large, large) = measure(|| window(&mut rank, &mut buffer[..65536], 10));
        if me == 0 {
            println!("8 B in windows of 64: {:.2} million/s, best {:.2}", 1.0 / rate, 1.0 / best);
            let (rate, best) = (65.536 / large, 65.536 / best_large);
            println!("64 KiB in windows of 64: {rate:.1} GB/s, best {best:.1}");
        }
        asleep(&mut rank);
        bind(&(0..16).collect::<Vec<_>>());
    }
    let mut early = Vec::new();
    if me == 0 {
        (2..ranks).for_each(|other| send(&mut rank, other, &[]));
    } else if me > 1 {
        hear(&mut rank, 0, &mut early);
    }
    barrier(&mut rank, ranks, &mut early);
    let (best, micros) = measure(|| {
        let start = Instant::now();
        (0..500).for_each(|_| barrier(&mut rank, ranks, &mut early));
        start.elapsed().as_secs_f64() * 1e6 / 500.0
    });
    if me == 0 {
        println!("barrier of {ranks}: {micros:.2} us, best {best:.2}");
    }
}

/// The best and the median.
fn measure(mut measure: impl FnMut() -> f64) -> (f64, f64) {
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| measure()).collect();
    times.sort_by(f64::total_cmp);
    (times[0], times[ROUNDS / 2])
}

fn send(rank: &mut Rank, to: u32, body: &[u8]) {
    let (to, mut sent) = (Place { node: 0, rank: to }, 0);
    while sent < HEAD.len() + body.len() {
        match rank.try_send(to, &HEAD, body, sent) {
            Ok(more) => sent += more,
            Err(Error::WouldBlock) => wait(rank, &[to]),
            Err(error) => panic!("{error}"),
        }
    }
}

fn wait(rank: &mut Rank, room: &[Place]) {
    rank.wait(room, Duration::from_secs(60)).expect("the daemon is there");
}

/// Takes a piece.
fn take_piece(rank: &mut Rank, take: &mut impl FnMut(Piece<'_>)) {
    while let Err(error) = rank.try_take(take) {
        assert!(matches!(error, Error::WouldBlock), "{error}");
        wait(rank, &[]);
    }
}

/// Takes one message into a buffer.
fn take(rank: &mut Rank, buffer: &mut [u8]) {
    let mut left = HEAD.len() + buffer.len();
    while left > 0 {
        take_piece(rank, &mut |mut piece| {
            left -= piece.bytes.len();
            let mut at = piece.offset as usize;
            if at == 0 {
                let mut head = HEAD;
                piece.bytes.read(&mut head);
                assert_eq!(head, HEAD);
                at = HEAD.len();
            }
            let size = piece.bytes.len();
            piece.bytes.read(&mut buffer[at - HEAD.len()..][..size]);
        });
    }
}

/// Microseconds of one way.
fn half_trip(rank: &mut Rank, buffer: &mut [u8], turns: u32) -> f64 {
    let me = rank.place().rank;
    let start = Instant::now();
    for _ in 0..turns {
        if me == 0 {
            send(rank, 1, buffer);
        }
        take(rank, buffer);
        if me == 1 {
            send(rank, 0, buffer);
        }
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(turns) / 2.0
}

/// Microseconds of a message when 64 are sent for each answer.
fn window(rank: &mut Rank, buffer: &mut [u8], turns: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..turns {
        if rank.place().rank == 0 {
            (0..64).for_each(|_| send(rank, 1, buffer));
            take(rank, &mut []);
        } else {
            (0..64).for_each(|_| take(rank, buffer));
            send(rank, 0, &[]);
        }
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(turns) / 64.0
}

/// How long it takes until one that sleeps has a message, and what it uses while it sleeps.
fn asleep(rank: &mut Rank) {
    let clock = || Duration::try_from(clock_gettime(ClockId::Monotonic)).expect("a time");
    let used = || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).expect("a time");
    let before = used();
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..ROUNDS {
        let mut bytes = [0; 16];
        if rank.place().rank == 0 {
            std::thread::sleep(Duration::from_millis(50));
            bytes.copy_from_slice(&clock().as_nanos().to_le_bytes());
            send(rank, 1, &bytes);
        } else {
            take(rank, &mut bytes);
            let sent = u128::from_le_bytes(bytes);
            times.push((clock().as_nanos() - sent) as f64 / 1000.0);
        }
    }
    // The others begin when both are through.
    if rank.place().rank == 0 {
        take(rank, &mut []);
    } else {
        send(rank, 0, &[]);
        let share = (used() - before).as_secs_f64() / (ROUNDS as f64 * 0.05) * 100.0;
        times.sort_by(f64::total_cmp);
        let (best, median) = (times[0], times[ROUNDS / 2]);
        println!("from asleep {median:.1} us, best {best:.1}; uses {share:.3} % meanwhile");
    }
}

/// Each tells the one so far behind, and hears the one so far before, at doubled distances.
fn barrier(rank: &mut Rank, ranks: u32, early: &mut Vec<u32>) {
    let me = rank.place().rank;
    let mut distance = 1;
    while distance < ranks {
        let from = (me + ranks - distance) % ranks;
        send(rank, (me + distance) % ranks, &[]);
        hear(rank, from, early);
        distance *= 2;
    }
}

/// Takes a message of one rank; what others have sent meanwhile is kept for later.
fn hear(rank: &mut Rank, from: u32, early: &mut Vec<u32>) {
    loop {
        if let Some(at) = early.iter().position(|rank| *rank == from) {
            early.swap_remove(at);
            return;
        }
        take_piece(rank, &mut |piece| early.push(piece.from.rank));
    }
}
