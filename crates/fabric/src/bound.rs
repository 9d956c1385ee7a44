//! The inflated interface (EPOS, section 2.3): one interface with all that any network adapter can
//! do, bound by the key table (`keys.toml`) to one realization that may do only a part of it.
//!
//! [`Network`] is that interface. What it can do is cut into capability traits ([`Streams`],
//! [`Datagrams`], [`ActiveMessages`], [`RemoteCopies`]); a realization implements some of them.
//! A program that asks for more than its realization has does not compile, and the message names
//! the key to change. So a program is written once, and rebound (to a smaller realization, to a
//! traced scenario) by a line of a table.

use crate::adapter::{Adapted, Aspect};
use crate::communicator::segment::Piece;
use crate::communicator::{self, Invocation, Link, Port};
use crate::error::Result;
use crate::strategy::{ActiveMessage, Datagram, RemoteCopy, Stream};
use crate::transport::{Adapter, Peer};

include!(concat!(env!("OUT_DIR"), "/bound.rs"));

/// What can realize the network adapter.
pub trait Realization: Send {
    /// Takes over an end of a connection.
    fn take(adapter: Box<dyn Adapter>) -> Self;
    /// Who is at the other end.
    fn peer(&self) -> &Peer;
}

/// A capability trait: a method of the inflated interface that a realization may have.
macro_rules! capability {
    ($trait:ident, $method:ident, $strategy:ident, $message:literal, $note:literal) => {
        #[doc = concat!("It has [`", stringify!($strategy), "`].")]
        #[diagnostic::on_unimplemented(message = $message, note = $note)]
        pub trait $trait: Realization {
            /// The strategy's type.
            type Realized: $strategy;
            /// Turns the connection into it.
            ///
            /// # Errors
            /// When buffers cannot be had.
            fn $method(self) -> Result<Self::Realized>;
        }
    };
}

capability!(
    Streams,
    stream,
    Stream,
    "the realization that `network_adapter` is bound to, `{Self}`, has no streams",
    "set `network_adapter` in the key table (keys.toml, or MUSTER_KEYS) to `full` or `stream`"
);
capability!(
    Datagrams,
    datagram,
    Datagram,
    "the realization that `network_adapter` is bound to, `{Self}`, has no datagrams",
    "set `network_adapter` in the key table (keys.toml, or MUSTER_KEYS) to `full` or `datagram`"
);
capability!(
    ActiveMessages,
    active_message,
    ActiveMessage,
    "the realization that `network_adapter` is bound to, `{Self}`, has no active messages",
    "set `network_adapter` in the key table (keys.toml, or MUSTER_KEYS) to `full` or \
     `active_message`"
);
capability!(
    RemoteCopies,
    remote_copy,
    RemoteCopy,
    "the realization that `network_adapter` is bound to, `{Self}`, has no remote copy",
    "set `network_adapter` in the key table (keys.toml, or MUSTER_KEYS) to `full` or `remote_copy`"
);

