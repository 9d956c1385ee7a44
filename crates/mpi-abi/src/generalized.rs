//! Requests of the program's own (MPI-5.0, section 13.2): it says when they have ended, and its
//! functions say how. They may call MPI, so none runs while anything is locked.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use muster_mpi::error::{Class, Error, Result, SUCCESS};

use crate::abi::constants::MPI_COMM_NULL;
use crate::abi::types::*;
use crate::codes;
use crate::export::export;
use crate::pointer::{Address, Out};
use crate::request::{self, Active, EMPTY, Failed};
use crate::table::Table;
use crate::world::world;

/// What the program gave.
struct Generalized {
    query: Option<MPI_Grequest_query_function>,
    free: Option<MPI_Grequest_free_function>,
    cancel: Option<MPI_Grequest_cancel_function>,
    /// What the functions are called with.
    extra: usize,
    /// Whether it has ended.
    has_ended: AtomicBool,
    /// Whether its handle was given back before.
    is_freed: AtomicBool,
}

static ALL: Table<Generalized> = Table::new(Class::Request, "a request of the program's own");

/// What a function of the program returned as a result of ours.
fn returned(code: c_int) -> Result<()> {
    if code == SUCCESS { Ok(()) } else { Err(codes::error(code)) }
}

impl Generalized {
    fn extra(&self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.extra)
    }

    /// What it says of its end.
    fn status(&self) -> Result<MPI_Status, Failed> {
        let mut status = EMPTY;
        let Some(query) = self.query else { return Ok(status) };
        // SAFETY: the program's function takes what the program gave with it, and a status.
        let code = unsafe { query(self.extra(), &mut status) };
        // It stands whatever the function returned (MPI-5.0, section 13.2).
        let with = |error| Failed { error, status: Some(Box::new(status)) };
        returned(code).map_err(with).map(|()| status)
    }

    /// Tells the program that it is needed no more.
    fn released(&self) -> Result<()> {
        match self.free {
            // SAFETY: the program's function takes what the program gave with it.
            Some(free) => returned(unsafe { free(self.extra()) }),
            None => Ok(()),
        }
    }
}

/// Whether it has ended.
pub fn has_ended(number: usize) -> bool {
    ALL.get(number).is_ok_and(|it| it.has_ended.load(Ordering::Acquire))
}

/// How it has ended.
///
/// # Errors
/// Those of the program's function.
pub fn status(number: usize) -> Result<MPI_Status, Failed> {
    ALL.get(number)?.status()
}

/// How it has ended, and it is forgotten.
///
/// # Errors
/// Those of the program's functions; the first one's goes before.
pub fn finish(number: usize) -> Result<MPI_Status, Failed> {
    let it = ALL.remove(number)?;
    let status = it.status();
    let released = it.released();
    let with = |status| move |error| Failed { error, status: Some(Box::new(status)) };
    status.and_then(|status| released.map_err(with(status)).map(|()| status))
}

/// Its handle is given back: both are forgotten when it has ended, for by its handle the program
/// says so.
///
/// # Errors
/// Those of the program's function.
pub fn free(number: usize, handle: MPI_Request) -> Result<()> {
    let it = ALL.get(number)?;
    it.is_freed.store(true, Ordering::SeqCst);
    if it.has_ended.load(Ordering::SeqCst) { forget(number, handle) } else { Ok(()) }
}

/// Forgets it; of two threads that do, the second one finds it gone.
fn forget(number: usize, handle: MPI_Request) -> Result<()> {
    request::forget(handle);
    ALL.remove(number).map_or(Ok(()), |it| it.released())
}

/// Asks the program to take it back.
///
/// # Errors
/// Those of the program's function.
pub fn cancel(number: usize) -> Result<()> {
    let it = ALL.get(number)?;
    let has_ended = it.has_ended.load(Ordering::Acquire);
    match it.cancel {
        // SAFETY: the program's function takes what the program gave with it, and a flag.
        Some(cancel) => returned(unsafe { cancel(it.extra(), has_ended.into()) }),
        None => Ok(()),
    }
}

export! {
    /// Makes a request of the program's own.
    fn MPI_Grequest_start(
        query: Option<MPI_Grequest_query_function>, free: Option<MPI_Grequest_free_function>,
        cancel: Option<MPI_Grequest_cancel_function>, extra: Address, request: Out<MPI_Request>,
    ) {
        world()?;
        let (has_ended, is_freed) = (AtomicBool::new(false), AtomicBool::new(false));
        let extra = extra.0.expose_provenance();
        let number = ALL.insert(Generalized { query, free, cancel, extra, has_ended, is_freed });
        // It is about no object: `failure` says who is asked.
        request.set(request::insert(MPI_COMM_NULL, Some(Active::Generalized(number)), None))
    }

    /// Says that it has ended.
    fn MPI_Grequest_complete(request: MPI_Request) {
        let Some(Active::Generalized(number)) = request::active(request)? else {
            let what = "the request is none that MPI_Grequest_start has made";
            return Err(Error::new(Class::Request, what));
        };
        let it = ALL.get(number)?;
        it.has_ended.store(true, Ordering::SeqCst);
        // A thread that waits for it sleeps until something changes.
        drop(world()?.process.state());
        if it.is_freed.load(Ordering::SeqCst) { forget(number, request) } else { Ok(()) }
    }
}
