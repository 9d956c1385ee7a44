//! The heartbeat as programs use it: a stream of what the core tells, for as many as want to
//! follow it, and what the master asks.
//!
//! What the core tells is kept in a log, the same for all who follow it, each at a place of its
//! own. The log is as long as what nodes keep for each other; who falls behind further than that is
//! told so in the words of a node that has missed strobes ([`Notice::Resync`]).

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::heartbeat::{Behind, Config, Heartbeat as Core, Notice, Request};
use crate::protocol::{NodeId, Time};
use crate::shell::{Handler, Setup, Shell};
use crate::transport::Listener;
use muster_base::limits::{HISTORY_BYTES_MAX, HISTORY_MAX};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// A node's part of the heartbeat.
///
/// ```
/// # use muster_fabric::{Address, Deadline, global::{Heartbeat, incarnation}, protocol::NodeId};
/// # use muster_fabric::heartbeat::{Config, Event, Notice, Request, USER};
/// # use muster_fabric::{shell::Setup, transport};
/// # use std::time::Duration;
/// # fn main() -> muster_fabric::Result<()> {
/// let (master, node) = (NodeId(0), NodeId(1));
/// let any: Address = "tcp!127.0.0.1!0".parse()?;
/// let [first, second] = [transport::of(&any)?.listen(&any)?, transport::of(&any)?.listen(&any)?];
/// let addresses = [(master, first.address().clone()), (node, second.address().clone())];
/// let setup = Setup {
///     me: master,
///     service: "example".to_owned(),
///     addresses: addresses.into_iter().collect(),
///     transports: transport::of,
///     patience: Duration::ZERO,
///     group: None,
/// };
/// let config = Config { micro: 4, ..Config::new(master, master, incarnation()) };
/// let other = Heartbeat::start(
///     Setup { me: node, ..setup.clone() },
///     second,
///     Config { me: node, ..config.clone() },
/// )?;
/// let heartbeat = Heartbeat::start(setup, first, config)?;
///
/// let soon = Deadline::after(Duration::from_secs(30));
/// heartbeat.ask(Request::Members { epoch: 1, members: vec![master, node] }, soon)?;
/// // A node that begins hears what comes from then on.
/// let mut beats = other.beats();
/// beats.next(soon)?;
///
/// heartbeat.ask(Request::Event(Event::new(USER, b"run".to_vec())), soon)?;
/// heartbeat.ask(Request::Early, soon)?;
///
/// // The same at all nodes: events come with a strobe that has a number.
/// let (number, said) = loop {
///     let Notice::Strobe { sequence, events, .. } = beats.next(soon)? else { continue };
///     if let Some(event) = events.iter().find(|event| event.kind == USER) {
///         break (sequence, event.bytes.to_vec());
///     }
/// };
/// assert_eq!(said, b"run");
/// // And each node divides the period by itself.
/// while !matches!(beats.next(soon)?, Notice::Micro { sequence, .. } if sequence >= number) {}
/// # Ok(())
/// # }
/// ```
pub struct Heartbeat {
    shell: Shell<Core>,
    log: Arc<Log>,
}

/// One who follows the heartbeat, from the oldest that is kept on.
pub struct Beats {
    log: Arc<Log>,
    place: u64,
    /// The last strobe that was taken.
    seen: u64,
}

/// What the core has told.
struct Log {
    me: NodeId,
    master: NodeId,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    notices: VecDeque<Notice>,
    /// The place of the first of them; places only grow.
    first: u64,
    /// Bytes of their events.
    bytes: usize,
    /// The last strobe that was dropped.
    dropped: u64,
    is_ended: bool,
}

/// Writes the log. When it is dropped, the shell has ended.
struct Scribe(Arc<Log>);

fn refused(why: String) -> Error {
    Error::Refused { peer: "the heartbeat".to_owned(), why }
}

impl Heartbeat {
    /// Starts a node; the master strobes at once.
    ///
    /// # Errors
    /// [`Error::Refused`] where the configuration is out of range; those of [`Shell::start`].
    pub fn start(setup: Setup, listener: Box<dyn Listener>, config: Config) -> Result<Heartbeat> {
        config.check().map_err(refused)?;
        let Config { me, master, .. } = config;
        if setup.me != me {
            return Err(refused(format!("{me} cannot run as {}", setup.me)));
        }
        let state =
            State { notices: VecDeque::new(), first: 0, bytes: 0, dropped: 0, is_ended: false };
        let log = Arc::new(Log { me, master, state: Mutex::new(state), changed: Condvar::new() });
        let scribe = Scribe(log.clone());
        let shell = Shell::start(setup, listener, |now| Core::new(config, now), scribe)?;
        Ok(Heartbeat { shell, log })
    }

