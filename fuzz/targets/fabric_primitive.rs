//! Any bytes are a message of the primitives or refused; what was read is written and read again as
//! the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::primitive::Message;
use muster_fabric::protocol::Payload;

// The first two bytes are the size of the head, as between shells.
fuzz_target!(|bytes: &[u8]| {
    let Some((_, head, body)) = muster_fabric::shell::wire::divide(bytes) else { return };
    let Ok(message) = Message::decode(head, Payload::from(body.to_vec())) else { return };
    let (head, body) = message.encode();
    assert_eq!(Message::decode(&head, body), Ok(message));
});
