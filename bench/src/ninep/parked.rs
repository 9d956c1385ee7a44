//! What a server's memory is with many reads that do not return.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::load::{Client, Stream, expect, kind};
use super::wait::Wait;
use crate::report::{Case, Report, Samples};

/// The most memory that 10,000 parked reads may take, in MiB.
pub const MEMORY_MAX: f64 = 64.0;

/// Requests sent before their replies are taken.
const BATCH: usize = 64;

/// What to park, and where.
#[derive(Clone, Debug)]
pub struct Parked {
    /// HOST:PORT, or the path of a Unix socket.
    pub address: String,
    /// A file whose reads do not return, from the root of the served tree.
    pub path: String,
    /// How many reads.
    pub count: usize,
    /// Over how many connections.
    pub connections: usize,
    /// The server's process; over a Unix socket the kernel knows it.
    pub pid: Option<usize>,
}

impl Default for Parked {
    fn default() -> Parked {
        let (address, path) = (String::new(), String::new());
        Parked { address, path, count: 10_000, connections: 10, pid: None }
    }
}

/// Resident memory and threads of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Footprint {
    /// VmRSS, in MiB.
    pub memory: f64,
    /// How many threads it has.
    pub threads: u64,
}

impl Footprint {
    fn of(pid: usize) -> Result<Footprint> {
        let path = format!("/proc/{pid}/status");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let field = |name: &str| -> Result<u64> {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            let number = value.and_then(|value| value.split_whitespace().next());
            number.and_then(|number| number.parse().ok()).with_context(|| format!("no {name}"))
        };
        Ok(Footprint { memory: field("VmRSS")? as f64 / 1024.0, threads: field("Threads")? })
    }
}

/// Opens the file `count` times, reads from each fid, and once the server has taken all the
/// reads returns its footprint before and with them. Only connections end the reads.
pub fn parked(request: &Parked) -> Result<(Footprint, Footprint)> {
    let connect = || Client::attach(&request.address, "/", Wait::Sleep);
    let clients: Result<Vec<Client>> = (0..request.connections).map(|_| connect()).collect();
    let mut clients = clients?;
    let first = clients.first().context("at least one connection is needed")?;
    let pid = match (request.pid, first.stream()) {
        (Some(pid), _) => pid,
        (None, Stream::Unix(stream)) => {
            let peer = rustix::net::sockopt::socket_peercred(stream)?;
            peer.pid.as_raw_nonzero().get().try_into()?
        }
        (None, Stream::Tcp(_)) => bail!("whose memory? give the server's --pid"),
    };
    let before = Footprint::of(pid)?;
    let share = request.count.div_ceil(request.connections);
    let mut left = request.count;
    for client in &mut clients {
        let count = share.min(left);
        left -= count;
        park(client, &request.path, count)?;
    }
    // A server takes requests in order: once it answers a later one, it has the reads.
    for client in &mut clients {
        client.put_getattr(u16::MAX - 1, 0);
        client.send()?;
        let (got, tag, body) = client.reply()?;
        expect(got, kind::TGETATTR, body).context("a read of the parked file returned")?;
        ensure!(tag == u16::MAX - 1, "a reply to tag {tag}");
    }
    Ok((before, Footprint::of(pid)?))
}

/// Parks reads on one connection: fid and tag of each are its number plus one.
fn park(client: &mut Client, path: &str, count: usize) -> Result<()> {
    const SIZE: u32 = 4096;
    let numbers: Vec<u16> = (0..count).map(|n| u16::try_from(n + 1)).collect::<Result<_, _>>()?;
    for batch in numbers.chunks(BATCH) {
        for &tag in batch {
            client.put_walk(tag, u32::from(tag), path);
        }
        answers(client, kind::TWALK, batch.len()).with_context(|| format!("walk to {path}"))?;
        for &tag in batch {
            client.put_open(tag, u32::from(tag), 0);
        }
        answers(client, kind::TLOPEN, batch.len()).with_context(|| format!("open {path}"))?;
    }
    for &tag in &numbers {
        client.put_read(tag, u32::from(tag), 0, SIZE);
    }
    client.send()
}

fn answers(client: &mut Client, request: u8, count: usize) -> Result<()> {
    client.send()?;
    for _ in 0..count {
        let (got, _, body) = client.reply()?;
        expect(got, request, body)?;
    }
    Ok(())
}

/// The row for the report.
pub fn case(count: usize, with: Footprint) -> Case {
    let title = format!("memory with {count} parked reads");
    Case::bound(&title, "MiB", Samples(vec![with.memory]), MEMORY_MAX)
}

/// The benchmark by itself, of a server that runs already.
pub fn run(request: &Parked) -> Result<Report> {
    ensure!(!request.address.is_empty(), "which server? give its --address");
    ensure!(!request.path.is_empty(), "which file? give its --path");
    let (before, with) = parked(request)?;
    let note = format!(
        "{:.1} MiB and {} threads before, {:.1} MiB and {} threads with {} reads",
        before.memory, before.threads, with.memory, with.threads, request.count
    );
    Ok(Report {
        bench: "parked",
        notes: vec![note],
        missing: Vec::new(),
        cases: vec![case(request.count, with)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ninep::toy;

    fn request(path: &str) -> Parked {
        Parked {
            address: toy::serve(vec![0; 10]),
            path: path.to_owned(),
            count: 1001,
            connections: 3,
            pid: Some(std::process::id() as usize),
        }
    }

    #[test]
    fn reads_park_and_memory_is_read() {
        let (before, with) = parked(&request("wait")).expect("parked");
        assert!(before.memory > 0.0 && with.memory > 0.0 && with.threads > 0);
    }

    #[test]
    fn a_read_that_returns_is_an_error() {
        let error = parked(&request("data")).expect_err("data does not park");
        assert!(format!("{error:#}").contains("returned"), "{error:#}");
    }
}
