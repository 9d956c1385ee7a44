//! What ends `muster run` before or besides the job: one sentence, a stable id, an exit status.

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
    pub id: &'static str,
    /// Exit status.
    pub exit: u8,
}

impl Failure {
    /// A failure of ours.
    pub fn new(id: &'static str, exit: u8, text: impl Into<String>) -> Failure {
        Failure { text: text.into(), id, exit }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The manager's sentences may carry an id of their own.
        if self.text.ends_with(']') && self.text.contains(" [E") {
            return f.write_str(&self.text);
        }
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
        let theirs = Failure::new("E402", 125, "8 nodes asked, 4 exist  [E110]");
        assert_eq!(theirs.to_string(), "8 nodes asked, 4 exist  [E110]");
    }
}
