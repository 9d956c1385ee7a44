//! One side of a TLS connection without its socket: what has arrived goes in, what is to leave
//! comes out, and so do bytes in the clear.
//!
//! rustls makes the handshake. What follows are records, which are sealed and opened where they lie
//! (`records.rs`); rustls then only says which key is the next, as it does for kernels that know
//! TLS. A key that is used up is followed by a new one (RFC 8446, 4.6.3), so a connection may stay
//! as long as its ends; those who took its keys ([`Session::into_keys`]) do without.
//!
//! *Memory.* Room for one record at first; if what arrives has filled it, twice as much, up to
//! [`ARRIVED_MAX`]. What is sealed is taken in pieces of the caller's choice, and only when nothing
//! waits, if the caller wants it to be bounded. After [`QUIET`] times in a row that no more came or
//! went than a record, the room is given back. Who says nothing at all keeps it.
//!
//! *Floods.* Who sends more than [`EMPTY_MAX`] records in a row that have nothing in them for us,
//! new keys or no bytes at all, has us work for nothing, and is cut off.

use super::identity::PublicKey;
use super::records::{
    ALERT, CONTENT_MAX, DATA, EXTRA, HANDSHAKE, HEAD, Keys, RECORD_MAX, Records, Unfit,
};
use crate::error::Error;
use muster_base::limits::TLS_CHUNK;
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::kernel::KernelConnection;
use rustls::server::{ServerConnectionData, UnbufferedServerConnection};
use rustls::unbuffered::{ConnectionState, EncodeError, InsufficientSizeError, UnbufferedStatus};
use rustls::{AlertDescription, CertificateError, CommonState, ConnectionTrafficSecrets};
use std::fmt;
use std::io::IoSlice;
use std::ops::Range;

#[cfg(test)]
pub(super) mod tests;

/// Most bytes of records that are held. What is a little larger, 128 KiB, glibc gets from the
/// kernel at first, all of its pages new (M_MMAP_THRESHOLD of mallopt(3)).
const ARRIVED_MAX: usize = 2 * TLS_CHUNK - 8192;

/// How often in a row little has come and gone before room is given back.
const QUIET: u32 = 8;

/// Most records in a row without content. (rustls allows as many empty ones, and as many new keys.)
const EMPTY_MAX: u32 = 32;

/// Most bytes that a handshake may have under way: messages of keys are some hundred.
const GREETING_MAX: usize = TLS_CHUNK / 2;

/// TLS's messages after the handshake.
const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;

/// An alert is a level and a description.
const WARNING: u8 = 1;
const FATAL: u8 = 2;

/// How a connection has ended that was not ended in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The peer or the way to it is gone.
    Dead(String),
    /// The peer speaks something else.
    Malformed(String),
    /// The peer does not want us.
    Refused(String),
    /// We do not want the peer.
    Untrusted(String),
}

impl Cut {
    /// Its bytes end, and it has not said that they do.
    pub fn silent() -> Cut {
        Cut::Dead("the connection ended without TLS's goodbye".to_owned())
    }

    /// The error at this end, of a peer of that name.
    pub fn error(&self, peer: &str) -> Error {
        let peer = peer.to_owned();
        match self.clone() {
            Cut::Dead(evidence) => Error::Dead { peer, evidence },
            Cut::Malformed(what) => Error::Malformed { peer, what },
            Cut::Refused(why) => Error::Refused { peer, why },
            Cut::Untrusted(why) => Error::Untrusted { peer, why },
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Cut::Dead(why) | Cut::Malformed(why) | Cut::Refused(why) | Cut::Untrusted(why)) = self;
        f.write_str(why)
    }
}

