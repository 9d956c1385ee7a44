//! Who begins the turns: some threads, each bound to a processor, one after the other.
//!
//! To begin a turn takes the processor where that is done some tens of microseconds, most of them
//! outside of this program: an interrupt, another one sent to each processor that is to change
//! what it runs, and the timer set anew, each an exit of a virtual machine. Were it always the same
//! processor, what is bound to it would be late at the end by all of them
//! (`docs/decisions/gang.md`). So each begins as many turns of every slot.
//!
//! Each thread has two timers, and the one that has just gone off is set to the turn after next of
//! this thread. So when the kernel, in the interrupt, looks for what is next on this processor, the
//! other one is there already, and the hardware is set once for each turn, not twice.

use super::hands::Hands;
use super::lending::{Lending, Seen};
use super::place::Place;
use super::rotation::{Nanos, Rotation};
use super::sleepers::Sleepers;
use super::{Phase, Table, sys};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::convert::Infallible;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Timers of a thread.
const TIMERS: usize = 2;

/// Threads at most: of more processors the first share the work, and what is bound to these is late
/// by that.
const THREADS_MAX: usize = 8;

/// Between looks at two slots.
const BREATH: Duration = Duration::from_micros(50);

/// What the threads share with the one that hears of tables.
pub(super) struct Turns {
    state: Mutex<State>,
    /// By thread.
    timers: Vec<[OwnedFd; TIMERS]>,
    /// Of the thread that looks who sleeps, if there is one.
    looks: Option<OwnedFd>,
}

/// Whose turn it is, and what is done about it.
pub(super) struct State {
    pub(super) rotation: Rotation,
    pub(super) hands: Hands,
    pub(super) lending: Lending,
    /// By thread and timer: the turn that it is set to, if it is set.
    set: Vec<[Option<i64>; TIMERS]>,
}

impl Turns {
    /// Nobody takes turns yet. The threads are real-time if `is_real_time`.
    pub(super) fn start(hands: Hands, is_real_time: bool) -> io::Result<Arc<Turns>> {
        let processors = if is_real_time { processors() } else { Vec::new() };
        let threads = processors.len().clamp(1, THREADS_MAX);
        let timers = (0..threads).map(|_| Ok([timer()?, timer()?]));
        let timers = timers.collect::<io::Result<Vec<_>>>()?;
        let (rotation, lending) = (Rotation::default(), Lending::default());
        let place = hands.place().clone();
        // Of those that are listed only the leaders are known.
        let looks = matches!(place, Place::Groups(_)).then(timer).transpose()?;
        let state = State { rotation, hands, lending, set: vec![[None; TIMERS]; threads] };
        let turns = Arc::new(Turns { state: Mutex::new(state), timers, looks });
        for own in 0..threads {
            let processor = processors.get(own).copied();
            turns.begin(format!("turns-{own}"), processor, is_real_time, move |turns| {
                turns.serve(own)
            })?;
        }
        if turns.looks.is_some() {
            turns.begin("looks".into(), None, is_real_time, move |turns| {
                turns.look(Sleepers::at(place))
            })?;
        }
        Ok(turns)
    }

    /// Starts a thread, perhaps on a certain processor.
    fn begin(
        self: &Arc<Turns>,
        name: String,
        processor: Option<usize>,
        is_real_time: bool,
        serve: impl FnOnce(&Turns) -> io::Result<Infallible> + Send + 'static,
    ) -> io::Result<()> {
        let turns = self.clone();
        let work = move || {
            if let Some(processor) = processor {
                let mut only = CpuSet::new();
                only.set(processor);
                // One that has gone offline since has its turns begun elsewhere.
                let _ = sched_setaffinity(None, &only);
            }
            let _end = End;
            let may = if is_real_time { sys::be_real_time() } else { Ok(()) };
            let Err(error) = may.and_then(|()| serve(&turns));
            // Whoever stands still now would do so for good: the keeper lets all run, and starts
            // another strober.
            let _ = writeln!(io::stderr(), "strober: {error}");
            process::exit(1);
        };
        thread::Builder::new().name(name).spawn(work).map(drop)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// From now on turns go by this table, if it is newer.
    pub(super) fn take(&self, table: Table) -> io::Result<()> {
        let mut state = self.lock();
        let State { rotation, hands, lending, .. } = &mut *state;
        if !rotation.take(table, now()) {
            return Ok(());
        }
        hands.take(rotation.slots());
        lending.restart(rotation.slots().slots.len());
        self.set_out(&mut state)
    }

    /// Turns begin when the manager's do, if they go by the same table.
    pub(super) fn keep_step(&self, phase: &Phase) -> io::Result<()> {
        let mut state = self.lock();
        let before = state.rotation.turn();
        if !state.rotation.keep_step(phase, now()) {
            return Ok(());
        }
        match state.rotation.turn() == before {
            true => self.rewind(&mut state),
            false => self.set_out(&mut state),
        }
    }

    /// Begins the turn that it is time for, which is its owners' alone at first.
    fn set_out(&self, state: &mut State) -> io::Result<()> {
        state.lending.take_back();
        state.hands.turn(state.rotation.slot());
        self.rewind(state)
    }

    /// Has all threads set their timers anew.
    fn rewind(&self, state: &mut State) -> io::Result<()> {
        // A timer goes off on the processor where it is set: each thread sets its own.
        let at_once = Itimerspec { it_interval: timespec(0), it_value: timespec(1) };
        for timer in self.timers.iter().map(|timers| &timers[0]).chain(&self.looks) {
            timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &at_once)?;
        }
        state.set.fill([None; TIMERS]);
        Ok(())
    }

