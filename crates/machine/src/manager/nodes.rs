//! The nodes of the cluster: who has joined, how to reach them, who is lost and why.
//!
//! A node daemon joins by a line in the manager's `ctl`; the manager then connects to it. It is
//! lost on evidence: that connection closes (its process is gone), or its keeper says how it died.
//! A daemon that lives although its connection has closed, since only that broke, is told to join
//! again through the global memory; whatever it ran is lost by then, so it is made to forget that
//! before it is taken in. Silence alone proves nothing: a node whose lease in the global memory has
//! ended gets no new jobs until it answers, since it would not hear of them. One that has not
//! answered for [`SILENCE`](super::presence::SILENCE) is *slow*, and whoever waits for it is told
//! so; what it runs goes on.

use super::Manager;
use super::beat::{Behind, behind};
use super::job::Job;
use super::overview::NodeOverview;
use super::place::Nodes as ByState;
use super::presence::{Closed, Coming, EVIDENCE, Heard, Presence, Way};
use super::steady;
use crate::launch::Order;
use crate::line;
use crate::memory::id_of;
use crate::roster::Roster;
use muster_fabric::primitive::Nodes as Set;
use muster_fabric::protocol::{NodeId, Time};
use muster_ninep::client::{Client, Fid, Options};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::remote::Remote;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use std::time::{Duration, Instant};

/// How long a node may take to answer a request that should be answered at once.
pub(super) const ANSWER: Duration = Duration::from_secs(5);

/// How long nodes may take to join a manager that was started again.
const REJOIN: Duration = Duration::from_secs(5);

/// Why a node is down that was there before this manager and has not come to it.
const AWAY: &str = "it has not come back after the manager was started again";

/// A connection to a node daemon.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) address: String,
    /// Which start of the daemon this is.
    pub(super) instance: u64,
    /// Its processor.
    pub(super) arch: String,
    /// The shortest slice that the strober of its machine keeps to.
    pub(super) least: Duration,
    /// Never blocks; for requests whose answers are followed.
    pub(super) client: Client,
    /// The node's tree, for mounting.
    pub(super) remote: Arc<Remote>,
    /// The node's tree once more for each view.
    pub(super) views: Fid,
}

impl Way for Arc<Link> {
    fn instance(&self) -> u64 {
        self.instance
    }

    fn is(&self, other: &Arc<Link>) -> bool {
        Arc::ptr_eq(self, other)
    }
}

#[derive(Default)]
struct Known {
    presence: Presence<Arc<Link>>,
    since: f64,
    /// How far behind the heartbeat it was when that was last told, if it is late.
    late: Option<Behind>,
    /// It and a node through which it is reached as a rule do not reach each other.
    is_apart: bool,
}

/// What is said of a node that is apart.
const APART: &str = "it and the node that passes on what it is told do not reach each other (a \
                     firewall, a cable); the manager tells it itself";

/// A node that was silent and answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Back {
    pub(super) name: String,
    /// After how long, if it was slow.
    pub(super) slow: Option<Duration>,
    /// It was late before it fell silent.
    pub(super) was_late: bool,
}

/// The table.
pub(super) struct Nodes {
    table: Mutex<BTreeMap<String, Known>>,
    coming: Mutex<Coming<String>>,
    joined: Condvar,
    /// When nodes could begin to join, or one came back last that was there before this manager.
    opened: Mutex<Option<Instant>>,
}

/// Orders `n2` before `n10`.
fn order(name: &str) -> (String, u64) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.to_owned(), name[stem.len()..].parse().unwrap_or(0))
}

impl Known {
    fn link(&self) -> Option<&Arc<Link>> {
        self.presence.link.as_ref()
    }

    /// How long it has not answered, if that means something.
    fn slow_for(&self) -> Option<Duration> {
        self.presence.slow_for(steady())
    }

    fn state(&self) -> &'static str {
        match (self.link(), self.slow_for()) {
            (None, _) => "down",
            (Some(_), Some(_)) => "slow",
            (Some(_), None) => "up",
        }
    }

    /// Whether it was there before this manager and has not come to it.
    fn is_away(&self) -> bool {
        self.presence.why.as_deref() == Some(AWAY)
    }

    /// What there is to say of it.
    fn remark(&self) -> Option<String> {
        let late = || self.late.filter(|_| self.link().is_some()).map(behind);
        let apart = || (self.is_apart && self.link().is_some()).then(|| APART.to_owned());
        let why = self.slow_for().map(silent_for).or_else(|| self.presence.why.clone());
        why.or_else(late).or_else(apart)
    }
}

