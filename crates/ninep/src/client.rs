//! A client that pipelines: any number of requests under way on one connection, from any thread.
//!
//! Every request can be sent with a callback ([`Client::send`], and [`Fid`]'s methods that end in
//! `_then`), which runs on the one thread that reads from all connections of the process; or
//! with a call that waits, at most as long as [`Options::deadline`] says. A [`Fid`] is clunked
//! when its last clone is dropped. The connection ends when the client's last clone and all its
//! fids are gone, or when the server breaks the protocol or goes: then everybody who waits is
//! told ECONNRESET in words that name the server.

pub mod core;
mod fid;
mod file;
mod hub;
mod link;
mod path;
#[cfg(test)]
mod tests;
mod wait;

pub use fid::{Fid, Walked};
pub use file::File;
pub use hub::begin;
pub use link::Cancel;

use self::core::Share;
use crate::address::Address;
use crate::error::{Errno, Error, Result};
use crate::message::{NOFID, NONUNAME, Rmessage, Tmessage, UserNumber};
use crate::record::Qid;
use crate::stream::Stream;
use crate::version::Version;
use link::{Link, Queue};
use muster_base::limits::{IO_HEADER, MSIZE_ASKED};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How to talk to a server.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to propose; the server may answer with the dialect that it extends.
    pub version: Version,
    /// Largest message to ask for.
    pub msize: u32,
    /// The user to act as, by name.
    pub uname: String,
    /// The same, by number.
    pub n_uname: Option<u32>,
    /// The tree to attach to.
    pub aname: String,
    /// How long a call waits for its answer; reads, writes and locks may take for ever unless
    /// [`Client::with_deadlines`] says otherwise.
    pub deadline: Option<Duration>,
    /// What messages call the server; empty: its address.
    pub name: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            version: Version::MUSTER,
            msize: MSIZE_ASKED as u32,
            uname: String::new(),
            n_uname: Some(rustix::process::getuid().as_raw()),
            aname: String::new(),
            deadline: Some(Duration::from_secs(30)),
            name: String::new(),
        }
    }
}

/// How long calls wait.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// For an answer that should come at once.
    control: Option<Duration>,
    /// For a read, write or lock, which may wait for somebody else.
    data: Option<Duration>,
    /// Whether a send waits for a server that is slow to take it.
    queue: bool,
    /// Whose the requests are.
    share: Share,
}

/// A connection to a server, attached to a tree. Clones share it.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
    patience: Patience,
}

#[derive(Debug)]
struct Shared {
    link: Arc<Link>,
    root: u32,
    root_qid: Qid,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let text = format!("the connection to {} was closed here", self.link.name);
        hub::close(self.link.id, Error::new(Errno::NOTCONN, text));
    }
}

impl Client {
    /// Connects to a server and attaches to its tree.
    ///
    /// # Errors
    /// One sentence that names the server: nobody answers, no common version, not allowed.
    pub fn connect(address: &Address, mut options: Options) -> Result<Client> {
        if options.name.is_empty() {
            options.name = address.to_string();
        }
        // Without a deadline of ours the kernel's applies, some minutes for TCP.
        let limit = options.deadline.unwrap_or(Duration::from_secs(600));
        let stream = Stream::connect(address, Instant::now() + limit)
            .map_err(|error| unreachable_server(&options.name, error))?;
        Client::over(stream, &options)
    }

