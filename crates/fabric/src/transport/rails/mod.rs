//! Several rails to one end: `rails!(tcp!10.0.0.1!700,tcp!10.1.0.1!700)`.
//!
//! A connection is one connection of the transport below for each rail, all of which say the same
//! hello and then join: the connector says on each a token that it has drawn, and the listener, who
//! listens at all of the addresses, puts together what says the same. A rail that cannot be had in
//! [`muster_base::limits::RAILS_JOIN_TIME`] after the first is left out; one is enough.
//!
//! Programs that use this library get them; a cluster's daemons do not use them so far, for its
//! roster has one address for each host.
//!
//! What goes over them is one stream of bytes with acknowledgements, as in multipath TCP (RFC 8684,
//! sections 3.3 and 3.4): pieces that say where they belong go over whatever rail would deliver
//! them first (`send.rs`, `track.rs`), and are put in order at the other end (`receive.rs`). The
//! other strategies are emulated over that stream, so a message needs no number of its own, and
//! what is kept to be sent again is bounded in bytes, whatever the messages are like.
//!
//! *Ends of rails.* A rail that has ended is named to whoever watches ([`Rails::watched`]) and in
//! the error when it was the last one. What was under way on it goes again over the others, up to
//! the window (`RAILS_WINDOW`): all that the other end has not acknowledged. A rail that delivers
//! nothing for `RAILS_PATIENCE` is named as well, the others take over, and it is used again as
//! soon as it delivers: so a network may be away for as long as its transport keeps the connection.
//! A rail that has ended is not connected again; who wants it back connects anew.
//!
//! *The connection's end.* It ends when its last rail does, without an end said: that is a death.
//! Who drops its end says so, and waits until the other end's kernel has all of it, or the other
//! end has said that it has. It waits for `RAILS_LINGER` after the last sign that more of it has
//! arrived, and for `RAILS_LINGER_MAX` in all. What has not arrived by then may be lost, and so may
//! what is still on its way through a relay in between: after that a rail that is cut is not made
//! up for.
//!
//! *Lanes.* Each rail's hello names the lane, so a connection of the system lane has sockets of its
//! own on each rail, and its messages are short: they go over the quickest rail.
//!
//! Rails are sockets (TCP, or TLS with [`Rails::over`]), all of one transport, so that what one of
//! them proves about the peer is not undone by another. libfabric's providers know rails of their
//! own.

mod connect;
mod connection;
#[cfg(feature = "conformance")]
mod fed;
mod listener;
mod rail;
mod receive;
mod send;
#[cfg(test)]
mod tests;
mod track;
mod window;
pub mod wire;

#[cfg(feature = "conformance")]
pub use fed::read_as_all;

use super::{Adapter, Capabilities, Hello, Listener, Peer, Transport, socket};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use muster_base::limits::RAILS_MAX;
use std::sync::Arc;

/// Who is told, in a sentence, what becomes of rails.
type Watcher = Arc<dyn Fn(&str) + Send + Sync>;

/// The transport.
#[derive(Clone)]
pub struct Rails {
    below: Arc<dyn Transport>,
    watcher: Watcher,
}

impl Default for Rails {
    /// Over TCP.
    fn default() -> Rails {
        Rails::over(Arc::new(socket::Tcp))
    }
}

impl Rails {
    /// Rails that are connections of this transport: TCP or TLS.
    pub fn over(below: Arc<dyn Transport>) -> Rails {
        Rails { below, watcher: Arc::new(|_| {}) }
    }

    /// Tells somebody of rails that end or are silent. It is called where the connection is used,
    /// so it must not wait.
    #[must_use]
    pub fn watched(self, watcher: impl Fn(&str) + Send + Sync + 'static) -> Rails {
        Rails { watcher: Arc::new(watcher), ..self }
    }

    /// The rails of an address.
    fn rails<'a>(&self, address: &'a Address) -> Result<&'a [Address]> {
        let unsupported = |why: String| Error::Unsupported { address: address.clone(), why };
        let Address::Rails(rails) = address else {
            return Err(unsupported("this is the transport of rails!(ADDRESS,...)".to_owned()));
        };
        if !(1..=RAILS_MAX).contains(&rails.len()) {
            return Err(unsupported(format!("a connection has 1 to {RAILS_MAX} rails")));
        }
        let below = self.below.scheme();
        match rails.iter().find(|rail| rail.scheme() != below) {
            Some(rail) => Err(unsupported(format!("rails are of {below} here, not {rail}"))),
            None => Ok(rails),
        }
    }
}

impl Transport for Rails {
    fn scheme(&self) -> &'static str {
        "rails"
    }

    fn capabilities(&self) -> Capabilities {
        self.below.capabilities()
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        let doors = self.rails(at)?.iter().map(|rail| self.below.listen(rail));
        let doors = doors.collect::<Result<Vec<_>>>()?;
        if doors.iter().any(|door| door.descriptors().is_empty()) {
            let why = format!("a rail is a socket, and {} has none", self.below.scheme());
            return Err(Error::Unsupported { address: at.clone(), why });
        }
        Ok(Box::new(listener::Doors::new(doors, self.watcher.clone())))
    }

    fn connect(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        hello.check()?;
        let rails = self.rails(to)?;
        connect::connect(&self.below, (to, rails), hello, deadline, &self.watcher)
    }
}

/// What is known of the peer of several rails, or why they cannot have one peer.
fn one_peer(name: &str, peers: &[&Peer]) -> std::result::Result<Peer, String> {
    let [first, others @ ..] = peers else { panic!("a connection has a rail") };
    if let Some(other) = others.iter().find(|other| other.member != first.member) {
        let name = |peer: &Peer| {
            let member = peer.member.as_ref();
            member.map_or_else(|| "nobody".to_owned(), |member| member.name.clone())
        };
        return Err(format!("its rails end at {} and {}", name(first), name(other)));
    }
    let is_here = peers.iter().all(|peer| peer.is_here);
    Ok(Peer { name: name.to_owned(), is_here, ..(*first).clone() })
}
