//! libfabric: networks with memory access of their own, by the provider that an address names.
//!
//! The library is opened at run time, when the first address asks for it, so who does not use it
//! pays nothing and needs nothing. Version 2.0 or newer is needed.
//!
//! A connection has two ways. The *meeting* (`meeting.rs`) is a TCP connection to the address's
//! host and port: hello and answer as everywhere, then each end offers its endpoint's address, and
//! at last one says farewell. Everything else goes by libfabric, between two endpoints that know
//! only each other (`channel.rs`); `docs/wire/ofi.md` has the bytes.
//!
//! | state | waits for | then |
//! |---|---|---|
//! | hello (listener) | a hello | opens an endpoint, answers, offers |
//! | answer (connector) | the answer | opens an endpoint, offers |
//! | offer | the other's offer | knows its address; the connector sends a first piece |
//! | greet | the other's first piece | answers it (listener); is connected |
//!
//! Either may die in every state: its kernel closes the meeting. A hello that takes longer than
//! `HELLO_TIME` of the limits is given up, and meanwhile the listener goes on with the others: with
//! `OFI_GREETINGS_MAX` at once, because each keeps both ends busy. Of a crowd, the others wait at
//! the meeting with their hello unread, and their time begins when it is read.
//!
//! An endpoint is opened at the IP address by which its end has come to the meeting, where the
//! provider finds interfaces by such addresses (tcp, udp, verbs): several networks are told apart.
//! Those whose endpoints have addresses of their own kind (cxi, efa, opx, shm) are asked for none,
//! and the first interface that they name is taken; the environment's variables of the provider
//! say which that is (`FI_CXI_DEVICE_NAME`). That much libfabric's documents say: such hardware was
//! not at hand, and nothing but tcp and shm was ever tried.
//!
//! Providers for machines of one network protect nothing (`Protection::Plain`), and every process
//! of one user may change what the shm provider shares; so use it between processes that trust
//! each other, or better `shm!PATH`, which is our own.

#[allow(missing_docs, reason = "the headers of libfabric say what they are")]
mod abi;
mod channel;
mod datagram;
mod greeting;
mod meeting;
mod remote;
mod sys;
#[cfg(test)]
pub(crate) mod tests;

use super::hello;
use super::host::{resolve, share};
use super::socket::is_to_itself;
use super::{Adapter, Capabilities, Hello, Listener, Peer, Protection, Strategies, Transport};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::emulated::{Active, Copied, Streamed};
use crate::strategy::{Datagram, RemoteCopy, Stream};
use channel::Channel;
use datagram::Messages;
use greeting::Greeting;
use meeting::Meeting;
use muster_base::limits::{BACKLOG, HELLOS_MAX, LISTEN_LOOKUP_TIME, OFI_GREETINGS_MAX};
use remote::Copies;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
use sys::{Failure, Library};

/// Reads any bytes as all that a peer may say by libfabric and beside it, for those who look for
/// bytes that break the decoders.
///
/// # Panics
/// When what was read is written otherwise.
#[cfg(feature = "conformance")]
pub fn read_as_all(bytes: &[u8]) {
    if let Ok(Some((offer, size))) = meeting::Offer::read(bytes)
        && !offer.provider.contains(char::REPLACEMENT_CHARACTER)
    {
        assert_eq!(offer.write(), bytes[..size]);
    }
    if let Ok(Some(sent)) = meeting::read_farewell(bytes) {
        assert_eq!(meeting::farewell(sent)[..], *bytes);
    }
    if let Ok((header, body)) = channel::Header::read(bytes) {
        assert_eq!([&header.write()[..], body].concat(), bytes);
        if let Ok(word) = remote::Word::read(body) {
            assert_eq!(word.write(), body);
        }
    }
}

/// The environment's name for the library's file.
const VARIABLE: &str = "MUSTER_LIBFABRIC";

/// Where the library is looked for otherwise. Its 2.x have kept the first of these names.
const SONAMES: [&str; 2] = ["libfabric.so.1", "libfabric.so.2"];

/// What to do without the library.
const REMEDY: &str = "install libfabric 2.0 or newer (Debian 13: libfabric1), or name its file in \
                      MUSTER_LIBFABRIC";

/// The transport.
pub struct Ofi {
    file: Option<PathBuf>,
    library: OnceLock<std::result::Result<Library, String>>,
}

impl Ofi {
    /// With the system's library, or the one that the environment's `MUSTER_LIBFABRIC` names.
    pub const fn new() -> Ofi {
        Ofi { file: None, library: OnceLock::new() }
    }

    /// With this library.
    pub fn with_library(file: PathBuf) -> Ofi {
        Ofi { file: Some(file), library: OnceLock::new() }
    }

