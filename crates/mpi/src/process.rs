//! A process of a job: its end for messages, the collectives that it has begun, its windows.
//!
//! All its threads share it ([`Process::wait_for`]): whoever waits progresses everything; where
//! several threads may call the library one of them does (`threads.rs`).

use crate::boards::Uses;
use crate::buffer::{Memory, Typed};
use crate::collective::{Plan, Short};
use crate::counter::Keeper;
use crate::error::{About, Class, Error, Result};
use crate::partitioned::{Channel, Channels};
use crate::threads::{Door, HasTurns, Threads, Turns};
use crate::watch::{Outside, Patience, Waits, Watch};
use crate::window::{Access, Window, Windows};
use muster_message::{Buffer, Carrier, Endpoint, Failure, Outcome, Ticket, Wanted};
use parking_lot::lock_api::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

/// Collectives on boards after which messages are looked for in any case.
const SHORTS: u32 = 64;

/// How often in a row something has come until those who stand by are called.
const ROW: u32 = 16;

/// What the process of a rank has, behind a door.
pub struct Process<D, C, M: Memory> {
    state: Mutex<D, State<C, M>>,
    threads: Threads,
}

/// A collective that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Began(u64);

/// A window, and what carries its messages.
pub type Opened<'a, C, M> = (&'a mut Window<M>, &'a mut Endpoint<C, Typed<M>>);

/// What is guarded.
pub struct State<C, M: Memory> {
    /// Its end for messages.
    pub endpoint: Endpoint<C, Typed<M>>,
    /// Its windows.
    pub windows: Windows<M>,
    /// Its partitioned messages.
    pub channels: Channels<M>,
    /// Its boards, and how many collectives have ended there.
    pub boards: Uses,
    shorts: u32,
    /// Collectives on boards that are waited for and of whose ranks no operation tells so far:
    /// what this rank waits on is not known.
    pub(crate) unseen: u32,
    plans: BTreeMap<Began, Plan<M>>,
    /// Collectives that have ended, and in which epoch.
    ended: BTreeMap<Began, (Result<()>, u32)>,
    began: u64,
    /// Counters that this process keeps for others.
    keepers: Vec<Keeper<M>>,
    /// Whether nothing came when it was last looked: time to look who is still there.
    is_idle: bool,
    pub(crate) turns: Turns,
    pub(crate) watch: Watch,
}

impl<C, M: Memory> HasTurns for State<C, M> {
    #[inline]
    fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }
}

/// Gives the processor to others: for a moment, or for so long.
fn give_way(time: Duration) {
    match time {
        Duration::ZERO => std::thread::yield_now(),
        time => std::thread::sleep(time),
    }
}

impl<D: Door, C: Carrier, M: Memory> Process<D, C, M> {
    /// The process of a rank.
    pub fn new(mut endpoint: Endpoint<C, Typed<M>>) -> Process<D, C, M> {
        let watch = Watch::new(endpoint.me());
        let threads = Threads::new(endpoint.carrier().alarm());
        let state = State {
            endpoint,
            windows: Windows::default(),
            channels: Channels::default(),
            boards: Uses::default(),
            shorts: 0,
            unseen: 0,
            plans: BTreeMap::new(),
            ended: BTreeMap::new(),
            began: 0,
            keepers: Vec::new(),
            is_idle: false,
            turns: Turns::default(),
            watch,
        };
        Process { state: Mutex::new(state), threads }
    }

    /// Who knows what is around it.
    pub fn set_outside(&self, outside: Arc<dyn Outside>) {
        self.state().watch.outside = Some(outside);
    }

