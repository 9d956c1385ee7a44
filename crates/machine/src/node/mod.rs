//! The node daemon: what runs on every machine of the cluster.
//!
//! It serves the XCPU tree (`docs/files.md`, section 1): a session for every process tree, made
//! by opening `clone`, driven by writing to its files. Threads: the 9P server's loop, the
//! [`watch`] that moves the processes' streams and sees them end, the [`gateway`] desk, and a
//! [`Lane`] wherever a command may wait.
//!
//! [`Lane`]: crate::files::lane::Lane

mod account;
mod beat;
mod binding;
pub mod cgroup;
mod ctl;
pub mod daemon;
mod directory;
mod facts;
mod gateway;
mod giving;
mod launch;
mod mpi;
mod noexec;
pub mod orders;
mod pace;
pub mod processor;
mod refusal;
mod session;
pub mod shepherd;
pub mod tally;
pub mod tree;
mod unpacking;
mod views;
mod vote;
mod watch;

use crate::files::text::Text;
use crate::keeper::remove_all;
use crate::launch::LIGHT;
use crate::memory::Memory;
use crate::roster::Roster;
use crate::strober::place::Place;
pub(crate) use ctl::signal;
use directory::Directories;
use muster_base::limits::SESSIONS_MAX;
use muster_ninep::error::{Errno, Result, fail};
use noexec::Noexec;
use orders::Light;
use processor::Processor;
use session::Session;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak, mpsc};
use std::time::Instant;
use tree::Files;
use watch::Watch;

/// The directory in a session's `fs/` in which the loader of its program looks first.
pub const LIBRARIES: &str = ".libs";

/// What a node is told at its start.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Its name in the cluster.
    pub name: String,
    /// Where it is reached, as other nodes write it.
    pub address: String,
    /// A directory of its own, for the sessions' `fs/`.
    pub directory: PathBuf,
    /// Name of its control group among those of this machine.
    pub group: String,
    /// The directory of the daemons of this machine.
    pub home: PathBuf,
    /// Its processor.
    pub processor: Processor,
    /// Who belongs to the cluster.
    pub roster: Roster,
    /// Where the ranks of jobs are, so that a job can be stopped as a whole.
    pub place: Place,
}

/// One node.
pub struct Node {
    setup: Setup,
    /// Differs each time the daemon starts.
    instance: u64,
    started: Instant,
    /// Where nothing may be executed in its directory.
    noexec: Option<Noexec>,
    /// Where ranks look for the MPI library first, if this program has one.
    mpi: Option<PathBuf>,
    /// What new sessions start with.
    env: Text,
    ns: Text,
    state: Text,
    directories: Arc<Directories>,
    watch: Watch,
    /// What has it join the manager again.
    again: Mutex<Option<mpsc::Sender<()>>>,
    /// What ranks have to say to the manager.
    reports: orders::Reports,
    /// Those of its jobs.
    gateways: gateway::Gateways,
    /// Starts the programs.
    spawner: shepherd::Spawner,
    /// Where sessions get control groups; the reason if nowhere.
    cgroups: std::result::Result<cgroup::Hierarchy, cgroup::Unavailable>,
    sessions: Mutex<Table>,
    /// This node's part of the global memory, once it takes part.
    memory: OnceLock<Weak<Memory>>,
}

#[derive(Default)]
struct Table {
    last: u32,
    sessions: BTreeMap<u32, Arc<Files>>,
}

impl Table {
    /// A number that no session has, nor ever a light rank's.
    fn next(&mut self) -> u32 {
        loop {
            self.last = self.last % (LIGHT - 1) + 1;
            // There are fewer sessions than numbers.
            if !self.sessions.contains_key(&self.last) {
                return self.last;
            }
        }
    }
}

impl Node {
    /// A node without sessions.
    ///
    /// # Errors
    /// When its directory cannot be made or no thread is left.
    pub fn start(setup: Setup) -> std::io::Result<Arc<Node>> {
        std::fs::create_dir_all(&setup.directory)?;
        let cgroups = cgroup::Hierarchy::detect();
        if let Ok(hierarchy) = &cgroups {
            // Left behind by a daemon of this name that was killed.
            let _ = hierarchy.sweep(&setup.group, std::time::Duration::from_secs(5));
        }
        let _ = setup.place.sweep(&setup.name, std::time::Duration::from_secs(5));
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let spawner = shepherd::Spawner::default();
        let directories = Directories::new(&setup.directory);
        Ok(Arc::new(Node {
            instance: now.unwrap_or_default().as_nanos() as u64,
            started: Instant::now(),
            noexec: Noexec::at(&setup.directory),
            mpi: mpi::provide(&setup.directory),
            env: Text::new(facts::environment()),
            ns: Text::default(),
            state: Text::default(),
            watch: Watch::start(spawner.spares(), directories.clone())?,
            directories,
            again: Mutex::default(),
            reports: orders::Reports::default(),
            gateways: gateway::Gateways::default(),
            spawner,
            cgroups,
            sessions: Mutex::default(),
            memory: OnceLock::new(),
            setup,
        }))
    }

