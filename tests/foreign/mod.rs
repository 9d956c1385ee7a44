//! Programs of `conformance`: clients and suites that nobody here wrote, run with a deadline.

#![allow(dead_code, reason = "each test uses its part")]

use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io::{PipeReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A file of `conformance/ninep`.
pub fn conformance(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/ninep").join(name)
}

/// Fails where a program is missing, and says what to do. Skipping would be failing, later.
pub fn need(program: &str, package: &str) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    assert!(
        found,
        "{program} is missing, and no other client takes its place: type `cargo xtask setup` as \
         root, or apt-get install {package}"
    );
}

/// A program that runs. It is ended when the test is, however that ends.
struct Foreign(Child);

impl Drop for Foreign {
    fn drop(&mut self) {
        // It ends its own children when it is told to; they end with it when it is killed.
        if let Ok(None) = self.0.try_wait() {
            let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
            let deadline = Instant::now() + Duration::from_secs(5);
            while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

fn text(mut from: PipeReader) -> String {
    let mut bytes = Vec::new();
    let _ = from.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A command that is told to end if whoever runs it is killed.
pub fn bound(program: impl AsRef<OsStr>) -> Command {
    need("setpriv", "util-linux");
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "TERM", "--"]).arg(program);
    command
}

/// Runs a client whose output is a line a check: none may fail, and at least `least` must be ok.
#[track_caller]
pub fn run(mut command: Command, limit: Duration, least: usize) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    command.stdin(Stdio::null()).stderr(writer.try_clone().expect("a descriptor")).stdout(writer);
    let what = format!("{command:?}");
    let mut foreign = Foreign(command.spawn().unwrap_or_else(|error| panic!("{what}: {error}")));
    drop(command); // it holds the pipe open
    let collector = std::thread::spawn(move || text(reader));
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = foreign.0.try_wait().expect("it is our child") {
            break Some(status);
        }
        if Instant::now() > deadline {
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    drop(foreign);
    let said = collector.join().expect("it does not panic");
    let ok = said.lines().filter(|line| line.starts_with("ok ")).count();
    let other: Vec<&str> = said.lines().filter(|line| !line.starts_with("ok ")).collect();
    let other = other.join("\n  ");
    let status = status.unwrap_or_else(|| panic!("{what}: no end in {limit:?}\n  {other}"));
    assert!(status.success() && ok >= least, "{what}: {status}, {ok} ok of {least}\n  {other}");
    println!("{ok} ok\n  {other}");
}
