//! Benchmarks against peers, on one machine in one run: `cargo xtask bench NAME`.

mod child;
mod cluster;
mod cpu;
mod deaths;
mod fabric;
mod folder;
mod gang;
mod image;
mod launch;
mod mpi;
mod namespaces;
mod ninep;
mod picture;
mod primitives;
mod report;
mod scale;
mod spawn;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask bench NAME [OPTION...]

  9p        9P over TCP: muster export, diod and p9ufs
      --quick          end within 50 s
      --json           print the JSON line only
      --dir DIR        where the files lie (a folder is made there; default: /dev/shm)
      --size MIB       length of the files (default: 16; what the processor's caches do not hold
                       measures memory, not servers)
      --ours SERVER    what stands for ours: muster (default), diod, p9ufs
  spawn     a session spread to 4, 8, 16 and 32 nodes by the tree and flat
      --quick --json   as above
  launch    true, and a program of 12 MiB, on 16 and 64 nodes: ours, Slurm, Hydra, pdsh
            (as root: each slurmd has a tmpfs of its own)
      --quick --json   as above
      --namespaces     each node has a network of its own, over which all goes: ours by TLS; also
                       Open MPI
      --figure FILE    measure ours by size and under load as well, and draw that
  scale     launches on 1 to 16 nodes, and a model fitted on them: what it says of 32 and 64 before
            these are measured, and of 256 to 16,384 if that was right
      --quick --json   as above
      --figure FILE    draw it as well: SVG, and its data beside it
  figures   draw the figures of a folder again from the data beside them
      --dir DIR        the folder (default: docs/figures)
  gang      two jobs that take turns on 2 and 8 nodes, beside one after the other, and true
            beside a job that has all nodes
      --quick --json   as above
      --figure FILE    draw it as well: SVG
  image     a boot image of 64 MiB to 1, 4, 16 and 64 clients over links of 100 Mbit/s, and 12 MiB
            to 16 beside udpcast (as root: each client is a network namespace)
      --quick --json   as above
  deaths    of 64 daemons one is killed: until it is named, idle and at load 20
      --quick --json   as above
  primitives  COMPARE-AND-WRITE, XFER-AND-SIGNAL and the heartbeat among 2 to 64 processes, and
            Open MPI and MPICH among as many
      --quick --json   as above
  fabric    messages through shared memory and TCP: ours, bare, UCX, libfabric, iceoryx2
      --quick --json   as above
      --case TEXT      only the cases whose names contain it
  mpi       messages, collectives, launches and Sweep3D over our MPI library, Debian's Open MPI and
            MPICH, and those of PyPI
      --quick --json   as above
      --case TEXT      only the scenes whose names contain it: pair, far, four, eight, many,
                       blocked, launch, memory, sweep
      --namespaces     only what goes between hosts, each a network namespace (as root): ours by
                       TLS over TCP, Open MPI by TCP over the same links
      --figure FILE    measure Sweep3D (--case hypre: hypre) in the coscheduled mode instead, by
                       the length of the strobe, and draw that (as root: each node has a network of
                       its own)
  parked    memory of a running 9P server with many reads that do not return
      --address ADDR   HOST:PORT, or the path of a Unix socket
      --path PATH      a file there whose reads do not return
      --count N        how many reads (default 10000)
      --connections N  over how many connections (default 10)
      --pid PID        the server's process (default: who listens on the Unix socket)

A peer that is not there has rows without a figure, is named in the JSON line, and makes the exit
status 1.";

/// What `cargo xtask bench` says to have a command line read only, before it builds peers: it is
/// told the benchmark's name.
const CHECK: &str = "check";

