//! Error handlers (MPI-5.0, section 9.3). One that the program made lives as long as a handle of
//! the program or an object holds it: `MPI_Comm_get_errhandler` gives a handle that is to be freed,
//! too.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use muster_mpi::error::{About, Class, Error, Result};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::codes;
use crate::export::export;
use crate::failure;
use crate::object::{self, Id, Sort};
use crate::pointer::Out;
use crate::table::Table;

/// A handler of the program.
#[derive(Debug)]
struct Handler {
    /// The objects that it is for.
    sort: Sort,
    /// The address of the program's function.
    function: usize,
    /// Handles of the program and objects that hold it.
    holders: AtomicUsize,
}

static HANDLERS: Table<Handler> = Table::new(Class::Errhandler, "an error handler");

/// What to do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To return it.
    Return,
    /// To end the job.
    End,
    /// To call the program's function, and return it.
    Call(usize),
}

/// By what the launcher says which handler the standard's communicators have until the program sets
/// others (`mpiexec -initial-errhandler`), in the standard's words.
pub const INITIAL: &str = "MUSTER_MPI_ERRHANDLER";

/// That handler. What is none of the standard's words is as if nothing was said (MPI-5.0, 9.3).
pub fn initial() -> MPI_Errhandler {
    match std::env::var(INITIAL).as_deref() {
        Ok("mpi_errors_return") => MPI_ERRORS_RETURN,
        Ok("mpi_errors_abort") => MPI_ERRORS_ABORT,
        _ => MPI_ERRORS_ARE_FATAL,
    }
}

/// What an object's handler does about an error.
pub fn action(id: Id) -> Result<Action> {
    Ok(action_of(object::with(id, |it| it.handler)?))
}

/// What a handler does about an error.
fn action_of(handler: MPI_Errhandler) -> Action {
    match handler {
        MPI_ERRORS_RETURN => Action::Return,
        MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT => Action::End,
        handler => HANDLERS.get(handler.0).map_or(Action::End, |made| Action::Call(made.function)),
    }
}

/// Has the handler asked about the error of a call that it was meant for an object of, if it is one
/// for such objects. There is no object, so a function of the program gets the handle of none.
pub fn note<T>(handler: MPI_Errhandler, none: Id, result: Result<T>) -> Result<T> {
    let is_for_such = || HANDLERS.get(handler.0).is_ok_and(|made| made.sort == none.sort);
    if result.is_err() && (is_standard(handler) || is_for_such()) {
        failure::note_for(none, action_of(handler));
    }
    result
}

/// Calls a handler of the program for an object. It gets a place with the code, and what it leaves
/// there is what its caller returns, as with other libraries.
pub fn call(function: usize, id: Id, code: c_int) -> c_int {
    let (mut handle, mut code) = (id.number, code);
    // SAFETY: the address is that of a function which the program gave us for this sort of objects,
    // and it takes pointers to a handle, which is as wide as ours, and to an int.
    unsafe {
        let function: unsafe extern "C" fn(*mut usize, *mut c_int, ...) =
            std::mem::transmute(function);
        function(&mut handle, &mut code);
    }
    code
}

/// Notes one more that holds a handler. The standard's own need no notes.
pub fn hold(handler: MPI_Errhandler) {
    if let Ok(made) = HANDLERS.get(handler.0) {
        made.holders.fetch_add(1, Ordering::Relaxed);
    }
}

/// Notes one less; the last one frees it.
pub fn release(handler: MPI_Errhandler) {
    if let Ok(made) = HANDLERS.get(handler.0)
        && made.holders.fetch_sub(1, Ordering::Relaxed) == 1
    {
        // Another thread that frees the same handle twice finds it gone.
        let _ = HANDLERS.remove(handler.0);
    }
}

