//! Mounted trees, used as programs use them. Where nobody may mount, there is nothing to test.

use super::{Mounted, start, unmount};
use muster_ninep::call::{Answer, Data, Ticket};
use muster_ninep::client::{self, Client};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::host::{self, HostTree};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::synthetic::{Dir, Entry, File, Handle, Inode, SynCall, Synthetic};
use muster_ninep::tree::Tree;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("muster-fuse-{name}.{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory in /tmp");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A tree, its server, and where it is mounted; taken down in this order.
struct Fixture {
    mounted: Option<Mounted>,
    at: PathBuf,
    client: Client,
    server: Option<Server>,
    _place: Scratch,
}

/// Mounts `tree`; `None` where that is not allowed.
fn fixture<T: Tree>(name: &str, tree: &Arc<T>) -> Option<Fixture> {
    let server = Server::start(tree, 1, same_user).expect("a server");
    let options = client::Options { name: "test".into(), ..client::Options::default() };
    let client = Client::over(server.connect().expect("pair"), &options).expect("attached");
    let place = Scratch::new(name);
    match start(&client, "test", &place.0) {
        Ok(mounted) => {
            let at = place.0.clone();
            let (mounted, server) = (Some(mounted), Some(server));
            Some(Fixture { mounted, at, client, server, _place: place })
        }
        Err(error) => {
            eprintln!("not tested here: {error}");
            None
        }
    }
}

/// Mounts an empty directory of this machine; returns it as well.
fn host(name: &str) -> Option<(Fixture, Scratch)> {
    let below = Scratch::new(&format!("{name}-below"));
    let options = host::Options { writable: true, ..host::Options::default() };
    let tree = Arc::new(HostTree::new(&below.0, options).expect("exported"));
    Some((fixture(name, &tree)?, below))
}

/// A file whose reads wait until something is fed.
#[derive(Clone, Default)]
struct Pipe(Arc<(Mutex<Waiters>, Condvar)>);

#[derive(Default)]
struct Waiters {
    tickets: Vec<Ticket<Data>>,
    content: Vec<u8>,
}

impl Handle for Pipe {
    fn read(&self, call: &mut SynCall<'_>, _: u64, count: usize) -> Answer<Data> {
        let (waiters, changed) = &*self.0;
        let mut waiters = waiters.lock().expect("no holder panics");
        if waiters.content.is_empty() {
            let parked = call.park(|ticket| waiters.tickets.push(ticket));
            changed.notify_all();
            return parked;
        }
        let count = count.min(waiters.content.len());
        Ok(waiters.content.drain(..count).collect::<Vec<u8>>().into())
    }
}

impl Pipe {
    /// Waits until so many reads wait that nobody has taken back.
    fn wait_for(&self, readers: usize) {
        let (waiters, changed) = &*self.0;
        let mut waiters = waiters.lock().expect("no holder panics");
        let limit = Instant::now() + Duration::from_secs(20);
        loop {
            waiters.tickets.retain(Ticket::is_live);
            if waiters.tickets.len() == readers {
                return;
            }
            assert!(Instant::now() < limit, "{} readers", waiters.tickets.len());
            let wait = Duration::from_millis(10);
            waiters = changed.wait_timeout(waiters, wait).expect("no holder panics").0;
        }
    }

    fn feed(&self, bytes: &[u8]) {
        let mut waiters = self.0.0.lock().expect("no holder panics");
        while let Some(ticket) = waiters.tickets.pop() {
            if ticket.claim() {
                return ticket.answer(Ok(bytes.to_vec().into()));
            }
        }
        waiters.content.extend_from_slice(bytes);
    }
}

/// A directory with a pipe and a text.
struct Made(Inode, Entry, Entry);

impl Made {
    fn new(pipe: &Pipe) -> Made {
        let opened = pipe.clone();
        let pipe = File::new(0o444, move |_| Ok(opened.clone()));
        let text = File::text(0o444, || Ok("made up\n".into()));
        Made(Inode::new(0o555), pipe.entry(), text.entry())
    }
}

