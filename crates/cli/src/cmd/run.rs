//! `muster run`: runs a program on the nodes of the cluster.

use crate::cluster::{Context, Status};
use crate::members::{self, Member};
use crate::run::failure::exit;
use crate::run::program::Program;
use crate::run::show::{Goal, Style};
use crate::run::template::Template;
use crate::run::{
    Cluster, Failure, Input, Wish, environment, libraries, look, program, say, say_left_out,
};
use anyhow::Result;
use clap::ArgAction;
use muster_base::limits::{NODES_HERE_MAX, REQUEUES_MAX};
use muster_base::nodeset;
use muster_base::span;
use muster_machine::manager::spec::{PerNode, Spec};
use muster_ninep::client::Client;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Run a program on the cluster
///
/// PROGRAM with a slash is a file here and is sent along; a bare name is searched on the nodes. The
/// Python of a virtual environment is not sent, nor is the script that libtool makes of a program
/// that is not installed: these have to be at the same place there.
/// Without -N and -n one rank runs on one node; with -N alone, one rank on each node. With no
/// cluster up, one is started on this machine and taken down again.
///
/// Of a flag that is given twice the last counts. More flags of srun are taken, and what they mean
/// here is in docs/coming.md.
///
/// The exit status is that of the first rank that failed: its own, or 128 plus the number of the
/// signal that killed it; 124 when the time limit ended the job, 2 for a mistake on the command
/// line, 125 when the cluster refuses or Muster failed, 126 and 127 when the program could not be
/// run or found.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct Args {
    /// Number of nodes
    #[arg(short = 'N', long, value_name = "N", value_parser = node_count)]
    nodes: Option<u32>,

    /// Number of ranks
    #[arg(short = 'n', long, visible_alias = "np", value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..))]
    ntasks: Option<u32>,

    /// Fill a node with so many ranks before the next; without -n, so many on each node. Several,
    /// such as 1,3, are those of each node that -w names
    #[arg(long, visible_alias = "ppn", alias = "tasks-per-node", value_name = "N[,N...]",
          value_parser = per_node)]
    ntasks_per_node: Option<PerNode>,

    /// Run on these nodes, such as n[1-3,7]
    #[arg(short = 'w', long, value_name = "NODES", value_parser = node_list)]
    nodelist: Option<String>,

    /// Run on other nodes than these; may be repeated
    #[arg(short = 'x', long, value_name = "NODES", action = ArgAction::Append,
          value_parser = no_or_node_list)]
    exclude: Vec<String>,

    /// Put the rank before each line of output
    #[arg(short, long, conflicts_with = "json")]
    label: bool,

    /// Show equal output of several ranks once, at the end
    #[arg(short = 'b', long, conflicts_with_all = ["label", "raw", "json"])]
    fold: bool,

    /// Pass output on as bytes as they come; lines of several ranks may mix
    ///
    /// Without it several ranks share a place line by line: the last line of each gets a newline if
    /// it has none, and a line of more than 1 MiB may be broken by a backslash and a newline. For
    /// output that is no text use --raw, or a file for each rank: -o out.%n
    #[arg(long, conflicts_with_all = ["label", "json"])]
    raw: bool,

    /// Working directory on the nodes; by default one of the rank's own, which goes with the job
    ///
    /// What a program writes there is gone at its end. To keep it, use -D "$PWD" where the nodes
    /// have this directory, as on one machine, or write to an absolute path.
    #[arg(short = 'D', long, value_name = "DIR")]
    chdir: Option<String>,

    /// Set a variable in the ranks' environment, or with --env K pass on its value here
    ///
    /// The environment here is passed on, except what belongs to this machine or terminal: PWD,
    /// TMPDIR, DISPLAY, HOSTNAME, SSH_*, GPG_*, XDG_RUNTIME_* and the like; what other launchers
    /// and make set: OMPI_*, PMI*, SLURM_*, MAKEFLAGS; MUSTER_* (but MUSTER_MPI_DEADLOCK); and what
    /// is no text (UTF-8).
    #[arg(long, value_name = "K=V", action = ArgAction::Append)]
    env: Vec<String>,

    /// Pass on nothing of the environment here but what --env names
    #[arg(long)]
    no_env: bool,

    /// Standard input: FILE (to every rank), none, all (ours to every rank), or a RANK for ours
    ///
    /// By default rank 0 gets ours, all of it: in a shell loop such as `while read x; do muster
    /// run ...; done < list` that eats the list, so write --input none there.
    #[arg(short, long, value_name = "FILE|none|all|RANK")]
    input: Option<String>,

    /// Write standard output to files: %j job, %n or %t rank, %N node, %% percent; none; or all,
    /// which is to show it
    ///
    /// Ranks with the same file share it line by line (see --raw). Without --error, standard error
    /// goes there as well. Directories must exist.
    #[arg(short, long, value_name = "TEMPLATE", value_parser = goal)]
    output: Option<Goal>,

    /// Write standard error to files, as --output
    #[arg(short, long, value_name = "TEMPLATE", value_parser = goal)]
    error: Option<Goal>,

    /// End the job after this time: seconds, MM:SS, HH:MM:SS, D-HH:MM:SS, 90s, 5m, 1h, or unlimited
    #[arg(short, long, value_name = "TIME", value_parser = limit)]
    time: Option<Duration>,

    /// Jobs of a higher priority get their nodes first; 0 if not given
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    priority: i32,

    /// Run on the nodes and by the rules of this partition (muster partition lists them)
    #[arg(short, long, value_name = "NAME")]
    partition: Option<String>,

    /// Let ranks move between processors, also where jobs take turns
    ///
    /// With gang scheduling (muster scheduler) a job whose ranks fill the processors of a machine
    /// has each bound to one, as many to each, so that all are where they were at the next turn.
    /// Ranks that have threads of their own, or unequal work, may do better without. They are
    /// nicer (nice(1)) than other processes either way.
    #[arg(long)]
    no_bind: bool,

    /// Let the other ranks go on when one fails
    #[arg(long)]
    keep_going: bool,

    /// Let the other ranks go on when a node is lost
    ///
    /// The lost ranks are named at the end. The exit status is that of the others, or 125 if there
    /// are none.
    #[arg(short_alias = 'k', long, alias = "no-kill")]
    tolerate: bool,

    /// Begin again on other nodes when a node is lost, N times at most (3 if not given)
    ///
    /// All ranks are ended first; then the job waits for nodes, before others of its priority, and
    /// the program is run from its start. MUSTER_RESTART_COUNT in its environment counts how often.
    /// What was printed before stays. Such a job reads no input. A host that is cut off from all
    /// others ends its ranks only after 60 s, while they may run elsewhere again.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
          default_missing_value = "3",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(REQUEUES_MAX)))]
    requeue: Option<u32>,

    /// Send a file or directory to every rank's working directory; may be repeated
    ///
    /// Each rank gets a copy, which it may write to. Programs and read-only files are there once
    /// for all ranks of a node: for a long file that nobody writes to, chmod a-w FILE saves time.
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    bcast: Vec<PathBuf>,

    /// Send the shared libraries along that PROGRAM, and binaries named by --bcast, need
    ///
    /// They are found here as the loader would find them, and come first in the ranks'
    /// LD_LIBRARY_PATH. The C library stays behind, with its loader and all that is part of it:
    /// these are the nodes' own. Send what a program opens only while it runs by --bcast.
    #[arg(long)]
    bcast_libs: bool,

    /// PROGRAM is a path on the nodes: send nothing
    #[arg(long)]
    no_send: bool,

    #[command(flatten)]
    order: crate::run::order::Wanted,

    #[command(flatten)]
    srun: crate::run::srun::Flags,

    /// Print at the end how long it took to send the files and to execute the program, and to wait
    #[arg(long)]
    timing: bool,

    /// End with one JSON object on standard output, in which the ranks' output is, up to 1 MiB
    /// for each stream (less with more than 32 ranks)
    ///
    /// Beside a stdout that was longer stands stdout_truncated, and stdout_lossy beside one that is
    /// no text (UTF-8): what was none is U+FFFD there. Such output goes to files: -o out.%n
    #[arg(long)]
    json: bool,

    /// Name of the job in listings; by default the program's
    #[arg(short = 'J', long, visible_alias = "job-name")]
    name: Option<String>,

    /// Say nothing besides what the program says
    #[arg(short, short_alias = 'Q', long)]
    quiet: bool,

    /// Start the job, print its number and leave it alone
    #[arg(long, conflicts_with_all = ["label", "fold", "raw", "timing"])]
    detach: bool,

    /// Time between asking ranks to end and the next stronger means, after Ctrl-C for instance
    ///
    /// INT (Ctrl-C), TERM, HUP, USR1 and USR2 go on to the ranks as they are. If the job has not
    /// ended this long after one of the first three, they get TERM, or, if they had that, are
    /// killed. A second INT kills them at once, and so does a second TERM half a second after the
    /// first or later: timeout(1) sends each twice. TERM after INT is no second one. A job whose
    /// --time is over has 30s at most: others wait for its nodes.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = span::parse)]
    grace: Duration,

    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    command: Vec<String>,
}

