//! The one thing of a strober that needs unsafe code: to be SCHED_FIFO.
#![allow(unsafe_code, reason = "a system call that the libraries do not wrap")]

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// How long a real-time process of ours may run without sleeping, in microseconds: it is sent
/// SIGXCPU, which ends it, and SIGKILL after as long again. A strobe takes some tens of them; who
/// has to do something with many jobs sleeps in between ([`super::hands`]).
pub(super) const SPIN: u64 = 10_000;

/// Makes the calling thread SCHED_FIFO, in the lowest place: everything else is below it anyway.
/// First it is seen to that the kernel ends the process if it does not sleep; without that the
/// thread stays as it is.
pub(super) fn be_real_time() -> io::Result<()> {
    setrlimit(Resource::Rttime, Rlimit { current: Some(SPIN), maximum: Some(2 * SPIN) })?;
    be_fifo()
}

fn be_fifo() -> io::Result<()> {
    set_scheduler(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1)
}

/// Whether a thread of this process may be made real-time: nothing less than to try it tells, for
/// limits, capabilities and control groups all have a say. The process keeps its own limit, as the
/// programs that it runs have it, too.
pub(super) fn may_be_real_time() -> bool {
    let before = getrlimit(Resource::Rttime);
    // What a process may have at most it cannot raise again.
    let spin = before.maximum.map_or(SPIN, |most| most.min(SPIN));
    if setrlimit(Resource::Rttime, Rlimit { current: Some(spin), ..before }).is_err() {
        return false;
    }
    let may = is_fifo_for_a_moment();
    // It is no higher than it was.
    let _ = setrlimit(Resource::Rttime, before);
    may
}

fn is_fifo_for_a_moment() -> bool {
    let tried = std::thread::spawn(|| {
        let may = be_fifo().is_ok();
        // For the moment until it ends.
        let _ = set_scheduler(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0);
        may
    });
    tried.join().unwrap_or(false)
}

fn set_scheduler(policy: i32, priority: i32) -> io::Result<()> {
    // The kernel's parameter is the priority alone. (musl has the function, and it always fails.)
    let parameter = &raw const priority;
    // SAFETY: the parameter is read during the call only; 0 is the calling thread.
    let done = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, parameter) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    const SPINS: &str = "MUSTER_TEST_SPINS";

    /// In a process of its own. It ends by itself, whatever the kernel does.
    #[test]
    fn spins_when_asked() {
        if std::env::var_os(SPINS).is_none() {
            return;
        }
        let code = match be_real_time() {
            Ok(()) => {
                let until = Instant::now() + Duration::from_millis(200);
                while Instant::now() < until {}
                0
            }
            Err(_) => 77,
        };
        std::process::exit(code);
    }

    /// The ranks of a shepherd that was started by such a process were killed after 20 ms.
    #[test]
    fn who_has_asked_whether_he_may_be_real_time_has_his_own_limit_again() {
        let before = getrlimit(Resource::Rttime);
        may_be_real_time();
        assert_eq!(getrlimit(Resource::Rttime), before);
    }

    #[test]
    fn a_strober_that_does_not_sleep_is_ended_by_the_kernel() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "strober::sys::tests::spins_when_asked", "--nocapture"]);
        command.args(["--test-threads", "1"]).env(SPINS, "1").stdout(Stdio::null());
        let status = command.status().unwrap();
        if status.code() == Some(77) {
            return; // Not permitted here.
        }
        let signal = status.signal().expect("a signal has ended it");
        assert!([libc::SIGXCPU, libc::SIGKILL].contains(&signal), "{signal}");
    }
}
