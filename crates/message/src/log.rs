//! What came about where a program leaves a choice: from whom a receive from any source got its
//! message, which of several operations had ended when the program asked. It is all that can differ
//! between two runs of a program whose ranks each do the same with the same messages; so a run that
//! follows the log of another is that run again, and two runs whose digests are equal were the
//! same.
//!
//! The log of a job is text (`docs/wire/order.md`): of each rank a part, and in it a line for each
//! kind of choice, in the order in which the program came to it. A log without its last line is of
//! a run that did not come to its end, or was cut: it is not followed.

use crate::descriptor::Envelope;
use crate::matching::Wanted;
use std::collections::{BTreeMap, BTreeSet};

/// The first line of a log: this, and how many ranks there are.
const FIRST: &str = "muster order 1, ";
/// The last one.
const LAST: &str = "end";

/// What a call asks after that is told what depends on who is fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Which one of several operations has ended.
    Any,
    /// Which of them have.
    Some,
    /// Whether all have.
    All,
    /// From whom a message is there, and its tag.
    Message,
    /// Whether something has come about.
    Event,
}

/// Their words in a log.
const WORDS: [(&str, Question); 5] = [
    ("any", Question::Any),
    ("some", Question::Some),
    ("all", Question::All),
    ("message", Question::Message),
    ("event", Question::Event),
];

/// What calls were told, and how many after each other the same.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Choice {
    question: Question,
    told: Vec<i64>,
    times: u64,
}

/// A rank's log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The sources and tags of what receives from any source took, by context, in the order of
    /// their calls.
    receives: BTreeMap<u64, Vec<Option<(u32, i32)>>>,
    /// The sources of messages that were claimed from any source.
    claims: BTreeMap<u64, Vec<u32>>,
    /// Which of the receives from a certain source were taken back, by context.
    cancels: BTreeMap<u64, BTreeSet<usize>>,
    choices: Vec<Choice>,
}

impl Log {
    /// A receive from any source is posted: its number in the context.
    pub(crate) fn post(&mut self, context: u64) -> usize {
        let row = self.receives.entry(context).or_default();
        row.push(None);
        row.len() - 1
    }

    /// It has taken a message.
    pub(crate) fn take(&mut self, number: usize, of: Envelope) {
        let row = self.receives.get_mut(&of.context);
        if let Some(place) = row.and_then(|row| row.get_mut(number)) {
            *place = Some((of.source, of.tag));
        }
    }

    /// A message was claimed.
    pub(crate) fn claim(&mut self, context: u64, source: u32) {
        self.claims.entry(context).or_default().push(source);
    }

    /// A receive from a certain source was taken back.
    pub(crate) fn cancel(&mut self, context: u64, number: usize) {
        self.cancels.entry(context).or_default().insert(number);
    }

    /// A call was told something.
    pub fn choose(&mut self, question: Question, told: &[i64]) {
        match self.choices.last_mut() {
            Some(last) if last.question == question && last.told == told => last.times += 1,
            _ => self.choices.push(Choice { question, told: told.to_vec(), times: 1 }),
        }
    }

    /// As text, without the line that names the rank.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        for (context, row) in &self.receives {
            let taken = row.iter().map(|taken| match taken {
                Some((source, tag)) => format!(" {source}/{tag}"),
                None => " -".to_owned(),
            });
            text += &format!("receive {context:x}:{}\n", taken.collect::<String>());
        }
        for (context, row) in &self.claims {
            let sources = row.iter().map(|source| format!(" {source}"));
            text += &format!("serve {context:x}:{}\n", sources.collect::<String>());
        }
        for (context, row) in &self.cancels {
            let numbers = row.iter().map(|number| format!(" {number}"));
            text += &format!("cancel {context:x}:{}\n", numbers.collect::<String>());
        }
        for Choice { question, told, times } in &self.choices {
            let word = WORDS.iter().find(|(_, of)| of == question).map_or("", |(word, _)| word);
            let told = told.iter().map(|number| format!(" {number}"));
            text += &format!("{word} {times}:{}\n", told.collect::<String>());
        }
        text
    }

    /// A rank's log of its part of a job's.
    ///
    /// # Errors
    /// The line that says nothing, and why.
    pub fn decode(part: &Part) -> Result<Log, String> {
        let mut log = Log::default();
        for (number, line) in (part.line + 1..).zip(part.text.lines()) {
            let wrong = || format!("line {number} is no line of a log: '{line}'");
            log.add(line).ok_or_else(wrong)?;
        }
        Ok(log)
    }

    fn add(&mut self, line: &str) -> Option<()> {
        let (what, values) = line.split_once(':')?;
        let values = values.split_whitespace();
        let (what, of) = what.split_once(' ')?;
        let context = || u64::from_str_radix(of, 16).ok();
        match what {
            "receive" => {
                let taken = |value: &str| match value.split_once('/') {
                    _ if value == "-" => Some(None),
                    Some((source, tag)) => Some(Some((source.parse().ok()?, tag.parse().ok()?))),
                    None => None,
                };
                let row = values.map(taken).collect::<Option<_>>()?;
                self.receives.insert(context()?, row);
            }
            "serve" => {
                let row = values.map(|value| value.parse().ok()).collect::<Option<_>>()?;
                self.claims.insert(context()?, row);
            }
            "cancel" => {
                let row = values.map(|value| value.parse().ok()).collect::<Option<_>>()?;
                self.cancels.insert(context()?, row);
            }
            word => {
                let (_, question) = *WORDS.iter().find(|(known, _)| *known == word)?;
                let told = values.map(|value| value.parse().ok()).collect::<Option<_>>()?;
                let times = of.parse().ok().filter(|times| *times > 0)?;
                self.choices.push(Choice { question, told, times });
            }
        }
        Some(())
    }
}

