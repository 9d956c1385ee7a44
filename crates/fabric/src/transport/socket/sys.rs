//! What only the kernel knows of a connection, and no safe wrapper asks.
#![allow(unsafe_code)]

use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Whether everything written to a socket has arrived at the other end's kernel (`SIOCOUTQ` of
/// tcp(7), which is `TIOCOUTQ`); so, too, where the kernel does not say.
pub fn is_empty(socket: BorrowedFd<'_>) -> bool {
    let mut queued: libc::c_int = 0;
    // SAFETY: the call writes one int, which outlives it.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut queued) };
    result != 0 || queued == 0
}

/// Times that the same was sent, or asked, before silence says something.
const REPEATS: u8 = 3;

/// How long the machine at the other end of a connection has acknowledged nothing of what was sent
/// to it again and again, be it data or the question whether there is room. A machine that lives
/// does that for its processes, whether they run or are stopped; one that has lost its power, or is
/// cut off, does not, and the kernel waits for a quarter of an hour before it says so, as long as
/// something is under way (`tcp_retries2`, tcp(7)). Zero where it answers, where nothing is under
/// way (then keepalive probes find out), and over what is not TCP.
pub fn unanswered(socket: BorrowedFd<'_>) -> Duration {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut size = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the kernel writes at most so many bytes there.
    let got = unsafe {
        let into = info.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, into, &raw mut size)
    };
    if got != 0 {
        return Duration::ZERO;
    }
    // SAFETY: all fields are numbers, and those that the kernel did not write are zero.
    let info = unsafe { info.assume_init() };
    let repeats = info.tcpi_retransmits.max(info.tcpi_probes);
    if repeats < REPEATS {
        return Duration::ZERO;
    }
    Duration::from_millis(info.tcpi_last_ack_recv.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn who_takes_nothing_answers_all_the_same_that_there_is_no_room() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_stopped, _) = listener.accept().unwrap();
        assert_eq!(unanswered(sender.as_fd()), Duration::ZERO);
        sender.set_nonblocking(true).unwrap();
        while sender.write(&[0; 65536]).is_ok() {}
        // It asks several times meanwhile.
        for _ in 0..30 {
            assert_eq!(unanswered(sender.as_fd()), Duration::ZERO);
            std::thread::sleep(Duration::from_millis(50));
        }
        let (unix, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(unanswered(unix.as_fd()), Duration::ZERO);
    }
}
