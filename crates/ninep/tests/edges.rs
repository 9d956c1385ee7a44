//! Every edge of the protocol, as a peer sees it: one test for each promise.

mod peer;
mod ram;
mod slow;

use muster_base::limits::{FIDS_MAX, IO_HEADER, MSIZE_FIRST, MSIZE_MAX, MSIZE_MIN, NAME_MAX};
use muster_ninep::call::{Opened, Walked};
use muster_ninep::error::{Errno, Error};
use muster_ninep::message::{
    BadStream, DataSync, NOFID, NONUNAME, NOTAG, Qids, Rmessage, Tmessage, UserNumber,
};
use muster_ninep::record::{DirEntry, LockRange, Qid, SetAttr, mode};
use muster_ninep::version::{Dialect, Version};
use muster_ninep::wire::{Names, Reader};
use peer::{MSIZE, Peer, TAG, attach, odd, read, walk, write};
use ram::Ram;
use slow::Slow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const ALL: [Version; 4] = [Version::PLAN9, Version::UNIX, Version::LINUX, Version::MUSTER];

/// A tree with `file` ("content"), and the directory `dir` with `inner`.
fn furnished() -> Arc<Ram> {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    for (fid, dir, name) in [(1, &[][..], "file"), (2, &["dir"], "inner")] {
        if !dir.is_empty() {
            let mkdir = Tmessage::Mkdir { dir: 0, name: b"dir", mode: 0o750, gid: NONUNAME };
            peer.ask(mkdir).ok();
        }
        peer.walk(fid, dir).ok();
        let name = name.as_bytes();
        peer.ask(Tmessage::Lcreate { fid, name, flags: 2, mode: 0o640, gid: NONUNAME }).ok();
        peer.ask(write(fid, 0, b"content")).ok();
    }
    drop(peer);
    assert_eq!(tree.fids.load(Ordering::Relaxed), 0);
    tree
}

/// `Tversion`, and its answer's message size and version.
fn negotiate(peer: &mut Peer<Ram>, msize: u32, version: &str) -> Option<(u32, String)> {
    peer.send(NOTAG, &Tmessage::Version { msize, version });
    let replies = peer.replies();
    let [reply] = &replies[..] else { panic!("not one answer: {replies:?}") };
    assert_eq!(reply.tag, NOTAG);
    match reply.message() {
        Rmessage::Version { msize, version } => Some((msize, version.to_owned())),
        _ => None,
    }
}

#[test]
fn nothing_is_answered_before_a_version_is_agreed_on() {
    let tree = Ram::new();
    let mut peer = Peer::silent(&tree);
    let before = "Tversion must come first";
    assert_eq!(peer.ask(attach(0)).text(), before);
    assert_eq!(peer.ask(Tmessage::Flush { oldtag: 3 }).text(), before);
    let refused = negotiate(&mut peer, MSIZE, "8P");
    assert_eq!(refused, Some((MSIZE, "unknown".into())));
    assert_eq!(peer.ask(attach(0)).text(), before);
    peer.agree(Version::PLAN9);
    peer.ask(attach(0)).ok();
    assert_eq!(negotiate(&mut peer, MSIZE, "unknown"), Some((MSIZE, "unknown".into())));
    assert_eq!(peer.ask(Tmessage::Clunk { fid: 0 }).text(), before);
}

#[test]
fn the_message_size_is_the_smaller_of_both_sides() {
    let tree = Ram::new();
    let most = MSIZE_MAX as u32;
    for (asked, agreed) in [
        (MSIZE_MIN as u32, MSIZE_MIN as u32),
        (MSIZE, MSIZE),
        (most, most),
        (most + 1, most),
        (u32::MAX, most),
    ] {
        let mut peer = Peer::silent(&tree);
        let answer = negotiate(&mut peer, asked, "9P2000.L");
        assert_eq!(answer, Some((agreed, "9P2000.L".into())));
        assert_eq!(peer.session.msize(), agreed as usize);
    }
    for small in [0, 24, MSIZE_MIN as u32 - 1] {
        let mut peer = Peer::attached(&tree, Version::PLAN9);
        assert_eq!(negotiate(&mut peer, small, "9P2000"), None, "refused");
        assert_eq!(peer.ask(read(0, 0, 1)).text(), "Tversion must come first");
    }
}

