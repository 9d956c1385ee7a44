//! Attributes: values that a program hangs on communicators, datatypes and windows under keys of
//! its own (MPI-5.0, section 7.7), with callbacks that run when the object is duplicated or freed.
//! The standard's own attributes of communicators are here as well.
//!
//! C's values are addresses. Fortran's are numbers, which are kept as what they are (section
//! 19.3.7): C gets the place where the number is, and Fortran an address of C's as a number.
//!
//! Callbacks may call MPI, so none runs while a table is locked.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicIsize, AtomicUsize, Ordering};

use muster_mpi::error::{Class, Error, Result, SUCCESS};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::codes;
use crate::export::export;
use crate::object::{self, Id, Sort};
use crate::pointer::{Address, Out, OutPointer};
use crate::table::Table;

/// What hangs under a key. A number stays where it is for as long as it hangs there, for C has its
/// address.
#[derive(Clone, Debug)]
pub enum Value {
    /// An address, of C.
    Address(usize),
    /// A number as wide as an address, of Fortran.
    Wide(Arc<AtomicIsize>),
    /// A default integer, by Fortran's older names.
    Narrow(Arc<AtomicI32>),
}

/// What numbers a call of Fortran's has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Those as wide as an address.
    Wide,
    /// Default integers.
    Narrow,
}

impl Value {
    /// A value of a call.
    fn new(of: Option<Numbers>, value: usize) -> Value {
        match of {
            None => Value::Address(value),
            Some(Numbers::Wide) => Value::Wide(Arc::new((value as isize).into())),
            Some(Numbers::Narrow) => Value::Narrow(Arc::new((value as c_int).into())),
        }
    }

    /// Another value of the same kind.
    fn like(&self, value: usize) -> Value {
        match self {
            Value::Address(_) => Value::new(None, value),
            Value::Wide(_) => Value::new(Some(Numbers::Wide), value),
            Value::Narrow(_) => Value::new(Some(Numbers::Narrow), value),
        }
    }

    /// What C has of it.
    fn address(&self) -> usize {
        match self {
            Value::Address(address) => *address,
            Value::Wide(number) => number.as_ptr() as usize,
            Value::Narrow(number) => number.as_ptr() as usize,
        }
    }

    /// What Fortran has of it.
    fn number(&self) -> isize {
        match self {
            Value::Address(address) => *address as isize,
            Value::Wide(number) => number.load(Ordering::Relaxed),
            Value::Narrow(number) => number.load(Ordering::Relaxed) as isize,
        }
    }
}

/// What a key of Fortran's has as its callbacks' state.
pub type State = Arc<dyn Any + Send + Sync>;

/// A value that hangs on an object.
#[derive(Clone, Debug)]
pub struct Hung {
    key: c_int,
    value: Value,
    /// Which it is of all that ever hung anywhere.
    number: usize,
    /// Whether the callback runs that is told that it goes.
    is_going: bool,
}

/// How many values ever hung anywhere.
static HUNG: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What numbers the call of this thread has that Fortran makes by the name of C's function.
    static NUMBERS: Cell<Option<Numbers>> = const { Cell::new(None) };

    /// The state of the key that this thread's call is to make.
    static STATE: Cell<Option<State>> = const { Cell::new(None) };
}

/// Calls a function of C's that makes a key or sets a value, for Fortran.
pub fn for_fortran<T>(numbers: Numbers, call: impl FnOnce() -> T) -> T {
    NUMBERS.set(Some(numbers));
    let done = call();
    // A tool may have kept the call to itself.
    NUMBERS.set(None);
    done
}

/// Calls a function of C's that makes a key, for Fortran: the state whose address the function gets
/// lives as long as the key.
pub fn key_for_fortran<T>(numbers: Numbers, state: State, call: impl FnOnce() -> T) -> T {
    STATE.set(Some(state));
    let done = for_fortran(numbers, call);
    // A tool that has kept the call to itself may have kept the address, too.
    std::mem::forget(STATE.take());
    done
}

