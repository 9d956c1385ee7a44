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

use std::collections::HashMap;

/// Waits that an answer tells of at most, and bytes of each: it is a short message.
const TOLD: usize = 24;
const TEXT: usize = 240;

/// What a rank waits on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// The ranks of which any one could end it, by their numbers in the job; without this one.
    pub on: Vec<u32>,
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
        /// What they wait for.
        told: Told,
    },
}

impl Note {
    /// As bytes (`docs/wire/message.md`).
    pub fn encode(&self) -> Vec<u8> {
        let (kind, by, number) = match self {
            Note::Ask { by, number } => (1_u32, by, number),
            Note::Answer { by, number, .. } => (2, by, number),
        };
        let mut bytes: Vec<u8> =
            [kind, *by, *number].iter().flat_map(|it| it.to_le_bytes()).collect();
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
        if kind == 1 {
            return Some(Note::Ask { by, number });
        }
        let mut told = Told { waits: Vec::new(), more: next()? };
        while let Some((head, rest)) = bytes.split_first_chunk::<8>() {
            let word = |at: usize| {
                u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
            };
            let (what, rest) = rest.split_at_checked(word(4) as usize)?;
            told.waits.push((word(0), String::from_utf8_lossy(what).into_owned()));
            bytes = rest;
        }
        (kind == 2).then_some(Note::Answer { by, number, told })
    }
}

/// A question that this rank has passed on.
struct Engaged {
    number: u32,
    /// To whom the answer goes.
    to: u32,
    /// Answers that have not come.
    left: usize,
    told: Told,
}

/// A rank's part.
pub struct Detector {
    me: u32,
    /// The last question of each rank that was heard.
    latest: HashMap<u32, u32>,
    /// Those under way, by who was first, since this rank waits.
    engaged: HashMap<u32, Engaged>,
    /// What is to be said, and to whom.
    pub notes: Vec<(u32, Note)>,
}

impl Detector {
    /// The part of a rank.
    pub fn new(me: u32) -> Detector {
        Detector { me, latest: HashMap::new(), engaged: HashMap::new(), notes: Vec::new() }
    }

    /// The rank does not wait any more, or for something else.
    pub fn reset(&mut self) {
        self.engaged.clear();
    }

    /// Whether another rank's question is under way.
    pub fn is_engaged(&self) -> bool {
        !self.engaged.is_empty()
    }

    /// Asks. Where nobody is to be asked the answer is there at once: what all wait for.
    pub fn ask(&mut self, wait: &Wait) -> Option<Told> {
        let number = self.latest.get(&self.me).map_or(1, |last| last + 1);
        self.engage(self.me, self.me, number, wait)
    }

    /// Hears a note while this rank waits. The answer to its own question is what all wait for.
    pub fn hear(&mut self, from: u32, note: Note, wait: &Wait) -> Option<Told> {
        match note {
            Note::Ask { by, number } => {
                if self.latest.get(&by).is_none_or(|last| *last < number) {
                    return self.engage(by, from, number, wait);
                }
                if self.engaged.get(&by).is_some_and(|engaged| engaged.number == number) {
                    self.notes.push((from, Note::Answer { by, number, told: Told::default() }));
                }
                None
            }
            Note::Answer { by, number, told } => {
                let engaged = self.engaged.get_mut(&by).filter(|it| it.number == number)?;
                engaged.told.add(told);
                engaged.left = engaged.left.saturating_sub(1);
                if engaged.left > 0 {
                    return None;
                }
                let (to, told) = (engaged.to, std::mem::take(&mut engaged.told));
                self.answer((by, number), to, told)
            }
        }
    }

    fn engage(&mut self, by: u32, to: u32, number: u32, wait: &Wait) -> Option<Told> {
        self.latest.insert(by, number);
        let mut end = wait.what.len().min(TEXT);
        while !wait.what.is_char_boundary(end) {
            end -= 1;
        }
        let own = (self.me, wait.what[..end].to_owned());
        let told = Told { waits: vec![own], more: 0 };
        let left = wait.on.len();
        self.notes.extend(wait.on.iter().map(|on| (*on, Note::Ask { by, number })));
        if left == 0 {
            self.engaged.insert(by, Engaged { number, to, left, told: Told::default() });
            return self.answer((by, number), to, told);
        }
        self.engaged.insert(by, Engaged { number, to, left, told });
        None
    }

    fn answer(&mut self, (by, number): (u32, u32), to: u32, told: Told) -> Option<Told> {
        if by == self.me {
            return Some(told);
        }
        self.notes.push((to, Note::Answer { by, number, told }));
        None
    }
}
