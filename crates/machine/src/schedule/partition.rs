//! Partitions: named sets of nodes, with a priority, a longest time, and times at which their nodes
//! are kept for their jobs.

use super::Moment;
use muster_base::{nodeset, span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// Seconds of a day.
const DAY: Duration = Duration::from_secs(86_400);

/// The latest moment that can be told: the end of the year 9999.
const LATEST: Duration = Duration::from_secs(253_402_300_799);

/// Some nodes, and what their jobs may.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Its nodes.
    pub nodes: BTreeSet<u32>,
    /// Added to the priority of each of its jobs.
    pub priority: i32,
    /// The longest time that a job may ask for. One that asks for none gets this.
    pub time: Option<Duration>,
    /// When its nodes are for its jobs only.
    pub reserved: Vec<Window>,
}

/// A time from one moment to another, once or every day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// From: time since 1970, or since midnight (UTC) if it is every day.
    pub from: Duration,
    /// To; of every day's up to two days after that midnight.
    pub to: Duration,
    /// Every day.
    pub daily: bool,
}

impl Window {
    /// Reads `22:00-06:00` (every day, UTC) or `@1790000000-@1790003600` (once, since 1970).
    ///
    /// # Errors
    /// One sentence.
    pub fn parse(text: &str) -> Result<Window, String> {
        let bad = || {
            format!(
                "'{text}' is no time to reserve: write 22:00-06:00, each day in UTC, or once \
                 @1790000000-@1790003600, seconds since 1970  [E118]"
            )
        };
        let (from, to) = text.split_once('-').ok_or_else(bad)?;
        let once = |text: &str| {
            let seconds = text.strip_prefix('@')?.parse().ok().map(Duration::from_secs);
            seconds.filter(|at| *at <= LATEST)
        };
        let window = match (once(from), once(to)) {
            (Some(from), Some(to)) => Window { from, to, daily: false },
            _ => {
                let from = hour(from).ok_or_else(bad)?;
                let to = hour(to).ok_or_else(bad)?;
                let to = if to > from { to } else { to + DAY };
                Window { from, to, daily: true }
            }
        };
        if window.from < window.to { Ok(window) } else { Err(bad()) }
    }

    /// The times from the day before `at` on, or the one: those that have to do with it.
    fn times(&self, at: Moment) -> impl Iterator<Item = (Moment, Moment)> {
        let midnight = DAY * (at.as_secs() / DAY.as_secs()) as u32;
        let days = if self.daily { 0..3 } else { 0..1 };
        let (from, to, daily) = (self.from, self.to, self.daily);
        days.map(move |day| {
            let start =
                if daily { (midnight + DAY * day).saturating_sub(DAY) } else { Moment::ZERO };
            (start + from, start + to)
        })
    }

    /// Whether a job that runs from `at` on for `time` runs into it.
    fn meets(&self, at: Moment, time: Option<Duration>) -> bool {
        let longest = self.daily && time.is_none_or(|time| time >= DAY);
        let mut times = self.times(at);
        longest || times.any(|(from, to)| to > at && time.is_none_or(|time| from < at + time))
    }

    /// Whether both times have a moment in common.
    fn overlaps(&self, other: &Window) -> bool {
        let is_whole_day = |one: &Window| one.to - one.from >= DAY;
        if !(self.daily || other.daily) {
            return self.from < other.to && other.from < self.to;
        }
        // One of them comes each day: what counts is the time of the day.
        let hour = |at: Duration| at.as_nanos() % DAY.as_nanos();
        let begins_in = |one: &Window, in_: &Window| {
            let after = (hour(one.from) + DAY.as_nanos() - hour(in_.from)) % DAY.as_nanos();
            after < (in_.to - in_.from).as_nanos()
        };
        is_whole_day(self)
            || is_whole_day(other)
            || begins_in(self, other)
            || begins_in(other, self)
    }

    /// When that is, for people at `at`: `22:00-06:00 UTC`, or `for 90m more`.
    pub(super) fn told(&self, at: Moment) -> String {
        // In whole minutes, as far as it is away; in seconds when it is near.
        let minutes = |to: Moment| {
            let seconds = to.saturating_sub(at).as_secs();
            let seconds = if seconds < 120 { seconds } else { 60 * seconds.div_ceil(60) };
            span::write(Duration::from_secs(seconds))
        };
        match self {
            Window { daily: true, .. } => format!("{self} UTC"),
            Window { from, to, .. } if *from <= at => format!("for {} more", minutes(*to)),
            Window { from, to, .. } => {
                format!("from {} to {} from now", minutes(*from), minutes(*to))
            }
        }
    }

