//! Finding a cluster on this machine, connecting to its manager, bringing one up.

use crate::members::JobName;
use crate::progress::Progress;
use crate::run::{self, Cluster};
use anyhow::{Result, anyhow, bail};
use muster_base::limits::NODES_HERE_MAX;
use muster_base::nodeset::fold;
use muster_base::quote;
use muster_machine::hosts;
use muster_machine::keeper::{EMBEDDED, Keeper, Plan, Runtime, State, by_file, clear_dead};
use muster_machine::relay::recipe::Recipes;
use muster_machine::roster::Roster;
use muster_ninep::client::{self, Client, Options};
use muster_ninep::error::{Errno, Error};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a manager may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// How long one may take that has answered: it is there, and its machine may be busy.
const BUSY: Duration = Duration::from_secs(10);

/// How long a manager that has died may take to be followed by another.
const RETURN: Duration = Duration::from_secs(10);

/// Time between two tries to reach a manager that begins.
const AGAIN: Duration = Duration::from_millis(10);
/// How long the nodes of a new cluster may take until one more has joined, on this machine and over
/// a network.
const JOIN: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(30));
/// Between two looks at who has joined.
const LOOK: Duration = Duration::from_millis(10);

/// What becomes of jobs when nobody keeps their cluster any more.
const TAKEN_DOWN: &str = "the cluster was taken down";

/// What all commands share.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where this user's clusters are.
    pub runtime: Runtime,
    /// The cluster to work with.
    pub cluster: String,
    /// The view of it; `/` is all of it.
    pub view: Option<String>,
}

impl Context {
    /// Connects to the manager. Calls wait at most two seconds for an answer, but as long as it
    /// takes for data. One that is begun anew has so long to be there.
    ///
    /// # Errors
    /// One sentence: no such cluster, it is ending, the manager does not answer.
    pub fn connect(&self) -> Result<Client> {
        let is_own = std::env::var("MUSTER_CLUSTER").is_ok_and(|name| name == self.cluster);
        if is_own && self.cluster.starts_with(hosts::PREFIX) {
            bail!(
                "a job of a cluster on several hosts does not reach its manager: start muster run \
                 and mpiexec where the cluster was brought up, not in a job  [E129]"
            );
        }
        match self.runtime.state(&self.cluster)? {
            None | Some(State::Dead) => return Err(self.none_up()),
            Some(State::Ending) => {
                bail!("cluster {} is ending; help it: muster down  [E122]", self.cluster)
            }
            Some(State::Kept(_)) => {}
        }
        let missing = |view: &str| {
            let view = quote::quote(view);
            anyhow!("there is no view {view}. See: muster --view / view  [E117]")
        };
        // As a part of a tree's name it would lead to another.
        let is_a_name = |view: &str| view == "/" || !view.is_empty() && !view.contains('/');
        if let Some(view) = self.view.as_deref().filter(|view| !is_a_name(view)) {
            return Err(missing(view));
        }
        begin_connections()?;
        self.connect_soon().map_err(|error| match (&self.view, error.downcast_ref::<Error>()) {
            (Some(view), Some(refused)) if refused.errno == Errno::NOENT => missing(view),
            _ if matches!(self.runtime.state(&self.cluster), Ok(None | Some(State::Dead))) => {
                self.none_up()
            }
            _ => self.silent(&error),
        })
    }

    /// Where the manager has ended, or ends just then, its cluster begins another, within
    /// milliseconds.
    fn connect_soon(&self) -> Result<Client> {
        let end = Instant::now() + ANSWER;
        loop {
            let connected = self.connect_now();
            let is_lack = |error: &Error| {
                matches!(error.errno, Errno::CONNREFUSED | Errno::CONNRESET | Errno::PIPE)
            };
            let error = connected.as_ref().err().and_then(|error| error.downcast_ref());
            let is_between = error.is_some_and(is_lack);
            if !is_between || Instant::now() >= end || !self.is_kept() {
                return connected;
            }
            std::thread::sleep(AGAIN);
        }
    }

    /// Connects to the manager that follows one which has died; none if the cluster is ending.
    pub fn connect_again(&self) -> Option<Client> {
        let end = Instant::now() + RETURN;
        loop {
            let connected = self.connect();
            if connected.is_ok() || Instant::now() >= end || !self.is_kept() {
                return connected.ok();
            }
            std::thread::sleep(AGAIN);
        }
    }

