//! What messages over TCP cost beside the bare socket, in one run:
//! `cargo run --release -p muster-fabric --example socket_speed [-- spin] [rails]`.
//!
//! Rounds of both alternate; the figures are medians of the rounds, and their ratio. The bare
//! socket sleeps in its reads and writes, or with `spin` repeats them until something is there,
//! which only says something while nothing else runs on this machine. With `rails` ours go over two
//! rails of TCP.

use muster_fabric::address::Address;
use muster_fabric::strategy::Datagram;
use muster_fabric::transport::{self, Hello, Lane, Transport};
use muster_fabric::{Deadline, Result};
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: usize = 9;

/// One end of either kind.
trait End: Send {
    fn send(&mut self, message: &[u8]);
    fn receive(&mut self, buffer: &mut [u8]);
}

struct Bare {
    stream: TcpStream,
}

impl End for Bare {
    fn send(&mut self, mut message: &[u8]) {
        while !message.is_empty() {
            match self.stream.write(message) {
                Ok(size) => message = &message[size..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn receive(&mut self, mut buffer: &mut [u8]) {
        while !buffer.is_empty() {
            match self.stream.read(buffer) {
                Ok(0) => panic!("the end"),
                Ok(size) => buffer = &mut buffer[size..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

struct Ours {
    end: Box<dyn Datagram>,
}

impl End for Ours {
    fn send(&mut self, message: &[u8]) {
        let deadline = Deadline::after(Duration::from_secs(10));
        self.end.send(&[IoSlice::new(message)], deadline).expect("it is sent");
    }

    fn receive(&mut self, buffer: &mut [u8]) {
        let deadline = Deadline::after(Duration::from_secs(10));
        let size = buffer.len();
        let check = &mut |message: &[u8]| assert_eq!(message.len(), size);
        self.end.take(deadline, check).expect("it arrives");
    }
}

fn bare(spin: bool) -> (Bare, Bare) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let one = TcpStream::connect(listener.local_addr().expect("bound")).expect("a listener");
    let (other, _) = listener.accept().expect("a connector");
    let end = |stream: TcpStream| {
        stream.set_nodelay(true).expect("an option");
        stream.set_nonblocking(spin).expect("an option");
        rustix::net::sockopt::set_tcp_congestion(&stream, "cubic").expect("an option");
        Bare { stream }
    };
    (end(one), end(other))
}

fn ours(rails: bool) -> Result<(Ours, Ours)> {
    let one = Address::Tcp("127.0.0.1".to_owned(), 0);
    let at = if rails { Address::Rails(vec![one; 2]) } else { one };
    let transport: &dyn Transport = transport::of(&at)?;
    let mut listener = transport.listen(&at)?;
    let address = listener.address().clone();
    let hello = Hello { name: "speed".to_owned(), service: "speed".to_owned(), lane: Lane::Bulk };
    let deadline = Deadline::after(Duration::from_secs(10));
    let connecting = thread::spawn(move || transport.connect(&address, &hello, deadline));
    let accepted = listener.accept(deadline)?;
    let connected = connecting.join().expect("no panic")?;
    Ok((Ours { end: connected.datagram()? }, Ours { end: accepted.datagram()? }))
}

/// Microseconds of half a round trip.
fn ping_pong(one: &mut dyn End, other: &mut dyn End, size: usize, count: usize) -> f64 {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = vec![1; size];
            for _ in 0..count {
                other.receive(&mut buffer);
                other.send(&buffer);
            }
        });
        let mut buffer = vec![1; size];
        let start = Instant::now();
        for _ in 0..count {
            one.send(&buffer);
            one.receive(&mut buffer);
        }
        start.elapsed().as_secs_f64() * 1e6 / count as f64 / 2.0
    })
}

/// Microseconds of a message among many in one direction.
fn stream(one: &mut dyn End, other: &mut dyn End, size: usize, count: usize) -> f64 {
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = vec![1; size];
            (0..count).for_each(|_| other.receive(&mut buffer));
            other.send(&[1]);
        });
        let buffer = vec![1; size];
        let start = Instant::now();
        (0..count).for_each(|_| one.send(&buffer));
        one.receive(&mut [0]);
        start.elapsed().as_secs_f64() * 1e6 / count as f64
    })
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn main() -> Result<()> {
    let is_asked = |word| std::env::args().any(|argument| argument == word);
    let (mut bare, mut fabric) = (bare(is_asked("spin")), ours(is_asked("rails"))?);
    println!("{:>16} {:>10} {:>10} {:>10}", "", "bare us", "ours us", "ratio");
    for (what, size, count) in [
        ("ping", 64, 5000),
        ("ping", 4096, 5000),
        ("ping", 65536, 1000),
        ("ping", 1 << 20, 100),
        ("stream", 64, 50_000),
        ("stream", 65536, 5000),
        ("stream", 1 << 20, 400),
    ] {
        let mut figures = [const { Vec::new() }; 2];
        for _ in 0..ROUNDS {
            let run = |one: &mut dyn End, other: &mut dyn End| match what {
                "ping" => ping_pong(one, other, size, count),
                _ => stream(one, other, size, count),
            };
            figures[0].push(run(&mut bare.0, &mut bare.1));
            figures[1].push(run(&mut fabric.0, &mut fabric.1));
        }
        let [bare, ours] = figures.map(median);
        println!("{what:>6} {size:>9} {bare:>10.2} {ours:>10.2} {:>10.3}", ours / bare);
    }
    Ok(())
}
