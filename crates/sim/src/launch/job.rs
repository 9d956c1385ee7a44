//! One attempt at a job: its life (the shipped `Progress`), and the steps of its launch.

use super::daemon::{Hands, Tell};
use super::manager::{Manager, SOON, Wait};
use super::{Ended, Wish};
use muster_base::limits::LETTER_MAX;
use muster_fabric::primitive::Nodes;
use muster_fabric::protocol::{NodeId, Payload, Time};
use muster_machine::chunk::Hash;
use muster_machine::launch::bundle::Bundle;
use muster_machine::launch::{
    Bytes, Kind, Launch, Order, Part, Said, Shipment, UMASK, What, exit_in, session_of,
};
use muster_machine::manager::flow::{FLYING, Flow, HEAR, Lacking};
use muster_machine::manager::place::place;
use muster_machine::manager::progress::{Action, Bears, Progress};
use muster_machine::manager::shipping::{Shipping, Want};
use muster_machine::manager::spec::{End, Phase, Spec, Stdin};
use muster_machine::memory::{id_of, name_of};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// How often it is looked whether all nodes belong to the cluster, and whether there is room.
const LOOK: Duration = Duration::from_millis(5);

/// After so many looks it is seen whether those that do not belong to it live.
const LOOKS: u32 = 1000;

/// Which start of the manager this is: there is no other.
const TERM: u32 = 1;

/// Why a launch fails, and at which rank.
pub(super) type Failed = (Option<usize>, String);

/// A step of a launch, which the one behind it waits for.
pub(super) enum Step {
    /// Somebody computes.
    Work(u64),
    /// The ranks get places.
    Place,
    /// The files get a variable of their own.
    Book,
    /// All nodes belong to the cluster.
    Members(u32),
    /// An order goes to all nodes, and arrives.
    Order(Order),
    /// A letter goes to some nodes.
    Send(Nodes, Payload),
    /// So much has been unpacked by some nodes. Whether it ends as well when one lacks something.
    Reach(Nodes, u64, bool),
    /// The nodes have been told to run it: all can, or somebody lacks something.
    Hear,
    /// The nodes are told which chunks come.
    Announce,
    /// The client gives a chunk.
    Give(u32),
    /// It goes to those who lack it.
    Chunk(u32),
    /// All that was sent has arrived.
    Land,
    /// All nodes have all chunks, or more are to be given.
    Gather,
    /// The files are there.
    Sent,
    /// The programs are run.
    Execute(bool),
}

/// When things happened to a job, by the manager's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub submitted: Time,
    pub sent: Option<Time>,
    pub started: Option<Time>,
    pub ended: Option<Time>,
}

/// An attempt at a job.
pub(super) struct Job {
    /// The job's number.
    pub id: u32,
    /// What letters call it.
    pub attempt: u32,
    /// How many attempts before it have failed.
    failed: usize,
    wish: Wish,
    pub progress: Progress,
    pub steps: VecDeque<Step>,
    /// The step before the next is not done yet.
    pub waits: bool,
    pub flying: usize,
    /// The question that was asked last holds.
    pub is_reached: bool,
    /// What was on its way has not arrived.
    pub broken: Option<Failed>,
    /// Nobody knows whether nodes that were told to run it can: one has left.
    pub is_open: bool,
    /// The programs are being run: what is begun is done, whatever happens.
    is_executing: bool,
    /// The nodes should have everything, and were not asked before they run it.
    is_trusting: bool,
    /// They have said that it runs.
    pub runs: bool,
    /// All nodes count all of its files: what says otherwise was sent before that.
    pub has_files: bool,
    /// Nothing of it is left anywhere.
    pub is_over: bool,
    flow: Flow,
    /// What all nodes are sent next.
    bundle: Bundle,
    /// The last order to run it, until it has arrived.
    order: Option<Order>,
    /// What it waits for to send its files, and its place there.
    pub turn: Option<(Want, u64)>,
    /// The variable in which its nodes count these.
    booked: Option<u32>,
    question: (Nodes, u64, bool),
    pub set: Nodes,
    pub instances: Vec<u64>,
    pub claimed: Vec<bool>,
    pub early: Vec<(u64, Said)>,
    chunks: Vec<(Hash, Vec<u8>)>,
    lacking: Lacking,
    pub times: Times,
}

