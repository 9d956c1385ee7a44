//! What programs use of the protocols among many nodes, over real connections.
//!
//! A [`Member`] has a node's part of global memory, the three primitives, and, where it is wanted,
//! the heartbeat. It runs their cores ([`crate::primitive`], [`crate::heartbeat`]) in one shell,
//! takes requests from any thread, and keeps what the cores tell where any thread may wait for it,
//! with a deadline.

mod board;
mod cores;
mod heartbeat;
mod member;

#[cfg(test)]
mod tests;

pub use board::Membership;
pub use heartbeat::{Beats, Pulse};
pub use member::{Begin, Comparison, Member, Transfer};

use std::time::{SystemTime, UNIX_EPOCH};

/// A number for this life of a node: the wall clock's nanoseconds. Operations count on from it, and
/// no life makes one in each nanosecond, so two lives have none in common, even if the clock was
/// set back meanwhile. Strobes count on from it, too: there a clock must not be set back by more
/// than a node was down; who has none keeps a number in a file.
pub fn incarnation() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(time.as_nanos()).expect("the year 2554").max(1)
}
