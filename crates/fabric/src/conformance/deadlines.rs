//! Promises about waits in vain: they end, and say why. When is not asked: only that it is not
//! never.

use super::{Subject, hello, late, listen, meet, meet_at, not_applicable, soon, until};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{
    ActiveMessage, Datagram, Handler, Handlers, Ready, RemoteCopy, Stream, Wait,
};
use crate::transport::{Lane, Listener};
use std::io::IoSlice;
use std::time::Duration;

/// What a peer that does not read may make this side hold: of bytes and calls no more than of
/// messages.
const HELD_MAX: usize = 64 << 20;

/// More connections than wait to be accepted anywhere.
const CROWD: usize = 1000;

fn brief() -> Deadline {
    Deadline::after(Duration::from_millis(20))
}

/// Whether it ended because its deadline has passed.
fn is_late<T>(ended: Result<T>) -> bool {
    match ended {
        Ok(_) => false,
        Err(Error::Deadline { who, whom, .. }) => {
            assert!(!who.is_empty() && !whom.is_empty(), "who has waited for whom?");
            true
        }
        Err(error) => panic!("a wait in vain ended otherwise: {error}"),
    }
}

/// Who accepts nobody is told so at the deadline, also at one that has passed, and goes on.
pub fn accepting_ends_at_its_deadline(subject: &impl Subject) {
    let mut listener = listen(subject);
    for deadline in [Deadline::now(), brief(), brief()] {
        assert!(is_late(listener.accept(deadline)), "nobody has connected");
    }
    drop(meet_at(subject, &mut *listener, Lane::Bulk));
    assert!(is_late(listener.accept(Deadline::now())), "nobody else has connected");
}

/// Who connects is told at the deadline that nobody accepts; the next one is served. Where
/// connections wait in a queue that needs nobody, it is told so when that is full.
pub fn connecting_to_one_who_accepts_nobody_ends_at_its_deadline(subject: &impl Subject) {
    let mut listener = listen(subject);
    let address = listener.address().clone();
    let mut waiting = Vec::new();
    loop {
        let connected = subject.transport().connect(&address, &hello(Lane::Bulk), brief());
        match connected {
            Ok(end) => waiting.push(end),
            failed => break assert!(is_late(failed)),
        }
        if waiting.len() == CROWD {
            let promise = "connecting_to_one_who_accepts_nobody_ends_at_its_deadline";
            return not_applicable(subject, promise, "so many are connected that nobody accepts");
        }
    }
    drop(waiting);
    served(subject, &mut *listener);
}

/// Whoever gave up may stand at the door still.
fn served(subject: &impl Subject, listener: &mut dyn Listener) {
    until(soon(), "more come than have connected", || {
        is_late(listener.accept(Deadline::after(Duration::from_millis(200))).map(drop))
    });
    drop(meet_at(subject, listener, Lane::Bulk));
}

struct Nobody;

impl Handlers for Nobody {
    fn handle(
        &mut self,
        _: Handler,
        _: &[u8],
        _: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        Err("nobody calls".to_owned())
    }
}

/// A wait in vain, of whatever strategy, ends at its deadline, and harms nothing.
pub fn waits_end_at_their_deadlines(subject: &impl Subject) {
    messages_are_not_waited_for_longer(subject);
    bytes_are_not_waited_for_longer(subject);
    calls_are_not_waited_for_longer(subject);
    copies_are_not_waited_for_longer(subject);
}

/// Waits may return early, and end with their deadline at last.
fn ends(subject: &impl Subject, mut wait: impl FnMut() -> Result<()>) {
    until(late(subject), "a wait in vain does not end at its deadline", || is_late(wait()));
}

fn messages_are_not_waited_for_longer(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    ends(subject, || one.wait(Ready::Receive, brief()));
    ends(subject, || other.take(brief(), &mut |_| panic!("nothing was sent")));
    other.send(&[IoSlice::new(b"goes on")], soon()).unwrap();
    one.take(soon(), &mut |message| assert_eq!(message, b"goes on")).unwrap();
}

fn bytes_are_not_waited_for_longer(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut from, mut to) = (connected.stream().unwrap(), accepted.stream().unwrap());
    for deadline in [Deadline::now(), brief()] {
        assert!(is_late(to.read(&mut [0; 10], deadline)), "nothing was written");
    }
    let (piece, mut held) = (vec![7; 1 << 20], 0);
    while !is_late(from.write(&piece, brief())) {
        held += piece.len();
        assert!(held <= HELD_MAX, "{held} bytes are held that nobody reads");
    }
    until(late(subject), "nothing comes of what was written", || {
        from.try_flush().unwrap();
        matches!(to.try_read(&mut [0; 10]), Ok(1..))
    });
    // Or the other one would wait for its reader when it goes.
    drop(to);
}

fn calls_are_not_waited_for_longer(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let mut from = connected.active_message().unwrap();
    let mut to = accepted.active_message().unwrap();
    ends(subject, || {
        assert_eq!(to.try_progress(&mut Nobody).unwrap(), 0);
        to.wait(Ready::Receive, brief())
    });
    let (arguments, mut held) = (vec![7; from.limit().min(100_000)], 0);
    ends(subject, || {
        // A refusal may be followed by room.
        while from.try_call(1, &[IoSlice::new(&arguments)]).is_ok() {
            held += arguments.len();
            assert!(held <= HELD_MAX, "{held} bytes are held that nobody takes");
        }
        from.wait(Ready::Send, brief())
    });
    drop(to);
}

fn copies_are_not_waited_for_longer(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let mut both = [connected, accepted].map(|end| end.remote_copy().unwrap());
    for end in &mut both {
        ends(subject, || {
            assert!(end.try_progress().unwrap().is_none(), "nobody has asked for anything");
            end.wait(Ready::Receive, brief())
        });
    }
}
