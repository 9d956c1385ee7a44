//! Sends a stream to many sessions: to a few directly, which pass it on to the others.

use super::format::{self, Header, Target};
use super::pack::Load;
use crate::line;
use muster_base::limits::ARITY_MAX;
use muster_ninep::client::{Fid, Options};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::tree::OpenFlags;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long a node may take to answer when a stream begins.
const ANSWER: Duration = Duration::from_secs(10);

/// How long a node may take with one piece of the stream, and how much longer for each level of
/// nodes below it: who waits for one that does not answer tells it before it is given up itself.
const PIECE: Duration = Duration::from_secs(60);
const LEVEL: Duration = Duration::from_secs(5);

/// Pieces on their way to one head; then the source waits.
const AHEAD: usize = 4;

/// A session that was not reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// `ADDRESS/SESSION`.
    pub target: String,
    /// Why.
    pub why: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.target, self.why)
    }
}

/// Reads a list of targets as `ctl` gets it.
///
/// # Errors
/// When it is none.
pub fn read_targets(text: &str) -> Result<Vec<Target>> {
    format::read_targets(text).map_err(|error| Error::new(Errno::INVAL, error.to_string()))
}

fn failures_of(target: &Target, why: &str) -> Vec<Failure> {
    let each = |number: &u32| Failure {
        target: format!("{}/{number}", target.address),
        why: why.to_owned(),
    };
    target.sessions.iter().map(each).collect()
}

/// What came of sending.
#[derive(Debug, Default)]
pub struct Sent {
    /// Sessions that could not be reached.
    pub failures: Vec<Failure>,
    /// Targets behind a head that died: they may have been reached or not, and can be tried anew.
    pub orphans: Vec<Target>,
}

/// A stream on its way to its targets.
pub struct Fan {
    heads: Vec<Head>,
    /// Sessions that could not even be begun with.
    failures: Vec<Failure>,
}

/// A node that is sent to directly: where its pieces go, none for their end, and what comes of it.
type Head = (SyncSender<Piece>, JoinHandle<Sent>);
type Piece = Option<Arc<[u8]>>;

impl Fan {
    /// Begins a stream to `targets` in this tree of their nodes, to at most `most` directly, and to
    /// no more than [`ARITY_MAX`].
    pub fn open(tree: &str, most: usize, targets: Vec<Target>) -> Fan {
        // Each costs a thread, and a line from elsewhere may ask for any number.
        let most = most.min(ARITY_MAX);
        let groups = split(most, by_node(targets));
        let mut fan = Fan { heads: Vec::new(), failures: Vec::new() };
        for group in groups {
            let (pieces, arriving) = sync_channel(AHEAD);
            let thread = std::thread::Builder::new().name("relay".into());
            let (targets, tree) = (group.clone(), tree.to_owned());
            match thread.spawn(move || send_to(&tree, most, group, &arriving)) {
                Ok(head) => fan.heads.push((pieces, head)),
                Err(error) => {
                    let why = format!("has no thread to be sent to with: {error}");
                    fan.failures
                        .extend(targets.iter().flat_map(|target| failures_of(target, &why)));
                }
            }
        }
        fan
    }

    /// Sends the next piece. Waits while a head is behind; heads that have failed take nothing.
    pub fn push(&self, piece: &Arc<[u8]>) {
        for (pieces, _) in &self.heads {
            let _ = pieces.send(Some(piece.clone()));
        }
    }

    /// Waits until all targets have everything or have failed.
    pub fn finish(self) -> Sent {
        let mut all = Sent { failures: self.failures, orphans: Vec::new() };
        for (pieces, head) in self.heads {
            let _ = pieces.send(None);
            let sent = head.join().expect("a head does not panic");
            all.failures.extend(sent.failures);
            all.orphans.extend(sent.orphans);
        }
        all
    }
}

