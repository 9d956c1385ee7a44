//! Communicators with two groups (MPI-5.0, section 7.6).
//!
//! What the groups have to tell each other their leaders exchange, in a context of its own that
//! nobody else's messages have; then each leader tells its group. Where a leader fails it tells its
//! group that, so nobody waits for what will not come.

use std::ffi::c_int;

use muster_message::{Envelope, Mode, Wanted};
use muster_mpi::collective::Plan;
use muster_mpi::communicator::{OWN, Party, of_colour};
use muster_mpi::error::{Class, Error, Result, SUCCESS};
use muster_mpi::group::Group;

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::buffer::tag as checked_tag;
use crate::communicator::{
    Comm, all_say, communicator, discard, duplicate, halves, handle, heard, remote, room, said,
    whole,
};
use crate::errhandler;
use crate::export::export;
use crate::group::group;
use crate::info;
use crate::object::{self, Sort};
use crate::pointer::{Out, Text};
use crate::request::{self, Active, EMPTY, received, sent};
use crate::world::world;

/// Gives numbers to another process of the job, which gives as many as it says first.
fn exchange(context: u64, other: u32, own: &[i32]) -> Result<Vec<i32>> {
    let length = exchange_known(context, 0, other, &[own.len() as i32], 1)?;
    exchange_known(context, 1, other, own, length[0] as usize)
}

/// The same where it is known how many come.
fn exchange_known(
    context: u64,
    tag: i32,
    other: u32,
    own: &[i32],
    length: usize,
) -> Result<Vec<i32>> {
    let world = world()?;
    let into = room(length)?;
    let wanted = Wanted { context, source: Some(other), tag: Some(tag) };
    let envelope = Envelope { context, source: world.rank, tag };
    let mut state = world.process.state();
    let receive = state.endpoint.receive(wanted, Some(other), into.clone())?;
    let send = state.endpoint.send(other, envelope, Mode::Standard, said(own)?)?;
    drop(state);
    if let Some(send) = send {
        sent(&world.process.outcome(send)?)?;
    }
    received(&world.process.outcome(receive)?)?;
    Ok(heard(into))
}

/// What the leader has found out, which it tells its group; the others have nothing.
fn tell(comm: &Comm, leader: u32, found: Option<Result<Vec<i32>>>) -> Result<Vec<i32>> {
    let process = &world()?.process;
    let header = match &found {
        Some(Ok(list)) => said(&[SUCCESS, list.len() as i32])?,
        Some(Err(error)) => said(&[error.class.number(), 0])?,
        None => room(2)?,
    };
    let mut plan = Plan::new(comm.inner.next_collective(OWN));
    plan.broadcast(leader, &header);
    process.carry_out(plan)?;
    let (header, list) = (heard(header), found.transpose()?);
    if header[0] != SUCCESS {
        let class = Class::of_number(header[0]).unwrap_or(Class::Other);
        let what = format!("the leader of this group, rank {leader}, could not do its part");
        return Err(Error::new(class, what));
    }
    let list = list.map_or_else(|| room(header[1] as usize), |list| said(&list))?;
    let mut plan = Plan::new(comm.inner.next_collective(OWN));
    plan.broadcast(leader, &list);
    process.carry_out(plan)?;
    Ok(heard(list))
}

/// What the other group of an intercommunicator says: all members of a group say the same.
fn consult(comm: &Comm, own: &[i32]) -> Result<Vec<i32>> {
    let other = remote(comm)?.world(0);
    let context = comm.inner.next_context(0);
    let found = (comm.inner.rank() == 0).then(|| exchange(context, other, own));
    tell(comm, 0, found)
}

/// Ranks in the world as what ranks tell each other, and back.
fn listed(group: &Group) -> Vec<i32> {
    group.members().map(u32::cast_signed).collect()
}

/// The other group of one, which has told who its members are: it is of the same session.
fn group_of(list: &[i32], own: &Group) -> Result<Group> {
    let members = list.iter().map(|member| member.cast_unsigned()).collect();
    Ok(Group::of(members)?.of_session(own.session()))
}

/// That two groups have nobody in common.
fn apart(own: &Group, other: &Group) -> Result<()> {
    match own.members().find(|member| other.rank_of(*member).is_some()) {
        None => Ok(()),
        Some(member) => {
            let what = format!("rank {member} of the world is in both groups");
            Err(Error::new(Class::Comm, what))
        }
    }
}