impl From<rustls::Error> for Cut {
    fn from(error: rustls::Error) -> Cut {
        use rustls::Error as Tls;
        match error {
            Tls::InvalidCertificate(CertificateError::ApplicationVerificationFailure) => {
                Cut::Untrusted("its key is not in the membership list".to_owned())
            }
            Tls::AlertReceived(AlertDescription::AccessDenied) => {
                Cut::Refused("our key is not in its membership list".to_owned())
            }
            Tls::AlertReceived(alert) => Cut::Refused(format!("TLS alert {alert:?}")),
            Tls::InvalidMessage(what) => Cut::Malformed(format!("this is no TLS: {what:?}")),
            other => Cut::Malformed(other.to_string()),
        }
    }
}

/// See above.
pub struct Session {
    phase: Phase,
    /// What has arrived; records that were not opened are behind `unopened`.
    arrived: Vec<u8>,
    unopened: usize,
    /// What room is taken for what arrives.
    wanted: usize,
    /// How often in a row little has come and gone, and whether much has since.
    quiet: u32,
    is_busy: bool,
    /// Records without content since the last one with some.
    empty: u32,
    /// What of the record before that was not taken.
    content: Range<usize>,
    /// What was opened elsewhere, and comes before that.
    early: Vec<u8>,
    /// Records that are to leave, and how much of them has.
    sealed: Vec<u8>,
    gone: usize,
    peer: Option<PublicKey>,
    /// The peer has said goodbye.
    has_ended: bool,
    /// We have.
    is_finished: bool,
}

enum Phase {
    Greeting(Box<Greeting>),
    Open(Box<Channel>),
    Over(Cut),
}

impl Session {
    /// The side that connects.
    pub fn client(connection: UnbufferedClientConnection) -> Session {
        Session::greeting(Greeting::Client(connection))
    }

    /// The side that was connected to.
    pub fn server(connection: UnbufferedServerConnection) -> Session {
        Session::greeting(Greeting::Server(connection))
    }

    fn greeting(greeting: Greeting) -> Session {
        let mut session = Session {
            phase: Phase::Greeting(Box::new(greeting)),
            arrived: Vec::new(),
            unopened: 0,
            wanted: RECORD_MAX,
            quiet: 0,
            is_busy: false,
            empty: 0,
            content: 0..0,
            early: Vec::new(),
            sealed: Vec::new(),
            gone: 0,
            peer: None,
            has_ended: false,
            is_finished: false,
        };
        // Who connects has the first word. What is wrong is told to who asks for content.
        let _ = session.advance();
        session
    }

    /// Whether nothing can be sent yet.
    pub fn is_greeting(&self) -> bool {
        matches!(self.phase, Phase::Greeting(_))
    }

    /// Whose key the peer has proved to have, once the handshake is done.
    pub fn peer(&self) -> Option<PublicKey> {
        self.peer
    }

    /// Where what has arrived is to be appended: its capacity is at least a byte more than it
    /// holds. All content was taken before.
    pub fn room(&mut self) -> &mut Vec<u8> {
        debug_assert!(self.content.is_empty(), "it would be moved away");
        let capacity = self.arrived.capacity();
        if capacity > 0 && self.arrived.len() == capacity {
            self.wanted = (2 * self.wanted).min(ARRIVED_MAX);
        }
        self.is_busy |= self.arrived.len() > RECORD_MAX;
        self.arrived.drain(..self.unopened);
        (self.unopened, self.content) = (0, 0..0);
        self.arrived.reserve_exact(self.wanted.saturating_sub(self.arrived.len()));
        &mut self.arrived
    }

    /// Nothing more has arrived for now: gives back room that was not needed for long.
    pub fn rest(&mut self) {
        let is_busy = std::mem::take(&mut self.is_busy)
            || self.arrived.len() > RECORD_MAX
            || !self.sealed.is_empty();
        self.quiet = if is_busy { 0 } else { self.quiet + 1 };
        if self.quiet < QUIET {
            return;
        }
        self.quiet = 0;
        self.sealed.shrink_to(RECORD_MAX);
        self.early.shrink_to(RECORD_MAX);
        if self.content.is_empty() && self.unopened == self.arrived.len() {
            (self.arrived, self.unopened, self.content) = (Vec::new(), 0, 0..0);
            self.wanted = RECORD_MAX;
        }
    }

