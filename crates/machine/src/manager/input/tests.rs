//! What is written to several inputs at once, through a server and over connections as a job's.

use super::{Deed, Reader, hand_out, taken};
use crate::files::feed::{Feed, Next};
use crate::manager::hold;
use crate::manager::tests::manager;
use crate::scratch::Scratch;
use muster_ninep::call::Answer;
use muster_ninep::client::{Client, Fid, Options};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::synthetic::{Dir, Entry, File, Handle, Inode, SynCall, Synthetic};
use muster_ninep::tree::OpenFlags;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// What a feed keeps before writers wait.
const FULL: usize = 64 * 1024;

/// A directory of files called by their numbers.
struct Numbered(Inode, Vec<Entry>);

impl Dir for Numbered {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, name: &str) -> Result<Option<Entry>> {
        Ok(name.parse().ok().and_then(|at: usize| self.1.get(at).cloned()))
    }
    fn list(&self) -> Vec<String> {
        (0..self.1.len()).map(|at| at.to_string()).collect()
    }
}

fn serve(files: Vec<Entry>) -> (Server, Client) {
    let tree = Synthetic::new(Arc::new(Numbered(Inode::new(0o555), files)));
    let server = Server::start(&Arc::new(tree), 1, same_user).expect("a server");
    let stream = server.connect().expect("a pair");
    let client = Client::over(stream, &Options::default()).expect("attached");
    (server, client)
}

fn open(client: &Client, path: &str) -> Fid {
    let fid = client.walk(path).expect("walked");
    fid.open(OpenFlags(OpenFlags::WRONLY)).expect("opened");
    fid
}

/// What is written to it goes to several inputs, of which each has so many bytes already.
#[derive(Clone)]
struct Both {
    inputs: Vec<(Fid, usize)>,
    given_back: Arc<AtomicUsize>,
}

impl Handle for Both {
    fn write(&self, call: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        let reader = |(rank, (stdin, has)): (usize, &(Fid, usize))| Reader {
            rank,
            stdin: stdin.clone(),
            has: *has,
        };
        let readers = self.inputs.iter().enumerate().map(reader).collect();
        let given_back = self.given_back.clone();
        let later = |deed: Deed| {
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(1));
                deed();
            });
        };
        hand_out(call, readers, data, later, move || {
            given_back.fetch_add(1, Ordering::Relaxed);
        })
    }
}

/// A node with two inputs, and in front of it the file that is written to both.
struct Job {
    feeds: [Feed; 2],
    given_back: Arc<AtomicUsize>,
    /// The file that is written to.
    input: Fid,
    /// The node's side, to ask what has come to it.
    node: Client,
    _servers: [Server; 2],
}

impl Job {
    fn new(has: [usize; 2]) -> Job {
        let feeds = [Feed::new(|| ()), Feed::new(|| ())];
        let files = feeds.iter().map(|feed| feed.file(0o200).entry()).collect();
        let (back, node) = serve(files);
        let between = node.never_blocking();
        let inputs = ["0", "1"].map(|name| open(&node, name).through(&between));
        let given_back = Arc::new(AtomicUsize::new(0));
        let both =
            Both { inputs: inputs.into_iter().zip(has).collect(), given_back: given_back.clone() };
        let (front, client) = serve(vec![File::new(0o200, move |_| Ok(both.clone())).entry()]);
        let input = open(&client, "0");
        Job { feeds, given_back, input, node, _servers: [front, back] }
    }

    /// Lets writers of an input wait.
    fn fill(&self, at: usize) {
        let fid = open(&self.node, &at.to_string());
        assert_eq!(fid.write_at(0, &vec![b'-'; FULL]), Ok(FULL));
    }

    /// All that an input has been given, beyond what filled it.
    fn got(&self, at: usize) -> Vec<u8> {
        let mut got = Vec::new();
        while let Next::Bytes(bytes) = self.feeds[at].next() {
            self.feeds[at].taken(bytes.len());
            got.extend(bytes);
        }
        got.retain(|byte| *byte != b'-');
        got
    }

