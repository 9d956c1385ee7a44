//! Any bytes are read as what goes between the nodes of a gateway, and between a rank and its
//! node's daemon, without a panic, and what was read is written as it came.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::gateway::read_as_all;

fuzz_target!(|bytes: &[u8]| read_as_all(bytes));
