//! The flags of `mpiexec`, as Open MPI and MPICH have them. One dash is as good as two, and
//! `-NAME=VALUE` as `-NAME VALUE`.

use super::{Line, Part, Tells, lines, mistake, outputs, soft};
use crate::cmd::run;
use crate::run::Failure;
use muster_base::limits::SESSIONS_MAX;
use std::fmt::Write;
use std::net::Ipv6Addr;

/// A flag.
struct Flag {
    /// Its names.
    names: &'static [&'static str],
    /// What its values are called.
    values: &'static [&'static str],
    /// What `--help` says of it; nothing of those that only others still write.
    about: &'static str,
    /// What it asks for; what is wrong with that.
    does: fn(&mut Line, &[String]) -> Result<(), String>,
}

const FLAGS: &[Flag] = &[
    Flag {
        names: &["n", "np", "c"],
        values: &["N"],
        about: "so many ranks",
        does: |line, values| number(&values[0]).map(|ranks| line.part().ranks = Some(ranks)),
    },
    Flag {
        names: &["ppn", "N", "npernode", "perhost"],
        values: &["N"],
        about: "so many on each node; else a node is filled as far as it has processors",
        does: |line, values| number(&values[0]).map(|ranks| line.per_node = Some(ranks)),
    },
    Flag {
        names: &["pernode"],
        values: &[],
        about: "",
        does: |line, _| {
            line.per_node = Some(1);
            Ok(())
        },
    },
    Flag {
        names: &["host", "hosts", "H"],
        values: &["HOSTS"],
        about: "on these nodes or hosts: n0,n1 or n[0-1], with n0:4 for 4 places there",
        does: |line, values| {
            line.hosts.get_or_insert_default().extend(hosts(&values[0])?);
            Ok(())
        },
    },
    Flag {
        names: &["hostfile", "machinefile", "f"],
        values: &["FILE"],
        about: "on those of a file: one on a line, with slots=4 or :4",
        does: |line, values| {
            let text = std::fs::read_to_string(&values[0]);
            let text = text.map_err(|error| format!("{}: {}", values[0], crate::run::said(&error)));
            let told = host_file(&text?).map_err(|why| format!("{}: {why}", values[0]))?;
            if told.is_empty() {
                return Err(format!("{}: it names no host", values[0]));
            }
            line.hosts.get_or_insert_default().extend(told);
            Ok(())
        },
    },
    Flag {
        names: &["map-by"],
        values: &["HOW"],
        about: "node: as many nodes as there are; ppr:N:node: as -ppn N",
        does: map_by,
    },
    Flag {
        names: &["bynode", "rr"],
        values: &[],
        about: "",
        does: |line, _| map_by(line, &["node".into()]),
    },
    Flag {
        names: &["bind-to"],
        values: &["WHAT"],
        about: "",
        does: |line, values| {
            match values[0].split(':').next() {
                Some("none") => return pass(line, &["--no-bind"]),
                Some("default") => {}
                _ => line.ignored.push(format!("-bind-to {}", values[0])),
            }
            Ok(())
        },
    },
    Flag {
        names: &["cpu-bind"],
        values: &["HOW"],
        about: "",
        does: |line, values| {
            if values[0].split(',').any(|word| ["none", "no"].contains(&word)) {
                return pass(line, &["--no-bind"]);
            }
            line.ignored.push(format!("--cpu-bind={}", values[0]));
            Ok(())
        },
    },
    Flag {
        names: &["x"],
        values: &["NAME[=VALUE]"],
        about: "pass on a variable of the environment, or set it",
        does: |line, values| {
            line.part().env.push(values[0].clone());
            Ok(())
        },
    },
    Flag {
        names: &["env"],
        values: &["NAME", "VALUE"],
        about: "set one",
        does: |line, values| {
            line.part().env.push(values.join("="));
            Ok(())
        },
    },
    Flag {
        names: &["genv"],
        values: &["NAME", "VALUE"],
        about: "set one for all programs",
        does: |line, values| {
            line.global_env.push(values.join("="));
            Ok(())
        },
    },
    Flag {
        names: &["envnone", "genvnone"],
        values: &[],
        about: "pass on no others; else all are that muster run passes on (see its --env)",
        does: |line, _| pass(line, &["--no-env"]),
    },
    Flag {
        names: &["envlist"],
        values: &["NAMES"],
        about: "",
        does: |line, values| {
            add_listed(&mut line.part().env, &values[0]);
            pass(line, &["--no-env"])
        },
    },
    Flag {
        names: &["genvlist"],
        values: &["NAMES"],
        about: "",
        does: |line, values| {
            add_listed(&mut line.global_env, &values[0]);
            pass(line, &["--no-env"])
        },
    },
    Flag {
        names: &["wdir", "wd"],
        values: &["DIR"],
        about: "where the ranks work; here if not given",
        does: |line, values| {
            line.part().directory = Some(values[0].clone());
            Ok(())
        },
    },
    Flag {
        names: &["path"],
        values: &["DIRS"],
        about: "where a program is that is named without a slash: a:b, first of all",
        does: |line, values| {
            line.part().path = Some(values[0].clone());
            Ok(())
        },
    },
    Flag {
        names: lines::NAMES,
        values: &["FILE"],
        about: "more flags and programs from a file: a program on a line, as between two ':'",
        does: |_, _| Err("it comes last, stands for all programs, and names no other".into()),
    },
    Flag {
        names: &["soft"],
        values: &["NUMBERS"],
        about: "ranks of a program are one of these, the most up to -n: 2,4:10:2",
        does: |line, values| {
            line.part().soft = Some(values[0].clone());
            Ok(())
        },
    },
    Flag {
        names: &["arch"],
        values: &["NAME"],
        about: "",
        does: |_, _| {
            let text = "nodes are not chosen by their processor. Name them (-host), or make a \
                        partition of them: --partition NAME";
            Err(text.into())
        },
    },
    Flag {
        names: &["file"],
        values: &["FILE"],
        about: "",
        does: |_, _| {
            Err("what is in it is not known here. Hosts: -hostfile FILE; lines: -configfile".into())
        },
    },
    Flag {
        names: &["npersocket"],
        values: &["N"],
        about: "",
        does: |line, values| {
            line.part().per_socket = Some(values[0].clone());
            Ok(())
        },
    },
    Flag {
        names: &["l", "tag-output", "prepend-rank"],
        values: &[],
        about: "put the rank before each line of output",
        does: |line, _| pass(line, &["--label"]),
    },
    Flag {
        names: &["outfile-pattern"],
        values: &["FILE"],
        about: "standard output goes to files: %r is the rank, %h its node",
        does: |line, values| pass(line, &["--output", &outputs::pattern(&values[0])?]),
    },
    Flag {
        names: &["errfile-pattern"],
        values: &["FILE"],
        about: "standard error goes to files",
        does: |line, values| pass(line, &["--error", &outputs::pattern(&values[0])?]),
    },
    Flag {
        names: &["output-filename"],
        values: &["DIR"],
        about: "",
        does: |_, values| Err(outputs::refused(&values[0])),
    },
    Flag { names: &["output"], values: &["HOW"], about: "", does: outputs::words },
    Flag {
        names: &["stdin", "s"],
        values: &["all|none|RANK"],
        about: "who reads our input; rank 0 if not given",
        does: |line, values| pass(line, &["--input", &values[0]]),
    },
    Flag {
        names: &["timeout"],
        values: &["SECONDS"],
        about: "end the job after this time",
        does: |line, values| pass(line, &["--time", &values[0]]),
    },
    Flag {
        names: &["continuous", "disable-auto-cleanup"],
        values: &[],
        about: "let the other ranks go on when one fails",
        does: |line, _| pass(line, &["--keep-going"]),
    },
    Flag {
        names: &["initial-errhandler"],
        values: &["HANDLER"],
        about: "what an MPI error does until the program says it: mpi_errors_return or _abort",
        does: |line, values| {
            if !HANDLERS.contains(&values[0].as_str()) {
                return Err(format!("'{}' is none of {}", values[0], HANDLERS.join(", ")));
            }
            line.global_env.push(format!("MUSTER_MPI_ERRHANDLER={}", values[0]));
            Ok(())
        },
    },
    Flag {
        names: &["quiet", "q"],
        values: &[],
        about: "say nothing besides what the program says",
        does: |line, _| {
            line.is_quiet = true;
            pass(line, &["--quiet"])
        },
    },
    Flag {
        names: &["version", "V"],
        values: &[],
        about: "which Muster this is",
        does: |line, _| {
            line.tells = Some(Tells::Version);
            Ok(())
        },
    },
    Flag {
        names: &["help", "h"],
        values: &[],
        about: "this text",
        does: |line, _| {
            line.tells.get_or_insert(Tells::Help);
            Ok(())
        },
    },
];

