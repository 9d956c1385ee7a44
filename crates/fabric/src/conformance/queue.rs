//! Promises about messages that are queued with bodies that many hold, and about those that a
//! receiver keeps.

use super::message::{MEBIBYTE, flush, sizes};
use super::{Subject, is_end, meet, pattern, soon, together};
use crate::error::Error;
use crate::protocol::Payload;
use crate::strategy::{Datagram, Ready, Taken};
use std::io::IoSlice;

/// Queues a message: nothing of what there was no room for is kept, so it may be tried again.
fn queue(end: &mut dyn Datagram, parts: &[&[u8]], body: &Payload) {
    loop {
        match end.try_queue(parts, body) {
            Err(Error::WouldBlock) => end.wait(Ready::Send, soon()).unwrap(),
            done => return done.unwrap(),
        }
    }
}

/// What was queued comes whole, once and in order, among what was sent otherwise, when nothing
/// follows and that was said; then also though its sender is gone.
pub fn what_was_queued_comes_whole_and_in_order(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut from, to) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    let (limit, whole) = (from.limit(), Payload::from(pattern(MEBIBYTE, 11)));
    let all = [0, 7, 5000].into_iter().flat_map(|head| {
        [0, 10, 4096, 100_000, MEBIBYTE].into_iter().map(move |body| (head, body))
    });
    let all: Vec<_> = all.filter(|(head, body)| head + body <= limit).collect();
    let message = |head: usize, body: usize| [&pattern(head, body), &whole[..body]].concat();
    let send = || {
        // One that nothing follows.
        queue(&mut *from, &[b"al", b"", b"one"], &whole.part(0..7));
        flush(&mut *from);
        for (number, &(head, body)) in all.iter().enumerate() {
            let parts = pattern(head, body);
            let (first, second) = parts.split_at(head / 3);
            queue(&mut *from, &[first, second], &whole.part(0..body));
            if number % 3 == 0 {
                from.send(&[IoSlice::new(b"between")], soon()).unwrap();
            }
        }
        let large = Payload::from(vec![0; limit]);
        let larger = from.try_queue(&[b"x"], &large);
        assert!(matches!(larger, Err(Error::TooLarge { .. })), "{larger:?}");
        queue(&mut *from, &[b"the last"], &Payload::default());
        flush(&mut *from);
        drop(from);
    };
    together(send, || {
        // It goes with this if it fails, or the sender would wait for it.
        let mut to = to;
        let mut take = |expected: &[u8]| {
            let take = &mut |came: &[u8]| {
                let (size, have) = (expected.len(), came.len());
                assert!(came == expected, "{have} bytes came of {size}, or others");
            };
            to.take(soon(), take).unwrap();
        };
        take(&[b"alone", &whole[..7]].concat());
        for (number, &(head, body)) in all.iter().enumerate() {
            take(&message(head, body));
            if number % 3 == 0 {
                take(b"between");
            }
        }
        take(b"the last");
        let end = to.take(soon(), &mut |_| panic!("no more was queued")).unwrap_err();
        assert!(is_end(&end), "{end}");
    });
}

/// Who keeps messages sees the same bytes as who takes them, and has them for as long as he likes,
/// whatever comes later.
pub fn what_is_kept_is_what_would_be_taken(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut from, mut to) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    let none = to.try_keep(&mut |_| panic!("nothing was sent"));
    assert!(none.unwrap_err().is_would_block());
    let mut sizes = sizes(from.limit());
    sizes.retain(|&size| size <= 2 * MEBIBYTE);
    let send = || {
        for &size in &sizes {
            for seed in [size, size, !size] {
                from.send(&[IoSlice::new(&pattern(size, seed))], soon()).unwrap();
            }
        }
        flush(&mut *from);
        from
    };
    let (_from, kept) = together(send, || {
        // As above.
        let (mut to, mut kept) = (to, Vec::new());
        for &size in &sizes {
            let expected = pattern(size, size);
            let take = &mut |came: &[u8]| assert!(came == expected, "{size} other bytes are taken");
            to.take(soon(), take).unwrap();
            for seed in [size, !size] {
                let (expected, payload) = (pattern(size, seed), keep(&mut *to));
                assert!(*payload == *expected, "{size} other bytes are kept");
                kept.push((expected, payload));
            }
        }
        kept
    });
    for (expected, payload) in kept {
        assert!(*payload == *expected, "what was kept has become something else");
    }
}

/// Keeps the next message.
fn keep(end: &mut dyn Datagram) -> Payload {
    let mut kept = None;
    loop {
        let keep = &mut |taken: Taken<'_>| {
            let payload = match taken {
                Taken::Seen(message) => Payload::from(message.to_vec()),
                Taken::Kept(payload) => payload,
            };
            assert!(kept.replace(payload).is_none(), "a message comes once");
        };
        match end.try_keep(keep) {
            Err(Error::WouldBlock) => end.wait(Ready::Receive, soon()).unwrap(),
            done => {
                done.unwrap();
                return kept.expect("it was seen");
            }
        }
    }
}
