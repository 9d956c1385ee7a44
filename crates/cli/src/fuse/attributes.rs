//! What FUSE and 9P call the same things.

use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};
use muster_ninep::error::Error;
use muster_ninep::record::{Attr, LockRange, SetAttr, Time, mode};
use muster_ninep::synthetic::MADE;
use muster_ninep::tree::OpenFlags;
use std::time::{Duration, SystemTime};

/// Those of a second.
const NANOS: u64 = 1_000_000_000;

/// The error as the kernel takes it.
pub(super) fn errno(error: &Error) -> fuser::Errno {
    use muster_ninep::error::Errno;
    match error.errno {
        // What every user of a lost FUSE server sees: the transport endpoint is not connected.
        Errno::CONNRESET => fuser::Errno::ENOTCONN,
        // The kernel takes no others, and whoever waits would wait for ever. A driver's or a file
        // system's own come all the same, as 524 of NFS.
        errno => match errno.raw_os_error() {
            number @ 1..=511 => fuser::Errno::from_i32(number),
            _ => fuser::Errno::EIO,
        },
    }
}

/// The kind of a file with this `st_mode`.
pub(super) fn kind(st_mode: u32) -> FileType {
    match st_mode & mode::KIND {
        mode::DIR => FileType::Directory,
        mode::LINK => FileType::Symlink,
        mode::CHAR => FileType::CharDevice,
        mode::BLOCK => FileType::BlockDevice,
        mode::PIPE => FileType::NamedPipe,
        mode::SOCKET => FileType::Socket,
        _ => FileType::RegularFile,
    }
}

/// Whether a file's bits let the user `uid` do what access(2) asks for by `mask`. An open asks the
/// server, whose user may have another number there than here: where the owner is somebody else,
/// only what the bits let nobody do is refused.
pub(super) fn may(attr: &Attr, uid: u32, mask: u32) -> bool {
    let bits = attr.mode & 0o777;
    let anybody = bits >> 6 | bits >> 3 | bits;
    let is_directory = attr.mode & mode::KIND == mode::DIR;
    let granted = match uid {
        // What is made up does nothing else for root either.
        _ if attr.qid.path & MADE != 0 => anybody,
        0 if is_directory => 0o7,
        0 => anybody & 0o1 | 0o6,
        uid if uid == attr.uid => bits >> 6,
        _ => anybody,
    };
    mask & 0o7 & !granted == 0
}

/// Attributes of the inode `ino`.
pub(super) fn attributes(ino: u64, attr: &Attr) -> FileAttr {
    FileAttr {
        ino: INodeNo(ino),
        size: attr.size,
        blocks: attr.blocks,
        atime: moment(attr.atime),
        mtime: moment(attr.mtime),
        ctime: moment(attr.ctime),
        crtime: SystemTime::UNIX_EPOCH,
        kind: kind(attr.mode),
        perm: (attr.mode & 0o7777) as u16,
        nlink: u32::try_from(attr.nlink).unwrap_or(u32::MAX),
        uid: attr.uid,
        gid: attr.gid,
        rdev: device_to_kernel(attr.rdev),
        blksize: u32::try_from(attr.blksize).unwrap_or(4096),
        flags: 0,
    }
}

/// `makedev` of the C library, which 9P carries, as the kernel packs it (`new_encode_dev`).
fn device_to_kernel(rdev: u64) -> u32 {
    let (major, minor) = (libc::major(rdev), libc::minor(rdev));
    (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12)
}

/// Major and minor number of a device as the kernel packs it.
pub(super) fn device_from_kernel(rdev: u32) -> (u32, u32) {
    ((rdev & 0xf_ff00) >> 8, (rdev & 0xff) | ((rdev >> 12) & 0xf_ff00))
}

/// Seconds before 1970 are negative, as in `struct timespec`; nanoseconds go forward.
fn moment(time: Time) -> SystemTime {
    let (epoch, seconds) = (SystemTime::UNIX_EPOCH, time.sec as i64);
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = if seconds < 0 { epoch.checked_sub(whole) } else { epoch.checked_add(whole) };
    let rest = Duration::from_nanos(time.nsec % NANOS);
    // A time beyond what this machine can say is as good as none.
    whole.and_then(|whole| whole.checked_add(rest)).unwrap_or(epoch)
}

fn time(moment: SystemTime) -> Time {
    match moment.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => Time { sec: since.as_secs(), nsec: since.subsec_nanos().into() },
        Err(before) => {
            let (before, up) = (before.duration(), u64::from(before.duration().subsec_nanos()));
            let sec = before.as_secs() + u64::from(up > 0);
            Time { sec: sec.wrapping_neg(), nsec: (NANOS - up) % NANOS }
        }
    }
}

/// What chmod(2) and its like ask for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changes {
    pub(super) mode: Option<u32>,
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    pub(super) size: Option<u64>,
    pub(super) atime: Option<TimeOrNow>,
    pub(super) mtime: Option<TimeOrNow>,
}

impl Changes {
    /// The same in 9P.
    pub(super) fn set(&self) -> SetAttr {
        let mut set = SetAttr::default();
        let mut put = |bit, present: bool| set.valid |= if present { bit } else { 0 };
        put(SetAttr::MODE, self.mode.is_some());
        put(SetAttr::UID, self.uid.is_some());
        put(SetAttr::GID, self.gid.is_some());
        put(SetAttr::SIZE, self.size.is_some());
        put(SetAttr::ATIME, self.atime.is_some());
        put(SetAttr::MTIME, self.mtime.is_some());
        put(SetAttr::ATIME_SET, matches!(self.atime, Some(TimeOrNow::SpecificTime(_))));
        put(SetAttr::MTIME_SET, matches!(self.mtime, Some(TimeOrNow::SpecificTime(_))));
        set.mode = self.mode.unwrap_or(0) & 0o7777;
        set.uid = self.uid.unwrap_or(0);
        set.gid = self.gid.unwrap_or(0);
        set.size = self.size.unwrap_or(0);
        if let Some(TimeOrNow::SpecificTime(moment)) = self.atime {
            set.atime = time(moment);
        }
        if let Some(TimeOrNow::SpecificTime(moment)) = self.mtime {
            set.mtime = time(moment);
        }
        set
    }
}

