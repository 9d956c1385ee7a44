//! A cluster of real daemons, driven with the commands.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A user with a runtime directory of his own. Nothing of it is left at the end.
struct User {
    runtime: PathBuf,
}

impl User {
    fn new(name: &str) -> User {
        let runtime = std::env::temp_dir().join(format!("mu-{name}-{}", std::process::id()));
        User { runtime }
    }

    fn command(&self, words: &[&str]) -> Command {
        // `muster run` heeds no signal that its caller ignores, as tests in the background may.
        let mut command = Command::new("env");
        command.args(["--default-signal", env!("CARGO_BIN_EXE_muster")]);
        command.args(words).env("MUSTER_RUNTIME", &self.runtime).env_remove("MUSTER_CLUSTER");
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command that may fail.
    fn may(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the binary is built")
    }

    /// Runs a command that must not fail; what it prints.
    fn must(&self, words: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.may(words);
        let said = String::from_utf8_lossy(&stderr);
        assert!(status.success(), "muster {words:?}: {status}: {said}");
        String::from_utf8(stdout).expect("text")
    }

    /// Runs a command that must fail so; what it says.
    fn must_not(&self, words: &[&str], code: i32) -> String {
        let Output { status, stderr, .. } = self.may(words);
        let said = String::from_utf8(stderr).expect("text");
        assert_eq!(status.code(), Some(code), "muster {words:?}: {said}");
        assert_eq!(said.lines().count(), 1, "one sentence: {said}");
        said
    }

    fn json(&self, words: &[&str]) -> Value {
        let value: Value = serde_json::from_str(&self.must(words)).expect("JSON");
        assert_eq!(value["schema"], 1);
        value
    }

    fn directory(&self) -> PathBuf {
        self.runtime.join("default")
    }

    /// Numbers of all processes that work for this user's clusters.
    fn processes(&self) -> Vec<u32> {
        let mark = self.runtime.as_os_str().as_encoded_bytes();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").expect("it is mounted").flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            // The keeper has the directory in its environment, the daemons in their arguments.
            let has = |file: &str| {
                let bytes = std::fs::read(entry.path().join(file)).unwrap_or_default();
                bytes.windows(mark.len()).any(|part| part == mark)
            };
            if pid != std::process::id() && (has("cmdline") || has("environ")) {
                found.push(pid);
            }
        }
        found
    }

