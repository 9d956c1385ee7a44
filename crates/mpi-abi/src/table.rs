//! Objects by their handles: what is made while the program runs.
//!
//! A handle is a number that an `int` holds: the kind of the object, by the error class of wrong
//! ones; how often its place in the table was used before; and the place. So a handle of another
//! kind leads nowhere, nor does one that was freed until its place was used eight times. Handles of
//! the standard's own objects are smaller than all of these.
//!
//! ```text
//! bits 30..25 class   24..22 use of the place   21..0 place
//! ```

use std::sync::{Arc, PoisonError, RwLock};

use muster_mpi::error::{Class, Error, Result};

/// Bits of the place: four million objects of a kind at a time.
const PLACE_BITS: u32 = 22;

/// How many objects of a kind there may be at a time.
pub const PLACES: usize = 1 << PLACE_BITS;

/// Bits of its use.
const USE_BITS: u32 = 3;

/// Objects of one kind.
pub struct Table<T> {
    places: RwLock<Places<T>>,
    class: Class,
    /// What they are, with its article.
    what: &'static str,
}

/// What is guarded: each place's object and how often the place was used, and the free places.
struct Places<T> {
    all: Vec<(usize, Option<Arc<T>>)>,
    free: Vec<usize>,
}

impl<T> Table<T> {
    /// None.
    pub const fn new(class: Class, what: &'static str) -> Table<T> {
        let places = Places { all: Vec::new(), free: Vec::new() };
        Table { places: RwLock::new(places), class, what }
    }

    /// Gives an object a handle.
    ///
    /// # Panics
    /// If there are as many objects as handles; their memory has run out long before.
    pub fn insert(&self, object: T) -> usize {
        self.insert_with(|_| object)
    }

    /// The same for an object that knows its handle.
    pub fn insert_with(&self, make: impl FnOnce(usize) -> T) -> usize {
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        let at = places.free.pop().unwrap_or(places.all.len());
        assert!(at < PLACES, "no more handles for {}", self.what);
        if at == places.all.len() {
            places.all.push((0, None));
        }
        let handle = handle(self.class, at, places.all[at].0);
        places.all[at].1 = Some(Arc::new(make(handle)));
        handle
    }

    /// The object of a handle.
    #[inline]
    pub fn get(&self, handle: usize) -> Result<Arc<T>> {
        let places = self.places.read().unwrap_or_else(PoisonError::into_inner);
        match places.all.get(place(handle)) {
            Some((uses, Some(object)))
                if self::handle(self.class, place(handle), *uses) == handle =>
            {
                Ok(Arc::clone(object))
            }
            _ => Err(self.wrong(handle)),
        }
    }

    /// An object of a kind.
    pub fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let places = self.places.read().unwrap_or_else(PoisonError::into_inner);
        places.all.iter().filter_map(|(_, it)| it.as_ref()).find(|it| is_it(it)).cloned()
    }

    /// Takes a handle's object away.
    pub fn remove(&self, handle: usize) -> Result<Arc<T>> {
        let mut places = self.places.write().unwrap_or_else(PoisonError::into_inner);
        let at = place(handle);
        let Some((uses, object)) = places.all.get_mut(at) else { return Err(self.wrong(handle)) };
        if self::handle(self.class, at, *uses) != handle {
            return Err(self.wrong(handle));
        }
        let object = object.take().ok_or_else(|| self.wrong(handle))?;
        *uses = next(*uses);
        places.free.push(at);
        Ok(object)
    }

    /// That a handle is none of these.
    fn wrong(&self, handle: usize) -> Error {
        let what = self.what;
        Error::new(self.class, format!("{handle:#x} is not {what}, or it was freed")).value(handle)
    }
}

/// The handle of a place in one of its uses.
#[inline]
pub fn handle(class: Class, at: usize, uses: usize) -> usize {
    ((class.number() as usize) << USE_BITS | uses) << PLACE_BITS | at
}

/// The use of a place behind another.
#[inline]
pub fn next(uses: usize) -> usize {
    (uses + 1) % (1 << USE_BITS)
}

/// The place that a handle leads to.
#[inline]
pub fn place(handle: usize) -> usize {
    handle & (PLACES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_leads_to_its_object_until_that_is_removed() {
        let table = Table::new(Class::Info, "an info object");
        let handles = [0, 1, 2].map(|item| table.insert(item));
        assert!(handles.iter().all(|handle| (0x1000..=i32::MAX as usize).contains(handle)));
        let items = handles.map(|handle| *table.get(handle).expect("it is there"));
        assert_eq!(items, [0, 1, 2]);
        assert_eq!(table.remove(handles[1]).as_deref(), Ok(&1));
        assert!(table.get(handles[1]).is_err() && table.remove(handles[1]).is_err());
        let again = table.insert(3);
        assert_eq!(table.get(again).as_deref(), Ok(&3));
        assert_eq!(table.get(handles[1]).expect_err("freed").class, Class::Info);
    }

    #[test]
    fn a_handle_of_another_kind_or_of_the_standard_leads_nowhere() {
        let infos = Table::new(Class::Info, "an info object");
        let handlers = Table::new(Class::Errhandler, "an error handler");
        let (info, handler) = (infos.insert(1), handlers.insert(2));
        assert!(infos.get(handler).is_err() && handlers.get(info).is_err());
        assert!((1..=i32::MAX as usize).contains(&handler));
        assert!([0, 1, 0x131, usize::MAX].iter().all(|handle| infos.get(*handle).is_err()));
    }
}
