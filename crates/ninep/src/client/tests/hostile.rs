//! Servers that break the protocol, go away, or never answer.

use super::fake::{self, Fake, MSIZE, attached, dial, options, qid};
use crate::client::{Client, Options};
use crate::error::{Errno, Error};
use crate::message::{Rmessage, Tmessage};
use crate::stream::{Secure, Stream};
use crate::tree::Peer;
use crate::version::Version;
use crate::wire::Payload;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Reads once while the server runs `script` with the read's tag; the connection must end.
fn broken_by(script: impl FnOnce(&mut Fake, u16) + Send + 'static) -> Error {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        script(fake, tag);
        // Stays until the client has hung up.
        while fake.request().is_some() {}
    });
    let error = client.root().read_at(0, 100).expect_err("the server is broken");
    assert_eq!(error.errno, Errno::CONNRESET, "{error}");
    assert!(error.text.starts_with("/: the connection to fake ended: "), "{error}");
    let later = client.root().getattr().expect_err("the connection is over");
    assert_eq!(later.errno, Errno::CONNRESET);
    server.join().expect("the script ran through");
    error
}

#[test]
fn a_message_of_impossible_size_ends_the_connection() {
    for size in [0u32, 6, MSIZE + 1, u32::MAX] {
        let error = broken_by(move |fake, _| {
            fake.raw(&size.to_le_bytes());
            fake.raw(&[117, 0, 0]);
        });
        assert!(error.text.contains(&format!("a message claims {size} bytes")), "{error}");
    }
}

#[test]
fn an_answer_nobody_asked_for_ends_the_connection() {
    let error = broken_by(|fake, tag| fake.answer(tag + 1, &Rmessage::Clunk {}));
    assert!(error.text.contains("which nobody waits for"), "{error}");
    let error = broken_by(|fake, _| fake.answer(0xffff, &Rmessage::Clunk {}));
    assert!(error.text.contains("tag 65535, which nobody waits for"), "{error}");
}

#[test]
fn a_second_answer_ends_the_connection() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Read { data: Payload(b"x") });
        fake.answer(tag, &Rmessage::Read { data: Payload(b"y") });
        while fake.request().is_some() {}
    });
    let (told, closed) = mpsc::channel();
    client.on_close(move |why| told.send(why.clone()).expect("the test waits"));
    assert_eq!(client.root().read_at(0, 1).expect("the first counts"), b"x");
    let why = closed.recv().expect("told");
    assert!(why.text.contains("broke the protocol: it answered tag"), "{why}");
    server.join().expect("script");
}

#[test]
fn malformed_and_wrong_answers_end_the_connection() {
    let error = broken_by(|fake, tag| fake.answer(tag, &Rmessage::Write { count: 1 }));
    assert!(error.text.contains("it answered a Read with message type 119"), "{error}");
    let error = broken_by(|fake, tag| {
        let [low, high] = tag.to_le_bytes();
        // Claims 9 bytes of data and has one.
        fake.raw(&[12, 0, 0, 0, 117, low, high, 9, 0, 0, 0, 1]);
    });
    assert!(error.text.contains("the answer to a Read is malformed"), "{error}");
    let error =
        broken_by(|fake, tag| fake.answer(tag, &Rmessage::Read { data: Payload(&[0; 101]) }));
    assert!(error.text.contains("it answered a Read for 100 with 101"), "{error}");
}

#[test]
fn a_server_that_goes_midway_is_named_to_all_who_wait() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        fake.tag();
        let mut bytes = Vec::new();
        let answer = Rmessage::Read { data: Payload(b"never whole") };
        answer.encode(tag, Version::MUSTER.dialect, &mut bytes);
        fake.raw(&bytes[..bytes.len() - 3]);
    });
    let (told, answers) = mpsc::channel();
    for _ in 0..2 {
        let told = told.clone();
        client.root().read_then(0, 20, move |answer| {
            told.send(answer.map(<[u8]>::to_vec)).expect("the test waits");
        });
    }
    for _ in 0..2 {
        let error = answers.recv().expect("told").expect_err("no answer");
        assert_eq!(error.errno, Errno::CONNRESET);
        assert_eq!(error.text, "the connection to fake ended: the server closed it");
    }
    assert!(client.ended().is_some());
    server.join().expect("script");
}

#[test]
fn a_server_that_never_answers_is_given_up_in_words_and_flushed() {
    let (client, server) = attached(|fake| {
        let (tag, request) = fake.request().expect("a walk");
        let Tmessage::Walk { newfid, .. } = request else { panic!("{request:?}") };
        let (flush, request) = fake.request().expect("a flush");
        assert_eq!(request, Tmessage::Flush { oldtag: tag });
        // The answer is already on its way: the fid exists, and nobody wants it any more.
        fake.answer(tag, &Rmessage::Walk { qids: crate::message::Qids(vec![qid(1), qid(2)]) });
        fake.answer(flush, &Rmessage::Flush {});
        let (_, request) = fake.request().expect("a clunk");
        assert_eq!(request, Tmessage::Clunk { fid: newfid });
    });
    let hasty = client.with_deadlines(Some(Duration::from_millis(30)), None);
    let error = hasty.walk("/jobs/3").expect_err("no answer");
    assert_eq!(error.errno, Errno::TIMEDOUT);
    assert!(error.text.ends_with("walk of /jobs/3 at fake: no answer after 0.03 s"), "{error}");
    server.join().expect("script");
}

