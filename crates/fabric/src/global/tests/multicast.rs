//! Transfers by multicast over this machine's loopback interface.

use super::*;
use crate::shell::multicast::Group;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};

const ADDRESS: Ipv4Addr = Ipv4Addr::new(239, 255, 77, 1);
const LENGTH: usize = 1 << 20;

/// Of this machine's, which nobody else has.
pub fn free_port() -> u16 {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    socket.local_addr().expect("it is bound").port()
}

/// With node 0 as the root.
pub fn group(port: u16) -> Group {
    Group::new(SocketAddrV4::new(ADDRESS, port), Ipv4Addr::LOCALHOST, NodeId(0))
}

fn count(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Waits until so many have told the root that they hear it.
pub fn wait_for_hearers(root: &Member, hearers: u64) {
    let deadline = soon();
    while count(&root.traffic().hearers) != hearers {
        assert!(deadline.left().is_some(), "{:?}", root.traffic());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Starts members in a tree of arity 2, each in a group of its own choice, and waits until all know
/// of all who hear.
fn start(nodes: u32, group: impl Fn(u32) -> Option<Group>, hearers: u64) -> Vec<Member> {
    let mut place = Place::tcp();
    let all = Nodes::range(0..=nodes - 1);
    let listeners = place.listen(nodes);
    let start = |(node, listener)| {
        let me = NodeId(node);
        // Nobody is lost only because this machine is busy.
        let (beat, lease) = (Duration::from_secs(1), Duration::from_secs(60));
        let config = Config { arity: 2, beat, lease, ..config(me) };
        let setup = Setup { group: group(node), ..place.setup(me, "primitives") };
        Member::start(setup, listener, config, Begin::With(all.clone())).expect("it starts")
    };
    let members: Vec<_> = (0..nodes).zip(listeners).map(start).collect();
    wait_for_hearers(&members[0], hearers);
    // Over each connection of the tree something comes after that.
    let asked = (0, Relation::Equal, 0);
    assert!(members[0].compare_and_write(&all, asked, None, soon()).expect("asked"));
    members
}

/// Has node `from` put data everywhere, and looks whether it is there.
fn put(members: &[Member], from: usize, seed: usize) {
    let all = Nodes::range(0..=members.len() as u32 - 1);
    let data: Vec<u8> = (0..LENGTH).map(|at| ((at + seed) % 251) as u8).collect();
    let transfer = members[from].xfer_and_signal(&all, (0, 0), data.clone(), Some(1), None);
    transfer.expect("asked").wait(soon()).expect("it is done");
    let mut read = vec![0; LENGTH];
    for (node, member) in members.iter().enumerate() {
        member.wait_event(1, seed as u64, soon()).expect("it is signalled");
        member.read(0, 0, &mut read).expect("it is a member");
        assert!(read == data, "node {node}");
    }
}

// How often a body leaves the root, and what is repaired, depends on how busy this machine is: the
// tests of `shell/multicast/` count that, in a network without time. The first body is certain.

#[test]
fn a_transfer_goes_by_multicast_to_however_many_get_it() {
    let port = free_port();
    let members = start(10, |_| Some(group(port)), 9);
    let cast = count(&members[0].traffic().cast);
    (0..8).for_each(|seed| put(&members, 0, seed));
    assert!(count(&members[0].traffic().cast) - cast > LENGTH as u64);
}

#[test]
fn another_ones_transfer_goes_to_the_root_and_from_there_to_all_at_once() {
    let port = free_port();
    let members = start(4, |_| Some(group(port)), 3);
    let cast = count(&members[0].traffic().cast);
    put(&members, 3, 0);
    assert!(count(&members[0].traffic().cast) - cast > LENGTH as u64);
}

#[test]
fn what_is_lost_on_the_way_is_repaired() {
    let port = free_port();
    // By the low byte of the number: each third.
    let loses = |datagram: &[u8]| datagram[8].is_multiple_of(3);
    let members = start(7, |_| Some(Group { loses, ..group(port) }), 6);
    (0..4).for_each(|seed| put(&members, 0, seed));
    for member in &members[1..] {
        let repaired = count(&member.traffic().repaired);
        assert!(repaired > LENGTH as u64 / 4, "{repaired} of 4 MiB");
    }
}

#[test]
fn sockets_that_hold_little_do() {
    let port = free_port();
    // Twice as much is granted: 60 datagrams, a window of 80 KB.
    let members = start(7, |_| Some(Group { buffer: 1 << 17, ..group(port) }), 6);
    let cast = count(&members[0].traffic().cast);
    (0..4).for_each(|seed| put(&members, 0, seed));
    assert!(count(&members[0].traffic().cast) - cast > LENGTH as u64);
}

#[test]
fn when_all_is_lost_but_the_probe_all_comes_by_repair() {
    let port = free_port();
    let loses = |datagram: &[u8]| datagram.len() > 48;
    let members = start(4, |_| Some(Group { loses, ..group(port) }), 3);
    (0..2).for_each(|seed| put(&members, 0, seed));
    for member in &members[1..] {
        assert!(count(&member.traffic().repaired) >= LENGTH as u64);
    }
}

#[test]
fn who_hears_nothing_gets_it_down_the_tree_and_so_does_who_has_no_group() {
    let (port, other) = (free_port(), free_port());
    // Node 1 is an inner one.
    let member = |node| match node {
        1 => Some(group(other)),
        2 => None,
        _ => Some(group(port)),
    };
    let members = start(7, member, 4);
    (0..4).for_each(|seed| put(&members, 0, seed));
    assert_eq!(count(&members[1].traffic().heard), 0);
}

#[test]
fn a_group_that_cannot_be_used_is_told_of_and_all_goes_down_the_tree() {
    // Nobody has this interface (RFC 5737).
    let interface = Ipv4Addr::new(192, 0, 2, 1);
    let none = Group { interface, ..group(free_port()) };
    let members = start(4, |_| Some(none.clone()), 0);
    put(&members, 0, 0);
    for member in &members {
        let error = member.traffic().no_group.get().expect("it says why");
        assert!(error.to_string().contains("192.0.2.1"), "{error}");
    }
}

#[test]
fn garbage_in_the_group_is_counted_and_changes_nothing() {
    let port = free_port();
    let members = start(4, |_| Some(group(port)), 3);
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    rustix::net::sockopt::set_ip_multicast_if(&stranger, &Ipv4Addr::LOCALHOST).expect("it is one");
    let mut garbage = vec![0; 1392];
    garbage[24..28].copy_from_slice(&(LENGTH as u32).to_le_bytes());
    let last: Vec<u64> =
        members[1..].iter().map(|member| count(&member.traffic().ignored)).collect();
    let say = || {
        for bytes in [&garbage[..], &[], b"x", &[0xff; 48], &[7; 9000]] {
            stranger.send_to(bytes, (ADDRESS, port)).expect("it is sent");
        }
    };
    for seed in 0..4 {
        say();
        put(&members, 0, seed);
    }
    let deadline = soon();
    for (member, last) in members[1..].iter().zip(last) {
        // Some of it may have come to a full socket.
        while count(&member.traffic().ignored) < last + 20 {
            assert!(deadline.left().is_some(), "{:?}", member.traffic());
            std::thread::sleep(Duration::from_millis(1));
            say();
        }
    }
}
