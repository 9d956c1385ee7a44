//! Walks over the bytes of a message in the order of its type map, from any position of the packed
//! data.
//!
//! A cursor goes down its layout to a *group*, a list of blocks that may be repeated at a stride,
//! and steps through it without looking at the tree again. So a vector is one group, a subarray has
//! one for each plane, and an array of structures one.

use super::layout::{Block, Form, Layout, dense};

/// Bytes that lie together: where, relative to the buffer's address, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The displacement of the first.
    pub at: isize,
    /// How many they are.
    pub length: usize,
}

impl Run {
    fn end(self) -> isize {
        self.at + self.length as isize
    }
}

/// Blocks that are repeated.
#[derive(Debug, Clone)]
struct Group<'a> {
    blocks: &'a [Block],
    /// The block that comes next.
    next: usize,
    /// Bytes of it that are behind the cursor.
    skip: usize,
    /// What is added to the blocks' displacements.
    base: isize,
    /// Repetitions after this one, each `stride` further.
    left: usize,
    stride: isize,
}

impl Group<'_> {
    /// Goes to the start of a repetition after this one.
    fn repeat(&mut self, times: usize) {
        self.left -= times;
        self.base += times as isize * self.stride;
        self.next = 0;
    }
}

/// Many bytes at once, for loops that copy them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stretch<'a> {
    /// Blocks of one length at multiples of a stride.
    Even { at: isize, length: usize, count: usize, stride: isize },
    /// Any blocks, repeated at multiples of a stride.
    List { blocks: &'a [Block], base: isize, count: usize, stride: isize },
}

impl From<Run> for Stretch<'_> {
    fn from(run: Run) -> Self {
        Stretch::Even { at: run.at, length: run.length, count: 1, stride: 0 }
    }
}

const NOTHING: Group<'static> =
    Group { blocks: &[], next: 0, skip: 0, base: 0, left: 0, stride: 0 };

/// A position in the packed data of a message, and the bytes in memory that follow it.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    layout: &'a Layout,
    extent: isize,
    position: usize,
    end: usize,
    group: Group<'a>,
}

impl<'a> Cursor<'a> {
    /// At the start of `count` copies of a layout.
    pub(super) fn new(layout: &'a Layout, count: usize, extent: isize) -> Cursor<'a> {
        Cursor { layout, extent, position: 0, end: count * layout.size, group: NOTHING }
    }

    /// How many bytes of the packed data are behind the cursor.
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// How many are still to come.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// Goes to a position of the packed data; its end is the farthest there is.
    pub fn seek(&mut self, position: usize) {
        self.position = position.min(self.end);
        self.group = NOTHING;
    }

    /// The next bytes that lie together, at most `most`; `None` at the end, and if `most` is 0.
    ///
    /// Bytes of neighbouring blocks are not joined; [`Runs`] does that.
    #[inline]
    pub fn step(&mut self, most: usize) -> Option<Run> {
        loop {
            if let Some(block) = self.group.blocks.get(self.group.next) {
                let (skip, at) = (self.group.skip, self.group.base + block.at);
                let run = Run { at: at + skip as isize, length: block.length - skip };
                if run.length > most {
                    self.group.skip += most;
                    self.position += most;
                    return (most > 0).then_some(Run { at: run.at, length: most });
                }
                self.group.next += 1;
                self.group.skip = 0;
                self.position += run.length;
                return Some(run);
            }
            if self.group.left > 0 {
                self.group.repeat(1);
            } else if let Some(run) = self.descend() {
                return self.cut(run, most);
            } else if self.group.blocks.is_empty() {
                return None;
            }
        }
    }

    /// As [`Cursor::step`], but as many whole blocks as the group has.
    pub(super) fn stretch(&mut self, most: usize) -> Option<Stretch<'a>> {
        loop {
            if self.group.next < self.group.blocks.len() {
                let whole =
                    self.group.skip == 0 && self.group.blocks[self.group.next].length <= most;
                return if whole {
                    Some(self.blocks(most))
                } else {
                    self.step(most).map(Stretch::from)
                };
            }
            if self.group.left > 0 {
                self.group.repeat(1);
            } else if let Some(run) = self.descend() {
                return self.cut(run, most).map(Stretch::from);
            } else if self.group.blocks.is_empty() {
                return None;
            }
        }
    }

    /// Whole blocks of the group from the next one on, which is whole and fits.
    fn blocks(&mut self, most: usize) -> Stretch<'a> {
        let Group { blocks, next, base, left, stride, .. } = self.group;
        let last = blocks[blocks.len() - 1];
        let size = last.before + last.length;
        if next > 0 || size > most {
            let from = blocks[next].before;
            let fit = |block: &Block| block.before + block.length - from <= most;
            let end = next + blocks[next..].partition_point(fit);
            self.group.next = end;
            self.position += blocks[end - 1].before + blocks[end - 1].length - from;
            return Stretch::List { blocks: &blocks[next..end], base, count: 1, stride };
        }
        let count = (left + 1).min(most / size);
        self.group.repeat(count - 1);
        self.group.next = blocks.len();
        self.position += count * size;
        match *blocks {
            [Block { at, length, .. }] => Stretch::Even { at: base + at, length, count, stride },
            _ => Stretch::List { blocks, base, count, stride },
        }
    }

    /// The start of a long run, without a group.
    fn cut(&mut self, run: Run, most: usize) -> Option<Run> {
        let length = run.length.min(most);
        self.position += length;
        (length > 0).then_some(Run { at: run.at, length })
    }

    /// Finds the group at the position, or the rest of the message if it lies together. Without
    /// either, the cursor is at the end.
    fn descend(&mut self) -> Option<Run> {
        self.group = NOTHING;
        if self.position >= self.end {
            return None;
        }
        let mut layout = self.layout;
        let copy = self.position / layout.size;
        let mut rest = self.position - copy * layout.size;
        let mut base = copy as isize * self.extent;
        let (mut left, mut stride) = (self.end / layout.size - 1 - copy, self.extent);
        loop {
            match &layout.form {
                Form::Blocks(blocks) if dense(blocks, stride) => {
                    let length = (left + 1) * blocks[0].length - rest;
                    return Some(Run { at: base + blocks[0].at + rest as isize, length });
                }
                Form::Blocks(blocks) => {
                    let next = blocks.partition_point(|block| block.before <= rest) - 1;
                    let skip = rest - blocks[next].before;
                    self.group = Group { blocks, next, skip, base, left, stride };
                    return None;
                }
                Form::Repeat { count, stride: step, body } => {
                    let copy = rest / body.size;
                    rest -= copy * body.size;
                    base += copy as isize * step;
                    (left, stride) = (count - 1 - copy, *step);
                    layout = body;
                }
                Form::Parts(parts) => {
                    let part = &parts[parts.partition_point(|part| part.before <= rest) - 1];
                    rest -= part.before;
                    base += part.at;
                    (left, stride) = (0, 0);
                    layout = &part.body;
                }
            }
        }
    }
}

/// The maximal runs of a message, in the order of its type map.
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    cursor: Cursor<'a>,
    ahead: Option<Run>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Runs<'a> {
        Runs { cursor, ahead: None }
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let mut run = self.ahead.take().or_else(|| self.cursor.step(usize::MAX))?;
        while let Some(more) = self.cursor.step(usize::MAX) {
            if more.at != run.end() {
                self.ahead = Some(more);
                break;
            }
            run.length += more.length;
        }
        Some(run)
    }
}
