//! Commands that a session's `ctl` and the node's own `ctl` obey.

use super::launch;
use super::session::{Phase, Session};
use super::tree::Files;
use super::views::Scope;
use crate::files::control::Commands;
use crate::line;
use crate::relay::{fan, source};
use muster_base::quote;
use muster_ninep::client::Options;
use muster_ninep::error::{Errno, Error, Result, fail};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a session's parent may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// Commands of XCPU's root `ctl` that keep a list of users with their keys.
const USER_COMMANDS: [&str; 8] = [
    "user-add",
    "user-del",
    "user-flush",
    "user-add-group",
    "user-del-group",
    "group-add",
    "group-del",
    "group-flush",
];

/// A signal's number from what a command calls it.
///
/// # Errors
/// When there is no such signal.
pub(crate) fn signal(given: &str) -> Result<i32> {
    let number = muster_base::ending::signal(given);
    number.map_or_else(
        || fail(Errno::INVAL, format!("there is no signal '{given}'")),
        |number| Ok(number.into()),
    )
}

/// A session's `ctl`.
pub(super) struct SessionCtl(pub(super) Arc<Session>);

impl Commands for SessionCtl {
    fn obey(&self, line: &str) -> Result<()> {
        let words = match quote::split(line) {
            Ok(words) => words,
            Err(error) => return fail(Errno::INVAL, error.to_string()),
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.command(&words)
    }

    fn status(&self) -> String {
        self.0.state().pid.unwrap_or(self.0.number).to_string()
    }
}

impl SessionCtl {
    fn command(&self, words: &[&str]) -> Result<()> {
        let session = &self.0;
        match words {
            ["exec"] => launch::exec(session, None),
            ["exec", program] => launch::exec(session, Some(program)),
            ["clone", most, targets] => self.clone_to(most, targets),
            ["id", id] => self.identify(id),
            ["wipe"] => {
                session.wipe();
                Ok(())
            }
            ["end"] => {
                // The watch ends what a light rank has left behind, when it has had its time.
                if session.light.is_none() || !session.has_left() {
                    session.kill_all();
                }
                Ok(())
            }
            ["signal", name] => session.signal(signal(name)?),
            ["type", "normal"] => {
                session.state().persistent = false;
                Ok(())
            }
            ["type", "persistent"] => {
                session.state().persistent = true;
                Ok(())
            }
            ["close", "stdin"] => {
                session.stdin.close();
                Ok(())
            }
            ["close", "stdout"] => {
                session.stdout.refuse(Errno::PIPE, "stdout was closed");
                Ok(())
            }
            ["close", "stderr"] => {
                session.stderr.refuse(Errno::PIPE, "stderr was closed");
                Ok(())
            }
            ["redirect", stream, path] => self.redirect(stream, path),
            ["connect", parent] => self.connect(parent),
            [other, ..] => fail(
                Errno::INVAL,
                format!(
                    "'{other}' with {} words is no command of a session; docs/files.md lists them",
                    words.len() - 1
                ),
            ),
            [] => Ok(()),
        }
    }

    /// `id GID/LID`; a part that is missing stays as it is, as in XCPU.
    fn identify(&self, id: &str) -> Result<()> {
        let (gid, lid) = id.split_once('/').unwrap_or((id, ""));
        let lid = match lid.parse() {
            Ok(lid) => Some(lid),
            Err(_) if lid.is_empty() => None,
            Err(_) => {
                let text = format!("'{id}' is not of the form GID/LID, where LID is a number");
                return fail(Errno::INVAL, text);
            }
        };
        let own = &mut self.0.state().id;
        if !gid.is_empty() {
            gid.clone_into(&mut own.0);
        }
        own.1 = lid.unwrap_or(own.1);
        Ok(())
    }

    /// `connect ADDR/SID`: the parent is a session that is there.
    fn connect(&self, parent: &str) -> Result<()> {
        let targets = fan::read_targets(parent)?;
        let ([target], [number]) = (&targets[..], &targets[0].sessions[..]) else {
            return fail(Errno::INVAL, "a session has one parent");
        };
        if !self.0.state().parent.is_empty() {
            return fail(Errno::BUSY, "the session has a parent already");
        }
        let at = |error: Error| error.at(format!("parent {parent}"));
        let address = line::read_address(&target.address).map_err(at)?;
        let options = Options { aname: self.0.tree(), ..Options::default() };
        let client = line::connect("clone", &address, options).map_err(at)?;
        client.with_deadlines(Some(ANSWER), None).walk(&number.to_string()).map_err(at)?;
        client.close();
        parent.clone_into(&mut self.0.state().parent);
        Ok(())
    }

    fn redirect(&self, stream: &str, path: &str) -> Result<()> {
        let mut state = self.0.state();
        if state.phase != Phase::New {
            return fail(Errno::BUSY, "streams can be redirected before exec only");
        }
        let to = Some(PathBuf::from(path));
        const SAID: &str = "redirected to local file";
        match stream {
            "stdin" => {
                state.redirects[0] = to;
                self.0.stdin.refuse(Errno::INVAL, SAID);
            }
            "stdout" => {
                state.redirects[1] = to;
                self.0.stdout.refuse(Errno::INVAL, SAID);
            }
            "stderr" => {
                state.redirects[2] = to;
                self.0.stderr.refuse(Errno::INVAL, SAID);
            }
            other => {
                return fail(Errno::INVAL, format!("'{other}' is not stdin, stdout or stderr"));
            }
        }
        Ok(())
    }

    /// Copies `argv`, `env` and `fs/` to other sessions, at most `most` of them directly.
    fn clone_to(&self, most: &str, targets: &str) -> Result<()> {
        let Ok(most) = most.parse::<i64>() else {
            return fail(Errno::INVAL, format!("'{most}' is not a number of nodes"));
        };
        let targets = fan::read_targets(targets)?;
        let most = if most <= 0 { targets.len() } else { most as usize };
        let session = &self.0;
        let load = || source::of(&session.directory, &session.argv.get()?, &session.env.get()?);
        let failures = fan::send(&session.tree(), most, targets, load)?;
        if failures.is_empty() {
            return Ok(());
        }
        let text = failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        fail(Errno::IO, format!("{} not reached: {text}  [E205]", failures.len()))
    }
}

/// The node's own `ctl`.
pub(super) struct RootCtl(pub(super) Scope);

impl Commands for RootCtl {
    fn obey(&self, line: &str) -> Result<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["kill", name, pid] => {
                let number = signal(name)?;
                let all = self.0.sessions();
                let runs = |files: &&Arc<Files>| match files.session().state().phase {
                    Phase::Running { pid: own } => own.to_string() == pid,
                    _ => false,
                };
                let found = all.iter().find(runs);
                match found {
                    Some(files) => files.session().signal(number),
                    None => fail(Errno::SRCH, format!("process {pid} is not one of a session")),
                }
            }
            [command, ..] if USER_COMMANDS.contains(&command) => fail(
                Errno::PERM,
                format!("{command}: a node keeps no list of users; the kernel says who you are"),
            ),
            _ => fail(
                Errno::INVAL,
                format!("'{line}' is no command of a node; docs/files.md lists them"),
            ),
        }
    }

    fn status(&self) -> String {
        self.0.node().map_or_else(|_| String::new(), |node| format!("{}\n", node.setup.name))
    }
}
