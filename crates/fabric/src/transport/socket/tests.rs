//! What only sockets do. What every transport does is in `conformance`.

use super::*;
use crate::strategy::{Datagram, Ready, Stream, Wait};
use crate::transport::{Adapter, Lane, hello, shared};
use rustix::net::sockopt;
use std::fs;
use std::io::{IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

fn said(lane: Lane) -> Hello {
    Hello { name: "connector".to_owned(), service: "test".to_owned(), lane }
}

/// A directory that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-socket-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Folder(path)
    }

    fn address(&self) -> Address {
        Address::Unix(self.0.join("s"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_socket_that_a_killed_process_left_is_replaced_and_a_living_one_is_not() {
    let folder = Folder::new();
    // What std leaves when it is dropped is what a killed process leaves.
    drop(UnixListener::bind(folder.0.join("s")).unwrap());
    let listener = Unix.listen(&folder.address()).expect("nobody listens");
    let second = Unix.listen(&folder.address()).err().expect("somebody listens");
    assert!(matches!(second, Error::Io { .. }), "{second}");
    drop(listener);
    assert!(!folder.0.join("s").exists(), "the name goes with the listener");
}

#[test]
fn a_file_that_is_no_socket_is_not_touched() {
    let folder = Folder::new();
    fs::write(folder.0.join("s"), "precious").unwrap();
    assert!(Unix.listen(&folder.address()).is_err());
    assert_eq!(fs::read_to_string(folder.0.join("s")).unwrap(), "precious");
}

#[test]
fn a_listener_removes_no_name_but_its_own() {
    let folder = Folder::new();
    let first = Unix.listen(&folder.address()).unwrap();
    fs::remove_file(folder.0.join("s")).unwrap();
    let _second = Unix.listen(&folder.address()).unwrap();
    drop(first);
    let there = fs::metadata(folder.0.join("s")).expect("the second one's");
    assert!(there.file_type().is_socket() && there.permissions().mode() != 0);
}

#[test]
fn who_locks_the_directory_for_ever_keeps_no_listener_waiting_for_ever() {
    let folder = Folder::new();
    let directory = fs::File::open(&folder.0).unwrap();
    directory.lock().unwrap();
    let at = folder.address();
    let (done, result) = std::sync::mpsc::channel();
    let listening = thread::spawn(move || done.send(Unix.listen(&at).map(drop)));
    let error = result.recv_timeout(Duration::from_secs(20)).expect("it ends").unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    listening.join().unwrap().unwrap();
    directory.unlock().unwrap();
    Unix.listen(&folder.address()).expect("the lock is free again");
}

/// Connects to a listener that answers with these bytes.
fn answered(answer: Vec<u8>) -> Result<Box<dyn Adapter>> {
    let folder = Folder::new();
    let listener = UnixListener::bind(folder.0.join("s")).unwrap();
    let answering = thread::spawn(move || {
        let (mut caller, _) = listener.accept().unwrap();
        let mut hello = [0; 20];
        caller.read_exact(&mut hello[..hello::write(&said(Lane::Bulk)).len().min(20)]).unwrap();
        caller.write_all(&answer).unwrap();
    });
    let connected = Unix.connect(&folder.address(), &said(Lane::Bulk), soon());
    answering.join().unwrap();
    connected
}

#[test]
fn the_connector_is_told_of_another_version_and_of_every_refusal() {
    let mut newer = hello::welcome();
    newer[4] = 2;
    let versions = |error: Error| match error {
        Error::Version { theirs, ours, .. } => (theirs, ours),
        other => panic!("{other}"),
    };
    assert_eq!(versions(answered(newer).err().unwrap()), (2, hello::VERSION));
    let denied = hello::Refusal::Denied("not today".to_owned()).answer();
    let denied = answered(denied).err().unwrap().to_string();
    assert!(denied.contains("not today"), "{denied}");
    for garbage in [&b"HTTP/1.1 400 Bad Request"[..], &[0; 8], b"MSTR\x01\0\x09\0"] {
        let error = answered(garbage.to_vec()).err().unwrap();
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
    }
    for cut in [&b""[..], b"MSTR\x01", b"MSTR\x01\0\x03\x05ab"] {
        let error = answered(cut.to_vec()).err().unwrap();
        assert!(matches!(error, Error::Dead { .. }), "{error}");
    }
}

#[test]
fn who_is_never_answered_is_told_at_its_deadline_for_whom_it_waited() {
    let folder = Folder::new();
    let _deaf = UnixListener::bind(folder.0.join("s")).unwrap();
    let deadline = Deadline::after(Duration::from_millis(10));
    match Unix.connect(&folder.address(), &said(Lane::Bulk), deadline).err().unwrap() {
        Error::Deadline { who, whom, .. } => {
            assert_eq!((who, whom), ("connector".to_owned(), folder.address().to_string()));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn who_was_too_slow_itself_does_not_take_the_listener_for_one_that_refuses() {
    let folder = Folder::new();
    let listener = UnixListener::bind(folder.0.join("s")).unwrap();
    let line = || connect::unix(&folder.address(), &folder.0.join("s"), &said(Lane::Bulk), soon());
    for refuses in [true, false] {
        let line = connect::Line::new(line().unwrap(), Protection::Local);
        // It has come and was stopped: the listener has sent it away meanwhile.
        let mut caller = listener.accept().unwrap().0;
        if refuses {
            let slow = hello::Refusal::Denied("it was too slow".to_owned());
            caller.write_all(&slow.answer()).unwrap();
        }
        drop(caller);
        let late = connect::greet(line, &folder.address(), &said(Lane::Bulk), Deadline::now());
        let late = late.err().unwrap();
        assert!(matches!(late, Error::Deadline { .. }), "{late}");
    }
}

fn connected(transport: &dyn Transport, at: &Address, lane: Lane) -> [Box<dyn Stream>; 2] {
    let mut listener = transport.listen(at).unwrap();
    let address = listener.address().clone();
    thread::scope(|scope| {
        let connecting = scope.spawn(|| transport.connect(&address, &said(lane), soon()));
        let accepted = listener.accept(soon()).unwrap();
        [connecting.join().unwrap().unwrap(), accepted].map(|end| end.stream().unwrap())
    })
}

#[test]
fn a_connection_to_itself_is_known_by_whatever_address_it_was_asked_for() {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, getsockname};
    use std::net::SocketAddr;
    for asked in ["127.0.0.1", "0.0.0.0"] {
        let kind = (AddressFamily::INET, SocketType::STREAM);
        let open = || rustix::net::socket_with(kind.0, kind.1, SocketFlags::CLOEXEC, None);
        let itself = open().unwrap();
        bind(&itself, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
        let port = SocketAddr::try_from(getsockname(&itself).unwrap()).unwrap().port();
        connect(&itself, &format!("{asked}:{port}").parse::<SocketAddr>().unwrap()).unwrap();
        assert!(is_to_itself(itself.as_fd()), "{asked}");
    }
    let [one, other] = connected(&Tcp, &Address::Tcp("127.0.0.1".to_owned(), 0), Lane::Bulk);
    assert!(![one, other].iter().any(|end| is_to_itself(end.socket().unwrap())));
}

#[test]
fn a_door_that_the_kernel_lets_nobody_through_says_so() {
    let folder = Folder::new();
    let mut listener = Unix.listen(&folder.address()).unwrap();
    let (done, result) = std::sync::mpsc::channel();
    let accepting = thread::spawn(move || {
        shared::sys::refuse(libc::SYS_accept4).unwrap();
        done.send(listener.accept(soon()).map(drop))
    });
    let error = result.recv_timeout(Duration::from_secs(60)).expect("it ends").unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    accepting.join().unwrap().unwrap();
}

#[test]
fn both_ends_of_a_connection_have_their_lanes_options() {
    for host in ["127.0.0.1", "::1"] {
        let at = Address::Tcp(host.to_owned(), 0);
        for lane in [Lane::System, Lane::Bulk] {
            for end in connected(&Tcp, &at, lane) {
                let socket: BorrowedFd<'_> = end.socket().unwrap();
                assert!(sockopt::tcp_nodelay(socket).unwrap());
                assert!(sockopt::socket_keepalive(socket).unwrap());
                let control = sockopt::tcp_congestion(socket).unwrap();
                assert!(["cubic", "reno"].contains(&control.as_str()), "{control} on loopback");
                let limit = sockopt::tcp_user_timeout(socket).unwrap();
                assert_eq!(limit == SILENCE.as_millis() as u32, lane == Lane::System);
                let small = sockopt::socket_send_buffer_size(socket).unwrap() <= 128 * 1024;
                assert_eq!(small, lane == Lane::System, "{lane:?} of {host}");
            }
        }
    }
}

#[test]
fn a_reset_is_evidence_of_death() {
    let [mut one, other] = connected(&Tcp, &Address::Tcp("127.0.0.1".to_owned(), 0), Lane::Bulk);
    sockopt::set_socket_linger(other.socket().unwrap(), Some(Duration::ZERO)).unwrap();
    drop(other);
    one.wait(Ready::Receive, soon()).unwrap();
    let error = one.try_read(&mut [0]).unwrap_err();
    assert!(matches!(error, Error::Dead { .. }), "{error}");
}

#[test]
fn a_descriptor_is_readable_when_something_has_arrived() {
    let folder = Folder::new();
    let [mut one, other] = connected(&Unix, &folder.address(), Lane::Bulk);
    let readable = |most| {
        let flags = rustix::event::PollFlags::IN;
        connection::is_ready(other.descriptor().unwrap().as_fd(), flags, most).unwrap()
    };
    assert!(!readable(Duration::ZERO));
    assert_eq!(one.try_write(b"x").unwrap(), 1);
    assert!(readable(Duration::from_secs(20)));
}

fn datagrams(folder: &Folder) -> (Box<dyn Datagram>, Box<dyn Datagram>) {
    let mut listener = Unix.listen(&folder.address()).unwrap();
    let connect = || Unix.connect(&folder.address(), &said(Lane::Bulk), soon()).unwrap();
    thread::scope(|scope| {
        let here = scope.spawn(|| connect().datagram().unwrap());
        let there = listener.accept(soon()).unwrap().datagram().unwrap();
        (here.join().unwrap(), there)
    })
}

#[test]
fn who_leaves_when_its_last_message_has_filled_the_socket_has_said_goodbye() {
    let folder = Folder::new();
    // One packet of the kernel's each.
    let message = [IoSlice::new(&[7; 30_000])];
    for count in 1.. {
        let (mut here, mut there) = datagrams(&folder);
        let have_left =
            (0..count).all(|_| here.try_send(&message).is_ok() && here.try_flush().unwrap());
        if !have_left {
            assert!(count > 1, "one has room");
            return;
        }
        drop(here);
        for _ in 0..count {
            there.take(soon(), &mut |message| assert_eq!(message.len(), 30_000)).unwrap();
        }
        let error = there.take(soon(), &mut |_| ()).unwrap_err();
        assert!(matches!(error, Error::Closed { .. }), "{count} messages: {error}");
    }
}

#[test]
fn what_came_before_the_end_is_received_though_nothing_more_can_leave() {
    let folder = Folder::new();
    let (mut here, mut there) = datagrams(&folder);
    // More than the socket holds, which nobody reads.
    let long = vec![7; 1 << 20];
    while here.try_queue(&[], &long.clone().into()).is_ok() {}
    assert!(!here.try_flush().unwrap());
    for message in [&b"first"[..], b"last"] {
        there.send(&[IoSlice::new(message)], soon()).unwrap();
    }
    drop(there);
    for message in [&b"first"[..], b"last"] {
        here.wait(Ready::Receive, soon()).unwrap();
        here.try_take(&mut |taken| assert_eq!(taken, message)).unwrap();
    }
    assert!(here.wait(Ready::Receive, soon()).is_err(), "it has ended");
}
