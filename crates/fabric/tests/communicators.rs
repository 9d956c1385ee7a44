//! Communicators over every transport that this machine has, through the inflated interface. What
//! they promise in detail is tested beside them, over a connection that breaks on demand.

use muster_fabric::adapter::{Trace, Traced};
use muster_fabric::bound::{self, Full, Network};
use muster_fabric::communicator::segment::Piece;
use muster_fabric::communicator::{Mail, Object};
use muster_fabric::region::{Region, Rights};
use muster_fabric::strategy::{Datagram, RemoteCopy};
use muster_fabric::transport::process::Process;
use muster_fabric::transport::shared::Shared;
use muster_fabric::transport::socket::{Tcp, Unix};
use muster_fabric::transport::{Adapter, Hello, Lane, Listener, Transport};
use muster_fabric::{Address, Deadline, Error};
use std::collections::HashMap;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

type Traces = Network<Full, (Traced,)>;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A transport of each kind that listens, and a directory for those that meet at a path, which
/// goes when a test ends.
struct Place {
    transport: Box<dyn Transport>,
    listener: Option<Box<dyn Listener>>,
    folder: std::path::PathBuf,
}

impl Place {
    fn new(transport: Box<dyn Transport>, test: &str) -> Place {
        let scheme = transport.scheme();
        let name = format!("muster-communicators-{}-{test}-{scheme}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("door");
        let at = match scheme {
            "proc" => Address::Process(name),
            "shm" => Address::Shared(path),
            "unix" => Address::Unix(path),
            _ => Address::Tcp("127.0.0.1".to_owned(), 0),
        };
        let mut place = Place { transport, listener: None, folder };
        place.listener = Some(place.transport.listen(&at).unwrap());
        place
    }

    /// Two ends.
    fn pair(&mut self) -> (Box<dyn Adapter>, Box<dyn Adapter>) {
        let mut listener = self.listener.take().unwrap();
        let at = listener.address().clone();
        let transport = &*self.transport;
        let ends = thread::scope(|scope| {
            let accepted = scope.spawn(|| listener.accept(soon()).unwrap());
            (connect(transport, &at, "a"), accepted.join().unwrap())
        });
        self.listener = Some(listener);
        ends
    }
}

fn connect(transport: &dyn Transport, at: &Address, name: &str) -> Box<dyn Adapter> {
    let hello = Hello { name: name.to_owned(), service: "test".to_owned(), lane: Lane::Bulk };
    transport.connect(at, &hello, soon()).unwrap()
}

impl Drop for Place {
    fn drop(&mut self) {
        self.listener = None;
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn places(test: &str) -> Vec<Place> {
    let transports: [Box<dyn Transport>; 4] =
        [Box::new(Process::default()), Box::new(Shared::default()), Box::new(Unix), Box::new(Tcp)];
    transports.into_iter().map(|transport| Place::new(transport, test)).collect()
}

fn traced(adapter: Box<dyn Adapter>) -> (Traces, Arc<Trace>) {
    let network = Traces::over(adapter);
    let trace = network.scenario().0.trace();
    (network, trace)
}

#[test]
fn links_and_ports_carry_everything_over_every_transport_in_a_traced_scenario() {
    for mut place in places("pairs") {
        let (a, b) = place.pair();
        let (a, trace) = traced(a);
        let bytes: Vec<u8> = (0..3_000_000u32).map(|at| (at / 7) as u8).collect();
        thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let mut link = a.link().unwrap();
                link.write(&bytes, soon()).unwrap();
                link.finish(soon()).unwrap();
                // The peer reads to the end before this end is dropped.
                assert_eq!(link.read(&mut [0; 1], soon()).unwrap(), 0);
            });
            let network: Network = Network::over(b);
            let mut link = network.link().unwrap();
            let mut received = vec![0; bytes.len()];
            link.read_exact(&mut received, soon()).unwrap();
            assert!(received == bytes);
            assert_eq!(link.read(&mut [0; 1], soon()).unwrap(), 0);
            link.finish(soon()).unwrap();
            sender.join().unwrap();
        });
        assert!(!trace.records().is_empty());
        let (a, b) = place.pair();
        thread::scope(|scope| {
            let echo = scope.spawn(|| {
                let network: Network = Network::over(b);
                let mut port = network.port().unwrap();
                for _ in 0..100 {
                    let message = port.receive(soon(), <[u8]>::to_vec).unwrap();
                    port.fill(message.len(), soon(), |place| place.copy_from_slice(&message))
                        .unwrap();
                }
                port.flush(soon()).unwrap();
                // Its peer ends.
                assert!(port.receive(soon(), <[u8]>::len).is_err());
            });
            let mut port = Traces::over(a).port().unwrap();
            for size in 0..100 {
                let message = vec![size as u8; size * size];
                port.send(&message, soon()).unwrap();
                assert!(port.receive(soon(), |answer| answer == message).unwrap());
            }
            drop(port);
            echo.join().unwrap();
        });
    }
}

