//! Arrays that a program passes.

use std::marker::PhantomData;

use muster_mpi::error::{About, Class, Error, Result};

use crate::argument::Passed;
use crate::export::Argument;

/// Values that the function reads (`const int counts[]`), as many as it says.
#[derive(Clone, Copy)]
pub struct Array<'a, T>(*const T, PhantomData<&'a T>);

impl<'a, T> Array<'a, T> {
    /// The first `length`.
    pub fn slice(self, length: usize) -> Result<&'a [T]> {
        if length == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(missing());
        }
        // SAFETY: the program gives an array of this length, and leaves it alone meanwhile.
        Ok(unsafe { std::slice::from_raw_parts(self.0, length) })
    }

    /// The address, where some addresses have a meaning of their own (`MPI_UNWEIGHTED`).
    pub fn address(self) -> usize {
        self.0.addr()
    }
}

impl<T> Argument for Array<'_, T> {
    type C = *const T;

    // SAFETY: what it leads to is the caller's promise.
    unsafe fn of(c: *const T) -> Self {
        Array(c, PhantomData)
    }

    fn passed(&self) -> Passed {
        Passed::Address(self.0.addr())
    }
}

/// Values that the function sets, or changes (`MPI_Request requests[]`).
#[derive(Clone, Copy)]
pub struct OutArray<'a, T>(*mut T, PhantomData<&'a T>);

impl<'a, T> OutArray<'a, T> {
    /// The first `length`.
    #[allow(clippy::mut_from_ref)]
    pub fn slice(self, length: usize) -> Result<&'a mut [T]> {
        if length == 0 {
            return Ok(&mut []);
        }
        if self.0.is_null() {
            return Err(missing());
        }
        // SAFETY: the program gives an array of this length that only we use now.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0, length) })
    }

    /// The address, where some addresses have a meaning of their own (`MPI_UNWEIGHTED`).
    pub fn address(self) -> usize {
        self.0.addr()
    }

    /// The first `length`, or none where the program wants none (`MPI_STATUSES_IGNORE`).
    pub fn wanted(self, length: usize) -> Result<Option<&'a mut [T]>> {
        if self.0.is_null() { Ok(None) } else { self.slice(length).map(Some) }
    }
}

impl<T> Argument for OutArray<'_, T> {
    type C = *mut T;

    // SAFETY: what it leads to is the caller's promise.
    unsafe fn of(c: *mut T) -> Self {
        OutArray(c, PhantomData)
    }

    fn passed(&self) -> Passed {
        Passed::Place(self.0.addr())
    }
}

fn missing() -> Error {
    Error::new(Class::Arg, "an array is null").about(About::Address(0))
}
