//! Reading and writing (MPI-5.0, sections 14.4.2 to 14.4.5): for each kind of place the forms that
//! wait, that are begun, and that are begun by one call and ended by another.

use muster_mpi::error::{Class, Error, Result};

use super::access::{Act, Where};
use super::{File, Split, file};
use crate::abi::types::*;
use crate::buffer::{Elements, elements};
use crate::export::{both, export};
use crate::pointer::{Address, ConstAddress, Out, StatusOut};
use crate::request::{self, Active};

/// Reads or writes, and says what it was.
fn wait(fh: MPI_File, act: Act, place: Where, elements: Elements, status: StatusOut) -> Result<()> {
    status.set(file(fh)?.access(act, place, elements)?);
    Ok(())
}

/// The same, as all ranks do.
fn wait_all(
    fh: MPI_File,
    act: Act,
    place: Where,
    elements: Result<Elements>,
    status: StatusOut,
) -> Result<()> {
    status.set(file(fh)?.access_all(act, place, elements)?);
    Ok(())
}

/// The same; a request says what it was.
fn begin(
    fh: MPI_File,
    act: Act,
    place: Where,
    elements: Elements,
    request: Out<MPI_Request>,
) -> Result<()> {
    let ended = file(fh)?.access(act, place, elements)?;
    request.set(request::insert(fh, Some(Active::Ended(ended)), None))
}

/// The same; another call says what it was.
fn split(
    fh: MPI_File,
    act: Act,
    place: Where,
    which: Split,
    elements: Result<Elements>,
) -> Result<()> {
    let file = file(fh)?;
    if file.state().begun.is_some() {
        let what = "a collective access of this file was begun before, and not ended";
        return Err(Error::new(Class::Io, what));
    }
    let ended = file.access_all(act, place, elements)?;
    file.state().begun = Some((which, ended));
    Ok(())
}

/// Says what it was.
fn end(file: &File, which: Split, status: StatusOut) -> Result<()> {
    match file.state().begun.take_if(|(begun, _)| *begun == which) {
        Some((_, ended)) => {
            status.set(ended);
            Ok(())
        }
        None => {
            let what = "no collective access that this call ends was begun";
            Err(Error::new(Class::Io, what))
        }
    }
}

