//! The threads that wait for connections: one for those who come, one for each that is being made.

use super::inbox::{Command, Connected, Inbox};
use super::{Setup, Transports, wire};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::{NodeId, Protocol};
use crate::transport::{Adapter, Hello, Lane, Listener, Peer, Protection};
use muster_base::limits::GUESTS_MAX;
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long making a connection may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How soon the listening thread sees that all is to end while somebody has come, or where only a
/// wait tells that; and how long it waits when it cannot let him in.
const LOOK: Duration = Duration::from_millis(100);

/// Both.
pub struct Doors<P: Protocol> {
    inbox: Arc<Inbox<P>>,
    hello: Hello,
    transports: Transports,
    threads: Vec<JoinHandle<()>>,
    /// This node's life.
    pub life: u64,
}

impl<P: Protocol + Send + 'static> Doors<P>
where
    P::Request: Send,
{
    /// Begins to listen.
    pub fn open(
        setup: &Setup,
        listener: Box<dyn Listener>,
        inbox: Arc<Inbox<P>>,
    ) -> Result<Doors<P>> {
        // Every such state has keys of its own, from the system's random numbers.
        let life = RandomState::new().hash_one(std::process::id());
        let name = wire::name(setup.me, life);
        let hello = Hello { name, service: setup.service.clone(), lane: Lane::System };
        hello.check()?;
        let transports = setup.transports.clone();
        let mut doors = Doors { inbox, hello, transports, threads: Vec::new(), life };
        let (inbox, guests) = (doors.inbox.clone(), Guests::of(setup));
        doors.spawn(move || listen(listener, &guests, &inbox))?;
        Ok(doors)
    }

    /// Begins to connect; the inbox will get the result.
    pub fn connect(&mut self, node: NodeId, to: Address, attempt: u64) {
        let (inbox, hello) = (self.inbox.clone(), self.hello.clone());
        let transports = self.transports.clone();
        self.threads.retain(|thread| !thread.is_finished());
        let spawned = self.spawn(move || {
            let result = connect(&transports, node, &to, &hello);
            inbox.bring(Command::Connected { node, attempt, result });
        });
        if let Err(error) = spawned {
            self.inbox.bring(Command::Connected { node, attempt, result: Err(error) });
        }
    }

    fn spawn(&mut self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let builder = std::thread::Builder::new().name("fabric-door".to_owned());
        let exhausted = |source| Error::Exhausted { what: "threads", source };
        self.threads.push(builder.spawn(work).map_err(exhausted)?);
        Ok(())
    }
}

impl<P: Protocol> Drop for Doors<P> {
    /// Nobody comes in any more, and the listener is gone: that of a shell that did not start, too.
    fn drop(&mut self) {
        self.inbox.close();
        for thread in self.threads.drain(..) {
            assert!(thread.join().is_ok() || std::thread::panicking(), "a door does not panic");
        }
    }
}

fn connect(
    transports: &Transports,
    node: NodeId,
    to: &Address,
    hello: &Hello,
) -> Result<Option<Connected>> {
    let deadline = Deadline::after(PATIENCE);
    let adapter = transports.of(to)?.connect(to, hello, deadline)?;
    if let Err(why) = check(node, adapter.peer()) {
        return Err(Error::Untrusted { peer: to.to_string(), why });
    }
    let mut connection = adapter.datagram()?;
    let (mut verdict, mut refusal) = (None, None);
    connection.take(deadline, &mut |message| {
        (verdict, refusal) = (wire::read_verdict(message), wire::read_refusal(message));
    })?;
    let peer = || to.to_string();
    match (verdict, refusal) {
        (Some((true, life)), _) => Ok(Some(Connected { life, connection })),
        (Some((false, _)), _) => Ok(None),
        (None, Some(why)) => Err(Error::Refused { peer: peer(), why }),
        (None, None) => {
            let what = "not whether the connection is used".to_owned();
            Err(Error::Malformed { peer: peer(), what })
        }
    }
}

