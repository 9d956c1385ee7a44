//! A cluster for one test: a runtime directory of its own, commands that cannot hang, and a look
//! at what is left. Everything is taken down when the guard goes, also when a test panics; and by
//! a [`heir`] when the tests' process is killed.

#![allow(dead_code, reason = "each test uses its part")]

use muster_ninep::address::Address;
use muster_ninep::client::{Client, Options};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub const MUSTER: &str = env!("CARGO_BIN_EXE_muster");

/// How long a command may take, on a machine that does other things as well.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// How long what was killed may take to be gone.
const GONE: Duration = Duration::from_secs(15);

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A private runtime directory and what runs in it.
pub struct Cluster {
    home: PathBuf,
    /// Inodes of cluster directories: they are part of the control groups' names. The directories
    /// are open, so that none of these numbers is given to another test's.
    inodes: Mutex<Vec<(String, fs::File)>>,
    /// Whose it is, if not the test's.
    user: Option<u32>,
}

impl Cluster {
    /// Nothing is up yet.
    pub fn none(test: &str) -> Cluster {
        heir();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let home = std::env::temp_dir().join(format!("mt-{test}-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        fs::DirBuilder::new().mode(0o700).create(&home).expect("a temporary directory");
        fs::create_dir(home.join("w")).expect("a working directory");
        Cluster { home, inodes: Mutex::default(), user: None }
    }

    /// Nothing is up yet, and what will be belongs to a user without any rights. None where a test
    /// cannot be that user.
    pub fn of_nobody(test: &str) -> Option<Cluster> {
        const NOBODY: u32 = 65534;
        let mut cluster = Cluster::none(test);
        cluster.user = Some(NOBODY);
        for path in [&cluster.home, &cluster.work()] {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).ok()?;
        }
        (cluster.muster(&["--version"]).run().code == 0).then_some(cluster)
    }

    /// A cluster of `nodes` nodes.
    pub fn up(test: &str, nodes: usize) -> Cluster {
        let cluster = Cluster::none(test);
        cluster.muster(&["up", "-N", &nodes.to_string()]).run().ok();
        cluster.note("default");
        cluster
    }

    /// Takes note of a cluster's directory, so that its control groups are looked for.
    pub fn note(&self, name: &str) {
        let directory = fs::File::open(self.runtime().join(name)).expect("its directory");
        let inode = directory.metadata().expect("its directory").ino();
        self.inodes.lock().unwrap().push((format!("-{inode:x}-"), directory));
    }

    pub fn runtime(&self) -> PathBuf {
        self.home.join("r")
    }

    /// The directory of cluster `default`.
    pub fn directory(&self) -> PathBuf {
        self.runtime().join("default")
    }

    /// Where commands work.
    pub fn work(&self) -> PathBuf {
        self.home.join("w")
    }

    /// Writes a file into the working directory.
    pub fn file(&self, name: &str, mode: u32, content: impl AsRef<[u8]>) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// A command to be run.
    pub fn muster(&self, args: &[&str]) -> Call {
        // `muster run` heeds no signal that its caller ignores, as tests in the background may.
        let mut command = Command::new(if self.user.is_some() { "setpriv" } else { "env" });
        if let Some(user) = self.user {
            let ids = [format!("--reuid={user}"), format!("--regid={user}")];
            command.args(ids).args(["--clear-groups", "env"]).env("HOME", self.work());
        }
        command.args(["--default-signal", MUSTER]).args(args).current_dir(self.work());
        command.env("MUSTER_RUNTIME", self.runtime()).env_remove("MUSTER_CLUSTER");
        call(command)
    }

    /// JSON that a command prints.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        self.muster(args).run().ok().json()
    }

    /// What each rank of a job has said, and how many chunks were sent.
    pub fn ran(&self, args: &[&str]) -> (Vec<String>, u64) {
        let job = self.json(&[&["run", "--json", "--input", "none"], args].concat());
        assert_eq!(job["exit"], 0, "{job}");
        let said = |rank: &serde_json::Value| rank["stdout"].as_str().unwrap().to_owned();
        let ranks = job["ranks"].as_array().unwrap().iter().map(said);
        let files = &job["files"];
        let none = files.is_null().then_some(0);
        (ranks.collect(), none.or(files["chunks"].as_u64()).expect("a number of chunks"))
    }

