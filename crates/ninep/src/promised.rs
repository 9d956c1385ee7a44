//! What answers under way will bring, which counts as if it were queued.
//!
//! Each server has room of its own: one that stands still, which may be for ever, holds up no
//! reads of others.

use muster_base::limits::{OUTBOX_MAX, PROMISED_MAX};
use std::collections::BTreeMap;

/// From where an answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// From here.
    Here,
    /// From another server, whose files are a part of the tree.
    Server(usize),
    /// From the made files of other servers, where it may wait for another request: nothing waits
    /// for room behind these.
    Made,
}

/// What one answer will bring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Promise {
    pub(crate) source: Source,
    pub(crate) bytes: usize,
}

/// What all of them will.
#[derive(Debug, Default)]
pub(crate) struct Promised {
    by: BTreeMap<Source, usize>,
    /// Those of other servers.
    servers: usize,
}

impl Promised {
    /// Whether one more may be begun, with `queued` bytes there already and messages of `msize`.
    pub(crate) fn has_room(&self, source: Source, queued: usize, msize: usize) -> bool {
        let own = self.by.get(&source).copied().unwrap_or(0);
        let others = if let Source::Server(_) = source { self.servers } else { 0 };
        queued + own <= OUTBOX_MAX + msize && queued + others <= PROMISED_MAX
    }

    /// Counts what will come.
    pub(crate) fn make(&mut self, promise: Promise) {
        *self.by.entry(promise.source).or_default() += promise.bytes;
        if let Source::Server(_) = promise.source {
            self.servers += promise.bytes;
        }
    }

    /// No longer counts what has come, or will not.
    pub(crate) fn kept(&mut self, Promise { source, bytes }: Promise) {
        if let Source::Server(_) = source {
            self.servers -= bytes;
        }
        if let Some(left) = self.by.get_mut(&source) {
            *left -= bytes;
            if *left == 0 {
                self.by.remove(&source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSIZE: usize = 1 << 20;

    #[test]
    fn a_server_has_room_whatever_others_have_promised_and_all_of_them_have_an_end() {
        let mut promised = Promised::default();
        let (mut made, mut servers) = (Vec::new(), 0);
        while promised.has_room(Source::Server(servers), 0, MSIZE) {
            while promised.has_room(Source::Server(servers), 0, MSIZE) {
                made.push(Promise { source: Source::Server(servers), bytes: MSIZE });
                promised.make(made[made.len() - 1]);
            }
            servers += 1;
        }
        assert!(servers > 20, "{servers} that stand still stop all others");
        assert!(made.len() * MSIZE <= PROMISED_MAX + MSIZE);
        assert!(promised.has_room(Source::Here, 0, MSIZE) && promised.has_room(Source::Made, 0, 0));
        made.into_iter().for_each(|promise| promised.kept(promise));
        assert!(promised.by.is_empty() && promised.servers == 0);
    }
}
