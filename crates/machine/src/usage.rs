//! What programs have used: processor time, memory, bytes and time. As text in the files of nodes,
//! as JSON in those of the manager.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// What a rank, or all ranks of a job, have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Microseconds of processor time in user mode.
    pub user_us: u64,
    /// Microseconds of processor time in the kernel.
    pub system_us: u64,
    /// The largest resident set that any one process of a rank had, in KiB; of a job the sum of its
    /// ranks'. Never below that of the shepherd, which every program starts as a copy of. Processes
    /// that have ended are forgotten while the program runs, and where all of it is killed at once:
    /// the kernel tells the peak of a parent's children only to that itself, and when it has ended.
    pub max_rss_kib: u64,
    /// What is resident now, of all processes together, in KiB.
    pub rss_kib: u64,
    /// Bytes that read(2) and its kin have given, from files, pipes and devices alike; none where
    /// the kernel does not count them.
    pub read: Option<u64>,
    /// Bytes that write(2) and its kin have taken.
    pub written: Option<u64>,
    /// Bytes that had to be brought from storage.
    pub disk_read: u64,
    /// Bytes that had to go to storage.
    pub disk_written: u64,
    /// Microseconds from the program's start to its end, or until now; of a job the longest.
    pub wall_us: u64,
    /// Those of them in which it was not stopped to let other jobs run; of a job the longest.
    pub slice_us: u64,
}

impl Usage {
    /// Microseconds of processor time.
    pub fn cpu_us(&self) -> u64 {
        self.user_us.saturating_add(self.system_us)
    }

    /// Reads what a session's `usage` tells: the numbers that it is written as, and a newline.
    pub fn parse(text: &str) -> Option<Usage> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [user, system, max_rss, rss, read, written, from_disk, to_disk, wall, slice] =
            words[..]
        else {
            return None;
        };
        let count = |word: &str| match word {
            "-" => Some(None),
            digits => digits.parse().ok().map(Some),
        };
        Some(Usage {
            user_us: user.parse().ok()?,
            system_us: system.parse().ok()?,
            max_rss_kib: max_rss.parse().ok()?,
            rss_kib: rss.parse().ok()?,
            read: count(read)?,
            written: count(written)?,
            disk_read: from_disk.parse().ok()?,
            disk_written: to_disk.parse().ok()?,
            wall_us: wall.parse().ok()?,
            slice_us: slice.parse().ok()?,
        })
    }

    /// Of several ranks together. What is unknown of one is unknown of all.
    pub fn of_job<'a>(ranks: impl IntoIterator<Item = &'a Usage>) -> Option<Usage> {
        let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        ranks.into_iter().copied().reduce(|all, one| Usage {
            user_us: all.user_us.saturating_add(one.user_us),
            system_us: all.system_us.saturating_add(one.system_us),
            max_rss_kib: all.max_rss_kib.saturating_add(one.max_rss_kib),
            rss_kib: all.rss_kib.saturating_add(one.rss_kib),
            read: both(all.read, one.read),
            written: both(all.written, one.written),
            disk_read: all.disk_read.saturating_add(one.disk_read),
            disk_written: all.disk_written.saturating_add(one.disk_written),
            wall_us: all.wall_us.max(one.wall_us),
            slice_us: all.slice_us.max(one.slice_us),
        })
    }

    /// With what others have used before or after, of what adds up.
    pub(crate) fn and(&self, other: &Usage) -> Usage {
        let both = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Usage {
            user_us: self.user_us.saturating_add(other.user_us),
            system_us: self.system_us.saturating_add(other.system_us),
            read: both(self.read, other.read),
            written: both(self.written, other.written),
            disk_read: self.disk_read.saturating_add(other.disk_read),
            disk_written: self.disk_written.saturating_add(other.disk_written),
            ..*self
        }
    }

    /// Without what others have used before, of what adds up.
    pub(crate) fn since(&self, before: &Usage) -> Usage {
        let left = |all: u64, before: u64| all.saturating_sub(before);
        Usage {
            user_us: left(self.user_us, before.user_us),
            system_us: left(self.system_us, before.system_us),
            read: self.read.map(|all| left(all, before.read.unwrap_or(0))),
            written: self.written.map(|all| left(all, before.written.unwrap_or(0))),
            disk_read: left(self.disk_read, before.disk_read),
            disk_written: left(self.disk_written, before.disk_written),
            ..*self
        }
    }

    /// The larger of each: what two ways of counting have found, neither of which counts anything
    /// twice.
    pub fn most(&self, other: &Usage) -> Usage {
        let (longer, shorter) =
            if self.cpu_us() >= other.cpu_us() { (self, other) } else { (other, self) };
        Usage {
            user_us: longer.user_us,
            system_us: longer.system_us,
            max_rss_kib: longer.max_rss_kib.max(shorter.max_rss_kib),
            rss_kib: longer.rss_kib.max(shorter.rss_kib),
            read: longer.read.max(shorter.read),
            written: longer.written.max(shorter.written),
            disk_read: longer.disk_read.max(shorter.disk_read),
            disk_written: longer.disk_written.max(shorter.disk_written),
            wall_us: longer.wall_us.max(shorter.wall_us),
            slice_us: longer.slice_us.max(shorter.slice_us),
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |count: Option<u64>| count.map_or("-".to_owned(), |count| count.to_string());
        let Usage { user_us, system_us, max_rss_kib, rss_kib, .. } = self;
        write!(f, "{user_us} {system_us} {max_rss_kib} {rss_kib} ")?;
        write!(f, "{} {} ", count(self.read), count(self.written))?;
        let Usage { disk_read, disk_written, wall_us, slice_us, .. } = self;
        write!(f, "{disk_read} {disk_written} {wall_us} {slice_us}")
    }
}

