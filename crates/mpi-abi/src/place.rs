//! The program's memory, and the library's own, as what a message's elements lie in.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use muster_mpi::atom::Atom;
use muster_mpi::buffer::Memory;
use muster_mpi::datatype;

/// The alignment of the library's own: that of any element.
const ALIGNMENT: usize = 64;

/// The alignment of all that malloc(3) gives.
const PLAIN: usize = 16;

/// An address in the program, or in memory of ours.
#[derive(Clone)]
pub struct Place {
    address: *mut u8,
    /// Keeps our own memory as long as it is used.
    own: Option<Arc<Scratch>>,
}

/// Memory of ours.
struct Scratch {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: memory belongs to the process, not to a thread. That nobody else uses a buffer while an
// operation does is what the standard demands of programs (MPI-5.0, section 3.7.2).
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}
// SAFETY: as above.
unsafe impl Send for Scratch {}
// SAFETY: as above.
unsafe impl Sync for Scratch {}

impl Drop for Scratch {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start, self.layout) }
    }
}

impl Place {
    /// The program's buffer at an address.
    ///
    /// What makes this safe is that only entry points call it, with what a program passed as the
    /// buffer of a datatype and a count: the standard demands that the bytes are there.
    pub fn of(address: *const c_void) -> Place {
        Place { address: address.cast_mut().cast(), own: None }
    }
}

impl datatype::Memory for Place {
    #[inline]
    fn read(&self, at: isize, into: &mut [u8]) {
        into.copy_from_slice(self.bytes(at, into.len()));
    }

    #[inline]
    fn write(&mut self, at: isize, from: &[u8]) {
        self.bytes_mut(at, from.len()).copy_from_slice(from);
    }
}

impl Memory for Place {
    #[inline]
    fn bytes(&self, at: isize, length: usize) -> &[u8] {
        if length == 0 {
            return &[];
        }
        // SAFETY: bytes of a datatype's map at an address for it, see `Place::of`; or of our own,
        // whose room was made for them.
        unsafe { std::slice::from_raw_parts(self.address.wrapping_offset(at), length) }
    }

    #[inline]
    fn bytes_mut(&mut self, at: isize, length: usize) -> &mut [u8] {
        if length == 0 {
            return &mut [];
        }
        // SAFETY: as above; a buffer that is received into nobody else uses meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.address.wrapping_offset(at), length) }
    }

    #[inline]
    fn atom(&self, at: isize, size: usize) -> Option<Atom<'_>> {
        let address = self.address.wrapping_offset(at);
        if size == 0 || !address.addr().is_multiple_of(size) {
            return None;
        }
        // SAFETY: bytes as above, at an address that is a multiple of the size. Who reads or writes
        // them in another way meanwhile is another process, or a program that the standard forbids
        // it.
        unsafe {
            match size {
                1 => Some(Atom::One(AtomicU8::from_ptr(address))),
                2 => Some(Atom::Two(AtomicU16::from_ptr(address.cast()))),
                4 => Some(Atom::Four(AtomicU32::from_ptr(address.cast()))),
                8 => Some(Atom::Eight(AtomicU64::from_ptr(address.cast()))),
                _ => None,
            }
        }
    }

    fn offset(&self, by: isize) -> Place {
        Place { address: self.address.wrapping_offset(by), own: self.own.clone() }
    }

    fn scratch(length: usize) -> Place {
        if length == 0 {
            return Place { address: std::ptr::dangling_mut(), own: None };
        }
        // The allocator has zeros at hand for its own alignment, and writes them for any other.
        let layout = Layout::from_size_align(length.saturating_add(ALIGNMENT), PLAIN);
        let layout = layout.expect("a datatype's extent was looked at before");
        // SAFETY: it has a size that is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        let address = start.wrapping_add(start.align_offset(ALIGNMENT));
        Place { address, own: Some(Arc::new(Scratch { start, layout })) }
    }

    fn is(&self, other: &Place) -> bool {
        self.address == other.address
    }
}
