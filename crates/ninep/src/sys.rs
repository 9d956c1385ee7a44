//! Parts of files that are sent without a copy in this process: mapped, and read by the kernel
//! alone.
//!
//! No reference to mapped memory is ever made, since others may change or cut the file at any
//! time. The kernel may read such memory: what it no longer finds is EFAULT to it, not a signal.
#![allow(unsafe_code)]

use muster_base::limits::MSIZE_MAX;
use rustix::io::Errno;
use std::ffi::c_void;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

/// Pages that a mapping has at most: those of the largest message, and one more where it does
/// not begin with a page.
const PAGES_MAX: usize = MSIZE_MAX / 4096 + 2;

/// A part of a file that was in memory when it was mapped.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<c_void>,
    /// Bytes before the part, so that the mapping begins with a page.
    skip: usize,
    count: usize,
    file: Arc<OwnedFd>,
    offset: u64,
}

// SAFETY: the mapping belongs to the process and only this value knows where it is; nothing in it
// is tied to a thread.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives no access but `span`, which only copies the address.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `count` bytes of a file from `offset`, if they exist and are all in memory.
    pub fn of(file: &Arc<OwnedFd>, offset: u64, count: usize) -> Option<Mapping> {
        let page = rustix::param::page_size();
        let skip = (offset % page as u64) as usize;
        let length = skip + count;
        let start = libc::off_t::try_from(offset - skip as u64).ok()?;
        if count == 0 || length.div_ceil(page) > PAGES_MAX {
            return None;
        }
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, protection, flags, file.as_raw_fd(), start)
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let mapping =
            Mapping { base: NonNull::new(base)?, skip, count, file: file.clone(), offset };
        mapping.is_resident(length.div_ceil(page)).then_some(mapping)
    }

    fn is_resident(&self, pages: usize) -> bool {
        let mut resident = [0u8; PAGES_MAX];
        let (base, length) = (self.base.as_ptr(), self.skip + self.count);
        // SAFETY: the range is this mapping's, and there is a byte for each of its pages.
        let result = unsafe { libc::mincore(base, length, resident.as_mut_ptr()) };
        result == 0 && resident[..pages].iter().all(|page| page & 1 == 1)
    }

    /// Bytes in the part, which is never empty.
    #[allow(clippy::len_without_is_empty, reason = "it would always be false")]
    pub fn len(&self) -> usize {
        self.count
    }

    /// The part without its first `sent` bytes.
    pub(crate) fn span(&self, sent: usize) -> Span<'_> {
        assert!(sent <= self.count, "more is sent than there was");
        let start = self.base.as_ptr().cast::<u8>().wrapping_add(self.skip + sent);
        let span = libc::iovec { iov_base: start.cast(), iov_len: self.count - sent };
        Span(span, PhantomData)
    }

    /// The part as bytes, for when the kernel no longer finds it all: those before `sent`, which
    /// nobody will look at, and those behind the file's new end are zero.
    pub(crate) fn copy(&self, sent: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.count];
        let mut at = sent;
        while at < self.count {
            match rustix::io::pread(&self.file, &mut bytes[at..], self.offset + at as u64) {
                Ok(0) => break,
                Ok(more) => at += more,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `of` with this length; spans of it borrow `self`.
        unsafe { libc::munmap(self.base.as_ptr(), self.skip + self.count) };
    }
}

/// Memory from which the kernel sends: bytes, or part of a [`Mapping`].
#[repr(transparent)]
pub(crate) struct Span<'a>(libc::iovec, PhantomData<&'a [u8]>);

impl<'a> From<&'a [u8]> for Span<'a> {
    fn from(bytes: &'a [u8]) -> Span<'a> {
        let base = bytes.as_ptr().cast_mut().cast();
        Span(libc::iovec { iov_base: base, iov_len: bytes.len() }, PhantomData)
    }
}

/// Sends as much as the socket takes.
pub(crate) fn send(socket: &impl AsFd, spans: &[Span<'_>]) -> rustix::io::Result<usize> {
    let socket: BorrowedFd<'_> = socket.as_fd();
    // SAFETY: a msghdr is numbers and pointers; all zero says that there is nothing.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    // A span is an iovec (transparent), which sendmsg only reads.
    message.msg_iov = spans.as_ptr().cast_mut().cast();
    message.msg_iovlen = spans.len() as _;
    // SAFETY: the kernel reads from the spans, whose memory is borrowed for as long, and which
    // are readable or, where a mapped file has become shorter, EFAULT.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    usize::try_from(sent).map_err(|_| {
        let error = io::Error::last_os_error();
        Errno::from_io_error(&error).unwrap_or(Errno::IO)
    })
}
