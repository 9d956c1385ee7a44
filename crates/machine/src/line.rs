//! The lines between daemons: 9P over connections of the fabric.
//!
//! A daemon has one [`Door`], at one address. Other daemons come in over the fabric and say who
//! they are and what for (service `9p`); 9P clients that know nothing of it (the commands, v9fs,
//! anybody's) come in at the same address and simply begin. Either way the connection is then the
//! 9P server's.
//!
//! What they may come for beside 9P the daemon says ([`Others`]).
//!
//! Who is no member of the cluster may belong to a [`Circle`]: those who have one key.

use crate::roster::{check_peer, name_to, transport_of};
use muster_fabric::strategy::Stream as _;
use muster_fabric::transport::socket::{Identity, Members, Secured, Tls};
use muster_fabric::transport::{Adapter, Hello, Lane, Listener, Peer, Transport, socket};
use muster_fabric::{Address, Deadline, Error as FabricError};
use muster_ninep::address::Written;
use muster_ninep::client::{Client, Options, unreachable_server};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::serve::Server;
use muster_ninep::stream::{Secure, Stream};
use muster_ninep::tree::Peer as NinepPeer;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The service that speaks 9P.
const NINEP: &str = "9p";

/// How long to connect may take where nobody says.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a door waits for descriptors.
const SHORT: Duration = Duration::from_millis(100);

/// How often a door looks whether it is to close, in case that it could not be told.
const LOOK: Duration = Duration::from_secs(2);

/// What a door comes for to itself when it closes: nobody serves that, so it only wakes it.
const CLOSING: &str = "closing";

/// Reads a daemon's address, also as 9P programs write it. A host's name is looked up by who
/// connects to it.
///
/// # Errors
/// [`Errno::INVAL`].
pub fn read_address(text: &str) -> Result<Address> {
    let invalid = |why: String| Error::new(Errno::INVAL, why);
    if text.starts_with("tls!") {
        return text.parse().map_err(|error| invalid(format!("{error}")));
    }
    match text.parse().map_err(|error| invalid(format!("{error}")))? {
        Written::Tcp(host, port) => Ok(Address::Tcp(host, port)),
        Written::Unix(path) => Ok(Address::Unix(path)),
    }
}

/// Those who share a key, and prove it to each other over TLS: a list of one member, which each is.
#[derive(Clone, Debug)]
pub struct Circle(Tls);

impl Circle {
    /// The name under which the key is pinned.
    const NAME: &str = "circle";

    /// Those who have this key.
    pub fn of(identity: &Identity) -> Circle {
        let members = Members::default();
        members.pin(Circle::NAME, identity.public_key()).expect("the list is empty");
        Circle(Tls::new(identity, &members))
    }

    /// Connects to another of them, or on this machine to anybody.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub fn connect(&self, from: &str, to: &Address, options: Options) -> Result<Client> {
        match to {
            Address::Tls(..) => {
                // All of them are the same member, and no other has come in.
                let name = format!("{}.{from}", Circle::NAME);
                meet(&self.0, (|_, _| Ok(()), of_circle), &name, to, options)
            }
            _ => connect(from, to, options),
        }
    }
}

/// The list has the one key, so who is not in it has another.
fn of_circle(error: FabricError) -> io::Error {
    match error {
        FabricError::Untrusted { .. } => {
            let why = "its image key is not the one given, which is of another cluster or an older";
            io::Error::other(why)
        }
        other => told(other),
    }
}

/// Connects to another daemon; `from` is who connects, for people.
///
/// # Errors
/// As [`Client::connect`].
pub fn connect(from: &str, to: &Address, options: Options) -> Result<Client> {
    let transport = transport_of(to).map_err(told).map_err(|error| {
        let name = if options.name.is_empty() { to.to_string() } else { options.name.clone() };
        unreachable_server(&name, error)
    })?;
    meet(transport, (check_peer, told), &name_to(to, from), to, options)
}

