//! Windows by their handles (MPI-5.0, section 12.2): how they are made, and what they say of
//! themselves. What may be done with them and when: `epoch.rs`; how their memory is used:
//! `access.rs`.

mod access;
mod epoch;
mod shared;

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use muster_mpi::collective::Plan;
use muster_mpi::communicator::{Communicator, OWN};
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::watch::Waits;
use muster_mpi::window::{Access, Region, Shape, Window};

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::attribute;
use crate::communicator::{Held, all_say, communicator, halves, whole};
use crate::errhandler;
use crate::export::{Number, both, export};
use crate::failure;
use crate::group;
use crate::info;
use crate::memory;
use crate::object;
use crate::place::Place;
use crate::pointer::{Address, ConstAddress, Out, OutPointer};
use crate::table::Table;
use crate::world::world;
use shared::Shared;

/// A window. Its messages and epochs are in the process's state, by its context.
struct Win {
    handle: usize,
    /// Its ranks, and its own collectives.
    inner: Communicator,
    /// What the standard's attributes say, at places that stay.
    base: *mut c_void,
    size: MPI_Aint,
    unit: c_int,
    flavor: c_int,
    model: c_int,
    /// The memory of the ranks of this node, where they share it.
    shared: Option<Shared>,
    /// Whether this rank has accessed memory through it since it was last asked.
    was_used: AtomicBool,
    /// How many times something was done at once.
    accesses: AtomicU32,
}

// SAFETY: the address is only handed on to the program.
unsafe impl Send for Win {}
// SAFETY: as above.
unsafe impl Sync for Win {}

/// After how many things that were done at once a rank lets others go on.
const ROW: u32 = 64;

/// The same in the coscheduled mode, where it waits for all others then.
const ROW_COSCHEDULED: u32 = 1024;

static WINDOWS: Table<Win> = Table::new(Class::Win, "a window");

/// The window of a handle.
///
/// # Errors
/// [`Class::Win`]; [`Class::Other`] before `MPI_Init`.
fn window(win: MPI_Win) -> Result<Arc<Win>> {
    world()?;
    match win {
        MPI_WIN_NULL => Err(Error::new(Class::Win, "the window is MPI_WIN_NULL").value(win.0)),
        MPI_Win(handle) => WINDOWS.get(handle),
    }
}

/// The name of the window of a context, and its ranks by their numbers in the job.
pub fn of_context(context: u64) -> Option<(String, Vec<u32>)> {
    let win = WINDOWS.find(|win| win.context() == context)?;
    let name = object::name(MPI_Win(win.handle).into()).unwrap_or_default();
    let name = if name.is_empty() { "a window without a name".to_owned() } else { name };
    Some((name, win.inner.group().members().collect()))
}

impl Win {
    fn context(&self) -> u64 {
        self.inner.context()
    }

    /// Something was done at once, without others: who does that again and again may wait for what
    /// they do, and lets them go on now and then.
    fn done_here(&self) -> Result<()> {
        let times = self.accesses.load(Ordering::Relaxed).wrapping_add(1);
        self.accesses.store(times, Ordering::Relaxed);
        let row = if world()?.is_watched { ROW_COSCHEDULED } else { ROW };
        if times.is_multiple_of(row) { epoch::let_others() } else { Ok(()) }
    }

    /// The rank of the window that a call names; none for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// [`Class::Rank`].
    fn target(&self, rank: c_int) -> Result<Option<u32>> {
        let size = self.inner.size();
        match u32::try_from(rank) {
            Ok(rank) if rank < size => Ok(Some(rank)),
            _ if rank == MPI_PROC_NULL => Ok(None),
            _ => {
                let what = format!("there is no rank {rank} in a window of {size}");
                Err(Error::new(Class::Rank, what).value(rank))
            }
        }
    }

    /// Nobody goes on before all have come.
    fn barrier(&self) -> Result<()> {
        let mut plan = Plan::new(self.inner.next_collective(OWN));
        plan.barrier();
        world()?.process.carry_out(plan)
    }
}

