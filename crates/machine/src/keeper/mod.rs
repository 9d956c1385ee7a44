//! Keeping a cluster on this machine: its daemons are children of one keeper.
//!
//! ```text
//!  muster up  ──> muster daemon keeper ──┬──> muster daemon manager
//!  muster run ──> (keeper in process) ───┼──> muster daemon strober
//!                                        ├──> muster daemon node --name n0
//!                                        └──> ...
//! ```
//!
//! Who may die when:
//!
//! * **A node daemon**: the keeper removes what it left (control groups, directory, socket),
//!   tells the manager so as evidence (`lost n3 ...`), and starts it again.
//! * **The strober**: jobs that it has stopped go on, and it is started again. One that is stopped
//!   itself is killed within four seconds.
//! * **The manager**: it is started again at once, and finds its jobs in the journal. One that
//!   ends with status 0 was told `down`: the keeper ends the cluster.
//! * **The keeper**, kill -9 included: every daemon holds the read end of a pipe, the *lifeline*,
//!   as its standard input; only the keeper holds the other end. At end of file a daemon ends all
//!   that it started, removes what is its own and leaves; the last one removes the cluster's
//!   directory ([`Presence`]). There is no other way to end: `muster down` kills the keeper, and
//!   stopping a keeper in process closes the pipe.
//! * **Another daemon that is stopped** cannot follow the lifeline. Who waits for it, the keeper or
//!   `muster down`, kills it then.
//!
//! Something that dies ten times within ten seconds is given up: a node or the strober alone, or
//! with a manager that has never lived for longer the whole cluster. One that has is tried again
//! every ten seconds: its disk may be full, and jobs run on.

mod directory;
mod down;
mod present;
mod removal;
mod supervise;

pub use crate::node::shepherd::keep_descriptors;
pub use directory::{Directory, Runtime, check_name};
pub use down::{Downed, clear_dead, down};
pub use present::{EMBEDDED, Presence, State};
pub(crate) use present::{parent, start_time};
pub(crate) use removal::remove_all;

use crate::hosts::Ports;
use crate::hosts::session::Session;
use crate::line;
use crate::roster::{MANAGER, Roster};
use muster_ninep::client::{Fid, Options};
use muster_ninep::tree::OpenFlags;
use present::{KeeperLock, keeper};
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use supervise::Supervisor;

/// How long daemons get to end by themselves.
pub(crate) const PATIENCE: Duration = Duration::from_millis(3000);

/// How long the kernel may take to end what was killed.
const KILLED: Duration = Duration::from_millis(1000);

/// Why a cluster could not be brought up, or taken down.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its directory.
    #[error(transparent)]
    Directory(#[from] directory::Error),
    /// There is one of that name.
    #[error(
        "cluster {0} is up already (kept by process {pid}). Take it down first: muster \
         --cluster {0} down, or name another: --cluster NAME  [E124]",
        pid = .1.as_raw_nonzero()
    )]
    Up(String, Pid),
    /// Its keeper is there, but not among the processes that are seen.
    #[error(
        "cluster {0} is kept by process {pid}, which is not seen from here, as in a container or a \
         job of a cluster: take it down where it was brought up  [E129]",
        pid = .1.as_raw_nonzero()
    )]
    Elsewhere(String, Pid),
    /// The system has no processes or descriptors for it.
    #[error("could not start {what}: {error}{}  [E125]", limit(error))]
    Start {
        /// What was to be started.
        what: String,
        /// What the system said.
        error: io::Error,
    },
    /// Something of it does not die.
    #[error(
        "{who} of cluster {name} cannot be ended: killed, but still there (the kernel waits for \
         a device or a dead file server)  [E126]",
        who = .who.join(", ")
    )]
    Immortal {
        /// The cluster.
        name: String,
        /// Its daemons that are left.
        who: Vec<String>,
    },
}

