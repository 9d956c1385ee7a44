//! A rank's own part of a window: its memory, who has it locked, and what others have said.

use super::change;
use super::lock::Lock;
use super::queue::{Queue, Waiting};
use super::regions::{Region, Regions};
use super::wire::{Head, Kind};
use crate::buffer::{Memory, Typed};
use crate::datatype::Run;
use crate::error::{Class, Error, Result};
use std::collections::HashMap;

/// What is answered where a lock is not to be had at once.
pub(super) const BUSY: Class = Class::Pending;

/// An answer.
pub(super) struct Answer<M> {
    /// To whom.
    pub to: u32,
    pub message: Typed<M>,
    /// Whether it says that the rank has the lock.
    pub gives_lock: bool,
}

impl<M: Memory> Answer<M> {
    fn new(to: u32, message: Typed<M>) -> Answer<M> {
        Answer { to, message, gives_lock: false }
    }

    /// That a rank has the lock.
    fn has_lock(to: u32, number: u64) -> Answer<M> {
        Answer { to, message: answer(number, 0).alone(), gives_lock: true }
    }
}

/// An answer's head: its number, and the error class or 0.
fn answer(number: u64, code: u16) -> Head {
    Head { code, ..Head::new(Kind::Answer, number) }
}

/// Tells a rank that waits for a lock where that lies to look at it.
fn freed<M: Memory>(rank: u32) -> Answer<M> {
    Answer::new(rank, Head::new(Kind::Freed, 0).alone())
}

/// A rank's own part.
pub(super) struct Target<M> {
    pub regions: Regions<M>,
    /// Whether other ranks have the memory at addresses of theirs.
    pub is_shared: bool,
    /// Its lock.
    pub locks: Queue<M>,
    /// What went wrong first with the requests of each rank since it asked.
    faults: HashMap<u32, Class>,
    /// How often each rank has posted and completed, and this one has not waited for it; or has
    /// given up to wait for it, where it is less than nothing.
    pub posts: Vec<i32>,
    pub completes: Vec<i32>,
}

impl<M: Memory> Target<M> {
    pub fn new(regions: Regions<M>, size: u32) -> Target<M> {
        let none = vec![0; size as usize];
        let (locks, faults) = (Queue::of(Lock::apart(size)), HashMap::new());
        let posts = none.clone();
        Target { regions, is_shared: false, locks, faults, posts, completes: none }
    }

    /// Carries out what a rank asks for.
    pub fn carry_out(&mut self, origin: u32, head: &Head, data: &[u8]) -> Vec<Answer<M>> {
        let number = head.number;
        match head.kind {
            Kind::Post => self.posts[origin as usize] += 1,
            Kind::Complete => self.completes[origin as usize] += 1,
            Kind::Share | Kind::Exclude => {
                let is_exclusive = head.kind == Kind::Exclude;
                self.locks.ask(Waiting { origin, number, is_exclusive });
                return self.grant();
            }
            Kind::Try => {
                if !self.locks.lock.take(origin, false, false) {
                    let code = BUSY.number() as u16;
                    return vec![Answer::new(origin, answer(number, code).alone())];
                }
                let mut answers = vec![Answer::has_lock(origin, number)];
                answers.extend(self.wake_sharer(origin));
                return answers;
            }
            Kind::Freed => return self.grant(),
            Kind::Unlock => {
                // Before the answer, behind which its rank may say that it waits for another.
                let mut answers = self.take_back(origin);
                answers.push(Answer::new(origin, answer(number, self.fault(origin)).alone()));
                return answers;
            }
            Kind::Flush => {
                return vec![Answer::new(origin, answer(number, self.fault(origin)).alone())];
            }
            Kind::Put | Kind::Get | Kind::Accumulate | Kind::Swap => {
                let done = self.access(head, data).unwrap_or_else(|error| {
                    self.faults.entry(origin).or_insert(error.class);
                    let code = error.class.number() as u16;
                    (number != 0).then(|| answer(number, code).alone())
                });
                return done.into_iter().map(|message| Answer::new(origin, message)).collect();
            }
            Kind::Answer => {}
        }
        Vec::new()
    }

    /// Gives the lock back for a rank.
    pub fn take_back(&mut self, rank: u32) -> Vec<Answer<M>> {
        let wakes = self.locks.lock.give(rank).wakes;
        let mut answers: Vec<_> = wakes.into_iter().map(freed).collect();
        answers.extend(self.grant());
        answers
    }

