//! What two ends say before the first message, byte by byte as `docs/wire/fabric.md` has it.
//!
//! The connector says hello: which version it speaks, who it is, what for it comes, and for which
//! lane. The listener answers once: welcome, or why not. The connector sends nothing more before
//! it has the answer, so no byte behind a hello is ever lost, and after the answer the connection
//! belongs to its strategy. Both sides begin with the same six bytes in all versions, so a wrong
//! version is told to both. Either may die at any time: the other one's deadline ends it.

use super::{Hello, Lane};
use crate::error::Error;
use muster_base::limits::HELLO_TEXT_MAX;

/// The version that this is.
pub const VERSION: u16 = 1;

/// How both begin.
const MAGIC: [u8; 4] = *b"MSTR";

/// Magic, version, lane.
const HEAD: usize = 4 + 2 + 1;

/// The first bytes of an answer, which say how long it is: magic, version, status, length.
pub const ANSWER_HEAD: usize = 4 + 2 + 1 + 1;

/// The longest hello.
pub const HELLO_MAX: usize = HEAD + 2 * (1 + HELLO_TEXT_MAX);

/// The longest answer.
pub const ANSWER_MAX: usize = ANSWER_HEAD + HELLO_TEXT_MAX;

/// Why there will be no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The other one speaks another version.
    #[error("version {theirs} is spoken there, version {VERSION} here")]
    Version {
        /// What it speaks.
        theirs: u16,
    },
    /// What came is no hello, or no answer to one.
    #[error("this is no hello: {0}")]
    Malformed(String),
    /// It is not wanted.
    #[error("{0}")]
    Denied(String),
}

impl Refusal {
    /// The error of who was refused, or refuses, by the other one's name.
    pub fn error(self, peer: &str) -> Error {
        let peer = peer.to_owned();
        match self {
            Refusal::Version { theirs } => Error::Version { peer, theirs, ours: VERSION },
            Refusal::Malformed(what) => Error::Malformed { peer, what },
            Refusal::Denied(why) => Error::Refused { peer, why },
        }
    }

    /// The answer that says so.
    pub fn answer(&self) -> Vec<u8> {
        let status = match self {
            Refusal::Version { .. } => Status::Version,
            Refusal::Malformed(_) => Status::Malformed,
            Refusal::Denied(_) => Status::Denied,
        };
        answer(status, &self.to_string())
    }
}

/// How an answer says what it means.
#[derive(Clone, Copy)]
enum Status {
    Welcome = 0,
    Version = 1,
    Malformed = 2,
    Denied = 3,
}

/// Whether these first bytes may be a hello's.
pub fn is_begun(bytes: &[u8]) -> bool {
    bytes.iter().zip(&MAGIC).all(|(byte, magic)| byte == magic)
}

/// A hello's bytes. Of a name that is too long the beginning is said.
///
/// # Panics
/// When the service's name is longer than a hello can say, of which [`Hello::check`] warns.
pub fn write(hello: &Hello) -> Vec<u8> {
    assert!(hello.service.len() <= HELLO_TEXT_MAX, "service {:?}", hello.service);
    let mut bytes = head();
    bytes.push(match hello.lane {
        Lane::System => 0,
        Lane::Bulk => 1,
    });
    write_text(&mut bytes, &hello.name);
    write_text(&mut bytes, &hello.service);
    bytes
}

/// A hello as the listener hears it.
pub fn heard(hello: &Hello) -> Hello {
    Hello { name: said(&hello.name), ..hello.clone() }
}

/// Reads a hello off the front of what has arrived: it and its length; none if it is not whole.
///
/// # Errors
/// What is wrong, as soon as that is certain; [`Refusal::answer`] is for the connector.
pub fn read(bytes: &[u8]) -> Result<Option<(Hello, usize)>, Refusal> {
    let mut rest = bytes;
    if !read_head(&mut rest)? {
        return Ok(None);
    }
    let lane = match rest.split_off_first() {
        None => return Ok(None),
        Some(0) => Lane::System,
        Some(1) => Lane::Bulk,
        Some(other) => return Err(Refusal::Malformed(format!("there is no lane {other}"))),
    };
    let Some(name) = read_text(&mut rest)? else { return Ok(None) };
    let Some(service) = read_text(&mut rest)? else { return Ok(None) };
    Ok(Some((Hello { name, service, lane }, bytes.len() - rest.len())))
}

/// The answer to a hello that is welcome.
pub fn welcome() -> Vec<u8> {
    answer(Status::Welcome, "")
}

/// How long an answer is, by its first bytes.
pub fn answer_size(head: &[u8; ANSWER_HEAD]) -> usize {
    ANSWER_HEAD + usize::from(head[ANSWER_HEAD - 1])
}

