//! The windows of a process.

use super::{Access, Window};
use crate::buffer::{Memory, Typed};
use crate::error::{Class, Error, Result};
use muster_message::{Carrier, Endpoint};

/// All of them.
pub struct Windows<M: Memory>(Vec<Window<M>>);

impl<M: Memory> Default for Windows<M> {
    fn default() -> Windows<M> {
        Windows(Vec::new())
    }
}

impl<M: Memory> Windows<M> {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds one.
    pub fn add(&mut self, window: Window<M>) {
        self.0.push(window);
    }

    /// Takes one away, which nobody uses any more.
    pub fn remove(&mut self, context: u64) {
        self.0.retain(|window| window.context != context);
    }

    /// The one of a context.
    ///
    /// # Errors
    /// [`Class::Win`].
    pub fn get(&mut self, context: u64) -> Result<&mut Window<M>> {
        let found = self.0.iter_mut().find(|window| window.context == context);
        found.ok_or_else(|| Error::new(Class::Win, "the window has been freed"))
    }

    /// Whether something was asked that was not answered.
    pub(crate) fn are_asked(&self) -> bool {
        self.0.iter().any(|window| !window.asked.is_empty())
    }

    /// The windows of which somebody waits for this rank's lock: the context, who have it, and who
    /// is the next, by their numbers in the job.
    pub(crate) fn contended(&self) -> impl Iterator<Item = (u64, Vec<u32>, u32)> {
        self.0.iter().filter_map(|window| {
            let world = |rank: &u32| window.group.world(*rank);
            let next = window.own.locks.next()?;
            let holders = window.own.locks.waited_for().iter().map(world).collect();
            Some((window.context, holders, world(&next)))
        })
    }

    /// Takes what has come, and carries it out; whether anything was done.
    ///
    /// # Errors
    /// That nothing can be carried any more.
    pub fn advance<C: Carrier>(&mut self, endpoint: &mut Endpoint<C, Typed<M>>) -> Result<bool> {
        self.0.iter_mut().try_fold(false, |moved, window| Ok(window.advance(endpoint)? | moved))
    }

    /// The window of something that was asked for.
    pub(crate) fn of(&mut self, access: Access) -> Option<&mut Window<M>> {
        self.get(access.context).ok()
    }
}
