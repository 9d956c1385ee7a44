//! Point-to-point messages (MPI-5.0, chapter 3).

use std::ffi::c_int;

use muster_message::{Claim, Envelope, Mode, Soon, Ticket, Wanted};
use muster_mpi::error::{Class, Result};
use muster_mpi::watch::Waits;

use crate::abi::constants::*;
use crate::abi::types::*;
use crate::attached;
use crate::buffer::{Elements, elements, tag, wanted_tag};
use crate::choice;
use crate::communicator::{Comm, Held, communicator};
use crate::export::{both, export};
use crate::failure;
use crate::pointer::{Address, ConstAddress, Out, StatusOut};
use crate::request::{self, Active, Ended, NOBODY, received, sent, status_of};
use crate::table::Table;
use crate::world::{State, world};

/// A message to a rank; none where it is nobody, or it has ended already.
fn send(
    comm: &Comm,
    dest: c_int,
    label: c_int,
    mode: Mode,
    mut bytes: Elements,
) -> Result<Option<Ticket>> {
    send_of(comm, dest, label, mode, &mut bytes)
}

/// The same, of what the caller has.
#[inline(always)]
fn send_of(
    comm: &Comm,
    dest: c_int,
    label: c_int,
    mode: Mode,
    bytes: &mut Elements,
) -> Result<Option<Ticket>> {
    let tag = tag(label)?;
    let Some(to) = comm.peer(dest)? else { return Ok(None) };
    let (context, source) = (comm.inner.context(), comm.inner.rank());
    let mut state = world()?.process.state();
    Ok(state.endpoint.send_of(to, Envelope { context, source, tag }, mode, bytes)?)
}

/// Waits until a message has been sent.
#[inline]
fn finish_send(ticket: Option<Ticket>) -> Result<()> {
    match ticket {
        Some(ticket) => Ok(sent(&world()?.process.outcome(ticket)?).map(|_| ())?),
        None => Ok(()),
    }
}

/// What a receive takes, and the only rank of the job that it can come from; none from nobody.
#[inline(always)]
fn wanted(comm: &Comm, source: c_int, label: c_int) -> Result<Option<(Wanted, Option<u32>)>> {
    let (context, tag) = (comm.inner.context(), wanted_tag(label)?);
    if source == MPI_ANY_SOURCE {
        return Ok(Some((Wanted { context, source: None, tag }, None)));
    }
    let from = comm.peer(source)?;
    let source = u32::try_from(source).ok();
    Ok(from.map(|from| (Wanted { context, source, tag }, Some(from))))
}

/// A receive; none from nobody.
#[inline]
fn receive(comm: &Comm, source: c_int, label: c_int, into: Elements) -> Result<Option<Ticket>> {
    let Some((wanted, from)) = wanted(comm, source, label)? else { return Ok(None) };
    Ok(Some(world()?.process.state().endpoint.receive(wanted, from, into)?))
}

/// Begins a receive, which may have ended then.
#[inline(always)]
fn begin_receive(comm: &Comm, source: c_int, label: c_int, into: &mut Elements) -> Result<Active> {
    let Some((wanted, from)) = wanted(comm, source, label)? else {
        return Ok(Active::Ended(NOBODY));
    };
    let soon = world()?.process.state().endpoint.receive_later(wanted, from, into)?;
    Ok(match soon {
        Soon::Ended(of, size) => Active::Ended(request::status_of_message(of, size)),
        Soon::Begun(ticket) => Active::Receive(ticket),
    })
}

/// Receives, without letting the process go in between.
#[inline]
fn receive_now(comm: &Comm, source: c_int, label: c_int, into: &mut Elements) -> Ended {
    let Some((wanted, from)) = wanted(comm, source, label)? else { return Ok(NOBODY) };
    let (mut is_new, mut posted) = (true, None);
    world()?.process.wait(Waits::Messages, |state| {
        if std::mem::take(&mut is_new) {
            match state.endpoint.receive_soon(wanted, from, into)? {
                Soon::Ended(of, size) => return Ok(Some(Ok(request::status_of_message(of, size)))),
                Soon::Begun(ticket) => posted = Some(ticket),
            }
        }
        Ok(posted.and_then(|ticket| state.outcome(ticket)).map(|outcome| received(&outcome)))
    })?
}