/// The options of each benchmark. One that would do nothing is a mistake.
const OPTIONS: [(&str, &[&str]); 12] = [
    ("9p", &["--quick", "--json", "--dir", "--size", "--ours"]),
    ("spawn", &["--quick", "--json"]),
    ("launch", &["--quick", "--json", "--namespaces", "--figure"]),
    ("scale", &["--quick", "--json", "--figure"]),
    ("figures", &["--json", "--dir"]),
    ("gang", &["--quick", "--json", "--figure"]),
    ("image", &["--quick", "--json"]),
    ("deaths", &["--quick", "--json"]),
    ("primitives", &["--quick", "--json"]),
    ("fabric", &["--quick", "--json", "--case"]),
    ("mpi", &["--quick", "--json", "--case", "--namespaces", "--figure"]),
    ("parked", &["--json", "--address", "--path", "--count", "--connections", "--pid"]),
];

/// What the command line asks for.
#[derive(Debug)]
struct Options {
    quick: bool,
    json: bool,
    namespaces: bool,
    dir: Option<PathBuf>,
    size: Option<usize>,
    ours: String,
    case: Option<String>,
    figure: Option<PathBuf>,
    parked: ninep::parked::Parked,
}

fn parse(arguments: &[String]) -> Result<(String, Options), String> {
    let mut name = None;
    let mut options = Options {
        quick: false,
        json: false,
        namespaces: false,
        dir: None,
        size: None,
        ours: "muster".to_owned(),
        case: None,
        figure: None,
        parked: ninep::parked::Parked::default(),
    };
    let mut given = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value =
            || arguments.next().cloned().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: String| {
            let number = text.parse::<usize>().ok().filter(|number| *number > 0);
            number.ok_or_else(|| format!("{argument} needs a number, not '{text}'"))
        };
        given.extend(argument.starts_with('-').then_some(argument));
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--json" => options.json = true,
            "--namespaces" => options.namespaces = true,
            "--dir" => options.dir = Some(value()?.into()),
            "--size" => options.size = Some(number(value()?)?),
            "--ours" => options.ours = value()?,
            "--figure" => options.figure = Some(value()?.into()),
            "--case" => options.case = Some(value()?),
            "--address" => options.parked.address = value()?,
            "--path" => options.parked.path = value()?,
            "--count" => options.parked.count = number(value()?)?,
            "--connections" => options.parked.connections = number(value()?)?,
            "--pid" => options.parked.pid = Some(number(value()?)?),
            other if other.starts_with('-') || name.is_some() => {
                return Err(format!("unexpected argument '{other}'"));
            }
            other => name = Some(other.to_owned()),
        }
    }
    let name = name.ok_or("which benchmark?")?;
    let known = OPTIONS.iter().find(|(other, _)| *other == name);
    let (_, known) = known.ok_or_else(|| format!("no benchmark '{name}'"))?;
    if let Some(other) = given.iter().find(|option| !known.contains(&option.as_str())) {
        return Err(format!("'{name}' has no {other}; it has {}", known.join(", ")));
    }
    ninep::peers::Kind::named(&options.ours).map_err(|error| format!("--ours: {error}"))?;
    // It is drawn after all has been measured.
    let folder = options.figure.as_deref().and_then(Path::parent);
    if let Some(folder) = folder.filter(|it| !it.as_os_str().is_empty() && !it.is_dir()) {
        return Err(format!("--figure: there is no folder {}", folder.display()));
    }
    Ok((name, options))
}

