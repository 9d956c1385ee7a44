//! A 9P tree as a directory of this machine, through FUSE.
//!
//! One thread takes the kernel's requests and sends each on as 9P; answers are given by the
//! client's hub as they come, so a read that waits costs no thread. The order of the kernel's
//! requests is kept on their way: a file's clunk goes out before whatever is asked after its
//! close. Nothing is cached, neither names nor attributes nor content: files that are made up
//! have size 0 and content all the same, and others change them behind our back.
//!
//! A process that waits in a request and gets a signal must get out. The kernel would say so with
//! FUSE_INTERRUPT, which fuser does not pass on; [`watch`] looks for it instead.

mod attributes;
mod bridge;
mod chains;
mod device;
mod forget;
mod table;
#[cfg(test)]
mod tests;
mod watch;

use crate::cmd::umount::{SOURCE, unmount};
use anyhow::{Result, anyhow};
use bridge::Bridge;
use fuser::{BackgroundSession, Config, Session, SessionACL};
use muster_ninep::client::Client;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use table::Table;

/// A mounted tree. Dropped, it is unmounted, even while somebody uses it.
#[derive(Debug)]
pub struct Mounted {
    session: Option<BackgroundSession>,
    client: Client,
    table: Arc<Table>,
    directory: PathBuf,
    /// Somebody has unmounted it.
    gone: bool,
}

impl Mounted {
    /// Waits until somebody has unmounted it and nobody uses it any more.
    ///
    /// # Errors
    /// When it cannot be served.
    pub fn wait(mut self) -> Result<()> {
        let session = self.session.take().expect("it was started");
        let ended = session.join();
        // Where the server is gone, so may be the mount, and another in its place.
        self.gone = ended.is_ok() || self.client.ended().is_some();
        ended.map_err(|error| cannot(&self.directory, &error.into()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.table.close();
        if !self.gone {
            // Somebody may have unmounted it already. Whoever still uses it is told ENOTCONN.
            let _ = unmount(&self.directory, true);
        }
    }
}

fn cannot(directory: &Path, why: &anyhow::Error) -> anyhow::Error {
    anyhow!("{}: {why:#}  [E151]", directory.display())
}

/// Mounts the client's tree, of `cluster`, and serves it from threads of its own.
///
/// # Errors
/// When it cannot be mounted.
pub fn start(client: &Client, cluster: &str, directory: &Path) -> Result<Mounted> {
    let source = format!("{SOURCE}:{cluster}");
    let device = device::mount(&source, directory).map_err(|why| cannot(directory, &why))?;
    let table = Arc::new(Table::new(client.root()));
    // From here on an error unmounts it again: it is there, and nobody would answer.
    let (session, gone) = (None, false);
    let (client, directory) = (client.clone(), directory.to_owned());
    let mut mounted = Mounted { session, client, table, directory, gone };
    let bridge = Bridge::new(&mounted.client, &mounted.table);
    // Only for notes to the kernel that fuser has no words for.
    let notes = device.try_clone().map_err(|error| cannot(&mounted.directory, &error.into()))?;
    let session = Session::from_fd(bridge, device, SessionACL::Owner, Config::default())
        .and_then(Session::spawn)
        .map_err(|error| cannot(&mounted.directory, &error.into()))?;
    let (table, notifier) = (mounted.table.clone(), session.notifier());
    mounted.session = Some(session);
    std::thread::Builder::new()
        .name("fuse-trim".into())
        .spawn(move || forget::trim(&table, &notes, &notifier))
        .map_err(|error| cannot(&mounted.directory, &error.into()))?;
    Ok(mounted)
}
