//! Runs a protocol over connections: the thin part with threads, sockets and a clock.
//!
//! The protocol and all connections ([`run`]) are one thread's at a time ([`engine`]): the shell's
//! own, or one that asks something, or waits for an answer, while that one sleeps. The shell's
//! sleeps ([`watch`]) until a message comes, the protocol's alarm is due, or another thread has put
//! something into its [`inbox`]; then it gives the protocol what there is, and sends what the
//! protocol wants sent. It never waits for a peer: what has no room queues, and a peer behind which
//! too much has gathered does not read, so its connection is ended and the protocol told that it is
//! lost. Connections that have no descriptor to sleep at are looked at, ever more rarely while
//! nothing comes. Two things can only be waited for and have threads of their own ([`door`]): who
//! connects to us, and whom we connect to.
//!
//! A peer is idle, being connected to, or connected. It is connected to when there is something to
//! send. A connection that ends, for whatever reason (the peer's end, garbage, no room), loses
//! what is queued, and the protocol is told; the next message makes a new one, after a pause that
//! grows while none can be made. There is one connection between two nodes: `docs/wire/shell.md`
//! says which when both connect at once, and a node's *life* in it tells a peer that has begun
//! again from one that merely connects twice.
//!
//! A node may die at any time; its connections end, and the others' shells say so. Dropping a shell
//! ends its thread and connections; users of its handle then get errors.
//!
//! The protocol's time goes on while the system is suspended, so that a lease is over when it
//! wakes; alarms that were due meanwhile may be late then. That does not help a virtual machine
//! that was paused: its clocks stood still, and nothing in it knows.

mod door;
mod engine;
mod inbox;
pub mod multicast;
mod peer;
mod run;
mod sys;
mod watch;
pub mod wire;

pub use sys::ShortSlices;

#[cfg(test)]
pub(crate) mod tests;

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::{KINDS, NodeId, Protocol, Time};
use crate::transport::{self, Listener, Transport};
use inbox::{Command, Inbox};
use multicast::{Group, Multicast};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// Finds the transports of addresses: those that it was given, and beside them this crate's.
#[derive(Clone, Default)]
pub struct Transports(Vec<Arc<dyn Transport>>);

impl Transports {
    /// With one more, which its scheme's addresses are for: TLS as a member
    /// ([`crate::transport::socket::Tls`]), or one of the user's own.
    #[must_use]
    pub fn with(mut self, transport: impl Transport + 'static) -> Transports {
        self.0.push(Arc::new(transport));
        self
    }

    /// The transport of an address.
    ///
    /// # Errors
    /// As [`transport::of`], where none was given.
    pub fn of(&self, address: &Address) -> Result<&dyn Transport> {
        let given = self.0.iter().find(|transport| transport.scheme() == address.scheme());
        given.map_or_else(|| transport::of(address).map(|ours| ours as _), |given| Ok(&**given))
    }
}

impl std::fmt::Debug for Transports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|transport| transport.scheme())).finish()
    }
}

/// What a shell needs to know.
#[derive(Clone, Debug)]
pub struct Setup {
    /// This node.
    pub me: NodeId,
    /// The protocol's name: only shells with the same talk to each other. A hello says it
    /// ([`crate::transport::Hello::service`]).
    pub service: String,
    /// Where nodes are found.
    pub addresses: BTreeMap<NodeId, Address>,
    /// What nodes are reached by.
    pub transports: Transports,
    /// How long to look for more before sleeping, when the last sleep was shorter than this; who
    /// looks gives the core to whoever else wants it. Zero: to sleep at once.
    pub patience: Duration,
    /// Where long bodies go to all at once; none, or one that cannot be used: over connections
    /// only.
    pub group: Option<Group>,
}

