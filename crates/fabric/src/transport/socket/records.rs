//! TLS's records (RFC 8446, 5.2) in place: what a connection consists of after its handshake. To
//! the other side it is the same connection whoever makes them: a session ([`super::session`]),
//! which also knows what else TLS has to say, or who was given a connection's keys ([`Records`]).
//! Several processes may send on one in turn then if they know which record is the next: its number
//! is what makes the nonce, so none may be used for two records. They update no key: who has used a
//! key up ends the connection.

use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::ring::cipher_suite;
use rustls::quic::PacketKey;
use rustls::{ConnectionTrafficSecrets, ExtractedSecrets, Tls13CipherSuite};
use std::fmt;
use std::ops::Range;

const KEY: usize = 32;
const IV: usize = 12;

/// A record's first bytes: its kind, which is always data, TLS 1.2's number, and its length.
const START: [u8; 3] = [DATA, 3, 3];
/// What is in records: data of whoever uses the connection,
pub(super) const DATA: u8 = 23;
/// TLS's words on keys,
pub(super) const HANDSHAKE: u8 = 22;
/// and on the end.
pub(super) const ALERT: u8 = 21;

/// Bytes of a record before what is sealed, and behind: the kind, and the tag.
pub const HEAD: usize = START.len() + 2;
const TAIL: usize = 1 + 16;

/// Bytes of a record that are not its content.
pub const EXTRA: usize = HEAD + TAIL;

/// The most that a record may hold.
pub(super) const CONTENT_MAX: usize = 1 << 14;

/// The most that may stand behind a record's head: with padding, and the tag.
const SEALED_MAX: usize = CONTENT_MAX + 256;

/// The most bytes of a record.
pub(super) const RECORD_MAX: usize = HEAD + SEALED_MAX;

/// The keys of a connection, and its next records.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    is_aes: bool,
    /// Of what goes to the other side, and of what comes.
    ways: [Way; 2],
}

#[derive(Clone, PartialEq, Eq)]
struct Way {
    /// The next record's number.
    next: u64,
    key: [u8; KEY],
    iv: [u8; IV],
}

impl Way {
    /// What TLS calls secrets, and whether they are AES's.
    fn of((next, secrets): (u64, ConnectionTrafficSecrets)) -> Option<(bool, Way)> {
        let (is_aes, key, iv) = match secrets {
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (true, key, iv),
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (false, key, iv),
            _ => return None,
        };
        let (key, iv) = (key.as_ref().try_into().ok()?, iv.as_ref().try_into().ok()?);
        Some((is_aes, Way { next, key, iv }))
    }
}

/// Without them.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Keys {
    /// Bytes of a connection's keys.
    pub const SIZE: usize = 1 + 2 * (8 + KEY + IV);

    /// What TLS has agreed upon; none for a cipher that is none of ours.
    pub(super) fn of(secrets: ExtractedSecrets) -> Option<Keys> {
        let ((is_aes, out), (_, incoming)) = (Way::of(secrets.tx)?, Way::of(secrets.rx)?);
        Some(Keys { is_aes, ways: [out, incoming] })
    }

    /// Those of one way are others from now on; none for another cipher than it had.
    pub(super) fn update(
        &mut self,
        way: usize,
        secrets: (u64, ConnectionTrafficSecrets),
    ) -> Option<()> {
        let (is_aes, new) = Way::of(secrets)?;
        self.ways[way] = new;
        (is_aes == self.is_aes).then_some(())
    }

    fn suite(&self) -> &'static Tls13CipherSuite {
        let suite = match self.is_aes {
            true => cipher_suite::TLS13_AES_256_GCM_SHA384,
            false => cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        };
        suite.tls13().expect("it is one of TLS 1.3")
    }

    fn cipher(&self, way: usize) -> Cipher {
        // QUIC's packets' nonces are made as those of TLS's records (RFC 9001, 5.3).
        let quic = self.suite().quic.expect("ring has the parts of QUIC");
        let Way { next, key, iv } = &self.ways[way];
        let key = quic.packet_key(AeadKey::from(*key), Iv::from(*iv));
        Cipher { key, first: *next }
    }

    /// The bytes, for another process.
    pub fn encode(&self) -> [u8; Keys::SIZE] {
        let mut bytes = [u8::from(self.is_aes); Keys::SIZE];
        for (way, bytes) in self.ways.iter().zip(bytes[1..].chunks_exact_mut(8 + KEY + IV)) {
            bytes[..8].copy_from_slice(&way.next.to_le_bytes());
            bytes[8..8 + KEY].copy_from_slice(&way.key);
            bytes[8 + KEY..].copy_from_slice(&way.iv);
        }
        bytes
    }

    /// Reads them.
    pub fn decode(bytes: &[u8; Keys::SIZE]) -> Keys {
        let way = |bytes: &[u8]| Way {
            next: u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")),
            key: bytes[8..8 + KEY].try_into().expect("as many"),
            iv: bytes[8 + KEY..].try_into().expect("as many"),
        };
        let (out, incoming) = bytes[1..].split_at(8 + KEY + IV);
        Keys { is_aes: bytes[0] != 0, ways: [way(out), way(incoming)] }
    }

    /// How many records were sealed with the key of what goes out.
    pub(super) fn sealed(&self) -> u64 {
        self.ways[0].next
    }

    /// So many records were sent, and so many received.
    pub fn advance(&mut self, sent: u64, received: u64) {
        self.ways[0].next += sent;
        self.ways[1].next += received;
    }
}

