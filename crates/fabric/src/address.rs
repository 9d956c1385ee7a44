//! Where an endpoint is found; the scheme names the transport.
//!
//! Written as Plan 9 writes addresses, parts divided by `!`:
//!
//! | address | transport |
//! |---|---|
//! | `proc!NAME` | in-process, between threads |
//! | `shm!PATH` | shared memory between processes of a node; they meet at a Unix socket |
//! | `unix!PATH` | a Unix socket |
//! | `tcp!HOST!PORT` | TCP |
//! | `tls!HOST!PORT` | TCP with TLS, between members who know each other's keys |
//! | `ofi!PROVIDER!HOST!PORT` | libfabric, with the provider of that name |
//! | `rails!(ADDRESS,ADDRESS...)` | several rails to one end: 1 to 8 addresses of TCP, or of TLS |
//! | `sim!NETWORK!NODE` | a simulated network of this process; `NETWORK?seed=NUMBER` has a seed |

use muster_base::limits::RAILS_MAX;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// An endpoint's address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    /// Between threads of this process.
    Process(String),
    /// Shared memory, by way of the Unix socket where both sides meet.
    Shared(PathBuf),
    /// A Unix socket.
    Unix(PathBuf),
    /// TCP: host (a name or a number) and port.
    Tcp(String, u16),
    /// TCP with TLS: host and port.
    Tls(String, u16),
    /// libfabric: provider, host, port.
    Ofi(String, String, u16),
    /// One end that is reached over several rails: addresses of TCP, or all of TLS.
    Rails(Vec<Address>),
    /// A node of a simulated network.
    Simulated(String, u32),
}

