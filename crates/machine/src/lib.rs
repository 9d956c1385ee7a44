//! The machine: node daemons, each serving the XCPU tree of its node, and the manager, which
//! serves the tree of the whole cluster and runs jobs on the nodes.

pub mod files;
pub mod node;
pub mod relay;
