//! Which receive takes which message (MPI-5.0, 3.5): of the messages that fit a receive the one
//! that its sender sent first, of the receives that fit a message the one that was posted first.
//!
//! Receives and messages wait in rows, one for each source in each context, so a look passes over
//! nothing that is for or from others. Receives from any source have a row of their own; the order
//! of two rows is told by the numbers that all entries get as they come.
//!
//! *Logical order.* In which order messages of several senders come depends on the machine, so in
//! the coscheduled mode it decides nothing. There a message is not *seen* by receives from any
//! source before [`Matching::reveal`] shows all that are there, ordered by rank and sequence. A
//! receive from one source need not wait for that, unless a receive before it may want the same
//! message.

use crate::descriptor::Envelope;
use crate::recent::Recent;
use crate::waits::NOTES;
use std::collections::VecDeque;

/// What a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The context.
    pub context: u64,
    /// The sender's rank there; none is any.
    pub source: Option<u32>,
    /// The tag; none is any that is not negative.
    pub tag: Option<i32>,
}

/// An entry: its number, its tag, and what it stands for. A receive of any tag has none.
struct Entry<T, A> {
    order: u64,
    tag: T,
    what: A,
}

/// What waits of one source in a context.
struct Rows<R, M> {
    receives: VecDeque<Entry<Option<i32>, R>>,
    messages: VecDeque<Entry<i32, M>>,
}

impl<R, M> Rows<R, M> {
    /// Whether anything waits there.
    fn is_needed(&self) -> bool {
        !self.receives.is_empty() || !self.messages.is_empty()
    }
}

/// The rows of one context.
struct Context<R, M> {
    of: Recent<Rows<R, M>>,
    from_any: VecDeque<Entry<Option<i32>, R>>,
}

impl<R, M> Context<R, M> {
    /// Whether anything waits there.
    fn is_needed(&self) -> bool {
        !self.from_any.is_empty() || self.of.iter().any(|(_, rows)| rows.is_needed())
    }
}

/// How many contexts are kept in any case: those of some dozen communicators.
const CONTEXTS: usize = 64;

/// The number of a message that is not seen.
const UNSEEN: u64 = u64::MAX;

/// A receive and the message that it takes.
pub type Match<R, M> = (R, Envelope, M);

/// What waits for one another: receives `R`, and messages `M` that came before theirs.
pub struct Matching<R, M> {
    /// Communicators come and go, and messages may be on their way when one is freed: where nothing
    /// waits is nothing to keep.
    contexts: Recent<Context<R, M>, CONTEXTS>,
    order: u64,
    /// Whether the order is the logical one.
    is_logical: bool,
}

/// Whether a receive of a tag takes a message of another.
#[inline]
fn fits(wanted: Option<i32>, tag: i32) -> bool {
    wanted.map_or(tag >= 0, |wanted| wanted == tag)
}

/// Puts an entry in. Most rows never have two, and a rank of a large job has many rows.
#[inline(always)]
fn put_in<T>(row: &mut VecDeque<T>, entry: T) {
    if row.capacity() == 0 {
        row.reserve_exact(1);
    }
    row.push_back(entry);
}

/// Takes an entry out: nearly always the first.
#[inline]
fn take_out<T>(row: &mut VecDeque<T>, at: usize) -> Option<T> {
    if at == 0 { row.pop_front() } else { row.remove(at) }
}

impl<R, M> Default for Matching<R, M> {
    fn default() -> Self {
        Matching { contexts: Recent::default(), order: 0, is_logical: false }
    }
}

impl<R, M> Context<R, M> {
    #[inline]
    fn get(&self, source: u32) -> Option<&Rows<R, M>> {
        self.of.get(source.into())
    }

    #[inline]
    fn get_mut(&mut self, source: u32) -> Option<&mut Rows<R, M>> {
        self.of.get_mut(source.into())
    }

