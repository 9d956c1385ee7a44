//! What a rank's end waits on: for those who look whether that is for ever (`deadlock.rs`).

use crate::buffer::Buffer;
use crate::carrier::{Carrier, Failure};
use crate::deadlock::Wait;
use crate::descriptor::{Envelope, Head};
use crate::endpoint::{Endpoint, Outcome, Ticket};
use crate::incoming::What;
use crate::matching::Wanted;
use crate::state::Operation;

/// The context of notes: they are no activity.
pub const NOTES: u64 = 0;

/// Operations of which a wait tells.
const TOLD: usize = 2;

/// The name and the members of a communicator, by its context.
pub type Communicators<'a> = &'a dyn Fn(u64) -> Option<(String, Vec<u32>)>;

/// Whether an operation receives or sends.
#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

/// Whether it is a note that has come.
pub(crate) fn is_note(head: &Head) -> bool {
    matches!(head, Head::Eager { envelope, .. } if envelope.context == NOTES)
}

impl<C: Carrier, B: Buffer> Endpoint<C, B> {
    /// This rank's number in the job.
    pub fn me(&self) -> u32 {
        self.me
    }

    /// Counts what comes and what is begun, without notes.
    pub fn activity(&self) -> u64 {
        self.state.activity
    }

    /// Notes that have come so far and were not taken.
    pub fn notes(&self) -> u64 {
        self.state.notes
    }

    /// The next of them, and who sent it.
    pub fn take_note(&mut self) -> Option<(u32, Vec<u8>)> {
        if self.state.notes == 0 {
            return None;
        }
        let wanted = Wanted { context: NOTES, source: None, tag: None };
        let (_, message) = self.state.matching.take(wanted)?;
        self.state.notes -= 1;
        match message.what {
            What::Eager { bytes, .. } => Some((message.from, bytes)),
            What::Offer { .. } => None,
        }
    }

    /// What the operations that go on wait on, and a probe, for what and from whom. More than one
    /// of them may be waited for, or all; none is known where it cannot be told who could end one,
    /// or where those who could are gone: then it ends anyway.
    pub fn waits(
        &self,
        probe: Option<(Wanted, Option<u32>)>,
        communicators: Communicators<'_>,
    ) -> Option<Wait> {
        // What is there may end it at quiescence.
        if self.has_hope() {
            return None;
        }
        let mut operations: Vec<(Wanted, Option<u32>, Way)> = Vec::new();
        operations.extend(probe.map(|(wanted, from)| (wanted, from, Way::In)));
        for operation in self.state.operations.iter() {
            operations.push(match operation {
                Operation::Receive { wanted, from, .. } => (*wanted, *from, Way::In),
                Operation::Send { to, envelope, .. } => {
                    let Envelope { context, source, tag } = *envelope;
                    let wanted = Wanted { context, source: Some(source), tag: Some(tag) };
                    (wanted, Some(*to), Way::Out)
                }
                Operation::Ended(..) => continue,
            });
        }
        let mut wait = Wait::default();
        for (at, (wanted, other, way)) in operations.iter().enumerate() {
            wait.on.extend(self.who(*wanted, *other, communicators)?);
            if at < TOLD {
                wait.what.push_str(if at > 0 { ", and for " } else { "" });
                wait.what.push_str(&said(*wanted, *other, *way, communicators));
            }
        }
        let count = operations.len();
        if count > TOLD {
            wait.what.push_str(&format!(", and for {} more", count - TOLD));
        }
        wait.on.sort_unstable();
        wait.on.dedup();
        (count > 0).then_some(wait)
    }

    /// Who else could end an operation; none where that is not known, or they are gone.
    fn who(
        &self,
        wanted: Wanted,
        other: Option<u32>,
        communicators: Communicators<'_>,
    ) -> Option<Vec<u32>> {
        let mut others = match other {
            Some(other) => vec![other],
            None => communicators(wanted.context)?.1,
        };
        others.retain(|other| *other != self.me);
        let is_alone = others.is_empty();
        others.retain(|other| self.carrier.is_gone(*other).is_none());
        (is_alone || !others.is_empty()).then_some(others)
    }

    /// What a receive from any source takes that has taken nothing.
    pub fn from_any(&self, ticket: Ticket) -> Option<Wanted> {
        match self.state.operations.get(ticket.0)? {
            Operation::Receive { wanted, from: None, taken: None, .. } => Some(*wanted),
            _ => None,
        }
    }

    /// Ends such a receive, unless what has come meanwhile is for it.
    pub fn fail(&mut self, ticket: Ticket, failure: Failure) {
        while matches!(self.progress(), Ok(true)) {}
        let Some(wanted) = self.from_any(ticket) else { return };
        if self.state.matching.withdraw(wanted, |posted| *posted == ticket.0).is_some() {
            let envelope = Envelope { context: wanted.context, source: 0, tag: 0 };
            let outcome = Outcome { failure: Some(failure), ..Outcome::of(envelope, 0) };
            self.state.end(ticket.0, outcome);
        }
    }
}

/// What an operation waits for, in words.
fn said(wanted: Wanted, other: Option<u32>, way: Way, communicators: Communicators<'_>) -> String {
    let name = communicators(wanted.context).map_or("a communicator".to_owned(), |it| it.0);
    let tag = wanted.tag.map_or(String::new(), |tag| format!(" with tag {tag}"));
    match (other, way) {
        (None, _) => format!("a message{tag} from any rank of {name}"),
        // A collective's contexts are odd.
        (Some(other), _) if wanted.context & 1 == 1 => {
            format!("rank {other} to take part in a collective of {name}")
        }
        (Some(other), Way::In) => format!("a message{tag} from rank {other} in {name}"),
        (Some(other), Way::Out) => format!("rank {other} to receive a message{tag} in {name}"),
    }
}
