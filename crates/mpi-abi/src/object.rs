//! What hangs on an object besides what it is: its name, its error handler, its attributes, its
//! hints. Communicators, windows, files, sessions and datatypes have these, kept here by handle, so
//! the functions about them know nothing of what the objects are.
//!
//! Whoever makes an object calls [`add`] or [`duplicate`], whoever frees it [`remove`]; what is not
//! here is no valid handle. The standard's own objects are here from the start.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use muster_mpi::datatype::Predefined;
use muster_mpi::error::{Class, Error, Result};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::attribute::{self, Hung};
use crate::errhandler;
use crate::export::export;
use crate::hint;
use crate::info::{self, Info};
use crate::pointer::{Out, Text, TextOut, cut};

/// The sorts of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// Communicators.
    Comm,
    /// Datatypes, which have no error handler and no hints.
    Type,
    /// Windows.
    Win,
    /// Files, which have no name and no attributes.
    File,
    /// Sessions, which have neither.
    Session,
}

impl Sort {
    /// The error class of a handle that is none of these, and their name.
    fn words(self) -> (Class, &'static str) {
        match self {
            Sort::Comm => (Class::Comm, "communicator"),
            Sort::Type => (Class::Type, "datatype"),
            Sort::Win => (Class::Win, "window"),
            Sort::File => (Class::File, "file"),
            Sort::Session => (Class::Session, "session"),
        }
    }
}

/// A handle of such an object: its number, and what it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    /// The sort that the function demands.
    pub sort: Sort,
    /// The handle.
    pub number: usize,
}

/// Handles as ids.
macro_rules! ids {
    ($($handle:ident $sort:ident)*) => {
        $(impl From<$handle> for Id {
            fn from(handle: $handle) -> Id {
                Id { sort: Sort::$sort, number: handle.0 }
            }
        })*
    };
}

ids! { MPI_Comm Comm MPI_Datatype Type MPI_Win Win MPI_File File MPI_Session Session }

/// What hangs on an object.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name.
    pub name: Vec<u8>,
    /// Its error handler.
    pub handler: MPI_Errhandler,
    /// Values under keys, in the order in which they were set.
    pub attributes: Vec<Hung>,
    /// Hints that it has taken.
    info: Info,
}

impl Object {
    /// One with a name and an error handler, and nothing else.
    fn new(name: &str, handler: MPI_Errhandler) -> Object {
        let (attributes, info) = (Vec::new(), Info::default());
        Object { name: name.into(), handler, attributes, info }
    }
}

static OBJECTS: LazyLock<Mutex<BTreeMap<Id, Object>>> = LazyLock::new(|| {
    let comm = |name: &str| Object::new(name, errhandler::initial());
    let mut objects = BTreeMap::from([
        (MPI_COMM_WORLD.into(), comm("MPI_COMM_WORLD")),
        (MPI_COMM_SELF.into(), comm("MPI_COMM_SELF")),
        // The handler of files that will be opened is that of none.
        (MPI_FILE_NULL.into(), Object::new("", MPI_ERRORS_RETURN)),
    ]);
    let datatype = |it: &Predefined| {
        let id = Id { sort: Sort::Type, number: it.handle() };
        (id, Object::new(it.name(), MPI_ERRHANDLER_NULL))
    };
    objects.extend(Predefined::ALL.iter().map(datatype));
    Mutex::new(objects)
});

/// The objects. A thread that panicked had not begun to change them.
fn objects() -> MutexGuard<'static, BTreeMap<Id, Object>> {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a new object known, with an error handler: as a rule that of the object it came of.
pub fn add(id: Id, handler: MPI_Errhandler) {
    errhandler::hold(handler);
    objects().insert(id, Object::new("", handler));
}

/// Makes a new object known that is a duplicate: it has the other's error handler, and those of its
/// attributes that their callbacks copy, but since MPI-4.0 none of its hints (7.4.2).
///
/// # Errors
/// A callback's. The new object is to be freed then.
pub fn duplicate(from: Id, to: Id) -> Result<()> {
    add(to, with(from, |it| it.handler)?);
    attribute::copy(from, to)
}

/// Forgets an object that is freed, after the callbacks of its attributes have run.
///
/// # Errors
/// A callback's. The object remains.
pub fn remove(id: Id) -> Result<()> {
    attribute::delete_all(id)?;
    let object = objects().remove(&id);
    if let Some(object) = object {
        errhandler::release(object.handler);
    }
    Ok(())
}

