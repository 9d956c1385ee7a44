//! Who is taken for another node: it connects, and says which one it is.

use super::super::frame::Opening;
use super::super::line::{self, Kept};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::gateway::{Dial, Node, SERVICE};
use crate::transport::{self, Adapter, Hello, Lane, Listener};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Ranks of the nodes.
const RANKS: [u16; 3] = [2, 1, 1];

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// The one node's address.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> (Place, Box<dyn Listener>) {
        let folder = format!("muster-gateway-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let place = Place(folder);
        let address = format!("unix!{}/socket", place.0.display()).parse().unwrap();
        let listener = transport::of(&address).unwrap().listen(&address).unwrap();
        (place, listener)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn dial(listener: &dyn Listener) -> impl Fn(Deadline) -> Result<Box<dyn Adapter>> + use<> {
    let to = listener.address().clone();
    let hello = Hello { name: "a node".to_owned(), service: SERVICE.to_owned(), lane: Lane::Bulk };
    move |deadline| transport::of(&to)?.connect(&to, &hello, deadline)
}

/// Somebody connects to `node` as node `from`, and may be one of `nodes`: what both have of it.
fn claim(
    (node, number): (&Node, u32),
    listener: &mut dyn Listener,
    (from, epoch): (u32, u32),
    nodes: Range<u32>,
) -> (Result<Kept>, Result<()>) {
    let dial = dial(listener);
    let opening = Opening { node: from, ranks: RANKS[from as usize], epoch };
    let expected = (number, RANKS[number as usize]);
    let claims = move || line::offer(dial(soon())?, opening, expected, soon());
    let claiming = std::thread::spawn(claims);
    let adapter = listener.accept(soon()).unwrap();
    let adopted = node.door().unwrap().adopt(adapter, nodes, soon());
    (claiming.join().unwrap(), adopted)
}

#[test]
fn who_says_that_it_is_another_node_than_its_key_does_is_not_that_node() {
    let (_place, mut listener) = Place::new("claims");
    let mut node = Node::new(2, &RANKS).unwrap();
    for nodes in [0..1, 2..3, 3..4] {
        for epoch in [0, 1, 7] {
            let (claimed, adopted) = claim((&node, 2), &mut *listener, (1, epoch), nodes.clone());
            assert!(claimed.is_err(), "{nodes:?}");
            assert!(matches!(adopted, Err(Error::Malformed { .. })), "{adopted:?}");
        }
    }
    node.progress(Deadline::after(Duration::from_millis(1)));
    assert!(!node.is_connected(0) && !node.is_connected(1));
    let (claimed, adopted) = claim((&node, 2), &mut *listener, (1, 1), 1..2);
    adopted.unwrap();
    let late = soon();
    while !node.is_connected(1) {
        assert!(late.left().is_some(), "it is not connected");
        node.progress(Deadline::after(Duration::from_millis(1)));
    }
    drop(claimed.unwrap());
}

#[test]
fn what_is_none_of_the_jobs_other_nodes_is_refused_or_ignored_and_the_node_serves_on() {
    let (_place, listener) = Place::new("none");
    let mut node = Node::new(1, &RANKS).unwrap();
    let door = node.door().unwrap();
    for none in [1, 9, u32::MAX] {
        let refused = node.connect(none, listener.address(), soon()).unwrap_err().to_string();
        let why = format!("of 3 nodes this is 1: there is no other node {none}");
        assert_eq!(refused, format!("the gateway refuses: {why}"));
        node.keep_connected(none, Arc::new(dial(&*listener)));
        node.lose(none);
        door.lose(none);
        assert!(!node.is_connected(none) && !node.has_ended(none));
    }
    let serving = std::thread::spawn(move || node.serve());
    door.end();
    serving.join().expect("it does not panic");
}

#[test]
fn a_node_that_is_dialed_connects_in_no_other_way_and_holds_up_nobody() {
    let (_place, mut listener) = Place::new("dialed");
    let mut node = Node::new(0, &RANKS).unwrap();
    let (go, wait) = channel();
    let (dial, wait) = (dial(&*listener), std::sync::Mutex::new(wait));
    // It does not answer until the test says so, or for longer than anybody waits.
    let dial: Dial = Arc::new(move |deadline| {
        let waited = wait.lock().unwrap().recv_timeout(Duration::from_secs(20));
        waited.map_err(|_| Error::Refused { peer: "node 1".to_owned(), why: "late".to_owned() })?;
        dial(deadline)
    });
    node.keep_connected(1, dial);
    for epoch in [1, 2, 9] {
        let (claimed, adopted) = claim((&node, 0), &mut *listener, (1, epoch), 1..2);
        adopted.unwrap();
        node.progress(Deadline::after(Duration::from_millis(1)));
        assert!(!node.is_connected(1), "epoch {epoch}");
        drop(claimed);
    }
    let mut own = Node::new(1, &RANKS).unwrap();
    go.send(()).unwrap();
    let adapter = listener.accept(soon()).unwrap();
    own.door().unwrap().adopt(adapter, 0..1, soon()).unwrap();
    let late = soon();
    while !node.is_connected(1) || !own.is_connected(0) {
        assert!(late.left().is_some(), "they are not connected");
        node.progress(Deadline::after(Duration::from_millis(1)));
        own.progress(Deadline::after(Duration::from_millis(1)));
    }
}

/// It took long to find that out: meanwhile it has connected, and is about to do so again.
#[test]
fn who_could_not_be_asked_and_has_connected_since_is_not_given_up() {
    let (_place, mut listener) = Place::new("unasked");
    let mut node = Node::new(1, &RANKS).unwrap();
    let late = soon();
    for epoch in [1, 2] {
        let (claimed, adopted) = claim((&node, 1), &mut *listener, (0, epoch), 0..1);
        adopted.unwrap();
        let go_on = |node: &mut Node, until: bool| {
            while node.is_connected(0) != until {
                assert!(late.left().is_some(), "{until}: connection of epoch {epoch}");
                node.progress(Deadline::after(Duration::from_millis(1)));
            }
        };
        go_on(&mut node, true);
        drop(claimed.unwrap());
        go_on(&mut node, false);
        // It was tried before the first of these connections.
        node.unasked(0, 0);
    }
}
