//! Scenario adapters (EPOS, section 2.2): what is true of a place and of no abstraction.
//!
//! Strategies and communicators know nothing of sharing, access control, tracing or profiling.
//! An [`Adapted`] one has each of its operations enclosed by [`Aspect::enter`] and
//! [`Aspect::leave`]; aspects are combined as tuples, entered from the left and left from the
//! right. It implements the strategies that it wraps, so it can be used wherever they can: below a
//! communicator, or around one.
//!
//! | scenario | |
//! |---|---|
//! | `()` | nothing: not an instruction, not a byte (a test compares the machine code) |
//! | [`Guarded`] | access control: only what a capability allows |
//! | [`Traced`] | the last operations, in a ring that another thread may read |
//! | [`Profiled`] | counts, bytes and times of each kind of operation |
//! | [`Shared`] | thread safety: many holders of one abstraction |
//! | [`Remote`] | the abstraction is at another place |
//!
//! The last two are no tuple members, since they decide where the abstraction is: a lock owns what
//! it protects, and what is remote is not here. They wrap, and are wrapped, like the others:
//! `Adapted<Shared<D>, (Guarded, Traced)>`.

mod communicators;
mod guarded;
mod profiled;
mod remote;
mod shared;
mod strategies;
mod traced;

#[cfg(test)]
mod tests;

pub use guarded::{Capability, Guarded};
pub use profiled::{Profile, Profiled, Summary};
pub use remote::Remote;
pub use shared::Shared;
pub use traced::{Record, Trace, Traced};

use crate::error::{Error, Result};

/// What can be done with an abstraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Send a message.
    Send,
    /// Receive a message.
    Receive,
    /// Write bytes.
    Write,
    /// Read bytes.
    Read,
    /// Send no more.
    Finish,
    /// Have the peer carry out a handler.
    Call,
    /// Carry out what has arrived.
    Progress,
    /// Let the peer reach a region.
    Expose,
    /// Let it no longer.
    Withdraw,
    /// Write into a peer's region.
    Put,
    /// Read from a peer's region.
    Get,
    /// Invoke an object's method.
    Invoke,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Kind; 12] = [
        Kind::Send,
        Kind::Receive,
        Kind::Write,
        Kind::Read,
        Kind::Finish,
        Kind::Call,
        Kind::Progress,
        Kind::Expose,
        Kind::Withdraw,
        Kind::Put,
        Kind::Get,
        Kind::Invoke,
    ];
}

/// An operation that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Which one.
    pub kind: Kind,
    /// Bytes to be moved; those there is room for where the peer decides how many come.
    pub bytes: usize,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It moved this many bytes; [`Kind::Progress`] this many operations.
    Done(usize),
    /// It could do nothing at the moment.
    Nothing,
    /// It ended with an error.
    Failed,
}

/// Something to be done around operations.
pub trait Aspect: Send {
    /// False where enter and leave do nothing: then nothing is measured for them.
    const IS_PRESENT: bool = true;

    /// Before an operation.
    ///
    /// # Errors
    /// The operation is not carried out then.
    fn enter(&mut self, operation: Operation) -> Result<()>;

    /// After an operation, also one that aspects further right did not allow.
    fn leave(&mut self, operation: Operation, outcome: Outcome);
}

impl Aspect for () {
    const IS_PRESENT: bool = false;

    #[inline(always)]
    fn enter(&mut self, _: Operation) -> Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn leave(&mut self, _: Operation, _: Outcome) {}
}

impl<A: Aspect> Aspect for &mut A {
    const IS_PRESENT: bool = A::IS_PRESENT;

    #[inline(always)]
    fn enter(&mut self, operation: Operation) -> Result<()> {
        (**self).enter(operation)
    }

    #[inline(always)]
    fn leave(&mut self, operation: Operation, outcome: Outcome) {
        (**self).leave(operation, outcome);
    }
}

/// A tuple is its first aspect around the tuple of the rest.
macro_rules! tuple {
    ($first:ident $($rest:ident)*) => {
        #[allow(non_snake_case, reason = "an aspect is called like its type")]
        impl<$first: Aspect, $($rest: Aspect),*> Aspect for ($first, $($rest,)*) {
            const IS_PRESENT: bool = $first::IS_PRESENT $(|| $rest::IS_PRESENT)*;

            #[inline(always)]
            fn enter(&mut self, operation: Operation) -> Result<()> {
                let ($first, $($rest,)*) = self;
                $first.enter(operation)?;
                let entered = ($($rest,)*).enter(operation);
                if entered.is_err() {
                    $first.leave(operation, Outcome::Failed);
                }
                entered
            }

            #[inline(always)]
            fn leave(&mut self, operation: Operation, outcome: Outcome) {
                let ($first, $($rest,)*) = self;
                ($($rest,)*).leave(operation, outcome);
                $first.leave(operation, outcome);
            }
        }
    };
}

tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);

/// An abstraction in a scenario.
#[derive(Clone, Debug, Default)]
pub struct Adapted<T, A> {
    inner: T,
    aspects: A,
}

impl<T, A: Aspect> Adapted<T, A> {
    /// Encloses the operations of `inner`.
    pub fn new(inner: T, aspects: A) -> Adapted<T, A> {
        Adapted { inner, aspects }
    }

    /// The abstraction, without its scenario.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// Carries out an operation of the abstraction, enclosed; `moved` says of its result how much
    /// it moved. For operations that have no method here.
    ///
    /// # Errors
    /// The operation's, or an aspect's.
    #[inline(always)]
    pub fn enclose<R>(
        &mut self,
        operation: Operation,
        carry_out: impl FnOnce(&mut T) -> Result<R>,
        moved: impl FnOnce(&R) -> usize,
    ) -> Result<R> {
        if !A::IS_PRESENT {
            return carry_out(&mut self.inner);
        }
        self.aspects.enter(operation)?;
        let result = carry_out(&mut self.inner);
        let outcome = match &result {
            Ok(value) => Outcome::Done(moved(value)),
            Err(Error::WouldBlock) => Outcome::Nothing,
            Err(_) => Outcome::Failed,
        };
        self.aspects.leave(operation, outcome);
        result
    }
}
