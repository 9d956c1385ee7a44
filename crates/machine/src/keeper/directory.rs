//! Where a cluster of this machine lives: one private directory for each.
//!
//! `$MUSTER_RUNTIME/NAME`, where `MUSTER_RUNTIME` defaults to `${TMPDIR:-/tmp}/muster-UID`. Whoever
//! can write there can be the user, so the way to it is checked from the root on: every component
//! belongs to the user or to root, none can be replaced by others, and the last two are the
//! user's alone. Checked from above, a path that passes cannot be bent by others afterwards,
//! because nothing above any of its components is theirs to rename.

use super::removal::remove_all;
use muster_ninep::address::{Address, UNIX_PATH_MAX};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// Symbolic links on the way to a runtime directory, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// The mode of directories that were made here for clusters, and so go with the last of them: one
/// that the user has made stays. The sticky bit has no other effect where nobody else can write,
/// and is there from the first moment on, whoever else makes or removes clusters meanwhile.
const OUR_OWN: Mode = Mode::RWXU.union(Mode::SVTX);

/// Longest name of a cluster: it is part of socket paths, which are short.
const NAME_LENGTH_MAX: usize = 40;

/// The longest name of a socket in a cluster's directory.
const MANAGER_SOCKET: &str = "manager.sock";

/// Why a cluster's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A name that is none.
    #[error(
        "{0:?} is no name for a cluster: use up to {NAME_LENGTH_MAX} letters, digits, '_', '-' \
         and '.', starting with a letter or digit  [E130]"
    )]
    Name(String),
    /// Others could get at it.
    #[error(
        "{path} is not safe for a cluster: {why}. Set MUSTER_RUNTIME to a directory that only \
         you can use  [E131]"
    )]
    Unsafe {
        /// What is unsafe.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Unix sockets in it would have names that are too long.
    #[error(
        "{path} is too long for a socket: {length} bytes, the kernel takes {UNIX_PATH_MAX}. Set \
         MUSTER_RUNTIME to a shorter path, /tmp/m for instance  [E132]"
    )]
    TooLong {
        /// The socket's path.
        path: PathBuf,
        /// Its length.
        length: usize,
    },
    /// Daemons are told of it in lines of text.
    #[error(
        "{path:?} cannot be told in a line of text. Set MUSTER_RUNTIME to a plainer path, /tmp/m \
         for instance  [E132]"
    )]
    Odd {
        /// It.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{path}: {error}  [E133]")]
    System {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

pub(super) fn system(path: &Path, error: impl Into<io::Error>) -> Error {
    Error::System { path: path.to_owned(), error: error.into() }
}

fn refused<T>(path: &Path, why: impl Into<String>) -> Result<T, Error> {
    Err(Error::Unsafe { path: path.to_owned(), why: why.into() })
}

/// The directory that holds the directories of all clusters of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    path: PathBuf,
}

impl Runtime {
    /// The one that `MUSTER_RUNTIME` and `TMPDIR` name.
    pub fn from_env() -> Runtime {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let path = set("MUSTER_RUNTIME").map(PathBuf::from).unwrap_or_else(|| {
            let uid = rustix::process::geteuid().as_raw();
            let base = set("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
            base.join(format!("muster-{uid}"))
        });
        // Daemons work elsewhere than who starts them. Without a directory to work in there is
        // no better path.
        Runtime { path: std::path::absolute(&path).unwrap_or(path) }
    }

    /// The one at `path`.
    pub fn at(path: impl Into<PathBuf>) -> Runtime {
        Runtime { path: path.into() }
    }

    /// Its path as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of the clusters whose directories are there, running or not.
    ///
    /// # Errors
    /// [`Error`] when others could have made them.
    pub fn clusters(&self) -> Result<Vec<String>, Error> {
        let base = resolve(&self.path)?;
        let entries = match std::fs::read_dir(&base) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|error| system(&base, error))?,
        };
        open_private(&base)?;
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| check_name(name).is_ok()).collect();
        names.sort();
        Ok(names)
    }

    /// The directory of cluster `name`, if there is one.
    ///
    /// # Errors
    /// [`Error`] when the name is none, or the directory could be another user's.
    pub fn open(&self, name: &str) -> Result<Option<Directory>, Error> {
        check_name(name)?;
        let base = resolve(&self.path)?;
        let exists = |path: &Path| match std::fs::symlink_metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(system(path, error)),
        };
        let path = base.join(name);
        if !exists(&base)? || !exists(&path)? {
            return Ok(None);
        }
        open_private(&base)?;
        match open_private(&path) {
            // It went between the look and the opening.
            Err(Error::System { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(|file| Some(Directory::new(path, name, file))),
        }
    }

    /// Makes the directory of cluster `name`; `None` when it exists.
    ///
    /// # Errors
    /// As [`Runtime::open`], and when sockets in it would have too long a path.
    pub(super) fn make(&self, name: &str) -> Result<Option<Directory>, Error> {
        check_name(name)?;
        let base = resolve(&self.path)?;
        let path = base.join(name);
        if path.to_str().is_none_or(|text| text.contains(char::is_control)) {
            return Err(Error::Odd { path });
        }
        check_length(&path.join(MANAGER_SOCKET))?;
        // The last cluster to end removes the base, so it may go while we are at it.
        for _ in 0..LINKS_MAX {
            make_private(&base)?;
            match open_private(&base) {
                Err(Error::System { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                    continue;
                }
                other => _ = other?,
            }
            match rustix::fs::mkdir(&path, Mode::RWXU) {
                Ok(()) => {
                    let file = open_private(&path)?;
                    return Ok(Some(Directory::new(path, name, file)));
                }
                Err(Errno::EXIST) => return Ok(None),
                Err(Errno::NOENT) => {}
                Err(error) => return Err(system(&path, error)),
            }
        }
        Err(system(&path, io::Error::other("its parent is being removed again and again")))
    }
}

/// A cluster's directory, checked and held open.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    name: String,
    file: File,
}

