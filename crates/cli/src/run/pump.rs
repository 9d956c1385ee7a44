//! Moves the ranks' output from the cluster to where it is shown, on a thread of its own.
//!
//! Every stream has one read under way. Its answer comes back as an [`Order`]; the next read is
//! sent only when the bytes were written, so a slow reader of ours slows the ranks and loses
//! nothing. When the connection breaks, streams wait for [`Order::Attach`] and go on at the
//! offsets that they had come to. The thread ends when all streams have.

use super::event::{Event, Events};
use super::show::Show;
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, Error};
use muster_ninep::tree::OpenFlags;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Bytes of reads under way, of all streams together.
const IN_FLIGHT: usize = 16 * 1024 * 1024;

/// Bytes to collect before they are written, while more is at hand.
const BATCH: usize = 256 * 1024;

/// How long the streams of a job that has ended may be silent without ending. The manager ends
/// them before it tells the job's end, so only one that hangs has us wait so long.
const SILENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 30 });

/// What the thread is told.
#[derive(Debug)]
pub enum Order {
    /// Read over this connection from now on.
    Attach(Client, u64),
    /// A stream was opened.
    Opened(usize, u64, Fid),
    /// A read was answered.
    Chunk(usize, u64, Result<Vec<u8>, Error>),
    /// The job has ended: so will the streams.
    JobEnded,
    /// No more will come: show what is there.
    Stop,
}

/// One stream.
#[derive(Debug, Default)]
struct Flow {
    offset: u64,
    fid: Option<Fid>,
    ended: bool,
    /// Whether its bytes wait to be written before the next read.
    owed: bool,
}

struct Pump {
    show: Show,
    flows: Vec<Flow>,
    job: u64,
    orders: Receiver<Order>,
    back: Sender<Order>,
    events: Events,
    generation: u64,
    client: Option<Client>,
    left: usize,
    /// Streams that ended in an error.
    torn: usize,
    count: u32,
    job_ended: bool,
    stopped: bool,
    /// Streams that owe a read.
    owed: Vec<usize>,
}

/// Starts the thread for a job with so many ranks.
pub fn start(show: Show, job: u64, ranks: usize, events: Events) -> Sender<Order> {
    let (back, orders) = channel();
    let count = (IN_FLIGHT / (2 * ranks.max(1))).clamp(4 * 1024, 256 * 1024) as u32;
    let mut pump = Pump {
        show,
        flows: (0..ranks * 2).map(|_| Flow::default()).collect(),
        job,
        orders,
        back: back.clone(),
        events,
        generation: 0,
        client: None,
        left: ranks * 2,
        torn: 0,
        count,
        job_ended: false,
        stopped: false,
        owed: Vec::new(),
    };
    std::thread::spawn(move || pump.run());
    back
}

impl Pump {
    fn run(&mut self) {
        let mut last = Instant::now();
        while self.left > 0 && !self.stopped {
            let now = Instant::now();
            let silent = (self.job_ended && self.client.is_some()).then_some(last + SILENCE);
            let due = [self.show.due(), silent].into_iter().flatten().min();
            let wait = due.map_or(Duration::from_secs(3600), |due| due.duration_since(now));
            match self.orders.recv_timeout(wait) {
                Ok(order) => {
                    self.obey(order);
                    last = Instant::now();
                }
                Err(RecvTimeoutError::Timeout) => {
                    if silent.is_some_and(|at| at <= Instant::now()) {
                        break;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender ourselves"),
            }
            while self.show.pending() < BATCH {
                let Ok(order) = self.orders.try_recv() else { break };
                self.obey(order);
            }
            self.show.tick(Instant::now());
            self.flush();
            for tap in std::mem::take(&mut self.owed) {
                self.flows[tap].owed = false;
                self.read(tap);
            }
        }
        for tap in 0..self.flows.len() {
            if !self.flows[tap].ended {
                self.show.end(tap);
            }
        }
        self.show.finish();
        self.flush();
        self.events.tell(Event::Output { kept: self.show.kept(), cut: self.left + self.torn });
    }

    fn flush(&mut self) {
        if let Err(failed) = self.show.flush() {
            self.events.tell(Event::Unwritable(failed));
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Attach(client, generation) => self.attach(client, generation),
            Order::Opened(tap, generation, fid) if generation == self.generation => {
                self.flows[tap].fid = Some(fid);
                self.read(tap);
            }
            Order::Chunk(tap, generation, answer) if generation == self.generation => {
                self.chunk(tap, answer);
            }
            // From a connection that is gone.
            Order::Opened(..) | Order::Chunk(..) => {}
            Order::JobEnded => self.job_ended = true,
            Order::Stop => self.stopped = true,
        }
    }

    fn attach(&mut self, client: Client, generation: u64) {
        self.generation = generation;
        for tap in 0..self.flows.len() {
            self.flows[tap].fid = None;
            if !self.flows[tap].ended {
                self.open(&client, tap);
            }
        }
        self.client = Some(client);
    }

    fn open(&self, client: &Client, tap: usize) {
        let (job, rank) = (self.job.to_string(), (tap / 2).to_string());
        let stream = if tap.is_multiple_of(2) { "stdout" } else { "stderr" };
        let path = ["jobs", job.as_str(), "ranks", rank.as_str(), stream].map(str::as_bytes);
        let (generation, back) = (self.generation, self.back.clone());
        // Told only while the pump listens; afterwards nobody wants to know.
        let fail = move |back: &Sender<Order>, error| {
            let _ = back.send(Order::Chunk(tap, generation, Err(error)));
        };
        client.root().walk_then(&path, move |walked| match walked {
            Ok((_, Some(fid))) => {
                let opened = fid.clone();
                fid.open_then(OpenFlags::default(), move |answer| match answer {
                    Ok(_) => drop(back.send(Order::Opened(tap, generation, opened))),
                    Err(error) => fail(&back, error),
                });
            }
            Ok((_, None)) => fail(&back, Error::from(Errno::NOENT)),
            Err(error) => fail(&back, error),
        });
    }

    fn read(&self, tap: usize) {
        let flow = &self.flows[tap];
        let (Some(fid), false) = (&flow.fid, flow.ended || flow.owed) else { return };
        let (generation, back) = (self.generation, self.back.clone());
        fid.read_then(flow.offset, self.count, move |answer| {
            let answer = answer.map(<[u8]>::to_vec);
            let _ = back.send(Order::Chunk(tap, generation, answer));
        });
    }

    fn chunk(&mut self, tap: usize, answer: Result<Vec<u8>, Error>) {
        match answer {
            Ok(bytes) if bytes.is_empty() => self.end(tap),
            Ok(bytes) => {
                self.flows[tap].offset += bytes.len() as u64;
                self.show.data(tap, &bytes, Instant::now());
                self.flows[tap].owed = true;
                self.owed.push(tap);
            }
            // The connection broke: somebody is at work to get another.
            Err(_) if self.client.as_ref().is_none_or(|client| client.ended().is_some()) => {
                self.flows[tap].fid = None;
            }
            // The manager has lost what a rank said.
            Err(_) => {
                self.torn += 1;
                self.end(tap);
            }
        }
    }

    fn end(&mut self, tap: usize) {
        if !self.flows[tap].ended {
            self.flows[tap].ended = true;
            self.flows[tap].fid = None;
            self.left -= 1;
            self.show.end(tap);
        }
    }
}
