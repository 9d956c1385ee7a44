//! From a job's `spec` to running programs: place, files, one order. All or nothing: if any rank
//! cannot be started, none is left.

use super::job::{Job, Placed, State};
use super::journal::{self, Record};
use super::kept::{self, Kept};
use super::log::JobLog;
use super::nodes::ANSWER;
use super::pieces::{Chunk, Failed, Pieces};
use super::place::{Place, place};
use super::progress::Bears;
use super::queue;
use super::spec::{End, Phase, RankPhase, Spec, Stdin};
use super::waits::Waits;
use super::{Manager, report};
use crate::chunk::{Hash, Recipe, write_ranges};
use crate::launch::{Launch, Order, Part, UMASK, exit_in, session_of};
use crate::memory::id_of;
use crate::relay::format::{BadStream, Parser, Sink};
use crate::relay::pack::{Load, PackError};
use muster_base::limits::{JOB_CHUNKS_MAX, LETTER_MAX};
use muster_base::quote;
use muster_fabric::primitive::Nodes;
use muster_fabric::{Deadline, Error as FabricError};
use muster_ninep::error::{Errno, Error, Result, fail};
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long programs may take to run once their files are there.
const START: Duration = Duration::from_secs(40);

/// Where programs are found if the job's environment does not say.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const CUT_OFF: &str = "the job's files were cut off before their end";

fn invalid(text: impl Into<String>) -> Error {
    Error::new(Errno::INVAL, text.into())
}

/// A job was ended while it was being started: in the words of what ended it.
pub(super) fn ended(job: &Job) -> Error {
    ended_by(&job.state())
}

/// The same, for who has the job's lock.
pub(super) fn ended_by(state: &State) -> Error {
    let text = match state.progress.cause() {
        Some((End::Lost, _, why)) => format!("{why}  [E304, exit 125]"),
        Some((End::Killed, exit, why)) => {
            format!("the job was ended while it was being started: {why}  [E305, exit {exit}]")
        }
        Some((_, _, why)) => why,
        None => "the job was ended while it was being started".to_owned(),
    };
    Error::new(Errno::CANCELED, text)
}

/// Gives the ranks places and sessions, unless they have them already.
fn prepare(job: &Arc<Job>) -> Result<()> {
    let manager = job.manager()?;
    let (spec, places) = {
        let state = job.state();
        if !state.progress.is_unplaced() {
            return Ok(());
        }
        let (Some(spec), Some(nodes)) = (&state.spec, &state.allotted) else {
            return Err(ended_by(&state));
        };
        let places = place(spec.ranks.unwrap_or(nodes.len()), nodes, spec.per_node.as_ref());
        (Spec { time_ms: state.time_ms, ..spec.clone() }, places)
    };
    let placed = named(&manager, job.attempt, &places)?;
    let (attempt, ranks) = (job.attempt, placed.clone());
    manager.record(&[Record::Placed { job: attempt, spec: Box::new(spec.clone()), ranks }])?;
    take_places(job, &manager, &spec, (places, placed))?;
    check_places(&manager, job)
}

/// The journal has where the ranks are.
fn take_places(
    job: &Arc<Job>,
    manager: &Manager,
    spec: &Spec,
    (places, placed): (Vec<Place>, Vec<journal::Placed>),
) -> Result<()> {
    let sessions: Vec<u32> = placed.iter().map(|rank| rank.session).collect();
    let instances = placed.iter().map(|rank| rank.instance).collect();
    if job.placed.get().is_none() {
        let log = JobLog::open(&manager.log_of(job.id), places.len())?;
        if spec.requeue > 0 {
            log.hold();
        }
        let _ = job.placed.set(Placed { log, waits: Waits::new(places.len()) });
        job.keep_output();
    }
    let mut state = job.state();
    if !state.progress.is_unplaced() {
        let is_over = state.progress.phase() == Phase::Done && state.next.is_none();
        drop(state);
        if is_over {
            // Whoever ended it may have found nothing there to end.
            job.end_placed();
        }
        return Err(ended(job));
    }
    state.stamps.placed = Some(super::now());
    state.instances = instances;
    state.followed = vec![3; places.len()];
    state.holds = vec![None; places.len()];
    state.claimed = vec![false; places.len()];
    state.progress.placed(places, sessions, Bears::of(spec, job.requeued.len()));
    Ok(())
}