impl Dir for Made {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, name: &str) -> Result<Option<Entry>> {
        Ok(match name {
            "pipe" => Some(self.1.clone()),
            "text" => Some(self.2.clone()),
            _ => None,
        })
    }
    fn list(&self) -> Vec<String> {
        vec!["pipe".into(), "text".into()]
    }
}

fn made(name: &str) -> Option<(Fixture, Pipe)> {
    let pipe = Pipe::default();
    let tree = Arc::new(Synthetic::new(Arc::new(Made::new(&pipe))));
    Some((fixture(name, &tree)?, pipe))
}

#[test]
fn files_are_made_read_changed_and_removed() {
    let Some((fixture, below)) = host("files") else { return };
    let (at, below) = (&fixture.at, &below.0);
    let file = at.join("file");
    fs::write(&file, "first\n").expect("written");
    assert_eq!(fs::read(below.join("file")).expect("there"), b"first\n");
    let mut more = fs::OpenOptions::new().append(true).open(&file).expect("opened");
    more.write_all(b"second\n").expect("appended");
    drop(more);
    assert_eq!(fs::read_to_string(&file).expect("read"), "first\nsecond\n");
    fs::write(&file, "short").expect("truncated by open");
    assert_eq!(fs::metadata(&file).expect("stat").len(), 5);
    let open = fs::OpenOptions::new().read(true).write(true).open(&file).expect("opened");
    open.set_len(3).expect("truncated");
    open.write_all_at(b"!", 3).expect("written");
    open.sync_all().expect("synced");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("changed");
    let then = SystemTime::UNIX_EPOCH + Duration::new(1_234_567, 89);
    open.set_times(fs::FileTimes::new().set_modified(then)).expect("changed");
    let meta = fs::metadata(below.join("file")).expect("stat");
    assert_eq!(
        (meta.mode() & 0o7777, meta.len(), meta.mtime(), meta.mtime_nsec()),
        (0o640, 4, 1_234_567, 89)
    );
    fs::remove_file(&file).expect("removed");
    let mut said = Vec::new();
    (&open).seek(SeekFrom::Start(0)).expect("seek");
    (&open).read_to_end(&mut said).expect("an open file stays");
    assert_eq!(said, b"sho!");
    assert!(fs::metadata(&file).is_err());
    fs::OpenOptions::new().write(true).create_new(true).open(&file).expect("created");
    let again = fs::OpenOptions::new().write(true).create_new(true).open(&file);
    assert_eq!(again.expect_err("it exists").kind(), std::io::ErrorKind::AlreadyExists);
}

/// Locks are made so, and others remove them: the file was made, and its maker was told ENOENT.
#[test]
fn who_makes_a_file_has_it_open_though_others_remove_its_name() {
    let Some((fixture, below)) = host("removed") else { return };
    let (at, dir) = (fixture.at.clone(), below.0.clone());
    let is_over = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while is_over.load(Ordering::Relaxed) == 0 {
                for entry in fs::read_dir(&dir).expect("a directory").flatten() {
                    let _ = fs::remove_file(entry.path());
                }
            }
        });
        let make = |number: u64| {
            let file = fs::File::create_new(at.join(format!("{number}.lock")))?;
            (&file).write_all(b"mine")?;
            file.metadata()
        };
        let made: std::io::Result<Vec<_>> = (0..300).map(make).collect();
        is_over.store(1, Ordering::Relaxed);
        let made = made.expect("each is made");
        assert!(made.iter().all(|file| file.len() == 4), "and is the one that was made");
    });
}

