//! What only the master has: the rhythm's grid, events that wait for a strobe, who is late.

use super::Config;
use super::wire::{self, Behind, Event, MEMBERS, Members, PERIOD, Rhythm, Strobe, USER, Why};
use crate::protocol::{NodeId, Time};
use muster_base::limits;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// Early strobes keep this distance from the last one, however many are asked for.
const EARLY_DISTANCE: Duration = Duration::from_micros(100);

/// The master's part.
#[derive(Debug)]
pub struct Master {
    /// The next strobe's.
    sequence: u64,
    waiting: VecDeque<Event>,
    waiting_bytes: usize,
    /// To be announced with the next strobe.
    rhythm: Option<Rhythm>,
    /// The next moment of the grid.
    next: Time,
    last: Option<Time>,
    is_early_asked: bool,
    /// The master first, then the others in the order in which the user named them.
    members: Vec<NodeId>,
    /// The others, in order.
    others: BTreeSet<NodeId>,
    epoch: u64,
    arity: u16,
    /// Who is not in time, why, and the last that it has seen.
    late: BTreeMap<NodeId, (Why, u64)>,
    /// The tree may no longer be the one that is wanted.
    is_tree_old: bool,
}

impl Master {
    pub fn new(now: Time, config: &Config, rhythm: Rhythm) -> Master {
        Master {
            sequence: config.first,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            rhythm: Some(rhythm),
            next: now,
            last: None,
            is_early_asked: false,
            members: vec![config.master],
            others: BTreeSet::new(),
            epoch: 0,
            arity: config.arity,
            late: BTreeMap::new(),
            is_tree_old: true,
        }
    }

    /// When the next strobe is due, and whether that is before its time.
    pub fn due(&self) -> (Time, bool) {
        let early = self.last.map_or(self.next, |last| last + EARLY_DISTANCE);
        if self.is_early_asked && early < self.next { (early, true) } else { (self.next, false) }
    }

    pub fn ask_early(&mut self) {
        self.is_early_asked = true;
    }

    pub fn set_rhythm(&mut self, rhythm: Rhythm) {
        self.rhythm = Some(rhythm);
    }

    /// Queues an event for the next strobe that has room for it.
    pub fn push(&mut self, event: Event) -> Result<(), String> {
        let bytes = event.bytes.len() + 8;
        if event.kind < USER {
            return Err(format!("kinds of users' events begin with {USER}"));
        }
        if event.bytes.len() > limits::EVENT_MAX {
            return Err(format!("an event has {} bytes at most", limits::EVENT_MAX));
        }
        if self.waiting_bytes + bytes > limits::EVENTS_WAITING_MAX {
            return Err("too many events wait for a strobe".to_owned());
        }
        self.waiting_bytes += bytes;
        self.waiting.push_back(event);
        Ok(())
    }

    /// The strobe that leaves now. The grid stays where it is: early strobes come in addition, and
    /// what a pause has missed is not made up for. A new period counts from here.
    pub fn strobe(&mut self, now: Time, early: bool, rhythm: Rhythm, tree: &Members) -> Strobe {
        let mut events = Vec::new();
        if let Some(new) = self.rhythm {
            events.push(Event::new(PERIOD, new.encode()));
        }
        if std::mem::take(&mut self.is_tree_old)
            && let wanted = self.wanted()
            && wanted != *tree
        {
            events.push(Event::new(MEMBERS, wanted.encode()));
        }
        let mut room =
            limits::STROBE_MAX - events.iter().map(|event| event.bytes.len() + 8).sum::<usize>();
        while let Some(event) = self.waiting.front()
            && event.bytes.len() + 8 <= room
            && events.len() < limits::EVENTS_MAX
        {
            room -= event.bytes.len() + 8;
            self.waiting_bytes -= event.bytes.len() + 8;
            events.extend(self.waiting.pop_front());
        }
        // What did not fit leaves early too, if this one did.
        self.is_early_asked = early && !self.waiting.is_empty();
        if let Some(new) = self.rhythm.take() {
            self.next = now + new.period;
        } else if now >= self.next {
            let period = rhythm.period.as_nanos() as u64;
            self.next = Time(now.0 + period - (now.0 - self.next.0) % period);
        }
        self.last = Some(now);
        let (sequence, count) = (self.sequence, events.len() as u16);
        self.sequence += 1;
        let events = wire::encode_events(events.iter()).into();
        Strobe { sequence, epoch: self.epoch, early, count, events }
    }

