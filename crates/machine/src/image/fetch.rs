//! Fetching an image, as a machine that boots does.
//!
//! 1. It opens the image at the server, and reads its digest and recipe.
//! 2. The file grows in `FILE.part/`, a chunk store of its own. What a fetch before has left there
//!    is looked at, and is not fetched again if it is right. One fetch at a time has it.
//! 3. It opens a door for others, and tells the server where that is and what it holds.
//! 4. A few threads ask what to take next, take it, compare it, write it, and say so. What a helper
//!    refuses, or does not give in [`PATIENCE`], is lost, and what is wrong a lie; either way the
//!    thread asks again.
//!    Meanwhile another thread hears what the server casts to all ([`ear`]).
//! 5. The file is whole, and on the disk, and gets its name. Others are served until the term is
//!    over.
//!
//! Who may die when: a helper costs what it had half sent. The server may be away for
//! [`RETURN`] while it is restarted, and one that says nothing for so long is away; helpers that
//! are known go on meanwhile, and when all is here it is not needed any more. If it stays away, or
//! the disk is full, or this process is killed, `FILE.part/` stays for the next fetch. A machine
//! that dies is noticed by those who take from it.

mod disk;
mod ear;
mod part;
mod room;
mod session;
mod sys;

use super::held::{Held, tree};
use super::swarm::Chunk;
use super::{MODE, Piece, Plan, put};
use crate::chunk::store::{Chunks, name as digest_of};
use crate::chunk::{HASH, Recipe, count, read};
use crate::hosts::address_towards_host;
use crate::line::{self, Circle, Door, read_address};
use ear::{Come, Shelf};
use muster_base::limits::{IMAGE_WINDOW, RECIPE_MAX};
use muster_fabric::Address;
use muster_ninep::client::{Client, Fid, Options};
use muster_ninep::error::{Errno, Error as Refusal};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::tree::OpenFlags;
use part::Part;
use room::{Room, Source, read_chunk};
use session::{Next, Session};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a source may be silent while something is to come from it. At 0.5 Mbit/s a piece takes
/// two seconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes that are asked for at once: a sign of life at least every two seconds.
const PIECE: usize = 128 * 1024;

/// How long the server may be away, or take to answer.
const RETURN: Duration = Duration::from_secs(30);

/// Between two tries to reach it again, and words to it while nothing is to be had.
const AGAIN: Duration = Duration::from_millis(200);
const WORD: Duration = Duration::from_secs(2);

/// What is to be fetched.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Where the server is.
    pub server: Address,
    /// Those who have the image key; none on the server's machine.
    pub circle: Option<Circle>,
    /// The image.
    pub name: String,
    /// Its architecture.
    pub arch: String,
    /// Where it goes.
    pub file: PathBuf,
}

/// Why an image was not fetched.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The server's word.
    #[error("{0}")]
    Refused(Refusal),
    /// The server is not there.
    #[error("the image server {server} cannot be reached: {why}  [E173]")]
    Unreachable {
        /// Where it should be.
        server: String,
        /// What happened.
        why: String,
    },
    /// The server went away, and did not come back.
    #[error(
        "the image server {server} went away and did not come back within {s} s ({why}). What has \
         come is kept: the same command goes on from there  [E173]", s = RETURN.as_secs()
    )]
    Gone {
        /// Where it was.
        server: String,
        /// What happened.
        why: String,
    },
    /// The image is another one now.
    #[error("image {0} was replaced while it was fetched; fetch it again  [E173]")]
    Replaced(String),
    /// What the server has is not what its recipe says.
    #[error("chunk {chunk} of image {name} is corrupt at the server; push the image again  [E174]")]
    Corrupt {
        /// Which chunk.
        chunk: Chunk,
        /// Of which image.
        name: String,
    },
    /// What the server has cannot be read there.
    #[error(
        "the server cannot read chunk {chunk} of image {name} ({why}); push the image again  [E174]"
    )]
    Unread {
        /// Which chunk.
        chunk: Chunk,
        /// Of which image.
        name: String,
        /// The server's word.
        why: String,
    },
    /// A file here.
    #[error("{path}: {why}  [E175]", path = .path.display())]
    Local {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It was told to stop.
    #[error("stopped. What has come is kept: the same command goes on from there")]
    Stopped,
}

