//! The last steps before the program: from a child of the init to the exec.

use std::convert::Infallible;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FileType, Mode};
use rustix::io::FdFlags;
use rustix::process::{Resource, Rlimit, setpgid, setrlimit, setsid, umask};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::{descriptors, prompt};

use super::link::{Failure, Stage};
use super::namespace::{Granted, run_script};
use super::spec::{FILES, Instead, Spec};
use super::sys::{self, Strings};

/// Where a bare name is searched when the environment has no PATH: what execvp does.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// How often an exec is tried while the file is still open for writing somewhere, with pauses of
/// 1, 2, 4... ms: a quarter of a second in all. Who has just written the program and closed it may
/// spawn something in another thread, which holds a copy of every descriptor until its exec.
const BUSY_TRIES: u32 = 9;

/// What execve wants, made beforehand: what is on the heap of the memory on loan when the program
/// takes the process's place is freed by nobody.
pub(super) struct Image<'a> {
    argv: Strings,
    env: Strings,
    /// The files that the program's name may mean, in order.
    paths: Vec<CString>,
    /// What runs where that file may not.
    other: Option<Other<'a>>,
    /// Those that stay open.
    files: &'a [OwnedFd],
}

/// What runs in a program's place.
struct Other<'a> {
    /// The program's file.
    of: (u64, u64),
    argv: Strings,
    what: What<'a>,
}

enum What<'a> {
    /// The file of that name.
    Named(CString),
    /// One that has come along.
    Held(BorrowedFd<'a>),
}

impl<'a> Image<'a> {
    /// Of a program and its surroundings, with the files that have come along.
    ///
    /// # Errors
    /// When a string contains what ends it.
    pub(super) fn of(spec: &Spec, files: &'a [OwnedFd]) -> Result<Image<'a>, Failure> {
        let failed = |error| Failure::new(Stage::Exec, &error, spec.program.as_str());
        let all = |words: Vec<String>| strings(words).map_err(failed);
        let argv =
            if spec.argv.is_empty() { vec![spec.program.clone()] } else { spec.argv.clone() };
        let env = spec.env.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let paths = all(candidates(&spec.program, spec.variable("PATH")))?;
        let (held, files) = match &spec.instead {
            Some(Instead { is_held: true, .. }) => files.split_first().unzip(),
            _ => (None, Some(files)),
        };
        let other = spec.instead.as_ref();
        let other = other.map(|instead| Other::of(spec, instead, &argv, held)).transpose();
        let (other, files) = (other.map_err(failed)?, files.unwrap_or_default());
        let (argv, env) = (Strings::new(all(argv)?), Strings::new(all(env)?));
        Ok(Image { argv, env, paths, other, files })
    }
}

impl<'a> Other<'a> {
    fn of(
        spec: &Spec,
        Instead { of, interpreter, .. }: &Instead,
        argv: &[String],
        held: Option<&'a OwnedFd>,
    ) -> io::Result<Other<'a>> {
        // As the kernel does: a script is told by its name, whatever it was to be called.
        let argv = match interpreter.is_empty() {
            true => argv.to_vec(),
            false => [interpreter, std::slice::from_ref(&spec.program), &argv[1..]].concat(),
        };
        let what = match (held, interpreter.first()) {
            (Some(held), _) => What::Held(held.as_fd()),
            (None, Some(name)) => What::Named(CString::new(name.as_str())?),
            (None, None) => return Err(io::ErrorKind::InvalidData.into()),
        };
        Ok(Other { of: *of, argv: Strings::new(strings(argv)?), what })
    }

    /// Whether it is meant: a script of the session may have put another file there.
    fn is_of(&self, path: &CStr) -> bool {
        let stat = rustix::fs::stat(path);
        stat.is_ok_and(|stat| (stat.st_dev, stat.st_ino) == self.of)
    }

    fn exec(&self, env: &Strings) -> io::Error {
        match &self.what {
            What::Named(path) => patient_exec(path, &self.argv, env),
            What::Held(file) => sys::execve_open(*file, &self.argv, env),
        }
    }
}

fn strings(words: Vec<String>) -> io::Result<Vec<CString>> {
    let invalid = |_| io::Error::from_raw_os_error(libc::EINVAL);
    words.into_iter().map(|word| CString::new(word).map_err(invalid)).collect()
}

/// Turns this process, which has the init's memory on loan, into the program; returns only with
/// why not.
pub(super) fn launch(
    spec: &Spec,
    image: &Image<'_>,
    stdio: &[OwnedFd; 3],
    granted: Granted,
    outside_cgroup: bool,
) -> Result<Infallible, Failure> {
    fn at(stage: Stage, what: &str) -> impl FnOnce(io::Error) -> Failure {
        move |error| Failure::new(stage, &error, what)
    }
    if let (true, Some(cgroup)) = (outside_cgroup, &spec.cgroup) {
        std::fs::write(cgroup.join("cgroup.procs"), "0")
            .map_err(at(Stage::Cgroup, &cgroup.to_string_lossy()))?;
    }
    group(spec.in_turns).map_err(at(Stage::Fork, "a process group"))?;
    streams(stdio).map_err(at(Stage::Streams, "the standard streams"))?;
    hold(image.files).map_err(at(Stage::Streams, "the libraries that were sent along"))?;
    prompt::be_usual();
    if let Some(identity) = &spec.identity {
        let name = format!("user {}, group {}", identity.uid, identity.gid);
        sys::become_identity(identity).map_err(at(Stage::Identity, &name))?;
    }
    if let Some(processor) = spec.processor {
        // One that has gone since costs the rank its place, not its start.
        let mut only = CpuSet::new();
        only.set(processor as usize);
        let _ = sched_setaffinity(None, &only);
    }
    if let Some(usual) = spec.descriptors {
        // Their number tells nothing of the program's: it has more than it expects.
        let _ = descriptors::be_usual(usual);
    }
    umask(Mode::from_bits_truncate(spec.umask));
    let cwd = spec.cwd.to_string_lossy();
    rustix::process::chdir(&spec.cwd)
        .map_err(io::Error::from)
        .map_err(at(Stage::Directory, &cwd))?;
    run_script(&spec.namespace, granted)?;
    sys::unblock_signals().map_err(at(Stage::Exec, "signals"))?;
    let (error, file) = exec(image);
    let file = file.map_or(spec.program.as_str().into(), CStr::to_string_lossy);
    Err(at(Stage::Exec, &file)(error))
}