    fn nothing_is_left(&self) {
        until("nothing is left", || {
            (self.processes().is_empty() && !self.runtime.exists()).then_some(())
        });
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.may(&["down"]);
    }
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process of a daemon, as the keeper notes it.
fn daemon(directory: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(directory.join("pids")).ok()?;
    let line = text.lines().find(|line| line.split(' ').next() == Some(name))?;
    line.split(' ').nth(1).map(str::to_owned)
}

fn signal(process: &str, signal: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {process}")]).status();
    assert!(sent.expect("a shell").success(), "process {process} is there");
}

#[test]
fn a_cluster_comes_up_is_seen_and_goes_without_a_trace() {
    let user = User::new("up");
    assert!(user.must_not(&["ps"], 1).contains("muster up -N 4  [E120]"));
    assert!(user.must(&["down"]).contains("nothing to do"));
    let up = user.json(&["up", "-N", "3", "--json"]);
    assert_eq!(up["nodes"], serde_json::json!(["n0", "n1", "n2"]));
    assert!(user.must_not(&["up"], 1).contains("[E124]"));
    let nodes = user.json(&["nodes", "--json"]);
    assert_eq!(nodes["transport"], "unix");
    let facts = nodes["nodes"].as_array().expect("a list");
    assert!(facts.iter().all(|node| node["state"] == "up" && node["cpus"].as_u64() > Some(0)));
    assert_eq!(user.must(&["ls", "/nodes"]), "n0\nn1\nn2\n");
    assert!(user.must(&["cat", ":/nodes/n2/name"]).starts_with("n2"));
    assert!(user.must_not(&["cat", "/nodes/n9/mem"], 1).contains("[E160]"));
    assert!(user.must_not(&["kill", "7"], 1).contains("no job 7"));
    assert!(user.must(&["down"]).contains("3 nodes n[0-2] ended"));
    user.nothing_is_left();
}

#[test]
fn a_session_is_driven_with_ls_cp_write_and_cat() {
    let user = User::new("files");
    user.must(&["up", "-N", "1"]);
    let number = user.must(&["cat", "/nodes/n0/clone"]);
    let session = format!("/nodes/n0/{number}");
    let file = |name: &str| format!("{session}/{name}");
    let here = user.runtime.join("here");
    std::fs::create_dir_all(here.join("in/deep")).expect("made");
    std::fs::write(here.join("in/deep/data"), vec![b'x'; 3 << 20]).expect("written");
    let _socket = std::os::unix::net::UnixListener::bind(here.join("in/a")).expect("a socket");
    std::os::unix::fs::symlink("/dev/zero", here.join("in/zero")).expect("a link");
    let fs = format!(":{}", file("fs"));
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    // Nor does it wait for what is no file, or has no end.
    user.must(&["cp", "-r", &text(&here.join("in")), &fs]);
    assert!(user.must_not(&["cp", &fs, &text(&here)], 1).contains("give -r"));
    // What cannot be copied takes nothing with it, neither in a directory nor behind it.
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    for name in [odd, "a".as_ref(), "z".as_ref()] {
        std::fs::create_dir_all(here.join("odd")).expect("made");
        std::fs::write(here.join("odd").join(name), "content").expect("written");
    }
    let (odd, missing) = (text(&here.join("odd")), text(&here.join("missing")));
    let copied = user.may(&["cp", "-r", &missing, &odd, &fs]);
    let said = String::from_utf8_lossy(&copied.stderr);
    assert_eq!((copied.status.code(), said.lines().count()), (Some(1), 2), "{said}");
    assert!(said.contains("missing does not exist") && said.contains("is not text"), "{said}");
    assert_eq!(user.must(&["ls", &file("fs/odd")]), "a\nz\n");
    // Nor does it read what tells of a program that is not there yet, and would wait for that.
    let copied = user.may(&["cp", "-r", &format!(":{session}"), &text(&here.join("whole"))]);
    let said = String::from_utf8_lossy(&copied.stderr);
    assert_eq!((copied.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert!(said.contains("files that told what happens are not copied"), "{said}");
    assert_eq!(std::fs::read(here.join("whole/fs/odd/a")).expect("copied"), b"content");
    let links = "cd in; ln -s deep/data a1; ln -s ../in/a1 a2; ln -s deep a3; \
                 ln -s /etc/passwd a4; ln -s nowhere a5; ln -s ../../stdout a6; ln -s a7 a7; \
                 echo last > z";
    let program = format!("sh -c 'wc -c < in/deep/data; cat; {links}; exit 3'");
    user.must(&["write", &file("argv"), &program]);
    user.must(&["write", &file("ctl"), "exec"]);
    user.must(&["write", "-n", &file("stdin"), "input"]);
    user.must(&["write", &file("ctl"), "close", "stdin"]);
    assert_eq!(user.must(&["cat", &file("stdout")]), "3145728\ninput");
    assert_eq!(user.must(&["cat", &file("wait")]).trim(), (3 << 8).to_string());
    // By whatever name: what is copied onto itself would be emptied first.
    let (data, again) = (format!("{fs}/in/deep/data"), format!("{fs}/in/../in/deep/data"));
    assert!(user.must_not(&["cp", &data, &again], 1).contains("are the same; nothing was copied"));
    user.must(&["cp", "-r", &fs, &text(&here.join("out"))]);
    // Links among it that lead to files are followed, and what comes after others is copied too.
    let copied = user.may(&["cp", "-r", &fs, &text(&here.join("links"))]);
    let said = String::from_utf8_lossy(&copied.stderr);
    assert!(copied.status.success(), "{said}");
    for link in ["a3", "a4", "a5", "a6", "a7"] {
        assert!(said.contains(&format!("/in/{link} is a link, not copied")), "{link}: {said}");
    }
    for (name, length) in [("a1", 3 << 20), ("a2", 3 << 20), ("z", 5)] {
        let copy = std::fs::metadata(here.join("links/in").join(name)).expect(name);
        assert_eq!(copy.len(), length, "{name}");
    }
    user.must(&["cp", &format!("{fs}/in/a2"), &text(&here.join("one"))]);
    assert_eq!(std::fs::metadata(here.join("one")).expect("copied").len(), 3 << 20);
    let back = std::fs::read(here.join("out/in/deep/data")).expect("copied back");
    assert!(back == vec![b'x'; 3 << 20]);
    std::fs::remove_dir_all(&here).expect("ours");
    user.must(&["down"]);
    user.nothing_is_left();
}

#[test]
fn a_killed_daemon_comes_back_and_a_stopped_one_is_no_obstacle() {
    let user = User::new("kill");
    user.must(&["up", "-N", "2"]);
    for name in ["n1", "manager"] {
        let before = daemon(&user.directory(), name).expect("it is noted");
        signal(&before, "KILL");
        until("another daemon", || daemon(&user.directory(), name).filter(|now| *now != before));
        until("all nodes", || {
            let Output { status, stdout, .. } = user.may(&["nodes", "--json"]);
            let told: Value = serde_json::from_slice(&stdout).ok().filter(|_| status.success())?;
            let nodes = told["nodes"].as_array()?;
            let up = nodes.iter().filter(|node| node["state"] == "up").count();
            (up == 2).then_some(())
        });
    }
    let log = std::fs::read_to_string(user.directory().join("keeper.log")).expect("a log");
    assert!(log.contains("n1: its daemon was killed by signal 9"), "{log}");
    signal(&daemon(&user.directory(), "n0").expect("noted"), "STOP");
    signal(&daemon(&user.directory(), "manager").expect("noted"), "STOP");
    assert!(user.must_not(&["ps"], 1).contains("[E121]"));
    user.must(&["down"]);
    user.nothing_is_left();
}

/// Needs /dev/fuse, as the tests of the file system itself do.
#[test]
fn a_mount_goes_with_its_cluster() {
    let user = User::new("mount");
    let dir = std::env::temp_dir().join(format!("mu-at-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("made");
    let at = dir.to_str().expect("text");
    user.must(&["up", "-N", "1"]);
    user.must(&["mount", at]);
    assert!(user.must_not(&["mount", at], 1).contains("already  [E151]"));
    let name = std::fs::read_to_string(dir.join("nodes/n0/name")).expect("served");
    assert_eq!(name.trim(), "n0");
    user.must(&["umount", at]);
    assert!(user.must_not(&["umount", at], 1).contains("[E153]"));
    user.must(&["mount", at]);
    // It comes back with the manager, also where a job sees it and keeps the one before.
    user.must(&["run", "--detach", "sleep", "1000"]);
    let started = || {
        let status = std::fs::read(dir.join("status")).ok()?;
        serde_json::from_slice::<Value>(&status).ok()?["started"].as_f64()
    };
    let before = started().expect("a manager");
    signal(&daemon(&user.directory(), "manager").expect("noted"), "KILL");
    until("another manager's files", || started().filter(|now| *now != before));
    user.must(&["down"]);
    user.nothing_is_left();
    // What is mounted cannot be removed.
    until("an empty place", || std::fs::remove_dir(&dir).ok());
}

/// Needs /dev/fuse.
#[test]
fn a_mount_whose_server_was_killed_is_told_as_such_and_taken_away_by_any_name() {
    let user = User::new("dead");
    let dir = std::env::temp_dir().join(format!("mu-dead-at-{}", std::process::id()));
    let at = dir.join("at");
    std::fs::create_dir_all(&at).expect("made");
    let text = at.to_str().expect("text");
    user.must(&["up", "-N", "1"]);
    std::fs::create_dir(dir.join("beside")).expect("made");
    let around = format!("{}/beside/../at/", dir.display());
    for name in [format!("{text}/"), around, text.to_owned()] {
        user.must(&["mount", text]);
        let serves = |pid: &u32| {
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == b"--foreground")
        };
        let server = user.processes().into_iter().find(serves).expect("it is served");
        signal(&server.to_string(), "KILL");
        until("a dead mount", || at.metadata().err());
        let said = user.must_not(&["mount", &name], 1);
        assert!(said.contains(&format!("has died; first: muster umount {text}")), "{said}");
        user.must(&["umount", &name]);
    }
    user.must(&["down"]);
    user.nothing_is_left();
    std::fs::remove_dir_all(&dir).expect("ours");
}

/// As a script has that must not run twice. Needs /dev/fuse.
#[test]
fn a_lock_that_the_caller_holds_is_kept_by_no_cluster_and_by_no_mount() {
    let user = User::new("lock");
    let dir = std::env::temp_dir().join(format!("mu-held-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("at")).expect("made");
    let (at, lock) = (dir.join("at"), dir.join("lock"));
    let at = at.to_str().expect("text");
    for words in [&["up", "-N", "1"][..], &["mount", at]] {
        let mut guarded = Command::new("sh");
        guarded.args(["-c", "exec 9>\"$0\" && flock 9 && \"$@\""]).arg(&lock);
        let command = user.command(words);
        guarded.arg(command.get_program()).args(command.get_args());
        let guarded = guarded.env("MUSTER_RUNTIME", &user.runtime).env_remove("MUSTER_CLUSTER");
        assert!(guarded.stdin(Stdio::null()).status().expect("a shell").success(), "{words:?}");
        let held = std::fs::File::open(&lock).expect("made").try_lock();
        assert!(held.is_ok(), "{words:?}: {held:?}");
    }
    user.must(&["umount", at]);
    user.must(&["down"]);
    user.nothing_is_left();
    std::fs::remove_dir_all(&dir).expect("ours");
}

/// It is emptied first, or grows without end. Needs /dev/fuse.
#[test]
fn nothing_is_copied_onto_itself_by_its_name_in_a_mount() {
    let user = User::new("onto");
    user.must(&["up", "-N", "1"]);
    let here = user.runtime.join("here");
    let (at, mine) = (here.join("at"), here.join("mine"));
    std::fs::create_dir_all(&at).expect("made");
    std::fs::write(&mine, "content").expect("written");
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    user.must(&["mount", &text(&at)]);
    let session = user.must(&["cat", "/nodes/n0/clone"]);
    let fs = format!("nodes/n0/{session}/fs");
    let (named, mounted) = (format!(":/{fs}"), at.join(&fs));
    user.must(&["cp", &text(&mine), &named]);
    for (from, to) in [
        (text(&mounted.join("mine")), named.clone()),
        (format!("{named}/mine"), text(&mounted)),
        (format!("{named}/mine"), text(&mounted.join("mine"))),
        (text(&mounted), format!("{named}/deeper")),
    ] {
        assert!(user.must_not(&["cp", "-r", &from, &to], 1).contains("is mounted"), "{from} {to}");
    }
    // What else is there is copied.
    let said = user.may(&["cp", "-r", &text(&here), &format!("{named}/all")]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("at is where a cluster is mounted, not copied"), "{said}");
    for file in ["mine", "all/mine"] {
        assert_eq!(std::fs::read_to_string(mounted.join(file)).expect("there"), "content");
    }
    let both = ["cp", &text(&mine), &format!("{named}/mine"), &text(&here)];
    assert!(user.must_not(&both, 2).contains("use cp"));
    assert_eq!(std::fs::read_to_string(&mine).expect("there"), "content");
    user.must(&["umount", &text(&at)]);
    std::fs::remove_dir_all(&here).expect("ours");
    user.must(&["down"]);
    user.nothing_is_left();
}

#[test]
fn who_follows_a_jobs_output_misses_nothing_when_the_manager_dies() {
    let user = User::new("follow");
    user.must(&["up", "-N", "2"]);
    let go = user.runtime.join("go");
    let text = format!("seq 100; while ! [ -e {} ]; do sleep 0.05; done; seq 100", go.display());
    let job = user.must(&["run", "-N", "2", "--detach", "sh", "-c", &text]);
    let follow = |flags: &[&str]| {
        let mut logs = user.command(&[&["logs", "-f", job.trim()], flags].concat());
        let mut logs = logs.stdout(Stdio::piped()).spawn().expect("the binary is built");
        let stdout = BufReader::new(logs.stdout.take().expect("it is piped"));
        let mut lines = stdout.lines().map(|line| line.expect("text"));
        assert_eq!(lines.by_ref().take(200).count(), 200);
        (logs, lines)
    };
    let both = [follow(&[]), follow(&["--label"])];
    let before = daemon(&user.directory(), "manager").expect("it is noted");
    signal(&before, "KILL");
    until("another", || daemon(&user.directory(), "manager").filter(|now| *now != before));
    std::fs::write(&go, "").expect("written");
    for (mut logs, lines) in both {
        assert_eq!(lines.count(), 200);
        assert!(logs.wait().expect("it is ours").success());
    }
    std::fs::remove_file(&go).expect("ours");
    user.must(&["down"]);
    user.nothing_is_left();
}

#[test]
fn an_embedded_cluster_dies_with_its_command() {
    let user = User::new("run");
    let mut run = user.command(&["run", "-n", "3", "sh", "-c", "echo up; sleep 1000"]);
    let mut run = run.stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut byte = [0];
    let stdout = run.stdout.as_mut().expect("it is piped");
    std::io::Read::read_exact(stdout, &mut byte).expect("the job has started");
    run.kill().expect("it runs");
    run.wait().expect("it is ours");
    user.nothing_is_left();
}

#[test]
fn a_reader_that_has_gone_changes_no_exit_status() {
    let user = User::new("gone");
    let gone = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        Stdio::from(writer)
    };
    for (words, code) in [
        (vec!["run", "nosuch"], 127),
        (vec!["run", "./nosuch"], 127),
        (vec!["run", "sh", "-c", "exit 3"], 3),
        (vec!["run", "--json", "false"], 1),
    ] {
        let mut command = user.command(&words);
        let status = command.stdout(gone()).stderr(gone()).status().expect("the binary is built");
        assert_eq!(status.code(), Some(code), "{words:?}");
    }
    user.nothing_is_left();
}

#[test]
fn what_could_not_be_told_is_no_success() {
    let user = User::new("full");
    user.must(&["up", "-N", "1"]);
    for (words, part) in [
        (vec!["run", "--json", "true"], "standard output cannot be written"),
        (vec!["run", "--detach", "true"], "job 2 runs, but standard output cannot be written"),
        (vec!["run", "--help"], "No space left on device"),
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
        let Output { status, stderr, .. } =
            user.command(&words).stdout(full).output().expect("the binary is built");
        let said = String::from_utf8_lossy(&stderr);
        assert!(!status.success(), "{words:?}");
        assert!(said.contains(part) && said.lines().count() == 1, "{said}");
    }
    user.must(&["down"]);
    user.nothing_is_left();
}

#[test]
fn logs_are_complete_and_do_not_wait_for_what_is_not_there() {
    let user = User::new("logs");
    user.must(&["up", "-N", "2"]);
    let text = "seq 100000; sleep 1000";
    let job = user.must(&["run", "-N", "2", "--detach", "sh", "-c", text]);
    let job = job.trim();
    let size = |rank: usize| {
        let listed = user.json(&["ls", "--json", "-l", &format!("/jobs/{job}/ranks/{rank}")]);
        let files = listed["lists"][0]["entries"].as_array().expect("files").clone();
        let stdout = files.iter().find(|file| file["name"] == "stdout").expect("a stream").clone();
        stdout["size"].as_u64().unwrap_or(0)
    };
    let all: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    until("all output", || (0..2).all(|rank| size(rank) == all.len() as u64).then_some(()));
    assert!(user.must(&["logs", job, "--rank", "1"]) == all);
    let labelled = user.must(&["logs", "-l", job]);
    assert_eq!(labelled.lines().filter(|line| line.starts_with("1: ")).count(), 100_000);
    assert_eq!(user.must(&["logs", job]).len(), 2 * all.len());
    // Also where other programs have made a pipe or terminal non-blocking.
    let path = format!("/jobs/{job}/ranks/0/stdout");
    for (words, length) in [(["logs", job], 2 * all.len()), (["cat", path.as_str()], 1 << 17)] {
        let (mut read, write) = std::io::pipe().expect("a pipe");
        rustix::io::ioctl_fionbio(&write, true).expect("a pipe");
        let mut process = user.command(&words).stdout(write).spawn().expect("it is built");
        let lies = || rustix::io::ioctl_fionread(&read).expect("a pipe");
        until("a pipe that is full", || (lies() > 60_000).then_some(()));
        let mut printed = vec![0; length];
        std::io::Read::read_exact(&mut read, &mut printed).expect("all of it");
        drop(read);
        process.kill().expect("it is ours");
        process.wait().expect("it is ours");
    }
    assert!(user.must_not(&["logs", job, "--rank", "7"], 1).contains("has no rank 7, but 0-1;"));
    user.must_not(&["run", "-N", "9", "true"], 125);
    let refused = (job.parse::<u32>().expect("a number") + 1).to_string();
    assert!(user.must_not(&["logs", &refused], 1).contains("was not started"));
    assert!(user.must_not(&["logs", "99"], 1).contains("no job 99"));
    user.must(&["down"]);
    user.nothing_is_left();
}

#[test]
fn an_input_that_cannot_be_read_is_no_success() {
    let user = User::new("input");
    let mut command = user.command(&["run", "cat"]);
    command.stdin(std::fs::File::open("/").expect("a directory"));
    let Output { status, stderr, .. } = command.output().expect("the binary is built");
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(125), "{said}");
    assert!(said.contains("standard input cannot be read: Is a directory"), "{said}");
    assert!(said.contains("[E141, exit 125]") && said.lines().count() == 1, "{said}");
    user.nothing_is_left();
}

#[test]
fn mistakes_are_told_in_one_sentence_with_status_2() {
    let user = User::new("usage");
    let Output { stdout, .. } = user.may(&["run", "--json", "-n", "0", "true"]);
    let object: Value = serde_json::from_slice(&stdout).expect("an object");
    assert_eq!((&object["exit"], &object["error"]["id"]), (&2.into(), &"E100".into()));
    for (words, part) in [
        (vec!["pss"], "'ps'"),
        (vec!["up", "-N", "0"], "1..=256"),
        (vec!["up", "--tolerate-missing"], "--hosts"),
        (vec!["kill", "-s", "FOO", "1"], "[E163]"),
        (vec!["cp", "a", "b"], "colon"),
        (vec!["export", "/", "--listen", "0.0.0.0:0"], "[E150]"),
        (vec!["explain", "E999x"], "muster explain"),
    ] {
        let said = user.must_not(&words, 2);
        assert!(said.contains(part), "{words:?}: {said}");
    }
    assert!(user.must_not(&["--cluster", "a/b", "ps"], 2).contains("[E130]"));
}

/// Once it was out of descriptors at about a thousand fids of all clients together.
#[test]
fn an_export_has_all_descriptors_that_it_may_have() {
    let program = env!("CARGO_BIN_EXE_muster");
    let socket = std::env::temp_dir().join(format!("mu-export-{}", std::process::id()));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -S -n 256; exec \"$0\" export / --listen \"$1\"", program]);
    let mut export =
        command.arg(&socket).stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut said = BufReader::new(export.stdout.take().expect("piped")).lines();
    said.next().expect("it says where it is served").expect("text");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", export.id()));
    export.kill().expect("it runs");
    export.wait().expect("it ends");
    let _ = std::fs::remove_file(&socket);
    let limits = limits.expect("it runs");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
    let numbers: Vec<&str> = line.split_whitespace().skip(3).take(2).collect();
    assert_eq!(numbers[0], numbers[1], "soft and hard: {line}");
}

/// What nohup(1) had ignored ended it all the same.
#[test]
fn an_export_holds_no_signal_back_that_its_caller_ignores() {
    let program = env!("CARGO_BIN_EXE_muster");
    let socket = std::env::temp_dir().join(format!("mu-nohup-{}", std::process::id()));
    let mut command = Command::new("env");
    command.args(["--default-signal", "--ignore-signal=HUP", program, "export", "/", "--listen"]);
    let mut export =
        command.arg(&socket).stdout(Stdio::piped()).spawn().expect("the binary is built");
    let mut said = BufReader::new(export.stdout.take().expect("piped")).lines();
    said.next().expect("it says where it is served").expect("text");
    // A thread that has only begun holds every signal back until it knows which it should.
    let deadline = Instant::now() + Duration::from_secs(30);
    let held = loop {
        let held = held_back(export.id());
        if held == [false, true, true] || Instant::now() > deadline {
            break held;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    export.kill().expect("it runs");
    export.wait().expect("it ends");
    let _ = std::fs::remove_file(&socket);
    assert_eq!(held, [false, true, true], "HUP, INT, TERM");
}

/// Which of HUP, INT and TERM some thread of a process holds back. Who waits for signals lets them
/// come meanwhile; the threads that serve do not.
fn held_back(process: u32) -> [bool; 3] {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let masks: Vec<u64> = threads.flatten().filter_map(|thread| blocked(&thread.path())).collect();
    [1, 2, 15].map(|signal: i32| masks.iter().any(|mask| mask & (1 << (signal - 1)) != 0))
}

/// The signals that a thread holds back, unless it has ended.
fn blocked(thread: &Path) -> Option<u64> {
    let status = std::fs::read_to_string(thread.join("status")).ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).expect("a mask");
    Some(u64::from_str_radix(mask.trim(), 16).expect("a mask"))
}
