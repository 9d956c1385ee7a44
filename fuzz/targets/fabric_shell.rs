//! Any bytes from a shell's peer are a name, a verdict, a head with a body, or refused; what was
//! read is written as the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_fabric::shell::wire;

fuzz_target!(|bytes: &[u8]| {
    if let Some((node, life)) = std::str::from_utf8(bytes).ok().and_then(wire::read_name) {
        assert_eq!(wire::name(node, life).as_bytes(), bytes);
    }
    if let Some((is_used, life)) = wire::read_verdict(bytes)
        && !is_used
    {
        assert_eq!(&wire::verdict(is_used, life)[1..], &bytes[1..]);
    }
    if let Some((is_control, head, body)) = wire::divide(bytes) {
        assert_eq!([&bytes[..4], head, body].concat(), bytes);
        assert_eq!(&wire::size(head.len(), is_control), &bytes[..4]);
    }
    if let Some(why) = wire::read_refusal(bytes) {
        assert!(!why.contains(char::is_control), "it is shown to people");
    }
});