/// Sends a whole load, and again to those whose head died.
///
/// # Errors
/// When the load cannot be read.
pub fn send(
    tree: &str,
    most: usize,
    targets: Vec<Target>,
    load: impl Fn() -> Result<Load>,
) -> Result<Vec<Failure>> {
    let mut failures = Vec::new();
    let mut left = targets;
    while !left.is_empty() {
        let fan = Fan::open(tree, most, left);
        let mut packer = load()?.stream();
        let mut chunk = Vec::new();
        let unread = |error: super::pack::PackError| Error::new(Errno::IO, error.to_string());
        while packer.next_chunk(&mut chunk).map_err(unread)? {
            fan.push(&Arc::from(&chunk[..]));
        }
        let sent = fan.finish();
        failures.extend(sent.failures);
        left = sent.orphans;
    }
    Ok(failures)
}

/// Puts the sessions of one node together, in the order in which nodes are named first.
fn by_node(targets: Vec<Target>) -> Vec<Target> {
    let (mut nodes, mut places) = (Vec::<Target>::new(), HashMap::<String, usize>::new());
    for target in targets {
        match places.entry(target.address.clone()) {
            Entry::Occupied(place) => nodes[*place.get()].sessions.extend(target.sessions),
            Entry::Vacant(place) => {
                place.insert(nodes.len());
                nodes.push(target);
            }
        }
    }
    nodes
}

/// Splits into at most `most` groups of nearly equal size.
fn split(most: usize, mut nodes: Vec<Target>) -> Vec<Vec<Target>> {
    let mut groups = Vec::new();
    let mut left = most.clamp(1, nodes.len().max(1));
    while !nodes.is_empty() {
        let rest = nodes.split_off(nodes.len().div_ceil(left));
        groups.push(std::mem::replace(&mut nodes, rest));
        left -= 1;
    }
    groups
}

/// Serves one group: through the first of its nodes that answers.
fn send_to(tree: &str, most: usize, group: Vec<Target>, pieces: &Receiver<Piece>) -> Sent {
    let mut sent = Sent::default();
    let mut left = group.into_iter();
    while let Some(head) = left.next() {
        match begin(tree, most, &head, left.as_slice()) {
            Err(error) => sent.failures.extend(failures_of(&head, &error.to_string())),
            Ok(file) => {
                match pass_on(&file, pieces) {
                    Ok(report) => sent.failures.extend(report),
                    Err(error) => {
                        sent.failures.extend(failures_of(&head, &error.to_string()));
                        sent.orphans = left.collect();
                    }
                }
                return sent;
            }
        }
    }
    // Nobody takes the pieces; the source must not wait for that.
    while let Ok(Some(_)) = pieces.recv() {}
    sent
}

/// How many levels there are of so many nodes below another.
fn levels(most: usize, mut below: usize) -> u32 {
    let mut levels = 0;
    while below > 0 {
        (levels, below) = (levels + 1, below.div_ceil(most.max(1)) - 1);
    }
    levels
}

/// Opens a head's `relay` file and tells it to whom to pass the stream on.
fn begin(tree: &str, most: usize, head: &Target, rest: &[Target]) -> Result<(Fid, u64)> {
    let address = line::read_address(&head.address)?;
    let aname = tree.to_owned();
    let options = Options { aname, deadline: Some(ANSWER), ..Options::default() };
    let patience = PIECE + LEVEL * levels(most, rest.len());
    let client =
        line::connect("relay", &address, options)?.with_deadlines(Some(ANSWER), Some(patience));
    let Some((first, others)) = head.sessions.split_first() else {
        return Err(Error::new(Errno::INVAL, "a target without a session"));
    };
    let file = client.root().walk(&[first.to_string().as_bytes(), b"relay"])?;
    file.open(OpenFlags(OpenFlags::RDWR))?;
    // The head's other sessions come first; it knows its own address.
    let mut targets = Vec::new();
    if !others.is_empty() {
        targets.push(Target { address: head.address.clone(), sessions: others.to_vec() });
    }
    targets.extend_from_slice(rest);
    if targets.is_empty() {
        return Ok((file, 0));
    }
    let mut header = Vec::new();
    Header::Relay(u32::try_from(most).unwrap_or(u32::MAX), targets).write(&mut header);
    let offset = file.write_at(0, &header)? as u64;
    Ok((file, offset))
}

