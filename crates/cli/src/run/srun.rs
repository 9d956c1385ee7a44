//! What `srun` has other words for than `muster run`, and what it has that means nothing here:
//! lines that are written for Slurm run as they are, or say what to write instead.

use super::failure::{Failure, exit};
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, Id};
use std::num::NonZeroU32;

/// Flags that `muster run` has under other names.
#[derive(Clone, Debug, clap::Args)]
pub struct Flags {
    /// So many processors for the threads of each rank: with more than one, as --no-bind
    #[arg(short = 'c', long, value_name = "N", hide = true)]
    cpus_per_task: Option<NonZeroU32>,

    /// With 0 as --keep-going; else the others end when a rank fails, as they do anyway
    #[arg(short = 'K', long, value_name = "0|1", num_args = 0..=1, require_equals = true,
          default_missing_value = "1", hide = true, value_parser = ["0", "1"])]
    kill_on_bad_exit: Option<String>,

    /// What -K0 is to clap: -K -0
    #[arg(short = '0', hide = true, requires = "kill_on_bad_exit")]
    zero: bool,

    /// The same of -K1
    #[arg(short = '1', hide = true, requires = "kill_on_bad_exit")]
    one: bool,

    /// As --raw where lines are neither labelled nor kept: they go on at once anyway
    #[arg(short = 'u', long, hide = true)]
    unbuffered: bool,

    /// ALL, NONE or names: what --env and --no-env say
    #[arg(long, value_name = "ALL|NONE|K[=V],...", hide = true)]
    export: Option<String>,

    /// With none as --no-bind
    #[arg(long, alias = "cpu_bind", value_name = "HOW", hide = true)]
    cpu_bind: Option<String>,

    /// What becomes of what the files of --output and --error have
    #[arg(long, value_name = "append|truncate", hide = true,
          value_parser = ["append", "a", "truncate", "t"])]
    open_mode: Option<String>,

    #[command(flatten)]
    others: Others,
}

impl Flags {
    /// Looks for what cannot be left out without changing what the user wants.
    ///
    /// # Errors
    /// The first of it, and what to write instead.
    pub fn look(&self) -> Result<(), Failure> {
        let Some((flag, advice)) = self.others.refused else { return Ok(()) };
        Err(Failure::new("E100", exit::USAGE, format!("--{flag}: {advice}")))
    }

    /// Whether ranks have threads of their own, or are not to be bound.
    pub fn unbinds(&self) -> bool {
        let is_off = |how: &str| how.split(',').any(|word| ["none", "no"].contains(&word));
        self.cpus_per_task.is_some_and(|each| each.get() > 1)
            || self.cpu_bind.as_deref().is_some_and(is_off)
    }

    /// Whether the others go on when a rank fails.
    pub fn keeps_going(&self) -> bool {
        self.kill_on_bad_exit.as_deref() == Some("0") || self.zero
    }

    /// Whether output goes behind what its files have.
    pub fn appends(&self) -> bool {
        self.open_mode.as_deref().is_some_and(|mode| mode.starts_with('a'))
    }

    /// Whether output is to be passed on byte by byte.
    pub fn unbuffers(&self) -> bool {
        self.unbuffered
    }

    /// Whether nothing of the environment here is passed on but what [`exported`](Self::exported)
    /// tells.
    pub fn drops_env(&self) -> bool {
        self.words().is_some_and(|mut words| words.all(|word| word != "ALL"))
    }

    /// The variables that are named. As with srun one that is not set here is no mistake.
    pub fn exported(&self, is_set: impl Fn(&str) -> bool) -> Vec<String> {
        let names = |word: &&str| !["", "ALL", "NONE", "NIL"].contains(word);
        let words = self.words().into_iter().flatten().filter(names);
        words.filter(|word| word.contains('=') || is_set(word)).map(str::to_owned).collect()
    }

    fn words(&self) -> Option<impl Iterator<Item = &str>> {
        Some(self.export.as_deref()?.split(','))
    }

    /// What was given and means nothing here.
    pub fn left_out(&self) -> Vec<String> {
        let bind = self.cpu_bind.iter().filter(|_| !self.unbinds()).map(|_| "--cpu-bind".into());
        bind.chain(self.others.left_out.iter().map(|name| format!("--{name}"))).collect()
    }
}

/// What follows a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Never,
    /// Only after an equals sign.
    Perhaps,
    Always,
}

/// A flag that does nothing here, or that must not be overlooked: then with what to do.
type Other = (&'static str, Option<char>, Value, Option<&'static str>);

const NO_DEVICES: &str = "devices are not handed out: a rank sees all of its node. Leave it out";
const NO_SCRIPTS: &str = "nothing is run around a rank. Have a script do it: muster run ./script";
const SEVERAL: &str = "for several programs in one job write: mpiexec -n 1 ./a : -n 3 ./b";

