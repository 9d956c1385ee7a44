//! Who a node is among others: a pair of Ed25519 keys (RFC 8032), and the list of those it trusts.
//!
//! A key is pinned under a member's name. There are no certificates and no dates, so clocks do not
//! matter; to take a key off the list is to revoke it. The secret half is in a file of its owner's
//! and appears in no message of ours.

use crate::error::Result as Done;
use crate::error::{BadKey, Error};
use muster_base::limits::{HELLO_TEXT_MAX, MEMBERS_MAX};
use rustix::io::Errno;
use rustls::crypto::ring::sign::any_eddsa_type;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::sign::SigningKey;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, RwLock};

/// Bytes of either half of a key.
const SIZE: usize = 32;

/// A public key as a SubjectPublicKeyInfo (RFC 8410): all of it but the key.
const PUBLIC: [u8; 12] = *b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";

/// A secret key as PKCS #8 (RFC 8410): all of it but the key.
const SECRET: [u8; 16] = *b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";

/// How the text of a public key begins, and that of a secret one.
const PUBLIC_TEXT: &str = "ed25519:";
const SECRET_TEXT: &str = "secret-ed25519:";

/// A public key. As text: `ed25519:` and 64 digits of lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKey([u8; SIZE]);

impl PublicKey {
    /// As TLS shows it (RFC 7250).
    pub(super) fn info(&self) -> Vec<u8> {
        [&PUBLIC[..], &self.0].concat()
    }

    /// Reads what TLS has shown.
    pub(super) fn read(info: &[u8]) -> Option<PublicKey> {
        Some(PublicKey(info.strip_prefix(&PUBLIC)?.try_into().ok()?))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PUBLIC_TEXT)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<PublicKey, BadKey> {
        let digits = text.strip_prefix(PUBLIC_TEXT);
        let digits = digits.ok_or(BadKey("a public key begins with ed25519:"))?;
        read_digits(digits).map(PublicKey).ok_or(BadKey("a key has 64 hexadecimal digits"))
    }
}

fn read_digits(text: &str) -> Option<[u8; SIZE]> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; SIZE];
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 2 * SIZE {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

/// Both halves of a key.
#[derive(Clone)]
pub struct Identity {
    seed: [u8; SIZE],
    key: PublicKey,
}

/// Without the secret.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the identity of {}", self.key)
    }
}

impl Identity {
    /// A new one, of the system's random numbers.
    ///
    /// # Errors
    /// When the system has none.
    pub fn generate() -> Done<Identity> {
        let mut seed = [0; SIZE];
        let random = rustls::crypto::ring::default_provider().secure_random;
        random.fill(&mut seed).map_err(|_| Error::Exhausted {
            what: "random numbers",
            source: io::Error::other("the system gives none"),
        })?;
        Ok(Identity::from_secret(&seed))
    }

    /// The one of this secret key, which somebody else keeps.
    pub fn from_secret(seed: &[u8; SIZE]) -> Identity {
        let signer = signer(seed);
        let info = signer.public_key().expect("Ed25519 has one");
        Identity { seed: *seed, key: PublicKey::read(&info).expect("it is Ed25519") }
    }

    /// The half that others may know.
    pub fn public_key(&self) -> PublicKey {
        self.key
    }

    pub(super) fn signer(&self) -> Arc<dyn SigningKey> {
        signer(&self.seed)
    }

