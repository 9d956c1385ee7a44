//! What the ranks of a job have written, kept in one file of the manager's directory.
//!
//! The file is a row of records ([`crate::output`]), appended as output arrives; it can be read as
//! it is. Each stream, and the merged stream of whole lines, is an index into it, so content is
//! stored once; neighbouring records are one piece of an index, whose heads are looked through when
//! it is read. After a restart the index is made anew from the file, and its end says where to go
//! on reading at the node; a record cut off by a crash is dropped. When the job is done a large
//! index goes, and is made anew if somebody reads a stream: beside everybody else, if the log is
//! long ([`resting`]).
//!
//! What somebody has taken need not be kept for ever ([`taken`]).
//!
//! A job that begins again writes on into the same log, behind a record that says so. Streams go
//! on, and end with the last attempt; what is still to come of an earlier one is dropped.

mod index;
mod resting;
mod taken;

use crate::files::lane::Lane;
use crate::files::latch::Waiting;
use crate::output::{AGAIN, HEADER, Head, Output, PIECE_MAX};
use index::{Index, TAKEN, Whose};
use muster_base::limits::WAITED_MAX;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::synthetic::{File, Handle, SynCall};
use std::fs;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use taken::{Come, Mark, Taken};

/// Pieces of a job that is done which are kept in memory: 128 KiB of them.
const KEPT: usize = 4096;

/// As much is known of a rank, though it has written nothing, as of so many pieces.
const RANK: usize = 8;

/// Bytes that are read at once where all records are looked at.
const BLOCK: usize = 1 << 20;

/// A line of a rank that is not whole yet: pieces of the file.
type Partial = Vec<(u64, u64)>;

struct State {
    path: PathBuf,
    file: fs::File,
    length: u64,
    /// What is before this in the file is not kept any more.
    gone: Arc<AtomicU64>,
    /// Nothing of it is kept any more, and why.
    dropped: Arc<OnceLock<String>>,
    taken: Taken,
    /// How many ranks the job has.
    count: usize,
    /// The job is done, and nobody has asked for a stream: what is in the file is not known, and
    /// there is nothing by rank.
    is_resting: bool,
    /// By rank, then [`Output`].
    ranks: Vec<[Index; 2]>,
    merged: [Index; 2],
    partial: Vec<[Partial; 2]>,
    /// Streams that have not ended, of all ranks.
    open: [usize; 2],
    /// The attempt that writes, from 0, and where its streams begin.
    attempt: usize,
    bases: Vec<[u64; 2]>,
    /// No stream ends before all of them do: there may be another attempt.
    is_held: bool,
    /// Who waits for the file itself.
    waiting: Waiting<Data, (u64, usize)>,
}

/// The log, shared by whoever fills and whoever reads it.
#[derive(Clone)]
pub struct JobLog {
    state: Arc<Mutex<State>>,
    /// As there; to look at these takes no lock, which who reads a long log holds for long.
    gone: Arc<AtomicU64>,
    dropped: Arc<OnceLock<String>>,
    /// For which attempt this one writes.
    attempt: usize,
    /// Where a long log is looked through.
    lane: Lane,
}

impl JobLog {
    /// The log of a job of so many ranks at `path`; what is there already is kept.
    ///
    /// # Errors
    /// When the file cannot be made or read.
    pub fn open(path: &Path, ranks: usize) -> Result<JobLog> {
        let mut state = State::new(path, ranks)?;
        state.begin();
        state.recover()?;
        let attempt = state.attempt;
        Ok(JobLog::of(state, attempt))
    }

