//! The heartbeat.
