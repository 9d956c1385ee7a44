//! Control groups: one per session, so that it can be frozen, killed and accounted as a whole.
//!
//! ```text
//!  <mount of cgroup2>/<group of this daemon>/muster-<name>/<session>
//! ```
//!
//! Only version 2 is used, and of it only what every group has: `cgroup.procs`, `cgroup.kill`,
//! `cgroup.freeze` and `cgroup.events`. Controllers may be missing, or mounted as version 1.
//! Where the daemon may not make groups it says why, and sessions rest on their pid namespaces
//! alone.
//!
//! A daemon that was killed leaves its groups behind, because the kernel removes none. The next
//! one of the same name calls [`Hierarchy::sweep`] first.

use std::fs;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::mounts;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

/// How long to sleep between two looks where the kernel offers nothing to wait for.
const PAUSE: Duration = Duration::from_millis(2);

/// How often is looked at a group whose last process is waited for.
const LOOK: Duration = Duration::from_millis(20);

/// Why a group could not be made, changed or removed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name would leave its place in the tree.
    #[error("{0:?} is no name for a control group")]
    Name(String),
    /// The kernel refused.
    #[error("control group {path}: {error}", path = .path.display())]
    Kernel {
        /// The file or directory.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// Processes that do not die: they wait for a device or a dead file server.
    #[error("control group {path}: still populated after {waited:?}", path = .path.display())]
    Populated {
        /// The group.
        path: PathBuf,
        /// The caller's patience.
        waited: Duration,
    },
}

/// Why this daemon has to do without control groups: a sentence for its log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no control groups: {0}")]
pub struct Unavailable(pub String);

/// The place in the cgroup2 tree where this daemon may make groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    own: PathBuf,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    path: PathBuf,
}

impl Hierarchy {
    /// Finds the daemon's own cgroup2 group and tries whether it may make groups there.
    pub fn detect() -> Result<Hierarchy, Unavailable> {
        let read = |path: &str| {
            fs::read_to_string(path).map_err(|error| Unavailable(format!("{path}: {error}")))
        };
        let own = locate(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?)?;
        probe(&own)?;
        Ok(Hierarchy { own })
    }

    /// The place that a process in another group has found.
    pub fn at(own: impl Into<PathBuf>) -> Hierarchy {
        Hierarchy { own: own.into() }
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.own
    }

    /// Makes the group of a session of the daemon `name`.
    pub fn create(&self, name: &str, session: &str) -> Result<Cgroup, Error> {
        let parent = self.group(name)?;
        let path = parent.join(checked(session)?);
        let failed = |path: &PathBuf, error| Error::Kernel { path: path.clone(), error };
        match fs::create_dir(&path) {
            // The daemon's first.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match fs::create_dir(&parent) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    result => result.map_err(|error| failed(&parent, error))?,
                }
                fs::create_dir(&path).map_err(|error| failed(&path, error))?;
            }
            result => result.map_err(|error| failed(&path, error))?,
        }
        Ok(Cgroup { path })
    }

    /// Kills and removes all that a daemon `name` has left behind. Nothing to do is no error.
    pub fn sweep(&self, name: &str, patience: Duration) -> Result<(), Error> {
        let whole = Cgroup { path: self.group(name)? };
        whole.kill(patience)?;
        whole.remove(patience)
    }

    /// Where the groups of the daemon `name` are.
    pub fn group(&self, name: &str) -> Result<PathBuf, Error> {
        Ok(self.own.join(format!("muster-{}", checked(name)?)))
    }
}

/// A name that is one component of a path.
fn checked(name: &str) -> Result<&str, Error> {
    let bad = name.is_empty() || name.starts_with('.') || name.contains(['/', '\0', '\n']);
    if bad { Err(Error::Name(name.to_owned())) } else { Ok(name) }
}

