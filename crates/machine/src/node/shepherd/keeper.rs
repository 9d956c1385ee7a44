//! The keeper: the process the daemon spawns. It makes the namespaces and the init, then waits
//! for the end of either side. See the story in [`super`].

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, setsid, waitpid,
};
use rustix::stdio::stdin;
use rustix::thread::set_name;

use super::init::{self, Cargo};
use super::link::{self, Failure, Note, Order, Stage};
use super::{namespace, sys};

/// The whole life of a shepherd process: what `muster shepherd` does. Descriptor 0 is the link.
/// Must be called before the process has a second thread.
pub fn child_main() -> ExitCode {
    match keep(stdin()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nobody reads this when a daemon is at the other end; a curious user does.
            let said = format!("muster shepherd: {error}: only a node daemon starts this\n");
            let _ = std::io::Write::write_all(&mut io::stderr(), said.as_bytes());
            ExitCode::from(125)
        }
    }
}

fn keep(link: BorrowedFd) -> io::Result<()> {
    sys::block_signals()?;
    // What the daemon's parent leaked into the daemon ends here.
    sys::close_from(3)?;
    let Some(order) = link::receive::<Order>(link)? else {
        return Ok(());
    };
    let (Order::Run, Ok(fds)) = (order.message, <[OwnedFd; 4]>::try_from(order.descriptors)) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the first message is no order"));
    };
    // Off the terminal and off the daemon's directory. Failing means we lead a group already,
    // which only a hand-started shepherd does.
    let _ = setsid();
    rustix::process::chdir("/")?;
    set_name(c"muster-keeper")?;

    let granted = match namespace::make() {
        Ok(granted) => granted,
        Err(failure) => return link::send(link, &Note::Failed(failure), &[]),
    };
    let this = pidfd_open(getpid(), PidfdFlags::empty())?;
    match sys::fork() {
        Ok(None) => init::run(link, &this, Cargo::new(fds), granted),
        Ok(Some(init)) => {
            // Streams held here would keep the program's readers from seeing the end.
            drop(fds);
            watch(link, init)
        }
        Err(error) => {
            let failure = Failure::new(Stage::Fork, &error, "the session's init");
            link::send(link, &Note::Failed(failure), &[])
        }
    }
}

/// Waits until the init has ended or the daemon has gone, and ends what is left.
fn watch(link: BorrowedFd, init: Pid) -> io::Result<()> {
    let told = pidfd_open(init, PidfdFlags::empty()).and_then(|pidfd| {
        // A daemon that is gone shows in the poll.
        let _ = link::send(link, &Note::Init, &[pidfd.as_fd()]);
        wait_for_either(link, pidfd.as_fd())
    });
    if told != Ok(Ended::Init) {
        // Not reaped yet, so the pid is still the init's. SIGKILL works on a stopped one, too.
        let _ = kill_process(init, Signal::KILL);
    }
    // Returns only after every process of the namespace is gone.
    while matches!(waitpid(Some(init), WaitOptions::empty()), Err(Errno::INTR)) {}
    Ok(())
}

#[derive(PartialEq, Eq)]
enum Ended {
    Init,
    Link,
}

fn wait_for_either(link: BorrowedFd, init: BorrowedFd) -> rustix::io::Result<Ended> {
    loop {
        // Not IN on the link: its messages are for the init.
        let mut fds = [
            PollFd::from_borrowed_fd(link, PollFlags::RDHUP),
            PollFd::from_borrowed_fd(init, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            result => result?,
        };
        if !fds[1].revents().is_empty() {
            return Ok(Ended::Init);
        }
        if !fds[0].revents().is_empty() {
            return Ok(Ended::Link);
        }
    }
}
