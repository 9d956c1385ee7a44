//! Shared memory between processes of a node (`shm!PATH`).
//!
//! Two processes meet at a Unix socket (`meet.rs`) and share a sealed memfd (`segment.rs`) with a
//! ring in each direction (`ring.rs`). From then on a message is a few stores and loads; the kernel
//! is asked only by who sleeps, and by who wakes a sleeper. The socket stays open: its end shows
//! that the peer is gone, however it went. Nothing has a name, so nothing is left behind.
//!
//! *Teardown.* A side that leaves in order says so in the segment, then closes the socket; its peer
//! receives what was sent and then [`crate::Error::Closed`]. Where the socket ends without that,
//! the peer receives what was sent whole and then [`crate::Error::Dead`]. Either may die or stop at
//! any instruction: there are no locks, so the other one finds the ring empty or full and goes on
//! (`ring.rs`), and its waits end at their deadline, or 50 ms after a death at the latest.
//!
//! *The fast way.* [`Shared::listen_link`] and [`Shared::connect_link`] give a [`Link`], whose
//! methods are generic and inlined: what benchmarks measure. The strategies are the same link
//! behind traits. Ranks of a job have rings of their own (`gateway/near.rs`).

mod copy;
mod link;
pub(crate) mod meet;
mod memory;
mod offer;
mod receive;
mod ring;
pub(crate) mod segment;
mod send;
pub(crate) mod socket;
pub(crate) mod strangers;
mod strategies;
pub(crate) mod sys;
#[cfg(test)]
mod tests;
pub(crate) mod trial;

pub use link::Link;
pub use memory::region;

use super::{Adapter, Capabilities, Hello, Lane, Listener, Protection, Strategies, Transport};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::pipeline::adapt::Peers;
use crate::pipeline::choice::Grid;
use crate::pipeline::contact::Contact;
use crate::pipeline::plan::{Fixed, Plan, Planner};
use muster_base::limits::SHARED_ARENA;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// Gives each connection somebody who decides how its messages move.
pub type Planners = Arc<dyn Fn(&Hello) -> Box<dyn Planner> + Send + Sync>;

/// What is done until the way to a peer is measured: packets of 32 KiB in a ring of twice a
/// second-level cache of 1 MiB.
pub const PLAN: Fixed =
    Fixed { short: 4 * 1024, long: Plan::Pipelined { packet: 32 * 1024, slots: 64 } };

/// What a send is rid of without its receiver at least: smaller rings are not chosen, and so much
/// is offered for a moment only.
const RING_LEAST: usize = 512 * 1024;

/// The longest message that goes whole.
const SHORT_MAX: usize = 64 * 1024;

/// The plans that a link can carry out.
pub(crate) fn grid() -> Grid {
    Grid { ring_least: RING_LEAST, ..Grid::new(SHARED_ARENA, SHORT_MAX) }
}

/// What was found out about peers; processes that meet again do not measure again.
static PEERS: LazyLock<Arc<Peers>> = LazyLock::new(|| Peers::new(grid()));

/// By [`PLAN`] until the first long message, at which the way to the peer is measured; the system's
/// lane has no long messages.
pub fn adaptive() -> Planners {
    Arc::new(|hello| match hello.lane {
        Lane::Bulk => Box::new(Contact::new(PEERS.clone(), PLAN)),
        Lane::System => Box::new(PLAN),
    })
}

/// The transport.
#[derive(Clone)]
pub struct Shared {
    planners: Planners,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared::new(adaptive())
    }
}

impl Shared {
    /// With planners of one's own.
    pub fn new(planners: Planners) -> Shared {
        Shared { planners }
    }

    /// Connects, and stays with the link.
    ///
    /// # Errors
    /// As [`Transport::connect`].
    pub fn connect_link(&self, to: &Path, hello: &Hello, deadline: Deadline) -> Result<Link> {
        hello.check()?;
        meet::connect(to, hello, deadline, &self.planners)
    }

    /// Listens for links.
    ///
    /// # Errors
    /// As [`Transport::listen`].
    pub fn listen_link(&self, at: &Path) -> Result<Links> {
        let address = Address::Shared(at.to_owned());
        Ok(Links { meeting: meet::Meeting::new(at, self.planners.clone())?, address })
    }
}

/// Has a peer write these words into the memory of a connection, at these bytes of it, and this
/// side use the connection between two of them: each call returns, whatever is written. For those
/// who look for words that break it.
#[cfg(any(test, feature = "conformance"))]
pub fn trample(words: impl IntoIterator<Item = (usize, u64)>) {
    let hello = Hello { name: "here".into(), service: "test".into(), lane: Lane::Bulk };
    let plan = Fixed { short: 256, long: Plan::Pipelined { packet: 500, slots: 3 } };
    let planners: Planners = Arc::new(move |_| Box::new(plan));
    let (mut here, mut there) = meet::pair("there", &hello, &planners).expect("memory");
    let (size, mut buffer) = (segment::size(Lane::Bulk), vec![0; 4096]);
    for (number, (at, word)) in words.into_iter().enumerate() {
        let place = here.segment.word64(at % size / 8 * 8);
        place.store(word, std::sync::atomic::Ordering::Relaxed);
        let _ = here.try_send(&[std::io::IoSlice::new(&[7; 3000][..number % 100 * 30])]);
        let _ = there.try_receive(&mut buffer);
        let _ = there.try_take(|_| ());
        let _ = there.try_fill(number % 3000, |to| to.fill(1));
        let _ = here.try_take(|_| ());
        let _ = here.try_flush();
    }
}

/// Who accepts links.
pub struct Links {
    meeting: meet::Meeting,
    address: Address,
}

impl Links {
    /// Waits for the next.
    ///
    /// # Errors
    /// As [`Listener::accept`].
    pub fn accept_link(&mut self, deadline: Deadline) -> Result<Link> {
        self.meeting.accept(deadline)
    }
}

impl Listener for Links {
    fn address(&self) -> &Address {
        &self.address
    }

    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        Ok(Box::new(self.accept_link(deadline)?))
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.meeting.descriptors()
    }

    fn is_idle(&self) -> bool {
        self.meeting.is_idle()
    }
}

/// What links can do; so for the transport within a process, which uses them too.
pub(super) const STRATEGIES: Strategies =
    Strategies { datagram: true, stream: false, active_message: false, remote_copy: true };

fn path(address: &Address) -> Result<&Path> {
    match address {
        Address::Shared(path) => Ok(path),
        other => {
            let why = "this is the transport of shm!PATH".to_owned();
            Err(Error::Unsupported { address: other.clone(), why })
        }
    }
}

impl Transport for Shared {
    fn scheme(&self) -> &'static str {
        "shm"
    }

    fn capabilities(&self) -> Capabilities {
        let protection = Protection::Local;
        Capabilities { native: STRATEGIES, processes: true, machines: false, protection }
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        Ok(Box::new(self.listen_link(path(at)?)?))
    }

    fn connect(&self, to: &Address, hello: &Hello, deadline: Deadline) -> Result<Box<dyn Adapter>> {
        Ok(Box::new(self.connect_link(path(to)?, hello, deadline)?))
    }
}