    /// Lets everything go, for good.
    pub(super) fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.rotation = Rotation::default();
        state.hands.let_go();
    }

    /// What one thread does: sleeps until one of its turns begins.
    fn serve(&self, own: usize) -> io::Result<Infallible> {
        let [first, second] = &self.timers[own];
        let mut fds = [first, second].map(|timer| PollFd::new(timer, PollFlags::IN));
        loop {
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let mut state = self.lock();
            let State { rotation, hands, set, .. } = &mut *state;
            for (timer, set) in fds.iter().zip(&mut set[own]) {
                if !timer.revents().is_empty() {
                    *set = None;
                }
            }
            if rotation.is_rotating() && rotation.strobe(now()) {
                hands.turn(rotation.slot());
            }
            self.wind(own, &mut state)?;
        }
    }

    /// Sets a thread's timers to its next turns.
    fn wind(&self, own: usize, state: &mut State) -> io::Result<()> {
        let State { rotation, set, .. } = state;
        let set = &mut set[own];
        let mut next: Vec<i64> = match rotation.is_rotating() {
            true => rotation.next_of(own, self.timers.len()).take(TIMERS).collect(),
            false => Vec::new(),
        };
        // One that is set already stays.
        next.retain(|turn| !set.contains(&Some(*turn)));
        for (timer, set) in self.timers[own].iter().zip(set) {
            if set.is_some_and(|turn| turn > rotation.turn()) && rotation.is_rotating() {
                continue;
            }
            *set = next.pop();
            set_timer(timer, set.map_or(0, |turn| rotation.begins(turn)))?;
        }
        Ok(())
    }

    /// What the thread does that looks who sleeps. It does not hold up who begins a turn: nothing
    /// is locked while it looks.
    fn look(&self, mut sleepers: Sleepers) -> io::Result<Infallible> {
        let Some(timer) = &self.looks else { return Err(io::ErrorKind::NotFound.into()) };
        loop {
            match poll(&mut [PollFd::new(timer, PollFlags::IN)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let asked = self.lock().asks();
            if let Some(asked) = asked {
                let begun = spent();
                let owners = sleepers.look(&asked.owners);
                let last = asked.last.filter(|_| owners != Seen::Awake);
                let last = last.map_or(Seen::Awake, |jobs| {
                    // Who is real-time is killed if he does not sleep for long.
                    thread::sleep(BREATH);
                    sleepers.look(&jobs)
                });
                self.lock().see((asked.turn, asked.stamp), spent() - begun, (owners, last));
            }
            let state = self.lock();
            let next = state.lending.next(&state.rotation, now());
            set_timer(timer, next.unwrap_or(0))?;
            drop(state);
            if next.is_none() {
                sleepers.forget();
            }
        }
    }
}

/// Whom to look at, and in which turn of which table that was said.
struct Asked {
    turn: i64,
    stamp: u64,
    owners: Vec<u32>,
    last: Option<Vec<u32>>,
}

impl State {
    fn asks(&mut self) -> Option<Asked> {
        let State { rotation, lending, .. } = self;
        let (owners, last) = lending.asks(rotation, now())?;
        let jobs = |slot: usize| rotation.slots().slots[slot].clone();
        let (turn, stamp) = (rotation.turn(), rotation.stamp());
        Some(Asked { turn, stamp, owners: jobs(owners), last: last.map(jobs) })
    }

    /// What was seen is of use as long as that turn goes on.
    fn see(&mut self, of: (i64, u64), took: Nanos, seen: (Seen, Seen)) {
        let State { rotation, hands, lending, .. } = self;
        lending.looked(took, now());
        if of == (rotation.turn(), rotation.stamp()) {
            hands.let_run(lending.see(rotation, now(), seen));
        }
    }
}

fn set_timer(timer: &OwnedFd, time: Nanos) -> io::Result<()> {
    let times = Itimerspec { it_interval: timespec(0), it_value: timespec(time) };
    Ok(timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &times).map(drop)?)
}

/// The end of a thread that panics is that of the process.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        process::abort();
    }
}

/// The processors that this process may use.
fn processors() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU).filter(|at| set.is_set(*at)).collect()
}

fn timer() -> io::Result<OwnedFd> {
    let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
    Ok(timerfd_create(TimerfdClockId::Monotonic, flags)?)
}

fn now() -> Nanos {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// What this thread has taken of processors.
fn spent() -> Nanos {
    nanos(clock_gettime(ClockId::ThreadCPUTime))
}

fn nanos(time: Timespec) -> Nanos {
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn timespec(nanos: Nanos) -> Timespec {
    Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 }
}
