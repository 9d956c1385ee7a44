//! Muster machine.
