//! Byte streams between a client and a server: TCP, Unix sockets and pairs inside a process, and
//! what somebody else makes of a socket ([`Secure`]), all non-blocking and ready for mio, and the
//! listeners they come from.

use crate::address::Address;
use crate::tree::Peer;
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token, event, net};
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net as socket;
use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Connections that may wait to be accepted; the kernel cuts it to `net.core.somaxconn`.
const BACKLOG: i32 = 1024;

/// How often a Unix socket whose backlog is full is tried again.
const RETRY: Duration = Duration::from_millis(5);

/// A connected, non-blocking byte stream.
#[derive(Debug)]
pub enum Stream {
    /// TCP.
    Tcp(net::TcpStream),
    /// A Unix socket, or one end of a pair.
    Unix(net::UnixStream),
    /// A socket over which bytes go in another form, and who is at its other end.
    Secure(Box<dyn Secure>, Peer),
}

/// What bytes go through on their way to and from a socket: TLS, say. Its descriptor tells when to
/// go on, edge-triggered: a read that fills less than it might has left nothing behind.
pub trait Secure: AsFd + fmt::Debug + Send + Sync {
    /// As read(2) of a socket that does not block; 0 is the end.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`]; those of the connection, which is over then.
    fn read(&self, into: &mut [u8]) -> io::Result<usize>;

    /// As writev(2). Of what was taken some may wait for room ([`Secure::flush`]).
    ///
    /// # Errors
    /// As [`Secure::read`].
    fn write(&self, from: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Has what waits leave.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] as long as some waits; as [`Secure::read`].
    fn flush(&self) -> io::Result<()>;

    /// Ends both directions.
    ///
    /// # Errors
    /// That of shutdown(2).
    fn shutdown(&self) -> io::Result<()>;
}

/// Does `$do` with the socket inside, whichever it is, or `$other` with what is around it.
macro_rules! either {
    ($stream:expr, $inner:ident => $do:expr, $secure:ident => $other:expr) => {
        match $stream {
            Stream::Tcp($inner) => $do,
            Stream::Unix($inner) => $do,
            Stream::Secure($secure, _) => $other,
        }
    };
}

impl Stream {
    /// Connects to `address`; gives up at `deadline`.
    ///
    /// # Errors
    /// That of connect(2); [`io::ErrorKind::TimedOut`] at the deadline.
    pub fn connect(address: &Address, deadline: Instant) -> io::Result<Stream> {
        match address {
            Address::Tcp(at) => {
                let left = deadline.saturating_duration_since(Instant::now());
                // Zero is refused by the library; a passed deadline should time out instead.
                let left = left.max(Duration::from_millis(1));
                let stream = std::net::TcpStream::connect_timeout(at, left)?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                Ok(Stream::Tcp(net::TcpStream::from_std(stream)))
            }
            Address::Unix(path) => connect_unix(path, deadline).map(Stream::Unix),
        }
    }

