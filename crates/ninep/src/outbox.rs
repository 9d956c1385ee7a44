//! Bytes on their way to the peer: small messages packed together, large payloads in blocks of
//! their own that are reused, so that content is copied once, from the file into the reply; or,
//! where the shell can send it ([`Outbox::let_map`]), not at all.

use crate::error::Error;
use crate::message::Tag;
use crate::promised::{Promised, Source};
use crate::sys::{Mapping, Span};
use muster_base::limits::HEADER;
use std::collections::VecDeque;
use std::io::{self, IoSlice};

/// Bytes before the payload of an `Rread`: header and `count[4]`.
const READ_HEADER: usize = HEADER + 4;

/// Content up to this size is copied in among the small messages.
const SMALL: usize = 4096;

/// Small messages are packed into blocks of about this size.
const PACKED: usize = 32 * 1024;

/// Bytes of large blocks that are kept for reuse, in messages of the agreed size.
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
enum Content {
    Bytes(Vec<u8>),
    Mapped(Mapping),
}

#[derive(Debug)]
struct Block {
    content: Content,
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
    promised: Promised,
    /// Large blocks for reuse, the oldest first: fresh ones cost their pages, which is more than
    /// to fill them.
    spare: Vec<Vec<u8>>,
    /// The agreed message size.
    msize: usize,
    may_map: bool,
}

impl Outbox {
    /// Bytes not yet sent.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether an answer that brings more from there may be begun.
    pub(crate) fn has_room(&self, source: Source) -> bool {
        self.promised.has_room(source, self.length, self.msize)
    }

    /// What answers under way will bring.
    pub(crate) fn promised(&mut self) -> &mut Promised {
        &mut self.promised
    }

    /// Whether all is sent.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Sets the agreed message size.
    pub(crate) fn set_msize(&mut self, msize: usize) {
        self.msize = msize;
        self.spare.clear();
    }

    /// Says that the shell sends [`Outbox::spans`], in which there may be parts of files, and not
    /// [`Outbox::pieces`].
    pub(crate) fn let_map(&mut self) {
        self.may_map = true;
    }

    pub(crate) fn may_map(&self) -> bool {
        self.may_map
    }

    /// Appends messages with `encode`, and returns what it does.
    pub(crate) fn put<R>(&mut self, encode: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let fits = |block: &Block| !block.large && block.used < PACKED;
        if !self.queue.back().is_some_and(fits) {
            let content = Content::Bytes(Vec::with_capacity(1024));
            self.queue.push_back(Block { content, used: 0, large: false });
        }
        let block = self.queue.back_mut().expect("one was pushed");
        let Content::Bytes(bytes) = &mut block.content else { unreachable!("mapped is large") };
        let said = encode(bytes);
        self.length += bytes.len() - block.used;
        block.used = bytes.len();
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
            _ => self.large(count),
        };
        match fill(&mut bytes[READ_HEADER..READ_HEADER + count]) {
            Ok(used) => Ok(Filling { bytes, used }),
            Err(error) => {
                self.recycle(bytes);
                Err(error)
            }
        }
    }

    /// A block for so much content.
    fn large(&mut self, count: usize) -> Vec<u8> {
        let least = READ_HEADER + count;
        let fit = (0..self.spare.len()).filter(|at| self.spare[*at].len() >= least);
        match fit.min_by_key(|at| self.spare[*at].len()) {
            Some(at) => self.spare.remove(at),
            // Of a size that others can use, and two messages' blocks are kept.
            None => vec![0; (READ_HEADER + count.next_power_of_two()).min(self.msize.max(least))],
        }
    }

    /// Queues a filled reply as an `Rread`.
    pub(crate) fn put_filling(&mut self, tag: Tag, number: u8, filling: Filling) {
        let Filling { mut bytes, used } = filling;
        let size = READ_HEADER + used;
        bytes[..READ_HEADER].copy_from_slice(&read_header(tag, number, used));
        if used <= SMALL {
            self.put(|out| out.extend_from_slice(&bytes[..size]));
            self.recycle(bytes);
        } else {
            self.length += size;
            let content = Content::Bytes(bytes);
            self.queue.push_back(Block { content, used: size, large: true });
        }
    }

    /// Queues part of a file as an `Rread`.
    pub(crate) fn put_mapping(&mut self, tag: Tag, number: u8, mapping: Mapping) {
        let used = mapping.len();
        self.put(|out| out.extend_from_slice(&read_header(tag, number, used)));
        self.length += used;
        self.queue.push_back(Block { content: Content::Mapped(mapping), used, large: true });
    }

    /// What to send next, in pieces for one vectored write.
    pub fn pieces<'a>(&'a self, into: &mut Vec<IoSlice<'a>>) {
        for (at, block) in self.queue.iter().take(64).enumerate() {
            let start = if at == 0 { self.sent } else { 0 };
            let Content::Bytes(bytes) = &block.content else {
                unreachable!("whoever lets trees map sends spans")
            };
            into.push(IoSlice::new(&bytes[start..block.used]));
        }
    }

    /// The same, parts of files among them.
    pub(crate) fn spans<'a>(&'a self, into: &mut Vec<Span<'a>>) {
        for (at, block) in self.queue.iter().take(64).enumerate() {
            let start = if at == 0 { self.sent } else { 0 };
            into.push(match &block.content {
                Content::Bytes(bytes) => Span::from(&bytes[start..block.used]),
                Content::Mapped(mapping) => mapping.span(start),
            });
        }
    }

    /// The kernel did not find all of a mapped file: puts a copy in the place of the first. The
    /// header, with its count, may be on its way, so what the file has lost since is sent as zero,
    /// as if it had been cut and grown again.
    ///
    /// # Errors
    /// When it cannot be read, or no file is mapped: nothing right can be sent then.
    pub(crate) fn copy_mapping(&mut self) -> io::Result<()> {
        for (at, block) in self.queue.iter_mut().enumerate() {
            if let Content::Mapped(mapping) = &block.content {
                let sent = if at == 0 { self.sent } else { 0 };
                block.content = Content::Bytes(mapping.copy(sent)?);
                return Ok(());
            }
        }
        Err(rustix::io::Errno::FAULT.into())
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
                let Content::Bytes(bytes) = &mut first.content else { unreachable!("large") };
                bytes.clear();
                first.used = 0;
                break;
            }
            let gone = self.queue.pop_front();
            if let Some(Block { content: Content::Bytes(bytes), large: true, .. }) = gone {
                self.recycle(bytes);
            }
        }
    }

    fn recycle(&mut self, bytes: Vec<u8>) {
        if bytes.len() <= READ_HEADER + SMALL {
            return;
        }
        self.spare.push(bytes);
        while self.spare.iter().map(Vec::len).sum::<usize>() > SPARE * self.msize {
            self.spare.remove(0);
        }
    }
}

/// The bytes before the content of an `Rread`.
fn read_header(tag: Tag, number: u8, used: usize) -> [u8; READ_HEADER] {
    let mut header = [0; READ_HEADER];
    header[..4].copy_from_slice(&((READ_HEADER + used) as u32).to_le_bytes());
    header[4] = number;
    header[5..7].copy_from_slice(&tag.to_le_bytes());
    header[7..].copy_from_slice(&(used as u32).to_le_bytes());
    header
}