    /// Does beforehand what the first program would have to wait for.
    ///
    /// # Errors
    /// When no process is left.
    pub fn prepare(&self) -> std::io::Result<()> {
        self.spawner.prepare()
    }

    /// What is sent there has the node join again.
    fn joins_again_by(&self, sender: mpsc::Sender<()>) {
        *self.again.lock().expect("no holder panics") = Some(sender);
    }

    /// The manager has lost its connection to this node, and is to make another.
    fn join_again(&self) {
        if let Some(sender) = self.again.lock().expect("no holder panics").take() {
            // It does so already if nobody listens.
            let _ = sender.send(());
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.sessions.lock().expect("no holder panics")
    }

    /// Makes a session, of a view or of none.
    fn open_session(self: &Arc<Node>, view: Option<Arc<str>>) -> Result<Arc<Files>> {
        let mut table = self.table();
        if table.sessions.len() >= SESSIONS_MAX {
            let text = format!("this node has {SESSIONS_MAX} sessions, its limit");
            return fail(Errno::AGAIN, text);
        }
        let number = table.next();
        drop(table);
        let files = self.add(number, None, view)?;
        // Who has made it is to hear now if there is nothing left to make them with.
        let made = files.fs().map(drop);
        // Nobody comes in whose leaving would end it.
        made.inspect_err(|_| files.session().wipe())?;
        Ok(files)
    }

    /// Makes the session of a light rank.
    fn open_light(
        self: &Arc<Node>,
        number: u32,
        light: Light,
        view: Option<Arc<str>>,
    ) -> Result<Arc<Session>> {
        let table = self.table();
        if table.sessions.len() >= SESSIONS_MAX || table.sessions.contains_key(&number) {
            let count = table.sessions.len();
            let text = format!("this node has {count} sessions, {SESSIONS_MAX} at most");
            return fail(Errno::AGAIN, format!("{text}, and no place for number {number}"));
        }
        drop(table);
        Ok(self.add(number, Some(light), view)?.session().clone())
    }

    fn add(
        self: &Arc<Node>,
        number: u32,
        light: Option<Light>,
        view: Option<Arc<str>>,
    ) -> Result<Arc<Files>> {
        let directory = self.directories.make(number)?;
        let session = Session::new(self, number, directory, (light, view));
        let files = Files::new(&session);
        self.table().sessions.insert(number, files.clone());
        Ok(files)
    }

    fn session(&self, number: u32) -> Option<Arc<Files>> {
        self.table().sessions.get(&number).cloned()
    }

    fn all_sessions(&self) -> Vec<Arc<Files>> {
        self.table().sessions.values().cloned().collect()
    }

    /// Takes a session that was wiped out of the table.
    fn forget(&self, number: u32) {
        let forgotten = self.table().sessions.remove(&number);
        drop(forgotten);
    }

    /// Ends every session, and waits until all processes are gone.
    pub fn shut_down(&self) {
        for files in self.all_sessions() {
            files.session().wipe();
        }
        self.gateways.forget(|_| true);
        if let Ok(hierarchy) = &self.cgroups {
            let _ = hierarchy.sweep(&self.setup.group, std::time::Duration::from_secs(5));
        }
        let _ = self.setup.place.sweep(&self.setup.name, std::time::Duration::from_secs(5));
        self.spawner.end();
        // What stays the keeper tells of.
        let _ = remove_all(&self.setup.directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::Directory;
    use crate::scratch::Scratch;
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

    /// One that no manager knows.
    pub(super) fn node(scratch: &Scratch) -> Arc<Node> {
        std::fs::set_permissions(&**scratch, PermissionsExt::from_mode(0o700)).unwrap();
        let home = scratch.join("default");
        std::fs::DirBuilder::new().mode(0o700).create(&home).unwrap();
        let roster = Roster::of(&Directory::at(&home).unwrap()).unwrap();
        let setup = Setup {
            name: "n0".to_owned(),
            address: String::new(),
            directory: home.join("n0"),
            group: format!("{}-n0", scratch.file_name().unwrap().display()),
            place: Place::Lists(home.join("jobs")),
            processor: Processor::default(),
            home,
            roster,
        };
        Node::start(setup).unwrap()
    }

    /// After 16 million of them one took the place of a rank's that ran, and removed its files.
    #[test]
    fn what_clone_makes_takes_no_place_of_a_rank_nor_of_a_session_that_is_there() {
        let scratch = Scratch::new("numbers-node");
        let node = node(&scratch);
        let first = node.open_session(None).unwrap();
        node.table().last = LIGHT - 2;
        let others = [(); 2].map(|()| node.open_session(None).unwrap());
        assert_eq!(first.session().number, 1);
        assert_eq!(others.map(|files| files.session().number), [LIGHT - 1, 2]);
        node.shut_down();
    }
}