/// A node that died while ranks were placed there may have been lost to all jobs but this one.
fn check_places(manager: &Manager, job: &Job) -> Result<()> {
    let places: Vec<(String, u64)> = {
        let state = job.state();
        let nodes = state.progress.ranks().iter().map(|rank| rank.node.clone());
        nodes.zip(state.instances.iter().copied()).collect()
    };
    for (node, instance) in places {
        if manager.nodes.link(&node)?.instance != instance {
            let text = format!("{node} is down: its node daemon was started again  [E114]");
            return fail(Errno::HOSTDOWN, text);
        }
    }
    Ok(())
}

/// Where each rank is and in which session, as the journal has it.
fn named(manager: &Manager, job: u32, places: &[Place]) -> Result<Vec<journal::Placed>> {
    let each = |place: &Place| {
        let (node, local) = (place.node.clone(), place.local);
        let instance = manager.nodes.link(&node)?.instance;
        Ok(journal::Placed { node, local, session: session_of(job, local), instance })
    };
    places.iter().map(each).collect()
}

/// What every rank's `argv` and `env` are.
fn texts(job: &Job, spec: &Spec, ranks: usize) -> (String, String) {
    let mut env = spec.env.clone();
    env.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
    env.insert("MUSTER_SIZE".to_owned(), ranks.to_string());
    env.insert("MUSTER_JOB".to_owned(), job.id.to_string());
    if let Some(view) = &job.view {
        env.insert("MUSTER_VIEW".to_owned(), view.to_string());
    }
    env.insert("MUSTER_RESTART_COUNT".to_owned(), job.requeued.len().to_string());
    let line = |(name, value): (&String, &String)| {
        format!("{}\n", quote::quote(&format!("{name}={value}")))
    };
    (format!("{}\n", quote::join(&spec.argv)), env.iter().map(line).collect())
}

/// Has the ranks' sessions made, and begins to send what they get before they run; nothing if there
/// is nothing to send.
pub(super) fn begin(
    job: &Arc<Job>,
    with_files: bool,
) -> std::result::Result<Option<Pieces>, Failed> {
    let whole = |error: Error| (None, error);
    prepare(job).map_err(whole)?;
    let (set, launch) = order(job).map_err(whole)?;
    let is_long = (launch.argv.len() + launch.env.len()) * 2 > LETTER_MAX / 2;
    if !with_files && !is_long {
        return Ok(None);
    }
    let manager = job.manager().map_err(whole)?;
    let holder = |part: &Part| (part.node.clone(), part.instance);
    let holders = launch.nodes.iter().map(holder).collect();
    let mut pieces = Pieces::new(manager, job, set.clone(), holders)?;
    let mut texts = Load::new();
    let launch = match is_long {
        false => launch,
        true => {
            texts.argv(&launch.argv);
            texts.env(&launch.env);
            Launch { argv: String::new(), env: String::new(), ..launch }
        }
    };
    let order = Order::Make { launch, shipment: pieces.shipment() };
    let letter = ready(job, &set, &order).map_err(whole)?;
    pieces.post(job, letter)?;
    push_all(job, &mut pieces, texts, !with_files)?;
    Ok(Some(pieces))
}

fn push_all(
    job: &Job,
    pieces: &mut Pieces,
    load: Load,
    with_end: bool,
) -> std::result::Result<(), Failed> {
    let mut packer = load.stream();
    let mut chunk = Vec::new();
    let unread = |error: PackError| (None, Error::new(Errno::IO, error.to_string()));
    while packer.next_chunk(&mut chunk).map_err(unread)? {
        if !with_end && chunk.ends_with(b"end\n") {
            chunk.truncate(chunk.len() - 4);
        }
        pieces.push(job, &chunk)?;
    }
    Ok(())
}

