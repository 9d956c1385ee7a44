//! The link between a [`Ward`](super::Ward) and its shepherd: messages, and how they travel.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;

use super::spec::Spec;
use crate::usage::Usage;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, UCred, recvmsg,
    sendmsg, socketpair, sockopt,
};
use rustix::process::{Pid, getgid, getuid};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The largest message: most specs fit, and a [`Failure`] whose text is all control characters,
/// which JSON writes in six bytes each.
pub(super) const MESSAGE_MAX: usize = 32 * 1024;

/// How much of a name a [`Failure`] repeats.
const WHAT_MAX: usize = 1024;

/// The most files that come along for a program.
pub(in crate::node) const FILES_MAX: usize = 240;

/// The most descriptors in one message, of which the kernel takes 253: a link, three streams, a
/// long spec, files.
const DESCRIPTORS_MAX: usize = 5 + FILES_MAX;

/// From the daemon to the shepherd, with a spec that is owned or, to be written down, borrowed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order<S = Box<Spec>> {
    /// Run a program. Stdin, stdout and stderr come along; for the keeper, which makes an init for
    /// it, the shepherd's end of a link before these; without a spec here behind them a memfd that
    /// holds the order with it; at last files for the program.
    Run(Option<S>),
    /// To an init: signal the program's process group.
    Signal(i32),
}

/// From the shepherd to the daemon.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Note {
    /// The init exists; its pidfd comes along.
    Init,
    /// The program runs; the message's credentials name it.
    Started,
    /// The program does not run.
    Failed(Failure),
    /// The program has ended.
    Exited {
        status: i32,
        /// Of all that have ended.
        usage: Usage,
        /// Others of its processes live on.
        is_left: bool,
        /// Nothing is left of it, and the init waits for another order to run.
        is_free: bool,
    },
}

/// Why a program did not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The step that failed.
    pub stage: Stage,
    /// The error of the kernel.
    pub errno: i32,
    /// What the step was about: a path, a line of the namespace script, a name.
    pub what: String,
}

impl Failure {
    /// A failure at a stage, with what the kernel said.
    pub(super) fn new(stage: Stage, error: &io::Error, what: impl Into<String>) -> Failure {
        let mut what: String = what.into();
        let cut = (0..=WHAT_MAX.min(what.len())).rev().find(|end| what.is_char_boundary(*end));
        what.truncate(cut.unwrap_or(0));
        Failure { stage, errno: error.raw_os_error().unwrap_or(libc::EIO), what }
    }
}

/// The steps of a launch, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Reading the order.
    Order,
    /// Making the namespaces.
    Namespace,
    /// Entering the cgroup.
    Cgroup,
    /// Making a process.
    Fork,
    /// Placing the standard streams.
    Streams,
    /// Becoming the identity.
    Identity,
    /// Entering the working directory.
    Directory,
    /// Running the namespace script.
    Script,
    /// Executing the program. ENOENT is a shell's 127, all else its 126.
    Exec,
}

/// A message with what came along.
pub(super) struct Received<T> {
    pub(super) message: T,
    pub(super) descriptors: Vec<OwnedFd>,
    /// Whether some of these could not be had: this process may have no more.
    pub(super) lacks_some: bool,
    /// The process that the message speaks of, in the receiver's namespace (daemon's end only).
    pub(super) about: Option<u32>,
}

/// The spec of an order that is too long for a message, and how long that is.
pub(super) fn read_long(file: OwnedFd) -> io::Result<(Spec, usize)> {
    let file = File::from(file);
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0)?;
    match serde_json::from_slice::<Order>(&bytes)? {
        Order::Run(Some(spec)) => Ok((*spec, bytes.len())),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// Makes a link: the daemon's end, which never blocks, and the shepherd's.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    sockopt::set_socket_passcred(&ours, true)?;
    Ok((ours, theirs))
}

/// Sends a message with descriptors.
pub(super) fn send<T: Serialize>(
    link: BorrowedFd,
    message: &T,
    descriptors: &[BorrowedFd],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        let fits = ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
        assert!(fits, "a message carries at most {DESCRIPTORS_MAX} descriptors");
    }
    transmit(link, message, &mut ancillary)
}

/// Sends a message that speaks of a process of the caller's pid namespace. Only an init may name
/// a process that is not itself.
pub(super) fn send_about<T: Serialize>(link: BorrowedFd, message: &T, pid: Pid) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let credentials = UCred { pid, uid: getuid(), gid: getgid() };
    let fits = ancillary.push(SendAncillaryMessage::ScmCredentials(credentials));
    assert!(fits, "the space is made for these credentials");
    transmit(link, message, &mut ancillary)
}

fn transmit<T: Serialize>(
    link: BorrowedFd,
    message: &T,
    ancillary: &mut SendAncillaryBuffer,
) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    send_bytes(link, &bytes, ancillary)
}