    /// Why nothing more is heard of a job that was waited for, where its cluster has ended.
    pub fn ended(&self, job: &JobName) -> Option<anyhow::Error> {
        let label = job.label();
        let why = || anyhow!("job {label} was ended: {TAKEN_DOWN}  [E305]");
        (!self.is_kept()).then(why)
    }

    /// Whether it is up, and not about to end.
    pub fn is_kept(&self) -> bool {
        matches!(self.runtime.state(&self.cluster), Ok(Some(State::Kept(_))))
    }

    fn connect_now(&self) -> Result<Client> {
        let directory = self.runtime.open(&self.cluster)?.ok_or_else(|| self.none_up())?;
        let tree = |view: &String| if view == "/" { "/".into() } else { format!("views/{view}") };
        let options = Options {
            deadline: Some(ANSWER),
            name: "the manager".into(),
            uname: std::env::var("USER").unwrap_or_default(),
            aname: self.view.as_ref().map(tree).unwrap_or_default(),
            ..Options::default()
        };
        let client = Client::connect(&directory.manager(), options)?;
        Ok(client.with_deadlines(Some(BUSY), None))
    }

    /// Whether a job gets a cluster of its own: none is up, neither one nor a view was named, and
    /// no job says so: it would leave its own cluster without a word, where that cannot be reached.
    ///
    /// # Errors
    /// The directory of clusters cannot be used.
    pub fn embeds(&self) -> Result<bool> {
        let absent = matches!(self.runtime.state(&self.cluster)?, None | Some(State::Dead));
        let is_whole = self.view.as_deref().is_none_or(|view| view == "/");
        let is_in_job = std::env::var_os("MUSTER_JOB").is_some();
        Ok(absent && is_whole && self.cluster == "default" && !is_in_job)
    }

    /// Another cluster of this user, as a whole.
    pub fn of(&self, cluster: &str) -> Context {
        let (runtime, cluster) = (self.runtime.clone(), cluster.to_owned());
        Context { runtime, cluster, view: Some("/".to_owned()) }
    }

    /// The job that this process is a part of, if it is one of this cluster.
    pub fn own_job(&self) -> Option<u32> {
        let set = |name: &str| std::env::var_os(name);
        let is_its = set("MUSTER_CLUSTER").is_some_and(|name| name == *self.cluster)
            && set("MUSTER_RUNTIME").is_some_and(|path| self.runtime.path() == Path::new(&path));
        let job = set("MUSTER_JOB").filter(|_| is_its)?;
        job.to_str()?.parse().ok()
    }

    /// Removes what crashes have left of clusters of one `muster run` each: nobody knows their
    /// names. A job leaves that to who is outside of it, and sees all of them.
    pub fn clear_dead(&self) {
        if std::env::var_os("MUSTER_JOB").is_none() {
            clear_dead(&self.runtime, EMBEDDED);
        }
    }

    /// One of so many nodes for this process alone or, with none, the cluster that is up.
    ///
    /// # Errors
    /// As [`Context::connect`] and [`embed`].
    pub fn for_job(&self, nodes: Option<usize>) -> Result<(Cluster, Option<Embedded>)> {
        if let Some(nodes) = nodes
            && nodes > NODES_HERE_MAX
        {
            bail!(
                "{nodes} nodes asked, but no cluster is up, and one for this job alone has \
                 {NODES_HERE_MAX} at most. Nothing was started. Use -N {NODES_HERE_MAX}  [E110]"
            );
        }
        self.clear_dead();
        let embedded = match nodes {
            Some(nodes) => {
                let mut progress = Progress::steps("nodes up", nodes);
                Some(embed(self, nodes, |up| progress.at(up as u64))?)
            }
            None => None,
        };
        let context = embedded.as_ref().map_or(self, |embedded| &embedded.context).clone();
        let client = match &embedded {
            Some(embedded) => embedded.client.clone(),
            None => self.connect()?,
        };
        // A cluster for one job is gone before anything could be remembered.
        let recipes = match &embedded {
            Some(_) => Recipes::default(),
            None => Recipes::remembered(self.runtime.path().join(&self.cluster).join("recipes")),
        };
        let connect = Arc::new(move || {
            context.connect_now().map_err(|error| match context.runtime.state(&context.cluster) {
                Ok(None | Some(State::Ending | State::Dead)) => {
                    Error::new(Errno::HOSTDOWN, TAKEN_DOWN)
                }
                _ => Error::new(Errno::NOTCONN, error.to_string()),
            })
        });
        Ok((Cluster { client, connect, recipes, name: None }, embedded))
    }

