//! Muster machine.

pub mod relay;
