//! The strober: one process a machine that lets the jobs of one slot run, then those of the next.
//!
//! ```text
//!  scheduler ─> manager/strobe.rs ── order, by one node of each machine ──> strobe.sock
//!                                                                              │
//!  keeper ── starts it, lets all jobs run when it has died ───────────────> strober
//!                                                                 freezes and thaws, on timers
//! ```
//!
//! # The table
//!
//! A [`Table`] says which jobs are in which slot, how long a slice is, and how long ago the
//! rotation began when the manager sent it. The strober takes the moment of its arrival for that
//! moment, so strobers of different machines are in phase up to the difference of two deliveries,
//! whatever their clocks say; from then on each goes by its own monotonic clock. A strobe of the
//! heartbeat has all of them told again, every second, how far the manager is ([`Phase`]); what
//! comes late then is not believed ([`rotation`]). A table has a stamp, and older ones are not
//! heeded, so several nodes may tell the same strober.
//!
//! Turns are counted from the rotation's start: a strobe that came late, or not at all, shifts none
//! after it. Missed ones are counted, and shown by a node's file `strobe`.
//!
//! # What is stopped
//!
//! All ranks of a job on this machine are in one control group ([`place`]), which the strober makes
//! as soon as the table names the job: frozen, if it is not its turn. So a rank of it is born at
//! its turn, and a turn costs one write(2) for each job that stops and each that goes on. Where no
//! control groups can be made, nodes list the leaders of the ranks' process groups instead, and
//! these are sent SIGSTOP and SIGCONT: what has left its process group is not stopped then, what is
//! sent SIGCONT by others runs until the next strobe, and a rank that is born out of its turn runs
//! until then, too. At each turn all listed ranks are sent SIGCONT, since nobody knows which of
//! them are new: so a rank that its user has stopped goes on then.
//!
//! A job that the table does not name is never stopped. SIGKILL ends a frozen process as any other.
//!
//! # What is lent
//!
//! While all processes sleep of the jobs whose turn it is, those of the next slot run as well
//! ([`lending`]). That takes groups: of those that are listed only the leaders are known.
//!
//! # The clock
//!
//! A strober that is scheduled like other processes misses most strobes of a busy machine, so it is
//! SCHED_FIFO where that is permitted ([`sys`]), and nothing else is. It has one thread that hears
//! of tables ([`daemon`]), one that looks who sleeps, and one on each of some processors that
//! begins turns ([`turns`]). They sleep in between; the kernel kills it if one runs for
//! [`sys::SPIN`] without sleeping. Another real-time task of the same processor that does not sleep
//! keeps its turns from beginning there; ranks that the scheduler `gang` starts may not be
//! real-time (RLIMIT_RTPRIO), unless they are root's.
//! Where it is not permitted one thread begins all turns, and the shortest slice is
//! [`SLICE_MIN_SHARED`] ([`least_slice`]).
//!
//! # Who may die when
//!
//! * **The strober**: the keeper sees it, thaws all jobs, and starts another, which reads the last
//!   table from the file `strobe` and goes on. Until then jobs share the processors. One that is
//!   stopped (SIGSTOP) it kills.
//! * **The manager**: the rotation goes on. The next one's tables have a higher term.
//! * **The keeper**: the strober's lifeline ends. It thaws everything and leaves; the nodes end the
//!   jobs.
//! * **A node**: another one of its machine tells the strober.
//! * **A job**: the nodes remove their parts of its group. The rest goes when the table no longer
//!   names it.
//!
//! [`SLICE_MIN_SHARED`]: muster_base::limits::SLICE_MIN_SHARED

pub mod daemon;
mod hands;
mod lending;
pub mod place;
mod rotation;
mod sleepers;
mod sys;
mod turns;

use crate::keeper::Directory;
use crate::slots::Slots;
use muster_base::limits::{SLICE_MIN, SLICE_MIN_SHARED};
use muster_fabric::heartbeat::USER;
use place::Place;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The table of slots as it goes to the strobers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Which manager of the cluster sends it.
    pub term: u32,
    /// Which of this manager's tables it is.
    pub number: u32,
    /// How long ago the first slot's first turn began when it was sent.
    pub phase: Duration,
    /// Whose turn it is, and for how long.
    #[serde(flatten)]
    pub slots: Slots,
}

impl Table {
    /// Newer tables have higher ones.
    #[must_use]
    pub fn stamp(&self) -> u64 {
        u64::from(self.term) << 32 | u64::from(self.number)
    }
}