/// The standard's words for error handlers.
const HANDLERS: [&str; 3] = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];

/// Flags that ask for what is so anyway.
const GRANTED: &[&str] = &[
    "allow-run-as-root",
    "envall",
    "genvall",
    "oversubscribe",
    "use-hwthread-cpus",
    "byslot",
    "bycore",
];

/// Flags that mean nothing here, and how many values each has.
const IGNORED: &[(&str, usize)] = &[
    ("am", 1),
    ("bootstrap", 1),
    ("display", 1),
    ("display-allocation", 0),
    ("display-map", 0),
    ("distribution", 1),
    ("exclusive", 0),
    ("gmca", 2),
    ("iface", 1),
    ("launcher", 1),
    ("mca", 2),
    ("nooversubscribe", 0),
    ("personality", 1),
    ("pmixmca", 2),
    ("prefix", 1),
    ("print-all-exitcodes", 0),
    ("prtemca", 2),
    ("rank-by", 1),
    ("report-bindings", 0),
    ("rmk", 1),
    ("timestamp-output", 0),
    ("tune", 1),
    ("usize", 1),
    ("v", 0),
    ("verbose", 0),
];

fn pass(line: &mut Line, words: &[&str]) -> Result<(), String> {
    line.run.extend(words.iter().map(|&word| word.to_owned()));
    Ok(())
}

