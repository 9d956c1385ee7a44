//! `muster nodes`: what the cluster is made of. Each node's facts are files of its own.

use super::{SCHEMA, Usage, done, now, print_json, refused};
use crate::cluster::{Context, NodeStatus, Status};
use crate::members::{self, label};
use crate::table;
use anyhow::Result;
use muster_base::nodeset::fold;
use muster_base::quote;
use muster_ninep::client::Client;
use muster_ninep::error::Errno;
use serde::Serialize;
use serde_json::json;
use std::process::ExitCode;
use std::time::Duration;

/// How long a node may take to tell its facts: one that is stopped does not.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(2));

/// Nodes that are asked at the same time.
const AT_ONCE: usize = 64;

/// List nodes; those that are alike share a line. Or take nodes out of use for a while.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster nodes --drain n3 --reason 'new memory'\n  \
                        muster nodes --resume n3")]
pub struct Args {
    /// Give these nodes no new jobs; those that run there go on
    #[arg(long, value_name = "NODES", requires = "reason", conflicts_with_all = ["resume", "long"])]
    drain: Option<String>,
    /// Why they are drained
    #[arg(long, value_name = "TEXT", requires = "drain", conflicts_with = "resume")]
    reason: Option<String>,
    /// Give these nodes jobs again
    #[arg(long, value_name = "NODES", conflicts_with = "long")]
    resume: Option<String>,
    /// A line for each node
    #[arg(short, long)]
    long: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    /// The words for the manager, if nodes are to be drained or resumed.
    fn order(&self) -> Option<Vec<String>> {
        let (word, nodes) = match (&self.drain, &self.resume) {
            (Some(nodes), _) => ("drain", nodes),
            (None, Some(nodes)) => ("resume", nodes),
            (None, None) => return None,
        };
        let reason = self.reason.iter().cloned();
        Some([word.to_owned(), nodes.clone()].into_iter().chain(reason).collect())
    }
}

