//! Which processor a rank is bound to.
//!
//! Ranks that take turns with another job's all wake at the same moment, one after the other, and
//! the kernel puts each where it finds a processor free: some processors get more of them than
//! others until it balances them, which takes longer than a slice. So where the ranks of a job fill
//! the processors of a machine, as many to each, each is bound to one: at every turn all are where
//! they were (`docs/decisions/gang.md`). Others are not: fewer ranks may have threads for the
//! processors that are left over, and what is no multiple would leave some with more than others.
//!
//! The ranks of all nodes of a machine count together, in the order of the job. Several on each
//! processor are the common case where one machine is many nodes; ranks with unequal work do better
//! unbound then.

use crate::launch::{Launch, Part};
use rustix::thread::{CpuSet, sched_getaffinity};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// How the ranks of one node are bound.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Binding {
    /// The processors that this machine's ranks share; none if they are not bound.
    processors: Vec<u32>,
    /// Ranks of nodes of this machine that come before this one's.
    before: usize,
}

impl Binding {
    /// That of node `own`, one of those that have a directory in `home`.
    pub(super) fn of(launch: &Launch, own: &str, home: &Path) -> Binding {
        if !launch.in_turns || !launch.binds {
            return Binding::default();
        }
        let nodes = nodes(home);
        Binding::among(processors(), launch, own, |node| nodes.contains(node))
    }

    fn among(
        processors: Vec<u32>,
        launch: &Launch,
        own: &str,
        is_here: impl Fn(&str) -> bool,
    ) -> Binding {
        let here: Vec<_> = launch.nodes.iter().filter(|part| is_here(&part.node)).collect();
        let ranks: usize = here.iter().map(|part| part.count).sum();
        if ranks == 0 || processors.is_empty() || !ranks.is_multiple_of(processors.len()) {
            return Binding::default();
        }
        let before = here.iter().take_while(|part| part.node != own).map(|part| part.count).sum();
        Binding { processors, before }
    }

    /// The processor of this node's rank `local`.
    pub(super) fn processor(&self, local: usize) -> Option<u32> {
        let at = (self.before + local).checked_rem(self.processors.len())?;
        self.processors.get(at).copied()
    }
}

/// The nodes of this machine: they have directories in `home`.
fn nodes(home: &Path) -> HashSet<String> {
    let nodes = fs::read_dir(home).into_iter().flatten().flatten();
    nodes.filter_map(|node| node.file_name().into_string().ok()).collect()
}

/// How many of these parts' ranks run on this machine.
pub(super) fn ranks_here(parts: &[Part], home: &Path) -> usize {
    let nodes = nodes(home);
    parts.iter().filter(|part| nodes.contains(&part.node)).map(|part| part.count).sum()
}

/// Those that this daemon may use.
fn processors() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|at| set.is_set(*at)).filter_map(|at| at.try_into().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::UMASK;
    use crate::manager::spec::Stdin;
    use crate::scratch::Scratch;

    fn launch(nodes: Vec<Part>) -> Launch {
        let (job, stdin, chdir) = (1, Stdin::NONE, None);
        let (argv, env) = (String::new(), String::new());
        let (in_turns, binds, umask) = (true, true, UMASK);
        let (known_as, view) = (job, None);
        Launch { job, known_as, argv, env, stdin, chdir, in_turns, binds, umask, view, nodes }
    }

    /// The processors of the ranks of nodes with so many; those named `h` are another machine's.
    fn bound(processors: &[u32], nodes: &[(&str, usize)]) -> Vec<Vec<Option<u32>>> {
        let mut first = 0;
        let part = |(node, count): &(&str, usize)| {
            first += count;
            Part { node: (*node).to_owned(), instance: 1, first: first - count, count: *count }
        };
        let nodes: Vec<Part> = nodes.iter().map(part).collect();
        let launch = launch(nodes);
        let is_here = |node: &str| node.starts_with('n');
        let each = |part: &Part| {
            let own = Binding::among(processors.to_vec(), &launch, &part.node, is_here);
            (0..part.count).map(|local| own.processor(local)).collect()
        };
        launch.nodes.iter().filter(|part| is_here(&part.node)).map(each).collect()
    }

    #[test]
    fn ranks_that_fill_a_machine_are_bound_as_many_to_each_processor() {
        assert_eq!(bound(&[0, 3], &[("n0", 2)]), [[Some(0), Some(3)]]);
        // Each of four nodes has one, and then three of four.
        let four = [("n0", 1), ("n1", 1), ("n2", 1), ("n3", 1)];
        assert_eq!(bound(&[0, 1], &four), [[Some(0)], [Some(1)], [Some(0)], [Some(1)]]);
        let uneven = bound(&[0, 1], &[("n0", 1), ("h1", 1), ("n2", 2), ("n3", 1)]);
        assert_eq!(uneven, [vec![Some(0)], vec![Some(1), Some(0)], vec![Some(1)]]);
    }

    #[test]
    fn ranks_that_leave_a_processor_with_fewer_are_not_bound() {
        assert_eq!(bound(&[0, 1], &[("n0", 1)]), [[None]]);
        assert_eq!(bound(&[0, 1], &[("n0", 3)]), [[None; 3]]);
        assert_eq!(bound(&[0, 1], &[("n0", 1), ("h0", 1)]), [[None]]);
        assert_eq!(bound(&[], &[("n0", 1)]), [[None]]);
    }

    #[test]
    fn nobody_is_bound_who_is_not_to_be() {
        let count = processors().len();
        assert_ne!(count, 0);
        let nodes = vec![Part { node: "n0".to_owned(), instance: 1, first: 0, count }];
        let home = Scratch::new("binding");
        fs::create_dir(home.join("n0")).unwrap();
        let of = |launch: &Launch| Binding::of(launch, "n0", &home.join(".")).processor(0);
        let launch = launch(nodes);
        assert!(of(&launch).is_some());
        assert_eq!(of(&Launch { binds: false, ..launch.clone() }), None);
        assert_eq!(of(&Launch { in_turns: false, ..launch }), None);
    }
}