    /// Says behind what went wrong that the cluster runs another build than this one, if it does:
    /// they may mean different things by the same words.
    pub fn tell_other_build(&self) {
        if let Some(program) = self.runtime.other_build(&self.cluster) {
            let (name, program) = (&self.cluster, program.display());
            // Nobody may be there to read it.
            let _ = writeln!(
                std::io::stderr(),
                "muster: cluster {name} was brought up by another build of muster, {program}, \
                 which may not know what this one asks  [N120]"
            );
        }
    }

    fn silent(&self, error: &anyhow::Error) -> anyhow::Error {
        anyhow!(
            "the manager of cluster {} does not answer ({error}). Try again; muster down ends \
             it whatever its state  [E121]",
            self.cluster
        )
    }

    /// Names of the clusters that are up.
    pub fn all_up(&self) -> Vec<String> {
        let all = self.runtime.clusters().unwrap_or_default();
        all.into_iter().filter(|name| self.runtime.is_up(name).unwrap_or(false)).collect()
    }

    /// What is said where it is not up.
    pub fn none_up(&self) -> anyhow::Error {
        let others = self.all_up();
        match (others.first(), self.cluster.as_str()) {
            (None, "default") => anyhow!("no cluster is up; start one: muster up -N 4  [E120]"),
            (None, name) => {
                anyhow!("no cluster is up; start one: muster --cluster {name} up -N 4  [E120]")
            }
            (Some(other), name) => anyhow!(
                "no cluster {name} is up, but {}. Use it: muster --cluster {other} ...; or \
                 start one: muster --cluster {name} up -N 4  [E120]",
                others.join(", ")
            ),
        }
    }
}

/// Without the thread of connections nobody answers.
fn begin_connections() -> Result<()> {
    client::begin().map_err(|error| anyhow!("{}  [E125]", run::no_thread(&error).text))
}

/// What the manager's `status` says.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Version of the manager.
    pub version: String,
    /// How nodes are reached.
    pub transport: String,
    /// When it was brought up.
    pub started: f64,
    /// All nodes that have ever joined.
    pub nodes: Vec<NodeStatus>,
    /// All jobs, as their own `status` says.
    pub jobs: Vec<Value>,
}

/// What is said where the manager's words are not those of this build.
pub fn unlike(file: &str, error: &serde_json::Error) -> anyhow::Error {
    anyhow!(
        "the manager's {file} is not understood ({error}): use the muster that has brought the \
         cluster up  [E401]"
    )
}

/// A node in the manager's `status`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// `up` or something else.
    pub state: String,
    /// Where it is, in a cluster of several hosts.
    pub host: Option<String>,
    /// Its processor, while it is there.
    pub arch: Option<String>,
    /// Since when.
    pub since: Option<f64>,
    /// Why it is not up.
    pub why: Option<String>,
    /// Why it gets no jobs, if it gets none.
    pub drained: Option<String>,
}

impl NodeStatus {
    /// Whether it is there.
    pub fn is_up(&self) -> bool {
        self.state == "up"
    }
}

impl Status {
    /// Reads it; waits at most two seconds.
    ///
    /// # Errors
    /// When the manager does not answer, or with something else.
    pub fn read(client: &Client) -> Result<Status> {
        let text = client.with_deadlines(Some(ANSWER), Some(ANSWER)).read("status");
        let text = text.map_err(|error| anyhow!("{error}  [E401]"))?;
        serde_json::from_slice(&text).map_err(|error| unlike("status", &error))
    }

    /// Names of the nodes that are up.
    pub fn up(&self) -> Vec<&str> {
        self.nodes.iter().filter(|node| node.is_up()).map(|node| node.name.as_str()).collect()
    }
}

/// Names of the nodes of a cluster of `count`.
pub fn node_names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("n{number}")).collect()
}

