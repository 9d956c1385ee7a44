//! What a job asks for in numbers, and which rank runs where on the nodes that it gets. A request
//! that can never be met is refused at once.

use super::spec::Spec;
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
    /// How many ranks.
    pub ranks: usize,
    /// The nodes that it may have, if it names any, in its order.
    pub among: Option<Vec<String>>,
}

/// The nodes that a job may ask for, in the cluster's order.
#[derive(Debug, Default)]
pub struct Nodes {
    /// Those that are there.
    pub up: Vec<String>,
    /// Those of them that could take the job now if no other job were there. A job that gives no
    /// number of nodes asks for no more than these, or it would wait for a node that is drained or
    /// reserved though it could do without.
    pub open: Vec<String>,
    /// Those that are known, but not there.
    pub down: Vec<String>,
}

/// What a job asks for.
///
/// # Errors
/// One sentence that says what was asked for, what there is, and what to do.
pub fn wanted(spec: &Spec, nodes: &Nodes) -> Result<Wanted, String> {
    let Nodes { up, open, down } = nodes;
    if spec.argv.is_empty() {
        return Err("the job has no program: give argv  [E112]".to_owned());
    }
    let chosen = candidates(spec, up, down)?;
    let most = chosen.len();
    if most == 0 {
        return Err(match &down[..] {
            [] => "no node has joined yet. See: muster nodes  [E114]".to_owned(),
            _ => format!("all nodes are down ({}). See: muster nodes  [E114]", nodeset::fold(down)),
        });
    }
    if spec.per_node == Some(0) {
        return Err("0 ranks asked on each node: at least 1 is needed  [E112]".to_owned());
    }
    let nodes = match (spec.nodes, spec.ranks, &spec.nodelist) {
        (Some(nodes), _, _) => nodes,
        // Of more nodes than ranks the first have one each, also where they are named.
        (None, Some(ranks), list) => {
            let now = open.len();
            let most = if list.is_none() && now > 0 { now } else { most };
            ranks.div_ceil(spec.per_node.unwrap_or(1)).min(most)
        }
        (None, None, Some(_)) => most,
        (None, None, None) => 1,
    };
    let ranks = spec.ranks.unwrap_or_else(|| nodes.saturating_mul(spec.per_node.unwrap_or(1)));
    if nodes == 0 || ranks == 0 {
        return Err("0 nodes or ranks asked: at least 1 is needed  [E112]".to_owned());
    }
    if nodes > most {
        return Err(match &spec.nodelist {
            Some(list) => {
                format!("{nodes} nodes asked, {most} named ({list}). Use -N {most}  [E110]")
            }
            None => format!(
                "{nodes} nodes asked, {most} exist ({}). Nothing queued. Use -N {most}  [E110]",
                told(&chosen, down)
            ),
        });
    }
    if ranks < nodes {
        return Err(format!(
            "{ranks} ranks cannot be on {nodes} nodes: each needs one. Use -N {ranks}  [E111]"
        ));
    }
    let fit = nodes * SESSIONS_MAX;
    if ranks > fit {
        return Err(format!(
            "{ranks} ranks asked on {nodes} nodes, but a node runs {SESSIONS_MAX} at most. Use \
             -n {fit}  [E111]"
        ));
    }
    let among = spec.nodelist.as_ref().map(|_| chosen);
    Ok(Wanted { nodes, ranks, among })
}

/// Places so many ranks on these nodes, in blocks: of `per_node` if that leaves no node empty and
/// no rank over, and else of the same length, as near as can be.
pub fn place(ranks: usize, nodes: &[String], per_node: Option<usize>) -> Vec<Place> {
    let block = per_node.filter(|each| ranks.div_ceil(*each) == nodes.len());
    let mut locals = vec![0; nodes.len()];
    let put = |rank: usize| {
        let at = block.map_or(rank * nodes.len() / ranks, |each| rank / each);
        locals[at] += 1;
        Place { node: nodes[at].clone(), local: locals[at] - 1 }
    };
    (0..ranks).map(put).collect()
}

