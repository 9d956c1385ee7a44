//! Peers that break the rules: at the meeting, in the segment, over the socket.

use super::*;
use crate::transport::hello::{self, ANSWER_MAX};
use crate::transport::shared::ring::{Berth, ENTRIES, Kind};
use crate::transport::shared::segment;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

fn socket() -> OwnedFd {
    let flags = SocketFlags::CLOEXEC;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap()
}

pub(super) fn stranger(path: &Path) -> OwnedFd {
    let stranger = socket();
    rustix::net::connect(&stranger, &SocketAddrUnix::new(path).unwrap()).unwrap();
    stranger
}

/// Waits for an answer and reads it.
pub(super) fn answer(stranger: &OwnedFd) -> std::result::Result<Option<usize>, hello::Refusal> {
    let mut bytes = [0; ANSWER_MAX];
    let (count, _) =
        rustix::net::recv(stranger, &mut bytes[..], rustix::net::RecvFlags::empty()).unwrap();
    hello::read_answer(&bytes[..count])
}

/// One who listens, greets so many proper peers, and leaves.
fn listen(place: &Place, proper: usize) -> std::thread::JoinHandle<()> {
    let mut links = Shared::default().listen_link(&place.path()).unwrap();
    std::thread::spawn(move || {
        for _ in 0..proper {
            let mut link = links.accept_link(soon()).unwrap();
            link.try_fill(2, |to| to.copy_from_slice(b"ok")).unwrap();
        }
    })
}

#[test]
fn strangers_are_told_what_is_wrong_and_keep_nobody_waiting() {
    let place = Place::new();
    let listener = listen(&place, 1);
    let _silent = stranger(&place.path());
    let good = hello::write(&hello(Lane::Bulk));
    let mut newer = good.clone();
    newer[4] = 9;
    let (small, _) = segment::create(Lane::System).unwrap();
    let unsealed = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&unsealed, 8 << 20).unwrap();
    let longer = [&good[..], b"!"].concat();
    for (bytes, memory, says) in [
        (b"GET / HTTP/1.1".to_vec(), None, "MSTR"),
        (newer, None, "version 9 is spoken there, version 1 here"),
        (good[..9].to_vec(), None, "it ends early"),
        (longer, None, "more than a hello"),
        (good.clone(), None, "no memory"),
        (good.clone(), Some(&small), "another size"),
        (good, Some(&unsealed), "sealed"),
    ] {
        let stranger = stranger(&place.path());
        let memory = memory.map(AsFd::as_fd);
        crate::transport::shared::socket::send(stranger.as_fd(), &bytes, memory).unwrap();
        let refusal = answer(&stranger).unwrap_err().to_string();
        let is_version = refusal.contains("version 1 is spoken there");
        assert!(refusal.contains(says) || is_version && says.contains("version"), "{refusal}");
    }
    let mut link =
        Shared::default().connect_link(&place.path(), &hello(Lane::Bulk), soon()).unwrap();
    assert_eq!(take(&mut link), b"ok");
    listener.join().unwrap();
}

#[test]
fn a_listener_of_another_version_is_named_with_its_version() {
    let place = Place::new();
    let listener = socket();
    rustix::net::bind(&listener, &SocketAddrUnix::new(place.path()).unwrap()).unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let came = rustix::net::accept(&listener).unwrap();
            let mut bytes = [0; 600];
            rustix::net::recv(&came, &mut bytes[..], rustix::net::RecvFlags::empty()).unwrap();
            let mut refusal = hello::Refusal::Version { theirs: 1 }.answer();
            refusal[4] = 7;
            rustix::net::send(&came, &refusal, rustix::net::SendFlags::empty()).unwrap();
        });
        let error = Shared::default().connect_link(&place.path(), &hello(Lane::Bulk), soon());
        assert!(matches!(error.err().unwrap(), Error::Version { theirs: 7, .. }));
    });
}