impl Job {
    /// The first attempt at one.
    pub fn new(id: u32, wish: Wish, now: Time) -> Job {
        let chunks = wish.chunks();
        Job::attempt((id, id, 0), (wish, chunks), now)
    }

    /// The attempt after this one, which goes by that number.
    pub fn another(&self, attempt: u32) -> Job {
        let files = (self.wish.clone(), self.chunks.clone());
        Job::attempt((self.id, attempt, self.failed + 1), files, self.times.submitted)
    }

    fn attempt(
        (id, attempt, failed): (u32, u32, usize),
        (wish, chunks): (Wish, Vec<(Hash, Vec<u8>)>),
        submitted: Time,
    ) -> Job {
        Job {
            id,
            attempt,
            failed,
            wish,
            progress: Progress::default(),
            steps: VecDeque::new(),
            waits: false,
            flying: 0,
            is_reached: false,
            broken: None,
            is_open: false,
            is_executing: false,
            is_trusting: false,
            runs: false,
            has_files: false,
            is_over: false,
            flow: Flow::new(Shipment { variable: 0, start: 0 }),
            bundle: Bundle::default(),
            order: None,
            turn: None,
            booked: None,
            question: (Nodes::none(), 0, false),
            set: Nodes::none(),
            instances: Vec::new(),
            claimed: Vec::new(),
            early: Vec::new(),
            chunks,
            lacking: Lacking::default(),
            times: Times { submitted, sent: None, started: None, ended: None },
        }
    }

    fn bears(&self) -> Bears {
        Bears::of(&Spec { requeue: self.wish.requeue, ..Spec::default() }, self.failed)
    }

    /// How far it is, in words.
    pub fn open(&self) -> String {
        let (attempt, phase, steps) = (self.attempt, self.progress.phase(), self.steps.len());
        let (turn, flying) = (self.turn, self.flying);
        let (waits, nodes) = (self.waits, self.alone().1);
        format!(
            "attempt {attempt} is {phase:?} at {nodes}, with {steps} steps (waits: {waits}, for a \
             turn: {turn:?}, pieces on their way: {flying})"
        )
    }

    /// Whether another attempt may follow this one.
    pub fn may_begin_again(&self) -> bool {
        self.bears().again
    }

    /// Whether what is still to be done for its launch is to be left.
    pub fn is_ended(&self) -> bool {
        !self.is_executing && !matches!(self.progress.phase(), Phase::New | Phase::Starting)
    }

    /// Takes the first step, if that can be done now.
    pub fn step(&mut self, manager: &mut Manager, hands: &mut Hands) -> Result<bool, Failed> {
        let Some(step) = self.steps.pop_front() else { return Ok(false) };
        match step {
            Step::Work(time) => {
                self.waits = true;
                manager.waits.insert(hands.work(time), Wait::Step(self.attempt));
            }
            Step::Place => self.place(manager, hands)?,
            Step::Book => return Ok(self.book(manager, hands)),
            Step::Members(looks) => {
                let missing = self.set.iter().find(|node| !manager.members.contains(*node));
                if let Some(missing) = missing {
                    if looks % LOOKS == LOOKS - 1 && !self.has_its_nodes(manager) {
                        let text = "does not belong to the cluster's global memory";
                        return Err((None, format!("{} {text}  [E306]", name_of(missing))));
                    }
                    self.look_again(Step::Members(looks + 1), manager, hands);
                }
            }
            Step::Order(order) => self.order(&order, manager, hands)?,
            Step::Send(to, letter) => return Ok(self.send(to, letter, manager, hands)),
            Step::Reach(set, count, may_lack) => {
                (self.question, self.is_reached) = ((set, count, may_lack), false);
                self.ask(0, manager, hands);
            }
            Step::Hear => {
                let all = self.flow.with_chunks(self.chunks.len());
                (self.question, self.is_reached) = ((self.set.clone(), all, true), false);
                self.waits = !self.is_answered();
                if self.waits {
                    manager.waits.insert(hands.after(HEAR), Wait::Ask(self.attempt, 0));
                }
            }
            Step::Announce => self.tell_nodes(manager)?,
            Step::Give(chunk) => {
                let bytes = self.chunks[chunk as usize].1.len() as u64;
                self.steps.push_front(Step::Chunk(chunk));
                self.steps.push_front(Step::Work(bytes * manager.prices.give / 1_000));
            }
            Step::Chunk(chunk) => self.send_chunk(chunk),
            Step::Land => {
                if self.flying > 0 {
                    self.steps.push_front(Step::Land);
                    return Ok(false);
                }
            }
            Step::Gather => self.gather(manager)?,
            Step::Sent => self.times.sent = Some(hands.now),
            Step::Execute(is_made) => self.execute(is_made),
        }
        Ok(true)
    }

