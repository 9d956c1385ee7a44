//! Records inside messages: qid, attributes, stat, directory entries, locks.

use crate::version::Dialect;
use crate::wire::{Field, Malformed, Name, Reader, Writer};

/// Declares a record whose fields follow one another on the wire.
macro_rules! record {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$doc])* pub $field: $type),* }

        impl<'a> Field<'a> for $name {
            fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
                Ok($name { $($field: from.get()?),* })
            }
            fn put(&self, to: &mut Writer<'_>) {
                $(to.put(&self.$field);)*
            }
        }
    };
}

record! {
    /// The server's name for a file (intro(5)): `type[1] version[4] path[8]`.
    Qid {
        /// Kind bits, see [`Qid::DIR`].
        kind: u8,
        /// Changes whenever the file's content does.
        version: u32,
        /// Unique among all files of the server, for as long as the file exists.
        path: u64,
    }
}

impl Qid {
    /// A directory.
    pub const DIR: u8 = 0x80;
    /// Append only.
    pub const APPEND: u8 = 0x40;
    /// Exclusive use.
    pub const EXCL: u8 = 0x20;
    /// Symbolic link.
    pub const SYMLINK: u8 = 0x02;

    /// Whether this is a directory.
    pub fn is_dir(&self) -> bool {
        self.kind & Qid::DIR != 0
    }

    /// The kind bits of a file with this `st_mode`.
    pub fn kind_of_mode(mode: u32) -> u8 {
        match mode & mode::KIND {
            mode::DIR => Qid::DIR,
            mode::LINK => Qid::SYMLINK,
            _ => 0,
        }
    }
}

/// Kinds of files in `st_mode` (inode(7)).
pub mod mode {
    /// Mask of the kind.
    pub const KIND: u32 = 0o170_000;
    /// Directory.
    pub const DIR: u32 = 0o040_000;
    /// Regular file.
    pub const FILE: u32 = 0o100_000;
    /// Symbolic link.
    pub const LINK: u32 = 0o120_000;
    /// Character device.
    pub const CHAR: u32 = 0o020_000;
    /// Block device.
    pub const BLOCK: u32 = 0o060_000;
    /// Named pipe.
    pub const PIPE: u32 = 0o010_000;
    /// Socket.
    pub const SOCKET: u32 = 0o140_000;
}

record! {
    /// A moment: seconds and nanoseconds since 1970.
    Time {
        /// Seconds.
        sec: u64,
        /// Nanoseconds.
        nsec: u64,
    }
}

record! {
    /// Attributes of a file, as `Rgetattr` carries them.
    Attr {
        /// Which fields hold something, see [`Attr::BASIC`].
        valid: u64,
        /// The server's name for the file.
        qid: Qid,
        /// Kind and permissions, as `st_mode`.
        mode: u32,
        /// Owner.
        uid: u32,
        /// Group.
        gid: u32,
        /// Hard links.
        nlink: u64,
        /// Device, for device files.
        rdev: u64,
        /// Bytes.
        size: u64,
        /// Preferred size of a transfer.
        blksize: u64,
        /// Blocks of 512 bytes.
        blocks: u64,
        /// Last read.
        atime: Time,
        /// Last change of content.
        mtime: Time,
        /// Last change of attributes.
        ctime: Time,
        /// Creation; reserved by the protocol.
        btime: Time,
        /// Reserved by the protocol.
        gen_number: u64,
        /// Reserved by the protocol.
        data_version: u64,
    }
}

impl Attr {
    /// All fields that `stat(2)` has (P9_STATS_BASIC).
    pub const BASIC: u64 = 0x7ff;
}

record! {
    /// Attributes to change, as `Tsetattr` carries them.
    SetAttr {
        /// Which of the fields to set: the constants of this type.
        valid: u32,
        /// Permissions.
        mode: u32,
        /// Owner.
        uid: u32,
        /// Group.
        gid: u32,
        /// Bytes.
        size: u64,
        /// Last read.
        atime: Time,
        /// Last change of content.
        mtime: Time,
    }
}

