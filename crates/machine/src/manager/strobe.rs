//! Where the table of slots goes when it changes: to the strobers, one a machine.
//!
//! A thread sends the latest table by an order to one node of each machine, which tells its strober
//! and then sets its instance of a variable to the table's stamp. COMPARE-AND-WRITE tells when all
//! have it; a launch waits for that, so no rank is born into others' turns. What does not arrive,
//! as when a strober or a node has just died, is sent again. One launch waits for that; if it does
//! so in vain, those behind it wait only until the others have had the time to take the table.
//! Nodes that come in may be the first of their machine, so it is sent again then, too.
//!
//! The slice is as long as the machine needs that needs the longest ([`least_slice`]): its nodes
//! tell when they join. One that comes or goes may change it.
//!
//! As long as jobs take turns a strobe of the heartbeat tells the machines every second how far the
//! rotation is, for their clocks drift apart ([`crate::strober`]); and a strober that was started
//! again and found no table, as on a full disk, has it sent again then.

use super::nodes::Link;
use super::{Manager, Nodes};
use crate::launch::Order;
use crate::memory::{Memory, STROBE, id_of};
use crate::slots::Slots;
use crate::strober::{Phase, Table, least_slice};
use muster_base::limits::SLICE_MIN;
use muster_fabric::Deadline;
use muster_fabric::heartbeat::{Event, Request};
use muster_fabric::primitive::Nodes as Set;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

/// How long strobers may take to have a table before it is sent once more.
const TAKEN: Duration = Duration::from_millis(200);

/// How long they may take while there is one that does not answer.
const TAKEN_BY_OTHERS: Duration = Duration::from_millis(20);

/// Between two looks whether they have it.
const LOOK: Duration = Duration::from_micros(300);

/// The pauses before a table is sent once more that has not arrived: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// The pause before machines are told again how far the rotation is.
const IN_STEP: Duration = Duration::from_secs(1);

/// How long a launch waits for the strobers: a strober that is dead stops nobody.
const PATIENCE: Duration = Duration::from_millis(500);

/// The table, and who has it.
pub(super) struct Strobe {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// When the first slot's first turn began.
    start: Instant,
}

#[derive(Default)]
struct State {
    slots: Slots,
    /// The slice that was asked for.
    asked: Duration,
    /// The shortest that all machines keep to.
    least: Duration,
    number: u32,
    /// The number that all strobers have.
    taken: u32,
    /// The number that was sent last, whoever has it.
    tried: u32,
    /// A launch has waited in vain since all had one.
    is_deaf: bool,
    /// When it is to be sent again, whoever has it.
    due: Option<Instant>,
    /// When the machines are to be told how far it is.
    step: Option<Instant>,
    is_over: bool,
}

impl Strobe {
    /// Nobody takes turns.
    pub(super) fn new(directory: &Path, term: u32) -> Strobe {
        let start = Instant::now();
        // Strobers may have the table of a manager before this one.
        let (number, least) = (u32::from(term > 1), least_slice(directory));
        let state = State { number, least, ..State::default() };
        let shared = Shared { state: Mutex::new(state), changed: Condvar::new(), start };
        Strobe { shared: Arc::new(shared) }
    }

    /// Begins to tell the strobers.
    ///
    /// # Errors
    /// When no thread is left.
    pub(super) fn serve(&self, manager: &Arc<Manager>, memory: &Arc<Memory>) -> io::Result<()> {
        let teller = Teller {
            shared: self.shared.clone(),
            manager: Arc::downgrade(manager),
            memory: memory.clone(),
        };
        std::thread::Builder::new().name("strobe".into()).spawn(move || teller.run()).map(drop)
    }

    /// The table.
    pub(super) fn slots(&self) -> Slots {
        self.shared.lock().slots.clone()
    }

    /// From now on jobs take turns by `slots`. It does not wait: the queue calls it locked, in the
    /// order of its tables.
    pub(super) fn set(&self, slots: &Slots) {
        let mut state = self.shared.lock();
        state.asked = slots.slice;
        let slots = Slots { slice: slots.slice.max(state.least), slots: slots.slots.clone() };
        if state.slots != slots {
            state.slots = slots;
            state.number += 1;
            self.shared.changed.notify_all();
        }
    }

