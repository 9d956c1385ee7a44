//! Datatypes (MPI-5.0, chapter 5): which bytes of a buffer make a message, in which order, and
//! what they are.
//!
//! A [`Datatype`] is a value that does not change. Its type map ([`map`]) is put together from the
//! maps of what it was made of; beside it, and simplified, stands where its bytes lie ([`layout`]),
//! which [`Cursor`]s walk over from any position of the packed data, and a hash of its signature.
//! What it costs to make one, or to keep it, depends on the constructor's arguments and not on how
//! much data it describes.

mod array;
mod constructor;
mod contents;
mod cursor;
mod external;
mod layout;
mod map;
#[cfg(test)]
mod model;
mod pack;
pub mod predefined;
mod served;
mod signature;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

pub use array::{DEFAULT_ARGUMENT, Distributed, Distribution, Order, Slice};
pub use contents::{Combiner, Contents, Envelope};
pub use cursor::{Cursor, Run, Runs};
pub use pack::{Area, Memory};
pub use predefined::{Kind, Predefined, Scalar, TypeClass};
pub use signature::Signature;

use crate::error::{Class, Error, Result};
use contents::Recipe;
use map::{Map, Range};

/// A datatype; copies are cheap and stand for the same one.
#[derive(Debug, Clone)]
pub struct Datatype(Held);

/// Those of the standard are there for good, so that a message of one costs no counting.
#[derive(Debug, Clone)]
enum Held {
    Standard(&'static Inner),
    Made(Arc<Inner>),
}

impl std::ops::Deref for Held {
    type Target = Inner;

    #[inline]
    fn deref(&self) -> &Inner {
        match self {
            Held::Standard(inner) => inner,
            Held::Made(inner) => inner,
        }
    }
}

#[derive(Debug)]
struct Inner {
    map: Arc<Map>,
    recipe: Recipe,
    predefined: Option<Predefined>,
    committed: AtomicBool,
    /// What every message asks for, kept at hand: the bounds, the bytes if they lie together, and
    /// how many there are.
    bounds: Range,
    single: Option<Run>,
    size: usize,
}

/// The predefined datatypes, at their handles.
static PREDEFINED: LazyLock<[Option<Datatype>; predefined::LAST + 1]> = LazyLock::new(|| {
    std::array::from_fn(|handle| {
        let predefined = Predefined::of_handle(handle)?;
        let recipe = Recipe::new(Combiner::Named, [], &[]);
        let inner = Inner::new(Map::predefined(predefined), recipe, Some(predefined));
        Some(Datatype(Held::Standard(Box::leak(Box::new(inner)))))
    })
});

impl Inner {
    fn new(map: Arc<Map>, recipe: Recipe, predefined: Option<Predefined>) -> Inner {
        let (bounds, single) = (map.bounds(), map.layout.single());
        let (committed, size) = (AtomicBool::new(predefined.is_some()), map.size);
        Inner { map, recipe, predefined, committed, bounds, single, size }
    }
}

impl From<Predefined> for Datatype {
    fn from(predefined: Predefined) -> Datatype {
        Datatype::of(predefined).clone()
    }
}

impl PartialEq for Datatype {
    /// Whether both are the same object, as handles are.
    fn eq(&self, other: &Datatype) -> bool {
        std::ptr::eq(&raw const *self.0, &raw const *other.0)
    }
}

impl Eq for Datatype {}

impl Datatype {
    /// A predefined datatype.
    #[must_use]
    #[inline]
    pub fn of(predefined: Predefined) -> &'static Datatype {
        PREDEFINED[predefined.handle()].as_ref().expect("every one is in the table")
    }

