//! Any bytes from the other side of a TLS connection, during its handshake and behind it, and as
//! records under any keys, are refused without a panic; what was sealed is opened as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::transport::socket::read_as_all;

fuzz_target!(|bytes: &[u8]| read_as_all(bytes));