    /// The log of a job that is done. What is in it is looked for when somebody asks.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn resting(path: &Path, ranks: usize) -> Result<JobLog> {
        Ok(JobLog::of(State::new(path, ranks)?, 0))
    }

    fn of(state: State, attempt: usize) -> JobLog {
        let (gone, dropped) = (state.gone.clone(), state.dropped.clone());
        let (state, lane) = (Arc::new(Mutex::new(state)), Lane::default());
        JobLog { gone, dropped, state, attempt, lane }
    }

    /// Lets no stream end before [`end_all`](JobLog::end_all).
    pub fn hold(&self) {
        self.locked().is_held = true;
    }

    /// Removes the log at `path`.
    pub fn remove(path: &Path) {
        for path in [path, &taken::beside(path), &path.with_extension("new")] {
            let _ = fs::remove_file(path);
        }
    }

    /// Calls `go` when there is room for more output of a rank: who takes it is not far behind.
    pub fn when_room(&self, rank: usize, go: impl FnOnce() + Send + 'static) {
        let mut state = self.locked();
        let length = state.length;
        let now = state.taken.when_room(rank, length, Box::new(go));
        drop(state);
        now.into_iter().for_each(|go| go());
    }

    /// Programs of ranks have ended: what is left of their output comes, whoever takes it.
    pub fn ranks_ended(&self, ranks: impl IntoIterator<Item = usize>) {
        self.free(|taken| ranks.into_iter().for_each(|rank| taken.rank_ended(rank)));
    }

    /// The same of all ranks: they are being ended.
    pub fn let_go(&self) {
        self.free(Taken::let_go);
    }

    fn free(&self, of: impl FnOnce(&mut Taken)) {
        let mut state = self.locked();
        if state.attempt == self.attempt {
            of(&mut state.taken);
            State::go_on(state);
        }
    }

    /// Whoever takes it, all is kept.
    pub fn keep_all(&self) {
        let mut state = self.locked();
        state.taken.keep_all();
        State::go_on(state);
    }

    /// How many bytes of the row are gone, which somebody has taken.
    pub fn gone(&self) -> u64 {
        self.gone.load(Ordering::Relaxed)
    }

    /// Whether anything was printed that is kept: more than that each stream has ended.
    pub fn has_output(&self) -> bool {
        let state = self.locked();
        state.length.saturating_sub(state.gone())
            > (Output::BOTH.len() * state.count * HEADER) as u64
    }

    /// Keeps nothing any more of a job that has ended. Who wants it is told why.
    pub fn drop_all(&self, why: &str) {
        let mut state = self.locked();
        state.rest();
        // Nor is anything of it taken any more: its marks are of a log that was longer.
        state.taken.keep_all();
        let _ = state.dropped.set(why.to_owned());
        // What cannot go stays, and nobody reads it.
        let _ = state.file.set_len(0);
        (state.length, _) = (0, fs::remove_file(taken::beside(&state.path)));
        state.gone.store(0, Ordering::Relaxed);
    }

    /// Why nothing of it is kept any more.
    pub fn dropped(&self) -> Option<&String> {
        self.dropped.get()
    }

    /// For which attempt it writes, from 0.
    pub fn attempt(&self) -> usize {
        self.attempt
    }

    /// The log of the next attempt. Whoever reads the row is told `why` there is one.
    ///
    /// # Errors
    /// When it cannot be written: the disk is full.
    pub fn again(&self, why: &str) -> Result<JobLog> {
        let mut state = self.locked();
        state.write(AGAIN, Output::Stderr, &why.as_bytes()[..why.len().min(PIECE_MAX)])?;
        state.begin_again();
        state.serve_row();
        Ok(JobLog { attempt: state.attempt, ..self.clone() })
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// How far a stream has come in this attempt.
    pub fn end_of(&self, rank: usize, output: Output) -> u64 {
        let (state, at) = (self.locked(), output as usize);
        let stream = state.ranks.get(rank);
        stream.map_or(0, |stream| stream[at].end - state.bases[rank][at])
    }

    /// Appends output of a rank, [`PIECE_MAX`] bytes at most; false if nobody wants that any more.
    ///
    /// # Errors
    /// When it cannot be written: the disk is full.
    pub fn append(&self, rank: usize, output: Output, bytes: &[u8]) -> Result<bool> {
        let mut state = self.locked();
        if state.attempt != self.attempt || state.open == [0; 2] {
            return Ok(false);
        }
        let at = state.write(rank, output, bytes)?;
        state.index(rank, output, at, bytes);
        state.make_mark();
        state.serve_row();
        state.serve(rank, output);
        Ok(true)
    }

    /// Streams of ranks have ended.
    pub fn end(&self, streams: impl IntoIterator<Item = (usize, Output)>) {
        let mut state = self.locked();
        if state.attempt != self.attempt || state.is_held || state.is_resting {
            return;
        }
        let mut ended: Vec<(usize, Output)> = streams.into_iter().collect();
        ended.retain(|(rank, output)| state.end(*rank, *output));
        let marks = ended.iter().map(|&(rank, output)| Head { rank, output, length: 0 }.bytes());
        // A full disk costs readers of the row the word that they have ended, not the end.
        let _ = state.append(&marks.collect::<Vec<_>>().concat());
        // Nobody waits for the end of what was silent: of a thousand such ranks, each would wake
        // its readers.
        let is_silent =
            |&(rank, output): &(usize, Output)| state.ranks[rank][output as usize].end == 0;
        if state.open == [0; 2] || !ended.iter().all(is_silent) {
            state.serve_row();
        }
        ended.into_iter().for_each(|(rank, output)| state.serve(rank, output));
    }

    /// Whether all that a rank writes is here; none if its streams do not end before the job.
    pub fn has_ended(&self, rank: usize) -> Option<bool> {
        let state = self.locked();
        let ended = || state.ranks.get(rank).is_some_and(|it| it.iter().all(|one| one.ended));
        (!state.is_held).then(ended)
    }

    /// Ends all streams.
    pub fn end_all(&self) {
        let ranks = {
            let mut state = self.locked();
            state.is_held = false;
            state.ranks.len()
        };
        self.end((0..ranks).flat_map(|rank| Output::BOTH.map(|output| (rank, output))));
    }

    /// The job is done: if much is known of the file that goes, and is looked for if somebody asks.
    pub fn rest(&self) {
        let mut state = self.locked();
        if state.open == [0; 2] && state.pieces() + RANK * state.ranks.len() > KEPT {
            state.rest();
        }
    }

    /// One rank's stream, or with none that of all, as a file.
    pub fn file(&self, rank: Option<usize>, output: Output) -> File {
        let (log, size) = (self.clone(), self.clone());
        let whose = Whose(rank, output);
        let reader = move || Reader { log: log.clone(), whose, ahead: Arc::default() };
        File::new(0o444, move |_| Ok(reader())).sized(move || size.size(whose))
    }

    /// The row of records, as a file.
    pub fn row(&self) -> File {
        let (log, size) = (self.clone(), self.clone());
        File::new(0o444, move |_| Ok(Row { log: log.clone() })).sized(move || size.locked().length)
    }

    /// The same for who takes it: what he has read need not be kept.
    pub fn take(&self) -> File {
        let (log, size) = (self.clone(), self.clone());
        let taker = move || {
            let mut state = log.locked();
            let gone = state.gone();
            Taker { row: Row { log: log.clone() }, number: state.taken.open(gone) }
        };
        File::new(0o400, move |_| Ok(taker())).sized(move || size.locked().length)
    }
}