type Result<T> = std::result::Result<T, Error>;

/// What happens while an image is fetched.
pub enum Word {
    /// So many bytes more are here.
    More(u64),
    /// A thread has ended: all is here, or it cannot be.
    Ended(Result<()>),
    /// The user wants it to stop.
    Stop,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Fetched {
    /// Bytes of the image.
    pub size: u64,
    /// Chunks that differ.
    pub chunks: u32,
    /// Those that were here before.
    pub held: u32,
    /// Those that came from the server. Each chunk counts once, where most of it came from.
    pub from_server: u32,
    /// Those that came from helpers.
    pub from_helpers: u32,
    /// Those that came to all who listened.
    pub from_multicast: u32,
    /// Helpers that were taken from.
    pub helpers: u32,
    /// Times that a helper was lost, or refused.
    pub lost: u32,
    /// Times that a helper gave what was not the chunk.
    pub lied: u32,
}

/// A fetch under way.
pub struct Fetching {
    shared: Arc<Shared>,
    words: mpsc::Receiver<Word>,
    workers: Vec<JoinHandle<()>>,
    part: Part,
    held: u32,
    is_whole: bool,
    door: Option<Door>,
}

struct Shared {
    ask: Ask,
    held: Arc<Held>,
    plan: Plan,
    /// Where others reach us.
    address: Option<String>,
    link: Mutex<Link>,
    helpers: Mutex<HashMap<String, Arc<Mutex<Slot>>>>,
    /// Chunks that the server had wrong, or did not give, once.
    doubted: Mutex<HashSet<Chunk>>,
    words: mpsc::Sender<Word>,
    is_over: AtomicBool,
    from_server: AtomicU32,
    from_helpers: AtomicU32,
    from_multicast: AtomicU32,
    lost: AtomicU32,
    lied: AtomicU32,
    /// Chunks that have come in part.
    shelf: Shelf,
}

/// The session with the server; another one each time it was lost.
struct Link {
    number: u64,
    session: Session,
}

/// The file of a helper, or why it could not be opened; none yet.
type Slot = Option<muster_ninep::error::Result<Source>>;

/// What a source did not do.
enum Failed {
    Lost(Refusal),
    Lied,
}

impl Ask {
    /// The image, for messages.
    fn title(&self) -> String {
        format!("{} for {}", self.name, self.arch)
    }

    /// Connects; nobody there may take longer than `limit` for an answer.
    fn connect(&self, to: &Address, limit: Duration) -> muster_ninep::error::Result<Client> {
        let options = Options { deadline: Some(limit), ..Options::default() };
        let client = match &self.circle {
            Some(circle) => circle.connect("fetch", to, options),
            None => line::connect("fetch", to, options),
        }?;
        Ok(client.with_deadlines(Some(limit), Some(limit)))
    }

    /// The image's directory at the server.
    fn enter(&self) -> muster_ninep::error::Result<(Client, Fid)> {
        // Without a name: the whole tree, whatever view this user has.
        let client = self.connect(&self.server, RETURN)?;
        let names = ["images", &self.name, &self.arch].map(str::as_bytes);
        let directory = client.root().walk(&names).map_err(|error| match error.errno {
            Errno::NOENT => super::store::unknown(&self.name, Some(&self.arch)),
            _ => error,
        })?;
        Ok((client, directory))
    }
}

/// Opens a file in a directory.
fn open(directory: &Fid, name: &str, flags: OpenFlags) -> muster_ninep::error::Result<Fid> {
    let fid = directory.walk(&[name.as_bytes()])?;
    fid.open(flags)?;
    Ok(fid)
}

fn read_all(directory: &Fid, name: &str) -> muster_ninep::error::Result<Vec<u8>> {
    muster_ninep::client::File::new(open(directory, name, OpenFlags::default())?).read_rest()
}

fn local(path: &Path, error: io::Error) -> Error {
    let why = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; make room there. What has come is kept: the same command goes on \
             from there"
                .to_owned()
        }
        _ => error.to_string(),
    };
    Error::Local { path: path.to_owned(), why }
}

/// A refusal of the disk's, in its words.
fn disk(path: &Path, refusal: &Refusal) -> Error {
    local(path, refusal.errno.into())
}

