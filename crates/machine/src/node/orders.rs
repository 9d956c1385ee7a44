//! The manager's orders to this node, and the reports that it gets: see [`crate::launch`].
//!
//! Two threads: one takes orders as they come, one sends what ranks have to say. What comes within
//! a moment of a report goes with the next, so many ranks that end together cost few letters.

use super::binding::Binding;
use super::session::Session;
use super::unpacking::{Unpacked, Unpacking};
use super::{Node, Setup};
use super::{giving, launch};
use crate::chunk::store::{Chunks, Name};
use crate::launch::bundle::letters;
use crate::launch::{BadLetter, Bytes, Coming, Kind, Launch, Order, Rank, Report, Said, What};
use crate::memory::{MANAGER, Memory, STROBE};
use crate::strober::{self, Table};
use muster_base::limits::LETTER_MAX;
use muster_fabric::primitive::Nodes;
use muster_fabric::{Deadline, Error as FabricError};
use muster_ninep::error::{Errno, Error, Result};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::thread;
use std::time::Duration;

/// How long a report may take to arrive before it is sent once more.
const REPORT: Duration = Duration::from_secs(5);

/// How long the strober may take to answer.
pub(super) const TOLD: Duration = Duration::from_millis(100);

/// For how long what is to be said gathers, once a report was told.
const MOMENT: Duration = Duration::from_millis(1);

/// The pause before a report is sent once more, as when the manager is being started again.
const PAUSE: Duration = Duration::from_millis(50);

/// Which rank of which job a session is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Light {
    pub(super) job: u32,
    /// What tables of slots call the job.
    pub(super) known_as: u32,
    pub(super) rank: usize,
    /// It reads the job's input.
    pub(super) reads: bool,
    /// It takes turns with others.
    pub(super) in_turns: bool,
    /// The processor that it is bound to.
    pub(super) processor: Option<u32>,
    /// Bits that the modes of its new files do not get.
    pub(super) umask: u32,
}

/// What ranks have said and nobody has been told yet.
#[derive(Default)]
pub(super) struct Reports {
    said: Mutex<(Vec<Said>, Vec<u8>, bool)>,
    more: Condvar,
}

impl Light {
    /// That it cannot be run.
    fn failed(self, error: &Error) -> Said {
        let what = What::Failed { why: error.text.to_string() };
        Said { job: self.job, rank: self.rank, what }
    }
}

impl Reports {
    fn lock(&self) -> MutexGuard<'_, (Vec<Said>, Vec<u8>, bool)> {
        self.said.lock().expect("no holder panics")
    }

    /// Has something told, and the output that goes with it.
    pub(super) fn push(&self, said: Said, output: &[u8]) {
        let mut waiting = self.lock();
        waiting.0.push(said);
        waiting.1.extend_from_slice(output);
        self.more.notify_one();
    }

    /// All that there is to tell, waited for; none at the end.
    fn take(&self) -> Option<(Vec<Said>, Vec<u8>)> {
        let nothing = |waiting: &mut (Vec<Said>, _, bool)| waiting.0.is_empty() && !waiting.2;
        let waiting = self.more.wait_while(self.lock(), nothing);
        let mut waiting = waiting.expect("no holder panics");
        if waiting.2 {
            return None;
        }
        // As many as fit into a letter; the others go with the next.
        let (mut count, mut size, mut output) = (0, 0, 0);
        for said in &waiting.0 {
            let (text, bytes) = said.size();
            if count > 0 && size + text + bytes > LETTER_MAX / 2 {
                break;
            }
            (count, size, output) = (count + 1, size + text + bytes, output + bytes);
        }
        let bytes = waiting.1.drain(..output).collect();
        Some((waiting.0.drain(..count).collect(), bytes))
    }

    fn close(&self) {
        self.lock().2 = true;
        self.more.notify_all();
    }

    fn is_closed(&self) -> bool {
        self.lock().2
    }
}

/// The two threads. Dropping it ends them.
pub struct Orders {
    node: Arc<Node>,
    memory: Arc<Memory>,
}