/// What a shell has moved since it began.
#[derive(Debug, Default)]
pub struct Traffic {
    /// Messages that it has sent over connections.
    pub messages: AtomicU64,
    /// Of these the protocol's, by what their heads begin with; what is more counts as 0.
    pub kinds: [AtomicU64; KINDS],
    /// Bytes that it has sent over connections, with what stands before heads.
    pub sent: AtomicU64,
    /// Bytes that it has sent by multicast.
    pub cast: AtomicU64,
    /// Datagrams that it has heard and could use.
    pub heard: AtomicU64,
    /// Datagrams that came and were none of the group's, or of no use any more.
    pub ignored: AtomicU64,
    /// At the root of a multicast group: how many members hear it now.
    pub hearers: AtomicU64,
    /// Bytes that had to come over a connection, because their datagrams were lost.
    pub repaired: AtomicU64,
    /// Why the multicast group cannot be used, if it cannot.
    pub no_group: OnceLock<Error>,
    /// Why nodes cannot be reached.
    troubles: Mutex<BTreeMap<NodeId, String>>,
}

impl Traffic {
    /// A message of the protocol's is sent.
    fn count(&self, head: &[u8]) {
        let known = head.first().and_then(|kind| self.kinds.get(usize::from(*kind)));
        Traffic::add(known.unwrap_or(&self.kinds[0]), 1);
    }

    /// Why a node cannot be reached: how the last connection with it ended, or could not be made.
    /// None while there is one, and where none was wanted.
    pub fn trouble(&self, node: NodeId) -> Option<String> {
        self.troubles().get(&node).cloned()
    }

    fn trouble_begins(&self, node: NodeId, why: String) {
        self.troubles().insert(node, why);
    }

    fn trouble_ends(&self, node: NodeId) {
        self.troubles().remove(&node);
    }

    fn troubles(&self) -> MutexGuard<'_, BTreeMap<NodeId, String>> {
        self.troubles.lock().expect("no holder panics")
    }

    fn add(to: &AtomicU64, count: usize) {
        to.fetch_add(count as u64, Ordering::Relaxed);
    }
}

/// Who is told what the protocol has to say, mostly on the shell's thread: it must not wait.
pub trait Handler<P: Protocol>: Send + 'static {
    /// Takes a notice.
    fn notice(&mut self, now: Time, protocol: &P, notice: P::Notice);

    /// The protocol may have changed, and what it wants sent is sent next; on any thread.
    fn changed(&mut self, _now: Time, _protocol: &P) {}
}

impl<P: Protocol, F: FnMut(Time, &P, P::Notice) + Send + 'static> Handler<P> for F {
    fn notice(&mut self, now: Time, protocol: &P, notice: P::Notice) {
        self(now, protocol, notice);
    }
}

/// A shell's clock: the time since it began.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Duration);

impl Clock {
    fn start() -> Clock {
        Clock(boot_time())
    }

    /// Now.
    pub fn now(&self) -> Time {
        Time(u64::try_from((boot_time() - self.0).as_nanos()).expect("584 years"))
    }
}

/// Since the machine was booted, with the time for which it was suspended.
fn boot_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now.try_into().expect("a machine is not booted before time begins")
}

/// Waits for answers, and does the shell's work meanwhile as long as they may come soon.
pub struct Hand<P: Protocol> {
    engine: Arc<engine::Engine<P>>,
    traffic: Arc<Traffic>,
}

impl<P: Protocol> std::fmt::Debug for Hand<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hand").finish_non_exhaustive()
    }
}

impl<P: Protocol + Send + 'static> Hand<P>
where
    P::Request: Send,
{
    /// Waits for an answer.
    ///
    /// # Errors
    /// Those of the channel.
    pub fn wait<T>(
        &self,
        told: &Receiver<T>,
        deadline: Deadline,
    ) -> std::result::Result<T, RecvTimeoutError> {
        match self.engine.attend(deadline, &mut || told.try_recv().ok()) {
            Some(answer) => Ok(answer),
            None => told.recv_timeout(deadline.left().unwrap_or_default()),
        }
    }

    /// What the shell has moved.
    pub(crate) fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// As [`Shell::look`], for a thread that has lost patience and wants to say why.
    pub(crate) fn glance<R: Send + 'static>(
        &self,
        most: Duration,
        look: impl FnOnce(Time, &mut P) -> R + Send + 'static,
    ) -> Option<R> {
        self.told(look).ok()?.recv_timeout(most).ok()
    }

    /// Has something done with the protocol; what comes of it will be told.
    fn told<R: Send + 'static>(
        &self,
        look: impl FnOnce(Time, &mut P) -> R + Send + 'static,
    ) -> Result<Receiver<R>> {
        let (tell, told) = mpsc::sync_channel(1);
        self.engine.ask(Command::Look(Box::new(move |now, protocol| {
            let _ = tell.send(look(now, protocol));
        })))?;
        Ok(told)
    }
}

