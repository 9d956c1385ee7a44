//! What came about where a program leaves a choice: from whom a receive from any source got its
//! message, which of several operations had ended when the program asked. It is all that can differ
//! between two runs of a program whose ranks each do the same with the same messages; so a run that
//! follows the log of another is that run again, and two runs whose digests are equal were the
//! same.
//!
//! The log of a job is text: a line `rank R`, and below it a line for each kind of choice, in the
//! order in which the program came to it. `receive C: 3 - 1` are the sources of the receives from
//! any source in the context C (`-`: it got none), `serve C: 3 1` those of requests to a window or
//! a counter, `cancel C: 4` which of the receives from a certain source were taken back, `choice 2:
//! 0` what two calls after each other were told.

use crate::descriptor::Envelope;
use std::collections::BTreeMap;

/// A rank's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The sources of receives from any source, by context, in the order of their calls.
    receives: BTreeMap<u64, Vec<Option<u32>>>,
    /// The sources of messages that were claimed from any source.
    claims: BTreeMap<u64, Vec<u32>>,
    /// Which of the receives from a certain source were taken back, by context.
    cancels: BTreeMap<u64, Vec<usize>>,
    /// What calls were told, and how many after each other the same.
    choices: Vec<(Vec<i64>, u64)>,
}

impl Log {
    /// A receive from any source is posted: its number in the context.
    pub(crate) fn post(&mut self, context: u64) -> usize {
        let row = self.receives.entry(context).or_default();
        row.push(None);
        row.len() - 1
    }

    /// It has taken a message.
    pub(crate) fn take(&mut self, context: u64, number: usize, source: u32) {
        if let Some(place) = self.receives.get_mut(&context).and_then(|row| row.get_mut(number)) {
            *place = Some(source);
        }
    }

    /// A message was claimed.
    pub(crate) fn claim(&mut self, context: u64, source: u32) {
        self.claims.entry(context).or_default().push(source);
    }

    /// A receive from a certain source was taken back.
    pub(crate) fn cancel(&mut self, context: u64, number: usize) {
        self.cancels.entry(context).or_default().push(number);
    }

    /// A call was told something.
    pub fn choose(&mut self, told: &[i64]) {
        match self.choices.last_mut() {
            Some((last, times)) if last == told => *times += 1,
            _ => self.choices.push((told.to_vec(), 1)),
        }
    }

    /// As text, without the line that names the rank.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        for (context, row) in &self.receives {
            let sources = row.iter().map(|source| match source {
                Some(source) => format!(" {source}"),
                None => " -".to_owned(),
            });
            text += &format!("receive {context:x}:{}\n", sources.collect::<String>());
        }
        for (context, row) in &self.claims {
            let sources = row.iter().map(|source| format!(" {source}"));
            text += &format!("serve {context:x}:{}\n", sources.collect::<String>());
        }
        for (context, row) in &self.cancels {
            let numbers = row.iter().map(|number| format!(" {number}"));
            text += &format!("cancel {context:x}:{}\n", numbers.collect::<String>());
        }
        for (told, times) in &self.choices {
            let told = told.iter().map(|number| format!(" {number}"));
            text += &format!("choice {times}:{}\n", told.collect::<String>());
        }
        text
    }

    /// A rank's part of a job's log; none where the log has no such rank.
    ///
    /// # Errors
    /// The line that says nothing, and why.
    pub fn decode(text: &str, rank: u32) -> Result<Option<Log>, String> {
        let mut log = None;
        let mut is_ours = false;
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = || format!("line {number} is no line of a log: '{line}'");
            if let Some(of) = line.strip_prefix("rank ") {
                is_ours = of.parse::<u32>().map_err(|_| wrong())? == rank;
                if is_ours {
                    log = Some(Log::default());
                }
            } else if let Some(log) = log.as_mut().filter(|_| is_ours) {
                log.add(line).ok_or_else(wrong)?;
            }
        }
        Ok(log)
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let (what, values) = line.split_once(':')?;
        let values = values.split_whitespace();
        match what.split_once(' ')? {
            ("receive", context) => {
                let source = |value: &str| match value {
                    "-" => Some(None),
                    value => value.parse().ok().map(Some),
                };
                let row = values.map(source).collect::<Option<_>>()?;
                self.receives.insert(u64::from_str_radix(context, 16).ok()?, row);
            }
            ("serve", context) => {
                let row = values.map(|value| value.parse().ok()).collect::<Option<_>>()?;
                self.claims.insert(u64::from_str_radix(context, 16).ok()?, row);
            }
            ("cancel", context) => {
                let row = values.map(|value| value.parse().ok()).collect::<Option<_>>()?;
                self.cancels.insert(u64::from_str_radix(context, 16).ok()?, row);
            }
            ("choice", times) => {
                let told = values.map(|value| value.parse().ok()).collect::<Option<_>>()?;
                self.choices.push((told, times.parse().ok()?));
            }
            _ => return None,
        }
        Some(())
    }
}

/// A log that is followed, and how far.
#[derive(Default)]
pub(crate) struct Followed {
    log: Log,
    receives: BTreeMap<u64, usize>,
    claims: BTreeMap<u64, usize>,
    /// The choice, and how many calls were told it.
    choices: (usize, u64),
}

