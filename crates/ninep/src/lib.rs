//! 9P: names for everything. Messages of 9P2000, 9P2000.u and 9P2000.L, a server that is a
//! table, a client that pipelines, and an I/O-free core below thin shells.
//!
//! A request's way: [`message`] cuts and reads it, [`session`] keeps its fid and tag, the
//! served [`tree`] answers it, now or later; [`serve`] moves the bytes.

pub mod address;
pub mod call;
pub mod client;
mod desk;
pub mod error;
mod fid;
pub mod host;
pub mod intake;
mod kept;
pub mod message;
mod mounted;
mod old;
pub mod outbox;
mod processors;
mod promised;
pub mod record;
pub mod remote;
mod room;
pub mod serve;
pub mod session;
pub mod stream;
pub mod synthetic;
mod sys;
pub mod tree;
pub mod version;
pub mod wire;
