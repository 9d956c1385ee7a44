//! The heartbeat as the manager uses it: who is late is told to whoever asks for the nodes, and the
//! period can be set (the file `heartbeat`).
//!
//! Late is less than slow ([`super::silence`]): a node that is a second behind is busy or was
//! stopped, and that is said of it; it gets jobs as before.

use super::Manager;
use crate::memory::{LATE, Memory, PERIOD, id_of, name_of, read_period};
use muster_base::span;
use muster_fabric::heartbeat::{MEMBERS, Notice, Request};
use muster_fabric::{self as fabric, Deadline};
use muster_ninep::error::{Errno, Error, Result, fail};
use serde_json::json;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// How long to wait for a strobe at once.
const WAIT: Duration = Duration::from_secs(60);

/// How long this process's part of the heartbeat may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Strobes of which it is remembered when they were made: how far these are apart at least, and how
/// many they are.
const APART: Duration = Duration::from_millis(50);
const MARKS_MAX: usize = 2048;

/// How far a node is behind: in strobes, and in time.
pub(super) type Behind = (u64, Duration);

pub(super) fn follow(manager: &Arc<Manager>, memory: &Memory) -> io::Result<()> {
    let (manager, mut beats) = (Arc::downgrade(manager), memory.beats());
    let work = move || {
        let (mut marks, mut is_due) = (Marks::default(), true);
        loop {
            match beats.next(Deadline::after(WAIT)) {
                Ok(notice) => {
                    let Some(manager) = Weak::upgrade(&manager) else { return };
                    if let Notice::Strobe { sequence, .. } = notice {
                        marks.note(sequence, Instant::now());
                    }
                    is_due |= may_change_who_is_late(&notice);
                    // Where this process has no time to answer itself, it is looked again.
                    is_due = is_due && !manager.look_for_late(&marks);
                }
                Err(fabric::Error::Deadline { .. }) => {}
                Err(_) => return,
            }
        }
    };
    std::thread::Builder::new().name("beat".into()).spawn(work).map(drop)
}

/// When strobes were made, as far as that is remembered.
#[derive(Debug, Default)]
struct Marks {
    /// Some of them, some time apart.
    made: VecDeque<(u64, Instant)>,
    last: u64,
}

impl Marks {
    fn note(&mut self, strobe: u64, now: Instant) {
        self.last = strobe;
        if self.made.back().is_none_or(|(_, before)| now - *before >= APART) {
            self.made.push_back((strobe, now));
        }
        while self.made.len() > MARKS_MAX {
            self.made.pop_front();
        }
    }

    /// How far one is behind who has seen that strobe last, or, if it is long ago, at least is. Who
    /// has come and not reported any is as far behind as makes one late, at least.
    fn behind(&self, seen: u64, now: Instant) -> Behind {
        let seen = if seen == 0 { self.last.saturating_sub(LATE) } else { seen };
        let missed = self.made.iter().find(|(strobe, _)| *strobe > seen);
        let since = missed.or(self.made.back()).map_or(Duration::ZERO, |(_, when)| now - *when);
        (self.last.saturating_sub(seen), since)
    }
}

/// Who is no member any more is not late either, which nobody tells.
fn may_change_who_is_late(notice: &Notice) -> bool {
    match notice {
        Notice::Late { .. } | Notice::InTime { .. } | Notice::Resync { .. } => true,
        Notice::Strobe { events, .. } => events.iter().any(|event| event.kind == MEMBERS),
        _ => false,
    }
}

/// What is said of a late node.
pub(super) fn behind((strobes, time): Behind) -> String {
    format!("is {strobes} strobes of the heartbeat behind ({:.1} s)", time.as_secs_f64())
}

impl Manager {
    /// Tells who is late, and who no longer is; false if that could not be found out.
    fn look_for_late(&self, marks: &Marks) -> bool {
        let Ok(late) = self.memory.late(Deadline::after(ANSWER)) else { return false };
        let now = Instant::now();
        let late = late.into_iter().map(|(node, seen)| (name_of(node), marks.behind(seen, now)));
        let late = late.collect();
        let members = self.memory.members();
        let is_member = |name: &str| id_of(name).is_some_and(|node| members.contains(node));
        let (came, went) = self.nodes.note_late(&late, is_member);
        for name in came {
            let strobes = late[&name].0;
            self.event(json!({"event": "node late", "node": name, "strobes": strobes}));
        }
        went.iter().for_each(|name| self.in_time(name));
        true
    }

