//! The daemon's side of its keeper: starts the process, hands it orders, and starts another when
//! it was killed. See the story in [`super`].

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio as CommandStdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::sockopt::{self, Timeout};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::link::{self, Order};
use super::spare::{Spares, Tie};
use super::spec::{Invalid, Spec};
use super::sys::holds;
use super::ward::Ward;
use crate::usage::Usage;

/// How long a keeper may leave an order unread, or take to end once its daemon has no more.
const PATIENCE: Duration = Duration::from_secs(10);

/// The program's standard streams. The daemon's copies are closed once they are handed over.
#[derive(Debug)]
pub struct Stdio {
    /// Descriptor 0.
    pub stdin: OwnedFd,
    /// Descriptor 1.
    pub stdout: OwnedFd,
    /// Descriptor 2.
    pub stderr: OwnedFd,
}

/// Why a shepherd could not be sent off.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The order cannot be carried out by any kernel.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The order cannot be written down: a path is not UTF-8.
    #[error("cannot encode the order: {0}")]
    Encode(#[from] serde_json::Error),
    /// No descriptors, memory or processes are left for one more shepherd.
    #[error("cannot start a shepherd: {0}")]
    Spawn(#[from] io::Error),
}

/// Starts programs under shepherds. Dropping it and all its wards ends the keeper. Inits that are
/// free count as wards.
#[derive(Debug)]
pub struct Spawner {
    exe: PathBuf,
    args: Vec<String>,
    keeper: Mutex<Option<Arc<Keeper>>>,
    spares: Arc<Spares>,
}

/// The keeper's process.
#[derive(Debug)]
pub(super) struct Keeper {
    orders: OwnedFd,
    process: Mutex<Child>,
    pub(super) pid: u32,
    /// Signals through it cannot hit a stranger.
    pub(super) pidfd: OwnedFd,
}

impl Default for Spawner {
    fn default() -> Spawner {
        Spawner::with(Path::new("/proc/self/exe"), &["shepherd"])
    }
}

impl Spawner {
    /// One whose keeper is another binary: one that calls [`child_main`](super::child_main) when
    /// it is given `args`.
    pub fn with(exe: &Path, args: &[&str]) -> Spawner {
        let args = args.iter().map(|word| (*word).to_owned()).collect();
        let spares = Arc::new(Spares::new());
        Spawner { exe: exe.to_owned(), args, keeper: Mutex::default(), spares }
    }

    /// Starts the keeper before there is a program to run, so that the first need not wait.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn prepare(&self) -> io::Result<()> {
        self.keeper(&mut self.lock()).map(drop)
    }

    /// Starts a program under a shepherd. Returns when the order is given; what becomes of it is
    /// told by [`Ward::receive`].
    ///
    /// # Errors
    /// When the order makes no sense or nobody can be given it.
    pub fn start(&self, spec: &Spec, stdio: Stdio) -> Result<Ward, Error> {
        self.start_with(spec, stdio, &[])
    }

    /// The same, with files for the program: see [`Instead`](super::Instead).
    ///
    /// # Errors
    /// As above.
    pub fn start_with(
        &self,
        spec: &Spec,
        stdio: Stdio,
        files: &[BorrowedFd<'_>],
    ) -> Result<Ward, Error> {
        spec.check()?;
        // Said here, because inside a user namespace the groups cannot be recognized.
        let is_own = spec.identity.as_ref().is_some_and(|who| holds(who).unwrap_or(false));
        let (order, long) = match is_own {
            true => write_down(&Spec { identity: None, ..spec.clone() })?,
            false => write_down(spec)?,
        };
        let Stdio { stdin, stdout, stderr } = &stdio;
        let cargo = [Some(stdin), Some(stdout), Some(stderr), long.as_ref()];
        let cargo = cargo.into_iter().flatten().map(AsFd::as_fd);
        let cargo: Vec<_> = cargo.chain(files.iter().copied()).collect();
        if let Some(tie) = self.spares.employ(&order, &cargo) {
            return Ok(Ward::new(tie, self.spares.clone()));
        }
        let changes = self.spares.changes();
        let (link, theirs) = link::pair()?;
        let fds = [&[theirs.as_fd()], &cargo[..]].concat();
        let mut current = self.lock();
        let mut keeper = self.keeper(&mut current)?;
        if let Err(error) = link::send_written(keeper.orders.as_fd(), &order, &fds) {
            if !matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) {
                return Err(error.into());
            }
            // It was killed; its programs have died with it.
            *current = None;
            keeper = self.keeper(&mut current)?;
            link::send_written(keeper.orders.as_fd(), &order, &fds)?;
        }
        drop(current);
        let tie = Tie { link, keeper, init: None, spent: Usage::default(), changes };
        Ok(Ward::new(tie, self.spares.clone()))
    }

    /// Ends the keeper, whose wards are gone, and reaps it: who leaves without that leaves a zombie
    /// where pid 1 does not reap. Another program would get another keeper.
    pub fn end(&self) {
        self.spares.close();
        let keeper = self.lock().take();
        drop(keeper);
    }

    /// The inits that wait for orders.
    pub(crate) fn spares(&self) -> Arc<Spares> {
        self.spares.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Keeper>>> {
        // It is there or not, whatever panicked.
        self.keeper.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn keeper(&self, current: &mut Option<Arc<Keeper>>) -> io::Result<Arc<Keeper>> {
        match current {
            Some(keeper) => Ok(keeper.clone()),
            None => {
                let keeper = Arc::new(Keeper::start(&self.exe, &self.args)?);
                Ok(current.insert(keeper).clone())
            }
        }
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        self.spares.close();
    }
}

impl Keeper {
    fn start(exe: &Path, args: &[String]) -> io::Result<Keeper> {
        let (orders, theirs) = link::pair()?;
        rustix::io::ioctl_fionbio(&orders, false)?;
        sockopt::set_socket_timeout(&orders, Timeout::Send, Some(PATIENCE))?;
        let mut process = Command::new(exe)
            .arg0("muster")
            .args(args)
            .env_clear()
            .stdin(CommandStdio::from(theirs))
            .stdout(CommandStdio::null())
            .stderr(CommandStdio::null())
            .spawn()?;
        match pidfd_open(Pid::from_child(&process), PidfdFlags::empty()) {
            Ok(pidfd) => {
                let pid = process.id();
                Ok(Keeper { orders, process: Mutex::new(process), pid, pidfd })
            }
            Err(error) => {
                // It cannot have been reaped by anyone else, so this kills nobody else.
                let _ = process.kill();
                let _ = process.wait();
                Err(error.into())
            }
        }
    }
}

impl Drop for Keeper {
    /// Its wards are gone, so it has little left to do.
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.orders, rustix::net::Shutdown::Both);
        // A stopped one could not reap.
        let _ = pidfd_send_signal(&self.pidfd, Signal::CONT);
        let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
        if poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&patience)) != Ok(1) {
            let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        }
        let process = self.process.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = process.wait();
    }
}

/// The order to run a spec or, if that is too long for a message, one that says so and a memfd with
/// the other.
fn write_down(spec: &Spec) -> Result<(Vec<u8>, Option<OwnedFd>), Error> {
    let order = serde_json::to_vec(&Order::Run(Some(spec)))?;
    if order.len() <= link::MESSAGE_MAX {
        return Ok((order, None));
    }
    let fd = memfd_create("muster-order", MemfdFlags::CLOEXEC).map_err(io::Error::from)?;
    let mut file = File::from(fd);
    file.write_all(&order)?;
    Ok((serde_json::to_vec(&Order::<&Spec>::Run(None))?, Some(file.into())))
}
