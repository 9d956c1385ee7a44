//! The namespaces of a session, and the commands of its namespace script.

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind_recursive, mount_change};
use rustix::process::{
    DumpableBehavior, Gid, Pid, Uid, WaitOptions, getegid, geteuid, set_dumpable_behavior, waitpid,
};
use rustix::thread::UnshareFlags;

use super::link::{Failure, Stage};
use super::script::NsCommand;
use super::sys;

/// The namespaces that this machine granted, next to the pid namespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Granted {
    /// Mounts are private to the session.
    pub(super) mounts: bool,
    /// The session lives in a user namespace of its own.
    pub(super) users: bool,
}

/// How sessions get namespaces of their own on this machine. A pid namespace is a must, as
/// everything here rests on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Apart {
    namespaces: UnshareFlags,
    /// Who this is: inside, before the maps are written, all ids read as "nobody".
    who: (Uid, Gid),
}

impl Apart {
    /// Tries what this machine grants, the best first; and whether that is all that it ever will:
    /// who has reached a limit may have more later.
    pub(super) fn find() -> Result<(Apart, bool), Failure> {
        let pids = UnshareFlags::NEWPID;
        let (mounts, users) = (UnshareFlags::NEWNS, UnshareFlags::NEWUSER);
        // Root in a container may lack the right, and then counts as any user.
        let tries: &[UnshareFlags] = if geteuid().is_root() {
            &[pids | mounts, pids, pids | mounts | users, pids | users]
        } else {
            &[pids | mounts | users, pids | users]
        };
        let (mut first, mut is_limited) = (None, false);
        for &namespaces in tries {
            let apart = Apart { namespaces, who: (geteuid(), getegid()) };
            match apart.try_out() {
                Ok(()) => return Ok((apart, !is_limited)),
                // Of what is short now there may be enough later: no reason to do with less.
                Err(error) if is_shortage(&error) => {
                    return Err(Failure::new(Stage::Namespace, &error, "a pid namespace"));
                }
                Err(error) => {
                    is_limited |= error.raw_os_error() == Some(libc::ENOSPC);
                    first = first.or(Some(error));
                }
            }
        }
        let error = first.expect("at least one try was made");
        Err(Failure::new(Stage::Namespace, &error, "a pid namespace"))
    }

    /// Has a process go there and come to its end.
    fn try_out(self) -> io::Result<()> {
        let Some(pid) = self.fork()? else {
            let errno = self.settle().err().map_or(0, |error| error.raw_os_error().unwrap_or(255));
            sys::leave(errno)
        };
        let status = loop {
            match waitpid(Some(pid), WaitOptions::empty()) {
                Err(Errno::INTR) => {}
                result => break result?.and_then(|(_, status)| status.exit_status()),
            }
        };
        match status {
            Some(0) => Ok(()),
            errno => Err(io::Error::from_raw_os_error(errno.unwrap_or(libc::ECHILD))),
        }
    }

    /// Forks a process into new namespaces: `None` there, and [`Apart::settle`] comes next.
    pub(super) fn fork(self) -> io::Result<Option<Pid>> {
        sys::fork_apart(self.namespaces)
    }

    /// In the new process: in a new user namespace it stays who it is, and is nobody else.
    pub(super) fn settle(self) -> io::Result<Granted> {
        let users = self.namespaces.contains(UnshareFlags::NEWUSER);
        if users {
            map(self.who)?;
        }
        let mounts = self.namespaces.contains(UnshareFlags::NEWNS);
        Ok(Granted { mounts: mounts && keep_mounts_inside().is_ok(), users })
    }
}

fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM))
}

/// In a new user namespace: somebody stays who they are.
fn map((uid, gid): (Uid, Gid)) -> io::Result<()> {
    let (uid, gid) = (uid.as_raw(), gid.as_raw());
    // The kernel's price for mapping a group without privilege.
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}

