//! The files of a job on their way to the sessions of its ranks: one stream of records that a
//! client packs ([`pack`]), every node reads ([`mod@format`]), keeps ([`receive`]) and passes on
//! while it arrives ([`fan`]).
//!
//! `docs/wire/relay.md` describes the bytes. A stream goes down a tree: whoever sends splits the
//! targets into at most so many groups and writes the stream to the `relay` file of the first of
//! each, with the others named in front. A target that does not answer is skipped and reported;
//! if a head dies in the middle, those behind it are served anew by whoever is above, who has the
//! files by then.

pub mod fan;
pub mod format;
pub mod pack;
pub mod receive;
pub mod recipe;
pub mod source;
