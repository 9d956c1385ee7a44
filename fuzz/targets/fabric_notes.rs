//! Any packets over the socket of a shared-memory connection: rings of the bell and withdrawals are
//! taken, everything else ends the connection as malformed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::address::Address;
use muster_fabric::transport::process::Process;
use muster_fabric::transport::{Hello, Lane, Transport};
use muster_fabric::{Deadline, Error};
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

// Packets: a byte for the size, then so many bytes.
fuzz_target!(|bytes: &[u8]| {
    let (transport, address) = (Process::default(), Address::Process("fuzz-notes".to_owned()));
    let soon = Deadline::after(Duration::from_secs(5));
    let hello = Hello { name: "fuzzer".to_owned(), service: String::new(), lane: Lane::System };
    let mut listener = transport.listen(&address).expect("nobody listens there");
    let mine = transport.connect(&address, &hello, soon).expect("there is room");
    let theirs = listener.accept(soon).expect("it has come");
    let mine = mine.datagram().expect("it is native");
    let mut theirs = theirs.remote_copy().expect("it is native");
    let socket = mine.descriptor().expect("it has one").try_clone_to_owned().expect("there is one");
    let (socket, mut rest, mut is_right) = (UnixDatagram::from(socket), bytes, true);
    // As many as one look takes.
    for _ in 0..60 {
        let [size, more @ ..] = rest else { break };
        let (packet, more) = more.split_at(more.len().min(usize::from(*size).max(1)));
        rest = more;
        if packet.is_empty() || socket.send(packet).is_err() {
            break;
        }
        is_right &= matches!(packet, [0] | [2, _, _, _, _]);
    }
    // By those who never wait, the socket is looked at now and then.
    let looked = (0..300).try_for_each(|_| theirs.try_progress().map(drop));
    match looked {
        Ok(()) => assert!(is_right),
        Err(Error::Malformed { .. }) => assert!(!is_right),
        Err(error) => panic!("{error}"),
    }
});
