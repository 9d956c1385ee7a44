//! Waiting for requests, and asking after them (MPI-5.0, sections 3.7.3 to 3.7.5).

use std::ffi::c_int;

use muster_mpi::error::{Class, Error, Result};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::array::{Array, OutArray};
use crate::buffer::count;
use crate::choice::{self, Which};
use crate::export::export;
use crate::failure::{self, Noted};
use crate::generalized;
use crate::pointer::{Out, StatusOut};
use crate::request::{self, Active, EMPTY, Ended, Failed, Step};
use crate::world::world;

/// Waits for one.
fn wait(handle: &mut MPI_Request, active: Active) -> Ended {
    if let Active::Ended(status) = active {
        return request::conclude(request::said(status), request::forgotten(handle));
    }
    let waits = request::waits_for([active].iter());
    let mut all = [Some(active)];
    let (ended, forgotten) = world()?.process.wait(waits, |state| {
        request::look_again(&[*handle], &mut all);
        let ended = request::poll(state, all[0].unwrap_or(active));
        Ok(ended.map(|ended| (ended, request::forgotten(handle))))
    })?;
    request::conclude(ended, forgotten)
}

/// How it has ended, if it has.
fn test(handle: &mut MPI_Request, active: Active) -> Result<Option<Ended>> {
    match choice::ended(&[*handle], Which::All, false)? {
        Some(ended) if ended.is_empty() => Ok(None),
        _ => Ok(Some(wait(handle, active))),
    }
}

/// How it has ended that was found to have; it can be asked again.
fn look(handle: MPI_Request) -> Result<Option<Ended>> {
    // Another thread may wait for it: it finds one or the other.
    let mut state = world()?.process.state();
    let Some(active) = request::active(handle)? else { return Ok(Some(Ok(EMPTY))) };
    if let Active::Generalized(number) = active {
        drop(state);
        return Ok(Some(generalized::status(number)));
    }
    // It was ended and started again meanwhile.
    let Some(ended) = request::poll(&mut state, active) else { return Ok(None) };
    // It is asked for again.
    request::keep(
        handle,
        match &ended {
            Ok(status) => *status,
            Err(Failed { error, status }) => {
                let status = status.as_deref().copied().unwrap_or(EMPTY);
                MPI_Status { MPI_ERROR: error.class.number(), ..status }
            }
        },
    )?;
    Ok(Some(ended))
}

/// The same, with what was noted of it before another is looked at.
fn look_noted(handle: MPI_Request) -> Result<Option<(Ended, Option<Noted>)>> {
    Ok(look(handle)?.map(|ended| (ended, failure::noted())))
}

/// Ends several, and says of each how. Where one has failed the call fails, and the statuses say
/// which.
fn finish_all(
    handles: &mut [MPI_Request],
    which: impl Iterator<Item = usize>,
    statuses: Option<&mut [MPI_Status]>,
) -> Result<()> {
    let which: Vec<usize> = which.collect();
    let mut state = world()?.process.state();
    let active = request::all_active(handles)?;
    let mut take = |at: &usize| {
        let one = active[*at]?;
        let ended = request::poll(&mut state, one).ok_or(one);
        Some(ended.map(|ended| (ended, request::forgotten(&mut handles[*at]))))
    };
    let taken: Vec<_> = which.iter().map(&mut take).collect();
    drop(state);
    let mut statuses = Statuses::new(statuses);
    for (place, (at, taken)) in which.into_iter().zip(taken).enumerate() {
        match taken {
            None => statuses.set_empty(place),
            Some(Ok((ended, forgotten))) => {
                statuses.set(place, request::conclude(ended, forgotten));
            }
            // It had ended because its target is gone, as far as nothing moves; and another thread
            // has found something since.
            Some(Err(active)) => statuses.set(place, wait(&mut handles[at], active)),
        }
    }
    statuses.done()
}

/// The statuses of several, if the program wants them, which have failed, and what was noted of
/// these.
struct Statuses<'a> {
    all: Option<&'a mut [MPI_Status]>,
    failed: Vec<(usize, Error, Option<Noted>)>,
}

