//! Whole runs against a manager made up here, which can be restarted under them.

use super::event::{Event, Events};
use super::program::{Binary, Program};
use super::session::{Ready, run_told};
use super::show::{Goal, Style, Unwritable};
use super::signals::TYPED;
use super::template::Template;
use super::{Cluster, Failure, Input, Wish, pump};
use muster_base::elf;
use muster_machine::files::control::{self, Commands};
use muster_machine::files::latch::Latch;
use muster_machine::files::stream::Stream;
use muster_machine::files::text::Text;
use muster_machine::manager::spec::Spec;
use muster_machine::output::{Head, Output, PIECE_MAX};
use muster_machine::relay::recipe::Recipes;
use muster_ninep::call::{Answer, Data};
use muster_ninep::client::{Client, Options};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::synthetic::{Dir, Entry, File, Handle, Inode, SynCall, Synthetic, slice};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A directory with fixed entries.
struct Folder(Inode, BTreeMap<String, Entry>);

impl Dir for Folder {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, name: &str) -> Result<Option<Entry>> {
        Ok(self.1.get(name).cloned())
    }
    fn list(&self) -> Vec<String> {
        self.1.keys().cloned().collect()
    }
}

fn folder<const N: usize>(entries: [(&str, Entry); N]) -> Entry {
    let entries = entries.map(|(name, entry)| (name.to_owned(), entry)).into();
    Entry::Dir(Arc::new(Folder(Inode::new(0o555), entries)))
}

/// A file that keeps what is written to it.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Handle for Sink {
    fn write(&self, _: &mut SynCall<'_>, offset: u64, data: &[u8]) -> Answer<u32> {
        let mut all = self.0.lock().unwrap();
        // What came before a connection broke may come again, but nothing may be left out.
        let known = all.len().checked_sub(offset as usize).expect("written without gaps");
        all.extend_from_slice(&data[known.min(data.len())..]);
        Ok(data.len() as u32)
    }
}

impl Sink {
    fn entry(&self) -> Entry {
        let sink = self.clone();
        File::new(0o222, move |_| Ok(sink.clone())).entry()
    }
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

/// Wants the first chunk until it has come.
#[derive(Clone, Default)]
struct Chunks(Sink);

impl Handle for Chunks {
    fn read(&self, _: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let wanted = if self.0.0.lock().unwrap().is_empty() { "0\n" } else { "\n" };
        Ok(slice(wanted.as_bytes(), offset, count).to_vec().into())
    }
    fn write(&self, call: &mut SynCall<'_>, offset: u64, data: &[u8]) -> Answer<u32> {
        self.0.write(call, offset, data)
    }
}

/// Writes down what a job is told, and tells the script. A job is not started before it has its
/// files.
struct Ctl {
    orders: Mutex<std::sync::mpsc::Sender<String>>,
    refuse: Option<&'static str>,
    files: Sink,
    chunks: Chunks,
}

struct CtlFile(Arc<Ctl>);

impl Commands for CtlFile {
    fn obey(&self, line: &str) -> Result<()> {
        let (was_told, was_given) = (self.0.files.text(), self.0.chunks.0.text());
        if was_told.starts_with("known ") && was_given.is_empty() {
            return Err(Error::new(Errno::NODATA, "its first chunk is not there"));
        }
        let _ = self.0.orders.lock().unwrap().send(line.to_owned());
        match self.0.refuse {
            Some(text) => Err(Error::new(Errno::INVAL, text)),
            None => Ok(()),
        }
    }
    fn status(&self) -> String {
        "1\n".into()
    }
}

/// A manager with one job.
struct Fake {
    tree: Arc<Synthetic>,
    server: Arc<Mutex<Option<Server>>>,
    orders: Mutex<Receiver<String>>,
    /// All that ranks say; who says something holds it.
    output: Mutex<Stream>,
    ranks: usize,
    wait: Latch,
    spec: Text,
    files: Sink,
    chunks: Chunks,
    stdin: Sink,
    /// Whether rank 0's stderr was asked for by itself.
    was_asked: Arc<AtomicBool>,
}

const WAIT: Duration = Duration::from_secs(60);

impl Fake {
    fn new(ranks: usize, refuse: Option<&'static str>) -> Fake {
        let (told, orders) = channel();
        let output = Stream::new(|| {});
        let placed: Vec<Value> =
            (0..ranks).map(|at| json!({"rank": at, "node": format!("n{at}")})).collect();
        let status = json!({"id": 1, "state": "running", "ranks": placed}).to_string();
        let (wait, spec) = (Latch::default(), Text::new(""));
        let (files, stdin) = (Sink::default(), Sink::default());
        let chunks = Chunks::default();
        let (given, orders_to) = (chunks.clone(), Mutex::new(told));
        let (sent, parts) = (files.clone(), chunks.clone());
        let was_asked = Arc::new(AtomicBool::new(false));
        let asked = was_asked.clone();
        let stderr = File::text(0o444, move || {
            asked.store(true, Ordering::Relaxed);
            Ok("./prog: error while loading shared libraries: libq.so.6: cannot open it\n".into())
        });
        let rank = folder([("stderr", stderr.entry())]);
        let ctl = Arc::new(Ctl { orders: orders_to, refuse, files: sent, chunks: parts });
        let job = folder([
            ("ctl", control::file(0o664, move || CtlFile(ctl.clone())).entry()),
            ("spec", spec.file(0o664).entry()),
            ("files", files.entry()),
            ("chunks", File::new(0o666, move |_| Ok(given.clone())).entry()),
            ("stdin", stdin.entry()),
            ("status", File::text(0o444, move || Ok(status.clone())).entry()),
            ("wait", wait.file(0o444).entry()),
            ("take", output.file(0o444).entry()),
            ("ranks", folder([("0", rank)])),
        ]);
        let clone = File::text(0o444, || Ok("1".into())).entry();
        let cluster = r#"{"transport":"unix","nodes":[{"name":"n0"}]}"#;
        let Entry::Dir(root) = folder([
            ("status", File::text(0o444, move || Ok(cluster.into())).entry()),
            ("jobs", folder([("clone", clone), ("1", job)])),
        ]) else {
            unreachable!("a folder is a directory")
        };
        let tree = Arc::new(Synthetic::new(root));
        let server = Arc::new(Mutex::new(Some(Server::start(&tree, 1, same_user).unwrap())));
        let (orders, output) = (Mutex::new(orders), Mutex::new(output));
        Fake { tree, server, orders, output, ranks, wait, spec, files, chunks, stdin, was_asked }
    }