    /// The rows of a source, to put something into.
    #[inline]
    fn rows(&mut self, source: u32) -> &mut Rows<R, M> {
        let (receives, messages) = (VecDeque::new(), VecDeque::new());
        self.of.get_or(source.into(), || Rows { receives, messages }, Rows::is_needed)
    }

    /// Takes the receive out that takes a message, where some of any source were posted.
    fn arrive(&mut self, envelope: Envelope) -> Option<R> {
        let first = |row: &VecDeque<Entry<Option<i32>, R>>| {
            let at = row.iter().position(|entry| fits(entry.tag, envelope.tag))?;
            Some((row[at].order, at))
        };
        let any = first(&self.from_any);
        let from_any = &mut self.from_any;
        let row = self.of.get_mut(envelope.source.into()).map(|rows| &mut rows.receives);
        let named = row.as_deref().and_then(first);
        let (row, at) = match (named, any, row) {
            (Some((one, _)), Some((other, at)), _) if other < one => (from_any, at),
            (Some((_, at)), _, Some(row)) => (row, at),
            (_, Some((_, at)), _) => (from_any, at),
            _ => return None,
        };
        row.remove(at).map(|entry| entry.what)
    }

    /// The messages of each source that wait.
    fn messages(&self) -> impl Iterator<Item = (u32, &VecDeque<Entry<i32, M>>)> {
        self.of.iter().map(|(source, rows)| (source as u32, &rows.messages))
    }

    /// Whether a receive that was posted may want a message, whatever comes.
    fn is_wanted(&self, source: u32, tag: i32) -> bool {
        let mut named = self.get(source).into_iter().flat_map(|rows| &rows.receives);
        self.from_any.iter().any(|entry| fits(entry.tag, tag))
            || named.any(|entry| fits(entry.tag, tag))
    }
}

impl Wanted {
    /// Whether a receive takes a message.
    #[inline]
    pub(crate) fn takes(self, envelope: Envelope) -> bool {
        self.context == envelope.context
            && self.source.is_none_or(|source| source == envelope.source)
            && fits(self.tag, envelope.tag)
    }
}

impl<R, M> Matching<R, M> {
    /// Where the order of messages is the logical one.
    pub fn logical() -> Matching<R, M> {
        Matching { is_logical: true, ..Matching::default() }
    }

    #[inline]
    fn context(&mut self, number: u64) -> &mut Context<R, M> {
        let new = || Context { of: Recent::default(), from_any: VecDeque::new() };
        self.contexts.get_or(number, new, Context::is_needed)
    }

    /// Where the first message is that a receive takes: its source, and its place in the row.
    fn find(&self, wanted: Wanted) -> Option<(u32, usize)> {
        let context = self.contexts.get(wanted.context)?;
        let first = |row: &VecDeque<Entry<i32, M>>| {
            row.iter().position(|entry| fits(wanted.tag, entry.tag))
        };
        if let Some(source) = wanted.source {
            let row = &context.get(source)?.messages;
            let at = first(row)?;
            // One before may want it: not all that it waits for is here.
            let is_bound = self.is_logical
                && !context.from_any.is_empty()
                && context.is_wanted(source, row[at].tag);
            return (!is_bound).then_some((source, at));
        }
        let firsts = context.messages().filter_map(|(source, row)| {
            let at = first(row)?;
            Some((row[at].order, (source, at)))
        });
        let seen = firsts.filter(|(order, _)| *order != UNSEEN);
        seen.min_by_key(|(order, _)| *order).map(|(_, found)| found)
    }

    /// Whether a receive would take a message that is not seen yet.
    pub fn is_unseen(&self, wanted: Wanted) -> bool {
        let row = |row: &VecDeque<Entry<i32, M>>| {
            row.iter().any(|entry| entry.order == UNSEEN && fits(wanted.tag, entry.tag))
        };
        let context = self.contexts.get(wanted.context);
        context.is_some_and(|context| match wanted.source {
            Some(source) => context.get(source).is_some_and(|rows| row(&rows.messages)),
            None => context.messages().any(|(_, messages)| row(messages)),
        })
    }