#[test]
fn directories_links_and_special_files() {
    let Some((fixture, below)) = host("dirs") else { return };
    let (at, below) = (&fixture.at, &below.0);
    fs::create_dir_all(at.join("a/b")).expect("made");
    fs::write(at.join("a/one"), "1").expect("written");
    fs::rename(at.join("a/one"), at.join("a/b/two")).expect("renamed");
    fs::hard_link(at.join("a/b/two"), at.join("three")).expect("linked");
    symlink("a/b/two", at.join("four")).expect("linked");
    assert_eq!(fs::read(at.join("four")).expect("followed"), b"1");
    assert_eq!(fs::read_link(below.join("four")).expect("there"), Path::new("a/b/two"));
    let [two, three] = ["a/b/two", "three"].map(|name| fs::metadata(at.join(name)).expect("stat"));
    assert_eq!((two.ino(), two.nlink()), (three.ino(), 2));
    let status = Command::new("mkfifo").arg(at.join("fifo")).status().expect("run");
    assert!(status.success());
    for number in 0..500 {
        fs::write(at.join(format!("a/file-with-some-name-{number:04}")), "").expect("written");
    }
    let mut names: Vec<_> = fs::read_dir(at.join("a"))
        .expect("listed")
        .map(|e| e.expect("entry").file_name())
        .collect();
    names.sort();
    assert_eq!(names.len(), 501);
    assert_eq!(names[0], "b");
    let busy = fs::remove_dir(at.join("a")).expect_err("not empty");
    assert_eq!(busy.kind(), std::io::ErrorKind::DirectoryNotEmpty);
    fs::remove_dir_all(at.join("a")).expect("removed");
    assert!(!below.join("a").exists());
    let missing = fs::read(at.join("a/b")).expect_err("gone");
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn large_files_arrive_whole_and_programs_run() {
    let Some((fixture, below)) = host("large") else { return };
    let content: Vec<u8> = (0..5_000_001u32).map(|at| ((at * 31) >> 7) as u8).collect();
    fs::write(fixture.at.join("large"), &content).expect("written");
    assert!(fs::read(below.0.join("large")).expect("there") == content);
    assert!(fs::read(fixture.at.join("large")).expect("read") == content);
    let program = fixture.at.join("program");
    fs::copy("/bin/echo", &program).expect("copied");
    // A child that another test starts may have the file open to be written, until it is a program.
    let deadline = Instant::now() + Duration::from_secs(20);
    let output = loop {
        match Command::new(&program).arg("ran").output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                assert!(Instant::now() < deadline, "{error}");
            }
            ran => break ran.expect("run"),
        }
    };
    assert_eq!(output.stdout, b"ran\n");
    let statfs = rustix::fs::statfs(&fixture.at).expect("statfs");
    assert!(statfs.f_blocks > 0);
}

/// Once all was allowed to everybody, and shells took the wrong one of several files.
#[test]
fn what_may_be_done_is_said_before_it_is_tried() {
    use rustix::fs::{Access, access};
    let (Some((fixture, below)), Some((made, _))) = (host("access"), self::made("access-made"))
    else {
        return;
    };
    for (name, mode) in [("text", 0o644), ("program", 0o755)] {
        fs::write(below.0.join(name), "").expect("written");
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(below.0.join(name), mode).expect("ours");
    }
    let may = |file: PathBuf, how: Access| access(&file, how).is_ok();
    for how in [Access::READ_OK, Access::WRITE_OK, Access::EXEC_OK, Access::EXISTS] {
        for name in ["text", "program", "none", ""] {
            let [there, here] = [&fixture.at, &below.0].map(|top| may(top.join(name), how));
            assert_eq!(there, here, "{name} {how:?}");
        }
    }
    assert!(may(made.at.join("text"), Access::READ_OK));
    assert!(!may(made.at.join("text"), Access::WRITE_OK), "also for root");
    assert!(!may(made.at.clone(), Access::WRITE_OK));
    let inside = Command::new("true").current_dir(&made.at).status().expect("entered");
    assert!(inside.success());
}