/// A rank's part of a job's log: what is below the line with that number, which names the rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The line's number in the log of the job.
    pub line: usize,
    /// The lines of the rank.
    pub text: String,
}

/// A job's log of those of its ranks.
pub fn join(parts: &[String]) -> String {
    let each = parts.iter().enumerate().map(|(rank, part)| format!("rank {rank}\n{part}"));
    format!("{FIRST}{} ranks\n{}{LAST}\n", parts.len(), each.collect::<String>())
}

/// The parts of a job's log, by rank.
///
/// # Errors
/// Why it is no log that can be followed.
pub fn split(text: &str) -> Result<Vec<Part>, String> {
    if text.is_empty() {
        return Err("it is empty: the run that was to write it has not come to its end".into());
    }
    let mut lines = (1..).zip(text.lines());
    let size = |line: &str| line.strip_prefix(FIRST)?.strip_suffix(" ranks")?.parse().ok();
    let size: usize = lines.next().and_then(|(_, line)| size(line)).ok_or_else(|| {
        format!("its first line is not '{FIRST}N ranks', as this Muster's logs begin")
    })?;
    let mut parts: Vec<Part> = Vec::new();
    for (number, line) in lines.by_ref() {
        if line == LAST {
            break;
        }
        let rank = line.strip_prefix("rank ").map(str::parse);
        if rank == Some(Ok(parts.len())) {
            parts.push(Part { line: number, text: String::new() });
            continue;
        }
        let part = parts.last_mut().filter(|_| rank.is_none());
        let part = part.ok_or_else(|| format!("line {number} is no line of a log: '{line}'"))?;
        part.text.push_str(line);
        part.text.push('\n');
    }
    // Where the last line is there, all of the others are.
    if parts.len() != size || !text.ends_with(&format!("\n{LAST}\n")) || lines.next().is_some() {
        return Err(format!("it does not end as the log of {size} ranks: it was cut, or changed"));
    }
    Ok(parts)
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
    pub(crate) fn receive(&mut self, wanted: Wanted) -> Option<Option<u32>> {
        let at = self.receives.entry(wanted.context).or_default();
        let taken = *self.log.receives.get(&wanted.context)?.get(*at)?;
        *at += 1;
        let fits = |tag: i32| wanted.tag.is_none_or(|wanted| wanted == tag);
        taken.is_none_or(|(_, tag)| fits(tag)).then_some(taken.map(|(source, _)| source))
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

    /// What the next call was told; none where the run of the log had no such call.
    pub(crate) fn choice(&mut self, question: Question) -> Option<Vec<i64>> {
        let choice = self.log.choices.get(self.choices.0)?;
        self.choices.1 += 1;
        if self.choices.1 >= choice.times {
            self.choices = (self.choices.0 + 1, 0);
        }
        (choice.question == question).then(|| choice.told.clone())
    }

    /// Whether the program has come to the end of the log. How much of what ranks ask of windows is
    /// still to be served when a job ends is nobody's choice.
    pub(crate) fn is_over(&self) -> bool {
        let posted = |context| self.receives.get(context).copied().unwrap_or(0);
        self.choices.0 == self.log.choices.len()
            && self.log.receives.iter().all(|(context, row)| posted(context) == row.len())
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

    fn message(context: u64, source: u32, tag: i32) -> Envelope {
        Envelope { context, source, tag }
    }

    /// A log with something of each kind.
    fn sample() -> Log {
        let mut log = Log::default();
        let (first, second) = (log.post(4), log.post(4));
        assert_eq!((first, second, log.post(0xffff_ffff_fffc)), (0, 1, 0));
        log.take(second, message(4, 2, 7));
        log.claim(0x8a, 2);
        log.claim(0x8a, 0);
        log.cancel(4, 5);
        log.cancel(4, 3);
        for _ in 0..3 {
            log.choose(Question::Event, &[]);
        }
        log.choose(Question::Event, &[1]);
        log.choose(Question::Some, &[0, 3]);
        log.choose(Question::Any, &[1]);
        log.choose(Question::All, &[0]);
        log.choose(Question::Message, &[2, 7]);
        log
    }

    #[test]
    fn a_log_as_text_is_the_log() {
        let logs = [Log::default(), sample(), Log::default()];
        let text = join(&logs.each_ref().map(Log::encode));
        let again: Vec<_> = split(&text).unwrap().iter().map(Log::decode).collect();
        assert_eq!(again, logs.map(Ok));
        assert_eq!(split(&join(&[])), Ok(Vec::new()));
    }

    /// The samples of `docs/wire/order.md`.
    #[test]
    fn the_table_of_the_format_has_this_log() {
        let table = include_str!("../../../docs/wire/order.md");
        let sample_of = |line: &str| line.strip_prefix("    ").map(|line| format!("{line}\n"));
        let text: String = table.lines().filter_map(sample_of).collect();
        assert_eq!(text, join(&[sample().encode(), String::new()]));
        let parts = split(&text).unwrap();
        assert_eq!(Log::decode(&parts[0]), Ok(sample()));
        assert_eq!(Log::decode(&parts[1]), Ok(Log::default()));
    }

    #[test]
    fn what_is_no_log_is_told_with_its_line() {
        let wrong = ["receive 2 3", "receive z: 3/1", "receive 2: 3", "any 1: a", "serve: 1"];
        for wrong in wrong.into_iter().chain(["any 0: 1", "what 1: 1", "serve 2: -1"]) {
            let text = join(&["any 1: 1\n".to_owned(), format!("{wrong}\n")]);
            let parts = split(&text).unwrap();
            assert_eq!(Log::decode(&parts[0]).map(drop), Ok(()));
            let error = Log::decode(&parts[1]).expect_err(wrong);
            assert_eq!(error, format!("line 5 is no line of a log: '{wrong}'"));
        }
    }

    #[test]
    fn a_log_that_was_cut_anywhere_is_not_followed() {
        let whole = join(&[sample().encode(), String::new(), sample().encode()]);
        assert_eq!(split(&whole).unwrap().len(), 3);
        for size in 0..whole.len() {
            assert!(split(&whole[..size]).is_err(), "{:?}", &whole[..size]);
        }
        for other in ["rank 0\n", "muster order 2, 1 ranks\nrank 0\nend\n", "\0\n"] {
            assert!(split(other).unwrap_err().starts_with("its first line is not"), "{other}");
        }
        for changed in ["rank 1\nend\n", "all 1: 0\nend\n", "rank 0\nend\nall 1: 0\nend\n"] {
            assert!(split(&format!("muster order 1, 1 ranks\n{changed}")).is_err(), "{changed}");
        }
    }

    #[test]
    fn what_the_run_of_a_log_did_not_do_is_seen_and_that_it_did_more_at_the_end() {
        let any = |tag| Wanted { context: 4, source: None, tag };
        let mut followed = Followed::new(sample());
        assert_eq!(followed.receive(any(Some(9))), Some(None), "it took nothing there");
        assert_eq!(followed.receive(any(Some(9))), None, "it had another tag");
        let mut followed = Followed::new(sample());
        assert_eq!(followed.receive(any(None)), Some(None));
        assert_eq!(followed.receive(any(Some(7))), Some(Some(2)));
        assert_eq!(followed.receive(any(None)), None, "there were two");
        assert_eq!(followed.receive(Wanted { context: 0xffff_ffff_fffc, ..any(None) }), Some(None));
        for told in [&[][..], &[], &[], &[1]] {
            assert_eq!(followed.choice(Question::Event).as_deref(), Some(told));
        }
        assert_eq!(followed.choice(Question::Some), Some(vec![0, 3]));
        assert_eq!(followed.choice(Question::Any), Some(vec![1]));
        assert_eq!(followed.choice(Question::All), Some(vec![0]));
        assert!(!followed.is_over());
        assert_eq!(followed.choice(Question::Message), Some(vec![2, 7]));
        assert!(followed.is_over());
        assert_eq!(followed.choice(Question::Message), None, "there were no more");
        let mut followed = Followed::new(sample());
        assert_eq!(followed.choice(Question::Message), None, "another was asked first");
    }
}
