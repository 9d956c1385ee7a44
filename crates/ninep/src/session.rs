//! A server's side of one connection, without I/O: bytes go in, bytes come out.
//!
//! States: before `Tversion` nothing else is answered; each `Tversion` starts afresh (version(5)).
//! A request is put to the tree by a [`Desk`] and concluded here, at once or, when the tree has
//! parked it, once its answer has arrived in the [`Port`]. What the answer means for the fid
//! table is kept as a [`Goal`] meanwhile. A flush takes a waiting request back or, when it is
//! being carried out already, is answered right behind it (flush(5)). When the connection ends,
//! waiting requests are flushed and all fids clunked.

use crate::call::{Call, Completion, Data, Opened, Outcome, Pause, Port, Standing};
use crate::desk::{Again, Asked, Desk, Goal};
use crate::error::{Errno, Error};
use crate::fid::{Fids, Slot};
use crate::intake::Arriving;
use crate::kept::{Kept, Writes};
use crate::message::{BadStream, ErrorNumber, Fid, Frame, NOTAG, Qids, Rmessage, Tag, Tmessage};
use crate::outbox::Outbox;
use crate::promised::{Promise, Source};
use crate::record::Qid;
use crate::tree::{Peer, Tree};
use crate::version::{Dialect, Version};
use crate::wire::{Payload, Reader, Writer};
use muster_base::limits::{IO_HEADER, MSIZE_FIRST, MSIZE_MAX, MSIZE_MIN, OUTBOX_MAX};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

/// The type of a request that makes its fid an attribute.
const XATTRCREATE: u8 = 32;

/// Bytes of a refusal's text that are sent.
const TEXT_MAX: usize = 1024;

/// A fid that ends with a request, and its number.
type Gone<F> = Option<(Fid, Slot<F>)>;

/// A request that waits for its tree.
struct Parked<F> {
    serial: u64,
    number: u8,
    goal: Goal,
    /// The fid that ends with it, and has left the table.
    gone: Gone<F>,
    standing: Standing,
    /// What its answer will bring.
    promised: Option<Promise>,
    /// Nobody waits for what it brings any more, so that is thrown away.
    dropped: bool,
    /// What a write keeps.
    kept: Option<Kept>,
    /// A step before this one has had its effect: a flush can no longer take the request back.
    begun: bool,
    /// Flushes that wait for its answer, in order.
    flushes: Vec<Tag>,
}

impl<F> Parked<F> {
    /// Has whoever carries it out break it off. What it would have brought nobody waits for, so it
    /// holds up no others, however long that takes.
    fn unwanted(&mut self, outbox: &mut Outbox) {
        self.standing.unwanted();
        // What a made file has given is nowhere else.
        if let Some(promise) = self.promised.take_if(|it| it.source != Source::Made) {
            outbox.promised().kept(promise);
            self.dropped = true;
        }
    }
}

/// The answer to a read that was given up: without what it has brought.
fn taken_back<F>(outcome: Outcome<F>) -> Outcome<F> {
    match outcome {
        Outcome::Data(_) | Outcome::Entries(_) => {
            Outcome::Failed(Error::new(Errno::INTR, "the request was taken back"))
        }
        other => other,
    }
}

/// A parked request that the tree has not begun ([`Pause::Later`]).
struct Held<T: Tree> {
    tag: Tag,
    serial: u64,
    /// From where there is to be room.
    source: Source,
    again: Again<T>,
}

/// One connection's state.
pub struct Session<T: Tree> {
    pub(crate) tree: Arc<T>,
    pub(crate) peer: Peer,
    pub(crate) port: Arc<Port<T::Fid>>,
    pub(crate) version: Option<Version>,
    pub(crate) msize: u32,
    pub(crate) fids: Fids<T::Fid>,
    pub(crate) outbox: Outbox,
    parked: HashMap<Tag, Parked<T::Fid>>,
    /// Those of them that the tree is asked again when there is room, in order.
    held: BTreeMap<Source, VecDeque<Held<T>>>,
    /// Writes among them, which wait for room elsewhere.
    writes: VecDeque<Held<T>>,
    /// Bytes of writes that wait, for room or until they are carried out.
    kept: Writes,
    /// Flushes that wait, and the request each waits for.
    flushing: HashMap<Tag, Tag>,
    /// Requests that were being carried out when they were cut off, by serial; with the file that
    /// the request was opening or ending, if it was: it is clunked when the answer is there.
    leaving: HashMap<u64, Option<T::Fid>>,
    serial: u64,
    /// A write whose content is taken as it arrives.
    pub(crate) arriving: Option<Arriving>,
}

