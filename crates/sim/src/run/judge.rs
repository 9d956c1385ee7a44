//! What nodes were told of the primitives' operations, and whether it fits together.
//!
//! Operations are numbered by tickets, which bodies and written values carry. What a node delivers
//! belongs to its *session*: the time from its becoming a member to its death or removal. At the
//! end, what the sessions that go on have delivered is the *sequence*; then
//! - a session has delivered a part of the sequence without gaps, in its order, each once: all of
//!   it if it goes on and has from the beginning, the rest of it if it goes on (at least all that
//!   was asked for since it began), and if it has ended, perhaps some more at its own end that died
//!   with the master;
//! - every number stands for one operation, and no operation has two;
//! - an operation that its origin was told of as done is done, one that failed is not;
//! - what failed had a reason: who is named as no member was none for a time, a master that is said
//!   to be lost was restarted, who is not told how something ended was removed, and who is refused
//!   was no member;
//! - an origin's operations have numbers in the order of asking, and end in it;
//! - each comparison that wrote holds on what was written before it, each that was answered was
//!   answered so, and what is written last is what all nodes have.

use super::MASTER;
use crate::engine::Moment;
use muster_fabric::primitive::{Nodes, Outcome, Refusal, Relation};
use muster_fabric::protocol::NodeId;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// XFER-AND-SIGNAL.
    Transfer {
        /// Where in the region.
        offset: u64,
        /// Which event is signalled there.
        event: Option<u32>,
    },
    /// COMPARE-AND-WRITE; it writes its ticket.
    Compare {
        /// The variable compared and perhaps written.
        variable: u32,
        /// How.
        relation: Relation,
        /// With what.
        value: u64,
        /// Whether it writes.
        writes: bool,
    },
}

/// An operation that was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    origin: NodeId,
    set: Nodes,
    kind: Kind,
    /// It is asked for together with the one before it, and behind that.
    follows: bool,
    /// How it ended.
    ended: Option<End>,
    refused: Option<Refusal>,
}

/// How an operation ended, and in which session of its origin.
#[derive(Clone, Copy, Debug)]
struct End {
    outcome: Outcome,
    seq: Option<u64>,
    session: usize,
}

impl End {
    /// Its number, if it was carried out under it.
    fn carried_out(&self) -> Option<u64> {
        self.seq.filter(|_| matches!(self.outcome, Outcome::Committed | Outcome::NotHeld))
    }
}

impl Asked {
    /// One that has not ended.
    pub fn new(origin: NodeId, set: Nodes, kind: Kind) -> Asked {
        Asked { origin, set, kind, follows: false, ended: None, refused: None }
    }
}

/// A session.
#[derive(Debug)]
struct Session {
    node: NodeId,
    /// Since the cluster began.
    is_first: bool,
    has_ended: bool,
    /// What was asked for from this ticket on was asked for when it had begun.
    since: u64,
    /// The number of what this node asked for last and was carried out.
    last: u64,
    /// Numbers and tickets, in the order of delivery.
    delivered: Vec<(u64, u64)>,
}

impl Session {
    /// Whether it was there all the time, and an operation on this set concerns it.
    fn witnesses(&self, set: &Nodes) -> bool {
        self.is_first && !self.has_ended && set.contains(self.node)
    }
}

/// All that was told.
#[derive(Debug, Default)]
pub struct Judge {
    /// By tickets.
    pub asked: Vec<Asked>,
    sessions: Vec<Session>,
    /// The session of each node that is a member.
    current: HashMap<NodeId, usize>,
    /// What is wrong, as soon as it is known.
    pub failure: Option<String>,
}

impl Judge {
    /// An operation is asked for: its ticket.
    pub fn ask(&mut self, asked: Asked) -> u64 {
        self.asked.push(asked);
        self.asked.len() as u64 - 1
    }

    /// An operation is asked for together with the one before it.
    pub fn follows(&mut self, ticket: u64) {
        self.asked[ticket as usize].follows = true;
    }

