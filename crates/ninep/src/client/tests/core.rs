//! Properties of the I/O-free core.

use crate::client::core::{Core, Refusal, Sent, Share};
use crate::error::Errno;
use crate::message::{Frame, NOTAG, Rmessage, Tag, Tmessage};
use crate::version::Version;
use crate::wire::Payload;
use proptest::prelude::*;
use std::collections::VecDeque;

const MSIZE: u32 = 8192;

/// Takes what the core wants to send.
fn sent(core: &mut Core<u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !core.outbox.is_empty() {
        let mut pieces = Vec::new();
        core.outbox.pieces(&mut pieces);
        let before = bytes.len();
        pieces.iter().for_each(|piece| bytes.extend_from_slice(piece));
        let length = bytes.len() - before;
        core.outbox.consume(length);
    }
    bytes
}

fn message(answer: &Rmessage<'_>, tag: Tag) -> Vec<u8> {
    let mut bytes = Vec::new();
    answer.encode(tag, Version::MUSTER.dialect, &mut bytes);
    bytes
}

fn frame(bytes: &[u8]) -> Frame<'_> {
    Frame::cut(bytes, u32::MAX).expect("sized").expect("whole").0
}

fn agreed() -> Core<u32> {
    let mut core = Core::new(Version::MUSTER, MSIZE, u32::MAX);
    sent(&mut core);
    let answer = Rmessage::Version { msize: MSIZE, version: "9P2000.L.muster" };
    let bytes = message(&answer, NOTAG);
    let (who, answer) = core.accept(frame(&bytes)).expect("agreed").expect("somebody waits");
    assert_eq!((who, answer.is_ok()), (u32::MAX, true));
    core
}

/// One step of a conversation.
#[derive(Debug, Clone)]
enum Step {
    /// The client asks.
    Ask,
    /// The client takes its nth request back.
    Flush(usize),
    /// The server answers its nth outstanding message, whichever that is.
    Answer(usize),
    /// The server answers it with an error.
    Refuse(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => Just(Step::Ask),
        2 => (0..40usize).prop_map(Step::Flush),
        3 => (0..8usize).prop_map(Step::Answer),
        1 => (0..8usize).prop_map(Step::Refuse),
    ];
    proptest::collection::vec(step, 0..200)
}

/// A server as flush(5) wants it: it answers in any order, but a flush behind what it flushes,
/// and then that never.
#[derive(Default)]
struct Server {
    /// Tags that wait, and what for: a request, or a flush of a tag.
    waiting: VecDeque<(Tag, Option<Tag>)>,
}

impl Server {
    fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((frame, size)) = Frame::cut(rest, u32::MAX).expect("sized") {
            let flushed = match frame.request(Version::MUSTER.dialect).expect("a request") {
                Tmessage::Flush { oldtag } => Some(oldtag),
                _ => None,
            };
            let busy = self.waiting.iter().any(|(tag, _)| *tag == frame.tag);
            assert!(!busy, "tag {} was used again too early", frame.tag);
            self.waiting.push_back((frame.tag, flushed));
            rest = &rest[size..];
        }
    }

    fn answer(&mut self, nth: usize, refuse: bool) -> Option<Vec<u8>> {
        let (tag, flushed) = self.waiting.remove(nth % self.waiting.len().max(1))?;
        if let Some(old) = flushed {
            self.waiting.retain(|(tag, _)| *tag != old);
            return Some(message(&Rmessage::Flush {}, tag));
        }
        let answer = if refuse { Rmessage::Lerror { errno: 5 } } else { Rmessage::Clunk {} };
        Some(message(&answer, tag))
    }
}

/// Who has been told, and what.
#[derive(Default)]
struct Told(Vec<(u32, Option<Errno>)>);

impl Told {
    fn feed(&mut self, core: &mut Core<u32>, bytes: &[u8]) {
        if let Some((who, answer)) = core.accept(frame(bytes)).expect("the server is right") {
            self.0.push((who, answer.err().map(|error| error.errno)));
        }
    }
}

proptest! {
    #[test]
    fn whatever_overtakes_whatever_everybody_is_told_once(steps in steps()) {
        let mut core = agreed();
        let (mut server, mut told) = (Server::default(), Told::default());
        let mut asked: Vec<(Sent, bool)> = Vec::new();
        for step in steps {
            match step {
                Step::Ask => {
                    let who = asked.len() as u32;
                    let result = core.send(&Tmessage::Clunk { fid: who }, who, Share::Own);
                    asked.push((result.expect("there is room"), false));
                }
                Step::Flush(nth) => {
                    let count = asked.len().max(1);
                    if let Some((sent, flushed)) = asked.get_mut(nth % count) {
                        *flushed = true;
                        core.flush(*sent);
                    }
                }
                Step::Answer(nth) | Step::Refuse(nth) => {
                    let refuse = matches!(step, Step::Refuse(_));
                    if let Some(bytes) = server.answer(nth, refuse) {
                        told.feed(&mut core, &bytes);
                    }
                }
            }
            server.take(&sent(&mut core));
        }
        while let Some(bytes) = server.answer(0, false) {
            told.feed(&mut core, &bytes);
        }
        told.0.sort_unstable_by_key(|(who, _)| *who);
        let who: Vec<u32> = told.0.iter().map(|(who, _)| *who).collect();
        prop_assert_eq!(who, (0..asked.len() as u32).collect::<Vec<_>>());
        for (who, errno) in told.0 {
            let flushed = asked[who as usize].1;
            prop_assert!(errno != Some(Errno::INTR) || flushed, "{} was not flushed", who);
        }
        prop_assert_eq!(core.under_way(), 0);
        prop_assert!(core.end().is_empty());
    }

    #[test]
    fn no_bytes_of_a_server_do_harm(
        asked in 0..6usize,
        flushed in 0..6usize,
        messages in proptest::collection::vec(
            (0..130u8, 0..9u16, proptest::collection::vec(any::<u8>(), 0..40)), 0..20),
    ) {
        let mut core = agreed();
        let mut told = 0;
        let requests: Vec<Sent> = (0..asked)
            .map(|who| core.send(&request(who), who as u32, Share::Own).expect("there is room"))
            .collect();
        requests.iter().take(flushed).for_each(|sent| core.flush(*sent));
        for (number, tag, body) in messages {
            match core.accept(Frame { number, tag, body: &body }) {
                Ok(None) => {}
                Ok(Some(_)) => told += 1,
                // The link ends here.
                Err(_) => break,
            }
        }
        prop_assert_eq!(told + core.end().len(), asked);
    }
}

