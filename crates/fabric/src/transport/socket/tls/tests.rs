//! What only TLS promises. What every transport does is in `conformance`.

use super::super::{EXTRA, HEAD, Member, Records, Secured, Tcp};
use super::*;
use crate::strategy::{Bare, Datagram, Ready, Stream};
use crate::transport::{Lane, shared};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{IoSlice, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

fn identity(number: u8) -> Identity {
    Identity::from_secret(&[number; 32])
}

/// A list in which key 1 is n1's, and so on.
fn members(numbers: &[u8]) -> Members {
    let members = Members::default();
    for &number in numbers {
        members.pin(&format!("n{number}"), identity(number).public_key()).unwrap();
    }
    members
}

fn hello(name: &str) -> Hello {
    Hello { name: name.to_owned(), service: "test".to_owned(), lane: Lane::Bulk }
}

fn here() -> Address {
    Address::Tls("127.0.0.1".to_owned(), 0)
}

type Connected = Result<Box<dyn Adapter>>;

/// What became of a connection at both ends.
fn meet(
    from: &Tls,
    name: &str,
    listener: &mut dyn Listener,
) -> (Connected, Option<Box<dyn Adapter>>) {
    let address = listener.address().clone();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| from.connect(&address, &hello(name), soon()));
        let mut accepted = None;
        while accepted.is_none() && !connecting.is_finished() {
            accepted = listener.accept(Deadline::after(Duration::from_millis(20))).ok();
        }
        (connecting.join().unwrap(), accepted)
    })
}

fn assert_serves(listener: &mut dyn Listener) {
    let (connected, accepted) = meet(&Tls::new(&identity(2), &members(&[1, 2])), "n2", listener);
    assert!(connected.is_ok() && accepted.is_some());
}

fn error(connected: Connected) -> Error {
    connected.err().expect("an error")
}

#[test]
fn each_end_knows_whose_key_the_other_has() {
    let members = members(&[1, 2]);
    let [one, two] = [1, 2].map(|number| Tls::new(&identity(number), &members));
    let mut listener = one.listen(&here()).unwrap();
    for name in ["n2", "n2.00ff"] {
        let (connected, accepted) = meet(&two, name, &mut *listener);
        let (connected, accepted) = (connected.unwrap(), accepted.unwrap());
        let member = |adapter: &dyn Adapter| adapter.peer().member.clone().unwrap();
        let theirs = Member { name: "n2".to_owned(), key: identity(2).public_key() };
        assert_eq!(member(&*accepted), theirs);
        assert_eq!((accepted.peer().name.as_str(), accepted.peer().is_here), (name, true));
        assert_eq!(member(&*connected).name, "n1");
    }
}

#[test]
fn a_key_that_is_in_no_list_is_refused_at_either_end() {
    let mut listener = Tls::new(&identity(1), &members(&[1, 2])).listen(&here()).unwrap();
    let unknown = Tls::new(&identity(3), &members(&[1, 3]));
    let (connected, accepted) = meet(&unknown, "n2", &mut *listener);
    let refused = error(connected);
    assert!(matches!(&refused, Error::Refused { why, .. } if why.contains("list")), "{refused}");
    assert!(accepted.is_none());
    let stranger = Tls::new(&identity(2), &members(&[2, 3]));
    let (connected, accepted) = meet(&stranger, "n2", &mut *listener);
    let untrusted = error(connected);
    assert!(matches!(untrusted, Error::Untrusted { .. }), "{untrusted}");
    assert!(accepted.is_none());
    assert_serves(&mut *listener);
}

#[test]
fn a_revoked_key_makes_no_new_connection() {
    let list = members(&[1, 2]);
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    let two = Tls::new(&identity(2), &members(&[1, 2]));
    let (connected, accepted) = meet(&two, "n2", &mut *listener);
    list.revoke("n2");
    let (again, nobody) = meet(&two, "n2", &mut *listener);
    assert!(matches!(error(again), Error::Refused { .. }));
    assert!(nobody.is_none());
    // What was there lives on.
    let mut end = connected.unwrap().datagram().unwrap();
    end.send(&[IoSlice::new(b"still here")], soon()).unwrap();
    let mut other = accepted.unwrap().datagram().unwrap();
    other.take(soon(), &mut |message| assert_eq!(message, b"still here")).unwrap();
}