    /// What came in the clear before all that was not taken.
    pub fn put_back(&mut self, bytes: &[u8]) {
        self.early.splice(..0, bytes.iter().copied());
    }

    /// Whether there is content: not where no record has arrived as a whole, or no more comes
    /// ([`Session::has_ended`]).
    ///
    /// # Errors
    /// Why the connection is over. The peer may be to be told ([`Session::sealed`]).
    pub fn find(&mut self) -> Result<bool, Cut> {
        loop {
            // What came right behind a handshake waits for its end.
            let is_open = !self.is_greeting();
            let is_found = is_open && !self.content().is_empty();
            if is_found || is_open && self.has_ended || !self.advance()? {
                return Ok(is_found);
            }
        }
    }

    /// Bytes in the clear, the next first, once [`Session::find`] has found some.
    pub fn content(&self) -> &[u8] {
        match self.early.is_empty() {
            true => &self.arrived[self.content.clone()],
            false => &self.early,
        }
    }

    /// Forgets the first bytes of the content: they were taken.
    pub fn consume(&mut self, size: usize) {
        match self.early.is_empty() {
            true => self.content.start += size,
            false => drop(self.early.drain(..size)),
        }
    }

    /// Whether the peer has said that no more comes.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Seals bytes, at most so many; how many those were. None before the handshake is done, after
    /// our goodbye, or if the connection is over ([`Session::may_send`]).
    pub fn take(&mut self, parts: &[IoSlice<'_>], most: usize) -> usize {
        let Phase::Open(channel) = &mut self.phase else { return 0 };
        if self.is_finished {
            return 0;
        }
        let whole = parts.iter().map(|part| part.len()).sum::<usize>().min(most);
        self.is_busy |= whole > CONTENT_MAX;
        self.sealed.reserve_exact(whole + (whole / CONTENT_MAX + 2) * EXTRA);
        let mut parts = parts.iter().map(|part| &**part);
        let (mut rest, mut taken): (&[u8], _) = (&[], 0);
        loop {
            channel.renew_in_time(&mut self.sealed);
            let start = self.sealed.len();
            self.sealed.extend_from_slice(&[0; HEAD]);
            let mut room = CONTENT_MAX.min(most - taken);
            while room > 0 {
                if rest.is_empty() {
                    match parts.next() {
                        Some(next) => rest = next,
                        None => break,
                    }
                }
                let (now, later) = rest.split_at(rest.len().min(room));
                self.sealed.extend_from_slice(now);
                (rest, room, taken) = (later, room - now.len(), taken + now.len());
            }
            if self.sealed.len() == start + HEAD {
                self.sealed.truncate(start);
                return taken;
            }
            channel.seal(DATA, &mut self.sealed, start);
        }
    }

    /// Whether anything more may be sent, once the handshake is done.
    ///
    /// # Errors
    /// Why not.
    pub fn may_send(&self) -> Result<(), Cut> {
        match &self.phase {
            Phase::Over(cut) => Err(cut.clone()),
            _ if self.is_finished => Err(Cut::Dead("it was ended here".to_owned())),
            _ => Ok(()),
        }
    }

    /// Says goodbye: nothing is taken after it.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        self.say(ALERT, &[WARNING, AlertDescription::CloseNotify.into()]);
    }

    fn say(&mut self, kind: u8, words: &[u8]) {
        let Phase::Open(channel) = &mut self.phase else { return };
        channel.say(kind, words, &mut self.sealed);
    }

    /// What is to leave.
    pub fn sealed(&self) -> &[u8] {
        &self.sealed[self.gone..]
    }

    /// So much of it has left.
    pub fn sent(&mut self, size: usize) {
        self.gone += size;
        if self.gone == self.sealed.len() {
            self.sealed.clear();
            self.gone = 0;
        }
    }

