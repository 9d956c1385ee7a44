//! Moves the ranks' output from the cluster to where it is shown, on a thread of its own.
//!
//! All of it is one row of records (`jobs/J/take`, or `output` where what is not shown is to stay),
//! of which one read is under way. Its answer comes back as an [`Order`]; the next read is sent
//! only when the bytes were written, so a slow reader of ours loses nothing. When the connection
//! breaks, the pump waits for [`Order::Attach`] and goes on at the offset that it had come to. The
//! thread ends when all streams have.

use super::event::{Event, Events};
use super::show::{Show, Unwritable};
use muster_machine::output::{AGAIN, Head, Records};
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, Error};
use muster_ninep::tree::OpenFlags;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Bytes that one read asks for.
const COUNT: u32 = 256 * 1024;

/// Bytes to collect before they are written, while more is at hand.
const BATCH: usize = 256 * 1024;

/// How long the output of a job that has ended may be silent without ending. The manager ends it
/// before it tells the job's end, so only one that hangs has us wait so long.
pub const SILENCE: Duration = Duration::from_secs(if cfg!(test) { 3 } else { 30 });

/// What the thread is told.
#[derive(Debug)]
pub enum Order {
    /// Read over this connection from now on.
    Attach(Client, u64),
    /// The output was opened.
    Opened(u64, Fid),
    /// A read was answered.
    Chunk(u64, Result<Vec<u8>, Error>),
    /// The job has ended: so will its output.
    JobEnded,
    /// No more will come: show what is there.
    Stop,
}

struct Pump {
    show: Show,
    /// By rank, stdout and then stderr: whether it has ended.
    ended: Vec<bool>,
    records: Records,
    offset: u64,
    fid: Option<Fid>,
    orders: Receiver<Order>,
    back: Sender<Order>,
    events: Events,
    generation: u64,
    client: Option<Client>,
    /// Streams that have not ended.
    left: usize,
    job_ended: bool,
    stopped: bool,
    /// What was read is to be written before the next read.
    owed: bool,
}

/// Starts the thread for a job with so many ranks. It makes what they are shown by: to open a file
/// may take as long as to write to it.
pub fn start(
    show: impl FnOnce() -> Result<Show, Unwritable> + Send + 'static,
    ranks: usize,
    events: Events,
) -> Sender<Order> {
    let (back, orders) = channel();
    let own = back.clone();
    super::spawn(move || match show() {
        Ok(show) => pump(show, ranks, (own, orders), events).run(),
        Err(failed) => {
            events.tell(Event::Unwritable(failed));
            events.tell(Event::Output { kept: Vec::new(), cut: 0 });
        }
    });
    back
}

fn pump(
    show: Show,
    ranks: usize,
    (back, orders): (Sender<Order>, Receiver<Order>),
    events: Events,
) -> Pump {
    Pump {
        show,
        ended: vec![false; ranks * 2],
        records: Records::default(),
        offset: 0,
        fid: None,
        orders,
        back,
        events,
        generation: 0,
        client: None,
        left: ranks * 2,
        job_ended: false,
        stopped: false,
        owed: false,
    }
}

/// Has the pump read this file of the job, over this connection from now on. It is opened by who
/// calls: the pump may be waiting for whoever reads what it shows, and ranks are to wait for that
/// meanwhile, also at a new manager.
pub fn attach(pump: &Sender<Order>, (job, file): (u64, &str), client: &Client, generation: u64) {
    // It is there until all output is; after that nobody has to know.
    let _ = pump.send(Order::Attach(client.clone(), generation));
    let job = job.to_string();
    let path = ["jobs", job.as_str(), file].map(str::as_bytes);
    let back = pump.clone();
    client.root().walk_open_then(&path, OpenFlags::default(), move |opened| {
        let order = match opened {
            Ok((_, Some(fid))) => Order::Opened(generation, fid),
            Ok((_, None)) => Order::Chunk(generation, Err(Errno::NOENT.into())),
            Err(error) => Order::Chunk(generation, Err(error)),
        };
        let _ = back.send(order);
    });
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
            if std::mem::take(&mut self.owed) {
                self.read();
                // While who reads what we show has paused, nobody asked the manager for anything.
                last = Instant::now();
            }
        }
        for tap in 0..self.ended.len() {
            if !self.ended[tap] {
                self.show.end(tap);
            }
        }
        self.show.finish();
        self.flush();
        self.events.tell(Event::Output { kept: self.show.kept(), cut: self.left });
    }

    fn flush(&mut self) {
        if let Err(failed) = self.show.flush() {
            self.events.tell(Event::Unwritable(failed));
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Attach(client, generation) => {
                (self.generation, self.fid, self.owed) = (generation, None, false);
                self.client = Some(client);
            }
            Order::Opened(generation, fid) if generation == self.generation => {
                self.fid = Some(fid);
                self.read();
            }
            Order::Chunk(generation, answer) if generation == self.generation => {
                self.chunk(answer);
            }
            // From a connection that is gone.
            Order::Opened(..) | Order::Chunk(..) => {}
            Order::JobEnded => self.job_ended = true,
            Order::Stop => self.stopped = true,
        }
    }

    fn read(&self) {
        let Some(fid) = &self.fid else { return };
        let (generation, back) = (self.generation, self.back.clone());
        fid.read_then(self.offset, COUNT, move |answer| {
            let answer = answer.map(<[u8]>::to_vec);
            let _ = back.send(Order::Chunk(generation, answer));
        });
    }

    fn chunk(&mut self, answer: Result<Vec<u8>, Error>) {
        match answer {
            Ok(bytes) if !bytes.is_empty() && self.take(&bytes) => {
                self.offset += bytes.len() as u64;
                self.owed = true;
            }
            // The connection broke: somebody is at work to get another.
            Err(_) if self.client.as_ref().is_none_or(|client| client.ended().is_some()) => {
                self.fid = None;
            }
            // The manager has no more, or has lost it.
            Ok(_) | Err(_) => self.stopped = true,
        }
    }

    /// Shows what was read; false if it is no output.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let (show, ended, left) = (&mut self.show, &mut self.ended, &mut self.left);
        let (now, events) = (Instant::now(), &self.events);
        let each = &mut |head: Head, bytes: &[u8]| {
            if head.rank == AGAIN {
                show.cut();
                if let Err(failed) = show.flush() {
                    events.tell(Event::Unwritable(failed));
                }
                return events.tell(Event::Note(String::from_utf8_lossy(bytes).into_owned()));
            }
            let tap = head.rank * 2 + head.output as usize;
            match ended.get_mut(tap) {
                Some(false) if !bytes.is_empty() => show.data(tap, bytes, now),
                Some(over @ false) => {
                    *over = true;
                    *left -= 1;
                    show.end(tap);
                }
                _ => {}
            }
        };
        self.records.push(bytes, each).is_ok()
    }
}
