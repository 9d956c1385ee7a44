//! A cluster of one node for as long as something is measured on it: `muster up` in a private
//! runtime directory, and `muster down` however we end short of being killed.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, Once};

use anyhow::{Context, Result, ensure};

use super::Folder;
use super::load::{Client, kind};
use super::parked::{self, Parked};
use super::peers::Kind;
use super::wait::Wait;
use crate::report::Case;

/// What a panic has to take down: the program, and the runtime directory.
static UP: Mutex<Option<(PathBuf, PathBuf)>> = Mutex::new(None);

struct Cluster {
    muster: PathBuf,
    runtime: PathBuf,
    // Goes after the cluster is down.
    _folder: Folder,
}

impl Cluster {
    fn up(muster: PathBuf) -> Result<Cluster> {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                let up = UP.try_lock().ok().and_then(|mut up| up.take());
                if let Some((muster, runtime)) = up {
                    down(&muster, &runtime);
                }
                before(panic);
            }));
        });
        // Not where the files lie: a socket's path has to be short.
        let folder = Folder::new(&std::env::temp_dir())?;
        let runtime = folder.0.join("run");
        DirBuilder::new().mode(0o700).create(&runtime)?;
        if let Ok(mut up) = UP.lock() {
            *up = Some((muster.clone(), runtime.clone()));
        }
        let cluster = Cluster { muster, runtime, _folder: folder };
        let mut command = command(&cluster.muster, &cluster.runtime);
        let output = command.args(["up", "-N", "1"]).output().context("cannot start muster up")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "muster up: {}", said.trim());
        Ok(cluster)
    }

    /// The socket of its node.
    fn node(&self) -> String {
        self.runtime.join("default/n0.sock").display().to_string()
    }
}

fn command(muster: &Path, runtime: &Path) -> Command {
    let mut command = Command::new(muster);
    command.env("MUSTER_RUNTIME", runtime).stdin(Stdio::null());
    command
}

fn down(muster: &Path, runtime: &Path) {
    // There is nobody to tell; `muster down` has said itself what it could not end.
    let _ = command(muster, runtime).arg("down").stdout(Stdio::null()).status();
}

impl Drop for Cluster {
    fn drop(&mut self) {
        down(&self.muster, &self.runtime);
        if let Ok(mut up) = UP.lock() {
            *up = None;
        }
    }
}

/// A node daemon's memory with many reads of a session's `wait` parked: the session is never
/// started, so none of them returns.
pub fn parked_reads(ours: &Kind) -> Result<(String, Case)> {
    const FID: u32 = 1;
    let cluster = Cluster::up(ours.program()?)?;
    let mut client = Client::attach(&cluster.node(), "/", Wait::Sleep)?;
    client.put_walk(0, FID, "clone");
    client.finish(kind::TWALK).context("walk to clone")?;
    client.put_open(0, FID, 0);
    client.finish(kind::TLOPEN).context("open clone")?;
    client.put_read(0, FID, 0, 100);
    let body = client.finish(kind::TREAD).context("read clone")?;
    let session = String::from_utf8_lossy(body.get(4..).unwrap_or_default()).trim().to_owned();
    ensure!(!session.is_empty(), "the node has made no session");
    let path = format!("{session}/wait");
    let request = Parked { address: cluster.node(), path, ..Parked::default() };
    let (before, with) = parked::parked(&request)?;
    let note = format!(
        "node daemon: {:.1} MiB and {} threads, with {} parked reads {:.1} MiB and {} threads",
        before.memory, before.threads, request.count, with.memory, with.threads
    );
    Ok((note, parked::case(request.count, with)))
}
