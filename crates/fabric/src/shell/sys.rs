//! Asking the scheduler for short slices, for which rustix has no call.
#![allow(unsafe_code)]

/// What sched_getattr(2) and sched_setattr(2) take: its first version, 48 bytes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

const SIZE: u32 = size_of::<Attributes>() as u32;

/// The shortest slice that the kernel gives, in nanoseconds.
const SHORTEST: u64 = 100_000;

/// Asks for the shortest slices for this thread. That is no priority: it gets no more time than
/// others, but what it gets, it gets sooner after it wakes (Linux 6.12; before, nothing changes).
/// For a thread that has little to do and whose messages others wait for.
pub fn ask_for_short_slices() {
    let mut attributes = Attributes { size: SIZE, ..Attributes::default() };
    // SAFETY: the kernel writes at most SIZE bytes into a structure of that size, which outlives
    // the call; thread 0 is the calling one.
    let got = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) };
    if got == 0 {
        attributes.runtime = SHORTEST;
        // SAFETY: the kernel only reads the structure, whose size is in it. Refused, nothing has
        // changed, and the thread runs as any other.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn who_asks_for_short_slices_stays_a_usual_thread() {
        let policy = || std::fs::read_to_string("/proc/thread-self/stat").expect("it is there");
        let fields = |text: String| -> Vec<String> {
            let (_, behind) = text.rsplit_once(") ").expect("a name in brackets");
            // Nice, and the policy: fields 19 and 41 of proc(5).
            [16, 38].map(|at| behind.split(' ').nth(at).expect("a field").to_owned()).to_vec()
        };
        let before = fields(policy());
        super::ask_for_short_slices();
        assert_eq!(fields(policy()), before);
        assert_eq!(before[1], "0", "SCHED_OTHER");
    }
}
