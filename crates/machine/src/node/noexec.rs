//! Programs of nodes whose directories are on a file system that is mounted noexec, as hardened
//! machines mount /tmp. The files that a job brings stay where people look for them; what is
//! executed, and what a loader maps, is a copy in memory that nobody can change, one for all that
//! have the file in common on a node, for as long as one of them is there.
//!
//! A script needs none: its interpreter may read it where it is, and is told as the kernel would.

use super::processor::head_of;
use super::shepherd::{FILES, FILES_MAX, Instead, Spec};
use crate::chunk::store::{Stamp, stamp};
use crate::mounts;
use muster_ninep::error::{Errno, Error, Result, fail};
use rustix::fs::{AtFlags, CWD, MemfdFlags, SealFlags, StatVfsMountFlags, StatxFlags};
use rustix::fs::{fcntl_add_seals, fstatvfs, memfd_create, statvfs, statx};
use std::collections::HashMap;
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

/// Bytes of a script's first line that the kernel reads.
pub(super) const LINE_MAX: usize = 256;

/// Interpreters that are scripts themselves, as many as the kernel follows.
const SCRIPTS_MAX: usize = 5;

/// The directory, beside libraries that were sent along, of what the loader finds in their place.
const HELD: &str = ".held";

/// Where the kernel tells what may be executed in memory.
const SWITCH: &str = "/proc/sys/vm/memfd_noexec";

/// The copies of one node.
#[derive(Debug, Default)]
pub(super) struct Noexec {
    copies: Mutex<HashMap<(u64, u64), Weak<Copy>>>,
}

/// One file in memory.
#[derive(Debug)]
pub(super) struct Copy {
    memory: File,
    stamp: Stamp,
    /// While it is open no other file has its inode.
    _file: File,
}

impl AsFd for Copy {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }
}

/// Why there is no copy.
enum Refused {
    /// Nothing in memory may be executed.
    Forbidden,
    System(io::Error),
}

impl<E: Into<io::Error>> From<E> for Refused {
    fn from(error: E) -> Refused {
        Refused::System(error.into())
    }
}

impl Noexec {
    /// What a node needs whose directory is there; none where programs may be executed.
    pub(super) fn at(directory: &Path) -> Option<Noexec> {
        is_noexec(statvfs(directory)).then(Noexec::default)
    }

    /// Says what is executed in the place of a program that was sent to a session.
    ///
    /// # Errors
    /// One sentence.
    pub(super) fn arrange(&self, node: &str, spec: &mut Spec) -> Result<Option<Arc<Copy>>> {
        let program = PathBuf::from(&spec.program);
        let Some(mut file) = denied(&program, &spec.cwd) else { return Ok(None) };
        let meta = file.metadata()?;
        let mut instead =
            Instead { of: (meta.dev(), meta.ino()), interpreter: Vec::new(), is_held: false };
        let mut path = program.clone();
        let mut copy = None;
        for _ in 0..SCRIPTS_MAX {
            let head = head_of(&path, LINE_MAX).unwrap_or_default();
            let Some(words) = interpreter(&head) else {
                let made = self.copy(file, &path);
                copy = Some(made.map_err(|why| told(why, node, &program, &spec.cwd))?);
                break;
            };
            path = spec.cwd.join(&words[0]);
            instead.interpreter.splice(0..0, words);
            match denied(&path, &spec.cwd) {
                Some(next) => file = next,
                None => break,
            }
        }
        instead.is_held = copy.is_some();
        spec.instead = Some(instead);
        Ok(copy)
    }

