//! Content, qids, locks and extended attributes.

use super::*;
use crate::record::Time;
use std::collections::HashSet;

#[test]
fn content_is_read_and_written_whole() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let file = client.create("file", RDWR, 0o600).unwrap();
    let content: Vec<u8> = (0..300_000u32).map(|at| ((at * 7) >> 3) as u8).collect();
    assert_eq!(client.write(&file, 0, &content), Ok(300_000));
    assert_eq!(client.read(&file, 0, 1 << 20).unwrap(), content);
    assert_eq!(client.read(&file, 299_990, 100).unwrap(), content[299_990..]);
    assert_eq!(client.read(&file, 300_000, 100).unwrap(), b"");
    assert_eq!(client.read(&file, u64::MAX, 100).unwrap_err(), Errno::INVAL);
    assert_eq!(client.write(&file, u64::MAX, b"x").unwrap_err(), Errno::FBIG);
    client.fsync(&file, false).unwrap();
    client.fsync(&file, true).unwrap();
    // What is no longer in memory comes from a worker, whole as well.
    let real = std::fs::File::open(scratch.join("file")).unwrap();
    real.sync_all().unwrap();
    let memory = rustix::fs::fstatfs(&real).unwrap().f_type as u32 == 0x0102_1994;
    let parked = (0..20).filter(|_| {
        rustix::fs::fadvise(&real, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let start = client.start(|tree, call| tree.read(call, &file, 0, 1 << 20));
        let data = match &start {
            Ok(data) => data,
            Err(_) => &match client.parked() {
                Outcome::Data(data) => data,
                other => panic!("{other:?}"),
            },
        };
        match data {
            Data::Bytes(bytes) => assert_eq!(*bytes, content),
            Data::Filled(filling) => assert_eq!(filling.content(), content),
            Data::Mapped(_) => unreachable!("nobody lets the tree map"),
        }
        start.is_err()
    });
    // The advice need not be taken each time.
    assert!(parked.count() > 0 || memory, "the disk was waited for by the thread that serves");
    // Synchronous and appending writes.
    let sync = client.open("file", OpenFlags::WRONLY | 0o4_010_000).unwrap();
    let parked = client.start(|tree, call| tree.write(call, &sync, 0, b"abc"));
    assert_eq!(parked, Err(None), "it does not hold up the thread that serves");
    client.parked();
    let append = client.open("file", OpenFlags::WRONLY | OpenFlags::APPEND).unwrap();
    assert_eq!(client.write(&append, 0, b"end"), Ok(3));
    assert_eq!(client.read(&file, 0, 3).unwrap(), b"abc");
    assert_eq!(client.read(&file, 300_000, 9).unwrap(), b"end");
    let cut = client.open("file", RDWR | OpenFlags::TRUNC).unwrap();
    assert_eq!(client.attr(&cut).size, 0);
    let reader = client.open("file", 0).unwrap();
    assert_eq!(client.write(&reader, 0, b"x").unwrap_err(), Errno::BADF);
    let closed = client.walk("file").unwrap();
    assert_eq!(client.read(&closed, 0, 1).unwrap_err(), Errno::BADF);
    assert_eq!(client.fsync(&closed, true).unwrap_err(), Errno::BADF);
}

