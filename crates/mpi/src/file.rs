//! What a process sees of a file (MPI-5.0, section 14.3): from a displacement on, the file is tiled
//! with copies of a filetype, and only the bytes of their data are seen, as one stream of etypes.
//!
//! A position here is a number of bytes of that stream; programs count in etypes.

use crate::datatype::{Cursor, Datatype, Predefined};
use crate::error::{Class, Error, Result};

/// How a process sees a file.
#[derive(Debug, Clone)]
pub struct View {
    displacement: u64,
    etype: Datatype,
    filetype: Datatype,
}

/// Bytes of a file that lie together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where the first is.
    pub at: u64,
    /// How many they are.
    pub length: usize,
}

impl Extent {
    /// Where the first byte behind it is.
    #[must_use]
    pub fn end(self) -> u64 {
        self.at + self.length as u64
    }
}

/// That the data of a filetype is in the order of the file.
///
/// # Errors
/// [`Class::Io`].
fn is_in_order(filetype: &Datatype, is_written: bool) -> Result<()> {
    let (mut at, mut end) = (0, 0);
    for run in filetype.runs(1) {
        if run.at < at {
            let what = format!("the filetype has the byte {} behind the byte {at}", run.at);
            return Err(Error::new(Class::Io, what).of("filetype"));
        }
        if is_written && run.at < end {
            let what =
                format!("the filetype has the byte {} of a file to be written twice", run.at);
            return Err(Error::new(Class::Io, what).of("filetype"));
        }
        (at, end) = (run.at, end.max(run.at + run.length as isize));
    }
    Ok(())
}

impl Default for View {
    /// All bytes, as a file is seen that was just opened.
    fn default() -> View {
        let byte = Datatype::of(Predefined::Byte);
        View { displacement: 0, etype: byte.clone(), filetype: byte.clone() }
    }
}

impl View {
    /// From a displacement on, copies of a filetype that consists of etypes. `is_written`: the file
    /// may be written to, so no byte may be there twice.
    ///
    /// # Errors
    /// [`Class::Arg`] for a negative displacement; [`Class::Type`] where the filetype does not
    /// consist of whole etypes; [`Class::Io`] where its data is not in the order of the file.
    pub fn new(
        displacement: i64,
        etype: Datatype,
        filetype: Datatype,
        is_written: bool,
    ) -> Result<View> {
        let displacement = u64::try_from(displacement).map_err(|_| {
            let what = format!("the displacement {displacement} is negative");
            Error::new(Class::Arg, what).of("disp")
        })?;
        let wrong = |argument, what: String| Err(Error::new(Class::Type, what).of(argument));
        let (unit, size) = (etype.size(), filetype.size());
        if unit == 0 {
            return wrong("etype", "the etype has no data".to_owned());
        }
        if !size.is_multiple_of(unit) {
            return wrong(
                "filetype",
                format!("the filetype's {size} bytes are not whole etypes of {unit}"),
            );
        }
        if size == 0 {
            // Of a file that others share this process has no part.
            return Ok(View { displacement, etype, filetype });
        }
        if filetype.true_lower_bound() < 0 || filetype.extent() <= 0 {
            let what = "the filetype has data before its beginning, or no extent to repeat it at";
            return Err(Error::new(Class::Io, what).of("filetype"));
        }
        is_in_order(&filetype, is_written)?;
        Ok(View { displacement, etype, filetype })
    }

    /// Where it begins.
    #[must_use]
    pub fn displacement(&self) -> u64 {
        self.displacement
    }

    /// What positions are counted in.
    #[must_use]
    pub fn etype(&self) -> &Datatype {
        &self.etype
    }

    /// What the file is tiled with.
    #[must_use]
    pub fn filetype(&self) -> &Datatype {
        &self.filetype
    }

    /// The position of an offset in etypes.
    ///
    /// # Errors
    /// [`Class::Arg`] where the offset is negative, or farther than any file.
    pub fn position(&self, offset: i64) -> Result<u64> {
        let position = u64::try_from(offset).ok();
        let position = position.and_then(|it| it.checked_mul(self.etype.size() as u64));
        let position = position.filter(|position| self.is_within_files(*position));
        position.ok_or_else(|| {
            let what = format!("the offset {offset} is negative, or larger than that of any file");
            Error::new(Class::Arg, what).of("offset")
        })
    }

    /// How many etypes lie before a position.
    #[must_use]
    pub fn offset(&self, position: u64) -> i64 {
        (position / self.etype.size() as u64).cast_signed()
    }

    /// Whether it sees nothing.
    fn is_blind(&self) -> bool {
        self.filetype.size() == 0
    }