    /// The keys, for those who go on with it by themselves; none where it is not open, or bytes are
    /// under way here.
    pub fn into_keys(self) -> Option<Keys> {
        let is_quiet = self.early.is_empty() && self.content.is_empty() && self.sealed().is_empty();
        match self.phase {
            Phase::Open(channel) if is_quiet && self.unopened == self.arrived.len() => {
                // Who takes the keys cannot change them.
                (!channel.is_asked && !self.is_finished).then(|| channel.keys())
            }
            _ => None,
        }
    }

    /// Looks at what comes next; false where that is not there as a whole.
    fn advance(&mut self) -> Result<bool, Cut> {
        let advanced = match &mut self.phase {
            Phase::Greeting(_) => self.greet(),
            Phase::Open(_) => self.open(),
            Phase::Over(cut) => return Err(cut.clone()),
        };
        if let Err(cut) = &advanced {
            self.phase = Phase::Over(cut.clone());
        }
        advanced
    }

    /// Goes on with the handshake.
    fn greet(&mut self) -> Result<bool, Cut> {
        let Phase::Greeting(greeting) = &mut self.phase else { unreachable!("it was asked") };
        let (gone, step) = greeting.step(&mut self.arrived[self.unopened..], &mut self.sealed);
        self.unopened += gone;
        match step {
            Ok(Step::Next) => Ok(true),
            Ok(Step::Content(bytes)) => {
                self.early.extend(bytes);
                Ok(true)
            }
            Ok(Step::Ended) => {
                self.has_ended = true;
                Ok(true)
            }
            Ok(Step::Waits) if self.arrived.len() - self.unopened > GREETING_MAX => {
                Err(Cut::Malformed("its handshake does not end".to_owned()))
            }
            Ok(Step::Waits) => Ok(false),
            Ok(Step::Done) => {
                self.peer = greeting
                    .state()
                    .peer_certificates()
                    .and_then(|shown| PublicKey::read(shown.first()?));
                let over = Phase::Over(Cut::Dead("its handshake has failed".to_owned()));
                let Phase::Greeting(greeting) = std::mem::replace(&mut self.phase, over) else {
                    unreachable!("it is one");
                };
                self.phase = Phase::Open(Box::new(greeting.open()?));
                Ok(true)
            }
            Err(error) => {
                // TLS may have a word on it for the peer, behind others that are to leave. That is
                // all that may be asked of it now.
                while greeting.state().wants_write() {
                    let arrived = &mut self.arrived[self.unopened..];
                    let (gone, _) = greeting.step(arrived, &mut self.sealed);
                    self.unopened += gone;
                }
                Err(error.into())
            }
        }
    }

    /// Opens the next record.
    fn open(&mut self) -> Result<bool, Cut> {
        let Phase::Open(channel) = &mut self.phase else { unreachable!("it was asked") };
        let (start, arrived) = (self.unopened, &mut self.arrived[self.unopened..]);
        let Ok(opened) = channel.open(arrived) else {
            self.say(ALERT, &[FATAL, AlertDescription::BadRecordMac.into()]);
            return Err(Cut::Malformed("a record of TLS's is not the one that was due".to_owned()));
        };
        let Some((kind, content, size)) = opened else { return Ok(false) };
        self.unopened += size;
        self.empty = if kind == DATA && !content.is_empty() { 0 } else { self.empty + 1 };
        match (kind, &arrived[content.clone()]) {
            (ALERT, [_, 0]) => self.has_ended = true,
            _ if self.empty > EMPTY_MAX => {
                self.say(ALERT, &[FATAL, AlertDescription::UnexpectedMessage.into()]);
                return Err(Cut::Malformed("it sends records with nothing in them".to_owned()));
            }
            (DATA, _) => self.content = start + content.start..start + content.end,
            (HANDSHAKE, words) if channel.heed(words).is_some() => {}
            // `user_canceled`: a goodbye follows.
            (ALERT, [_, 90]) => {}
            (ALERT, [_, alert]) => {
                return Err(rustls::Error::AlertReceived(AlertDescription::from(*alert)).into());
            }
            _ => {
                self.say(ALERT, &[FATAL, AlertDescription::UnexpectedMessage.into()]);
                return Err(Cut::Malformed("a message of TLS's has no sense here".to_owned()));
            }
        }
        Ok(true)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("peer", &self.peer).finish_non_exhaustive()
    }
}