/// Lets mounts of the machine appear in the session, and none of the session's outside.
fn keep_mounts_inside() -> io::Result<()> {
    Ok(mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?)
}

/// Mounts a `/proc` that shows the caller's pid namespace.
pub(super) fn fresh_proc() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Runs a namespace script in the program's process, after it became its identity.
pub(super) fn run_script(script: &[NsCommand], granted: Granted) -> Result<(), Failure> {
    // To go somewhere changes no mount, and works where there is no namespace to be had.
    if script.iter().any(|command| !matches!(command, NsCommand::Cd(_))) {
        let prepared = prepare(granted).map_err(|error| {
            Failure::new(Stage::Script, &error, "a namespace for the script's mounts")
        });
        prepared?;
    }
    for command in script {
        run(command).map_err(|error| Failure::new(Stage::Script, &error, command.to_string()))?;
    }
    Ok(())
}

/// Sees to it that the script's mounts stay inside, and that a dropped identity runs it with the
/// power of its own user namespace: root's is gone, which is the point of having dropped it.
fn prepare(granted: Granted) -> io::Result<()> {
    let dropped = !granted.users && !geteuid().is_root();
    if dropped {
        // A process that changed its user gives /proc/self to root, where the maps are written.
        // This memory is a copy, of what is for the user it has become.
        set_dumpable_behavior(DumpableBehavior::Dumpable)?;
        let who = (geteuid(), getegid());
        sys::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        map(who)?;
    } else if !granted.mounts {
        sys::unshare(UnshareFlags::NEWNS)?;
    } else {
        return Ok(());
    }
    keep_mounts_inside()
}

fn run(command: &NsCommand) -> io::Result<()> {
    match command {
        NsCommand::Unshare => {
            sys::unshare(UnshareFlags::NEWNS)?;
            keep_mounts_inside()
        }
        NsCommand::Mount { src, dst, fstype, opts } => {
            let (flags, data) = mount_options(opts);
            let data = CString::new(data)?;
            Ok(mount(src.as_str(), dst, fstype.as_str(), flags, data.as_c_str())?)
        }
        NsCommand::Bind { src, dst } => Ok(mount_bind_recursive(src, dst)?),
        NsCommand::Import { addr, port, dst } => import(addr, *port, dst),
        NsCommand::Cd(dir) => Ok(rustix::process::chdir(dir)?),
        NsCommand::Chroot(dir) => {
            rustix::process::chroot(dir)?;
            Ok(rustix::process::chdir("/")?)
        }
    }
}

fn import(addr: &str, port: u16, dst: &Path) -> io::Result<()> {
    let data = CString::new(format!("trans=tcp,port={port},access=any,msize=32792"))?;
    Ok(mount(addr, dst, "9p", MountFlags::empty(), data.as_c_str())?)
}

/// Splits mount(8)'s options into the flags of the call and the file system's own words.
fn mount_options(opts: &str) -> (MountFlags, String) {
    let mut flags = MountFlags::empty();
    let mut data = Vec::new();
    for word in opts.split(',').filter(|word| !word.is_empty()) {
        flags |= match word {
            "ro" => MountFlags::RDONLY,
            "rw" | "defaults" => MountFlags::empty(),
            "nosuid" => MountFlags::NOSUID,
            "nodev" => MountFlags::NODEV,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            "strictatime" => MountFlags::STRICTATIME,
            "sync" => MountFlags::SYNCHRONOUS,
            "dirsync" => MountFlags::DIRSYNC,
            other => {
                data.push(other);
                continue;
            }
        };
    }
    (flags, data.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_options_split_into_flags_and_data() {
        let (flags, data) = mount_options("ro,size=1m,nosuid,,mode=700");
        assert_eq!(flags, MountFlags::RDONLY | MountFlags::NOSUID);
        assert_eq!(data, "size=1m,mode=700");
        assert_eq!(mount_options(""), (MountFlags::empty(), String::new()));
    }
}
