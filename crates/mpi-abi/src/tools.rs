//! The interface for tools (MPI-5.0, section 15.3): there are no variables, categories, events and
//! sources, which a tool finds out by their numbers. So no index is valid, and no handle; a session
//! is, which has nothing to be asked for. These functions call no error handler.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use muster_mpi::error::Class;

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::export::{answered, export};
use crate::pointer::{Address, ConstAddress, Out, Text};
use crate::table::Table;

/// How often it was begun and not ended.
static BEGUN: AtomicUsize = AtomicUsize::new(0);

/// Sessions of performance variables.
static SESSIONS: Table<()> = Table::new(Class::Session, "a session of performance variables");

/// What is wrong with what a tool asks for, if the interface was begun.
fn refuse(code: c_int) -> c_int {
    if BEGUN.load(Ordering::Relaxed) == 0 { MPI_T_ERR_NOT_INITIALIZED } else { code }
}

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

answered! {
    /// What is asked by an index.
    fn MPI_T_category_get_categories MPI_T_category_get_cvars MPI_T_category_get_events
        MPI_T_category_get_info MPI_T_category_get_num_events MPI_T_category_get_pvars
        MPI_T_cvar_get_info MPI_T_cvar_handle_alloc MPI_T_event_get_info MPI_T_event_handle_alloc
        MPI_T_pvar_get_info MPI_T_source_get_info MPI_T_source_get_timestamp()
    {
        refuse(MPI_T_ERR_INVALID_INDEX)
    }

    /// What is asked by a handle.
    fn MPI_T_cvar_handle_free MPI_T_cvar_read MPI_T_cvar_write MPI_T_enum_get_info
        MPI_T_enum_get_item MPI_T_event_callback_get_info MPI_T_event_callback_set_info
        MPI_T_event_copy MPI_T_event_get_source MPI_T_event_get_timestamp MPI_T_event_handle_free
        MPI_T_event_handle_get_info MPI_T_event_handle_set_info MPI_T_event_read
        MPI_T_event_register_callback MPI_T_event_set_dropped_handler()
    {
        refuse(MPI_T_ERR_INVALID_HANDLE)
    }
}

/// What is wrong with what is asked of a session.
fn of_session(session: MPI_T_pvar_session, code: c_int) -> c_int {
    let is_known = SESSIONS.get(session.0).is_ok();
    refuse(if is_known { code } else { MPI_T_ERR_INVALID_SESSION })
}

export! {
    /// A session.
    fn MPI_T_pvar_session_create(session: Out<MPI_T_pvar_session>) -> c_int {
        if BEGUN.load(Ordering::Relaxed) == 0 {
            return MPI_T_ERR_NOT_INITIALIZED;
        }
        let made = MPI_T_pvar_session(SESSIONS.insert(()));
        session.set(made).map_or(MPI_T_ERR_INVALID, |()| MPI_SUCCESS)
    }

    /// Ends one.
    fn MPI_T_pvar_session_free(session: Out<MPI_T_pvar_session>) -> c_int {
        let Ok(handle) = session.get() else { return refuse(MPI_T_ERR_INVALID) };
        if SESSIONS.remove(handle.0).is_err() {
            return refuse(MPI_T_ERR_INVALID_SESSION);
        }
        session.set(MPI_T_PVAR_SESSION_NULL).map_or(MPI_T_ERR_INVALID, |()| MPI_SUCCESS)
    }

    /// A handle of a variable.
    fn MPI_T_pvar_handle_alloc(
        session: MPI_T_pvar_session, pvar_index: c_int, object: Address,
        handle: Out<MPI_T_pvar_handle>, number: Out<c_int>,
    ) -> c_int {
        let _ = (pvar_index, object, handle, number);
        of_session(session, MPI_T_ERR_INVALID_INDEX)
    }

    /// Gives one back.
    fn MPI_T_pvar_handle_free(
        session: MPI_T_pvar_session, handle: Out<MPI_T_pvar_handle>,
    ) -> c_int {
        let _ = handle;
        of_session(session, MPI_T_ERR_INVALID_HANDLE)
    }

    /// Starts counting: all variables, of which there are none, or one.
    fn MPI_T_pvar_start(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> c_int {
        of_all(session, handle)
    }

    /// Stops counting.
    fn MPI_T_pvar_stop(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> c_int {
        of_all(session, handle)
    }

    /// Begins anew.
    fn MPI_T_pvar_reset(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> c_int {
        of_all(session, handle)
    }

    /// A variable's value.
    fn MPI_T_pvar_read(
        session: MPI_T_pvar_session, handle: MPI_T_pvar_handle, value: Address,
    ) -> c_int {
        let _ = (handle, value);
        of_session(session, MPI_T_ERR_INVALID_HANDLE)
    }

    /// The same, which begins anew.
    fn MPI_T_pvar_readreset(
        session: MPI_T_pvar_session, handle: MPI_T_pvar_handle, value: Address,
    ) -> c_int {
        let _ = (handle, value);
        of_session(session, MPI_T_ERR_INVALID_HANDLE)
    }

    /// Sets one.
    fn MPI_T_pvar_write(
        session: MPI_T_pvar_session, handle: MPI_T_pvar_handle, value: ConstAddress,
    ) -> c_int {
        let _ = (handle, value);
        of_session(session, MPI_T_ERR_INVALID_HANDLE)
    }
}

/// All variables of a session, or one.
fn of_all(session: MPI_T_pvar_session, handle: MPI_T_pvar_handle) -> c_int {
    let is_all = handle == MPI_T_PVAR_ALL_HANDLES;
    of_session(session, if is_all { MPI_SUCCESS } else { MPI_T_ERR_INVALID_HANDLE })
}
