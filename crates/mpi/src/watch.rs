//! A rank that has waited for long: it looks whether that is for ever (`muster_message::Detector`),
//! and whether somebody is left who could send what it waits for.
//!
//! Notes are short messages of a context of their own, so they go the way of all messages. They are
//! heard only when everything else that has come was seen to, and did not end the wait.

use crate::buffer::{Memory, Typed};
use crate::communicator::Communicator;
use crate::datatype::{Datatype, Predefined};
use crate::error::Result;
use crate::partitioned::Channel;
use crate::process::State;
use muster_message::{
    Besides, Buffer, Carrier, Communicators, Detector, Endpoint, Envelope, Failure, Mode, NOTES,
    Note, Ticket, Told, Wait, Wanted,
};
use std::sync::Arc;
use std::time::Duration;

/// How long a thread waits at most before it looks whether those it waits for are still there.
const LOOK: Duration = Duration::from_secs(1);

/// How long it takes at most until it asks again; each time it takes twice as long.
const AGAIN: Duration = Duration::from_secs(8);

/// Ranks of which a wait tells.
const TOLD: usize = 4;

/// How long who has found a deadlock waits until it tells it, where rank 0 says nothing: longer
/// than a rank 0 waits for a processor that is to say that another one tells it.
const HEED: Duration = Duration::from_secs(5);

/// How long a call that could go on if all ranks waited does not until that is told.
const LATE: Duration = Duration::from_secs(10);

/// How long after one rank the next one tells it, if none has before: so long that it has heard of
/// that also where it waits for a processor. Those behind the first few do not wait so much longer
/// each, for a job may have thousands.
const TURN: Duration = Duration::from_millis(50);
const FIRST: (Duration, u32) = (Duration::from_secs(1), 8);

/// Ranks that began to wait at once do not ask at once: one will do. Milliseconds.
const APART: u64 = 256;

/// What the library around a process knows.
pub trait Outside: Send + Sync {
    /// The name of the communicator of a context, and who receives can come from, by their numbers
    /// in the job.
    fn communicator(&self, context: u64) -> Option<(String, Vec<u32>)>;

    /// What the program has called.
    fn call(&self) -> &'static str;

    /// Whether anybody is to look for deadlocks.
    fn is_watched(&self) -> bool;

    /// Whether other threads may go on while those that wait do.
    fn has_threads(&self, waiting: u32) -> bool;

    /// Ranks wait for one another for ever: ends the job.
    fn deadlock(&self, told: &Told);

    /// This rank has been for `waited` in a call of the coscheduled mode that can go on when all
    /// ranks wait: one of them does not.
    fn late(&self, me: u32, waited: Duration);
}

/// What a wait is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// For messages that have begun, and nothing else.
    Messages,
    /// For a message to be there, from that rank of the job.
    Probe(Wanted, Option<u32>),
    /// For those to post whose memory of a window is to be used; for those to complete who use it.
    Posts(u64),
    /// The same, behind their use.
    Completes(u64),
    /// For what was asked of ranks about a window: where that are locks, for those.
    Locks(u64),
    /// For the lock of that rank of a window, which lies here.
    Lock(u64, u32),
    /// For messages, and for what was asked of ranks about windows.
    Accesses,
    /// For messages, and for partitions.
    Round(Channel),
    /// For messages, and for what only this process's own threads can end.
    Own,
    /// For all others to come to the end, too: this rank sends nothing any more.
    End,
    /// For something else as well: nobody looks whether it is for ever.
    Other,
}