/// A realization over the adapter that an address led to, with some of its strategies.
macro_rules! realization {
    ($(#[$doc:meta])* $name:ident: $($trait:ident $method:ident $strategy:ident),*) => {
        $(#[$doc])*
        pub struct $name(Box<dyn Adapter>);

        impl Realization for $name {
            fn take(adapter: Box<dyn Adapter>) -> $name {
                $name(adapter)
            }

            fn peer(&self) -> &Peer {
                self.0.peer()
            }
        }

        $(impl $trait for $name {
            type Realized = Box<dyn $strategy>;

            fn $method(self) -> Result<Box<dyn $strategy>> {
                self.0.$method()
            }
        })*
    };
}

realization!(
    /// All strategies, native or emulated.
    Full:
    Streams stream Stream,
    Datagrams datagram Datagram,
    ActiveMessages active_message ActiveMessage,
    RemoteCopies remote_copy RemoteCopy
);
realization!(
    /// Streams only.
    StreamOnly: Streams stream Stream
);
realization!(
    /// Datagrams only.
    DatagramOnly: Datagrams datagram Datagram
);
realization!(
    /// Active messages only.
    ActiveMessageOnly: ActiveMessages active_message ActiveMessage
);
realization!(
    /// Remote copy only.
    RemoteCopyOnly: RemoteCopies remote_copy RemoteCopy
);

/// A mailbox whose senders are such ends ([`Network::mailbox`]).
pub type Mailbox<N = NetworkAdapter, S = Scenario> =
    communicator::Mailbox<Adapted<<N as Datagrams>::Realized, S>>;

/// A segment whose owners are reached over such ends ([`Network::segment`]).
pub type Segment<N = NetworkAdapter, S = Scenario> =
    communicator::Segment<Adapted<<N as RemoteCopies>::Realized, S>>;

/// The inflated interface of network adapters: an end of a connection that becomes what a program
/// asks for, in the scenario that the key table says.
///
/// (The methods name what they return by a parameter of their own, which is always inferred: with
/// `N::Realized` in its place the compiler would not find the method where a capability is missing,
/// instead of saying which one it is.)
///
/// ```
/// use muster_fabric::bound::Network;
/// use muster_fabric::{Deadline, Result, transport::Adapter};
///
/// fn greet(adapter: Box<dyn Adapter>, deadline: Deadline) -> Result<()> {
///     let network: Network = Network::over(adapter);
///     network.port()?.send(b"hello", deadline)
/// }
/// ```
pub struct Network<N = NetworkAdapter, S = Scenario> {
    realization: N,
    scenario: S,
}

impl<N: Realization, S: Aspect + Default> Network<N, S> {
    /// Over an end of a connection.
    pub fn over(adapter: Box<dyn Adapter>) -> Network<N, S> {
        Network { realization: N::take(adapter), scenario: S::default() }
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        self.realization.peer()
    }

    /// The scenario, for those who keep its trace or profile.
    pub fn scenario(&self) -> &S {
        &self.scenario
    }

    /// The stream strategy.
    ///
    /// # Errors
    /// When buffers cannot be had; so for the others.
    pub fn stream<R: Stream>(self) -> Result<Adapted<R, S>>
    where
        N: Streams<Realized = R>,
    {
        Ok(Adapted::new(self.realization.stream()?, self.scenario))
    }

    /// The datagram strategy, which a [`Mailbox`](crate::communicator::Mailbox) collects.
    ///
    /// # Errors
    /// See [`Network::stream`].
    pub fn datagram<R: Datagram>(self) -> Result<Adapted<R, S>>
    where
        N: Datagrams<Realized = R>,
    {
        Ok(Adapted::new(self.realization.datagram()?, self.scenario))
    }

    /// The active message strategy.
    ///
    /// # Errors
    /// See [`Network::stream`].
    pub fn active_message<R: ActiveMessage>(self) -> Result<Adapted<R, S>>
    where
        N: ActiveMessages<Realized = R>,
    {
        Ok(Adapted::new(self.realization.active_message()?, self.scenario))
    }

    /// The remote copy strategy, of which a [`Segment`](crate::communicator::Segment) consists.
    ///
    /// # Errors
    /// See [`Network::stream`].
    pub fn remote_copy<R: RemoteCopy>(self) -> Result<Adapted<R, S>>
    where
        N: RemoteCopies<Realized = R>,
    {
        Ok(Adapted::new(self.realization.remote_copy()?, self.scenario))
    }

    /// A link.
    ///
    /// # Errors
    /// See [`Network::stream`].
    pub fn link<R: Stream>(self) -> Result<Link<Adapted<R, S>>>
    where
        N: Streams<Realized = R>,
    {
        self.stream().map(Link::new)
    }

    /// A port.
    ///
    /// # Errors
    /// See [`Network::stream`].
    pub fn port<R: Datagram>(self) -> Result<Port<Adapted<R, S>>>
    where
        N: Datagrams<Realized = R>,
    {
        self.datagram().map(Port::new)
    }

    /// A remote object invocation.
    ///
    /// # Errors
    /// See [`Network::stream`].
    pub fn invocation<R: ActiveMessage>(self) -> Result<Invocation<Adapted<R, S>>>
    where
        N: ActiveMessages<Realized = R>,
    {
        self.active_message().map(Invocation::new)
    }

    /// A mailbox for at most so many senders at once: what [`Network::datagram`] gives, admitted
    /// one by one or made of those who connect.
    ///
    /// # Errors
    /// See [`Mailbox::new`](communicator::Mailbox::new).
    pub fn mailbox<R: Datagram>(
        name: impl Into<String>,
        capacity: usize,
    ) -> Result<communicator::Mailbox<Adapted<R, S>>>
    where
        N: Datagrams<Realized = R>,
    {
        communicator::Mailbox::new(name, capacity)
    }

    /// A segment of these pieces, each of so many bytes; those elsewhere are at the other end of
    /// what [`Network::remote_copy`] gives.
    ///
    /// # Errors
    /// See [`Segment::new`](communicator::Segment::new).
    pub fn segment<R: RemoteCopy>(
        size: u64,
        pieces: Vec<Piece<Adapted<R, S>>>,
    ) -> Result<communicator::Segment<Adapted<R, S>>>
    where
        N: RemoteCopies<Realized = R>,
    {
        communicator::Segment::new(size, pieces)
    }
}
