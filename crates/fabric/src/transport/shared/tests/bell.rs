//! Who waits is told: in a wait, and by the socket where that is polled.

use super::*;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Whether the socket is readable, or becomes so within some seconds.
pub(super) fn is_rung(link: &Link, seconds: i64) -> bool {
    let mut ends = [PollFd::from_borrowed_fd(link.descriptor(), PollFlags::IN)];
    poll(&mut ends, Some(&Timespec { tv_sec: seconds, tv_nsec: 0 })).unwrap() == 1
}

fn is_drained(link: &mut Link) -> bool {
    matches!(link.try_take(|_| ()), Err(Error::WouldBlock))
}

#[test]
fn who_found_no_room_and_then_some_is_not_kept_waiting_for_more() {
    let (mut here, mut there) = pair(PIPELINED);
    while here.try_fill(56, |_| ()).is_ok() {}
    assert!(matches!(here.wait(Ready::Send, Deadline::now()), Err(Error::Deadline { .. })));
    while there.try_take(|_| ()).is_ok() {}
    here.try_fill(56, |_| ()).unwrap();
    here.wait(Ready::Send, Deadline::now()).unwrap();
    assert!(there.try_take(|_| ()).is_ok());
    // The same of what was kept, and leaves while its sender waits.
    here.try_send(&[IoSlice::new(&[1; 100_000])]).unwrap();
    loop {
        let waited = here.wait(Ready::Send, Deadline::now());
        if here.outgoing.is_idle() {
            break waited.unwrap();
        }
        assert!(is_drained(&mut there));
    }
}

#[test]
fn what_is_kept_after_the_socket_was_asked_to_tell_of_arrivals_is_told_of_room() {
    let (mut here, mut there) = pair(PIPELINED);
    here.descriptor();
    assert!(is_drained(&mut here));
    here.try_send(&[IoSlice::new(&[1; 100_000])]).unwrap();
    assert!(is_drained(&mut here) && !is_rung(&here, 0));
    assert!(is_drained(&mut there));
    assert!(is_rung(&here, 0));
}

#[test]
fn a_send_that_has_slept_takes_nothing_away_from_what_tells_of_arrivals() {
    for comes_meanwhile in [true, false] {
        let (mut here, mut there) = pair(PIPELINED);
        here.descriptor();
        assert!(is_drained(&mut here));
        let there = std::thread::scope(|scope| {
            let receiving = scope.spawn(move || {
                while there.peers(segment::ASLEEP).load(Ordering::Relaxed) & link::ROOM == 0 {
                    std::thread::yield_now();
                }
                if comes_meanwhile {
                    there.try_fill(1, |to| to[0] = 7).unwrap();
                }
                assert_eq!(take(&mut there), [1; 100_000]);
                there
            });
            here.send(&[IoSlice::new(&[1; 100_000])], soon()).unwrap();
            receiving.join().unwrap()
        });
        let mut there = there;
        if !comes_meanwhile {
            there.try_fill(1, |to| to[0] = 7).unwrap();
        }
        assert!(is_rung(&here, 20), "meanwhile: {comes_meanwhile}");
        assert_eq!(take(&mut here), [7]);
    }
}

#[test]
fn two_that_sleep_on_their_sockets_only_keep_neither_waiting() {
    const COUNT: usize = 500;
    let (here, there) = pair(PIPELINED);
    let exchange = |mut link: Link| {
        let (message, mut sent, mut taken) = (vec![1; 50_000], 0, 0);
        link.descriptor();
        while taken < COUNT || sent < COUNT || !link.try_flush().unwrap() {
            while sent < COUNT && link.try_send(&[IoSlice::new(&message)]).is_ok() {
                sent += 1;
            }
            match link.try_take(|bytes| assert!(bytes == message)) {
                Ok(()) => taken += 1,
                // What was kept may have left meanwhile, so that there is room for more.
                Err(Error::WouldBlock)
                    if (sent < COUNT || taken == COUNT) && link.try_flush().unwrap() => {}
                Err(Error::WouldBlock) => assert!(is_rung(&link, 20), "{taken} were taken"),
                Err(error) => panic!("{error}"),
            }
        }
        link
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(move || exchange(there));
        let ends = (exchange(here), other.join().unwrap());
        drop(ends);
    });
}