    /// The predefined datatype of a handle.
    #[inline]
    #[must_use]
    pub fn of_handle(handle: usize) -> Option<&'static Datatype> {
        PREDEFINED.get(handle)?.as_ref()
    }

    fn made(map: Arc<Map>, recipe: Recipe) -> Datatype {
        Datatype(Held::Made(Arc::new(Inner::new(map, recipe, None))))
    }

    fn map(&self) -> &Arc<Map> {
        &self.0.map
    }

    /// The same datatype as a call with large counts (`..._c`) makes it, which its contents tell.
    #[must_use]
    pub fn by_large_count(self) -> Datatype {
        let recipe = self.0.recipe.clone().by_large_count();
        let datatype = Datatype::made(Arc::clone(self.map()), recipe);
        if self.committed() {
            datatype.commit();
        }
        datatype
    }

    /// `MPI_Type_commit`: from now on it may be used in communication.
    pub fn commit(&self) {
        self.0.committed.store(true, Ordering::Relaxed);
    }

    /// Whether it may be used in communication.
    #[must_use]
    #[inline]
    pub fn committed(&self) -> bool {
        self.0.committed.load(Ordering::Relaxed)
    }

    /// Which predefined datatype it is, if it is one.
    #[must_use]
    #[inline]
    pub fn predefined(&self) -> Option<Predefined> {
        self.0.predefined
    }

    /// The predefined datatype that it is, or is like in all but its name: those that Fortran's
    /// kinds select take part in reductions (MPI-5.0, section 6.9.2), and are predefined (19.1.9).
    #[must_use]
    pub fn basic(&self) -> Option<Predefined> {
        let selected = || match self.map().form {
            map::Form::Basic(predefined) => Some(predefined),
            _ => None,
        };
        self.predefined().or_else(selected)
    }

    /// The predefined datatype that all of it is made of, as accumulating operations demand it.
    #[must_use]
    pub fn uniform(&self) -> Option<Predefined> {
        self.map().uniform
    }

    /// Bytes of data.
    #[must_use]
    #[inline]
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// From the lower to the upper bound.
    #[must_use]
    #[inline]
    pub fn extent(&self) -> isize {
        self.0.bounds.upper.wrapping_sub(self.0.bounds.lower)
    }

    /// The lower bound.
    #[must_use]
    pub fn lower_bound(&self) -> isize {
        self.0.bounds.lower
    }

    /// The upper bound.
    #[must_use]
    pub fn upper_bound(&self) -> isize {
        self.0.bounds.upper
    }

    /// The first byte of data.
    #[must_use]
    pub fn true_lower_bound(&self) -> isize {
        self.map().data.map_or(0, |data| data.lower)
    }

    /// From the first byte of data to behind the last.
    #[must_use]
    pub fn true_extent(&self) -> isize {
        self.map().data.map_or(0, |data| data.upper - data.lower)
    }

    /// What a structure in C made of the same elements would be aligned to.
    #[must_use]
    pub fn alignment(&self) -> usize {
        self.map().alignment
    }

    /// The sequence of its basic types.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.map().signature
    }

    /// Basic elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.map().elements
    }

    /// `MPI_Get_count`: how many whole copies a message of `bytes` is; `None` if it ends within
    /// one.
    #[must_use]
    pub fn count_in(&self, bytes: usize) -> Option<usize> {
        match self.size() {
            0 => (bytes == 0).then_some(0),
            size => bytes.is_multiple_of(size).then(|| bytes / size),
        }
    }

    /// `MPI_Get_elements`: how many basic elements a message of `bytes` is; `None` if it ends
    /// within one (section 5.1.11).
    #[must_use]
    pub fn elements_in(&self, bytes: usize) -> Option<usize> {
        if self.size() == 0 && bytes > 0 {
            return None;
        }
        self.map().elements_of_copies(bytes)
    }

    /// `MPI_Status_set_elements`: how many bytes a message of so many basic elements has; `None` if
    /// there is no such message.
    #[must_use]
    pub fn bytes_of(&self, elements: usize) -> Option<usize> {
        if self.elements() == 0 {
            return (elements == 0).then_some(0);
        }
        let copies = (elements / self.elements()).checked_mul(self.size())?;
        copies.checked_add(self.map().bytes_of(elements % self.elements()))
    }

    /// How it was made, in numbers.
    #[must_use]
    pub fn envelope(&self) -> Envelope {
        self.0.recipe.envelope()
    }

    /// How it was made.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE`: it is predefined.
    pub fn contents(&self) -> Result<Contents> {
        if let Some(predefined) = self.predefined() {
            let what = format!("{} is predefined and has no contents", predefined.name());
            return Err(Error::new(Class::Type, what));
        }
        Ok(self.0.recipe.contents())
    }

    /// Bytes of data of `count` copies.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT`: they are more than memory can hold.
    #[inline]
    pub fn packed_size(&self, count: usize) -> Result<usize> {
        let size = count.checked_mul(self.size());
        size.filter(|&size| isize::try_from(size).is_ok()).ok_or_else(|| self.too_many(count))
    }

    /// The displacements between which the data of `count` copies lie.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT`: they are more than memory can hold.
    pub fn span(&self, count: usize) -> Result<std::ops::Range<isize>> {
        let Some(Range { lower, upper }) = self.map().data.filter(|_| count > 0) else {
            return Ok(0..0);
        };
        let last = isize::try_from(count - 1).ok().and_then(|n| n.checked_mul(self.extent()));
        let span = last.and_then(|last| {
            let (lower, upper) = (lower.checked_add(last.min(0))?, upper.checked_add(last.max(0))?);
            upper.checked_sub(lower).map(|_| lower..upper)
        });
        span.ok_or_else(|| self.too_many(count))
    }

    /// The displacements between which `count` copies lie with all that belongs to them: their
    /// data, and from the lower to the upper bound of each. Where there are no data, or that is
    /// more than memory can hold, it is [`Datatype::span`].
    ///
    /// # Errors
    /// As [`Datatype::span`].
    pub fn room(&self, count: usize) -> Result<std::ops::Range<isize>> {
        let span = self.span(count)?;
        if span.is_empty() {
            return Ok(span);
        }
        // `span` has looked at this product.
        let last = self.extent() * (count - 1) as isize;
        let lower = self.lower_bound().checked_add(last.min(0));
        let upper = self.upper_bound().checked_add(last.max(0));
        let (Some(lower), Some(upper)) = (lower, upper) else { return Ok(span) };
        let room = span.start.min(lower)..span.end.max(upper);
        Ok(if room.end.checked_sub(room.start).is_some() { room } else { span })
    }

    #[cold]
    fn too_many(&self, count: usize) -> Error {
        let size = self.size();
        Error::new(Class::Count, format!("{count} copies of {size} bytes are larger than memory"))
    }

    /// The one run that `count` copies are, if all their bytes lie together in order.
    ///
    /// This is the question on the path of every message, so it costs a few comparisons.
    #[inline]
    #[must_use]
    pub fn run(&self, count: usize) -> Option<Run> {
        let Run { at, length } = self.0.single?;
        let dense = count == 1 || length as isize == self.extent() || length * count == 0;
        dense.then_some(Run { at, length: length * count })
    }

    /// The bytes of `count` copies, from any position of the packed data. [`Datatype::span`] has
    /// found room for them in memory.
    #[must_use]
    pub fn cursor(&self, count: usize) -> Cursor<'_> {
        Cursor::new(&self.map().layout, count, self.extent())
    }

    /// The maximal runs of `count` copies, in the order of the type map.
    #[must_use]
    pub fn runs(&self, count: usize) -> Runs<'_> {
        Runs::new(self.cursor(count))
    }
}
