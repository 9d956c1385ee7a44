//! Which scheduler, and how it is set: one line of words, `gang slice=1ms slots=4 placement=buddy`.

use super::gang::{Gang, Placement};
use super::{Scheduler, easy, fcfs, share};
use crate::slots::check_slice;
use muster_base::limits::SLOTS_MAX;
use muster_base::span;
use std::fmt;
use std::time::Duration;

/// How long a slice is if nobody says.
const SLICE: Duration = Duration::from_millis(10);

/// Slots at most if nobody says.
const SLOTS: usize = 4;

/// A scheduler and its settings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Config {
    /// Every job starts at once.
    #[default]
    Share,
    /// First come, first served.
    Fcfs,
    /// EASY backfill.
    Easy,
    /// Gang scheduling.
    Gang {
        /// How long a turn takes.
        slice: Duration,
        /// Slots at most.
        slots: usize,
        /// How nodes are chosen.
        placement: Placement,
    },
}

impl Config {
    /// Reads the line.
    ///
    /// # Errors
    /// One sentence.
    pub fn parse(text: &str) -> Result<Config, String> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let plain = match name {
            "share" => Config::Share,
            "fcfs" => Config::Fcfs,
            "easy" => Config::Easy,
            "gang" => return Config::gang(words),
            _ => {
                return Err(format!(
                    "there is no scheduler '{name}', but share, fcfs, easy and gang  [E115]"
                ));
            }
        };
        match words.next() {
            None => Ok(plain),
            Some(word) => {
                let text = "gang has settings: --scheduler gang, or muster scheduler gang";
                Err(format!("'{word}' is nothing that {name} has; {text}  [E115]"))
            }
        }
    }

    fn gang<'a>(words: impl Iterator<Item = &'a str>) -> Result<Config, String> {
        let (mut slice, mut slots, mut placement) = (SLICE, SLOTS, Placement::default());
        for word in words {
            match word.split_once('=') {
                Some(("slice", time)) => {
                    slice = span::parse(time).map_err(|_| {
                        format!("slice={time} is no time: write 2ms, 500us or 1s  [E115]")
                    })?;
                    check_slice(slice)?;
                }
                Some(("slots", count)) => {
                    let number = count.parse().ok().filter(|n| (1..=SLOTS_MAX).contains(n));
                    let bad = || format!("slots={count} cannot be: 1 to {SLOTS_MAX}  [E115]");
                    slots = number.ok_or_else(bad)?;
                }
                Some(("placement", "buddy")) => placement = Placement::Buddy,
                Some(("placement", "first")) => placement = Placement::First,
                _ => {
                    return Err(format!(
                        "'{word}' is no setting of gang: write slice=1ms, slots=4, \
                         placement=buddy or placement=first  [E115]"
                    ));
                }
            }
        }
        Ok(Config::Gang { slice, slots, placement })
    }

    /// The scheduler that it names.
    pub(super) fn scheduler(self) -> Box<dyn Scheduler> {
        match self {
            Config::Share => Box::new(share::Share),
            Config::Fcfs => Box::new(fcfs::Fcfs),
            Config::Easy => Box::new(easy::Easy),
            Config::Gang { slice, slots, placement } => {
                Box::new(Gang::new(slice, slots, placement))
            }
        }
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Config::Share => f.write_str("share"),
            Config::Fcfs => f.write_str("fcfs"),
            Config::Easy => f.write_str("easy"),
            Config::Gang { slice, slots, placement } => {
                let placement = match placement {
                    Placement::Buddy => "buddy",
                    Placement::First => "first",
                };
                let slice = span::write(*slice);
                write!(f, "gang slice={slice} slots={slots} placement={placement}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_mistakes_are_told() {
        for text in ["share", "fcfs", "easy", "gang slice=300us slots=64 placement=first"] {
            assert_eq!(Config::parse(text).unwrap().to_string(), text);
        }
        let set = Config::parse(" gang slice=8s\n").unwrap().to_string();
        assert_eq!(set, "gang slice=8s slots=4 placement=buddy");
        for (text, said) in [
            ("", "there is no scheduler ''"),
            ("lottery", "there is no scheduler 'lottery', but share, fcfs, easy and gang"),
            ("easy slice=1ms", "nothing that easy has"),
            ("gang slice=299us", "cannot be: it takes from 300"),
            ("gang slice=8001ms", "cannot be: it takes from 300"),
            ("gang slice=soon", "slice=soon is no time: write 2ms"),
            ("gang slots=0", "1 to 64"),
            ("gang slots=65", "1 to 64"),
            ("gang placement=here", "is no setting of gang"),
        ] {
            assert!(Config::parse(text).unwrap_err().contains(said), "{text}");
        }
    }
}