    /// A node has caught up.
    pub(super) fn in_time(&self, name: &str) {
        self.event(json!({"event": "node in time", "node": name}));
    }

    /// Has the heartbeat beat otherwise, now and under the next manager: a line with a time.
    pub(super) fn set_heartbeat(&self, line: &str) -> Result<()> {
        let invalid = |why| Error::new(Errno::INVAL, why);
        let period = read_period(line.trim()).map_err(invalid)?;
        self.settings.change(|values| {
            values.heartbeat = Some(span::write(period));
            Ok(())
        })?;
        self.beat(period)
    }

    /// What was set before.
    pub(super) fn restore_heartbeat(&self) {
        let set = self.settings.get().heartbeat.clone();
        // It was checked when it was set; what another version has set is the default.
        let period = set.and_then(|text| span::parse(&text).ok()).filter(|it| *it != PERIOD);
        if let Some(period) = period {
            let _ = self.beat(period);
        }
    }

    fn beat(&self, period: Duration) -> Result<()> {
        // At once: the period before may be long.
        let requests = vec![Request::Period { period, micro: 1 }, Request::Early];
        self.memory
            .strobe(requests, Deadline::after(ANSWER))
            .or_else(|error| fail(Errno::IO, format!("{error}  [E134]")))
    }

    /// The heartbeat, and who is late.
    pub(super) fn heartbeat(&self) -> String {
        let pulse = self.memory.tell_pulse(Deadline::after(ANSWER));
        let pulse = pulse.unwrap_or_else(|error| format!("{error}\n"));
        let late = self.nodes.late().into_iter();
        let late = late.map(|(name, (strobes, _))| format!("late {name} {strobes}\n"));
        std::iter::once(pulse).chain(late).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use muster_fabric::heartbeat::{Event, USER};
    use muster_fabric::protocol::{NodeId, Time};

    #[test]
    fn how_long_one_is_behind_is_counted_from_the_first_strobe_that_it_has_missed() {
        let (mut marks, start) = (Marks::default(), Instant::now());
        let ms = |ms| start + Duration::from_millis(ms);
        assert_eq!(marks.behind(0, start), (0, Duration::ZERO));
        // One early strobe among them: it is time that counts.
        for (strobe, at) in [(11, 0), (12, 200), (13, 210), (14, 400), (15, 600)] {
            marks.note(strobe, ms(at));
        }
        assert_eq!(marks.behind(12, ms(1000)), (3, Duration::from_millis(600)));
        assert_eq!(marks.behind(11, ms(1000)), (4, Duration::from_millis(800)));
        assert_eq!(marks.behind(15, ms(1000)), (0, Duration::from_millis(400)));
        assert_eq!(marks.behind(0, ms(1000)), (LATE, Duration::from_millis(1000)));
        for strobe in 16..10_000 {
            marks.note(strobe, ms(100 * strobe));
        }
        assert_eq!(marks.made.len(), MARKS_MAX);
        let (strobes, at_least) = marks.behind(11, ms(1_000_000));
        assert!(strobes == 9988 && at_least > Duration::from_secs(200));
    }

    #[test]
    fn a_strobe_that_says_nothing_of_members_costs_no_look() {
        let strobe = |events| Notice::Strobe {
            sequence: 1,
            epoch: 1,
            early: false,
            events,
            when: Time::default(),
        };
        let event = |kind| Event::new(kind, Vec::new());
        assert!(!may_change_who_is_late(&strobe(vec![])));
        assert!(!may_change_who_is_late(&strobe(vec![event(USER)])));
        assert!(may_change_who_is_late(&strobe(vec![event(USER), event(MEMBERS)])));
        assert!(may_change_who_is_late(&Notice::InTime { node: NodeId(1) }));
    }
}
