//! Promises about how one is told that something has come, as those are who wait for many ends at
//! once.
//!
//! They ask for the descriptor, try in vain and sleep in poll(2): some ends tell only of what comes
//! after such a try. Like a wait, a descriptor may tell of nothing, but not without end.

use super::message::flush;
use super::{Subject, hello, is_end, late, listen, meet, not_applicable, soon, together, until};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::region::{Region, Rights};
use crate::strategy::{
    ActiveMessage, Completion, Datagram, Handler, Handlers, Ready, RemoteCopy, Stream, Wait,
};
use crate::transport::hello as wire;
use crate::transport::socket::is_ready;
use crate::transport::{Adapter, Lane, Listener};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::IoSlice;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// An end of a strategy that receives.
trait Reader: Wait {
    /// Takes what is there first; false where there is nothing.
    fn look(&mut self) -> Result<bool>;
    /// Sends a little, and sees it off.
    fn say(&mut self);
}

impl Reader for Box<dyn Datagram> {
    fn look(&mut self) -> Result<bool> {
        match self.try_take(&mut |_| ()) {
            Err(Error::WouldBlock) => Ok(false),
            taken => taken.map(|()| true),
        }
    }

    fn say(&mut self) {
        self.send(&[IoSlice::new(b"x")], soon()).unwrap();
        flush(&mut **self);
    }
}

impl Reader for Box<dyn Stream> {
    fn look(&mut self) -> Result<bool> {
        match self.try_read(&mut [0; 10]) {
            Err(Error::WouldBlock) => Ok(false),
            Ok(0) => Err(Error::Closed { peer: self.peer().to_string() }),
            read => read.map(|_| true),
        }
    }

    fn say(&mut self) {
        self.write(b"x", soon()).unwrap();
    }
}

/// Carries everything out, which is nothing.
struct Idle;

impl Handlers for Idle {
    fn handle(
        &mut self,
        _: Handler,
        _: &[u8],
        _: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        Ok(())
    }
}

impl Reader for Box<dyn ActiveMessage> {
    fn look(&mut self) -> Result<bool> {
        Ok(self.try_progress(&mut Idle)? > 0)
    }

    fn say(&mut self) {
        self.try_call(1, &[IoSlice::new(b"x")]).expect("little is under way");
        while !self.try_flush().unwrap() {
            self.wait(Ready::Send, soon()).unwrap();
        }
    }
}

/// Whether the descriptor tells of something, now or within so long. It may end early.
fn is_told(end: &impl Wait, most: Duration) -> bool {
    let descriptor = end.descriptor().expect("it had a descriptor before");
    is_ready(descriptor, PollFlags::IN, most).unwrap()
}

/// Makes sure that nothing is there and nothing told of.
fn quiet(end: &mut impl Reader, late: Deadline) {
    until(late, "the descriptor goes on to tell of what is not there", || {
        assert!(end.descriptor().is_some(), "it had a descriptor before");
        assert!(!end.look().unwrap(), "nothing was sent");
        !is_told(end, Duration::ZERO)
    });
}

/// Sleeps until the descriptor tells of something that is there, and takes it.
fn told(end: &mut impl Reader, late: Deadline) -> Result<()> {
    loop {
        let left = late.left().expect("the descriptor tells of what has come");
        if is_told(end, left) && end.look()? {
            return Ok(());
        }
    }
}

/// A descriptor tells of what comes, each time, and of the peer's end, and of nothing when all was
/// taken.
pub fn a_descriptor_tells_of_what_comes(subject: &impl Subject) {
    let mut tell = Vec::new();
    for connector_reads in [true, false] {
        let (connected, accepted) = meet(subject);
        let (one, other) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
        let (to, from) = if connector_reads { (one, other) } else { (other, one) };
        tell.push(tells(subject, to, from));
        let (connected, accepted) = meet(subject);
        let (one, other) = (connected.stream().unwrap(), accepted.stream().unwrap());
        let (to, from) = if connector_reads { (one, other) } else { (other, one) };
        tell.push(tells(subject, to, from));
        let (connected, accepted) = meet(subject);
        let (one, other) =
            (connected.active_message().unwrap(), accepted.active_message().unwrap());
        let (to, from) = if connector_reads { (one, other) } else { (other, one) };
        tell.push(tells(subject, to, from));
    }
    if tell.contains(&false) {
        let why = "ends of some or all strategies have no descriptor";
        not_applicable(subject, "a_descriptor_tells_of_what_comes", why);
    }
}

/// Whether there is a descriptor, which then tells.
fn tells<E: Reader>(subject: &impl Subject, mut to: E, mut from: E) -> bool {
    if to.descriptor().is_none() {
        return false;
    }
    for _ in 0..3 {
        quiet(&mut to, late(subject));
        together(|| from.say(), || told(&mut to, late(subject)).unwrap());
    }
    quiet(&mut to, late(subject));
    let ((), end) = together(move || drop(from), || told(&mut to, late(subject)));
    let end = end.expect_err("nothing more was sent");
    assert!(is_end(&end), "{end}");
    true
}

