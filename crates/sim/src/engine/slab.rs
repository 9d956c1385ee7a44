//! Things that events refer to by number, in memory that is used again.

/// The things.
#[derive(Debug)]
pub struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Keeps a thing; its number.
    pub fn put(&mut self, thing: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(thing);
                place
            }
            None => {
                self.places.push(Some(thing));
                self.places.len() as u32 - 1
            }
        }
    }

    /// Takes a thing out.
    ///
    /// # Panics
    /// If it is not there: each number is taken once.
    pub fn take(&mut self, number: u32) -> T {
        self.free.push(number);
        self.places[number as usize].take().expect("it is taken once")
    }

    /// Looks at a thing.
    ///
    /// # Panics
    /// As [`Slab::take`].
    pub fn get(&self, number: u32) -> &T {
        self.places[number as usize].as_ref().expect("it is there")
    }
}
