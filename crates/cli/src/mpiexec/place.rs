//! Where the ranks of an `mpiexec` go: words for `muster run`.
//!
//! A node gets as many ranks as it has processors before the next one gets any, so that they are
//! near each other; what is told of hosts and places comes before that, and each host has its own
//! number of them. When all nodes are full the ranks share them: nothing is refused for a lack of
//! places.

use super::{Line, mistake};
use crate::cluster::{NodeStatus, Status};
use crate::run::Failure;
use muster_base::nodeset;

/// The nodes that there are.
#[derive(Debug, Default)]
pub struct Nodes {
    /// Name and host of each; the host only in a cluster of several, where this machine may be one.
    /// None if they are still to be started.
    pub all: Option<Vec<(String, Option<String>)>>,
    /// Those of them that a job may get that names none.
    pub free: Vec<String>,
}

/// Asks a node how many processors it has.
pub type Processors<'a> = &'a dyn Fn(&str) -> Option<u32>;

impl Nodes {
    /// Those of a cluster that are up, and which of these a job may get.
    pub fn of(status: &Status, may_get: impl Fn(&NodeStatus) -> bool) -> Nodes {
        let up = || status.nodes.iter().filter(|node| node.is_up());
        let all = up().map(|node| (node.name.clone(), node.host.clone())).collect();
        let free = up().filter(|node| node.drained.is_none() && may_get(node));
        Nodes { all: Some(all), free: free.map(|node| node.name.clone()).collect() }
    }

    /// How many ranks fill each of the chosen nodes, as far as these are needed for so many ranks;
    /// of a job that chooses none, each is as the first that it may get: which it gets is not known
    /// yet.
    fn room(&self, chosen: &[String], ranks: u32, processors: Processors<'_>) -> String {
        let first = self.free.get(..1).unwrap_or_default();
        let named = if chosen.is_empty() { first } else { chosen };
        let (mut each, mut sum) = (Vec::new(), 0_u32);
        for name in named {
            let room = processors(name).unwrap_or(1).max(1);
            each.push(room);
            sum = sum.saturating_add(room);
            if sum >= ranks {
                break;
            }
        }
        let first = each.first().copied().unwrap_or(1);
        if each.iter().all(|room| *room == first) {
            return first.to_string();
        }
        each.resize(chosen.len(), 1);
        each.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    }

    /// The nodes of a host, in a cluster of several. This machine may be one, and has more names:
    /// the cluster may know it by another. But `localhost` in its list is the machine of the
    /// manager, which another one of the list is not.
    fn on(&self, name: &str) -> Vec<String> {
        let of = |is_it: &dyn Fn(&str) -> bool| {
            let all = self.all.iter().flatten();
            let there = all.filter(|(_, host)| host.as_deref().is_some_and(is_it));
            there.map(|(node, _)| node.clone()).collect::<Vec<_>>()
        };
        let named = of(&|host| host == name);
        if !named.is_empty() || !is_here(name) {
            return named;
        }
        let own = of(&|host| rustix::system::uname().nodename().to_str() == Ok(host));
        if own.is_empty() { of(&is_here) } else { own }
    }

    /// The nodes that a name means: a host's all, or those of a set, of hosts too.
    fn called(&self, name: &str) -> Result<Vec<String>, Failure> {
        if let Some(nodes) = self.of_host(name) {
            return Ok(nodes);
        }
        let names = nodeset::expand(name).map_err(|error| mistake(format!("{name}: {error}")))?;
        Ok(names.into_iter().flat_map(|it| self.of_host(&it).unwrap_or(vec![it])).collect())
    }

    /// The nodes of a host, if that is one and no node.
    fn of_host(&self, name: &str) -> Option<Vec<String>> {
        let is_node = self.all.iter().flatten().any(|(node, _)| node == name);
        Some(self.on(name)).filter(|nodes| !nodes.is_empty() && !is_node)
    }
}

/// Names of this machine that are in everybody's files of hosts.
fn is_here(name: &str) -> bool {
    let own = rustix::system::uname();
    ["localhost", "127.0.0.1", "::1"].contains(&name)
        || own.nodename().to_str().is_ok_and(|own| own == name)
}

