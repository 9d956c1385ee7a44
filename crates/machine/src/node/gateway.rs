//! The gateways of this node's jobs: a rank that asks for its end of its job's gets it
//! ([`muster_fabric::gateway`]).
//!
//! Nothing is made for a job before the first of its ranks asks, or another node that wants to be
//! connected to this one: until then a job costs the list of its nodes, which its order has
//! brought. Then it has a [`gateway::Node`] with a thread of its own, until it is forgotten. The
//! number of a job is here that of its attempt, so those of one that begins again are kept apart.
//!
//! *Who is let in.* Processes of the daemon's user that descend from the rank's init, whatever
//! sessions, groups and namespaces they have made: orphans are that init's children. What they say
//! says only which rank that is to be. A rank is let in once.
//!
//! *Who connects.* Of two nodes the one that comes first in the job, when it makes its part: over
//! the line between daemons, as service `gateway JOB`. The other one asks it to in the same way if
//! it does not: its ranks may come late, or never. Over the network each is who its key says. Who
//! does not know that job hangs up, and is tried again for as long as a hello may take: its order
//! may be on the way.
//!
//! *Who may die when.*
//!
//! * A rank: its socket closes, and ranks of other nodes are told. Its job's part here stays, for
//!   what the rank has sent may still be on its way, and goes with the job.
//! * This daemon: its ranks die with it. The next one knows nothing of the job, nobody connects to
//!   it for that, and so the node is lost to ranks elsewhere, if they run on at all.
//! * Another node, or its daemon: connections to it end, and nobody answers; and where the job goes
//!   on without it the manager says so, which knows of a machine that is gone long before a
//!   connection over which nothing can be sent ends. A daemon that is only stopped is missed by
//!   nobody as long as its connections last, and for a minute where one has to be made again.
//! * The manager: nobody notices. The next one says which jobs are to be kept.
//!
//! Jobs that take turns: a rank that is stopped is one that is slow.

use super::binding::ranks_here;
use super::vote::{self, Ballot};
use super::{Node, Setup};
use crate::keeper::parent;
use crate::launch::{Part, session_of};
use crate::line::Others;
use crate::memory::{Memory, Vote, id_of, name_of};
use crate::roster::{Roster, check_peer, name_to, transport_of};
use muster_base::limits::{HELLO_TIME, HELLOS_MAX};
use muster_fabric::gateway::{self, Asking, Dial, Door, SERVICE, Shutter};
use muster_fabric::protocol::NodeId;
use muster_fabric::transport::{Hello, Lane, Peer};
use muster_fabric::{Deadline, Error};
use rustix::process::{Pid, geteuid};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How often a process's way to its init is followed while processes on it end.
const TRIES: usize = 3;

/// The pause after there were no descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Where ranks of a node ask: next to their sessions, and no longer than the path of any socket of
/// the cluster.
pub(super) fn path(setup: &Setup) -> PathBuf {
    setup.directory.join("gate")
}

/// The jobs that have ranks here.
#[derive(Default)]
pub(super) struct Gateways(Mutex<BTreeMap<u32, Job>>);

struct Job {
    /// What users and ranks call it.
    known_as: u32,
    nodes: Vec<Part>,
    /// Which of them this is.
    own: usize,
    /// Those of the others that are lost.
    lost: BTreeSet<usize>,
    /// If somebody has asked.
    door: Option<Arc<Door>>,
    /// If ranks here vote.
    ballot: Option<Arc<Ballot>>,
}

impl Gateways {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Job>> {
        self.0.lock().expect("no holder panics")
    }

    /// A job is to run on these nodes, of which this is one.
    pub(super) fn expect(&self, node: &Node, (job, known_as): (u32, u32), nodes: Vec<Part>) {
        let (name, instance) = (&node.setup.name, node.instance);
        let is_own = |part: &Part| part.node == *name && part.instance == instance;
        if let Some(own) = nodes.iter().position(is_own) {
            let (lost, door, ballot) = (BTreeSet::new(), None, None);
            self.lock().insert(job, Job { known_as, nodes, own, lost, door, ballot });
        }
    }