fn listen<P: Protocol>(mut listener: Box<dyn Listener>, guests: &Guests, inbox: &Inbox<P>) {
    loop {
        rest(&*listener, inbox.closing());
        if inbox.is_closed() {
            return;
        }
        match listener.accept(Deadline::after(LOOK)) {
            Ok(adapter) => {
                if let Some(command) = admit(adapter, guests, inbox.guests()) {
                    inbox.bring(command);
                }
            }
            Err(Error::Deadline { .. }) => {}
            // Out of descriptors or memory: others may return some meanwhile.
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// Sleeps until somebody comes or all is to end, where the listener lets one wait for that: to look
/// ten times a second took 4 % of a processor in an idle cluster of 64 nodes on one machine.
fn rest(listener: &dyn Listener, closing: BorrowedFd<'_>) {
    let descriptors = listener.descriptors();
    if listener.is_idle() && !descriptors.is_empty() {
        let waits = descriptors.into_iter().chain([closing]);
        let waits = waits.map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        // Interrupted: it is looked at again.
        let _ = poll(&mut waits.collect::<Vec<_>>(), None);
    }
}

/// Who may come in.
struct Guests {
    service: String,
    members: BTreeSet<NodeId>,
}

impl Guests {
    fn of(setup: &Setup) -> Guests {
        let members = setup.addresses.keys().copied().collect();
        Guests { service: setup.service.clone(), members }
    }

    /// Whether a node may come in from there, or why not.
    fn check(
        &self,
        (node, service): (NodeId, &str),
        peer: &Peer,
        waiting: usize,
    ) -> std::result::Result<(), String> {
        if !self.members.contains(&node) {
            return Err(format!("{node} is not in the membership list"));
        }
        check(node, peer)?;
        if waiting >= GUESTS_MAX {
            return Err(format!("{waiting} connections wait already"));
        }
        // Last: only members learn it.
        if service != self.service {
            return Err(format!("{service:?} is not its service, which is {:?}", self.service));
        }
        Ok(())
    }
}

/// Whether a peer is the node that it is said to be, as far as its transport knows. In a membership
/// list of keys nodes are named by their numbers. Whom a transport does not protect is talked to
/// within this machine only; nothing turns that off.
fn check(node: NodeId, peer: &Peer) -> std::result::Result<(), String> {
    match (&peer.member, peer.protection) {
        (Some(member), _) if member.name == node.0.to_string() => Ok(()),
        (Some(member), _) => {
            Err(format!("its key is that of member {}, not of {node}", member.name))
        }
        (None, Protection::Plain) if !peer.is_here => {
            Err("without protection only nodes of one machine talk to each other".to_owned())
        }
        (None, Protection::Local | Protection::Plain) => Ok(()),
        (None, Protection::Tls) => Err("it has shown no key".to_owned()),
    }
}

/// Lets in who comes for our service and with a member's name. Others are told why not, if they
/// are the same user's and speak like nodes: over the right lane, with a node's name.
fn admit<P: Protocol>(
    adapter: Box<dyn Adapter>,
    guests: &Guests,
    waiting: usize,
) -> Option<Command<P>> {
    let hello = adapter.hello();
    let me = rustix::process::getuid().as_raw();
    // On this machine the kernel says who it is, or nobody knows.
    let is_same = match adapter.peer().uid {
        Some(uid) => uid == me,
        None => adapter.peer().protection != Protection::Local,
    };
    if hello.lane != Lane::System || !is_same {
        return None;
    }
    let (node, life) = wire::read_name(&hello.name)?;
    let checked = guests.check((node, &hello.service), adapter.peer(), waiting);
    let mut connection = adapter.datagram().ok()?;
    match checked {
        Ok(()) => Some(Command::Accepted { node, life, connection }),
        Err(why) => {
            // It may be gone; then nobody needs to know.
            let _ = connection.try_send(&[IoSlice::new(&wire::refusal(&why))]);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::socket::{Identity, Member};

    #[test]
    fn members_come_in_from_this_machine_while_there_is_room() {
        let members = BTreeSet::from([NodeId(3)]);
        let guests = Guests { service: "talk".to_owned(), members };
        let here = Peer::new("3.1".to_owned(), Protection::Local);
        let plain = Peer::new("3.1".to_owned(), Protection::Plain);
        let loopback = Peer { is_here: true, ..plain.clone() };
        let why = |node, peer, waiting| guests.check((NodeId(node), "talk"), peer, waiting).err();
        assert_eq!(why(3, &here, 0), None);
        assert_eq!(why(3, &loopback, GUESTS_MAX - 1), None);
        for refused in [why(4, &here, 0), why(3, &plain, 0), why(3, &here, GUESTS_MAX)] {
            assert!(refused.is_some());
        }
        let other = guests.check((NodeId(3), "walk"), &here, 0).expect_err("another service");
        assert_eq!(other, "\"walk\" is not its service, which is \"talk\"");
    }

    #[test]
    fn over_tls_a_node_is_the_member_of_its_number() {
        let peer = Peer::new("3.1".to_owned(), Protection::Tls);
        let key = Identity::from_secret(&[1; 32]).public_key();
        let of = |name: &str| {
            let member = Some(Member { name: name.to_owned(), key });
            check(NodeId(3), &Peer { member, ..peer.clone() })
        };
        assert_eq!(of("3"), Ok(()));
        assert_eq!(of("4"), Err("its key is that of member 4, not of node 3".to_owned()));
        assert!(check(NodeId(3), &peer).is_err());
    }
}
