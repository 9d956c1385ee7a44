//! Bytes of the parts of a message. Numbers are little-endian. A reader checks how many elements
//! its bytes can hold before it takes memory for them.

use super::message::{
    Account, Carried, Known, Op, Opening, Outcome, Relation, Renewal, What, Work, Wrote,
};
use super::nodes::Nodes;
use super::tree::APART_MAX;
use crate::protocol::{NodeId, Payload};
use muster_base::limits::{RANGES_MAX, SET_RANGES_MAX};
use std::sync::Arc;

/// Most messages fit.
const ROOM: usize = 96;

/// No event.
const NONE: u32 = u32::MAX;

/// Appends.
pub struct Writer {
    /// What is written.
    pub bytes: Vec<u8>,
}

impl Default for Writer {
    fn default() -> Writer {
        Writer { bytes: Vec::with_capacity(ROOM) }
    }
}

impl Writer {
    pub fn u8(&mut self, value: u8) -> &mut Writer {
        self.bytes.push(value);
        self
    }

    pub fn u32(&mut self, value: u32) -> &mut Writer {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub fn u64(&mut self, value: u64) -> &mut Writer {
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn count(&mut self, count: usize) -> &mut Writer {
        self.u32(u32::try_from(count).expect("limits keep lists short"))
    }

    fn nodes(&mut self, nodes: &Nodes) -> &mut Writer {
        self.count(nodes.ranges().len());
        for &(first, last) in nodes.ranges() {
            self.u32(first).u32(last);
        }
        self
    }

    fn outcome(&mut self, outcome: Outcome) -> &mut Writer {
        let (code, node) = match outcome {
            Outcome::Committed => (1, 0),
            Outcome::NotHeld => (2, 0),
            Outcome::NotMember(node) => (3, node.0),
            Outcome::MasterLost => (4, 0),
            Outcome::Again => (5, 0),
            Outcome::Unknown => (6, 0),
        };
        self.u8(code).u32(node)
    }

    fn work(&mut self, work: &Work) -> &mut Writer {
        self.u32(work.op.origin.0).u64(work.op.number);
        match work.what {
            What::Transfer { region, offset, event } => {
                self.u8(1).u32(region).u64(offset).u32(event.unwrap_or(NONE));
            }
            What::Compare { variable, relation, value, write } => {
                let relation = match relation {
                    Relation::AtLeast => 0,
                    Relation::Less => 1,
                    Relation::Equal => 2,
                    Relation::NotEqual => 3,
                };
                let (to, new) = write.unwrap_or((NONE, 0));
                self.u8(2).u32(variable).u8(relation).u64(value).u32(to).u64(new);
            }
        }
        self.nodes(&work.set)
    }

    fn written(&mut self, written: &[Wrote]) -> &mut Writer {
        self.count(written.len());
        for wrote in written {
            self.u32(wrote.variable).u64(wrote.seq).u64(wrote.value);
        }
        self
    }

    pub fn renewals(&mut self, renewals: &[Renewal]) -> &mut Writer {
        self.count(renewals.len());
        for renewal in renewals {
            self.u32(renewal.node.0).u64(renewal.stamp);
        }
        self
    }

    /// Returns what goes beside the bytes.
    pub fn carried(&mut self, carried: &Carried) -> Payload {
        match carried {
            Carried::Open(opening) => {
                self.nodes(&opening.members).nodes(&opening.joined).nodes(&opening.apart);
                self.u64(opening.last).u64(opening.stable).written(&opening.written);
            }
            Carried::Stage(seq, work, body) => {
                self.u64(*seq).work(work);
                return body.clone();
            }
            Carried::Decide(seq, outcome, work) => {
                self.u64(*seq).outcome(*outcome).work(work);
            }
            Carried::Staged(seq, holds) => {
                self.u64(*seq).u8(u8::from(*holds));
            }
            Carried::Ask(work, body) => {
                self.work(work);
                return body.clone();
            }
            Carried::Tell(body) => return body.clone(),
        }
        Payload::default()
    }

    pub fn account(&mut self, account: &Account) -> &mut Writer {
        self.u64(account.epoch).nodes(&account.members).u64(account.stable);
        self.written(&account.written).count(account.known.len());
        for known in &account.known {
            self.u64(known.seq);
            match known.outcome {
                None => self.u8(0).u32(0),
                Some(outcome) => self.outcome(outcome),
            };
            self.work(&known.work);
        }
        self
    }
}

/// Takes from the front.
pub struct Reader<'a> {
    pub bytes: &'a [u8],
    pub body: Option<Payload>,
}

type Read<T> = Result<T, &'static str>;

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Read<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or("it ends too early")?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub fn u8(&mut self) -> Read<u8> {
        Ok(self.take::<1>()?[0])
    }