fn meet(
    transport: &dyn Transport,
    (check, told): (Check, Told),
    name: &str,
    to: &Address,
    mut options: Options,
) -> Result<Client> {
    if options.name.is_empty() {
        options.name = to.to_string();
    }
    let hello = Hello { name: name.to_owned(), service: NINEP.to_owned(), lane: Lane::Bulk };
    let deadline = Deadline::after(options.deadline.unwrap_or(PATIENCE));
    let adapter = transport.connect(to, &hello, deadline);
    let adapter = adapter.and_then(|adapter| check(to, adapter.peer()).map(|()| adapter));
    let stream = adapter.map_err(told).and_then(stream_of);
    Client::over(stream.map_err(|error| unreachable_server(&options.name, error))?, &options)
}

/// Whether who answered at an address is the one who is to be there.
type Check = fn(&Address, &Peer) -> muster_fabric::Result<()>;

/// What an error of the fabric is to 9P.
type Told = fn(FabricError) -> io::Error;

/// What 9P goes on with: the socket below a connection, and what protects it. The transports
/// between daemons all have one.
fn stream_of(adapter: Box<dyn Adapter>) -> io::Result<Stream> {
    let name = adapter.peer().name.clone();
    let bare = adapter.stream().and_then(|mut stream| stream.bare()).map_err(told)?;
    match Secured::of(bare) {
        // Members are of one user, whoever that is elsewhere.
        Ok(secured) => {
            let uid = Some(rustix::process::geteuid().as_raw());
            Ok(Stream::Secure(Box::new(Veiled(secured)), NinepPeer { uid, name }))
        }
        Err(socket) => Stream::over(socket),
    }
}

/// A connection over TLS as 9P has it.
#[derive(Debug)]
struct Veiled(Secured);

impl Secure for Veiled {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }

    fn write(&self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.write(from)
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }

    fn shutdown(&self) -> io::Result<()> {
        self.0.shutdown()
    }
}

impl AsFd for Veiled {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The system's word, where there is one: those who read it know what to do about it.
fn told(error: FabricError) -> io::Error {
    match error {
        FabricError::Io { source, .. } | FabricError::Exhausted { source, .. } => source,
        FabricError::Deadline { .. } => io::ErrorKind::TimedOut.into(),
        FabricError::Refused { .. } => rustix::io::Errno::CONNREFUSED.into(),
        FabricError::Dead { .. } => rustix::io::Errno::CONNRESET.into(),
        other => io::Error::other(other),
    }
}

/// What becomes of connections that came for another service than 9P: taken, or dropped.
pub type Others = Box<dyn Fn(Box<dyn Adapter>) + Send>;

/// Where a daemon is reached. Dropping it ends that; connections live on.
pub struct Door {
    at: Address,
    /// Whose it is, if not the cluster's.
    circle: Option<Circle>,
    is_closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    /// Opens a daemon's door: who comes through it is served by `server`.
    ///
    /// # Errors
    /// That of bind(2); [`io::ErrorKind::AddrInUse`] also when another daemon answers there.
    pub fn open(at: &Address, server: Arc<Server>) -> io::Result<Door> {
        Door::looking(at, None, server, LOOK, Box::new(drop))
    }

    /// The same, with what else there is behind it. That is not to keep who comes next waiting.
    ///
    /// # Errors
    /// As [`Door::open`].
    pub fn open_also(at: &Address, server: Arc<Server>, others: Others) -> io::Result<Door> {
        Door::looking(at, None, server, LOOK, others)
    }

    /// A door for those of a circle.
    ///
    /// # Errors
    /// As [`Door::open`].
    pub fn open_to(circle: &Circle, at: &Address, server: Arc<Server>) -> io::Result<Door> {
        Door::looking(at, Some(circle.clone()), server, LOOK, Box::new(drop))
    }

    /// Where it is: with the port that it got, where any was asked for.
    pub fn address(&self) -> &Address {
        &self.at
    }