    /// Makes a directory in which a loader finds libraries that lie in another: they are open in
    /// the program, and the names lead there.
    ///
    /// # Errors
    /// One sentence.
    pub(super) fn libraries(
        &self,
        node: &str,
        directory: &Path,
    ) -> Result<(PathBuf, Vec<Arc<Copy>>)> {
        let place = directory.join(HELD);
        // An attempt before may have left one.
        let _ = fs::remove_dir_all(&place);
        let files: Vec<PathBuf> =
            fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        fs::create_dir(&place)?;
        if files.len() >= FILES_MAX {
            let (count, most, mount) = (files.len(), FILES_MAX - 1, mount_of(directory));
            return fail(
                Errno::TOOBIG,
                format!(
                    "{count} libraries were sent along. Where {mount} is mounted noexec, as on \
                     {node}, they can be {most}. {}  [E109, exit 126]",
                    elsewhere()
                ),
            );
        }
        let mut copies = Vec::with_capacity(files.len());
        for (file, number) in files.iter().zip(FILES..) {
            let copy = File::open(file).map_err(Refused::from);
            let copy = copy.and_then(|opened| self.copy(opened, file));
            copies.push(copy.map_err(|why| told(why, node, file, directory))?);
            let name = file.file_name().unwrap_or_default();
            std::os::unix::fs::symlink(format!("/proc/self/fd/{number}"), place.join(name))?;
        }
        Ok((place, copies))
    }

    /// A file in memory, as it is now.
    fn copy(&self, mut file: File, path: &Path) -> std::result::Result<Arc<Copy>, Refused> {
        let meta = file.metadata()?;
        let (key, stamp) = ((meta.dev(), meta.ino()), stamp(&meta));
        let mut copies = self.copies.lock().expect("no holder panics");
        let known = copies.get(&key).and_then(Weak::upgrade);
        if let Some(copy) = known.filter(|copy| copy.stamp == stamp) {
            return Ok(copy);
        }
        let mut memory = in_memory(path)?;
        io::copy(&mut file, &mut memory)?;
        // Who may execute the one may execute the other.
        memory.set_permissions(Permissions::from_mode(meta.mode() & 0o777))?;
        let all = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        fcntl_add_seals(&memory, all)?;
        let copy = Arc::new(Copy { memory, stamp, _file: file });
        copies.retain(|_, copy| copy.strong_count() > 0);
        copies.insert(key, Arc::downgrade(&copy));
        Ok(copy)
    }
}

/// A file in memory that may be executed, with a name that `ps` shows.
fn in_memory(path: &Path) -> std::result::Result<File, Refused> {
    let name = path.file_name().unwrap_or_default();
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let made = match memfd_create(name, flags | MemfdFlags::EXEC) {
        // Kernels before 6.3 know no difference.
        Err(rustix::io::Errno::INVAL) => memfd_create(name, flags),
        made => made,
    };
    match made {
        Err(rustix::io::Errno::ACCESS) => Err(Refused::Forbidden),
        made => Ok(made?.into()),
    }
}

/// Opens a program if it is one of a directory's whose file system keeps it from being executed.
fn denied(path: &Path, directory: &Path) -> Option<File> {
    if !path.starts_with(directory) {
        return None;
    }
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    (is_program(&file.metadata().ok()?) && is_noexec(fstatvfs(&file))).then_some(file)
}

fn is_program(meta: &Metadata) -> bool {
    meta.is_file() && meta.mode() & 0o111 != 0
}