/// Where the limit is that keeps something from being started, behind what the system says.
fn limit(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => "; look at ulimit -u, and at pids.max of the control group",
        Some(libc::EMFILE | libc::ETOOMANYREFS) => "; look at ulimit -n",
        _ => "",
    }
}

/// Tells the manager of the cluster in a directory one line of evidence.
pub type Report = Arc<dyn Fn(&Directory, &str) -> io::Result<()> + Send + Sync>;

/// Tells it by writing to its `ctl`, which stays open for as long as that manager lives.
pub fn by_file() -> Report {
    let open: Mutex<Option<Fid>> = Mutex::default();
    Arc::new(move |directory, line| {
        let mut open = open.lock().expect("no holder panics");
        let ctl = match open.take().filter(|ctl| ctl.client().ended().is_none()) {
            Some(ctl) => ctl,
            None => open_ctl(directory).map_err(io::Error::other)?,
        };
        ctl.write_at(0, format!("{line}\n").as_bytes()).map_err(io::Error::other)?;
        *open = Some(ctl);
        Ok(())
    })
}

fn open_ctl(directory: &Directory) -> Result<Fid, muster_ninep::error::Error> {
    let deadline = Some(Duration::from_secs(1));
    let options = Options { deadline, name: "the manager".into(), ..Options::default() };
    let manager = Roster::of(directory)?.line(MANAGER);
    let manager = manager.ok_or_else(|| io::Error::other("the roster has no manager"))?;
    let client = line::connect("keeper", &manager, options)?;
    let ctl = client.with_deadlines(deadline, deadline).root().walk(&[b"ctl"])?;
    ctl.open(OpenFlags(OpenFlags::WRONLY))?;
    Ok(ctl)
}

/// Puts into a cluster's directory what its daemons begin with.
pub type Prepare = Box<dyn FnOnce(&Path) -> io::Result<()> + Send>;

/// What to bring up.
pub struct Plan {
    /// The program that is all daemons: `/proc/self/exe`.
    pub program: PathBuf,
    /// Its arguments before `daemon ...`.
    pub prefix: Vec<OsString>,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// More arguments of some nodes' daemons.
    pub arguments: BTreeMap<String, Vec<OsString>>,
    /// How the manager is told of dead nodes.
    pub report: Report,
    /// Whether the manager is kept here.
    pub has_manager: bool,
    /// What is done in the directory before the daemons start.
    pub prepare: Option<Prepare>,
    /// Ports that are kept for the daemons.
    pub ports: Vec<Ports>,
    /// Hosts whose nodes belong to the cluster ([`crate::hosts`]).
    pub sessions: Vec<Session>,
    /// The cluster ends with the last of those sessions.
    pub lives_by_sessions: bool,
}

impl Plan {
    /// A cluster of `count` nodes that run this very program.
    pub fn new(count: usize, report: Report) -> Plan {
        let nodes = (0..count).map(|number| format!("n{number}")).collect();
        Plan {
            program: "/proc/self/exe".into(),
            prefix: Vec::new(),
            nodes,
            arguments: BTreeMap::new(),
            report,
            has_manager: true,
            prepare: None,
            ports: Vec::new(),
            sessions: Vec::new(),
            lives_by_sessions: false,
        }
    }
}

/// How a cluster ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ended {
    /// Daemons that had to be killed.
    pub killed: Vec<String>,
    /// What went wrong while cleaning up.
    pub trouble: Vec<String>,
}

/// A cluster that this process keeps. Dropping it takes the cluster down.
pub struct Keeper {
    directory: Arc<Directory>,
    stop: Option<PipeWriter>,
    thread: Option<JoinHandle<Ended>>,
}

