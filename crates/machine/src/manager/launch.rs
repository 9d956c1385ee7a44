//! From a job's `spec` to running programs: place, sessions, files, exec. All or nothing: if any
//! rank cannot be started, none is left.

use super::hold::Hold;
use super::job::{Job, Placed, State};
use super::journal::{self, Record};
use super::log::JobLog;
use super::nodes::{ANSWER, Link};
use super::pieces::{Failed, Pieces};
use super::place::{Place, place};
use super::spec::{End, Phase, Spec};
use super::{Manager, follow, report};
use crate::launch::{Launch, Order, Part, Rank, exit_in, is_light, session_of};
use crate::memory::{Letter, id_of};
use crate::relay::fan::Fan;
use crate::relay::format::{BadStream, Parser, Sink, Target};
use crate::relay::pack::Load;
use muster_base::limits::LETTER_MAX;
use muster_base::quote;
use muster_fabric::Deadline;
use muster_fabric::primitive::Nodes;
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::tree::OpenFlags;
use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

/// Nodes that the manager sends a job's files to directly; they pass them on.
const ARITY: usize = 2;

/// How long programs may take to run once their files are there.
const START: Duration = Duration::from_secs(40);

/// Where programs are found if the job's environment does not say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

fn invalid(text: impl Into<String>) -> Error {
    Error::new(Errno::INVAL, text.into())
}

fn gone<T>() -> Result<T> {
    fail(Errno::IO, "the manager is ending")
}

pub(super) fn ended() -> Error {
    Error::new(Errno::CANCELED, "the job was ended while it was being started")
}

/// Gives the ranks places and sessions, unless they have them already. Ranks that read have
/// sessions that the manager takes hold of; all others are light.
fn prepare(job: &Arc<Job>) -> Result<()> {
    if job.state().progress.phase() != Phase::New {
        return Ok(());
    }
    let Some(manager) = job.manager.upgrade() else { return gone() };
    let spec: Spec = serde_json::from_str(&job.spec.get()?)
        .map_err(|error| invalid(format!("the job's spec is not right: {error}  [E112]")))?;
    let (up, down) = manager.nodes.names();
    let places = place(&spec, &up, &down).map_err(invalid)?;
    // An order is one letter: what does not fit there goes by the sessions' files.
    let (argv, env) = texts(job, &spec, places.len());
    let is_long = (argv.len() + env.len()) * 2 + places.len() * 64 > LETTER_MAX / 2;
    let is_held = |rank: &usize| is_long || spec.stdin.includes(*rank);
    let held: Vec<usize> = (0..places.len()).filter(is_held).collect();
    let opened = open_sessions(&manager, &spec, &places, &held)?;
    let placed =
        named(&manager, job.id, &places, &opened).inspect_err(|_| wipe(opened.values()))?;
    let sessions: Vec<u32> = placed.iter().map(|rank| rank.session).collect();
    let instances = placed.iter().map(|rank| rank.instance).collect();
    let record = Record::Placed { job: job.id, spec: Box::new(spec.clone()), ranks: placed };
    let log =
        manager.record(&record).and_then(|()| JobLog::open(&manager.log_of(job.id), places.len()));
    let log = log.inspect_err(|_| wipe(opened.values()))?;
    let waits = vec![(); places.len()].into_iter().map(|()| Default::default()).collect();
    let _ = job.placed.set(Placed { log, waits });
    let mut state = job.state();
    if state.progress.phase() != Phase::New {
        drop(state);
        wipe(opened.values());
        return Err(ended());
    }
    state.instances = instances;
    state.followed = vec![3; places.len()];
    let mut opened = opened;
    state.holds = (0..places.len()).map(|rank| Some(opened.remove(&rank)?.1)).collect();
    state.claimed = state.holds.iter().map(Option::is_some).collect();
    state.progress.placed(places, sessions, spec.keep_going);
    state.spec = Some(spec);
    Ok(())
}

/// Where each rank is and in which session, as the journal has it.
fn named(
    manager: &Manager,
    job: u32,
    places: &[Place],
    opened: &Opened,
) -> Result<Vec<journal::Placed>> {
    let each = |(rank, place): (usize, &Place)| {
        let (session, instance) = match opened.get(&rank) {
            Some((session, hold)) => (*session, hold.link.instance),
            None => (session_of(job, place.local), manager.nodes.link(&place.node)?.instance),
        };
        let (node, local) = (place.node.clone(), place.local);
        Ok(journal::Placed { node, local, session, instance })
    };
    places.iter().enumerate().map(each).collect()
}