    /// Begins a write, and returns when the node has all that it says to its inputs.
    fn begin(&self, data: &[u8]) -> (muster_ninep::client::Cancel, mpsc::Receiver<Result<u32>>) {
        let (tell, told) = mpsc::channel();
        let cancel = self.input.write_then(0, data, move |answer| drop(tell.send(answer)));
        // Both are one connection each, on which requests are carried out in their order.
        self.input.getattr().expect("attributes");
        self.node.root().getattr().expect("attributes");
        (cancel, told)
    }
}

/// Once it was answered as taken back, and its bytes reached the ranks all the same.
#[test]
fn a_write_that_is_taken_back_reaches_no_rank() {
    let job = Job::new([2, 0]);
    job.fill(0);
    job.fill(1);
    let (cancel, told) = job.begin(b"flushed");
    cancel.flush();
    let refused = told.recv().expect("an answer").expect_err("taken back");
    assert_eq!(refused.errno, Errno::INTR);
    assert_eq!(job.given_back.load(Ordering::Relaxed), 1, "what is not written counts as not had");
    assert_eq!((job.got(0), job.got(1)), (vec![], vec![]));
    assert_eq!(job.input.write_at(0, b"written"), Ok(7));
    assert_eq!((job.got(0), job.got(1)), (b"itten".to_vec(), b"written".to_vec()));
}

#[test]
fn a_write_that_one_rank_has_taken_reaches_all_and_counts_as_written() {
    let job = Job::new([0, 0]);
    job.fill(1);
    let (cancel, told) = job.begin(b"taken");
    cancel.flush();
    assert!(told.try_recv().is_err(), "one is yet to take it");
    assert_eq!(job.got(0), b"taken");
    let mut late = job.got(1);
    let taken = loop {
        match told.recv_timeout(Duration::from_millis(1)) {
            Ok(answer) => break answer,
            Err(_) => late.extend(job.got(1)),
        }
    };
    assert_eq!(taken, Ok(5));
    late.extend(job.got(1));
    assert_eq!(late, b"taken");
    assert_eq!(job.given_back.load(Ordering::Relaxed), 0);
}

#[test]
fn ranks_that_have_the_bytes_already_are_given_none_again() {
    let job = Job::new([7, 7]);
    assert_eq!(job.input.write_at(0, b"resumed"), Ok(7));
    let job = Job::new([7, 0]);
    assert_eq!(job.input.write_at(0, b"resumed"), Ok(7));
    assert_eq!((job.got(0), job.got(1)), (vec![], b"resumed".to_vec()));
}

/// An input that has no room for the first writes, as a node to which too much was sent.
struct Full {
    refuses: Arc<AtomicUsize>,
    got: Arc<Mutex<Vec<u8>>>,
}

impl Handle for Full {
    fn write(&self, _: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        let less = |left: usize| left.checked_sub(1);
        if self.refuses.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            return fail(Errno::AGAIN, "no room");
        }
        self.got.lock().expect("no holder panics").extend(data);
        Ok(data.len() as u32)
    }
}

/// It was taken for a rank that has ended, and missed a piece in the midst of its input.
#[test]
fn a_rank_whose_node_has_no_room_is_given_the_bytes_again() {
    let job = Job::new([0, 0]);
    let (refuses, got) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<u8>>>::default());
    let (left, all) = (refuses.clone(), got.clone());
    let full = File::new(0o200, move |_| Ok(Full { refuses: left.clone(), got: all.clone() }));
    let (_node, client) = serve(vec![full.entry()]);
    let input = open(&client, "0");
    let inputs = vec![(open(&job.node, "0").through(&job.node.never_blocking()), 0), (input, 0)];
    let both = Both { inputs, given_back: Arc::default() };
    let (_front, client) = serve(vec![File::new(0o200, move |_| Ok(both.clone())).entry()]);
    let input = open(&client, "0");
    for piece in [b"one ", b"two "] {
        refuses.store(3, Ordering::Relaxed);
        assert_eq!(input.write_at(0, piece), Ok(4));
    }
    assert_eq!(job.got(0), b"one two ");
    assert_eq!(*got.lock().expect("no holder panics"), b"one two ");
}

