//! What a socket holds, for which rustix has no call, and copies of many bytes in and out of the
//! segment.
#![allow(unsafe_code)]

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
    unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
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
    #[cfg(target_arch = "x86_64")]
    // SAFETY: it changes nothing, whatever the address is.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(word.as_ptr().cast(), _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = word;
}

/// Copies bytes into words that begin a cache line, as [`copy_in`] does, and leaves them in no
/// cache: the processor puts lines together and sends them to memory.
///
/// # Panics
/// Where there are fewer, or they do not begin a line.
#[cfg(target_arch = "x86_64")]
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
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn stream_in(words: &[AtomicU64], bytes: &[u8]) {
    copy_in(words, bytes);
}
