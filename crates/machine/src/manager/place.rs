//! What a job asks for in numbers, and which rank runs where on the nodes that it gets. A request
//! that can never be met is refused at once.

use super::spec::{PerNode, Spec};
use muster_base::limits::SESSIONS_MAX;
use muster_base::nodeset;
use std::collections::BTreeSet;

/// The place of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Node.
    pub node: String,
    /// Number among the ranks of that node.
    pub local: usize,
}

/// What a job asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// How many nodes.
    pub nodes: usize,
    /// With how few it does while others are down, slow, drained or reserved, if it does with
    /// fewer.
    pub least: Option<usize>,
    /// How many ranks.
    pub ranks: usize,
    /// The nodes that it may have, if it names any, in its order.
    pub among: Option<Vec<String>>,
    /// The nodes that it may not have.
    pub except: Vec<String>,
}

/// The nodes that a job may ask for, in the cluster's order.
#[derive(Debug, Default)]
pub struct Nodes {
    /// Those that are there.
    pub up: Vec<String>,
    /// Those that are there and have not answered for a while: who asks for them waits until they
    /// do.
    pub slow: Vec<String>,
    /// Those that are known, but not there: their daemons are started again, so who asks for them
    /// waits as well.
    pub down: Vec<String>,
}

impl Nodes {
    /// Leaves those that are meant.
    pub fn retain(&mut self, is_meant: impl Fn(&String) -> bool) {
        for names in [&mut self.up, &mut self.slow, &mut self.down] {
            names.retain(&is_meant);
        }
    }

