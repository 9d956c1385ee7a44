//! What a rank's end waits on: for those who look whether that is for ever (`deadlock.rs`).

use crate::buffer::Buffer;
use crate::carrier::{Carrier, Failure};
use crate::deadlock::{Besides, Wait};
use crate::descriptor::{Envelope, Head};
use crate::endpoint::{Endpoint, Outcome, Ticket};
use crate::incoming::What;
use crate::matching::Wanted;
use crate::state::Operation;

/// The context of notes: they are no activity.
pub const NOTES: u64 = 0;

/// Of contexts with this bit digests have nothing: it is what differs from run to run, such as the
/// names of memory that ranks share, and what brings a log.
pub const ASIDE: u64 = 2;

/// Operations of which a wait tells.
const TOLD: usize = 2;

/// The name and the members of a communicator, by its context.
pub type Communicators<'a> = &'a dyn Fn(u64) -> Option<(String, Vec<u32>)>;

/// Whether an operation receives or sends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    In,
    Out,
}

/// An operation that goes on: for what, the only rank that could end it, and which way.
type Under = (Wanted, Option<u32>, Way);

/// What is under way, unless it has ended.
fn under_way<B>(operation: &Operation<B>) -> Option<Under> {
    match operation {
        Operation::Receive { wanted, from, .. } => Some((*wanted, *from, Way::In)),
        Operation::Send { to, envelope, .. } => {
            let Envelope { context, source, tag } = *envelope;
            Some((Wanted { context, source: Some(source), tag: Some(tag) }, Some(*to), Way::Out))
        }
        Operation::Ended(..) => None,
    }
}

/// Whether it is a note that has come.
pub(crate) fn is_note(head: &Head) -> bool {
    matches!(head, Head::Eager { envelope, .. } if envelope.context == NOTES)
}

impl<C: Carrier, B: Buffer> Endpoint<C, B> {
    /// A wait for something that each of some ranks is to do, and that no operation here stands
    /// for; none where it may have been done. It waits on those as well who could end an operation
    /// that goes on: other ranks may wait for what this one does then.
    pub fn waits_on(
        &self,
        ranks: Vec<u32>,
        besides: Besides,
        what: String,
        communicators: Communicators<'_>,
    ) -> Option<Wait> {
        let is_here = ranks.contains(&self.me) && besides == Besides::Anything;
        let mut needs = ranks;
        needs.retain(|rank| *rank != self.me);
        let mut on = needs.clone();
        // Who does nothing more for anybody ends no operation of others either.
        let all = self.state.operations.iter().filter(|_| besides != Besides::Never);
        for (wanted, other, _) in all.filter_map(under_way) {
            on.extend(self.who(wanted, other, communicators)?);
        }
        on.sort_unstable();
        on.dedup();
        (!self.has_hope() && !is_here).then_some(Wait { on, needs, besides, what })
    }

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
    /// of them may be waited for, or all: all those of `needs` are. None is known where it cannot
    /// be told who could end one, or where those who could are gone: then it ends anyway.
    /// `besides`: what else the rank may do meanwhile.
    pub fn waits(
        &self,
        probe: Option<(Wanted, Option<u32>)>,
        needs: &[Ticket],
        besides: Besides,
        communicators: Communicators<'_>,
    ) -> Option<Wait> {
        // What is there may end it at quiescence.
        if self.has_hope() {
            return None;
        }
        let state = &self.state;
        let needed = || needs.iter().filter_map(|it| under_way(state.operations.get(it.0)?));
        let all = state.operations.iter().filter_map(under_way);
        let others = all.filter(|it| needed().all(|needed| needed != *it));
        let probe = probe.map(|(wanted, from)| (wanted, from, Way::In));
        let operations: Vec<_> = probe.into_iter().chain(needed()).chain(others).collect();
        let mut wait = Wait { besides, ..Wait::default() };
        let (mut told, mut more) = (Vec::new(), 0);
        for (wanted, other, way) in &operations {
            wait.on.extend(self.who(*wanted, *other, communicators)?);
            if besides == Besides::Anything && self.is_among(*wanted, *other, communicators) {
                return None;
            }
            if told.len() == TOLD {
                more += 1;
                continue;
            }
            let said = said(*wanted, *other, *way, communicators);
            if !told.contains(&said) {
                told.push(said);
            }
        }
        wait.what = told.join(", and for ");
        if more > 0 {
            wait.what.push_str(&format!(", and for {more} more"));
        }
        let only = |operation: Under| operation.1.filter(|other| *other != self.me);
        wait.needs = needed().chain(probe).filter_map(only).collect();
        wait.on.sort_unstable();
        wait.on.dedup();
        (!operations.is_empty()).then_some(wait)
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

    /// Whether this rank itself could end an operation.
    fn is_among(
        &self,
        wanted: Wanted,
        other: Option<u32>,
        communicators: Communicators<'_>,
    ) -> bool {
        let members = || communicators(wanted.context).map_or(Vec::new(), |it| it.1);
        other.map_or_else(|| members().contains(&self.me), |other| other == self.me)
    }

    /// Whether a send goes on that nobody polls. Where nothing comes those end that wait for ranks
    /// that are gone.
    pub fn owes(&mut self, is_idle: bool) -> bool {
        let is_send = |number: &u32| {
            matches!(self.state.operations.get(*number), Some(Operation::Send { .. }))
        };
        let sends: Vec<u32> = self.state.released.iter().copied().filter(is_send).collect();
        for number in sends.iter().filter(|_| is_idle) {
            self.give_up(Ticket(*number));
        }
        sends.iter().any(|number| self.state.released.contains(number))
    }

    /// Why there will never be the quiescence for which this rank waits in the coscheduled mode: a
    /// rank is gone, and so takes no part in it.
    pub fn misses(&self) -> Option<Failure> {
        let ranks = 0..self.state.order.as_ref()?.size;
        if !self.has_hope() {
            return None;
        }
        ranks.filter(|rank| *rank != self.me).find_map(|rank| self.carrier.is_gone(rank))
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
        if self.state.withdraw(wanted, ticket.0) {
            let envelope = Envelope { context: wanted.context, source: 0, tag: 0 };
            let failure = Some(Box::new(failure));
            let outcome = Outcome { failure, ..Outcome::of(envelope, 0) };
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