    fn cluster(&self) -> Cluster {
        let server = self.server.clone();
        let connect = Arc::new(move || match &*server.lock().unwrap() {
            Some(server) => Client::over(server.connect()?, &Options::default()),
            None => Err(Error::new(Errno::CONNREFUSED, "nobody serves there")),
        });
        Cluster { client: connect().unwrap(), connect, recipes: Recipes::default(), name: None }
    }

    fn kill(&self) {
        *self.server.lock().unwrap() = None;
    }

    fn restart(&self) {
        *self.server.lock().unwrap() = Some(Server::start(&self.tree, 1, same_user).unwrap());
    }

    /// Waits for an order.
    fn told(&self) -> String {
        self.orders.lock().unwrap().recv_timeout(WAIT).expect("an order comes")
    }

    /// Waits until all that was said has been heard.
    fn wait_until_read(&self) {
        while self.output.lock().unwrap().room() < muster_base::limits::STREAM_WINDOW {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A rank says something, as fast as it is read.
    fn say(&self, rank: usize, which: usize, bytes: &[u8]) {
        bytes.chunks(PIECE_MAX).for_each(|piece| self.record(rank, which, piece));
    }

    fn record(&self, rank: usize, which: usize, bytes: &[u8]) {
        let head = Head { rank, output: Output::BOTH[which], length: bytes.len() };
        let record = [&head.bytes(), bytes].concat();
        let output = self.output.lock().unwrap();
        let (mut rest, begun) = (&record[..], Instant::now());
        while !rest.is_empty() {
            let room = output.room().min(rest.len());
            if room == 0 {
                assert!(begun.elapsed() < WAIT, "nobody reads on");
                std::thread::sleep(Duration::from_millis(1));
            }
            output.push(&rest[..room]);
            rest = &rest[room..];
        }
    }

    fn end(&self, exit: u8, statuses: &[i32]) {
        self.end_output();
        self.tell_end(exit, statuses);
    }

    fn end_output(&self) {
        (0..self.ranks * 2).for_each(|tap| self.record(tap / 2, tap % 2, &[]));
        self.output.lock().unwrap().end();
    }

    fn tell_end(&self, exit: u8, statuses: &[i32]) {
        let ranks: Vec<Value> = statuses
            .iter()
            .enumerate()
            .map(|(at, status)| {
                json!({"rank": at, "node": format!("n{at}"), "state": "done", "status": status})
            })
            .collect();
        let end = if exit == 0 { "done" } else { "failed" };
        let status = json!({"id": 1, "state": "done", "exit": exit, "end": end, "ranks": ranks});
        self.wait.set(status.to_string());
    }
}

/// A directory that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("muster-run-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
    fn goal(&self, name: &str) -> Goal {
        Goal::Files(Template::parse(&self.0.join(name).display().to_string()).unwrap())
    }
    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.0.join(name)).unwrap()).into_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn wish(goals: [Goal; 2]) -> Wish {
    let input = Input::None;
    Wish {
        spec: Spec { argv: vec!["prog".into()], stdin: input.stdin(), ..Spec::default() },
        program: Program::There("prog".into()),
        named: "prog".into(),
        bcast: Vec::new(),
        libraries: Vec::new(),
        input,
        goals,
        style: Style::Lines,
        label: false,
        quiet: true,
        detach: false,
        json: false,
        timing: false,
        grace: Duration::from_millis(50),
    }
}

/// Runs while `script` plays the manager's part.
fn run(
    fake: Fake,
    wish: Wish,
    script: impl FnOnce(&Fake, &Events) + Send + 'static,
) -> std::result::Result<u8, Failure> {
    let cluster = fake.cluster();
    let (told, events) = channel();
    let told = Events(told);
    let also = told.clone();
    let playing = std::thread::spawn(move || {
        script(&fake, &also);
        fake
    });
    let result = Ready::to_go(wish).and_then(|ready| run_told(ready, &cluster, told, &events));
    playing.join().unwrap();
    result
}

#[test]
fn a_job_is_sent_and_its_output_shown() {
    let dir = Scratch::new("plain");
    let program = dir.0.join("prog");
    std::fs::copy("/bin/true", &program).unwrap();
    let mut wish = wish([dir.goal("out.%j"), dir.goal("err.%n")]);
    wish.label = true;
    wish.program = Program::Here(vec![Binary { path: program, arch: None }]);
    wish.spec.argv = vec!["/x/prog".into(), "a b".into()];
    let code = run(Fake::new(3, None), wish, |fake, _| {
        assert_eq!(fake.told(), "start");
        let spec: Value = serde_json::from_str(&fake.spec.get().unwrap()).unwrap();
        assert_eq!(spec["argv"], json!(["./prog", "a b"]));
        let files = fake.files.text();
        assert!(files.starts_with("known 755 ") && files.ends_with("end\n"));
        assert_eq!(*fake.chunks.0.0.lock().unwrap(), std::fs::read("/bin/true").unwrap());
        fake.say(0, 0, b"zero\n");
        fake.say(2, 0, b"two");
        fake.say(2, 1, b"oops\n");
        fake.end(2, &[0, 0, 0x200]);
    });
    assert_eq!(code, Ok(2));
    let out = dir.read("out.1");
    let mut lines: Vec<&str> = out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0: zero", "2: two"]);
    assert_eq!((dir.read("err.0").as_str(), dir.read("err.2").as_str()), ("", "2: oops\n"));
}

#[test]
fn only_after_a_loaders_exit_status_its_words_are_looked_for() {
    let dir = Scratch::new("loader");
    let program = dir.0.join("prog");
    std::fs::copy("/bin/true", &program).unwrap();
    for (exit, is_loaders) in [(0, false), (2, false), (1, true), (127, true)] {
        let mut wish = wish([Goal::Nowhere, Goal::Nowhere]);
        let binary = Binary { path: program.clone(), arch: Some(elf::HERE) };
        wish.program = Program::Here(vec![binary]);
        let fake = Fake::new(1, None);
        let was_asked = fake.was_asked.clone();
        let code = run(fake, wish, move |fake, _| {
            assert_eq!(fake.told(), "start");
            fake.end(exit, &[i32::from(exit) << 8]);
        });
        assert_eq!((code, was_asked.load(Ordering::Relaxed)), (Ok(exit), is_loaders), "{exit}");
    }
}

#[test]
fn a_file_of_ours_that_cannot_be_opened_yet_holds_up_no_signal() {
    let dir = Scratch::new("fifo");
    let (out, fifo) = (dir.0.join("out"), dir.0.join("err"));
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let wish = wish([dir.goal("out"), dir.goal("err")]);
    let code = run(Fake::new(1, None), wish, move |fake, events| {
        assert_eq!(fake.told(), "start");
        // The other one is the next to be opened.
        while !out.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        events.tell(Event::Signal(libc::SIGINT));
        assert_eq!(fake.told(), "signal INT");
        let reader = std::thread::spawn(|| std::fs::read(fifo).unwrap());
        fake.say(0, 1, b"the end");
        fake.end(130, &[libc::SIGINT]);
        assert_eq!(reader.join().unwrap(), b"the end");
    });
    assert_eq!(code, Ok(130));
}

#[test]
fn much_output_of_many_ranks_arrives_complete_and_in_order() {
    let dir = Scratch::new("much");
    let wish = wish([dir.goal("out"), dir.goal("err")]);
    let lines = 20_000;
    let code = run(Fake::new(4, None), wish, move |fake, _| {
        assert_eq!(fake.told(), "start");
        std::thread::scope(|scope| {
            for rank in 0..4 {
                scope.spawn(move || {
                    let text: String =
                        (0..lines).map(|at| format!("{rank} line {at} of many\n")).collect();
                    text.as_bytes().chunks(777).for_each(|piece| fake.say(rank, 0, piece));
                });
            }
        });
        fake.end(0, &[0; 4]);
    });
    assert_eq!(code, Ok(0));
    let out = dir.read("out");
    for rank in 0..4 {
        let mark = rank.to_string();
        let of_rank = out.lines().filter(|line| line.starts_with(&mark));
        let expected = (0..lines).map(|at| format!("{rank} line {at} of many"));
        assert!(of_rank.eq(expected), "rank {rank}");
    }
    assert_eq!(out.lines().count(), 4 * lines);
}

#[test]
fn a_restarted_manager_is_met_again_and_nothing_is_lost() {
    let dir = Scratch::new("restart");
    let input = dir.0.join("input");
    let text = "some input\n".repeat(50_000);
    std::fs::write(&input, &text).unwrap();
    let mut wish = wish([dir.goal("out.%n"), dir.goal("err.%n")]);
    wish.input = Input::File(input);
    let code = run(Fake::new(2, None), wish, move |fake, _| {
        assert_eq!(fake.told(), "start");
        let mut closed = false;
        fake.say(0, 0, b"runs\n");
        fake.wait_until_read();
        for round in 0..5 {
            let line = format!("round {round}\n");
            fake.say(0, 0, line.as_bytes());
            fake.say(1, 1, line.as_bytes());
            fake.kill();
            fake.say(0, 0, b"while it was gone\n");
            std::thread::sleep(Duration::from_millis(20 * round));
            fake.restart();
            loop {
                match fake.told().as_str() {
                    "attach" => break,
                    "close stdin" => closed = true,
                    other if other.starts_with("resume stdin ") => {}
                    other => panic!("told {other}"),
                }
            }
        }
        while !closed {
            let told = fake.told();
            closed = told == "close stdin";
            assert!(closed || told.starts_with("resume stdin "), "{told}");
        }
        assert!(fake.stdin.text() == text, "input arrives once");
        fake.end(0, &[0, 0]);
    });
    assert_eq!(code, Ok(0));
    let gone = |round| format!("round {round}\nwhile it was gone\n");
    let rounds: String = (0..5).map(gone).collect();
    assert_eq!(dir.read("out.0"), format!("runs\n{rounds}"));
    let rounds = (0..5).map(|round| format!("round {round}\n"));
    assert_eq!(dir.read("err.1"), rounds.collect::<String>());
}

#[test]
fn a_manager_that_stays_away_ends_the_run_with_what_was_there() {
    let dir = Scratch::new("gone");
    let code = run(Fake::new(1, None), wish([dir.goal("out"), dir.goal("err")]), |fake, _| {
        assert_eq!(fake.told(), "start");
        fake.say(0, 0, b"last words");
        fake.wait_until_read();
        std::thread::sleep(Duration::from_millis(50));
        fake.kill();
    });
    let failure = code.unwrap_err();
    assert_eq!((&*failure.id, failure.exit), ("E401", 125));
    assert!(failure.text.contains("job 1: the manager is gone"), "{failure}");
    assert_eq!(dir.read("out"), "last words");
}

#[test]
fn output_whose_end_does_not_come_is_our_failure() {
    let dir = Scratch::new("cut");
    let code = run(Fake::new(1, None), wish([dir.goal("out"), dir.goal("err")]), |fake, _| {
        assert_eq!(fake.told(), "start");
        fake.say(0, 0, b"some");
        fake.wait_until_read();
        let ranks = json!([{"rank": 0, "node": "n0", "state": "done", "status": 0}]);
        let status = json!({"id": 1, "state": "done", "exit": 0, "end": "done", "ranks": ranks});
        fake.wait.set(status.to_string());
    });
    assert_eq!((code, dir.read("out").as_str()), (Ok(125), "some"));
}

#[test]
fn who_reads_slowly_gets_all_output_of_a_job_that_has_ended() {
    let dir = Scratch::new("slow");
    let fifo = dir.0.join("out");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let reader = std::thread::spawn(move || {
        let mut file = std::fs::File::open(fifo).unwrap();
        let (mut page, mut rest) = (vec![0; 512 * 1024], Vec::new());
        for _ in 0..2 {
            file.read_exact(&mut page).unwrap();
            // For longer than a manager may be silent.
            std::thread::sleep(pump::SILENCE * 3 / 2);
        }
        file.read_to_end(&mut rest).unwrap();
        2 * page.len() + rest.len()
    });
    let size = 2 << 20;
    let code = run(Fake::new(1, None), wish([dir.goal("out"), Goal::Nowhere]), move |fake, _| {
        assert_eq!(fake.told(), "start");
        // As one does that has all output already.
        fake.tell_end(0, &[0]);
        fake.say(0, 0, &vec![b'x'; size]);
        fake.end_output();
    });
    assert_eq!((code, reader.join().unwrap()), (Ok(0), size));
}

#[test]
fn one_signal_is_enough_where_nobody_takes_the_output_of_a_job_that_has_ended() {
    for is_open in [false, true] {
        let dir = Scratch::new(if is_open { "untaken" } else { "unopened" });
        let (out, fifo) = (dir.0.join("out"), dir.0.join("err"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let mut wish = wish([dir.goal("out"), dir.goal("err")]);
        wish.grace = WAIT * 10;
        let code = run(Fake::new(1, None), wish, move |fake, events| {
            assert_eq!(fake.told(), "start");
            // Before that it does not run, and who leaves then need not wait for any reader.
            while !out.exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
            // It reads nothing, but is there until all is over.
            is_open.then(|| std::mem::forget(std::fs::File::open(&fifo).unwrap()));
            fake.say(0, 1, &[b'x'; 128 * 1024]);
            events.tell(Event::Signal(libc::SIGTERM));
            assert_eq!(fake.told(), "signal TERM");
            fake.end(143, &[libc::SIGTERM]);
        });
        assert_eq!(code, Ok(143), "{is_open}");
    }
}

#[test]
fn after_a_signal_a_slow_reader_gets_all_output_as_well() {
    let dir = Scratch::new("slowly");
    let fifo = dir.0.join("out");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let size = 192 * 1024;
    let wish = wish([dir.goal("out"), Goal::Nowhere]);
    let code = run(Fake::new(1, None), wish, move |fake, events| {
        let mut reader = std::fs::File::open(fifo).unwrap();
        assert_eq!(fake.told(), "start");
        fake.say(0, 0, &vec![b'x'; size]);
        events.tell(Event::Signal(libc::SIGTERM));
        assert_eq!(fake.told(), "signal TERM");
        fake.end(143, &[libc::SIGTERM]);
        let (mut page, mut count) = ([0; 8192], 0);
        // Together it takes longer than nothing may be taken.
        for _ in 0..12 {
            reader.read_exact(&mut page).unwrap();
            count += page.len();
            std::thread::sleep(Duration::from_millis(300));
        }
        assert_eq!(count + reader.read_to_end(&mut Vec::new()).unwrap(), size);
    });
    assert_eq!(code, Ok(143));
}

#[test]
fn an_impossible_job_is_refused_in_the_managers_words() {
    let words = "8 nodes asked, 4 exist (n[0-3], all up). Nothing queued. Use -N 4  [E110]";
    let fake = Fake::new(1, Some(words));
    let code = run(fake, wish([Goal::Nowhere, Goal::Nowhere]), |fake, _| {
        assert_eq!(fake.told(), "start");
    });
    let failure = code.unwrap_err();
    assert_eq!((&*failure.id, failure.exit, failure.job), ("E110", 125, Some(1)));
    assert!(failure.text.starts_with("8 nodes asked, 4 exist"), "{failure}");
}

#[test]
fn signals_go_on_and_who_is_to_end_is_made_to() {
    let nowhere = || wish([Goal::Nowhere, Goal::Nowhere]);
    let code = run(Fake::new(1, None), nowhere(), |fake, events| {
        assert_eq!(fake.told(), "start");
        // Signals before the job runs would take it back.
        fake.say(0, 0, b"x");
        fake.wait_until_read();
        events.tell(Event::Signal(libc::SIGUSR1));
        events.tell(Event::Signal(libc::SIGINT));
        for expected in ["signal USR1", "signal INT", "signal TERM", "kill"] {
            assert_eq!(fake.told(), expected);
        }
        fake.end(137, &[9]);
    });
    assert_eq!(code, Ok(137));
    for (signal, expected) in [
        (libc::SIGTERM, &["signal TERM", "kill"][..]),
        (libc::SIGHUP, &["signal HUP", "signal TERM", "kill"]),
    ] {
        let code = run(Fake::new(1, None), nowhere(), move |fake, events| {
            assert_eq!(fake.told(), "start");
            fake.say(0, 0, b"x");
            fake.wait_until_read();
            events.tell(Event::Signal(signal));
            for expected in expected {
                assert_eq!(fake.told(), *expected);
            }
            fake.end(137, &[9]);
        });
        assert_eq!(code, Ok(137));
    }
    let mut patient = nowhere();
    patient.grace = WAIT * 10;
    let code = run(Fake::new(1, None), patient, |fake, events| {
        assert_eq!(fake.told(), "start");
        fake.say(0, 0, b"x");
        fake.wait_until_read();
        for expected in ["signal INT", "kill"] {
            events.tell(Event::Signal(libc::SIGINT));
            assert_eq!(fake.told(), expected);
            std::thread::sleep(TYPED);
        }
        events.tell(Event::Signal(libc::SIGINT));
    });
    assert_eq!(code, Ok(130), "the third leaves without the manager's word");
}

#[test]
fn ranks_that_are_to_end_have_their_time_though_nobody_reads_them_any_more() {
    let dir = Scratch::new("deaf");
    let fifo = dir.0.join("out");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut wish = wish([dir.goal("out"), Goal::Nowhere]);
    // Longer than a reader has when the job has ended.
    wish.grace = Duration::from_millis(1500);
    let code = run(Fake::new(1, None), wish, move |fake, events| {
        let mut reader = std::fs::File::open(fifo).unwrap();
        assert_eq!(fake.told(), "start");
        fake.say(0, 0, b"x");
        reader.read_exact(&mut [0]).unwrap();
        events.tell(Event::Signal(libc::SIGHUP));
        assert_eq!(fake.told(), "signal HUP");
        drop(reader);
        fake.say(0, 0, b"writing a checkpoint\n");
        assert_eq!([fake.told(), fake.told()], ["signal TERM", "kill"]);
        fake.end(137, &[9]);
    });
    assert_eq!(&*code.unwrap_err().id, "E140");
}

/// The error came before the signal, from another thread: ranks were killed with no word.
#[test]
fn ranks_hear_of_a_terminal_that_goes_whatever_is_seen_of_it_first() {
    let code = run(Fake::new(1, None), wish([Goal::Nowhere, Goal::Nowhere]), |fake, events| {
        assert_eq!(fake.told(), "start");
        fake.say(0, 0, b"x");
        fake.wait_until_read();
        let error = std::io::Error::from_raw_os_error(libc::EIO);
        let name = "standard output".to_owned();
        events.tell(Event::Unwritable(Unwritable { name, ours: true, is_terminal: true, error }));
        for expected in ["signal HUP", "signal TERM", "kill"] {
            assert_eq!(fake.told(), expected);
        }
        fake.end(137, &[9]);
    });
    assert_eq!(&*code.unwrap_err().id, "E140");
}

#[test]
fn what_cannot_be_written_ends_the_job() {
    let full = || Goal::Files(Template::parse("/dev/full").unwrap());
    let code = run(Fake::new(1, None), wish([full(), Goal::Nowhere]), |fake, _| {
        assert_eq!(fake.told(), "start");
        fake.say(0, 0, b"x\n");
        assert_eq!(fake.told(), "kill");
        fake.end(137, &[9]);
    });
    let failure = code.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "/dev/full cannot be written: No space left on device  [E140, exit 125]"
    );
}
