//! What only 9P2000 and 9P2000.u have: stats with names, modes of open(5), directories read as a
//! row of stats, special files made by Tcreate, requests that take several steps.

mod peer;
mod ram;
mod slow;

use muster_ninep::call::{Opened, Walked};
use muster_ninep::error::Errno;
use muster_ninep::host::{HostTree, Options, User, Users, user};
use muster_ninep::message::{Extension, NONUNAME, Rmessage, Tmessage};
use muster_ninep::record::{Attr, Boxed, DirEntry, Qid, Stat, dm, mode};
use muster_ninep::tree::Tree;
use muster_ninep::version::{Dialect, Version};
use muster_ninep::wire::Reader;
use peer::{Peer, Reply, TAG, attach, read, walk, write};
use ram::Ram;
use slow::Slow;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A directory for one test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("muster-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).expect("a new directory");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const OLD: [Version; 2] = [Version::PLAN9, Version::UNIX];

/// Reads, writes and removes at its clunk.
const ORDWR_ORCLOSE: u8 = 0x42;

fn create<'a>(fid: u32, name: &'a str, perm: u32, extension: &'a str) -> Tmessage<'a> {
    let (name, extension) = (name.as_bytes(), Extension(extension.as_bytes()));
    Tmessage::Create { fid, name, perm, mode: 2, extension }
}

/// A stat that changes nothing.
fn untouched() -> Stat<'static> {
    Stat {
        kind: u16::MAX,
        dev: u32::MAX,
        qid: Qid { kind: u8::MAX, version: u32::MAX, path: u64::MAX },
        mode: u32::MAX,
        atime: u32::MAX,
        mtime: u32::MAX,
        length: u64::MAX,
        n_uid: NONUNAME,
        n_gid: NONUNAME,
        n_muid: NONUNAME,
        ..Stat::default()
    }
}

fn wstat(fid: u32, stat: Stat<'_>) -> Tmessage<'_> {
    Tmessage::Wstat { fid, stat: Boxed(stat) }
}

fn stat(reply: &Reply) -> Stat<'_> {
    match reply.message() {
        Rmessage::Stat { stat } => stat.0,
        other => panic!("no stat: {other:?}"),
    }
}

fn stats(data: &[u8], dialect: Dialect) -> Vec<Stat<'_>> {
    let mut from = Reader::new(data, dialect);
    let mut stats = Vec::new();
    while from.left() > 0 {
        stats.push(from.get().expect("a stat"));
    }
    stats
}

/// Walks to `name` as fid 1, creates it there, and clunks.
fn make<T: Tree>(peer: &mut Peer<T>, name: &str, perm: u32, extension: &str) -> Reply {
    peer.walk(1, &[]).ok();
    let reply = peer.ask(create(1, name, perm, extension));
    peer.ask(Tmessage::Clunk { fid: 1 }).ok();
    reply
}

#[test]
fn a_stat_has_the_name_that_led_to_the_file() {
    for version in OLD {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        assert_eq!(peer.name_of(0), "/");
        make(&mut peer, "dir", dm::DIR | 0o755, "").ok();
        peer.walk(1, &["dir"]).ok();
        assert_eq!(peer.name_of(1), "dir");
        peer.ask(walk(1, 2, &[])).ok();
        peer.ask(create(2, "file", 0o644, "")).ok();
        assert_eq!(peer.name_of(2), "file");
        peer.ask(wstat(2, Stat { name: b"other", ..untouched() })).ok();
        assert_eq!(peer.name_of(2), "other");
        peer.ask(walk(1, 3, &["..", "dir", "other"])).ok();
        assert_eq!(peer.name_of(3), "other");
        peer.ask(walk(1, 1, &[".."])).ok();
        assert_eq!(peer.name_of(1), "/");
    }
}

