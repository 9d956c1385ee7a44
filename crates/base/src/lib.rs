//! Muster base.