    /// A client of the manager or of a node.
    pub fn client(&self, daemon: &str) -> Client {
        let address = Address::Unix(self.directory().join(format!("{daemon}.sock")));
        Client::connect(&address, Options::default()).expect("the daemon is up")
    }

    /// The process of `manager`, `keeper`, `strober` or a node.
    pub fn pid(&self, daemon: &str) -> Option<i32> {
        let all = self.processes();
        let words = |line: &str| line.split('\0').map(str::to_owned).collect::<Vec<_>>();
        let is = |line: &String| {
            let words = words(line);
            let at = words.iter().position(|word| word == "daemon");
            at.is_some_and(|at| match daemon {
                "manager" | "keeper" | "strober" => {
                    words.get(at + 1).is_some_and(|word| word == daemon)
                }
                node => words.iter().any(|word| word == "node") && words.iter().any(|w| w == node),
            })
        };
        all.into_iter().find(|(_, line)| is(line)).map(|(pid, _)| pid)
    }

    /// The process of a daemon as its keeper has noted it last, which costs no look at all others.
    pub fn noted(&self, daemon: &str) -> Option<i32> {
        let all = read_text(self.directory().join("pids").to_str()?);
        let process = all.lines().find_map(|line| line.strip_prefix(daemon)?.strip_prefix(' '))?;
        let (pid, started) = process.split_once(' ')?;
        // A stranger who has its number since was started later.
        let stat = read_text(&format!("/proc/{pid}/stat"));
        let is_own = stat.rsplit_once(") ")?.1.split(' ').nth(19) == Some(started);
        is_own.then(|| pid.parse().ok())?
    }

    /// The process of a daemon, as soon as it is there.
    pub fn await_pid(&self, daemon: &str) -> i32 {
        let mut pid = None;
        until(&format!("{daemon} runs"), || {
            pid = self.pid(daemon);
            pid.is_some()
        });
        pid.unwrap()
    }

    /// Kills a daemon for good and waits until that process is gone.
    pub fn kill(&self, daemon: &str) -> i32 {
        let pid = self.await_pid(daemon);
        signal(pid, Signal::KILL);
        pid
    }

    /// Waits until all nodes are up.
    pub fn await_nodes(&self, count: usize) {
        until(&format!("{count} nodes are up"), || self.nodes_up() == Some(count));
    }

    fn nodes_up(&self) -> Option<usize> {
        let said = self.muster(&["nodes", "--json"]).run();
        let value: serde_json::Value = serde_json::from_str(&said.out).ok()?;
        let nodes = value["nodes"].as_array()?;
        Some(nodes.iter().filter(|node| node["state"] == "up").count())
    }

    /// The status of a job.
    pub fn job(&self, id: u64) -> serde_json::Value {
        self.json(&["ps", "--json", &id.to_string()])["jobs"][0].clone()
    }

    /// All processes that name the runtime directory, with their command lines.
    pub fn processes(&self) -> BTreeMap<i32, String> {
        processes_of(&self.runtime())
    }

