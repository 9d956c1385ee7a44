//! Nodes over TLS: their shells talk to each other, and to nobody who has another node's key.

use muster_fabric::Address;
use muster_fabric::heartbeat::{Config, Heartbeat, Notice, Request};
use muster_fabric::protocol::{NodeId, Time};
use muster_fabric::shell::{Setup, Shell, Transports};
use muster_fabric::transport::socket::{Identity, Members, Tls};
use muster_fabric::transport::{Listener, Transport};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Nodes 0 to 2, and one that has the key of node 2 and says that it is node 1.
static TRANSPORTS: LazyLock<[Tls; 3]> = LazyLock::new(|| {
    let identities = [1, 2, 3].map(|number| Identity::from_secret(&[number; 32]));
    let members = Members::default();
    for (node, identity) in identities.iter().enumerate() {
        members.pin(&node.to_string(), identity.public_key()).expect("a member");
    }
    identities.map(|identity| Tls::new(&identity, &members))
});

struct Node {
    shell: Shell<Heartbeat>,
    told: Receiver<Notice>,
}

impl Node {
    /// A node of this number, with the key of that one.
    fn start(
        me: u32,
        key: usize,
        addresses: &BTreeMap<NodeId, Address>,
        door: Box<dyn Listener>,
    ) -> Node {
        let (tell, told) = channel();
        let handler = move |_: Time, _: &Heartbeat, notice: Notice| drop(tell.send(notice));
        let setup = Setup {
            me: NodeId(me),
            service: "heartbeat".to_owned(),
            addresses: addresses.clone(),
            transports: Transports::default().with(TRANSPORTS[key].clone()),
            patience: Duration::ZERO,
            group: None,
        };
        let period = Duration::from_millis(5);
        let config = Config { period, ..Config::new(NodeId(me), NodeId(0), 1) };
        let start = |now| Heartbeat::new(config, now);
        let shell = Shell::start(setup, door, start, handler).expect("it starts");
        Node { shell, told }
    }

    fn wait(&self, what: impl Fn(&Notice) -> bool) {
        let next = || self.told.recv_timeout(Duration::from_secs(30)).expect("it is told");
        while !what(&next()) {}
    }
}

fn doors(keys: [usize; 3]) -> (Vec<Box<dyn Listener>>, BTreeMap<NodeId, Address>) {
    let at = Address::Tls("127.0.0.1".to_owned(), 0);
    let listen = |key: usize| TRANSPORTS[key].listen(&at).expect("a port");
    let doors: Vec<_> = keys.map(listen).into();
    let addresses = doors.iter().map(|door| door.address().clone());
    let addresses = (0..).map(NodeId).zip(addresses).collect();
    (doors, addresses)
}

fn begin(node: &Node) {
    let members = (0..3).map(NodeId).collect();
    node.shell.request(Request::Members { epoch: 1, members }).expect("it is taken");
}

fn is_strobe(notice: &Notice) -> bool {
    matches!(notice, Notice::Strobe { .. })
}

#[test]
fn a_heartbeat_reaches_all_nodes_over_tls() {
    let (doors, addresses) = doors([0, 1, 2]);
    let start = |(me, door)| Node::start(me, me as usize, &addresses, door);
    let nodes: Vec<_> = (0..).zip(doors).map(start).collect();
    begin(&nodes[0]);
    nodes.iter().for_each(|node| node.wait(is_strobe));
}

#[test]
fn a_node_with_another_ones_key_hears_nothing_and_is_lost() {
    // Where node 1 should be somebody listens who has the key of node 2.
    let (doors, addresses) = doors([0, 2, 2]);
    let keys = [0, 2, 2];
    let start = |((me, door), key)| Node::start(me, key, &addresses, door);
    let nodes: Vec<_> = (0..).zip(doors).zip(keys).map(start).collect();
    begin(&nodes[0]);
    nodes[2].wait(is_strobe);
    nodes[0].wait(|notice| *notice == Notice::Lost { node: NodeId(1) });
    assert!(!nodes[1].told.try_iter().any(|notice| is_strobe(&notice)));
}
