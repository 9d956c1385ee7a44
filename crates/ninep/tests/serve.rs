//! The server on real sockets: what a peer does to its own connection is felt by no other.
//! Waiting ends at a generous deadline, and no test asserts on time.

mod peer;
mod ram;
mod slow;

use muster_ninep::call::Opened;
use muster_ninep::message::{NOTAG, Tag, Tmessage};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::stream::Stream;
use muster_ninep::tree::Tree;
use muster_ninep::version::{Dialect, Version};
use peer::{MSIZE, Reply, TAG, attach, cut, read, walk, write};
use ram::Ram;
use slow::Slow;
use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);

/// A connection on which the test reads and writes and waits.
struct Line {
    socket: UnixStream,
    held: Vec<u8>,
}

impl Line {
    fn to(server: &Server) -> Line {
        let stream = server.connect().expect("a pair");
        let copy: OwnedFd = stream.as_fd().try_clone_to_owned().expect("a descriptor");
        drop::<Stream>(stream);
        let socket = UnixStream::from(copy);
        socket.set_nonblocking(false).expect("a socket");
        socket.set_read_timeout(Some(DEADLINE)).expect("a socket");
        socket.set_write_timeout(Some(DEADLINE)).expect("a socket");
        Line { socket, held: Vec::new() }
    }

    /// Connected, agreed, and attached as fid 0.
    fn attached(server: &Server) -> Line {
        let mut line = Line::to(server);
        let agree = Tmessage::Version { msize: MSIZE, version: Version::LINUX.name() };
        line.send(NOTAG, &agree);
        line.send(TAG, &attach(0));
        assert!(line.replies(2).iter().all(Reply::is_ok));
        line
    }

    fn send(&mut self, tag: Tag, message: &Tmessage<'_>) {
        let mut bytes = Vec::new();
        message.encode(tag, Dialect::Linux, &mut bytes);
        self.socket.write_all(&bytes).expect("the server reads");
    }

    /// Waits for `count` answers.
    fn replies(&mut self, count: usize) -> Vec<Reply> {
        let mut replies = Vec::new();
        let mut bytes = vec![0; 1 << 20];
        while replies.len() < count {
            let read = self.socket.read(&mut bytes).expect("an answer before the deadline");
            assert!(read > 0, "the connection has ended after {} answers", replies.len());
            self.held.extend_from_slice(&bytes[..read]);
            let mut whole = 0;
            while let Some(size) = self.held[whole..].first_chunk::<4>() {
                let size = u32::from_le_bytes(*size) as usize;
                if self.held.len() < whole + size {
                    break;
                }
                whole += size;
            }
            replies.extend(cut(&self.held[..whole], Dialect::Linux, MSIZE));
            self.held.drain(..whole);
        }
        replies
    }

    #[track_caller]
    fn ask(&mut self, message: &Tmessage<'_>) -> Reply {
        self.send(TAG, message);
        self.replies(1).remove(0).ok()
    }

    /// Fid 1 is the open pipe.
    fn at_pipe(server: &Server) -> Line {
        let mut line = Line::attached(server);
        line.ask(&walk(0, 1, &["pipe"]));
        line.ask(&Tmessage::Lopen { fid: 1, flags: 2 });
        line
    }
}

fn start<T: Tree>(tree: &Arc<T>, threads: usize) -> Server {
    Server::start(tree, threads, same_user).expect("threads")
}

/// Waits until something holds.
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "not before the deadline: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn threads_called(prefix: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux");
    let names = tasks
        .filter_map(|task| std::fs::read_to_string(task.expect("a task").path().join("comm")).ok());
    names.filter(|name| name.starts_with(prefix)).count()
}

