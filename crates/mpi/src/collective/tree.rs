//! The trees along which small groups of ranks speak for larger ones.
//!
//! In base `width`, a rank's parent has its lowest digit that is not zero set to zero; below each
//! rank are those that follow it, in order, so what comes up a tree is in the order of ranks.
//!
//! What is long goes up and down narrow trees, so that no rank carries it often. What is short goes
//! along wide ones: they are flat, and where ranks have to share processors, each rank of a flat
//! tree is woken once for a way up and down, where rounds would wake it again and again.

use std::iter;
use std::ops::Range;

/// From how many bytes on trees are narrow.
pub(super) const LONG: usize = 4 << 10;

/// How wide they are for what is shorter.
pub(super) const WIDTH: u32 = 8;

/// What is longer than some of these is combined in segments: a rank passes one on while the next
/// comes, so that all edges of a tree are used at once, and what comes finds room in the cache.
/// They have as much as is offered before it is sent, so who comes late keeps nothing of it.
/// Broadcasts do not gain by that (1 MiB over 4 nodes: 540 us whole, 700 in segments).
const SEGMENT: usize = 256 << 10;

/// The segments of so many elements, which have so many bytes in all. Two ranks have but one edge.
pub(super) fn segments(ranks: u32, count: usize, bytes: usize) -> Vec<Range<usize>> {
    if ranks <= 2 || bytes < 2 * SEGMENT {
        return iter::once(0..count).collect();
    }
    let each = (SEGMENT * count).div_ceil(bytes);
    (0..count).step_by(each).map(|first| first..count.min(first + each)).collect()
}

/// A rank's place in a tree.
pub(super) struct Branch {
    /// Whom it tells; none at the top.
    pub(super) parent: Option<u32>,
    /// Who tell it, lowest first.
    pub(super) children: Vec<u32>,
}

/// The branch of rank `me` of `size` for messages of so many bytes.
pub(super) fn branch(me: u32, size: u32, bytes: usize) -> Branch {
    let width = if bytes < LONG { WIDTH } else { 2 };
    let (mut distance, mut children) = (1, Vec::new());
    while distance < size {
        let digit = me / distance % width;
        if digit != 0 {
            return Branch { parent: Some(me - digit * distance), children };
        }
        let next = (1..width).map(|digit| me + digit * distance);
        children.extend(next.take_while(|child| *child < size));
        distance *= width;
    }
    Branch { parent: None, children }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_all_of_it_one_behind_the_other() {
        for (count, element) in [(0, 8), (1, 1 << 20), (9, 300_000), (65_536, 8), (999_999, 4)] {
            let segments = segments(3, count, count * element);
            let mut next = 0;
            for (number, segment) in segments.iter().enumerate() {
                assert_eq!(segment.start, next);
                let (is_last, bytes) = (number + 1 == segments.len(), segment.len() * element);
                assert!(is_last || bytes >= SEGMENT && bytes < SEGMENT + element);
                next = segment.end;
            }
            assert_eq!(next, count);
        }
        let count = |ranks, count| segments(ranks, count, count * 8).len();
        assert_eq!([count(3, 65_536), count(2, 65_536), count(3, 65_535)], [2, 1, 1]);
    }

    #[test]
    fn below_each_rank_are_those_that_follow_it() {
        // The ranks of a tree from its top, children in order.
        fn walk(me: u32, size: u32, bytes: usize, into: &mut Vec<u32>) {
            into.push(me);
            for child in branch(me, size, bytes).children {
                assert_eq!(branch(child, size, bytes).parent, Some(me));
                walk(child, size, bytes, into);
            }
        }
        for (size, bytes) in (1..200).flat_map(|size| [(size, 0), (size, LONG)]) {
            let mut ranks = Vec::new();
            walk(0, size, bytes, &mut ranks);
            assert_eq!(ranks, (0..size).collect::<Vec<_>>());
        }
    }
}
