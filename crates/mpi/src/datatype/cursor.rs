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
                self.group.left -= 1;
                self.group.base += self.group.stride;
                self.group.next = 0;
            } else if let Some(run) = self.descend() {
                return self.cut(run, most);
            } else if self.group.blocks.is_empty() {
                return None;
            }
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
