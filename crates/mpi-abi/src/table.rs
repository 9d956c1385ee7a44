//! Objects by their handles: what is made while the program runs. Handles of the standard's own
//! objects are smaller than all of these.

use std::sync::{Arc, PoisonError, RwLock};

use muster_mpi::error::{Class, Error, Result};

/// The first handle.
const FIRST: usize = 0x1000;

/// Objects of one kind.
pub struct Table<T> {
    objects: RwLock<Vec<Option<Arc<T>>>>,
    class: Class,
    /// What they are, with its article.
    what: &'static str,
}

impl<T> Table<T> {
    /// None.
    pub const fn new(class: Class, what: &'static str) -> Table<T> {
        Table { objects: RwLock::new(Vec::new()), class, what }
    }

    /// Gives an object a handle.
    pub fn insert(&self, object: T) -> usize {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let free = objects.iter().position(Option::is_none);
        let at = free.unwrap_or(objects.len());
        if at == objects.len() {
            objects.push(None);
        }
        objects[at] = Some(Arc::new(object));
        FIRST + at
    }

    /// The object of a handle.
    pub fn get(&self, handle: usize) -> Result<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        let at = handle.wrapping_sub(FIRST);
        objects.get(at).cloned().flatten().ok_or_else(|| self.wrong(handle))
    }

    /// Takes a handle's object away.
    pub fn remove(&self, handle: usize) -> Result<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        let at = handle.wrapping_sub(FIRST);
        objects.get_mut(at).and_then(Option::take).ok_or_else(|| self.wrong(handle))
    }

    /// That a handle is none of these.
    pub fn wrong(&self, handle: usize) -> Error {
        let what = self.what;
        Error::new(self.class, format!("{handle:#x} is not {what}, or it was freed"))
    }
}
