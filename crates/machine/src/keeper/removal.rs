//! How what programs have left is removed: whatever rights it lacks, and however deep it is.
//!
//! A job that is in a loop makes a tree of any depth, and who comes down to its end by recursion
//! has neither the stack nor the descriptors for that. So nobody goes deeper than two directories:
//! what is still deeper is brought up to the top, and removed from there. Nothing is done by a
//! path, and no symbolic link is followed.

use super::directory::{Error, system};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

/// Removes a file or a tree, directories that the user's programs made unwritable included.
/// What does not exist is removed.
pub(crate) fn remove_all(path: &Path) -> Result<(), Error> {
    remove_tree(path).map_err(|error| system(path, error))
}

fn remove_tree(path: &Path) -> Result<(), Errno> {
    if remove_one(CWD, path)? {
        return Ok(());
    }
    let Some(top) = open(CWD, path)? else { return Ok(()) };
    // It may have names like these.
    let mut number = 0_u64;
    loop {
        let mut is_flat = true;
        for_each(&top, |name| {
            if remove_one(&top, name)? {
                return Ok(());
            }
            let Some(inner) = open(&top, name)? else { return Ok(()) };
            for_each(&inner, |name| {
                if !remove_one(&inner, name)? {
                    bring_up(&inner, name, &top, &mut number)?;
                    is_flat = false;
                }
                Ok(())
            })?;
            gone(rustix::fs::unlinkat(&top, name, AtFlags::REMOVEDIR))
        })?;
        if is_flat {
            return gone(rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR));
        }
    }
}

/// Removes a file or an empty directory; false if it is a directory with something in it.
fn remove_one(at: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<bool, Errno> {
    match rustix::fs::unlinkat(&at, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        done => return gone(done).map(|()| true),
    }
    match rustix::fs::unlinkat(&at, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        done => gone(done).map(|()| true),
    }
}

/// Others may remove the same.
fn gone(done: Result<(), Errno>) -> Result<(), Errno> {
    if done == Err(Errno::NOENT) { Ok(()) } else { done }
}

/// Opens a directory, if it is there, and gives the user all rights to it.
fn open(at: impl AsFd, name: impl rustix::path::Arg + Copy) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat(&at, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            let held = rustix::fs::openat(&at, name, flags | OFlags::PATH, Mode::empty())?;
            rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), Mode::RWXU)?;
            rustix::fs::openat(&at, name, flags, Mode::empty())
        }
        opened => opened,
    };
    let opened = match opened {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        rustix::fs::fchmod(&opened, Mode::RWXU)?;
    }
    Ok(Some(opened))
}

fn for_each(
    directory: &OwnedFd,
    mut each: impl FnMut(&CStr) -> Result<(), Errno>,
) -> Result<(), Errno> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            each(entry.file_name())?;
        }
    }
    Ok(())
}

/// Moves a directory to the top, by a number that nothing has there.
fn bring_up(from: &OwnedFd, name: &CStr, top: &OwnedFd, number: &mut u64) -> Result<(), Errno> {
    let mut is_open = false;
    loop {
        match rustix::fs::renameat(from, name, top, number.to_string()) {
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => *number += 1,
            // To move it is to change what `..` is in it.
            Err(Errno::ACCESS) if !is_open => is_open = open(from, name)?.is_some(),
            done => return gone(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Scratch;
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("our own");
    }

    #[test]
    fn a_tree_without_rights_is_removed_and_links_are_not_followed() {
        let scratch = Scratch::new("dir-remove");
        let outside = scratch.path().join("outside");
        std::fs::create_dir_all(&outside).expect("made");
        mode(&outside, 0o500);
        let tree = scratch.path().join("tree");
        std::fs::create_dir_all(tree.join("a/b")).expect("made");
        symlink(&outside, tree.join("a/link")).expect("linked");
        mode(&tree.join("a"), 0o500);
        mode(&tree, 0o000);
        remove_all(&tree).expect("removed");
        assert!(!tree.exists());
        let kept = std::fs::metadata(&outside).expect("kept").permissions().mode();
        assert_eq!(kept & 0o7777, 0o500);
        mode(&outside, 0o700);
    }

    #[test]
    fn what_does_not_exist_is_removed_and_so_is_a_file_or_a_link() {
        let scratch = Scratch::new("removal-kinds");
        let [none, file, link] = ["none", "file", "link"].map(|name| scratch.path().join(name));
        std::fs::write(&file, "x").expect("written");
        symlink(scratch.path(), &link).expect("linked");
        for path in [&none, &file, &link] {
            remove_all(path).expect("removed");
            assert!(path.symlink_metadata().is_err());
        }
        assert!(scratch.path().exists());
    }

    /// Once a job's loop that made directories in directories ended the daemon of its node, and
    /// then the keeper, which had to remove the same: the stack was too small.
    #[test]
    fn a_tree_of_any_depth_is_removed() {
        let scratch = Scratch::new("removal-deep");
        let tree = scratch.path().join("tree");
        std::fs::create_dir(&tree).expect("made");
        // It has a name that is given to what is brought up, in the way.
        std::fs::write(tree.join("0"), "x").expect("written");
        let mut at = open(CWD, &*tree).expect("opened").expect("there");
        for _ in 0..20_000 {
            rustix::fs::mkdirat(&at, "1", Mode::RUSR | Mode::XUSR | Mode::WUSR).expect("made");
            at = open(&at, c"1").expect("opened").expect("there");
        }
        remove_all(&tree).expect("removed");
        assert!(!tree.exists());
    }
}