impl Fetching {
    /// Begins: when this returns, the image is known, and what was here of it.
    ///
    /// # Errors
    /// [`Error`].
    pub fn start(ask: Ask) -> Result<Fetching> {
        let unreachable = |error: Refusal| match error.errno {
            Errno::NOENT if error.text.ends_with(']') => Error::Refused(error),
            _ => {
                let (server, why) = (ask.server.to_string(), error.to_string());
                Error::Unreachable { server, why }
            }
        };
        let (client, directory) = ask.enter().map_err(unreachable)?;
        let recipe = recipe(&directory).map_err(unreachable)?;
        let part = Part::of(&ask.file)?;
        let name = digest_of(MODE, &recipe);
        part.tidy(&name.to_string());
        let mut chunks = Chunks::new(part.path.clone());
        let kept = chunks.keep(MODE, &recipe).and_then(|name| chunks.open(&name));
        let file = kept.map_err(|error| disk(&ask.file, &error))?;
        let plan = Plan::of(&recipe);
        let held = Arc::new(Held { name, recipe, chunks: Mutex::new(chunks), file });
        let door = door(&ask, &part, &held);
        let address = door.as_ref().map(|(_, address)| address.clone());
        let session = Session::begin(&client, &directory, &plan, &held, address.as_deref());
        let session = session.map_err(unreachable)?;
        let has = plan.all().filter(|(_, piece)| held.has(&piece.hash)).count() as u32;
        let (told, words) = mpsc::channel();
        let shared = Shared {
            ask,
            held,
            plan,
            address,
            link: Mutex::new(Link { number: 0, session }),
            helpers: Mutex::default(),
            doubted: Mutex::default(),
            words: told,
            is_over: AtomicBool::new(false),
            from_server: AtomicU32::new(0),
            from_helpers: AtomicU32::new(0),
            from_multicast: AtomicU32::new(0),
            shelf: Shelf::default(),
            lost: AtomicU32::new(0),
            lied: AtomicU32::new(0),
        };
        let (shared, door) = (Arc::new(shared), door.map(|(door, _)| door));
        let (workers, is_whole) = (Vec::new(), false);
        Ok(Fetching { shared, words, workers, part, held: has, is_whole, door })
    }

    /// Where the user's wish to stop is told.
    pub fn stopper(&self) -> mpsc::Sender<Word> {
        self.shared.words.clone()
    }

    /// Bytes of the image, and how many of them are here.
    pub fn so_far(&self) -> (u64, u64) {
        let Shared { plan, held, .. } = &*self.shared;
        let here = plan.all().filter(|(_, piece)| held.has(&piece.hash));
        let (all, here) = (
            plan.all().map(|(_, piece)| piece.length as u64).sum(),
            here.map(|(_, piece)| piece.length as u64).sum(),
        );
        (all, here)
    }

    /// Fetches what is missing and gives the file its name; tells what came of it.
    ///
    /// # Errors
    /// [`Error`].
    pub fn complete(&mut self, mut more: impl FnMut(u64)) -> Result<Fetched> {
        for _ in 0..IMAGE_WINDOW {
            let shared = self.shared.clone();
            let run = move || {
                let done = work(&shared);
                // The one who waits for it may have gone.
                let _ = shared.words.send(Word::Ended(done));
            };
            let thread = std::thread::Builder::new().name("fetch".into()).spawn(run);
            self.workers.push(thread.map_err(|error| local(&self.shared.ask.file, error))?);
        }
        let mut left = self.workers.len();
        // Where nothing is cast, or it cannot be heard, all comes from sources.
        let shared = self.shared.clone();
        let listen = std::thread::Builder::new().name("listen".into());
        self.workers.extend(listen.spawn(move || ear::listen(&shared)));
        while left > 0 {
            match self.words.recv() {
                Ok(Word::More(bytes)) => more(bytes),
                Ok(Word::Ended(done)) => {
                    done?;
                    left -= 1;
                }
                Ok(Word::Stop) | Err(_) => return Err(Error::Stopped),
            }
        }
        let (held, file) = (&self.shared.held, &self.shared.ask.file);
        let part = self.part.path.join(held.name.to_string());
        let is_stopped = || self.words.try_iter().any(|word| matches!(word, Word::Stop));
        let written = disk::write_out(&held.file, held.recipe.size, is_stopped);
        if !written.map_err(|error| local(file, error))? {
            return Err(Error::Stopped);
        }
        put(&held.file, &part, file).map_err(|error| local(file, error))?;
        self.is_whole = true;
        Ok(self.tell())
    }

