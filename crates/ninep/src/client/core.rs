//! The client's half of the protocol without I/O: requests become bytes, bytes become answers.
//!
//! A tag's way: *free*; *waiting* with what was asked and whom to tell; free again with the
//! answer. A flush of it takes a tag of its own. Then either the answer overtakes `Rflush`: it
//! counts, and the tag is *answered* until `Rflush` lets it go; or `Rflush` comes first: the
//! request had no effect and ends with EINTR (flush(5)). Whoever waits is told exactly once.
//!
//! The server is not trusted: an answer nobody asked for, of another kind, longer than asked or
//! malformed ends the connection, and no more memory is taken than the agreed message size.

use crate::error::{Errno, Error};
use crate::message::{BadStream, Frame, NOTAG, Rmessage, Tag, Tmessage};
use crate::outbox::Outbox;
use crate::version::{Dialect, Version};
use crate::wire::Malformed;
use muster_base::limits::{MSIZE_FIRST, MSIZE_MIN, TAGS_MAX};

/// Requests under way at most: half of all tags, so that each of them can be flushed.
const UNDER_WAY_MAX: usize = TAGS_MAX / 2;

/// Whose a request or a fid is, of what there is only so much of on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Ours.
    Own,
    /// Somebody's for whom it is handed on: half is kept from them, so that they cannot stop us.
    Guests,
    /// A clunk: it may have one of the tags kept for flushes.
    Clunks,
}

impl Share {
    /// How much of `all` may be taken before there is no more for it.
    pub fn of(self, all: usize) -> usize {
        if self == Share::Guests { all / 2 } else { all }
    }
}

/// A server that breaks the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Sizes that cannot be.
    #[error("{0}")]
    Stream(#[from] BadStream),
    /// An answer whose bytes are none.
    #[error("the answer to a {0} is malformed: {1}")]
    Malformed(&'static str, Malformed),
    /// An answer to a request that does not wait for one.
    #[error("it answered tag {0}, which nobody waits for")]
    Unasked(Tag),
    /// An answer of another kind than the request.
    #[error("it answered a {0} with message type {1}")]
    Kind(&'static str, u8),
    /// More bytes, qids or written bytes than were asked for.
    #[error("it answered a {0} for {1} with {2}")]
    TooMuch(&'static str, u32, u32),
}

/// Why a request was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Too many are under way: try again after an answer.
    Full,
    /// It can never be sent.
    Never(Error),
}

/// Names one request, also after its tag was used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub(crate) tag: Tag,
    serial: u64,
}

/// What was asked.
#[derive(Debug, Clone, Copy)]
struct Asked {
    name: &'static str,
    /// Type number of the answer.
    number: u8,
    /// Most bytes or qids the answer may have.
    most: u32,
}

#[derive(Debug)]
enum Slot<P> {
    Free,
    Waiting {
        serial: u64,
        asked: Asked,
        then: P,
        flushed: bool,
    },
    /// Answered before its `Rflush`.
    Answered,
    /// A `Tflush` of this tag.
    Flush(Tag),
}

/// Whom to tell, and what.
pub type Delivery<'a, P> = (P, Result<Rmessage<'a>, Error>);

/// One connection. `P` is whom to tell an answer.
#[derive(Debug)]
pub struct Core<P> {
    version: Version,
    msize: u32,
    /// The handshake's request, until it is answered.
    hello: Option<P>,
    agreed: bool,
    slots: Vec<Slot<P>>,
    free: Vec<Tag>,
    under_way: usize,
    serial: u64,
    scratch: Vec<u8>,
    /// Bytes to send.
    pub outbox: Outbox,
}

impl<P> Core<P> {
    /// Opens the conversation: proposes a version and a message size.
    pub fn new(version: Version, msize: u32, then: P) -> Core<P> {
        let mut core = Core {
            version,
            msize,
            hello: Some(then),
            agreed: false,
            slots: Vec::new(),
            free: Vec::new(),
            under_way: 0,
            serial: 0,
            scratch: Vec::new(),
            outbox: Outbox::default(),
        };
        let hello = Tmessage::Version { msize, version: version.name() };
        core.outbox.put(|out| hello.encode(NOTAG, version.dialect, out));
        core
    }

