//! Links within this process and between processes.

mod bell;
mod copies;
mod hostile;
mod lent;
mod planner;
mod processes;
mod ring;

use super::*;
use crate::strategy::{Datagram, Ready};
use crate::transport::Lane;
use crate::transport::process::Process;
use proptest::prelude::*;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

fn hello(lane: Lane) -> Hello {
    Hello { name: "tester".to_owned(), service: "test".to_owned(), lane }
}

/// Planners that always say the same.
fn planners(plan: Plan) -> Planners {
    Arc::new(move |_| Box::new(Fixed { short: 1024, long: plan }))
}

/// A path in a directory that goes when this does.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-shm-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory).unwrap();
        Place(directory)
    }

    fn path(&self) -> PathBuf {
        self.0.join("s")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn pair(plan: Plan) -> (Link, Link) {
    meet::pair("there", &hello(Lane::Bulk), &planners(plan)).unwrap()
}

const PIPELINED: Plan = Plan::Pipelined { packet: 4096, slots: 4 };

/// Bytes that tell where they are.
fn pattern(size: usize, seed: usize) -> Vec<u8> {
    (0..size).map(|at| (at.wrapping_mul(31) ^ (at >> 8) ^ seed) as u8).collect()
}

fn take(link: &mut Link) -> Vec<u8> {
    let mut got = Vec::new();
    Datagram::take(link, soon(), &mut |bytes| got = bytes.to_vec()).unwrap();
    got
}

#[test]
fn an_offer_that_nobody_takes_is_withdrawn_and_its_message_goes_through_the_ring() {
    let (mut here, mut there) = pair(Plan::SingleCopy);
    // Several times, so that offers come to be left out, and are made again.
    for number in 0..10 {
        let bytes = pattern(100_000, number);
        here.send(&[IoSlice::new(&bytes)], soon()).unwrap();
        here.send(&[IoSlice::new(&[number as u8; 5000])], soon()).unwrap();
        assert!(take(&mut there) == bytes, "{number}");
        assert_eq!(take(&mut there), [number as u8; 5000]);
    }
}

#[test]
fn a_send_that_is_too_long_for_the_ring_waits_for_its_receiver_and_says_so() {
    let (mut here, mut there) = pair(Plan::SingleCopy);
    let bytes = pattern(RING_LEAST + 1, 3);
    let brief = Deadline::after(Duration::from_millis(20));
    let error = here.send(&[IoSlice::new(&bytes)], brief).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    here.send(&[IoSlice::new(b"x")], soon()).unwrap();
    assert_eq!(take(&mut there), b"x");
}

#[test]
fn an_offer_that_waits_for_room_ends_with_its_peer() {
    let (mut here, there) = pair(Plan::SingleCopy);
    // It lies where offers do, and is not taken.
    here.try_send(&[IoSlice::new(&[1; 5000])]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while there.peers(segment::ASLEEP).load(Ordering::Relaxed) & link::ROOM == 0 {
                std::thread::yield_now();
            }
            drop(there);
        });
        let bytes = pattern(RING_LEAST + 1, 3);
        let error = here.send(&[IoSlice::new(&bytes)], soon()).unwrap_err();
        assert!(matches!(error, Error::Closed { .. }), "{error}");
    });
}

#[test]
fn what_a_link_has_flushed_is_received_whatever_its_writer_does_then() {
    use std::io::Write;
    let (here, there) = pair(PIPELINED);
    let [here, mut there] = [here, there].map(|link| Box::new(link).stream().unwrap());
    let (mut here, bytes) = (crate::communicator::Link::new(here), pattern(40_000, 5));
    std::thread::scope(|scope| {
        let mut plain = here.within(Duration::from_secs(20));
        assert_eq!(plain.write(&bytes).unwrap(), bytes.len(), "there is room for less");
        let reading = scope.spawn(|| {
            let (mut got, mut buffer) = (Vec::new(), vec![0; 65_536]);
            while got.len() < bytes.len() {
                let size = there.read(&mut buffer, soon()).unwrap();
                got.extend_from_slice(&buffer[..size]);
            }
            got
        });
        plain.flush().unwrap();
        assert!(reading.join().unwrap() == bytes);
    });
}

