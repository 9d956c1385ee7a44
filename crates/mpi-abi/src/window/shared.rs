//! Memory that the ranks of a node share (MPI-5.0, sections 12.2.2 and 12.2.3).
//!
//! It is one memfd for each node, which every rank there maps whole: the parts of all ranks of the
//! window on the node, in their order, and behind them these ranks' locks. The first of them makes
//! it and sends its descriptor to each of the others, in a datagram to a socket whose name that one
//! has told. The name proves nothing, so the first rank tells which file it is, and only that is
//! taken.
//!
//! *Who may die when.* What ranks tell each other are collectives, and the datagrams lie there when
//! the collective after them has ended, so nobody ever waits for a socket; who is gone is noticed
//! as in any collective. The memory has no name, and is gone with the last process that maps it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};

use muster_mpi::error::{Class, Error, Result};
use muster_mpi::window::room_of_lock;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, recvmsg,
    sendmsg_addr, socket_with,
};

use crate::communicator::{Comm, all_say, all_say_aside, halves, whole};
use crate::world::world;

/// A rank's part.
#[derive(Clone, Copy)]
pub struct Part {
    /// Where it begins, behind the memory's first byte.
    start: usize,
    /// Bytes.
    pub size: usize,
    /// The unit of displacements.
    pub unit: i64,
}

/// The memory of the ranks of a node. It is unmapped when it goes.
pub struct Shared {
    base: NonNull<u8>,
    length: usize,
    /// By rank in the window.
    parts: BTreeMap<u32, Part>,
    /// Where the locks begin, and the bytes of each.
    locks: (usize, usize),
    /// The first rank of all that has any memory, here or elsewhere.
    pub first: Option<u32>,
}

// SAFETY: the addresses are only handed on to the program.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and the program must not use a window's memory after that.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

impl Shared {
    /// A rank's part, and where it lies here, if it does.
    pub fn part(&self, rank: u32) -> Option<(Part, *mut u8)> {
        let part = *self.parts.get(&rank)?;
        Some((part, self.base.as_ptr().wrapping_add(part.start)))
    }

    /// Where a rank's lock lies here, if it does.
    pub fn lock(&self, rank: u32) -> Option<*mut u8> {
        let (start, each) = self.locks;
        let before = self.parts.range(..rank).count();
        self.parts
            .contains_key(&rank)
            .then(|| self.base.as_ptr().wrapping_add(start + before * each))
    }

    /// The ranks that have parts.
    pub fn ranks(&self) -> impl Iterator<Item = u32> {
        self.parts.keys().copied()
    }
}

/// That all ranks of a communicator are on this node.
///
/// # Errors
/// [`Class::RmaShared`].
pub fn are_here(comm: &Comm) -> Result<()> {
    let neighbours = &world()?.neighbours;
    let Some(other) = comm.inner.group().members().find(|it| !neighbours.contains(it)) else {
        return Ok(());
    };
    let what = format!(
        "rank {other} of MPI_COMM_WORLD is on another node, which shares no memory with this one \
         (MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes communicators that can)"
    );
    Err(Error::new(Class::RmaShared, what))
}

/// Memory of which each rank of a communicator has a part: of `size` bytes this one. Those of a
/// node lie next to each other, or, where the first rank says so, are aligned each, on pages or as
/// that one says; the first of them is in any case.
///
/// # Errors
/// [`Class::NoMem`], on all ranks.
pub fn allocate(
    comm: &Comm,
    (size, unit): (usize, i64),
    (is_apart, alignment): (bool, usize),
) -> Result<Shared> {
    let (rank, neighbours) = (comm.inner.rank(), &world()?.neighbours);
    let here = (0..).zip(comm.inner.group().members()).filter(|(_, it)| neighbours.contains(it));
    let here: Vec<u32> = here.map(|(rank, _)| rank).collect();
    let (number, inbox) = if rank == here[0] { (0, None) } else { inbox() };
    let own = [size as u64, unit.cast_unsigned(), number].map(halves).concat();
    let layout = vec![i32::from(is_apart), alignment.ilog2().cast_signed()];
    let said = all_say_aside(comm, &[own, layout].concat())?;
    let alignment = (1 << said[0][7]).max(rustix::param::page_size());
    let each = room_of_lock(comm.inner.size());
    let laid = parts(&said, &here, alignment).and_then(|(parts, start)| {
        let locks = (here.len() * each).next_multiple_of(rustix::param::page_size());
        Some((parts, start, start.checked_add(locks)?))
    });
    let length = laid.as_ref().map_or(usize::MAX, |(.., length)| *length);
    let file = match laid {
        _ if rank != here[0] => Err(Errno::NOMSG),
        Some(_) => memory(length),
        // The ranks of other nodes cannot know, and wait to be told.
        None => Err(Errno::OVERFLOW),
    };
    if let Ok(file) = &file {
        // Whom it does not come to says so below.
        let others = here[1..].iter().map(|rank| &said[*rank as usize]);
        others.for_each(|of| {
            let _ = send(whole(&of[4..]), file.as_fd());
        });
    }
    let told = match file.as_ref().map_err(|errno| *errno).and_then(identity) {
        Ok((device, file)) => [halves(device), halves(file), [0, 0]].concat(),
        Err(errno) if rank == here[0] => vec![0, 0, 0, 0, errno.raw_os_error(), 0],
        Err(_) => vec![0; 6],
    };
    let told = all_say_aside(comm, &told)?;
    if let Some(failed) = told.iter().find(|of| of[4] != 0) {
        return Err(lacking(length, Errno::from_raw_os_error(failed[4])));
    }
    let (parts, start, _) = laid.ok_or_else(|| lacking(length, Errno::OVERFLOW))?;
    let first = &told[here[0] as usize];
    let wanted = (whole(first), whole(&first[2..]));
    let file = file.or_else(|_| receive(inbox.as_ref(), wanted));
    let mapped = file.and_then(|file| map(file.as_fd(), length, alignment));
    let errno = mapped.as_ref().err().map_or(0, |errno| errno.raw_os_error());
    let failed = all_say(comm, &[errno])?.into_iter().flatten().find(|errno| *errno != 0);
    // It is unmapped again where another rank has none.
    let first = (0..).zip(&said).find(|(_, of)| whole(of) > 0).map(|(rank, _)| rank);
    let locks = (start, each);
    let shared = mapped.map(|base| Shared { base, length, parts, locks, first });
    match (failed, shared) {
        (None, Ok(shared)) => Ok(shared),
        (errno, _) => Err(lacking(length, Errno::from_raw_os_error(errno.unwrap_or(0)))),
    }
}