/// Adds the names of a list to variables that are passed on; what was given a value keeps it.
fn add_listed(env: &mut Vec<String>, names: &str) {
    let is_set =
        |name: &str| env.iter().any(|it| it.split_once('=').is_some_and(|it| it.0 == name));
    let others: Vec<String> =
        names.split(',').filter(|it| !is_set(it)).map(str::to_owned).collect();
    env.extend(others);
}

fn number(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) => Err("at least 1 is needed, not 0".into()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("'{text}' is no number of ranks")),
    }
}

fn map_by(line: &mut Line, values: &[String]) -> Result<(), String> {
    // Ranks with threads, as with -c of srun.
    if values[0].split(':').any(is_size) {
        pass(line, &["--no-bind"])?;
    }
    let mut words = values[0].split(':').filter(|word| !is_size(word));
    match (words.next(), words.next(), words.next()) {
        (Some("node"), ..) => line.spread = true,
        (Some("ppr"), Some(each), Some("node")) => line.per_node = Some(number(each)?),
        (None | Some("slot" | "core" | "hwthread" | ""), ..) => {}
        _ => line.ignored.push(format!("-map-by {}", values[0])),
    }
    Ok(())
}

/// Processors for each rank: the kernel gives them.
fn is_size(word: &str) -> bool {
    word.to_ascii_lowercase().starts_with("pe=")
}

type Host = (String, Option<u32>);

/// A host with its places: `n0`, `n0:4`. An address with colons has none, but in brackets.
fn host(word: &str) -> Result<Host, String> {
    let bracketed = word.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((address, behind)) = bracketed.filter(|(name, _)| name.parse::<Ipv6Addr>().is_ok())
    {
        let places = behind.strip_prefix(':').map(number).transpose()?;
        return Ok((address.to_owned(), places));
    }
    match word.rsplit_once(':').filter(|_| word.parse::<Ipv6Addr>().is_err()) {
        Some((name, places)) => Ok((name.to_owned(), Some(number(places)?))),
        None => Ok((word.to_owned(), None)),
    }
}

