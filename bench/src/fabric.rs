//! `bench fabric`.
pub mod peers;
pub mod raw;
mod sys;