    /// What of this runtime directory is left, in words.
    fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        for (pid, line) in self.processes() {
            let state = read_text(&format!("/proc/{pid}/stat"));
            let state = state.rsplit(") ").next().unwrap_or("").chars().next();
            left.push(format!("process {pid} ({state:?}) {}", line.replace('\0', " ")));
        }
        for pid in orphaned_shepherds() {
            left.push(format!("shepherd {pid} without a daemon"));
        }
        let mounts = read_text("/proc/self/mountinfo");
        let home = self.home.to_str().unwrap();
        left.extend(mounts.lines().filter(|m| m.contains(home)).map(|m| format!("mount {m}")));
        left.extend(self.groups().iter().map(|group| format!("control group {}", group.display())));
        if self.runtime().exists() {
            left.push(format!("directory {}", tree(&self.runtime())));
        }
        left
    }

    /// The control groups of its daemons.
    fn groups(&self) -> Vec<PathBuf> {
        let inodes = self.inodes.lock().unwrap();
        let is_own = |group: &PathBuf| {
            let name = group.file_name().unwrap_or_default().to_string_lossy();
            inodes.iter().any(|(inode, _)| name.contains(inode))
        };
        control_groups().into_iter().filter(is_own).collect()
    }

    /// The control groups of what runs on its nodes.
    pub fn inner_groups(&self) -> Vec<PathBuf> {
        let inside = |group: PathBuf| fs::read_dir(group).into_iter().flatten().flatten();
        let all = self.groups().into_iter().flat_map(inside).map(|entry| entry.path());
        all.filter(|path| path.is_dir()).collect()
    }

    /// Asserts that nothing is left: no process, socket, control group, mount or directory.
    pub fn leftovers(&self) {
        let deadline = Instant::now() + GONE;
        let mut left = self.left();
        while !left.is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            left = self.left();
        }
        assert!(left.is_empty(), "left: {left:#?}");
    }

    /// Sessions that a node has a directory for, and those of which it still has files.
    pub fn sessions(&self, node: impl std::fmt::Display) -> usize {
        let inside = fs::read_dir(self.directory().join(format!("n{node}"))).unwrap().flatten();
        let is_full = |path: &Path| fs::read_dir(path).is_ok_and(|mut all| all.next().is_some());
        let counts = |entry: &fs::DirEntry| match entry.file_name().as_encoded_bytes() {
            name if name.starts_with(b"spare-") => is_full(&entry.path()),
            name => name.starts_with(b"xcpu-"),
        };
        inside.filter(counts).count()
    }

    /// Asserts that no process of any job is left on the nodes.
    pub fn no_job_processes(&self) {
        let jobs = || -> Vec<String> {
            let all = self.processes().into_iter();
            let alive = all.filter(|(_, line)| !line.contains("daemon\0"));
            alive.map(|(pid, line)| format!("{pid} {}", line.replace('\0', " "))).collect()
        };
        let deadline = Instant::now() + GONE;
        while !jobs().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        let left = jobs();
        assert!(left.is_empty(), "left: {left:#?}");
    }

    /// Takes it down and asserts that nothing is left.
    pub fn down(self) {
        self.muster(&["down"]).run().ok();
        self.leftovers();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.directory().join("keeper.log");
            eprintln!("keeper.log: {}", fs::read_to_string(log).unwrap_or_default());
        }
        let runtime = self.runtime();
        for name in fs::read_dir(&runtime).into_iter().flatten().flatten() {
            let name = name.file_name().into_string().unwrap_or_default();
            let mut down = Command::new(MUSTER);
            down.args(["--cluster", &name, "down"]).env("MUSTER_RUNTIME", &runtime);
            let _ = down.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
        for pid in self.processes().into_keys() {
            signal(pid, Signal::KILL);
        }
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// Starts who takes down what this process leaves, once: a shell that sees its input end. Of what
/// ends in order nothing is left.
fn heir() {
    const WILL: &str = r#"cat; for home in "$0"/mt-*-"$1"-*; do
            for cluster in "$home"/r/*/; do
                [ -d "$cluster" ] || continue
                MUSTER_RUNTIME="$home/r" timeout 60 "$2" --cluster "$(basename "$cluster")" down
            done
            pkill -KILL -f "$home/"; sleep 0.2; rm -rf --one-file-system "$home"
        done"#;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut shell = Command::new("setsid");
        shell.args(["sh", "-c", WILL]).arg(std::env::temp_dir());
        shell.args([&std::process::id().to_string(), MUSTER]);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Its input ends when this process does.
        std::mem::forget(shell.spawn().expect("a shell").stdin);
    });
}

/// All processes that name a runtime directory, with their command lines.
pub fn processes_of(runtime: &Path) -> BTreeMap<i32, String> {
    let mark = runtime.to_str().unwrap();
    let mut found = BTreeMap::new();
    for pid in all_pids() {
        let line = read_text(&format!("/proc/{pid}/cmdline"));
        if line.contains(mark) || read_text(&format!("/proc/{pid}/environ")).contains(mark) {
            found.insert(pid, line);
        }
    }
    found
}

fn all_pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn read_text(path: &str) -> String {
    fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default()
}

/// Shepherds of this build whose node daemon is gone.
fn orphaned_shepherds() -> Vec<i32> {
    let line = |pid: i32| read_text(&format!("/proc/{pid}/cmdline"));
    let parent = |pid: i32| -> i32 {
        let stat = read_text(&format!("/proc/{pid}/stat"));
        let after = stat.rsplit(") ").next().unwrap_or("").to_owned();
        after.split(' ').nth(1).and_then(|ppid| ppid.parse().ok()).unwrap_or(0)
    };
    let is = |pid: i32| line(pid).starts_with("muster\0shepherd");
    let ours =
        |pid: &i32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|e| e == Path::new(MUSTER));
    let orphaned = |pid: &i32| {
        let mut at = *pid;
        while is(at) {
            at = parent(at);
        }
        at <= 1 && is(*pid)
    };
    all_pids().into_iter().filter(|pid| is(*pid) && ours(pid)).filter(orphaned).collect()
}

pub fn control_groups() -> Vec<PathBuf> {
    let mounts = read_text("/proc/self/mountinfo");
    let mut mounts = muster_machine::mounts::read(mounts.as_bytes());
    let Some(mount) = mounts.find(|mount| mount.kind == "cgroup2") else { return Vec::new() };
    let mut found = Vec::new();
    let mut dirs = vec![mount.at];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.starts_with("muster-") {
                    found.push(entry.path());
                }
                dirs.push(entry.path());
            }
        }
    }
    found
}

/// What a directory holds, for messages.
fn tree(path: &Path) -> String {
    let inside = fs::read_dir(path).into_iter().flatten().flatten();
    let inside: Vec<String> = inside
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => tree(&entry.path()),
            _ => entry.path().display().to_string(),
        })
        .collect();
    format!("{} [{}]", path.display(), inside.join(", "))
}

pub fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may have ended.
        let _ = kill_process(pid, signal);
    }
}

/// Stops a process, and waits until all its threads have: on a busy machine that takes a while.
pub fn stop(pid: i32) {
    signal(pid, Signal::STOP);
    let has_stopped = |task: fs::DirEntry| {
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
    };
    until(&format!("process {pid} has stopped"), || {
        let tasks = fs::read_dir(format!("/proc/{pid}/task"));
        tasks.is_ok_and(|tasks| tasks.flatten().all(has_stopped))
    });
}

/// Waits until something is so.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !so() {
        assert!(Instant::now() < deadline, "not within {DEADLINE:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Any command to be run.
pub fn call(command: Command) -> Call {
    Call { command, input: Input::Null }
}

enum Input {
    Null,
    Bytes(Vec<u8>),
    Kept,
}

/// A command before it is run.
pub struct Call {
    pub command: Command,
    input: Input,
}

impl Call {
    /// What it reads.
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Call {
        self.input = Input::Bytes(bytes.into());
        self
    }

    /// Its input stays open until the command is waited for.
    pub fn open_input(mut self) -> Call {
        self.input = Input::Kept;
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Call {
        self.command.env(name, value);
        self
    }

    /// A shell does this before it becomes the command.
    pub fn after(mut self, line: &str) -> Call {
        let command = &self.command;
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{line}; exec \"$@\""), "sh"]);
        shell.arg(command.get_program()).args(command.get_args());
        shell.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        self.command = shell;
        self
    }

    pub fn start(mut self) -> Running {
        let null = matches!(self.input, Input::Null);
        self.command.stdin(if null { Stdio::null() } else { Stdio::piped() });
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().expect("muster can be started");
        let mut stdin = child.stdin.take();
        if let Input::Bytes(bytes) = self.input {
            let mut pipe = stdin.take().expect("it is piped");
            // A command that does not read it is none of our business.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)));
        }
        let said: [Arc<Mutex<Vec<u8>>>; 2] = Default::default();
        let out = collect(child.stdout.take().unwrap(), said[0].clone());
        let err = collect(child.stderr.take().unwrap(), said[1].clone());
        let what = format!("{:?}", self.command.get_args().collect::<Vec<_>>());
        Running { child, stdin, said, readers: vec![out, err], what }
    }

    /// Runs it to its end.
    pub fn run(self) -> Output {
        self.start().wait()
    }
}

fn collect(mut from: impl Read + Send + 'static, into: Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            into.lock().unwrap().extend_from_slice(&buffer[..count]);
        }
    })
}

/// A command that runs. It is killed when it is dropped before its end.
pub struct Running {
    child: Child,
    pub stdin: Option<ChildStdin>,
    said: [Arc<Mutex<Vec<u8>>>; 2],
    readers: Vec<JoinHandle<()>>,
    what: String,
}

impl Running {
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    pub fn signal(&self, number: Signal) {
        signal(self.pid(), number);
    }

    /// What it has printed so far.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.said[0].lock().unwrap()).into_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.said[1].lock().unwrap()).into_owned()
    }

    /// Waits until it has printed something.
    pub fn await_out(&self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !self.out().contains(text) {
            let (out, err) = (self.out(), self.err());
            let what = &self.what;
            assert!(Instant::now() < deadline, "{what} does not say {text:?}: {out:?} {err:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn ended(&mut self) -> bool {
        self.child.try_wait().expect("it is our child").is_some()
    }

    /// Waits for its end. One that takes too long is killed, and the test fails.
    pub fn wait(mut self) -> Output {
        self.stdin = None;
        let deadline = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let (what, out, err) = (&self.what, self.out(), self.err());
                panic!("{what} did not end within {DEADLINE:?}: {out:?} {err:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        for reader in std::mem::take(&mut self.readers) {
            reader.join().expect("a reader does not panic");
        }
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
        let bytes = std::mem::take(&mut *self.said[0].lock().unwrap());
        let out = String::from_utf8_lossy(&bytes).into_owned();
        Output { code, out, bytes, err: self.err(), what: self.what.clone() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came of a command.
pub struct Output {
    pub code: i32,
    pub out: String,
    pub bytes: Vec<u8>,
    pub err: String,
    what: String,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Output { code, out, err, what, .. } = self;
        write!(f, "{what}: status {code}, out {out:?}, err {err:?}")
    }
}

impl Output {
    /// It did what it should.
    #[track_caller]
    pub fn ok(self) -> Output {
        self.code(0)
    }

    #[track_caller]
    pub fn code(self, code: i32) -> Output {
        let Output { what, out, err, .. } = &self;
        let out: String = out.chars().take(2000).collect();
        assert_eq!(self.code, code, "{what}: out {out:?}, err {err:?}");
        self
    }

    /// Its words on standard error have this in them.
    #[track_caller]
    pub fn says(self, text: &str) -> Output {
        assert!(self.err.contains(text), "{}: {:?} has no {text:?}", self.what, self.err);
        self
    }

    /// It said one line, with this in it.
    #[track_caller]
    pub fn says_only(self, text: &str) -> Output {
        assert_eq!(self.err.lines().count(), 1, "one sentence: {self:?}");
        self.says(text)
    }

    /// Without a loader's own words, which come before ours, from each rank.
    pub fn without_loaders(mut self) -> Output {
        let is_ours = |line: &&str| !line.contains("error while load");
        self.err = self.err.lines().filter(is_ours).map(|line| format!("{line}\n")).collect();
        self
    }

    /// Without what is told of a wait for a node that a busy machine keeps from its processors.
    pub fn without_waits(mut self) -> Output {
        let is_other = |line: &&str| !line.ends_with("[N110]") && !line.ends_with("[N306]");
        self.err = self.err.lines().filter(is_other).map(|line| format!("{line}\n")).collect();
        self
    }

    /// It said one sentence with that id, and nothing else.
    #[track_caller]
    pub fn sentence(&self, id: &str) {
        let lines: Vec<&str> = self.err.lines().collect();
        assert!(lines.len() == 1 && lines[0].contains(&format!("  [{id}")), "{id}: {self:?}");
    }

    /// The JSON that it printed.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Lines of its output, sorted.
    pub fn sorted(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.out.lines().collect();
        lines.sort_unstable();
        lines
    }
}
