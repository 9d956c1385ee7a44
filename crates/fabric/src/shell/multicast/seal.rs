//! What datagrams are sealed with: AES-256-GCM (RFC 5116), keyed and used as QUIC keys and uses it
//! for its packets (RFC 9001, 5.3), so that each datagram can be opened by itself. The root makes a
//! key and gives it to members over their connections, which are protected or do not leave the
//! machine. So only members can read a datagram, only members can have sent it, and its tag is a
//! checksum as well.

use super::replay::Replay;
use super::wire::{HEADER, Header, PART};
use crate::error::{Error, Result};
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::crypto::ring::{cipher_suite, default_provider};
use rustls::quic::PacketKey;
use std::fmt;
use std::io;

/// Bytes of a secret.
pub const SECRET: usize = 8 + KEY + IV;
const KEY: usize = 32;
const IV: usize = 12;

/// A key before it is used, and its number.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// Its number: random, so no other key has it.
    pub generation: u64,
    key: [u8; KEY],
    iv: [u8; IV],
}

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn new() -> Result<Secret> {
        let mut bytes = [0; SECRET];
        let random = default_provider().secure_random;
        let filled = random.fill(&mut bytes);
        filled.map_err(|_| Error::io("making a key for multicast", io::ErrorKind::Other))?;
        Ok(Secret::decode(&bytes))
    }

    /// Reads one.
    pub fn decode(bytes: &[u8; SECRET]) -> Secret {
        let mut secret = Secret { generation: 0, key: [0; KEY], iv: [0; IV] };
        let (generation, rest) = bytes.split_first_chunk().expect("it is longer");
        secret.generation = u64::from_le_bytes(*generation);
        secret.key.copy_from_slice(&rest[..KEY]);
        secret.iv.copy_from_slice(&rest[KEY..]);
        secret
    }

    /// The bytes.
    pub fn encode(&self) -> [u8; SECRET] {
        let mut bytes = [0; SECRET];
        bytes[..8].copy_from_slice(&self.generation.to_le_bytes());
        bytes[8..8 + KEY].copy_from_slice(&self.key);
        bytes[8 + KEY..].copy_from_slice(&self.iv);
        bytes
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("generation", &self.generation).finish_non_exhaustive()
    }
}

/// A key.
pub struct Seal {
    pub generation: u64,
    key: Box<dyn PacketKey>,
}

impl Seal {
    /// With a secret.
    pub fn new(secret: &Secret) -> Seal {
        let suite = cipher_suite::TLS13_AES_256_GCM_SHA384.tls13().expect("a suite of TLS 1.3");
        let quic = suite.quic.expect("ring has the parts of QUIC");
        let key = quic.packet_key(AeadKey::from(secret.key), Iv::from(secret.iv));
        Seal { generation: secret.generation, key }
    }

    /// How many datagrams may be sealed: half of what RFC 9001 (6.6) allows.
    pub fn most(&self) -> u64 {
        self.key.confidentiality_limit() / 2
    }

    /// Appends a datagram.
    pub fn seal(&self, header: &Header, part: &[u8], to: &mut Vec<u8>) {
        let head = header.encode();
        to.extend_from_slice(&head);
        let start = to.len();
        to.extend_from_slice(part);
        let tag = self.key.encrypt_in_place(header.datagram, &head, &mut to[start..]);
        to.extend_from_slice(tag.expect("a part is short").as_ref());
    }

    /// Opens a datagram that is sealed with this key and has not come before.
    pub fn open_new<'a>(
        &self,
        heard: &mut Replay,
        datagram: &'a mut [u8],
    ) -> Option<(Header, &'a [u8])> {
        let header = Header::read(datagram)?;
        if self.generation != header.id.generation || !heard.is_new(header.datagram) {
            return None;
        }
        let part = self.open(&header, datagram)?;
        heard.mark(header.datagram);
        Some((header, part))
    }

    /// Reads what a datagram has sealed; none where it was not sealed with this key.
    pub fn open<'a>(&self, header: &Header, datagram: &'a mut [u8]) -> Option<&'a [u8]> {
        let (head, sealed) = datagram.split_at_mut_checked(HEADER)?;
        let part = self.key.decrypt_in_place(header.datagram, head, sealed).ok()?;
        (part.len() <= PART).then_some(part)
    }
}