    /// A job has ended: a slot that was its alone is given up.
    pub(super) fn forget(&self, job: u32) {
        let mut state = self.shared.lock();
        let slots = &mut state.slots.slots;
        if slots.iter().any(|slot| slot.contains(&job)) {
            slots.iter_mut().for_each(|slot| slot.retain(|other| *other != job));
            slots.retain(|slot| !slot.is_empty());
            state.number += 1;
            self.shared.changed.notify_all();
        }
    }

    /// Sends the table again: there may be a strober that has not heard it.
    pub(super) fn repeat(&self) {
        let mut state = self.shared.lock();
        if state.number > 0 {
            state.due = Some(Instant::now());
            self.shared.changed.notify_all();
        }
    }

    /// Waits until the strobers have the table, if they answer.
    pub(super) fn settle(&self) {
        let state = self.shared.lock();
        let wanted = state.number;
        let is_open = |state: &mut State| state.is_awaited(wanted);
        let waited = self.shared.changed.wait_timeout_while(state, PATIENCE, is_open);
        let (mut state, waited) = waited.expect("no holder panics");
        state.is_deaf |= waited.timed_out();
    }

    /// How long it may take until it is a job's turn.
    pub(super) fn cycle(&self) -> Duration {
        self.shared.lock().slots.cycle()
    }
}

impl Drop for Strobe {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
    }
}

impl State {
    /// Whether a launch waits for the strobers to have the table of this number.
    fn is_awaited(&self, number: u32) -> bool {
        self.taken < number && !(self.is_deaf && self.tried >= number)
    }

    /// Whether jobs take other turns than before.
    fn set_least(&mut self, least: Duration) -> bool {
        self.least = least;
        let slice = self.asked.max(least);
        let is_other = slice != self.slots.slice && !self.slots.slots.is_empty();
        if is_other {
            self.slots.slice = slice;
            self.number += 1;
        }
        is_other
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// What is to be done next, waited for; none at the end.
    fn next(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= Instant::now());
            if state.is_over {
                return None;
            }
            if state.number > state.taken || is_due(state.due) {
                (state.due, state.step) = (None, None);
                return Some(Task::Send(state.number, state.slots.clone()));
            }
            if is_due(state.step) {
                state.step = None;
                return Some(Task::KeepStep(state.number));
            }
            let until = state.due.into_iter().chain(state.step).min();
            let left = until.map(|at| at.saturating_duration_since(Instant::now()));
            state = match left {
                Some(left) => self.changed.wait_timeout(state, left).expect("no holder panics").0,
                None => self.changed.wait(state).expect("no holder panics"),
            };
        }
    }

    /// A table was sent, and all strobers have it or not; or some do not have what was sent before.
    fn sent(&self, number: u32, is_taken: bool) {
        let mut state = self.lock();
        state.tried = state.tried.max(number);
        self.changed.notify_all();
        if !is_taken {
            state.due.get_or_insert_with(Instant::now);
            return;
        }
        state.taken = state.taken.max(number);
        state.is_deaf = false;
        if state.slots.slots.len() > 1 {
            state.step.get_or_insert_with(|| Instant::now() + IN_STEP);
        }
    }

    /// Waits until what did not arrive is to be sent once more, or there is another table.
    fn pause(&self, pause: Duration, number: u32) {
        let is_same = |state: &mut State| state.number == number && !state.is_over;
        let _ = self.changed.wait_timeout_while(self.lock(), pause, is_same);
    }

    /// How long strobers may take to have a table.
    fn patience(&self) -> Duration {
        if self.lock().is_deaf { TAKEN_BY_OTHERS } else { TAKEN }
    }
}

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    /// To send the table of this number.
    Send(u32, Slots),
    /// To tell how far that is.
    KeepStep(u32),
}

/// Who tells the strobers.
struct Teller {
    shared: Arc<Shared>,
    manager: Weak<Manager>,
    memory: Arc<Memory>,
}

