//! Mailbox: messages of many senders for one receiver (EPOS, section 2.1, over the datagram
//! strategy).
//!
//! The mailbox owns one connection for each sender. They come by [`Mailbox::admit`], or by
//! [`Mailbox::listen`] from a thread that accepts them. A sender ends when its connection does,
//! whether in order, dead or because it sent nonsense: [`Mail::Left`] tells why, once, after all
//! that it had sent; the others notice nothing. Ending the mailbox ends the thread and all
//! connections.
//!
//! Fairness: who had a message taken goes to the end of the queue, and new arrivals join the queue
//! at least every [`ROUND`] messages. So a message waits for at most [`ROUND`] others and one of
//! each sender that is ready.

use super::many::Many;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::Datagram;
use crate::transport::{Adapter, Listener, Peer};
use muster_base::limits::MAILBOX_SENDERS_MAX;
use rustix::event::{EventfdFlags, eventfd};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Messages after which to look who else has sent something.
pub const ROUND: usize = 32;
/// How long the accepting thread waits before it looks whether it should end.
const ACCEPT: Duration = Duration::from_millis(50);
/// The number of the door's bell; senders have smaller ones.
const BELL: u64 = u64::MAX;

/// One of a mailbox's senders, by a name that is not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sender {
    place: u32,
    visit: u32,
}

/// What a mailbox receives.
#[derive(Debug)]
pub enum Mail {
    /// A message of this sender was taken.
    From(Sender),
    /// A sender is gone; there are no more messages from it.
    Left {
        /// Which one.
        sender: Sender,
        /// Who that was.
        peer: Peer,
        /// How its connection ended.
        why: Error,
    },
}

/// Receives messages from many.
///
/// ```
/// # use muster_fabric::{Deadline, Result, communicator::{Mail, Mailbox, Port}};
/// # use muster_fabric::transport::{self, Hello, Lane};
/// # use std::{thread, time::Duration};
/// # fn main() -> Result<()> {
/// let (any, soon) = ("tcp!127.0.0.1!0".parse()?, Deadline::after(Duration::from_secs(30)));
/// let listener = transport::of(&any)?.listen(&any)?;
/// let to = listener.address().clone();
/// let mut mailbox = Mailbox::new("letters", 8)?;
/// mailbox.listen(listener, |end| end.datagram())?;
/// let sender = thread::spawn(move || -> Result<()> {
///     let hello = Hello { name: "ann".into(), service: "letters".into(), lane: Lane::Bulk };
///     let mut port = Port::new(transport::of(&to)?.connect(&to, &hello, soon)?.datagram()?);
///     port.send(b"good morning", soon)?;
///     port.flush(soon)
/// });
/// let mail = mailbox.receive(soon, &mut |letter| assert_eq!(letter, b"good morning"))?;
/// let Mail::From(ann) = mail else { panic!("{mail:?}") };
/// assert_eq!(mailbox.peer(ann).expect("who has gone is here until that is told").name, "ann");
/// let mail = mailbox.receive(soon, &mut |_| ())?;
/// assert!(matches!(mail, Mail::Left { sender, .. } if sender == ann));
/// # sender.join().expect("no panic")
/// # }
/// ```
pub struct Mailbox<D> {
    name: String,
    places: Vec<Place<D>>,
    free: Vec<usize>,
    /// Who may have sent something; each at most once.
    ready: VecDeque<usize>,
    /// Messages since the ends were looked at.
    since: usize,
    many: Many,
    door: Arc<Door<D>>,
    porter: Option<JoinHandle<()>>,
}

struct Place<D> {
    end: Option<D>,
    visit: u32,
    is_ready: bool,
}

/// Where the accepting thread leaves senders.
struct Door<D> {
    waiting: Mutex<VecDeque<Result<D>>>,
    bell: OwnedFd,
    is_closed: AtomicBool,
}

