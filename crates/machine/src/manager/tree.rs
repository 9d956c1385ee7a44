//! The files of the cluster (`docs/files.md`, section 2).

use super::Manager;
use super::clusters::SHOWN;
use super::input::{self, Input};
use super::job::{Job, Owner};
use super::launch::{self, Incoming};
use super::nodes::Link;
use super::overview;
use super::spec::{End, Phase, Status};
use super::views::Scope;
use crate::files::control::{self, Commands};
use crate::files::fixed::{Fixed, Named, find};
use crate::files::told::Told;
use crate::image;
use crate::node::signal;
use crate::output::Output;
use crate::slots::{Slots, check_slice};
use muster_base::limits::{SHARED_FIDS_MAX, SLOTS_MAX};
use muster_base::{nodeset, quote};
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::synthetic::{
    Dir, Entry, File, Handle, Inode, Snapshot, SynCall, Synthetic, slice,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Between the answer to `down` and the end of the manager.
const DOWN: Duration = Duration::from_millis(50);

/// The tree that a manager serves.
#[must_use]
pub fn of(manager: &Arc<Manager>) -> Synthetic {
    let scope = Scope::whole(manager);
    let (orders, slots, counted) = (scope.clone(), scope.clone(), scope.clone());
    let mut files = shown(&scope);
    files.extend([
        ("ctl", control::file(0o660, move || RootCtl(orders.clone())).entry()),
        (
            "scheduler",
            ctl(&scope, Manager::schedule_by, |manager| manager.queue.scheduler() + "\n"),
        ),
        (
            "heartbeat",
            ctl(&scope, |manager, line| manager.set_heartbeat(line), |it| it.heartbeat()),
        ),
        ("slots", control::file(0o660, move || SlotTable(slots.clone())).entry()),
        ("partitions", ctl(&scope, Manager::partition, |manager| manager.partitions())),
        ("images", image::tree::directory(&manager.images)),
        ("events", manager.events.file_of_lines(0o444).entry()),
        ("fabric", File::text(0o444, move || Ok(counted.manager()?.memory.tell())).entry()),
        (
            "views",
            Entry::Dir(Arc::new(ViewsDir { scope: scope.clone(), inode: Inode::new(0o555) })),
        ),
    ]);
    let root: Arc<dyn Dir> = Arc::new(Fixed { inode: Inode::new(0o555), files });
    Synthetic::with_homes(move |who| {
        // Who is named in views has these and no other tree, by whatever name he asks for it.
        let views = scope.manager()?.views_of(who.uname);
        let mut asked = who.aname.split('/').filter(|name| !name.is_empty());
        let of_views = (asked.next() == Some("views")).then(|| asked.next()).flatten();
        Ok(match views.first() {
            Some(_) if views.iter().any(|view| Some(&**view) == of_views) => root.clone(),
            Some(view) => view_dir(&scope.of(view)),
            None => root.clone(),
        })
    })
    .with_fids_max(SHARED_FIDS_MAX)
}

/// The files that a cluster has, and each view of it.
fn shown(scope: &Scope) -> Named {
    let (told, past, built) = (scope.clone(), scope.clone(), scope.clone());
    let history = move |_| {
        let lines = past.manager()?.history.read()?;
        Ok(Snapshot(if past.view().is_some() { seen(&past, &lines) } else { lines }))
    };
    vec![
        ("status", File::text(0o444, move || status(&told)).entry()),
        ("arches", File::text(0o444, move || arches(&built)).entry()),
        ("usage", overview::file(scope)),
        ("history", File::new(0o444, history).entry()),
        (
            "nodes",
            Entry::Dir(Arc::new(NodesDir { scope: scope.clone(), inode: scope.inode("nodes") })),
        ),
        ("jobs", Entry::Dir(Arc::new(JobsDir::new(scope)))),
    ]
}

/// The lines of the history that a view sees.
fn seen(scope: &Scope, lines: &[u8]) -> Vec<u8> {
    let is_seen = |line: &&[u8]| {
        let told: Option<Value> = serde_json::from_slice(line).ok();
        told.is_some_and(|told| {
            let id = told["id"].as_u64().and_then(|id| id.try_into().ok());
            id.is_some_and(|id| scope.has_job(id, told["view"].as_str()))
        })
    };
    let lines = lines.split_inclusive(|byte| *byte == b'\n').filter(is_seen);
    lines.flatten().copied().collect()
}

fn view_dir(scope: &Scope) -> Arc<dyn Dir> {
    let mut files = shown(scope);
    if !scope.clusters().is_empty() {
        let clusters = ClustersDir { scope: scope.clone(), inode: scope.inode("clusters") };
        files.push(("clusters", Entry::Dir(Arc::new(clusters))));
    }
    Arc::new(Fixed { inode: scope.inode("view"), files })
}

/// `clusters` of a view: others that it has.
struct ClustersDir {
    scope: Scope,
    inode: Inode,
}

impl Dir for ClustersDir {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        if !self.scope.clusters().contains(name) {
            return Ok(None);
        }
        let (scope, cluster) = (self.scope.clone(), name.to_owned());
        let inode = scope.inode(("cluster", name));
        Ok(Some(Entry::Dir(Arc::new(ClusterDir { scope, cluster, inode }))))
    }

    fn list(&self) -> Vec<String> {
        self.scope.clusters().into_iter().collect()
    }
}

