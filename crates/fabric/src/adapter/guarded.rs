//! Access control: an abstraction is tagged with a capability, and what that does not allow is
//! refused before it begins.

use super::{Aspect, Kind, Operation, Outcome};
use crate::error::{Error, Result};
use crate::transport::Peer;

/// Which operations are allowed, and how large they may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    kinds: u16,
    bytes: usize,
}

impl Capability {
    /// Nothing.
    pub const NONE: Capability = Capability { kinds: 0, bytes: usize::MAX };
    /// Everything.
    pub const ALL: Capability = Capability { kinds: u16::MAX, bytes: usize::MAX };

    /// These operations only.
    pub const fn of(kinds: &[Kind]) -> Capability {
        let (mut set, mut at) = (0, 0);
        while at < kinds.len() {
            set |= 1 << kinds[at] as u16;
            at += 1;
        }
        Capability { kinds: set, bytes: usize::MAX }
    }

    /// The same, for operations of at most so many bytes.
    pub const fn up_to(self, bytes: usize) -> Capability {
        Capability { bytes, ..self }
    }

    /// Whether it contains an operation. How much is received is the peer's matter.
    pub const fn allows(self, operation: Operation) -> bool {
        let is_ours = !matches!(operation.kind, Kind::Receive | Kind::Read);
        self.kinds & 1 << operation.kind as u16 != 0 && !(is_ours && operation.bytes > self.bytes)
    }
}

/// Allows what a capability allows.
#[derive(Clone, Debug)]
pub struct Guarded {
    capability: Capability,
    name: String,
}

impl Guarded {
    /// With a capability; `name` says in refusals who guards.
    pub fn new(name: impl Into<String>, capability: Capability) -> Guarded {
        Guarded { capability, name: name.into() }
    }

    /// With the capability that a peer has. Who the peer is does not change while a connection
    /// lasts, so it is asked once.
    pub fn by_peer(peer: &Peer, capability: impl FnOnce(&Peer) -> Capability) -> Guarded {
        Guarded::new(format!("the guard of {peer}"), capability(peer))
    }
}

impl Aspect for Guarded {
    #[inline]
    fn enter(&mut self, operation: Operation) -> Result<()> {
        if self.capability.allows(operation) {
            return Ok(());
        }
        let Operation { kind, bytes } = operation;
        let why = format!("no capability for {kind:?} of {bytes} bytes");
        Err(Error::Refused { peer: self.name.clone(), why })
    }

    #[inline]
    fn leave(&mut self, _: Operation, _: Outcome) {}
}
