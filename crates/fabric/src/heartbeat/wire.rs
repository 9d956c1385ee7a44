//! The heartbeat's messages as bytes: `docs/wire/heartbeat.md`. Numbers are little-endian.

use crate::protocol::{NodeId, Payload};
use muster_base::limits;
use std::time::Duration;

/// Kind of the event that announces members and tree; always by itself in front.
pub const MEMBERS: u32 = 1;
/// Kind of the event that announces period and micro-heartbeats.
pub const PERIOD: u32 = 2;
/// The first kind that users may give a meaning.
pub const USER: u32 = 16;

/// Something that all nodes learn with the same strobe.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// What it is: [`MEMBERS`], [`PERIOD`], or a user's kind from [`USER`] on.
    pub kind: u32,
    /// What it says.
    pub bytes: Payload,
}

impl Event {
    /// A user's event.
    pub fn new(kind: u32, bytes: impl Into<Payload>) -> Event {
        Event { kind, bytes: bytes.into() }
    }
}

/// A message between two nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Down the tree.
    Strobe(Strobe),
    /// Up the tree: who of the sender's subtree is late.
    Report(Report),
    /// To the parent: send what follows this sequence.
    Resume { seen: u64 },
    /// To a child that has missed more than is kept: go on from here.
    Resync { sequence: u64, rhythm: Rhythm, members: Members },
}

/// What a node knows of its subtree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The last strobe that the sender has seen.
    pub sequence: u64,
    /// All that is said of nodes, and said by silence, was true at this strobe or later.
    pub since: u64,
    /// Who is behind.
    pub behind: Vec<Behind>,
    /// There are more of them.
    pub truncated: bool,
}

/// A strobe; its events as they came, so that they are passed on without a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strobe {
    pub sequence: u64,
    pub epoch: u64,
    pub early: bool,
    pub count: u16,
    pub events: Payload,
}

/// How often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    pub period: Duration,
    /// Parts that a node divides the period into; 1: no micro-heartbeats.
    pub micro: u16,
}

/// Who takes part, in the order of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    pub epoch: u64,
    pub arity: u16,
    pub order: Vec<NodeId>,
}

/// A node that may not have seen what the others have, and with it all below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind {
    pub node: NodeId,
    pub why: Why,
    /// The last sequence it is known to have seen.
    pub seen: u64,
}

/// Why a node is in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It has not said anything since the tree has changed.
    New,
    /// Its reports are behind.
    Late,
    /// Its connection has ended.
    Lost,
}

const STROBE: u8 = 1;
const REPORT: u8 = 2;
const RESUME: u8 = 3;
const RESYNC: u8 = 4;

/// Sequences are smaller, so that the next one always is a number.
pub const SEQUENCE_END: u64 = 1 << 63;

/// Bytes in front of an event.
const EVENT_HEAD: usize = 8;
/// Bytes of a node in a report.
const BEHIND: usize = 16;

impl Message {
    /// Head and body.
    pub fn encode(&self) -> (Vec<u8>, Payload) {
        let head = |kind: u8, flag: bool, short: u16, numbers: [u64; 2]| {
            let mut head = vec![kind, u8::from(flag)];
            head.extend(short.to_le_bytes());
            head.extend([0; 4]);
            numbers.iter().for_each(|number| head.extend(number.to_le_bytes()));
            head
        };
        match self {
            Message::Strobe(strobe) => {
                let Strobe { sequence, epoch, early, count, events } = strobe;
                (head(STROBE, *early, *count, [*sequence, *epoch]), events.clone())
            }
            Message::Report(Report { sequence, since, behind, truncated }) => {
                let mut body = Vec::with_capacity(behind.len() * BEHIND);
                for Behind { node, why, seen } in behind {
                    body.extend(node.0.to_le_bytes());
                    body.extend((*why as u32).to_le_bytes());
                    body.extend(seen.to_le_bytes());
                }
                (head(REPORT, *truncated, 0, [*sequence, *since]), body.into())
            }
            Message::Resume { seen } => (head(RESUME, false, 0, [*seen, 0]), Payload::default()),
            Message::Resync { sequence, rhythm, members } => {
                let period = nanoseconds(rhythm.period);
                let head = head(RESYNC, false, rhythm.micro, [*sequence, period]);
                (head, members.encode().into())
            }
        }
    }

    /// Reads a message.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode(head: &[u8], body: &Payload) -> Result<Message, String> {
        if head.len() != 24 {
            return Err(format!("a head of {} bytes, not 24", head.len()));
        }
        let flag = match head[1] {
            0 => false,
            1 => true,
            flags => return Err(format!("flags {flags:#x}")),
        };
        let (short, zero) = (u16_at(head, 2), u32_at(head, 4));
        let (first, second) = (u64_at(head, 8), u64_at(head, 16));
        if zero != 0 {
            return Err("bytes that must be zero are not".to_owned());
        }
        if first >= SEQUENCE_END {
            return Err(format!("sequence {first}"));
        }
        match (head[0], flag, short, second) {
            (STROBE, early, count, epoch) => {
                check(body, count)?;
                let events = body.clone();
                Ok(Message::Strobe(Strobe { sequence: first, epoch, early, count, events }))
            }
            (REPORT, truncated, 0, since) => {
                let behind = read_behind(body)?;
                Ok(Message::Report(Report { sequence: first, since, behind, truncated }))
            }
            (RESUME, false, 0, 0) if body.is_empty() => Ok(Message::Resume { seen: first }),
            (RESYNC, false, micro, period) => Ok(Message::Resync {
                sequence: first,
                rhythm: Rhythm::new(period, micro)?,
                members: Members::decode(body)?,
            }),
            (kind, ..) => Err(format!("no message of kind {kind} looks like this")),
        }
    }
}

