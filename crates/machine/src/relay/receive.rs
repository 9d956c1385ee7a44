//! A session's `relay` file: takes a stream, keeps what it says, and passes it on.
//!
//! The stream is written in order; a write is answered when its bytes are kept and on their way
//! to those below. After `end` a read waits until everyone below has reported, then gives a line
//! for each session that was not reached. If the writer goes away before `end`, so do the
//! connections to those below, and what was kept stays as it is.

use super::fan::{self, Fan};
use super::format::{BadStream, Parser, Sink, Target};
use super::source;
use crate::chunk::Recipe;
use crate::files::lane::Lane;
use crate::files::latch::Latch;
use crate::files::text::Text;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::synthetic::{File, Handle, SynCall};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat2};
use std::ffi::OsStr;
use std::io::{Read as _, Seek as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Where a stream is kept: a session's directory and texts.
#[derive(Clone)]
pub struct Landing {
    /// The directory of its `fs/`.
    pub directory: PathBuf,
    /// Its `argv`.
    pub argv: Text,
    /// Its `env`.
    pub env: Text,
}

/// The node that a `relay` file is on.
pub trait Host: Send + Sync + 'static {
    /// The session whose file it is.
    fn own(&self) -> Landing;
    /// The node's address, as targets name it.
    fn address(&self) -> String;
    /// The tree in which it looks for targets at other nodes.
    fn tree(&self) -> String;
    /// Another session of this node, in that tree.
    ///
    /// # Errors
    /// When there is none of that number.
    fn session(&self, number: u32) -> Result<Landing>;
}

/// The file.
pub fn file<H: Host>(permissions: u32, host: impl Fn() -> H + Send + Sync + 'static) -> File {
    File::new(permissions, move |_| {
        let state = Receiving {
            host: Box::new(host()),
            places: Places::default(),
            most: 1,
            fan: None,
            failures: Vec::new(),
            pass: Vec::new(),
            done: Latch::default(),
        };
        let done = state.done.clone();
        let state = Arc::new(Mutex::new((Parser::default(), state)));
        Ok(Relay { lane: Lane::default(), state, done })
    })
}

struct Relay {
    lane: Lane,
    state: Arc<Mutex<(Parser, Receiving)>>,
    done: Latch,
}

impl Handle for Relay {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        self.done.read(call, offset, count)
    }

    fn write(&self, call: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        let (state, data) = (self.state.clone(), data.to_vec());
        self.lane.answer(call, move || {
            let (parser, receiving) = &mut *state.lock().expect("no holder panics");
            let done = parser.push(&data, receiving).and_then(|()| receiving.flush());
            done.map(|()| data.len() as u32).map_err(|Broken(why)| why)
        })
    }
}

/// Unpacks a stream into sessions of this node, and passes nothing on.
pub struct Unpacker {
    parser: Parser,
    places: Places,
}

/// A file that a stream has told by its chunks.
pub struct Known {
    /// Where it goes.
    pub path: String,
    /// Its permissions.
    pub mode: u32,
    /// What it is made of.
    pub recipe: Recipe,
    /// It is for nodes like this.
    pub is_own: bool,
}

impl Unpacker {
    /// One for these sessions, of a node of this processor.
    ///
    /// # Errors
    /// When a session's directory cannot be opened.
    pub fn new(landings: Vec<Landing>, arch: &str) -> Result<Unpacker> {
        let all = landings.into_iter().map(Place::open).collect::<Result<_>>()?;
        let places = Places { all, arch: arch.to_owned(), ..Places::default() };
        Ok(Unpacker { parser: Parser::default(), places })
    }

    /// Whether the stream has come to its end.
    pub fn is_done(&self) -> bool {
        self.parser.is_done()
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// When it is none, or cannot be kept.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.parser.push(bytes, &mut self.places).map_err(|Broken(why)| why)
    }

    /// Nothing more goes to its places.
    pub fn leave(&mut self) {
        self.places.all.clear();
    }

    /// The files that it has told by their chunks so far, once.
    pub fn take_known(&mut self) -> Vec<Known> {
        std::mem::take(&mut self.places.known)
    }