#[test]
fn an_extended_version_is_answered_with_what_it_extends() {
    let tree = Ram::new();
    let mut peer = Peer::silent(&tree);
    for (asked, agreed) in [
        ("9P2000.L.anything", "9P2000.L"),
        ("9P2000.L.Google.7", "9P2000.L"),
        ("9P2000.L.muster", "9P2000.L.muster"),
        ("9P2000.u.x", "9P2000.u"),
        ("9P2000.y", "9P2000"),
        ("9P1999", "unknown"),
        ("", "unknown"),
    ] {
        assert_eq!(negotiate(&mut peer, MSIZE, asked), Some((MSIZE, agreed.into())), "{asked}");
    }
}

/// Once each dot of the proposal took a stack frame, and the server's thread overflowed.
#[test]
fn a_version_of_nothing_but_dots_is_unknown() {
    let tree = Ram::new();
    let mut peer = Peer::silent(&tree);
    let dots = ".".repeat(MSIZE_FIRST - 13);
    assert_eq!(negotiate(&mut peer, MSIZE, &dots), Some((MSIZE, "unknown".into())));
    assert!(negotiate(&mut peer, MSIZE_MAX as u32, "9P2000").is_some());
    let dots = ".".repeat(65_535);
    assert_eq!(negotiate(&mut peer, MSIZE, &dots), Some((MSIZE, "unknown".into())));
}

#[test]
fn a_second_version_clunks_all_fids_and_aborts_what_waits() {
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::PLAN9);
    peer.walk(1, &["pipe"]).ok();
    peer.open(1).ok();
    for tag in 10..20 {
        peer.send(tag, &read(1, 0, 8));
    }
    assert_eq!(peer.replies(), []);
    peer.agree(Version::LINUX);
    assert_eq!(tree.fids.load(Ordering::Relaxed), 0, "all fids are clunked");
    assert_eq!(peer.ask(Tmessage::Getattr { fid: 0, mask: 0 }).refused(), Errno::BADF);
    // The pipe's data is for the next reader, not for those that are gone.
    peer.ask(attach(0)).ok();
    peer.walk(1, &["pipe"]).ok();
    peer.open(1).ok();
    peer.ask(write(1, 0, b"later")).ok();
    assert_eq!(peer.ask(read(1, 0, 8)).data(), b"later");
}

