//! What calls are told that do not wait for one thing: which of several operations have ended, what
//! message is there. It depends on how fast ranks are, and so it is here that the coscheduled mode
//! makes it depend on the program only, that it is recorded, and that it is told once more as a log
//! has it (`docs/decisions/coscheduled.md`).

use muster_message::{Envelope, Question, Ticket, Wanted, departs};
use muster_mpi::error::Result;
use muster_mpi::watch::Waits;

use crate::abi::types::MPI_Request;
use crate::request::{self, Active, waits_for};
use crate::world::{State, World, world};

/// Which of the operations that have ended a call is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// One.
    Any,
    /// Those that have.
    Some,
    /// All, or none.
    All,
}

impl Which {
    fn question(self) -> Question {
        match self {
            Which::Any => Question::Any,
            Which::Some => Question::Some,
            Which::All => Question::All,
        }
    }
}

/// The operations that have ended, by their places; not one where the call is told none. Nothing
/// is under way: none.
pub fn ended(handles: &[MPI_Request], which: Which, waits: bool) -> Result<Option<Vec<usize>>> {
    let mut active = request::all_active(handles)?;
    if active.iter().flatten().next().is_none() {
        return Ok(None);
    }
    let World { process, is_watched, .. } = world()?;
    let wanted = waits_for(active.iter().flatten());
    let question = which.question();
    let followed = match is_watched {
        true => process.state().endpoint.followed(question)?,
        false => None,
    };
    let pick = |state: &mut State| {
        request::look_again(handles, &mut active);
        Ok(pick(state, &active, which))
    };
    let found = match followed {
        Some(told) => {
            let places = places(&told, &active, (which, waits)).ok_or_else(departs)?;
            let picked: Vec<_> = places.iter().map(|at| handles[*at]).collect();
            let mut active = request::all_active(&picked)?;
            let waits = waits_for(active.iter().flatten());
            process.wait(waits, |state| {
                request::look_again(&picked, &mut active);
                Ok(all(state, &active))
            })?;
            places
        }
        None if waits => process.wait(wanted, pick)?,
        None => process.look(pick)?.unwrap_or_default(),
    };
    if *is_watched {
        let told: Vec<i64> = found.iter().map(|at| *at as i64).collect();
        process.state().endpoint.told(question, &told);
    }
    Ok(Some(found))
}

/// The places that a log has told of, if this call can be told them: the log may be of another
/// program.
fn places(told: &[i64], active: &[Option<Active>], how: (Which, bool)) -> Option<Vec<usize>> {
    let places: Vec<usize> =
        told.iter().map(|at| usize::try_from(*at).ok()).collect::<Option<_>>()?;
    let is_active = |at: &usize| matches!(active.get(*at), Some(Some(_)));
    let are_some = places.iter().all(is_active) && places.is_sorted_by(|one, next| one < next);
    let number = places.len();
    let can_be = match how {
        (_, waits) if number == 0 => !waits,
        (Which::Any, _) => number == 1,
        (Which::Some, _) => true,
        (Which::All, _) => number == active.iter().flatten().count(),
    };
    (are_some && can_be).then_some(places)
}

/// What a log has told of a message, if it is one that is wanted: from whom, and its tag.
fn named(told: &[i64], wanted: Wanted) -> Option<Wanted> {
    let [source, tag] = *told else { return None };
    let (source, tag) = (u32::try_from(source).ok()?, i32::try_from(tag).ok()?);
    let is_wanted = wanted.source.is_none_or(|wanted| wanted == source)
        && wanted.tag.is_none_or(|wanted| wanted == tag);
    is_wanted.then_some(Wanted { source: Some(source), tag: Some(tag), ..wanted })
}

/// Whether all have ended.
fn all(state: &mut State, active: &[Option<Active>]) -> Option<()> {
    active.iter().flatten().all(|active| request::has_ended(state, *active)).then_some(())
}

/// Those that have ended, where there is enough to tell.
fn pick(state: &mut State, active: &[Option<Active>], which: Which) -> Option<Vec<usize>> {
    let under_way = || active.iter().enumerate().filter_map(|(at, it)| Some((at, (*it)?)));
    if which == Which::All {
        return all(state, active).map(|()| under_way().map(|(at, _)| at).collect());
    }
    let mut found = Vec::new();
    let mut has_any = false;
    for (at, active) in under_way() {
        if request::is_settled(state, active) {
            found.push(at);
            if which == Which::Any {
                return Some(found);
            }
        } else {
            has_any |= request::has_ended(state, active);
        }
    }
    if found.is_empty() && has_any {
        state.endpoint.hope();
    }
    (!found.is_empty()).then_some(found)
}

