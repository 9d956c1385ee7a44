//! What every transport promises, as tests: one function for each promise, run for each transport.
//!
//! A transport is a [`Subject`], and [`crate::conformance!`] makes its tests; see
//! `tests/conformance/`. Promises about bytes that are not ours need a way to say such bytes
//! ([`Subject::raw`]); promises about processes start the test program again as a child
//! ([`child()`]). Where a promise means nothing for a transport, its test says so in a line that
//! begins with `not applicable`. No promise is about time: deadlines here only end a test that
//! hangs. That what breaks a promise is seen is tested in `tests/liars.rs`.
//!
//! This module is there with the feature `conformance`, which only tests turn on:
//! `muster-fabric = { ..., features = ["conformance"] }` among the dev-dependencies. Then a file of
//! tests for a transport is this:
//!
//! ```
//! use muster_fabric::Address;
//! use muster_fabric::conformance::{self, Subject};
//! use muster_fabric::transport::{Transport, process::Process};
//! use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
//!
//! struct Threads(Process);
//!
//! impl Subject for Threads {
//!     fn transport(&self) -> &dyn Transport {
//!         &self.0
//!     }
//!
//!     fn address(&self) -> Address {
//!         static NEXT: AtomicU32 = AtomicU32::new(0);
//!         Address::Process(format!("example-{}", NEXT.fetch_add(1, Relaxed)))
//!     }
//! }
//!
//! muster_fabric::conformance!(Threads(Process::default())); // All promises, a test for each.
//!
//! # fn main() {
//! // One of them alone, as those do who look for what breaks it.
//! conformance::messages_come_in_order(&Threads(Process::default()));
//! # }
//! ```

mod bytes;
mod calls;
mod child;
mod connection;
mod copies;
mod deadlines;
mod hostile;
mod message;
mod queue;
mod readiness;

pub use bytes::bytes_end_where_the_writer_ends_them;
pub use bytes::bytes_in_several_places_come_as_one;
pub use bytes::the_end_of_bytes_waits_no_longer_than_its_deadline;
pub use bytes::{a_socket_below_carries_the_bytes, what_was_read_is_delivered};
pub use calls::{calls_are_carried_out_in_order, what_was_called_and_flushed_is_carried_out};
pub use child::{a_killed_peer_is_dead, child, exhausted_descriptors_are_an_error_that_passes};
pub use connection::a_name_is_heard_as_a_hello_says_it;
pub use connection::a_service_that_no_hello_can_say_is_refused_at_once;
pub use connection::{
    a_foreign_address_is_unsupported, an_address_where_somebody_listens_is_taken,
    nobody_there_is_a_refusal,
};
pub use connection::{a_full_bulk_lane_does_not_hold_up_the_system_lane, many_have_one_listener};
pub use connection::{both_know_each_other, dropping_the_listener_leaves_what_was_accepted};
pub use copies::{a_put_after_the_end_is_told_of_it, a_withdrawn_region_is_out_of_reach};
pub use copies::{copies_respect_rights_and_bounds, large_copies_arrive};
pub use deadlines::connecting_to_one_who_accepts_nobody_ends_at_its_deadline;
pub use deadlines::{accepting_ends_at_its_deadline, waits_end_at_their_deadlines};
pub use hostile::{a_crowd_is_accepted, another_version_is_told_so};
pub use hostile::{a_cut_message_is_a_death, a_lying_length_ends_its_connection_alone};
pub use hostile::{garbage_is_no_hello, silent_connectors_hold_up_nobody};
pub use message::a_message_comes_unless_its_sender_was_told_that_it_is_late;
pub use message::{a_deadline_says_who_waits_for_whom, a_peer_that_stops_reading_takes_little};
pub use message::{an_orderly_end_comes_after_the_last_message, messages_come_in_order};
pub use message::{
    messages_of_all_sizes_stay_whole, what_was_flushed_comes_though_its_sender_is_gone,
};
pub use queue::{what_is_kept_is_what_would_be_taken, what_was_queued_comes_whole_and_in_order};
pub use readiness::a_descriptor_tells_of_copies;
pub use readiness::a_descriptor_tells_of_what_came_during_a_send;
pub use readiness::a_glance_sees_what_has_come;
pub use readiness::who_believes_that_nothing_is_left_misses_nothing;
pub use readiness::{a_descriptor_tells_of_what_comes, a_listener_tells_who_comes};

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::Error;
use crate::transport::{Adapter, Hello, Lane, Listener, Transport};
use muster_base::limits::HELLOS_MAX;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

/// A transport to be tested.
pub trait Subject: Sync {
    /// The transport.
    fn transport(&self) -> &dyn Transport;

    /// An address at which nobody listens and nobody else will.
    fn address(&self) -> Address;

    /// A way to send a listener any bytes, where it takes its hellos from a byte stream. Reads
    /// have to end by themselves after some seconds.
    fn raw(&self, at: &Address) -> Option<Box<dyn Raw>> {
        let _ = at;
        None
    }

    /// Whether a hello and its answer make a connection, on which frames follow.
    fn is_framed(&self) -> bool {
        !self.transport().capabilities().native.datagram
    }

    /// How many connect at once: more than may wait at the door, where a connection costs little.
    fn crowd(&self) -> usize {
        HELLOS_MAX + 40
    }

    /// An address that is another transport's.
    fn foreign(&self) -> Address {
        match self.transport().scheme() {
            "tcp" => Address::Process("a".to_owned()),
            _ => Address::Tcp("127.0.0.1".to_owned(), 1),
        }
    }

