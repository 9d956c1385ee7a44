//! Listing directories, and moving and removing names.

use super::*;
use crate::record::mode;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;

#[test]
fn a_large_directory_is_listed_without_loss_or_repetition() {
    let scratch = Scratch::new();
    for number in 0..2000 {
        std::fs::write(scratch.join(&format!("entry-{number:04}")), "").unwrap();
    }
    std::fs::create_dir(scratch.join("dir")).unwrap();
    let mut client = Client::new(&scratch.0);
    let (open, second) = (client.open("/", 0).unwrap(), client.open("/", 0).unwrap());
    let (mut seen, mut cookie, mut round) = (HashMap::new(), 0, 0);
    let mut middle = None;
    loop {
        round += 1;
        let count = 60 + round * 7 % 300;
        let entries = client.ask(|tree| tree.readdir(&open, cookie, count, false)).unwrap();
        let Some(last) = entries.last() else { break };
        assert!(entries.iter().map(DirEntry::size).sum::<usize>() <= count);
        let Form::Directory(stream) = &open.0.form else { panic!("{open:?}") };
        assert!(stream.lock().unwrap().kept() < 9, "a fid is no store of names");
        cookie = last.next;
        if round == 50 {
            middle = Some((cookie, seen.len() + entries.len()));
        }
        if round % 100 == 0 {
            // Another fid, and another place with the same one, are nothing to this reader.
            client.ask(|tree| tree.readdir(&second, 0, 100, false)).unwrap();
            client.ask(|tree| tree.readdir(&open, 0, 100, false)).unwrap();
        }
        for entry in entries {
            let twice = seen.insert(entry.name.clone(), entry);
            assert!(twice.is_none(), "{twice:?}");
        }
    }
    assert_eq!(seen.len(), 2000 + 1 + 2);
    let kind = |kind: u32| (kind >> 12) as u8;
    assert_eq!(seen[&b"dir"[..]].kind, kind(mode::DIR));
    assert!(seen[&b"dir"[..]].qid.is_dir());
    assert_eq!(seen[&b"entry-0007"[..]].kind, kind(mode::FILE));
    let inode = std::fs::metadata(scratch.join("entry-0007")).unwrap().ino();
    assert_eq!(seen[&b"entry-0007"[..]].qid.path, inode);
    assert!(seen[&b"entry-0007"[..]].attr.is_none());
    // The same cookie gives the same entries, however often.
    let (again, _) = middle.unwrap();
    let mut from = |fid: &HostFid| {
        let entries = client.ask(|tree| tree.readdir(fid, again, 200, false)).unwrap();
        entries.into_iter().map(|entry| entry.name).collect::<Vec<_>>()
    };
    assert_eq!(from(&open), from(&open));
    assert_eq!(from(&open), from(&second));
    // From a cookie on, with any fid, comes the rest.
    let (mut cookie, had) = middle.unwrap();
    let mut rest = 0;
    loop {
        let entries = client.ask(|tree| tree.readdir(&second, cookie, 5000, false)).unwrap();
        let Some(last) = entries.last() else { break };
        (cookie, rest) = (last.next, rest + entries.len());
    }
    assert_eq!(had + rest, 2003);
    assert_eq!(client.ask(|tree| tree.readdir(&open, 0, 20, false)).unwrap_err(), Errno::INVAL);
}

#[test]
fn a_listing_has_attributes_if_asked_and_is_new_from_the_start() {
    let scratch = Scratch::new();
    std::fs::write(scratch.join("a"), "four").unwrap();
    std::os::unix::fs::symlink("/etc", scratch.join("link")).unwrap();
    let mut client = Client::new(&scratch.0);
    let open = client.open("/", OpenFlags::DIRECTORY).unwrap();
    let list = |client: &mut Client| -> HashMap<Vec<u8>, DirEntry> {
        let entries = client.ask(|tree| tree.readdir(&open, 0, 8192, true)).unwrap();
        entries.into_iter().map(|entry| (entry.name.clone(), entry)).collect()
    };
    let before = list(&mut client);
    let attr = before[&b"a"[..]].attr.unwrap();
    assert_eq!((attr.size, attr.qid), (4, before[&b"a"[..]].qid));
    let link = before[&b"link"[..]].attr.unwrap();
    assert_eq!(link.mode & mode::KIND, mode::LINK, "the link, not what it leads to");
    std::fs::write(scratch.join("b"), "").unwrap();
    std::fs::remove_file(scratch.join("a")).unwrap();
    let after = list(&mut client);
    assert!(after.contains_key(&b"b"[..]) && !after.contains_key(&b"a"[..]));
    let file = client.open("b", 0).unwrap();
    assert_eq!(client.ask(|tree| tree.readdir(&file, 0, 99, false)).unwrap_err(), Errno::NOTDIR);
}