    /// What the connection speaks.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Largest message.
    pub fn msize(&self) -> u32 {
        self.msize
    }

    /// Largest message that may arrive now.
    pub(crate) fn arriving_max(&self) -> u32 {
        if self.agreed { self.msize } else { MSIZE_FIRST as u32 }
    }

    /// Whether one more request may be under way.
    pub fn has_place(&self, share: Share) -> bool {
        self.under_way < share.of(UNDER_WAY_MAX)
    }

    /// Queues a request.
    pub fn send(
        &mut self,
        request: &Tmessage<'_>,
        then: P,
        share: Share,
    ) -> Result<Sent, (Refusal, P)> {
        if let Err(error) = self.sendable(request) {
            return Err((Refusal::Never(error), then));
        }
        if !self.has_place(share) && share != Share::Clunks {
            return Err((Refusal::Full, then));
        }
        let Some(tag) = self.take_tag() else { return Err((Refusal::Full, then)) };
        let dialect = self.version.dialect;
        if let Tmessage::Write { .. } = request {
            // Bulk data goes straight to the outbox; its size was looked at.
            self.outbox.put(|out| request.encode(tag, dialect, out));
        } else {
            self.scratch.clear();
            request.encode(tag, dialect, &mut self.scratch);
            if self.scratch.len() > self.msize as usize {
                self.free.push(tag);
                return Err((Refusal::Never(too_long(self.msize)), then));
            }
            let scratch = &self.scratch;
            self.outbox.put(|out| out.extend_from_slice(scratch));
        }
        self.serial += 1;
        self.under_way += 1;
        let (serial, asked) = (self.serial, asked(request));
        self.slots[usize::from(tag)] = Slot::Waiting { serial, asked, then, flushed: false };
        Ok(Sent { tag, serial })
    }

    /// Whether a request may be sent at all.
    fn sendable(&self, request: &Tmessage<'_>) -> Result<(), Error> {
        let linux = self.version.dialect == Dialect::Linux;
        let known = match request.number() {
            ..100 => linux,
            // Tversion and Tflush are sent by the core alone.
            100 | 108 => false,
            112 | 114 | 124 | 126 => !linux,
            _ => true,
        };
        if !known {
            let (name, version) = (request.name(), self.version.name());
            return Err(Error::new(
                Errno::OPNOTSUPP,
                format!("no T{name} can be sent in {version}"),
            ));
        }
        if let Tmessage::Write { data, .. } = request
            && data.0.len() > self.msize as usize - 23
        {
            return Err(too_long(self.msize));
        }
        // What does not fit behind a 16-bit length would be cut.
        if longest_string(request) > usize::from(u16::MAX) {
            return Err(Error::from(Errno::NAMETOOLONG));
        }
        Ok(())
    }

    fn take_tag(&mut self) -> Option<Tag> {
        if let Some(tag) = self.free.pop() {
            return Some(tag);
        }
        let next = self.slots.len();
        if next >= TAGS_MAX {
            return None;
        }
        self.slots.push(Slot::Free);
        Some(next as Tag)
    }

    fn release(&mut self, tag: Tag) -> Slot<P> {
        self.free.push(tag);
        std::mem::replace(&mut self.slots[usize::from(tag)], Slot::Free)
    }

    /// Queues a flush of a request; nothing happens if it is answered or flushed already.
    pub fn flush(&mut self, sent: Sent) {
        match self.slots.get(usize::from(sent.tag)) {
            Some(Slot::Waiting { serial, flushed: false, .. }) if *serial == sent.serial => {}
            _ => return,
        }
        // Without a tag left the request just stays; clunks alone can have used them up.
        let Some(tag) = self.take_tag() else { return };
        self.slots[usize::from(tag)] = Slot::Flush(sent.tag);
        if let Slot::Waiting { flushed, .. } = &mut self.slots[usize::from(sent.tag)] {
            *flushed = true;
        }
        let flush = Tmessage::Flush { oldtag: sent.tag };
        let dialect = self.version.dialect;
        self.outbox.put(|out| flush.encode(tag, dialect, out));
    }

