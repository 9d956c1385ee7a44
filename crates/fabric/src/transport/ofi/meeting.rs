//! The TCP connection at which two ends meet, next to libfabric's own way: there they say hello,
//! offer each other their endpoints' addresses, and say farewell. It is evidence of life: the
//! kernel closes it when a process ends, however that happens, and asks the other machine's while
//! nothing is said, so that a machine that has stopped is known in 5 s.

use super::sys::NAME_MAX;
use crate::error::{Error, Result};
use crate::transport::hello::{ANSWER_MAX, HELLO_MAX};
use crate::transport::socket::keep_alive;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};

/// The first byte of a farewell.
const FAREWELL: u8 = b'F';

/// Bytes of a farewell: its first byte, and how many messages were sent.
const FAREWELL_SIZE: usize = 1 + 8;

/// The longest offer: two lengths, the flags, a provider's name, an address.
const OFFER_MAX: usize = 1 + 255 + 1 + 2 + NAME_MAX;

/// The most that a peer says before we have read it.
const INBOX_MAX: usize = HELLO_MAX + ANSWER_MAX + OFFER_MAX + FAREWELL_SIZE;

/// One end of the connection.
pub struct Meeting {
    stream: TcpStream,
    inbox: Vec<u8>,
    is_closed: bool,
}

/// What one end tells the other of its endpoint.
#[derive(Debug, PartialEq, Eq)]
pub struct Offer {
    /// libfabric's provider.
    pub provider: String,
    /// Whether it can put and get.
    pub rma: bool,
    /// The endpoint's address, as the provider writes it.
    pub name: Vec<u8>,
}

impl Offer {
    /// The bytes of an offer.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = vec![u8::try_from(self.provider.len()).expect("a provider's name")];
        bytes.extend(self.provider.as_bytes());
        bytes.push(u8::from(self.rma));
        bytes.extend(u16::try_from(self.name.len()).expect("an address").to_le_bytes());
        bytes.extend(&self.name);
        bytes
    }

    /// Reads an offer off the front: it and its length; none if it is not whole.
    pub fn read(bytes: &[u8]) -> std::result::Result<Option<(Offer, usize)>, String> {
        let Some((&length, rest)) = bytes.split_first() else { return Ok(None) };
        let Some((provider, rest)) = rest.split_at_checked(length.into()) else { return Ok(None) };
        let Some(([flags, low, high], rest)) = rest.split_first_chunk() else { return Ok(None) };
        let size = usize::from(u16::from_le_bytes([*low, *high]));
        if *flags > 1 || size == 0 || size > NAME_MAX {
            return Err(format!("an offer with flags {flags} and an address of {size} bytes"));
        }
        let Some(name) = rest.get(..size) else { return Ok(None) };
        let provider = String::from_utf8_lossy(provider).into_owned();
        let offer = Offer { provider, rma: *flags == 1, name: name.to_vec() };
        Ok(Some((offer, bytes.len() - rest.len() + size)))
    }
}

/// The bytes of a farewell after so many messages.
pub fn farewell(sent: u64) -> [u8; FAREWELL_SIZE] {
    let mut bytes = [FAREWELL; FAREWELL_SIZE];
    bytes[1..].copy_from_slice(&sent.to_le_bytes());
    bytes
}

/// Reads a farewell: how many messages were sent; none if it is not whole.
pub fn read_farewell(bytes: &[u8]) -> std::result::Result<Option<u64>, String> {
    match bytes {
        [] => Ok(None),
        [FAREWELL, count @ ..] if count.len() <= 8 => {
            Ok(count.try_into().ok().map(u64::from_le_bytes))
        }
        [other, ..] => Err(format!("{} bytes with {other:#x} as a farewell", bytes.len())),
    }
}

impl Meeting {
    /// Over a socket that is connected.
    pub fn new(stream: TcpStream) -> std::io::Result<Meeting> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        keep_alive(stream.as_fd())?;
        Ok(Meeting { stream, inbox: Vec::with_capacity(INBOX_MAX), is_closed: false })
    }

    /// Says something short: a new connection's buffer always has room for all that one end says.
    pub fn say(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream
            .write_all(bytes)
            .map_err(|error| Error::Io { doing: "writing to the peer".to_owned(), source: error })
    }

    /// Reads what has arrived, as far as there is room; true when it has ended.
    pub fn listen(&mut self) -> bool {
        let mut bytes = [0; 512];
        while !self.is_closed {
            let room = bytes.len().min(INBOX_MAX - self.inbox.len());
            if room == 0 {
                return false;
            }
            match self.stream.read(&mut bytes[..room]) {
                Ok(0) => self.is_closed = true,
                Ok(count) => self.inbox.extend(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Whatever else happens to a connection ends it.
                Err(_) => self.is_closed = true,
            }
        }
        true
    }

    /// What has arrived and was not used.
    pub fn heard(&self) -> &[u8] {
        &self.inbox
    }

    /// Uses so many bytes of it.
    pub fn used(&mut self, count: usize) {
        self.inbox.drain(..count);
    }

    /// This end's address, as a number without a port. A listener for both families sees those of
    /// IPv4 within IPv6, and no endpoint of one family reaches one of the other.
    pub fn host(&self) -> Result<std::net::IpAddr> {
        let address = self.stream.local_addr();
        let address = address.map_err(|error| Error::io("asking for an address", error))?;
        Ok(address.ip().to_canonical())
    }

    /// Whether both ends are on this machine.
    pub fn is_here(&self) -> bool {
        self.stream.peer_addr().is_ok_and(|there| there.ip().to_canonical().is_loopback())
    }

    /// The socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
