//! What programs use of the protocols among many nodes, over real connections.
//!
//! A [`Member`] has a node's part of global memory and the three primitives; a [`Heartbeat`] has
//! the strobes. Each runs its core ([`crate::primitive`], [`crate::heartbeat`]) in a shell, takes
//! requests from any thread, and keeps what the core tells where any thread may wait for it, with
//! a deadline. They know nothing of each other: who wants the heartbeat's members to be global
//! memory's waits for epochs ([`Member::wait_epoch`]) and names their members to it.

mod board;
mod heartbeat;
mod member;

#[cfg(test)]
mod tests;

pub use board::Membership;
pub use heartbeat::{Beats, Heartbeat};
pub use member::{Begin, Member, Transfer};

use std::time::{SystemTime, UNIX_EPOCH};

/// A number for this life of a node: the wall clock's nanoseconds. Operations count on from it, and
/// no life makes one in each nanosecond, so two lives have none in common, even if the clock was
/// set back meanwhile. Strobes count on from it, too: there a clock must not be set back by more
/// than a node was down; who has none keeps a number in a file.
pub fn incarnation() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(time.as_nanos()).expect("the year 2554").max(1)
}
