//! Where the ranks' output goes and what it looks like there. Writes only in [`Show::flush`].

use super::fold::Fold;
use super::lines::{Joint, LINE_MAX, Lines, PATIENCE, Who};
use super::template::Template;
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What output looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Whole lines as they come.
    Lines,
    /// Bytes as they come.
    Raw,
    /// Equal output of ranks once, at the end.
    Fold,
    /// Kept for the JSON object at the end.
    Keep,
}

/// Where a stream of all ranks goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    /// Our own stdout or stderr.
    Ours,
    /// Nowhere.
    Nowhere,
    /// Files.
    Files(Template),
}

/// Bytes of unfinished lines or kept output, of all streams together.
const MEMORY: usize = 64 * 1024 * 1024;

/// Bytes that are written at once to what is no file on a disk, unless a line is longer: a pipe
/// takes so many as one, and when they are taken shows whether somebody reads.
const PIECE: usize = 4096;

/// Whether something is written to a place, or opened, where that may take as long as somebody
/// pleases: odd while it is.
#[derive(Debug, Default)]
pub struct Stuck(AtomicU64);

impl Stuck {
    /// Does what may wait for somebody.
    pub fn during<T>(&self, deed: impl FnOnce() -> T) -> T {
        self.0.fetch_add(1, Ordering::Relaxed);
        let done = deed();
        self.0.fetch_add(1, Ordering::Relaxed);
        done
    }

    /// The wait that goes on: a number that no other has.
    pub fn now(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|wait| wait % 2 == 1)
    }
}

/// Bytes in pieces, between which others may write: at ends of lines as far as they fit.
fn pieces(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let most = &bytes[..bytes.len().min(PIECE)];
        let end = most.iter().rposition(|byte| *byte == b'\n').map_or(most.len(), |at| at + 1);
        let (piece, rest) = bytes.split_at(end);
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Output of one stream, kept for JSON.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its beginning.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub truncated: bool,
}

/// A file that output goes to.
struct Place {
    name: String,
    /// Nothing: it is dropped.
    file: Option<File>,
    /// A person looks at it: unfinished lines are shown after a moment.
    terminal: bool,
    /// Who reads it may let us wait.
    waits: bool,
    /// How many streams go there.
    streams: usize,
    joint: Joint,
    buffer: Vec<u8>,
}

/// One stream of one rank.
struct Tap {
    place: usize,
    label: String,
    lines: Lines,
    kept: Kept,
}

/// A place that could not be written to.
#[derive(Debug)]
pub struct Unwritable {
    /// What it is called.
    pub name: String,
    /// Whether it is our own stdout or stderr.
    pub ours: bool,
    /// Whether it is a terminal, or was.
    pub is_terminal: bool,
    /// Why.
    pub error: io::Error,
}

/// All output of a job. Streams are numbered: rank times two, plus one for stderr.
pub struct Show {
    style: Style,
    places: Vec<Place>,
    taps: Vec<Tap>,
    /// What our stdout and stderr fold.
    folds: [Fold; 2],
    /// Unfinished lines on terminals, oldest first.
    waiting: VecDeque<(Instant, usize)>,
    /// Longest line to hold, most bytes of a stream to keep.
    share: usize,
    /// Whether a line was broken where nobody looks, so that this was told.
    has_broken: bool,
    /// Whether a place keeps it waiting.
    stuck: Arc<Stuck>,
}

/// Our own two places come first.
const OURS: [&str; 2] = ["standard output", "standard error"];

