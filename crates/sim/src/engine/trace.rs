//! The last events of a run, for people.

use crate::fault::Micros;
use std::collections::VecDeque;
use std::fmt;

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words of the trace say what they are")]
pub enum Kind {
    Begin,
    Message,
    Alarm,
    Request,
    Lost,
    Fault,
    Mend,
    Loss,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Begin => "begins",
            Kind::Message => "gets a message from",
            Kind::Alarm => "has its alarm",
            Kind::Request => "is asked",
            Kind::Lost => "loses",
            Kind::Loss => "does not get a message from",
            Kind::Fault => "fault",
            Kind::Mend => "mended: fault",
        }
    }
}

#[derive(Clone, Debug)]
struct Line {
    time: u64,
    kind: Kind,
    node: u32,
    other: u32,
    head: Vec<u8>,
}

/// The events; none are kept by default.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    lines: VecDeque<Line>,
    limit: usize,
}

impl Trace {
    /// Keeps so many.
    pub fn keep(limit: usize) -> Trace {
        Trace { lines: VecDeque::with_capacity(limit), limit }
    }

    /// Adds one, if any are kept.
    pub fn add(&mut self, time: u64, kind: Kind, node: u32, other: u32, head: &[u8]) {
        if self.limit == 0 {
            return;
        }
        if self.lines.len() == self.limit {
            self.lines.pop_front();
        }
        self.lines.push_back(Line { time, kind, node, other, head: head.to_vec() });
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            if matches!(line.kind, Kind::Fault | Kind::Mend) {
                writeln!(
                    f,
                    "{:>16}  {} {}",
                    Micros(line.time).to_string(),
                    line.kind.word(),
                    line.node
                )?;
                continue;
            }
            write!(
                f,
                "{:>16}  node {:>3} {}",
                Micros(line.time).to_string(),
                line.node,
                line.kind.word()
            )?;
            if matches!(line.kind, Kind::Message | Kind::Lost) {
                write!(f, " node {}", line.other)?;
            }
            for byte in &line.head {
                write!(f, " {byte:02x}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
