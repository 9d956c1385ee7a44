//! Type maps (MPI-5.0, section 5.1): basic types and their displacements, in order.
//!
//! Every constructor is put together from three: a repetition at a stride, a sequence, and new
//! bounds. So a map has the size of the constructor's arguments, never that of the data, and
//! everything that is asked of it is derived here, once, from what its parts are.

use std::sync::Arc;

use super::layout::Layout;
use super::predefined::Predefined;
use super::signature::Signature;
use crate::error::{Class, Error, Result};

/// One part of a sequence: `count` copies of a map, each its extent further than the last.
#[derive(Debug)]
pub(super) struct Part {
    pub at: isize,
    pub count: usize,
    pub of: Arc<Map>,
    /// Bytes and elements of the sequence that come before them.
    pub bytes_before: usize,
    pub elements_before: usize,
}

/// How a map is put together.
#[derive(Debug)]
pub(super) enum Form {
    Basic(Predefined),
    /// Copies at multiples of a stride.
    Repeat {
        count: usize,
        stride: isize,
        of: Arc<Map>,
    },
    Sequence(Box<[Part]>),
}

/// Where data begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub lower: isize,
    pub upper: isize,
}

/// A type map, and what follows of it.
#[derive(Debug)]
pub(super) struct Map {
    pub form: Form,
    /// Bytes of data.
    pub size: usize,
    /// Basic elements.
    pub elements: usize,
    /// From the first byte of data to behind the last; `None` without data.
    pub data: Option<Range>,
    /// The markers of the lower and the upper bound, if a constructor put some.
    pub markers: Option<Range>,
    /// What a structure in C would be aligned to: the largest of the elements'.
    pub alignment: usize,
    /// The predefined datatype that all of it is made of.
    pub uniform: Option<Predefined>,
    pub signature: Signature,
    pub layout: Arc<Layout>,
}

fn too_large() -> Error {
    Error::new(Class::Count, "the datatype would span more than 2^63 bytes")
}

impl Range {
    /// What copies between displacements `lowest` and `highest` span.
    fn spread(self, lowest: isize, highest: isize) -> Option<Range> {
        let lower = self.lower.checked_add(lowest)?;
        let upper = self.upper.checked_add(highest)?;
        upper.checked_sub(lower)?;
        Some(Range { lower, upper })
    }

    fn union(self, other: Range) -> Option<Range> {
        let (lower, upper) = (self.lower.min(other.lower), self.upper.max(other.upper));
        upper.checked_sub(lower)?;
        Some(Range { lower, upper })
    }
}

/// What `count` copies of a range at multiples of a stride span; `None` if they span too much.
fn spread(range: Option<Range>, at: isize, count: usize, stride: isize) -> Option<Option<Range>> {
    let Some(range) = range.filter(|_| count > 0) else { return Some(None) };
    let last = isize::try_from(count - 1).ok()?.checked_mul(stride)?;
    let (lowest, highest) = (last.min(0).checked_add(at)?, last.max(0).checked_add(at)?);
    Some(Some(range.spread(lowest, highest)?))
}

fn union(one: Option<Range>, other: Option<Range>) -> Option<Option<Range>> {
    match (one, other) {
        (Some(one), Some(other)) => one.union(other).map(Some),
        (one, other) => Some(one.or(other)),
    }
}

/// The predefined datatype of two maps together; those without elements do not count.
fn alike(one: &Map, other: &Map) -> Option<Predefined> {
    match (one.elements, other.elements) {
        (_, 0) => one.uniform,
        (0, _) => other.uniform,
        _ => one.uniform.filter(|_| one.uniform == other.uniform),
    }
}

