//! mpi4py's own test suite over our MPI library: mpi4py is built from its sources with `bin/mpicc`,
//! and its suite runs area by area, on one node or several. What fails and is not in the list of
//! `docs/decisions/mpi4py.md` is an error; an area that hangs is ended and named.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::workspace::{Usage, cargo, check, output, root, target_dir};

/// The release, and what builds it.
const RELEASE: &str = "4.1.2";
const BUILT_WITH: [&str; 4] = ["cython>=3.0.10", "setuptools>=77", "wheel", "numpy"];

/// The page that says what does not pass, and why: lines that begin with "- `NAME`".
const PAGE: &str = "docs/decisions/mpi4py.md";

/// How long an area may take.
const SECONDS: &str = "900";

/// Areas, and the test files of each as a regular expression.
const AREAS: [(&str, &str); 10] = [
    ("point-to-point", "test_p2p|test_msgspec|test_msgzero|test_util_pkl5|test_util_sync"),
    ("collectives", "test_cco_(buf|nb_buf|nb_vec|obj|vec|pr_buf|pr_vec)\\b(?!_inter)"),
    ("between groups", "test_cco_\\w+_inter|test_comm_inter"),
    ("neighbours", "test_cco_(pr_)?ngh|test_comm_topo"),
    ("datatypes, packing", "test_datatype|test_pack\\b|test_address|test_mpimem|test_buffer"),
    ("communicators, groups", "test_comm\\b|test_group|test_attributes|test_info|test_session"),
    ("operations", "test_op\\b"),
    ("requests, statuses", "test_request|test_grequest|test_status|test_threads"),
    ("errors, environment", "test_err|test_exc|test_env|test_mpiabi|test_handle|test_objmodel"),
    ("windows, files", "test_rma|test_win|test_file|test_io"),
];

/// What an area has come to.
struct Area {
    ran: usize,
    skipped: usize,
    failed: BTreeSet<String>,
    /// What is wrong beside that.
    wrong: Option<String>,
}

/// Where everything lies: `peers/mpi4py` of the target directory.
struct Places {
    root: PathBuf,
    target: PathBuf,
    work: PathBuf,
}

/// Runs the suite on 1, 2 and 4 ranks of one node, or on as many as are named; behind `-N`, on so
/// many nodes.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let (nodes, ranks) = match arguments {
        [flag, nodes, ranks @ ..] if flag == "-N" => (number(nodes, "nodes")?, ranks),
        ranks => (1, ranks),
    };
    let ranks: Vec<u32> = ranks.iter().map(|it| number(it, "ranks")).collect::<Result<_>>()?;
    let ranks = match ranks.is_empty() {
        true => [1, 2, 4].into_iter().filter(|ranks| *ranks >= nodes).collect(),
        false => ranks,
    };
    if let Some(few) = ranks.iter().find(|ranks| **ranks < nodes) {
        return Err(Usage(format!("{few} ranks are fewer than the {nodes} nodes")).into());
    }
    let root = root()?;
    let target = target_dir(&root);
    let places = Places { work: target.join("peers/mpi4py"), root, target };
    let known = known(&fs::read_to_string(places.root.join(PAGE)).context(PAGE)?);
    check(cargo(&places.root).args(["build", "-q", "-p", "muster-cli", "-p", "muster-mpi-abi"]))?;
    build(&places)?;
    let run = places.work.join("run");
    // The cluster's directory has to be this user's alone.
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&run);
    made.with_context(|| format!("creating {}", run.display()))?;
    check(places.muster().args(["up", "-N", &nodes.to_string()]))?;
    let suites = ranks.iter().map(|ranks| suite(&places, (nodes, *ranks), &known));
    let done = suites.collect::<Result<Vec<_>>>();
    check(places.muster().arg("down"))?;
    let is_well = done?.into_iter().all(|is_well| is_well);
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn number(argument: &str, what: &str) -> Result<u32> {
    let number = argument.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Usage(format!("'{argument}' is no number of {what}")).into())
}

