//! A node's part of launches: what `machine/src/node/orders.rs` does, with sessions and files that
//! are names only.

use super::Prices;
use super::daemon::{Hands, Landing, Tell};
use super::reader::Reader;
use muster_fabric::primitive::{Nodes, Outcome};
use muster_fabric::protocol::Payload;
use muster_machine::chunk::{Hash, Recipe};
use muster_machine::launch::bundle::letters;
use muster_machine::launch::{Bytes, Kind, Launch, Order, Rank, Report, Said, Shipment, What};
use muster_machine::memory::{MANAGER, STROBE};
use muster_machine::node::tally::Tally;
use muster_machine::relay::format::{BadStream, Parser, Sink};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

/// For how long what is to be said gathers, once a report was told.
const MOMENT: Duration = Duration::from_millis(1);

/// The pause before a report is sent once more.
const PAUSE: Duration = Duration::from_millis(50);

/// What a rank has used, as a report tells it.
const USAGE: &str = "310 620 1500 0 4200 3 0 0 900 900";

/// Linux's numbers of signals.
const KILL: i32 = 9;
pub const TERM: i32 = 15;
pub const CONT: i32 = 18;

/// What goes wrong at a node by itself.
#[derive(Clone, Debug, Default)]
pub struct Flaws {
    /// The next chunk that it is sent arrives with another byte.
    pub corrupts: bool,
    /// It has no room for files.
    pub is_full: bool,
    /// Before the next files come it drops all that it keeps.
    pub drops: bool,
    /// When the next files are there, somebody has written to one that another job has, too.
    pub changes: bool,
}

/// A rank here.
struct Session {
    argv: String,
    /// Until its program has ended.
    state: Stage,
    /// How many chunks of its job's files were all there when these were put together.
    chunks: usize,
}

#[derive(PartialEq)]
enum Stage {
    New,
    Runs,
    /// With its status, if it has run.
    Over(Option<i32>),
}

/// A job's files on their way.
struct Unpacking {
    tally: Tally,
    variable: u32,
    ranks: Vec<Rank>,
    parser: Parser,
    known: KnownFiles,
    /// The chunks of these, and how many were there when the files were put together.
    hashes: Vec<Hash>,
    gathered: usize,
    is_gathered: bool,
    is_to_run: bool,
    /// It counts on while others get what they lack.
    has_run: bool,
}

/// What is waited for.
enum Wait {
    /// A letter is read.
    Letter(Payload),
    /// A rank's program is started.
    Started(u32, usize),
    /// A rank's program ends by itself.
    Over(u32, usize, i32),
    /// A report is on its way, or that this daemon joins.
    Report(Payload, About),
    /// It is sent again.
    Again(Payload, About),
    /// What is to be said has gathered.
    Gathered,
}

/// What a letter to the manager is about.
#[derive(Clone, Copy, PartialEq)]
enum About {
    Ranks,
    Joining,
}

/// A node.
pub(super) struct Node {
    name: String,
    instance: u64,
    prices: Prices,
    flaws: Flaws,
    reader: Rc<Reader>,
    sessions: BTreeMap<(u32, usize), Session>,
    unpacking: BTreeMap<u32, Unpacking>,
    held: HashSet<Hash>,
    /// What the variables are.
    told: HashMap<u32, u64>,
    waits: HashMap<u64, Wait>,
    said: Vec<Said>,
    is_reporting: bool,
}

impl Node {
    pub fn new(
        name: String,
        instance: u64,
        prices: Prices,
        flaws: Flaws,
        reader: Rc<Reader>,
    ) -> Node {
        Node {
            name,
            instance,
            prices,
            flaws,
            reader,
            sessions: BTreeMap::new(),
            unpacking: BTreeMap::new(),
            held: HashSet::new(),
            told: HashMap::new(),
            waits: HashMap::new(),
            said: Vec::new(),
            is_reporting: false,
        }
    }

    /// Jobs of which something is left.
    pub fn left(&self) -> Vec<u32> {
        let sessions = self.sessions.keys().map(|(job, _)| *job);
        sessions.chain(self.unpacking.keys().copied()).collect()
    }

