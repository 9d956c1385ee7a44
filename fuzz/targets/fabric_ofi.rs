//! Any bytes are read as an offer, a farewell, a piece and a word about a region of libfabric's
//! connections without a panic, and what was read is written as it came.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::transport::ofi::read_as_all;

fuzz_target!(|bytes: &[u8]| read_as_all(bytes));