#[test]
fn reads_from_memory_are_answered_at_once() {
    // On disk (page cache) and on tmpfs, which cannot tell what is in memory.
    for base in [std::env::temp_dir(), "/dev/shm".into()] {
        let path = base.join(format!("muster-host-hot-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("file"), "hot").unwrap();
        let mut client = Client::new(&path);
        let file = client.open("file", 0).unwrap();
        let read = client.start(|tree, call| tree.read(call, &file, 0, 100));
        assert!(matches!(read, Ok(Data::Filled(_))), "{}: {read:?}", base.display());
        std::fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn create_honours_its_flags() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let root = client.root.clone();
    let file = client.create("file", RDWR | OpenFlags::EXCL, 0o640).unwrap();
    client.write(&file, 0, b"content").unwrap();
    let again = client.create("file", RDWR | OpenFlags::EXCL, 0o640);
    assert_eq!(again.unwrap_err(), Errno::EXIST);
    let same = client.create("file", RDWR, 0o777).unwrap();
    assert_eq!(client.read(&same, 0, 9).unwrap(), b"content");
    assert_eq!(client.attr(&same).mode & 0o777, 0o640);
    let cut = client.create("file", RDWR | OpenFlags::TRUNC, 0o777).unwrap();
    assert_eq!(client.attr(&cut).size, 0);
    client.ask(|tree| tree.mkdir(&root, b"dir", 0o755, 0)).unwrap();
    assert_eq!(client.create("dir", 0, 0o777).unwrap_err(), Errno::ISDIR);
    client.ask(|tree| tree.symlink(&root, b"link", b"/etc/passwd", 0)).unwrap();
    assert_eq!(client.create("link", 0, 0o777).unwrap_err(), Errno::LOOP);
    // A file that its own mode closes is open to its creator.
    let closed = client.create("closed", RDWR, 0).unwrap();
    assert_eq!(client.write(&closed, 0, b"x"), Ok(1));
    assert_eq!(client.open("dir", RDWR).unwrap_err(), Errno::ISDIR);
    assert_eq!(client.open("file", OpenFlags::DIRECTORY).unwrap_err(), Errno::NOTDIR);
    assert_eq!(client.open("file", 3).unwrap_err(), Errno::INVAL);
}

#[test]
fn an_unlinked_file_lives_until_its_fid_is_clunked() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let root = client.root.clone();
    let open = client.create("file", RDWR, 0o600).unwrap();
    client.write(&open, 0, b"content").unwrap();
    let place = client.walk("file").unwrap();
    client.ask(|tree| tree.unlinkat(&root, b"file", false)).unwrap();
    // A file of the same name is another.
    std::fs::write(scratch.join("file"), "new").unwrap();
    for fid in [&open, &place] {
        let attr = client.attr(fid);
        assert_eq!((attr.nlink, attr.size), (0, 7));
    }
    assert_eq!(client.read(&open, 0, 100).unwrap(), b"content");
    assert_eq!(client.write(&open, 7, b" more"), Ok(5));
    let cut = SetAttr { valid: SetAttr::SIZE, size: 3, ..SetAttr::default() };
    client.setattr(&place, &cut).unwrap();
    assert_eq!(client.read(&open, 0, 100).unwrap(), b"con");
    let mode = SetAttr { valid: SetAttr::MODE, mode: 0o644, ..SetAttr::default() };
    client.setattr(&place, &mode).unwrap();
    assert_eq!(client.attr(&open).mode & 0o777, 0o644);
    let second = client.ask(|tree| Ok(tree.open(&place, OpenFlags(0))?.fid)).unwrap();
    assert_eq!(client.read(&second, 0, 100).unwrap(), b"con");
    assert_eq!(client.ask(|tree| tree.remove(&open)), Err(Errno::NOENT));
    assert_eq!(client.ask(|tree| tree.rename(&place, None, b"back", true)), Err(Errno::NOENT));
    assert_eq!(std::fs::read(scratch.join("file")).unwrap(), b"new");
    let link = std::path::PathBuf::from(format!("/proc/self/fd/{}", {
        use std::os::fd::AsRawFd;
        open.0.fd.as_raw_fd()
    }));
    for fid in [open, place, second] {
        client.clunk(fid).unwrap();
    }
    let named = std::fs::read_link(link).unwrap_or_default();
    assert!(!named.starts_with(&scratch.0), "its descriptor is closed: {}", named.display());
}

#[test]
fn a_qid_belongs_to_one_file() {
    let scratch = Scratch::new();
    std::fs::write(scratch.join("a"), "").unwrap();
    std::fs::write(scratch.join("b"), "").unwrap();
    std::fs::hard_link(scratch.join("a"), scratch.join("link")).unwrap();
    let mut client = Client::new(&scratch.0);
    let mut path = |name: &str| {
        let fid = client.walk(name).unwrap();
        client.attr(&fid).qid.path
    };
    let (a, b, link) = (path("a"), path("b"), path("link"));
    assert_eq!(a, link, "two names of one file");
    assert_ne!(a, b);
    assert_eq!(a, path("a"), "and it stays");
    // Other devices: their roots all have inode number 1.
    let tree = HostTree::new(Path::new("/"), Options::default()).unwrap();
    let mut client = Client::of(&Arc::new(tree), Some(rustix::process::geteuid().as_raw()), None);
    let mounts = ["proc", "sys", "dev", "dev/shm", "tmp"];
    let mut paths = HashSet::new();
    for mount in mounts {
        let fid = client.walk(mount).unwrap();
        assert!(paths.insert(client.attr(&fid).qid.path), "{mount}");
    }
    use std::os::unix::fs::MetadataExt;
    let inode = |path: &str| std::fs::metadata(path).unwrap().ino();
    assert_eq!(inode("/proc"), inode("/sys"), "else this test shows nothing");
}

#[test]
fn a_qids_version_changes_with_every_write() {
    for base in [std::env::temp_dir(), "/dev/shm".into()] {
        let path = base.join(format!("muster-host-version-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let mut client = Client::new(&path);
        let file = client.create("file", RDWR, 0o600).unwrap();
        let mut seen = HashSet::new();
        for round in 0..500u32 {
            // Same size, within one tick of the clock.
            client.write(&file, 0, &round.to_le_bytes()).unwrap();
            let version = client.attr(&file).qid.version;
            assert!(seen.insert(version), "{}: round {round}", base.display());
            assert_eq!(client.attr(&file).qid.version, version, "and only then");
        }
        // Changes that others make count as well.
        let before = client.attr(&file).qid.version;
        let local = std::fs::File::options().write(true).open(path.join("file")).unwrap();
        local.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        let dated = client.attr(&file).qid.version;
        local.set_len(9).unwrap();
        let grown = client.attr(&file).qid.version;
        // The same size again, some ticks of the clock later.
        std::thread::sleep(Duration::from_millis(30));
        std::os::unix::fs::FileExt::write_all_at(&local, b"other", 0).unwrap();
        let written = client.attr(&file).qid.version;
        assert_eq!(HashSet::from([before, dated, grown, written]).len(), 4);
        // Older kernels' clocks do not tell two writes apart: what the server itself did counts.
        let cut = SetAttr { valid: SetAttr::SIZE, size: 4, ..SetAttr::default() };
        let still = |client: &mut Client| {
            let time = Time { sec: 1, nsec: 0 };
            let valid = SetAttr::MTIME | SetAttr::MTIME_SET;
            client.setattr(&file, &SetAttr { valid, mtime: time, ..SetAttr::default() }).unwrap();
            let mut stat = rustix::fs::fstat(file.0.fd()).unwrap();
            stat.st_ctime = 0;
            stat.st_ctime_nsec = 0;
            client.tree.qids.qid(&stat).version
        };
        let first = still(&mut client);
        assert_eq!(still(&mut client), first);
        client.write(&file, 0, b"same").unwrap();
        let second = still(&mut client);
        client.setattr(&file, &cut).unwrap();
        let third = still(&mut client);
        client.open("file", RDWR | OpenFlags::TRUNC).unwrap();
        client.write(&file, 0, b"same").unwrap();
        let fourth = still(&mut client);
        assert_eq!(HashSet::from([first, second, third, fourth]).len(), 4);
        std::fs::remove_dir_all(&path).unwrap();
    }
}

#[test]
fn a_directorys_version_changes_with_its_names() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let root = client.root.clone();
    // As if the clock stood still: only what the server knows itself counts.
    let version = |client: &Client| {
        let mut stat = rustix::fs::fstat(root.0.fd()).unwrap();
        (stat.st_mtime, stat.st_mtime_nsec, stat.st_ctime, stat.st_ctime_nsec) = (0, 0, 0, 0);
        stat.st_size = 0;
        client.tree.qids.qid(&stat).version
    };
    let mut seen = HashSet::from([version(&client)]);
    let mut steps = 0;
    let mut step = |client: &mut Client, request: &dyn Fn(&HostTree) -> Result<()>| {
        client.ask(request).unwrap();
        steps += 1;
        assert!(seen.insert(version(client)), "step {steps}");
    };
    step(&mut client, &|tree| tree.mkdir(&root, b"dir", 0o755, 0).map(drop));
    step(&mut client, &|tree| tree.create(&root, b"a", OpenFlags(0), 0o600, 0).map(drop));
    step(&mut client, &|tree| tree.symlink(&root, b"b", b"to", 0).map(drop));
    step(&mut client, &|tree| tree.mknod(&root, b"c", 0o600, (0, 0), 0).map(drop));
    let file = client.walk("a").unwrap();
    step(&mut client, &|tree| tree.link(&root, &file, b"d"));
    step(&mut client, &|tree| tree.renameat((&root, b"a"), (&root, b"e")));
    step(&mut client, &|tree| tree.rename(&file, None, b"f", true));
    step(&mut client, &|tree| tree.unlinkat(&root, b"d", false));
    step(&mut client, &|tree| tree.remove(&file));
}

fn range(kind: u8, start: u64, length: u64, proc_id: u32) -> LockRange<'static> {
    LockRange { kind, start, length, proc_id, client_id: "here" }
}

#[test]
fn locks_of_different_fids_conflict() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let one = client.create("file", RDWR, 0o600).unwrap();
    let two = client.open("file", RDWR).unwrap();
    let lock = |client: &mut Client, fid: &HostFid, range: LockRange<'_>| {
        client.start(|tree, call| tree.lock(call, fid, &range, false))
    };
    const READ: u8 = LockRange::READ;
    const WRITE: u8 = LockRange::WRITE;
    const UNLOCK: u8 = LockRange::UNLOCK;
    assert_eq!(lock(&mut client, &one, range(WRITE, 0, 100, 1)), Ok(LockStatus::Success));
    assert_eq!(lock(&mut client, &two, range(READ, 50, 10, 2)), Ok(LockStatus::Blocked));
    assert_eq!(lock(&mut client, &two, range(READ, 100, 0, 2)), Ok(LockStatus::Success));
    let ask = |client: &mut Client, fid: &HostFid, range: LockRange<'_>| {
        client.ask(|tree| tree.getlock(fid, &range)).unwrap()
    };
    let held = ask(&mut client, &two, range(WRITE, 10, 5, 2));
    assert_eq!((held.kind, held.start, held.length), (WRITE, 0, 100));
    assert_eq!((held.proc_id, held.client_id.as_str()), (1, "here"));
    let held = ask(&mut client, &one, range(WRITE, 500, 5, 1));
    assert_eq!((held.kind, held.start, held.length, held.proc_id), (READ, 100, 0, 2));
    assert_eq!(ask(&mut client, &one, range(READ, 500, 5, 1)).kind, UNLOCK);
    // A hole in the middle leaves both ends.
    assert_eq!(lock(&mut client, &one, range(UNLOCK, 40, 20, 1)), Ok(LockStatus::Success));
    assert_eq!(lock(&mut client, &two, range(WRITE, 40, 20, 2)), Ok(LockStatus::Success));
    assert_eq!(ask(&mut client, &two, range(READ, 0, 1, 2)).proc_id, 1);
    assert_eq!(ask(&mut client, &two, range(READ, 60, 1, 2)).proc_id, 1);
    // A fid's locks go with it; its clone has none, and keeps none.
    let clone = client.walk_from(&one, "").unwrap();
    let flags = rustix::fs::fcntl_getfl(clone.0.fd()).unwrap();
    assert!(flags.contains(rustix::fs::OFlags::PATH), "the open file is not the clone's");
    client.clunk(one).unwrap();
    assert_eq!(lock(&mut client, &two, range(WRITE, 0, 0, 2)), Ok(LockStatus::Success));
    assert_eq!(
        client.start(|tree, call| { tree.lock(call, &clone, &range(READ, 0, 1, 1), false) }),
        Err(Some(Errno::BADF))
    );
    for impossible in [range(WRITE, u64::MAX, 1, 1), range(WRITE, 1 << 63, 0, 1), range(7, 0, 1, 1)]
    {
        assert_eq!(lock(&mut client, &two, impossible), Err(Some(Errno::INVAL)));
    }
    // Single bytes apart from each other, up to the bound; giving them up makes room again.
    for kind in [READ, UNLOCK] {
        let base = if kind == READ { UNLOCK } else { WRITE };
        assert_eq!(lock(&mut client, &two, range(base, 0, 0, 2)), Ok(LockStatus::Success));
        let mut taken = 0;
        let refused = loop {
            match lock(&mut client, &two, range(kind, 1000 + 2 * taken, 1, 2)) {
                Ok(LockStatus::Success) if taken < 3000 => taken += 1,
                other => break other,
            }
        };
        assert_eq!(refused, Err(Some(Errno::NOLCK)));
        assert!((1000..1100).contains(&taken));
        assert_eq!(lock(&mut client, &two, range(UNLOCK, 0, 0, 2)), Ok(LockStatus::Success));
    }
    assert_eq!(lock(&mut client, &two, range(WRITE, 0, 0, 2)), Ok(LockStatus::Success));
    // Against a program of this machine.
    client.clunk(two).unwrap();
    let reader = client.open("file", 0).unwrap();
    assert_eq!(lock(&mut client, &reader, range(READ, 0, 1, 3)), Ok(LockStatus::Success));
    let local = std::fs::File::options().write(true).open(scratch.join("file")).unwrap();
    assert!(
        rustix::fs::fcntl_lock(&local, rustix::fs::FlockOperation::NonBlockingLockExclusive)
            .is_err()
    );
}