fn wipe<'a>(opened: impl Iterator<Item = &'a (u32, Hold)>) {
    for (_, hold) in opened {
        hold.ctl.write_then(0, b"wipe\n", |_| ());
    }
}

/// The sessions that the manager has taken hold of, by rank.
type Opened = BTreeMap<usize, (u32, Hold)>;

/// The sessions of one node, by rank.
type OfNode = Result<Vec<Result<(usize, (u32, Hold))>>>;

/// What a node's failure to open a session is called.
fn unanswered(error: Error, node: &str) -> Error {
    if error.errno != Errno::TIMEDOUT {
        return error.at(node);
    }
    let text = format!(
        "{node} has not answered for {ANSWER:?}; it is stopped or overloaded. See: muster nodes, \
         or leave it out with -w  [E306]"
    );
    Error::new(Errno::TIMEDOUT, text)
}

/// Opens sessions for some ranks; on each node one after another, on all nodes at once.
fn open_sessions(
    manager: &Manager,
    spec: &Spec,
    places: &[Place],
    ranks: &[usize],
) -> Result<Opened> {
    let mut by_node: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for rank in ranks {
        by_node.entry(&places[*rank].node).or_default().push(*rank);
    }
    let all = std::thread::scope(|scope| {
        let start = |(node, ranks): (&&str, &Vec<usize>)| {
            let (link, ranks) = (manager.nodes.link(node), ranks.clone());
            std::thread::Builder::new().spawn_scoped(scope, move || {
                let link = link?;
                let each = |rank: usize| {
                    let opened = open_session(&link, rank, places[rank].local, spec);
                    opened.map(|hold| (rank, hold)).map_err(|error| unanswered(error, &link.name))
                };
                Ok(ranks.into_iter().map(each).collect::<Vec<_>>())
            })
        };
        let threads: Vec<_> = by_node.iter().map(start).collect();
        let joined = |thread: std::io::Result<ScopedJoinHandle<'_, OfNode>>| match thread {
            Ok(thread) => thread.join().expect("it does not panic"),
            Err(error) => Err(error.into()),
        };
        threads.into_iter().map(joined).collect::<Vec<_>>()
    });
    let mut opened = Opened::new();
    let mut failed = None;
    for result in all {
        match result {
            Err(error) => failed = Some(error),
            Ok(some) => {
                for one in some {
                    match one {
                        Ok((rank, hold)) => drop(opened.insert(rank, hold)),
                        Err(error) => failed = Some(error),
                    }
                }
            }
        }
    }
    match failed {
        None => Ok(opened),
        Some(error) => {
            wipe(opened.values());
            Err(error)
        }
    }
}

fn open_session(link: &Arc<Link>, rank: usize, local: usize, spec: &Spec) -> Result<(u32, Hold)> {
    let root = link.client.root();
    let clone = root.walk(&[b"clone"])?;
    clone.open(OpenFlags::default())?;
    let number = String::from_utf8_lossy(&clone.read_at(0, 32)?).into_owned();
    let dir = root.walk(&[number.as_bytes()])?;
    let ctl = dir.walk(&[b"ctl"])?;
    ctl.open(OpenFlags(OpenFlags::RDWR))?;
    let reads = spec.stdin.includes(rank);
    let close = if reads { "" } else { "close stdin\n" };
    // Not persistent yet: it goes with this connection until the journal knows of it.
    let setup = format!("id {rank}/{local}\n{close}");
    ctl.write_at(0, setup.as_bytes())?;
    if let Some(directory) = &spec.chdir {
        // Behind what the node's administrator has every session do.
        let ns = dir.walk(&[b"ns"])?;
        ns.open(OpenFlags(OpenFlags::WRONLY))?;
        let line = format!("cd {}\n", quote::quote(directory));
        ns.write_at(ns.getattr()?.size, line.as_bytes())?;
    }
    let stdin = if reads {
        let stdin = dir.walk(&[b"stdin"])?;
        stdin.open(OpenFlags(OpenFlags::WRONLY))?;
        Some(stdin)
    } else {
        None
    };
    let session = number.parse().map_err(|_| invalid("the node's clone gave no number"))?;
    Ok((session, Hold { link: link.clone(), session: dir, ctl, stdin }))
}

/// What every rank's `argv` and `env` are.
fn texts(job: &Job, spec: &Spec, ranks: usize) -> (String, String) {
    let mut env = spec.env.clone();
    env.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
    env.insert("MUSTER_SIZE".to_owned(), ranks.to_string());
    env.insert("MUSTER_JOB".to_owned(), job.id.to_string());
    let line = |(name, value): (&String, &String)| {
        format!("{}\n", quote::quote(&format!("{name}={value}")))
    };
    (format!("{}\n", quote::join(&spec.argv)), env.iter().map(line).collect())
}