    /// Tells those who wait for a lock that who has it, and is gone, will never give it back. One
    /// for which it was only kept never had it.
    pub fn refuse(&mut self, holder: u32) -> Vec<Answer<M>> {
        let passed = self.locks.lock.pass_by(holder, true);
        if !self.locks.waited_for().contains(&holder) {
            let mut answers: Vec<_> = passed.into_iter().map(freed).collect();
            answers.extend(self.grant());
            return answers;
        }
        let code = Class::ProcAborted.number() as u16;
        let refusal = |number| Head { at: i64::from(holder) + 1, ..answer(number, code) };
        let waiting = self.locks.give_up().into_iter();
        waiting.map(|it| Answer::new(it.origin, refusal(it.number).alone())).collect()
    }

    /// Gives the lock to those it has to go to, if whoever had it has not said that it is free.
    pub fn look_after_lock(&mut self) -> Vec<Answer<M>> {
        if self.locks.is_forgotten() { self.grant() } else { Vec::new() }
    }

    fn grant(&mut self) -> Vec<Answer<M>> {
        let (granted, kept) = self.locks.granted();
        let mut answers: Vec<_> =
            granted.iter().map(|it| Answer::has_lock(it.origin, it.number)).collect();
        let sharer = granted.last().filter(|it| !it.is_exclusive);
        answers.extend(sharer.and_then(|it| self.wake_sharer(it.origin)));
        answers.extend(kept.map(freed));
        answers
    }

    /// Who would share the lock with a rank that shares it now is told to look.
    fn wake_sharer(&self, origin: u32) -> Option<Answer<M>> {
        self.locks.lock.wake_sharer(origin).map(freed)
    }

    fn fault(&mut self, origin: u32) -> u16 {
        self.faults.remove(&origin).map_or(0, |class| class.number() as u16)
    }

    /// Uses the memory; the answer, if one is wanted.
    fn access(&mut self, head: &Head, data: &[u8]) -> Result<Option<Typed<M>>> {
        let mut places = self.places(head)?;
        let answer = answer(head.number, 0);
        let old = match head.kind {
            Kind::Get => {
                let size = head.size();
                return Ok(Some(answer.encode(size, |into| change::read(&places, into))));
            }
            Kind::Put => {
                change::write(&mut places, data);
                Vec::new()
            }
            _ if self.is_shared => {
                let mut old = vec![0; if head.number == 0 { 0 } else { head.size() }];
                let each = places.iter().map(|(memory, run)| (memory.clone(), *run));
                let is_done = change::each(each, head, data, &mut old)?;
                if is_done { old } else { change::all(&mut places, head, data)? }
            }
            _ => change::all(&mut places, head, data)?,
        };
        let is_wanted = head.number != 0;
        Ok(is_wanted.then(|| answer.encode(old.len(), |into| into.copy_from_slice(&old))))
    }

    /// Where each run of a request is. In a dynamic window they may be in memories apart.
    fn places(&self, head: &Head) -> Result<Vec<(M, Run)>> {
        let place = |(memory, by): (M, isize), run: &Run| {
            (memory, Run { at: run.at + by, length: run.length })
        };
        if let Ok((memory, by)) = self.memory(head.at, &head.runs) {
            return Ok(head.runs.iter().map(|run| place((memory.clone(), by), run)).collect());
        }
        let own = |run: &Run| Ok(place(self.memory(head.at, std::slice::from_ref(run))?, run));
        head.runs.iter().map(own).collect()
    }

    /// The memory that runs are in, and how far behind its address they begin.
    fn memory(&self, at: i64, runs: &[Run]) -> Result<(M, isize)> {
        let (lowest, highest) = reach(at, runs)?;
        let first = self.regions.at(lowest);
        // Memory that was attached in parts which follow one another is one memory.
        let mut end = first.map(Region::end);
        while let Some(at) = end.filter(|end| *end < highest) {
            end = self.regions.at(at).map(Region::end);
        }
        if let (Some(region), Some(_)) = (first, end) {
            return Ok((region.memory.clone(), (at - region.start) as isize));
        }
        if runs.iter().all(|run| run.length == 0) {
            return Ok((M::scratch(0), 0));
        }
        let what = format!("no memory of the window holds the bytes {lowest} to {highest}");
        Err(Error::new(Class::RmaRange, what))
    }
}

/// The first byte that runs are, and the one behind the last.
///
/// # Errors
/// [`Class::RmaRange`] where no memory could hold them.
pub(super) fn reach(at: i64, runs: &[Run]) -> Result<(i64, i64)> {
    let (mut lowest, mut highest) = (i64::MAX, i64::MIN);
    for run in runs.iter().filter(|run| run.length > 0) {
        let first = at.checked_add(run.at as i64);
        let ends =
            first.and_then(|first| Some((first, first.checked_add_unsigned(run.length as u64)?)));
        let (first, end) = ends.ok_or_else(|| {
            Error::new(Class::RmaRange, format!("the displacement {at} is behind all memory"))
        })?;
        (lowest, highest) = (lowest.min(first), highest.max(end));
    }
    Ok(if lowest > highest { (at, at) } else { (lowest, highest) })
}