fn is_noexec(stat: rustix::io::Result<rustix::fs::StatVfs>) -> bool {
    stat.is_ok_and(|stat| stat.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

/// What is mounted noexec if that is why a program cannot be executed.
pub(super) fn reason(program: &Path) -> Option<String> {
    let is_meant = is_program(&fs::metadata(program).ok()?) && is_noexec(statvfs(program));
    is_meant.then(|| mount_of(program))
}

/// Where the file system of a file is mounted, as it can be told.
fn mount_of(file: &Path) -> String {
    let mount = || {
        let number = statx(CWD, file, AtFlags::empty(), StatxFlags::MNT_ID).ok()?.stx_mnt_id;
        let all = fs::read("/proc/self/mountinfo").ok()?;
        let found = mounts::read(&all).find(|mount| mount.id == number)?;
        Some(found.at.display().to_string())
    };
    mount().unwrap_or_else(|| "the file system".to_owned())
}

/// What to do where nothing helps.
fn elsewhere() -> &'static str {
    "Have clusters elsewhere: export MUSTER_RUNTIME=DIRECTORY before muster up"
}

/// Says why there is no copy of a file that lies in a session's directory.
fn told(why: Refused, node: &str, file: &Path, directory: &Path) -> Error {
    let named = file.strip_prefix(directory).unwrap_or(file).display();
    match why {
        Refused::Forbidden => {
            let (mount, switch) = (mount_of(file), fs::read_to_string(SWITCH).unwrap_or_default());
            let text = format!(
                "./{named}: cannot be run on {node}: {mount} is mounted noexec, and \
                 vm.memfd_noexec={} allows nothing in memory either. {}  [E109, exit 126]",
                switch.trim(),
                elsewhere()
            );
            Error::new(Errno::ACCESS, text)
        }
        Refused::System(error) => {
            let error = Error::from(error);
            let text = format!("{node} cannot prepare the process: ./{named}: {}", error.text);
            Error::new(error.errno, text + "  [E107, exit 125]")
        }
    }
}

/// What a script's first line has the kernel run: a name, and one argument if there is more.
fn interpreter(head: &[u8]) -> Option<Vec<String>> {
    let line = head.strip_prefix(b"#!")?;
    let end = line.iter().position(|byte| *byte == b'\n');
    // Of a longer line only a part would be read, which may be a part of the name.
    let line = match end {
        Some(end) => &line[..end],
        None if head.len() < LINE_MAX => line,
        None => return None,
    };
    let blank = [' ', '\t'];
    let line = std::str::from_utf8(line).ok()?.trim_matches(blank);
    let (name, argument) = line.split_once(blank).unwrap_or((line, ""));
    if name.is_empty() || line.contains('\0') {
        return None;
    }
    let argument = Some(argument.trim_start_matches(blank)).filter(|word| !word.is_empty());
    Some([name].into_iter().chain(argument).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::io::{Read, Write};

    #[test]
    fn a_scripts_first_line_is_read_as_the_kernel_reads_it() {
        let read = |line: &str| interpreter(line.as_bytes()).map(|words| words.join("|"));
        for (line, words) in [
            ("#!/bin/sh\necho\n", "/bin/sh"),
            ("#! \t/bin/sh", "/bin/sh"),
            ("#!/usr/bin/env -S  a b \t\n", "/usr/bin/env|-S  a b"),
            ("#!./own\r\n", "./own\r"),
        ] {
            assert_eq!(read(line).as_deref(), Some(words), "{line:?}");
        }
        let long = format!("#!/{}", "x".repeat(LINE_MAX - 3));
        for line in ["", "#", "\x7fELF", "#!", "#! \n/bin/sh\n", "#!/bin/s\0h\n", &long] {
            assert_eq!(read(line), None, "{line:?}");
        }
    }

    /// Where nothing is mounted noexec, too: what is a copy's does not depend on that.
    #[test]
    fn those_that_have_a_file_in_common_have_a_copy_in_common_that_nobody_can_change() {
        let home = Scratch::new("noexec-copies");
        let noexec = Noexec::default();
        let path = home.file("prog", b"first");
        let copy = |path: &Path| {
            let made = noexec.copy(File::open(path).unwrap(), path);
            made.unwrap_or_else(|_| panic!("no copy of {path:?}"))
        };
        let first = copy(&path);
        let other = home.join("other");
        fs::hard_link(&path, &other).unwrap();
        assert!(Arc::ptr_eq(&first, &copy(&other)));
        let mut memory = first.memory.try_clone().unwrap();
        memory.write_all(b"x").unwrap_err();
        // One that was written to is another.
        fs::write(&path, "second").unwrap();
        let second = copy(&path);
        let said = |copy: &Copy| {
            let own = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&copy.memory));
            let mut text = String::new();
            File::open(own).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!((&*said(&first), &*said(&second)), ("first", "second"));
        // Memory is given back with the last that has it.
        drop((first, second));
        assert!(noexec.copies.lock().unwrap().values().all(|copy| copy.strong_count() == 0));
    }
}
