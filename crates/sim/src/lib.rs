//! Whole clusters in one thread, from one seed: the shipped protocol cores over a simulated network
//! in virtual time.
//!
//! [`engine`] drives any [`muster_fabric::protocol::Protocol`] at thousands of nodes. [`network`]
//! says what a message costs and what may happen to it, [`fault`] what happens to nodes and
//! connections; all of it is drawn from a seed, so a run that fails is run again exactly. [`run`]
//! has the runs that `cargo xtask sim` makes, [`scale`] what the primitives cost in large clusters,
//! and [`launch`] what a launch does there.
//! [`ranks`] runs real MPI programs on a simulated network.
//! [`transport`] is the same idea for programs with threads: addresses `sim!NETWORK!NODE`.

mod calendar;
mod clock;
mod digest;
mod engine;
mod fault;
pub mod launch;
pub mod network;
mod random;
pub mod ranks;
pub mod run;
pub mod scale;
pub mod transport;

/// A microsecond of virtual time.
pub const MICRO: u64 = 1_000;
/// A millisecond of virtual time.
pub const MILLI: u64 = 1_000_000;
/// A second of virtual time.
pub const SECOND: u64 = 1_000_000_000;