/// Makes a handler of a function of the program.
fn create(sort: Sort, function: Option<usize>) -> Result<MPI_Errhandler> {
    let function = function
        .ok_or_else(|| Error::new(Class::Arg, "the function is null").about(About::Address(0)))?;
    let handler = Handler { sort, function, holders: AtomicUsize::new(1) };
    Ok(MPI_Errhandler(HANDLERS.insert(handler)))
}

/// Whether a handler is one of the standard's.
fn is_standard(handler: MPI_Errhandler) -> bool {
    [MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN].contains(&handler)
}

/// That there is such a handler, and that it is for objects of a sort.
///
/// # Errors
/// [`Class::Errhandler`].
pub fn checked(sort: Sort, handler: MPI_Errhandler) -> Result<()> {
    if !is_standard(handler) && HANDLERS.get(handler.0)?.sort != sort {
        let what = "the error handler is for other objects";
        return Err(Error::new(Class::Errhandler, what));
    }
    Ok(())
}

/// Sets an object's handler.
fn set(id: Id, handler: MPI_Errhandler) -> Result<()> {
    checked(id.sort, handler)?;
    hold(handler);
    match object::with(id, |it| std::mem::replace(&mut it.handler, handler)) {
        Ok(before) => release(before),
        Err(error) => {
            release(handler);
            return Err(error);
        }
    }
    Ok(())
}

/// An object's handler, which the program is to free.
fn get(id: Id) -> Result<MPI_Errhandler> {
    let handler = object::with(id, |it| it.handler)?;
    hold(handler);
    Ok(handler)
}

/// Calls an object's handler with a code of the program's.
fn call_for(id: Id, function: &str, code: c_int) -> Result<()> {
    match action(id)? {
        Action::Return => {}
        Action::Call(address) => {
            call(address, id, code);
        }
        Action::End => failure::end(function, &codes::error(code)),
    }
    Ok(())
}

export! {
    /// Gives a handler back.
    fn MPI_Errhandler_free(errhandler: Out<MPI_Errhandler>) {
        let handler = errhandler.get()?;
        if !is_standard(handler) {
            HANDLERS.get(handler.0)?;
            release(handler);
        }
        errhandler.set(MPI_ERRHANDLER_NULL)
    }
}

/// The functions of each sort of objects.
macro_rules! of_objects {
    ($(
        fn $create:ident and $set:ident and $get:ident
            and $call:ident($sort:ident, $handle:ident, $function:ident);
    )*) => {
        $(export! {
            /// Makes a handler.
            fn $create(function: Option<$function>, errhandler: Out<MPI_Errhandler>) {
                errhandler.set(create(Sort::$sort, function.map(|it| it as usize))?)
            }

            /// Sets an object's handler.
            fn $set(object: $handle, errhandler: MPI_Errhandler) on object {
                set(object.into(), errhandler)
            }

            /// An object's handler.
            fn $get(object: $handle, errhandler: Out<MPI_Errhandler>) on object {
                errhandler.set(get(object.into())?)
            }

            /// Calls an object's handler.
            fn $call(object: $handle, errorcode: c_int) on object {
                call_for(object.into(), stringify!($call), errorcode)
            }
        })*
    };
}

of_objects! {
    fn MPI_Comm_create_errhandler and MPI_Comm_set_errhandler and MPI_Comm_get_errhandler
        and MPI_Comm_call_errhandler(Comm, MPI_Comm, MPI_Comm_errhandler_function);
    fn MPI_Win_create_errhandler and MPI_Win_set_errhandler and MPI_Win_get_errhandler
        and MPI_Win_call_errhandler(Win, MPI_Win, MPI_Win_errhandler_function);
    // What MPI_FILE_NULL has is for files that will be opened.
    fn MPI_File_create_errhandler and MPI_File_set_errhandler and MPI_File_get_errhandler
        and MPI_File_call_errhandler(File, MPI_File, MPI_File_errhandler_function);
    fn MPI_Session_create_errhandler and MPI_Session_set_errhandler and MPI_Session_get_errhandler
        and MPI_Session_call_errhandler(Session, MPI_Session, MPI_Session_errhandler_function);
}
