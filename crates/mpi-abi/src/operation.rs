//! Operations of reductions by their handles, and the program's own (MPI-5.0, section 6.9).

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use muster_mpi::collective::Combination;
use muster_mpi::datatype::Datatype;
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::op::{self, Op, Predefined};

use crate::abi::constants::MPI_OP_NULL;
use crate::abi::types::*;
use crate::buffer::Elements;
use crate::collective::{apart, plain};
use crate::datatype;
use crate::export::{both, export};
use crate::pointer::{Address, ConstAddress, Out};
use crate::table::Table;

/// A function of the program.
#[derive(Clone, Copy)]
enum Written {
    /// With counts that are `int`.
    Int(MPI_User_function),
    /// With large ones.
    Large(MPI_User_function_c),
}

/// An operation that the program made.
#[derive(Clone, Copy)]
struct User {
    written: Written,
    is_commutative: bool,
}

/// A function as a reduction calls it: it is told the datatype's handle.
struct Called {
    written: Written,
    handle: MPI_Datatype,
    /// What that stood for when the reduction was called: the program may have freed it since.
    datatype: Datatype,
}

static OPERATIONS: Table<User> = Table::new(Class::Op, "an operation");

/// What a handle stands for, with the operands' datatype and its handle.
///
/// # Errors
/// [`Class::Op`] where there is no such operation.
fn operation(op: MPI_Op, handle: MPI_Datatype, datatype: &Datatype) -> Result<Op> {
    if let Some(predefined) = Predefined::of_handle(op.0) {
        return Ok(Op::Predefined(predefined));
    }
    if op == MPI_OP_NULL {
        return Err(Error::new(Class::Op, "the operation is MPI_OP_NULL"));
    }
    let User { written, is_commutative } = *OPERATIONS.get(op.0)?;
    let function = Arc::new(Called { written, handle, datatype: datatype.clone() });
    Ok(Op::User { function, commutative: is_commutative })
}

/// The reduction of elements by an operation.
///
/// # Errors
/// [`Class::Op`] where there is no such operation, or it is not defined for these.
#[inline]
pub fn combination(op: MPI_Op, handle: MPI_Datatype, elements: &Elements) -> Result<Combination> {
    let datatype = elements.datatype();
    Combination::new(&operation(op, handle, datatype)?, datatype)
}

impl op::Function for Called {
    fn call(&self, input: &[u8], inout: &mut [u8], count: usize, elements: &Datatype) {
        let Ok(span) = elements.span(count) else { return };
        let from = input.as_ptr().wrapping_offset(-span.start).cast_mut().cast::<c_void>();
        let into = inout.as_mut_ptr().wrapping_offset(-span.start).cast::<c_void>();
        let lent = datatype::Lent::of(&self.datatype, self.handle);
        let mut handle = lent.handle;
        match self.written {
            Written::Large(function) => {
                let mut count = count as MPI_Count;
                // SAFETY: the program's function, which takes elements of this datatype.
                unsafe { function(from, into, &mut count, &mut handle) };
            }
            Written::Int(function) => {
                // More elements than an `int` can count come in several calls.
                let most = c_int::MAX as usize;
                for first in (0..count).step_by(most) {
                    let by = elements.extent() * first as isize;
                    let mut count = (count - first).min(most) as c_int;
                    let (from, into) =
                        (from.wrapping_byte_offset(by), into.wrapping_byte_offset(by));
                    // SAFETY: as above.
                    unsafe { function(from, into, &mut count, &mut handle) };
                }
            }
        }
    }
}

fn make(function: Option<Written>, commute: c_int, op: Out<MPI_Op>) -> Result<()> {
    let written = function.ok_or_else(|| {
        Error::new(Class::Arg, "the function of the operation is null").of("user_fn")
    })?;
    op.set(MPI_Op(OPERATIONS.insert(User { written, is_commutative: commute != 0 })))
}

export! {
    /// Makes an operation of a function of the program.
    fn MPI_Op_create(user_fn: Option<MPI_User_function>, commute: c_int, op: Out<MPI_Op>) {
        make(user_fn.map(Written::Int), commute, op)
    }

    /// The same, of one with large counts.
    fn MPI_Op_create_c(user_fn: Option<MPI_User_function_c>, commute: c_int, op: Out<MPI_Op>) {
        make(user_fn.map(Written::Large), commute, op)
    }

    /// Gives an operation back.
    fn MPI_Op_free(op: Out<MPI_Op>) {
        let handle = op.get()?;
        if let Some(predefined) = Predefined::of_handle(handle.0) {
            let what = format!("{} cannot be freed", predefined.name());
            return Err(Error::new(Class::Op, what));
        }
        OPERATIONS.remove(handle.0)?;
        op.set(MPI_OP_NULL)
    }

    /// Whether operands may change places.
    fn MPI_Op_commutative(op: MPI_Op, commute: Out<c_int>) {
        let is_commutative = match Predefined::of_handle(op.0) {
            Some(predefined) => Op::Predefined(predefined).commutative(),
            None => OPERATIONS.get(op.0)?.is_commutative,
        };
        commute.set(is_commutative.into())
    }
}

both! {
    /// Combines two buffers, without messages.
    fn MPI_Reduce_local or MPI_Reduce_local_c(
        inbuf: ConstAddress, inoutbuf: Address, count: N, datatype: MPI_Datatype, op: MPI_Op,
    ) {
        let (from, into) =
            (plain(inbuf.0, count, datatype)?, plain(inoutbuf.0, count, datatype)?);
        apart(&from, &into)?;
        let op = Op::reduction(&operation(op, datatype, from.datatype())?, from.datatype())?;
        into.combine(&op, &from);
        Ok(())
    }
}
