//! Any bytes from a server leave the client without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_ninep as _;

fuzz_target!(|bytes: &[u8]| {
    // The frame alone: size[4] type[1] tag[2].
    let Some((size, rest)) = bytes.split_first_chunk::<4>() else {
        return;
    };
    let size = u32::from_le_bytes(*size) as usize;
    let _ = std::hint::black_box(size.checked_sub(4).and_then(|body| rest.get(..body)));
});