/// Says where the ranks go.
///
/// # Errors
/// A host that is none.
pub fn words(
    line: &Line,
    nodes: &Nodes,
    processors: Processors<'_>,
) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    let mut say = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    let (chosen, places) = chosen(line, nodes)?;
    let mut ranks = line.ranks();
    if chosen.is_empty() && line.per_node.is_none() {
        // Only this machine was named, which has all nodes: its places are told by that.
        let here = line.hosts.iter().flatten().map(|(_, told)| told.unwrap_or(1));
        ranks = ranks.or_else(|| here.reduce(u32::saturating_add));
    }
    let mut per_node = line.per_node;
    let mut each = None;
    if !chosen.is_empty() {
        say("-w", in_order(&chosen));
        let first = places.first().copied().flatten();
        let is_same = places.iter().all(|place| *place == first);
        per_node = per_node.or(first.filter(|_| is_same));
        if per_node.is_none() && !is_same {
            let told = places.iter().map(|place| place.unwrap_or(1).to_string());
            each = Some(told.collect::<Vec<_>>().join(","));
        }
        let sum = || places.iter().map(|place| place.unwrap_or(1)).fold(0, u32::saturating_add);
        ranks = ranks.or_else(|| {
            Some(per_node.map_or_else(sum, |each| each.saturating_mul(count(&chosen))))
        });
    }
    let ranks = ranks.unwrap_or(1);
    let says_nodes = |word: &String| {
        ["--nodes", "--nodelist", "--ntasks-per"].iter().any(|flag| word.starts_with(flag))
    };
    if line.run.iter().any(says_nodes) {
        // In the words of `muster run`, so as it understands them.
        if let Some(ranks) = line.ranks() {
            say("-n", ranks.to_string());
        }
        return Ok(words);
    }
    match (per_node, &nodes.all) {
        (Some(each), Some(_)) if line.ranks().is_none() && chosen.is_empty() => {
            // With none now, it waits for one.
            let count = u32::try_from(nodes.free.len()).unwrap_or(u32::MAX).max(1);
            say("-N", count.to_string());
            say("-n", each.saturating_mul(count).to_string());
        }
        (Some(each), _) => {
            say(
                "-n",
                if line.ranks().is_none() && chosen.is_empty() { each } else { ranks }.to_string(),
            );
            say("--ntasks-per-node", each.to_string());
        }
        (None, None) if chosen.is_empty() => {
            say("-n", ranks.to_string());
            say("-N", "1".into());
        }
        (None, _) => {
            say("-n", ranks.to_string());
            if let Some(each) = each.filter(|_| !line.spread) {
                say("--ntasks-per-node", each);
            } else if !line.spread && !places.iter().any(Option::is_some) {
                say("--ntasks-per-node", nodes.room(&chosen, ranks, processors));
            }
        }
    }
    Ok(words)
}

/// A set of these nodes that has them in this order: the first one's is rank 0.
fn in_order(names: &[String]) -> String {
    let set = nodeset::fold(names);
    let is_in_order = nodeset::expand(&set).is_ok_and(|all| all == names);
    if is_in_order { set } else { names.join(",") }
}

fn count(all: &[String]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}

/// The nodes that were named, each once, and the places of each. None if all names are this
/// machine's, and it is no host among others: then it has them all.
fn chosen(line: &Line, nodes: &Nodes) -> Result<(Vec<String>, Vec<Option<u32>>), Failure> {
    let (mut chosen, mut places): (Vec<String>, Vec<Option<u32>>) = Default::default();
    for (name, told) in line.hosts.iter().flatten() {
        if is_here(name) && nodes.on(name).is_empty() {
            continue;
        }
        for node in nodes.called(name)? {
            match chosen.iter().position(|other| *other == node) {
                // Open MPI counts how often a host is named.
                Some(at) => {
                    let sum = places[at].unwrap_or(1).saturating_add(told.unwrap_or(1));
                    places[at] = Some(sum);
                }
                None => {
                    chosen.push(node);
                    places.push(*told);
                }
            }
        }
    }
    Ok((chosen, places))
}