/// Makes the process group of the program. It stays in the keeper's session, which has no terminal:
/// the kernel gives sessions their shares of a processor, and ranks that offer theirs to one
/// another do so only within one (`docs/decisions/mpi-speed.md`).
fn group(in_turns: bool) -> io::Result<()> {
    if !in_turns {
        return Ok(setpgid(None, None)?);
    }
    // A session of its own, which is nicer than those of others.
    setsid()?;
    // It runs all the same.
    let _ = prompt::stand_back();
    // Or one that is real-time could keep the strober from stopping it. Who has CAP_SYS_NICE, as
    // root, is held to no limit.
    Ok(setrlimit(Resource::Rtprio, Rlimit { current: Some(0), maximum: Some(0) })?)
}

/// Places the streams as 0, 1 and 2, and lets all others end at the exec. The link is 0 until
/// here, so the streams themselves are all above 2.
fn streams([stdin, stdout, stderr]: &[OwnedFd; 3]) -> io::Result<()> {
    dup2_stdin(stdin)?;
    dup2_stdout(stdout)?;
    dup2_stderr(stderr)?;
    sys::keep_descriptors()
}

/// Lets the program find files open, from the first of their descriptors on.
fn hold(files: &[OwnedFd]) -> io::Result<()> {
    for (number, file) in (FILES..).zip(files) {
        // Nothing else is as high.
        let held = rustix::io::fcntl_dupfd_cloexec(file, number)?;
        rustix::io::fcntl_setfd(&held, FdFlags::empty())?;
        if held.into_raw_fd() != number {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
    }
    Ok(())
}

/// Executes the program; returns with the error to report, and the file that it is about, if there
/// is one.
fn exec<'a>(Image { argv, env, paths, other, .. }: &'a Image<'_>) -> (io::Error, Option<&'a CStr>) {
    let mut unfit = None;
    for path in paths {
        let mut error = patient_exec(path, argv, env);
        if let (Some(libc::EACCES), Some(other)) = (error.raw_os_error(), other)
            && other.is_of(path)
        {
            error = other.exec(env);
        }
        match error.raw_os_error() {
            // What is there all the same lacks its interpreter, or its loader.
            Some(libc::ENOENT | libc::ENOTDIR) if rustix::fs::stat(path.as_c_str()).is_err() => {}
            // A search goes past directories, as a shell's does.
            Some(libc::EACCES) if paths.len() > 1 && is_directory(path) => {}
            error if paths.len() > 1 && is_away(error) => {}
            Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES) => {
                unfit = unfit.or(Some((error, Some(path.as_c_str()))));
            }
            _ => return (error, Some(path)),
        }
    }
    // As a shell: "permission denied" when something was there, else "not found".
    unfit.unwrap_or_else(|| (io::Error::from_raw_os_error(libc::ENOENT), None))
}

/// Whether what a file would be on is not to be had, such as the server of a mount: execvp(3) goes
/// past that.
fn is_away(error: Option<i32>) -> bool {
    matches!(error, Some(libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT))
}

fn is_directory(path: &CStr) -> bool {
    let stat = rustix::fs::stat(path);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

fn patient_exec(path: &CStr, argv: &Strings, env: &Strings) -> io::Error {
    for attempt in 0..BUSY_TRIES {
        let error = sys::execve(path, argv, env);
        if error.raw_os_error() != Some(libc::ETXTBSY) {
            return error;
        }
        sleep(Duration::from_millis(1 << attempt));
    }
    io::Error::from_raw_os_error(libc::ETXTBSY)
}

/// The files that a program's name may mean, in order.
fn candidates(program: &str, path: Option<&str>) -> Vec<String> {
    if program.contains('/') {
        return vec![program.to_owned()];
    }
    let dirs = path.unwrap_or(DEFAULT_PATH).split(':');
    // An empty entry is the working directory.
    dirs.map(|dir| if dir.is_empty() { format!("./{program}") } else { format!("{dir}/{program}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_searched_as_execvp_does() {
        assert_eq!(candidates("./a", Some("/x")), ["./a"]);
        assert_eq!(candidates("a/b", None), ["a/b"]);
        assert_eq!(candidates("a", Some("/x::y")), ["/x/a", "./a", "y/a"]);
        assert_eq!(candidates("a", None), ["/bin/a", "/usr/bin/a"]);
    }
}
