//! What to run: the order a daemon gives to a shepherd.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::script::NsCommand;
use crate::launch::UMASK;

/// A program and everything about the place it runs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// A path with a slash (relative ones count from `cwd`, after the namespace script), or a
    /// bare name searched in the `PATH` of `env` as execvp does. A script without `#!` is not
    /// handed to a shell.
    pub program: String,
    /// What runs in its place if its file system allows nothing to be executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Instead>,
    /// The whole argument vector, `argv[0]` included; empty means just the program's name.
    pub argv: Vec<String>,
    /// The whole environment, in order; nothing is added or inherited.
    pub env: Vec<(String, String)>,
    /// The working directory, absolute; entered with the rights of the identity.
    pub cwd: PathBuf,
    /// Whom to become; `None` stays who the daemon is. Only root can become another. A cluster is
    /// of one user, so its nodes ask for no other.
    pub identity: Option<Identity>,
    /// Changes to the file name space, run in order before the exec.
    pub namespace: Vec<NsCommand>,
    /// Directory of the cgroup2 group that the program is born in.
    pub cgroup: Option<PathBuf>,
    /// Whether it shares its processors with others by turns, and stands back behind the rest.
    pub in_turns: bool,
    /// The processor that it is bound to, if not to those of the daemon.
    pub processor: Option<u32>,
    /// Bits that the modes of its new files do not get.
    pub umask: u32,
    /// The soft limit of its descriptors, if not the daemon's.
    pub descriptors: Option<u64>,
    /// Whether somebody waits to hear that it runs. Otherwise that is told a moment later, and not
    /// at all of a program that has ended by then: its end says so.
    pub tells_start: bool,
}

/// A program whose file system is mounted noexec. The other files that come along stay open in
/// what runs, from descriptor [`FILES`] on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instead {
    /// Device and inode of its file. Something else that has its name by then is not meant.
    pub of: (u64, u64),
    /// For a script the words that the kernel would put before its name: its interpreter, and what
    /// that is given.
    pub interpreter: Vec<String>,
    /// The first of the files that come along is what is executed: the program, or the interpreter.
    pub is_held: bool,
}

/// The first descriptor of the files that a program finds open. A shell script's own are lower.
pub const FILES: i32 = 768;

/// User, group and supplementary groups of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// User id: real, effective and saved.
    pub uid: u32,
    /// Group id: real, effective and saved.
    pub gid: u32,
    /// Supplementary groups, exactly these.
    pub groups: Vec<u32>,
}

/// A [`Spec`] that no kernel could run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The program's name is empty.
    #[error("the program has no name")]
    NoProgram,
    /// Strings handed to the kernel end at a NUL byte.
    #[error("{0} contains a NUL byte")]
    Nul(&'static str),
    /// A variable that could not be told apart from its value.
    #[error("environment variable {0:?} has an empty name or one with '='")]
    Variable(String),
    /// The shepherd does not share the daemon's working directory.
    #[error("working directory {0:?} is not absolute")]
    RelativeDirectory(PathBuf),
}

impl Spec {
    /// A program with arguments, in `/`, with an empty environment and the daemon's identity.
    pub fn new(program: &str, argv: &[&str]) -> Spec {
        Spec {
            program: program.to_owned(),
            instead: None,
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            env: Vec::new(),
            cwd: PathBuf::from("/"),
            identity: None,
            namespace: Vec::new(),
            cgroup: None,
            in_turns: false,
            processor: None,
            umask: UMASK,
            descriptors: None,
            tells_start: true,
        }
    }

    /// The value of a variable in `env`; the last one counts.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.env.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Refuses what could only fail later, and less clearly, in the child.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.program.is_empty() {
            return Err(Invalid::NoProgram);
        }
        if self.program.contains('\0') {
            return Err(Invalid::Nul("the program's name"));
        }
        if self.argv.iter().any(|word| word.contains('\0')) {
            return Err(Invalid::Nul("an argument"));
        }
        for (key, value) in &self.env {
            if key.is_empty() || key.contains('=') {
                return Err(Invalid::Variable(key.clone()));
            }
            if key.contains('\0') || value.contains('\0') {
                return Err(Invalid::Nul("the environment"));
            }
        }
        if !self.cwd.is_absolute() {
            return Err(Invalid::RelativeDirectory(self.cwd.clone()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_orders_are_refused() {
        let good = Spec::new("/bin/true", &["true"]);
        assert_eq!(good.check(), Ok(()));
        let with = |change: fn(&mut Spec)| {
            let mut spec = good.clone();
            change(&mut spec);
            spec.check().unwrap_err()
        };
        assert_eq!(with(|s| s.program.clear()), Invalid::NoProgram);
        assert_eq!(with(|s| s.program.push('\0')), Invalid::Nul("the program's name"));
        assert_eq!(with(|s| s.argv.push("a\0b".into())), Invalid::Nul("an argument"));
        assert_eq!(
            with(|s| s.env.push(("A=B".into(), "c".into()))),
            Invalid::Variable("A=B".into())
        );
        assert_eq!(with(|s| s.env.push((String::new(), "c".into()))), {
            Invalid::Variable(String::new())
        });
        assert_eq!(
            with(|s| s.env.push(("A".into(), "\0".into()))),
            Invalid::Nul("the environment")
        );
        assert_eq!(with(|s| s.cwd = "fs".into()), Invalid::RelativeDirectory("fs".into()));
    }

    #[test]
    fn the_last_of_equal_variables_counts() {
        let mut spec = Spec::new("true", &[]);
        spec.env = vec![("P".into(), "1".into()), ("P".into(), "2".into())];
        assert_eq!(spec.variable("P"), Some("2"));
        assert_eq!(spec.variable("Q"), None);
    }
}