    /// Whether files can be so large that they have a byte at a position.
    fn is_within_files(&self, position: u64) -> bool {
        if self.is_blind() {
            return i64::try_from(position).is_ok();
        }
        let copies = position / self.filetype.size() as u64 + 1;
        let end = usize::try_from(copies).ok().and_then(|copies| self.filetype.span(copies).ok());
        let end = end.and_then(|span| i64::try_from(span.end).ok());
        end.is_some_and(|end| end.checked_add_unsigned(self.displacement).is_some())
    }

    /// The filetype's data from a position on, of so many bytes.
    fn cursor(&self, position: u64, length: usize) -> Cursor<'_> {
        let start = position as usize;
        let size = self.filetype.size();
        let copies = if size == 0 { 0 } else { (start + length).div_ceil(size) };
        let mut cursor = self.filetype.cursor(copies);
        cursor.seek(start);
        cursor
    }

    /// The byte of the file at a position; where nothing is seen, the first that might be.
    #[must_use]
    pub fn byte(&self, position: u64) -> u64 {
        let run = self.cursor(position, 1).step(1);
        self.displacement + run.map_or(0, |run| run.at.cast_unsigned() as u64)
    }

    /// The parts of the file that so many bytes from a position on are, none next to the one
    /// before.
    ///
    /// # Errors
    /// [`Class::Arg`] where no file is so large; [`Class::Io`] where nothing is seen.
    pub fn extents(&self, position: u64, length: usize) -> Result<Extents<'_>> {
        if self.is_blind() && length > 0 {
            return Err(Error::new(Class::Io, "the filetype has no data, so no byte is seen"));
        }
        let end = position.checked_add(length as u64);
        if !end.is_some_and(|end| self.is_within_files(end)) {
            let what = format!("no file is so large that it has {length} bytes behind {position}");
            return Err(Error::new(Class::Arg, what).of("count"));
        }
        let cursor = self.cursor(position, length);
        Ok(Extents { cursor, displacement: self.displacement, left: length, ahead: None })
    }

    /// The position behind all bytes of a file of so many, rounded up to whole etypes.
    #[must_use]
    pub fn end(&self, size: u64) -> u64 {
        let Some(size) = size.checked_sub(self.displacement) else { return 0 };
        if self.is_blind() {
            return 0;
        }
        let extent = self.filetype.extent().cast_unsigned() as u64;
        let upper = (self.filetype.true_lower_bound() + self.filetype.true_extent()) as u64;
        // All of these copies lie before the file's end.
        let whole = size.checked_sub(upper).map_or(0, |rest| rest / extent + 1);
        let mut position = whole * self.filetype.size() as u64;
        let mut cursor = self.cursor(position, self.filetype.size());
        while let Some(run) = cursor.step(usize::MAX) {
            let before = size.saturating_sub(run.at.cast_unsigned() as u64);
            position += before.min(run.length as u64);
            if before < run.length as u64 {
                break;
            }
        }
        position.next_multiple_of(self.etype.size() as u64)
    }
}

/// The parts of a file that an access is about; see [`View::extents`].
#[derive(Debug, Clone)]
pub struct Extents<'a> {
    cursor: Cursor<'a>,
    displacement: u64,
    left: usize,
    ahead: Option<Extent>,
}

impl Extents<'_> {
    fn step(&mut self) -> Option<Extent> {
        let run = self.cursor.step(self.left)?;
        self.left -= run.length;
        let at = self.displacement + run.at.cast_unsigned() as u64;
        Some(Extent { at, length: run.length })
    }
}

