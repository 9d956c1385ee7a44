//! The commands, a file each: flags, help and tests together.

mod cat;
mod completions;
mod cp;
mod daemon;
mod down;
mod explain;
mod export;
mod fabric;
mod history;
mod image;
mod init;
mod kill;
mod logs;
mod ls;
mod man;
mod mount;
mod mpiexec;
mod nodes;
mod partition;
mod ps;
pub mod run;
mod scheduler;
mod top;
pub mod umount;
mod up;
mod view;
mod wait;
mod write;

use crate::cluster::Context;
use crate::job_rows;
use crate::members::JobName;
use anyhow::Result;
use muster_ninep::client::Client;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// All commands.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Run(Box<run::Args>),
    Mpiexec(mpiexec::Args),
    Up(up::Args),
    View(view::Args),
    Init(init::Args),
    Down(down::Args),
    Ps(ps::Args),
    History(history::Args),
    Top(top::Args),
    Nodes(nodes::Args),
    Partition(partition::Args),
    Scheduler(scheduler::Args),
    Kill(kill::Args),
    Wait(wait::Args),
    Logs(logs::Args),
    Ls(ls::Args),
    Cat(cat::Args),
    Cp(cp::Args),
    Write(write::Args),
    Mount(mount::Args),
    Umount(umount::Args),
    Export(export::Args),
    Image(image::Args),
    Fabric(fabric::Args),
    Explain(explain::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    Daemon(daemon::Args),
}

impl Command {
    /// Whether it takes words of a program or of a file, of which none is its own.
    pub fn has_words(&self) -> bool {
        matches!(self, Command::Run(_) | Command::Mpiexec(_) | Command::Write(_))
    }
}

/// Runs a command.
///
/// # Errors
/// One sentence for the user.
pub fn run(command: Command, context: &Context) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::main(*args, context),
        Command::Mpiexec(args) => mpiexec::main(&args, context),
        Command::Up(args) => up::run(&args, context),
        Command::View(args) => view::run(&args, context),
        Command::Init(args) => init::run(&args),
        Command::Down(args) => down::run(&args, context),
        Command::Ps(args) => ps::run(&args, context),
        Command::History(args) => history::run(&args, context),
        Command::Top(args) => top::run(&args, context),
        Command::Nodes(args) => nodes::run(&args, context),
        Command::Partition(args) => partition::run(&args, context),
        Command::Scheduler(args) => scheduler::run(&args, context),
        Command::Kill(args) => kill::run(&args, context),
        Command::Wait(args) => wait::run(&args, context),
        Command::Logs(args) => logs::run(&args, context),
        Command::Ls(args) => ls::run(&args, context),
        Command::Cat(args) => cat::run(&args, context),
        Command::Cp(args) => cp::run(&args, context),
        Command::Write(args) => write::run(&args, context),
        Command::Mount(args) => mount::run(&args, context),
        Command::Umount(args) => umount::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Image(args) => image::run(&args, context),
        Command::Fabric(args) => fabric::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::Daemon(args) => daemon::run(&args, context),
    }
}

/// A mistake on the command line that only the command itself could see: exit status 2.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Makes a sentence of an error: `what: error  [id]`.
fn because<E: fmt::Display>(
    what: impl fmt::Display,
    id: &'static str,
) -> impl FnOnce(E) -> anyhow::Error {
    move |error| anyhow::anyhow!("{what}: {error}  [{id}]")
}

/// What fails of several that were named: each failure is told, and the others go on.
struct Several {
    is_one: bool,
    has_failed: bool,
}

impl Several {
    fn of<T>(named: &[T]) -> Several {
        Several { is_one: named.len() == 1, has_failed: false }
    }

    /// What could be done of the next.
    ///
    /// # Errors
    /// It could not, and is the only one; or nothing can be printed any more.
    fn next<T>(&mut self, done: Result<T>) -> Result<Option<T>> {
        match done {
            Ok(done) => return Ok(Some(done)),
            Err(error) if self.is_one || error.is::<io::Error>() => return Err(error),
            Err(error) => crate::run::say(&format!("muster: {}", crate::sentence_of(&error))),
        }
        self.has_failed = true;
        Ok(None)
    }

