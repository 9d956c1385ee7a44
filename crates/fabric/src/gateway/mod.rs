//! The gateway: messages between the ranks of one job. Those of one node have rings in its segment
//! (`near.rs`). Between nodes there is one connection for each two, which whichever local rank
//! waits progresses. No daemon is on a message's way, and a rank has no connections of its own.
//!
//! *Who.* A node's daemon ([`Node`]) makes a segment for the job (`layout.rs`), connects to the
//! other nodes, and gives each rank ([`Rank`]) that asks (`meeting.rs`) the segment, the sockets
//! and everybody's bell. Nodes share nothing but the socket (`frame.rs`).
//!
//! *A message's way* to another node. The sender puts its pieces into slots of its own in the
//! segment (`boxes.rs`), takes the role of the one who sends to that node (`endpoint.rs`), and
//! writes all that any rank here has for it (`send.rs`). There, a rank that waits takes the role of
//! the one who receives, brings each piece to a slot of the rank that it is for (`receive.rs`), and
//! wakes that rank if it sleeps (`gate.rs`). When the rank has taken a piece, the sender's node is
//! told, and only then the sender's slot is free. Between nodes of one machine the pieces of a long
//! message go in runs: the kernel's packets hold the sender's own pages (`lender.rs`), and whoever
//! finds there what is for itself takes it from the packets to where it belongs.
//!
//! *Once and in order.* The pieces of each two ranks are numbered by the sender, and only the
//! receiving rank judges the numbers: it takes the next, and ignores what it has taken before. So a
//! piece may be sent, or brought, as often as anybody likes, and nobody on the way has to remember
//! anything. The numbers are 40 bytes for each two ranks that talk.
//!
//! *Who may die or stop when.* Anybody but a daemon, at any instruction. A rank that stops while it
//! sleeps is missed by nobody: the daemon sees that something lies there that nobody has come for,
//! and stands in (`node.rs`). One that stops while it has a role has it taken away, together with
//! the connection: the daemons make a new one, of the next *epoch*, and all that was not taken is
//! sent again. It is known by a role that does not change hands for 50 ms, or at once by the end of
//! the process. What it does when it goes on does no harm (`endpoint.rs`). Others are told of a
//! rank's end together with how much it had sent them: for each of them it is gone when that has
//! come. Where a daemon ends, its ranks are told by their sockets and the other nodes by nobody
//! answering, or by nobody connecting again.
//!
//! *Slow ranks.* A rank has room for [`GATEWAY_SLOTS`] pieces, from whomever. Who has no room is
//! waited for a little, then what is for it is dropped until it has made some, and is sent again
//! then, so others' pieces get past. A sender has at most [`GATEWAY_WINDOW`] pieces under way to
//! one rank, and no more than would then be free for others, so a few that take nothing do not keep
//! it from these. There are no credits for each two ranks: the room for those would grow with the
//! job.
//!
//! *Protection.* Between machines the connection is one of TLS, which daemons make. Then they take
//! it from the thread that moves its records, and give its keys to the ranks with its socket, so
//! that each frame is a record that whoever has the role seals or opens (`line.rs`). No two records
//! of a key may have the same number: the next one's is in the segment, and belongs to the role.
//! Where a holder stops, the connection is replaced, and its keys with it. A rank has the keys of
//! its job's connections only, over which it may say what it likes anyway.
//!
//! *Trust.* The ranks of a job trust each other. The daemon does not trust them: it knows where
//! everything is without the segment, reads each word once, and copies before it looks. Garbage
//! harms the job whose segment it is: a rank that finds there what cannot be is told whose it is
//! (`garbage.rs`), and goes on with what the others have sent.
//!
//! [`GATEWAY_SLOTS`]: muster_base::limits::GATEWAY_SLOTS
//! [`GATEWAY_WINDOW`]: muster_base::limits::GATEWAY_WINDOW

mod arrivals;
mod awake;
mod barrier;
mod batch;
mod board;
mod boxes;
mod bytes;
mod control;
mod crowd;
mod endpoint;
#[cfg(feature = "conformance")]
mod fed;
mod frame;
mod garbage;
mod gate;
mod layout;
mod lender;
mod line;
mod meeting;
mod near;
mod node;
mod rank;
mod receive;
mod send;
mod sys;
#[cfg(test)]
mod tests;

pub use board::Spot;
pub use bytes::Bytes;
#[cfg(feature = "conformance")]
pub use fed::read_as_all;
pub use meeting::{Asking, Desk, Shutter};
pub use node::{Dial, Door, Node, SERVICE};
pub use rank::{Alarm, Rank};

use std::fmt;

/// A rank of a job: the node, and which of its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The node's number in the job.
    pub node: u32,
    /// The rank's number on the node.
    pub rank: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of node {}", self.rank, self.node)
    }
}

/// A part of a message. Those of one message come in order; one at 0 begins a message, even where
/// the last one was not complete, which is void then.
#[derive(Debug)]
pub struct Piece<'a> {
    /// Who sent it.
    pub from: Place,
    /// Bytes of the whole message.
    pub total: u64,
    /// Where in the message this piece begins.
    pub offset: u64,
    /// The bytes.
    pub bytes: Bytes<'a>,
}

/// Takes a piece from where it lies. A closure does; what is to be compiled into the caller for
/// certain is a type of its own, for nothing can be said of a closure's body.
pub trait Take {
    /// Takes it.
    fn take(&mut self, piece: Piece<'_>);
}

impl<F: FnMut(Piece<'_>)> Take for F {
    #[inline]
    fn take(&mut self, piece: Piece<'_>) {
        self(piece);
    }
}