/// A connection whose handshake is not done.
enum Greeting {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

/// What rustls has done with what has arrived.
enum Step {
    /// It has more to do.
    Next,
    /// It needs more.
    Waits,
    /// Nothing is left to do.
    Done,
    /// Bytes in the clear came right behind it,
    Content(Vec<u8>),
    /// and their end.
    Ended,
}

impl Greeting {
    fn state(&self) -> &CommonState {
        match self {
            Greeting::Client(connection) => connection,
            Greeting::Server(connection) => connection,
        }
    }

    /// Has rustls do the next thing; and how many bytes of what has arrived it is done with.
    fn step(
        &mut self,
        arrived: &mut [u8],
        sealed: &mut Vec<u8>,
    ) -> (usize, Result<Step, rustls::Error>) {
        let done = match self {
            Greeting::Client(connection) => told(connection.process_tls_records(arrived), sealed),
            Greeting::Server(connection) => told(connection.process_tls_records(arrived), sealed),
        };
        match done {
            // There may already be something to say, and still something to be heard.
            (gone, Ok(Step::Done)) if self.state().is_handshaking() => (gone, Ok(Step::Waits)),
            done => done,
        }
    }

    fn open(self) -> Result<Channel, rustls::Error> {
        let (secrets, kernel) = match self {
            Greeting::Client(connection) => {
                let (secrets, kernel) = connection.dangerous_into_kernel_connection()?;
                (secrets, Kernel::Client(kernel))
            }
            Greeting::Server(connection) => {
                let (secrets, kernel) = connection.dangerous_into_kernel_connection()?;
                (secrets, Kernel::Server(kernel))
            }
        };
        let keys = Keys::of(secrets).ok_or_else(foreign)?;
        Ok(Channel::new(keys, kernel))
    }
}

fn foreign() -> rustls::Error {
    rustls::Error::General("it is none of our ciphers".to_owned())
}

/// Does what rustls wants done; and how many bytes of what has arrived are over with.
fn told<D>(
    status: UnbufferedStatus<'_, '_, D>,
    sealed: &mut Vec<u8>,
) -> (usize, Result<Step, rustls::Error>) {
    let UnbufferedStatus { mut discard, state } = status;
    let step = state.and_then(|state| match state {
        ConnectionState::EncodeTlsData(mut words) => {
            let size = match words.encode(&mut []) {
                Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) => {
                    required_size
                }
                _ => 0,
            };
            let start = sealed.len();
            sealed.resize(start + size, 0);
            let encoded = words.encode(&mut sealed[start..]);
            encoded.map_err(|error| rustls::Error::General(error.to_string()))?;
            Ok(Step::Next)
        }
        ConnectionState::TransmitTlsData(words) => {
            // It will be: nothing goes before it.
            words.done();
            Ok(Step::Next)
        }
        ConnectionState::ReadTraffic(mut traffic) => {
            let mut bytes = Vec::new();
            while let Some(record) = traffic.next_record() {
                let record = record?;
                bytes.extend_from_slice(record.payload);
                discard += record.discard;
            }
            Ok(Step::Content(bytes))
        }
        ConnectionState::PeerClosed | ConnectionState::Closed => Ok(Step::Ended),
        ConnectionState::WriteTraffic(_) => Ok(Step::Done),
        ConnectionState::BlockedHandshake => Ok(Step::Waits),
        other => Err(rustls::Error::General(format!("{other:?} was not agreed upon"))),
    });
    (discard, step)
}

/// An open connection.
struct Channel {
    keys: Keys,
    records: Records,
    /// Records since these keys.
    sealed: u64,
    opened: u64,
    /// Records that our key may seal before it is followed by another.
    lasts: u64,
    /// The peer wants another key to follow.
    is_asked: bool,
    kernel: Kernel,
}

