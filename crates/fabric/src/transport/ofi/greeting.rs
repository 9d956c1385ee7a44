//! How two ends become connected, one step at a time, so a listener can have many callers.

use super::channel::{Channel, SLOTS};
use super::meeting::{Meeting, Offer};
use super::sys::{Endpoint, Library};
use super::{failed, hello};
use crate::address::Address;
use crate::error::{Error, Result};
use crate::transport::hello::Refusal;
use crate::transport::{Hello, Peer, Protection};
use muster_base::limits::HELLO_TIME;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

/// How long to wait between two looks at a provider.
pub const MOMENT: Duration = Duration::from_millis(1);

/// How addresses of the shm provider begin.
const SHM: &[u8] = b"fi_shm://";

/// What is waited for; the table in `mod.rs` says what then.
enum State {
    Hello(Meeting),
    Answer(Meeting, Hello),
    Offer(Meeting, Hello, Box<Endpoint>),
    Greet(Box<Channel>),
    Over,
}

/// A connection that is being made.
pub struct Greeting {
    library: Library,
    provider: String,
    /// This end's name.
    who: String,
    /// The other one's name, until it says one.
    name: String,
    since: Instant,
    /// Its end sends the first piece: the connector's.
    begins: bool,
    state: State,
}

impl Greeting {
    /// Of somebody who has come.
    pub fn listener(
        library: Library,
        provider: &str,
        meeting: Meeting,
        at: &Address,
        from: SocketAddr,
    ) -> Greeting {
        let (provider, since) = (provider.to_owned(), Instant::now());
        let (who, name) = (at.to_string(), from.to_string());
        let state = State::Hello(meeting);
        Greeting { library, provider, who, name, since, begins: false, state }
    }

    /// Of us, who have said hello.
    pub fn connector(
        library: Library,
        provider: &str,
        meeting: Meeting,
        hello: &Hello,
        to: &Address,
    ) -> Greeting {
        let (provider, since) = (provider.to_owned(), Instant::now());
        let state = State::Answer(meeting, hello.clone());
        let (who, name) = (hello.name.clone(), to.to_string());
        Greeting { library, provider, who, name, since, begins: true, state }
    }

    /// How long it may still take.
    pub fn left(&self) -> Duration {
        HELLO_TIME.saturating_sub(self.since.elapsed())
    }

    /// Whether its hello has not been read: so far it costs next to nothing.
    pub fn is_new(&self) -> bool {
        matches!(self.state, State::Hello(_))
    }

