//! Asking the scheduler for short slices, for which rustix has no call.
#![allow(unsafe_code)]

/// What sched_getattr(2) and sched_setattr(2) take: its first version, 48 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
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

/// The shortest slices for this thread, until this is dropped. That is no priority: it gets no more
/// time than others, but what it gets, it gets sooner after it wakes or yields (Linux 6.12; before,
/// nothing changes). For a thread that has little to do and whose messages others wait for.
pub struct ShortSlices(Option<Attributes>);

impl ShortSlices {
    /// Asks for them.
    pub fn ask() -> ShortSlices {
        let before = get().filter(|before| before.runtime != SHORTEST);
        if let Some(before) = before {
            set(&Attributes { runtime: SHORTEST, ..before });
        }
        ShortSlices(before)
    }

    /// Asks for them for good: threads and processes that this one makes have them, too.
    pub fn keep() {
        std::mem::forget(ShortSlices::ask());
    }

    /// Gives up those that the calling thread has from whoever made it.
    pub fn give_up() {
        if let Some(short) = get().filter(|now| now.runtime == SHORTEST) {
            set(&Attributes { runtime: 0, ..short });
        }
    }
}

impl Drop for ShortSlices {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            set(before);
        }
    }
}

/// What the calling thread has, if it is one with slices.
fn get() -> Option<Attributes> {
    let mut now = Attributes { size: SIZE, ..Attributes::default() };
    // SAFETY: the kernel writes at most SIZE bytes into a structure of that size, which outlives
    // the call; thread 0 is the calling one.
    let got = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut now, SIZE, 0) };
    // Of other policies the same field says something else.
    (got == 0 && now.policy == 0).then_some(now)
}

/// Refused, nothing has changed, and the thread runs as any other.
fn set(attributes: &Attributes) {
    // SAFETY: the kernel only reads the structure, whose size is in it; thread 0 is the calling
    // one, so who drops the slices on another thread sets that one's back.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const *attributes, 0) };
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
        let slices = super::ShortSlices::ask();
        assert_eq!(fields(policy()), before);
        drop(slices);
        assert_eq!(fields(policy()), before);
        assert_eq!(before[1], "0", "SCHED_OTHER");
    }
}
