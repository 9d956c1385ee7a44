//! What scenario adapters cost. `tests/empty_adapter.rs` builds it, as a program of its own.
//!
//! For each operation it prints where the machine code of the bare one begins, and of the same in
//! a scenario. With `--time` it also prints what tracing costs.

use muster_fabric::Result;
use muster_fabric::adapter::{Adapted, Aspect, Traced};
use muster_fabric::deadline::Deadline;
use muster_fabric::strategy::{Datagram, Ready, Wait};
use muster_fabric::transport::{Peer, Protection};
use std::hint::black_box;
use std::io::IoSlice;
use std::time::Instant;

/// Datagrams that go around to where they come from.
struct Loop {
    peer: Peer,
    buffer: [u8; 64],
    size: usize,
}

impl Wait for Loop {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        "a loop"
    }

    fn wait(&mut self, _: Ready, _: Deadline) -> Result<()> {
        Ok(())
    }
}

impl Datagram for Loop {
    fn limit(&self) -> usize {
        self.buffer.len()
    }

    #[inline]
    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        fill(&mut self.buffer[..size]);
        self.size = size;
        Ok(())
    }

    #[inline]
    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        take(&self.buffer[..self.size]);
        Ok(())
    }
}

#[inline(never)]
fn send<D: Datagram>(end: &mut D, message: &[u8]) -> Result<()> {
    end.try_send(&[IoSlice::new(message)])
}

#[inline(never)]
fn receive<D: Datagram>(end: &mut D, take: &mut dyn FnMut(&[u8])) -> Result<()> {
    end.try_take(take)
}

/// Prints where the code of operations begins, for two kinds of datagrams.
fn compare<A: Datagram, B: Datagram>(name: &str) {
    type Send<D> = fn(&mut D, &[u8]) -> Result<()>;
    type Receive<D> = fn(&mut D, &mut dyn FnMut(&[u8])) -> Result<()>;
    println!("{name} send {:p} {:p}", send::<A> as Send<A>, send::<B> as Send<B>);
    println!("{name} receive {:p} {:p}", receive::<A> as Receive<A>, receive::<B> as Receive<B>);
}

fn new() -> Loop {
    let peer = Peer::new("itself".to_owned(), Protection::Local);
    Loop { peer, buffer: [0; 64], size: 0 }
}

/// Nanoseconds of sending and receiving a message.
fn time<A: Aspect>(end: &mut Adapted<Loop, A>) -> f64 {
    const ROUNDS: u32 = 20_000;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        send(black_box(end), black_box(b"message")).expect("there is room");
        receive(black_box(end), &mut |message| {
            black_box(message);
        })
        .expect("there is a message");
    }
    start.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
}

fn main() {
    println!("main {:p}", main as fn());
    compare::<Loop, Adapted<Loop, ()>>("static");
    compare::<Loop, Adapted<Loop, ((), ())>>("twice");
    compare::<Box<dyn Datagram>, Adapted<Box<dyn Datagram>, ()>>("boxed");
    compare::<Loop, Adapted<Loop, (Traced,)>>("traced");
    if std::env::args().any(|argument| argument == "--time") {
        let (mut bare, mut traced) =
            (Adapted::new(new(), ()), Adapted::new(new(), (Traced::default(),)));
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for _ in 0..201 {
            without.push(time(&mut bare));
            with.push(time(&mut traced));
        }
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2] / 2.0
        };
        let (without, with) = (median(&mut without), median(&mut with));
        println!("an operation takes {without:.2} ns, traced {with:.2} ns");
    }
}