/// Files for the ranks as the job's client sends them.
pub(super) struct Incoming {
    parser: Parser,
    check: Check,
    has_begun: bool,
    /// Where they are kept while the job has no nodes, and how many bytes of them are there.
    kept: Option<(File, u64)>,
}

impl Incoming {
    pub(super) fn new() -> Incoming {
        Incoming {
            parser: Parser::default(),
            check: Check::default(),
            has_begun: false,
            kept: None,
        }
    }

    /// Checks the next piece and passes it on.
    pub(super) fn push(&mut self, job: &Arc<Job>, bytes: &[u8]) -> Result<()> {
        {
            let mut state = job.state();
            if state.launching {
                return fail(Errno::BUSY, "the job is started: it takes no more files");
            }
            state.files_begun = true;
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            self.begin(job).map_err(|failed| start_failed(job, failed))?;
        }
        if self.kept.is_some() {
            return self.keep(job, bytes);
        }
        job.client_goes_on();
        let Some(mut sending) = job.state().sending.take() else { return Err(ended(job)) };
        let checked = self.parser.push(bytes, &mut self.check);
        if checked.is_ok() {
            sending.push(job, bytes).map_err(|failed| start_failed(job, failed))?;
            if self.parser.is_done() {
                sending.tell(std::mem::take(&mut self.check.chunks));
            }
        }
        let mut state = job.state();
        if state.progress.phase() != Phase::Starting {
            drop(state);
            drop(sending);
            job.forget_again();
            return Err(ended(job));
        }
        state.sending = Some(sending);
        state.files_end = self.parser.is_done();
        drop(state);
        job.await_client();
        checked.map_err(|error| invalid(error.to_string()))
    }

    /// Sends them on from the start if the job can have its nodes now.
    fn begin(&mut self, job: &Arc<Job>) -> std::result::Result<(), Failed> {
        let whole = |error: Error| (None, error);
        let is_to_be_kept = queue::spec_of(job).map_err(whole)?.requeue > 0;
        if !is_to_be_kept && queue::allot(job, false).map_err(whole)? {
            match begin(job, true) {
                Err((_, error)) if gives_back(job, &error) => {}
                sending => {
                    job.state().sending = sending?;
                    return Ok(());
                }
            }
        }
        self.kept = Some((kept::create(job).map_err(whole)?, 0));
        job.state().kept = Some(Kept::default());
        Ok(())
    }

    /// Checks the next piece and keeps it.
    fn keep(&mut self, job: &Arc<Job>, bytes: &[u8]) -> Result<()> {
        let checked = self.parser.push(bytes, &mut self.check);
        checked.map_err(|error| invalid(error.to_string()))?;
        let Some((file, length)) = &mut self.kept else { return Err(ended(job)) };
        let manager = job.manager()?;
        let write = || file.write_all_at(bytes, *length).map_err(|error| kept::unkept(&error));
        manager.with_room(write).map_err(|error| start_failed(job, (None, error)))?;
        *length += bytes.len() as u64;
        let mut state = job.state();
        state.files_end = self.parser.is_done();
        if let Some(kept) = &mut state.kept {
            kept.told(&self.check.chunks);
        }
        let is_new = state.progress.phase() == Phase::New;
        drop(state);
        if !is_new {
            // It may have ended just before there was a file.
            job.drop_kept();
            return Err(ended(job));
        }
        Ok(())
    }
}

/// Which chunks of the job's files the client is to give next: a list of ranges, empty when nodes
/// need none of them, as far as is known before the job is started.
pub(super) fn wanted(job: &Arc<Job>) -> Result<String> {
    if let Some(kept) = kept_of(&job.state()) {
        return Ok(write_ranges(kept.wanted()));
    }
    let wanted = with_files(job, |pieces| pieces.wanted_first(job))?;
    Ok(write_ranges(wanted))
}

