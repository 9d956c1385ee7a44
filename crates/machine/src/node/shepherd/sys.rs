//! The system calls that no safe wrapper offers. All but [`keep_descriptors`] is called in the
//! shepherd, which has one thread.
#![allow(unsafe_code)]

use std::arch::asm;
use std::convert::Infallible;
use std::ffi::{CStr, CString, c_char};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::process::Pid;
use rustix::thread::UnshareFlags;

use super::spec::Identity;
use crate::usage::Usage;

/// The highest signal number of Linux.
pub(super) const SIGNAL_MAX: i32 = 64;

/// Linux's flag for clone3; the constant in the libc crate is too narrow for its value.
const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// The kernel's size of a signal set, which some calls ask for.
const SIGSET_SIZE: usize = 8;

/// How many limits Linux has: setrlimit(2).
const LIMITS: u32 = 16;

/// The most processors that Linux can be built for.
const PROCESSORS_MAX: usize = 8192;

/// Bytes of the blocks that wait4(2) counts, as getrusage(2) says.
const BLOCK: u64 = 512;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Forks a child into new namespaces: `None` in the child.
pub(super) fn fork_apart(namespaces: UnshareFlags) -> io::Result<Option<Pid>> {
    let flags = namespaces.bits() as libc::c_ulong | libc::SIGCHLD as libc::c_ulong;
    // The flags of unshare(2) are those of clone(2); all other arguments are "not used", which
    // spares knowing their order.
    let none: libc::c_ulong = 0;
    // SAFETY: without CLONE_VM and a stack this is fork(); one thread means that no lock of the
    // C library is held by another. The C library caches no pid, and the cached thread id that
    // is stale in the child serves only thread functions, which nothing calls.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) };
    Ok(Pid::from_raw(check(libc::c_int::try_from(pid).expect("a pid or -1"))?))
}

/// Has a child process execute a program, as vfork(2) does: it borrows this one's memory, and this
/// returns when it has given it back, by an exec or its end. What `become_it` leaves in memory is
/// seen here, unless it is to be `is_apart`, with a copy. It is told whether it has still to enter
/// `cgroup`.
///
/// In a cgroup a child is born: moving a process there takes a lock that waits for an RCU grace
/// period, tens of milliseconds on a busy machine.
pub(super) fn lend(
    cgroup: Option<BorrowedFd>,
    is_apart: bool,
    become_it: &mut dyn FnMut(bool) -> Infallible,
) -> io::Result<Pid> {
    let memory = if is_apart { 0 } else { libc::CLONE_VM as u64 };
    let shared = memory | libc::CLONE_VFORK as u64;
    if let Some(cgroup) = cgroup {
        // SAFETY: clone_args is plain numbers, for which zero means "not used".
        let mut args: libc::clone_args = unsafe { mem::zeroed() };
        args.flags = shared | CLONE_INTO_CGROUP;
        args.exit_signal = libc::SIGCHLD as u64;
        args.cgroup = cgroup.as_raw_fd() as u64;
        let place = [&raw const args as usize, mem::size_of_val(&args), 0, 0, 0];
        match borrowing(libc::SYS_clone3, place, &mut || become_it(false)) {
            // Sandboxes hide clone3 from sight.
            Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {}
            result => return result,
        }
    }
    let place = [shared as usize | libc::SIGCHLD as usize, 0, 0, 0, 0];
    borrowing(libc::SYS_clone, place, &mut || become_it(cgroup.is_some()))
}

/// Makes a call that returns twice: first in a child, which runs `child` on this very stack, below
/// this frame, and never returns from it; then, once the child has let go of the memory, here.
#[inline(never)]
fn borrowing(
    number: libc::c_long,
    [a, b, c, d, e]: [usize; 5],
    child: &mut dyn FnMut() -> Infallible,
) -> io::Result<Pid> {
    let result: isize;
    // SAFETY: `number` is clone or clone3, with VFORK: parent and child never run at once, so the
    // memory that they share, thread-local variables and the allocator's included, has one user at
    // a time. No function is called for the system call, so no return address lies below this
    // frame for the child to write over; the child does not return from it, and what it writes
    // into it, the compiler takes for this function's own.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        asm!("syscall", inlateout("rax") number as isize => result, in("rdi") a, in("rsi") b,
            in("rdx") c, in("r10") d, in("r8") e, lateout("rcx") _, lateout("r11") _);
        #[cfg(target_arch = "aarch64")]
        asm!("svc 0", in("x8") number, inlateout("x0") a => result, in("x1") b, in("x2") c,
            in("x3") d, in("x4") e);
        #[cfg(target_arch = "riscv64")]
        asm!("ecall", in("a7") number, inlateout("a0") a => result, in("a1") b, in("a2") c,
            in("a3") d, in("a4") e);
    }
    if result == 0 {
        child();
    }
    if result < 0 {
        return Err(io::Error::from_raw_os_error(-result as i32));
    }
    Ok(Pid::from_raw(result as i32).expect("a child has a pid"))
}