#[test]
fn ten_thousand_reads_wait_without_a_thread_each() {
    const READS: Tag = 10_000;
    let tree = Ram::new();
    let server = start(&tree, 2);
    let mut line = Line::at_pipe(&server);
    let before = threads_called("9p-");
    for tag in 0..READS {
        line.send(tag, &read(1, 0, 3));
    }
    let mut other = Line::at_pipe(&server);
    // Other tests have servers of their own meanwhile: a few threads, not thousands.
    assert!(threads_called("9p-") < before + 100);
    let bytes: Vec<u8> = (0..READS).flat_map(|at| [b'r', (at >> 8) as u8, at as u8]).collect();
    for part in bytes.chunks(3000) {
        other.ask(&write(1, 0, part));
    }
    let replies = line.replies(READS.into());
    let tags: HashSet<Tag> = replies.iter().map(|reply| reply.tag).collect();
    assert_eq!(tags.len(), usize::from(READS), "each once");
    for reply in replies {
        assert_eq!(reply.data(), [b'r', (reply.tag >> 8) as u8, reply.tag as u8]);
    }
}

#[test]
fn a_peer_that_does_not_read_is_not_read_from_and_stops_nobody() {
    let tree = Ram::new();
    // One thread: the deaf peer and the other share it.
    let server = start(&tree, 1);
    let mut deaf = Line::attached(&server);
    deaf.ask(&walk(0, 1, &[]));
    deaf.ask(&Tmessage::Lcreate { fid: 1, name: b"file", flags: 2, mode: 0o600, gid: 0 });
    deaf.ask(&write(1, 0, &vec![b'x'; MSIZE as usize - 24]));
    deaf.socket.set_nonblocking(true).expect("a socket");
    let mut request = Vec::new();
    read(1, 0, MSIZE).encode(TAG, Dialect::Linux, &mut request);
    let requests = request.repeat(1000);
    let (mut sent, mut full, mut other) = (0, 0, Line::attached(&server));
    while full < 20 {
        match deaf.socket.write(&requests[sent % request.len()..]) {
            Ok(more) => sent += more,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                full += 1;
                other.ask(&Tmessage::Getattr { fid: 0, mask: 0 });
            }
            Err(error) => panic!("{error}"),
        }
    }
    // Each of these requests asks for 64 KiB; those that the server has read beyond its limit
    // would be seen here: a socket and a buffer hold a few thousand, no more.
    let taken = sent / request.len();
    assert!(taken * (MSIZE as usize) > 64 << 20, "{taken} were sent");
    assert!(taken < 50_000, "the server goes on reading: {taken}");
    // It takes what it asked for after all, and nothing is missing.
    deaf.socket.set_nonblocking(false).expect("a socket");
    let missing = (request.len() - sent % request.len()) % request.len();
    let mut rest = deaf.socket.try_clone().expect("a descriptor");
    let tail = request[request.len() - missing..].to_vec();
    let writer = std::thread::spawn(move || rest.write_all(&tail));
    let replies = deaf.replies(sent.div_ceil(request.len()));
    assert!(replies.iter().all(|reply| reply.data().len() == MSIZE as usize - 24));
    writer.join().expect("no panic").expect("the server reads");
}

#[test]
fn an_end_without_a_word_clunks_all_fids() {
    let tree = Ram::new();
    let server = start(&tree, 2);
    for parked in [false, true] {
        let mut lines: Vec<Line> = (0..20).map(|_| Line::at_pipe(&server)).collect();
        assert_eq!(tree.fids.load(Ordering::Relaxed), 40);
        if parked {
            lines.iter_mut().for_each(|line| line.send(1, &read(1, 0, 9)));
        }
        drop(lines);
        until("all fids are clunked", || tree.fids.load(Ordering::Relaxed) == 0);
    }
    let mut line = Line::at_pipe(&server);
    line.ask(&write(1, 0, b"data"));
    assert_eq!(line.ask(&read(1, 0, 9)).data(), b"data", "nobody who is gone has taken it");
}

