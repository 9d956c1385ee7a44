//! What the processes of a session use while they run. Looked up when somebody asks, and when some
//! are about to be killed: nothing here costs a launch anything. Never for long: a tree may grow
//! faster than it is looked at.
//!
//! The kernel adds what a process has used to its parent's when that has waited for it, so the sum
//! over a tree that lives is what all of it has used, those that have ended included. Processor
//! time is better told by the control group, where there is one: it knows also those that nobody
//! has waited for.

use super::cgroup::Cgroup;
use super::facts;
use crate::usage::{Io, NodeUsage, Usage};
use std::fs;
use std::time::{Duration, Instant};

/// For how long is looked at a tree that somebody asks about.
pub(super) const ASKED: Duration = Duration::from_secs(1);

/// The same where it is about to be killed, and others wait for that: some 500 processes.
pub(super) const IN_PASSING: Duration = Duration::from_millis(50);

/// What is looked at.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The init, if it lives.
    pub(super) init: Option<u32>,
    /// What was used of that by programs before this one.
    pub(super) spent: Usage,
    pub(super) cgroup: Option<Cgroup>,
    /// When the program was started, if it runs.
    pub(super) began: Option<Instant>,
}

impl Place {
    /// What is used there, as far as it can be seen in a time.
    pub(super) fn look(&self, patience: Duration) -> Usage {
        let tree = self.init.map(|init| of_tree(init, patience).since(&self.spent));
        let tree = tree.unwrap_or_default();
        let group = self.cgroup.as_ref().and_then(Cgroup::cpu);
        let (user_us, system_us) = group.unwrap_or((tree.user_us, tree.system_us));
        let wall = self.began.map_or(0, |began| began.elapsed().as_micros());
        let wall_us = u64::try_from(wall).unwrap_or(u64::MAX);
        let slice_us = wall_us.saturating_sub(self.frozen_us());
        Usage { user_us, system_us, wall_us, slice_us, ..tree }
    }

    /// Microseconds in which it stood still for the sake of others, as far as the kernel tells.
    pub(super) fn frozen_us(&self) -> u64 {
        self.cgroup.as_ref().and_then(Cgroup::frozen_us).unwrap_or(0)
    }
}

/// What the descendants of an init use and have used. Who comes or goes meanwhile may be missed,
/// and those are that are not come to in time.
fn of_tree(init: u32, patience: Duration) -> Usage {
    let began = Instant::now();
    let mut sum = Usage::default();
    let mut bytes = io(&format!("{init}/io"));
    let own = io(&format!("{init}/task/{init}/io"));
    if let (Some(all), Some(own)) = (&mut bytes, own) {
        // Its own are what it reads to do its work.
        all.read -= own.read.min(all.read);
        all.disk_read -= own.disk_read.min(all.disk_read);
    }
    let [_, _, user, system] = ticks(init);
    (sum.user_us, sum.system_us) = (user, system);
    let mut found = children(init);
    while let Some(pid) = found.pop().filter(|_| began.elapsed() < patience) {
        found.extend(children(pid));
        let [user, system, user_below, system_below] = ticks(pid);
        sum.user_us += user + user_below;
        sum.system_us += system + system_below;
        let status = read(&format!("{pid}/status"));
        let kib = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
        };
        sum.rss_kib += kib("VmRSS:");
        sum.max_rss_kib = sum.max_rss_kib.max(kib("VmHWM:"));
        if let (Some(all), Some(one)) = (&mut bytes, io(&format!("{pid}/io"))) {
            all.read += one.read;
            all.written += one.written;
            all.disk_read += one.disk_read;
            all.disk_written += one.disk_written;
        }
    }
    if let Some(Io { read, written, disk_read, disk_written }) = bytes {
        (sum.read, sum.written) = (Some(read), Some(written));
        (sum.disk_read, sum.disk_written) = (disk_read, disk_written);
    }
    sum
}

fn read(path: &str) -> String {
    fs::read_to_string(format!("/proc/{path}")).unwrap_or_default()
}

fn io(path: &str) -> Option<Io> {
    Io::parse(&read(path))
}

/// Each thread's children are its own.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| numbers(&list)).collect()
}

fn numbers<T: std::str::FromStr>(text: &str) -> Vec<T> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Microseconds in user mode and in the kernel, its own and of those that it has waited for.
fn ticks(pid: u32) -> [u64; 4] {
    let per_tick = 1_000_000 / rustix::param::clock_ticks_per_second().max(1);
    times(&read(&format!("{pid}/stat"))).map(|ticks| ticks * per_tick)
}

/// `utime stime cutime cstime` of proc_pid_stat(5): fields 14 to 17, 3 being the first behind the
/// name, which may hold anything.
fn times(stat: &str) -> [u64; 4] {
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let mut fields = fields.split(' ').skip(11).map(|field| field.parse().unwrap_or(0));
    std::array::from_fn(|_| fields.next().unwrap_or(0))
}

/// What the node itself tells of its machine; sessions are added.
pub(super) fn of_node() -> NodeUsage {
    let memory: Vec<u64> = numbers(&facts::memory());
    NodeUsage {
        cpus: numbers(&facts::cpus()).first().copied().unwrap_or(0),
        load: numbers(&facts::load()).first().copied().unwrap_or(0.0),
        mem_total: memory.first().copied().unwrap_or(0),
        mem_available: memory.get(1).copied().unwrap_or(0),
        ..NodeUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn times_are_found_behind_any_name() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        assert_eq!(times(stat), [11, 12, 13, 14]);
        assert_eq!(times(""), [0; 4]);
    }

    #[test]
    fn a_tree_is_looked_at_with_the_children_that_have_ended() {
        // A shell in the part of the init: a child has written and was waited for, another lives.
        let line = "head -c 300000 /dev/zero > /dev/null; sleep 600 & echo ready; wait";
        let mut init = Command::new("sh");
        let mut init = init.args(["-c", line]).stdout(Stdio::piped()).spawn().unwrap();
        let mut ready = [0; 6];
        std::io::Read::read_exact(init.stdout.as_mut().unwrap(), &mut ready).unwrap();
        let mut used = of_tree(init.id(), ASKED);
        // The other one has no memory of its own for as long as it is being made.
        let until = Instant::now() + Duration::from_secs(30);
        while used.rss_kib <= 100 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
            used = of_tree(init.id(), ASKED);
        }
        let seen_in_no_time = of_tree(init.id(), Duration::ZERO);
        let alive = children(init.id());
        for pid in alive.iter().filter_map(|pid| rustix::process::Pid::from_raw(*pid as i32)) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        init.wait().unwrap();
        assert_eq!(alive.len(), 1, "{alive:?}");
        assert_eq!(seen_in_no_time.max_rss_kib, 0, "a look ends with its time");
        assert!(used.rss_kib > 100 && used.max_rss_kib >= used.rss_kib, "{used:?}");
        assert!(used.written.is_none_or(|bytes| bytes >= 300_000), "{used:?}");
        assert!(used.read.is_none_or(|bytes| bytes >= 300_000), "{used:?}");
    }
}
