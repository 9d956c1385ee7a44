//! Ours: connections through shared memory and TCP as any program makes them, between two threads
//! on two processors. (Between two processes nothing differs: the memory is a memfd either way.)

use super::raw::pair;
use anyhow::{Context, Result, anyhow, ensure};
use muster_fabric::strategy::Datagram;
use muster_fabric::transport::shared::{Link, Shared};
use muster_fabric::transport::{self, Adapter, Hello, Lane};
use muster_fabric::{Address, Deadline};
use rustix::time::{ClockId, clock_gettime};
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Whatever takes longer is broken.
const PATIENCE: Duration = Duration::from_secs(60);

fn hello() -> Hello {
    Hello { name: "bench".into(), service: "bench".into(), lane: Lane::Bulk }
}

/// A place to meet that nobody else uses.
fn place() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("muster-bench-{}-{number}", std::process::id()))
}

/// Both ends of a connection through shared memory.
fn links() -> Result<(Link, Link)> {
    let (shared, place) = (Shared::default(), place());
    let deadline = Deadline::after(PATIENCE);
    let mut listener = shared.listen_link(&place)?;
    std::thread::scope(|scope| {
        let one = scope.spawn(|| shared.connect_link(&place, &hello(), deadline));
        let other = listener.accept_link(deadline)?;
        Ok((one.join().map_err(|_| anyhow!("the connector panicked"))??, other))
    })
}

/// Both ends of a connection over TCP on loopback.
fn sockets() -> Result<(Box<dyn Datagram>, Box<dyn Datagram>)> {
    let at = Address::Tcp("127.0.0.1".into(), 0);
    let (transport, deadline) = (transport::of(&at)?, Deadline::after(PATIENCE));
    let mut listener = transport.listen(&at)?;
    let to = listener.address().clone();
    std::thread::scope(|scope| {
        let one = scope.spawn(|| transport.connect(&to, &hello(), deadline));
        let other = listener.accept(deadline)?;
        let one = one.join().map_err(|_| anyhow!("the connector panicked"))??;
        Ok((Adapter::datagram(one)?, Adapter::datagram(other)?))
    })
}

/// A connection as a ping-pong needs it.
trait End: Send {
    fn put(&mut self, message: &[u8]) -> muster_fabric::Result<()>;
    fn get(&mut self, buffer: &mut [u8]) -> muster_fabric::Result<usize>;
}

impl End for Link {
    fn put(&mut self, message: &[u8]) -> muster_fabric::Result<()> {
        self.send(&[IoSlice::new(message)], Deadline::after(PATIENCE))
    }

    fn get(&mut self, buffer: &mut [u8]) -> muster_fabric::Result<usize> {
        self.receive(buffer, Deadline::after(PATIENCE))
    }
}

impl End for Box<dyn Datagram> {
    fn put(&mut self, message: &[u8]) -> muster_fabric::Result<()> {
        self.send(&[IoSlice::new(message)], Deadline::after(PATIENCE))
    }

    fn get(&mut self, buffer: &mut [u8]) -> muster_fabric::Result<usize> {
        let mut size = 0;
        self.take(Deadline::after(PATIENCE), &mut |message| {
            size = message.len();
            buffer[..size].copy_from_slice(message);
        })?;
        Ok(size)
    }
}

/// One way of there and back, in microseconds.
fn there_and_back<E: End>((mut one, mut other): (E, E), size: usize, rounds: u64) -> Result<f64> {
    let first = move || -> Result<f64> {
        let (message, mut reply) = (vec![1; size], vec![0; size]);
        let warm = rounds / 10;
        let mut start = Instant::now();
        for round in 0..warm + rounds {
            if round == warm {
                start = Instant::now();
            }
            one.put(&message)?;
            ensure!(one.get(&mut reply)? == size, "a reply of another size");
        }
        Ok(start.elapsed().as_secs_f64() * 1e6 / 2.0 / rounds as f64)
    };
    pair(first, move || {
        let mut message = vec![0; size];
        // It ends with the connection.
        while other.get(&mut message).is_ok() && other.put(&message).is_ok() {}
    })?
}

/// What goes one way, in MB/s.
fn one_way<E: End>((mut one, mut other): (E, E), size: usize, time: Duration) -> Result<f64> {
    let first = move || -> Result<f64> {
        let mut buffer = vec![0; size];
        let warm = Instant::now();
        while warm.elapsed() < time / 10 {
            one.get(&mut buffer)?;
        }
        let (mut total, start) = (0, Instant::now());
        while start.elapsed() < time {
            total += one.get(&mut buffer)?;
        }
        Ok(total as f64 / start.elapsed().as_secs_f64() / 1e6)
    };
    pair(first, move || {
        let message = vec![1; size];
        // It ends with the connection.
        while other.put(&message).is_ok() {}
    })?
}

/// Shared memory, there and back.
pub fn shared(size: usize, rounds: u64) -> Result<f64> {
    there_and_back(links()?, size, rounds)
}

/// Shared memory, one way.
pub fn shared_stream(size: usize, time: Duration) -> Result<f64> {
    one_way(links()?, size, time)
}

/// TCP, there and back.
pub fn tcp(size: usize, rounds: u64) -> Result<f64> {
    there_and_back(sockets()?, size, rounds)
}

/// TCP, one way.
pub fn tcp_stream(size: usize, time: Duration) -> Result<f64> {
    one_way(sockets()?, size, time)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Which part of a processor somebody uses who waits for a message that does not come, in percent.
pub fn idle(time: Duration) -> Result<f64> {
    let (mut waits, _peer) = links()?;
    let start = seconds(ClockId::ThreadCPUTime);
    let end = waits.receive(&mut [0; 64], Deadline::after(time));
    ensure!(end.is_err(), "a message came");
    Ok((seconds(ClockId::ThreadCPUTime) - start) / time.as_secs_f64() * 100.0)
}

/// The processor time of this process once it has connected and sent a message, in milliseconds.
pub fn start_up() -> Result<f64> {
    let (mut one, mut other) = links()?;
    one.put(&[1; 64])?;
    other.get(&mut [0; 64])?;
    Ok(seconds(ClockId::ProcessCPUTime) * 1e3)
}

/// What a process of our own prints that does one of these things.
pub fn child(arguments: &[&str]) -> Result<f64> {
    let mut command = crate::child::command(std::env::current_exe()?);
    let output = command.args(arguments).output().context("this program, once more")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    text.trim().parse().with_context(|| format!("it said {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_both_ways() {
        assert!(shared(64, 20).unwrap() > 0.0 && shared(100_000, 5).unwrap() > 0.0);
        assert!(tcp(64, 20).unwrap() > 0.0 && tcp(100_000, 5).unwrap() > 0.0);
        let time = Duration::from_millis(20);
        assert!(shared_stream(65_536, time).unwrap() > 0.0);
        assert!(tcp_stream(65_536, time).unwrap() > 0.0);
        assert!(idle(time).unwrap() >= 0.0 && start_up().unwrap() > 0.0);
    }
}