const OTHERS: &[Other] = &[
    ("accel-bind", None, Value::Always, None),
    ("account", Some('A'), Value::Always, None),
    ("comment", None, Value::Always, None),
    ("contiguous", None, Value::Never, None),
    ("core-spec", Some('S'), Value::Always, None),
    ("cores-per-socket", None, Value::Always, None),
    ("cpu-freq", None, Value::Always, None),
    ("disable-status", Some('X'), Value::Never, None),
    ("distribution", Some('m'), Value::Always, None),
    ("exact", None, Value::Never, None),
    ("exclusive", None, Value::Perhaps, None),
    ("extra-node-info", Some('B'), Value::Always, None),
    ("gpu-bind", None, Value::Always, None),
    ("gres-flags", None, Value::Always, None),
    ("hint", None, Value::Always, None),
    ("licenses", Some('L'), Value::Always, None),
    ("mail-type", None, Value::Always, None),
    ("mail-user", None, Value::Always, None),
    ("mem", None, Value::Always, None),
    ("mem-bind", None, Value::Always, None),
    ("mem-per-cpu", None, Value::Always, None),
    ("mem-per-gpu", None, Value::Always, None),
    ("mem_bind", None, Value::Always, None),
    ("mincpus", None, Value::Always, None),
    ("network", None, Value::Always, None),
    ("parsable", None, Value::Never, None),
    ("nice", None, Value::Perhaps, None),
    ("no-requeue", None, Value::Never, None),
    ("ntasks-per-core", None, Value::Always, None),
    ("ntasks-per-socket", None, Value::Always, None),
    ("overcommit", Some('O'), Value::Never, None),
    ("overlap", None, Value::Never, None),
    ("oversubscribe", Some('s'), Value::Never, None),
    ("preserve-env", Some('E'), Value::Never, None),
    ("profile", None, Value::Always, None),
    ("propagate", None, Value::Perhaps, None),
    ("qos", None, Value::Always, None),
    ("sockets-per-node", None, Value::Always, None),
    ("spread-job", None, Value::Never, None),
    ("threads", Some('T'), Value::Always, None),
    ("threads-per-core", None, Value::Always, None),
    ("tmp", None, Value::Always, None),
    ("use-min-nodes", None, Value::Never, None),
    ("verbose", Some('v'), Value::Never, None),
    ("wckey", None, Value::Always, None),
    (
        "array",
        Some('a'),
        Value::Always,
        Some("start a job for each: for i in 1 2 3; do muster run --detach --env I=$i ./a; done"),
    ),
    ("begin", None, Value::Always, Some("a job starts when its nodes are free. Use at(1)")),
    (
        "constraint",
        Some('C'),
        Value::Always,
        Some("nodes have no features. Name nodes (-w), or make a partition of them: -p NAME"),
    ),
    (
        "container",
        None,
        Value::Always,
        Some("programs run as they are. Start it by its own command: muster run podman run ..."),
    ),
    (
        "dependency",
        Some('d'),
        Value::Always,
        Some("wait for the other job first: muster wait JOB && muster run ..."),
    ),
    ("epilog", None, Value::Always, Some(NO_SCRIPTS)),
    ("gpus", Some('G'), Value::Always, Some(NO_DEVICES)),
    ("gpus-per-node", None, Value::Always, Some(NO_DEVICES)),
    ("gpus-per-task", None, Value::Always, Some(NO_DEVICES)),
    ("gres", None, Value::Always, Some(NO_DEVICES)),
    ("het-group", None, Value::Always, Some(SEVERAL)),
    (
        "hold",
        Some('H'),
        Value::Never,
        Some("nothing holds a job back. Start it when it is to run, or have it wait: muster wait"),
    ),
    (
        "immediate",
        Some('I'),
        Value::Perhaps,
        Some("a job waits for its nodes. To give up instead: timeout 5 muster run ..."),
    ),
    (
        "jobid",
        None,
        Value::Always,
        Some("what a job starts runs on its nodes: start it in the job's script"),
    ),
    ("multi-prog", None, Value::Never, Some(SEVERAL)),
    (
        "nodefile",
        Some('F'),
        Value::Always,
        Some("name the nodes (-w), or start by mpiexec -hostfile FILE"),
    ),
    ("prolog", None, Value::Always, Some(NO_SCRIPTS)),
    (
        "pty",
        None,
        Value::Perhaps,
        Some("a job has no terminal. Write the commands: muster run sh -c '...'"),
    ),
    ("relative", Some('r'), Value::Always, Some("name the nodes: -w n[2-3]")),
    (
        "reservation",
        None,
        Value::Always,
        Some("times are reserved for partitions: -p NAME, and muster partition --help"),
    ),
    (
        "signal",
        None,
        Value::Always,
        Some("send it by muster kill --signal, or see --time and --grace"),
    ),
    ("task-epilog", None, Value::Always, Some(NO_SCRIPTS)),
    ("task-prolog", None, Value::Always, Some(NO_SCRIPTS)),
    (
        "wait",
        Some('W'),
        Value::Always,
        Some("ranks that are left go on until they end. To end them: --time"),
    ),
    (
        "test-only",
        None,
        Value::Never,
        Some("nothing tells when a job would start. What is free now: muster nodes"),
    ),
    ("wrap", None, Value::Always, Some("write the commands: muster run --detach sh -c '...'")),
    ("x11", None, Value::Perhaps, Some("a job has no display: DISPLAY is not passed on")),
];

