//! What other threads have for the shell's: a queue, and a descriptor that wakes it. Another one
//! tells those who wait elsewhere that all is to end.

use crate::error::{Error, Result};
use crate::protocol::{NodeId, Protocol, Time};
use crate::strategy::Datagram;
use muster_base::limits::REQUESTS_MAX;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard};

/// A look at the protocol.
type Look<P> = Box<dyn FnOnce(Time, &mut P) + Send>;

/// What is to be done.
pub enum Command<P: Protocol> {
    /// The user's.
    Request(P::Request),
    /// The user's.
    Look(Look<P>),
    /// Someone has connected to us.
    Accepted { node: NodeId, life: u64, connection: Box<dyn Datagram> },
    /// We have connected to someone, or could not.
    Connected { node: NodeId, attempt: u64, result: Result<Option<Connected>> },
}

/// A connection that we made; [`Command::Connected`] has none where the peer wants another.
pub struct Connected {
    pub life: u64,
    pub connection: Box<dyn Datagram>,
}

/// The queue.
pub struct Inbox<P: Protocol> {
    queue: Mutex<Queue<P>>,
    waker: OwnedFd,
    closing: OwnedFd,
}

struct Queue<P: Protocol> {
    commands: VecDeque<Command<P>>,
    is_closed: bool,
    /// Nobody has woken the shell since it last looked.
    is_quiet: bool,
}

/// The error of who asks something of a shell that has ended.
pub fn ended() -> Error {
    Error::Closed { peer: "the shell".to_owned() }
}

impl<P: Protocol> Inbox<P> {
    pub fn new() -> Result<Inbox<P>> {
        let event = || {
            eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
                .map_err(|error| Error::io("making a descriptor to be woken by", error))
        };
        let (waker, closing) = (event()?, event()?);
        let queue = Queue { commands: VecDeque::new(), is_closed: false, is_quiet: true };
        Ok(Inbox { queue: Mutex::new(queue), waker, closing })
    }

    /// The user's commands are limited in number.
    pub fn ask(&self, command: Command<P>) -> Result<()> {
        let mut queue = self.lock();
        if queue.is_closed {
            return Err(ended());
        }
        if queue.commands.len() >= REQUESTS_MAX {
            return Err(Error::WouldBlock);
        }
        self.push(&mut queue, command);
        Ok(())
    }

    /// How many have connected to us and are not taken yet. Their number is the door's to limit.
    pub fn guests(&self) -> usize {
        let is_guest = |command: &&Command<P>| matches!(command, Command::Accepted { .. });
        self.lock().commands.iter().filter(is_guest).count()
    }

    /// What the doors bring is limited: connections made by the peers' number, accepted ones by
    /// [`muster_base::limits::GUESTS_MAX`]. It is dropped after the end.
    pub fn bring(&self, command: Command<P>) {
        let mut queue = self.lock();
        if !queue.is_closed {
            self.push(&mut queue, command);
        }
    }

    fn push(&self, queue: &mut Queue<P>, command: Command<P>) {
        queue.commands.push_back(command);
        self.wake(queue);
    }

    /// Wakes the shell's thread.
    pub fn knock(&self) {
        self.wake(&mut self.lock());
    }

    fn wake(&self, queue: &mut Queue<P>) {
        if std::mem::take(&mut queue.is_quiet) {
            signal(&self.waker);
        }
    }

    /// No more is taken.
    pub fn close(&self) {
        let mut queue = self.lock();
        queue.is_closed = true;
        self.wake(&mut queue);
        signal(&self.closing);
    }

    /// Somebody has something.
    pub fn has_some(&self) -> bool {
        !self.lock().is_quiet
    }

    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Moves what there is into `commands`, which is empty; false after the end.
    pub fn take(&self, commands: &mut VecDeque<Command<P>>) -> bool {
        let mut queue = self.lock();
        if !std::mem::replace(&mut queue.is_quiet, true) {
            let _ = rustix::io::read(&self.waker, &mut [0; 8]);
        }
        std::mem::swap(&mut queue.commands, commands);
        !queue.is_closed
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }

    /// It becomes readable when the inbox is closed.
    pub fn closing(&self) -> BorrowedFd<'_> {
        self.closing.as_fd()
    }

    fn lock(&self) -> MutexGuard<'_, Queue<P>> {
        self.queue.lock().expect("nobody panics with it")
    }
}

fn signal(event: &OwnedFd) {
    rustix::io::write(event, &1u64.to_ne_bytes()).expect("an event can be signalled");
}
