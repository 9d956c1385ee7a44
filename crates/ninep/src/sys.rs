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
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Pages that a part has at most: those of the largest message, and one more where it does not
/// begin with a page.
const PAGES_MAX: usize = MSIZE_MAX / 4096 + 2;

/// What is mapped of an open file, so that what is read again is not mapped again. A window
/// begins with a multiple of its half, so every part lies in one.
const WINDOW: usize = 64 << 20;
const _: () = assert!(WINDOW / 2 > MSIZE_MAX);

/// Windows that are kept. A window's pages count as resident in this process: 1 GiB at most.
/// Where there are more open files, a part is mapped for as long as it takes to send it.
const WINDOWS_MAX: usize = 16;

static WINDOWS: AtomicUsize = AtomicUsize::new(0);

/// A window that an open file keeps, if it has one.
pub type KeptWindow = Mutex<Option<Arc<Window>>>;

/// A mapped range of a file.
#[derive(Debug)]
pub struct Window {
    base: NonNull<c_void>,
    length: usize,
    file: Arc<OwnedFd>,
    offset: u64,
    kept: bool,
}

// SAFETY: the mapping belongs to the process and only this value knows where it is; nothing in it
// is tied to a thread.
unsafe impl Send for Window {}
// SAFETY: a shared reference gives no access to the mapped memory.
unsafe impl Sync for Window {}

impl Window {
    /// Maps `length` bytes from `offset`, which is a multiple of a page.
    fn new(file: &Arc<OwnedFd>, offset: u64, length: usize, kept: bool) -> Option<Window> {
        let start = libc::off_t::try_from(offset).ok()?;
        let (protection, flags) = (libc::PROT_READ, libc::MAP_SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let base = unsafe {
            libc::mmap(std::ptr::null_mut(), length, protection, flags, file.as_raw_fd(), start)
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base)?;
        if kept {
            WINDOWS.fetch_add(1, Ordering::Relaxed);
        }
        Some(Window { base, length, file: file.clone(), offset, kept })
    }

    fn covers(&self, offset: u64, count: usize) -> bool {
        offset >= self.offset && offset + count as u64 <= self.offset + self.length as u64
    }

    /// The window on a part of a file, a kept one if possible.
    fn on(
        file: &Arc<OwnedFd>,
        kept: &KeptWindow,
        offset: u64,
        count: usize,
    ) -> Option<Arc<Window>> {
        let mut kept = kept.lock().expect("no holder panics");
        if let Some(window) = &*kept
            && window.covers(offset, count)
        {
            return Some(window.clone());
        }
        *kept = None;
        if WINDOWS.load(Ordering::Relaxed) < WINDOWS_MAX {
            let start = offset - offset % (WINDOW / 2) as u64;
            *kept = Window::new(file, start, WINDOW, true).map(Arc::new);
            return kept.clone();
        }
        let skip = offset % rustix::param::page_size() as u64;
        let window = Window::new(file, offset - skip, skip as usize + count, false)?;
        Some(Arc::new(window))
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if self.kept {
            WINDOWS.fetch_sub(1, Ordering::Relaxed);
        }
        // SAFETY: the mapping was made by `new` with this length; spans of it borrow a mapping,
        // which holds the window.
        unsafe { libc::munmap(self.base.as_ptr(), self.length) };
    }
}

/// A part of a file that was in memory when it was asked for.
#[derive(Debug)]
pub struct Mapping {
    window: Arc<Window>,
    /// Where the part begins in the window.
    start: usize,
    count: usize,
}

impl Mapping {
    /// Maps `count` bytes of a file from `offset`, which exist, if they are all in memory.
    pub fn of(
        file: &Arc<OwnedFd>,
        kept: &KeptWindow,
        offset: u64,
        count: usize,
    ) -> Option<Mapping> {
        let window = Window::on(file, kept, offset, count)?;
        let start = (offset - window.offset) as usize;
        let mapping = Mapping { window, start, count };
        mapping.is_resident().then_some(mapping)
    }

    fn is_resident(&self) -> bool {
        let page = rustix::param::page_size();
        let skip = self.start % page;
        let pages = (skip + self.count).div_ceil(page);
        let mut resident = [0u8; PAGES_MAX];
        if pages > PAGES_MAX {
            return false;
        }
        let base = self.window.base.as_ptr().wrapping_byte_add(self.start - skip);
        // SAFETY: the range is the window's, and there is a byte for each of its pages.
        let result = unsafe { libc::mincore(base, skip + self.count, resident.as_mut_ptr()) };
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
        let start = self.window.base.as_ptr().wrapping_byte_add(self.start + sent);
        let span = libc::iovec { iov_base: start, iov_len: self.count - sent };
        Span(span, PhantomData)
    }

    /// The part as bytes, for when the kernel no longer finds it all: those before `sent`, which
    /// nobody will look at, and those behind the file's new end are zero.
    pub(crate) fn copy(&self, sent: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.count];
        let offset = self.window.offset + self.start as u64;
        let mut at = sent;
        while at < self.count {
            match rustix::io::pread(&self.window.file, &mut bytes[at..], offset + at as u64) {
                Ok(0) => break,
                Ok(more) => at += more,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
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
