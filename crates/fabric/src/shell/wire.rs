//! What shells say to each other around a protocol's messages: `docs/wire/shell.md`.

use crate::protocol::NodeId;

/// A node and its life, as the hello names them.
pub fn name(node: NodeId, life: u64) -> String {
    format!("{}.{life:016x}", node.0)
}

/// Reads a name.
pub fn read_name(text: &str) -> Option<(NodeId, u64)> {
    let (node, life) = text.split_once('.')?;
    let read = (NodeId(node.parse().ok()?), u64::from_str_radix(life, 16).ok()?);
    (name(read.0, read.1) == text).then_some(read)
}

/// The first message: whether the connection is used, and the life of who says so.
pub fn verdict(is_used: bool, life: u64) -> [u8; 9] {
    let mut message = [u8::from(is_used); 9];
    message[1..].copy_from_slice(&life.to_le_bytes());
    message
}

/// Reads a verdict.
pub fn read_verdict(message: &[u8]) -> Option<(bool, u64)> {
    let (first, life) = message.split_first()?;
    let life = u64::from_le_bytes(life.try_into().ok()?);
    matches!(first, 0 | 1).then_some((*first == 1, life))
}

/// Divides a message into head and body.
pub fn divide(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let (size, rest) = message.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*size) as usize)
}
