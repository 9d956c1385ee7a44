//! All messages of the three dialects. `docs/wire/9p.md` shows each byte by byte, and a test
//! decodes what it shows.
//!
//! `size[4] type[1] tag[2] fields`. Requests have even types, answers the next odd one.

use crate::record::{Attr, Boxed, LockRange, Qid, SetAttr, Statfs};
use crate::version::Dialect;
use crate::wire::{Field, Malformed, Name, Names, Payload, Reader, Writer};
use muster_base::limits::HEADER;

/// Names one request among those that wait for an answer.
pub type Tag = u16;
/// The tag of `Tversion`.
pub const NOTAG: Tag = 0xffff;
/// The client's name for a file it works with.
pub type Fid = u32;
/// No fid: an attach without authentication.
pub const NOFID: Fid = 0xffff_ffff;
/// No number: a user known by name only.
pub const NONUNAME: u32 = 0xffff_ffff;

/// A field that 9P2000 lacks: the user's number in `Tattach` and `Tauth`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserNumber(pub u32);

impl<'a> Field<'a> for UserNumber {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        if from.dialect == Dialect::Plan9 {
            Ok(UserNumber(NONUNAME))
        } else {
            from.get().map(UserNumber)
        }
    }
    fn put(&self, to: &mut Writer<'_>) {
        if to.dialect != Dialect::Plan9 {
            to.put(&self.0);
        }
    }
}

/// A field that only 9P2000.u has: what a special file is, in `Tcreate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extension<'a>(pub Name<'a>);

impl<'a> Field<'a> for Extension<'a> {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        if from.dialect == Dialect::Unix { from.get().map(Extension) } else { Ok(Extension(&[])) }
    }
    fn put(&self, to: &mut Writer<'_>) {
        if to.dialect == Dialect::Unix {
            to.put(&self.0);
        }
    }
}

/// A field that 9P2000 lacks: the error's number in `Rerror`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorNumber(pub u32);

impl<'a> Field<'a> for ErrorNumber {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        if from.dialect == Dialect::Plan9 {
            Ok(ErrorNumber(0))
        } else {
            from.get().map(ErrorNumber)
        }
    }
    fn put(&self, to: &mut Writer<'_>) {
        if to.dialect != Dialect::Plan9 {
            to.put(&self.0);
        }
    }
}

/// A field that older clients leave out: whether `Tfsync` is about data only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSync(pub u32);

impl<'a> Field<'a> for DataSync {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        if from.left() == 0 { Ok(DataSync(0)) } else { from.get().map(DataSync) }
    }
    fn put(&self, to: &mut Writer<'_>) {
        to.put(&self.0);
    }
}

/// Qids of a walk's answer: `nwqid[2] nwqid*(qid[13])`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qids(pub Vec<Qid>);

impl<'a> Field<'a> for Qids {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count: u16 = from.get()?;
        if usize::from(count) > muster_base::limits::WALK_MAX {
            return Err(Malformed::Names);
        }
        (0..count).map(|_| from.get()).collect::<Result<_, _>>().map(Qids)
    }
    fn put(&self, to: &mut Writer<'_>) {
        to.put(&(self.0.len() as u16));
        self.0.iter().for_each(|qid| to.put(qid));
    }
}

/// Which dialects know a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Everywhere,
    /// 9P2000 and 9P2000.u.
    Old,
    /// 9P2000.L.
    Linux,
}

impl Known {
    fn to(self, dialect: Dialect) -> bool {
        match self {
            Known::Everywhere => true,
            Known::Old => dialect != Dialect::Linux,
            Known::Linux => dialect == Dialect::Linux,
        }
    }
}

