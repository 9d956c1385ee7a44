//! The system calls that rustix does not have: file system identity of a thread, locks that
//! belong to an open file, accounts.
#![allow(unsafe_code)]

use rustix::io::Errno;
use rustix::thread::UnshareFlags;
use std::ffi::{CStr, CString, c_int};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Sets the user that this thread accesses files as. False: the kernel did not allow it.
pub fn set_fs_user(uid: u32) -> bool {
    // SAFETY: setfsuid takes a number and changes this thread's credentials only. It cannot
    // report failure; a second call with an impossible number tells what is set.
    unsafe {
        libc::setfsuid(uid);
        libc::setfsuid(u32::MAX) as u32 == uid
    }
}

/// Sets the group that this thread accesses files as. False: the kernel did not allow it.
pub fn set_fs_group(gid: u32) -> bool {
    // SAFETY: as in `set_fs_user`.
    unsafe {
        libc::setfsgid(gid);
        libc::setfsgid(u32::MAX) as u32 == gid
    }
}

/// Gives this thread a umask (and working directory) of its own.
pub fn unshare_umask() -> Result<(), Errno> {
    // SAFETY: CLONE_FS copies umask, working directory and root for this thread; no memory and
    // no descriptor is affected.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FS) }
}

/// A byte range and what to do with it, in the kernel's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// `F_RDLCK`, `F_WRLCK` or `F_UNLCK`.
    pub kind: i32,
    /// First byte.
    pub start: i64,
    /// Bytes; 0 to the end.
    pub length: i64,
    /// Out of `conflict` only: the process that holds it, where it is one's.
    pub pid: i32,
}

impl Range {
    fn to_kernel(self) -> libc::flock {
        // SAFETY: flock is plain numbers; all zero is a valid value.
        let mut flock: libc::flock = unsafe { MaybeUninit::zeroed().assume_init() };
        flock.l_type = self.kind as i16;
        flock.l_whence = libc::SEEK_SET as i16;
        flock.l_start = self.start;
        flock.l_len = self.length;
        flock
    }
}

fn lock_call(fd: BorrowedFd<'_>, command: c_int, flock: &mut libc::flock) -> Result<(), Errno> {
    // SAFETY: both commands read and write one `struct flock`, which outlives the call.
    let result = unsafe { libc::fcntl(fd.as_raw_fd(), command, std::ptr::from_mut(flock)) };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Locks or unlocks for the open file behind `fd`, without waiting.
pub fn set_lock(fd: BorrowedFd<'_>, range: Range) -> Result<(), Errno> {
    lock_call(fd, libc::F_OFD_SETLK, &mut range.to_kernel())
}

/// The lock that stands in the way of `range`, if any.
pub fn conflict(fd: BorrowedFd<'_>, range: Range) -> Result<Option<Range>, Errno> {
    let mut flock = range.to_kernel();
    lock_call(fd, libc::F_OFD_GETLK, &mut flock)?;
    let kind = i32::from(flock.l_type);
    let found = Range { kind, start: flock.l_start, length: flock.l_len, pid: flock.l_pid };
    Ok((kind != libc::F_UNLCK).then_some(found))
}

/// An entry of the user database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Login name.
    pub name: CString,
    /// Number.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
}

/// Largest entry of the user or group database that is read.
const ENTRY_MAX: usize = 1 << 20;

/// Calls a `get*_r` function with a larger buffer until the entry fits.
fn entry<T, R>(
    mut ask: impl FnMut(*mut T, &mut [u8], *mut *mut T) -> c_int,
    read: impl FnOnce(&T) -> R,
) -> Option<R> {
    let mut buffer = vec![0u8; 4096];
    loop {
        let mut found = MaybeUninit::<T>::uninit();
        let mut result = std::ptr::null_mut();
        match ask(found.as_mut_ptr(), &mut buffer, &raw mut result) {
            libc::ERANGE if buffer.len() < ENTRY_MAX => buffer.resize(buffer.len() * 4, 0),
            // SAFETY: on success a non-null result points to `found`, filled in, whose strings
            // lie in `buffer`; both live until `read` returns.
            0 if !result.is_null() => return Some(read(unsafe { &*result })),
            _ => return None,
        }
    }
}

fn account(found: &libc::passwd) -> Account {
    // SAFETY: an entry's name is a C string (see `entry`).
    let name = unsafe { CStr::from_ptr(found.pw_name) }.to_owned();
    Account { name, uid: found.pw_uid, gid: found.pw_gid }
}

/// The account of this name.
pub fn account_by_name(name: &str) -> Option<Account> {
    let name = CString::new(name).ok()?;
    entry(
        // SAFETY: pointers and length are those of live buffers.
        |to, buffer, result| unsafe {
            let start = buffer.as_mut_ptr().cast();
            libc::getpwnam_r(name.as_ptr(), to, start, buffer.len(), result)
        },
        account,
    )
}

/// The account of this number.
pub fn account_by_number(uid: u32) -> Option<Account> {
    entry(
        // SAFETY: pointers and length are those of live buffers.
        |to, buffer, result| unsafe {
            libc::getpwuid_r(uid, to, buffer.as_mut_ptr().cast(), buffer.len(), result)
        },
        account,
    )
}

/// The name of a group.
pub fn group_name(gid: u32) -> Option<String> {
    entry(
        // SAFETY: pointers and length are those of live buffers.
        |to, buffer, result| unsafe {
            libc::getgrgid_r(gid, to, buffer.as_mut_ptr().cast(), buffer.len(), result)
        },
        |found: &libc::group| {
            // SAFETY: an entry's name is a C string (see `entry`).
            let name = unsafe { CStr::from_ptr(found.gr_name) };
            name.to_string_lossy().into_owned()
        },
    )
}

/// The number of a group.
pub fn group_by_name(name: &str) -> Option<u32> {
    let name = CString::new(name).ok()?;
    entry(
        // SAFETY: pointers and length are those of live buffers.
        |to, buffer, result| unsafe {
            let start = buffer.as_mut_ptr().cast();
            libc::getgrnam_r(name.as_ptr(), to, start, buffer.len(), result)
        },
        |found: &libc::group| found.gr_gid,
    )
}

/// All groups that an account belongs to.
pub fn groups(account: &Account) -> Vec<u32> {
    let mut list = vec![0u32; 64];
    loop {
        let mut count = list.len() as c_int;
        // SAFETY: the list has room for `count` numbers.
        let result = unsafe {
            let to = list.as_mut_ptr();
            libc::getgrouplist(account.name.as_ptr(), account.gid, to, &raw mut count)
        };
        if result >= 0 {
            list.truncate(count as usize);
            return list;
        }
        // NGROUPS_MAX is 65,536; a database that claims more is not believed.
        if list.len() > 1 << 16 {
            return vec![account.gid];
        }
        list.resize(list.len() * 4, 0);
    }
}
