//! Groups by their handles (MPI-5.0, section 7.3), and the communicators that are made of them.

use std::ffi::c_int;

use muster_mpi::communicator::Party;
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::group::{Group, Triplet};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::array::{Array, OutArray};
use crate::buffer::{count, tag};
use crate::communicator::{Comm, communicator, handle, remote};
use crate::export::export;
use crate::failure;
use crate::intercommunicator;
use crate::pointer::Out;
use crate::table::Table;
use crate::world::world;

static GROUPS: Table<Group> = Table::new(Class::Group, "a group");

/// The group of a handle.
///
/// # Errors
/// [`Class::Group`].
pub fn group(handle: MPI_Group) -> Result<Group> {
    match handle {
        MPI_GROUP_EMPTY => Ok(Group::empty()),
        MPI_GROUP_NULL => {
            let what = "the group is MPI_GROUP_NULL";
            Err(Error::new(Class::Group, what).value(handle.0))
        }
        MPI_Group(handle) => GROUPS.get(handle).map(|group| (*group).clone()),
    }
}

/// Works with a group of a handle; errors go to the handler of the session that it comes of.
fn with(handle: MPI_Group, work: impl FnOnce(&Group) -> Result<()>) -> Result<()> {
    let group = group(handle)?;
    work(&group).inspect_err(|_| match group.session() {
        0 => {}
        session => failure::note(MPI_Session(session).into()),
    })
}

/// The same with two groups: as a rule they come of the same session.
fn with_both(
    one: MPI_Group,
    other: MPI_Group,
    work: impl FnOnce(&Group, &Group) -> Result<()>,
) -> Result<()> {
    with(one, |one| with(other, |other| work(one, other)))
}

/// Gives the program a new group. The empty one is always the same.
pub fn give(place: Out<MPI_Group>, group: Group) -> Result<()> {
    let handle = if group.size() == 0 { MPI_GROUP_EMPTY } else { MPI_Group(GROUPS.insert(group)) };
    place.set(handle)
}

/// Ranges of ranks.
fn triplets(number: c_int, ranges: OutArray<'_, [c_int; 3]>) -> Result<Vec<Triplet>> {
    let ranges = ranges.slice(count(number)?)?.iter();
    Ok(ranges
        .map(|[first, last, stride]| Triplet { first: *first, last: *last, stride: *stride })
        .collect())
}

/// A group whose members are all of a communicator.
fn within(comm: &Comm, group: Group) -> Result<Group> {
    let own = comm.inner.group();
    let other = group.members().find(|member| own.rank_of(*member).is_none());
    match other {
        None => Ok(group),
        Some(member) => {
            let what = format!(
                "rank {member} of the world is in the group and not of the \
                                communicator"
            );
            Err(Error::new(Class::Group, what))
        }
    }
}

/// A communicator of a group that all members of another make; no messages are needed. Those that
/// make others at once are told apart by the rank in the world that theirs has and no other.
fn create(comm: &Comm, group: Group) -> Result<MPI_Comm> {
    let group = within(comm, group)?;
    if comm.inner.remote().is_some() {
        return intercommunicator::create(comm, group);
    }
    let part = group.members().min().unwrap_or(0);
    let context = comm.inner.next_context(part.into());
    handle(comm, comm.inner.with(context, group, None))
}

