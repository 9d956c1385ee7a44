//! The directories of sessions. To make and to remove one costs a file system more than all else
//! of a short program's start (ext4 also looks through what was removed in the last seconds), so
//! one that its session has left as it was given serves another.
//!
//! A session may leave half a million files, and a process of its may still be making more. All
//! that is in a directory goes on a thread of its own, which is there only while there is any.

use crate::files::lane::Lane;
use crate::keeper::remove_all;
use rustix::fs::{Mode, OFlags, RawDir, Stat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::fs;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use muster_base::limits::SPARE_DIRECTORIES_MAX;

/// What the names of those begin with that no session has.
const SPARE: &str = "spare-";

/// And of those that one has.
const OWN: &str = "xcpu-";

/// How long it is tried to remove a directory: who makes files in it may take a moment to be gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause before it is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// All of one node.
pub(super) struct Directories {
    /// Where they are.
    place: PathBuf,
    /// What a new one is like here.
    fresh: OnceLock<Look>,
    spare: Mutex<Vec<PathBuf>>,
    /// How many have been spare.
    count: AtomicU64,
    /// Those to be emptied, and removed unless they may be kept.
    discarded: Mutex<VecDeque<(PathBuf, bool)>>,
    /// Where that is done.
    removals: Lane,
}

/// What a session has left.
#[derive(Clone, Debug)]
pub(super) struct Left {
    pub(super) path: PathBuf,
    /// Nothing of the session runs any more, and nobody has ever come into it: nobody reaches it.
    pub(super) is_free: bool,
}

/// What of a directory a session could change, beside what is in it.
#[derive(Debug, PartialEq, Eq)]
struct Look {
    mode: u32,
    owner: (u32, u32),
    /// Its own: some file systems never give back what many entries took.
    size: i64,
    /// Names and values of its extended attributes; ACLs are some.
    attributes: Vec<u8>,
}

impl Directories {
    pub(super) fn new(place: &Path) -> Arc<Directories> {
        // A daemon that was killed may have left its own.
        let left = |begins: &str| {
            let entries = fs::read_dir(place).into_iter().flatten().flatten();
            let mut paths = entries.map(|entry| entry.path()).collect::<Vec<_>>();
            paths.retain(|path| {
                let name = path.file_name().unwrap_or_default();
                name.as_encoded_bytes().starts_with(begins.as_bytes())
            });
            paths
        };
        // What stays is in nobody's way until the node ends.
        left(SPARE).iter().for_each(|path| drop(remove_all(path)));
        let (fresh, spare, count) = (OnceLock::new(), Mutex::default(), AtomicU64::new(0));
        let (place, discarded, removals) = (place.to_owned(), Mutex::default(), Lane::default());
        let all = Arc::new(Directories { place, fresh, spare, count, discarded, removals });
        let renamed = left(OWN).into_iter().filter_map(|path| all.renamed(&path));
        renamed.for_each(|path| all.discard(path, false));
        all
    }

    fn discarded(&self) -> MutexGuard<'_, VecDeque<(PathBuf, bool)>> {
        self.discarded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spare(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        // They are there or not, whatever panicked.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An empty directory for the session of this number.
    ///
    /// # Errors
    /// Those of mkdir(2).
    pub(super) fn make(self: &Arc<Directories>, number: u32) -> io::Result<PathBuf> {
        let directory = self.place.join(format!("{OWN}{number:06}"));
        let spare = self.spare().pop();
        if let Some(spare) = spare {
            if fs::rename(&spare, &directory).is_ok() {
                return Ok(directory);
            }
            self.discard(spare, false);
        }
        // The serving thread has no umask.
        let make = || fs::DirBuilder::new().mode(0o700).create(&directory);
        if make().is_err() {
            // A daemon that was killed may have left one of this name.
            self.renamed(&directory).into_iter().for_each(|old| self.discard(old, false));
            make()?;
        }
        if self.fresh.get().is_none()
            && let Ok((look, _)) = Look::at(&directory)
        {
            let _ = self.fresh.set(look);
        }
        Ok(directory)
    }

    /// Keeps what a session has left for another, or removes it. Nobody waits for more than what
    /// becomes of an empty one.
    pub(super) fn take_back(self: &Arc<Directories>, Left { path, is_free }: Left) {
        let is_free = is_free && self.has_room();
        if !is_free && fs::remove_dir(&path).is_ok() {
            return;
        }
        let Some(spare) = self.renamed(&path) else { return };
        // Under its own name it may not serve another.
        let is_free = is_free && spare != path;
        if !(is_free && self.keep(&spare)) {
            self.discard(spare, is_free);
        }
    }

    fn has_room(&self) -> bool {
        self.spare().len() < SPARE_DIRECTORIES_MAX
    }

    /// Gives a directory, if it is there, a name that nobody has heard of: the next session may
    /// have its number.
    fn renamed(&self, directory: &Path) -> Option<PathBuf> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let spare = self.place.join(format!("{SPARE}{number}"));
        match fs::rename(directory, &spare) {
            Ok(()) => Some(spare),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            // A disk may be so full that there is no room for a name.
            Err(_) => Some(directory.to_owned()),
        }
    }

    /// Keeps a directory if the next session would find in it what the first one has found.
    fn keep(&self, directory: &Path) -> bool {
        let is_as_made = |(look, is_empty)| is_empty && self.fresh.get() == Some(&look);
        let is_kept = self.has_room() && Look::at(directory).is_ok_and(is_as_made);
        if is_kept {
            self.spare().push(directory.to_owned());
        }
        is_kept
    }

    /// Has a directory emptied, and removed unless it may be kept and can be.
    fn discard(self: &Arc<Directories>, directory: PathBuf, may_be_kept: bool) {
        self.discarded().push_back((directory, may_be_kept));
        let own = self.clone();
        // Where no thread is to be had it is done with the next one.
        self.removals.run(move || own.clear_up());
    }

    fn clear_up(self: Arc<Directories>) {
        while let Some((directory, may_be_kept)) = self.next_discarded() {
            let until = Instant::now() + PATIENCE;
            if may_be_kept {
                clear(&directory);
            }
            if !(may_be_kept && self.keep(&directory)) {
                self.clone().remove(directory, until);
            }
        }
    }

    fn next_discarded(&self) -> Option<(PathBuf, bool)> {
        self.discarded().pop_front()
    }

    /// Removes a directory, or tries it again after others.
    fn remove(self: Arc<Directories>, directory: PathBuf, until: Instant) {
        let Err(error) = remove_all(&directory) else { return };
        if Instant::now() < until {
            std::thread::sleep(PAUSE);
            // This is its thread, so there is one.
            self.removals.clone().run(move || self.remove(directory, until));
            return;
        }
        // There may be nobody to read it.
        let _ = writeln!(io::stderr(), "what a job has left stays until its node ends: {error}");
    }
}

impl Look {
    /// At a directory; also whether it is empty.
    fn at(directory: &Path) -> io::Result<(Look, bool)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(directory, flags, Mode::empty())?;
        let Stat { st_mode, st_uid, st_gid, st_size, .. } = rustix::fs::fstat(&opened)?;
        let mut names = [0; 1024];
        let length = match rustix::fs::flistxattr(&opened, &mut names) {
            Err(Errno::NOTSUP) => 0,
            length => length?,
        };
        let mut attributes = names[..length].to_vec();
        for name in names[..length].split_inclusive(|byte| *byte == 0) {
            let name = CStr::from_bytes_with_nul(name).map_err(io::Error::other)?;
            let mut value = [0; 1024];
            let length = rustix::fs::fgetxattr(&opened, name, &mut value)?;
            attributes.extend_from_slice(&value[..length]);
        }
        let mut room = [MaybeUninit::uninit(); 1024];
        let mut entries = RawDir::new(&opened, &mut room);
        let mut is_empty = true;
        while let Some(entry) = entries.next() {
            is_empty &= matches!(entry?.file_name().to_bytes(), b"." | b"..");
            if !is_empty {
                break;
            }
        }
        let (owner, size) = ((st_uid, st_gid), st_size);
        Ok((Look { mode: st_mode, owner, size, attributes }, is_empty))
    }
}

