//! Addresses, and memory that is asked of the library.

use muster_mpi::error::{Class, Error};

use crate::abi::types::*;
use crate::export::export;
use crate::info::{self, Info};
use crate::pointer::{Address, ConstAddress, Out, OutPointer};

/// The alignment of memory that is asked of us: that of a cache line, which any datatype fits.
const ALIGNMENT: usize = 64;

/// The hint that asks for more (MPI-5.0, section 9.2).
const MINIMUM: &str = "mpi_minimum_memory_alignment";

/// The alignment that hints ask for, a power of two; what is none is left out, as hints are that
/// nobody knows.
pub fn alignment(hints: &Info) -> usize {
    let asked = hints.get(MINIMUM).and_then(|asked| str::from_utf8(asked).ok());
    let asked = asked.and_then(|asked| asked.trim().parse().ok());
    asked.filter(|asked: &usize| asked.is_power_of_two()).map_or(ALIGNMENT, |it| it.max(ALIGNMENT))
}

export! {
    /// An address so many bytes behind another.
    fn MPI_Aint_add(base: MPI_Aint, disp: MPI_Aint) -> MPI_Aint {
        base.wrapping_add(disp)
    }

    /// The bytes from the second address to the first.
    fn MPI_Aint_diff(addr1: MPI_Aint, addr2: MPI_Aint) -> MPI_Aint {
        addr1.wrapping_sub(addr2)
    }

    /// The address of a place.
    fn MPI_Get_address(location: ConstAddress, address: Out<MPI_Aint>) {
        address.set(location.0 as MPI_Aint)
    }

    /// Memory.
    fn MPI_Alloc_mem(size: MPI_Aint, info: MPI_Info, baseptr: OutPointer) {
        let alignment = alignment(&info::infos(info)?);
        let size = usize::try_from(size)
            .map_err(|_| Error::new(Class::Arg, format!("{size} bytes are asked for")).of("size"))?;
        let mut place = std::ptr::null_mut();
        // SAFETY: the place is ours, the alignment a power of two of at least a pointer's size.
        let failed = unsafe { libc::posix_memalign(&mut place, alignment, size.max(1)) };
        if failed != 0 {
            return Err(Error::new(Class::NoMem, format!("{size} bytes are not to be had")));
        }
        baseptr.set(place)
    }

    /// Gives memory back.
    fn MPI_Free_mem(base: Address) {
        // SAFETY: the program got it from `MPI_Alloc_mem`, as the standard demands, or it is null.
        unsafe { libc::free(base.0) };
        Ok(())
    }
}
