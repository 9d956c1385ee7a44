//! The fabric: bytes between nodes, three primitives over all of them, one heartbeat.
//!
//! Two papers give the words. From EPOS: a network *adapter* offers *strategies* (datagram, stream,
//! active message, asynchronous remote copy: [`strategy`]); *communicators* are what programs use
//! (link, port, mailbox, segment, invocation); *scenario adapters* wrap either. From STORM:
//! XFER-AND-SIGNAL, TEST-EVENT and COMPARE-AND-WRITE over global memory, and a heartbeat.
//!
//! A message's way: an [`address`] names a [`transport`], which gives an adapter for one peer; a
//! strategy moves the message, in its own [`transport::Lane`]; every wait has a [`deadline`].
//! Protocols that need more than two ends are I/O-free ([`protocol`]) below thin shells.

pub mod adapter;
pub mod address;
pub mod bound;
pub mod communicator;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod deadline;
mod epoll;
pub mod error;
pub mod gateway;
pub mod global;
pub mod heartbeat;
pub mod pipeline;
pub mod primitive;
mod processors;
pub mod protocol;
pub mod region;
pub mod shell;
pub mod strategy;
mod sys;
pub mod transport;
pub mod wait;

/// The limits that users meet, each with the sum it is derived from.
pub mod limits {
    pub use muster_base::limits::HELLO_TEXT_MAX;
}

pub use address::Address;
pub use deadline::Deadline;
pub use error::{Error, Result};
