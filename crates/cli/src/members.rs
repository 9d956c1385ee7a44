//! Several clusters as one: what a view merges (`muster view create NAME --merge`).
//!
//! Commands go to the manager of each of them; its jobs and nodes are called `big.7` and `big.n3`
//! then, but those of the cluster whose view it is keep their names. A job is in one of the
//! clusters: [`choose`] says in which.

use crate::cluster::{Context, Status};
use crate::run::failure::exit;
use crate::run::program::Program;
use crate::run::{Failure, Wish, say};
use anyhow::{Result, bail};
use muster_base::nodeset;
use muster_machine::manager::spec::{Phase, Status as Job};
use muster_ninep::client::Client;
use muster_ninep::error::Errno;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A job as the user calls it: `7`, or `big.7` in cluster `big`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobName {
    cluster: Option<String>,
    /// Its number there.
    pub number: u32,
}

impl FromStr for JobName {
    type Err = String;

    fn from_str(text: &str) -> Result<JobName, String> {
        let (cluster, number) = match text.rsplit_once('.') {
            Some((cluster, number)) => (Some(cluster), number),
            None => (None, text),
        };
        let number = number.parse();
        let number = number.map_err(|_| "a job is a number, or CLUSTER.NUMBER".to_owned())?;
        if let Some(name) = cluster {
            muster_machine::keeper::check_name(name).map_err(|error| error.to_string())?;
        }
        Ok(JobName { cluster: cluster.map(str::to_owned), number })
    }
}

impl JobName {
    /// One of the cluster that is worked with.
    pub fn here(number: u32) -> JobName {
        JobName { cluster: None, number }
    }

    /// One of that cluster, or of the one that is worked with.
    pub fn of(cluster: Option<&str>, number: u32) -> JobName {
        JobName { cluster: cluster.map(str::to_owned), number }
    }

    /// Where it is. Who works in a view has no cluster but this one, as far as it is in the view,
    /// and those that the view merges with it.
    ///
    /// # Errors
    /// The view has no such cluster, or the manager does not answer.
    pub fn context(&self, context: &Context) -> Result<Context> {
        let Some(cluster) = self.cluster.as_ref().filter(|name| **name != context.cluster) else {
            return Ok(context.clone());
        };
        if let Some(view) = context.view.as_ref().filter(|view| *view != "/")
            && !merged(&context.connect()?)?.contains(cluster)
        {
            bail!(
                "there is no cluster {cluster} in view {view}. See: muster --view / view  [E117]"
            );
        }
        Ok(context.of(cluster))
    }

    /// The cluster that it names.
    pub fn cluster(&self) -> Option<&str> {
        self.cluster.as_deref()
    }

    /// What it is called.
    pub fn label(&self) -> String {
        label(self.cluster.as_deref(), self.number)
    }

    /// The command that lists all jobs of where it is.
    pub fn listing(&self) -> String {
        let cluster = self.cluster.as_ref().map(|cluster| format!("--cluster {cluster} "));
        format!("muster {}ps --all", cluster.unwrap_or_default())
    }
}

/// Connections to the clusters of jobs that are named: one to each.
#[derive(Default)]
pub struct Connections {
    /// None if it was in vain.
    made: BTreeMap<Option<String>, Option<Client>>,
}

impl Connections {
    /// That to the cluster of a job; none if the last try has failed.
    ///
    /// # Errors
    /// As [`Context::connect`], once for each cluster.
    pub fn to(&mut self, job: &JobName, context: &Context) -> Result<Option<Client>> {
        if let Some(made) = self.made.get(&job.cluster) {
            return Ok(made.clone());
        }
        let connected = job.context(context).and_then(|context| context.connect());
        self.made.insert(job.cluster.clone(), connected.as_ref().ok().cloned());
        connected.map(Some)
    }
}

/// What something of a cluster is called.
pub fn label(cluster: Option<&str>, name: impl fmt::Display) -> String {
    cluster.map_or_else(|| name.to_string(), |cluster| format!("{cluster}.{name}"))
}

/// What these of a cluster are called.
pub fn labels(cluster: Option<&str>, names: &[String]) -> Vec<String> {
    names.iter().map(|name| label(cluster, name)).collect()
}

/// One of the clusters.
pub struct Member {
    /// Its name; none of the one whose view it is.
    pub name: Option<String>,
    /// Where it is.
    pub context: Context,
    /// Connected to its manager.
    pub client: Client,
}

/// How long another cluster's manager may take to tell something: the others wait for it.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(2));

/// The clusters that are seen: the one of `context`, which `client` is connected to, and those that
/// its view merges with it. Of one that does not answer it is said that it is left out.
///
/// # Errors
/// The manager does not answer.
pub fn all(context: &Context, client: &Client) -> Result<Vec<Member>> {
    let (members, missed) = reached(context, client)?;
    missed.iter().for_each(|(name, why)| left_out(name, why));
    Ok(members)
}

/// Those that are not reached, and why.
type Missed = Vec<(String, String)>;