/// When a daemon was started: that is its number, in nanoseconds. Its machine's clock may be ahead.
fn started(instance: u64) -> f64 {
    (instance as f64 / 1e9).min(super::now())
}

/// What is said of a slow node.
pub(super) fn silent_for(time: Duration) -> String {
    format!("has not answered for {} s", time.as_secs())
}

impl Nodes {
    /// A table in which some nodes are yet to come back.
    pub(super) fn expecting(names: impl Iterator<Item = String>) -> Nodes {
        let away = |name| {
            let presence = Presence::down(AWAY);
            (name, Known { presence, since: super::now(), ..Known::default() })
        };
        let table = Mutex::new(names.map(away).collect());
        let (coming, joined) = Default::default();
        Nodes { table, coming, joined, opened: Mutex::default() }
    }

    /// From now on nodes can join.
    pub(super) fn open(&self) {
        self.came_back();
    }

    /// They can, or one has come back: of thousands the last takes as long as it takes while they
    /// come in.
    fn came_back(&self) {
        *self.opened.lock().expect("no holder panics") = Some(Instant::now());
    }

    /// How long nodes may still take to come back: as long as they cannot, their time does not run.
    pub(super) fn rejoin_left(&self) -> Duration {
        let opened = *self.opened.lock().expect("no holder panics");
        REJOIN.saturating_sub(opened.map_or(Duration::ZERO, |at| at.elapsed()))
    }

    /// What is known of the death of a node that has not come to this manager.
    pub(super) fn death(&self, name: &str) -> Option<String> {
        let table = self.table();
        let known = table.get(name).filter(|known| known.link().is_none())?;
        known.presence.why.clone().filter(|why| why != AWAY)
    }

    /// Waits for those that are yet to come back: a job should not have to do without them.
    pub(super) fn await_back(&self) {
        let mut table = self.table();
        while table.values().any(Known::is_away) {
            let left = self.rejoin_left();
            if left.is_zero() {
                return;
            }
            table = self.joined.wait_timeout(table, left).expect("no holder panics").0;
        }
    }

