//! Muster machine.

pub mod keeper;