/// Sends a message that is written down already, with descriptors.
pub(super) fn send_written(
    link: BorrowedFd,
    bytes: &[u8],
    descriptors: &[BorrowedFd],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fits = ancillary.push(SendAncillaryMessage::ScmRights(descriptors));
    assert!(fits, "a message carries at most {DESCRIPTORS_MAX} descriptors");
    send_bytes(link, bytes, &mut ancillary)
}

fn send_bytes(
    link: BorrowedFd,
    bytes: &[u8],
    ancillary: &mut SendAncillaryBuffer,
) -> io::Result<()> {
    assert!(bytes.len() <= MESSAGE_MAX, "every message has a bounded size");
    loop {
        match sendmsg(link, &[IoSlice::new(bytes)], ancillary, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(()),
        }
    }
}

/// Receives a message with all that came along; `None` at the end of the link.
pub(super) fn receive<T: DeserializeOwned>(link: BorrowedFd) -> io::Result<Option<Received<T>>> {
    match receive_some(link)? {
        Some(Received { lacks_some: true, .. }) => Err(Errno::MFILE.into()),
        received => Ok(received),
    }
}

/// The same with as much of it as can be had, from the first on.
pub(super) fn receive_some<T: DeserializeOwned>(
    link: BorrowedFd,
) -> io::Result<Option<Received<T>>> {
    let mut bytes = [0; MESSAGE_MAX];
    let mut space =
        [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX), ScmCredentials(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        match recvmsg(link, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            // The other side left without reading all we sent. Linux says so before it hands
            // out what the other side had written, and says it once.
            Err(Errno::INTR | Errno::CONNRESET) => {}
            Err(error) => return Err(error.into()),
            Ok(got) => break got,
        }
    };
    let mut descriptors = Vec::new();
    let mut about = None;
    for part in ancillary.drain() {
        match part {
            RecvAncillaryMessage::ScmRights(rights) => descriptors.extend(rights),
            RecvAncillaryMessage::ScmCredentials(credentials) => {
                about = u32::try_from(credentials.pid.as_raw_pid()).ok();
            }
            _ => {}
        }
    }
    if got.bytes == 0 {
        return Ok(None);
    }
    // There is room for all that are ever sent, so it is not for want of that.
    let lacks_some = got.flags.contains(ReturnFlags::CTRUNC);
    if got.flags.contains(ReturnFlags::TRUNC) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "message too long"));
    }
    let message = serde_json::from_slice(&bytes[..got.bytes])?;
    Ok(Some(Received { message, descriptors, lacks_some, about }))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn the_longest_failure_fits_a_message() {
        let (ours, theirs) = pair().unwrap();
        let failure =
            Failure::new(Stage::Exec, &io::Error::from_raw_os_error(2), "\u{1}".repeat(5000));
        send(theirs.as_fd(), &Note::Failed(failure.clone()), &[]).unwrap();
        let got = receive::<Note>(ours.as_fd()).unwrap().unwrap();
        assert!(matches!(got.message, Note::Failed(same) if same == failure));
        assert_eq!(got.about, Some(std::process::id()));
    }

    #[test]
    fn names_are_cut_between_characters() {
        let failure = Failure::new(Stage::Exec, &io::Error::other("x"), "é".repeat(600) + "x");
        assert_eq!(failure.what.len(), WHAT_MAX);
        let failure =
            Failure::new(Stage::Exec, &io::Error::other("x"), "x".to_owned() + &"é".repeat(600));
        assert_eq!(failure.what.len(), WHAT_MAX - 1);
        assert_eq!(failure.errno, libc::EIO);
    }

    #[test]
    fn a_reset_link_still_delivers_what_was_written() {
        let (ours, theirs) = pair().unwrap();
        send(ours.as_fd(), &Order::<Spec>::Signal(15), &[]).unwrap();
        send(theirs.as_fd(), &Note::Started, &[]).unwrap();
        drop(theirs);
        assert!(matches!(
            receive::<Note>(ours.as_fd()).unwrap().map(|got| got.message),
            Some(Note::Started)
        ));
        assert!(receive::<Note>(ours.as_fd()).unwrap().is_none());
    }

    #[test]
    fn an_idle_link_would_block_and_nonsense_is_an_error() {
        let (ours, theirs) = pair().unwrap();
        let idle = receive::<Note>(ours.as_fd()).err().unwrap();
        assert_eq!(idle.kind(), io::ErrorKind::WouldBlock);
        rustix::net::send(&theirs, b"{", SendFlags::empty()).unwrap();
        assert!(receive::<Note>(ours.as_fd()).is_err());
        rustix::net::send(&theirs, &[b' '; MESSAGE_MAX + 1], SendFlags::empty()).unwrap();
        let long = receive::<Note>(ours.as_fd()).err().unwrap();
        assert_eq!(long.to_string(), "message too long");
    }
}