    /// Whether a receive that was posted waits for messages to be seen.
    pub fn waits_for_reveal(&self) -> bool {
        self.contexts.iter().any(|(number, context)| {
            context.from_any.iter().any(|entry| {
                self.is_unseen(Wanted { context: number, source: None, tag: entry.tag })
            })
        })
    }

    /// Shows all messages that are there: what receives now take of them.
    pub fn reveal(&mut self) -> Vec<Match<R, M>> {
        let mut matches = Vec::new();
        let mut numbers: Vec<u64> = self.contexts.iter().map(|(number, _)| number).collect();
        numbers.sort_unstable();
        for number in numbers {
            let context = self.contexts.get_mut(number).expect("it was there");
            let mut rows: Vec<_> = context.of.iter_mut().collect();
            rows.sort_unstable_by_key(|(source, _)| *source);
            for entry in rows.into_iter().flat_map(|(_, rows)| &mut rows.messages) {
                if entry.order == UNSEEN {
                    self.order += 1;
                    entry.order = self.order;
                }
            }
            matches.append(&mut self.settle(number));
        }
        matches
    }

    /// What the receives of a context now take, the first first.
    pub fn settle(&mut self, number: u64) -> Vec<Match<R, M>> {
        let mut matches = Vec::new();
        let Some(context) = self.contexts.get_mut(number) else { return matches };
        // They are posted anew one after the other: what those before have left they may take.
        let any = context.from_any.drain(..).map(|entry| (None, entry));
        let mut receives: Vec<_> = any.collect();
        for (source, rows) in context.of.iter_mut() {
            receives.extend(rows.receives.drain(..).map(|entry| (Some(source as u32), entry)));
        }
        receives.sort_unstable_by_key(|(_, entry)| entry.order);
        for (source, entry) in receives {
            let wanted = Wanted { context: number, source, tag: entry.tag };
            match self.take(wanted) {
                Some((envelope, message)) => matches.push((entry.what, envelope, message)),
                None => self.post(wanted, entry.what),
            }
        }
        matches
    }

    /// Whether a message that comes in a context is kept in any case, and [`Matching::settle`] says
    /// who takes it: a receive from any source waits there.
    #[inline]
    pub fn is_open(&self, context: u64) -> bool {
        self.is_logical
            && self.contexts.get(context).is_some_and(|context| !context.from_any.is_empty())
    }

    /// The message that a receive would take, if one waits.
    pub fn probe(&self, wanted: Wanted) -> Option<(Envelope, &M)> {
        let (source, at) = self.find(wanted)?;
        let entry = &self.contexts.get(wanted.context)?.get(source)?.messages[at];
        Some((Envelope { context: wanted.context, source, tag: entry.tag }, &entry.what))
    }

    /// Takes the message out that a receive takes, if one waits.
    pub fn take(&mut self, wanted: Wanted) -> Option<(Envelope, M)> {
        let (source, at) = self.find(wanted)?;
        let rows = self.contexts.get_mut(wanted.context)?.get_mut(source)?;
        let entry = take_out(&mut rows.messages, at)?;
        Some((Envelope { context: wanted.context, source, tag: entry.tag }, entry.what))
    }

    /// A message that waits, by its sender and what it is: for whoever brings its later parts.
    pub fn waiting(&mut self, envelope: Envelope, is_it: impl Fn(&M) -> bool) -> Option<&mut M> {
        let rows = self.contexts.get_mut(envelope.context)?.get_mut(envelope.source)?;
        rows.messages.iter_mut().rev().map(|entry| &mut entry.what).find(|message| is_it(message))
    }

    /// Takes the message out that a receive takes, or posts the receive.
    #[inline(always)]
    pub fn take_or_post(&mut self, wanted: Wanted, receive: R) -> Option<(Envelope, M)> {
        // Nearly always nothing of its source waits, and rows are looked for once.
        if let Some(source) = wanted.source {
            let order = self.order + 1;
            let rows = self.context(wanted.context).rows(source);
            if rows.messages.is_empty() {
                put_in(&mut rows.receives, Entry { order, tag: wanted.tag, what: receive });
                self.order = order;
                return None;
            }
        }
        let taken = self.take(wanted);
        if taken.is_none() {
            self.post(wanted, receive);
        }
        taken
    }