    fn coming(&self) -> MutexGuard<'_, Coming<String>> {
        self.coming.lock().expect("no holder panics")
    }

    fn table(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.table.lock().expect("no holder panics")
    }

    /// Names of the nodes by their state, in order.
    pub(super) fn by_state(&self) -> ByState {
        let table = self.table();
        let mut all: Vec<(&String, &str)> =
            table.iter().map(|(name, known)| (name, known.state())).collect();
        all.sort_by_key(|(name, _)| order(name));
        let named = |wanted: &str| {
            let some = all.iter().filter(|(_, state)| *state == wanted);
            some.map(|(name, _)| (*name).clone()).collect()
        };
        ByState { up: named("up"), slow: named("slow"), down: named("down") }
    }

    /// Names of all nodes, in order.
    pub(super) fn names(&self) -> Vec<String> {
        self.named(|_| true)
    }

    /// Names of those that can be reached, be they slow, in order.
    pub(super) fn linked(&self) -> Vec<String> {
        self.named(|known| known.link().is_some())
    }

    fn named(&self, is_meant: impl Fn(&Known) -> bool) -> Vec<String> {
        let table = self.table();
        let some = table.iter().filter(|(_, known)| is_meant(known));
        let mut names: Vec<String> = some.map(|(name, _)| name.clone()).collect();
        names.sort_by_key(|name| order(name));
        names
    }

    /// The connection to a node.
    pub(super) fn link(&self, name: &str) -> Result<Arc<Link>> {
        match self.table().get(name) {
            Some(Known { presence: Presence { link: Some(link), .. }, .. }) => Ok(link.clone()),
            Some(known) => {
                let why = known.presence.why.as_deref().unwrap_or("it is not there");
                fail(Errno::HOSTDOWN, format!("{name} is down: {why}  [E114]"))
            }
            None => fail(Errno::NOENT, format!("there is no node {name}  [E113]")),
        }
    }

    /// The connections to nodes that are there, as far as they are wanted, in order.
    pub(super) fn links(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Arc<Link>> {
        let there = |known: &Known| known.presence.link.clone();
        let mut links: Vec<Arc<Link>> = self.table().values().filter_map(there).collect();
        links.retain(|link| is_wanted(&link.name));
        links.sort_by_key(|link| order(&link.name));
        links
    }

    /// The processors of some nodes, as far as they are up.
    pub(super) fn arches<'a>(
        &self,
        names: impl Iterator<Item = &'a String>,
    ) -> HashMap<String, String> {
        let table = self.table();
        let arch = |name: &String| Some(table.get(name)?.link()?.arch.clone());
        names.map(|name| (name.clone(), arch(name).unwrap_or_default())).collect()
    }

    /// Whether a node can be given jobs: one whose lease has ended cannot be told of them.
    pub(super) fn is_up(&self, name: &str) -> bool {
        self.table().get(name).is_some_and(|known| known.presence.is_up())
    }

    /// How long a node has not answered, if that means something.
    pub(super) fn slow_for(&self, name: &str) -> Option<Duration> {
        self.table().get(name).and_then(Known::slow_for)
    }

    /// Takes note of who is not among those that have a lease, though its daemon has not died: it
    /// was heard last so long ago. Who has just come to be silent, and who is back.
    pub(super) fn note_members(
        &self,
        has_lease: impl Fn(&str) -> bool,
        heard: Duration,
    ) -> (Vec<String>, Vec<Back>) {
        let (mut silent, mut back) = (Vec::new(), Vec::new());
        let now = steady();
        let heard = Time(now.0.saturating_sub(heard.as_nanos() as u64));
        for (name, known) in self.table().iter_mut() {
            match known.presence.heard(has_lease(name), heard, now) {
                Heard::Back(slow) => {
                    let was_late = known.late.take().is_some();
                    back.push(Back { name: name.clone(), slow, was_late });
                }
                Heard::Silent => silent.push(name.clone()),
                Heard::Same => {}
            }
        }
        (silent, back)
    }

    /// Takes note of who is late. Who has come to be that, and who no longer is: who is no member
    /// any more is silent, and is no less late because of that.
    pub(super) fn note_late(
        &self,
        late: &BTreeMap<String, Behind>,
        is_member: impl Fn(&str) -> bool,
    ) -> (Vec<String>, Vec<String>) {
        let (mut came, mut went) = (Vec::new(), Vec::new());
        for (name, known) in self.table().iter_mut() {
            let now = late.get(name).copied();
            let now = now.or(known.late.filter(|_| !is_member(name)));
            match (std::mem::replace(&mut known.late, now), now) {
                (None, Some(_)) => came.push(name.clone()),
                (Some(_), None) => went.push(name.clone()),
                _ => {}
            }
        }
        (came, went)
    }

    /// Takes note of who is apart. Who has come to be that.
    pub(super) fn note_apart(&self, is_apart: impl Fn(&str) -> bool) -> Vec<String> {
        let mut table = self.table();
        let come = |(name, known): (&String, &mut Known)| {
            let was = std::mem::replace(&mut known.is_apart, is_apart(name));
            (known.is_apart && !was).then(|| name.clone())
        };
        table.iter_mut().filter_map(come).collect()
    }

    /// Who is late, and how far, in order.
    pub(super) fn late(&self) -> Vec<(String, Behind)> {
        let table = self.table();
        let late = table.iter().filter_map(|(name, known)| Some((name.clone(), known.late?)));
        let mut late: Vec<(String, Behind)> = late.collect();
        late.sort_by_key(|(name, _)| order(name));
        late
    }

    /// What the nodes are reached by.
    pub(super) fn transport(&self) -> &'static str {
        let table = self.table();
        let links = table.values().filter_map(Known::link);
        let beyond = links.filter(|link| !link.address.starts_with("unix!")).count();
        if beyond > 0 { "tls" } else { "unix" }
    }

    /// All nodes, for `status`.
    pub(super) fn status(&self, roster: &Roster, drained: &BTreeMap<String, String>) -> Vec<Value> {
        let names = self.names();
        let table = self.table();
        let one = |name: String| {
            let known = table.get(&name)?;
            Some(json!({
                "name": name,
                "state": known.state(),
                "address": known.link().map(|link| link.address.clone()),
                "arch": known.link().map(|link| link.arch.clone()),
                "host": id_of(&name).and_then(|node| roster.host(node)),
                "since": known.since,
                "why": known.remark(),
                "drained": drained.get(&name),
                "losses": known.presence.losses,
            }))
        };
        names.into_iter().filter_map(one).collect()
    }
}

