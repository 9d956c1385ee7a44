//! How ranks meet their daemon, and who is not let in.

use crate::deadline::Deadline;
use crate::error::Error;
use crate::gateway::node::BEFORE;
use crate::gateway::{Asking, Desk, Node, Place, Rank};
use crate::transport::shared::{meet, socket};
use muster_base::limits::HELLOS_MAX;
use rustix::event::{PollFd, PollFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A directory with a desk's socket, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-meeting-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn gate(&self) -> PathBuf {
        self.0.join("gate")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What somebody is told who says that.
fn told(gate: &Path, said: &[u8]) -> String {
    let stranger = reach(gate);
    socket::send(stranger.as_fd(), said, None).unwrap();
    assert!(meet::readable(&mut [PollFd::new(&stranger, PollFlags::IN)], soon()).unwrap());
    let mut bytes = [1; 512];
    let (size, file) = socket::receive(stranger.as_fd(), &mut bytes).unwrap();
    assert!(bytes[0] == 0 && file.is_none());
    String::from_utf8(bytes[1..size].to_vec()).unwrap()
}

fn reach(gate: &Path) -> OwnedFd {
    meet::reach(gate, "the desk", "somebody", soon()).unwrap()
}

/// Answers all who ask until the desk is closed, as a daemon that believes them. Job 7 is here.
fn attend(mut desk: Desk, ranks: &[u16]) {
    let node = Node::new(0, ranks).unwrap();
    let door = node.door().unwrap();
    let answer = |asking: Asking| match asking.job {
        7 => door.let_in(asking.rank, asking),
        job => asking.refuse(&format!("there is no job {job}")),
    };
    let serving = std::thread::spawn(move || node.serve());
    loop {
        match desk.next(soon()) {
            Ok(asking) => {
                let (pid, own) = (asking.pid.unwrap(), rustix::process::geteuid().as_raw());
                assert_eq!((pid, asking.uid), (std::process::id(), own));
                answer(asking);
            }
            Err(Error::Closed { .. }) => break,
            Err(error) => panic!("{error}"),
        }
    }
    door.end();
    serving.join().unwrap();
}

fn refusal(asked: Result<Rank, Error>) -> String {
    asked.err().expect("it is refused").to_string()
}

#[test]
fn ranks_get_in_once_whoever_else_is_silent_or_talks_nonsense() {
    let folder = Folder::new();
    let gate = folder.gate();
    let desk = Desk::open(&gate).unwrap();
    assert!(Desk::open(&gate).is_err_and(|error| error.is_taken()));
    let shutter = desk.shutter();
    let daemon = std::thread::spawn(|| attend(desk, &[2, 1]));
    let silent: Vec<OwnedFd> = (0..HELLOS_MAX + 2).map(|_| reach(&gate)).collect();
    assert!(told(&gate, b"x").contains("where ranks of jobs ask"));
    assert!(told(&gate, b"MSGR\x09\x00").contains("version 9"));
    assert!(told(&gate, &[b'M'; 4096]).contains("where ranks of jobs ask"));
    let first = Rank::meet(&gate, (7, 1), soon()).unwrap();
    assert_eq!((first.place(), first.shape()), (Place { node: 0, rank: 1 }, &[2, 1][..]));
    let refuses = |why: &str| format!("the node's daemon refuses: {why}");
    let again = || refusal(Rank::meet(&gate, (7, 1), soon()));
    assert_eq!(again(), refuses(BEFORE));
    assert_eq!(refusal(Rank::meet(&gate, (7, 2), soon())), refuses("the node has no such rank"));
    assert_eq!(refusal(Rank::meet(&gate, (8, 0), soon())), refuses("there is no job 8"));
    drop(first);
    assert_eq!(again(), refuses(BEFORE));
    let second = Rank::meet(&gate, (7, 0), soon()).unwrap();
    assert_eq!(second.place(), Place { node: 0, rank: 0 });
    drop(silent);
    shutter.close();
    daemon.join().unwrap();
    assert!(!gate.exists(), "its name is gone with it");
    assert!(refusal(Rank::meet(&gate, (7, 0), soon())).contains("nobody listens there"));
}

#[test]
fn a_node_of_as_many_ranks_as_there_may_be_lets_all_in() {
    let folder = Folder::new();
    let desk = Desk::open(&folder.gate()).unwrap();
    let shutter = desk.shutter();
    let daemon = std::thread::spawn(|| attend(desk, &[256]));
    // Each has everybody's bell: some at a time, and those that wait meanwhile do not read.
    let waiting: Vec<OwnedFd> = (0..8)
        .map(|rank| {
            let socket = reach(&folder.gate());
            let ask = super::super::control::ask(7, rank);
            socket::send(socket.as_fd(), &ask, None).unwrap();
            socket
        })
        .collect();
    let rank = Rank::meet(&folder.gate(), (7, 255), soon()).unwrap();
    assert_eq!(rank.place(), Place { node: 0, rank: 255 });
    for (number, socket) in waiting.into_iter().enumerate() {
        assert_eq!(Rank::join(socket, soon()).unwrap().place().rank, number as u32);
    }
    shutter.close();
    daemon.join().unwrap();
    let more = crate::gateway::Node::new(0, &[1, 257]).err().expect("too many");
    let why = "the gateway refuses: its job has 257 ranks on one of its nodes, and 256 can \
               exchange messages";
    assert_eq!(more.to_string(), why);
}

#[test]
fn a_daemon_that_does_not_answer_is_waited_for_until_the_deadline() {
    let folder = Folder::new();
    let mut desk = Desk::open(&folder.gate()).unwrap();
    let short = Deadline::after(Duration::from_millis(20));
    let said = refusal(Rank::meet(&folder.gate(), (7, 0), short));
    assert!(said.contains("for the node's daemon: to be let in"), "{said}");
    let gate = folder.gate();
    let asked = std::thread::spawn(move || Rank::meet(&gate, (7, 1), soon()));
    let mut next = || desk.next(soon()).unwrap();
    // Who has given up has asked.
    let asking = std::iter::repeat_with(&mut next).find(|asking| asking.rank == 1).unwrap();
    drop(asking);
    let said = refusal(asked.join().unwrap());
    assert_eq!(said, "the node's daemon is gone: its end of the socket is closed");
}
