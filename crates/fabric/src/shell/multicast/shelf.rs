//! Bodies that messages of this node refer to: kept until all who were referred to them have them.

use super::wire::CastId;
use crate::protocol::{NodeId, Payload};

/// The bodies, in the order in which they came.
#[derive(Default)]
pub struct Shelf(Vec<Shelved>);

struct Shelved {
    id: CastId,
    body: Payload,
    /// For each message that refers to it, to whom that went.
    to: Vec<(NodeId, Reader)>,
}

/// How far one is who was referred to a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Referred,
    /// It has asked for what it misses.
    Asked,
    /// It has it, and may have forgotten it.
    Has,
}

impl Shelved {
    fn readers(&self) -> impl Iterator<Item = NodeId> {
        let reads = self.to.iter().filter(|(_, reader)| *reader != Reader::Has);
        reads.map(|(node, _)| *node)
    }
}

impl Shelf {
    /// Takes a body that messages may refer to.
    pub fn put(&mut self, id: CastId, body: Payload) {
        if self.get(id).is_none() {
            self.0.push(Shelved { id, body, to: Vec::new() });
        }
    }

    /// The name of a body, if it is one of these: the same bytes in the same place. A protocol that
    /// sends a message again because its answer is late sends no body again. But a node that has
    /// had it may have let go of it.
    pub fn find(&self, body: &Payload, node: NodeId) -> Option<CastId> {
        let had = |shelved: &Shelved| shelved.to.contains(&(node, Reader::Has));
        let found = self.0.iter().find(|s| s.body.is_same(body) && !had(s));
        found.map(|shelved| shelved.id)
    }

    fn get(&mut self, id: CastId) -> Option<&mut Shelved> {
        self.0.iter_mut().find(|shelved| shelved.id == id)
    }

    /// A message to a node refers to it.
    pub fn refer(&mut self, id: CastId, node: NodeId) {
        if let Some(shelved) = self.get(id) {
            shelved.to.push((node, Reader::Referred));
        }
    }

    /// Who was referred to it and does not have it.
    pub fn readers(&self, id: CastId) -> impl Iterator<Item = NodeId> {
        self.0.iter().filter(move |shelved| shelved.id == id).flat_map(Shelved::readers)
    }

    /// Bytes that are kept for a node.
    pub fn bytes(&self, node: NodeId) -> usize {
        let kept = self.0.iter().filter(|shelved| shelved.readers().any(|to| to == node));
        kept.map(|shelved| shelved.body.len()).sum()
    }

    /// A node asks for what it misses of a body: once for each reference.
    pub fn lack(&mut self, id: CastId, node: NodeId) -> Option<Payload> {
        let shelved = self.get(id)?;
        let referred = (node, Reader::Referred);
        shelved.to.iter_mut().find(|to| **to == referred)?.1 = Reader::Asked;
        Some(shelved.body.clone())
    }

    /// A node has it; false if it was not referred to it.
    pub fn have(&mut self, id: CastId, node: NodeId) -> bool {
        let reads = |to: &&mut (NodeId, Reader)| to.0 == node && to.1 != Reader::Has;
        let to = self.get(id).and_then(|shelved| shelved.to.iter_mut().find(reads));
        to.map(|to| to.1 = Reader::Has).is_some()
    }

    /// A node's connection has ended.
    pub fn lost(&mut self, node: NodeId) {
        self.0.iter_mut().for_each(|shelved| shelved.to.retain(|(to, _)| *to != node));
    }

    /// Lets go of what nobody reads.
    pub fn clear(&mut self) {
        self.0.retain(|shelved| shelved.readers().next().is_some());
    }

    /// Whether nothing is kept.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