    /// It belongs to the cluster again: the manager learns which start of the daemon this is.
    pub fn joined(&mut self, hands: &mut Hands) {
        let report = self.report(Vec::new());
        self.send(report.letter(&[]).into(), About::Joining, hands);
    }

    /// A letter has come: it is read when those before it are.
    pub fn delivered(&mut self, letter: Payload, hands: &mut Hands) {
        let price = |letter: &&[u8]| {
            let each = match Bytes::read(letter) {
                Some(_) => self.prices.keep,
                None => self.prices.letter,
            };
            letter.len() as u64 * each / 1_000
        };
        let token = hands.work(letters_of(&letter).iter().map(price).sum());
        self.waits.insert(token, Wait::Letter(letter));
    }

    pub fn landed(&mut self, ticket: u64, landing: Landing, hands: &mut Hands) {
        let Some(Wait::Report(letter, about)) = self.waits.remove(&ticket) else { return };
        if landing == Ok(Outcome::Committed) {
            self.is_reporting &= about != About::Ranks;
            return self.tell(hands);
        }
        let token = hands.after(PAUSE);
        self.waits.insert(token, Wait::Again(letter, about));
    }

    pub fn woken(&mut self, token: u64, hands: &mut Hands) {
        match self.waits.remove(&token) {
            Some(Wait::Letter(letter)) => self.read(&letter, hands),
            Some(Wait::Started(job, rank)) => self.started(job, rank, hands),
            Some(Wait::Over(job, rank, status)) => self.over(job, rank, status, hands),
            Some(Wait::Again(letter, about)) => self.send(letter, about, hands),
            Some(Wait::Gathered) => {
                self.is_reporting = false;
                self.tell(hands);
            }
            Some(Wait::Report(..)) | None => {}
        }
    }

    fn read(&mut self, letter: &Payload, hands: &mut Hands) {
        for (at, one) in letters_of(letter).into_iter().enumerate() {
            match Bytes::read(one) {
                Some(bytes) => self.unpack(bytes, letter, hands),
                None => {
                    let order = self.reader.clone().order((letter, at), one);
                    self.obey(&order, hands);
                }
            }
        }
    }

    fn obey(&mut self, order: &Order, hands: &mut Hands) {
        match order {
            Order::Launch(launch) => {
                for rank in self.make(launch) {
                    self.run(launch.job, rank.rank, hands);
                }
            }
            Order::Make { launch, shipment } => {
                let ranks = self.make(launch);
                if self.flaws.is_full {
                    return self.cannot_keep(launch.job, &ranks, "No space left on device", hands);
                }
                // What is being put together is not dropped.
                let is_idle = self.unpacking.values().all(|files| files.has_run);
                if is_idle && !self.held.is_empty() && std::mem::take(&mut self.flaws.drops) {
                    self.held.clear();
                }
                self.unpacking.insert(launch.job, Unpacking::new(ranks, *shipment));
            }
            Order::Chunks { job, count, coming } => {
                let own = coming.iter().filter(|coming| coming.nodes.contains(&self.name));
                let coming: Vec<&str> = own.map(|coming| coming.chunks.as_str()).collect();
                self.gather(*job, *count, &coming, hands);
            }
            Order::Run { job } => {
                if let Some(unpacking) = self.unpacking.get_mut(job) {
                    unpacking.is_to_run = true;
                    self.run_ready(*job, hands);
                }
            }
            // Nobody is stopped here.
            Order::Signal { signal: CONT, .. } => {}
            Order::Signal { job, ranks, signal } => {
                for rank in ranks {
                    self.kill(*job, *rank, *signal, hands);
                }
            }
            Order::End { job } => {
                // Who waits for files says that it has ended.
                let given_up = self.unpacking.remove(job);
                for rank in given_up.into_iter().flat_map(|files| files.ranks) {
                    self.killed_unstarted(*job, rank.rank, hands);
                }
                for rank in self.ranks(|of| of == *job) {
                    self.kill(rank.0, rank.1, KILL, hands);
                }
            }
            // No messages of ranks are simulated here.
            Order::Lost { .. } => {}
            Order::Again { jobs } => self.say_again(jobs, hands),
            Order::Forget { jobs } => self.forget(|job| jobs.contains(&job), hands),
            Order::Join { instance } if *instance == self.instance => self.joined(hands),
            // A start of this daemon before this one was meant.
            Order::Join { .. } => {}
            Order::Strobe(table) => hands.set(STROBE, table.stamp()),
            Order::Keep { only: Some(only), .. } if *only != self.instance => {}
            Order::Keep { last, jobs, expected, .. } => {
                self.forget(|job| job <= *last && !jobs.contains(&job), hands);
                for (node, job, rank) in expected {
                    if *node == self.name {
                        self.look_for(*job, rank.rank, hands);
                    }
                }
            }
        }
    }

