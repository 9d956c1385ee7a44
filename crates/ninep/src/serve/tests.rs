//! What peers may hold of a server, with limits that a test can reach.

use super::*;
use crate::call::{Answer, Ticket};
use crate::message::{NOFID, NONUNAME, NOTAG, Tag, Tmessage, UserNumber};
use crate::stream::Secure;
use crate::synthetic::{Dir, Entry, File, Handle, Inode, SynCall, Synthetic};
use crate::version::Dialect;
use crate::wire::{Names, Payload};
use muster_base::limits::WRITES_KEPT_MAX;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

const DEADLINE: Duration = Duration::from_secs(60);

/// Patience that a test can wait for, and a busy machine does not try.
const SHORT: Duration = Duration::from_millis(1500);

/// Bytes of a write that is larger than a first buffer.
const LARGE: usize = 600 * 1024;

/// Two of the largest messages that the tests' clients agree on.
const TWO: usize = 2 * (MSIZE as usize + AHEAD);

const MSIZE: u32 = 1 << 20;

/// A directory with the files `sink`, which takes everything, and `clog`, which takes nothing.
struct Root(Inode, File, Arc<Clog>);

/// Writes that wait.
#[derive(Default)]
struct Clog(Mutex<Vec<Ticket<u32>>>);

impl Clog {
    /// Waits until so many are wanted.
    fn has(&self, wanted: usize) {
        let live = || {
            let waiting = self.0.lock().expect("no holder panics");
            waiting.iter().filter(|ticket| ticket.is_live()).count()
        };
        let start = Instant::now();
        while live() != wanted {
            assert!(start.elapsed() < DEADLINE, "{} wait, not {wanted}", live());
            std::thread::yield_now();
        }
    }
}

impl Handle for Arc<Clog> {
    fn write(&self, call: &mut SynCall<'_>, _: u64, _: &[u8]) -> Answer<u32> {
        call.park(|ticket| self.0.lock().expect("no holder panics").push(ticket))
    }
}

struct Sink;

impl Handle for Sink {
    fn write(&self, _: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        Ok(data.len() as u32)
    }
}

impl Dir for Root {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, name: &str) -> crate::error::Result<Option<Entry>> {
        let clog = self.2.clone();
        Ok(match name {
            "sink" => Some(Entry::File(self.1.clone())),
            "clog" => Some(File::new(0o666, move |_| Ok(clog.clone())).entry()),
            _ => None,
        })
    }
    fn list(&self) -> Vec<String> {
        vec!["sink".into(), "clog".into()]
    }
}

fn tree(clog: &Arc<Clog>) -> Arc<Synthetic> {
    let file = File::new(0o666, |_| Ok(Sink));
    Arc::new(Synthetic::new(Arc::new(Root(Inode::new(0o777), file, clog.clone()))))
}

fn start(memory: usize, patience: Duration) -> Server {
    let limits = Limits { places: 64, memory, patience };
    Server::start_within(limits, &tree(&Arc::default()), 2, same_user).expect("threads")
}

struct Line(UnixStream);

impl Line {
    fn to(server: &Server) -> Line {
        let stream = server.connect().expect("a pair");
        let copy: OwnedFd = stream.as_fd().try_clone_to_owned().expect("a descriptor");
        let socket = UnixStream::from(copy);
        socket.set_nonblocking(false).expect("a socket");
        socket.set_read_timeout(Some(DEADLINE)).expect("a socket");
        socket.set_write_timeout(Some(DEADLINE)).expect("a socket");
        Line(socket)
    }

    /// Fid 1 is the sink, open.
    fn at_sink(server: &Server) -> Line {
        Line::at(server, b"sink")
    }

    /// Fid 1 is this file, open.
    fn at(server: &Server, name: &[u8]) -> Line {
        let mut line = Line::to(server);
        line.ask(NOTAG, &Tmessage::Version { msize: MSIZE, version: "9P2000.L" });
        let n_uname = UserNumber(NONUNAME);
        let (uname, aname) = ("", "");
        line.ask(1, &Tmessage::Attach { fid: 0, afid: NOFID, uname, aname, n_uname });
        let names = Names::new(&[name]).expect("one");
        line.ask(1, &Tmessage::Walk { fid: 0, newfid: 1, names });
        line.ask(1, &Tmessage::Lopen { fid: 1, flags: 1 });
        line
    }

    fn ask(&mut self, tag: Tag, message: &Tmessage<'_>) {
        let mut bytes = Vec::new();
        message.encode(tag, Dialect::Linux, &mut bytes);
        self.0.write_all(&bytes).expect("the server reads");
        self.answer();
    }

    /// Takes an answer that is no refusal.
    fn answer(&mut self) {
        let mut size = [0; 4];
        self.0.read_exact(&mut size).expect("an answer before the deadline");
        let mut rest = vec![0; u32::from_le_bytes(size) as usize - 4];
        self.0.read_exact(&mut rest).expect("all of it");
        assert_ne!(rest[0], 7, "refused: {rest:?}");
    }

