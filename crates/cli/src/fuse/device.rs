//! Mounts: gets a descriptor over which the kernel sends the requests of one mount.
//!
//! Not with fuser's own mount, which unmounts a second time what somebody has unmounted already,
//! and would hit what was mounted below.

use crate::cmd::umount::KIND;
use crate::errand::{self, PATIENCE};
use anyhow::{Context, Result, anyhow, bail};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::MountFlags;
use rustix::net::{self, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use std::ffi::CString;
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

/// Mounts at `directory` what `name` serves: directly as root, else with fusermount3.
pub(super) fn mount(name: &str, directory: &Path) -> Result<OwnedFd> {
    // Commas end an option.
    let name = name.replace([',', '\0'], "_");
    match directly(&name, directory) {
        Err(Errno::PERM | Errno::ACCESS) => through_helper(&name, directory),
        Err(Errno::NOENT | Errno::NODEV) if !Path::new("/dev/fuse").exists() => {
            bail!("this kernel has no FUSE; load it with: modprobe fuse")
        }
        Err(error) => Err(anyhow!("{}", std::io::Error::from(error))),
        Ok(device) => Ok(device),
    }
}

fn directly(name: &str, directory: &Path) -> rustix::io::Result<OwnedFd> {
    let device = rustix::fs::open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let (uid, gid) = (rustix::process::getuid(), rustix::process::getgid());
    let data = format!(
        "fd={},rootmode=40000,user_id={},group_id={}",
        device.as_raw_fd(),
        uid.as_raw(),
        gid.as_raw()
    );
    let data = CString::new(data).expect("numbers have no NUL");
    let flags = MountFlags::NODEV | MountFlags::NOSUID;
    rustix::mount::mount(name, directory, KIND, flags, data.as_c_str())?;
    Ok(device)
}

/// Has the set-user-id helper mount; it sends the descriptor over its standard input.
fn through_helper(name: &str, directory: &Path) -> Result<OwnedFd> {
    let family = net::AddressFamily::UNIX;
    let flags = net::SocketFlags::CLOEXEC;
    let (ours, theirs) = net::socketpair(family, net::SocketType::STREAM, flags, None)?;
    let wanted = format!("fsname={name},subtype=muster,nodev,nosuid");
    let mut helper = Command::new("fusermount3");
    helper.args(["-o", &wanted, "--"]).arg(directory).env("_FUSE_COMMFD", "0");
    let output = errand::output(helper.stdin(Stdio::from(theirs)), PATIENCE);
    // It holds their end, which is to be closed when the program has ended.
    drop(helper);
    let output =
        output.context("only root may mount without fusermount3; install the package fuse3")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.trim().trim_start_matches("fusermount3: "));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut into = [IoSliceMut::new(&mut byte)];
    net::recvmsg(&ours, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut sent = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    sent.next().context("fusermount3 has mounted nothing; try: fusermount3 -V (package fuse3)")
}
