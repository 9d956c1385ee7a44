//! A peer that says exactly what a test tells it to, and takes apart what comes back.
#![allow(dead_code, reason = "each test uses a part of it")]

use muster_base::limits::MSIZE_MIN;
use muster_ninep::error::Errno;
use muster_ninep::message::{
    Fid, Frame, NOFID, NONUNAME, NOTAG, Rmessage, Tag, Tmessage, UserNumber,
};
use muster_ninep::session::Session;
use muster_ninep::tree::{self, Tree};
use muster_ninep::version::{Dialect, Version};
use muster_ninep::wire::Names;
use std::io::IoSlice;
use std::sync::Arc;

/// The tag of [`Peer::ask`].
pub const TAG: Tag = 7;

/// The message size that peers ask for.
pub const MSIZE: u32 = 64 * 1024;

/// One answer.
#[derive(Clone, PartialEq, Eq)]
pub struct Reply {
    /// Its tag.
    pub tag: Tag,
    number: u8,
    body: Vec<u8>,
    dialect: Dialect,
}

impl Reply {
    /// The message.
    pub fn message(&self) -> Rmessage<'_> {
        let frame = Frame { number: self.number, tag: self.tag, body: &self.body };
        frame.answer(self.dialect).expect("a well-formed answer")
    }

    /// The error number of a refusal.
    pub fn refused(&self) -> Errno {
        let errno = match self.message() {
            Rmessage::Lerror { errno } => errno,
            Rmessage::Error { errno, .. } => errno.0,
            other => panic!("not refused, but {other:?}"),
        };
        Errno::from_raw_os_error(errno as i32)
    }

    /// The text of a refusal.
    pub fn text(&self) -> String {
        match self.message() {
            Rmessage::Error { text, .. } => String::from_utf8(text.to_vec()).expect("UTF-8"),
            other => panic!("no text, but {other:?}"),
        }
    }

    /// The bytes of an answered read.
    pub fn data(&self) -> Vec<u8> {
        match self.message() {
            Rmessage::Read { data } | Rmessage::Readdir { data } => data.0.to_vec(),
            other => panic!("no data, but {other:?}"),
        }
    }

    /// Whether the request was carried out.
    pub fn is_ok(&self) -> bool {
        !matches!(self.message(), Rmessage::Lerror { .. } | Rmessage::Error { .. })
    }

    /// The answer, which must not be a refusal.
    #[track_caller]
    pub fn ok(self) -> Reply {
        assert!(self.is_ok(), "refused: {self:?}");
        self
    }
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?}", self.tag, self.message())
    }
}

/// Cuts a stream of answers into its messages.
pub fn cut(mut bytes: &[u8], dialect: Dialect, msize: u32) -> Vec<Reply> {
    let mut replies = Vec::new();
    while !bytes.is_empty() {
        let whole = Frame::cut(bytes, msize).expect("a message within the message size");
        let (frame, size) = whole.expect("a whole message");
        // Rversion looks the same in all dialects.
        let reply =
            Reply { tag: frame.tag, number: frame.number, body: frame.body.to_vec(), dialect };
        replies.push(reply);
        bytes = &bytes[size..];
    }
    replies
}

/// The peer, and the session at its other end.
pub struct Peer<T: Tree> {
    /// The server's side.
    pub session: Session<T>,
    /// What is spoken.
    pub dialect: Dialect,
}

impl<T: Tree> Peer<T> {
    /// Connected, and no more.
    pub fn silent(tree: &Arc<T>) -> Peer<T> {
        let session = Session::new(tree.clone(), tree::Peer::default(), || {});
        Peer { session, dialect: Dialect::Plan9 }
    }

    /// Connected, and agreed on a version.
    pub fn speaking(tree: &Arc<T>, version: Version) -> Peer<T> {
        let mut peer = Peer::silent(tree);
        peer.agree(version);
        peer
    }

    /// Agreed on a version, with fid 0 at the root.
    pub fn attached(tree: &Arc<T>, version: Version) -> Peer<T> {
        let mut peer = Peer::speaking(tree, version);
        peer.ask(attach(0)).ok();
        peer
    }

    /// Agrees on a version.
    pub fn agree(&mut self, version: Version) {
        let proposed = Tmessage::Version { msize: MSIZE, version: version.name() };
        self.send(NOTAG, &proposed);
        let replies = self.replies();
        let [reply] = &replies[..] else { panic!("not one answer: {replies:?}") };
        let agreed = Rmessage::Version { msize: MSIZE, version: version.name() };
        assert_eq!(reply.message(), agreed);
        self.dialect = version.dialect;
    }

