//! Files of hosts: `[user@]host[:port] [nodes=N]`, a line each.
//!
//! `#` begins a comment. Hosts in brackets are a range: `lab[1-6]`. `slots=N`, as Open MPI writes
//! it, is `nodes=N`.

use muster_base::limits::{HOSTS_MAX, NODES_HERE_MAX};
use muster_base::nodeset;
use serde::{Deserialize, Serialize};
use std::net::Ipv6Addr;

/// A host to call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// `user@host`, or only the host.
    pub name: String,
    /// Where its ssh listens, if not where ssh thinks.
    pub port: Option<u16>,
    /// How many nodes it gets.
    pub nodes: usize,
}

impl Host {
    /// Without the user.
    pub fn short(&self) -> &str {
        self.name.rsplit_once('@').map_or(&self.name, |(_, host)| host)
    }
}

/// Why a file lists no hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadList {
    /// A line that says something else.
    #[error("line {0}: {1}")]
    Line(usize, String),
    /// No host.
    #[error("it names no host")]
    Empty,
    /// Too many of them.
    #[error("it names {0} hosts; {HOSTS_MAX} is the limit")]
    Many(usize),
}

/// Reads the text of a file.
///
/// # Errors
/// [`BadList`] says what is wrong and where.
pub fn read(text: &str) -> Result<Vec<Host>, BadList> {
    let mut hosts: Vec<Host> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let some = read_line(line).map_err(|why| BadList::Line(number + 1, why))?;
        for host in some {
            if hosts.iter().any(|other| (&other.name, other.port) == (&host.name, host.port)) {
                let why = format!("{} is named twice; nodes=2 gives it two", host.name);
                return Err(BadList::Line(number + 1, why));
            }
            hosts.push(host);
        }
    }
    match hosts.len() {
        0 => Err(BadList::Empty),
        count if count > HOSTS_MAX => Err(BadList::Many(count)),
        _ => Ok(hosts),
    }
}

fn read_line(line: &str) -> Result<Vec<Host>, String> {
    let mut words = line.split_whitespace();
    let Some(place) = words.next() else { return Ok(Vec::new()) };
    let mut nodes = 1;
    for word in words {
        let count = word.strip_prefix("nodes=").or_else(|| word.strip_prefix("slots="));
        let count = count.ok_or_else(|| format!("'{word}' is not understood; write nodes=N"))?;
        let count = count.parse().ok().filter(|count| (1..=NODES_HERE_MAX).contains(count));
        nodes = count.ok_or_else(|| format!("'{word}': nodes are 1 to {NODES_HERE_MAX}"))?;
    }
    let (names, port) = match bracketed(place) {
        Some((name, "")) => (vec![name], None),
        Some((name, port)) => (vec![name], port.strip_prefix(':')),
        None => {
            // An address of version 6 has more colons.
            let (place, port) = match place.split_once(':') {
                Some((place, port)) if !port.contains(':') => (place, Some(port)),
                _ => (place, None),
            };
            (nodeset::expand(place).map_err(|error| error.to_string())?, port)
        }
    };
    let port = port.map(|port| port.parse().map_err(|_| format!("'{port}' is no port")));
    let port = port.transpose()?;
    let host = |name: String| {
        // ssh would take it for a flag.
        if name.starts_with('-') || name.rsplit_once('@').is_some_and(|(_, host)| host.is_empty()) {
            return Err(format!("'{name}' is no host"));
        }
        Ok(Host { name, port, nodes })
    };
    names.into_iter().map(host).collect()
}

/// An address of version 6 in brackets, as before a port: with its user and without them; and what
/// is behind them.
fn bracketed(place: &str) -> Option<(String, &str)> {
    let (before, rest) = place.split_once('[')?;
    let (address, behind) = rest.split_once(']')?;
    let is_behind = behind.is_empty() || behind.starts_with(':');
    let is_one = (before.is_empty() || before.ends_with('@')) && is_behind;
    // One of a single link has its interface behind it, which only ssh minds.
    let number = address.split_once('%').map_or(address, |(number, _)| number);
    (is_one && number.parse::<Ipv6Addr>().is_ok()).then(|| (format!("{before}{address}"), behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_in_their_order() {
        let text = "# the lab\nlab[01-02] nodes=2 # twins\n\nann@big:2222 slots=8\nfd00::3\n";
        let host = |name: &str, port, nodes| Host { name: name.into(), port, nodes };
        let hosts = read(text).expect("hosts");
        assert_eq!(hosts[0], host("lab01", None, 2));
        assert_eq!(hosts[1], host("lab02", None, 2));
        assert_eq!(hosts[2], host("ann@big", Some(2222), 8));
        assert_eq!(hosts[3], host("fd00::3", None, 1));
        assert_eq!((hosts.len(), hosts[2].short()), (4, "big"));
        let hosts = read("[fd00::3]:22\nann@[fd00::4]\n[fd00::5] nodes=2").expect("hosts");
        assert_eq!(hosts[0], host("fd00::3", Some(22), 1));
        assert_eq!(hosts[1], host("ann@fd00::4", None, 1));
        assert_eq!(hosts[2], host("fd00::5", None, 2));
        let hosts = read("[fe80::3%eth0]:22\nann@fe80::4%eth0").expect("hosts");
        assert_eq!(hosts[0], host("fe80::3%eth0", Some(22), 1));
        assert_eq!(hosts[1], host("ann@fe80::4%eth0", None, 1));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, said) in [
            ("", "no host"),
            ("a\nb cpus=3", "line 2: 'cpus=3'"),
            ("a nodes=0", "line 1: 'nodes=0'"),
            ("a nodes=999", "line 1"),
            ("a:port", "'port' is no port"),
            ("[fd00::3]:port", "'port' is no port"),
            ("[fd00::3]x", "not a number"),
            ("a[1-", "lacks a closing"),
            ("-oProxyCommand=x", "is no host"),
            ("ann@", "is no host"),
            ("a\na", "line 2: a is named twice"),
            ("h[1-4000]", "4000 hosts"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