#[test]
fn a_directory_is_read_in_order_and_anew_from_its_start() {
    for version in OLD {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        for name in ["a", "b", "c"] {
            make(&mut peer, name, 0o600, "").ok();
        }
        peer.ask(Tmessage::Open { fid: 0, mode: 0 }).ok();
        let whole = peer.ask(read(0, 0, 4096)).data();
        let all = stats(&whole, version.dialect);
        let names: Vec<_> = all.iter().map(|stat| stat.name).collect();
        assert_eq!(names, [&b"a"[..], b"b", b"c", b"pipe"]);
        assert_eq!(peer.ask(read(0, whole.len() as u64, 4096)).data(), b"", "the end");
        // Stat by stat: a read returns whole ones only.
        let one = peer.ask(read(0, 0, 100)).data();
        assert_eq!(stats(&one, version.dialect), all[..1]);
        assert!(!peer.ask(read(0, one.len() as u64 + 1, 100)).is_ok(), "not in order");
        assert!(!peer.ask(read(0, whole.len() as u64, 100)).is_ok(), "not in order");
        // Who fills a buffer by several reads asks for what is left of it.
        let left = 100 - one.len() as u32;
        assert_eq!(peer.ask(read(0, one.len() as u64, left)).data(), b"");
        assert!(!peer.ask(read(0, one.len() as u64, left + 1)).is_ok(), "no stat fits");
        let two = peer.ask(read(0, one.len() as u64, 100)).data();
        assert_eq!(stats(&two, version.dialect), all[1..2]);
        let rest = peer.ask(read(0, (one.len() + two.len()) as u64, 4096)).data();
        assert_eq!([one, two, rest].concat(), whole);
        assert!(!peer.ask(read(0, 0, 1)).is_ok(), "too little room is not the end");
        assert_eq!(peer.ask(read(0, 0, 4096)).data(), whole);
    }
}

#[test]
fn a_file_opened_so_is_removed_at_its_clunk() {
    for version in OLD {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        let extension = Extension(b"");
        let mode = ORDWR_ORCLOSE;
        peer.walk(1, &[]).ok();
        peer.ask(Tmessage::Create { fid: 1, name: b"made", perm: 0o600, mode, extension }).ok();
        peer.ask(write(1, 0, b"x")).ok();
        peer.walk(2, &["made"]).ok();
        let clunked = peer.ask(Tmessage::Clunk { fid: 1 });
        assert_eq!(clunked.message(), Rmessage::Clunk {});
        assert!(!peer.walk(3, &["made"]).is_ok(), "it is removed");
        make(&mut peer, "opened", 0o600, "").ok();
        peer.walk(1, &["opened"]).ok();
        peer.ask(Tmessage::Open { fid: 1, mode }).ok();
        // Somebody else is faster: the clunk says so, and the fid is gone all the same.
        peer.walk(3, &["opened"]).ok();
        peer.ask(Tmessage::Remove { fid: 3 }).ok();
        assert!(!peer.ask(Tmessage::Clunk { fid: 1 }).is_ok());
        peer.ask(Tmessage::Clunk { fid: 2 }).ok();
        assert_eq!(tree.fids.load(Ordering::Relaxed), 1);
    }
}

/// Once the end of a connection clunked such a fid and left its file.
#[test]
fn a_file_opened_so_is_removed_when_the_connection_ends() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::PLAN9);
    make(&mut peer, "temporary", 0o600, "").ok();
    peer.walk(1, &["temporary"]).ok();
    peer.ask(Tmessage::Open { fid: 1, mode: ORDWR_ORCLOSE }).ok();
    drop(peer);
    let mut peer = Peer::attached(&tree, Version::PLAN9);
    assert!(!peer.walk(1, &["temporary"]).is_ok());
}

