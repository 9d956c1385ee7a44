//! Groups (MPI-5.0, section 7.3): ordered sets of processes, each of which has a rank in the group.
//!
//! Processes are known by their ranks in the world. Evenly spaced ones, as most groups have, are
//! kept as three numbers, so that a process does not need more memory in a larger job; all others
//! as a list, beside which stands the order that finds a process in it.

use std::sync::Arc;

use crate::error::{Class, Error, Result};

/// No process (`MPI_PROC_NULL`).
pub const PROC_NULL: i32 = -3;

/// No rank (`MPI_UNDEFINED`).
pub const UNDEFINED: i32 = -32766;

/// How two groups compare; the number is that of the standard ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Comparison {
    /// The same processes in the same order (`MPI_IDENT`).
    Identical = 201,
    /// The same processes in another order (`MPI_SIMILAR`).
    Similar = 203,
    /// Other processes (`MPI_UNEQUAL`).
    Unequal = 204,
}

/// Ranks from `first` to `last` at a stride, as `MPI_Group_range_incl` takes them.
#[derive(Debug, Clone, Copy)]
pub struct Triplet {
    /// The first rank.
    pub first: i32,
    /// The last one, or one behind it that the stride does not meet.
    pub last: i32,
    /// From one to the next.
    pub stride: i32,
}

/// An ordered set of processes; copies are cheap.
#[derive(Debug, Clone)]
pub struct Group {
    members: Members,
    /// The session that the program has it of, or 0: groups that are made of it have that, too.
    session: usize,
}

#[derive(Debug, Clone)]
enum Members {
    /// Evenly spaced.
    Even { first: u32, stride: i64, count: u32 },
    /// Any; the second list has the ranks in the group by rank in the world.
    List { world: Arc<[u32]>, order: Arc<[u32]> },
}

/// Evenly spaced ranks, if these are.
fn even(ranks: &[u32]) -> Option<Members> {
    let count = ranks.len() as u32;
    let stride = match ranks {
        [] => return Some(Members::Even { first: 0, stride: 1, count: 0 }),
        [_] => 1,
        [first, second, ..] => i64::from(*second) - i64::from(*first),
    };
    let step = |pair: &[u32]| i64::from(pair[1]) - i64::from(pair[0]) == stride;
    ranks.windows(2).all(step).then_some(Members::Even { first: ranks[0], stride, count })
}

impl Group {
    /// All processes of a job of this size.
    #[must_use]
    pub fn all(size: u32) -> Group {
        Group { members: Members::Even { first: 0, stride: 1, count: size }, session: 0 }
    }

    /// One process.
    #[must_use]
    pub fn of_one(world: u32) -> Group {
        Group { members: Members::Even { first: world, stride: 1, count: 1 }, session: 0 }
    }

    /// No process (`MPI_GROUP_EMPTY`).
    #[must_use]
    pub fn empty() -> Group {
        Group::all(0)
    }

    /// These processes, by their ranks in the world.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: one is there twice.
    pub fn of(ranks: Vec<u32>) -> Result<Group> {
        let mut order: Vec<u32> = (0..ranks.len() as u32).collect();
        order.sort_unstable_by_key(|&rank| ranks[rank as usize]);
        let world = |at: usize| ranks[order[at] as usize];
        if let Some(at) = (1..order.len()).find(|&at| world(at) == world(at - 1)) {
            let what = format!("process {} of the world would be in the group twice", world(at));
            return Err(Error::new(Class::Rank, what));
        }
        let list = || Members::List { world: ranks.as_slice().into(), order: order.into() };
        Ok(Group { members: even(&ranks).unwrap_or_else(list), session: 0 })
    }

    /// Ranks that are known to be different.
    fn of_different(ranks: Vec<u32>) -> Group {
        Group::of(ranks).expect("members of a group are different")
    }

    /// The same processes, by a session.
    #[must_use]
    pub fn of_session(self, session: usize) -> Group {
        Group { session, ..self }
    }

