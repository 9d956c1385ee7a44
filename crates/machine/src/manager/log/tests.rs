use super::*;
use crate::scratch::Scratch;
use index::SPAN_MAX;
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

/// Appends more than one piece.
fn append_all(log: &JobLog, bytes: &[u8]) {
    for piece in bytes.chunks(PIECE_MAX) {
        assert!(log.append(0, Output::Stdout, piece).unwrap());
    }
}

#[test]
fn lines_of_ranks_do_not_mix_and_a_restart_finds_all_of_them() {
    let scratch = Scratch::new("log");
    let path = scratch.join("log");
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
        let scratch = Scratch::new("log-model");
        let path = scratch.join("log");
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
    }
}

#[test]
fn an_index_has_few_pieces_however_many_lines_there_are() {
    let scratch = Scratch::new("log-many");
    let path = scratch.join("log");
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
}

#[test]
fn of_many_ranks_that_have_written_nothing_nothing_is_kept() {
    let scratch = Scratch::new("log-silent");
    for (ranks, kept) in [(3, 3), (2000, 0)] {
        let path = scratch.join(ranks.to_string());
        let log = JobLog::open(&path, ranks).unwrap();
        log.append(1, Output::Stdout, b"well\n").unwrap();
        log.end_all();
        log.rest();
        assert_eq!(log.locked().ranks.len(), kept);
        log.locked().awaken().unwrap();
        assert_eq!(of_rank(&log, 1, 0, 5), "well\n");
    }
}

#[test]
fn the_next_attempt_writes_behind_the_first_which_is_not_heard_any_more() {
    let scratch = Scratch::new("log-again");
    let path = scratch.join("log");
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
}

#[test]
fn what_a_job_that_is_done_has_written_is_looked_for_when_somebody_asks() {
    let scratch = Scratch::new("log-rest");
    let path = scratch.join("log");
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
}

/// Who listed the jobs of a mount had all that they had printed read, while nobody was answered.
#[test]
fn a_long_log_of_a_job_that_is_done_is_looked_through_for_who_reads_it_and_not_for_its_size() {
    let scratch = Scratch::new("log-long");
    let path = scratch.join("log");
    let log = JobLog::open(&path, 1).unwrap();
    let whose = Whose(None, Output::Stdout);
    let line = vec![b'x'; PIECE_MAX - 1];
    for (lines, size) in [(1, PIECE_MAX as u64), (80, 0)] {
        (0..lines).for_each(|_| append_all(&log, &[&line[..], b"\n"].concat()));
        let log = JobLog::resting(&path, 1).unwrap();
        assert_eq!(log.size(whose), size);
        assert_eq!(log.locked().is_resting, size == 0);
    }
    let whole = log.size(whose);
    assert_eq!(whole, 81 * PIECE_MAX as u64);
    let at_rest = JobLog::resting(&path, 1).unwrap();
    at_rest.awaken().unwrap();
    assert_eq!((at_rest.size(whose), at_rest.end_of(0, Output::Stdout)), (whole, whole));
    assert!(at_rest.locked().merged[0].ended && at_rest.locked().open == [0; 2]);
    at_rest.drop_all("somebody asked for that");
    assert!(at_rest.awaken().is_err());
}

/// A reader of 256 KiB at a time killed the manager: its read ended inside a piece, and the
/// next one's beginning was subtracted from a smaller number.
#[test]
fn a_read_may_end_inside_a_piece() {
    let scratch = Scratch::new("log-inside");
    let path = scratch.join("log");
    let log = JobLog::open(&path, 2).unwrap();
    fill(&log);
    let whole = "ab\ncd\n";
    for from in 0..=whole.len() {
        for count in 0..=whole.len() - from {
            let read = of_rank(&log, 0, from as u64, count);
            assert_eq!(read, whole[from..from + count]);
        }
    }
}

/// A log that somebody takes, with a record of 64 KiB from each of two ranks in turn.
fn long(path: &Path, records: u64) -> JobLog {
    let log = JobLog::open(path, 2).unwrap();
    log.locked().taken.open(0);
    let mut line = vec![b'x'; PIECE_MAX];
    line[PIECE_MAX - 1] = b'\n';
    for at in 0..records {
        line[..8].copy_from_slice(&at.to_be_bytes());
        log.append(at as usize % 2, Output::Stdout, &line).unwrap();
    }
    log
}