    /// The socket that tells when to go on; none if only looking tells.
    pub fn watch(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Hello(meeting) | State::Answer(meeting, _) | State::Offer(meeting, ..) => {
                Some(meeting.socket())
            }
            State::Greet(_) | State::Over => None,
        }
    }

    /// Goes as far as possible; the connection when it is made.
    ///
    /// # Errors
    /// Why there will be none. The other one was told, as far as it listens.
    pub fn advance(&mut self) -> Result<Option<Channel>> {
        loop {
            let was_closed = match &mut self.state {
                State::Hello(meeting) | State::Answer(meeting, _) | State::Offer(meeting, ..) => {
                    meeting.listen()
                }
                State::Greet(_) | State::Over => false,
            };
            let (next, has_moved) = match std::mem::replace(&mut self.state, State::Over) {
                State::Hello(meeting) => self.hello(meeting)?,
                State::Answer(meeting, hello) => self.answer(meeting, hello)?,
                State::Offer(meeting, hello, endpoint) => self.offer(meeting, hello, endpoint)?,
                State::Greet(mut channel) => match channel.greet(self.begins)? {
                    true => return Ok(Some(*channel)),
                    false => (State::Greet(channel), false),
                },
                State::Over => panic!("this greeting is over"),
            };
            self.state = next;
            if !has_moved {
                let evidence = "it ended the connection before it was made".to_owned();
                let peer = self.name.clone();
                return if was_closed { Err(Error::Dead { peer, evidence }) } else { Ok(None) };
            }
        }
    }

    fn hello(&mut self, mut meeting: Meeting) -> Result<(State, bool)> {
        let (hello, size) = match hello::read(meeting.heard()) {
            Ok(Some(read)) => read,
            Ok(None) => return Ok((State::Hello(meeting), false)),
            Err(refusal) => {
                meeting.say(&refusal.answer())?;
                return Err(refusal.error(&self.name));
            }
        };
        if meeting.heard().len() > size {
            let what = "it goes on before it has the answer".to_owned();
            let refusal = Refusal::Malformed(what);
            meeting.say(&refusal.answer())?;
            return Err(refusal.error(&self.name));
        }
        meeting.used(size);
        self.name.clone_from(&hello.name);
        // Until here it may have waited for us.
        self.since = Instant::now();
        let endpoint = match self.open(&meeting) {
            Ok(endpoint) => endpoint,
            // The caller may try again, and the listener's owner is told.
            Err(error @ Error::Exhausted { .. }) => return Err(error),
            Err(error) => {
                meeting.say(&Refusal::Denied(error.to_string()).answer())?;
                return Err(error);
            }
        };
        meeting.say(&hello::welcome())?;
        meeting.say(&self.own_offer(&endpoint).write())?;
        Ok((State::Offer(meeting, hello, endpoint), true))
    }

    fn answer(&mut self, mut meeting: Meeting, hello: Hello) -> Result<(State, bool)> {
        match hello::read_answer(meeting.heard()) {
            Ok(Some(size)) => meeting.used(size),
            Ok(None) => return Ok((State::Answer(meeting, hello), false)),
            Err(refusal) => return Err(refusal.error(&self.name)),
        }
        let endpoint = self.open(&meeting)?;
        meeting.say(&self.own_offer(&endpoint).write())?;
        Ok((State::Offer(meeting, hello, endpoint), true))
    }

    fn offer(
        &mut self,
        mut meeting: Meeting,
        hello: Hello,
        mut endpoint: Box<Endpoint>,
    ) -> Result<(State, bool)> {
        let malformed = |what| Error::Malformed { peer: self.name.clone(), what };
        let (offer, size) = match Offer::read(meeting.heard()).map_err(malformed)? {
            Some(read) => read,
            None => return Ok((State::Offer(meeting, hello, endpoint), false)),
        };
        meeting.used(size);
        if offer.provider != self.provider {
            let why = format!("it uses provider {:?}, here is {:?}", offer.provider, self.provider);
            return Err(Error::Refused { peer: self.name.clone(), why });
        }
        check_name(endpoint.name(), &offer.name).map_err(malformed)?;
        endpoint.connect(&offer.name).map_err(|failure| failed("connecting", failure))?;
        let is_here = meeting.is_here();
        let peer = Peer { is_here, ..Peer::new(self.name.clone(), Protection::Plain) };
        let channel = Channel::new(*endpoint, offer.rma, meeting, self.who.clone(), peer, hello);
        Ok((State::Greet(Box::new(channel)), true))
    }

    /// Opens an endpoint at this end of a meeting: that is the network that leads to the peer.
    fn open(&self, meeting: &Meeting) -> Result<Box<Endpoint>> {
        let host = meeting.host()?.to_string();
        let endpoint = Endpoint::open(&self.library, &self.provider, &host, SLOTS);
        endpoint.map(Box::new).map_err(|failure| failed("opening an endpoint", failure))
    }

    fn own_offer(&self, endpoint: &Endpoint) -> Offer {
        let (provider, name) = (self.provider.clone(), endpoint.name().to_vec());
        Offer { provider, rma: endpoint.has_rma(), name }
    }
}

/// Whether a peer's address is one that our provider may be given: it looks no further itself.
fn check_name(ours: &[u8], theirs: &[u8]) -> std::result::Result<(), String> {
    if !ours.starts_with(SHM) {
        let is_alike = theirs.len() == ours.len();
        let what = || format!("an address of {} bytes, ours has {}", theirs.len(), ours.len());
        return if is_alike { Ok(()) } else { Err(what()) };
    }
    let name = theirs.strip_prefix(SHM).and_then(|name| name.strip_suffix(b"\0"));
    let name = name.and_then(|name| std::str::from_utf8(name).ok());
    let name = name.filter(|name| !name.contains(['/', '\0'])).ok_or("no shm address")?;
    // The provider believes what is written in it.
    match std::fs::metadata(format!("/dev/shm/{name}")) {
        Ok(segment) if segment.uid() == rustix::process::geteuid().as_raw() => Ok(()),
        Ok(_) => Err(format!("segment {name:?} of another user")),
        Err(error) => Err(format!("segment {name:?}: {error}")),
    }
}
