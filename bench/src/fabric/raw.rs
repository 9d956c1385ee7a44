//! The limits: what memory, TCP and futexes do when nothing is between them and two processes.
//! Times are of one way, in microseconds; rates in MB/s. Each ping-pong has a process that asks
//! and one that answers; both do as many rounds, and whoever waits for too long says so.

use super::half::{Think, one_way};
use super::place::processors;
use super::sys::{Memory, Way};
use anyhow::{Context, Result, anyhow, ensure};
use rustix::fs::MemfdFlags;
use rustix::thread::{CpuSet, futex, sched_setaffinity};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Whoever is not heard of for that long is broken.
const PATIENCE: Duration = Duration::from_secs(10);

/// Memory for two processes, as long as this lives. It has no name that could be left behind.
pub struct Sheet(File);

impl Sheet {
    /// Empty.
    pub fn new() -> Result<Sheet> {
        Ok(Sheet(rustix::fs::memfd_create("bench", MemfdFlags::CLOEXEC)?.into()))
    }

    /// Where processes of the same user find it.
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()).into()
    }
}

/// A flag and a message, copied in and out: the side that asks.
pub fn ask_shared(memory: &Memory, size: usize, rounds: u64) -> Result<f64> {
    let (message, mut reply) = (vec![1; size], vec![0; size]);
    let warm = rounds / 10;
    let mut start = Instant::now();
    for number in 1..=warm + rounds {
        if number == warm + 1 {
            start = Instant::now();
        }
        memory.send(Way::There, &message, number);
        memory.receive(Way::Back, &mut reply, number)?;
    }
    Ok(one_way(start.elapsed(), rounds))
}

/// The side that answers.
pub fn serve_shared(memory: &Memory, size: usize, rounds: u64) -> Result<()> {
    let mut message = vec![0; size];
    for number in 1..=rounds / 10 + rounds {
        memory.receive(Way::There, &mut message, number)?;
        memory.send(Way::Back, &message, number);
    }
    Ok(())
}

/// How far the two processors are from each other at the moment: a flag, one way, in nanoseconds.
/// Between threads: a flag's way is the same, and so it takes less than a millisecond.
pub fn sentinel() -> Result<f64> {
    const ROUNDS: u64 = 2000;
    let sheet = Sheet::new()?;
    let memory = Memory::open(&sheet.path(), 0)?;
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            pin(1);
            serve_shared(&memory, 0, ROUNDS)
        });
        let one = scope.spawn(|| {
            pin(0);
            ask_shared(&memory, 0, ROUNDS)
        });
        let time = one.join().map_err(|_| anyhow!("the sentinel panicked"))??;
        other.join().map_err(|_| anyhow!("the sentinel panicked"))??;
        Ok(time * 1e3)
    })
}

/// Keeps this thread on one of the two processors.
fn pin(which: usize) {
    let mut set = CpuSet::new();
    set.set(processors()[which]);
    // Without permission it runs where the kernel wants.
    let _ = sched_setaffinity(None, &set);
}

/// Sleeps until a word no longer has a value.
fn sleep_while(word: &AtomicU32, value: u32) -> Result<()> {
    let most = futex::Timespec::try_from(PATIENCE)?;
    while word.load(Ordering::Acquire) == value {
        // It returns early when the value has changed.
        let slept = futex::wait(word, futex::Flags::empty(), value, Some(&most));
        ensure!(slept != Err(rustix::io::Errno::TIMEDOUT), "not woken for {PATIENCE:?}");
    }
    Ok(())
}

/// Sets a word and wakes who sleeps on it.
fn wake_with(word: &AtomicU32, value: u32) {
    word.store(value, Ordering::Release);
    let _ = futex::wake(word, futex::Flags::empty(), 1);
}

/// Two processes that sleep on futexes and wake each other: the side that asks.
pub fn ask_futex(memory: &Memory, rounds: u64, think: Think) -> Result<f64> {
    let warm = rounds / 10;
    let mut start = Instant::now();
    for number in 0..(warm + rounds) as u32 {
        if u64::from(number) == warm {
            start = Instant::now();
        }
        think.think();
        wake_with(memory.word(Way::There), number + 1);
        sleep_while(memory.word(Way::Back), number)?;
    }
    Ok(one_way(think.off(start.elapsed(), rounds), rounds))
}

/// The side that answers.
pub fn serve_futex(memory: &Memory, rounds: u64, think: Think) -> Result<()> {
    for number in 0..(rounds / 10 + rounds) as u32 {
        sleep_while(memory.word(Way::There), number)?;
        think.think();
        wake_with(memory.word(Way::Back), number + 1);
    }
    Ok(())
}

