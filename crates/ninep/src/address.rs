//! Where a server is found: a TCP socket or a Unix socket.
//!
//! Written as Plan 9 writes it (`tcp!HOST!PORT`, `unix!PATH`) or as everybody does
//! (`HOST:PORT`, `[::1]:564`, `/run/socket`, `./socket`).

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::mpsc;
use std::time::Duration;

/// Longest path of a Unix socket: `sun_path` of unix(7) has 108 bytes, the last of them zero.
pub const UNIX_PATH_MAX: usize = 107;

/// A server's address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Address {
    /// TCP.
    Tcp(SocketAddr),
    /// A Unix socket in the file system.
    Unix(PathBuf),
}

/// An address as it is written, of which nothing has been looked up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Written {
    /// TCP: host (a name or a number) and port.
    Tcp(String, u16),
    /// A Unix socket in the file system.
    Unix(PathBuf),
}

/// Why a text is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    /// Nothing that an address looks like.
    #[error("{0:?} is no address: write unix!PATH, /PATH, tcp!HOST!PORT or HOST:PORT")]
    Form(String),
    /// The port is none.
    #[error("{1:?} in {0:?} is no port: write a number from 0 to 65535")]
    Port(String, String),
    /// The host's name leads nowhere.
    #[error("host {0:?} was not found: {1}")]
    Host(String, String),
    /// A path that no Unix socket can have.
    #[error("the path of a Unix socket has at most {UNIX_PATH_MAX} bytes, this one has {1}: {0:?}")]
    TooLong(PathBuf, usize),
    /// A path with a NUL byte, or none at all.
    #[error("{0:?} is no path of a Unix socket")]
    Path(String),
}

impl Address {
    /// Reads an address, and looks up its host if that is a name.
    ///
    /// # Errors
    /// [`BadAddress`], also when there is no answer within `limit`.
    pub fn look_up(text: &str, limit: Duration) -> Result<Address, BadAddress> {
        match text.parse()? {
            Written::Unix(path) => Ok(Address::Unix(path)),
            Written::Tcp(host, port) => look_up(host, port, limit).map(Address::Tcp),
        }
    }

    /// An address of a Unix socket.
    ///
    /// # Errors
    /// [`BadAddress`] when no socket can have this path.
    pub fn unix(path: impl Into<PathBuf>) -> Result<Address, BadAddress> {
        checked(path.into()).map(Address::Unix)
    }

    /// Whether only this machine can reach it.
    pub fn is_loopback(&self) -> bool {
        match self {
            Address::Tcp(socket) => socket.ip().to_canonical().is_loopback(),
            Address::Unix(_) => true,
        }
    }
}

impl FromStr for Written {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Written, BadAddress> {
        if let Some(path) = text.strip_prefix("unix!") {
            return unix(path);
        }
        if let Some(rest) = text.strip_prefix("tcp!") {
            let parts = rest.rsplit_once('!');
            let (host, port) = parts.ok_or_else(|| BadAddress::Form(text.into()))?;
            return tcp(text, host, port);
        }
        if text.starts_with('/') || text.starts_with("./") || text.starts_with("../") {
            return unix(text);
        }
        let (host, port) = text.rsplit_once(':').ok_or_else(|| BadAddress::Form(text.into()))?;
        match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inner) => tcp(text, inner, port),
            // An IPv6 address without brackets: which of its colons ends the host?
            None if host.contains(':') => Err(BadAddress::Form(text.into())),
            None => tcp(text, host, port),
        }
    }
}

fn unix(path: &str) -> Result<Written, BadAddress> {
    checked(path.into()).map(Written::Unix)
}

/// A path that a Unix socket can have.
fn checked(path: PathBuf) -> Result<PathBuf, BadAddress> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() || bytes.contains(&0) {
        return Err(BadAddress::Path(path.to_string_lossy().into_owned()));
    }
    if bytes.len() > UNIX_PATH_MAX {
        let length = bytes.len();
        return Err(BadAddress::TooLong(path, length));
    }
    Ok(path)
}