    /// What it has, for a moment.
    #[inline]
    pub fn state(&self) -> MutexGuard<'_, D, State<C, M>> {
        self.threads.enter(&self.state)
    }

    /// Waits until there is an answer, and progresses all that is under way meanwhile.
    ///
    /// # Errors
    /// The question's, and that nothing can be carried any more.
    #[inline]
    pub fn wait_for<T>(&self, ask: impl FnMut(&mut State<C, M>) -> Result<Option<T>>) -> Result<T> {
        self.wait(Waits::Other, ask)
    }

    /// The same; `waits` says for what. Where that is known, ranks that wait for one another for
    /// ever end.
    ///
    /// # Errors
    /// As [`Process::wait_for`].
    #[inline]
    pub fn wait<T>(
        &self,
        waits: Waits,
        mut ask: impl FnMut(&mut State<C, M>) -> Result<Option<T>>,
    ) -> Result<T> {
        let mut state = self.state();
        let mut patience = Patience::new(waits);
        if !D::has_threads() {
            state.watch.is_long = false;
        }
        loop {
            if D::has_threads() {
                return self.wait_among_threads(state, waits, ask);
            }
            state.endpoint.despair();
            if let Some(answer) = ask(&mut state)? {
                return Ok(answer);
            }
            if state.progress()? || state.endpoint.rest()? {
                continue;
            }
            let most = state.look_out(&mut patience, None)?;
            state.endpoint.wait(most)?;
            if !state.progress()? && !most.is_zero() {
                patience.in_vain(&mut state.endpoint);
            }
        }
    }

    /// Asks after something, and does not wait for it. In the coscheduled mode the answer must not
    /// depend on how fast others are: there it is no only when nothing more can come before this
    /// rank goes on.
    ///
    /// # Errors
    /// As [`Process::wait_for`].
    pub fn look<T>(
        &self,
        mut ask: impl FnMut(&mut State<C, M>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let mut state = self.state();
        if !state.endpoint.is_coscheduled() {
            let mut moved = state.progress()?;
            let mut answer = ask(&mut state)?;
            if answer.is_none() && !moved && state.endpoint.carrier().attend()? {
                moved = state.progress()?;
                answer = ask(&mut state)?;
            }
            if answer.is_none() && !moved {
                // Who tests in a loop may keep the processor from the rank that it waits for.
                match state.endpoint.carrier().asked_in_vain() {
                    None => {}
                    Some(time) if D::has_threads() || time.is_zero() => {
                        drop(state);
                        give_way(time);
                    }
                    Some(time) => state.endpoint.carrier().doze(time)?,
                }
            }
            return Ok(answer);
        }
        let since = state.endpoint.epoch();
        drop(state);
        self.wait_for(|state| {
            let answer = ask(state)?;
            let is_late = state.endpoint.epoch() != since;
            state.endpoint.hope();
            Ok((answer.is_some() || is_late).then_some(answer))
        })
    }

    /// The same, where other threads may call meanwhile.
    fn wait_among_threads<'a, T>(
        &'a self,
        mut state: MutexGuard<'a, D, State<C, M>>,
        waits: Waits,
        mut ask: impl FnMut(&mut State<C, M>) -> Result<Option<T>>,
    ) -> Result<T> {
        let (mut is_keeper, mut patience, mut row) = (false, Patience::new(waits), 0_u32);
        let is_other = waits != Waits::Messages;
        if is_other {
            state.turns.begin_other();
        }
        let answer = loop {
            state.endpoint.despair();
            if let Some(answer) = ask(&mut state).transpose() {
                break answer;
            }
            if state.turns.has_keeper && !is_keeper {
                state = self.threads.stand_by(&self.state, state);
                continue;
            }
            if !is_keeper {
                (state.turns.has_keeper, is_keeper) = (true, true);
                state.watch.is_long = false;
            }
            let moved = match state.progress() {
                Ok(moved) => moved,
                Err(error) => break Err(error),
            };
            // Those who stand by are called when nothing more comes, and now and then where there
            // is always something: it may be theirs. To call them takes longer than to look.
            row = if moved { (row + 1) % ROW } else { 0 };
            let (again, has_let_in) = self.threads.let_in(&self.state, state, row == 0);
            state = again;
            if moved || has_let_in {
                continue;
            }
            match state.endpoint.rest() {
                Ok(false) => {}
                Ok(true) => continue,
                Err(failure) => break Err(failure.into()),
            }
            let threads = state.turns.waiting();
            let most = state.look_out(&mut patience, Some(threads));
            let is_long = most.as_ref().is_ok_and(|most| !most.is_zero());
            let waited = most.and_then(|most| Ok(state.endpoint.wait(most)?));
            // What is shown on a board one who stands by may wait for.
            if state.endpoint.carrier().boards().is_some_and(|boards| boards.has_shown()) {
                state.turns.change();
            }
            match waited.and_then(|()| state.progress()) {
                Ok(true) => {}
                Ok(false) if is_long => {
                    patience.in_vain(&mut state.endpoint);
                    // Of who is gone nothing comes: those who stand by look themselves.
                    state.turns.change();
                }
                Ok(false) => {}
                Err(error) => break Err(error),
            }
        };
        if is_other {
            state.turns.end_other();
        }
        if is_keeper {
            self.threads.leave(state);
        }
        answer
    }

    /// Waits for the end of a message.
    ///
    /// # Errors
    /// As [`Process::wait_for`]; what went wrong with the message the outcome says.
    #[inline]
    pub fn outcome(&self, ticket: Ticket) -> Result<Outcome> {
        self.wait(Waits::Messages, |state| Ok(state.outcome(ticket)))
    }

    /// Carries out a collective of ranks that share a board.
    ///
    /// # Errors
    /// As [`Short::advance`].
    pub fn carry_out_short(&self, mut short: Short<'_, M>) -> Result<()> {
        let mut was_unseen = false;
        let ended = self.wait(Waits::Messages, |state| {
            let advanced = short.advance(&mut state.endpoint, state.watch.is_long);
            let is_unseen = matches!(advanced, Ok(false)) && !short.is_seen();
            state.unseen = state.unseen + u32::from(is_unseen) - u32::from(was_unseen);
            was_unseen = is_unseen;
            let done = advanced?;
            if done {
                state.see_to_others()?;
            } else if state.watch.is_long {
                state.needs(&short.absent());
            }
            Ok(done.then_some(()))
        });
        // Something else has ended the wait.
        if was_unseen {
            self.state().unseen -= 1;
        }
        ended
    }

    /// Carries out a collective.
    ///
    /// # Errors
    /// Those of its messages and operations.
    pub fn carry_out(&self, plan: Plan<M>) -> Result<()> {
        self.carry_out_of(Waits::Messages, plan)
    }

    /// The same; `waits` says for what.
    ///
    /// # Errors
    /// As [`Process::carry_out`].
    pub fn carry_out_of(&self, waits: Waits, mut plan: Plan<M>) -> Result<()> {
        self.wait(waits, |state| {
            if state.is_idle {
                plan.give_up(&mut state.endpoint);
            }
            let advanced = plan.advance(&mut state.endpoint);
            if advanced.is_err() {
                plan.abandon(&mut state.endpoint);
            } else if state.is_idle && state.watch.is_long {
                state.needs(&plan.begun().collect::<Vec<_>>());
            }
            Ok(advanced?.then_some(()))
        })
    }
}

