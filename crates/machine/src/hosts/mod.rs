//! A cluster on several hosts: how it is brought up over ssh or in a Slurm allocation, and ends.
//!
//! ```text
//!  muster up --hosts ──> muster daemon keeper ──┬──> muster daemon manager
//!                                               └──> ssh h1, ssh h2, ...      (sessions)
//!                                                         ┊
//!  on each host:     sshd ──> sh ──> muster daemon host ──┴─> muster daemon node ...
//! ```
//!
//! A host is called by a program that runs a command there and carries its bytes: `ssh`, `srun`,
//! or what `--ssh` names. The command is a line for `sh` ([`carry`]) that runs this very build,
//! which is sent first where it is missing. Then both say, a line of JSON each:
//!
//! 1. The head: which nodes the host gets ([`Ask`]). The host makes their keys, keeps ports for
//!    them, finds its address, and answers with all that others have to know ([`Answer`]). No
//!    secret leaves the host where it is used.
//! 2. The head, when all hosts have answered: the roster ([`Start`]). The host starts its nodes,
//!    which connect to the manager and to each other over TLS, and says so. From here on the
//!    session carries no more words.
//!
//! Whoever waits for the other does so for a time that both know, and says for whom it waited. Who
//! is told by a signal to end does so at once: `muster up` closes its keeper's input, the keeper
//! ends the sessions, and a host leaves with its own.
//!
//! Who may die when:
//!
//! * **A node daemon**: the host's keeper starts it again, and tells the manager how it died.
//! * **A session** (ssh dies, its connection breaks): before the start the host's part ends, and
//!   with it the bring-up. After it nothing happens: the host's keeper holds on to the manager.
//!   With `srun` the session is the host's life, for Slurm ends what belongs to it.
//! * **The manager**: the head's keeper starts it again. A host's keeper has a connection to it,
//!   and tries for [`guest::SILENCE`] to have one again.
//! * **The head's keeper**, kill -9 included: the sessions end and the manager leaves. A host
//!   whose session has ended and whose manager refuses connections ends at once, and leaves
//!   nothing but the program in its cache. `muster down` is this, and waits for the sessions.
//! * **The head's machine**, or the way to it: nobody refuses. A host ends after
//!   [`guest::SILENCE`].
//! * **A host's keeper, or its machine**: its nodes go with it; the manager sees their connections
//!   close. Others go on. A keeper that is told to end by a signal, as Slurm does, leaves in order.

pub mod carry;
pub mod guest;
pub mod head;
pub mod list;
pub mod session;
mod sys;

use muster_fabric::transport::host::resolve;
use muster_fabric::{Address, Deadline};
use serde::{Deserialize, Serialize};
use std::io;
use std::net::{IpAddr, SocketAddrV4, UdpSocket};
use std::time::Duration;

/// How the names of clusters begin that are one host's part of a larger one.
pub const PREFIX: &str = "host-";

/// How a word begins that is for the other side: a shell may say more when it starts.
const MARK: &str = "muster1 ";

/// How long a host's name is looked up.
const LOOK_UP: Duration = Duration::from_secs(10);

/// How hosts are called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// By ssh, or by these words with the host and a command behind them.
    Ssh(Option<Vec<String>>),
    /// By srun, inside the allocation.
    Slurm,
}

/// What the head says first.
#[derive(Debug, Serialize, Deserialize)]
struct Ask {
    /// The name of the host's part.
    cluster: String,
    /// The names of its nodes.
    nodes: Vec<String>,
    way: Way,
    /// Where the manager is, if the user says.
    manager: Option<IpAddr>,
    /// Where it is, if nobody knows better.
    hint: Option<IpAddr>,
    /// How long it may take until the head says more: all hosts have answered then.
    wait_s: u64,
}

/// What the host answers.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    /// The host's own address, as those reach it who are where the manager is.
    address: IpAddr,
    /// The manager's address, as the host reaches it.
    manager: IpAddr,
    nodes: Vec<Offer>,
}

/// What others have to know of a node.
#[derive(Debug, Serialize, Deserialize)]
struct Offer {
    key: String,
    line: u16,
    shell: u16,
}

/// What the head says second: the lines of the roster, and where all hear long bodies at once.
#[derive(Debug, Serialize, Deserialize)]
struct Start {
    roster: Vec<String>,
    multicast: Option<SocketAddrV4>,
}