/// Once two who shared an open file, as after a fork, both got the same exclusive lock, and what
/// one gave up the other had lost.
#[test]
fn who_shares_a_fid_locks_against_the_others() {
    const READ: u8 = LockRange::READ;
    const WRITE: u8 = LockRange::WRITE;
    const UNLOCK: u8 = LockRange::UNLOCK;
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let shared = client.create("file", RDWR, 0o600).unwrap();
    let other = client.open("file", RDWR).unwrap();
    let of =
        |client_id, kind, start, length| LockRange { client_id, ..range(kind, start, length, 1) };
    let lock = |client: &mut Client, range: LockRange<'_>| {
        client.start(|tree, call| tree.lock(call, &shared, &range, false))
    };
    let blocked = |client: &mut Client, fid: &HostFid, range: LockRange<'_>| {
        let held = client.ask(|tree| tree.getlock(fid, &range)).unwrap();
        (held.kind, held.start, held.length)
    };
    assert_eq!(lock(&mut client, of("parent", WRITE, 0, 100)), Ok(LockStatus::Success));
    assert_eq!(lock(&mut client, of("child", WRITE, 50, 100)), Ok(LockStatus::Blocked));
    assert_eq!(blocked(&mut client, &shared, of("child", READ, 50, 0)), (WRITE, 0, 100));
    assert_eq!(blocked(&mut client, &shared, of("parent", READ, 50, 0)).0, UNLOCK);
    // The end of the child unlocks all that it has, which is nothing.
    assert_eq!(lock(&mut client, of("child", UNLOCK, 0, 0)), Ok(LockStatus::Success));
    assert_eq!(blocked(&mut client, &other, of("other", WRITE, 0, 0)), (WRITE, 0, 100));
    // What both have is had until both have given it up.
    assert_eq!(lock(&mut client, of("parent", READ, 0, 100)), Ok(LockStatus::Success));
    assert_eq!(lock(&mut client, of("child", READ, 50, 100)), Ok(LockStatus::Success));
    assert_eq!(lock(&mut client, of("parent", WRITE, 0, 0)), Ok(LockStatus::Blocked));
    assert_eq!(lock(&mut client, of("parent", UNLOCK, 0, 0)), Ok(LockStatus::Success));
    assert_eq!(blocked(&mut client, &other, of("other", WRITE, 0, 0)), (READ, 50, 100));
    // One that waits has it then.
    let all = of("parent", WRITE, 0, 0);
    assert_eq!(client.start(|tree, call| tree.lock(call, &shared, &all, true)), Err(None));
    assert_eq!(lock(&mut client, of("child", UNLOCK, 0, 0)), Ok(LockStatus::Success));
    assert!(matches!(client.parked(), Outcome::Lock(LockStatus::Success)));
    assert_eq!(blocked(&mut client, &other, of("other", WRITE, 0, 0)), (WRITE, 0, 0));
    client.clunk(shared.clone()).unwrap();
    assert_eq!(blocked(&mut client, &other, of("other", WRITE, 0, 0)).0, UNLOCK);
}

