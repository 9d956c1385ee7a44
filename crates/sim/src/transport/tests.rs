//! The simulated transport between threads: strategies, ends, windows, virtual time.

use super::*;
use muster_base::limits::{SIMULATED_MESSAGE_MAX, SIMULATED_WAITING, SIMULATED_WINDOW};
use muster_fabric::region::{Region, Rights};
use muster_fabric::strategy::Ready;
use muster_fabric::transport::Lane;
use std::io::IoSlice;
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

fn hello(lane: Lane) -> Hello {
    Hello { name: "a test".to_owned(), service: "test".to_owned(), lane }
}

/// A connection to a new listener: the two ends.
fn pair(network: &str) -> (Box<dyn Adapter>, Box<dyn Adapter>) {
    let at = Address::Simulated(network.to_owned(), 1);
    let mut door = Simulated.listen(&at).unwrap();
    let near = Simulated.connect(&at, &hello(Lane::System), soon()).unwrap();
    (near, door.accept(soon()).unwrap())
}

fn datagrams(network: &str) -> (Box<dyn Datagram>, Box<dyn Datagram>) {
    let (near, far) = pair(network);
    (near.datagram().unwrap(), far.datagram().unwrap())
}

fn receive(end: &mut dyn Datagram) -> Result<Vec<u8>> {
    let mut message = Vec::new();
    end.take(soon(), &mut |bytes| message = bytes.to_vec())?;
    Ok(message)
}

#[test]
fn messages_cross_between_threads_in_order_and_take_virtual_time_only() {
    let (mut near, mut far) = datagrams("order");
    let net = Net::named("order");
    net.set_costs(crate::network::Costs { latency: crate::SECOND, ..crate::network::Costs::FAST });
    let before = net.clock();
    let echo = std::thread::spawn(move || {
        for _ in 0..100 {
            let message = receive(&mut *far).unwrap();
            far.send(&[IoSlice::new(&message), IoSlice::new(b"!")], soon()).unwrap();
        }
    });
    for number in 0..100u8 {
        near.send(&[IoSlice::new(&[number])], soon()).unwrap();
        assert_eq!(receive(&mut *near).unwrap(), [number, b'!']);
    }
    echo.join().unwrap();
    assert!(net.clock() - before >= 200 * crate::SECOND);
}

/// When each of some messages and answers of one thread is there.
fn times(network: &str) -> Vec<u64> {
    let (mut from, mut to) = datagrams(network);
    let net = Net::named(network);
    let mut times = Vec::new();
    for number in 0..100_u8 {
        for size in [1, 3000] {
            from.send(&[IoSlice::new(&vec![number; size])], soon()).unwrap();
        }
        for size in [1, 3000] {
            assert_eq!(receive(&mut *to).unwrap(), vec![number; size]);
            times.push(net.clock());
        }
        std::mem::swap(&mut from, &mut to);
    }
    times
}

#[test]
fn one_seed_gives_the_same_run_and_another_one_another() {
    let run = times("seeds?seed=7");
    assert_eq!(times("seeds?seed=7"), run);
    assert_ne!(times("seeds?seed=8"), run);
    assert_ne!(times("seeds"), run);
    let at = Address::Simulated("seeds?seed=many".to_owned(), 1);
    let error = Simulated.listen(&at).err().unwrap().to_string();
    assert!(error.contains("?seed=NUMBER"), "{error}");
}

#[test]
fn who_polls_without_waiting_gets_on() {
    let (mut near, mut far) = datagrams("poll");
    near.try_send(&[IoSlice::new(b"x")]).unwrap();
    let mut looks = 0;
    while far.try_take(&mut |bytes| assert_eq!(bytes, b"x")).is_err() {
        looks += 1;
        assert!(looks < 1000);
    }
    assert!(looks > 0, "it is not there at once");
}

#[test]
fn a_full_window_blocks_until_something_is_taken() {
    let (mut near, mut far) = datagrams("window");
    let size = near.limit();
    assert!(matches!(near.try_fill(size + 1, &mut |_| {}), Err(Error::TooLarge { .. })));
    let mut sent = 0;
    while near.try_fill(size, &mut |bytes| bytes.fill(7)).is_ok() {
        sent += size;
    }
    assert_eq!(sent, SIMULATED_WINDOW / SIMULATED_MESSAGE_MAX * SIMULATED_MESSAGE_MAX);
    let short = Deadline::after(Duration::from_millis(1));
    let error = near.wait(Ready::Send, short).unwrap_err().to_string();
    assert!(error.contains("a test has waited"), "{error}");
    assert!(error.contains("sim!window!1: room for a message"), "{error}");
    assert_eq!(receive(&mut *far).unwrap().len(), size);
    near.wait(Ready::Send, soon()).unwrap();
    near.try_fill(size, &mut |_| {}).unwrap();
}

