//! The relay stream: records written and read, without I/O.
//!
//! A stream is a sequence of records, a header line and the bytes that it announces, and ends
//! with the record `end`. A parser is *between* records, collecting a *line*, inside a *text*
//! (`argv`, `env`, the target of a `link`) or inside the *data* of a file; after `end` it is
//! *done*, after a mistake it is *broken* and stays so. It takes chunks cut anywhere, keeps a
//! line or a text at most, and hands file data on as it lies in the chunk.
//!
//! Input is hostile: every length is checked before memory is taken for it, and a path that
//! could lead out of the directory it is meant for never reaches the [`Sink`].

use crate::chunk::{self, Recipe};
use muster_base::limits::{NAME_MAX, RECIPE_MAX, TEXT_MAX};
use muster_base::quote;
use std::borrow::Cow;

/// Bytes of a path, as Linux's PATH_MAX counts them without the final zero.
pub const PATH_MAX: usize = 4095;

/// Bytes of a header line but `relay`'s: quoting makes four bytes of one at most, and the rest
/// of a line (`file 777 18446744073709551615 `) fits in 64.
pub const LINE_MAX: usize = 4 * PATH_MAX + 64;

/// Bytes of a `relay` line: 4,096 targets of 256 bytes.
pub const RELAY_MAX: usize = 1024 * 1024;

/// Records of one stream: a file system has not many more inodes to give away.
pub const RECORDS_MAX: u32 = 1 << 20;

/// Processors that a stream names: more than there are to be told apart.
const ARCHES_MAX: usize = 16;

/// Bytes of a processor's name: the longest that a kernel has is `loongarch64`.
const ARCH_MAX: usize = 32;

/// What stands for all processors.
const ALL: &str = "all";

/// A node and the sessions there that a stream is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where the node listens, as `muster_ninep::address` reads it.
    pub address: String,
    /// Its sessions.
    pub sessions: Vec<u32>,
}

