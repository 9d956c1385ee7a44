//! Why nodes cannot take a job, in words.

use super::{Ask, Cluster};
use muster_base::nodeset;

impl Cluster {
    /// What keeps each of the nodes that a job may have from taking it now, those together that
    /// the same does: `n1 down or slow, n[2-3] reserved for partition night 22:00-06:00 UTC`.
    pub(super) fn obstacles(&self, ask: &Ask, name: impl Fn(u32) -> String) -> String {
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        let asked: Vec<u32> = match &ask.among {
            Some(nodes) => nodes.clone(),
            None => self.nodes.keys().copied().collect(),
        };
        for node in asked.into_iter().filter(|node| self.is_asked(ask, *node)) {
            let Some(what) = self.obstacle(ask, node) else { continue };
            let name = name(node);
            match groups.iter_mut().find(|(one, _)| *one == what) {
                Some((_, names)) => names.push(name),
                None => groups.push((what, vec![name])),
            }
        }
        let told = groups.iter().map(|(what, names)| format!("{} {what}", nodeset::fold(names)));
        told.collect::<Vec<_>>().join(", ")
    }

    fn obstacle(&self, ask: &Ask, node: u32) -> Option<String> {
        let condition = self.nodes.get(&node).copied().unwrap_or_default();
        if !condition.up {
            return Some("down or slow".to_owned());
        }
        if condition.drained {
            return Some("drained".to_owned());
        }
        let (name, window) = self.reserved_for_others(ask, node, self.now)?;
        Some(format!("reserved for partition {name} {}", window.told(self.now)))
    }
}
