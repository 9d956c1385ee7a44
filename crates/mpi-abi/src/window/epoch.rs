//! Epochs of windows (MPI-5.0, section 12.5).

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use muster_message::Carrier;
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::watch::Waits;
use muster_mpi::window::{Access, Try};

use super::{Win, finish, window};
use crate::abi::constants::*;
use crate::abi::types::*;
use crate::choice;
use crate::export::export;
use crate::group::group;
use crate::pointer::Out;
use crate::world::{World, world};

/// Begins to end what was asked of a target, or of all.
pub fn flush(win: &Win, target: Option<u32>) -> Result<Vec<Access>> {
    let mut state = world()?.process.state();
    let (window, endpoint) = state.window(win.context())?;
    Ok(window.flush(endpoint, target))
}

/// How far what was asked of a target has to have come.
#[derive(Clone, Copy)]
enum Ends {
    /// It has been done.
    There,
    /// Buffers here may be used again.
    Here,
}

/// Ends what was asked of a target, or of all, within a lock.
fn flush_locked(win: MPI_Win, rank: Option<c_int>, ends: Ends) -> Result<()> {
    let win = window(win)?;
    let target = match rank {
        None => None,
        Some(rank) => match win.target(rank)? {
            None => return Ok(()),
            target => target,
        },
    };
    let mut state = world()?.process.state();
    let (inner, endpoint) = state.window(win.context())?;
    inner.epochs().is_passive(target)?;
    let asked = match ends {
        Ends::There => inner.flush(endpoint, target),
        Ends::Here => inner.flush_local(endpoint, target),
    };
    drop(state);
    // What was accessed directly is no reason to wait for others: they may wait for just that.
    let was_used = win.was_used.swap(false, Ordering::Relaxed);
    if asked.is_empty() && !was_used { let_others() } else { finish_and_serve(&win, asked) }
}

/// Waits until all of what was asked for has ended. Where nothing was, those who have to ask this
/// rank for its memory are served here at the latest, though it waits for nobody: it may compute
/// until it comes again.
fn finish_and_serve(win: &Win, asked: Vec<Access>) -> Result<()> {
    if !asked.is_empty() {
        return finish(asked);
    }
    let World { process, is_watched, .. } = world()?;
    if !is_watched {
        process.state().progress()?;
    }
    win.done_here()
}

/// Waits for a lock, if one is wanted.
fn lock(win: &Win, target: u32, (is_exclusive, is_wanted): (bool, bool)) -> Result<()> {
    let tried = if is_wanted { take_soon(win, target, is_exclusive)? } else { Try::Ask };
    match tried {
        Try::Taken => Ok(()),
        Try::Busy => wait_here(win, target, is_exclusive),
        Try::Ask => ask(win, target, (is_exclusive, is_wanted)),
    }
}

/// A lock that is not to be had is none that is kept.
fn had(win: &Win, target: u32, waited: Result<()>) -> Result<()> {
    waited.inspect_err(|_| drop(unlock(win, target)))
}

/// Asks the owner for a lock, if one is wanted.
fn ask(win: &Win, target: u32, how: (bool, bool)) -> Result<()> {
    let mut state = world()?.process.state();
    let (inner, endpoint) = state.window(win.context())?;
    let asked = inner.lock(endpoint, target, how)?;
    drop(state);
    had(win, target, finish(asked.into_iter().collect()))
}

/// Waits for a lock where it lies.
fn wait_here(win: &Win, target: u32, is_exclusive: bool) -> Result<()> {
    let (process, context) = (&world()?.process, win.context());
    process.state().windows.get(context)?.wait_for_lock(target)?;
    let waited = process.wait(Waits::Lock(context, target), |state| {
        let (inner, endpoint) = state.window(context)?;
        if inner.has_lock(endpoint, target, is_exclusive)? {
            return Ok(Some(()));
        }
        let passed =
            state.ask_window(context, |inner, is_gone| inner.may_wait_for_lock(target, is_gone))?;
        let (inner, endpoint) = state.window(context)?;
        passed.into_iter().try_for_each(|rank| inner.pass_by(endpoint, target, rank))?;
        Ok(None)
    });
    had(win, target, waited)
}