    /// Has a step taken a moment later.
    fn look_again(&mut self, step: Step, manager: &mut Manager, hands: &mut Hands) {
        self.steps.push_front(step);
        self.waits = true;
        manager.waits.insert(hands.after(LOOK), Wait::Step(self.attempt));
    }

    /// Whether it is this job's turn to have something that others want, too.
    fn has_turn(&mut self, want: Want, manager: &mut Manager) -> bool {
        let (_, number) = *self.turn.get_or_insert_with(|| (want, manager.shipping.come(want)));
        manager.shipping.is_next(want, number)
    }

    /// It has it.
    fn took(&mut self, manager: &mut Manager, hands: &mut Hands) {
        if let Some((want, number)) = self.turn.take() {
            manager.shipping.leave(want, number);
            manager.waits.insert(hands.after(SOON), Wait::Room);
        }
    }

    /// Gets a variable and has the files' sessions made; false if it is not its turn yet, which it
    /// is told.
    fn book(&mut self, manager: &mut Manager, hands: &mut Hands) -> bool {
        let has_turn = self.has_turn(Want::Variable, manager);
        let Some(shipment) = has_turn.then(|| manager.shipping.book(TERM)).flatten() else {
            self.steps.push_front(Step::Book);
            return false;
        };
        self.took(manager, hands);
        (self.flow, self.booked) = (Flow::new(shipment), Some(shipment.variable));
        let make = Order::Make { launch: self.launch(), shipment };
        let head = Bytes::head(Kind::Piece, self.attempt, self.flow.next_piece());
        self.flow.piece();
        let piece = [&head[..], &self.wish.stream(&self.chunks)].concat();
        self.steps.push_back(Step::Members(0));
        self.post(make.letter());
        self.post(piece);
        self.steps.push_back(Step::Announce);
        true
    }

    /// Sends a letter as soon as there is room; false if there is none.
    fn send(
        &mut self,
        to: Nodes,
        letter: Payload,
        manager: &mut Manager,
        hands: &mut Hands,
    ) -> bool {
        let has_room = self.flying < FLYING
            && self.has_turn(Want::Piece, manager)
            && Shipping::has_room(manager.flying);
        if !has_room {
            // It is told when there is.
            self.steps.push_front(Step::Send(to, letter));
            return false;
        }
        self.took(manager, hands);
        self.flying += 1;
        manager.flying += 1;
        let ticket = hands.send(to.clone(), letter.clone());
        manager.waits.insert(ticket, Wait::Flying(self.attempt, to, letter));
        // That it is refused is known before the next goes.
        self.waits = true;
        manager.waits.insert(hands.after(SOON), Wait::Step(self.attempt));
        true
    }

    /// What was refused goes first.
    pub fn send_again(&mut self, to: Nodes, letter: Payload) {
        self.steps.push_front(Step::Send(to, letter));
        self.waits = true;
    }

    /// The order to run it goes to all once more, when all belong to the cluster.
    pub fn order_again(&mut self) {
        self.steps.extend([Step::Members(0)]);
        self.steps.extend(self.order.take().map(Step::Order));
    }

    /// What it had to send its files, and what it waited for.
    pub fn release(&mut self) -> (Option<u32>, Option<(Want, u64)>) {
        (self.booked.take(), self.turn.take())
    }

    /// Whether all its nodes are the starts of daemons that they were when it got them.
    pub fn has_its_nodes(&self, manager: &Manager) -> bool {
        let mut nodes = self.set.iter().zip(&self.instances);
        nodes.all(|(node, instance)| manager.is_there(node, *instance))
    }

