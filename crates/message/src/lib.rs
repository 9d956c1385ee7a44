//! Messages between ranks: what they say of themselves, which receive takes which message, and how
//! their bytes get from one rank's buffer into the other's. No I/O, no clock: what carries bytes is
//! a [`Carrier`], where they come from and go to is a [`Buffer`].
//!
//! *Short messages* leave at once, bytes and all, and wait at the receiver until a receive takes
//! them (eager). *Long ones* are offered: when a receive has taken the offer, the receiver asks for
//! the bytes, and they come straight to their place. `descriptor.rs` has the messages,
//! `endpoint.rs` who does what when, `docs/decisions/mpi.md` why it is not the receiver who begins,
//! as in the Cell Messaging Layer.
//!
//! *Which receive.* Messages of one sender in one context are taken in the order in which they were
//! sent, by the first receive posted that fits (MPI-5.0, 3.5). `matching.rs` decides that and
//! nothing else.

mod board;
mod buffer;
mod cancel;
mod carrier;
mod deadlock;
mod descriptor;
mod endpoint;
mod incoming;
mod log;
mod matching;
mod mixed;
mod order;
mod outgoing;
mod quiescence;
mod recent;
mod slab;
mod soon;
mod state;
#[cfg(test)]
mod tests;
mod waits;

pub use board::{Boards, Spot};
pub use buffer::Buffer;
pub use carrier::{Alarm, Arrival, Bytes, Carrier, Failure, Take};
pub use deadlock::{Besides, Detector, Note, Told, Wait};
pub use descriptor::Envelope;
pub use endpoint::{Claim, Endpoint, Mode, Outcome, Ticket};
pub use log::{Digest, Log, Part, Question, join, split};
pub use matching::{Match, Matching, Wanted};
pub use order::{Orders, departs};
pub use soon::Soon;
pub use waits::{ASIDE, Communicators, NOTES};
