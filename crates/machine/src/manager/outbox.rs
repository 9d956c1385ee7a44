//! Orders that nobody waits for, in the order in which they go, and how often one is sent that does
//! not arrive. Without I/O: [`mail`](super::mail) sends them, and so does the simulator.

use crate::launch::Order;
use muster_fabric::primitive::Nodes;
use muster_fabric::protocol::Time;
use std::collections::VecDeque;
use std::time::Duration;

/// How long nodes may keep what is left of jobs that are done.
const FORGET: Duration = Duration::from_millis(100);

/// Ranks whose sessions are too many to wait for that when others are launched.
const MANY: usize = 256;

/// How long an order may take to arrive before it is sent once more.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The pause before an order is sent once more.
const PAUSE: Duration = Duration::from_millis(20);

/// How often an order is sent at most: somebody leaves each time.
const TRIES: u32 = 20;

/// The orders that are to be sent. To each belongs what is done when it has arrived, or cannot.
pub struct Outbox<T> {
    orders: VecDeque<(Nodes, Order, Option<T>)>,
    /// Done jobs, and the nodes that are to forget them.
    done: Vec<(u32, Nodes)>,
    /// Ranks of these.
    ranks: usize,
    /// When the nodes are told what is done.
    due: Option<Time>,
}

impl<T> Default for Outbox<T> {
    fn default() -> Outbox<T> {
        let (orders, done) = (VecDeque::new(), Vec::new());
        Outbox { orders, done, ranks: 0, due: None }
    }
}

/// An order that is being sent.
pub struct Sending<T> {
    /// To those of them that belong to the cluster each time.
    pub to: Nodes,
    /// The order.
    pub order: Order,
    /// What is done when it has arrived, or is given up.
    pub then: Option<T>,
    failed: u32,
    until: Time,
}

impl<T> Outbox<T> {
    /// One more order.
    pub fn push(&mut self, to: Nodes, order: Order, then: Option<T>) {
        self.orders.push_back((to, order, then));
    }

    /// A job of so many ranks is done: its nodes are told so with others.
    pub fn done(&mut self, now: Time, job: u32, nodes: Nodes, ranks: usize) {
        self.done.push((job, nodes));
        self.ranks += ranks;
        self.due.get_or_insert(now + FORGET);
    }

    /// Before another launch: what is done and takes much room is told at once. False if that is
    /// not so much.
    pub fn clear_up(&mut self, then: impl FnOnce() -> T) -> bool {
        if self.ranks < MANY {
            return false;
        }
        let Some((to, order)) = self.take_done() else { return false };
        self.push(to, order, Some(then()));
        true
    }

    /// The order that is to be sent now.
    pub fn next(&mut self, now: Time) -> Option<Sending<T>> {
        let due = self.due.is_some_and(|due| due <= now);
        let next = self.orders.pop_front();
        let next = next.or_else(|| {
            let (to, order) = if due { self.take_done()? } else { return None };
            Some((to, order, None))
        });
        let (to, order, then) = next?;
        Some(Sending { to, order, then, failed: 0, until: now + PATIENCE * TRIES })
    }

    /// When to look again although no order was added.
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// The order to forget what is done.
    fn take_done(&mut self) -> Option<(Nodes, Order)> {
        (self.due, self.ranks) = (None, 0);
        let done = std::mem::take(&mut self.done);
        let to: Nodes = done.iter().flat_map(|(_, nodes)| nodes.iter()).collect();
        let jobs = done.into_iter().map(|(job, _)| job).collect();
        (!to.is_empty()).then_some((to, Order::Forget { jobs }))
    }
}

impl<T> Sending<T> {
    /// It has not arrived: the pause before it is sent once more; none if it is given up. Somebody
    /// has just left each time that it fails. But what is refused since too much is under way (one
    /// node that stands still holds up all of it until its lease ends), or since the manager itself
    /// may not speak for a moment, is told at once, and does not count: it is sent again for as
    /// long as tries that nobody answers may take.
    pub fn failed(&mut self, now: Time, is_refused: bool) -> Option<Duration> {
        self.failed += u32::from(!is_refused);
        (self.failed < TRIES && now <= self.until).then_some(PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use muster_fabric::protocol::NodeId;

    fn sending() -> Sending<()> {
        let mut outbox = Outbox::default();
        outbox.push(Nodes::one(NodeId(3)), Order::Forget { jobs: vec![7] }, None);
        outbox.next(Time(0)).expect("there is one")
    }

    #[test]
    fn an_order_is_not_given_up_because_much_is_under_way() {
        let mut refused = sending();
        assert!((0..10 * TRIES).all(|_| refused.failed(Time(1), true).is_some()));
        let too_late = Time(0) + PATIENCE * TRIES + Duration::from_nanos(1);
        assert_eq!(refused.failed(too_late, true), None);
        let mut died = sending();
        let tries = (1..).take_while(|_| died.failed(Time(1), false).is_some()).count();
        assert_eq!(tries as u32 + 1, TRIES);
    }

    #[test]
    fn what_is_done_is_told_some_at_a_time_and_at_once_where_it_takes_much_room() {
        let mut outbox: Outbox<&str> = Outbox::default();
        let (first, other) = (Nodes::one(NodeId(1)), Nodes::one(NodeId(2)));
        outbox.done(Time(5), 1, first.clone(), 3);
        outbox.done(Time(9), 2, other, 4);
        assert!(!outbox.clear_up(|| unreachable!("it is little")));
        assert!(outbox.next(Time(9)).is_none());
        let due = outbox.due().expect("it will be told");
        assert_eq!(due, Time(5) + FORGET);
        let told = outbox.next(due).expect("it is told");
        assert_eq!(told.order, Order::Forget { jobs: vec![1, 2] });
        assert_eq!(told.to, [1, 2].into_iter().map(NodeId).collect());
        assert!(outbox.due().is_none() && outbox.next(due).is_none());
        outbox.done(due, 3, first, MANY);
        assert!(outbox.clear_up(|| "cleared"));
        assert_eq!(outbox.next(due).and_then(|told| told.then), Some("cleared"));
    }
}