/// Waits until all of what was asked for has ended. The first error is told.
fn finish(mut asked: Vec<Access>) -> Result<()> {
    let mut failed = Ok(());
    let waits = asked.first().map_or(Waits::Other, |access| Waits::Locks(access.window()));
    world()?.process.wait(waits, |state| {
        while let Some(access) = asked.last() {
            let Some(ended) = state.poll_access(*access) else { return Ok(None) };
            asked.pop();
            failed = std::mem::replace(&mut failed, Ok(())).and(ended);
        }
        Ok(Some(()))
    })?;
    failed
}

/// A communicator that a window can be of.
fn one_group(comm: MPI_Comm) -> Result<Held> {
    let comm = communicator(comm)?;
    if comm.inner.remote().is_some() {
        let what = "a window is of one group, and this is an intercommunicator";
        return Err(Error::new(Class::Comm, what));
    }
    Ok(comm)
}

/// The size of a window's memory.
fn size_of(size: MPI_Aint) -> Result<usize> {
    usize::try_from(size)
        .map_err(|_| Error::new(Class::Size, format!("the size {size} is negative")))
}

/// The unit of displacements.
fn unit_of(unit: impl Number) -> Result<i64> {
    if unit.large() <= 0 {
        return Err(Error::new(
            Class::Disp,
            format!("the displacement unit {unit} is not positive"),
        ));
    }
    Ok(unit.large())
}

/// Makes a window of all ranks of a communicator, with this rank's memory; none in a dynamic one.
fn make(
    comm: MPI_Comm,
    info: MPI_Info,
    (flavor, unit): (c_int, i64),
    region: Option<(Region<Place>, *mut c_void)>,
    shared: Option<Shared>,
) -> Result<MPI_Win> {
    let (comm, hints) = (one_group(comm)?, info::infos(info)?);
    let is_dynamic = region.is_none();
    let (region, base) = region.unzip();
    let size = region.as_ref().map_or(0, |region| region.size);
    let said = all_say(&comm, &[halves(size as u64), halves(unit.cast_unsigned())].concat())?;
    let sizes = said.iter().map(|said| whole(said)).collect();
    let units = said.iter().map(|said| whole(&said[2..]).cast_signed()).collect();
    let (context, group) = (comm.inner.next_context(0), comm.inner.group().clone());
    let inner = comm.inner.with(context, group.clone(), None);
    let inner = inner.expect("who has a communicator is of its group");
    let sizes = (!is_dynamic).then_some(sizes);
    let shape = Shape { context, group, rank: inner.rank(), sizes, units };
    let mut window = Window::new(shape, region);
    // What a digest or a log tells must not depend on where ranks are: those of a node ask each
    // other, too, unless the program shares their memory anyway.
    let is_apart = flavor != MPI_WIN_FLAVOR_SHARED && world()?.process.state().endpoint.is_told();
    match (shared.as_ref().filter(|_| !is_apart), base) {
        (Some(shared), _) => {
            let parts = shared.ranks().filter_map(|rank| Some((rank, shared.part(rank)?.1)));
            parts.for_each(|(rank, base)| window.lies_at(rank, Place::of(base.cast())));
        }
        (None, Some(base)) => window.lies_at(inner.rank(), Place::of(base)),
        (None, None) => {}
    }
    // Who takes a lock where it lies does so in an order that nobody tells.
    let is_watched = world()?.is_watched;
    if let Some(shared) = shared.as_ref().filter(|_| !is_watched) {
        let locks = shared.ranks().filter_map(|rank| Some((rank, shared.lock(rank)?)));
        locks.for_each(|(rank, lock)| window.lock_lies_at(rank, Place::of(lock.cast())));
    }
    world()?.process.state().windows.add(window);
    let base = base.unwrap_or(std::ptr::null_mut());
    let (size, unit) = (size as MPI_Aint, unit as c_int);
    let model = MPI_WIN_UNIFIED;
    let (was_used, accesses) = (AtomicBool::new(false), AtomicU32::new(0));
    let win =
        |handle| Win { handle, inner, base, size, unit, flavor, model, shared, was_used, accesses };
    let win = MPI_Win(WINDOWS.insert_with(win));
    object::add(win.into(), MPI_ERRORS_ARE_FATAL);
    object::give_hints(win.into(), &hints)?;
    Ok(win)
}

