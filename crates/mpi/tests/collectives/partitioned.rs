//! Partitioned messages between two ranks in one thread.

use super::{Network, Queue, elements, numbers};
use crate::sys::Heap;
use muster_message::Endpoint;
use muster_mpi::buffer::Typed;
use muster_mpi::partitioned::{Channel, Channels, Route};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// A rank: its end, and its one channel.
struct Rank {
    endpoint: Endpoint<Queue, Typed<Heap>>,
    channels: Channels<Heap>,
    channel: Channel,
}

impl Rank {
    fn new(
        me: u32,
        network: &Rc<RefCell<Network>>,
        make: impl FnOnce(&mut Channels<Heap>, &mut Endpoint<Queue, Typed<Heap>>) -> Channel,
    ) -> Rank {
        let carrier = Queue { me: me as usize, network: Rc::clone(network) };
        let (mut endpoint, mut channels) = (Endpoint::new(me, carrier), Channels::default());
        let channel = make(&mut channels, &mut endpoint);
        Rank { endpoint, channels, channel }
    }

    fn go_on(&mut self) {
        self.endpoint.progress().unwrap();
        self.channels.advance(&mut self.endpoint, false).unwrap();
    }

    fn start(&mut self) {
        self.channels.start(&mut self.endpoint, self.channel).unwrap();
    }
}

proptest! {
    /// All rounds bring what was sent, however both sides cut it, and no part is there before the
    /// parts that it is of are ready.
    #[test]
    fn parts_come_when_they_are_ready_and_to_their_places(
        (theirs, ours, each) in (1usize..9, 1usize..9, 0usize..20),
        order in Just((0..9).collect::<Vec<usize>>()).prop_shuffle(),
        dice in any::<u64>(),
        is_late in any::<bool>(),
    ) {
        let all = theirs * ours * each;
        let network = Network::new(2, dice);
        let (from, into) = (elements(&vec![0; all]), elements(&vec![-1; all]));
        let to = Route { comm: 4, offers: 8, source: 0, tag: 3, other: 1 };
        let parts = (&from, theirs, ours * each);
        let mut sender = Rank::new(0, &network, |channels, endpoint| {
            channels.send(endpoint, (to, 10), parts).unwrap()
        });
        let route = Route { other: 0, ..to };
        let mut receiver = Rank::new(1, &network, |channels, endpoint| {
            channels.receive(endpoint, route, (into.clone(), ours)).unwrap()
        });
        for round in 0..3 {
            let sent: Vec<i64> = (0..all as i64).map(|at| round * 1000 + at).collect();
            elements(&sent).copy_to(from.clone()).unwrap();
            if !is_late {
                receiver.start();
            }
            sender.start();
            let mut ready = Vec::new();
            for part in order.iter().copied().filter(|part| *part < theirs) {
                let Rank { endpoint, channels, channel } = &mut sender;
                channels.ready(endpoint, *channel, part).unwrap();
                ready.push(part);
                for _ in 0..4 {
                    sender.go_on();
                    receiver.go_on();
                }
                for own in (0..ours).filter(|_| !is_late) {
                    let is_of = |part: &usize| part * ours < (own + 1) * theirs
                        && own * theirs < (part + 1) * ours;
                    let is_ready = (0..theirs).filter(is_of).all(|part| ready.contains(&part));
                    let arrived = receiver.channels.has_arrived(receiver.channel, own).unwrap();
                    prop_assert!(is_ready || !arrived, "part {} before its time", own);
                }
            }
            if is_late {
                receiver.start();
            }
            let mut ended = (None, None);
            for _ in 0..20_000 {
                sender.go_on();
                receiver.go_on();
                ended.0 = ended.0.or_else(|| sender.channels.poll(sender.channel));
                ended.1 = ended.1.or_else(|| receiver.channels.poll(receiver.channel));
                if ended.0.is_some() && ended.1.is_some() {
                    break;
                }
            }
            prop_assert_eq!(ended.0.expect("it has ended").unwrap(), None);
            let (envelope, size) = ended.1.expect("it has ended").unwrap().unwrap();
            prop_assert_eq!((envelope.source, envelope.tag, size), (0, 3, 8 * all));
            prop_assert_eq!(numbers(&into), sent);
        }
    }
}