    /// A door that looks so often whether it is to close.
    fn looking(
        at: &Address,
        circle: Option<Circle>,
        server: Arc<Server>,
        look: Duration,
        others: Others,
    ) -> io::Result<Door> {
        // Over the network only members come in, and those say hello.
        let listener = match (at, &circle) {
            (Address::Tls(..), Some(circle)) => circle.0.listen(at),
            (Address::Tls(..), None) => transport_of(at).and_then(|tls| tls.listen(at)),
            _ => socket::listen_open(at),
        };
        let listener = listener.map_err(told)?;
        let at = listener.address().clone();
        let is_closing = Arc::new(AtomicBool::new(false));
        let closing = is_closing.clone();
        let attend = move || attend(listener, (&server, &others), &closing, look);
        let thread = std::thread::Builder::new().name("door".into()).spawn(attend)?;
        Ok(Door { at, circle, is_closing, thread: Some(thread) })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.is_closing.store(true, Ordering::Release);
        // It sleeps until somebody comes. Where this fails, it wakes at its next look.
        let of_circle = self.circle.as_ref().map(|circle| Ok(&circle.0 as &dyn Transport));
        if let Ok(transport) = of_circle.unwrap_or_else(|| transport_of(&self.at)) {
            let named = || name_to(&self.at, "this door");
            let name = self.circle.as_ref().map_or_else(named, |_| Circle::NAME.to_owned());
            let hello = Hello { name, service: CLOSING.to_owned(), lane: Lane::System };
            let _ = transport.connect(&self.at, &hello, Deadline::after(SHORT));
        }
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so; there is nothing more to end.
            let _ = thread.join();
        }
    }
}

