//! The listener's doors, at which as many callers are silent as may be.

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{Datagram, Ready, Stream, Wait};
use crate::transport::rails::listener::Doors;
use crate::transport::{Adapter, Hello, Lane, Listener, Peer, Protection};
use muster_base::limits::{HELLOS_MAX, RAILS_JOIN_TIME};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Says nothing; how often that was asked, and how many there are, is counted.
struct Caller {
    hello: Hello,
    peer: Peer,
    looks: Arc<AtomicUsize>,
}

impl Wait for Caller {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        "a caller"
    }

    fn wait(&mut self, _: Ready, _: Deadline) -> Result<()> {
        panic!("nobody is waited for")
    }
}

impl Stream for Caller {
    fn try_write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn try_read(&mut self, _: &mut [u8]) -> Result<usize> {
        self.looks.fetch_add(1, Ordering::Relaxed);
        Err(Error::WouldBlock)
    }

    fn finish(&mut self, _: Deadline) -> Result<()> {
        Ok(())
    }
}

impl Adapter for Caller {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn datagram(self: Box<Self>) -> Result<Box<dyn Datagram>> {
        panic!("rails are streams")
    }

    fn stream(self: Box<Self>) -> Result<Box<dyn Stream>> {
        Ok(self)
    }
}

/// A door at which so many callers wait: it can be read as long as there is one.
struct Door {
    address: Address,
    waiting: usize,
    looks: Arc<AtomicUsize>,
    bell: [UnixStream; 2],
}

impl Listener for Door {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        if self.waiting == 0 {
            return Err(deadline.missed("a door", "anybody", "a caller"));
        }
        self.waiting -= 1;
        let (name, service, lane) = ("any".to_owned(), "test".to_owned(), Lane::Bulk);
        let peer = Peer::new(name.clone(), Protection::Plain);
        let hello = Hello { name, service, lane };
        Ok(Box::new(Caller { hello, peer, looks: self.looks.clone() }))
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let bell = (self.waiting > 0).then(|| self.bell[0].as_fd());
        bell.into_iter().collect()
    }
}

fn doors(waiting: usize) -> (Doors, Arc<AtomicUsize>) {
    let looks = Arc::new(AtomicUsize::new(0));
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    std::io::Write::write_all(&mut theirs, b"x").unwrap();
    let address = Address::Tcp("127.0.0.1".to_owned(), 1);
    let door = Door { address, waiting, looks: looks.clone(), bell: [ours, theirs] };
    (Doors::new(vec![Box::new(door)], Arc::new(|_| {})), looks)
}

fn wait(doors: &mut Doors, time: Duration) {
    let error = doors.accept(Deadline::after(time)).map(drop).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
}

#[test]
fn who_waits_at_a_full_door_does_not_keep_the_listener_awake() {
    let (mut doors, looks) = doors(HELLOS_MAX + 1);
    wait(&mut doors, Duration::from_millis(300));
    let turns = looks.load(Ordering::Relaxed) / HELLOS_MAX;
    assert!((1..20).contains(&turns), "{turns} turns");
}

#[test]
fn nobody_has_to_go_where_nobody_waits() {
    let (mut doors, looks) = doors(HELLOS_MAX);
    wait(&mut doors, RAILS_JOIN_TIME + Duration::from_millis(100));
    // Each that is there is counted beside this one and the door's.
    assert_eq!(Arc::strong_count(&looks), HELLOS_MAX + 2);
}

#[test]
fn the_one_that_is_silent_longest_goes_for_one_who_waits() {
    let (mut doors, looks) = doors(HELLOS_MAX + 1);
    let end = Instant::now() + Duration::from_secs(20);
    while !doors.descriptors().is_empty() {
        assert!(Instant::now() < end, "all come in");
        wait(&mut doors, RAILS_JOIN_TIME + Duration::from_millis(100));
    }
    assert_eq!(Arc::strong_count(&looks), HELLOS_MAX + 2);
}