#[test]
fn a_fid_is_removed_and_renamed_where_its_file_is_now() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.join("a/b")).unwrap();
    std::fs::create_dir(scratch.join("c")).unwrap();
    std::fs::write(scratch.join("a/b/file"), "mine").unwrap();
    let mut client = Client::new(&scratch.0);
    let (fid, c) = (client.walk("a/b/file").unwrap(), client.walk("c").unwrap());
    // Moved, and its directory as well, and its old name taken by another file.
    std::fs::rename(scratch.join("a/b/file"), scratch.join("a/b/moved")).unwrap();
    std::fs::rename(scratch.join("a"), scratch.join("z")).unwrap();
    std::fs::create_dir_all(scratch.join("a/b")).unwrap();
    std::fs::write(scratch.join("a/b/file"), "another's").unwrap();
    client.ask(|tree| tree.rename(&fid, None, b"again", true)).unwrap();
    assert_eq!(std::fs::read(scratch.join("z/b/again")).unwrap(), b"mine");
    client.ask(|tree| tree.rename(&fid, Some(&c), b"there", true)).unwrap();
    assert_eq!(std::fs::read(scratch.join("c/there")).unwrap(), b"mine");
    client.ask(|tree| tree.remove(&fid)).unwrap();
    assert!(!scratch.join("c/there").exists());
    assert_eq!(std::fs::read(scratch.join("a/b/file")).unwrap(), b"another's");
    assert_eq!(client.ask(|tree| tree.remove(&fid)), Err(Errno::NOENT));
    // The kernel calls a removed file `name (deleted)`; a file may really be called so.
    let fid = client.walk("a/b/file").unwrap();
    std::fs::remove_file(scratch.join("a/b/file")).unwrap();
    std::fs::write(scratch.join("a/b/file (deleted)"), "innocent").unwrap();
    assert_eq!(client.ask(|tree| tree.remove(&fid)), Err(Errno::STALE));
    let fid = client.walk("a/b/file (deleted)").unwrap();
    client.ask(|tree| tree.remove(&fid)).unwrap();
    let dir = client.walk("a/b").unwrap();
    client.ask(|tree| tree.remove(&dir)).unwrap();
    assert!(!scratch.join("a/b").exists());
    let full = client.walk("z").unwrap();
    assert_eq!(client.ask(|tree| tree.remove(&full)), Err(Errno::NOTEMPTY));
    let root = client.root.clone();
    assert_eq!(client.ask(|tree| tree.remove(&root)), Err(Errno::BUSY));
    assert_eq!(client.ask(|tree| tree.rename(&root, None, b"x", true)), Err(Errno::BUSY));
}

#[test]
fn names_are_made_moved_and_removed_as_the_kernel_does() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let root = client.root.clone();
    let dir = client.ask(|tree| tree.mkdir(&root, b"dir", 0o751, 0)).unwrap();
    assert!(dir.is_dir());
    assert_eq!(client.ask(|tree| tree.mkdir(&root, b"dir", 0, 0)), Err(Errno::EXIST));
    let dir = client.walk("dir").unwrap();
    assert_eq!(client.attr(&dir).mode, mode::DIR | 0o751);
    // Names are bytes.
    let odd = b"\xff\xfe new\nline";
    client.ask(|tree| tree.create(&dir, odd, OpenFlags(RDWR), 0o600, 0)).unwrap();
    assert!(scratch.join("dir").join(os(odd)).exists());
    let file = client.ask(|tree| tree.walk(&dir, &[odd])).unwrap().fid.unwrap();
    client.ask(|tree| tree.link(&root, &file, b"hard")).unwrap();
    assert_eq!(client.attr(&file).nlink, 2);
    assert_eq!(client.ask(|tree| tree.link(&root, &file, b"hard")), Err(Errno::EXIST));
    assert_eq!(client.ask(|tree| tree.link(&root, &dir, b"nodirs")), Err(Errno::PERM));
    let target = b"../../anything \xff";
    let qid = client.ask(|tree| tree.symlink(&root, b"soft", target, 0)).unwrap();
    assert_eq!(qid.kind, Qid::SYMLINK);
    let soft = client.walk("soft").unwrap();
    assert_eq!(client.ask(|tree| tree.readlink(&soft)), Ok(target.to_vec()));
    assert_eq!(client.ask(|tree| tree.readlink(&dir)), Err(Errno::INVAL));
    client.ask(|tree| tree.link(&root, &soft, b"soft2")).unwrap();
    assert!(scratch.join("soft2").is_symlink(), "the link itself has two names");
    client.ask(|tree| tree.renameat((&root, b"hard"), (&dir, b"moved"))).unwrap();
    assert!(scratch.join("dir/moved").exists());
    client.ask(|tree| tree.renameat((&dir, b"moved"), (&root, b"soft"))).unwrap();
    assert!(scratch.join("soft").is_file(), "replaced");
    let inward = client.ask(|tree| tree.renameat((&root, b"dir"), (&dir, b"in")));
    assert_eq!(inward, Err(Errno::INVAL));
    assert_eq!(client.ask(|tree| tree.unlinkat(&root, b"dir", false)), Err(Errno::ISDIR));
    assert_eq!(client.ask(|tree| tree.unlinkat(&root, b"soft", true)), Err(Errno::NOTDIR));
    assert_eq!(client.ask(|tree| tree.unlinkat(&root, b"dir", true)), Err(Errno::NOTEMPTY));
    client.ask(|tree| tree.unlinkat(&dir, odd, false)).unwrap();
    client.ask(|tree| tree.unlinkat(&root, b"dir", true)).unwrap();
    let statfs = client.ask(|tree| tree.statfs(&root)).unwrap();
    assert!(statfs.blocks > 0 && statfs.namelen == 255);
}

