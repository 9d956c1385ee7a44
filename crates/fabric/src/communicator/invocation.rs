//! Invocation: methods of objects at the other end (EPOS, section 2.1, over the active message
//! strategy; its handle with its stub is [`Remote`](crate::adapter::Remote)).
//!
//! Both ends may call and be called. A call is one active message ([`CALL`]) with a number, its
//! answer another one ([`ANSWER`]) with the same number, so any number of calls up to
//! [`INVOCATION_CALLS_MAX`] may be under way and may be answered in any order. All together have at
//! most [`HELD_MAX`] bytes, or are one: as much as the other end holds back while its answers have
//! no room, so that it always comes to the answers that this one sends.
//! `docs/wire/invocation.md` has the bytes.
//!
//! A call ends when its answer comes, when its deadline passes, or with the connection. An answer
//! after the deadline is dropped: a call's number has a part that changes each time its place is
//! used. Who waits for an answer carries out the peer's calls meanwhile, so both may wait for each
//! other. What an object returns as an error is the caller's error; it harms no connection.

use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{ActiveMessage, Handler, Handlers, Ready, late};
use crate::transport::Peer;
use muster_base::limits::{
    HELD_MAX, INVOCATION_ANSWERS_MAX, INVOCATION_CALLS_MAX, INVOCATION_OBJECTS_MAX,
    INVOCATION_REASON_MAX,
};
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::mem::replace;
use std::time::Duration;

/// The handler that carries out a call.
pub const CALL: Handler = 0x4943;
/// The handler that takes an answer.
pub const ANSWER: Handler = 0x4941;

/// How long to wait for room to send before looking for what has arrived.
const NAP: Duration = Duration::from_millis(1);

const CALL_HEADER: usize = 4 + 4 + 2;
const ANSWER_HEADER: usize = 4 + 1;
const DONE: u8 = 0;
const REFUSED: u8 = 1;

/// What can be invoked: methods by number, their arguments and results as bytes.
pub trait Object: Send {
    /// Carries out a method.
    ///
    /// # Errors
    /// Why it is not done, for people.
    fn invoke(&mut self, method: u16, arguments: &[u8]) -> std::result::Result<Vec<u8>, String>;
}

impl<O: Object + ?Sized> Object for Box<O> {
    fn invoke(&mut self, method: u16, arguments: &[u8]) -> std::result::Result<Vec<u8>, String> {
        (**self).invoke(method, arguments)
    }
}

/// A call that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a call holds its place until it is waited for"]
pub struct Call(u32);

/// Invokes objects at the other end, and has objects invoked from there.
///
/// ```
/// # use muster_fabric::{Deadline, Result, communicator::{Invocation, Object}};
/// # use muster_fabric::transport::{self, Hello, Lane};
/// # use std::{thread, time::Duration};
/// struct Sum(u8);
/// impl Object for Sum {
///     fn invoke(&mut self, _: u16, arguments: &[u8]) -> std::result::Result<Vec<u8>, String> {
///         self.0 = self.0.checked_add(arguments.iter().sum()).ok_or("the sum has no room")?;
///         Ok(vec![self.0])
///     }
/// }
/// # fn main() -> Result<()> {
/// # let (at, soon) = ("proc!invocation".parse()?, Deadline::after(Duration::from_secs(30)));
/// # let mut listener = transport::of(&at)?.listen(&at)?;
/// let owner = thread::spawn(move || -> Result<usize> {
///     let mut end = Invocation::new(listener.accept(soon)?.active_message()?);
///     end.register(7, Box::new(Sum(0)))?;
///     end.serve(soon) // Until its peer goes, which is an error.
/// });
/// # let hello = Hello { name: "me".into(), service: "example".into(), lane: Lane::Bulk };
/// let end = transport::of(&at)?.connect(&at, &hello, soon)?.active_message()?;
/// let mut end = Invocation::new(end);
/// assert_eq!(end.call(7, 0, &[1, 2], soon)?, [3]);
/// assert!(end.call(7, 0, &[253], soon).unwrap_err().to_string().contains("has no room"));
/// # drop(end); assert!(owner.join().expect("no panic").is_err()); Ok(())
/// # }
/// ```
pub struct Invocation<A> {
    messages: A,
    ends: Ends,
}