/// The same without a word: also which are not reached, and why.
///
/// # Errors
/// The manager does not answer.
pub fn reached(context: &Context, client: &Client) -> Result<(Vec<Member>, Missed)> {
    let own = Member { name: None, context: context.clone(), client: client.clone() };
    let (mut members, mut missed) = (vec![own], Vec::new());
    for name in merged(client)? {
        let context = context.of(&name);
        match (context.is_kept(), context.connect()) {
            (true, Ok(client)) => {
                let client = client.with_deadlines(PATIENCE, PATIENCE);
                members.push(Member { name: Some(name), context, client });
            }
            (true, Err(error)) => missed.push((name, format!("{error:#}"))),
            (false, _) => missed.push((name, "it is not up".to_owned())),
        }
    }
    Ok((members, missed))
}

/// The clusters that a view merges with its own.
fn merged(client: &Client) -> Result<Vec<String>> {
    let others = match client.readdir("clusters") {
        Err(error) if error.errno == Errno::NOENT => Vec::new(),
        read => read.map_err(|error| anyhow::anyhow!("{error}  [E401]"))?,
    };
    Ok(others.iter().map(|other| String::from_utf8_lossy(&other.name).into_owned()).collect())
}

fn left_out(name: &str, why: &str) {
    say(&format!("muster: {name} is left out: {why}  [N128]"));
}

impl Member {
    /// What it tells. If it does not though the view merges it, that is said, and the others go on.
    ///
    /// # Errors
    /// It is the one whose view it is.
    pub fn tell<T>(&self, ask: impl FnOnce(&Client) -> Result<T>) -> Result<Option<T>> {
        match (ask(&self.client), &self.name) {
            (Ok(told), _) => Ok(Some(told)),
            (Err(error), None) => Err(error),
            (Err(error), Some(name)) => {
                left_out(name, &format!("{error:#}"));
                Ok(None)
            }
        }
    }

    /// What a node that is called so is called in it, if it is one of its.
    fn bare<'a>(&self, name: &'a str) -> Option<&'a str> {
        match name.rsplit_once('.') {
            Some((cluster, node)) => (cluster == self.context.cluster).then_some(node),
            None => self.name.is_none().then_some(name),
        }
    }

    /// Those of these nodes that are its.
    fn own(&self, names: &[String]) -> Vec<String> {
        names.iter().filter_map(|name| self.bare(name)).map(str::to_owned).collect()
    }

    /// Its nodes that are seen, and all its jobs: a view does not show who else is on its nodes.
    fn status(&self) -> Result<Status> {
        let mut status = Status::read(&self.client)?;
        if self.name.is_none() {
            let whole = self.context.of(&self.context.cluster).connect();
            status.jobs = Status::read(&whole?)?.jobs;
        }
        Ok(status)
    }
}

/// What a cluster has for a job.
struct Room {
    /// Nodes that can run it.
    nodes: usize,
    /// Those of them on which no job is.
    idle: usize,
    jobs: usize,
}

impl Room {
    /// But for the nodes that the job does not want.
    fn of(status: &Status, program: &Program, except: &[String]) -> Room {
        let runs = |arch: Option<&str>| match (program, arch) {
            (Program::Here(all), Some(arch)) => {
                all.iter().any(|binary| binary.arch.is_none_or(|own| own == arch))
            }
            _ => true,
        };
        let can = |node: &&_| {
            let node: &&crate::cluster::NodeStatus = node;
            let takes = node.is_up() && node.drained.is_none() && !except.contains(&node.name);
            takes && runs(node.arch.as_deref())
        };
        let jobs = status.jobs.iter().filter_map(|job| serde_json::from_value(job.clone()).ok());
        // One that waits may get any nodes, one that has others is not in the way.
        let seen: HashSet<&String> = status.nodes.iter().map(|node| &node.name).collect();
        let is_there = |job: &Job| {
            let is_seen = |name: &String| seen.contains(name);
            job.state != Phase::Done && (job.nodes.is_empty() || job.nodes.iter().any(is_seen))
        };
        let jobs: Vec<Job> = jobs.filter(is_there).collect();
        let busy: HashSet<&String> = jobs.iter().flat_map(|job| &job.nodes).collect();
        let nodes = || status.nodes.iter().filter(can);
        let idle = nodes().filter(|node| !busy.contains(&node.name)).count();
        Room { nodes: nodes().count(), idle, jobs: jobs.len() }
    }
}

/// The cluster for a job that names nodes of it, `big.n[0-1]`; the names are those that they have
/// there then.
fn by_nodes(wish: &mut Wish, members: &[Member]) -> Option<Result<usize, Failure>> {
    let list = wish.spec.nodelist.as_ref()?;
    // What is no set of nodes is refused by the manager.
    let names = nodeset::expand(list).ok()?;
    let is_of = |member: &Member| names.iter().all(|name| member.bare(name).is_some());
    let Some(at) = members.iter().position(is_of) else {
        if members.len() == 1 {
            // The manager says what it lacks.
            return None;
        }
        let text = format!(
            "{list} are not nodes of one of the clusters that this view merges: a job is in one"
        );
        return Some(Err(Failure::told("E113", exit::OURS, &text)));
    };
    if names.iter().any(|name| name.contains('.')) {
        wish.spec.nodelist = Some(members[at].own(&names).join(","));
    }
    Some(Ok(at))
}

