//! epoll(7), with a wait that knows nanoseconds everywhere: where `epoll_pwait2` is missing (below
//! valgrind, in sandboxes that refuse what they do not know) ppoll(2) waits for the list, and then
//! it is looked into.

pub(crate) use rustix::event::epoll::{
    CreateFlags, Event, EventData, EventFlags, add, create, delete, modify,
};

use rustix::buffer::Buffer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, Result};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::sync::OnceLock;

/// Whether the kernel knows the call: it refuses room for no events then, before it looks at
/// anything else.
fn is_known(list: impl AsFd) -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| {
        let mut none: [MaybeUninit<Event>; 0] = [];
        let time = Timespec { tv_sec: 0, tv_nsec: 1 };
        rustix::event::epoll::wait(list, &mut none, Some(&time)).err() == Some(Errno::INVAL)
    })
}

/// Waits until something of the list is ready, at most so long, and tells what. Whole milliseconds
/// need no such call.
pub(crate) fn wait<B: Buffer<Event>>(
    list: impl AsFd,
    told: B,
    time: Option<&Timespec>,
) -> Result<B::Output> {
    let is_whole = |it: &Timespec| it.tv_nsec % 1_000_000 == 0 && it.tv_sec < 1_000_000;
    if time.is_none_or(is_whole) || is_known(&list) {
        return rustix::event::epoll::wait(list, told, time);
    }
    wait_by_poll(list, told, time)
}

fn wait_by_poll<B: Buffer<Event>>(
    list: impl AsFd,
    told: B,
    time: Option<&Timespec>,
) -> Result<B::Output> {
    poll(&mut [PollFd::new(&list, PollFlags::IN)], time)?;
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::epoll::wait(list, told, Some(&now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};
    use std::time::{Duration, Instant};

    #[test]
    fn without_the_call_as_with_it_a_wait_ends_with_what_is_ready_or_with_its_time() {
        let list = create(CreateFlags::CLOEXEC).unwrap();
        let bell = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        add(&list, &bell, EventData::new_u64(7), EventFlags::IN).unwrap();
        let brief = Timespec { tv_sec: 0, tv_nsec: 300_000 };
        let mut told = [const { MaybeUninit::<Event>::uninit() }; 4];
        let begun = Instant::now();
        assert!(wait_by_poll(&list, &mut told, Some(&brief)).unwrap().0.is_empty());
        assert!(wait(&list, &mut told, Some(&brief)).unwrap().0.is_empty());
        assert!(begun.elapsed() >= Duration::from_micros(600), "both waited");
        rustix::io::write(&bell, &1_u64.to_ne_bytes()).unwrap();
        for time in [Some(&brief), None] {
            let ready = |told: &[Event]| told.iter().map(|one| one.data.u64()).collect::<Vec<_>>();
            assert_eq!(ready(wait_by_poll(&list, &mut told, time).unwrap().0), [7]);
            assert_eq!(ready(wait(&list, &mut told, time).unwrap().0), [7]);
        }
    }

    #[test]
    fn a_kernel_with_the_call_is_known_to_have_it() {
        let list = create(CreateFlags::CLOEXEC).unwrap();
        let mut told = [const { MaybeUninit::<Event>::uninit() }; 4];
        let time = Timespec { tv_sec: 0, tv_nsec: 1 };
        let has = rustix::event::epoll::wait(&list, &mut told, Some(&time)).is_ok();
        assert_eq!(is_known(&list), has);
    }
}