/// Whether the flag of this long name takes a value; none if there is no such flag.
pub fn takes_value(name: &str) -> Option<bool> {
    let command = <Args as clap::Args>::augment_args(clap::Command::new("run"));
    let is_it = |arg: &&clap::Arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
    };
    let flag = command.get_arguments().find(is_it)?;
    Some(flag.get_action().takes_values() && !flag.is_require_equals_set())
}

fn node_count(text: &str) -> Result<u32, String> {
    let numbers = text.split_once('-').map(|(least, most)| (least.parse(), most.parse::<u32>()));
    let number = match numbers {
        Some((Ok(least), Ok(most))) if least == most => Ok(most),
        Some((Ok::<u32, _>(_), Ok(_))) => {
            let text = "the number of nodes is fixed. With -n alone a job does with what is there";
            return Err(text.to_owned());
        }
        _ => text.parse().map_err(|error: std::num::ParseIntError| error.to_string()),
    };
    match number? {
        0 => Err("0 is not in 1..=4294967295".to_owned()),
        number => Ok(number),
    }
}

/// A time limit, with the words that srun has for none. Its 0 is none as well, which elsewhere is
/// a mistake of whoever reckons: here, too.
fn limit(text: &str) -> Result<Duration, String> {
    let is_none = ["unlimited", "infinite"].contains(&&*text.to_ascii_lowercase());
    if is_none { Ok(Duration::MAX) } else { span::parse(text) }
}

