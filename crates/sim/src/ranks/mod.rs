//! MPI programs on a simulated network: real processes, with the library as it ships, of which one
//! goes on at a time (`muster_mpi::simulated`); how long messages take, and in which order those of
//! several ranks come, is drawn from a seed.
//!
//! Time is virtual: a program's own work takes none. So what a program does depends on nothing but
//! the seed, as long as it has one thread and draws no lots of its own; [`Report::digest`] covers
//! all messages. [`machine`] has the network and the time, this module the processes.

mod machine;

pub use machine::networks;

use crate::digest::Digest;
use crate::network::Network;
use machine::{Machine, Step};
use muster_mpi::simulated::wire::{Given, Said, Turn};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::ffi::OsString;
use std::io::{self, BufReader, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long the ranks may take to call `MPI_Init`, and one of them to call MPI again.
const JOIN: Duration = Duration::from_secs(120);
const COMPUTE: Duration = Duration::from_secs(120);

/// How often it is looked who has come.
const LOOK: Duration = Duration::from_millis(20);

/// Turns after which it is looked whether a thread of a rank wants one; and how long it is waited
/// for that where nothing else happens.
const TURNS: u64 = 256;
const PAUSE: Duration = Duration::from_micros(200);

/// A job.
pub struct Job {
    /// How many ranks it has.
    pub ranks: u32,
    /// On how many nodes they are.
    pub nodes: u32,
    /// How long messages take.
    pub network: Network,
    /// What is drawn from.
    pub seed: u64,
    /// Ranks that are killed, and when.
    pub kills: Vec<(u32, Duration)>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// How it has ended.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The exit status of the first rank that failed, or 0.
    pub status: i32,
    /// The rank.
    pub failed: Option<u32>,
    /// How long it took in the simulation.
    pub time: Duration,
    /// Parts of messages, and their bytes.
    pub carried: (u64, u64),
    /// Turns that ranks had.
    pub turns: u64,
    /// Covers all messages and turns.
    pub digest: Digest,
}

/// A rank's process.
struct Process {
    child: Child,
    line: Option<BufReader<UnixStream>>,
    /// Whether it was told what it is told first.
    is_set_up: bool,
}

/// The processes, and the folder of the socket that they come to. Both end with it.
struct Processes {
    all: Vec<Process>,
    folder: PathBuf,
}

impl Drop for Processes {
    fn drop(&mut self) {
        for process in &mut self.all {
            let _ = process.child.kill();
        }
        for process in &mut self.all {
            let _ = process.child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Runs a job.
///
/// # Errors
/// That its processes cannot be started, or one of them does not call MPI.
pub fn run(job: &Job) -> io::Result<Report> {
    let mut machine = Machine::new((job.ranks, job.nodes), job.network.clone(), job.seed);
    job.kills.iter().for_each(|(rank, after)| machine.kill(*rank, *after));
    bind()?;
    let mut processes = Processes::start(job)?;
    let mut failed = None;
    for rank in 0..job.ranks {
        if processes.all[rank as usize].line.is_none() {
            machine.ended(rank);
            failed = failed.or(processes.failure(rank)?);
        }
    }
    while failed.is_none() {
        if machine.turns.is_multiple_of(TURNS) || machine.is_idle() {
            let pause = if machine.is_idle() { PAUSE } else { Duration::ZERO };
            processes.wanting(pause)?.into_iter().for_each(|rank| machine.wants(rank));
        }
        match machine.advance() {
            Step::End => break,
            Step::Kill(rank) => {
                processes.all[rank as usize].child.kill()?;
                machine.ended(rank);
            }
            Step::Turn(rank, given) => match processes.turn(rank, &given, &machine)? {
                Some(turn) => machine.waits(rank, turn),
                None => {
                    machine.ended(rank);
                    failed = processes.failure(rank)?;
                }
            },
        }
    }
    Ok(Report {
        status: failed.map_or(0, |(_, status)| status),
        failed: failed.map(|(rank, _)| rank),
        time: machine.time(),
        carried: machine.carried,
        turns: machine.turns,
        digest: machine.digest(),
    })
}

/// Binds this thread, and the processes that it starts, to one processor: as one of them goes on at
/// a time, nothing is lost, and who has the turn next need not wait until a second processor wakes
/// up (half of the time, with 64 ranks).
fn bind() -> io::Result<()> {
    let all = sched_getaffinity(None)?;
    let here: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).collect();
    let mut one = CpuSet::new();
    one.set(here[std::process::id() as usize % here.len()]);
    Ok(sched_setaffinity(None, &one)?)
}

/// A status as a shell tells it.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

impl Processes {
    /// Starts all, and waits until each has come or ended.
    fn start(job: &Job) -> io::Result<Processes> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("muster-sim-{}-{number}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let mut processes = Processes { all: Vec::new(), folder };
        // A descriptor for each rank, and a few more.
        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        setrlimit(Resource::Nofile, limit)?;
        let socket = processes.folder.join("socket");
        let listener = UnixListener::bind(&socket)?;
        listener.set_nonblocking(true)?;
        let (program, arguments) =
            job.command.split_first().ok_or_else(|| io::Error::other("there is no program"))?;
        for rank in 0..job.ranks {
            let mut command = Command::new(program);
            command.args(arguments).env("MUSTER_SIMULATION", &socket);
            command.env("MUSTER_RANK", rank.to_string());
            if rank > 0 {
                command.stdin(Stdio::null());
            }
            let child = command.spawn().map_err(|error| {
                let program = program.to_string_lossy();
                io::Error::new(error.kind(), format!("{program} cannot be started: {error}"))
            })?;
            processes.all.push(Process { child, line: None, is_set_up: false });
            processes.let_in(&listener)?;
        }
        processes.await_all(&listener)?;
        Ok(processes)
    }

    /// Lets in who has come.
    fn let_in(&mut self, listener: &UnixListener) -> io::Result<()> {
        loop {
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nonblocking(false)?;
            stream.set_read_timeout(Some(COMPUTE))?;
            let mut line = BufReader::new(stream);
            if let Some(Said::Hello(rank)) = Said::read(&mut line)?
                && let Some(process) = self.all.get_mut(rank as usize)
            {
                process.line = Some(line);
            }
        }
    }

    /// Waits until each rank has come or ended.
    fn await_all(&mut self, listener: &UnixListener) -> io::Result<()> {
        let end = Instant::now() + JOIN;
        loop {
            let mut missing = None;
            for (rank, process) in self.all.iter_mut().enumerate() {
                if process.line.is_none() && process.child.try_wait()?.is_none() {
                    missing = missing.or(Some(rank));
                }
            }
            // Who has ended may have come before.
            self.let_in(listener)?;
            let Some(rank) = missing else { return Ok(()) };
            if Instant::now() >= end {
                let what = format!("rank {rank} has not called MPI_Init in {JOIN:?}");
                return Err(io::Error::new(ErrorKind::TimedOut, what));
            }
            let time = Timespec::try_from(LOOK).map_err(io::Error::other)?;
            poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&time))?;
        }
    }

    /// Gives a rank its turn; what it says when it gives it away, or nothing where it has ended.
    fn turn(&mut self, rank: u32, given: &Given, machine: &Machine) -> io::Result<Option<Turn>> {
        let process = &mut self.all[rank as usize];
        let Some(line) = &mut process.line else { return Ok(None) };
        let mut to = line.get_ref();
        let mut told = Ok(());
        if !std::mem::replace(&mut process.is_set_up, true) {
            told = machine.setup(rank).write(&mut to);
        }
        if told.and_then(|()| given.write(&mut to)).is_err() {
            return Ok(None);
        }
        loop {
            match Said::read(line) {
                Ok(Some(Said::Turn(turn))) => return Ok(Some(turn)),
                // It wanted the turn that it has had since.
                Ok(Some(Said::Wants)) => {}
                Ok(Some(Said::Hello(_)) | None) => return Ok(None),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(None),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let what = format!(
                        "rank {rank} has not called MPI for {COMPUTE:?}, and while it computes all \
                         others wait"
                    );
                    return Err(io::Error::new(ErrorKind::TimedOut, what));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The ranks of which a thread wants a turn; it is waited for one so long.
    fn wanting(&mut self, pause: Duration) -> io::Result<Vec<u32>> {
        let lines = (0..)
            .zip(&self.all)
            .filter_map(|(rank, process)| process.line.as_ref().map(|line| (rank, line)));
        let (ranks, lines): (Vec<u32>, Vec<&BufReader<UnixStream>>) = lines.unzip();
        let mut heard: Vec<u32> = ranks
            .iter()
            .zip(&lines)
            .filter(|(_, line)| !line.buffer().is_empty())
            .map(|(rank, _)| *rank)
            .collect();
        let mut polled: Vec<PollFd<'_>> =
            lines.iter().map(|line| PollFd::new(line.get_ref(), PollFlags::IN)).collect();
        let time = Timespec::try_from(pause).map_err(io::Error::other)?;
        poll(&mut polled, Some(&time))?;
        let ready = ranks.iter().zip(&polled).filter(|(_, fd)| !fd.revents().is_empty());
        heard.extend(ready.map(|(rank, _)| *rank));
        for rank in &heard {
            // That it has ended is heard at its next turn.
            if let Some(line) = &mut self.all[*rank as usize].line {
                let _ = Said::read(line);
            }
        }
        Ok(heard)
    }

    /// Waits for the end of a rank that has ended its line; whether it failed, and how.
    fn failure(&mut self, rank: u32) -> io::Result<Option<(u32, i32)>> {
        let process = &mut self.all[rank as usize];
        process.line = None;
        let status = code(process.child.wait()?);
        Ok((status != 0).then_some((rank, status)))
    }
}
