//! Nothing outside the root.

use super::*;
use crate::record::mode;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::collections::HashSet;
use std::os::unix::fs::{MetadataExt, symlink};
use std::sync::atomic::AtomicBool;

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.join("root/a/b")).unwrap();
    std::fs::write(scratch.join("secret"), "outside").unwrap();
    symlink("/", scratch.join("root/abs")).unwrap();
    symlink("..", scratch.join("root/up")).unwrap();
    let mut client = Client::new(&scratch.join("root"));
    let root = client.root.clone();
    let long = "x".repeat(256);
    for (name, errno) in [
        (&b"a/b"[..], Errno::INVAL),
        (b"/", Errno::INVAL),
        (b"../secret", Errno::INVAL),
        (b"a\0", Errno::INVAL),
        (b"", Errno::NOENT),
        (b"absent", Errno::NOENT),
        (long.as_bytes(), Errno::NAMETOOLONG),
    ] {
        let refused = client.ask(|tree| tree.walk(&root, &[name]));
        assert_eq!(refused.map(|_| ()), Err(errno), "{:?}", os(name));
        for new in [
            client.ask(|tree| tree.mkdir(&root, name, 0o777, 0)).err(),
            client.ask(|tree| tree.symlink(&root, name, b"to", 0)).err(),
            client.ask(|tree| tree.mknod(&root, name, mode::PIPE | 0o600, (0, 0), 0)).err(),
            client.ask(|tree| tree.link(&root, &root, name)).err(),
            client.ask(|tree| tree.renameat((&root, b"a"), (&root, name))).err(),
            client.ask(|tree| tree.create(&root, name, OpenFlags(RDWR), 0o600, 0)).err(),
        ] {
            if name != b"absent" {
                assert!(matches!(new, Some(Errno::INVAL | Errno::NAMETOOLONG)), "{:?}", os(name));
            }
        }
        client.ask(|tree| tree.unlinkat(&root, name, true)).ok();
        client.ask(|tree| tree.unlinkat(&root, name, false)).ok();
        std::fs::create_dir_all(scratch.join("root/a/b")).unwrap();
    }
    for name in [&b"."[..], b".."] {
        for refused in [
            client.ask(|tree| tree.mkdir(&root, name, 0o777, 0)).map(|_| ()),
            client.ask(|tree| tree.renameat((&root, b"a"), (&root, name))),
            client.ask(|tree| tree.renameat((&root, name), (&root, b"z"))),
            client.ask(|tree| tree.unlinkat(&root, name, true)),
        ] {
            assert_eq!(refused, Err(Errno::INVAL));
        }
    }
    // A link is a file of its own, and not a way.
    assert_eq!(client.walk("abs/etc").unwrap_err(), Errno::NOENT);
    assert_eq!(client.walk("up/secret").unwrap_err(), Errno::NOENT);
    assert_eq!(client.open("abs", 0).unwrap_err(), Errno::LOOP);
    let link = client.walk("abs").unwrap();
    assert_eq!(client.ask(|tree| tree.readlink(&link)), Ok(b"/".to_vec()));
    assert_eq!(std::fs::read(scratch.join("secret")).unwrap(), b"outside");
}

#[test]
fn dot_dot_stops_at_the_root() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.join("root/a/b")).unwrap();
    std::fs::write(scratch.join("root/a/file"), "x").unwrap();
    let mut client = Client::new(&scratch.join("root"));
    let root = client.root.clone();
    let top = client.attr(&root).qid;
    let names: [&[u8]; 6] = [b"..", b"a", b"b", b"..", b"..", b".."];
    let walked = client.ask(|tree| tree.walk(&root, &names)).unwrap();
    assert_eq!(walked.qids[0].path, top.path);
    assert_eq!(walked.qids[3].path, walked.qids[1].path);
    assert_eq!(walked.qids[4].path, top.path);
    assert_eq!(walked.qids[5].path, top.path);
    assert_eq!(client.walk("a/file/..").unwrap_err(), Errno::NOENT, "cut short: no directory");
    let file = client.walk("a/file").unwrap();
    let above = client.walk_from(&file, "..").unwrap();
    assert_eq!(client.attr(&above).qid, walked.qids[1]);
    // The listing does not tell what is above either.
    let open = client.open("/", 0).unwrap();
    let entries = client.ask(|tree| tree.readdir(&open, 0, 8192, false)).unwrap();
    let up = entries.iter().find(|entry| entry.name == b"..").unwrap();
    assert_eq!(up.qid.path, top.path);
}

