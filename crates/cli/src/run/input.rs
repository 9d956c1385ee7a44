//! Standard input on its way to the ranks, on a thread of its own.
//!
//! The manager answers a write when the rank's pipe has taken it, so a rank that does not read
//! makes us wait, not grow.

use super::event::{Event, Events};
use super::failure::{Failure, exit};
use super::line::Line;
use muster_machine::manager::spec::Stdin;
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, Result};
use muster_ninep::tree::OpenFlags;
use rustix::event::{PollFd, PollFlags, poll};
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of one read of ours.
const CHUNK: usize = 64 * 1024;

/// What `--input` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Nothing.
    None,
    /// Our standard input, to every rank.
    All,
    /// Our standard input, to this rank.
    Rank(u32),
    /// A file, to every rank.
    File(PathBuf),
}

impl Input {
    /// Reads the word after `--input`.
    pub fn parse(text: &str) -> Input {
        match text {
            "none" => Input::None,
            "all" => Input::All,
            _ => match text.parse() {
                Ok(rank) => Input::Rank(rank),
                Err(_) => Input::File(text.into()),
            },
        }
    }

    /// Our standard input to rank 0, unless there is certainly nothing in it.
    pub fn ours() -> Input {
        let null = rustix::fs::makedev(1, 3);
        match rustix::fs::fstat(io::stdin()) {
            Ok(stat) if stat.st_rdev == null && is_device(&stat) => Input::None,
            _ => Input::Rank(0),
        }
    }

    /// Our standard input to rank 0 if somebody has put something into it: a pipe or a file. At a
    /// terminal nobody has.
    pub fn if_any() -> Input {
        match rustix::fs::fstat(io::stdin()) {
            Ok(stat) if is_device(&stat) => Input::None,
            _ => Input::ours(),
        }
    }

    /// What the manager is told.
    pub fn stdin(&self) -> Stdin {
        match self {
            Input::None => Stdin::NONE,
            Input::All | Input::File(_) => Stdin::ALL,
            Input::Rank(rank) => Stdin::Rank(*rank as usize),
        }
    }

    /// Opens where the bytes come from; nothing if there are none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open(&self) -> std::result::Result<Option<File>, Failure> {
        let bad = |what: &str, error: io::Error| {
            let text = format!("{what}: {}", super::said(&error));
            Failure::new("E141", exit::OURS, text)
        };
        match self {
            Input::None => Ok(None),
            Input::All | Input::Rank(_) => {
                let stdin = io::stdin().as_fd().try_clone_to_owned();
                Ok(Some(stdin.map_err(|error| bad("standard input", error))?.into()))
            }
            Input::File(path) => {
                let name = path.display().to_string();
                let file = File::open(path).map_err(|error| bad(&name, error))?;
                if file.metadata().map_err(|error| bad(&name, error))?.is_dir() {
                    let text = format!("{name} is a directory, not input");
                    return Err(Failure::new("E141", exit::OURS, text));
                }
                Ok(Some(file))
            }
        }
    }
}

fn is_device(stat: &rustix::fs::Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::CharacterDevice
}

/// Starts to feed a job. What cannot be read is told.
pub fn start(mut source: File, line: Arc<Line>, job: u64, events: Events) {
    super::spawn(move || {
        let mut feed = Feed { line, job, number: 0, open: None, offset: 0 };
        let mut buffer = vec![0; CHUNK];
        loop {
            wait_for_terminal(&source);
            match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) if feed.write(&buffer[..count]) => {}
                // The ranks want no more.
                Ok(_) => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                // A terminal that hung up has no more.
                Err(error) if source.is_terminal() && hung_up(&error) => break,
                Err(error) => {
                    events.tell(Event::Unreadable(error));
                    break;
                }
            }
        }
        feed.close();
    });
}

fn hung_up(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::IO)
}

/// Waits until a terminal has something for us. To read it in the background would stop this
/// whole process (SIGTTIN), and so would a read that waits when that goes there (Ctrl-Z and bg).
fn wait_for_terminal(source: &File) {
    let mut is_ready = false;
    while let Ok(group) = rustix::termios::tcgetpgrp(source) {
        if group != rustix::process::getpgrp() {
            is_ready = false;
            std::thread::sleep(Duration::from_millis(200));
        } else if is_ready {
            // What is there is ours, as far as anybody can tell before the read.
            return;
        } else {
            is_ready = poll(&mut [PollFd::new(source, PollFlags::IN)], None).is_ok();
        }
    }
}

struct Feed {
    line: Arc<Line>,
    job: u64,
    /// Which connection `open` is of.
    number: u64,
    open: Option<(Client, Fid)>,
    /// Bytes written so far: a manager that was restarted can tell what it had.
    offset: u64,
}

impl Feed {
    /// The open file; waits for a new connection if there was one that broke.
    fn fid(&mut self) -> Option<Result<(Client, Fid)>> {
        if let Some((client, fid)) = &self.open
            && client.ended().is_none()
        {
            return Some(Ok((client.clone(), fid.clone())));
        }
        let (number, client) = self.line.later(self.number)?;
        self.number = number;
        let opened = client.walk(&format!("jobs/{}/stdin", self.job)).and_then(|fid| {
            fid.open(OpenFlags(OpenFlags::WRONLY))?;
            Ok((client.clone(), fid))
        });
        // The manager before may have passed on more than it has answered.
        let opened = opened.and_then(|open| match number {
            1 => Ok(open),
            _ => self.resume(&client).map(|()| open),
        });
        self.open = opened.as_ref().ok().cloned();
        // One that broke just now is not the ranks' refusal.
        match opened {
            Err(_) if client.ended().is_some() => self.fid(),
            other => Some(other),
        }
    }

    /// Tells a new manager how far we have come, as soon as it has found the ranks again.
    fn resume(&self, client: &Client) -> Result<()> {
        let (ctl, order) =
            (format!("jobs/{}/ctl", self.job), format!("resume stdin {}\n", self.offset));
        loop {
            match client.write(&ctl, &order) {
                Err(error) if error.errno == Errno::AGAIN && client.ended().is_none() => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                told => return told,
            }
        }
    }

    /// Writes all; false when nobody wants it.
    fn write(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let Some(Ok((client, fid))) = self.fid() else { return false };
            match fid.write_at(self.offset, bytes) {
                Ok(0) => return false,
                Ok(written) => {
                    self.offset += written as u64;
                    bytes = &bytes[written..];
                }
                Err(_) if client.ended().is_some() => {}
                Err(_) => return false,
            }
        }
        true
    }

    /// Tells the ranks that there is no more.
    fn close(&mut self) {
        loop {
            let Some(Ok((client, _))) = self.fid() else { return };
            let closed = client.write(&format!("jobs/{}/ctl", self.job), "close stdin\n");
            if closed.is_ok() || client.ended().is_none() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_after_input() {
        for (text, input, stdin) in [
            ("none", Input::None, Stdin::NONE),
            ("all", Input::All, Stdin::ALL),
            ("3", Input::Rank(3), Stdin::Rank(3)),
            ("3.txt", Input::File("3.txt".into()), Stdin::ALL),
            ("./all", Input::File("./all".into()), Stdin::ALL),
        ] {
            assert_eq!(Input::parse(text), input);
            assert_eq!(input.stdin(), stdin);
        }
        assert!(Input::File("/none/such".into()).open().unwrap_err().text.contains("No such"));
        assert!(Input::File("/".into()).open().unwrap_err().text.contains("is a directory"));
        assert!(Input::None.open().unwrap().is_none());
    }
}