    /// The library, opened when it is asked for first.
    fn library(&self) -> std::result::Result<&Library, &str> {
        let open = || {
            let names = SONAMES.map(OsStr::new);
            let file = self.file.clone().map(PathBuf::into_os_string);
            let library = match file.or_else(|| std::env::var_os(VARIABLE)) {
                Some(file) => Library::open(&[&file]),
                None => Library::open(&names),
            };
            let library =
                library.map_err(|why| format!("there is no libfabric ({why}): {REMEDY}"))?;
            match library.version() {
                (2.., _) => Ok(library),
                (major, minor) => {
                    Err(format!("this libfabric is version {major}.{minor}: {REMEDY}"))
                }
            }
        };
        self.library.get_or_init(open).as_ref().map_err(String::as_str)
    }

    /// The library and the parts of an address, if it has that provider.
    fn check<'a>(&self, address: &'a Address) -> Result<(&Library, &'a str, (&'a str, u16))> {
        let unsupported = |why: String| Error::Unsupported { address: address.clone(), why };
        let Address::Ofi(provider, host, port) = address else {
            return Err(unsupported("it is no libfabric address".to_owned()));
        };
        let library = self.library().map_err(|why| unsupported(why.to_owned()))?;
        let offered = library.offers(provider).map_err(|failure| failure.to_string());
        offered.map_err(|why| unsupported(format!("provider {provider:?}: {why}")))?;
        Ok((library, provider, (host, *port)))
    }

    fn door(&self, at: &Address) -> Result<Door> {
        let (library, provider, place) = self.check(at)?;
        let doing = || format!("listening at {at}");
        let deadline = Deadline::after(LISTEN_LOOKUP_TIME);
        let places = resolve(at, place.0, place.1, deadline)?;
        let listener = TcpListener::bind(&*places).map_err(|error| Error::io(doing(), error))?;
        listener.set_nonblocking(true).map_err(|error| Error::io(doing(), error))?;
        // Again, for a longer queue.
        rustix::net::listen(&listener, BACKLOG).map_err(|errno| Error::io(doing(), errno))?;
        let local = listener.local_addr().map_err(|error| Error::io(doing(), error))?;
        let address = Address::Ofi(provider.to_owned(), place.0.to_owned(), local.port());
        let library = *library;
        let (provider, callers) = (provider.to_owned(), Vec::new());
        Ok(Door { library, provider, address, listener, callers })
    }

    fn reach(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Channel> {
        let (library, provider, place) = self.check(to)?;
        let doing = || format!("connecting to {to}");
        let io = |error: std::io::Error| match error.kind() {
            ErrorKind::TimedOut => late(to, "a connection", deadline),
            ErrorKind::ConnectionRefused => {
                Error::Refused { peer: to.to_string(), why: "nobody listens there".to_owned() }
            }
            _ => Error::io(doing(), error),
        };
        let mut last = ErrorKind::AddrNotAvailable.into();
        let places = resolve(to, place.0, place.1, deadline)?;
        for (tried, address) in places.iter().enumerate() {
            let Some(left) = share(deadline, places.len() - tried).left() else {
                return Err(late(to, "a connection", deadline));
            };
            match TcpStream::connect_timeout(address, left) {
                Ok(stream) if is_to_itself(stream.as_fd()) => {
                    last = ErrorKind::ConnectionRefused.into();
                }
                Ok(stream) => {
                    let mut meeting = Meeting::new(stream).map_err(io)?;
                    meeting.say(&hello::write(hello))?;
                    let mut greeting = Greeting::connector(*library, provider, meeting, hello, to);
                    return finish(&mut greeting, to, deadline);
                }
                Err(error) => last = error,
            }
        }
        Err(io(last))
    }
}

impl Default for Ofi {
    fn default() -> Ofi {
        Ofi::new()
    }
}

impl Transport for Ofi {
    fn scheme(&self) -> &'static str {
        "ofi"
    }

    fn capabilities(&self) -> Capabilities {
        let native = Strategies { datagram: true, remote_copy: true, ..Strategies::default() };
        Capabilities { native, processes: true, machines: true, protection: Protection::Plain }
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        Ok(Box::new(self.door(at)?))
    }

    fn connect(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        hello.check()?;
        Ok(Box::new(Connection(self.reach(to, hello, deadline)?)))
    }
}

/// Waits until a connector's greeting is over.
fn finish(greeting: &mut Greeting, to: &Address, deadline: Deadline) -> Result<Channel> {
    loop {
        if let Some(channel) = greeting.advance()? {
            return Ok(channel);
        }
        let Some(left) = deadline.left() else { return Err(late(to, "its greeting", deadline)) };
        nap(&mut greeting.watch().map(watch).into_iter().collect::<Vec<_>>(), left)?;
    }
}

fn late(to: &Address, what: &str, deadline: Deadline) -> Error {
    deadline.missed("a connector", to, what)
}

fn watch(socket: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(socket, PollFlags::IN)
}