impl<C: Carrier, M: Memory> State<C, M> {
    /// Moves on all that is under way; whether anything was done.
    ///
    /// # Errors
    /// That nothing can be carried any more.
    #[inline]
    pub fn progress(&mut self) -> Result<bool> {
        let mut moved = self.endpoint.progress()?;
        if !self.windows.is_empty() {
            moved |= self.windows.advance(&mut self.endpoint)?;
        }
        if !self.channels.is_empty() {
            moved |= self.channels.advance(&mut self.endpoint, self.is_idle)?;
        }
        if !self.plans.is_empty() {
            moved |= self.advance();
        }
        for keeper in &mut self.keepers {
            moved |= keeper.advance(&mut self.endpoint)?;
        }
        self.is_idle = !moved;
        if moved {
            // Whoever stands by may have what it waits for.
            self.turns.change();
        }
        Ok(moved)
    }

    /// A collective has ended without messages. Who comes last each time waits for nothing, and
    /// must get on with what else there is, and now and then look whether others want something.
    fn see_to_others(&mut self) -> Result<()> {
        self.shorts = self.shorts.wrapping_add(1);
        let is_quiet = self.endpoint.is_quiet()
            && self.windows.is_empty()
            && self.channels.is_empty()
            && self.plans.is_empty();
        if !is_quiet || self.shorts.is_multiple_of(SHORTS) {
            self.progress()?;
        }
        Ok(())
    }

    /// Keeps a counter for others from now on.
    ///
    /// # Errors
    /// That nothing can be carried any more.
    pub fn keep(&mut self, mut keeper: Keeper<M>) -> Result<()> {
        keeper.advance(&mut self.endpoint)?;
        self.keepers.push(keeper);
        Ok(())
    }

    /// Keeps a counter no more.
    pub fn let_go(&mut self, value: &Arc<AtomicI64>) {
        self.keepers.retain(|keeper| !keeper.is_of(value));
    }

    /// Moves collectives on; whether one has ended. Their last messages may have been taken by
    /// calls that do nothing else, and then who waits is told by nobody.
    fn advance(&mut self) -> bool {
        let before = self.ended.len();
        let (endpoint, ended) = (&mut self.endpoint, &mut self.ended);
        let (is_idle, epoch) = (self.is_idle, endpoint.epoch());
        self.plans.retain(|began, plan| {
            if is_idle {
                plan.give_up(endpoint);
            }
            let end = end(plan, endpoint);
            let goes_on = end.is_none();
            ended.extend(end.map(|end| (*began, (end, epoch))));
            goes_on
        });
        self.ended.len() != before
    }

    /// How a message has ended, if it has. One from a rank that is gone ends, too.
    #[inline]
    pub fn outcome(&mut self, ticket: Ticket) -> Option<Outcome> {
        if self.is_idle {
            self.give_up(ticket);
            self.needs(&[ticket]);
        }
        self.endpoint.poll(ticket)
    }

    /// Whether a send goes on that nobody will ask after.
    pub fn owes(&mut self) -> bool {
        self.endpoint.owes(self.is_idle)
    }

    /// Whether a message that is waited for may still come from the rank that alone can send it.
    ///
    /// # Errors
    /// [`Class::ProcAborted`] where it cannot.
    pub fn can_come(&mut self, wanted: Wanted, from: Option<u32>) -> Result<()> {
        match from {
            _ if !self.is_idle => Ok(()),
            Some(from) => Ok(self.endpoint.can_come(wanted, from)?),
            None => match self.all_gone(wanted.context) {
                Some(_) if self.endpoint.progress()? => Ok(()),
                Some(failure) if self.endpoint.probe(wanted).is_none() => Err(failure.into()),
                _ => Ok(()),
            },
        }
    }

