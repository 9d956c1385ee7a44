//! What the threads of `muster run` tell the one that decides.

use super::failure::Failure;
use super::show::{Kept, Unwritable};
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::Error;
use std::io;
use std::sync::mpsc::Sender;

/// Something happened.
#[derive(Debug)]
pub enum Event {
    /// So many bytes of files were sent, of so many.
    Sent(u64, u64),
    /// There is a job of this number, which does not run yet; the connection to it.
    Made(Client, u64),
    /// The job waits for its nodes: why.
    Waits(String),
    /// The job runs.
    Started(Box<Started>),
    /// It could not be started.
    Failed(Failure),
    /// A signal for us: its number.
    Signal(i32),
    /// The job has ended: its status, or why it is not known.
    Done(u64, Result<String, Error>),
    /// The manager says something about the job.
    Note(String),
    /// The connection of this generation broke.
    Lost(u64),
    /// There is a new connection, and its control file.
    Back(Client, Fid),
    /// There is none: the last try's error.
    Gone(Error),
    /// All output is shown; of `cut` streams the end is missing.
    Output {
        /// What was kept for JSON.
        kept: Vec<Kept>,
        /// Streams that were given up, or ended in an error.
        cut: usize,
    },
    /// Our standard input cannot be read.
    Unreadable(io::Error),
    /// Output cannot be written.
    Unwritable(Unwritable),
}

/// A job that runs.
#[derive(Debug)]
pub struct Started {
    /// Its number.
    pub id: u64,
    /// The fid of `jobs/clone`, which owns it.
    pub owner: Fid,
    /// Its open control file.
    pub ctl: Fid,
    /// The connection in use, if the manager was restarted while the job waited.
    pub client: Option<Client>,
    /// The node of each rank.
    pub nodes: Vec<String>,
}

/// Tells events.
#[derive(Debug, Clone)]
pub struct Events(pub Sender<Event>);

impl Events {
    /// Tells one. When nobody listens any more, the command is over and it does not matter.
    pub fn tell(&self, event: Event) {
        let _ = self.0.send(event);
    }
}
