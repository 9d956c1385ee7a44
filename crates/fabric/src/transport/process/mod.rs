//! Between threads of this process (`proc!NAME`).
//!
//! The same links as through shared memory between processes (`transport/shared`): both ends map
//! one segment, and a pair of sockets shows each that the other is gone, so that nothing is
//! different but how the two meet. Listeners are known by name in a table of this process; the
//! connector makes both ends and hands one over. A listener's queue is limited, and a name is free
//! again when its listener is dropped; who waits in its queue then finds the other end gone.

use super::shared::{self, Link, Planners};
use super::{Adapter, Capabilities, Hello, Listener, Protection, Transport};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use muster_base::limits::PROCESS_BACKLOG;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Between two tries to reach a listener whose queue is full.
const AGAIN: Duration = Duration::from_millis(1);

static LISTENERS: LazyLock<Mutex<HashMap<String, SyncSender<Link>>>> =
    LazyLock::new(Mutex::default);

fn listeners() -> MutexGuard<'static, HashMap<String, SyncSender<Link>>> {
    // The table is whole between any two statements that hold it.
    LISTENERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The transport.
#[derive(Clone)]
pub struct Process {
    planners: Planners,
}

impl Default for Process {
    fn default() -> Process {
        Process::new(shared::adaptive())
    }
}

impl Process {
    /// With planners of one's own.
    pub fn new(planners: Planners) -> Process {
        Process { planners }
    }
}

fn name(address: &Address) -> Result<&str> {
    match address {
        Address::Process(name) => Ok(name),
        other => {
            let why = "this is the transport of proc!NAME".to_owned();
            Err(Error::Unsupported { address: other.clone(), why })
        }
    }
}

impl Transport for Process {
    fn scheme(&self) -> &'static str {
        "proc"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            native: shared::STRATEGIES,
            processes: false,
            machines: false,
            protection: Protection::Local,
        }
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        let name = name(at)?;
        let (sender, queue) = sync_channel(PROCESS_BACKLOG);
        let mut listeners = listeners();
        if listeners.contains_key(name) {
            return Err(Error::io(format!("listening at {at}"), ErrorKind::AddrInUse));
        }
        listeners.insert(name.to_owned(), sender);
        Ok(Box::new(Named { queue, address: at.clone() }))
    }

    fn connect(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        hello.check()?;
        let sender = listeners().get(name(to)?).cloned();
        let peer = to.to_string();
        let nobody =
            || Error::Refused { peer: peer.clone(), why: "nobody listens there".to_owned() };
        let sender = sender.ok_or_else(nobody)?;
        let (mine, mut theirs) = shared::meet::pair(&peer, hello, &self.planners)?;
        loop {
            match sender.try_send(theirs) {
                Ok(()) => return Ok(Box::new(mine)),
                Err(TrySendError::Disconnected(_)) => return Err(nobody()),
                Err(TrySendError::Full(link)) => theirs = link,
            }
            if deadline.left().is_none() {
                return Err(deadline.missed(&hello.name, &peer, "to be accepted"));
            }
            std::thread::sleep(AGAIN);
        }
    }
}

/// A listener by name.
struct Named {
    queue: Receiver<Link>,
    address: Address,
}

impl Listener for Named {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        match self.queue.recv_timeout(deadline.left().unwrap_or_default()) {
            Ok(link) => Ok(Box::new(link)),
            Err(RecvTimeoutError::Timeout) => {
                Err(deadline.missed(&self.address, "anybody", "a connection"))
            }
            Err(RecvTimeoutError::Disconnected) => unreachable!("the table holds a sender"),
        }
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        if let Address::Process(name) = &self.address {
            listeners().remove(name);
        }
    }
}