/// What Fortran has of a value that C's function has told.
pub fn number(id: Id, key: c_int, told: usize) -> isize {
    let found = get(id, key).ok().flatten().filter(|value| value.address() == told);
    found.map_or(told as isize, |value| value.number())
}

/// A key: the objects that it is for, and its callbacks, by address.
#[derive(Debug)]
struct Key {
    sort: Sort,
    /// Whether its callbacks are Fortran's, which get numbers.
    is_fortran: bool,
    /// 0 copies nothing, 1 copies the value.
    copy: usize,
    /// 0 does nothing.
    delete: usize,
    /// What the callbacks are called with.
    extra: usize,
    /// Where that leads, of a key of Fortran's.
    _state: Option<State>,
    /// Values under it. A key that was freed lives until the last one is gone, and may be used.
    values: AtomicUsize,
    is_freed: AtomicBool,
}

static KEYS: Table<Key> = Table::new(Class::Keyval, "a key of an attribute");

/// A callback that copies: object, key, state, value, the place for the copy, whether there is one.
type Copy =
    unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void, *mut c_void, *mut c_int) -> c_int;

/// A callback that deletes: object, key, value, state.
type Delete = unsafe extern "C" fn(usize, c_int, *mut c_void, *mut c_void) -> c_int;

impl Key {
    /// What its callbacks get of a value.
    fn passed(&self, value: &Value) -> *mut c_void {
        let passed = if self.is_fortran { value.number() as usize } else { value.address() };
        passed as *mut c_void
    }

    /// The copy of a value for a duplicate of an object, if there is to be one.
    fn copied(&self, key: c_int, value: &Value, from: Id) -> Result<Option<Value>> {
        match self.copy {
            0 => return Ok(None),
            1 => return Ok(Some(value.like(value.number() as usize))),
            _ => {}
        }
        let (mut copy, mut flag) = (0_usize, 0);
        // SAFETY: the address is that of a callback which the program gave us for this sort of
        // objects; a handle is as wide as a number, and the places are ours.
        let code = unsafe {
            let callback: Copy = std::mem::transmute(self.copy);
            let (extra, value) = (self.extra as *mut c_void, self.passed(value));
            callback(from.number, key, extra, value, (&raw mut copy).cast(), &mut flag)
        };
        returned(code)?;
        let copied = || match self.is_fortran {
            true => value.like(copy),
            // It has passed on what it got: that is the number's place, which goes with the number.
            false if copy == value.address() => value.like(value.number() as usize),
            false => Value::Address(copy),
        };
        Ok((flag != 0).then(copied))
    }

    /// Tells the program that a value goes.
    fn deleted(&self, key: c_int, value: &Value, id: Id) -> Result<()> {
        if self.delete == 0 {
            return Ok(());
        }
        // SAFETY: as above.
        let code = unsafe {
            let callback: Delete = std::mem::transmute(self.delete);
            callback(id.number, key, self.passed(value), self.extra as *mut c_void)
        };
        returned(code)
    }
}

/// What a callback returned as a result of ours.
fn returned(code: c_int) -> Result<()> {
    if code == SUCCESS {
        return Ok(());
    }
    let class = Class::of_number(code).unwrap_or(Class::User(code));
    Err(Error::new(class, format!("a callback of an attribute returned {code}")))
}