/// Waits for the locks of all.
///
/// All are asked at once: who has one may compute for long, and give no other meanwhile. But while
/// a rank waits for one it has only those before it. Else it could have one for which others wait,
/// and wait itself behind somebody who waits for those.
fn lock_all(win: &Win) -> Result<()> {
    let process = &world()?.process;
    let mut next = 0;
    while next < win.inner.size() {
        let mut asked = Vec::new();
        for target in next..win.inner.size() {
            let mut state = process.state();
            let (inner, endpoint) = state.window(win.context())?;
            asked.push(match inner.try_lock(endpoint, target, false)? {
                Try::Ask => Err(inner.ask_at_once(endpoint, target)?),
                tried => Ok(tried == Try::Taken),
            });
        }
        let (mut busy, mut failed) = (None, Ok(()));
        for (target, asked) in (next..).zip(asked) {
            let is_taken = match asked {
                Ok(is_taken) => Ok(is_taken),
                Err(access) => {
                    let ended = finish(vec![access]);
                    process.state().windows.get(win.context())?.was_taken(target, ended)
                }
            };
            match (is_taken, busy) {
                (Ok(true), None) => {}
                (Ok(true), Some(_)) => failed = failed.and(unlock(win, target)),
                (Ok(false), _) => busy = busy.or(Some(target)),
                // Those behind it have been asked, too: who does not hear them has their locks for
                // ever.
                (Err(error), _) => failed = failed.and(Err(error)),
            }
        }
        failed?;
        let Some(first) = busy else { return Ok(()) };
        lock(win, first, (false, true))?;
        next = first + 1;
    }
    Ok(())
}

/// Gives a lock back, when all that was asked for has ended.
fn unlock(win: &Win, target: u32) -> Result<()> {
    let mut state = world()?.process.state();
    let (inner, endpoint) = state.window(win.context())?;
    let asked = inner.unlock(endpoint, target)?;
    drop(state);
    finish_and_serve(win, asked)
}

/// How often a lock that lies here is looked at: some times as long as it takes to tell of it.
const LOOKS: u32 = 50;

/// Between so many looks all else is progressed: who has the lock may wait for that.
const LOOKS_ALONE: u32 = 16;

