//! Collectives (MPI-5.0, chapter 6): a file for each family.
//!
//! A collective has six forms: it blocks, or is begun, or is kept to be started again and again,
//! and each with counts of two sizes. They have the same arguments, but for what a form adds; so
//! each is written once ([`collective!`]): its body looks at the arguments and says what the steps
//! of this rank are.

mod allgather;
mod alltoall;
mod broadcast;
mod gather;
mod neighbor;
mod reduce;
mod reduce_scatter;
mod scan;

use std::ffi::{c_int, c_void};

use muster_mpi::buffer::{Memory, Typed};
use muster_mpi::collective::{Operands, Plan, Short, Side};
use muster_mpi::communicator::LAST;
use muster_mpi::error::{About, Class, Error, Result};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::array::Array;
use crate::buffer::{self, Elements, committed, elements, is_in_place};
use crate::communicator::{Comm, Held, communicator};
use crate::export::Number;
use crate::place::Place;
use crate::pointer::Out;
use crate::request::{self, Active};
use crate::world::world;

/// Exports the forms of a collective:
///
/// ```text
/// fn MPI_Bcast or MPI_Bcast_c begun MPI_Ibcast or MPI_Ibcast_c
/// kept MPI_Bcast_init or MPI_Bcast_init_c (buffer: Address, ...) on comm { ... Ok(steps(...)) }
/// ```
///
/// `N` and `D` are the types of counts and displacements, as in [`both!`](crate::export::both).
macro_rules! collective {
    () => {};
    (
        $(#[$meta:meta])*
        fn $name:ident or $large:ident begun $begun:ident or $begun_large:ident
        kept $kept:ident or $kept_large:ident $arguments:tt on $scope:ident $body:block
        $($rest:tt)*
    ) => {
        $crate::collective::forms! {
            ::std::ffi::c_int, ::std::ffi::c_int; $name; $(#[$meta])*
            $name $begun $kept $arguments $scope $body
        }
        $crate::collective::forms! {
            $crate::abi::types::MPI_Count, $crate::abi::types::MPI_Aint; $name; $(#[$meta])*
            $large $begun_large $kept_large $arguments $scope $body
        }
        $crate::collective::collective! { $($rest)* }
    };
}

/// The three forms of a collective with counts of one size.
macro_rules! forms {
    (
        $count:ty, $displacement:ty; $family:ident;
        $(#[$meta:meta])* $name:ident $begun:ident $kept:ident
        ($($arg:ident: $type:ty),* $(,)?) $scope:ident $body:block
    ) => {
        #[allow(non_snake_case, unused_imports, dead_code, clippy::too_many_arguments)]
        mod $name {
            use super::*;
            type N = $count;
            type D = $displacement;
            const FAMILY: u8 = family(stringify!($family));

            /// Looks at the arguments.
            #[inline(always)]
            fn steps_of($($arg: $type),*) -> Result<Steps<impl Make + use<>>> $body

            /// The same; where there is a root, one that is refused is counted as well.
            #[inline(always)]
            fn called($($arg: $type),*) -> Result<Steps<impl Make + use<>>> {
                steps_of($($arg),*).inspect_err(|_| refused(FAMILY, $scope, false))
            }

            $crate::export::export! {
                $(#[$meta])*
                fn $name($($arg: $type),*) on $scope {
                    called($($arg),*)?.carry_out(FAMILY)
                }

                /// The same; it is begun.
                fn $begun($($arg: $type,)* request: Out<MPI_Request>) on $scope {
                    called($($arg),*)?.begin(FAMILY, request)
                }

                /// The same; it can be started again and again.
                fn $kept(
                    $($arg: $type,)* info: MPI_Info, request: Out<MPI_Request>
                ) on $scope {
                    let _ = info;
                    let steps = steps_of($($arg),*);
                    steps.inspect_err(|_| refused(FAMILY, $scope, true))?.keep(FAMILY, request)
                }
            }
        }
    };
}

use {collective, forms};

/// What fills a rank's plan.
trait Make: Send + 'static {
    /// Fills it.
    fn make(&self, plan: &mut Plan<Place>);

    /// How it is done on a board, if it can be: with these operands, or none. Whether it can must
    /// be the same for all ranks: sizes are.
    #[inline(always)]
    fn short(&mut self) -> Option<Option<Operands<'_, Place>>> {
        None
    }
}

impl<F: Fn(&mut Plan<Place>) + Send + 'static> Make for F {
    fn make(&self, plan: &mut Plan<Place>) {
        self(plan);
    }
}

/// Collectives that differ by their counts only are one family. Each has a number, so that ranks
/// which call different ones are told so.
const FAMILIES: [&str; 15] = [
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Gather",
    "MPI_Scatter",
    // It goes another way.
    "MPI_Allgatherv",
    "MPI_Allgather",
    "MPI_Alltoall",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Neighbor_allgather",
    "MPI_Neighbor_alltoall",
];

/// The number of a collective's family: `MPI_Gatherv` is of `MPI_Gather`.
const fn family(name: &str) -> u8 {
    let mut at = 0;
    while at < FAMILIES.len() {
        let (name, family) = (name.as_bytes(), FAMILIES[at].as_bytes());
        let is_more = name.len() == family.len() + 1 && matches!(name[family.len()], b'v' | b'w');
        let mut same = name.len() == family.len() || is_more;
        let mut byte = 0;
        while same && byte < family.len() {
            same = name[byte] == family[byte];
            byte += 1;
        }
        if same {
            return at as u8 + 1;
        }
        at += 1;
    }
    panic!("the collective is of no family")
}

/// Of families with a root it is told in this many values, so that ranks which name different ones
/// are told so, too; behind the families' numbers.
const ROOTS: u32 = 27;
const ROOTED: [&str; 4] = ["MPI_Bcast", "MPI_Gather", "MPI_Scatter", "MPI_Reduce"];
const FIRST_ROOTED: u8 = FAMILIES.len() as u8 + 1;

const _: () = assert!(FIRST_ROOTED as u32 + ROOTED.len() as u32 * ROOTS <= LAST as u32);

/// The number of a family with a root.
fn rooted_family(number: u8, root: u32) -> u8 {
    let is_it = |name: &&str| family(name) == number;
    match ROOTED.iter().position(is_it) {
        Some(at) => FIRST_ROOTED + (at as u32 * ROOTS + root % ROOTS) as u8,
        None => number,
    }
}

/// The arguments of a call are refused on this rank. Where there is a root, others may come through
/// without this rank and have counted the collective, so it counts here as well: the next ones are
/// right. Where all wait for all it may be called once more.
#[cold]
fn refused(number: u8, comm: MPI_Comm, is_kept: bool) {
    let has_root = ROOTED.iter().any(|name| family(name) == number);
    let (true, Ok(comm)) = (has_root, communicator(comm)) else { return };
    if is_kept {
        comm.inner.next_kept(number);
    } else {
        comm.inner.next_tag(number);
    }
}

/// The steps of a collective on a communicator.
struct Steps<F> {
    comm: Held,
    /// The root, where there is one in this group.
    root: Option<u32>,
    make: F,
}

/// Steps.
#[inline(always)]
fn steps<F>(comm: Held, make: F) -> Result<Steps<F>>
where
    F: Make + Fn(&mut Plan<Place>),
{
    Ok(Steps::new(comm, make))
}

/// Steps of a collective with a root.
fn rooted<F>(comm: Held, root: Root, make: F) -> Result<Steps<F>>
where
    F: Make + Fn(&mut Plan<Place>),
{
    let root = match root {
        Root::Rank(root) => Some(root),
        Root::Between(_) => None,
    };
    Ok(Steps { root, ..Steps::new(comm, make) })
}

impl<F: Make> Steps<F> {
    #[inline(always)]
    fn new(comm: Held, make: F) -> Steps<F> {
        Steps { comm, root: None, make }
    }

    /// What the ranks tell each other of it: the family, and the root where there is one.
    #[inline]
    fn of(&self, family: u8) -> u8 {
        self.root.map_or(family, |root| rooted_family(family, root))
    }

    fn plan(&self, family: u8) -> Plan<Place> {
        let mut plan = Plan::new(self.comm.inner.next_collective(self.of(family)));
        self.make.make(&mut plan);
        plan
    }

    /// Waits for the end.
    #[inline]
    fn carry_out(mut self, family: u8) -> Result<()> {
        let (process, told) = (&world()?.process, self.of(family));
        if let Some(operands) = self.make.short()
            && let Some(spot) = self.comm.next_spot()?
        {
            let short = Short::new(&self.comm.inner, spot, told, operands);
            return process.carry_out_short(short);
        }
        process.carry_out(self.plan(family))
    }

    /// Gives it a handle.
    fn begin(self, family: u8, request: Out<MPI_Request>) -> Result<()> {
        let about = self.comm.handle;
        let began = world()?.process.state().begin(self.plan(family));
        request.set(request::insert(about, Some(Active::Collective(began)), None))
    }

    /// Gives it a handle by which it is started again and again. Its messages' tag is fixed now:
    /// ranks may start two such collectives in different orders.
    fn keep(self, family: u8, request: Out<MPI_Request>) -> Result<()> {
        let about = self.comm.handle;
        let shape = self.comm.inner.next_kept(self.of(family));
        let start = move || {
            let mut plan = Plan::new(shape.clone());
            self.make.make(&mut plan);
            Ok(Active::Collective(world()?.process.state().begin(plan)))
        };
        request.set(request::insert(about, None, Some(Box::new(start))))
    }
}

/// The root that a call names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    /// A rank of the communicator.
    Rank(u32),
    /// One in one of two groups.
    Between(Side),
}

impl Root {
    /// # Errors
    /// [`Class::Root`].
    fn of(comm: &Comm, root: c_int) -> Result<Root> {
        let peers = comm.inner.peers().size();
        let is_between = comm.inner.remote().is_some();
        match u32::try_from(root) {
            Ok(root) if root < peers && is_between => Ok(Root::Between(Side::Opposite(root))),
            Ok(root) if root < peers => Ok(Root::Rank(root)),
            _ if is_between && root == MPI_ROOT => Ok(Root::Between(Side::Root)),
            _ if is_between && root == MPI_PROC_NULL => Ok(Root::Between(Side::Beside)),
            _ => {
                let what = format!("there is no rank {root} to be the root among {peers}");
                Err(Error::new(Class::Root, what))
            }
        }
    }

    /// Whether this rank is the root.
    fn is_here(self, comm: &Comm) -> bool {
        match self {
            Root::Rank(root) => root == comm.inner.rank(),
            Root::Between(side) => side == Side::Root,
        }
    }

    /// Whether this rank is one of those that give to the root, or get from it.
    fn is_opposite(self) -> bool {
        !matches!(self, Root::Between(Side::Root | Side::Beside))
    }
}

/// Whether there are two groups.
fn is_between(comm: &Comm) -> bool {
    comm.inner.remote().is_some()
}

/// How many ranks there are to give to, or to get from.
fn peers(comm: &Comm) -> u32 {
    comm.inner.peers().size()
}

/// That it is.
#[cold]
fn not_in_place() -> Error {
    let what = "MPI_IN_PLACE is not allowed for this buffer here";
    Error::new(Class::Buffer, what).about(About::Address(MPI_IN_PLACE))
}

/// A buffer that may not be `MPI_IN_PLACE`.
///
/// # Errors
/// As [`elements`], and [`Class::Buffer`].
#[inline]
pub fn plain(
    address: *const c_void,
    count: impl Number,
    datatype: MPI_Datatype,
) -> Result<Elements> {
    if is_in_place(address) {
        return Err(not_in_place());
    }
    elements(address, count, datatype)
}

/// A buffer that the other one may stand for.
///
/// # Errors
/// As [`plain`]; between two groups nothing can be in place.
#[inline(always)]
fn unless_in_place(
    comm: &Comm,
    address: *const c_void,
    count: impl Number,
    datatype: MPI_Datatype,
) -> Result<Option<Elements>> {
    if is_in_place(address) && !is_between(comm) {
        return Ok(None);
    }
    plain(address, count, datatype).map(Some)
}

/// What a reduction takes, and where its result goes. In place it takes what is there.
#[inline(always)]
fn operands(
    comm: &Comm,
    (from, into): (*const c_void, *const c_void),
    (count, room): (impl Number, impl Number),
    datatype: MPI_Datatype,
) -> Result<(Elements, Elements)> {
    // The same may be passed for the other buffer, where it is right.
    let of_into = |it: Error| if it.class == Class::Buffer { it.of("recvbuf") } else { it };
    let into_all = plain(into, room, datatype).map_err(of_into)?;
    match unless_in_place(comm, from, count, datatype)? {
        Some(from) => {
            apart(&from, &into_all)?;
            Ok((from, into_all))
        }
        None => Ok((plain(into, count, datatype)?, into_all)),
    }
}

/// That two buffers are not one.
///
/// # Errors
/// [`Class::Buffer`].
#[inline]
pub fn apart(from: &Elements, into: &Elements) -> Result<()> {
    // Derived datatypes may have gaps, where the other's elements are.
    let are_plain =
        || from.datatype().predefined().is_some() && into.datatype().predefined().is_some();
    if from.is(into) && from.size() > 0 && into.size() > 0 && are_plain() {
        let what = "the send buffer is the receive buffer, too: MPI_IN_PLACE is for that";
        return Err(Error::new(Class::Buffer, what).of("sendbuf"));
    }
    Ok(())
}

/// A buffer with `count` elements for each rank, one behind the other.
fn row(
    address: *const c_void,
    count: impl Number,
    datatype: MPI_Datatype,
    ranks: u32,
) -> Result<Elements> {
    let first = plain(address, count, datatype)?;
    let (count, ranks) = (first.count(), ranks as usize);
    let all = count.checked_mul(ranks).ok_or_else(|| {
        let what = format!("{count} elements for each of {ranks} ranks are too many");
        Error::new(Class::Count, what).value(count)
    })?;
    Typed::new(first.memory().clone(), all, first.datatype().clone())
}

/// The parts of such a buffer.
fn blocks(
    address: *const c_void,
    count: impl Number,
    datatype: MPI_Datatype,
    ranks: u32,
) -> Result<Vec<Elements>> {
    if ranks == 0 {
        // Who has no neighbours need not have a buffer.
        return committed(datatype).map(|_| Vec::new());
    }
    let (all, ranks) = (row(address, count, datatype, ranks)?, ranks as usize);
    let count = all.count() / ranks;
    Ok((0..ranks).map(|rank| all.part(rank * count, count)).collect())
}

/// The parts of a buffer, each of its own length and at its own place, in elements.
fn varied<N: Number, D: Number>(
    address: *const c_void,
    (counts, displacements): (Array<'_, N>, Array<'_, D>),
    datatype: MPI_Datatype,
    ranks: u32,
) -> Result<Vec<Elements>> {
    let datatype = committed(datatype)?;
    let (counts, displacements) =
        (counts.slice(ranks as usize)?, displacements.slice(ranks as usize)?);
    let parts = counts.iter().zip(displacements).enumerate().map(|(at, (count, displacement))| {
        let by = (displacement.large() as isize).checked_mul(datatype.extent());
        let part = part(address, by, *count, datatype.clone());
        part.map_err(|error| within(error, at, (&counts[0], &displacements[0])))
    });
    parts.collect()
}

/// The parts of a buffer, each of its own length and datatype and at its own place, in bytes.
fn mixed<N: Number, D: Number>(
    address: *const c_void,
    (counts, displacements): (Array<'_, N>, Array<'_, D>),
    datatypes: Array<'_, MPI_Datatype>,
    ranks: u32,
) -> Result<Vec<Elements>> {
    let ranks = ranks as usize;
    let (counts, displacements) = (counts.slice(ranks)?, displacements.slice(ranks)?);
    let datatypes = datatypes.slice(ranks)?;
    let parts = counts.iter().zip(displacements).zip(datatypes).enumerate();
    let parts = parts.map(|(at, ((count, displacement), datatype))| {
        let by = Some(displacement.large() as isize);
        // Of nothing it does not matter what it is: programs name no datatype there.
        let is_none = count.large() == 0 && *datatype == MPI_DATATYPE_NULL;
        let datatype = committed(if is_none { MPI_BYTE } else { *datatype });
        let datatype = datatype.map_err(|it| it.within(datatypes.as_ptr().addr(), at))?;
        let part = part(address, by, *count, datatype);
        part.map_err(|error| within(error, at, (&counts[0], &displacements[0])))
    });
    parts.collect()
}

/// What is wrong with the part of one rank, of the element of an array that it is about.
#[cold]
fn within<N, D>(error: Error, at: usize, (counts, displacements): (&N, &D)) -> Error {
    match error.class {
        Class::Count => error.within(std::ptr::from_ref(counts).addr(), at),
        Class::Disp => error.within(std::ptr::from_ref(displacements).addr(), at),
        _ => error,
    }
}

/// Elements so many bytes behind the address of a buffer.
fn part(
    address: *const c_void,
    by: Option<isize>,
    number: impl Number,
    datatype: muster_mpi::datatype::Datatype,
) -> Result<Elements> {
    let count = buffer::count(number)?;
    if is_in_place(address) {
        return Err(not_in_place());
    }
    // A displacement may be an address (MPI_BOTTOM).
    let is_null = address.is_null() && by == Some(0);
    if is_null && count > 0 && datatype.predefined().is_some() {
        let what = format!("the buffer with {count} elements for a rank is null");
        return Err(Error::new(Class::Buffer, what).about(About::Address(0)));
    }
    let by = by.ok_or_else(|| Error::new(Class::Disp, "a displacement is too large"))?;
    Typed::new(Place::of(address).offset(by), count, datatype)
}

/// That a scan has no second group.
fn one_group(comm: &Comm) -> Result<()> {
    match is_between(comm) {
        true => {
            let what = "ranks of an intercommunicator have no common order to scan in";
            Err(Error::new(Class::Comm, what))
        }
        false => Ok(()),
    }
}
