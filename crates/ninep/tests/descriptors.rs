//! A process without descriptors. Alone in its program, since the limit is that of the process.

use muster_ninep::address::Address;
use muster_ninep::message::{NOTAG, Tmessage};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::stream::Listener;
use muster_ninep::version::Dialect;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

mod ram;

/// Once such a peer waited until the next one came.
#[test]
fn a_peer_that_could_not_be_accepted_is_when_descriptors_are_free() {
    let path = std::env::temp_dir().join(format!("muster-descriptors.{}", std::process::id()));
    let address = Address::unix(&path).expect("short");
    let tree = ram::Ram::new();
    let server = Server::start(&tree, 1, same_user).expect("a thread");
    server.listen(Listener::bind(&address).expect("bind"));
    let limits = rustix::process::Resource::Nofile;
    let mut limit = rustix::process::getrlimit(limits);
    limit.current = Some(200);
    rustix::process::setrlimit(limits, limit).expect("lower than before");
    let mut hoard = Vec::new();
    // One is left for the peer's own end.
    while let Ok(file) = File::open("/dev/null") {
        hoard.push(file);
    }
    hoard.pop();
    let mut peer = UnixStream::connect(&path).expect("the backlog takes it");
    peer.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    let mut agree = Vec::new();
    let version = Tmessage::Version { msize: 8192, version: "9P2000" };
    version.encode(NOTAG, Dialect::Plan9, &mut agree);
    peer.write_all(&agree).expect("it is buffered");
    std::thread::sleep(Duration::from_millis(300));
    drop(hoard);
    let mut answer = [0; 19];
    peer.read_exact(&mut answer).expect("accepted at last");
    assert_eq!(answer[4], 101);
}
