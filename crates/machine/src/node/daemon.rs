//! The node daemon as a process: serves its tree, and tells the manager that it is there.

use super::gateway::Desk;
use super::orders::Orders;
use super::processor::Processor;
use super::vote::Booth;
use super::{Node, Setup, beat, tree};
use crate::descriptors;
use crate::keeper::{Directory, Presence};
use crate::line::{self, Door};
use crate::memory::{Memory, id_of};
use crate::roster::{MANAGER, Roster, listening};
use crate::strober::least_slice;
use crate::strober::place::Place;
use muster_base::quote;
use muster_fabric::primitive::Nodes;
use muster_fabric::{Address, Deadline};
use muster_ninep::client::Options;
use muster_ninep::error::Result;
use muster_ninep::serve::{Server, same_user};
use muster_ninep::tree::OpenFlags;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// How long the manager may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// How long to wait at once for the manager to take this node into the global memory.
const MEMBER: Duration = Duration::from_secs(60);

/// Pauses between attempts to reach a manager that is not there: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));

/// Runs node `name` of the cluster in `directory`, with that processor, until its lifeline,
/// standard input, ends.
///
/// # Errors
/// When the directory or its socket cannot be used.
pub fn run(directory: &Path, name: &str, processor: Processor) -> io::Result<()> {
    let directory = Directory::at(directory).map_err(io::Error::other)?;
    // It has some for each rank. With fewer it runs fewer.
    let _ = descriptors::take_all();
    let presence = Presence::enter(&directory).map_err(io::Error::other)?;
    let roster = Roster::of(&directory)?;
    roster.enter_node(name)?;
    let reached = |node| roster.line(node).ok_or_else(|| io::Error::other("it is no member"));
    let me = id_of(name).ok_or_else(|| io::Error::other(format!("{name} is no node")))?;
    let (address, manager) = (reached(me)?, reached(MANAGER)?);
    let node = Node::start(Setup {
        name: name.to_owned(),
        address: address.to_string(),
        directory: directory.path().join(name),
        group: directory.group(name),
        home: directory.path().to_owned(),
        roster: roster.clone(),
        place: Place::of(&directory),
        processor,
    })?;
    node.prepare()?;
    let desk = Desk::open(&node)?;
    let memory = Arc::new(Memory::join(&roster, name)?);
    let booth = Booth::open(&node, &memory)?;
    let orders = Orders::serve(&node, &memory)?;
    beat::follow(&node, &memory)?;
    let server = Arc::new(Server::start(&Arc::new(tree::of(&node)), 1, same_user)?);
    let others = Desk::others(&node);
    let door = Door::open_also(&listening(address.clone()), server.clone(), others)?;
    let line = format!(
        "join {} {} {} {} {}\n",
        quote::quote(name),
        quote::quote(&address.to_string()),
        node.instance,
        node.setup.processor.name,
        least_slice(directory.path()).as_micros()
    );
    let from = name.to_owned();
    let (own, joining) = (memory.clone(), node.clone());
    let join = move || {
        // Ranks that are placed on this node are ordered at once.
        let me = Nodes::one(own.me());
        while let Err(error) = own.await_members(&me, Deadline::after(MEMBER)) {
            let _ = writeln!(io::stderr(), "{from}: {error}");
        }
        keep_joined(&joining, &manager, &line);
    };
    std::thread::Builder::new().name("join".into()).spawn(join)?;
    // Nothing is ever written to the lifeline.
    io::stdin().lock().read_to_end(&mut Vec::new())?;
    drop(door);
    drop(server);
    drop(orders);
    drop(booth);
    drop(desk);
    node.shut_down();
    presence.leave(&directory).map_err(io::Error::other)?;
    Ok(())
}

/// Joins, and joins again whenever the manager was gone, or says that it has lost this node.
fn keep_joined(node: &Node, manager: &Address, line: &str) {
    let mut pause = PAUSES.0;
    loop {
        if join(node, manager, line).is_ok() {
            pause = PAUSES.0;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// Joins, and returns when the connection has ended, or is of no more use.
fn join(node: &Node, manager: &Address, line: &str) -> Result<()> {
    let name = &node.setup.name;
    let options = Options { deadline: Some(ANSWER), ..Options::default() };
    let client = line::connect(name, manager, options)?.with_deadlines(Some(ANSWER), Some(ANSWER));
    let (told, ended) = mpsc::channel::<()>();
    node.joins_again_by(told.clone());
    client.on_close(move |_| {
        // Nobody listens any more if it was told to join again.
        let _ = told.send(());
    });
    let ctl = client.root().walk(&[b"ctl"])?;
    ctl.open(OpenFlags(OpenFlags::WRONLY))?;
    ctl.write_at(0, line.as_bytes())?;
    let _ = ended.recv();
    Ok(())
}