    /// When it ends next after `at`.
    fn end(&self, at: Moment) -> Option<Moment> {
        self.times(at).map(|(_, to)| to).filter(|to| *to > at).min()
    }

    fn edge(&self, at: Moment) -> Option<Moment> {
        self.times(at).flat_map(|(from, to)| [from, to]).filter(|edge| *edge > at).min()
    }
}

/// `HH:MM`.
fn hour(text: &str) -> Option<Duration> {
    let (hours, minutes) = text.split_once(':')?;
    let two = |text: &str| (text.len() == 2).then(|| text.parse::<u64>().ok()).flatten();
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours < 24 && minutes < 60).then(|| Duration::from_secs(hours * 3600 + minutes * 60))
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from.as_secs(), self.to.as_secs());
        if !self.daily {
            return write!(f, "@{from}-@{to}");
        }
        let hour = |at: u64| format!("{:02}:{:02}", at / 3600 % 24, at / 60 % 60);
        write!(f, "{}-{}", hour(from), hour(to))
    }
}

impl Partition {
    /// Reads words such as `nodes=n[0-3] priority=5 time=1h reserve=22:00-06:00`; `number` knows a
    /// node's number by its name.
    ///
    /// # Errors
    /// One sentence.
    pub fn parse(
        words: &[&str],
        number: impl Fn(&str) -> Option<u32>,
    ) -> Result<Partition, String> {
        let mut part = Partition::default();
        for word in words {
            match word.split_once('=') {
                Some(("nodes", set)) => {
                    let names = nodeset::expand(set).map_err(|error| format!("{error}  [E113]"))?;
                    for name in names {
                        let node = number(&name);
                        let node =
                            node.ok_or_else(|| format!("there is no node {name}  [E113]"))?;
                        part.nodes.insert(node);
                    }
                }
                Some(("priority", number)) => {
                    let bad = |_| format!("'{number}' is no whole number for priority  [E118]");
                    part.priority = number.parse().map_err(bad)?;
                }
                Some(("time", time)) => {
                    part.time = Some(span::parse(time).map_err(|said| format!("{said}  [E118]"))?);
                }
                Some(("reserve", window)) => part.reserved.push(Window::parse(window)?),
                _ => {
                    return Err(format!(
                        "'{word}' says nothing of a partition: write nodes=, priority=, time= or \
                         reserve=  [E118]"
                    ));
                }
            }
        }
        if part.nodes.is_empty() {
            return Err("a partition has nodes: write for instance nodes=n[0-3]  [E118]".to_owned());
        }
        Ok(part)
    }

