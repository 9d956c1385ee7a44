//! What the ranks of a job have written, kept in one file of the manager's directory.
//!
//! The file is a row of records ([`crate::output`]), appended as output arrives; it can be read as
//! it is. Each stream, and the merged stream of whole lines, is an index into it, so content is
//! stored once; neighbouring records are one piece of an index, whose heads are looked through when
//! it is read. After a restart the index is made anew from the file, and its end says where to go
//! on reading at the node; a record cut off by a crash is dropped. When the job is done a large
//! index goes, and is made anew if somebody reads a stream.
//!
//! A job that begins again writes on into the same log, behind a record that says so. Streams go
//! on, and end with the last attempt; what is still to come of an earlier one is dropped.

use crate::files::latch::Waiting;
use crate::output::{AGAIN, HEADER, Head, Output, PIECE_MAX};
use muster_ninep::call::{Answer, Data, Ticket};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::synthetic::{File, Handle, SynCall};
use std::fs;
use std::io::{BufReader, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// Most that a read which has waited is given, as in [`crate::files::stream`].
const WAITED_MAX: usize = 8 * 1024;

/// Bytes of the file that one piece of an index reaches over at most, unless it is one record.
const SPAN_MAX: u64 = 64 * 1024;

/// Pieces of a job that is done which are kept in memory: 128 KiB of them.
const KEPT: usize = 4096;

/// Bytes that are read at once where all records are looked at.
const BLOCK: usize = 1 << 20;

/// How many bytes of the file may be looked through for one of a stream: a piece does not reach
/// over more of others.
const SPARSE: u64 = 16;

/// Bytes of the file that are part of a stream.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Where they are in the stream.
    at: u64,
    /// Where the first of them is in the file.
    file: u64,
    length: u64,
    /// Bytes of the file from the first to the last. If there are more of them than of the stream
    /// they are whole records, of which those that are the stream's are part of it.
    span: u64,
}

impl Piece {
    /// Reads bytes of it, from `skip` on.
    fn read(&self, file: &fs::File, whose: Whose, skip: u64, bytes: &mut [u8]) -> Result<()> {
        if self.span == self.length {
            return Ok(file.read_exact_at(bytes, self.file + skip)?);
        }
        let mut records = vec![0; HEADER + self.span as usize];
        file.read_exact_at(&mut records, self.file - HEADER as u64)?;
        let (mut rest, mut skip, mut done) = (&records[..], skip as usize, 0);
        while let Some((head, behind)) = rest.split_first_chunk().filter(|_| done < bytes.len()) {
            let head =
                Head::read(head).map_err(|error| Error::new(Errno::IO, error.to_string()))?;
            let (own, behind) = behind.split_at(head.length.min(behind.len()));
            rest = behind;
            if !whose.is_of(&head) {
                continue;
            }
            let own = &own[skip.min(own.len())..];
            skip = skip.saturating_sub(head.length);
            let count = own.len().min(bytes.len() - done);
            bytes[done..done + count].copy_from_slice(&own[..count]);
            done += count;
        }
        Ok(())
    }
}

/// Which stream: a rank's, or with none that of all.
#[derive(Debug, Clone, Copy)]
struct Whose(Option<usize>, Output);

impl Whose {
    fn is_of(self, head: &Head) -> bool {
        let Whose(rank, output) = self;
        head.output == output && head.rank != AGAIN && rank.is_none_or(|rank| rank == head.rank)
    }
}

#[derive(Default)]
struct Index {
    pieces: Vec<Piece>,
    end: u64,
    /// All records of the stream since the last piece began are part of it, whole and in their
    /// order.
    in_step: bool,
    ended: bool,
    waiting: Waiting<(Ticket<Data>, (u64, usize))>,
}