impl<D: Datagram> Mailbox<D> {
    /// A mailbox for at most `capacity` senders at once. `name` is for people.
    ///
    /// # Errors
    /// [`Error::Refused`] for more senders than are possible; [`Error::Exhausted`].
    pub fn new(name: impl Into<String>, capacity: usize) -> Result<Mailbox<D>> {
        if capacity > MAILBOX_SENDERS_MAX {
            let why = format!("{capacity} senders: it has {MAILBOX_SENDERS_MAX} at most");
            return Err(Error::Refused { peer: "a mailbox".to_owned(), why });
        }
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| Error::io("cannot make a mailbox", error))?;
        let mut many = Many::new()?;
        many.add(BELL, Some(bell.as_fd()))?;
        let waiting = Mutex::new(VecDeque::with_capacity(capacity));
        Ok(Mailbox {
            name: name.into(),
            places: (0..capacity).map(|_| Place { end: None, visit: 0, is_ready: false }).collect(),
            free: (0..capacity).rev().collect(),
            ready: VecDeque::with_capacity(capacity),
            since: 0,
            many,
            door: Arc::new(Door { waiting, bell, is_closed: AtomicBool::new(false) }),
            porter: None,
        })
    }

    /// Accepts senders from now on; `make` turns a connection into datagrams. Those for whom there
    /// is no place are sent away.
    ///
    /// # Errors
    /// [`Error::Exhausted`] when there is no thread for it.
    ///
    /// # Panics
    /// When it listens already.
    pub fn listen(
        &mut self,
        mut listener: Box<dyn Listener>,
        make: impl Fn(Box<dyn Adapter>) -> Result<D> + Send + 'static,
    ) -> Result<()>
    where
        D: 'static,
    {
        assert!(self.porter.is_none(), "{} listens already", self.name);
        let door = self.door.clone();
        let porter = std::thread::Builder::new().name(format!("{} accepts", self.name));
        let porter = porter.spawn(move || {
            while !door.is_closed.load(Ordering::Acquire) {
                match listener.accept(Deadline::after(ACCEPT)) {
                    // Who cannot be talked to has left already.
                    Ok(adapter) => drop(make(adapter).map(|end| door.bring(Ok(end)))),
                    Err(Error::Deadline { .. } | Error::WouldBlock) => {}
                    Err(error @ Error::Unsupported { .. }) => return door.bring(Err(error)),
                    // One caller's fault, or want of something that may come back.
                    Err(_) => std::thread::sleep(ACCEPT),
                }
            }
        });
        let exhausted = |source| Error::Exhausted { what: "threads", source };
        self.porter = Some(porter.map_err(exhausted)?);
        Ok(())
    }

    /// Takes in a sender.
    ///
    /// # Errors
    /// [`Error::Exhausted`] when there is no place left; the sender is sent away.
    pub fn admit(&mut self, end: D) -> Result<Sender> {
        let Some(&index) = self.free.last() else {
            let source = io::Error::other(format!("{} is full", self.name));
            return Err(Error::Exhausted { what: "places for senders", source });
        };
        self.many.add(index as u64, end.descriptor())?;
        self.free.pop();
        let place = &mut self.places[index];
        place.end = Some(end);
        let sender = Sender { place: index as u32, visit: place.visit };
        self.call(index);
        Ok(sender)
    }

    /// Sends a sender away.
    pub fn dismiss(&mut self, sender: Sender) {
        if self.peer(sender).is_some() {
            self.vacate(sender.place as usize);
        }
    }

    /// Who a sender is, while it is here.
    pub fn peer(&self, sender: Sender) -> Option<&Peer> {
        let place = self.places.get(sender.place as usize)?;
        place.end.as_ref().filter(|_| place.visit == sender.visit).map(|end| end.peer())
    }

    /// How many senders there are.
    pub fn senders(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Waits for the next message, which `take` sees where it arrived, or for the end of a sender.
    ///
    /// # Errors
    /// [`Error::Deadline`]; what ended the listening, and then it goes on with those it has.
    pub fn receive(&mut self, deadline: Deadline, take: &mut dyn FnMut(&[u8])) -> Result<Mail> {
        let mut has_looked = false;
        loop {
            if self.since >= ROUND {
                self.look()?;
            }
            while let Some(index) = self.ready.pop_front() {
                let place = &mut self.places[index];
                place.is_ready = false;
                let Some(end) = &mut place.end else { continue };
                match end.try_take(take) {
                    Err(Error::WouldBlock) => {}
                    Ok(()) => {
                        let sender = Sender { place: index as u32, visit: place.visit };
                        self.call(index);
                        self.since += 1;
                        self.many.awake();
                        return Ok(Mail::From(sender));
                    }
                    Err(why) => return Ok(self.lose(index, why)),
                }
            }
            // Whoever is named from now on, only the wait goes on: it knows the deadline, which
            // those who have no descriptor, or send half messages, must not put off.
            match std::mem::replace(&mut has_looked, true) {
                false => self.look()?,
                true => self.wait(deadline)?,
            }
        }
    }

    /// Ends a sender's stay, and says so.
    fn lose(&mut self, index: usize, why: Error) -> Mail {
        let sender = Sender { place: index as u32, visit: self.places[index].visit };
        let peer = self.vacate(index);
        Mail::Left { sender, peer, why }
    }

    fn vacate(&mut self, index: usize) -> Peer {
        let place = &mut self.places[index];
        let end = place.end.take().expect("only who is here leaves");
        place.visit = place.visit.wrapping_add(1);
        self.many.remove(end.descriptor());
        self.free.push(index);
        end.peer().clone()
    }

    /// Puts a sender into the queue.
    fn call(&mut self, index: usize) {
        if !std::mem::replace(&mut self.places[index].is_ready, true) {
            self.ready.push_back(index);
        }
    }

    /// Puts those who have sent something, and those who have come, into the queue.
    fn look(&mut self) -> Result<()> {
        self.since = 0;
        let Mailbox { many, places, ready, .. } = self;
        let mut has_rung = false;
        many.look(|number| has_rung |= arrived(places, ready, number))?;
        self.silent_too();
        if has_rung { self.open() } else { Ok(()) }
    }

    fn wait(&mut self, deadline: Deadline) -> Result<()> {
        let count = self.senders();
        let Mailbox { many, places, ready, name, .. } = self;
        let mut has_rung = false;
        let whom = || format!("any of {count} senders");
        let late = || deadline.missed(&name, whom(), "no message has come");
        many.wait(deadline, late, |number| has_rung |= arrived(places, ready, number))?;
        self.silent_too();
        if has_rung { self.open() } else { Ok(()) }
    }

    /// Those without a descriptor have to be looked at.
    fn silent_too(&mut self) {
        if !self.many.has_silent() {
            return;
        }
        for index in 0..self.places.len() {
            let end = &self.places[index].end;
            if end.as_ref().is_some_and(|end| end.descriptor().is_none()) {
                self.call(index);
            }
        }
    }

    /// Takes in those who wait at the door.
    fn open(&mut self) -> Result<()> {
        let _ = rustix::io::read(&self.door.bell, &mut [0; 8]);
        let mut failed = Ok(());
        loop {
            let next = self.door.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                None => return failed,
                // Who finds no place sees its connection end.
                Some(Ok(end)) => drop(self.admit(end)),
                Some(Err(error)) => failed = Err(error),
            }
        }
    }
}

/// Notes what epoll(7) named; true for the bell.
fn arrived<D>(places: &mut [Place<D>], ready: &mut VecDeque<usize>, number: u64) -> bool {
    if number == BELL {
        return true;
    }
    let index = number as usize;
    if !std::mem::replace(&mut places[index].is_ready, true) {
        ready.push_back(index);
    }
    false
}

impl<D> Door<D> {
    fn bring(&self, guest: Result<D>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // No more may wait at the door than have a place inside; an error always may.
        if guest.is_err() || waiting.len() < waiting.capacity() {
            waiting.push_back(guest);
        }
        drop(waiting);
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }
}

impl<D> Drop for Mailbox<D> {
    fn drop(&mut self) {
        self.door.is_closed.store(true, Ordering::Release);
        if let Some(porter) = self.porter.take() {
            let _ = porter.join();
        }
    }
}