/// Leaves namespaces for new ones.
pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    assert!(!flags.contains(UnshareFlags::FILES), "descriptor tables stay shared");
    // SAFETY: unsafe only for descriptor tables that threads would stop sharing.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Ends this process and nothing else: a forked one has no business with what its parent would do
/// at its end, and to find out that there is nothing costs 60 us.
pub(super) fn leave(code: i32) -> ! {
    // SAFETY: it does not return and runs no code of ours.
    unsafe { libc::_exit(code) }
}

/// Blocks every signal that can be blocked: what a user types at the daemon's terminal is for the
/// daemon to judge.
pub(super) fn block_signals() -> io::Result<()> {
    set_mask(libc::sigfillset)
}

/// Blocks no signal, as a new program expects.
pub(super) fn unblock_signals() -> io::Result<()> {
    set_mask(libc::sigemptyset)
}

/// Gives every signal its default effect, which all that is forked inherits, programs too.
pub(super) fn default_signals() {
    // The kernel's own structure in all its layouts: zero is SIG_DFL, no flags, an empty mask.
    // The C library's function would leave alone the two signals it reserves, which the daemon
    // may have inherited as ignored.
    let default = [0_u64; 8];
    let none = ptr::null_mut::<u64>();
    for signal in 1..=SIGNAL_MAX {
        // KILL and STOP refuse, and need no change.
        // SAFETY: `default` is as large as any architecture's structure; SIG_DFL runs no code.
        unsafe {
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), none, SIGSET_SIZE);
        }
    }
}

fn set_mask(fill: unsafe extern "C" fn(*mut libc::sigset_t) -> libc::c_int) -> io::Result<()> {
    // SAFETY: sigset_t is plain data that `fill` then sets.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: `fill` is sigfillset or sigemptyset on a set that lives here.
    check(unsafe { fill(&raw mut set) })?;
    // SAFETY: a valid set; the old one is not asked for.
    check(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut()) })?;
    Ok(())
}

/// A descriptor that is readable when a child has ended. The signal must be blocked.
pub(super) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: sigset_t is plain data that sigemptyset then sets.
    let mut set: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: a set that lives here and a valid signal number.
    unsafe {
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
    }
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: a valid set; -1 asks for a new descriptor.
    let fd = check(unsafe { libc::signalfd(-1, &raw const set, flags) })?;
    // SAFETY: the kernel has just made this descriptor for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Closes every descriptor from `first` on. The caller owns none of them as a value.
pub(super) fn close_from(first: u32) -> io::Result<()> {
    close_range(first, 0)
}

/// Keeps every descriptor but the standard three from the programs that this process becomes or
/// starts: also those that it was given itself, by a shell or a scheduler that left them open.
///
/// # Errors
/// The kernel has no such call.
pub fn keep_descriptors() -> io::Result<()> {
    close_range(3, libc::CLOSE_RANGE_CLOEXEC)
}

fn close_range(first: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: callers hold no descriptor that this closes; setting CLOEXEC invalidates nothing.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, flags) };
    check(result as libc::c_int).map(drop)
}