/// Removes what is in a directory, as far as that can be.
fn clear(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.for_each(|entry| drop(remove_all(&entry.path())));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn inode(directory: &Path) -> u64 {
        fs::metadata(directory).unwrap().ino()
    }

    /// Takes one back, and waits until it is kept or gone.
    fn take_back(directories: &Arc<Directories>, path: &Path, is_free: bool) {
        directories.take_back(Left { path: path.to_owned(), is_free });
        let (done, is_done) = std::sync::mpsc::channel();
        directories.removals.run(move || done.send(()).unwrap());
        is_done.recv().unwrap();
    }

    #[test]
    fn one_that_was_left_as_it_was_serves_the_next_session_emptied() {
        let scratch = Scratch::new("directories-again");
        let directories = Directories::new(&scratch);
        let first = directories.make(1).unwrap();
        let made = inode(&first);
        fs::create_dir(first.join("deep")).unwrap();
        fs::write(first.join("deep/file"), "x").unwrap();
        std::os::unix::fs::symlink("/nowhere", first.join("link")).unwrap();
        take_back(&directories, &first, true);
        assert!(!first.exists(), "nobody finds it by its old name");
        let second = directories.make(2).unwrap();
        assert_eq!((second.file_name().unwrap(), inode(&second)), ("xcpu-000002".as_ref(), made));
        assert_eq!(fs::read_dir(&second).unwrap().count(), 0);
    }

    #[test]
    fn one_that_somebody_may_reach_or_that_was_changed_serves_nobody() {
        let scratch = Scratch::new("directories-changed");
        let directories = Directories::new(&scratch);
        let is_kept = |number, is_free, change: &dyn Fn(&Path)| {
            let directory = directories.make(number).unwrap();
            change(&directory);
            take_back(&directories, &directory, is_free);
            assert!(!directory.exists());
            let names = fs::read_dir(&*scratch).unwrap().count();
            assert_eq!(names, directories.spare().len(), "what is not kept is gone");
            names == 1
        };
        let open = |directory: &Path| {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o711)).unwrap();
        };
        let mark = |directory: &Path| {
            let flags = rustix::fs::XattrFlags::empty();
            // Where there are none it is not changed.
            if rustix::fs::setxattr(directory, "user.mine", b"x", flags).is_err() {
                open(directory);
            }
        };
        let fill = |directory: &Path| {
            for file in 0..3000 {
                fs::write(directory.join(format!("a-name-of-some-length-{file}")), "").unwrap();
            }
        };
        assert!(!is_kept(1, false, &|_| {}));
        assert!(!is_kept(2, true, &open));
        assert!(!is_kept(3, true, &mark));
        // Kept where the file system gives back what so many names took.
        let probe = scratch.join("probe");
        fs::create_dir(&probe).unwrap();
        let size = || fs::metadata(&probe).unwrap().len();
        let before = size();
        fill(&probe);
        clear(&probe);
        let grows = size() > before;
        fs::remove_dir(&probe).unwrap();
        assert_eq!(is_kept(4, true, &fill), !grows);
        assert!(is_kept(5, true, &|_| {}));
    }

    #[test]
    fn what_a_daemon_that_was_killed_has_left_is_in_nobodys_way() {
        let scratch = Scratch::new("directories-killed");
        let directories = Directories::new(&scratch);
        let spare = directories.make(1).unwrap();
        take_back(&directories, &spare, true);
        fs::create_dir(scratch.join("xcpu-000002")).unwrap();
        fs::write(scratch.join("xcpu-000002/old"), "x").unwrap();
        for number in [2, 3] {
            let directory = directories.make(number).unwrap();
            assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
        }
        take_back(&directories, &scratch.join("xcpu-000003"), false);
        assert_eq!(fs::read_dir(&*scratch).unwrap().count(), 1);
        fs::create_dir(scratch.join("spare-7")).unwrap();
        fs::write(scratch.join("spare-7/old"), "x").unwrap();
        let next = Directories::new(&scratch);
        let (done, is_done) = std::sync::mpsc::channel();
        next.removals.run(move || done.send(()).unwrap());
        is_done.recv().unwrap();
        assert_eq!(fs::read_dir(&*scratch).unwrap().count(), 0, "nobody would count them");
    }

    /// It stayed until the node ended.
    #[test]
    fn what_no_thread_was_there_for_goes_with_the_next_one() {
        let scratch = Scratch::new("directories-thread");
        let directories = Directories::new(&scratch);
        let (first, second) = (directories.make(1).unwrap(), directories.make(2).unwrap());
        for directory in [&first, &second] {
            fs::write(directory.join("file"), "x").unwrap();
        }
        // As it is left when none is to be had.
        directories.discarded().push_back((first, false));
        take_back(&directories, &second, false);
        assert_eq!(fs::read_dir(&*scratch).unwrap().count(), 0);
    }

    #[test]
    fn what_is_in_one_goes_while_others_are_made_and_taken_back() {
        let scratch = Scratch::new("directories-full");
        let directories = Directories::new(&scratch);
        // The thread has much to do.
        let (go_on, waits) = std::sync::mpsc::channel::<()>();
        directories.removals.run(move || waits.recv().unwrap_or_default());
        let full = directories.make(1).unwrap();
        fs::create_dir(full.join("sub")).unwrap();
        fs::write(full.join("sub/file"), "x").unwrap();
        directories.take_back(Left { path: full.clone(), is_free: true });
        assert!(!full.exists(), "nobody finds it by its old name");
        let empty = directories.make(1).unwrap();
        let made = inode(&empty);
        directories.take_back(Left { path: empty, is_free: true });
        let again = directories.make(2).unwrap();
        assert_eq!(inode(&again), made);
        drop(go_on);
        take_back(&directories, &again, false);
        assert_eq!(fs::read_dir(&*scratch).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&directories.spare()[0]).unwrap().count(), 0);
    }
}
