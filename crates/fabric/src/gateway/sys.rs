//! What a socket holds, for which rustix has no call, and copies of many bytes in and out of the
//! segment. Miri knows none of the instructions by which processors are told what to fetch.
#![allow(unsafe_code)]

use super::batch::Part;
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::AtomicU64;

/// `SO_MEMINFO` of asm-generic/socket.h, the same on all machines that this is built for.
const MEMORY: libc::c_int = 55;

/// Which of the numbers of `SO_MEMINFO` (linux/sock_diag.h) are what.
const ALLOCATED: usize = 2;
const LIMIT: usize = 3;
const QUEUED: usize = 5;
const NUMBERS: usize = 9;

/// Bytes that wait in a socket to be sent, with what the kernel needs for them, and its limit.
pub(super) fn queue(socket: BorrowedFd<'_>) -> io::Result<(usize, usize)> {
    let mut numbers = [0_u32; NUMBERS];
    let mut size = size_of_val(&numbers) as libc::socklen_t;
    let to = numbers.as_mut_ptr().cast();
    // SAFETY: the kernel writes at most `size` bytes into `numbers`.
    let result = unsafe {
        let (level, option) = (libc::SOL_SOCKET, MEMORY);
        libc::getsockopt(socket.as_raw_fd(), level, option, to, &raw mut size)
    };
    match result {
        // TCP counts what is queued, a Unix socket what is allocated.
        0 => Ok((numbers[ALLOCATED].max(numbers[QUEUED]) as usize, numbers[LIMIT] as usize)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Parts that one call sends or receives.
const PARTS: usize = 72;

/// What one call sends or receives, without what earlier ones have.
struct Parts {
    list: [libc::iovec; PARTS],
    count: usize,
    done: usize,
}

impl Parts {
    fn new(done: usize) -> Parts {
        let list = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; PARTS];
        Parts { list, count: 0, done }
    }

    fn add(&mut self, start: *const u8, size: usize) {
        let skipped = self.done.min(size);
        self.done -= skipped;
        if skipped < size && self.count < PARTS {
            let iov_base = start.wrapping_add(skipped).cast_mut().cast();
            self.list[self.count] = libc::iovec { iov_base, iov_len: size - skipped };
            self.count += 1;
        }
    }

    /// Adds bytes from a word on.
    ///
    /// # Panics
    /// Where there are fewer.
    fn add_words(&mut self, words: &[AtomicU64], (at, size): (usize, usize)) {
        let words = &words[at..];
        assert!(size <= size_of_val(words), "{size} bytes");
        self.add(words.as_ptr().cast(), size);
    }

    fn add_all<'a>(&mut self, words: &[AtomicU64], parts: impl Iterator<Item = Part<'a>>) {
        parts.for_each(|part| match part {
            Part::Bytes(bytes) => self.add(bytes.as_ptr(), bytes.len()),
            Part::Words(at, size) => self.add_words(words, (at, size)),
        });
    }

    fn message(&mut self) -> libc::msghdr {
        // SAFETY: zeros are a message without anything.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        (message.msg_iov, message.msg_iovlen) = (self.list.as_mut_ptr(), self.count as _);
        message
    }
}

fn moved(size: libc::ssize_t) -> Result<usize, Errno> {
    let failed = || Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO);
    usize::try_from(size).map_err(|_| failed())
}

/// Sends what there is room for of some parts of which so much was sent: how much that was.
pub(super) fn send<'a>(
    socket: BorrowedFd<'_>,
    words: &[AtomicU64],
    parts: impl Iterator<Item = Part<'a>>,
    sent: usize,
) -> Result<usize, Errno> {
    let mut list = Parts::new(sent);
    list.add_all(words, parts);
    let message = list.message();
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the kernel reads what the list names: bytes that are borrowed, and words within the
    // segment, to which there is no reference but as atomics.
    moved(unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) })
}

/// Receives what is there of some bytes and of bodies in the segment, of which so much was
/// received: how much that was.
pub(super) fn receive(
    socket: BorrowedFd<'_>,
    words: &[AtomicU64],
    (bytes, bodies): (&mut [u8], &[(usize, usize)]),
    received: usize,
) -> Result<usize, Errno> {
    let mut list = Parts::new(received);
    list.add(bytes.as_mut_ptr(), bytes.len());
    bodies.iter().for_each(|body| list.add_words(words, *body));
    let mut message = list.message();
    // SAFETY: the kernel writes what the list names: bytes that are exclusively borrowed, and words
    // within the segment, to which there is no reference but as atomics.
    moved(unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) })
}

/// Puts parts into a pipe by reference: how many bytes there was room for.
pub(super) fn lend<'a>(
    pipe: BorrowedFd<'_>,
    words: &[AtomicU64],
    parts: impl Iterator<Item = Part<'a>>,
) -> Result<usize, Errno> {
    let mut list = Parts::new(0);
    list.add_all(words, parts);
    // SAFETY: as of `send`. The pages stay the segment's, and live as long as anybody has them.
    moved(unsafe {
        let (list, count) = (list.list.as_ptr(), list.count);
        libc::vmsplice(pipe.as_raw_fd(), list, count, libc::SPLICE_F_NONBLOCK)
    })
}