/// A message that is there, as `find` finds it by what is wanted; none where the call does not wait
/// for one, and none is. `from`: the only rank that it can come from.
pub fn message<T>(
    (wanted, from): (Wanted, Option<u32>),
    waits: bool,
    mut find: impl FnMut(&mut State, Wanted) -> Option<(T, Envelope, usize)>,
) -> Result<Option<(T, Envelope, usize)>> {
    let World { process, is_watched, .. } = world()?;
    let mut seek = |wanted: Wanted, waits: bool| match waits {
        true => {
            let found = process.wait(Waits::Probe(wanted, from), |state| {
                state.can_come(wanted, from)?;
                Ok(find(state, wanted))
            });
            found.map(Some)
        }
        false => process.look(|state| Ok(find(state, wanted))),
    };
    if !is_watched {
        return seek(wanted, waits);
    }
    let followed = process.state().endpoint.followed(Question::Message)?;
    let found = match followed.as_deref() {
        Some([]) if !waits => Ok(None),
        Some([FAILED]) => seek(wanted, true).and_then(|_| Err(departs().into())),
        Some(told) => seek(named(told, wanted).ok_or_else(departs)?, true),
        None => seek(wanted, waits),
    };
    let of = |envelope: &Envelope| vec![envelope.source.into(), envelope.tag.into()];
    let told: Vec<i64> = match &found {
        Ok(found) => found.as_ref().map_or(Vec::new(), |(_, envelope, _)| of(envelope)),
        Err(_) => vec![FAILED],
    };
    process.state().endpoint.told(Question::Message, &told);
    found
}

/// What is told of a question that fails, in place of what is there: the call takes a line of the
/// log all the same.
const FAILED: i64 = -1;

/// Whether something has come about.
pub fn whether(mut ask: impl FnMut(&mut State) -> Result<bool>) -> Result<bool> {
    let World { process, is_watched, .. } = world()?;
    let ask = |state: &mut State| Ok(ask(state)?.then_some(()));
    if !is_watched {
        return Ok(process.look(ask)?.is_some());
    }
    let followed = process.state().endpoint.followed(Question::Event)?;
    let has = match followed.as_deref() {
        Some([]) => Ok(false),
        Some([1]) => process.wait_for(ask).map(|()| true),
        Some([FAILED]) => process.wait_for(ask).and_then(|()| Err(departs().into())),
        Some(_) => return Err(departs().into()),
        None => process.look(ask).map(|found| found.is_some()),
    };
    let told: &[i64] = match has {
        Ok(true) => &[1],
        Ok(false) => &[],
        Err(_) => &[FAILED],
    };
    process.state().endpoint.told(Question::Event, told);
    has
}

/// Takes a receive back, unless it has taken a message.
pub fn cancel(handle: MPI_Request, ticket: Ticket) -> Result<()> {
    let World { process, is_watched, .. } = world()?;
    if *is_watched {
        ended(&[handle], Which::All, false)?;
    }
    process.state().endpoint.cancel(ticket);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::EMPTY;

    #[test]
    fn a_call_is_told_by_a_log_what_it_can_be_told_and_nothing_else() {
        let under_way = Some(Active::Ended(EMPTY));
        let active = [under_way, None, under_way, under_way];
        let fits = |told: &[i64], which, waits| places(told, &active, (which, waits)).is_some();
        for which in [Which::Any, Which::Some, Which::All] {
            assert!(fits(&[], which, false) && !fits(&[], which, true));
            for told in [&[1][..], &[4], &[-1], &[2, 0, 3], &[0, 2, 2], &[0, 1, 2]] {
                assert!(!fits(told, which, false), "{told:?}");
            }
        }
        assert!(fits(&[3], Which::Any, true) && !fits(&[0, 3], Which::Any, true));
        assert!(fits(&[0, 3], Which::Some, true) && !fits(&[0, 3], Which::All, false));
        assert!(fits(&[0, 2, 3], Which::All, false));
    }

    #[test]
    fn a_probe_is_told_by_a_log_of_a_message_that_it_wants_and_of_no_other() {
        let of = |source, tag| Wanted { context: 2, source, tag };
        let any = of(None, None);
        assert_eq!(named(&[5, 7], any), Some(of(Some(5), Some(7))));
        assert_eq!(named(&[5, 7], of(Some(5), Some(7))), Some(of(Some(5), Some(7))));
        assert_eq!(named(&[5, 7], of(Some(3), None)), None);
        assert_eq!(named(&[5, 7], of(None, Some(6))), None);
        for told in [&[5][..], &[-1, 7], &[5, 7, 0], &[5, 1 << 40]] {
            assert_eq!(named(told, any), None, "{told:?}");
        }
    }
}