fn lacking(length: usize, errno: Errno) -> Error {
    let what = format!("{length} bytes that the ranks share are not to be had: {errno}");
    Error::new(Class::NoMem, what)
}

/// The parts of the ranks here, of what all have said, and the bytes of them all; none where those
/// are more than there are numbers for.
fn parts(
    said: &[Vec<i32>],
    here: &[u32],
    alignment: usize,
) -> Option<(BTreeMap<u32, Part>, usize)> {
    let is_apart = said[0][6] != 0;
    let mut start = 0_usize;
    let mut next = |rank: &u32| {
        let of = &said[*rank as usize];
        let (size, unit) = (whole(of) as usize, whole(&of[2..]).cast_signed());
        let part = Part { start, size, unit };
        let end = start.checked_add(size);
        start = if is_apart { end?.checked_next_multiple_of(alignment)? } else { end? };
        Some((*rank, part))
    };
    let parts = here.iter().map(&mut next).collect::<Option<BTreeMap<_, _>>>();
    // There is memory even where nobody has any.
    let length = start.max(1).checked_next_multiple_of(rustix::param::page_size());
    parts.zip(length)
}

/// New memory, which cannot change its size any more.
fn memory(length: usize) -> Result<OwnedFd, Errno> {
    let file = memfd_create("muster-window", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&file, length as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

/// What a file is told by.
fn identity(file: &OwnedFd) -> Result<(u64, u64), Errno> {
    let status = fstat(file)?;
    Ok((status.st_dev, status.st_ino))
}

/// Maps a file where it is aligned: in room for more, of which what is left over goes again.
fn map(file: BorrowedFd<'_>, length: usize, alignment: usize) -> Result<NonNull<u8>, Errno> {
    let page = rustix::param::page_size();
    let room = length.checked_add(alignment - page).ok_or(Errno::NOMEM)?;
    let (nowhere, nothing) = (ptr::null_mut(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at a place that the kernel chooses touches no other memory.
    let start = mapped(unsafe { libc::mmap(nowhere, room, libc::PROT_NONE, nothing, -1, 0) })?;
    let before = start.align_offset(alignment);
    let base = start.wrapping_add(before);
    let (rights, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
    // SAFETY: what it takes the place of is a part of the room, which nobody else knows.
    let placed =
        mapped(unsafe { libc::mmap(base.cast(), length, rights, shared, file.as_raw_fd(), 0) });
    let whole = (start, room);
    let rest = [(start, before), (base.wrapping_add(length), room - before - length)];
    let left = if placed.is_ok() { &rest[..] } else { &[whole][..] };
    for (place, size) in left.iter().filter(|(_, size)| *size > 0) {
        // SAFETY: a part of the room in which there is nothing.
        unsafe { libc::munmap(place.cast(), *size) };
    }
    placed.map(|base| NonNull::new(base).expect("no mapping is at zero"))
}

/// Where the kernel has mapped something.
fn mapped(base: *mut libc::c_void) -> Result<*mut u8, Errno> {
    if base == libc::MAP_FAILED {
        let error = std::io::Error::last_os_error();
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::NOMEM));
    }
    Ok(base.cast())
}

/// The address of an inbox.
fn address(number: u64) -> Result<SocketAddrUnix, Errno> {
    SocketAddrUnix::new_abstract_name(format!("muster-window-{number:016x}").as_bytes())
}

/// A socket that a descriptor can be sent to, and its number. Where there is none the descriptor
/// does not come, which is told then.
fn inbox() -> (u64, Option<OwnedFd>) {
    let number = RandomState::new().build_hasher().finish();
    let open = || {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
        bind(&socket, &address(number)?)?;
        Ok::<_, Errno>(socket)
    };
    (number, open().ok())
}

/// Sends a descriptor to an inbox, if it can be done without waiting.
fn send(number: u64, file: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let (mut control, files) = (SendAncillaryBuffer::new(&mut space), [file]);
    assert!(control.push(SendAncillaryMessage::ScmRights(&files)), "there is room for one");
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    sendmsg_addr(&socket, &address(number)?, &[IoSlice::new(&[0])], &mut control, flags).map(drop)
}

/// Takes the descriptor of a file out of an inbox, past whatever else lies there.
fn receive(inbox: Option<&OwnedFd>, wanted: (u64, u64)) -> Result<OwnedFd, Errno> {
    let inbox = inbox.ok_or(Errno::NOTSOCK)?;
    loop {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        recvmsg(inbox, &mut [IoSliceMut::new(&mut [0])], &mut control, flags)?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(mut files) = message
                && let Some(file) = files.find(|it| identity(it) == Ok(wanted))
            {
                return Ok(file);
            }
        }
    }
}
