//! Processor time of a group of processes, as the kernel counts it: cpuacct where there are control
//! groups of version 1, and otherwise any group of version 2.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};
use muster_machine::mounts::{self, Mount};

/// How long what a command leaves to be done may take.
const SETTLE: Duration = Duration::from_millis(300);

/// Counts what is started within it, and all that this starts.
pub struct Meter {
    /// The group that we come from.
    own: PathBuf,
    group: PathBuf,
}

impl Meter {
    /// Makes one; none where the kernel has no such counter, or keeps it to itself.
    pub fn new(name: &str) -> Option<Meter> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = own(&mounts, &fs::read_to_string("/proc/self/cgroup").ok()?)?;
        let group = own.join(format!("muster-bench-{}-{name}", std::process::id()));
        crate::folder::watch(&group);
        fs::create_dir(&group).ok()?;
        let meter = Meter { own, group };
        meter.used().is_ok().then_some(meter)
    }

    /// Does something as a member of the group: what it starts is, too.
    ///
    /// # Errors
    /// Its own, and when we cannot go there.
    pub fn within<T>(&self, deed: impl FnOnce() -> Result<T>) -> Result<T> {
        let enter = |group: &PathBuf| {
            let procs = group.join("cgroup.procs");
            fs::write(&procs, "0").with_context(|| format!("{}", procs.display()))
        };
        enter(&self.group)?;
        let done = deed();
        enter(&self.own)?;
        done
    }

    /// Milliseconds that a deed costs until all that it has started has settled, beyond what the
    /// group uses anyhow.
    ///
    /// # Errors
    /// Its own, and when the counter cannot be read.
    pub fn cost(&self, deed: impl FnOnce() -> Result<()>) -> Result<f64> {
        let before = self.used()?;
        sleep(SETTLE);
        let (idle, begun) = (self.used()? - before, std::time::Instant::now());
        let before = self.used()?;
        self.within(deed)?;
        sleep(SETTLE);
        let share = begun.elapsed().as_secs_f64() / SETTLE.as_secs_f64();
        Ok((self.used()? - before - idle * share).max(0.0))
    }

    /// Milliseconds used so far.
    ///
    /// # Errors
    /// When the counter cannot be read.
    pub fn used(&self) -> Result<f64> {
        if let Ok(text) = fs::read_to_string(self.group.join("cpuacct.usage")) {
            return Ok(text.trim().parse::<f64>()? / 1e6);
        }
        let text = fs::read_to_string(self.group.join("cpu.stat"))?;
        let micros = text.lines().find_map(|line| line.strip_prefix("usage_usec "));
        Ok(micros.context("cpu.stat tells no usage")?.trim().parse::<f64>()? / 1e3)
    }
}

/// Our group in the hierarchy that counts, by the texts of mountinfo and of `/proc/self/cgroup`.
fn own(mounts: &str, groups: &str) -> Option<PathBuf> {
    let mount = |kind: &str, option: &str| {
        let is_it = |mount: &Mount| {
            let has = option.is_empty() || mount.options.split(',').any(|word| word == option);
            mount.kind == kind && has
        };
        Some(mounts::read(mounts.as_bytes()).find(is_it)?.at)
    };
    // NUMBER:CONTROLLERS:PATH
    let path = |controller: &str| {
        groups.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            controllers.split(',').any(|word| word == controller).then_some(path)
        })
    };
    let one = || Some((mount("cgroup", "cpuacct")?, path("cpuacct")?));
    let two = || Some((mount("cgroup2", "")?, path("")?));
    let (mount, path) = one().or_else(two)?;
    let own = mount.join(path.trim_start_matches('/'));
    // A container may be shown a part of it only.
    Some(if own.is_dir() { own } else { mount })
}

impl Drop for Meter {
    fn drop(&mut self) {
        // The last of them may be on their way out.
        for _ in 0..100 {
            if fs::remove_dir(&self.group).is_ok() {
                return;
            }
            sleep(Duration::from_millis(20));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                       31 25 0:27 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n";
    const TWO: &str = "30 25 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn time_is_counted_by_either_version_of_control_groups() {
        let found = |mounts, groups| own(mounts, groups).map(|path| path.display().to_string());
        let one = found(ONE, "3:cpuacct:/no/such\n2:cpu:/\n0::/\n");
        assert_eq!(one.as_deref(), Some("/sys/fs/cgroup/cpuacct"));
        // Nearly all machines of today have version 2 only.
        assert_eq!(found(TWO, "0::/no/such.scope\n").as_deref(), Some("/sys/fs/cgroup"));
        assert_eq!(found("", "0::/\n"), None);
    }
}