    /// The session that it comes of, or 0.
    #[must_use]
    pub fn session(&self) -> usize {
        self.session
    }

    /// How many processes there are.
    #[must_use]
    pub fn size(&self) -> u32 {
        match &self.members {
            Members::Even { count, .. } => *count,
            Members::List { world, .. } => world.len() as u32,
        }
    }

    /// The rank in the world of a rank in the group.
    ///
    /// # Panics
    /// If the rank is not in the group: [`Group::checked`] finds out.
    #[inline]
    #[must_use]
    pub fn world(&self, rank: u32) -> u32 {
        match &self.members {
            Members::Even { first, stride, count } => {
                assert!(rank < *count, "rank {rank} in a group of {count}");
                (i64::from(*first) + i64::from(rank) * stride) as u32
            }
            Members::List { world, .. } => world[rank as usize],
        }
    }

    /// The rank in the group of a rank in the world.
    #[must_use]
    pub fn rank_of(&self, process: u32) -> Option<u32> {
        match &self.members {
            Members::Even { first, stride, count } => {
                let distance = i64::from(process) - i64::from(*first);
                let rank = u32::try_from(distance / stride).ok()?;
                (distance % stride == 0 && rank < *count).then_some(rank)
            }
            Members::List { world, order } => {
                let at = order.binary_search_by_key(&process, |&rank| world[rank as usize]).ok()?;
                Some(order[at])
            }
        }
    }

