//! The limits: what memory, TCP and futexes do when nothing is between them and two threads.
//! Times are of one way, in microseconds; rates in MB/s.

use super::sys::Slot;
use anyhow::{Context, Result, anyhow};
use rustix::thread::{CpuSet, futex, sched_setaffinity};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Keeps this thread on a processor, if there are as many.
pub fn pin(processor: usize) {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let mut set = CpuSet::new();
    set.set(processor % count);
    // Without permission it runs where the kernel wants.
    let _ = sched_setaffinity(None, &set);
}

/// Runs two threads on two processors; the first one's result counts.
pub fn pair<R: Send>(one: impl FnOnce() -> R + Send, other: impl FnOnce() + Send) -> Result<R> {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            pin(1);
            other();
        });
        let one = scope.spawn(|| {
            pin(0);
            one()
        });
        let result = one.join().map_err(|_| anyhow!("the first thread panicked"))?;
        other.join().map_err(|_| anyhow!("the second thread panicked"))?;
        Ok(result)
    })
}

/// One way of `rounds` round trips, in microseconds.
fn one_way(start: Instant, rounds: u64) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / 2.0 / rounds as f64
}

/// A flag and a message, copied in and out.
pub fn shared(size: usize, rounds: u64) -> Result<f64> {
    let (there, back) = (Slot::new(size), Slot::new(size));
    let first = || {
        let (message, mut reply) = (vec![1; size], vec![0; size]);
        let start = Instant::now();
        for number in 1..=rounds {
            there.send(&message, number);
            back.receive(&mut reply, number);
        }
        one_way(start, rounds)
    };
    pair(first, || {
        let mut message = vec![0; size];
        for number in 1..=rounds {
            there.receive(&mut message, number);
            back.send(&message, number);
        }
    })
}

/// How far the two processors are from each other at the moment: a flag, one way, in nanoseconds.
pub fn sentinel() -> Result<f64> {
    Ok(shared(0, 20_000)? * 1e3)
}

/// Sleeps until a word no longer has a value.
fn sleep_while(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Acquire) == value {
        // It returns early when the value has changed.
        let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
    }
}

/// Sets a word and wakes who sleeps on it.
fn wake_with(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    let _ = futex::wake(word, futex::Flags::PRIVATE, 1);
}

/// Two threads that sleep on futexes and wake each other.
pub fn blocking(rounds: u64) -> Result<f64> {
    let (there, back) = (AtomicU32::new(0), AtomicU32::new(0));
    let first = || {
        let start = Instant::now();
        for number in 0..rounds as u32 {
            wake_with(&there, number + 1);
            sleep_while(&back, number);
        }
        one_way(start, rounds)
    };
    pair(first, || {
        for number in 0..rounds as u32 {
            sleep_while(&there, number);
            wake_with(&back, number + 1);
        }
    })
}

/// How a thread waits for what comes over TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wait {
    /// It looks again and again.
    Spin,
    /// It sleeps.
    Block,
}

fn sockets(wait: Wait) -> Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port on loopback")?;
    let one = TcpStream::connect(listener.local_addr()?)?;
    let (other, _) = listener.accept()?;
    for stream in [&one, &other] {
        stream.set_nodelay(true)?;
        // The system's default may be one for long distances (bbr), which paces on loopback.
        let _ = rustix::net::sockopt::set_tcp_congestion(stream, "cubic");
        stream.set_nonblocking(wait == Wait::Spin)?;
    }
    Ok((one, other))
}

fn receive(mut stream: &TcpStream, buffer: &mut [u8]) -> bool {
    let mut done = 0;
    while done < buffer.len() {
        match stream.read(&mut buffer[done..]) {
            Ok(0) => return false,
            Ok(more) => done += more,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
    }
    true
}

fn send(mut stream: &TcpStream, buffer: &[u8]) -> bool {
    let mut done = 0;
    while done < buffer.len() {
        match stream.write(&buffer[done..]) {
            Ok(more) => done += more,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
    }
    true
}

/// TCP on loopback, there and back.
pub fn tcp(size: usize, rounds: u64, wait: Wait) -> Result<f64> {
    let (one, other) = sockets(wait)?;
    let first = || {
        let mut buffer = vec![1; size];
        let start = Instant::now();
        let done = (0..rounds).all(|_| send(&one, &buffer) && receive(&one, &mut buffer));
        done.then(|| one_way(start, rounds))
    };
    let result = pair(first, || {
        let mut buffer = vec![0; size];
        (0..rounds).all(|_| receive(&other, &mut buffer) && send(&other, &buffer));
    })?;
    result.context("TCP on loopback ended")
}

/// What memcpy moves on one processor, in MB/s.
pub fn memcpy(size: usize, time: Duration) -> f64 {
    pin(0);
    let (from, mut to) = (vec![1_u8; size], vec![0_u8; size]);
    let (mut total, start) = (0, Instant::now());
    while start.elapsed() < time {
        for _ in 0..16 {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&mut to);
            total += size;
        }
    }
    total as f64 / start.elapsed().as_secs_f64() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_a_positive_number() {
        assert!(shared(64, 10).unwrap() > 0.0 && shared(1 << 20, 3).unwrap() > 0.0);
        assert!(blocking(10).unwrap() > 0.0 && sentinel().unwrap() > 0.0);
        assert!(tcp(100_000, 3, Wait::Spin).unwrap() > 0.0);
        assert!(tcp(64, 3, Wait::Block).unwrap() > 0.0);
        assert!(memcpy(1 << 16, Duration::from_millis(1)) > 0.0);
    }
}
