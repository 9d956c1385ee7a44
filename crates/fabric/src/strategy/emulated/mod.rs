//! Strategies over other strategies, where a transport lacks them.
//!
//! | wanted | over | by |
//! |---|---|---|
//! | datagram | stream | [`Framed`]: a length before each message |
//! | stream | datagram | [`Streamed`]: bytes in messages, an empty one at the end |
//! | active message | datagram | [`Active`]: a handler's number before the arguments |
//! | remote copy | active message | [`Copied`]: put and get as handlers at the regions' owner |
//!
//! Each takes what is below it and keeps its promises; `docs/wire/fabric.md` has the bytes.

mod active;
mod copied;
mod framed;
mod streamed;
#[cfg(test)]
mod tests;

pub use active::Active;
pub use copied::Copied;
pub use framed::Framed;
pub use streamed::Streamed;

use super::{Ready, Wait};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use std::io::IoSlice;
use std::time::Duration;

/// Parts of a message that go out beside a head without being gathered first.
const PARTS: usize = 8;

/// How long to wait for one thing while another may happen.
const MOMENT: Duration = Duration::from_millis(1);

/// Puts a head before a message's parts.
fn with_head<T>(
    head: &[u8],
    parts: &[IoSlice<'_>],
    then: impl FnOnce(&mut [IoSlice<'_>]) -> T,
) -> T {
    let mut all = [IoSlice::new(head); 1 + PARTS];
    if let Some(some) = all[1..].get_mut(..parts.len()) {
        some.copy_from_slice(parts);
        return then(&mut all[..1 + parts.len()]);
    }
    let gathered: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied()).collect();
    all[1] = IoSlice::new(&gathered);
    then(&mut all[..2])
}

/// Waits for room while something may arrive as well: for a moment, so that neither is missed.
fn wait_for_room(inner: &mut impl Wait, deadline: Deadline) -> Result<()> {
    if deadline.left() < Some(MOMENT) {
        return inner.wait(Ready::Send, deadline);
    }
    match inner.wait(Ready::Send, Deadline::after(MOMENT)) {
        Err(Error::Deadline { .. }) => Ok(()),
        done => done,
    }
}