fn candidates(spec: &Spec, up: &[String], down: &[String]) -> Result<Vec<String>, String> {
    let Some(list) = &spec.nodelist else { return Ok(up.to_vec()) };
    let names = nodeset::expand(list).map_err(|error| format!("{error}  [E113]"))?;
    let mut seen = BTreeSet::new();
    for name in &names {
        if down.contains(name) {
            return Err(format!("{name} is down. See: muster nodes  [E114]"));
        }
        if !up.contains(name) {
            let all = nodeset::fold(up.iter().chain(down));
            return Err(format!("there is no node {name}; there are {all}  [E113]"));
        }
        if !seen.insert(name) {
            return Err(format!("{name} is named twice in {list}  [E113]"));
        }
    }
    Ok(names)
}

fn told(chosen: &[String], down: &[String]) -> String {
    match down {
        [] => format!("{}, all up", nodeset::fold(chosen)),
        _ => format!("{} up, {} down", nodeset::fold(chosen), nodeset::fold(down)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("n{n}")).collect()
    }

    fn all_open(count: usize) -> Nodes {
        Nodes { up: names(count), open: names(count), down: Vec::new() }
    }

    fn spec(json: &str) -> Spec {
        serde_json::from_str(json).unwrap()
    }

    fn placed(json: &str) -> String {
        let wanted = wanted(&spec(json), &all_open(4)).unwrap();
        let nodes = wanted.among.unwrap_or_else(|| names(4));
        let places = place(wanted.ranks, &nodes[..wanted.nodes], spec(json).per_node);
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
    fn with_all_nodes_down_that_is_what_is_said() {
        let said = |down: Vec<String>| {
            let nodes = Nodes { down, ..Nodes::default() };
            wanted(&spec(r#"{"argv":["x"],"ranks":4}"#), &nodes).unwrap_err()
        };
        assert!(said(names(2)).contains("all nodes are down (n[0-1])"));
        assert!(said(vec![]).contains("no node has joined"));
    }

    #[test]
    fn who_gives_no_number_of_nodes_does_without_those_that_take_no_jobs() {
        let nodes = |json: &str, open: usize| {
            let nodes = Nodes { open: names(open), ..all_open(4) };
            wanted(&spec(json), &nodes).unwrap().nodes
        };
        let many = r#"{"argv":["x"],"ranks":8}"#;
        assert_eq!((nodes(many, 4), nodes(many, 3), nodes(many, 1)), (4, 3, 1));
        assert_eq!(nodes(many, 0), 4, "it waits for all that are there");
        assert_eq!(nodes(r#"{"argv":["x"],"ranks":8,"nodes":4}"#, 3), 4, "as it says");
        assert_eq!(nodes(r#"{"argv":["x"],"ranks":8,"nodelist":"n[0-3]"}"#, 3), 4, "as it says");
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_way_out() {
        for (json, said) in [
            (r#"{"argv":["x"],"nodes":8}"#, "8 nodes asked, 4 exist (n[0-3], all up)"),
            (r#"{"argv":["x"],"nodes":3,"ranks":2}"#, "Use -N 2  [E111]"),
            (r#"{"argv":["x"],"nodelist":"n9"}"#, "there is no node n9; there are n[0-3,7]"),
            (r#"{"argv":["x"],"nodelist":"n7"}"#, "n7 is down"),
            (r#"{"argv":["x"],"nodelist":"n1,n1"}"#, "twice"),
            (r#"{"argv":[]}"#, "no program"),
            (r#"{"argv":["x"],"ranks":0}"#, "at least 1"),
            (r#"{"argv":["x"],"ranks":2,"per_node":0}"#, "on each node: at least 1"),
            (r#"{"argv":["x"],"ranks":99999}"#, "but a node runs 3072 at most"),
        ] {
            let down = if json.contains("nodelist") { vec!["n7".to_owned()] } else { vec![] };
            let error = wanted(&spec(json), &Nodes { down, ..all_open(4) }).unwrap_err();
            assert!(error.contains(said), "{json}: {error}");
        }
    }
}
