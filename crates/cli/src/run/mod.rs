//! `muster run`: a job is written into the cluster's files, its streams are moved, its end told.
//!
//! The story: *preparing* (the program and files are looked at; nothing has happened yet),
//! *submitting* ([`submit`], a thread: `jobs/clone`, `spec`, `files`, `start`), perhaps *waiting*
//! for its nodes ([`wait`], on that thread), *running*
//! ([`session`] decides, fed with [`event`]s by threads that each do one thing: [`pump`] output,
//! [`input`] standard input, one waits for the job's end, one hands signals on), *ended* (output
//! is complete, [`summary`] says what failed). If this process dies at any time, the fid of
//! `jobs/clone` is closed and the manager ends the job. If the manager dies, [`mod@line`] gets a
//! new connection within 10 s or the command fails, and nobody waits for ever.

pub mod environment;
mod event;
pub mod failure;
mod fold;
pub mod foreign;
mod input;
pub mod libraries;
mod library;
mod line;
pub mod lines;
mod mistakes;
mod notes;
pub mod order;
pub mod program;
mod pump;
mod session;
pub mod show;
mod signals;
pub mod srun;
mod submit;
mod summary;
pub mod template;
#[cfg(test)]
mod tests;
mod wait;

pub use failure::Failure;
pub use input::Input;
pub use line::Connect;
pub use mistakes::look;
pub use session::{print_failure, run};
pub use submit::of_partition;

use crate::table::shown;
use muster_machine::manager::spec::{Spec, Status};
use muster_machine::relay::recipe::Recipes;
use muster_ninep::client::Client;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

/// The cluster to run on.
#[derive(Clone)]
pub struct Cluster {
    /// Connected to the manager's tree.
    pub client: Client,
    /// Connects again after the manager was restarted.
    pub connect: Connect,
    /// How files are told by their chunks.
    pub recipes: Recipes,
    /// What its jobs have in front of their numbers, where a view merges several.
    pub name: Option<String>,
}

/// What the user wishes.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What the manager is told.
    pub spec: Spec,
    /// The program.
    pub program: program::Program,
    /// What the user called it.
    pub named: String,
    /// Files for every rank.
    pub bcast: Vec<PathBuf>,
    /// Libraries for every rank.
    pub libraries: Vec<libraries::Library>,
    /// Where the ranks' input comes from.
    pub input: Input,
    /// Where stdout and stderr go.
    pub goals: [show::Goal; 2],
    /// What they look like.
    pub style: show::Style,
    /// Whether lines carry their rank.
    pub label: bool,
    /// No notes and no summary.
    pub quiet: bool,
    /// Start it and leave it alone.
    pub detach: bool,
    /// End with a JSON object.
    pub json: bool,
    /// Say at the end how long its parts took.
    pub timing: bool,
    /// Between being asked to end, TERM and the kill.
    pub grace: Duration,
}

/// Says a line on stderr, one whatever names are in it. That nobody may be there to read it changes
/// nothing.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", shown(line));
}

/// Starts a thread, or ends this process: without it nothing could be done that was asked for.
pub fn spawn(work: impl FnOnce() + Send + 'static) {
    if let Err(error) = std::thread::Builder::new().spawn(work) {
        say(&format!("muster: {}", no_thread(&error)));
        std::process::exit(failure::exit::OURS.into());
    }
}

/// Why the system has no thread for us, as a sentence.
pub fn no_thread(error: &io::Error) -> Failure {
    let limit = match error.raw_os_error() {
        Some(libc::EMFILE) => "; look at ulimit -n",
        Some(libc::EAGAIN) => "; look at ulimit -u, and at pids.max of the control group",
        _ => "",
    };
    let text = format!("no thread can be started: {}{limit}", said(error));
    Failure::new("E125", failure::exit::OURS, text)
}

/// Says which flags of others mean nothing here, if any do.
pub fn say_left_out(flags: &[String]) {
    if !flags.is_empty() {
        let flags = flags.join(", ");
        say(&format!("muster: left out, because it means nothing here: {flags}  [N112]"));
    }
}

/// How a job that is called so has ended: its exit status, and what is said of it, nothing if all
/// went well.
pub fn ended(status: &Status, job: &str) -> (u8, Vec<String>) {
    match submit::not_run(status) {
        Some(failure) => (failure.exit, vec![format!("muster: {failure}")]),
        None => (status.exit.unwrap_or(failure::exit::OURS), summary::lines(status, job)),
    }
}

/// Prints a line on stdout, also on one that somebody made non-blocking.
fn print(line: &str) -> io::Result<()> {
    io::stdout().lock().flush()?;
    let out = io::stdout().as_fd().try_clone_to_owned()?;
    show::write_all(&out, format!("{line}\n").as_bytes())
}

/// The system's sentence without the number that Rust adds.
pub fn said(error: &std::io::Error) -> String {
    crate::unnumbered(&error.to_string())
}
