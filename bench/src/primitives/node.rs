//! One node process: listens and says where, reads where all are and what to do, does it, and
//! ends when its standard input does.

use anyhow::{Context, Result, bail, ensure};
use muster_fabric::global::{Begin, Member, incarnation};
use muster_fabric::heartbeat::{self, Heartbeat, Notice, Request};
use muster_fabric::primitive::{Config, Nodes, Relation};
use muster_fabric::protocol::{NodeId, Payload, Time};
use muster_fabric::shell::multicast::Group;
use muster_fabric::shell::{Setup, Shell, Transports};
use muster_fabric::transport::{self, Hello, Lane, Listener};
use muster_fabric::{Address, Deadline};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Samples of one operation at most, and at least.
const MOST: usize = 400;
const LEAST: usize = 10;

const PERIOD: Duration = Duration::from_millis(1);

/// How long shells look before they sleep: longer than an operation takes. Strobes come less often.
const PATIENCE: Duration = Duration::from_millis(4);

/// How an order begins to multicast; a port follows.
pub const CAST: &str = "cast:";

/// Where nodes multicast.
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 77, 1);

/// No node lives longer, whatever it or another one waits for.
const LIFE: Duration = Duration::from_secs(90);

/// This node among the others.
struct Node {
    me: u32,
    addresses: Vec<Address>,
    bulk_addresses: Vec<Address>,
    arity: usize,
    listener: Box<dyn Listener>,
    bulk_listener: Box<dyn Listener>,
    time: Duration,
}

