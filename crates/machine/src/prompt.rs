//! How soon a process gets a processor that others use: daemons and commands soon, for each waits
//! for the next; ranks of jobs that take turns after them.
//!
//! The kernel's scheduler (EEVDF) gives every task a fair share, and within that the processor to
//! whoever is due first. Who asks for a shorter slice is due sooner, and is let in before the slice
//! of another ends; its share stays the same. Without it a task that wakes may wait for the next
//! tick, 4 ms, at every one of the ten wake-ups of a launch. Everybody may ask.
//!
//! How nice a task is counts among those of its group only: of a control group with a share of its
//! own, as systemd makes them, and of a session where the kernel groups those (sched(7), "The
//! autogroup feature").

use muster_fabric::shell::ShortSlices;
use rustix::process::{nice, setpriority_process};
use rustix::thread::{CapabilitySet, capabilities};
use std::io;

/// How much nicer ranks of jobs that take turns are than others, so that who starts the next job
/// gets three times the share of one of them.
const NICER: i32 = 5;

/// Asks for short slices, for the calling thread and those that it makes. Kernels before 6.12 do
/// not heed it.
pub fn be_prompt() {
    ShortSlices::keep();
}

/// Takes slices as others do, for the calling thread and those that it makes.
pub(crate) fn be_usual() {
    ShortSlices::give_up();
}

/// Lets others go first. The caller leads a session that it has just made.
pub(crate) fn stand_back() -> io::Result<()> {
    setpriority_process(None, nice(0)? + NICER)?;
    // One that may administer nothing may do this ten times a second on the whole machine: ranks
    // of one job would be of two kinds.
    let may = capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::SYS_ADMIN));
    if may {
        // A new session's group is as nice as any. Where there are none, there is no such file. The
        // byte counts among those that the program writes (docs/files.md): nobody else can do this
        // before it runs, and whether it was done is known to nobody who accounts.
        let _ = std::fs::write("/proc/self/autogroup", NICER.to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_asked_for_and_given_up() {
        let told = || {
            let text = std::fs::read_to_string("/proc/thread-self/sched").unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with("se.slice"));
            line.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
        };
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
        let has_slices = (numbers.next(), numbers.next()) >= (Some(6), Some(12));
        let (Some(usual), true) = (told(), has_slices) else { return };
        be_prompt();
        assert!(told().unwrap() < usual);
        be_usual();
        assert_eq!(told().unwrap(), usual);
    }
}
