//! What comes by multicast: chunks that the server casts to all who fetch the image just then.
//!
//! One thread listens and puts chunks together; another compares them, writes them and tells the
//! server, in the order in which they were cast: how far everybody is keeps the caster from going
//! too fast. A chunk that has passed by and is not whole goes to the [`Shelf`]: the thread that the
//! server sends to somebody for it takes it from there, and asks for the rest only; or it is cast
//! again.
//!
//! Nothing here can be waited for: who hears nothing takes all from sources, and so does who has
//! heard what was wrong [`LIES`] times, for whoever has the image key can cast, too.

use super::{AGAIN, Session, Shared, Word, disk, read_all};
use crate::hosts::address_towards_host;
use crate::image::caster::Group;
use crate::image::swarm::Chunk;
use muster_base::limits::IMAGE_CASTS;
use muster_fabric::Address;
use muster_fabric::shell::multicast::{Hearer, Part, Parts};
use muster_ninep::error::Errno;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How long the thread waits for datagrams before it looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// How long nothing comes before it is asked again where it should: the key may be another one, or
/// a switch may have forgotten who listens.
const SILENCE: Duration = Duration::from_secs(5);

/// Chunks that came and were not right before this ends.
const LIES: u32 = 3;

/// A chunk, as far as it has come.
pub(super) struct Come {
    pub(super) bytes: Vec<u8>,
    pub(super) missing: Parts,
}

impl Come {
    pub(super) fn has_most(&self) -> bool {
        2 * self.missing.left() < Parts::all(self.bytes.len()).left()
    }
}

/// Chunks that have come in part, up to [`IMAGE_CASTS`]. What is not kept comes whole.
#[derive(Default)]
pub(super) struct Shelf(Mutex<BTreeMap<Chunk, Come>>);

impl Shelf {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Chunk, Come>> {
        self.0.lock().expect("no holder panics")
    }

    pub(super) fn take(&self, chunk: Chunk) -> Option<Come> {
        self.lock().remove(&chunk)
    }

    fn put(&self, chunk: Chunk, come: Come) {
        let mut all = self.lock();
        all.insert(chunk, come);
        if all.len() > IMAGE_CASTS {
            all.pop_first();
        }
    }
}

/// What is to be told of a chunk.
enum Passed {
    Whole(Chunk, Vec<u8>),
    /// So many parts of it are missing.
    Missed(Chunk, usize),
}

/// Listens as long as there is something to come, in every session with the server.
pub(super) fn listen(shared: &Arc<Shared>) {
    let (Some(own), mut last) = (interface(shared), None) else { return };
    while !is_over(shared) {
        let (number, session) = {
            let link = shared.link.lock().expect("no holder panics");
            (link.number, link.session.clone())
        };
        let read = || read_all(&session.directory, "group").map(String::from_utf8);
        let group = match last.replace(number) {
            Some(last) if last == number => read().ok().and_then(Result::ok),
            _ => Some(session.group.clone()),
        };
        let group = group.and_then(|text| text.parse::<Group>().ok());
        if session.has_ended() {
            // The other threads see to that.
            std::thread::sleep(AGAIN);
            continue;
        }
        let hearer = group.map(|group| Hearer::open(group.address, own, &group.secret));
        let Some(Ok(hearer)) = hearer else { return };
        session.say(&format!("listen {own}\n"));
        let (lies, spares) = (AtomicU32::new(0), Spares::default());
        let (tell, told) = sync_channel(IMAGE_CASTS);
        std::thread::scope(|scope| {
            let writer = std::thread::Builder::new().name("write".into());
            let (session, spares, lies) = (&session, &spares, &lies);
            let write = move || write(shared, session, &told, spares, lies);
            if writer.spawn_scoped(scope, write).is_ok() {
                Ear::new(shared, session, tell, spares).run(hearer, lies);
            }
        });
        if lies.load(Ordering::Relaxed) >= LIES {
            return session.say("deaf\n");
        }
    }
}

/// Our own address towards the server, where the image comes by the network.
fn interface(shared: &Shared) -> Option<Ipv4Addr> {
    let (Some(_), Address::Tls(host, port)) = (&shared.ask.circle, &shared.ask.server) else {
        return None;
    };
    match address_towards_host(host, *port) {
        Some(IpAddr::V4(own)) => Some(own),
        _ => None,
    }
}

/// Whether nothing is to come any more.
fn is_over(shared: &Shared) -> bool {
    shared.is_over.load(Ordering::Acquire) || shared.held.is_whole()
}

