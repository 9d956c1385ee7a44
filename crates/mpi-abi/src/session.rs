//! Sessions (MPI-5.0, section 11.3): two sets of processes are known, all of the job and this one.

use std::ffi::c_int;

use muster_mpi::error::{Class, Error, Result};
use muster_mpi::group::Group;

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::attached::{self, Owner};
use crate::communicator::communicator;
use crate::errhandler;
use crate::export::export;
use crate::failure;
use crate::group::give;
use crate::info::{self, Info};
use crate::object::{self, Sort};
use crate::pointer::{Out, Text, TextOut};
use crate::table::Table;
use crate::world::{self, world};

/// The sets, and the communicators that are like them.
const SETS: [(&str, MPI_Comm); 2] =
    [("mpi://WORLD", MPI_COMM_WORLD), ("mpi://SELF", MPI_COMM_SELF)];

/// Sessions; what hangs on one is in `object.rs`.
static OPEN: Table<()> = Table::new(Class::Session, "a session");

/// That a session is open.
pub fn opened(session: MPI_Session) -> Result<()> {
    OPEN.get(session.0).map(drop)
}

/// The processes of a set; none where there is no such set.
fn members(name: Text<'_>) -> Result<Option<Group>> {
    let name = name.bytes()?;
    // The standard has such names match in either case.
    let known = SETS.iter().find(|(set, _)| set.as_bytes().eq_ignore_ascii_case(name));
    known.map(|(_, comm)| Ok(communicator(*comm)?.inner.group().clone())).transpose()
}

/// That there is none of a name.
fn no_set() -> Error {
    Error::new(Class::Arg, "there is no set of processes of that name").of("pset_name")
}

/// Opens a session.
fn open(info: MPI_Info, handler: MPI_Errhandler, session: Out<MPI_Session>) -> Result<()> {
    info::infos(info)?;
    errhandler::checked(Sort::Session, handler)?;
    world::begin_session()?;
    let opened = MPI_Session(OPEN.insert(()));
    object::add(opened.into(), handler);
    session.set(opened)
}

/// Closes it, with what hangs on it.
fn close(session: MPI_Session) -> Result<()> {
    object::remove(session.into())?;
    OPEN.remove(session.0)?;
    attached::remove(Owner::Session(session.0))?;
    world::end_session()
}

export! {
    /// Opens a session.
    fn MPI_Session_init(info: MPI_Info, handler: MPI_Errhandler, session: Out<MPI_Session>) {
        errhandler::note(handler, MPI_SESSION_NULL.into(), open(info, handler, session))
    }

    /// Closes it.
    fn MPI_Session_finalize(session: Out<MPI_Session>) {
        let handle = session.get()?;
        opened(handle)?;
        let action = errhandler::action(handle.into())?;
        close(handle).inspect_err(|_| failure::note_for(handle.into(), action))?;
        session.set(MPI_SESSION_NULL)
    }

    /// What of the hints that it was opened with it is: what threads may do is not as it was asked
    /// for.
    fn MPI_Session_get_info(session: MPI_Session, used: Out<MPI_Info>) on session {
        opened(session)?;
        let mut hints = object::hints(session.into())?;
        let level = if world()?.is_watched { "SERIALIZED" } else { "MULTIPLE" };
        hints.set("thread_level", format!("MPI_THREAD_{level}"));
        used.set(info::add(hints))
    }

    /// How many sets of processes there are.
    fn MPI_Session_get_num_psets(
        session: MPI_Session, info: MPI_Info, number: Out<c_int>,
    ) on session {
        opened(session)?;
        info::infos(info)?;
        number.set(SETS.len() as c_int)
    }

    /// The name of one, as much as there is room for, and how much room it needs.
    fn MPI_Session_get_nth_pset(
        session: MPI_Session, info: MPI_Info, n: c_int, room: Out<c_int>, name: TextOut,
    ) on session {
        opened(session)?;
        info::infos(info)?;
        let known = usize::try_from(n).ok().and_then(|n| SETS.get(n));
        let what = || format!("there is no set of processes number {n}");
        let none = || Error::new(Class::Arg, what()).of("n");
        let (set, _) = known.ok_or_else(none)?;
        name.set(set.as_bytes(), room.get()?)?;
        room.set(set.len() as c_int + 1)
    }

    /// What is known of a set.
    fn MPI_Session_get_pset_info(
        session: MPI_Session, name: Text<'_>, place: Out<MPI_Info>,
    ) on session {
        opened(session)?;
        let set = members(name)?.ok_or_else(no_set)?;
        let mut info = Info::default();
        info.set("mpi_size", set.size().to_string());
        place.set(info::add(info))
    }

    /// The group of a set. Where there is none of a name it is MPI_GROUP_NULL (MPI-5.0, section
    /// 7.3.2), and an error, as in other libraries.
    fn MPI_Group_from_session_pset(
        session: MPI_Session, name: Text<'_>, group: Out<MPI_Group>,
    ) on session {
        opened(session)?;
        match members(name)? {
            Some(members) => give(group, members.of_session(session.0)),
            None => {
                group.set(MPI_GROUP_NULL)?;
                Err(no_set())
            }
        }
    }
}
