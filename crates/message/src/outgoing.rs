//! What is on its way out: a row for each rank, in the order in which it was sent. A message leaves
//! whole before the next begins.

use crate::carrier::{Carrier, Failure};
use crate::descriptor::Encoded;
use crate::recent::Recent;
use std::collections::VecDeque;

/// A message on its way out.
pub(crate) struct Leaving {
    pub(crate) head: Encoded,
    /// The operation that it is of, whose bytes follow the head if `with_body`.
    pub(crate) number: Option<u32>,
    pub(crate) with_body: bool,
    /// What has left of head and body.
    pub(crate) offset: usize,
}

/// The rows.
#[derive(Default)]
pub(crate) struct Outgoing {
    rows: Recent<VecDeque<Leaving>>,
    /// The ranks whose rows are not empty.
    waiting: Vec<u32>,
}

impl Outgoing {
    /// Whether nothing is on its way to a rank.
    #[inline]
    pub(crate) fn is_free(&self, to: u32) -> bool {
        !self.waiting.contains(&to)
    }

    /// The ranks that room is needed for.
    pub(crate) fn waiting(&self) -> &[u32] {
        &self.waiting
    }

    pub(crate) fn push(&mut self, to: u32, leaving: Leaving) {
        if self.is_free(to) {
            self.waiting.push(to);
        }
        let is_needed = |row: &VecDeque<Leaving>| !row.is_empty();
        self.rows.get_or(to.into(), VecDeque::new, is_needed).push_back(leaving);
    }

    /// Has what is on its way for an operation be of another one; whether there is something.
    pub(crate) fn renumber(&mut self, to: u32, before: u32, after: u32) -> bool {
        let row = self.rows.get_mut(to.into()).into_iter().flatten();
        let mut own = row.filter(|leaving| leaving.number == Some(before));
        own.next().is_some_and(|leaving| {
            leaving.number = Some(after);
            true
        })
    }

    /// Sends what there is room for. `body` gives an operation's bytes; `left` is told of each
    /// message that has left, or could not.
    pub(crate) fn progress<'a>(
        &mut self,
        carrier: &mut impl Carrier,
        body: impl Fn(u32) -> &'a [u8],
        mut left: impl FnMut(&Leaving, Option<Failure>),
    ) -> Result<bool, Failure> {
        let mut moved = false;
        let rows = &mut self.rows;
        let mut failed = None;
        self.waiting.retain(|to| {
            let row = rows.get_mut(u64::from(*to)).expect("a rank that is waited for has a row");
            while let Some(leaving) = row.front_mut() {
                let bytes = match leaving.number {
                    Some(number) if leaving.with_body => body(number),
                    _ => &[],
                };
                match carrier.send(*to, &leaving.head, bytes, leaving.offset) {
                    Ok(0) => return true,
                    Ok(sent) => leaving.offset += sent,
                    Err(Failure::Broken(why)) => {
                        failed = Some(Failure::Broken(why));
                        return true;
                    }
                    Err(gone) => {
                        row.drain(..).for_each(|leaving| left(&leaving, Some(gone.clone())));
                        return false;
                    }
                }
                moved = true;
                if leaving.offset == leaving.head.len() + bytes.len() {
                    left(leaving, None);
                    row.pop_front();
                }
            }
            false
        });
        failed.map_or(Ok(moved), Err)
    }
}