impl Show {
    /// Creates the files for a job with these ranks, whose nodes are given.
    ///
    /// # Errors
    /// The file that cannot be created.
    pub fn new(
        style: Style,
        label: bool,
        goals: [&Goal; 2],
        job: u64,
        nodes: &[String],
    ) -> Result<Show, Unwritable> {
        let mut places = vec![
            Place::ours(0, io::stdout().as_fd().try_clone_to_owned(), io::stdout().is_terminal())?,
            Place::ours(1, io::stderr().as_fd().try_clone_to_owned(), io::stderr().is_terminal())?,
        ];
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut taps = Vec::with_capacity(nodes.len() * 2);
        let width = nodes.len().saturating_sub(1).to_string().len();
        for (rank, node) in nodes.iter().enumerate() {
            for (which, goal) in goals.iter().enumerate() {
                let place = match goal {
                    Goal::Ours => which,
                    Goal::Nowhere => match known.get("") {
                        Some(at) => *at,
                        None => Place::add(&mut places, &mut known, "", None),
                    },
                    Goal::Files(template) => {
                        let name = template.expand(job, rank, node);
                        match known.get(&name) {
                            Some(at) => *at,
                            None => {
                                let file = opened(&name, template.appends);
                                let file = file.map_err(|error| Unwritable {
                                    name: name.clone(),
                                    ours: false,
                                    is_terminal: false,
                                    error,
                                })?;
                                Place::add(&mut places, &mut known, &name, Some(file))
                            }
                        }
                    }
                };
                places[place].streams += 1;
                let labelled = label || style == Style::Fold && place < OURS.len();
                let label = if labelled { format!("{rank:>width$}: ") } else { String::new() };
                taps.push(Tap { place, label, lines: Lines::default(), kept: Kept::default() });
            }
        }
        let share = (MEMORY / taps.len().max(1)).clamp(4 * 1024, LINE_MAX);
        let folds = [Fold::new(nodes.len()), Fold::new(nodes.len())];
        let (waiting, stuck) = (VecDeque::new(), Arc::default());
        Ok(Show { style, places, taps, folds, waiting, share, has_broken: false, stuck })
    }

    /// The same, which tells there when it waits for somebody to take what is shown; a quiet one
    /// tells nothing of its own.
    pub fn telling(self, stuck: Arc<Stuck>, is_quiet: bool) -> Show {
        Show { stuck, has_broken: is_quiet, ..self }
    }

    /// Takes what a stream says.
    pub fn data(&mut self, tap: usize, bytes: &[u8], now: Instant) {
        let place = &mut self.places[self.taps[tap].place];
        let stream = &mut self.taps[tap];
        let ours = stream.place < 2;
        if self.style == Style::Keep && ours {
            let room = self.share - stream.kept.bytes.len();
            stream.kept.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
            stream.kept.truncated |= bytes.len() > room;
            return;
        }
        // With nobody to disturb, every byte goes its way at once.
        if self.style == Style::Raw || (place.streams == 1 && stream.label.is_empty()) {
            place.buffer.extend_from_slice(bytes);
            return;
        }
        let mut shown = Vec::new();
        let before = stream.lines.since();
        stream.lines.push(bytes, self.share, now, &mut shown);
        if let (true, Some(since)) = (place.terminal, stream.lines.since())
            && before != Some(since)
        {
            self.waiting.push_back((since, tap));
        }
        self.emit(tap, &shown);
    }

    /// Shows whole lines, or a piece of one that cannot wait.
    fn emit(&mut self, tap: usize, bytes: &[u8]) {
        let stream = &self.taps[tap];
        let place = &mut self.places[stream.place];
        if self.style == Style::Fold && stream.place < 2 {
            if !self.folds[stream.place].push(tap / 2, bytes) {
                self.unfold();
            }
            return;
        }
        let breaks = place.joint.write(tap, &stream.label, bytes, &mut place.buffer);
        // On a terminal it is a prompt that stands there, and everybody sees it.
        if breaks && !place.terminal && !std::mem::replace(&mut self.has_broken, true) {
            self.note(
                "a line that was too long to be kept ends in a backslash, as another rank's came. \
                 For output that is no text: --raw, or a file for each rank: -o out.%n  [N130]",
            );
        }
    }

    /// Says something on standard error, between the lines of ranks.
    fn note(&mut self, text: &str) {
        let Place { joint, buffer, .. } = &mut self.places[1];
        joint.write(Who::MAX, "", format!("muster: {text}\n").as_bytes(), buffer);
    }

    /// Too much to hold: shows what is there and goes on line by line.
    fn unfold(&mut self) {
        self.style = Style::Lines;
        for at in [0, 1] {
            self.folds[at].take(&mut self.places[at].buffer);
        }
        self.note("too much output to fold; the rest is labelled");
    }

    /// A stream has ended.
    pub fn end(&mut self, tap: usize) {
        let mut rest = Vec::new();
        self.taps[tap].lines.take(&mut rest);
        if !rest.is_empty() {
            self.emit(tap, &rest);
        }
        let stream = &self.taps[tap];
        let place = &mut self.places[stream.place];
        // A file has what was written, byte for byte, where one program alone has written.
        if stream.place >= OURS.len() && stream.label.is_empty() {
            place.joint.leave(tap);
        } else {
            place.joint.end(tap, &mut place.buffer);
        }
    }

