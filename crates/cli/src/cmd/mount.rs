//! `muster mount`: the cluster tree as a file system of this machine.

use super::because;
use super::daemon::be_called;
use super::umount::{is_dead, mount_at, place, unmount};
use crate::cluster::Context;
use crate::fuse;
use crate::sys;
use anyhow::{Result, anyhow, bail};
use muster_machine::keeper::keep_descriptors;
use muster_machine::mounts::Mount;
use muster_ninep::client::Client;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long a mount may take to appear.
const APPEAR: Duration = Duration::from_secs(10);

/// Mount the cluster tree at a directory.
///
/// It is served by a process in the background, which ends with the cluster or by muster umount.
/// When the cluster's manager was started again it is mounted anew: what was open has to be opened
/// again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mkdir -p ~/m && muster mount ~/m && ls ~/m/nodes")]
pub struct Args {
    /// An empty directory
    dir: PathBuf,
    /// Serve it in this process, until it is unmounted
    #[arg(short, long)]
    foreground: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let dir = place(&args.dir);
    let dir = dir.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            anyhow!("{0} does not exist; first: mkdir -p {0}  [E151]", args.dir.display())
        }
        _ => because(args.dir.display(), "E151")(error),
    })?;
    if let Some(Mount { source, .. }) = mount_at(&dir)? {
        let at = dir.display();
        if dir.metadata().is_err_and(|error| is_dead(&error)) {
            bail!("what serves {source} at {at} has died; first: muster umount {at}  [E151]");
        }
        bail!("{source} is mounted at {at} already  [E151]");
    }
    if !dir.is_dir() {
        bail!("{} is no directory  [E151]", dir.display());
    }
    let mut inside = std::fs::read_dir(&dir).map_err(because(dir.display(), "E151"))?;
    if inside.next().is_some() {
        bail!("{} is not empty: a mount would hide what is in it  [E151]", dir.display());
    }
    if args.foreground {
        be_called("mount");
    }
    let mut client = context.connect()?;
    if !args.foreground {
        drop(client);
        background(context, &dir)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (at, mut is_unmounted) = (dir.clone(), false);
    let end = move |signal| {
        // What is in use stays until nobody uses it, or somebody insists. Where nothing is mounted
        // yet, or it cannot be helped, it ends at once; nobody else would take the mount away.
        if is_unmounted || unmount(&at, true).is_err() {
            std::process::exit(128 + signal);
        }
        is_unmounted = true;
    };
    sys::heed(&sys::END, end).map_err(because("signals", "E151"))?;
    while serve(&client, context, &dir)? {
        match context.connect_again() {
            Some(next) => client = next,
            None => break,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Mounts the tree and serves it until it is unmounted; true if the manager is gone. Who has it
/// then, as ranks of jobs do among all that is mounted, is told errors for as long as he has.
fn serve(client: &Client, context: &Context, dir: &Path) -> Result<bool> {
    let (tell, ended) = channel();
    let (gone, (hand, mounted)) = (tell.clone(), channel::<fuse::Mounted>());
    // Before anything is mounted: without this thread it would be so for nobody.
    crate::run::spawn(move || {
        if let Ok(mounted) = mounted.recv() {
            let _ = tell.send(mounted.wait().map(|()| false));
        }
    });
    let mounted = fuse::start(client, &context.cluster, dir)?;
    client.on_close(move |_| {
        // Who listens no more has been told.
        let _ = gone.send(Ok(true));
    });
    let _ = hand.send(mounted);
    let is_gone = ended.recv()??;
    if is_gone {
        // Whether or not somebody has done so just now.
        let _ = unmount(dir, true);
    }
    Ok(is_gone)
}

/// Starts a process that serves the mount; returns when it is there.
fn background(context: &Context, dir: &Path) -> Result<()> {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("muster").args(["--cluster", &context.cluster]);
    command.args(context.view.iter().flat_map(|view| ["--view", view]));
    command.args(["mount", "--foreground"]).arg(dir);
    command.env("MUSTER_RUNTIME", context.runtime.path()).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    // A lock or a pipe of the script that calls us would be held for as long as it is mounted.
    let spawned = keep_descriptors().and_then(|()| command.spawn());
    let mut server = spawned.map_err(because("cannot start the file system", "E151"))?;
    let deadline = Instant::now() + APPEAR;
    loop {
        if mount_at(dir)?.is_some() {
            return Ok(());
        }
        if server.try_wait()?.is_some() {
            let mut said = String::new();
            let stderr = server.stderr.as_mut().expect("it is piped");
            stderr.read_to_string(&mut said)?;
            bail!("{}", said.trim().trim_start_matches("muster: "));
        }
        if Instant::now() > deadline {
            server.kill()?;
            server.wait()?;
            let s = APPEAR.as_secs();
            bail!("nothing was mounted at {} within {s} s  [E151]", dir.display());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
