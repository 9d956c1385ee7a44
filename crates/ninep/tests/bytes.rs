//! No byte string kills, hangs or grows a session, and how bytes are cut on their way does not
//! matter.

mod peer;
mod ram;

use muster_base::limits::OUTBOX_MAX;
use muster_ninep::message::{Frame, NONUNAME, NOTAG, Rmessage, Tag, Tmessage};
use muster_ninep::session::Session;
use muster_ninep::tree;
use muster_ninep::version::{Dialect, Version};
use muster_ninep::wire::{Names, Payload, Reader};
use peer::{attach, cut, odd, read, take};
use proptest::prelude::*;
use ram::Ram;
use std::sync::atomic::Ordering;

/// A request that may make sense: few tags, fids and names, so that they meet.
fn request() -> impl Strategy<Value = (Tag, Vec<u8>)> {
    let name = prop_oneof![Just("a"), Just("b"), Just("pipe"), Just(".."), Just("a/b"), Just("")];
    let fields = (0..6u16, 0..4u32, 0..4u32, name, 0..70_000u32, 0..40u8);
    fields.prop_map(|(tag, fid, newfid, name, number, kind)| {
        let (name, gid) = (name.as_bytes(), NONUNAME);
        let data = Payload(&[b'x'; 300][..number as usize % 300]);
        let names = Names::new(&[name, b"a"][..number as usize % 3 % 3]).expect("few");
        let message = match kind {
            0..4 => attach(fid),
            4..10 => Tmessage::Walk { fid, newfid, names },
            10..14 => Tmessage::Lopen { fid, flags: number % 4 },
            14..17 => Tmessage::Lcreate { fid, name, flags: 2, mode: number, gid },
            17..22 => Tmessage::Read { fid, offset: u64::from(number % 9), count: number },
            22..26 => Tmessage::Write { fid, offset: number.into(), data },
            26..29 => Tmessage::Clunk { fid },
            29 => Tmessage::Remove { fid },
            30..33 => Tmessage::Flush { oldtag: newfid as u16 },
            33 => Tmessage::Mkdir { dir: fid, name, mode: 0o777, gid },
            34 => Tmessage::Readdir { fid, offset: (number % 5).into(), count: number },
            35 => Tmessage::Getattr { fid, mask: 0 },
            36 => Tmessage::Unlinkat { dir: fid, name, flags: number },
            37 => Tmessage::Rename { fid, dir: newfid, name },
            38 => Tmessage::Symlink { dir: fid, name, target: name, gid },
            _ => Tmessage::Version { msize: 4184 + number, version: "9P2000.L" },
        };
        let mut bytes = Vec::new();
        message.encode(tag, Dialect::Linux, &mut bytes);
        (tag, bytes)
    })
}

/// `Tversion` and an attach: the start of every conversation.
fn start(version: Version) -> Vec<u8> {
    let mut bytes = Vec::new();
    let agree = Tmessage::Version { msize: 8192, version: version.name() };
    agree.encode(NOTAG, Dialect::Plan9, &mut bytes);
    attach(0).encode(1, version.dialect, &mut bytes);
    bytes
}

fn conversation() -> impl Strategy<Value = Vec<u8>> {
    let requests = proptest::collection::vec(request(), 0..60);
    let whole = requests.prop_map(|requests| {
        let requests = requests.into_iter().map(|(_, bytes)| bytes);
        start(Version::LINUX).into_iter().chain(requests.flatten()).collect()
    });
    prop_oneof![1 => proptest::collection::vec(any::<u8>(), 0..200), 4 => whole]
}

/// Feeds `bytes` in pieces of the sizes given, in turn, and returns all that comes back and
/// whether the session took all for 9P.
fn converse(bytes: &[u8], sizes: &[usize]) -> (Vec<u8>, bool) {
    let tree = Ram::new();
    let mut session = Session::new(tree.clone(), tree::Peer::default(), || {});
    let (mut waiting, mut said, mut at) = (Vec::new(), Vec::new(), 0);
    for size in sizes.iter().cycle() {
        if at == bytes.len() {
            break;
        }
        let end = bytes.len().min(at + size);
        waiting.extend_from_slice(&bytes[at..end]);
        at = end;
        loop {
            let Ok(done) = session.receive(&waiting) else {
                said.extend(take(&mut session));
                return (said, false);
            };
            waiting.drain(..done);
            let most = OUTBOX_MAX + session.msize() + 8192;
            assert!(session.outbox().len() <= most, "the outbox grows");
            let stalled = session.is_stalled();
            said.extend(take(&mut session));
            if !stalled {
                break;
            }
        }
    }
    // Late answers last, so that they do not depend on how the bytes were cut.
    session.conclude();
    said.extend(take(&mut session));
    session.close();
    assert_eq!(tree.fids.load(Ordering::Relaxed), 0, "all fids are clunked");
    (said, true)
}

