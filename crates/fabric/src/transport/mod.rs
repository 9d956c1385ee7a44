//! Transports: ways to reach an endpoint, behind one trait and chosen by address.
//!
//! A connection has two ends and belongs to one [`Lane`]. To connect is to say who one is and for
//! which *service* one comes; who listens knows its peer before the first message. So who connects
//! is answered only while the other side is in [`Listener::accept`], in another thread or process
//! (but for `proc!`, whose queue is in this one):
//!
//! ```
//! use muster_fabric::communicator::Port;
//! use muster_fabric::transport::{self, Hello, Lane};
//! use muster_fabric::{Address, Deadline, Result};
//! use std::{thread, time::Duration};
//!
//! # fn main() -> Result<()> {
//! let soon = Deadline::after(Duration::from_secs(10));
//! let any: Address = "tcp!127.0.0.1!0".parse()?;
//! let transport = transport::of(&any)?;
//! let mut listener = transport.listen(&any)?;
//! let to = listener.address().clone();
//! let there = thread::spawn(move || -> Result<Vec<u8>> {
//!     let end = listener.accept(soon)?;
//!     assert_eq!((&*end.hello().name, &*end.hello().service), ("me", "greetings"));
//!     Port::new(end.datagram()?).receive(soon, |message| message.to_vec())
//! });
//! let hello = Hello { name: "me".into(), service: "greetings".into(), lane: Lane::Bulk };
//! let mut port = Port::new(transport.connect(&to, &hello, soon)?.datagram()?);
//! port.send(b"good morning", soon)?;
//! port.flush(soon)?;
//! assert_eq!(there.join().expect("it does not panic")?, b"good morning");
//! # Ok(())
//! # }
//! ```

pub mod hello;
pub mod host;
pub(crate) mod name;
pub mod ofi;
pub mod process;
pub mod rails;
pub mod shared;
pub mod socket;

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::limits::HELLO_TEXT_MAX;
use crate::strategy::emulated::{Active, Copied};
use crate::strategy::{ActiveMessage, Datagram, RemoteCopy, Stream};
use socket::Member;
use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::LazyLock;

/// Traffic that must not wait for other traffic has a lane of its own, down to the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Heartbeats, primitives, control.
    System,
    /// Everything else.
    Bulk,
}

/// Who protects the bytes of a connection on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protection {
    /// They do not leave this machine; the kernel keeps other users away from them.
    Local,
    /// Nobody.
    Plain,
    /// TLS in this process.
    Tls,
}

/// The other end of a connection, as far as it is known and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Its name: what it said when it connected, or the address connected to.
    pub name: String,
    /// The user it runs as, where the kernel vouches for it.
    pub uid: Option<u32>,
    /// Its process, where the kernel vouches for it.
    pub pid: Option<u32>,
    /// How the connection is protected.
    pub protection: Protection,
    /// What goes between the two does not leave this machine.
    pub is_here: bool,
    /// Whose key it has proved to have, where it was asked for one.
    pub member: Option<Member>,
}