    /// At the master: names members, gives an event to the next strobe, wants that one early, or
    /// another period.
    ///
    /// # Errors
    /// [`Error::Refused`] where it cannot be, also at a node that is not the master; those of
    /// [`Shell::look`].
    pub fn ask(&self, request: Request, deadline: Deadline) -> Result<()> {
        let asked = self.shell.look(deadline, move |now, core| core.command(now, &request))?;
        asked.map_err(refused)
    }

    /// At the master: who is late or lost.
    ///
    /// # Errors
    /// [`Error::Refused`] where this node is not the master; those of [`Shell::look`].
    pub fn late(&self, deadline: Deadline) -> Result<Vec<Behind>> {
        let Log { me, master, .. } = *self.log;
        if me != master {
            return Err(refused(format!("{master} knows who is late, not {me}")));
        }
        self.shell.look(deadline, |_, core| core.late().collect())
    }

    /// Who takes part, as far as this node knows.
    ///
    /// # Errors
    /// As [`Shell::look`].
    pub fn members(&self, deadline: Deadline) -> Result<Vec<NodeId>> {
        self.shell.look(deadline, |_, core| core.members().to_vec())
    }

    /// Follows all that this node sees of it: strobes, micro-heartbeats, and at the master who is
    /// late.
    pub fn beats(&self) -> Beats {
        let place = self.log.lock().first;
        Beats { log: self.log.clone(), place, seen: 0 }
    }
}

impl Beats {
    /// Waits for the next that is told.
    ///
    /// # Errors
    /// [`Error::Deadline`]; [`Error::Closed`] when the heartbeat has ended here.
    pub fn next(&mut self, deadline: Deadline) -> Result<Notice> {
        let mut state = self.log.lock();
        loop {
            if let Some(notice) = state.take(&mut self.place, self.seen) {
                if let Notice::Strobe { sequence, .. } | Notice::Resync { sequence, .. } = notice {
                    self.seen = sequence;
                }
                return Ok(notice);
            }
            if state.is_ended {
                return Err(Error::Closed { peer: "the heartbeat".to_owned() });
            }
            let Some(left) = deadline.left() else {
                return Err(Error::Deadline {
                    who: self.log.me.to_string(),
                    whom: self.log.master.to_string(),
                    what: format!("to strobe after strobe {}", self.seen),
                    waited: deadline.waited(),
                });
            };
            let waited = self.log.changed.wait_timeout(state, left);
            state = waited.expect("nobody panics with it").0;
        }
    }
}

impl State {
    /// What is at a place, for one who has seen a strobe.
    fn take(&self, place: &mut u64, seen: u64) -> Option<Notice> {
        if *place < self.first {
            *place = self.first;
            if seen < self.dropped {
                return Some(Notice::Resync { seen, sequence: self.dropped });
            }
        }
        let notice = self.notices.get(usize::try_from(*place - self.first).ok()?)?;
        *place += 1;
        Some(notice.clone())
    }

    fn push(&mut self, notice: Notice) {
        self.bytes += size(&notice);
        self.notices.push_back(notice);
        while self.notices.len() > HISTORY_MAX || self.bytes > HISTORY_BYTES_MAX {
            let oldest = self.notices.pop_front().expect("it is not empty");
            self.first += 1;
            self.bytes -= size(&oldest);
            if let Notice::Strobe { sequence, .. } | Notice::Resync { sequence, .. } = oldest {
                self.dropped = sequence;
            }
        }
    }
}

/// Bytes of a notice's events.
fn size(notice: &Notice) -> usize {
    match notice {
        Notice::Strobe { events, .. } => events.iter().map(|event| event.bytes.len()).sum(),
        _ => 0,
    }
}

impl Log {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }
}

impl Handler<Core> for Scribe {
    fn notice(&mut self, _: Time, _: &Core, notice: Notice) {
        self.0.lock().push(notice);
        self.0.changed.notify_all();
    }
}

impl Drop for Scribe {
    fn drop(&mut self) {
        self.0.lock().is_ended = true;
        self.0.changed.notify_all();
    }
}