/// Takes bytes of a chunk: chunk 3 begins at three times [`CHUNK`](muster_base::limits::CHUNK).
pub(super) fn give(job: &Arc<Job>, offset: u64, bytes: &[u8]) -> Result<()> {
    if kept_of(&job.state()).is_some() {
        return kept::give(job, offset, bytes);
    }
    with_files(job, |pieces| pieces.give(job, offset, bytes))
}

/// The files of a job that is to wait, if their stream has come to its end.
fn kept_of(state: &State) -> Option<&Kept> {
    state.kept.as_ref().filter(|_| state.files_end && !state.launching)
}

/// Does something with files that are on their way and whose stream has come to its end.
fn with_files<T>(
    job: &Arc<Job>,
    deed: impl FnOnce(&mut Pieces) -> std::result::Result<T, Failed>,
) -> Result<T> {
    let taken = {
        let mut state = job.state();
        let is_ready = state.files_end && !state.launching;
        if is_ready { state.sending.take() } else { None }
    };
    let Some(mut pieces) = taken else {
        if job.state().progress.cause().is_some() {
            return Err(ended(job));
        }
        return fail(Errno::BUSY, "the job's files were not told yet, or it is started  [E205]");
    };
    job.client_goes_on();
    let done = deed(&mut pieces).map_err(|failed| start_failed(job, failed))?;
    let mut state = job.state();
    if state.progress.phase() != Phase::Starting {
        drop(state);
        drop(pieces);
        job.forget_again();
        return Err(ended(job));
    }
    state.sending = Some(pieces);
    drop(state);
    job.await_client();
    Ok(done)
}

/// What the manager wants to know of a stream, beside the parser's own checks: its chunks.
#[derive(Default)]
pub(super) struct Check {
    places: HashMap<Hash, usize>,
    pub(super) chunks: Vec<Chunk>,
    /// The processor of the nodes that what comes now is for, if not for all.
    arch: Option<String>,
}

impl Sink for Check {
    type Error = BadStream;

    fn arch(&mut self, arch: Option<&str>) -> std::result::Result<(), BadStream> {
        self.arch = arch.map(str::to_owned);
        Ok(())
    }
    fn known(&mut self, _: &str, _: u32, recipe: Recipe) -> std::result::Result<(), BadStream> {
        for (hash, _, length) in recipe.pieces() {
            let at = *self.places.entry(hash).or_insert(self.chunks.len());
            match self.chunks.get_mut(at) {
                Some(chunk) => chunk.is_also_for(self.arch.as_deref()),
                None => self.chunks.push(Chunk::new(hash, length, self.arch.as_deref())),
            }
        }
        match self.chunks.len() > JOB_CHUNKS_MAX {
            true => Err(BadStream::Long("chunks", self.chunks.len() as u64, JOB_CHUNKS_MAX)),
            false => Ok(()),
        }
    }
}

/// Starts the job: `start` of its `ctl`. Answered when it runs, or when it is known to wait.
pub(super) fn start(job: &Arc<Job>) -> Result<()> {
    {
        let mut state = job.state();
        let is_over = state.progress.phase() == Phase::Done;
        if state.progress.is_again() || !job.requeued.is_empty() && !is_over {
            // It lost a node before this came, and starts by itself.
            return Ok(());
        }
        let early = matches!(state.progress.phase(), Phase::New | Phase::Starting);
        if std::mem::replace(&mut state.launching, true) {
            return fail(Errno::BUSY, "the job has been started already");
        }
        if !early {
            return Err(ended_by(&state));
        }
        let is_lacking = state.kept.as_ref().is_some_and(|kept| !kept.wanted().is_empty());
        // Also where the first of them are being taken now: it has its nodes from there.
        if state.files_begun && !state.files_end {
            drop(state);
            return Err(start_failed(job, (None, invalid(CUT_OFF))));
        }
        if is_lacking {
            state.launching = false;
            return Err(lacking());
        }
    }
    match queue::allot(job, true) {
        Ok(true) => go(job),
        // It goes when its turn comes.
        Ok(false) => Ok(()),
        Err(error) => Err(start_failed(job, (None, error))),
    }
}