/// What all ranks get, on its way: to those that the manager has hold of through a few nodes, which
/// pass it on, to the light ones in pieces.
pub(super) struct Sending {
    fan: Fan,
    pieces: Option<Pieces>,
}

impl Sending {
    /// Begins. Without files the light ranks get nothing now.
    fn begin(job: &Arc<Job>, with_files: bool) -> std::result::Result<Sending, Failed> {
        prepare(job).map_err(|error| (None, error))?;
        let (fan, load, order) = {
            let state = job.state();
            let (Some(spec), Phase::Starting) = (&state.spec, state.progress.phase()) else {
                let why = "the job has been started or ended already";
                return Err((None, Error::new(Errno::CANCELED, why)));
            };
            let target = |(rank, hold): (usize, &Option<Hold>)| {
                let session = state.progress.ranks()[rank].session;
                let address = hold.as_ref()?.link.address.clone();
                Some(Target { address, sessions: vec![session] })
            };
            let targets = state.holds.iter().enumerate().filter_map(target).collect();
            // The records that every rank gets before its files.
            let (argv, env) = texts(job, spec, state.holds.len());
            let mut load = Load::new();
            load.argv(&argv);
            load.env(&env);
            (Fan::open(ARITY, targets), load, order(job, &state).filter(|_| with_files))
        };
        push_all(&fan, load, !with_files).map_err(|error| (None, error))?;
        let pieces = order.map(|(set, launch)| make(job, set, launch)).transpose();
        Ok(Sending { fan, pieces: pieces? })
    }

    fn push(&mut self, job: &Job, bytes: &[u8]) -> std::result::Result<(), Failed> {
        self.fan.push(&Arc::from(bytes));
        self.pieces.as_mut().map_or(Ok(()), |pieces| pieces.push(job, bytes))
    }

    /// Waits until everything has arrived everywhere. Whether light ranks have sessions by now.
    fn finish(self, job: &Arc<Job>) -> std::result::Result<bool, Failed> {
        let is_made = self.pieces.is_some();
        if let Some(pieces) = self.pieces {
            pieces.finish(job)?;
        }
        let sent = self.fan.finish();
        let Some(first) = sent.failures.first() else { return Ok(is_made) };
        let more = sent.failures.len() + sent.orphans.len() - 1;
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        let node = name_of(job, &first.target);
        let why = &first.why;
        let text = format!("the job's files did not reach {node}{others}: {why}  [E205]");
        Err((None, Error::new(Errno::IO, text)))
    }
}

/// Has the light ranks' sessions made, and begins to send their files.
fn make(job: &Job, set: Nodes, launch: Launch) -> std::result::Result<Pieces, Failed> {
    let whole = |error: Error| (None, error);
    let Some(manager) = job.manager.upgrade() else { return gone().map_err(whole) };
    let pieces = Pieces::new(manager, job, set.clone())?;
    let order = Order::Make { launch, shipment: pieces.shipment() };
    let sent = send_order(job, &set, &order).map_err(whole)?;
    sent.arrive(Deadline::after(ANSWER)).map_err(|error| whole(not_ordered(&error)))?;
    Ok(pieces)
}

fn push_all(fan: &Fan, load: Load, with_end: bool) -> Result<()> {
    let mut packer = load.stream();
    let mut chunk = Vec::new();
    let unread = |error: crate::relay::pack::PackError| Error::new(Errno::IO, error.to_string());
    while packer.next_chunk(&mut chunk).map_err(unread)? {
        if !with_end && chunk.ends_with(b"end\n") {
            chunk.truncate(chunk.len() - 4);
        }
        fan.push(&Arc::from(&chunk[..]));
    }
    Ok(())
}

/// Files for the ranks as the job's client sends them.
pub(super) struct Incoming {
    parser: Parser,
    has_begun: bool,
}

impl Incoming {
    pub(super) fn new() -> Incoming {
        Incoming { parser: Parser::new(), has_begun: false }
    }

