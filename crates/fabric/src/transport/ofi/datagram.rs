//! Messages over pieces: a short one is one piece, written and read in place; a long one goes
//! through a buffer on either side, as many pieces at once as there are credits.

use super::channel::{Channel, Kind, PIECE};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{Datagram, Ready, Wait};
use crate::transport::Peer;
use muster_base::limits::{OFI_LINGER, OFI_MESSAGE_MAX};
use std::io::IoSlice;
use std::ops::Range;

/// Messages to and from one peer.
pub struct Messages {
    channel: Channel,
    /// A long message on its way out, and what of it has not left.
    outgoing: Box<[u8]>,
    rest: Range<usize>,
    /// Not all had left when that was asked for last: who waits then waits for it.
    is_flushing: bool,
    /// A long message that is arriving: its length, and how much of it has come.
    incoming: Box<[u8]>,
    size: usize,
    have: usize,
}

impl Messages {
    /// Over a connection.
    pub fn new(channel: Channel) -> Messages {
        let buffer = || vec![0; OFI_MESSAGE_MAX].into_boxed_slice();
        let (outgoing, incoming) = (buffer(), buffer());
        let is_flushing = false;
        Messages { channel, outgoing, rest: 0..0, is_flushing, incoming, size: 0, have: 0 }
    }

    fn progress(&mut self) -> Result<()> {
        self.channel.progress()?;
        while !self.rest.is_empty() && self.channel.has_room() {
            let start = self.rest.start;
            let part = &self.outgoing[start..self.rest.end.min(start + PIECE)];
            let (kind, number) = match start {
                0 => (Kind::First, u32::try_from(self.rest.end).expect("it was limited")),
                _ => (Kind::More, 0),
            };
            let fill = |piece: &mut [u8]| {
                piece[..part.len()].copy_from_slice(part);
                part.len()
            };
            if !self.channel.send(kind, number, fill)? {
                break;
            }
            self.rest.start += part.len();
        }
        Ok(())
    }

    /// Whether there is room for a message, or nothing left to wait for by who flushes.
    fn is_ready_to_send(&self) -> bool {
        match self.is_flushing {
            true => self.is_flushed(),
            false => self.rest.is_empty() && self.channel.has_room(),
        }
    }

    fn is_flushed(&self) -> bool {
        self.rest.is_empty() && self.channel.is_flushed()
    }

    /// As [`Channel::nothing`]; but who goes in the middle of a message has not closed anything.
    fn nothing(&self) -> Error {
        match self.channel.nothing() {
            Error::Closed { peer } if self.have < self.size => {
                Error::Dead { peer, evidence: "it has gone in the middle of a message".to_owned() }
            }
            error => error,
        }
    }

    /// Takes the first piece in; true when it was, or completed, a message that `take` has seen.
    fn piece(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let Some(piece) = self.channel.first() else { return Err(self.nothing()) };
        let number = piece.header.number as usize;
        let body = self.channel.body(piece);
        let is_arriving = self.have < self.size;
        let what = match piece.header.kind {
            Kind::First if is_arriving || number > OFI_MESSAGE_MAX => {
                Some(format!("a message of {number} bytes where none can begin"))
            }
            Kind::First if body.len() != number.min(PIECE) => {
                Some(format!("{} of {number} bytes at once", body.len()))
            }
            Kind::First if number <= PIECE => {
                take(body);
                self.channel.release();
                return Ok(true);
            }
            Kind::First => {
                (self.size, self.have) = (number, 0);
                None
            }
            Kind::More if !is_arriving || body.len() != PIECE.min(self.size - self.have) => {
                Some(format!("{} bytes more where none can be", body.len()))
            }
            Kind::More => None,
            Kind::Credit | Kind::Region => Some("it uses another strategy".to_owned()),
        };
        if let Some(what) = what {
            return Err(self.channel.malformed(what));
        }
        self.incoming[self.have..self.have + body.len()].copy_from_slice(body);
        self.have += body.len();
        self.channel.release();
        let is_whole = self.have == self.size;
        if is_whole {
            take(&self.incoming[..self.size]);
        }
        Ok(is_whole)
    }
}

impl Wait for Messages {
    fn peer(&self) -> &Peer {
        self.channel.peer()
    }

    fn me(&self) -> &str {
        self.channel.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        let what = match ready {
            Ready::Receive => "a message",
            Ready::Send => "room for a message",
        };
        let mut patience = self.channel.patience(deadline, what);
        loop {
            self.progress()?;
            let is_ready = match ready {
                Ready::Receive => self.channel.first().is_some(),
                Ready::Send => self.is_ready_to_send(),
            };
            if is_ready {
                return Ok(());
            }
            if self.channel.has_ended() {
                return Err(self.nothing());
            }
            self.channel.pause(&mut patience)?;
        }
    }
}

impl Datagram for Messages {
    fn limit(&self) -> usize {
        OFI_MESSAGE_MAX
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        if size > OFI_MESSAGE_MAX {
            return Err(Error::TooLarge { what: "a message", size, limit: OFI_MESSAGE_MAX });
        }
        self.progress()?;
        self.is_flushing = false;
        if self.rest.is_empty() && size > PIECE && self.channel.has_room() {
            fill(&mut self.outgoing[..size]);
            self.rest = 0..size;
            return self.progress();
        }
        let number = u32::try_from(size).expect("it was limited");
        let is_sent = self.rest.is_empty()
            && size <= PIECE
            && self.channel.send(Kind::First, number, |piece| {
                fill(&mut piece[..size]);
                size
            })?;
        if is_sent { Ok(()) } else { Err(self.nothing()) }
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.progress()?;
        while !self.piece(take)? {}
        Ok(())
    }

    fn send(&mut self, parts: &[IoSlice<'_>], deadline: Deadline) -> Result<()> {
        loop {
            match self.try_send(parts) {
                Err(Error::WouldBlock) => self.wait(Ready::Send, deadline)?,
                done => break done?,
            }
        }
        // Who sends and then does something else, or ends, does not move the rest on.
        let mut patience = self.channel.patience(deadline, "room for a message");
        while !self.rest.is_empty() {
            if self.channel.has_ended() {
                return Err(self.nothing());
            }
            match self.channel.pause(&mut patience) {
                Err(Error::Deadline { .. }) => break,
                paused => paused?,
            }
            self.progress()?;
        }
        Ok(())
    }

    fn try_flush(&mut self) -> Result<bool> {
        self.progress()?;
        self.is_flushing = !self.is_flushed();
        if self.is_flushing && self.channel.has_ended() {
            return Err(self.nothing());
        }
        Ok(!self.is_flushing)
    }
}

impl Drop for Messages {
    /// What of a long message waits for credits leaves before the farewell.
    fn drop(&mut self) {
        let mut patience = self.channel.patience(Deadline::after(OFI_LINGER), "the end");
        while !self.rest.is_empty() && !self.channel.has_ended() {
            if self.progress().and_then(|()| self.channel.pause(&mut patience)).is_err() {
                break;
            }
        }
        if !self.rest.is_empty() {
            self.channel.cut();
        }
    }
}
