//! Memory that several buffers share, as a program's is: what the library demands of pointers.
#![allow(unsafe_code)]

use muster_mpi::atom::Atom;
use muster_mpi::buffer::Memory;
use muster_mpi::{datatype, threads};
use parking_lot::lock_api::{GuardSend, RawMutex};
use std::rc::Rc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

/// An allocation, freed with its last user.
struct Allocation {
    start: *mut u8,
    size: usize,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: it was a boxed slice of this size.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(self.start, self.size)) });
    }
}

/// An address in an allocation.
#[derive(Clone)]
pub struct Heap {
    allocation: Rc<Allocation>,
    at: isize,
}

impl Heap {
    /// Bytes of its own.
    pub fn new(bytes: &[u8]) -> Heap {
        let boxed: Box<[u8]> = bytes.into();
        let size = boxed.len();
        let start = Box::into_raw(boxed).cast();
        Heap { allocation: Rc::new(Allocation { start, size }), at: 0 }
    }

    fn check(&self, at: isize, length: usize) -> *mut u8 {
        let first = usize::try_from(self.at + at).expect("not before the allocation");
        assert!(first + length <= self.allocation.size, "not behind the allocation");
        // SAFETY: just looked at.
        unsafe { self.allocation.start.add(first) }
    }
}

impl datatype::Memory for Heap {
    fn read(&self, at: isize, into: &mut [u8]) {
        into.copy_from_slice(self.bytes(at, into.len()));
    }

    fn write(&mut self, at: isize, from: &[u8]) {
        self.bytes_mut(at, from.len()).copy_from_slice(from);
    }
}

impl Memory for Heap {
    fn bytes(&self, at: isize, length: usize) -> &[u8] {
        // SAFETY: within the allocation, which one thread uses; nobody writes meanwhile, for a test
        // lets ranks run one after the other.
        unsafe { std::slice::from_raw_parts(self.check(at, length), length) }
    }

    fn bytes_mut(&mut self, at: isize, length: usize) -> &mut [u8] {
        // SAFETY: as above, and nobody reads meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.check(at, length), length) }
    }

    fn atom(&self, at: isize, size: usize) -> Option<Atom<'_>> {
        let address = self.check(at, size);
        if size == 0 || !address.addr().is_multiple_of(size) {
            return None;
        }
        // SAFETY: within the allocation, at a multiple of the size; one thread uses it.
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

    fn offset(&self, by: isize) -> Heap {
        Heap { allocation: self.allocation.clone(), at: self.at + by }
    }

    fn scratch(length: usize) -> Heap {
        Heap::new(&vec![0; length])
    }

    fn is(&self, other: &Heap) -> bool {
        Rc::ptr_eq(&self.allocation, &other.allocation) && self.at == other.at
    }
}

/// The door of a process of one thread.
pub struct Door(parking_lot::RawMutex);

// SAFETY: it is a mutex that has another name.
unsafe impl RawMutex for Door {
    #[allow(clippy::declare_interior_mutable_const, reason = "as lock_api has it")]
    const INIT: Door = Door(parking_lot::RawMutex::INIT);

    type GuardMarker = GuardSend;

    fn lock(&self) {
        self.0.lock();
    }

    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    // SAFETY: who calls has locked it.
    unsafe fn unlock(&self) {
        // SAFETY: as above.
        unsafe { self.0.unlock() }
    }
}

impl threads::Door for Door {
    fn has_threads() -> bool {
        false
    }
}
