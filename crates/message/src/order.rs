//! What a rank's end does more where the order of messages is of interest: the coscheduled mode,
//! where it is a logical one, digests, and logs. A rank's end of the direct mode has nothing of it.
//!
//! A message of the next epoch tells that this one has ended, as a reveal does. It is held until
//! the rank has seen what the end of this one lets it see: else what a test is told would depend on
//! which of the two came first.

use crate::carrier::Failure;
use crate::descriptor::{Envelope, Head};
use crate::log::{Digest, Followed, Log};
use crate::matching::Wanted;
use crate::quiescence::Quiescence;
use crate::waits::ASIDE;
use std::collections::BTreeMap;

/// What is wanted of it.
#[derive(Default)]
pub struct Orders {
    /// How many ranks the job has.
    pub size: u32,
    /// Whether the order of messages is the logical one.
    pub is_coscheduled: bool,
    /// From which length on messages are offered, to whomever.
    pub offered_from: usize,
    /// Whether there is a digest in the end.
    pub has_digest: bool,
    /// Whether there is a log.
    pub has_log: bool,
    /// Whether a log is followed: see [`crate::Endpoint::follow`].
    pub has_leader: bool,
}

impl Orders {
    /// Whether nothing is wanted.
    fn are_none(&self) -> bool {
        !self.is_coscheduled && !self.has_digest && !self.has_log && !self.has_leader
    }
}

/// A source of which nothing comes: it is no rank.
const NOBODY: u32 = u32::MAX;

/// What is said where a run is not that of the log.
#[must_use]
pub fn departs() -> Failure {
    let what = "the run departs from the log that it follows: the program, or what it was given, \
                is another";
    Failure::Departs(what.to_owned())
}

/// The beginning of a message that has come too early.
pub(crate) struct Held {
    pub(crate) from: u32,
    pub(crate) head: Head,
    pub(crate) total: usize,
    pub(crate) head_size: usize,
    pub(crate) bytes: Vec<u8>,
}

/// It.
pub(crate) struct Order {
    /// In the coscheduled mode.
    pub(crate) quiescence: Option<Quiescence>,
    /// How many ranks the job has.
    pub(crate) size: u32,
    pub(crate) offered_from: usize,
    /// Whether something can go on when messages are revealed.
    pub(crate) is_hoped: bool,
    /// Whether they are to be revealed now.
    pub(crate) is_due: bool,
    pub(crate) held: Option<Held>,
    /// Contexts in which receives may take what was kept.
    pub(crate) unsettled: Vec<u64>,
    pub(crate) digest: Option<Digest>,
    pub(crate) log: Option<Log>,
    pub(crate) followed: Option<Followed>,
    /// Receives from any source so far, where no log counts them,
    posted: Counts,
    /// claims, for the digest,
    claimed: Counts,
    /// and receives from a certain source, where a log is made or followed.
    named: Counts,
    /// Their numbers, by their operations': it is said of those that are taken back.
    names: BTreeMap<u32, usize>,
}

/// How often something was done, by context.
#[derive(Default)]
struct Counts(BTreeMap<u64, usize>);

impl Counts {
    /// The number of the next one.
    fn next(&mut self, context: u64) -> usize {
        let count = self.0.entry(context).or_default();
        *count += 1;
        *count - 1
    }
}

impl Order {
    pub(crate) fn new(me: u32, orders: Orders) -> Option<Box<Order>> {
        (!orders.are_none()).then(|| {
            let Orders { size, is_coscheduled, offered_from, has_digest, has_log, .. } = orders;
            Box::new(Order {
                quiescence: is_coscheduled.then(|| Quiescence::new(me, size)),
                size,
                offered_from,
                is_hoped: false,
                is_due: false,
                held: None,
                unsettled: Vec::new(),
                digest: has_digest.then(Digest::default),
                log: has_log.then(Log::default),
                followed: None,
                posted: Counts::default(),
                claimed: Counts::default(),
                named: Counts::default(),
                names: BTreeMap::new(),
            })
        })
    }

    /// Receives of a context may take what was kept: they are looked at once, however many messages
    /// have come.
    pub(crate) fn unsettle(&mut self, context: u64) {
        if !self.unsettled.contains(&context) {
            self.unsettled.push(context);
        }
    }

    /// What a receive wants that is posted as an operation, and its number of those from any source
    /// in its context: where a log is followed, it becomes one from the source that the log has,
    /// and one that was taken back there takes nothing.
    pub(crate) fn number(
        &mut self,
        wanted: Wanted,
        operation: u32,
    ) -> Result<(Wanted, Option<usize>), Failure> {
        let mut now = wanted;
        if wanted.source.is_some() {
            if self.log.is_some() || self.followed.is_some() {
                let number = self.named.next(wanted.context);
                self.names.insert(operation, number);
                let followed = self.followed.as_ref();
                if followed.is_some_and(|it| it.is_cancelled(wanted.context, number)) {
                    now.source = Some(NOBODY);
                }
            }
            return Ok((now, None));
        }
        if let Some(followed) = &mut self.followed {
            let source = followed.receive(wanted).ok_or_else(departs)?;
            // The receive of the log took none, so this one takes none either.
            now.source = Some(source.unwrap_or(NOBODY));
        }
        Ok((now, Some(self.post(wanted.context))))
    }

    fn post(&mut self, context: u64) -> usize {
        if let Some(log) = &mut self.log {
            return log.post(context);
        }
        self.posted.next(context)
    }

    /// Whether a receive can be taken back: where a log is followed, only one that was there.
    pub(crate) fn can_cancel(&self, wanted: Wanted) -> bool {
        self.followed.is_none() || wanted.source == Some(NOBODY)
    }

    /// A receive was taken back; `number`: of those from any source.
    pub(crate) fn cancelled(&mut self, context: u64, operation: u32, number: Option<usize>) {
        if let (Some(log), None, Some(name)) = (&mut self.log, number, self.names.get(&operation)) {
            log.cancel(context, *name);
        }
    }

    /// A message was claimed from any source.
    pub(crate) fn claim(&mut self, envelope: Envelope) {
        if let Some(digest) = self.digest.as_mut().filter(|_| envelope.context & ASIDE == 0) {
            digest.claim(self.claimed.next(envelope.context), envelope);
        }
        if let Some(log) = &mut self.log {
            log.claim(envelope.context, envelope.source);
        }
        if let Some(followed) = &mut self.followed {
            followed.claimed(envelope.context);
        }
    }

    /// It has taken a message.
    pub(crate) fn take(&mut self, number: Option<usize>, envelope: Envelope) {
        if let (Some(log), Some(number)) = (&mut self.log, number) {
            log.take(number, envelope);
        }
    }
}