impl State {
    /// Of a job that is done, as far as that goes without reading the file.
    fn new(path: &Path, count: usize) -> Result<State> {
        let file = fs::File::options().read(true).append(true).create(true).open(path)?;
        State::of(path, file, count)
    }

    fn of(path: &Path, file: fs::File, count: usize) -> Result<State> {
        Ok(State {
            path: path.to_owned(),
            length: file.metadata()?.len(),
            file,
            gone: Arc::new(Mark::read(path)?.map_or(0, |mark| mark.at).into()),
            dropped: Arc::default(),
            taken: Taken::default(),
            count,
            is_resting: true,
            ranks: Vec::new(),
            merged: Default::default(),
            partial: Vec::new(),
            open: [0; 2],
            attempt: 0,
            bases: Vec::new(),
            is_held: false,
            waiting: Waiting::default(),
        })
    }

    fn gone(&self) -> u64 {
        self.gone.load(Ordering::Relaxed)
    }

    fn stream(&self, Whose(rank, output): Whose) -> &Index {
        match rank {
            Some(rank) => &self.ranks[rank][output as usize],
            None => &self.merged[output as usize],
        }
    }

    /// Notes how far all has come, if it is time for that.
    fn make_mark(&mut self) {
        if !self.taken.wants_mark(self.length, self.gone()) {
            return;
        }
        // A line that is older is no whole one in the merged stream, or what follows would be gone
        // with its beginning.
        let last = self.taken.last().unwrap_or(self.gone());
        for (rank, output) in (0..self.count).flat_map(|rank| Output::BOTH.map(|one| (rank, one))) {
            if self.partial[rank][output as usize].first().is_some_and(|(file, _)| *file < last) {
                self.break_line(rank, output);
            }
        }
        let come = |(rank, base): (&[Index; 2], &[u64; 2])| {
            let [stdout, stderr] = rank;
            let one = |index: &Index, base| Come { base, end: index.end, ended: index.ended };
            [one(stdout, base[0]), one(stderr, base[1])]
        };
        let streams = self.ranks.iter().zip(&self.bases).map(come).collect();
        self.taken.mark(Mark { at: self.length, attempt: self.attempt, streams });
    }

