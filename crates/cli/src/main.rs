//! The `muster` command: all user commands, the daemons, and the shepherd that starts programs.

mod cluster;
mod cmd;
mod errand;
mod fuse;
mod job_rows;
mod members;
mod mpiexec;
mod progress;
mod run;
mod stand_in;
mod sys;
mod table;
mod top;
mod turns;

use clap::error::{ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use cluster::Context;
use muster_machine::keeper::Runtime;
use run::failure::exit;
use std::io::{self, Write};
use std::process::ExitCode;
use table::{cut, shown};

/// What the shell says of a program that SIGPIPE ended: our reader has gone.
const PIPE: u8 = exit::SIGNAL + 13;

const EXAMPLES: &str = "\
Examples:
  muster run -n 4 hostname            run on a cluster that lives as long as the program
  muster up -N 8                      bring up a cluster of 8 nodes that stays
  muster run -n 32 -l ./heat          32 ranks of your own program, output labelled
  muster ps; muster nodes             what runs, and where
  muster ls /nodes/n3                 every resource is a file
  muster cat /jobs/1/ranks/3/stderr
  muster cp results.txt :/nodes/n1/2/fs/
  muster mount ~/m                    ... also for cp, echo and cat
  muster down                         end it all

A message's id, [E120] for instance, is explained by: muster explain E120";

/// Turns a set of machines, or one laptop, into one computer: programs, files and nodes are one
/// tree of files.
#[derive(Debug, Parser)]
#[command(name = "muster", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Cli {
    /// The cluster to work with; else $MUSTER_CLUSTER, else "default"
    #[arg(long, global = true, value_name = "NAME")]
    cluster: Option<String>,
    /// The view of it to work in; else $MUSTER_VIEW, else what is yours. / is all of it
    #[arg(long, global = true, value_name = "NAME")]
    view: Option<String>,
    #[command(subcommand)]
    command: cmd::Command,
}

fn main() -> ExitCode {
    // The shepherd has its own arguments, and no time to lose.
    if std::env::args_os().nth(1).is_some_and(|word| word == "shepherd") {
        return muster_machine::node::shepherd::child_main();
    }
    sys::outlive_long_files();
    // For whoever waits for an answer, and for the daemons that are started from here.
    muster_machine::prompt::be_prompt();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let help = help(words());
            if error.use_stderr() && wants_json() {
                let failure = run::Failure::new("E100", exit::USAGE, sentence(&error, &help));
                match help == "muster run --help" {
                    true => run::print_failure(&failure),
                    false => cmd::print_failure(&failure),
                }
            }
            return refuse(&error, &help);
        }
    };
    let named = || std::env::var("MUSTER_CLUSTER").ok().filter(|name| !name.is_empty());
    let cluster = cli.cluster.or_else(named).unwrap_or_else(|| "default".into());
    let viewed = || std::env::var("MUSTER_VIEW").ok().filter(|name| !name.is_empty());
    let view = cli.view.or_else(viewed);
    let context = Context { runtime: Runtime::from_env(), cluster, view };
    if let Err(error) = muster_machine::keeper::check_name(&context.cluster) {
        if wants_json() {
            cmd::print_failure(&run::Failure::told("E130", exit::USAGE, &error.to_string()));
        }
        let _ = writeln!(io::stderr(), "muster: {error}");
        return ExitCode::from(exit::USAGE);
    }
    let wants_json = !cli.command.has_words() && wants_json();
    match cmd::run(cli.command, &context) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::from(PIPE),
        Err(error) => {
            let mut said = sentence_of(&error);
            // Errors of other files name these.
            let raw = error.downcast_ref().and_then(io::Error::raw_os_error);
            let is_bare = error.chain().count() == 1;
            if is_bare && matches!(raw, Some(libc::ENOSPC | libc::EFBIG | libc::EDQUOT)) {
                said = format!("standard output cannot be written: {said}  [E140]");
            }
            let is_usage = error.is::<cmd::Usage>();
            let (id, code) = if is_usage { ("E100", exit::USAGE) } else { ("E402", 1) };
            if wants_json {
                cmd::print_failure(&run::Failure::told(id, code, &said));
            }
            // Nobody may be listening any more.
            let _ = writeln!(io::stderr(), "muster: {said}");
            context.tell_other_build();
            ExitCode::from(code)
        }
    }
}

/// The words of the command line.
fn words() -> impl Iterator<Item = String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned())
}

/// Whether a program reads what this prints, which is to find an object in any case.
fn wants_json() -> bool {
    words().take_while(|word| word != "--").any(|word| word == "--json")
}

/// What is said of an error.
fn sentence_of(error: &anyhow::Error) -> String {
    shown(&unnumbered(&format!("{error:#}")))
}

