//! Whether everything of a job sleeps, as the kernel has it.

use super::lending::Seen;
use super::place::Place;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Threads of the jobs of a slot at most. To look at one takes some ten microseconds, on slow
/// machines forty, in which a real-time thread keeps a processor from others; one that does not
/// sleep for [`super::sys::SPIN`] is killed.
const THREADS_MAX: usize = 64;

/// Control groups in which they are looked for at most: to look into one takes as long.
const GROUPS_MAX: usize = 64;

/// Jobs of a slot at most.
const JOBS_MAX: usize = 512;

/// Links of a control group's directory that has no other group in it.
const ALONE: u64 = 2;

impl Place {
    /// How jobs are that have control groups here.
    pub(super) fn look(&self, jobs: &[u32]) -> Seen {
        // What cannot be told may run.
        self.asleep(jobs).map_or(Seen::Awake, Seen::Asleep)
    }

    fn asleep(&self, jobs: &[u32]) -> Option<Vec<(u32, u64)>> {
        let (mut threads, mut groups) = (Vec::new(), 0);
        if jobs.len() > JOBS_MAX {
            return None;
        }
        for job in jobs {
            let group = self.job(*job);
            // The jobs of a slot are the cluster's: many have nobody here, but the group that keeps
            // their place.
            if fs::metadata(&group).ok()?.nlink() > ALONE + 1 {
                list(&group, &mut threads, &mut groups)?;
            }
        }
        threads.into_iter().map(|thread| Some((thread, times(thread)?))).collect()
    }
}

/// Lists the threads of a group and of those in it, if they are few.
fn list(group: &Path, threads: &mut Vec<u32>, groups: &mut usize) -> Option<()> {
    *groups += 1;
    if *groups > GROUPS_MAX {
        return None;
    }
    let text = fs::read_to_string(group.join("cgroup.threads")).ok()?;
    for line in text.lines() {
        threads.push(line.parse().ok()?);
    }
    if threads.len() > THREADS_MAX {
        return None;
    }
    if fs::metadata(group).ok()?.nlink() > ALONE {
        for entry in fs::read_dir(group).ok()? {
            let entry = entry.ok()?;
            if entry.file_type().ok()?.is_dir() {
                list(&entry.path(), threads, groups)?;
            }
        }
    }
    Some(())
}

/// How often a thread has run that sleeps. One that waits for a disk is about to run.
fn times(thread: u32) -> Option<u64> {
    let told = |file: &str| fs::read_to_string(format!("/proc/{thread}/task/{thread}/{file}"));
    let stat = told("stat").ok()?;
    let (_, state) = stat.rsplit_once(") ")?;
    // Asleep, stopped, traced, or ended.
    if !state.starts_with(['S', 'T', 't', 'Z', 'X']) {
        return None;
    }
    told("schedstat").ok()?.split_ascii_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::cgroup::{Cgroup, Hierarchy};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    struct Program(Child);

    impl Program {
        fn new(script: &str, group: &Cgroup) -> Program {
            let mut command = Command::new("sh");
            let child = command.args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
            fs::write(group.path().join("cgroup.procs"), child.id().to_string()).unwrap();
            Program(child)
        }
    }

    impl Drop for Program {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn until(what: &str, mut is_so: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_so() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_job_sleeps_when_all_of_it_does_and_who_has_run_since_is_seen() {
        let Ok(own) = Hierarchy::detect() else { return };
        let name = format!("sleepers-{}", std::process::id());
        let place = Place::Groups(own.group(&name).unwrap());
        let enter = |job: u32, rank: &str| place.enter(job, rank.to_owned()).unwrap();
        let ((one, first), (two, second)) = (enter(7, "n0.s1"), enter(7, "n1.s1"));
        let (first, second) = (first.unwrap(), second.unwrap());
        assert_eq!(place.look(&[7]), Seen::Asleep(Vec::new()), "nobody is there");
        assert_eq!(
            place.look(&[7, 8]),
            Seen::Awake,
            "it is not known how a job without a place is"
        );
        let mut reads = Program::new("while read word; do :; done", &first);
        // A group that a program has made in its own is looked at as well.
        let inner = second.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let spins = Program::new("while :; do :; done", &Cgroup::at(inner.clone()));
        assert_eq!(place.look(&[7]), Seen::Awake);
        drop(spins);
        until("it sleeps", || place.look(&[7]) != Seen::Awake);
        let before = place.look(&[7]);
        assert!(matches!(&before, Seen::Asleep(threads) if threads.len() == 1), "{before:?}");
        assert_eq!(place.look(&[7]), before);
        std::io::Write::write_all(reads.0.stdin.as_mut().unwrap(), b"once\n").unwrap();
        until("it has run", || ![Seen::Awake, before.clone()].contains(&place.look(&[7])));
        drop(reads);
        fs::remove_dir(inner).unwrap();
        for (seat, group) in [(one, first), (two, second)] {
            group.remove(Duration::from_secs(1)).unwrap();
            drop(seat);
        }
        place.remove(Duration::ZERO).unwrap();
    }
}
