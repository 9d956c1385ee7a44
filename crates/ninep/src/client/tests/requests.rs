//! Requests against a server that does right.

use super::fake::{Fake, MSIZE, attached, dial, options, qid};
use crate::error::Errno;
use crate::message::{ErrorNumber, Qids, Rmessage, Tmessage};
use crate::record::{Attr, LockRange};
use crate::tree::OpenFlags;
use crate::version::Version;
use crate::wire::Payload;
use muster_base::limits::{MSIZE_MIN, NAME_MAX};
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn answers_find_their_requests_in_any_order() {
    let (client, server) = attached(|fake| {
        let tags: Vec<u16> = (0..50).map(|_| fake.tag()).collect();
        for (which, tag) in tags.iter().enumerate().rev() {
            fake.answer(*tag, &Rmessage::Read { data: Payload(&[which as u8]) });
        }
    });
    let (told, answers) = mpsc::channel();
    for which in 0..50u8 {
        let told = told.clone();
        client.root().read_then(which.into(), 1, move |answer| {
            told.send((which, answer.expect("read")[0])).expect("the test waits");
        });
    }
    let came: Vec<(u8, u8)> = answers.iter().take(50).collect();
    assert!(came.iter().all(|(asked, got)| asked == got), "{came:?}");
    assert_eq!(came[0].0, 49, "the last came first");
    server.join().expect("script");
}

#[test]
fn a_flush_wins_or_loses_but_once() {
    let (client, server) = attached(|fake| {
        for overtakes in [true, false] {
            let tag = fake.tag();
            let (flush, request) = fake.request().expect("a flush");
            assert_eq!(request, Tmessage::Flush { oldtag: tag });
            if overtakes {
                fake.answer(tag, &Rmessage::Read { data: Payload(b"late") });
            }
            fake.answer(flush, &Rmessage::Flush {});
        }
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Read { data: Payload(b"") });
    });
    for expected in [Ok(4), Err(Errno::INTR)] {
        let (told, answers) = mpsc::channel();
        let cancel = client.root().read_then(0, 100, move |answer| {
            let answer = answer.map(<[u8]>::len).map_err(|error| error.errno);
            told.send(answer).expect("the test waits");
        });
        cancel.flush();
        cancel.flush();
        assert_eq!(answers.recv().expect("told"), expected);
        assert!(answers.recv().is_err(), "told once");
        cancel.flush();
    }
    assert_eq!(client.root().read_at(0, 1).expect("still alive"), b"");
    server.join().expect("script");
}

#[test]
fn refusals_say_path_and_reason() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        let (text, errno) = (b"job 3 is over".as_slice(), ErrorNumber(3));
        fake.answer(tag, &Rmessage::Error { text, errno });
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Lerror { errno: 28 });
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Lerror { errno: u32::MAX });
    });
    let error = client.root().getattr().expect_err("refused");
    assert_eq!((error.errno, &*error.text), (Errno::SRCH, "/: job 3 is over"));
    let error = client.root().getattr().expect_err("refused");
    assert_eq!((error.errno, &*error.text), (Errno::NOSPC, "/: No space left on device"));
    assert_eq!(client.root().getattr().expect_err("refused").errno, Errno::IO);
    server.join().expect("script");
}

#[test]
fn what_a_server_did_not_take_at_once_reaches_it_when_it_reads_on() {
    const WRITES: usize = 40;
    let (go, wait) = mpsc::channel::<()>();
    let (client, server) = attached(move |fake| {
        wait.recv().expect("the test says when");
        for _ in 0..WRITES {
            let tag = fake.tag();
            fake.answer(tag, &Rmessage::Write { count: 16_000 });
        }
    });
    // Several times what a socket holds, twice: it is full, empty and full again.
    let (told, answers) = mpsc::channel();
    let write = |_| {
        let told = told.clone();
        client.root().write_then(0, &[7; 16_000], move |answer| drop(told.send(answer)));
    };
    (0..WRITES / 2).for_each(write);
    go.send(()).expect("it waits");
    (0..WRITES / 2).for_each(write);
    for _ in 0..WRITES {
        assert_eq!(answers.recv_timeout(Duration::from_secs(20)).expect("told").unwrap(), 16_000);
    }
    server.join().expect("script");
}

