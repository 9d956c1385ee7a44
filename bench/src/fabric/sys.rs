//! Two threads, one piece of memory, a flag each way: what shared memory can do when nobody asks
//! anything else of it. The bound for messages between two cores.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Looks in vain before the processor is offered to others: some 100 us, far more than any message
/// that is on its way takes.
const LOOKS: u32 = 1 << 15;

/// A flag on a cache line of its own.
#[repr(align(128))]
#[derive(Default)]
pub struct Flag(pub AtomicU64);

/// A buffer that one thread fills and the other empties, in turns that a flag gives.
pub struct Slot {
    bytes: UnsafeCell<Box<[u8]>>,
    /// The number of the last message in it.
    pub full: Flag,
}

// SAFETY: the bytes are written only by the sender before it sets `full`, and read only by the
// receiver after it has seen that; the reply gives the slot back. `send` and `receive` keep this.
unsafe impl Sync for Slot {}

impl Slot {
    /// A slot for messages of a size.
    pub fn new(size: usize) -> Slot {
        Slot { bytes: UnsafeCell::new(vec![0; size].into()), full: Flag::default() }
    }

    /// Copies message `number` in. Only when the one before was received.
    pub fn send(&self, message: &[u8], number: u64) {
        // SAFETY: it is the sender's turn (see above).
        unsafe { (&mut *self.bytes.get())[..message.len()].copy_from_slice(message) };
        self.full.0.store(number, Ordering::Release);
    }

    /// Waits for message `number` and copies it out.
    pub fn receive(&self, into: &mut [u8], number: u64) {
        let mut looks = 0_u32;
        while self.full.0.load(Ordering::Acquire) != number {
            looks += 1;
            match looks % LOOKS {
                // The sender does not run: somebody else wants its processor, or ours.
                0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
        // SAFETY: it is the receiver's turn (see above).
        unsafe { into.copy_from_slice(&(&*self.bytes.get())[..into.len()]) };
    }
}