#[test]
fn a_wstat_leaves_alone_what_it_does_not_name() {
    for version in OLD {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        make(&mut peer, "file", 0o640, "").ok();
        peer.walk(1, &["file"]).ok();
        let before = peer.ask(Tmessage::Stat { fid: 1 });
        peer.ask(wstat(1, untouched())).ok();
        assert_eq!(peer.ask(Tmessage::Stat { fid: 1 }), before);
        for change in [
            Stat { mode: 0o600, ..untouched() },
            Stat { length: 9, ..untouched() },
            Stat { mtime: 77, ..untouched() },
            Stat { atime: 78, ..untouched() },
            Stat { uid: "12", ..untouched() },
            Stat { gid: "13", n_gid: NONUNAME, ..untouched() },
            Stat { name: b"new", length: 4, ..untouched() },
        ] {
            let old = peer.ask(Tmessage::Stat { fid: 1 });
            peer.ask(wstat(1, change)).ok();
            let new = peer.ask(Tmessage::Stat { fid: 1 });
            let (mut old, new) = (stat(&old), stat(&new));
            assert_ne!(old, new);
            // All but the named fields are equal.
            old.qid = new.qid;
            old.mode = if change.mode == u32::MAX { old.mode } else { change.mode };
            old.length = if change.length == u64::MAX { old.length } else { change.length };
            old.mtime = if change.mtime == u32::MAX { old.mtime } else { change.mtime };
            old.atime = if change.atime == u32::MAX { old.atime } else { change.atime };
            old.name = if change.name.is_empty() { old.name } else { change.name };
            if !change.uid.is_empty() {
                (old.uid, old.muid, old.n_uid, old.n_muid) = ("12", "12", new.n_uid, new.n_muid);
            }
            if !change.gid.is_empty() {
                (old.gid, old.n_gid) = ("13", new.n_gid);
            }
            assert_eq!(old, new);
        }
        let uid = Stat { uid: "nobody here", ..untouched() };
        assert!(!peer.ask(wstat(1, uid)).is_ok(), "no number, and no table of names");
        let slash = Stat { name: b"a/b", ..untouched() };
        assert!(!peer.ask(wstat(1, slash)).is_ok());
    }
}

#[test]
fn special_files_are_made_with_an_extension() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::UNIX);
    make(&mut peer, "file", 0o644, "").ok();
    make(&mut peer, "link", dm::SYMLINK | 0o777, "dir/target").ok();
    make(&mut peer, "null", dm::DEVICE | 0o666, "c 1 3").ok();
    make(&mut peer, "disk", dm::DEVICE | 0o660, "b 8 17").ok();
    make(&mut peer, "fifo", dm::NAMED_PIPE | 0o600, "").ok();
    make(&mut peer, "socket", dm::SOCKET | 0o600, "").ok();
    peer.walk(2, &["file"]).ok();
    make(&mut peer, "hard", dm::LINK, "2").ok();
    // As Linux's v9fs says it; ln(1) failed in the guest of conformance/ninep.
    make(&mut peer, "harder", dm::LINK, "2\n").ok();
    for (name, kind, extension) in [
        ("link", dm::SYMLINK | 0o777, "dir/target"),
        ("null", dm::DEVICE | 0o666, "c 1 3"),
        ("disk", dm::DEVICE | 0o660, "b 8 17"),
        ("fifo", dm::NAMED_PIPE | 0o600, ""),
        ("socket", dm::SOCKET | 0o600, ""),
        ("hard", 0o644, ""),
    ] {
        peer.walk(1, &[name]).ok();
        let reply = peer.ask(Tmessage::Stat { fid: 1 });
        let stat = stat(&reply);
        assert_eq!((stat.mode, stat.extension), (kind, extension.as_bytes()), "{name}");
        assert_eq!(stat.name, name.as_bytes());
        peer.ask(Tmessage::Clunk { fid: 1 }).ok();
    }
    for (perm, extension) in [
        (dm::DEVICE, ""),
        (dm::DEVICE, "c 1"),
        (dm::DEVICE, "d 1 3"),
        (dm::DEVICE, "c 1 3 5"),
        (dm::DEVICE, "c -1 3"),
        (dm::LINK, "file"),
        (dm::SYMLINK, ""),
    ] {
        assert_eq!(make(&mut peer, "bad", perm, extension).refused(), Errno::INVAL);
    }
    assert_eq!(make(&mut peer, "bad", dm::LINK, "77").refused(), Errno::BADF);
    assert_eq!(tree.fids.load(Ordering::Relaxed), 2);
}

