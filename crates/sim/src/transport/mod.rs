//! The transport `sim!NETWORK!NODE`: connections between threads of this process, in virtual time.
//!
//! A network has a clock of its own, which stands still while anyone has something to do. It goes
//! on when somebody waits: to the next message that arrives, whomever it is for. A look that finds
//! nothing takes time too (the overhead of a message), so who polls gets on as well. Where nothing
//! is under way, who waits sleeps until another thread sends, or until its deadline, which is of
//! real time: so no test hangs.
//!
//! A network may have a seed: `sim!NETWORK?seed=NUMBER!NODE`. Then each message is late by what is
//! drawn from the seed for its connection, so a run can be repeated with the same delays. Where one
//! at a time has something to do, all of it is the same then, virtual time included. Among threads
//! that come as they like virtual time depends on that as well; only the engine's runs are the same
//! whatever the machine does ([`crate::engine`]).
//!
//! Datagrams are native, and the other strategies are emulated over them. An end that is dropped is
//! closed: what it sent arrives before that. [`Net::kill`] is the other way to end, and
//! [`Net::cut`] keeps what is under way until it heals. A sender has a window at each receiver,
//! which returns when a message is taken.

mod end;
mod net;
#[cfg(test)]
mod tests;

pub use net::Net;

use end::End;
use muster_fabric::strategy::{Datagram, Stream, emulated};
use muster_fabric::transport::{
    Adapter, Capabilities, Hello, Listener, Peer, Protection, Strategies, Transport, hello,
};
use muster_fabric::{Address, Deadline, Error, Result};
use std::sync::Arc;

/// The transport. Networks come into being when they are first named.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulated;

impl Transport for Simulated {
    fn scheme(&self) -> &'static str {
        "sim"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            native: Strategies { datagram: true, ..Strategies::default() },
            processes: false,
            machines: false,
            protection: Protection::Local,
        }
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        let (net, node) = place(at)?;
        net.listen(node, at)?;
        Ok(Box::new(Door { net, node, address: at.clone() }))
    }

    fn connect(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        hello.check()?;
        let (net, node) = place(to)?;
        // What the listener reads is what was written, as on any other transport.
        let said = hello::read(&hello::write(hello));
        let (hello, _) = said.ok().flatten().expect("a hello that was written is one");
        let number = net.connect(node, to, &hello, deadline)?;
        Ok(Half::boxed(net, number, to.to_string(), hello.name.clone(), hello))
    }
}

fn place(address: &Address) -> Result<(Arc<Net>, u32)> {
    match address {
        Address::Simulated(network, node) if has_good_seed(network) => {
            Ok((Net::named(network), *node))
        }
        Address::Simulated(..) => {
            let why = "what follows the network's name is not ?seed=NUMBER".to_owned();
            Err(Error::Unsupported { address: address.clone(), why })
        }
        other => {
            let why = "the simulated transport has addresses sim!NETWORK!NODE".to_owned();
            Err(Error::Unsupported { address: other.clone(), why })
        }
    }
}

/// Whether a network's name says nothing of a seed, or a number.
fn has_good_seed(network: &str) -> bool {
    match network.split_once('?') {
        Some((_, option)) => {
            option.strip_prefix("seed=").is_some_and(|seed| seed.parse::<u64>().is_ok())
        }
        None => true,
    }
}

/// Who accepts connections.
struct Door {
    net: Arc<Net>,
    node: u32,
    address: Address,
}

impl Listener for Door {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        let (number, hello) = self.net.accept(self.node, &self.address, deadline)?;
        let (peer, me) = (hello.name.clone(), self.address.to_string());
        Ok(Half::boxed(self.net.clone(), number, peer, me, hello))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.net.close_door(self.node);
    }
}

/// One end, not yet turned into a strategy.
struct Half {
    end: End,
    hello: Hello,
}

impl Half {
    fn boxed(net: Arc<Net>, number: usize, peer: String, me: String, hello: Hello) -> Box<Half> {
        let peer = Peer::new(peer, Protection::Local);
        Box::new(Half { end: End::new(net, number, me, peer), hello })
    }
}

impl Adapter for Half {
    fn peer(&self) -> &Peer {
        muster_fabric::strategy::Wait::peer(&self.end)
    }

    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn datagram(self: Box<Self>) -> Result<Box<dyn Datagram>> {
        Ok(Box::new(self.end))
    }

    fn stream(self: Box<Self>) -> Result<Box<dyn Stream>> {
        Ok(Box::new(emulated::Streamed::new(self.end)))
    }
}