/// The next operation that has ended; this end sleeps in poll(2) until it is told, but only for a
/// moment while something has no room: that is not told of.
fn completion(end: &mut Box<dyn RemoteCopy>, late: Deadline) -> Result<Completion> {
    loop {
        // It may tell of what comes after the next try in vain only.
        let _ = end.descriptor();
        if let Some(completion) = end.try_progress()? {
            return Ok(completion);
        }
        if !end.try_flush()? {
            is_told(end, Duration::from_millis(1));
            continue;
        }
        while !is_told(end, late.left().expect("the descriptor tells of what has ended")) {}
    }
}

/// A descriptor tells who has asked for copies when they have ended, and the owner of the memory
/// when something is to be done for them.
pub fn a_descriptor_tells_of_copies(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut end, mut owner) = (connected.remote_copy().unwrap(), accepted.remote_copy().unwrap());
    if end.descriptor().is_none() || owner.descriptor().is_none() {
        let why = "remote copies have no descriptor";
        return not_applicable(subject, "a_descriptor_tells_of_copies", why);
    }
    let key = owner.expose(&Region::new(1_000_000, Rights::ALL)).unwrap();
    let ask = move || {
        for round in 0..3u8 {
            // Much, and little behind it.
            let (bytes, token) = (vec![round; 500_000], u64::from(round) * 3);
            end.try_put(key, 0, &bytes, token).unwrap();
            end.try_get(key, 1, bytes.len() - 1, token + 1).unwrap();
            end.try_get(key, 0, 1, token + 2).unwrap();
            let mut next = || completion(&mut end, late(subject)).unwrap();
            let ended = [next(), next(), next()];
            assert_eq!(ended.each_ref().map(|ended| ended.token), [0, 1, 2].map(|it| token + it));
            assert!(ended[1].bytes == bytes[1..] && ended[2].bytes == [round], "other bytes");
        }
    };
    let ((), end) = together(ask, || completion(&mut owner, late(subject)));
    let end = end.map(drop).expect_err("the owner has asked for nothing");
    assert!(is_end(&end), "{end}");
}