/// Writes the pieces as they come, then waits for the report. Where the source goes before the end
/// there is none to wait for.
fn pass_on(file: &(Fid, u64), pieces: &Receiver<Piece>) -> Result<Vec<Failure>> {
    let (file, mut offset) = (&file.0, file.1);
    let mut failed = None;
    loop {
        let Ok(piece) = pieces.recv() else {
            return Err(Error::new(Errno::PIPE, "was cut off: its source has gone"));
        };
        let Some(piece) = piece else { break };
        if failed.is_none() {
            match file.write_at(offset, &piece) {
                Ok(written) => offset += written as u64,
                // The source goes on for the others.
                Err(error) => failed = Some(error),
            }
        }
    }
    failed.map_or(Ok(()), Err)?;
    let mut report = Vec::new();
    loop {
        let more = file.read_at(report.len() as u64, file.max_data())?;
        if more.is_empty() {
            break;
        }
        report.extend(more);
    }
    Ok(read_report(&String::from_utf8_lossy(&report)))
}

/// Failures as a `relay` file reports them: `ADDRESS/SESSION WHY`, a line each.
fn read_report(text: &str) -> Vec<Failure> {
    let line = |line: &str| {
        let (target, why) = line.split_once(' ').unwrap_or((line, "failed"));
        Failure { target: target.to_owned(), why: why.to_owned() }
    };
    text.lines().filter(|line| !line.is_empty()).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, sessions: &[u32]) -> Target {
        Target { address: name.to_owned(), sessions: sessions.to_vec() }
    }

    #[test]
    fn groups_are_nearly_equal_and_a_node_is_in_one_only() {
        let targets: Vec<Target> = (0..7).map(|n| node(&format!("n{n}"), &[n])).collect();
        let sizes = |most: usize| -> Vec<usize> {
            split(most, targets.clone()).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(2), [4, 3]);
        assert_eq!(sizes(3), [3, 2, 2]);
        assert_eq!(sizes(100), [1; 7]);
        assert_eq!(sizes(0), [7]);
        let merged = by_node(vec![node("a", &[1]), node("b", &[1]), node("a", &[2])]);
        assert_eq!(merged, [node("a", &[1, 2]), node("b", &[1])]);
    }

    #[test]
    fn who_is_nearer_to_the_source_waits_longer() {
        assert_eq!([0, 1, 2, 3, 6, 7, 62].map(|below| levels(2, below)), [0, 1, 1, 2, 2, 3, 5]);
        assert_eq!((levels(1, 5), levels(0, 5), levels(100, 5)), (5, 5, 1));
        // Also if a line asks for what is no tree any more.
        assert_eq!(levels(1, 1_000_000), 1_000_000);
    }

    #[test]
    fn sessions_of_one_node_come_together_however_many_nodes_there_are() {
        let target = |node: u32, sessions: &[u32]| Target {
            address: format!("a{node}"),
            sessions: sessions.to_vec(),
        };
        let all = (0..50_000).chain(0..2).map(|node| target(node, &[node + 1])).collect();
        let nodes = by_node(all);
        assert_eq!(nodes.len(), 50_000);
        assert_eq!(nodes[..3], [target(0, &[1, 1]), target(1, &[2, 2]), target(2, &[3])]);
    }

    #[test]
    fn a_report_names_target_and_reason() {
        let failure = Failure { target: "unix!/x/3".to_owned(), why: "no answer".to_owned() };
        assert_eq!(read_report(&format!("{failure}\n")), [failure]);
    }
}