/// Writes a strobe's events.
pub fn encode_events<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<u8> {
    let mut body = Vec::new();
    for event in events {
        body.extend(event.kind.to_le_bytes());
        body.extend((event.bytes.len() as u32).to_le_bytes());
        body.extend_from_slice(&event.bytes);
    }
    body
}

/// Reads the events that [`Message::decode`] has found to be right.
pub fn events(body: &Payload) -> impl Iterator<Item = Event> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (kind, size) = event_at(body, at).ok()??;
        let start = at + EVENT_HEAD;
        at = start + size;
        Some(Event { kind, bytes: body.part(start..at) })
    })
}

/// Kind and size of the event that begins here, none at the end.
fn event_at(body: &[u8], at: usize) -> Result<Option<(u32, usize)>, String> {
    let rest = &body[at..];
    if rest.is_empty() {
        return Ok(None);
    }
    if rest.len() < EVENT_HEAD {
        return Err("events that end within an event".to_owned());
    }
    let (kind, size) = (u32_at(rest, 0), u32_at(rest, 4) as usize);
    if size > rest.len() - EVENT_HEAD {
        return Err(format!("an event of {size} bytes where {} are left", rest.len() - EVENT_HEAD));
    }
    Ok(Some((kind, size)))
}

/// Checks a strobe's events.
fn check(body: &Payload, count: u16) -> Result<(), String> {
    if usize::from(count) > limits::EVENTS_MAX || body.len() > limits::STROBE_MAX {
        return Err(format!("a strobe of {count} events and {} bytes", body.len()));
    }
    let (mut at, mut found) = (0, 0);
    while let Some((kind, size)) = event_at(body, at)? {
        let bytes = body.part(at + EVENT_HEAD..at + EVENT_HEAD + size);
        match kind {
            MEMBERS => drop(Members::decode(&bytes)?),
            PERIOD => drop(Rhythm::decode(&bytes)?),
            USER.. if size <= limits::EVENT_MAX => {}
            _ => return Err(format!("an event of kind {kind} and {size} bytes")),
        }
        (at, found) = (at + EVENT_HEAD + size, found + 1);
    }
    if found != usize::from(count) {
        return Err(format!("{found} events, not {count}"));
    }
    Ok(())
}

fn read_behind(body: &[u8]) -> Result<Vec<Behind>, String> {
    if !body.len().is_multiple_of(BEHIND) || body.len() / BEHIND > limits::LATE_MAX {
        return Err(format!("a report of {} bytes", body.len()));
    }
    let read = |part: &[u8]| {
        let why = match u32_at(part, 4) {
            0 => Why::New,
            1 => Why::Late,
            2 => Why::Lost,
            why => return Err(format!("a node is in a report because of {why}")),
        };
        Ok(Behind { node: NodeId(u32_at(part, 0)), why, seen: u64_at(part, 8) })
    };
    body.chunks_exact(BEHIND).map(read).collect()
}

impl Rhythm {
    /// Checked.
    ///
    /// # Errors
    /// What is out of range.
    pub fn new(nanoseconds: u64, micro: u16) -> Result<Rhythm, String> {
        let range = limits::PERIOD_MIN_US * 1000..=limits::PERIOD_MAX_US * 1000;
        if !range.contains(&nanoseconds) {
            let (least, most) = (limits::PERIOD_MIN_US, limits::PERIOD_MAX_US / 1_000_000);
            return Err(format!(
                "a period of {nanoseconds} ns: {least} us to {most} s are possible"
            ));
        }
        if !(1..=limits::MICRO_MAX).contains(&micro) {
            let most = limits::MICRO_MAX;
            return Err(format!("a period of {micro} micro-heartbeats: 1 to {most} are possible"));
        }
        Ok(Rhythm { period: Duration::from_nanos(nanoseconds), micro })
    }

    /// With a period as long as any.
    pub fn of(period: Duration, micro: u16) -> Result<Rhythm, String> {
        Rhythm::new(u64::try_from(period.as_nanos()).unwrap_or(u64::MAX), micro)
    }

    /// As the bytes of its event.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = nanoseconds(self.period).to_le_bytes().to_vec();
        bytes.extend(self.micro.to_le_bytes());
        bytes
    }

    /// Reads the bytes of its event.
    pub fn decode(bytes: &[u8]) -> Result<Rhythm, String> {
        match bytes.len() {
            10 => Rhythm::new(u64_at(bytes, 0), u16_at(bytes, 8)),
            size => Err(format!("a period's event of {size} bytes")),
        }
    }
}

impl Members {
    /// As the bytes of its event.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.epoch.to_le_bytes().to_vec();
        bytes.extend(u32::from(self.arity).to_le_bytes());
        self.order.iter().for_each(|node| bytes.extend(node.0.to_le_bytes()));
        bytes
    }

    /// Reads the bytes of its event.
    pub fn decode(bytes: &[u8]) -> Result<Members, String> {
        if bytes.len() < 16 || !bytes.len().is_multiple_of(4) {
            return Err(format!("a list of members of {} bytes", bytes.len()));
        }
        let count = (bytes.len() - 12) / 4;
        if count > limits::MEMBERS_MAX {
            return Err(format!("{count} members"));
        }
        let arity = u32_at(bytes, 8) as usize;
        if !(1..=limits::ARITY_MAX).contains(&arity) {
            return Err(format!("a tree of {arity} children to a node"));
        }
        let order: Vec<NodeId> =
            bytes[12..].chunks_exact(4).map(|part| NodeId(u32_at(part, 0))).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|two| two[0] == two[1]) {
            return Err("a member that is there twice".to_owned());
        }
        Ok(Members { epoch: u64_at(bytes, 0), arity: arity as u16, order })
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().expect("two bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