impl Map {
    /// The map of a predefined datatype; a pair is a structure of its two elements.
    pub fn predefined(predefined: Predefined) -> Arc<Map> {
        let Some((value, index)) = predefined.elements() else {
            let size = predefined.size();
            return Arc::new(Map {
                form: Form::Basic(predefined),
                size,
                elements: 1,
                data: Some(Range { lower: 0, upper: size as isize }),
                markers: None,
                alignment: predefined.alignment(),
                uniform: Some(predefined),
                signature: Signature::of(predefined),
                layout: Layout::bytes(size),
            });
        };
        let at = value.size().next_multiple_of(index.alignment()) as isize;
        let parts = [(0, 1, Map::predefined(value)), (at, 1, Map::predefined(index))];
        let map = Map::join(parts.into_iter()).expect("a pair is small");
        Arc::new(Map { uniform: Some(predefined), ..map })
    }

    /// `count` copies at multiples of `stride`.
    ///
    /// # Errors
    /// The copies span more than memory can.
    pub fn repeat(count: usize, stride: isize, of: &Arc<Map>) -> Result<Arc<Map>> {
        if count == 1 {
            return Ok(Arc::clone(of));
        }
        Map::repetition(count, stride, of).map(Arc::new).ok_or_else(too_large)
    }

    fn repetition(count: usize, stride: isize, of: &Arc<Map>) -> Option<Map> {
        let size = count.checked_mul(of.size)?;
        isize::try_from(size).ok()?;
        Some(Map {
            form: Form::Repeat { count, stride, of: Arc::clone(of) },
            size,
            elements: count * of.elements,
            data: spread(of.data, 0, count, stride)?,
            markers: spread(of.markers, 0, count, stride)?,
            alignment: if count == 0 { 1 } else { of.alignment },
            uniform: of.uniform.filter(|_| count > 0),
            signature: of.signature.repeat(count as u64),
            layout: Layout::repeat(count, stride, &of.layout),
        })
    }

    /// Maps one after the other: displacement, and how many copies of which.
    ///
    /// # Errors
    /// They span more than memory can.
    pub fn sequence(parts: impl Iterator<Item = (isize, usize, Arc<Map>)>) -> Result<Arc<Map>> {
        Map::join(parts).map(Arc::new).ok_or_else(too_large)
    }

    fn join(parts: impl Iterator<Item = (isize, usize, Arc<Map>)>) -> Option<Map> {
        let mut map = Map::empty();
        let mut list = Vec::with_capacity(parts.size_hint().0);
        for (at, count, of) in parts {
            let stride = of.extent();
            let (bytes_before, elements_before) = (map.size, map.elements);
            map.size = map.size.checked_add(count.checked_mul(of.size)?)?;
            isize::try_from(map.size).ok()?;
            map.data = union(map.data, spread(of.data, at, count, stride)?)?;
            map.markers = union(map.markers, spread(of.markers, at, count, stride)?)?;
            if count > 0 {
                map.alignment = map.alignment.max(of.alignment);
                map.uniform = alike(&map, &of);
            }
            map.elements += count * of.elements;
            map.signature = map.signature.then(of.signature.repeat(count as u64));
            list.push(Part { at, count, of, bytes_before, elements_before });
        }
        let repetitions =
            list.iter().map(|one| (one.at, one.count, one.of.extent(), &one.of.layout));
        map.layout = Layout::sequence(repetitions);
        map.form = Form::Sequence(list.into());
        Some(map)
    }

    fn empty() -> Map {
        Map {
            form: Form::Sequence([].into()),
            size: 0,
            elements: 0,
            data: None,
            markers: None,
            alignment: 1,
            uniform: None,
            signature: Signature::EMPTY,
            layout: Layout::bytes(0),
        }
    }

    /// The same map with other bounds: earlier markers are gone.
    pub fn resized(of: &Arc<Map>, lower: isize, upper: isize) -> Arc<Map> {
        let parts = [(0, 1, Arc::clone(of))];
        let map = Map::join(parts.into_iter()).expect("a map that is there already spans little");
        Arc::new(Map { markers: Some(Range { lower, upper }), ..map })
    }

