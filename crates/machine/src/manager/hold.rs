//! Sessions of ranks, as far as the manager has hold of them: by their files, as anybody would.

use super::job::Job;
use super::nodes::Link;
use muster_ninep::client::Fid;
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::tree::OpenFlags;
use std::sync::Arc;
use std::time::Duration;

/// A rank's session, as far as the manager has hold of it.
#[derive(Clone)]
pub(super) struct Hold {
    pub(super) link: Arc<Link>,
    /// The session's directory.
    pub(super) session: Fid,
    /// The session's `ctl`, open for writing.
    pub(super) ctl: Fid,
    /// The session's `stdin`, open for writing, for ranks that read.
    pub(super) stdin: Option<Fid>,
}

/// How long a node that takes no more requests is left alone.
pub(super) const PAUSE: Duration = Duration::from_millis(10);

impl Hold {
    /// Sends a command to the rank's session. If it does not arrive the session is gone, and
    /// whoever follows it is told so.
    pub(super) fn command(&self, job: &Arc<Job>, line: &str) {
        self.command_then(job, line, || ());
    }

    /// The same, and does something when the session has it, or is gone.
    pub(super) fn command_then(
        &self,
        job: &Arc<Job>,
        line: &str,
        then: impl FnOnce() + Send + 'static,
    ) {
        tell(&self.ctl, job, line, then);
    }
}

/// Writes a command to a session's `ctl`, and does something when it was taken, or never will be. A
/// node that takes no more requests for a moment is told later.
pub(super) fn tell(ctl: &Fid, job: &Arc<Job>, line: &str, then: impl FnOnce() + Send + 'static) {
    let (own, job, again) = (ctl.clone(), job.clone(), line.to_owned());
    ctl.write_then(0, line.as_bytes(), move |answer| match answer {
        Err(error) if error.errno == Errno::AGAIN => {
            job.later(PAUSE, move |job| tell(&own, job, &again, then));
        }
        _ => then(),
    });
}

/// Takes hold of a session, without waiting; `reads` says whether its input is wanted too.
pub(super) fn take(
    link: &Arc<Link>,
    session: u32,
    reads: bool,
    then: impl FnOnce(Result<Hold>) + Send + 'static,
) {
    let (own, number) = (link.clone(), session.to_string());
    link.client.root().walk_then(&[number.as_bytes()], move |answer| {
        let dir = match found(answer, session, "") {
            Ok(dir) => dir,
            Err(error) => return then(Err(error)),
        };
        open(&own.clone(), session, ("ctl", OpenFlags::RDWR), move |ctl| {
            let hold = match ctl {
                Ok(ctl) => Hold { link: own, session: dir, ctl, stdin: None },
                Err(error) => return then(Err(error)),
            };
            if !reads {
                return then(Ok(hold));
            }
            let own = hold.link.clone();
            open(&own, session, ("stdin", OpenFlags::WRONLY), move |stdin| {
                then(stdin.map(|stdin| Hold { stdin: Some(stdin), ..hold }));
            });
        });
    });
}

/// Opens a file of a session, without waiting.
pub(super) fn open(
    link: &Link,
    session: u32,
    (name, flags): (&'static str, u32),
    then: impl FnOnce(Result<Fid>) + Send + 'static,
) {
    let number = session.to_string();
    let names = [number.as_bytes(), name.as_bytes()];
    link.client.root().walk_then(&names, move |answer| match found(answer, session, name) {
        Ok(fid) => {
            let opened = fid.clone();
            fid.open_then(OpenFlags(flags), move |answer| then(answer.map(|_| opened)));
        }
        Err(error) => then(Err(error)),
    });
}

/// What was walked to, if it is there.
fn found<T>(answer: Result<(T, Option<Fid>)>, session: u32, name: &str) -> Result<Fid> {
    let missing = || Error::from(Errno::NOENT).at(format!("session {session}/{name}"));
    answer?.1.ok_or_else(missing)
}