/// On a machine with a long name all of its lockers were one: each got what another had.
#[test]
fn lockers_of_a_machine_with_the_longest_name_are_told_apart() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let shared = client.create("file", RDWR, 0o600).unwrap();
    let mut lock = |locker: &str| {
        let client_id = "m".repeat(64) + ":" + locker;
        let asked = LockRange { client_id: &client_id, ..range(LockRange::WRITE, 0, 100, 1) };
        client.start(|tree, call| tree.lock(call, &shared, &asked, false))
    };
    assert_eq!(lock("fffffffffffffff1"), Ok(LockStatus::Success));
    assert_eq!(lock("fffffffffffffff2"), Ok(LockStatus::Blocked));
    assert_eq!(lock(&"f".repeat(100)), Err(Some(Errno::INVAL)));
    // Its locks go with it, before its number is another test's file's.
    client.clunk(shared).unwrap();
}

/// Once flock(2) through v9fs failed where it does not on a local file: it asks for either kind of
/// lock whatever the file is open for.
#[test]
fn a_file_is_locked_either_way_whatever_it_is_open_for() {
    const READ: u8 = LockRange::READ;
    const WRITE: u8 = LockRange::WRITE;
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let other = client.create("file", RDWR, 0o600).unwrap();
    let lock = |client: &mut Client, fid: &HostFid, range: LockRange<'_>| {
        client.start(|tree, call| tree.lock(call, fid, &range, false))
    };
    let blocked = |client: &mut Client, range: LockRange<'_>| {
        let held = client.ask(|tree| tree.getlock(&other, &range)).unwrap();
        (held.kind, held.start, held.length)
    };
    // What it holds already moves with it, and is in nobody's way but others'.
    let reader = client.open("file", 0).unwrap();
    assert_eq!(lock(&mut client, &reader, range(READ, 0, 100, 3)), Ok(LockStatus::Success));
    assert_eq!(lock(&mut client, &reader, range(WRITE, 10, 10, 3)), Ok(LockStatus::Success));
    assert_eq!(blocked(&mut client, range(READ, 0, 0, 1)), (WRITE, 10, 10));
    assert_eq!(blocked(&mut client, range(WRITE, 50, 0, 1)), (READ, 20, 80));
    assert_eq!(lock(&mut client, &reader, range(READ, 0, 0, 3)), Ok(LockStatus::Success));
    assert_eq!(blocked(&mut client, range(WRITE, 0, 0, 1)), (READ, 0, 0));
    client.clunk(reader).unwrap();
    assert_eq!(blocked(&mut client, range(WRITE, 0, 0, 1)).0, LockRange::UNLOCK);
    let writer = client.open("file", OpenFlags::WRONLY).unwrap();
    assert_eq!(lock(&mut client, &writer, range(WRITE, 0, 0, 3)), Ok(LockStatus::Success));
    assert_eq!(
        lock(&mut client, &writer, range(READ, 0, 10, 3)),
        Err(Some(Errno::BADF)),
        "an exclusive lock that is to stay is not given up for a moment"
    );
    assert_eq!(lock(&mut client, &writer, range(READ, 0, 0, 3)), Ok(LockStatus::Success));
    assert_eq!(blocked(&mut client, range(WRITE, 0, 0, 1)), (READ, 0, 0));
    // A lock that must wait is had when it is free.
    let waiter = client.open("file", 0).unwrap();
    let all = range(WRITE, 0, 0, 4);
    assert_eq!(client.start(|tree, call| tree.lock(call, &waiter, &all, true)), Err(None));
    client.clunk(writer).unwrap();
    assert!(matches!(client.parked(), Outcome::Lock(LockStatus::Success)));
    assert_eq!(blocked(&mut client, range(READ, 0, 0, 1)), (WRITE, 0, 0));
    client.clunk(waiter).unwrap();
    // So is one that only another who shares its fid stands against.
    for (flags, first, then) in [(0, READ, WRITE), (OpenFlags::WRONLY, WRITE, READ)] {
        let shared = client.open("file", flags).unwrap();
        assert_eq!(lock(&mut client, &shared, range(first, 0, 0, 1)), Ok(LockStatus::Success));
        let child = LockRange { client_id: "child", ..range(then, 0, 0, 5) };
        let waits = client.start(|tree, call| tree.lock(call, &shared, &child, true));
        assert_eq!(waits, Err(None));
        let unlocked = lock(&mut client, &shared, range(LockRange::UNLOCK, 0, 0, 1));
        assert_eq!(unlocked, Ok(LockStatus::Success));
        let had = client.parked();
        assert!(matches!(had, Outcome::Lock(LockStatus::Success)), "{had:?}");
        assert_eq!(blocked(&mut client, range(WRITE, 0, 0, 1)), (then, 0, 0));
        client.clunk(shared).unwrap();
    }
    // Nobody opens for writing what is exported for reading.
    let tree = Arc::new(HostTree::new(&scratch.0, options(false)).unwrap());
    let mut client = Client::of(&tree, Some(rustix::process::geteuid().as_raw()), None);
    let reader = client.open("file", 0).unwrap();
    assert_eq!(lock(&mut client, &reader, range(WRITE, 0, 1, 3)), Err(Some(Errno::BADF)));
    assert_eq!(lock(&mut client, &reader, range(READ, 0, 1, 3)), Ok(LockStatus::Success));
}