impl Directory {
    fn new(path: PathBuf, name: &str, file: File) -> Directory {
        Directory { path, name: name.to_owned(), file }
    }

    /// The directory at `path`, as a keeper tells it its daemons.
    ///
    /// # Errors
    /// [`Error`] when there is none, or it could be another user's.
    pub fn at(path: &Path) -> Result<Directory, Error> {
        let (Some(base), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str()))
        else {
            return Err(Error::Name(path.display().to_string()));
        };
        let missing = || system(path, io::Error::from(io::ErrorKind::NotFound));
        Runtime::at(base).open(name)?.ok_or_else(missing)
    }

    /// Its path, free of symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The cluster's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the manager answers.
    pub fn manager(&self) -> Address {
        Address::Unix(self.path.join(MANAGER_SOCKET))
    }

    /// Where what happens to the daemons is written.
    pub fn log(&self) -> PathBuf {
        self.path.join("keeper.log")
    }

    /// The name of node `node`'s control groups: another cluster's are called otherwise, one of
    /// the same name in another runtime directory included, and one in another container that sees
    /// the same groups: there the inode may be the same, but not the file system.
    pub fn group(&self, node: &str) -> String {
        let own = rustix::fs::fstat(&self.file).map_or((0, 0), |stat| (stat.st_dev, stat.st_ino));
        format!("{}-{:x}-{:x}-{node}", self.name, own.0, own.1)
    }

    /// Whether the directory still has its name.
    pub(super) fn is_linked(&self) -> bool {
        let held = rustix::fs::fstat(&self.file);
        let named = rustix::fs::lstat(&self.path);
        matches!((held, named), (Ok(held), Ok(named))
            if (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino))
    }

    /// Whether it was removed, for certain: what cannot be looked at may be there.
    pub(super) fn is_gone(&self) -> bool {
        let held = rustix::fs::fstat(&self.file);
        match (held, rustix::fs::lstat(&self.path)) {
            (_, Err(errno)) => errno == Errno::NOENT,
            (Ok(held), Ok(named)) => (held.st_dev, held.st_ino) != (named.st_dev, named.st_ino),
            (Err(_), Ok(_)) => false,
        }
    }

    /// Removes it and all that is in it, `last` at the end; then the directory of all clusters, if
    /// this was the last, and those above, as far as they were made for them.
    pub(super) fn remove(&self, last: &str) -> Result<(), Error> {
        let entries = std::fs::read_dir(&self.path).map_err(|error| system(&self.path, error))?;
        for entry in entries.flatten().filter(|entry| entry.file_name() != *last) {
            remove_all(&entry.path())?;
        }
        remove_all(&self.path.join(last))?;
        std::fs::remove_dir(&self.path).map_err(|error| system(&self.path, error))?;
        let above = self.path.ancestors().skip(1).take_while(|path| is_our_own(path));
        for base in above {
            // It stays as long as there are other clusters, or anything else.
            if std::fs::remove_dir(base).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Whether a name can be a cluster's.
///
/// # Errors
/// [`Error::Name`].
pub fn check_name(name: &str) -> Result<(), Error> {
    let good = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let starts = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if starts && name.len() <= NAME_LENGTH_MAX && name.chars().all(good) {
        return Ok(());
    }
    Err(Error::Name(name.to_owned()))
}

fn check_length(socket: &Path) -> Result<(), Error> {
    let length = socket.as_os_str().as_bytes().len();
    if length > UNIX_PATH_MAX {
        return Err(Error::TooLong { path: socket.to_owned(), length });
    }
    Ok(())
}

/// Whether a component of the way may belong to `uid`: the user, root, or whom `/` belongs to
/// (in a user namespace root is somebody without a name).
fn trusted(uid: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let root = rustix::fs::stat("/").map_or(0, |stat| stat.st_uid);
    uid == own || uid == 0 || uid == root
}

/// Follows `path` from the root, checking each component; what does not exist yet is taken as
/// written.
fn resolve(path: &Path) -> Result<PathBuf, Error> {
    let path = std::path::absolute(path).map_err(|error| system(path, error))?;
    let mut left: Vec<OsString> = reversed(&path);
    let mut at = PathBuf::from("/");
    let mut links = 0;
    check_passed(&at, &rustix::fs::stat("/").map_err(|error| system(&at, error))?)?;
    while let Some(name) = left.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        at.push(&name);
        let stat = match rustix::fs::lstat(&at) {
            Err(Errno::NOENT) => {
                at.extend(left.iter().rev());
                return Ok(at);
            }
            other => other.map_err(|error| system(&at, error))?,
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                links += 1;
                if !trusted(stat.st_uid) || links > LINKS_MAX {
                    let uid = stat.st_uid;
                    return refused(&at, format!("it is a symbolic link that user {uid} made"));
                }
                let target = std::fs::read_link(&at).map_err(|error| system(&at, error))?;
                at.pop();
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                left.extend(reversed(&target));
            }
            // The last component has stricter rules of its own.
            FileType::Directory if left.is_empty() => {}
            FileType::Directory => check_passed(&at, &stat)?,
            _ => return refused(&at, "it is no directory"),
        }
    }
    Ok(at)
}

