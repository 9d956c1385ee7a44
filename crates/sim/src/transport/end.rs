//! One end of a connection: messages, and waiting for them.

use super::net::Net;
use muster_base::limits::SIMULATED_MESSAGE_MAX;
use muster_fabric::strategy::{Datagram, Ready, Wait};
use muster_fabric::transport::Peer;
use muster_fabric::{Deadline, Error, Result};
use std::sync::Arc;

/// The end.
pub struct End {
    net: Arc<Net>,
    number: usize,
    me: String,
    peer: Peer,
}

impl End {
    pub fn new(net: Arc<Net>, number: usize, me: String, peer: Peer) -> End {
        End { net, number, me, peer }
    }
}

impl Wait for End {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn me(&self) -> &str {
        &self.me
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        if self.net.wait(self.number, ready, deadline) {
            return Ok(());
        }
        let what = match ready {
            Ready::Receive => "a message",
            Ready::Send => "room for a message",
        };
        Err(deadline.missed(&self.me, &self.peer.name, what))
    }
}

impl Datagram for End {
    fn limit(&self) -> usize {
        SIMULATED_MESSAGE_MAX
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        if size > SIMULATED_MESSAGE_MAX {
            let limit = SIMULATED_MESSAGE_MAX;
            return Err(Error::TooLarge { what: "a message", size, limit });
        }
        let mut message = self.net.room(self.number, size, &self.peer.name)?;
        // Nobody else sends from this end, so the room is still there afterwards.
        fill(&mut message);
        self.net.send(self.number, message);
        Ok(())
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let message = self.net.take(self.number, &self.peer.name)?;
        take(&message);
        self.net.recycle(message);
        Ok(())
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.net.close(self.number);
    }
}