impl Places {
    fn muster(&self) -> Command {
        let mut command = Command::new(self.target.join("debug/muster"));
        command.env("MUSTER_RUNTIME", self.work.join("run"));
        command
    }

    fn python(&self) -> PathBuf {
        self.work.join("venv/bin/python")
    }

    fn source(&self) -> PathBuf {
        self.work.join(format!("mpi4py-{RELEASE}"))
    }
}

/// Builds mpi4py, once.
fn build(places: &Places) -> Result<()> {
    let (work, source) = (&places.work, places.source());
    if work.join("site/mpi4py/MPI.pxd").exists() {
        return Ok(());
    }
    println!("mpi4py: building {RELEASE}, which takes minutes");
    fs::create_dir_all(work).with_context(|| format!("creating {}", work.display()))?;
    output(Command::new("python3").args(["-m", "venv", "venv"]).current_dir(work))?;
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(places.python());
        output(command.args(["-m", "pip", "-q"]).args(arguments).current_dir(work))
    };
    pip(&[&["install"], &BUILT_WITH[..]].concat())?;
    let release = format!("mpi4py=={RELEASE}");
    let plain = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation"];
    pip(&[&["download", &release], &plain[..]].concat())?;
    let archive = format!("mpi4py-{RELEASE}.tar.gz");
    output(Command::new("tar").args(["-xf", &archive]).current_dir(work))?;
    let mut setup = Command::new(places.python());
    setup.args(["setup.py", "-q", "build", "--build-lib", "../site"]).current_dir(source);
    // Optimizing takes longer than the suite.
    setup.env("CFLAGS", "-O0").env("MPI4PY_BUILD_MPICC", places.root.join("bin/mpicc"));
    setup.env("MUSTER_LIB", places.target.join("debug"));
    output(&mut setup).map(drop)
}

/// Runs all areas on so many nodes and ranks; whether only what is known has failed.
fn suite(places: &Places, (nodes, ranks): (u32, u32), known: &[String]) -> Result<bool> {
    let mut is_well = true;
    println!(
        "{:<24} {:>6} {:>6} {:>7} {:>6}",
        format!("{ranks} ranks on {nodes}"),
        "ran",
        "passed",
        "skipped",
        "failed"
    );
    for (name, files) in AREAS {
        let area = area(places, (nodes, ranks), files)?;
        let failed = area.failed.len();
        let passed = area.ran.saturating_sub(area.skipped + failed);
        println!("{name:<24} {:>6} {passed:>6} {:>7} {failed:>6}", area.ran, area.skipped);
        if let Some(wrong) = &area.wrong {
            println!("  {wrong}");
        }
        let is_known = |id: &&String| known.iter().any(|it| id.starts_with(it.as_str()));
        let unknown: Vec<_> = area.failed.iter().filter(|id| !is_known(id)).collect();
        unknown.iter().for_each(|id| println!("  {id}: {PAGE} does not have it"));
        is_well &= unknown.is_empty() && area.wrong.is_none();
    }
    Ok(is_well)
}

/// Runs an area. Each rank writes its own report.
fn area(places: &Places, (nodes, ranks): (u32, u32), files: &str) -> Result<Area> {
    let reports = places.work.join("reports");
    if reports.exists() {
        fs::remove_dir_all(&reports).with_context(|| format!("removing {}", reports.display()))?;
    }
    fs::create_dir_all(&reports).with_context(|| format!("creating {}", reports.display()))?;
    // With the paths as arguments, which may have blanks.
    let script =
        format!("cd \"$1/test\" && exec \"$2\" main.py -v -i '{files}' >\"$3/$MUSTER_RANK\" 2>&1");
    let mut timed = Command::new("timeout");
    timed.args(["-k", "10", SECONDS]).arg(places.target.join("debug/muster"));
    timed.args(["run", "-N", &nodes.to_string(), "-n", &ranks.to_string()]);
    timed.args(["sh", "-c", &script, "sh"]);
    timed.arg(places.source()).arg(places.python()).arg(&reports);
    timed.env("MUSTER_RUNTIME", places.work.join("run")).env("PYTHONDONTWRITEBYTECODE", "1");
    timed.env("PYTHONPATH", places.work.join("site")).env("OPENBLAS_NUM_THREADS", "1");
    let status = timed.output().context("timeout")?.status;
    let read = |rank: u32| fs::read_to_string(reports.join(rank.to_string())).unwrap_or_default();
    let all: Vec<String> = (0..ranks).map(read).collect();
    Ok(come_to(&all, status.code()))
}

