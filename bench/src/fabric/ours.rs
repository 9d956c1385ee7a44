//! Ours: connections through shared memory, Unix sockets and TCP as any program makes them, between
//! two processes. Who asks has connected, who serves has listened. Through shared memory a message
//! ends in the receiver's own buffer; over sockets the kernel has copied it to where the receiver
//! sees it, as bare TCP has, and there it stays.

use super::half::{Think, one_way};
use crate::report::Samples;
use anyhow::{Result, ensure};
use muster_fabric::adapter::{Adapted, Aspect, Kind, Operation, Traced};
use muster_fabric::strategy::Datagram;
use muster_fabric::transport::shared::{Link, Shared};
use muster_fabric::transport::socket::{Identity, Members, Tls};
use muster_fabric::transport::{self, Adapter, Hello, Lane, Transport};
use muster_fabric::{Address, Deadline, Error};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::io::IoSlice;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Whatever takes longer is broken.
const PATIENCE: Duration = Duration::from_secs(15);

/// Who connects, and for what.
pub fn hello() -> Hello {
    Hello { name: "bench".into(), service: "bench".into(), lane: Lane::Bulk }
}

/// A deadline for all that a process does.
pub fn patience() -> Deadline {
    Deadline::after(PATIENCE)
}

/// The transport of an address. Both ends of TLS have one key, which protects nothing here.
fn transport(at: &Address) -> Result<&'static dyn Transport> {
    static TLS: OnceLock<Tls> = OnceLock::new();
    if !matches!(at, Address::Tls(..)) {
        return Ok(transport::of(at)?);
    }
    let (identity, members) = (Identity::from_secret(&[1; 32]), Members::default());
    members.pin(&hello().name, identity.public_key())?;
    Ok(TLS.get_or_init(|| Tls::new(&identity, &members)))
}

/// A connection as a ping-pong needs it: the fast way where there is one.
pub enum End {
    /// Through shared memory.
    Link(Box<Link>),
    /// By all other ways.
    Datagram(Box<dyn Datagram>),
}

impl End {
    /// Connects to an address.
    pub fn connect(at: &str) -> Result<End> {
        let at: Address = at.parse()?;
        if let Address::Shared(path) = &at {
            let link = Shared::default().connect_link(path, &hello(), patience())?;
            return Ok(End::Link(Box::new(link)));
        }
        let adapter = transport(&at)?.connect(&at, &hello(), patience())?;
        Ok(End::Datagram(Adapter::datagram(adapter)?))
    }

    /// Waits for the first who connects to an address.
    pub fn accept(at: &str) -> Result<End> {
        End::accept_whom(at, || Ok(()))
    }

    /// Waits for somebody who is called when there is somebody to connect to.
    pub fn accept_whom(at: &str, call: impl FnOnce() -> Result<()>) -> Result<End> {
        let at: Address = at.parse()?;
        if let Address::Shared(path) = &at {
            let mut links = Shared::default().listen_link(path)?;
            call()?;
            return Ok(End::Link(Box::new(links.accept_link(patience())?)));
        }
        let mut listener = transport(&at)?.listen(&at)?;
        call()?;
        Ok(End::Datagram(Adapter::datagram(listener.accept(patience())?)?))
    }

    /// Sends a message.
    #[inline]
    pub fn put(&mut self, message: &[u8], deadline: Deadline) -> muster_fabric::Result<()> {
        let parts = [IoSlice::new(message)];
        match self {
            End::Link(link) => link.send(&parts, deadline),
            End::Datagram(datagram) => datagram.send(&parts, deadline),
        }
    }

    /// Receives one of at most a buffer's length; see above for where it is then.
    #[inline]
    pub fn get(&mut self, buffer: &mut [u8], deadline: Deadline) -> muster_fabric::Result<usize> {
        match self {
            End::Link(link) => link.receive(buffer, deadline),
            End::Datagram(datagram) => {
                let mut size = 0;
                datagram.take(deadline, &mut |message| size = message.len())?;
                Ok(size.min(buffer.len()))
            }
        }
    }
}

/// The longest message that is asked with.
const LONGEST: usize = 1 << 20;

/// Answers each message with one as long, until the connection ends.
pub fn serve(at: &str, think: Think) -> Result<()> {
    let (mut end, deadline) = (End::accept(at)?, patience());
    // Of its own, as those of UCX and libfabric send: what was received stays where it is.
    let (mut message, answer) = (vec![0; LONGEST], vec![1; LONGEST]);
    loop {
        let size = match end.get(&mut message, deadline) {
            Err(Error::Closed { .. }) => return Ok(()),
            size => size?,
        };
        think.think();
        end.put(&answer[..size], deadline)?;
    }
}

/// One way of there and back, in microseconds.
pub fn ask(at: &str, size: usize, rounds: u64, think: Think) -> Result<f64> {
    let (mut end, deadline) = (End::connect(at)?, patience());
    let (message, mut reply) = (vec![1; size], vec![0; size]);
    let warm = rounds / 10;
    let mut start = Instant::now();
    for round in 0..warm + rounds {
        if round == warm {
            start = Instant::now();
        }
        think.think();
        end.put(&message, deadline)?;
        ensure!(end.get(&mut reply, deadline)? == size, "a reply of another size");
    }
    Ok(one_way(think.off(start.elapsed(), rounds), rounds))
}