    /// Attaches to the tree of a server that is connected already.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub fn over(stream: Stream, options: &Options) -> Result<Client> {
        if hub::is_here() {
            return Err(would_deadlock());
        }
        let name = match options.name.as_str() {
            "" => stream.peer().name,
            name => name.to_owned(),
        };
        hub::begin()?;
        let start = Instant::now();
        let (told, answer) = mpsc::sync_channel(1);
        let hello = Box::new(move |answer: Result<Rmessage<'_>>| {
            // The caller may have given up.
            let _ = told.send(answer.map(drop));
        });
        let link = Link::new(stream, name, options.version, options.msize, hello);
        let hung_up = |error: Error| {
            hub::close(link.id, error.clone());
            Err(error)
        };
        if let Err(error) = await_answer("version", "", &link.name, options.deadline, &answer) {
            return hung_up(at_server(error, &link.name));
        }
        let (told, answer) = mpsc::sync_channel(1);
        let attach = Tmessage::Attach {
            fid: link.take_fid(Share::Own)?,
            afid: NOFID,
            uname: &options.uname,
            aname: &options.aname,
            n_uname: UserNumber(options.n_uname.unwrap_or(NONUNAME)),
        };
        let then = Box::new(move |answer: Result<Rmessage<'_>>| {
            let _ = told.send(answer.map(|answer| match answer {
                Rmessage::Attach { qid } => qid,
                other => unreachable!("the core takes no {} for an attach", other.name()),
            }));
        });
        let left = options.deadline.map(|limit| limit.saturating_sub(start.elapsed()));
        let queue = Queue::Wait(left.map(|left| Instant::now() + left));
        link.send(&attach, then, (queue, Share::Own));
        match await_answer("attach", "", &link.name, left, &answer) {
            Err(error) => hung_up(at_server(error, &link.name)),
            Ok(root_qid) => {
                let (control, share) = (options.deadline, Share::Own);
                let patience = Patience { control, data: None, queue: true, share };
                let shared = Arc::new(Shared { link, root: 0, root_qid });
                Ok(Client { shared, patience })
            }
        }
    }

    /// The same connection, on which calls wait at most this long: `control` for answers that
    /// should come at once, `data` for reads, writes and locks.
    #[must_use]
    pub fn with_deadlines(&self, control: Option<Duration>, data: Option<Duration>) -> Client {
        let patience = Patience { control, data, ..self.patience };
        Client { shared: self.shared.clone(), patience }
    }

    /// The same connection, on which no send ever blocks its thread: while the server is too slow
    /// to take what is queued for it, requests are refused with EAGAIN. For servers that forward.
    #[must_use]
    pub fn never_blocking(&self) -> Client {
        let patience = Patience { queue: false, ..self.patience };
        Client { shared: self.shared.clone(), patience }
    }

    /// The same connection, for requests of others that are handed on. Of the requests under way
    /// and of the fids half are kept from them all.
    #[must_use]
    pub fn for_guests(&self) -> Client {
        let patience = Patience { share: Share::Guests, ..self.patience };
        Client { shared: self.shared.clone(), patience }
    }

    /// What tells the connection from all others of this process.
    pub(crate) fn id(&self) -> usize {
        self.shared.link.id
    }

    /// The root of the attached tree.
    pub fn root(&self) -> Fid {
        Fid::root(self.clone(), self.shared.root, self.shared.root_qid)
    }

    /// What the connection speaks.
    pub fn version(&self) -> Version {
        self.shared.link.version()
    }

    /// Most bytes that one read, write or listing carries.
    pub fn max_data(&self) -> u32 {
        self.shared.link.msize() - IO_HEADER as u32
    }

    /// What messages call the server.
    pub fn name(&self) -> &str {
        &self.shared.link.name
    }

    /// Why the connection ended, if it has.
    pub fn ended(&self) -> Option<Error> {
        self.shared.link.ended()
    }

    /// Runs `told` on the hub's thread when the connection has ended, or soon if it has already.
    pub fn on_close(&self, told: impl FnOnce(&Error) + Send + 'static) {
        self.shared.link.on_close(Box::new(told));
    }

    /// The connection's socket, for what the kernel knows of it.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.shared.link.stream.as_fd()
    }

    /// Ends the connection for all its clones.
    pub fn close(&self) {
        let text = format!("the connection to {} was closed here", self.name());
        hub::close(self.shared.link.id, Error::new(Errno::NOTCONN, text));
    }

    /// Sends a request with fids of the caller's own keeping. `then` is called exactly once, on
    /// the hub's thread: it must not wait for anything there. While the server does not take
    /// what is queued for it this blocks, except on the hub's thread.
    pub fn send(
        &self,
        request: &Tmessage<'_>,
        then: impl FnOnce(Result<Rmessage<'_>>) + Send + 'static,
    ) -> Cancel {
        self.shared.link.send(request, Box::new(then), (self.queue(), self.patience.share))
    }

    /// A number for a new fid.
    fn take_fid(&self) -> Result<u32> {
        self.shared.link.take_fid(self.patience.share)
    }

    fn queue(&self) -> Queue {
        match self.patience {
            Patience { queue: false, .. } => Queue::Refuse,
            Patience { control, .. } => Queue::Wait(control.map(|limit| Instant::now() + limit)),
        }
    }

    /// Starts a request and waits for its answer. `what` and `path` say in messages who waits.
    fn wait<T: Send + 'static>(
        &self,
        (what, path): (&str, &str),
        limit: Option<Duration>,
        start: impl FnOnce(Box<dyn FnOnce(Result<T>) + Send>) -> Cancel,
    ) -> Result<T> {
        if hub::is_here() {
            return Err(would_deadlock());
        }
        let (told, answer) = mpsc::sync_channel(1);
        // If we give up, what comes too late is dropped, and a fid in it clunked.
        let cancel = start(Box::new(move |answer| drop(told.send(answer))));
        let result = await_answer(what, path, self.name(), limit, &answer);
        if matches!(&result, Err(error) if error.errno == Errno::TIMEDOUT) {
            cancel.flush();
        }
        result.map_err(|error| if path.is_empty() { error } else { error.at(path) })
    }
}

/// Waits for what the hub tells.
fn await_answer<T>(
    what: &str,
    path: &str,
    name: &str,
    limit: Option<Duration>,
    answer: &mpsc::Receiver<Result<T>>,
) -> Result<T> {
    let gave_up = || Error::new(Errno::IO, format!("the {what} at {name} was dropped"));
    let Some(limit) = limit else {
        return answer.recv().unwrap_or_else(|_| Err(gave_up()));
    };
    match answer.recv_timeout(limit) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(gave_up()),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let of = if path.is_empty() { String::new() } else { format!(" of {path}") };
            let limit = limit.as_secs_f64();
            let text = format!("{what}{of} at {name}: no answer after {limit} s");
            Err(Error::new(Errno::TIMEDOUT, text))
        }
    }
}

/// Puts the server's name in front of an error that does not say it.
fn at_server(error: Error, name: &str) -> Error {
    if error.text.contains(name) { error } else { error.at(name) }
}

/// What connecting to a server failed with, in a sentence that names it.
pub fn unreachable_server(name: &str, error: std::io::Error) -> Error {
    let why = match error.kind() {
        std::io::ErrorKind::NotFound => "nobody serves there (no such socket)".into(),
        std::io::ErrorKind::ConnectionRefused => "nobody serves there (connection refused)".into(),
        std::io::ErrorKind::TimedOut => "it does not answer".into(),
        _ => return Error::from(error).at(name),
    };
    let errno = match Errno::from_io_error(&error) {
        // A server that follows another may just be about to bind; a tree that lacks a name is
        // something else.
        Some(Errno::NOENT) => Errno::CONNREFUSED,
        other => other.unwrap_or(Errno::TIMEDOUT),
    };
    Error { errno, text: why }.at(name)
}

fn would_deadlock() -> Error {
    Error::new(Errno::DEADLK, "a callback may not wait for an answer: it would never come")
}