    /// Takes one message that arrived; returns whom to tell what, if anybody.
    pub fn accept<'a>(&mut self, frame: Frame<'a>) -> Result<Option<Delivery<'a, P>>, Violation> {
        if frame.tag == NOTAG {
            return self.accept_hello(frame).map(Some);
        }
        let tag = frame.tag;
        let dialect = self.version.dialect;
        match self.slots.get(usize::from(tag)) {
            None | Some(Slot::Free | Slot::Answered) => Err(Violation::Unasked(tag)),
            Some(Slot::Flush(old)) => {
                let old = *old;
                match frame.answer(dialect) {
                    // An error to a flush says that the request is gone as well (old servers).
                    Ok(Rmessage::Flush {} | Rmessage::Lerror { .. } | Rmessage::Error { .. }) => {}
                    Ok(other) => return Err(Violation::Kind("Tflush", other.number())),
                    Err(why) => return Err(Violation::Malformed("Tflush", why)),
                }
                self.release(tag);
                let Slot::Waiting { then, .. } = self.release(old) else { return Ok(None) };
                self.under_way -= 1;
                Ok(Some((then, Err(interrupted()))))
            }
            Some(Slot::Waiting { asked, flushed, .. }) => {
                let flushed = *flushed;
                let result = read_answer(asked, frame, dialect)?;
                let slot = self.release(tag);
                if flushed {
                    self.free.pop();
                    self.slots[usize::from(tag)] = Slot::Answered;
                }
                self.under_way -= 1;
                let Slot::Waiting { then, .. } = slot else { unreachable!("just matched") };
                Ok(Some((then, result)))
            }
        }
    }

    /// The answer to the proposal of a version.
    fn accept_hello<'a>(&mut self, frame: Frame<'a>) -> Result<Delivery<'a, P>, Violation> {
        if self.hello.is_none() {
            return Err(Violation::Unasked(NOTAG));
        }
        let answer = frame
            .answer(self.version.dialect)
            .map_err(|why| Violation::Malformed("Tversion", why))?;
        let agreed = match &answer {
            Rmessage::Version { msize, version } => self.agree(*msize, version),
            Rmessage::Lerror { .. } | Rmessage::Error { .. } => {
                Err(refused(&answer).expect("one of the errors"))
            }
            other => return Err(Violation::Kind("Tversion", other.number())),
        };
        // Taken only now: who hears of a violation is told by `end`, with all the others.
        let then = self.hello.take().expect("it was looked at");
        Ok((then, agreed.map(|()| answer)))
    }

    fn agree(&mut self, msize: u32, version: &str) -> Result<(), Error> {
        let asked = self.version.name();
        let no = |text: String| Err(Error::new(Errno::PROTONOSUPPORT, text));
        let shorter = asked
            .strip_prefix(version)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let Some(agreed) = Version::agree(version).filter(|_| shorter) else {
            return no(format!("the server speaks no {asked}: it answered {version:?}"));
        };
        if (agreed.dialect == Dialect::Linux) != (self.version.dialect == Dialect::Linux) {
            return no(format!("the server speaks {version} only, not {asked}"));
        }
        if msize > self.msize || (msize as usize) < MSIZE_MIN {
            let most = self.msize;
            return no(format!(
                "the server grants messages of {msize} bytes, not {MSIZE_MIN} to {most}"
            ));
        }
        self.version = agreed;
        self.msize = msize;
        self.agreed = true;
        self.outbox.set_msize(msize as usize);
        Ok(())
    }

    /// Ends the conversation: returns all who still wait.
    pub fn end(&mut self) -> Vec<P> {
        self.free.clear();
        self.under_way = 0;
        self.outbox = Outbox::default();
        let waiting = self.slots.drain(..).filter_map(|slot| match slot {
            Slot::Waiting { then, .. } => Some(then),
            _ => None,
        });
        self.hello.take().into_iter().chain(waiting).collect()
    }

    #[cfg(test)]
    pub(crate) fn under_way(&self) -> usize {
        self.under_way
    }
}

fn too_long(msize: u32) -> Error {
    Error::new(Errno::MSGSIZE, format!("the request is longer than the {msize} bytes agreed on"))
}

fn interrupted() -> Error {
    Error::new(Errno::INTR, "the request was taken back")
}