    fn small(&mut self) {
        self.ask(1, &Tmessage::Getattr { fid: 0, mask: 0 });
    }

    /// Waits until the server has ended it.
    fn is_ended(&mut self) {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
        assert_eq!(rest, b"");
    }
}

fn large() -> Vec<u8> {
    large_as(1)
}

fn large_as(tag: Tag) -> Vec<u8> {
    let (mut bytes, data) = (Vec::new(), vec![b'x'; LARGE]);
    let data = Payload(&data);
    Tmessage::Write { fid: 1, offset: 0, data }.encode(tag, Dialect::Linux, &mut bytes);
    bytes
}

/// It kept its connection and its fids, for ever where nobody took what it had written.
#[test]
fn who_goes_while_much_of_what_it_has_written_waits_is_gone() {
    let clog = Arc::new(Clog::default());
    let server = Server::start(&tree(&clog), 1, same_user).expect("threads");
    let mut line = Line::at(&server, b"clog");
    let writes = WRITES_KEPT_MAX.div_ceil(LARGE) + 1;
    (1..=writes).for_each(|tag| line.0.write_all(&large_as(tag as Tag)).expect("it is read"));
    clog.has(writes);
    drop(line);
    clog.has(0);
}

#[test]
fn a_peer_that_does_not_attach_in_time_loses_its_place() {
    let server = start(TWO, SHORT);
    let mut attached = Line::at_sink(&server);
    let (mut silent, mut half) = (Line::to(&server), Line::to(&server));
    half.ask(NOTAG, &Tmessage::Version { msize: MSIZE, version: "9P2000.L" });
    silent.is_ended();
    half.is_ended();
    attached.small();
}

#[test]
fn large_messages_wait_for_memory_and_small_ones_for_nothing() {
    let server = start(TWO, DEADLINE);
    let bytes = large();
    let mut holders: Vec<Line> = (0..2).map(|_| Line::at_sink(&server)).collect();
    for line in &mut holders {
        // What the socket does not hold, the server has read; so it has grown.
        line.0.write_all(&bytes[..LARGE - 10]).expect("the server reads");
    }
    let mut third = Line::at_sink(&server);
    third.0.set_nonblocking(true).expect("a socket");
    let mut other = Line::at_sink(&server);
    let (mut sent, mut full) = (0, 0);
    while full < 20 {
        match third.0.write(&bytes[sent..]) {
            Ok(more) => sent += more,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                full += 1;
                other.small();
            }
            Err(error) => panic!("{error}"),
        }
        assert!(sent < bytes.len(), "the server takes more than there is");
    }
    // One is done: then there is memory for the third, though the first one stays.
    holders[0].0.write_all(&bytes[LARGE - 10..]).expect("the server reads");
    holders[0].answer();
    third.0.set_nonblocking(false).expect("a socket");
    third.0.write_all(&bytes[sent..]).expect("the server reads");
    third.answer();
    holders[1].0.write_all(&bytes[LARGE - 10..]).expect("the server reads");
    holders[1].answer();
}