/// Which of [`OTHERS`] were given.
#[derive(Clone, Debug, Default)]
struct Others {
    left_out: Vec<&'static str>,
    refused: Option<(&'static str, &'static str)>,
}

impl clap::Args for Others {
    fn augment_args(command: Command) -> Command {
        let arg = |(name, short, value, _): &Other| {
            let arg = Arg::new(*name).long(*name).hide(true).action(match value {
                Value::Never => ArgAction::Count,
                Value::Perhaps | Value::Always => ArgAction::Append,
            });
            let arg = short.iter().fold(arg, |arg, short| arg.short(*short));
            match value {
                Value::Perhaps => arg.num_args(0..=1).require_equals(true).value_name("VALUE"),
                Value::Always => arg.value_name("VALUE"),
                Value::Never => arg,
            }
        };
        command.args(OTHERS.iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }

    fn group_id() -> Option<Id> {
        None
    }
}

impl FromArgMatches for Others {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Others, clap::Error> {
        let mut others = Others::default();
        others.update_from_arg_matches(matches)?;
        Ok(others)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let given =
            |name: &str| matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
        for (name, _, _, advice) in OTHERS.iter().filter(|(name, ..)| given(name)) {
            match advice {
                Some(advice) => self.refused = self.refused.or(Some((name, advice))),
                None => self.left_out.push(name),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
        #[arg(trailing_var_arg = true)]
        rest: Vec<String>,
    }

    fn read(words: &str) -> Line {
        let words = std::iter::once("srun").chain(words.split_whitespace());
        Line::try_parse_from(words).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn what_means_nothing_here_is_left_out_by_name() {
        let line = read(
            "-vv -X -O -s --exclusive --overlap --nice=5 -A lab --mem 4G --mem-per-cpu=1G \
             -m block:cyclic --cpu-bind=cores prog -X",
        );
        assert_eq!(line.rest, ["prog", "-X"]);
        assert!(line.flags.look().is_ok());
        assert_eq!(
            line.flags.left_out().join(" "),
            "--cpu-bind --account --disable-status --distribution --exclusive --mem --mem-per-cpu \
             --nice --overcommit --overlap --oversubscribe --verbose"
        );
        assert!(read("prog").flags.left_out().is_empty());
    }

    #[test]
    fn what_must_not_be_overlooked_is_refused_with_what_to_do() {
        for (words, said) in [
            ("--pty bash", "--pty: a job has no terminal"),
            ("--gres=gpu:1 x", "--gres: devices are not handed out"),
            ("-d afterok:7 x", "--dependency: wait for the other job first: muster wait JOB"),
            ("--array=1-3 x", "--array: start a job for each: for i in 1 2 3; do muster run"),
            ("-a 1-3 x", "--array"),
            ("-H x", "--hold: nothing holds a job back"),
            ("--test-only x", "--test-only: nothing tells"),
            ("--wrap hostname", "--wrap: write the commands: muster run --detach sh -c"),
            ("--multi-prog file", "mpiexec -n 1 ./a : -n 3 ./b"),
        ] {
            let failure = read(words).flags.look().expect_err(words);
            assert!(failure.text.contains(said), "{words}: {}", failure.text);
            assert_eq!((&*failure.id, failure.exit), ("E100", 2));
        }
    }

    #[test]
    fn what_has_another_name_here_is_done() {
        let flags = |words: &str| read(words).flags;
        assert!(flags("-c 2 x").unbinds() && !flags("-c 1 x").unbinds());
        for words in ["--cpu-bind=none x", "--cpu-bind v,none x", "--cpu_bind=none,v x"] {
            assert!(flags(words).unbinds(), "{words}");
        }
        assert!(flags("--cpu-bind=none x").left_out().is_empty());
        assert!(flags("-K0 x").keeps_going() && flags("--kill-on-bad-exit=0 x").keeps_going());
        for (words, appends) in [
            ("--open-mode=append x", true),
            ("--open-mode a x", true),
            ("--open-mode=truncate x", false),
            ("x", false),
        ] {
            assert_eq!(flags(words).appends(), appends, "{words}");
        }
        assert!(flags("--open-mode=append x").left_out().is_empty());
        for words in ["-K x", "-K1 x", "--kill-on-bad-exit x", "--kill-on-bad-exit=1 x", "x"] {
            let line = read(words);
            assert!(!line.flags.keeps_going() && line.rest == ["x"], "{words}");
        }
    }

    #[test]
    fn the_environment_is_exported_as_srun_does() {
        let told = |words: &str| {
            let flags = read(words).flags;
            (flags.drops_env(), flags.exported(|name| name != "UNSET").join(" "))
        };
        assert_eq!(told("x"), (false, String::new()));
        assert_eq!(told("--export=ALL x"), (false, String::new()));
        assert_eq!(told("--export=ALL,A=1,B x"), (false, "A=1 B".to_owned()));
        assert_eq!(told("--export NONE x"), (true, String::new()));
        assert_eq!(told("--export PATH,UNSET,A=1 x"), (true, "PATH A=1".to_owned()));
    }
}