/// What the kernel has counted of a process's bytes: `/proc/PID/io`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Io {
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) disk_read: u64,
    pub(crate) disk_written: u64,
}

impl Io {
    /// Reads that file's text.
    pub(crate) fn parse(text: &str) -> Option<Io> {
        let named = |name: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim_start_matches(':').trim().parse().ok()
        };
        Some(Io {
            read: named("rchar")?,
            written: named("wchar")?,
            disk_read: named("read_bytes")?,
            disk_written: named("write_bytes")?,
        })
    }
}

/// What a node tells when it is asked what is used there: itself, and its sessions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeUsage {
    /// Processors.
    pub cpus: u64,
    /// Load average of one minute.
    pub load: f64,
    /// Bytes of memory.
    pub mem_total: u64,
    /// Those that are free, or could be.
    pub mem_available: u64,
    /// By number, the sessions that have run a program.
    pub sessions: BTreeMap<u32, Usage>,
}

impl NodeUsage {
    /// Reads a node's `usage`; lines that are none are passed over.
    pub fn parse(text: &str) -> Option<NodeUsage> {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next()?.split(' ').collect();
        let [cpus, load, total, available] = head[..] else { return None };
        let session = |line: &str| {
            let (number, usage) = line.split_once(' ')?;
            Some((number.parse().ok()?, Usage::parse(usage)?))
        };
        Some(NodeUsage {
            cpus: cpus.parse().ok()?,
            load: load.parse().ok()?,
            mem_total: total.parse().ok()?,
            mem_available: available.parse().ok()?,
            sessions: lines.filter_map(session).collect(),
        })
    }

    /// As the node writes it: a line of its own, and one for each session.
    pub fn text(&self) -> String {
        let NodeUsage { cpus, load, mem_total, mem_available, sessions } = self;
        let mut text = format!("{cpus} {load} {mem_total} {mem_available}\n");
        for (number, usage) in sessions {
            let _ = writeln!(text, "{number} {usage}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(base: u64) -> Usage {
        Usage {
            user_us: base,
            system_us: base + 1,
            max_rss_kib: base + 2,
            rss_kib: base + 3,
            read: Some(base + 4),
            written: Some(base + 5),
            disk_read: base + 6,
            disk_written: base + 7,
            wall_us: base + 8,
            slice_us: base + 9,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let known = some(10);
        assert_eq!(known.to_string(), "10 11 12 13 14 15 16 17 18 19");
        assert_eq!(Usage::parse(&format!("{known}\n")), Some(known));
        let unknown = Usage { read: None, written: None, ..known };
        assert_eq!(Usage::parse(&unknown.to_string()), Some(unknown));
        for bad in ["", "1 2 3", "1 2 3 4 5 6 7 8 9 x", "1 2 3 4 5 6 7 8 9 10 11"] {
            assert_eq!(Usage::parse(bad), None, "{bad}");
        }
        let sessions = [(3, some(1)), (1 << 24, unknown)].into();
        let node = NodeUsage { cpus: 2, load: 0.5, mem_total: 9, mem_available: 7, sessions };
        assert_eq!(NodeUsage::parse(&node.text()), Some(node));
        assert_eq!(NodeUsage::parse("2 0.5 9\n"), None);
    }

    #[test]
    fn a_job_has_used_what_its_ranks_have_and_lasted_as_long_as_the_longest() {
        let all = Usage::of_job([&some(10), &some(20)]).unwrap();
        assert_eq!(all.to_string(), "30 32 34 36 38 40 42 44 28 29");
        assert_eq!(Usage::of_job([]), None);
        let unknown = Usage { read: None, ..some(1) };
        assert_eq!(Usage::of_job([&some(1), &unknown]).unwrap().read, None);
    }

    #[test]
    fn the_kernels_counters_are_found_by_name() {
        let text = "rchar: 5\nwchar: 6\nsyscr: 1\nsyscw: 1\nread_bytes: 7\nwrite_bytes: 8\n\
                    cancelled_write_bytes: 9\n";
        let io = Io { read: 5, written: 6, disk_read: 7, disk_written: 8 };
        assert_eq!(Io::parse(text), Some(io));
        assert_eq!(Io::parse("rchar: 5\n"), None);
    }
}