/// Reads an answer off the front of what has arrived: its length if it is welcome; none if it is
/// not whole.
///
/// # Errors
/// Why not, as the listener said it, or what is wrong with the answer.
pub fn read_answer(bytes: &[u8]) -> Result<Option<usize>, Refusal> {
    let mut rest = bytes;
    if !read_head(&mut rest)? {
        return Ok(None);
    }
    let Some(&status) = rest.split_off_first() else { return Ok(None) };
    let Some(reason) = read_text(&mut rest)? else { return Ok(None) };
    match status {
        0 => Ok(Some(bytes.len() - rest.len())),
        // It speaks ours but says that it does not.
        1 => Err(Refusal::Version { theirs: VERSION }),
        2 | 3 => Err(Refusal::Denied(reason)),
        other => Err(Refusal::Malformed(format!("there is no answer {other}"))),
    }
}

fn head() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HELLO_MAX);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes
}

fn answer(status: Status, reason: &str) -> Vec<u8> {
    let mut bytes = head();
    bytes.push(status as u8);
    write_text(&mut bytes, reason);
    bytes
}

/// Takes magic and version away; false if they are not whole.
fn read_head(rest: &mut &[u8]) -> Result<bool, Refusal> {
    let there = rest.len().min(MAGIC.len());
    // An alert record of TLS (RFC 8446, section 5.1): the answer to bytes in the clear.
    if rest.starts_with(&[21, 3]) {
        let what = "it speaks TLS, so its address is tls!HOST!PORT".to_owned();
        return Err(Refusal::Malformed(what));
    }
    if rest[..there] != MAGIC[..there] {
        return Err(Refusal::Malformed("it does not begin with MSTR".to_owned()));
    }
    let Some((head, behind)) = rest.split_first_chunk::<6>() else { return Ok(false) };
    *rest = behind;
    match u16::from_le_bytes([head[4], head[5]]) {
        VERSION => Ok(true),
        theirs => Err(Refusal::Version { theirs }),
    }
}

/// What is said of a text. Names are shown to people, so what would move their cursor is left out.
fn said(text: &str) -> String {
    let mut said = String::new();
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        if said.len() + letter.len_utf8() > HELLO_TEXT_MAX {
            break;
        }
        said.push(letter);
    }
    said
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    let said = said(text);
    bytes.push(u8::try_from(said.len()).expect("it was limited"));
    bytes.extend(said.as_bytes());
}

fn read_text(rest: &mut &[u8]) -> Result<Option<String>, Refusal> {
    let Some((&length, behind)) = rest.split_first() else { return Ok(None) };
    let Some((text, behind)) = behind.split_at_checked(length.into()) else { return Ok(None) };
    let Ok(text) = std::str::from_utf8(text) else {
        return Err(Refusal::Malformed("a name is not UTF-8".to_owned()));
    };
    if text.chars().any(char::is_control) {
        return Err(Refusal::Malformed("a name has control characters".to_owned()));
    }
    *rest = behind;
    Ok(Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hello() -> Hello {
        Hello { name: "node 3".to_owned(), service: "heartbeat".to_owned(), lane: Lane::System }
    }

    #[test]
    fn a_hello_is_read_when_it_is_whole_and_not_before() {
        let bytes = write(&hello());
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), Ok(None), "{end}");
        }
        assert_eq!(read(&bytes), Ok(Some((hello(), bytes.len()))));
        assert_eq!(read_answer(&welcome()), Ok(Some(ANSWER_HEAD)));
    }

    #[test]
    fn what_begins_wrong_is_refused_at_once() {
        assert!(matches!(read(b"GET"), Err(Refusal::Malformed(_))));
        let mut bytes = write(&hello());
        bytes[4] = 9;
        assert_eq!(read(&bytes[..6]), Err(Refusal::Version { theirs: 9 }));
        let mut bytes = write(&hello());
        bytes[6] = 7;
        assert!(matches!(read(&bytes[..7]), Err(Refusal::Malformed(_))));
        let mut bytes = write(&hello());
        bytes[9] = b'\x1b';
        assert!(matches!(read(&bytes), Err(Refusal::Malformed(_))));
    }

    #[test]
    fn a_refusal_reaches_the_connector_with_its_reason() {
        let denied = Refusal::Denied("user 1000 is not user 0".to_owned());
        let bytes = denied.answer();
        assert_eq!(bytes.len(), answer_size(bytes.first_chunk().unwrap()));
        assert_eq!(read_answer(&bytes), Err(denied));
        let mut newer = Refusal::Version { theirs: 1 }.answer();
        newer[4] = 2;
        assert_eq!(read_answer(&newer), Err(Refusal::Version { theirs: 2 }));
        assert!(matches!(Refusal::Version { theirs: 2 }.error("x"), Error::Version { .. }));
    }

    #[test]
    fn a_long_or_moving_name_is_said_as_far_as_it_can_be() {
        let long = Hello { name: format!("\n{}", "ü".repeat(200)), ..hello() };
        let (read, _) = read(&write(&long)).unwrap().unwrap();
        assert_eq!(read.name, "ü".repeat(127));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_hello_or_none(bytes: Vec<u8>, name in "\\PC*", lane: bool) {
            let _ = (read(&bytes), read_answer(&bytes));
            let lane = if lane { Lane::System } else { Lane::Bulk };
            let name = name.chars().take(60).collect::<String>();
            let hello = Hello { name, service: String::new(), lane };
            let bytes = write(&hello);
            prop_assert_eq!(read(&bytes), Ok(Some((hello, bytes.len()))));
        }
    }
}