#[test]
fn a_fid_is_clunked_once_with_its_last_clone() {
    let (client, server) = attached(|fake| {
        let (tag, request) = fake.request().expect("a walk");
        let Tmessage::Walk { newfid, .. } = request else { panic!("{request:?}") };
        fake.answer(tag, &Rmessage::Walk { qids: Qids(vec![qid(5)]) });
        let (tag, request) = fake.request().expect("a clunk");
        assert_eq!(request, Tmessage::Clunk { fid: newfid });
        fake.answer(tag, &Rmessage::Clunk {});
        // The same number again: it was given back.
        let (tag, request) = fake.request().expect("a walk");
        let Tmessage::Walk { newfid: again, .. } = request else { panic!("{request:?}") };
        assert_eq!(newfid, again);
        fake.answer(tag, &Rmessage::Walk { qids: Qids(vec![qid(6)]) });
        let (tag, request) = fake.request().expect("a remove");
        assert_eq!(request, Tmessage::Remove { fid: again });
        fake.answer(tag, &Rmessage::Lerror { errno: 1 });
        assert_eq!(fake.request().map(|(_, request)| request), None, "no clunk after a remove");
    });
    let fid = client.walk("a").expect("walked");
    assert_eq!((fid.qid(), &*fid.path()), (qid(5), "/a"));
    let clone = fid.clone();
    drop(fid);
    let (told, released) = mpsc::channel::<()>();
    drop(clone);
    // The hub reads the answer to the clunk before it runs this.
    drop(told);
    assert!(released.recv().is_err());
    while client.shared.link.fids_in_use() > 1 {
        std::thread::yield_now();
    }
    client.walk("/./b/").expect("walked").remove().expect_err("refused");
    drop(client);
    server.join().expect("script");
}

/// Answers walks of so many names each, and the ends of fids between them.
fn walked(fake: &mut Fake, counts: &[usize]) {
    for count in counts {
        let (tag, request) = loop {
            match fake.request().expect("a walk") {
                (tag, Tmessage::Clunk { .. }) => fake.answer(tag, &Rmessage::Clunk {}),
                walk => break walk,
            }
        };
        let Tmessage::Walk { names, .. } = request else { panic!("{request:?}") };
        assert_eq!(names.as_slice().len(), *count);
        let qids = Qids((0..*count as u64).map(qid).collect());
        fake.answer(tag, &Rmessage::Walk { qids });
    }
}

#[test]
fn a_short_walk_names_what_is_missing_and_long_paths_take_several() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Walk { qids: Qids(vec![qid(1)]) });
        walked(fake, &[1]);
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Error { text: b"gone", errno: ErrorNumber(2) });
        walked(fake, &[16, 4]);
        while fake.request().is_some() {}
    });
    let error = client.walk("/a/b/c").expect_err("b is missing");
    assert_eq!(error.errno, Errno::NOENT);
    assert_eq!(error.text, "/a/b: No such file or directory");
    let deep = client.walk(&"x/".repeat(20)).expect("walked");
    assert_eq!(deep.path().len(), 40);
    drop((client, deep));
    server.join().expect("script");
}

/// Once it was "No such file or directory" whatever it was, and `cp` went on to make the file.
#[test]
fn a_later_name_that_does_not_lead_on_is_told_as_what_it_is() {
    let (client, server) = attached(|fake| {
        for errno in [13, 20] {
            let tag = fake.tag();
            fake.answer(tag, &Rmessage::Walk { qids: Qids(vec![qid(1), qid(2)]) });
            walked(fake, &[2]);
            let tag = fake.tag();
            let text = b"as the server says".as_slice();
            fake.answer(tag, &Rmessage::Error { text, errno: ErrorNumber(errno) });
        }
        while fake.request().is_some() {}
    });
    let error = client.walk("/a/b/c/d").map(drop).expect_err("refused");
    assert_eq!((error.errno, &*error.text), (Errno::ACCESS, "/a/b/c: as the server says"));
    let error = client.walk("/a/b/c").map(drop).expect_err("refused");
    assert_eq!((error.errno, &*error.text), (Errno::NOTDIR, "/a/b/c: as the server says"));
    drop(client);
    server.join().expect("script");
}

#[test]
fn a_walk_of_long_names_is_cut_where_messages_are_short() {
    let (client, server) = dial(&options(), |fake| {
        fake.greet(MSIZE_MIN as u32, Version::MUSTER.name());
        fake.attach();
        walked(fake, &[15, 5]);
        while fake.request().is_some() {}
    });
    let client = client.expect("attached");
    let name = "x".repeat(NAME_MAX) + "/";
    drop(client.walk(&name.repeat(20)).expect("walked"));
    drop(client);
    server.join().expect("script");
}

