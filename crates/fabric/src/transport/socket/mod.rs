//! Sockets: TCP (`tcp!HOST!PORT`), TCP with TLS (`tls!HOST!PORT`) and Unix (`unix!PATH`).
//!
//! A connection is one socket and belongs to one lane. Its life: connect, hello, answer
//! (`hello.rs`), then the strategy's bytes, then the end. A stream is the socket itself; the other
//! strategies are emulated over it.
//!
//! *Ends.* An orderly end of a stream is the end of its bytes, as every socket says it; when a
//! process is killed its kernel says the same, so who must tell them apart uses messages, which
//! end with a goodbye. A reset, or an end without goodbye, is evidence of death. A machine that
//! vanishes says nothing: an idle connection is probed and ends within [`option::SILENCE`], and so
//! does one of the system lane while bytes wait for it. On the bulk lane bytes may wait for a peer
//! that is merely stopped (a debugger, another job's turn), which the kernel does not tell from
//! one that vanished: whoever hears the node's heartbeat does, and drops the connection.
//!
//! *Lanes.* A message of the system lane never stands behind others: it has its own socket, with
//! little room to queue in, and its packets ask for low delay, which puts them into the first band
//! of the network card's queue.
//!
//! *Waiting.* A waiter looks for a moment while that has been worth it, then sleeps: in its read,
//! which is one call, and after a while in poll(2).
//!
//! *Protection.* A Unix socket's bytes stay in the kernel, which vouches for the peer's user and
//! process. TCP is plain. With TLS (`tls.rs`) a thread of this process moves records between the
//! TCP socket and one end of a pair of Unix sockets (`pump.rs`, `joint.rs`); the other end is the
//! connection that everything above sees, hello included, so nothing above knows of it. The keys
//! could go to a kernel that does TLS (`docs/decisions/protection.md` says why they do not), in
//! [`pump::Tunnel::enter`], where a connection changes hands anyway. Who wants no thread in between
//! takes the TCP socket and the session instead (`Stream::bare`): 9P goes on with both
//! (`secured.rs`), ranks with the keys alone (`records.rs`).

mod connect;
mod connection;
#[cfg(feature = "conformance")]
mod fed;
mod identity;
mod joint;
mod listener;
mod option;
mod pump;
mod records;
mod secured;
mod session;
mod sys;
#[cfg(test)]
mod tests;
mod tls;

use super::{Capabilities, Hello, Listener, Protection, Strategies, Transport};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};

pub use connection::Socket;
#[cfg(feature = "conformance")]
pub use fed::read_as_all;
pub use identity::{Identity, Member, Members, PublicKey};
pub use option::SILENCE;
pub use records::{EXTRA, HEAD, Keys, Records, Unfit};
pub use secured::Secured;
pub use session::Session;
pub use sys::unanswered;
pub use tls::Tls;

pub(crate) use connection::is_ready;
pub(super) use connection::timespec;
pub(crate) use option::{is_to_itself, keep_alive, widen};

use connect::Line;

/// Listens at a door that is open to who says no hello as well: its [`Hello`] names no service, and
/// not a byte of it has been read.
///
/// # Errors
/// As [`Transport::listen`].
pub fn listen_open(at: &Address) -> Result<Box<dyn Listener>> {
    let door = match at {
        Address::Tcp(host, port) => listener::Door::tcp(host, *port)?,
        Address::Unix(path) => listener::Door::unix(path)?,
        _ => return Err(foreign(at)),
    };
    Ok(Box::new(door.open()))
}

/// TCP.
#[derive(Clone, Copy, Debug)]
pub struct Tcp;

/// Unix sockets.
#[derive(Clone, Copy, Debug)]
pub struct Unix;

fn capabilities(machines: bool, protection: Protection) -> Capabilities {
    let native = Strategies { stream: true, ..Strategies::default() };
    Capabilities { native, processes: true, machines, protection }
}

fn foreign(address: &Address) -> Error {
    Error::Unsupported { address: address.clone(), why: "it is no socket's address".to_owned() }
}

impl Transport for Tcp {
    fn scheme(&self) -> &'static str {
        "tcp"
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(true, Protection::Plain)
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        let Address::Tcp(host, port) = at else { return Err(foreign(at)) };
        Ok(Box::new(listener::Door::tcp(host, *port)?))
    }

    fn connect(
        &self,
        to: &Address,
        hello: &Hello,
        deadline: Deadline,
    ) -> Result<Box<dyn super::Adapter>> {
        hello.check()?;
        let Address::Tcp(host, port) = to else { return Err(foreign(to)) };
        let socket = connect::tcp(to, host, *port, hello, deadline)?;
        let line = Line::new(socket, Protection::Plain);
        Ok(Box::new(connect::greet(line, to, hello, deadline)?))
    }
}

impl Transport for Unix {
    fn scheme(&self) -> &'static str {
        "unix"
    }

    fn capabilities(&self) -> Capabilities {
        capabilities(false, Protection::Local)
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        let Address::Unix(path) = at else { return Err(foreign(at)) };
        Ok(Box::new(listener::Door::unix(path)?))
    }

    fn connect(
        &self,
        to: &Address,
        hello: &Hello,
        deadline: Deadline,
    ) -> Result<Box<dyn super::Adapter>> {
        hello.check()?;
        let Address::Unix(path) = to else { return Err(foreign(to)) };
        let socket = connect::unix(to, path, hello, deadline)?;
        let line = Line::new(socket, Protection::Local);
        Ok(Box::new(connect::greet(line, to, hello, deadline)?))
    }
}
