//! MPI for Fortran programs, which include `mpif.h` or use a module: subroutines by the names that
//! compilers make, lower case with an underscore behind. Most are made from the table
//! (`build/fortran.rs`); here is what they use, and those that are unlike their C functions.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

mod attribute;
mod f08;
mod generalized;
mod older;
mod places;

use self as f;
use self::places::Meaning;
use crate::abi::constants::*;
use crate::abi::types::*;

/// The subroutines of the table's functions. What each argument leads to is what the standard
/// demands, which is the caller's promise; the functions look at what can be looked at.
#[allow(clippy::all, clippy::undocumented_unsafe_blocks, unused_unsafe, missing_docs)]
mod made {
    use super::*;

    include!(concat!(env!("OUT_DIR"), "/fortran.rs"));
}

/// A function by its name in C, of the type that the table says: the loader's first of that name,
/// which may be a tool's.
macro_rules! function {
    ($name:ident: $type:ident) => {{
        static PLACE: ::std::sync::atomic::AtomicPtr<::std::ffi::c_void> =
            ::std::sync::atomic::AtomicPtr::new(::std::ptr::null_mut());
        let name = concat!(stringify!($name), "\0");
        ::std::mem::transmute::<*mut ::std::ffi::c_void, $crate::abi::signatures::$type>(
            $crate::fortran::first(&PLACE, name),
        )
    }};
}

use function;

/// The address of the loader's first symbol of a name, which is asked for once. A library that
/// was opened for one caller only is not among what the loader looks through by itself, so ours is
/// looked up in what follows.
fn first(place: &AtomicPtr<c_void>, name: &str) -> *mut c_void {
    let known = place.load(Ordering::Relaxed);
    if !known.is_null() {
        return known;
    }
    let name = CStr::from_bytes_with_nul(name.as_bytes()).expect("it ends with a zero");
    // SAFETY: the name ends with a zero.
    let mut found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if found.is_null() {
        // SAFETY: as above.
        found = unsafe { libc::dlsym(own(), name.as_ptr()) };
    }
    assert!(!found.is_null(), "this library has no {name:?}");
    place.store(found, Ordering::Relaxed);
    found
}

/// The loader's handle of this library.
fn own() -> *mut c_void {
    // SAFETY: the structure is the loader's to fill; the name that it gives is opened once more.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let here = own as fn() -> *mut c_void as *const c_void;
        match libc::dladdr(here, &mut info) {
            0 => std::ptr::null_mut(),
            _ => libc::dlopen(info.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD),
        }
    }
}

/// A buffer, or what stands for one.
fn address(place: *mut c_void) -> *mut c_void {
    let number = match places::meaning(place) {
        Some(Meaning::InPlace) => MPI_IN_PLACE,
        Some(Meaning::Bottom) => MPI_BOTTOM,
        Some(Meaning::Automatic) => MPI_BUFFER_AUTOMATIC,
        _ => return place,
    };
    std::ptr::without_provenance_mut(number)
}

/// A buffer that is given back: Fortran's variable that stands for it, where the library saw to it.
fn detached(place: *mut c_void) -> *mut c_void {
    if place.addr() == MPI_BUFFER_AUTOMATIC { places::automatic() } else { place }
}

/// A status or an array of them, which are alike in both languages; null where none is wanted.
fn status(place: *mut c_void) -> *mut MPI_Status {
    match places::meaning(place) {
        Some(Meaning::NoStatus) => std::ptr::null_mut(),
        _ => place.cast(),
    }
}

/// Weights of edges, or what stands for them.
fn weights(place: *mut c_void) -> *mut c_int {
    let number = match places::meaning(place) {
        Some(Meaning::Unweighted) => MPI_UNWEIGHTED,
        Some(Meaning::NoWeights) => MPI_WEIGHTS_EMPTY,
        _ => return place.cast(),
    };
    std::ptr::without_provenance_mut(number)
}

/// A function that converts data; null for the one that stands for none.
fn conversion(place: *mut c_void) -> *mut c_void {
    match places::meaning(place) {
        Some(Meaning::NoConversion) => std::ptr::null_mut(),
        _ => place,
    }
}

/// A number.
///
/// # Safety
/// It is there.
unsafe fn load<T: Copy>(place: *mut c_void) -> T {
    // SAFETY: as the caller promises.
    unsafe { place.cast::<T>().read() }
}

/// Sets a number.
///
/// # Safety
/// There is room for it.
unsafe fn store<T>(place: *mut c_void, value: T) {
    // SAFETY: as the caller promises.
    unsafe { place.cast::<T>().write(value) }
}

/// Gives the error code, where it is wanted: `use mpi_f08` lets programs leave it out.
///
/// # Safety
/// There is room for it, or no place.
unsafe fn give_code(place: *mut c_void, code: c_int) {
    if !place.is_null() {
        // SAFETY: as the caller promises.
        unsafe { store(place, code) };
    }
}

