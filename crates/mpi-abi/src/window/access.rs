//! Accesses to the memory of other ranks (MPI-5.0, section 12.3).

use std::ffi::c_int;
use std::sync::atomic::Ordering;

use muster_mpi::buffer::Typed;
use muster_mpi::datatype::{Datatype, Kind};
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::op::Predefined;
use muster_mpi::window::{Access, Place};

use super::window;
use crate::abi::constants::MPI_OP_NULL;
use crate::abi::types::*;
use crate::buffer::{Elements, committed, count, elements};
use crate::export::{Number, both, export};
use crate::pointer::{Address, ConstAddress, Out};
use crate::request::{self, Active, EMPTY};
use crate::world::{State, world};

/// Elements of a rank's memory, as a call names them.
struct There {
    rank: c_int,
    displacement: MPI_Aint,
    count: usize,
    datatype: Datatype,
}

/// What a call names.
fn there(
    rank: c_int,
    displacement: MPI_Aint,
    number: impl Number,
    datatype: MPI_Datatype,
) -> Result<There> {
    let (count, datatype) = (count(number)?, committed(datatype)?);
    Ok(There { rank, displacement, count, datatype })
}

/// What becomes of a call whose end is asked for by a request.
fn begun(access: Option<Access>) -> Active {
    access.map_or(Active::Ended(EMPTY), Active::Access)
}

