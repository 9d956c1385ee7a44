//! Where the table of slots goes when it changes.

use crate::slots::Slots;

/// Takes the table.
#[derive(Default)]
pub(super) struct Strobe;

impl Strobe {
    /// From now on jobs take turns by `slots`. Called in the order of the tables, with the queue
    /// locked: it does not wait.
    pub(super) fn set(&self, _slots: &Slots) {}
}
