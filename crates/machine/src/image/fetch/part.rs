//! `FILE.part/`: what there is of a file that is being fetched.

use super::{Error, Result, local};
use crate::chunk::HASH;
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Locked by the fetch whose directory it is.
const LOCK: &str = "lock";

/// Where others come in on this machine.
pub(super) const SOCKET: &str = "sock";

/// The directory, which is ours while this is there.
pub(super) struct Part {
    pub(super) path: PathBuf,
    _lock: File,
}

/// Refuses a directory that others have made or may write to: what they put there would be
/// written through, or taken for ours.
fn check_own(path: &Path) -> Result<()> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    let meta = File::options().read(true).custom_flags(flags).open(path);
    let is_own = match meta.and_then(|directory| directory.metadata()) {
        Ok(meta) => meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0,
        // A link, or what is no directory.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR)) => false,
        Err(error) => return Err(local(path, error)),
    };
    if is_own {
        return Ok(());
    }
    let why = "it is there and not a directory that only you can write to; remove it, or fetch to \
               another place";
    Err(Error::Local { path: path.to_owned(), why: why.into() })
}

impl Part {
    /// That of a file.
    pub(super) fn of(file: &Path) -> Result<Part> {
        // The image takes the place of what has its name: that of a device is not ours to take.
        if fs::metadata(file).is_ok_and(|meta| !meta.is_file()) {
            let why = "it is there and no ordinary file, so no image can have its name";
            return Err(Error::Local { path: file.to_owned(), why: why.into() });
        }
        let mut path = file.as_os_str().to_owned();
        path.push(".part");
        let path = PathBuf::from(path);
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        if let Err(error) = made
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(local(&path, error));
        }
        check_own(&path)?;
        let name = path.join(LOCK);
        let mut options = File::options();
        options.write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW);
        let lock = options.open(&name);
        let lock = lock.map_err(|error| local(&name, error))?;
        let is_locked = rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        // One that is just done removes what we locked.
        let inode = |meta: io::Result<fs::Metadata>| meta.map(|meta| meta.ino()).ok();
        if !is_locked || inode(lock.metadata()) != inode(fs::symlink_metadata(&name)) {
            return Err(Error::Local { path, why: "another fetch is writing it".into() });
        }
        Ok(Part { path, _lock: lock })
    }

    /// Removes what a fetch has left there of another image. Whatever else is in a directory of
    /// that name is the user's.
    pub(super) fn tidy(&self, but: &str) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().unwrap_or_default();
            let is_digest =
                name.len() == 2 * HASH && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            if name != but && (is_digest || name == SOCKET) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Removes it, when the file has its name.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(self.path.join(LOCK));
        let _ = fs::remove_dir(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_others_may_have_put_where_a_file_comes_together_is_refused() {
        let scratch = Scratch::new("part");
        let (file, part) = (scratch.join("image"), scratch.join("image.part"));
        let refused = || match Part::of(&file) {
            Err(Error::Local { path, why }) => path == part && why.contains("only you can write"),
            _ => false,
        };
        let other = scratch.join("other");
        fs::create_dir_all(&other).unwrap();
        symlink(&other, &part).unwrap();
        assert!(refused(), "a link");
        fs::remove_file(&part).unwrap();
        fs::write(&part, "").unwrap();
        assert!(refused(), "a file");
        fs::remove_file(&part).unwrap();
        fs::create_dir(&part).unwrap();
        for mode in [0o777, 0o720, 0o702] {
            fs::set_permissions(&part, fs::Permissions::from_mode(mode)).unwrap();
            assert!(refused(), "{mode:o}");
        }
        fs::set_permissions(&part, fs::Permissions::from_mode(0o755)).unwrap();
        symlink(other.join("made"), part.join(LOCK)).unwrap();
        assert!(Part::of(&file).is_err() && !other.join("made").exists(), "a lock elsewhere");
        fs::remove_file(part.join(LOCK)).unwrap();
        assert!(Part::of(&file).is_ok(), "it is ours");
    }

    #[test]
    fn what_is_no_image_in_a_directory_of_that_name_is_left_alone() {
        let scratch = Scratch::new("part-users");
        fs::create_dir(scratch.join("disk.part")).unwrap();
        let (ours, other) = ("a".repeat(2 * HASH), "0".repeat(2 * HASH));
        let names = [&ours, &other, "sock", "xaa", "xab"];
        names.iter().for_each(|name| fs::write(scratch.join("disk.part").join(name), "").unwrap());
        let part = Part::of(&scratch.join("disk")).unwrap();
        part.tidy(&ours);
        let is_there = |name: &&str| part.path.join(name).exists();
        assert_eq!(names.each_ref().map(is_there), [true, false, false, true, true]);
        fs::remove_file(part.path.join(&ours)).unwrap();
        part.remove();
        assert_eq!(fs::read_dir(&part.path).unwrap().count(), 2, "and no lock");
    }

    #[test]
    fn no_device_directory_or_link_to_one_is_replaced_by_an_image() {
        let scratch = Scratch::new("part-device");
        fs::create_dir_all(scratch.join("folder")).unwrap();
        symlink("/dev/null", scratch.join("device")).unwrap();
        for name in ["folder", "device"] {
            let refused = Part::of(&scratch.join(name));
            let said = refused.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(said.contains("no ordinary file") && said.ends_with("[E175]"), "{said}");
            assert!(!scratch.join(format!("{name}.part")).exists());
        }
        fs::write(scratch.join("image"), "of yesterday").unwrap();
        assert!(Part::of(&scratch.join("image")).is_ok());
    }
}