#[test]
fn only_its_user_reaches_a_listener_and_a_dead_ones_path_is_taken() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let dead = socket();
    rustix::net::bind(&dead, &SocketAddrUnix::new(place.path()).unwrap()).unwrap();
    drop(dead);
    let _links = Shared::default().listen_link(&place.path()).unwrap();
    let mode = std::fs::metadata(place.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_path_with_a_file_is_refused_and_the_file_kept() {
    let place = Place::new();
    std::fs::write(place.path(), "mine").unwrap();
    let error = Shared::default().listen_link(&place.path()).err().unwrap();
    assert!(error.is_taken(), "{error}");
    assert_eq!(std::fs::read(place.path()).unwrap(), b"mine");
}

#[test]
fn a_count_that_cannot_be_ends_the_connection_on_both_sides() {
    let (mut here, mut there) = pair(PIPELINED);
    // The listener counts what the connector has freed of its records at 512 + 128.
    there.segment.word64(512 + 128).store(1 << 40, Ordering::Relaxed);
    let error = loop {
        if let Err(error) = there.try_fill(8, |_| ()) {
            break error;
        }
    };
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    let error = there.try_fill(8, |_| ()).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    let error = loop {
        if let Err(error) = Datagram::take(&mut here, soon(), &mut |_| ()) {
            break error;
        }
    };
    assert!(matches!(error, Error::Dead { .. }), "{error}");
}

/// A sender whose peer turned out to be broken in the middle of a message forgot that it had ended,
/// and looked for a rest that it had not kept.
#[test]
fn garbage_in_the_middle_of_sending_stays_an_error() {
    let (_here, mut there) = pair(PIPELINED);
    there.segment.word64(512 + 128).store(1 << 40, Ordering::Relaxed);
    let error = there.try_send(&[IoSlice::new(&[1; 100_000])]).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
    for _ in 0..3 {
        let error = there.try_flush().unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
        there.wait(Ready::Send, soon()).unwrap();
    }
}

#[test]
fn a_lying_length_takes_no_memory() {
    let (_here, mut there) = pair(PIPELINED);
    // The first record of the connector: the first packet of a message of 2^60 bytes.
    let entry = 4096;
    there.segment.word64(entry + 104).store(0, Ordering::Relaxed);
    there.segment.word64(entry + 112).store(1 << 60, Ordering::Relaxed);
    there.segment.word64(entry + 120).store(1 << 32 | 2 << 28 | 64, Ordering::Release);
    let error = there.try_take(|_| ()).unwrap_err();
    assert!(error.to_string().contains("a message of 1152921504606846976 bytes"), "{error}");
}

#[test]
fn garbage_over_the_socket_ends_the_connection() {
    let (here, mut there) = pair(PIPELINED);
    let descriptor = here.descriptor();
    crate::transport::shared::socket::send(descriptor, b"nonsense", None).unwrap();
    let error = Datagram::take(&mut there, soon(), &mut |_| ()).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
}

#[test]
fn nothing_is_received_any_more_of_who_broke_the_rules() {
    let (mut here, mut there) = pair(PIPELINED);
    here.try_fill(1, |to| to[0] = 1).unwrap();
    crate::transport::shared::socket::send(here.descriptor(), b"nonsense", None).unwrap();
    // Who sends looks at the socket now and then.
    while there.try_fill(1, |to| to[0] = 2).is_ok() {}
    let buffer = &mut [0; 8];
    for error in [
        there.try_take(|_| ()).unwrap_err(),
        there.try_keep(|_| ()).unwrap_err(),
        there.try_receive(buffer).unwrap_err(),
        there.receive(buffer, soon()).unwrap_err(),
        there.try_take(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
    }
}

#[test]
fn memory_that_cannot_be_mapped_is_its_senders_fault() {
    let place = Place::new();
    let listener = listen(&place, 1);
    let good = hello::write(&hello(Lane::Bulk));
    let size = 16 << 20;
    let sealed = segment::memory("test", size).unwrap();
    rustix::fs::fcntl_add_seals(&sealed, rustix::fs::SealFlags::FUTURE_WRITE).unwrap();
    let whole = segment::memory("test", size).unwrap();
    let path = format!("/proc/self/fd/{}", whole.as_raw_fd());
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC;
    let read_only = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).unwrap();
    for memory in [sealed, read_only] {
        let stranger = stranger(&place.path());
        crate::transport::shared::socket::send(stranger.as_fd(), &good, Some(memory.as_fd()))
            .unwrap();
        let refusal = answer(&stranger).unwrap_err().to_string();
        assert!(refusal.contains("cannot be mapped"), "{refusal}");
    }
    let mut link =
        Shared::default().connect_link(&place.path(), &hello(Lane::Bulk), soon()).unwrap();
    assert_eq!(take(&mut link), b"ok");
    listener.join().unwrap();
}

#[test]
fn a_peer_that_goes_on_after_its_farewell_keeps_no_try_for_ever() {
    let (mut here, mut there) = pair(PIPELINED);
    here.own(segment::CLOSED).store(1, Ordering::Release);
    let mut send = || here.try_fill(1, |to| to[0] = 1).unwrap();
    // What can have been sent before.
    for _ in 0..ENTRIES {
        send();
        there.nothing().unwrap();
        there.try_take(|_| ()).unwrap();
    }
    send();
    let error = there.nothing().unwrap_err();
    assert!(error.to_string().contains("it goes on after its end"), "{error}");
    let error = there.try_take(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Malformed { .. }), "{error}");
}