    /// The job begins again: what is not finished will not be.
    pub fn cut(&mut self) {
        (0..self.taps.len()).for_each(|tap| self.end(tap));
    }

    /// When an unfinished line is to be shown.
    pub fn due(&self) -> Option<Instant> {
        // A folded line waits for the end.
        let lines = self.style == Style::Lines;
        self.waiting.front().filter(|_| lines).map(|(since, _)| *since + PATIENCE)
    }

    /// Shows lines that were unfinished for long enough.
    pub fn tick(&mut self, now: Instant) {
        while self.due().is_some_and(|due| due <= now) {
            let Some((since, tap)) = self.waiting.pop_front() else { return };
            if self.taps[tap].lines.since() == Some(since) {
                let mut piece = Vec::new();
                self.taps[tap].lines.take(&mut piece);
                self.emit(tap, &piece);
            }
        }
    }

    /// All streams have ended.
    pub fn finish(&mut self) {
        if self.style == Style::Fold {
            for at in [0, 1] {
                self.folds[at].take(&mut self.places[at].buffer);
            }
        }
    }

    /// What was kept, by stream.
    pub fn kept(&mut self) -> Vec<Kept> {
        self.taps.iter_mut().map(|tap| std::mem::take(&mut tap.kept)).collect()
    }

    /// Bytes that wait to be written.
    pub fn pending(&self) -> usize {
        self.places.iter().map(|place| place.buffer.len()).sum()
    }

    /// Writes what there is to write. A place that fails is given up.
    ///
    /// # Errors
    /// The first place that cannot be written to; the others go on.
    pub fn flush(&mut self) -> Result<(), Unwritable> {
        let mut first = Ok(());
        for (at, place) in self.places.iter_mut().enumerate() {
            if place.buffer.is_empty() {
                continue;
            }
            let write = |file| match place.waits {
                true => pieces(&place.buffer)
                    .try_for_each(|piece| self.stuck.during(|| write_all(file, piece))),
                false => write_all(file, &place.buffer),
            };
            if let Some(file) = &place.file
                && let Err(error) = write(file)
            {
                place.file = None;
                let (name, ours, is_terminal) = (place.name.clone(), at < 2, place.terminal);
                first = first.and(Err(Unwritable { name, ours, is_terminal, error }));
            }
            place.buffer.clear();
            // One burst must not be kept for ever.
            place.buffer.shrink_to(1024 * 1024);
        }
        first
    }
}

impl Place {
    fn new(name: &str, file: Option<File>, terminal: bool) -> Place {
        let (joint, buffer) = (Joint::default(), Vec::new());
        let is_on_disk = |file: &File| file.metadata().is_ok_and(|it| it.is_file());
        let waits = file.as_ref().is_some_and(|file| !is_on_disk(file));
        Place { name: name.to_owned(), file, terminal, waits, streams: 0, joint, buffer }
    }

    fn ours(
        at: usize,
        file: io::Result<std::os::fd::OwnedFd>,
        terminal: bool,
    ) -> Result<Place, Unwritable> {
        match file {
            Ok(file) => Ok(Place::new(OURS[at], Some(File::from(file)), terminal)),
            Err(error) => {
                let (name, is_terminal) = (OURS[at].into(), false);
                Err(Unwritable { name, ours: true, is_terminal, error })
            }
        }
    }

    fn add(
        places: &mut Vec<Place>,
        known: &mut HashMap<String, usize>,
        name: &str,
        file: Option<File>,
    ) -> usize {
        let terminal = file.as_ref().is_some_and(IsTerminal::is_terminal);
        places.push(Place::new(name, file, terminal));
        known.insert(name.to_owned(), places.len() - 1);
        places.len() - 1
    }
}

/// A file that is empty unless it is to be added to. What is written goes behind what others have
/// written meanwhile: under another name of the file, or for another job.
fn opened(name: &str, appends: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(!appends).custom_flags(libc::O_APPEND).open(name)
}

