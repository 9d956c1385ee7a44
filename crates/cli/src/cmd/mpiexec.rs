//! `muster mpiexec`: what `mpiexec` and `mpirun` beside it run.

use super::{because, job_path, run};
use crate::cluster::{Context, NodeStatus, Status};
use crate::members;
use crate::mpiexec::{Line, Tells, flags, place, programs};
use crate::run::failure::exit;
use crate::run::{Failure, of_partition, print_failure, say, say_left_out};
use anyhow::Result;
use clap::Parser;
use muster_base::{elf, nodeset};
use muster_machine::manager::spec::Status as Job;
use muster_ninep::client::Client;
use std::io::Write;
use std::process::ExitCode;

/// Run an MPI program by the flags of Open MPI's and MPICH's mpiexec
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// mpiexec --help explains them
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// What `muster run` reads.
#[derive(Debug, Parser)]
struct Run {
    #[command(flatten)]
    args: run::Args,
}

/// Runs it as `muster run` would. What it fails with is said here.
///
/// # Errors
/// Standard output is closed.
pub fn main(args: &Args, context: &Context) -> Result<ExitCode> {
    // What cannot be read as a whole is looked at word by word.
    let is_json = args.words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let tell = |failure: Failure, is_json: bool| {
        if is_json {
            print_failure(&failure);
        }
        say(&format!("muster: {failure}"));
        Ok(ExitCode::from(failure.exit))
    };
    let mut line = match flags::read(&args.words) {
        Ok(line) => line,
        Err(failure) => return tell(failure, is_json),
    };
    let is_json = line.run.iter().any(|word| word == "--json");
    match line.tells {
        Some(Tells::Help) => return print(&flags::help()),
        Some(Tells::Version) => return print(concat!("muster ", env!("CARGO_PKG_VERSION"), "\n")),
        None => {}
    }
    if !line.is_quiet {
        say_left_out(&line.ignored);
    }
    let unset = line.drop_unset(|name| std::env::var_os(name).is_some());
    if !unset.is_empty() && !line.is_quiet {
        let unset = unset.join(", ");
        say(&format!("muster: left out, because it is not set here: {unset}  [N112]"));
    }
    let words = match translated(&line, context) {
        Ok(Ok(words)) => words,
        Ok(Err(failure)) => return tell(failure, is_json),
        Err(error) => return tell(run::trouble(&error), is_json),
    };
    match Run::try_parse_from(std::iter::once("mpiexec".to_owned()).chain(words)) {
        Ok(run) => run::main(run.args, context),
        Err(error) => {
            let help = "mpiexec --help";
            if is_json {
                let said = crate::sentence(&error, help);
                print_failure(&Failure::new("E100", exit::USAGE, said));
            }
            Ok(crate::refuse(&error, help))
        }
    }
}

/// The words for `muster run`, once the nodes were looked at.
fn translated(line: &Line, context: &Context) -> Result<Result<Vec<String>, Failure>> {
    let client = if context.embeds()? { None } else { Some(context.connect()?) };
    let (nodes, is_here) = match &client {
        None => (place::Nodes::default(), true),
        Some(client) => look(line, context, client)?,
    };
    let processors = |node: &str| {
        let told = client.as_ref()?.read(&format!("nodes/{node}/cpus")).ok()?;
        String::from_utf8_lossy(&told).trim().parse().ok()
    };
    let here = std::env::current_dir();
    let here = here.map_err(because("the directory that you are in", "E161"))?;
    let all = || {
        let mut words = place::words(line, &nodes, &processors)?;
        let (flags, command) = programs::words(line, &here, is_here)?;
        // Of a flag that is there twice the last counts: what was told.
        words.extend(flags.into_iter().chain(line.run.iter().cloned()).chain(command));
        Ok(words)
    };
    Ok(all())
}

/// The nodes that it may have, and whether all are this machine's and of its kind.
fn look(line: &Line, context: &Context, client: &Client) -> Result<(place::Nodes, bool)> {
    let mut status = Status::read(client)?;
    // One that goes on by itself has nodes of its own.
    let own_job = context.own_job().filter(|_| !line.run.iter().any(|word| word == "--detach"));
    if let Some(nodes) = own_job.and_then(|job| of_job(context, job)) {
        let at = |node: &NodeStatus| nodes.iter().position(|name| *name == node.name);
        status.nodes.retain(|node| at(node).is_some());
        status.nodes.sort_by_key(at);
    }
    let is_here = |status: &Status| {
        let mut up = status.nodes.iter().filter(|node| node.is_up());
        up.all(|node| node.host.is_none() && node.arch.as_deref() == Some(elf::HERE))
    };
    let mut all_here = is_here(&status);
    if own_job.is_none() {
        // Which of several clusters gets it is decided later, and it is to be right for each.
        let (members, _) = members::reached(context, client)?;
        let told = members.iter().skip(1).filter_map(|other| Status::read(&other.client).ok());
        all_here &= told.into_iter().all(|status| is_here(&status));
    }
    let part = valued(line, "--partition").last().and_then(|name| of_partition(client, name));
    let except = valued(line, "--exclude").filter_map(|set| nodeset::expand(set).ok());
    let except: Vec<String> = except.flatten().collect();
    let may_get = |node: &NodeStatus| {
        part.as_ref().is_none_or(|part| part.contains(&node.name)) && !except.contains(&node.name)
    };
    Ok((place::Nodes::of(&status, may_get), all_here))
}

/// The values that a flag of `muster run` was given.
fn valued<'a>(line: &'a Line, flag: &'a str) -> impl Iterator<Item = &'a str> {
    let next = line.run.iter().skip(1).map(Some).chain([None]);
    line.run.iter().zip(next).filter_map(move |(word, next)| match word.strip_prefix(flag)? {
        "" => next.map(String::as_str),
        more => more.strip_prefix('='),
    })
}

/// The nodes of the job in which this is started, in its order, if what it starts runs on these.
fn of_job(context: &Context, job: u32) -> Option<Vec<String>> {
    // A view may be another than that of the job.
    let client = context.of(&context.cluster).connect().ok()?;
    let scheduler = client.read_to_string("scheduler").ok()?;
    let told = client.read(&format!("{}/status", job_path(job))).ok()?;
    let told: Job = serde_json::from_slice(&told).ok()?;
    let mut nodes = Vec::new();
    for rank in told.ranks.iter().filter(|_| scheduler.trim() != "share") {
        if !nodes.contains(&rank.node) {
            nodes.push(rank.node.clone());
        }
    }
    (!nodes.is_empty()).then_some(nodes)
}

fn print(text: &str) -> Result<ExitCode> {
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