/// What a leader finds out from the other: the new context, and who is in the other group. `peer`
/// has both leaders, and `other` is the other's rank in the world.
fn meet(comm: &Comm, peer: &Comm, other: u32, label: u64) -> Result<Vec<i32>> {
    let own = world()?.rank;
    let both = Group::of(vec![own.min(other), own.max(other)])?;
    let next = || peer.inner.next_party(&both, Party::Leaders, label);
    let (bridge, context) = (next(), next());
    let mut found = halves(context).to_vec();
    found.extend(exchange(bridge, other, &listed(comm.inner.group()))?);
    Ok(found)
}

/// A remote leader that a program names, which must be another process.
fn leader_of(peer: &Comm, leader: c_int) -> Result<u32> {
    let own = world()?.rank;
    let other = peer.peer(leader).map_err(|it| it.of("remote_leader"))?;
    other.filter(|other| *other != own).ok_or_else(|| {
        let what = format!("the remote leader {leader} is this process itself, or nobody");
        Error::new(Class::Rank, what).of("remote_leader")
    })
}

/// Makes one communicator of two, of what this one's leader has found out (`meet`), or of nothing
/// on its other ranks; `parent` has the error handler.
fn join(
    (comm, leader): (&Comm, u32),
    parent: &Comm,
    found: Option<Result<Vec<i32>>>,
) -> Result<MPI_Comm> {
    let found = tell(comm, leader, found)?;
    let own = comm.inner.group();
    let (context, other) = (whole(&found), group_of(&found[2..], own)?);
    apart(own, &other)?;
    handle(parent, comm.inner.with(context, own.clone(), Some(other)))
}

/// Splits both groups by colours; a colour that one of them lacks makes no communicator.
pub fn split(comm: &Comm, colour: i32, key: i32) -> Result<MPI_Comm> {
    let own = all_say(comm, &[colour, key])?;
    let other = consult(comm, &own.concat())?;
    let context = comm.inner.next_context(u64::from(colour.cast_unsigned()));
    if colour == MPI_UNDEFINED {
        return Ok(MPI_COMM_NULL);
    }
    let members = |all: &[(i32, i32)], group: &Group| {
        let ranks: Vec<i32> = of_colour(all, colour).into_iter().map(u32::cast_signed).collect();
        group.include(&ranks)
    };
    let own: Vec<(i32, i32)> = own.iter().map(|pair| (pair[0], pair[1])).collect();
    let other: Vec<(i32, i32)> = other.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let (own, other) = (members(&own, comm.inner.group())?, members(&other, remote(comm)?)?);
    if other.size() == 0 {
        return Ok(MPI_COMM_NULL);
    }
    handle(comm, comm.inner.with(context, own, Some(other)))
}

/// An intercommunicator of some members of both groups.
pub fn create(comm: &Comm, own: Group) -> Result<MPI_Comm> {
    let other = group_of(&consult(comm, &listed(&own))?, comm.inner.group())?;
    let context = comm.inner.next_context(0);
    if other.size() == 0 {
        return Ok(MPI_COMM_NULL);
    }
    handle(comm, comm.inner.with(context, own, Some(other)))
}

/// One group of both: the low one first, and where they say the same, that of the smallest first
/// rank in the world.
fn merge(comm: &Comm, is_high: bool) -> Result<MPI_Comm> {
    let (own, other) = (comm.inner.group(), remote(comm)?);
    let is_other_high = consult(comm, &[is_high.into()])?.first() == Some(&1);
    let context = comm.inner.next_context(0);
    let is_first = (is_high, own.world(0)) < (is_other_high, other.world(0));
    let all = if is_first { own.union(other) } else { other.union(own) };
    handle(comm, comm.inner.with(context, all.of_session(own.session()), None))
}

/// The number of a text, which takes the place of a tag (FNV-1).
fn label(text: Text<'_>) -> Result<u64> {
    let fold = |hash: u64, byte: &u8| hash.wrapping_mul(0x100_0000_01b3) ^ u64::from(*byte);
    Ok(text.bytes()?.iter().fold(0xcbf2_9ce4_8422_2325, fold))
}

/// A communicator that only its members make, out of all processes.
fn from_group(own: Group, label: u64) -> Result<MPI_Comm> {
    let all = communicator(MPI_COMM_WORLD)?;
    let context = all.inner.next_party(&own, Party::Session, label);
    handle(&all, all.inner.with(context, own, None))
}