#[test]
fn a_walk_and_its_open_go_together_and_answers_may_change_places() {
    let unknown = || Rmessage::Error { text: b"no such fid", errno: ErrorNumber(9) };
    let (client, server) = attached(move |fake| {
        let pair = |fake: &mut Fake| {
            let (walk, request) = fake.request().expect("a walk");
            let Tmessage::Walk { newfid, .. } = request else { panic!("{request:?}") };
            let (open, request) = fake.request().expect("an open, though the walk is unanswered");
            assert!(matches!(request, Tmessage::Lopen { fid, .. } if fid == newfid));
            (walk, open, newfid)
        };
        let walked = || Rmessage::Walk { qids: Qids(vec![qid(1)]) };
        let opened = || Rmessage::Lopen { qid: qid(1), iounit: 77 };
        // In order, in the other order, and of a fid that is not there yet.
        let (walk, open, _) = pair(fake);
        fake.answer(walk, &walked());
        fake.answer(open, &opened());
        let (walk, open, _) = pair(fake);
        fake.answer(open, &opened());
        fake.answer(walk, &walked());
        let (walk, open, newfid) = pair(fake);
        fake.answer(open, &unknown());
        fake.answer(walk, &walked());
        let (again, request) = fake.request().expect("the open once more");
        assert!(matches!(request, Tmessage::Lopen { fid, .. } if fid == newfid));
        fake.answer(again, &opened());
        // What is not there is not opened, and its number is used again; a refusal is told.
        let (walk, open, missing) = pair(fake);
        fake.answer(walk, &Rmessage::Walk { qids: Qids(Vec::new()) });
        fake.answer(open, &unknown());
        let (walk, open, next) = pair(fake);
        assert_eq!(next, missing);
        fake.answer(walk, &walked());
        fake.answer(open, &Rmessage::Error { text: b"not yours", errno: ErrorNumber(13) });
        while fake.request().is_some() {}
    });
    let flags = OpenFlags::default();
    let files: Vec<_> = (0..3).map(|_| client.open("a", flags).expect("opened")).collect();
    assert!(files.iter().all(|file| file.fid().max_data() == 77));
    let error = client.open("a", flags).expect_err("it is not there");
    assert_eq!(error.text, "/a: No such file or directory");
    let error = client.open("a", flags).expect_err("it is another's");
    assert_eq!((error.errno, &*error.text), (Errno::ACCESS, "/a: not yours"));
    drop((client, files));
    server.join().expect("script");
}

#[test]
fn what_is_taken_back_is_not_opened_afterwards() {
    let (played, scenes) = mpsc::channel();
    let (client, server) = attached(move |fake| {
        let walked = || Rmessage::Walk { qids: Qids(vec![qid(1)]) };
        // The open was refused; the walk is flushed, and answered all the same.
        let (walk, open) = (fake.tag(), fake.tag());
        fake.answer(open, &Rmessage::Error { text: b"no such fid", errno: ErrorNumber(9) });
        let sync = fake.tag();
        fake.answer(sync, &Rmessage::Fsync {});
        let (flush, request) = fake.request().expect("a flush");
        assert_eq!(request, Tmessage::Flush { oldtag: walk });
        fake.answer(walk, &walked());
        fake.answer(flush, &Rmessage::Flush {});
        let (clunk, request) = fake.request().expect("an end");
        assert!(matches!(request, Tmessage::Clunk { .. }), "{request:?}");
        fake.answer(clunk, &Rmessage::Clunk {});
        played.send(()).expect("the test waits");
        // The open of what was found takes long.
        let (walk, open) = (fake.tag(), fake.tag());
        fake.answer(walk, &walked());
        let sync = fake.tag();
        fake.answer(sync, &Rmessage::Fsync {});
        let (flush, request) = fake.request().expect("a flush");
        assert_eq!(request, Tmessage::Flush { oldtag: open });
        fake.answer(flush, &Rmessage::Flush {});
        played.send(()).expect("the test waits");
        while fake.request().is_some() {}
    });
    let flags = OpenFlags(OpenFlags::WRONLY | OpenFlags::TRUNC);
    for _ in 0..2 {
        let (told, answers) = mpsc::channel();
        let cancel = client.root().walk_open_then(&[b"a"], flags, move |opened| {
            told.send(opened.map(drop).map_err(|error| error.errno)).expect("the test waits");
        });
        // Answers come in order: by this one's, the answer to one of them is here.
        client.root().fsync().expect("answered");
        cancel.flush();
        assert_eq!(answers.recv().expect("told"), Err(Errno::INTR));
        assert!(answers.recv().is_err(), "told once");
        // Who asked is told before the fid is clunked: the next walk must not overtake that.
        scenes.recv().expect("played");
    }
    drop(client);
    server.join().expect("script");
}