impl Cgroup {
    /// The group at a path, which need not exist.
    pub(crate) fn at(path: PathBuf) -> Cgroup {
        Cgroup { path }
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Kills every process in it and below, frozen ones included, and waits until none is left. A
    /// group that does not exist is dead.
    pub fn kill(&self, patience: Duration) -> Result<(), Error> {
        match self.write("cgroup.kill", "1") {
            Err(error) if !is_gone(&error) => Err(self.kernel("cgroup.kill", error)),
            _ => self.wait_until_empty(patience),
        }
    }

    /// Stops every process in it, new ones too. Returns before all of them have stopped.
    pub fn freeze(&self) -> Result<(), Error> {
        self.write("cgroup.freeze", "1").map_err(|error| self.kernel("cgroup.freeze", error))
    }

    /// Lets them run again.
    pub fn thaw(&self) -> Result<(), Error> {
        self.write("cgroup.freeze", "0").map_err(|error| self.kernel("cgroup.freeze", error))
    }

    /// Microseconds of processor time, in user mode and in the kernel, of all that has ever run in
    /// it. Every group has these, whatever its controllers.
    pub fn cpu(&self) -> Option<(u64, u64)> {
        let stat = fs::read_to_string(self.path.join("cpu.stat")).ok()?;
        Some((number(&stat, "user_usec")?, number(&stat, "system_usec")?))
    }

    /// Microseconds in which it was to stand still, because it or one above it was frozen. Linux
    /// tells since 6.18.
    pub fn frozen_us(&self) -> Option<u64> {
        let stat = fs::read_to_string(self.path.join("cgroup.stat.local")).ok()?;
        number(&stat, "frozen_usec")
    }

    /// Whether any process lives in it or below; `None` when it does not exist.
    pub fn populated(&self) -> Result<Option<bool>, Error> {
        self.event("populated")
    }

    /// Whether all of it has stopped; `None` when it does not exist.
    pub fn frozen(&self) -> Result<Option<bool>, Error> {
        self.event("frozen")
    }

    fn event(&self, name: &str) -> Result<Option<bool>, Error> {
        match fs::read_to_string(self.path.join("cgroup.events")) {
            Ok(events) => Ok(Some(event(&events, name))),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(self.kernel("cgroup.events", error)),
        }
    }

    /// Removes it with the groups below it. They must be empty, or become so in time.
    pub fn remove(&self, patience: Duration) -> Result<(), Error> {
        let deadline = Instant::now() + patience;
        for path in self.tree_bottom_up()? {
            loop {
                match fs::remove_dir(&path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                    // The last process is still on its way out.
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        if Instant::now() >= deadline {
                            return Err(Error::Populated { path, waited: patience });
                        }
                        std::thread::sleep(PAUSE);
                    }
                    Err(error) => return Err(Error::Kernel { path, error }),
                    Ok(()) => break,
                }
            }
        }
        Ok(())
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        // Not fs::write: creating is not what is meant where the file does not exist.
        let mut file = fs::OpenOptions::new().write(true).open(self.path.join(file))?;
        io::Write::write_all(&mut file, text.as_bytes())
    }

    fn kernel(&self, file: &str, error: io::Error) -> Error {
        Error::Kernel { path: self.path.join(file), error }
    }

    /// Waits for the kernel's word that the last process has left.
    fn wait_until_empty(&self, patience: Duration) -> Result<(), Error> {
        let deadline = Instant::now() + patience;
        let failed = |error| self.kernel("cgroup.events", error);
        let mut file = match fs::File::open(self.path.join("cgroup.events")) {
            Err(error) if is_gone(&error) => return Ok(()),
            result => result.map_err(failed)?,
        };
        loop {
            let mut events = String::new();
            match file.rewind().and_then(|()| file.read_to_string(&mut events)) {
                Err(error) if is_gone(&error) => return Ok(()),
                result => result.map_err(failed)?,
            };
            if !event(&events, "populated") {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Error::Populated { path: self.path.clone(), waited: patience });
            }
            // The kernel raises PRI when the file has changed since it was read; and tells nobody
            // that another one, who watches it too, has removed the group.
            let timeout = Timespec::try_from(left.min(LOOK)).ok();
            match poll(&mut [PollFd::new(&file, PollFlags::PRI)], timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
    }

    /// The group and all below it, children before parents.
    fn tree_bottom_up(&self) -> Result<Vec<PathBuf>, Error> {
        let mut tree = vec![self.path.clone()];
        let mut next = 0;
        while let Some(dir) = tree.get(next).cloned() {
            next += 1;
            let failed = |error| Error::Kernel { path: dir.clone(), error };
            let entries = match fs::read_dir(&dir) {
                Err(error) if is_gone(&error) => continue,
                result => result.map_err(failed)?,
            };
            for entry in entries {
                let entry = entry.map_err(failed)?;
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    tree.push(entry.path());
                }
            }
        }
        tree.reverse();
        Ok(tree)
    }
}

/// A group that is removed while its files are open answers ENODEV.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ENODEV)
}

/// The value of a name in `cpu.stat` or `cgroup.stat.local`.
fn number(stat: &str, name: &str) -> Option<u64> {
    let named = stat.lines().filter_map(|line| line.split_once(' ')).find(|line| line.0 == name);
    named?.1.parse().ok()
}

/// The value of a flag in `cgroup.events`.
fn event(events: &str, name: &str) -> bool {
    events.lines().any(|line| line.split_once(' ') == Some((name, "1")))
}