/// Linux's v9fs asks with the kind "unlock" about every lock. That was refused: F_GETLK of
/// fcntl(2) failed in the guest of conformance/ninep.
#[test]
fn who_asks_about_an_unlock_asks_about_any_lock() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let one = client.create("file", RDWR, 0o600).unwrap();
    let two = client.open("file", RDWR).unwrap();
    let read = range(LockRange::READ, 100, 0, 2);
    let taken = client.start(|tree, call| tree.lock(call, &two, &read, false));
    assert_eq!(taken, Ok(LockStatus::Success));
    let any = range(LockRange::UNLOCK, 500, 5, 1);
    let held = client.ask(|tree| tree.getlock(&one, &any)).unwrap();
    assert_eq!((held.kind, held.start, held.proc_id), (LockRange::READ, 100, 2));
    let held = client.ask(|tree| tree.getlock(&two, &any)).unwrap();
    assert_eq!(held.kind, LockRange::UNLOCK, "one's own is in nobody's way");
}

#[test]
fn a_lock_that_waits_is_had_when_it_is_free_and_costs_no_thread() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let holder = client.create("file", RDWR, 0o600).unwrap();
    let waiter = client.open("file", RDWR).unwrap();
    let flushed = client.open("file", RDWR).unwrap();
    let all = range(LockRange::WRITE, 0, 0, 1);
    let take = |client: &mut Client, fid: &HostFid| {
        client.start(|tree, call| tree.lock(call, fid, &all, true))
    };
    assert_eq!(take(&mut client, &holder), Ok(LockStatus::Success));
    // One that is flushed while it waits never gets the lock.
    let standing = {
        let (port, outbox) = (&client.port, &mut client.outbox);
        let mut call =
            Call { tag: 2, serial: 2, origin: port, standing: None, outbox, brings: None };
        let parked = client.tree.lock(&mut call, &flushed, &all, true);
        assert!(matches!(parked, Err(Pause::Parked)));
        call.standing.unwrap()
    };
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    assert_eq!(take(&mut client, &waiter), Err(None));
    let more: Vec<HostFid> = (0..200).map(|_| client.open("file", RDWR).unwrap()).collect();
    let before = threads();
    for fid in &more {
        assert_eq!(take(&mut client, fid), Err(None));
    }
    // Other tests run beside this one, so not exactly none.
    assert!(threads() < before + 50, "waiting locks took threads");
    assert!(standing.flush());
    client.clunk(holder).unwrap();
    assert!(matches!(client.parked(), Outcome::Lock(LockStatus::Success)));
    assert!(client.port.take().is_empty(), "the flushed one and the later ones get nothing");
    // The oldest of the others is next; one whose fid is given up is refused.
    client.clunk(more[0].clone()).unwrap();
    assert!(matches!(client.parked(), Outcome::Failed(_)));
    client.clunk(waiter).unwrap();
    assert!(matches!(client.parked(), Outcome::Lock(LockStatus::Success)));
    for fid in more.into_iter().skip(1) {
        client.clunk(fid).unwrap();
    }
    // A lock of a program of this machine is waited for as well.
    let local = std::fs::File::options().write(true).open(scratch.join("file")).unwrap();
    let whole = sys::Range { kind: libc::F_WRLCK, start: 0, length: 0, pid: 0 };
    use std::os::fd::AsFd;
    sys::set_lock(local.as_fd(), whole).unwrap();
    while client.woken.try_recv().is_ok() {}
    client.port.take();
    assert_eq!(take(&mut client, &flushed), Err(None));
    // Who never held a lock, and gives its fid up, waits no longer.
    let never = client.open("file", RDWR).unwrap();
    assert_eq!(take(&mut client, &never), Err(None));
    client.clunk(never).unwrap();
    assert!(matches!(client.parked(), Outcome::Failed(_)));
    drop(local);
    assert!(matches!(client.parked(), Outcome::Lock(LockStatus::Success)));
}

