//! The connector's side: a connection for each rail, all at the same time, then the joins. When the
//! first rail is there the others have [`RAILS_JOIN_TIME`], and so when the first is answered.

use super::connection::{End, Joined};
use super::rail::Rail;
use super::wire::Join;
use super::{Watcher, one_peer};
use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::Stream;
use crate::transport::hello::{self, ANSWER_HEAD, ANSWER_MAX};
use crate::transport::socket::timespec;
use crate::transport::{Adapter, Hello, Transport};
use muster_base::limits::RAILS_JOIN_TIME;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::Builder;

/// What became of a rail.
type Reached = (usize, Result<Box<dyn Adapter>>);

/// Connects over all of the rails that can be had.
pub fn connect(
    below: &Arc<dyn Transport>,
    (to, rails): (&Address, &[Address]),
    hello: &Hello,
    deadline: Deadline,
    watcher: &Watcher,
) -> Result<Box<dyn Adapter>> {
    let reached = reach(below, rails, hello, deadline)?;
    let mut failed = Vec::new();
    let reached = collect(&reached, rails.len(), deadline, &mut failed);
    if reached.is_empty() {
        return Err(none(to, hello, rails, failed, deadline));
    }
    let peers: Vec<_> = reached.iter().map(|(_, end)| end.peer()).collect();
    let peer = one_peer(&to.to_string(), &peers)
        .map_err(|why| Error::Untrusted { peer: to.to_string(), why })?;
    let mut token = [0; 16];
    let random = rustls::crypto::ring::default_provider().secure_random;
    random.fill(&mut token).map_err(|_| Error::Exhausted {
        what: "random numbers",
        source: io::Error::other("the system gives none"),
    })?;
    let count = reached.len() as u8;
    let mut streams = Vec::with_capacity(reached.len());
    for (number, end) in reached {
        let mut stream = end.stream()?;
        let join = Join { token, number: number as u8, count };
        match stream.write(&join.write(), deadline) {
            Ok(()) => streams.push((number, stream)),
            Err(error) => failed.push((number, error)),
        }
    }
    let joined = answered(streams, deadline, &mut failed)?;
    if joined.is_empty() {
        return Err(none(to, hello, rails, failed, deadline));
    }
    let named = |(number, stream)| Rail::new(number, rails[number].to_string(), stream);
    let joined: Vec<_> = joined.into_iter().map(named).collect();
    for (number, rail) in rails.iter().enumerate() {
        if joined.iter().all(|joined| joined.number != number) {
            let why = failed.iter().find(|(failed, _)| *failed == number);
            let why = why.map_or("it is too slow".to_owned(), |(_, error)| error.to_string());
            watcher(&format!("a rail of {to} cannot be had: {rail}: {why}"));
        }
    }
    let me = hello.name.clone();
    let joined = Joined::new(joined, peer, me, hello.lane, watcher.clone())?;
    Ok(Box::new(End { joined, hello: hello.clone() }))
}

/// Tries all rails at once: to connect may take as long as the deadline lets it, and cannot be
/// stopped. Who comes too late is dropped.
fn reach(
    below: &Arc<dyn Transport>,
    rails: &[Address],
    hello: &Hello,
    deadline: Deadline,
) -> Result<Receiver<Reached>> {
    let (reached, all) = channel();
    for (number, rail) in rails.iter().enumerate() {
        let (below, rail, hello) = (below.clone(), rail.clone(), hello.clone());
        let reached = reached.clone();
        let connecting = move || {
            // Who does not wait any more does not need it.
            let _ = reached.send((number, below.connect(&rail, &hello, deadline)));
        };
        let thread = Builder::new().name("connects a rail".to_owned()).spawn(connecting);
        thread.map_err(|source| Error::Exhausted { what: "threads", source })?;
    }
    Ok(all)
}