    /// Somebody has all before `offset`.
    fn take(&mut self, taker: u64, offset: u64) {
        self.taken.take(taker, offset.min(self.length));
        let Some(gone) = self.taken.release(&self.path, &self.file) else { return };
        self.gone.store(gone, Ordering::Relaxed);
        for stream in self.ranks.iter_mut().flatten().chain(&mut self.merged) {
            stream.forget(gone);
        }
    }

    /// A line that is not whole goes into the merged stream as it is.
    fn break_line(&mut self, rank: usize, output: Output) {
        for (file, length) in std::mem::take(&mut self.partial[rank][output as usize]) {
            self.merged[output as usize].add(file, length, false);
        }
    }

    /// Those whose output there is room for go on.
    fn go_on(mut state: MutexGuard<'_, State>) {
        let length = state.length;
        let ready = state.taken.ready(length);
        drop(state);
        ready.into_iter().for_each(|go| go());
    }

    /// How many pieces all indices have.
    fn pieces(&self) -> usize {
        let streams = self.ranks.iter().flatten().chain(&self.merged);
        streams.map(|stream| stream.pieces.len()).sum()
    }

    /// Has room for what is found out from the file.
    fn begin(&mut self) {
        let count = self.count;
        self.ranks = std::iter::repeat_with(Default::default).take(count).collect();
        self.merged = Default::default();
        self.partial = std::iter::repeat_with(Default::default).take(count).collect();
        (self.open, self.attempt, self.bases) = ([count; 2], 0, vec![[0; 2]; count]);
        self.is_resting = false;
    }

    /// Knows nothing any more that is in the file.
    fn rest(&mut self) {
        (self.ranks, self.partial, self.bases) = Default::default();
        self.merged = Default::default();
        (self.open, self.is_resting) = ([0; 2], true);
    }

    fn is_kept(&self) -> Result<()> {
        match self.dropped.get() {
            Some(why) => fail(Errno::NODATA, format!("the job's output was dropped: {why}")),
            None => Ok(()),
        }
    }

    /// Appends a record; where its bytes are.
    fn write(&mut self, rank: usize, output: Output, bytes: &[u8]) -> Result<u64> {
        let head = Head { rank, output, length: bytes.len() };
        Ok(self.append(&[&head.bytes(), bytes].concat())? + HEADER as u64)
    }