impl Index {
    /// Adds bytes of the file: a whole record's, or a part of one's.
    fn add(&mut self, file: u64, length: u64, is_whole: bool) {
        if length == 0 {
            return;
        }
        let in_step = std::mem::replace(&mut self.in_step, is_whole) && is_whole;
        let joins = |last: &Piece| {
            let span = (file + length).saturating_sub(last.file);
            in_step && span <= SPAN_MAX.min(SPARSE * (last.length + length))
        };
        match self.pieces.last_mut() {
            Some(last) if last.span == last.length && last.file + last.length == file => {
                last.length += length;
                last.span = last.length;
            }
            Some(last) if joins(last) => {
                (last.span, last.length) = (file + length - last.file, last.length + length);
            }
            _ => self.pieces.push(Piece { at: self.end, file, length, span: length }),
        }
        self.end += length;
    }

    fn read(&self, file: &fs::File, whose: Whose, offset: u64, count: usize) -> Result<Vec<u8>> {
        let count = count.min(usize::try_from(self.end.saturating_sub(offset)).unwrap_or(count));
        let mut bytes = vec![0; count];
        let mut done = 0;
        let first = self.pieces.partition_point(|piece| piece.at + piece.length <= offset);
        for piece in &self.pieces[first..] {
            // The next piece may begin behind what was asked for.
            if done == count {
                break;
            }
            let skip = (offset + done as u64) - piece.at;
            let length = (piece.length - skip).min((count - done) as u64) as usize;
            piece.read(file, whose, skip, &mut bytes[done..done + length])?;
            done += length;
        }
        bytes.truncate(done);
        Ok(bytes)
    }
}

/// A line of a rank that is not whole yet: pieces of the file.
type Partial = Vec<(u64, u64)>;

struct State {
    file: fs::File,
    length: u64,
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
    waiting: Waiting<(Ticket<Data>, (u64, usize))>,
}

/// The log, shared by whoever fills and whoever reads it.
#[derive(Clone)]
pub struct JobLog {
    state: Arc<Mutex<State>>,
    /// For which attempt this one writes.
    attempt: usize,
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
        Ok(JobLog { state: Arc::new(Mutex::new(state)), attempt })
    }

    /// The log of a job that is done. What is in it is looked for when somebody asks.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn resting(path: &Path, ranks: usize) -> Result<JobLog> {
        let state = State::new(path, ranks)?;
        Ok(JobLog { state: Arc::new(Mutex::new(state)), attempt: 0 })
    }

    /// Lets no stream end before [`end_all`](JobLog::end_all).
    pub fn hold(&self) {
        self.locked().is_held = true;
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
        Ok(JobLog { state: self.state.clone(), attempt: state.attempt })
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

    /// Appends output of a rank; false if nobody wants that any more.
    ///
    /// # Errors
    /// When it cannot be written: the disk is full.
    pub fn append(&self, rank: usize, output: Output, bytes: &[u8]) -> Result<bool> {
        for bytes in bytes.chunks(PIECE_MAX) {
            let mut state = self.locked();
            if state.attempt != self.attempt || state.open == [0; 2] {
                return Ok(false);
            }
            let at = state.write(rank, output, bytes)?;
            state.index(rank, output, at, bytes);
            state.serve_row();
            state.serve(rank, output);
        }
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
        if state.open == [0; 2] && state.pieces() > KEPT {
            state.rest();
        }
    }

    /// One rank's stream, or with none that of all, as a file.
    pub fn file(&self, rank: Option<usize>, output: Output) -> File {
        let (log, size) = (self.clone(), self.clone());
        let at = output as usize;
        let pick = move |state: &State| match rank {
            Some(rank) => state.ranks[rank][at].end,
            None => state.merged[at].end,
        };
        let sized = move || {
            let mut state = size.locked();
            // What cannot be read is told to who reads it.
            state.awaken().map_or(0, |()| pick(&state))
        };
        File::new(0o444, move |_| Ok(Reader { log: log.clone(), rank, output })).sized(sized)
    }

    /// The row of records, as a file.
    pub fn row(&self) -> File {
        let (log, size) = (self.clone(), self.clone());
        File::new(0o444, move |_| Ok(Row { log: log.clone() })).sized(move || size.locked().length)
    }
}