/// Makes a key.
fn create(sort: Sort, copy: usize, delete: usize, extra: Address) -> c_int {
    let (values, is_freed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (is_fortran, extra) = (NUMBERS.take().is_some(), extra.0 as usize);
    // A tool may make a key of its own before it makes the one that it was asked for.
    let state = STATE.take();
    let is_own = |state: &State| Arc::as_ptr(state).addr() == extra;
    let (_state, other) =
        if state.as_ref().is_some_and(is_own) { (state, None) } else { (None, state) };
    STATE.set(other);
    let key = Key { sort, is_fortran, copy, delete, extra, _state, values, is_freed };
    KEYS.insert(key) as c_int
}

/// Frees a key; its values stay.
fn free(sort: Sort, place: Out<c_int>) -> Result<()> {
    let key = place.get()?;
    usable(sort, key)?.is_freed.store(true, Ordering::Relaxed);
    forget(key);
    place.set(MPI_KEYVAL_INVALID)
}

/// A key that the program may use for a sort of objects.
fn usable(sort: Sort, key: c_int) -> Result<Arc<Key>> {
    let known = KEYS.get(key as usize)?;
    if known.sort != sort {
        let what = format!("the attribute key {key:#x} is for other objects");
        return Err(Error::new(Class::Keyval, what));
    }
    Ok(known)
}

/// Forgets a key that was freed and has no values any more.
fn forget(key: c_int) {
    if let Ok(known) = KEYS.get(key as usize)
        && known.is_freed.load(Ordering::Relaxed)
        && known.values.load(Ordering::Relaxed) == 0
    {
        // Another thread may have come before.
        let _ = KEYS.remove(key as usize);
    }
}

/// Hangs a value on an object.
fn hang(id: Id, key: c_int, value: Value) -> Result<()> {
    let number = HUNG.fetch_add(1, Ordering::Relaxed);
    object::with(id, |it| it.attributes.push(Hung { key, value, number, is_going: false }))?;
    KEYS.get(key as usize)?.values.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Sets a value. One that was there before is deleted first.
fn set(id: Id, key: c_int, value: Address) -> Result<()> {
    // A callback that deletes the old value may set others.
    let value = Value::new(NUMBERS.take(), value.0 as usize);
    // A key that was freed must not go with the old value.
    let known = usable(id.sort, key)?;
    known.values.fetch_add(1, Ordering::Relaxed);
    let set = delete(id, key).and_then(|()| hang(id, key, value));
    known.values.fetch_sub(1, Ordering::Relaxed);
    forget(key);
    set
}

/// A value, if there is one.
fn get(id: Id, key: c_int) -> Result<Option<Value>> {
    usable(id.sort, key)?;
    found(id, key)
}

/// The same, of any key.
fn found(id: Id, key: c_int) -> Result<Option<Value>> {
    object::with(id, |it| it.attributes.iter().rfind(|it| it.key == key).map(|it| it.value.clone()))
}

/// Deletes a value, if there is one.
fn delete(id: Id, key: c_int) -> Result<()> {
    delete_last(id, |it| it.key == key).map(drop)
}

/// Deletes the youngest of some of an object's values; whether there was one. While the callback
/// runs the value still hangs there, for the callback may refuse; but nobody, neither the callback
/// nor another thread, has it called for the same value again.
fn delete_last(id: Id, is_it: impl Fn(&Hung) -> bool) -> Result<bool> {
    let last = object::with(id, |it| {
        let last = it.attributes.iter_mut().rfind(|it| !it.is_going && is_it(it))?;
        last.is_going = true;
        Some(last.clone())
    })?;
    let Some(Hung { key, value, number, .. }) = last else { return Ok(false) };
    let known = KEYS.get(key as usize)?;
    let deleted = known.deleted(key, &value, id);
    object::with(id, |it| match deleted {
        Ok(()) => it.attributes.retain(|it| it.number != number),
        Err(_) => {
            let refused = it.attributes.iter_mut().filter(|it| it.number == number);
            refused.for_each(|it| it.is_going = false);
        }
    })?;
    deleted?;
    known.values.fetch_sub(1, Ordering::Relaxed);
    forget(key);
    Ok(true)
}

/// Copies the values of an object to its duplicate, as the callbacks say.
pub fn copy(from: Id, to: Id) -> Result<()> {
    for Hung { key, value, .. } in object::with(from, |it| it.attributes.clone())? {
        if let Some(copy) = KEYS.get(key as usize)?.copied(key, &value, from)? {
            hang(to, key, copy)?;
        }
    }
    Ok(())
}

/// Deletes all values of an object, the youngest first, and then what callbacks have hung there
/// meanwhile. What they hang there once more goes untold: some do whenever they are called.
pub fn delete_all(id: Id) -> Result<()> {
    for _ in 0..2 {
        let so_far = HUNG.load(Ordering::Relaxed);
        while delete_last(id, |it| it.number < so_far)? {}
    }
    Ok(())
}

/// Tells a value to the program.
fn tell(value: Option<usize>, place: OutPointer, flag: Out<c_int>) -> Result<()> {
    flag.set(c_int::from(value.is_some()))?;
    value.map_or(Ok(()), |value| place.set(value as *mut c_void))
}

/// Tells a value of the program's own.
fn tell_own(id: Id, key: c_int, place: OutPointer, flag: Out<c_int>) -> Result<()> {
    tell(get(id, key)?.map(|value| value.address()), place, flag)
}

/// The standard's attributes of every communicator: the program gets an integer's address.
fn of_standard(key: c_int) -> Option<usize> {
    static TAG_UB: AtomicI32 = AtomicI32::new(c_int::MAX);
    static HOST: AtomicI32 = AtomicI32::new(MPI_PROC_NULL);
    static IO: AtomicI32 = AtomicI32::new(MPI_ANY_SOURCE);
    static WTIME_IS_GLOBAL: AtomicI32 = AtomicI32::new(0);
    static APPNUM: AtomicI32 = AtomicI32::new(0);
    static UNIVERSE_SIZE: AtomicI32 = AtomicI32::new(1);
    static LAST_USED_CODE: AtomicI32 = AtomicI32::new(0);
    let told = |place: &AtomicI32, name: &str| {
        if let Some(value) = std::env::var(name).ok().and_then(|value| value.parse().ok()) {
            place.store(value, Ordering::Relaxed);
        }
    };
    let place = match key {
        MPI_TAG_UB => &TAG_UB,
        MPI_HOST => &HOST,
        MPI_IO => &IO,
        MPI_WTIME_IS_GLOBAL => &WTIME_IS_GLOBAL,
        MPI_APPNUM => {
            told(&APPNUM, "MUSTER_APPNUM");
            &APPNUM
        }
        MPI_UNIVERSE_SIZE => {
            told(&UNIVERSE_SIZE, "MUSTER_SIZE");
            &UNIVERSE_SIZE
        }
        MPI_LASTUSEDCODE => {
            LAST_USED_CODE.store(codes::last_used(), Ordering::Relaxed);
            &LAST_USED_CODE
        }
        _ => return None,
    };
    Some(place.as_ptr() as usize)
}

/// A communicator's value, the standard's or the program's.
fn of_comm(comm: MPI_Comm, key: c_int, place: OutPointer, flag: Out<c_int>) -> Result<()> {
    object::with(comm.into(), |_| ())?;
    match of_standard(key) {
        Some(address) => tell(Some(address), place, flag),
        None => tell_own(comm.into(), key, place, flag),
    }
}

/// A window's value: the standard's, if the key is one of its own, or the program's.
pub fn of_window(
    win: MPI_Win,
    of_standard: Option<usize>,
    key: c_int,
    place: OutPointer,
    flag: Out<c_int>,
) -> Result<()> {
    match of_standard {
        Some(value) => tell(Some(value), place, flag),
        None => tell_own(win.into(), key, place, flag),
    }
}

/// A callback's address; 0 if there is none.
macro_rules! address {
    ($callback:ident) => {
        $callback.map_or(0, |it| it as usize)
    };
}

/// The functions of a sort of objects, but that which gets a value.
macro_rules! of_objects {
    (
        $object:ident: $handle:ident $(on $scope:ident)?, $sort:ident, $copy:ident, $remove:ident;
        fn $create:ident and $free:ident and $set:ident and $delete:ident();
    ) => {
        export! {
            /// Makes a key.
            fn $create(
                copy: Option<$copy>, delete: Option<$remove>, keyval: Out<c_int>, extra: Address,
            ) {
                keyval.set(create(Sort::$sort, address!(copy), address!(delete), extra))
            }

            /// Frees a key.
            fn $free(keyval: Out<c_int>) {
                free(Sort::$sort, keyval)
            }

            /// Sets a value.
            fn $set($object: $handle, keyval: c_int, value: Address) $(on $scope)? {
                set($object.into(), keyval, value)
            }

            /// Deletes a value.
            fn $delete($object: $handle, keyval: c_int) $(on $scope)? {
                usable(Sort::$sort, keyval)?;
                delete($object.into(), keyval)
            }
        }
    };
}

of_objects! {
    comm: MPI_Comm on comm, Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function;
    fn MPI_Comm_create_keyval and MPI_Comm_free_keyval and MPI_Comm_set_attr
        and MPI_Comm_delete_attr();
}

// The older names.
of_objects! {
    comm: MPI_Comm on comm, Comm, MPI_Copy_function, MPI_Delete_function;
    fn MPI_Keyval_create and MPI_Keyval_free and MPI_Attr_put and MPI_Attr_delete();
}

of_objects! {
    datatype: MPI_Datatype, Type, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function;
    fn MPI_Type_create_keyval and MPI_Type_free_keyval and MPI_Type_set_attr
        and MPI_Type_delete_attr();
}

of_objects! {
    win: MPI_Win on win, Win, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function;
    fn MPI_Win_create_keyval and MPI_Win_free_keyval and MPI_Win_set_attr
        and MPI_Win_delete_attr();
}

export! {
    /// A communicator's value.
    fn MPI_Comm_get_attr(
        comm: MPI_Comm, keyval: c_int, value: OutPointer, flag: Out<c_int>,
    ) on comm {
        of_comm(comm, keyval, value, flag)
    }

    /// A communicator's value, by the older name.
    fn MPI_Attr_get(comm: MPI_Comm, keyval: c_int, value: OutPointer, flag: Out<c_int>) on comm {
        of_comm(comm, keyval, value, flag)
    }

    /// A datatype's value.
    fn MPI_Type_get_attr(
        datatype: MPI_Datatype, keyval: c_int, value: OutPointer, flag: Out<c_int>,
    ) {
        tell_own(datatype.into(), keyval, value, flag)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_callback_that_sets_or_deletes_what_goes_is_called_once_for_each_value() {
        static GONE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
        extern "C" fn gone(number: usize, key: c_int, value: *mut c_void, _: *mut c_void) -> c_int {
            let id = Id { sort: Sort::Type, number };
            GONE.lock().expect("nobody panics").push(value.addr());
            delete(id, key).expect("it goes already");
            if value.addr() == 1 {
                set(id, key, address(2)).expect("the key is there");
            }
            SUCCESS
        }
        let id = Id { sort: Sort::Type, number: 0x7fff_0001 };
        object::add(id, MPI_ERRHANDLER_NULL);
        let key = create(Sort::Type, 0, gone as *const () as usize, address(0));
        set(id, key, address(1)).expect("there is none yet");
        delete(id, key).expect("the callback agrees");
        assert_eq!(get(id, key).expect("a key").map(|it| it.address()), Some(2));
        object::remove(id).expect("the callback agrees");
        assert_eq!(*GONE.lock().expect("nobody panics"), [1, 2]);
        assert_eq!(usable(Sort::Type, key).expect("a key").values.load(Ordering::Relaxed), 0);
    }

    fn address(number: usize) -> Address {
        Address(std::ptr::without_provenance_mut(number))
    }

    #[test]
    fn the_state_of_a_key_of_fortrans_goes_with_the_key() {
        let state: State = Arc::new(7);
        let (kept, place) = (Arc::downgrade(&state), Arc::as_ptr(&state).addr());
        let create = || {
            // A tool may make one of its own before.
            let own = create(Sort::Comm, 0, 0, address(0));
            usable(Sort::Comm, own).expect("it was made").is_freed.store(true, Ordering::Relaxed);
            forget(own);
            create(Sort::Comm, 0, 0, address(place))
        };
        let key = key_for_fortran(Numbers::Wide, state, create);
        assert!(kept.upgrade().is_some());
        usable(Sort::Comm, key).expect("it was made").is_freed.store(true, Ordering::Relaxed);
        forget(key);
        assert!(kept.upgrade().is_none());
    }
}
