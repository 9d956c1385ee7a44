//! The programs whose turns are measured: `muster-bench gang-program ...`, a rank of a job.
//!
//! Each says that it is ready, waits until all are told to go, works, and prints when it began and
//! ended, by the machine's monotonic clock, and how long it used a processor: three numbers.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};

/// The first word of its command line.
pub const PROGRAM: &str = "gang-program";

/// The file that tells all to go.
pub const GO: &str = "go";

/// What a rank does.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Steps.
    pub steps: u64,
    /// Rounds of arithmetic in each.
    pub rounds: u64,
    /// Whether all ranks wait for each other after each step.
    pub exchanges: bool,
}

impl Work {
    /// As words of a command line, before the directory.
    pub fn words(self) -> [String; 3] {
        [self.steps.to_string(), self.rounds.to_string(), u8::from(self.exchanges).to_string()]
    }
}

/// A rank: the words are those of [`Work::words`], and the directory where ranks meet.
///
/// # Errors
/// When it is not started as a job's rank, or a peer is gone.
pub fn run(words: &[String]) -> Result<String> {
    let [steps, rounds, exchanges, meet] = words else { bail!("four words, not {words:?}") };
    let meet = Path::new(meet);
    let work = Work { steps: steps.parse()?, rounds: rounds.parse()?, exchanges: exchanges == "1" };
    let number = |name: &str| -> Result<usize> {
        Ok(std::env::var(name).with_context(|| format!("{name} is not set"))?.parse()?)
    };
    let (job, rank, size) = (number("MUSTER_JOB")?, number("MUSTER_RANK")?, number("MUSTER_SIZE")?);
    let mut peers = Peers::new(meet, job, rank, size)?;
    fs::write(meet.join(format!("{job}.{rank}")), "")?;
    while !meet.join(GO).exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let start = clock(ClockId::Monotonic);
    let mut state = rank as u64;
    for _ in 0..work.steps {
        state = spin(state, work.rounds);
        if work.exchanges {
            peers.meet()?;
        }
    }
    let (end, used) = (clock(ClockId::Monotonic), clock(ClockId::ProcessCPUTime));
    // Printed, so that nothing of the work can be left out.
    Ok(format!("{start} {end} {used} {}", state & 1))
}

/// Arithmetic that neither memory nor another processor has a part in.
pub fn spin(mut state: u64, rounds: u64) -> u64 {
    for _ in 0..rounds {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
    }
    std::hint::black_box(state)
}

fn clock(of: ClockId) -> i64 {
    let now = clock_gettime(of);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// The ranks of a job, which meet in as many rounds as their number has binary digits: in each, a
/// rank tells the one so far ahead, and hears from the one as far behind.
struct Peers {
    socket: UnixDatagram,
    ahead: Vec<PathBuf>,
    /// By round: how often it was heard from, beyond what was waited for.
    heard: Vec<u64>,
}

impl Peers {
    fn new(meet: &Path, job: usize, rank: usize, size: usize) -> Result<Peers> {
        let at = |rank: usize| meet.join(format!("s{job}.{rank}"));
        let socket = UnixDatagram::bind(at(rank))?;
        let distances = (0..).map(|round| 1 << round).take_while(|distance| *distance < size);
        let ahead: Vec<PathBuf> = distances.map(|distance| at((rank + distance) % size)).collect();
        let heard = vec![0; ahead.len()];
        Ok(Peers { socket, ahead, heard })
    }

    fn meet(&mut self) -> Result<()> {
        for round in 0..self.ahead.len() {
            self.socket.send_to(&[round as u8], &self.ahead[round])?;
            while self.heard[round] == 0 {
                let mut said = [0];
                // Without a limit of time: such calls end when their process has stood still, and
                // the others are begun again by the kernel. Who measures waits no longer than it
                // should.
                self.socket.recv(&mut said)?;
                self.heard[usize::from(said[0])] += 1;
            }
            self.heard[round] -= 1;
        }
        Ok(())
    }
}
