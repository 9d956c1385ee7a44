//! Files that node and manager serve, by kind: a text to edit, lines to obey, a stream to read,
//! a stream to write, a fact that becomes known once, a text made when somebody asks.

pub mod control;
pub mod feed;
pub mod fixed;
pub mod lane;
pub mod latch;
pub mod stream;
pub mod text;
pub mod told;