/// One of them. It is there also while that cluster is not reached, for a listing leaves out what
/// fails, and nobody would miss it; its files fail then, and say why.
struct ClusterDir {
    scope: Scope,
    cluster: String,
    inode: Inode,
}

impl Dir for ClusterDir {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        let files = self.scope.manager()?.clusters.files(&self.cluster)?;
        Ok(find(&files, name))
    }

    fn list(&self) -> Vec<String> {
        SHOWN.map(str::to_owned).into()
    }
}

/// `views`: a tree for each, and the file that makes them.
struct ViewsDir {
    scope: Scope,
    inode: Inode,
}

impl Dir for ViewsDir {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        if name == "ctl" {
            let set = |manager: &Arc<Manager>, line: &str| manager.set_view(line);
            return Ok(Some(ctl(&self.scope, set, |manager| manager.views())));
        }
        let is_there = self.scope.manager()?.settings.get().views.contains_key(name);
        Ok(is_there.then(|| Entry::Dir(view_dir(&self.scope.of(name)))))
    }

    fn list(&self) -> Vec<String> {
        let Ok(manager) = self.scope.manager() else { return Vec::new() };
        let settings = manager.settings.get();
        std::iter::once("ctl".to_owned()).chain(settings.views.keys().cloned()).collect()
    }
}

/// How a line is obeyed, and what is told of all that was set so.
type Obey = fn(&Arc<Manager>, &str) -> Result<()>;
type Tell = fn(&Manager) -> String;

/// A file of something that is set by lines.
fn ctl(scope: &Scope, obey: Obey, tell: Tell) -> Entry {
    struct Ctl(Scope, Obey, Tell);
    impl Commands for Ctl {
        fn obey(&self, line: &str) -> Result<()> {
            (self.1)(&self.0.manager()?, line)
        }
        fn status(&self) -> String {
            self.0.manager().map_or_else(|_| String::new(), |manager| (self.2)(&manager))
        }
    }
    let scope = scope.clone();
    control::file(0o660, move || Ctl(scope.clone(), obey, tell)).entry()
}

/// The cluster in JSON.
fn status(scope: &Scope) -> Result<String> {
    let manager = scope.manager()?;
    // Of those that are done nobody who looks at all wants each rank.
    let told = |status: Status| match status.state {
        Phase::Done => status.summary(),
        _ => status,
    };
    let jobs: Vec<_> = scope.jobs().iter().map(|job| told(job.status())).collect();
    let mut nodes = manager.nodes.status(&manager.roster, &manager.settings.get().drained);
    nodes.retain(|node| node["name"].as_str().is_some_and(|name| scope.has_node(name)));
    let value = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "transport": manager.nodes.transport(),
        "started": manager.started,
        "nodes": nodes,
        "jobs": jobs,
    });
    Ok(format!("{value}\n"))
}