/// A list of hosts. A comma in brackets is part of a name: `n[0,2],n5`.
fn hosts(text: &str) -> Result<Vec<Host>, String> {
    let mut is_inside = false;
    let words = text.split(|c| {
        is_inside = if is_inside { c != ']' } else { c == '[' };
        c == ',' && !is_inside
    });
    words.filter(|word| !word.is_empty()).map(host).collect()
}

/// Words of others' files of hosts that change nothing here: limits, interfaces and users.
const OF_OTHERS: [&str; 14] = [
    "max_slots",
    "max-slots",
    "slots_max",
    "slots-max",
    "count_max",
    "count-max",
    "cpu_max",
    "cpu-max",
    "user",
    "username",
    "user_name",
    "user-name",
    "binding",
    "ifname",
];

/// The hosts of a file: a line each. In one for `muster up --hosts`, which has `nodes=` or users in
/// it, a number behind a host's name is the port of its ssh, and says nothing of places.
fn host_file(text: &str) -> Result<Vec<Host>, String> {
    let lines = || text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let is_of_up = |line: &str| {
        line.split_whitespace().any(|word| word.starts_with("nodes=") || word.contains('@'))
    };
    let has_ports = lines().any(is_of_up);
    let mut all: Vec<Host> = Vec::new();
    for (at, line) in lines().enumerate() {
        let host = host_line(line, has_ports).map_err(|why| format!("line {}: {why}", at + 1))?;
        // There, one that is named twice has two ports.
        all.extend(host.filter(|host| !has_ports || !all.contains(host)));
    }
    Ok(all)
}

fn host_line(line: &str, has_ports: bool) -> Result<Option<Host>, String> {
    // Open MPI takes blanks there as well.
    let line = line.replace(" =", "=").replace("= ", "=");
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(None) };
    let first = first.rsplit_once('@').map_or(first, |(_, host)| host);
    let (name, mut places) = host(first)?;
    if has_ports {
        places = None;
    }
    if let Some(count) = places.filter(|count| *count as usize > SESSIONS_MAX) {
        return Err(format!(
            "'{first}' are {count} ranks, and a node runs {SESSIONS_MAX} at most; if that is the \
             port of its ssh, write {first} nodes=1"
        ));
    }
    for word in words {
        match word.split_once('=') {
            Some(("slots" | "slot" | "count" | "cpu" | "cpus", count)) => {
                places = Some(number(count)?);
            }
            Some(("nodes", count)) => _ = number(count)?,
            Some((word, _)) if OF_OTHERS.contains(&word) => {}
            None if word.parse::<u32>().is_ok() => places = Some(number(word)?),
            _ => return Err(format!("'{word}' is not understood; write slots=N")),
        }
    }
    Ok(Some((name, places)))
}

/// Reads a command line.
///
/// # Errors
/// What is wrong with it.
pub fn read(words: &[String]) -> Result<Line, Failure> {
    read_all(words, true)
}

/// `has_lines`: whether a file of lines may be named, which stands for what is in it.
fn read_all(words: &[String], has_lines: bool) -> Result<Line, Failure> {
    let mut line = Line::default();
    let last = words.iter().filter(|word| *word == ":").count();
    for (at, part) in words.split(|word| word == ":").enumerate() {
        if at > 0 {
            line.parts.push(Part::default());
        }
        let mut rest = part;
        while let Some(word) = rest.first() {
            if word == "--" {
                rest = &rest[1..];
                break;
            }
            if !word.starts_with('-') || word == "-" {
                break;
            }
            if has_lines
                && last == 0
                && let Some(lines) = lines::named(rest)?
            {
                let flags = &words[..words.len() - rest.len()];
                return read_all(&[flags, &lines].concat(), false);
            }
            let used = flag(&mut line, rest)?;
            rest = &rest[used..];
        }
        line.part().command = rest.to_vec();
        count(&mut line)?;
        if line.tells.is_none() && rest.is_empty() {
            return Err(mistake(match part {
                [] if last == 0 => "no program was named".to_owned(),
                [] if at == 0 => "no program comes before the first ':'".to_owned(),
                [] if at == last => "no program comes after the last ':'".to_owned(),
                [] => "no program comes between two ':'".to_owned(),
                _ => format!("no program comes after '{}'", part.join(" ")),
            }));
        }
    }
    Ok(line)
}