    fn tell(&self) -> Fetched {
        let Shared { plan, held, from_server, from_helpers, lost, lied, .. } = &*self.shared;
        let from_multicast = &self.shared.from_multicast;
        let all = self.shared.helpers.lock().expect("no holder panics");
        let count = |count: &AtomicU32| count.load(Ordering::Relaxed);
        Fetched {
            size: held.recipe.size,
            chunks: plan.count(),
            held: self.held,
            from_server: count(from_server),
            from_helpers: count(from_helpers),
            from_multicast: count(from_multicast),
            helpers: all.len() as u32,
            lost: count(lost),
            lied: count(lied),
        }
    }

    /// Serves others until the term is over, or the user wants it to stop.
    pub fn serve(self, term: Duration) {
        let shared = self.shared.clone();
        // By itself, since nobody who wants to stop waits for who does not answer. Without a thread
        // a server that is started again does not know of this one.
        let _ = std::thread::Builder::new().name("again".into()).spawn(move || shared.stay());
        let until = Instant::now() + term;
        loop {
            match self.words.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Word::Stop) | Err(_) => return,
                Ok(_) => {}
            }
        }
    }
}

impl Drop for Fetching {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        // Whoever waits for the server or a helper is told so, and they that we are gone.
        self.shared.link.lock().expect("no holder panics").session.client.close();
        for helper in self.shared.helpers.lock().expect("no holder panics").values() {
            if let Some(Ok(source)) = helper.try_lock().ok().and_then(|slot| slot.clone()) {
                source.file.client().close();
            }
        }
        for worker in self.workers.drain(..) {
            // One that panicked has said so.
            let _ = worker.join();
        }
        self.door = None;
        if self.is_whole {
            self.part.remove();
        }
    }
}

/// The recipe of the image in a directory.
fn recipe(directory: &Fid) -> muster_ninep::error::Result<Recipe> {
    let bad = || Refusal::new(Errno::BADMSG, "its recipe is not that of an image");
    let digest = String::from_utf8(read_all(directory, "digest")?).map_err(|_| bad())?;
    let (digest, size) = digest.trim_end().split_once(' ').ok_or_else(bad)?;
    let size: u64 = size.parse().map_err(|_| bad())?;
    let hashes = read_all(directory, "recipe")?;
    let recipe = Recipe { size, chunks: read(&hashes).collect() };
    let is_right = hashes.len() <= RECIPE_MAX
        && hashes.len() as u64 == count(size).saturating_mul(HASH as u64)
        && digest_of(MODE, &recipe).to_string() == digest;
    if is_right && size > 0 { Ok(recipe) } else { Err(bad()) }
}

/// A door for others, and where it is. Without one nobody is served, and all else is the same.
fn door(ask: &Ask, part: &Part, held: &Arc<Held>) -> Option<(Door, String)> {
    let server = Arc::new(Server::start(&Arc::new(tree(held)), 1, same_user).ok()?);
    match (&ask.circle, &ask.server) {
        (Some(circle), Address::Tls(host, port)) => {
            let own = address_towards_host(host, *port)?;
            let any = if own.is_ipv4() { "0.0.0.0" } else { "::" };
            let door = Door::open_to(circle, &Address::Tls(any.into(), 0), server).ok()?;
            let Address::Tls(_, port) = door.address() else { return None };
            let address = Address::Tls(own.to_string(), *port).to_string();
            Some((door, address))
        }
        _ => {
            let path = fs::canonicalize(&part.path).ok()?.join(part::SOCKET);
            let address = read_address(path.to_str()?).ok()?;
            Some((Door::open(&address, server).ok()?, address.to_string()))
        }
    }
}

