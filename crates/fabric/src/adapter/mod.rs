//! Scenario adapters: what wraps a system abstraction.
