//! Two servers, one in front of the other, and a client of the front one.

mod reads;
mod writes;

use super::{MADE, Remote};
use crate::call::{Answer, Data, HeldLock, LockStatus, Opened, Ticket, Walked};
use crate::client::{Client, Options};
use crate::error::{Errno, Result, fail};
use crate::message::{NOFID, NONUNAME, NOTAG, Tmessage, UserNumber};
use crate::record::{Attr, Boxed, DirEntry, LockRange, Qid, SetAttr, Stat, Statfs};
use crate::serve::{Server, same_user};
use crate::session::Session;
use crate::synthetic::{Dir, Entry, Inode, Synthetic};
use crate::tree::{Attach, C, OpenFlags, Peer, Tree};
use crate::version::Dialect;
use crate::wire::{Name, Names};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

/// A tree that notes what it is asked: every file is a pipe called like its path.
#[derive(Default)]
struct Probe {
    notes: Mutex<Vec<String>>,
    noted: Condvar,
    /// Bytes not yet read, and reads that wait for some.
    pipe: Mutex<(VecDeque<u8>, Vec<Ticket<Data>>)>,
    /// Bytes that reads have asked for.
    asked: AtomicUsize,
}

impl Probe {
    fn note(&self, what: impl Into<String>) {
        self.notes.lock().expect("no holder panics").push(what.into());
        self.noted.notify_all();
    }

    /// Waits until `what` was noted so many times.
    fn wait_for(&self, what: &str, times: usize) {
        let count = |notes: &Vec<String>| notes.iter().filter(|note| *note == what).count();
        let notes = self.notes.lock().expect("no holder panics");
        let limit = Duration::from_secs(60);
        let waited = self.noted.wait_timeout_while(notes, limit, |notes| count(notes) < times);
        let (notes, result) = waited.expect("no holder panics");
        let shown = format!("{what} not {times} times in {notes:?}");
        drop(notes);
        assert!(!result.timed_out(), "{shown}");
    }

    fn notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock().expect("no holder panics"))
    }

    /// Gives `bytes` to the first read that still waits, or keeps them.
    fn feed(&self, bytes: &[u8]) {
        let mut pipe = self.pipe.lock().expect("no holder panics");
        while let Some(ticket) = pipe.1.pop() {
            if ticket.claim() {
                return ticket.answer(Ok(bytes.to_vec().into()));
            }
        }
        pipe.0.extend(bytes);
    }
}

fn text(name: Name<'_>) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn qid(path: u64) -> Qid {
    Qid { kind: Qid::DIR, version: 3, path }
}

/// The qid of what is no directory: whatever is called `pipe`, or was created. All pipes but the
/// wide one are said to be made up.
fn file(path: u64) -> Qid {
    Qid { kind: 0, ..qid(path) }
}

impl Tree for Probe {
    type Fid = String;

    fn attach(&self, _: &mut C<'_, Self>, _: &Attach<'_>) -> Answer<(String, Qid)> {
        Ok(("".into(), qid(1)))
    }

