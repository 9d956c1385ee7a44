//! Where the bytes of a datatype lie, in the order of its type map, and nothing of what they are.
//!
//! A layout is a tree that stays small for what is regular: blocks of bytes, repetitions at a
//! stride, parts one after the other. It is put together with the type map and simplified on the
//! way: neighbouring bytes become one block, evenly spaced blocks a repetition, few blocks a list.
//! Each node knows how many bytes come before its parts, so that any position of the packed data
//! is found in as many steps as the tree has levels.

use std::sync::Arc;

use super::cursor::Run;

/// Bytes that lie together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Their displacement.
    pub at: isize,
    /// How many they are.
    pub length: usize,
    /// Bytes of the layout that come before them.
    pub before: usize,
}

/// Part of a layout.
#[derive(Debug)]
pub(super) struct Part {
    /// What is added to the displacements of `body`.
    pub at: isize,
    /// Bytes of the layout that come before them.
    pub before: usize,
    pub body: Arc<Layout>,
}

/// How a layout is put together.
#[derive(Debug)]
pub(super) enum Form {
    /// Blocks one after the other; none of them is empty.
    Blocks(Box<[Block]>),
    /// The same at multiples of a stride, twice or more; the body is not empty.
    Repeat { count: usize, stride: isize, body: Arc<Layout> },
    /// Two parts or more, none of them empty.
    Parts(Box<[Part]>),
}

/// Where bytes lie.
#[derive(Debug)]
pub(super) struct Layout {
    /// How many bytes in all.
    pub size: usize,
    pub form: Form,
}

/// Up to so many blocks are listed rather than described: steps within a list are the cheapest.
const LIST_MAX: usize = 16;

impl Layout {
    /// That of `length` bytes at displacement 0.
    pub fn bytes(length: usize) -> Arc<Layout> {
        let mut list = List::default();
        list.push(0, length);
        list.finish()
    }

    /// `count` times `body`, at multiples of `stride`.
    pub fn repeat(count: usize, stride: isize, body: &Arc<Layout>) -> Arc<Layout> {
        if count == 1 || body.size == 0 {
            return Arc::clone(body);
        }
        if count == 0 {
            return Layout::bytes(0);
        }
        let size = count * body.size;
        match &body.form {
            Form::Blocks(blocks) if dense(blocks, stride) => {
                let mut list = List::default();
                list.push(blocks[0].at, size);
                return list.finish();
            }
            Form::Repeat { count: inner, stride: step, body }
                if stride == (*inner as isize).wrapping_mul(*step) =>
            {
                let form =
                    Form::Repeat { count: count * inner, stride: *step, body: Arc::clone(body) };
                return Arc::new(Layout { size, form });
            }
            _ => {}
        }
        let listed = body.listed().map(List::listed);
        let body = listed.unwrap_or_else(|| Arc::clone(body));
        Arc::new(Layout { size, form: Form::Repeat { count, stride, body } })
    }

    /// Repetitions of layouts one after the other: displacement, count and stride of each.
    pub fn sequence<'a>(
        repetitions: impl Iterator<Item = (isize, usize, isize, &'a Arc<Layout>)>,
    ) -> Arc<Layout> {
        let mut parts = Sequence::default();
        for (at, count, stride, body) in repetitions {
            parts.push(at, count, stride, body);
        }
        parts.finish()
    }

    /// The same, `by` further.
    fn shifted(self: &Arc<Layout>, by: isize) -> Arc<Layout> {
        if by == 0 {
            return Arc::clone(self);
        }
        let form = match &self.form {
            Form::Blocks(blocks) => {
                let shift = |block: &Block| Block { at: block.at + by, ..*block };
                Form::Blocks(blocks.iter().map(shift).collect())
            }
            Form::Repeat { count, stride, body } => {
                Form::Repeat { count: *count, stride: *stride, body: body.shifted(by) }
            }
            Form::Parts(parts) => {
                let shift = |part: &Part| Part {
                    at: part.at + by,
                    before: part.before,
                    body: Arc::clone(&part.body),
                };
                Form::Parts(parts.iter().map(shift).collect())
            }
        };
        Arc::new(Layout { size: self.size, form })
    }

    /// All bytes, if they lie together.
    pub fn single(&self) -> Option<Run> {
        match &self.form {
            Form::Blocks(blocks) => match blocks[..] {
                [] => Some(Run { at: 0, length: 0 }),
                [Block { at, length, .. }] => Some(Run { at, length }),
                _ => None,
            },
            _ => None,
        }
    }