    /// Gives a file of this machine a second name under a path of the stream, everywhere; false if
    /// that cannot be, so that it is to be copied.
    ///
    /// # Errors
    /// The system's.
    pub fn link(&mut self, path: &str, file: &Path) -> Result<bool> {
        for place in &mut self.places.all {
            if !place.link(path, file).map_err(|error| error.at(path))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The same places, for who copies files to them. The stream is at its end.
    pub fn take_places(&mut self) -> Copier {
        Copier { places: std::mem::take(&mut self.places.all) }
    }
}

/// So much is copied in one step: no step takes long.
const STEP: u64 = 8 << 20;

/// Carries out a step, of so many bytes, or refuses it.
pub type Pass<'a> = dyn FnMut(&mut dyn FnMut() -> Result<u64>) -> Result<u64> + 'a;

/// Copies files into the sessions that a stream was for.
pub struct Copier {
    places: Vec<Place>,
}

impl Copier {
    /// Whether there is no session.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Puts a copy of a file under a path of the stream, for each session its own. All that is done
    /// there is done in steps, by way of `pass`, which may refuse one.
    ///
    /// # Errors
    /// The system's, and those of `pass`.
    pub fn copy(
        &mut self,
        path: &str,
        (mut file, mode): (&std::fs::File, u32),
        pass: &mut Pass<'_>,
    ) -> Result<()> {
        for place in &mut self.places {
            file.rewind()?;
            pass(&mut || place.make_file(path, mode).map(|()| 0).map_err(|error| error.at(path)))?;
            let (mut copy, mode) = place.file.take().expect("it was made");
            // The kernel copies, or only tells the blocks twice where a file system can.
            let mut step = || {
                std::io::copy(&mut file.take(STEP), &mut copy).map_err(|e| Error::from(e).at(path))
            };
            while pass(&mut step)? > 0 {}
            rustix::fs::fchmod(&copy, Mode::from_raw_mode(mode))?;
        }
        Ok(())
    }
}

/// An error that ends a stream.
struct Broken(Error);

impl<E: Into<Error>> From<E> for Broken {
    fn from(error: E) -> Broken {
        Broken(error.into())
    }
}

impl From<BadStream> for Error {
    fn from(error: BadStream) -> Error {
        Error::new(Errno::BADMSG, error.to_string())
    }
}

/// One session that the stream is unpacked into.
struct Place {
    landing: Landing,
    root: OwnedFd,
    /// The file that is being written.
    file: Option<(std::fs::File, u32)>,
}

/// All that a stream is unpacked into.
#[derive(Default)]
struct Places {
    all: Vec<Place>,
    /// The files that it tells by their chunks.
    known: Vec<Known>,
    /// The node's processor.
    arch: String,
    /// What comes now is for others.
    is_others: bool,
}

struct Receiving {
    host: Box<dyn Host>,
    places: Places,
    most: usize,
    fan: Option<Fan>,
    failures: Vec<fan::Failure>,
    /// Bytes of this write that are still to be passed on.
    pass: Vec<u8>,
    done: Latch,
}

impl Receiving {
    /// The places, the own session among them.
    fn places(&mut self) -> Result<&mut Places> {
        if self.places.all.is_empty() {
            self.places.all.push(Place::open(self.host.own())?);
        }
        Ok(&mut self.places)
    }

    fn flush(&mut self) -> std::result::Result<(), Broken> {
        let bytes = std::mem::take(&mut self.pass);
        if let Some(fan) = &self.fan
            && !bytes.is_empty()
        {
            fan.push(&bytes.into());
        }
        Ok(())
    }
}

impl Sink for Receiving {
    type Error = Broken;

    fn raw(&mut self, bytes: &[u8]) -> std::result::Result<(), Broken> {
        if self.fan.is_some() {
            self.pass.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn relay(&mut self, most: u32, targets: Vec<Target>) -> std::result::Result<(), Broken> {
        let address = self.host.address();
        let (here, below): (Vec<Target>, Vec<Target>) =
            targets.into_iter().partition(|target| target.address == address);
        for number in here.into_iter().flat_map(|target| target.sessions) {
            match self.host.session(number).and_then(Place::open) {
                Ok(place) => self.places()?.all.push(place),
                Err(error) => self.failures.push(fan::Failure {
                    target: format!("{address}/{number}"),
                    why: error.to_string(),
                }),
            }
        }
        self.most = most as usize;
        self.fan = (!below.is_empty()).then(|| Fan::open(&self.host.tree(), self.most, below));
        Ok(())
    }

    fn argv(&mut self, text: &str) -> std::result::Result<(), Broken> {
        self.places()?.argv(text)
    }

    fn env(&mut self, text: &str) -> std::result::Result<(), Broken> {
        self.places()?.env(text)
    }

    fn dir(&mut self, path: &str, mode: u32) -> std::result::Result<(), Broken> {
        self.places()?.dir(path, mode)
    }

    fn link(&mut self, path: &str, target: &[u8]) -> std::result::Result<(), Broken> {
        self.places()?.link(path, target)
    }

    fn file(&mut self, path: &str, mode: u32, size: u64) -> std::result::Result<(), Broken> {
        self.places()?.file(path, mode, size)
    }

    fn data(&mut self, bytes: &[u8]) -> std::result::Result<(), Broken> {
        self.places()?.data(bytes)
    }

    fn file_end(&mut self) -> std::result::Result<(), Broken> {
        self.places()?.file_end()
    }

    fn end(&mut self) -> std::result::Result<(), Broken> {
        self.flush()?;
        let landing = self.places()?.all[0].landing.clone();
        let sent = self.fan.take().map(Fan::finish).unwrap_or_default();
        self.failures.extend(sent.failures);
        let load = || source::of(&landing.directory, &landing.argv.get()?, &landing.env.get()?);
        self.failures.extend(fan::send(&self.host.tree(), self.most, sent.orphans, load)?);
        let lines = self.failures.iter().map(|failure| format!("{failure}\n"));
        self.done.set(lines.collect::<String>());
        Ok(())
    }
}

impl Places {
    /// Those that get what comes now.
    fn own(&mut self) -> &mut [Place] {
        if self.is_others { &mut [] } else { &mut self.all }
    }
}

impl Sink for Places {
    type Error = Broken;

    fn relay(&mut self, _: u32, _: Vec<Target>) -> std::result::Result<(), Broken> {
        Err(BadStream::Late.into())
    }

    fn argv(&mut self, text: &str) -> std::result::Result<(), Broken> {
        self.all.iter().for_each(|place| place.landing.argv.set(text));
        Ok(())
    }

    fn env(&mut self, text: &str) -> std::result::Result<(), Broken> {
        self.all.iter().for_each(|place| place.landing.env.set(text));
        Ok(())
    }

    fn arch(&mut self, arch: Option<&str>) -> std::result::Result<(), Broken> {
        self.is_others = arch.is_some_and(|arch| arch != self.arch);
        Ok(())
    }

    fn dir(&mut self, path: &str, mode: u32) -> std::result::Result<(), Broken> {
        for place in self.own() {
            place.make_dir(path, mode).map_err(|error| error.at(path))?;
        }
        Ok(())
    }

    fn link(&mut self, path: &str, target: &[u8]) -> std::result::Result<(), Broken> {
        for place in self.own() {
            place.make_link(path, target).map_err(|error| error.at(path))?;
        }
        Ok(())
    }

    fn known(&mut self, path: &str, mode: u32, recipe: Recipe) -> std::result::Result<(), Broken> {
        let is_own = !self.is_others;
        self.known.push(Known { path: path.to_owned(), mode, recipe, is_own });
        Ok(())
    }

    fn file(&mut self, path: &str, mode: u32, _: u64) -> std::result::Result<(), Broken> {
        for place in self.own() {
            place.make_file(path, mode).map_err(|error| error.at(path))?;
        }
        Ok(())
    }

    fn data(&mut self, bytes: &[u8]) -> std::result::Result<(), Broken> {
        for place in self.own() {
            let (file, _) = place.file.as_mut().expect("data comes in a file");
            std::io::Write::write_all(file, bytes)?;
        }
        Ok(())
    }

    fn file_end(&mut self) -> std::result::Result<(), Broken> {
        for place in self.own() {
            let (file, mode) = place.file.take().expect("a file ends once");
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        Ok(())
    }
}

/// Nothing that was unpacked before may lead elsewhere.
const INSIDE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS);

impl Place {
    fn open(landing: Landing) -> Result<Place> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(&landing.directory, flags, Mode::empty())?;
        Ok(Place { landing, root, file: None })
    }

    /// The directory that a path is in, and its last name.
    fn above<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a Path)> {
        let path = Path::new(path);
        let name = path.file_name().expect("the parser refuses such paths");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let dir = openat2(self.root.as_fd(), parent, flags, Mode::empty(), INSIDE)?;
        Ok((dir, Path::new(name)))
    }

    fn make_dir(&self, path: &str, mode: u32) -> Result<()> {
        let (dir, name) = self.above(path)?;
        let mode = Mode::from_raw_mode(mode | 0o700);
        match rustix::fs::mkdirat(&dir, name, mode) {
            Err(Errno::EXIST) => return Ok(()),
            done => done?,
        }
        // Whatever this daemon's umask is.
        Ok(rustix::fs::chmodat(&dir, name, mode, AtFlags::empty())?)
    }

    fn make_link(&self, path: &str, target: &[u8]) -> Result<()> {
        let (dir, name) = self.above(path)?;
        let target = Path::new(OsStr::from_bytes(target));
        match rustix::fs::symlinkat(target, &dir, name) {
            Err(Errno::EXIST) => {
                rustix::fs::unlinkat(&dir, name, AtFlags::empty())?;
                Ok(rustix::fs::symlinkat(target, &dir, name)?)
            }
            done => Ok(done?),
        }
    }

    fn link(&self, path: &str, file: &Path) -> Result<bool> {
        let (dir, name) = self.above(path)?;
        unlink(&dir, name)?;
        Ok(rustix::fs::linkat(CWD, file, &dir, name, AtFlags::empty()).is_ok())
    }

    fn make_file(&mut self, path: &str, mode: u32) -> Result<()> {
        let (dir, name) = self.above(path)?;
        unlink(&dir, name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat2(dir.as_fd(), name, flags, Mode::from_raw_mode(0o600), INSIDE)?;
        self.file = Some((file.into(), mode));
        Ok(())
    }
}

/// What is there may be running: it keeps its file, and the name gets a new one.
fn unlink(dir: &OwnedFd, name: &Path) -> Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_symbolic_link_may_lead_to_what_is_no_text() {
        let home = Scratch::new("receive-link");
        let directory = home.to_owned();
        let landing = Landing { directory, argv: Text::default(), env: Text::default() };
        let place = Place::open(landing).unwrap();
        for target in [&b"caf\xe9"[..], b"elsewhere"] {
            place.make_link("to", target).unwrap();
            let read = std::fs::read_link(home.join("to")).unwrap();
            assert_eq!(read.as_os_str().as_bytes(), target);
        }
    }
}