    /// They learn which chunks come: those that they are not known to hold.
    fn tell_nodes(&mut self, manager: &Manager) -> Result<(), Failed> {
        let lacking = manager.holdings.lacking(&self.holders(), &self.hashes());
        self.lacking = Lacking::new(lacking);
        self.announce()?;
        self.is_trusting = self.lacking.wanted().is_empty();
        match self.is_trusting {
            true => self.steps.extend([Step::Sent, Step::Execute(true)]),
            false => self.give(),
        }
        Ok(())
    }

    fn execute(&mut self, is_made: bool) {
        if !self.progress.executing() {
            return;
        }
        self.is_executing = true;
        let launch = self.launch();
        let run = Order::Run { job: self.attempt };
        if self.is_trusting {
            self.post(run.letter());
            self.flush();
            self.steps.extend([Step::Land, Step::Hear, Step::Gather]);
            return;
        }
        let order = if is_made { run } else { Order::Launch(launch) };
        self.steps.push_front(Step::Order(order));
        self.steps.push_front(Step::Members(0));
    }

    fn order(
        &mut self,
        order: &Order,
        manager: &mut Manager,
        hands: &mut Hands,
    ) -> Result<(), Failed> {
        let letter = order.letter();
        if letter.len() > LETTER_MAX {
            let text = format!("the order to launch it takes {} bytes", letter.len());
            return Err((None, format!("{text}, {LETTER_MAX} is the limit  [E112]")));
        }
        self.waits = true;
        self.order = Some(order.clone());
        let ticket = hands.send(self.set.clone(), letter.into());
        manager.waits.insert(ticket, Wait::Step(self.attempt));
        Ok(())
    }

    fn place(&mut self, manager: &mut Manager, hands: &mut Hands) -> Result<(), Failed> {
        let up = manager.up();
        let count = self.wish.nodes.min(up.len());
        if count == 0 {
            // It waits in the queue.
            self.look_again(Step::Place, manager, hands);
            return Ok(());
        }
        let names: Vec<String> = up[..count].iter().map(|(node, _)| name_of(*node)).collect();
        let places = place(count, &names, None);
        let instances: BTreeMap<NodeId, u64> = up.into_iter().collect();
        let ids: Vec<NodeId> = places.iter().filter_map(|place| id_of(&place.node)).collect();
        self.instances = ids.iter().map(|node| instances[node]).collect();
        self.set = ids.into_iter().collect();
        self.claimed = vec![false; count];
        let sessions = places.iter().map(|place| session_of(self.attempt, place.local)).collect();
        self.progress.placed(places, sessions, self.bears());
        match self.chunks.is_empty() {
            true => self.steps.extend([Step::Sent, Step::Execute(false)]),
            false => self.steps.push_back(Step::Book),
        }
        Ok(())
    }

    /// Has a letter sent to all nodes, with those that follow it soon.
    fn post(&mut self, letter: Vec<u8>) {
        let before = self.bundle.add(letter);
        self.steps.extend(before.map(|letter| Step::Send(self.set.clone(), letter.into())));
    }

    fn flush(&mut self) {
        let bundle = self.bundle.take();
        self.steps.extend(bundle.map(|letter| Step::Send(self.set.clone(), letter.into())));
    }

    fn launch(&self) -> Launch {
        let part = |(rank, instance): (&str, u64), first| {
            let (node, count) = (rank.to_owned(), 1);
            Part { node, instance, first, count }
        };
        let ranks = self.progress.ranks().iter().zip(&self.instances).enumerate();
        let nodes = ranks.map(|(at, (rank, instance))| part((&rank.node, *instance), at)).collect();
        let argv = self.wish.argv();
        let env = self.wish.env.clone();
        let (job, known_as, stdin, chdir) = (self.attempt, self.id, Stdin::NONE, None);
        let (in_turns, binds, umask, view) = (false, true, UMASK, None);
        Launch { job, known_as, argv, env, stdin, chdir, in_turns, binds, umask, view, nodes }
    }

    fn hashes(&self) -> Vec<Hash> {
        self.chunks.iter().map(|(hash, _)| *hash).collect()
    }

    fn holders(&self) -> Vec<(String, u64)> {
        let ranks = self.progress.ranks().iter().zip(&self.instances);
        ranks.map(|(rank, instance)| (rank.node.clone(), *instance)).collect()
    }