    fn ranks(&self, is_meant: impl Fn(u32) -> bool) -> Vec<(u32, usize)> {
        self.sessions.keys().filter(|(job, _)| is_meant(*job)).copied().collect()
    }

    fn make(&mut self, launch: &Launch) -> Vec<Rank> {
        let ranks: Vec<Rank> = launch.own(&self.name, self.instance).collect();
        for rank in &ranks {
            let session = Session { argv: launch.argv.clone(), state: Stage::New, chunks: 0 };
            self.sessions.insert((launch.job, rank.rank), session);
        }
        ranks
    }

    /// Runs a job that is to run, if it has its files.
    fn run_ready(&mut self, job: u32, hands: &mut Hands) {
        let Some(files) = self.unpacking.get_mut(&job) else { return };
        if files.is_to_run && files.parser.is_done() && files.is_gathered && !files.has_run {
            files.has_run = true;
            let ranks: Vec<usize> = files.ranks.iter().map(|rank| rank.rank).collect();
            let chunks = files.gathered;
            for rank in ranks {
                self.sessions.entry((job, rank)).and_modify(|one| one.chunks = chunks);
                self.run(job, rank, hands);
            }
        }
    }

    fn run(&mut self, job: u32, rank: usize, hands: &mut Hands) {
        let Some(session) = self.sessions.get_mut(&(job, rank)) else { return };
        if session.state == Stage::New {
            session.state = Stage::Runs;
            let token = hands.work(self.prices.rank);
            self.waits.insert(token, Wait::Started(job, rank));
        }
    }

    /// The program runs: for how long, and how it ends, its words say.
    fn started(&mut self, job: u32, rank: usize, hands: &mut Hands) {
        let Some(session) = self.sessions.get(&(job, rank)) else { return };
        if session.state != Stage::Runs {
            return;
        }
        let chunks = session.chunks;
        hands.told.push_back(Tell::Ran { attempt: job, rank, status: None, chunks });
        let (micros, status) = super::program(&session.argv);
        if micros == 0 {
            return self.over(job, rank, status, hands);
        }
        let token = hands.after(Duration::from_micros(micros));
        self.waits.insert(token, Wait::Over(job, rank, status));
    }

    fn kill(&mut self, job: u32, rank: usize, signal: i32, hands: &mut Hands) {
        self.over(job, rank, signal, hands);
    }

    fn over(&mut self, job: u32, rank: usize, status: i32, hands: &mut Hands) {
        let Some(session) = self.sessions.get_mut(&(job, rank)) else { return };
        match session.state {
            Stage::Runs => session.state = Stage::Over(Some(status)),
            Stage::New => return session.state = Stage::Over(None),
            Stage::Over(_) => return,
        }
        let (status, chunks) = (Some(status), session.chunks);
        hands.told.push_back(Tell::Ran { attempt: job, rank, status, chunks });
        self.say_end(job, rank, status.unwrap_or_default(), hands);
    }

    /// It was killed before its program could run.
    fn killed_unstarted(&mut self, job: u32, rank: usize, hands: &mut Hands) {
        let session = self.sessions.get_mut(&(job, rank));
        if let Some(session) = session.filter(|session| session.state == Stage::New) {
            session.state = Stage::Over(Some(KILL));
            self.say_end(job, rank, KILL, hands);
        }
    }