#[test]
fn fids_are_checked() {
    for version in ALL {
        let tree = furnished();
        let mut peer = Peer::attached(&tree, version);
        let plan9 = version == Version::PLAN9;
        let refused = |reply: peer::Reply, errno: Errno| match plan9 {
            true => assert!(!reply.text().is_empty()),
            false => assert_eq!(reply.refused(), errno),
        };
        refused(peer.ask(attach(0)), Errno::INVAL);
        refused(peer.ask(attach(NOFID)), Errno::INVAL);
        refused(peer.ask(walk(9, 1, &[])), Errno::BADF);
        refused(peer.walk(NOFID, &[]), Errno::INVAL);
        peer.walk(1, &["file"]).ok();
        refused(peer.walk(1, &["dir"]), Errno::INVAL);
        refused(peer.ask(read(9, 0, 1)), Errno::BADF);
        refused(peer.ask(read(1, 0, 1)), Errno::BADF);
        refused(peer.ask(write(1, 0, b"x")), Errno::BADF);
        refused(peer.ask(Tmessage::Clunk { fid: 9 }), Errno::BADF);
        refused(peer.ask(Tmessage::Remove { fid: 9 }), Errno::BADF);
        peer.open(1).ok();
        refused(peer.open(1), Errno::BUSY);
        refused(peer.ask(walk(1, 1, &[])), Errno::BUSY);
        refused(peer.ask(walk(1, 2, &["x"])), Errno::BUSY);
        // A copy is not open, and may become so.
        peer.ask(walk(1, 2, &[])).ok();
        refused(peer.ask(read(2, 0, 1)), Errno::BADF);
        peer.open(2).ok();
        peer.ask(Tmessage::Clunk { fid: 1 }).ok();
        peer.ask(read(2, 0, 1)).ok();
        peer.ask(Tmessage::Clunk { fid: 2 }).ok();
        refused(peer.ask(Tmessage::Clunk { fid: 1 }), Errno::BADF);
        refused(peer.open(0), Errno::ISDIR);
        assert_eq!(tree.fids.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn authentication_is_refused_and_no_afid_is_taken() {
    let tree = Ram::new();
    let mut peer = Peer::speaking(&tree, Version::LINUX);
    let n_uname = UserNumber(NONUNAME);
    let auth = Tmessage::Auth { afid: 1, uname: "", aname: "", n_uname };
    assert_eq!(peer.ask(auth).refused(), Errno::NOENT);
    let attach = Tmessage::Attach { fid: 0, afid: 1, uname: "", aname: "", n_uname };
    assert_eq!(peer.ask(attach).refused(), Errno::BADF);
}

#[test]
fn a_connection_holds_a_limited_number_of_fids() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    for fid in 1..FIDS_MAX as u32 {
        peer.walk(fid, &[]).ok();
    }
    assert_eq!(peer.walk(FIDS_MAX as u32, &[]).refused(), Errno::MFILE);
    peer.ask(Tmessage::Clunk { fid: 5 }).ok();
    peer.walk(FIDS_MAX as u32, &[]).ok();
}

/// Once the paths of deep fids were kept without a limit, a list of names for each.
#[test]
fn the_paths_of_fids_are_limited() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::PLAN9);
    let name = "n".repeat(NAME_MAX);
    let mut depth = 0;
    let refused = loop {
        let name = name.as_bytes();
        let extension = muster_ninep::message::Extension(b"");
        peer.walk(1, &[]).ok();
        let perm = 0x8000_01ff;
        let reply = peer.ask(Tmessage::Create { fid: 0, name, perm, mode: 0, extension });
        if !reply.is_ok() {
            break reply;
        }
        // Fid 0 is the new directory, and open; take its place unopened.
        peer.ask(Tmessage::Clunk { fid: 0 }).ok();
        peer.ask(walk(1, 0, &[std::str::from_utf8(name).expect("n")])).ok();
        peer.ask(Tmessage::Clunk { fid: 1 }).ok();
        depth += 1;
    };
    assert_eq!((depth, refused.text().as_str()), (16, "a path is longer than 4096 bytes"));
    let kept = (2..FIDS_MAX as u32).take_while(|fid| peer.walk(*fid, &[]).is_ok()).count();
    assert!((4000..4200).contains(&kept), "{kept} fids of 4095 bytes each");
    peer.ask(Tmessage::Clunk { fid: 2 }).ok();
    peer.walk(2, &[]).ok();
}

#[test]
fn a_partial_walk_leaves_newfid_unmade() {
    for version in ALL {
        let tree = furnished();
        let mut peer = Peer::attached(&tree, version);
        let partial = peer.walk(1, &["dir", "nothing", "inner"]);
        let Rmessage::Walk { qids: Qids(qids) } = partial.message() else { panic!("{partial:?}") };
        assert_eq!(qids.len(), 1);
        assert!(!peer.ask(walk(1, 2, &[])).is_ok(), "fid 1 was not made");
        assert!(!peer.walk(1, &["nothing", "dir"]).is_ok(), "the first name's failure is an error");
        // A fid that walks itself stays where it is when it does not arrive.
        peer.walk(1, &["dir"]).ok();
        peer.ask(walk(1, 1, &["inner", "more"]));
        peer.ask(walk(1, 1, &["inner"])).ok();
        assert!(!peer.ask(walk(1, 2, &["x"])).is_ok(), "a file is no directory");
        assert_eq!(tree.fids.load(Ordering::Relaxed), 2);
    }
}

#[test]
fn a_walk_stops_at_the_root() {
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::UNIX);
    let up = peer.walk(1, &["dir", "..", "..", "..", "dir", "inner"]);
    let Rmessage::Walk { qids: Qids(qids) } = up.message() else { panic!("{up:?}") };
    assert_eq!(qids.len(), 6);
    assert_eq!(qids[1], qids[3], "the root's parent is the root");
    assert_eq!(peer.name_of(1), "inner");
    peer.walk(2, &["dir", "..", ".."]).ok();
    assert_eq!(peer.name_of(2), "/");
}