/// How far into the rotation of a table the manager is: an event of the heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The table's.
    pub stamp: u64,
    /// As in the table, when the strobe left.
    pub phase: Duration,
}

impl Phase {
    /// The event's kind; it is JSON.
    pub const EVENT: u32 = USER;
}

/// What a strober is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Told {
    Table(Table),
    Phase(Phase),
}

/// What a strober tells of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The stamp of its table.
    pub stamp: u64,
    /// Slots.
    pub slots: usize,
    /// Whose turn it is.
    pub slot: usize,
    /// Which turn that is since the table's first. One may be skipped, or begun twice, to get in
    /// step: no strobe is counted then.
    pub turn: i64,
    /// How long a turn takes, in microseconds.
    pub slice_us: u64,
    /// Turns that began.
    pub strobes: u64,
    /// Turns that passed before it could begin them.
    pub missed: u64,
    /// Turns of which the rest was lent to the jobs of other slots.
    pub lent: u64,
    /// Jobs that it could not stop, or let go on, when it last tried.
    pub failed: usize,
    /// How it is scheduled: `fifo`, or `shared` with all other processes.
    pub scheduled: String,
    /// What stops jobs: `freezer` or `signals`.
    pub by: String,
}

/// The shortest slice on the machine of the daemons in `directory`: of those who have groups to
/// stop and may be real-time.
#[must_use]
pub fn least_slice(directory: &Path) -> Duration {
    let place = Directory::at(directory).map(|directory| Place::of(&directory));
    let is_grouped = matches!(place, Ok(Place::Groups(_)));
    if is_grouped && sys::may_be_real_time() { SLICE_MIN } else { SLICE_MIN_SHARED }
}

/// Where the strober of the daemons in `directory` listens.
fn socket(directory: &Path) -> PathBuf {
    directory.join("strobe.sock")
}

/// Where it keeps its table.
fn kept(directory: &Path) -> PathBuf {
    directory.join("strobe")
}

/// Gives the strober of the daemons in `directory` a table; true if it has this one, or a newer.
///
/// # Errors
/// When it does not answer.
pub fn tell(directory: &Path, table: &Table, patience: Duration) -> io::Result<bool> {
    let told = Told::Table(table.clone());
    Ok(converse(directory, Some(&told), patience)?.stamp >= table.stamp())
}

/// Has it keep in step with the manager; false if it lacks the table.
///
/// # Errors
/// When it does not answer.
pub fn keep_step(directory: &Path, phase: &Phase, patience: Duration) -> io::Result<bool> {
    let told = Told::Phase(phase.clone());
    Ok(converse(directory, Some(&told), patience)?.stamp >= phase.stamp)
}

/// Asks it how it is.
///
/// # Errors
/// When it does not answer.
pub fn ask(directory: &Path, patience: Duration) -> io::Result<Status> {
    converse(directory, None, patience)
}

/// The longest line that is read: a status has some hundred bytes.
const ANSWER_MAX: u64 = 64 << 10;

/// One line there, one back.
fn converse(directory: &Path, told: Option<&Told>, patience: Duration) -> io::Result<Status> {
    let line = told.map(|told| serde_json::to_string(told).expect("it is always JSON"));
    let line = line.unwrap_or_default();
    let mut stream = connect(&socket(directory))?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(format!("{line}\n").as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream.take(ANSWER_MAX)).read_line(&mut answer)?;
    serde_json::from_str(&answer).map_err(io::Error::other)
}

/// Connects to it. Where it is stopped, and as many as can wait for it do, connect(2) would wait
/// without a limit: who does not answer any of them does not answer one more.
fn connect(at: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(at)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    /// connect(2) waited for it, and with it a thread of the node's server.
    #[test]
    fn a_strober_for_whom_as_many_wait_as_can_is_not_waited_for() {
        let scratch = Scratch::new("strober-full");
        let flags = SocketFlags::CLOEXEC;
        let silent = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
        rustix::net::bind(&silent, &SocketAddrUnix::new(socket(&scratch)).unwrap()).unwrap();
        rustix::net::listen(&silent, 0).unwrap();
        let asked = || ask(&scratch, Duration::from_millis(10)).unwrap_err();
        let first = asked();
        assert_ne!(first.raw_os_error(), None, "it is reached, and says nothing");
        let kinds: Vec<_> = (0..3).map(|_| asked().kind()).collect();
        assert_eq!(kinds, [io::ErrorKind::WouldBlock; 3]);
    }
}