/// The nodes that jobs may have by their processors, in JSON: little to read before each job.
fn arches(scope: &Scope) -> Result<String> {
    let manager = scope.manager()?;
    let mut there = manager.nodes.linked();
    let settings = manager.settings.get();
    there.retain(|name| scope.has_node(name) && !settings.drained.contains_key(name));
    let known = manager.nodes.arches(there.iter());
    let mut alike: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in &there {
        alike.entry(&known[name]).or_default().push(name);
    }
    let sets = alike.into_iter().map(|(arch, names)| (arch, nodeset::fold(names)));
    Ok(serde_json::to_string(&sets.collect::<BTreeMap<_, _>>()).unwrap_or_default() + "\n")
}

struct NodesDir {
    scope: Scope,
    inode: Inode,
}

impl NodesDir {
    /// A node's tree, or that of the view there.
    fn tree_of(&self, link: &Link) -> Entry {
        let remote = link.remote.clone();
        match self.scope.view() {
            Some(view) => {
                let views = remote.place_of(&link.views);
                Entry::mount_below(remote, views, view)
            }
            None => {
                let (root, qid) = remote.root();
                Entry::mount(remote, root, qid)
            }
        }
    }
}

impl Dir for NodesDir {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        match self.scope.manager()?.nodes.link(name) {
            _ if !self.scope.has_node(name) => Ok(None),
            Ok(link) => Ok(Some(self.tree_of(&link))),
            Err(error) if error.errno == Errno::NOENT => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self) -> Vec<String> {
        let Ok(manager) = self.scope.manager() else { return Vec::new() };
        let there = manager.nodes.linked().into_iter();
        there.filter(|name| self.scope.has_node(name)).collect()
    }
}

struct JobsDir {
    scope: Scope,
    inode: Inode,
    clone: Entry,
}

impl JobsDir {
    fn new(scope: &Scope) -> JobsDir {
        struct Cloned(String, #[allow(dead_code, reason = "held, not read")] Owner);
        impl Handle for Cloned {
            fn read(&self, _: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
                Ok(slice(self.0.as_bytes(), offset, count).to_vec().into())
            }
        }
        let of_clone = scope.clone();
        let clone = File::new(0o444, move |_| {
            let job = of_clone.manager()?.new_job(of_clone.view().cloned())?;
            Ok(Cloned(job.id.to_string(), job.own()))
        });
        JobsDir { scope: scope.clone(), inode: scope.inode("jobs"), clone: clone.entry() }
    }
}

impl Dir for JobsDir {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        if name == "clone" {
            return Ok(Some(self.clone.clone()));
        }
        let Ok(id) = name.parse() else { return Ok(None) };
        let job = self.scope.manager()?.job(id);
        let job = job.filter(|job| self.scope.has_job(job.id, job.view.as_deref()));
        let job = job.filter(|job| job.id.to_string() == name);
        Ok(job.map(|job| Entry::Dir(job.directory(&self.scope))))
    }

    fn list(&self) -> Vec<String> {
        let jobs = self.scope.jobs();
        let numbers = jobs.iter().map(|job| job.id.to_string());
        std::iter::once("clone".to_owned()).chain(numbers).collect()
    }
}

