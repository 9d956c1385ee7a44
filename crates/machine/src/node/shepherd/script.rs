//! The namespace script of an XCPU session: one command per line, run before the exec.
//!
//! ```text
//! unshare                     a mount namespace of its own (every session has one already)
//! mount SRC DST TYPE [OPTS]   OPTS as mount(8) writes them: flags, and data for the rest
//! bind SRC DST                DST shows SRC, submounts included
//! import ADDR!PORT DST        mount a 9P server with the kernel's client
//! cd DIR
//! chroot DIR                  and enter it: a working directory outside would be a way back
//! ```
//!
//! Words are separated by blanks; `'...'` quotes, with `''` for a quote inside, as everywhere in
//! XCPU. `$NAME` and `${NAME}` stand for a variable of the session's environment outside quotes;
//! one that is not set is an error, because an empty word would shift the ones after it. `#`
//! starts a comment.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One line of a namespace script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NsCommand {
    /// Take a mount namespace of its own.
    Unshare,
    /// Mount a file system.
    Mount {
        /// Device or name of the source.
        src: String,
        /// Directory to mount on.
        dst: PathBuf,
        /// Type of the file system.
        fstype: String,
        /// Comma-separated options.
        opts: String,
    },
    /// Show a file or directory in a second place.
    Bind {
        /// What to show.
        src: PathBuf,
        /// Where.
        dst: PathBuf,
    },
    /// Mount a 9P server.
    Import {
        /// Numeric address of the server.
        addr: String,
        /// TCP port.
        port: u16,
        /// Directory to mount on.
        dst: PathBuf,
    },
    /// Change the working directory.
    Cd(PathBuf),
    /// Change the root directory, and go there.
    Chroot(PathBuf),
}

/// A line that is no command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("namespace script, line {line}: {fault}")]
pub struct ScriptError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Not one of the commands.
    #[error("unknown command {0:?}")]
    Unknown(String),
    /// The command takes other words.
    #[error("usage: {0}")]
    Usage(&'static str),
    /// A quote without its partner.
    #[error("a quote is not closed")]
    Quote,
    /// A brace without its partner, or `$` without a name.
    #[error("'$' is not followed by a name")]
    Dollar,
    /// A variable that the environment does not have.
    #[error("variable {0} is not set")]
    Unset(String),
    /// Not a TCP port.
    #[error("{0:?} is not ADDR!PORT")]
    Address(String),
    /// Strings handed to the kernel end at a NUL byte.
    #[error("contains a NUL byte")]
    Nul,
}

impl NsCommand {
    /// Parses a whole script, with the variables of `env`.
    pub fn parse_script(
        text: &str,
        env: &[(String, String)],
    ) -> Result<Vec<NsCommand>, ScriptError> {
        let mut commands = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let at = |fault| ScriptError { line: index + 1, fault };
            let words = split(line, env).map_err(at)?;
            if !words.is_empty() {
                commands.push(NsCommand::from_words(&words).map_err(at)?);
            }
        }
        Ok(commands)
    }

    fn from_words(words: &[String]) -> Result<NsCommand, Fault> {
        if words.iter().any(|word| word.contains('\0')) {
            return Err(Fault::Nul);
        }
        let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        match (words[0].as_str(), &arguments[..]) {
            ("unshare", []) => Ok(NsCommand::Unshare),
            ("mount", [src, dst, fstype]) => Ok(mount(src, dst, fstype, "")),
            ("mount", [src, dst, fstype, opts]) => Ok(mount(src, dst, fstype, opts)),
            ("bind", [src, dst]) => Ok(NsCommand::Bind { src: src.into(), dst: dst.into() }),
            ("import", [server, dst]) => import(server, dst),
            ("cd", [dir]) => Ok(NsCommand::Cd(dir.into())),
            ("chroot", [dir]) => Ok(NsCommand::Chroot(dir.into())),
            ("unshare", _) => Err(Fault::Usage("unshare")),
            ("mount", _) => Err(Fault::Usage("mount SRC DST TYPE [OPTS]")),
            ("bind", _) => Err(Fault::Usage("bind SRC DST")),
            ("import", _) => Err(Fault::Usage("import ADDR!PORT DST")),
            ("cd", _) => Err(Fault::Usage("cd DIR")),
            ("chroot", _) => Err(Fault::Usage("chroot DIR")),
            (other, _) => Err(Fault::Unknown(other.to_owned())),
        }
    }
}

fn mount(src: &str, dst: &str, fstype: &str, opts: &str) -> NsCommand {
    NsCommand::Mount {
        src: src.to_owned(),
        dst: dst.into(),
        fstype: fstype.to_owned(),
        opts: opts.to_owned(),
    }
}

/// Reads `ADDR!PORT`; Plan 9's `tcp!` before it is accepted.
fn import(server: &str, dst: &str) -> Result<NsCommand, Fault> {
    let wrong = || Fault::Address(server.to_owned());
    let (addr, port) =
        server.strip_prefix("tcp!").unwrap_or(server).rsplit_once('!').ok_or_else(wrong)?;
    let port = port.parse().map_err(|_| wrong())?;
    // The kernel's client gets the address in a list of options.
    if addr.is_empty() || addr.contains(',') || port == 0 {
        return Err(wrong());
    }
    Ok(NsCommand::Import { addr: addr.to_owned(), port, dst: dst.into() })
}

