//! What MPI-5.0 means, in safe Rust: what a call does, once the C entry points have made Rust
//! values of its arguments.
//!
//! Names are the standard's; sections cited are those of MPI-5.0.

#![forbid(unsafe_code)]

pub mod atom;
pub mod boards;
pub mod buffer;
pub mod collective;
pub mod communicator;
pub mod counter;
mod courtesy;
pub mod datatype;
pub mod error;
pub mod file;
pub mod gateway;
pub mod group;
pub mod op;
pub mod partitioned;
pub mod process;
pub mod simulated;
pub mod strobe;
pub mod threads;
pub mod topology;
pub mod watch;
pub mod window;

pub use error::{Class, Error, Result};