/// How many ranks the last part has, now that all its flags are read.
fn count(line: &mut Line) -> Result<(), Failure> {
    let part = line.part();
    if let Some(set) = &part.soft {
        let granted = soft::granted(set, part.ranks.unwrap_or(1));
        part.ranks = Some(granted.map_err(|why| mistake(format!("-soft: {why}")))?);
    }
    match (part.per_socket.take(), part.ranks) {
        (Some(_), None) => {
            let text = "ranks are not counted by socket. So many on each node: -ppn N";
            Err(mistake(format!("-npersocket: {text}")))
        }
        (Some(count), Some(_)) => {
            line.ignored.push(format!("-npersocket {count}"));
            Ok(())
        }
        (None, _) => Ok(()),
    }
}

/// Reads the flag that some words begin with; how many are its own.
fn flag(line: &mut Line, words: &[String]) -> Result<usize, Failure> {
    let written = &words[0];
    let bare = written.trim_start_matches('-');
    let (name, given) = match bare.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (bare, None),
    };
    let values = |count: usize| -> Result<(Vec<String>, usize), Failure> {
        let mut values: Vec<String> = given.iter().cloned().collect();
        let wanted = count.saturating_sub(values.len());
        values.extend(words[1..].iter().take(wanted).cloned());
        let used = 1 + wanted;
        match values.len() {
            have if have < count => {
                let s = if count == 1 { "" } else { "s" };
                Err(mistake(format!("{written} wants {count} value{s}")))
            }
            have if have > count => Err(mistake(format!("{written}: it takes no value"))),
            _ => Ok((values, used)),
        }
    };
    if let Some(flag) = FLAGS.iter().find(|flag| flag.names.contains(&name)) {
        // A variable's name has no '=': both are in one word.
        let first = given.as_ref().or(words.get(1));
        let is_whole = flag.values == ["NAME", "VALUE"] && first.is_some_and(|it| it.contains('='));
        let (values, used) = values(if is_whole { 1 } else { flag.values.len() })?;
        (flag.does)(line, &values).map_err(|why| mistake(format!("{written}: {why}")))?;
        return Ok(used);
    }
    if GRANTED.contains(&name) {
        return values(0).map(|(_, used)| used);
    }
    if let Some((_, count)) = IGNORED.iter().find(|(ignored, _)| *ignored == name) {
        let (_, used) = values(*count)?;
        line.ignored.push(written.clone());
        return Ok(used);
    }
    let Some(takes) = run::takes_value(name).filter(|_| written.starts_with("--")) else {
        return Err(mistake(format!("there is no flag {written}")));
    };
    line.run.push(written.clone());
    if takes && given.is_none() {
        let (values, used) = values(1)?;
        line.run.extend(values);
        return Ok(used);
    }
    Ok(1)
}

/// What `--help` prints.
pub fn help() -> String {
    let mut text = "\
Run an MPI program: mpiexec FLAGS PROGRAM ... [: FLAGS PROGRAM ...]

Several programs are one job, whose first ranks are the first one's. Without a cluster, the ranks
run on one that lives as long as they do. More ranks than processors share them.

"
    .to_owned();
    for flag in FLAGS.iter().filter(|flag| !flag.about.is_empty()) {
        let names: Vec<String> = flag.names.iter().map(|name| dashed(name)).collect();
        let call = format!("{} {}", names.join(", "), flag.values.join(" "));
        // Writing to a String cannot fail.
        let _ = match call.trim_end() {
            call if call.len() > 26 => writeln!(text, "  {call}\n  {:26}  {}", "", flag.about),
            call => writeln!(text, "  {call:26}  {}", flag.about),
        };
    }
    text += "
Flags of `muster run` with two dashes are taken as well. What is so anyway, such as
--oversubscribe, is granted; what means nothing here, such as --mca, is said to be left out.
";
    text
}

