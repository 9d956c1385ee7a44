//! Global memory as programs use it: the three primitives, over real connections.
//!
//! A [`Member`] runs the primitives' core ([`crate::primitive`]) in a shell. Regions and events
//! are here, where any thread may look at them: what a transfer carries is in the region before its
//! event is signalled, and a transfer is signalled here in the order of all operations.
//!
//! When a member ends, and when the master says that it is none any more, its operations end with
//! an error: done at all nodes or at none, but nobody here knows which.

#[cfg(test)]
mod tests;

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::primitive::{Config, Core, Nodes, Notice, Outcome, Refusal, Relation, Request};
use crate::protocol::{Payload, Time};
use crate::region::{Region, Rights};
use crate::shell::{Events, Handler, Setup, Shell};
use crate::transport::Listener;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};

/// How an operation ended.
type Ending = std::result::Result<Outcome, Refusal>;

/// A node's part of global memory, and its way to the others'.
pub struct Member {
    shell: Shell<Core>,
    shared: Arc<Shared>,
    tickets: AtomicU64,
}

/// What the shell's thread and the users share.
struct Shared {
    events: Events,
    regions: Vec<Region>,
    open: Mutex<HashMap<u64, Open>>,
}

/// An operation that has not ended.
struct Open {
    tell: SyncSender<Ending>,
    local: Option<u32>,
}

/// A transfer under way. It goes on whether this is kept or not.
#[derive(Debug)]
pub struct Transfer {
    told: Receiver<Ending>,
}

/// Takes the core's notices. When it is dropped, the shell has ended.
struct Desk(Arc<Shared>);

impl Member {
    /// Starts a member. Without `members` it asks the master to be taken in.
    ///
    /// # Errors
    /// As [`Shell::start`].
    pub fn start(
        setup: Setup,
        listener: Box<dyn Listener>,
        config: Config,
        members: Option<Nodes>,
    ) -> Result<Member> {
        let size = |size: &u64| usize::try_from(*size).expect("a region fits into memory");
        let regions = config.regions.iter().map(|s| Region::new(size(s), Rights::ALL)).collect();
        let events = Events::new(config.events as usize);
        let shared = Arc::new(Shared { events, regions, open: Mutex::default() });
        let core = |now| match members {
            Some(members) => Core::member(config, members, now),
            None => Core::outside(config, now),
        };
        let shell = Shell::start(setup, listener, core, Desk(shared.clone()))?;
        Ok(Member { shell, shared, tickets: AtomicU64::new(0) })
    }

    /// XFER-AND-SIGNAL: puts data into a region at all nodes of a set or at none, then signals an
    /// event there, and one here. It does not wait.
    ///
    /// # Errors
    /// As [`Shell::request`].
    pub fn xfer_and_signal(
        &self,
        set: &Nodes,
        (region, offset): (u32, u64),
        data: impl Into<Payload>,
        remote: Option<u32>,
        local: Option<u32>,
    ) -> Result<Transfer> {
        let (set, body) = (set.clone(), data.into());
        let told = self.submit(local, |ticket| Request::Transfer {
            ticket,
            set,
            region,
            offset,
            body,
            remote,
            local,
        })?;
        Ok(Transfer { told })
    }

    /// TEST-EVENT, not waiting: how often an event was signalled here.
    pub fn test_event(&self, event: u32) -> u64 {
        self.shared.events.count(event)
    }

    /// TEST-EVENT, waiting until an event was signalled here more often than so many times.
    ///
    /// # Errors
    /// [`Error::Deadline`]; [`Error::Closed`] when the member has ended.
    pub fn wait_event(&self, event: u32, more_than: u64, deadline: Deadline) -> Result<u64> {
        self.shared.events.wait(event, more_than, deadline)
    }

    /// COMPARE-AND-WRITE: whether the comparison holds at all nodes of a set; if so, `write` says
    /// which variable gets which value there.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] when too much is under way; [`Error::Deadline`]: the operation goes
    /// on; [`Error::Dead`] when a node of the set is no member; [`Error::Refused`].
    pub fn compare_and_write(
        &self,
        set: &Nodes,
        (variable, relation, value): (u32, Relation, u64),
        write: Option<(u32, u64)>,
        deadline: Deadline,
    ) -> Result<bool> {
        let set = set.clone();
        let told = self.submit(None, |ticket| Request::Compare {
            ticket,
            set,
            variable,
            relation,
            value,
            write,
        })?;
        ending(&told, deadline)
    }