/// What a script says of a file.
fn python(script: &str, file: &Path) -> String {
    let output = Command::new("python3").args(["-c", script]).arg(file).output();
    let output = output.expect("python3, which cargo xtask setup installs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn locks_hold_between_processes_and_end_with_a_close() {
    let Some((fixture, _below)) = host("locks") else { return };
    let file = fixture.at.join("lock");
    let ours = fs::File::create(&file).expect("created");
    let exclusive = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    rustix::fs::fcntl_lock(&ours, exclusive).expect("locked");
    let holds = |expected: &str| {
        let script = "import fcntl,sys\nf=open(sys.argv[1],'r+')\n\
                      try:\n fcntl.lockf(f,fcntl.LOCK_EX|fcntl.LOCK_NB);print('free')\n\
                      except OSError:print('held')\n";
        assert_eq!(python(script, &file), expected);
    };
    holds("held");
    drop(ours);
    holds("free");
    holds("free");
}

/// Once flock(2) held on its own mount alone.
#[test]
fn a_lock_of_flock_holds_for_other_mounts_until_the_last_who_has_it_open_closes() {
    let below = Scratch::new("flock-below");
    let options = host::Options { writable: true, ..host::Options::default() };
    let tree = Arc::new(HostTree::new(&below.0, options).expect("exported"));
    let (Some(one), Some(other)) = (fixture("flock-1", &tree), fixture("flock-2", &tree)) else {
        return;
    };
    let open = |fixture: &Fixture| {
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        options.open(fixture.at.join("lock")).expect("opened")
    };
    let (ours, theirs, again) = (open(&one), open(&other), open(&one));
    let shared = rustix::fs::FlockOperation::NonBlockingLockShared;
    let exclusive = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    let may = |file: &fs::File, how| rustix::fs::flock(file, how).is_ok();
    assert!(may(&ours, shared) && may(&theirs, shared) && may(&again, shared));
    assert!(!may(&ours, exclusive));
    drop(again);
    rustix::fs::flock(&theirs, rustix::fs::FlockOperation::Unlock).expect("it had it");
    let copy = ours.try_clone().expect("a descriptor");
    // The kernel may tell of the close a moment later.
    let limit = Instant::now() + Duration::from_secs(10);
    while !may(&ours, exclusive) {
        assert!(Instant::now() < limit, "nobody else has it");
        std::thread::yield_now();
    }
    drop(ours);
    let own = fs::File::options().write(true).open(below.0.join("lock")).expect("opened");
    assert!(!may(&theirs, shared) && !may(&open(&one), shared));
    assert!(rustix::fs::fcntl_lock(&own, exclusive).is_err(), "a program's there");
    drop(copy);
    while !may(&theirs, exclusive) {
        assert!(Instant::now() < limit, "nobody has it");
        std::thread::yield_now();
    }
}

#[test]
fn who_inherits_an_open_file_has_none_of_its_locks_and_ends_none() {
    let Some((fixture, _below)) = host("inherited") else { return };
    let file = fixture.at.join("lock");
    fs::write(&file, "").expect("created");
    let script = "\
import fcntl, os, sys
f = open(sys.argv[1], 'r+')
fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
def child(f):
    r, w = os.pipe()
    if os.fork() == 0:
        try:
            fcntl.lockf(f(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(w, b'free')
        except OSError:
            os.write(w, b'held')
        os._exit(0)
    os.wait()
    return os.read(r, 4).decode()
print(child(lambda: f), child(lambda: open(sys.argv[1], 'r+')))
";
    assert_eq!(python(script, &file), "held held");
}

#[test]
fn made_up_files_have_content_and_df_lists_them() {
    let Some((fixture, _)) = made("made") else { return };
    assert_eq!(fs::metadata(fixture.at.join("text")).expect("stat").len(), 0);
    assert_eq!(fs::read(fixture.at.join("text")).expect("read"), b"made up\n");
    let output = Command::new("cat").arg(fixture.at.join("text")).output().expect("run");
    assert_eq!(output.stdout, b"made up\n");
    let df = Command::new("df").arg(&fixture.at).output().expect("run");
    assert!(df.status.success(), "{df:?}");
    let root = fs::metadata(&fixture.at).expect("stat");
    assert_eq!((root.ino(), root.mode() & 0o777), (1, 0o555));
}

#[test]
fn a_waiting_read_ends_with_a_signal_and_takes_nothing() {
    let Some((fixture, pipe)) = made("signal") else { return };
    for signal in [Signal::HUP, Signal::TERM, Signal::KILL] {
        // Whoever runs this under nohup(1) has its children ignore a hangup.
        let mut cat = Command::new("env");
        let cat = cat.args(["--default-signal", "cat"]).arg(fixture.at.join("pipe"));
        let mut cat = cat.stdout(Stdio::piped()).spawn().expect("run");
        pipe.wait_for(1);
        let start = Instant::now();
        kill_process(Pid::from_child(&cat), signal).expect("sent");
        cat.wait().expect("ended");
        // Not a bound on speed: without the flush it would wait for ever.
        assert!(start.elapsed() < Duration::from_secs(15), "{signal:?}");
        pipe.wait_for(0);
    }
    pipe.feed(b"kept");
    let mut bytes = [0; 10];
    let mut file = fs::File::open(fixture.at.join("pipe")).expect("opened");
    assert_eq!(file.read(&mut bytes).expect("read"), 4);
}

#[test]
fn many_reads_wait_and_each_gets_its_answer() {
    let Some((fixture, pipe)) = made("many") else { return };
    let path = fixture.at.join("pipe");
    let readers: Vec<_> = (0..50)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut byte = [0];
                fs::File::open(path).expect("opened").read_exact(&mut byte).expect("read");
                byte[0]
            })
        })
        .collect();
    pipe.wait_for(50);
    (0..50u8).for_each(|byte| pipe.feed(&[byte]));
    let mut got: Vec<u8> = readers.into_iter().map(|reader| reader.join().expect("read")).collect();
    got.sort_unstable();
    assert_eq!(got, (0..50).collect::<Vec<u8>>());
}