/// A path's names, the first one last, without `/` and `.`.
fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
}

/// A directory on the way: nobody else may be able to rename what is in it.
fn check_passed(path: &Path, stat: &Stat) -> Result<(), Error> {
    if !trusted(stat.st_uid) {
        return refused(path, format!("it belongs to user {}", stat.st_uid));
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.intersects(Mode::WGRP | Mode::WOTH) && !mode.contains(Mode::SVTX) {
        let mode = stat.st_mode & 0o7777;
        return refused(path, format!("others can rename what is in it (mode {mode:04o})"));
    }
    Ok(())
}

/// Makes a directory and those above it, for the user alone. Others may remove them meanwhile.
fn make_private(path: &Path) -> Result<(), Error> {
    for _ in 0..LINKS_MAX {
        match (rustix::fs::mkdir(path, OUR_OWN), path.parent()) {
            (Ok(()) | Err(Errno::EXIST), _) => return Ok(()),
            (Err(Errno::NOENT), Some(parent)) if !parent.exists() => make_private(parent)?,
            (Err(Errno::NOENT), _) => {}
            (Err(error), _) => return Err(system(path, error)),
        }
    }
    // Where there is a parent it is that which takes no directories, as /proc.
    Err(system(path, Errno::NOENT))
}

/// Whether a directory was made here, and so goes with what was in it.
fn is_our_own(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| {
        let mode = Mode::from_raw_mode(stat.st_mode) & (OUR_OWN | Mode::RWXG | Mode::RWXO);
        stat.st_uid == rustix::process::geteuid().as_raw() && mode == OUR_OWN
    })
}

