//! The process's MPI, from `MPI_Init` to `MPI_Finalize`.

use std::io::Write as _;
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use muster_fabric::deadline::Deadline;
use muster_fabric::gateway::Rank;
use muster_message::{Carrier, Endpoint};
use muster_mpi::communicator::Communicator;
use muster_mpi::error::{About, Class, Error, Result};
use muster_mpi::gateway::{self, Gateway};
use muster_mpi::process;
use muster_mpi::simulated::{Clock, Simulated};
use muster_mpi::strobe::Strobed;
use muster_mpi::watch::Waits;

use crate::abi::constants::*;
use crate::attached;
use crate::communicator;
use crate::door::{self, Door};
use crate::failure;
use crate::line::{Bell, Line};
use crate::order;
use crate::outside::outside;
use crate::place::Place;

/// How long others may take to take the last messages of a rank that ends, and how often it looks
/// whether they have sent it something meanwhile.
const DELIVERY: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(1);

/// How long the node's daemon may take to let the rank in.
const JOIN: Duration = Duration::from_secs(30);

/// The process's part of the job.
pub type Process = process::Process<Door, Line, Place>;

/// What is guarded of it.
pub type State = process::State<Line, Place>;

/// A process that has called `MPI_Init`.
pub struct World {
    /// Its messages and collectives.
    pub process: Process,
    /// Its rank in the job.
    pub rank: u32,
    /// How many ranks the job has.
    pub size: u32,
    /// The ranks of its node.
    pub neighbours: std::ops::Range<u32>,
    /// Whether the order of its messages is of interest (`order.rs`).
    pub is_watched: bool,
}

/// The socket of the simulator of a simulated job, and the job's time.
const SIMULATION: &str = "MUSTER_SIMULATION";
static CLOCK: OnceLock<Clock> = OnceLock::new();

static WORLD: OnceLock<World> = OnceLock::new();

/// Where the process is.
static PHASE: AtomicU8 = AtomicU8::new(BEFORE);
const BEFORE: u8 = 0;
const RUNNING: u8 = 1;
const AFTER: u8 = 2;
/// It is a child that a rank has forked, and none itself.
const FORKED: u8 = 3;

/// What threads may do (`MPI_THREAD_...`), as `MPI_Init_thread` has said.
static LEVEL: AtomicI32 = AtomicI32::new(0);

/// The thread that has called `MPI_Init`; 0 before.
static MAIN: AtomicI32 = AtomicI32::new(0);

/// Sessions that are open. They need no `MPI_Init`, and outlast `MPI_Finalize`.
static SESSIONS: AtomicU64 = AtomicU64::new(0);

/// Whether all ranks have come to their end, and none has a session that goes on.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Counts those of them that are about to end, in the same word.
const ENDING: u64 = 1 << 32;

/// Whether a session is open.
fn has_session() -> bool {
    !SESSIONS.load(Ordering::Relaxed).is_multiple_of(ENDING)
}

/// The process's MPI.
///
/// # Errors
/// [`Class::Other`] before `MPI_Init` and after `MPI_Finalize`.
#[inline]
pub fn world() -> Result<&'static World> {
    match (PHASE.load(Ordering::Relaxed), WORLD.get()) {
        (RUNNING, Some(world)) => Ok(world),
        (FORKED, _) => Err(forked()),
        (_, Some(world)) if has_session() => Ok(world),
        (AFTER, _) => Err(Error::new(Class::Other, "MPI_Finalize has been called before")),
        _ => Err(Error::new(Class::Other, "MPI_Init has not been called")),
    }
}

/// Whether `MPI_Init` has been called.
pub fn has_begun() -> bool {
    PHASE.load(Ordering::Relaxed) != BEFORE
}

/// Whether `MPI_Finalize` has been called. A forked child need not call it.
pub fn has_ended() -> bool {
    matches!(PHASE.load(Ordering::Relaxed), AFTER | FORKED)
}

/// Whether this is a child that a rank has forked.
pub fn is_forked() -> bool {
    PHASE.load(Ordering::Relaxed) == FORKED
}

fn forked() -> Error {
    let what = "this process was forked by a rank and is none itself, so it cannot call MPI";
    Error::new(Class::Other, what)
}

/// In a child: what its parent has is not for its use, and is in nobody's hands here.
extern "C" fn fork() {
    PHASE.store(FORKED, Ordering::Relaxed);
    SESSIONS.store(0, Ordering::Relaxed);
}

/// Begins. What threads may do is as asked for; but where the order of messages is of interest only
/// one may call at a time.
///
/// # Errors
/// [`Class::Other`] where it has begun before, or the node's daemon does not let this rank in.
pub fn begin(level: i32, has_threads: bool) -> Result<()> {
    if has_begun() && !is_forked() {
        return Err(Error::new(Class::Other, "MPI_Init has been called before"));
    }
    let world = enter(has_threads)?;
    let level = if world.is_watched { level.min(MPI_THREAD_SERIALIZED) } else { level };
    LEVEL.store(level, Ordering::Relaxed);
    MAIN.store(thread(), Ordering::Relaxed);
    PHASE.store(RUNNING, Ordering::Release);
    Ok(())
}

