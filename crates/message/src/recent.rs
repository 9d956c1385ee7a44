//! Things by number, of which the one that was asked for last is found without a hash: a rank talks
//! to the same few again and again.

use crate::mixed::Mixed;
use std::cell::Cell;
use std::collections::HashMap;

pub(crate) struct Recent<T> {
    things: Vec<(u64, T)>,
    places: HashMap<u64, usize, Mixed>,
    /// Where the last one is.
    last: Cell<usize>,
}

impl<T> Default for Recent<T> {
    fn default() -> Recent<T> {
        Recent { things: Vec::new(), places: HashMap::default(), last: Cell::new(0) }
    }
}

impl<T> Recent<T> {
    #[inline]
    fn place(&self, number: u64) -> Option<usize> {
        let last = self.last.get();
        if self.things.get(last).is_some_and(|(other, _)| *other == number) {
            return Some(last);
        }
        let place = *self.places.get(&number)?;
        self.last.set(place);
        Some(place)
    }

    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        self.place(number).map(|place| &self.things[place].1)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.place(number).map(|place| &mut self.things[place].1)
    }

    /// The thing of a number, made where there is none.
    #[inline]
    pub(crate) fn get_or(&mut self, number: u64, make: impl FnOnce() -> T) -> &mut T {
        let place = self.place(number).unwrap_or_else(|| {
            self.places.insert(number, self.things.len());
            self.things.push((number, make()));
            self.things.len() - 1
        });
        &mut self.things[place].1
    }

    pub(crate) fn remove(&mut self, number: u64) {
        let Some(place) = self.places.remove(&number) else { return };
        self.things.swap_remove(place);
        if let Some((moved, _)) = self.things.get(place) {
            self.places.insert(*moved, place);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.things.iter().map(|(number, thing)| (*number, thing))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.things.iter_mut().map(|(number, thing)| (*number, thing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_found_by_its_number_also_when_others_have_gone() {
        let mut things = Recent::default();
        for number in 0..10 {
            *things.get_or(number * 7, || 0) += number;
        }
        *things.get_or(21, || 0) += 100;
        (0..10).step_by(2).for_each(|number| things.remove(number * 7));
        things.remove(3);
        let found: Vec<_> = (0..10).map(|number| things.get(number * 7).copied()).collect();
        let want = |number| (number % 2 == 1).then_some(if number == 3 { 103 } else { number });
        assert_eq!(found, (0..10).map(want).collect::<Vec<_>>());
        assert_eq!(things.iter().count(), 5);
        things.iter_mut().for_each(|(number, thing)| *thing = number);
        assert_eq!(things.get_mut(63), Some(&mut 63));
    }
}
