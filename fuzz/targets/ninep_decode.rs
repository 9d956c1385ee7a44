//! Any bytes decode to a message or to a typed error, in every dialect and both directions, and
//! what was decoded encodes to bytes that decode to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_base::limits::MSIZE_MAX;
use muster_ninep::message::Frame;
use muster_ninep::version::Dialect;

const MSIZE: u32 = MSIZE_MAX as u32;

fuzz_target!(|bytes: &[u8]| {
    let Ok(Some((frame, size))) = Frame::cut(bytes, MSIZE) else {
        return;
    };
    assert!(size <= bytes.len());
    for dialect in [Dialect::Plan9, Dialect::Unix, Dialect::Linux] {
        let mut again = Vec::new();
        if let Ok(message) = frame.request(dialect) {
            message.encode(frame.tag, dialect, &mut again);
            let (same, _) = Frame::cut(&again, MSIZE).expect("ours").expect("whole");
            assert_eq!(same.tag, frame.tag);
            assert_eq!(same.request(dialect).as_ref(), Ok(&message));
        }
        again.clear();
        if let Ok(message) = frame.answer(dialect) {
            message.encode(frame.tag, dialect, &mut again);
            let (same, _) = Frame::cut(&again, MSIZE).expect("ours").expect("whole");
            assert_eq!(same.answer(dialect).as_ref(), Ok(&message));
        }
    }
});