/// Where the caller's own group is, from the text of mountinfo and of `/proc/self/cgroup`.
fn locate(mountinfo: &str, membership: &str) -> Result<PathBuf, Unavailable> {
    let own = membership
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .ok_or_else(|| Unavailable("this process is in no cgroup2 group".to_owned()))?;
    let mut seen = None;
    for mount in mounts::read(mountinfo.as_bytes()).filter(|mount| mount.kind == "cgroup2") {
        // A container may see only a part of the tree, which need not hold its own group.
        if let Ok(inside) = Path::new(own).strip_prefix(&mount.root) {
            return Ok(mount.at.join(inside));
        }
        seen = Some(mount.at);
    }
    Err(Unavailable(match seen {
        None => "no cgroup2 file system is mounted".to_owned(),
        Some(point) => format!("group {own} is not visible under {}", point.display()),
    }))
}

/// How many processes of the same number may probe at the same time.
const PROBES_MAX: usize = 1000;

/// Makes a group and removes it: nothing less tells whether that is allowed.
fn probe(own: &Path) -> Result<(), Unavailable> {
    let refused =
        |path: &Path, error: io::Error| Err(Unavailable(format!("{}: {error}", path.display())));
    // Moving a process takes write access to the list it leaves.
    let procs = own.join("cgroup.procs");
    if let Err(error) = accessat(CWD, &procs, Access::WRITE_OK, AtFlags::EACCESS) {
        return refused(&procs, error.into());
    }
    // A name may be taken: by one of the same number in another container with the same groups,
    // or by one that was killed here.
    let mut names = (0..PROBES_MAX).map(|n| format!("muster-probe-{}-{n}", std::process::id()));
    let path = loop {
        let Some(name) = names.next() else {
            return Err(Unavailable(format!("{}: {PROBES_MAX} probes are left", own.display())));
        };
        match fs::create_dir(own.join(&name)) {
            Ok(()) => break own.join(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return refused(&own.join(name), error),
        }
    };
    let kind = fs::read_to_string(path.join("cgroup.type"));
    let removed = fs::remove_dir(&path);
    match (kind, removed) {
        (Err(error), _) | (_, Err(error)) => refused(&path, error),
        (Ok(kind), Ok(())) if kind.trim() == "domain" => Ok(()),
        // A threaded tree takes threads, no processes.
        (Ok(kind), Ok(())) => {
            Err(Unavailable(format!("groups in {} are {}", own.display(), kind.trim())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/a\\040b rw,relatime shared:9 master:1 - cgroup2 cgroup2 rw
";

    /// The hierarchy of this machine, if it has one for us: root has where one can be written to.
    fn detected() -> Option<Hierarchy> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "));
        let mount = mount.and_then(|line| line.split(' ').nth(4));
        let is_writable = |path| accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
        match Hierarchy::detect() {
            Ok(hierarchy) => Some(hierarchy),
            Err(reason) => {
                let is_due = rustix::process::geteuid().is_root() && mount.is_some_and(is_writable);
                assert!(!is_due, "{reason}");
                None
            }
        }
    }

    #[test]
    fn own_group_is_found_under_any_mount() {
        let at = |mounts: &str, own: &str| locate(mounts, own).map_err(|reason| reason.0);
        let hybrid = |own: &str| at(HYBRID, own);
        assert_eq!(hybrid("3:cpu:/x\n0::/\n"), Ok("/sys/fs/cgroup/a b".into()));
        assert_eq!(hybrid("0::/user/1\n"), Ok("/sys/fs/cgroup/a b/user/1".into()));
        // A container that shows only its part.
        let part = "9 8 0:1 /pod/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        assert_eq!(at(part, "0::/pod/c1/x\n"), Ok("/sys/fs/cgroup/x".into()));
        let error = at(part, "0::/other\n").unwrap_err();
        assert_eq!(error, "group /other is not visible under /sys/fs/cgroup");
        let error = at("", "0::/\n").unwrap_err();
        assert_eq!(error, "no cgroup2 file system is mounted");
        let error = hybrid("3:cpu:/\n").unwrap_err();
        assert_eq!(error, "this process is in no cgroup2 group");
        assert!(at("nonsense\n - cgroup2\n", "0::/\n").is_err());
    }

    /// As in two containers that see the same groups.
    #[test]
    fn a_probe_of_another_process_of_the_same_number_is_no_refusal() {
        let Some(hierarchy) = detected() else { return };
        let other = hierarchy.path().join(format!("muster-probe-{}-0", std::process::id()));
        // Another test's probe may have it.
        while let Err(error) = fs::create_dir(&other) {
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            std::thread::yield_now();
        }
        let found = Hierarchy::detect();
        fs::remove_dir(&other).unwrap();
        assert_eq!(found.unwrap().path(), hierarchy.path());
    }

    #[test]
    fn events_are_read_by_name() {
        assert!(event("populated 1\nfrozen 0\n", "populated"));
        assert!(!event("populated 1\nfrozen 0\n", "frozen"));
        assert!(!event("", "populated"));
        assert_eq!(number("usage_usec 9\nuser_usec 5\nsystem_usec 4\n", "user_usec"), Some(5));
        assert_eq!(number("user_usec\n", "user_usec"), None);
    }
}