/// Looks at an object, or changes it. No callback may run meanwhile.
pub fn with<T>(id: Id, work: impl FnOnce(&mut Object) -> T) -> Result<T> {
    objects().get_mut(&id).map(work).ok_or_else(|| {
        let (class, word) = id.sort.words();
        Error::new(class, format!("the {word} {:#x} was freed, or is none", id.number))
    })
}

/// Sets a name, as much of it as the standard has room for.
fn set_name(id: Id, name: Text<'_>) -> Result<()> {
    let name = cut(name.bytes()?, MPI_MAX_OBJECT_NAME as usize - 1);
    with(id, |it| it.name = name.to_vec())
}

/// A name for messages, which are UTF-8.
///
/// # Errors
/// As [`with`].
pub fn name(id: Id) -> Result<String> {
    with(id, |it| String::from_utf8_lossy(&it.name).into_owned())
}

/// Tells a name.
fn get_name(id: Id, name: TextOut, length: Out<c_int>) -> Result<()> {
    let said = with(id, |it| it.name.clone())?;
    length.set(name.set(&said, MPI_MAX_OBJECT_NAME)?)
}

/// Gives it hints, of which it takes those that are known.
///
/// # Errors
/// As [`with`].
pub fn give_hints(id: Id, hints: &Info) -> Result<()> {
    with(id, |it| it.info.extend(hint::taken(id.sort, hints)))
}

/// Gives it hints.
fn set_info(id: Id, hints: MPI_Info) -> Result<()> {
    give_hints(id, &info::infos(hints)?)
}

/// What an object's hints are to the program.
///
/// # Errors
/// As [`with`].
pub fn hints(id: Id) -> Result<Info> {
    with(id, |it| hint::told(id.sort, &it.info))
}

/// Tells the hints, in an object of the caller's.
fn get_info(id: Id, place: Out<MPI_Info>) -> Result<()> {
    place.set(info::add(hints(id)?))
}

export! {
    /// Names a communicator.
    fn MPI_Comm_set_name(comm: MPI_Comm, name: Text<'_>) on comm {
        set_name(comm.into(), name)
    }

    /// A communicator's name; that of none is the standard's.
    fn MPI_Comm_get_name(comm: MPI_Comm, name: TextOut, length: Out<c_int>) on comm {
        match comm {
            MPI_COMM_NULL => length.set(name.set(b"MPI_COMM_NULL", MPI_MAX_OBJECT_NAME)?),
            comm => get_name(comm.into(), name, length),
        }
    }

    /// Names a datatype.
    fn MPI_Type_set_name(datatype: MPI_Datatype, name: Text<'_>) {
        set_name(datatype.into(), name)
    }

    /// A datatype's name; that of none is the standard's.
    fn MPI_Type_get_name(datatype: MPI_Datatype, name: TextOut, length: Out<c_int>) {
        match datatype {
            MPI_DATATYPE_NULL => length.set(name.set(b"MPI_DATATYPE_NULL", MPI_MAX_OBJECT_NAME)?),
            datatype => get_name(datatype.into(), name, length),
        }
    }

    /// Names a window.
    fn MPI_Win_set_name(win: MPI_Win, name: Text<'_>) on win {
        set_name(win.into(), name)
    }

    /// A window's name; that of none is the standard's.
    fn MPI_Win_get_name(win: MPI_Win, name: TextOut, length: Out<c_int>) on win {
        match win {
            MPI_WIN_NULL => length.set(name.set(b"MPI_WIN_NULL", MPI_MAX_OBJECT_NAME)?),
            win => get_name(win.into(), name, length),
        }
    }

    /// Gives a communicator hints.
    fn MPI_Comm_set_info(comm: MPI_Comm, hints: MPI_Info) on comm {
        set_info(comm.into(), hints)
    }

    /// A communicator's hints.
    fn MPI_Comm_get_info(comm: MPI_Comm, hints: Out<MPI_Info>) on comm {
        get_info(comm.into(), hints)
    }

    /// Gives a window hints.
    fn MPI_Win_set_info(win: MPI_Win, hints: MPI_Info) on win {
        set_info(win.into(), hints)
    }

    /// A window's hints.
    fn MPI_Win_get_info(win: MPI_Win, hints: Out<MPI_Info>) on win {
        get_info(win.into(), hints)
    }
}