    /// Whether all of these are there, each named once.
    ///
    /// # Errors
    /// The first that is not.
    pub fn have<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
        let Nodes { up, slow, down } = self;
        let mut seen = BTreeSet::new();
        for name in names {
            if ![up, slow, down].iter().any(|names| names.contains(name)) {
                let all = nodeset::fold(up.iter().chain(slow).chain(down));
                return Err(format!("there is no node {name}; there are {all}  [E113]"));
            }
            if !seen.insert(name) {
                return Err(format!("{name} is named twice  [E113]"));
            }
        }
        Ok(())
    }

    fn told(&self) -> String {
        let states = [(&self.up, "up"), (&self.slow, "slow"), (&self.down, "down")];
        let mut some = states.into_iter().filter(|(names, _)| !names.is_empty());
        match (some.clone().count(), some.next()) {
            (1, Some((names, state))) => format!("{}, all {state}", nodeset::fold(names)),
            (_, first) => {
                let told = |(names, state)| format!("{} {state}", nodeset::fold(names));
                first.into_iter().chain(some).map(told).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn expand(list: Option<&String>) -> Result<Option<Vec<String>>, String> {
    let told = list.map(|list| nodeset::expand(list)).transpose();
    told.map_err(|error| format!("{error}  [E113]"))
}

/// What a job asks for, whatever there is: the same each time that it asks.
///
/// # Errors
/// One sentence that says what was asked for, and what to do.
pub fn wanted(spec: &Spec) -> Result<Wanted, String> {
    if spec.argv.is_empty() {
        return Err("the job has no program: give argv  [E112]".to_owned());
    }
    let named = expand(spec.nodelist.as_ref())?;
    let except = expand(spec.exclude.as_ref())?.unwrap_or_default();
    if let Some(name) = named.iter().flatten().find(|name| except.contains(name)) {
        return Err(format!("{name} is both asked for and excluded: do one  [E113]"));
    }
    let per_node = match &spec.per_node {
        Some(PerNode::Each(each)) => {
            return one_by_one(spec, each, named).map(|wanted| Wanted { except, ..wanted });
        }
        Some(PerNode::Same(0)) => {
            return Err("0 ranks asked on each node: at least 1 is needed  [E112]".to_owned());
        }
        Some(PerNode::Same(each)) => *each,
        None => 1,
    };
    let most = named.as_ref().map(Vec::len);
    let (nodes, least) = match (spec.nodes, spec.ranks) {
        (Some(nodes), _) => (nodes, None),
        (None, Some(ranks)) => match most {
            // Of more nodes than ranks the first have one each, also where they are named.
            Some(most) => (ranks.div_ceil(per_node).min(most), None),
            // It would wait for a node that is drained or reserved though it could do without.
            None => (ranks.div_ceil(per_node), Some(ranks.div_ceil(SESSIONS_MAX))),
        },
        (None, None) => (most.unwrap_or(1), None),
    };
    let ranks = spec.ranks.unwrap_or_else(|| nodes.saturating_mul(per_node));
    if nodes == 0 || ranks == 0 {
        return Err("0 nodes or ranks asked: at least 1 is needed  [E112]".to_owned());
    }
    if let (Some(list), Some(most)) = (&spec.nodelist, most.filter(|most| nodes > *most)) {
        return Err(format!("{nodes} nodes asked, {most} named ({list}). Use -N {most}  [E110]"));
    }
    if ranks < nodes {
        return Err(format!(
            "{ranks} ranks cannot be on {nodes} nodes: each needs one. Use -N {ranks}  [E111]"
        ));
    }
    fits(ranks, nodes)?;
    let most = per_node.min(ranks);
    // Else they are spread over the nodes, which fits.
    if most > SESSIONS_MAX && ranks.div_ceil(per_node) == nodes {
        return Err(format!(
            "{most} ranks asked on a node, but a node runs {SESSIONS_MAX} at most. Use \
             --ntasks-per-node {SESSIONS_MAX}  [E111]"
        ));
    }
    Ok(Wanted { nodes, least, ranks, among: named, except })
}

/// Whether nodes can run so many ranks.
fn fits(ranks: usize, nodes: usize) -> Result<(), String> {
    let fit = nodes.saturating_mul(SESSIONS_MAX);
    if ranks <= fit {
        return Ok(());
    }
    Err(format!(
        "{ranks} ranks asked on {nodes} nodes, but a node runs {SESSIONS_MAX} at most. Use -n \
         {fit}  [E111]"
    ))
}

/// What a job asks for that says of each of its nodes how many ranks it gets.
fn one_by_one(spec: &Spec, each: &[usize], named: Option<Vec<String>>) -> Result<Wanted, String> {
    let count = each.len();
    let (Some(list), Some(mut named)) = (spec.nodelist.as_deref(), named) else {
        return Err(format!(
            "{count} numbers of ranks, but no nodes are named that have them: name {count}, such \
             as -w n[0-{}]  [E112]",
            count.saturating_sub(1)
        ));
    };
    if count != named.len() {
        return Err(format!(
            "{count} numbers of ranks for {list}: give one for each of its nodes, {} in all  \
             [E112]",
            named.len()
        ));
    }
    if each.contains(&0) {
        return Err(format!("0 ranks asked on a node of {list}: at least 1 is needed  [E112]"));
    }
    let ranks = spec.ranks.unwrap_or_else(|| sum(each));
    let dealt = dealt(ranks, each);
    if let Some(at) = dealt.iter().position(|ranks| *ranks > SESSIONS_MAX) {
        return Err(format!(
            "{} ranks asked on {}, but a node runs {SESSIONS_MAX} at most  [E111]",
            dealt[at], named[at]
        ));
    }
    if let Some(nodes) = spec.nodes.filter(|nodes| *nodes != dealt.len()) {
        return Err(format!(
            "{nodes} nodes asked, but {ranks} ranks are on {} of {list}: leave the number of nodes \
             out  [E111]",
            dealt.len()
        ));
    }
    if dealt.is_empty() {
        return Err("0 nodes or ranks asked: at least 1 is needed  [E112]".to_owned());
    }
    named.truncate(dealt.len());
    Ok(Wanted { nodes: dealt.len(), least: None, ranks, among: Some(named), except: Vec::new() })
}

impl Wanted {
    /// Whether a cluster can ever give it.
    ///
    /// # Errors
    /// One sentence that says what was asked for, what there is, and what to do.
    pub fn check(&self, nodes: &Nodes) -> Result<(), String> {
        nodes.have(self.among.iter().flatten())?;
        let most = nodes.up.len() + nodes.slow.len() + nodes.down.len();
        if most == 0 && !self.except.is_empty() {
            return Err("no node is left. Exclude fewer  [E110]".to_owned());
        }
        if most == 0 {
            return Err("no node has joined yet. See: muster nodes  [E114]".to_owned());
        }
        match self.least {
            Some(_) => fits(self.ranks, most),
            None if self.nodes > most => Err(format!(
                "{} nodes asked, {most} exist ({}). Nothing queued. Use -N {most}  [E110]",
                self.nodes,
                nodes.told()
            )),
            None => Ok(()),
        }
    }
}

/// How many ranks the first nodes get, of whom the others are not needed: `each` has its number
/// before the next one has any, and if all have, they have as many once more.
fn dealt(ranks: usize, each: &[usize]) -> Vec<usize> {
    let (rounds, mut left) = (ranks / sum(each), ranks % sum(each));
    let counts = each.iter().map(|&most| {
        let more = left.min(most);
        left -= more;
        rounds * most + more
    });
    counts.take_while(|count| *count > 0).collect()
}

fn sum(each: &[usize]) -> usize {
    each.iter().copied().fold(0, usize::saturating_add)
}

/// Places so many ranks on these nodes, in blocks: of `per_node` if that leaves no node empty and
/// no rank over, and else of the same length, as near as can be.
pub fn place(ranks: usize, nodes: &[String], per_node: Option<&PerNode>) -> Vec<Place> {
    let before = |node: usize| (node * ranks).div_ceil(nodes.len());
    let counts: Vec<usize> = match per_node {
        Some(PerNode::Each(each)) => dealt(ranks, each),
        Some(PerNode::Same(each)) if ranks.div_ceil(*each) == nodes.len() => {
            (0..nodes.len()).map(|at| (ranks - at * each).min(*each)).collect()
        }
        _ => (0..nodes.len()).map(|at| before(at + 1) - before(at)).collect(),
    };
    let on = |(node, count): (&String, usize)| {
        (0..count).map(|local| Place { node: node.clone(), local }).collect::<Vec<_>>()
    };
    nodes.iter().zip(counts).flat_map(on).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("n{n}")).collect()
    }

    fn all_up(count: usize) -> Nodes {
        Nodes { up: names(count), ..Nodes::default() }
    }

    fn checked(spec: &Spec, nodes: &Nodes) -> Result<Wanted, String> {
        let wanted = wanted(spec)?;
        wanted.check(nodes).map(|()| wanted)
    }

    fn spec(json: &str) -> Spec {
        serde_json::from_str(json).unwrap()
    }

    fn placed(json: &str) -> String {
        let wanted = checked(&spec(json), &all_up(4)).unwrap();
        let nodes = wanted.among.unwrap_or_else(|| names(4));
        let places =
            place(wanted.ranks, &nodes[..wanted.nodes.min(4)], spec(json).per_node.as_ref());
        places.iter().map(|p| format!("{}.{} ", p.node, p.local)).collect()
    }

    #[test]
    fn ranks_are_placed_in_blocks() {
        assert_eq!(placed(r#"{"argv":["x"]}"#), "n0.0 ");
        assert_eq!(placed(r#"{"argv":["x"],"nodes":2}"#), "n0.0 n1.0 ");
        assert_eq!(
            placed(r#"{"argv":["x"],"ranks":6,"nodes":3}"#),
            "n0.0 n0.1 n1.0 n1.1 n2.0 n2.1 "
        );
        assert_eq!(placed(r#"{"argv":["x"],"ranks":2}"#), "n0.0 n1.0 ");
        assert_eq!(placed(r#"{"argv":["x"],"ranks":2,"nodelist":"n[1-3]"}"#), "n1.0 n2.0 ");
        assert_eq!(
            placed(r#"{"argv":["x"],"ranks":5,"nodelist":"n[2-3]"}"#).matches("n2").count(),
            3
        );
    }

    #[test]
    fn a_node_is_filled_before_the_next_one_if_so_asked() {
        assert_eq!(placed(r#"{"argv":["x"],"ranks":3,"per_node":4}"#), "n0.0 n0.1 n0.2 ");
        assert_eq!(placed(r#"{"argv":["x"],"ranks":3,"per_node":2}"#), "n0.0 n0.1 n1.0 ");
        assert_eq!(
            placed(r#"{"argv":["x"],"nodelist":"n[2-3]","per_node":2}"#),
            "n2.0 n2.1 n3.0 n3.1 "
        );
        assert_eq!(placed(r#"{"argv":["x"],"ranks":3,"nodelist":"n3,n2","per_node":4}"#).len(), 15);
        // All nodes are full: the others go where there are as many.
        let full = placed(r#"{"argv":["x"],"ranks":12,"per_node":2}"#);
        assert!(full.starts_with("n0.0 n0.1 n0.2 n1.0 ") && full.ends_with("n3.2 "), "{full}");
        // Every node that was asked for has a rank.
        assert_eq!(placed(r#"{"argv":["x"],"ranks":3,"nodes":3,"per_node":2}"#), "n0.0 n1.0 n2.0 ");
    }

    #[test]
    fn many_more_on_each_node_than_there_are_or_than_it_gets_is_no_mistake() {
        assert_eq!(placed(r#"{"argv":["x"],"ranks":2,"per_node":9999}"#), "n0.0 n0.1 ");
        let spread = placed(r#"{"argv":["x"],"ranks":4000,"per_node":3500,"nodes":4}"#);
        assert_eq!(spread.matches("n3.").count(), 1000);
    }

    #[test]
    fn each_node_has_its_own_number_of_ranks_if_so_asked() {
        let counts = |more: &str| {
            let json = format!(r#"{{"argv":["x"],"nodelist":"n[1-3]","per_node":[1,3,2]{more}}}"#);
            let placed = placed(&json);
            ["n1.", "n2.", "n3."].map(|node| placed.matches(node).count())
        };
        assert_eq!(counts(""), [1, 3, 2]);
        assert_eq!(counts(r#","ranks":6"#), [1, 3, 2]);
        assert_eq!(counts(r#","ranks":3"#), [1, 2, 0], "a node is filled before the next one");
        assert_eq!(counts(r#","ranks":3,"nodes":2"#), [1, 2, 0], "as it is kept when it waits");
        assert_eq!(counts(r#","ranks":8"#), [2, 4, 2], "all are full: from the first once more");
        let json = r#"{"argv":["x"],"nodelist":"n3,n0","per_node":[2,1]}"#;
        assert_eq!(placed(json), "n3.0 n3.1 n0.0 ");
    }

    /// It is what the journal keeps: who asks again asks for the same, wherever it was before.
    #[test]
    fn who_asks_again_with_its_number_of_ranks_known_asks_for_the_same() {
        for json in [
            r#"{"argv":["x"]}"#,
            r#"{"argv":["x"],"nodes":3,"per_node":2}"#,
            r#"{"argv":["x"],"per_node":2}"#,
            r#"{"argv":["x"],"nodelist":"n[1-3]","per_node":2}"#,
            r#"{"argv":["x"],"nodelist":"n[1-3]","per_node":[1,3,2]}"#,
        ] {
            let first = wanted(&spec(json)).unwrap();
            let again = wanted(&Spec { ranks: Some(first.ranks), ..spec(json) }).unwrap();
            assert_eq!(
                (again.nodes, again.ranks, &again.among),
                (first.nodes, first.ranks, &first.among)
            );
        }
    }

    #[test]
    fn a_node_that_is_slow_or_down_is_one_that_will_come() {
        let one = || vec!["n1".to_owned()];
        for nodes in [
            Nodes { up: names(1), slow: one(), ..Nodes::default() },
            Nodes { up: names(1), down: one(), ..Nodes::default() },
            Nodes { slow: names(2), ..Nodes::default() },
            Nodes { down: names(2), ..Nodes::default() },
        ] {
            for json in [
                r#"{"argv":["x"]}"#,
                r#"{"argv":["x"],"nodes":2}"#,
                r#"{"argv":["x"],"nodelist":"n1"}"#,
            ] {
                checked(&spec(json), &nodes).unwrap();
            }
        }
        let said = |nodes: Nodes, count: usize| {
            let json = format!(r#"{{"argv":["x"],"nodes":{count}}}"#);
            checked(&spec(&json), &nodes).unwrap_err()
        };
        let slow = || Nodes { slow: names(2), ..Nodes::default() };
        assert!(said(slow(), 3).contains("3 nodes asked, 2 exist (n[0-1], all slow)"));
        let nodes = Nodes { up: vec!["n2".to_owned()], down: vec!["n7".to_owned()], ..slow() };
        let exist = "5 nodes asked, 4 exist (n2 up, n[0-1] slow, n7 down)";
        assert!(said(nodes, 5).contains(exist));
        assert!(said(Nodes::default(), 1).contains("no node has joined"));
    }

    #[test]
    fn who_gives_no_number_of_nodes_does_without_those_that_take_no_jobs() {
        let asked = |json: &str| {
            let wanted = checked(&spec(json), &all_up(4)).unwrap();
            (wanted.nodes, wanted.least)
        };
        assert_eq!(asked(r#"{"argv":["x"],"ranks":8}"#), (8, Some(1)));
        assert_eq!(asked(r#"{"argv":["x"],"ranks":8,"per_node":2}"#), (4, Some(1)));
        assert_eq!(asked(r#"{"argv":["x"],"ranks":7000}"#), (7000, Some(3)));
        assert_eq!(asked(r#"{"argv":["x"],"ranks":8,"nodes":4}"#), (4, None), "as it says");
        assert_eq!(
            asked(r#"{"argv":["x"],"ranks":8,"nodelist":"n[0-3]"}"#),
            (4, None),
            "as it says"
        );
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_way_out() {
        for (json, said) in [
            (r#"{"argv":["x"],"nodes":8}"#, "8 nodes asked, 4 exist (n[0-3], all up)"),
            (r#"{"argv":["x"],"nodes":3,"ranks":2}"#, "Use -N 2  [E111]"),
            (r#"{"argv":["x"],"nodelist":"n9"}"#, "there is no node n9; there are n[0-3,7]"),
            (r#"{"argv":["x"],"nodelist":"n7,n7"}"#, "twice"),
            (r#"{"argv":["x"],"nodelist":"n1,n1"}"#, "twice"),
            (r#"{"argv":["x"],"nodelist":"n[0-2]","exclude":"n[2-3]"}"#, "n2 is both asked for"),
            (r#"{"argv":[]}"#, "no program"),
            (r#"{"argv":["x"],"ranks":0}"#, "at least 1"),
            (r#"{"argv":["x"],"ranks":2,"per_node":0}"#, "on each node: at least 1"),
            (r#"{"argv":["x"],"per_node":[1,2]}"#, "2 numbers of ranks, but no nodes are named"),
            (
                r#"{"argv":["x"],"nodelist":"n[0-2]","per_node":[1,2]}"#,
                "2 numbers of ranks for n[0-2]: give one for each of its nodes, 3 in all",
            ),
            (r#"{"argv":["x"],"nodelist":"n[0-1]","per_node":[0,2]}"#, "0 ranks asked on a node"),
            (r#"{"argv":["x"],"nodelist":"n0","per_node":[9999]}"#, "9999 ranks asked on n0, but"),
            (r#"{"argv":["x"],"nodelist":"n[0-1]","per_node":[1,2],"nodes":1}"#, "are on 2 of"),
            (
                r#"{"argv":["x"],"ranks":4000,"per_node":3500}"#,
                "3500 ranks asked on a node, but a node runs 3072 at most",
            ),
            (r#"{"argv":["x"],"ranks":99999}"#, "but a node runs 3072 at most"),
        ] {
            let down = if json.contains("nodelist") { vec!["n7".to_owned()] } else { vec![] };
            let error = checked(&spec(json), &Nodes { down, ..all_up(4) }).unwrap_err();
            assert!(error.contains(said), "{json}: {error}");
        }
    }
}
