//! The listener's side: a door for each rail, those who have come in and not joined yet, and those
//! who have and wait for their other rails.
//!
//! Nobody is waited for: who is let in has [`HELLO_TIME`] to say its join. A connector says it when
//! it has been let in at all of its rails, so each door lets in [`HELLOS_MAX`], and more only when
//! the one that is silent longest has had [`RAILS_JOIN_TIME`]: then that one goes. The rails that a
//! join announces have as long to come; then the connection is the rails that are there. A rail
//! that joins later is refused, for [`RAILS_LATE`]: it would be a connection of its own of which
//! its connector knows nothing.

use super::connection::{End, Joined};
use super::rail::Rail;
use super::wire::{JOIN, Join};
use super::{Watcher, one_peer};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::Stream;
use crate::transport::hello::{self, Refusal};
use crate::transport::socket::timespec;
use crate::transport::{Adapter, Hello, Listener, Peer};
use muster_base::limits::{HELLO_TIME, HELLOS_MAX, RAILS_JOIN_TIME, RAILS_LATE};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// The longest sleep: doors have times of their own, which they look after when they are asked.
const GLANCE: Duration = Duration::from_millis(500);

/// Listens at all of the rails.
pub struct Doors {
    address: Address,
    doors: Vec<Box<dyn Listener>>,
    silent: VecDeque<Silent>,
    groups: VecDeque<Group>,
    /// Of connections that were handed out before all of their rails came, and when.
    late: VecDeque<([u8; 16], Instant)>,
    watcher: Watcher,
}

/// Who has said no join yet.
struct Silent {
    /// The door that it came in by.
    door: usize,
    stream: Box<dyn Stream>,
    hello: Hello,
    said: Vec<u8>,
    since: Instant,
}

/// Rails that belong together.
struct Group {
    join: Join,
    hello: Hello,
    rails: Vec<(u8, Box<dyn Stream>)>,
    since: Instant,
}

/// What became of one that was silent.
enum Turn {
    Waits,
    Joins(Join),
    Gone,
}

impl Doors {
    /// Behind these.
    pub fn new(doors: Vec<Box<dyn Listener>>, watcher: Watcher) -> Doors {
        let address = Address::Rails(doors.iter().map(|door| door.address().clone()).collect());
        let (silent, groups, late) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Doors { address, doors, silent, groups, late, watcher }
    }

    /// Lets in whom the doors have.
    fn admit(&mut self) -> Result<()> {
        for door in 0..self.doors.len() {
            while self.left_until_open(door).is_none() {
                let end = match self.doors[door].accept(Deadline::now()) {
                    Ok(end) => end,
                    Err(Error::Deadline { .. }) => break,
                    Err(error) => return Err(error),
                };
                let hello = end.hello().clone();
                let Ok(stream) = end.stream() else { continue };
                if self.at(door).count() >= HELLOS_MAX {
                    let (oldest, _) = self.at(door).next().expect("there are many");
                    self.silent.remove(oldest);
                }
                let (said, since) = (Vec::with_capacity(JOIN), Instant::now());
                self.silent.push_back(Silent { door, stream, hello, said, since });
            }
        }
        Ok(())
    }

    /// Those who came in by this door, the one that is silent longest first.
    fn at(&self, door: usize) -> impl Iterator<Item = (usize, &Silent)> {
        self.silent.iter().enumerate().filter(move |(_, silent)| silent.door == door)
    }

    /// How long nobody can come in by this door, if it is full.
    fn left_until_open(&self, door: usize) -> Option<Duration> {
        let mut silent = self.at(door);
        let (_, oldest) = silent.next()?;
        let left = RAILS_JOIN_TIME.checked_sub(oldest.since.elapsed())?;
        (1 + silent.count() >= HELLOS_MAX).then_some(left)
    }

    /// Looks at those who have said nothing yet.
    fn listen(&mut self) {
        let mut index = 0;
        while let Some(silent) = self.silent.get_mut(index) {
            match silent.turn() {
                Turn::Waits => index += 1,
                Turn::Gone => drop(self.silent.remove(index)),
                Turn::Joins(join) if self.is_full(join) => index += 1,
                Turn::Joins(join) => {
                    let rail = self.silent.remove(index).expect("it was there");
                    self.join(rail, join);
                }
            }
        }
    }

    /// Whether it has to wait until others have been accepted.
    fn is_full(&self, join: Join) -> bool {
        let is_known = self.groups.iter().any(|group| group.join.token == join.token);
        !is_known && !self.is_late(join) && self.groups.len() >= HELLOS_MAX
    }

    /// Whether its connection was handed out without it.
    fn is_late(&self, join: Join) -> bool {
        self.late.iter().any(|(token, _)| *token == join.token)
    }

    fn join(&mut self, mut rail: Silent, join: Join) {
        let index = self.groups.iter().position(|group| group.join.token == join.token);
        let refusal = match index {
            Some(index) => self.groups[index].refuses(&rail, join),
            None => self.is_late(join).then_some("the connection has begun without it"),
        };
        if let Some(why) = refusal {
            // It may be gone; then nobody needs to know.
            let _ = rail.stream.try_write(&Refusal::Denied(why.to_owned()).answer());
            return;
        }
        let answer = hello::welcome();
        if !matches!(rail.stream.try_write(&answer), Ok(size) if size == answer.len()) {
            return;
        }
        let index = index.unwrap_or_else(|| {
            let (hello, since) = (rail.hello, Instant::now());
            self.groups.push_back(Group { join, hello, rails: Vec::new(), since });
            self.groups.len() - 1
        });
        self.groups[index].rails.push((join.number, rail.stream));
    }

