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
        let _locked = locked(path)?;
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
        // Somebody else may have put another one there, or be about to. Without the lock it is left
        // to whoever takes the name next.
        let Ok(_locked) = locked(&self.path) else { return };
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

/// The directory of a path, locked until it is closed.
fn locked(path: &Path) -> rustix::io::Result<OwnedFd> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(parent.unwrap_or(Path::new(".")), flags, Mode::empty())?;
    let since = Instant::now();
    loop {
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::AGAIN) if since.elapsed() < NAME_LOCK_TIME => std::thread::sleep(AGAIN),
            Err(Errno::AGAIN) => return Err(Errno::BUSY),
            Err(Errno::INTR) => {}
            locked => return locked.map(|()| folder),
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketType};

    /// Between the look whether it is ours and its removal somebody may take the name.
    #[test]
    fn who_gives_a_name_up_waits_for_whoever_has_the_lock() {
        let folder = std::env::temp_dir().join(format!("muster-name-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let path = folder.join("socket");
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        let name = SocketName::take(&socket, &path).unwrap();
        let held = locked(&path).unwrap();
        let giving_up = std::thread::spawn(move || drop(name));
        std::thread::sleep(Duration::from_millis(20));
        assert!(path.exists());
        drop(held);
        giving_up.join().unwrap();
        assert!(!path.exists());
        std::fs::remove_dir(&folder).unwrap();
    }
}