    /// The nodes are told which chunks come.
    fn announce(&mut self) -> Result<(), Failed> {
        if !self.flow.round(self.chunks.len()) {
            let text = "the nodes drop the job's files as fast as they get them  [E205]";
            return Err((None, text.to_owned()));
        }
        let (count, coming) = (self.flow.sent(), self.lacking.coming());
        let order = Order::Chunks { job: self.attempt, count, coming };
        self.post(order.letter());
        Ok(())
    }

    /// Chunks are given, and then awaited.
    fn give(&mut self) {
        self.flush();
        self.steps.extend(self.lacking.wanted().into_iter().map(Step::Give));
        let all = self.flow.with_chunks(self.chunks.len());
        self.steps.extend([Step::Land, Step::Reach(self.set.clone(), all, true), Step::Gather]);
    }

    fn send_chunk(&mut self, chunk: u32) {
        let nodes = self.lacking.take(chunk as usize);
        let to: Nodes = nodes.into_iter().collect();
        if to.is_empty() {
            return;
        }
        let head = Bytes::head(Kind::Chunk, self.attempt, chunk.into());
        let letter = [&head[..], &self.chunks[chunk as usize].1].concat();
        self.steps.push_front(Step::Send(to.clone(), letter.into()));
        if let Some(count) = self.flow.chunks(chunk.into()) {
            self.steps.push_front(Step::Reach(to, count, false));
        }
    }

    fn gather(&mut self, manager: &mut Manager) -> Result<(), Failed> {
        let is_reached = std::mem::take(&mut self.is_reached);
        self.has_files |= is_reached;
        if std::mem::take(&mut self.is_trusting) {
            self.runs = is_reached || !self.is_lacking();
            if self.runs {
                return Ok(());
            }
            self.progress.holds_on();
            (self.is_executing, self.times.sent) = (false, None);
        }
        if is_reached {
            manager.holdings.add(&self.holders(), &self.hashes());
            self.steps.extend([Step::Sent, Step::Execute(true)]);
            return Ok(());
        }
        // Somebody lacks something.
        let (lacks, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.early)
            .into_iter()
            .partition(|(_, said)| matches!(said.what, What::Lacks { .. }));
        self.early = rest;
        for (_, said) in lacks {
            let What::Lacks { chunks } = said.what else { continue };
            let node = self.progress.ranks()[said.rank].node.clone();
            for at in self.lacking.add(&node, &chunks) {
                manager.holdings.remove(&node, &self.chunks[at as usize].0);
            }
        }
        self.announce()?;
        self.give();
        Ok(())
    }

    /// Asks whether its nodes have come so far, unless the answer does not matter any more.
    pub fn ask(&mut self, times: usize, manager: &mut Manager, hands: &mut Hands) {
        let (set, count, may_lack) = &self.question;
        self.waits = !(*may_lack && self.is_answered());
        if self.waits {
            let variable = self.booked.expect("it sends files");
            let ticket = hands.ask(set.clone(), variable, *count);
            manager.waits.insert(ticket, Wait::Answer(self.attempt, times));
        }
    }

    /// How long to wait before a question is asked for the next time.
    pub fn pause(&self, times: usize) -> Duration {
        let pause = match self.is_trusting {
            true => Flow::hearings().nth(times),
            false => Flow::pauses().nth(times),
        };
        pause.expect("pauses do not end")
    }

    /// A question of its has failed. Who has died is lost to a job that runs.
    pub fn broke(&mut self, why: &str) {
        self.waits = false;
        match self.is_trusting {
            true => self.is_open = true,
            false => self.broken = Some(not_sent(why)),
        }
    }

    /// Whether what nodes have said makes the question needless.
    pub fn is_answered(&self) -> bool {
        let is_failed = |(_, said): &(u64, Said)| matches!(said.what, What::Failed { .. });
        let is_known = self.early.iter().any(is_failed) || self.is_open;
        self.is_lacking() || self.is_trusting && (is_known || self.has_all_said())
    }

    fn has_all_said(&self) -> bool {
        let ranks: BTreeSet<usize> = self.early.iter().map(|(_, said)| said.rank).collect();
        ranks.len() == self.progress.ranks().len()
    }

    /// Whether somebody has said that it lacks chunks.
    fn is_lacking(&self) -> bool {
        self.early.iter().any(|(_, said)| matches!(said.what, What::Lacks { .. }))
    }

