//! What ends `muster run` before or besides the job: one sentence, a stable id, an exit status.

use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;

/// Exit statuses, as the shell, timeout(1) and env(1) have them.
pub mod exit {
    /// A mistake on the command line.
    pub const USAGE: u8 = 2;
    /// Our own failure.
    pub const OURS: u8 = 125;
    /// The program is there but cannot be run.
    pub const NOT_EXECUTABLE: u8 = 126;
    /// The program is not there.
    pub const NOT_FOUND: u8 = 127;
    /// Added to the number of a signal that killed.
    pub const SIGNAL: u8 = 128;
}

/// A failure that is told to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What, where, and what to do, without a full stop at the end.
    pub text: String,
    /// Stable id, for `muster explain`.
    pub id: Cow<'static, str>,
    /// Exit status.
    pub exit: u8,
    /// The job that it ended, if there was one by then.
    pub job: Option<u64>,
}

impl Failure {
    /// A failure of ours.
    pub fn new(id: &'static str, exit: u8, text: impl Into<String>) -> Failure {
        Failure { text: text.into(), id: id.into(), exit, job: None }
    }

    /// As programs are told it.
    pub fn json(&self) -> Value {
        json!({"id": self.id, "text": self.to_string()})
    }

    /// A failure in somebody else's words, which may end in an id of their own and an exit
    /// status: `[E110]`, `[E101, exit 127]`.
    pub fn told(id: &'static str, exit: u8, text: &str) -> Failure {
        let text = &crate::unnumbered(text);
        let own = || {
            let (text, mark) = text.strip_suffix(']')?.rsplit_once(" [")?;
            let (id, exit) = match mark.split_once(", exit ") {
                Some((id, code)) => (id, code.parse().ok()?),
                None => (mark, exit),
            };
            let known = id.starts_with(['E', 'N']) && id.len() == 4;
            let number = known && id[1..].bytes().all(|byte| byte.is_ascii_digit());
            let (text, id) = (text.trim_end().to_owned(), id.to_owned().into());
            number.then_some(Failure { text, id, exit, job: None })
        };
        own().unwrap_or_else(|| Failure::new(id, exit, text.as_str()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  [{}, exit {}]", self.text, self.id, self.exit)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_told_once() {
        let own = Failure::new("E101", 127, "x: not found here");
        assert_eq!(own.to_string(), "x: not found here  [E101, exit 127]");
        for (words, shown) in [
            ("4 exist  [E110]", "4 exist  [E110, exit 125]"),
            ("4 exist [E110]", "4 exist  [E110, exit 125]"),
            ("x: not found  [E101, exit 127]", "x: not found  [E101, exit 127]"),
            ("no id [x]", "no id [x]  [E402, exit 125]"),
            ("x: full (os error 28)  [E310]", "x: full  [E310, exit 125]"),
            ("é [Eé1]", "é [Eé1]  [E402, exit 125]"),
            ("", "  [E402, exit 125]"),
        ] {
            assert_eq!(Failure::told("E402", 125, words).to_string(), shown);
        }
    }
}