macro_rules! messages {
    ($(#[$meta:meta])* $enum:ident {$(
        $number:literal $known:ident $variant:ident { $($field:ident: $type:ty),* }
    )*}) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "each message is described in docs/wire/9p.md")]
        pub enum $enum<'a> { $($variant { $($field: $type),* }),* }

        impl<'a> $enum<'a> {
            /// The type number on the wire.
            pub fn number(&self) -> u8 {
                match self { $($enum::$variant { .. } => $number),* }
            }

            /// The name without its letter: `Walk` for `Twalk`.
            pub fn name(&self) -> &'static str {
                match self { $($enum::$variant { .. } => stringify!($variant)),* }
            }

            /// Reads the fields of message type `number`.
            ///
            /// # Errors
            /// [`Malformed`] when the type is unknown in this dialect or the bytes are not its.
            pub fn decode(number: u8, mut from: Reader<'a>) -> Result<$enum<'a>, Malformed> {
                let message = match number {
                    $($number if Known::$known.to(from.dialect) => {
                        $enum::$variant { $($field: from.get()?),* }
                    })*
                    other => return Err(Malformed::Type(other)),
                };
                from.end()?;
                Ok(message)
            }

            /// Appends the whole message, header included.
            pub fn encode(&self, tag: Tag, dialect: Dialect, out: &mut Vec<u8>) {
                let start = out.len();
                out.extend_from_slice(&[0, 0, 0, 0, self.number()]);
                let mut to = Writer { out, dialect };
                to.put(&tag);
                match self {
                    $($enum::$variant { $($field),* } => { $(to.put($field);)* })*
                }
                let size = (out.len() - start) as u32;
                out[start..start + 4].copy_from_slice(&size.to_le_bytes());
            }
        }
    };
}