/// Waits until the manager answers and all of `nodes` have joined. `alive` says early that it
/// is in vain; `host_of` is the host of a node that is not here.
///
/// # Errors
/// A sentence that names who is missing.
pub fn wait_until_joined(
    context: &Context,
    nodes: &[String],
    host_of: impl Fn(&str) -> Option<String>,
    mut alive: impl FnMut() -> Result<()>,
    mut progress: impl FnMut(usize),
) -> Result<Client> {
    begin_connections()?;
    let is_here = nodes.iter().all(|node| host_of(node).is_none());
    let patience = if is_here { JOIN.0 } else { JOIN.1 };
    let mut deadline = Instant::now() + patience;
    let mut most = 0;
    // A cluster that has just begun has no views.
    let whole = Context { view: None, ..context.clone() };
    let mut client: Option<Client> = None;
    let mut up: Vec<String> = Vec::new();
    loop {
        alive()?;
        if client.as_ref().is_none_or(|client| client.ended().is_some()) {
            client = whole.connect_now().ok();
        }
        if let Some(client) = &client
            && let Ok(status) = Status::read(client)
        {
            up = status.up().into_iter().map(str::to_owned).collect();
            if nodes.iter().all(|node| up.contains(node)) {
                return Ok(client.clone());
            }
        }
        // However many there are, it takes as long as it takes while they come in.
        if up.len() > most {
            (most, deadline) = (up.len(), Instant::now() + patience);
        }
        progress(up.len());
        if Instant::now() >= deadline {
            break;
        }
        std::thread::sleep(LOOK);
    }
    let missing = nodes.iter().filter(|node| !up.contains(node));
    let hosts: BTreeSet<String> = missing.clone().filter_map(|node| host_of(node)).collect();
    let (missing, s) = (fold(missing), patience.as_secs());
    let log = last_lines(context, 3);
    if client.is_none() {
        bail!("the manager did not answer within {s} s; nothing was left running.{log}  [E123]");
    }
    if !hosts.is_empty() {
        let hosts = fold(hosts);
        let directory = context.runtime.open(&context.cluster).ok().flatten();
        let at = directory.and_then(|it| Roster::of(&it).ok()?.manager_beyond());
        let at = at.map_or(String::new(), |at| {
            format!(" Nodes look for the manager at {at}; --address ADDRESS says another place.")
        });
        bail!(
            "{missing} on {hosts} did not join within {s} s, and nothing was left running. Is \
             there a firewall? Nodes and manager connect to each other, at ports of their \
             own.{at}{log}  [E123]"
        );
    }
    bail!("{missing} did not join within {s} s; nothing was left running.{log}  [E123]")
}

/// The end of a cluster's log, to be shown behind a sentence.
fn last_lines(context: &Context, count: usize) -> String {
    let directory = context.runtime.open(&context.cluster).ok().flatten();
    let text = directory.and_then(|directory| std::fs::read_to_string(directory.log()).ok());
    let text = text.unwrap_or_default();
    let lines: Vec<&str> = text.lines().rev().take(count).collect();
    let lines: Vec<&str> = lines.into_iter().rev().collect();
    if lines.is_empty() { String::new() } else { format!(" Its log: {}", lines.join(" | ")) }
}

/// A cluster of this process's own: it goes when this is dropped, or with the process.
pub struct Embedded {
    /// Its manager, with all nodes joined.
    pub client: Client,
    /// Its directory's name and place.
    pub context: Context,
    _keeper: Keeper,
}

/// Brings up a cluster for this process alone.
///
/// # Errors
/// A sentence: what could not be started, or who did not join.
pub fn embed(context: &Context, count: usize, progress: impl FnMut(usize)) -> Result<Embedded> {
    let cluster = format!("{EMBEDDED}{}", std::process::id());
    let context = Context { cluster, runtime: context.runtime.clone(), view: None };
    let plan = Plan::new(count, by_file());
    let keeper = Keeper::start(&context.runtime, &context.cluster, plan)?;
    let alive = || {
        let kept = matches!(context.runtime.state(&context.cluster), Ok(Some(State::Kept(_))));
        if kept { Ok(()) } else { bail!("the manager does not start  [E125]") }
    };
    let names = node_names(count);
    let client = wait_until_joined(&context, &names, |_| None, alive, progress)?;
    Ok(Embedded { client, context, _keeper: keeper })
}
/// How a command names a cluster, where it has to.
pub fn cluster_flag(name: &str) -> String {
    match name {
        "default" => String::new(),
        name => format!("--cluster {name} "),
    }
}