/// Works on a window with a place in it; nothing is done for `MPI_PROC_NULL`.
fn at(
    win: MPI_Win,
    there: &There,
    work: impl FnOnce(&mut State, u64, &Place<'_>) -> Result<Option<Access>>,
) -> Result<Active> {
    let win = window(win)?;
    let Some(target) = win.target(there.rank)? else { return Ok(begun(None)) };
    win.was_used.store(true, Ordering::Relaxed);
    let place = Place {
        target,
        displacement: there.displacement as i64,
        count: there.count,
        datatype: &there.datatype,
    };
    let access = work(&mut world()?.process.state(), win.context(), &place)?;
    win.done_here()?;
    Ok(begun(access))
}

fn put(win: MPI_Win, there: &There, from: Elements) -> Result<Active> {
    at(win, there, |state, context, place| {
        let (window, endpoint) = state.window(context)?;
        window.put(endpoint, place, from)?;
        Ok(None)
    })
}

fn get(win: MPI_Win, there: &There, into: Elements, is_awaited: bool) -> Result<Active> {
    at(win, there, |state, context, place| {
        let (window, endpoint) = state.window(context)?;
        window.get(endpoint, place, into, is_awaited).map(Some)
    })
}

fn accumulate(
    win: MPI_Win,
    there: &There,
    from: (Predefined, Elements),
    into: Option<Elements>,
    is_awaited: bool,
) -> Result<Active> {
    at(win, there, |state, context, place| {
        let (window, endpoint) = state.window(context)?;
        window.accumulate(endpoint, place, from, into, is_awaited)
    })
}

/// An operation, and its operands: `MPI_NO_OP` has none.
fn operands(op: MPI_Op, from: impl FnOnce() -> Result<Elements>) -> Result<(Predefined, Elements)> {
    match Predefined::of_handle(op.0) {
        Some(Predefined::NoOp) => Ok((Predefined::NoOp, Typed::nothing())),
        Some(predefined) => Ok((predefined, from()?)),
        None if op == MPI_OP_NULL => Err(Error::new(Class::Op, "the operation is MPI_OP_NULL")),
        None => {
            let what = "functions of the program are for reductions only";
            Err(Error::new(Class::Op, what))
        }
    }
}

/// The same where nothing is read: there an operation has to do something.
fn operands_alone(
    op: MPI_Op,
    from: impl FnOnce() -> Result<Elements>,
) -> Result<(Predefined, Elements)> {
    match operands(op, from)? {
        (Predefined::NoOp, _) => {
            let what = "MPI_NO_OP is for calls that read what was there before";
            Err(Error::new(Class::Op, what))
        }
        operands => Ok(operands),
    }
}

/// One element of a predefined datatype, as those are that Fortran's kinds select.
fn one(rank: c_int, displacement: MPI_Aint, datatype: MPI_Datatype) -> Result<There> {
    let there = there(rank, displacement, 1, datatype)?;
    if there.datatype.basic().is_none() {
        let what = "the datatype is derived, and one element of a predefined one is wanted";
        return Err(Error::new(Class::Type, what).of("datatype"));
    }
    Ok(there)
}

both! {
    /// Writes.
    fn MPI_Put or MPI_Put_c(
        origin: ConstAddress, number: N, datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint,
        target_number: N, target_datatype: MPI_Datatype, win: MPI_Win,
    ) on win {
        let there = there(rank, disp, target_number, target_datatype)?;
        put(win, &there, elements(origin.0, number, datatype)?)?;
        Ok(())
    }

    /// Writes; the request ends when the buffer may be used again.
    fn MPI_Rput or MPI_Rput_c(
        origin: ConstAddress, number: N, datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint,
        target_number: N, target_datatype: MPI_Datatype, win: MPI_Win, request: Out<MPI_Request>,
    ) on win {
        let there = there(rank, disp, target_number, target_datatype)?;
        let active = put(win, &there, elements(origin.0, number, datatype)?)?;
        request.set(request::insert(win, Some(active), None))
    }

    /// Reads.
    fn MPI_Get or MPI_Get_c(
        origin: Address, number: N, datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint,
        target_number: N, target_datatype: MPI_Datatype, win: MPI_Win,
    ) on win {
        let there = there(rank, disp, target_number, target_datatype)?;
        get(win, &there, elements(origin.0, number, datatype)?, false)?;
        Ok(())
    }

    /// Reads; the request ends when all has come.
    fn MPI_Rget or MPI_Rget_c(
        origin: Address, number: N, datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint,
        target_number: N, target_datatype: MPI_Datatype, win: MPI_Win, request: Out<MPI_Request>,
    ) on win {
        let there = there(rank, disp, target_number, target_datatype)?;
        let active = get(win, &there, elements(origin.0, number, datatype)?, true)?;
        request.set(request::insert(win, Some(active), None))
    }

    /// Combines.
    fn MPI_Accumulate or MPI_Accumulate_c(
        origin: ConstAddress, number: N, datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint,
        target_number: N, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win,
    ) on win {
        let there = there(rank, disp, target_number, target_datatype)?;
        let from = operands_alone(op, || elements(origin.0, number, datatype))?;
        accumulate(win, &there, from, None, false)?;
        Ok(())
    }

    /// Combines; the request ends when the buffer may be used again.
    fn MPI_Raccumulate or MPI_Raccumulate_c(
        origin: ConstAddress, number: N, datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint,
        target_number: N, target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win,
        request: Out<MPI_Request>,
    ) on win {
        let there = there(rank, disp, target_number, target_datatype)?;
        let from = operands_alone(op, || elements(origin.0, number, datatype))?;
        let active = accumulate(win, &there, from, None, false)?;
        request.set(request::insert(win, Some(active), None))
    }

    /// Combines, and reads what was there before.
    fn MPI_Get_accumulate or MPI_Get_accumulate_c(
        origin: ConstAddress, number: N, datatype: MPI_Datatype, result: Address, result_number: N,
        result_datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint, target_number: N,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win,
    ) on win {
        let there = there(rank, disp, target_number, target_datatype)?;
        let from = operands(op, || elements(origin.0, number, datatype))?;
        let into = elements(result.0, result_number, result_datatype)?;
        accumulate(win, &there, from, Some(into), false)?;
        Ok(())
    }

    /// The same; the request ends when that has come.
    fn MPI_Rget_accumulate or MPI_Rget_accumulate_c(
        origin: ConstAddress, number: N, datatype: MPI_Datatype, result: Address, result_number: N,
        result_datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint, target_number: N,
        target_datatype: MPI_Datatype, op: MPI_Op, win: MPI_Win, request: Out<MPI_Request>,
    ) on win {
        let there = there(rank, disp, target_number, target_datatype)?;
        let from = operands(op, || elements(origin.0, number, datatype))?;
        let into = elements(result.0, result_number, result_datatype)?;
        let active = accumulate(win, &there, from, Some(into), true)?;
        request.set(request::insert(win, Some(active), None))
    }
}

export! {
    /// Combines one element, and reads what was there before.
    fn MPI_Fetch_and_op(
        origin: ConstAddress, result: Address, datatype: MPI_Datatype, rank: c_int, disp: MPI_Aint,
        op: MPI_Op, win: MPI_Win,
    ) on win {
        let there = one(rank, disp, datatype)?;
        let from = operands(op, || elements(origin.0, 1, datatype))?;
        accumulate(win, &there, from, Some(elements(result.0, 1, datatype)?), false)?;
        Ok(())
    }

    /// Replaces one element if it is the one expected, and reads what was there.
    fn MPI_Compare_and_swap(
        origin: ConstAddress, compare: ConstAddress, result: Address, datatype: MPI_Datatype,
        rank: c_int, disp: MPI_Aint, win: MPI_Win,
    ) on win {
        let there = one(rank, disp, datatype)?;
        let kind = there.datatype.basic().map(|datatype| (datatype.kind(), datatype.name()));
        if let Some((kind, name)) = kind
            && matches!(
                kind,
                Kind::Floating(_) | Kind::Complex(_) | Kind::Pair(..) | Kind::Opaque(_)
            )
        {
            let what = format!("{name} is neither an integer, nor a logical, nor a byte");
            return Err(Error::new(Class::Type, what));
        }
        let element = |address| elements(address, 1, datatype);
        let (new, expected) = (element(origin.0)?, element(compare.0)?);
        let into = element(result.0.cast_const())?;
        at(win, &there, |state, context, place| {
            let (window, endpoint) = state.window(context)?;
            window.swap(endpoint, place, (new, expected), into)?;
            Ok(None)
        })?;
        Ok(())
    }
}
