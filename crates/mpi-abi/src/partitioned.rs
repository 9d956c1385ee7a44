//! Partitioned messages (MPI-5.0, chapter 4).

use std::ffi::c_int;

use muster_message::Endpoint;
use muster_mpi::error::{About, Class, Error, Result};
use muster_mpi::partitioned::{Channel, Channels, Route};

use crate::abi::types::*;
use crate::array::Array;
use crate::buffer::{Elements, count, elements, tag};
use crate::choice;
use crate::communicator::communicator;
use crate::export::{both, export};
use crate::info;
use crate::line::Line;
use crate::place::Place;
use crate::pointer::{Address, ConstAddress, Out};
use crate::request::{self, Active, EMPTY, NOBODY};
use crate::world::world;

/// A channel that goes with its request.
struct Kept(Channel);

impl Drop for Kept {
    fn drop(&mut self) {
        // After the end of MPI nothing is left.
        if let Ok(world) = world() {
            let state = &mut *world.process.state();
            state.channels.remove(&mut state.endpoint, self.0);
        }
    }
}

/// Works on the channels of the process, for a moment.
fn with_state<T>(
    work: impl FnOnce(&mut Channels<Place>, &mut Endpoint<Line, Elements>) -> Result<T>,
) -> Result<T> {
    let state = &mut *world()?.process.state();
    work(&mut state.channels, &mut state.endpoint)
}

/// A number of partitions.
fn partitions(number: c_int) -> Result<usize> {
    usize::try_from(number).map_err(|_| {
        let what = format!("the number of partitions is negative: {number}");
        Error::new(Class::Arg, what).of("partitions")
    })
}

/// So many times as many elements.
fn all(
    address: ConstAddress,
    partitions: usize,
    each: MPI_Count,
    of: MPI_Datatype,
) -> Result<Elements> {
    count(each)?;
    let all = i64::try_from(partitions).ok().and_then(|partitions| partitions.checked_mul(each));
    let all = all.ok_or_else(|| {
        let what = format!("{partitions} partitions of {each} elements are too many");
        Error::new(Class::Count, what)
    })?;
    elements(address.0, all, of)
}

/// Gives a channel a handle. One to nobody has always ended.
fn insert(
    comm: MPI_Comm,
    request: Out<MPI_Request>,
    channel: Option<Channel>,
    nobody: MPI_Status,
) -> Result<()> {
    let kept = channel.map(Kept);
    let start = move || {
        let Some(Kept(channel)) = &kept else { return Ok(Active::Ended(nobody)) };
        with_state(|channels, endpoint| channels.start(endpoint, *channel))?;
        Ok(Active::Partitioned(*channel))
    };
    request.set(request::insert(comm, None, Some(Box::new(start))))
}

/// Says of partitions that they may be sent. Each comes with the argument that it is of.
fn ready(
    request: MPI_Request,
    mut which: impl Iterator<Item = (c_int, &'static str)>,
) -> Result<()> {
    let channel = match request::active(request)? {
        Some(Active::Partitioned(channel)) => channel,
        Some(Active::Ended(_)) => return Ok(()),
        Some(_) => return Err(other()),
        None => {
            let what = "the request is not active, so no partition of it can be ready (MPI_Start)";
            return Err(Error::new(Class::Request, what));
        }
    };
    let state = &mut *world()?.process.state();
    which.try_for_each(|(number, argument)| {
        let ready = |part| state.channels.ready(&mut state.endpoint, channel, part);
        part(number).and_then(ready).map_err(|it| match it.about {
            About::Argument(PARTITION) => it.of(argument),
            _ => it,
        })
    })?;
    // Who says it in a loop waits for nothing, and others wait for this.
    state.progress()?;
    Ok(())
}

fn other() -> Error {
    Error::new(Class::Request, "the request is not one of a partitioned message")
}

/// What the standard calls a partition, where there is one.
const PARTITION: &str = "partition";

/// A partition's number.
fn part(number: c_int) -> Result<usize> {
    usize::try_from(number).map_err(|_| {
        Error::new(Class::Arg, format!("there is no partition {number}")).of(PARTITION)
    })
}

both! {
    /// A send in partitions, to be started again and again.
    fn MPI_Psend_init or MPI_Psend_init_c(
        buf: ConstAddress, number: c_int, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        label: c_int, comm: MPI_Comm, hints: MPI_Info, request: Out<MPI_Request>,
    ) on comm {
        let (it, parts) = (communicator(comm)?, partitions(number)?);
        info::infos(hints)?;
        let (from, tag) = (all(buf, parts, count, datatype)?, tag(label)?);
        let Some(other) = it.peer(dest)? else { return insert(comm, request, None, EMPTY) };
        let (comm_of, offers) = (it.inner.context(), it.inner.offers());
        let route = Route { comm: comm_of, offers, source: it.inner.rank(), tag, other };
        let context = it.inner.next_channel();
        let parts = (&from, parts, count as usize);
        let channel = with_state(|channels, endpoint| {
            channels.send(endpoint, (route, context), parts)
        })?;
        insert(comm, request, Some(channel), EMPTY)
    }

    /// A receive in partitions.
    fn MPI_Precv_init or MPI_Precv_init_c(
        buf: Address, number: c_int, count: MPI_Count, datatype: MPI_Datatype, dest: c_int,
        label: c_int, comm: MPI_Comm, hints: MPI_Info, request: Out<MPI_Request>,
    ) on comm {
        let (it, parts) = (communicator(comm)?, partitions(number)?);
        info::infos(hints)?;
        let into = all(ConstAddress(buf.0), parts, count, datatype)?;
        let tag = tag(label)?;
        let Some(other) = it.peer(dest)? else { return insert(comm, request, None, NOBODY) };
        let (comm_of, offers) = (it.inner.context(), it.inner.offers());
        let route = Route { comm: comm_of, offers, source: dest.cast_unsigned(), tag, other };
        let channel = with_state(|channels, endpoint| {
            channels.receive(endpoint, route, (into, parts))
        })?;
        insert(comm, request, Some(channel), NOBODY)
    }
}

export! {
    /// Says of a partition that it may be sent.
    fn MPI_Pready(partition: c_int, request: MPI_Request) {
        ready(request, std::iter::once((partition, PARTITION)))
    }

    /// The same of all from the first to the last.
    fn MPI_Pready_range(low: c_int, high: c_int, request: MPI_Request) {
        // All behind the first are there because the range goes so far.
        let end = |number| if number == low { "partition_low" } else { "partition_high" };
        ready(request, (low..=high).map(|number| (number, end(number))))
    }

    /// The same of several.
    fn MPI_Pready_list(length: c_int, list: Array<c_int>, request: MPI_Request) {
        let list = list.slice(count(length)?)?;
        ready(request, list.iter().map(|number| (*number, "array_of_partitions")))
    }

    /// Whether a partition has come. All have of a request that is not active.
    fn MPI_Parrived(request: MPI_Request, partition: c_int, flag: Out<c_int>) {
        let channel = match request::active(request)? {
            Some(Active::Partitioned(channel)) => channel,
            Some(Active::Ended(_)) | None => return flag.set(1),
            Some(_) => return Err(other()),
        };
        let part = part(partition)?;
        let arrived = choice::whether(|state| state.channels.has_arrived(channel, part))?;
        flag.set(arrived.into())
    }
}
