//! Connections over several rails: what is on the wire, peers that say what is none of it, and
//! networks that come and go.

mod hostile;
mod networks;
mod wire;

use muster_base::limits::RAILS_WINDOW_SYSTEM;
use muster_fabric::address::Address;
use muster_fabric::communicator::Port;
use muster_fabric::conformance::{self, Subject};
use muster_fabric::strategy::{Datagram, Ready, Wait};
use muster_fabric::transport::hello;
use muster_fabric::transport::rails::Rails;
use muster_fabric::transport::rails::wire::Join;
use muster_fabric::transport::{Adapter, Hello, Lane, Listener, Transport};
use muster_fabric::{Deadline, Error, Result};
use std::io::{IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Ends what hangs.
fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn hello() -> Hello {
    Hello { name: "connector".to_owned(), service: "rails".to_owned(), lane: Lane::Bulk }
}

/// At two rails of this machine.
fn listen() -> Box<dyn Listener> {
    listen_by(&Rails::default())
}

fn listen_by(transport: &Rails) -> Box<dyn Listener> {
    let any = Address::Rails(vec![Address::Tcp("127.0.0.1".to_owned(), 0); 2]);
    transport.listen(&any).unwrap()
}

/// A transport, and what its watcher is told.
fn watched() -> (Rails, Receiver<String>) {
    let (told, tales) = channel();
    // Nobody listens when the test is over.
    let watcher = move |text: &str| drop(told.send(text.to_owned()));
    (Rails::default().watched(watcher), tales)
}

/// The tale in which all of this is: there may be others, of rails that a busy machine lets wait.
fn told(tales: &Receiver<String>, all: &[&str]) -> String {
    let patience = soon();
    let mut others = Vec::new();
    while let Ok(tale) = tales.recv_timeout(patience.left().unwrap_or_default()) {
        if all.iter().all(|part| tale.contains(part)) {
            return tale;
        }
        others.push(tale);
    }
    panic!("nobody was told of {all:?}: {others:?}");
}

fn meet(listener: &mut dyn Listener) -> (Box<dyn Adapter>, Box<dyn Adapter>) {
    let address = listener.address().clone();
    std::thread::scope(|scope| {
        let connect = || Rails::default().connect(&address, &hello(), soon());
        let connecting = scope.spawn(connect);
        let accepted = listener.accept(soon()).unwrap();
        (connecting.join().unwrap().unwrap(), accepted)
    })
}

/// A bare connection to a door, on which hello was said and nothing was read.
fn bare(listener: &dyn Listener, door: usize) -> TcpStream {
    let Address::Rails(rails) = listener.address() else { panic!("rails") };
    let Address::Tcp(host, port) = &rails[door] else { panic!("TCP") };
    let mut bare = TcpStream::connect((host.as_str(), *port)).unwrap();
    bare.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    bare.write_all(&hello::write(&hello())).unwrap();
    bare
}

fn received(bare: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    bare.read_exact(&mut bytes).unwrap();
    bytes
}

/// It is welcome, whatever it has said.
fn welcomed(bare: &mut TcpStream) {
    let welcome = hello::welcome();
    assert_eq!(received(bare, welcome.len()), welcome);
}

/// A bare connection that was let in: a hello has to be answered before more is said.
fn let_in(listener: &mut dyn Listener, door: usize) -> TcpStream {
    let mut bare = bare(listener, door);
    bare.set_nonblocking(true).unwrap();
    let (patience, mut answer) = (soon(), hello::welcome());
    while !matches!(bare.peek(&mut answer), Ok(size) if size == answer.len()) {
        assert!(patience.left().is_some(), "a hello is answered");
        let brief = Deadline::after(Duration::from_millis(10));
        listener.accept(brief).map(drop).expect_err("nobody has joined");
    }
    bare.set_nonblocking(false).unwrap();
    welcomed(&mut bare);
    bare
}

/// Two bare rails, and the end that they have been joined to.
fn joined(
    listener: &mut dyn Listener,
    lane: [Join; 2],
) -> Result<([TcpStream; 2], Box<dyn Adapter>)> {
    let mut bare = [let_in(listener, 0), let_in(listener, 1)];
    for (rail, join) in bare.iter_mut().zip(lane) {
        rail.write_all(&join.write()).unwrap();
    }
    let end = listener.accept(soon())?;
    bare.iter_mut().for_each(welcomed);
    Ok((bare, end))
}

fn joins() -> [Join; 2] {
    let token = std::array::from_fn(|at| at as u8);
    [0, 1].map(|number| Join { token, number, count: 2 })
}

/// All rails but one are gone, or there was never more than one.
struct OneRail(Rails);

impl Subject for OneRail {
    fn transport(&self) -> &dyn Transport {
        &self.0
    }

    fn address(&self) -> Address {
        Address::Rails(vec![Address::Tcp("127.0.0.1".to_owned(), 0)])
    }
}

/// A goodbye has room behind whatever was written, though the peer has said of nothing that it has
/// it: what is left of the window is not for messages.
#[test]
fn who_leaves_with_a_full_window_has_said_goodbye() {
    let system = Hello { lane: Lane::System, ..hello() };
    let message = [7; RAILS_WINDOW_SYSTEM / 16 - 4];
    for missing in 0..9 {
        let mut listener = listen();
        let address = listener.address().clone();
        let (here, there) = std::thread::scope(|scope| {
            let connect = || Rails::default().connect(&address, &system, soon());
            let connecting = scope.spawn(connect);
            let accepted = listener.accept(soon()).unwrap();
            (connecting.join().unwrap().unwrap(), accepted)
        });
        let mut here = here.datagram().unwrap();
        let mut there = Port::new(there.datagram().unwrap());
        for missing in [0; 15].into_iter().chain([missing]) {
            while here.try_send(&[IoSlice::new(&message[missing..])]).is_err() {
                here.wait(Ready::Send, soon()).unwrap();
            }
        }
        let mut here = Port::new(here);
        let flushed = here.flush(Deadline::after(Duration::from_millis(50)));
        std::thread::scope(|scope| {
            match flushed {
                Ok(()) => drop(here),
                Err(_) => drop(scope.spawn(move || here.flush(soon()).unwrap())),
            }
            for _ in 0..16 {
                there.receive(soon(), |_| ()).unwrap();
            }
            let error = there.receive(soon(), |_| ()).unwrap_err();
            assert!(matches!(error, Error::Closed { .. }), "{missing}: {error}");
        });
    }
}

/// A send that had no room took in what had come, to learn of room, and then no rail told of it any
/// more. With several rails the timer that watches for silent ones told of it by chance, later; of
/// a single one there is nothing to be watched for, and the message lay there until the next came.
#[test]
fn what_comes_during_a_send_over_one_rail_is_told_of() {
    conformance::a_descriptor_tells_of_what_came_during_a_send(&OneRail(Rails::default()));
}