/// A node as it is listed.
#[derive(Clone, Debug, Default, Serialize)]
struct Node {
    /// The cluster that it is of, if a view merges that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    name: String,
    state: String,
    host: Option<String>,
    arch: Option<String>,
    cpus: Option<u64>,
    mem_total: Option<u64>,
    mem_available: Option<u64>,
    load: Option<[f64; 3]>,
    sessions: Option<usize>,
    since: Option<f64>,
    why: Option<String>,
    /// Why it is drained, also while it is down.
    drained: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    if args.reason.as_ref().is_some_and(|reason| reason.contains(char::is_control)) {
        return Err(Usage("--reason is one line, without control characters".into()).into());
    }
    let client = context.connect()?;
    if let Some(order) = args.order() {
        client.write("ctl", quote::join(&order) + "\n").map_err(refused)?;
        return done(args.json, context);
    }
    let (mut transport, mut nodes) = (String::new(), Vec::new());
    for member in members::all(context, &client)? {
        let Some(status) = member.tell(Status::read)? else { continue };
        let of_member = look(&member.client, &status).into_iter();
        nodes.extend(of_member.map(|node| Node { cluster: member.name.clone(), ..node }));
        if member.name.is_none() {
            transport = status.transport;
        }
    }
    if args.json {
        print_json(&json!({
            "schema": SCHEMA, "cluster": context.cluster, "transport": transport,
            "nodes": nodes,
        }))?;
    } else {
        let mut head = vec!["NODES", "STATE", "CPUS", "MEM", "LOAD", "SESSIONS", "SINCE", "WHY"];
        // Where all are alike nobody asks what they are, and on one machine nobody where.
        if is_mixed(&nodes) {
            head.push("ARCH");
        }
        if nodes.iter().any(|node| node.host.is_some()) {
            head.push("HOST");
        }
        table::print(&head, &rows(&nodes, args.long, now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks all nodes of a cluster for their facts.
fn look(client: &Client, status: &Status) -> Vec<Node> {
    let patient = client.with_deadlines(PATIENCE, PATIENCE);
    let mut nodes = Vec::new();
    for some in status.nodes.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                some.iter().map(|node| scope.spawn(|| facts(&patient, node))).collect();
            let told = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
            nodes.extend(told);
        });
    }
    nodes
}

/// What the manager tells of a node.
fn told(status: &NodeStatus) -> Node {
    let NodeStatus { name, state, host, arch, since, why, drained } = status.clone();
    let mut node = Node { name, state, host, arch, since, why, drained, ..Node::default() };
    if !status.is_up() {
        let drained = node.drained.as_ref().map(|reason| format!("drained: {reason}"));
        let both: Vec<String> = node.why.into_iter().chain(drained).collect();
        node.why = (!both.is_empty()).then(|| both.join("; "));
    } else if node.drained.is_some() {
        (node.state, node.why) = ("drained".into(), node.drained.clone());
    }
    node
}

/// Asks a node for its facts.
fn facts(client: &Client, status: &NodeStatus) -> Node {
    let mut node = told(status);
    if !status.is_up() {
        return node;
    }
    let path = |file: &str| format!("nodes/{}/{file}", node.name);
    let read = |file: &str| client.read_to_string(&path(file));
    // One that does not answer the first question is not asked the others.
    match read("cpus") {
        Ok(text) => node.cpus = text.trim().parse().ok(),
        Err(error) => {
            node.why = Some(match error.errno {
                Errno::TIMEDOUT => "does not answer".into(),
                _ => error.to_string(),
            });
            return node;
        }
    }
    let numbers = |text: String| -> Vec<f64> {
        text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    if let Some([total, available]) = read("mem").ok().map(numbers).as_deref() {
        (node.mem_total, node.mem_available) = (Some(*total as u64), Some(*available as u64));
    }
    node.load = read("load").ok().map(numbers).and_then(|load| load.try_into().ok());
    node.sessions = client.readdir(&path("")).ok().map(|entries| {
        let digits = |name: &[u8]| name.iter().all(u8::is_ascii_digit);
        entries.iter().filter(|entry| digits(&entry.name)).count()
    });
    node
}

/// Whether they have different processors.
fn is_mixed(nodes: &[Node]) -> bool {
    let mut arches = nodes.iter().filter_map(|node| node.arch.as_ref());
    arches.next().is_some_and(|first| arches.any(|other| other != first))
}

fn called(node: &Node) -> String {
    label(node.cluster.as_deref(), &node.name)
}

fn rows(nodes: &[Node], long: bool, now: f64) -> Vec<Vec<String>> {
    let is_mixed = is_mixed(nodes);
    let mut groups: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for node in nodes {
        let cells = cells(node, (long, is_mixed), now);
        match groups.iter_mut().find(|(alike, _)| !long && *alike == cells) {
            Some((_, names)) => names.push(called(node)),
            None => groups.push((cells, vec![called(node)])),
        }
    }
    let row = |(cells, names): (Vec<String>, Vec<String>)| {
        std::iter::once(fold(names)).chain(cells).collect()
    };
    groups.into_iter().map(row).collect()
}

fn cells(node: &Node, (long, is_mixed): (bool, bool), now: f64) -> Vec<String> {
    let mem = node.mem_available.zip(node.mem_total);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let mut cells = vec![
        node.state.clone(),
        or_dash(node.cpus.map(|cpus| cpus.to_string())),
        or_dash(mem.map(|(free, all)| format!("{}/{}", table::bytes(free), table::bytes(all)))),
        or_dash(node.load.map(|load| format!("{:.1}", load[0]))),
        or_dash(node.sessions.map(|sessions| sessions.to_string())),
        or_dash(node.since.map(|since| up_for(now - since, long))),
        node.why.clone().unwrap_or_default(),
    ];
    if is_mixed {
        cells.push(or_dash(node.arch.clone()));
    }
    cells.extend(node.host.clone());
    cells
}

/// How long a node has been as it is; in whole minutes where alike nodes share a line.
fn up_for(seconds: f64, long: bool) -> String {
    match seconds {
        _ if long => table::span(seconds),
        ..60.0 => "<1 min".into(),
        _ => table::span((seconds / 60.0).floor() * 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who resumes it, or waits for it to come back, waits in vain else.
    #[test]
    fn a_node_that_is_down_and_drained_is_told_to_be_both() {
        let node = |state: &str, why: Option<&str>, drained: Option<&str>| {
            let [why, drained] = [why, drained].map(|text| text.map(str::to_owned));
            let node =
                told(&NodeStatus { state: state.into(), why, drained, ..Default::default() });
            let why = node.why.unwrap_or_default();
            (format!("{} {why}", node.state), node.drained.unwrap_or_default())
        };
        let pair = |told: &str, drained: &str| (told.to_owned(), drained.to_owned());
        let both = pair("down it died; drained: bad disk", "bad disk");
        assert_eq!(node("down", Some("it died"), Some("bad disk")), both);
        assert_eq!(node("down", Some("it died"), None), pair("down it died", ""));
        assert_eq!(node("up", None, Some("bad disk")), pair("drained bad disk", "bad disk"));
    }

    #[test]
    fn nodes_that_are_alike_share_a_line() {
        let node = |name: &str| Node {
            name: name.into(),
            state: "up".into(),
            cpus: Some(2),
            mem_total: Some(8 << 30),
            mem_available: Some(3 << 30),
            load: Some([0.51, 0.0, 0.0]),
            sessions: Some(0),
            ..Node::default()
        };
        let down = Node { state: "down".into(), why: Some("died".into()), ..node("n1") };
        let nodes = [node("n0"), down, node("n2"), node("n3")];
        let rows = rows(&nodes, false, 0.0);
        assert_eq!(rows[0], ["n[0,2-3]", "up", "2", "3.0G/8.0G", "0.5", "0", "-", ""]);
        assert_eq!((rows[1][0].as_str(), rows[1][7].as_str()), ("n1", "died"));
        assert_eq!(super::rows(&nodes, true, 0.0).len(), 4);
        let arch = |node: &Node, arch: &str| Node { arch: Some(arch.into()), ..node.clone() };
        let [n0, n1, n2, n3] = &nodes;
        let mixed = [arch(n0, "arm"), n1.clone(), arch(n2, "arm"), arch(n3, "i686")];
        let rows = super::rows(&mixed, false, 0.0);
        let last: Vec<&str> = rows.iter().map(|row| row[8].as_str()).collect();
        assert_eq!(last, ["arm", "-", "i686"]);
    }
}