impl<'a> Statuses<'a> {
    fn new(all: Option<&'a mut [MPI_Status]>) -> Statuses<'a> {
        Statuses { all, failed: Vec::new() }
    }

    /// There was none, of which the status says so.
    fn set_empty(&mut self, place: usize) {
        if let Some(all) = self.all.as_deref_mut() {
            all[place] = EMPTY;
        }
    }

    /// How one has ended.
    #[inline(always)]
    fn set(&mut self, place: usize, ended: Ended) {
        self.set_noted(place, (ended, failure::noted));
    }

    /// The same, where what was noted of it was taken already.
    #[inline(always)]
    fn set_noted(&mut self, place: usize, (ended, noted): (Ended, impl FnOnce() -> Option<Noted>)) {
        let status = ended.unwrap_or_else(|Failed { error, status }| {
            self.failed.push((place, error, noted()));
            status.map_or(EMPTY, |status| *status)
        });
        if let Some(all) = self.all.as_deref_mut() {
            all[place] = MPI_Status { MPI_ERROR: all[place].MPI_ERROR, ..status };
        }
    }

    /// Where one has failed the call fails, and the statuses say which. Only then they say anything
    /// of errors (MPI-5.0, section 3.2.5).
    fn done(mut self) -> Result<()> {
        if self.failed.is_empty() {
            return Ok(());
        }
        for status in self.all.as_deref_mut().into_iter().flatten() {
            status.MPI_ERROR = MPI_SUCCESS;
        }
        for (place, error, _) in &self.failed {
            if let Some(all) = self.all.as_deref_mut() {
                all[*place].MPI_ERROR = error.class.number();
            }
        }
        let (place, first, noted) = self.failed.swap_remove(0);
        failure::note_in_status(noted, &first);
        Err(Error::new(Class::InStatus, format!("request {place} of these: {first}")))
    }
}

export! {
    /// Waits for one.
    fn MPI_Wait(request: Out<MPI_Request>, status: StatusOut) {
        let mut handle = request.get()?;
        let Some(active) = request::active(handle)? else {
            status.set_empty();
            return Ok(());
        };
        let ended = wait(&mut handle, active);
        request.set(handle)?;
        status.set_ended(ended)
    }

    /// Asks after one.
    fn MPI_Test(request: Out<MPI_Request>, flag: Out<c_int>, status: StatusOut) {
        let mut handle = request.get()?;
        let Some(active) = request::active(handle)? else {
            status.set_empty();
            return flag.set(1);
        };
        let ended = test(&mut handle, active);
        request.set(handle)?;
        let ended = ended?;
        flag.set(ended.is_some().into())?;
        ended.map_or(Ok(()), |ended| status.set_ended(ended))
    }

    /// Waits for all.
    fn MPI_Waitall(count_: c_int, requests: OutArray<MPI_Request>, statuses: OutArray<MPI_Status>) {
        let number = count(count_)?;
        let (handles, statuses) = (requests.slice(number)?, statuses.wanted(number)?);
        let waits = request::requests().waits_for(handles)?;
        let mut statuses = Statuses::new(statuses);
        // Those that end otherwise than messages do: some have functions of the program called.
        let (mut others, mut next) = (Vec::new(), 0);
        world()?.process.wait(waits, |state| {
            let mut requests = request::requests();
            while let Some(handle) = handles.get_mut(next) {
                match requests.end(state, handle)? {
                    Step::Nothing => statuses.set_empty(next),
                    Step::Ended(ended) => statuses.set(next, ended),
                    Step::UnderWay => return Ok(None),
                    Step::Other(other) => {
                        drop(requests);
                        if !request::has_ended(state, other) {
                            return Ok(None);
                        }
                        others.push((next, other));
                        requests = request::requests();
                    }
                }
                next += 1;
            }
            Ok(Some(()))
        })?;
        for (at, other) in others {
            statuses.set(at, wait(&mut handles[at], other));
        }
        statuses.done()
    }

    /// Asks whether all have ended.
    fn MPI_Testall(
        count_: c_int, requests: OutArray<MPI_Request>, flag: Out<c_int>,
        statuses: OutArray<MPI_Status>,
    ) {
        let number = count(count_)?;
        let (handles, statuses) = (requests.slice(number)?, statuses.wanted(number)?);
        let found = choice::ended(handles, Which::All, false)?;
        let all = found.is_none_or(|found| !found.is_empty());
        flag.set(all.into())?;
        if all { finish_all(handles, 0..number, statuses) } else { Ok(()) }
    }

    /// Waits for any one.
    fn MPI_Waitany(
        count_: c_int, requests: OutArray<MPI_Request>, index: Out<c_int>, status: StatusOut,
    ) {
        let handles = requests.slice(count(count_)?)?;
        let ended = choice::ended(handles, Which::Any, true)?;
        let Some(at) = ended.and_then(|ended| ended.first().copied()) else {
            status.set_empty();
            return index.set(MPI_UNDEFINED);
        };
        index.set(at as c_int)?;
        set_one(&mut handles[at], status)
    }

    /// Asks after any one.
    fn MPI_Testany(
        count_: c_int, requests: OutArray<MPI_Request>, index: Out<c_int>, flag: Out<c_int>,
        status: StatusOut,
    ) {
        let handles = requests.slice(count(count_)?)?;
        let Some(ended) = choice::ended(handles, Which::Any, false)? else {
            status.set_empty();
            index.set(MPI_UNDEFINED)?;
            return flag.set(1);
        };
        flag.set((!ended.is_empty()).into())?;
        let Some(at) = ended.first() else { return index.set(MPI_UNDEFINED) };
        index.set(*at as c_int)?;
        set_one(&mut handles[*at], status)
    }

    /// Waits for at least one.
    fn MPI_Waitsome(
        count_: c_int, requests: OutArray<MPI_Request>, number: Out<c_int>,
        indices: OutArray<c_int>,
        statuses: OutArray<MPI_Status>,
    ) {
        let all = count(count_)?;
        let handles = requests.slice(all)?;
        let ended = choice::ended(handles, Which::Some, true)?;
        finish_some(handles, ended, number, indices, statuses)
    }

    /// Asks which have ended.
    fn MPI_Testsome(
        count_: c_int, requests: OutArray<MPI_Request>, number: Out<c_int>,
        indices: OutArray<c_int>,
        statuses: OutArray<MPI_Status>,
    ) {
        let all = count(count_)?;
        let handles = requests.slice(all)?;
        let ended = choice::ended(handles, Which::Some, false)?;
        finish_some(handles, ended, number, indices, statuses)
    }

    /// Asks after one, whose handle stays.
    fn MPI_Request_get_status(request: MPI_Request, flag: Out<c_int>, status: StatusOut) {
        if request::active(request)?.is_none() {
            status.set_empty();
            return flag.set(1);
        }
        let found = choice::ended(&[request], Which::All, false)?;
        let has_ended = found.is_none_or(|found| !found.is_empty());
        let ended = if has_ended { look(request)? } else { None };
        flag.set(ended.is_some().into())?;
        ended.map_or(Ok(()), |ended| status.set_ended(ended))
    }

    /// Asks whether all have ended, whose handles stay.
    fn MPI_Request_get_status_all(
        count_: c_int, requests: Array<MPI_Request>, flag: Out<c_int>,
        statuses: OutArray<MPI_Status>,
    ) {
        let number = count(count_)?;
        let handles = requests.slice(number)?;
        let found = choice::ended(handles, Which::All, false)?;
        let ended = match found.is_none_or(|found| !found.is_empty()) {
            true => handles.iter().map(|it| look_noted(*it)).collect::<Result<Option<Vec<_>>>>()?,
            false => None,
        };
        flag.set(ended.is_some().into())?;
        let Some(ended) = ended else {
            // What has failed is told when it is asked for again.
            failure::forget();
            return Ok(());
        };
        let mut statuses = Statuses::new(statuses.wanted(number)?);
        for (at, (ended, noted)) in ended.into_iter().enumerate() {
            statuses.set_noted(at, (ended, || noted));
        }
        statuses.done()
    }

    /// Asks after any one, whose handle stays.
    fn MPI_Request_get_status_any(
        count_: c_int, requests: Array<MPI_Request>, index: Out<c_int>, flag: Out<c_int>,
        status: StatusOut,
    ) {
        let handles = requests.slice(count(count_)?)?;
        let found = choice::ended(handles, Which::Any, false)?;
        let (is_none, at) = (found.is_none(), found.and_then(|found| found.first().copied()));
        if let Some(at) = at
            && let Some(ended) = look(handles[at])?
        {
            index.set(at as c_int)?;
            flag.set(1)?;
            return status.set_ended(ended);
        }
        if is_none {
            status.set_empty();
        }
        index.set(MPI_UNDEFINED)?;
        flag.set(is_none.into())
    }

    /// Asks which have ended, whose handles stay.
    fn MPI_Request_get_status_some(
        count_: c_int, requests: Array<MPI_Request>, number: Out<c_int>, indices: OutArray<c_int>,
        statuses: OutArray<MPI_Status>,
    ) {
        let handles = requests.slice(count(count_)?)?;
        let Some(found) = choice::ended(handles, Which::Some, false)? else {
            return number.set(MPI_UNDEFINED);
        };
        let mut ended = Vec::new();
        for at in found {
            if let Some(how) = look_noted(handles[at])? {
                ended.push((at as c_int, how));
            }
        }
        number.set(ended.len() as c_int)?;
        let indices = indices.slice(ended.len())?;
        let mut statuses = Statuses::new(statuses.wanted(ended.len())?);
        for (place, (at, (how, noted))) in ended.into_iter().enumerate() {
            indices[place] = at;
            statuses.set_noted(place, (how, || noted));
        }
        statuses.done()
    }

    /// Gives a handle back.
    fn MPI_Request_free(request: Out<MPI_Request>) {
        request::free(request.get()?)?;
        request.set(MPI_REQUEST_NULL)
    }

    /// Takes an operation back, if it has not begun.
    fn MPI_Cancel(request: Out<MPI_Request>) {
        let handle = request.get()?;
        if handle == MPI_REQUEST_NULL {
            let what = "the request to be cancelled is MPI_REQUEST_NULL";
            return Err(Error::new(Class::Request, what));
        }
        match request::active(handle)? {
            Some(Active::Receive(ticket)) => choice::cancel(handle, ticket)?,
            Some(Active::Send(ticket)) => world()?.process.state().endpoint.cancel_send(ticket),
            Some(Active::Generalized(number)) => generalized::cancel(number)?,
            _ => {}
        }
        Ok(())
    }

    /// Starts a persistent operation.
    fn MPI_Start(request: Out<MPI_Request>) {
        request::start(request.get()?)
    }

    /// Starts several.
    fn MPI_Startall(count_: c_int, requests: OutArray<MPI_Request>) {
        requests.slice(count(count_)?)?.iter().try_for_each(|handle| request::start(*handle))
    }
}

/// Ends one that has ended.
fn set_one(handle: &mut MPI_Request, status: StatusOut) -> Result<()> {
    request::active(*handle)?.map_or(Ok(()), |active| status.set_ended(wait(handle, active)))
}

/// Ends those that have ended, and says which.
fn finish_some(
    handles: &mut [MPI_Request],
    ended: Option<Vec<usize>>,
    number: Out<c_int>,
    indices: OutArray<'_, c_int>,
    statuses: OutArray<'_, MPI_Status>,
) -> Result<()> {
    let Some(ended) = ended else { return number.set(MPI_UNDEFINED) };
    number.set(ended.len() as c_int)?;
    for (place, at) in indices.slice(ended.len())?.iter_mut().zip(&ended) {
        *place = *at as c_int;
    }
    let statuses = statuses.wanted(ended.len())?;
    finish_all(handles, ended.into_iter(), statuses)
}