#[test]
fn when_the_server_dies_nobody_hangs() {
    let Some((mut fixture, pipe)) = made("dies") else { return };
    let path = fixture.at.join("pipe");
    let reader = std::thread::spawn(move || fs::read(path));
    pipe.wait_for(1);
    drop(fixture.server.take());
    let error = reader.join().expect("ended").expect_err("the server is gone");
    assert_eq!(error.raw_os_error(), Some(libc::ENOTCONN), "{error}");
    for _ in 0..2 {
        let error = fs::metadata(fixture.at.join("text")).expect_err("the server is gone");
        assert_eq!(error.raw_os_error(), Some(libc::ENOTCONN), "{error}");
    }
    assert!(fixture.client.ended().is_some());
    assert!(rustix::fs::statfs(&fixture.at).is_err());
    drop(fixture.mounted.take());
    assert_eq!(fs::read_dir(&fixture.at).expect("the empty directory below").count(), 0);
}

#[test]
fn a_mount_is_served_until_it_is_unmounted() {
    let Some((mut fixture, _pipe)) = made("umount") else { return };
    drop(fixture.mounted.take());
    let (client, at) = (fixture.client.clone(), fixture.at.clone());
    let serving = std::thread::spawn(move || start(&client, "test", &at)?.wait());
    let text = fixture.at.join("text");
    while !text.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let open = fs::File::open(&text).expect("opened");
    let error = unmount(&fixture.at, false).expect_err("a file is open").to_string();
    assert!(error.contains("busy") && error.contains("-l unmounts"), "{error}");
    drop(open);
    // The kernel may see the close a moment later.
    let limit = Instant::now() + Duration::from_secs(10);
    while let Err(error) = unmount(&fixture.at, false) {
        assert!(Instant::now() < limit, "{error}");
        std::thread::sleep(Duration::from_millis(5));
    }
    serving.join().expect("ended").expect("in order");
    let error =
        start(&fixture.client, "test", &fixture.at.join("no")).expect_err("missing").to_string();
    assert!(error.contains("No such file or directory") && error.contains("[E151]"), "{error}");
}

