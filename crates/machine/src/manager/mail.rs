//! Orders that nobody waits for: signals and ends on their way to ranks, and what the nodes
//! may forget.
//!
//! One thread sends them, one after the other ([`outbox`](super::outbox)), each to those of its
//! nodes that belong to the cluster by then. What a node misses while it does not, `epochs.rs`
//! makes good when it comes back. Done jobs are forgotten some at a time.

use super::outbox::{Outbox, PATIENCE, Sending};
use super::steady;
use crate::launch::Order;
use crate::memory::Memory;
use muster_fabric::primitive::Nodes;
use muster_fabric::{Deadline, Error, Result};
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// How long a launch waits for what is done to be forgotten.
const CLEARED: Duration = Duration::from_secs(1);

/// Called when an order has arrived, or cannot: whether it has, at somebody.
type Then = Box<dyn FnOnce(bool) + Send>;

#[derive(Default)]
struct Tray {
    outbox: Outbox<Then>,
    over: bool,
}

#[derive(Default)]
struct Shared {
    tray: Mutex<Tray>,
    changed: Condvar,
}

/// The thread, seen by others. Dropping it ends the thread.
pub(super) struct Mail {
    shared: Arc<Shared>,
}

impl Mail {
    pub(super) fn start(memory: &Arc<Memory>) -> io::Result<Mail> {
        let shared = Arc::new(Shared::default());
        let (own, by) = (shared.clone(), memory.clone());
        std::thread::Builder::new().name("mail".into()).spawn(move || {
            while let Some(mut next) = own.next() {
                let has_arrived = send(&by, &mut next);
                next.then.into_iter().for_each(|then| then(has_arrived));
            }
        })?;
        Ok(Mail { shared })
    }

    /// Sends an order to those of a set that are there, then does something.
    pub(super) fn send(&self, to: Nodes, order: Order, then: impl FnOnce(bool) + Send + 'static) {
        self.shared.lock().outbox.push(to, order, Some(Box::new(then)));
        self.shared.changed.notify_one();
    }

    /// A job of so many ranks is done: its nodes are told so with others.
    pub(super) fn done(&self, job: u32, nodes: Nodes, ranks: usize) {
        self.shared.lock().outbox.done(steady(), job, nodes, ranks);
        self.shared.changed.notify_one();
    }

    /// Before another launch: what is done and takes much room is forgotten first.
    pub(super) fn clear_up(&self) {
        let (told, done) = std::sync::mpsc::channel::<()>();
        if self.shared.lock().outbox.clear_up(|| Box::new(move |_| drop(told))) {
            self.shared.changed.notify_one();
            // Told by its being dropped. If it takes long, the launch need not wait for room.
            let _ = done.recv_timeout(CLEARED);
        }
    }
}

impl Drop for Mail {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Tray> {
        self.tray.lock().expect("no holder panics")
    }

    fn next(&self) -> Option<Sending<Then>> {
        let mut tray = self.lock();
        loop {
            if tray.over {
                return None;
            }
            let now = steady();
            if let Some(next) = tray.outbox.next(now) {
                return Some(next);
            }
            tray = match tray.outbox.due() {
                Some(due) => {
                    self.changed.wait_timeout(tray, due - now).expect("no holder panics").0
                }
                None => self.changed.wait(tray).expect("no holder panics"),
            };
        }
    }
}

/// Whether it has arrived.
fn send(memory: &Memory, sending: &mut Sending<Then>) -> bool {
    loop {
        let error = match try_once(memory, sending) {
            Ok(has_arrived) => return has_arrived,
            Err(error) => error,
        };
        let is_refused = matches!(error, Error::WouldBlock | Error::NotMember { .. });
        let Some(pause) = sending.failed(steady(), is_refused) else {
            let (said, size) = (format!("{:?}", sending.order), sending.order.letter().len());
            let kind = said.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            let text = format!("an order ({kind}, {size} bytes) is given up: {error}");
            let _ = writeln!(io::stderr(), "{text}");
            return false;
        };
        std::thread::sleep(pause);
    }
}

/// False where nobody is there, or this manager ends.
fn try_once(memory: &Memory, sending: &Sending<Then>) -> Result<bool> {
    let there = memory.members_of(&sending.to);
    if there.is_empty() {
        return Ok(false);
    }
    let sent = memory.send(&there, sending.order.letter());
    match sent.and_then(|transfer| transfer.wait(Deadline::after(PATIENCE))) {
        Err(Error::Closed { .. }) => Ok(false),
        done => done.map(|()| true),
    }
}