fn attend(
    mut listener: Box<dyn Listener>,
    (server, others): (&Server, &Others),
    is_closing: &AtomicBool,
    look: Duration,
) {
    while !is_closing.load(Ordering::Acquire) {
        match listener.accept(Deadline::after(look)) {
            Ok(adapter) if ["", NINEP].contains(&adapter.hello().service.as_str()) => {
                // Who is gone again needs no service.
                if let Ok(stream) = stream_of(adapter) {
                    server.adopt(stream);
                }
            }
            Ok(adapter) => others(adapter),
            Err(FabricError::Deadline { .. }) => {}
            // No descriptors are left: who connects waits in the kernel's queue until some are.
            Err(_) => std::thread::sleep(SHORT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use muster_fabric::strategy::{Ready, Wait as _};
    use muster_fabric::transport;
    use muster_ninep::host::{self, HostTree};
    use muster_ninep::serve::same_user;
    use muster_ninep::tree::OpenFlags;
    use std::fs;

    /// A door behind which a directory with one file is served.
    struct Fixture {
        door: Option<Door>,
        server: Arc<Server>,
        address: Address,
        directory: Scratch,
    }

    impl Fixture {
        fn new(name: &str) -> Fixture {
            Fixture::looking(name, LOOK)
        }

        fn looking(name: &str, look: Duration) -> Fixture {
            let directory = Scratch::new(&format!("line-{name}"));
            directory.file("greeting", b"hello");
            let tree = Arc::new(
                HostTree::new(&directory, host::Options { writable: true, ..Default::default() })
                    .expect("a tree"),
            );
            let address = Address::Unix(directory.join("sock"));
            let server = Arc::new(Server::start(&tree, 1, same_user).expect("a thread"));
            let door = Door::looking(&address, None, server.clone(), look, Box::new(drop));
            let door = Some(door.expect("a socket"));
            Fixture { door, server, address, directory }
        }
    }

    fn greeting(client: &Client) -> Vec<u8> {
        let file = client.open("greeting", OpenFlags::default()).expect("it is there").into_fid();
        file.read_at(0, 64).expect("it can be read")
    }

    #[test]
    fn daemons_and_plain_9p_clients_come_through_one_door() {
        let fixture = Fixture::new("both");
        let daemon = line_to(&fixture).expect("over the fabric");
        assert_eq!(greeting(&daemon), b"hello");
        let plain =
            muster_ninep::address::Address::look_up(&fixture.address.to_string(), Duration::ZERO)
                .expect("an address");
        let stranger = Client::connect(&plain, Options::default()).expect("plain 9P");
        assert_eq!(greeting(&stranger), b"hello");
        assert_eq!(greeting(&daemon), b"hello");
    }

    fn line_to(fixture: &Fixture) -> Result<Client> {
        connect("test", &fixture.address, Options::default())
    }

    /// Many at once, so that both ways are full and each end waits for the other's room.
    #[test]
    fn what_is_large_comes_whole_through_tls_while_both_ways_are_full() {
        const SIZE: usize = 12 << 20;
        const PIECE: usize = 1 << 19;
        let fixture = Fixture::new("circle");
        let content = (0..SIZE as u32).map(|byte| (byte.wrapping_mul(40_503) >> 7) as u8);
        let content: Vec<u8> = content.collect();
        fixture.directory.file("large", &content);
        let circle = Circle::of(&Identity::from_secret(&[7; 32]));
        let at = Address::Tls("127.0.0.1".to_owned(), 0);
        let door = Door::open_to(&circle, &at, fixture.server.clone()).expect("a port");
        let client = circle.connect("test", door.address(), Options::default()).expect("a member");
        let copies = [0, 1, 2].map(|copy| fixture.directory.join(format!("copy{copy}")));
        std::thread::scope(|scope| {
            for copy in &copies {
                let (client, content) = (&client, &content);
                scope.spawn(move || {
                    fs::write(copy, b"").expect("a file");
                    let open =
                        |path: &str, how| client.open(path, OpenFlags(how)).unwrap().into_fid();
                    let name = copy.file_name().unwrap().to_str().unwrap();
                    let written = open(name, OpenFlags::RDWR).write_at(0, content);
                    assert_eq!(written.expect("there is room"), SIZE);
                    let large = open("large", 0);
                    for at in (0..SIZE).step_by(PIECE) {
                        let read = large.read_at(at as u64, PIECE as u32).expect("it is there");
                        assert!(read == content[at..at + PIECE], "at {at}");
                    }
                });
            }
        });
        for copy in copies {
            assert!(fs::read(&copy).expect("it was written") == content, "{}", copy.display());
        }
    }

    #[test]
    fn who_comes_for_another_service_is_let_go() {
        let fixture = Fixture::new("service");
        let to = fixture.address.clone();
        let hello = Hello { name: "test".into(), service: "tea".into(), lane: Lane::Bulk };
        let deadline = Deadline::after(PATIENCE);
        let transport = transport::of(&to).expect("unix");
        let mut stream = transport.connect(&to, &hello, deadline).unwrap().stream().unwrap();
        let end = loop {
            match stream.try_read(&mut [0; 8]) {
                Err(FabricError::WouldBlock) => stream.wait(Ready::Receive, deadline).unwrap(),
                end => break end,
            }
        };
        assert!(matches!(end, Ok(0) | Err(FabricError::Dead { .. })), "{end:?}");
        assert_eq!(greeting(&line_to(&fixture).expect("9P still")), b"hello");
    }

    #[test]
    fn a_door_closes_when_it_is_told_to_and_not_at_its_next_look() {
        let never = Duration::from_secs(1 << 20);
        let mut fixture = Fixture::looking("prompt", never);
        let Address::Unix(socket) = fixture.address.clone() else { unreachable!("it is one") };
        let door = fixture.door.take().expect("it is open");
        let (closed, told) = std::sync::mpsc::channel();
        let closing = std::thread::spawn(move || {
            drop(door);
            closed.send(socket.exists()).expect("the test waits");
        });
        let is_left = told.recv_timeout(Duration::from_secs(20)).expect("it closes");
        assert!(!is_left, "its name is gone when it is closed");
        closing.join().expect("it did not panic");
    }

    #[test]
    fn a_door_that_is_closed_leaves_no_socket_and_its_connections_live_on() {
        let mut fixture = Fixture::new("closed");
        let client = line_to(&fixture).expect("a connection");
        drop(fixture.door.take());
        assert!(line_to(&fixture).is_err_and(|error| error.text.contains("nobody serves there")));
        assert_eq!(greeting(&client), b"hello");
    }
}