#[test]
fn a_server_that_stops_reading_blocks_senders_no_longer_than_the_deadline() {
    let (done, wait) = mpsc::channel::<()>();
    let (client, server) = attached(move |_| wait.recv().is_err());
    let data = vec![0; 16_000];
    let hasty = client.with_deadlines(Some(Duration::from_millis(50)), None);
    // Writes until one is refused.
    let refused = |client: &Client| loop {
        let (told, answer) = mpsc::channel();
        client.root().write_then(0, &data, move |answer| drop(told.send(answer)));
        match answer.recv_timeout(Duration::from_millis(1)) {
            Ok(answer) => return answer.expect_err("nothing was read"),
            Err(_) => continue,
        }
    };
    let error = refused(&hasty);
    assert_eq!((error.errno, &*error.text), (Errno::TIMEDOUT, "fake takes no requests"));
    // Who may not block is refused at once, when somewhat more is queued.
    assert_eq!(refused(&client.never_blocking()).errno, Errno::AGAIN);
    let (told, answer) = mpsc::channel();
    client.on_close(move |why| told.send(why.errno).expect("the test waits"));
    drop(done);
    assert!(server.join().expect("script"));
    assert_eq!(answer.recv().expect("told"), Errno::CONNRESET);
}

/// Connects to a server that answers `Tversion` with this.
fn answered(options: &Options, msize: u32, version: &'static str) -> Result<Version, Error> {
    let (client, server) = dial(options, move |fake| {
        fake.greet(msize, version);
        if let Some((tag, _)) = fake.request() {
            fake.answer(tag, &Rmessage::Attach { qid: qid(0) });
        }
    });
    let version = client.map(|client| client.version());
    server.join().expect("script");
    version
}

#[test]
fn the_server_may_shorten_the_version_but_not_change_it() {
    let muster = options();
    assert_eq!(answered(&muster, MSIZE, "9P2000.L.muster"), Ok(Version::MUSTER));
    assert_eq!(answered(&muster, MSIZE, "9P2000.L"), Ok(Version::LINUX));
    let unix = Options { version: Version::UNIX, ..options() };
    assert_eq!(answered(&unix, MSIZE, "9P2000"), Ok(Version::PLAN9));
    for (options, msize, version, said) in [
        (&muster, MSIZE, "unknown", "fake: the server speaks no 9P2000.L.muster"),
        (&muster, MSIZE, "9P2000", "fake: the server speaks 9P2000 only, not 9P2000.L.muster"),
        (&muster, MSIZE, "9P2000.u", "the server speaks no 9P2000.L.muster"),
        (&muster, MSIZE, "", "the server speaks no 9P2000.L.muster"),
        (&unix, MSIZE, "9P2000.L", "the server speaks no 9P2000.u"),
        (&muster, MSIZE + 1, "9P2000.L", "the server grants messages of 16385 bytes"),
        (&muster, 100, "9P2000.L", "the server grants messages of 100 bytes"),
    ] {
        let error = answered(options, msize, version).expect_err(version);
        assert_eq!(error.errno, Errno::PROTONOSUPPORT);
        assert!(error.text.contains(said), "{error}");
    }
}

#[test]
fn a_handshake_may_be_refused_or_never_answered() {
    let (client, _) = dial(&options(), |fake| {
        let (tag, _) = fake.request().expect("Tversion");
        fake.answer(tag, &Rmessage::Lerror { errno: 93 });
    });
    assert_eq!(client.expect_err("refused").text, "fake: Protocol not supported");
    let (client, server) = dial(&options(), |fake| {
        fake.greet(MSIZE, "9P2000.L.muster");
        let (tag, _) = fake.request().expect("Tattach");
        let text = b"you may not".as_slice();
        let errno = crate::message::ErrorNumber(13);
        fake.answer(tag, &Rmessage::Error { text, errno });
        while fake.request().is_some() {}
    });
    let error = client.expect_err("refused");
    assert_eq!((error.errno, &*error.text), (Errno::ACCESS, "fake: you may not"));
    server.join().expect("the client hangs up");
    let hasty = Options { deadline: Some(Duration::from_millis(30)), ..options() };
    let (client, server) = dial(&hasty, |fake| while fake.request().is_some() {});
    let error = client.expect_err("no answer");
    assert_eq!(error.text, "version at fake: no answer after 0.03 s");
    server.join().expect("the client hangs up");
    let (client, _) = dial(&options(), |_: &mut fake::Fake| ());
    let error = client.expect_err("gone");
    assert_eq!(error.text, "the connection to fake ended: the server closed it");
}

/// What is around a socket finds that its bytes were changed on the way, at the second look, and
/// takes nothing any more.
#[derive(Debug)]
struct Changed(UnixStream, AtomicBool);

impl AsFd for Changed {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Secure for Changed {
    fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        match self.1.swap(true, Ordering::Relaxed) {
            false => Err(io::ErrorKind::WouldBlock.into()),
            true => Err(io::Error::new(io::ErrorKind::InvalidData, "its bytes were changed")),
        }
    }

    fn write(&self, _: &[io::IoSlice<'_>]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }

    fn shutdown(&self) -> io::Result<()> {
        self.0.shutdown(std::net::Shutdown::Both)
    }
}

#[test]
fn a_connection_that_can_neither_be_written_nor_read_ends_for_the_reason_of_the_read() {
    let (ours, _theirs) = UnixStream::pair().expect("a pair");
    ours.set_nonblocking(true).expect("a socket");
    let changed = Changed(ours, AtomicBool::new(false));
    let peer = Peer { uid: None, name: "changed".into() };
    let error = Client::over(Stream::Secure(Box::new(changed), peer), &options());
    let error = error.expect_err("nobody answers");
    assert!(error.text.ends_with("ended: its bytes were changed"), "{error}");
}
