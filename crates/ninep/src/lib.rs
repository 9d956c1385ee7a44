//! Muster ninep.