export! {
    /// The group of a communicator: that of this process.
    fn MPI_Comm_group(comm: MPI_Comm, place: Out<MPI_Group>) on comm {
        give(place, communicator(comm)?.inner.group().clone())
    }

    /// The other group of an intercommunicator.
    fn MPI_Comm_remote_group(comm: MPI_Comm, place: Out<MPI_Group>) on comm {
        give(place, remote(&*communicator(comm)?)?.clone())
    }

    /// How many there are.
    fn MPI_Group_size(handle: MPI_Group, size: Out<c_int>) {
        with(handle, |group| size.set(group.size().cast_signed()))
    }

    /// This process's rank.
    fn MPI_Group_rank(handle: MPI_Group, rank: Out<c_int>) {
        with(handle, |group| {
            let own = group.rank_of(world()?.rank);
            rank.set(own.map_or(MPI_UNDEFINED, u32::cast_signed))
        })
    }

    /// The ranks in another group.
    fn MPI_Group_translate_ranks(
        handle: MPI_Group, number: c_int, ranks: Array<c_int>, other: MPI_Group,
        translated: OutArray<c_int>,
    ) {
        with_both(handle, other, |one, other| {
            let number = count(number)?;
            let found = one.translate(ranks.slice(number)?, other)?;
            translated.slice(number)?.copy_from_slice(&found);
            Ok(())
        })
    }

    /// How alike two are.
    fn MPI_Group_compare(one: MPI_Group, other: MPI_Group, result: Out<c_int>) {
        with_both(one, other, |one, other| result.set(one.compare(other) as c_int))
    }

    /// All of both.
    fn MPI_Group_union(one: MPI_Group, other: MPI_Group, new: Out<MPI_Group>) {
        with_both(one, other, |one, other| give(new, one.union(other)))
    }

    /// Those that are in both.
    fn MPI_Group_intersection(one: MPI_Group, other: MPI_Group, new: Out<MPI_Group>) {
        with_both(one, other, |one, other| give(new, one.intersection(other)))
    }

    /// Those that are in the first only.
    fn MPI_Group_difference(one: MPI_Group, other: MPI_Group, new: Out<MPI_Group>) {
        with_both(one, other, |one, other| give(new, one.difference(other)))
    }

    /// Some of its ranks.
    fn MPI_Group_incl(handle: MPI_Group, number: c_int, ranks: Array<c_int>, new: Out<MPI_Group>) {
        with(handle, |group| give(new, group.include(ranks.slice(count(number)?)?)?))
    }

    /// All but some of its ranks.
    fn MPI_Group_excl(handle: MPI_Group, number: c_int, ranks: Array<c_int>, new: Out<MPI_Group>) {
        with(handle, |group| give(new, group.exclude(ranks.slice(count(number)?)?)?))
    }

    /// Ranges of its ranks.
    fn MPI_Group_range_incl(
        handle: MPI_Group, number: c_int, ranges: OutArray<[c_int; 3]>, new: Out<MPI_Group>,
    ) {
        with(handle, |group| give(new, group.include_ranges(&triplets(number, ranges)?)?))
    }

    /// All but ranges of its ranks.
    fn MPI_Group_range_excl(
        handle: MPI_Group, number: c_int, ranges: OutArray<[c_int; 3]>, new: Out<MPI_Group>,
    ) {
        with(handle, |group| give(new, group.exclude_ranges(&triplets(number, ranges)?)?))
    }

    /// Gives it back.
    fn MPI_Group_free(place: Out<MPI_Group>) {
        let handle = place.get()?;
        with(handle, |_| {
            if handle != MPI_GROUP_EMPTY {
                GROUPS.remove(handle.0)?;
            }
            place.set(MPI_GROUP_NULL)
        })
    }

    /// A communicator of some members, which all make.
    fn MPI_Comm_create(comm: MPI_Comm, members: MPI_Group, new: Out<MPI_Comm>) on comm {
        new.set(create(&*communicator(comm)?, group(members)?)?)
    }

    /// A communicator of some members, which only they make.
    fn MPI_Comm_create_group(
        comm: MPI_Comm, members: MPI_Group, label: c_int, new: Out<MPI_Comm>,
    ) on comm {
        let (comm, label) = (communicator(comm)?, tag(label)?);
        if comm.inner.remote().is_some() {
            let what = "some of an intracommunicator make one, and this is an intercommunicator";
            return Err(Error::new(Class::Comm, what));
        }
        let group = within(&comm, group(members)?)?;
        let context = comm.inner.next_party(&group, Party::Group, label.cast_unsigned().into());
        new.set(handle(&comm, comm.inner.with(context, group, None))?)
    }
}
