//! Any bytes are a datagram's header, a control message, or refused; what was read is written as
//! the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::shell::multicast::wire::{Control, DATAGRAM, HEADER, Header};

fuzz_target!(|bytes: &[u8]| {
    if let Some(header) = Header::read(bytes) {
        assert_eq!(&header.encode()[..], &bytes[..HEADER]);
        assert!(bytes.len() <= DATAGRAM && header.offset <= header.length);
    }
    if let Ok(control) = Control::decode(bytes) {
        assert_eq!(control.encode(), bytes);
    }
});
