//! Hosts of one machine: each has its own network, files, processes and name, and an sshd. The head
//! is one more, without sshd, where commands run.
//!
//! A host is a tree of processes in namespaces below an `unshare`, which ends when the test does,
//! however that ends; with it the kernel ends and removes all of the host.

#![allow(dead_code, reason = "each test uses its part")]

use crate::cluster::{Call, DEADLINE, MUSTER, call, control_groups, until};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long what was killed may take to leave its control groups.
const GONE: Duration = Duration::from_secs(10);

static COUNT: AtomicU32 = AtomicU32::new(0);

/// The head, and the hosts h1, h2, ...
pub struct Hosts {
    home: PathBuf,
    head: Host,
    hosts: Vec<Host>,
}

/// One host.
pub struct Host {
    outer: Child,
    /// Its first process, as we see it.
    pub pid: i32,
    is_lost: bool,
}

impl Hosts {
    /// So many hosts with an sshd, which knows the head's user.
    pub fn new(test: &str, count: usize) -> Hosts {
        let hosts = Hosts::with(test, count, |_| format!("{OWN}{SSHD}"));
        (1..=count).for_each(|number| hosts.await_sshd(number));
        hosts
    }

    /// Waits until a host's sshd listens: who calls it before is refused, and does not call again.
    pub fn await_sshd(&self, number: usize) {
        until("its sshd listens", || {
            !self.inside(Some(number), "ss -Hltn 'sport = :22'").is_empty()
        });
    }

    /// So many hosts whose first process is `sh` with these scripts; `ready` is what they say.
    pub fn with(test: &str, count: usize, script: impl Fn(&str) -> String) -> Hosts {
        Hosts::waiting(test, count, |_| "echo ready; exec sleep infinity".into(), script)
    }

