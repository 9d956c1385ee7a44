//! The manager as a process.

use super::{Manager, tree};
use crate::keeper::{Directory, Presence};
use crate::line::Door;
use crate::memory::Memory;
use muster_ninep::serve::{Server, same_user};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// Runs the manager of the cluster in `directory` until its lifeline, standard input, ends.
///
/// # Errors
/// When the directory or its socket cannot be used.
pub fn run(directory: &Path) -> io::Result<()> {
    let directory = Directory::at(directory).map_err(io::Error::other)?;
    let presence = Presence::enter(&directory).map_err(io::Error::other)?;
    let memory = Arc::new(Memory::lead(&directory)?);
    // The keeper ends the cluster when the manager ends in order.
    let down = || std::process::exit(0);
    let manager = Manager::start(directory.path(), &memory, down)?;
    let server = Arc::new(Server::start(&Arc::new(tree::of(&manager)), 1, same_user)?);
    let door = Door::open(&directory.manager(), server.clone())?;
    // Nothing is ever written to the lifeline.
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    drop(door);
    drop(server);
    memory.close();
    drop(manager);
    presence.leave(&directory).map_err(io::Error::other)?;
    Ok(())
}