/// The node's whole life.
///
/// # Errors
/// What went wrong.
pub fn run(arguments: &[String]) -> Result<()> {
    let [me, count, arity, address, bulk] = arguments else {
        bail!("{} ME COUNT ARITY ADDRESS BULK", super::NODE)
    };
    let who = me.clone();
    std::thread::spawn(move || {
        std::thread::sleep(LIFE);
        eprintln!("bench: node {who} was not done after {LIFE:?}");
        std::process::exit(1);
    });
    let doors = [address, bulk].map(|address| {
        let address: Address = address.parse()?;
        Ok(transport::of(&address)?.listen(&address)?)
    });
    let [listener, bulk_listener]: [Result<Box<dyn Listener>>; 2] = doors;
    let (listener, bulk_listener) = (listener?, bulk_listener?);
    println!("{} {}", listener.address(), bulk_listener.address());
    let mut lines = std::io::stdin().lock().lines();
    let mut line = || lines.next().context("the parent is gone")?.context("cannot read");
    let (mut addresses, mut bulk_addresses) = (Vec::new(), Vec::new());
    for _ in 0..count.parse()? {
        let both = line()?;
        let (address, bulk) = both.split_once(' ').context("two addresses")?;
        addresses.push(address.parse()?);
        bulk_addresses.push(bulk.parse()?);
    }
    let order = line()?;
    let (what, time) = order.split_once(' ').context("what and how long")?;
    let time = Duration::from_millis(time.parse()?);
    let (me, arity) = (me.parse()?, arity.parse()?);
    let node = Node { me, addresses, bulk_addresses, arity, listener, bulk_listener, time };
    let wait = move || lines.for_each(drop);
    match what {
        "drive" => node.drive(wait),
        "tree" => node.long(None, wait),
        _ if what.starts_with(CAST) => node.long(Some(what[CAST.len()..].parse()?), wait),
        "beat" => node.beat(false, wait),
        "bare" => node.bare(wait),
        "full" => node.beat(true, wait),
        _ => bail!("nobody can {what}"),
    }
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

impl Node {
    fn setup(&self, service: &str) -> Setup {
        let addresses = (0..).map(NodeId).zip(self.addresses.iter().cloned()).collect();
        Setup {
            me: NodeId(self.me),
            service: service.to_owned(),
            addresses,
            transports: Transports::default(),
            patience: PATIENCE,
            group: None,
        }
    }

    /// Runs the primitives; the first node asks for all operations.
    fn drive(self, wait: impl FnOnce()) -> Result<()> {
        let all = Nodes::range(0..=self.addresses.len() as u32 - 1);
        let (arity, regions) = (self.arity, vec![1 << 20]);
        let config = Config { arity, regions, ..Config::new(NodeId(self.me), incarnation()) };
        let setup = self.setup("primitives");
        let member = Member::start(setup, self.listener, config, Begin::With(all.clone()))?;
        if self.me == 0 {
            let query = || {
                let asked = (0, Relation::AtLeast, 0);
                Ok(member.compare_and_write(&all, asked, None, soon()).map(drop)?)
            };
            let put = |data: &Payload| {
                let transfer = member.xfer_and_signal(&all, (0, 0), data.clone(), Some(0), None)?;
                Ok(transfer.wait(soon())?)
            };
            measure("query", self.time, query)?;
            for (name, size) in [("0B", 0), ("4KB", 4096), ("1MB", 1 << 20)] {
                let data = Payload::from(vec![7; size]);
                measure(name, self.time, || put(&data))?;
            }
            println!("end");
        }
        wait();
        Ok(())
    }

    /// The first node sends transfers of 1 MB, by multicast if there is a port. All say what they
    /// have run.
    fn long(self, port: Option<u16>, wait: impl FnOnce()) -> Result<()> {
        let all = Nodes::range(0..=self.addresses.len() as u32 - 1);
        let config = Config {
            arity: self.arity,
            regions: vec![1 << 20],
            ..Config::new(NodeId(self.me), incarnation())
        };
        let group =
            |port| Group::new(SocketAddrV4::new(GROUP, port), Ipv4Addr::LOCALHOST, NodeId(0));
        let group = port.map(group);
        let setup = Setup { group, ..self.setup("primitives") };
        let member = Member::start(setup, self.listener, config, Begin::With(all.clone()))?;
        let before = processor_times()?;
        if self.me == 0 {
            let (hearers, deadline) = (port.map_or(0, |_| u64::from(all.len() as u32) - 1), soon());
            while member.traffic().hearers.load(Ordering::Relaxed) < hearers {
                ensure!(deadline.left().is_some(), "not all hear: {:?}", member.traffic());
                std::thread::sleep(Duration::from_millis(1));
            }
            let data = Payload::from(vec![7; 1 << 20]);
            let count = AtomicU64::new(0);
            measure("1MB", self.time, || {
                count.fetch_add(1, Ordering::Relaxed);
                let transfer = member.xfer_and_signal(&all, (0, 0), data.clone(), Some(0), None)?;
                Ok(transfer.wait(soon())?)
            })?;
            println!("count {}\nroot {}\nend", count.into_inner(), spent(&before)?);
        }
        wait();
        println!("cpu {}", spent(&before)?);
        Ok(())
    }

    /// Has the heartbeat beat, with the links full of other bytes or without.
    fn beat(self, is_full: bool, wait: impl FnOnce()) -> Result<()> {
        let setup = Setup { patience: Duration::ZERO, ..self.setup("heartbeat") };
        let links = Links::of(self.me as usize, &self.bulk_addresses);
        let bulk = is_full.then(|| Bulk::start(self.bulk_listener, links));
        let config = heartbeat::Config {
            arity: if is_full { 2 } else { self.arity as u16 },
            period: PERIOD,
            ..heartbeat::Config::new(NodeId(self.me), NodeId(0), 1)
        };
        let arrivals = Arc::new(Mutex::new(Vec::with_capacity(1 << 16)));
        let handler = {
            let arrivals = arrivals.clone();
            move |_: Time, _: &Heartbeat, notice: Notice| {
                if let Notice::Strobe { .. } = notice {
                    arrivals.lock().expect("nobody panics").push(Instant::now());
                }
            }
        };
        let start = |now| Heartbeat::new(config, now);
        let shell = Shell::start(setup, self.listener, start, handler)?;
        if self.me == 0 {
            let members = (0..self.addresses.len() as u32).map(NodeId).collect();
            shell.request(Request::Members { epoch: 1, members })?;
        }
        // Connections are made first.
        std::thread::sleep(Duration::from_millis(500));
        let count = || arrivals.lock().expect("nobody panics").len();
        let (first, cpu, began) = (count(), processor_times()?, Instant::now());
        ensure!(first > 0, "node {} has heard no strobe", self.me);
        let sent = bulk.as_ref().map_or(0, |bulk| bulk.sent.load(Ordering::Relaxed));
        std::thread::sleep(self.time);
        let mut heard = arrivals.lock().expect("nobody panics").split_off(first - 1);
        // Silence at the end is late as well.
        heard.push(Instant::now());
        println!("cpu {:.3}", spent(&cpu)? / (heard.len() - 2).max(1) as f64);
        if let Some(bulk) = &bulk {
            let bytes = bulk.sent.load(Ordering::Relaxed) - sent;
            println!("bulk {:.1}", bytes as f64 / 1e6 / began.elapsed().as_secs_f64());
        }
        for late in lateness(&heard) {
            println!("late {late:.1}");
        }
        if self.me == 0 {
            println!("end");
        }
        wait();
        drop(bulk);
        Ok(())
    }
}

impl Node {
    /// What the machine takes for the like of a heartbeat: one process writes to sockets of all
    /// others every period, and these do nothing but read.
    fn bare(self, wait: impl FnOnce()) -> Result<()> {
        let path = |node: u32| match &self.addresses[node as usize] {
            Address::Unix(path) => Ok(path.with_extension("bare")),
            other => bail!("{other} is no path"),
        };
        if self.me == 0 {
            let others = (1..self.addresses.len() as u32).map(|node| reach(&path(node)?));
            let mut others: Vec<UnixStream> = others.collect::<Result<_>>()?;
            let begun = Instant::now();
            while begun.elapsed() < self.time {
                others.iter_mut().try_for_each(|other| other.write_all(&[0; 30]))?;
                std::thread::sleep(PERIOD);
            }
            println!("end");
        } else {
            let (mut stream, _) = UnixListener::bind(path(self.me)?)?.accept()?;
            let (before, mut count) = (processor_times()?, 0);
            let mut bytes = [0; 30];
            while stream.read_exact(&mut bytes).is_ok() {
                count += 1;
            }
            println!("cpu {:.3}", spent(&before)? / f64::from(count.max(1)));
        }
        wait();
        Ok(())
    }
}

/// Connects to who may not listen yet.
fn reach(path: &Path) -> Result<UnixStream> {
    let deadline = soon();
    loop {
        match UnixStream::connect(path) {
            Err(_) if deadline.left().is_some() => std::thread::sleep(PERIOD),
            done => return done.with_context(|| format!("nobody listens at {}", path.display())),
        }
    }
}

/// How much longer than a period each strobe let wait for it, in microseconds.
fn lateness(arrivals: &[Instant]) -> impl Iterator<Item = f64> {
    let late = |two: &[Instant]| (two[1] - two[0]).saturating_sub(PERIOD).as_secs_f64() * 1e6;
    arrivals.windows(2).map(late)
}

/// Repeats an operation, and prints how long each took.
fn measure(name: &str, time: Duration, operation: impl Fn() -> Result<()>) -> Result<()> {
    for _ in 0..LEAST {
        operation()?;
    }
    let mut times = Vec::with_capacity(MOST);
    let start = Instant::now();
    while times.len() < LEAST || start.elapsed() < time && times.len() < MOST {
        let before = Instant::now();
        operation()?;
        times.push(before.elapsed());
    }
    let mut out = std::io::stdout().lock();
    times.iter().try_for_each(|time| writeln!(out, "{name} {:.3}", time.as_secs_f64() * 1e6))?;
    Ok(())
}

/// What this process has run since, in microseconds.
fn spent(before: &BTreeMap<OsString, u64>) -> Result<f64> {
    let now = processor_times()?;
    let spent = now.iter().map(|(thread, time)| time - before.get(thread).unwrap_or(&0));
    Ok(spent.sum::<u64>() as f64 / 1e3)
}

/// What each thread of this process has run, in nanoseconds.
fn processor_times() -> Result<BTreeMap<OsString, u64>> {
    let mut times = BTreeMap::new();
    for task in std::fs::read_dir("/proc/self/task")? {
        let task = task?;
        // It may have ended meanwhile.
        let Ok(text) = std::fs::read_to_string(task.path().join("schedstat")) else { continue };
        let time = text.split(' ').next().context("schedstat has numbers")?.parse()?;
        times.insert(task.file_name(), time);
    }
    Ok(times)
}

/// A stream of other bytes to this node's parent in a binary tree, and what comes from others, on
/// connections of the bulk lane: the links that strobes take are as full as the machine allows.
struct Bulk {
    sent: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

/// A node's links in a binary tree: the one up, and how many come from below.
struct Links {
    parent: Option<Address>,
    children: usize,
}

impl Links {
    fn of(me: usize, addresses: &[Address]) -> Links {
        let parent = me.checked_sub(1).map(|place| addresses[place / 2].clone());
        let children = (2 * me + 1..2 * me + 3).filter(|node| *node < addresses.len()).count();
        Links { parent, children }
    }
}

impl Bulk {
    fn start(mut listener: Box<dyn Listener>, links: Links) -> Bulk {
        let (sent, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let mut threads = vec![std::thread::spawn(move || {
            let mut accept = || listener.accept(soon()).ok()?.stream().ok();
            let streams = (0..links.children).filter_map(|_| accept()).collect();
            drain(streams, &stopped);
        })];
        if let Some(to) = links.parent {
            let (sent, stop) = (sent.clone(), stop.clone());
            threads.push(std::thread::spawn(move || fill(&to, &sent, &stop)));
        }
        Bulk { sent, stop, threads }
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Sends all the time.
fn fill(to: &Address, sent: &AtomicU64, stop: &AtomicBool) {
    let hello = Hello { name: "bulk".to_owned(), service: "bulk".to_owned(), lane: Lane::Bulk };
    let connect = || transport::of(to)?.connect(to, &hello, soon())?.stream();
    let Ok(mut stream) = connect() else { return };
    let bytes = vec![7; 64 * 1024];
    while !stop.load(Ordering::Relaxed) {
        match stream.try_write(&bytes) {
            Ok(size) => drop(sent.fetch_add(size as u64, Ordering::Relaxed)),
            Err(error) if error.is_would_block() => {
                let tick = Deadline::after(Duration::from_millis(100));
                let _ = stream.wait(muster_fabric::strategy::Ready::Send, tick);
            }
            Err(_) => return,
        }
    }
}

/// Takes what comes until all have ended.
fn drain(mut streams: Vec<Box<dyn muster_fabric::strategy::Stream>>, stop: &AtomicBool) {
    let mut buffer = vec![0; 256 * 1024];
    while !streams.is_empty() && !stop.load(Ordering::Relaxed) {
        let mut is_idle = true;
        streams.retain_mut(|stream| match stream.try_read(&mut buffer) {
            Ok(0) => false,
            Ok(_) => {
                is_idle = false;
                true
            }
            Err(error) => error.is_would_block(),
        });
        if is_idle && let Some(first) = streams.first_mut() {
            let tick = Deadline::after(Duration::from_millis(1));
            let _ = first.wait(muster_fabric::strategy::Ready::Receive, tick);
        }
    }
}