    /// A node of a job is lost, by its name and which start of it: nothing more comes of its ranks.
    pub(super) fn lose(&self, job: u32, (name, instance): (&str, u64)) {
        let mut jobs = self.lock();
        let Some(of) = jobs.get_mut(&job) else { return };
        let is_it = |part: &Part| part.node == name && part.instance == instance;
        if let Some(number) = of.nodes.iter().position(is_it).filter(|number| *number != of.own) {
            of.lost.insert(number);
            of.door.iter().for_each(|door| door.lose(number as u32));
        }
    }

    /// Some jobs are over.
    pub(super) fn forget(&self, is_meant: impl Fn(u32) -> bool) {
        self.lock().retain(|job, of| {
            let is_over = is_meant(*job);
            if let (true, Some(door)) = (is_over, &of.door) {
                door.end();
            }
            !is_over
        });
    }

    /// The attempts of a job that a rank here may be one of, with its number on this node.
    fn find(&self, (job, rank): (u32, u32)) -> Vec<(u32, u32)> {
        let jobs = self.lock();
        let of_job = jobs.iter().filter(|(_, of)| of.known_as == job);
        let local = |(job, of): (&u32, &Job)| {
            let Part { first, count, .. } = of.nodes[of.own];
            let local = (rank as usize).checked_sub(first).filter(|rank| *rank < count)?;
            Some((*job, local as u32))
        };
        of_job.filter_map(local).collect()
    }

    /// Where the ranks of a job here vote; made if there is none.
    ///
    /// # Errors
    /// Another job here has its variables.
    pub(super) fn ballot(&self, memory: &Arc<Memory>, job: u32) -> Result<Arc<Ballot>, String> {
        let mut jobs = self.lock();
        let vote = Vote::of(job);
        let of = jobs.get(&job).ok_or("the job has just ended")?;
        if let Some(ballot) = &of.ballot {
            return Ok(ballot.clone());
        }
        let mut ballots = jobs.values().filter_map(|of| of.ballot.as_ref());
        if ballots.any(|ballot| ballot.vote().quiet() == vote.quiet()) {
            return Err("another job here has this one's variables: too many vote".to_owned());
        }
        let nodes = vote::nodes_of(of.nodes.iter().map(|part| &part.node));
        let ballot = Arc::new(Ballot::new(memory, vote, nodes, of.nodes[of.own].count));
        if let Some(of) = jobs.get_mut(&job) {
            of.ballot = Some(ballot.clone());
        }
        Ok(ballot)
    }

    /// Which nodes of a job a peer may be, if any.
    fn nodes_of(&self, job: u32, peer: &Peer) -> Option<Range<u32>> {
        nodes_of(&self.lock().get(&job)?.nodes, peer)
    }

    /// The door of a job's gateway, which is made if there is none; none where the job is unknown.
    fn door(&self, node: &Node, job: u32) -> Option<muster_fabric::Result<Arc<Door>>> {
        let mut jobs = self.lock();
        let of = jobs.get_mut(&job)?;
        if let Some(door) = &of.door {
            return Some(Ok(door.clone()));
        }
        let made = make(&node.setup, job, of);
        of.door = made.as_ref().ok().cloned();
        Some(made)
    }
}

/// Makes a job's gateway and has it served.
fn make(setup: &Setup, job: u32, of: &Job) -> muster_fabric::Result<Arc<Door>> {
    let shape: Vec<u16> =
        of.nodes.iter().map(|part| part.count.try_into().unwrap_or(u16::MAX)).collect();
    let own = of.own as u32;
    let mut node = gateway::Node::new(own, &shape)?;
    node.share_machine(ranks_here(&of.nodes, &setup.home));
    let door = Arc::new(node.door()?);
    for (part, number) in of.nodes.iter().zip(0_u32..).filter(|(_, number)| *number != own) {
        let dial = dial(&setup.roster, &setup.name, &part.node, job);
        match dial.filter(|_| !of.lost.contains(&(number as usize))) {
            Some(dial) => node.keep_connected(number, dial),
            None => node.lose(number),
        }
    }
    let thread = Builder::new().name(format!("gateway {job}"));
    let failed = |source| Error::Exhausted { what: "threads", source };
    thread.spawn(|| node.serve()).map_err(failed)?;
    Ok(door)
}

