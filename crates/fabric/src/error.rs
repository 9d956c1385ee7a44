//! What can go wrong between two endpoints. A peer's bytes are never trusted: what is wrong with
//! them is an error of the one connection, and all others go on.

use crate::address::{Address, BadAddress};
use std::io;
use std::time::Duration;

/// The fabric's results.
pub type Result<T> = std::result::Result<T, Error>;

/// The fabric's errors. `peer` and `who` are names for people.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    /// Not now; [`crate::strategy::Wait::wait`] tells when to try again.
    #[error("nothing can be done at the moment")]
    WouldBlock,
    /// The peer ended the connection in order.
    #[error("{peer} has closed the connection")]
    Closed { peer: String },
    /// The peer is gone, and what it was doing is not done.
    #[error("{peer} is gone: {evidence}")]
    Dead { peer: String, evidence: String },
    /// A deadline has passed.
    #[error("{who} has waited {waited:.1?} for {whom}: {what}")]
    Deadline { who: String, whom: String, what: String, waited: Duration },
    /// The peer sent what the protocol does not know.
    #[error("{peer} sent what is no message: {what}")]
    Malformed { peer: String, what: String },
    /// The peer speaks another version.
    #[error("{peer} speaks version {theirs} of the fabric's protocol, this is version {ours}")]
    Version { peer: String, theirs: u16, ours: u16 },
    /// Larger than what is possible.
    #[error("{what} of {size} bytes: at most {limit} are possible")]
    TooLarge { what: &'static str, size: usize, limit: usize },
    /// This node may not speak for the cluster.
    #[error("{node} is no member of the cluster: {why}")]
    NotMember { node: String, why: String },
    /// The peer does not let us.
    #[error("{peer} refuses: {why}")]
    Refused { peer: String, why: String },
    /// We do not let the peer.
    #[error("{peer} is not trusted: {why}")]
    Untrusted { peer: String, why: String },
    /// A key, or what should be one.
    #[error("{place}: {bad}")]
    Key { place: String, bad: BadKey },
    /// Outside of a region, or not allowed there; its number where it has one.
    #[error("no access to {count} bytes at {offset}{}: {why}", of_region(*key))]
    Access { key: Option<u32>, offset: u64, count: usize, why: &'static str },
    /// The system has no more of it.
    #[error("no {what} left: {source}")]
    Exhausted { what: &'static str, source: io::Error },
    /// The transport cannot do this here.
    #[error("{address} cannot be used here: {why}")]
    Unsupported { address: Address, why: String },
    /// A text is no address.
    #[error(transparent)]
    Address(#[from] BadAddress),
    /// The system refused a call.
    #[error("{doing}: {source}")]
    Io { doing: String, source: io::Error },
}

/// What is wrong with a key or where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadKey(pub &'static str);

fn of_region(key: Option<u32>) -> String {
    key.map(|key| format!(" of region {key}")).unwrap_or_default()
}

impl Error {
    /// The same of a region that has a number, which it does not know itself.
    pub(crate) fn of_region(self, key: u32) -> Error {
        match self {
            Error::Access { offset, count, why, .. } => {
                Error::Access { key: Some(key), offset, count, why }
            }
            other => other,
        }
    }

    /// An error of the system; want of descriptors, memory and the like are told apart.
    pub fn io(doing: impl Into<String>, source: impl Into<io::Error>) -> Error {
        let source = source.into();
        let what = match source.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => "file descriptors",
            Some(libc::ENOMEM | libc::ENOBUFS) => "memory",
            _ if source.kind() == io::ErrorKind::WouldBlock => return Error::WouldBlock,
            _ => return Error::Io { doing: doing.into(), source },
        };
        Error::Exhausted { what, source }
    }

    /// Whether somebody else listens there.
    pub fn is_taken(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::AddrInUse)
    }

    /// Whether there is such a file already.
    pub fn is_there(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::AlreadyExists)
    }

    /// Whether it may be tried again.
    pub fn is_would_block(&self) -> bool {
        matches!(self, Error::WouldBlock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_units_that_people_read() {
        let waited = Duration::from_nanos(60_000_123_456);
        let [who, whom, what] = ["n0", "n3", "an answer"].map(str::to_owned);
        let said = Error::Deadline { who, whom, what, waited }.to_string();
        assert_eq!(said, "n0 has waited 60.0s for n3: an answer");
    }
}
