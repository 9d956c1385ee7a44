//! Whole lines from the pieces that ranks write, and several ranks in one place. No I/O.
//!
//! [`Lines`] holds back the unfinished line of one stream. [`Joint`] puts the streams that share
//! a place (our stdout, a file) one after the other, so that no line is torn: if an unfinished
//! line had to be shown (a prompt on a terminal, a line longer than [`LINE_MAX`]) and another
//! stream's line comes, it ends in a backslash, and what follows later starts a new line.

use std::time::{Duration, Instant};

/// How long an unfinished line waits for its end.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// Longest line that is held back: what is longer goes out in pieces.
pub const LINE_MAX: usize = 1024 * 1024;

/// The unfinished line of one stream.
#[derive(Debug, Default)]
pub struct Lines {
    held: Vec<u8>,
    since: Option<Instant>,
}

impl Lines {
    /// Takes what came and appends to `out` what can be shown: whole lines. Of a line longer
    /// than `longest`, what is there.
    pub fn push(&mut self, bytes: &[u8], longest: usize, now: Instant, out: &mut Vec<u8>) {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if whole > 0 {
            out.append(&mut self.held);
            out.extend_from_slice(&bytes[..whole]);
            self.since = None;
        }
        self.held.extend_from_slice(&bytes[whole..]);
        if self.held.len() > longest {
            self.take(out);
        } else if !self.held.is_empty() {
            self.since.get_or_insert(now);
        }
    }

    /// Since when a line has been unfinished.
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Appends the unfinished line to `out`.
    pub fn take(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
        self.since = None;
    }
}

/// Names a stream among those that share a place.
pub type Who = usize;

/// Streams that share a place.
#[derive(Debug, Default)]
pub struct Joint {
    /// Whose unfinished line the place ends in.
    open: Option<Who>,
    /// It ends in the unfinished line of one that has ended.
    is_left: bool,
}

impl Joint {
    /// Appends to `out` what shows `bytes` of stream `who`, each line with its label. Whether that
    /// has broken another's line.
    pub fn write(&mut self, who: Who, label: &str, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        if bytes.is_empty() {
            return false;
        }
        let breaks = self.open.is_some_and(|open| open != who);
        if breaks {
            out.extend_from_slice(b"\\\n");
            self.open = None;
        }
        if std::mem::take(&mut self.is_left) {
            out.push(b'\n');
        }
        if label.is_empty() {
            out.extend_from_slice(bytes);
        } else {
            let mut inside = self.open.is_some();
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                if !inside {
                    out.extend_from_slice(label.as_bytes());
                }
                out.extend_from_slice(line);
                inside = false;
            }
        }
        self.open = (bytes.last() != Some(&b'\n')).then_some(who);
        breaks
    }

    /// Stream `who` has ended: its last line gets a newline if it has none.
    pub fn end(&mut self, who: Who, out: &mut Vec<u8>) {
        if self.open == Some(who) {
            out.push(b'\n');
            self.open = None;
        }
    }

    /// Stream `who` has ended: its last line gets a newline if it has none and another's follows.
    pub fn leave(&mut self, who: Who) {
        if self.open == Some(who) {
            (self.open, self.is_left) = (None, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(lines: &mut Lines, bytes: &[u8], now: Instant) -> String {
        let mut out = Vec::new();
        lines.push(bytes, 8, now, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_come_out_whole() {
        let (mut lines, start) = (Lines::default(), Instant::now());
        let later = start + PATIENCE;
        assert_eq!(pushed(&mut lines, b"ab", start), "");
        assert_eq!(lines.since(), Some(start));
        assert_eq!(pushed(&mut lines, b"c", later), "");
        assert_eq!(lines.since(), Some(start), "patience is counted from the first byte");
        assert_eq!(pushed(&mut lines, b"\nd\ne", later), "abc\nd\n");
        assert_eq!(lines.since(), Some(later));
        assert_eq!(pushed(&mut lines, b"\n", later), "e\n");
        assert_eq!(lines.since(), None);
        assert_eq!(pushed(&mut lines, b"", later), "");
        assert_eq!(lines.since(), None);
        assert_eq!(pushed(&mut lines, b"123456789", later), "123456789", "too long to hold");
        assert_eq!(lines.since(), None);
        assert_eq!(pushed(&mut lines, b"x", later), "");
        let mut out = Vec::new();
        lines.take(&mut out);
        assert_eq!((out, lines.since()), (b"x".to_vec(), None));
    }

    #[test]
    fn a_last_line_without_a_newline_gets_none_unless_another_stream_goes_on() {
        let (mut joint, mut out) = (Joint::default(), Vec::new());
        joint.write(0, "", b"one", &mut out);
        joint.leave(1);
        joint.leave(0);
        assert_eq!(out, b"one");
        joint.write(1, "", b"two", &mut out);
        joint.leave(1);
        assert_eq!(out, b"one\ntwo");
    }

    #[test]
    fn labels_and_interruptions() {
        let (mut joint, mut out) = (Joint::default(), Vec::new());
        joint.write(0, "0: ", b"a\nb\n", &mut out);
        joint.write(1, "1: ", b"name? ", &mut out);
        assert!(!joint.write(1, "1: ", b"(yes) ", &mut out));
        assert!(joint.write(0, "0: ", b"c\n", &mut out));
        joint.write(1, "1: ", b"thanks\n", &mut out);
        joint.write(2, "2: ", b"no newline", &mut out);
        joint.end(1, &mut out);
        joint.end(2, &mut out);
        let expected = "0: a\n0: b\n1: name? (yes) \\\n0: c\n1: thanks\n2: no newline\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn without_labels_bytes_stay_as_they_are() {
        let (mut joint, mut out) = (Joint::default(), Vec::new());
        joint.write(0, "", b"a\nb", &mut out);
        joint.write(0, "", b"\n\xff\0", &mut out);
        joint.write(0, "", b"", &mut out);
        assert_eq!(out, b"a\nb\n\xff\0");
    }
}
