//! Epochs: when a rank may use the memory of others, and which calls may follow which (MPI-5.0,
//! section 12.5).

use super::lock::Lock;
use super::target::BUSY;
use super::wire::{Head, Kind};
use super::{Access, Window, never_given};
use crate::buffer::{Memory, Typed};
use crate::error::{Class, Error, Result};
use muster_message::{Carrier, Endpoint, Failure};
use std::collections::BTreeMap;

/// The epochs that a rank has begun and not ended.
#[derive(Default)]
pub struct Epochs {
    /// Whether a fence has begun one.
    is_fenced: bool,
    /// Whose memory `MPI_Win_start` was called for.
    started: Option<Vec<u32>>,
    /// Who may use this rank's memory since `MPI_Win_post`.
    posted: Option<Vec<u32>>,
    /// Whose memory is locked, and whether a lock was asked for.
    locked: BTreeMap<u32, bool>,
    is_all_locked: bool,
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(Class::RmaSync, what)
}

impl Epochs {
    /// That the memory of a rank may be used now.
    ///
    /// # Errors
    /// [`Class::RmaSync`].
    pub(super) fn may_access(&self, target: u32) -> Result<()> {
        let is_started = self.started.as_ref().is_some_and(|ranks| ranks.contains(&target));
        if is_started || self.is_fenced || self.locked.contains_key(&target) {
            return Ok(());
        }
        Err(wrong(format!(
            "the memory of rank {target} is accessed outside of an epoch: MPI_Win_fence, \
             MPI_Win_start or MPI_Win_lock comes first"
        )))
    }

    /// That the memory of a rank is locked, or of any.
    ///
    /// # Errors
    /// [`Class::RmaSync`].
    pub fn is_passive(&self, target: Option<u32>) -> Result<()> {
        match target {
            _ if self.is_all_locked => Ok(()),
            None if !self.locked.is_empty() => Ok(()),
            Some(target) if self.locked.contains_key(&target) => Ok(()),
            None => Err(wrong("no rank is locked: MPI_Win_lock or MPI_Win_lock_all comes first")),
            Some(target) => Err(wrong(format!("rank {target} is not locked by this one"))),
        }
    }

    /// That no epoch is under way but one between fences.
    ///
    /// # Errors
    /// [`Class::RmaSync`].
    pub fn are_ended(&self) -> Result<()> {
        let what = match self {
            Epochs { is_all_locked: true, .. } => "MPI_Win_unlock_all",
            Epochs { locked, .. } if !locked.is_empty() => "MPI_Win_unlock",
            Epochs { started: Some(_), .. } => "MPI_Win_complete",
            Epochs { posted: Some(_), .. } => "MPI_Win_wait",
            _ => return Ok(()),
        };
        Err(wrong(format!("an epoch is under way: {what} comes first")))
    }

    /// All ranks are locked now.
    pub fn all_are_locked(&mut self) {
        self.is_all_locked = true;
    }

    /// After a fence: whether accesses may follow.
    pub fn fence(&mut self, may_follow: bool) {
        self.is_fenced = may_follow;
    }

    fn lock(&mut self, target: u32, is_wanted: bool) {
        self.is_fenced = false;
        self.locked.insert(target, is_wanted);
    }

    fn may_lock(&self, target: u32) -> Result<()> {
        match self {
            Epochs { started: Some(_), .. } => {
                Err(wrong("an epoch is under way: MPI_Win_complete comes first"))
            }
            Epochs { locked, .. } if locked.contains_key(&target) => {
                Err(wrong(format!("rank {target} is locked by this one already")))
            }
            _ => Ok(()),
        }
    }
}

/// How it went to take a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Try {
    /// This rank has it.
    Taken,
    /// Others have it, or get it before.
    Busy,
    /// Its owner has to be asked: it lies elsewhere.
    Ask,
}