    /// Sets this node's own instance of a variable.
    ///
    /// # Errors
    /// As [`Shell::request`].
    pub fn set_variable(&self, variable: u32, value: u64) -> Result<()> {
        self.shell.request(Request::Set { variable, value })
    }

    /// This node's own instance of a variable; none while it may not answer.
    ///
    /// # Errors
    /// As [`Shell::look`].
    pub fn variable(&self, variable: u32, deadline: Deadline) -> Result<Option<u64>> {
        self.shell.look(deadline, move |now, core| core.variable(now, variable))
    }

    /// This node's instance of a region.
    pub fn region(&self, region: u32) -> Option<&Region> {
        self.shared.regions.get(region as usize)
    }

    fn submit(
        &self,
        local: Option<u32>,
        request: impl FnOnce(u64) -> Request,
    ) -> Result<Receiver<Ending>> {
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        let (tell, told) = sync_channel(1);
        self.shared.lock().insert(ticket, Open { tell, local });
        if let Err(error) = self.shell.request(request(ticket)) {
            self.shared.lock().remove(&ticket);
            return Err(error);
        }
        Ok(told)
    }
}

impl Transfer {
    /// Waits until it is done at all nodes, or known not to be.
    ///
    /// # Errors
    /// As [`Member::compare_and_write`].
    pub fn wait(&self, deadline: Deadline) -> Result<()> {
        ending(&self.told, deadline).map(drop)
    }
}

/// Waits for an operation's end: whether it was carried out.
fn ending(told: &Receiver<Ending>, deadline: Deadline) -> Result<bool> {
    let refused = |why: String| Error::Refused { peer: "global memory".to_owned(), why };
    match told.recv_timeout(deadline.left().unwrap_or_default()) {
        Ok(Ok(Outcome::Committed)) => Ok(true),
        Ok(Ok(Outcome::NotHeld)) => Ok(false),
        Ok(Ok(Outcome::NotMember(node))) => {
            Err(Error::Dead { peer: node.to_string(), evidence: "it is no member".to_owned() })
        }
        Ok(Ok(Outcome::MasterLost | Outcome::Again)) => {
            Err(refused("the master was restarted; nothing was done".to_owned()))
        }
        Ok(Ok(Outcome::Unknown)) => {
            Err(refused("this node was removed before it learned the outcome".to_owned()))
        }
        Ok(Err(Refusal::Full)) => Err(Error::WouldBlock),
        Ok(Err(why)) => Err(refused(why.to_string())),
        Err(RecvTimeoutError::Timeout) => Err(Error::Deadline {
            who: "a thread".to_owned(),
            whom: "the cluster".to_owned(),
            what: "to carry out an operation".to_owned(),
            waited: deadline.waited(),
        }),
        Err(RecvTimeoutError::Disconnected) => Err(Error::Closed { peer: "the member".to_owned() }),
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().expect("nobody panics with it")
    }

    fn end(&self, ticket: u64, ending: Ending) {
        let Some(Open { tell, local }) = self.lock().remove(&ticket) else { return };
        if let (Ok(Outcome::Committed), Some(local)) = (ending, local) {
            self.events.signal(local);
        }
        // Nobody has to wait for it.
        let _ = tell.try_send(ending);
    }
}

impl Handler<Core> for Desk {
    fn notice(&mut self, _: Time, _: &Core, notice: Notice) {
        match notice {
            Notice::Delivered { region, offset, body, event, .. } => {
                let region = &self.0.regions[region as usize];
                region.write(offset, &body).expect("the core has checked it");
                if let Some(event) = event {
                    self.0.events.signal(event);
                }
            }
            Notice::Completed { ticket, outcome, .. } => self.0.end(ticket, Ok(outcome)),
            Notice::Refused { ticket, why } => self.0.end(ticket, Err(why)),
            Notice::Written { .. }
            | Notice::Epoch { .. }
            | Notice::Joined { .. }
            | Notice::Removed { .. } => {}
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.0.events.end();
        self.0.lock().clear();
    }
}