/// How another node is reached for a job.
fn dial(roster: &Roster, from: &str, to: &str, job: u32) -> Option<Dial> {
    let at = roster.line(id_of(to)?)?;
    let (name, service) = (name_to(&at, from), format!("{SERVICE} {job}"));
    let hello = Hello { name, service, lane: Lane::Bulk };
    Some(Arc::new(move |deadline| {
        let adapter = transport_of(&at)?.connect(&at, &hello, deadline)?;
        check_peer(&at, adapter.peer())?;
        Ok(adapter)
    }))
}

/// Where ranks ask. Dropping it ends that.
pub(super) struct Desk {
    shutter: Shutter,
    thread: Option<JoinHandle<()>>,
}

impl Desk {
    /// Opens it.
    ///
    /// # Errors
    /// When its socket cannot be made, or no thread is left.
    pub(super) fn open(node: &Arc<Node>) -> io::Result<Desk> {
        let mut desk = gateway::Desk::open(&path(&node.setup)).map_err(io::Error::other)?;
        let (shutter, node) = (desk.shutter(), node.clone());
        let attend = move || {
            loop {
                match desk.next(Deadline::after(Duration::MAX)) {
                    Ok(asking) => answer(&node, asking),
                    Err(Error::Closed { .. }) => return,
                    Err(error) => {
                        let _ = writeln!(io::stderr(), "{}: {error}", node.setup.name);
                        std::thread::sleep(PAUSE);
                    }
                }
            }
        };
        let thread = Builder::new().name("gate".into()).spawn(attend)?;
        Ok(Desk { shutter, thread: Some(thread) })
    }

    /// What has other nodes connected to their jobs' gateways here.
    pub(super) fn others(node: &Arc<Node>) -> Others {
        let (node, places) = (node.clone(), Arc::new(()));
        Box::new(move |adapter| {
            let job = adapter.hello().service.strip_prefix(SERVICE).map(str::trim_start);
            let Some(job) = job.and_then(|job| job.parse().ok()) else { return };
            let Some(nodes) = node.gateways.nodes_of(job, adapter.peer()) else { return };
            if let Some(Ok(door)) = node.gateways.door(&node, job) {
                // Who has given up meanwhile tries again.
                let adopt = move || drop(door.adopt(adapter, nodes, Deadline::after(HELLO_TIME)));
                begin(&places, job, adopt);
            }
        })
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.shutter.close();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so; there is nothing more to end.
            let _ = thread.join();
        }
    }
}

/// Has a thread do it, each of which has one of the places, while there are fewer than
/// [`HELLOS_MAX`]. Who finds none, or no thread, tries again.
fn begin(places: &Arc<()>, job: u32, adopt: impl FnOnce() + Send + 'static) {
    let place = places.clone();
    // One is of who hands them out.
    if Arc::strong_count(&place) <= HELLOS_MAX + 1 {
        let adopt = move || {
            adopt();
            drop(place);
        };
        let _ = Builder::new().name(format!("gateway {job}")).spawn(adopt);
    }
}

/// Which of these nodes a peer may be: over the network the one whose key it has shown, within this
/// machine any, if it is of the daemon's user.
fn nodes_of(nodes: &[Part], peer: &Peer) -> Option<Range<u32>> {
    let Some(member) = &peer.member else {
        let is_own = peer.uid == Some(geteuid().as_raw());
        return is_own.then_some(0..nodes.len() as u32);
    };
    let name = name_of(NodeId(member.name.parse().ok()?));
    let at = nodes.iter().position(|part| part.node == name)? as u32;
    Some(at..at + 1)
}

/// Lets a rank in, or says why not.
fn answer(node: &Node, asking: Asking) {
    let found = rank_of(node, (asking.job, asking.rank), (asking.uid, asking.pid));
    let (job, local) = match found {
        Ok(found) => found,
        Err(why) => return asking.refuse(&why),
    };
    match node.gateways.door(node, job) {
        Some(Ok(door)) => door.let_in(local, asking),
        Some(Err(error)) => asking.refuse(&error.to_string()),
        None => asking.refuse("the job has just ended"),
    }
}

