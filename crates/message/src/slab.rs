//! Things by number, where numbers of what is gone are given out again.

pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) fn new() -> Slab<T> {
        Slab { places: Vec::new(), free: Vec::new() }
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, thing: T) -> u32 {
        if let Some(number) = self.free.pop()
            && let Some(place @ None) = self.places.get_mut(number as usize)
        {
            *place = Some(thing);
            return number;
        }
        self.places.push(Some(thing));
        (self.places.len() - 1) as u32
    }

    /// The number of what is inserted next.
    pub(crate) fn next(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.places.len() as u32)
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        self.places.get(number as usize)?.as_ref()
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut T> {
        self.places.get_mut(number as usize)?.as_mut()
    }

    pub(crate) fn remove(&mut self, number: u32) -> Option<T> {
        self.remove_if(number, |_| true)
    }

    /// As [`Slab::remove`], of what nobody wants any more: it goes where it is.
    #[inline(always)]
    pub(crate) fn discard(&mut self, number: u32) {
        if let Some(place @ Some(_)) = self.places.get_mut(number as usize) {
            *place = None;
            self.free.push(number);
        }
    }

    #[inline(always)]
    pub(crate) fn remove_if(&mut self, number: u32, is_it: impl FnOnce(&T) -> bool) -> Option<T> {
        let place = self.places.get_mut(number as usize)?;
        if !place.as_ref().is_some_and(is_it) {
            return None;
        }
        self.free.push(number);
        place.take()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.len() == self.free.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten()
    }
}
