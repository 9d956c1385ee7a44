//! The table by which jobs take turns: slots, one after another, a slice of time each.
//!
//! It is a row of Ousterhout's matrix each, without its columns: where a job's ranks are is known
//! to whoever runs it. While it is a slot's turn, its jobs run and the jobs of all other slots
//! stand still. A job may be in several slots, and then runs in each; a job in none is never
//! stopped. With no slots, or one, nobody is.

use muster_base::limits::{SLICE_MAX, SLICE_MIN};
use muster_base::span;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Whose turn it is, and for how long.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slots {
    /// How long a turn takes.
    pub slice: Duration,
    /// The numbers of the jobs of each slot, in ascending order.
    pub slots: Vec<Vec<u32>>,
}

impl Slots {
    /// How long all turns take, one after another.
    #[must_use]
    pub fn cycle(&self) -> Duration {
        self.slice * u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }
}

/// Checks that a slice is one that nodes can keep to.
///
/// # Errors
/// One sentence.
pub fn check_slice(slice: Duration) -> Result<(), String> {
    if (SLICE_MIN..=SLICE_MAX).contains(&slice) {
        return Ok(());
    }
    let [slice, least, most] = [slice, SLICE_MIN, SLICE_MAX].map(span::write);
    Err(format!("a slice of {slice} cannot be: it takes from {least} to {most}  [E115]"))
}