    /// Reads the file of an identity, which only its owner may be able to read.
    ///
    /// # Errors
    /// [`Error::Key`] where it is somebody else's, others may read or write it, or it holds
    /// something else; [`Error::Io`].
    pub fn load(path: &Path) -> Done<Identity> {
        let failed = |source| Error::io(format!("reading the key in {}", path.display()), source);
        let bad = |bad| Error::Key { place: path.display().to_string(), bad };
        // Whatever waits for somebody when it is opened is no file of ours.
        let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
        let mut file =
            OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(failed)?;
        let known = file.metadata().map_err(failed)?;
        if !known.is_file() || known.uid() != rustix::process::geteuid().as_raw() {
            return Err(bad(BadKey("it is no file of yours")));
        }
        if known.mode() & 0o077 != 0 {
            return Err(bad(BadKey("others may use it; chmod 600 ends that")));
        }
        let mut text = [0; SECRET_TEXT.len() + 2 * SIZE + 2];
        let size = read_all(&mut file, &mut text).map_err(failed)?;
        let text = std::str::from_utf8(&text[..size]).ok().and_then(|text| text.strip_suffix('\n'));
        let digits = text.and_then(|text| text.strip_prefix(SECRET_TEXT)).and_then(read_digits);
        digits
            .map(|seed| Identity::from_secret(&seed))
            .ok_or_else(|| bad(BadKey("it holds no secret key")))
    }

    /// Makes a new file, of mode 0600. It is linked into place when it is whole, so nobody finds
    /// half a key, and of two who make one there the second is told that there is one.
    ///
    /// # Errors
    /// [`Error::Io`], also where there is one: a key is never written over.
    pub fn store(&self, path: &Path) -> Done<()> {
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".{:.16}", &self.key.to_string()[PUBLIC_TEXT.len()..]));
        // One of this key that a crash has left.
        let _ = fs::remove_file(&draft);
        let linked = self.write(Path::new(&draft)).and_then(|()| fs::hard_link(&draft, path));
        let _ = fs::remove_file(&draft);
        let stored = match linked {
            // As where a file system has no links.
            Err(error) if is_without_links(&error) => self.write(path),
            linked => linked,
        };
        stored.map_err(|source| Error::io(format!("writing a key to {}", path.display()), source))
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        let digits: String = self.seed.iter().map(|byte| format!("{byte:02x}")).collect();
        let written = file.write_all(format!("{SECRET_TEXT}{digits}\n").as_bytes());
        let written = written.and_then(|()| file.sync_all());
        // As on a full disk: what is left of it is no key.
        written.inspect_err(|_| _ = fs::remove_file(path))
    }
}

fn signer(seed: &[u8; SIZE]) -> Arc<dyn SigningKey> {
    let secret = [&SECRET[..], seed].concat();
    any_eddsa_type(&PrivatePkcs8KeyDer::from(secret)).expect("any 32 bytes are a key")
}