/// Once the fid of the directory was forgotten, not clunked, when it became what was made in it.
#[test]
fn making_a_directory_clunks_the_fid_it_was_made_with() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::PLAN9);
    peer.walk(1, &[]).ok();
    peer.ask(create(1, "dir", dm::DIR | 0o755, "")).ok();
    assert_eq!(tree.fids.load(Ordering::Relaxed), 2);
    assert_eq!(peer.ask(read(1, 0, 100)).data(), b"", "it is open, and empty");
    assert!(!peer.ask(create(1, "more", 0o644, "")).is_ok(), "it is open");
    peer.ask(Tmessage::Clunk { fid: 1 }).ok();
    assert_eq!(tree.fids.load(Ordering::Relaxed), 1);
}

#[test]
fn bits_that_only_unix_knows_mean_nothing_in_9p2000() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::PLAN9);
    make(&mut peer, "file", dm::SYMLINK | dm::SETUID | 0o644, "").ok();
    peer.walk(1, &["file"]).ok();
    let reply = peer.ask(Tmessage::Stat { fid: 1 });
    assert_eq!((stat(&reply).mode, stat(&reply).qid.kind), (0o644, 0));
    peer.agree(Version::UNIX);
    peer.ask(attach(0)).ok();
    make(&mut peer, "suid", dm::SETUID | dm::SETGID | dm::STICKY | 0o755, "").ok();
    peer.walk(1, &["suid"]).ok();
    let reply = peer.ask(Tmessage::Stat { fid: 1 });
    assert_eq!(stat(&reply).mode, dm::SETUID | dm::SETGID | dm::STICKY | 0o755);
}

/// A peer of 9P2000.u with fid 0 at a directory that the slow tree calls 1.
fn slow_peer(tree: &std::sync::Arc<Slow>) -> Peer<Slow> {
    let mut peer = Peer::speaking(tree, Version::UNIX);
    peer.send(TAG, &attach(0));
    next!(tree, Attach).answer(Ok((1, slow::DIR)));
    peer.answer().ok();
    peer
}

/// Once a flush that waited for the first step was answered before the request was.
#[test]
fn a_flush_waits_for_all_steps_of_a_request() {
    let tree = Slow::new();
    let mut peer = slow_peer(&tree);
    peer.send(TAG, &create(0, "dir", dm::DIR, ""));
    let mkdir = next!(tree, Qid);
    assert!(mkdir.claim());
    peer.send(8, &Tmessage::Flush { oldtag: TAG });
    mkdir.answer(Ok(slow::DIR));
    assert_eq!(peer.order(), [], "the walk is next");
    let walk = next!(tree, Walk);
    let (tell, told) = std::sync::mpsc::channel();
    walk.flush_hook().set(move || tell.send(()).unwrap_or_default());
    assert_eq!(told.try_recv(), Ok(()), "the step that follows is told of the flush");
    // The directory is made: no flush takes that back, though nobody has claimed the walk.
    peer.send(9, &Tmessage::Flush { oldtag: TAG });
    assert_eq!(peer.order(), []);
    walk.answer(Ok(Walked { qids: vec![slow::DIR], fid: Some(2) }));
    assert_eq!(peer.order(), [], "the open is next");
    assert_eq!(tree.clunked(), [1], "the fid is the new directory");
    peer.send(10, &Tmessage::Flush { oldtag: 9 });
    next!(tree, Open).answer(Ok(Opened { fid: 3, qid: slow::DIR, iounit: 0 }));
    let flushes = [(8, "Flush"), (9, "Flush"), (10, "Flush")];
    assert_eq!(peer.order(), [&[(TAG, "Create")], &flushes[..]].concat());
    drop(peer);
    assert_eq!(tree.clunked(), [3]);
}

