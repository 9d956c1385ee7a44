//! How a function of the standard is written.
//!
//! ```text
//! export! {
//!     /// MPI_Comm_rank: errors go to the handler of `comm`.
//!     fn MPI_Comm_rank(comm: MPI_Comm, rank: Out<c_int>) on comm { ... Ok(()) }
//!
//!     /// MPI_Info_create: errors go to the handler of MPI_COMM_SELF.
//!     fn MPI_Info_create(info: Out<MPI_Info>) { ... Ok(()) }
//!
//!     /// MPI_Wtime: no errors.
//!     fn MPI_Wtime() -> f64 { ... }
//! }
//! ```
//!
//! Each is exported as `MPI_NAME` and `PMPI_NAME`. A tool's own `MPI_NAME`, in the program or
//! loaded before this library, goes before ours and calls `PMPI_NAME`; we call neither from within.
//! Where the types are not the standard's, the compiler says so of `signatures::MPI_NAME`.

use std::ffi::c_int;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::abi::constants::{MPI_ERR_UNSUPPORTED_OPERATION, MPI_UNDEFINED};
use crate::argument::Passed;

/// What a function can take, and what C passes for it.
pub trait Argument: Sized {
    /// C's type.
    type C;

    /// Makes it of what C passed.
    ///
    /// # Safety
    /// What a pointer leads to must be what the standard demands of the function's argument.
    unsafe fn of(c: Self::C) -> Self;

    /// What it was, for who looks which argument an error is about.
    fn passed(&self) -> Passed;
}

/// Types that C and Rust have alike.
macro_rules! plain {
    (|$it:ident| $passed:expr; $($type:ty)*) => {
        $(impl Argument for $type {
            type C = $type;

            // SAFETY: nothing is asked of a number.
            unsafe fn of(c: $type) -> $type {
                c
            }

            fn passed(&self) -> Passed {
                let $it = self;
                $passed
            }
        })*
    };
}

use crate::abi::types::*;
plain! { |it| Passed::Value(i64::from(*it)); c_int }
plain! { |it| Passed::Value(*it); i64 }
plain! { |it| Passed::Value(*it as i64); isize }
plain! {
    |it| Passed::handle(it.0);
    MPI_Op MPI_Comm MPI_Group MPI_Win MPI_File MPI_Session MPI_Message MPI_Info MPI_Errhandler
    MPI_Request MPI_Datatype MPI_T_pvar_session MPI_T_pvar_handle
}

impl<F> Argument for Option<F> {
    type C = Option<F>;

    // SAFETY: the library calls the function as its type says, which is what the standard demands.
    unsafe fn of(c: Option<F>) -> Option<F> {
        c
    }

    fn passed(&self) -> Passed {
        // Where it lies nobody asks: it is wrong only where there is none.
        if self.is_none() { Passed::Address(0) } else { Passed::Other }
    }
}

