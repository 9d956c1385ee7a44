//! Numbers drawn from a seed: the same on every machine, in every build, for ever.

/// A generator (SplitMix64): small, fast, and good enough to draw faults and delays with.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Another generator, whose numbers have nothing to do with this one's: so that drawing more
    /// of one kind does not change what is drawn of another.
    pub fn branch(&self, name: u64) -> Random {
        let mut branch = Random(self.0 ^ name.wrapping_mul(0xd134_2543_de82_ef95));
        Random(branch.number())
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, 0 if `end` is.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.number()) * u128::from(end)) >> 64) as u64
    }

    /// A number of a range, its end included.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }

    /// Whether something happens that does so `times` in a million.
    pub fn happens(&mut self, times: u32) -> bool {
        self.below(1_000_000) < u64::from(times)
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// A number around a mean, most often below it and rarely far above it.
    pub fn around(&mut self, mean: u64) -> u64 {
        // The sum of the upper bits of a geometric draw: no floating point, so the same everywhere.
        let doubling = self.number().leading_zeros().min(6);
        let low = (mean / 2) << doubling >> 1;
        low + self.below(low.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_a_branch_others() {
        let draw = |mut random: Random| (0..8).map(|_| random.below(1000)).collect::<Vec<_>>();
        let random = Random::new(7);
        assert_eq!(draw(random.clone()), draw(Random::new(7)));
        assert_ne!(draw(random.clone()), draw(Random::new(8)));
        assert_ne!(draw(random.clone()), draw(random.branch(1)));
        assert_ne!(draw(random.branch(2)), draw(random.branch(1)));
    }

    #[test]
    fn what_is_drawn_is_in_its_range() {
        let mut random = Random::new(1);
        assert_eq!(random.below(0), 0);
        let mut seen = [false; 3];
        for _ in 0..100 {
            seen[random.between(5, 7) as usize - 5] = true;
            assert!(random.around(1000) < 128_000);
        }
        assert_eq!(seen, [true; 3]);
        assert!((0..100).all(|_| random.happens(1_000_000) && !random.happens(0)));
    }
}