impl Orders {
    /// Begins to take orders.
    ///
    /// # Errors
    /// When no thread is left.
    pub fn serve(node: &Arc<Node>, memory: &Arc<Memory>) -> io::Result<Orders> {
        let (of_orders, of_reports) = (node.clone(), node.clone());
        let (orders, reports) = (memory.clone(), memory.clone());
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        named("orders").spawn(move || {
            let node = of_orders;
            let chunks = Chunks::of_node(&node.setup.directory, &node.setup.home);
            let memory = orders.clone();
            let (unpacking, told) = (HashMap::new(), HashMap::new());
            let crew = |of: &Weak<Mutex<Crew>>| {
                let of_threads = of.clone();
                Mutex::new(Crew { node, memory, unpacking, chunks, told, of_threads })
            };
            let crew = Arc::new_cyclic(crew);
            while let Some(letter) = orders.next() {
                Crew::lock(&crew).read(&letter);
                orders.give_back(letter);
            }
        })?;
        named("reports").spawn(move || {
            while let Some((said, output)) = of_reports.reports.take() {
                let node = of_reports.setup.name.clone();
                let report = Report { node, instance: of_reports.instance, said };
                let letter = report.letter(&output);
                // Told, it costs least; else it is an operation.
                let may_be_told = report.may_be_told(&letter);
                if may_be_told && reports.report(letter.clone()).is_ok() {
                    thread::sleep(MOMENT);
                } else {
                    deliver(&of_reports.reports, &reports, &letter);
                }
            }
        })?;
        Ok(Orders { node: node.clone(), memory: memory.clone() })
    }
}

impl Drop for Orders {
    fn drop(&mut self) {
        self.memory.close();
        self.node.reports.close();
    }
}