/// Waits until a message has been received.
#[inline]
fn finish_receive(ticket: Option<Ticket>) -> Ended {
    match ticket {
        Some(ticket) => received(&world()?.process.outcome(ticket)?),
        None => Ok(NOBODY),
    }
}

/// A send that has begun, as what a request stands for.
fn sending(ticket: Option<Ticket>) -> Active {
    ticket.map_or(Active::Ended(request::EMPTY), Active::Send)
}

/// Gives a send that has begun a handle.
#[inline]
fn began_sending(comm: MPI_Comm, request: Out<MPI_Request>, ticket: Option<Ticket>) -> Result<()> {
    match ticket {
        None => request.set(request::SENT),
        Some(ticket) => began(comm, request, Active::Send(ticket)),
    }
}

/// A receive that has begun.
fn receiving(ticket: Option<Ticket>) -> Active {
    ticket.map_or(Active::Ended(NOBODY), Active::Receive)
}

/// Gives an operation that has begun a handle.
#[inline(always)]
fn began(comm: MPI_Comm, request: Out<MPI_Request>, active: Active) -> Result<()> {
    request.set(request::insert(comm, Some(active), None))
}

/// Gives an operation a handle that can be started again and again.
fn to_be_started(
    comm: MPI_Comm,
    request: Out<MPI_Request>,
    start: impl Fn() -> Result<Active> + Send + 'static,
) -> Result<()> {
    request.set(request::insert(comm, None, Some(Box::new(start))))
}

/// A send that can be started again and again. What is wrong with it is told now.
fn send_again(
    comm: Held,
    dest: c_int,
    label: c_int,
    mode: Mode,
    bytes: Elements,
    request: Out<MPI_Request>,
) -> Result<()> {
    tag(label)?;
    comm.peer(dest)?;
    to_be_started(comm.handle, request, move || {
        Ok(sending(send(&comm, dest, label, mode, bytes.clone())?))
    })
}

/// Sends a copy, which needs room in a buffer that was attached; none where nobody gets it.
fn send_copy(comm: &Comm, dest: c_int, label: c_int, bytes: Elements) -> Result<()> {
    tag(label)?;
    if comm.peer(dest)?.is_none() {
        return Ok(());
    }
    attached::send(comm, bytes, |copy| send(comm, dest, label, Mode::Standard, copy))
}

/// Takes back the receive of an exchange whose send has failed.
fn take_back(received: Option<Ticket>) -> Result<()> {
    if let Some(ticket) = received {
        let endpoint = &mut world()?.process.state().endpoint;
        endpoint.abandon(ticket);
    }
    Ok(())
}

/// Sends and receives. Where it cannot send, nothing is received.
fn exchange_now(
    comm: &Comm,
    (dest, sendtag, bytes): (c_int, c_int, Elements),
    (source, recvtag, into): (c_int, c_int, Elements),
) -> Ended {
    comm.peer(dest)?;
    tag(sendtag)?;
    let received = receive(comm, source, recvtag, into)?;
    let sent = send(comm, dest, sendtag, Mode::Standard, bytes).and_then(finish_send);
    if sent.is_err() {
        take_back(received)?;
    }
    sent?;
    finish_receive(received)
}

/// Begins to send and to receive: rank, tag and elements of each.
fn exchange(
    comm: &Comm,
    (dest, sendtag, bytes): (c_int, c_int, Elements),
    (source, recvtag, into): (c_int, c_int, Elements),
    request: Out<MPI_Request>,
) -> Result<()> {
    comm.peer(dest)?;
    tag(sendtag)?;
    let received = receive(comm, source, recvtag, into)?;
    let sent = send(comm, dest, sendtag, Mode::Standard, bytes);
    if sent.is_err() {
        take_back(received)?;
    }
    began(comm.handle, request, Active::Exchange(sent?, received))
}