/// Becomes an identity. This one function sets groups, group and user, in the order that works,
/// and believes the kernel's answer, not its own request.
pub(super) fn become_identity(identity: &Identity) -> io::Result<()> {
    if holds(identity)? {
        return Ok(());
    }
    let Identity { uid, gid, groups } = identity;
    // SAFETY: a pointer to as many groups as the count says.
    check(unsafe { libc::setgroups(groups.len(), groups.as_ptr()) })?;
    // SAFETY: numbers only.
    check(unsafe { libc::setresgid(*gid, *gid, *gid) })?;
    // SAFETY: numbers only.
    check(unsafe { libc::setresuid(*uid, *uid, *uid) })?;
    // SAFETY: numbers only; this must fail, or the drop was none.
    let regained = *uid != 0 && unsafe { libc::setresuid(0, 0, 0) } == 0;
    if regained || !holds(identity)? {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    Ok(())
}

/// Whether the caller is an identity already, in every way.
pub(super) fn holds(identity: &Identity) -> io::Result<bool> {
    let (mut users, mut user_groups) = ([0; 3], [0; 3]);
    let [r, e, s] = &mut users;
    // SAFETY: three places for three ids.
    check(unsafe { libc::getresuid(r, e, s) })?;
    let [r, e, s] = &mut user_groups;
    // SAFETY: three places for three ids.
    check(unsafe { libc::getresgid(r, e, s) })?;
    let sorted = |mut groups: Vec<u32>| {
        groups.sort_unstable();
        groups.dedup();
        groups
    };
    let groups = rustix::process::getgroups()?.into_iter().map(|group| group.as_raw()).collect();
    Ok(users == [identity.uid; 3]
        && user_groups == [identity.gid; 3]
        && sorted(groups) == sorted(identity.groups.clone()))
}

/// Signals a process group; a group that is gone is no error.
pub(super) fn signal_group(leader: Pid, signal: i32) {
    // SAFETY: numbers only. Inside a pid namespace this reaches nobody else's processes.
    unsafe { libc::kill(-leader.as_raw_pid(), signal) };
}

/// Waits for a child that has ended: its raw status and what it has used, with its children that it
/// has waited for. `None` when none has ended yet; ECHILD when there are none.
pub(super) fn wait() -> io::Result<Option<(Pid, i32, Usage)>> {
    // SAFETY: rusage is plain numbers.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    let mut status = 0;
    // SAFETY: places for the two answers.
    let pid = unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage) };
    Ok(Pid::from_raw(check(pid)?).map(|pid| (pid, status, read_usage(&usage))))
}

fn read_usage(usage: &libc::rusage) -> Usage {
    let unsigned = |number: libc::c_long| u64::try_from(number).unwrap_or(0);
    let micros = |time: libc::timeval| {
        unsigned(time.tv_sec).saturating_mul(1_000_000).saturating_add(unsigned(time.tv_usec))
    };
    Usage {
        user_us: micros(usage.ru_utime),
        system_us: micros(usage.ru_stime),
        max_rss_kib: unsigned(usage.ru_maxrss),
        disk_read: unsigned(usage.ru_inblock).saturating_mul(BLOCK),
        disk_written: unsigned(usage.ru_oublock).saturating_mul(BLOCK),
        ..Usage::default()
    }
}

/// What of a process those inherit that it makes, and others of its user may change.
#[derive(Debug, PartialEq)]
pub(super) struct Traits {
    nice: i32,
    policy: i32,
    io_priority: libc::c_long,
    processors: Vec<u8>,
    limits: Vec<(u64, u64)>,
}

/// Those of the caller.
pub(super) fn traits() -> io::Result<Traits> {
    let limits = (0..LIMITS).map(|resource| {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: a place for the answer.
        check(unsafe { libc::getrlimit(resource as _, &raw mut limit) })?;
        Ok((limit.rlim_cur, limit.rlim_max))
    });
    let limits = limits.collect::<io::Result<_>>()?;
    let mut processors = vec![0_u8; PROCESSORS_MAX / 8];
    let (size, place) = (processors.len(), processors.as_mut_ptr());
    // SAFETY: a place of so many bytes for the answer.
    let length = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size, place) };
    check(libc::c_int::try_from(length).unwrap_or(-1))?;
    // SAFETY: numbers only; 1 means a process, 0 the caller.
    let io_priority = unsafe { libc::syscall(libc::SYS_ioprio_get, 1, 0) };
    // SAFETY: numbers only. (musl has the function, and it always fails.)
    let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    let policy = check(libc::c_int::try_from(policy).unwrap_or(-1))?;
    let nice = rustix::process::getpriority_process(None)?;
    Ok(Traits { nice, policy, io_priority, processors, limits })
}

/// Arguments or environment as execve wants them: built once, used for every try.
pub(super) struct Strings {
    pointers: Vec<*const c_char>,
    _strings: Vec<CString>,
}

impl Strings {
    /// Takes strings over.
    pub(super) fn new(strings: Vec<CString>) -> Strings {
        let pointers = strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]).collect();
        Strings { pointers, _strings: strings }
    }
}

/// Replaces this process by a program; returns only with the error.
pub(super) fn execve(path: &CStr, argv: &Strings, env: &Strings) -> io::Error {
    // SAFETY: both vectors end with null and point at strings that live as long as they do.
    unsafe { libc::execve(path.as_ptr(), argv.pointers.as_ptr(), env.pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// The same by a file that is open, whatever its name.
pub(super) fn execve_open(file: BorrowedFd, argv: &Strings, env: &Strings) -> io::Error {
    let (argv, env) = (argv.pointers.as_ptr(), env.pointers.as_ptr());
    // SAFETY: both vectors end with null and point at strings that live as long as they do.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            file.as_raw_fd(),
            c"".as_ptr(),
            argv,
            env,
            libc::AT_EMPTY_PATH,
        );
    }
    io::Error::last_os_error()
}
