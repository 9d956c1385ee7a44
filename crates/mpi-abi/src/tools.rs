//! The interface for tools (MPI-5.0, section 15.3): there are no variables, categories, events and
//! sources, which a tool finds out by their numbers. These functions call no error handler.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::abi::constants::*;
use crate::export::export;
use crate::pointer::{Out, Text};

/// How often it was begun and not ended.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// Sets a number, if the interface was begun.
fn tell(place: Out<c_int>, number: c_int) -> c_int {
    match BEGUN.load(Ordering::Relaxed) {
        0 => MPI_T_ERR_NOT_INITIALIZED,
        _ => place.set(number).map_or(MPI_T_ERR_INVALID, |()| MPI_SUCCESS),
    }
}

/// Looks for a name: there is none.
fn find(name: Text<'_>) -> c_int {
    match BEGUN.load(Ordering::Relaxed) {
        0 => MPI_T_ERR_NOT_INITIALIZED,
        _ => name.bytes().map_or(MPI_T_ERR_INVALID, |_| MPI_T_ERR_INVALID_NAME),
    }
}

export! {
    /// Begins, as often as it is ended.
    fn MPI_T_init_thread(required: c_int, provided: Out<c_int>) -> c_int {
        BEGUN.fetch_add(1, Ordering::Relaxed);
        tell(provided, required.clamp(MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE))
    }

    /// Ends.
    fn MPI_T_finalize() -> c_int {
        let less = |begun: usize| begun.checked_sub(1);
        match BEGUN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => MPI_SUCCESS,
            Err(_) => MPI_T_ERR_NOT_INITIALIZED,
        }
    }

    /// The number of control variables.
    fn MPI_T_cvar_get_num(num_cvar: Out<c_int>) -> c_int {
        tell(num_cvar, 0)
    }

    /// The number of performance variables.
    fn MPI_T_pvar_get_num(num_pvar: Out<c_int>) -> c_int {
        tell(num_pvar, 0)
    }

    /// The number of categories.
    fn MPI_T_category_get_num(num_cat: Out<c_int>) -> c_int {
        tell(num_cat, 0)
    }

    /// How often categories have changed.
    fn MPI_T_category_changed(update_number: Out<c_int>) -> c_int {
        tell(update_number, 0)
    }

    /// The number of kinds of events.
    fn MPI_T_event_get_num(num_events: Out<c_int>) -> c_int {
        tell(num_events, 0)
    }

    /// The number of their sources.
    fn MPI_T_source_get_num(num_sources: Out<c_int>) -> c_int {
        tell(num_sources, 0)
    }

    /// A control variable by its name.
    fn MPI_T_cvar_get_index(name: Text<'_>, cvar_index: Out<c_int>) -> c_int {
        let _ = cvar_index;
        find(name)
    }

    /// A performance variable by its name.
    fn MPI_T_pvar_get_index(name: Text<'_>, var_class: c_int, pvar_index: Out<c_int>) -> c_int {
        let _ = (var_class, pvar_index);
        find(name)
    }

    /// A category by its name.
    fn MPI_T_category_get_index(name: Text<'_>, cat_index: Out<c_int>) -> c_int {
        let _ = cat_index;
        find(name)
    }

    /// A kind of events by its name.
    fn MPI_T_event_get_index(name: Text<'_>, event_index: Out<c_int>) -> c_int {
        let _ = event_index;
        find(name)
    }
}
