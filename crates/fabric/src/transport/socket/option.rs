//! What is asked of the kernel for each socket.

use crate::transport::Lane;
use rustix::io;
use rustix::net::{SocketAddrAny, getpeername, getsockname, sockopt};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// How long a silent peer's machine is given: what the cluster gives a silent node.
pub const SILENCE: Duration = Duration::from_secs(5);

/// An idle connection is probed after so long, this often, and so many times.
const IDLE: Duration = Duration::from_secs(2);
const PROBE: Duration = Duration::from_secs(1);
const PROBES: u32 = 3;
const _: () = assert!(IDLE.as_secs() + PROBE.as_secs() * PROBES as u64 == SILENCE.as_secs());

/// What may queue in a socket of the system lane; the kernel doubles it for its own use.
const SYSTEM_BUFFER: usize = 64 * 1024;

/// Low delay (RFC 1349): Linux takes the packet's priority from it, and puts it before others.
const LOW_DELAY: u8 = 0x10;

/// Of a socket of either kind.
pub fn lane(socket: BorrowedFd<'_>, lane: Lane) -> io::Result<()> {
    if lane == Lane::System {
        sockopt::set_socket_send_buffer_size(socket, SYSTEM_BUFFER)?;
    }
    Ok(())
}

/// Has a socket that is full take a little more, which is to be the last: whether it does.
pub fn widen(socket: BorrowedFd<'_>) -> bool {
    // The kernel doubles what is asked for, but cuts it before to what the machine allows.
    let size = || sockopt::socket_send_buffer_size(socket);
    let widened = size().and_then(|before| {
        sockopt::set_socket_send_buffer_size(socket, before)?;
        Ok(size()? > before)
    });
    widened.unwrap_or(false)
}

/// The addresses of both ends of a connection over TCP.
fn ends(socket: BorrowedFd<'_>) -> io::Result<[IpAddr; 2]> {
    let ip = |address: Option<SocketAddrAny>| {
        let address = address.and_then(|address| SocketAddr::try_from(address).ok());
        Ok(address.ok_or(io::Errno::NOTCONN)?.ip().to_canonical())
    };
    Ok([ip(Some(getsockname(socket)?))?, ip(getpeername(socket)?)?])
}

/// Whether a connection over TCP is one of a socket to itself: where nobody listens, the kernel may
/// choose that very port for who connects.
pub fn is_to_itself(socket: BorrowedFd<'_>) -> bool {
    let ends = (getsockname(socket), getpeername(socket));
    matches!(ends, (Ok(here), Ok(Some(there))) if here == there)
}

/// Whether the other end of a connection over TCP is on this machine.
pub fn is_loopback(socket: BorrowedFd<'_>) -> bool {
    ends(socket).is_ok_and(|[_, there]| there.is_loopback())
}

/// Has the other end's machine asked whether it is there, while a connection over TCP is silent.
pub fn keep_alive(socket: BorrowedFd<'_>) -> io::Result<()> {
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, IDLE)?;
    sockopt::set_tcp_keepintvl(socket, PROBE)?;
    sockopt::set_tcp_keepcnt(socket, PROBES)
}

/// Of a connection over TCP.
pub fn tcp(socket: BorrowedFd<'_>, of: Lane) -> io::Result<()> {
    let [here, there] = ends(socket)?;
    // A message is sent when it is whole; nothing is to wait for more.
    sockopt::set_tcp_nodelay(socket, true)?;
    keep_alive(socket)?;
    if here == there {
        // Within a machine there is no bottleneck to find out about: BBR, where it is the default,
        // paces packets and wakes the sender by timers. Reno is in every kernel and allowed to all.
        let chosen = sockopt::set_tcp_congestion(socket, "cubic");
        chosen.or_else(|_| sockopt::set_tcp_congestion(socket, "reno"))?;
    }
    if of == Lane::System {
        sockopt::set_tcp_user_timeout(socket, SILENCE.as_millis() as u32)?;
        sockopt::set_ip_tos(socket, LOW_DELAY)?;
        if there.is_ipv6() {
            sockopt::set_ipv6_tclass(socket, LOW_DELAY.into())?;
        }
    }
    lane(socket, of)
}
