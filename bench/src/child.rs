//! Peers' processes: each lives as long as its [`Child`]. It ends by its process id however we
//! end: by drop, by the hook when we panic (release builds abort, so nothing is dropped), and by
//! the kernel when we are killed (`setpriv --pdeathsig`, where there is one).

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus, Output};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

/// The processes to end should we panic.
static RUNNING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn end_all_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if let Ok(running) = RUNNING.try_lock() {
                for &pid in running.iter() {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            before(panic);
        }));
    });
}

/// A command that the kernel ends when we end, where that can be asked for.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    signalled("KILL", program)
}

/// A launcher of ranks that is asked to end after a time, and when we end: killed, it would leave
/// its ranks behind. (`timeout` hands on what it is sent. It is in a group of its own, so Ctrl-C
/// does not reach it.)
pub fn launcher(program: impl AsRef<OsStr>, most: Duration) -> Command {
    let mut command = signalled("TERM", "timeout");
    command.args(["--kill-after=2", &most.as_secs().to_string()]).arg(program);
    command
}

/// A command that gets a signal when we end.
fn signalled(signal: &str, program: impl AsRef<OsStr>) -> Command {
    match in_path("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", signal, "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// A process that runs; dropping it ends it.
#[derive(Debug)]
pub struct Child(process::Child);

impl Child {
    /// Starts it.
    pub fn start(command: &mut Command) -> Result<Child> {
        end_all_on_panic();
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        if let Ok(mut running) = RUNNING.lock() {
            running.push(Pid::from_child(&child));
        }
        Ok(Child(child))
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.0.try_wait()?)
    }

    /// Its process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Where it prints, which is piped.
    pub fn printed(&mut self) -> Result<process::ChildStdout> {
        self.0.stdout.take().context("its output is not piped")
    }

    /// All that it prints, if it ends in time; else it is ended. Its outputs are piped, and short.
    pub fn output(mut self, time: Duration) -> Result<Option<Output>> {
        let deadline = Instant::now() + time;
        let mut output = Output { status: ExitStatus::default(), stdout: vec![], stderr: vec![] };
        let mut printed = self.0.stdout.take().context("its output is not piped")?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let mut polled = [PollFd::new(&printed, PollFlags::IN)];
            match poll(&mut polled, Some(&Timespec::try_from(left)?)) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let mut part = [0; 4096];
            match printed.read(&mut part) {
                Ok(0) => break,
                Ok(count) => output.stdout.extend(&part[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        while self.0.try_wait()?.is_none() {
            if Instant::now() > deadline {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        output.status = self.0.wait()?;
        let errors = self.0.stderr.take();
        errors.map(|mut errors| errors.read_to_end(&mut output.stderr)).transpose()?;
        Ok(Some(output))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.0);
        let _ = self.0.kill();
        let _ = self.0.wait();
        if let Ok(mut running) = RUNNING.lock() {
            running.retain(|&other| other != pid);
        }
    }
}

/// An address of loopback where nobody listens now.
pub fn free_address() -> Result<SocketAddr> {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port on loopback")?;
    Ok(free.local_addr()?)
}

/// A file, if it exists.
pub fn exists(file: PathBuf) -> Option<PathBuf> {
    file.is_file().then_some(file)
}

/// A program in the folders of PATH, and where daemons are.
pub fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let roots = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(roots).find_map(|folder| exists(folder.join(name)))
}

/// Where cargo builds, as `cargo xtask bench` says it.
pub fn target() -> PathBuf {
    std::env::var_os("MUSTER_BENCH_TARGET").map_or_else(|| "target".into(), PathBuf::from)
}

/// What a program prints first.
pub fn first_line(program: impl AsRef<Path>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program.as_ref()).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().filter(|_| output.status.success()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Folder;

    #[test]
    fn a_launcher_is_asked_to_end_when_who_started_it_ends() {
        let folder = Folder::new(&std::env::temp_dir(), "launcher").expect("a folder");
        let [ready, asked] = ["ready", "asked"].map(|name| folder.path().join(name));
        let (at_ready, at_asked) = (ready.display(), asked.display());
        // It ends by itself, should nobody ask it to.
        let script = format!(
            "trap 'echo asked >{at_asked}; exit' TERM; echo ready >{at_ready}
             for i in $(seq 1000); do sleep 0.02; done"
        );
        let until = |is_so: &dyn Fn() -> bool| {
            let deadline = Instant::now() + Duration::from_secs(60);
            while !is_so() {
                assert!(Instant::now() < deadline, "it was not asked");
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        // Until it sleeps, `timeout` does not know whom it has started, and would end alone.
        let sleeps = |pid: u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.is_ok_and(|stat| stat.contains(") S "))
        };
        // The kernel looks at the thread that has started it.
        let child = std::thread::scope(|scope| {
            let start = scope.spawn(|| {
                let child = launcher("sh", Duration::from_secs(60)).args(["-c", &script]).spawn();
                let child = child.expect("timeout starts");
                until(&|| ready.exists() && sleeps(child.id()));
                child
            });
            start.join().expect("no panic")
        });
        until(&|| asked.exists());
        assert!(Child(child).ended().is_ok());
    }
}