/// Sleeps until one of these can be read; where there is one that only looking moves on (it watches
/// no socket), for a moment.
fn nap(all: &mut [PollFd<'_>], left: Duration) -> Result<()> {
    let left = if all.is_empty() { left.min(greeting::MOMENT) } else { left };
    let time = Timespec::try_from(left).expect("less than a century");
    match poll(all, Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(Error::io("waiting", error)),
    }
}

/// More descriptors than libfabric takes for an endpoint.
const DESCRIPTORS: usize = 16;

/// The error of this process's having no more descriptors, if it has none. A library that lacks the
/// last of several says EIO and has given the others back, so this takes as many.
fn exhausted() -> Option<std::io::Error> {
    let one = || std::fs::File::open("/dev/null");
    let taken: std::io::Result<Vec<_>> = std::iter::repeat_with(one).take(DESCRIPTORS).collect();
    let is_it =
        |error: &std::io::Error| matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE));
    taken.err().filter(is_it)
}

/// Something of libfabric that failed.
fn failed(doing: &str, failure: Failure) -> Error {
    let vague = |source: &std::io::Error| source.raw_os_error() == Some(libc::EIO);
    let source = failure.system().map(|source| match vague(&source) {
        true => exhausted().unwrap_or(source),
        false => source,
    });
    match source {
        Some(source) => Error::io(format!("{doing}: {failure}"), source),
        None => Error::Io { doing: doing.to_owned(), source: std::io::Error::other(failure) },
    }
}

/// Who accepts.
struct Door {
    library: Library,
    provider: String,
    address: Address,
    listener: TcpListener,
    callers: Vec<Greeting>,
}

impl Door {
    /// Takes in who has come, and gets all greetings on; the first that is over.
    fn progress(&mut self) -> Result<Option<Channel>> {
        while self.callers.len() < HELLOS_MAX {
            match self.listener.accept() {
                Ok((stream, from)) => {
                    // A socket that cannot be set up is no caller.
                    if let Ok(meeting) = Meeting::new(stream) {
                        let library = self.library;
                        self.callers.push(Greeting::listener(
                            library,
                            &self.provider,
                            meeting,
                            &self.address,
                            from,
                        ));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // It has gone again.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(Error::io(format!("accepting at {}", self.address), error));
                }
            }
        }
        let mut at = 0;
        while at < self.callers.len() {
            let waits = self.callers[at].is_new() && self.is_busy();
            let caller = &mut self.callers[at];
            match if waits { Ok(None) } else { caller.advance() } {
                Ok(Some(channel)) => {
                    self.callers.remove(at);
                    return Ok(Some(channel));
                }
                Ok(None) if waits || !caller.left().is_zero() => at += 1,
                Err(error @ Error::Exhausted { .. }) => {
                    self.callers.remove(at);
                    return Err(error);
                }
                // It was told why, and is not ours to mourn.
                Ok(None) | Err(_) => drop(self.callers.remove(at)),
            }
        }
        Ok(None)
    }

    /// Whether so many greetings are under way that who comes new waits: who came first is served
    /// first, and who waits at the meeting takes nobody's time.
    fn is_busy(&self) -> bool {
        self.callers.iter().filter(|caller| !caller.is_new()).count() >= OFI_GREETINGS_MAX
    }

    /// Waits for the next connection.
    fn next(&mut self, deadline: Deadline) -> Result<Channel> {
        loop {
            if let Some(channel) = self.progress()? {
                return Ok(channel);
            }
            let Some(mut left) = deadline.left() else {
                return Err(deadline.missed(&self.address, "anybody", "a connection"));
            };
            // Who comes on top of them waits until one is through.
            let has_room = self.callers.len() < HELLOS_MAX;
            let door = has_room.then(|| watch(self.listener.as_fd()));
            let mut all: Vec<PollFd<'_>> = door.into_iter().collect();
            let is_busy = self.is_busy();
            for caller in self.callers.iter().filter(|caller| !(is_busy && caller.is_new())) {
                let socket = caller.watch();
                left = left.min(if socket.is_some() { caller.left() } else { greeting::MOMENT });
                all.extend(socket.map(watch));
            }
            nap(&mut all, left)?;
        }
    }
}

impl Listener for Door {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        Ok(Box::new(Connection(self.next(deadline)?)))
    }
}

/// A connection before it is turned into a strategy.
struct Connection(Channel);

impl Adapter for Connection {
    fn peer(&self) -> &Peer {
        self.0.peer()
    }

    fn hello(&self) -> &Hello {
        self.0.hello()
    }

    fn datagram(self: Box<Self>) -> Result<Box<dyn Datagram>> {
        Ok(Box::new(Messages::new(self.0)))
    }

    fn stream(self: Box<Self>) -> Result<Box<dyn Stream>> {
        Ok(Box::new(Streamed::new(Messages::new(self.0))))
    }

    fn remote_copy(self: Box<Self>) -> Result<Box<dyn RemoteCopy>> {
        if self.0.has_rma() {
            return Ok(Box::new(Copies::new(self.0)));
        }
        Ok(Box::new(Copied::new(Active::new(Messages::new(self.0)))))
    }
}