#[test]
fn the_kernel_is_made_to_forget() {
    use super::table::NODES_MAX;
    let Some((fixture, below)) = host("forget") else { return };
    let count = NODES_MAX * 4;
    for number in 0..count {
        fs::write(below.0.join(format!("{number}")), "").expect("written");
    }
    let held = fs::File::open(fixture.at.join("0")).expect("opened");
    let nodes = || fixture.mounted.as_ref().expect("mounted").table.nodes();
    for number in 0..count {
        fs::metadata(fixture.at.join(format!("{number}"))).expect("there");
        // It forgets behind our back, and some time later.
        let limit = Instant::now() + Duration::from_secs(10);
        while nodes() > NODES_MAX * 2 {
            assert!(Instant::now() < limit, "{} inodes", nodes());
            std::thread::yield_now();
        }
    }
    assert_eq!(held.metadata().expect("an open file stays").len(), 0);
    assert_eq!(fs::read_dir(&fixture.at).expect("listed").count(), count);
}

/// Once getcwd(2) failed in a directory that had been found first of many.
#[test]
fn who_is_in_a_directory_can_say_where_when_much_else_was_found() {
    use super::table::NODES_MAX;
    let Some((fixture, below)) = host("inside") else { return };
    let deep = fixture.at.join("a/deep");
    fs::create_dir_all(&deep).expect("made");
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", "read go; exec readlink /proc/self/cwd"]).current_dir(&deep);
    let shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = shell.spawn().expect("run");
    for number in 0..NODES_MAX * 4 {
        let file = format!("{number}");
        fs::write(below.0.join(&file), "").expect("written");
        fs::metadata(fixture.at.join(&file)).expect("there");
    }
    writeln!(shell.stdin.take().expect("it is piped"), "go").expect("it reads");
    let output = shell.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.stdout, format!("{}\n", deep.display()).as_bytes(), "{said}");
}

/// Files of which only so many can be had at a time.
struct Scarce(Inode, Vec<Arc<()>>);

impl Scarce {
    const MOST: usize = 50;
}

impl Dir for Scarce {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, name: &str) -> Result<Option<Entry>> {
        // A fid keeps its file.
        if self.1.iter().filter(|file| Arc::strong_count(file) > 1).count() >= Scarce::MOST {
            return fail(Errno::MFILE, "all are given out");
        }
        let number = name.parse().ok();
        let held = number.and_then(|at: usize| self.1.get(at).cloned());
        Ok(held.map(|held| File::text(0o444, move || Ok(format!("{:?}", *held))).entry()))
    }
    fn list(&self) -> Vec<String> {
        (0..self.1.len()).map(|at| at.to_string()).collect()
    }
}

/// Once the first mount kept all that there was, and everybody else went without.
#[test]
fn the_kernel_is_made_to_forget_when_the_server_has_no_more_files() {
    let files: Vec<_> = (0..Scarce::MOST * 4).map(|_| Arc::new(())).collect();
    let names = 0..files.len();
    let tree = Arc::new(Synthetic::new(Arc::new(Scarce(Inode::new(0o555), files))));
    let Some(fixture) = fixture("scarce", &tree) else { return };
    for number in names {
        // It forgets some time later.
        let limit = Instant::now() + Duration::from_secs(20);
        while let Err(error) = fs::metadata(fixture.at.join(number.to_string())) {
            assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{error}");
            assert!(Instant::now() < limit, "{number}: none is given back");
            std::thread::yield_now();
        }
    }
}

/// A file whose reads hold the whole server up while a lock is held.
struct Stuck(Arc<Mutex<()>>, Arc<(Mutex<bool>, Condvar)>);

impl Handle for Stuck {
    fn read(&self, _: &mut SynCall<'_>, _: u64, _: usize) -> Answer<Data> {
        *self.1.0.lock().expect("no holder panics") = true;
        self.1.1.notify_all();
        drop(self.0.lock().expect("no holder panics"));
        Ok(Vec::new().into())
    }
}

struct StuckDir(Inode, Entry);

impl Dir for StuckDir {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, name: &str) -> Result<Option<Entry>> {
        Ok((name == "stuck").then(|| self.1.clone()))
    }
    fn list(&self) -> Vec<String> {
        vec!["stuck".into()]
    }
}