/// What arriving messages change.
struct Ends {
    peer: String,
    /// The most bytes of an answer.
    limit: usize,
    objects: HashMap<u32, Box<dyn Object>>,
    calls: Box<[Place]>,
    /// The answer that is being written.
    answer: Vec<u8>,
    /// Bytes of the answers that nobody has waited for.
    held: usize,
    /// Bytes of the calls without an answer.
    asked: usize,
    /// Those that are not waited for any more, and their bytes: the other end may have them yet.
    late: HashMap<u32, usize>,
}

#[derive(Default)]
struct Place {
    /// The upper bits of the number of its present or next call.
    visit: u32,
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Free,
    /// Its bytes.
    UnderWay(usize),
    Answered(std::result::Result<Vec<u8>, String>),
}

impl<A: ActiveMessage> Invocation<A> {
    /// Over active messages.
    pub fn new(messages: A) -> Invocation<A> {
        let ends = Ends {
            peer: messages.peer().to_string(),
            limit: messages.limit().saturating_sub(ANSWER_HEADER),
            objects: HashMap::new(),
            calls: (0..INVOCATION_CALLS_MAX).map(|_| Place::default()).collect(),
            answer: Vec::new(),
            held: 0,
            asked: 0,
            late: HashMap::new(),
        };
        Invocation { messages, ends }
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &Peer {
        self.messages.peer()
    }

    /// Lets the peer invoke an object by this number; another one of that number goes.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn register(&mut self, number: u32, object: Box<dyn Object>) -> Result<()> {
        let objects = &mut self.ends.objects;
        if objects.len() >= INVOCATION_OBJECTS_MAX && !objects.contains_key(&number) {
            let source = io::Error::other("as many as possible are registered");
            return Err(Error::Exhausted { what: "places for objects", source });
        }
        objects.insert(number, object);
        Ok(())
    }

    /// Takes an object back.
    pub fn withdraw(&mut self, number: u32) -> Option<Box<dyn Object>> {
        self.ends.objects.remove(&number)
    }

    /// Invokes a method and waits for what it returns.
    ///
    /// # Errors
    /// [`Error::Refused`] when the object says so, or there is none; [`Error::TooLarge`],
    /// [`Error::Deadline`]; the connection's. So for the others.
    pub fn call(
        &mut self,
        object: u32,
        method: u16,
        arguments: &[u8],
        deadline: Deadline,
    ) -> Result<Vec<u8>> {
        let call = self.start(object, method, arguments, deadline)?;
        self.wait(call, deadline)
    }

    /// Invokes a method; waits at most for room to send.
    ///
    /// # Errors
    /// See [`Invocation::call`]; [`Error::Exhausted`] when too many have no answer.
    pub fn start(
        &mut self,
        object: u32,
        method: u16,
        arguments: &[u8],
        deadline: Deadline,
    ) -> Result<Call> {
        let mut calls = self.ends.calls.iter();
        let Some(index) = calls.position(|place| matches!(place.state, State::Free)) else {
            let source = io::Error::other("as many as possible have no answer");
            return Err(Error::Exhausted { what: "places for calls", source });
        };
        let call = Call(self.ends.calls[index].visit << 8 | index as u32);
        let mut header = [0; CALL_HEADER];
        header[..4].copy_from_slice(&call.0.to_le_bytes());
        header[4..8].copy_from_slice(&object.to_le_bytes());
        header[8..].copy_from_slice(&method.to_le_bytes());
        let parts = [IoSlice::new(&header), IoSlice::new(arguments)];
        let size = size_of::<Handler>() + CALL_HEADER + arguments.len();
        loop {
            if self.ends.asked > 0 && self.ends.asked + size > HELD_MAX {
                self.make_room(Ready::Receive, deadline)?;
                continue;
            }
            match self.messages.try_call(CALL, &parts) {
                Ok(()) => break,
                Err(Error::WouldBlock) => self.make_room(Ready::Send, deadline)?,
                Err(error) => return Err(error),
            }
        }
        self.ends.asked += size;
        self.ends.calls[index].state = State::UnderWay(size);
        Ok(call)
    }

