//! The heartbeat as the manager uses it: who is late is told to whoever asks for the nodes, and the
//! period can be set (the file `heartbeat`).
//!
//! Late is less than slow ([`super::silence`]): a node that is a second behind is busy or was
//! stopped, and that is said of it; it gets jobs as before.

use super::Manager;
use crate::memory::{Memory, PERIOD, id_of, name_of, read_period};
use muster_base::span;
use muster_fabric::heartbeat::{MEMBERS, Notice, Request};
use muster_fabric::primitive::Nodes;
use muster_fabric::{self as fabric, Deadline};
use muster_ninep::error::{Errno, Error, Result, fail};
use serde_json::json;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long to wait for a strobe at once.
const WAIT: Duration = Duration::from_secs(60);

/// How long this process's part of the heartbeat may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// How far a node is behind: in strobes, and in time.
pub(super) type Behind = (u64, Duration);

pub(super) fn follow(manager: &Arc<Manager>, memory: &Memory) -> io::Result<()> {
    let (manager, mut beats) = (Arc::downgrade(manager), memory.beats());
    let work = move || {
        loop {
            match beats.next(Deadline::after(WAIT)) {
                Ok(notice) => {
                    let Some(manager) = Weak::upgrade(&manager) else { return };
                    if may_change_who_is_late(&notice) {
                        manager.look_for_late();
                    }
                }
                Err(fabric::Error::Deadline { .. }) => {}
                Err(_) => return,
            }
        }
    };
    std::thread::Builder::new().name("beat".into()).spawn(work).map(drop)
}

/// Who is no member any more is not late either, which nobody tells.
fn may_change_who_is_late(notice: &Notice) -> bool {
    match notice {
        Notice::Late { .. } | Notice::InTime { .. } => true,
        Notice::Strobe { events, .. } => events.iter().any(|event| event.kind == MEMBERS),
        _ => false,
    }
}

/// What is said of a late node.
pub(super) fn behind((strobes, time): Behind) -> String {
    format!("is {strobes} strobes of the heartbeat behind ({:.1} s)", time.as_secs_f64())
}

impl Manager {
    fn look_for_late(&self) {
        // Where this process has no time to answer itself, nobody knows.
        let Ok(late) = self.memory.late(Deadline::after(ANSWER)) else { return };
        let late = late.into_iter().map(|(node, behind)| (name_of(node), behind)).collect();
        let (came, went) = self.nodes.note_late(&late);
        for name in came {
            let strobes = late[&name].0;
            self.event(json!({"event": "node late", "node": name, "strobes": strobes}));
        }
        // Who is no member any more has not caught up.
        let went: Nodes = went.iter().filter_map(|name| id_of(name)).collect();
        for node in self.memory.members_of(&went).iter() {
            self.event(json!({"event": "node in time", "node": name_of(node)}));
        }
    }

    /// Has the heartbeat beat otherwise, now and under the next manager: a line with a time.
    pub(super) fn set_heartbeat(&self, line: &str) -> Result<()> {
        let invalid = |why| Error::new(Errno::INVAL, why);
        let period = read_period(line.trim()).map_err(invalid)?;
        self.settings.change(|values| values.heartbeat = Some(span::write(period)))?;
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