#[test]
fn a_signal_gets_through_even_if_the_server_hangs() {
    let (gate, entered) = (Arc::new(Mutex::new(())), Arc::new((Mutex::new(false), Condvar::new())));
    let (gates, enter) = (gate.clone(), entered.clone());
    let file = File::new(0o444, move |_| Ok(Stuck(gates.clone(), enter.clone())));
    let dir = StuckDir(Inode::new(0o555), file.entry());
    let tree = Arc::new(Synthetic::new(Arc::new(dir)));
    let Some(fixture) = fixture("hangs", &tree) else { return };
    let shut = gate.lock().expect("no holder panics");
    let mut cat = Command::new("cat").arg(fixture.at.join("stuck")).spawn().expect("run");
    let inside = entered.0.lock().expect("no holder panics");
    drop(entered.1.wait_while(inside, |inside| !*inside).expect("no holder panics"));
    kill_process(Pid::from_child(&cat), Signal::TERM).expect("sent");
    // It ends although the server says nothing to the flush either.
    cat.wait().expect("ended");
    drop(shut);
    assert_eq!(fs::read(fixture.at.join("stuck")).expect("it goes on"), b"");
}

/// A directory whose files take half a second to be found.
struct Slow(Inode);

impl Dir for Slow {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, _: &str) -> Result<Option<Entry>> {
        std::thread::sleep(Duration::from_millis(500));
        Ok(Some(File::text(0o444, || Ok(String::new())).entry()))
    }
    fn list(&self) -> Vec<String> {
        Vec::new()
    }
}

/// No program expects EINTR of stat(2), and profilers and timers send signals all the time.
#[test]
fn a_signal_that_is_caught_interrupts_nobody_who_waits_for_no_more_than_the_server() {
    let tree = Arc::new(Synthetic::new(Arc::new(Slow(Inode::new(0o555)))));
    let Some(fixture) = fixture("slow", &tree) else { return };
    let script = "import os, signal, sys\n\
                  signal.signal(signal.SIGALRM, lambda *_: None)\n\
                  signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)\n\
                  size = os.stat(sys.argv[1]).st_size\n\
                  signal.setitimer(signal.ITIMER_REAL, 0)\n\
                  print(size)\n";
    assert_eq!(python(script, &fixture.at.join("file")), "0");
}

/// A directory whose server is started again: what was found before is gone, and what is there now
/// has the same numbers.
struct Lives(Inode, Arc<AtomicU64>);

struct Life {
    inode: Inode,
    number: u64,
    now: Arc<AtomicU64>,
}

impl Dir for Lives {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, _: &str) -> Result<Option<Entry>> {
        let (inode, number) = (Inode::of(0o555, "node"), self.1.load(Ordering::Relaxed));
        Ok(Some(Entry::Dir(Arc::new(Life { inode, number, now: self.1.clone() }))))
    }
    fn list(&self) -> Vec<String> {
        vec!["n0".into()]
    }
}

impl Dir for Life {
    fn inode(&self) -> &Inode {
        &self.inode
    }
    fn get(&self, _: &str) -> Result<Option<Entry>> {
        if self.number != self.now.load(Ordering::Relaxed) {
            return fail(Errno::CONNRESET, "its server has gone");
        }
        let number = self.number;
        Ok(Some(File::text(0o444, move || Ok(number.to_string())).entry()))
    }
    fn list(&self) -> Vec<String> {
        vec!["life".into()]
    }
}

/// The kernel keeps the directory, and it was asked for by what had been found first for ever.
#[test]
fn a_directory_whose_server_was_started_again_is_the_new_ones() {
    let now = Arc::new(AtomicU64::new(1));
    let tree = Arc::new(Synthetic::new(Arc::new(Lives(Inode::new(0o555), now.clone()))));
    let Some(fixture) = fixture("lives", &tree) else { return };
    let life = fixture.at.join("n0/life");
    assert_eq!(fs::read_to_string(&life).expect("read"), "1");
    now.store(2, Ordering::Relaxed);
    assert_eq!(fs::read_to_string(&life).expect("read"), "2");
}