/// What the ranks' reports and the exit status of all come to.
fn come_to(all: &[String], status: Option<i32>) -> Area {
    let failed: BTreeSet<String> = all.iter().flat_map(|report| failed(report)).collect();
    let ran = after(&all[0], "\nRan ").unwrap_or(0);
    let wrong = match status {
        Some(124 | 137) => Some("hung".to_owned()),
        _ if all.iter().any(|report| after(report, "\nRan ").is_none()) => {
            Some("ended without a report".to_owned())
        }
        _ if ran == 0 => Some("no test ran".to_owned()),
        // What fails is in the reports; after them a rank may still die.
        Some(0) => None,
        Some(_) if !failed.is_empty() => None,
        _ => Some(format!("ended with {status:?}, and no test has failed")),
    };
    Area { ran, skipped: after(&all[0], "skipped=").unwrap_or(0), failed, wrong }
}

/// The number that follows a word for the last time.
fn after(report: &str, word: &str) -> Option<usize> {
    let (_, rest) = report.rsplit_once(word)?;
    rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}

/// The tests that a report calls failed: `FAIL: testX (test_file.Class.testX)`.
fn failed(report: &str) -> BTreeSet<String> {
    let heads = report.lines().filter(|it| it.starts_with("FAIL: ") || it.starts_with("ERROR: "));
    let ids = heads.filter_map(|head| head.split_once('(')?.1.split_once(')'));
    ids.map(|(id, _)| id.trim_start_matches("unittest.loader._FailedTest.").to_owned()).collect()
}

/// The names in the page's list.
fn known(page: &str) -> Vec<String> {
    let names = page.lines().filter_map(|line| line.strip_prefix("- `")?.split_once('`'));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_what_ran_and_failed_and_each_test_counts_once() {
        let report = "ERROR: testA (test_x.TestX.testA) (name='INT')\n\
                      ERROR: testA (test_x.TestX.testA) (name='LONG')\n\
                      FAIL: test_y (unittest.loader._FailedTest.test_y)\n\
                      \nRan 12 tests in 1.5s\n\nFAILED (failures=1, errors=2, skipped=3)\n";
        assert_eq!((after(report, "\nRan "), after(report, "skipped=")), (Some(12), Some(3)));
        let failed = failed(report);
        assert_eq!(
            failed.iter().map(String::as_str).collect::<Vec<_>>(),
            ["test_x.TestX.testA", "test_y"]
        );
        assert_eq!(after("killed", "\nRan "), None);
    }

    #[test]
    fn all_ranks_have_to_report_and_to_end_well() {
        let wrong = |reports: &[&str], status| {
            let all: Vec<String> = reports.iter().map(|report| (*report).to_owned()).collect();
            come_to(&all, status).wrong
        };
        let (ok, failed) = ("\nRan 2 tests\n\nOK\n", "FAIL: testA (test_x.TestX.testA)\n\nRan 2 t");
        assert_eq!(wrong(&[ok, ok], Some(0)), None);
        assert_eq!(wrong(&[failed, ok], Some(1)), None);
        assert!(wrong(&[ok, ok], Some(139)).is_some(), "it died in MPI_Finalize");
        assert!(wrong(&[ok, ok], None).is_some());
        assert_eq!(wrong(&[failed, ok], Some(124)).as_deref(), Some("hung"));
        assert!(wrong(&[ok, ""], Some(0)).is_some());
        assert!(wrong(&["\nRan 0 tests\n\nOK\n"], Some(0)).is_some());
    }

    #[test]
    fn the_page_names_what_is_known() {
        assert_eq!(known("# Title\n- `test_x.TestX`: a reason\n- other\n"), ["test_x.TestX"]);
    }
}