/// Does what may write to a connection that has ended, and cannot say that it wants no signal then.
pub(super) fn without_signal<T>(write: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    // SAFETY: the sets are ours, and this thread's mask is what it was before in the end.
    unsafe {
        let mut signal: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        let mut pending: libc::sigset_t = std::mem::zeroed();
        libc::sigpending(&raw mut pending);
        let was_pending = libc::sigismember(&raw const pending, libc::SIGPIPE) == 1;
        libc::sigemptyset(&raw mut signal);
        libc::sigaddset(&raw mut signal, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signal, &raw mut before);
        let written = write();
        // One that the program has blocked and that came before is the program's.
        if written.is_err() && !was_pending {
            let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            libc::sigtimedwait(&raw const signal, std::ptr::null_mut(), &raw const now);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        written
    }
}

/// From how many bytes on a message is copied in two lanes: a lane is to be a page.
const LANED: usize = 8192;

/// Copies bytes out of words. By the protocol nobody writes them meanwhile; of one who breaks it
/// the bytes are whatever they are.
///
/// # Panics
/// Where there are fewer.
pub(super) fn copy_out(words: &[AtomicU64], bytes: &mut [u8]) {
    assert!(bytes.len() <= size_of_val(words), "{} bytes", bytes.len());
    let from = words.as_ptr().cast();
    // SAFETY: the length was checked, and what is exclusively borrowed is elsewhere. There is no
    // reference to the bytes in the segment, so they may change at any time.
    unsafe { crate::sys::copy(from, bytes.as_mut_ptr(), bytes.len(), LANED) };
}

/// Copies bytes into words. By the protocol nobody accesses them meanwhile.
///
/// # Panics
/// Where there are fewer.
pub(super) fn copy_in(words: &[AtomicU64], bytes: &[u8]) {
    assert!(bytes.len() <= size_of_val(words), "{} bytes", bytes.len());
    let to = words.as_ptr().cast::<u8>().cast_mut();
    // SAFETY: as above; an atomic may be written through a shared reference.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

/// Has the processor fetch a word's cache line, while it does other things.
#[inline]
pub(super) fn prefetch(word: &AtomicU64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: it changes nothing, whatever the address is.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(word.as_ptr().cast(), _MM_HINT_T0);
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = word;
}

/// Has the processor fetch a word's cache line to be written, while it does other things.
/// Processors that do not know the instruction take it for none.
#[inline]
pub(super) fn prefetch_to_write(word: &AtomicU64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: it changes nothing, whatever the address is.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) word.as_ptr(), options(nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = word;
}

/// Words of a line.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LINE: usize = 8;

/// Up to how many bytes all lines are moved on, and of more one of how many.
const ALL: usize = 2048;
const ONE_OF: usize = 3;

/// Has the processor move lines that were just written to the cache that all share: from there they
/// come three times as fast as from the writer's own. To move one takes as long as another
/// processor takes to fetch it, so of many it is done for some, while the others are fetched.
/// Processors that do not know the instruction take it for none.
#[inline]
pub(super) fn demote(words: &[AtomicU64], bytes: usize) {
    let every = if bytes <= ALL { 1 } else { ONE_OF };
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in words[..bytes.div_ceil(8)].chunks(LINE).skip(every - 1).step_by(every) {
        // SAFETY: it changes nothing, whatever the address is.
        unsafe {
            let line = line.as_ptr();
            std::arch::asm!("cldemote [{}]", in(reg) line, options(nostack, preserves_flags));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (words, every);
}

/// Copies bytes into words that begin a cache line, as [`copy_in`] does, and leaves them in no
/// cache: the processor puts lines together and sends them to memory.
///
/// # Panics
/// Where there are fewer, or they do not begin a line.
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) fn stream_in(words: &[AtomicU64], bytes: &[u8]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    assert!(bytes.len() <= size_of_val(words), "{} bytes", bytes.len());
    assert!(words.as_ptr().addr().is_multiple_of(64), "a line begins elsewhere");
    let (whole, rest) = bytes.as_chunks::<16>();
    let to = words.as_ptr().cast::<__m128i>().cast_mut();
    for (at, chunk) in whole.iter().enumerate() {
        // SAFETY: the length and the alignment were checked; see `copy_in`. All processors of this
        // kind have these instructions.
        unsafe { _mm_stream_si128(to.add(at), _mm_loadu_si128(chunk.as_ptr().cast())) };
    }
    // SAFETY: as above. Such stores keep no order by themselves: what is published next must not
    // be seen before them.
    unsafe { _mm_sfence() };
    if !rest.is_empty() {
        copy_in(&words[whole.len() * 2..], rest);
    }
}

/// The same, where nothing of the kind is known: a copy.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(super) fn stream_in(words: &[AtomicU64], bytes: &[u8]) {
    copy_in(words, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether this thread has the signal to come.
    fn is_pending() -> bool {
        // SAFETY: the set is ours.
        unsafe {
            let mut pending: libc::sigset_t = std::mem::zeroed();
            libc::sigpending(&raw mut pending);
            libc::sigismember(&raw const pending, libc::SIGPIPE) == 1
        }
    }

    #[test]
    fn what_is_written_to_nobody_raises_no_signal() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        drop(read);
        // SAFETY: this thread's mask is its own, and it ends with this test.
        unsafe {
            let mut signal: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut signal);
            libc::sigaddset(&raw mut signal, libc::SIGPIPE);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signal, std::ptr::null_mut());
        }
        // The first may be the rest of a call that has sent a part, and says only that.
        let written = without_signal(|| {
            let _ = rustix::io::write(&write, b"x");
            rustix::io::write(&write, b"x")
        });
        assert_eq!(written, Err(Errno::PIPE));
        assert!(!is_pending(), "it was taken away");
        let written = rustix::io::write(&write, b"x");
        assert_eq!(written, Err(Errno::PIPE));
        assert!(is_pending(), "without that it comes");
        assert!(without_signal(|| rustix::io::write(&write, b"x")).is_err());
        assert!(is_pending(), "one that was there before stays");
    }
}
