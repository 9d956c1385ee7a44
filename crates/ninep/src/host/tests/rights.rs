//! Requests have the rights of the user who attached, no more and no less.

use super::*;
use crate::record::{Time, mode};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// Users that need not exist: what counts are their numbers.
const ANN: u32 = 61_001;
const BOB: u32 = 61_002;

fn status(field: &str) -> String {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line[field.len()..].split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_attach_gets_the_user_it_is_entitled_to() {
    let scratch = Scratch::new();
    let tree = HostTree::new(&scratch.0, options(true)).unwrap();
    let own = rustix::process::geteuid().as_raw();
    let got = |uid, uname, n_uname| attach(&tree, uid, uname, n_uname).map(|fid| fid.0.user.uid);
    let refused = |uid, uname, n_uname| {
        let errno = got(uid, uname, n_uname).unwrap_err().errno;
        assert_eq!(errno, Errno::PERM, "{uid:?} {uname:?} {n_uname:?}");
    };
    refused(Some(own), "no-such-user-61003", None);
    if !is_root() {
        for (uid, uname, n_uname) in [
            (Some(own), "", None),
            (Some(own), "nobody", Some(u32::MAX)),
            (Some(own), "root", Some(own)),
            (Some(0), "", None),
        ] {
            assert_eq!(got(uid, uname, n_uname), Ok(own));
        }
        refused(Some(own), "", Some(own + 1));
        refused(Some(own + 1), "", None);
        if own != 0 {
            refused(Some(own), "root", None);
            refused(Some(own), "", Some(0));
        }
        return;
    }
    assert_eq!(got(Some(0), "", None), Ok(0));
    assert_eq!(got(Some(0), "", Some(ANN)), Ok(ANN));
    assert_eq!(got(Some(0), "root", Some(ANN)), Ok(ANN), "the number decides");
    assert_eq!(got(Some(0), "nobody", None), Ok(65534));
    assert_eq!(got(Some(0), "", Some(u32::MAX)), Ok(0));
    assert_eq!(got(Some(ANN), "", None), Ok(ANN));
    assert_eq!(got(Some(ANN), "nobody", None), Ok(ANN));
    assert_eq!(got(Some(ANN), "", Some(ANN)), Ok(ANN));
    refused(Some(ANN), "", Some(BOB));
    refused(Some(ANN), "", Some(0));
    refused(Some(ANN), "root", None);
    let only = Options { writable: true, users: Users::Only(User::find(BOB)) };
    let tree = HostTree::new(&scratch.0, only).unwrap();
    assert_eq!(attach(&tree, None, "root", Some(0)).unwrap().0.user.uid, BOB);
}

/// Any local user wrote as the user who runs `muster export`: he sent his requests in one piece
/// and closed, and who he was could no longer be told.
#[test]
fn a_peer_whose_user_is_unknown_attaches_as_nobody_at_all() {
    let scratch = Scratch::new();
    let tree = HostTree::new(&scratch.0, options(true)).unwrap();
    let own = rustix::process::geteuid().as_raw();
    for n_uname in [None, Some(u32::MAX), Some(own), Some(0), Some(ANN), Some(65534)] {
        for uname in ["", "nobody", "root"] {
            let refusal = attach(&tree, None, uname, n_uname).unwrap_err();
            assert_eq!(refusal.errno, Errno::PERM, "{uname:?} {n_uname:?}");
            assert!(refusal.text.contains("does not tell whose"), "{refusal}");
        }
    }
}

#[test]
fn files_are_created_as_the_user_who_attached() {
    let scratch = Scratch::new();
    let tree = Arc::new(HostTree::new(&scratch.0, options(true)).unwrap());
    let own = rustix::process::geteuid().as_raw();
    if !is_root() {
        let mut client = Client::of(&tree, Some(own), None);
        client.create("file", RDWR, 0o666).unwrap();
        assert_eq!(std::fs::metadata(scratch.join("file")).unwrap().uid(), own);
        return;
    }
    for uid in [ANN, BOB, 0, ANN] {
        // Two known to be themselves, and root who may be anybody.
        let mut client = Client::of(&tree, Some(uid), None);
        let root = client.root.clone();
        let name = format!("file-{uid}");
        let _ = std::fs::remove_file(scratch.join(&name));
        client.create(&name, RDWR, 0o666).unwrap();
        let made = std::fs::metadata(scratch.join(&name)).unwrap();
        assert_eq!(made.uid(), uid);
        assert_eq!(made.mode() & 0o777, 0o666, "the server's umask has no say");
        let name = format!("dir-{uid}");
        let _ = std::fs::remove_dir(scratch.join(&name));
        client.ask(|tree| tree.mkdir(&root, name.as_bytes(), 0o733, u32::MAX)).unwrap();
        let made = std::fs::metadata(scratch.join(&name)).unwrap();
        assert_eq!((made.uid(), made.mode() & 0o777), (uid, 0o733));
    }
    // A group is the user's to choose if it is one of his, or if root speaks for him.
    let make = |mut client: Client, name: &str, gid: u32| {
        let root = client.root.clone();
        let flags = OpenFlags(RDWR);
        client.ask(|tree| tree.create(&root, name.as_bytes(), flags, 0o600, gid)).unwrap();
        let made = std::fs::metadata(scratch.join(name)).unwrap();
        (made.uid(), made.gid())
    };
    assert_eq!(make(Client::of(&tree, Some(ANN), None), "g1", 0), (ANN, 65534));
    assert_eq!(make(Client::of(&tree, Some(0), Some(ANN)), "g2", 61_500), (ANN, 61_500));
    assert_eq!(make(Client::of(&tree, Some(0), Some(ANN)), "g3", u32::MAX), (ANN, 65534));
}

/// Runs a test of this file as a user with another group, for whom the kernel does not do what it
/// does for root. Who a process is it does not find out twice, so it is another process.
fn as_somebody_with_groups(test: &str) {
    // The user might not come to where the program lies.
    let program = std::fs::File::open("/proc/self/exe").unwrap();
    let mut somebody = std::process::Command::new("setpriv");
    somebody.args(["--reuid=61001", "--regid=61001", "--groups=61001,61500", "/proc/self/fd/0"]);
    somebody.args(["--exact", &format!("host::tests::rights::{test}")]);
    let ran = somebody.stdin(program).env("TMPDIR", "/dev/shm").output().expect("setpriv runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains("1 passed"), "{ran:?}");
}

/// Once they got the server's own, with success and without a word.
#[test]
fn files_get_the_group_that_is_asked_for_if_it_is_one_of_a_server_that_is_not_root() {
    if is_root() {
        let test =
            "files_get_the_group_that_is_asked_for_if_it_is_one_of_a_server_that_is_not_root";
        return as_somebody_with_groups(test);
    }
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let own = rustix::process::getegid().as_raw();
    let groups = rustix::process::getgroups().unwrap();
    let Some(other) = groups.iter().map(|gid| gid.as_raw()).find(|gid| *gid != own) else { return };
    let root = client.root.clone();
    let mut make = |from: &HostFid, gid: u32| {
        let (flags, from) = (OpenFlags(RDWR), from.clone());
        client.ask(|tree| tree.create(&from, b"file", flags, 0o640, gid)).unwrap();
        client.ask(|tree| tree.create(&from, b"set", flags, 0o6755, gid)).unwrap();
        client.ask(|tree| tree.mkdir(&from, b"dir", 0o750, gid)).unwrap();
        client.ask(|tree| tree.symlink(&from, b"link", b"file", gid)).unwrap();
        client.ask(|tree| tree.mknod(&from, b"pipe", mode::PIPE | 0o640, (0, 0), gid)).unwrap();
    };
    let check = |at: &Path, gid: u32| {
        let names =
            [("file", 0o640), ("set", 0o6755), ("dir", 0o750), ("link", 0), ("pipe", 0o640)];
        for (name, permissions) in names {
            let made = std::fs::symlink_metadata(at.join(name)).unwrap();
            assert_eq!(made.gid(), gid, "{name}");
            assert!(name == "link" || made.mode() & 0o6777 == permissions, "{name}");
            let removed = if made.is_dir() { std::fs::remove_dir } else { std::fs::remove_file };
            removed(&at.join(name)).unwrap();
        }
    };
    make(&root, other);
    check(&scratch.0, other);
    for no_wish in [own, u32::MAX, 61_777] {
        make(&root, no_wish);
        check(&scratch.0, own);
    }
    // A directory decides for itself, here for the server's own.
    let permissions = std::fs::Permissions::from_mode(0o2777);
    std::fs::set_permissions(&scratch.0, permissions).unwrap();
    let open = OpenFlags(RDWR);
    client.ask(|tree| tree.create(&root, b"inherits", open, 0o640, other)).unwrap();
    assert_eq!(std::fs::metadata(scratch.join("inherits")).unwrap().gid(), own);
}

#[test]
fn another_users_files_are_closed_to_a_user() {
    let scratch = Scratch::new();
    let tree = Arc::new(HostTree::new(&scratch.0, options(true)).unwrap());
    let own = rustix::process::geteuid().as_raw();
    let mut owner = Client::of(&tree, Some(own), is_root().then_some(ANN));
    let file = owner.create("file", RDWR, 0o600).unwrap();
    owner.write(&file, 0, b"secret").unwrap();
    let root = owner.root.clone();
    owner.ask(|tree| tree.mkdir(&root, b"dir", 0o700, u32::MAX)).unwrap();
    let dir = owner.walk("dir").unwrap();
    owner.ask(|tree| tree.mkdir(&dir, b"inner", 0o777, u32::MAX)).unwrap();
    owner.create("setuid", RDWR, 0o4777).unwrap();
    if !is_root() {
        // The only user there is; the kernel still judges.
        let none = SetAttr { valid: SetAttr::MODE, mode: 0, ..SetAttr::default() };
        owner.setattr(&file, &none).unwrap();
        if !has(CapabilitySet::DAC_OVERRIDE) {
            assert_eq!(owner.open("file", 0).unwrap_err(), Errno::ACCESS);
        }
        return;
    }
    let mut other = Client::of(&tree, Some(BOB), None);
    assert_eq!(other.open("file", 0).unwrap_err(), Errno::ACCESS);
    assert_eq!(other.open("file", OpenFlags::WRONLY).unwrap_err(), Errno::ACCESS);
    assert_eq!(other.walk("dir/inner").unwrap_err(), Errno::NOENT, "cut short");
    let dir = other.walk("dir").unwrap();
    assert_eq!(other.walk_from(&dir, "inner").unwrap_err(), Errno::ACCESS);
    assert_eq!(other.ask(|tree| tree.mkdir(&dir, b"x", 0o777, 0)), Err(Errno::ACCESS));
    let file = other.walk("file").unwrap();
    let mode = SetAttr { valid: SetAttr::MODE, mode: 0o666, ..SetAttr::default() };
    assert_eq!(other.setattr(&file, &mode), Err(Errno::PERM));
    let take = SetAttr { valid: SetAttr::UID, uid: BOB, ..SetAttr::default() };
    assert_eq!(other.setattr(&file, &take), Err(Errno::PERM));
    let cut = SetAttr { valid: SetAttr::SIZE, ..SetAttr::default() };
    assert_eq!(other.setattr(&file, &cut), Err(Errno::ACCESS));
    let device =
        other.ask(|tree| tree.mknod(&other_root(tree), b"device", mode::CHAR | 0o666, (1, 5), 0));
    assert_eq!(device, Err(Errno::PERM));
    // A capability on one's own program would make one root.
    let program = other.create("program", RDWR, 0o755).unwrap();
    let value = [1, 0, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for name in [&b"security.capability"[..], b"trusted.muster"] {
        let setter = other
            .ask(|tree| Ok(tree.xattrcreate(&program, name, value.len() as u64, 0)?.fid))
            .unwrap();
        other.write(&setter, 0, &value).unwrap();
        assert_eq!(other.clunk(setter), Err(Errno::PERM));
    }
    // A stranger's write takes the set-user-id bit away, as it does locally.
    let setuid = other.open("setuid", OpenFlags::WRONLY).unwrap();
    assert_eq!(std::fs::metadata(scratch.join("setuid")).unwrap().mode() & 0o4000, 0o4000);
    other.write(&setuid, 0, b"x").unwrap();
    assert_eq!(std::fs::metadata(scratch.join("setuid")).unwrap().mode() & 0o4000, 0);
}

fn other_root(tree: &HostTree) -> HostFid {
    let peer = peer(Some(BOB));
    tree.attach(&Attach { peer: &peer, uname: "", n_uname: None, aname: "" }).unwrap().0
}

#[test]
fn a_thread_takes_on_a_user_lazily_and_the_server_again() {
    let scratch = Scratch::new();
    let tree = HostTree::new(&scratch.0, options(true)).unwrap();
    let before = (status("Uid:"), status("Gid:"), status("Groups:"), status("CapEff:"));
    let own = rustix::process::geteuid().as_raw();
    let fid = attach(&tree, Some(own), "", is_root().then_some(ANN)).unwrap();
    tree.walk(&fid, &[]).unwrap();
    if is_root() {
        let id = |field| status(field).split(' ').nth(3).unwrap().to_owned();
        assert_eq!(id("Uid:"), ANN.to_string());
        assert_eq!(id("Gid:"), "65534");
        assert_eq!(status("Groups:"), "");
        assert_eq!(u64::from_str_radix(&status("CapEff:"), 16), Ok(0));
        // A thread born meanwhile does not take itself for the server.
        let uid = std::thread::spawn(|| {
            act_as_server().unwrap();
            status("Uid:")
        });
        assert_eq!(uid.join().unwrap(), before.0);
    } else {
        assert_eq!(status("Uid:"), before.0);
    }
    act_as_server().unwrap();
    let after = (status("Uid:"), status("Gid:"), status("Groups:"), status("CapEff:"));
    assert_eq!(after, before);
}

#[test]
fn one_thread_serves_users_in_turn_each_with_his_own_groups() {
    let scratch = Scratch::new();
    let own = rustix::process::geteuid().as_raw();
    let tree_of = |groups: &[u32]| {
        let user = User::new(ANN, 61_500, groups.to_vec());
        let options = Options { writable: true, users: Users::Only(user) };
        HostTree::new(&scratch.0, options).unwrap()
    };
    let (tree, in_group) = (HostTree::new(&scratch.0, options(true)).unwrap(), tree_of(&[61_600]));
    if !is_root() {
        // `Only` names who everybody is; a server that cannot change is itself all the same.
        attach(&in_group, Some(own), "", None).unwrap();
        assert_eq!(status("Uid:").split(' ').nth(3), Some(own.to_string().as_str()));
        return;
    }
    // Groups of the thread are not the user's.
    rustix::thread::set_thread_groups(&[rustix::fs::Gid::from_raw(61_600)]).unwrap();
    let (ann, bob) = (attach(&tree, Some(ANN), "", None), attach(&tree, Some(BOB), "", None));
    let users = [(&tree, ann.unwrap()), (&tree, bob.unwrap())];
    let member = attach(&in_group, None, "", None).unwrap();
    std::fs::write(scratch.join("group"), "x").unwrap();
    std::os::unix::fs::chown(scratch.join("group"), Some(0), Some(61_600)).unwrap();
    let mode = std::fs::Permissions::from_mode(0o040);
    std::fs::set_permissions(scratch.join("group"), mode).unwrap();
    let open = |tree: &HostTree, root: &HostFid| {
        let place = tree.walk(root, &[b"group"]).unwrap().fid.unwrap();
        tree.open(&place, OpenFlags(0)).map(|_| ()).map_err(|error| error.errno)
    };
    // No harness in between: the identity stays from one request to the next.
    for round in 0..3 {
        for (number, (tree, root)) in users.iter().enumerate() {
            let name = format!("{number}-{round}");
            tree.create(root, name.as_bytes(), OpenFlags(RDWR), 0o600, 0).unwrap();
            assert_eq!(open(tree, root), Err(Errno::ACCESS));
        }
        assert_eq!(open(&in_group, &member), Ok(()));
    }
    act_as_server().unwrap();
    for round in 0..3 {
        for (number, uid) in [ANN, BOB].into_iter().enumerate() {
            let made = std::fs::metadata(scratch.join(&format!("{number}-{round}"))).unwrap();
            assert_eq!(made.uid(), uid);
        }
    }
}

#[test]
fn a_tree_for_reading_refuses_every_change() {
    let scratch = Scratch::new();
    std::fs::write(scratch.join("file"), "content").unwrap();
    std::fs::create_dir(scratch.join("dir")).unwrap();
    let own = rustix::process::geteuid().as_raw();
    let tree = Arc::new(HostTree::new(&scratch.0, Options::default()).unwrap());
    let mut client = Client::of(&tree, Some(own), None);
    let (root, file) = (client.root.clone(), client.walk("file").unwrap());
    let open = client.open("file", 0).unwrap();
    assert_eq!(client.read(&open, 0, 100).unwrap(), b"content");
    let attr = SetAttr { valid: SetAttr::MODE, mode: 0o777, ..SetAttr::default() };
    let flags = OpenFlags(0);
    for refused in [
        client.open("file", OpenFlags::WRONLY).map(|_| ()),
        client.open("file", OpenFlags::RDWR).map(|_| ()),
        client.open("file", OpenFlags::TRUNC).map(|_| ()),
        client.write(&open, 0, b"x").map(|_| ()),
        client.ask(|tree| tree.create(&root, b"new", flags, 0o777, 0)).map(|_| ()),
        client.ask(|tree| tree.mkdir(&root, b"new", 0o777, 0)).map(|_| ()),
        client.ask(|tree| tree.symlink(&root, b"new", b"x", 0)).map(|_| ()),
        client.ask(|tree| tree.mknod(&root, b"new", mode::PIPE, (0, 0), 0)).map(|_| ()),
        client.ask(|tree| tree.link(&root, &file, b"new")),
        client.ask(|tree| tree.unlinkat(&root, b"file", false)),
        client.ask(|tree| tree.unlinkat(&root, b"dir", true)),
        client.ask(|tree| tree.remove(&file)),
        client.ask(|tree| tree.rename(&file, None, b"new", true)),
        client.ask(|tree| tree.renameat((&root, b"file"), (&root, b"new"))),
        client.ask(|tree| tree.setattr(&file, &attr)),
        client.ask(|tree| tree.xattrcreate(&file, b"user.x", 0, 2)).map(|_| ()),
    ] {
        assert_eq!(refused, Err(Errno::ROFS));
    }
    let mut names: Vec<_> =
        std::fs::read_dir(&scratch.0).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["dir", "file"]);
}

#[test]
fn attributes_are_set_exactly() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let file = client.create("file", RDWR, 0o600).unwrap();
    let place = client.walk("file").unwrap();
    let all = SetAttr::MODE | SetAttr::SIZE | SetAttr::ATIME | SetAttr::MTIME;
    let (atime, mtime) = (Time { sec: 12, nsec: 345_678_901 }, Time { sec: 99, nsec: 1 });
    let set = SetAttr {
        valid: all | SetAttr::ATIME_SET | SetAttr::MTIME_SET,
        mode: 0o751,
        size: 12_345,
        atime,
        mtime,
        ..SetAttr::default()
    };
    client.setattr(&place, &set).unwrap();
    let attr = client.attr(&file);
    assert_eq!((attr.mode, attr.size), (mode::FILE | 0o751, 12_345));
    assert_eq!((attr.atime, attr.mtime), (atime, mtime));
    let set = SetAttr { valid: SetAttr::MODE, mode: 0o5751, ..SetAttr::default() };
    client.setattr(&place, &set).unwrap();
    assert_eq!(client.attr(&file).mode, mode::FILE | 0o5751);
    // One time alone, and now.
    let set = SetAttr { valid: SetAttr::MTIME, ..SetAttr::default() };
    client.setattr(&place, &set).unwrap();
    let attr = client.attr(&file);
    assert_eq!(attr.atime, atime);
    assert!(attr.mtime.sec > 1_000_000_000);
    // Before 1970, and the kernel's magic numbers.
    let early = Time { sec: -5i64 as u64, nsec: 7 };
    let valid = SetAttr::ATIME | SetAttr::ATIME_SET;
    let set = SetAttr { valid, atime: early, ..SetAttr::default() };
    client.setattr(&place, &set).unwrap();
    assert_eq!(client.attr(&file).atime, early);
    let omit = Time { sec: 0, nsec: rustix::fs::UTIME_OMIT as u64 };
    let set = SetAttr { valid, atime: omit, ..SetAttr::default() };
    assert_eq!(client.setattr(&place, &set), Err(Errno::INVAL));
    // chown to nobody in particular changes the time of change.
    let before = client.attr(&file).ctime;
    let touch = SetAttr { valid: SetAttr::CTIME, ..SetAttr::default() };
    client.setattr(&place, &touch).unwrap();
    assert_ne!(client.attr(&file).ctime, before);
    let root = client.root.clone();
    client.ask(|tree| tree.symlink(&root, b"link", b"file", 0)).unwrap();
    let link = client.walk("link").unwrap();
    if has(CapabilitySet::CHOWN) {
        let (uid, gid) = (ANN, BOB);
        let give = SetAttr { valid: SetAttr::UID | SetAttr::GID, uid, gid, ..SetAttr::default() };
        client.setattr(&link, &give).unwrap();
        let attr = client.attr(&link);
        assert_eq!((attr.uid, attr.gid), (ANN, BOB));
        assert_eq!(client.attr(&file).uid, 0, "the link was given away, not its target");
    }
    let chmod = SetAttr { valid: SetAttr::MODE, mode: 0, ..SetAttr::default() };
    assert_eq!(client.setattr(&link, &chmod), Err(Errno::OPNOTSUPP));
    let directory = SetAttr { valid: SetAttr::SIZE, ..SetAttr::default() };
    assert_eq!(client.setattr(&root, &directory), Err(Errno::ISDIR));
}

#[test]
fn a_root_peer_speaks_for_its_processes_groups() {
    if !is_root() {
        // Nobody speaks for another here: see `an_attach_gets_the_user_it_is_entitled_to`.
        return;
    }
    let scratch = Scratch::new();
    let tree = Arc::new(HostTree::new(&scratch.0, options(true)).unwrap());
    let give = SetAttr { valid: SetAttr::GID, gid: 61_500, ..SetAttr::default() };
    let mut alone = Client::of(&tree, Some(ANN), None);
    let file = alone.create("file", RDWR, 0o600).unwrap();
    assert_eq!(alone.setattr(&file, &give), Err(Errno::PERM));
    let mut spoken_for = Client::of(&tree, Some(0), Some(ANN));
    spoken_for.setattr(&file, &give).unwrap_err();
    let file = spoken_for.walk("file").unwrap();
    spoken_for.setattr(&file, &give).unwrap();
    let mode = SetAttr { valid: SetAttr::MODE, mode: 0o2755, ..SetAttr::default() };
    spoken_for.setattr(&file, &mode).unwrap();
    let made = std::fs::metadata(scratch.join("file")).unwrap();
    assert_eq!((made.gid(), made.permissions().mode() & 0o7777), (61_500, 0o2755));
    let take = SetAttr { valid: SetAttr::UID, uid: BOB, ..SetAttr::default() };
    assert_eq!(spoken_for.setattr(&file, &take), Err(Errno::PERM), "but not for another user");
}

/// Once a user was a number until the server was started again, because the database of users had
/// been away when he was first seen.
#[test]
fn a_name_that_was_not_found_is_looked_up_again_after_a_while() {
    let known = RwLock::default();
    let (start, second) = (Instant::now(), Duration::from_secs(1));
    let never = |_| panic!("the name is known");
    assert_eq!(name_of(&known, start, ANN, |_| None), "61001");
    assert_eq!(name_of(&known, start + second, ANN, never), "61001", "not each time");
    let later = start + NAME_MISSING;
    assert_eq!(name_of(&known, later, ANN, |_| None), "61001");
    assert_eq!(name_of(&known, later + NAME_MISSING, ANN, |_| Some("ann".into())), "ann");
    assert_eq!(name_of(&known, later + 9 * NAME_MISSING, ANN, never), "ann");
}
