//! Ground floor of Muster: the words and limits that every other crate shares.
//!
//! No I/O, no threads, no unsafe. What is used by one crate only does not belong here.

pub mod catalog;
pub mod elf;
pub mod ending;
pub mod limits;
pub mod nodeset;
pub mod processors;
pub mod quote;
pub mod span;