/// What cannot be a record of this connection, or may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit;

/// The records of a connection. Their numbers count from where its keys were.
pub struct Records {
    /// What is sealed, and what is opened.
    ways: [Cipher; 2],
    /// How many may be sealed with one key.
    most: u64,
}

/// One way's.
struct Cipher {
    key: Box<dyn PacketKey>,
    first: u64,
}

impl Records {
    /// Those of these keys.
    pub fn new(keys: &Keys) -> Records {
        // Others count records with 32 bits, and no number may come twice.
        let most = keys.suite().common.confidentiality_limit.min(u32::MAX.into());
        Records { ways: [keys.cipher(0), keys.cipher(1)], most }
    }

    /// One way goes on with another key.
    pub(super) fn update(&mut self, way: usize, keys: &Keys) {
        self.ways[way] = keys.cipher(way);
    }

    /// How many may be sealed with one key.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Makes a record of what stands in a batch from `start` on, behind [`HEAD`] bytes that are
    /// open.
    ///
    /// # Errors
    /// [`Unfit`] where the key is used up, or it is too long.
    pub fn seal(&self, number: u64, batch: &mut Vec<u8>, start: usize) -> Result<(), Unfit> {
        self.seal_kind(DATA, number, batch, start)
    }

    pub(super) fn seal_kind(
        &self,
        kind: u8,
        number: u64,
        batch: &mut Vec<u8>,
        start: usize,
    ) -> Result<(), Unfit> {
        let Cipher { key, first } = &self.ways[0];
        let content = batch.len() - start - HEAD;
        // Who has the keys of another knows only from that one how far they are used.
        let number = first.checked_add(number).ok_or(Unfit)?;
        if number >= self.most || content > CONTENT_MAX {
            return Err(Unfit);
        }
        batch.push(kind);
        let (head, inside) = batch[start..].split_at_mut(HEAD);
        head[..START.len()].copy_from_slice(&START);
        head[START.len()..].copy_from_slice(&((content + TAIL) as u16).to_be_bytes());
        let tag = key.encrypt_in_place(number, head, inside).map_err(|_| Unfit)?;
        batch.extend_from_slice(tag.as_ref());
        Ok(())
    }

    /// Opens the first record of what has arrived, in its place: where its content is, and where
    /// the next record begins; none where a part is missing.
    ///
    /// # Errors
    /// [`Unfit`] where it is not that record, or one with what TLS itself has to say: nobody says
    /// that to who has only the keys.
    pub fn open(
        &self,
        number: u64,
        arrived: &mut [u8],
    ) -> Result<Option<(Range<usize>, usize)>, Unfit> {
        match self.open_kind(number, arrived)? {
            Some((DATA, content, next)) => Ok(Some((content, next))),
            None => Ok(None),
            Some(_) => Err(Unfit),
        }
    }

