//! How processes end: signals by name, raw wait(2) statuses, and the shell's number for both.

use std::fmt;

/// Linux's signals from 1 on (signal(7); the numbers of all architectures that we run on).
const SIGNALS: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// The last real-time signal.
const LAST: u8 = 64;

/// A signal from its name, with or without SIG and in any case, or its number.
pub fn signal(given: &str) -> Option<u8> {
    let upper = given.to_ascii_uppercase();
    let plain = upper.strip_prefix("SIG").unwrap_or(&upper);
    let named = SIGNALS.iter().position(|name| *name == plain).map(|at| at as u8 + 1);
    named.or_else(|| plain.parse().ok().filter(|number| (1..=LAST).contains(number)))
}

/// A signal's name without SIG; its number if it has none.
pub fn signal_name(number: u8) -> String {
    match usize::from(number).checked_sub(1).and_then(|at| SIGNALS.get(at)) {
        Some(name) => (*name).to_owned(),
        None => format!("number {number}"),
    }
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

    /// The shell's number for it: 128 and the signal for a process that was killed.
    pub fn exit(self) -> u8 {
        match self {
            Ending::Exited(code) => code,
            Ending::Killed(signal, _) => 128 + signal,
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Exited(code) => write!(f, "exited {code}"),
            Ending::Killed(signal, dumped) => {
                let core = if *dumped { ", core dumped" } else { "" };
                write!(f, "killed by signal {signal} ({}{core})", signal_name(*signal))
            }
        }
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
        assert_eq!(Ending::of(0x8b).to_string(), "killed by signal 11 (SEGV, core dumped)");
    }

    #[test]
    fn a_signal_has_many_spellings() {
        for given in ["TERM", "SIGTERM", "sigterm", "15"] {
            assert_eq!(signal(given), Some(15), "{given}");
        }
        for given in ["", "SIG", "0", "99", "TERMS", "-1"] {
            assert_eq!(signal(given), None, "{given}");
        }
        assert_eq!((signal_name(11), signal_name(31)), ("SEGV".to_owned(), "SYS".to_owned()));
        assert_eq!(signal_name(40), "number 40");
    }
}