#[test]
fn a_connection_that_is_asked_for_and_not_taken_stays_where_it_is() {
    let list = members(&[1, 2]);
    let [one, two] = [1, 2].map(|number| Keys::new(&identity(number), &list));
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let tcp = TcpStream::connect(door.local_addr().unwrap()).unwrap();
    let tcp = [tcp, door.accept().unwrap().0].map(|tcp| {
        tcp.set_nonblocking(true).unwrap();
        OwnedFd::from(tcp)
    });
    let [here, there] = tcp;
    let lines = [one.line_to(here).unwrap(), two.line_from(there, two.expect().unwrap())];
    let [mut here, mut there] = lines.each_ref().map(|line| {
        let near = UnixStream::from(line.socket.try_clone().unwrap());
        near.set_nonblocking(false).unwrap();
        near
    });
    for _ in 0..2 {
        here.write_all(b"still here").unwrap();
        let mut read = [0; 10];
        there.read_exact(&mut read).unwrap();
        assert_eq!(&read, b"still here");
        lines.iter().for_each(|line| line.tunnel.as_ref().unwrap().ask_in_vain());
    }
}

#[test]
fn a_hello_in_another_members_name_is_refused_by_a_sentence() {
    let list = members(&[1, 2, 3]);
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    let two = Tls::new(&identity(2), &list);
    for name in ["n3", "n3.0001", "n22", ""] {
        let (connected, accepted) = meet(&two, name, &mut *listener);
        let refused = error(connected).to_string();
        assert!(refused.contains(&format!("the key is n2's, and the hello says {name}")));
        assert!(accepted.is_none());
    }
    assert_serves(&mut *listener);
}

#[test]
fn who_speaks_in_the_clear_at_a_door_with_tls_is_told_so_and_the_other_way_round() {
    let tls = Tls::new(&identity(2), &members(&[1, 2]));
    let mut protected = Tls::new(&identity(1), &members(&[1, 2])).listen(&here()).unwrap();
    let Address::Tls(host, port) = protected.address().clone() else { panic!("it is TLS") };
    let mut plain = Tcp.listen(&Address::Tcp(host.clone(), 0)).unwrap();
    let Address::Tcp(_, plain_port) = plain.address().clone() else { panic!("it is TCP") };
    thread::scope(|scope| {
        let clear =
            scope.spawn(|| Tcp.connect(&Address::Tcp(host.clone(), port), &hello("n2"), soon()));
        while !clear.is_finished() {
            assert!(protected.accept(Deadline::after(Duration::from_millis(20))).is_err());
        }
        let told = error(clear.join().unwrap()).to_string();
        assert!(told.contains("tls!HOST!PORT"), "{told}");
        let at = Address::Tls(host.clone(), plain_port);
        let protected = scope.spawn(move || tls.connect(&at, &hello("n2"), soon()));
        while !protected.is_finished() {
            assert!(plain.accept(Deadline::after(Duration::from_millis(20))).is_err());
        }
        let told = error(protected.join().unwrap());
        assert!(
            matches!(&told, Error::Malformed { what, .. } if what.contains("no TLS")),
            "{told}"
        );
    });
    assert_serves(&mut *protected);
}

#[test]
fn half_a_handshake_and_garbage_hold_up_nobody() {
    let mut listener = Tls::new(&identity(1), &members(&[1, 2])).listen(&here()).unwrap();
    let Address::Tls(host, port) = listener.address().clone() else { panic!("it is TLS") };
    let begun = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    let mut silent = Vec::new();
    for said in [&begun[..], &begun[..3], &[0; 70_000], &[0x16; 70_000], b""] {
        for stays in [true, false] {
            let mut caller = TcpStream::connect((host.as_str(), port)).unwrap();
            // It may be sent away in the middle of it.
            let _ = caller.write_all(said);
            silent.extend(stays.then_some(caller));
            assert_serves(&mut *listener);
        }
    }
}