/// Makes a window of memory that ranks of a node share.
fn allocated(
    (comm, info): (MPI_Comm, MPI_Info),
    kind: (c_int, i64),
    shared: Shared,
    (place, win): (OutPointer, Out<MPI_Win>),
) -> Result<()> {
    let own = shared.part(communicator(comm)?.inner.rank());
    let (part, base) = own.expect("a rank is on its own node");
    let base = base.cast::<c_void>();
    let region = Region { start: 0, size: part.size, memory: Place::of(base) };
    let made = make(comm, info, kind, Some((region, base)), Some(shared))?;
    place.set(base)?;
    win.set(made)
}

/// One of the standard's attributes of every window: its value, or where it is.
fn of_standard(win: &Win, key: c_int) -> Option<usize> {
    Some(match key {
        MPI_WIN_BASE => win.base.addr(),
        MPI_WIN_SIZE => (&raw const win.size).addr(),
        MPI_WIN_DISP_UNIT => (&raw const win.unit).addr(),
        MPI_WIN_CREATE_FLAVOR => (&raw const win.flavor).addr(),
        MPI_WIN_MODEL => (&raw const win.model).addr(),
        _ => return None,
    })
}

/// That memory can come to a window and go, which it can in a dynamic one.
fn dynamic(win: MPI_Win) -> Result<Arc<Win>> {
    let win = window(win)?;
    if win.flavor != MPI_WIN_FLAVOR_DYNAMIC {
        let what = "the window was not made by MPI_Win_create_dynamic";
        return Err(Error::new(Class::RmaFlavor, what));
    }
    Ok(win)
}

both! {
    /// A window of memory that the program has.
    fn MPI_Win_create or MPI_Win_create_c(
        base: Address, size: MPI_Aint, disp_unit: D, info: MPI_Info, comm: MPI_Comm,
        win: Out<MPI_Win>,
    ) on comm {
        let (size, unit) = (size_of(size)?, unit_of(disp_unit)?);
        if base.0.is_null() && size > 0 {
            let what = format!("the memory of {size} bytes is at no address");
            return Err(Error::new(Class::Buffer, what).of("base"));
        }
        let region = Region { start: 0, size, memory: Place::of(base.0) };
        let made = make(comm, info, (MPI_WIN_FLAVOR_CREATE, unit), Some((region, base.0)), None)?;
        win.set(made)
    }

    /// A window of memory of the library's, which lives as long. Ranks of a node share it, so they
    /// reach each other's.
    fn MPI_Win_allocate or MPI_Win_allocate_c(
        size: MPI_Aint, disp_unit: D, info: MPI_Info, comm: MPI_Comm, baseptr: OutPointer,
        win: Out<MPI_Win>,
    ) on comm {
        let (size, unit, of) = (size_of(size)?, unit_of(disp_unit)?, one_group(comm)?);
        let alignment = memory::alignment(&info::infos(info)?);
        let shared = shared::allocate(&of, (size, unit), (true, alignment))?;
        allocated((comm, info), (MPI_WIN_FLAVOR_ALLOCATE, unit), shared, (baseptr, win))
    }

    /// A window of memory that all its ranks have at addresses of theirs.
    fn MPI_Win_allocate_shared or MPI_Win_allocate_shared_c(
        size: MPI_Aint, disp_unit: D, info: MPI_Info, comm: MPI_Comm, baseptr: OutPointer,
        win: Out<MPI_Win>,
    ) on comm {
        let (size, unit, of) = (size_of(size)?, unit_of(disp_unit)?, one_group(comm)?);
        let hints = info::infos(info)?;
        let is_apart = hints.get("alloc_shared_noncontig") == Some(b"true");
        shared::are_here(&of)?;
        let shared = shared::allocate(&of, (size, unit), (is_apart, memory::alignment(&hints)))?;
        allocated((comm, info), (MPI_WIN_FLAVOR_SHARED, unit), shared, (baseptr, win))
    }

    /// Where the memory of a rank lies here, or of the first that has any: nowhere where that is on
    /// another node. Memory that ranks do not share is only where its own rank is, and the first
    /// rank is 0 then.
    fn MPI_Win_shared_query or MPI_Win_shared_query_c(
        win: MPI_Win, rank: c_int, size: Out<MPI_Aint>, disp_unit: Out<D>, baseptr: OutPointer,
    ) on win {
        let known = window(win)?;
        if known.flavor == MPI_WIN_FLAVOR_DYNAMIC {
            let what = "the memory of a dynamic window comes and goes, so it is not shared";
            return Err(Error::new(Class::RmaFlavor, what));
        }
        let (rank, own) = (known.target(rank)?, known.inner.rank());
        let nowhere = (0, 1, std::ptr::null_mut());
        let (bytes, unit, base) = match (&known.shared, rank) {
            (Some(shared), rank) => {
                let part = shared.part(rank.or(shared.first).unwrap_or(own));
                part.map_or(nowhere, |(part, base)| {
                    (part.size as MPI_Aint, part.unit, base.cast())
                })
            }
            (None, rank) if rank.unwrap_or(0) != own => nowhere,
            (None, _) => (known.size, known.unit.into(), known.base),
        };
        size.set(bytes)?;
        disp_unit.set(unit as D)?;
        baseptr.set(base)
    }
}

