//! What goes before the bytes of a message (`docs/wire/message.md`).
//!
//! Most are 16 bytes, so that with a short message they fit into a line of the processor's cache.

use crate::carrier::Bytes;
use crate::quiescence::Signal;

/// Bytes of most heads, and the first ones of all.
pub(crate) const HEAD: usize = 16;

/// Of a synchronous message's, and of what takes one back.
const SYNC_SIZE: usize = 24;

/// Of an offer's, the longest.
const LONG: usize = 32;

/// By what a message is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The context, of 48 bits: a communicator has one for its point-to-point messages, and one for
    /// its collectives.
    pub context: u64,
    /// The sender's rank in that communicator.
    pub source: u32,
    /// The tag.
    pub tag: i32,
}

/// A head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// A message with its bytes. Where `sync` is set the sender waits to be told, by `Done` with
    /// this number, that a receive has it.
    Eager { envelope: Envelope, sync: Option<u32> },
    /// A message whose bytes are still at the sender: `number` there.
    Offer { envelope: Envelope, number: u32, size: u64 },
    /// The bytes that were offered as `number` are to be sent, for `receive`.
    Want { number: u32, receive: u32 },
    /// The bytes that were asked for by `receive`.
    Data { receive: u32 },
    /// The message `number` has been received, and its bytes are not needed any more.
    Done { number: u32 },
    /// The message `number` is to be forgotten, if no receive has it: `Dropped` says so then.
    Drop { envelope: Envelope, number: u32 },
    /// The message `number` was forgotten.
    Dropped { number: u32 },
    /// In the coscheduled mode, about quiescence.
    Signal(Signal),
}

const EAGER: u8 = 1;
const SYNC: u8 = 2;
const OFFER: u8 = 3;
const WANT: u8 = 4;
const DATA: u8 = 5;
const DONE: u8 = 6;
const NEED: u8 = 7;
const ASK: u8 = 8;
const TELL: u8 = 9;
const REVEAL: u8 = 10;
const DROP: u8 = 11;
const DROPPED: u8 = 12;

/// Bytes of a head of a kind.
fn size_of(kind: u8) -> usize {
    match kind {
        SYNC | DROP => SYNC_SIZE,
        OFFER | TELL => LONG,
        _ => HEAD,
    }
}

/// A head's bytes, word by word: a word that is changed by bytes is waited for by who reads it.
pub(crate) struct Encoded {
    words: [[u8; 8]; LONG / 8],
    size: usize,
}

impl std::ops::Deref for Encoded {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.words.as_flattened()[..self.size]
    }
}

impl Encoded {
    #[inline(always)]
    fn new(kind: u8, context: u64, first: u32, second: u32) -> Encoded {
        let words =
            [u64::from(kind) | context << 16, u64::from(first) | u64::from(second) << 32, 0, 0];
        Encoded { words: words.map(u64::to_le_bytes), size: size_of(kind) }
    }

    #[inline(always)]
    fn of(kind: u8, envelope: Envelope) -> Encoded {
        Encoded::new(kind, envelope.context, envelope.source, envelope.tag.cast_unsigned())
    }

    /// The head of a short message, as most are.
    #[inline(always)]
    pub(crate) fn of_eager(envelope: Envelope) -> Encoded {
        Encoded::of(EAGER, envelope)
    }

    /// Says of which epoch the message is: its last bits.
    #[inline(always)]
    pub(crate) fn stamped(mut self, epoch: u8) -> Encoded {
        let first = u64::from_le_bytes(self.words[0]) | u64::from(epoch) << 8;
        self.words[0] = first.to_le_bytes();
        self
    }

    fn set(mut self, word: usize, value: u64) -> Encoded {
        self.words[word] = value.to_le_bytes();
        self
    }
}

impl Head {
    /// The envelope of a head that is the first words and nothing more, as most are: of a short
    /// message of which nobody waits to be told that it was received.
    #[inline]
    pub(crate) fn plain(words: [u64; 2]) -> Option<Envelope> {
        (words[0] as u8 == EAGER).then(|| Head::envelope_of(words))
    }

    #[inline]
    fn envelope_of(words: [u64; 2]) -> Envelope {
        let (source, tag) = (words[1] as u32, ((words[1] >> 32) as u32).cast_signed());
        Envelope { context: words[0] >> 16, source, tag }
    }

    /// As bytes.
    #[inline]
    pub(crate) fn encode(&self) -> Encoded {
        match *self {
            Head::Eager { envelope, sync: None } => Encoded::of_eager(envelope),
            Head::Eager { envelope, sync: Some(number) } => {
                Encoded::of(SYNC, envelope).set(2, number.into())
            }
            Head::Offer { envelope, number, size } => {
                Encoded::of(OFFER, envelope).set(2, number.into()).set(3, size)
            }
            Head::Want { number, receive } => Encoded::new(WANT, 0, number, receive),
            Head::Data { receive } => Encoded::new(DATA, 0, receive, 0),
            Head::Done { number } => Encoded::new(DONE, 0, number, 0),
            Head::Drop { envelope, number } => Encoded::of(DROP, envelope).set(2, number.into()),
            Head::Dropped { number } => Encoded::new(DROPPED, 0, number, 0),
            Head::Signal(Signal::Need { epoch }) => Encoded::new(NEED, 0, epoch, 0),
            Head::Signal(Signal::Ask { wave }) => Encoded::new(ASK, 0, wave, 0),
            Head::Signal(Signal::Tell { wave, sent, received, needs }) => {
                Encoded::new(TELL, 0, wave, needs.into()).set(2, sent).set(3, received)
            }
            Head::Signal(Signal::Reveal { epoch }) => Encoded::new(REVEAL, 0, epoch, 0),
        }
    }

