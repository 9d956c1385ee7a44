//! Whatever a peer writes into the memory of a connection, each call on it returns. Twelve bytes of
//! the input are one word: where it is written, and the word.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::transport::shared::trample;

fuzz_target!(|bytes: &[u8]| {
    let words = bytes.as_chunks::<12>().0.iter().take(200).map(|chunk| {
        let (at, word) = chunk.split_first_chunk::<4>().expect("twelve bytes");
        let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
        (u32::from_le_bytes(*at) as usize, word)
    });
    trample(words);
});
