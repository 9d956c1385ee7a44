//! Muster machine.

pub mod node;