impl Nodes {
    /// Whether nothing is known yet of why a connection closed.
    fn waits_for_evidence(&self, link: &Arc<Link>) -> bool {
        let table = self.table();
        table.get(&link.name).is_some_and(|known| known.presence.waits_for_evidence(link))
    }

    /// All nodes, by what is known without asking them.
    pub(super) fn overview(&self, drained: &BTreeMap<String, String>) -> Vec<NodeOverview> {
        let table = self.table();
        let mut all: Vec<NodeOverview> = table
            .iter()
            .map(|(name, known)| NodeOverview {
                name: name.clone(),
                state: known.state().to_owned(),
                why: known.remark(),
                drained: drained.get(name).cloned(),
                ..NodeOverview::default()
            })
            .collect();
        all.sort_by_key(|node| order(&node.name));
        all
    }
}

impl Manager {
    /// A node daemon says that it is there: where, which start of it, with which processor, and the
    /// shortest slice there.
    pub(super) fn join(
        self: &Arc<Manager>,
        name: &str,
        address: &str,
        (instance, arch, least): (u64, &str, Duration),
    ) -> Result<()> {
        if !self.nodes.coming().comes(&name.to_owned(), instance) {
            return fail(Errno::AGAIN, format!("{name} is being taken in already"));
        }
        let taken = match self.is_connected(name, instance) {
            true => Ok(()),
            false => self.take_in(name, address, (instance, arch, least)),
        };
        self.nodes.coming().over(&name.to_owned(), instance);
        taken
    }

    /// Connects to a daemon that has joined.
    fn take_in(
        self: &Arc<Manager>,
        name: &str,
        address: &str,
        (instance, arch, least): (u64, &str, Duration),
    ) -> Result<()> {
        self.clean(name, instance)?;
        let at = line::read_address(address)?;
        let options =
            Options { deadline: Some(ANSWER), name: name.to_owned(), ..Options::default() };
        let client = line::connect("manager", &at, options)?;
        let told = client.read("instance")?;
        if String::from_utf8_lossy(&told).trim() != instance.to_string() {
            return fail(Errno::AGAIN, format!("another start of {name} answers there"));
        }
        let remote = Arc::new(Remote::new(&client, name));
        let views = client.walk("views")?;
        let link = Arc::new(Link {
            name: name.to_owned(),
            address: address.to_owned(),
            instance,
            arch: arch.to_owned(),
            least,
            client: client.never_blocking(),
            remote,
            views,
        });
        let (lost, why) = {
            let mut table = self.nodes.table();
            if !self.nodes.coming().is(&name.to_owned(), instance) {
                return fail(Errno::AGAIN, format!("{name} was started again since"));
            }
            let known = table.entry(name.to_owned()).or_default();
            // To a manager that was started again it comes as it has been all the time.
            let is_first = known.presence.is_new();
            let was_away = known.is_away();
            // It has joined twice at once: there is one way to it, by which all of it is reached.
            let Some(before) = known.presence.joined(link.clone()) else { return Ok(()) };
            known.since = if is_first { started(instance) } else { super::now() };
            (known.late, known.is_apart) = (None, false);
            if was_away {
                self.nodes.came_back();
            }
            before
        };
        self.weigh_slices();
        self.node_changed(name);
        self.nodes.joined.notify_all();
        lost.iter().for_each(|lost| self.ranks_lost(lost, &why));
        let (manager, weak) = (Arc::downgrade(self), Arc::downgrade(&link));
        client.on_close(move |_| {
            if let (Some(manager), Some(link)) = (manager.upgrade(), weak.upgrade()) {
                manager.closed(&link);
            }
        });
        self.event(json!({"event": "node up", "node": name, "address": address}));
        let jobs = self.all_jobs();
        jobs.iter().for_each(|job| job.node_joined(&link));
        Ok(())
    }