impl<M: Memory> Window<M> {
    /// Asks for a lock that lies elsewhere, if one is wanted; it is had when what is returned has
    /// ended.
    ///
    /// # Errors
    /// [`Class::RmaSync`].
    pub fn lock<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
        (is_exclusive, is_wanted): (bool, bool),
    ) -> Result<Option<Access>> {
        self.epochs.may_lock(target)?;
        let kind = if is_exclusive { Kind::Exclude } else { Kind::Share };
        let asked = is_wanted.then(|| self.signal(endpoint, target, kind));
        self.epochs.lock(target, is_wanted);
        Ok(asked)
    }

    /// Takes a lock if that lies here and is to be had at once.
    ///
    /// # Errors
    /// [`Class::RmaSync`]; that nothing can be carried any more.
    pub fn try_lock<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
        is_exclusive: bool,
    ) -> Result<Try> {
        self.epochs.may_lock(target)?;
        let Some(lock) = self.locks.get(&target) else { return Ok(Try::Ask) };
        if !lock.take(self.rank, is_exclusive, false) {
            return Ok(Try::Busy);
        }
        self.epochs.lock(target, true);
        self.wake_sharer(endpoint, target, is_exclusive)?;
        Ok(Try::Taken)
    }

    /// Begins to wait for a lock that lies here: [`Window::has_lock`] says when this rank has it.
    /// [`Window::unlock`] ends that, too.
    ///
    /// # Errors
    /// [`Class::RmaSync`].
    pub fn wait_for_lock(&mut self, target: u32) -> Result<()> {
        self.epochs.may_lock(target)?;
        self.epochs.lock(target, true);
        Ok(())
    }

    /// Whether this rank has a lock for which it waits, now at the latest. Where it does not, who
    /// gives it back sends something.
    ///
    /// # Errors
    /// That nothing can be carried any more.
    pub fn has_lock<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
        is_exclusive: bool,
    ) -> Result<bool> {
        let has = self.locks.get(&target).is_some_and(|it| it.wait(self.rank, is_exclusive));
        if has {
            self.wake_sharer(endpoint, target, is_exclusive)?;
        }
        Ok(has)
    }

    /// That neither a rank that has a lock which lies here is gone, nor its owner; those who wait
    /// for it, and are, or for which it is kept though they do not: they are to be passed by.
    /// `is_gone` says whether a rank of the job is.
    ///
    /// # Errors
    /// [`Class::ProcAborted`].
    pub fn may_wait_for_lock(
        &self,
        target: u32,
        mut is_gone: impl FnMut(u32) -> Option<Failure>,
    ) -> Result<Vec<(u32, bool)>> {
        let Some(lock) = self.locks.get(&target) else { return Ok(Vec::new()) };
        // Without it nobody gives the lock to those who are elsewhere.
        if let Some(failure) = is_gone(self.group.world(target)) {
            return Err(failure.into());
        }
        let (waiting, kept) = lock.waiting();
        let mut is_gone = |rank: &u32| is_gone(self.group.world(*rank)).is_some();
        let holders = lock.holders();
        let gone = holders.iter().find(|rank| !waiting.contains(rank) && is_gone(rank));
        // What it did last may be that it gave the lock back.
        if let Some(rank) = gone.filter(|rank| lock.holders().contains(rank)) {
            return Err(never_given(self.group.world(*rank)));
        }
        let gone = waiting.into_iter().filter(is_gone).map(|rank| (rank, true));
        Ok(gone.chain(kept.map(|rank| (rank, false))).collect())
    }

    /// Passes a rank by that waits for a lock which lies here and is gone, or does not wait.
    ///
    /// # Errors
    /// That nothing can be carried any more.
    pub fn pass_by<C: Carrier>(
        &self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
        (rank, is_gone): (u32, bool),
    ) -> Result<()> {
        let next = self.locks.get(&target).and_then(|lock| lock.pass_by(rank, is_gone));
        next.map_or(Ok(()), |next| self.freed(endpoint, next))
    }

    /// A rank's number in the job.
    pub(crate) fn world(&self, rank: u32) -> u32 {
        self.group.world(rank)
    }

    /// Who has a lock that lies here, and who may give or take it, by their numbers in the job.
    pub(crate) fn around_lock(&self, target: u32) -> (Vec<u32>, Vec<u32>) {
        let holders = self.locks.get(&target).map_or(Vec::new(), Lock::holders);
        let holders = holders.into_iter().map(|rank| self.group.world(rank)).collect();
        (holders, self.group.members().collect())
    }

    /// Where this rank shares a lock now, another may that waits for it.
    fn wake_sharer<C: Carrier>(
        &self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
        is_exclusive: bool,
    ) -> Result<()> {
        let lock = self.locks.get(&target).filter(|_| !is_exclusive);
        let next = lock.and_then(|lock| lock.wake_sharer(self.rank));
        next.map_or(Ok(()), |next| self.freed(endpoint, next))
    }

    /// Tells one that waits for a lock, or has a queue of such, to look at it.
    fn freed<C: Carrier>(&self, endpoint: &mut Endpoint<C, Typed<M>>, rank: u32) -> Result<()> {
        match self.tell(endpoint, rank, Head::new(Kind::Freed, 0).alone()) {
            // Others look themselves, after a while.
            Ok(()) | Err(Failure::Gone { .. }) => Ok(()),
            Err(failure) => Err(failure.into()),
        }
    }

    /// That all ranks may be locked.
    ///
    /// # Errors
    /// As [`Window::lock`].
    pub fn may_lock_all(&self) -> Result<()> {
        (0..self.group.size()).try_for_each(|target| self.epochs.may_lock(target))
    }

    /// Asks for a lock that others may have, too, if that is to be had at once: whether it is says
    /// [`Window::was_taken`] of how what is returned has ended.
    ///
    /// # Errors
    /// As [`Window::lock`].
    pub fn ask_at_once<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
    ) -> Result<Access> {
        self.epochs.may_lock(target)?;
        Ok(self.signal(endpoint, target, Kind::Try))
    }

    /// Whether this rank has a lock that it has asked for so.
    ///
    /// # Errors
    /// What else went wrong.
    pub fn was_taken(&mut self, target: u32, ended: Result<()>) -> Result<bool> {
        match ended {
            Ok(()) => self.epochs.lock(target, true),
            Err(error) if error.class == BUSY => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// Gives a lock back; all is done when what is returned has ended.
    ///
    /// # Errors
    /// [`Class::RmaSync`]; that nothing can be carried any more.
    pub fn unlock<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
    ) -> Result<Vec<Access>> {
        if self.epochs.is_all_locked {
            return Err(wrong("all ranks are locked: MPI_Win_unlock_all gives that back"));
        }
        self.epochs.is_passive(Some(target))?;
        self.give_back(endpoint, target)
    }

    /// Gives all locks back.
    ///
    /// # Errors
    /// As [`Window::unlock`].
    pub fn unlock_all<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
    ) -> Result<Vec<Access>> {
        if !self.epochs.is_all_locked {
            return Err(wrong("MPI_Win_lock_all has not been called"));
        }
        self.epochs.is_all_locked = false;
        let mut asked = Vec::new();
        for target in 0..self.group.size() {
            match self.give_back(endpoint, target) {
                Ok(more) => asked.extend(more),
                Err(error) => asked.push(self.failure(error)),
            }
        }
        Ok(asked)
    }

    fn give_back<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        target: u32,
    ) -> Result<Vec<Access>> {
        if self.epochs.locked.remove(&target) != Some(true) {
            return Ok(self.flush(endpoint, Some(target)));
        }
        if let Some(lock) = self.locks.get(&target).filter(|_| !self.is_asked(target)) {
            let given = lock.give(self.rank);
            // Nobody waits for the owner to hear it: it looks itself when it is in a call.
            let tells = given.wakes.into_iter().chain(given.is_queued.then_some(target));
            tells.into_iter().try_for_each(|rank| self.freed(endpoint, rank))?;
            return Ok(Vec::new());
        }
        self.note_flush(target);
        let asked = self.signal(endpoint, target, Kind::Unlock);
        if let (true, Some(lock)) =
            (self.failed.contains_key(&asked.number), self.locks.get(&target))
        {
            lock.give(self.rank);
        }
        Ok(vec![asked])
    }

    /// Lets ranks use this one's memory.
    ///
    /// # Errors
    /// [`Class::RmaSync`] where some may already; that one is gone.
    pub fn post<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        origins: Vec<u32>,
    ) -> Result<()> {
        if self.epochs.posted.is_some() {
            return Err(wrong("MPI_Win_post has been called, and MPI_Win_wait has not"));
        }
        let told = self.tell_all(endpoint, &origins, Kind::Post);
        self.epochs.is_fenced = false;
        self.epochs.posted = Some(origins);
        told
    }

    /// Tells ranks something; all of them, also where one is gone.
    fn tell_all<C: Carrier>(
        &self,
        endpoint: &mut Endpoint<C, Typed<M>>,
        ranks: &[u32],
        what: Kind,
    ) -> Result<()> {
        let tell = |rank: &u32| Ok(self.tell(endpoint, *rank, Head::new(what, 0).alone())?);
        ranks.iter().map(tell).fold(Ok(()), Result::and)
    }

    /// Begins to use the memory of ranks: those that have to post before.
    ///
    /// # Errors
    /// [`Class::RmaSync`] in another epoch of such kind.
    pub fn start(&mut self, targets: Vec<u32>) -> Result<()> {
        if self.epochs.started.is_some() || !self.epochs.locked.is_empty() {
            return Err(wrong("an epoch is under way, which has to end before MPI_Win_start"));
        }
        self.epochs.is_fenced = false;
        self.epochs.started = Some(targets);
        Ok(())
    }

    /// Whether all have posted; `is_gone` says whether a rank of the job is.
    ///
    /// # Errors
    /// That one is gone that has not. Then nobody waits for the others either: what they have
    /// posted, or will, was for this.
    pub fn has_started(&mut self, is_gone: impl FnMut(u32) -> Option<Failure>) -> Result<bool> {
        let targets = self.epochs.started.as_deref().unwrap_or_default();
        let world = |rank: u32| self.group.world(rank);
        let posts = &mut self.own.posts;
        counted(posts, targets, world, is_gone).inspect_err(|_| take(posts, targets))
    }

    /// Those who have not posted, of whom `MPI_Win_start` waits for, by their numbers in the job.
    pub fn awaits_posts(&self) -> Vec<u32> {
        self.missing(self.epochs.started.as_deref(), &self.own.posts)
    }

    /// Those who have not completed, of whom `MPI_Win_wait` waits for, by their numbers in the job.
    pub fn awaits_completes(&self) -> Vec<u32> {
        self.missing(self.epochs.posted.as_deref(), &self.own.completes)
    }

    fn missing(&self, ranks: Option<&[u32]>, counts: &[i32]) -> Vec<u32> {
        let ranks = ranks.unwrap_or_default().iter();
        let missing = ranks.filter(|rank| counts[**rank as usize] < 1);
        missing.map(|rank| self.group.world(*rank)).collect()
    }

    /// Ends the use of the memory of ranks; all is done when what is returned has ended, which it
    /// does with an error where a target is gone.
    ///
    /// # Errors
    /// [`Class::RmaSync`].
    pub fn complete<C: Carrier>(
        &mut self,
        endpoint: &mut Endpoint<C, Typed<M>>,
    ) -> Result<Vec<Access>> {
        let Some(targets) = self.epochs.started.take() else {
            return Err(wrong("MPI_Win_start has not been called"));
        };
        let mut asked = self.flush(endpoint, None);
        let told = self.tell_all(endpoint, &targets, Kind::Complete);
        asked.extend(told.err().map(|error| self.failure(error)));
        Ok(asked)
    }

    /// Whether all that might use this rank's memory have ended that; `is_gone` says whether a rank
    /// of the job is.
    ///
    /// # Errors
    /// [`Class::RmaSync`]; that one is gone that has not.
    pub fn has_completed(&mut self, is_gone: impl FnMut(u32) -> Option<Failure>) -> Result<bool> {
        let Some(origins) = &self.epochs.posted else {
            return Err(wrong("MPI_Win_post has not been called"));
        };
        let world = |rank: u32| self.group.world(rank);
        let have = counted(&mut self.own.completes, origins, world, is_gone);
        if have.is_err() {
            // Nobody waits for them any more, whoever says so later.
            take(&mut self.own.completes, origins);
        }
        if !matches!(have, Ok(false)) {
            self.epochs.posted = None;
        }
        have
    }
}

/// Whether all of some ranks have said something: then it is taken from what is counted.
fn counted(
    counts: &mut [i32],
    ranks: &[u32],
    world: impl Fn(u32) -> u32,
    mut is_gone: impl FnMut(u32) -> Option<Failure>,
) -> Result<bool> {
    if let Some(missing) = ranks.iter().find(|rank| counts[**rank as usize] < 1) {
        return match is_gone(world(*missing)) {
            Some(failure) => Err(failure.into()),
            None => Ok(false),
        };
    }
    take(counts, ranks);
    Ok(true)
}

fn take(counts: &mut [i32], ranks: &[u32]) {
    ranks.iter().for_each(|rank| counts[*rank as usize] -= 1);
}