    /// A node becomes a member.
    pub fn begin(&mut self, node: NodeId, is_first: bool) {
        self.end(node);
        self.current.insert(node, self.sessions.len());
        let (since, delivered) = (self.asked.len() as u64, Vec::new());
        let session = Session { node, is_first, has_ended: false, since, last: 0, delivered };
        self.sessions.push(session);
    }

    /// A node is no member any more.
    pub fn end(&mut self, node: NodeId) {
        if let Some(session) = self.current.remove(&node) {
            self.sessions[session].has_ended = true;
        }
    }

    /// A transfer is delivered.
    pub fn delivered(&mut self, at: Moment, seq: u64, body: &[u8], kind: Kind) {
        let (head, rest) = body.split_first_chunk::<8>().expect("a ticket");
        let ticket = u64::from_le_bytes(*head);
        let asked = &self.asked[ticket as usize];
        if asked.kind != kind || rest.iter().any(|byte| *byte != ticket as u8) {
            return self.fail(at, format!("number {seq} delivers other bytes than were sent"));
        }
        self.visible(at, seq, ticket);
    }

    /// A comparison has written.
    pub fn written(&mut self, at: Moment, seq: u64, variable: u32, ticket: u64) {
        match self.asked[ticket as usize].kind {
            Kind::Compare { variable: asked, writes: true, .. } if asked == variable => {
                self.visible(at, seq, ticket);
            }
            _ => self.fail(at, format!("number {seq} writes what nobody asked for")),
        }
    }

    fn visible(&mut self, at: Moment, seq: u64, ticket: u64) {
        let Some(&session) = self.current.get(&at.node) else {
            return self.fail(at, format!("number {seq} is delivered though it is no member"));
        };
        if !self.asked[ticket as usize].set.contains(at.node) {
            self.fail(at, format!("number {seq}, ticket {ticket}, was not meant for it"));
        }
        let delivered = &mut self.sessions[session].delivered;
        let last = delivered.last().copied();
        delivered.push((seq, ticket));
        if let Some((last, _)) = last.filter(|(last, _)| *last >= seq) {
            self.fail(at, format!("number {seq} is delivered after {last}"));
        }
    }

    /// An operation has ended, as its origin was told.
    pub fn completed(&mut self, at: Moment, ticket: u64, seq: Option<u64>, outcome: Outcome) {
        let session = self.current.get(&at.node).copied();
        let asked = &mut self.asked[ticket as usize];
        let again = asked.ended.is_some() || asked.origin != at.node;
        // Who was removed is told so after its session; what it is told counts as its last.
        let end = End { outcome, seq, session: session.unwrap_or(usize::MAX) };
        asked.ended = Some(end);
        let follows = asked.follows;
        if again || outcome == Outcome::Again {
            self.fail(at, format!("ticket {ticket} ends with {outcome:?}, again"));
        }
        let before = &self.asked[ticket as usize - usize::from(follows)];
        if before.ended.is_none() && before.refused.is_none() {
            self.fail(at, format!("ticket {ticket} ends before the one that was asked for before"));
        }
        let (Some(session), Some(seq)) = (session, end.carried_out()) else { return };
        let last = std::mem::replace(&mut self.sessions[session].last, seq);
        if last >= seq {
            self.fail(at, format!("ticket {ticket} has number {seq}, and the one before {last}"));
        }
    }

    /// An operation was not taken.
    pub fn refused(&mut self, at: Moment, ticket: u64, why: Refusal) {
        self.asked[ticket as usize].refused = Some(why);
        if why != Refusal::NotMember || self.current.contains_key(&at.node) {
            self.fail(at, format!("ticket {ticket} is refused without a reason: {why}"));
        }
    }

    fn fail(&mut self, at: Moment, what: String) {
        let life = at.life;
        self.failure.get_or_insert(format!("{}, life {life}, at {} ns: {what}", at.node, at.now));
    }