impl Keeper {
    /// Brings a cluster up: returns when its daemons are started, before they answer.
    ///
    /// # Errors
    /// [`Error`] when one of that name is up, or the system refuses.
    pub fn start(runtime: &Runtime, name: &str, mut plan: Plan) -> Result<Keeper, Error> {
        let starting = |what: &str, error| Error::Start { what: what.into(), error };
        keep_descriptors().map_err(|error| starting("the keeper", error))?;
        let (directory, presence, lock) = settle(runtime, name)?;
        let directory = Arc::new(directory);
        let mut prepared = || {
            let done = plan.prepare.take().map_or(Ok(()), |prepare| prepare(directory.path()));
            done.map_err(|error| starting("what its daemons begin with", error))?;
            let log = Log::open(&directory).map_err(|error| starting("the keeper's log", error))?;
            // Without it the groups of killed nodes stay until their next daemon removes them.
            down::note_groups(&directory).map_err(|error| starting("the keeper's notes", error))?;
            let (heard, stop) = io::pipe().map_err(|error| starting("the keeper", error))?;
            Ok((log, heard, stop))
        };
        let (log, heard, stop) = match prepared() {
            Ok(all) => all,
            Err(error) => {
                let _ = presence.leave(&directory);
                return Err(error);
            }
        };
        let abandoned = |error| {
            // Nobody may be in it any more who would remove it.
            let _ = down::clear(&directory, &[]);
            starting("the keeper", error)
        };
        let made = Supervisor::new(directory.clone(), presence, lock, log, plan, heard);
        let mut supervisor = made.map_err(abandoned)?;
        if let Err((what, error)) = supervisor.start_all() {
            supervisor.end();
            return Err(Error::Start { what, error });
        }
        let thread = std::thread::Builder::new().name("keeper".into());
        let thread = Some(thread.spawn(move || supervisor.run()).map_err(abandoned)?);
        Ok(Keeper { directory, stop: Some(stop), thread })
    }

    /// The cluster's directory.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Waits until the cluster has ended by itself: its manager was told `down`, or given up.
    pub fn wait(mut self) -> Ended {
        self.join()
    }

    /// Takes the cluster down: nothing of it is left on return, in less than ten seconds; with
    /// hosts in less than fifteen.
    pub fn stop(mut self) -> Ended {
        self.stop = None;
        self.join()
    }

    fn join(&mut self) -> Ended {
        let thread = self.thread.take();
        thread.map_or_else(Ended::default, |thread| thread.join().expect("it does not panic"))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop = None;
        self.join();
    }
}

/// Becomes the keeper of cluster `name`, removing what a crash has left of an earlier one.
fn settle(runtime: &Runtime, name: &str) -> Result<(Directory, Presence, KeeperLock), Error> {
    let deadline = Instant::now() + 2 * PATIENCE;
    loop {
        if let Some(directory) = runtime.make(name)? {
            let entered = Presence::enter(&directory);
            let lock = KeeperLock::take(&directory);
            match (entered, lock) {
                (Ok(presence), Ok(Some(lock))) => return Ok((directory, presence, lock)),
                // The disk is full, for instance.
                (Ok(presence), Err(error)) => {
                    let _ = presence.leave(&directory);
                    return Err(error.into());
                }
                _ => {}
            }
        } else if let Some(directory) = runtime.open(name)? {
            if let Some(pid) = keeper(&directory)? {
                return Err(Error::Up(name.into(), pid));
            }
            down::clear(&directory, &[])?;
        }
        // Somebody made or removed it meanwhile.
        if Instant::now() > deadline {
            let error = io::Error::other("others bring up and take down the same cluster");
            return Err(Error::Start { what: format!("cluster {name}"), error });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The keeper's diary, `keeper.log`; what the daemons print goes there as well.
pub(crate) struct Log {
    file: File,
}

impl Log {
    fn open(directory: &Directory) -> io::Result<Log> {
        let mut options = std::fs::OpenOptions::new();
        let file = options.create(true).append(true).open(directory.log())?;
        Ok(Log { file })
    }

    fn note(&mut self, text: &str) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // A full disk must not end the cluster.
        let _ = writeln!(self.file, "{:.3} keeper: {text}", now.as_secs_f64());
    }

    fn output(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

#[cfg(test)]
mod tests;