    fn say_end(&mut self, job: u32, rank: usize, status: i32, hands: &mut Hands) {
        let usage = USAGE.to_owned();
        let what = What::Ended { status, usage, stdout: 0, stderr: 0 };
        self.say(Said { job, rank, what }, hands);
    }

    /// Says how ranks have ended once more.
    fn say_again(&mut self, jobs: &[u32], hands: &mut Hands) {
        for (job, rank) in self.ranks(|of| jobs.contains(&of)) {
            if let Stage::Over(Some(status)) = self.sessions[&(job, rank)].state {
                self.say_end(job, rank, status, hands);
            }
        }
    }

    fn unpack(&mut self, bytes: Bytes<'_>, letter: &Payload, hands: &mut Hands) {
        let Bytes { kind, job, number, bytes } = bytes;
        let Some(unpacking) = self.unpacking.get_mut(&job) else { return };
        match kind {
            Kind::Piece => {
                let is_next = unpacking.tally.step(number);
                if !is_next || unpacking.parser.push(bytes, &mut unpacking.known).is_err() {
                    return self.give_up(job, "a part of them is missing", hands);
                }
            }
            Kind::Chunk => {
                let Some(hash) = unpacking.tally.chunk(number).copied() else {
                    return self.give_up(job, "a part of them is missing", hands);
                };
                let is_corrupt = std::mem::take(&mut self.flaws.corrupts);
                if is_corrupt || !self.reader.is_of(&hash, letter, bytes) {
                    let why = "a chunk of it is corrupt: its bytes are not those of its hash";
                    return self.give_up(job, why, hands);
                }
                self.held.insert(hash);
                let jobs: Vec<u32> = self.unpacking.keys().copied().collect();
                jobs.into_iter().for_each(|other| self.advance(other, false, hands));
                return;
            }
        }
        self.advance(job, false, hands);
    }

    fn gather(&mut self, job: u32, count: u64, coming: &[&str], hands: &mut Hands) {
        let Some(unpacking) = self.unpacking.get_mut(&job) else { return };
        if !unpacking.tally.step(count) || !unpacking.parser.is_done() {
            return self.give_up(job, "a part of them is missing", hands);
        }
        let files = std::mem::take(&mut unpacking.known.0);
        unpacking.is_gathered &= files.is_empty();
        let hashes = files.iter().flat_map(|recipe| recipe.chunks.iter().copied());
        unpacking.hashes.extend(hashes.clone());
        unpacking.tally.told(hashes);
        let has_run = unpacking.has_run;
        unpacking.tally.round(coming, |hash| !has_run && !self.held.contains(hash));
        self.advance(job, true, hands);
    }

    /// Sees what is there of a job's files by now, and tells it.
    fn advance(&mut self, job: u32, is_round: bool, hands: &mut Hands) {
        let Some(unpacking) = self.unpacking.get_mut(&job) else { return };
        let (tally, held, has_run) = (&mut unpacking.tally, &mut self.held, unpacking.has_run);
        let is_whole = tally.advance(|hash| !has_run && !held.contains(hash));
        let is_whole = is_whole && !unpacking.is_gathered;
        if is_whole {
            if let (true, Some(first)) = (std::mem::take(&mut self.flaws.changes), tally.chunk(0)) {
                held.remove(first);
            }
            // What is made anew for another job is lacking here, too.
            tally.dropped(|hash| !held.contains(hash));
            unpacking.is_gathered = tally.lacks().is_none();
            unpacking.gathered = unpacking.hashes.iter().filter(|hash| held.contains(hash)).count();
        }
        let lacks = tally.lacks().filter(|_| is_round || is_whole);
        let (variable, count) = (unpacking.variable, tally.value());
        let told = self.told.entry(variable).or_default();
        if count > *told {
            *told = count;
            hands.set(variable, count);
        }
        if let (Some(chunks), Some(rank)) = (lacks, unpacking.ranks.first().map(|rank| rank.rank)) {
            self.say(Said { job, rank, what: What::Lacks { chunks } }, hands);
        }
        self.run_ready(job, hands);
    }