/// Whether a line can be written at once, or to nobody.
pub fn takes(file: impl AsFd) -> bool {
    let mut ready = [PollFd::new(&file, PollFlags::OUT)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut ready, Some(&now)) != Ok(0)
}

/// Writes all, also to a terminal or pipe that somebody made non-blocking.
pub fn write_all(file: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&file, bytes).map_err(io::Error::from) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let mut ready = [PollFd::new(&file, PollFlags::OUT)];
                // Interrupted or not: the next write shows how it is.
                let _ = poll(&mut ready, None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(style: Style, label: bool, ranks: usize) -> Show {
        let nodes: Vec<String> = (0..ranks).map(|n| format!("n{n}")).collect();
        let mut show = Show::new(style, label, [&Goal::Ours, &Goal::Ours], 1, &nodes).unwrap();
        for place in &mut show.places {
            place.terminal = false;
        }
        show
    }

    fn taken(show: &mut Show, place: usize) -> String {
        String::from_utf8(std::mem::take(&mut show.places[place].buffer)).unwrap()
    }

    #[test]
    fn one_rank_without_label_is_left_alone() {
        let (mut show, now) = (show(Style::Lines, false, 1), Instant::now());
        show.data(0, b"no newline", now);
        show.data(1, b"error\n", now);
        show.end(0);
        show.finish();
        assert_eq!(
            (taken(&mut show, 0).as_str(), taken(&mut show, 1).as_str()),
            ("no newline", "error\n")
        );
    }

    /// 3 MB of zeros from each of two ranks became a file of 6,000,007 bytes without a word.
    #[test]
    fn a_line_that_is_broken_where_nobody_looks_is_told_once() {
        let (mut show, now) = (show(Style::Lines, false, 2), Instant::now());
        let long = vec![0; LINE_MAX + 1];
        for tap in [0, 2, 0, 2] {
            show.data(tap, &long, now);
        }
        let told = taken(&mut show, 1);
        assert_eq!(told.matches("[N130]").count(), 1, "{told}");
        assert_eq!(taken(&mut show, 0).matches("\\\n").count(), 3);
    }

    #[test]
    fn many_ranks_never_tear_a_line() {
        let (mut show, now) = (show(Style::Lines, true, 2), Instant::now());
        show.data(0, b"a\nbe", now);
        show.data(2, b"x\ny\n", now);
        show.data(3, b"oops\n", now);
        assert_eq!(show.due(), None, "nobody looks: a line waits for its end");
        show.data(0, b"gun\nlast", now);
        show.end(0);
        assert_eq!(taken(&mut show, 0), "0: a\n1: x\n1: y\n0: begun\n0: last\n");
        assert_eq!(taken(&mut show, 1), "1: oops\n");
    }

    #[test]
    fn what_others_write_to_the_same_pipe_comes_between_lines_unless_one_is_longer_than_a_piece() {
        let line = [&[b'x'; 999][..], b"\n"].concat();
        let long = [&[b'y'; PIECE + 1][..], b"\nend"].concat();
        let bytes = [&line.repeat(5)[..], &long].concat();
        let lengths: Vec<usize> = pieces(&bytes).map(<[u8]>::len).collect();
        assert_eq!(lengths, [4 * line.len(), line.len(), PIECE, 2, 3]);
        assert_eq!(pieces(&bytes).collect::<Vec<_>>().concat(), bytes);
    }

    #[test]
    fn a_prompt_on_a_terminal_is_shown_after_a_moment() {
        let (mut show, now) = (show(Style::Lines, true, 2), Instant::now());
        show.places[0].terminal = true;
        show.data(0, b"name? ", now);
        assert_eq!(show.due(), Some(now + PATIENCE));
        show.tick(now);
        assert_eq!(taken(&mut show, 0), "");
        show.tick(now + PATIENCE);
        assert_eq!((taken(&mut show, 0).as_str(), show.due()), ("0: name? ", None));
        show.data(2, b"hello\n", now);
        assert_eq!(taken(&mut show, 0), "\\\n1: hello\n");
    }

    #[test]
    fn equal_output_is_folded_until_it_is_too_much() {
        let (mut show, now) = (show(Style::Fold, false, 3), Instant::now());
        for rank in 0..3 {
            show.data(rank * 2, if rank == 1 { b"b" } else { b"a" }, now);
            show.end(rank * 2);
        }
        assert_eq!(taken(&mut show, 0), "");
        show.finish();
        assert_eq!(taken(&mut show, 0), "0,2:\na\n1:\nb\n");
        let line = [vec![b'x'; 1024 * 1024 - 1], vec![b'\n']].concat();
        for _ in 0..65 {
            show.data(0, &line, now);
        }
        show.data(2, b"later\n", now);
        assert!(taken(&mut show, 0).ends_with("x\n1: later\n"));
        assert!(taken(&mut show, 1).contains("too much output to fold"));
    }

    #[test]
    fn folded_ranks_label_no_lines_of_their_files() {
        let dir = std::env::temp_dir().join(format!("muster-folded-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let goal = Goal::Files(Template::parse(&format!("{}/%n", dir.display())).unwrap());
        let nodes = ["n0", "n1"].map(str::to_owned);
        let mut show = Show::new(Style::Fold, false, [&Goal::Ours, &goal], 7, &nodes).unwrap();
        show.data(3, b"oops\n", Instant::now());
        show.flush().unwrap();
        assert_eq!(std::fs::read(dir.join("1")).unwrap(), b"oops\n");
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn kept_output_is_bounded() {
        let (mut show, now) = (show(Style::Keep, false, 40), Instant::now());
        let share = show.share;
        show.data(0, &vec![1; share], now);
        show.data(2, &vec![1; share + 1], now);
        let kept = show.kept();
        assert_eq!((kept[0].bytes.len(), kept[0].truncated), (share, false));
        assert_eq!((kept[2].bytes.len(), kept[2].truncated), (share, true));
        assert_eq!(show.pending(), 0);
    }

    #[test]
    fn what_goes_to_one_file_under_two_names_is_all_there() {
        let dir = std::env::temp_dir().join(format!("muster-names-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let goal = |name: &str| {
            Goal::Files(Template::parse(&format!("{}/{name}", dir.display())).unwrap())
        };
        let goals = [goal("o"), goal("./o")];
        std::fs::write(dir.join("o"), "what was there before").unwrap();
        let nodes = ["n0".to_owned()];
        let mut show = Show::new(Style::Lines, false, [&goals[0], &goals[1]], 7, &nodes).unwrap();
        for (tap, line) in [(0, "a long line\n"), (1, "b\n"), (0, "c\n")] {
            show.data(tap, line.as_bytes(), Instant::now());
            show.flush().unwrap();
        }
        assert_eq!(std::fs::read_to_string(dir.join("o")).unwrap(), "a long line\nb\nc\n");
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_file_that_is_added_to_keeps_what_it_has() {
        let dir = std::env::temp_dir().join(format!("muster-added-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let template = Template::parse(&format!("{}/log", dir.display())).unwrap();
        let goal = Goal::Files(template.appending(true));
        for line in ["old\n", "new\n"] {
            let nodes = ["n0".to_owned()];
            let mut show = Show::new(Style::Lines, false, [&goal, &goal], 7, &nodes).unwrap();
            show.data(0, line.as_bytes(), Instant::now());
            show.flush().unwrap();
        }
        assert_eq!(std::fs::read_to_string(dir.join("log")).unwrap(), "old\nnew\n");
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn ranks_share_the_files_that_their_names_expand_to() {
        let dir = std::env::temp_dir().join(format!("muster-show-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let goal = Goal::Files(Template::parse(&format!("{}/%j.%N", dir.display())).unwrap());
        let nodes = ["n0", "n0", "n1"].map(str::to_owned);
        let mut show = Show::new(Style::Lines, false, [&goal, &goal], 7, &nodes).unwrap();
        let now = Instant::now();
        show.data(0, b"a", now);
        show.data(2, b"b\n", now);
        show.data(3, b"c\n", now);
        show.data(0, b"a\n", now);
        show.data(4, b"d\n", now);
        show.flush().unwrap();
        assert_eq!(std::fs::read(dir.join("7.n0")).unwrap(), b"b\nc\naa\n");
        assert_eq!(std::fs::read(dir.join("7.n1")).unwrap(), b"d\n");
        std::fs::remove_dir_all(&dir).unwrap();
        let gone = Show::new(Style::Lines, false, [&goal, &goal], 7, &nodes).err().unwrap();
        assert_eq!(gone.error.kind(), io::ErrorKind::NotFound);
    }
}
