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
//!
//! Where to begin: [`transport`] has a program whole, in which two connect and one says something
//! to the other. What else they may say to each other is in [`communicator`], with an example at
//! each: [`communicator::Port`] for messages, [`communicator::Link`] for bytes,
//! [`communicator::Mailbox`] for messages of many, [`communicator::Segment`] for memory,
//! [`communicator::Invocation`] for calls. Behind them is what a program may as well use by itself,
//! [`strategy`]. What concerns all nodes at once is in [`global`].
//!
//! Who writes a transport implements [`transport::Transport`]. What is promised by it then is a
//! suite of tests, the module `conformance`, which the feature of that name adds.

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
    pub use muster_base::limits::{
        BOARD_BYTES, BOARDS, EVENT_MAX, FRAME_MAX, GATEWAY_NODES_MAX, GATEWAY_RANKS_MAX,
        GATEWAY_SLOTS, HELLO_TEXT_MAX, INVOCATION_CALLS_MAX, INVOCATION_OBJECTS_MAX,
        MAILBOX_SENDERS_MAX, MEMBERS_MAX, PENDING_BYTES_MAX, PENDING_MAX, RAILS_MAX,
        SEGMENT_OPERATIONS_MAX, SET_RANGES_MAX, TELL_MAX, TOLD_BYTES_MAX, TRANSFER_MAX,
    };
}

pub use address::Address;
pub use deadline::Deadline;
pub use error::{Error, Result};
