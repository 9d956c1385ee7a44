//! Where arguments are that Fortran leaves out: they are variables of common blocks. The library
//! defines the blocks, too, so that the linker makes the program's known to the loader, and asks
//! that where they are.
//!
//! As a rule that is the same for all of the process: what is loaded later finds the first of a
//! name. A library that was loaded for one caller only, as Python loads all, is found by nobody
//! else, and neither are its blocks: each that was loaded so has its own. Then all are looked
//! through, and again when others have come.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

/// The common blocks, as long as the program's.
mod blocks {
    use std::sync::atomic::{AtomicI32, AtomicU8};

    macro_rules! blocks {
        ($($name:ident: $type:ty = $value:expr;)*) => {
            $(#[unsafe(no_mangle)]
            static $name: $type = $value;)*
        };
    }

    blocks! {
        muster_bottom_: AtomicI32 = AtomicI32::new(0);
        muster_in_place_: AtomicI32 = AtomicI32::new(0);
        muster_buffer_automatic_: AtomicI32 = AtomicI32::new(0);
        muster_status_ignore_: [AtomicI32; 8] = [const { AtomicI32::new(0) }; 8];
        muster_statuses_ignore_: [AtomicI32; 8] = [const { AtomicI32::new(0) }; 8];
        muster_errcodes_ignore_: AtomicI32 = AtomicI32::new(0);
        muster_unweighted_: AtomicI32 = AtomicI32::new(0);
        muster_weights_empty_: AtomicI32 = AtomicI32::new(0);
        muster_argv_null_: AtomicU8 = AtomicU8::new(0);
        muster_argvs_null_: AtomicU8 = AtomicU8::new(0);
    }
}

/// What a place stands for.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    Bottom,
    InPlace,
    Automatic,
    /// One status or several that are not wanted.
    NoStatus,
    Unweighted,
    NoWeights,
    NoConversion,
}

const SYMBOLS: [(&CStr, Meaning); 8] = [
    (c"muster_bottom_", Meaning::Bottom),
    (c"muster_in_place_", Meaning::InPlace),
    (c"muster_buffer_automatic_", Meaning::Automatic),
    (c"muster_status_ignore_", Meaning::NoStatus),
    (c"muster_statuses_ignore_", Meaning::NoStatus),
    (c"muster_unweighted_", Meaning::Unweighted),
    (c"muster_weights_empty_", Meaning::NoWeights),
    (c"mpi_conversion_fn_null_", Meaning::NoConversion),
];

/// Addresses, and what they stand for. They are compared and never followed.
type Places = Vec<(usize, Meaning)>;

/// Whether blocks differ between libraries. This one knows when it is loaded, before others that
/// need it: then all look through it, too, or it is for its caller only.
static ARE_PRIVATE: AtomicBool = AtomicBool::new(false);

/// Finds that out, when the loader has the library in place. By default the loader would look
/// through what was loaded together with the library, too.
extern "C" fn loaded() {
    // SAFETY: null stands for the program, with all that everybody looks through.
    let everybodys = unsafe { libc::dlopen(std::ptr::null(), libc::RTLD_LAZY) };
    ARE_PRIVATE.store(found(everybodys).is_empty(), Ordering::Relaxed);
}

#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// What a place stands for, if it does.
pub(super) fn meaning(place: *mut c_void) -> Option<Meaning> {
    static SHARED: OnceLock<Places> = OnceLock::new();
    if ARE_PRIVATE.load(Ordering::Relaxed) {
        return meaning_for_some(place.addr());
    }
    of(SHARED.get_or_init(|| found(libc::RTLD_DEFAULT)), place.addr())
}

fn of(places: &Places, place: usize) -> Option<Meaning> {
    places.iter().find(|(known, _)| *known == place).map(|(_, meaning)| *meaning)
}

/// The same where libraries differ.
fn meaning_for_some(place: usize) -> Option<Meaning> {
    static PRIVATE: RwLock<Places> = RwLock::new(Vec::new());
    static SEEN: AtomicU64 = AtomicU64::new(0);
    let known = of(&PRIVATE.read().unwrap_or_else(PoisonError::into_inner), place);
    if known.is_some() {
        return known;
    }
    let so_far = loaded_so_far();
    if SEEN.load(Ordering::Acquire) == so_far {
        return None;
    }
    let places = found_in_all();
    let known = of(&places, place);
    *PRIVATE.write().unwrap_or_else(PoisonError::into_inner) = places;
    SEEN.store(so_far, Ordering::Release);
    known
}

/// The places that the loader finds by a handle of its own.
fn found(handle: *mut c_void) -> Places {
    let place = |(name, meaning): (&CStr, Meaning)| {
        // SAFETY: the name ends with a zero, and the handle is the loader's.
        let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
        (!found.is_null()).then_some((found.addr(), meaning))
    };
    SYMBOLS.into_iter().filter_map(place).collect()
}

/// The places in all that is loaded.
fn found_in_all() -> Places {
    let mut places = found(libc::RTLD_DEFAULT);
    for name in names() {
        // SAFETY: the name ends with a zero; nothing is loaded, so nothing runs.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if handle.is_null() {
            continue;
        }
        for (place, meaning) in found(handle) {
            if of(&places, place).is_none() {
                places.push((place, meaning));
            }
        }
        // SAFETY: the handle was opened above.
        unsafe { libc::dlclose(handle) };
    }
    places
}

/// The names of all that is loaded. The loader lets nobody open any of it while it tells them.
fn names() -> Vec<CString> {
    // SAFETY: the loader calls it with its structure, and with the list of below.
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        names: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's structure, whose name ends with a zero, and the list of below.
        unsafe {
            let name = CStr::from_ptr((*info).dlpi_name);
            (*names.cast::<Vec<CString>>()).push(name.to_owned());
        }
        0
    }
    let mut names: Vec<CString> = Vec::new();
    // SAFETY: the callback takes what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut names).cast()) };
    names
}

/// How many libraries were loaded so far, with those that are gone.
fn loaded_so_far() -> u64 {
    // SAFETY: the loader calls it with its structure, and with the number of below.
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        count: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's structure, and the number of below.
        unsafe { *count.cast::<u64>() = (*info).dlpi_adds };
        // The first one will do.
        1
    }
    let mut count = 0_u64;
    // SAFETY: the callback takes what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut count).cast()) };
    count
}