both! {
    /// Sends; the buffer may be used again when it returns.
    fn MPI_Send or MPI_Send_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
    ) on comm {
        let mut bytes = elements(buf.0, count, datatype)?;
        finish_send(send_of(&*communicator(comm)?, dest, tag, Mode::Standard, &mut bytes)?)
    }

    /// Sends, and returns when it is received.
    fn MPI_Ssend or MPI_Ssend_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
    ) on comm {
        let bytes = elements(buf.0, count, datatype)?;
        finish_send(send(&*communicator(comm)?, dest, tag, Mode::Synchronous, bytes)?)
    }

    /// Sends where a receive is posted: nothing is gained by knowing that.
    fn MPI_Rsend or MPI_Rsend_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
    ) on comm {
        let bytes = elements(buf.0, count, datatype)?;
        finish_send(send(&*communicator(comm)?, dest, tag, Mode::Standard, bytes)?)
    }

    /// Sends a copy, which needs room in the buffer that was attached.
    fn MPI_Bsend or MPI_Bsend_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
    ) on comm {
        let (comm, bytes) = (communicator(comm)?, elements(buf.0, count, datatype)?);
        send_copy(&comm, dest, tag, bytes)?;
        Ok(())
    }

    /// Receives.
    fn MPI_Recv or MPI_Recv_c(
        buf: Address, count: N, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm,
        status: StatusOut,
    ) on comm {
        let mut into = elements(buf.0, count, datatype)?;
        status.set_ended(receive_now(&*communicator(comm)?, source, tag, &mut into))
    }

    /// Sends and receives at once.
    fn MPI_Sendrecv or MPI_Sendrecv_c(
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
        recvbuf: Address, recvcount: N, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
        comm: MPI_Comm, status: StatusOut,
    ) on comm {
        let comm = communicator(comm)?;
        let (bytes, into) =
            (elements(sendbuf.0, sendcount, sendtype)?, elements(recvbuf.0, recvcount, recvtype)?);
        status.set_ended(exchange_now(&comm, (dest, sendtag, bytes), (source, recvtag, into)))
    }

    /// Sends, and receives into the same buffer.
    fn MPI_Sendrecv_replace or MPI_Sendrecv_replace_c(
        buf: Address, count: N, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int,
        recvtag: c_int, comm: MPI_Comm, status: StatusOut,
    ) on comm {
        let comm = communicator(comm)?;
        let into = elements(buf.0, count, datatype)?;
        let bytes = into.packed();
        into.clone().copy_to(bytes.clone())?;
        status.set_ended(exchange_now(&comm, (dest, sendtag, bytes), (source, recvtag, into)))
    }

    /// Begins to send and to receive.
    fn MPI_Isendrecv or MPI_Isendrecv_c(
        sendbuf: ConstAddress, sendcount: N, sendtype: MPI_Datatype, dest: c_int, sendtag: c_int,
        recvbuf: Address, recvcount: N, recvtype: MPI_Datatype, source: c_int, recvtag: c_int,
        comm: MPI_Comm, request: Out<MPI_Request>,
    ) on comm {
        let bytes = elements(sendbuf.0, sendcount, sendtype)?;
        let into = elements(recvbuf.0, recvcount, recvtype)?;
        exchange(&*communicator(comm)?, (dest, sendtag, bytes), (source, recvtag, into), request)
    }

    /// Begins to send, and to receive into the same buffer.
    fn MPI_Isendrecv_replace or MPI_Isendrecv_replace_c(
        buf: Address, count: N, datatype: MPI_Datatype, dest: c_int, sendtag: c_int, source: c_int,
        recvtag: c_int, comm: MPI_Comm, request: Out<MPI_Request>,
    ) on comm {
        let into = elements(buf.0, count, datatype)?;
        let bytes = into.packed();
        into.clone().copy_to(bytes.clone())?;
        exchange(&*communicator(comm)?, (dest, sendtag, bytes), (source, recvtag, into), request)
    }

    /// Begins to send.
    fn MPI_Isend or MPI_Isend_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let mut bytes = elements(buf.0, count, datatype)?;
        let ticket = send_of(&*communicator(comm)?, dest, tag, Mode::Standard, &mut bytes)?;
        began_sending(comm, request, ticket)
    }

    /// Begins to send; it ends when it is received.
    fn MPI_Issend or MPI_Issend_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let bytes = elements(buf.0, count, datatype)?;
        let ticket = send(&*communicator(comm)?, dest, tag, Mode::Synchronous, bytes)?;
        began_sending(comm, request, ticket)
    }

    /// Begins to send where a receive is posted.
    fn MPI_Irsend or MPI_Irsend_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let bytes = elements(buf.0, count, datatype)?;
        let ticket = send(&*communicator(comm)?, dest, tag, Mode::Standard, bytes)?;
        began_sending(comm, request, ticket)
    }

    /// Sends a copy: it has ended at once.
    fn MPI_Ibsend or MPI_Ibsend_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let (comm, bytes) = (communicator(comm)?, elements(buf.0, count, datatype)?);
        send_copy(&comm, dest, tag, bytes)?;
        began_sending(comm.handle, request, None)
    }

    /// Begins to receive.
    fn MPI_Irecv or MPI_Irecv_c(
        buf: Address, count: N, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let mut into = elements(buf.0, count, datatype)?;
        began(comm, request, begin_receive(&*communicator(comm)?, source, tag, &mut into)?)
    }

    /// A send that can be started again and again.
    fn MPI_Send_init or MPI_Send_init_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let bytes = elements(buf.0, count, datatype)?;
        send_again(communicator(comm)?, dest, tag, Mode::Standard, bytes, request)
    }

    /// The same, of a synchronous send.
    fn MPI_Ssend_init or MPI_Ssend_init_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let bytes = elements(buf.0, count, datatype)?;
        send_again(communicator(comm)?, dest, tag, Mode::Synchronous, bytes, request)
    }

    /// The same, of a send where a receive is posted.
    fn MPI_Rsend_init or MPI_Rsend_init_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let bytes = elements(buf.0, count, datatype)?;
        send_again(communicator(comm)?, dest, tag, Mode::Standard, bytes, request)
    }

    /// The same, of a send of a copy.
    fn MPI_Bsend_init or MPI_Bsend_init_c(
        buf: ConstAddress, count: N, datatype: MPI_Datatype, dest: c_int, tag: c_int,
        comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let bytes = elements(buf.0, count, datatype)?;
        let comm = communicator(comm)?;
        crate::buffer::tag(tag)?;
        comm.peer(dest)?;
        to_be_started(comm.handle, request, move || {
            send_copy(&comm, dest, tag, bytes.clone())?;
            Ok(sending(None))
        })
    }

    /// The same, of a receive.
    fn MPI_Recv_init or MPI_Recv_init_c(
        buf: Address, count: N, datatype: MPI_Datatype, source: c_int, tag: c_int, comm: MPI_Comm,
        request: Out<MPI_Request>,
    ) on comm {
        let into = elements(buf.0, count, datatype)?;
        let comm = communicator(comm)?;
        wanted(&comm, source, tag)?;
        to_be_started(comm.handle, request, move || {
            begin_receive(&comm, source, tag, &mut into.clone())
        })
    }

    /// Receives the message that a probe took out.
    fn MPI_Mrecv or MPI_Mrecv_c(
        buf: Address, count: N, datatype: MPI_Datatype, message: Out<MPI_Message>,
        status: StatusOut,
    ) {
        let into = elements(buf.0, count, datatype)?;
        let (ticket, comm) = receive_claimed(message, into)?;
        let ended = status.set_ended(finish_receive(ticket));
        ended.inspect_err(|_| failure::note(comm.into()))
    }

    /// Begins to receive the message that a probe took out.
    fn MPI_Imrecv or MPI_Imrecv_c(
        buf: Address, count: N, datatype: MPI_Datatype, message: Out<MPI_Message>,
        request: Out<MPI_Request>,
    ) {
        let into = elements(buf.0, count, datatype)?;
        let (ticket, comm) = receive_claimed(message, into)?;
        began(comm, request, receiving(ticket))
    }
}