/// The number of this thread.
fn thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Whether this thread is the one that has called `MPI_Init`.
pub fn is_main_thread() -> bool {
    MAIN.load(Ordering::Relaxed) == thread()
}

/// Joins the job, once.
fn enter(has_threads: bool) -> Result<&'static World> {
    static ENTERING: Mutex<()> = Mutex::new(());
    if is_forked() {
        return Err(forked());
    }
    let _guard = ENTERING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(world) = WORLD.get() {
        if has_threads && !world.is_watched {
            door::allow_threads();
        }
    } else {
        keep_streams();
        let (line, rank, size, neighbours) = join()?;
        let endpoint = Endpoint::ordered(rank, line, order::wanted(size)?);
        // Several threads have no order that a program determines.
        let is_watched = endpoint.is_watched();
        door::begin(has_threads && !is_watched);
        let process = Process::new(endpoint);
        process.set_outside(outside());
        let world = WORLD.get_or_init(|| World { process, rank, size, neighbours, is_watched });
        // SAFETY: the handler stores numbers, and does nothing else.
        unsafe { libc::pthread_atfork(None, None, Some(fork)) };
        order::begin(world)?;
        if is_watched {
            // SAFETY: it is a function of this library, which glibc calls before it is unloaded.
            unsafe { libc::atexit(leave) };
        }
    }
    Ok(WORLD.get().expect("it has joined"))
}

/// What threads may do.
///
/// # Errors
/// As [`world`].
pub fn level() -> Result<i32> {
    world().map(|_| LEVEL.load(Ordering::Relaxed))
}