    /// The peer may wait for room as well: what it sent makes room when it is taken. If nothing
    /// has come, waits for a moment.
    fn make_room(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        let has_moved = self.progress()? > 0;
        let Some(left) = deadline.left() else {
            return Err(self.late("room for a call", deadline));
        };
        if has_moved {
            return Ok(());
        }
        match self.messages.wait(ready, Deadline::after(left.min(NAP))) {
            Err(Error::Deadline { .. }) => Ok(()),
            other => other,
        }
    }

    fn late(&self, what: &str, deadline: Deadline) -> Error {
        late(&self.messages, what, deadline)
    }

    /// Waits for what a call returns. After an error, a deadline's too, nobody can wait for it any
    /// more.
    ///
    /// # Errors
    /// See [`Invocation::call`].
    ///
    /// # Panics
    /// When it was waited for already.
    pub fn wait(&mut self, call: Call, deadline: Deadline) -> Result<Vec<u8>> {
        let is_there = self.ends.place(call.0).is_some_and(|place| !place.is_free());
        assert!(is_there, "a call can be waited for once");
        loop {
            if let Some(answer) = self.ends.answered(call.0) {
                let peer = &self.ends.peer;
                return answer.map_err(|why| Error::Refused { peer: peer.clone(), why });
            }
            // The peer's calls come without end if it likes; what was there at the deadline counts.
            let is_last = deadline.left().is_none();
            let progress = match self.progress() {
                Ok(0) => self.messages.wait(Ready::Receive, deadline),
                Ok(_) if is_last && !self.ends.is_answered(call.0) => {
                    Err(self.late("an answer", deadline))
                }
                other => other.map(drop),
            };
            if let Err(error) = progress {
                self.ends.end(call.0);
                return Err(error);
            }
        }
    }

    /// Carries out what the peer calls until the deadline has passed; returns how many messages
    /// came.
    ///
    /// # Errors
    /// The connection's.
    pub fn serve(&mut self, deadline: Deadline) -> Result<usize> {
        let mut count = 0;
        loop {
            count += self.progress()?;
            match self.messages.wait(Ready::Receive, deadline) {
                Err(Error::Deadline { .. }) => return Ok(count),
                other => other?,
            }
            if deadline.left().is_none() {
                return Ok(count);
            }
        }
    }

    /// Carries out what has arrived, without waiting; returns how many messages that were.
    ///
    /// # Errors
    /// The connection's; [`Error::Malformed`].
    pub fn progress(&mut self) -> Result<usize> {
        match self.messages.try_progress(&mut self.ends) {
            Err(Error::WouldBlock) => Ok(0),
            other => other,
        }
    }
}

impl Ends {
    /// The place of a call that is under way, or was answered.
    fn place(&mut self, number: u32) -> Option<&mut Place> {
        let place = self.calls.get_mut((number & 0xff) as usize)?;
        (place.visit & 0xff_ffff == number >> 8).then_some(place)
    }

    fn is_answered(&mut self, number: u32) -> bool {
        matches!(self.place(number), Some(Place { state: State::Answered(_), .. }))
    }

    /// The answer to a call, which ends with it.
    fn answered(&mut self, number: u32) -> Option<Answer> {
        match &mut self.place(number).expect("it is there").state {
            State::Answered(answer) => {
                let answer = replace(answer, Ok(Vec::new()));
                self.held -= answer.as_ref().map_or(0, Vec::len);
                self.end(number);
                Some(answer)
            }
            _ => None,
        }
    }