impl Peer {
    /// One of whom only this is known.
    pub fn new(name: String, protection: Protection) -> Peer {
        let is_here = protection == Protection::Local;
        Peer { name, uid: None, pid: None, protection, is_here, member: None }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What one says when one connects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hello {
    /// Who connects, for people: of more than [`HELLO_TEXT_MAX`] bytes the beginning is said, and
    /// no control characters are.
    pub name: String,
    /// What for; the listener knows its services by name. That has at most [`HELLO_TEXT_MAX`] bytes
    /// and no control characters.
    pub service: String,
    /// For which traffic.
    pub lane: Lane,
}

impl Hello {
    /// Says whether it can be said: [`Transport::connect`] does so before anything is opened.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a long service; [`Error::Refused`] for one with control characters,
    /// without which it would be another.
    pub fn check(&self) -> Result<()> {
        let (service, size) = (&self.service, self.service.len());
        if size > HELLO_TEXT_MAX {
            let what = "the name of a service";
            return Err(Error::TooLarge { what, size, limit: HELLO_TEXT_MAX });
        }
        if service.contains(char::is_control) {
            let why = format!("the name of a service has control characters: {service:?}");
            return Err(Error::Refused { peer: "the fabric".to_owned(), why });
        }
        Ok(())
    }
}

/// The four strategies, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "crate::strategy says what they are")]
pub struct Strategies {
    pub datagram: bool,
    pub stream: bool,
    pub active_message: bool,
    pub remote_copy: bool,
}

/// What a transport can do by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Strategies that it realizes; the others are emulated over these.
    pub native: Strategies,
    /// It reaches other processes.
    pub processes: bool,
    /// It reaches other machines.
    pub machines: bool,
    /// How its bytes are protected.
    pub protection: Protection,
}

/// One end of a connection: turned into the strategy that is wanted, native or emulated. Both ends
/// must be turned into the same.
pub trait Adapter: Send {
    /// Who is at the other end.
    fn peer(&self) -> &Peer;
    /// What the peer came for, or what one came for.
    fn hello(&self) -> &Hello;
    /// Messages with boundaries.
    ///
    /// # Errors
    /// When buffers cannot be had; so for the others.
    fn datagram(self: Box<Self>) -> Result<Box<dyn Datagram>>;
    /// Bytes without boundaries.
    ///
    /// # Errors
    /// See [`Adapter::datagram`].
    fn stream(self: Box<Self>) -> Result<Box<dyn Stream>>;
    /// Messages that name their handler; where a transport does not say otherwise, over datagrams.
    ///
    /// # Errors
    /// See [`Adapter::datagram`].
    fn active_message(self: Box<Self>) -> Result<Box<dyn ActiveMessage>> {
        Ok(Box::new(Active::new(self.datagram()?)))
    }
    /// Put and get; where a transport does not say otherwise, over datagrams.
    ///
    /// # Errors
    /// See [`Adapter::datagram`].
    fn remote_copy(self: Box<Self>) -> Result<Box<dyn RemoteCopy>> {
        Ok(Box::new(Copied::new(Active::new(self.datagram()?))))
    }
}

/// Who accepts connections. Dropping it ends that; what was accepted lives on.
pub trait Listener: Send {
    /// Where it is reached, with the port that the system chose where none was asked for.
    fn address(&self) -> &Address;

    /// Waits for the next peer.
    ///
    /// # Errors
    /// [`crate::Error::Deadline`]; [`crate::Error::Exhausted`], after which it goes on. A peer that
    /// does not say a proper hello is not an error: it is sent away, and told why.
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>>;

    /// For those who listen at several places at once: poll(2) reports one of these readable when
    /// a look ([`Listener::accept`], with a deadline that has passed) may find something. None
    /// where only a wait tells.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    /// Nobody has come whose time runs here: until poll(2) reports a descriptor, no look finds
    /// anything.
    fn is_idle(&self) -> bool {
        false
    }
}

/// A way to reach endpoints.
pub trait Transport: Send + Sync {
    /// The scheme of its addresses.
    fn scheme(&self) -> &'static str;

    /// What it can do by itself.
    fn capabilities(&self) -> Capabilities;

    /// Listens for connections.
    ///
    /// # Errors
    /// [`crate::Error::Io`] where somebody listens ([`crate::Error::is_taken`]),
    /// [`crate::Error::Unsupported`] and what the system says.
    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>>;

    /// Connects.
    ///
    /// # Errors
    /// [`crate::Error::Refused`], [`crate::Error::Version`], [`crate::Error::Deadline`] and others;
    /// those of [`Hello::check`].
    fn connect(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Box<dyn Adapter>>;
}

/// All transports of this crate.
pub fn all() -> &'static [&'static dyn Transport] {
    static OFI: ofi::Ofi = ofi::Ofi::new();
    static RAILS: LazyLock<rails::Rails> = LazyLock::new(rails::Rails::default);
    static SHARED: LazyLock<shared::Shared> = LazyLock::new(shared::Shared::default);
    static PROCESS: LazyLock<process::Process> = LazyLock::new(process::Process::default);
    static ALL: LazyLock<[&dyn Transport; 6]> =
        LazyLock::new(|| [&*PROCESS, &*SHARED, &socket::Unix, &socket::Tcp, &OFI, &*RAILS]);
    &*ALL
}

/// The transport of an address.
///
/// # Errors
/// [`Error::Unsupported`] where this crate has none; so for simulated networks, which hold theirs,
/// and for TLS, which needs keys ([`socket::Tls::new`]).
pub fn of(address: &Address) -> Result<&'static dyn Transport> {
    let scheme = address.scheme();
    all().iter().copied().find(|transport| transport.scheme() == scheme).ok_or_else(|| {
        let why = match address {
            Address::Tls(..) => "it needs a key and a membership list".to_owned(),
            _ => format!("no transport here is named {scheme}"),
        };
        Error::Unsupported { address: address.clone(), why }
    })
}
