//! The machine: node daemons, each serving the XCPU tree of its node, the manager, which serves
//! the tree of the whole cluster and runs jobs on the nodes, the strober, by which jobs take turns,
//! and the keeper, which keeps all of them running on one machine; on several, one on each host.

pub mod chunk;
pub mod config;
pub mod descriptors;
pub mod files;
pub mod hosts;
pub mod image;
pub mod keeper;
pub mod launch;
mod library;
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