    /// Appends whole records; where they are.
    fn append(&mut self, records: &[u8]) -> Result<u64> {
        let start = self.length;
        if let Err(error) = self.file.write_all(records) {
            // Half a record would spoil what follows.
            let _ = self.file.set_len(start);
            return Err(error.into());
        }
        self.length += records.len() as u64;
        Ok(start)
    }

    /// A stream has ended; false if it had already.
    fn end(&mut self, rank: usize, output: Output) -> bool {
        let at = output as usize;
        if std::mem::replace(&mut self.ranks[rank][at].ended, true) {
            return false;
        }
        self.break_line(rank, output);
        self.open[at] -= 1;
        self.merged[at].ended = self.open[at] == 0;
        true
    }

    /// Bytes of the row, or none if they are still to come.
    fn piece(&self, offset: u64, count: usize) -> Option<Result<Vec<u8>>> {
        if let Err(dropped) = self.is_kept() {
            return Some(Err(dropped));
        }
        if let Some(lacking) = self.gone().checked_sub(offset).filter(|lacking| *lacking > 0) {
            return Some(fail(Errno::STALE, format!("{lacking} bytes are gone: {TAKEN}")));
        }
        let left = self.length.saturating_sub(offset);
        if left == 0 && count > 0 && self.open != [0; 2] {
            return None;
        }
        let mut bytes = vec![0; count.min(usize::try_from(left).unwrap_or(count))];
        let read = self.file.read_exact_at(&mut bytes, offset);
        Some(read.map(|()| bytes).map_err(Into::into))
    }

    /// Finds out from the file what is in it.
    fn recover(&mut self) -> Result<()> {
        let mut at = self.begin_at()?;
        let mut bytes = Vec::new();
        // Everybody waits for it who wants anything of the manager.
        let mut records = BufReader::with_capacity(BLOCK, self.file.try_clone()?);
        records.seek(SeekFrom::Start(at))?;
        while at + HEADER as u64 <= self.length {
            let mut head = [0; HEADER];
            records.read_exact(&mut head)?;
            let Ok(Head { rank, output, length }) = Head::read(&head) else { break };
            let start = at + HEADER as u64;
            if start + length as u64 > self.length || rank >= self.ranks.len() && rank != AGAIN {
                break;
            }
            bytes.resize(length, 0);
            records.read_exact(&mut bytes)?;
            if rank == AGAIN {
                self.begin_again();
                at = start + length as u64;
                continue;
            }
            self.index(rank, output, start, &bytes);
            if length == 0 {
                self.end(rank, output);
            }
            at = start + length as u64;
        }
        if at < self.length {
            self.file.set_len(at)?;
            self.length = at;
        }
        Ok(())
    }

    /// Where the first record is. What was before it is known without it.
    fn begin_at(&mut self) -> Result<u64> {
        let Some(mark) = Mark::read(&self.path)? else { return Ok(0) };
        self.gone.store(mark.at, Ordering::Relaxed);
        self.attempt = mark.attempt;
        let streams = mark.streams.into_iter().take(self.count).enumerate();
        for (rank, come) in streams {
            for output in Output::BOTH {
                let (at, come) = (output as usize, come[output as usize]);
                (self.ranks[rank][at].end, self.bases[rank][at]) = (come.end, come.base);
                self.merged[at].end += come.end;
                if come.ended {
                    self.end(rank, output);
                }
            }
        }
        Ok(mark.at)
    }

