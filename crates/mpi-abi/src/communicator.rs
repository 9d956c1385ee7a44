//! Communicators by their handles (MPI-5.0, chapter 7).

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};

use muster_message::{Buffer, Spot};
use muster_mpi::buffer::{Memory, Typed};
use muster_mpi::collective::{Plan, Shape};
use muster_mpi::communicator::{Communicator, OWN, of_colour};
use muster_mpi::datatype::{Datatype, Predefined};
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::group::Group;
use muster_mpi::topology::Topology;
use muster_mpi::watch::Waits;

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::attached::{self, Owner};
use crate::export::export;
use crate::failure;
use crate::info;
use crate::intercommunicator;
use crate::object;
use crate::place::Place;
use crate::pointer::Out;
use crate::table::Table;
use crate::window;
use crate::world::{self, world};

/// A communicator. What hangs on it is in `object.rs`.
pub struct Comm {
    /// What it is.
    pub inner: Communicator,
    /// Its handle.
    pub handle: MPI_Comm,
    /// Who neighbours whom.
    pub topology: Option<Topology>,
    /// Where its short collectives are shown, once it is known; none where they are not.
    board: OnceLock<Option<Board>>,
}

/// A communicator's board, and the last number that it has used there.
struct Board {
    board: u32,
    number: AtomicU32,
}

static COMMS: Table<Comm> = Table::new(Class::Comm, "a communicator");

/// What ranks say to each other is of this type.
pub static INT: LazyLock<Datatype> = LazyLock::new(|| Datatype::of(Predefined::Int32).clone());

/// `MPI_COMM_WORLD` and `MPI_COMM_SELF`, from `MPI_Init` on.
static WORLD: LazyLock<Result<Comm>> = LazyLock::new(|| {
    let inner = world::comm_world(world()?);
    Ok(Comm::new(inner, MPI_COMM_WORLD, None))
});
static SELF: LazyLock<Result<Comm>> = LazyLock::new(|| {
    let inner = Communicator::of_self(world()?.rank);
    Ok(Comm::new(inner, MPI_COMM_SELF, None))
});

/// A communicator in use. The standard's own are there for good, so nothing is counted.
#[derive(Clone)]
pub enum Held {
    /// One of the standard's.
    Standard(&'static Comm),
    /// One that was made.
    Made(Arc<Comm>),
}

impl Deref for Held {
    type Target = Comm;

    #[inline]
    fn deref(&self) -> &Comm {
        match self {
            Held::Standard(comm) => comm,
            Held::Made(comm) => comm,
        }
    }
}

impl Comm {
    /// A communicator that a handle stands for.
    pub fn new(inner: Communicator, handle: MPI_Comm, topology: Option<Topology>) -> Comm {
        Comm { inner, handle, topology, board: OnceLock::new() }
    }

    /// The rank in the job of one that a call names; none for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// [`Class::Rank`].
    #[inline]
    pub fn peer(&self, rank: c_int) -> Result<Option<u32>> {
        let peers = self.inner.peers();
        match u32::try_from(rank) {
            Ok(rank) if rank < peers.size() => Ok(Some(peers.world(rank))),
            _ if rank == MPI_PROC_NULL => Ok(None),
            _ => {
                let size = peers.size();
                let what = format!("there is no rank {rank} in a communicator of {size}");
                Err(Error::new(Class::Rank, what).value(rank))
            }
        }
    }
}

impl Comm {
    /// Where its next short collective is shown; none where not all of its ranks see one board.
    /// The first time, ranks agree on a board.
    ///
    /// # Errors
    /// Those of the messages by which they do.
    #[inline]
    pub fn next_spot(&self) -> Result<Option<Spot>> {
        let board = match self.board.get() {
            Some(board) => board,
            None => {
                let agreed = self.agree()?;
                self.board.get_or_init(|| agreed)
            }
        };
        Ok(board.as_ref().map(|Board { board, number }| {
            // Collectives of a communicator are not called by two threads at once.
            let next = number.load(Ordering::Relaxed).wrapping_add(1);
            number.store(next, Ordering::Relaxed);
            Spot { board: *board, number: next }
        }))
    }