/// The answers' dialect may change on the way; their frames do not depend on it.
fn frames(mut bytes: &[u8]) -> usize {
    let mut count = 0;
    while !bytes.is_empty() {
        let frame = Frame::cut(bytes, u32::MAX).expect("a size");
        let (frame, size) = frame.expect("a whole message");
        assert!(frame.number % 2 == 1, "an answer");
        let read = [Dialect::Plan9, Dialect::Unix, Dialect::Linux]
            .map(|dialect| frame.answer(dialect).is_ok());
        assert!(read.contains(&true), "well-formed");
        bytes = &bytes[size..];
        count += 1;
    }
    count
}

fn reader(body: &[u8], dialect: Dialect) -> Reader<'_> {
    Reader::new(body, dialect)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(512)
    })]

    #[test]
    fn any_conversation_is_answered_with_whole_messages(bytes in conversation()) {
        let (said, _) = converse(&bytes, &[usize::MAX / 2]);
        frames(&said);
    }

    #[test]
    fn a_mutilated_conversation_is_too(
        mut bytes in conversation(),
        wounds in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        cut_at in any::<proptest::sample::Index>(),
    ) {
        for (at, byte) in wounds {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        bytes.truncate(cut_at.index(bytes.len() + 1).max(bytes.len() / 2));
        frames(&converse(&bytes, &[usize::MAX / 2]).0);
    }

    #[test]
    fn any_body_of_any_type_is_answered_once(
        number: u8,
        body in proptest::collection::vec(any::<u8>(), 0..120),
        version in prop_oneof![
            Just(Version::PLAN9), Just(Version::UNIX), Just(Version::LINUX), Just(Version::MUSTER)
        ],
    ) {
        let bytes = [start(version), odd(number, 9, &body)].concat();
        let (said, valid) = converse(&bytes, &[usize::MAX / 2]);
        prop_assert!(valid);
        let replies = cut(&said, version.dialect, u32::MAX);
        prop_assert_eq!(replies.len(), 3);
        prop_assert_eq!(replies[2].tag, 9);
    }

    #[test]
    fn how_bytes_are_cut_does_not_matter(
        bytes in conversation(),
        sizes in proptest::collection::vec(1..40usize, 1..10),
    ) {
        prop_assert_eq!(converse(&bytes, &[usize::MAX / 2]), converse(&bytes, &sizes));
    }

    /// What decodes is what was encoded, or at least means the same.
    #[test]
    fn a_request_that_decodes_encodes_to_what_decodes_to_it(
        number: u8,
        body in proptest::collection::vec(any::<u8>(), 0..60),
        dialect in prop_oneof![Just(Dialect::Plan9), Just(Dialect::Unix), Just(Dialect::Linux)],
    ) {
        let whole = odd(number, 3, &body);
        let frame = |bytes: &[u8]| {
            let cut = Frame::cut(bytes, u32::MAX).expect("a size");
            let (frame, size) = cut.expect("whole");
            assert_eq!((size, frame.tag), (bytes.len(), 3));
            frame.body.to_vec()
        };
        if let Ok(message) = Tmessage::decode(number, reader(&body, dialect)) {
            let mut again = Vec::new();
            message.encode(3, dialect, &mut again);
            let again = frame(&again);
            prop_assert_eq!(Tmessage::decode(number, reader(&again, dialect)), Ok(message));
        }
        let fields = frame(&whole);
        if let Ok(message) = Rmessage::decode(number, reader(&fields, dialect)) {
            let mut again = Vec::new();
            message.encode(3, dialect, &mut again);
            prop_assert_eq!(again, whole);
        }
    }
}

#[test]
fn every_byte_boundary_is_a_place_to_cut() {
    let mut bytes = start(Version::LINUX);
    let requests = [
        peer::walk(0, 1, &["pipe"]),
        Tmessage::Lopen { fid: 1, flags: 2 },
        read(1, 0, 5),
        peer::write(1, 0, b"content"),
        Tmessage::Flush { oldtag: 2 },
        Tmessage::Clunk { fid: 1 },
    ];
    for (tag, request) in requests.iter().enumerate() {
        request.encode(tag as Tag, Dialect::Linux, &mut bytes);
    }
    let whole = converse(&bytes, &[bytes.len()]);
    assert_eq!(frames(&whole.0), 8);
    for at in 1..bytes.len() {
        assert_eq!(converse(&bytes, &[at, bytes.len()]), whole, "cut at {at}");
    }
    assert_eq!(converse(&bytes, &[1]), whole);
}

#[test]
fn a_peer_that_takes_nothing_is_read_from_no_more() {
    let tree = Ram::new();
    let mut session = Session::new(tree, tree::Peer::default(), || {});
    assert_eq!(session.receive(&start(Version::LINUX)), Ok(start(Version::LINUX).len()));
    let mut request = Vec::new();
    Tmessage::Getattr { fid: 0, mask: 0 }.encode(1, Dialect::Linux, &mut request);
    let many = request.repeat(10_000);
    let done = session.receive(&many).expect("9P");
    assert!(session.is_stalled());
    assert!(done < many.len() / 5, "{done} of {} bytes", many.len());
    assert!(session.outbox().len() < OUTBOX_MAX + 4096);
    assert_eq!(session.receive(&many), Ok(0));
    take(&mut session);
    assert!(session.receive(&many).expect("9P") > 0, "it goes on where it stopped");
}