    /// The exit status for all.
    fn exit(&self) -> ExitCode {
        if self.has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

/// A refusal by a file of the cluster, with its id.
fn refused(error: muster_ninep::error::Error) -> anyhow::Error {
    // Sentences of the manager may carry an id of their own, and say where by themselves.
    if error.text.ends_with(']') {
        let text = match error.text.split_once(": ") {
            Some((path, sentence)) if path.starts_with('/') && !path.contains(' ') => sentence,
            _ => &error.text,
        };
        return anyhow::anyhow!("{text}");
    }
    let text = named_once(&error.text);
    let parent = text.split_once(": ").and_then(|(path, _)| path.rsplit_once('/'));
    let of_all = ["/ctl", "/scheduler", "/slots", "/partitions", "/views", "/images", "/events"];
    let is_of_all = of_all.iter().any(|file| text.starts_with(&format!("{file}: ")));
    match parent {
        Some(_) if is_of_all && error.errno == muster_ninep::error::Errno::NOENT => {
            let why = "you see a view, which has none; see all: --view /, unless you are named in";
            anyhow::anyhow!("{text}: {why} the view  [E160]")
        }
        Some((parent, _)) if error.errno == muster_ninep::error::Errno::NOENT => {
            let parent = if parent.is_empty() { "/" } else { parent };
            anyhow::anyhow!("{text}; see: muster ls {parent}  [E160]")
        }
        _ => anyhow::anyhow!("{text}  [E160]"),
    }
}

/// The sentence without the second name of the same file: `/a/b: a: why` becomes `/a: why`. But
/// where a node or a cluster puts its name before what a file of its has said, it is about that
/// file.
fn named_once(text: &str) -> String {
    let mut parts = text.splitn(3, ": ");
    let (Some(path), Some(name), Some(why)) = (parts.next(), parts.next(), parts.next()) else {
        return text.to_owned();
    };
    if name.starts_with('/') && path.starts_with(name) {
        return named_once(&format!("{path}: {why}"));
    }
    let (mut upto, mut above) = (0, "");
    for part in path.split('/') {
        upto += part.len();
        if part == name && !name.is_empty() {
            let is_server = matches!(above, "nodes" | "clusters");
            let named = if is_server { path } else { &path[..upto] };
            return named_once(&format!("{named}: {why}"));
        }
        upto += 1;
        above = part;
    }
    text.to_owned()
}

/// The directory of a job in the cluster tree.
fn job_path(job: u32) -> String {
    format!("jobs/{job}")
}

/// A refusal by a file of a job: that there is no such job is told as such, and that there was one.
fn job_refused(client: &Client, job: &JobName, error: muster_ninep::error::Error) -> anyhow::Error {
    if error.errno == muster_ninep::error::Errno::NOENT {
        let (label, listing) = (job.label(), job.listing());
        if let Some(before) = job_rows::forgotten(client, job.number) {
            return anyhow::anyhow!("{}  [E166]", job_rows::no_more_of(&label, &before));
        }
        return anyhow::anyhow!("there is no job {label}; see: {listing}  [E162]");
    }
    refused(error)
}

/// Writes to standard output, whole, also where somebody made it non-blocking, as programs that
/// share a terminal or a pipe with us do.
pub fn out(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.flush()?;
    crate::run::show::write_all(&stdout, bytes)
}

/// How long nobody may read our output before we end: who has all of it to print ends by itself
/// within that, and a pipe with a name may get another reader.
const UNREAD: std::time::Duration = std::time::Duration::from_millis(200);

/// From now on ends this process as SIGPIPE does when nobody reads its standard output any more:
/// who waits for more to print would else know only when that comes.
fn end_with_reader() {
    // Without a thread it ends with the next byte.
    let _ = std::thread::Builder::new().spawn(|| {
        while has_lost_reader(None) {
            std::thread::sleep(UNREAD);
            if has_lost_reader(Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 })) {
                std::process::exit(crate::PIPE.into());
            }
        }
    });
}

/// Waits until nobody reads our standard output any more; false if that cannot be seen, or is not
/// so by then.
fn has_lost_reader(wait: Option<&rustix::event::Timespec>) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let stdout = io::stdout();
    loop {
        let mut gone = [PollFd::new(&stdout, PollFlags::empty())];
        let told = poll(&mut gone, wait);
        if told != Err(rustix::io::Errno::INTR) {
            return gone[0].revents().intersects(PollFlags::ERR | PollFlags::HUP);
        }
    }
}

/// Prints a value for programs.
fn print_json(value: &serde_json::Value) -> Result<()> {
    out(format!("{value}\n").as_bytes())?;
    Ok(())
}

/// Prints the object of what has failed. It is said on stderr as well, and by the exit status.
pub fn print_failure(failure: &crate::run::Failure) {
    let _ = print_json(&serde_json::json!({"schema": SCHEMA, "error": failure.json()}));
}

/// What has been done where there is nothing to list: `--json` says in which cluster.
fn done(is_json: bool, context: &Context) -> Result<ExitCode> {
    if is_json {
        print_json(&serde_json::json!({"schema": SCHEMA, "cluster": context.cluster}))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Seconds since 1970.
fn now() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_once() {
        for (text, said) in [
            ("/nope: nope: no such file", "/nope: no such file"),
            ("/nope/x: nope: no such file", "/nope: no such file"),
            ("/nope: /: no files can be made", "/nope: no files can be made"),
            ("/a: cannot be read: Is full", "/a: cannot be read: Is full"),
            ("no path", "no path"),
            ("/nodes/n0/1/ctl: n0: 'x' is no command", "/nodes/n0/1/ctl: 'x' is no command"),
            ("/nodes/n0: n0: not for reading", "/nodes/n0: not for reading"),
            ("/nodes/n0/x: /nodes/n0: n0: no files", "/nodes/n0/x: no files"),
            ("/clusters/b/nodes/n3/ctl: b: n3: why: how", "/clusters/b/nodes/n3/ctl: why: how"),
        ] {
            assert_eq!(named_once(text), said);
        }
        let error = muster_ninep::error::Error::from(muster_ninep::error::Errno::NOENT);
        let said = refused(error.at("/nope")).to_string();
        assert_eq!(said, "/nope: No such file or directory; see: muster ls /  [E160]");
        let own = "/ctl: there is no node n9  [E113]";
        let error = muster_ninep::error::Error::new(muster_ninep::error::Errno::NOENT, own);
        assert_eq!(refused(error).to_string(), "there is no node n9  [E113]");
    }
}