/// Exports functions of the standard; see the top of this file.
macro_rules! export {
    () => {};
    (
        $(#[$meta:meta])*
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty $body:block
        $($rest:tt)*
    ) => {
        $crate::export::names! { $(#[$meta])* $name($($arg: $type),*) -> $result {
            fn body($($arg: $type),*) -> $result $body
            body($($arg),*)
        } }
        $crate::export::export! { $($rest)* }
    };
    (
        $(#[$meta:meta])*
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) on $object:ident $body:block
        $($rest:tt)*
    ) => {
        $crate::export::names! { $(#[$meta])* $name($($arg: $type),*) -> ::std::ffi::c_int {
            fn body($($arg: $type),*) -> ::muster_mpi::Result<()> $body
            let id = $crate::object::Id::from($object);
            match body($($arg),*) {
                Ok(()) => ::muster_mpi::error::SUCCESS,
                Err(error) => {
                    let names = $crate::abi::arguments::$name;
                    let passed = [$($crate::export::Argument::passed(&$arg)),*];
                    let call = (stringify!($name), names, &passed as &[_]);
                    $crate::failure::fail(id, call, &error)
                }
            }
        } }
        $crate::export::export! { $($rest)* }
    };
    (
        $(#[$meta:meta])*
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block
        $($rest:tt)*
    ) => {
        $crate::export::names! { $(#[$meta])* $name($($arg: $type),*) -> ::std::ffi::c_int {
            fn body($($arg: $type),*) -> ::muster_mpi::Result<()> $body
            match body($($arg),*) {
                Ok(()) => ::muster_mpi::error::SUCCESS,
                Err(error) => {
                    let names = $crate::abi::arguments::$name;
                    let passed = [$($crate::export::Argument::passed(&$arg)),*];
                    let call = (stringify!($name), names, &passed as &[_]);
                    $crate::failure::fail_of_none(call, &error)
                }
            }
        } }
        $crate::export::export! { $($rest)* }
    };
}

/// Exports functions that the standard has twice, with counts that are `int` and with large ones
/// (`MPI_Send or MPI_Send_c`). The body is written once, for counts that are [`N`](Number), and
/// displacements that are `D`: `int` in the first, `MPI_Count` and `MPI_Aint` in the second. What
/// is an address in the first and a count in the second is `A`.
macro_rules! both {
    () => {};
    (
        $(#[$meta:meta])*
        fn $name:ident or $large:ident($($arg:ident: $type:ty),* $(,)?) $(on $scope:ident)?
        $body:block
        $($rest:tt)*
    ) => {
        #[allow(non_snake_case, unused_imports, dead_code)]
        mod $name {
            use super::*;
            type N = ::std::ffi::c_int;
            type D = ::std::ffi::c_int;
            type A = $crate::abi::types::MPI_Aint;
            $crate::export::export! {
                $(#[$meta])* fn $name($($arg: $type),*) $(on $scope)? $body
            }
        }
        #[allow(non_snake_case, unused_imports, dead_code)]
        mod $large {
            use super::*;
            type N = $crate::abi::types::MPI_Count;
            type D = $crate::abi::types::MPI_Aint;
            type A = $crate::abi::types::MPI_Count;
            $crate::export::export! {
                $(#[$meta])* fn $large($($arg: $type),*) $(on $scope)? $body
            }
        }
        $crate::export::both! { $($rest)* }
    };
}

/// A count or a displacement, of either size.
pub trait Number: Copy + std::fmt::Display + TryFrom<i64> {
    /// Whether it is the large one of a count.
    const IS_LARGE: bool;
    /// What says that a number does not fit (`MPI_UNDEFINED`).
    const UNDEFINED: Self;

    /// As the large one.
    fn large(self) -> i64;

    /// A number that the function returns, where there is one that fits.
    fn fitting(value: Option<usize>) -> Self {
        let value = value.and_then(|value| i64::try_from(value).ok());
        value.and_then(|value| Self::try_from(value).ok()).unwrap_or(Self::UNDEFINED)
    }
}

impl Number for c_int {
    const IS_LARGE: bool = false;
    const UNDEFINED: c_int = MPI_UNDEFINED;

    fn large(self) -> i64 {
        self.into()
    }
}

impl Number for i64 {
    const IS_LARGE: bool = true;
    const UNDEFINED: i64 = MPI_UNDEFINED as i64;

    fn large(self) -> i64 {
        self
    }
}

impl Number for isize {
    const IS_LARGE: bool = false;
    const UNDEFINED: isize = MPI_UNDEFINED as isize;

    fn large(self) -> i64 {
        self as i64
    }
}

/// The two names of a function, and the check of its type.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident($($arg:ident: $type:ty),*) -> $result:ty $body:block) => {
        $(#[$meta])*
        // The standard decides how many arguments there are, and it may demand nothing of them.
        #[allow(non_snake_case, unused_unsafe, clippy::too_many_arguments)]
        mod $name {
            use super::*;

            const _: $crate::abi::signatures::$name = $name;
            const _: $crate::abi::signatures::$name = profiled;

            static NAME: &str = stringify!($name);

            fn call($($arg: $type),*) -> $result {
                $crate::outside::called(&NAME);
                $body
            }

            /// By its own name.
            ///
            /// # Safety
            /// What is passed must be what the standard demands.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                $($arg: <$type as $crate::export::Argument>::C),*
            ) -> $result {
                // SAFETY: the caller has seen to what the standard demands.
                unsafe { call($(<$type as $crate::export::Argument>::of($arg)),*) }
            }

            /// By the name for tools.
            ///
            /// # Safety
            /// What is passed must be what the standard demands.
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            unsafe extern "C" fn profiled(
                $($arg: <$type as $crate::export::Argument>::C),*
            ) -> $result {
                // SAFETY: the caller has seen to what the standard demands.
                unsafe { call($(<$type as $crate::export::Argument>::of($arg)),*) }
            }
        }
    };
}

/// Functions that look at none of their arguments, so they need not declare any: where they are
/// passed and who removes them is the caller's business on all processors that we know.
macro_rules! answered {
    ($($(#[$meta:meta])* fn $($name:ident)*() $answer:block)*) => {
        $($($crate::export::answer! { $name $answer })*)*
    };
}

/// The two names of such a function.
macro_rules! answer {
    ($name:ident $answer:block) => {
        #[allow(non_snake_case)]
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            fn answer() -> ::std::ffi::c_int $answer

            /// By its own name.
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> ::std::ffi::c_int {
                answer()
            }

            /// By the name for tools.
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            extern "C" fn profiled() -> ::std::ffi::c_int {
                answer()
            }
        }
    };
}

/// Functions that only say that they are not there.
macro_rules! unsupported {
    ($($name:ident)*) => {
        $($crate::export::answer! { $name {
            static IS_SAID: ::std::sync::atomic::AtomicBool =
                ::std::sync::atomic::AtomicBool::new(false);
            $crate::export::refuse(stringify!($name), &IS_SAID)
        } })*
    };
}

pub(crate) use {answer, answered, both, export, names, unsupported};

/// What a function does that is not there: it returns the error class that says so, whatever the
/// error handler is, for a program may well try; and it says its name, once.
pub fn refuse(name: &str, is_said: &AtomicBool) -> c_int {
    if !is_said.swap(true, Ordering::Relaxed) {
        // A program without a standard error gets the class.
        let _ = writeln!(
            std::io::stderr(),
            "muster: this MPI library has no {name}; the call returns \
             MPI_ERR_UNSUPPORTED_OPERATION  [N500]"
        );
    }
    MPI_ERR_UNSUPPORTED_OPERATION
}
