//! A server for tests: a script over one end of a pair.

use crate::client::{Client, Options};
use crate::error::Result;
use crate::message::{Frame, Rmessage, Tag, Tmessage};
use crate::record::Qid;
use crate::stream::Stream;
use crate::version::{Dialect, Version};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;
use std::time::Duration;

/// Message size the fake grants.
pub(super) const MSIZE: u32 = 16 * 1024;

/// The server's end.
pub(super) struct Fake {
    pub(super) socket: UnixStream,
    message: Vec<u8>,
    dialect: Dialect,
}

impl Fake {
    /// The next message, whole; empty when the client is gone.
    fn next(&mut self) -> bool {
        let mut size = [0; 4];
        if self.socket.read_exact(&mut size).is_err() {
            return false;
        }
        let length = u32::from_le_bytes(size) as usize;
        self.message = size.to_vec();
        self.message.resize(length, 0);
        self.socket.read_exact(&mut self.message[4..]).is_ok()
    }

    /// Waits for the next request; `None` when the client is gone.
    pub(super) fn request(&mut self) -> Option<(Tag, Tmessage<'_>)> {
        if !self.next() {
            return None;
        }
        let (frame, _) = Frame::cut(&self.message, u32::MAX).expect("sized").expect("whole");
        Some((frame.tag, frame.request(self.dialect).expect("a request")))
    }

    /// Waits for the next request that is no clunk, whose tag alone matters.
    pub(super) fn tag(&mut self) -> Tag {
        loop {
            let (tag, request) = self.request().expect("a request");
            if !matches!(request, Tmessage::Clunk { .. }) {
                return tag;
            }
            self.answer(tag, &Rmessage::Clunk {});
        }
    }

    /// Sends an answer.
    pub(super) fn answer(&mut self, tag: Tag, answer: &Rmessage<'_>) {
        let mut bytes = Vec::new();
        answer.encode(tag, self.dialect, &mut bytes);
        self.raw(&bytes);
    }

    /// Sends bytes. The client may be gone.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        let _ = self.socket.write_all(bytes);
    }

    /// Answers the handshake with `version`.
    pub(super) fn greet(&mut self, msize: u32, version: &str) {
        let (tag, _) = self.request().expect("Tversion");
        self.answer(tag, &Rmessage::Version { msize, version });
        self.dialect = Version::agree(version).map_or(self.dialect, |agreed| agreed.dialect);
    }

    /// Answers the attach.
    pub(super) fn attach(&mut self) {
        let (tag, request) = self.request().expect("Tattach");
        assert!(matches!(request, Tmessage::Attach { .. }), "{request:?}");
        self.answer(tag, &Rmessage::Attach { qid: qid(0) });
    }
}

/// A directory's qid.
pub(super) fn qid(path: u64) -> Qid {
    Qid { kind: Qid::DIR, version: 0, path }
}

/// Options for a server called `fake` that is given 20 s, which no test may need.
pub(super) fn options() -> Options {
    let deadline = Some(Duration::from_secs(20));
    Options { msize: MSIZE, name: "fake".into(), deadline, ..Options::default() }
}

/// A client whose server runs `script` from its very first message on.
pub(super) fn dial<T: Send + 'static>(
    options: &Options,
    script: impl FnOnce(&mut Fake) -> T + Send + 'static,
) -> (Result<Client>, JoinHandle<T>) {
    let (ours, theirs) = Stream::pair().expect("pair");
    let Stream::Unix(theirs) = theirs else { unreachable!("pairs are Unix sockets") };
    let socket = UnixStream::from(theirs);
    socket.set_nonblocking(false).expect("blocking");
    let dialect = options.version.dialect;
    let server =
        std::thread::spawn(move || script(&mut Fake { socket, message: Vec::new(), dialect }));
    (Client::over(ours, options), server)
}

/// A client that is attached, and whose server then runs `script`.
pub(super) fn attached<T: Send + 'static>(
    script: impl FnOnce(&mut Fake) -> T + Send + 'static,
) -> (Client, JoinHandle<T>) {
    let (client, server) = dial(&options(), |fake| {
        fake.greet(MSIZE, Version::MUSTER.name());
        fake.attach();
        script(fake)
    });
    (client.expect("attached"), server)
}
