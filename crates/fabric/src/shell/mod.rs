//! Runs protocols over connections.
