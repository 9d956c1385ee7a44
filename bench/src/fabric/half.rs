//! Halves of a measurement: this program once more, as a process of its own. The words are a role,
//! a subject, where to meet, bytes, rounds, and microseconds of thinking before each message.

use super::duel::{Call, Place, duel, figures, solo};
use super::{death, ours, planner, raw, sys};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::time::{Duration, Instant};

/// The word that makes this program a half.
pub const HALF: &str = "fabric-half";

/// One way of some round trips, in microseconds.
pub fn one_way(time: Duration, rounds: u64) -> f64 {
    time.as_secs_f64() * 1e6 / 2.0 / rounds as f64
}

/// What somebody does before a message, so that who waits for it goes to sleep.
#[derive(Clone, Copy, Debug, Default)]
pub struct Think(pub Duration);

impl Think {
    /// Computes for a while.
    pub fn think(self) {
        // To read the clock takes half as long as a message.
        if self.0.is_zero() {
            return;
        }
        let start = Instant::now();
        while start.elapsed() < self.0 {
            std::hint::spin_loop();
        }
    }

    /// The time of some rounds less what both have thought.
    pub fn off(self, time: Duration, rounds: u64) -> Duration {
        time.saturating_sub(self.0.mul_f64(2.0 * rounds as f64))
    }
}

/// What a half does.
#[derive(Clone, Debug)]
pub struct Half {
    /// Of what.
    pub subject: &'static str,
    /// An address or a path.
    pub at: String,
    /// Bytes of a message.
    pub size: usize,
    /// Rounds, or milliseconds.
    pub rounds: u64,
    /// Before each message.
    pub think: Think,
}

impl Half {
    /// Without thinking.
    pub fn new(subject: &'static str, at: impl Into<String>, size: usize, rounds: u64) -> Half {
        Half { subject, at: at.into(), size, rounds, think: Think::default() }
    }

    fn call(&self, role: &str) -> Result<Call> {
        let (size, rounds) = (self.size.to_string(), self.rounds.to_string());
        let think = self.think.0.as_micros().to_string();
        let words = [HALF, role, self.subject, &self.at, &size, &rounds, &think];
        Ok(Call::new(&std::env::current_exe().context("this program")?, &words))
    }

    /// Both halves; the figures that come of it.
    pub fn both(&self, place: Place) -> Result<Vec<f64>> {
        let who = format!("this program's {}", self.subject);
        Ok(figures(&duel(&who, place, &self.call("serve")?, &self.call("ask")?)?))
    }

    /// Both halves; the only figure.
    pub fn figure(&self, place: Place) -> Result<f64> {
        self.both(place)?.first().copied().context("no figure was printed")
    }

    /// The asking half alone, on the first processor.
    pub fn alone(&self) -> Result<Vec<f64>> {
        let who = format!("this program's {}", self.subject);
        Ok(figures(&solo(&who, Place::Together, &self.call("ask")?)?))
    }
}

/// What this process does if it is a half, and what it is to print.
pub fn run(words: &[String]) -> Result<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let &[role, subject, at, size, rounds, think] = &words[..] else {
        bail!("a half needs six words");
    };
    let (size, rounds) = (size.parse()?, rounds.parse()?);
    let think = Think(Duration::from_micros(think.parse()?));
    let memory = || sys::Memory::open(Path::new(at), size);
    let time = Duration::from_millis(rounds);
    let found = match (role, subject) {
        ("serve", "raw-shared") => return silent(raw::serve_shared(&memory()?, size, rounds)),
        ("serve", "raw-futex") => return silent(raw::serve_futex(&memory()?, rounds, think)),
        ("serve", "raw-tcp-spin") => return silent(raw::serve_tcp(at, size, raw::Wait::Spin)),
        ("serve", "raw-tcp-block") => return silent(raw::serve_tcp(at, size, raw::Wait::Block)),
        ("serve", "stream") => return silent(ours::serve_stream(at, size)),
        ("serve", "flips" | "search" | "stage") => return silent(planner::serve(at)),
        ("serve", _) => return silent(ours::serve(at, think)),
        ("ask", "raw-shared") => vec![raw::ask_shared(&memory()?, size, rounds)?],
        ("ask", "raw-futex") => vec![raw::ask_futex(&memory()?, rounds, think)?],
        ("ask", "raw-tcp-spin") => vec![raw::ask_tcp(at, size, rounds, raw::Wait::Spin)?],
        ("ask", "raw-tcp-block") => vec![raw::ask_tcp(at, size, rounds, raw::Wait::Block)?],
        ("ask", "memcpy") => vec![raw::memcpy(size, time)],
        ("ask", "latency") => vec![ours::ask(at, size, rounds, think)?],
        ("ask", "stream") => vec![ours::ask_stream(at, size, time)?],
        ("ask", "start-up") => vec![ours::start_up(at)?],
        ("ask", "idle") => vec![ours::idle(at, time)?],
        ("ask", "tracing") => vec![ours::tracing(rounds)?],
        ("ask", "stage") => vec![planner::stage(at, size)?],
        ("ask", "flips") => planner::flips(at, size, time)?,
        ("ask", "search") => planner::search(at, size)?,
        ("ask", "death-of-connector") => death::connector(at)?,
        ("ask", "death-of-listener") => death::listener(at)?,
        _ => bail!("no half {role} {subject}"),
    };
    Ok(found.iter().map(f64::to_string).collect::<Vec<_>>().join(" "))
}

fn silent(done: Result<()>) -> Result<String> {
    done.map(|()| String::new())
}