impl Waits {
    /// What is waited for by who waits for two of these.
    #[must_use]
    pub fn and(self, other: Waits) -> Waits {
        let weight = |it: Waits| match it {
            Waits::Messages => 0,
            Waits::Accesses => 1,
            Waits::Round(_) => 2,
            Waits::Own => 3,
            _ => 4,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

/// What a process keeps of it.
pub(crate) struct Watch {
    detector: Detector,
    pub(crate) outside: Option<Arc<dyn Outside>>,
    /// What had happened when this rank was asked.
    seen: u64,
    /// Whether a wait has taken long.
    pub(crate) is_long: bool,
    /// Whether this rank was asked since it last asked itself.
    is_asked: bool,
    /// Messages all of which somebody waits for, and what had happened then.
    needs: (u64, Vec<Ticket>),
    /// When it tells what it has found.
    tells: Option<Duration>,
    /// Whether a rank has told that it waits for long until all wait: once will do.
    has_told_late: bool,
}

/// A wait that goes on.
pub(crate) struct Patience {
    waits: Waits,
    has_begun: bool,
    /// When it asks next.
    next: Option<Duration>,
    times: u32,
}

impl Patience {
    pub(crate) fn new(waits: Waits) -> Patience {
        Patience { waits, has_begun: false, next: None, times: 0 }
    }

    /// A sleep has ended, and nothing had come.
    pub(crate) fn in_vain<C: Carrier, B: Buffer>(&mut self, endpoint: &mut Endpoint<C, B>) {
        if self.next.is_none() {
            self.next = Some(endpoint.carrier().now() + apart(endpoint.me(), 0));
        }
    }
}

/// What goes with them in a sentence.
fn has(ranks: &[u32]) -> &'static str {
    if ranks.len() == 1 { "has" } else { "have" }
}

/// Ranks in words.
fn listed(ranks: &[u32]) -> String {
    let told = ranks.iter().take(TOLD).map(|rank| format!("rank {rank}")).collect::<Vec<_>>();
    let more = if ranks.len() > TOLD { " and others" } else { "" };
    told.join(", ") + more
}

/// How long after others a rank asks.
fn apart(me: u32, times: u32) -> Duration {
    let mixed = (u64::from(me) << 8 | u64::from(times)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Duration::from_millis(mixed % APART)
}

impl Watch {
    pub(crate) fn new(me: u32) -> Watch {
        let detector = Detector::new(me);
        let (needs, is_long) = ((0, Vec::new()), false);
        let (is_asked, has_told_late) = (false, false);
        let (outside, seen, tells) = (None, 0, None);
        Watch { detector, outside, seen, is_long, is_asked, needs, tells, has_told_late }
    }
}

impl<C: Carrier, M: Memory> State<C, M> {
    /// This rank goes on waiting; how long it may sleep. `threads`: how many do, where others may
    /// call meanwhile.
    pub(crate) fn look_out(
        &mut self,
        patience: &mut Patience,
        threads: Option<u32>,
    ) -> Result<Duration> {
        self.watch.is_long = patience.next.is_some();
        let is_first = !std::mem::replace(&mut patience.has_begun, true);
        let activity = self.endpoint.activity();
        if is_first || self.watch.seen != activity {
            self.watch.detector.reset();
            self.watch.seen = activity;
        }
        if is_first {
            self.watch.needs.1.clear();
        }
        if self.endpoint.notes() == 0 && patience.next.is_none() {
            return Ok(LOOK);
        }
        let wait = self.wait(patience.waits, threads);
        if wait.is_some() && self.progress()? {
            // Who is gone by now may have sent something before.
            return Ok(Duration::ZERO);
        }
        let is_late = patience.next.is_some_and(|next| self.now() >= next + LOOK);
        if wait.is_none()
            && is_late
            && patience.waits != Waits::End
            && let Some(failure) = self.endpoint.misses()
        {
            // The last that it has sent may be what was waited for.
            return if self.progress()? { Ok(Duration::ZERO) } else { Err(failure.into()) };
        }
        let mut found = self.hear(wait.as_ref());
        let asking = wait.as_ref().filter(|wait| wait.besides != Besides::Never);
        let mut most = LOOK;
        if let (Some(wait), Some(next)) = (asking, patience.next) {
            let now = self.now();
            if now >= next {
                // Not twice in a row: others may ask in vain where this one would not.
                let is_asked = std::mem::take(&mut self.watch.is_asked);
                if !is_asked || patience.times % 2 == 1 {
                    found = self.watch.detector.ask(wait).or(found);
                }
                patience.times += 1;
                let later = LOOK * 2_u32.saturating_pow(patience.times - 1);
                let later = later.min(AGAIN) + apart(self.endpoint.me(), patience.times);
                patience.next = Some(now + later);
            }
            most = patience.next.map_or(LOOK, |next| next.saturating_sub(now)).min(LOOK);
        }
        self.tell_late(patience)?;
        let told = self.tell(found);
        for (to, note) in std::mem::take(&mut self.watch.detector.notes) {
            self.say(to, &note)?;
            // With a note what had waited for room before it may have left, and that be waited for.
            most = Duration::ZERO;
        }
        if let (Some(told), Some(outside)) = (told, &self.watch.outside) {
            outside.deadlock(&told);
        }
        Ok(most)
    }

    fn now(&mut self) -> Duration {
        self.endpoint.carrier().now()
    }

    /// Hears the notes that have come; the deadlock that this rank has found by them.
    fn hear(&mut self, wait: Option<&Wait>) -> Option<Told> {
        let mut found = None;
        while let Some((from, note)) = self.endpoint.take_note() {
            match (Note::decode(&note), wait) {
                (Some(Note::Found), _) => self.watch.detector.let_tell(from),
                (Some(Note::Tell), _) => self.watch.tells = Some(self.now()),
                (Some(Note::Late), _) => self.watch.has_told_late = true,
                (Some(note), Some(wait)) => {
                    self.watch.is_asked |= matches!(note, Note::Ask { .. });
                    found = self.watch.detector.hear(from, note, wait).or(found);
                }
                _ => {}
            }
        }
        found
    }

    /// Tells that a call waits for long until all ranks wait, because one computes, or waits for
    /// something that is no message: that one nobody else can see.
    fn tell_late(&mut self, patience: &Patience) -> Result<()> {
        let me = self.endpoint.me();
        let since = patience.next.filter(|_| patience.waits != Waits::End);
        let (Some(since), false) = (since, self.watch.has_told_late) else { return Ok(()) };
        let Some(size) = self.endpoint.hopes() else { return Ok(()) };
        if self.now() < since + LATE + TURN * me + FIRST.0 * me.min(FIRST.1) {
            return Ok(());
        }
        self.watch.has_told_late = true;
        let Some(outside) = self.watch.outside.as_ref().filter(|it| it.is_watched()) else {
            return Ok(());
        };
        outside.late(me, LATE);
        (0..size).filter(|rank| *rank != me).try_for_each(|rank| self.say(rank, &Note::Late))
    }

    /// What this rank is to tell now, of what it has found.
    fn tell(&mut self, found: Option<Told>) -> Option<Told> {
        let now = self.now();
        if let Some(found) = found {
            self.watch.tells.get_or_insert(now + HEED);
            if let Some(told) = self.watch.detector.found(found) {
                return Some(told);
            }
        }
        let is_time = self.watch.tells.is_some_and(|time| now >= time);
        is_time.then(|| self.watch.detector.tell()).flatten()
    }

    /// Somebody waits for all of these.
    pub(crate) fn needs(&mut self, tickets: &[Ticket]) {
        let watch = &mut self.watch;
        if watch.is_long {
            let activity = self.endpoint.activity();
            if watch.needs.0 != activity {
                watch.needs.0 = activity;
                watch.needs.1.clear();
            }
            for ticket in tickets {
                if !watch.needs.1.contains(ticket) {
                    watch.needs.1.push(*ticket);
                }
            }
        }
    }

    /// What this rank waits on, if that is known.
    fn wait(&mut self, waits: Waits, threads: Option<u32>) -> Option<Wait> {
        let outside = self.watch.outside.clone()?;
        if !outside.is_watched() {
            return None;
        }
        // Of a collective on a board nothing is posted until it has been waited for long.
        if self.unseen > 0 {
            return None;
        }
        // Somebody has come whom this rank waits for, and it has not looked since.
        if self.endpoint.carrier().boards().is_some_and(|boards| boards.has_shown()) {
            return None;
        }
        // Another thread may wait for what no operation stands for.
        let others = self.turns.others(waits != Waits::Messages);
        let goes_on = || threads.is_some_and(|all| others || outside.has_threads(all));
        let besides = || if goes_on() { Besides::Anything } else { Besides::Nothing };
        let communicator = |context: u64| outside.communicator(Communicator::of_message(context));
        let wait = match waits {
            Waits::Other => return None,
            // They end when those are in a call who were asked.
            Waits::Accesses | Waits::Round(_) | Waits::Own if self.windows.are_asked() => None,
            Waits::End => {
                let what = format!("{} was called, so nothing is sent any more", outside.call());
                self.endpoint.waits_on(Vec::new(), Besides::Never, what, &communicator)
            }
            Waits::Posts(context) => {
                let on = self.windows.get(context).ok()?.awaits_posts();
                self.wait_on(on, besides(), "MPI_Win_post", &communicator)
            }
            Waits::Completes(context) => {
                let on = self.windows.get(context).ok()?.awaits_completes();
                self.wait_on(on, besides(), "MPI_Win_complete", &communicator)
            }
            Waits::Locks(context) => self.wait_for_locks(context, besides(), &communicator),
            Waits::Lock(context, target) => {
                self.wait_for_lock((context, target), besides(), &communicator)
            }
            // Whether a thread that is in no call comes to the end of it nobody can tell, whatever
            // the program has said of its threads.
            Waits::Round(_) | Waits::Own
                if goes_on() || outside.has_threads(threads.unwrap_or(1)) =>
            {
                None
            }
            Waits::Round(channel) => {
                let what = self.channels.said(channel, &communicator)?;
                let what = format!("{} waits for {what}", outside.call());
                self.endpoint.waits_on(Vec::new(), Besides::Nothing, what, &communicator)
            }
            Waits::Own => {
                let what =
                    "waits for a request of the program's own, which no thread is left to end";
                let what = format!("{} {what} (MPI_Grequest_complete)", outside.call());
                self.endpoint.waits_on(Vec::new(), Besides::Nothing, what, &communicator)
            }
            Waits::Probe(wanted, from) => {
                self.wait_for_messages(Some((wanted, from)), besides(), &communicator)
            }
            Waits::Messages | Waits::Accesses => {
                self.wait_for_messages(None, besides(), &communicator)
            }
        };
        self.with_holders(wait?, &communicator)
    }

    /// What this rank waits on that waits for messages, and perhaps for one to be there.
    fn wait_for_messages(
        &self,
        probe: Option<(Wanted, Option<u32>)>,
        besides: Besides,
        communicators: Communicators<'_>,
    ) -> Option<Wait> {
        let (at, needs) = &self.watch.needs;
        let needs = if *at == self.endpoint.activity() { &needs[..] } else { &[] };
        let mut wait = self.endpoint.waits(probe, needs, besides, communicators)?;
        wait.what = format!("{} waits for {}", self.watch.outside.as_ref()?.call(), wait.what);
        Some(wait)
    }

    /// What this rank waits on that waits for locks: those whose memory it is, who give them.
    fn wait_for_locks(
        &mut self,
        context: u64,
        besides: Besides,
        communicators: Communicators<'_>,
    ) -> Option<Wait> {
        let on = self.windows.get(context).ok()?.awaits_locks();
        if on.is_empty() {
            return None;
        }
        let (name, call) = (communicators(context)?.0, self.watch.outside.as_ref()?.call());
        let what = format!("{call} waits for the lock of {} in {name}", listed(&on));
        let mut wait = self.endpoint.waits_on(on, besides, what, communicators)?;
        // Who has come to its end gives locks all the same.
        wait.needs.clear();
        Some(wait)
    }

    /// What this rank waits on that waits for a lock where that lies: all of the window, for who
    /// has it may give it to any other, and say nothing of that here.
    fn wait_for_lock(
        &mut self,
        (context, target): (u64, u32),
        besides: Besides,
        communicators: Communicators<'_>,
    ) -> Option<Wait> {
        let window = self.windows.get(context).ok()?;
        let (holders, others) = window.around_lock(target);
        let rank = window.world(target);
        // It is to be had by now.
        if holders.is_empty() {
            return None;
        }
        let (name, call) = (communicators(context)?.0, self.watch.outside.as_ref()?.call());
        let (who, have) = (listed(&holders), has(&holders));
        let what =
            format!("{call} waits for the lock of rank {rank} in {name}, which {who} {have}");
        let mut wait = self.endpoint.waits_on(others, besides, what, communicators)?;
        wait.needs.clear();
        Some(wait)
    }

    /// A wait of this rank, during which it gives a lock to who waits for it as soon as others give
    /// it back: so these, too, can have it send something.
    fn with_holders(&self, mut wait: Wait, communicators: Communicators<'_>) -> Option<Wait> {
        for (context, holders, waiting) in self.windows.contended() {
            // Who has given it back is about to say so.
            if holders.is_empty() {
                return None;
            }
            let name = communicators(context)?.0;
            let (who, have) = (listed(&holders), has(&holders));
            let told = format!("; {who} {have} its lock in {name}, for which rank {waiting} waits");
            wait.what.push_str(&told);
            let me = self.endpoint.me();
            wait.on.extend(holders.into_iter().filter(|holder| *holder != me));
            wait.needs.clear();
        }
        wait.on.sort_unstable();
        wait.on.dedup();
        if wait.besides == Besides::Never && !wait.on.is_empty() {
            wait.besides = Besides::Nothing;
        }
        Some(wait)
    }

    /// What this rank waits on that waits until others call a function.
    fn wait_on(
        &self,
        on: Vec<u32>,
        besides: Besides,
        function: &str,
        communicators: Communicators<'_>,
    ) -> Option<Wait> {
        let call = self.watch.outside.as_ref()?.call();
        let what = format!("{call} waits for {} to call {function}", listed(&on));
        if on.is_empty() {
            return None;
        }
        self.endpoint.waits_on(on, besides, what, communicators)
    }

    fn say(&mut self, to: u32, note: &Note) -> Result<()> {
        let note = note.encode();
        let byte = Datatype::of(Predefined::Byte).clone();
        let mut bytes = Typed::new(M::scratch(note.len()), note.len(), byte)?;
        bytes.write(0, &note);
        let envelope = Envelope { context: NOTES, source: self.endpoint.me(), tag: 0 };
        match self.endpoint.send(to, envelope, Mode::Standard, bytes) {
            Ok(Some(ticket)) => self.endpoint.release(ticket),
            // Who is gone by now is not asked the next time.
            Ok(None) | Err(Failure::Gone { .. }) => {}
            Err(broken) => return Err(broken.into()),
        }
        Ok(())
    }

    /// That all who could send what a receive from any rank of a communicator takes are gone, where
    /// it has waited for long.
    pub(crate) fn all_gone(&mut self, context: u64) -> Option<Failure> {
        let outside = self.watch.outside.as_ref().filter(|_| self.watch.is_long)?;
        let (name, members) = outside.communicator(context)?;
        let me = self.endpoint.me();
        let mut others = members.into_iter().filter(|member| *member != me).peekable();
        let rank = *others.peek()?;
        let evidence = format!("so are all others of {name} that could send a message");
        let carrier = self.endpoint.carrier();
        others
            .all(|other| carrier.is_gone(other).is_some())
            .then_some(Failure::Gone { rank, evidence })
    }

    /// Ends a message that waits for ranks that are gone.
    pub(crate) fn give_up(&mut self, ticket: Ticket) {
        match self.endpoint.from_any(ticket) {
            None => self.endpoint.give_up(ticket),
            Some(wanted) => {
                if let Some(failure) = self.all_gone(wanted.context) {
                    self.endpoint.fail(ticket, failure);
                }
            }
        }
    }
}
