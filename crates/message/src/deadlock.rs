//! Ranks that wait for one another for ever: how they find out. No I/O, no clock.
//!
//! A rank that *waits* does nothing until one of the ranks *on* which it waits sends it something.
//! It may ask them all whether they wait as well. A rank that is asked answers only while it waits
//! itself: at the first question of an asker it asks those on which it waits, and answers when all
//! of these have; at further ones it answers at once, if it has waited all the time. When the first
//! asker has all its answers, nobody of those asked will ever send anything (the diffusing
//! computation for the OR model of Chandy, Misra and Haas, 1983).
//!
//! *No false alarm.* Questions and answers go the way of messages, which come in order. A rank that
//! computes, or sleeps elsewhere, answers nothing. What a rank had sent before it answered comes
//! before the answer, and whom it comes to does not wait any more: it forgets what it was asked
//! ([`Detector::reset`]). A rank that waits on more ranks than it has to hears less, not more.
//!
//! *Threads.* A rank of which other threads may go on answers nothing. It may ask: what it waits
//! for can still be what never comes.
//!
//! *The end.* A rank in `MPI_Finalize` waits for all others, who need not wait for it to go on; so
//! it asks nobody. But it sends nothing any more, and answers so, at once: that answer is *final*.
//! One final answer is enough for a rank that needs just this one, and then its own is final, too.
//!
//! *Once.* Of all who find a deadlock one tells it: rank 0 lets the first ([`Note::Found`]). Where
//! rank 0 does not wait, and so hears nothing, whoever has found it tells it after a while.

use std::collections::HashMap;

/// Waits that an answer tells of at most, and bytes of each: it is a short message.
const TOLD: usize = 24;
const TEXT: usize = 240;

/// What a rank may do besides waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Besides {
    /// Nothing.
    #[default]
    Nothing,
    /// Anything: other threads of it go on.
    Anything,
    /// Nothing, now and ever: it has come to its end.
    Never,
}

/// What a rank waits on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// The ranks of which any one could end it, by their numbers in the job; without this one.
    pub on: Vec<u32>,
    /// Those of them without each of which it cannot end.
    pub needs: Vec<u32>,
    /// What else may happen in this rank.
    pub besides: Besides,
    /// What it is, for people.
    pub what: String,
}

/// Waits of several ranks, as an answer brings them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Ranks and what they wait for.
    pub waits: Vec<(u32, String)>,
    /// How many more there are.
    pub more: u32,
}

impl Told {
    fn add(&mut self, other: Told) {
        self.more += other.more;
        for wait in other.waits {
            if self.waits.len() < TOLD { self.waits.push(wait) } else { self.more += 1 }
        }
    }
}

/// What ranks say to one another. Questions have the number of who was first to ask, and count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Do you wait?
    Ask {
        /// Who was first.
        by: u32,
        /// Which of its questions.
        number: u32,
    },
    /// I do, and so do all on which I wait.
    Answer {
        /// Who was first.
        by: u32,
        /// Which of its questions.
        number: u32,
        /// Whether that stays so whatever others do, also who was first.
        is_final: bool,
        /// What they wait for.
        told: Told,
    },
    /// To rank 0: this rank has found a deadlock.
    Found,
    /// From rank 0: it is to tell it.
    Tell,
    /// To all: it has been told that one waits for long until all wait.
    Late,
}

impl Note {
    /// As bytes (`docs/wire/message.md`).
    pub fn encode(&self) -> Vec<u8> {
        let (kind, by, number) = match self {
            Note::Ask { by, number } => (1_u32, *by, *number),
            Note::Answer { by, number, is_final: false, .. } => (2, *by, *number),
            Note::Answer { by, number, is_final: true, .. } => (3, *by, *number),
            Note::Found => (4, 0, 0),
            Note::Tell => (5, 0, 0),
            Note::Late => (6, 0, 0),
        };
        let mut bytes: Vec<u8> =
            [kind, by, number].iter().flat_map(|it| it.to_le_bytes()).collect();
        if let Note::Answer { told, .. } = self {
            bytes.extend(told.more.to_le_bytes());
            for (rank, what) in &told.waits {
                bytes.extend(rank.to_le_bytes());
                bytes.extend((what.len() as u32).to_le_bytes());
                bytes.extend(what.as_bytes());
            }
        }
        bytes
    }

    /// What bytes say; none where they are no note.
    pub fn decode(mut bytes: &[u8]) -> Option<Note> {
        let mut next = || {
            let (number, rest) = bytes.split_first_chunk()?;
            bytes = rest;
            Some(u32::from_le_bytes(*number))
        };
        let (kind, by, number) = (next()?, next()?, next()?);
        let is_final = match kind {
            1 => return Some(Note::Ask { by, number }),
            2 => false,
            3 => true,
            4 => return Some(Note::Found),
            5 => return Some(Note::Tell),
            6 => return Some(Note::Late),
            _ => return None,
        };
        let mut told = Told { waits: Vec::new(), more: next()? };
        while let Some((head, rest)) = bytes.split_first_chunk::<8>() {
            let word = |at: usize| {
                u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
            };
            let (what, rest) = rest.split_at_checked(word(4) as usize)?;
            told.waits.push((word(0), String::from_utf8_lossy(what).into_owned()));
            bytes = rest;
        }
        Some(Note::Answer { by, number, is_final, told })
    }
}