#[test]
fn a_mailbox_listens_and_hears_every_sender_over_every_transport() {
    for mut place in places("mailbox") {
        let listener = place.listener.take().unwrap();
        let at = listener.address().clone();
        let mut mailbox: bound::Mailbox = <Network>::mailbox("box", 8).unwrap();
        mailbox
            .listen(listener, |adapter| {
                let network: Network = Network::over(adapter);
                network.datagram()
            })
            .unwrap();
        let transport = &*place.transport;
        thread::scope(|scope| {
            for sender in 0..4u8 {
                let at = &at;
                scope.spawn(move || {
                    let end = connect(transport, at, &format!("sender {sender}"));
                    let mut end = end.datagram().unwrap();
                    for number in 0..50 {
                        end.send(&[IoSlice::new(&[sender, number])], soon()).unwrap();
                    }
                    while !end.try_flush().unwrap() {
                        thread::yield_now();
                    }
                });
            }
            let (mut next, mut left) = (HashMap::new(), 0);
            while left < 4 {
                let mut heard = Vec::new();
                let take = &mut |message: &[u8]| heard = message.to_vec();
                match mailbox.receive(soon(), take).unwrap() {
                    Mail::From(sender) => {
                        let name = &mailbox.peer(sender).unwrap().name;
                        assert_eq!(*name, format!("sender {}", heard[0]));
                        let next = next.entry(sender).or_insert(0);
                        assert_eq!(heard[1], *next);
                        *next += 1;
                    }
                    Mail::Left { sender, why, .. } => {
                        assert_eq!(next[&sender], 50, "{why}");
                        left += 1;
                    }
                }
            }
        });
        let late = mailbox.receive(Deadline::now(), &mut |_| ()).unwrap_err();
        assert!(matches!(late, Error::Deadline { .. }), "{late}");
        drop(mailbox);
        let hello = Hello { name: "late".into(), service: "test".into(), lane: Lane::Bulk };
        let late = transport.connect(&at, &hello, Deadline::after(Duration::from_secs(1)));
        assert!(late.is_err(), "nobody listens any more");
    }
}

#[test]
fn owners_of_a_segment_read_what_the_others_wrote_over_every_transport() {
    const SIZE: u64 = 1 << 20;
    for mut place in places("segment") {
        let (a, b) = place.pair();
        // Each owns a piece, and the key of the first region is the same at both.
        let owner = move |end: Box<dyn Adapter>, is_first: bool| {
            let own = Region::new(SIZE as usize, Rights::ALL);
            let network: Network = Network::over(end);
            let mut copy = network.remote_copy().unwrap();
            let key = copy.expose(&own).unwrap();
            let (here, there) = (Piece::Here(own.clone()), Piece::There(copy, key));
            let pieces = if is_first { vec![here, there] } else { vec![there, here] };
            let segment: bound::Segment = <Network>::segment(SIZE, pieces).unwrap();
            (segment, own)
        };
        thread::scope(|scope| {
            let second = scope.spawn(move || {
                let (mut segment, own) = owner(b, false);
                // The first writes this last.
                let mut flag = [0; 1];
                let end = soon();
                while flag[0] == 0 {
                    assert!(end.left().is_some(), "the first never wrote");
                    segment.progress().unwrap();
                    own.read(SIZE - 1, &mut flag).unwrap();
                }
                let mut bytes = vec![0; 1000];
                segment.read(SIZE - 500, &mut bytes, soon()).unwrap();
                assert!(bytes.iter().all(|byte| *byte == 7));
                segment.write(0, &[1], soon()).unwrap();
                segment.fence(soon()).unwrap();
            });
            let (mut segment, own) = owner(a, true);
            let _put = segment.put(SIZE - 500, &[7; 1000], soon()).unwrap();
            segment.fence(soon()).unwrap();
            segment.write(2 * SIZE - 1, &[1], soon()).unwrap();
            let mut flag = [0; 1];
            let end = soon();
            while flag[0] == 0 {
                assert!(end.left().is_some(), "the second never wrote");
                segment.progress().unwrap();
                own.read(0, &mut flag).unwrap();
            }
            while !second.is_finished() && end.left().is_some() {
                segment.progress().unwrap();
            }
            second.join().unwrap();
        });
    }
}