/// Linux's v9fs waits for the answer to each flush it has sent.
#[test]
fn a_flush_is_answered_though_a_later_step_had_to_wait_for_room() {
    let tree = Slow::new();
    let mut peer = slow_peer(&tree);
    peer.send(TAG, &walk(0, 1, &["file"]));
    next!(tree, Walk).answer(Ok(Walked { qids: vec![slow::FILE], fid: Some(2) }));
    peer.answer().ok();
    for (fid, file, qid) in [(0, 1, slow::DIR), (1, 2, slow::FILE)] {
        peer.send(TAG, &Tmessage::Open { fid, mode: 0 });
        next!(tree, Open).answer(Ok(Opened { fid: file, qid, iounit: 0 }));
        peer.answer().ok();
    }
    peer.send(1, &read(0, 0, 8000));
    let first = next!(tree, Entries);
    assert!(first.claim());
    tree.brings.store(true, Ordering::Relaxed);
    // As much as there is room for is on its way.
    let mut tag = 100;
    let mut others = 0;
    while tree.waiting() == others {
        peer.send(tag, &read(1, 0, 60_000));
        (tag, others) = (tag + 1, others + 1);
    }
    peer.send(2, &Tmessage::Flush { oldtag: 1 });
    let dot = DirEntry { qid: slow::DIR, next: 1, kind: 4, name: b".".to_vec(), attr: None };
    first.answer(Ok(vec![dot]));
    assert_eq!(peer.order(), [], "what follows is not begun");
    for _ in 0..others - 1 {
        next!(tree, Read).answer(Ok(Vec::<u8>::new().into()));
    }
    peer.session.conclude();
    let mut order = peer.order();
    order.retain(|(tag, _)| *tag < 100);
    assert_eq!(order, []);
    while tree.waiting() > 0 {
        match tree.next() {
            slow::Held::Read(ticket) => ticket.answer(Ok(Vec::<u8>::new().into())),
            slow::Held::Entries(ticket) => ticket.answer(Ok(vec![])),
            _ => panic!("nothing else was asked"),
        }
    }
    order = peer.order();
    order.retain(|(tag, _)| *tag < 100);
    assert_eq!(order, [(1, "Error"), (2, "Flush")]);
}

/// open(5): it is created whatever its permissions. Once the error of the open was told, the
/// directory was there, and the fid had moved to it.
#[test]
fn a_directory_that_its_maker_may_not_read_is_made_and_the_fid_is_it() {
    let tree = Slow::new();
    let mut peer = slow_peer(&tree);
    let (name, extension) = (&b"dir"[..], Extension(&[]));
    let mode = ORDWR_ORCLOSE & !3;
    peer.send(TAG, &Tmessage::Create { fid: 0, name, perm: dm::DIR | 0o300, mode, extension });
    next!(tree, Qid).answer(Ok(slow::DIR));
    peer.session.conclude();
    next!(tree, Walk).answer(Ok(Walked { qids: vec![slow::DIR], fid: Some(2) }));
    peer.session.conclude();
    assert_eq!(tree.clunked(), [1], "the fid is the new directory");
    next!(tree, Open).answer(Err(Errno::ACCESS.into()));
    assert_eq!(peer.order(), [(TAG, "Create")]);
    assert!(!peer.ask(read(0, 0, 100)).is_ok(), "it is not open");
    peer.send(TAG, &Tmessage::Clunk { fid: 0 });
    next!(tree, Done).answer(Ok(()));
    peer.answer().ok();
    assert_eq!((tree.removed(), tree.clunked()), (vec![2], vec![2]), "as was asked for");
}

#[test]
fn a_stat_of_a_link_that_fails_half_way_is_refused_once() {
    let tree = Slow::new();
    let mut peer = slow_peer(&tree);
    peer.send(TAG, &Tmessage::Stat { fid: 0 });
    let attr = Attr { mode: mode::LINK | 0o777, ..Attr::default() };
    next!(tree, Attr).answer(Ok(attr));
    // The slow tree has no readlink.
    assert_eq!(peer.answer().refused(), Errno::OPNOTSUPP);
}

