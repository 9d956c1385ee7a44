//! Promises about messages.

use super::{Subject, is_end, meet, pattern, soon, together};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::strategy::{Datagram, Ready, Wait};
use std::io::IoSlice;
use std::time::Duration;

pub(super) const MEBIBYTE: usize = 1 << 20;

/// What a peer that does not read may make this side hold, with all that the kernel holds.
const HELD_MAX: usize = 64 * MEBIBYTE;

pub(super) fn sizes(limit: usize) -> Vec<usize> {
    let powers = [0, 1 << 6, 1 << 12, 1 << 16, MEBIBYTE, 16 * MEBIBYTE];
    let around =
        powers.iter().flat_map(|&power: &usize| [power.saturating_sub(1), power, power + 1]);
    around.filter(|&size| size <= limit && size <= 16 * MEBIBYTE).collect()
}

/// Messages of 0 bytes to 16 MiB arrive as they were sent, filled in place or sent in parts.
pub fn messages_of_all_sizes_stay_whole(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut from, mut to) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    let sizes = sizes(from.limit());
    let send = || {
        for &size in &sizes {
            let message = pattern(size, size);
            let (first, second) = message.split_at(size / 3);
            from.send(&[IoSlice::new(first), IoSlice::new(second)], soon()).unwrap();
            fill(&mut *from, &pattern(size, size + 1));
        }
        flush(&mut *from);
        let limit = from.limit();
        let larger = from.try_fill(limit + 1, &mut |_| panic!("there is no room for it"));
        assert!(matches!(larger, Err(Error::TooLarge { .. })), "{larger:?}");
        from
    };
    together(send, || {
        for &size in &sizes {
            for seed in [size, size + 1] {
                let expected = pattern(size, seed);
                let take = &mut |message: &[u8]| {
                    assert!(message == expected, "a message of {size} bytes is another");
                };
                to.take(soon(), take).unwrap();
            }
        }
    });
}

fn fill(end: &mut dyn Datagram, message: &[u8]) {
    loop {
        match end.try_fill(message.len(), &mut |buffer| buffer.copy_from_slice(message)) {
            Err(Error::WouldBlock) => end.wait(Ready::Send, soon()).unwrap(),
            done => return done.unwrap(),
        }
    }
}

pub(super) fn flush(end: &mut dyn Datagram) {
    while !end.try_flush().unwrap() {
        end.wait(Ready::Send, soon()).unwrap();
    }
}

/// Many messages both ways at once come in the order in which they were sent.
pub fn messages_come_in_order(subject: &impl Subject) {
    const COUNT: u32 = 5000;
    let (connected, accepted) = meet(subject);
    let exchange = |mut end: Box<dyn Datagram>| {
        let (mut sent, mut received) = (0, 0);
        while received < COUNT || sent < COUNT || !end.try_flush().unwrap() {
            let message = [&sent.to_le_bytes()[..], &[7; 100][..sent as usize % 100]].concat();
            let sending =
                if sent < COUNT { end.try_send(&[IoSlice::new(&message)]) } else { Ok(()) };
            match sending {
                Ok(()) => sent += u32::from(sent < COUNT),
                Err(error) => assert!(error.is_would_block(), "{error}"),
            }
            let taken = end.try_take(&mut |message| {
                assert_eq!(message[..4], u32::to_le_bytes(received));
                assert_eq!(message.len(), 4 + received as usize % 100);
                received += 1;
            });
            match taken {
                Err(Error::WouldBlock) if sent == COUNT && received < COUNT => {
                    end.wait(Ready::Receive, soon()).unwrap();
                }
                Err(Error::WouldBlock) => {}
                taken => taken.unwrap(),
            }
        }
        end
    };
    let other = accepted.datagram().unwrap();
    let one = connected.datagram().unwrap();
    together(move || exchange(one), move || exchange(other));
}

/// Sends end with would-block before much memory is taken, and go on when the peer reads again.
pub fn a_peer_that_stops_reading_takes_little(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut from, mut to) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    let none = to.try_take(&mut |_| panic!("nothing was sent"));
    assert!(none.unwrap_err().is_would_block());

    let size = from.limit().min(100_000);
    let mut sent = 0;
    // A refusal may be followed by room: a kernel takes more when its buffers have grown. Whoever
    // is refused was not asked for the message.
    loop {
        let mut asked = false;
        let filled = from.try_fill(size, &mut |buffer| {
            asked = true;
            buffer.fill(sent as u8);
        });
        assert_eq!(asked, filled.is_ok());
        match filled {
            Ok(()) => sent += 1,
            Err(error) => break assert!(error.is_would_block(), "{error}"),
        }
        assert!(sent * size <= HELD_MAX, "{sent} messages of {size} bytes are held");
    }
    let send = || {
        from.send(&[IoSlice::new(b"the last")], soon()).unwrap();
        flush(&mut *from);
        from
    };
    together(send, || {
        for number in 0..sent {
            to.take(soon(), &mut |message| assert!(message.iter().all(|&it| it == number as u8)))
                .unwrap();
        }
        to.take(soon(), &mut |message| assert_eq!(message, b"the last")).unwrap();
    });
}

