//! The heartbeat of a member as programs use it: a stream of what the core tells, for as many as
//! want to follow it, and what the master asks.
//!
//! What the core tells is kept in a log, the same for all who follow it, each at a place of its
//! own. The log is as long as what nodes keep for each other; who falls behind further than that is
//! told so in the words of a node that has missed strobes ([`Notice::Resync`]).

use super::member::Member;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::heartbeat::{Behind, Heartbeat, Notice, Request};
use crate::protocol::{NodeId, Time};
use muster_base::limits::{HISTORY_BYTES_MAX, HISTORY_MAX};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// What a node knows of the heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// The last strobe that it has; 0 before the first.
    pub seen: u64,
    /// From strobe to strobe.
    pub period: Duration,
    /// Who hears them, in the order of the tree.
    pub members: Vec<NodeId>,
}

/// One who follows the heartbeat, from the oldest that is kept on.
pub struct Beats {
    log: Arc<Log>,
    place: u64,
    /// The last strobe that was taken.
    seen: u64,
}

/// What the core has told.
pub struct Log {
    me: NodeId,
    master: NodeId,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
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

fn refused(why: String) -> Error {
    Error::Refused { peer: "the heartbeat".to_owned(), why }
}

/// The error of who asks a member for a heartbeat that has none.
fn none() -> Error {
    refused("this member was started without".to_owned())
}

impl Member {
    /// At the master: gives events to the next strobe, wants that one early, or another period.
    /// What is asked for at once leaves with one strobe, as far as it has room.
    ///
    /// # Errors
    /// [`Error::Refused`] where it cannot be, also at a member that is not the master, or has no
    /// heartbeat; those of [`Shell::look`](crate::shell::Shell::look).
    pub fn strobe(&self, requests: Vec<Request>, deadline: Deadline) -> Result<()> {
        if requests.iter().any(|request| matches!(request, Request::Members { .. })) {
            return Err(refused("its members are the global memory's".to_owned()));
        }
        self.heartbeat(deadline, move |now, core| {
            // An early strobe leaves when it is asked for.
            let (early, others): (Vec<_>, Vec<_>) =
                requests.iter().partition(|request| **request == Request::Early);
            let mut all = others.into_iter().chain(early);
            all.try_for_each(|request| core.command(now, request))
        })?
        .map_err(refused)
    }

    /// At the master: who is late or lost.
    ///
    /// # Errors
    /// As [`Member::strobe`].
    pub fn late(&self, deadline: Deadline) -> Result<Vec<Behind>> {
        let Log { me, master, .. } = **self.log().ok_or_else(none)?;
        if me != master {
            return Err(refused(format!("{master} knows who is late, not {me}")));
        }
        self.heartbeat(deadline, |_, core| core.late().collect())
    }

    /// The heartbeat, as far as this node knows.
    ///
    /// # Errors
    /// [`Error::Refused`] where this member has none; those of
    /// [`Shell::look`](crate::shell::Shell::look).
    pub fn pulse(&self, deadline: Deadline) -> Result<Pulse> {
        self.heartbeat(deadline, |_, core| Pulse {
            seen: core.seen(),
            period: core.period(),
            members: core.members().to_vec(),
        })
    }

    /// Follows all that this node sees of the heartbeat: strobes, micro-heartbeats, and at the
    /// master who is late. None where this member has no heartbeat.
    ///
    /// ```
    /// # use muster_fabric::{Address, Deadline, global::{Begin, Member, incarnation}};
    /// # use muster_fabric::heartbeat::{self, Event, Notice, Request, USER};
    /// # use muster_fabric::primitive::{Config, Nodes};
    /// # use muster_fabric::{protocol::NodeId, shell::{Setup, Transports}, transport};
    /// # use std::time::Duration;
    /// # fn main() -> muster_fabric::Result<()> {
    /// # let nodes = [NodeId(0), NodeId(1)];
    /// # let any: Address = "tcp!127.0.0.1!0".parse()?;
    /// # let listeners = [transport::of(&any)?.listen(&any)?, transport::of(&any)?.listen(&any)?];
    /// # let addresses = listeners.iter().map(|listener| listener.address().clone());
    /// # let setup = Setup {
    /// #     me: NodeId(0),
    /// #     service: "example".to_owned(),
    /// #     addresses: nodes.into_iter().zip(addresses).collect(),
    /// #     transports: Transports::default(),
    /// #     patience: Duration::ZERO,
    /// #     group: None,
    /// # };
    /// # let all: Nodes = nodes.into_iter().collect();
    /// let master = NodeId(0);
    /// let members = nodes.into_iter().zip(listeners).map(|(me, listener)| {
    ///     let config = Config::new(me, incarnation());
    ///     let beat = heartbeat::Config::new(me, master, incarnation());
    ///     let (setup, begin) = (Setup { me, ..setup.clone() }, Begin::With(all.clone()));
    ///     Member::start_over(setup, listener, config, begin, Vec::new(), Some(beat))
    /// });
    /// let members = members.collect::<muster_fabric::Result<Vec<Member>>>()?;
    ///
    /// // A node that begins hears what comes from then on.
    /// let soon = Deadline::after(Duration::from_secs(30));
    /// let mut beats = members[1].beats().expect("it has a heartbeat");
    /// beats.next(soon)?;
    ///
    /// // All hear the same strobes in the same order, each with its events.
    /// let event = Request::Event(Event::new(USER, b"run".to_vec()));
    /// members[0].strobe(vec![event, Request::Early], soon)?;
    /// let said = loop {
    ///     let Notice::Strobe { events, .. } = beats.next(soon)? else { continue };
    ///     if let Some(event) = events.iter().find(|event| event.kind == USER) {
    ///         break event.bytes.to_vec();
    ///     }
    /// };
    /// assert_eq!(said, b"run");
    /// # Ok(())
    /// # }
    /// ```
    pub fn beats(&self) -> Option<Beats> {
        let log = self.log()?.clone();
        let place = log.lock().first;
        Some(Beats { log, place, seen: 0 })
    }

    /// Has something done with the heartbeat's core.
    fn heartbeat<R: Send + 'static>(
        &self,
        deadline: Deadline,
        look: impl FnOnce(Time, &mut Heartbeat) -> R + Send + 'static,
    ) -> Result<R> {
        self.look(deadline, |now, cores| cores.heartbeat.as_mut().map(|core| look(now, core)))?
            .ok_or_else(none)
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
                let what = format!("to strobe after strobe {}", self.seen);
                return Err(deadline.missed(self.log.me, self.log.master, what));
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
    /// Nothing was told yet.
    pub fn new(me: NodeId, master: NodeId) -> Log {
        Log { me, master, state: Mutex::default(), changed: Condvar::new() }
    }

    /// The core has told something.
    pub fn push(&self, notice: Notice) {
        self.lock().push(notice);
        self.changed.notify_all();
    }

    /// Nothing will be told any more.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with it")
    }
}
