//! Communicators: the end-points that programs use (EPOS, section 2.1).
//!
//! | communicator | asks for | is |
//! |---|---|---|
//! | [`Link`] | a stream | bytes between two |
//! | [`Port`] | datagrams | messages between two |
//! | [`Mailbox`] | datagrams | messages of many senders for one receiver |
//! | [`Segment`] | remote copy | memory of many owners under one numbering |
//! | [`Invocation`] | active messages | methods of objects at the other end |
//!
//! Each asks only for the strategy it needs and knows no transport. It takes the strategy as a type
//! parameter, so calls are static; a `Box<dyn Datagram>` is a datagram too. Reliability is the
//! strategies' own; sharing, access control, tracing and the like are [`crate::adapter`]'s.
//!
//! Every wait has a [`Deadline`](crate::Deadline).

pub mod invocation;
pub mod link;
pub mod mailbox;
mod many;
pub mod port;
pub mod segment;

#[cfg(test)]
pub(crate) mod double;
#[cfg(test)]
mod tests;

pub use invocation::{Invocation, Object};
pub use link::Link;
pub use mailbox::{Mail, Mailbox, Sender};
pub use port::Port;
pub use segment::Segment;