impl Iterator for Extents<'_> {
    type Item = Extent;

    fn next(&mut self) -> Option<Extent> {
        let mut extent = self.ahead.take().or_else(|| self.step())?;
        while let Some(more) = self.step() {
            if more.at != extent.end() {
                self.ahead = Some(more);
                break;
            }
            extent.length += more.length;
        }
        Some(extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Blocks of etypes with gaps between them, and a gap at the end.
    fn filetype(unit: &Datatype, blocks: &[(u8, u8)], gap: u8) -> Datatype {
        let (mut at, mut places) = (0, Vec::new());
        for (before, _) in blocks {
            at += i64::from(*before);
            places.push(at);
            at += i64::from(blocks[places.len() - 1].1);
        }
        let lengths: Vec<i64> = blocks.iter().map(|(_, length)| i64::from(*length)).collect();
        let indexed = Datatype::indexed(&lengths, &places, unit).expect("blocks");
        let extent = (at + i64::from(gap)) as isize * unit.extent();
        Datatype::resized(&indexed, 0, extent).expect("an extent")
    }

    /// The bytes of the file at the first positions, by the standard's words.
    fn naive(
        displacement: u64,
        unit: u64,
        blocks: &[(u8, u8)],
        gap: u8,
        length: usize,
    ) -> Vec<u64> {
        let (mut seen, mut at) = (Vec::new(), displacement);
        while seen.len() < length {
            for (before, count) in blocks {
                at += u64::from(*before) * unit;
                seen.extend(at..at + u64::from(*count) * unit);
                at += u64::from(*count) * unit;
            }
            at += u64::from(gap) * unit;
        }
        seen
    }

    proptest! {
        #[test]
        fn a_view_sees_the_bytes_that_its_tiles_have(
            displacement in 0u64..20,
            is_wide in any::<bool>(),
            blocks in prop::collection::vec((0u8..4, 1u8..4), 1..5),
            gap in 0u8..4,
            position in 0u64..60,
            length in 0usize..60,
            size in 0u64..150,
        ) {
            let unit = if is_wide { Predefined::Int32 } else { Predefined::Byte };
            let unit = Datatype::of(unit);
            let filetype = filetype(unit, &blocks, gap);
            let view = View::new(displacement.cast_signed(), unit.clone(), filetype, true)?;
            let seen = naive(displacement, unit.size() as u64, &blocks, gap, 300);
            let extents: Vec<Extent> = view.extents(position, length)?.collect();
            let bytes: Vec<u64> = extents.iter().flat_map(|it| it.at..it.end()).collect();
            let from = position as usize;
            prop_assert_eq!(&bytes[..], &seen[from..from + length]);
            prop_assert!(extents.windows(2).all(|pair| pair[0].end() < pair[1].at));
            prop_assert_eq!(view.byte(position), seen[from]);
            let before = seen.iter().filter(|at| **at < size).count();
            prop_assert_eq!(view.end(size), before.next_multiple_of(unit.size()) as u64);
        }
    }

    #[test]
    fn what_no_file_can_be_tiled_with_is_refused() {
        let byte = Datatype::of(Predefined::Byte);
        let int = Datatype::of(Predefined::Int32);
        let class = |made: Result<View>| made.expect_err("refused").class;
        assert_eq!(class(View::new(-1, byte.clone(), byte.clone(), false)), Class::Arg);
        assert_eq!(class(View::new(0, int.clone(), byte.clone(), false)), Class::Type);
        let before = Datatype::hindexed(&[1], &[-4], int).expect("a datatype");
        assert_eq!(class(View::new(0, int.clone(), before, false)), Class::Io);
        let none = Datatype::contiguous(0, int).expect("a datatype");
        assert_eq!(class(View::new(0, none, int.clone(), false)), Class::Type);
    }

    #[test]
    fn data_that_is_not_in_the_order_of_the_file_is_refused_and_data_twice_where_it_is_written() {
        let int = Datatype::of(Predefined::Int32);
        let view = |lengths: &[i64], places: &[isize], is_written| {
            let filetype = Datatype::hindexed(lengths, places, int).expect("a datatype");
            View::new(0, int.clone(), filetype, is_written).map_err(|error| error.class)
        };
        assert_eq!(view(&[1, 1], &[12, 0], false).err(), Some(Class::Io));
        assert_eq!(view(&[3, 1], &[0, 4], true).err(), Some(Class::Io));
        assert!(view(&[3, 1], &[0, 4], false).is_ok());
        assert!(view(&[1, 2], &[0, 8], true).is_ok());
    }

    #[test]
    fn a_filetype_without_data_sees_nothing_and_nothing_can_be_asked_of_it() {
        let int = Datatype::of(Predefined::Int32);
        let none = Datatype::contiguous(0, int).expect("a datatype");
        let view = View::new(8, int.clone(), none, true).expect("a view");
        assert_eq!(view.position(0).expect("the beginning"), 0);
        assert_eq!((view.byte(0), view.end(100)), (8, 0));
        assert_eq!(view.extents(0, 0).expect("nothing").count(), 0);
        assert_eq!(view.extents(0, 4).expect_err("something").class, Class::Io);
        // As ranks beyond the data do that take part in a collective access.
        assert_eq!(view.position(1).expect("anywhere"), 4);
        assert_eq!(view.extents(4, 0).expect("nothing").count(), 0);
    }

    #[test]
    fn positions_beyond_all_files_are_errors() {
        let int = Datatype::of(Predefined::Int32);
        let view = View::new(8, int.clone(), int.clone(), true).expect("a view");
        assert_eq!(view.position(3).expect("near"), 12);
        for offset in [-1, i64::MAX, i64::MAX / 4] {
            assert_eq!(view.position(offset).expect_err("far").class, Class::Arg);
        }
        assert!(view.extents(i64::MAX as u64 - 8, 100).is_err());
    }
}