/// What is wrong with a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadStream {
    /// A header line too long for its kind.
    #[error("the relay stream has a header line of more than {0} bytes")]
    Line(usize),
    /// A header line that is none.
    #[error("the relay stream has a record that is none: {0:?}")]
    Header(String),
    /// A path that does not stay below the directory.
    #[error("the relay stream has a path that is refused: {0:?}")]
    Path(String),
    /// A text or target longer than it may be.
    #[error("the relay stream has {0} of {1} bytes, more than {2}")]
    Long(&'static str, u64, usize),
    /// A text that is not UTF-8 or has a NUL byte.
    #[error("the relay stream has {0} that is not a text")]
    Text(&'static str),
    /// `relay` after another record.
    #[error("the relay stream names its targets twice or too late")]
    Late,
    /// Targets that cannot be read.
    #[error("{0:?} is no list of sessions: write ADDRESS/SESSION[+SESSION...],...")]
    Targets(String),
    /// A file without its bytes, where nobody has another way to them.
    #[error("the relay stream tells {0:?} by its chunks, which only a job's files may")]
    Known(String),
    /// Files for some nodes only, where nobody knows which nodes there are.
    #[error("the relay stream has files for {0} alone, which only a job's files may")]
    Arch(String),
    /// More processors than any cluster has.
    #[error("the relay stream names more than {ARCHES_MAX} processors")]
    Arches,
    /// Too many records.
    #[error("the relay stream has more than {RECORDS_MAX} records")]
    Many,
    /// Bytes after the end.
    #[error("the relay stream goes on after its end")]
    Trailing,
    /// No end.
    #[error("the relay stream was cut off before its end")]
    Cut,
    /// An earlier push failed.
    #[error("the relay stream failed before")]
    Broken,
}

/// What a stream says, in its order.
#[allow(unused_variables, reason = "what a receiver does not care for, it may ignore")]
pub trait Sink {
    /// What a method fails with.
    type Error: From<BadStream>;

    /// Bytes to pass on: all of the stream but its `relay` line, each exactly once, in order,
    /// checked, and before what they mean is told.
    ///
    /// # Errors
    /// They end the stream, as those of all other methods do.
    fn raw(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
    /// Pass the stream on to these, to at most `most` nodes directly.
    fn relay(&mut self, most: u32, targets: Vec<Target>) -> Result<(), Self::Error> {
        Err(BadStream::Header("relay".to_owned()).into())
    }
    /// The sessions' `argv`.
    fn argv(&mut self, text: &str) -> Result<(), Self::Error> {
        Ok(())
    }
    /// The sessions' `env`.
    fn env(&mut self, text: &str) -> Result<(), Self::Error> {
        Ok(())
    }
    /// What follows, of files, is for nodes of this processor only; none: for all again.
    ///
    /// # Errors
    /// As all others; where it does not belong that is one.
    fn arch(&mut self, arch: Option<&str>) -> Result<(), Self::Error> {
        Err(BadStream::Arch(arch.unwrap_or(ALL).to_owned()).into())
    }
    /// A directory.
    fn dir(&mut self, path: &str, mode: u32) -> Result<(), Self::Error> {
        Ok(())
    }
    /// A symbolic link; `target` may say anything.
    fn link(&mut self, path: &str, target: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
    /// A file that is told by its chunks: who wants it gets those that it lacks elsewhere.
    fn known(&mut self, path: &str, mode: u32, recipe: Recipe) -> Result<(), Self::Error> {
        Err(BadStream::Known(path.to_owned()).into())
    }
    /// A file begins; [`Sink::data`] of `size` bytes in all and [`Sink::file_end`] follow.
    fn file(&mut self, path: &str, mode: u32, size: u64) -> Result<(), Self::Error> {
        Ok(())
    }
    /// A piece of the file, never empty.
    fn data(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }
    /// The file is complete.
    fn file_end(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
    /// The stream is complete.
    fn end(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// A text that follows its header line.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Text {
    Argv,
    Env,
    Link(String),
    Known(String, u32, u64),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum State {
    /// Between records, or in a header line.
    #[default]
    Line,
    /// In a text with this many bytes to come.
    Text(Text, usize),
    /// In a file with this many bytes to come.
    Data(u64),
    Done,
    Broken,
}

/// Reads a stream.
#[derive(Debug, Clone, Default)]
pub struct Parser {
    state: State,
    /// The part of a header line or text that has come.
    held: Vec<u8>,
    records: u32,
    /// The processors that were named.
    arches: Vec<String>,
}

impl Parser {
    /// Whether the stream is complete.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Says that no more bytes come.
    ///
    /// # Errors
    /// [`BadStream::Cut`] when the stream is not complete.
    pub fn finish(&self) -> Result<(), BadStream> {
        match self.state {
            State::Done => Ok(()),
            State::Broken => Err(BadStream::Broken),
            _ => Err(BadStream::Cut),
        }
    }

    /// Takes the next bytes of the stream, however they are cut.
    ///
    /// # Errors
    /// What is wrong with the stream, or what the sink failed with. The parser is broken then.
    pub fn push<S: Sink>(&mut self, mut bytes: &[u8], sink: &mut S) -> Result<(), S::Error> {
        while !bytes.is_empty() {
            match self.step(bytes, sink) {
                Ok(taken) => bytes = &bytes[taken..],
                Err(error) => {
                    self.state = State::Broken;
                    self.held = Vec::new();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Takes one line, text or piece of data, or the part of it that is there.
    fn step<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize, S::Error> {
        match &mut self.state {
            State::Line => self.line(bytes, sink),
            State::Text(_, left) => {
                let taken = bytes.len().min(*left);
                self.held.extend_from_slice(&bytes[..taken]);
                *left -= taken;
                if *left == 0 {
                    self.text(sink)?;
                }
                Ok(taken)
            }
            State::Data(left) => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= taken as u64;
                let complete = *left == 0;
                if complete {
                    self.state = State::Line;
                }
                sink.raw(&bytes[..taken])?;
                sink.data(&bytes[..taken])?;
                if complete {
                    sink.file_end()?;
                }
                Ok(taken)
            }
            State::Done => Err(BadStream::Trailing.into()),
            State::Broken => Err(BadStream::Broken.into()),
        }
    }

    fn line<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<usize, S::Error> {
        let found = bytes.iter().position(|byte| *byte == b'\n');
        let taken = found.map_or(bytes.len(), |at| at + 1);
        let most = if is_relay(&self.held, bytes) { RELAY_MAX } else { LINE_MAX };
        if self.held.len() + taken > most {
            return Err(BadStream::Line(most).into());
        }
        self.held.extend_from_slice(&bytes[..taken]);
        if found.is_some() {
            let line = std::mem::take(&mut self.held);
            self.header(&line, sink)?;
        }
        Ok(taken)
    }

    /// A header line with its newline.
    fn header<S: Sink>(&mut self, line: &[u8], sink: &mut S) -> Result<(), S::Error> {
        let header = Header::read(&line[..line.len() - 1])?;
        self.records += 1;
        if self.records > RECORDS_MAX {
            return Err(BadStream::Many.into());
        }
        if let Header::Relay(most, targets) = header {
            // Only what stands in front of everything else is not passed on.
            if self.records > 1 {
                return Err(BadStream::Late.into());
            }
            return sink.relay(most, targets);
        }
        sink.raw(line)?;
        match header {
            Header::Relay(..) => unreachable!("handled above"),
            Header::Argv(size) => self.start_text(Text::Argv, size, sink),
            Header::Env(size) => self.start_text(Text::Env, size, sink),
            Header::Link(size, path) => self.start_text(Text::Link(path), size, sink),
            Header::Arch(arch) => {
                if let Some(name) = arch.as_ref().filter(|name| !self.arches.contains(name)) {
                    if self.arches.len() == ARCHES_MAX {
                        return Err(BadStream::Arches.into());
                    }
                    self.arches.push(name.clone());
                }
                sink.arch(arch.as_deref())
            }
            Header::Dir(mode, path) => sink.dir(&path, mode),
            Header::Known(mode, size, path) => {
                let hashes = chunk::count(size) as usize * chunk::HASH;
                self.start_text(Text::Known(path, mode, size), hashes, sink)
            }
            Header::File(mode, size, path) => {
                sink.file(&path, mode, size)?;
                if size == 0 {
                    return sink.file_end();
                }
                self.state = State::Data(size);
                Ok(())
            }
            Header::End => {
                self.state = State::Done;
                sink.end()
            }
        }
    }

    fn start_text<S: Sink>(
        &mut self,
        text: Text,
        size: usize,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        self.state = State::Text(text, size);
        if size == 0 { self.text(sink) } else { Ok(()) }
    }

    /// A text is complete.
    fn text<S: Sink>(&mut self, sink: &mut S) -> Result<(), S::Error> {
        let held = std::mem::take(&mut self.held);
        let State::Text(text, _) = std::mem::replace(&mut self.state, State::Line) else {
            unreachable!("only called in a text");
        };
        match text {
            Text::Argv => {
                let words = plain_text(&held, "an argv")?;
                sink.raw(&held)?;
                sink.argv(words)
            }
            Text::Env => {
                let words = plain_text(&held, "an env")?;
                sink.raw(&held)?;
                sink.env(words)
            }
            Text::Known(path, mode, size) => {
                sink.raw(&held)?;
                sink.known(&path, mode, Recipe { size, chunks: chunk::read(&held).collect() })
            }
            Text::Link(path) => {
                if held.is_empty() || held.contains(&0) {
                    return Err(BadStream::Text("a link target").into());
                }
                sink.raw(&held)?;
                sink.link(&path, &held)
            }
        }
    }
}

/// Whether the line that starts with `held` and goes on with `bytes` is a `relay` line.
fn is_relay(held: &[u8], bytes: &[u8]) -> bool {
    let start = held.iter().chain(bytes).take(6);
    start.eq(b"relay ")
}

fn plain_text<'a>(bytes: &'a [u8], what: &'static str) -> Result<&'a str, BadStream> {
    let text = std::str::from_utf8(bytes).map_err(|_| BadStream::Text(what))?;
    if text.contains('\0') { Err(BadStream::Text(what)) } else { Ok(text) }
}

/// A record's header line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Header {
    /// Pass on to at most so many nodes directly.
    Relay(u32, Vec<Target>),
    /// An argv of so many bytes follows.
    Argv(usize),
    /// An env of so many bytes follows.
    Env(usize),
    /// What follows, of files, is for nodes of this processor only; none: for all again.
    Arch(Option<String>),
    /// A directory: mode and path.
    Dir(u32, String),
    /// A symbolic link: bytes of its target, which follow, and path.
    Link(usize, String),
    /// A file: mode, bytes of its content, which follow, and path.
    File(u32, u64, String),
    /// A file without its content: mode, bytes of its content, and path; the hashes of its chunks
    /// follow.
    Known(u32, u64, String),
    /// The end.
    End,
}

impl Header {
    /// Reads a header line without its newline.
    fn read(line: &[u8]) -> Result<Header, BadStream> {
        let shown =
            || BadStream::Header(String::from_utf8_lossy(&line[..line.len().min(80)]).into());
        let text = plain_text(line, "a header line")?;
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let mut fields = rest.splitn(3, ' ');
        let mut field = || fields.next().filter(|field| !field.is_empty()).ok_or_else(shown);
        let header = match verb {
            "end" if text == "end" => return Ok(Header::End),
            "argv" => Header::Argv(length(field()?, "an argv", TEXT_MAX).ok_or_else(shown)??),
            "env" => Header::Env(length(field()?, "an env", TEXT_MAX).ok_or_else(shown)??),
            "relay" => {
                let most = number(field()?).and_then(|most| u32::try_from(most).ok());
                let most = most.filter(|most| *most > 0).ok_or_else(shown)?;
                Header::Relay(most, read_targets(&word(remaining(rest, 1)).ok_or_else(shown)?)?)
            }
            "arch" if rest == ALL => Header::Arch(None),
            "arch" => Header::Arch(Some(arch(rest).ok_or_else(shown)?)),
            "dir" => {
                let mode = mode(field()?).ok_or_else(shown)?;
                Header::Dir(mode, path(remaining(rest, 1))?)
            }
            "link" => {
                let size = length(field()?, "a link target", PATH_MAX).ok_or_else(shown)??;
                Header::Link(size, path(remaining(rest, 1))?)
            }
            "file" => {
                let mode = mode(field()?).ok_or_else(shown)?;
                let size = number(field()?).filter(|size| i64::try_from(*size).is_ok());
                Header::File(mode, size.ok_or_else(shown)?, path(remaining(rest, 2))?)
            }
            "known" => {
                let mode = mode(field()?).ok_or_else(shown)?;
                let size = number(field()?).ok_or_else(shown)?;
                let hashes = chunk::count(size).saturating_mul(chunk::HASH as u64);
                if hashes > RECIPE_MAX as u64 {
                    return Err(BadStream::Long("a file's hashes", hashes, RECIPE_MAX));
                }
                Header::Known(mode, size, path(remaining(rest, 2))?)
            }
            _ => return Err(shown()),
        };
        // `argv 5 x` must not mean the same as `argv 5`.
        match (&header, rest.split(' ').count()) {
            (Header::Argv(_) | Header::Env(_), 2..) => Err(shown()),
            _ => Ok(header),
        }
    }

    /// Appends the line with its newline.
    pub fn write(&self, out: &mut Vec<u8>) {
        let line = match self {
            Header::Relay(most, targets) => {
                format!("relay {most} {}\n", quote::quote(&write_targets(targets)))
            }
            Header::Argv(size) => format!("argv {size}\n"),
            Header::Env(size) => format!("env {size}\n"),
            Header::Arch(arch) => format!("arch {}\n", arch.as_deref().unwrap_or(ALL)),
            Header::Dir(mode, path) => format!("dir {mode:o} {}\n", one_line(path)),
            Header::Link(size, path) => format!("link {size} {}\n", one_line(path)),
            Header::File(mode, size, path) => format!("file {mode:o} {size} {}\n", one_line(path)),
            Header::Known(mode, size, path) => {
                format!("known {mode:o} {size} {}\n", one_line(path))
            }
            Header::End => "end\n".to_owned(),
        };
        out.extend_from_slice(line.as_bytes());
    }
}

fn one_line(path: &str) -> Cow<'_, str> {
    debug_assert!(is_safe_path(path), "{path:?} was checked when it was taken up");
    quote::quote(path)
}

/// What follows the first `skip` fields.
fn remaining(rest: &str, skip: usize) -> &str {
    rest.splitn(skip + 1, ' ').nth(skip).unwrap_or("")
}

/// One shell-quoted word and nothing else.
fn word(text: &str) -> Option<String> {
    let mut words = quote::split(text).ok()?;
    if words.len() == 1 { words.pop() } else { None }
}

/// A decimal number as this module writes it: digits only, no sign, no leading zeros.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text == "0" || !text.starts_with('0');
    if plain && canonical { text.parse().ok() } else { None }
}

/// A length and whether it may be so long.
fn length(text: &str, what: &'static str, most: usize) -> Option<Result<usize, BadStream>> {
    let size = number(text)?;
    Some(match usize::try_from(size) {
        Ok(size) if size <= most => Ok(size),
        _ => Err(BadStream::Long(what, size, most)),
    })
}

/// A processor's name.
fn arch(text: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_name = (1..=ARCH_MAX).contains(&text.len()) && text.bytes().all(is_plain);
    is_name.then(|| text.to_owned())
}

/// Permissions: setuid and its like are refused, nobody may plant them on another machine.
fn mode(text: &str) -> Option<u32> {
    let octal = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let mode = u32::from_str_radix(text, 8).ok().filter(|_| octal)?;
    (mode <= 0o777).then_some(mode)
}

fn path(text: &str) -> Result<String, BadStream> {
    let shown = || BadStream::Path(text.chars().take(80).collect());
    word(text).filter(|path| is_safe_path(path)).ok_or_else(shown)
}

/// Whether a path stays below the directory it is relative to and every name in it is one.
/// A newline would break the header line and is no loss.
pub fn is_safe_path(path: &str) -> bool {
    let name = |name: &str| !matches!(name, "" | "." | "..") && name.len() <= NAME_MAX;
    path.len() <= PATH_MAX && !path.contains(['\0', '\n']) && path.split('/').all(name)
}

/// Reads `ADDRESS/SESSION[+SESSION...],...`. An address may contain slashes, and commas as long
/// as they do not follow a slash and a number.
///
/// # Errors
/// [`BadStream::Targets`].
pub fn read_targets(text: &str) -> Result<Vec<Target>, BadStream> {
    let shown = || BadStream::Targets(text.chars().take(80).collect());
    let mut targets = Vec::new();
    let mut start = 0;
    let ends = text.match_indices(',').map(|(at, _)| at).chain([text.len()]);
    for end in ends {
        let Some(target) = read_target(&text[start..end]) else { continue };
        targets.push(target);
        start = end + 1;
    }
    if targets.is_empty() || start != text.len() + 1 {
        return Err(shown());
    }
    Ok(targets)
}

fn read_target(text: &str) -> Option<Target> {
    let (address, sessions) = text.rsplit_once('/')?;
    let session = |text: &str| number(text).and_then(|session| u32::try_from(session).ok());
    let sessions = sessions.split('+').map(session).collect::<Option<Vec<u32>>>()?;
    if address.is_empty() || address.contains('\n') {
        return None;
    }
    Some(Target { address: address.to_owned(), sessions })
}

/// Writes what [`read_targets`] reads.
pub fn write_targets(targets: &[Target]) -> String {
    let one = |target: &Target| {
        let sessions: Vec<String> = target.sessions.iter().map(u32::to_string).collect();
        format!("{}/{}", target.address, sessions.join("+"))
    };
    targets.iter().map(one).collect::<Vec<String>>().join(",")
}

#[cfg(test)]
mod tests;
