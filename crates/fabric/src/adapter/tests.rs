//! What scenarios promise.

use super::{
    Adapted, Aspect, Capability, Guarded, Kind, Operation, Outcome, Profiled, Remote, Shared,
    Traced,
};
use crate::communicator::double::{End, LIMIT, ROOM, pair};
use crate::communicator::{Invocation, Link, Object, Port};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::protocol::Payload;
use crate::strategy::emulated::Streamed;
use crate::strategy::{Datagram, Ready, Stream, Taken, Wait};
use crate::transport::Peer;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// Writes down that it was entered and left.
struct Note(&'static str, Arc<Mutex<Vec<String>>>);

impl Aspect for Note {
    fn enter(&mut self, operation: Operation) -> Result<()> {
        self.1.lock().unwrap().push(format!("{} enters {:?}", self.0, operation.kind));
        Ok(())
    }

    fn leave(&mut self, _: Operation, outcome: Outcome) {
        self.1.lock().unwrap().push(format!("{} leaves {outcome:?}", self.0));
    }
}

#[test]
fn aspects_enclose_an_operation_and_what_was_entered_is_left() {
    let (a, _b) = pair("a", "b");
    let log = Arc::new(Mutex::new(Vec::new()));
    let note = |name| Note(name, log.clone());
    let only_send = Guarded::new("the guard", Capability::of(&[Kind::Send]).up_to(10));
    let mut adapted = Adapted::new(a, (note("outer"), note("inner"), only_send, note("last")));
    adapted.try_send(&[IoSlice::new(b"abc")]).unwrap();
    let all = std::mem::take(&mut *log.lock().unwrap());
    let expected = [
        "outer enters Send",
        "inner enters Send",
        "last enters Send",
        "last leaves Done(3)",
        "inner leaves Done(3)",
        "outer leaves Done(3)",
    ];
    assert_eq!(all, expected);
    let error = adapted.try_take(&mut |_| ()).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    let expected = [
        "outer enters Receive",
        "inner enters Receive",
        "inner leaves Failed",
        "outer leaves Failed",
    ];
    assert_eq!(*log.lock().unwrap(), expected);
}

#[test]
fn what_a_capability_does_not_allow_never_reaches_the_peer() {
    let (a, b) = pair("a", "b");
    let trusted = |name: &str| match name {
        "b" => Capability::of(&[Kind::Send]).up_to(3),
        _ => Capability::NONE,
    };
    let guard = Guarded::by_peer(crate::strategy::Wait::peer(&a), |peer| trusted(&peer.name));
    let mut a = Port::new(Adapted::new(a, (guard,)));
    let error = a.send(b"four", soon()).unwrap_err().to_string();
    assert_eq!(error, "the guard of b refuses: no capability for Send of 4 bytes");
    a.send(b"yes", soon()).unwrap();
    assert!(a.receive(soon(), |_| ()).is_err());
    let stranger = Guarded::new("the guard", trusted("c"));
    let mut b = Adapted::new(Port::new(b), (stranger,));
    assert!(b.receive(soon(), |_| ()).is_err());
    assert_eq!(b.into_inner().receive(soon(), <[u8]>::to_vec).unwrap(), b"yes");
}

#[test]
fn a_trace_has_the_last_operations_in_order() {
    let (a, b) = pair("a", "b");
    let traced = Traced::new(4, 1);
    let trace = traced.trace();
    let mut a = Port::new(Adapted::new(a, (traced,)));
    let mut b = Port::new(b);
    for size in 0..10 {
        a.send(&[0; 10][..size], soon()).unwrap();
        b.receive(soon(), |_| ()).unwrap();
    }
    assert!(a.send(&[0; LIMIT + 1], soon()).is_err());
    let records = trace.records();
    let ends: Vec<_> = records.iter().map(|record| (record.number, record.outcome)).collect();
    let expected = [(8, Outcome::Done(8)), (9, Outcome::Done(9)), (10, Outcome::Failed)];
    assert_eq!(ends, expected, "the oldest place may be written at any moment");
    assert!(records.iter().all(|record| record.kind == Kind::Send));
    assert!(records.is_sorted_by_key(|record| record.moment));
}

#[test]
fn a_trace_read_while_it_is_written_has_no_torn_records() {
    let mut traced = Traced::new(8, 1);
    let trace = traced.trace();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // Kind and bytes of a record say its number.
            for number in 0..200_000 {
                let kind = Kind::ALL[number % Kind::ALL.len()];
                traced.leave(Operation { kind, bytes: 0 }, Outcome::Done(number));
            }
            is_over.store(true, Ordering::Release);
        });
        while !is_over.load(Ordering::Acquire) {
            for record in trace.records() {
                let number = record.number as usize;
                assert_eq!(record.outcome, Outcome::Done(number));
                assert_eq!(record.kind, Kind::ALL[number % Kind::ALL.len()]);
            }
        }
    });
    assert_eq!(trace.records().len(), 7);
}