/// A text, without the blanks around it.
///
/// # Safety
/// It has so many bytes.
unsafe fn text(place: *mut c_void, length: usize) -> CString {
    // SAFETY: as the caller promises.
    let text = unsafe { bytes(place, length) };
    let start = text.iter().position(|byte| *byte != b' ').unwrap_or(text.len());
    // SAFETY: as before, of what is behind them.
    unsafe { name(place.byte_add(start), text.len() - start) }
}

/// A text without the blanks behind it.
///
/// # Safety
/// It has so many bytes.
unsafe fn name(place: *mut c_void, length: usize) -> CString {
    // SAFETY: as the caller promises.
    let text = unsafe { bytes(place, length) };
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    CString::new(&text[..end]).expect("it ends before the first zero")
}

/// The bytes of a text, which a zero ends too.
///
/// # Safety
/// It has so many bytes, for as long as they are used.
unsafe fn bytes<'a>(place: *mut c_void, length: usize) -> &'a [u8] {
    // SAFETY: as the caller promises.
    let bytes = unsafe { std::slice::from_raw_parts(place.cast::<u8>(), length) };
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(length);
    &bytes[..end]
}

/// Room for a text as C has it: with the zero, and no more than a [`Room`] has. None stays none.
fn with_zero(length: c_int) -> c_int {
    if length > 0 { length.saturating_add(1).min(Room::LENGTH) } else { length }
}

/// The length of a text as Fortran has it.
fn without_zero(length: c_int) -> c_int {
    length.saturating_sub(1).max(0)
}

/// Room for a text of C, of any length that the standard knows.
struct Room(Vec<c_char>);

impl Room {
    /// The longest text, and a zero.
    const LENGTH: c_int = MPI_MAX_LIBRARY_VERSION_STRING;

    fn new() -> Room {
        Room(vec![0; Room::LENGTH as usize])
    }

    fn as_mut_ptr(&mut self) -> *mut c_char {
        self.0.as_mut_ptr()
    }

    /// Gives it to the program, cut or filled up with blanks.
    ///
    /// # Safety
    /// There is room for so many bytes.
    unsafe fn give(&self, place: *mut c_void, length: usize) {
        // SAFETY: as the caller promises.
        let into = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), length) };
        let text = self.0.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0);
        let text = text.chain(std::iter::repeat(b' '));
        into.iter_mut().zip(text).for_each(|(into, byte)| *into = byte);
    }
}

/// Handles out of integers.
///
/// # Safety
/// So many are there.
unsafe fn handles(place: *mut c_void, count: c_int) -> Vec<usize> {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: as the caller promises; without any there may be no place.
    let each = |at| unsafe { place.cast::<c_int>().add(at).read() as usize };
    (0..count).map(each).collect()
}

/// Integers out of handles.
///
/// # Safety
/// There is room for them.
unsafe fn give_handles(handles: &[usize], place: *mut c_void) {
    for (at, handle) in handles.iter().enumerate() {
        // SAFETY: as the caller promises.
        unsafe { place.cast::<c_int>().add(at).write(*handle as c_int) };
    }
}

/// What C functions find where they are to set a number. None sets this one: where it still is, the
/// call has failed too early to set anything, and the program's number stays.
const UNSET: c_int = c_int::MIN;

/// Gives how many indices there are.
///
/// # Safety
/// There is room for a number.
unsafe fn give_outcount(set: c_int, place: *mut c_void) {
    if set != UNSET {
        // SAFETY: as the caller promises.
        unsafe { store(place, set) };
    }
}

/// Gives an index, which begins with 1.
///
/// # Safety
/// There is room for a number.
unsafe fn give_indx(set: c_int, place: *mut c_void) {
    if set != UNSET {
        // SAFETY: as the caller promises.
        unsafe { store(place, if set >= 0 { set + 1 } else { set }) };
    }
}

/// Indices that begin with 1 out of those that begin with 0. A count that is none is negative.
///
/// # Safety
/// So many are there.
unsafe fn from_one(place: *mut c_void, count: c_int) {
    for at in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: as the caller promises.
        let index = unsafe { &mut *place.cast::<c_int>().add(at) };
        if *index >= 0 {
            *index += 1;
        }
    }
}

/// How many ranks a call of all ranks of a communicator has arguments for.
///
/// # Safety
/// The integer of the handle is there.
unsafe fn peers(comm: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    let comm = MPI_Comm(unsafe { load::<c_int>(comm) } as usize);
    let size = crate::communicator::communicator(comm).map(|it| it.inner.peers().size());
    size.map_or(0, u32::cast_signed)
}

/// How many ranks are sent to from a buffer: none where that is `MPI_IN_PLACE`, and the arrays
/// beside it are not looked at (MPI-5.0, section 6.8).
///
/// # Safety
/// As [`peers`].
unsafe fn sent_peers(buffer: *mut c_void, comm: *mut c_void) -> c_int {
    match address(buffer).addr() {
        MPI_IN_PLACE => 0,
        // SAFETY: as the caller promises.
        _ => unsafe { peers(comm) },
    }
}

/// How many neighbours a rank has in a topology.
struct Neighbors {
    incoming: c_int,
    outgoing: c_int,
}