    /// A connected socket that somebody else made, TCP or Unix.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] when it is another kind of socket, or none.
    pub fn over(socket: OwnedFd) -> io::Result<Stream> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        match socket::sockopt::socket_domain(&socket)? {
            socket::AddressFamily::UNIX => Ok(Stream::Unix(socket.into())),
            socket::AddressFamily::INET | socket::AddressFamily::INET6 => {
                Ok(Stream::Tcp(net::TcpStream::from_std(socket.into())))
            }
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// Two ends of a connection inside this process.
    ///
    /// # Errors
    /// That of socketpair(2).
    pub fn pair() -> io::Result<(Stream, Stream)> {
        let (one, other) = net::UnixStream::pair()?;
        Ok((Stream::Unix(one), Stream::Unix(other)))
    }

    /// Who is at the other end. For TCP this searches the kernel's table of sockets: ask once,
    /// when the connection was accepted. A client that has closed its end, or half of it, is
    /// unknown, and must get no rights for that.
    ///
    /// The user is who made the socket (TCP) or who connected (Unix). A process that passes a
    /// connected socket on, or forwards what others send, thereby lends its rights, as with any
    /// open file; a forwarder that runs as root lends root's.
    pub fn peer(&self) -> Peer {
        match self {
            Stream::Tcp(stream) => {
                let (Ok(local), Ok(remote)) = (stream.local_addr(), stream.peer_addr()) else {
                    return Peer { uid: None, name: "tcp".into() };
                };
                let loopback = remote.ip().to_canonical().is_loopback();
                let uid = if loopback { owner_of(remote, local) } else { None };
                // If the connection was reset meanwhile, what was found may be another's that
                // has taken its place.
                let uid = uid.filter(|_| stream.peer_addr().is_ok());
                Peer { uid, name: format!("tcp {remote}") }
            }
            Stream::Unix(stream) => {
                // An error (a peer outside our pid namespace has no pid we could be told) is
                // an unknown user, who then gets no rights.
                let told = socket::sockopt::socket_peercred(stream);
                let uid = told.ok().map(|peer| peer.uid.as_raw());
                Peer { uid, name: "unix".into() }
            }
            Stream::Secure(_, peer) => peer.clone(),
        }
    }

    /// Whether bytes go over the socket as they are, so that the kernel may move them.
    pub(crate) fn is_plain(&self) -> bool {
        !matches!(self, Stream::Secure(..))
    }

    /// Ends both directions: the peer reads the end, and so do we.
    ///
    /// # Errors
    /// That of shutdown(2).
    pub fn shutdown(&self) -> io::Result<()> {
        either!(self, stream => stream.shutdown(Shutdown::Both), secure => secure.shutdown())
    }
}

fn connect_unix(path: &Path, deadline: Instant) -> io::Result<net::UnixStream> {
    let address = socket::SocketAddrUnix::new(path)?;
    loop {
        let fd = unix_socket()?;
        match socket::connect(&fd, &address) {
            Ok(()) => return Ok(net::UnixStream::from(fd)),
            // The server's backlog is full; the kernel would have us wait, without a limit.
            Err(Errno::AGAIN) if Instant::now() < deadline => std::thread::sleep(RETRY),
            Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn unix_socket() -> io::Result<OwnedFd> {
    let flags = socket::SocketFlags::CLOEXEC | socket::SocketFlags::NONBLOCK;
    let family = socket::AddressFamily::UNIX;
    Ok(socket::socket_with(family, socket::SocketType::STREAM, flags, None)?)
}

/// The user of the TCP socket that is bound to `theirs` and connected to `ours`.
fn owner_of(theirs: SocketAddr, ours: SocketAddr) -> Option<u32> {
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| {
        let text = std::fs::read_to_string(table).ok()?;
        find_owner(&text, theirs, ours)
    })
}

/// Finds a socket in the text of `/proc/net/tcp` or `tcp6` (proc(5)).
fn find_owner(table: &str, theirs: SocketAddr, ours: SocketAddr) -> Option<u32> {
    let wanted = [theirs, ours].map(|at| (at.ip().to_canonical(), at.port()));
    table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let found = [table_address(columns.next()?)?, table_address(columns.next()?)?];
        // Only ESTABLISHED sockets that a process holds (inode not 0) tell their user: the
        // kernel shows root for a socket whose process has closed it.
        let established = columns.next()? == "01";
        let uid = columns.nth(3)?.parse().ok()?;
        let held = columns.nth(1)? != "0";
        (found == wanted && established && held).then_some(uid)
    })
}

/// Reads `0100007F:0234`: words of four bytes in the machine's order, then the port.
fn table_address(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.split_once(':')?;
    let mut bytes = [0u8; 16];
    let words = address.len() / 8;
    if address.len() % 8 != 0 || words > 4 || !address.is_ascii() {
        return None;
    }
    for at in 0..words {
        let word = u32::from_str_radix(&address[at * 8..at * 8 + 8], 16).ok()?;
        bytes[at * 4..at * 4 + 4].copy_from_slice(&word.to_ne_bytes());
    }
    let ip = match words {
        1 => IpAddr::from(<[u8; 4]>::try_from(&bytes[..4]).expect("four bytes")),
        4 => IpAddr::from(bytes),
        _ => return None,
    };
    Some((ip.to_canonical(), u16::from_str_radix(port, 16).ok()?))
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        either!(*self, stream => (&mut &*stream).read(into), secure => secure.read(into))
    }
}

impl Write for &Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(from)])
    }
    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        either!(
            *self,
            stream => (&mut &*stream).write_vectored(from),
            secure => secure.write(from)
        )
    }
    /// Has what was written leave; [`io::ErrorKind::WouldBlock`] as long as some waits.
    fn flush(&mut self) -> io::Result<()> {
        either!(*self, _stream => Ok(()), secure => secure.flush())
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (&mut &*self).read(into)
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        (&mut &*self).write(from)
    }
    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        (&mut &*self).write_vectored(from)
    }
    fn flush(&mut self) -> io::Result<()> {
        (&mut &*self).flush()
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        either!(self, stream => stream.as_fd(), secure => secure.as_fd())
    }
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl event::Source for Stream {
    fn register(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).register(to, token, interest)
    }
    fn reregister(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).reregister(to, token, interest)
    }
    fn deregister(&mut self, from: &Registry) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).deregister(from)
    }
}

/// Where connections arrive.
pub struct Listener {
    inner: Inner,
    address: Address,
}

enum Inner {
    Tcp(net::TcpListener),
    /// The socket, and device and inode of its name in the file system.
    Unix(net::UnixListener, (u64, u64)),
}

