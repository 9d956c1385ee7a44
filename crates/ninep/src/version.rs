//! Dialects of 9P and how a connection agrees on one.

/// The three dialects in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// 9P2000 of Plan 9 (manual section 5).
    Plan9,
    /// 9P2000.u: numbers for users and errors, special files (Van Hensbergen, 2005).
    Unix,
    /// 9P2000.L: Linux system calls as messages (diod's `protocol.md`, Linux `net/9p`).
    Linux,
}

/// What a connection speaks: a dialect and whether errors carry their sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// The dialect of all messages.
    pub dialect: Dialect,
    /// `9P2000.L.muster`: a refusal is an `Rerror` with text and number, as in 9P2000.u, and not
    /// an `Rlerror`, so that what a node says reaches the user whole.
    pub texts: bool,
}

impl Version {
    /// Plan 9's own.
    pub const PLAN9: Version = Version { dialect: Dialect::Plan9, texts: true };
    /// With Unix extensions.
    pub const UNIX: Version = Version { dialect: Dialect::Unix, texts: true };
    /// Linux.
    pub const LINUX: Version = Version { dialect: Dialect::Linux, texts: false };
    /// Linux with error texts: what Muster speaks with itself.
    pub const MUSTER: Version = Version { dialect: Dialect::Linux, texts: true };

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match (self.dialect, self.texts) {
            (Dialect::Plan9, _) => "9P2000",
            (Dialect::Unix, _) => "9P2000.u",
            (Dialect::Linux, false) => "9P2000.L",
            (Dialect::Linux, true) => "9P2000.L.muster",
        }
    }

    /// What a server answers to a proposal (version(5)): the proposal itself if known, else what
    /// is left when its extensions are cut off at a dot, else nothing ("unknown").
    pub fn agree(proposed: &str) -> Option<Version> {
        let known = [Version::MUSTER, Version::LINUX, Version::UNIX, Version::PLAN9];
        // A loop, not a recursion: a peer may send 65,535 dots.
        let mut left = proposed;
        loop {
            if let Some(exact) = known.into_iter().find(|version| version.name() == left) {
                return Some(exact);
            }
            (left, _) = left.rsplit_once('.')?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_is_answered_with_what_it_extends() {
        for (proposed, agreed) in [
            ("9P2000.L", Some(Version::LINUX)),
            ("9P2000.L.anything", Some(Version::LINUX)),
            ("9P2000.L.Google.7", Some(Version::LINUX)),
            ("9P2000.L.muster", Some(Version::MUSTER)),
            ("9P2000.u", Some(Version::UNIX)),
            ("9P2000.x", Some(Version::PLAN9)),
            ("9P2000", Some(Version::PLAN9)),
            ("9P2001", None),
            ("unknown", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(Version::agree(proposed), agreed, "{proposed}");
        }
        // Found by fuzzing: a recursion for each dot ran out of stack.
        assert_eq!(Version::agree(&".".repeat(65_000)), None);
    }
}
