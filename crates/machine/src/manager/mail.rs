//! Orders that nobody waits for: signals and ends on their way to ranks, and what the nodes
//! may forget.
//!
//! One thread sends them, one after the other, each to those of its nodes that belong to the
//! cluster by then. What a node misses while it does not, `epochs.rs` makes good when it comes
//! back. Done jobs are forgotten some at a time.

use crate::launch::Order;
use crate::memory::Memory;
use muster_fabric::primitive::Nodes;
use muster_fabric::{Deadline, Error, Result};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long nodes may keep what is left of jobs that are done.
const FORGET: Duration = Duration::from_millis(100);

/// Ranks whose sessions are too many to wait for that when others are launched.
const MANY: usize = 256;

/// How long a launch waits for these to be forgotten.
const CLEARED: Duration = Duration::from_secs(1);

/// How long an order may take to arrive before it is sent once more.
const PATIENCE: Duration = Duration::from_secs(5);

/// The pause before an order is sent once more.
const PAUSE: Duration = Duration::from_millis(20);

/// How often an order is sent at most: somebody leaves each time.
const TRIES: u32 = 20;

/// Called when an order has arrived, or cannot.
type Then = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Tray {
    orders: VecDeque<(Nodes, Order, Then)>,
    /// Done jobs, and the nodes that are to forget them.
    done: Vec<(u32, Nodes)>,
    /// Ranks of these.
    ranks: usize,
    /// When the nodes are told what is done.
    due: Option<Instant>,
    over: bool,
}

impl Tray {
    /// The order to forget what is done.
    fn take_done(&mut self) -> Option<(Nodes, Order)> {
        (self.due, self.ranks) = (None, 0);
        let done = std::mem::take(&mut self.done);
        let to: Nodes = done.iter().flat_map(|(_, nodes)| nodes.iter()).collect();
        let jobs = done.into_iter().map(|(job, _)| job).collect();
        (!to.is_empty()).then_some((to, Order::Forget { jobs }))
    }
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
            while let Some((to, order, then)) = own.next() {
                send(&by, to, &order);
                then();
            }
        })?;
        Ok(Mail { shared })
    }

    /// Sends an order to those of a set that are there, then does something.
    pub(super) fn send(&self, to: Nodes, order: Order, then: impl FnOnce() + Send + 'static) {
        self.shared.lock().orders.push_back((to, order, Box::new(then)));
        self.shared.changed.notify_one();
    }

    /// A job of so many ranks is done: its nodes are told so with others.
    pub(super) fn done(&self, job: u32, nodes: Nodes, ranks: usize) {
        let mut tray = self.shared.lock();
        tray.done.push((job, nodes));
        tray.ranks += ranks;
        tray.due.get_or_insert_with(|| Instant::now() + FORGET);
        self.shared.changed.notify_one();
    }

    /// Before another launch: what is done and takes much room is forgotten first.
    pub(super) fn clear_up(&self) {
        let ready = {
            let mut tray = self.shared.lock();
            if tray.ranks < MANY { None } else { tray.take_done() }
        };
        if let Some((to, order)) = ready {
            let (told, done) = std::sync::mpsc::channel::<()>();
            self.send(to, order, move || drop(told));
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

    fn next(&self) -> Option<(Nodes, Order, Then)> {
        let mut tray = self.lock();
        loop {
            if tray.over {
                return None;
            }
            if let Some(next) = tray.orders.pop_front() {
                return Some(next);
            }
            let left = tray.due.map(|due| due.saturating_duration_since(Instant::now()));
            tray = match left {
                Some(Duration::ZERO) => match tray.take_done() {
                    Some((to, order)) => return Some((to, order, Box::new(|| ()))),
                    None => tray,
                },
                Some(left) => self.changed.wait_timeout(tray, left).expect("no holder panics").0,
                None => self.changed.wait(tray).expect("no holder panics"),
            };
        }
    }
}

fn send(memory: &Memory, to: Nodes, order: &Order) {
    let arrived = insist(PAUSE, || {
        let there = memory.members_of(&to);
        if there.is_empty() {
            return Ok(());
        }
        let sent = memory.send(&there, order.letter());
        match sent.and_then(|transfer| transfer.wait(Deadline::after(PATIENCE))) {
            Err(Error::Closed { .. }) => Ok(()),
            done => done,
        }
    });
    if let Err(last) = arrived {
        let (said, size) = (format!("{order:?}"), order.letter().len());
        let kind = said.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let _ = writeln!(io::stderr(), "an order ({kind}, {size} bytes) is given up: {last}");
    }
}

/// Does something until it succeeds. Somebody has just left each time that it fails. But what is
/// refused since too much is under way (one node that stands still holds up all of it until its
/// lease ends), or since the manager itself may not speak for a moment, is told at once, and does
/// not count: it is done again for as long as tries that nobody answers may take.
fn insist(pause: Duration, mut once: impl FnMut() -> Result<()>) -> Result<()> {
    let (mut failed, until) = (0, Instant::now() + PATIENCE * TRIES);
    loop {
        let Err(error) = once() else { return Ok(()) };
        let is_refused = matches!(error, Error::WouldBlock | Error::NotMember { .. });
        failed += u32::from(!is_refused);
        if failed == TRIES || Instant::now() > until {
            return Err(error);
        }
        std::thread::sleep(pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_not_given_up_because_much_is_under_way() {
        let silent = || Error::NotMember { node: String::new(), why: String::new() };
        for refused in [|| Error::WouldBlock, silent] {
            let mut tries = 0;
            let done = insist(Duration::ZERO, || {
                tries += 1;
                if tries > 10 * TRIES { Ok(()) } else { Err(refused()) }
            });
            assert!(done.is_ok(), "after {tries}: {done:?}");
        }
        let (mut tries, died) = (0, String::new);
        let done = insist(Duration::ZERO, || {
            tries += 1;
            Err(Error::Dead { peer: died(), evidence: died() })
        });
        assert!(matches!(done, Err(Error::Dead { .. })) && tries == TRIES, "{tries}");
    }
}
