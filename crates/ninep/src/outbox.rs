//! Bytes on their way to the peer: small messages packed together, large payloads in blocks of
//! their own that are reused, so that content is copied once, from the file into the reply.

use crate::error::Error;
use crate::message::Tag;
use muster_base::limits::HEADER;
use std::collections::VecDeque;
use std::io::IoSlice;

/// Bytes before the payload of an `Rread`: header and `count[4]`.
const READ_HEADER: usize = HEADER + 4;

/// Content up to this size is copied in among the small messages.
const SMALL: usize = 4096;

/// Small messages are packed into blocks of about this size.
const PACKED: usize = 32 * 1024;

/// Large blocks kept for reuse.
const SPARE: usize = 2;

/// Content that was put into a reply's place before the reply itself.
#[derive(Debug)]
pub struct Filling {
    /// Room for the header, then the content.
    bytes: Vec<u8>,
    /// Bytes of content.
    used: usize,
}

#[cfg(test)]
impl Filling {
    /// The content.
    pub(crate) fn content(&self) -> &[u8] {
        &self.bytes[READ_HEADER..READ_HEADER + self.used]
    }
}

#[derive(Debug)]
struct Block {
    bytes: Vec<u8>,
    /// Bytes that are message; a large block stays longer than that.
    used: usize,
    large: bool,
}

/// The queue of bytes to send.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: VecDeque<Block>,
    /// Bytes of the first block that are sent.
    sent: usize,
    length: usize,
    spare: Vec<Vec<u8>>,
    /// Size of a large block: the agreed message size.
    large: usize,
}

impl Outbox {
    /// Bytes not yet sent.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether all is sent.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Sets the agreed message size.
    pub(crate) fn set_msize(&mut self, msize: usize) {
        self.large = msize;
        self.spare.clear();
    }

    /// Appends messages with `encode`, and returns what it does.
    pub(crate) fn put<R>(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let fits = |block: &Block| !block.large && block.used < PACKED;
        if !self.queue.back().is_some_and(fits) {
            let bytes = Vec::with_capacity(1024);
            self.queue.push_back(Block { bytes, used: 0, large: false });
        }
        let block = self.queue.back_mut().expect("one was pushed");
        let said = encode(&mut block.bytes);
        self.length += block.bytes.len() - block.used;
        block.used = block.bytes.len();
        said
    }

    /// Lets `fill` put content into a place from which it can be sent.
    pub(crate) fn fill(
        &mut self,
        count: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, Error>,
    ) -> Result<Filling, Error> {
        let mut bytes = match count {
            0..=SMALL => vec![0; READ_HEADER + count],
            _ => self.spare.pop().unwrap_or_else(|| vec![0; self.large.max(READ_HEADER + count)]),
        };
        match fill(&mut bytes[READ_HEADER..READ_HEADER + count]) {
            Ok(used) => Ok(Filling { bytes, used }),
            Err(error) => {
                self.recycle(bytes);
                Err(error)
            }
        }
    }

    /// Queues a filled reply as an `Rread`.
    pub(crate) fn put_filling(&mut self, tag: Tag, number: u8, filling: Filling) {
        let Filling { mut bytes, used } = filling;
        let size = READ_HEADER + used;
        bytes[..4].copy_from_slice(&(size as u32).to_le_bytes());
        bytes[4] = number;
        bytes[5..7].copy_from_slice(&tag.to_le_bytes());
        bytes[7..11].copy_from_slice(&(used as u32).to_le_bytes());
        if used <= SMALL {
            self.put(|out| out.extend_from_slice(&bytes[..size]));
            self.recycle(bytes);
        } else {
            self.length += size;
            self.queue.push_back(Block { bytes, used: size, large: true });
        }
    }

    /// What to send next, in pieces for one vectored write.
    pub fn pieces<'a>(&'a self, into: &mut Vec<IoSlice<'a>>) {
        for (at, block) in self.queue.iter().take(64).enumerate() {
            let start = if at == 0 { self.sent } else { 0 };
            into.push(IoSlice::new(&block.bytes[start..block.used]));
        }
    }

    /// Forgets the first `sent` bytes: they are on their way.
    pub fn consume(&mut self, sent: usize) {
        self.length -= sent;
        self.sent += sent;
        let mut blocks = self.queue.len();
        while let Some(first) = self.queue.front_mut()
            && self.sent >= first.used
        {
            self.sent -= first.used;
            blocks -= 1;
            if !first.large && blocks == 0 {
                // The usual case: everything is sent, and the block serves again.
                first.bytes.clear();
                first.used = 0;
                break;
            }
            let block = self.queue.pop_front().expect("there is a first");
            self.recycle(block.bytes);
        }
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        if bytes.len() >= self.large && self.large > SMALL && self.spare.len() < SPARE {
            self.spare.push(bytes);
        }
    }
}