#[test]
fn names_that_are_none_are_refused_everywhere() {
    let long = "n".repeat(NAME_MAX + 1);
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    peer.walk(1, &["file"]).ok();
    let bad = ["", ".", "..", "a/b", "/", "a\0b", "\0", long.as_str()];
    for bad in bad {
        let name = bad.as_bytes();
        let (dir, gid, fid) = (0, 0, 1);
        let mut requests = vec![
            Tmessage::Mkdir { dir, name, mode: 0, gid },
            Tmessage::Lcreate { fid: 0, name, flags: 2, mode: 0, gid },
            Tmessage::Symlink { dir, name, target: b"t", gid },
            Tmessage::Mknod { dir, name, mode: mode::PIPE, major: 0, minor: 0, gid },
            Tmessage::Link { dir, fid, name },
            Tmessage::Rename { fid, dir, name },
            Tmessage::Renameat { from: 0, name, to: 0, new_name: b"x" },
            Tmessage::Renameat { from: 0, name: b"file", to: 0, new_name: name },
            Tmessage::Unlinkat { dir, name, flags: 0 },
        ];
        if bad != ".." {
            requests.push(walk(0, 2, &[bad]));
            requests.push(walk(0, 2, &["dir", bad]));
        }
        for request in requests {
            let errno = if bad == long { Errno::NAMETOOLONG } else { Errno::INVAL };
            assert_eq!(peer.ask(request.clone()).refused(), errno, "{request:?}");
        }
    }
    let fits = "n".repeat(NAME_MAX);
    peer.ask(Tmessage::Mkdir { dir: 0, name: fits.as_bytes(), mode: 0, gid: 0 }).ok();
    // Names need not be UTF-8.
    peer.ask(Tmessage::Mkdir { dir: 0, name: b"\xff\xfe", mode: 0, gid: 0 }).ok();
    let names = Names::new(&[b"\xff\xfe"]).expect("one");
    peer.ask(Tmessage::Walk { fid: 0, newfid: 3, names }).ok();
}

#[test]
fn a_walk_has_at_most_sixteen_names() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    peer.walk(1, &[".."; 16]).ok();
    let mut body = [0u32, 2].map(u32::to_le_bytes).concat();
    body.extend_from_slice(&17u16.to_le_bytes());
    body.extend(b"\x02\0..".repeat(17));
    peer.send_odd(110, TAG, &body);
    assert_eq!(peer.answer().refused(), Errno::BADMSG);
}

#[test]
fn what_is_no_request_is_refused() {
    for version in ALL {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        let known: &[u8] = match version.dialect {
            Dialect::Linux => &[8, 12, 14, 16, 18, 20, 22, 24, 26, 30, 32, 40, 50, 52, 54, 70, 72],
            _ => &[112, 114, 124, 126],
        };
        let everywhere = [100, 102, 104, 108, 110, 116, 118, 120, 122];
        for number in 0..=255 {
            let linux = version.dialect == Dialect::Linux && matches!(number, 74 | 76);
            if known.contains(&number) || everywhere.contains(&number) || linux {
                continue;
            }
            peer.send_odd(number, TAG, &[0; 32]);
            let replies = peer.replies();
            assert_eq!(replies.len(), 1, "type {number}");
            assert!(!replies[0].is_ok(), "type {number}: {replies:?}");
        }
        peer.walk(1, &[]).ok();
    }
}

#[test]
fn a_body_of_the_wrong_length_is_refused_and_the_next_request_served() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    let mut whole = Vec::new();
    walk(0, 1, &["pipe"]).encode(TAG, Dialect::Linux, &mut whole);
    let body = &whole[7..];
    for cut in 0..body.len() {
        peer.send_odd(110, TAG, &body[..cut]);
        assert_eq!(peer.answer().refused(), Errno::BADMSG, "cut at {cut}");
    }
    peer.send_odd(110, TAG, &[body, &[0]].concat());
    assert_eq!(peer.answer().refused(), Errno::BADMSG, "one byte more");
    // A write that claims more than it brings.
    let mut claim = [0u32, 0, 0, u32::MAX].map(u32::to_le_bytes).concat();
    claim.push(1);
    peer.send_odd(118, TAG, &claim);
    assert_eq!(peer.answer().refused(), Errno::BADMSG);
    peer.walk(1, &["pipe"]).ok();
}