/// Whether a job could not be placed since a node has died that it had just been given: it has
/// given its nodes back, and nothing of it is anywhere.
fn gives_back(job: &Arc<Job>, error: &Error) -> bool {
    error.errno == Errno::HOSTDOWN && queue::give_back(job)
}

/// Launches a job that has its nodes. One that loses some of them meanwhile waits for others if it
/// was not placed yet, or may begin again, which is no error.
pub(super) fn go(job: &Arc<Job>) -> Result<()> {
    match deliver_and_execute(job) {
        Ok(None) => {
            job.started();
            job.hear_early();
            Ok(())
        }
        Ok(Some(pieces)) => Err(hold_on(job, pieces)),
        Err((_, error)) if gives_back(job, &error) => {
            queue::wait_again(job).map_err(|error| start_failed(job, (None, error)))
        }
        Err(failed) => {
            let error = start_failed(job, failed);
            let is_again = job.state().progress.is_again();
            if is_again { Ok(()) } else { Err(error) }
        }
    }
}

/// The files, if some node lacks parts of them.
fn deliver_and_execute(job: &Arc<Job>) -> std::result::Result<Option<Pieces>, Failed> {
    let mut files = deliver(job)?;
    if let Some(pieces) = &mut files
        && !pieces.are_there(job)?
    {
        return Ok(files);
    }
    let sent = files.as_ref().and_then(Pieces::chunks);
    {
        let mut state = job.state();
        (state.stamps.sent, state.stamps.files) = (Some(super::now()), sent);
    }
    execute(job, files)
}

/// The job's client has to give what some node lacks, and then to start it again.
fn hold_on(job: &Arc<Job>, pieces: Pieces) -> Error {
    let mut state = job.state();
    if state.progress.phase() != Phase::Starting {
        drop(state);
        drop(pieces);
        return start_failed(job, (None, ended(job)));
    }
    state.progress.holds_on();
    (state.sending, state.launching, state.stamps.sent) = (Some(pieces), false, None);
    // Of before, and perhaps due: the client is asked only now.
    let before = state.patience.take();
    drop(state);
    job.forget(before);
    job.await_client();
    lacking()
}

fn lacking() -> Error {
    let text = "parts of the job's files are not there: give what its `chunks` names, and start \
                it again  [E205]";
    Error::new(Errno::NODATA, text)
}

/// Ends a job that cannot be started. If it has been ended already, what failed now only follows
/// from that: sessions that were wiped, say.
pub(super) fn start_failed(job: &Arc<Job>, (rank, error): Failed) -> Error {
    let has_cause = job.state().progress.cause().is_some();
    let error = if has_cause { ended(job) } else { error };
    let text = error.to_string();
    let is_lost = job.may_begin_again() && (error.errno == Errno::HOSTDOWN || has_lost_a_node(job));
    let mut state = job.state();
    if state.progress.is_unplaced() {
        drop(state);
        let end = if is_lost { End::Lost } else { End::Failed };
        job.end(end, exit_in(&text), &text);
    } else {
        let actions = state.progress.start_failed(rank, exit_in(&text), &text, is_lost);
        job.act(state, actions);
        job.forget_again();
    }
    error
}

/// Whether a node that the job has ranks on is gone, or was started again since it has them.
fn has_lost_a_node(job: &Job) -> bool {
    let Some(manager) = job.manager.upgrade() else { return false };
    check_places(&manager, job).is_err()
}