    /// Posts a receive for which no message waits.
    pub fn post(&mut self, wanted: Wanted, receive: R) {
        self.order += 1;
        let entry = Entry { order: self.order, tag: wanted.tag, what: receive };
        let context = self.context(wanted.context);
        match wanted.source {
            Some(source) => put_in(&mut context.rows(source).receives, entry),
            None => context.from_any.push_back(entry),
        }
    }

    /// Takes the receive out that takes a message, if one was posted.
    #[inline]
    pub fn arrive(&mut self, envelope: Envelope) -> Option<R> {
        let context = self.contexts.get_mut(envelope.context)?;
        if !context.from_any.is_empty() {
            return context.arrive(envelope);
        }
        // Nearly always the first of its source takes it.
        let row = &mut context.get_mut(envelope.source)?.receives;
        if fits(row.front()?.tag, envelope.tag) {
            return row.pop_front().map(|entry| entry.what);
        }
        let at = row.iter().position(|entry| fits(entry.tag, envelope.tag))?;
        row.remove(at).map(|entry| entry.what)
    }

    /// Whether a receive takes the next message from its source that fits: none waits there, and no
    /// receive that was posted before may want it.
    #[inline]
    pub fn is_next(&self, wanted: Wanted) -> bool {
        let Some(source) = wanted.source else { return false };
        self.contexts.get(wanted.context).is_none_or(|context| {
            context.from_any.is_empty() && !context.get(source).is_some_and(Rows::is_needed)
        })
    }

    /// Has a message wait that no receive has taken.
    pub fn keep(&mut self, envelope: Envelope, message: M) {
        self.order += 1;
        // Notes are no messages of the program.
        let is_seen = !self.is_logical || envelope.context == NOTES;
        let order = if is_seen { self.order } else { UNSEEN };
        let entry = Entry { order, tag: envelope.tag, what: message };
        let context = self.context(envelope.context);
        put_in(&mut context.rows(envelope.source).messages, entry);
    }

    /// Takes a message out that waits, by its sender and what it is; none where a receive has it.
    pub fn drop_kept(&mut self, envelope: Envelope, is_it: impl Fn(&M) -> bool) -> Option<M> {
        let rows = self.contexts.get_mut(envelope.context)?.get_mut(envelope.source)?;
        let at = rows.messages.iter().position(|entry| is_it(&entry.what))?;
        take_out(&mut rows.messages, at).map(|entry| entry.what)
    }

    /// Takes a receive back; none where it has taken a message.
    pub fn withdraw(&mut self, wanted: Wanted, is_it: impl Fn(&R) -> bool) -> Option<R> {
        let context = self.contexts.get_mut(wanted.context)?;
        let row = match wanted.source {
            Some(source) => &mut context.get_mut(source)?.receives,
            None => &mut context.from_any,
        };
        let at = row.iter().position(|entry| is_it(&entry.what))?;
        row.remove(at).map(|entry| entry.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_communicators_that_come_and_go_is_kept_only_what_waits() {
        let mut matching = Matching::default();
        let of = |context| Wanted { context, source: Some(1), tag: Some(0) };
        matching.post(of(0), "waits");
        // Each is freed before its receive has its message, as standards allow.
        for context in 1..10_000 {
            matching.post(of(context), "goes");
            let envelope = Envelope { context, source: 1, tag: 0 };
            assert_eq!(matching.arrive(envelope), Some("goes"));
        }
        assert!(matching.contexts.iter().count() <= CONTEXTS);
        matching.keep(Envelope { context: 0, source: 1, tag: 7 }, ());
        assert_eq!(matching.arrive(Envelope { context: 0, source: 1, tag: 0 }), Some("waits"));
        assert!(matching.take(Wanted { tag: None, ..of(0) }).is_some());
    }
}