#[test]
fn a_directory_that_was_moved_out_is_no_way_up() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.join("root/a/b")).unwrap();
    std::fs::create_dir(scratch.join("out")).unwrap();
    let mut client = Client::new(&scratch.join("root"));
    let inner = client.walk("a/b").unwrap();
    std::fs::rename(scratch.join("root/a/b"), scratch.join("out/b")).unwrap();
    assert_eq!(client.walk_from(&inner, "..").unwrap_err(), Errno::NOENT);
    assert_eq!(client.ask(|tree| tree.remove(&inner)), Err(Errno::NOENT));
    assert!(scratch.join("out/b").is_dir());
    // A sibling whose path begins with the root's is not beneath it.
    std::fs::create_dir(scratch.join("root2")).unwrap();
    std::fs::rename(scratch.join("out/b"), scratch.join("root2/b")).unwrap();
    assert_eq!(client.walk_from(&inner, "..").unwrap_err(), Errno::NOENT);
}

/// Small deterministic random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// Swaps a directory with a link that leads out, and moves another out of the tree and back,
/// until told to stop.
fn swapper(base: &Path, stop: &AtomicBool) {
    let exchange = |a: &str, b: &str| {
        let (a, b) = (base.join(a), base.join(b));
        renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
    };
    while !stop.load(Ordering::Relaxed) {
        exchange("root/d", "root/l");
        exchange("root/m/sub", "out/sub");
        exchange("root/d", "root/l");
        exchange("root/m/sub", "out/sub");
    }
}

#[test]
fn random_walks_against_a_swapper_never_leave() {
    let scratch = Scratch::new();
    for directory in ["root/d/sub", "root/m/sub/deep", "out/sub/deep"] {
        std::fs::create_dir_all(scratch.join(directory)).unwrap();
    }
    for file in ["root/d/file", "root/d/sub/file", "root/m/file", "root/m/sub/deep/file"] {
        std::fs::write(scratch.join(file), "inside").unwrap();
    }
    std::fs::write(scratch.join("out/file"), "outside").unwrap();
    symlink(scratch.join("out"), scratch.join("root/l")).unwrap();
    // What moves in and out is inside now and then; `out` and what stays in it never is.
    let never: HashSet<u64> = [scratch.0.clone(), scratch.join("out"), scratch.join("out/file")]
        .iter()
        .map(|path| std::fs::metadata(path).unwrap().ino())
        .collect();
    let mut client = Client::new(&scratch.join("root"));
    let stop = Arc::new(AtomicBool::new(false));
    let thread = {
        let (base, stop) = (scratch.0.clone(), stop.clone());
        std::thread::spawn(move || swapper(&base, &stop))
    };
    let words: [&[u8]; 9] = [b"d", b"l", b"m", b"sub", b"deep", b"file", b"..", b"..", b"."];
    let (mut dice, mut arrived, mut stopped) = (Dice(20), 0, 0);
    let mut from = client.root.clone();
    for _ in 0..10_000 {
        let names: Vec<&[u8]> = (0..1 + dice.roll(6)).map(|_| words[dice.roll(9)]).collect();
        let Ok(walked) = client.ask(|tree| tree.walk(&from, &names)) else {
            stopped += 1;
            from = client.root.clone();
            continue;
        };
        for qid in &walked.qids {
            assert!(!never.contains(&qid.path), "{names:?} led outside");
        }
        let Some(fid) = walked.fid else { continue };
        arrived += 1;
        if let Ok(open) = client.ask(|tree| tree.open(&fid, OpenFlags(0)))
            && let Ok(content) = client.read(&open.fid, 0, 100)
        {
            assert_eq!(content, b"inside");
        }
        from = if dice.roll(4) == 0 { client.root.clone() } else { fid };
    }
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    assert!(arrived > 500 && stopped > 500, "{arrived} arrived, {stopped} were stopped");
}