impl Job {
    /// Its directory in a tree. What it shows of ranks is there once they have places.
    fn directory(self: &Arc<Job>, scope: &Scope) -> Arc<dyn Dir> {
        let job = self;
        let (told, ctl) = (job.clone(), job.clone());
        let (files, chunks) = (job.clone(), job.clone());
        let status =
            move || Ok(serde_json::to_string(&told.latest().status()).unwrap_or_default() + "\n");
        let mut named = vec![
            ("spec", job.spec.file(0o660).entry()),
            ("ctl", control::file(0o660, move || JobCtl::new(&ctl)).entry()),
            ("status", File::text(0o444, status).entry()),
            ("usage", overview::file_of(job)),
            ("files", File::new(0o220, move |_| Ok(Files::new(&files))).entry()),
            ("chunks", File::new(0o660, move |_| Ok(Chunks::new(&chunks))).entry()),
            ("stdin", Input::file(job, None)),
            ("begun", job.begun.file(0o444).entry()),
            ("wait", job.wait.file(0o444).entry()),
            ("notes", job.notes.file_of_lines(0o444).entry()),
        ];
        if let Some(placed) = job.placed.get() {
            for output in Output::BOTH {
                named.push((output.name(), placed.log.file(None, output).entry()));
            }
            named.push(("output", placed.log.row().entry()));
            named.push(("take", placed.log.take().entry()));
            let (scope, inode) = (scope.clone(), scope.inode(("ranks", job.id)));
            let ranks = RanksDir { job: job.clone(), scope, inode };
            named.push(("ranks", Entry::Dir(Arc::new(ranks))));
        }
        Arc::new(Fixed { inode: scope.inode(("job", job.id)), files: named })
    }
}

struct RanksDir {
    job: Arc<Job>,
    scope: Scope,
    inode: Inode,
}

impl Dir for RanksDir {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        let (Ok(rank), Some(placed)) = (name.parse::<usize>(), self.job.placed.get()) else {
            return Ok(None);
        };
        if rank >= placed.waits.count() || rank.to_string() != name {
            return Ok(None);
        }
        let job = self.job.clone();
        let status = move || {
            let status = job.latest().status();
            Ok(serde_json::to_string(&status.ranks.get(rank)).unwrap_or_default() + "\n")
        };
        let wait = placed.waits.of_rank(rank).unwrap_or_else(|| self.job.wait_of(rank));
        let mut named = vec![
            ("stdin", Input::file(&self.job, Some(rank))),
            ("status", File::text(0o444, status).entry()),
            ("wait", wait.file(0o444).entry()),
        ];
        for output in Output::BOTH {
            named.push((output.name(), placed.log.file(Some(rank), output).entry()));
        }
        if let Some(Some(hold)) = self.job.state().holds.get(rank) {
            let (root, qid) = hold.link.remote.place_of(&hold.session);
            named.push(("session", Entry::mount(hold.link.remote.clone(), root, qid)));
        }
        let dir = Fixed { inode: self.scope.inode(("rank", self.job.id, rank)), files: named };
        Ok(Some(Entry::Dir(Arc::new(dir))))
    }

    fn list(&self) -> Vec<String> {
        let ranks = self.job.placed.get().map_or(0, |placed| placed.waits.count());
        (0..ranks).map(|rank| rank.to_string()).collect()
    }
}

/// The cluster's `ctl`.
struct RootCtl(Scope);

impl Commands for RootCtl {
    fn obey(&self, line: &str) -> Result<()> {
        let manager = self.0.manager()?;
        let words = match quote::split(line) {
            Ok(words) => words,
            Err(error) => return fail(Errno::INVAL, error.to_string()),
        };
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["join", name, address, instance, arch, least] => {
                let (Ok(instance), Ok(least)) = (instance.parse(), least.parse()) else {
                    let text = format!("'{instance} {arch} {least}': not an instance, or no slice");
                    return fail(Errno::INVAL, text);
                };
                let least = Duration::from_micros(least);
                manager.join(name, address, (instance, arch, least))
            }
            ["lost", name, ref why @ ..] => {
                manager.lost(name, &why.join(" "));
                Ok(())
            }
            ["drain", nodes, ref why @ ..] => manager.drain(nodes, Some(&why.join(" "))),
            ["resume", nodes] => manager.drain(nodes, None),
            ["down"] => {
                // Whoever asked is answered first.
                let ending = manager.clone();
                manager.timer.after(DOWN, move || (ending.down)());
                Ok(())
            }
            _ => fail(
                Errno::INVAL,
                format!("'{line}' is no command of the manager; docs/files.md lists them"),
            ),
        }
    }

    fn status(&self) -> String {
        let Ok(manager) = self.0.manager() else { return String::new() };
        let nodes = manager.nodes.names().len();
        let jobs = manager.all_jobs().iter().filter(|job| !job.is_done()).count();
        format!("manager {}, {nodes} nodes, {jobs} jobs\n", env!("CARGO_PKG_VERSION"))
    }
}

