//! The program's memory, and the library's own, as what a message's elements lie in.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use muster_mpi::atom::Atom;
use muster_mpi::buffer::Memory;
use muster_mpi::datatype;
use parking_lot::Mutex;

/// The alignment of the library's own: that of any element.
const ALIGNMENT: usize = 64;

/// The alignment of all that malloc(3) gives.
const PLAIN: usize = 16;

/// Memory of ours that is as long as this is kept when nobody uses it any more: the kernel takes
/// longer to find new pages, and to clear them, than most of what is done with them.
const LONG: usize = 64 << 10;

/// How many bytes are kept at most.
const SPARE_MAX: usize = 4 << 20;

/// What is kept.
static SPARE: Mutex<Spare> = Mutex::new(Spare { all: Vec::new(), bytes: 0 });

/// An address in the program, or in memory of ours.
#[derive(Clone)]
pub struct Place {
    address: *mut u8,
    /// Keeps our own memory as long as it is used.
    own: Option<Arc<Scratch>>,
}

/// Memory of ours, which is spare when nobody uses it any more.
struct Scratch(Block);

// SAFETY: memory belongs to the process, not to a thread. That nobody else uses a buffer while an
// operation does is what the standard demands of programs (MPI-5.0, section 3.7.2).
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.0.layout.size() < LONG || !SPARE.lock().keeps(self.0) {
            self.0.free();
        }
    }
}

/// Memory that was allocated.
#[derive(Clone, Copy)]
struct Block {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: as of `Place`, whose memory it is.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    /// Zeros.
    fn new(layout: Layout) -> Block {
        // SAFETY: it has a size that is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        Block { start, layout }
    }

    /// Gives it back, when nobody else has it.
    fn free(self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start, self.layout) }
    }
}

/// Memory that nobody uses at the moment.
struct Spare {
    all: Vec<Block>,
    bytes: usize,
}

impl Spare {
    /// Keeps some, unless it is more than is ever kept; what is there for the longest time goes.
    fn keeps(&mut self, block: Block) -> bool {
        if block.layout.size() > SPARE_MAX {
            return false;
        }
        self.bytes += block.layout.size();
        self.all.push(block);
        while self.bytes > SPARE_MAX {
            let oldest = self.all.remove(0);
            self.bytes -= oldest.layout.size();
            oldest.free();
        }
        true
    }

    /// What was kept last of some that is as large as this, and less than twice as large.
    fn take(&mut self, layout: Layout) -> Option<Block> {
        let fits = |block: &Block| block.layout.size().wrapping_sub(layout.size()) < layout.size();
        let at = self.all.iter().rposition(fits)?;
        let block = self.all.remove(at);
        self.bytes -= block.layout.size();
        Some(block)
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
        allocated(length, true)
    }

    fn room(length: usize) -> Place {
        allocated(length, false)
    }

    fn is(&self, other: &Place) -> bool {
        self.address == other.address
    }
}

/// Memory of ours, zeros or whatever was written there before.
fn allocated(length: usize, is_zero: bool) -> Place {
    if length == 0 {
        return Place { address: std::ptr::dangling_mut(), own: None };
    }
    // The allocator has zeros at hand for its own alignment, and writes them for any other.
    let layout = Layout::from_size_align(length.saturating_add(ALIGNMENT), PLAIN);
    let layout = layout.expect("a datatype's extent was looked at before");
    let spare = if layout.size() < LONG { None } else { SPARE.lock().take(layout) };
    let is_dirty = is_zero && spare.is_some();
    let block = spare.unwrap_or_else(|| Block::new(layout));
    let address = block.start.wrapping_add(block.start.align_offset(ALIGNMENT));
    let mut place = Place { address, own: Some(Arc::new(Scratch(block))) };
    if is_dirty {
        place.bytes_mut(0, length).fill(0);
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_memory_is_used_again_and_zeros_are_zeros() {
        let mut spare = Spare { all: Vec::new(), bytes: 0 };
        let layout = |size| Layout::from_size_align(size, PLAIN).unwrap();
        let block = |size| Block::new(layout(size));
        let (small, large) = (block(LONG), block(3 * LONG));
        assert!(spare.keeps(small) && spare.keeps(large));
        // Neither more than twice as large, nor too small.
        assert!(spare.take(layout(LONG + 1)).is_none());
        assert_eq!(spare.take(layout(2 * LONG)).unwrap().start, large.start);
        assert_eq!(spare.bytes, LONG);
        assert_eq!(spare.take(small.layout).unwrap().start, small.start);
        let huge = block(SPARE_MAX + 1);
        assert!(!spare.keeps(huge));
        [small, large, huge].into_iter().for_each(Block::free);
        // What has been there for long makes room for what was used last.
        (0..SPARE_MAX / LONG).for_each(|_| assert!(spare.keeps(block(LONG))));
        assert!(spare.keeps(block(2 * LONG)) && spare.bytes == SPARE_MAX);
        assert_eq!(spare.all.len(), SPARE_MAX / LONG - 1);
        spare.all.into_iter().for_each(Block::free);
        let mut place = Place::room(5 * LONG);
        place.bytes_mut(0, 5 * LONG).fill(7);
        drop(place);
        let again = Place::scratch(5 * LONG - 9);
        assert!(again.bytes(0, 5 * LONG - 9).iter().all(|byte| *byte == 0));
    }
}