/// Takes a lock that lies here, if that is to be had within a moment. Who has one mostly gives it
/// back before another could be told of it.
fn take_soon(win: &Win, target: u32, is_exclusive: bool) -> Result<Try> {
    let process = &world()?.process;
    for look in 1..=LOOKS {
        let mut state = process.state();
        let (inner, endpoint) = state.window(win.context())?;
        match inner.try_lock(endpoint, target, is_exclusive)? {
            Try::Busy => {}
            tried => return Ok(tried),
        }
        let is_crowded = endpoint.carrier().is_crowded();
        if look.is_multiple_of(LOOKS_ALONE) {
            state.progress()?;
        }
        drop(state);
        if is_crowded {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
    Ok(Try::Busy)
}

/// Lets others go on: a program that calls what does nothing in a loop waits for what they do. In
/// the coscheduled mode they may do so only when this rank waits.
pub fn let_others() -> Result<()> {
    world()?.process.look(|_| Ok(None::<()>)).map(|_| ())
}

/// That an assertion is one that a function takes.
///
/// # Errors
/// [`Class::Assert`].
fn asserted(assert: c_int, may: c_int) -> Result<()> {
    if assert & !may != 0 {
        return Err(Error::new(
            Class::Assert,
            format!("{assert:#x} is no assertion for this call"),
        ));
    }
    Ok(())
}

/// The ranks of a window that a group has.
fn members(win: &Win, handle: MPI_Group) -> Result<Vec<u32>> {
    let own = win.inner.group();
    let rank = |world: u32| {
        own.rank_of(world).ok_or_else(|| {
            let what = format!("rank {world} of the world is in the group and not of the window");
            Error::new(Class::Group, what)
        })
    };
    group(handle)?.members().map(rank).collect()
}

export! {
    /// Ends what all have asked for, and begins the next epoch.
    fn MPI_Win_fence(assert: c_int, win: MPI_Win) on win {
        let known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
        asserted(assert, known)?;
        let win = window(win)?;
        world()?.process.state().windows.get(win.context())?.epochs().are_ended()?;
        let flushed = flush(&win, None).and_then(finish);
        // Also where something has failed: the others wait.
        win.barrier()?;
        let may_follow = assert & MPI_MODE_NOSUCCEED == 0;
        world()?.process.state().windows.get(win.context())?.epochs().fence(may_follow);
        flushed
    }

    /// Waits until a rank's memory is this one's to use.
    fn MPI_Win_lock(lock_type: c_int, rank: c_int, assert: c_int, win: MPI_Win) on win {
        asserted(assert, MPI_MODE_NOCHECK)?;
        let is_exclusive = match lock_type {
            MPI_LOCK_EXCLUSIVE => true,
            MPI_LOCK_SHARED => false,
            _ => {
                let what = format!(
                    "the lock type {lock_type} is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED"
                );
                return Err(Error::new(Class::Locktype, what));
            }
        };
        let win = window(win)?;
        let Some(target) = win.target(rank)? else { return Ok(()) };
        lock(&win, target, (is_exclusive, assert & MPI_MODE_NOCHECK == 0))
    }

    /// Waits until the memory of all is this rank's to use, with others.
    fn MPI_Win_lock_all(assert: c_int, win: MPI_Win) on win {
        asserted(assert, MPI_MODE_NOCHECK)?;
        let win = window(win)?;
        world()?.process.state().windows.get(win.context())?.may_lock_all()?;
        let is_wanted = assert & MPI_MODE_NOCHECK == 0;
        let all = 0..win.inner.size();
        let done = match is_wanted {
            true => lock_all(&win),
            false => all.clone().try_for_each(|target| lock(&win, target, (false, false))),
        };
        // Those that are not locked say so.
        done.inspect_err(|_| all.for_each(|target| drop(unlock(&win, target))))?;
        world()?.process.state().windows.get(win.context())?.epochs().all_are_locked();
        Ok(())
    }

    /// Ends the use of a rank's memory.
    fn MPI_Win_unlock(rank: c_int, win: MPI_Win) on win {
        let win = window(win)?;
        let Some(target) = win.target(rank)? else { return Ok(()) };
        unlock(&win, target)
    }

    /// Ends the use of the memory of all.
    fn MPI_Win_unlock_all(win: MPI_Win) on win {
        let win = window(win)?;
        let mut state = world()?.process.state();
        let (inner, endpoint) = state.window(win.context())?;
        let asked = inner.unlock_all(endpoint)?;
        drop(state);
        finish_and_serve(&win, asked)
    }

    /// Ends what was asked of a rank.
    fn MPI_Win_flush(rank: c_int, win: MPI_Win) on win {
        flush_locked(win, Some(rank), Ends::There)
    }

    /// Ends what was asked of all.
    fn MPI_Win_flush_all(win: MPI_Win) on win {
        flush_locked(win, None, Ends::There)
    }

    /// Ends what was asked of a rank, as far as buffers here go.
    fn MPI_Win_flush_local(rank: c_int, win: MPI_Win) on win {
        flush_locked(win, Some(rank), Ends::Here)
    }

    /// The same, of all.
    fn MPI_Win_flush_local_all(win: MPI_Win) on win {
        flush_locked(win, None, Ends::Here)
    }

    /// Lets a group use this rank's memory.
    fn MPI_Win_post(group: MPI_Group, assert: c_int, win: MPI_Win) on win {
        asserted(assert, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)?;
        let win = window(win)?;
        let origins = members(&win, group)?;
        let mut state = world()?.process.state();
        let (inner, endpoint) = state.window(win.context())?;
        inner.post(endpoint, origins)
    }

    /// Waits until a group lets this rank use its memory.
    fn MPI_Win_start(group: MPI_Group, assert: c_int, win: MPI_Win) on win {
        asserted(assert, MPI_MODE_NOCHECK)?;
        let win = window(win)?;
        let targets = members(&win, group)?;
        let process = &world()?.process;
        process.state().windows.get(win.context())?.start(targets)?;
        process.wait(Waits::Posts(win.context()), |state| {
            let have = state.ask_window(win.context(), |inner, is_gone| {
                inner.has_started(is_gone)
            })?;
            Ok(have.then_some(()))
        })
    }

    /// Ends the use of the group's memory.
    fn MPI_Win_complete(win: MPI_Win) on win {
        let win = window(win)?;
        let mut state = world()?.process.state();
        let (inner, endpoint) = state.window(win.context())?;
        let asked = inner.complete(endpoint)?;
        drop(state);
        finish(asked)
    }

    /// Waits until the group does not use this rank's memory any more.
    fn MPI_Win_wait(win: MPI_Win) on win {
        let win = window(win)?;
        world()?.process.wait(Waits::Completes(win.context()), |state| {
            let ended = state.ask_window(win.context(), |inner, is_gone| {
                inner.has_completed(is_gone)
            })?;
            Ok(ended.then_some(()))
        })
    }

    /// Asks whether the group still does.
    fn MPI_Win_test(win: MPI_Win, flag: Out<c_int>) on win {
        let win = window(win)?;
        let ended = choice::whether(|state| {
            state.ask_window(win.context(), |inner, is_gone| inner.has_completed(is_gone))
        })?;
        flag.set(ended.into())
    }

    /// What others have written is seen: there is only one copy of a window's memory.
    fn MPI_Win_sync(win: MPI_Win) on win {
        window(win)?;
        std::sync::atomic::fence(Ordering::SeqCst);
        let_others()
    }
}
