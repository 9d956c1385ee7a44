//! From a session's files to a running program: `exec`.

use super::cgroup;
use super::gateway;
use super::noexec::Copy;
use super::session::{Phase, Session};
use super::shepherd::{NsCommand, Spec, Stdio};
use super::vote;
use super::watch::Pipes;
use super::{LIBRARIES, Node};
use crate::descriptors;
use crate::files::text::Text;
use crate::launch::UMASK;
use crate::strober::place::Place;
use muster_base::quote;
use muster_ninep::error::{Errno, Error, Result, fail};
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Starts the session's program and waits until it runs. `program` overrides `argv[0]`.
pub(super) fn exec(session: &Arc<Session>, program: Option<&str>) -> Result<()> {
    start(session, program)?;
    session.await_start()
}

/// Starts the session's program; the session tells whether it runs.
pub(super) fn start(session: &Arc<Session>, program: Option<&str>) -> Result<()> {
    let Some(node) = session.node.upgrade() else { return fail(Errno::IO, "the node is ending") };
    let (mut spec, copies) = specify(&node, session, program)?;
    {
        let mut state = session.state();
        if state.phase != Phase::New {
            let text = format!("session {} has run its program already", session.number);
            return fail(Errno::BUSY, text);
        }
        (state.phase, state.failure) = (Phase::Starting, None);
        state.copies.clone_from(&copies);
    }
    let begun = begin(&node, session, &mut spec, &copies);
    if let Err(error) = begun {
        session.failed(error.clone());
        return Err(error);
    }
    Ok(())
}

fn begin(node: &Node, session: &Arc<Session>, spec: &mut Spec, copies: &[Arc<Copy>]) -> Result<()> {
    // One that has failed may not be removed yet.
    let name = match session.state().failures {
        0 => format!("s{}", session.number),
        more => format!("s{}.{more}", session.number),
    };
    let refused = |error: cgroup::Error| Error::new(Errno::IO, error.to_string());
    let mut group = None;
    if let Some(light) = session.light {
        let rank = format!("{}.{name}", node.setup.name);
        let (seat, of_job) = node.setup.place.enter(light.known_as, rank).map_err(refused)?;
        session.state().seat = Some(seat);
        group = of_job;
    }
    if let (None, Ok(hierarchy)) = (&group, &node.cgroups) {
        group = Some(hierarchy.create(&node.setup.group, &name).map_err(refused)?);
    }
    spec.cgroup = group.as_ref().map(|group| group.path().to_owned());
    session.state().cgroup = group;
    let redirects = session.state().redirects.clone();
    let [stdin, stdout, stderr] = redirects;
    let (child_in, our_in) = match stdin.as_deref() {
        None if session.stdin.is_over() => (File::open("/dev/null").map_err(short)?.into(), None),
        redirect => input(redirect, &session.directory)?,
    };
    let (child_out, our_out) = output(stdout.as_deref(), &session.directory)?;
    let (child_err, our_err) = output(stderr.as_deref(), &session.directory)?;
    let stdio = Stdio { stdin: child_in, stdout: child_out, stderr: child_err };
    let copies: Vec<_> = copies.iter().map(|copy| copy.as_fd()).collect();
    let ward = node.spawner.start_with(spec, stdio, &copies).map_err(|error| {
        Error::new(Errno::AGAIN, format!("no process can be started: {error}  [E107, exit 125]"))
    })?;
    {
        let mut state = session.state();
        state.ward = Some(ward);
        // Who wiped it meanwhile has found nothing to end: who fails it does so.
        if state.phase == Phase::Wiped {
            return fail(Errno::IO, "the session was wiped while it started");
        }
    }
    let pipes = Pipes { stdin: our_in, stdout: our_out, stderr: our_err };
    node.watch.adopt(session, pipes);
    Ok(())
}