/// Messages that were taken out.
static MESSAGES: Table<Taken> = Table::new(Class::Request, "a message that a probe took out");

/// One, and the communicator that it came on, whose handler hears of its errors.
type Taken = (Claim, MPI_Comm);

/// Gives one a handle.
fn handle(taken: Taken) -> MPI_Message {
    MPI_Message(MESSAGES.insert(taken))
}

/// Receives one; and the communicator that it came on.
fn receive_claimed(
    message: Out<MPI_Message>,
    into: Elements,
) -> Result<(Option<Ticket>, MPI_Comm)> {
    let handle = message.get()?;
    if handle == MPI_MESSAGE_NO_PROC {
        message.set(MPI_MESSAGE_NULL)?;
        return Ok((None, MPI_COMM_SELF));
    }
    let (claim, comm) = *MESSAGES.remove(handle.0)?;
    message.set(MPI_MESSAGE_NULL)?;
    let received = world()?.process.state().endpoint.receive_claimed(claim, into);
    Ok((received.inspect_err(|_| failure::note(comm.into()))?, comm))
}

/// Looks for a message.
fn probe(state: &mut State, wanted: Wanted) -> Option<((), Envelope, usize)> {
    state.endpoint.probe(wanted).map(|(envelope, size)| ((), envelope, size))
}

