//! A benchmark that is interrupted leaves nothing: no folder, no process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Nothing here takes nearly as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes that were started with a place for temporary files.
fn processes(place: &Path) -> Vec<PathBuf> {
    let mark = format!("TMPDIR={}", place.display());
    let all = fs::read_dir("/proc").expect("there").flatten().map(|entry| entry.path());
    let has_mark = |path: &PathBuf| {
        let environment = fs::read(path.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
    };
    all.filter(has_mark).collect()
}

#[test]
fn an_interrupted_benchmark_leaves_neither_folders_nor_processes() {
    for signal in [Signal::INT, Signal::KILL] {
        let name = format!("muster-interrupted-{}-{}", std::process::id(), signal.as_raw());
        let place = std::env::temp_dir().join(name);
        fs::create_dir(&place).expect("a folder");
        let mut bench = Command::new(env!("CARGO_BIN_EXE_muster-bench"));
        bench.args(["fabric", "--quick", "--case", "shared memory 64 B"]).env("TMPDIR", &place);
        bench.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut bench = bench.spawn().expect("it starts");
        let entries = || fs::read_dir(&place).expect("there").count();
        until("it measures", || entries() > 0);
        kill_process(Pid::from_child(&bench), signal).expect("it runs");
        bench.wait().expect("it ends");
        until("its folders are gone", || entries() == 0);
        until("its processes are gone", || processes(&place).is_empty());
        fs::remove_dir(&place).expect("it is empty");
    }
}
