//! Who stands before a door at a path and has said nothing so far.
//!
//! Anybody can connect and say nothing. So nobody is waited for, and when there is no room, the one
//! that is silent longest goes for a new one. But one that has just connected may be about to
//! speak, on a machine where many begin at once: each has [`LEAST`] before it goes, and meanwhile
//! new ones wait in the kernel's queue.

use crate::deadline::Deadline;
use muster_base::limits::HELLOS_MAX;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long who has connected is not sent away for another: many times what it takes to be run
/// again where each processor has ten to run.
pub(crate) const LEAST: Duration = Duration::from_millis(100);

/// In the order of coming.
#[derive(Default)]
pub(crate) struct Strangers(VecDeque<(OwnedFd, Instant)>);

impl Strangers {
    /// Takes in who has come. All that are here were just listened to.
    ///
    /// # Errors
    /// Those of accept(2), but for the ones that are the caller's.
    pub(crate) fn let_in(&mut self, door: &OwnedFd) -> Result<(), Errno> {
        while self.patience().is_none() {
            match accept_with(door, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(stranger) => {
                    if self.0.len() == HELLOS_MAX {
                        self.0.pop_front();
                    }
                    self.0.push_back((stranger, Instant::now()));
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// How long new ones have to wait; none if they need not.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let (_, since) = self.0.front().filter(|_| self.0.len() >= HELLOS_MAX)?;
        LEAST.checked_sub(since.elapsed()).filter(|left| !left.is_zero())
    }

    /// What wakes who waits at the door, the door first, and until when to sleep at most.
    pub(crate) fn polled<'a>(
        &'a self,
        door: &'a OwnedFd,
        deadline: Deadline,
    ) -> (Vec<PollFd<'a>>, Deadline) {
        let patience = self.patience();
        // That it is closed is told in any case.
        let of_door = patience.map_or(PollFlags::IN, |_| PollFlags::empty());
        let all = self.0.iter().map(|(socket, _)| PollFd::new(socket, PollFlags::IN));
        let all = [PollFd::new(door, of_door)].into_iter().chain(all).collect();
        (all, patience.map_or(deadline, |patience| deadline.sooner(patience)))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// One of them, by its place.
    pub(crate) fn at(&self, index: usize) -> BorrowedFd<'_> {
        self.0[index].0.as_fd()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.0.iter().map(|(socket, _)| socket.as_fd())
    }

    /// One of them comes in, or goes.
    pub(crate) fn remove(&mut self, index: usize) -> OwnedFd {
        self.0.remove(index).expect("it is there").0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::{UnixListener, UnixStream};

    #[test]
    fn nobody_goes_who_has_just_come() {
        let path = std::env::temp_dir().join(format!("muster-strangers-{}", std::process::id()));
        let door = UnixListener::bind(&path).unwrap();
        rustix::net::listen(&door, 2 * HELLOS_MAX as i32).unwrap();
        let all: Vec<_> =
            (0..HELLOS_MAX + 3).map(|_| UnixStream::connect(&path).unwrap()).collect();
        std::fs::remove_file(&path).unwrap();
        door.set_nonblocking(true).unwrap();
        let (door, mut strangers) = (OwnedFd::from(door), Strangers::default());
        let is_here = |caller: &UnixStream| {
            caller.set_nonblocking(true).unwrap();
            std::io::Read::read(&mut &*caller, &mut [0]).is_err()
        };
        const HOUR: Duration = Duration::from_secs(3600);
        strangers.let_in(&door).unwrap();
        // However slow this machine is.
        strangers.0.iter_mut().for_each(|(_, since)| *since += HOUR);
        for _ in 0..2 {
            strangers.let_in(&door).unwrap();
            assert!(strangers.len() == HELLOS_MAX && all.iter().all(is_here));
        }
        let (polled, until) = strangers.polled(&door, Deadline::after(10 * LEAST));
        assert!(polled.len() == HELLOS_MAX + 1 && until.left() <= Some(LEAST));
        // When they have had their time, the oldest go.
        strangers.0.iter_mut().for_each(|(_, since)| *since -= HOUR + LEAST);
        strangers.let_in(&door).unwrap();
        let gone = all.iter().filter(|caller| !is_here(caller)).count();
        assert_eq!((gone, strangers.len()), (3, HELLOS_MAX));
        assert!(all[3..].iter().all(is_here));
    }
}