/// A text without the numbers that Rust adds to the system's sentences.
fn unnumbered(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        said.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    said
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Help and version as clap prints them; a mistake as one sentence that names where help is.
fn refuse(error: &clap::Error, help: &str) -> ExitCode {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = write!(io::stdout(), "{}", error.render());
        return ExitCode::from(exit::USAGE);
    }
    if !error.use_stderr() {
        return match error.print() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(PIPE),
            Err(error) => {
                let why = unnumbered(&error.to_string());
                let said = format!("standard output cannot be written: {why}  [E140]");
                let _ = writeln!(io::stderr(), "muster: {said}");
                ExitCode::FAILURE
            }
            Ok(()) => ExitCode::SUCCESS,
        };
    }
    let _ = writeln!(io::stderr(), "muster: {}", sentence(error, help));
    ExitCode::from(exit::USAGE)
}

/// The command that explains the command line `words`.
fn help(words: impl Iterator<Item = String>) -> String {
    let command = Cli::command();
    let known = |word: &String| command.find_subcommand(word).is_some();
    // Before the command there are at most the cluster's name and the view's.
    let mut words = words.skip(1).scan(false, |value, word| {
        let names_one = ["--cluster", "--view"].contains(&word.as_str());
        let skip = std::mem::replace(value, names_one) || word.starts_with('-');
        Some((!skip).then_some(word))
    });
    match words.find_map(|word| word).filter(known) {
        Some(name) => format!("muster {name} --help"),
        None => "muster --help".to_owned(),
    }
}

/// What the standard library and clap say of a value, and what is said instead.
const PLAIN: [(&str, &str); 5] = [
    ("number would be zero for non-zero type", "at least 1 is needed"),
    ("invalid digit found in string", "it is no whole number"),
    ("number too large to fit in target type", "it is too large"),
    (" is not in 1..=4294967295", " cannot be: at least 1, and no more than the nodes hold"),
    (" is not in 0..=4294967295", " is no number that is used here"),
];

/// How many letters of what was written are said again.
const QUOTED: usize = 60;

/// What clap says, the user's own words shortened and without what would begin a new line.
fn told(error: &clap::Error) -> String {
    let mut text = error.to_string();
    for (_, value) in error.context() {
        let words = match value {
            ContextValue::String(word) => std::slice::from_ref(word),
            ContextValue::Strings(words) => words,
            _ => &[],
        };
        for word in words {
            let plain = cut(&shown(word), QUOTED);
            if plain != *word {
                text = text.replace(word, &plain);
            }
        }
    }
    text
}

/// What clap says on several lines, in one: the mistake, the tip, where help is.
fn sentence(error: &clap::Error, help: &str) -> String {
    let text = told(error);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut said = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    for line in lines {
        if let Some(tip) = line.strip_prefix("tip: ") {
            said = format!("{said}; {tip}");
        } else if said.ends_with(':') {
            // The names of what is missing.
            said = format!("{said} {line}");
        } else if line.starts_with('[') {
            said = format!("{said} {line}");
        }
    }
    for (theirs, ours) in PLAIN {
        said = said.replace(theirs, ours);
    }
    format!("{said} (see {help})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(words: &[&str]) -> String {
        let error = Cli::try_parse_from(words).expect_err("a mistake");
        sentence(&error, &help(words.iter().map(|&word| word.to_owned())))
    }

    #[test]
    fn the_system_is_quoted_without_numbers() {
        let said = unnumbered("x: No such file (os error 2); y: Busy (os error 16)  [E151]");
        assert_eq!(said, "x: No such file; y: Busy  [E151]");
        assert_eq!(unnumbered("plain"), "plain");
    }

    #[test]
    fn of_a_long_word_only_its_beginning_is_said_again() {
        let said = mistake(&["muster", "run", "-t", &"x".repeat(9999), "prog"]);
        assert!(said.contains(&"x".repeat(QUOTED - 1)) && said.len() < 400, "{said}");
    }

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_mistake_is_one_sentence_that_names_the_way_out() {
        for (words, parts) in [
            (vec!["muster", "pss"], vec!["'pss'", "similar", "'ps'", "muster --help"]),
            (vec!["muster", "ps", "--jsn"], vec!["'--jsn'", "--json", "muster ps --help"]),
            (
                vec!["muster", "up", "-N", "x"],
                vec!["'x'", "--nodes", "no whole number", "muster up --help"],
            ),
            (vec!["muster", "up", "-N", "0"], vec!["0", "1..=256", "muster up --help"]),
            (vec!["muster", "run", "-n", "0", "x"], vec!["at least 1", "muster run --help"]),
            (vec!["muster", "--cluster", "run", "kill", "a"], vec!["'a'", "muster kill --help"]),
            (vec!["muster", "--view", "run", "kill", "a"], vec!["'a'", "muster kill --help"]),
            (vec!["muster", "up", "-N", "a\nb"], vec!["'a?b'", "muster up --help"]),
            (vec!["muster", "run", "--grace", "0", "x"], vec!["such as 1s", "muster run --help"]),
            (vec!["muster", "kill"], vec!["required", "<JOB>", "muster kill --help"]),
            (vec!["muster", "completions", "ash"], vec!["'ash'", "bash", "--help"]),
        ] {
            let said = mistake(&words);
            assert!(!said.contains('\n'), "{said:?}");
            for part in parts {
                assert!(said.contains(part), "{words:?}: {said}");
            }
        }
    }
}
