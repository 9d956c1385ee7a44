//! The suite of `muster_fabric::conformance`, for every transport of this crate. A transport is
//! one line at the end of this file, and what it takes to make its addresses.

use muster_base::limits::HELLOS_MAX;
use muster_fabric::Deadline;
use muster_fabric::address::Address;
use muster_fabric::conformance::{Raw, Subject};
use muster_fabric::transport::rails::Rails;
use muster_fabric::transport::socket::{Identity, Members, Tls};
use muster_fabric::transport::{self, Transport};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// A transport, and a directory for those that meet at a path.
struct Here {
    scheme: &'static str,
    folder: PathBuf,
}

/// Both ends, and the children of these tests, have the same key. It protects nothing.
static TLS: LazyLock<Tls> = LazyLock::new(|| {
    let identity = Identity::from_secret(&[7; 32]);
    let members = Members::default();
    members.pin("connector", identity.public_key()).expect("a member");
    Tls::new(&identity, &members)
});

static RAILS_TLS: LazyLock<Rails> = LazyLock::new(|| Rails::over(Arc::new(TLS.clone())));

static FOLDERS: AtomicU32 = AtomicU32::new(0);
static ADDRESSES: AtomicU32 = AtomicU32::new(0);

impl Here {
    fn new(scheme: &'static str) -> Here {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-conformance-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        Here { scheme, folder }
    }

    /// Only who listens needs the directory: a child that connects is killed, and leaves nothing.
    fn path(&self, number: u32) -> PathBuf {
        std::fs::create_dir_all(&self.folder).expect("a directory of its own");
        self.folder.join(number.to_string())
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Subject for Here {
    fn transport(&self) -> &dyn Transport {
        match self.scheme {
            "tls" => return &*TLS,
            "rails_tls" => return &*RAILS_TLS,
            _ => {}
        }
        let all = transport::all().iter();
        *all.clone().find(|transport| transport.scheme() == self.scheme).expect("it is one of all")
    }

    fn address(&self) -> Address {
        let number = ADDRESSES.fetch_add(1, Ordering::Relaxed);
        match self.scheme {
            "tcp" => Address::Tcp("127.0.0.1".to_owned(), 0),
            "tls" => Address::Tls("127.0.0.1".to_owned(), 0),
            "rails" => Address::Rails(vec![Address::Tcp("127.0.0.1".to_owned(), 0); 2]),
            "rails_tls" => Address::Rails(vec![Address::Tls("127.0.0.1".to_owned(), 0); 2]),
            "unix" => Address::Unix(self.path(number)),
            "shm" => Address::Shared(self.path(number)),
            "proc" => Address::Process(format!("conformance-{number}")),
            other => panic!("how are addresses of {other} made?"),
        }
    }

    /// A hello makes a rail, and joins make a connection of rails.
    fn is_framed(&self) -> bool {
        let is_joined = matches!(self.scheme, "rails" | "rails_tls");
        !is_joined && !self.transport().capabilities().native.datagram
    }

    /// Over TLS each of two rails takes 10 ms of a processor in this build: fewer come there, so
    /// that a busy machine has the time.
    fn crowd(&self) -> usize {
        if self.scheme == "rails_tls" { 60 } else { HELLOS_MAX + 40 }
    }

    fn raw(&self, at: &Address) -> Option<Box<dyn Raw>> {
        let limit = Some(Duration::from_secs(20));
        match at {
            Address::Rails(rails) => self.raw(&rails[0]),
            Address::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).expect("a listener");
                stream.set_read_timeout(limit).expect("a limit");
                Some(Box::new(stream))
            }
            Address::Tls(..) => {
                let soon = Deadline::after(Duration::from_secs(20));
                let stream = TLS.raw(at, soon).expect("a listener");
                stream.set_read_timeout(limit).expect("a limit");
                Some(Box::new(stream))
            }
            Address::Shared(path) => {
                // Ends of shared memory meet at a socket with message boundaries.
                let kind = rustix::net::SocketType::SEQPACKET;
                let flags = rustix::net::SocketFlags::CLOEXEC;
                let family = rustix::net::AddressFamily::UNIX;
                let socket = rustix::net::socket_with(family, kind, flags, None).expect("one more");
                let there = rustix::net::SocketAddrUnix::new(path).expect("a path");
                rustix::net::connect(&socket, &there).expect("a listener");
                let stream = UnixStream::from(socket);
                stream.set_read_timeout(limit).expect("a limit");
                Some(Box::new(stream))
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path).expect("a listener");
                stream.set_read_timeout(limit).expect("a limit");
                Some(Box::new(stream))
            }
            _ => None,
        }
    }
}

macro_rules! transports {
    ($($scheme:ident)*) => {
        $(
            mod $scheme {
                muster_fabric::conformance!(crate::Here::new(stringify!($scheme)));
            }
        )*
    };
}

transports!(proc shm unix tcp tls rails rails_tls);
