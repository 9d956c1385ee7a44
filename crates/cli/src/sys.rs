//! The system calls of the commands that the libraries do not wrap.
#![allow(unsafe_code)]

/// From now on a file that may grow no more (`ulimit -f`) is an error to who writes it, as a full
/// disk is, and ends no process: a manager has the output of other jobs as well. Ranks are ended by
/// the signal as usual.
pub fn outlive_long_files() {
    // SAFETY: to ignore a signal runs no code of ours; nobody here depends on its effect.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// INT, TERM and HUP, held back from every thread started afterwards, for one to wait for. Those
/// that are ignored, as under nohup(1), stay so: the kernel would keep one that is held back.
pub struct EndSignals {
    set: libc::sigset_t,
}

impl EndSignals {
    /// Holds them back: call it before other threads start.
    pub fn hold() -> EndSignals {
        let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: sigemptyset initialises the set; the others take a valid one. Blocking signals
        // has no other effect on memory.
        let set = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            let mut set = set.assume_init();
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                if !is_ignored(signal) {
                    libc::sigaddset(&raw mut set, signal);
                }
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            set
        };
        EndSignals { set }
    }

    /// Waits for one of them; its number.
    pub fn wait(&self) -> i32 {
        let mut signal = 0;
        // SAFETY: the set is initialised, and the signal's number has a place.
        unsafe { libc::sigwait(&raw const self.set, &raw mut signal) };
        signal
    }
}

fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is set; all zeros is a valid sigaction also where the call fails.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}