    /// A short repetition of blocks as a list.
    fn listed(&self) -> Option<List> {
        let Form::Repeat { count, stride, body } = &self.form else { return None };
        let Form::Blocks(blocks) = &body.form else { return None };
        if count.checked_mul(blocks.len())? > LIST_MAX {
            return None;
        }
        let mut list = List::default();
        list.push_all(0, *count, *stride, blocks);
        Some(list)
    }
}

/// Whether a repetition of these blocks is one block.
pub(super) fn dense(blocks: &[Block], stride: isize) -> bool {
    matches!(blocks, [block] if block.length as isize == stride)
}

/// Blocks as they are collected: those that touch are joined.
#[derive(Debug, Default)]
struct List {
    blocks: Vec<Block>,
    size: usize,
}

impl List {
    fn push(&mut self, at: isize, length: usize) {
        if length == 0 {
            return;
        }
        match self.blocks.last_mut() {
            Some(last) if last.at + last.length as isize == at => last.length += length,
            _ => self.blocks.push(Block { at, length, before: self.size }),
        }
        self.size += length;
    }

    fn push_all(&mut self, at: isize, count: usize, stride: isize, blocks: &[Block]) {
        for repetition in 0..count as isize {
            for block in blocks {
                self.push(at + repetition * stride + block.at, block.length);
            }
        }
    }

    /// The list as it is.
    fn listed(self) -> Arc<Layout> {
        Arc::new(Layout { size: self.size, form: Form::Blocks(self.blocks.into()) })
    }

    /// The list, as a repetition if it is long and even.
    fn finish(self) -> Arc<Layout> {
        let List { blocks, size } = &self;
        if blocks.len() <= LIST_MAX {
            return self.listed();
        }
        let (length, stride) = (blocks[0].length, blocks[1].at - blocks[0].at);
        let even = blocks.iter().all(|block| block.length == length)
            && blocks.windows(2).all(|pair| pair[1].at - pair[0].at == stride);
        if !even {
            return self.listed();
        }
        let block = Block { at: blocks[0].at, length, before: 0 };
        let body = Layout { size: length, form: Form::Blocks([block].into()) };
        let form = Form::Repeat { count: blocks.len(), stride, body: Arc::new(body) };
        Arc::new(Layout { size: *size, form })
    }
}

/// Parts as they are collected: blocks between larger parts are put into one list.
#[derive(Debug, Default)]
struct Sequence {
    parts: Vec<Part>,
    size: usize,
    list: List,
    /// Whether a long list was copied into this one. Once for each sequence, all cost the sum of
    /// what they are made of, and what is built by appending stays one list.
    has_copied: bool,
}

impl Sequence {
    fn push(&mut self, at: isize, count: usize, stride: isize, body: &Arc<Layout>) {
        if count == 0 || body.size == 0 {
            return;
        }
        let listed;
        let blocks: &[Block] = match (&body.form, body.listed()) {
            (Form::Blocks(blocks), _) => blocks,
            (_, Some(list)) => {
                listed = list;
                &listed.blocks
            }
            _ => return self.part(at, Layout::repeat(count, stride, body)),
        };
        if dense(blocks, stride) {
            self.list.push(at + blocks[0].at, count * blocks[0].length);
        } else if count.saturating_mul(blocks.len()) <= LIST_MAX {
            self.list.push_all(at, count, stride, blocks);
        } else if count == 1 && !self.has_copied {
            self.has_copied = true;
            self.list.push_all(at, count, stride, blocks);
        } else {
            self.part(at, Layout::repeat(count, stride, body));
        }
    }

    fn part(&mut self, at: isize, body: Arc<Layout>) {
        self.flush();
        self.size += body.size;
        self.parts.push(Part { at, before: self.size - body.size, body });
    }

    /// Makes a part of the list.
    fn flush(&mut self) {
        let list = std::mem::take(&mut self.list);
        if list.size > 0 {
            self.size += list.size;
            self.parts.push(Part { at: 0, before: self.size - list.size, body: list.finish() });
        }
    }

    fn finish(mut self) -> Arc<Layout> {
        if self.parts.is_empty() {
            return self.list.finish();
        }
        self.flush();
        if let [part] = &self.parts[..] {
            return part.body.shifted(part.at);
        }
        Arc::new(Layout { size: self.size, form: Form::Parts(self.parts.into()) })
    }
}
