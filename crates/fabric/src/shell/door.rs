//! The threads that wait for connections: one for those who come, one for each that is being made.

use super::inbox::{Command, Connected, Inbox};
use super::{Setup, Transports, wire};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::{NodeId, Protocol};
use crate::transport::{Adapter, Hello, Lane, Listener};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long making a connection may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How soon the listening thread sees that all is to end.
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
        let transports = setup.transports;
        let mut doors = Doors { inbox, hello, transports, threads: Vec::new(), life };
        let (inbox, service) = (doors.inbox.clone(), setup.service.clone());
        doors.spawn(move || listen(listener, &service, &inbox))?;
        Ok(doors)
    }

    /// Begins to connect; the inbox will get the result.
    pub fn connect(&mut self, node: NodeId, to: Address, attempt: u64) {
        let (inbox, hello, transports) = (self.inbox.clone(), self.hello.clone(), self.transports);
        self.threads.retain(|thread| !thread.is_finished());
        let spawned = self.spawn(move || {
            let result = connect(transports, &to, &hello);
            inbox.bring(Command::Connected { node, attempt, result });
        });
        if let Err(error) = spawned {
            self.inbox.bring(Command::Connected { node, attempt, result: Err(error) });
        }
    }

    fn spawn(&mut self, work: impl FnOnce() + Send + 'static) -> Result<()> {
        let builder = std::thread::Builder::new().name("fabric-door".to_owned());
        let thread = builder.spawn(work).map_err(|error| Error::io("starting a thread", error))?;
        self.threads.push(thread);
        Ok(())
    }

    /// Waits for the threads, when the inbox is closed.
    pub fn close(&mut self) {
        self.threads.drain(..).for_each(|thread| thread.join().expect("a door does not panic"));
    }
}

fn connect(transports: Transports, to: &Address, hello: &Hello) -> Result<Option<Connected>> {
    let deadline = Deadline::after(PATIENCE);
    let mut connection = transports(to)?.connect(to, hello, deadline)?.datagram()?;
    let mut verdict = None;
    connection.take(deadline, &mut |message| verdict = wire::read_verdict(message))?;
    match verdict {
        Some((true, life)) => Ok(Some(Connected { life, connection })),
        Some((false, _)) => Ok(None),
        None => {
            let peer = connection.peer().name.clone();
            Err(Error::Malformed { peer, what: "not whether the connection is used".to_owned() })
        }
    }
}

fn listen<P: Protocol>(mut listener: Box<dyn Listener>, service: &str, inbox: &Inbox<P>) {
    while !inbox.is_closed() {
        match listener.accept(Deadline::after(LOOK)) {
            Ok(adapter) => {
                if let Some(command) = admit(adapter, service) {
                    inbox.bring(command);
                }
            }
            Err(Error::Deadline { .. }) => {}
            // Out of descriptors or memory: others may return some meanwhile.
            Err(_) => std::thread::sleep(LOOK),
        }
    }
}

/// Who comes for our service, over the right lane, as the same user and with a node's name.
fn admit<P: Protocol>(adapter: Box<dyn Adapter>, service: &str) -> Option<Command<P>> {
    let hello = adapter.hello();
    let me = rustix::process::getuid().as_raw();
    let is_ours = hello.service == service && hello.lane == Lane::System;
    if !is_ours || adapter.peer().uid.is_some_and(|uid| uid != me) {
        return None;
    }
    let (node, life) = wire::read_name(&hello.name)?;
    Some(Command::Accepted { node, life, connection: adapter.datagram().ok()? })
}