impl<T: Tree> Session<T> {
    /// A new connection from `peer`; `wake` is called, from any thread, when late answers have
    /// arrived and [`Session::conclude`] should be called.
    pub fn new(tree: Arc<T>, peer: Peer, wake: impl Fn() + Send + Sync + 'static) -> Session<T> {
        let fids = Fids::new(tree.fids_max());
        Session {
            tree,
            peer,
            port: Arc::new(Port::new(wake)),
            version: None,
            msize: MSIZE_FIRST as u32,
            fids,
            outbox: Outbox::default(),
            parked: HashMap::new(),
            held: BTreeMap::new(),
            writes: VecDeque::new(),
            kept: Writes::default(),
            flushing: HashMap::new(),
            leaving: HashMap::new(),
            serial: 0,
            arriving: None,
        }
    }

    /// Carries out the whole messages at the start of `bytes`, and begins a large write that the
    /// tree takes in parts; returns how many bytes that were. It stops early while more than
    /// [`OUTBOX_MAX`] bytes wait to be sent, or much that it writes.
    ///
    /// # Errors
    /// [`BadStream`] when this is not 9P: the connection must be closed.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<usize, BadStream> {
        let mut done = 0;
        while !self.is_stalled() {
            let rest = &bytes[done..];
            if self.arriving.is_some() {
                match self.take_in(rest) {
                    0 => break,
                    taken => done += taken,
                }
            } else if let Some((frame, size)) = Frame::cut(rest, self.msize)? {
                done += size;
                self.request(frame);
            } else {
                match self.begin_write(rest) {
                    0 => break,
                    header => done += header,
                }
            }
        }
        Ok(done)
    }

    /// Whether the peer must take replies before more requests are carried out, or somebody what
    /// this peer writes.
    pub fn is_stalled(&self) -> bool {
        self.outbox.len() >= OUTBOX_MAX || self.keeps_much()
    }

    /// Whether somebody must take what this peer writes before more is carried out.
    pub(crate) fn keeps_much(&self) -> bool {
        self.kept.are_much()
    }

    /// Begins requests that had to wait until there was room for what they bring, or write; whether
    /// there were any.
    pub fn resume(&mut self) -> bool {
        let mut begun = false;
        let sources: Vec<Source> = self.held.keys().copied().collect();
        for source in sources {
            while self.outbox.has_room(source)
                && let Some(held) = self.held.get_mut(&source).and_then(VecDeque::pop_front)
            {
                begun |= self.ask_again(held);
            }
        }
        self.held.retain(|_, held| !held.is_empty());
        if self.port.take_room() {
            begun |= self.resume_writes();
        }
        begun
    }

    /// Asks again for writes. Those through one fid stay in their order, as its file may be a pipe.
    fn resume_writes(&mut self) -> bool {
        let (mut begun, mut full) = (false, Vec::new());
        for write in std::mem::take(&mut self.writes) {
            let Some((fid, _)) = write.again.content else { unreachable!("it is a write") };
            if full.contains(&fid) {
                self.hold(write);
                continue;
            }
            let held = self.writes.len();
            let asked = self.ask_again(write);
            if self.writes.len() > held {
                full.push(fid);
            } else {
                begun |= asked;
            }
        }
        begun
    }

    /// Asks a request again, unless it was cut off.
    fn ask_again(&mut self, Held { tag, serial, again, .. }: Held<T>) -> bool {
        if self.parked.get(&tag).is_none_or(|parked| parked.serial != serial) {
            return false;
        }
        let parked = self.parked.remove(&tag).expect("just seen");
        let Parked { number, goal, flushes, kept, .. } = parked;
        kept.into_iter().for_each(|kept| self.kept.end(kept));
        self.put_to_tree(tag, number, |desk| Ok((goal, desk.ask_again(again))));
        self.hand_on(tag, flushes);
        true
    }

    /// Keeps a request that is to be asked again.
    fn hold(&mut self, held: Held<T>) {
        match held.again.content {
            Some(_) => self.writes.push_back(held),
            None => self.held.entry(held.source).or_default().push_back(held),
        }
    }

    /// Forgets one that was taken back.
    fn let_go(&mut self, serial: u64) {
        let others = |held: &Held<T>| held.serial != serial;
        self.held.values_mut().for_each(|held| held.retain(others));
        self.writes.retain(others);
    }

    /// Whether the peer has attached, or asks for it: it has a fid, or waits for one.
    pub fn has_begun(&self) -> bool {
        self.version.is_some() && (!self.fids.is_empty() || !self.parked.is_empty())
    }

    /// Largest message that may arrive now.
    pub fn msize(&self) -> usize {
        self.msize as usize
    }

    /// What is to be sent.
    pub fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Concludes requests whose answers have arrived.
    pub fn conclude(&mut self) {
        for Completion { tag, serial, outcome } in self.port.take() {
            let ours = self.parked.get(&tag).is_some_and(|parked| parked.serial == serial);
            match self.parked.remove(&tag) {
                Some(mut parked) if ours => {
                    self.no_longer_counts(&mut parked);
                    let outcome = if parked.dropped { taken_back(outcome) } else { outcome };
                    parked.gone.into_iter().for_each(|(_, slot)| self.tree.clunk(slot.fid));
                    self.finish(tag, parked.number, parked.goal, outcome);
                    self.hand_on(tag, parked.flushes);
                }
                other => {
                    self.parked.extend(other.map(|parked| (tag, parked)));
                    self.discard(serial, outcome);
                }
            }
        }
        self.resume();
    }

    /// Counts no more what a request keeps, and what its answer would bring.
    fn no_longer_counts(&mut self, parked: &mut Parked<T::Fid>) {
        parked.kept.take().into_iter().for_each(|kept| self.kept.end(kept));
        parked.promised.inspect(|it| self.outbox.promised().kept(*it));
    }

    /// Flushes that wait for a request wait for its next step, or are answered behind it.
    fn hand_on(&mut self, tag: Tag, flushes: Vec<Tag>) {
        if flushes.is_empty() {
            return;
        }
        if let Some(next_step) = self.parked.get_mut(&tag) {
            next_step.flushes = flushes;
            next_step.unwanted(&mut self.outbox);
            return;
        }
        self.flushed(flushes);
    }

    /// Answers flushes that have waited.
    fn flushed(&mut self, flushes: Vec<Tag>) {
        for flush in flushes {
            self.flushing.remove(&flush);
            self.reply(flush, &Rmessage::Flush {});
        }
    }

    /// Ends the connection. Requests that are being carried out end later: keep the session,
    /// and go on to [`Session::conclude`], until it [is settled](Session::is_settled).
    pub fn close(&mut self) {
        let mut gone = Vec::new();
        for (_, parked) in self.parked.drain() {
            parked.promised.inspect(|it| self.outbox.promised().kept(*it));
            let ends = parked.gone.map(|(_, slot)| slot);
            if parked.standing.flush() {
                gone.extend(ends);
            } else {
                parked.standing.unwanted();
                let opening = match &parked.goal {
                    Goal::Open { fid, .. } => Some(*fid),
                    Goal::Old(step) => step.opening(),
                    _ => None,
                };
                let opening = opening.and_then(|fid| self.fids.extract(fid)).or(ends);
                self.leaving.insert(parked.serial, opening.map(|slot| slot.fid));
            }
        }
        self.held.clear();
        self.writes.clear();
        self.kept = Writes::default();
        self.flushing.clear();
        for Completion { serial, outcome, .. } in self.port.take() {
            self.discard(serial, outcome);
        }
        for slot in self.fids.drain().chain(gone) {
            if slot.remove {
                self.serial += 1;
                let (port, outbox) = (&self.port, &mut self.outbox);
                let (tag, serial, standing, brings) = (NOTAG, self.serial, None, None);
                let mut call = Call { tag, serial, origin: port, standing, outbox, brings };
                // Nobody is left to be told of an error, here or below.
                let _ = self.tree.remove(&mut call, &slot.fid);
            }
            self.tree.clunk(slot.fid);
        }
    }

    /// Whether no request that was cut off is still being carried out.
    pub fn is_settled(&self) -> bool {
        self.leaving.is_empty()
    }

    /// Gives back what the answer to a request that was cut off has brought.
    fn discard(&mut self, serial: u64, outcome: Outcome<T::Fid>) {
        let unopened = self.leaving.remove(&serial).flatten();
        let file = match outcome {
            Outcome::Attached(fid, _) | Outcome::Xattr(fid, _) => Some(fid),
            Outcome::Walked(walked) => walked.fid,
            Outcome::Opened(opened) => Some(opened.fid),
            _ => unopened,
        };
        if let Some(fid) = file {
            self.tree.clunk(fid);
        }
    }

    fn dialect(&self) -> Dialect {
        self.version.map_or(Dialect::Plan9, |version| version.dialect)
    }

    pub(crate) fn reply(&mut self, tag: Tag, message: &Rmessage<'_>) {
        let (dialect, most) = (self.dialect(), self.msize as usize);
        let fits = self.outbox.put(|out| {
            let start = out.len();
            message.encode(tag, dialect, out);
            let fits = out.len() - start <= most;
            if !fits {
                out.truncate(start);
            }
            fits
        });
        if !fits {
            let text = format!("the answer is larger than the message size of {most} bytes");
            self.refuse(tag, &Error::new(Errno::MSGSIZE, text));
        }
    }

    pub(crate) fn refuse(&mut self, tag: Tag, error: &Error) {
        let errno = error.errno.raw_os_error() as u32;
        let mut cut = error.text.len().min(TEXT_MAX);
        while !error.text.is_char_boundary(cut) {
            cut -= 1;
        }
        let text = &error.text.as_bytes()[..cut];
        match self.version {
            Some(version) if version.dialect == Dialect::Linux && !version.texts => {
                self.reply(tag, &Rmessage::Lerror { errno });
            }
            _ => self.reply(tag, &Rmessage::Error { text, errno: ErrorNumber(errno) }),
        }
    }

    fn request(&mut self, frame: Frame<'_>) {
        let tag = frame.tag;
        let message = match frame.request(self.dialect()) {
            Ok(message) => message,
            Err(malformed) => {
                return self.refuse(tag, &Error::new(Errno::BADMSG, malformed.to_string()));
            }
        };
        if self.is_in_use(tag) {
            let text = format!("tag {tag} is in use by a request that waits for its answer");
            return self.refuse(tag, &Error::new(Errno::INVAL, text));
        }
        match message {
            Tmessage::Version { msize, version } => self.start(tag, msize, version),
            _ if self.version.is_none() => {
                self.refuse(tag, &Error::new(Errno::PROTO, "Tversion must come first"));
            }
            _ if tag == NOTAG => {
                self.refuse(tag, &Error::new(Errno::INVAL, "only Tversion may have no tag"));
            }
            Tmessage::Flush { oldtag } => self.flush(tag, oldtag),
            Tmessage::Clunk { fid } => self.clunk(tag, fid),
            message => self.ask(tag, frame.number, message),
        }
    }

    /// Whether a request with this tag waits.
    pub(crate) fn is_in_use(&self, tag: Tag) -> bool {
        self.parked.contains_key(&tag) || self.flushing.contains_key(&tag)
    }

    fn start(&mut self, tag: Tag, msize: u32, proposed: &str) {
        self.close();
        self.version = None;
        self.msize = MSIZE_FIRST as u32;
        if (msize as usize) < MSIZE_MIN {
            let text = format!("msize {msize} is too small; at least {MSIZE_MIN} is needed");
            return self.refuse(tag, &Error::new(Errno::MSGSIZE, text));
        }
        let msize = msize.min(MSIZE_MAX as u32);
        let Some(agreed) = Version::agree(proposed) else {
            return self.reply(tag, &Rmessage::Version { msize, version: "unknown" });
        };
        self.reply(tag, &Rmessage::Version { msize, version: agreed.name() });
        self.version = Some(agreed);
        self.msize = msize;
        self.outbox.set_msize(msize as usize);
    }

    fn flush(&mut self, tag: Tag, oldtag: Tag) {
        // A flush of a flush waits for the same request as that one does.
        let target = self.flushing.get(&oldtag).copied().unwrap_or(oldtag);
        match self.parked.get_mut(&target) {
            Some(parked) if target == oldtag && !parked.begun && parked.standing.flush() => {
                let mut parked = self.parked.remove(&target).expect("it was found");
                self.no_longer_counts(&mut parked);
                self.let_go(parked.serial);
                parked.goal.fid().inspect(|fid| self.fids.release(*fid));
                if let Some((fid, slot)) = parked.gone {
                    self.give_back(fid, slot);
                }
                // Those that came while a step before this one could not be taken back.
                self.flushed(parked.flushes);
                self.reply(tag, &Rmessage::Flush {});
            }
            Some(parked) => {
                parked.flushes.push(tag);
                self.flushing.insert(tag, target);
                parked.unwanted(&mut self.outbox);
            }
            None => self.reply(tag, &Rmessage::Flush {}),
        }
    }

    fn clunk(&mut self, tag: Tag, fid: Fid) {
        let number = Tmessage::Clunk { fid }.number();
        match self.fids.get(fid) {
            Ok(slot) if slot.remove => self.put_to_tree(tag, number, |desk| desk.remove(fid)),
            Ok(slot) if slot.sets_attribute() => {
                self.put_to_tree(tag, number, |desk| desk.commit(fid));
            }
            Ok(_) => {
                self.forget(fid);
                self.reply(tag, &Rmessage::Clunk {});
            }
            Err(error) => self.refuse(tag, &error),
        }
    }

    /// Reserves what a parked request needs. The number of a fid that ends with it is free from
    /// here on: clients use it again before they have the answer.
    fn let_number_go(&mut self, goal: Goal) -> (Goal, Gone<T::Fid>) {
        if let Goal::Gone { fid } = goal {
            return (Goal::Reply, self.fids.extract(fid).map(|slot| (fid, slot)));
        }
        goal.fid().inspect(|fid| self.fids.reserve(*fid));
        (goal, None)
    }

    /// Puts a fid that was to end where it was, unless there is another now.
    fn give_back(&mut self, fid: Fid, slot: Slot<T::Fid>) {
        let unplaced =
            if self.fids.vacant(fid).is_ok() { self.fids.put(fid, slot) } else { Some(slot) };
        unplaced.into_iter().for_each(|slot| self.tree.clunk(slot.fid));
    }

    fn forget(&mut self, fid: Fid) {
        if let Ok(slot) = self.fids.take(fid) {
            self.tree.clunk(slot.fid);
        }
    }

    fn ask(&mut self, tag: Tag, number: u8, message: Tmessage<'_>) {
        let waits = |fid| {
            let through = |held: &Held<T>| held.again.content.is_some_and(|(of, _)| of == fid);
            self.writes.iter().any(through)
        };
        match message {
            Tmessage::Write { fid, offset, data } if waits(fid) => {
                self.put_to_tree(tag, number, |desk| desk.write(fid, offset, data.0, true));
            }
            message => self.put_to_tree(tag, number, |desk| desk.ask(message)),
        }
    }

    fn put_to_tree(
        &mut self,
        tag: Tag,
        number: u8,
        ask: impl FnOnce(&mut Desk<'_, T>) -> Result<Asked<T::Fid>, Error>,
    ) {
        self.step(tag, number, false, ask);
    }

    /// Puts the next step of a request to the tree.
    pub(crate) fn go_on(
        &mut self,
        tag: Tag,
        number: u8,
        ask: impl FnOnce(&mut Desk<'_, T>) -> Result<Asked<T::Fid>, Error>,
    ) {
        self.step(tag, number, true, ask);
    }

    fn step(
        &mut self,
        tag: Tag,
        number: u8,
        begun: bool,
        ask: impl FnOnce(&mut Desk<'_, T>) -> Result<Asked<T::Fid>, Error>,
    ) {
        self.serial += 1;
        let serial = self.serial;
        let mut desk = Desk::new(self, tag, serial);
        let asked = ask(&mut desk);
        let (standing, again, brings) = (desk.standing(), desk.again.take(), desk.call.brings);
        let (content, is_ours) = (desk.content, desk.is_ours);
        match asked {
            Err(error) => self.refuse(tag, &error),
            Ok((goal, Ok(outcome))) => self.finish(tag, number, goal, outcome),
            Ok((goal, Err(Pause::Refused(error)))) => {
                self.finish(tag, number, goal, Outcome::Failed(error));
            }
            Ok((goal, Err(pause))) => {
                // What the tree has not begun a flush takes back in any case.
                let is_begun = matches!(pause, Pause::Parked);
                let begun = begun && is_begun;
                let source = brings.map_or(Source::Here, |brings| brings.source);
                again.into_iter().for_each(|again| self.hold(Held { tag, serial, source, again }));
                let promised = brings.filter(|_| is_begun);
                promised.inspect(|it| self.outbox.promised().make(*it));
                // Ours bounds what it has under way itself, and hands on what others write: they
                // would all wait for one of them.
                let kept = content.filter(|_| !(is_begun && is_ours));
                let kept = kept.map(|(fid, bytes)| self.kept.begin(fid, bytes));
                let (goal, gone) = self.let_number_go(goal);
                let (standing, flushes) = (standing.unwrap_or_default(), Vec::new());
                let parked = Parked {
                    serial,
                    number,
                    goal,
                    gone,
                    standing,
                    promised,
                    dropped: false,
                    kept,
                    begun,
                    flushes,
                };
                self.parked.insert(tag, parked);
            }
        }
    }

    /// Does to the fid table what an answer means, and sends it.
    fn finish(&mut self, tag: Tag, number: u8, goal: Goal, outcome: Outcome<T::Fid>) {
        goal.fid().inspect(|fid| self.fids.release(*fid));
        if let Goal::Gone { fid } = goal {
            // Whether it succeeds or not (remove(5), clunk(5)).
            self.forget(fid);
        }
        if let Outcome::Failed(mut error) = outcome {
            if let Goal::Old(step) = &goal {
                let Some(told) = self.fail_old(tag, number, step, error) else { return };
                error = told;
            }
            let nothing = matches!(goal, Goal::Walk { .. }) && error.errno == Errno::NOENT;
            if nothing && self.dialect() == Dialect::Plan9 {
                // Linux's v9fs knows errors of 9P2000 by these very texts, and creates a file
                // only where it understands that there is none.
                return self.refuse(tag, &Error::from(Errno::NOENT));
            }
            return self.refuse(tag, &error);
        }
        match goal {
            Goal::Reply | Goal::Gone { .. } => self.reply_with(tag, number, outcome),
            Goal::Attach { fid } => {
                let Outcome::Attached(root, qid) = outcome else { unreachable!() };
                self.fids.put(fid, Slot::new(root, qid));
                self.reply(tag, &Rmessage::Attach { qid });
            }
            Goal::Xattrwalk { newfid } => {
                let Outcome::Xattr(attr, size) = outcome else { unreachable!() };
                let mut slot = Slot::new(attr, Qid::default());
                slot.opened = Some(crate::tree::OpenFlags::default());
                slot.is_attribute = true;
                self.fids.put(newfid, slot);
                self.reply(tag, &Rmessage::Xattrwalk { size });
            }
            Goal::Walk { start, newfid, path } => {
                self.finish_walk(tag, start, newfid, path, outcome);
            }
            Goal::Open { fid, flags, remove, name } => {
                let Outcome::Opened(opened) = outcome else { unreachable!() };
                let (qid, iounit) = (opened.qid, self.finish_open(fid, opened, name));
                let slot = self.fids.mine(fid).expect("it was reserved");
                (slot.opened, slot.remove) = (Some(flags), remove);
                slot.is_attribute = number == XATTRCREATE;
                self.reply_open(tag, number, qid, iounit);
            }
            Goal::Read { count } => self.finish_read(tag, number, count, outcome),
            Goal::Readdir { count } => {
                let Outcome::Entries(entries) = outcome else { unreachable!() };
                self.finish_readdir(tag, count, &entries);
            }
            Goal::Old(goal) => self.finish_old(tag, number, goal, outcome),
        }
    }

    fn reply_with(&mut self, tag: Tag, number: u8, outcome: Outcome<T::Fid>) {
        // Requests that only say that they are done differ in nothing but their type.
        let done = |number: u8| Rmessage::decode(number + 1, Reader::new(&[], Dialect::Linux));
        match outcome {
            Outcome::Count(count) => self.reply(tag, &Rmessage::Write { count }),
            Outcome::Attr(attr) => self.reply(tag, &Rmessage::Getattr { attr: *attr }),
            Outcome::Statfs(statfs) => self.reply(tag, &Rmessage::Statfs { statfs: *statfs }),
            Outcome::Text(target) => self.reply(tag, &Rmessage::Readlink { target: &target }),
            Outcome::Lock(status) => self.reply(tag, &Rmessage::Lock { status: status as u8 }),
            Outcome::Held(held) => {
                let range = held.as_range();
                self.reply(tag, &Rmessage::Getlock { range });
            }
            Outcome::Qid(qid) => match number {
                16 => self.reply(tag, &Rmessage::Symlink { qid }),
                18 => self.reply(tag, &Rmessage::Mknod { qid }),
                _ => self.reply(tag, &Rmessage::Mkdir { qid }),
            },
            Outcome::Done if number == 126 => self.reply(tag, &Rmessage::Wstat {}),
            Outcome::Done => self.reply(tag, &done(number).expect("it has no fields")),
            _ => unreachable!("the other outcomes have goals of their own"),
        }
    }

    fn finish_walk(
        &mut self,
        tag: Tag,
        start: Qid,
        newfid: Fid,
        path: Vec<u8>,
        outcome: Outcome<T::Fid>,
    ) {
        let Outcome::Walked(walked) = outcome else { unreachable!() };
        if let Some(file) = walked.fid {
            let qid = walked.qids.last().copied().unwrap_or(start);
            if let Some(old) = self.fids.put(newfid, Slot::new(file, qid).at(path)) {
                // The same fid walked on: its old file is no longer in use.
                self.tree.clunk(old.fid);
            }
        }
        self.reply(tag, &Rmessage::Walk { qids: Qids(walked.qids) });
    }

    /// Puts an opened file into its fid's place; returns the unit of transfer to announce.
    pub(crate) fn finish_open(
        &mut self,
        fid: Fid,
        opened: Opened<T::Fid>,
        name: Option<Vec<u8>>,
    ) -> u32 {
        let slot = self.fids.mine(fid).expect("it was reserved");
        (slot.fid, slot.qid) = (opened.fid, opened.qid);
        if let Some(name) = name {
            self.fids.descend(fid, &name);
        }
        let whole = self.msize - IO_HEADER as u32;
        if opened.iounit == 0 { whole } else { opened.iounit.min(whole) }
    }

    pub(crate) fn reply_open(&mut self, tag: Tag, number: u8, qid: Qid, iounit: u32) {
        match number {
            12 => self.reply(tag, &Rmessage::Lopen { qid, iounit }),
            14 => self.reply(tag, &Rmessage::Lcreate { qid, iounit }),
            32 => self.reply(tag, &Rmessage::Xattrcreate {}),
            112 => self.reply(tag, &Rmessage::Open { qid, iounit }),
            _ => self.reply(tag, &Rmessage::Create { qid, iounit }),
        }
    }

    fn finish_read(&mut self, tag: Tag, number: u8, count: usize, outcome: Outcome<T::Fid>) {
        match outcome {
            Outcome::Data(Data::Filled(filling)) => {
                self.outbox.put_filling(tag, number + 1, filling);
            }
            Outcome::Data(Data::Mapped(mapping)) if mapping.len() <= count => {
                self.outbox.put_mapping(tag, number + 1, mapping);
            }
            Outcome::Data(Data::Bytes(bytes)) if bytes.len() <= count => {
                self.reply(tag, &Rmessage::Read { data: Payload(&bytes) });
            }
            _ => {
                let text = "the tree has answered a read with more than was asked for";
                self.refuse(tag, &Error::new(Errno::IO, text));
            }
        }
    }

    fn finish_readdir(&mut self, tag: Tag, count: usize, entries: &[crate::record::DirEntry]) {
        let mut data = Vec::with_capacity(count.min(64 * 1024));
        for entry in entries {
            if data.len() + entry.size() > count {
                break;
            }
            entry.put(&mut Writer { out: &mut data, dialect: Dialect::Linux });
        }
        if data.is_empty() && !entries.is_empty() {
            let text = format!("no entry fits into {count} bytes");
            return self.refuse(tag, &Error::new(Errno::INVAL, text));
        }
        self.reply(tag, &Rmessage::Readdir { data: Payload(&data) });
    }
}

impl<T: Tree> Drop for Session<T> {
    fn drop(&mut self) {
        self.close();
    }
}