#[test]
fn many_large_writers_share_little_memory_and_all_get_on() {
    let server = Arc::new(start(TWO, DEADLINE));
    let writers: Vec<_> = (0..12)
        .map(|_| {
            let server = server.clone();
            std::thread::spawn(move || {
                let (bytes, mut line) = (large(), Line::at_sink(&server));
                for _ in 0..8 {
                    // Two at once: the next follows in the same read.
                    line.0.write_all(&bytes.repeat(2)).expect("the server reads");
                    line.answer();
                    line.answer();
                }
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().expect("all are answered"));
}

#[test]
fn who_sends_half_a_message_is_cut_off_when_others_wait_and_only_then() {
    let server = start(TWO, SHORT);
    let bytes = large();
    let mut holders: Vec<Line> = (0..2).map(|_| Line::at_sink(&server)).collect();
    for line in &mut holders {
        line.0.write_all(&bytes[..LARGE - 10]).expect("the server reads");
    }
    // Nobody waits yet: another, which is silent for as long, is ended meanwhile.
    Line::to(&server).is_ended();
    for line in &mut holders {
        line.0.write_all(&bytes[LARGE - 10..]).expect("the server reads");
        line.answer();
    }
    // Right behind each other: both are found to wait by one look.
    for line in &mut holders {
        line.0.write_all(&bytes[..LARGE - 10]).expect("the server reads");
    }
    let mut third = Line::at_sink(&server);
    third.0.write_all(&bytes).expect("room was made");
    third.answer();
    holders.iter_mut().for_each(Line::is_ended);
}

#[test]
fn memory_that_is_not_used_is_given_back() {
    let room = Room::new(Limits { memory: TWO, ..Limits::default() });
    let (mut client, stream) = Stream::pair().expect("a pair");
    let session = Session::new(tree(&Arc::default()), stream.peer(), || ());
    let place = room.place(None).expect("the first");
    let mut connection = Connection::new(stream, session, &room, place);
    let mut send = |connection: &mut Connection<Synthetic>, message: &Tmessage<'_>, tag| {
        let mut bytes = Vec::new();
        message.encode(tag, Dialect::Linux, &mut bytes);
        while !bytes.is_empty() {
            let sent = client.write(&bytes).unwrap_or(0);
            bytes.drain(..sent);
            connection.readable = true;
            assert!(matches!(connection.turn(), Turn::Waits | Turn::HasMore));
        }
    };
    send(&mut connection, &Tmessage::Version { msize: MSIZE, version: "9P2000.L" }, NOTAG);
    let data = vec![0; LARGE];
    let write = Tmessage::Write { fid: 9, offset: 0, data: Payload(&data) };
    send(&mut connection, &write, 1);
    assert!(connection.buffer.len() >= LARGE && connection.share.bytes() > 0);
    let now = Instant::now();
    connection.look(now);
    assert!(connection.share.bytes() > 0, "it was just used");
    connection.look(now);
    assert_eq!((connection.buffer.len(), connection.share.bytes()), (FIRST_BUFFER, 0));
}

/// A socket with something around it that takes all that is written and lets little of it go.
#[derive(Debug)]
struct Narrow {
    socket: UnixStream,
    held: Mutex<Vec<u8>>,
}

impl Narrow {
    const AT_ONCE: usize = 1000;

    fn of(stream: Stream) -> Stream {
        let peer = stream.peer();
        let socket: OwnedFd = stream.as_fd().try_clone_to_owned().expect("a descriptor");
        let narrow = Narrow { socket: socket.into(), held: Mutex::default() };
        Stream::Secure(Box::new(narrow), peer)
    }
}

impl AsFd for Narrow {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Secure for Narrow {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.socket).read(into)
    }

    fn write(&self, from: &[io::IoSlice<'_>]) -> io::Result<usize> {
        self.flush()?;
        let mut held = self.held.lock().unwrap();
        from.iter().for_each(|part| held.extend_from_slice(part));
        Ok(held.len())
    }

    fn flush(&self) -> io::Result<()> {
        let mut held = self.held.lock().unwrap();
        let some = held.len().min(Narrow::AT_ONCE);
        let sent = if some > 0 { (&self.socket).write(&held[..some])? } else { 0 };
        held.drain(..sent);
        if held.is_empty() { Ok(()) } else { Err(ErrorKind::WouldBlock.into()) }
    }

    fn shutdown(&self) -> io::Result<()> {
        self.socket.shutdown(std::net::Shutdown::Both)
    }
}

#[test]
fn what_was_taken_and_has_not_left_leaves_when_there_is_room_at_both_ends() {
    let server = start(1 << 26, DEADLINE);
    let (ours, theirs) = Stream::pair().expect("a pair");
    server.adopt(Narrow::of(theirs));
    let options = crate::client::Options { deadline: Some(DEADLINE), ..Default::default() };
    let client = crate::client::Client::over(Narrow::of(ours), &options).expect("an answer");
    let sink = client.open("sink", crate::tree::OpenFlags(1)).expect("it is there").into_fid();
    assert_eq!(sink.write_at(0, &vec![7; LARGE]).expect("all of it"), LARGE);
    // Its answer is longer than what leaves at once.
    let names = client.root().walk_open(&[], crate::tree::OpenFlags(0)).expect("a directory");
    assert_eq!(names.readdir().expect("a list").len(), 2);
}

/// Reads as its socket does, and takes nothing that is written, however often.
#[derive(Debug)]
struct Mute(UnixStream, Mutex<u32>);

impl AsFd for Mute {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Secure for Mute {
    fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(into)
    }

    fn write(&self, _: &[io::IoSlice<'_>]) -> io::Result<usize> {
        let mut tries = self.1.lock().unwrap();
        *tries += 1;
        assert!(*tries < 1000, "its loop would go on for ever");
        Ok(0)
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    fn shutdown(&self) -> io::Result<()> {
        self.0.shutdown(std::net::Shutdown::Both)
    }
}

#[test]
fn a_connection_that_takes_no_answer_ends_and_others_are_served() {
    let server = start(1 << 26, DEADLINE);
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    theirs.set_nonblocking(true).expect("a socket");
    let peer = Peer { uid: Some(rustix::process::geteuid().as_raw()), name: "mute".into() };
    server.adopt(Stream::Secure(Box::new(Mute(theirs, Mutex::default())), peer));
    let mut line = Line(ours);
    line.0.set_read_timeout(Some(DEADLINE)).expect("a socket");
    let mut bytes = Vec::new();
    let version = Tmessage::Version { msize: MSIZE, version: "9P2000.L" };
    version.encode(NOTAG, Dialect::Linux, &mut bytes);
    line.0.write_all(&bytes).expect("there is room");
    line.is_ended();
    Line::at_sink(&server).small();
    Line::at_sink(&server).small();
}
