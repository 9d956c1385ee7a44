//! Info objects (MPI-5.0, chapter 10): keys and values, in the order in which the keys came. They
//! are kept as the bytes that they came as, in whatever encoding.

use std::ffi::{OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::sync::{Mutex, PoisonError};

use muster_mpi::error::{Class, Error, Result};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::errhandler;
use crate::export::export;
use crate::pointer::{Out, Text, TextOut, Unused, cut};
use crate::table::Table;

/// Keys and values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(Vec<(Vec<u8>, Vec<u8>)>);

static INFOS: Table<Mutex<Info>> = Table::new(Class::Info, "an info object");

impl Info {
    /// The value of a key.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<&[u8]> {
        let is_it = |(it, _): &&(Vec<u8>, Vec<u8>)| it == key.as_ref();
        self.0.iter().find(is_it).map(|(_, value)| value.as_slice())
    }

    /// Sets a value, in the place of the one that was there.
    pub fn set(&mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        let (key, value) = (key.into(), value.into());
        match self.0.iter_mut().find(|(it, _)| *it == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// Takes over another's keys and values.
    pub fn extend(&mut self, other: Info) {
        other.0.into_iter().for_each(|(key, value)| self.set(key, value));
    }

    /// Keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.0.iter().map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    /// Removes a key; false if it was not there.
    fn remove(&mut self, key: &[u8]) -> bool {
        let before = self.0.len();
        self.0.retain(|(it, _)| it != key);
        self.0.len() < before
    }

    /// What is known of how the program was started: `MPI_INFO_ENV`.
    fn of_program() -> Info {
        let mut info = Info::default();
        let mut words = std::env::args_os().map(OsString::into_vec);
        if let Some(command) = words.next() {
            info.set("command", command);
        }
        info.set("argv", words.collect::<Vec<_>>().join(&b' '));
        info.set("maxprocs", std::env::var("MUSTER_SIZE").unwrap_or_else(|_| "1".to_owned()));
        let uname = rustix::system::uname();
        info.set("host", uname.nodename().to_bytes());
        info.set("arch", uname.machine().to_bytes());
        if let Ok(handler) = std::env::var(errhandler::INITIAL) {
            info.set("mpi_initial_errhandler", handler);
        }
        if let Ok(folder) = std::env::current_dir() {
            info.set("wdir", folder.into_os_string().into_vec());
        }
        // A program has room for no more.
        for (_, value) in &mut info.0 {
            value.truncate(cut(value, MPI_MAX_INFO_VAL as usize - 1).len());
        }
        info
    }
}

/// What a handle leads to. A call that takes hints takes `MPI_INFO_NULL` for none.
pub fn infos(handle: MPI_Info) -> Result<Info> {
    match handle {
        MPI_INFO_NULL => Ok(Info::default()),
        handle => read(handle, Info::clone),
    }
}

/// A handle of a new object.
pub fn add(info: Info) -> MPI_Info {
    MPI_Info(INFOS.insert(Mutex::new(info)))
}

/// Looks at an object.
fn read<T>(handle: MPI_Info, look: impl FnOnce(&Info) -> T) -> Result<T> {
    match handle {
        MPI_INFO_ENV => Ok(look(&Info::of_program())),
        handle => change(handle, |info| look(info)),
    }
}

/// Changes an object.
///
/// # Errors
/// [`Class::Info`] where there is none.
pub fn change<T>(handle: MPI_Info, change: impl FnOnce(&mut Info) -> T) -> Result<T> {
    let info = INFOS.get(handle.0)?;
    // A thread that panicked had not begun to change it.
    let mut info = info.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(change(&mut info))
}

/// A key: neither empty nor too long.
fn key(text: Text<'_>) -> Result<&[u8]> {
    let key = text.bytes()?;
    match key.len() {
        0 => Err(Error::new(Class::InfoKey, "the key is empty")),
        length if length >= MPI_MAX_INFO_KEY as usize => {
            Err(Error::new(Class::InfoKey, format!("the key has {length} bytes")))
        }
        _ => Ok(key),
    }
}

/// A value that is not too long.
fn value(text: Text<'_>) -> Result<&[u8]> {
    let value = text.bytes()?;
    match value.len() {
        length if length >= MPI_MAX_INFO_VAL as usize => {
            Err(Error::new(Class::InfoValue, format!("the value has {length} bytes")))
        }
        _ => Ok(value),
    }
}

export! {
    /// A new object.
    fn MPI_Info_create(info: Out<MPI_Info>) {
        info.set(add(Info::default()))
    }

    /// A new object that says how the program was started.
    fn MPI_Info_create_env(argc: c_int, argv: Unused<*mut *mut c_char>, info: Out<MPI_Info>) {
        // The kernel knows the arguments better than a program that may have changed them.
        let _ = (argc, argv);
        info.set(add(Info::of_program()))
    }

    /// A copy.
    fn MPI_Info_dup(info: MPI_Info, newinfo: Out<MPI_Info>) {
        newinfo.set(add(read(info, Info::clone)?))
    }

    /// Frees an object.
    fn MPI_Info_free(info: Out<MPI_Info>) {
        INFOS.remove(info.get()?.0)?;
        info.set(MPI_INFO_NULL)
    }

    /// Sets the value of a key.
    fn MPI_Info_set(info: MPI_Info, name: Text<'_>, text: Text<'_>) {
        let (key, value) = (key(name)?, value(text)?);
        change(info, |it| it.set(key, value))
    }

    /// Removes a key.
    fn MPI_Info_delete(info: MPI_Info, name: Text<'_>) {
        let key = key(name)?;
        match change(info, |it| it.remove(key))? {
            true => Ok(()),
            false => {
                let what = format!("there is no key {:?}", String::from_utf8_lossy(key));
                Err(Error::new(Class::InfoNokey, what))
            }
        }
    }

    /// The number of keys.
    fn MPI_Info_get_nkeys(info: MPI_Info, nkeys: Out<c_int>) {
        nkeys.set(read(info, |it| it.0.len() as c_int)?)
    }

    /// A key by its place.
    fn MPI_Info_get_nthkey(info: MPI_Info, n: c_int, name: TextOut) {
        let at = usize::try_from(n).unwrap_or(usize::MAX);
        let key = read(info, |it| it.0.get(at).map(|(key, _)| key.clone()))?;
        let none = || Error::new(Class::Arg, format!("there is no key number {n}")).of("n");
        name.set(&key.ok_or_else(none)?, MPI_MAX_INFO_KEY).map(drop)
    }

    /// A value, as much as there is room for, and how much room it needs.
    fn MPI_Info_get_string(
        info: MPI_Info, name: Text<'_>, room: Out<c_int>, text: TextOut, flag: Out<c_int>,
    ) {
        let key = key(name)?;
        let found = read(info, |it| it.get(key).map(<[u8]>::to_vec))?;
        flag.set(c_int::from(found.is_some()))?;
        match found {
            Some(value) => {
                text.set(&value, room.get()?)?;
                room.set(value.len() as c_int + 1)
            }
            None => Ok(()),
        }
    }

    /// A value, by the older way: the room has a byte more for the zero.
    fn MPI_Info_get(
        info: MPI_Info, name: Text<'_>, valuelen: c_int, text: TextOut, flag: Out<c_int>,
    ) {
        let key = key(name)?;
        if valuelen < 0 {
            let what = format!("the length {valuelen} is negative");
            return Err(Error::new(Class::Arg, what).value(valuelen));
        }
        let found = read(info, |it| it.get(key).map(<[u8]>::to_vec))?;
        flag.set(c_int::from(found.is_some()))?;
        match found {
            Some(value) => text.set(&value, valuelen.saturating_add(1)).map(drop),
            None => Ok(()),
        }
    }

    /// The length of a value, by the older way.
    fn MPI_Info_get_valuelen(
        info: MPI_Info, name: Text<'_>, valuelen: Out<c_int>, flag: Out<c_int>,
    ) {
        let key = key(name)?;
        let length = read(info, |it| it.get(key).map(<[u8]>::len))?;
        flag.set(c_int::from(length.is_some()))?;
        match length {
            Some(length) => valuelen.set(length as c_int),
            None => Ok(()),
        }
    }
}
