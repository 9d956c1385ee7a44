//! Operations of reductions and accumulations (MPI-5.0, sections 6.9.2 to 6.9.5).
//!
//! What an operation does is looked up once for a datatype ([`Op::reduction`]), which also finds
//! out whether the standard allows the two together; the [`Reduction`] then combines buffers, or
//! any pieces of them that are whole elements.

mod kernel;
pub(crate) mod soft;
mod value;

use std::fmt;
use std::sync::Arc;

pub use kernel::Kernel;

use crate::datatype::{self, Datatype};
use crate::error::{Class, Error, Result};

/// Defines [`Predefined`] from one table of names, handles and meanings.
macro_rules! predefined {
    ($($variant:ident = $handle:literal $name:literal $meaning:literal;)*) => {
        /// A predefined operation; the number is its handle in the standard ABI.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum Predefined {
            $(#[doc = concat!("`", $name, "`: ", $meaning, ".")] $variant = $handle,)*
        }

        impl Predefined {
            /// All of them.
            pub const ALL: &[Predefined] = &[$(Predefined::$variant,)*];

            /// The operation of a handle.
            #[must_use]
            pub const fn of_handle(handle: usize) -> Option<Predefined> {
                match handle {
                    $($handle => Some(Predefined::$variant),)*
                    _ => None,
                }
            }

            /// The name in C.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Predefined::$variant => $name,)*
                }
            }
        }
    };
}

predefined! {
    Sum = 0x21 "MPI_SUM" "the sum";
    Min = 0x22 "MPI_MIN" "the smaller one";
    Max = 0x23 "MPI_MAX" "the larger one";
    Prod = 0x24 "MPI_PROD" "the product";
    Band = 0x28 "MPI_BAND" "the bits of both";
    Bor = 0x29 "MPI_BOR" "the bits of either";
    Bxor = 0x2a "MPI_BXOR" "the bits of one of them";
    Land = 0x30 "MPI_LAND" "whether both are true";
    Lor = 0x31 "MPI_LOR" "whether either is true";
    Lxor = 0x32 "MPI_LXOR" "whether one of them is true";
    Minloc = 0x38 "MPI_MINLOC" "the smaller one, and its index";
    Maxloc = 0x39 "MPI_MAXLOC" "the larger one, and its index";
    Replace = 0x3c "MPI_REPLACE" "the one that comes";
    NoOp = 0x3d "MPI_NO_OP" "the one that is there";
}

/// A function of the program (section 6.9.5).
pub trait Function: Send + Sync {
    /// Replaces each element of `inout` by what the function makes of `input`'s and its own.
    ///
    /// Byte 0 of both is that at the lower end of `datatype.span(count)`.
    fn call(&self, input: &[u8], inout: &mut [u8], count: usize, datatype: &Datatype);
}

/// An operation; copies are cheap and stand for the same one.
#[derive(Clone)]
pub enum Op {
    /// One that the standard defines.
    Predefined(Predefined),
    /// One of the program.
    User {
        /// What it does.
        function: Arc<dyn Function>,
        /// Whether the program says that operands may change places.
        commutative: bool,
    },
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Predefined(predefined) => f.write_str(predefined.name()),
            Op::User { commutative, .. } => {
                f.debug_struct("User").field("commutative", commutative).finish_non_exhaustive()
            }
        }
    }
}

/// An operation on elements of one datatype.
#[derive(Clone)]
pub enum Reduction {
    /// A loop over elements.
    Kernel(Kernel),
    /// A function of the program.
    User(Arc<dyn Function>),
}

impl Reduction {
    /// Replaces each element of `inout` by the operation's result, in which `input`'s is the left
    /// operand. Byte 0 of both is that at the lower end of `datatype.span(count)`.
    pub fn combine(&self, input: &[u8], inout: &mut [u8], count: usize, datatype: &Datatype) {
        debug_assert_eq!(input.len(), inout.len());
        match self {
            Reduction::Kernel(kernel) => kernel(input, inout),
            Reduction::User(function) => function.call(input, inout, count, datatype),
        }
    }
}

impl Op {
    /// Whether operands may change places.
    #[must_use]
    pub fn commutative(&self) -> bool {
        match self {
            Op::Predefined(Predefined::Replace | Predefined::NoOp) => false,
            Op::Predefined(_) => true,
            Op::User { commutative, .. } => *commutative,
        }
    }

    /// The operation for a reduction of elements of `datatype`.
    ///
    /// # Errors
    /// `MPI_ERR_OP`: the standard does not define it for them, or not for reductions.
    pub fn reduction(&self, datatype: &Datatype) -> Result<Reduction> {
        let predefined = match self {
            Op::User { function, .. } => return Ok(Reduction::User(Arc::clone(function))),
            Op::Predefined(predefined) => *predefined,
        };
        if matches!(predefined, Predefined::Replace | Predefined::NoOp) {
            let what = format!("{} is for one-sided communication only", predefined.name());
            return Err(Error::new(Class::Op, what));
        }
        predefined.of(datatype.basic()).map(Reduction::Kernel)
    }

    /// The operation for an accumulation of elements of `datatype` (section 12.3.4): it is a
    /// predefined one, and the datatype is made of one predefined datatype.
    ///
    /// # Errors
    /// `MPI_ERR_OP`: the standard does not define it for them, or it is a function of the program.
    pub fn accumulation(&self, datatype: &Datatype) -> Result<Kernel> {
        match self {
            Op::Predefined(predefined) => predefined.of(datatype.uniform()),
            Op::User { .. } => {
                let what = "functions of the program are for reductions only";
                Err(Error::new(Class::Op, what))
            }
        }
    }
}

impl Predefined {
    /// The handle in the standard ABI.
    #[must_use]
    pub const fn handle(self) -> usize {
        self as usize
    }

    fn of(self, datatype: Option<datatype::Predefined>) -> Result<Kernel> {
        let kernel = datatype.and_then(|datatype| kernel::of(self, datatype.kind()));
        kernel.ok_or_else(|| {
            let datatype = datatype.map_or("a derived datatype", datatype::Predefined::name);
            Error::new(Class::Op, format!("{} is not defined for {datatype}", self.name()))
        })
    }
}

#[cfg(test)]
mod tests;