#[test]
fn a_deaf_peer_that_goes_away_clunks_its_fids() {
    let tree = Ram::new();
    let server = start(&tree, 1);
    let mut deaf = Line::attached(&server);
    deaf.socket.set_nonblocking(true).expect("a socket");
    let mut request = Vec::new();
    Tmessage::Getattr { fid: 0, mask: 0 }.encode(TAG, Dialect::Linux, &mut request);
    let requests = request.repeat(10_000);
    let mut full = 0;
    while full < 10 {
        match deaf.socket.write(&requests) {
            Ok(_) => {}
            Err(_) => {
                full += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        if deaf.socket.write(&requests[..1]).is_err() {
            full += 1;
        }
    }
    drop(deaf);
    until("its fids are clunked", || tree.fids.load(Ordering::Relaxed) == 0);
}

#[test]
fn what_was_asked_before_a_half_close_is_answered() {
    let tree = Ram::new();
    let server = start(&tree, 1);
    let mut line = Line::attached(&server);
    for tag in 0..100 {
        line.send(tag, &Tmessage::Getattr { fid: 0, mask: 0 });
    }
    line.socket.shutdown(std::net::Shutdown::Write).expect("a socket");
    assert_eq!(line.replies(100).len(), 100);
    let mut rest = Vec::new();
    assert_eq!(line.socket.read_to_end(&mut rest).expect("the end"), 0);
    until("its fids are clunked", || tree.fids.load(Ordering::Relaxed) == 0);
}

#[test]
fn bytes_that_are_not_9p_end_their_connection_only() {
    let tree = Ram::new();
    let server = start(&tree, 1);
    let mut good = Line::attached(&server);
    for junk in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], &[0xff; 64], &[6, 0, 0, 0]] {
        let mut bad = Line::attached(&server);
        bad.socket.write_all(junk).expect("the server reads");
        let mut rest = Vec::new();
        // Reset or end: bytes were left unread.
        let _ = bad.socket.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }
    good.ask(&Tmessage::Getattr { fid: 0, mask: 0 });
    until("one fid is left", || tree.fids.load(Ordering::Relaxed) == 1);
}

/// Once a session was dropped with its connection, and what its tree opened later stayed open.
#[test]
fn what_is_opened_for_a_peer_that_is_gone_is_clunked() {
    let tree = Slow::new();
    let server = start(&tree, 1);
    let mut line = Line::to(&server);
    line.send(NOTAG, &Tmessage::Version { msize: MSIZE, version: "9P2000.L" });
    line.send(TAG, &attach(0));
    until("the attach is parked", || tree.waiting() == 1);
    next!(tree, Attach).answer(Ok((1, slow::FILE)));
    line.replies(2);
    line.send(TAG, &Tmessage::Lopen { fid: 0, flags: 0 });
    until("the open is parked", || tree.waiting() == 1);
    let open = next!(tree, Open);
    assert!(open.claim());
    drop(line);
    // Another connection's turn shows that the end has been seen.
    let mut other = Line::to(&server);
    other.send(NOTAG, &Tmessage::Version { msize: MSIZE, version: "9P2000.L" });
    other.replies(1);
    open.answer(Ok(Opened { fid: 2, qid: slow::FILE, iounit: 0 }));
    let mut clunked = Vec::new();
    let start = Instant::now();
    while clunked.is_empty() && start.elapsed() < DEADLINE {
        clunked = tree.clunked();
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(clunked, [2]);
}

#[test]
fn a_server_that_ends_ends_its_connections() {
    let tree = Ram::new();
    let server = start(&tree, 3);
    let mut lines: Vec<Line> = (0..7).map(|_| Line::at_pipe(&server)).collect();
    lines.iter_mut().for_each(|line| line.send(1, &read(1, 0, 9)));
    drop(server);
    for mut line in lines {
        let mut rest = Vec::new();
        let _ = line.socket.read_to_end(&mut rest);
        assert_eq!(rest, b"");
    }
    assert_eq!(tree.fids.load(Ordering::Relaxed), 0);
}