messages! {
    /// A request.
    Tmessage {
        8 Linux Statfs { fid: Fid }
        12 Linux Lopen { fid: Fid, flags: u32 }
        14 Linux Lcreate { fid: Fid, name: Name<'a>, flags: u32, mode: u32, gid: u32 }
        16 Linux Symlink { dir: Fid, name: Name<'a>, target: Name<'a>, gid: u32 }
        18 Linux Mknod { dir: Fid, name: Name<'a>, mode: u32, major: u32, minor: u32, gid: u32 }
        20 Linux Rename { fid: Fid, dir: Fid, name: Name<'a> }
        22 Linux Readlink { fid: Fid }
        24 Linux Getattr { fid: Fid, mask: u64 }
        26 Linux Setattr { fid: Fid, attr: SetAttr }
        30 Linux Xattrwalk { fid: Fid, newfid: Fid, name: Name<'a> }
        32 Linux Xattrcreate { fid: Fid, name: Name<'a>, size: u64, flags: u32 }
        40 Linux Readdir { fid: Fid, offset: u64, count: u32 }
        50 Linux Fsync { fid: Fid, data: DataSync }
        52 Linux Lock { fid: Fid, kind: u8, flags: u32, start: u64, length: u64, proc_id: u32,
            client_id: &'a str }
        54 Linux Getlock { fid: Fid, range: LockRange<'a> }
        70 Linux Link { dir: Fid, fid: Fid, name: Name<'a> }
        72 Linux Mkdir { dir: Fid, name: Name<'a>, mode: u32, gid: u32 }
        74 Linux Renameat { from: Fid, name: Name<'a>, to: Fid, new_name: Name<'a> }
        76 Linux Unlinkat { dir: Fid, name: Name<'a>, flags: u32 }
        100 Everywhere Version { msize: u32, version: &'a str }
        102 Everywhere Auth { afid: Fid, uname: &'a str, aname: &'a str, n_uname: UserNumber }
        104 Everywhere Attach { fid: Fid, afid: Fid, uname: &'a str, aname: &'a str,
            n_uname: UserNumber }
        108 Everywhere Flush { oldtag: Tag }
        110 Everywhere Walk { fid: Fid, newfid: Fid, names: Names<'a> }
        112 Old Open { fid: Fid, mode: u8 }
        114 Old Create { fid: Fid, name: Name<'a>, perm: u32, mode: u8, extension: Extension<'a> }
        116 Everywhere Read { fid: Fid, offset: u64, count: u32 }
        118 Everywhere Write { fid: Fid, offset: u64, data: Payload<'a> }
        120 Everywhere Clunk { fid: Fid }
        122 Everywhere Remove { fid: Fid }
        124 Old Stat { fid: Fid }
        126 Old Wstat { fid: Fid, stat: Boxed<'a> }
    }
}

messages! {
    /// An answer.
    Rmessage {
        7 Linux Lerror { errno: u32 }
        9 Linux Statfs { statfs: Statfs }
        13 Linux Lopen { qid: Qid, iounit: u32 }
        15 Linux Lcreate { qid: Qid, iounit: u32 }
        17 Linux Symlink { qid: Qid }
        19 Linux Mknod { qid: Qid }
        21 Linux Rename {}
        23 Linux Readlink { target: Name<'a> }
        25 Linux Getattr { attr: Attr }
        27 Linux Setattr {}
        31 Linux Xattrwalk { size: u64 }
        33 Linux Xattrcreate {}
        41 Linux Readdir { data: Payload<'a> }
        51 Linux Fsync {}
        53 Linux Lock { status: u8 }
        55 Linux Getlock { range: LockRange<'a> }
        71 Linux Link {}
        73 Linux Mkdir { qid: Qid }
        75 Linux Renameat {}
        77 Linux Unlinkat {}
        101 Everywhere Version { msize: u32, version: &'a str }
        103 Everywhere Auth { qid: Qid }
        105 Everywhere Attach { qid: Qid }
        107 Everywhere Error { text: Name<'a>, errno: ErrorNumber }
        109 Everywhere Flush {}
        111 Everywhere Walk { qids: Qids }
        113 Old Open { qid: Qid, iounit: u32 }
        115 Old Create { qid: Qid, iounit: u32 }
        117 Everywhere Read { data: Payload<'a> }
        119 Everywhere Write { count: u32 }
        121 Everywhere Clunk {}
        123 Everywhere Remove {}
        125 Old Stat { stat: Boxed<'a> }
        127 Old Wstat {}
    }
}

/// One message, cut out of a stream of bytes but not yet read.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Type number.
    pub number: u8,
    /// Tag.
    pub tag: Tag,
    /// The fields.
    pub body: &'a [u8],
}

/// A stream that is not 9P: nothing more can be read from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadStream {
    /// A size smaller than a header.
    #[error("a message claims {0} bytes, less than a header has")]
    TooSmall(u32),
    /// A size above what was agreed.
    #[error("a message claims {0} bytes, more than the {1} agreed on")]
    TooLarge(u32, u32),
}

impl<'a> Frame<'a> {
    /// Cuts the first message off `bytes`; `None` while it is not whole. Returns it and its size.
    ///
    /// # Errors
    /// [`BadStream`] when the size cannot be right.
    pub fn cut(bytes: &'a [u8], msize: u32) -> Result<Option<(Frame<'a>, usize)>, BadStream> {
        let Some(size) = bytes.first_chunk::<4>() else { return Ok(None) };
        let size = u32::from_le_bytes(*size);
        if (size as usize) < HEADER {
            return Err(BadStream::TooSmall(size));
        }
        if size > msize {
            return Err(BadStream::TooLarge(size, msize));
        }
        let Some(whole) = bytes.get(..size as usize) else { return Ok(None) };
        let tag = u16::from_le_bytes([whole[5], whole[6]]);
        Ok(Some((Frame { number: whole[4], tag, body: &whole[HEADER..] }, whole.len())))
    }

    /// Reads the fields as a request.
    ///
    /// # Errors
    /// [`Malformed`] when they are not one.
    pub fn request(self, dialect: Dialect) -> Result<Tmessage<'a>, Malformed> {
        Tmessage::decode(self.number, Reader::new(self.body, dialect))
    }

    /// Reads the fields as an answer.
    ///
    /// # Errors
    /// [`Malformed`] when they are not one.
    pub fn answer(self, dialect: Dialect) -> Result<Rmessage<'a>, Malformed> {
        Rmessage::decode(self.number, Reader::new(self.body, dialect))
    }
}