impl Teller {
    fn run(&self) {
        let mut pause = PAUSES.0;
        while let Some(task) = self.shared.next() {
            let Some(manager) = self.manager.upgrade() else { return };
            let speakers = manager.nodes.one_of_each_machine();
            drop(manager);
            let there = self.memory.members_of(&speakers);
            // A machine whose speaker is away for a moment would keep its old table.
            let is_whole = there.iter().count() == speakers.iter().count();
            let (number, is_told) = match task {
                Task::Send(number, slots) => (number, self.tell(&there, number, &slots)),
                Task::KeepStep(number) => (number, self.keep_step(&there, number)),
            };
            let is_taken = !there.is_empty() && is_told && is_whole;
            self.shared.sent(number, is_taken);
            if is_taken {
                pause = PAUSES.0;
            } else {
                self.shared.pause(pause, number);
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }

    /// How long ago the rotation began.
    fn phase(&self) -> Duration {
        self.shared.start.elapsed()
    }

    /// Has a strobe say how far the rotation is, if all of these nodes' strobers have the table.
    fn keep_step(&self, nodes: &Set, number: u32) -> bool {
        let term = self.memory.term();
        let stamp = u64::from(term) << 32 | u64::from(number);
        if !matches!(
            self.memory.is_at_least(nodes, (STROBE, stamp), Deadline::after(TAKEN)),
            Ok(true)
        ) {
            return false;
        }
        let phase = Phase { stamp, phase: self.phase() };
        let event = serde_json::to_vec(&phase).expect("a phase is always JSON");
        let requests = vec![Request::Event(Event::new(Phase::EVENT, event)), Request::Early];
        self.memory.strobe(requests, Deadline::after(TAKEN)).is_ok()
    }

    /// Sends a table; true if all of these nodes' strobers have it.
    fn tell(&self, nodes: &Set, number: u32, slots: &Slots) -> bool {
        let (term, phase) = (self.memory.term(), self.phase());
        let table = Table { term, number, phase, slots: slots.clone() };
        let stamp = table.stamp();
        let sent = self.memory.send_surely(nodes, Order::Strobe(table).letter());
        if sent.and_then(|letter| letter.arrive(Deadline::after(TAKEN))).is_err() {
            return false;
        }
        let until = Instant::now() + self.shared.patience();
        loop {
            match self.memory.is_at_least(nodes, (STROBE, stamp), Deadline::after(TAKEN)) {
                Ok(true) => return true,
                Ok(false) if Instant::now() < until => std::thread::sleep(LOOK),
                _ => return false,
            }
        }
    }
}

impl Nodes {
    /// One node of each machine, of those that are up: the first.
    fn one_of_each_machine(&self) -> Set {
        let first = first_of_each_machine(self.links(|name| self.is_up(name)));
        first.iter().filter_map(|link| id_of(&link.name)).collect()
    }
}

/// The first node of each machine.
fn first_of_each_machine(links: Vec<Arc<Link>>) -> Vec<Arc<Link>> {
    let mut machines = BTreeMap::new();
    for link in links {
        machines.entry(machine(&link.address).to_owned()).or_insert(link);
    }
    machines.into_values().collect()
}

impl Manager {
    /// The shortest slice that all machines keep to that have nodes, and a node of each of those
    /// that keep to no shorter one though a machine could.
    pub(super) fn least_slice(&self) -> (Duration, Vec<String>) {
        let machines = first_of_each_machine(self.nodes.links(|_| true));
        // One that has just come may not be weighed yet.
        let least = machines.iter().map(|link| link.least).max();
        let least = least.unwrap_or_else(|| self.strobe.shared.lock().least);
        let by = machines.iter().filter(|link| link.least == least && least > SLICE_MIN);
        (least, by.map(|link| link.name.clone()).collect())
    }

    /// A node has come or gone: its machine may have been the one that needs the longest slice.
    pub(super) fn weigh_slices(&self) {
        let mut state = self.strobe.shared.lock();
        // Looked at under the lock: two who come and go at once may be heard in any order.
        let machines = first_of_each_machine(self.nodes.links(|_| true));
        let least = machines.iter().map(|link| link.least).max();
        if least.is_some_and(|least| state.set_least(least)) {
            self.strobe.shared.changed.notify_all();
        }
    }
}

/// What the addresses of the nodes of one machine's keeper have in common: the host, or the
/// directory of their sockets.
fn machine(address: &str) -> &str {
    address.rsplit_once(['!', '/']).map_or(address, |(machine, _)| machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_that_does_not_arrive_is_made_up_for() {
        let slots = Slots { slice: IN_STEP, slots: vec![vec![1], vec![2]] };
        let state = State { slots: slots.clone(), number: 3, taken: 3, ..State::default() };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let shared = Shared { state, changed, start: Instant::now() };
        let send = || Some(Task::Send(3, slots.clone()));
        shared.lock().due = Some(Instant::now());
        assert_eq!(shared.next(), send());
        shared.sent(3, false);
        assert_eq!(shared.next(), send());
        shared.sent(3, true);
        let step = shared.lock().step.take();
        assert!(step.is_some_and(|step| step > Instant::now()), "in a while");
        assert_eq!(shared.lock().due, None);
        // A machine that has lost its table when it is to keep in step gets it again.
        shared.lock().step = Some(Instant::now());
        assert_eq!(shared.next(), Some(Task::KeepStep(3)));
        shared.sent(3, false);
        assert_eq!(shared.next(), send());
    }

    /// Each launch waited half a second for it, also where nobody took turns.
    #[test]
    fn a_strober_that_does_not_answer_is_waited_for_once() {
        let state = Mutex::new(State { number: 1, ..State::default() });
        let shared = Shared { state, changed: Condvar::new(), start: Instant::now() };
        let strobe = Strobe { shared: Arc::new(shared) };
        let is_awaited = |number| strobe.shared.lock().is_awaited(number);
        strobe.shared.sent(1, false);
        assert!(is_awaited(1), "it may have died just now");
        strobe.settle();
        assert!(!is_awaited(1));
        assert!(is_awaited(2), "the others are to have heard of it");
        strobe.shared.sent(2, false);
        assert!(!is_awaited(2));
        strobe.shared.sent(3, true);
        assert!(is_awaited(4), "it answers again");
        strobe.shared.sent(4, false);
        assert!(is_awaited(4));
    }

    /// For up to a second ranks of a new job ran in others' turns on all machines.
    #[test]
    fn a_table_does_not_wait_until_the_one_before_it_is_sent_once_more() {
        let strobe = Strobe::new(Path::new("/"), 1);
        let shared = strobe.shared.clone();
        let pause = std::thread::spawn(move || shared.pause(Duration::from_secs(3600), 0));
        let slots = vec![vec![1], vec![2]];
        strobe.set(&Slots { slice: IN_STEP, slots });
        pause.join().unwrap();
    }

    #[test]
    fn a_machine_that_needs_a_longer_slice_has_all_take_longer_turns_as_long_as_it_is_there() {
        let ms = Duration::from_millis;
        let slots = Slots { slice: ms(2), slots: vec![vec![1], vec![2]] };
        let mut state = State { slots, asked: ms(2), least: ms(1), ..State::default() };
        assert!(!state.set_least(ms(1)) && state.number == 0, "nothing is to be told");
        assert!(state.set_least(ms(10)));
        assert_eq!((state.slots.slice, state.number), (ms(10), 1));
        assert!(state.set_least(ms(1)));
        assert_eq!((state.slots.slice, state.number), (ms(2), 2), "what was asked for");
        state.slots.slots.clear();
        assert!(!state.set_least(ms(10)), "nobody takes turns");
    }

    #[test]
    fn nodes_of_one_keeper_are_one_machine() {
        assert_eq!(machine("unix!/tmp/m/x/n0.sock"), machine("unix!/tmp/m/x/n12.sock"));
        assert_ne!(machine("unix!/tmp/m/x/n0.sock"), machine("unix!/tmp/m/y/n0.sock"));
        assert_eq!(machine("tcp!10.0.0.1!4000"), machine("tcp!10.0.0.1!4001"));
        assert_ne!(machine("tcp!10.0.0.1!4000"), machine("tcp!10.0.0.2!4000"));
    }
}
