//! The directories of sessions. To make and to remove one costs a file system more than all else
//! of a short program's start (ext4 also looks through what was removed in the last seconds), so
//! one that its session has left as it was given serves another.

use crate::keeper::remove_all;
use rustix::fs::{Mode, OFlags, RawDir, Stat};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use muster_base::limits::SPARE_DIRECTORIES_MAX;

/// What the names of those begin with that no session has.
const SPARE: &str = "spare-";

/// All of one node.
#[derive(Debug)]
pub(super) struct Directories {
    /// Where they are.
    place: PathBuf,
    /// What a new one is like here.
    fresh: OnceLock<Look>,
    spare: Mutex<Vec<PathBuf>>,
    /// How many have been spare.
    count: AtomicU64,
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
    pub(super) fn new(place: &Path) -> Directories {
        // A daemon that was killed has left its own.
        for entry in fs::read_dir(place).into_iter().flatten().flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(SPARE.as_bytes()) {
                remove(&entry.path());
            }
        }
        let (fresh, spare, count) = (OnceLock::new(), Mutex::default(), AtomicU64::new(0));
        Directories { place: place.to_owned(), fresh, spare, count }
    }

    fn spare(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        // They are there or not, whatever panicked.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An empty directory for the session of this number.
    ///
    /// # Errors
    /// Those of mkdir(2).
    pub(super) fn make(&self, number: u32) -> io::Result<PathBuf> {
        let directory = self.place.join(format!("xcpu-{number:06}"));
        let spare = self.spare().pop();
        if let Some(spare) = spare {
            if fs::rename(&spare, &directory).is_ok() {
                return Ok(directory);
            }
            remove(&spare);
        }
        // The serving thread has no umask.
        let make = || fs::DirBuilder::new().mode(0o700).create(&directory);
        if make().is_err() {
            // A daemon that was killed may have left one of this name.
            let _ = remove_all(&directory);
            make()?;
        }
        if self.fresh.get().is_none()
            && let Ok((look, _)) = Look::at(&directory)
        {
            let _ = self.fresh.set(look);
        }
        Ok(directory)
    }

    /// Removes what a session has left, or keeps it for another. False if it is still there.
    pub(super) fn take_back(&self, Left { path, is_free }: &Left) -> bool {
        if *is_free && self.spare().len() < SPARE_DIRECTORIES_MAX {
            // Under a name that nobody has heard of.
            let number = self.count.fetch_add(1, Ordering::Relaxed);
            let spare = self.place.join(format!("{SPARE}{number}"));
            if fs::rename(path, &spare).is_ok() {
                if !self.is_as_made(&spare) {
                    // Under its own name it is tried again.
                    return remove(&spare) || fs::rename(&spare, path).is_err();
                }
                self.spare().push(spare);
                return true;
            }
        }
        remove(path)
    }

    /// Whether the next session would find what the first one has found, once it is empty.
    fn is_as_made(&self, directory: &Path) -> bool {
        let looked = Look::at(directory).and_then(|(look, is_empty)| match is_empty {
            true => Ok(look),
            false => clear(directory).and_then(|()| Ok(Look::at(directory)?.0)),
        });
        looked.is_ok_and(|look| self.fresh.get() == Some(&look))
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

/// Removes all that is in a directory.
fn clear(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        remove_all(&entry?.path()).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Whether it is gone.
fn remove(directory: &Path) -> bool {
    // Most are empty.
    fs::remove_dir(directory).is_ok() || remove_all(directory).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    fn inode(directory: &Path) -> u64 {
        fs::metadata(directory).unwrap().ino()
    }

    fn left(path: &Path, is_free: bool) -> Left {
        Left { path: path.to_owned(), is_free }
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
        assert!(directories.take_back(&left(&first, true)));
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
            assert!(directories.take_back(&left(&directory, is_free)));
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
        clear(&probe).unwrap();
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
        assert!(directories.take_back(&left(&spare, true)));
        fs::create_dir(scratch.join("xcpu-000002")).unwrap();
        fs::write(scratch.join("xcpu-000002/old"), "x").unwrap();
        for number in [2, 3] {
            let directory = directories.make(number).unwrap();
            assert_eq!(fs::read_dir(directory).unwrap().count(), 0);
        }
        assert_eq!(fs::read_dir(&*scratch).unwrap().count(), 2);
        fs::create_dir(scratch.join("spare-7")).unwrap();
        fs::write(scratch.join("spare-7/old"), "x").unwrap();
        let _ = Directories::new(&scratch);
        assert!(!scratch.join("spare-7").exists());
    }
}
