//! Who runs the protocol, and when.
//!
//! The shell's own thread sleeps until something comes. A thread that asks something carries it out
//! itself if nobody else is at it, up to what is sent: that saves waking the shell's thread and two
//! switches. Then only what has to be told, and a sleep that has to end sooner, wake that thread.
//! Otherwise it leaves it in the [`Inbox`].
//!
//! Who is told that something has ended often asks the next thing at once. While that has been so,
//! what is to be sent waits for it, for [`PROMPTLY`] at most, and leaves with it: the others are
//! woken once and not twice.

use super::Clock;
use super::inbox::{Command, Inbox, ended};
use super::run::Runner;
use super::watch::{Ready, Watch};
use crate::error::Result;
use crate::protocol::{Protocol, Time};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// Who yields may wait for a few slices of others before it runs again: not when an alarm is near.
const SLICES: Duration = Duration::from_millis(20);

/// Who asks something within this time after having been told something asks at once: two
/// wake-ups on a busy machine.
const PROMPTLY: Duration = Duration::from_micros(100);

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
    /// How often something was asked.
    asked: AtomicU64,
    /// When the user was last told something.
    told: AtomicU64,
    /// Who was told something asked something at once, the last time.
    is_prompt: AtomicBool,
}

/// The shell's thread between two looks at what there is.
struct Sleeper {
    ready: Ready,
    /// When to look at the latest.
    end: Option<Time>,
    /// The last sleep was short.
    is_brisk: bool,
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
            asked: AtomicU64::new(0),
            told: AtomicU64::new(0),
            is_prompt: AtomicBool::new(false),
        }
    }

    /// Has something done: by this thread, or by the one that is at it.
    pub fn ask(&self, command: Command<P>) -> Result<()> {
        self.asked.fetch_add(1, Ordering::Relaxed);
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
        let end = runner.settle(&self.watch);
        let is_sooner = |until: Time| end.is_some_and(|end| end < until);
        if runner.has_untold() || runner.sleeps_until.is_some_and(is_sooner) {
            self.inbox.knock();
        }
        Ok(())
    }

    /// The shell's thread: runs until the inbox is closed.
    pub fn run(&self) {
        let _last = Last(self);
        // Otherwise timers of usual threads may be 50 us late, to spare wake-ups.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        super::sys::ask_for_short_slices();
        let mut sleeper = Sleeper { ready: Ready::default(), end: None, is_brisk: false };
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
        let Some(runner) = self.begin(&mut guard, &mut sleeper.ready) else { return false };
        let alarm = runner.alarm();
        if runner.tell() {
            self.told.store(self.clock.now().0, Ordering::Relaxed);
            if runner.is_unsent() && self.is_prompt.load(Ordering::Relaxed) {
                drop(guard);
                self.await_more(alarm);
                guard = self.lock();
                if self.begin(&mut guard, &mut sleeper.ready).is_none() {
                    return false;
                }
            }
        }
        let Some(runner) = guard.as_mut() else { return false };
        loop {
            runner.send();
            if !runner.tell() {
                break;
            }
        }
        sleeper.end = runner.settle(&self.watch);
        runner.sleeps_until = Some(sleeper.end.unwrap_or(Time(u64::MAX)));
        true
    }

    /// Takes what there is; none at the end.
    fn begin<'a>(
        &self,
        guard: &'a mut MutexGuard<'_, Option<Runner<P>>>,
        ready: &mut Ready,
    ) -> Option<&'a mut Runner<P>> {
        let runner = guard.as_mut()?;
        runner.sleeps_until = None;
        if !self.inbox.take(&mut runner.commands) {
            return None;
        }
        runner.step(ready);
        Some(runner)
    }

    /// Gives whoever was told something the time to ask something.
    fn await_more(&self, alarm: Option<Time>) {
        let (begun, asked) = (self.clock.now(), self.asked.load(Ordering::Relaxed));
        let mut now = begun;
        while now - begun < PROMPTLY && !is_near(now, alarm) {
            std::thread::yield_now();
            if self.asked.load(Ordering::Relaxed) != asked {
                return;
            }
            now = self.clock.now();
        }
        self.is_prompt.store(false, Ordering::Relaxed);
    }

    /// Waits for something to do: without sleeping as long as that promises to be short. Meanwhile
    /// others have the core: they may be those whose messages are waited for, and then many of
    /// these are there at once.
    fn sleep(&self, sleeper: &mut Sleeper) {
        let (begun, end) = (self.clock.now(), sleeper.end);
        let mut now = begun;
        let mut may_look = sleeper.is_brisk;
        while may_look && end.is_none_or(|end| end > now) {
            if !is_near(now, end) {
                std::thread::yield_now();
            }
            self.watch.look(Some(Duration::ZERO), &mut sleeper.ready);
            if !sleeper.ready.is_none() || self.inbox.has_some() {
                return;
            }
            now = self.clock.now();
            may_look = now - begun < self.patience;
        }
        self.watch.look(end.map(|end| end - self.clock.now()), &mut sleeper.ready);
        sleeper.is_brisk = self.clock.now() - begun < self.patience;
    }
}

/// Whether there is no time for others' slices.
fn is_near(now: Time, alarm: Option<Time>) -> bool {
    alarm.is_some_and(|alarm| alarm - now <= SLICES)
}