/// The flags of open(2) that a server can do something with, in 9P's numbers.
pub(super) fn open_flags(flags: i32) -> OpenFlags {
    const NONBLOCK: u32 = 0o4000;
    const DSYNC: u32 = 0o10_000;
    const SYNC: u32 = 0o4_010_000;
    let mut out = (flags & libc::O_ACCMODE) as u32;
    for (theirs, ours) in [
        (libc::O_TRUNC, OpenFlags::TRUNC),
        (libc::O_APPEND, OpenFlags::APPEND),
        (libc::O_EXCL, OpenFlags::EXCL),
        (libc::O_CREAT, OpenFlags::CREATE),
        (libc::O_DIRECTORY, OpenFlags::DIRECTORY),
        (libc::O_NONBLOCK, NONBLOCK),
        (libc::O_DSYNC, DSYNC),
        (libc::O_SYNC, SYNC),
    ] {
        out |= if flags & theirs == theirs { ours } else { 0 };
    }
    OpenFlags(out)
}

/// A lock as fcntl(2) asks for it: `end` is its last byte.
pub(super) fn lock_range(
    kind: i32,
    start: u64,
    end: u64,
    proc_id: u32,
    client_id: &str,
) -> LockRange<'_> {
    let kind = match kind {
        libc::F_RDLCK => LockRange::READ,
        libc::F_WRLCK => LockRange::WRITE,
        _ => LockRange::UNLOCK,
    };
    // The kernel says "to the end" as the largest offset there is; 9P says 0.
    let length = if end >= i64::MAX as u64 { 0 } else { end - start.min(end) + 1 };
    LockRange { kind, start, length, proc_id, client_id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_survive_both_packings() {
        for (major, minor) in [(1, 3), (259, 0x12_345), (0xfff, 0xf_ffff)] {
            let packed = device_to_kernel(libc::makedev(major, minor));
            assert_eq!(device_from_kernel(packed), (major, minor));
        }
    }

    #[test]
    fn an_error_that_the_kernel_does_not_take_is_another() {
        use muster_ninep::error::Errno;
        let told = |number| errno(&Error::from(Errno::from_raw_os_error(number))).code();
        assert_eq!(told(libc::ENOSPC), libc::ENOSPC);
        assert_eq!(told(511), 511);
        for number in [512, 524, 4095] {
            assert_eq!(told(number), libc::EIO, "{number}");
        }
    }

    #[test]
    fn access_is_refused_where_the_bits_let_nobody_or_not_their_owner() {
        const READ: u32 = 4;
        const WRITE: u32 = 2;
        const RUN: u32 = 1;
        let granted = |mode: u32, path: u64, uid: u32| {
            let qid = muster_ninep::record::Qid { path, ..Default::default() };
            let attr = Attr { mode, uid: 7, qid, ..Attr::default() };
            [READ, WRITE, RUN].into_iter().filter(|&what| may(&attr, uid, what)).sum::<u32>()
        };
        let (file, made) = (|mode, uid| granted(mode::FILE | mode, 1, uid), MADE | 1);
        assert_eq!(file(0o644, 7), READ | WRITE);
        assert_eq!(file(0o477, 7), READ);
        // It may be his all the same, by another number there.
        assert_eq!(file(0o600, 8), READ | WRITE);
        assert_eq!(file(0o444, 8), READ);
        assert_eq!(file(0o000, 0), READ | WRITE);
        assert_eq!(file(0o010, 0), READ | WRITE | RUN);
        assert_eq!(granted(mode::DIR, 1, 0), READ | WRITE | RUN);
        for uid in [0, 7, 8] {
            assert_eq!(granted(mode::FILE | 0o222, made, uid), WRITE);
            assert_eq!(granted(mode::DIR | 0o555, made, uid), READ | RUN);
        }
        assert!(may(&Attr::default(), 8, 0), "it is there");
    }

    /// `touch -d 1960-01-01` set 1970, and said nothing.
    #[test]
    fn times_before_1970_are_what_they_are() {
        for (seconds, nsec) in [(0, 0), (7, 5), (-1, 0), (-1, 999_999_999), (-315_619_200, 1)] {
            let told = Time { sec: i64::cast_unsigned(seconds), nsec };
            let there = time(moment(told));
            assert_eq!((there.sec, there.nsec), (told.sec, nsec), "{seconds}");
        }
        let minute = SystemTime::UNIX_EPOCH - Duration::from_millis(59_500);
        assert_eq!((time(minute).sec.cast_signed(), time(minute).nsec), (-60, 500_000_000));
    }

    #[test]
    fn locks_end_where_the_kernel_says() {
        let length = |start, end| lock_range(libc::F_RDLCK, start, end, 1, "").length;
        assert_eq!(length(0, 0), 1);
        assert_eq!(length(5, 9), 5);
        assert_eq!(length(5, i64::MAX as u64), 0);
    }

    #[test]
    fn only_flags_that_mean_something_to_a_server_are_sent() {
        let flags = libc::O_RDWR | libc::O_TRUNC | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        assert_eq!(open_flags(flags), OpenFlags(OpenFlags::RDWR | OpenFlags::TRUNC));
    }
}
