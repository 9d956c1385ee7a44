//! Buffered sends (MPI-5.0, section 3.6). A copy is made in memory of ours; what the program has
//! attached only says how much may be under way.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use muster_message::{Buffer, Ticket};
use muster_mpi::error::{Class, Error, Result};

use crate::abi::constants::{MPI_BSEND_OVERHEAD, MPI_COMM_SELF};
use crate::abi::types::*;
use crate::buffer::{Elements, count};
use crate::export::{both, export};
use crate::pointer::{Address, Out, OutPointer};
use crate::request::{self, Active};
use crate::world::{State, world};

/// What is attached, and what of it is used.
struct Attached {
    address: usize,
    size: usize,
    /// Messages that have not left, and their bytes.
    under_way: Vec<(Ticket, usize)>,
    /// Bytes of messages that are about to be sent.
    next: usize,
}

static ATTACHED: Mutex<Option<Attached>> = Mutex::new(None);

fn attached() -> MutexGuard<'static, Option<Attached>> {
    ATTACHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Attached {
    /// Forgets what has left.
    fn settle(&mut self, state: &mut State) {
        self.under_way.retain(|(ticket, _)| state.endpoint.poll(*ticket).is_none());
    }

    fn used(&self) -> usize {
        self.under_way.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// What a message needs of what is attached.
fn need(bytes: &Elements) -> usize {
    Buffer::size(bytes) + MPI_BSEND_OVERHEAD as usize
}

/// Sends a copy.
///
/// # Errors
/// [`Class::Buffer`] where there is no room for it, and those of sending it.
pub fn send(from: Elements, send: impl FnOnce(Elements) -> Result<Option<Ticket>>) -> Result<()> {
    let need = need(&from);
    reserve(need)?;
    let copy = from.scratch();
    let sent = from.copy_to(copy.clone()).and_then(|()| send(copy));
    let mut guard = attached();
    if let Some(own) = guard.as_mut() {
        own.next -= need;
        if let Ok(Some(ticket)) = &sent {
            own.under_way.push((*ticket, need));
        }
    }
    sent.map(|_| ())
}

/// Takes room for a message. The process is locked before what is attached, as everywhere.
fn reserve(need: usize) -> Result<()> {
    let mut state = world()?.process.state();
    state.progress()?;
    let mut guard = attached();
    let Some(own) = guard.as_mut() else {
        let what = "no buffer is attached for buffered sends (MPI_Buffer_attach)";
        return Err(Error::new(Class::Buffer, what));
    };
    own.settle(&mut state);
    let room = own.size.saturating_sub(own.used() + own.next);
    if need > room {
        let what = format!(
            "the attached buffer has {room} bytes left, and the message needs {need} \
             (MPI_BSEND_OVERHEAD of them for itself)"
        );
        return Err(Error::new(Class::Buffer, what));
    }
    own.next += need;
    Ok(())
}

/// Waits until all has left.
fn flush() -> Result<()> {
    let world = world()?;
    world.process.wait_for(|state| {
        let mut guard = attached();
        let Some(own) = guard.as_mut() else { return Ok(Some(())) };
        own.settle(state);
        Ok((own.under_way.is_empty() && own.next == 0).then_some(()))
    })
}

both! {
    /// Attaches a buffer.
    fn MPI_Buffer_attach or MPI_Buffer_attach_c(buffer: Address, size: N) {
        let size = count(size)?;
        let mut guard = attached();
        if guard.is_some() {
            let what = "a buffer is attached already, and only one can be";
            return Err(Error::new(Class::Buffer, what));
        }
        let address = buffer.0.addr();
        *guard = Some(Attached { address, size, under_way: Vec::new(), next: 0 });
        Ok(())
    }

    /// Detaches it, when all has left.
    fn MPI_Buffer_detach or MPI_Buffer_detach_c(address: OutPointer, size: Out<N>) {
        flush()?;
        let own = attached().take();
        let (at, bytes) = own.map_or((0, 0), |own| (own.address, own.size));
        address.set(std::ptr::with_exposed_provenance_mut::<c_void>(at))?;
        size.set(bytes as N)
    }
}

export! {
    /// Waits until all has left.
    fn MPI_Buffer_flush() {
        flush()
    }

    /// The same: what has not left by now has a copy of its own.
    fn MPI_Buffer_iflush(request: Out<MPI_Request>) {
        flush()?;
        request.set(request::insert(MPI_COMM_SELF, Some(Active::Ended(request::EMPTY)), None))
    }
}