    fn give_up(&mut self, job: u32, why: &str, hands: &mut Hands) {
        if let Some(given_up) = self.unpacking.remove(&job) {
            self.cannot_keep(job, &given_up.ranks, why, hands);
        }
    }

    fn cannot_keep(&mut self, job: u32, ranks: &[Rank], why: &str, hands: &mut Hands) {
        for rank in ranks {
            let (rank, node) = (rank.rank, &self.name);
            let text = format!("the job's files did not reach rank {rank} on {node}: {why}");
            self.failed(job, rank, format!("{text}  [E205]"), hands);
        }
    }

    fn failed(&mut self, job: u32, rank: usize, why: String, hands: &mut Hands) {
        if let Some(session) = self.sessions.get_mut(&(job, rank)) {
            session.state = Stage::Over(None);
        }
        self.say(Said { job, rank, what: What::Failed { why } }, hands);
    }

    /// Says so if the order to start a rank has not been heard here.
    fn look_for(&mut self, job: u32, rank: usize, hands: &mut Hands) {
        let is_new = self.sessions.get(&(job, rank)).is_none_or(|one| one.state == Stage::New);
        if is_new {
            let node = &self.name;
            let why = format!("{node} was away when it was to start rank {rank}");
            self.failed(job, rank, format!("{why}  [E304, exit 125]"), hands);
            self.unpacking.remove(&job);
        }
    }

    /// Wipes the sessions of jobs, with what runs in them.
    fn forget(&mut self, is_meant: impl Fn(u32) -> bool, hands: &mut Hands) {
        self.unpacking.retain(|job, _| !is_meant(*job));
        self.sessions.retain(|&(job, rank), session| {
            if is_meant(job) && session.state == Stage::Runs {
                let (status, chunks) = (Some(KILL), session.chunks);
                hands.told.push_back(Tell::Ran { attempt: job, rank, status, chunks });
            }
            !is_meant(job)
        });
    }

    fn say(&mut self, said: Said, hands: &mut Hands) {
        self.said.push(said);
        self.tell(hands);
    }

    /// Sends what there is to say, unless a report is on its way. Told, it costs least, and what
    /// comes next gathers for a moment; else it is an operation.
    fn tell(&mut self, hands: &mut Hands) {
        if self.is_reporting || self.said.is_empty() {
            return;
        }
        self.is_reporting = true;
        let said = std::mem::take(&mut self.said);
        let report = self.report(said);
        let letter = report.letter(&[]);
        if !report.may_be_told(&letter) {
            return self.send(letter.into(), About::Ranks, hands);
        }
        hands.tell(letter.into());
        let token = hands.after(MOMENT);
        self.waits.insert(token, Wait::Gathered);
    }

    fn report(&self, said: Vec<Said>) -> Report {
        Report { node: self.name.clone(), instance: self.instance, said }
    }

    fn send(&mut self, letter: Payload, about: About, hands: &mut Hands) {
        let ticket = hands.send(Nodes::one(MANAGER), letter.clone());
        self.waits.insert(ticket, Wait::Report(letter, about));
    }
}

impl Unpacking {
    fn new(ranks: Vec<Rank>, shipment: Shipment) -> Unpacking {
        Unpacking {
            tally: Tally::new(shipment),
            variable: shipment.variable,
            ranks,
            parser: Parser::default(),
            known: KnownFiles::default(),
            hashes: Vec::new(),
            gathered: 0,
            is_gathered: true,
            is_to_run: false,
            has_run: false,
        }
    }
}

/// The files that a stream tells by their chunks.
#[derive(Default)]
struct KnownFiles(Vec<Recipe>);

impl Sink for KnownFiles {
    type Error = BadStream;

    fn known(&mut self, _: &str, _: u32, recipe: Recipe) -> Result<(), BadStream> {
        self.0.push(recipe);
        Ok(())
    }
}

fn letters_of(bundle: &Payload) -> Vec<&[u8]> {
    letters(bundle).expect("the manager's bundles can be read")
}