#[test]
fn a_size_that_cannot_be_right_ends_the_connection() {
    let tree = Ram::new();
    for size in 0..7 {
        let mut peer = Peer::attached(&tree, Version::LINUX);
        let bytes = [&u32::to_le_bytes(size)[..], &[120, 0, 0]].concat();
        assert_eq!(peer.session.receive(&bytes), Err(BadStream::TooSmall(size)));
    }
    let mut peer = Peer::silent(&tree);
    let first = MSIZE_FIRST as u32;
    let error = BadStream::TooLarge(first + 1, first);
    assert_eq!(peer.session.receive(&(first + 1).to_le_bytes()), Err(error), "no version yet");
    peer.agree(Version::LINUX);
    let error = BadStream::TooLarge(MSIZE + 1, MSIZE);
    assert_eq!(peer.session.receive(&(MSIZE + 1).to_le_bytes()), Err(error));
    assert_eq!(peer.session.receive(&MSIZE.to_le_bytes()), Ok(0), "may still become one");
}

#[test]
fn what_came_before_a_bad_size_is_carried_out() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    let mut bytes = Vec::new();
    walk(0, 1, &[]).encode(TAG, Dialect::Linux, &mut bytes);
    bytes.extend_from_slice(&[0; 7]);
    assert_eq!(peer.session.receive(&bytes), Err(BadStream::TooSmall(0)));
    peer.answer().ok();
}

#[test]
fn a_tag_in_use_is_refused_and_the_first_request_still_answered() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::MUSTER);
    peer.walk(1, &["pipe"]).ok();
    peer.open(1).ok();
    peer.send(5, &read(1, 0, 8));
    for request in [read(1, 0, 8), Tmessage::Clunk { fid: 1 }, Tmessage::Flush { oldtag: 5 }] {
        peer.send(5, &request);
        let replies = peer.replies();
        assert_eq!(replies[0].text(), "tag 5 is in use by a request that waits for its answer");
    }
    peer.send(TAG, &write(1, 0, b"data"));
    assert_eq!(peer.order(), [(TAG, "Write"), (5, "Read")]);
}

#[test]
fn only_version_comes_without_a_tag() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    for request in [walk(0, 1, &[]), Tmessage::Flush { oldtag: NOTAG }] {
        peer.send(NOTAG, &request);
        assert_eq!(peer.replies()[0].refused(), Errno::INVAL, "{request:?}");
    }
}

#[test]
fn a_read_is_cut_to_the_message_size() {
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    peer.walk(1, &["file"]).ok();
    peer.open(1).ok();
    let block = vec![b'x'; MSIZE as usize - IO_HEADER];
    for at in 0..4 {
        peer.ask(write(1, at * block.len() as u64, &block)).ok();
    }
    let most = MSIZE as usize - 11;
    assert_eq!(peer.ask(read(1, 0, u32::MAX)).data().len(), most);
    assert_eq!(peer.ask(read(1, 0, most as u32 + 1)).data().len(), most);
    assert_eq!(peer.ask(read(1, 0, 10)).data(), b"xxxxxxxxxx");
    assert_eq!(peer.ask(read(1, 0, 0)).data(), b"");
    assert_eq!(peer.ask(read(1, u64::MAX, 10)).data(), b"", "behind the end");
    assert_eq!(peer.ask(write(1, u64::MAX, b"xx")).refused(), Errno::FBIG);
    assert_eq!(peer.ask(read(1, 0, u32::MAX)).data().len(), most, "nothing was lost");
}