#[cfg(test)]
mod tests {
    use super::super::flags::read;
    use super::*;

    fn placed(text: &str, nodes: &Nodes) -> String {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let processors = |name: &str| match name {
            "small" => Some(4),
            "big" => Some(64),
            _ => Some(8),
        };
        super::words(&read(&words).expect(text), nodes, &processors).expect(text).join(" ")
    }

    /// Nodes of which a job may get all.
    fn nodes(all: Vec<(String, Option<String>)>) -> Nodes {
        let free = all.iter().map(|(name, _)| name.clone()).collect();
        Nodes { all: Some(all), free }
    }

    #[test]
    fn a_job_that_may_not_get_the_first_node_goes_by_the_processors_of_another() {
        let mut up = nodes(["small", "big"].map(|name| (name.to_owned(), None)).into());
        up.free.remove(0);
        assert_eq!(placed("-n 100 x", &up), "-n 100 --ntasks-per-node 64");
    }

    #[test]
    fn a_node_is_filled_before_the_next_one() {
        let host = |at: usize| (at > 1).then(|| "lab2".to_owned());
        let all = (0..4).map(|at| (format!("n{at}"), host(at))).collect();
        let up = nodes(all);
        for (text, words) in [
            ("x", "-n 1 --ntasks-per-node 8"),
            ("-n 4 x", "-n 4 --ntasks-per-node 8"),
            ("-n 4 -ppn 2 x", "-n 4 --ntasks-per-node 2"),
            ("-ppn 2 x", "-N 4 -n 8"),
            ("-n 4 --map-by node x", "-n 4"),
            ("-n 1 x : -n 2 y", "-n 3 --ntasks-per-node 8"),
            ("-n 4 -host n0,n1 x", "-w n[0-1] -n 4 --ntasks-per-node 8"),
            ("-host n0:2,n1:2 x", "-w n[0-1] -n 4 --ntasks-per-node 2"),
            ("-host n0,n0,n1,n1 x", "-w n[0-1] -n 4 --ntasks-per-node 2"),
            ("-host n0:1,n1:3 x", "-w n[0-1] -n 4 --ntasks-per-node 1,3"),
            ("-n 6 -host n3:2,n1 x", "-w n3,n1 -n 6 --ntasks-per-node 2,1"),
            ("-host n0:1,n1:3 -ppn 2 x", "-w n[0-1] -n 4 --ntasks-per-node 2"),
            ("-host n0:1,n1:3 --map-by node x", "-w n[0-1] -n 4"),
            ("-n 2 -host n3,n0 x", "-w n3,n0 -n 2 --ntasks-per-node 8"),
            ("-H n[1,3] -ppn 2 x", "-w n[1,3] -n 4 --ntasks-per-node 2"),
            ("-n 2 -H lab2 x", "-w n[2-3] -n 2 --ntasks-per-node 8"),
            ("-n 2 -H n0,lab[2-2] x", "-w n[0,2-3] -n 2 --ntasks-per-node 8"),
            ("-n 4 -H localhost:4 x", "-n 4 --ntasks-per-node 8"),
            ("-H localhost:4 x", "-n 4 --ntasks-per-node 8"),
            ("-H localhost,127.0.0.1:2,::1 x", "-n 4 --ntasks-per-node 8"),
            ("-n 4 --nodes=2 x", "-n 4"),
            ("--nodelist n[0-1] x", ""),
        ] {
            assert_eq!(placed(text, &up), words, "{text}");
        }
    }