    /// Whether a daemon that joins is connected already, by a connection that it answers: it was
    /// told to join twice, or only lost its own way here. Where it does not answer, its connection
    /// is broken and nobody has told us: as good as closed.
    fn is_connected(self: &Arc<Manager>, name: &str, instance: u64) -> bool {
        let link = self.nodes.table().get(name).and_then(|known| known.link().cloned());
        let Some(link) = link.filter(|link| link.instance == instance) else { return false };
        if link.views.getattr().is_ok() {
            return true;
        }
        self.closed(&link);
        false
    }

    /// Has a node that was lost and comes back as the same daemon forget all that it ran there.
    fn clean(self: &Arc<Manager>, name: &str, instance: u64) -> Result<()> {
        let is_lost = {
            let table = self.nodes.table();
            table.get(name).is_some_and(|known| known.presence.is_lost(instance))
        };
        let Some(node) = id_of(name).filter(|_| is_lost) else { return Ok(()) };
        self.give_up(name);
        let to = Set::one(node);
        if self.memory.members_of(&to).is_empty() {
            return fail(Errno::AGAIN, format!("{name} does not belong to the global memory yet"));
        }
        let last = self.jobs().last;
        let (jobs, expected, only) = (Vec::new(), Vec::new(), Some(instance));
        let order = Order::Keep { last, jobs, expected, only };
        let (told, done) = mpsc::channel();
        self.mail.send(to, order, move |has_arrived| {
            // Nobody listens any more if it took too long.
            let _ = told.send(has_arrived);
        });
        match done.recv_timeout(ANSWER) {
            Ok(true) => Ok(()),
            // It may have left again since.
            Ok(false) | Err(_) => {
                fail(Errno::AGAIN, format!("{name} has not forgotten its jobs yet"))
            }
        }
    }

    /// Tells those of some nodes to join that were lost by their connections alone.
    pub(super) fn call_back(&self, nodes: &Set) {
        let lost: Vec<(NodeId, u64)> = {
            let table = self.nodes.table();
            let one = |(name, known): (&String, &Known)| {
                Some((id_of(name)?, known.presence.calls_back()?))
            };
            let of = table.iter().filter_map(one);
            of.filter(|(node, _)| nodes.contains(*node)).collect()
        };
        for (node, instance) in lost {
            self.mail.send(Set::one(node), Order::Join { instance }, |_| ());
        }
    }

    /// The connection to a node has closed.
    fn closed(self: &Arc<Manager>, link: &Arc<Link>) {
        let closed = {
            let mut table = self.nodes.table();
            table.get_mut(&link.name).and_then(|known| {
                let closed = known.presence.closed(link, steady())?;
                known.since = super::now();
                Some(closed)
            })
        };
        // Else another connection has taken its place, and what it ran was given up then.
        let Some(Closed { why, is_known }) = closed else { return };
        self.event(json!({"event": "node down", "node": link.name, "why": why}));
        self.weigh_slices();
        self.node_changed(&link.name);
        if is_known {
            self.give_up(&link.name);
        }
        let (manager, link) = (Arc::downgrade(self), link.clone());
        self.timer.after(EVIDENCE, move || {
            if let Some(manager) = manager.upgrade() {
                // By now the node may have come back and be lost once more: that has its own time.
                if manager.nodes.waits_for_evidence(&link) {
                    manager.give_up(&link.name);
                }
                manager.call_back(&id_of(&link.name).into_iter().collect());
            }
        });
    }

    /// Calls the ranks of a node that is down lost.
    fn give_up(self: &Arc<Manager>, name: &str) {
        let gone = {
            let mut table = self.nodes.table();
            table.get_mut(name).and_then(|known| known.presence.give_up())
        };
        if let Some((link, why)) = gone {
            self.ranks_lost(&link, &why);
        }
    }

    /// Somebody who knows tells how a node died. Its connection closes, too: if that was not seen
    /// yet, what was told waits for it.
    pub(super) fn lost(self: &Arc<Manager>, name: &str, why: &str) {
        let down = {
            let mut table = self.nodes.table();
            table.get_mut(name).is_some_and(|known| known.presence.told(why, steady()))
        };
        self.event(json!({"event": "node lost", "node": name, "why": why}));
        if down {
            self.give_up(name);
        }
    }

    fn ranks_lost(self: &Arc<Manager>, link: &Arc<Link>, why: &str) {
        let lose = |job: &Arc<Job>| job.node_lost(link, why);
        self.all_jobs().iter().for_each(lose);
    }
}