/// Those that are there in time, by their numbers.
fn collect(
    reached: &Receiver<Reached>,
    count: usize,
    deadline: Deadline,
    failed: &mut Vec<(usize, Error)>,
) -> Vec<(usize, Box<dyn Adapter>)> {
    let (mut there, mut until): (Vec<(usize, Box<dyn Adapter>)>, _) = (Vec::new(), deadline);
    while there.len() + failed.len() < count {
        let Ok((number, result)) = reached.recv_timeout(until.left().unwrap_or_default()) else {
            break;
        };
        match result {
            Ok(end) => {
                if there.is_empty() {
                    until = deadline.sooner(RAILS_JOIN_TIME);
                }
                there.push((number, end));
            }
            Err(error) => failed.push((number, error)),
        }
    }
    there.sort_by_key(|(number, _)| *number);
    there
}

/// Why there is no rail: where all say the same, that.
fn none(
    to: &Address,
    hello: &Hello,
    rails: &[Address],
    mut failed: Vec<(usize, Error)>,
    deadline: Deadline,
) -> Error {
    let is_refused = |(_, error): &(usize, Error)| matches!(error, Error::Refused { .. });
    if let Some(other) = failed.iter().position(|error| !is_refused(error)) {
        return failed.swap_remove(other).1;
    }
    let peer = to.to_string();
    if failed.is_empty() {
        return deadline.missed(&hello.name, peer, "one of its rails");
    }
    let why = failed.iter().map(|(number, error)| match error {
        Error::Refused { why, .. } => format!("{}: {why}", rails[*number]),
        error => error.to_string(),
    });
    Error::Refused { peer, why: why.collect::<Vec<_>>().join("; ") }
}

/// Who has said its join.
struct Joining {
    number: usize,
    stream: Box<dyn Stream>,
    answer: [u8; ANSWER_MAX],
    size: usize,
    there: usize,
}

/// The rails whose joins are answered in time. The listener, too, goes on without the others then.
fn answered(
    streams: Vec<(usize, Box<dyn Stream>)>,
    deadline: Deadline,
    failed: &mut Vec<(usize, Error)>,
) -> Result<Vec<(usize, Box<dyn Stream>)>> {
    let mut waiting: Vec<_> = streams.into_iter().map(Joining::new).collect();
    let (mut joined, mut until) = (Vec::with_capacity(waiting.len()), deadline);
    loop {
        let mut index = 0;
        while let Some(rail) = waiting.get_mut(index) {
            match rail.hear() {
                Ok(false) => index += 1,
                Ok(true) => {
                    if joined.is_empty() {
                        until = until.sooner(RAILS_JOIN_TIME);
                    }
                    let rail = waiting.remove(index);
                    joined.push((rail.number, rail.stream));
                }
                Err(error) => failed.push((waiting.remove(index).number, error)),
            }
        }
        let Some(left) = until.left().filter(|_| !waiting.is_empty()) else { return Ok(joined) };
        let sockets = waiting.iter().filter_map(|rail| rail.stream.descriptor());
        let mut polled: Vec<_> =
            sockets.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)).collect();
        match poll(&mut polled, Some(&timespec(left))) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Error::io("waiting for rails", errno)),
        }
    }
}

impl Joining {
    fn new((number, stream): (usize, Box<dyn Stream>)) -> Joining {
        Joining { number, stream, answer: [0; ANSWER_MAX], size: ANSWER_HEAD, there: 0 }
    }

    /// Reads of the answer what is there, and no byte too many; whether it is whole.
    fn hear(&mut self) -> Result<bool> {
        let name = &self.stream.peer().name.clone();
        while self.there < self.size {
            match self.stream.try_read(&mut self.answer[self.there..self.size]) {
                Ok(0) => {
                    let evidence = "it ended a rail before it answered".to_owned();
                    return Err(Error::Dead { peer: name.clone(), evidence });
                }
                Ok(count) => self.there += count,
                Err(Error::WouldBlock) => return Ok(false),
                Err(error) => return Err(error),
            }
            let answer = &self.answer[..self.there];
            hello::read_answer(answer).map_err(|refusal| refusal.error(name))?;
            if let Some(head) = answer.first_chunk() {
                self.size = hello::answer_size(head);
            }
        }
        Ok(true)
    }
}