#[test]
fn paths_longer_than_the_kernels_limit_are_no_limit() {
    let scratch = Scratch::new();
    let mut client = Client::new(&scratch.0);
    let name = [b'd'; 250];
    let mut at = client.root.clone();
    for _ in 0..20 {
        client.ask(|tree| tree.mkdir(&at, &name, 0o755, 0)).unwrap();
        at = client.ask(|tree| tree.walk(&at, &[&name])).unwrap().fid.unwrap();
    }
    let flags = OpenFlags(RDWR);
    let file = client.ask(|tree| tree.create(&at, b"file", flags, 0o600, 0)).unwrap().fid;
    assert_eq!(client.write(&file, 0, b"deep"), Ok(4));
    let mode = SetAttr { valid: SetAttr::MODE, mode: 0o644, ..SetAttr::default() };
    client.setattr(&file, &mode).unwrap();
    client.ask(|tree| tree.renameat((&at, b"file"), (&at, b"renamed"))).unwrap();
    // Where a file is can be asked of the kernel only up to its limit.
    assert_eq!(client.walk_from(&at, "..").unwrap_err(), Errno::NAMETOOLONG);
    client.ask(|tree| tree.unlinkat(&at, b"renamed", false)).unwrap();
}

#[test]
fn an_attach_may_name_a_directory_below() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.join("root/a/b")).unwrap();
    std::os::unix::fs::symlink("/", scratch.join("root/out")).unwrap();
    let tree = HostTree::new(&scratch.join("root"), Options::default()).unwrap();
    let peer = peer(Some(rustix::process::geteuid().as_raw()));
    let attach = |aname| {
        let result = tree.attach(&Attach { peer: &peer, uname: "", n_uname: None, aname });
        act_as_server().unwrap();
        result.map(|(fid, _)| fid.0.file.inode).map_err(|error| error.errno)
    };
    let inode = |path: &str| std::fs::metadata(scratch.join(path)).unwrap().ino();
    assert_eq!(attach("/"), Ok(inode("root")));
    assert_eq!(attach("a/b"), Ok(inode("root/a/b")));
    assert_eq!(attach("/a/../../.."), Ok(inode("root")));
    assert_eq!(attach("absent"), Err(Errno::NOENT));
    assert_eq!(attach("out/etc"), Err(Errno::NOTDIR));
    assert!(HostTree::new(&scratch.join("absent"), Options::default()).is_err());
}

#[test]
fn a_copy_of_a_file_that_is_open_is_a_place_that_is_not() {
    let scratch = Scratch::new();
    std::fs::write(scratch.join("file"), "content").unwrap();
    std::fs::create_dir(scratch.join("dir")).unwrap();
    let mut client = Client::new(&scratch.0);
    let open = client.open("file", OpenFlags::WRONLY).unwrap();
    let copy = client.ask(|tree| tree.walk(&open, &[])).unwrap().fid.unwrap();
    assert_eq!(client.attr(&copy).qid, client.attr(&open).qid);
    assert!(client.read(&copy, 0, 7).is_err(), "it is not open");
    client.ask(|tree| tree.rename(&copy, None, b"new", true)).unwrap();
    let copy = client.ask(|tree| tree.open(&copy, OpenFlags(0))).unwrap().fid;
    assert_eq!(client.read(&copy, 0, 7).unwrap(), b"content");
    assert!(scratch.join("new").exists());
    let open = client.open("dir", OpenFlags::DIRECTORY).unwrap();
    let copy = client.ask(|tree| tree.walk(&open, &[])).unwrap().fid.unwrap();
    assert_eq!(client.walk_from(&copy, "../new").map(|fid| client.attr(&fid).size), Ok(7));
}