#[test]
fn a_profile_counts_what_was_done_and_what_was_not() {
    let (a, mut b) = pair("a", "b");
    let profiled = Profiled::default();
    let profile = profiled.profile();
    let mut a = Adapted::new(a, (profiled, Traced::default()));
    for _ in 0..ROOM {
        a.try_send(&[IoSlice::new(b"abc")]).unwrap();
    }
    assert!(a.try_send(&[IoSlice::new(b"abc")]).unwrap_err().is_would_block());
    b.try_send(&[IoSlice::new(b"answer")]).unwrap();
    a.try_take(&mut |_| ()).unwrap();
    drop(b);
    assert!(a.try_take(&mut |_| ()).is_err());
    let sent = profile.summary(Kind::Send);
    assert_eq!((sent.done, sent.nothing, sent.failed, sent.bytes), (4, 1, 0, 12));
    assert_eq!(sent.times.iter().sum::<u64>(), 4);
    assert!(sent.quantile(0.5) <= sent.quantile(1.0));
    let received = profile.summary(Kind::Receive);
    assert_eq!((received.done, received.failed, received.bytes), (1, 1, 6));
}

#[test]
fn threads_that_share_a_port_lose_no_message_and_do_not_mix_them() {
    let (a, b) = pair("a", "b");
    let shared = Shared::new(Adapted::new(a, (Traced::default(),)));
    thread::scope(|scope| {
        for writer in 0..4u8 {
            let mut port = Port::new(shared.clone());
            scope.spawn(move || {
                for number in 0..100u8 {
                    port.send(&[writer, number, writer], soon()).unwrap();
                }
            });
        }
        // One more waits for an answer meanwhile, and keeps nobody out.
        let mut waiting = Port::new(shared.clone());
        scope.spawn(move || assert_eq!(waiting.receive(soon(), <[u8]>::len).unwrap(), 4));
        let mut b = Port::new(b);
        let mut next = [0; 4];
        for _ in 0..400 {
            let message = b.receive(soon(), <[u8]>::to_vec).unwrap();
            let [writer, number, again] = message[..] else { panic!("{message:?}") };
            assert_eq!((writer, number), (again, next[usize::from(writer)]));
            next[usize::from(writer)] += 1;
        }
        b.send(b"done", soon()).unwrap();
    });
}

