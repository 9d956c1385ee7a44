//! Waiting for many ends at once: by epoll(7) where they have descriptors, by looking now and then
//! where they have none.

use crate::deadline::Deadline;
use crate::epoll;
use crate::error::{Error, Result};
use rustix::event::Timespec;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

/// Looks without sleeping before the first sleep: about 50 us, as long as a sleep and its end cost.
const LOOKS: u32 = 100;
/// How long to sleep when some ends cannot wake us, or have to get rid of something.
const NAP: Duration = Duration::from_millis(1);
/// Events taken at once; what is left stays for the next time.
const EVENTS: usize = 64;

/// The ends waited for, by numbers that their owner gives them.
pub(super) struct Many {
    set: OwnedFd,
    events: Box<[epoll::Event]>,
    /// Ends without a descriptor.
    silent: usize,
    /// Some ends have something to send, and no descriptor tells when there is room.
    is_pressed: bool,
    /// Looks since something was there.
    looks: u32,
}

impl Many {
    pub(super) fn new() -> Result<Many> {
        let set = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|error| Error::io("cannot wait for many connections", error))?;
        let none =
            epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) };
        Ok(Many { set, events: vec![none; EVENTS].into(), silent: 0, is_pressed: false, looks: 0 })
    }

    pub(super) fn add(&mut self, number: u64, end: Option<BorrowedFd<'_>>) -> Result<()> {
        let Some(end) = end else {
            self.silent += 1;
            return Ok(());
        };
        let data = epoll::EventData::new_u64(number);
        epoll::add(&self.set, end, data, epoll::EventFlags::IN)
            .map_err(|error| Error::io("cannot wait for one more connection", error))
    }

    pub(super) fn remove(&mut self, end: Option<BorrowedFd<'_>>) {
        match end {
            None => self.silent -= 1,
            // It may be gone from the set with what ended the connection.
            Some(end) => drop(epoll::delete(&self.set, end)),
        }
    }

    /// Whether some ends have no descriptor.
    pub(super) fn has_silent(&self) -> bool {
        self.silent > 0
    }

    /// Something was there: the next wait looks a while before it sleeps.
    pub(super) fn awake(&mut self) {
        self.looks = 0;
    }

    /// Whether something is to be sent as soon as there is room: the next wait does not last long.
    pub(super) fn press(&mut self, is_pressed: bool) {
        self.is_pressed = is_pressed;
    }

    /// Names the ends where something has arrived. It does not wait.
    pub(super) fn look(&mut self, ready: impl FnMut(u64)) -> Result<()> {
        self.poll(Duration::ZERO, ready)
    }

    /// Waits until something may have arrived at an end, and names those which know. It may return
    /// early; after the deadline, `late` says what was waited for.
    pub(super) fn wait(
        &mut self,
        deadline: Deadline,
        late: impl FnOnce() -> Error,
        ready: impl FnMut(u64),
    ) -> Result<()> {
        let left = deadline.left().ok_or_else(late)?;
        if self.looks < LOOKS {
            self.looks += 1;
            std::thread::yield_now();
            return self.poll(Duration::ZERO, ready);
        }
        let is_brief = self.silent > 0 || self.is_pressed;
        self.poll(if is_brief { left.min(NAP) } else { left }, ready)
    }

    fn poll(&mut self, time: Duration, mut ready: impl FnMut(u64)) -> Result<()> {
        // More seconds than the kernel takes are as good as those it takes.
        let time = Timespec::try_from(time.min(Duration::from_secs(1 << 30)))
            .expect("so many seconds fit into a timespec");
        match epoll::wait(&self.set, &mut *self.events, Some(&time)) {
            Ok(count) => self.events[..count].iter().for_each(|event| ready(event.data.u64())),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(Error::io("cannot wait for many connections", error)),
        }
        Ok(())
    }
}