/// How a process waits for what comes over TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wait {
    /// It looks again and again.
    Spin,
    /// It sleeps.
    Block,
}

fn prepare(stream: TcpStream, wait: Wait) -> Result<TcpStream> {
    stream.set_nodelay(true)?;
    // The system's default may be one for long distances (bbr), which paces on loopback.
    let _ = rustix::net::sockopt::set_tcp_congestion(&stream, "cubic");
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nonblocking(wait == Wait::Spin)?;
    Ok(stream)
}

/// Calls until it no longer would block; false at the end of the connection.
fn repeat(mut call: impl FnMut() -> std::io::Result<usize>) -> Result<usize> {
    let mut looks = 0_u32;
    let mut since = None;
    loop {
        match call() {
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                looks += 1;
                if looks.is_multiple_of(256) {
                    std::thread::yield_now();
                    let since: &Instant = since.get_or_insert_with(Instant::now);
                    ensure!(since.elapsed() < PATIENCE, "TCP stood still for {PATIENCE:?}");
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Receives all of a buffer; false at the end of the connection.
fn receive(mut stream: &TcpStream, buffer: &mut [u8]) -> Result<bool> {
    let mut done = 0;
    while done < buffer.len() {
        match repeat(|| stream.read(&mut buffer[done..]))? {
            0 => return Ok(false),
            more => done += more,
        }
    }
    Ok(true)
}

fn send(mut stream: &TcpStream, buffer: &[u8]) -> Result<()> {
    let mut done = 0;
    while done < buffer.len() {
        done += repeat(|| stream.write(&buffer[done..]))?;
    }
    Ok(())
}

/// TCP on loopback, there and back: the side that asks.
pub fn ask_tcp(at: &str, size: usize, rounds: u64, wait: Wait) -> Result<f64> {
    let stream = prepare(TcpStream::connect(at).with_context(|| at.to_owned())?, wait)?;
    let mut buffer = vec![1; size];
    let warm = rounds / 10;
    let mut start = Instant::now();
    for round in 0..warm + rounds {
        if round == warm {
            start = Instant::now();
        }
        send(&stream, &buffer)?;
        ensure!(receive(&stream, &mut buffer)?, "TCP on loopback ended");
    }
    Ok(one_way(start.elapsed(), rounds))
}

/// The side that answers, until the connection ends.
pub fn serve_tcp(at: &str, size: usize, wait: Wait) -> Result<()> {
    let listener = TcpListener::bind(at).with_context(|| at.to_owned())?;
    let stream = prepare(listener.accept()?.0, wait)?;
    let mut buffer = vec![0; size];
    while receive(&stream, &mut buffer)? {
        send(&stream, &buffer)?;
    }
    Ok(())
}

/// What memcpy moves on one processor, in MB/s.
pub fn memcpy(size: usize, time: Duration) -> f64 {
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

    /// Two mappings of the same memory, as two processes have them.
    fn both(size: usize, serve: impl FnOnce(&Memory) + Send, ask: impl FnOnce(&Memory)) {
        let sheet = Sheet::new().unwrap();
        let [one, other] = [0, 1].map(|_| Memory::open(&sheet.path(), size).unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| serve(&other));
            ask(&one);
        });
    }

    #[test]
    fn messages_cross_shared_memory_and_come_back() {
        for size in [64, 1 << 20] {
            let serve = |memory: &Memory| serve_shared(memory, size, 10).unwrap();
            let ask = |memory: &Memory| assert!(ask_shared(memory, size, 10).unwrap() > 0.0);
            both(size, serve, ask);
        }
        assert!(sentinel().unwrap() > 0.0);
    }

    #[test]
    fn sleepers_wake_each_other() {
        let think = Think::default();
        let serve = |memory: &Memory| serve_futex(memory, 10, think).unwrap();
        both(64, serve, |memory| assert!(ask_futex(memory, 10, think).unwrap() > 0.0));
    }

    #[test]
    fn messages_cross_tcp_and_come_back() {
        for (size, wait) in [(100_000, Wait::Spin), (64, Wait::Block)] {
            let at = crate::child::free_address().unwrap().to_string();
            std::thread::scope(|scope| {
                scope.spawn(|| serve_tcp(&at, size, wait).unwrap());
                let time = (0..1000).find_map(|_| {
                    let time = ask_tcp(&at, size, 3, wait).ok();
                    std::thread::sleep(Duration::from_millis(u64::from(time.is_none())));
                    time
                });
                assert!(time.unwrap() > 0.0);
            });
        }
        assert!(memcpy(1 << 16, Duration::from_millis(1)) > 0.0);
    }
}