/// Who is told that a message is late may send it again: nothing of it comes. What was accepted
/// comes whole and in order, also if its deadline has passed while it was on its way out.
pub fn a_message_comes_unless_its_sender_was_told_that_it_is_late(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut from, mut to) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    let sizes = [1000, from.limit().min(8 * MEBIBYTE)];
    let message = |number: u8| vec![number; sizes[usize::from(number % 2)]];
    // The peer does not read.
    let (mut taken, mut late) = (Vec::new(), 0);
    for number in 0..u8::MAX {
        let brief = Deadline::after(Duration::from_millis(20));
        match from.send(&[IoSlice::new(&message(number))], brief) {
            Ok(()) => taken.push(number),
            Err(Error::Deadline { whom, .. }) => {
                assert!(whom.starts_with(&from.peer().name), "{whom}");
                late += 1;
            }
            Err(error) => panic!("{error}"),
        }
        if late == 3 {
            break;
        }
    }
    assert_eq!(late, 3, "all of {} messages are held", taken.len());
    taken.push(u8::MAX);
    let send = || {
        from.send(&[IoSlice::new(&message(u8::MAX))], soon()).unwrap();
        flush(&mut *from);
    };
    together(send, || {
        for number in taken {
            let expected = message(number);
            let take = &mut |message: &[u8]| {
                let is_it = message == expected;
                assert!(is_it, "{:?} came, not {number}", message.first());
            };
            to.take(soon(), take).unwrap();
        }
    });
    drop(from);
    let end = to.take(soon(), &mut |_| panic!("no more was accepted")).unwrap_err();
    assert!(is_end(&end), "{end}");
}

/// What was accepted and flushed comes though its end is gone, also what is longer than what is
/// under way at once.
pub fn what_was_flushed_comes_though_its_sender_is_gone(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut from, mut to) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    let message = vec![7; from.limit().min(16 * MEBIBYTE)];
    let send = move || {
        fill(&mut *from, &message);
        flush(&mut *from);
        message
    };
    together(send, || {
        // So that it waits at its sender for a while.
        std::thread::sleep(Duration::from_millis(20));
        to.take(soon(), &mut |came| assert!(came.iter().all(|&byte| byte == 7))).unwrap();
        let end = to.take(soon(), &mut |_| panic!("no more was sent")).unwrap_err();
        assert!(matches!(end, Error::Closed { .. }), "{end}");
    });
}

/// Who waits in vain is told so, by the names of both.
pub fn a_deadline_says_who_waits_for_whom(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    let wait = |end: &mut dyn Datagram| {
        match end.wait(Ready::Receive, Deadline::after(Duration::from_millis(10))) {
            Err(Error::Deadline { who, whom, .. }) => (who, whom),
            // It may return early, but the message is not there.
            other => panic!("{other:?}"),
        }
    };
    // A transport that knows the peer's process may add it to the name.
    let (who, whom) = wait(&mut *one);
    assert_eq!(who, "connector");
    assert!(whom.starts_with(&one.peer().name), "{whom}");
    let (who, whom) = wait(&mut *other);
    assert!(whom.starts_with("connector"), "{whom}");
    assert!(who.contains(subject.transport().scheme()), "{who}");
    let late = other.take(Deadline::now(), &mut |_| panic!("nothing was sent"));
    assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");
}

/// All that was sent before an end was dropped arrives, and then that it was closed.
pub fn an_orderly_end_comes_after_the_last_message(subject: &impl Subject) {
    for connector_goes in [true, false] {
        let (connected, accepted) = meet(subject);
        let (one, other) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
        let (mut goes, mut stays) = if connector_goes { (one, other) } else { (other, one) };
        for number in 0..10u8 {
            goes.send(&[IoSlice::new(&[number; 1000])], soon()).unwrap();
        }
        drop(goes);
        for number in 0..10u8 {
            stays.take(soon(), &mut |message| assert_eq!(message, [number; 1000])).unwrap();
        }
        for _ in 0..2 {
            let end = stays.take(soon(), &mut |_| panic!("no more was sent")).unwrap_err();
            assert!(matches!(end, Error::Closed { .. }), "{end}");
        }
        let refused = (0..1000).find_map(|_| stays.send(&[IoSlice::new(b"x")], soon()).err());
        assert!(is_end(&refused.expect("nobody is there")));
    }
}