    /// Checks the next piece and passes it on.
    pub(super) fn push(&mut self, job: &Arc<Job>, bytes: &[u8]) -> Result<()> {
        let taken = {
            let mut state = job.state();
            if state.launching {
                return fail(Errno::BUSY, "the job is started: it takes no more files");
            }
            state.sending.take()
        };
        let mut sending = match taken {
            Some(sending) => sending,
            None if self.has_begun => return Err(ended()),
            None => {
                self.has_begun = true;
                Sending::begin(job, true).map_err(|failed| start_failed(job, failed))?
            }
        };
        let checked = self.parser.push(bytes, &mut Check);
        if checked.is_ok() {
            sending.push(job, bytes).map_err(|failed| start_failed(job, failed))?;
        }
        let mut state = job.state();
        if state.progress.phase() != Phase::Starting {
            drop(state);
            drop(sending);
            job.forget_again();
            return Err(ended());
        }
        state.sending = Some(sending);
        state.files_end = self.parser.is_done();
        checked.map_err(|error| invalid(error.to_string()))
    }
}

/// Takes note of nothing: the parser's own checks are wanted.
struct Check;

impl Sink for Check {
    type Error = BadStream;

    fn relay(&mut self, _: u32, _: Vec<Target>) -> std::result::Result<(), BadStream> {
        Err(BadStream::Header("relay".to_owned()))
    }
    fn argv(&mut self, _: &str) -> std::result::Result<(), BadStream> {
        Ok(())
    }
    fn env(&mut self, _: &str) -> std::result::Result<(), BadStream> {
        Ok(())
    }
    fn dir(&mut self, _: &str, _: u32) -> std::result::Result<(), BadStream> {
        Ok(())
    }
    fn link(&mut self, _: &str, _: &[u8]) -> std::result::Result<(), BadStream> {
        Ok(())
    }
    fn file(&mut self, _: &str, _: u32, _: u64) -> std::result::Result<(), BadStream> {
        Ok(())
    }
    fn data(&mut self, _: &[u8]) -> std::result::Result<(), BadStream> {
        Ok(())
    }
    fn file_end(&mut self) -> std::result::Result<(), BadStream> {
        Ok(())
    }
    fn end(&mut self) -> std::result::Result<(), BadStream> {
        Ok(())
    }
}

/// Starts the job: `start` of its `ctl`.
pub(super) fn start(job: &Arc<Job>) -> Result<()> {
    {
        let mut state = job.state();
        let early = matches!(state.progress.phase(), Phase::New | Phase::Starting);
        if !early || std::mem::replace(&mut state.launching, true) {
            return fail(Errno::BUSY, "the job has been started or ended already");
        }
    }
    let done = deliver(job).and_then(|is_made| execute(job, is_made));
    if let Err(failed) = done {
        return Err(start_failed(job, failed));
    }
    job.started();
    job.hear_early();
    Ok(())
}

/// Ends a job that cannot be started.
fn start_failed(job: &Arc<Job>, (rank, error): Failed) -> Error {
    let text = error.to_string();
    let mut state = job.state();
    if state.progress.phase() == Phase::New {
        drop(state);
        job.end(End::Failed, exit_in(&text), &text);
    } else {
        let actions = state.progress.start_failed(rank, exit_in(&text), &text);
        job.act(state, actions);
        job.forget_again();
    }
    error
}

/// Sees that files and texts have arrived everywhere. Whether light ranks have sessions by now.
fn deliver(job: &Arc<Job>) -> std::result::Result<bool, Failed> {
    let whole = |error: Error| (None, error);
    let (sending, complete) = {
        let mut state = job.state();
        (state.sending.take(), state.files_end)
    };
    let sending = match sending {
        Some(sending) if complete => sending,
        Some(_) => return Err(whole(invalid("the job's files were cut off before their end"))),
        None => Sending::begin(job, false)?,
    };
    let is_made = sending.finish(job)?;
    job.state().sent = Some(super::now());
    Ok(is_made)
}

/// A target of the relay as the user knows it: `rank 3 on n1`.
fn name_of(job: &Arc<Job>, target: &str) -> String {
    let state = job.state();
    let ranks = state.progress.ranks().iter().zip(&state.holds);
    let mut named = ranks.filter_map(|(rank, hold)| Some((rank, hold.as_ref()?)));
    let found =
        named.find(|(rank, hold)| target == format!("{}/{}", hold.link.address, rank.session));
    found.map_or_else(
        || target.to_owned(),
        |(rank, _)| format!("rank {} on {}", rank.rank, rank.node),
    )
}