/// It was taken for one that is gone, and its rank was given once more what it had.
#[test]
fn a_node_that_has_no_room_for_it_now_is_asked_later_what_a_rank_has() {
    let feed = Feed::new(|| ());
    let (node, client) = serve(vec![feed.file(0o200).entry()]);
    let input = open(&client, "0").through(&client.never_blocking());
    assert_eq!(input.write_at(0, &vec![b'-'; FULL]), Ok(FULL));
    assert_eq!(taken(&input), Ok(FULL as u64));
    // All of these wait there.
    let is_full = Arc::new(AtomicUsize::new(0));
    while is_full.load(Ordering::Relaxed) == 0 {
        let full = is_full.clone();
        let refused = move |error: Error| usize::from(error.errno == Errno::AGAIN);
        input.write_then(0, b"x", move |answer| {
            full.fetch_add(answer.map_or_else(refused, |_| 0), Ordering::Relaxed);
        });
    }
    assert_eq!(taken(&input).expect_err("no room").errno, Errno::AGAIN);
    drop((node, client));
    // The client hears of it a moment later.
    let begun = Instant::now();
    let is_full = || taken(&input).is_err_and(|error| error.errno == Errno::AGAIN);
    while is_full() && begun.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    assert_eq!(taken(&input), Ok(0), "it is gone");
}

/// It was taken for one that knows, and its rank waited for the end of its input for ever.
#[test]
fn a_node_that_has_no_room_for_it_now_is_told_later_to_close_an_input() {
    let scratch = Scratch::new("input-close");
    let manager = manager(&scratch);
    let job = manager.new_job(None).expect("a job");
    let (refuses, got) = (Arc::new(AtomicUsize::new(3)), Arc::<Mutex<Vec<u8>>>::default());
    let all = got.clone();
    let full = File::new(0o200, move |_| Ok(Full { refuses: refuses.clone(), got: all.clone() }));
    let (_node, client) = serve(vec![full.entry()]);
    let (tell, told) = mpsc::channel();
    hold::tell(&open(&client, "0"), &job, "close stdin\n", move || {
        let _ = tell.send(());
    });
    told.recv().expect("it was told");
    assert_eq!(*got.lock().expect("no holder panics"), b"close stdin\n");
    manager.memory.close();
}

/// What was taken back while it waits for room is not sent any more.
#[test]
fn a_write_that_waits_for_room_is_taken_back_as_any_other() {
    let (refuses, got) = (Arc::new(AtomicUsize::new(usize::MAX)), Arc::<Mutex<Vec<u8>>>::default());
    let full = got.clone();
    let full = File::new(0o200, move |_| Ok(Full { refuses: refuses.clone(), got: full.clone() }));
    let (_node, client) = serve(vec![full.entry()]);
    let given_back = Arc::new(AtomicUsize::new(0));
    let both = Both { inputs: vec![(open(&client, "0"), 0)], given_back: given_back.clone() };
    let (_front, client) = serve(vec![File::new(0o200, move |_| Ok(both.clone())).entry()]);
    let input = open(&client, "0");
    let (tell, told) = mpsc::channel();
    let cancel = input.write_then(0, b"flushed", move |answer| drop(tell.send(answer)));
    std::thread::sleep(Duration::from_millis(5));
    cancel.flush();
    let refused = told.recv().expect("an answer").expect_err("taken back");
    assert_eq!(refused.errno, Errno::INTR);
    assert_eq!(given_back.load(Ordering::Relaxed), 1);
    assert!(got.lock().expect("no holder panics").is_empty());
}