    /// What a rank has said that cannot have its files, or what has not arrived, while these are on
    /// their way.
    pub fn failed(&self) -> Option<Failed> {
        if self.chunks.is_empty() || self.times.sent.is_some() {
            return self.broken.clone();
        }
        let said = self.early.iter().find_map(|(_, said)| match &said.what {
            What::Failed { why } => Some((Some(said.rank), why.clone())),
            _ => None,
        });
        said.or_else(|| self.broken.clone())
    }

    /// The order has arrived. The last one runs the programs.
    pub fn ordered(&mut self, now: Time) -> Vec<Action> {
        if !self.is_executing || !self.steps.is_empty() {
            return Vec::new();
        }
        (self.times.started, self.is_executing) = (Some(now), false);
        self.progress.started()
    }

    /// Its launch has failed; whether for the loss of a node.
    pub fn start_failed(&mut self, (rank, why): Failed, is_lost: bool) -> Vec<Action> {
        self.steps.clear();
        self.is_executing = false;
        let why = self.progress.cause().map_or(why, |(_, _, why)| why);
        self.progress.start_failed(rank, exit_in(&why), &why, is_lost)
    }

    /// What ranks have said while the job was being started.
    pub fn take_early(&mut self) -> Vec<(u64, Said)> {
        match self.progress.phase() {
            Phase::New | Phase::Pending | Phase::Starting => Vec::new(),
            _ => std::mem::take(&mut self.early),
        }
    }

    /// Has a rank's end told by one only; false if it is not open to that.
    pub fn claim(&mut self, rank: usize) -> bool {
        let is_open = rank < self.claimed.len() && !self.progress.is_closed(rank);
        is_open && !std::mem::replace(&mut self.claimed[rank], true)
    }

    /// The nodes with ranks of which nobody has heard.
    pub fn unheard_at(&self) -> Nodes {
        let ranks = self.progress.ranks().iter().zip(&self.claimed);
        let unheard = ranks.filter(|(one, heard)| !**heard && !self.progress.is_closed(one.rank));
        unheard.filter_map(|(rank, _)| id_of(&rank.node)).collect()
    }

    /// Its ranks on a start of a node that are not closed.
    pub fn open_ranks(&self, node: &str, instance: u64) -> Vec<usize> {
        let ranks = self.progress.ranks().iter().zip(&self.instances);
        let ranks = ranks.filter(|(rank, of)| rank.node == node && **of == instance);
        let ranks = ranks.map(|(rank, _)| rank);
        ranks.map(|rank| rank.rank).filter(|rank| !self.progress.is_closed(*rank)).collect()
    }

    /// The ranks that are not closed, and their nodes.
    pub fn alone(&self) -> (Vec<usize>, Nodes) {
        let open = self.progress.ranks().iter().filter(|one| !self.progress.is_closed(one.rank));
        let open: Vec<_> = open.filter_map(|rank| Some((rank.rank, id_of(&rank.node)?))).collect();
        let nodes = open.iter().map(|(_, node)| *node).collect();
        (open.into_iter().map(|(rank, _)| rank).collect(), nodes)
    }

    /// Whether all its ranks have ended well.
    pub fn is_well(&self) -> bool {
        self.progress.verdict().is_some_and(|(end, ..)| end == End::Done)
    }

    /// Its client has its end.
    pub fn tell(&self, hands: &mut Hands) {
        let (end, exit, why) = self.progress.verdict().expect("it has ended");
        let since = |time: Option<Time>| time.map(|time| (time - self.times.submitted).as_nanos());
        let nanos = |time: Option<Time>| since(time).unwrap_or_default() as u64;
        hands.told.push_back(Tell::Ended(Ended {
            job: self.id,
            attempt: self.attempt,
            failed: (self.failed as u32, self.wish.requeue),
            wanted: self.wish.nodes,
            end,
            exit,
            why,
            ranks: self.progress.ranks().len(),
            chunks: self.chunks.len(),
            sent: nanos(self.times.sent),
            ended: nanos(self.times.ended),
        }));
    }
}

/// What it is called when a job's files do not arrive.
pub(super) fn not_sent(why: &str) -> Failed {
    (None, format!("the job's files have not arrived: {why}  [E205]"))
}