    /// Once the first node's processors stood for those of all.
    #[test]
    fn each_host_is_filled_by_its_own_processors() {
        let all = ["n0", "n1", "small", "big"].map(|name| (name.to_owned(), None));
        let up = nodes(all.into());
        for (text, words) in [
            ("-n 68 -host small,big x", "-w small,big -n 68 --ntasks-per-node 4,64"),
            ("-n 99 -host small,big x", "-w small,big -n 99 --ntasks-per-node 4,64"),
            ("-n 60 -host big,small,n0 x", "-w big,small,n0 -n 60 --ntasks-per-node 64"),
            ("-n 12 -host n0,small,big x", "-w n0,small,big -n 12 --ntasks-per-node 8,4,1"),
            ("-n 2 -host small x", "-w small -n 2 --ntasks-per-node 4"),
            ("-n 68 -host small,big --map-by node x", "-w small,big -n 68"),
        ] {
            assert_eq!(placed(text, &up), words, "{text}");
        }
    }

    #[test]
    fn ranks_of_each_node_are_for_the_nodes_that_a_job_may_get() {
        let node = |name: &str, state: &str, drained: Option<&str>| NodeStatus {
            name: name.to_owned(),
            state: state.to_owned(),
            drained: drained.map(str::to_owned),
            ..NodeStatus::default()
        };
        let nodes = |all: Vec<NodeStatus>| {
            let status = Status { nodes: all, ..Status::default() };
            Nodes::of(&status, |node| node.name != "n3")
        };
        let some = [("n0", "up", None), ("n1", "up", Some("old")), ("n2", "up", None)];
        let other = [("n3", "up", None), ("n4", "down", None)];
        let all = some.into_iter().chain(other).map(|(name, state, why)| node(name, state, why));
        assert_eq!(placed("-ppn 2 x", &nodes(all.collect())), "-N 2 -n 4");
        // It waits for one.
        assert_eq!(placed("-ppn 2 x", &nodes(vec![node("n0", "down", None)])), "-N 1 -n 2");
    }

    /// Once this machine's name was left out there, so that a file of hosts which begins with the
    /// head chose all but that.
    #[test]
    fn this_machine_is_a_host_among_others() {
        let own = rustix::system::uname().nodename().to_str().expect("a name").to_owned();
        let host = |at: usize| if at > 1 { "lab2".to_owned() } else { own.clone() };
        let all = (0..4).map(|at| (format!("n{at}"), Some(host(at)))).collect();
        let up = nodes(all);
        for (hosts, words) in [
            (&*own, "-w n[0-1] -n 4 --ntasks-per-node 8"),
            ("localhost", "-w n[0-1] -n 4 --ntasks-per-node 8"),
            (&format!("{own},lab2"), "-w n[0-3] -n 4 --ntasks-per-node 8"),
            (&format!("lab2:1,{own}:3"), "-w n2,n3,n0,n1 -n 4 --ntasks-per-node 1,1,3,3"),
        ] {
            assert_eq!(placed(&format!("-n 4 -host {hosts} x"), &up), words, "{hosts}");
        }
        // Here the list means the manager's machine, and this is another.
        let all = [("n0", "localhost"), ("n1", &*own), ("n2", "lab2")];
        let all = all.map(|(node, host)| (node.to_owned(), Some(host.to_owned())));
        let up = nodes(all.into());
        for (hosts, words) in [(&*own, "-w n1 -n 1"), ("localhost", "-w n0 -n 1")] {
            let words = format!("{words} --ntasks-per-node 8");
            assert_eq!(placed(&format!("-n 1 -host {hosts} x"), &up), words, "{hosts}");
        }
    }

    #[test]
    fn without_a_cluster_one_node_has_them_all() {
        let none = Nodes::default();
        for (text, words) in [
            ("-n 16 x", "-n 16 -N 1"),
            ("x", "-n 1 -N 1"),
            ("-n 4 -ppn 2 x", "-n 4 --ntasks-per-node 2"),
            ("-ppn 2 x", "-n 2 --ntasks-per-node 2"),
            ("-n 4 -H localhost x", "-n 4 -N 1"),
            ("-H localhost:4 x", "-n 4 -N 1"),
            ("-H localhost:4 -ppn 2 x", "-n 2 --ntasks-per-node 2"),
            ("-n 4 -H n0:2,n1:2 x", "-w n[0-1] -n 4 --ntasks-per-node 2"),
        ] {
            assert_eq!(placed(text, &none), words, "{text}");
        }
    }
}
