//! The manager as a process.

use super::{Manager, tree};
use crate::config::Config;
use crate::descriptors;
use crate::keeper::{Directory, Presence};
use crate::line::{self, Door};
use crate::memory::Memory;
use crate::roster::{MANAGER, Roster, listening};
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
    // It has some for each node, and for each command that is connected.
    let _ = descriptors::take_all();
    let presence = Presence::enter(&directory).map_err(io::Error::other)?;
    let roster = Roster::of(&directory)?;
    if roster.is_beyond() {
        let user = Config::from_env().and_then(|config| config.identity());
        roster.enter(MANAGER, &user.map_err(io::Error::other)?)?;
    }
    let memory = Arc::new(Memory::lead(&directory, &roster)?);
    // The keeper ends the cluster when the manager ends in order.
    let down = || std::process::exit(0);
    let manager = Manager::start(directory.path(), &roster, &memory, down)?;
    let server = Arc::new(Server::start(&Arc::new(tree::of(&manager)), 1, same_user)?);
    // Commands come in from this machine, and daemons where the roster says.
    let here = line::read_address(&directory.manager().to_string()).map_err(io::Error::other)?;
    let mut doors = vec![Door::open(&here, server.clone())?];
    if let Some(beyond) = roster.line(MANAGER).filter(|_| roster.is_beyond()) {
        doors.push(Door::open(&listening(beyond), server.clone())?);
    }
    manager.opened();
    // Nothing is ever written to the lifeline.
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    drop(doors);
    drop(server);
    memory.close();
    drop(manager);
    presence.leave(&directory).map_err(io::Error::other)?;
    Ok(())
}