/// Parks a lock of all of a file; what tells whether it is wanted.
fn wait_for_lock(client: &mut Client, fid: &HostFid, tag: u16) -> Standing {
    let all = range(LockRange::WRITE, 0, 0, 1);
    let (port, outbox) = (&client.port, &mut client.outbox);
    let mut call =
        Call { tag, serial: tag.into(), origin: port, standing: None, outbox, brings: None };
    let parked = client.tree.lock(&mut call, fid, &all, true);
    assert!(matches!(parked, Err(Pause::Parked)), "{parked:?}");
    call.standing.unwrap()
}

/// Once it was told that somebody else had it, which v9fs took for a pause of 30 s, and programs on
/// a mount for an error that fcntl(2) does not have.
#[test]
fn a_lock_that_waits_goes_on_waiting_when_another_process_is_quicker() {
    use std::os::fd::AsFd;
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let waiter = client.create("file", RDWR, 0o600).unwrap();
    let file = || std::fs::File::options().write(true).open(scratch.join("file")).unwrap();
    let whole = sys::Range { kind: libc::F_WRLCK, start: 0, length: 0, pid: 0 };
    let none = sys::Range { kind: libc::F_UNLCK, ..whole };
    let (holder, other) = (file(), file());
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = sys::set_lock(other.as_fd(), whole);
                sys::set_lock(other.as_fd(), none).unwrap();
            }
        });
        for _ in 0..50 {
            while sys::set_lock(holder.as_fd(), whole).is_err() {}
            wait_for_lock(&mut client, &waiter, 2);
            sys::set_lock(holder.as_fd(), none).unwrap();
            let had = client.parked();
            let unlock = range(LockRange::UNLOCK, 0, 0, 1);
            let _ = client.start(|tree, call| tree.lock(call, &waiter, &unlock, false));
            if !matches!(had, Outcome::Lock(LockStatus::Success)) {
                done.store(true, Ordering::Relaxed);
                panic!("{had:?}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_lock_that_goes_on_waiting_can_be_flushed() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let holder = client.create("file", RDWR, 0o600).unwrap();
    let waiter = client.open("file", RDWR).unwrap();
    let all = range(LockRange::WRITE, 0, 0, 1);
    let take = client.start(|tree, call| tree.lock(call, &holder, &all, true));
    assert_eq!(take, Ok(LockStatus::Success));
    let standing = wait_for_lock(&mut client, &waiter, 2);
    // As it is when another process was quicker.
    let mut claimed = None;
    let (port, outbox) = (&client.port, &mut client.outbox);
    let standing_too = Some(standing.clone());
    let mut call =
        Call { tag: 3, serial: 3, origin: port, standing: standing_too, outbox, brings: None };
    let _ = call.park(|ticket: Ticket<LockStatus>| claimed = Some(ticket));
    assert!(claimed.as_ref().unwrap().claim());
    assert!(!standing.flush(), "it is being carried out");
    standing.unwanted();
    let Outcome::Failed(error) = client.parked() else { panic!("nobody has unlocked") };
    assert_eq!(error.errno, Errno::INTR);
    // And it gets nothing.
    client.clunk(holder).unwrap();
    let unlocked = client.ask(|tree| tree.getlock(&waiter, &all)).unwrap();
    assert_eq!(unlocked.kind, LockRange::UNLOCK);
    assert!(client.port.take().is_empty());
}

#[test]
fn extended_attributes_are_listed_read_set_and_removed() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let file = client.create("file", RDWR, 0o600).unwrap();
    let place = client.walk("file").unwrap();
    let set = |client: &mut Client, name: &[u8], size: u64, flags: u32, value: &[u8]| {
        let setter = client.ask(|tree| Ok(tree.xattrcreate(&place, name, size, flags)?.fid))?;
        if !value.is_empty() {
            client.write(&setter, 0, value)?;
        }
        client.clunk(setter)
    };
    let get = |client: &mut Client, name: &[u8]| {
        let (fid, size) = client.ask(|tree| tree.xattrwalk(&file, name))?;
        let value = client.read(&fid, 0, 1 << 16)?;
        assert_eq!(value.len() as u64, size);
        Ok::<_, Errno>(value)
    };
    assert_eq!(get(&mut client, b"user.a"), Err(Errno::NODATA));
    assert_eq!(set(&mut client, b"user.a", 5, 1, b"value"), Ok(()));
    assert_eq!(set(&mut client, b"user.a", 5, 1, b"again"), Err(Errno::EXIST));
    assert_eq!(set(&mut client, b"user.b", 1, 2, b"x"), Err(Errno::NODATA));
    assert_eq!(set(&mut client, b"user.empty", 0, 0, b""), Ok(()));
    assert_eq!(get(&mut client, b"user.a").unwrap(), b"value");
    assert_eq!(get(&mut client, b"user.empty").unwrap(), b"");
    let list = get(&mut client, b"").unwrap();
    let names: HashSet<&[u8]> = list.split(|&byte| byte == 0).collect();
    assert!(names.contains(&b"user.a"[..]) && names.contains(&b"user.empty"[..]));
    let (fid, _) = client.ask(|tree| tree.xattrwalk(&file, b"user.a")).unwrap();
    assert_eq!(client.read(&fid, 2, 2).unwrap(), b"lu");
    assert_eq!(client.read(&fid, 9, 2).unwrap(), b"");
    // Not more, not less, not out of order.
    assert_eq!(set(&mut client, b"user.c", 3, 0, b"four"), Err(Errno::NOSPC));
    assert_eq!(set(&mut client, b"user.c", 5, 0, b"four"), Err(Errno::INVAL));
    assert_eq!(get(&mut client, b"user.c"), Err(Errno::NODATA));
    let setter = client.ask(|tree| Ok(tree.xattrcreate(&place, b"user.d", 4, 0)?.fid)).unwrap();
    assert_eq!(client.write(&setter, 1, b"b").unwrap_err(), Errno::INVAL);
    client.write(&setter, 0, b"ab").unwrap();
    client.write(&setter, 2, b"cd").unwrap();
    client.clunk(setter).unwrap();
    assert_eq!(get(&mut client, b"user.d").unwrap(), b"abcd");
    assert_eq!(set(&mut client, b"user.a", 0, 2, b""), Ok(()));
    assert_eq!(get(&mut client, b"user.a"), Err(Errno::NODATA));
    for size in [65_537, u64::from(u32::MAX), u64::MAX] {
        assert_eq!(set(&mut client, b"user.e", size, 0, b""), Err(Errno::TOOBIG));
    }
    assert_eq!(set(&mut client, b"user.e", 0, 4, b""), Err(Errno::INVAL));
    assert_eq!(set(&mut client, b"nonsense", 1, 0, b"x"), Err(Errno::OPNOTSUPP));
    // All collected values together are bounded, and the bound is given back.
    let mut setters = Vec::new();
    let full = loop {
        match client.ask(|tree| Ok(tree.xattrcreate(&place, b"user.f", 65_536, 0)?.fid)) {
            Ok(setter) => setters.push(setter),
            Err(errno) => break errno,
        }
    };
    assert_eq!(full, Errno::NOSPC);
    assert!(setters.len() > 200);
    drop(setters);
    client.ask(|tree| Ok(tree.xattrcreate(&place, b"user.f", 65_536, 0)?.fid)).unwrap();
}

#[test]
fn a_symbolic_links_attributes_are_its_own() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let root = client.root.clone();
    client.create("file", RDWR, 0o600).unwrap();
    client.ask(|tree| tree.symlink(&root, b"link", b"file", 0)).unwrap();
    let link = client.walk("link").unwrap();
    let privileged = has(CapabilitySet::SYS_ADMIN);
    let (name, denied) =
        if privileged { (&b"trusted.a"[..], Errno::PERM) } else { (&b"user.a"[..], Errno::PERM) };
    let setter = client.ask(|tree| Ok(tree.xattrcreate(&link, b"user.a", 1, 0)?.fid)).unwrap();
    client.write(&setter, 0, b"x").unwrap();
    assert_eq!(client.clunk(setter), Err(denied), "the kernel allows none of user's on links");
    if privileged {
        let setter = client.ask(|tree| Ok(tree.xattrcreate(&link, name, 1, 0)?.fid)).unwrap();
        client.write(&setter, 0, b"x").unwrap();
        client.clunk(setter).unwrap();
        assert_eq!(client.ask(|tree| tree.xattrwalk(&link, name)).unwrap().1, 1);
    }
    let file = client.walk("file").unwrap();
    let absent = client.ask(|tree| tree.xattrwalk(&file, name)).map(|(_, size)| size);
    assert_eq!(absent, Err(Errno::NODATA));
}