/// Takes chunks until all are here.
fn work(shared: &Arc<Shared>) -> Result<()> {
    let (mut last, mut room) = (None, Room::default());
    loop {
        // What becomes of the server does not matter then.
        if shared.held.is_whole() {
            return Ok(());
        }
        let (number, session) = match shared.session(last) {
            Err(_) if shared.held.is_whole() => return Ok(()),
            session => session?,
        };
        let next = session.ask(&shared.held, RETURN);
        if shared.is_over.load(Ordering::Acquire) {
            return Err(Error::Stopped);
        }
        match next {
            Ok(Next::Whole) => return Ok(()),
            Ok(Next::Take(chunk, from)) => {
                last = None;
                let Some(piece) = shared.plan.get(chunk) else {
                    let text = format!("the server named chunk {chunk}, which there is not");
                    return Err(Error::Refused(Refusal::new(Errno::BADMSG, text)));
                };
                match shared.take(&session, (chunk, piece), &from, &room)? {
                    Ok(()) => session.say(&format!("have {chunk}\n")),
                    Err(Failed::Lost(why)) => {
                        room = Room::default();
                        session.say(&format!("lost {chunk}\n"));
                        if from == "-" && is_for_now(&why) {
                            // It has nobody else to name, perhaps, and is not to be pressed.
                            std::thread::sleep(AGAIN);
                        }
                    }
                    Err(Failed::Lied) => session.say(&format!("lied {chunk}\n")),
                }
            }
            // What was flushed or lost on the way still counts as asked there for a while.
            Err(error) if error.errno == Errno::AGAIN => std::thread::sleep(AGAIN),
            Err(error) if error.errno == Errno::TIMEDOUT => {
                // All others who wait there try another session, too.
                session.client.close();
                last = Some(number);
            }
            Err(error) if !session.has_ended() => return Err(Error::Refused(error)),
            Err(_) => last = Some(number),
        }
    }
}

/// Whether a source that refused in these words may give the same a moment later.
fn is_for_now(refusal: &Refusal) -> bool {
    matches!(refusal.errno, Errno::TIMEDOUT | Errno::AGAIN | Errno::INTR | Errno::BUSY)
}

impl Shared {
    /// The session, another one than the one of that number.
    fn session(self: &Arc<Shared>, but: Option<u64>) -> Result<(u64, Session)> {
        let mut link = self.link.lock().expect("no holder panics");
        if but == Some(link.number) {
            let session = self.again(&link.session)?;
            *link = Link { number: link.number + 1, session };
        }
        Ok((link.number, link.session.clone()))
    }

    /// Comes back to a server that went away.
    fn again(self: &Arc<Shared>, before: &Session) -> Result<Session> {
        let until = Instant::now() + RETURN;
        let ended = before.client.ended();
        let mut why = ended.map_or_else(String::new, |error| error.to_string());
        let is_over = || self.is_over.load(Ordering::Acquire) || self.held.is_whole();
        while Instant::now() < until && !is_over() {
            std::thread::sleep(AGAIN);
            let (shared, (tell, told)) = (self.clone(), mpsc::sync_channel(1));
            let attempt = move || drop(tell.send(shared.enter_again()));
            // By itself, since nobody who wants to stop, or has all, waits for who does not answer.
            let begun = std::thread::Builder::new().name("again".into()).spawn(attempt);
            if let Err(error) = begun {
                why = error.to_string();
                continue;
            }
            let entered = loop {
                match told.recv_timeout(AGAIN) {
                    Ok(entered) => break entered?,
                    Err(RecvTimeoutError::Timeout) if is_over() => return Err(Error::Stopped),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break Err(Errno::IO.into()),
                }
            };
            match entered {
                Ok(session) => return Ok(session),
                Err(error) => why = error.to_string(),
            }
        }
        Err(Error::Gone { server: self.ask.server.to_string(), why })
    }

    /// Comes back to a server whenever it went away, until the term is over.
    fn stay(&self) {
        let is_over = || self.is_over.load(Ordering::Acquire);
        while !is_over() {
            std::thread::sleep(AGAIN);
            let link = || self.link.lock().expect("no holder panics");
            if !link().session.has_ended() {
                continue;
            }
            match self.enter_again() {
                Ok(Ok(session)) => {
                    let mut link = link();
                    // Who ends it closes the session that is there by then.
                    if !is_over() {
                        *link = Link { number: link.number + 1, session };
                    }
                }
                Ok(Err(_)) => {}
                // The image is not there any more: nobody asks for it.
                Err(_) => return,
            }
        }
    }