#[test]
fn a_handshake_that_never_ends_ends_at_the_deadline() {
    let deaf = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = Address::Tls("127.0.0.1".to_owned(), deaf.local_addr().unwrap().port());
    let tls = Tls::new(&identity(2), &members(&[1, 2]));
    let brief = Deadline::after(Duration::from_millis(20));
    let late = error(tls.connect(&at, &hello("n2"), brief));
    assert!(matches!(&late, Error::Deadline { who, .. } if who == "n2"), "{late}");
}

/// What a man in the middle does to what goes to the connector.
#[derive(Clone, Copy)]
enum Mischief {
    /// Ends the connection as if the listener had.
    Cut,
    /// Changes a byte.
    Change,
}

/// Between a connector and `to`: passes everything on until the listener has said the word, and
/// then does its mischief.
fn middle(to: u16, mischief: Mischief) -> (Address, JoinHandle<()>) {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = Address::Tls("127.0.0.1".to_owned(), door.local_addr().unwrap().port());
    let passing = thread::spawn(move || {
        let (mut near, _) = door.accept().unwrap();
        let mut far = TcpStream::connect(("127.0.0.1", to)).unwrap();
        let (mut back, mut forth) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        let forward = thread::spawn(move || {
            let _ = std::io::copy(&mut back, &mut forth);
        });
        let mut bytes = [0; 4096];
        // A record of a message with a megabyte is the first that is so long.
        loop {
            let size = far.read(&mut bytes).unwrap();
            assert!(size > 0, "the listener says it");
            if size == bytes.len() {
                break;
            }
            near.write_all(&bytes[..size]).unwrap();
        }
        match mischief {
            Mischief::Cut => near.shutdown(Shutdown::Both).unwrap(),
            Mischief::Change => {
                bytes[1000] ^= 1;
                near.write_all(&bytes).unwrap();
                let _ = std::io::copy(&mut far, &mut near);
            }
        }
        drop((near, far));
        forward.join().unwrap();
    });
    (at, passing)
}

fn read_to_end(end: &mut dyn Stream) -> Result<usize> {
    let (mut size, mut bytes) = (0, [0; 4096]);
    loop {
        match end.try_read(&mut bytes) {
            Ok(0) => return Ok(size),
            Ok(count) => size += count,
            Err(Error::WouldBlock) => end.wait(Ready::Receive, soon())?,
            Err(error) => return Err(error),
        }
    }
}

#[test]
fn bytes_that_were_cut_off_or_changed_on_the_way_are_an_error_and_no_end() {
    let list = members(&[1, 2]);
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    let Address::Tls(_, port) = listener.address().clone() else { panic!("it is TLS") };
    for mischief in [Mischief::Cut, Mischief::Change] {
        let (at, passing) = middle(port, mischief);
        let two = Tls::new(&identity(2), &list);
        let connecting = thread::spawn(move || two.connect(&at, &hello("n2"), soon()));
        let mut accepted = listener.accept(soon()).unwrap().stream().unwrap();
        let mut end = connecting.join().unwrap().unwrap().stream().unwrap();
        let sent = accepted.try_write(&[7; 20_000]).unwrap();
        assert!(sent > 8192);
        let told = read_to_end(&mut *end).unwrap_err();
        let is_told = match mischief {
            Mischief::Cut => matches!(told, Error::Dead { .. }),
            Mischief::Change => matches!(told, Error::Malformed { .. }),
        };
        assert!(is_told, "{told}");
        let again = end.try_read(&mut [0]).unwrap_err();
        assert_eq!(again.to_string(), told.to_string());
        let refused = (0..1000).find_map(|_| match end.try_write(b"x") {
            Err(Error::WouldBlock) | Ok(_) => None,
            Err(error) => Some(error),
        });
        assert_eq!(refused.expect("it is over").to_string(), told.to_string());
        drop((accepted, end));
        passing.join().unwrap();
    }
}