#[test]
fn what_a_stream_says_has_left_is_received_after_its_writer_has_gone() {
    let (here, there) = pair(PIPELINED);
    let [mut here, mut there] = [here, there].map(|link| Box::new(link).stream().unwrap());
    let (bytes, mut got, mut buffer) = (pattern(40_000, 5), Vec::new(), vec![0; 65_536]);
    assert_eq!(here.try_write(&bytes).unwrap(), bytes.len());
    assert!(!here.try_flush().unwrap(), "there is room for less");
    while !here.try_flush().unwrap() {
        match there.try_read(&mut buffer) {
            Ok(size) => got.extend_from_slice(&buffer[..size]),
            Err(error) => assert!(error.is_would_block(), "{error}"),
        }
    }
    drop(here);
    loop {
        match there.read(&mut buffer, soon()).unwrap() {
            0 => break,
            size => got.extend_from_slice(&buffer[..size]),
        }
    }
    assert!(got == bytes);
}

#[test]
fn messages_of_all_sizes_arrive_whole_and_in_order_whatever_the_plan() {
    for plan in [Plan::Short, PIPELINED, Plan::SingleCopy, PLAN.long] {
        let (mut here, mut there) = pair(plan);
        let sizes = [0, 1, 56, 64, 120, 121, 1024, 4097, 65_536, 300_000, 3_000_001, 16 << 20];
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for (seed, size) in sizes.into_iter().enumerate() {
                    let bytes = pattern(size, seed);
                    let (left, right) = bytes.split_at(size / 3);
                    // In one part, then in two.
                    here.send(&[IoSlice::new(&bytes)], soon()).unwrap();
                    here.send(&[IoSlice::new(left), IoSlice::new(right)], soon()).unwrap();
                }
                here.wait(Ready::Receive, soon()).unwrap();
            });
            let mut buffer = vec![0; 16 << 20];
            for (seed, size) in sizes.into_iter().enumerate() {
                let bytes = pattern(size, seed);
                assert!(take(&mut there) == bytes, "{plan:?}: {size} bytes");
                let got = there.receive(&mut buffer, soon()).unwrap();
                assert!(buffer[..got] == bytes, "{plan:?}: {size} bytes into a buffer");
            }
            there.try_fill(0, |_| ()).unwrap();
        });
    }
}

#[test]
fn a_try_never_waits_and_what_it_kept_leaves_with_flushes() {
    let (mut here, mut there) = pair(PIPELINED);
    let bytes = pattern(5 << 20, 7);
    Datagram::try_send(&mut here, &[IoSlice::new(&bytes)]).unwrap();
    assert!(matches!(here.try_fill(8, |_| ()), Err(Error::WouldBlock)));
    let mut got = None;
    while got.is_none() {
        here.try_flush().unwrap();
        match there.try_take(|bytes| bytes.to_vec()) {
            Err(Error::WouldBlock) => {}
            taken => got = Some(taken.unwrap()),
        }
    }
    assert!(got.unwrap() == bytes);
    here.try_fill(8, |to| to.fill(3)).unwrap();
    assert_eq!(take(&mut there), [3; 8]);
}

#[test]
fn a_message_that_began_in_the_links_buffer_and_is_too_large_is_not_lost() {
    let (mut here, mut there) = pair(Plan::Pipelined { packet: 4096, slots: 2 });
    let bytes = pattern(10_000, 3);
    for is_by_buffer in [true, false] {
        here.try_send(&[IoSlice::new(&bytes)]).unwrap();
        assert!(there.try_take(|_| ()).unwrap_err().is_would_block());
        here.try_flush().unwrap();
        for _ in 0..2 {
            let error = there.try_receive(&mut [0; 9]).unwrap_err();
            assert!(matches!(error, Error::TooLarge { size: 10_000, .. }), "{error}");
        }
        there.wait(Ready::Receive, soon()).unwrap();
        if is_by_buffer {
            let mut buffer = [0; 20_000];
            assert_eq!(there.try_receive(&mut buffer).unwrap(), bytes.len());
            assert!(buffer[..bytes.len()] == bytes);
        } else {
            assert!(take(&mut there) == bytes);
        }
        assert!(there.try_receive(&mut [0; 9]).unwrap_err().is_would_block());
    }
}