#[test]
fn an_answer_larger_than_the_message_size_is_refused() {
    let tree = Slow::new();
    let mut peer = Peer::speaking(&tree, Version::LINUX);
    peer.send(TAG, &attach(0));
    next!(tree, Attach).answer(Ok((1, slow::FILE)));
    peer.answer().ok();
    peer.send(TAG, &Tmessage::Lopen { fid: 0, flags: 0 });
    let opened = Opened { fid: 1, qid: slow::FILE, iounit: 0 };
    next!(tree, Open).answer(Ok(opened));
    peer.answer().ok();
    // A tree that answers a read with more than was asked for has its error told.
    peer.send(TAG, &read(0, 0, 4));
    next!(tree, Read).answer(Ok(vec![0; 5].into()));
    assert_eq!(peer.answer().refused(), Errno::IO);
    // A target that no message of 4 KiB holds is none.
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    let target = vec![b't'; 4096];
    let link = |target| Tmessage::Symlink { dir: 0, name: b"l", target, gid: 0 };
    assert_eq!(peer.ask(link(&target)).refused(), Errno::NAMETOOLONG);
    assert_eq!(peer.ask(link(b"")).refused(), Errno::INVAL);
    assert_eq!(peer.ask(link(b"a\0")).refused(), Errno::INVAL);
    peer.ask(link(&target[1..])).ok();
    peer.walk(1, &["l"]).ok();
    let reply = peer.ask(Tmessage::Readlink { fid: 1 });
    assert_eq!(reply.message(), Rmessage::Readlink { target: &target[1..] });
}