#[test]
fn what_was_sent_arrives_before_the_end_and_the_end_is_told_to_both() {
    let (mut near, mut far) = datagrams("end");
    near.send(&[IoSlice::new(b"last")], soon()).unwrap();
    drop(near);
    assert_eq!(receive(&mut *far).unwrap(), b"last");
    assert!(matches!(receive(&mut *far), Err(Error::Closed { .. })));
    assert!(matches!(far.try_fill(1, &mut |_| {}), Err(Error::Closed { .. })));
    let (mut near, mut far) = datagrams("end");
    Net::named("end").kill(1);
    assert!(matches!(receive(&mut *near), Err(Error::Dead { .. })));
    assert!(matches!(far.try_fill(1, &mut |_| {}), Err(Error::Dead { .. })));
}

#[test]
fn a_cut_holds_messages_until_it_heals() {
    let (mut near, mut far) = datagrams("cut");
    let net = Net::named("cut");
    net.cut(1);
    near.send(&[IoSlice::new(b"held")], soon()).unwrap();
    let short = Deadline::after(Duration::from_millis(1));
    assert!(matches!(far.wait(Ready::Receive, short), Err(Error::Deadline { .. })));
    net.heal(1);
    assert_eq!(receive(&mut *far).unwrap(), b"held");
}

#[test]
fn who_listens_is_found_and_who_does_not_refuses() {
    let at = Address::Simulated("doors".to_owned(), 1);
    let refused = Simulated.connect(&at, &hello(Lane::Bulk), soon());
    assert!(matches!(refused.err(), Some(Error::Refused { .. })));
    let mut door = Simulated.listen(&at).unwrap();
    assert!(Simulated.listen(&at).is_err_and(|error| error.is_taken()));
    let error = door.accept(Deadline::after(Duration::from_millis(1))).err().unwrap();
    assert!(matches!(error, Error::Deadline { .. }));
    let ends: Vec<_> = (0..SIMULATED_WAITING)
        .map(|_| Simulated.connect(&at, &hello(Lane::Bulk), soon()).unwrap())
        .collect();
    let net = Net::named("doors");
    let full = net.connect(1, &at, &hello(Lane::Bulk), Deadline::after(Duration::from_millis(1)));
    assert!(matches!(full.err(), Some(Error::Deadline { .. })));
    let far = door.accept(soon()).unwrap();
    assert_eq!((far.peer().name.as_str(), far.hello()), ("a test", &hello(Lane::Bulk)));
    drop(door);
    // Those who wait behind a door that has closed are told.
    let mut last = ends.into_iter().next_back().unwrap().datagram().unwrap();
    assert!(matches!(receive(&mut *last), Err(Error::Closed { .. })));
    Simulated.listen(&at).unwrap();
}

#[test]
fn the_other_strategies_run_over_it() {
    let (near, far) = pair("strategies");
    let (mut near, mut far) = (near.stream().unwrap(), far.stream().unwrap());
    assert_eq!(near.try_write(b"bytes").unwrap(), 5);
    near.finish(soon()).unwrap();
    let mut read: Vec<u8> = Vec::new();
    loop {
        let mut buffer = [0; 3];
        far.wait(Ready::Receive, soon()).unwrap();
        match far.try_read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => read.extend(&buffer[..count]),
            Err(error) => assert!(error.is_would_block(), "{error}"),
        }
    }
    assert_eq!(read, b"bytes");
    let (near, far) = pair("strategies");
    let (mut near, mut far) = (near.remote_copy().unwrap(), far.remote_copy().unwrap());
    let region = Region::new(64, Rights::ALL);
    let key = far.expose(&region).unwrap();
    near.try_put(key, 3, b"put", 1).unwrap();
    let completion = loop {
        far.try_progress().unwrap();
        if let Some(completion) = near.try_progress().unwrap() {
            break completion;
        }
    };
    assert!(completion.token == 1 && completion.result.is_ok());
    let mut bytes = [0; 3];
    region.read(3, &mut bytes).unwrap();
    assert_eq!(&bytes, b"put");
}