/// Sends all the time, until the connection ends.
pub fn serve_stream(at: &str, size: usize) -> Result<()> {
    let (mut end, deadline) = (End::accept(at)?, patience());
    let message = vec![1; size];
    while end.put(&message, deadline).is_ok() {}
    Ok(())
}

/// What comes one way, in MB/s.
pub fn ask_stream(at: &str, size: usize, time: Duration) -> Result<f64> {
    let (mut end, deadline) = (End::connect(at)?, patience());
    let mut buffer = vec![0; size];
    let warm = Instant::now();
    while warm.elapsed() < time / 10 {
        end.get(&mut buffer, deadline)?;
    }
    let (mut total, start) = (0, Instant::now());
    while start.elapsed() < time {
        // To read the clock takes a fiftieth of a message of 64 KB.
        for _ in 0..16 {
            total += end.get(&mut buffer, deadline)?;
        }
    }
    Ok(total as f64 / start.elapsed().as_secs_f64() / 1e6)
}

fn seconds(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Connects and exchanges a message.
fn met(at: &str) -> Result<End> {
    let (mut end, deadline) = (End::connect(at)?, patience());
    end.put(&[1; 64], deadline)?;
    end.get(&mut [0; 64], deadline)?;
    Ok(end)
}

/// Which part of a processor somebody uses who waits for a message that does not come, in percent.
pub fn idle(at: &str, time: Duration) -> Result<f64> {
    let mut waits = met(at)?;
    let start = seconds(ClockId::ProcessCPUTime);
    let end = waits.get(&mut [0; 64], Deadline::after(time));
    ensure!(matches!(end, Err(Error::Deadline { .. })), "it was not left waiting: {end:?}");
    Ok((seconds(ClockId::ProcessCPUTime) - start) / time.as_secs_f64() * 100.0)
}

/// The processor time of this process, from its first instruction until it has connected and
/// exchanged a message, in milliseconds.
pub fn start_up(at: &str) -> Result<f64> {
    let _end = met(at)?;
    Ok(seconds(ClockId::ProcessCPUTime) * 1e3)
}

/// What tracing adds to an operation, in nanoseconds: the median of pairs, in which the same call
/// in an empty scenario and in a traced one take turns in going first.
pub fn tracing(rounds: u64) -> Result<f64> {
    /// So many that one takes 0.1 ms: where others want the processor, most are not interrupted.
    const PAIRS: u64 = 101;
    let rounds = (rounds / PAIRS).max(1);
    let (mut bare, mut traced) = (Adapted::new(0, ()), Adapted::new(0, Traced::default()));
    let pairs = (0..PAIRS).map(|pair| {
        let (without, with) = if pair % 2 == 0 {
            let without = a_call(&mut bare, rounds)?;
            (without, a_call(&mut traced, rounds)?)
        } else {
            let with = a_call(&mut traced, rounds)?;
            (a_call(&mut bare, rounds)?, with)
        };
        Ok(with - without)
    });
    // Where it costs next to nothing, chance may make it less than that.
    Ok(Samples(pairs.collect::<Result<_>>()?).median().max(0.0))
}

/// How long an enclosed call takes, in nanoseconds, that counts so that the compiler cannot foresee
/// it.
#[inline(never)]
fn a_call<A: Aspect>(adapted: &mut Adapted<u64, A>, rounds: u64) -> Result<f64> {
    let operation = Operation { kind: Kind::Send, bytes: 64 };
    let count = |inner: &mut u64| {
        *inner += 1;
        Ok(black_box(*inner))
    };
    let start = Instant::now();
    for _ in 0..rounds {
        adapted.enclose(operation, count, |_| 64)?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e9 / rounds as f64)
}

#[cfg(test)]
mod tests {
    use super::super::place::Home;
    use super::*;

    fn both<R: Send>(scheme: &str, serve: fn(&str) -> Result<()>, ask: fn(&str) -> Result<R>) -> R {
        let home = Home::new().unwrap();
        let at = home.address(scheme).unwrap();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| serve(&at));
            let answer = loop {
                match ask(&at) {
                    Ok(answer) => break answer,
                    Err(error) if server.is_finished() => panic!("{error:#}"),
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
            };
            server.join().unwrap().unwrap();
            answer
        })
    }

    #[test]
    fn messages_go_both_ways_by_every_transport() {
        let serve = |at: &str| serve(at, Think::default());
        for scheme in ["shm", "unix", "tcp"] {
            for size in [64, 100_000] {
                let ask: fn(&str) -> Result<f64> = match size {
                    64 => |at| ask(at, 64, 20, Think::default()),
                    _ => |at| ask(at, 100_000, 5, Think::default()),
                };
                assert!(both(scheme, serve, ask) > 0.0);
            }
            let idle = both(scheme, serve, |at| idle(at, Duration::from_millis(20)));
            assert!(idle >= 0.0);
        }
        assert!(both("shm", serve, start_up) > 0.0);
    }

    #[test]
    fn a_stream_flows_until_nobody_wants_it() {
        for scheme in ["shm", "tcp"] {
            let serve = |at: &str| serve_stream(at, 65_536);
            let ask = |at: &str| ask_stream(at, 65_536, Duration::from_millis(20));
            assert!(both(scheme, serve, ask) > 0.0);
        }
    }

    #[test]
    fn tracing_is_measured() {
        assert!(tracing(1000).unwrap().is_finite());
    }
}
