//! Any bytes are read as a program or library to an end, without a panic and without going after
//! what they claim beyond their end.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_base::elf::read;

fuzz_target!(|bytes: &[u8]| {
    let part = |offset: u64, length: usize| {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        bytes[start..bytes.len().min(start.saturating_add(length))].to_vec()
    };
    if let Ok(Some(elf)) = read(part) {
        assert!(elf.needed.iter().all(|name| !name.contains('\0')));
    }
});
