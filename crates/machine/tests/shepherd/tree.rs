//! What the tests share: starting a program, reading it, looking at processes.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use muster_machine::node::shepherd::{Report, Spawner, Spec, Stage, Stdio, Ward};
use muster_machine::usage::Usage;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

/// How long anything may take that must happen. No test asserts that something is fast.
pub const SOON: Duration = Duration::from_secs(20);

/// A program under a ward, with our ends of its streams.
pub struct Tree {
    pub ward: Ward,
    pub stdin: Option<File>,
    pub out: File,
    pub err: File,
    pid: Option<u32>,
}

/// All that a program said and all that was reported of it.
#[derive(Debug, Default)]
pub struct Outcome {
    pub pid: Option<u32>,
    pub failed: Option<(Stage, i32, String)>,
    pub status: Option<i32>,
    pub usage: Usage,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

/// A shell command, with a PATH to find others.
pub fn shell(text: &str) -> Spec {
    let mut spec = Spec::new("/bin/sh", &["sh", "-c", text]);
    spec.env.push(("PATH".into(), "/bin:/usr/bin:/sbin:/usr/sbin".into()));
    spec
}

/// This binary as the program.
pub fn helper(words: &[&str]) -> Spec {
    let mut argv = vec!["shepherd-test", "helper"];
    argv.extend(words);
    Spec::new("/proc/self/exe", &argv)
}

pub fn pipe() -> (File, OwnedFd) {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    (read.into(), write)
}

/// Starts a program under a keeper of its own.
pub fn start(spec: &Spec) -> Tree {
    start_by(&Spawner::default(), spec)
}

/// Starts it under a keeper that serves others, too.
pub fn start_by(spawner: &Spawner, spec: &Spec) -> Tree {
    let (stdin, feed) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let ((out, stdout), (err, stderr)) = (pipe(), pipe());
    let ward = spawner.start(spec, Stdio { stdin, stdout, stderr }).unwrap();
    Tree { ward, stdin: Some(feed.into()), out, err, pid: None }
}

/// Runs to the end with nothing on stdin.
pub fn run(spec: &Spec) -> Outcome {
    let mut tree = start(spec);
    tree.stdin = None;
    tree.finish()
}

impl Tree {
    /// The next report, waited for.
    pub fn next(&mut self) -> Report {
        let deadline = Instant::now() + SOON;
        loop {
            if let Some(report) = self.ward.receive().unwrap() {
                if let Report::Started { pid } = report {
                    assert!(self.pid.replace(pid).is_none(), "started twice");
                }
                return report;
            }
            assert!(ready(self.ward.link(), deadline), "no report in time");
        }
    }

    pub fn started(&mut self) -> u32 {
        match self.next() {
            Report::Started { pid } => pid,
            other => panic!("expected Started, got {other:?}"),
        }
    }

    pub fn exited(&mut self) -> i32 {
        match self.next() {
            Report::Exited { status, .. } => status,
            other => panic!("expected Exited, got {other:?}"),
        }
    }

    /// Reads everything and every report until the tree is gone.
    pub fn finish(mut self) -> Outcome {
        let (out, err) = (read_all(&mut self.out), read_all(&mut self.err));
        let mut outcome = Outcome { out, err, ..Outcome::default() };
        loop {
            match self.next() {
                Report::Started { .. } => {}
                Report::Failed { stage, errno, what } => {
                    assert!(outcome.failed.replace((stage, errno, what)).is_none());
                }
                Report::Exited { status, usage, .. } => {
                    assert!(self.pid.is_some() && outcome.status.is_none());
                    (outcome.status, outcome.usage) = (Some(status), usage);
                }
                Report::Gone => break,
            }
        }
        assert_eq!(self.ward.receive().unwrap(), None);
        outcome.pid = self.pid;
        self.ward.release();
        outcome
    }

    /// Kills it and sees that every process has let go of the output.
    pub fn kill_and_check(mut self) -> Outcome {
        self.ward.kill();
        self.finish()
    }

    pub fn feed(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// The pid of the init.
    pub fn init(&self) -> u32 {
        only_child(self.ward.keeper_pid())
    }
}

impl Outcome {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }
}

/// Waits until a descriptor has something to say.
pub fn ready(fd: impl AsFd, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    let fd = fd.as_fd();
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::try_from(left).unwrap())).unwrap() > 0
}

/// Reads to the end, which comes when the last process that holds the other side is gone.
pub fn read_all(file: &mut File) -> Vec<u8> {
    let deadline = Instant::now() + SOON;
    let mut all = Vec::new();
    let mut part = [0; 65536];
    loop {
        let text = String::from_utf8_lossy(&all);
        assert!(ready(&*file, deadline), "somebody holds the stream; so far: {text:?}");
        match file.read(&mut part) {
            Ok(0) => return all,
            Ok(n) => all.extend_from_slice(&part[..n]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted),
        }
    }
}

/// Reads a line.
pub fn read_line(file: &mut File) -> String {
    let deadline = Instant::now() + SOON;
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        assert!(ready(&*file, deadline), "no line; so far: {:?}", String::from_utf8_lossy(&line));
        let mut byte = [0];
        assert_eq!(file.read(&mut byte).unwrap(), 1, "the stream ended within a line");
        line.extend(byte);
    }
    String::from_utf8(line).unwrap().trim_end().to_owned()
}

/// Asks until the answer is yes.
pub fn eventually(what: &str, mut yes: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !yes() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        sleep(Duration::from_millis(1));
    }
}

pub fn only_child(parent: u32) -> u32 {
    let mut found = Vec::new();
    eventually("the process has one child", || {
        found = children(parent);
        found.len() == 1
    });
    found[0]
}

/// The children of a process, zombies included.
pub fn children(parent: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        entry.unwrap().file_name().to_str().and_then(|name| name.parse::<u32>().ok())
    });
    pids.filter(|pid| stat(*pid, 1) == Some(parent.to_string())).collect()
}

/// A field of a process's stat, counted after its name: 0 state, 1 parent, 2 group, 3 session.
pub fn stat(pid: u32, field: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(") ")?;
    after.split(' ').nth(field).map(str::to_owned)
}

pub fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

/// Stops a process, and kills it when the test ends before it did.
#[must_use = "dropping it kills the process"]
pub fn stop(pid: u32) -> Stopped {
    let pidfd = pidfd_open(Pid::from_raw(pid as i32).unwrap(), PidfdFlags::empty()).unwrap();
    pidfd_send_signal(&pidfd, Signal::STOP).unwrap();
    let stopped = Stopped(pidfd);
    eventually("it stops", || stat(pid, 0).as_deref() == Some("T"));
    stopped
}

/// A process that nobody else may be able to end, should the test fail.
pub struct Stopped(OwnedFd);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

/// No keeper of ours is left, alive or as a zombie.
pub fn assert_childless() {
    assert!(children(std::process::id()).is_empty(), "all keepers are reaped");
}

/// A directory that goes away with the test.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-shepherd-{}-{number}", std::process::id());
        let path = std::env::temp_dir().canonicalize().unwrap().join(name);
        fs::create_dir(&path).unwrap();
        Scratch(path)
    }

    pub fn file(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        set_mode(&path, mode);
        path
    }

    pub fn dir(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
