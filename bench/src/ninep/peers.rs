//! The servers that are measured: how each is found and started.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::child::{self, Child, exists, first_line, free_address, in_path, target};
use anyhow::{Context, Result, bail, ensure};

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
        missing: "cargo xtask setup",
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
        missing: "cargo xtask setup --bench",
        arguments: |folder, address| {
            vec!["-root".into(), folder.display().to_string(), address.to_string()]
        },
        aname: |_| "/".to_owned(),
        version: &[],
    },
];

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
            ("p9ufs", _) => built_version(),
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

/// The release that p9ufs was built of: the module file beside it says so.
fn built_version() -> Option<String> {
    let module = fs::read_to_string(target().join("peers/p9ufs.mod")).ok()?;
    let mut words = module.split_whitespace().skip_while(|word| !word.ends_with("hugelgupf/p9"));
    words.nth(1).map(str::to_owned)
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
        let program = kind.program()?;
        let address = free_address()?;
        let mut command = child::command(program);
        command.args((kind.arguments)(folder, address)).stdin(Stdio::null());
        let file = File::create(log)?;
        command.stdout(file.try_clone()?).stderr(file);
        let child = Child::start(&mut command)?;
        let aname = (kind.aname)(folder);
        let mut server = Server { kind, address: address.to_string(), aname, child };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            let ended = server.child.ended()?;
            if ended.is_some() || start.elapsed() > PATIENCE {
                let how =
                    ended.map_or("still runs".to_owned(), |status| format!("ended: {status}"));
                let said = fs::read_to_string(log).unwrap_or_default();
                let said = said.lines().last().unwrap_or("nothing");
                bail!("{} does not listen at {address}; it {how}; it says: {said}", kind.name);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        ensure!(server.child.ended()?.is_none(), "{} ended at once", kind.name);
        Ok(server)
    }
}