/// What to run, from the session's texts.
fn specify(
    node: &Node,
    session: &Arc<Session>,
    program: Option<&str>,
) -> Result<(Spec, Vec<Arc<Copy>>)> {
    let named = |file: &str, error: &dyn std::fmt::Display| {
        Error::new(Errno::INVAL, format!("{file} of session {}: {error}", session.number))
    };
    let text = |file: &str, text: &Text| {
        text.get().map_err(|error| error.at(format!("{file} of session {}", session.number)))
    };
    let argv = text("argv", &session.argv)?;
    let mut argv = quote::split(&argv).map_err(|error| named("argv", &error))?;
    let uploaded = session.directory.join(super::tree::UPLOAD);
    let program = match (program, argv.first()) {
        (Some(program), _) => program.to_owned(),
        // Generation 1: the binary was written to `exec`.
        (None, _) if uploaded.exists() => format!("./{}", super::tree::UPLOAD),
        (None, Some(first)) => first.clone(),
        (None, None) => return fail(Errno::INVAL, "argv is empty: there is nothing to run"),
    };
    if argv.is_empty() {
        argv.push(program.clone());
    }
    let mut env = variables(&text("env", &session.env)?).map_err(|error| named("env", &error))?;
    // getenv(3) finds the first of equal names, so there must be no other.
    let own = own_variables(node, session);
    env.retain(|(name, _)| own.iter().all(|(other, _)| other != name));
    env.extend(own);
    if let (Some(_), Some(library)) = (session.light, &node.mpi) {
        look_first_in(&mut env, &library.to_string_lossy());
    }
    let mut libraries = session.directory.join(LIBRARIES);
    let mut copies = Vec::new();
    if libraries.is_dir() {
        if let Some(noexec) = &node.noexec {
            (libraries, copies) = noexec.libraries(&node.setup.name, &libraries)?;
        }
        look_first_in(&mut env, &libraries.to_string_lossy());
    }
    let namespace = NsCommand::parse_script(&text("ns", &session.ns)?, &env);
    let mut spec = Spec::new(&relative(&program, &session.directory), &[]);
    spec.argv = argv;
    spec.namespace = namespace.map_err(|error| named("ns", &error))?;
    // Behind what the node's administrator has every session do.
    spec.namespace.extend(session.state().chdir.clone().map(NsCommand::Cd));
    spec.cwd = session.directory.clone();
    spec.env = env;
    spec.in_turns = session.light.is_some_and(|light| light.in_turns);
    spec.processor = session.light.and_then(|light| light.processor);
    spec.umask = session.light.map_or(UMASK, |light| light.umask);
    spec.descriptors = descriptors::usual();
    // Who reads the job's input is followed from its start.
    let reads = session.light.is_none_or(|light| light.reads);
    // Without control groups the strober stops those that it has heard of.
    spec.tells_start = reads || matches!(node.setup.place, Place::Lists(_));
    node.setup.processor.arrange(&mut spec);
    if let Some(noexec) = &node.noexec {
        copies.splice(0..0, noexec.arrange(&node.setup.name, &mut spec)?);
    }
    Ok((spec, copies))
}

/// A program that is named relative to `fs/` is found there, wherever the process works.
fn relative(program: &str, fs: &Path) -> String {
    let here = program.contains('/') && !program.starts_with('/');
    // Plain names of files that were sent along are meant, as in XCPU's scripts.
    let sent = !program.contains('/') && fs.join(program).is_file();
    if here || sent {
        // An absolute rest would lead elsewhere: `.//prog`.
        let parts = Path::new(program).components().filter(|part| *part != Component::CurDir);
        return fs.join(parts.collect::<PathBuf>()).to_string_lossy().into_owned();
    }
    program.to_owned()
}

/// Has the program's loader look in a directory before all others that are its user's to choose.
fn look_first_in(env: &mut Vec<(String, String)>, directory: &str) {
    const NAME: &str = "LD_LIBRARY_PATH";
    match env.iter_mut().find(|(name, _)| name == NAME) {
        Some((_, value)) if !value.is_empty() => *value = format!("{directory}:{value}"),
        Some((_, value)) => directory.clone_into(value),
        None => env.push((NAME.to_owned(), directory.to_owned())),
    }
}

/// Reads quoted `K=V` words, on any number of lines; the last of equal names counts.
fn variables(text: &str) -> std::result::Result<Vec<(String, String)>, String> {
    let words = quote::split(text).map_err(|error| error.to_string())?;
    let (mut all, mut seen) = (Vec::with_capacity(words.len()), HashSet::new());
    for word in words.iter().rev() {
        let Some((name, value)) = word.split_once('=') else {
            return Err(format!("'{word}' is not of the form NAME=VALUE"));
        };
        if seen.insert(name) {
            all.push((name.to_owned(), value.to_owned()));
        }
    }
    all.reverse();
    Ok(all)
}