/// Runs the programs: the light ranks' by one order, the others' one by one, which are waited for.
/// A light rank whose program cannot be run says so later.
fn execute(job: &Arc<Job>, is_made: bool) -> std::result::Result<(), Failed> {
    let (holds, order) = {
        let mut state = job.state();
        if !state.progress.executing() {
            return Err((None, ended()));
        }
        let held = |(rank, hold): (usize, &Option<Hold>)| Some((rank, hold.clone()?));
        let holds: Vec<(usize, Hold)> = state.holds.iter().enumerate().filter_map(held).collect();
        (holds, order(job, &state))
    };
    let sent = order.map(|(set, launch)| {
        let order = if is_made { Order::Run { job: job.id } } else { Order::Launch(launch) };
        send_order(job, &set, &order)
    });
    let transfer = sent.transpose().map_err(|error| (None, error))?;
    execute_held(&holds)?;
    if let Some(transfer) = transfer {
        let arrived = transfer.arrive(Deadline::after(START));
        arrived.map_err(|error| (None, not_ordered(&error)))?;
    }
    for (rank, hold) in &holds {
        let session = job.state().progress.ranks()[*rank].session;
        follow::rank(job, *rank, &hold.link, session);
        ask_pid(job, *rank, hold);
    }
    Ok(())
}

/// The order to run the light ranks, if there are any, and to whom.
fn order(job: &Job, state: &State) -> Option<(Nodes, Launch)> {
    let mut nodes: BTreeMap<&String, Part> = BTreeMap::new();
    for rank in state.progress.ranks().iter().filter(|rank| is_light(rank.session)) {
        let (session, local, node) = (rank.session, rank.local, rank.node.clone());
        let instance = state.instances[rank.rank];
        let part = nodes.entry(&rank.node);
        let part = part.or_insert_with(|| Part { node, instance, ranks: Vec::new() });
        part.ranks.push(Rank { rank: rank.rank, local, session });
    }
    let spec = state.spec.as_ref().filter(|_| !nodes.is_empty())?;
    let (argv, env) = texts(job, spec, state.progress.ranks().len());
    let set = nodes.keys().filter_map(|name| id_of(name)).collect();
    let nodes = nodes.into_values().collect();
    Some((set, Launch { job: job.id, argv, env, chdir: spec.chdir.clone(), nodes }))
}

/// Sends an order to all nodes of a set.
fn send_order(job: &Job, set: &Nodes, order: &Order) -> Result<Letter> {
    let Some(manager) = job.manager.upgrade() else { return gone() };
    let letter = order.letter();
    if letter.len() > LETTER_MAX {
        let text = format!("the order to launch it takes {} bytes", letter.len());
        return fail(Errno::TOOBIG, format!("{text}, {LETTER_MAX} is the limit  [E112]"));
    }
    manager.mail.clear_up();
    let ready = manager.memory.await_members(set, Deadline::after(ANSWER));
    ready.map_err(|error| not_ordered(&error))?;
    if job.state().progress.phase() != Phase::Starting {
        return Err(ended());
    }
    manager.memory.send_surely(set, letter).map_err(|error| not_ordered(&error))
}

/// What it is called when an order does not arrive.
fn not_ordered(error: &muster_fabric::Error) -> Error {
    let text = format!("the order to launch has not arrived: {}  [E306]", report::said(error));
    Error::new(Errno::IO, text)
}

/// Runs the programs of ranks that the manager has hold of, and waits until all of them run.
fn execute_held(holds: &[(usize, Hold)]) -> std::result::Result<(), Failed> {
    let (told, answers) = mpsc::channel();
    for (rank, hold) in holds {
        let (told, rank) = (told.clone(), *rank);
        let order = b"type persistent\nexec\n";
        hold.ctl.write_then(0, order, move |answer| drop(told.send((rank, answer))));
    }
    drop(told);
    let until = Instant::now() + START;
    let mut failed: Option<Failed> = None;
    let mut silent: BTreeMap<usize, &Hold> = holds.iter().map(|(r, hold)| (*r, hold)).collect();
    while let Some((rank, hold)) = silent.first_key_value().map(|(rank, hold)| (*rank, *hold)) {
        match answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((rank, answer)) => {
                silent.remove(&rank);
                if let Err(error) = answer
                    && failed.as_ref().is_none_or(|(first, _)| first.is_some_and(|r| rank < r))
                {
                    failed = Some((Some(rank), error));
                }
            }
            Err(_) => {
                let node = &hold.link.name;
                let text = format!("{node} has not started rank {rank} for {START:?}  [E306]");
                failed.get_or_insert((Some(rank), Error::new(Errno::TIMEDOUT, text)));
                break;
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Notes a rank's process, for those who look.
pub(super) fn ask_pid(job: &Arc<Job>, rank: usize, hold: &Hold) {
    let job = job.clone();
    hold.ctl.read_then(0, 32, move |answer| {
        let text = answer.map(String::from_utf8_lossy).unwrap_or_default();
        if let Ok(pid) = text.trim().parse() {
            job.state().progress.pid(rank, pid);
        }
    });
}
