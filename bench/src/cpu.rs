//! Processor time of a group of processes, as the kernel's cpuacct counts it.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};

/// Where cpuacct may be mounted.
const ROOTS: [&str; 2] = ["/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/cpu,cpuacct"];

/// How long what a command leaves to be done may take.
const SETTLE: Duration = Duration::from_millis(300);

/// Counts what is started within it, and all that this starts.
pub struct Meter {
    root: PathBuf,
    group: PathBuf,
}

impl Meter {
    /// Makes one; none where the kernel has no such counter, or keeps it to itself.
    pub fn new(name: &str) -> Option<Meter> {
        let root = ROOTS.map(PathBuf::from).into_iter().find(|root| root.is_dir())?;
        let group = root.join(format!("muster-bench-{}-{name}", std::process::id()));
        crate::folder::watch(&group);
        fs::create_dir(&group).ok()?;
        Some(Meter { root, group })
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
        enter(&self.root)?;
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
        let text = fs::read_to_string(self.group.join("cpuacct.usage"))?;
        Ok(text.trim().parse::<f64>()? / 1e6)
    }
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