fn node_list(text: &str) -> Result<String, String> {
    nodeset::expand(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// A script may have none to name.
fn no_or_node_list(text: &str) -> Result<String, String> {
    if text.is_empty() { Ok(String::new()) } else { node_list(text) }
}

/// All nodes of these sets, each once.
fn excluded(sets: &[String]) -> Option<String> {
    let names = sets.iter().filter_map(|set| nodeset::expand(set).ok()).flatten();
    let names: BTreeSet<String> = names.collect();
    (!names.is_empty()).then(|| names.into_iter().collect::<Vec<_>>().join(","))
}

fn per_node(text: &str) -> Result<PerNode, String> {
    let number = |word: &str| match word.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err(format!("'{word}' is no number of ranks: at least 1 is needed")),
    };
    match text.split_once(',') {
        None => number(text).map(PerNode::Same),
        Some(_) => text.split(',').map(number).collect::<Result<_, _>>().map(PerNode::Each),
    }
}

fn goal(text: &str) -> Result<Goal, String> {
    match text {
        "none" => Ok(Goal::Nowhere),
        // Srun's word for what is so anyway.
        "all" => Ok(Goal::Ours),
        _ => Template::parse(text).map(Goal::Files),
    }
}

impl Args {
    /// Looks whether input and output can be as they are wanted together.
    fn look_at_streams(&self) -> Result<(), Failure> {
        let is_file = |goal: &Option<Goal>| matches!(goal, Some(Goal::Files(_)));
        // What is not said otherwise of errors goes where output goes.
        let is_given = |goal: &Option<Goal>| goal.as_ref().is_some_and(|goal| *goal != Goal::Ours);
        let is_shown = !is_given(&self.output);
        let text = if self.fold && !is_shown && (is_file(&self.output) || is_file(&self.error)) {
            "-b shows equal output of several ranks once, which files have of each: leave out -b, \
             or write what it shows to a file: muster run -b ... > FILE"
        } else if self.detach && (is_given(&self.output) || is_given(&self.error)) {
            "the output of a detached job stays with the cluster: leave out --output and --error, \
             and take it by muster logs -f JOB > FILE"
        } else if self.detach && self.input.as_ref().is_some_and(|input| input != "none") {
            "a detached job reads no input from here: send the file along and have a shell read \
             it: muster run --detach --bcast FILE sh -c 'PROGRAM < FILE'"
        } else {
            return Ok(());
        };
        Err(Failure::new("E100", exit::USAGE, text))
    }

    /// What the user wishes, once the program and the environment were looked at. Nothing has
    /// to be up for this, so a mistake is told before a cluster is started.
    ///
    /// # Errors
    /// The mistake.
    pub fn wish(mut self) -> Result<Wish, Failure> {
        self.order.look()?;
        self.srun.look()?;
        self.look_at_streams()?;
        let goals = self.goals();
        let named = self.command[0].clone();
        let program = program::find(&named, !self.no_send)?;
        let env = self.environment()?;
        if let Program::There(path) = &program {
            self.command[0].clone_from(path);
        }
        let input = match (&self.input, self.detach) {
            (_, true) => Input::None,
            (None, _) if self.requeue.is_some() => Input::if_any(),
            (None, _) => Input::ours(),
            (Some(word), _) => Input::parse(word),
        };
        let style = match () {
            () if self.json => Style::Keep,
            () if self.raw => Style::Raw,
            () if self.fold => Style::Fold,
            () if self.srun.unbuffers() && !self.label => Style::Raw,
            () => Style::Lines,
        };
        let last = named.rsplit('/').find(|part| !part.is_empty());
        let spec = Spec {
            nodes: self.nodes.map(|nodes| nodes as usize),
            ranks: self.ntasks.map(|ranks| ranks as usize),
            per_node: self.ntasks_per_node,
            nodelist: self.nodelist,
            exclude: excluded(&self.exclude),
            env,
            chdir: self.chdir,
            stdin: input.stdin(),
            time_ms: self.time.map(milliseconds),
            priority: self.priority,
            partition: self.partition,
            within: None,
            keep_going: self.keep_going || self.srun.keeps_going(),
            tolerate: self.tolerate,
            requeue: self.requeue.unwrap_or(0),
            unbound: self.no_bind || self.srun.unbinds(),
            umask: environment::umask(),
            name: Some(self.name.unwrap_or_else(|| last.unwrap_or(&named).to_owned())),
            grace_ms: milliseconds(self.grace),
            argv: self.command,
        };
        let mut wish = Wish {
            spec,
            program,
            named,
            bcast: self.bcast,
            libraries: Vec::new(),
            input,
            goals,
            style,
            label: self.label,
            quiet: self.quiet,
            detach: self.detach,
            json: self.json,
            timing: self.timing,
            grace: self.grace,
        };
        look(&wish)?;
        if self.bcast_libs {
            wish.libraries = libraries::wanted(&wish.program, &wish.bcast)?;
        }
        Ok(wish)
    }

    /// Where standard output and standard error go.
    fn goals(&self) -> [Goal; 2] {
        let goal = |goal: &Option<Goal>| match goal.clone() {
            Some(Goal::Files(files)) => Some(Goal::Files(files.appending(self.srun.appends()))),
            goal => goal,
        };
        let output = goal(&self.output).unwrap_or(Goal::Ours);
        let error = goal(&self.error).unwrap_or_else(|| output.clone());
        [output, error]
    }

    /// What the ranks find in their environment.
    fn environment(&self) -> Result<BTreeMap<String, String>, Failure> {
        let mut wished = self.srun.exported(|name| std::env::var_os(name).is_some());
        wished.extend_from_slice(&self.env);
        let passes = !self.no_env && !self.srun.drops_env();
        let mut env = environment::gather(std::env::vars_os(), &wished, passes)?;
        env.extend(self.order.variables());
        Ok(env)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Nodes of a cluster that is started for one job, unless the job names them: as many as ranks,
/// but not more than this.
const EMBEDDED_MAX: usize = 8;

/// How many nodes a cluster for this job alone has.
///
/// # Errors
/// The job wants what only a cluster that stays can have.
fn embedded_nodes(wish: &Wish) -> Result<usize, Failure> {
    if wish.detach {
        let text = "no cluster is up that a detached job could go on in. First: muster up";
        return Err(Failure::new("E142", exit::USAGE, text));
    }
    let spec = &wish.spec;
    let each = spec.per_node.as_ref().map_or(1, |each| each.on(1));
    let wanted = spec.nodes.or(spec.ranks.map(|ranks| ranks.div_ceil(each).min(EMBEDDED_MAX)));
    let Some(list) = &spec.nodelist else { return Ok(wanted.unwrap_or(1)) };
    // Of more nodes than ranks the first are used, but all are to be there.
    let most = spec.nodes.unwrap_or(EMBEDDED_MAX);
    let number = |name: &String| name.strip_prefix('n')?.parse::<usize>().ok();
    let mut count = 1;
    for name in nodeset::expand(list).unwrap_or_default() {
        match number(&name) {
            Some(number) if number < most => count = count.max(number.saturating_add(1)),
            other => {
                let has = if most == 1 { "n0".into() } else { format!("n[0-{}]", most - 1) };
                let up = other.map_or(most, |number| number.saturating_add(1).min(NODES_HERE_MAX));
                let first = match other {
                    Some(_) => format!("muster up -N {up}"),
                    None => "muster up --hosts FILE, if it is a host".to_owned(),
                };
                let text = format!(
                    "no cluster is up, and one for this job alone has {has}, no {name}. Choose \
                     of these, or first: {first}"
                );
                return Err(Failure::new("E113", exit::USAGE, text));
            }
        }
    }
    Ok(count)
}

/// Whether all of a cluster's nodes see the files that are here.
fn is_on_this_machine(client: &Client) -> bool {
    Status::read(client).is_ok_and(|status| status.nodes.iter().all(|node| node.host.is_none()))
}

/// Puts a job into the job that it is started in; else into the cluster that has room for it, where
/// a view merges several: that cluster, if it is another one.
fn placed(
    wish: &mut Wish,
    context: &Context,
    cluster: &Cluster,
) -> Result<Option<Cluster>, Failure> {
    // One that goes on by itself has nodes of its own, of any cluster.
    wish.spec.within = context.own_job().filter(|_| !wish.detach);
    if wish.spec.within.is_some() {
        members::keep(wish, context, &cluster.client)?;
        return Ok(None);
    }
    let members = members::all(context, &cluster.client).map_err(|error| trouble(&error))?;
    let chosen = members::choose(wish, &members)?;
    let Some(Member { name: name @ Some(_), context, .. }) = members.into_iter().nth(chosen) else {
        return Ok(None);
    };
    let (other, _) = context.for_job(None).map_err(|error| trouble(&error))?;
    if !wish.quiet && !wish.detach {
        let name = &context.cluster;
        say(&format!("muster: it is a job of cluster {name}: muster ps {name}.NUMBER  [N129]"));
    }
    Ok(Some(Cluster { name, ..other }))
}

/// Says of a script that is written for sbatch that what it asks for there is not heeded.
fn say_unread(wish: &Wish) {
    if let Program::Here(all) = &wish.program
        && all.iter().any(|binary| program::is_for_sbatch(&binary.path))
    {
        let named = &wish.named;
        say(&format!(
            "muster: the #SBATCH lines of {named} are not read: write their flags here, as muster \
             run --detach -N 4 -t 10m {named}  [N112]"
        ));
    }
}

/// What kept a job from having a cluster.
pub fn trouble(error: &anyhow::Error) -> Failure {
    Failure::told("E123", exit::OURS, &format!("{error:#}"))
}

/// Runs it, on the cluster that is up or on one of its own. What it fails with is said here.
///
/// # Errors
/// Why there is no cluster.
pub fn main(args: Args, context: &Context) -> Result<ExitCode> {
    let is_json = args.json;
    let tell = |failure: &Failure| {
        say(&format!("muster: {failure}"));
        ExitCode::from(failure.exit)
    };
    // Before there is a job nobody else has told.
    let tell_early = |failure: &Failure| {
        if is_json {
            crate::run::print_failure(failure);
        }
        tell(failure)
    };
    if !args.quiet {
        say_left_out(&args.srun.left_out());
    }
    let order = args.order.clone();
    let embeds = match context.embeds() {
        Ok(embeds) => embeds,
        Err(error) => return Ok(tell_early(&trouble(&error))),
    };
    let nodes = |wish: &Wish| embeds.then(|| embedded_nodes(wish)).transpose();
    let (mut wish, nodes) =
        match args.wish().and_then(|wish| nodes(&wish).map(|nodes| (wish, nodes))) {
            Ok(both) => both,
            Err(failure) => return Ok(tell_early(&failure)),
        };
    if !wish.quiet {
        say_unread(&wish);
    }
    // Ends with this function: nothing of an embedded cluster is left then.
    let (mut cluster, embedded) = match context.for_job(nodes) {
        Ok(found) => found,
        Err(error) => return Ok(tell_early(&trouble(&error))),
    };
    if embedded.is_none() {
        match placed(&mut wish, context, &cluster) {
            Ok(Some(other)) => cluster = other,
            Ok(None) => {}
            Err(failure) => return Ok(tell_early(&failure)),
        }
    }
    // Each rank's output may go to a file of its own. What was usual here the cluster has already.
    let _ = muster_machine::descriptors::take_all();
    let is_here = || embeds || is_on_this_machine(&cluster.client);
    if order.has_files()
        && is_here()
        && let Err(failure) = order.look_at_files()
    {
        return Ok(tell_early(&failure));
    }
    let lies_there = || rustix::io::ioctl_fionread(std::io::stdin()).is_ok_and(|bytes| bytes > 0);
    if wish.detach && !wish.quiet && Input::if_any() != Input::None && lies_there() {
        say(
            "muster: a detached job reads no input: what is on standard input stays there; send it \
             along: --bcast FILE",
        );
    }
    match crate::run::run(wish, &cluster) {
        Ok(code) => Ok(ExitCode::from(code)),
        Err(failure) => {
            let code = tell(&failure);
            if embedded.is_none() {
                context.tell_other_build();
            }
            Ok(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use muster_machine::manager::spec::{Stdin, UNLIMITED};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn wish(words: &str) -> Result<Wish, String> {
        let words = std::iter::once("run").chain(words.split(' '));
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        line.args.wish().map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_programs_arguments_are_its_own() {
        for words in ["-n 4 prog -x -n 5 --label", "-n 4 -- prog -x -n 5 --label"] {
            let wish = wish(words).unwrap();
            assert_eq!(wish.spec.argv, ["prog", "-x", "-n", "5", "--label"]);
            assert_eq!((wish.spec.ranks, wish.label), (Some(4), false));
        }
        assert!(wish("--bogus prog").unwrap_err().contains("--bogus"));
        assert!(wish("-n 4").unwrap_err().contains("PROGRAM"));
    }

    #[test]
    fn flags_become_the_spec() {
        let wish = wish("-N 2 --np 4 -w n[1-2] -D /d -t 1:00 -J j -i all -o o.%n prog").unwrap();
        let spec = &wish.spec;
        assert_eq!(
            (spec.nodes, spec.ranks, spec.nodelist.as_deref()),
            (Some(2), Some(4), Some("n[1-2]"))
        );
        assert_eq!(
            (spec.chdir.as_deref(), spec.time_ms, spec.name.as_deref()),
            (Some("/d"), Some(60_000), Some("j"))
        );
        assert_eq!((spec.stdin, spec.grace_ms, spec.requeue), (Stdin::ALL, 5000, 0));
        assert_eq!(wish.goals[0], wish.goals[1], "errors go with the output");
        let appending = self::wish("--open-mode=append -o log prog").unwrap().goals;
        assert!(appending.iter().all(|goal| matches!(goal, Goal::Files(log) if log.appends)));
        assert_eq!(self::wish("-b -o all prog").unwrap().goals, [Goal::Ours, Goal::Ours]);
        let spec = self::wish("-N 2-2 -x n3 -x n[1,3] -x= prog").unwrap().spec;
        assert_eq!((spec.nodes, spec.exclude.as_deref()), (Some(2), Some("n1,n3")));
        for words in ["--time UNLIMITED prog", "-t INFINITE prog"] {
            assert_eq!(self::wish(words).unwrap().spec.time_ms, Some(UNLIMITED), "{words}");
        }
        let style = |words| self::wish(words).unwrap().style;
        assert_eq!((style("-u prog"), style("-lu prog")), (Style::Raw, Style::Lines));
        assert_eq!(style("-u --json prog"), Style::Keep);
        let requeue = |words| self::wish(words).unwrap().spec.requeue;
        assert_eq!(requeue("--requeue -i none prog"), 3);
        assert_eq!(requeue("--requeue=7 -i none prog"), 7);
    }

    #[test]
    fn of_a_flag_that_is_given_twice_the_last_counts() {
        let wish = wish("-n 2 -l --no-send -D /a -n 4 -l --no-send -D /b prog").unwrap();
        assert_eq!((wish.spec.ranks, wish.spec.chdir.as_deref()), (Some(4), Some("/b")));
        let all = self::wish("-x n0 -x n1 --env A=1 --env B=2 prog").unwrap().spec;
        assert_eq!(all.exclude.as_deref(), Some("n0,n1"), "what may be repeated");
        assert!(all.env.contains_key("A") && all.env.contains_key("B"));
    }

    #[test]
    fn mistakes_are_told_before_anything_happens() {
        for (words, said) in [
            ("-n 0 prog", "not in 1.."),
            ("-N 0 prog", "not in 1.."),
            ("-N 1-2 prog", "the number of nodes is fixed"),
            ("-c 0 prog", "number would be zero"),
            ("-x n[1 prog", "lacks a closing"),
            ("--pty prog", "--pty: a job has no terminal"),
            ("-w n[1 prog", "lacks a closing"),
            ("-t soon prog", "is no time"),
            ("-o a%q prog", "means nothing"),
            ("--raw -l prog", "cannot be used with"),
            ("-b -o out prog", "-b shows equal output of several ranks once, which files have of"),
            ("--detach -o out prog", "muster logs -f JOB > FILE"),
            ("--detach -i all prog", "sh -c 'PROGRAM < FILE'"),
            ("--detach --timing prog", "cannot be used with"),
            ("-l --json prog", "cannot be used with"),
            ("--strobe 1ms prog", "--strobe: only --mpi=bcs has strobes"),
            ("--fixed-strobes prog", "--fixed-strobes: only --mpi=bcs"),
            ("--mpi=bcs --strobe 0.5us prog", "1us at least"),
            ("./none", "not found here"),
            ("-N 2 -n 1 prog", "1 rank cannot be on 2 nodes: each needs one. Use -N 1  [E111, ex"),
            ("--bcast nofile prog", "--bcast nofile: No such file or directory"),
            ("--input nofile prog", "--input nofile: No such file or directory"),
            ("--input /proc prog", "--input /proc: is a directory"),
            ("--bcast-libs prog", "--bcast-libs: prog is the nodes' own"),
            ("--requeue=101 prog", "not in 1..=100"),
            ("--requeue --input all prog", "a rank's input cannot be read a second time"),
            ("--input 5 -n 2 prog", "there are ranks 0-1. Use --input 1"),
            ("--input 1 prog", "there is only rank 0"),
            ("--input 2 -w n[3-4] prog", "there are ranks 0-1"),
            ("--output . prog", ". is a directory, not a file for output. Use ./NAME  [E140, ex"),
            ("--output /none/such/%n prog", "mkdir -p /none/such  [E140, exit 2]"),
        ] {
            let told = wish(words).expect_err(words);
            assert!(told.contains(said), "{words}: {told}");
        }
    }

    #[test]
    fn a_cluster_for_one_job_is_small() {
        for (words, nodes) in [
            ("x", 1),
            ("-n 3 x", 3),
            ("-n 300 x", 8),
            ("-n 5 --ntasks-per-node 2 x", 3),
            ("-N 9 x", 9),
            ("-w n7 x", 8),
            ("-w n[0-1] x", 2),
            ("-w n[0-3] -n 2 x", 4),
            ("-N 20 -w n[0-19] x", 20),
        ] {
            assert_eq!(embedded_nodes(&wish(words).expect(words)), Ok(nodes), "{words}");
        }
        for (words, said) in [
            ("-w n9 x", "has n[0-7], no n9. Choose of these, or first: muster up -N 10"),
            ("-w n200 x", "muster up -N 201"),
            ("-N 1 -w n1 x", "has n0, no n1"),
            ("-w other x", "no other"),
            ("--detach x", "First: muster up"),
        ] {
            let failure = embedded_nodes(&wish(words).expect(words)).expect_err(words);
            assert!(failure.text.contains(said) && failure.exit == 2, "{words}: {failure}");
        }
    }
}