/// What the node adds to a process's environment.
fn own_variables(node: &Node, session: &Arc<Session>) -> Vec<(String, String)> {
    let state = session.state();
    let mut own = vec![
        ("XCPUSID".to_owned(), session.number.to_string()),
        ("XCPUPATH".to_owned(), session.directory.to_string_lossy().into_owned()),
        ("XCPU_PARENT".to_owned(), state.parent.clone()),
        ("MUSTER_NODE".to_owned(), node.setup.name.clone()),
    ];
    // Commands that a program runs are for the cluster that runs it.
    let home = &node.setup.home;
    if let (Some(runtime), Some(cluster)) = (home.parent(), home.file_name()) {
        own.push(("MUSTER_RUNTIME".to_owned(), runtime.to_string_lossy().into_owned()));
        own.push(("MUSTER_CLUSTER".to_owned(), cluster.to_string_lossy().into_owned()));
    }
    let (rank, local) = &state.id;
    own.push(("XCPUID".to_owned(), format!("{rank}/{local}")));
    if !rank.is_empty() {
        own.push(("MUSTER_RANK".to_owned(), rank.clone()));
        own.push(("MUSTER_LOCAL_RANK".to_owned(), local.to_string()));
    }
    if session.light.is_some() {
        let gate = gateway::path(&node.setup).to_string_lossy().into_owned();
        own.push(("MUSTER_GATEWAY".to_owned(), gate));
        let booth = vote::path(node).to_string_lossy().into_owned();
        own.push(("MUSTER_VOTE".to_owned(), booth));
    }
    own
}

type Ends = (OwnedFd, Option<OwnedFd>);

fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    pipe_with(PipeFlags::CLOEXEC).map_err(|error| short(error.into()))
}

/// What a rank's own descriptors fail for: those of its node.
fn short(error: std::io::Error) -> Error {
    let what = "its node cannot open its input and output";
    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
    Error::new(errno, format!("{what}: {error}  [E107, exit 125]"))
}

fn nonblocking(fd: OwnedFd) -> Result<OwnedFd> {
    rustix::io::ioctl_fionbio(&fd, true)?;
    Ok(fd)
}

fn input(redirect: Option<&Path>, fs: &Path) -> Result<Ends> {
    if let Some(path) = redirect {
        return Ok((redirected(File::options().read(true), path, fs)?, None));
    }
    let (read, write) = pipe()?;
    Ok((read, Some(nonblocking(write)?)))
}

fn output(redirect: Option<&Path>, fs: &Path) -> Result<Ends> {
    if let Some(path) = redirect {
        let mut options = File::options();
        options.append(true).create(true).mode(0o644);
        return Ok((redirected(&mut options, path, fs)?, None));
    }
    let (read, write) = pipe()?;
    Ok((write, Some(nonblocking(read)?)))
}

/// Opens what a stream is redirected to, without waiting for whoever is at a pipe's other end.
fn redirected(options: &mut OpenOptions, path: &Path, fs: &Path) -> Result<OwnedFd> {
    let file = options.custom_flags(libc::O_NONBLOCK).open(fs.join(path));
    let file: OwnedFd = file.map_err(|error| at(path, &error))?.into();
    rustix::io::ioctl_fionbio(&file, false)?;
    Ok(file)
}

fn at(path: &Path, error: &std::io::Error) -> Error {
    let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
    Error::from(errno).at(format!("{}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_quoted_words_and_the_last_of_a_name_counts() {
        let read = variables("A=1 B='x y'\nC=\nA=2\n").unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(read, [pair("B", "x y"), pair("C", ""), pair("A", "2")]);
        assert_eq!(variables("oops").unwrap_err(), "'oops' is not of the form NAME=VALUE");
    }

    #[test]
    fn libraries_that_were_sent_come_before_others() {
        let after = |text: &str| {
            let mut env = variables(text).unwrap();
            look_first_in(&mut env, "/s/.libs");
            env.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        assert_eq!(after("A=1"), ["A=1", "LD_LIBRARY_PATH=/s/.libs"]);
        assert_eq!(after("LD_LIBRARY_PATH=/a:/b"), ["LD_LIBRARY_PATH=/s/.libs:/a:/b"]);
        // An empty word would be the working directory.
        assert_eq!(after("LD_LIBRARY_PATH="), ["LD_LIBRARY_PATH=/s/.libs"]);
    }
}