/// Begins a session. Its threads may do all.
///
/// # Errors
/// [`Class::Other`] where the node's daemon does not let this rank in.
pub fn begin_session() -> Result<()> {
    enter(true)?;
    SESSIONS.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Ends a session: what was sent has left, also by sends whose requests were freed; and if nothing
/// else is open, all that is left in buffers, whatever they are attached to.
///
/// # Errors
/// That messages can be carried no more.
pub fn end_session() -> Result<()> {
    let before = SESSIONS.fetch_add(ENDING, Ordering::Relaxed);
    let is_last = before / ENDING + 1 == before % ENDING;
    let left = deliver(is_last && PHASE.load(Ordering::Relaxed) != RUNNING);
    SESSIONS.fetch_sub(ENDING + 1, Ordering::Relaxed);
    left
}

/// Waits until what was sent has left; in the end also what was copied.
fn deliver(is_end: bool) -> Result<()> {
    if is_end {
        attached::release()?;
    }
    let process = &world()?.process;
    process.wait(Waits::Messages, |state| Ok((!state.owes()).then_some(())))?;
    flush(Waits::Other)
}

/// Where the order of messages is of interest ranks end together also where sessions outlast
/// `MPI_Finalize`, or there was nothing else: there is no quiescence without one that is gone, and
/// only at the end there is a digest. Who sees a session end cannot know that it is the last.
extern "C" fn leave() {
    let has_left = matches!(PHASE.load(Ordering::Relaxed), BEFORE | AFTER);
    if !has_left || has_session() {
        return;
    }
    SESSIONS.fetch_add(1, Ordering::Relaxed);
    // Others may be in `MPI_Finalize` only now, and have sessions.
    while !IS_OVER.load(Ordering::Relaxed) {
        if let Err(error) = communicator::before_end().and_then(|()| end_if(true)) {
            const END: &str = "the end of a rank with sessions";
            match (error.about, error.class) {
                (About::Departure, _) => failure::depart(END, &error),
                // The log that is wanted cannot be written.
                (_, Class::File) => failure::end(END, &error),
                _ => {}
            }
            // Where nobody reads there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "muster: at {END}: {error}");
            return;
        }
    }
}

/// Waits until what was sent has come to where it goes. Who takes nothing any more is not waited
/// for long: its own end may be near.
fn flush(waits: Waits) -> Result<()> {
    let process = &world()?.process;
    process.wait(waits, |state| Ok(state.endpoint.is_flushed().then_some(())))?;
    let end = process.state().endpoint.carrier().now() + DELIVERY;
    loop {
        let mut state = process.state();
        state.progress()?;
        if state.endpoint.has_delivered(LOOK)? || state.endpoint.carrier().now() >= end {
            return Ok(());
        }
    }
}

/// Whether nothing is sent any more when `MPI_Finalize` has been called: no session is open.
pub fn is_last() -> bool {
    !has_session()
}

/// Ends: what was sent has left, and nothing can be called any more but what sessions allow.
///
/// # Errors
/// That messages can be carried no more.
pub fn end() -> Result<()> {
    end_if(is_last())
}

/// The same, and if all ranks say that nothing comes behind it this is the end of the job's order.
fn end_if(is_last_here: bool) -> Result<()> {
    let world = world()?;
    let is_over = order::all(world, is_last_here)?;
    if is_over {
        order::end(world)?;
    }
    flush(if is_last() { Waits::End } else { Waits::Other })?;
    IS_OVER.store(is_over, Ordering::Relaxed);
    PHASE.store(AFTER, Ordering::Release);
    Ok(())
}

/// Numbers of files up to this are the standard streams.
const STREAMS: RawFd = 2;

/// A program may have closed its standard streams. What this library opens must not get their
/// numbers: what the program prints, or closes once more, would be that.
fn keep_streams() {
    // The lowest number that is free is what a file gets.
    while let Ok(file) = std::fs::File::options().read(true).write(true).open("/dev/null") {
        if file.as_raw_fd() > STREAMS {
            return;
        }
        let _ = file.into_raw_fd();
    }
}

type Joined = (Line, u32, u32, std::ops::Range<u32>);

/// Joins the job that this process is of, by what its node has told it (`docs/files.md`).
fn join() -> Result<Joined> {
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    if let Some(path) = path(SIMULATION) {
        return join_simulation(&path);
    }
    let Some(path) = path("MUSTER_GATEWAY") else { return alone() };
    let deadline = Deadline::after(JOIN);
    let rank = Rank::meet(&path, (number("MUSTER_JOB")?, number("MUSTER_RANK")?), deadline);
    let rank = rank.map_err(|error| Error::new(Class::Other, error.to_string()))?;
    let gateway = Gateway::new(rank);
    let (number, size, neighbours) = (gateway.number(), gateway.size(), gateway.neighbours());
    let line = match order::strobes()? {
        Some(strobes) => Line::Strobed(Box::new(Strobed::new(gateway, strobes))),
        None => Line::Gateway(Box::new(gateway)),
    };
    Ok((line, number, size, neighbours))
}

/// Joins a simulated job.
fn join_simulation(path: &Path) -> Result<Joined> {
    let number = number("MUSTER_RANK")?;
    let joined = Simulated::join(path, number).map_err(|error| {
        let what = format!("{SIMULATION} is {}, where no simulator is: {error}", path.display());
        Error::new(Class::Other, what)
    })?;
    if order::strobes()?.is_some() {
        let what = "a simulated network has no strobes: leave MUSTER_MPI_STROBE out";
        return Err(Error::new(Class::Other, what));
    }
    let (size, neighbours) = (joined.size(), joined.neighbours());
    CLOCK.get_or_init(|| joined.clock());
    Ok((Line::Simulated(Box::new(joined)), number, size, neighbours))
}

/// What time it is, for the program: the machine's, which is the same for all ranks there, or that
/// of a simulation.
#[inline]
pub fn time() -> Duration {
    CLOCK.get().map_or_else(gateway::now, Clock::look)
}

/// Lets time pass, in which others go on.
pub fn pause(time: Duration) {
    let Some(world) = CLOCK.get().and_then(|_| world().ok()) else {
        return std::thread::sleep(time);
    };
    let mut state = world.process.state();
    let now = |state: &mut State| state.endpoint.carrier().now();
    let end = now(&mut state) + time;
    // What comes is taken: only who has nothing to do waits.
    while now(&mut state) < end && state.progress().is_ok() {
        let left = end.saturating_sub(now(&mut state));
        if state.endpoint.wait(left).is_err() {
            return;
        }
    }
}

/// Who else starts ranks, by the variable that says how many.
const OTHERS: [(&str, &str); 4] = [
    ("MUSTER_SIZE", "a muster that is older than this MPI library"),
    ("OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"),
    ("PMI_SIZE", "an mpiexec of MPICH's kind"),
    ("SLURM_STEP_NUM_TASKS", "srun"),
];

/// A process that was started by itself is the one rank of a job. One of several that another
/// launcher has started would be so by mistake, each of them.
fn alone() -> Result<Joined> {
    for (variable, launcher) in OTHERS {
        let size = std::env::var(variable).ok().and_then(|size| size.parse::<u64>().ok());
        if let Some(size) = size.filter(|size| *size > 1) {
            let what = format!(
                "this program is linked with Muster's MPI library, but {launcher} has started it \
                 as one of {size} ranks; start it with 'muster run -n {size}', or with the mpiexec \
                 that came with the library"
            );
            return Err(Error::new(Class::Other, what));
        }
    }
    Ok((Line::Alone(Bell::default()), 0, 1, 0..1))
}

/// A number that the node has put into the environment.
fn number(name: &str) -> Result<u32> {
    let value = std::env::var(name).ok().and_then(|value| value.parse().ok());
    value.ok_or_else(|| {
        let what = format!("this process was started as a rank of a job, but {name} is no number");
        Error::new(Class::Other, what)
    })
}

/// `MPI_COMM_WORLD`.
pub fn comm_world(world: &World) -> Communicator {
    Communicator::world(world.rank, world.size)
}