    /// Lower and upper bound: the markers, or else the data's, rounded up to the alignment
    /// (section 5.1.6, equations 5.1 and 5.2).
    pub fn bounds(&self) -> Range {
        if let Some(markers) = self.markers {
            return markers;
        }
        let Some(Range { lower, upper }) = self.data else { return Range { lower: 0, upper: 0 } };
        let extent = ((upper - lower) as usize).next_multiple_of(self.alignment);
        Range { lower, upper: lower.saturating_add_unsigned(extent) }
    }

    /// From the lower to the upper bound.
    pub fn extent(&self) -> isize {
        let Range { lower, upper } = self.bounds();
        upper.wrapping_sub(lower)
    }

    /// Does something with each basic type and its displacement, in order.
    ///
    /// # Errors
    /// What comes of doing it.
    pub fn each(
        &self,
        at: isize,
        act: &mut impl FnMut(Predefined, isize) -> Result<()>,
    ) -> Result<()> {
        match &self.form {
            Form::Basic(predefined) => act(*predefined, at),
            Form::Repeat { count, stride, of } => of.each_of_copies(at, *count, *stride, act),
            Form::Sequence(parts) => parts.iter().try_for_each(|part| {
                part.of.each_of_copies(at + part.at, part.count, part.of.extent(), act)
            }),
        }
    }

    /// The same for copies at multiples of a stride.
    ///
    /// # Errors
    /// What comes of doing it.
    pub fn each_of_copies(
        &self,
        at: isize,
        count: usize,
        stride: isize,
        act: &mut impl FnMut(Predefined, isize) -> Result<()>,
    ) -> Result<()> {
        if self.size == 0 {
            return Ok(());
        }
        (0..count as isize).try_for_each(|copy| self.each(at + copy * stride, act))
    }

    /// The sum of a size that each basic type has.
    pub fn sum(&self, size: fn(Predefined) -> usize) -> usize {
        match &self.form {
            Form::Basic(predefined) => size(*predefined),
            Form::Repeat { count, of, .. } => count * of.sum(size),
            Form::Sequence(parts) => parts.iter().map(|part| part.count * part.of.sum(size)).sum(),
        }
    }

    /// How many whole basic elements the first `bytes` of the packed data are; `None` if the bytes
    /// end within one.
    pub fn elements_in(&self, bytes: usize) -> Option<usize> {
        if bytes >= self.size {
            return Some(self.elements);
        }
        match &self.form {
            Form::Basic(_) => (bytes == 0).then_some(0),
            Form::Repeat { of, .. } => of.elements_of_copies(bytes),
            Form::Sequence(parts) => {
                let after = parts.partition_point(|part| part.bytes_before <= bytes);
                let Some(part) = parts[..after].last() else { return Some(0) };
                let elements = part.of.elements_of_copies(bytes - part.bytes_before)?;
                Some(part.elements_before + elements)
            }
        }
    }

    /// The same of the packed data of as many copies as there are bytes.
    pub fn elements_of_copies(&self, bytes: usize) -> Option<usize> {
        if self.size == 0 {
            return Some(0);
        }
        let rest = self.elements_in(bytes % self.size)?;
        Some(bytes / self.size * self.elements + rest)
    }

    /// The other way round: how many bytes of the packed data the first basic elements are.
    pub fn bytes_of(&self, elements: usize) -> usize {
        if elements >= self.elements {
            return self.size;
        }
        match &self.form {
            Form::Basic(_) => 0,
            Form::Repeat { of, .. } => of.bytes_of_copies(elements),
            Form::Sequence(parts) => {
                let after = parts.partition_point(|part| part.elements_before <= elements);
                let Some(part) = parts[..after].last() else { return 0 };
                part.bytes_before + part.of.bytes_of_copies(elements - part.elements_before)
            }
        }
    }

    /// The same of as many copies as there are elements, which are in memory.
    fn bytes_of_copies(&self, elements: usize) -> usize {
        if self.elements == 0 {
            return 0;
        }
        elements / self.elements * self.size + self.bytes_of(elements % self.elements)
    }
}