/// What a benchmark has this program do in a process of its own.
fn part(arguments: &[String]) -> Option<ExitCode> {
    let (first, rest) = arguments.split_first()?;
    let done = match first.as_str() {
        primitives::NODE => primitives::node(rest).map(|()| String::new()),
        fabric::HALF => fabric::half(rest).map(|figures| format!("{figures}\n")),
        launch::TRAFFIC => launch::traffic().map(|()| String::new()),
        folder::KEEPER => folder::keep(std::io::stdin().lock()).map(|()| String::new()),
        cluster::GUARD => cluster::guard(rest).map(|()| String::new()),
        gang::PROGRAM => gang::program(rest).map(|figures| format!("{figures}\n")),
        _ => return None,
    };
    Some(match done {
        Ok(said) => {
            print!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench: {first}: {error:#}");
            ExitCode::FAILURE
        }
    })
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(exit) = part(&arguments) {
        return exit;
    }
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let checks = arguments.first().is_some_and(|word| word == CHECK);
    arguments.drain(..usize::from(checks));
    let (name, options) = match parse(&arguments) {
        Ok((name, _)) if checks => {
            println!("{name}");
            return ExitCode::SUCCESS;
        }
        Ok(parsed) => parsed,
        Err(error) => {
            eprintln!("bench: {error} (cargo xtask bench --help)");
            return ExitCode::from(2);
        }
    };
    let result = match name.as_str() {
        "9p" => {
            let (dir, size) = (options.dir, options.size);
            ninep::run(&ninep::Settings::new(options.quick, dir, size, &options.ours))
        }
        "spawn" => spawn::run(options.quick),
        "gang" => gang::measure(options.quick, options.figure.as_deref()),
        "scale" => scale::run(options.quick, options.figure.as_deref()),
        "figures" => picture::redraw(options.dir.as_deref()),
        "launch" => {
            let (quick, namespaces) = (options.quick, options.namespaces);
            launch::run(&launch::Settings { quick, namespaces, figure: options.figure.as_deref() })
        }
        "image" => image::run(options.quick),
        "deaths" => deaths::run(options.quick),
        "primitives" => primitives::run(options.quick),
        "fabric" => fabric::run(options.quick, options.case.as_deref()),
        "mpi" if options.namespaces => mpi::between_hosts(options.quick),
        "mpi" => mpi::run(options.quick, options.case.as_deref(), options.figure.as_deref()),
        "parked" => ninep::parked::run(&options.parked),
        _ => unreachable!("the command line was read"),
    };
    match result {
        Ok(report) => {
            if !options.json {
                print!("{}", report.table());
            }
            println!("{}", report.json());
            for peer in &report.missing {
                eprintln!("bench {name}: {peer}");
            }
            // Whoever reads no more than how it ended must not take it for a whole run.
            if report.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("bench {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_read() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (name, options) = parse(&words("9p --quick --ours diod --dir /x")).expect("valid");
        assert_eq!((name.as_str(), options.quick, options.ours.as_str()), ("9p", true, "diod"));
        for wrong in ["--quick", "9p 9p", "9p --size x", "9p --size", "9p --dir", "9p --what"] {
            assert!(parse(&words(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_would_do_nothing_or_fail_in_the_end_is_told_before_anything_is_measured() {
        let told = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            parse(&words).expect_err(line)
        };
        let text = told("gang --case four");
        assert_eq!(text, "'gang' has no --case; it has --quick, --json, --figure");
        assert_eq!(told("gang --figure /no/such/x.svg"), "--figure: there is no folder /no/such");
        assert_eq!(told("gangs"), "no benchmark 'gangs'");
        assert_eq!(told("9p --size 0"), "--size needs a number, not '0'");
        assert!(told("9p --ours nfs").starts_with("--ours: no server 'nfs'"));
    }

    #[test]
    fn each_benchmark_of_the_usage_has_its_options_and_no_others() {
        let (mut name, mut told) = ("", Vec::new());
        for line in USAGE.lines().skip(2) {
            let first = line.split_whitespace().next().unwrap_or_default();
            if !line.starts_with("   ") {
                name = first;
            }
            let options = line.split_whitespace().take_while(|word| word.starts_with("--"));
            told.extend(options.map(|option| (name, option)));
        }
        let known: Vec<(&str, &str)> = OPTIONS
            .iter()
            .flat_map(|(name, options)| options.iter().map(move |option| (*name, *option)))
            .collect();
        for option in &told {
            assert!(known.contains(option), "{option:?} does nothing");
        }
        for option in &known {
            let everybodys = option.1 == "--json";
            assert!(everybodys || told.contains(option), "{option:?} is not told");
        }
    }
}