impl Followed {
    pub(crate) fn new(log: Log) -> Followed {
        Followed { log, ..Followed::default() }
    }

    /// From whom the next receive from any source in a context took its message, if it took any;
    /// none where the run of the log had no such receive.
    pub(crate) fn receive(&mut self, context: u64) -> Option<Option<u32>> {
        let at = self.receives.entry(context).or_default();
        let source = *self.log.receives.get(&context)?.get(*at)?;
        *at += 1;
        Some(source)
    }

    /// From whom the next claimed message of a context is; none where no more were claimed.
    pub(crate) fn claim(&self, context: u64) -> Option<u32> {
        let at = self.claims.get(&context).copied().unwrap_or(0);
        self.log.claims.get(&context)?.get(at).copied()
    }

    /// It has been claimed.
    pub(crate) fn claimed(&mut self, context: u64) {
        *self.claims.entry(context).or_default() += 1;
    }

    /// Whether a receive from a certain source was taken back.
    pub(crate) fn is_cancelled(&self, context: u64, number: usize) -> bool {
        self.log.cancels.get(&context).is_some_and(|row| row.contains(&number))
    }

    /// What the next call was told.
    pub(crate) fn choice(&mut self) -> Option<Vec<i64>> {
        let (told, times) = self.log.choices.get(self.choices.0)?;
        self.choices.1 += 1;
        if self.choices.1 >= *times {
            self.choices = (self.choices.0 + 1, 0);
        }
        Some(told.clone())
    }
}

/// A number that two runs of a rank have in common if all their matches, and what came by them, and
/// all that calls were told, were the same. It does not depend on when two receives ended that do
/// not wait for each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    sum: u64,
    /// How many matches and choices are in it.
    pub count: u64,
    /// How many calls were told something.
    choices: u64,
}

impl Digest {
    fn add(&mut self, hash: &blake3::Hasher) {
        let bytes = *hash.finalize().as_bytes();
        let first = bytes.first_chunk().expect("a hash has 32 bytes");
        self.sum = self.sum.wrapping_add(u64::from_le_bytes(*first));
        self.count += 1;
    }

    /// A receive has got its message. `number`: which receive from any source of its context it is.
    pub(crate) fn receive(
        &mut self,
        number: Option<usize>,
        envelope: Envelope,
        size: usize,
        content: impl FnOnce(&mut dyn FnMut(&[u8])),
    ) {
        let mut hash = blake3::Hasher::new();
        let number = number.map_or(0, |number| number as u64 + 1);
        let Envelope { context, source, tag } = envelope;
        for word in [1, number, context, source.into(), tag.cast_unsigned().into(), size as u64] {
            hash.update(&word.to_le_bytes());
        }
        content(&mut |bytes| {
            hash.update(bytes);
        });
        self.add(&hash);
    }

    /// A message was claimed from any source, as the one with that number in its context.
    pub(crate) fn claim(&mut self, number: usize, Envelope { context, source, .. }: Envelope) {
        let mut hash = blake3::Hasher::new();
        for word in [3, number as u64, context, source.into()] {
            hash.update(&word.to_le_bytes());
        }
        self.add(&hash);
    }

    /// A call was told something.
    pub fn choice(&mut self, told: &[i64]) {
        let mut hash = blake3::Hasher::new();
        hash.update(&2_u64.to_le_bytes());
        // What calls were told has an order, and the sum has none.
        hash.update(&self.choices.to_le_bytes());
        self.choices += 1;
        told.iter().for_each(|number| {
            hash.update(&number.to_le_bytes());
        });
        self.add(&hash);
    }

    /// The number, for one rank of a job.
    pub fn of_rank(&self, rank: u32) -> u64 {
        let mut hash = blake3::Hasher::new();
        hash.update(&u64::from(rank).to_le_bytes());
        hash.update(&self.sum.to_le_bytes());
        hash.update(&self.count.to_le_bytes());
        u64::from_le_bytes(*hash.finalize().as_bytes().first_chunk().expect("32 bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_as_text_is_the_log() {
        let mut log = Log::default();
        let (first, second) = (log.post(2), log.post(2));
        assert_eq!((first, second, log.post(0xffff_ffff_fffe)), (0, 1, 0));
        log.take(2, first, 7);
        log.claim(4, 3);
        log.claim(4, 0);
        log.cancel(2, 5);
        log.cancel(2, 3);
        log.choose(&[1, -1]);
        log.choose(&[]);
        log.choose(&[]);
        let text = format!("rank 0\nchoice 1: 9\nrank 11\n{}rank 12\n", log.encode());
        assert_eq!(Log::decode(&text, 11), Ok(Some(log)));
        assert_eq!(Log::decode(&text, 12), Ok(Some(Log::default())));
        assert_eq!(Log::decode(&text, 13), Ok(None));
    }

    #[test]
    fn what_is_no_log_is_told_with_its_line() {
        for wrong in ["rank x", "receive 2 3", "receive z: 3", "choice 1: a", "serve: 1"] {
            let text = format!("rank 1\nchoice 1: 1\nrank 0\n{wrong}\n");
            let error = Log::decode(&text, 0).expect_err(wrong);
            assert_eq!(error, format!("line 4 is no line of a log: '{wrong}'"));
        }
    }
}