    /// Says what cannot be at `now`, beside other partitions: a time that is over, and nodes that
    /// are reserved for both at once, which nobody would get.
    ///
    /// # Errors
    /// One sentence.
    pub fn check<'a>(
        &self,
        now: Moment,
        others: impl Iterator<Item = (&'a String, &'a Partition)>,
        name: impl Fn(u32) -> String,
    ) -> Result<(), String> {
        let is_over = |window: &Window| !window.daily && window.to <= now;
        if let Some(window) = self.reserved.iter().find(|window| is_over(window)) {
            return Err(format!("{window} is over: reserve a time to come  [E118]"));
        }
        for (other, part) in others {
            let Some(node) = self.nodes.intersection(&part.nodes).next() else { continue };
            for window in &self.reserved {
                let mut theirs = part.reserved.iter().filter(|theirs| !is_over(theirs));
                if let Some(theirs) = theirs.find(|theirs| theirs.overlaps(window)) {
                    let node = name(*node);
                    return Err(format!(
                        "{window} meets {theirs}, for which {node} is reserved for partition \
                         {other}: choose another time or other nodes  [E118]"
                    ));
                }
            }
        }
        Ok(())
    }

    /// As [`Partition::parse`] reads it.
    pub fn words(&self, name: impl Fn(u32) -> String) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(|node| name(*node)).collect();
        let mut words = format!("nodes={}", nodeset::fold(&nodes));
        if self.priority != 0 {
            words += &format!(" priority={}", self.priority);
        }
        if let Some(time) = self.time {
            words += &format!(" time={}", span::write(time));
        }
        self.reserved.iter().for_each(|window| words += &format!(" reserve={window}"));
        words
    }

    /// Whether a node is one of its own.
    pub fn has(&self, node: u32) -> bool {
        self.nodes.contains(&node)
    }

    /// The time for which its nodes are not for others that run from `at` on for `time`.
    pub(super) fn reservation(&self, at: Moment, time: Option<Duration>) -> Option<&Window> {
        self.reserved.iter().find(|window| window.meets(at, time))
    }

    /// The next moment after `at` at which a time begins or ends for which it is reserved.
    pub(super) fn edge(&self, at: Moment) -> Option<Moment> {
        self.reserved.iter().filter_map(|window| window.edge(at)).min()
    }

    /// When each of the times ends next after `at` for which it is reserved.
    pub(super) fn ends(&self, at: Moment) -> impl Iterator<Item = Moment> {
        self.reserved.iter().filter_map(move |window| window.end(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(hours: f64) -> Duration {
        Duration::from_secs_f64(hours * 3600.0)
    }

    #[test]
    fn a_time_that_no_clock_can_show_is_none() {
        for text in ["@0-@9999999999999999999", "@0-@253402300800", "@5-@5"] {
            assert!(Window::parse(text).is_err_and(|said| said.contains(text)), "{text}");
        }
        Window::parse("@0-@253402300799").expect("the end of the year 9999");
    }

    #[test]
    fn times_overlap_that_have_a_moment_in_common_whatever_the_day() {
        let window = |text: &str| Window::parse(text).unwrap();
        for (one, other, is_so) in [
            ("00:00-00:00", "12:00-13:00", true),
            ("22:00-06:00", "05:59-07:00", true),
            ("22:00-06:00", "21:00-22:01", true),
            ("22:00-06:00", "06:00-22:00", false),
            ("08:00-09:00", "09:00-10:00", false),
            ("@100-@200", "@199-@300", true),
            ("@100-@200", "@200-@300", false),
            // From 1970, 2 January, 01:00 on, for an hour, for a day less a second, for a day.
            ("00:00-01:00", "@90000-@93600", false),
            ("01:30-02:00", "@90000-@93600", true),
            ("00:30-01:00", "@90000-@176399", true),
            ("00:59-01:00", "@90000-@176400", true),
        ] {
            let (a, b) = (window(one), window(other));
            assert_eq!((a.overlaps(&b), b.overlaps(&a)), (is_so, is_so), "{one} {other}");
        }
    }

    #[test]
    fn a_nightly_window_holds_across_midnight_and_for_what_runs_into_it() {
        let night = Window::parse("22:00-06:00").unwrap();
        let day = DAY * 20_000;
        for (at, time, met) in [
            (23.0, Some(0.1), true),
            (5.9, Some(0.1), true),
            (6.0, Some(16.0), false),
            (6.0, Some(16.1), true),
            (12.0, None, true),
            (12.0, Some(24.0), true),
        ] {
            assert_eq!(night.meets(day + hours(at), time.map(hours)), met, "{at} {time:?}");
        }
        assert_eq!(night.edge(day + hours(1.0)), Some(day + hours(6.0)));
        assert_eq!(night.edge(day + hours(23.0)), Some(day + hours(30.0)));
        assert_eq!(night.end(day + hours(1.0)), Some(day + hours(6.0)));
        assert_eq!(night.end(day + hours(6.0)), Some(day + hours(30.0)));
        let once = Window::parse("@100-@200").unwrap();
        let seconds = Duration::from_secs;
        assert!(once.meets(seconds(50), None) && !once.meets(seconds(50), Some(seconds(50))));
        assert_eq!((once.edge(seconds(100)), once.edge(seconds(200))), (Some(seconds(200)), None));
        assert_eq!((once.end(seconds(50)), once.end(seconds(200))), (Some(seconds(200)), None));
    }

    #[test]
    fn what_is_written_is_read_again_and_mistakes_are_told() {
        let number = |name: &str| name.strip_prefix('n')?.parse().ok().filter(|node| *node < 8);
        let read = |text: &str| Partition::parse(&text.split(' ').collect::<Vec<_>>(), number);
        let text = "nodes=n[0-3] priority=-5 time=90m reserve=22:00-06:00 reserve=@100-@200";
        assert_eq!(read(text).unwrap().words(|node| format!("n{node}")), text);
        for (text, said) in [
            ("nodes=n9", "no node n9"),
            ("priority=1", "has nodes"),
            ("nodes=n1 time=0", "longer than nothing"),
            ("nodes=n1 priority=high", "no whole number"),
            ("nodes=n1 reserve=25:00-26:00", "no time to reserve"),
            ("nodes=n1 reserve=@2-@1", "no time to reserve"),
            ("nodes=n1 colour=red", "says nothing"),
        ] {
            assert!(read(text).unwrap_err().contains(said), "{text}");
        }
    }
}
