//! Bodies that many hold, and looks that nobody has to be woken for.

use super::*;
use crate::protocol::Payload;
use crate::strategy::Taken;
use crate::transport::shared::receive::Incoming;
use muster_base::limits::QUEUE_BYTES_MAX;
use std::sync::Arc;

/// Longer than what goes whole on the lane for long messages.
const LONG: usize = 3 << 20;

fn keep(link: &mut Link) -> Payload {
    let mut kept = None;
    Datagram::try_keep(link, &mut |taken| match taken {
        Taken::Seen(bytes) => kept = Some(Payload::from(bytes.to_vec())),
        Taken::Kept(payload) => kept = Some(payload),
    })
    .unwrap();
    kept.expect("it was called")
}

#[test]
fn a_long_body_is_held_until_it_is_fetched_and_keeps_its_place_in_the_order() {
    let (mut here, mut there) = pair(PIPELINED);
    let bytes = Arc::new(pattern(LONG, 5));
    here.try_fill(5, |to| to.copy_from_slice(b"first")).unwrap();
    here.try_queue(&[b"he", b"ad"], &Payload::from(bytes.clone())).unwrap();
    here.try_queue(&[b"short"], &Payload::from(vec![7; 100])).unwrap();
    assert_eq!(Arc::strong_count(&bytes), 2);
    assert!(!here.try_flush().unwrap());
    assert_eq!(*keep(&mut there), *b"first");
    let message = keep(&mut there);
    assert_eq!(message[..4], *b"head");
    assert!(message[4..] == bytes[..]);
    assert!(here.glance(), "what was lent is back");
    assert_eq!(Arc::strong_count(&bytes), 1);
    assert!(here.try_flush().unwrap());
    assert_eq!(keep(&mut there)[..6], *b"short\x07");
}

#[test]
fn who_flushes_sleeps_until_what_is_lent_was_fetched() {
    let (mut here, mut there) = pair(PIPELINED);
    here.try_queue(&[], &Payload::from(pattern(LONG, 1))).unwrap();
    assert!(!here.try_flush().unwrap());
    let error = here.wait(Ready::Send, Deadline::now()).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    here.try_fill(5, |to| to.copy_from_slice(b"short")).expect("there is room for more");
    assert!(!here.try_flush().unwrap());
    let flushing = std::thread::spawn(move || {
        while !here.try_flush()? {
            here.wait(Ready::Send, soon())?;
        }
        Ok::<_, Error>(here)
    });
    assert!(*keep(&mut there) == pattern(LONG, 1));
    flushing.join().unwrap().unwrap();
}

#[test]
fn a_buffer_that_was_handed_over_and_dropped_is_used_again_and_a_kept_one_is_not() {
    let (mut here, mut there) = pair(PIPELINED);
    let mut send = |seed| here.try_queue(&[], &Payload::from(pattern(LONG, seed))).unwrap();
    (1..4).for_each(&mut send);
    let first = keep(&mut there);
    let second = keep(&mut there);
    assert!(*first == pattern(LONG, 1) && *second == pattern(LONG, 2));
    let place = second.as_ptr();
    drop(second);
    let third = keep(&mut there);
    assert_eq!(third.as_ptr(), place);
    assert!(*first == pattern(LONG, 1) && *third == pattern(LONG, 3));
}

#[test]
fn who_leaves_before_a_body_is_fetched_has_not_left_in_order() {
    let (mut here, mut there) = pair(PIPELINED);
    here.try_queue(&[], &Payload::from(pattern(LONG, 1))).unwrap();
    here.try_fill(6, |to| to.copy_from_slice(b"behind")).unwrap();
    drop(here);
    // Neither the message nor what follows it, however often it is tried.
    for _ in 0..3 {
        let error = Datagram::take(&mut there, soon(), &mut |_| panic!("none")).unwrap_err();
        assert!(matches!(error, Error::Dead { .. }), "{error}");
    }
}

#[test]
fn what_is_lent_at_once_is_bounded() {
    let (mut here, mut there) = pair(PIPELINED);
    let body = Payload::from(vec![1; QUEUE_BYTES_MAX / 2]);
    here.try_queue(&[], &body).unwrap();
    here.try_queue(&[], &body).unwrap();
    let error = here.try_queue(&[], &body).unwrap_err();
    assert!(error.is_would_block(), "{error}");
    assert_eq!(keep(&mut there).len(), body.len());
    assert!(here.glance());
    here.try_queue(&[], &body).unwrap();
}

#[test]
fn a_kept_message_does_not_keep_the_memory_of_a_longer_one() {
    let mut incoming = Incoming::default();
    incoming.buffer = vec![0; 16 << 20];
    assert!(incoming.with_room(1 << 20).capacity() < 4 << 20);
}

#[test]
fn who_glances_is_not_rung_for_until_it_asks_to_be() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let (mut here, mut there) = pair(PIPELINED);
    let is_rung = |link: &Link| {
        let descriptor = link.line().descriptor();
        let mut ends = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
        poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
    };
    let mut send = || here.try_fill(1, |to| to[0] = 1).unwrap();
    there.descriptor();
    assert!(matches!(there.try_take(|_| ()), Err(Error::WouldBlock)));
    assert!(!there.glance());
    send();
    assert!(there.glance() && !is_rung(&there));
    assert_eq!(take(&mut there), [1]);
    there.descriptor();
    assert!(matches!(there.try_take(|_| ()), Err(Error::WouldBlock)));
    send();
    assert!(is_rung(&there));
    assert_eq!(take(&mut there), [1]);
}

#[test]
fn room_that_was_learned_of_while_moving_on_is_not_waited_for() {
    let (mut here, mut there) = pair(PIPELINED);
    let mut lent = 0;
    while here.try_queue(&[], &Payload::from(pattern(LONG, lent))).is_ok() {
        lent += 1;
    }
    (0..lent).for_each(|_| drop(keep(&mut there)));
    assert!(here.try_flush().unwrap());
    here.wait(Ready::Send, Deadline::after(Duration::from_millis(1))).expect("all of it is room");
}
