//! What shells say to each other around a protocol's messages: `docs/wire/shell.md`.

use crate::protocol::NodeId;

/// How a refusal begins, where a verdict has 0 or 1.
const REFUSED: u8 = 2;

/// Bytes of a refusal's sentence that are read.
const REASON_MAX: usize = 255;

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

/// The first message to one who is not let in: a sentence for people.
pub fn refusal(why: &str) -> Vec<u8> {
    [&[REFUSED], why.as_bytes()].concat()
}

/// Reads a refusal, which is shown to people: what would move their cursor is left out.
pub fn read_refusal(message: &[u8]) -> Option<String> {
    let why = message.strip_prefix(&[REFUSED])?;
    let why = String::from_utf8_lossy(why.get(..REASON_MAX).unwrap_or(why));
    Some(why.chars().filter(|letter| !letter.is_control()).collect())
}

/// The bit of a head's size that says: between shells, and not between protocols.
const CONTROL: u32 = 1 << 31;

/// What stands before a head of so many bytes.
///
/// # Panics
/// When it is too long for any limit.
pub fn size(head: usize, is_control: bool) -> [u8; 4] {
    let size = u32::try_from(head).ok().filter(|size| size & CONTROL == 0);
    let control = if is_control { CONTROL } else { 0 };
    (size.expect("limits keep heads short") | control).to_le_bytes()
}

/// Divides a message into head and body, and says whether it is between shells.
pub fn divide(message: &[u8]) -> Option<(bool, &[u8], &[u8])> {
    let (size, rest) = message.split_first_chunk()?;
    let size = u32::from_le_bytes(*size);
    let (head, body) = rest.split_at_checked((size & !CONTROL) as usize)?;
    Some((size & CONTROL != 0, head, body))
}
