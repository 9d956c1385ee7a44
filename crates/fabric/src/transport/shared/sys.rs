//! The system calls that no safe wrapper offers: mappings, another process's memory, credentials.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Memory that others may have mapped as well.
pub(crate) struct Mapped {
    base: NonNull<u8>,
    size: usize,
    /// From the heap, not from a descriptor: for Miri, which knows no shared mappings.
    #[cfg(test)]
    is_heap: bool,
}

// SAFETY: it is but an address; who accesses the bytes has to keep to a protocol.
unsafe impl Send for Mapped {}
// SAFETY: see above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps the first `size` bytes of a descriptor. The caller knows that it cannot shrink.
    pub(crate) fn new(file: BorrowedFd<'_>, size: usize, is_writable: bool) -> io::Result<Mapped> {
        let rights = libc::PROT_READ | if is_writable { libc::PROT_WRITE } else { 0 };
        let file = file.as_raw_fd();
        // SAFETY: a new mapping at a place that the kernel chooses touches no other memory.
        let base = unsafe { libc::mmap(ptr::null_mut(), size, rights, libc::MAP_SHARED, file, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).expect("no mapping is at zero");
        Ok(Mapped {
            base,
            size,
            #[cfg(test)]
            is_heap: false,
        })
    }

    /// Leaves it out of core dumps, for which the kernel would fill all holes of it: of a segment
    /// for the messages of many ranks these are gigabytes.
    pub(crate) fn keep_from_dumps(&self) {
        // SAFETY: it changes what is dumped of the mapping, and nothing else. Where the kernel
        // cannot, dumps are as long as they were.
        unsafe { libc::madvise(self.base().cast(), self.size, libc::MADV_DONTDUMP) };
    }

    #[cfg(test)]
    pub(crate) fn heap(size: usize) -> Mapped {
        let layout = std::alloc::Layout::from_size_align(size, 4096).expect("a size");
        // SAFETY: the size is not zero.
        let base = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).expect("memory");
        Mapped { base, size, is_heap: true }
    }

    #[inline]
    pub(crate) fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    #[inline]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// All whole words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: within the mapping and aligned; they are only accessed as atomics.
        unsafe { std::slice::from_raw_parts(self.base().cast(), self.size / 8) }
    }

    /// The word at an offset.
    ///
    /// # Panics
    /// Outside of the mapping, and where words do not begin.
    #[inline]
    pub(crate) fn word32(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.size);
        // SAFETY: within the mapping and aligned; such words are only accessed as atomics.
        unsafe { &*self.base().add(offset).cast() }
    }

    /// As [`Mapped::word32`].
    #[inline]
    pub(crate) fn word64(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.size);
        // SAFETY: see above.
        unsafe { &*self.base().add(offset).cast() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        #[cfg(test)]
        if self.is_heap {
            let layout = std::alloc::Layout::from_size_align(self.size, 4096).expect("a size");
            // SAFETY: allocated with the same layout.
            unsafe { std::alloc::dealloc(self.base(), layout) };
            return;
        }
        // SAFETY: the mapping is ours, and who points into it holds it.
        unsafe { libc::munmap(self.base().cast(), self.size) };
    }
}

/// How often this process, or one that it was forked from, has been forked since the first call.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// What tells this process from those that it was forked from, and those from each other.
pub(crate) fn forks() -> u32 {
    static COUNTS: Once = Once::new();
    extern "C" fn count() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    COUNTS.call_once(|| {
        // SAFETY: in the child it counts, and does nothing else.
        let code = unsafe { libc::pthread_atfork(None, None, Some(count)) };
        assert_eq!(code, 0, "there is memory for a number");
    });
    FORKS.load(Ordering::Relaxed)
}

/// Does something in a fork of this process, which ends with it; whether that went well.
#[cfg(test)]
pub(crate) fn in_a_fork(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the C library has the child's memory ready for use, and nothing of ours is locked.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let status = i32::from(!work());
        // SAFETY: it ends at once.
        unsafe { libc::_exit(status) };
    }
    let mut status = -1;
    // SAFETY: the call writes one int, which outlives it.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    ended == child && status == 0
}

/// Copies from two places in the memory of another process, which is the same for both; how many
/// bytes that were.
pub(super) fn read_memory(pid: u32, parts: [(u64, &mut [u8]); 2]) -> io::Result<usize> {
    let pid = i32::try_from(pid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
    let vector = |base: *mut libc::c_void, iov_len| libc::iovec { iov_base: base, iov_len };
    let remote = [0, 1].map(|at: usize| vector(parts[at].0 as *mut _, parts[at].1.len()));
    let local = parts.map(|(_, to)| vector(to.as_mut_ptr().cast(), to.len()));
    // SAFETY: the kernel writes into what is exclusively borrowed, and checks the other process's
    // addresses.
    let count = unsafe { libc::process_vm_readv(pid, local.as_ptr(), 2, remote.as_ptr(), 2, 0) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Has the kernel refuse this thread a call from now on, as in a container.
#[cfg(test)]
pub(crate) fn refuse(call: libc::c_long) -> io::Result<()> {
    let [load, compare, end] = [
        libc::BPF_LD | libc::BPF_W | libc::BPF_ABS,
        libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
        libc::BPF_RET | libc::BPF_K,
    ];
    let step = |code, jf, k| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    // The call's number is the first word of what the filter sees.
    let mut steps = [
        step(load, 0, 0),
        step(compare, 1, call as u32),
        step(end, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(end, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: the kernel copies the filter, which outlives the calls.
    let result = unsafe {
        let mode = libc::SECCOMP_MODE_FILTER;
        match libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) {
            0 => libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter),
            failed => failed,
        }
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Who is at the other end of a Unix socket: process (none outside of our namespace), user.
pub(crate) fn credentials(socket: BorrowedFd<'_>) -> io::Result<(Option<u32>, u32)> {
    let mut ids = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    let to = (&raw mut ids).cast();
    // SAFETY: the kernel writes at most `size` bytes into `ids`.
    let result = unsafe {
        let level = libc::SOL_SOCKET;
        libc::getsockopt(socket.as_raw_fd(), level, libc::SO_PEERCRED, to, &raw mut size)
    };
    match result {
        0 => Ok((u32::try_from(ids.pid).ok().filter(|pid| *pid != 0), ids.uid)),
        _ => Err(io::Error::last_os_error()),
    }
}