export! {
    /// A window that memory comes to later; displacements are addresses.
    fn MPI_Win_create_dynamic(info: MPI_Info, comm: MPI_Comm, win: Out<MPI_Win>) on comm {
        win.set(make(comm, info, (MPI_WIN_FLAVOR_DYNAMIC, 1), None, None)?)
    }

    /// Adds memory.
    fn MPI_Win_attach(win: MPI_Win, base: Address, size: MPI_Aint) on win {
        let (win, size) = (dynamic(win)?, size_of(size)?);
        let (start, memory) = (base.0 as i64, Place::of(base.0));
        let mut state = world()?.process.state();
        state.windows.get(win.context())?.regions().attach(Region { start, size, memory })
    }

    /// Takes memory away.
    fn MPI_Win_detach(win: MPI_Win, base: ConstAddress) on win {
        let (win, start) = (dynamic(win)?, base.0 as i64);
        let mut state = world()?.process.state();
        state.windows.get(win.context())?.regions().detach(start)
    }

    /// Gives it back, when all ranks have come.
    fn MPI_Win_free(win: Out<MPI_Win>) {
        let handle = win.get()?;
        let known = window(handle)?;
        let context = known.context();
        let ended = world()?.process.state().windows.get(context)?.epochs().are_ended();
        ended.inspect_err(|_| failure::note(handle.into()))?;
        let action = errhandler::action(handle.into())?;
        let note = |_: &Error| failure::note(handle.into());
        // Also where something has failed: the others wait.
        let flushed = epoch::flush(&known, None).and_then(finish);
        known.barrier().inspect_err(note)?;
        object::remove(handle.into()).inspect_err(note)?;
        WINDOWS.remove(handle.0)?;
        world()?.process.state().windows.remove(context);
        win.set(MPI_WIN_NULL)?;
        flushed.inspect_err(|_| failure::note_for(handle.into(), action))
    }

    /// Whose it is.
    fn MPI_Win_get_group(win: MPI_Win, place: Out<MPI_Group>) on win {
        group::give(place, window(win)?.inner.group().clone())
    }

    /// A window's value, the standard's or the program's.
    fn MPI_Win_get_attr(
        win: MPI_Win, keyval: c_int, value: OutPointer, flag: Out<c_int>,
    ) on win {
        let known = window(win)?;
        attribute::of_window(win, of_standard(&known, keyval), keyval, value, flag)
    }
}
