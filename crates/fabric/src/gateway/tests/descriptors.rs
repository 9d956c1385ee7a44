//! A rank that has no descriptor for a connection: it gets it later, and what it sends is sent.

use super::*;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::gateway::{Rank, control, gate};
use crate::transport::shared::{segment, socket};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::Command;
use std::time::Duration;

/// Set in the process whose descriptors are few: a limit is all of a process's.
const FEW: &str = "MUSTER_TEST_GATEWAY_FEW";

fn pair(kind: SocketType) -> (OwnedFd, OwnedFd) {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socketpair(AddressFamily::UNIX, kind, flags, None).unwrap()
}

#[test]
fn a_rank_without_descriptors_sends_all_the_same_and_loses_no_connection() {
    if std::env::var_os(FEW).is_some() {
        return without_descriptors();
    }
    let name = "gateway::tests::descriptors::\
                a_rank_without_descriptors_sends_all_the_same_and_loses_no_connection";
    let mut command = Command::new(std::env::current_exe().unwrap());
    let status = command.args(["--exact", name]).env(FEW, "1").status();
    assert!(status.unwrap().success());
}

fn without_descriptors() {
    // What a daemon has and says.
    let layout = Layout::new(0, &[1, 1]);
    let size = layout.words * 8;
    let memory = segment::memory("test", size).unwrap();
    rustix::fs::fcntl_add_seals(&memory, rustix::fs::SealFlags::SEAL).unwrap();
    let mapped = Arc::new(segment::map(memory.as_fd(), size, true).unwrap());
    let daemon = Core::new(mapped, layout, 1);
    let (control, theirs) = pair(SocketType::SEQPACKET);
    let say = |bytes: &[u8], file| socket::send(control.as_fd(), bytes, Some(file)).unwrap();
    say(&control::welcome(0, &daemon.layout), memory.as_fd());
    let bells = [(); 2].map(|()| gate::bell().unwrap());
    (0..2).for_each(|process| say(&control::bell(process), bells[process].as_fd()));
    let mut rank = Rank::join(theirs, Deadline::after(Duration::from_secs(20))).unwrap();

    let (line, other) = pair(SocketType::STREAM);
    daemon.open(1, 1);
    say(&control::line(1, 1, None), line.as_fd());
    let before = getrlimit(Resource::Nofile);
    let next = std::fs::File::open("/").unwrap().as_raw_fd() as u64;
    setrlimit(Resource::Nofile, Rlimit { current: Some(next), ..before }).unwrap();
    let to = Place { node: 1, rank: 0 };
    let arrived = || recv(&other, &mut [0; 4096][..], RecvFlags::empty()).map_or(0, |got| got.0);
    for _ in 0..3 {
        assert_eq!(rank.try_send(to, b"", b"piece", 0).expect("others send it"), 5);
        rank.wait(&[], Duration::from_millis(2)).expect("it can wait");
        assert_eq!(arrived(), 0);
    }
    setrlimit(Resource::Nofile, before).unwrap();
    assert_eq!(rank.try_send(to, b"", b"piece", 0).expect("it is connected"), 5);
    assert!(arrived() >= 4 * 5, "all that was posted");
    rank.spoil();
    let waited = rank.take(Deadline::after(Duration::from_secs(20)), &mut |_| ());
    assert!(matches!(waited, Err(Error::Io { .. })), "who cannot wait is told so: {waited:?}");
}