/// The table of slots. A line is another one.
struct SlotTable(Scope);

impl Commands for SlotTable {
    fn obey(&self, line: &str) -> Result<()> {
        let invalid = |why: String| Error::new(Errno::INVAL, why);
        let slots: Slots = serde_json::from_str(line)
            .map_err(|error| invalid(format!("this is no table of slots: {error}  [E115]")))?;
        check_slice(slots.slice).map_err(invalid)?;
        if slots.slots.len() > SLOTS_MAX {
            let text = format!("{} slots, {SLOTS_MAX} at most  [E115]", slots.slots.len());
            return Err(invalid(text));
        }
        self.0.manager()?.strobe.set(&slots);
        Ok(())
    }

    fn status(&self) -> String {
        let Ok(manager) = self.0.manager() else { return String::new() };
        let (least, by) = manager.least_slice();
        let mut told = json!(manager.strobe.slots());
        told["least"] = json!(least);
        told["least_by"] = json!(by);
        format!("{told}\n")
    }
}

/// A job's `ctl`.
struct JobCtl {
    job: Arc<Job>,
    /// Set by `attach`: this fid owns the job.
    owner: Mutex<Option<Owner>>,
}

impl JobCtl {
    fn new(job: &Arc<Job>) -> JobCtl {
        JobCtl { job: job.clone(), owner: Mutex::default() }
    }
}

impl Commands for JobCtl {
    fn obey(&self, line: &str) -> Result<()> {
        let job = &self.job.latest();
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["start"] => launch::start(job),
            ["signal", name] => job.signal(signal(name)?),
            ["kill"] => {
                job.kill();
                Ok(())
            }
            ["end"] => {
                job.end(End::Killed, 143, "it was told to end");
                Ok(())
            }
            ["attach"] => {
                let before = self.owner.lock().expect("no holder panics").replace(job.own());
                drop(before);
                Ok(())
            }
            ["detach"] => {
                job.detach();
                Ok(())
            }
            ["drop", "output"] => job.drop_output(),
            ["close", "stdin"] => {
                input::close(job);
                Ok(())
            }
            ["resume", "stdin", offset] => match offset.parse() {
                Ok(offset) => input::resume(job, offset),
                Err(_) => fail(Errno::INVAL, format!("'{offset}' is no offset")),
            },
            _ => fail(
                Errno::INVAL,
                format!("'{line}' is no command of a job; docs/files.md lists them"),
            ),
        }
    }

    fn status(&self) -> String {
        self.job.id.to_string()
    }
}

/// `files`: relay records for all ranks.
struct Files {
    job: Arc<Job>,
    incoming: Arc<Mutex<Incoming>>,
}

impl Files {
    fn new(job: &Arc<Job>) -> Files {
        Files { job: job.clone(), incoming: Arc::new(Mutex::new(Incoming::new())) }
    }
}

impl Handle for Files {
    fn write(&self, call: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        let (job, incoming, data) = (self.job.clone(), self.incoming.clone(), data.to_vec());
        self.job.lane.answer(call, move || {
            incoming.lock().expect("no holder panics").push(&job, &data)?;
            Ok(data.len() as u32)
        })
    }
}

/// `chunks`: a read at the start tells which are wanted now, a write gives them.
struct Chunks {
    job: Arc<Job>,
    wanted: Told,
}

impl Chunks {
    fn new(job: &Arc<Job>) -> Chunks {
        Chunks { job: job.clone(), wanted: Told::on(&job.lane) }
    }
}

impl Handle for Chunks {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let job = self.job.clone();
        self.wanted.read(call, offset, count, move || Ok(launch::wanted(&job)? + "\n"))
    }

    fn write(&self, call: &mut SynCall<'_>, offset: u64, data: &[u8]) -> Answer<u32> {
        let (job, data) = (self.job.clone(), data.to_vec());
        self.job.lane.answer(call, move || {
            launch::give(&job, offset, &data)?;
            Ok(data.len() as u32)
        })
    }
}
