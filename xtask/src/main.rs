//! All automation of the project: `cargo xtask COMMAND`, one file per command.
#![forbid(unsafe_code)]

mod bench;
mod ci;
mod conformance;
mod digests;
mod fuzz;
mod header;
mod install;
mod kills;
mod libfabric;
mod loom;
mod miri;
mod model;
mod mpi4py;
mod peers;
mod setup;
mod sim;
mod sweep3d;
mod tidy;
mod workspace;

use std::process::ExitCode;

use workspace::Usage;

/// One command: its name, its arguments, what it does, and the function that does it.
struct Command {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<ExitCode>,
}

const COMMANDS: [Command; 16] = [
    Command { name: "tidy", arguments: "", about: "check the rules of the house", run: tidy::run },
    Command {
        name: "ci",
        arguments: "[STEP]...",
        about: "format, clippy, tidy, all tests, loom, short runs of model, simulator and fuzzing",
        run: ci::run,
    },
    Command {
        name: "setup",
        arguments: "[--bench]",
        about: "install what the tests need beyond Rust, and the peers of the benchmarks, too",
        run: setup::run,
    },
    Command {
        name: "sweep3d",
        arguments: "",
        about: "build Muster and Sweep3D, and run it on a cluster that goes with it",
        run: sweep3d::run,
    },
    Command {
        name: "header",
        arguments: "",
        about: "write include/mpi.h, mpif.h and Fortran's modules from the standard's tables",
        run: header::run,
    },
    Command {
        name: "install",
        arguments: "--prefix DIR",
        about: "build, and lay out programs, MPI's library, headers and wrappers below DIR",
        run: install::run,
    },
    Command {
        name: "fuzz",
        arguments: "GROUP|TARGET [--seconds N] | --replay FILE [--target NAME]",
        about: "fuzz with libFuzzer; groups: 9p, fabric, all",
        run: fuzz::run,
    },
    Command {
        name: "model",
        arguments: "[--quick]",
        about: "explore all states of the three primitives within bounds",
        run: model::run,
    },
    Command {
        name: "conformance",
        arguments: "mpi [--mode FLAG] [NAME...]",
        about: "build MPI programs of others and run them over our MPI library",
        run: conformance::run,
    },
    Command {
        name: "mpi4py",
        arguments: "[-N NODES] [RANKS...]",
        about: "build mpi4py and run its own tests over our MPI library",
        run: mpi4py::run,
    },
    Command {
        name: "kills",
        arguments: "[--first SEED] [--rounds N]",
        about: "kill daemons of 64 at random moments, with jobs in flight, 200 times",
        run: kills::run,
    },
    Command {
        name: "digests",
        arguments: "[--runs N]",
        about: "run coscheduled programs under random load, 1,000 times: one digest each",
        run: digests::run,
    },
    Command {
        name: "loom",
        arguments: "",
        about: "try every interleaving of the rings of shared memory",
        run: loom::run,
    },
    Command {
        name: "miri",
        arguments: "",
        about: "run the rings and a gateway's segment under Miri (nightly)",
        run: miri::run,
    },
    Command {
        name: "bench",
        arguments: "NAME [--quick] [--json] [...]",
        about: "measure ours and the peers in turn; names: 9p, fabric, launch, scale, ...",
        run: bench::run,
    },
    Command {
        name: "sim",
        arguments: "[--scenario NAME] [--first N] [--seeds N] [SEED] | --scale [FIGURE.svg] | \
                    --ranks N [--nodes N] \
                    [--network calm|rough|wild] [--seed SEED] [--kill RANK@MICROSECONDS]... \
                    PROGRAM [ARGUMENT]...",
        about: "run clusters under faults drawn from seeds (a seed: again, and compared), what the \
                primitives cost on 2 to 16,384 nodes, or an MPI program on a simulated network",
        run: sim::run,
    },
];

fn usage() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND\n\n");
    for command in &COMMANDS {
        let call = format!("{} {}", command.name, command.arguments);
        text.push_str(&format!("  {}\n      {}\n", call.trim_end(), command.about));
    }
    text
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = arguments.first() else {
        eprint!("{}", usage());
        return ExitCode::from(2);
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprintln!("xtask: no command '{name}'; `cargo xtask help` lists them");
        return ExitCode::from(2);
    };
    match (command.run)(&arguments[1..]) {
        Ok(code) => code,
        Err(error) if error.is::<Usage>() => {
            eprintln!("xtask {name}: {error}; usage: cargo xtask {name} {}", command.arguments);
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