impl Listener {
    /// Listens at `address`. A Unix socket's file is for its owner only (mode 0600); one that a
    /// dead process left behind is replaced.
    ///
    /// # Errors
    /// That of bind(2); [`io::ErrorKind::AddrInUse`] also when another server answers there.
    pub fn bind(address: &Address) -> io::Result<Listener> {
        match address {
            Address::Tcp(at) => {
                let listener = net::TcpListener::bind(*at)?;
                let address = Address::Tcp(listener.local_addr()?);
                Ok(Listener { inner: Inner::Tcp(listener), address })
            }
            Address::Unix(path) => {
                let (listener, id) = bind_unix(path)?;
                Ok(Listener { inner: Inner::Unix(listener, id), address: address.clone() })
            }
        }
    }

    /// Where it listens, with the port that the kernel chose if it was asked for port 0.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Takes one connection.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when there is none; else that of accept(2), after which
    /// others may still come.
    pub fn accept(&self) -> io::Result<Stream> {
        match &self.inner {
            Inner::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Inner::Unix(listener, _) => Ok(Stream::Unix(listener.accept()?.0)),
        }
    }
}

fn bind_unix(path: &Path) -> io::Result<(net::UnixListener, (u64, u64))> {
    let address = socket::SocketAddrUnix::new(path)?;
    // Whoever binds in this directory holds its lock until it listens, so that a socket is never
    // taken for a dead one between its bind and its listen.
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let lock = rustix::fs::open(directory, flags, Mode::empty())?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
    let fd = unix_socket()?;
    match socket::bind(&fd, &address) {
        Err(Errno::ADDRINUSE) => {
            remove_dead(path, &address)?;
            socket::bind(&fd, &address)?;
        }
        other => other?,
    }
    // Nobody can connect before listen, so nobody sees the mode that the umask gave.
    rustix::fs::chmod(path, Mode::RUSR | Mode::WUSR)?;
    let meta = std::fs::symlink_metadata(path)?;
    socket::listen(&fd, BACKLOG)?;
    let listener = net::UnixListener::from_std(fd.into());
    Ok((listener, (meta.dev(), meta.ino())))
}

/// Removes a socket that nobody answers on; refuses anything else.
fn remove_dead(path: &Path, address: &socket::SocketAddrUnix) -> io::Result<()> {
    let in_use = |why: &str| {
        let text = format!("{} {why}", path.display());
        Err(io::Error::new(io::ErrorKind::AddrInUse, text))
    };
    if !std::fs::symlink_metadata(path)?.file_type().is_socket() {
        return in_use("exists and is no socket");
    }
    match socket::connect(&unix_socket()?, address) {
        Err(Errno::CONNREFUSED) => std::fs::remove_file(path),
        // Anything else, a full backlog included, means that somebody is there.
        _ => in_use("is in use: a server answers there"),
    }
}

impl Drop for Listener {
    /// Removes the socket's file, unless another has taken its place.
    fn drop(&mut self) {
        if let (Inner::Unix(_, id), Address::Unix(path)) = (&self.inner, &self.address) {
            let remove = |path: &PathBuf| {
                let meta = std::fs::symlink_metadata(path)?;
                if (meta.dev(), meta.ino()) == *id { std::fs::remove_file(path) } else { Ok(()) }
            };
            // If it stays, the next server replaces it.
            let _ = remove(path);
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listener({})", self.address)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.inner {
            Inner::Tcp(listener) => listener.as_fd(),
            Inner::Unix(listener, _) => listener.as_fd(),
        }
    }
}

