//! Where the elements of a message are.

use crate::atom::Atom;
use crate::datatype::{self, Datatype, Predefined, Run};
use crate::error::{Class, Error, Result};
use crate::op::Reduction;
use muster_message::Buffer;

/// The program's memory, or the library's own: what a buffer's address means. The C entry points
/// make it of pointers, and say there why that may be done.
pub trait Memory: datatype::Memory + Clone {
    /// Bytes that begin so far behind the address.
    fn bytes(&self, at: isize, length: usize) -> &[u8];

    /// Bytes to be written.
    fn bytes_mut(&mut self, at: isize, length: usize) -> &mut [u8];

    /// So many bytes as an atom; none where they are none, or the address is no multiple of that.
    fn atom(&self, at: isize, size: usize) -> Option<Atom<'_>>;

    /// The memory whose address is so far behind this one's.
    fn offset(&self, by: isize) -> Self;

    /// Memory of the library's, zeros, freed with its last copy.
    fn scratch(length: usize) -> Self;

    /// The same with anything in it: for what is written before it is read.
    fn room(length: usize) -> Self {
        Self::scratch(length)
    }

    /// Whether it begins where another does.
    fn is(&self, other: &Self) -> bool;
}

/// Elements in memory: `count` of a datatype from an address on.
#[derive(Clone)]
pub struct Typed<M> {
    memory: M,
    count: usize,
    datatype: Datatype,
}

impl<M: Memory> Typed<M> {
    /// `count` elements of a datatype, from an address on.
    ///
    /// # Errors
    /// [`Class::Count`] where they are more than memory can hold.
    #[inline(always)]
    pub fn new(memory: M, count: usize, datatype: Datatype) -> Result<Typed<M>> {
        datatype.packed_size(count)?;
        if datatype.run(count).is_none() {
            datatype.span(count)?;
        }
        Ok(Typed { memory, count, datatype })
    }

    /// None at all.
    pub fn nothing() -> Typed<M> {
        Typed::bytes(0)
    }

    /// Room for so many bytes, of the library's.
    pub fn bytes(count: usize) -> Typed<M> {
        let datatype = Datatype::of(Predefined::Byte).clone();
        Typed { memory: M::scratch(count), count, datatype }
    }

    /// Room for as many, of the library's; also for what lies around their data, as programs'
    /// operations may copy whole structures.
    pub fn scratch(&self) -> Typed<M> {
        let room = self.datatype.room(self.count).expect("it was looked at when this was made");
        let size = (room.end - room.start) as usize;
        // Whatever lies around elements is the same in every run.
        let memory = if self.is_solid() { M::room(size) } else { M::scratch(size) };
        Typed { memory: memory.offset(-room.start), ..self.clone() }
    }

    /// Whether their bytes lie one behind the other, and nothing that belongs to them around them.
    pub fn is_solid(&self) -> bool {
        let (lower, extent) = (self.datatype.lower_bound(), self.datatype.extent());
        let around = extent.wrapping_mul(self.count as isize);
        self.run().is_some_and(|run| run.at == lower && run.length as isize == around)
    }

    /// Room for their bytes one behind the other, of the library's: as much as a message of them
    /// has, where [`Typed::scratch`] spans all that lies between them.
    pub fn packed(&self) -> Typed<M> {
        Typed::bytes(self.size())
    }

    /// Some of them: `count` from the element `first` on.
    pub fn part(&self, first: usize, count: usize) -> Typed<M> {
        let memory = self.memory.offset(self.datatype.extent() * first as isize);
        Typed { memory, count, datatype: self.datatype.clone() }
    }

    /// All of them, cut into parts that lie one behind the other.
    pub fn parts(&self, counts: &[usize]) -> Vec<Typed<M>> {
        let mut first = 0;
        let next = |count: &usize| {
            let part = self.part(first, *count);
            first += count;
            part
        };
        counts.iter().map(next).collect()
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Of what.
    pub fn datatype(&self) -> &Datatype {
        &self.datatype
    }

    /// Where.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// Bytes of them all.
    #[inline]
    pub fn size(&self) -> usize {
        self.datatype.size() * self.count
    }

    /// Where the bytes are if they lie next to each other.
    #[inline]
    fn run(&self) -> Option<Run> {
        self.datatype.run(self.count)
    }

    /// Whether they begin where others do. The address alone does not say: datatypes may have their
    /// elements anywhere (`MPI_BOTTOM`).
    pub fn is(&self, other: &Typed<M>) -> bool {
        let begin_alike = match (self.run(), other.run()) {
            (Some(one), Some(two)) => one.at == two.at,
            _ => self.datatype == other.datatype,
        };
        self.memory.is(&other.memory) && begin_alike
    }

    /// Copies them to where others are, whose types may be others of the same signature.
    ///
    /// # Errors
    /// [`Class::Truncate`] where there is less room.
    pub fn copy_to(mut self, mut into: Typed<M>) -> Result<()> {
        let (size, room) = (self.size(), into.size());
        if size > room {
            let what = format!("{size} bytes do not fit into a receive buffer of {room}");
            return Err(Error::new(Class::Truncate, what));
        }
        if size == 0 {
            return Ok(());
        }
        match (self.run(), into.run()) {
            (Some(from), Some(to)) => {
                let from = self.memory.bytes(from.at, size);
                into.memory.bytes_mut(to.at, size).copy_from_slice(from);
            }
            (Some(from), None) => {
                let from = self.memory.bytes(from.at, from.length);
                into.write(0, from);
            }
            (None, Some(to)) => {
                let to = into.memory.bytes_mut(to.at, size);
                self.datatype.cursor(self.count).pack(&self.memory, to);
            }
            (None, None) => {
                let mut bytes = vec![0; size];
                self.read(0, &mut bytes);
                into.write(0, &bytes);
            }
        }
        Ok(())
    }

    /// They become `from` op themselves, element by element.
    pub fn combine(mut self, reduction: &Reduction, from: &Typed<M>) {
        let span = self.datatype.span(self.count).expect("it was looked at when this was made");
        let length = (span.end - span.start) as usize;
        if length > 0 {
            let from = from.memory.bytes(span.start, length);
            let into = self.memory.bytes_mut(span.start, length);
            reduction.combine(from, into, self.count, &self.datatype);
        }
    }
}

impl<M: Memory> Buffer for Typed<M> {
    #[inline]
    fn keep(&mut self) -> Typed<M> {
        self.clone()
    }

    fn apart(&self) -> Typed<M> {
        self.packed()
    }

    #[inline]
    fn size(&self) -> usize {
        Typed::size(self)
    }

    #[inline]
    fn whole(&self) -> Option<&[u8]> {
        self.run().map(|run| self.memory.bytes(run.at, run.length))
    }

    #[inline]
    fn whole_mut(&mut self) -> Option<&mut [u8]> {
        self.run().map(|run| self.memory.bytes_mut(run.at, run.length))
    }

    fn read(&mut self, at: usize, into: &mut [u8]) {
        let mut cursor = self.datatype.cursor(self.count);
        cursor.seek(at);
        cursor.pack(&self.memory, into);
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        let mut cursor = self.datatype.cursor(self.count);
        cursor.seek(at);
        cursor.unpack(&mut self.memory, from);
    }
}
