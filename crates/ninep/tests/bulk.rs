//! Large reads, sent from the page cache, and large writes, taken as they arrive: the same bytes
//! as ever, one answer to each, whatever becomes of the file, the disk or the peer meanwhile.

mod peer;

use muster_ninep::address::Address;
use muster_ninep::call::{Answer, Opened, Walked};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::host::{HostTree, Options, User, Users};
use muster_ninep::intake::Intake;
use muster_ninep::message::{Fid, NOTAG, Rmessage, Tag, Tmessage};
use muster_ninep::record::{Attr, Qid};
use muster_ninep::serve::Server;
use muster_ninep::session::Session;
use muster_ninep::stream::Listener;
use muster_ninep::tree::{Attach, C, OpenFlags, Tree};
use muster_ninep::version::Dialect;
use muster_ninep::wire::{Name, Payload};
use peer::{Reply, attach, cut, read, take, walk};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MIB: usize = 1 << 20;
const MSIZE: u32 = MIB as u32 + 24;
const DEADLINE: Duration = Duration::from_secs(60);

/// A directory with one file, its server, and one connection on which fid 1 is the open file.
struct Bench {
    folder: PathBuf,
    line: TcpStream,
    port: u16,
    _server: Server,
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| ((at / 251) ^ at) as u8 | 1).collect()
}

fn bytes(tag: Tag, message: &Tmessage<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(tag, Dialect::Linux, &mut out);
    out
}

