//! The processor that a node has: its machine's, or another that it stands in for.
//!
//! A job may bring a program for each processor, and its nodes take their own. So that this can be
//! tried, taught and tested where all machines are alike, a node can be told that it is of another
//! kind. Programs for that are then run by an emulator of user programs, as qemu-user: by the
//! kernel's own arrangement (binfmt_misc) where there is one, else the node puts the emulator
//! before the program that it starts, of which the programs that this one starts know nothing.
//!
//! Everything else about such a node is its machine's: what it runs by a bare name, and its facts.

use super::shepherd::Spec;
use muster_base::elf::{self, HERE, Kind};
use std::env;
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Where the kernel tells what it has others run.
const BINFMT: &str = "/proc/sys/fs/binfmt_misc";

/// Why a node cannot stand in for a processor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoEmulator {
    /// Its name is none.
    #[error("{0:?} is no processor that nodes can stand in for; there are {list}  [E127]",
            list = elf::PROCESSORS.join(", "))]
    Unknown(String),
    /// None is to be found.
    #[error(
        "nothing here runs programs for {arch}: there is neither {emulator} in PATH nor a rule of \
         the kernel's (binfmt_misc). Install qemu-user-static, or name an emulator  [E127]"
    )]
    Missing {
        /// For which processor.
        arch: String,
        /// What was looked for.
        emulator: String,
    },
    /// The one that is named is none.
    #[error("{path}: {why}, so it runs no programs for {arch}  [E127]", path = .path.display())]
    Unfit {
        /// For which processor.
        arch: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// A node's processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    /// By the kernel's name.
    pub name: String,
    /// What the node puts before its programs.
    pub emulator: Option<PathBuf>,
}

impl Default for Processor {
    fn default() -> Processor {
        Processor { name: HERE.to_owned(), emulator: None }
    }
}

impl Processor {
    /// One that this machine can stand in for, with the emulator that is named or can be found.
    ///
    /// # Errors
    /// [`NoEmulator`].
    pub fn stand_in(name: &str, emulator: Option<&Path>) -> Result<Processor, NoEmulator> {
        let arch = || name.to_owned();
        if !elf::PROCESSORS.contains(&name) {
            return Err(NoEmulator::Unknown(arch()));
        }
        let is_native = elf::runs(HERE, name);
        let emulator =
            match emulator {
                Some(path) => Some(checked(name, path)?),
                None if is_native || is_known_to_kernel(name) => None,
                None => Some(find(name).ok_or_else(|| NoEmulator::Missing {
                    arch: arch(),
                    emulator: file_name(name),
                })?),
            };
        Ok(Processor { name: arch(), emulator })
    }

    /// Has a program for this processor, which the machine's cannot run, run by the emulator.
    pub(super) fn arrange(&self, spec: &mut Spec) {
        let Some(emulator) = &self.emulator else { return };
        let program = processor_of(Path::new(&spec.program));
        let is_meant = |program| elf::runs(&self.name, program) && !elf::runs(HERE, program);
        if !spec.program.contains('/') || !program.is_some_and(is_meant) {
            return;
        }
        let emulator = emulator.to_string_lossy().into_owned();
        let program = std::mem::replace(&mut spec.program, emulator.clone());
        let mut words = std::mem::take(&mut spec.argv).into_iter();
        let first = words.next().unwrap_or_else(|| program.clone());
        // What the program is to see as its name.
        spec.argv = [emulator, "-0".to_owned(), first, program].into_iter().chain(words).collect();
    }
}

/// The processor that a program is for, if it says so.
pub(super) fn processor_of(program: &Path) -> Option<&'static str> {
    Kind::of(&head_of(program, elf::HEAD)?)?.processor()
}

/// So many bytes at a program's start, or all if it has less.
pub(super) fn head_of(program: &Path, most: usize) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    // A pipe of that name is not to be waited for.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(program).ok()?;
    file.metadata().ok().filter(Metadata::is_file)?;
    file.take(most as u64).read_to_end(&mut head).ok()?;
    Some(head)
}

/// What qemu calls its emulator.
fn file_name(name: &str) -> String {
    format!("qemu-{}", if name == "i686" { "i386" } else { name })
}

/// Whether the kernel has programs for a processor run by itself.
fn is_known_to_kernel(name: &str) -> bool {
    let rule = Path::new(BINFMT).join(file_name(name));
    std::fs::read_to_string(rule).is_ok_and(|rule| rule.starts_with("enabled"))
}

/// An emulator in the PATH; rather one that needs no libraries.
fn find(name: &str) -> Option<PathBuf> {
    let path: OsString = env::var_os("PATH").unwrap_or_default();
    let file = file_name(name);
    let files = [format!("{file}-static"), file];
    let all = files.iter().flat_map(|file| env::split_paths(&path).map(move |dir| dir.join(file)));
    all.into_iter().find_map(|path| checked(name, &path).ok())
}

/// An emulator that can be run.
fn checked(name: &str, path: &Path) -> Result<PathBuf, NoEmulator> {
    let unfit = |why: &str| {
        let why = why.to_owned();
        NoEmulator::Unfit { arch: name.to_owned(), path: path.to_owned(), why }
    };
    let meta = path.metadata().map_err(|_| unfit("there is no such file"))?;
    let is_program =
        meta.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    if !is_program {
        return Err(unfit("it is no program"));
    }
    std::path::absolute(path).map_err(|_| unfit("it has no place"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    /// One that this machine does not run.
    const OTHER: &str = if cfg!(target_arch = "x86_64") { "aarch64" } else { "x86_64" };

    #[test]
    fn a_program_for_the_machine_is_left_alone_and_another_is_emulated() {
        let processor = Processor { name: OTHER.to_owned(), emulator: Some("/bin/emulate".into()) };
        let mut spec = Spec::new("/proc/self/exe", &["self", "x"]);
        processor.arrange(&mut spec);
        assert_eq!((&*spec.program, spec.argv.len()), ("/proc/self/exe", 2));
        let mut head = std::fs::read("/proc/self/exe").unwrap();
        head.truncate(64);
        (head[18], head[19]) = if OTHER == "aarch64" { (183, 0) } else { (62, 0) };
        let home = Scratch::new("processor");
        let path = home.file("heat", &head);
        let named = path.to_str().unwrap();
        let mut spec = Spec::new(named, &["./heat", "x"]);
        processor.arrange(&mut spec);
        assert_eq!(spec.program, "/bin/emulate");
        assert_eq!(spec.argv, ["/bin/emulate", "-0", "./heat", named, "x"]);
        // Nobody is to emulate it where the node does not say that it is of that kind.
        let mut spec = Spec::new(named, &[]);
        Processor::default().arrange(&mut spec);
        assert_eq!(spec.program, named);
    }

    #[test]
    fn who_cannot_stand_in_says_why() {
        let told = |name: &str, path: Option<&str>| {
            let made = Processor::stand_in(name, path.map(Path::new));
            made.map_err(|error| error.to_string())
        };
        assert_eq!(told(HERE, None), Ok(Processor::default()));
        assert!(told("abacus", None).unwrap_err().contains("\"abacus\" is no processor"));
        let missing = told(OTHER, Some("/no/such")).unwrap_err();
        assert!(missing.starts_with("/no/such: there is no such file"), "{missing}");
        assert!(told(OTHER, Some("/proc")).unwrap_err().contains("it is no program"));
        let named = told(OTHER, Some("/bin/sh")).unwrap();
        assert_eq!(named.emulator.as_deref(), Some(Path::new("/bin/sh")));
    }
}