/// Sees whether a process is the rank that it says it is: its attempt, and its number here.
pub(super) fn rank_of(
    node: &Node,
    (job, rank): (u32, u32),
    (uid, pid): (u32, Option<u32>),
) -> Result<(u32, u32), String> {
    let name = &node.setup.name;
    if uid != geteuid().as_raw() {
        return Err(format!("{name} belongs to another user than {uid}"));
    }
    let found = node.gateways.find((job, rank));
    if found.is_empty() {
        return Err(format!("{name} runs no rank {rank} of a job {job}"));
    }
    let is_its = |&(job, local): &(u32, u32)| {
        let session = node.session(session_of(job, local as usize));
        let init = session.and_then(|files| files.session().init());
        init.zip(pid).is_some_and(|(init, pid)| descends(pid, init))
    };
    found.into_iter().find(is_its).ok_or_else(|| {
        let who = pid.map_or_else(|| "it".to_owned(), |pid| format!("process {pid}"));
        format!("{who} does not belong to rank {rank} of job {job}")
    })
}

/// Whether a process is another's descendant.
fn descends(pid: u32, from: u32) -> bool {
    let raw = |pid: u32| pid.try_into().ok().and_then(Pid::from_raw);
    let Some((pid, from)) = raw(pid).zip(raw(from)) else { return false };
    let has_come = || std::iter::successors(Some(pid), |at| parent(*at)).any(|at| at == from);
    // One on the way may end while it is looked at: its children are others' then.
    (0..TRIES).any(|_| has_come())
}

#[cfg(test)]
mod tests {
    use super::*;
    use muster_fabric::transport::Protection;
    use muster_fabric::transport::socket::{Identity, Member};
    use std::sync::mpsc::{channel, sync_channel};

    #[test]
    fn over_the_network_a_peer_is_the_node_whose_key_it_has_and_no_other() {
        let part = |node: &str| Part { node: node.into(), instance: 1, first: 0, count: 1 };
        let nodes = [part("n7"), part("n0"), part("n3")];
        let of = |peer: &Peer| nodes_of(&nodes, peer);
        let tls = Peer::new("4.n3".into(), Protection::Tls);
        let key = Identity::from_secret(&[1; 32]).public_key();
        let member = |name: &str| {
            let member = Some(Member { name: name.into(), key });
            of(&Peer { member, ..tls.clone() })
        };
        assert_eq!((member("1"), member("4"), member("8")), (Some(1..2), Some(2..3), Some(0..1)));
        // The manager, a node without a part, and one that has shown no key.
        assert_eq!((member("0"), member("2"), of(&tls)), (None, None, None));
        let here = Peer::new("n3".into(), Protection::Local);
        let user = |uid: u32| of(&Peer { uid: Some(uid), ..here.clone() });
        assert_eq!(user(geteuid().as_raw()), Some(0..3));
        assert_eq!((user(geteuid().as_raw() + 1), of(&here)), (None, None));
    }

    #[test]
    fn no_more_than_so_many_that_come_for_gateways_are_waited_for_at_once() {
        let places = Arc::new(());
        let (begun, seen) = channel();
        let mut silent = Vec::new();
        for _ in 0..HELLOS_MAX {
            let (ends, wait) = sync_channel::<()>(0);
            let begun = begun.clone();
            begin(&places, 1, move || {
                begun.send(true).expect("the test waits");
                // Until the test drops the other end.
                let _ = wait.recv();
            });
            silent.push(ends);
        }
        silent.iter().for_each(|_| assert!(seen.recv().expect("it has begun")));
        let one_more = || {
            let begun = begun.clone();
            begin(&places, 1, move || begun.send(false).expect("the test waits"));
        };
        one_more();
        drop(silent.pop());
        while Arc::strong_count(&places) > HELLOS_MAX {
            std::thread::yield_now();
        }
        one_more();
        drop(silent);
        drop(begun);
        assert_eq!(seen.iter().collect::<Vec<_>>(), [false], "the one that found a place");
    }
}
