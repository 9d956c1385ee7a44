//! Bodies that many hold, and looks that nobody has to be woken for.

use super::*;
use crate::protocol::Payload;
use crate::strategy::Taken;
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
    drop(here);
    let error = Datagram::take(&mut there, soon(), &mut |_| panic!("it is gone")).unwrap_err();
    assert!(matches!(error, Error::Dead { .. }), "{error}");
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