/// A question that this rank has passed on.
struct Engaged {
    number: u32,
    /// To whom the answer goes.
    to: u32,
    /// Answers that have not come and are needed.
    left: usize,
    /// Whether all that have come are final.
    is_final: bool,
    told: Told,
}

/// A rank's part.
pub struct Detector {
    me: u32,
    /// The last question of each rank that was heard.
    latest: HashMap<u32, u32>,
    /// Those under way, by who was first, since this rank waits.
    engaged: HashMap<u32, Engaged>,
    /// What this rank has found, until it may tell it.
    found: Option<Told>,
    /// Whether this rank, which is rank 0, has let somebody tell.
    has_let: bool,
    /// What is to be said, and to whom.
    pub notes: Vec<(u32, Note)>,
}

impl Detector {
    /// The part of a rank.
    pub fn new(me: u32) -> Detector {
        let (latest, engaged, notes) = (HashMap::new(), HashMap::new(), Vec::new());
        Detector { me, latest, engaged, found: None, has_let: false, notes }
    }

    /// The rank does not wait any more, or for something else.
    pub fn reset(&mut self) {
        self.engaged.clear();
    }

    /// Asks. Where nobody is to be asked the answer is there at once: what all wait for.
    pub fn ask(&mut self, wait: &Wait) -> Option<Told> {
        let number = self.latest.get(&self.me).map_or(1, |last| last + 1);
        self.engage(self.me, self.me, number, wait)
    }

    /// Hears a note while this rank waits. The answer to its own question is what all wait for.
    pub fn hear(&mut self, from: u32, note: Note, wait: &Wait) -> Option<Told> {
        match note {
            Note::Ask { .. } if wait.besides == Besides::Anything => None,
            Note::Ask { by, number } => {
                let is_new = self.latest.get(&by).is_none_or(|last| *last < number);
                if is_new && wait.besides == Besides::Nothing {
                    return self.engage(by, from, number, wait);
                }
                let is_final = wait.besides == Besides::Never;
                let is_engaged = |engaged: &Engaged| engaged.number == number;
                if is_final || self.engaged.get(&by).is_some_and(is_engaged) {
                    let mut told = Told::default();
                    if is_new {
                        self.latest.insert(by, number);
                        told = self.own(wait);
                    }
                    self.notes.push((from, Note::Answer { by, number, is_final, told }));
                }
                None
            }
            Note::Answer { by, number, is_final, told } => {
                let is_it = |it: &&mut Engaged| it.number == number && it.left > 0;
                let engaged = self.engaged.get_mut(&by).filter(is_it)?;
                engaged.told.add(told);
                engaged.is_final &= is_final;
                engaged.left -= 1;
                if is_final && wait.needs.contains(&from) {
                    (engaged.is_final, engaged.left) = (true, 0);
                }
                if engaged.left > 0 {
                    return None;
                }
                let (to, is_final) = (engaged.to, engaged.is_final);
                let told = std::mem::take(&mut engaged.told);
                self.answer((by, number), to, is_final, told)
            }
            Note::Found | Note::Tell | Note::Late => None,
        }
    }

    /// This rank has found a deadlock: what it is to tell now, if it need not ask rank 0.
    pub fn found(&mut self, told: Told) -> Option<Told> {
        if self.me == 0 {
            return (!std::mem::replace(&mut self.has_let, true)).then_some(told);
        }
        if self.found.replace(told).is_none() {
            self.notes.push((0, Note::Found));
        }
        None
    }

    /// Another rank has found one, and asks this one, which is rank 0, whether it is to tell it.
    pub fn let_tell(&mut self, from: u32) {
        if !std::mem::replace(&mut self.has_let, true) {
            self.notes.push((from, Note::Tell));
        }
    }

    /// What this rank has found, if it has not told it.
    pub fn tell(&mut self) -> Option<Told> {
        self.found.take()
    }

    /// What this rank waits for.
    fn own(&self, wait: &Wait) -> Told {
        let mut end = wait.what.len().min(TEXT);
        while !wait.what.is_char_boundary(end) {
            end -= 1;
        }
        Told { waits: vec![(self.me, wait.what[..end].to_owned())], more: 0 }
    }

    fn engage(&mut self, by: u32, to: u32, number: u32, wait: &Wait) -> Option<Told> {
        self.latest.insert(by, number);
        let told = self.own(wait);
        let (left, is_final) = (wait.on.len(), true);
        self.notes.extend(wait.on.iter().map(|on| (*on, Note::Ask { by, number })));
        if left == 0 {
            let told_already = Told::default();
            self.engaged.insert(by, Engaged { number, to, left, is_final, told: told_already });
            return self.answer((by, number), to, is_final, told);
        }
        self.engaged.insert(by, Engaged { number, to, left, is_final, told });
        None
    }

    fn answer(
        &mut self,
        (by, number): (u32, u32),
        to: u32,
        is_final: bool,
        told: Told,
    ) -> Option<Told> {
        if by == self.me {
            return Some(told);
        }
        self.notes.push((to, Note::Answer { by, number, is_final, told }));
        None
    }
}