    fn end(&mut self, number: u32) {
        if let Some(place) = self.place(number) {
            let visit = (place.visit + 1) & 0xff_ffff;
            match replace(place, Place { visit, state: State::Free }).state {
                State::UnderWay(size) => drop(self.late.insert(number, size)),
                State::Answered(Ok(bytes)) => self.held -= bytes.len(),
                _ => {}
            }
        }
    }

    fn carry_out(
        &mut self,
        arguments: &[u8],
        answer: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        let call = read_call(arguments)?;
        let result = match self.objects.get_mut(&call.object) {
            None => Err(format!("there is no object {}", call.object)),
            Some(object) => object.invoke(call.method, call.arguments),
        };
        let (status, mut bytes) = match result {
            Ok(bytes) if bytes.len() > self.limit => {
                let (size, limit) = (bytes.len(), self.limit);
                (REFUSED, format!("a result of {size} bytes: {limit} are possible").into_bytes())
            }
            Ok(bytes) => (DONE, bytes),
            Err(why) => (REFUSED, why.into_bytes()),
        };
        bytes.truncate(self.limit);
        self.answer.clear();
        self.answer.extend_from_slice(&call.number.to_le_bytes());
        self.answer.push(status);
        self.answer.extend_from_slice(&bytes);
        answer(ANSWER, &self.answer);
        Ok(())
    }

    fn take_answer(&mut self, arguments: &[u8]) -> std::result::Result<(), String> {
        let (number, mut result) = read_answer(arguments)?;
        let size = result.as_ref().map_or(0, Vec::len);
        let has_room = self.held + size <= INVOCATION_ANSWERS_MAX;
        match self.place(number) {
            Some(Place { state: state @ State::UnderWay(_), .. }) => {
                if !has_room {
                    let most = INVOCATION_ANSWERS_MAX;
                    result =
                        Err(format!("answers may hold {most} bytes until they are waited for"));
                }
                if let State::UnderWay(asked) = replace(state, State::Answered(result)) {
                    self.asked -= asked;
                }
                self.held += if has_room { size } else { 0 };
                Ok(())
            }
            Some(Place { state: State::Answered(_), .. }) => {
                Err(format!("a second answer to call {number}"))
            }
            // It comes after the deadline of its call.
            _ => {
                self.asked -= self.late.remove(&number).unwrap_or(0);
                Ok(())
            }
        }
    }
}

impl Handlers for Ends {
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        answer: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        match handler {
            CALL => self.carry_out(arguments, answer),
            ANSWER => self.take_answer(arguments),
            other => Err(format!("there is no handler {other}")),
        }
    }

    fn answering(&self) -> Option<Handler> {
        Some(CALL)
    }
}

impl Place {
    fn is_free(&self) -> bool {
        matches!(self.state, State::Free)
    }
}

struct CallMessage<'a> {
    number: u32,
    object: u32,
    method: u16,
    arguments: &'a [u8],
}

fn read_call(bytes: &[u8]) -> std::result::Result<CallMessage<'_>, String> {
    let (number, rest) = bytes.split_first_chunk().ok_or("a call without a number")?;
    let (object, rest) = rest.split_first_chunk().ok_or("a call without an object")?;
    let (method, arguments) = rest.split_first_chunk().ok_or("a call without a method")?;
    let (number, object) = (u32::from_le_bytes(*number), u32::from_le_bytes(*object));
    Ok(CallMessage { number, object, method: u16::from_le_bytes(*method), arguments })
}

type Answer = std::result::Result<Vec<u8>, String>;