/// Sends a report until it has arrived.
fn deliver(reports: &Reports, memory: &Memory, letter: &[u8]) {
    let size = letter.len();
    if size > LETTER_MAX {
        // It would never do, and hold up all that come behind it.
        let text = format!("a report of {size} bytes is left out: at most {LETTER_MAX} go");
        let _ = writeln!(io::stderr(), "{text}");
        return;
    }
    let to = Nodes::one(MANAGER);
    while !reports.is_closed() {
        let sent = memory.send(&to, letter.to_vec());
        match sent.and_then(|transfer| transfer.wait(Deadline::after(REPORT))) {
            Ok(()) | Err(FabricError::Closed { .. }) => return,
            // It may come twice then, and is heeded once.
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Who carries out orders.
pub(super) struct Crew {
    node: Arc<Node>,
    memory: Arc<Memory>,
    /// By job.
    unpacking: HashMap<u32, Unpacking>,
    /// The files that are kept for the jobs that come.
    chunks: Chunks,
    /// What the variables are: a job that is not forgotten yet must not lower that of the next.
    told: HashMap<u32, u64>,
    /// Itself, for threads that carry out what takes long.
    of_threads: Weak<Mutex<Crew>>,
}

impl Crew {
    pub(super) fn lock(crew: &Mutex<Crew>) -> MutexGuard<'_, Crew> {
        crew.lock().expect("no holder panics")
    }

    fn read(&mut self, letter: &[u8]) {
        let read =
            letters(letter).and_then(|all| all.into_iter().try_for_each(|one| self.heed(one)));
        if let Err(error) = read {
            let said = format!("an order of the manager's cannot be read: {error}");
            let _ = writeln!(io::stderr(), "{said}");
        }
    }

    fn heed(&mut self, letter: &[u8]) -> std::result::Result<(), BadLetter> {
        match Bytes::read(letter) {
            Some(bytes) => self.unpack(bytes),
            None => self.obey(Order::read(letter)?),
        }
        Ok(())
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Launch(launch) => self.make(launch).iter().for_each(run),
            Order::Make { launch, shipment } => {
                let job = launch.job;
                let sessions = self.make(launch);
                let arch = &self.node.setup.processor.name;
                match Unpacking::new(sessions.clone(), shipment, arch) {
                    Ok(unpacking) => drop(self.unpacking.insert(job, unpacking)),
                    Err(error) => self.cannot_keep(&sessions, error),
                }
            }
            Order::Chunks { job, count, coming } => {
                let node = &self.node.setup.name;
                let is_own = |coming: &&Coming| coming.nodes.contains(node);
                let coming: Vec<&str> =
                    coming.iter().filter(is_own).map(|coming| coming.chunks.as_str()).collect();
                self.work(job, |unpacking, chunks| unpacking.gather(chunks, count, &coming));
            }
            Order::Run { job } => {
                if let Some(unpacking) = self.unpacking.get_mut(&job) {
                    unpacking.is_to_run();
                    self.run_ready(job);
                }
            }
            Order::Signal { job, ranks, signal } => {
                for session in self.lights(|of| of == job) {
                    if session.light.is_some_and(|light| ranks.contains(&light.rank)) {
                        // One that has ended says so itself.
                        let _ = session.signal(signal);
                    }
                }
            }
            Order::End { job } => {
                // What it lacks may come for another. Who waits for files says that it has ended.
                self.give_up(job).iter().for_each(|session| session.killed_unstarted());
                self.lights(|of| of == job).iter().for_each(|session| session.kill_all());
            }
            Order::Lost { job, node, instance } => {
                self.node.gateways.lose(job, (&node, instance));
            }
            Order::Again { jobs } => {
                self.lights(|of| jobs.contains(&of)).iter().for_each(|one| one.say_end_again());
            }
            Order::Forget { jobs } => self.forget(|job| jobs.contains(&job)),
            Order::Join { instance } if instance == self.node.instance => self.node.join_again(),
            // A start of this daemon before this one was meant.
            Order::Join { .. } => {}
            Order::Strobe(table) => self.strobe(&table),
            // The start before this one was meant, and this one may have jobs.
            Order::Keep { only: Some(only), .. } if only != self.node.instance => {}
            Order::Keep { last, jobs, expected, .. } => {
                self.forget(|job| job <= last && !jobs.contains(&job));
                for (node, job, rank) in expected {
                    if node == self.node.setup.name {
                        self.look_for(job, &rank);
                    }
                }
            }
        }
    }

    /// Makes the sessions of this node's ranks; who cannot have one says so.
    fn make(&self, launch: Launch) -> Vec<Arc<Session>> {
        let Setup { name, home, .. } = &self.node.setup;
        let own = launch.own(name, self.node.instance);
        let binding = Binding::of(&launch, name, home);
        let each = |rank: Rank| {
            let reads = launch.stdin.includes(rank.rank);
            let Launch { job, known_as, in_turns, umask, .. } = launch;
            let processor = binding.processor(rank.local);
            let number = rank.rank;
            let light = Light { job, known_as, rank: number, reads, in_turns, processor, umask };
            let made = prepare(&self.node, light, &rank, &launch);
            made.inspect_err(|error| self.node.reports.push(light.failed(error), &[])).ok()
        };
        let made = own.filter_map(each).collect();
        self.node.gateways.expect(&self.node, (launch.job, launch.known_as), launch.nodes);
        made
    }

    /// Runs a job that is to run, if it has its files.
    fn run_ready(&mut self, job: u32) {
        let Some(files) = self.unpacking.get_mut(&job) else { return };
        if let Some(sessions) = files.run() {
            sessions.iter().for_each(run);
        }
    }

    /// Takes a part of a job's files, and tells that it has it.
    fn unpack(&mut self, Bytes { kind, job, number, bytes }: Bytes<'_>) {
        match kind {
            Kind::Piece => self.work(job, |unpacking, _| unpacking.piece(number, bytes)),
            Kind::Chunk => {
                self.work(job, |unpacking, chunks| unpacking.chunk(chunks, number, bytes));
                // It may be what others wait for, too.
                let others: Vec<u32> =
                    self.unpacking.keys().copied().filter(|o| *o != job).collect();
                for other in others {
                    self.work(other, |unpacking, chunks| unpacking.advance(chunks));
                }
            }
        }
    }

    /// Has something done for a job that has not ended meanwhile, or failed here; tells what has
    /// come of it.
    fn work(
        &mut self,
        job: u32,
        deed: impl FnOnce(&mut Unpacking, &mut Chunks) -> Result<Unpacked>,
    ) {
        let Some(unpacking) = self.unpacking.get_mut(&job) else { return };
        let done = deed(unpacking, &mut self.chunks).and_then(|mut done| {
            if let Some(copies) = done.copies.take() {
                let rank = unpacking.rank();
                unpacking.gives(giving::begin(self.of_threads.clone(), (job, rank), copies)?);
            }
            Ok(done)
        });
        match done {
            Ok(Unpacked { count, lacks, .. }) => {
                if let Some(chunks) = lacks.filter(|_| !unpacking.sessions.is_empty()) {
                    let said = Said { job, rank: unpacking.rank(), what: What::Lacks { chunks } };
                    self.node.reports.push(said, &[]);
                }
                let told = self.told.entry(unpacking.variable).or_default();
                if count > *told {
                    *told = count;
                    // Who may not speak now is no member, and its job is ended for that.
                    let _ = self.memory.set(unpacking.variable, count);
                }
                self.run_ready(job);
            }
            Err(error) => {
                let sessions = self.give_up(job);
                self.cannot_keep(&sessions, error);
            }
        }
    }

    /// What a job's files are copied from, if they are still wanted.
    pub(super) fn to_copy(&self, name: &Name, path: &str) -> Result<(File, u32)> {
        self.chunks.to_copy(name, path)
    }

    /// Files that were to be copied for a job are, or cannot be.
    pub(super) fn has_given(&mut self, job: u32, copied: Result<()>) {
        self.work(job, |unpacking, chunks| copied.map(|()| unpacking.has_given(chunks)));
    }

    pub(super) fn say(&self, said: Said) {
        self.node.reports.push(said, &[]);
    }

    /// A job's files are not waited for any more; its sessions.
    fn give_up(&mut self, job: u32) -> Vec<Arc<Session>> {
        let Some(given_up) = self.unpacking.remove(&job) else { return Vec::new() };
        given_up.files().for_each(|file| self.chunks.release(file));
        given_up.sessions
    }

    /// Tells the strober, and then that it has been told. Otherwise the order comes again.
    fn strobe(&self, table: &Table) {
        if strober::tell(&self.node.setup.home, table, TOLD).is_ok_and(|has_it| has_it) {
            let _ = self.memory.set(STROBE, table.stamp());
        }
    }

    /// Says so if the order to start a rank has not been heard here.
    fn look_for(&mut self, job: u32, rank: &Rank) {
        let node = &self.node.setup.name;
        let text = format!("{node} was away when it was to start rank {}", rank.rank);
        let error = Error::new(Errno::IO, format!("{text}  [E304, exit 125]"));
        match self.node.session(rank.session) {
            None => {
                let light = Light { job, known_as: job, rank: rank.rank, ..Light::default() };
                self.node.reports.push(light.failed(&error), &[]);
            }
            // It has its files, and nobody has told it to run.
            Some(files) if files.session().is_new() => {
                files.session().failed(error);
                self.give_up(job);
            }
            Some(_) => {}
        }
    }

    fn cannot_keep(&self, sessions: &[Arc<Session>], error: Error) {
        let node = &self.node.setup.name;
        for session in sessions {
            let rank = session.light.map_or(0, |light| light.rank);
            let text = format!("the job's files did not reach rank {rank} on {node}: {error}");
            session.failed(Error::new(error.errno, format!("{text}  [E205]")));
        }
    }

    fn forget(&mut self, is_meant: impl Fn(u32) -> bool) {
        let meant: Vec<u32> = self.unpacking.keys().copied().filter(|job| is_meant(*job)).collect();
        meant.into_iter().for_each(|job| drop(self.give_up(job)));
        self.node.gateways.forget(&is_meant);
        self.lights(is_meant).iter().for_each(Session::wipe);
    }

    /// The sessions of the light ranks of some jobs.
    fn lights(&self, is_meant: impl Fn(u32) -> bool) -> Vec<Arc<Session>> {
        let sessions = self.node.all_sessions().into_iter().map(|files| files.session().clone());
        sessions.filter(|session| session.light.is_some_and(|of| is_meant(of.job))).collect()
    }
}

pub(super) fn missing() -> Error {
    Error::new(Errno::IO, "a part of them is missing")
}

fn run(session: &Arc<Session>) {
    if let Err(error) = launch::start(session, None) {
        session.failed(error);
    }
}

/// Makes a rank's session.
fn prepare(node: &Arc<Node>, light: Light, rank: &Rank, launch: &Launch) -> Result<Arc<Session>> {
    let session = node.open_light(rank.session, light, launch.view.as_deref().map(Into::into))?;
    session.argv.set(launch.argv.as_str());
    session.env.set(launch.env.as_str());
    let mut state = session.state();
    state.chdir = launch.chdir.as_ref().map(Into::into);
    state.id = (rank.rank.to_string(), u32::try_from(rank.local).unwrap_or(u32::MAX));
    state.persistent = true;
    drop(state);
    Ok(session)
}
