//! Any bytes are read as a join, a head and all that comes over a rail without a panic, and what
//! was read is written as it came.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::transport::rails::read_as_all;

fuzz_target!(|bytes: &[u8]| read_as_all(bytes));
