//! How a rank meets its node's daemon.
//!
//! The daemon listens at one socket, whatever jobs there are ([`Desk`]). A rank connects and says
//! which one of which job it is ([`super::Rank::meet`]). Whether that is so is for the daemon to
//! see: [`Asking`] has the process that the kernel vouches for. The same socket is then the one by
//! which the rank is admitted (`control.rs`), or carries one sentence that says why not.
//!
//! *Who may die or stop when.* A rank that says nothing is kept as long as there is room, and keeps
//! nobody waiting. One whose daemon ends meanwhile sees the socket end, one whose daemon is stopped
//! waits until its deadline.

use super::control::{self, ASK};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::transport::name::SocketName;
use crate::transport::shared::strangers::Strangers;
use crate::transport::shared::{meet, socket, sys};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// What a rank calls whom it asks.
pub(super) const DAEMON: &str = "the node's daemon";

/// Connects to the daemon that listens at a path, and asks to be let in.
pub(super) fn ask(path: &Path, (job, rank): (u32, u32), deadline: Deadline) -> Result<OwnedFd> {
    let name = format!("{DAEMON} at {}", path.display());
    let socket = meet::reach(path, &name, &format!("rank {rank} of job {job}"), deadline)?;
    let gone = |errno: Errno| {
        let evidence = format!("it cannot be asked: {errno}");
        Error::Dead { peer: name.clone(), evidence }
    };
    socket::send(socket.as_fd(), &control::ask(job, rank), None).map_err(gone)?;
    Ok(socket)
}

/// Where ranks of a node ask for the gateways of their jobs.
pub struct Desk {
    socket: Arc<OwnedFd>,
    name: String,
    _name: SocketName,
    /// Who has said nothing so far.
    strangers: Strangers,
}

/// Has a [`Desk`] close, from any thread.
#[derive(Clone)]
pub struct Shutter(Arc<OwnedFd>);

impl Shutter {
    /// Closes it.
    pub fn close(&self) {
        // It fails for no socket that listens.
        let _ = shutdown(&self.0, Shutdown::Both);
    }
}

/// A rank that asks, as it says itself.
pub struct Asking {
    /// The job's number.
    pub job: u32,
    /// The rank's number in the job.
    pub rank: u32,
    /// Its process, as this one sees it; none where it does not.
    pub pid: Option<u32>,
    /// The user that it runs as.
    pub uid: u32,
    pub(super) socket: OwnedFd,
}

impl Asking {
    /// Tells it why it is not let in: a part of a sentence that begins with who refuses.
    pub fn refuse(self, why: &str) {
        refuse(&self.socket, why);
    }
}

pub(super) fn refuse(socket: &OwnedFd, why: &str) {
    // Who is gone again need not know.
    let _ = socket::send(socket.as_fd(), &control::refusal(why), None);
}

impl Desk {
    /// Listens at a path.
    ///
    /// # Errors
    /// [`Error::is_taken`] where somebody else does, and what the system says.
    pub fn open(path: &Path) -> Result<Desk> {
        let (socket, _name) = meet::listen(path)?;
        let name = path.display().to_string();
        Ok(Desk { socket: Arc::new(socket), name, _name, strangers: Strangers::default() })
    }

    /// What closes it.
    pub fn shutter(&self) -> Shutter {
        Shutter(self.socket.clone())
    }

    /// Waits for the next rank that asks.
    ///
    /// # Errors
    /// [`Error::Deadline`]; [`Error::Closed`] once it was closed; [`Error::Exhausted`], after which
    /// it goes on.
    pub fn next(&mut self, deadline: Deadline) -> Result<Asking> {
        loop {
            if let Some(asking) = self.hear() {
                return Ok(asking);
            }
            match self.strangers.let_in(&self.socket) {
                // It was closed, as the look shows.
                Ok(()) | Err(Errno::INVAL) => {}
                Err(errno) => return Err(Error::io("cannot accept a connection", errno)),
            }
            let (mut all, until) = self.strangers.polled(&self.socket, deadline);
            if !meet::readable(&mut all, until)? && deadline.left().is_none() {
                let (whom, what) = ("the ranks of this node", "that one asks for the gateway");
                return Err(deadline.missed(&self.name, whom, what));
            }
            if all[0].revents().contains(PollFlags::HUP) {
                return Err(Error::Closed { peer: self.name.clone() });
            }
        }
    }

    /// The first who has said who it is.
    fn hear(&mut self) -> Option<Asking> {
        for index in (0..self.strangers.len()).rev() {
            let mut bytes = [0; ASK + 1];
            let received = socket::receive(self.strangers.at(index), &mut bytes);
            if matches!(received, Err(Errno::AGAIN | Errno::INTR)) {
                continue;
            }
            let socket = self.strangers.remove(index);
            let Ok((count @ 1.., _)) = received else { continue };
            let Ok((pid, uid)) = sys::credentials(socket.as_fd()) else { continue };
            match control::read_ask(&bytes[..count]) {
                Ok((job, rank)) => return Some(Asking { job, rank, pid, uid, socket }),
                Err(why) => refuse(&socket, &why),
            }
        }
        None
    }
}
