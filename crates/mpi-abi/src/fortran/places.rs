//! Where arguments are that Fortran leaves out. By the modules they are variables of this library,
//! which nobody else defines: every program and library has the same. By `mpif.h` they are
//! variables of common blocks, which each that has them defines. The library defines the blocks,
//! too, so that the linker makes the program's known to the loader, and asks that where they are.
//!
//! As a rule that is the same for all of the process: what is loaded later finds the first of a
//! name. A library that was loaded for one caller only, as Python loads all, is found by nobody
//! else, and neither are its blocks: each that was loaded so has its own. So has a library that
//! looks for its symbols in itself first (`-Bsymbolic`). Then all are looked through, and again
//! when others have come. Nobody finds a block whose name a linker has hidden.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

/// The variables, as long as the program's: those of the modules, and the common blocks. Of
/// statuses each module has its own, because they are of different types.
mod variables {
    use std::sync::atomic::{AtomicI32, AtomicU8};

    macro_rules! variables {
        ($($value:expr => $type:ty: $($name:ident)*;)*) => {
            $($(#[unsafe(no_mangle)]
            static $name: $type = $value;)*)*
        };
    }

    variables! {
        AtomicI32::new(0) => AtomicI32:
            muster_own_bottom muster_bottom_
            muster_own_in_place muster_in_place_
            muster_own_buffer_automatic muster_buffer_automatic_
            muster_own_errcodes_ignore muster_errcodes_ignore_
            muster_own_unweighted muster_unweighted_
            muster_own_weights_empty muster_weights_empty_;
        [const { AtomicI32::new(0) }; 8] => [AtomicI32; 8]:
            muster_own_status_ignore muster_own_f08_status_ignore muster_status_ignore_
            muster_own_statuses_ignore muster_own_f08_statuses_ignore muster_statuses_ignore_;
        AtomicU8::new(0) => AtomicU8:
            muster_own_argv_null muster_argv_null_
            muster_own_argvs_null muster_argvs_null_;
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

const SYMBOLS: [(&CStr, Meaning); 18] = [
    (c"muster_own_bottom", Meaning::Bottom),
    (c"muster_own_in_place", Meaning::InPlace),
    (c"muster_own_buffer_automatic", Meaning::Automatic),
    (c"muster_own_status_ignore", Meaning::NoStatus),
    (c"muster_own_statuses_ignore", Meaning::NoStatus),
    (c"muster_own_f08_status_ignore", Meaning::NoStatus),
    (c"muster_own_f08_statuses_ignore", Meaning::NoStatus),
    (c"muster_own_unweighted", Meaning::Unweighted),
    (c"muster_own_weights_empty", Meaning::NoWeights),
    (c"muster_bottom_", Meaning::Bottom),
    (c"muster_in_place_", Meaning::InPlace),
    (c"muster_buffer_automatic_", Meaning::Automatic),
    (c"muster_status_ignore_", Meaning::NoStatus),
    (c"muster_statuses_ignore_", Meaning::NoStatus),
    (c"muster_unweighted_", Meaning::Unweighted),
    (c"muster_weights_empty_", Meaning::NoWeights),
    (c"mpi_conversion_fn_null_", Meaning::NoConversion),
    (c"mpi_conversion_fn_null_c_", Meaning::NoConversion),
];

/// Addresses, and what they stand for. They are compared and never followed.
type Places = Vec<(usize, Meaning)>;

/// Whether blocks differ between libraries. This one knows when it is loaded, before others that
/// need it: then all look through it, too, or it is for its caller only. Whether one that all look
/// through has blocks beside those that all find is known at the first call; what comes later is
/// not looked at, which would take its time with every buffer of every call.
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
    let shared = SHARED.get_or_init(shared);
    if ARE_PRIVATE.load(Ordering::Relaxed) {
        return meaning_for_some(place.addr());
    }
    of(shared, place.addr())
}

/// Where the variable of the modules is that stands for a buffer which the library sees to. The
/// program may have its own copy of it, which all use then.
pub(super) fn automatic() -> *mut c_void {
    let mut known = [libc::RTLD_DEFAULT, super::own()].into_iter().flat_map(found);
    let place = known.find(|(_, meaning)| matches!(meaning, Meaning::Automatic));
    place.map_or(std::ptr::null_mut(), |(place, _)| std::ptr::without_provenance_mut(place))
}

/// What all find, and whether there is more.
fn shared() -> Places {
    let (shared, own) = (found(libc::RTLD_DEFAULT), found(super::own()));
    let is_known = |place: usize| of(&shared, place).or_else(|| of(&own, place)).is_some();
    // Others have blocks, too, which they do not use: they find the first of a name as all do.
    let symbolic = found_in(libraries().into_iter().filter(|one| one.is_symbolic));
    if symbolic.iter().any(|(place, _)| !is_known(*place)) {
        ARE_PRIVATE.store(true, Ordering::Relaxed);
    }
    shared
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
    let places = found_in(libraries().into_iter());
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

/// Something that is loaded.
struct Library {
    name: CString,
    /// It looks for its symbols in itself first.
    is_symbolic: bool,
}

/// The places that all find, and those in libraries.
fn found_in(libraries: impl Iterator<Item = Library>) -> Places {
    let mut places = found(libc::RTLD_DEFAULT);
    for Library { name, .. } in libraries {
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

/// All that is loaded. The loader lets nobody open any of it while it tells that.
fn libraries() -> Vec<Library> {
    // SAFETY: the loader calls it with its structure, and with the list of below.
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _: libc::size_t,
        libraries: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's structure, whose name ends with a zero, and the list of below.
        unsafe {
            let name = CStr::from_ptr((*info).dlpi_name).to_owned();
            let library = Library { name, is_symbolic: is_symbolic(&*info) };
            (*libraries.cast::<Vec<Library>>()).push(library);
        }
        0
    }
    let mut libraries: Vec<Library> = Vec::new();
    // SAFETY: the callback takes what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut libraries).cast()) };
    libraries
}

/// Whether a library looks for its symbols in itself first: its dynamic section, a list of tags and
/// values that ends with tag 0, has DT_SYMBOLIC, or DF_SYMBOLIC among its DT_FLAGS (System V ABI,
/// chapter 5).
///
/// # Safety
/// The structure is the loader's, of something that is loaded.
unsafe fn is_symbolic(info: &libc::dl_phdr_info) -> bool {
    const SYMBOLIC: usize = 16;
    const FLAGS: (usize, usize) = (30, 2);
    let count = usize::from(info.dlpi_phnum);
    // SAFETY: so many headers are there, and the section lies where its header says.
    unsafe {
        let headers = match info.dlpi_phdr.is_null() {
            true => &[][..],
            false => std::slice::from_raw_parts(info.dlpi_phdr, count),
        };
        let dynamic = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC);
        let Some(dynamic) = dynamic else { return false };
        let place = (info.dlpi_addr + dynamic.p_vaddr) as usize;
        let mut entry = std::ptr::with_exposed_provenance::<[usize; 2]>(place);
        loop {
            match *entry {
                [0, _] => return false,
                [SYMBOLIC, _] => return true,
                [tag, value] if tag == FLAGS.0 && value & FLAGS.1 != 0 => return true,
                _ => entry = entry.add(1),
            }
        }
    }
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