    /// The members' ranks in the world, in order.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        (0..self.size()).map(|rank| self.world(rank))
    }

    /// A rank that a program gave.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: the group has none like it.
    pub fn checked(&self, rank: i32) -> Result<u32> {
        u32::try_from(rank).ok().filter(|&rank| rank < self.size()).ok_or_else(|| {
            let what = format!("rank {rank} is not in a group of {} processes", self.size());
            Error::new(Class::Rank, what).value(rank)
        })
    }

    /// How this group compares with another.
    #[must_use]
    pub fn compare(&self, other: &Group) -> Comparison {
        if self.size() != other.size() {
            Comparison::Unequal
        } else if self.members().eq(other.members()) {
            Comparison::Identical
        } else if self.members().all(|world| other.rank_of(world).is_some()) {
            Comparison::Similar
        } else {
            Comparison::Unequal
        }
    }

    /// The ranks in another group of ranks in this one: `MPI_UNDEFINED` for who is not there, and
    /// `MPI_PROC_NULL` for itself.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: a rank is not in this group.
    pub fn translate(&self, ranks: &[i32], other: &Group) -> Result<Vec<i32>> {
        let translate = |&rank: &i32| match rank {
            PROC_NULL => Ok(PROC_NULL),
            _ => {
                let world = self.world(self.checked(rank)?);
                Ok(other.rank_of(world).map_or(UNDEFINED, |rank| rank as i32))
            }
        };
        ranks.iter().map(translate).collect()
    }

    /// The members of this group, and then those of the other that are not in it. Where this one is
    /// of no session, all are of the other's.
    #[must_use]
    pub fn union(&self, other: &Group) -> Group {
        let more = other.members().filter(|&world| self.rank_of(world).is_none());
        let session = if self.session == 0 { other.session } else { self.session };
        Group::of_different(self.members().chain(more).collect()).of_session(session)
    }

    /// The members of this group that are in the other too, in this one's order.
    #[must_use]
    pub fn intersection(&self, other: &Group) -> Group {
        self.filtered(|_, world| other.rank_of(world).is_some())
    }

    /// The members of this group that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Group) -> Group {
        self.filtered(|_, world| other.rank_of(world).is_none())
    }

    fn filtered(&self, keep: impl Fn(u32, u32) -> bool) -> Group {
        let members = (0..).zip(self.members()).filter(|&(rank, world)| keep(rank, world));
        let members = members.map(|(_, world)| world).collect();
        Group::of_different(members).of_session(self.session)
    }

    /// The members with these ranks, in their order.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: a rank is not in the group, or there twice.
    pub fn include(&self, ranks: &[i32]) -> Result<Group> {
        let world = |&rank: &i32| self.checked(rank).map(|rank| self.world(rank));
        let members = Group::of(ranks.iter().map(world).collect::<Result<_>>()?)?;
        Ok(members.of_session(self.session))
    }

    /// The members without these ranks.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`: a rank is not in the group, or there twice.
    pub fn exclude(&self, ranks: &[i32]) -> Result<Group> {
        let excluded = self.include(ranks)?;
        Ok(self.difference(&excluded))
    }

    /// The members with the ranks of these triplets, in their order.
    ///
    /// # Errors
    /// `MPI_ERR_ARG`: a stride leads away from the last rank; `MPI_ERR_RANK`: a rank is not in the
    /// group, or there twice.
    pub fn include_ranges(&self, ranges: &[Triplet]) -> Result<Group> {
        self.include(&self.ranks_of(ranges)?)
    }

    /// The members without the ranks of these triplets.
    ///
    /// # Errors
    /// As [`Group::include_ranges`].
    pub fn exclude_ranges(&self, ranges: &[Triplet]) -> Result<Group> {
        self.exclude(&self.ranks_of(ranges)?)
    }

    fn ranks_of(&self, ranges: &[Triplet]) -> Result<Vec<i32>> {
        let mut ranks = Vec::new();
        for &Triplet { first, last, stride } in ranges {
            let (from, to, step) = (i64::from(first), i64::from(last), i64::from(stride));
            if step == 0 || (to - from).signum() == -step.signum() {
                let what = format!("a stride of {stride} does not lead from {first} to {last}");
                return Err(Error::new(Class::Arg, what).of("ranges"));
            }
            // The ends bound what is between them, and with it the list.
            let end = from + (to - from) / step * step;
            self.checked(first)?;
            self.checked(end as i32)?;
            ranks.extend((0..=(end - from) / step).map(|turn| (from + turn * step) as i32));
            if ranks.len() > self.size() as usize {
                let what = "the ranges have more ranks than the group";
                return Err(Error::new(Class::Rank, what));
            }
        }
        Ok(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn members(group: &Group) -> Vec<u32> {
        group.members().collect()
    }

    /// Groups of any processes, and evenly spaced ones.
    fn groups() -> impl Strategy<Value = Vec<u32>> {
        let some = prop::sample::subsequence((0..20u32).collect::<Vec<_>>(), 0..20).prop_shuffle();
        let even = (0..20u32, 1..5u32, 0..6u32, any::<bool>());
        let even = even.prop_map(|(first, stride, count, back)| {
            let mut list: Vec<u32> = (0..count).map(|turn| first + turn * stride).collect();
            if back {
                list.reverse();
            }
            list
        });
        prop_oneof![some, even]
    }

    proptest! {
        #[test]
        fn ranks_are_places_in_the_list(list in groups(), probe in 0..50u32) {
            let group = Group::of(list.clone()).unwrap();
            prop_assert_eq!(&members(&group), &list);
            prop_assert_eq!(group.size() as usize, list.len());
            let place = list.iter().position(|&world| world == probe);
            prop_assert_eq!(group.rank_of(probe), place.map(|rank| rank as u32));
        }

        #[test]
        fn sets_are_those_of_lists(a in groups(), b in groups()) {
            let (x, y) = (Group::of(a.clone()).unwrap(), Group::of(b.clone()).unwrap());
            let (both, only): (Vec<u32>, Vec<u32>) =
                a.iter().copied().partition(|world| b.contains(world));
            let more = b.iter().copied().filter(|world| !a.contains(world));
            let all: Vec<u32> = a.iter().copied().chain(more).collect();
            prop_assert_eq!(members(&x.intersection(&y)), both);
            prop_assert_eq!(members(&x.difference(&y)), only);
            prop_assert_eq!(members(&x.union(&y)), all);
            let sorted = |list: &[u32]| {
                let mut list = list.to_vec();
                list.sort_unstable();
                list
            };
            let expected = if a == b {
                Comparison::Identical
            } else if sorted(&a) == sorted(&b) {
                Comparison::Similar
            } else {
                Comparison::Unequal
            };
            prop_assert_eq!(x.compare(&y), expected);
            let ranks: Vec<i32> = (0..a.len() as i32).chain([PROC_NULL]).collect();
            let place = |world: &u32| b.iter().position(|other| other == world);
            let there = a.iter().map(|world| place(world).map_or(UNDEFINED, |rank| rank as i32));
            let there: Vec<i32> = there.chain([PROC_NULL]).collect();
            prop_assert_eq!(x.translate(&ranks, &y).unwrap(), there);
        }

        #[test]
        fn ranges_are_their_ranks(list in groups(), first in 0..9, turns in 0..4, stride in -3..4) {
            let group = Group::of(list).unwrap();
            let last = first + turns * stride;
            let range = [Triplet { first, last, stride }];
            let ranks: Vec<i32> = (0..=turns).map(|turn| first + turn * stride).collect();
            let list = |group: Result<Group>| group.map(|one| members(&one)).map_err(|e| e.class);
            if stride == 0 {
                prop_assert_eq!(list(group.include_ranges(&range)), Err(Class::Arg));
            } else {
                let (included, excluded) = (group.include(&ranks), group.exclude(&ranks));
                prop_assert_eq!(list(group.include_ranges(&range)), list(included));
                prop_assert_eq!(list(group.exclude_ranges(&range)), list(excluded));
            }
        }
    }

    #[test]
    fn even_groups_are_three_numbers_however_large() {
        let world = Group::all(1 << 31);
        assert_eq!(world.rank_of(1 << 30), Some(1 << 30));
        let odd = Group::of((0..1000).map(|rank| 2 * rank + 1).collect()).unwrap();
        assert!(matches!(odd.members, Members::Even { first: 1, stride: 2, count: 1000 }));
        let back = Triplet { first: 999, last: 0, stride: -1 };
        let back = odd.include_ranges(&[back]).unwrap();
        assert!(matches!(back.members, Members::Even { first: 1999, stride: -2, count: 1000 }));
        assert_eq!(back.compare(&odd), Comparison::Similar);
    }

    #[test]
    fn ranges_are_taken_in_their_order_and_up_to_their_last_rank() {
        let range = |(first, last, stride)| Triplet { first, last, stride };
        let ranges = [(6, 7, 1), (1, 6, 2), (0, 9, 4)].map(range);
        let group = Group::all(10).include_ranges(&ranges).unwrap();
        assert_eq!(members(&group), [6, 7, 1, 3, 5, 0, 4, 8]);
        let rest = Group::all(10).exclude_ranges(&ranges).unwrap();
        assert_eq!(members(&rest), [2, 9]);
        assert_eq!(members(&Group::all(10).include(&[]).unwrap()), []);
    }

    #[test]
    fn bad_ranks_are_refused() {
        let group = Group::all(4);
        let refused = |group: Result<Group>| group.unwrap_err().to_string();
        assert_eq!(
            refused(group.include(&[0, 4])),
            "MPI_ERR_RANK: rank 4 is not in a group of 4 processes"
        );
        assert_eq!(
            refused(group.exclude(&[1, 1])),
            "MPI_ERR_RANK: process 1 of the world would be in the group twice"
        );
        let range = |first, last, stride| Triplet { first, last, stride };
        assert_eq!(
            refused(group.include_ranges(&[range(0, 3, -1)])),
            "MPI_ERR_ARG: a stride of -1 does not lead from 0 to 3"
        );
        let huge = [range(0, i32::MAX, 1)];
        assert_eq!(group.include_ranges(&huge).unwrap_err().class, Class::Rank);
        assert_eq!(group.translate(&[-1], &group).unwrap_err().class, Class::Rank);
    }
}