#[test]
fn what_follows_a_message_taken_back_is_received_where_it_is_asked_for() {
    let (mut here, mut there) = pair(Plan::Pipelined { packet: 4096, slots: 2 });
    let short = Deadline::after(Duration::from_millis(3));
    let error = here.send(&[IoSlice::new(&[1; 100_000])], short).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    assert!(there.try_take(|_| ()).unwrap_err().is_would_block());
    here.try_flush().unwrap();
    here.try_send(&[IoSlice::new(&[2; 3000])]).unwrap();
    let error = there.try_receive(&mut [0; 9]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { size: 3000, .. }), "{error}");
    assert_eq!(take(&mut there), [2; 3000]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_mix_of_sends_and_receives_loses_nothing(
        steps in proptest::collection::vec((any::<bool>(), 0_usize..200_000, 0_u8..3), 1..120),
        slots in 1_usize..9,
        packet in 1_usize..50_000,
    ) {
        let (mut here, mut there) = pair(Plan::Pipelined { packet, slots });
        let mut sent = std::collections::VecDeque::new();
        for (seed, (is_send, size, way)) in steps.into_iter().enumerate() {
            // Half of them short.
            let size = if seed % 2 == 0 { size % 200 } else { size };
            let bytes = pattern(size, seed);
            if is_send {
                let tried = match way {
                    0 => here.try_fill(size, |to| to.copy_from_slice(&bytes)),
                    _ => here.try_send(&[IoSlice::new(&bytes)]),
                };
                match tried {
                    Ok(()) => sent.push_back(bytes),
                    Err(error) => prop_assert!(error.is_would_block()),
                }
            } else if way == 0 {
                let mut buffer = vec![0; 200_000];
                match there.try_receive(&mut buffer) {
                    Ok(count) => {
                        prop_assert!(Some(&buffer[..count]) == sent.pop_front().as_deref());
                    }
                    Err(error) => prop_assert!(error.is_would_block()),
                }
            } else {
                match there.try_take(|bytes| bytes.to_vec()) {
                    Ok(bytes) => prop_assert!(Some(bytes) == sent.pop_front()),
                    Err(error) => prop_assert!(error.is_would_block()),
                }
            }
        }
        while let Some(bytes) = sent.pop_front() {
            here.try_flush().unwrap();
            loop {
                match there.try_take(|bytes| bytes.to_vec()) {
                    Err(Error::WouldBlock) => here.try_flush().map(drop).unwrap(),
                    got => break prop_assert!(got.unwrap() == bytes),
                }
            }
        }
    }
}

#[test]
fn an_end_that_leaves_in_order_has_its_last_words_heard() {
    let (mut here, mut there) = pair(PIPELINED);
    here.try_fill(3, |to| to.copy_from_slice(b"bye")).unwrap();
    drop(here);
    assert_eq!(take(&mut there), b"bye");
    let error = Datagram::take(&mut there, soon(), &mut |_| ()).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
    let error = there.try_fill(1, |_| ()).unwrap_err();
    assert!(matches!(error, Error::Closed { .. }), "{error}");
}

#[test]
fn an_expired_wait_says_who_waited_for_whom() {
    let (mut here, _there) = pair(PIPELINED);
    let error = here.wait(Ready::Receive, Deadline::after(Duration::from_millis(3))).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("tester has waited") && text.contains("for there (process"), "{text}");
}

#[test]
fn both_transports_meet_by_address() {
    let place = Place::new();
    let shm = Address::Shared(place.path());
    for (transport, address) in [
        (Box::new(Shared::default()) as Box<dyn Transport>, shm),
        (Box::new(Process::default()), Address::Process("tests-meet".to_owned())),
    ] {
        let refused = transport.connect(&address, &hello(Lane::System), soon()).err().unwrap();
        assert!(matches!(refused, Error::Refused { .. }), "{refused}");
        let mut listener = transport.listen(&address).unwrap();
        let again = transport.listen(&address).err().unwrap();
        assert!(again.is_taken(), "{again}");
        let mut mine = std::thread::scope(|scope| {
            let connecting =
                scope.spawn(|| transport.connect(&address, &hello(Lane::System), soon()).unwrap());
            let theirs = listener.accept(soon()).unwrap();
            assert_eq!(theirs.hello(), &hello(Lane::System));
            assert_eq!(theirs.peer().pid, Some(std::process::id()));
            let mut theirs = theirs.datagram().unwrap();
            theirs.send(&[IoSlice::new(b"hi")], soon()).unwrap();
            connecting.join().unwrap().datagram().unwrap()
        });
        mine.take(soon(), &mut |bytes| assert_eq!(bytes, b"hi")).unwrap();
        drop(listener);
        transport.listen(&address).unwrap();
    }
    assert!(!place.path().exists(), "a listener takes its path with it");
}