/// Why a text is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no address: {why}; write {FORMS}")]
pub struct BadAddress {
    /// What was to be read.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

const FORMS: &str = "proc!NAME, shm!PATH, unix!PATH, tcp!HOST!PORT, tls!HOST!PORT, \
     ofi!PROVIDER!HOST!PORT, rails!(ADDRESS,ADDRESS...) or sim!NETWORK!NODE";

/// `sun_path` of unix(7) has 108 bytes, the last of them zero.
const PATH_MAX: usize = 107;

impl Address {
    /// The scheme, which names the transport.
    pub fn scheme(&self) -> &'static str {
        match self {
            Address::Process(_) => "proc",
            Address::Shared(_) => "shm",
            Address::Unix(_) => "unix",
            Address::Tcp(..) => "tcp",
            Address::Tls(..) => "tls",
            Address::Ofi(..) => "ofi",
            Address::Rails(_) => "rails",
            Address::Simulated(..) => "sim",
        }
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> std::result::Result<Address, BadAddress> {
        let bad = |why| BadAddress { text: text.to_owned(), why };
        let (scheme, rest) = text.split_once('!').ok_or_else(|| bad("it has no scheme"))?;
        let name = |name: &str| match name {
            "" => Err(bad("a part of it is empty")),
            name if name.contains('\0') => Err(bad("it contains a NUL byte")),
            name => Ok(name.to_owned()),
        };
        let path = |text: &str| match name(text)? {
            path if path.len() > PATH_MAX => Err(bad("a Unix socket's path has 107 bytes at most")),
            path => Ok(PathBuf::from(path)),
        };
        let port = |text: &str| text.parse().map_err(|_| bad("a port is a number up to 65535"));
        match scheme {
            "proc" => Ok(Address::Process(name(rest)?)),
            "shm" => Ok(Address::Shared(path(rest)?)),
            "unix" => Ok(Address::Unix(path(rest)?)),
            "tcp" | "tls" => {
                let (host, at) = rest.rsplit_once('!').ok_or_else(|| bad("it has no port"))?;
                if host.starts_with('[') {
                    return Err(bad("an IPv6 address stands without brackets"));
                }
                let address = if scheme == "tcp" { Address::Tcp } else { Address::Tls };
                Ok(address(name(host)?, port(at)?))
            }
            "ofi" => {
                let (provider, at) = rest.split_once('!').ok_or_else(|| bad("it has no host"))?;
                let (host, at) = at.rsplit_once('!').ok_or_else(|| bad("it has no port"))?;
                Ok(Address::Ofi(name(provider)?, name(host)?, port(at)?))
            }
            "rails" => rails(rest).map(Address::Rails).map_err(bad),
            "sim" => {
                let (network, node) = rest.rsplit_once('!').ok_or_else(|| bad("it has no node"))?;
                let node = node.parse().map_err(|_| bad("a simulated node is a number"))?;
                Ok(Address::Simulated(name(network)?, node))
            }
            _ => Err(bad("no transport has this scheme")),
        }
    }
}

/// What stands behind `rails!`.
fn rails(text: &str) -> std::result::Result<Vec<Address>, &'static str> {
    let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let inside = inside.ok_or("its rails stand in brackets, with commas between them")?;
    let rails: Vec<_> = inside.split(',').map(str::parse).collect();
    if rails.len() > RAILS_MAX {
        return Err("it has more than 8 rails");
    }
    let rails: std::result::Result<Vec<Address>, BadAddress> = rails.into_iter().collect();
    let rails = rails.map_err(|_| "one of its rails is no address")?;
    let is_possible = |rail: &Address| matches!(rail, Address::Tcp(..) | Address::Tls(..));
    if !rails.iter().all(is_possible) {
        return Err("its rails are of tcp or of tls");
    }
    match rails.iter().all(|rail| rail.scheme() == rails[0].scheme()) {
        true => Ok(rails),
        false => Err("its rails are of several transports"),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.scheme();
        match self {
            Address::Process(name) => write!(f, "{scheme}!{name}"),
            Address::Shared(path) | Address::Unix(path) => {
                write!(f, "{scheme}!{}", path.display())
            }
            Address::Tcp(host, port) | Address::Tls(host, port) => {
                write!(f, "{scheme}!{host}!{port}")
            }
            Address::Ofi(provider, host, port) => write!(f, "{scheme}!{provider}!{host}!{port}"),
            Address::Rails(rails) => {
                let rails: Vec<_> = rails.iter().map(Address::to_string).collect();
                write!(f, "{scheme}!({})", rails.join(","))
            }
            Address::Simulated(network, node) => write!(f, "{scheme}!{network}!{node}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "proc!a",
            "shm!/run/x",
            "unix!/run/x",
            "tcp!localhost!80",
            "tcp!::1!564",
            "tls!lab7!564",
            "ofi!tcp!127.0.0.1!7000",
            "rails!(tcp!10.0.0.1!700)",
            "rails!(tcp!10.0.0.1!700,tcp!::1!701)",
            "rails!(tls!lab7!564,tls!lab7-fast!564)",
            "sim!net!3",
            "sim!net?seed=7!3",
        ] {
            assert_eq!(text.parse::<Address>().map(|read| read.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn what_is_wrong_with_rails_is_said() {
        let many = format!("rails!({})", ["tcp!h!1"; 9].join(","));
        for (text, why) in [
            ("rails!tcp!h!1", "in brackets"),
            ("rails!(tcp!h!1", "in brackets"),
            ("rails!()", "one of its rails is no address"),
            ("rails!(tcp!h!1,)", "one of its rails is no address"),
            ("rails!(tcp!h!1,tcp!h)", "one of its rails is no address"),
            ("rails!(tcp!h!1,tls!h!1)", "several transports"),
            ("rails!(shm!/x)", "of tcp or of tls"),
            ("rails!(rails!(tcp!h!1))", "of tcp or of tls"),
            (&many, "more than 8 rails"),
        ] {
            let error = text.parse::<Address>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let long = format!("unix!/{}", "x".repeat(107));
        for text in [
            "",
            "a",
            "proc!",
            "tcp!h",
            "tcp![::1]!80",
            "tcp!h!70000",
            "ofi!tcp!h",
            "sim!n!x",
            "ib!x",
            &long,
        ] {
            let error = text.parse::<Address>().expect_err(text).to_string();
            assert!(error.contains("is no address"), "{error}");
        }
    }
}
