//! The strober as a process. Its main thread sleeps until somebody asks, or the lifeline ends.

use super::hands::Hands;
use super::place::Place;
use super::turns::Turns;
use super::{Status, Table, Told, kept, socket, sys};
use crate::descriptors::{ACCEPT_AGAIN, is_to_wait, take_all};
use crate::keeper::{Directory, Presence};
use muster_base::limits::LETTER_MAX;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Who may be asking at once: the nodes of a machine do so for a moment each. Who comes beyond
/// that, and has not said his line, has the oldest give way.
const ASKERS_MAX: usize = 64;

/// Runs the strober of the daemons in `directory` until its lifeline, standard input, ends.
///
/// # Errors
/// When the directory or its socket cannot be used.
pub fn run(directory: &Path) -> io::Result<()> {
    // It has one open for each job of the cluster; with fewer some are never stopped.
    let _ = take_all();
    let directory = Directory::at(directory).map_err(io::Error::other)?;
    let presence = Presence::enter(&directory).map_err(io::Error::other)?;
    let mut strober = Strober::start(&directory)?;
    strober.serve()?;
    drop(strober);
    presence.leave(&directory).map_err(io::Error::other)?;
    Ok(())
}

struct Strober {
    turns: Arc<Turns>,
    is_real_time: bool,
    door: Door,
    /// Who has not said his line yet.
    askers: VecDeque<Asker>,
    kept: PathBuf,
}

/// Where they come in.
struct Door {
    listener: UnixListener,
    /// No descriptor is left for who has come: until some are he waits, and so does the strober,
    /// though the socket is ready.
    is_short: bool,
}

struct Asker {
    stream: UnixStream,
    said: Vec<u8>,
}

impl Strober {
    fn start(directory: &Directory) -> io::Result<Strober> {
        let path = socket(directory.path());
        // Left behind by one that was killed.
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        let door = Door { listener, is_short: false };
        let place = Place::of(directory);
        let is_grouped = matches!(place, Place::Groups(_));
        // To look for ranks in lists may take longer than a slice.
        let is_real_time = is_grouped && sys::be_real_time().is_ok();
        let turns = Turns::start(Hands::new(place), is_real_time)?;
        let kept = kept(directory.path());
        let last = fs::read(&kept).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let strober = Strober { turns, is_real_time, door, askers: VecDeque::new(), kept };
        if let Some(table) = last {
            strober.take(table)?;
        }
        Ok(strober)
    }

    fn serve(&mut self) -> io::Result<()> {
        loop {
            let [lifeline, door, askers @ ..] = &self.wait()?[..] else { return Ok(()) };
            let (is_over, is_knocked) = (*lifeline, *door || self.door.is_short);
            let ready: Vec<usize> = (0..askers.len()).filter(|at| askers[*at]).collect();
            if is_over {
                return Ok(());
            }
            // The last first: those before keep their places.
            for at in ready.into_iter().rev() {
                self.hear(at)?;
            }
            if is_knocked {
                self.admit();
            }
        }
    }

    /// Sleeps until something happens: at the lifeline, the door, or with an asker.
    fn wait(&self) -> io::Result<Vec<bool>> {
        let lifeline = rustix::stdio::stdin();
        let (knock, patience) = self.door.awaits();
        let door = PollFd::new(&self.door.listener, knock);
        let mut fds = vec![PollFd::new(&lifeline, PollFlags::IN), door];
        fds.extend(self.askers.iter().map(|asker| PollFd::new(&asker.stream, PollFlags::IN)));
        match poll(&mut fds, patience.as_ref()) {
            Ok(_) => Ok(fds.iter().map(|fd| !fd.revents().is_empty()).collect()),
            Err(Errno::INTR) => Ok(vec![false; fds.len()]),
            Err(error) => Err(error.into()),
        }
    }

    /// From now on turns go by this table, if it is newer.
    fn take(&self, table: Table) -> io::Result<()> {
        if table.stamp() > self.turns.lock().rotation.stamp() {
            let text = serde_json::to_vec(&table)?;
            // One that is killed here leaves a whole table.
            let draft = self.kept.with_extension("new");
            let kept = fs::write(&draft, text).and_then(|()| fs::rename(&draft, &self.kept));
            if kept.is_err() {
                // On a full disk one that is started again waits until the manager sends it again,
                // and has nobody stand still by an older one meanwhile.
                let _ = fs::remove_file(&self.kept);
            }
        }
        self.turns.take(table)
    }

