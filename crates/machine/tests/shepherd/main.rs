//! Shepherds with real processes.
//!
//! This binary plays every part. Its first argument says which: `shepherd` is what
//! [`muster_machine::node::shepherd`] executes, `daemon` is a node daemon to be killed, `helper` a
//! program to be run; otherwise it runs the tests, and as root runs them once more as nobody.

mod free;
mod groups;
mod launch;
mod script;
mod teardown;
mod tree;

use std::os::unix::process::CommandExt;
use std::panic::catch_unwind;
use std::process::{Command, ExitCode};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// A test that takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Who runs a second round when root runs the first.
pub const NOBODY: u32 = 65534;

type Case = (&'static str, fn());

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("shepherd") => muster_machine::node::shepherd::child_main(),
        Some("daemon") => teardown::daemon(&words[1..]),
        Some("helper") => launch::helper(&words[1..]),
        Some("--list") => {
            cases().iter().for_each(|(name, _)| println!("{name}: test"));
            ExitCode::SUCCESS
        }
        _ => rounds(&words),
    }
}

fn cases() -> Vec<Case> {
    [launch::CASES, teardown::CASES, script::CASES, groups::CASES, free::CASES].concat()
}

fn rounds(words: &[String]) -> ExitCode {
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let mine = cases().into_iter().filter(|(name, _)| {
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()))
    });
    let who = rustix::process::geteuid();
    let failed: Vec<&str> = mine.filter(|case| !passes(*case, who.as_raw())).map(|c| c.0).collect();
    let mut good = failed.is_empty();
    if !good {
        println!("user {who}: failed: {}", failed.join(", "));
    }
    if who.is_root() {
        // By descriptor, so to speak: the path may lead through directories closed to others.
        let again = Command::new("/proc/self/exe").args(words).uid(NOBODY).gid(NOBODY).status();
        good &= again.is_ok_and(|status| status.success());
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one test; also fails it when it leaves a process behind.
fn passes((name, test): Case, who: u32) -> bool {
    let (done, watch) = channel::<()>();
    let watchdog = thread::spawn(move || {
        if watch.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            println!("user {who}: {name} hangs");
            // All that the test has started ends with its daemon: us.
            std::process::exit(1);
        }
    });
    let result = catch_unwind(|| {
        test();
        tree::assert_childless();
    });
    drop(done);
    watchdog.join().expect("the watchdog does not panic");
    println!("user {who}: {name} {}", if result.is_ok() { "ok" } else { "FAILED" });
    result.is_ok()
}