/// Splits a line into words: quotes, variables and comments as described above.
fn split(line: &str, env: &[(String, String)]) -> Result<Vec<String>, Fault> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\r' => words.extend(word.take()),
            '#' if word.is_none() => break,
            '\'' => quoted(&mut rest, word.get_or_insert_default())?,
            '$' => {
                let name = variable_name(&mut rest)?;
                let set = env.iter().rev().find(|(key, _)| *key == name);
                let (_, value) = set.ok_or(Fault::Unset(name))?;
                word.get_or_insert_default().push_str(value);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn quoted(rest: &mut Rest, word: &mut String) -> Result<(), Fault> {
    while let Some(c) = rest.next() {
        match c {
            '\'' if rest.next_if_eq(&'\'').is_some() => word.push('\''),
            '\'' => return Ok(()),
            c => word.push(c),
        }
    }
    Err(Fault::Quote)
}

fn variable_name(rest: &mut Rest) -> Result<String, Fault> {
    let braced = rest.next_if_eq(&'{').is_some();
    let mut name = String::new();
    while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
        name.push(c);
    }
    if name.is_empty() || (braced && rest.next_if_eq(&'}').is_none()) {
        return Err(Fault::Dollar);
    }
    Ok(name)
}

impl fmt::Display for NsCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NsCommand::Unshare => write!(f, "unshare"),
            NsCommand::Mount { src, dst, fstype, opts } => {
                write!(f, "mount {src} {} {fstype} {opts}", dst.display())
            }
            NsCommand::Bind { src, dst } => write!(f, "bind {} {}", src.display(), dst.display()),
            NsCommand::Import { addr, port, dst } => {
                write!(f, "import {addr}!{port} {}", dst.display())
            }
            NsCommand::Cd(dir) => write!(f, "cd {}", dir.display()),
            NsCommand::Chroot(dir) => write!(f, "chroot {}", dir.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<NsCommand>, ScriptError> {
        let env = [("XCPUPATH", "/tmp/a b"), ("N", "1")];
        NsCommand::parse_script(text, &env.map(|(k, v)| (k.to_owned(), v.to_owned())))
    }

    #[test]
    fn every_command_parses() {
        let script = "# a comment\n\nunshare\nmount none $XCPUPATH/x tmpfs ro,size=1m\n\
            mount n d t\nbind 'it''s' ${XCPUPATH}y # why\n\timport 10.0.0.$N!564 /mnt\r\n\
            import tcp!::1!564 /mnt\ncd /\nchroot .";
        let expected = vec![
            NsCommand::Unshare,
            mount("none", "/tmp/a b/x", "tmpfs", "ro,size=1m"),
            mount("n", "d", "t", ""),
            NsCommand::Bind { src: "it's".into(), dst: "/tmp/a by".into() },
            NsCommand::Import { addr: "10.0.0.1".into(), port: 564, dst: "/mnt".into() },
            NsCommand::Import { addr: "::1".into(), port: 564, dst: "/mnt".into() },
            NsCommand::Cd("/".into()),
            NsCommand::Chroot(".".into()),
        ];
        assert_eq!(parse(script), Ok(expected));
        assert_eq!(parse("cd ''"), Ok(vec![NsCommand::Cd("".into())]));
        assert_eq!(parse("cd '$N'"), Ok(vec![NsCommand::Cd("$N".into())]));
    }

    #[test]
    fn faults_name_their_line() {
        let fault = |text: &str| parse(&format!("cd /\n{text}")).unwrap_err();
        let at_two = |fault| ScriptError { line: 2, fault };
        assert_eq!(fault("frob"), at_two(Fault::Unknown("frob".into())));
        assert_eq!(fault("bind a"), at_two(Fault::Usage("bind SRC DST")));
        assert_eq!(fault("cd"), at_two(Fault::Usage("cd DIR")));
        assert_eq!(fault("unshare x"), at_two(Fault::Usage("unshare")));
        assert_eq!(fault("chroot a b"), at_two(Fault::Usage("chroot DIR")));
        assert_eq!(fault("mount a b"), at_two(Fault::Usage("mount SRC DST TYPE [OPTS]")));
        assert_eq!(fault("import x"), at_two(Fault::Usage("import ADDR!PORT DST")));
        assert_eq!(fault("cd 'x"), at_two(Fault::Quote));
        assert_eq!(fault("cd $"), at_two(Fault::Dollar));
        assert_eq!(fault("cd ${N"), at_two(Fault::Dollar));
        assert_eq!(fault("cd $NO"), at_two(Fault::Unset("NO".into())));
        assert_eq!(fault("cd a\0b"), at_two(Fault::Nul));
        for server in ["h", "h!", "h!x", "!1", "h!0", "h!65536", "h,trans=fd!1"] {
            let fault = fault(&format!("import {server} /m"));
            assert_eq!(fault, at_two(Fault::Address(server.into())));
        }
        assert_eq!(fault("cd").to_string(), "namespace script, line 2: usage: cd DIR");
    }
}