/// Takes a message out. Where a log is followed the call knows by now whose it is; what is taken
/// from any source the log says once more, and so it is counted as what it was.
fn claim(state: &mut State, asked: Wanted, now: Wanted) -> Option<(Claim, Envelope, usize)> {
    state.endpoint.claim(Wanted { source: asked.source, ..now })
}

/// The status of a message that waits.
fn waiting(envelope: Envelope, size: usize) -> MPI_Status {
    status_of(envelope.source.cast_signed(), envelope.tag, size)
}

export! {
    /// Waits for a message, and says what it is.
    fn MPI_Probe(source: c_int, tag: c_int, comm: MPI_Comm, status: StatusOut) on comm {
        let Some(wanted) = wanted(&*communicator(comm)?, source, tag)? else {
            status.set(NOBODY);
            return Ok(());
        };
        if let Some(((), envelope, size)) = choice::message(wanted, true, probe)? {
            status.set(waiting(envelope, size));
        }
        Ok(())
    }

    /// Says what message is there, if one is.
    fn MPI_Iprobe(
        source: c_int, tag: c_int, comm: MPI_Comm, flag: Out<c_int>, status: StatusOut,
    ) on comm {
        let Some(wanted) = wanted(&*communicator(comm)?, source, tag)? else {
            status.set(NOBODY);
            return flag.set(1);
        };
        let found = choice::message(wanted, false, probe)?;
        if let Some(((), envelope, size)) = found {
            status.set(waiting(envelope, size));
        }
        flag.set(found.is_some().into())
    }

    /// Waits for a message, and takes it out for one receive.
    fn MPI_Mprobe(
        source: c_int, tag: c_int, comm: MPI_Comm, message: Out<MPI_Message>, status: StatusOut,
    ) on comm {
        let Some(wanted) = wanted(&*communicator(comm)?, source, tag)? else {
            status.set(NOBODY);
            return message.set(MPI_MESSAGE_NO_PROC);
        };
        let found = choice::message(wanted, true, |state, now| claim(state, wanted.0, now))?;
        let Some((claim, envelope, size)) = found else { return Ok(()) };
        status.set(waiting(envelope, size));
        message.set(handle((claim, comm)))
    }

    /// Takes a message out for one receive, if one is there.
    fn MPI_Improbe(
        source: c_int, tag: c_int, comm: MPI_Comm, flag: Out<c_int>, message: Out<MPI_Message>,
        status: StatusOut,
    ) on comm {
        let Some(wanted) = wanted(&*communicator(comm)?, source, tag)? else {
            status.set(NOBODY);
            message.set(MPI_MESSAGE_NO_PROC)?;
            return flag.set(1);
        };
        let found = choice::message(wanted, false, |state, now| claim(state, wanted.0, now))?;
        if let Some((claim, envelope, size)) = found {
            status.set(waiting(envelope, size));
            message.set(handle((claim, comm)))?;
        }
        flag.set(found.is_some().into())
    }
}