/// How many neighbours a call of neighbours has arguments for.
///
/// # Safety
/// The integer of the handle is there.
unsafe fn neighbors(comm: *mut c_void) -> Neighbors {
    // SAFETY: as the caller promises.
    let comm = MPI_Comm(unsafe { load::<c_int>(comm) } as usize);
    let (incoming, outgoing) = crate::communicator::communicator(comm)
        .ok()
        .and_then(|it| Some(it.topology.as_ref()?.neighbors(it.inner.rank())))
        .unwrap_or_default();
    Neighbors { incoming: incoming.len() as c_int, outgoing: outgoing.len() as c_int }
}

/// Subroutines that are written by hand, by the name of each and the one that is for tools: what
/// each does with the C function of the same kind of name.
macro_rules! subroutines {
    ($($(#[$doc:meta])* $low:ident $plow:ident = $name:ident $pname:ident
       ($($argument:ident),* $(,)?) $(-> $result:ty)? |$call:ident| $body:block)*) => {$(
        $crate::fortran::subroutine! {
            $(#[$doc])* $low = $name: $name ($($argument),*) $(-> $result)? |$call| $body
        }
        $crate::fortran::subroutine! {
            $(#[$doc])* $plow = $pname: $name ($($argument),*) $(-> $result)? |$call| $body
        }
    )*};
}

/// One of them.
macro_rules! subroutine {
    ($(#[$doc:meta])* $low:ident = $name:ident: $type:ident
     ($($argument:ident),*) $(-> $result:ty)? |$call:ident| $body:block) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As the standard demands.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "some bodies have promises of their own")]
        unsafe extern "C" fn $low($($argument: *mut ::std::ffi::c_void),*) $(-> $result)? {
            // SAFETY: the arguments are the caller's promise.
            unsafe {
                let $call = $crate::fortran::function!($name: $type);
                $body
            }
        }
    };
}

use {subroutine, subroutines};

subroutines! {
    /// Begins; a program may give no arguments.
    mpi_init_ pmpi_init_ = MPI_Init PMPI_Init (ierror) |init| {
        give_code(ierror, init(std::ptr::null_mut(), std::ptr::null_mut()));
    }

    /// Begins, with threads.
    mpi_init_thread_ pmpi_init_thread_ = MPI_Init_thread PMPI_Init_thread
    (required, provided, ierror) |init| {
        let none = std::ptr::null_mut();
        give_code(ierror, init(std::ptr::null_mut(), none, load(required), provided.cast()));
    }

    /// For tools, which make of it what they like; nothing here does.
    mpi_pcontrol_ pmpi_pcontrol_ = MPI_Pcontrol PMPI_Pcontrol (level) |control| {
        control(load(level));
    }

    /// The time.
    mpi_wtime_ pmpi_wtime_ = MPI_Wtime PMPI_Wtime () -> f64 |time| { time() }

    /// Its resolution.
    mpi_wtick_ pmpi_wtick_ = MPI_Wtick PMPI_Wtick () -> f64 |tick| { tick() }

    /// An address and a number of bytes from there.
    mpi_aint_add_ pmpi_aint_add_ = MPI_Aint_add PMPI_Aint_add
    (base, distance) -> MPI_Aint |add| { add(load(base), load(distance)) }

    /// How far an address is from another.
    mpi_aint_diff_ pmpi_aint_diff_ = MPI_Aint_diff PMPI_Aint_diff
    (to, from) -> MPI_Aint |difference| { difference(load(to), load(from)) }

    /// How the program was started; the kernel knows its arguments.
    mpi_info_create_env_ pmpi_info_create_env_ = MPI_Info_create_env PMPI_Info_create_env
    (info, ierror) |create| {
        let mut made = MPI_INFO_NULL;
        give_code(ierror, create(0, std::ptr::null_mut(), &mut made));
        store(info, made.0 as c_int);
    }
}

/// Subroutines that do nothing, and have no function in C.
macro_rules! idle {
    ($($(#[$doc:meta])* $name:ident ($($argument:ident),*);)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: *mut c_void),*) {}
    )*};
}

idle! {
    /// Keeps compilers from holding a buffer in registers over the call, which they see nothing of.
    mpi_f_sync_reg_(_buf);

    /// The same for tools.
    pmpi_f_sync_reg_(_buf);
}

/// How a compiler describes an argument of any type and rank to C, as far as the standard of the
/// language has the order (ISO_Fortran_binding.h).
#[repr(C)]
struct Described {
    base: *mut c_void,
    /// The bytes of an element.
    size: usize,
}

/// `MPI_SIZEOF` of the module, whose interface calls it by this name: by the standard's, programs
/// without the interface would call it with arguments that are not described.
///
/// # Safety
/// As the interface demands.
#[unsafe(no_mangle)]
unsafe extern "C" fn muster_sizeof_(x: *const Described, size: *mut c_void, ierror: *mut c_void) {
    // SAFETY: the arguments are the caller's promise.
    unsafe {
        store(size, (*x).size as c_int);
        give_code(ierror, MPI_SUCCESS);
    }
}