#[test]
fn an_owner_that_waits_for_another_sends_its_answers_as_soon_as_there_is_room() {
    const SIZE: u64 = 1 << 20;
    let (mut reader, mut slow) =
        (Place::new(Box::new(Unix), "answers-reader"), Place::new(Box::new(Unix), "answers-slow"));
    let ((a, b), (c, d)) = (reader.pair(), slow.pair());
    let own = Region::new(SIZE as usize, Rights::ALL);
    thread::scope(|scope| {
        let copy = |end| Network::<Full>::over(end).remote_copy().unwrap();
        let (mut to_reader, to_slow, mut by_slow) = (copy(a), copy(c), copy(d));
        let key = to_reader.expose(&own).unwrap();
        let theirs = by_slow.expose(&own).unwrap();
        // The slow one does nothing before the other has read everything.
        let reading = scope.spawn(move || {
            let pieces = vec![Piece::There(copy(b), key)];
            let mut segment: bound::Segment = <Network>::segment(SIZE, pieces).unwrap();
            let get = segment.get(0, SIZE as usize, soon()).unwrap();
            // The owner has sent what there is room for, and sleeps.
            thread::sleep(Duration::from_millis(200));
            let read = segment.wait(get, soon()).map(drop);
            while by_slow.try_progress().is_ok() {
                thread::yield_now();
            }
            read.unwrap();
        });
        // The reader's operations are carried out here, while this waits.
        let pieces = vec![Piece::There(to_reader, key), Piece::There(to_slow, theirs)];
        let mut segment: bound::Segment = <Network>::segment(SIZE, pieces).unwrap();
        segment.read(SIZE, &mut [0; 8], soon()).unwrap();
        drop(segment);
        reading.join().unwrap();
    });
}

/// Says how long its arguments are.
struct Length;

impl Object for Length {
    fn invoke(&mut self, _: u16, arguments: &[u8]) -> Result<Vec<u8>, String> {
        match arguments {
            [] => Err("nothing has no length".to_owned()),
            some => Ok((some.len() as u32).to_le_bytes().to_vec()),
        }
    }
}

#[test]
fn an_object_is_invoked_over_every_transport() {
    for mut place in places("invocation") {
        let (a, b) = place.pair();
        thread::scope(|scope| {
            let owner = scope.spawn(|| {
                let network: Network = Network::over(b);
                let mut owner = network.invocation().unwrap();
                owner.register(3, Box::new(Length)).unwrap();
                owner.serve(soon())
            });
            let mut caller = Traces::over(a).invocation().unwrap();
            let calls: Vec<_> =
                (1..200).map(|size| caller.start(3, 0, &vec![0; size], soon()).unwrap()).collect();
            for (size, call) in (1u32..).zip(calls) {
                assert_eq!(caller.wait(call, soon()).unwrap(), size.to_le_bytes());
            }
            let error = caller.call(3, 0, &[], soon()).unwrap_err().to_string();
            assert!(error.ends_with("refuses: nothing has no length"), "{error}");
            drop(caller);
            assert!(owner.join().unwrap().is_err(), "the connection has ended");
        });
    }
}

/// Returns as many bytes as its argument says.
struct Much;

impl Object for Much {
    fn invoke(&mut self, _: u16, arguments: &[u8]) -> Result<Vec<u8>, String> {
        let size = u32::from_le_bytes(arguments.try_into().map_err(|_| "no size".to_owned())?);
        Ok(vec![7; size as usize])
    }
}

#[test]
fn both_ends_may_wait_for_long_answers_of_the_other_over_every_transport() {
    const SIZE: u32 = 5_000_000;
    for mut place in places("answers") {
        let ((a, b), done) = (place.pair(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for adapter in [a, b] {
                let done = &done;
                scope.spawn(move || {
                    let network: Network = Network::over(adapter);
                    let mut end = network.invocation().unwrap();
                    end.register(3, Box::new(Much)).unwrap();
                    let start = |_| end.start(3, 0, &SIZE.to_le_bytes(), soon()).unwrap();
                    let calls: Vec<_> = (0..3).map(start).collect();
                    for call in calls {
                        assert_eq!(end.wait(call, soon()).unwrap().len(), SIZE as usize);
                    }
                    // The other one may not have had all of its answers; or it has, and goes.
                    done.fetch_add(1, Ordering::Relaxed);
                    while done.load(Ordering::Relaxed) < 2 {
                        let _ = end.serve(Deadline::after(Duration::from_millis(1)));
                    }
                });
            }
        });
    }
}