/// What the host answers when its nodes are started.
#[derive(Debug, Serialize, Deserialize)]
struct Started {}

/// An answer, or why there is none.
#[derive(Debug, Serialize, Deserialize)]
enum Reply<T> {
    Done(T),
    Failed(String),
}

/// Two ports of this machine, kept as long as this lives: bound, but nobody listens.
#[derive(Debug)]
pub struct Ports {
    line: u16,
    shell: u16,
    _kept: [std::os::fd::OwnedFd; 2],
}

impl Ports {
    /// Any two that are free.
    fn keep(is_ipv6: bool) -> io::Result<Ports> {
        let (line, kept_line) = keep_port(is_ipv6)?;
        let (shell, kept_shell) = keep_port(is_ipv6)?;
        Ok(Ports { line, shell, _kept: [kept_line, kept_shell] })
    }
}

/// A daemon that reuses addresses may listen at a port that is only bound by another who does, and
/// the kernel gives it to nobody who asks for any port.
fn keep_port(is_ipv6: bool) -> io::Result<(u16, std::os::fd::OwnedFd)> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
    let (family, any) = match is_ipv6 {
        true => (AddressFamily::INET6, "[::]:0"),
        false => (AddressFamily::INET, "0.0.0.0:0"),
    };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if is_ipv6 {
        // Of both families.
        sockopt::set_ipv6_v6only(&socket, false)?;
    }
    let any: std::net::SocketAddr = any.parse().expect("an address");
    bind(&socket, &any)?;
    let name: std::net::SocketAddr = rustix::net::getsockname(&socket)?.try_into()?;
    Ok((name.port(), socket))
}

/// The address of this machine that the way to another begins at.
pub(crate) fn address_towards(there: IpAddr) -> io::Result<IpAddr> {
    let any = if there.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    // Nothing is sent: the kernel only looks for the way.
    socket.connect((there, 9))?;
    Ok(socket.local_addr()?.ip())
}

/// The same of a host, whose name may have to be looked up; none where that takes too long or it
/// leads nowhere.
pub(crate) fn address_towards_host(host: &str, port: u16) -> Option<IpAddr> {
    let place = Address::Tcp(host.to_owned(), port);
    let found = resolve(&place, host, port, Deadline::after(LOOK_UP)).ok()?;
    address_towards(found.first()?.ip()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn the_documents_words_are_what_is_said() {
        fn again<T: Serialize + serde::de::DeserializeOwned>(line: &str) -> String {
            serde_json::to_string(&serde_json::from_str::<T>(line).unwrap()).unwrap()
        }
        let page = include_str!("../../../../docs/wire/hosts.md");
        // A word that is too long for the page goes on behind five blanks.
        let lines = page.lines().filter_map(|line| line.strip_prefix("    "));
        let words = lines.collect::<Vec<_>>().join("\n").replace("\n ", "");
        let [ask, answer, start, started] = words.lines().collect::<Vec<_>>()[..] else {
            panic!("four words: {words}");
        };
        assert_eq!(again::<Ask>(ask), ask);
        assert_eq!(again::<Reply<Answer>>(answer), answer);
        assert_eq!(again::<Start>(start), start);
        assert_eq!(again::<Reply<Started>>(started), started);
    }

    #[test]
    fn a_kept_port_is_there_for_daemons_that_start_again() {
        // A machine may have no IPv6.
        let of_both = Ports::keep(true).ok().map(|ports| (ports, &["0.0.0.0", "::"][..]));
        let of_one = (Ports::keep(false).expect("two ports"), &["0.0.0.0"][..]);
        for (ports, families) in of_both.into_iter().chain([of_one]) {
            assert_ne!(ports.line, ports.shell);
            for any in families.iter().chain(families) {
                // The standard library reuses addresses.
                let daemon = TcpListener::bind((*any, ports.line)).expect("it may listen");
                assert!(TcpListener::bind((*any, ports.line)).is_err(), "one daemon at a time");
                drop(daemon);
            }
        }
    }

    #[test]
    fn the_way_to_oneself_begins_at_oneself() {
        let here: IpAddr = "127.0.0.1".parse().expect("an address");
        assert_eq!(address_towards(here).expect("a way"), here);
    }
}