/// Does better in one step than in two, and writes down which of them it was asked for.
struct OneStep(End, Arc<Mutex<Vec<&'static str>>>);

impl OneStep {
    fn note<T>(&self, method: &'static str, value: T) -> Result<T> {
        self.1.lock().unwrap().push(method);
        Ok(value)
    }
}

impl Wait for OneStep {
    fn peer(&self) -> &Peer {
        self.0.peer()
    }

    fn me(&self) -> &str {
        "one step"
    }

    fn wait(&mut self, _: Ready, _: Deadline) -> Result<()> {
        Ok(())
    }

    fn glance(&mut self) -> Option<bool> {
        self.note("glance", true).ok()
    }
}

impl Datagram for OneStep {
    fn limit(&self) -> usize {
        LIMIT
    }

    fn try_fill(&mut self, _: usize, _: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        self.note("try_fill", ())
    }

    fn try_take(&mut self, _: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.note("try_take", ())
    }

    fn try_queue(&mut self, _: &[&[u8]], _: &Payload) -> Result<()> {
        self.note("try_queue", ())
    }

    fn try_keep(&mut self, take: &mut dyn FnMut(Taken<'_>)) -> Result<()> {
        take(Taken::Kept(Payload::from(b"abcd".to_vec())));
        self.note("try_keep", ())
    }

    fn is_drained(&self) -> bool {
        self.note("is_drained", true).is_ok()
    }

    fn send(&mut self, _: &[IoSlice<'_>], _: Deadline) -> Result<()> {
        self.note("send", ())
    }

    fn take(&mut self, _: Deadline, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        take(b"abc");
        self.note("take", ())
    }
}

impl Stream for OneStep {
    fn try_write(&mut self, _: &[u8]) -> Result<usize> {
        self.note("try_write", 1)
    }

    fn try_write_parts(&mut self, parts: &[IoSlice<'_>]) -> Result<usize> {
        self.note("try_write_parts", parts.len())
    }

    fn try_read(&mut self, _: &mut [u8]) -> Result<usize> {
        self.note("try_read", 1)
    }

    fn read(&mut self, _: &mut [u8], _: Deadline) -> Result<usize> {
        self.note("read", 1)
    }

    fn is_delivered(&self) -> bool {
        self.note("is_delivered", false).is_err()
    }

    fn finish(&mut self, _: Deadline) -> Result<()> {
        Ok(())
    }
}

#[test]
fn what_a_strategy_does_in_one_step_it_does_so_in_every_scenario() {
    let (asked, profiled) = (Arc::new(Mutex::new(Vec::new())), Profiled::default());
    let profile = profiled.profile();
    let one_step = || OneStep(pair("a", "b").0, asked.clone());
    let parts = [IoSlice::new(b"a"), IoSlice::new(b"bc")];
    fn use_it(mut end: impl Datagram + Stream, parts: &[IoSlice<'_>]) {
        end.send(parts, soon()).unwrap();
        end.take(soon(), &mut |message| assert_eq!(message, b"abc")).unwrap();
        assert_eq!(end.try_write_parts(parts).unwrap(), 2);
        end.read(&mut [0], soon()).unwrap();
        assert_eq!(end.glance(), Some(true));
        end.try_queue(&[b"a"], &Payload::from(b"bc".to_vec())).unwrap();
        let kept = &mut |taken: Taken<'_>| assert!(matches!(taken, Taken::Kept(_)));
        end.try_keep(kept).unwrap();
        assert!(end.is_drained() && !end.is_delivered());
    }
    use_it(Adapted::new(one_step(), ()), &parts);
    use_it(Adapted::new(one_step(), (profiled,)), &parts);
    let steps = ["send", "take", "try_write_parts", "read"];
    let more = ["glance", "try_queue", "try_keep", "is_drained", "is_delivered"];
    assert_eq!(*asked.lock().unwrap(), [&steps[..], &more, &steps, &more].concat());
    let moved = |kind| (profile.summary(kind).done, profile.summary(kind).bytes);
    let kinds = [Kind::Send, Kind::Receive, Kind::Write, Kind::Read];
    assert_eq!(kinds.map(moved), [(2, 6), (2, 7), (1, 2), (1, 1)]);
    asked.lock().unwrap().clear();
    let mut shared = Shared::new(one_step());
    shared.try_write_parts(&parts).unwrap();
    assert!(!shared.is_delivered(), "the strategy says so");
    assert_eq!(*asked.lock().unwrap(), ["try_write_parts", "is_delivered"]);
}

/// Tells when somebody waits for room in it.
struct Telling(End, Sender<()>);

impl Wait for Telling {
    fn peer(&self) -> &Peer {
        self.0.peer()
    }

    fn me(&self) -> &str {
        self.0.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        if ready == Ready::Send {
            let _ = self.1.send(());
        }
        self.0.wait(ready, deadline)
    }
}

impl Datagram for Telling {
    fn limit(&self) -> usize {
        LIMIT
    }

    fn try_fill(&mut self, size: usize, fill: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        self.0.try_fill(size, fill)
    }

    fn try_take(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.0.try_take(take)
    }
}

#[test]
fn who_ends_a_shared_stream_lets_others_read_who_make_the_room_for_it() {
    let (a, mut b) = pair("a", "b");
    let (tell, told) = channel();
    let mut writer = Shared::new(Streamed::new(Telling(a, tell)));
    let mut reader = writer.clone();
    for _ in 0..ROOM {
        writer.write(b"x", soon()).unwrap();
    }
    b.try_send(&[IoSlice::new(b"first")]).unwrap();
    thread::scope(|scope| {
        let ending = scope.spawn(move || writer.finish(soon()));
        told.recv().unwrap();
        // The peer takes nothing until it has been read.
        assert_eq!(reader.read(&mut [0; 5], soon()).unwrap(), 5);
        for _ in 0..=ROOM {
            b.take(soon(), &mut |_| ()).unwrap();
        }
        ending.join().unwrap().unwrap();
    });
}

/// Adds up.
struct Sum(u32);

impl Object for Sum {
    fn invoke(&mut self, method: u16, arguments: &[u8]) -> std::result::Result<Vec<u8>, String> {
        match (method, arguments) {
            (0, &[number]) => {
                self.0 += u32::from(number);
                Ok(self.0.to_le_bytes().to_vec())
            }
            _ => Err("it only adds".to_owned()),
        }
    }
}

/// Uses an object, wherever it is.
fn use_it(mut object: impl Object) {
    object.invoke(0, &[2]).unwrap();
    assert_eq!(object.invoke(0, &[3]).unwrap(), [5, 0, 0, 0]);
    assert_eq!(object.invoke(1, &[]).unwrap_err(), "it only adds");
}

#[test]
fn an_object_is_used_alike_here_in_a_scenario_shared_or_remote() {
    use_it(Sum(0));
    use_it(Adapted::new(Sum(0), (Traced::default(), Profiled::default())));
    use_it(Shared::object("a sum", Sum(0)));
    let (a, b) = pair("a", "b");
    thread::scope(|scope| {
        let owner = scope.spawn(move || {
            let mut owner = Invocation::new(Adapted::new(b, (Traced::default(),)));
            owner.register(7, Box::new(Adapted::new(Sum(0), (Profiled::default(),)))).unwrap();
            owner.serve(soon())
        });
        let patience = Duration::from_secs(60);
        let remote = Remote::new(Invocation::new(a), 7, patience);
        assert!(remote.other(8).invoke(0, &[1]).unwrap_err().contains("no object 8"));
        use_it(remote);
        assert!(owner.join().unwrap().is_err());
    });
}

#[test]
fn a_guarded_object_refuses_methods_to_those_without_a_capability() {
    let guard = Guarded::new("the guard", Capability::NONE);
    let error = Adapted::new(Sum(0), (guard,)).invoke(0, &[1]).unwrap_err();
    assert_eq!(error, "no capability for Invoke of 1 bytes");
}

#[test]
fn an_adapted_link_is_a_link() {
    let (a, b) = pair("a", "b");
    let traced = Traced::default();
    let trace = traced.trace();
    let mut a = Adapted::new(Link::new(a), (traced,));
    a.write(&[1; 3 * LIMIT], soon()).unwrap();
    a.finish(soon()).unwrap();
    let mut b = Link::new(Adapted::new(b, ()));
    b.read_exact(&mut [0; 3 * LIMIT], soon()).unwrap();
    assert_eq!(b.read(&mut [0], soon()).unwrap(), 0);
    let records: Vec<_> = trace.records().iter().map(|record| record.outcome).collect();
    assert_eq!(records, [Outcome::Done(3 * LIMIT), Outcome::Done(0)]);
}