#[test]
fn devices_pipes_and_sockets_are_not_opened() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let root = client.root.clone();
    let kinds = [("pipe", mode::PIPE), ("socket", mode::SOCKET), ("device", mode::CHAR)];
    for (name, kind) in kinds {
        let made = client.ask(|tree| tree.mknod(&root, name.as_bytes(), kind | 0o666, (1, 5), 0));
        if kind == mode::CHAR && !has(CapabilitySet::MKNOD) {
            assert_eq!(made, Err(Errno::PERM));
            continue;
        }
        made.unwrap();
        let fid = client.walk(name).unwrap();
        let attr = client.attr(&fid);
        assert_eq!(attr.mode & mode::KIND, kind);
        if kind == mode::CHAR {
            assert_eq!(attr.rdev, rustix::fs::makedev(1, 5));
        }
        assert_eq!(client.open(name, 0).unwrap_err(), Errno::OPNOTSUPP);
        // A create that is content with an existing file must not open it either.
        assert_eq!(client.create(name, RDWR, 0o600).unwrap_err(), Errno::OPNOTSUPP);
    }
}

/// Once `..` stopped at the root of the export alone, and went above the directory that was
/// attached to.
#[test]
fn nothing_above_the_directory_that_was_attached_to_is_reached() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.join("sub/deep")).unwrap();
    std::fs::write(scratch.join("outside"), "outside").unwrap();
    let mut client = Client::new(&scratch.0);
    let who = peer(Some(rustix::process::geteuid().as_raw()));
    let who = Attach { peer: &who, uname: "", n_uname: None, aname: "sub" };
    let (sub, qid) = client.ask(|tree| tree.attach(&who)).unwrap();
    for path in ["../outside", "deep/../../outside"] {
        assert_eq!(client.walk_from(&sub, path).unwrap_err(), Errno::NOENT, "{path}");
    }
    let deep = client.walk_from(&sub, "deep").unwrap();
    let up = client.ask(|tree| tree.walk(&deep, &[b"..", b".."])).unwrap();
    assert_eq!(up.qids, [qid, qid]);
    let listed = client.ask(|tree| Ok(tree.open(&sub, OpenFlags(0))?.fid)).unwrap();
    let entries = client.ask(|tree| tree.readdir(&listed, 0, 4096, true)).unwrap();
    let above = entries.iter().find(|entry| entry.name == b"..").unwrap();
    assert_eq!(above.qid, qid, "what is above is not told");
    assert_eq!(client.ask(|tree| tree.remove(&sub)), Err(Errno::BUSY));
    std::fs::rename(scratch.join("sub/deep"), scratch.join("deep")).unwrap();
    assert_eq!(client.walk_from(&deep, "..").unwrap_err(), Errno::NOENT, "it has left the tree");
}

#[test]
fn only_a_name_that_does_not_lead_on_cuts_a_walk_short() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.join("dir")).unwrap();
    std::fs::write(scratch.join("dir/file"), "").unwrap();
    let mut client = Client::new(&scratch.0);
    let root = client.root.clone();
    for (names, found) in [(&[&b"dir"[..], b"absent"][..], 1), (&[b"dir", b"file", b"x"], 2)] {
        let walked = client.ask(|tree| tree.walk(&root, names)).unwrap();
        assert_eq!((walked.qids.len(), walked.fid.is_none()), (found, true));
    }
    let long = [b'x'; 256];
    let refused = client.ask(|tree| tree.walk(&root, &[b"dir", &long])).map(|_| ());
    assert_eq!(refused, Err(Errno::NAMETOOLONG));
}