    /// The same, with a script for the head, which is made when its directory is there.
    pub fn waiting(
        test: &str,
        count: usize,
        head: impl Fn(&Path) -> String,
        script: impl Fn(&str) -> String,
    ) -> Hosts {
        let root = rustix::process::geteuid().is_root();
        assert!(root, "hosts are namespaces with an sshd each, and only root can make those");
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let home = std::env::temp_dir().join(format!("mh-{test}-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&home);
        fs::DirBuilder::new().mode(0o755).create(&home).expect("a temporary directory");
        for directory in ["head", "w"] {
            fs::create_dir(home.join(directory)).expect("made");
        }
        configure(&home, count);
        let head = Host::start(&home, "head", &format!("{HEAD}{}", head(&home)));
        let mut hosts = Hosts { home, head, hosts: Vec::new() };
        let bridge = "ip link set lo up && ip link add br0 type bridge && ip link set br0 up && \
                      ip addr add 10.78.0.254/24 dev br0";
        hosts.inside(None, bridge);
        for number in 1..=count {
            let name = format!("h{number}");
            hosts.hosts.push(Host::start(&hosts.home, &name, &script(&name)));
            hosts.plug(number);
        }
        hosts
    }

    /// Connects a host to the head.
    fn plug(&self, number: usize) {
        let (pid, address) = (self.hosts[number - 1].pid, address(number));
        // Both ends are named in the namespaces of the network alone, where we see the processes.
        let mut link = Command::new("nsenter");
        link.args(["-t", &self.head.pid.to_string(), "-n", "sh", "-ec"]);
        link.arg(format!(
            "ip link add v{number} type veth peer name eth0 netns {pid}
             ip link set v{number} master br0 up"
        ));
        must(&mut link);
        let up = format!(
            "ip link set lo up && ip addr add {address}/24 dev eth0 && \
                          ip link set eth0 up"
        );
        self.inside(Some(number), &up);
    }

    /// Runs a script inside of a host, or the head; returns what it printed.
    pub fn inside(&self, host: Option<usize>, script: &str) -> String {
        let mut command = self.host(host).enter();
        must(command.args(["sh", "-ec", script]))
    }

    fn host(&self, host: Option<usize>) -> &Host {
        host.map_or(&self.head, |number| &self.hosts[number - 1])
    }

    /// A command of muster, at the head.
    pub fn muster(&self, args: &[&str]) -> Call {
        let mut command = self.at_head();
        command.arg(MUSTER).args(args);
        call(command)
    }

    /// The beginning of any command at the head, in its directory and environment.
    pub fn at_head(&self) -> Command {
        self.at(None)
    }

    /// The same at any host that has the head's files.
    pub fn at(&self, host: Option<usize>) -> Command {
        let mut command = self.host(host).enter();
        // Slurm hands the environment on, and hosts have a /tmp of their own.
        command.args(["env", "-u", "TMPDIR", "--default-signal", "-C"]).arg(self.work());
        command.arg(format!("MUSTER_RUNTIME={}", self.runtime().display()));
        command.arg(format!("MUSTER_CONFIG={}", self.home.join("config").display()));
        command
    }

    /// JSON that a command prints.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        self.muster(args).run().ok().json()
    }

    /// Waits until so many nodes are up.
    pub fn await_nodes(&self, count: usize) {
        until(&format!("{count} nodes are up"), || {
            let said = self.muster(&["nodes", "--json"]).run();
            let value: serde_json::Value = serde_json::from_str(&said.out).unwrap_or_default();
            let nodes = value["nodes"].as_array().cloned().unwrap_or_default();
            nodes.iter().filter(|node| node["state"] == "up").count() == count
        });
    }

    /// Where commands work.
    pub fn work(&self) -> PathBuf {
        self.home.join("w")
    }

    /// The head's runtime directory.
    pub fn runtime(&self) -> PathBuf {
        self.home.join("r")
    }

    /// Writes a file to where commands work.
    pub fn file(&self, name: &str, mode: u32, content: &str) -> PathBuf {
        let path = self.work().join(name);
        fs::write(&path, content).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        path
    }

    /// Processes of a host but its first and those of what starts ours, with their command lines.
    pub fn processes(&self, host: Option<usize>) -> Vec<String> {
        let script = "for p in /proc/[0-9]*; do \
                      tr '\\0' ' ' <$p/cmdline 2>/dev/null | sed \"s,^,${p#/proc/} ,\"; echo; done";
        let all = self.inside(host, script);
        let is_ours = |line: &&str| {
            let mut words = line.split(' ');
            let pid: i32 = words.next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
            let is_others =
                ["sshd: ", "/proc/[", "slurm", "munged"].iter().any(|o| line.contains(o));
            pid > 1 && words.next().is_some() && !is_others
        };
        let own = |line: &&str| !line.contains("sh -ec") && !line.contains("tr \\0");
        all.lines().filter(is_ours).filter(own).map(str::to_owned).collect()
    }

    /// The process of `manager`, `keeper` or `host`, as the host numbers it.
    pub fn pid(&self, host: Option<usize>, daemon: &str) -> Option<i32> {
        let words = format!("daemon {daemon}");
        let all = self.processes(host);
        all.iter().find(|line| line.contains(&words))?.split(' ').next()?.parse().ok()
    }

    /// Kills a process of a host for good.
    pub fn kill(&self, host: Option<usize>, pid: i32) {
        self.inside(host, &format!("kill -9 {pid}"));
    }

    /// A host dies, as a machine does that loses its power.
    pub fn lose(&mut self, host: usize) {
        let parts = self.parts(host);
        let host = &mut self.hosts[host - 1];
        host.outer.kill().expect("it runs");
        host.outer.wait().expect("it was killed");
        host.is_lost = true;
        remove_groups(&parts);
    }

    /// How the parts of clusters are called that run on a host.
    fn parts(&self, host: usize) -> BTreeSet<String> {
        let space = |pid: &str| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let own = space(&self.hosts[host - 1].pid.to_string());
        let mut parts = BTreeSet::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if own.is_some() && space(&name) == own {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).into_owned();
                let words = line.split(['\0', '/']).filter(|word| word.starts_with("host-"));
                parts.extend(words.map(str::to_owned));
            }
        }
        parts
    }

    /// Waits until nothing runs on any host, and nothing is left there but the program.
    pub fn leftovers(&self) {
        let there = (1..=self.hosts.len()).filter(|number| !self.hosts[number - 1].is_lost);
        let all = std::iter::once(None).chain(there.map(Some));
        let deadline = Instant::now() + DEADLINE;
        for host in all {
            loop {
                let mut left = self.processes(host);
                if host.is_some() {
                    // What goes while it is looked at makes the search fail, and is not left.
                    let files = "find /tmp /root -ignore_readdir_race -mindepth 1 \
                                 ! -path '/root/.cache*' 2>/dev/null || [ $? = 1 ]";
                    let found = self.inside(host, files);
                    let found = found.lines().filter(|path| !self.home.starts_with(path));
                    left.extend(found.map(str::to_owned));
                    let cached = self.inside(host, "find /root/.cache -type f 2>/dev/null || :");
                    left.extend(beside_one_build(&cached));
                } else if self.runtime().exists() {
                    left.push(self.runtime().display().to_string());
                }
                if left.is_empty() {
                    break;
                }
                assert!(Instant::now() < deadline, "host {host:?} still has {left:?}");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

/// Of the files of a cache those that do not belong to one program and the library that was carried
/// with it.
fn beside_one_build(cached: &str) -> Vec<String> {
    let is_program = |path: &&str| {
        let hash = path.strip_prefix("/root/.cache/muster/muster-");
        hash.is_some_and(|hash| hash.len() == 64 && hash.bytes().all(|c| c.is_ascii_hexdigit()))
    };
    let program = cached.lines().find(is_program);
    let belongs = |path: &&str| {
        program.is_some_and(|program| match path.strip_prefix(program) {
            Some(behind) => ["", ".libmpi_abi.so"].contains(&behind),
            None => false,
        })
    };
    cached.lines().filter(|path| !belongs(path)).map(str::to_owned).collect()
}

impl Drop for Hosts {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.runtime().join("default/keeper.log");
            eprintln!("keeper.log: {}", fs::read_to_string(log).unwrap_or_default());
        }
        let there = (1..=self.hosts.len()).filter(|number| !self.hosts[number - 1].is_lost);
        let parts = there.flat_map(|number| self.parts(number)).collect();
        for host in self.hosts.iter_mut().chain([&mut self.head]) {
            let _ = host.outer.kill();
            let _ = host.outer.wait();
        }
        remove_groups(&parts);
        let _ = fs::remove_dir_all(&self.home);
    }
}

impl Host {
    /// Starts a host whose first process is `sh` with a script, which says `ready`.
    fn start(home: &Path, name: &str, script: &str) -> Host {
        let mut outer = Command::new("setpriv");
        outer.args(["--pdeathsig", "KILL", "unshare", "--net", "--mount", "--uts", "--pid"]);
        outer.args(["--fork", "--kill-child", "--mount-proc", "sh", "-ec", script, name]);
        outer.arg(home).stdin(Stdio::null()).stdout(Stdio::piped()).env_clear();
        outer.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", home.join("head"));
        outer.stderr(fs::File::create(home.join(format!("{name}.log"))).expect("a log"));
        let mut outer = outer.spawn().expect("util-linux is there");
        let mut said = String::new();
        let mut from = BufReader::new(outer.stdout.take().expect("it is piped"));
        from.read_line(&mut said).expect("it is read");
        let log = || fs::read_to_string(home.join(format!("{name}.log"))).unwrap_or_default();
        assert_eq!(said, "ready\n", "host {name} does not start: {}", log());
        let children = format!("/proc/{0}/task/{0}/children", outer.id());
        let mut first = None;
        until("a host's first process", || {
            let text = fs::read_to_string(&children).unwrap_or_default();
            first = text.split_whitespace().next().and_then(|pid| pid.parse().ok());
            first.is_some()
        });
        Host { outer, pid: first.expect("it was waited for"), is_lost: false }
    }

    /// The beginning of a command that runs inside.
    fn enter(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.pid.to_string(), "-n", "-m", "-u", "-p", "--"]);
        command
    }
}