#[test]
fn create_turns_the_directory_into_the_file() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Walk { qids: Qids(vec![]) });
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Lcreate { qid: qid(9), iounit: 100 });
        let (tag, request) = fake.request().expect("a write");
        let Tmessage::Write { data, .. } = request else { panic!("{request:?}") };
        assert_eq!(data.0.len(), 100);
        fake.answer(tag, &Rmessage::Write { count: 100 });
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Write { count: 20 });
        while fake.request().is_some() {}
    });
    let fid = client.root().walk(&[]).expect("cloned");
    fid.create(b"new", OpenFlags(OpenFlags::WRONLY), 0o644, 0).expect("created");
    assert_eq!((fid.qid(), &*fid.path()), (qid(9), "/new"));
    assert_eq!(fid.write_at(0, &[7; 150]).expect("written"), 120);
    drop((client, fid));
    server.join().expect("script");
}

#[test]
fn a_listing_is_read_to_its_end_and_not_for_ever() {
    let (client, server) = attached(|fake| {
        let entry = |name: &[u8], next| crate::record::DirEntry {
            qid: qid(next),
            next,
            kind: 4,
            name: name.to_vec(),
            attr: None,
        };
        let dialect = crate::version::Dialect::Linux;
        for part in [vec![entry(b".", 1), entry(b"a", 2)], vec![entry(b"b", 3)], vec![]] {
            let tag = fake.tag();
            let mut out = Vec::new();
            let mut to = crate::wire::Writer { out: &mut out, dialect };
            part.iter().for_each(|entry| entry.put(&mut to));
            fake.answer(tag, &Rmessage::Readdir { data: Payload(&out) });
        }
        let mut out = Vec::new();
        entry(b"a", 0).put(&mut crate::wire::Writer { out: &mut out, dialect });
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Readdir { data: Payload(&out) });
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Readdir { data: Payload(&out[..9]) });
    });
    let root = client.root();
    let names: Vec<Vec<u8>> =
        root.readdir().expect("listed").into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, [b"a", b"b"]);
    let error = root.readdir().expect_err("it never ends");
    assert!(error.text.contains("the same names again"), "{error}");
    let error = root.readdir().expect_err("half an entry");
    assert!(error.text.contains("malformed"), "{error}");
    server.join().expect("script");
}

#[test]
fn a_callback_that_waits_is_refused() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Getattr { attr: Attr { size: 7, ..Attr::default() } });
    });
    let (told, answers) = mpsc::channel();
    let other = client.clone();
    client.root().getattr_then(move |attr| {
        let nested = other.root().getattr().expect_err("it would wait for itself").errno;
        told.send((attr.expect("attributes").size, nested)).expect("the test waits");
    });
    assert_eq!(answers.recv().expect("told"), (7, Errno::DEADLK));
    server.join().expect("script");
}

#[test]
fn locks_and_attributes_travel_whole() {
    let (client, server) = attached(|fake| {
        let (tag, request) = fake.request().expect("a lock");
        let Tmessage::Lock {
            kind: 1, flags: 1, start: 3, length: 4, proc_id: 5, client_id, ..
        } = request
        else {
            panic!("{request:?}")
        };
        assert_eq!(client_id, "me");
        fake.answer(tag, &Rmessage::Lock { status: 1 });
        let tag = fake.tag();
        let range = LockRange { kind: 2, client_id: "", ..LockRange::default() };
        fake.answer(tag, &Rmessage::Getlock { range });
        // getxattr: a fid, its content, its end.
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Xattrwalk { size: 5 });
        for part in [b"ab".as_slice(), b"cde"] {
            let tag = fake.tag();
            fake.answer(tag, &Rmessage::Read { data: Payload(part) });
        }
        // A server that would have us take too much.
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Xattrwalk { size: u64::MAX });
        while fake.request().is_some() {}
    });
    let root = client.root();
    let range = LockRange { kind: 1, start: 3, length: 4, proc_id: 5, client_id: "me" };
    assert_eq!(root.lock(&range, true).expect("told"), crate::call::LockStatus::Blocked);
    assert_eq!(root.getlock(&range).expect("told").kind, LockRange::UNLOCK);
    assert_eq!(root.getxattr(b"user.x").expect("read"), b"abcde");
    assert_eq!(root.getxattr(b"user.y").expect_err("too large").errno, Errno::TOOBIG);
    drop((client, root));
    server.join().expect("script");
}

#[test]
fn the_connection_ends_with_the_last_of_client_and_fids() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Walk { qids: Qids(vec![qid(1)]) });
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Read { data: Payload(b"x") });
        let mut last = Vec::new();
        while let Some((_, request)) = fake.request() {
            last.push(request.name());
        }
        last
    });
    assert_eq!(client.max_data(), MSIZE - 24);
    let fid = client.walk("a").expect("walked");
    drop(client);
    assert_eq!(fid.read_at(0, 1).expect("the fid holds the connection"), b"x");
    drop(fid);
    assert_eq!(server.join().expect("script"), ["Clunk"]);
}