#[test]
fn a_wstat_that_changes_and_renames_does_both_or_says_why() {
    let tree = Slow::new();
    let mut peer = slow_peer(&tree);
    let both = Stat { mode: dm::DIR | 0o700, name: b"new", ..untouched() };
    peer.send(TAG, &wstat(0, both));
    next!(tree, Done).answer(Ok(()));
    assert_eq!(peer.order(), []);
    assert_eq!(peer.session.receive(&[]), Ok(0));
    next!(tree, Done).answer(Ok(()));
    assert_eq!(peer.order(), [(TAG, "Wstat")]);
    peer.send(TAG, &wstat(0, Stat { name: b"newer", ..both }));
    next!(tree, Done).answer(Err(Errno::EXIST.into()));
    assert_eq!(peer.answer().refused(), Errno::EXIST);
    assert_eq!(tree.waiting(), 0, "no change after a failed rename");
    peer.send(TAG, &wstat(0, Stat { name: b"newer", ..both }));
    next!(tree, Done).answer(Ok(()));
    assert_eq!(peer.order(), []);
    next!(tree, Done).answer(Err(Errno::PERM.into()));
    assert_eq!(peer.order(), []);
    next!(tree, Done).answer(Ok(()));
    assert_eq!(peer.answer().refused(), Errno::PERM, "and it has its old name again");
    assert_eq!(tree.waiting(), 0);
    let last: Vec<(String, bool)> = tree.renamed().split_off(2);
    assert_eq!(last, [("newer".into(), false), ("new".into(), false)], "nothing is replaced");
}

#[test]
fn a_wstat_of_nothing_succeeds_for_a_fid_that_is_not_open() {
    let tree = Slow::new();
    slow_peer(&tree).ask(wstat(0, untouched())).ok();
    assert_eq!(tree.waiting(), 0);
}

fn writable(folder: &Folder) -> Arc<HostTree> {
    let options = Options { writable: true, users: Users::Only(User::own()) };
    Arc::new(HostTree::new(&folder.0, options).expect("a directory"))
}

/// Once "'root' is not the number of a user or group", and a directory could not have length 0.
#[test]
fn who_writes_a_whole_stat_back_changes_only_what_he_has_changed() {
    let folder = Folder::new("wstat-whole");
    let tree = writable(&folder);
    std::fs::write(folder.0.join("file"), "content").expect("written");
    std::fs::create_dir(folder.0.join("dir")).expect("made");
    for version in OLD {
        let mut peer = Peer::attached(&tree, version);
        for (fid, name, bits, length) in [(1, "file", 0, 7), (2, "dir", dm::DIR, 0)] {
            peer.walk(fid, &[name]).ok();
            let reply = peer.ask(Tmessage::Stat { fid });
            let told = stat(&reply);
            // By their names alone, where there are numbers as well.
            let told = Stat { n_uid: NONUNAME, n_gid: NONUNAME, ..told };
            peer.ask(wstat(fid, told)).ok();
            peer.ask(wstat(fid, Stat { mode: bits | 0o740, mtime: 77, ..told })).ok();
            let reply = peer.ask(Tmessage::Stat { fid });
            let now = stat(&reply);
            assert_eq!((now.mode, now.mtime, now.length), (bits | 0o740, 77, length));
            assert_eq!((now.uid, now.gid, now.name), (told.uid, told.gid, told.name));
        }
        assert!(!peer.ask(wstat(2, Stat { length: 1, ..untouched() })).is_ok(), "of a directory");
    }
}