/// A protocol that runs.
pub struct Shell<P: Protocol> {
    me: NodeId,
    service: String,
    engine: Arc<engine::Engine<P>>,
    clock: Clock,
    traffic: Arc<Traffic>,
    thread: Option<JoinHandle<()>>,
}

impl<P: Protocol + Send + 'static> Shell<P>
where
    P::Request: Send,
    P::Notice: Send,
{
    /// Starts a protocol, which is made with the shell's time. Peers come to `listener`.
    ///
    /// # Errors
    /// When a thread or a descriptor cannot be had; those of [`crate::transport::Hello::check`].
    pub fn start(
        setup: Setup,
        listener: Box<dyn Listener>,
        protocol: impl FnOnce(Time) -> P,
        handler: impl Handler<P>,
    ) -> Result<Shell<P>> {
        let clock = Clock::start();
        let inbox = Arc::new(Inbox::new()?);
        let watch = watch::Watch::new(inbox.descriptor())?;
        let protocol = protocol(clock.now());
        let traffic = Arc::new(Traffic::default());
        let open = |group| Multicast::open(group, setup.me, traffic.clone()).map(Box::new);
        let multicast = match setup.group.as_ref().map(open).transpose() {
            Ok(multicast) => multicast,
            // All goes over connections, as to all who hear nothing.
            Err(error) => traffic.no_group.set(error).map(|()| None).expect("it is set once"),
        };
        let doors = door::Doors::open(&setup, listener, inbox.clone())?;
        let (me, service) = (setup.me, setup.service.clone());
        let (patience, ways, handler) = (setup.patience, (doors, multicast), Box::new(handler));
        let runner = run::Runner::new(setup, clock, ways, traffic.clone(), protocol, handler);
        let engine = Arc::new(engine::Engine::new(runner, inbox, watch, clock, patience));
        let builder = std::thread::Builder::new().name("fabric-shell".to_owned());
        let thread = builder.spawn({
            let engine = engine.clone();
            move || engine.run()
        });
        let thread = thread.map_err(|source| Error::Exhausted { what: "threads", source })?;
        Ok(Shell { me, service, engine, clock, traffic, thread: Some(thread) })
    }

    /// Asks something of the protocol.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] while too many requests wait; [`Error::Closed`] after the end.
    pub fn request(&self, request: P::Request) -> Result<()> {
        self.engine.ask(Command::Request(request))
    }

    /// Has something done with the protocol, when all that it had to say is told; waits for what
    /// comes of it.
    ///
    /// # Errors
    /// As [`Shell::request`]; [`Error::Deadline`].
    pub fn look<R: Send + 'static>(
        &self,
        deadline: Deadline,
        look: impl FnOnce(Time, &mut P) -> R + Send + 'static,
    ) -> Result<R> {
        let told = self.hand().told(look)?;
        self.hand().wait(&told, deadline).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                let whom = format!("its own shell of the {}", self.service);
                deadline.missed(self.me, whom, "to look at the protocol")
            }
            RecvTimeoutError::Disconnected => inbox::ended(),
        })
    }

    /// Who waits for answers.
    pub fn hand(&self) -> Hand<P> {
        Hand { engine: self.engine.clone(), traffic: self.traffic.clone() }
    }

    /// What it has moved.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The clock that the protocol's times are of.
    pub fn clock(&self) -> Clock {
        self.clock
    }
}

impl<P: Protocol> Drop for Shell<P> {
    fn drop(&mut self) {
        self.engine.inbox.close();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the shell's thread has panicked");
        }
    }
}