/// Puts chunks together.
struct Ear<'a> {
    shared: &'a Shared,
    session: &'a Session,
    /// The chunk that is being cast, and what has come of it if it is of use.
    current: Option<Chunk>,
    open: Option<(Chunk, Come)>,
    /// The chunk that was whole last.
    done: Option<Chunk>,
    tell: SyncSender<Passed>,
    spares: &'a Spares,
    /// When something came last.
    heard: Option<Instant>,
}

/// Memory of chunks that were written.
type Spares = Mutex<Vec<Vec<u8>>>;

impl<'a> Ear<'a> {
    fn new(
        shared: &'a Shared,
        session: &'a Session,
        tell: SyncSender<Passed>,
        spares: &'a Spares,
    ) -> Ear<'a> {
        let (current, open, done, heard) = (None, None, None, None);
        Ear { shared, session, current, open, done, tell, spares, heard }
    }

    fn run(&mut self, mut hearer: Hearer, lies: &AtomicU32) {
        let begun = Instant::now();
        while !is_over(self.shared)
            && !self.session.has_ended()
            && lies.load(Ordering::Relaxed) < LIES
            && self.heard.unwrap_or(begun).elapsed() < SILENCE
        {
            if hearer.hear(LOOK, |part| self.take(part)).is_err() {
                return;
            }
        }
    }

    fn take(&mut self, part: Part<'_>) {
        if self.heard.replace(Instant::now()).is_none() {
            self.session.say("hear\n");
        }
        // 0 is that of a probe before anything was cast.
        let number = part.number.checked_sub(1).and_then(|number| Chunk::try_from(number).ok());
        let Some(chunk) = number else { return };
        let Some(piece) = self.shared.plan.get(chunk) else { return };
        let is_other = self.current.replace(chunk) != Some(chunk);
        let is_probe = part.length == 0;
        if is_other || is_probe {
            self.pass();
        }
        let lacks = || self.done != Some(chunk) && !self.shared.held.has(&piece.hash);
        if is_probe && is_other && lacks() {
            // All of it was lost.
            self.tell(Passed::Missed(chunk, Parts::all(piece.length).left()));
        }
        if part.length != piece.length {
            return;
        }
        if self.open.is_none() && lacks() {
            let come = self.shared.shelf.take(chunk);
            self.open = Some((chunk, come.unwrap_or_else(|| self.fresh(piece.length))));
        }
        let Some((_, come)) = &mut self.open else { return };
        come.missing.fill(&mut come.bytes, part.offset, part.bytes);
        if come.missing.is_none() {
            let (_, come) = self.open.take().expect("it is there");
            self.done = Some(chunk);
            self.tell(Passed::Whole(chunk, come.bytes));
        }
    }

    fn fresh(&self, length: usize) -> Come {
        let spare = self.spares.lock().expect("no holder panics").pop();
        let mut bytes = spare.unwrap_or_default();
        bytes.resize(length, 0);
        Come { bytes, missing: Parts::all(length) }
    }

    /// What was being cast has passed by, whole or not.
    fn pass(&mut self) {
        if let Some((chunk, come)) = self.open.take() {
            let missing = come.missing.left();
            self.shared.shelf.put(chunk, come);
            self.tell(Passed::Missed(chunk, missing));
        }
    }

    /// If there is more to be told than may be, the server learns from what is told later.
    fn tell(&self, passed: Passed) {
        let _ = self.tell.try_send(passed);
    }
}

/// Compares and writes chunks, and tells the server.
fn write(
    shared: &Shared,
    session: &Session,
    told: &Receiver<Passed>,
    spares: &Spares,
    lies: &AtomicU32,
) {
    for passed in told {
        let (chunk, bytes) = match passed {
            Passed::Missed(chunk, parts) => {
                session.say(&format!("missed {chunk} {parts}\n"));
                continue;
            }
            Passed::Whole(chunk, bytes) => (chunk, bytes),
        };
        let piece = shared.plan.get(chunk).expect("it was looked at");
        match shared.held.take(&piece.hash, &bytes) {
            Ok(is_new) => {
                // The others end when all is here, so it counts first.
                shared.count(&shared.from_multicast, piece, is_new);
                session.say(&format!("heard {chunk}\n"));
            }
            Err(error) if error.errno == Errno::BADMSG => {
                lies.fetch_add(1, Ordering::Relaxed);
                session.say(&format!("missed {chunk} 0\n"));
            }
            Err(error) => {
                let error = disk(&shared.ask.file, &error);
                // The one who waits for it may have gone.
                let _ = shared.words.send(Word::Ended(Err(error)));
                return;
            }
        }
        spares.lock().expect("no holder panics").push(bytes);
    }
}