    /// Whether all fits together; the operations from ticket `last` on have to be done. What each
    /// variable is in the end, if that is certain.
    ///
    /// # Errors
    /// What does not.
    pub fn judge(&self, last: u64) -> Result<HashMap<u32, Option<u64>>, String> {
        let sequence = self.sequence()?;
        for session in &self.sessions {
            self.judge_session(session, &sequence)?;
        }
        let done: BTreeSet<u64> = sequence.values().copied().collect();
        for (ticket, asked) in self.asked.iter().enumerate() {
            self.judge_end(ticket as u64, asked, &done)?;
            let is_done = asked.ended.is_some_and(|end| end.outcome == Outcome::Committed);
            if ticket as u64 >= last && !is_done {
                let (ended, refused) = (&asked.ended, &asked.refused);
                let origin = asked.origin;
                return Err(format!("{origin}'s last transfer: {ended:?}, refused {refused:?}"));
            }
        }
        self.judge_comparisons(&sequence)
    }

    /// What the sessions that go on have delivered: tickets by numbers.
    fn sequence(&self) -> Result<BTreeMap<u64, u64>, String> {
        let mut sequence = BTreeMap::new();
        let mut numbers = HashMap::new();
        for session in self.sessions.iter().filter(|session| !session.has_ended) {
            for &(seq, ticket) in &session.delivered {
                let (known, number) =
                    (*sequence.entry(seq).or_insert(ticket), *numbers.entry(ticket).or_insert(seq));
                if known != ticket || number != seq {
                    let node = session.node;
                    return Err(format!(
                        "number {seq} is ticket {ticket} at {node}, and ticket {known} elsewhere; \
                         the ticket has number {number} too"
                    ));
                }
            }
        }
        Ok(sequence)
    }

    fn judge_session(
        &self,
        session: &Session,
        sequence: &BTreeMap<u64, u64>,
    ) -> Result<(), String> {
        let node = session.node;
        let first = match session.delivered.first() {
            _ if session.is_first => 0,
            // It may have begun after much that was for it, but not after what is asked for since.
            first => first.map_or(u64::MAX, |(first, _)| *first),
        };
        let for_it = |(seq, ticket): &(&u64, &u64)| {
            let is_later = **seq >= first || **ticket >= session.since;
            is_later && self.asked[**ticket as usize].set.contains(node)
        };
        let wanted = sequence.iter().filter(for_it).map(|(seq, ticket)| (*seq, *ticket));
        // Of what only ended sessions were to deliver, the sequence knows nothing.
        let is_witnessed = |(seq, ticket): &(u64, u64)| {
            let set = &self.asked[*ticket as usize].set;
            sequence.contains_key(seq) || self.sessions.iter().any(|other| other.witnesses(set))
        };
        let mut delivered = session.delivered.iter().copied().filter(is_witnessed).peekable();
        for (seq, ticket) in wanted {
            match delivered.peek() {
                Some(next) if *next == (seq, ticket) => delivered.next(),
                None if session.has_ended => return Ok(()),
                // What died with the master; nothing that others have delivered comes behind it.
                Some((other, _)) if session.has_ended && !sequence.contains_key(other) => break,
                other => {
                    return Err(format!(
                        "a partial delivery: {node} has not delivered number {seq}, ticket \
                         {ticket}, but {other:?}"
                    ));
                }
            };
        }
        match delivered.find(|(seq, _)| sequence.contains_key(seq) || !session.has_ended) {
            Some(more) => Err(format!("{node} has delivered {more:?} that is not the sequence's")),
            None => Ok(()),
        }
    }