#[test]
fn a_file_is_given_to_a_group_by_its_name() {
    let folder = Folder::new("wstat-group");
    let tree = writable(&folder);
    std::fs::write(folder.0.join("file"), "").expect("written");
    // Root may give it to any group, another only to one of his own.
    let groups: Vec<u32> = match rustix::process::geteuid().is_root() {
        true => (1..100).collect(),
        false => {
            let groups = rustix::process::getgroups().expect("groups");
            groups.into_iter().map(|group| group.as_raw()).collect()
        }
    };
    let found = groups.into_iter().find_map(|gid| Some((gid, user::group_name(gid)?)));
    for version in OLD {
        let mut peer = Peer::attached(&tree, version);
        peer.walk(1, &["file"]).ok();
        if let Some((gid, name)) = &found {
            peer.ask(wstat(1, Stat { gid: name, ..untouched() })).ok();
            let gone_to = std::fs::metadata(folder.0.join("file")).expect("it is there").gid();
            assert_eq!((gone_to, stat(&peer.ask(Tmessage::Stat { fid: 1 })).gid), (*gid, &**name));
        }
        for unknown in ["no-such-group-61003", "-1"] {
            let change = Stat { gid: unknown, mode: 0o600, ..untouched() };
            let text = peer.ask(wstat(1, change)).text();
            assert!(text.contains("is no user or group here"), "{text}");
        }
        let own = rustix::process::getegid().as_raw();
        peer.ask(wstat(1, Stat { gid: &own.to_string(), ..untouched() })).ok();
        assert_eq!(std::fs::metadata(folder.0.join("file")).expect("it is there").gid(), own);
    }
}

/// Once `chmod g+w` of a directory of a project gave what is made in it to the wrong group, and
/// of /tmp let everybody remove everybody's files.
#[test]
fn a_mode_of_9p2000_leaves_the_bits_that_it_has_no_words_for() {
    let folder = Folder::new("wstat-bits");
    let tree = writable(&folder);
    let path = folder.0.join("dir");
    std::fs::create_dir(&path).expect("made");
    let set = |mode| std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("set");
    let mode = || std::fs::metadata(&path).expect("it is there").mode() & 0o7777;
    for (version, before, after) in [
        (Version::PLAN9, 0o2755, 0o2775),
        (Version::PLAN9, 0o1777, 0o1775),
        (Version::UNIX, 0o2755, 0o775),
    ] {
        set(before);
        let mut peer = Peer::attached(&tree, version);
        peer.walk(1, &["dir"]).ok();
        peer.ask(wstat(1, Stat { mode: dm::DIR | 0o775, ..untouched() })).ok();
        assert_eq!(mode(), after, "{before:o}");
    }
}

/// Once the file whose name was asked for was lost, though the wstat was refused.
#[test]
fn a_wstat_that_is_refused_leaves_the_file_whose_name_it_asked_for() {
    let folder = Folder::new("wstat");
    let tree = writable(&folder);
    let write = |name: &str| std::fs::write(folder.0.join(name), name).expect("written");
    let content = |name: &str| std::fs::read_to_string(folder.0.join(name)).ok();
    for version in OLD {
        write("a");
        write("b");
        let mut peer = Peer::attached(&tree, version);
        peer.walk(1, &["a"]).ok();
        // No file can be so long.
        let refused = Stat { length: 1 << 63, ..untouched() };
        assert!(!peer.ask(wstat(1, Stat { name: b"b", ..refused })).is_ok());
        assert_eq!((content("a"), content("b")), (Some("a".into()), Some("b".into())));
        assert!(!peer.ask(wstat(1, Stat { name: b"c", ..refused })).is_ok());
        assert_eq!((content("a"), content("c")), (Some("a".into()), None), "its old name");
        peer.ask(wstat(1, Stat { name: b"a", length: 0, ..untouched() })).ok();
        peer.ask(wstat(1, Stat { name: b"b", ..untouched() })).ok();
        assert_eq!((content("a"), content("b")), (None, Some(String::new())), "as rename(2)");
    }
}

/// Once a name that equalled the fid's own old one was taken for the file's, and nothing done.
#[test]
fn a_wstat_renames_a_file_that_another_fid_has_renamed_meanwhile() {
    for version in OLD {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        make(&mut peer, "one", 0o644, "").ok();
        peer.walk(1, &["one"]).ok();
        peer.walk(2, &["one"]).ok();
        peer.ask(wstat(1, Stat { name: b"two", ..untouched() })).ok();
        peer.ask(wstat(2, Stat { name: b"one", ..untouched() })).ok();
        assert!(!peer.walk(3, &["two"]).is_ok(), "it is called one again");
        peer.walk(3, &["one"]).ok();
    }
}