/// What comes while this end sends is told of as well: a send that takes in what is there, to make
/// room, does not take it away from the descriptor.
pub fn a_descriptor_tells_of_what_came_during_a_send(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut one, mut other) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    if one.descriptor().is_none() {
        let promise = "a_descriptor_tells_of_what_came_during_a_send";
        return not_applicable(subject, promise, "messages have no descriptor");
    }
    let size = one.limit().min(100_000);
    let fill = |end: &mut Box<dyn Datagram>| {
        while end.try_fill(size, &mut |buffer| buffer.fill(7)).is_ok() {}
    };
    quiet(&mut one, late(subject));
    fill(&mut one);
    let say = || {
        other.say();
        other
    };
    let (_other, ()) = together(say, || {
        // Time for it to come, in which this end does not look for it.
        let moment = Deadline::after(Duration::from_millis(50));
        while moment.left().is_some() {
            fill(&mut one);
            one.try_flush().unwrap();
            match one.wait(Ready::Send, Deadline::after(Duration::from_millis(1))) {
                // It may return early.
                Ok(()) => thread::sleep(Duration::from_millis(1)),
                Err(Error::Deadline { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        told(&mut one, late(subject)).unwrap();
    });
}

/// Takes messages as one does who believes an end that says that nothing is left there.
struct Believer {
    end: Box<dyn Datagram>,
    /// Nothing is there, as far as it was said.
    is_drained: bool,
    /// Whether it sleeps in poll(2), not in a wait.
    polls: bool,
}

impl Believer {
    fn take(&mut self, late: Deadline) -> Vec<u8> {
        let mut message = None;
        loop {
            if self.is_drained {
                self.sleep(late);
            }
            // It may tell of what comes after the next try in vain only.
            let _ = self.end.descriptor();
            match self.end.try_take(&mut |came| message = Some(came.to_vec())) {
                Err(Error::WouldBlock) => self.is_drained = true,
                taken => {
                    taken.unwrap();
                    self.is_drained = self.end.is_drained();
                    return message.expect("it was seen");
                }
            }
        }
    }

    fn sleep(&mut self, late: Deadline) {
        if !self.polls {
            return self.end.wait(Ready::Receive, late).unwrap();
        }
        // A look without being told would be disbelief.
        while !is_told(&self.end, late.left().expect("what has come is told of or said to be left"))
        {
        }
    }
}

/// Who believes an end that says that nothing is left, and sleeps then, gets all that has come.
pub fn who_believes_that_nothing_is_left_misses_nothing(subject: &impl Subject) {
    const COUNT: u8 = 10;
    for size in [100, 100_000] {
        for (asks_before, polls) in [(false, true), (true, true), (false, false)] {
            let (connected, accepted) = meet(subject);
            let (mut from, mut end) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
            let polls = polls && end.descriptor().is_some();
            if polls && asks_before {
                quiet(&mut end, late(subject));
            }
            let message = |number| vec![number; size.min(from.limit())];
            let messages: Vec<_> = (0..COUNT).map(message).collect();
            let (said, have_come) = mpsc::channel();
            let send = || {
                for message in &messages {
                    from.send(&[IoSlice::new(message)], soon()).unwrap();
                }
                flush(&mut *from);
                said.send(()).expect("the other end is there");
                from
            };
            together(send, || {
                // All of them are to be there before the first is taken, where they have room.
                let _ = have_come.recv_timeout(Duration::from_millis(200));
                let mut end = Believer { end, is_drained: false, polls };
                for message in &messages {
                    assert!(end.take(late(subject)) == *message, "another message");
                }
                end
            });
        }
    }
}

/// Where memory tells whether a try would bring something, it tells what is so; and after a glance
/// the descriptor tells again when it was asked for.
pub fn a_glance_sees_what_has_come(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut from, mut to) = (connected.datagram().unwrap(), accepted.datagram().unwrap());
    if to.glance().is_none() {
        let why = "no memory tells what has come";
        return not_applicable(subject, "a_glance_sees_what_has_come", why);
    }
    for _ in 0..3 {
        until(late(subject), "a glance sees what is not there", || {
            assert!(!to.look().unwrap(), "nothing was sent");
            to.glance() == Some(false)
        });
        from.say();
        until(late(subject), "a glance does not see what has come", || to.glance() == Some(true));
        until(late(subject), "what a glance saw is not there", || to.look().unwrap());
        if to.descriptor().is_some() {
            quiet(&mut to, late(subject));
            together(|| from.say(), || told(&mut to, late(subject)).unwrap());
        }
    }
}

/// Whether a descriptor tells that somebody may have come, now or within so long.
fn is_called(listener: &dyn Listener, most: Duration) -> bool {
    let descriptors = listener.descriptors().into_iter();
    let watch = |descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN);
    let mut polled: Vec<_> = descriptors.map(watch).collect();
    let most = Timespec::try_from(most).expect("a test does not wait for long");
    match poll(&mut polled, Some(&most)) {
        Ok(count) => count > 0,
        Err(rustix::io::Errno::INTR) => false,
        Err(errno) => panic!("{errno}"),
    }
}

/// Somebody, if a look finds one.
fn look(listener: &mut dyn Listener) -> Option<Box<dyn Adapter>> {
    match listener.accept(Deadline::now()) {
        Ok(end) => Some(end),
        Err(Error::Deadline { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Makes sure that nobody is let in and nobody told of.
fn nobody(listener: &mut dyn Listener, late: Deadline) {
    until(late, "a descriptor goes on to tell of somebody who is not there", || {
        assert!(look(listener).is_none(), "nobody has said who he is");
        !is_called(listener, Duration::ZERO)
    });
}

/// Lets in the next one, asleep until somebody is told of; now and then without, while somebody's
/// time runs.
fn admit(listener: &mut dyn Listener, late: Deadline) -> Box<dyn Adapter> {
    loop {
        let left = late.left().expect("a descriptor tells of who has come");
        let is_idle = listener.is_idle();
        let most = if is_idle { left } else { left.min(Duration::from_millis(10)) };
        if (is_called(listener, most) || !is_idle)
            && let Some(end) = look(listener)
        {
            return end;
        }
    }
}

/// Who listens at several places is told when to look, or that somebody's time runs.
pub fn a_listener_tells_who_comes(subject: &impl Subject) {
    const PROMISE: &str = "a_listener_tells_who_comes";
    let mut listener = listen(subject);
    if listener.descriptors().is_empty() {
        assert!(!listener.is_idle(), "no look finds anybody, and nothing tells of one");
        return not_applicable(subject, PROMISE, "a listener has no descriptors");
    }
    let address = listener.address().clone();
    for _ in 0..3 {
        nobody(&mut *listener, late(subject));
        let deadline = late(subject);
        let connect = || subject.transport().connect(&address, &hello(Lane::Bulk), deadline);
        let (connected, end) = together(connect, || admit(&mut *listener, late(subject)));
        assert_eq!(end.hello(), connected.unwrap().hello());
    }
    if !subject.is_framed() {
        return;
    }
    // Who says his hello by halves is told of when he has said all of it.
    let Some(mut caller) = subject.raw(&address) else { return };
    let said = wire::write(&hello(Lane::Bulk));
    let (first, second) = said.split_at(said.len() / 2);
    caller.write_all(first).unwrap();
    nobody(&mut *listener, late(subject));
    caller.write_all(second).unwrap();
    assert_eq!(admit(&mut *listener, late(subject)).hello(), &hello(Lane::Bulk));
}