    /// New members.
    pub fn set_members(&mut self, epoch: u64, members: &[NodeId]) -> Result<(), String> {
        let me = self.members[0];
        if epoch < self.epoch {
            return Err(format!("epoch {epoch} after epoch {}", self.epoch));
        }
        let others = members.iter().copied().filter(|member| *member != me);
        let all: Vec<NodeId> = std::iter::once(me).chain(others).collect();
        let others: BTreeSet<NodeId> = all[1..].iter().copied().collect();
        if others.len() + 1 != all.len() || all.len() > limits::MEMBERS_MAX {
            return Err(format!("{} members, {} of them different", all.len(), others.len() + 1));
        }
        self.late.retain(|node, _| others.contains(node));
        (self.members, self.others, self.epoch, self.is_tree_old) = (all, others, epoch, true);
        Ok(())
    }

    /// The tree that is wanted: who is late comes last, where nobody depends on it.
    fn wanted(&self) -> Members {
        let is_late = |node: &&NodeId| self.late.contains_key(*node);
        let in_time = self.members.iter().filter(|node| !is_late(node));
        let order = in_time.chain(self.members.iter().filter(is_late)).copied().collect();
        Members { epoch: self.epoch, arity: self.arity, order }
    }

    /// Takes what a report says of a node: whether that is new, and the last strobe it has seen.
    pub fn blame(&mut self, behind: &Behind) -> (bool, u64) {
        if behind.why == Why::New || !self.others.contains(&behind.node) {
            // Its parent has it again: when it is lost once more, that is another loss.
            if let Some((why, _)) = self.late.get_mut(&behind.node) {
                *why = Why::Late;
            }
            return (false, 0);
        }
        let old = self.late.get(&behind.node).copied();
        let seen = behind.seen.max(old.map_or(0, |(_, seen)| seen));
        self.late.insert(behind.node, (behind.why, seen));
        self.is_tree_old |= old.is_none();
        // Who has seen more since it was lost had come back, whether that was told or not.
        (old.is_none_or(|(why, known)| why != behind.why || known < seen), seen)
    }

    /// Who is not in time.
    pub fn late(&self) -> impl Iterator<Item = (&NodeId, &(Why, u64))> {
        self.late.iter()
    }

    /// Those who were late and no longer are, as `is_in_time` knows them.
    pub fn forgive(&mut self, is_in_time: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let found: Vec<NodeId> =
            self.late.keys().copied().filter(|node| is_in_time(*node)).collect();
        for node in &found {
            self.late.remove(node);
            self.is_tree_old = true;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_found_and_is_lost_again_is_told_of_again() {
        let config = Config::new(NodeId(0), NodeId(0), 1);
        let rhythm = config.check().unwrap();
        let mut master = Master::new(Time(0), &config, rhythm);
        master.set_members(1, &[NodeId(0), NodeId(1)]).unwrap();
        let mut blame = |why, seen| master.blame(&Behind { node: NodeId(1), why, seen }).0;
        assert!(blame(Why::Lost, 5));
        assert!(!blame(Why::Lost, 5), "each report says so until it is found");
        // Its parent has it again, and it has not reported yet; then it is lost once more.
        assert!(!blame(Why::New, 5));
        assert!(blame(Why::Lost, 5));
        // It had come back and reported, and no report has said so here.
        assert!(blame(Why::Lost, 9));
        assert!(!blame(Why::Lost, 9));
    }
}
