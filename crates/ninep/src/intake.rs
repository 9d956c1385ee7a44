//! Large writes, taken in parts while they arrive: no message is held, and where the tree can,
//! content goes from the socket into the file without being seen here.
//!
//! A write begins once its header is there, if the tree offers an [`Intake`] for it; it ends with
//! its last byte, and is then answered once. When a part fails, the rest is thrown away as it
//! arrives, and the answer says how much was written before, or why nothing was. When the
//! connection ends in the middle, what has arrived stays written, as with a program that is killed
//! in the middle of a write.

use crate::error::{Error, Result};
use crate::message::{NOTAG, Rmessage, Tag};
use crate::session::Session;
use crate::tree::Tree;
use crate::version::Dialect;
use crate::wire::Reader;
use muster_base::limits::HEADER;
use std::io;
use std::os::fd::BorrowedFd;

/// Takes one write in parts, in their order.
pub trait Intake: Send {
    /// Takes the next part; returns how much of it there was room for.
    ///
    /// # Errors
    /// When nothing of it was written.
    fn take(&mut self, part: &[u8]) -> Result<usize>;

    /// Takes the next part out of a socket, at most `most` bytes. Returns how many bytes have
    /// left the socket, 0 at its end, and what [`Intake::take`] would of them.
    ///
    /// # Errors
    /// That of the socket; [`io::ErrorKind::Unsupported`] when it has to be read in the usual way.
    fn take_from(
        &mut self,
        socket: BorrowedFd<'_>,
        most: usize,
    ) -> io::Result<(usize, Result<usize>)> {
        let _ = (socket, most);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A write that arrives.
pub(crate) struct Arriving {
    tag: Tag,
    /// Where it goes, until something has failed.
    intake: Option<Box<dyn Intake>>,
    /// Bytes that have not yet arrived.
    left: usize,
    written: usize,
    failure: Option<Error>,
    /// The socket may be asked for the next part.
    direct: bool,
}

impl Arriving {
    /// Notes what has become of a part.
    fn took(&mut self, arrived: usize, kept: Result<usize>) {
        self.left -= arrived;
        let whole = matches!(kept, Ok(kept) if kept == arrived);
        match kept {
            Ok(kept) => self.written += kept,
            Err(error) => self.failure = Some(error),
        }
        if !whole {
            self.intake = None;
        }
    }
}

/// `Twrite`'s number, and what precedes its content: header, `fid[4] offset[8] count[4]`.
const WRITE: u8 = 118;
const WRITE_HEADER: usize = HEADER + 4 + 8 + 4;

/// A write with less content is better held until it is whole.
const SMALLEST: usize = 128 * 1024;

impl<T: Tree> Session<T> {
    /// Begins the write whose header is at the start of `bytes`, if it is one that can be taken
    /// in parts; returns the header's length, else 0. What would be refused is left for later:
    /// there it is refused when it is whole.
    pub(crate) fn begin_write(&mut self, bytes: &[u8]) -> usize {
        self.arriving = self.intake_for(bytes);
        if self.arriving.is_some() { WRITE_HEADER } else { 0 }
    }

    fn intake_for(&mut self, bytes: &[u8]) -> Option<Arriving> {
        let header = bytes.get(..WRITE_HEADER)?;
        let mut fields = Reader::new(header, Dialect::Linux);
        let (size, number, tag) =
            (fields.get::<u32>().ok()?, fields.get::<u8>().ok()?, fields.get());
        let tag: Tag = tag.ok()?;
        let (fid, offset, count) =
            (fields.get().ok()?, fields.get().ok()?, fields.get::<u32>().ok()?);
        let count = count as usize;
        let ours = number == WRITE && count >= SMALLEST && size as usize == WRITE_HEADER + count;
        if !ours || self.version.is_none() || tag == NOTAG || self.is_in_use(tag) {
            return None;
        }
        let slot = self.fids.opened(fid, true).ok()?;
        let intake = Some(self.tree.intake(&slot.fid, offset, count)?);
        Some(Arriving { tag, intake, left: count, written: 0, failure: None, direct: true })
    }

    /// Takes what has arrived of a write; returns how much of `bytes` belongs to it.
    pub(crate) fn take_in(&mut self, bytes: &[u8]) -> usize {
        let Some(arriving) = &mut self.arriving else { return 0 };
        let part = &bytes[..bytes.len().min(arriving.left)];
        if !part.is_empty() {
            let kept = arriving.intake.as_mut().map_or(Ok(0), |intake| intake.take(part));
            arriving.took(part.len(), kept);
        }
        let taken = part.len();
        self.end_write();
        taken
    }

    /// Whether the next bytes of the connection may be taken with [`Session::take_from`].
    pub(crate) fn is_direct(&self) -> bool {
        self.arriving.as_ref().is_some_and(|arriving| arriving.direct && arriving.intake.is_some())
    }

    /// Has the tree take the next part of a write out of the socket; returns the bytes that have
    /// left it, 0 at its end.
    pub(crate) fn take_from(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        let arriving = self.arriving.as_mut().expect("is_direct() was asked");
        let intake = arriving.intake.as_mut().expect("is_direct() was asked");
        let (arrived, kept) = match intake.take_from(socket, arriving.left) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                arriving.direct = false;
                return Err(error);
            }
            other => other?,
        };
        arriving.took(arrived, kept);
        self.end_write();
        Ok(arrived)
    }

    /// Answers the write once all of it has arrived.
    fn end_write(&mut self) {
        let Some(Arriving { tag, written, failure, .. }) =
            self.arriving.take_if(|arriving| arriving.left == 0)
        else {
            return;
        };
        match failure {
            Some(error) if written == 0 => self.refuse(tag, &error),
            _ => self.reply(tag, &Rmessage::Write { count: written as u32 }),
        }
    }
}