    /// Begins another session. What may be better the next time is the inner error.
    fn enter_again(&self) -> Result<std::result::Result<Session, Refusal>> {
        let (client, directory) = match self.ask.enter() {
            Ok(entered) => entered,
            Err(error) if error.errno == Errno::NOENT && error.text.ends_with(']') => {
                return Err(Error::Refused(error));
            }
            Err(error) => return Ok(Err(error)),
        };
        let new = recipe(&directory).map(|recipe| digest_of(MODE, &recipe));
        if new.as_ref().is_ok_and(|new| *new != self.held.name) {
            return Err(Error::Replaced(self.ask.title()));
        }
        let (plan, held, address) = (&self.plan, &self.held, self.address.as_deref());
        Ok(new.and_then(|_| Session::begin(&client, &directory, plan, held, address)))
    }

    /// Takes a chunk from whom the server named.
    fn take(
        &self,
        session: &Session,
        (chunk, piece): (Chunk, Piece),
        from: &str,
        room: &Room,
    ) -> Result<std::result::Result<(), Failed>> {
        let is_server = from == "-";
        let source = if is_server { Ok(session.data.clone()) } else { self.helper(from) };
        let take = |come| match source.clone().and_then(|it| read_chunk(&it, piece, room, come)) {
            Ok(()) => match self.held.take(&piece.hash, &room.lock().bytes) {
                Ok(is_new) => Ok(Ok(is_new)),
                Err(error) if error.errno == Errno::BADMSG => Ok(Err(Failed::Lied)),
                Err(error) => Err(disk(&self.ask.file, &error)),
            },
            Err(why) => Ok(Err(Failed::Lost(why))),
        };
        let come = self.shelf.take(chunk);
        let is_mixed = come.is_some();
        let mut was_heard = come.as_ref().is_some_and(Come::has_most);
        let mut taken = take(come)?;
        if is_mixed && matches!(taken, Err(Failed::Lied)) {
            // It may be what came before that is not right.
            (taken, was_heard) = (take(None)?, false);
        }
        match &taken {
            Ok(is_new) => {
                let count = match (was_heard, is_server) {
                    (true, _) => &self.from_multicast,
                    (false, true) => &self.from_server,
                    (false, false) => &self.from_helpers,
                };
                self.count(count, piece, *is_new);
            }
            // It is away, or slow.
            Err(Failed::Lost(why)) if is_server && (session.has_ended() || is_for_now(why)) => {}
            Err(failed) if is_server => {
                // Somebody may have it right; if not, the server names itself again.
                if !self.doubted.lock().expect("no holder panics").insert(chunk) {
                    let name = self.ask.title();
                    return Err(match failed {
                        Failed::Lied => Error::Corrupt { chunk, name },
                        Failed::Lost(why) => Error::Unread { chunk, name, why: why.to_string() },
                    });
                }
            }
            Err(failed) => {
                let count = match failed {
                    Failed::Lost(_) => &self.lost,
                    Failed::Lied => &self.lied,
                };
                count.fetch_add(1, Ordering::Relaxed);
                // Others who wait for it find out for themselves.
                self.helpers.lock().expect("no holder panics").remove(from);
            }
        }
        Ok(taken.map(drop))
    }

    /// A chunk is here, and was not before.
    fn count(&self, count: &AtomicU32, piece: Piece, is_new: bool) {
        if is_new {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = self.words.send(Word::More(piece.length as u64));
        }
    }

    /// A helper's file, over one connection for all threads.
    fn helper(&self, address: &str) -> muster_ninep::error::Result<Source> {
        let slot = {
            let mut helpers = self.helpers.lock().expect("no holder panics");
            helpers.entry(address.to_owned()).or_default().clone()
        };
        let mut slot = slot.lock().expect("no holder panics");
        // Who has waited for a connection that failed does not try the same again.
        slot.get_or_insert_with(|| self.connect(address)).clone()
    }

    fn connect(&self, address: &str) -> muster_ninep::error::Result<Source> {
        let to: Address = address
            .parse()
            .map_err(|_| Refusal::new(Errno::INVAL, format!("{address} is no helper's address")))?;
        // Whoever names himself must not send us to this machine's sockets from elsewhere.
        if matches!(to, Address::Tls(..)) != self.ask.circle.is_some() {
            return Err(Refusal::new(Errno::INVAL, format!("{address} is no helper's address")));
        }
        let client = self.ask.connect(&to, PATIENCE)?;
        let name = self.held.name.to_string();
        Ok(Source::new(open(&client.root(), &name, OpenFlags::default())?))
    }
}
