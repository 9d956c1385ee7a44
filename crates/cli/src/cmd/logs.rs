//! `muster logs`: what a job has printed.

use super::{end_with_reader, job_path, job_refused, out, refused, wait};
use crate::cluster::Context;
use crate::members::JobName;
use crate::run::lines::{Joint, LINE_MAX, Lines};
use crate::run::say;
use anyhow::{Result, anyhow, bail};
use muster_base::nodeset::fold_numbers;
use muster_machine::manager::spec::{Phase, Status};
use muster_ninep::client::{Client, File};
use muster_ninep::error::Errno;
use muster_ninep::tree::OpenFlags;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Print what a job has printed so far.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster logs 3\n  muster logs -f -l 3\n  \
                        muster logs 3 --rank 5 --stderr\n  muster logs --drop 3")]
pub struct Args {
    /// Number of the job, or CLUSTER.NUMBER
    job: JobName,
    /// Go on until the job ends, also if it still waits for its nodes
    #[arg(short, long)]
    follow: bool,
    /// Only this rank's output
    #[arg(long)]
    rank: Option<u32>,
    /// Put each line's rank in front
    #[arg(short, long)]
    label: bool,
    /// What it has printed on standard error
    #[arg(long)]
    stderr: bool,
    /// Print nothing, and keep no longer what the job has printed; it has ended
    #[arg(long, conflicts_with_all = ["follow", "rank", "label", "stderr"])]
    drop: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let context = &args.job.context(context)?;
    let job = args.job.number;
    let client = context.connect()?;
    if args.drop {
        let dropped = client.write(&format!("{}/ctl", job_path(job)), "drop output\n");
        dropped.map_err(|error| job_refused(&client, &args.job, error))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.follow {
        end_with_reader();
    }
    let file = if args.stderr { "stderr" } else { "stdout" };
    let directory = job_path(job);
    let Some((client, mut ranks)) = started(client, context, &args.job, args.follow)? else {
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(rank) = args.rank {
        if !ranks.contains(&rank) {
            let all: Vec<usize> = ranks.iter().map(|&rank| rank as usize).collect();
            let all = fold_numbers(&all, 1);
            let job = args.job.label();
            bail!("job {job} has no rank {rank}, but {all}; see: muster ps -r {job}  [E160]");
        }
        ranks = vec![rank];
    }
    tell_what_follows(&client, &args.job)?;
    let (name, known) = (args.job.clone(), client.clone());
    let source = Source { context: context.clone(), client, name, follow: args.follow };
    if args.label {
        labelled(source, &directory, file, &ranks)?;
    } else {
        let path = match args.rank {
            Some(rank) => format!("{directory}/ranks/{rank}/{file}"),
            None => format!("{directory}/{file}"),
        };
        let length = copy(&source, &path, None)?;
        if length == 0 && !args.stderr {
            tell_of_errors(&source, &path, args.rank);
        }
    }
    if args.follow && args.rank.is_none() {
        // Output ends as well where a cluster is taken down, and then that is to be said.
        wait::outcome(&args.job, context, known)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Says where all is that a job has printed, if that is not what was asked for.
fn tell_of_errors(source: &Source, path: &str, rank: Option<u32>) {
    let path = path.strip_suffix("stdout").map(|directory| format!("{directory}stderr"));
    let length = path.and_then(|path| source.client.getattr(&path).ok()).map_or(0, |it| it.size);
    if length > 0 {
        let job = source.name.label();
        let (of, args) = match rank {
            Some(rank) => (format!("rank {rank} of job {job}"), format!("--rank {rank} {job}")),
            None => (format!("job {job}"), job),
        };
        say(&format!(
            "muster: of what {of} has printed on standard output nothing is here, and {length} \
             bytes on standard error: muster logs --stderr {args}  [N114]"
        ));
    }
}

/// Where output comes from.
struct Source {
    context: Context,
    client: Client,
    name: JobName,
    /// All of it is wanted, until it ends.
    follow: bool,
}

/// A stream while it is read.
struct Stream {
    client: Client,
    file: File,
    /// How far to read it.
    end: u64,
}

impl Source {
    /// Opens a stream where it begins.
    fn open(&self, client: Client, path: &str) -> Result<Stream> {
        let file = client.open(path, OpenFlags::default()).map_err(refused)?;
        // The first read decides where it begins, if not all of it is kept.
        file.fid().read_at(0, 0).map_err(refused)?;
        let end = match self.follow {
            true => u64::MAX,
            false => file.fid().getattr().map_err(refused)?.size,
        };
        Ok(Stream { client, file, end })
    }

    /// Opens it at the manager that follows one which has died. Only where all of it is kept the
    /// offsets are the same there.
    fn open_again(&self, path: &str) -> Option<Stream> {
        loop {
            let client = self.context.connect_again()?;
            let has_all = status(&client, self.name.number).is_some_and(|status| status.taken == 0);
            match client.open(path, OpenFlags::default()) {
                Ok(file) if has_all => return Some(Stream { client, file, end: u64::MAX }),
                _ if client.ended().is_some() => {}
                _ => return None,
            }
        }
    }
}

/// What the manager tells of a job.
fn status(client: &Client, job: u32) -> Option<Status> {
    let status = client.read(&format!("{}/status", job_path(job))).ok()?;
    serde_json::from_slice(&status).ok()
}

/// Says of a job that has begun again that this is the output of all its attempts, and of one whose
/// output somebody takes that this is only the end of it. Of one whose output was dropped nothing
/// follows.
fn tell_what_follows(client: &Client, name: &JobName) -> Result<()> {
    let status = status(client, name.number).unwrap_or_default();
    let job = name.label();
    if let Some(why) = status.dropped {
        bail!("what job {job} has printed was dropped: {why}  [E164]");
    }
    if !status.requeued.is_empty() {
        let attempts = status.requeued.len() + 1;
        // Nobody has to read it.
        let _ = writeln!(
            io::stderr(),
            "muster: job {job} has begun again: what its {attempts} attempts have printed follows, \
             one after another  [N304]"
        );
    }
    if status.taken > 0 {
        let _ = writeln!(
            io::stderr(),
            "muster: of all that job {job} has printed the first {} MB went to its muster run and \
             are not kept: here is the rest  [N113]",
            status.taken / 1_000_000
        );
    }
    Ok(())
}

/// The ranks of a job as [`ranks`] has them, and the manager that told them: whoever follows the
/// job asks the next one where one has died.
fn started(
    mut client: Client,
    context: &Context,
    name: &JobName,
    follow: bool,
) -> Result<Option<(Client, Vec<u32>)>> {
    loop {
        let error = match ranks(&client, context, name, follow) {
            Ok(ranks) => return Ok(ranks.map(|ranks| (client, ranks))),
            Err(error) => error,
        };
        if !follow || client.ended().is_none() {
            return Err(error);
        }
        let again = context.connect_again();
        client = again.ok_or_else(|| context.ended(name).unwrap_or(error))?;
    }
}

/// The ranks of a job, in order. One that waits for its nodes has none: who follows it waits until
/// it has, others are told.
fn ranks(
    client: &Client,
    context: &Context,
    name: &JobName,
    follow: bool,
) -> Result<Option<Vec<u32>>> {
    let (job, label) = (name.number, name.label());
    loop {
        let ranks = placed(client, name)?;
        if !ranks.is_empty() {
            return Ok(Some(ranks));
        }
        let status = client.read(&format!("{}/status", job_path(job)));
        let status = status.map_err(|error| job_refused(client, name, error))?;
        let Status { state, why, .. } = serde_json::from_slice(&status)?;
        if !matches!(state, Phase::New | Phase::Pending) {
            // It may have got them meanwhile.
            let ranks = placed(client, name)?;
            if ranks.is_empty() {
                let see = name.listing();
                bail!("job {label} was not started and printed nothing; see: {see}  [E160]")
            }
            return Ok(Some(ranks));
        }
        if !follow {
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let text = format!("job {label} waits and has printed nothing{why}");
            writeln!(io::stderr(), "muster: {text}  [N110]")?;
            return Ok(None);
        }
        // It is answered when the job runs, or has ended.
        let begun = client.read(&format!("{}/begun", job_path(job)));
        begun.map_err(|error| context.ended(name).unwrap_or_else(|| refused(error)))?;
    }
}

/// The ranks that have places, in order.
fn placed(client: &Client, name: &JobName) -> Result<Vec<u32>> {
    let directory = job_path(name.number);
    let entries = match client.readdir(&format!("{directory}/ranks")) {
        Err(error) if error.errno == Errno::NOENT && client.getattr(&directory).is_ok() => {
            return Ok(Vec::new());
        }
        other => other.map_err(|error| job_refused(client, name, error))?,
    };
    let number = |name: &[u8]| std::str::from_utf8(name).ok()?.parse::<u32>().ok();
    let mut ranks: Vec<u32> = entries.iter().filter_map(|entry| number(&entry.name)).collect();
    ranks.sort_unstable();
    Ok(ranks)
}

/// Prints the output of each rank, a label before each line, as the lines come.
fn labelled(source: Source, directory: &str, file: &str, ranks: &[u32]) -> Result<()> {
    let width = ranks.last().map_or(1, |last| last.to_string().len());
    let (source, joint) = (Arc::new(source), Arc::new(Mutex::new(Joint::default())));
    let one = |rank: u32| {
        let path = format!("{directory}/ranks/{rank}/{file}");
        let text = format!("{rank:>width$}: ");
        let label = Label { rank: rank as usize, text, joint: joint.clone() };
        let source = source.clone();
        move || copy(&source, &path, Some(&label))
    };
    if !source.follow {
        // What is there already is clearer rank by rank.
        return ranks.iter().try_for_each(|&rank| one(rank)().map(drop));
    }
    let (tell, ends) = channel();
    for &rank in ranks {
        let (one, tell) = (one(rank), tell.clone());
        // Nobody listens any more if another has failed.
        let follower = move || drop(tell.send(one()));
        std::thread::Builder::new().spawn(follower).map_err(|error| {
            let (count, job) = (ranks.len(), source.name.label());
            anyhow!(
                "{count} ranks cannot be followed at once, each with its label: no thread for one \
                 more: {error}; without labels: muster logs -f {job}  [E125]"
            )
        })?;
    }
    drop(tell);
    let mut first = Ok(());
    for error in ends.into_iter().filter_map(Result::err) {
        // Where nobody reads what is printed, those that wait for their ranks are not waited for.
        if error.is::<io::Error>() {
            return Err(error);
        }
        first = first.and(Err(error));
    }
    first
}

/// What to put before each line, and how far the others are where all print.
struct Label {
    rank: usize,
    text: String,
    joint: Arc<Mutex<Joint>>,
}

/// Prints a stream: what is there by now or, to follow it, all until it ends. Returns how far.
fn copy(source: &Source, path: &str, label: Option<&Label>) -> Result<u64> {
    let mut stream = source.open(source.client.clone(), path)?;
    let mut offset = 0;
    let mut lines = Lines::default();
    while offset < stream.end {
        let count = u64::from(stream.client.max_data()).min(stream.end - offset) as u32;
        let data = match stream.file.fid().read_at(offset, count) {
            Err(error) if error.errno == Errno::STALE => {
                let text = "some of the job's output went to its muster run and is not kept any \
                            more: here is the rest  [N113]";
                let _ = writeln!(io::stderr(), "muster: {text}");
                stream = source.open(stream.client, path)?;
                offset = 0;
                continue;
            }
            Err(error) if source.follow && stream.client.ended().is_some() => {
                let gone = || source.context.ended(&source.name).unwrap_or_else(|| refused(error));
                stream = source.open_again(path).ok_or_else(gone)?;
                continue;
            }
            read => read.map_err(refused)?,
        };
        if data.is_empty() {
            break;
        }
        offset += data.len() as u64;
        match label {
            None => out(&data)?,
            Some(label) => {
                let mut whole = Vec::new();
                // A longer line is not held until its end.
                lines.push(&data, LINE_MAX, Instant::now(), &mut whole);
                print_lines(label, &whole, false)?;
            }
        }
    }
    if let Some(label) = label {
        let mut rest = Vec::new();
        lines.take(&mut rest);
        print_lines(label, &rest, true)?;
    }
    Ok(offset)
}

/// Prints lines, and at the end a newline where the last has none.
fn print_lines(label: &Label, lines: &[u8], end: bool) -> Result<()> {
    let mut text = Vec::new();
    let mut joint = label.joint.lock().expect("no holder panics");
    joint.write(label.rank, &label.text, lines, &mut text);
    if end {
        joint.end(label.rank, &mut text);
    }
    // Still in turn: the next one goes by what is printed here.
    out(&text)?;
    drop(joint);
    Ok(())
}