    /// What an origin was told is so.
    fn judge_end(&self, ticket: u64, asked: &Asked, done: &BTreeSet<u64>) -> Result<(), String> {
        let is_done = done.contains(&ticket);
        let keeps = !matches!(asked.kind, Kind::Compare { writes: false, .. });
        let origin = asked.origin;
        let goes_on = |at: usize| self.sessions.get(at).is_some_and(|it| !it.has_ended);
        let always = |node| self.sessions.iter().any(|it| it.witnesses(&Nodes::one(node)));
        let told = |outcome| format!("{origin} was told {outcome:?} of {ticket}");
        match asked.ended.map(|end| (end.outcome, end.session)) {
            Some((Outcome::Committed, session)) if keeps => {
                // Who was told and died with the master takes that along.
                if !is_done
                    && goes_on(session)
                    && self.sessions.iter().any(|other| other.witnesses(&asked.set))
                {
                    return Err(format!("{origin} was told that {ticket} is done, and it is not"));
                }
            }
            Some((outcome @ Outcome::Unknown, session)) if goes_on(session) => {
                return Err(format!("{}, and is still a member", told(outcome)));
            }
            Some((Outcome::Committed | Outcome::Unknown, _)) | None => {}
            Some((outcome, _)) if is_done => return Err(format!("{}: it is done", told(outcome))),
            Some((outcome @ Outcome::NotMember(node), _)) => {
                if always(node) || !asked.set.contains(node) {
                    return Err(format!("{}, which was a member all the time", told(outcome)));
                }
            }
            Some((outcome @ Outcome::MasterLost, _)) if always(MASTER) => {
                return Err(format!("{}, and no master was restarted", told(outcome)));
            }
            Some((outcome @ Outcome::NotHeld, _))
                if !matches!(asked.kind, Kind::Compare { .. }) =>
            {
                return Err(format!("{}, which compares nothing", told(outcome)));
            }
            Some(_) => {}
        }
        match asked.refused {
            Some(why) if is_done => Err(format!("{ticket} was refused ({why}), and it is done")),
            _ => Ok(()),
        }
    }

    /// Each comparison held, or did not, on what was written before it, as its origin was told and
    /// as it wrote. What each variable is in the end, if that is certain.
    fn judge_comparisons(
        &self,
        sequence: &BTreeMap<u64, u64>,
    ) -> Result<HashMap<u32, Option<u64>>, String> {
        // What only ended sessions have seen may have died with them, or be what others joined on.
        let uncertain = self
            .sessions
            .iter()
            .flat_map(|session| session.delivered.iter().copied())
            .filter(|(seq, _)| !sequence.contains_key(seq));
        let mut all: BTreeMap<u64, (u64, Step)> =
            uncertain.map(|(seq, ticket)| (seq, (ticket, Step::MayWrite))).collect();
        for (ticket, asked) in (0..).zip(&self.asked) {
            // What an ended session was told may have died with it.
            let end = asked.ended.filter(|end| {
                self.sessions.get(end.session).is_some_and(|session| !session.has_ended)
            });
            let answered = end.and_then(|end| Some((end.carried_out()?, end.outcome)));
            if let Some((seq, outcome)) = answered {
                all.entry(seq).or_insert((ticket, Step::Answers(outcome == Outcome::Committed)));
            }
        }
        all.extend(sequence.iter().map(|(seq, ticket)| (*seq, (*ticket, Step::Writes))));
        // The value of each variable, if it is certain.
        let mut values: HashMap<u32, Option<u64>> = HashMap::new();
        for (seq, (ticket, step)) in all {
            let Kind::Compare { variable, relation, value, writes } =
                self.asked[ticket as usize].kind
            else {
                continue;
            };
            let entry = values.entry(variable).or_insert(Some(0));
            let (held, after) = match step {
                Step::Writes => (Some(true), Some(ticket)),
                // What it wrote died with all who had it.
                Step::Answers(true) if writes => (Some(true), None),
                Step::Answers(held) => (Some(held), *entry),
                Step::MayWrite => (None, None),
            };
            if let (Some(before), Some(held)) = (*entry, held)
                && held != holds(before, relation, value)
            {
                let not = if held { "" } else { "not " };
                return Err(format!(
                    "number {seq}, ticket {ticket}, has {not}held on variable {variable}: \
                     {before} {relation:?} {value}?"
                ));
            }
            *entry = after;
        }
        Ok(values)
    }
}

/// What an operation of a number has to do with variables.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// It wrote, so it held.
    Writes,
    /// It wrote somewhere, and that may have been lost.
    MayWrite,
    /// Its origin was told whether it held.
    Answers(bool),
}

fn holds(here: u64, relation: Relation, value: u64) -> bool {
    match relation {
        Relation::AtLeast => here >= value,
        Relation::Less => here < value,
        Relation::Equal => here == value,
        Relation::NotEqual => here != value,
    }
}
