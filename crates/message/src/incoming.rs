//! Messages that have come before a receive took them, and where the later parts of a message go.

use crate::descriptor::Envelope;

/// A message that waits for its receive.
pub(crate) struct Unexpected {
    /// Counts messages that waited: later parts find it by this.
    pub(crate) id: u64,
    /// The rank that it is from, by its number in the job.
    pub(crate) from: u32,
    pub(crate) what: What,
}

/// What there is of it.
pub(crate) enum What {
    /// Its bytes, in so far as they have come, and how many there will be. `sync`: the sender's
    /// number of it, which waits to hear that it was taken.
    Eager { bytes: Vec<u8>, size: usize, sync: Option<u32> },
    /// Its bytes are at the sender.
    Offer { number: u32, size: u64 },
}

impl Unexpected {
    /// Bytes of the message.
    pub(crate) fn size(&self) -> usize {
        match self.what {
            What::Eager { size, .. } => size,
            What::Offer { size, .. } => usize::try_from(size).unwrap_or(usize::MAX),
        }
    }
}

/// Where the rest of a message goes, of which parts have come.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// To a receive.
    Receive(u32),
    /// To a message that waits.
    Kept(Envelope, u64),
}

/// A message of which parts have come.
pub(crate) struct Incoming {
    pub(crate) target: Target,
    /// Bytes of its head.
    pub(crate) head: usize,
}