    /// The next connection whose rails are there, or have had their time.
    fn ready(&mut self) -> Result<Option<Box<dyn Adapter>>> {
        let is_ready = |group: &Group| {
            let is_late = group.since.elapsed() >= RAILS_JOIN_TIME;
            group.rails.len() == usize::from(group.join.count) || is_late
        };
        let Some(index) = self.groups.iter().position(is_ready) else { return Ok(None) };
        let Group { hello, rails, join, .. } = self.groups.remove(index).expect("it is there");
        let peers: Vec<&Peer> = rails.iter().map(|(_, stream)| stream.peer()).collect();
        let peer = one_peer(&hello.name, &peers).expect("they were compared");
        if rails.len() < join.count.into() {
            let missing = usize::from(join.count) - rails.len();
            (self.watcher)(&format!("{missing} rails of {peer} have not come"));
            self.late.push_back((join.token, Instant::now()));
        }
        let me = self.address.to_string();
        let rails = rails
            .into_iter()
            .map(|(number, stream)| Rail::new(number.into(), format!("rail {number}"), stream));
        let joined = Joined::new(rails.collect(), peer, me, hello.lane, self.watcher.clone())?;
        Ok(Some(Box::new(End { joined, hello })))
    }

    fn sleep(&self, most: Duration) -> Result<()> {
        let groups = self.groups.front().map(|group| (group.since, RAILS_JOIN_TIME));
        let silent = self.silent.iter().find(|silent| silent.said.len() < JOIN);
        let silent = silent.map(|silent| (silent.since, HELLO_TIME));
        let times = groups.into_iter().chain(silent);
        let left = times.map(|(since, time)| time.saturating_sub(since.elapsed()));
        let doors = (0..self.doors.len()).filter_map(|door| self.left_until_open(door));
        let most = left.chain(doors).fold(most.min(GLANCE), Duration::min);
        let descriptors = self.descriptors();
        let mut polled: Vec<_> = descriptors
            .into_iter()
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
            .collect();
        match poll(&mut polled, Some(&timespec(most))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(Error::io(format!("waiting at {}", self.address), errno)),
        }
    }
}

impl Listener for Doors {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        loop {
            let admitted = self.admit();
            self.listen();
            // Who has come in before them has said its join by now or is gone.
            self.late.retain(|(_, since)| since.elapsed() < RAILS_LATE);
            if let Some(end) = self.ready()? {
                return Ok(end);
            }
            admitted?;
            let Some(left) = deadline.left() else {
                return Err(deadline.missed(&self.address, "anybody", "rails of a connection"));
            };
            self.sleep(left)?;
        }
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let open = |(door, _): &(usize, _)| self.left_until_open(*door).is_none();
        let doors = self.doors.iter().enumerate().filter(open);
        let doors = doors.flat_map(|(_, door)| door.descriptors());
        let silent = self.silent.iter().filter(|silent| silent.said.len() < JOIN);
        let silent = silent.filter_map(|silent| silent.stream.descriptor());
        doors.chain(silent).collect()
    }

    fn is_idle(&self) -> bool {
        let are_idle = self.doors.iter().all(|door| door.is_idle());
        are_idle && self.silent.is_empty() && self.groups.is_empty()
    }
}

impl Silent {
    fn turn(&mut self) -> Turn {
        let mut buffer = [0; JOIN];
        let room = JOIN - self.said.len();
        let read = if room > 0 { self.stream.try_read(&mut buffer[..room]) } else { Ok(0) };
        match read {
            Ok(0) if room > 0 => return Turn::Gone,
            Ok(size) => self.said.extend_from_slice(&buffer[..size]),
            Err(Error::WouldBlock) if self.since.elapsed() < HELLO_TIME => return Turn::Waits,
            Err(Error::WouldBlock) => {
                return self.refuse(&Refusal::Denied("it was too slow".into()));
            }
            Err(_) => return Turn::Gone,
        }
        match Join::read(&self.said) {
            Ok(Some(join)) => Turn::Joins(join),
            Ok(None) => Turn::Waits,
            Err(refusal) => self.refuse(&refusal),
        }
    }

    fn refuse(&mut self, refusal: &Refusal) -> Turn {
        // It may be gone; then nobody needs to know.
        let _ = self.stream.try_write(&refusal.answer());
        Turn::Gone
    }
}

impl Group {
    /// Why this rail is none of its.
    fn refuses(&self, rail: &Silent, join: Join) -> Option<&'static str> {
        let is_taken = self.rails.iter().any(|(number, _)| *number == join.number);
        let peers = [self.rails[0].1.peer(), rail.stream.peer()];
        if is_taken || self.join.count != join.count {
            return Some("another rail has said otherwise");
        }
        if self.hello != rail.hello || one_peer("", &peers).is_err() {
            return Some("another rail has said another hello");
        }
        None
    }
}