#[test]
fn what_is_made_in_9p2000_has_no_more_permissions_than_its_directory() {
    for (version, file, dir) in [(OLD[0], 0o640, 0o750), (OLD[1], 0o666, 0o777)] {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        make(&mut peer, "dir", dm::DIR | 0o750, "").ok();
        for (name, perm, mode) in [("file", 0o666, file), ("below", dm::DIR | 0o777, dm::DIR | dir)]
        {
            peer.walk(1, &["dir"]).ok();
            peer.ask(create(1, name, perm, "")).ok();
            assert_eq!(stat(&peer.ask(Tmessage::Stat { fid: 1 })).mode, mode, "{name}");
            peer.ask(Tmessage::Clunk { fid: 1 }).ok();
        }
    }
}

#[test]
fn what_a_file_is_cannot_be_changed() {
    for version in OLD {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        make(&mut peer, "file", 0o644, "").ok();
        make(&mut peer, "dir", dm::DIR | 0o755, "").ok();
        peer.walk(2, &["file"]).ok();
        peer.walk(3, &["dir"]).ok();
        let reply = peer.ask(Tmessage::Stat { fid: 2 });
        let before = stat(&reply);
        for (fid, change, said) in [
            (2, Stat { mode: dm::DIR | 0o755, ..untouched() }, "a file cannot be made a directory"),
            (3, Stat { mode: 0o755, ..untouched() }, "this is and stays a directory"),
            (2, Stat { kind: 7, ..untouched() }, "type, dev and qid"),
            (2, Stat { dev: 7, ..untouched() }, "type, dev and qid"),
            (2, Stat { qid: Qid { path: 77, ..before.qid }, ..untouched() }, "type, dev and qid"),
            (2, Stat { mode: dm::DIR | 0o644, name: b"new", ..untouched() }, "directory"),
        ] {
            let text = peer.ask(wstat(fid, change)).text();
            assert!(text.contains(said), "{change:?}: {text}");
        }
        assert_eq!(peer.ask(Tmessage::Stat { fid: 2 }), reply);
        // Who says what is so already changes the rest.
        let qid = Qid { version: before.qid.version.wrapping_sub(1), ..before.qid };
        peer.ask(wstat(2, Stat { qid, mode: 0o600, name: b"", ..before })).ok();
        for dir in [dm::DIR | 0o700, mode::DIR | 0o750] {
            peer.ask(wstat(3, Stat { mode: dir, ..untouched() })).ok();
        }
    }
}

#[test]
fn a_mode_that_there_is_not_is_refused() {
    for version in OLD {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        make(&mut peer, "file", 0o644, "").ok();
        for mode in [4, 8, 0x0c, 0x15] {
            peer.walk(2, &["file"]).ok();
            assert!(peer.ask(Tmessage::Open { fid: 2, mode }).text().contains("is no mode of"));
            peer.ask(Tmessage::Clunk { fid: 2 }).ok();
        }
        for mode in [0, 1, 2, 3, 0x10, 0x20, 0x23] {
            peer.walk(2, &["file"]).ok();
            peer.ask(Tmessage::Open { fid: 2, mode }).ok();
            peer.ask(Tmessage::Clunk { fid: 2 }).ok();
        }
    }
}

#[test]
fn a_file_that_is_to_be_append_only_or_exclusive_is_refused() {
    for version in OLD {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        make(&mut peer, "file", 0o644, "").ok();
        peer.walk(2, &["file"]).ok();
        for bit in [dm::APPEND, dm::EXCL] {
            let text = make(&mut peer, "new", bit | 0o644, "").text();
            assert!(text.contains("append-only"), "{text}");
            let mode = wstat(2, Stat { mode: bit | 0o644, ..untouched() });
            let text = peer.ask(mode).text();
            assert!(text.contains("append-only"), "{text}");
        }
    }
}
