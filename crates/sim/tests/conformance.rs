//! The suite that every transport passes, for the simulated one: messages are late by what is drawn
//! from the seed in `MUSTER_SEED`, or from one that is always the same.

use muster_fabric::Address;
use muster_fabric::conformance::Subject;
use muster_fabric::transport::Transport;
use muster_sim::transport::Simulated;
use std::sync::atomic::{AtomicU32, Ordering};

/// Each test has nodes of its own.
struct Nodes;

impl Subject for Nodes {
    fn transport(&self) -> &dyn Transport {
        &Simulated
    }

    fn address(&self) -> Address {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let seed = std::env::var("MUSTER_SEED").unwrap_or_else(|_| "1".to_owned());
        let network = format!("conformance?seed={seed}");
        Address::Simulated(network, NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

muster_fabric::conformance!(Nodes);
