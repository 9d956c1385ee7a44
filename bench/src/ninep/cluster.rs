//! A cluster of one node, for what is measured at a node daemon.

use super::load::{Client, kind};
use super::parked::{self, Parked};
use super::wait::Wait;
use crate::cluster::Cluster;
use crate::report::Case;
use anyhow::{Context, Result, ensure};

/// A node daemon's memory with many reads of a session's `wait` parked: the session is never
/// started, so none of them returns.
///
/// # Errors
/// When there is no cluster, or its node does not answer as it should.
pub fn parked_reads() -> Result<(String, Case)> {
    const FID: u32 = 1;
    // Not where the files lie: a socket's path has to be short.
    let cluster = Cluster::up(1, &std::env::temp_dir())?;
    let address = cluster.socket(0).display().to_string();
    let mut client = Client::attach(&address, "/", Wait::Sleep)?;
    client.put_walk(0, FID, "clone");
    client.finish(kind::TWALK).context("walk to clone")?;
    client.put_open(0, FID, 0);
    client.finish(kind::TLOPEN).context("open clone")?;
    client.put_read(0, FID, 0, 100);
    let body = client.finish(kind::TREAD).context("read clone")?;
    let session = String::from_utf8_lossy(body.get(4..).unwrap_or_default()).trim().to_owned();
    ensure!(!session.is_empty(), "the node has made no session");
    let path = format!("{session}/wait");
    let request = Parked { address, path, ..Parked::default() };
    let (before, with) = parked::parked(&request)?;
    let note = format!(
        "node daemon: {:.1} MiB and {} threads, with {} parked reads {:.1} MiB and {} threads",
        before.memory, before.threads, request.count, with.memory, with.threads
    );
    Ok((note, parked::case(request.count, with)))
}
