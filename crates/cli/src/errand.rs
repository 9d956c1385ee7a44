//! Programs of others that help: each ends soon, or is ended.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long one may take: fusermount3 looks at the mount's directory, where a dead file server may
/// be, and scontrol may ask others.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a program has printed when it has ended.
///
/// # Errors
/// When it cannot be started, or has to be ended after so long.
pub fn output(command: &mut Command, patience: Duration) -> io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
    let pidfd = pidfd.inspect_err(|_| _ = child.kill().and_then(|()| child.wait()))?;
    let (tell, told) = channel();
    // The kernel may keep it for as long as it likes, and the thread with it.
    crate::run::spawn(move || _ = tell.send(child.wait_with_output()));
    told.recv_timeout(patience).unwrap_or_else(|_| {
        // It fails only when the process has just ended.
        let _ = pidfd_send_signal(pidfd, Signal::KILL);
        let text = format!("it has not ended within {} s", patience.as_secs());
        Err(io::Error::new(io::ErrorKind::TimedOut, text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_does_not_end_is_ended_and_what_others_print_is_told() {
        let mut shell = Command::new("sh");
        let said = output(shell.args(["-c", "echo out; echo err >&2; exit 3"]), PATIENCE);
        let said = said.expect("it ends");
        assert_eq!(
            (said.status.code(), &said.stdout[..], &said.stderr[..]),
            (Some(3), &b"out\n"[..], &b"err\n"[..])
        );
        let mut sleeps = Command::new("sleep");
        let error = output(sleeps.arg("1000"), Duration::from_millis(20)).expect_err("it sleeps");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