impl State {
    /// Of a job that is done, as far as that goes without reading the file.
    fn new(path: &Path, count: usize) -> Result<State> {
        let file = fs::File::options().read(true).append(true).create(true).open(path)?;
        Ok(State {
            length: file.metadata()?.len(),
            file,
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

    /// Finds out what is in the file of a job that is done, if that is not known.
    fn awaken(&mut self) -> Result<()> {
        if !self.is_resting {
            return Ok(());
        }
        self.begin();
        let found = self.recover();
        if found.is_err() {
            self.rest();
            return found;
        }
        for (rank, output) in (0..self.count).flat_map(|rank| Output::BOTH.map(|one| (rank, one))) {
            self.end(rank, output);
        }
        Ok(())
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
        for (file, length) in std::mem::take(&mut self.partial[rank][at]) {
            self.merged[at].add(file, length, false);
        }
        self.open[at] -= 1;
        self.merged[at].ended = self.open[at] == 0;
        true
    }

    /// Bytes of the row, or none if they are still to come.
    fn piece(&self, offset: u64, count: usize) -> Option<Result<Vec<u8>>> {
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
        let mut at = 0;
        let mut bytes = Vec::new();
        // Everybody waits for it who wants anything of the manager.
        let mut records = BufReader::with_capacity(BLOCK, self.file.try_clone()?);
        records.rewind()?;
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
        self.file.set_len(at)?;
        self.length = at;
        Ok(())
    }

    /// Notes that `bytes` of a rank lie at `file`: in its stream, and whole lines in the merged.
    fn index(&mut self, rank: usize, output: Output, file: u64, bytes: &[u8]) {
        let at = output as usize;
        let length = bytes.len() as u64;
        self.ranks[rank][at].add(file, length, true);
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1) as u64;
        let is_whole = whole == length && self.partial[rank][at].is_empty();
        if whole > 0 {
            for (file, length) in std::mem::take(&mut self.partial[rank][at]) {
                self.merged[at].add(file, length, false);
            }
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
        for (rank, partial) in self.partial.iter_mut().enumerate() {
            for output in Output::BOTH {
                let at = output as usize;
                for (file, length) in std::mem::take(&mut partial[at]) {
                    self.merged[at].add(file, length, false);
                }
                self.bases[rank][at] = self.ranks[rank][at].end;
            }
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

struct Reader {
    log: JobLog,
    rank: Option<usize>,
    output: Output,
}

impl Handle for Reader {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let mut state = self.log.locked();
        state.awaken()?;
        let State { file, ranks, merged, .. } = &mut *state;
        let index = match self.rank {
            Some(rank) => &mut ranks[rank][self.output as usize],
            None => &mut merged[self.output as usize],
        };
        if offset < index.end || index.ended || count == 0 {
            return Ok(index.read(file, Whose(self.rank, self.output), offset, count)?.into());
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(log: &JobLog) -> String {
        let state = log.locked();
        let whose = Whose(None, Output::Stdout);
        String::from_utf8(state.merged[0].read(&state.file, whose, 0, 1000).unwrap()).unwrap()
    }

    fn of_rank(log: &JobLog, rank: usize, from: u64, count: usize) -> String {
        let state = log.locked();
        let whose = Whose(Some(rank), Output::Stdout);
        let read = state.ranks[rank][0].read(&state.file, whose, from, count);
        String::from_utf8(read.unwrap()).unwrap()
    }

    fn fill(log: &JobLog) {
        for (rank, text) in [(0, "a"), (1, "one\ntw"), (0, "b\nc"), (1, "o\n"), (0, "d\n")] {
            log.append(rank, Output::Stdout, text.as_bytes()).unwrap();
        }
    }

    #[test]
    fn lines_of_ranks_do_not_mix_and_a_restart_finds_all_of_them() {
        let path = std::env::temp_dir().join(format!("muster-log-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let log = JobLog::open(&path, 2).unwrap();
        fill(&log);
        assert_eq!(merged(&log), "one\nab\ntwo\ncd\n");
        assert_eq!(of_rank(&log, 0, 0, 100), "ab\ncd\n");
        assert_eq!(of_rank(&log, 0, 2, 3), "\ncd");
        assert_eq!(of_rank(&log, 0, 6, 3), "");
        drop(log);
        // A crash in the middle of a record.
        let torn = [1, 0, 0, 0, 0, 200, 0, 0, 0, b'x'];
        fs::File::options().append(true).open(&path).unwrap().write_all(&torn).unwrap();
        let log = JobLog::open(&path, 2).unwrap();
        assert_eq!(merged(&log), "one\nab\ntwo\ncd\n");
        assert_eq!(log.end_of(1, Output::Stdout), 8);
        log.append(1, Output::Stdout, b"end").unwrap();
        log.end_all();
        assert_eq!(merged(&log), "one\nab\ntwo\ncd\nend");
        fs::remove_file(&path).unwrap();
    }

    /// What should be read of ranks, and of all, after such output and all ends.
    fn model(written: &[(usize, bool, Vec<u8>)]) -> ([[Vec<u8>; 2]; RANKS], [Vec<u8>; 2]) {
        let mut ranks: [[Vec<u8>; 2]; RANKS] = Default::default();
        let mut partial = ranks.clone();
        let mut merged: [Vec<u8>; 2] = Default::default();
        for (rank, is_err, bytes) in written {
            let at = usize::from(*is_err);
            ranks[*rank][at].extend(bytes);
            let line = &mut partial[*rank][at];
            line.extend(bytes);
            let whole = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            merged[at].extend(line.drain(..whole));
        }
        for line in &partial {
            (0..2).for_each(|at| merged[at].extend(&line[at]));
        }
        (ranks, merged)
    }

    const RANKS: usize = 3;

    fn output() -> impl Strategy<Value = Vec<(usize, bool, Vec<u8>)>> {
        let line = prop_oneof![
            3 => "[a-z]{0,9}\n",
            1 => "[a-z]{1,5}",
            1 => "[a-z]{0,5}\n[a-z]{1,5}",
        ];
        let one = (0..RANKS, prop::bool::weighted(0.2), line.prop_map(String::into_bytes));
        prop::collection::vec(one, 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn whatever_ranks_write_each_stream_is_read_as_it_was_written(written in output()) {
            let name = format!("muster-log-model-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = fs::remove_file(&path);
            let log = JobLog::open(&path, RANKS).unwrap();
            for (rank, is_err, bytes) in &written {
                log.append(*rank, Output::BOTH[usize::from(*is_err)], bytes).unwrap();
            }
            log.end_all();
            let (ranks, merged) = model(&written);
            for is_rested in [false, true] {
                let mut state = log.locked();
                state.awaken().unwrap();
                let streams = (0..RANKS).map(|rank| (&ranks[rank], &state.ranks[rank], Some(rank)));
                for (wanted, index, rank) in streams.chain([(&merged, &state.merged, None)]) {
                    for output in Output::BOTH {
                        let (wanted, index) = (&wanted[output as usize], &index[output as usize]);
                        for from in (0..=wanted.len()).step_by(7) {
                            let count = 11.min(wanted.len() - from);
                            let whose = Whose(rank, output);
                            let read = index.read(&state.file, whose, from as u64, 11).unwrap();
                            prop_assert_eq!(&read, &wanted[from..from + count], "{}", is_rested);
                        }
                    }
                }
                drop(state);
                log.locked().rest();
            }
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn an_index_has_few_pieces_however_many_lines_there_are() {
        let path = std::env::temp_dir().join(format!("muster-log-many-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let log = JobLog::open(&path, 4).unwrap();
        let pieces = || {
            let state = log.locked();
            let ranks = state.ranks.iter().map(|rank| rank[0].pieces.len()).sum::<usize>();
            (ranks, state.merged[0].pieces.len())
        };
        for line in 0..10_000 {
            log.append(line % 4, Output::Stdout, format!("line {line:05}\n").as_bytes()).unwrap();
        }
        let blocks = log.locked().length.div_ceil(SPAN_MAX) as usize;
        let (ranks, merged) = pieces();
        assert!(ranks <= 4 * (blocks + 1) && merged <= blocks + 1, "{ranks} {merged} {blocks}");
        assert_eq!(of_rank(&log, 3, 11 * 2000, 11), "line 08003\n");
        log.end_all();
        log.rest();
        assert_eq!(pieces(), (ranks, merged), "few are kept");
        log.locked().rest();
        assert_eq!(pieces(), (0, 0));
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn the_next_attempt_writes_behind_the_first_which_is_not_heard_any_more() {
        let path = std::env::temp_dir().join(format!("muster-log-again-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let first = JobLog::open(&path, 2).unwrap();
        first.hold();
        first.append(0, Output::Stdout, b"one\nhal").unwrap();
        first.end([(0, Output::Stdout)]);
        let second = first.again("n1 was lost").unwrap();
        assert_eq!(second.end_of(0, Output::Stdout), 0, "it is followed from its start");
        first.append(0, Output::Stdout, b"too late\n").unwrap();
        first.end([(0, Output::Stdout)]);
        second.append(0, Output::Stdout, b"two\n").unwrap();
        let check = |log: &JobLog| {
            assert_eq!(log.end_of(0, Output::Stdout), 4);
            assert_eq!(
                (merged(log), of_rank(log, 0, 0, 99)),
                ("one\nhaltwo\n".into(), "one\nhaltwo\n".into())
            );
            let state = log.locked();
            assert_eq!((state.open, state.ranks[0][0].ended), ([2, 2], false));
        };
        check(&second);
        drop((first, second));
        let log = JobLog::open(&path, 2).unwrap();
        assert_eq!(log.attempt(), 1);
        check(&log);
        log.end_all();
        assert_eq!(log.locked().open, [0, 0]);
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn what_a_job_that_is_done_has_written_is_looked_for_when_somebody_asks() {
        let path = std::env::temp_dir().join(format!("muster-log-rest-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let log = JobLog::open(&path, 2).unwrap();
        fill(&log);
        log.append(1, Output::Stdout, b"end").unwrap();
        log.end_all();
        let length = log.locked().length;
        drop(log);
        let log = JobLog::resting(&path, 2).unwrap();
        assert!(!log.append(0, Output::Stdout, b"late").unwrap(), "nobody wants that any more");
        log.end([(0, Output::Stdout)]);
        assert_eq!(log.end_of(0, Output::Stdout), 0);
        let state = |log: &JobLog| {
            let state = log.locked();
            (state.length, state.open, state.ranks.len())
        };
        assert_eq!(state(&log), (length, [0; 2], 0));
        log.locked().awaken().unwrap();
        assert_eq!(merged(&log), "one\nab\ntwo\ncd\nend");
        assert_eq!(of_rank(&log, 0, 0, 100), "ab\ncd\n");
        assert_eq!(state(&log), (length, [0; 2], 2));
        assert!(log.locked().merged[0].ended);
        fs::remove_file(&path).unwrap();
    }

    /// A reader of 256 KiB at a time killed the manager: its read ended inside a piece, and the
    /// next one's beginning was subtracted from a smaller number.
    #[test]
    fn a_read_may_end_inside_a_piece() {
        let path = std::env::temp_dir().join(format!("muster-log-inside-{}", std::process::id()));
        let _ = fs::remove_file(&path);
        let log = JobLog::open(&path, 2).unwrap();
        fill(&log);
        let whole = "ab\ncd\n";
        for from in 0..=whole.len() {
            for count in 0..=whole.len() - from {
                let read = of_rank(&log, 0, from as u64, count);
                assert_eq!(read, whole[from..from + count]);
            }
        }
        fs::remove_file(&path).unwrap();
    }
}