#[test]
fn an_end_in_order_is_an_end_and_the_other_way_stays_open() {
    let list = members(&[1, 2]);
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    let (connected, accepted) = meet(&Tls::new(&identity(2), &list), "n2", &mut *listener);
    let mut one = connected.unwrap().stream().unwrap();
    let mut other = accepted.unwrap().stream().unwrap();
    one.try_write(&[1; 5000]).unwrap();
    one.finish(soon()).unwrap();
    assert_eq!(read_to_end(&mut *other).unwrap(), 5000);
    other.try_write(&[2; 3000]).unwrap();
    drop(other);
    assert_eq!(read_to_end(&mut *one).unwrap(), 3000);
}

#[test]
fn who_comes_to_a_door_without_descriptors_waits_in_its_queue() {
    const CHILD: &str = "MUSTER_TLS_DESCRIPTORS";
    // Others in this process would take the numbers that are left.
    if std::env::var_os(CHILD).is_none() {
        let (_, test) = module_path!().split_once("::").unwrap();
        let test = format!("{test}::who_comes_to_a_door_without_descriptors_waits_in_its_queue");
        let mut child = Command::new(std::env::current_exe().unwrap());
        let child = child.args(["--exact", &test, "--test-threads=1"]).env(CHILD, "");
        assert!(child.stdout(Stdio::null()).status().unwrap().success());
        return;
    }
    let one = Tls::new(&identity(1), &members(&[1, 2]));
    assert_serves(&mut *one.listen(&here()).unwrap());
    let before = getrlimit(Resource::Nofile);
    for left in 0..3 {
        let mut listener = one.listen(&here()).unwrap();
        let Address::Tls(host, port) = listener.address().clone() else { panic!("another kind") };
        let mut caller = TcpStream::connect((host, port)).unwrap();
        caller.set_nonblocking(true).unwrap();
        let next = std::fs::File::open("/").unwrap().as_raw_fd() as u64;
        setrlimit(Resource::Nofile, Rlimit { current: Some(next + left), ..before }).unwrap();
        let error = listener.accept(Deadline::now()).err().unwrap();
        assert!(matches!(error, Error::Exhausted { .. }), "{left}: {error}");
        setrlimit(Resource::Nofile, before).unwrap();
        let cut = caller.read(&mut [0]).unwrap_err();
        assert_eq!(cut.kind(), std::io::ErrorKind::WouldBlock, "{left}: {cut}");
        assert_serves(&mut *listener);
    }
}

/// The address for the child of the next test.
const CHILD: &str = "MUSTER_TLS_CHILD";
const LARGE: usize = 100_000;

#[test]
fn what_was_sent_before_the_process_ended_arrives() {
    let list = members(&[1, 2]);
    if let Ok(address) = std::env::var(CHILD) {
        let two = Tls::new(&identity(2), &list);
        let end = two.connect(&address.parse().unwrap(), &hello("n2"), soon()).unwrap();
        let mut end = end.datagram().unwrap();
        end.send(&[IoSlice::new(&[5; LARGE])], soon()).unwrap();
        drop(end);
        std::process::exit(0);
    }
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    let (_, test) = module_path!().split_once("::").unwrap();
    let test = format!("{test}::what_was_sent_before_the_process_ended_arrives");
    for _ in 0..5 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &test])
            .env(CHILD, listener.address().to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let accepted = listener.accept(soon()).unwrap().datagram();
        let received = accepted.and_then(|mut end| {
            child.wait().unwrap();
            end.take(soon(), &mut |message| assert_eq!(message, [5; LARGE]))?;
            Ok(end.take(soon(), &mut |_| panic!("no more was sent")))
        });
        let _ = child.kill();
        let _ = child.wait();
        let end = received.unwrap();
        assert!(matches!(end, Err(Error::Closed { .. })), "{end:?}");
    }
}

#[test]
fn a_fork_of_a_process_that_has_connections_makes_its_own() {
    let list = members(&[1, 2]);
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    let two = Tls::new(&identity(2), &list);
    let _theirs = meet(&two, "n2", &mut *listener);
    let address = listener.address().clone();
    let connect = move || two.connect(&address, &hello("n2"), soon()).is_ok();
    let child = thread::spawn(|| shared::sys::in_a_fork(connect));
    listener.accept(soon()).unwrap();
    assert!(child.join().unwrap());
}

