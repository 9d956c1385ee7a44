//! Which receive takes which message (MPI-5.0, 3.5): of the messages that fit a receive the one
//! that its sender sent first, of the receives that fit a message the one that was posted first.
//!
//! Receives and messages wait in rows, one for each source in each context, so a look passes over
//! nothing that is for or from others. Receives from any source have a row of their own; the order
//! of two rows is told by the numbers that all entries get as they come.

use crate::descriptor::Envelope;
use crate::mixed::Mixed;
use std::collections::{HashMap, VecDeque};

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

/// The rows of one context.
struct Context<R, M> {
    receives: HashMap<u32, VecDeque<Entry<Option<i32>, R>>, Mixed>,
    from_any: VecDeque<Entry<Option<i32>, R>>,
    messages: HashMap<u32, VecDeque<Entry<i32, M>>, Mixed>,
}

/// What waits for one another: receives `R`, and messages `M` that came before theirs.
pub struct Matching<R, M> {
    contexts: HashMap<u64, Context<R, M>, Mixed>,
    order: u64,
}

/// Whether a receive of a tag takes a message of another.
#[inline]
fn fits(wanted: Option<i32>, tag: i32) -> bool {
    wanted.map_or(tag >= 0, |wanted| wanted == tag)
}

impl<R, M> Default for Matching<R, M> {
    fn default() -> Self {
        Matching { contexts: HashMap::default(), order: 0 }
    }
}

impl<R, M> Matching<R, M> {
    #[inline]
    fn context(&mut self, number: u64) -> &mut Context<R, M> {
        self.contexts.entry(number).or_insert_with(|| Context {
            receives: HashMap::default(),
            from_any: VecDeque::new(),
            messages: HashMap::default(),
        })
    }

    /// Forgets a context, unless something waits there.
    pub fn forget(&mut self, context: u64) {
        let Some(rows) = self.contexts.get(&context) else { return };
        let posted = rows.receives.values().any(|row| !row.is_empty());
        if !posted && rows.from_any.is_empty() && rows.messages.values().all(VecDeque::is_empty) {
            self.contexts.remove(&context);
        }
    }

    /// Where the first message is that a receive takes: its source, and its place in the row.
    fn find(&self, wanted: Wanted) -> Option<(u32, usize)> {
        let context = self.contexts.get(&wanted.context)?;
        let first = |row: &VecDeque<Entry<i32, M>>| {
            row.iter().position(|entry| fits(wanted.tag, entry.tag))
        };
        if let Some(source) = wanted.source {
            let at = first(context.messages.get(&source)?)?;
            return Some((source, at));
        }
        let rows = context.messages.iter();
        let firsts = rows.filter_map(|(source, row)| {
            let at = first(row)?;
            Some((row[at].order, (*source, at)))
        });
        firsts.min_by_key(|(order, _)| *order).map(|(_, found)| found)
    }

    /// The message that a receive would take, if one waits.
    pub fn probe(&self, wanted: Wanted) -> Option<(Envelope, &M)> {
        let (source, at) = self.find(wanted)?;
        let entry = &self.contexts[&wanted.context].messages[&source][at];
        Some((Envelope { context: wanted.context, source, tag: entry.tag }, &entry.what))
    }

    /// Takes the message out that a receive takes, if one waits.
    pub fn take(&mut self, wanted: Wanted) -> Option<(Envelope, M)> {
        let (source, at) = self.find(wanted)?;
        let row = self.context(wanted.context).messages.get_mut(&source)?;
        let entry = row.remove(at)?;
        Some((Envelope { context: wanted.context, source, tag: entry.tag }, entry.what))
    }

    /// A message that waits, by its sender and what it is: for whoever brings its later parts.
    pub fn waiting(&mut self, envelope: Envelope, is_it: impl Fn(&M) -> bool) -> Option<&mut M> {
        let row = self.context(envelope.context).messages.get_mut(&envelope.source)?;
        row.iter_mut().rev().map(|entry| &mut entry.what).find(|message| is_it(message))
    }

    /// Posts a receive for which no message waits.
    pub fn post(&mut self, wanted: Wanted, receive: R) {
        self.order += 1;
        let entry = Entry { order: self.order, tag: wanted.tag, what: receive };
        let context = self.context(wanted.context);
        match wanted.source {
            Some(source) => context.receives.entry(source).or_default().push_back(entry),
            None => context.from_any.push_back(entry),
        }
    }

    /// Takes the receive out that takes a message, if one was posted.
    #[inline]
    pub fn arrive(&mut self, envelope: Envelope) -> Option<R> {
        let context = self.context(envelope.context);
        let first = |row: &VecDeque<Entry<Option<i32>, R>>| {
            let at = row.iter().position(|entry| fits(entry.tag, envelope.tag))?;
            Some((row[at].order, at))
        };
        let from_any = &mut context.from_any;
        let any = if from_any.is_empty() { None } else { first(from_any) };
        let row = context.receives.get_mut(&envelope.source);
        let named = row.as_deref().and_then(first);
        let (row, at) = match (named, any, row) {
            (Some((one, _)), Some((other, at)), _) if other < one => (from_any, at),
            (Some((_, at)), _, Some(row)) => (row, at),
            (_, Some((_, at)), _) => (from_any, at),
            _ => return None,
        };
        row.remove(at).map(|entry| entry.what)
    }

    /// Has a message wait that no receive has taken.
    pub fn keep(&mut self, envelope: Envelope, message: M) {
        self.order += 1;
        let entry = Entry { order: self.order, tag: envelope.tag, what: message };
        let context = self.context(envelope.context);
        context.messages.entry(envelope.source).or_default().push_back(entry);
    }

    /// Takes a receive back; none where it has taken a message.
    pub fn withdraw(&mut self, wanted: Wanted, is_it: impl Fn(&R) -> bool) -> Option<R> {
        let context = self.context(wanted.context);
        let row = match wanted.source {
            Some(source) => context.receives.get_mut(&source)?,
            None => &mut context.from_any,
        };
        let at = row.iter().position(|entry| is_it(&entry.what))?;
        row.remove(at).map(|entry| entry.what)
    }
}
