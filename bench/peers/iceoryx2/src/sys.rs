//! The processor a thread runs on.

/// Keeps this thread on a processor.
pub fn pin(processor: usize) {
    // SAFETY: a set of processors is bits, all zero at first; the kernel reads it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &raw const set);
    }
}