/// Opens a directory that must be the user's alone.
fn open_private(path: &Path) -> Result<File, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(rustix::fs::CWD, path, flags, Mode::empty());
    let file = match opened {
        Err(Errno::NOTDIR | Errno::LOOP) => return refused(path, not_a_directory(path)),
        // One that others made without rights for us is not ours.
        Err(Errno::ACCESS) => return refused(path, "you may not read it"),
        other => other.map_err(|error| system(path, error))?,
    };
    let stat = rustix::fs::fstat(&file).map_err(|error| system(path, error))?;
    let own = rustix::process::geteuid().as_raw();
    if stat.st_uid != own {
        return refused(path, format!("it belongs to user {}, not to {own}", stat.st_uid));
    }
    let mode = stat.st_mode & 0o7777;
    if mode & 0o077 != 0 {
        let why = format!("its mode is {mode:04o}, so others can get in");
        // One for many, such as /tmp or /var/lib, stays as it is, unless it is by name for this.
        let is_named =
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"muster"));
        let is_shared = mode & 0o1002 == 0o1002 || path.components().count() <= 3 && !is_named;
        let advice = if is_shared { "" } else { " (chmod 700 shuts it)" };
        return refused(path, why + advice);
    }
    Ok(file.into())
}

fn not_a_directory(path: &Path) -> String {
    let link = rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
    if link { "it is a symbolic link".into() } else { "it is no directory".into() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Scratch;
    use super::*;
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};

    fn mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("our own");
    }

    fn why(result: Result<Option<Directory>, Error>) -> String {
        result.expect_err("refused").to_string()
    }

    #[test]
    fn a_directory_is_made_private_and_goes_with_its_parent() {
        let scratch = Scratch::new("dir-made");
        let runtime = Runtime::at(scratch.path().join("a/b"));
        assert_eq!(runtime.clusters().expect("safe"), [""; 0]);
        assert!(runtime.open("x").expect("safe").is_none());
        let made = runtime.make("x").expect("made").expect("new");
        assert!(runtime.make("x").expect("safe").is_none());
        assert_eq!(runtime.clusters().expect("safe"), ["x"]);
        let same = runtime.open("x").expect("safe").expect("there");
        assert_eq!(same.path(), made.path());
        assert_eq!(same.group("n1"), made.group("n1"));
        let meta = std::fs::metadata(made.path()).expect("there");
        assert_eq!(meta.permissions().mode() & 0o7777, 0o700);
        assert!(made.is_linked());
        made.remove("none").expect("removed");
        assert!(!made.is_linked());
        assert!(!scratch.path().join("a").exists(), "nor what was made above it");
        assert!(scratch.path().exists());
    }

    #[test]
    fn a_directory_that_the_user_has_made_stays_when_the_last_cluster_goes() {
        let scratch = Scratch::new("dir-kept");
        let base = scratch.path().join("r");
        std::fs::DirBuilder::new().mode(0o700).create(&base).expect("made");
        let runtime = Runtime::at(&base);
        let [x, y] = ["x", "y"].map(|name| runtime.make(name).expect("made").expect("new"));
        x.remove("none").expect("removed");
        y.remove("none").expect("removed");
        let mut left = std::fs::read_dir(&base).expect("it is still there");
        assert!(left.next().is_none());
    }

    #[test]
    fn a_mode_that_lets_others_in_is_refused() {
        let scratch = Scratch::new("dir-mode");
        let runtime = Runtime::at(scratch.path().join("r"));
        let made = runtime.make("x").expect("made").expect("new");
        mode(made.path(), 0o750);
        let said = why(runtime.open("x"));
        assert!(said.contains("mode is 0750") && said.contains("chmod 700"), "{said}");
        mode(made.path(), 0o1777);
        let said = why(runtime.open("x"));
        assert!(said.contains("mode is 1777") && !said.contains("chmod"), "{said}");
        mode(made.path(), 0o700);
        mode(runtime.path(), 0o711);
        let said = why(runtime.open("x"));
        assert!(said.contains("mode is 0711") && said.contains("[E131]"), "{said}");
        assert!(runtime.clusters().is_err());
    }

    #[test]
    fn a_directory_that_others_can_rename_is_no_way() {
        let scratch = Scratch::new("dir-way");
        let open = scratch.path().join("open");
        std::fs::create_dir(&open).expect("made");
        let runtime = Runtime::at(open.join("r"));
        mode(&open, 0o777);
        let said = why(runtime.make("x"));
        assert!(said.contains("others can rename"), "{said}");
        mode(&open, 0o1777);
        assert!(runtime.make("x").expect("sticky will do").is_some());
    }

    #[test]
    fn links_are_followed_only_where_they_are_trusted() {
        let scratch = Scratch::new("dir-link");
        let real = scratch.path().join("real");
        std::fs::create_dir(&real).expect("made");
        let link = scratch.path().join("link");
        symlink("real", &link).expect("linked");
        let runtime = Runtime::at(link.join("r"));
        let made = runtime.make("x").expect("our own link").expect("new");
        assert_eq!(made.path(), real.join("r/x"));
        symlink(made.path(), real.join("r/y")).expect("linked");
        let said = why(runtime.open("y"));
        assert!(said.contains("it is a symbolic link"), "{said}");
        if rustix::process::geteuid().is_root() {
            let other = rustix::fs::Uid::from_raw(65533);
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            rustix::fs::chownat(rustix::fs::CWD, &link, Some(other), None, flags).expect("root");
            let said = why(runtime.open("x"));
            assert!(said.contains("symbolic link that user 65533 made"), "{said}");
        }
        let circle = scratch.path().join("circle");
        symlink("circle", &circle).expect("linked");
        assert!(Runtime::at(circle).make("x").is_err());
    }

    #[test]
    fn somebody_elses_directory_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let scratch = Scratch::new("dir-owner");
        let runtime = Runtime::at(scratch.path().join("r"));
        let made = runtime.make("x").expect("made").expect("new");
        std::os::unix::fs::chown(made.path(), Some(65533), None).expect("root");
        let said = why(runtime.open("x"));
        assert!(said.contains("belongs to user 65533"), "{said}");
        std::os::unix::fs::chown(runtime.path(), Some(65533), None).expect("root");
        let said = why(runtime.make("z"));
        assert!(said.contains("belongs to user 65533"), "{said}");
    }

    #[test]
    fn names_and_lengths_are_checked_before_anything_is_made() {
        let scratch = Scratch::new("dir-name");
        let runtime = Runtime::at(scratch.path().join("r"));
        for name in ["", ".", "..", "a/b", "-x", ".x", "a b", "ü", &"x".repeat(41)] {
            let said = why(runtime.make(name));
            assert!(said.contains("[E130]"), "{said}");
        }
        let long = Runtime::at(scratch.path().join("x".repeat(100)));
        let said = why(long.make("x"));
        assert!(said.contains("too long for a socket") && said.contains("[E132]"), "{said}");
        assert!(!runtime.path().exists() && !long.path().exists());
    }

    #[test]
    fn a_place_that_takes_no_directories_or_cannot_be_told_is_refused_in_a_sentence() {
        let said = why(Runtime::at("/proc/none/such").make("x"));
        assert!(said.starts_with("/proc/none: No such file") && said.contains("[E133]"), "{said}");
        let scratch = Scratch::new("dir-odd");
        let bytes = std::ffi::OsStr::from_bytes;
        for name in [&b"a\nb"[..], b"\xff"] {
            let runtime = Runtime::at(scratch.path().join(bytes(name)));
            let said = why(runtime.make("x"));
            assert!(said.contains("plainer path") && !said.contains('\n'), "{said:?}");
            assert!(!runtime.path().exists());
        }
        assert!(Runtime::at(scratch.path().join("ü b")).make("x").expect("made").is_some());
    }
}
