//! The addresses of a host, by a deadline.
//!
//! A number is its own address. A name is looked up by the system's resolver, which waits for its
//! servers as long as it likes and cannot be stopped. So a thread of its own asks it, who waits
//! leaves at the deadline, and no more than [`LOOKUPS_MAX`] lookups are under way at once.

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use muster_base::limits::LOOKUPS_MAX;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;

/// The addresses of a host; `address` is what they are needed for.
///
/// # Errors
/// When it has none, or the resolver says nothing in time.
pub fn resolve(
    address: &Address,
    host: &str,
    port: u16,
    deadline: Deadline,
) -> Result<Vec<SocketAddr>> {
    resolve_by(ask, address, (host, port), deadline)
}

/// How long the first of so many addresses may be tried: one that says nothing, as of a network
/// that is not there, leaves as long for each of the others.
pub(super) fn share(deadline: Deadline, addresses: usize) -> Deadline {
    let left = deadline.left().unwrap_or_default();
    deadline.sooner(left / u32::try_from(addresses.max(1)).unwrap_or(u32::MAX))
}

fn ask(host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    (host, port).to_socket_addrs().map(Iterator::collect)
}

fn resolve_by(
    ask: impl FnOnce(String, u16) -> io::Result<Vec<SocketAddr>> + Send + 'static,
    address: &Address,
    (host, port): (&str, u16),
    deadline: Deadline,
) -> Result<Vec<SocketAddr>> {
    if let Ok(number) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(number, port)]);
    }
    /// Each lookup holds one.
    static UNDER_WAY: std::sync::LazyLock<Arc<()>> = std::sync::LazyLock::new(Arc::default);
    let held = UNDER_WAY.clone();
    if Arc::strong_count(&held) > LOOKUPS_MAX + 1 {
        let source = io::Error::other("as many as possible wait for an answer");
        return Err(Error::Exhausted { what: "lookups of hosts", source });
    }
    let (found, answer) = channel();
    let host = host.to_owned();
    let asking = move || {
        let result = ask(host, port);
        drop(held);
        // Who has left at its deadline does not need it.
        let _ = found.send(result);
    };
    let thread = Builder::new().name("looks up a host".to_owned()).spawn(asking);
    thread.map_err(|source| Error::Exhausted { what: "threads", source })?;
    match answer.recv_timeout(deadline.left().unwrap_or_default()) {
        Ok(result) => result.map_err(|source| Error::io(format!("looking up {address}"), source)),
        Err(RecvTimeoutError::Timeout) => {
            Err(deadline.missed(address, "the system's resolver", "the addresses of its host"))
        }
        Err(RecvTimeoutError::Disconnected) => panic!("the resolver panicked"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn address() -> Address {
        Address::Tcp("example".to_owned(), 7)
    }

    #[test]
    fn a_number_is_its_own_address_and_nobody_is_asked() {
        for (host, there) in [("127.0.0.1", "127.0.0.1:7"), ("::1", "[::1]:7")] {
            let nobody = |_, _| panic!("it is a number");
            let found = resolve_by(nobody, &address(), (host, 7), Deadline::now());
            assert_eq!(found.unwrap(), [there.parse().unwrap()]);
        }
    }

    #[test]
    fn each_of_several_addresses_has_its_share_of_the_time() {
        let all = Deadline::after(Duration::from_secs(60));
        assert_eq!(share(all, 1), all);
        assert!(share(all, 3).left() <= Some(Duration::from_secs(20)));
        assert_eq!(share(Deadline::now(), 3).left(), None);
    }

    #[test]
    fn who_waits_for_a_resolver_that_says_nothing_leaves_at_its_deadline() {
        let (end, never) = channel::<()>();
        let deaf = move |_, _| {
            // Until the test is over.
            let _ = never.recv();
            Ok(Vec::new())
        };
        let brief = Deadline::after(Duration::from_millis(5));
        let error = resolve_by(deaf, &address(), ("example", 7), brief).unwrap_err();
        assert!(matches!(error, Error::Deadline { .. }), "{error}");
        drop(end);
        let long = Deadline::after(Duration::from_secs(60));
        let found = resolve_by(ask, &address(), ("localhost", 7), long).unwrap();
        assert!(found.iter().all(|there| there.ip().is_loopback() && there.port() == 7));
    }
}