/// What is always there to be looked at, and no message.
#[test]
fn a_held_trial_keeps_nobody_longer_than_the_deadline() {
    let (mut here, mut there) = pair(PIPELINED);
    here.out.push((Kind::Trial, 0), 64, Berth::within(4096), |to| to.fill(0)).unwrap().unwrap();
    for _ in 0..2 {
        let error = there.receive(&mut [0; 100], Deadline::now()).unwrap_err();
        assert!(matches!(error, Error::Deadline { .. }), "{error}");
        let taken = Datagram::take(&mut there, Deadline::now(), &mut |_| panic!("it is a trial"));
        assert!(matches!(taken, Err(Error::Deadline { .. })), "{taken:?}");
    }
    there.descriptor();
    assert!(there.try_take(|_| ()).unwrap_err().is_would_block());
    assert!(there.try_receive(&mut [0; 100]).unwrap_err().is_would_block());
    assert_eq!(there.inn.peek().unwrap().unwrap().kind, Kind::Trial, "it is still held");
}

#[test]
fn a_trial_of_a_peer_that_has_gone_is_not_waited_for() {
    let (mut here, mut there) = pair(PIPELINED);
    here.out.push((Kind::Trial, 0), 64, Berth::within(4096), |to| to.fill(0)).unwrap().unwrap();
    let record = there.inn.peek().unwrap().unwrap();
    assert!(!there.answer(&record).unwrap(), "it is held");
    here.own(segment::CLOSED).store(1, Ordering::Release);
    assert!(there.answer(&record).unwrap());
}

#[test]
fn notes_about_regions_are_for_connections_with_remote_copy() {
    let (here, mut there) = pair(PIPELINED);
    let memory = segment::memory("test", 4096).unwrap();
    let note = crate::transport::shared::socket::exposed(1, 4096);
    crate::transport::shared::socket::send(here.descriptor(), &note, Some(memory.as_fd())).unwrap();
    let error = Datagram::take(&mut there, soon(), &mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("no remote copy"), "{error}");
}

#[test]
fn the_samples_in_the_documentation_are_what_is_shared() {
    let page = include_str!("../../../../../../docs/wire/shared.md");
    let sample = |name: &str| -> Vec<u8> {
        let (_, rest) = page.split_once(&format!("sample {name}: ")).unwrap();
        let bytes = rest.lines().next().unwrap().split_whitespace();
        bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    };
    let (mut here, there) = pair(PIPELINED);
    here.try_fill(2, |to| to.copy_from_slice(b"hi")).unwrap();
    let words = [4096 + 112, 4096 + 120];
    let words = words.map(|at| there.segment.word64(at).load(Ordering::Acquire));
    assert_eq!(words.map(u64::to_le_bytes).concat(), sample("record"));
    let socket = crate::transport::shared::socket::exposed(7, 4096);
    assert_eq!(socket[..], sample("exposed"));
    assert_eq!(crate::transport::shared::socket::withdrawn(7)[..], sample("withdrawn"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever a peer writes into the segment, each call returns.
    #[test]
    fn garbage_in_the_segment_is_an_error_or_a_message(
        writes in proptest::collection::vec((0_usize..10_000, any::<u64>(), 0_u8..4), 1..80),
    ) {
        let words = writes.into_iter().enumerate().map(|(number, (at, value, way))| {
            let entry = 4096 + number % 128 * 128;
            match way {
                0 => (at * 8 % 700, value % 5),
                1 => (entry, (number as u64 + 1) << 32 | value & 0xffff_ffff),
                2 => (entry + 8 + at % 2 * 8, value % 2048 * 64),
                _ => (at * 8, value),
            }
        });
        trample(words);
    }
}