/// Who knows the next keys.
enum Kernel {
    Client(KernelConnection<ClientConnectionData>),
    Server(KernelConnection<ServerConnectionData>),
}

type Secrets = (u64, ConnectionTrafficSecrets);

impl Kernel {
    fn next_outgoing(&mut self) -> Result<Secrets, rustls::Error> {
        match self {
            Kernel::Client(kernel) => kernel.update_tx_secret(),
            Kernel::Server(kernel) => kernel.update_tx_secret(),
        }
    }

    fn next_incoming(&mut self) -> Result<Secrets, rustls::Error> {
        match self {
            Kernel::Client(kernel) => kernel.update_rx_secret(),
            Kernel::Server(kernel) => kernel.update_rx_secret(),
        }
    }
}

impl Channel {
    fn new(keys: Keys, kernel: Kernel) -> Channel {
        let records = Records::new(&keys);
        // One is needed to say that another key follows.
        let lasts = records.most() - 1;
        Channel { keys, records, sealed: 0, opened: 0, lasts, is_asked: false, kernel }
    }

    /// The keys, and which records are the next.
    fn keys(mut self) -> Keys {
        self.keys.advance(self.sealed, self.opened);
        self.keys
    }

    /// Seals what stands behind a head that is open.
    fn seal(&mut self, kind: u8, batch: &mut Vec<u8>, start: usize) {
        let sealed = self.records.seal_kind(kind, self.sealed, batch, start);
        sealed.expect("keys are renewed in time, and records cut to their length");
        self.sealed += 1;
    }

    fn say(&mut self, kind: u8, words: &[u8], batch: &mut Vec<u8>) {
        self.renew_in_time(batch);
        self.put(kind, words, batch);
    }

    fn put(&mut self, kind: u8, words: &[u8], batch: &mut Vec<u8>) {
        let start = batch.len();
        batch.extend_from_slice(&[0; HEAD]);
        batch.extend_from_slice(words);
        self.seal(kind, batch, start);
    }

    fn open(&mut self, arrived: &mut [u8]) -> Result<Option<(u8, Range<usize>, usize)>, Unfit> {
        let opened = self.records.open_kind(self.opened, arrived)?;
        self.opened += u64::from(opened.is_some());
        Ok(opened)
    }

    /// Before a record: has another key follow where ours is used up, or the peer wants that.
    fn renew_in_time(&mut self, batch: &mut Vec<u8>) {
        if !self.is_asked && self.keys.sealed() + self.sealed < self.lasts {
            return;
        }
        self.is_asked = false;
        // The peer may keep its own.
        self.put(HANDSHAKE, &[KEY_UPDATE, 0, 0, 1, 0], batch);
        let next = self.kernel.next_outgoing();
        let next = next.expect("a key follows each (RFC 8446, 7.2)");
        self.change(0, next).expect("ciphers are as before");
    }

    /// Does what TLS has to say; none where that has no sense.
    fn heed(&mut self, mut words: &[u8]) -> Option<()> {
        while let [kind, a, b, c, rest @ ..] = words {
            let size = u32::from_be_bytes([0, *a, *b, *c]) as usize;
            let (message, later) = rest.split_at_checked(size)?;
            words = later;
            match (*kind, message) {
                // What follows is sealed with the new key, so it is in another record.
                (KEY_UPDATE, [asks @ (0 | 1)]) if words.is_empty() => {
                    let next = self.kernel.next_incoming().ok()?;
                    self.change(1, next)?;
                    // With the next record: who asks ever again waits for one answer.
                    self.is_asked |= *asks == 1;
                }
                // Nobody resumes anything here.
                (NEW_SESSION_TICKET, _) => {}
                _ => return None,
            }
        }
        words.is_empty().then_some(())
    }

    /// One way goes on with another key, and counts anew.
    fn change(&mut self, way: usize, next: Secrets) -> Option<()> {
        self.keys.update(way, next)?;
        self.records.update(way, &self.keys);
        let count = if way == 0 { &mut self.sealed } else { &mut self.opened };
        *count = 0;
        Some(())
    }
}
