//! The sockets of a group: the root's, that sends, and everybody else's, that listens.

use super::sys;
use super::wire::DATAGRAM;
use crate::error::{Error, Result};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// What a datagram takes of a socket's buffer: a page, in which drivers put it, and what the kernel
/// notes of it. Received together (UDP_GRO) they take less.
const EACH: usize = 4096 + 256;

/// One of them.
pub struct Socket {
    socket: UdpSocket,
    /// The kernel cuts what is sent into datagrams.
    is_segmented: bool,
}

impl Socket {
    /// The root's.
    pub fn speak(group: SocketAddrV4, interface: Ipv4Addr) -> Result<Socket> {
        let open = || {
            let socket = UdpSocket::bind(SocketAddrV4::new(interface, 0))?;
            socket.set_nonblocking(true)?;
            sockopt::set_ip_multicast_if(&socket, &interface)?;
            // Members of this machine are to hear it as well.
            socket.set_multicast_loop_v4(true)?;
            socket.connect(group)?;
            let size = libc::c_int::try_from(DATAGRAM).expect("it is short");
            let is_segmented = sys::set_segment(socket.as_fd(), size).is_ok();
            Ok(Socket { socket, is_segmented })
        };
        open().map_err(|error: io::Error| failed("speaking to", group, interface, error))
    }

    /// A listener's, asked to hold so many bytes, and the datagrams that it has room for. Others
    /// may listen beside it.
    pub fn listen(
        group: SocketAddrV4,
        interface: Ipv4Addr,
        buffer: usize,
    ) -> Result<(Socket, u32)> {
        let open = || {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
            let socket = rustix::net::socket_with(family, kind, flags, None)?;
            sockopt::set_socket_reuseaddr(&socket, true)?;
            // More than the system's limit takes a privilege.
            if sockopt::set_socket_recv_buffer_size_force(&socket, buffer).is_err() {
                sockopt::set_socket_recv_buffer_size(&socket, buffer)?;
            }
            let room = sockopt::socket_recv_buffer_size(&socket)? / EACH;
            rustix::net::bind(&socket, &group)?;
            sockopt::set_ip_add_membership(&socket, group.ip(), &interface)?;
            // Without it each datagram costs a call.
            let _ = sys::set_receive_offload(socket.as_fd());
            let socket = Socket { socket: UdpSocket::from(socket), is_segmented: false };
            Ok((socket, u32::try_from(room).unwrap_or(u32::MAX)))
        };
        open().map_err(|error: io::Error| failed("listening to", group, interface, error))
    }

    /// Joins the group again, which the switches on the way hear of. Who has left it and cannot
    /// join hears nothing, as before.
    pub fn join_again(&self, group: SocketAddrV4, interface: Ipv4Addr) {
        let _ = sockopt::set_ip_drop_membership(&self.socket, group.ip(), &interface);
        let _ = sockopt::set_ip_add_membership(&self.socket, group.ip(), &interface);
    }

    /// Sends datagrams: how many bytes of them. It does not wait.
    pub fn send(&mut self, batch: &[u8]) -> io::Result<usize> {
        if self.is_segmented {
            let done = self.socket.send(batch);
            let refused = |error: &io::Error| {
                let known = [libc::EIO, libc::EINVAL, libc::EMSGSIZE, libc::EOPNOTSUPP];
                error.raw_os_error().is_some_and(|error| known.contains(&error))
            };
            if !done.as_ref().is_err_and(refused) {
                return done.map(|_| batch.len());
            }
            // The interface cannot do it: it computes no checksums, or its packets are shorter than
            // a datagram, which goes in several of them then.
            self.is_segmented = false;
            sys::set_segment(self.socket.as_fd(), 0)?;
        }
        let mut sent = 0;
        for datagram in batch.chunks(DATAGRAM) {
            match self.socket.send(datagram) {
                Err(error) if error.kind() == ErrorKind::WouldBlock && sent > 0 => break,
                done => done.map(drop)?,
            }
            sent += datagram.len();
        }
        Ok(sent)
    }

    /// Receives datagrams of equal length, but for the last: how many bytes, and how many in each.
    /// It does not wait.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, usize)> {
        sys::receive(self.socket.as_fd(), buffer)
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn failed(doing: &str, group: SocketAddrV4, interface: Ipv4Addr, error: io::Error) -> Error {
    Error::io(format!("{doing} group {group} on {interface}"), error)
}