    /// The same, whatever it says, and its kind.
    pub(super) fn open_kind(
        &self,
        number: u64,
        arrived: &mut [u8],
    ) -> Result<Option<(u8, Range<usize>, usize)>, Unfit> {
        let Some((head, rest)) = arrived.split_at_mut_checked(HEAD) else { return Ok(None) };
        let size = usize::from(u16::from_be_bytes([head[3], head[4]]));
        if head[..START.len()] != START || !(TAIL..=SEALED_MAX).contains(&size) {
            return Err(Unfit);
        }
        let Some(sealed) = rest.get_mut(..size) else { return Ok(None) };
        let Cipher { key, first } = &self.ways[1];
        let number = first.checked_add(number).ok_or(Unfit)?;
        let inside = key.decrypt_in_place(number, head, sealed).map_err(|_| Unfit)?;
        // Behind the kind there may be padding.
        let last = inside.iter().rposition(|byte| *byte != 0).ok_or(Unfit)?;
        if last > CONTENT_MAX {
            return Err(Unfit);
        }
        Ok(Some((inside[last], HEAD..HEAD + last, HEAD + size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(is_aes: bool) -> [Keys; 2] {
        let way = |seed: u8| Way { next: u64::from(seed), key: [seed; KEY], iv: [seed ^ 9; IV] };
        let ways = [way(3), way(4)];
        let there = Keys { is_aes, ways: [ways[1].clone(), ways[0].clone()] };
        [Keys { is_aes, ways }, there]
    }

    fn sealed(records: &Records, numbers: Range<u64>) -> Vec<u8> {
        let mut batch = Vec::new();
        for number in numbers {
            let start = batch.len();
            batch.extend_from_slice(&[0; HEAD]);
            batch.extend_from_slice(&[number as u8; 40]);
            records.seal(number, &mut batch, start).unwrap();
        }
        batch
    }

    #[test]
    fn records_are_opened_in_their_order_and_only_so() {
        for is_aes in [true, false] {
            let [here, there] = keys(is_aes).map(|keys| Records::new(&keys));
            let batch = sealed(&here, 0..3);
            assert_eq!(batch.len(), 3 * (40 + EXTRA));
            let mut arrived = batch.clone();
            let mut at = 0;
            for number in 0..3 {
                let (content, next) = there.open(number, &mut arrived[at..]).unwrap().unwrap();
                assert_eq!(arrived[at..][content], [number as u8; 40]);
                at += next;
            }
            assert_eq!(there.open(3, &mut arrived[at..]), Ok(None));
            assert_eq!(there.open(1, &mut batch.clone()), Err(Unfit), "another number");
            for end in 0..40 + EXTRA {
                assert_eq!(there.open(0, &mut batch[..end].to_vec()), Ok(None), "{end} bytes");
            }
            for at in 0..40 + EXTRA {
                let mut changed = batch.clone();
                changed[at] ^= 1;
                let opened = there.open(0, &mut changed);
                assert!(!matches!(opened, Ok(Some(_))), "byte {at} is another");
            }
        }
    }

    #[test]
    fn keys_go_to_other_processes_as_they_are_and_are_not_shown() {
        let [mut keys, _] = keys(true);
        keys.advance(7, 9);
        assert_eq!(Keys::decode(&keys.encode()), keys);
        assert_eq!((keys.ways[0].next, keys.ways[1].next), (10, 13));
        assert_eq!(format!("{keys:?}"), "Keys { .. }");
    }

    #[test]
    fn a_key_that_is_used_up_seals_nothing_more() {
        for is_aes in [true, false] {
            let [mut keys, _] = keys(is_aes);
            let most = Records::new(&keys).most;
            assert!(most <= u32::MAX.into(), "so far others count");
            keys.ways[0].next = most - 1;
            let records = Records::new(&keys);
            let mut batch = vec![0; HEAD];
            assert_eq!(records.seal(0, &mut batch, 0), Ok(()));
            assert_eq!(records.seal(1, &mut vec![0; HEAD], 0), Err(Unfit));
            // Whoever says that, no number comes again.
            keys.ways.iter_mut().for_each(|way| way.next = u64::MAX);
            let (records, mut other) = (Records::new(&keys), Vec::new());
            assert_eq!(records.seal(1, &mut vec![0; HEAD], 0), Err(Unfit));
            other.extend([DATA, 3, 3, 0, TAIL as u8]);
            other.resize(HEAD + TAIL, 0);
            assert_eq!(records.open(1, &mut other), Err(Unfit));
        }
    }
}
