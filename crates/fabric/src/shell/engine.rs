//! Who runs the protocol, and when.
//!
//! The shell's own thread sleeps until something comes. A thread that asks something carries it out
//! itself if nobody else is at it, up to what is sent: that saves waking the shell's thread and two
//! switches. Then only what has to be told, and a sleep that has to end sooner, wake that thread.
//! Otherwise it leaves it in the [`Inbox`].
//!
//! A thread that waits for an answer does what there is to do meanwhile ([`Engine::attend`]), and
//! the shell's own thread looks for more before it sleeps. Between two looks each gives its core to
//! others, who may be those whose messages are waited for. Both ask the kernel for short slices:
//! who yields falls behind all others by a slice of its own.
//!
//! Who is told that something has ended often asks the next thing at once. While that has been so,
//! what is to be sent waits for it, for [`PROMPTLY`] at most, and leaves with it: the others are
//! woken once and not twice.

use super::Clock;
use super::inbox::{Command, Inbox, ended};
use super::run::Runner;
use super::sys::ShortSlices;
use super::watch::{Ready, Watch};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::protocol::{Protocol, Time};
use crate::wait::Rest;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// Who yields may wait for a slice of others before it runs again: not when an alarm is near.
const SLICES: Duration = Duration::from_millis(3);

/// Who asks something within this time after having been told something asks at once: two
/// wake-ups on a busy machine.
const PROMPTLY: Duration = Duration::from_micros(100);

/// How long only memory is looked at, which does not tell of a peer's death.
const UNSEEN: Duration = Duration::from_millis(25);

/// How long the shell's thread gives way to the one that is at it before it sleeps.
const GIVING_WAY: Duration = Duration::from_micros(200);

/// What the threads share.
pub struct Engine<P: Protocol> {
    /// None after the end.
    runner: Mutex<Option<Runner<P>>>,
    pub inbox: Arc<Inbox<P>>,
    watch: Watch,
    clock: Clock,
    patience: Duration,
    /// When the user was last told something.
    told: AtomicU64,
    /// Who was told something asked something at once, the last time.
    is_prompt: AtomicBool,
    /// The shell's thread does not sleep.
    is_looking: AtomicBool,
    /// Answers that do not come soon are waited for asleep.
    attention: Mutex<Rest>,
}

/// The shell's thread between two looks at what there is.
struct Sleeper {
    ready: Ready,
    /// When to look at the latest.
    end: Option<Time>,
    /// The last sleep was short, and something came.
    is_brisk: bool,
    /// Since when something to be sent waits for what follows.
    unsent: Option<Time>,
    /// The last end of a sleep: all descriptors were looked at.
    dozed: Time,
}