    /// How long nothing is told of what has come until that is a promise broken. Less is for those
    /// who know that it will be broken, and want to see that this is seen.
    fn patience(&self) -> Duration {
        PATIENCE
    }
}

/// A connection of which the other end trusts nothing.
pub trait Raw: Read + Write + Send {}
impl<T: Read + Write + Send> Raw for T {}

/// Makes the tests of one transport: of an expression that makes its [`Subject`].
#[macro_export]
macro_rules! conformance {
    ($subject:expr) => {
        $crate::conformance!($subject =>
            messages_of_all_sizes_stay_whole
            messages_come_in_order
            a_peer_that_stops_reading_takes_little
            what_was_queued_comes_whole_and_in_order
            what_is_kept_is_what_would_be_taken
            a_descriptor_tells_of_what_comes
            a_descriptor_tells_of_copies
            a_descriptor_tells_of_what_came_during_a_send
            who_believes_that_nothing_is_left_misses_nothing
            a_glance_sees_what_has_come
            a_message_comes_unless_its_sender_was_told_that_it_is_late
            a_deadline_says_who_waits_for_whom
            what_was_flushed_comes_though_its_sender_is_gone
            an_orderly_end_comes_after_the_last_message
            bytes_end_where_the_writer_ends_them
            the_end_of_bytes_waits_no_longer_than_its_deadline
            bytes_in_several_places_come_as_one
            what_was_read_is_delivered
            a_socket_below_carries_the_bytes
            calls_are_carried_out_in_order
            what_was_called_and_flushed_is_carried_out
            large_copies_arrive
            copies_respect_rights_and_bounds
            a_withdrawn_region_is_out_of_reach
            a_put_after_the_end_is_told_of_it
            waits_end_at_their_deadlines
            accepting_ends_at_its_deadline
            connecting_to_one_who_accepts_nobody_ends_at_its_deadline
            a_listener_tells_who_comes
            both_know_each_other
            many_have_one_listener
            a_full_bulk_lane_does_not_hold_up_the_system_lane
            dropping_the_listener_leaves_what_was_accepted
            nobody_there_is_a_refusal
            an_address_where_somebody_listens_is_taken
            a_service_that_no_hello_can_say_is_refused_at_once
            a_name_is_heard_as_a_hello_says_it
            a_foreign_address_is_unsupported
            garbage_is_no_hello
            another_version_is_told_so
            silent_connectors_hold_up_nobody
            a_crowd_is_accepted
            a_lying_length_ends_its_connection_alone
            a_cut_message_is_a_death
        );

        #[test]
        fn a_killed_peer_is_dead() {
            let child = concat!(module_path!(), "::child");
            $crate::conformance::a_killed_peer_is_dead(&$subject, child);
        }

        #[test]
        fn exhausted_descriptors_are_an_error_that_passes() {
            let child = concat!(module_path!(), "::child");
            $crate::conformance::exhausted_descriptors_are_an_error_that_passes(&$subject, child);
        }

        /// What the two above start again as a process of its own; by itself it does nothing.
        #[test]
        fn child() {
            $crate::conformance::child(&$subject);
        }
    };
    ($subject:expr => $($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                $crate::conformance::$name(&$subject);
            }
        )*
    };
}

/// What hangs has hung for so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Ends what hangs.
fn soon() -> Deadline {
    Deadline::after(PATIENCE)
}

/// As long as a subject wants to be waited for until it has broken a promise.
fn late(subject: &impl Subject) -> Deadline {
    Deadline::after(subject.patience())
}

/// Tries again until it is so.
fn until(late: Deadline, otherwise: &str, mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        assert!(late.left().is_some(), "{otherwise}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Says that a promise means nothing here. Past the tests' harness, which shows nothing of what a
/// good test prints: a promise that nobody looked at must not look like one that was kept.
fn not_applicable(subject: &impl Subject, promise: &str, why: &str) {
    let scheme = subject.transport().scheme();
    let line = format!("not applicable: {promise} of {scheme}: {why}\n");
    // Where nobody can be told, nobody looks.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn hello(lane: Lane) -> Hello {
    Hello { name: "connector".to_owned(), service: "conformance".to_owned(), lane }
}

fn listen(subject: &impl Subject) -> Box<dyn Listener> {
    subject.transport().listen(&subject.address()).expect("an address of its own")
}

/// Connects and accepts: the connector's end, and the listener's.
fn meet_at(
    subject: &impl Subject,
    listener: &mut dyn Listener,
    lane: Lane,
) -> (Box<dyn Adapter>, Box<dyn Adapter>) {
    let address = listener.address().clone();
    thread::scope(|scope| {
        let connect = || subject.transport().connect(&address, &hello(lane), soon());
        let connected = scope.spawn(connect);
        let accepted = listener.accept(soon()).expect("somebody connects");
        (connected.join().expect("no panic").expect("somebody accepts"), accepted)
    })
}

/// Two ends of a new connection.
fn meet(subject: &impl Subject) -> (Box<dyn Adapter>, Box<dyn Adapter>) {
    meet_at(subject, &mut *listen(subject), Lane::Bulk)
}

/// Bytes that differ from place to place.
fn pattern(size: usize, seed: usize) -> Vec<u8> {
    (0..size).map(|at| ((at / 251) ^ at ^ seed) as u8).collect()
}

/// Runs both ends' parts at the same time.
fn together<A: Send, B: Send>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().expect("no panic"), other)
    })
}

fn is_end(error: &Error) -> bool {
    matches!(error, Error::Closed { .. } | Error::Dead { .. })
}