fn asked(request: &Tmessage<'_>) -> Asked {
    let most = match request {
        Tmessage::Read { count, .. } | Tmessage::Readdir { count, .. } => *count,
        Tmessage::Write { data, .. } => data.0.len() as u32,
        Tmessage::Walk { names, .. } => names.as_slice().len() as u32,
        _ => u32::MAX,
    };
    Asked { name: request.name(), number: request.number() + 1, most }
}

fn longest_string(request: &Tmessage<'_>) -> usize {
    match request {
        Tmessage::Lcreate { name, .. }
        | Tmessage::Mknod { name, .. }
        | Tmessage::Rename { name, .. }
        | Tmessage::Xattrwalk { name, .. }
        | Tmessage::Xattrcreate { name, .. }
        | Tmessage::Link { name, .. }
        | Tmessage::Mkdir { name, .. }
        | Tmessage::Unlinkat { name, .. }
        | Tmessage::Create { name, .. } => name.len(),
        Tmessage::Symlink { name, target, .. } => name.len().max(target.len()),
        Tmessage::Renameat { name, new_name, .. } => name.len().max(new_name.len()),
        Tmessage::Lock { client_id, .. } => client_id.len(),
        Tmessage::Getlock { range, .. } => range.client_id.len(),
        Tmessage::Auth { uname, aname, .. } | Tmessage::Attach { uname, aname, .. } => {
            uname.len().max(aname.len())
        }
        Tmessage::Walk { names, .. } => {
            names.as_slice().iter().map(|name| name.len()).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// Reads the answer to a request and holds it against what was asked.
fn read_answer<'a>(
    asked: &Asked,
    frame: Frame<'a>,
    dialect: Dialect,
) -> Result<Result<Rmessage<'a>, Error>, Violation> {
    let answer = frame.answer(dialect).map_err(|why| Violation::Malformed(asked.name, why))?;
    if let Some(error) = refused(&answer) {
        return Ok(Err(error));
    }
    if answer.number() != asked.number {
        return Err(Violation::Kind(asked.name, answer.number()));
    }
    let got = match &answer {
        Rmessage::Read { data } | Rmessage::Readdir { data } => data.0.len() as u32,
        Rmessage::Write { count } => *count,
        Rmessage::Walk { qids } => qids.0.len() as u32,
        _ => 0,
    };
    if got > asked.most {
        return Err(Violation::TooMuch(asked.name, asked.most, got));
    }
    Ok(Ok(answer))
}

/// The error in an answer, if it is one.
fn refused(answer: &Rmessage<'_>) -> Option<Error> {
    match answer {
        Rmessage::Lerror { errno } => Some(number_of(*errno).unwrap_or(Errno::IO).into()),
        Rmessage::Error { text, errno } => {
            let text = String::from_utf8_lossy(text).into_owned();
            let errno = number_of(errno.0).unwrap_or_else(|| guess(&text));
            Some(if text.is_empty() { errno.into() } else { Error::new(errno, text) })
        }
        _ => None,
    }
}

/// An error number that Linux could have sent.
fn number_of(number: u32) -> Option<Errno> {
    let number = i32::try_from(number).ok()?;
    (1..4096).contains(&number).then(|| Errno::from_raw_os_error(number))
}

/// The number behind a text of 9P2000: the words of Plan 9's servers and of strerror(3).
fn guess(text: &str) -> Errno {
    let text = text.to_lowercase();
    let known = [
        ("not found", Errno::NOENT),
        ("does not exist", Errno::NOENT),
        ("no such file", Errno::NOENT),
        ("permission denied", Errno::ACCESS),
        ("not permitted", Errno::PERM),
        ("exists", Errno::EXIST),
        ("not a directory", Errno::NOTDIR),
        ("is a directory", Errno::ISDIR),
        ("not empty", Errno::NOTEMPTY),
        ("interrupted", Errno::INTR),
        ("no space", Errno::NOSPC),
        ("read-only", Errno::ROFS),
        ("invalid", Errno::INVAL),
        ("bad", Errno::INVAL),
    ];
    known.into_iter().find(|(words, _)| text.contains(words)).map_or(Errno::IO, |(_, no)| no)
}