    fn walk(
        &self,
        _: &mut C<'_, Self>,
        from: &String,
        names: &[Name<'_>],
    ) -> Answer<Walked<String>> {
        let mut at = from.clone();
        let mut qids = Vec::new();
        for name in names {
            match *name {
                b"missing" if qids.is_empty() => {
                    return fail(Errno::NOENT, "nothing is missing here");
                }
                b"missing" => return Ok(Walked { qids, fid: None }),
                b"full" => return fail(Errno::MFILE, "no descriptors are left"),
                b".." => at.truncate(at.rfind('/').unwrap_or(0)),
                name => at = format!("{at}/{}", text(name)),
            }
            let length = at.len() as u64;
            qids.push(match at.rsplit('/').next() {
                Some("wide-pipe") => file(length),
                Some(name) if name.ends_with("pipe") => file(length | MADE),
                _ => qid(length),
            });
        }
        Ok(Walked { qids, fid: Some(at) })
    }

    fn open(&self, _: &mut C<'_, Self>, fid: &String, flags: OpenFlags) -> Answer<Opened<String>> {
        self.note(format!("open {fid} {}", flags.0));
        let qid = if fid.ends_with("pipe") { file(5) } else { qid(2) };
        let iounit = if fid.contains("wide") { 0 } else { 5 };
        Ok(Opened { fid: fid.clone(), qid, iounit })
    }

    fn clunk(&self, fid: String) {
        self.note(format!("clunk {fid}"));
    }

    fn commit(&self, _: &mut C<'_, Self>, fid: &String) -> Answer<()> {
        self.note(format!("commit {fid}"));
        if fid.ends_with("crammed#") {
            return fail(Errno::NOSPC, "no attribute fits any more");
        }
        Ok(())
    }

    fn getattr(&self, _: &mut C<'_, Self>, fid: &String) -> Answer<Attr> {
        Ok(Attr { valid: Attr::BASIC, qid: qid(1), size: fid.len() as u64, ..Attr::default() })
    }

    fn read(&self, call: &mut C<'_, Self>, _: &String, _: u64, count: usize) -> Answer<Data> {
        self.asked.fetch_add(count, Ordering::Relaxed);
        let mut pipe = self.pipe.lock().expect("no holder panics");
        if pipe.0.is_empty() {
            let parked = call.park(|ticket| pipe.1.insert(0, ticket));
            self.note("parked");
            return parked;
        }
        let count = count.min(pipe.0.len());
        Ok(pipe.0.drain(..count).collect::<Vec<_>>().into())
    }

    fn write(&self, _: &mut C<'_, Self>, fid: &String, offset: u64, data: &[u8]) -> Answer<u32> {
        self.note(format!("write {fid} {offset} {}", text(data)));
        Ok(data.len() as u32)
    }

    fn readdir(
        &self,
        _: &mut C<'_, Self>,
        _: &String,
        offset: u64,
        _: usize,
        _: bool,
    ) -> Answer<Vec<DirEntry>> {
        let entry = DirEntry { qid: qid(8), next: 1, kind: 4, name: b"x".into(), attr: None };
        Ok(if offset == 0 { vec![entry] } else { vec![] })
    }

    fn create(
        &self,
        _: &mut C<'_, Self>,
        dir: &String,
        name: Name<'_>,
        flags: OpenFlags,
        mode: u32,
        gid: u32,
    ) -> Answer<Opened<String>> {
        self.note(format!("create {dir} {} {} {mode:o} {gid}", text(name), flags.0));
        Ok(Opened { fid: format!("{dir}/{}", text(name)), qid: file(3), iounit: 0 })
    }

    fn setattr(&self, _: &mut C<'_, Self>, fid: &String, attr: &SetAttr) -> Answer<()> {
        self.note(format!("setattr {fid} {} {}", attr.valid, attr.size));
        Ok(())
    }

    fn remove(&self, _: &mut C<'_, Self>, fid: &String) -> Answer<()> {
        self.note(format!("remove {fid}"));
        Ok(())
    }

    fn rename(
        &self,
        _: &mut C<'_, Self>,
        fid: &String,
        dir: Option<&String>,
        name: Name<'_>,
        _: bool,
    ) -> Answer<()> {
        self.note(format!("rename {fid} {dir:?} {}", text(name)));
        Ok(())
    }

    fn renameat(
        &self,
        _: &mut C<'_, Self>,
        from: (&String, Name<'_>),
        to: (&String, Name<'_>),
    ) -> Answer<()> {
        self.note(format!("renameat {} {} {} {}", from.0, text(from.1), to.0, text(to.1)));
        Ok(())
    }

    fn unlinkat(
        &self,
        _: &mut C<'_, Self>,
        dir: &String,
        name: Name<'_>,
        directory: bool,
    ) -> Answer<()> {
        self.note(format!("unlinkat {dir} {} {directory}", text(name)));
        Ok(())
    }

    fn mkdir(
        &self,
        _: &mut C<'_, Self>,
        dir: &String,
        name: Name<'_>,
        mode: u32,
        gid: u32,
    ) -> Answer<Qid> {
        self.note(format!("mkdir {dir} {} {mode:o} {gid}", text(name)));
        Ok(qid(4))
    }

    fn symlink(
        &self,
        _: &mut C<'_, Self>,
        dir: &String,
        name: Name<'_>,
        target: &[u8],
        gid: u32,
    ) -> Answer<Qid> {
        self.note(format!("symlink {dir} {} {} {gid}", text(name), text(target)));
        Ok(qid(5))
    }

    fn mknod(
        &self,
        _: &mut C<'_, Self>,
        dir: &String,
        name: Name<'_>,
        mode: u32,
        device: (u32, u32),
        gid: u32,
    ) -> Answer<Qid> {
        self.note(format!("mknod {dir} {} {mode:o} {device:?} {gid}", text(name)));
        Ok(qid(6))
    }

    fn link(&self, _: &mut C<'_, Self>, dir: &String, fid: &String, name: Name<'_>) -> Answer<()> {
        self.note(format!("link {dir} {fid} {}", text(name)));
        Ok(())
    }

    fn readlink(&self, _: &mut C<'_, Self>, fid: &String) -> Answer<Vec<u8>> {
        Ok(format!("to{fid}").into_bytes())
    }

    fn statfs(&self, _: &mut C<'_, Self>, _: &String) -> Answer<Statfs> {
        Ok(Statfs { files: 42, ..Statfs::default() })
    }

    fn fsync(&self, _: &mut C<'_, Self>, fid: &String, data: bool) -> Answer<()> {
        self.note(format!("fsync {fid} {data}"));
        Ok(())
    }

    fn lock(
        &self,
        _: &mut C<'_, Self>,
        _: &String,
        range: &LockRange<'_>,
        block: bool,
    ) -> Answer<LockStatus> {
        self.note(format!("lock {} {} {} {block}", range.kind, range.start, range.client_id));
        Ok(LockStatus::Blocked)
    }

    fn getlock(&self, _: &mut C<'_, Self>, _: &String, range: &LockRange<'_>) -> Answer<HeldLock> {
        Ok(HeldLock { kind: 1, start: range.start + 1, ..HeldLock::default() })
    }

    fn xattrwalk(
        &self,
        _: &mut C<'_, Self>,
        fid: &String,
        name: Name<'_>,
    ) -> Answer<(String, u64)> {
        self.feed(b"value");
        Ok((format!("{fid}#{}", text(name)), 5))
    }

    fn xattrcreate(
        &self,
        _: &mut C<'_, Self>,
        fid: &String,
        name: Name<'_>,
        size: u64,
        flags: u32,
    ) -> Answer<Opened<String>> {
        self.note(format!("xattrcreate {fid} {} {size} {flags}", text(name)));
        Ok(Opened { fid: format!("{fid}#"), qid: qid(7), iounit: 0 })
    }
}

/// The two servers.
struct Relay {
    probe: Arc<Probe>,
    /// The front's connection to the back.
    between: Client,
    front: Server,
    back: Option<Server>,
}

impl Relay {
    fn new() -> Relay {
        let probe = Arc::new(Probe::default());
        let back = Server::start(&probe, 1, same_user).expect("a server");
        let named = Options { name: "n3".into(), ..Options::default() };
        let between = Client::over(back.connect().expect("pair"), &named).expect("attached");
        let remote = Arc::new(Remote::new(&between, "n3"));
        let front = Server::start(&remote, 1, same_user).expect("a server");
        Relay { probe, between, front, back: Some(back) }
    }

    fn client(&self) -> Client {
        let stream = self.front.connect().expect("pair");
        Client::over(stream, &Options::default()).expect("attached")
    }
}

#[test]
fn every_request_reaches_the_other_server_whole() {
    let relay = Relay::new();
    let client = relay.client();
    let fid = client.walk("a/b").expect("walked");
    assert_eq!(fid.getattr().expect("attributes").size, 4);
    fid.setattr(&SetAttr { valid: 8, size: 77, ..SetAttr::default() }).expect("set");
    let dir = client.walk("d").expect("walked");
    fid.rename(&dir, b"new").expect("renamed");
    dir.renameat(b"old", &fid, b"new").expect("renamed");
    dir.unlinkat(b"gone", true).expect("unlinked");
    dir.mkdir(b"m", 0o750, 9).expect("made");
    dir.symlink(b"s", b"target", 9).expect("made");
    let (told, made) = mpsc::channel();
    dir.mknod_then(b"n", 0o20_644, (4, 5), 9, move |qid| told.send(qid).expect("waits"));
    made.recv().expect("told").expect("made");
    dir.link(&fid, b"l").expect("linked");
    assert_eq!(fid.readlink().expect("read"), b"to/a/b");
    assert_eq!(fid.statfs().expect("told").files, 42);
    let range = LockRange { kind: 1, start: 6, length: 7, proc_id: 8, client_id: "me" };
    let file = dir.walk(&[]).expect("cloned");
    file.create(b"c", OpenFlags(2), 0o600, 9).expect("created");
    file.fsync().expect("synced");
    assert_eq!(file.lock(&range, true).expect("told"), LockStatus::Blocked);
    assert_eq!(file.getlock(&range).expect("told").start, 7);
    assert_eq!(file.write_at(10, b"content").expect("written"), 7);
    assert_eq!(fid.getxattr(b"user.k").expect("read"), b"value");
    fid.setxattr(b"user.k", b"v", 1).expect("set");
    dir.walk(&[b"r"]).expect("walked").remove().expect("removed");
    relay.probe.wait_for("clunk /d/r", 1);
    for expected in [
        "setattr /a/b 8 77",
        "rename /a/b Some(\"/d\") new",
        "renameat /d old /a/b new",
        "unlinkat /d gone true",
        "mkdir /d m 750 9",
        "symlink /d s target 9",
        "mknod /d n 20644 (4, 5) 9",
        "link /d /a/b l",
        "create /d c 2 600 9",
        "fsync /d/c false",
        "lock 1 6 me true",
        "write /d/c 10 content",
        "clunk /a/b#user.k",
        "xattrcreate /a/b user.k 1 1",
        "write /a/b# 0 v",
        "commit /a/b#",
        "clunk /a/b#",
        "remove /d/r",
    ] {
        relay.probe.wait_for(expected, 1);
    }
}

/// Puts a request of 9P2000 to a session and waits for its answer; whether that is no refusal.
fn ask(session: &mut Session<Remote>, woken: &mpsc::Receiver<()>, message: &Tmessage<'_>) -> bool {
    ask_in(Dialect::Plan9, session, woken, message)
}

fn ask_in(
    dialect: Dialect,
    session: &mut Session<Remote>,
    woken: &mpsc::Receiver<()>,
    message: &Tmessage<'_>,
) -> bool {
    let tag = if matches!(message, Tmessage::Version { .. }) { NOTAG } else { 1 };
    let mut bytes = Vec::new();
    message.encode(tag, dialect, &mut bytes);
    assert_eq!(session.receive(&bytes).expect("9P"), bytes.len());
    while session.outbox().is_empty() {
        woken.recv_timeout(Duration::from_secs(20)).expect("an answer");
        session.conclude();
    }
    let (mut pieces, mut answer) = (Vec::new(), Vec::new());
    session.outbox().pieces(&mut pieces);
    pieces.iter().for_each(|piece| answer.extend_from_slice(piece));
    session.outbox().consume(answer.len());
    answer[4] == message.number() + 1
}

#[test]
fn a_file_is_renamed_where_it_is_by_who_speaks_9p2000() {
    let relay = Relay::new();
    let remote = Arc::new(Remote::new(&relay.between, "n3"));
    let (wake, woken) = mpsc::channel();
    let mut session = Session::new(remote, Peer::default(), move || {
        let _ = wake.send(());
    });
    let n_uname = UserNumber(NONUNAME);
    let names = |names| Names::new(names).expect("at most 16");
    let untouched = Stat {
        qid: Qid { kind: u8::MAX, version: u32::MAX, path: u64::MAX },
        mode: u32::MAX,
        atime: u32::MAX,
        mtime: u32::MAX,
        length: u64::MAX,
        ..Stat::default()
    };
    let rename = |fid, name| Tmessage::Wstat { fid, stat: Boxed(Stat { name, ..untouched }) };
    for message in [
        Tmessage::Version { msize: 8192, version: "9P2000" },
        Tmessage::Attach { fid: 0, afid: NOFID, uname: "", aname: "", n_uname },
        Tmessage::Walk { fid: 0, newfid: 1, names: names(&[b"d", b"pipe"]) },
        rename(1, b"tube"),
        Tmessage::Walk { fid: 0, newfid: 2, names: names(&[b"d", b"e"]) },
        rename(2, b"f"),
    ] {
        assert!(ask(&mut session, &woken, &message), "{message:?}");
    }
    relay.probe.wait_for("rename /d/pipe Some(\"/d\") tube", 1);
    relay.probe.wait_for("rename /d/e Some(\"/d\") f", 1);
    // With more to change nothing may be in the way: it could not be had back.
    let change = |name| Stat { name, mtime: 0, ..untouched };
    for (name, is_done) in [(&b"taken"[..], false), (b"missing", true)] {
        let message = Tmessage::Wstat { fid: 2, stat: Boxed(change(name)) };
        assert_eq!(ask(&mut session, &woken, &message), is_done, "{}", text(name));
    }
    let notes = relay.probe.notes();
    let renamed = notes.iter().filter(|note| note.starts_with("rename /d/e")).count();
    assert_eq!(renamed, 2, "{notes:?}");
}

#[test]
fn what_is_open_at_the_other_server_is_copied_there() {
    let relay = Relay::new();
    let client = relay.client();
    let fid = client.walk("pipe").expect("walked");
    fid.open(OpenFlags::default()).expect("opened");
    let copy = fid.walk(&[]).expect("copied");
    copy.open(OpenFlags::default()).expect("opened");
    relay.probe.wait_for("open /pipe 0", 2);
}

#[test]
fn files_of_two_servers_are_never_taken_for_one() {
    let relay = Relay::new();
    let client = relay.client();
    let ours = client.walk("a").expect("walked").qid();
    let theirs = relay.between.walk("a").expect("walked").qid();
    assert_eq!((ours.kind, ours.version), (theirs.kind, theirs.version));
    assert_ne!(ours.path, theirs.path);
    let root = client.root();
    assert_eq!(root.getattr().expect("attributes").qid, root.qid());
    let listed = client.readdir("/").expect("listed");
    assert_eq!(listed[0].qid.path, ours.path ^ theirs.path ^ 8);
}

#[test]
fn walks_end_where_the_other_server_says() {
    let relay = Relay::new();
    let client = relay.client();
    let error = client.walk("missing/x").expect_err("missing");
    assert_eq!(error.errno, Errno::NOENT);
    assert_eq!(error.text, "/missing/x: n3: nothing is missing here");
    let error = client.walk("a/missing/x").expect_err("missing");
    assert_eq!(error.text, "/a/missing: No such file or directory");
    let up = client.walk("a/b/../c").expect("walked");
    assert_eq!(up.readlink().expect("read"), b"to/a/c");
}

/// A directory of mounts.
struct Nodes(Inode, Vec<(String, Entry)>);

impl Dir for Nodes {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, name: &str) -> Result<Option<Entry>> {
        Ok(self.1.iter().find(|(own, _)| own == name).map(|(_, entry)| entry.clone()))
    }
    fn list(&self) -> Vec<String> {
        self.1.iter().map(|(name, _)| name.clone()).collect()
    }
}

impl Relay {
    /// A server in whose tree a part of the other's is mounted, and a client of it.
    fn mounted(&self) -> (Server, Client) {
        let remote = Arc::new(Remote::new(&self.between, "n3"));
        let (root, qid) = remote.place_of(&self.between.walk("a/b").expect("walked"));
        self.above(Entry::mount(remote, root, qid))
    }

    /// The same for what has this name in `a`, which nobody has walked to.
    fn mounted_below(&self, name: &str) -> (Server, Client) {
        let remote = Arc::new(Remote::new(&self.between, "n3"));
        let a = remote.place_of(&self.between.walk("a").expect("walked"));
        self.above(Entry::mount_below(remote, a, name))
    }

    fn above(&self, mount: Entry) -> (Server, Client) {
        let above = Nodes(Inode::new(0o555), vec![("m".into(), mount)]);
        let tree = Arc::new(Synthetic::new(Arc::new(above)));
        let server = Server::start(&tree, 1, same_user).expect("a server");
        let stream = server.connect().expect("pair");
        let client = Client::over(stream, &Options::default()).expect("attached");
        (server, client)
    }
}

/// Walks as it is told: a client takes `NAME/..` out of paths.
fn walk(client: &Client, names: &[Name<'_>]) -> Result<(Vec<Qid>, Option<super::Fid>)> {
    let (tell, told) = mpsc::channel();
    client.root().walk_then(names, move |walked| {
        let _ = tell.send(walked);
    });
    told.recv_timeout(Duration::from_secs(60)).expect("an answer")
}

/// Once one walk led out of a mount that is not the other server's root, into what was above it
/// there.
#[test]
fn a_walk_that_has_been_below_a_mount_stops_at_it() {
    let relay = Relay::new();
    let (_server, client) = relay.mounted();
    stops_at_its_mount(&client);
}

#[test]
fn what_is_mounted_by_its_name_is_as_if_it_had_been_walked_to() {
    let relay = Relay::new();
    let (_server, client) = relay.mounted_below("b");
    stops_at_its_mount(&client);
    // The mount is the file that the name leads to.
    let (_other, walked) = relay.mounted();
    let walked = walked.walk("m").expect("walked").qid();
    assert_eq!(walk(&client, &[b"m"]).expect("walked").0, [walked]);
    let long: Vec<Name<'_>> = [&b"m"[..]].into_iter().chain([&b"x"[..]; 15]).collect();
    assert_eq!(walk(&client, &long).expect("as long as a walk may be").0.len(), 16);
    // What is not there has no name here.
    let (_server, client) = relay.mounted_below("missing");
    for names in [&[&b"m"[..]][..], &[b"m", b"c"]] {
        assert_eq!(walk(&client, names).expect_err("not there").errno, Errno::NOENT);
    }
}

#[track_caller]
fn stops_at_its_mount(client: &Client) {
    let (qids, fid) = walk(client, &[b"m", b"c", b"..", b"..", b"..", b"d"]).expect("walked");
    assert_eq!(fid.expect("all found").readlink().expect("read"), b"to/a/b/d");
    assert_eq!(qids.len(), 6);
    assert!(qids[0] == qids[2] && qids[2] == qids[3] && qids[3] == qids[4], "{qids:?}");
    let (qids, fid) = walk(client, &[b"m", b"c", b"..", b"..", b"missing"]).expect("a part");
    assert_eq!((qids.len(), fid.is_none()), (4, true));
    let below = walk(client, &[b"m", b"c"]).expect("walked").1.expect("all found");
    let (tell, told) = mpsc::channel();
    below.walk_then(&[b"..", b"..", b"x"], move |walked| {
        let _ = tell.send(walked);
    });
    let (_, fid) = told.recv_timeout(Duration::from_secs(60)).expect("an answer").expect("walked");
    assert_eq!(fid.expect("all found").readlink().expect("read"), b"to/a/b/x");
    // From the mount itself `..` goes up, into the tree that it is mounted in.
    let root = client.root().qid();
    assert_eq!(walk(client, &[b"m", b".."]).expect("walked").0[1], root);
}

/// Once it opened the one fid at the other server that all walks start from, for good.
#[test]
fn a_create_on_the_name_of_a_mount_is_refused_and_leaves_it_to_all_others() {
    let relay = Relay::new();
    let (_server, client) = relay.mounted();
    let dir = client.root().walk(&[]).expect("cloned");
    let write = OpenFlags::WRONLY;
    for (flags, errno) in [
        (0, Errno::ISDIR),
        (write | OpenFlags::TRUNC, Errno::ISDIR),
        (write | OpenFlags::EXCL, Errno::EXIST),
    ] {
        let refused = dir.create(b"m", OpenFlags(flags), 0o600, 0).expect_err("a directory");
        assert_eq!(refused.errno, errno, "{refused}");
    }
    let (_, fid) = walk(&client, &[b"m", b"c"]).expect("walked");
    assert_eq!(fid.expect("all found").readlink().expect("read"), b"to/a/b/c");
}

/// Once it looked like a file that is not there.
#[test]
fn a_want_of_descriptors_is_told_whatever_name_of_a_walk_meets_it() {
    let relay = Relay::new();
    let (_server, client) = relay.mounted();
    for names in [&[&b"m"[..], b"full"][..], &[b"m", b"c", b"full"]] {
        let error = walk(&client, names).expect_err("full");
        assert_eq!(error.errno, Errno::MFILE, "{error}");
    }
    let (qids, fid) = walk(&client, &[b"m", b"missing"]).expect("a part");
    assert_eq!((qids.len(), fid.is_none()), (1, true));
}

#[test]
fn what_becomes_of_an_attribute_there_is_the_answer_to_its_clunk() {
    let relay = Relay::new();
    let (_server, mounted) = relay.mounted();
    for (client, path) in [(relay.client(), "crammed"), (mounted, "m/crammed")] {
        let file = client.walk(path).expect("walked");
        let refused = file.setxattr(b"user.k", b"v", 0).expect_err("there is no room");
        assert_eq!(refused.errno, Errno::NOSPC, "{refused}");
        // The fids are gone all the same, and each was clunked once.
        drop(file);
    }
    for fid in ["/crammed", "/a/b/crammed"] {
        relay.probe.wait_for(&format!("clunk {fid}"), 1);
        let notes = relay.probe.notes.lock().expect("no holder panics");
        let clunks = notes.iter().filter(|note| **note == format!("clunk {fid}#")).count();
        assert_eq!(clunks, 1, "{notes:?}");
    }
}

#[test]
fn fids_are_clunked_there_once() {
    let relay = Relay::new();
    let client = relay.client();
    for round in 1..4 {
        let fid = client.walk("f").expect("walked");
        fid.open(OpenFlags::default()).expect("opened");
        assert_eq!(fid.max_data(), 5, "iounit of the other server");
        drop(fid);
        relay.probe.wait_for("clunk /f", round);
    }
    let held = client.walk("held").expect("walked");
    client.close();
    relay.probe.wait_for("clunk /held", 1);
    drop(held);
    relay.between.walk("sentinel").expect("walked");
    relay.probe.wait_for("clunk /sentinel", 1);
    let notes = relay.probe.notes();
    assert_eq!(notes.iter().filter(|note| note.starts_with("clunk /f")).count(), 3, "{notes:?}");
    assert_eq!(notes.iter().filter(|note| *note == "clunk /held").count(), 1, "{notes:?}");
}

#[test]
fn a_flushed_read_takes_nothing_from_the_remote_pipe() {
    let relay = Relay::new();
    let client = relay.client();
    let fid = client.walk("pipe").expect("walked");
    fid.open(OpenFlags::default()).expect("opened");
    let (told, answers) = mpsc::channel();
    let cancel = fid.read_then(0, 5, move |answer| {
        told.send(answer.map(<[u8]>::to_vec)).expect("waits");
    });
    relay.probe.wait_for("parked", 1);
    cancel.flush();
    let error = answers.recv().expect("told").expect_err("flushed");
    assert_eq!(error.errno, Errno::INTR);
    relay.probe.feed(b"kept");
    assert_eq!(fid.read_at(0, 5).expect("read"), b"kept");
}

#[test]
fn data_that_overtakes_the_flush_is_delivered() {
    let relay = Relay::new();
    let client = relay.client();
    let fid = client.walk("pipe").expect("walked");
    fid.open(OpenFlags::default()).expect("opened");
    // Whichever wins, nothing is lost and nothing comes twice.
    let mut sent = Vec::new();
    let mut got = Vec::new();
    for round in 0..200u8 {
        let (told, answers) = mpsc::channel();
        let cancel = fid.read_then(0, 1, move |answer| {
            told.send(answer.map(<[u8]>::to_vec)).expect("waits");
        });
        let probe = relay.probe.clone();
        let feeder = std::thread::spawn(move || probe.feed(&[round]));
        if round % 3 == 0 {
            std::thread::yield_now();
        }
        cancel.flush();
        sent.push(round);
        match answers.recv().expect("told once") {
            Ok(bytes) => got.extend(bytes),
            Err(error) => assert_eq!(error.errno, Errno::INTR),
        }
        feeder.join().expect("fed");
    }
    while got.len() < sent.len() {
        got.extend(fid.read_at(0, 5).expect("read"));
    }
    got.sort_unstable();
    assert_eq!(got, sent);
}

#[test]
fn a_client_that_goes_takes_its_remote_reads_and_fids_with_it() {
    let relay = Relay::new();
    let client = relay.client();
    for _ in 0..100 {
        let fid = client.walk("pipe").expect("walked");
        fid.open(OpenFlags::default()).expect("opened");
        fid.read_then(0, 5, move |answer| drop(answer.map(<[u8]>::to_vec)));
        std::mem::forget(fid);
    }
    relay.probe.wait_for("parked", 100);
    client.close();
    relay.probe.wait_for("clunk /pipe", 100);
    relay.probe.feed(b"kept");
    let other = relay.client().walk("pipe").expect("walked");
    other.open(OpenFlags::default()).expect("opened");
    assert_eq!(other.read_at(0, 5).expect("read"), b"kept");
}

#[test]
fn a_server_that_dies_is_named_to_all_who_wait() {
    let mut relay = Relay::new();
    let client = relay.client();
    let fid = client.walk("pipe").expect("walked");
    fid.open(OpenFlags::default()).expect("opened");
    let (told, answers) = mpsc::channel();
    for _ in 0..10 {
        let told = told.clone();
        fid.read_then(0, 5, move |answer| told.send(answer.map(drop)).expect("waits"));
    }
    relay.probe.wait_for("parked", 10);
    drop(relay.back.take());
    for _ in 0..10 {
        let error = answers.recv().expect("told").expect_err("gone");
        assert_eq!(error.errno, Errno::CONNRESET);
        assert_eq!(error.text, "the connection to n3 ended: the server closed it");
    }
    let error = client.walk("pipe").expect_err("gone");
    assert!(error.text.contains("the connection to n3 ended"), "{error}");
}
