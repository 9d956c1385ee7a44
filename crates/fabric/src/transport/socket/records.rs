//! TLS's records by whoever has the keys: what goes over a connection that was given away after its
//! handshake ([`super::pump::Tunnel::leave`]). To the other side it is the same connection, of
//! which every record says that it is data (RFC 8446, 5.2). Several processes may send on it in
//! turn if they know which record is the next: its number is what makes the nonce, so none may be
//! used for two records. No key is ever updated: who has used a key up ends the connection.

use rustls::ConnectionTrafficSecrets;
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::ring::cipher_suite;
use rustls::quic::PacketKey;
use std::fmt;
use std::ops::Range;

const KEY: usize = 32;
const IV: usize = 12;

/// A record's first bytes: its kind, which is always data, TLS 1.2's number, and its length.
const START: [u8; 3] = [DATA, 3, 3];
const DATA: u8 = 23;

/// Bytes of a record before what is sealed, and behind: the kind, and the tag.
pub const HEAD: usize = START.len() + 2;
const TAIL: usize = 1 + 16;

/// Bytes of a record that are not its content.
pub const EXTRA: usize = HEAD + TAIL;

/// The most that a record may hold.
const CONTENT_MAX: usize = 1 << 14;

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

/// Without them.
impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Keys {
    /// Bytes of a connection's keys.
    pub const SIZE: usize = 1 + 2 * (8 + KEY + IV);

    /// What a session had; none for a cipher that is none of ours.
    pub(super) fn of(secrets: rustls::ExtractedSecrets) -> Option<Keys> {
        let way = |(next, secrets)| {
            let (is_aes, key, iv) = match secrets {
                ConnectionTrafficSecrets::Aes256Gcm { key, iv } => (true, key, iv),
                ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (false, key, iv),
                _ => return None,
            };
            let (key, iv) = (key.as_ref().try_into().ok()?, iv.as_ref().try_into().ok()?);
            Some((is_aes, Way { next, key, iv }))
        };
        let ((is_aes, out), (_, incoming)) = (way(secrets.tx)?, way(secrets.rx)?);
        Some(Keys { is_aes, ways: [out, incoming] })
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
    ways: [(Box<dyn PacketKey>, u64); 2],
    /// How many may be sealed with one key.
    most: u64,
}

impl Records {
    /// Those of these keys.
    pub fn new(keys: &Keys) -> Records {
        let suite = match keys.is_aes {
            true => cipher_suite::TLS13_AES_256_GCM_SHA384,
            false => cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        };
        let suite = suite.tls13().expect("it is one of TLS 1.3");
        // Its packets' nonces are made as those of TLS's records (RFC 9001, 5.3).
        let quic = suite.quic.expect("ring has the parts of QUIC");
        let way = |way: &Way| (quic.packet_key(AeadKey::from(way.key), Iv::from(way.iv)), way.next);
        // Others count records with 32 bits, and no number may come twice.
        let most = suite.common.confidentiality_limit.min(u32::MAX.into());
        Records { ways: [way(&keys.ways[0]), way(&keys.ways[1])], most }
    }

    /// Makes a record of what stands in a batch from `start` on, behind [`HEAD`] bytes that are
    /// open.
    ///
    /// # Errors
    /// [`Unfit`] where the key is used up, or it is too long.
    pub fn seal(&self, number: u64, batch: &mut Vec<u8>, start: usize) -> Result<(), Unfit> {
        let (key, first) = &self.ways[0];
        let content = batch.len() - start - HEAD;
        let number = first + number;
        if number >= self.most || content > CONTENT_MAX {
            return Err(Unfit);
        }
        batch.push(DATA);
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
    /// [`Unfit`] where it is not that record.
    pub fn open(
        &self,
        number: u64,
        arrived: &mut [u8],
    ) -> Result<Option<(Range<usize>, usize)>, Unfit> {
        let Some((head, rest)) = arrived.split_at_mut_checked(HEAD) else { return Ok(None) };
        let size = usize::from(u16::from_be_bytes([head[3], head[4]]));
        if head[..START.len()] != START || !(TAIL..=CONTENT_MAX + TAIL).contains(&size) {
            return Err(Unfit);
        }
        let Some(sealed) = rest.get_mut(..size) else { return Ok(None) };
        let (key, first) = &self.ways[1];
        let inside = key.decrypt_in_place(first + number, head, sealed).map_err(|_| Unfit)?;
        match inside.split_last() {
            Some((&DATA, content)) => Ok(Some((HEAD..HEAD + content.len(), HEAD + size))),
            // Padding, or what TLS itself has to say: nobody sends that here.
            _ => Err(Unfit),
        }
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
        }
    }
}
