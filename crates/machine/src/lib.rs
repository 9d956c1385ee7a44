//! The machine: node daemons, each serving the XCPU tree of its node, the manager, which serves
//! the tree of the whole cluster and runs jobs on the nodes, and the keeper, which keeps both
//! running on one machine.

pub mod chunk;
pub mod config;
pub mod descriptors;
pub mod files;
pub mod hosts;
pub mod image;
pub mod keeper;
pub mod launch;
pub mod line;
pub mod manager;
pub mod memory;
pub mod mounts;
pub mod node;
pub mod output;
pub mod prompt;
pub mod relay;
pub mod roster;
pub mod schedule;
#[cfg(test)]
mod scratch;
pub mod slots;
pub mod strober;
pub mod usage;
