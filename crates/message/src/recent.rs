//! Things by number, of which the one that was asked for last is found without a hash: a rank talks
//! to the same few again and again. What is kept for others goes when there are many: a rank of a
//! large job has talked to many in the end, and must not need more memory for that.

use crate::mixed::Mixed;
use std::cell::Cell;
use std::collections::HashMap;

/// `FEW` things are kept in any case.
pub(crate) struct Recent<T, const FEW: usize = 8> {
    things: Vec<(u64, T)>,
    /// How many there may be before those are dropped that are not needed.
    most: usize,
    places: HashMap<u64, usize, Mixed>,
    /// Where the last one is.
    last: Cell<usize>,
}

impl<T, const FEW: usize> Default for Recent<T, FEW> {
    fn default() -> Recent<T, FEW> {
        let (things, places) = (Vec::new(), HashMap::default());
        Recent { things, most: FEW, places, last: Cell::new(0) }
    }
}

impl<T, const FEW: usize> Recent<T, FEW> {
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

    /// The thing of a number, made where there is none. Others that are not needed may go then.
    #[inline]
    pub(crate) fn get_or(
        &mut self,
        number: u64,
        make: impl FnOnce() -> T,
        is_needed: impl Fn(&T) -> bool,
    ) -> &mut T {
        let place = match self.place(number) {
            Some(place) => place,
            None => self.add(number, make(), is_needed),
        };
        &mut self.things[place].1
    }

    fn add(&mut self, number: u64, thing: T, is_needed: impl Fn(&T) -> bool) -> usize {
        if self.things.len() >= self.most {
            self.things.retain(|(_, thing)| is_needed(thing));
            self.places = (0..).zip(&self.things).map(|(at, (number, _))| (*number, at)).collect();
            self.most = FEW.max(2 * self.things.len());
        }
        let place = self.things.len();
        self.places.insert(number, place);
        self.things.push((number, thing));
        place
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
    fn each_thing_is_found_by_its_number() {
        let mut things: Recent<_> = Recent::default();
        for number in 0..10 {
            *things.get_or(number * 7, || 0, |_| true) += number;
        }
        *things.get_or(21, || 0, |_| true) += 100;
        let found: Vec<_> = (0..10).map(|number| things.get(number * 7).copied()).collect();
        let want = |number| Some(if number == 3 { 103 } else { number });
        assert_eq!(found, (0..10).map(want).collect::<Vec<_>>());
        assert_eq!(things.iter().count(), 10);
        things.iter_mut().for_each(|(number, thing)| *thing = number);
        assert_eq!(things.get_mut(63), Some(&mut 63));
    }

    #[test]
    fn of_many_those_stay_that_are_needed() {
        let mut things: Recent<_> = Recent::default();
        for number in 0..1000 {
            things.get_or(number, || number, |thing| thing % 100 == 0);
            assert!(things.iter().count() <= 20, "ten are needed, and as many may wait");
        }
        assert!((0..1000).step_by(100).all(|number| things.get(number) == Some(&number)));
        // All of them are.
        for number in 1000..2000 {
            things.get_or(number, || number, |_| true);
        }
        assert!((1000..2000).all(|number| things.get(number) == Some(&number)));
    }
}