/// One of two groups, of which only their leaders know the other one.
fn from_groups(
    (own, leader): (Group, c_int),
    (other, remote_leader): (MPI_Group, c_int),
    label: u64,
) -> Result<MPI_Comm> {
    let leader = own.checked(leader).map_err(|it| it.of("local_leader"))?;
    // The group talks in a communicator of its own, which goes again.
    let short_lived = from_group(own, label)?;
    if short_lived == MPI_COMM_NULL {
        return Ok(MPI_COMM_NULL);
    }
    let (all, comm) = (communicator(MPI_COMM_WORLD)?, communicator(short_lived)?);
    let find = || {
        let other = group(other)?;
        apart(comm.inner.group(), &other)?;
        let leader = other.checked(remote_leader).map_err(|it| it.of("remote_leader"))?;
        meet(&comm, &all, other.world(leader), label)
    };
    let found = (comm.inner.rank() == leader).then(find);
    let made = join((&comm, leader), &all, found);
    discard(short_lived)?;
    made
}

/// Gives a new communicator the error handler that the program has named for it.
fn handled(new: MPI_Comm, handler: MPI_Errhandler) -> Result<MPI_Comm> {
    if new != MPI_COMM_NULL {
        errhandler::hold(handler);
        let before = object::with(new.into(), |it| std::mem::replace(&mut it.handler, handler))?;
        errhandler::release(before);
    }
    Ok(new)
}

export! {
    /// Makes one of two communicators, whose leaders have a third.
    fn MPI_Intercomm_create(
        comm: MPI_Comm, leader: c_int, peer: MPI_Comm, remote_leader: c_int, tag: c_int,
        new: Out<MPI_Comm>,
    ) on comm {
        let comm = communicator(comm)?;
        if comm.inner.remote().is_some() {
            let what = "it is an intercommunicator, and has two groups already";
            return Err(Error::new(Class::Comm, what).of("local_comm"));
        }
        let leader = comm.inner.group().checked(leader).map_err(|it| it.of("local_leader"))?;
        let find = || {
            let (peer, label) = (communicator(peer)?, checked_tag(tag)?);
            let label = label.cast_unsigned().into();
            meet(&comm, &peer, leader_of(&peer, remote_leader)?, label)
        };
        let found = (comm.inner.rank() == leader).then(find);
        new.set(join((&comm, leader), &comm, found)?)
    }

    /// The same of two groups. Without members of either there is none, and nobody else is needed.
    fn MPI_Intercomm_create_from_groups(
        own: MPI_Group, leader: c_int, other: MPI_Group, remote_leader: c_int, text: Text,
        info: MPI_Info, handler: MPI_Errhandler, new: Out<MPI_Comm>,
    ) {
        let made = || {
            info::infos(info)?;
            errhandler::checked(Sort::Comm, handler)?;
            let (own, label) = (group(own)?, label(text)?);
            if own.size() == 0 || other == MPI_GROUP_EMPTY {
                return new.set(MPI_COMM_NULL);
            }
            let made = from_groups((own, leader), (other, remote_leader), label)?;
            new.set(handled(made, handler)?)
        };
        errhandler::note(handler, MPI_COMM_NULL.into(), made())
    }

    /// A communicator of a group; none of one without members.
    fn MPI_Comm_create_from_group(
        own: MPI_Group, text: Text, info: MPI_Info, handler: MPI_Errhandler, new: Out<MPI_Comm>,
    ) {
        let made = || {
            info::infos(info)?;
            errhandler::checked(Sort::Comm, handler)?;
            let (own, label) = (group(own)?, label(text)?);
            if own.size() == 0 {
                return new.set(MPI_COMM_NULL);
            }
            new.set(handled(from_group(own, label)?, handler)?)
        };
        errhandler::note(handler, MPI_COMM_NULL.into(), made())
    }

    /// One group of both.
    fn MPI_Intercomm_merge(comm: MPI_Comm, high: c_int, new: Out<MPI_Comm>) on comm {
        new.set(merge(&*communicator(comm)?, high != 0)?)
    }

    /// A copy, which is there at once.
    fn MPI_Comm_idup(comm: MPI_Comm, copy: Out<MPI_Comm>, request: Out<MPI_Request>) on comm {
        copy.set(duplicate(&*communicator(comm)?)?)?;
        request.set(request::insert(comm, Some(Active::Ended(EMPTY)), None))
    }

    /// The same, with other hints.
    fn MPI_Comm_idup_with_info(
        comm: MPI_Comm, hints: MPI_Info, copy: Out<MPI_Comm>, request: Out<MPI_Request>,
    ) on comm {
        let hints = info::infos(hints)?;
        let made = duplicate(&*communicator(comm)?)?;
        object::give_hints(made.into(), &hints)?;
        copy.set(made)?;
        request.set(request::insert(comm, Some(Active::Ended(EMPTY)), None))
    }
}