/// What link(2) says on file systems that have none.
fn is_without_links(error: &io::Error) -> bool {
    const SAID: [Errno; 4] = [Errno::PERM, Errno::OPNOTSUPP, Errno::NOSYS, Errno::MLINK];
    SAID.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Reads until the end or until there is no room.
fn read_all(file: &mut File, into: &mut [u8]) -> io::Result<usize> {
    let mut size = 0;
    while size < into.len() {
        match file.read(&mut into[size..]) {
            Ok(0) => break,
            Ok(count) => size += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(size)
}

/// Who has proved to have a key of the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The name under which the key is pinned.
    pub name: String,
    /// The key.
    pub key: PublicKey,
}

impl Member {
    /// Whether a hello's name is one of this member's: its own, or that with something behind a
    /// dot, as nodes say which of their lives it is.
    pub(super) fn may_say(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&self.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// The membership list: keys by their members' names. Its clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct Members(Arc<RwLock<BTreeMap<String, PublicKey>>>);

impl Members {
    /// Pins a key; one that was pinned under that name is no longer trusted.
    ///
    /// # Errors
    /// [`Error::Key`] where the name is empty, long or has a dot or control characters, where
    /// another member has the key, or where the list is full.
    pub fn pin(&self, name: &str, key: PublicKey) -> Done<()> {
        let bad = |why| Err(Error::Key { place: format!("member {name:?}"), bad: BadKey(why) });
        let is_odd = |letter: char| letter == '.' || letter.is_control();
        if name.is_empty() || name.len() > HELLO_TEXT_MAX || name.contains(is_odd) {
            return bad("a name has 1 to 255 bytes, no dot and no control characters");
        }
        let mut list = self.0.write().expect("nobody panics with it");
        if list.iter().any(|(other, theirs)| *theirs == key && other != name) {
            return bad("another member has this key");
        }
        if list.len() >= MEMBERS_MAX && !list.contains_key(name) {
            return bad("the list is full");
        }
        list.insert(name.to_owned(), key);
        Ok(())
    }

    /// Trusts a member's key no longer: no new connection is made with it.
    pub fn revoke(&self, name: &str) {
        self.0.write().expect("nobody panics with it").remove(name);
    }

    /// Whose key it is.
    pub(super) fn find(&self, key: PublicKey) -> Option<Member> {
        let list = self.0.read().expect("nobody panics with it");
        let (name, key) = list.iter().find(|(_, theirs)| **theirs == key)?;
        Some(Member { name: name.clone(), key: *key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_public_key_is_read_as_it_is_written() {
        let key = Identity::generate().unwrap().public_key();
        assert_eq!(key.to_string().parse::<PublicKey>().unwrap(), key);
        assert_eq!(PublicKey::read(&key.info()), Some(key));
        let text = key.to_string();
        for bad in
            ["", "ed25519:", &text[1..], &text[..70], &format!("{text}0"), &text.to_uppercase()]
        {
            assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_public_half_is_that_of_rfc_8032() {
        // Section 7.1, test 1.
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let identity = Identity::from_secret(&read_digits(seed).unwrap());
        assert_eq!(identity.public_key().to_string(), format!("ed25519:{key}"));
        assert!(!format!("{identity:?}").contains(seed));
    }

    #[test]
    fn a_stored_identity_is_loaded_and_one_that_others_may_read_is_refused() {
        let name = format!("muster-identity-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        let path = folder.join("key");
        let identity = Identity::generate().unwrap();
        let draft = format!("key.{:.16}", &identity.key.to_string()[PUBLIC_TEXT.len()..]);
        identity.store(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(Identity::load(&path).unwrap().public_key(), identity.public_key());
        assert!(identity.store(&path).is_err(), "a key is never written over");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        fs::rename(&path, folder.join(draft)).unwrap();
        identity.store(&path).expect("what a crash has left keeps nobody");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        for mode in [0o640, 0o604, 0o620, 0o666] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = Identity::load(&path).unwrap_err();
            assert!(matches!(error, Error::Key { .. }), "{error}");
        }
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        for bad in ["", &text[..text.len() - 2], &text[1..], &format!("{text}\n")] {
            fs::write(&path, bad).unwrap();
            let error = Identity::load(&path).unwrap_err();
            assert!(matches!(error, Error::Key { .. }), "{error}");
            let secret = &text[SECRET_TEXT.len()..SECRET_TEXT.len() + 16];
            assert!(!error.to_string().contains(secret));
        }
        assert!(Identity::load(&folder).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_list_pins_one_name_to_one_key() {
        let keys: Vec<_> = (0..3).map(|_| Identity::generate().unwrap().public_key()).collect();
        let members = Members::default();
        members.pin("3", keys[0]).unwrap();
        assert!(members.pin("4", keys[0]).is_err());
        for name in ["", "3.1", "a\n", &"x".repeat(256)] {
            assert!(members.pin(name, keys[1]).is_err(), "{name:?}");
        }
        members.pin("3", keys[2]).unwrap();
        assert_eq!(
            (members.find(keys[0]), members.find(keys[2]).unwrap().name),
            (None, "3".into())
        );
        members.clone().revoke("3");
        assert_eq!(members.find(keys[2]), None);
        let member = Member { name: "3".to_owned(), key: keys[0] };
        assert!(member.may_say("3") && member.may_say("3.00ff"));
        assert!(!member.may_say("30") && !member.may_say("4") && !member.may_say(""));
    }
}
