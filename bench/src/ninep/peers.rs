//! The servers that are measured: how each is found, started and ended.
//!
//! A server is a child that lives as long as its `Server`. It ends by its process id however we
//! end: by drop, by the hook when we panic (release builds abort, so nothing is dropped), and by
//! the kernel when we are killed (`setpriv --pdeathsig`, where there is one).

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

/// A kind of server.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// Where to look for the program, after the folders of PATH.
    find: fn() -> Option<PathBuf>,
    /// What to do when it is not there.
    missing: &'static str,
    /// Its arguments: export a folder at an address, read-write, without authentication.
    arguments: fn(&Path, SocketAddr) -> Vec<String>,
    /// The attach name that means the folder.
    aname: fn(&Path) -> String,
    /// What makes it print its version, if anything does.
    version: &'static [&'static str],
}

/// Ours first, then the peers.
pub const KINDS: [Kind; 3] = [
    Kind {
        name: "muster",
        find: || exists(target().join("release/muster")),
        missing: "cargo build --release -p muster-cli",
        arguments: |folder, address| {
            let folder = folder.display().to_string();
            ["export", &folder, "--listen", &address.to_string(), "--rw"].map(String::from).into()
        },
        aname: |_| "/".to_owned(),
        version: &["--version"],
    },
    Kind {
        name: "diod",
        find: || in_path("diod"),
        missing: "apt-get install diod",
        arguments: |folder, address| {
            let (folder, address) = (folder.display().to_string(), address.to_string());
            let fixed = ["--foreground", "--no-auth", "--no-userdb", "--logdest", "stderr"];
            let given = ["--listen", &address, "--export", &folder];
            // No configuration of this machine: a file that says nothing.
            let config = ["--config-file", "/dev/null"];
            fixed.into_iter().chain(given).chain(config).map(String::from).collect()
        },
        aname: |folder| folder.display().to_string(),
        version: &[],
    },
    Kind {
        name: "p9ufs",
        find: || exists(target().join("peers/p9ufs")),
        missing: "apt-get install golang-go, then cargo xtask setup",
        arguments: |folder, address| {
            vec!["-root".into(), folder.display().to_string(), address.to_string()]
        },
        aname: |_| "/".to_owned(),
        version: &[],
    },
];

/// Where cargo builds, as `cargo xtask bench` says it.
fn target() -> PathBuf {
    std::env::var_os("MUSTER_BENCH_TARGET").map_or_else(|| "target".into(), PathBuf::from)
}

fn exists(file: PathBuf) -> Option<PathBuf> {
    file.is_file().then_some(file)
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let roots = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(roots).find_map(|folder| exists(folder.join(name)))
}

impl Kind {
    /// Finds a kind by name.
    pub fn named(name: &str) -> Result<Kind> {
        let found = KINDS.iter().find(|kind| kind.name == name);
        found.copied().with_context(|| format!("no server '{name}': muster, diod or p9ufs"))
    }

    /// Its program; an error says how to get it.
    pub fn program(&self) -> Result<PathBuf> {
        let Kind { name, missing, .. } = self;
        (self.find)().with_context(|| format!("no {name} on this machine: {missing}"))
    }

    /// Its name with its version, as well as it is known.
    pub fn title(&self) -> String {
        let text = match (self.name, self.version) {
            ("diod", _) => first_line("dpkg-query", &["-W", "-f", "${Version}", "diod"]),
            ("p9ufs", _) => Some("v0.3.0".to_owned()),
            (_, []) => None,
            (_, arguments) => {
                let program = self.program().ok();
                program.and_then(|program| first_line(program.to_str()?, arguments))
            }
        };
        text.map_or_else(
            || self.name.to_owned(),
            |text| match text.strip_prefix(self.name) {
                Some(_) => text,
                None => format!("{} {text}", self.name),
            },
        )
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().filter(|_| output.status.success()).map(str::to_owned)
}

/// The processes to end should we panic.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn end_all_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if let Ok(running) = RUNNING.try_lock() {
                for &pid in running.iter() {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            before(panic);
        }));
    });
}

/// A server that runs.
#[derive(Debug)]
pub struct Server {
    /// Its kind.
    pub kind: Kind,
    /// Where it listens.
    pub address: String,
    /// What to attach to.
    pub aname: String,
    child: Child,
}

impl Server {
    /// Starts a server that exports `folder` on a free port of loopback, and waits until it
    /// accepts. What it prints goes to `log`.
    pub fn start(kind: Kind, folder: &Path, log: &Path) -> Result<Server> {
        const PATIENCE: Duration = Duration::from_secs(5);
        end_all_on_panic();
        let program = kind.program()?;
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port on loopback")?;
        let address = free.local_addr()?;
        drop(free);
        let mut command = match in_path("setpriv") {
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command.args(["--pdeathsig", "KILL", "--"]).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.args((kind.arguments)(folder, address)).stdin(Stdio::null());
        let file = File::create(log)?;
        command.stdout(file.try_clone()?).stderr(file);
        let child = command.spawn().with_context(|| format!("cannot start {}", kind.name))?;
        if let Ok(mut running) = RUNNING.lock() {
            running.push(Pid::from_child(&child));
        }
        let aname = (kind.aname)(folder);
        let mut server = Server { kind, address: address.to_string(), aname, child };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = server.child.try_wait()?;
            if ended.is_some() || start.elapsed() > PATIENCE {
                let how =
                    ended.map_or("still runs".to_owned(), |status| format!("ended: {status}"));
                let said = fs::read_to_string(log).unwrap_or_default();
                let said = said.lines().last().unwrap_or("nothing");
                bail!("{} does not listen at {address}; it {how}; it says: {said}", kind.name);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        ensure!(server.child.try_wait()?.is_none(), "{} ended at once", kind.name);
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.child);
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Ok(mut running) = RUNNING.lock() {
            running.retain(|&other| other != pid);
        }
    }
}