    pub fn u32(&mut self) -> Read<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    pub fn u64(&mut self) -> Read<u64> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub fn bool(&mut self) -> Read<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err("neither true nor false"),
        }
    }

    /// What goes beside the bytes.
    pub fn body(&mut self) -> Payload {
        self.body.take().unwrap_or_default()
    }

    /// Nothing may be left.
    pub fn end(self) -> Read<()> {
        let body = self.body.is_some_and(|body| !body.is_empty());
        if self.bytes.is_empty() && !body { Ok(()) } else { Err("bytes too many") }
    }

    /// How many elements follow, each of so many bytes at least.
    fn count(&mut self, each: usize) -> Read<usize> {
        let count = self.u32()? as usize;
        if count > self.bytes.len() / each {
            return Err("a list longer than the message");
        }
        Ok(count)
    }

    fn nodes(&mut self, most: usize) -> Read<Nodes> {
        let count = self.count(8)?;
        if count > most {
            return Err("a node set of too many ranges");
        }
        let mut range = || Ok((self.u32()?, self.u32()?));
        let nodes = match count {
            1 => Nodes::from_ranges(&[range()?]),
            _ => Nodes::from_ranges(&(0..count).map(|_| range()).collect::<Read<Vec<_>>>()?),
        };
        nodes.ok_or("ranges of nodes in disorder")
    }

    fn some_outcome(&mut self) -> Read<Option<Outcome>> {
        let (code, node) = (self.u8()?, self.u32()?);
        let outcome = match (code, node) {
            (0, 0) => return Ok(None),
            (1, 0) => Outcome::Committed,
            (2, 0) => Outcome::NotHeld,
            (3, node) => Outcome::NotMember(NodeId(node)),
            (4, 0) => Outcome::MasterLost,
            (5, 0) => Outcome::Again,
            (6, 0) => Outcome::Unknown,
            _ => return Err("an outcome that does not exist"),
        };
        Ok(Some(outcome))
    }

    pub fn outcome(&mut self) -> Read<Outcome> {
        self.some_outcome()?.ok_or("an outcome is missing")
    }

    pub fn work(&mut self) -> Read<Work> {
        let op = Op { origin: NodeId(self.u32()?), number: self.u64()? };
        let some = |number: u32| (number != NONE).then_some(number);
        let what = match self.u8()? {
            1 => What::Transfer {
                region: self.u32()?,
                offset: self.u64()?,
                event: some(self.u32()?),
            },
            2 => What::Compare {
                variable: self.u32()?,
                relation: match self.u8()? {
                    0 => Relation::AtLeast,
                    1 => Relation::Less,
                    2 => Relation::Equal,
                    3 => Relation::NotEqual,
                    _ => return Err("a relation that does not exist"),
                },
                value: self.u64()?,
                write: match (some(self.u32()?), self.u64()?) {
                    (Some(variable), value) => Some((variable, value)),
                    (None, 0) => None,
                    (None, _) => return Err("a value for no variable"),
                },
            },
            _ => return Err("work that does not exist"),
        };
        Ok(Work { op, what, set: self.nodes(SET_RANGES_MAX)? })
    }

    fn written(&mut self) -> Read<Vec<Wrote>> {
        let count = self.count(20)?;
        let mut wrote =
            || Ok(Wrote { variable: self.u32()?, seq: self.u64()?, value: self.u64()? });
        (0..count).map(|_| wrote()).collect()
    }

    pub fn renewals(&mut self) -> Read<Vec<Renewal>> {
        let count = self.count(12)?;
        let mut renewal = || Ok(Renewal { node: NodeId(self.u32()?), stamp: self.u64()? });
        (0..count).map(|_| renewal()).collect()
    }

    pub fn opening(&mut self) -> Read<Opening> {
        Ok(Opening {
            members: self.nodes(RANGES_MAX)?,
            joined: self.nodes(RANGES_MAX)?,
            apart: self.nodes(APART_MAX)?,
            last: self.u64()?,
            stable: self.u64()?,
            written: self.written()?,
        })
    }

    pub fn account(&mut self) -> Read<Account> {
        let (epoch, members) = (self.u64()?, self.nodes(RANGES_MAX)?);
        let (stable, written) = (self.u64()?, self.written()?);
        let count = self.count(46)?;
        let mut known = Vec::with_capacity(count);
        for _ in 0..count {
            let (seq, outcome) = (self.u64()?, self.some_outcome()?);
            known.push(Known { seq, outcome, work: Arc::new(self.work()?) });
        }
        Ok(Account { epoch, members, stable, written, known })
    }
}

#[cfg(test)]
mod tests;