/// `muster run yes > /dev/null` filled the disk.
#[test]
fn what_was_taken_makes_room_and_the_rest_keeps_its_places() {
    use std::os::unix::fs::MetadataExt;
    let scratch = Scratch::new("log-taken");
    let path = scratch.join("log");
    let records = 4096;
    let log = long(&path, records);
    log.append(1, Output::Stderr, b"half a li").unwrap();
    log.end([(0, Output::Stderr)]);
    let held = || fs::metadata(&path).unwrap().blocks() * 512;
    let length = log.locked().length;
    assert!(held() >= length && log.gone() == 0, "nothing is taken yet");
    log.locked().take(1, length);
    let gone = log.gone();
    assert!((taken::KEPT..=taken::KEPT + 2 * taken::STEP).contains(&(length - gone)), "{gone}");
    assert!(held() < length - gone + (1 << 20), "{} of {length}", held());

    let check = |log: &JobLog| {
        let mut state = log.locked();
        state.awaken().unwrap();
        assert_eq!((state.length, state.gone()), (length, gone));
        assert_eq!(state.open, [2, 1]);
        assert!(
            matches!(state.piece(gone - 1, 10), Some(Err(error)) if error.errno == Errno::STALE)
        );
        let whose = Whose(Some(1), Output::Stdout);
        let index = state.stream(whose);
        assert_eq!(index.end, records / 2 * PIECE_MAX as u64);
        assert_eq!(index.read(&state.file, whose, 0, 10).unwrap_err().errno, Errno::STALE);
        let last = index.read(&state.file, whose, index.end - PIECE_MAX as u64, 8).unwrap();
        assert_eq!(last, (records - 1).to_be_bytes());
        let first = index.read(&state.file, whose, index.first(&state.file, whose), 8).unwrap();
        let first = u64::from_be_bytes(first.try_into().unwrap());
        assert!(first % 2 == 1 && (records / 2..records).contains(&first), "a line's beginning");
    };
    check(&log);
    drop(log);
    let log = JobLog::open(&path, 2).unwrap();
    check(&log);
    assert_eq!(log.end_of(1, Output::Stderr), 9);
    log.append(1, Output::Stderr, b"ne\n").unwrap();
    let state = log.locked();
    let whose = Whose(None, Output::Stderr);
    let end = state.stream(whose).end;
    assert_eq!(
        state.stream(whose).read(&state.file, whose, end - 12, 12).unwrap(),
        b"half a line\n"
    );
    drop(state);
    JobLog::remove(&path);
    assert!(!path.exists() && !taken::beside(&path).exists());
}

#[test]
fn who_writes_more_than_is_taken_waits_until_it_is_or_nobody_takes_it() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let scratch = Scratch::new("log-room");
    let path = scratch.join("log");
    let went = Arc::new(AtomicUsize::new(0));
    let wait = |log: &JobLog| {
        let went = went.clone();
        log.when_room(0, move || {
            went.fetch_add(1, Ordering::Relaxed);
        });
    };
    let log = long(&path, taken::AHEAD / PIECE_MAX as u64 - 1);
    wait(&log);
    assert_eq!(went.load(Ordering::Relaxed), 1, "there is room");
    let more = vec![b'x'; 2 * PIECE_MAX];
    append_all(&log, &more);
    wait(&log);
    assert_eq!(went.load(Ordering::Relaxed), 1);
    let mut state = log.locked();
    state.take(1, PIECE_MAX as u64);
    State::go_on(state);
    assert_eq!(went.load(Ordering::Relaxed), 1, "not yet");
    state = log.locked();
    state.take(1, 3 * PIECE_MAX as u64);
    State::go_on(state);
    assert_eq!(went.load(Ordering::Relaxed), 2);
    append_all(&log, &more.repeat(2));
    wait(&log);
    assert_eq!(went.load(Ordering::Relaxed), 2);
    log.ranks_ended([1]);
    assert_eq!(went.load(Ordering::Relaxed), 2, "that is another");
    log.ranks_ended([0]);
    assert_eq!(went.load(Ordering::Relaxed), 3, "its program has ended: this is the last of it");
    let next = log.again("n1 was lost").unwrap();
    wait(&next);
    log.let_go();
    assert_eq!(went.load(Ordering::Relaxed), 3, "it is another attempt that waits");
    next.let_go();
    assert_eq!(went.load(Ordering::Relaxed), 4, "the job is being ended");
}

#[test]
fn nothing_goes_that_one_of_several_who_take_it_has_not_or_of_a_job_that_needs_none() {
    let scratch = Scratch::new("log-several");
    let path = scratch.join("log");
    let log = long(&path, 4096);
    let mut state = log.locked();
    let (slow, length) = (state.taken.open(0), state.length);
    state.take(1, length);
    assert_eq!(state.gone(), 0);
    state.take(slow, length);
    assert!(state.gone() > 0);
    drop(state);
    JobLog::remove(&path);
    let log = long(&path, 1024);
    log.keep_all();
    append_all(&log, &vec![b'x'; 64 << 20]);
    let mut state = log.locked();
    let length = state.length;
    state.take(1, length);
    assert_eq!(state.gone(), 0);
    drop(state);
}

/// One rank printed dots while the others printed lines: all lines went with the first dots.
#[test]
fn a_line_that_takes_long_costs_the_merged_stream_nothing_that_is_kept() {
    let scratch = Scratch::new("log-dots");
    let path = scratch.join("log");
    let log = long(&path, 4);
    log.append(1, Output::Stdout, b"....").unwrap();
    let line = [vec![b'y'; PIECE_MAX - 1], vec![b'\n']].concat();
    (0..2000).for_each(|_| drop(log.append(0, Output::Stdout, &line)));
    log.append(1, Output::Stdout, b" done\n").unwrap();
    let mut state = log.locked();
    let length = state.length;
    state.take(1, length);
    let whose = Whose(None, Output::Stdout);
    let index = state.stream(whose);
    let kept = index.end - index.first(&state.file, whose);
    assert!(state.gone() > 0 && kept >= taken::STEP, "{kept}");
    assert_eq!(index.read(&state.file, whose, index.end - 6, 6).unwrap(), b" done\n");
    drop(state);
}