fn request(which: usize) -> Tmessage<'static> {
    match which {
        0 => Tmessage::Read { fid: 0, offset: 0, count: 8 },
        1 => Tmessage::Write { fid: 0, offset: 0, data: Payload(b"abc") },
        2 => Tmessage::Readdir { fid: 0, offset: 0, count: 30 },
        3 => Tmessage::Getattr { fid: 0, mask: 1 },
        4 => Tmessage::Clunk { fid: 0 },
        _ => Tmessage::Readlink { fid: 0 },
    }
}

#[test]
fn a_stale_handle_flushes_nobody_else() {
    let mut core = agreed();
    let first = core.send(&request(4), 1, Share::Own).expect("sent");
    let bytes = message(&Rmessage::Clunk {}, first.tag);
    let told = core.accept(frame(&bytes)).expect("right");
    assert!(matches!(told, Some((1, Ok(_)))));
    let second = core.send(&request(4), 2, Share::Own).expect("sent");
    assert_eq!(first.tag, second.tag);
    sent(&mut core);
    core.flush(first);
    assert!(core.outbox.is_empty());
    core.flush(second);
    core.flush(second);
    assert_eq!(sent(&mut core).len(), 9, "one Tflush");
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let mut core = agreed();
    let big = vec![0; MSIZE as usize - 22];
    let long = vec![b'x'; 70_000];
    for (request, errno) in [
        (Tmessage::Write { fid: 0, offset: 0, data: Payload(&big) }, Errno::MSGSIZE),
        (Tmessage::Mkdir { dir: 0, name: &long[..9000], mode: 0, gid: 0 }, Errno::MSGSIZE),
        (Tmessage::Mkdir { dir: 0, name: &long, mode: 0, gid: 0 }, Errno::NAMETOOLONG),
        (Tmessage::Stat { fid: 0 }, Errno::OPNOTSUPP),
        (Tmessage::Flush { oldtag: 0 }, Errno::OPNOTSUPP),
    ] {
        let (refusal, back) = core.send(&request, 7, Share::Own).expect_err("too much");
        let Refusal::Never(error) = refusal else { panic!("{refusal:?}") };
        assert_eq!((error.errno, back), (errno, 7));
    }
    let data = Payload(&big[1..]);
    core.send(&Tmessage::Write { fid: 0, offset: 0, data }, 7, Share::Own).expect("fits exactly");
    assert_eq!(sent(&mut core).len(), MSIZE as usize);
}

/// One client of a manager had all its requests under way at a node, and jobs there failed.
#[test]
fn requests_for_guests_leave_half_for_ours() {
    let mut core = agreed();
    let count = |core: &mut Core<u32>, share| {
        (0..).take_while(|_| core.send(&request(4), 0, share).is_ok()).count()
    };
    let guests = count(&mut core, Share::Guests);
    let own = count(&mut core, Share::Own);
    assert!(own > guests && guests > 10_000, "{guests} {own}");
    assert!(core.send(&request(4), 0, Share::Guests).is_err());
}

#[test]
fn tags_run_out_for_requests_before_they_do_for_flushes() {
    let mut core = agreed();
    let mut requests = Vec::new();
    let refusal = loop {
        match core.send(&request(4), 0, Share::Own) {
            Ok(sent) => requests.push(sent),
            Err((refusal, _)) => break refusal,
        }
    };
    assert_eq!(refusal, Refusal::Full);
    sent(&mut core);
    requests.iter().for_each(|sent| core.flush(*sent));
    assert_eq!(sent(&mut core).len(), requests.len() * 9);
    assert!(core.send(&request(4), 0, Share::Clunks).is_ok(), "one is left for a clunk");
    assert_eq!(core.end().len(), requests.len() + 1);
}

/// Found by fuzzing: whoever waited for the version was forgotten when its answer was malformed.
#[test]
fn whoever_opened_the_conversation_hears_of_its_violation() {
    let mut core = Core::new(Version::MUSTER, MSIZE, u32::MAX);
    let torn = [11, 0, 0, 0, 101, 0xff, 0xff, 0, 0, 0, 0];
    assert!(core.accept(frame(&torn)).is_err());
    assert_eq!(core.end(), [u32::MAX]);
}