    /// Whether a message has ended; it stays to be asked for.
    pub fn has_message_ended(&mut self, ticket: Ticket) -> bool {
        if self.is_idle {
            self.give_up(ticket);
        }
        self.endpoint.has_ended(ticket)
    }

    /// Begins a collective. The others are left alone: there may be many.
    pub fn begin(&mut self, mut plan: Plan<M>) -> Began {
        self.began += 1;
        let began = Began(self.began);
        match end(&mut plan, &mut self.endpoint) {
            Some(end) => drop(self.ended.insert(began, (end, self.endpoint.epoch()))),
            None => drop(self.plans.insert(began, plan)),
        }
        began
    }

    /// How a collective has ended, if it has. It is forgotten then.
    pub fn poll(&mut self, began: Began) -> Option<Result<()>> {
        if let Some((end, _)) = self.ended.remove(&began) {
            return Some(end);
        }
        if self.is_idle && self.watch.is_long {
            let plan = self.plans.get(&began);
            let begun = plan.map_or(Vec::new(), |plan| plan.begun().collect());
            self.needs(&begun);
        }
        None
    }

    /// Whether a collective has ended; it stays to be polled.
    pub fn has_ended(&self, began: Began) -> bool {
        self.ended.contains_key(&began)
    }

    /// Whether it is settled that it has: see [`Endpoint::is_settled`].
    pub fn is_settled(&self, began: Began) -> bool {
        let now = self.endpoint.logical_epoch();
        self.ended.get(&began).is_some_and(|(_, epoch)| Some(*epoch) != now)
    }

    /// A window, and what carries its messages.
    ///
    /// # Errors
    /// [`Class::Win`] where it has been freed.
    pub fn window(&mut self, context: u64) -> Result<Opened<'_, C, M>> {
        Ok((self.windows.get(context)?, &mut self.endpoint))
    }

    /// How an access to a window has ended, if it has. It is forgotten then.
    pub fn poll_access(&mut self, access: Access) -> Option<Result<()>> {
        let is_gone = gone(&mut self.endpoint, self.is_idle);
        match self.windows.of(access) {
            Some(window) => window.poll(access, is_gone),
            None => Some(Ok(())),
        }
    }

    /// Whether an access has ended; it stays to be polled.
    pub fn has_access_ended(&mut self, access: Access) -> bool {
        let is_gone = gone(&mut self.endpoint, self.is_idle);
        self.windows.of(access).is_none_or(|window| window.has_ended(access, is_gone))
    }

    /// Whether it is settled that it has: see [`Endpoint::is_settled`].
    pub fn is_access_settled(&mut self, access: Access) -> bool {
        let now = self.endpoint.logical_epoch();
        self.has_access_ended(access)
            && self.windows.of(access).is_none_or(|window| window.is_settled(access, now))
    }

    /// Whether it is settled that a round of partitioned messages has ended.
    pub fn is_round_settled(&self, channel: Channel) -> bool {
        self.channels.is_settled(channel, self.endpoint.logical_epoch())
    }

    /// Asks a window, with what says whether a rank is gone.
    ///
    /// # Errors
    /// As [`State::window`], and those of the answer.
    pub fn ask_window<T>(
        &mut self,
        context: u64,
        ask: impl FnOnce(&mut Window<M>, &mut dyn FnMut(u32) -> Option<Failure>) -> Result<T>,
    ) -> Result<T> {
        let mut is_gone = gone(&mut self.endpoint, self.is_idle);
        ask(self.windows.get(context)?, &mut is_gone)
    }
}

/// Moves a collective on; how it has ended, if it has.
fn end<C: Carrier, M: Memory>(
    plan: &mut Plan<M>,
    endpoint: &mut Endpoint<C, Typed<M>>,
) -> Option<Result<()>> {
    let advanced = plan.advance(endpoint);
    if advanced.is_err() {
        plan.abandon(endpoint);
    }
    advanced.map(|is_done| is_done.then_some(())).transpose()
}

/// What says whether a rank is gone. It looks only where nothing has come though it was waited for.
fn gone<C: Carrier, B: Buffer>(
    endpoint: &mut Endpoint<C, B>,
    is_idle: bool,
) -> impl FnMut(u32) -> Option<Failure> {
    move |rank| is_idle.then(|| endpoint.carrier().is_gone(rank)).flatten()
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure {
            Failure::Departs(what) => Error::new(Class::Other, what).about(About::Departure),
            failure => Error::new(Class::ProcAborted, failure.to_string()),
        }
    }
}