#[test]
fn the_system_lane_has_its_options_through_tls() {
    let list = members(&[1, 2]);
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    let two = Tls::new(&identity(2), &list);
    for lane in [Lane::System, Lane::Bulk] {
        let address = listener.address().clone();
        let said = Hello { lane, ..hello("n2") };
        let two = two.clone();
        let connecting = thread::spawn(move || two.connect(&address, &said, soon()));
        let accepted = listener.accept(soon()).unwrap();
        for end in [connecting.join().unwrap().unwrap(), accepted] {
            let end = end.stream().unwrap();
            let room = rustix::net::sockopt::socket_send_buffer_size(end.socket().unwrap());
            assert_eq!(room.unwrap() <= 128 * 1024, lane == Lane::System);
        }
    }
}

/// Whoever has the keys speaks TLS: the other end is none the wiser.
#[test]
fn a_connection_that_was_given_away_goes_on_where_it_was() {
    let list = members(&[1, 2]);
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    for is_accepted in [true, false] {
        let (connected, accepted) = meet(&Tls::new(&identity(2), &list), "n2", &mut *listener);
        let ends = (connected.unwrap().stream().unwrap(), accepted.unwrap().stream().unwrap());
        let (mut given, mut other) = if is_accepted { (ends.1, ends.0) } else { ends };
        let mut bytes = [0; 64];
        for said in [&b"one"[..], b"two"] {
            given.write(said, soon()).unwrap();
            assert_eq!(other.read(&mut bytes, soon()).unwrap(), said.len());
            other.write(said, soon()).unwrap();
            assert_eq!(given.read(&mut bytes, soon()).unwrap(), said.len());
        }
        let Bare { socket, session } = given.bare().unwrap();
        let keys = session.unwrap().into_keys();
        assert!(rustix::net::sockopt::tcp_nodelay(&socket).unwrap());
        assert!(rustix::net::sockopt::socket_keepalive(&socket).unwrap());
        let (mut socket, records) = (TcpStream::from(socket), Records::new(&keys.unwrap()));
        socket.set_nonblocking(false).unwrap();
        for number in 0..3 {
            let mut record = [&[0; HEAD][..], b"more"].concat();
            records.seal(number, &mut record, 0).unwrap();
            socket.write_all(&record).unwrap();
            assert_eq!(other.read(&mut bytes, soon()).unwrap(), 4);
            assert_eq!(&bytes[..4], b"more");
            other.write(b"and more", soon()).unwrap();
            let mut record = [0; 8 + EXTRA];
            socket.read_exact(&mut record).unwrap();
            let (content, end) = records.open(number, &mut record).unwrap().unwrap();
            assert_eq!((&record[content], end), (&b"and more"[..], 8 + EXTRA));
        }
    }
}

/// Two ends whose owners do TLS by themselves; little goes in between.
fn secured_pair() -> [Secured; 2] {
    let list = members(&[1, 2]);
    let mut listener = Tls::new(&identity(1), &list).listen(&here()).unwrap();
    let (connected, accepted) = meet(&Tls::new(&identity(2), &list), "n2", &mut *listener);
    [connected.unwrap(), accepted.unwrap()].map(|end| {
        let bare = end.stream().unwrap().bare().unwrap();
        rustix::net::sockopt::set_socket_send_buffer_size(&bare.socket, 8192).unwrap();
        Secured::of(bare).unwrap()
    })
}

/// Reads until there is nothing at the moment.
fn drain(end: &Secured, into: &mut Vec<u8>) -> std::io::Result<()> {
    let mut bytes = vec![0; 300_000];
    loop {
        match end.read(&mut bytes) {
            Ok(0) => return Ok(()),
            Ok(size) => into.extend_from_slice(&bytes[..size]),
            Err(error) => return Err(error),
        }
    }
}