impl SetAttr {
    /// Set the permissions.
    pub const MODE: u32 = 0x1;
    /// Set the owner.
    pub const UID: u32 = 0x2;
    /// Set the group.
    pub const GID: u32 = 0x4;
    /// Set the size.
    pub const SIZE: u32 = 0x8;
    /// Set the time of the last read to now.
    pub const ATIME: u32 = 0x10;
    /// Set the time of the last change to now.
    pub const MTIME: u32 = 0x20;
    /// Set the time of the last attribute change to now.
    pub const CTIME: u32 = 0x40;
    /// With [`SetAttr::ATIME`]: set it to the time given.
    pub const ATIME_SET: u32 = 0x80;
    /// With [`SetAttr::MTIME`]: set it to the time given.
    pub const MTIME_SET: u32 = 0x100;

    /// Whether any of these bits is set.
    pub fn has(&self, bits: u32) -> bool {
        self.valid & bits != 0
    }
}

record! {
    /// A file system's totals, as `Rstatfs` carries them (statfs(2)).
    Statfs {
        /// Kind of file system.
        kind: u32,
        /// Bytes of a block.
        bsize: u32,
        /// Blocks in all.
        blocks: u64,
        /// Blocks free.
        bfree: u64,
        /// Blocks free for users.
        bavail: u64,
        /// Files in all.
        files: u64,
        /// Files free.
        ffree: u64,
        /// Identity.
        fsid: u64,
        /// Longest name.
        namelen: u32,
    }
}

/// A byte-range lock, as `Tlock`, `Tgetlock` and `Rgetlock` carry it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LockRange<'a> {
    /// [`LockRange::READ`], [`LockRange::WRITE`] or [`LockRange::UNLOCK`].
    pub kind: u8,
    /// First byte.
    pub start: u64,
    /// Bytes; 0 to the end of the file.
    pub length: u64,
    /// Process at the client.
    pub proc_id: u32,
    /// The client's name for itself.
    pub client_id: &'a str,
}

impl LockRange<'_> {
    /// Shared lock.
    pub const READ: u8 = 0;
    /// Exclusive lock.
    pub const WRITE: u8 = 1;
    /// No lock.
    pub const UNLOCK: u8 = 2;
}

impl<'a> Field<'a> for LockRange<'a> {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let (kind, start, length) = (from.get()?, from.get()?, from.get()?);
        Ok(LockRange { kind, start, length, proc_id: from.get()?, client_id: from.get()? })
    }
    fn put(&self, to: &mut Writer<'_>) {
        to.put(&self.kind);
        to.put(&self.start);
        to.put(&self.length);
        to.put(&self.proc_id);
        to.put(&self.client_id);
    }
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The file's qid.
    pub qid: Qid,
    /// Give this to continue behind the entry.
    pub next: u64,
    /// `d_type` of readdir(3): the kind bits of `st_mode`, shifted right by 12.
    pub kind: u8,
    /// The name.
    pub name: Vec<u8>,
    /// Attributes, where the reader asked for them.
    pub attr: Option<Attr>,
}

impl DirEntry {
    /// Bytes it takes in an `Rreaddir`.
    pub fn size(&self) -> usize {
        13 + 8 + 1 + 2 + self.name.len()
    }

    /// Appends it to the payload of an `Rreaddir`.
    pub fn put(&self, to: &mut Writer<'_>) {
        to.put(&self.qid);
        to.put(&self.next);
        to.put(&self.kind);
        to.put(&self.name.as_slice());
    }

    /// Reads one from the payload of an `Rreaddir`.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes are not one.
    pub fn get(from: &mut Reader<'_>) -> Result<DirEntry, Malformed> {
        let (qid, next, kind) = (from.get()?, from.get()?, from.get()?);
        let name: Name<'_> = from.get()?;
        Ok(DirEntry { qid, next, kind, name: name.to_vec(), attr: None })
    }
}