    /// Notes that `bytes` of a rank lie at `file`: in its stream, and whole lines in the merged.
    fn index(&mut self, rank: usize, output: Output, file: u64, bytes: &[u8]) {
        let at = output as usize;
        let length = bytes.len() as u64;
        self.ranks[rank][at].add(file, length, true);
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1) as u64;
        let is_whole = whole == length && self.partial[rank][at].is_empty();
        if whole > 0 {
            self.break_line(rank, output);
            self.merged[at].add(file, whole, is_whole);
        }
        let rest = length - whole;
        if rest > 0 {
            self.merged[at].in_step = false;
            self.partial[rank][at].push((file + whole, rest));
        }
    }

    /// Answers the reads that wait for the row.
    fn serve_row(&mut self) {
        for (ticket, (offset, count)) in self.waiting.take() {
            match self.piece(offset, count.min(WAITED_MAX)) {
                None => self.waiting.push((ticket, (offset, count))),
                Some(piece) => {
                    if ticket.claim() {
                        ticket.answer(piece.map(Data::from));
                    }
                }
            }
        }
    }

    /// What follows is of another attempt. Lines that were not ended are whole now.
    fn begin_again(&mut self) {
        self.attempt += 1;
        self.taken.begin_again();
        for (rank, output) in (0..self.count).flat_map(|rank| Output::BOTH.map(|one| (rank, one))) {
            self.break_line(rank, output);
            let at = output as usize;
            self.bases[rank][at] = self.ranks[rank][at].end;
        }
    }

    /// Answers the reads that wait for this stream, or the merged one.
    fn serve(&mut self, rank: usize, output: Output) {
        let at = output as usize;
        let streams = [(&mut self.ranks[rank][at], Some(rank)), (&mut self.merged[at], None)];
        for (index, rank) in streams {
            let whose = Whose(rank, output);
            for (ticket, (offset, count)) in index.waiting.take() {
                if offset >= index.end && !index.ended {
                    index.waiting.push((ticket, (offset, count)));
                } else if ticket.claim() {
                    let bytes = index.read(&self.file, whose, offset, count.min(WAITED_MAX));
                    ticket.answer(bytes.map(Data::from));
                }
            }
        }
    }
}

#[derive(Clone)]
struct Reader {
    log: JobLog,
    whose: Whose,
    /// How far the stream's offsets are ahead of this file's, as in [`crate::files::stream`]; the
    /// first read decides.
    ahead: Arc<OnceLock<u64>>,
}

impl Reader {
    /// Where in the stream `offset` of this file is, and what is there, if that is not still to
    /// come.
    fn look(&self, state: &State, offset: u64, count: usize) -> (u64, Option<Result<Vec<u8>>>) {
        let (file, index) = (&state.file, state.stream(self.whose));
        let first = || if offset == 0 { index.first(file, self.whose) } else { 0 };
        let offset = self.ahead.get_or_init(first).saturating_add(offset);
        let is_there = offset < index.end || index.ended || count == 0;
        (offset, is_there.then(|| index.read(file, self.whose, offset, count)))
    }
}

impl Handle for Reader {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let mut state = self.log.locked();
        state.is_kept()?;
        if state.is_long_at_rest() {
            drop(state);
            return call.park(|ticket| self.awaken(ticket, offset, count));
        }
        state.awaken()?;
        let (offset, bytes) = self.look(&state, offset, count);
        if let Some(bytes) = bytes {
            return Ok(bytes?.into());
        }
        let Whose(rank, output) = self.whose;
        let index = match rank {
            Some(rank) => &mut state.ranks[rank][output as usize],
            None => &mut state.merged[output as usize],
        };
        call.park(|ticket| index.waiting.push((ticket, (offset, count))))
    }
}

/// A reader of the row.
struct Row {
    log: JobLog,
}

impl Handle for Row {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let mut state = self.log.locked();
        match state.piece(offset, count) {
            Some(piece) => Ok(piece?.into()),
            None => call.park(|ticket| state.waiting.push((ticket, (offset, count)))),
        }
    }
}

/// Who takes the row.
struct Taker {
    row: Row,
    number: u64,
}

impl Handle for Taker {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let mut state = self.row.log.locked();
        state.take(self.number, offset);
        State::go_on(state);
        self.row.read(call, offset, count)
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        let mut state = self.row.log.locked();
        state.taken.close(self.number);
        State::go_on(state);
    }
}

#[cfg(test)]
mod tests;
