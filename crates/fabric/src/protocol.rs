//! What a protocol among many nodes looks like: a state machine without I/O, threads or clocks.
//!
//! It takes messages, requests and the time, and gives messages and notices. A thin shell moves
//! them (over real connections, or over the simulated network of the `sim` crate), so the same code
//! runs on nodes, under the simulator from one seed, and in the model checker.
//!
//! Messages may be lost with the connection that carried them, of which the protocol is told, or
//! while they wait for one, of which it is not: later ones may come. Where a shell says otherwise
//! (the model checker reorders and duplicates), the protocol has to hold all the same.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Kinds of messages that a shell counts, each by the first byte of its head: a protocol has no
/// more, and all others together are the first kind.
pub const KINDS: usize = 17;

/// A node, by its number in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}", self.0)
    }
}

/// A moment: nanoseconds of the shell's steady clock. Moments of two nodes cannot be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(pub u64);

impl std::ops::Add<Duration> for Time {
    type Output = Time;

    fn add(self, time: Duration) -> Time {
        Time(self.0.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl std::ops::Sub for Time {
    type Output = Duration;

    /// None of it if the other moment is later.
    fn sub(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Bytes that many hold and nobody changes, so that a node which passes them on copies nothing. No
/// bytes take no memory.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    bytes: Option<Arc<Vec<u8>>>,
    range: Range<usize>,
}

impl Payload {
    /// Whether it is the same bytes in the same place, and not merely equal ones.
    pub fn is_same(&self, other: &Payload) -> bool {
        let same = |(one, other): (&Arc<_>, &Arc<_>)| Arc::ptr_eq(one, other);
        self.range == other.range && self.bytes.as_ref().zip(other.bytes.as_ref()).is_some_and(same)
    }

    /// A part of it.
    ///
    /// # Panics
    /// Where it has no such part.
    pub fn part(&self, range: Range<usize>) -> Payload {
        assert!(range.start <= range.end && range.end <= self.range.len(), "{range:?}");
        let start = self.range.start;
        Payload { bytes: self.bytes.clone(), range: start + range.start..start + range.end }
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        let range = 0..bytes.len();
        Payload { bytes: (!bytes.is_empty()).then(|| Arc::new(bytes)), range }
    }
}

impl From<Arc<Vec<u8>>> for Payload {
    fn from(bytes: Arc<Vec<u8>>) -> Payload {
        let range = 0..bytes.len();
        Payload { bytes: Some(bytes), range }
    }
}

impl std::ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.as_ref().map_or(&[], |bytes| &bytes[self.range.clone()])
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Payload) -> bool {
        **self == **other
    }
}

impl Eq for Payload {}

impl std::hash::Hash for Payload {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

/// A message that a protocol sends: what it says, and the bytes that it carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outgoing {
    /// To whom.
    pub to: NodeId,
    /// The protocol's own part, as `docs/wire/` has it.
    pub head: Vec<u8>,
    /// What is carried.
    pub body: Payload,
}

/// A peer's message is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{from} sent what is no message: {what}")]
pub struct Malformed {
    /// Who sent it.
    pub from: NodeId,
    /// What is wrong.
    pub what: String,
}

/// A protocol's state machine at one node.
pub trait Protocol {
    /// What its user asks of it.
    type Request;
    /// What its user is told.
    type Notice;

    /// Whether a message that begins so may overtake those to the same node of which this says no:
    /// a shell sends it first, so that it does not wait behind long bodies. Those of which it says
    /// yes keep their order among themselves.
    fn is_urgent(_head: &[u8]) -> bool {
        false
    }

    /// Carries out what the user asks.
    fn request(&mut self, now: Time, request: Self::Request);

    /// Takes a message.
    ///
    /// # Errors
    /// When it is none; nothing has changed then, and the shell ends that connection.
    fn receive(
        &mut self,
        now: Time,
        from: NodeId,
        head: &[u8],
        body: Payload,
    ) -> Result<(), Malformed>;

    /// Something about a peer is certain: its connection has ended. What that means is the
    /// protocol's to say.
    fn lost(&mut self, now: Time, peer: NodeId);

    /// Before a tick: messages to these peers, and to no others, still wait at this node, for a
    /// connection or for room in it. To send them again would be in vain.
    fn waits(&mut self, _peers: &mut dyn Iterator<Item = NodeId>) {}

    /// The moment that [`Protocol::alarm`] named has come.
    fn tick(&mut self, now: Time);

    /// When [`Protocol::tick`] is to be called at the latest.
    fn alarm(&self) -> Option<Time>;

    /// The next message to send; called until there is none.
    fn outgoing(&mut self) -> Option<Outgoing>;

    /// The next thing to tell the user; called until there is none.
    fn notice(&mut self) -> Option<Self::Notice>;
}