fn dashed(name: &str) -> String {
    let dashes = if name.contains('-') { "--" } else { "-" };
    format!("{dashes}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<Line, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        read(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn what_open_mpi_and_mpich_understand_is_understood() {
        let all = line(
            "--allow-run-as-root -np 4 --map-by ppr:2:node -x A=1 -x PATH -genv K V --wdir /d \
             --mca btl self,tcp -tag-output --bind-to core --oversubscribe ./prog -n 9 --mca",
        );
        let all = all.unwrap();
        assert_eq!(all.per_node, Some(2));
        assert_eq!(all.ignored, ["--mca", "-bind-to core"]);
        assert_eq!(all.run, ["--label"]);
        assert_eq!(all.global_env, ["K=V"]);
        let part = Part {
            ranks: Some(4),
            env: ["A=1", "PATH"].map(str::to_owned).into(),
            directory: Some("/d".into()),
            path: None,
            soft: None,
            per_socket: None,
            command: ["./prog", "-n", "9", "--mca"].map(str::to_owned).into(),
        };
        assert_eq!(all.parts, [part]);
        assert!(line("-map-by node x").unwrap().spread);
        let odd = line("--cpu-bind=cores --rank-by slot -timestamp-output x").unwrap();
        assert_eq!(odd.ignored, ["--cpu-bind=cores", "--rank-by", "-timestamp-output"]);
        assert_eq!(line("-pernode x").unwrap().per_node, Some(1));
        assert_eq!(line("-ppn=3 x").unwrap().per_node, Some(3));
        assert_eq!(
            line("--timing --time 5m --json x").unwrap().run.join(" "),
            "--timing --time 5m --json"
        );
        assert_eq!(line("-V").unwrap().tells, Some(Tells::Version));
        assert_eq!(line("-n 2 -- -odd").unwrap().parts[0].command, ["-odd"]);
    }

    #[test]
    fn ranks_that_are_not_to_be_bound_are_not() {
        for text in ["--bind-to none x", "--cpu-bind none x", "--cpu-bind=v,no x"] {
            let line = line(text).unwrap();
            assert_eq!((line.run, line.ignored.len()), (vec!["--no-bind".to_owned()], 0), "{text}");
        }
        for (text, spread, each) in [
            ("--map-by node:PE=4 x", true, None),
            ("--map-by slot:PE=4 x", false, None),
            ("--map-by ppr:2:node:pe=4 x", false, Some(2)),
            ("--map-by PE=4 x", false, None),
        ] {
            let line = line(text).unwrap();
            assert_eq!((line.run, line.ignored.len()), (vec!["--no-bind".to_owned()], 0), "{text}");
            assert_eq!((line.spread, line.per_node), (spread, each), "{text}");
        }
        assert!(line("--bind-to core --map-by slot x").unwrap().run.is_empty());
    }

    #[test]
    fn a_variable_that_is_set_in_one_word_takes_no_other() {
        let all = line("--env A=1 -genv B=2 -env C 3 -genv=D=4 -env=E 5 ./a x").unwrap();
        assert_eq!(all.parts[0].env, ["A=1", "C=3", "E=5"]);
        assert_eq!(all.global_env, ["B=2", "D=4"]);
        assert_eq!(all.parts[0].command, ["./a", "x"]);
    }

    #[test]
    fn several_programs_are_told_apart() {
        let all = line("-n 1 ./a 1 : -n 3 -env X y ./b : c").unwrap();
        assert_eq!(all.ranks(), Some(5));
        let commands: Vec<String> = all.parts.iter().map(|part| part.command.join(" ")).collect();
        assert_eq!(commands, ["./a 1", "./b", "c"]);
        assert_eq!(all.parts[1].env, ["X=y"]);
        let all = line("-n 1 a : -genv K V -genvlist A,K,B b").unwrap();
        assert_eq!(
            (all.global_env.join(" "), all.run),
            ("K=V A B".into(), vec!["--no-env".into()])
        );
    }

    #[test]
    fn hosts_come_as_lists_and_as_files() {
        let told = |text: &str| {
            let hosts = hosts(text).unwrap();
            hosts.iter().map(|(name, n)| format!("{name}={} ", n.unwrap_or(0))).collect::<String>()
        };
        assert_eq!(told("n0,n1:4"), "n0=0 n1=4 ");
        assert_eq!(told("n[0,2-3]:2,n5"), "n[0,2-3]=2 n5=0 ");
        let file = host_file("# ours\nn0 slots=2 max_slots=3\n\nn1:4 # new\nn2 5\nn3\n").unwrap();
        let places: Vec<Option<u32>> = file.iter().map(|(_, places)| *places).collect();
        assert_eq!(places, [Some(2), Some(4), Some(5), None]);
        // One that a cluster was brought up with: once the port of its ssh was 2299 ranks.
        let file = host_file(
            "127.0.0.1:2299 nodes=2\n127.0.0.1:2300\nann@lab:22\n[fd00::3]:22\nlab3 slots = 4\n\
             ann@[fd00::4]:22\nann@[fd00::5]\nann@fd00::6\n",
        );
        let told = |(name, places): &Host| format!("{name}={} ", places.unwrap_or(0));
        let told: String = file.unwrap().iter().map(told).collect();
        assert_eq!(told, "127.0.0.1=0 lab=0 fd00::3=0 lab3=4 fd00::4=0 fd00::5=0 fd00::6=0 ");
        for (text, said) in [
            ("n0\nn1 foo=3", "line 2: 'foo=3' is not understood; write slots=N"),
            ("n0 many", "line 1: 'many' is not understood"),
            ("\nn0 slots=x", "line 2: 'x' is no number of ranks"),
            ("lab:22022", "line 1: 'lab:22022' are 22022 ranks, and a node runs 3072 at most; if"),
        ] {
            assert!(host_file(text).expect_err(text).starts_with(said), "{text}");
        }
    }

    #[test]
    fn a_mistake_is_one_sentence_and_no_program() {
        for (text, said) in [
            ("-n x prog", "mpiexec: -n: 'x' is no number of ranks. See: mpiexec --help  [E100"),
            ("-n 0 prog", "-n: at least 1 is needed"),
            ("-n", "-n wants 1 value"),
            ("--mca a", "--mca wants 2 values"),
            ("--oversubscribe=yes prog", "it takes no value"),
            ("-frobnicate 3 prog", "there is no flag -frobnicate"),
            ("-timing prog", "there is no flag -timing"),
            ("-f /no/such prog", "-f: /no/such: No such file or directory"),
            ("-initial-errhandler none prog", "'none' is none of mpi_errors_are_fatal, "),
            ("-configfile /no/such", "-configfile: /no/such: No such file or directory"),
            ("-configfile /dev/null -n 1 prog", "it comes last, stands for all"),
            ("-n 5 -soft 2:4,rubbish prog", "-soft: '2:4,rubbish' is no set of numbers"),
            ("-configfile /dev/null", "no program was named"),
            ("-arch sparc prog", "-arch: nodes are not chosen by their processor. Name them"),
            ("--npersocket 2 prog", "-npersocket: ranks are not counted by socket."),
            ("-file it prog", "-file: what is in it is not known here. Hosts: -hostfile"),
            ("-f /dev/null prog", "-f: /dev/null: it names no host"),
            ("-n 4", "no program comes after '-n 4'"),
            ("-n 1 a :", "mpiexec: no program comes after the last ':'. See: mpiexec --help  [E1"),
            ("-n 1 a : -n 2", "no program comes after '-n 2'"),
            (": a", "no program comes before the first ':'"),
            ("a : : b", "no program comes between two ':'"),
            ("", "no program was named"),
        ] {
            let told = line(text).expect_err(text);
            assert!(told.contains(said), "{text}: {told}");
            assert!(!told.contains('\n'), "{told}");
        }
    }

    #[test]
    fn no_flag_is_in_two_lists() {
        let mut all: Vec<&str> = FLAGS.iter().flat_map(|flag| flag.names).copied().collect();
        all.extend(GRANTED);
        all.extend(IGNORED.iter().map(|(name, _)| *name));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