    fn agree(&self) -> Result<Option<Board>> {
        let process = &world()?.process;
        let Some(offer) = process.state().offer_boards(&self.inner) else { return Ok(None) };
        let said = all_say(self, &offer);
        let said = said.inspect_err(|_| process.state().boards.withdraw(self.inner.context()))?;
        let spot = process.state().boards.take(&self.inner, &said);
        Ok(spot.map(|Spot { board, number }| Board { board, number: AtomicU32::new(number) }))
    }
}

/// The communicator of a handle.
///
/// # Errors
/// [`Class::Comm`]; [`Class::Other`] before `MPI_Init`.
#[inline(always)]
pub fn communicator(comm: MPI_Comm) -> Result<Held> {
    world()?;
    match comm {
        MPI_COMM_WORLD => WORLD.as_ref().map(Held::Standard).map_err(Clone::clone),
        MPI_COMM_SELF => SELF.as_ref().map(Held::Standard).map_err(Clone::clone),
        MPI_COMM_NULL => {
            let what = "the communicator is MPI_COMM_NULL";
            Err(Error::new(Class::Comm, what).value(MPI_COMM_NULL.0))
        }
        MPI_Comm(handle) => COMMS.get(handle).map(Held::Made),
    }
}

/// The name of the communicator of a context, and the ranks of the job that receives there can
/// come from.
pub fn of_context(context: u64) -> Option<(String, Vec<u32>)> {
    let is_it = |comm: &Comm| comm.inner.context() == context;
    let standard = [&WORLD, &SELF].into_iter().filter_map(|comm| comm.as_ref().ok());
    let standard = standard.map(Held::Standard).find(|comm| is_it(comm));
    let Some(comm) = standard.or_else(|| COMMS.find(is_it).map(Held::Made)) else {
        return window::of_context(context);
    };
    let name = object::name(comm.handle.into()).unwrap_or_default();
    let name = if name.is_empty() { "a communicator without a name".to_owned() } else { name };
    let peers = comm.inner.peers();
    Some((name, peers.members().collect()))
}

/// Gives a new communicator a handle; one that this process is not of has the null handle. It has
/// its parent's error handler.
pub fn handle(parent: &Comm, inner: Option<Communicator>) -> Result<MPI_Comm> {
    with_topology(parent, inner, None)
}

/// The same, of one with a topology.
pub fn with_topology(
    parent: &Comm,
    inner: Option<Communicator>,
    topology: Option<Topology>,
) -> Result<MPI_Comm> {
    let Some(inner) = inner else { return Ok(MPI_COMM_NULL) };
    let handler = object::with(parent.handle.into(), |it| it.handler)?;
    let comm = insert(inner, topology)?;
    object::add(comm.into(), handler);
    Ok(comm)
}

fn insert(inner: Communicator, topology: Option<Topology>) -> Result<MPI_Comm> {
    if !contexts().insert(inner.context()) {
        let what =
            "two communicators were given the same context by chance; make this one once more";
        return Err(Error::new(Class::Intern, what));
    }
    let comm = |handle| Comm::new(inner, MPI_Comm(handle), topology);
    Ok(MPI_Comm(COMMS.insert_with(comm)))
}

/// Takes a communicator away.
fn remove(handle: MPI_Comm) -> Result<()> {
    let removed = COMMS.remove(handle.0)?;
    let context = removed.inner.context();
    attached::remove(Owner::Comm(handle.0))?;
    contexts().remove(&context);
    let mut state = world()?.process.state();
    if let Some(Some(board)) = removed.board.get() {
        state.boards.release(context, board.number.load(Ordering::Relaxed));
    }
    Ok(())
}

/// The contexts of this process's communicators.
fn contexts() -> MutexGuard<'static, BTreeSet<u64>> {
    static CONTEXTS: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
    CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Room for numbers that ranks tell each other.
pub fn room(length: usize) -> Result<Typed<Place>> {
    Typed::new(Place::scratch(4 * length), length, INT.clone())
}

/// Numbers to be told.
pub fn said(numbers: &[i32]) -> Result<Typed<Place>> {
    let mut into = room(numbers.len())?;
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    into.write(0, &bytes);
    Ok(into)
}

/// Numbers that were told.
pub fn heard(mut from: Typed<Place>) -> Vec<i32> {
    let mut bytes = vec![0; from.size()];
    from.read(0, &mut bytes);
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect()
}

/// A large number as ranks tell it.
pub fn halves(number: u64) -> [i32; 2] {
    [number as u32, (number >> 32) as u32].map(u32::cast_signed)
}

/// See [`halves`].
pub fn whole(said: &[i32]) -> u64 {
    let half = |number: i32| u64::from(number.cast_unsigned());
    half(said[0]) | half(said[1]) << 32
}

/// What all ranks say, by rank: a collective of its own.
pub fn all_say(comm: &Comm, own: &[i32]) -> Result<Vec<Vec<i32>>> {
    all_say_by(comm, comm.inner.next_collective(OWN), own)
}

/// The same, of what differs from run to run.
pub fn all_say_aside(comm: &Comm, own: &[i32]) -> Result<Vec<Vec<i32>>> {
    all_say_by(comm, comm.inner.next_collective(OWN).aside(), own)
}

/// What all ranks say one behind the other, each as many numbers as `lengths` has for it.
pub fn all_say_each(comm: &Comm, own: &[i32], lengths: &[usize]) -> Result<Vec<i32>> {
    let (from, into) = (said(own)?, room(lengths.iter().sum())?);
    let mut plan = Plan::new(comm.inner.next_collective(OWN));
    plan.allgather(Some(&from), &into.parts(lengths));
    world()?.process.carry_out(plan)?;
    Ok(heard(into))
}

fn all_say_by(comm: &Comm, shape: Shape, own: &[i32]) -> Result<Vec<Vec<i32>>> {
    let size = comm.inner.size() as usize;
    let (from, into) = (said(own)?, room(own.len() * size)?);
    let mut plan = Plan::new(shape);
    plan.allgather_row(Some(&from), &into);
    world()?.process.carry_out(plan)?;
    Ok(heard(into).chunks(own.len().max(1)).map(<[i32]>::to_vec).collect())
}

/// Splits a communicator by colours, in the order of keys.
pub fn split(comm: &Comm, colour: i32, key: i32) -> Result<MPI_Comm> {
    if colour < 0 && colour != MPI_UNDEFINED {
        let what = format!("the colour {colour} is negative");
        return Err(Error::new(Class::Arg, what).of("color"));
    }
    if comm.inner.remote().is_some() {
        return intercommunicator::split(comm, colour, key);
    }
    let said = all_say(comm, &[colour, key])?;
    let all: Vec<(i32, i32)> = said.iter().map(|pair| (pair[0], pair[1])).collect();
    let context = comm.inner.next_context(u64::from(colour.cast_unsigned()));
    if colour == MPI_UNDEFINED {
        return Ok(MPI_COMM_NULL);
    }
    let members: Vec<i32> = of_colour(&all, colour).into_iter().map(u32::cast_signed).collect();
    let group = comm.inner.group().include(&members)?;
    handle(comm, comm.inner.with(context, group, None))
}

/// The hint that names a kind of hardware, and the one kind that is known by its name (MPI-5.0,
/// section 7.4.2).
const RESOURCE: &str = "mpi_hw_resource_type";
pub const MEMORY: &str = "mpi_shared_memory";

/// Splits a communicator by nodes, the only level of hardware that there is below it; where all its
/// ranks, those of the other group as well, are of one node there is none.
fn split_hardware(comm: &Comm, node: i32, key: i32) -> Result<MPI_Comm> {
    let ranks = |comm: &Comm| comm.inner.size() + comm.inner.remote().map_or(0, Group::size);
    let part = split(comm, node, key)?;
    if part == MPI_COMM_NULL || ranks(&*communicator(part)?) < ranks(comm) {
        return Ok(part);
    }
    object::remove(part.into())?;
    remove(part)?;
    Ok(MPI_COMM_NULL)
}

/// What is done before the end: all have come.
pub fn before_end() -> Result<()> {
    let comm = communicator(MPI_COMM_WORLD)?;
    let mut plan = Plan::new(comm.inner.last_collective());
    plan.barrier();
    // Who has a session sends more behind it. It waits for ranks that say that they send nothing
    // any more, but for the word that all have come: nobody looks for a deadlock there.
    let waits = if world::is_last() { Waits::End } else { Waits::Other };
    world()?.process.carry_out_of(waits, plan)
}

export! {
    /// This process's rank.
    fn MPI_Comm_rank(comm: MPI_Comm, rank: Out<c_int>) on comm {
        rank.set(communicator(comm)?.inner.rank().cast_signed())
    }

    /// How many there are.
    fn MPI_Comm_size(comm: MPI_Comm, size: Out<c_int>) on comm {
        size.set(communicator(comm)?.inner.size().cast_signed())
    }

    /// How many the other group has.
    fn MPI_Comm_remote_size(comm: MPI_Comm, size: Out<c_int>) on comm {
        size.set(remote(&*communicator(comm)?)?.size().cast_signed())
    }

    /// Whether there is another group.
    fn MPI_Comm_test_inter(comm: MPI_Comm, flag: Out<c_int>) on comm {
        flag.set(communicator(comm)?.inner.remote().is_some().into())
    }

    /// Whether two are the same.
    fn MPI_Comm_compare(comm: MPI_Comm, other: MPI_Comm, result: Out<c_int>) on comm {
        let (one, two) = (communicator(comm)?, communicator(other)?);
        let same = match (one.inner.remote(), two.inner.remote()) {
            (None, None) => alike(one.inner.group(), two.inner.group()),
            (Some(first), Some(second)) => {
                alike(one.inner.group(), two.inner.group()).max(alike(first, second))
            }
            _ => MPI_UNEQUAL,
        };
        let is_one = comm == other;
        result.set(if is_one { MPI_IDENT } else { same })
    }

    /// A copy, whose messages are kept apart.
    fn MPI_Comm_dup(comm: MPI_Comm, copy: Out<MPI_Comm>) on comm {
        // What a copy that fails leaves there.
        copy.set(MPI_COMM_NULL)?;
        copy.set(duplicate(&*communicator(comm)?)?)
    }

    /// The same, with other hints.
    fn MPI_Comm_dup_with_info(comm: MPI_Comm, hints: MPI_Info, copy: Out<MPI_Comm>) on comm {
        copy.set(MPI_COMM_NULL)?;
        let hints = info::infos(hints)?;
        let made = duplicate(&*communicator(comm)?)?;
        object::give_hints(made.into(), &hints)?;
        copy.set(made)
    }

    /// One for each colour.
    fn MPI_Comm_split(comm: MPI_Comm, color: c_int, key: c_int, part: Out<MPI_Comm>) on comm {
        part.set(split(&*communicator(comm)?, color, key)?)
    }

    /// One for each node, which is where memory can be shared. Who asks for whatever hardware there
    /// is finds its name in the hints.
    fn MPI_Comm_split_type(
        comm: MPI_Comm,
        kind: c_int,
        key: c_int,
        info: MPI_Info,
        part: Out<MPI_Comm>,
    ) on comm {
        let hints = info::infos(info)?;
        let node = world()?.neighbours.start.cast_signed();
        let comm = communicator(comm)?;
        let is_memory = hints.get(RESOURCE) == Some(MEMORY.as_bytes());
        let colour = match kind {
            MPI_COMM_TYPE_SHARED => node,
            MPI_COMM_TYPE_HW_UNGUIDED => {
                let made = split_hardware(&comm, node, key)?;
                if made != MPI_COMM_NULL && ![MPI_INFO_NULL, MPI_INFO_ENV].contains(&info) {
                    info::change(info, |info| info.set(RESOURCE, MEMORY))?;
                }
                return part.set(made);
            }
            MPI_COMM_TYPE_HW_GUIDED | MPI_COMM_TYPE_RESOURCE_GUIDED if is_memory => node,
            MPI_COMM_TYPE_HW_GUIDED | MPI_COMM_TYPE_RESOURCE_GUIDED | MPI_UNDEFINED => {
                MPI_UNDEFINED
            }
            _ => {
                let what = format!("{kind} is no type of split that is supported");
                return Err(Error::new(Class::Arg, what).of("split_type"));
            }
        };
        part.set(split(&comm, colour, key)?)
    }

    /// Gives it back, after the callbacks of its attributes.
    fn MPI_Comm_free(comm: Out<MPI_Comm>) {
        free(comm)
    }

    /// The same, when all of its ranks have come.
    fn MPI_Comm_disconnect(comm: Out<MPI_Comm>) {
        let it = communicator(comm.get()?)?;
        let mut plan = Plan::new(it.inner.next_collective(OWN));
        plan.barrier();
        world()?.process.carry_out(plan).inspect_err(|_| failure::note(it.handle.into()))?;
        free(comm)
    }

    /// The communicator with those who started this job from within MPI: nobody did.
    fn MPI_Comm_get_parent(parent: Out<MPI_Comm>) {
        world()?;
        parent.set(MPI_COMM_NULL)
    }
}

/// Gives a communicator back.
fn free(comm: Out<MPI_Comm>) -> Result<()> {
    let handle = comm.get()?;
    if handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF {
        let what = "MPI_COMM_WORLD and MPI_COMM_SELF cannot be freed";
        return Err(Error::new(Class::Comm, what));
    }
    communicator(handle)?;
    object::remove(handle.into()).inspect_err(|_| failure::note(handle.into()))?;
    remove(handle)?;
    comm.set(MPI_COMM_NULL)
}

/// A copy, with the attributes that are copied. It needs no messages: all members count their
/// copies alike.
pub fn duplicate(comm: &Comm) -> Result<MPI_Comm> {
    let (group, remote) = (comm.inner.group().clone(), comm.inner.remote().cloned());
    let context = comm.inner.next_context(0);
    let inner = comm.inner.with(context, group, remote);
    let inner = inner.expect("who has a communicator is of its group");
    let made = insert(inner, comm.topology.clone())?;
    if let Err(error) = object::duplicate(comm.handle.into(), made.into()) {
        discard(made)?;
        return Err(error);
    }
    Ok(made)
}

/// Takes a communicator away that the program has no handle of.
///
/// # Errors
/// As [`world()`].
pub fn discard(comm: MPI_Comm) -> Result<()> {
    object::remove(comm.into())?;
    remove(comm)
}

/// Its other group.
///
/// # Errors
/// [`Class::Comm`] where there is none.
pub fn remote(comm: &Comm) -> Result<&Group> {
    comm.inner.remote().ok_or_else(|| {
        Error::new(Class::Comm, "it is no intercommunicator, so there is no other group")
    })
}

/// How alike two groups of different communicators are.
fn alike(one: &Group, other: &Group) -> c_int {
    use muster_mpi::group::Comparison;
    match one.compare(other) {
        Comparison::Identical => MPI_CONGRUENT,
        Comparison::Similar => MPI_SIMILAR,
        Comparison::Unequal => MPI_UNEQUAL,
    }
}
