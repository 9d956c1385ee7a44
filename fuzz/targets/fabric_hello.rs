//! Any bytes are a hello, the beginning of one, or refused; so are answers. What was read is
//! written as bytes that read the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::transport::hello;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some((read, size))) = hello::read(bytes) {
        assert!(size <= bytes.len() && size <= hello::HELLO_MAX);
        assert_eq!(hello::write(&read), bytes[..size]);
    }
    match hello::read(bytes) {
        // More bytes may make it a hello, so there are less than the longest one has.
        Ok(None) => assert!(bytes.len() < hello::HELLO_MAX),
        Ok(Some(_)) => {}
        Err(refusal) => {
            let answer = refusal.answer();
            assert!(answer.len() <= hello::ANSWER_MAX && hello::read_answer(&answer).is_err());
        }
    }
    if let Ok(Some(size)) = hello::read_answer(bytes) {
        assert!(size <= bytes.len() && size <= hello::ANSWER_MAX);
    }
});