/// What is sent before the job is run: its files, if there are any.
fn deliver(job: &Arc<Job>) -> std::result::Result<Option<Pieces>, Failed> {
    let whole = |error: Error| (None, error);
    let (sending, complete, is_kept) = {
        let mut state = job.state();
        (state.sending.take(), state.files_end, state.kept.is_some())
    };
    match sending {
        Some(sending) if complete => Ok(Some(sending)),
        Some(_) => Err(whole(invalid(CUT_OFF))),
        None if is_kept => kept::send(job).map(Some),
        None if complete => Err(whole(Error::new(Errno::BUSY, "the job's files are being given"))),
        None => begin(job, false),
    }
}

/// Runs the programs: all by one order. A rank whose program cannot be run says so later, one that
/// reads the job's input is waited for. The files, if some node lacks parts of them after all.
fn execute(job: &Arc<Job>, pieces: Option<Pieces>) -> std::result::Result<Option<Pieces>, Failed> {
    let whole = |error: Error| (None, error);
    if !job.state().progress.executing() {
        return Err(whole(ended(job)));
    }
    let (set, launch) = order(job).map_err(whole)?;
    if let Some(manager) = job.manager.upgrade() {
        manager.strobe.settle();
    }
    let order = match pieces {
        None => Order::Launch(launch),
        Some(pieces) if !pieces.is_trusting() => Order::Run { job: job.attempt },
        Some(mut pieces) => {
            return match pieces.run(job)? {
                true => await_readers(job).map(|()| None),
                false => Ok(Some(pieces)),
            };
        }
    };
    send_order(job, &set, &order).map_err(whole)?;
    await_readers(job).map(|()| None)
}

/// Waits until the manager has hold of all ranks that read; one that cannot be run fails the start.
fn await_readers(job: &Arc<Job>) -> std::result::Result<(), Failed> {
    // It may stand still until its job's turn.
    let turn = job.manager.upgrade().map_or(Duration::ZERO, |manager| manager.strobe.cycle());
    let until = Instant::now() + START + turn;
    let mut state = job.state();
    while let Some(rank) = state.reader_to_come() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let node = &state.progress.ranks()[rank].node;
            let text = format!("{node} has not started rank {rank} for {START:?}  [E306]");
            return Err((Some(rank), Error::new(Errno::TIMEDOUT, text)));
        }
        state = job.changed.wait_timeout(state, left).expect("no holder panics").0;
    }
    let stdin = state.spec.as_ref().map_or(Stdin::NONE, |spec| spec.stdin);
    super::pieces::failed(&state, |rank| stdin.includes(rank)).map_or(Ok(()), Err)
}

impl State {
    /// A rank that reads the job's input and of which nothing is known yet.
    fn reader_to_come(&self) -> Option<usize> {
        let stdin = self.spec.as_ref().filter(|_| self.progress.phase() == Phase::Starting)?.stdin;
        let is_known = |rank: usize| {
            let waits = self.progress.ranks()[rank].state == RankPhase::Waiting;
            let said = self.early.iter().any(|heard| heard.rank == rank);
            !waits || said || self.holds[rank].is_some() || self.progress.is_closed(rank)
        };
        (0..self.holds.len()).find(|rank| stdin.includes(*rank) && !is_known(*rank))
    }
}

/// The order to run a job's ranks, and to whom.
fn order(job: &Job) -> Result<(Nodes, Launch)> {
    let in_turns = job.manager.upgrade().is_some_and(|manager| manager.queue.takes_turns());
    let state = job.state();
    let (Some(spec), Phase::Starting) = (&state.spec, state.progress.phase()) else {
        return Err(ended_by(&state));
    };
    let ranks = state.progress.ranks();
    let mut nodes: Vec<Part> = Vec::new();
    // A node's ranks follow one another.
    for rank in ranks {
        match nodes.last_mut().filter(|part| part.node == rank.node) {
            Some(part) => part.count += 1,
            None => {
                let (node, instance) = (rank.node.clone(), state.instances[rank.rank]);
                nodes.push(Part { node, instance, first: rank.rank, count: 1 });
            }
        }
    }
    let (argv, env) = texts(job, spec, ranks.len());
    let set = nodes.iter().filter_map(|part| id_of(&part.node)).collect();
    let (chdir, stdin) = (spec.chdir.clone(), spec.stdin);
    let (known_as, binds, umask) = (job.id, !spec.unbound, spec.umask.unwrap_or(UMASK));
    let (job, view) = (job.attempt, job.view.as_deref().map(Into::into));
    let launch =
        Launch { job, known_as, argv, env, stdin, chdir, in_turns, binds, umask, view, nodes };
    Ok((set, launch))
}