both! {
    /// Reads at an offset.
    fn MPI_File_read_at or MPI_File_read_at_c(
        fh: MPI_File, offset: MPI_Offset, buf: Address, count: N, datatype: MPI_Datatype,
        status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        wait(fh, Act::Read, Where::At(offset), elements, status)
    }

    /// Reads at an offset; it is begun.
    fn MPI_File_iread_at or MPI_File_iread_at_c(
        fh: MPI_File, offset: MPI_Offset, buf: Address, count: N, datatype: MPI_Datatype,
        request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Read, Where::At(offset), elements, request)
    }

    /// Reads at an offset, as all ranks do.
    fn MPI_File_read_at_all or MPI_File_read_at_all_c(
        fh: MPI_File, offset: MPI_Offset, buf: Address, count: N, datatype: MPI_Datatype,
        status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        wait_all(fh, Act::Read, Where::At(offset), elements, status)
    }

    /// Reads at an offset, as all ranks do; it is begun.
    fn MPI_File_iread_at_all or MPI_File_iread_at_all_c(
        fh: MPI_File, offset: MPI_Offset, buf: Address, count: N, datatype: MPI_Datatype,
        request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Read, Where::At(offset), elements, request)
    }

    /// Reads at an offset, as all ranks do; another call ends it.
    fn MPI_File_read_at_all_begin or MPI_File_read_at_all_begin_c(
        fh: MPI_File, offset: MPI_Offset, buf: Address, count: N, datatype: MPI_Datatype,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        split(fh, Act::Read, Where::At(offset), Split::ReadAt, elements)
    }

    /// Reads at this rank's pointer.
    fn MPI_File_read or MPI_File_read_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype, status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        wait(fh, Act::Read, Where::Own, elements, status)
    }

    /// Reads at this rank's pointer; it is begun.
    fn MPI_File_iread or MPI_File_iread_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype, request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Read, Where::Own, elements, request)
    }

    /// Reads at this rank's pointer, as all ranks do.
    fn MPI_File_read_all or MPI_File_read_all_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype, status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        wait_all(fh, Act::Read, Where::Own, elements, status)
    }

    /// Reads at this rank's pointer, as all ranks do; it is begun.
    fn MPI_File_iread_all or MPI_File_iread_all_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype, request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Read, Where::Own, elements, request)
    }

    /// Reads at this rank's pointer, as all ranks do; another call ends it.
    fn MPI_File_read_all_begin or MPI_File_read_all_begin_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        split(fh, Act::Read, Where::Own, Split::Read, elements)
    }

    /// Reads at the shared pointer.
    fn MPI_File_read_shared or MPI_File_read_shared_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype, status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        wait(fh, Act::Read, Where::Shared, elements, status)
    }

    /// Reads at the shared pointer; it is begun.
    fn MPI_File_iread_shared or MPI_File_iread_shared_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype, request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Read, Where::Shared, elements, request)
    }

    /// Reads at the shared pointer, all in the order of ranks.
    fn MPI_File_read_ordered or MPI_File_read_ordered_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype, status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        wait_all(fh, Act::Read, Where::Ordered, elements, status)
    }

    /// Reads at the shared pointer, all in the order of ranks; another call ends it.
    fn MPI_File_read_ordered_begin or MPI_File_read_ordered_begin_c(
        fh: MPI_File, buf: Address, count: N, datatype: MPI_Datatype,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        split(fh, Act::Read, Where::Ordered, Split::ReadOrdered, elements)
    }

    /// Writes at an offset.
    fn MPI_File_write_at or MPI_File_write_at_c(
        fh: MPI_File, offset: MPI_Offset, buf: ConstAddress, count: N, datatype: MPI_Datatype,
        status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        wait(fh, Act::Write, Where::At(offset), elements, status)
    }

    /// Writes at an offset; it is begun.
    fn MPI_File_iwrite_at or MPI_File_iwrite_at_c(
        fh: MPI_File, offset: MPI_Offset, buf: ConstAddress, count: N, datatype: MPI_Datatype,
        request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Write, Where::At(offset), elements, request)
    }

    /// Writes at an offset, as all ranks do.
    fn MPI_File_write_at_all or MPI_File_write_at_all_c(
        fh: MPI_File, offset: MPI_Offset, buf: ConstAddress, count: N, datatype: MPI_Datatype,
        status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        wait_all(fh, Act::Write, Where::At(offset), elements, status)
    }

    /// Writes at an offset, as all ranks do; it is begun.
    fn MPI_File_iwrite_at_all or MPI_File_iwrite_at_all_c(
        fh: MPI_File, offset: MPI_Offset, buf: ConstAddress, count: N, datatype: MPI_Datatype,
        request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Write, Where::At(offset), elements, request)
    }

    /// Writes at an offset, as all ranks do; another call ends it.
    fn MPI_File_write_at_all_begin or MPI_File_write_at_all_begin_c(
        fh: MPI_File, offset: MPI_Offset, buf: ConstAddress, count: N, datatype: MPI_Datatype,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        split(fh, Act::Write, Where::At(offset), Split::WriteAt, elements)
    }

    /// Writes at this rank's pointer.
    fn MPI_File_write or MPI_File_write_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype, status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        wait(fh, Act::Write, Where::Own, elements, status)
    }

    /// Writes at this rank's pointer; it is begun.
    fn MPI_File_iwrite or MPI_File_iwrite_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype,
        request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Write, Where::Own, elements, request)
    }

    /// Writes at this rank's pointer, as all ranks do.
    fn MPI_File_write_all or MPI_File_write_all_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype, status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        wait_all(fh, Act::Write, Where::Own, elements, status)
    }

    /// Writes at this rank's pointer, as all ranks do; it is begun.
    fn MPI_File_iwrite_all or MPI_File_iwrite_all_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype,
        request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Write, Where::Own, elements, request)
    }

    /// Writes at this rank's pointer, as all ranks do; another call ends it.
    fn MPI_File_write_all_begin or MPI_File_write_all_begin_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        split(fh, Act::Write, Where::Own, Split::Write, elements)
    }

    /// Writes at the shared pointer.
    fn MPI_File_write_shared or MPI_File_write_shared_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype, status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        wait(fh, Act::Write, Where::Shared, elements, status)
    }

    /// Writes at the shared pointer; it is begun.
    fn MPI_File_iwrite_shared or MPI_File_iwrite_shared_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype,
        request: Out<MPI_Request>,
    ) on fh {
        let elements = elements(buf.0, count, datatype)?;
        begin(fh, Act::Write, Where::Shared, elements, request)
    }

    /// Writes at the shared pointer, all in the order of ranks.
    fn MPI_File_write_ordered or MPI_File_write_ordered_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype, status: StatusOut,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        wait_all(fh, Act::Write, Where::Ordered, elements, status)
    }

    /// Writes at the shared pointer, all in the order of ranks; another call ends it.
    fn MPI_File_write_ordered_begin or MPI_File_write_ordered_begin_c(
        fh: MPI_File, buf: ConstAddress, count: N, datatype: MPI_Datatype,
    ) on fh {
        let elements = elements(buf.0, count, datatype);
        split(fh, Act::Write, Where::Ordered, Split::WriteOrdered, elements)
    }
}

export! {
    /// Ends what MPI_File_read_at_all_begin has begun.
    fn MPI_File_read_at_all_end(fh: MPI_File, buf: Address, status: StatusOut) on fh {
        let _ = buf;
        end(&*file(fh)?, Split::ReadAt, status)
    }

    /// Ends what MPI_File_read_all_begin has begun.
    fn MPI_File_read_all_end(fh: MPI_File, buf: Address, status: StatusOut) on fh {
        let _ = buf;
        end(&*file(fh)?, Split::Read, status)
    }

    /// Ends what MPI_File_read_ordered_begin has begun.
    fn MPI_File_read_ordered_end(fh: MPI_File, buf: Address, status: StatusOut) on fh {
        let _ = buf;
        end(&*file(fh)?, Split::ReadOrdered, status)
    }

    /// Ends what MPI_File_write_at_all_begin has begun.
    fn MPI_File_write_at_all_end(fh: MPI_File, buf: ConstAddress, status: StatusOut) on fh {
        let _ = buf;
        end(&*file(fh)?, Split::WriteAt, status)
    }

    /// Ends what MPI_File_write_all_begin has begun.
    fn MPI_File_write_all_end(fh: MPI_File, buf: ConstAddress, status: StatusOut) on fh {
        let _ = buf;
        end(&*file(fh)?, Split::Write, status)
    }

    /// Ends what MPI_File_write_ordered_begin has begun.
    fn MPI_File_write_ordered_end(fh: MPI_File, buf: ConstAddress, status: StatusOut) on fh {
        let _ = buf;
        end(&*file(fh)?, Split::WriteOrdered, status)
    }
}