/// Drops the runner when the thread ends, however it ends.
struct Last<'a, P: Protocol + Send + 'static>(&'a Engine<P>)
where
    P::Request: Send;

impl<P: Protocol + Send + 'static> Drop for Last<'_, P>
where
    P::Request: Send,
{
    fn drop(&mut self) {
        self.0.inbox.close();
        let runner = self.0.runner.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(runner) = runner {
            runner.end();
        }
    }
}

impl<P: Protocol + Send + 'static> Engine<P>
where
    P::Request: Send,
{
    pub fn new(
        runner: Runner<P>,
        inbox: Arc<Inbox<P>>,
        watch: Watch,
        clock: Clock,
        patience: Duration,
    ) -> Engine<P> {
        Engine {
            runner: Mutex::new(Some(runner)),
            inbox,
            watch,
            clock,
            patience,
            told: AtomicU64::new(0),
            is_prompt: AtomicBool::new(false),
            is_looking: AtomicBool::new(true),
            attention: Mutex::default(),
        }
    }

    /// Has something done: by this thread, or by the one that is at it.
    pub fn ask(&self, command: Command<P>) -> Result<()> {
        let told = Time(self.told.load(Ordering::Relaxed));
        let now = self.clock.now();
        if now - told < PROMPTLY && told != Time::default() {
            self.is_prompt.store(true, Ordering::Relaxed);
        }
        let mut guard = match self.runner.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::WouldBlock) => return self.inbox.ask(command),
            Err(TryLockError::Poisoned(_)) => return Err(ended()),
        };
        let Some(runner) = guard.as_mut() else { return Err(ended()) };
        // What others have asked before comes first.
        if self.inbox.has_some() {
            return self.inbox.ask(command);
        }
        runner.commands.push_back(command);
        runner.step(&mut Ready::default());
        runner.send();
        self.leave(runner);
        Ok(())
    }

    /// For somebody who waits for what was asked, before it sleeps: does what there is to do, as
    /// the shell's thread does, until the answer is there or it is late. So nobody has to be woken
    /// for an answer that comes soon. Only where memory tells what has come: with calls of the
    /// system two threads that look are slower than one.
    pub fn attend<T>(
        &self,
        deadline: Deadline,
        answer: &mut dyn FnMut() -> Option<T>,
    ) -> Option<T> {
        let is_soon = deadline.left().is_none_or(|left| left < self.patience + SLICES);
        if is_soon || self.patience.is_zero() || self.attention().rests() {
            return None;
        }
        let slices = ShortSlices::ask();
        let (begun, mut ready) = (self.clock.now(), Ready::default());
        let (mut came, mut has_looked) = (answer(), false);
        while came.is_none() && self.clock.now() - begun < self.patience {
            has_looked = true;
            if !self.progress(&mut ready) {
                break;
            }
            came = answer();
            if came.is_none() {
                std::thread::yield_now();
                came = answer();
            }
        }
        drop(slices);
        // Peers that were looked at tell nothing until they are asked to, before a sleep.
        if has_looked && !self.is_looking.load(Ordering::Relaxed) {
            self.inbox.knock();
        }
        match came {
            Some(_) => self.attention().served(),
            None => self.attention().in_vain(),
        }
        came
    }

    fn attention(&self) -> MutexGuard<'_, Rest> {
        self.attention.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what there is to do, if nobody else is at it; false if memory does not tell.
    fn progress(&self, ready: &mut Ready) -> bool {
        let Ok(mut guard) = self.runner.try_lock() else { return true };
        let Some(runner) = guard.as_mut() else { return false };
        if runner.glance(ready) {
            ready.clear();
            return false;
        }
        // What others have asked before comes first.
        if ready.is_none() || self.inbox.has_some() {
            ready.clear();
            return true;
        }
        let alarm = runner.alarm();
        runner.step(ready);
        self.finish(runner, alarm);
        self.leave(runner);
        true
    }

    /// Tells and sends. What is to be sent may wait for what follows on what was told: if nothing
    /// does, the shell's thread sends it, which does not sleep meanwhile.
    fn finish(&self, runner: &mut Runner<P>, alarm: Option<Time>) {
        let is_told = self.tell(runner);
        let now = self.clock.now();
        let may_wait = runner.unsent().is_some_and(|since| now - since < PROMPTLY);
        if is_told && may_wait && self.is_prompt.load(Ordering::Relaxed) && !is_near(now, alarm) {
            return;
        }
        runner.send();
        while self.tell(runner) {
            runner.send();
        }
    }

    /// Tells what there is to tell; false if there is nothing.
    fn tell(&self, runner: &mut Runner<P>) -> bool {
        let is_told = runner.tell();
        if is_told {
            self.told.store(self.clock.now().0, Ordering::Relaxed);
        }
        is_told
    }

    /// Of another thread than the shell's: sees to it that this one does in time what is left.
    fn leave(&self, runner: &mut Runner<P>) {
        let end = runner.settle(&self.watch);
        let is_sooner = |until: Time| end.is_some_and(|end| end < until);
        let is_left = runner.unsent().is_some() || runner.is_stuck();
        if runner.has_untold()
            || is_left && !self.is_looking.load(Ordering::Relaxed)
            || runner.sleeps_until.is_some_and(is_sooner)
        {
            self.inbox.knock();
        }
    }

    /// The shell's thread: runs until the inbox is closed.
    pub fn run(&self) {
        let _last = Last(self);
        // Otherwise timers of usual threads may be 50 us late, to spare wake-ups.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let _slices = ShortSlices::ask();
        let mut sleeper = Sleeper {
            ready: Ready::default(),
            end: None,
            is_brisk: false,
            unsent: None,
            dozed: self.clock.now(),
        };
        while self.turn(&mut sleeper) {
            self.sleep(&mut sleeper);
        }
    }

    /// Waits for the thread that is at it. To give way meanwhile lets those run who were sent
    /// something, so that their answers are there when it is our turn.
    fn lock(&self) -> MutexGuard<'_, Option<Runner<P>>> {
        let begun = self.clock.now();
        while self.clock.now() - begun < GIVING_WAY {
            match self.runner.try_lock() {
                Ok(guard) => return guard,
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
                Err(TryLockError::Poisoned(_)) => break,
            }
        }
        self.runner.lock().expect("nobody panics with it")
    }

    /// Does what there is to do; false at the end.
    fn turn(&self, sleeper: &mut Sleeper) -> bool {
        let mut guard = self.lock();
        let Some(runner) = guard.as_mut() else { return false };
        runner.sleeps_until = None;
        if !self.inbox.take(&mut runner.commands) {
            return false;
        }
        runner.step(&mut sleeper.ready);
        let alarm = runner.alarm();
        self.finish(runner, alarm);
        sleeper.end = runner.settle(&self.watch);
        sleeper.unsent = runner.unsent();
        runner.sleeps_until = Some(sleeper.end.unwrap_or(Time(u64::MAX)));
        true
    }

    /// Waits for something to do: without sleeping as long as that promises to be short. Meanwhile
    /// others have the core: they may be those whose messages are waited for, and then many of
    /// these are there at once.
    fn sleep(&self, sleeper: &mut Sleeper) {
        let begun = self.clock.now();
        let mut now = begun;
        let looks = |sleeper: &Sleeper, now: Time| {
            sleeper.unsent.is_some() || sleeper.is_brisk && now - begun < self.patience
        };
        // Who has died writes nothing into memory.
        let is_blind = begun - sleeper.dozed > UNSEEN;
        while !is_blind && looks(sleeper, now) && !is_near(now, sleeper.end) {
            std::thread::yield_now();
            now = self.clock.now();
            let is_late = self.glance(sleeper, now);
            if is_late || !sleeper.ready.is_none() || self.inbox.has_some() {
                return;
            }
        }
        self.is_looking.store(false, Ordering::Relaxed);
        if self.doze(&mut sleeper.end) {
            let time = sleeper.end.map(|end| end - self.clock.now());
            self.watch.look(time, &mut sleeper.ready);
        }
        self.is_looking.store(true, Ordering::Relaxed);
        now = self.clock.now();
        let came = !sleeper.ready.is_none() || self.inbox.has_some();
        (sleeper.dozed, sleeper.is_brisk) = (now, came && now - begun < self.patience);
    }

    /// Looks whether something has come; whether what was to be sent has waited long enough.
    fn glance(&self, sleeper: &mut Sleeper, now: Time) -> bool {
        let mut is_all = false;
        if let Ok(Some(runner)) = self.runner.try_lock().as_deref_mut() {
            is_all = !runner.glance(&mut sleeper.ready);
            sleeper.unsent = runner.unsent();
        }
        if !is_all {
            self.watch.look(Some(Duration::ZERO), &mut sleeper.ready);
        }
        let is_late = sleeper.unsent.is_some_and(|since| now - since >= PROMPTLY);
        if is_late {
            self.is_prompt.store(false, Ordering::Relaxed);
        }
        is_late
    }

    /// Sees to it that whatever comes ends a sleep; false if something has come.
    fn doze(&self, end: &mut Option<Time>) -> bool {
        self.lock().as_mut().is_none_or(|runner| runner.doze(end))
    }
}

/// Whether there is no time for others' slices.
fn is_near(now: Time, alarm: Option<Time>) -> bool {
    alarm.is_some_and(|alarm| alarm - now <= SLICES)
}