#[test]
fn what_was_taken_leaves_when_there_is_room_and_a_short_read_leaves_nothing_behind() {
    let [one, two] = secured_pair();
    let said: Vec<u8> = (0..60_000_000u32).map(|byte| (byte >> 3) as u8).collect();
    let mut taken = 0;
    let full = loop {
        let (some, rest) = said[taken..].split_at(10);
        match one.write(&[some, &rest[..100_000]].map(IoSlice::new)) {
            Ok(size) => taken += size,
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), std::io::ErrorKind::WouldBlock);
    let (mut got, deadline) = (Vec::new(), Deadline::after(Duration::from_secs(60)));
    while got.len() < taken {
        assert!(deadline.left().is_some(), "{} of {taken} bytes came", got.len());
        let _ = one.flush();
        let error = drain(&two, &mut got).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
    assert!(got == said[..taken]);
    one.flush().unwrap();
    // A word that is read in part is still there.
    assert_eq!(two.write(&[IoSlice::new(b"answer")]).unwrap(), 6);
    let mut part = [0; 4];
    let soon = Some(&rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 });
    let mut polled = [rustix::event::PollFd::new(&one, rustix::event::PollFlags::IN)];
    assert_eq!(rustix::event::poll(&mut polled, soon), Ok(1));
    assert_eq!(one.read(&mut part).unwrap(), 4);
    assert_eq!(one.read(&mut part).unwrap(), 2, "no word of the descriptor's is needed");
    drop(two);
    assert_eq!(rustix::event::poll(&mut polled, soon), Ok(1));
    assert_eq!(one.read(&mut part).unwrap(), 0, "it said goodbye");
}

#[test]
fn an_end_without_goodbye_is_none_also_where_no_thread_looks() {
    let [one, two] = secured_pair();
    assert_eq!(two.write(&[IoSlice::new(b"last words")]).unwrap(), 10);
    rustix::net::shutdown(&two, rustix::net::Shutdown::Both).unwrap();
    let mut got = Vec::new();
    let end = loop {
        match drain(&one, &mut got) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => thread::yield_now(),
            end => break end,
        }
    };
    assert_eq!(got, b"last words");
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
}

/// Waits until so many bytes have arrived.
fn await_bytes(end: &Secured, count: usize) {
    let deadline = soon();
    while rustix::io::ioctl_fionread(end).unwrap() < count as u64 {
        assert!(deadline.left().is_some(), "{count} bytes do not come");
        thread::yield_now();
    }
}

#[test]
fn a_goodbye_that_comes_with_the_last_bytes_is_told_of_where_tcp_does_not_end() {
    let [one, two] = secured_pair();
    let stays = two.as_fd().try_clone_to_owned().unwrap();
    assert_eq!(two.write(&[IoSlice::new(b"last")]).unwrap(), 4);
    drop(two);
    let mut bytes = [0; 64];
    await_bytes(&one, 4 + 2 + 2 * EXTRA);
    assert_eq!(one.read(&mut bytes).unwrap(), 4);
    let soon = Some(&rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 });
    let mut polled = [rustix::event::PollFd::new(&one, rustix::event::PollFlags::IN)];
    assert_eq!(rustix::event::poll(&mut polled, soon), Ok(1), "its descriptor says so");
    assert_eq!(one.read(&mut bytes).unwrap(), 0);
    drop(stays);
}

#[test]
fn behind_a_record_that_was_changed_nothing_is_read_or_written() {
    let [one, two] = secured_pair();
    assert_eq!(two.write(&[IoSlice::new(b"right")]).unwrap(), 5);
    rustix::net::send(&two, &[23, 3, 3, 0, 20], rustix::net::SendFlags::empty()).unwrap();
    rustix::net::send(&two, &[0; 20], rustix::net::SendFlags::empty()).unwrap();
    await_bytes(&one, 5 + EXTRA + 25);
    let mut bytes = [0; 64];
    assert_eq!(one.read(&mut bytes).unwrap(), 5, "what came before it is handed over");
    let answer = one.write(&[IoSlice::new(b"answer")]).unwrap_err();
    assert_eq!(answer.kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(one.read(&mut bytes).unwrap_err().kind(), std::io::ErrorKind::InvalidData);
}