fn read_answer(bytes: &[u8]) -> std::result::Result<(u32, Answer), String> {
    let (number, rest) = bytes.split_first_chunk().ok_or("an answer without a number")?;
    let result = match rest.split_first().ok_or("an answer without a status")? {
        (&DONE, bytes) => Ok(bytes.to_vec()),
        (&REFUSED, text) => {
            // It is shown to people: what would move their cursor is left out.
            let text = text.get(..INVOCATION_REASON_MAX).unwrap_or(text);
            let text = String::from_utf8_lossy(text);
            Err(text.chars().filter(|letter| !letter.is_control()).collect())
        }
        (status, _) => return Err(format!("an answer of status {status}")),
    };
    Ok((u32::from_le_bytes(*number), result))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples of a page in `docs/wire/`: lines of hexadecimal bytes after `sample NAME:`.
    fn sample(name: &str) -> Vec<u8> {
        let page = include_str!("../../../../docs/wire/invocation.md");
        let (_, rest) = page.split_once(&format!("sample {name}:")).expect("the page has it");
        let line = rest.lines().next().expect("it is on that line");
        let byte = |text| u8::from_str_radix(text, 16).expect("bytes are hexadecimal");
        line.split_whitespace().map(byte).collect()
    }

    #[test]
    fn the_samples_in_the_documentation_are_what_it_says() {
        let bytes = sample("call");
        let call = read_call(&bytes).unwrap();
        assert_eq!((call.number, call.object, call.method), (0x0203, 7, 1));
        assert_eq!(call.arguments, b"hi");
        assert_eq!(read_answer(&sample("done")), Ok((0x0203, Ok(b"ok".to_vec()))));
        assert_eq!(read_answer(&sample("refused")), Ok((0x0203, Err("no".to_owned()))));
    }

    #[test]
    fn answers_that_nobody_waits_for_hold_a_limited_part_of_memory() {
        let calls =
            (0..INVOCATION_CALLS_MAX).map(|_| Place { visit: 0, state: State::UnderWay(0) });
        let (peer, objects) = (String::new(), HashMap::new());
        let (answer, calls) = (Vec::new(), calls.collect());
        let (held, asked, late) = (0, 0, HashMap::new());
        let mut ends = Ends { peer, limit: 0, objects, calls, answer, held, asked, late };
        let size = INVOCATION_ANSWERS_MAX / 4;
        let answer = |number: u32| [&number.to_le_bytes()[..], &[DONE], &vec![7; size]].concat();
        for number in 0..6 {
            ends.take_answer(&answer(number)).unwrap();
        }
        let is_kept = |answer: Option<Answer>| answer.expect("it was answered").is_ok();
        assert!(!is_kept(ends.answered(4)) && !is_kept(ends.answered(5)));
        // What is taken, or given up, makes room again.
        assert!(is_kept(ends.answered(0)));
        ends.end(1);
        for number in 6..9 {
            ends.take_answer(&answer(number)).unwrap();
        }
        let kept = [2, 3, 6, 7, 8].map(|number| is_kept(ends.answered(number)));
        assert_eq!((kept, ends.held), ([true, true, true, true, false], 0));
        // The other end may have a call that is given up as long as it has not answered.
        (ends.asked, ends.calls[9].state) = (100, State::UnderWay(100));
        ends.end(9);
        assert_eq!(ends.asked, 100);
        for _ in 0..2 {
            ends.take_answer(&answer(9)).unwrap();
            assert_eq!((ends.asked, ends.held), (0, 0));
        }
    }

    #[test]
    fn a_reason_is_as_long_as_people_read_and_moves_nothing() {
        let text = "\x1b[2J".to_owned() + &"x".repeat(9000);
        let (_, answer) = read_answer(&[&[0, 0, 0, 0, REFUSED], text.as_bytes()].concat()).unwrap();
        let why = answer.unwrap_err();
        assert!(why.starts_with("[2Jx") && why.len() < INVOCATION_REASON_MAX);
    }

    #[test]
    fn a_truncated_message_is_refused_with_a_reason() {
        for length in 0..CALL_HEADER {
            assert!(read_call(&sample("call")[..length]).is_err(), "{length}");
        }
        for length in 0..ANSWER_HEADER {
            assert!(read_answer(&sample("done")[..length]).is_err(), "{length}");
        }
        assert!(read_answer(&[0, 0, 0, 0, 2]).is_err());
    }
}
