//! What the manager says about a job (`jobs/J/status`, `docs/files.md`), as far as we read it.

use serde::Deserialize;

/// A job.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Its number.
    pub id: u64,
    /// `new`, `starting`, `running`, `ending`, `done`.
    pub state: String,
    /// Its ranks, in order.
    pub ranks: Vec<Rank>,
    /// Exit status, once it is done.
    pub exit: Option<u8>,
    /// How it ended: `done`, `failed`, `killed`, `timeout`, `lost`.
    pub end: Option<String>,
    /// Why it ended so.
    pub why: Option<String>,
}

/// A rank of a job.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Rank {
    /// Its number.
    pub rank: usize,
    /// Where it runs.
    pub node: String,
    /// `waiting`, `running`, `done`, `lost`.
    pub state: String,
    /// wait(2) status, once it has ended.
    pub status: Option<i32>,
    /// Nothing if it ended by itself; a text that starts with `ended` if the manager ended it;
    /// else why it could not start or was lost.
    pub why: Option<String>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// With a status of its own.
    Exited(u8),
    /// By a signal; whether memory was dumped.
    Killed(u8, bool),
}

impl Ending {
    /// Reads a wait(2) status.
    pub fn of(raw: i32) -> Ending {
        match raw & 0x7f {
            0 => Ending::Exited((raw >> 8) as u8),
            signal => Ending::Killed(signal as u8, raw & 0x80 != 0),
        }
    }

    /// The shell's number for it.
    pub fn exit(self) -> u8 {
        match self {
            Ending::Exited(code) => code,
            Ending::Killed(signal, _) => super::failure::exit::SIGNAL.saturating_add(signal),
        }
    }
}

/// Linux's signals from 1 on (signal(7); the numbers of all architectures that we run on).
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// A signal's name without SIG.
pub fn signal_name(number: u8) -> String {
    match usize::from(number).checked_sub(1).and_then(|at| SIGNALS.get(at)) {
        Some(name) => (*name).to_owned(),
        None => format!("number {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_status_is_read() {
        assert_eq!(Ending::of(0), Ending::Exited(0));
        assert_eq!(Ending::of(0x0200), Ending::Exited(2));
        assert_eq!(Ending::of(0x8b), Ending::Killed(11, true));
        assert_eq!(Ending::of(9), Ending::Killed(9, false));
        assert_eq!(Ending::of(9).exit(), 137);
        assert_eq!(signal_name(11), "SEGV");
        assert_eq!(signal_name(31), "SYS");
        assert_eq!(signal_name(40), "number 40");
    }

    #[test]
    fn the_documented_status_is_read() {
        let text = r#"{"id":3,"state":"done","name":"heat","argv":["./heat"],"user":"me",
            "nodes":["n0"],"ranks":[{"rank":0,"node":"n0","local":0,"pid":7,"state":"done",
            "status":256,"why":null,"usage":{"user":1}}],"submitted":1.5,"started":1.6,
            "ended":2.0,"exit":1,"end":"failed","why":null,"transport":"unix"}"#;
        let status: Status = serde_json::from_str(text).unwrap();
        assert_eq!((status.id, status.exit, status.ranks[0].status), (3, Some(1), Some(256)));
        let early: Status = serde_json::from_str(r#"{"id":3,"exit":null,"ranks":[]}"#).unwrap();
        assert_eq!(early.exit, None);
    }
}
