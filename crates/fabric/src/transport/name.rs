//! A Unix socket's name in the file system: taken, shown to its user only, and removed with it.

use crate::address::Address;
use crate::error::Error;
use muster_base::limits::{BACKLOG, NAME_LOCK_TIME};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{SocketAddrUnix, SocketFlags, bind, connect, listen, socket_with, sockopt};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between two tries for the lock.
const AGAIN: Duration = Duration::from_millis(1);

/// The name of a listening socket.
#[derive(Debug)]
pub(crate) struct SocketName {
    path: PathBuf,
    /// Device and inode.
    file: (u64, u64),
}

impl SocketName {
    /// Has a socket listen at a path. A socket that is there and that nobody listens at was left
    /// by a process that was killed; it is replaced. Two who do so at once are kept apart by a
    /// lock on the directory.
    ///
    /// # Errors
    /// [`Errno::ADDRINUSE`] where somebody listens, or something else than a socket is;
    /// [`Errno::BUSY`] when somebody keeps the lock, which in a common directory anybody can.
    pub(crate) fn take(socket: &OwnedFd, path: &Path) -> rustix::io::Result<SocketName> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(parent.unwrap_or(Path::new(".")), flags, Mode::empty())?;
        lock(&folder)?;
        let address = SocketAddrUnix::new(path)?;
        match bind(socket, &address) {
            Err(Errno::ADDRINUSE) if is_left_over(socket, path, &address)? => {
                rustix::fs::unlink(path)?;
                bind(socket, &address)?;
            }
            bound => bound?,
        }
        // Nobody can connect before listen, so nobody sees the mode that the umask gave.
        rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR)?;
        listen(socket, BACKLOG)?;
        let there = rustix::fs::lstat(path)?;
        Ok(SocketName { path: path.to_owned(), file: (there.st_dev, there.st_ino) })
    }
}

impl Drop for SocketName {
    fn drop(&mut self) {
        // Somebody else may have put another one there.
        let ours = |there: &rustix::fs::Stat| (there.st_dev, there.st_ino) == self.file;
        if rustix::fs::lstat(&self.path).as_ref().is_ok_and(ours) {
            let _ = rustix::fs::unlink(&self.path);
        }
    }
}

/// That somebody keeps the directory's lock is a wait which has ended.
pub(crate) fn kept_waiting(address: &Address) -> Error {
    Error::Deadline {
        who: address.to_string(),
        whom: "somebody who keeps its directory locked".to_owned(),
        what: "the lock of the directory".to_owned(),
        waited: NAME_LOCK_TIME,
    }
}

/// Locks a directory until it is closed.
fn lock(folder: &OwnedFd) -> rustix::io::Result<()> {
    let since = Instant::now();
    loop {
        match rustix::fs::flock(folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::AGAIN) if since.elapsed() < NAME_LOCK_TIME => std::thread::sleep(AGAIN),
            Err(Errno::AGAIN) => return Err(Errno::BUSY),
            Err(Errno::INTR) => {}
            locked => return locked,
        }
    }
}

fn is_left_over(
    socket: &OwnedFd,
    path: &Path,
    address: &SocketAddrUnix,
) -> rustix::io::Result<bool> {
    let there = rustix::fs::lstat(path)?;
    if FileType::from_raw_mode(there.st_mode) != FileType::Socket {
        return Ok(false);
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let kind = (sockopt::socket_domain(socket)?, sockopt::socket_type(socket)?);
    let probe = socket_with(kind.0, kind.1, flags, None)?;
    Ok(connect(&probe, address) == Err(Errno::CONNREFUSED))
}