fn tcp(text: &str, host: &str, port: &str) -> Result<Written, BadAddress> {
    let bad_port = || BadAddress::Port(text.into(), port.into());
    let port: u16 = match port {
        // The name that Plan 9's ndb(6) and IANA give to 9P.
        "9fs" | "9pfs" => 564,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map_err(|_| bad_port())?
        }
        _ => return Err(bad_port()),
    };
    if host.is_empty() || host.contains('!') {
        return Err(BadAddress::Form(text.into()));
    }
    Ok(Written::Tcp(host.to_owned(), port))
}

/// The first address of a host. The system's resolver waits for as long as it likes and cannot be
/// stopped, so a thread of its own asks it.
fn look_up(host: String, port: u16, limit: Duration) -> Result<SocketAddr, BadAddress> {
    if let Ok(number) = host.parse::<IpAddr>() {
        return Ok(SocketAddr::new(number, port));
    }
    let (found, answer) = mpsc::channel();
    let name = host.clone();
    let ask = move || {
        let first = (&*name, port).to_socket_addrs().map(|mut all| all.next());
        // Who has left does not need it.
        let _ = found.send(first);
    };
    let unknown = |why: String| BadAddress::Host(host.clone(), why);
    let thread = std::thread::Builder::new().name("looks up a host".into()).spawn(ask);
    thread.map_err(|error| unknown(error.to_string()))?;
    let first =
        answer.recv_timeout(limit).map_err(|_| unknown(format!("no answer in {limit:?}")))?;
    let first = first.map_err(|error| unknown(plain(&error)))?;
    first.ok_or_else(|| unknown("it has no address".into()))
}

/// The resolver's words without what the standard library puts in front.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.strip_prefix("failed to lookup address information: ").unwrap_or(&text).to_owned()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(socket) => write!(f, "tcp!{}!{}", socket.ip(), socket.port()),
            Address::Unix(path) => write!(f, "unix!{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_written_back() {
        for (text, written) in [
            ("unix!/run/muster/n1", "unix!/run/muster/n1"),
            ("unix!relative", "unix!relative"),
            ("/run/a:b", "unix!/run/a:b"),
            ("./here", "unix!./here"),
            ("../there", "unix!../there"),
            ("tcp!127.0.0.1!564", "tcp!127.0.0.1!564"),
            ("tcp!::1!9fs", "tcp!::1!564"),
            ("127.0.0.1:0", "tcp!127.0.0.1!0"),
            ("[::1]:564", "tcp!::1!564"),
        ] {
            let look_up = |text: &str| Address::look_up(text, Duration::ZERO);
            let address = look_up(text).expect("nobody is asked");
            assert_eq!(address.to_string(), written);
            assert_eq!(look_up(&address.to_string()), Ok(address));
        }
    }

    /// To read an address was to wait for its name, for whoever read one.
    #[test]
    fn a_host_is_looked_up_when_that_is_asked_for_and_no_longer_than_told() {
        let written: Written = "tcp!name.invalid!564".parse().expect("it is one");
        assert_eq!(written, Written::Tcp("name.invalid".into(), 564));
        let refused = Address::look_up("name.invalid:564", Duration::ZERO).expect_err("no time");
        assert!(matches!(refused, BadAddress::Host(..)), "{refused}");
    }

    #[test]
    fn what_is_no_address_says_why() {
        let long = format!("/{}", "x".repeat(UNIX_PATH_MAX));
        assert!(Address::unix(&long[1..]).is_ok());
        for (text, said) in [
            ("", "is no address"),
            ("host", "is no address"),
            ("::1", "is no address"),
            ("::1:564", "is no address"),
            (":564", "is no address"),
            ("tcp!host", "is no address"),
            ("tcp!a!b!5", "is no address"),
            ("127.0.0.1:", "is no port"),
            ("127.0.0.1:x", "is no port"),
            ("127.0.0.1:+5", "is no port"),
            ("127.0.0.1:65536", "is no port"),
            ("unix!", "is no path"),
            ("/a\0b", "is no path"),
            (long.as_str(), "at most 107 bytes, this one has 108"),
        ] {
            let error = text.parse::<Written>().expect_err(text).to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }

    #[test]
    fn only_this_machine_reaches_loopback() {
        for (text, expected) in [
            ("127.8.9.1:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("/s", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("192.0.2.1:1", false),
        ] {
            let address = Address::look_up(text, Duration::ZERO).expect(text);
            assert_eq!(address.is_loopback(), expected, "{text}");
        }
    }
}