/// The nodes that a job does not want; none where they are no set: the manager refuses that.
fn excluded(wish: &Wish) -> Vec<String> {
    let list = wish.spec.exclude.as_ref();
    list.and_then(|list| nodeset::expand(list).ok()).unwrap_or_default()
}

/// Has a job exclude what is of the cluster that it is for, by the names that are used there.
fn exclude_of(wish: &mut Wish, member: &Member) {
    let names = excluded(wish);
    if !names.is_empty() {
        let own = member.own(&names);
        wish.spec.exclude = (!own.is_empty()).then(|| own.join(","));
    }
}

/// The cluster that a job is for, and whose names it has for nodes then.
///
/// # Errors
/// None has as many as it needs, or it names nodes of none or of several.
pub fn choose(wish: &mut Wish, members: &[Member]) -> Result<usize, Failure> {
    let is_ours = |name: &&String| members.iter().any(|member| member.bare(name).is_some());
    if let Some(name) = excluded(wish).iter().find(|name| !is_ours(name)) {
        let text = format!("{name} is no node of a cluster that is seen. See: muster nodes");
        return Err(Failure::told("E113", exit::OURS, &text));
    }
    let chosen = chosen(wish, members)?;
    exclude_of(wish, &members[chosen]);
    Ok(chosen)
}

/// The cluster that a job is for: of those that have the nodes for it the one where most of what it
/// wants is idle, then that with the fewest jobs, then that with most idle nodes at all; of equal
/// ones the first.
fn chosen(wish: &mut Wish, members: &[Member]) -> Result<usize, Failure> {
    if let Some(by_nodes) = by_nodes(wish, members) {
        return by_nodes;
    }
    if members.len() == 1 {
        return Ok(0);
    }
    let spec = &wish.spec;
    let wanted = spec.nodes.or(spec.ranks).unwrap_or(1);
    let least = spec.nodes.unwrap_or(1);
    let except = excluded(wish);
    let mut rooms = Vec::new();
    for (at, member) in members.iter().enumerate() {
        if let Ok(status) = member.status()
            && spec.partition.as_ref().is_none_or(|name| has_partition(member, name))
        {
            let except = member.own(&except);
            rooms.push((at, Room::of(&status, &wish.program, &except)));
        }
    }
    let fit = rooms.iter().filter(|(_, room)| room.nodes >= least);
    let best = fit.min_by_key(|(_, room)| {
        (std::cmp::Reverse(room.idle.min(wanted)), room.jobs, std::cmp::Reverse(room.idle))
    });
    if let Some((at, _)) = best {
        return Ok(*at);
    }
    let told = rooms.iter().map(|(at, room)| {
        let member = &members[*at];
        format!("{} has {}", member.context.cluster, room.nodes)
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let most = rooms.iter().map(|(_, room)| room.nodes).max().unwrap_or(0);
    let text = match (most, &spec.partition) {
        (0, Some(name)) => format!("no cluster of this view has a partition {name} with nodes"),
        (0, None) => format!("no cluster of this view has nodes that can run it ({told})"),
        _ => format!("{least} nodes asked, and a job is in one cluster: {told}. Use -N {most}"),
    };
    Err(Failure::told("E110", exit::OURS, &text))
}

/// Has what a job starts in it be of its own cluster.
///
/// # Errors
/// It names nodes of another.
pub fn keep(wish: &mut Wish, context: &Context, client: &Client) -> Result<(), Failure> {
    let own = Member { name: None, context: context.clone(), client: client.clone() };
    let list = wish.spec.nodelist.clone().unwrap_or_default();
    let others = |name: &String| name.contains('.');
    exclude_of(wish, &own);
    if by_nodes(wish, &[own]).is_none()
        && nodeset::expand(&list).is_ok_and(|all| all.iter().any(others))
    {
        let cluster = &context.cluster;
        let text = format!(
            "{list} are not nodes of cluster {cluster}: what a job starts is of its own cluster, \
             unless it is detached"
        );
        return Err(Failure::told("E113", exit::OURS, &text));
    }
    Ok(())
}

/// Whether a cluster has a partition of this name.
fn has_partition(member: &Member, name: &str) -> bool {
    let whole = member.context.of(&member.context.cluster);
    let text = whole.connect().ok().and_then(|client| client.read_to_string("partitions").ok());
    text.is_some_and(|text| text.lines().any(|line| line.split(' ').next() == Some(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_a_number_or_has_its_cluster_in_front() {
        let read = |text: &str| text.parse::<JobName>();
        assert_eq!(read("7").unwrap().label(), "7");
        assert_eq!(read("big.7").unwrap().label(), "big.7");
        assert_eq!(read("my.lab.12").unwrap().label(), "my.lab.12");
        for text in ["", "big", "big.", ".7", "a/b.7", "-1"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