/// Sends an order to all nodes of a set, and waits until they have it. If one of them falls silent
/// meanwhile nobody gets it, and it is sent again when that one answers.
fn send_order(job: &Job, set: &Nodes, order: &Order) -> Result<()> {
    let manager = job.manager()?;
    loop {
        let letter = ready(job, set, order)?;
        let sent = manager.memory.send_surely(set, letter);
        match sent.and_then(|letter| letter.arrive(Deadline::after(START))) {
            Err(FabricError::Dead { .. }) if check_places(&manager, job).is_ok() => {}
            sent => return sent.map_err(|error| not_ordered(&error)),
        }
    }
}

/// The letter of an order to a job that is still to be started; all nodes of the set can be told.
/// One that is silent is waited for as long as it lives.
fn ready(job: &Job, set: &Nodes, order: &Order) -> Result<Vec<u8>> {
    let manager = job.manager()?;
    let letter = order.letter();
    if letter.len() > LETTER_MAX {
        let text = format!("the order to launch it takes {} bytes", letter.len());
        return fail(Errno::TOOBIG, format!("{text}, {LETTER_MAX} is the limit  [E112]"));
    }
    manager.mail.clear_up();
    loop {
        let ready = manager.memory.await_members(set, Deadline::after(ANSWER));
        if job.state().progress.phase() != Phase::Starting {
            return Err(ended(job));
        }
        match ready {
            Ok(()) => return Ok(letter),
            Err(FabricError::Deadline { .. }) if check_places(&manager, job).is_ok() => {}
            Err(error) => return Err(not_ordered(&error)),
        }
    }
}

/// What it is called when an order does not arrive.
fn not_ordered(error: &FabricError) -> Error {
    let text = format!("the order to launch has not arrived: {}  [E306]", report::said(error));
    Error::new(report::errno(error), text)
}

/// Notes a rank's process, for those who look.
pub(super) fn ask_pid(job: &Arc<Job>, rank: usize, hold: &super::hold::Hold) {
    let job = job.clone();
    hold.ctl.read_then(0, 32, move |answer| {
        let text = answer.map(String::from_utf8_lossy).unwrap_or_default();
        if let Ok(pid) = text.trim().parse() {
            job.state().progress.pid(rank, pid);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::tests::manager;
    use crate::scratch::Scratch;

    /// It ran without them, on nodes of its own.
    #[test]
    fn a_job_does_not_start_while_its_files_come() {
        let scratch = Scratch::new("launch-files");
        let manager = manager(&scratch);
        let job = manager.new_job(None).unwrap();
        job.state().files_begun = true;
        assert!(start(&job).unwrap_err().text.contains(CUT_OFF));
        assert!(job.is_done() && job.state().allotted.is_none());
        manager.memory.close();
    }

    /// They waited until another manager was started.
    #[test]
    fn nobody_waits_for_ranks_of_a_job_that_was_ended_while_it_was_placed() {
        let scratch = Scratch::new("launch-placed");
        let manager = manager(&scratch);
        let job = manager.new_job(None).unwrap();
        job.kill();
        let node = || "n0".to_owned();
        let places = vec![Place { node: node(), local: 0 }];
        let placed = vec![journal::Placed { node: node(), local: 0, session: 1, instance: 1 }];
        let spec = Spec::default();
        assert!(take_places(&job, &manager, &spec, (places, placed)).is_err());
        let placed = job.placed.get().unwrap();
        assert!(placed.waits.of_rank(0).is_none());
        assert_eq!(placed.log.has_ended(0), Some(true));
        manager.memory.close();
    }
}