/// A file's entry in 9P2000 and 9P2000.u (stat(5)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat<'a> {
    /// Server type, for kernel use.
    pub kind: u16,
    /// Server subtype, for kernel use.
    pub dev: u32,
    /// The server's name for the file.
    pub qid: Qid,
    /// Permissions and the flags of module [`dm`].
    pub mode: u32,
    /// Last read, seconds.
    pub atime: u32,
    /// Last change, seconds.
    pub mtime: u32,
    /// Bytes; 0 for directories.
    pub length: u64,
    /// Last element of the path.
    pub name: Name<'a>,
    /// Owner's name.
    pub uid: &'a str,
    /// Group's name.
    pub gid: &'a str,
    /// Name of who changed it last.
    pub muid: &'a str,
    /// 9P2000.u: what a special file is or a symbolic link says.
    pub extension: Name<'a>,
    /// 9P2000.u: owner's number.
    pub n_uid: u32,
    /// 9P2000.u: group's number.
    pub n_gid: u32,
    /// 9P2000.u: number of who changed it last.
    pub n_muid: u32,
}

/// Flags of a mode in 9P2000 and 9P2000.u (stat(5), and the extension's text).
pub mod dm {
    /// Directory.
    pub const DIR: u32 = 0x8000_0000;
    /// Writes go to the end only.
    pub const APPEND: u32 = 0x4000_0000;
    /// Open once at a time.
    pub const EXCL: u32 = 0x2000_0000;
    /// 9P2000.u: symbolic link.
    pub const SYMLINK: u32 = 0x0200_0000;
    /// 9P2000.u: hard link, in a create.
    pub const LINK: u32 = 0x0100_0000;
    /// 9P2000.u: device.
    pub const DEVICE: u32 = 0x0080_0000;
    /// 9P2000.u: named pipe.
    pub const NAMED_PIPE: u32 = 0x0020_0000;
    /// 9P2000.u: socket.
    pub const SOCKET: u32 = 0x0010_0000;
    /// 9P2000.u: set user id.
    pub const SETUID: u32 = 0x0008_0000;
    /// 9P2000.u: set group id.
    pub const SETGID: u32 = 0x0004_0000;
    /// 9P2000.u: sticky (Linux `P9_DMSETVTX`).
    pub const STICKY: u32 = 0x0001_0000;
}

impl<'a> Field<'a> for Stat<'a> {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let size: u16 = from.get()?;
        let mut body = Reader::new(from.bytes(size.into())?, from.dialect);
        let mut stat = Stat {
            kind: body.get()?,
            dev: body.get()?,
            qid: body.get()?,
            mode: body.get()?,
            atime: body.get()?,
            mtime: body.get()?,
            length: body.get()?,
            name: body.get()?,
            uid: body.get()?,
            gid: body.get()?,
            muid: body.get()?,
            ..Stat::default()
        };
        if body.dialect == Dialect::Unix {
            stat.extension = body.get()?;
            stat.n_uid = body.get()?;
            stat.n_gid = body.get()?;
            stat.n_muid = body.get()?;
        }
        body.end()?;
        Ok(stat)
    }

    fn put(&self, to: &mut Writer<'_>) {
        let start = to.out.len();
        to.put(&0u16);
        to.put(&self.kind);
        to.put(&self.dev);
        to.put(&self.qid);
        to.put(&self.mode);
        to.put(&self.atime);
        to.put(&self.mtime);
        to.put(&self.length);
        to.put(&self.name);
        to.put(&self.uid);
        to.put(&self.gid);
        to.put(&self.muid);
        if to.dialect == Dialect::Unix {
            to.put(&self.extension);
            to.put(&self.n_uid);
            to.put(&self.n_gid);
            to.put(&self.n_muid);
        }
        let size = (to.out.len() - start - 2) as u16;
        to.out[start..start + 2].copy_from_slice(&size.to_le_bytes());
    }
}

/// A stat inside `Rstat` and `Twstat`, which count its bytes once more: `n[2] stat[n]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Boxed<'a>(pub Stat<'a>);

impl<'a> Field<'a> for Boxed<'a> {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let size: u16 = from.get()?;
        let mut body = Reader::new(from.bytes(size.into())?, from.dialect);
        let stat = body.get()?;
        body.end()?;
        Ok(Boxed(stat))
    }
    fn put(&self, to: &mut Writer<'_>) {
        let start = to.out.len();
        to.put(&0u16);
        to.put(&self.0);
        let size = (to.out.len() - start - 2) as u16;
        to.out[start..start + 2].copy_from_slice(&size.to_le_bytes());
    }
}