    /// Somebody wants to say something.
    fn admit(&mut self) {
        while let Some(stream) = self.door.admit() {
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.askers.len() == ASKERS_MAX {
                self.askers.pop_front();
            }
            self.askers.push_back(Asker { stream, said: Vec::new() });
        }
    }

    /// Hears what an asker says: a line with a table or a phase, or an empty one. All are answered
    /// alike.
    fn hear(&mut self, at: usize) -> io::Result<()> {
        let asker = &mut self.askers[at];
        let is_whole = match asker.read() {
            Ok(is_whole) => is_whole,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(_) => true,
        };
        if !is_whole {
            return Ok(());
        }
        let Some(mut asker) = self.askers.remove(at) else { return Ok(()) };
        match serde_json::from_slice(&asker.said) {
            Ok(Told::Table(table)) => self.take(table)?,
            Ok(Told::Phase(phase)) => self.turns.keep_step(&phase)?,
            Err(_) => {}
        }
        let mut answer = serde_json::to_vec(&self.status())?;
        answer.push(b'\n');
        // It fits into an empty socket; who has gone needs none.
        let _ = asker.stream.write(&answer);
        Ok(())
    }

    fn status(&self) -> Status {
        let state = self.turns.lock();
        let (rotation, hands) = (&state.rotation, &state.hands);
        let (strobes, missed) = rotation.counts();
        Status {
            stamp: rotation.stamp(),
            slots: rotation.slots().slots.len(),
            slot: rotation.slot(),
            turn: rotation.turn(),
            slice_us: u64::try_from(rotation.slice() / 1000).unwrap_or(0),
            strobes,
            missed,
            lent: state.lending.lent(),
            failed: hands.failed(),
            scheduled: if self.is_real_time { "fifo" } else { "shared" }.to_owned(),
            by: hands.by().to_owned(),
        }
    }
}

impl Door {
    /// What of it is waited for, and for how long at most.
    fn awaits(&self) -> (PollFlags, Option<Timespec>) {
        match self.is_short {
            true => (PollFlags::empty(), ACCEPT_AGAIN.try_into().ok()),
            false => (PollFlags::IN, None),
        }
    }

    /// Somebody, if there is one and a descriptor for him.
    fn admit(&mut self) -> Option<UnixStream> {
        loop {
            let admitted = self.listener.accept();
            self.is_short = admitted.as_ref().is_err_and(is_to_wait);
            match admitted {
                Ok((stream, _)) => return Some(stream),
                Err(error) if self.is_short || error.kind() == ErrorKind::WouldBlock => {
                    return None;
                }
                // He has gone again.
                Err(_) => {}
            }
        }
    }
}

impl Asker {
    /// Reads what there is; true if it is a whole line, or no more will come.
    fn read(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4096];
        loop {
            let count = self.stream.read(&mut bytes)?;
            self.said.extend_from_slice(&bytes[..count]);
            if count == 0 || bytes[..count].contains(&b'\n') || self.said.len() > LETTER_MAX {
                return Ok(true);
            }
        }
    }
}

impl Drop for Strober {
    fn drop(&mut self) {
        self.turns.end();
        // Nobody is to find a door behind which nobody is.
        let _ = self.door.listener.local_addr().map(|at| at.as_pathname().map(fs::remove_file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use rustix::net::{AddressFamily, SocketType};

    #[test]
    fn a_door_that_lets_nobody_in_is_not_asked_again_at_once() {
        // A socket nobody listens at fails as one for which no descriptor is left.
        let fails = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        let mut door = Door { listener: fails.into(), is_short: false };
        assert_eq!(door.awaits(), (PollFlags::IN, None));
        assert!(door.admit().is_none());
        let (knock, patience) = door.awaits();
        assert!(knock.is_empty() && patience.is_some());
        let scratch = Scratch::new("strober");
        door.listener = UnixListener::bind(scratch.join("door")).unwrap();
        door.listener.set_nonblocking(true).unwrap();
        let _asker = UnixStream::connect(scratch.join("door")).unwrap();
        assert!(door.admit().is_some());
        assert!(door.admit().is_none(), "there was one");
        assert_eq!(door.awaits(), (PollFlags::IN, None));
    }
}