impl Bench {
    fn new(length: usize, flags: u32) -> Bench {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-bulk-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a new directory");
        std::fs::write(folder.join("data"), content(length)).expect("room");
        let options = Options { writable: true, users: Users::Only(User::own()) };
        let tree = Arc::new(HostTree::new(&folder, options).expect("a directory"));
        let server = Server::start(&tree, 1, |_| true).expect("a thread");
        let any = Address::Tcp("127.0.0.1:0".parse().expect("an address"));
        let listener = Listener::bind(&any).expect("a port");
        let Address::Tcp(at) = *listener.address() else { unreachable!() };
        server.listen(listener);
        let line = connect(at.port(), flags);
        Bench { folder, line, port: at.port(), _server: server }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn send(&mut self, tag: Tag, message: &Tmessage<'_>) {
        self.line.write_all(&bytes(tag, message)).expect("the server reads");
    }

    fn write(&mut self, tag: Tag, offset: u64, data: &[u8]) {
        self.send(tag, &Tmessage::Write { fid: 1, offset, data: Payload(data) });
    }

    fn reply(&mut self) -> Reply {
        reply(&mut self.line)
    }

    fn wrote(&mut self) -> (Tag, u32) {
        let reply = self.reply();
        let Rmessage::Write { count } = reply.message() else { panic!("{reply:?}") };
        (reply.tag, count)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn connect(port: u16, flags: u32) -> TcpStream {
    let mut line = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    line.set_read_timeout(Some(DEADLINE)).expect("a socket");
    line.set_write_timeout(Some(DEADLINE)).expect("a socket");
    let first = Tmessage::Version { msize: MSIZE, version: "9P2000.L" };
    line.write_all(&bytes(NOTAG, &first)).expect("the server reads");
    for message in [attach(0), walk(0, 1, &["data"]), Tmessage::Lopen { fid: 1, flags }] {
        line.write_all(&bytes(0, &message)).expect("the server reads");
    }
    (0..4).for_each(|_| drop(reply(&mut line).ok()));
    line
}

fn reply(line: &mut TcpStream) -> Reply {
    let mut whole = vec![0; 4];
    line.read_exact(&mut whole).expect("an answer before the deadline");
    let size = u32::from_le_bytes([whole[0], whole[1], whole[2], whole[3]]) as usize;
    whole.resize(size, 0);
    line.read_exact(&mut whole[4..]).expect("all of it");
    cut(&whole, Dialect::Linux, MSIZE).remove(0)
}

#[test]
fn content_is_read_from_any_offset_up_to_the_end() {
    let length = 5 * MIB + 12345;
    let mut bench = Bench::new(length, 0);
    let all = content(length);
    for offset in [0, 1, 4095, 4096, 777_777, 4 * MIB + 1, length - 200_000, length - 3, length] {
        bench.send(3, &read(1, offset as u64, MIB as u32));
        let end = length.min(offset + MIB);
        assert!(bench.reply().data() == all[offset..end], "from {offset}");
    }
}

/// Requests that arrived together wait in the server's buffer while it cannot send. They were
/// forgotten when the send that ended the wait took all there was.
#[test]
fn all_reads_are_answered_however_slowly_the_answers_are_taken() {
    let mut bench = Bench::new(2 * MIB, 0);
    let all = content(2 * MIB);
    for round in 0..10 {
        let mut many = Vec::new();
        for tag in 0..24 {
            many.extend(bytes(tag, &read(1, u64::from(tag % 2) * MIB as u64, MIB as u32)));
        }
        bench.line.write_all(&many).expect("the server reads");
        for tag in 0..24 {
            if tag % 5 == round % 5 {
                std::thread::sleep(Duration::from_millis(10));
            }
            let reply = bench.reply();
            let start = usize::from(tag % 2) * MIB;
            assert!(reply.tag == tag && reply.data() == all[start..start + MIB]);
        }
    }
}

#[test]
fn a_file_that_is_cut_while_it_is_sent_still_fills_its_answer() {
    let mut bench = Bench::new(MIB, 0);
    let all = content(MIB);
    const READS: u16 = 40;
    for tag in 0..READS {
        bench.send(tag, &read(1, 0, MIB as u32));
    }
    // What is 40 MiB does not fit into the socket's buffers, so some of it is yet to be sent.
    let mut first = [0; 11];
    bench.line.read_exact(&mut first).expect("an answer");
    std::thread::sleep(Duration::from_millis(50));
    let file = std::fs::File::options().write(true).open(bench.file()).expect("the file");
    file.set_len(5000).expect("cut");
    let mut data = vec![0; MIB];
    bench.line.read_exact(&mut data).expect("as much as was announced");
    let holds = |data: &[u8]| data.iter().zip(&all).all(|(&got, &was)| got == was || got == 0);
    assert!(holds(&data) && data[..4096] == all[..4096]);
    let mut cut_short = 0;
    for tag in 1..READS {
        let reply = bench.reply();
        let data = reply.data();
        assert!(reply.tag == tag && holds(&data) && data[..4096] == all[..4096]);
        assert!(data.len() == MIB || data.len() == 5000, "{} bytes", data.len());
        cut_short += usize::from(data.len() == 5000);
    }
    assert!(cut_short > 0, "later reads see the new end");
}

#[test]
fn a_peer_that_goes_in_the_middle_of_a_read_or_write_stops_nobody() {
    let mut bench = Bench::new(2 * MIB, 2);
    for _ in 0..5 {
        let mut line = connect(bench.port, 2);
        for tag in 0..10 {
            line.write_all(&bytes(tag, &read(1, 0, MIB as u32))).expect("the server reads");
        }
        line.read_exact(&mut [0; 100_000]).expect("a part");
        drop(line);
        let mut line = connect(bench.port, 2);
        let message = Tmessage::Write { fid: 1, offset: 0, data: Payload(&[9; MIB]) };
        line.write_all(&bytes(3, &message)[..300_000]).expect("the server reads");
    }
    bench.send(9, &read(1, MIB as u64, MIB as u32));
    assert!(bench.reply().data() == content(2 * MIB)[MIB..]);
}

#[test]
fn writes_in_pieces_of_any_size_arrive_whole_and_are_answered_once() {
    let mut bench = Bench::new(4 * MIB, 2);
    let mut expected = content(4 * MIB);
    let new: Vec<u8> = content(MIB).iter().map(|byte| !byte).collect();
    for (tag, offset, length, piece) in
        [(1, 0, MIB, MIB), (2, 4097, MIB - 1, 10_000), (3, 3 * MIB, 200_000, 150_001)]
    {
        expected[offset..offset + length].copy_from_slice(&new[..length]);
        let data = Payload(&new[..length]);
        let mut whole = bytes(tag, &Tmessage::Write { fid: 1, offset: offset as u64, data });
        // Other requests directly before and behind it.
        whole.splice(0..0, bytes(50, &read(1, 0, 10)));
        whole.extend(bytes(51, &read(1, offset as u64, 10)));
        for part in whole.chunks(piece) {
            bench.line.write_all(part).expect("the server reads");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(bench.reply().tag, 50);
        assert_eq!(bench.wrote(), (tag, length as u32));
        let behind = bench.reply();
        assert!(behind.tag == 51 && behind.data() == new[..10]);
        assert!(std::fs::read(bench.file()).expect("the file") == expected);
    }
    for tag in 0..8 {
        bench.write(tag, u64::from(tag) * 300_000, &new[..300_000]);
    }
    for tag in 0..8 {
        assert_eq!(bench.wrote(), (tag, 300_000));
        let start = usize::from(tag) * 300_000;
        expected[start..start + 300_000].copy_from_slice(&new[..300_000]);
    }
    assert!(std::fs::read(bench.file()).expect("the file") == expected);
}

#[test]
fn large_writes_that_cannot_be_are_refused_once_and_consumed() {
    let mut bench = Bench::new(10, 1 | OpenFlags::APPEND);
    bench.write(1, 0, &[7; 300_000]);
    assert_eq!(bench.wrote(), (1, 300_000), "appended, in one piece");
    let length = std::fs::metadata(bench.file()).expect("the file").len();
    assert_eq!(length, 300_010);
    let data = Payload(&[7; 300_000]);
    bench.send(2, &Tmessage::Write { fid: 99, offset: 0, data });
    assert_eq!(bench.reply().refused(), Errno::BADF);
    bench.send(3, &Tmessage::Write { fid: 1, offset: u64::MAX - 9, data });
    assert_eq!(bench.reply().refused(), Errno::FBIG);
    bench.send(4, &read(1, 0, 10));
    assert_eq!(bench.reply().refused(), Errno::BADF, "it is open for writing only");
}

/// A tree whose only file takes as many bytes as there are in `room`, then fails.
struct Full {
    room: usize,
    taken: Arc<Mutex<Vec<u8>>>,
}

struct Filling(usize, Arc<Mutex<Vec<u8>>>);

impl Intake for Filling {
    fn take(&mut self, part: &[u8]) -> Result<usize> {
        let kept = part.len().min(self.0);
        if kept == 0 {
            return Err(Error::new(Errno::NOSPC, "full"));
        }
        self.0 -= kept;
        self.1.lock().expect("nobody panics").extend(&part[..kept]);
        Ok(kept)
    }
}

impl Tree for Full {
    type Fid = ();
    fn attach(&self, _: &mut C<'_, Self>, _: &Attach<'_>) -> Answer<((), Qid)> {
        Ok(((), Qid::default()))
    }
    fn walk(&self, _: &mut C<'_, Self>, (): &(), _: &[Name<'_>]) -> Answer<Walked<()>> {
        Ok(Walked { qids: Vec::new(), fid: Some(()) })
    }
    fn open(&self, _: &mut C<'_, Self>, (): &(), _: OpenFlags) -> Answer<Opened<()>> {
        Ok(Opened { fid: (), qid: Qid::default(), iounit: 0 })
    }
    fn getattr(&self, _: &mut C<'_, Self>, (): &()) -> Answer<Attr> {
        Ok(Attr::default())
    }
    fn intake(&self, (): &(), _: u64, _: usize) -> Option<Box<dyn Intake>> {
        Some(Box::new(Filling(self.room, self.taken.clone())))
    }
}

/// Sends a write of 300,000 bytes and a flush in parts of `piece` bytes; returns the answers.
fn into_full(room: usize, piece: usize) -> (Vec<Reply>, usize) {
    let taken = Arc::default();
    let tree = Arc::new(Full { room, taken: Arc::clone(&taken) });
    let mut session = Session::new(tree, muster_ninep::tree::Peer::default(), || {});
    let fid: Fid = 0;
    let first = Tmessage::Version { msize: MSIZE, version: "9P2000.L" };
    let mut stream = bytes(NOTAG, &first);
    stream.extend(bytes(1, &attach(fid)));
    stream.extend(bytes(2, &Tmessage::Lopen { fid, flags: 1 }));
    let data = content(300_000);
    stream.extend(bytes(3, &Tmessage::Write { fid, offset: 0, data: Payload(&data) }));
    stream.extend(bytes(4, &Tmessage::Flush { oldtag: 3 }));
    let (mut start, mut end) = (0, 0);
    while start < stream.len() {
        end = stream.len().min(end + piece);
        start += session.receive(&stream[start..end]).expect("9P");
    }
    let replies = cut(&take(&mut session), Dialect::Linux, MSIZE);
    let taken = taken.lock().expect("nobody panics");
    assert!(*taken == data[..taken.len()]);
    (replies.into_iter().skip(3).collect(), taken.len())
}

#[test]
fn a_write_that_fails_on_its_way_is_answered_once_with_what_was_written() {
    for piece in [1000, 65_536, 123_457] {
        for (room, written) in [(1_000_000, 300_000), (100_000, 100_000), (1, 1)] {
            let (replies, taken) = into_full(room, piece);
            let [write, flush] = &replies[..] else { panic!("{replies:?}") };
            let Rmessage::Write { count } = write.message() else { panic!("{write:?}") };
            assert_eq!((write.tag, count as usize, taken), (3, written, written));
            assert_eq!((flush.tag, flush.message()), (4, Rmessage::Flush {}));
        }
        let (replies, taken) = into_full(0, piece);
        assert_eq!((replies.len(), replies[0].tag, taken), (2, 3, 0));
        assert_eq!(replies[0].refused(), Errno::NOSPC);
    }
}