/// Removes the control groups of parts of clusters whose hosts were killed: a machine takes its own
/// with it, but these are of ours.
fn remove_groups(parts: &BTreeSet<String>) {
    if parts.is_empty() {
        return;
    }
    let is_theirs = |group: &&PathBuf| {
        let name = group.file_name().unwrap_or_default().to_string_lossy();
        parts.iter().any(|part| name.starts_with(&format!("muster-{part}-")))
    };
    for group in control_groups().iter().filter(is_theirs) {
        let mut find = Command::new("find");
        find.arg(group).args(["-depth", "-type", "d", "-exec", "rmdir", "{}", ";"]);
        // What was killed is gone in a moment.
        let until = Instant::now() + GONE;
        while group.exists() && Instant::now() < until {
            let _ = find.stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}

/// A host's address.
pub fn address(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 78, 0, u8::try_from(number).expect("a few hosts"))
}

/// The head sees our files; only who its hosts are, and how ssh reaches them, is its own.
const HEAD: &str = "hostname $0; mount --bind $1 /media; mount --bind $1/hosts /etc/hosts
    mount --bind $1/ssh_config /etc/ssh/ssh_config\n";

/// A host has files of its own wherever programs write.
pub const OWN: &str = "hostname $0; mount --bind $1 /media; mount --bind /media/hosts /etc/hosts
    for d in /run /root /tmp; do mount -t tmpfs -o mode=755 none $d; done; chmod 1777 /tmp\n";

/// An sshd there.
pub const SSHD: &str =
    "mkdir /run/sshd; echo ready; exec 1>&2; exec /usr/sbin/sshd -D -e -f /media/sshd_config";

/// Keys of hosts and of their user, and what ssh and sshd have to know.
fn configure(home: &Path, count: usize) {
    for (program, package) in
        [("/usr/bin/ssh", "openssh-client"), ("/usr/sbin/sshd", "openssh-server")]
    {
        assert!(
            Path::new(program).exists(),
            "{program} is missing: type `cargo xtask setup` as root, or apt-get install {package}"
        );
    }
    for key in ["host", "user"] {
        let mut make = Command::new("ssh-keygen");
        must(make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(home.join(key)));
    }
    let mut hosts = "127.0.0.1 localhost\n10.78.0.254 head\n".to_owned();
    let key = fs::read_to_string(home.join("host.pub")).expect("it was made");
    let mut known = String::new();
    for number in 1..=count {
        hosts += &format!("{} h{number}\n", address(number));
        known += &format!("h{number},{} {key}", address(number));
    }
    let at = home.display();
    let ssh = format!(
        "Host *\n IdentityFile {at}/user\n IdentitiesOnly yes\n GlobalKnownHostsFile {at}/known\n \
         UserKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n LogLevel ERROR\n"
    );
    let sshd = "HostKey /media/host\nAuthorizedKeysFile /media/user.pub\nPidFile none\n\
                StrictModes no\nUsePAM no\nPasswordAuthentication no\n\
                PermitRootLogin prohibit-password\n";
    for (file, text) in
        [("hosts", &hosts[..]), ("known", &known), ("ssh_config", &ssh), ("sshd_config", sshd)]
    {
        fs::write(home.join(file), text).expect("written");
    }
}

/// Runs a command that must succeed; returns what it printed.
fn must(command: &mut Command) -> String {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let done = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {} {said}", done.status);
    String::from_utf8_lossy(&done.stdout).into_owned()
}