    /// Sends bytes.
    pub fn raw(&mut self, bytes: &[u8]) {
        let done = self.session.receive(bytes).expect("9P");
        assert_eq!(done, bytes.len(), "whole messages, and a server that is not stalled");
    }

    /// Sends a request.
    pub fn send(&mut self, tag: Tag, message: &Tmessage<'_>) {
        let mut bytes = Vec::new();
        message.encode(tag, self.dialect, &mut bytes);
        self.raw(&bytes);
    }

    /// Sends a message of any type and body.
    pub fn send_odd(&mut self, number: u8, tag: Tag, body: &[u8]) {
        self.raw(&odd(number, tag, body));
    }

    /// Takes all bytes that the server has for us.
    pub fn bytes(&mut self) -> Vec<u8> {
        self.session.conclude();
        take(&mut self.session)
    }

    /// Takes all answers.
    pub fn replies(&mut self) -> Vec<Reply> {
        let msize = self.session.msize().max(MSIZE_MIN) as u32;
        cut(&self.bytes(), self.dialect, msize)
    }

    /// Takes all answers, as (tag, kind).
    pub fn order(&mut self) -> Vec<(Tag, &'static str)> {
        self.replies().iter().map(|reply| (reply.tag, reply.message().name())).collect()
    }

    /// Sends a request and takes its answer, the only one.
    #[track_caller]
    pub fn ask(&mut self, message: Tmessage<'_>) -> Reply {
        self.send(TAG, &message);
        self.answer()
    }

    /// Takes the only answer, which has [`TAG`].
    #[track_caller]
    pub fn answer(&mut self) -> Reply {
        let mut replies = self.replies();
        assert_eq!(replies.len(), 1, "not one answer: {replies:?}");
        let reply = replies.remove(0);
        assert_eq!(reply.tag, TAG);
        reply
    }

    /// Walks from fid 0.
    #[track_caller]
    pub fn walk(&mut self, newfid: Fid, names: &[&str]) -> Reply {
        self.ask(walk(0, newfid, names))
    }

    /// The name in a file's stat.
    #[track_caller]
    pub fn name_of(&mut self, fid: Fid) -> String {
        let reply = self.ask(Tmessage::Stat { fid });
        let Rmessage::Stat { stat } = reply.message() else { panic!("{reply:?}") };
        String::from_utf8(stat.0.name.to_vec()).expect("UTF-8")
    }

    /// Opens for reading and writing, in any dialect.
    #[track_caller]
    pub fn open(&mut self, fid: Fid) -> Reply {
        match self.dialect {
            Dialect::Linux => self.ask(Tmessage::Lopen { fid, flags: 2 }),
            _ => self.ask(Tmessage::Open { fid, mode: 2 }),
        }
    }
}

/// All bytes in a session's outbox.
pub fn take<T: Tree>(session: &mut Session<T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !session.outbox().is_empty() {
        let mut pieces: Vec<IoSlice<'_>> = Vec::new();
        session.outbox().pieces(&mut pieces);
        let before = bytes.len();
        pieces.iter().for_each(|piece| bytes.extend_from_slice(piece));
        session.outbox().consume(bytes.len() - before);
    }
    bytes
}

/// A message of any type and body.
pub fn odd(number: u8, tag: Tag, body: &[u8]) -> Vec<u8> {
    let mut bytes = ((body.len() + 7) as u32).to_le_bytes().to_vec();
    bytes.push(number);
    bytes.extend_from_slice(&tag.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// An attach.
pub fn attach(fid: Fid) -> Tmessage<'static> {
    let n_uname = UserNumber(NONUNAME);
    Tmessage::Attach { fid, afid: NOFID, uname: "glenda", aname: "", n_uname }
}

/// A walk.
pub fn walk<'a>(fid: Fid, newfid: Fid, names: &[&'a str]) -> Tmessage<'a> {
    let names: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
    Tmessage::Walk { fid, newfid, names: Names::new(&names).expect("at most 16") }
}

/// A read.
pub fn read(fid: Fid, offset: u64, count: u32) -> Tmessage<'static> {
    Tmessage::Read { fid, offset, count }
}

/// A write.
pub fn write(fid: Fid, offset: u64, data: &[u8]) -> Tmessage<'_> {
    Tmessage::Write { fid, offset, data: muster_ninep::wire::Payload(data) }
}