#[test]
fn a_remove_clunks_even_when_refused() {
    for version in ALL {
        let tree = furnished();
        let mut peer = Peer::attached(&tree, version);
        peer.walk(1, &["dir"]).ok();
        assert!(!peer.ask(Tmessage::Remove { fid: 1 }).is_ok(), "it is not empty");
        peer.walk(1, &["file"]).ok();
        peer.ask(Tmessage::Remove { fid: 1 }).ok();
        assert!(!peer.walk(1, &["file"]).is_ok(), "it is removed");
        assert_eq!(tree.fids.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn a_removed_file_lives_until_its_last_fid_is_clunked() {
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    peer.walk(1, &["file"]).ok();
    peer.open(1).ok();
    peer.ask(Tmessage::Unlinkat { dir: 0, name: b"file", flags: 0 }).ok();
    assert_eq!(peer.walk(2, &["file"]).refused(), Errno::NOENT);
    assert_eq!(peer.ask(read(1, 0, 100)).data(), b"content");
}

#[test]
fn fsync_is_known_in_both_lengths() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    let fid = 0u32.to_le_bytes();
    for (body, known) in [
        (fid.to_vec(), true),
        ([fid, [1, 0, 0, 0]].concat(), true),
        ([&fid[..], &[1, 0]].concat(), false),
        ([fid, fid, fid].concat(), false),
    ] {
        peer.send_odd(50, TAG, &body);
        assert_eq!(peer.answer().is_ok(), known, "{} bytes", body.len());
    }
    peer.ask(Tmessage::Fsync { fid: 0, data: DataSync(1) }).ok();
}

fn entries(data: &[u8]) -> Vec<DirEntry> {
    let mut from = Reader::new(data, Dialect::Linux);
    let mut entries = Vec::new();
    while from.left() > 0 {
        entries.push(DirEntry::get(&mut from).expect("an entry"));
    }
    entries
}

#[test]
fn a_directory_is_read_on_from_any_entry() {
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    assert_eq!(
        peer.ask(Tmessage::Readdir { fid: 0, offset: 0, count: 4096 }).refused(),
        Errno::BADF
    );
    peer.ask(Tmessage::Lopen { fid: 0, flags: 0o200_000 }).ok();
    let mut list = |offset, count| peer.ask(Tmessage::Readdir { fid: 0, offset, count });
    let all = entries(&list(0, 4096).data());
    let names: Vec<_> = all.iter().map(|entry| String::from_utf8_lossy(&entry.name)).collect();
    assert_eq!(names, [".", "..", "dir", "file", "pipe"]);
    assert_eq!(all.iter().map(|entry| entry.kind).collect::<Vec<_>>(), [4, 4, 4, 8, 1]);
    for (at, entry) in all.iter().enumerate() {
        assert_eq!(entries(&list(entry.next, 4096).data()), all[at + 1..]);
        let before = if at == 0 { 0 } else { all[at - 1].next };
        assert_eq!(entries(&list(before, 30).data()), std::slice::from_ref(entry), "one fits");
    }
    assert_eq!(list(all[4].next, 4096).data(), b"", "the end");
    // Too little room is not the end.
    for count in [0, 24] {
        assert_eq!(list(0, count).refused(), Errno::INVAL);
    }
    assert_eq!(peer.ask(read(0, 0, 100)).refused(), Errno::ISDIR);
    peer.walk(1, &["file"]);
    assert_eq!(peer.ask(read(1, 0, 100)).refused(), Errno::BADF);
}

#[test]
fn locks_are_checked_before_the_tree_sees_them() {
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    peer.walk(1, &["file"]).ok();
    peer.open(1).ok();
    let lock = |kind, start, length| Tmessage::Lock {
        fid: 1,
        kind,
        flags: 1,
        start,
        length,
        proc_id: 4,
        client_id: "me",
    };
    assert_eq!(peer.ask(lock(1, 0, 0)).message(), Rmessage::Lock { status: 0 });
    assert_eq!(peer.ask(lock(3, 0, 0)).refused(), Errno::INVAL);
    assert_eq!(peer.ask(lock(1, u64::MAX, 2)).refused(), Errno::INVAL);
    assert_eq!(peer.ask(lock(1, 1 << 63, 0)).refused(), Errno::INVAL);
    let range = LockRange { kind: 1, start: 5, length: 6, proc_id: 7, client_id: "me" };
    let free = LockRange { kind: LockRange::UNLOCK, ..range };
    let reply = peer.ask(Tmessage::Getlock { fid: 1, range });
    assert_eq!(reply.message(), Rmessage::Getlock { range: free });
}

#[test]
fn an_attribute_is_written_until_its_clunk_and_read_through_a_fid() {
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    let create = |fid, size| Tmessage::Xattrcreate { fid, name: b"user.a", size, flags: 0 };
    peer.walk(1, &["file"]).ok();
    assert_eq!(peer.ask(create(1, 1 << 20)).refused(), Errno::TOOBIG);
    peer.ask(create(1, 5)).ok();
    assert_eq!(peer.ask(read(1, 0, 5)).refused(), Errno::BADF, "it is written only");
    assert_eq!(peer.ask(walk(1, 2, &[])).refused(), Errno::BUSY);
    peer.ask(write(1, 0, b"val")).ok();
    peer.ask(write(1, 3, b"ue")).ok();
    peer.ask(Tmessage::Clunk { fid: 1 }).ok();
    peer.walk(1, &["file"]).ok();
    let find = |name| Tmessage::Xattrwalk { fid: 1, newfid: 2, name };
    assert_eq!(peer.ask(find(b"user.b")).refused(), Errno::NODATA);
    assert_eq!(peer.ask(find(b"user.a")).message(), Rmessage::Xattrwalk { size: 5 });
    assert_eq!(peer.ask(read(2, 1, 100)).data(), b"alue");
    assert_eq!(peer.ask(walk(2, 3, &[])).refused(), Errno::BUSY);
    assert_eq!(peer.ask(find(b"")).refused(), Errno::INVAL, "newfid is in use");
    peer.ask(Tmessage::Clunk { fid: 2 }).ok();
    assert_eq!(peer.ask(find(b"")).message(), Rmessage::Xattrwalk { size: 7 });
    // A value that came short is an error of the clunk, and the fid is gone all the same.
    peer.ask(create(1, 5)).ok();
    peer.ask(write(1, 0, b"new")).ok();
    assert_eq!(peer.ask(Tmessage::Clunk { fid: 1 }).refused(), Errno::INVAL);
    assert_eq!(peer.ask(Tmessage::Clunk { fid: 1 }).refused(), Errno::BADF);
}

#[test]
fn files_are_made_moved_and_removed_by_name() {
    let tree = furnished();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    let (mode, gid) = (0o600, 0);
    peer.ask(Tmessage::Renameat { from: 0, name: b"file", to: 0, new_name: b"moved" }).ok();
    peer.walk(1, &["moved"]).ok();
    peer.walk(2, &["dir"]).ok();
    peer.ask(Tmessage::Rename { fid: 1, dir: 2, name: b"again" }).ok();
    peer.walk(3, &["dir", "again"]).ok();
    peer.ask(Tmessage::Link { dir: 0, fid: 1, name: b"linked" }).ok();
    let attr =
        SetAttr { valid: SetAttr::MODE | SetAttr::SIZE, mode, size: 3, ..SetAttr::default() };
    peer.ask(Tmessage::Setattr { fid: 1, attr }).ok();
    peer.walk(4, &["linked"]).ok();
    let reply = peer.ask(Tmessage::Getattr { fid: 4, mask: u64::MAX });
    let Rmessage::Getattr { attr } = reply.message() else { panic!("{reply:?}") };
    assert_eq!((attr.mode, attr.size, attr.nlink), (mode::FILE | mode, 3, 2));
    let unlink = |dir, name, flags| Tmessage::Unlinkat { dir, name, flags };
    assert_eq!(peer.ask(unlink(0, b"dir", 0)).refused(), Errno::ISDIR);
    assert_eq!(peer.ask(unlink(0, b"dir", 0x200)).refused(), Errno::NOTEMPTY);
    assert_eq!(peer.ask(unlink(4, b"x", 0)).refused(), Errno::NOTDIR);
    peer.ask(unlink(2, b"again", 0)).ok();
    peer.ask(unlink(2, b"inner", 0)).ok();
    peer.ask(unlink(0, b"dir", 0x200)).ok();
    let mknod = Tmessage::Mknod { dir: 0, name: b"d", mode: mode::CHAR, major: 1, minor: 3, gid };
    peer.ask(mknod).ok();
    peer.ask(Tmessage::Statfs { fid: 0 }).ok();
}

#[test]
fn a_fid_that_is_open_makes_no_file() {
    let tree = Ram::new();
    let mut peer = Peer::attached(&tree, Version::LINUX);
    peer.ask(Tmessage::Lopen { fid: 0, flags: 0 }).ok();
    let create = Tmessage::Lcreate { fid: 0, name: b"f", flags: 2, mode: 0, gid: 0 };
    assert_eq!(peer.ask(create).refused(), Errno::BUSY);
    peer.ask(Tmessage::Mkdir { dir: 0, name: b"d", mode: 0, gid: 0 }).ok();
}

/// Linux's v9fs knows errors of 9P2000 by their texts alone: "n0: no such file" meant nothing to
/// it, and so it created nothing in a session's `fs/` seen through the manager.
#[test]
fn errors_are_told_as_the_dialect_tells_them() {
    let gone = "there is no such file";
    let known = "No such file or directory";
    for (version, number, body) in [
        (Version::PLAN9, 107, [&[25, 0][..], known.as_bytes()].concat()),
        (Version::UNIX, 107, [&[21, 0][..], gone.as_bytes(), &[2, 0, 0, 0]].concat()),
        (Version::LINUX, 7, vec![2, 0, 0, 0]),
        (Version::MUSTER, 107, [&[21, 0][..], gone.as_bytes(), &[2, 0, 0, 0]].concat()),
    ] {
        let tree = Ram::new();
        let mut peer = Peer::attached(&tree, version);
        peer.send(TAG, &walk(0, 1, &["x"]));
        assert_eq!(peer.bytes(), odd(number, TAG, &body), "{version:?}");
    }
}

/// Once a long text was cut in the middle of a character.
#[test]
fn a_long_error_is_cut_between_characters() {
    let tree = Slow::new();
    let mut peer = Peer::speaking(&tree, Version::MUSTER);
    peer.send(TAG, &attach(0));
    let text = format!("x{}", "é".repeat(1000));
    next!(tree, Attach).answer(Err(Error::new(Errno::PERM, text)));
    let text = peer.answer().text();
    assert_eq!(text.len(), 1023);
    assert!(text.ends_with('é'));
}

/// Once a walk without names that waited took its qid from a fid that was gone by then.
#[test]
fn a_clone_keeps_its_qid_though_its_origin_is_clunked_meanwhile() {
    let tree = Slow::new();
    let mut peer = Peer::speaking(&tree, Version::LINUX);
    peer.send(TAG, &attach(0));
    next!(tree, Attach).answer(Ok((1, slow::DIR)));
    peer.answer().ok();
    peer.send(TAG, &walk(0, 1, &[]));
    peer.send(8, &Tmessage::Clunk { fid: 0 });
    next!(tree, Walk).answer(Ok(Walked { qids: vec![], fid: Some(2) }));
    assert_eq!(peer.order(), [(8, "Clunk"), (TAG, "Walk")]);
    // It is still a directory.
    peer.send(TAG, &Tmessage::Mkdir { dir: 1, name: b"d", mode: 0, gid: 0 });
    next!(tree, Qid).answer(Ok(Qid::default()));
    peer.answer().ok();
}