impl event::Source for Listener {
    fn register(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        match &mut self.inner {
            Inner::Tcp(listener) => listener.register(to, token, interest),
            Inner::Unix(listener, _) => listener.register(to, token, interest),
        }
    }
    fn reregister(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        match &mut self.inner {
            Inner::Tcp(listener) => listener.reregister(to, token, interest),
            Inner::Unix(listener, _) => listener.reregister(to, token, interest),
        }
    }
    fn deregister(&mut self, from: &Registry) -> io::Result<()> {
        match &mut self.inner {
            Inner::Tcp(listener) => listener.deregister(from),
            Inner::Unix(listener, _) => listener.deregister(from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    /// An empty directory that is removed at the end.
    struct Dir(PathBuf);

    impl Dir {
        fn new(name: &str) -> Dir {
            let path = std::env::temp_dir().join(format!("{name}.{}", std::process::id()));
            std::fs::create_dir_all(&path).expect("a directory in /tmp");
            Dir(path)
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn accept(listener: &Listener) -> Stream {
        loop {
            match listener.accept() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                other => return other.expect("a connection"),
            }
        }
    }

    #[test]
    fn tcp_peers_on_loopback_are_known_by_the_kernel() {
        let listener =
            Listener::bind(&Address::Tcp("127.0.0.1:0".parse().expect("address"))).expect("bind");
        let client = Stream::connect(listener.address(), soon()).expect("connect");
        let server = accept(&listener);
        let me = rustix::process::getuid().as_raw();
        assert_eq!(server.peer().uid, Some(me));
        assert!(server.peer().name.starts_with("tcp 127.0.0.1:"), "{:?}", server.peer());
        assert_eq!(client.peer().uid, Some(me));
    }

    /// The attack: requests in one piece, and then an end before anybody has looked.
    #[test]
    fn a_tcp_peer_that_has_closed_its_end_is_nobody() {
        let listener =
            Listener::bind(&Address::Tcp("127.0.0.1:0".parse().expect("address"))).expect("bind");
        for half in [false, true] {
            let mut client = Stream::connect(listener.address(), soon()).expect("connect");
            client.write_all(b"requests").expect("room");
            let Stream::Tcp(socket) = &client else { panic!("TCP was asked for") };
            socket.shutdown(Shutdown::Write).expect("connected");
            let kept = half.then_some(client);
            let server = accept(&listener);
            assert_eq!(server.peer().uid, None, "half: {half}");
            drop(kept);
        }
    }

    #[test]
    fn only_a_held_established_socket_tells_its_user() {
        let line = |state: &str, inode: &str| {
            format!(
                "  sl  local_address rem_address\n   0: 0100007F:1608 0100007F:0050 {state} \
                 00000000:00000000 00:00000000 00000000  1000        0 {inode} 1 0\n"
            )
        };
        let [theirs, ours] = ["127.0.0.1:5640", "[::ffff:127.0.0.1]:80"]
            .map(|at| at.parse::<SocketAddr>().expect("address"));
        assert_eq!(find_owner(&line("01", "77"), theirs, ours), Some(1000));
        assert_eq!(find_owner(&line("01", "0"), theirs, ours), None);
        assert_eq!(find_owner(&line("06", "77"), theirs, ours), None);
        assert_eq!(find_owner(&line("01", "77"), ours, theirs), None);
        let mapped = "0000000000000000FFFF00000100007F:1608";
        assert_eq!(table_address(mapped), Some((theirs.ip(), 5640)));
        assert_eq!(table_address("0100007F0:1"), None);
    }

    #[test]
    fn a_unix_socket_is_private_and_goes_with_its_listener() {
        let dir = Dir::new("muster-stream-private");
        let path = dir.0.join("s");
        let address = Address::unix(&path).expect("short");
        let listener = Listener::bind(&address).expect("bind");
        let mode = std::fs::metadata(&path).expect("socket").permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        let _client = Stream::connect(&address, soon()).expect("connect");
        let me = rustix::process::getuid().as_raw();
        assert_eq!(accept(&listener).peer(), Peer { uid: Some(me), name: "unix".into() });
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn only_a_dead_socket_is_replaced() {
        let dir = Dir::new("muster-stream-dead");
        let path = dir.0.join("s");
        let address = Address::unix(&path).expect("short");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("bind"));
        assert!(path.exists(), "the standard library leaves the file");
        let listener = Listener::bind(&address).expect("replaces a dead one");
        let error = Listener::bind(&address).expect_err("somebody answers");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(error.to_string().contains("a server answers there"), "{error}");
        drop(listener);
        std::fs::write(&path, "precious").expect("write");
        let error = Listener::bind(&address).expect_err("no socket");
        assert!(error.to_string().contains("is no socket"), "{error}");
        assert_eq!(std::fs::read(&path).expect("still there"), b"precious");
    }

    #[test]
    fn a_full_backlog_ends_at_the_deadline() {
        let dir = Dir::new("muster-stream-full");
        let path = dir.0.join("s");
        let fd = unix_socket().expect("socket");
        let at = socket::SocketAddrUnix::new(&path).expect("short");
        socket::bind(&fd, &at).expect("bind");
        socket::listen(&fd, 0).expect("listen");
        let address = Address::unix(&path).expect("short");
        let mut held = Vec::new();
        let error = loop {
            let deadline = Instant::now() + Duration::from_millis(20);
            match Stream::connect(&address, deadline) {
                Ok(stream) => held.push(stream),
                Err(error) => break error,
            }
            assert!(held.len() < 10, "the backlog was 0");
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_pair_carries_bytes_and_ends() {
        let (mut one, mut other) = Stream::pair().expect("pair");
        let parts = [IoSlice::new(b"ab"), IoSlice::new(b"c")];
        assert_eq!(one.write_vectored(&parts).expect("write"), 3);
        let mut bytes = [0; 8];
        assert_eq!(other.read(&mut bytes).expect("read"), 3);
        let error = other.read(&mut bytes).expect_err("nothing more");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        one.shutdown().expect("shutdown");
        assert_eq!(other.read(&mut bytes).expect("the end"), 0);
    }
}
