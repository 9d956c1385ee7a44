//! XFER-AND-SIGNAL, TEST-EVENT and COMPARE-AND-WRITE over global memory: one member, without I/O.
//!
//! **Global memory.** Every node has an instance of each variable (64 bits), event (a counter) and
//! region (bytes), all numbered alike. Transfers write regions and signal events; comparisons read
//! variables and write them. A node may set its own instance of a variable by itself; a query over
//! such variables is one sweep, and it is exact if they only grow.
//!
//! **An operation.** Its origin *asks* the master (with the data). The master numbers what it is
//! asked in order, and *stages* it down the tree of the epoch: every node keeps it, evaluates the
//! comparison, and tells its parent once all below it have it. When the root has heard of all, it
//! *decides*, in the order of the numbers: done, or why not. The decision goes down to the set and
//! to the origin, makes the operation visible everywhere (or drops it), and is the origin's answer.
//! Links keep order, so all nodes see stages and decisions in the same order along the one tree.
//! A comparison starts only after all writing comparisons before it were decided: so all operations
//! are sequentially consistent in the order of their numbers, program order included.
//!
//! ```text
//! origin            master (root)            inner node             leaf
//!   |---- Ask -------->|------- Stage --------->|------ Stage ------->|
//!   |                  |<------ Staged ---------|<----- Staged -------|
//!   |<--- Decide ------|------- Decide -------->|------ Decide ------>|
//!   |                  |<...... done ...........|<..... done .........| with later messages
//! ```
//!
//! **Who may die when.** The invariant: *if an operation was decided, then every living member of
//! its set has its data or has delivered it, until it is known to be done everywhere.*
//! - A member dies: the master learns it by evidence or because its lease was not renewed, and
//!   opens an epoch without it. Decisions are told again; what is undecided is staged again in the
//!   new tree, or fails if the dead one was in its set. Who did it already skips it, by its number.
//! - The origin dies: the master has the data; the operation ends without it.
//! - A member is cut off or stopped: it delivers and answers nothing once its lease is over
//!   (`lease.rs`); it learns that it was removed, its user's operations end as *unknown*, and it
//!   joins again with the state of the variables (`epoch.rs`).
//! - A member is taken for dead by evidence that is wrong: nobody waits for its lease, as who waits
//!   for the news of a death must not. Until it learns that it was removed, or for a lease, it may
//!   answer with what was while the others go on. It delivers nothing that they do not.
//! - The master dies and is restarted: it asks all nodes what they know, and goes on in a higher
//!   term (`recover.rs`). If the only nodes that saw a decision are cut off at that very time, they
//!   are removed, and the operation ends among the others without regard to what was told there,
//!   by this master or a later one. Who joins again has the variables that the others have; what
//!   it alone was told of stays in its events and regions: these its user has to make good.
//!
//! **Assumed.** One master process at a time (it is one process with a journal), whose terms grow;
//! a node's incarnations differ. Clocks run at about the same rate: two drift apart by less than
//! the slack in a lease. Nobody lies: a malformed message is an error of its connection, but a
//! member that speaks the protocol is believed, as far as it is asked.
//!
//! **A bad way.** Members that all reach the master may not all reach one another: a rule of a
//! firewall, a port of a switch. What goes down the tree then waits for who is below such a way. It
//! asks the master itself for its lease (`lease.rs`), and when nothing has come from above, or got
//! there, for two leases it says so: it becomes the master's child (`tree.rs`), in the next epoch
//! and for its life. So does, when it is taken in again, who did not hear that it was. For more of
//! them than there is room for, leases end: they stay outside, and nobody waits for them.
//!
//! Beside these operations members may tell the master something (`tell.rs`), which is combined up
//! the tree and has none of these promises.
//!
//! Messages: `message.rs`, and `docs/wire/primitives.md` byte by byte.

mod epoch;
mod flight;
mod lease;
mod link;
mod member;
mod memory;
mod message;
mod nodes;
mod recover;
mod request;
mod sequencer;
mod tell;
#[cfg(test)]
mod tests;
mod transfer;
mod tree;
mod wire;

pub use member::{Config, Core, Notice, Refusal, Request, TERM_MAX};
pub use message::{
    Account, Carried, KINDS, Known, Message, Op, Opening, Outcome, Relation, What, Work, Wrote,
};
pub use nodes::Nodes;
pub use tree::{Branch, Place};