    /// The head that a message begins with, of which the first bytes are these, and of which epoch
    /// it is. What is behind the head is not read.
    #[inline]
    pub(crate) fn take(words: [u64; 2], behind: &mut dyn Bytes) -> Option<(Head, u8)> {
        let [kind, epoch, ..] = words[0].to_le_bytes();
        let (first, second) = (words[1] as u32, (words[1] >> 32) as u32);
        let envelope = Head::envelope_of(words);
        if kind == EAGER {
            return Some((Head::Eager { envelope, sync: None }, epoch));
        }
        let mut rest = [[0; 8]; (LONG - HEAD) / 8];
        let more = &mut rest.as_flattened_mut()[..size_of(kind) - HEAD];
        if behind.left() < more.len() {
            return None;
        }
        if !more.is_empty() {
            behind.read(more);
        }
        let [third, fourth] = rest.map(u64::from_le_bytes);
        let head = match kind {
            SYNC => Head::Eager { envelope, sync: Some(third as u32) },
            OFFER => Head::Offer { envelope, number: third as u32, size: fourth },
            WANT => Head::Want { number: first, receive: second },
            DATA => Head::Data { receive: first },
            DONE => Head::Done { number: first },
            DROP => Head::Drop { envelope, number: third as u32 },
            DROPPED => Head::Dropped { number: first },
            NEED => Head::Signal(Signal::Need { epoch: first }),
            ASK => Head::Signal(Signal::Ask { wave: first }),
            TELL => Head::Signal(Signal::Tell {
                wave: first,
                sent: third,
                received: fourth,
                needs: second != 0,
            }),
            REVEAL => Head::Signal(Signal::Reveal { epoch: first }),
            _ => return None,
        };
        Some((head, epoch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::carrier::Arrival;

    /// The samples of `docs/wire/message.md`.
    fn samples() -> impl Iterator<Item = (String, Vec<u8>)> {
        let table = include_str!("../../../docs/wire/message.md");
        table.lines().filter_map(|line| {
            let (name, bytes) = line.trim().strip_prefix("sample ")?.split_once(": ")?;
            let bytes = bytes.trim_end_matches(" ...").split(' ');
            let mut bytes: Vec<u8> =
                bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
            bytes.resize(size_of(bytes[0]), 0);
            Some((name.to_owned(), bytes))
        })
    }

    /// The head of a message that has come.
    fn read(mut message: &[u8]) -> Option<(Head, u8)> {
        let Arrival { first, bytes, .. } = Arrival::new(0, message.len(), 0, &mut message);
        Head::take(first, bytes)
    }

    #[test]
    fn the_documents_samples_are_what_they_say() {
        let envelope = Envelope { context: 2, source: 3, tag: 42 };
        let offered = Envelope { context: 3, source: 1, tag: 5 };
        let mut seen = 0;
        for (name, bytes) in samples() {
            let head = match name.as_str() {
                "eager" => Head::Eager { envelope, sync: None },
                "sync" => Head::Eager { envelope, sync: Some(7) },
                "want" => Head::Want { number: 7, receive: 9 },
                "data" => Head::Data { receive: 9 },
                "done" => Head::Done { number: 7 },
                "offer" => Head::Offer { envelope: offered, number: 8, size: 0 },
                "need" => Head::Signal(Signal::Need { epoch: 5 }),
                "ask" => Head::Signal(Signal::Ask { wave: 6 }),
                "tell" => {
                    Head::Signal(Signal::Tell { wave: 6, sent: 258, received: 0, needs: true })
                }
                "drop" => Head::Drop { envelope: offered, number: 8 },
                "dropped" => Head::Dropped { number: 8 },
                "reveal" => Head::Signal(Signal::Reveal { epoch: 6 }),
                other => panic!("nobody knows the sample '{other}'"),
            };
            assert_eq!(*head.encode(), bytes, "{name}");
            assert_eq!(read(&bytes), Some((head, 0)), "{name}");
            let stamped = head.encode().stamped(7);
            assert_eq!(read(&stamped), Some((head, 7)), "{name}");
            seen += 1;
        }
        assert_eq!(seen, 12);
    }

    #[test]
    fn an_offer_says_how_much_there_is() {
        let envelope = Envelope { context: (1 << 48) - 1, source: u32::MAX, tag: i32::MAX };
        let offer = Head::Offer { envelope, number: u32::MAX, size: 1 << 40 };
        assert_eq!(read(&offer.encode()), Some((offer, 0)));
    }

    #[test]
    fn what_is_no_head_is_none() {
        assert_eq!(read(&[1; 15]), None);
        assert_eq!(read(&[99; 64]), None);
        assert_eq!(read(&[3; 31]), None);
    }
}
