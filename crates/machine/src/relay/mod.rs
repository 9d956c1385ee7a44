//! The files of a job on their way to the sessions of its ranks: one stream of records that a
//! client packs ([`pack`]), every node reads ([`format`]), keeps and passes on while it arrives.
//!
//! `docs/wire/relay.md` describes the bytes.

pub mod format;
pub mod pack;
