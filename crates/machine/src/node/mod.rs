//! The node daemon: what runs on every machine of the cluster.

pub mod cgroup;
pub mod shepherd;
