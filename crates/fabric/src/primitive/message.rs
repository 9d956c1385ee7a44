//! What members say to one another; `docs/wire/primitives.md` has the bytes.

use super::nodes::Nodes;
use super::wire::{Reader, Writer};
use crate::protocol::{self, NodeId, Payload};
use std::sync::Arc;

/// How COMPARE-AND-WRITE compares each node's variable with the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
}

/// An operation's name: who asked, and a number that grows with each of its operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Op {
    /// Who asked.
    pub origin: NodeId,
    /// Its number there; the first one is the origin's incarnation.
    pub number: u64,
}

/// What is to be done at every node of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// XFER-AND-SIGNAL: the body goes there.
    Transfer {
        /// The region's number.
        region: u32,
        /// Where in it.
        offset: u64,
        /// Which event is signalled there.
        event: Option<u32>,
    },
    /// COMPARE-AND-WRITE.
    Compare {
        /// Which variable is compared.
        variable: u32,
        /// How.
        relation: Relation,
        /// With what.
        value: u64,
        /// The variable that is written if the comparison holds at every node, and its new value.
        write: Option<(u32, u64)>,
    },
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Work {
    /// Its name.
    pub op: Op,
    /// Where.
    pub set: Nodes,
    /// What.
    pub what: What,
}

impl Work {
    /// Whether it compares and changes nothing: then nodes keep nothing of it.
    pub fn is_query(&self) -> bool {
        matches!(self.what, What::Compare { write: None, .. })
    }

    /// Whether it compares.
    pub fn is_compare(&self) -> bool {
        matches!(self.what, What::Compare { .. })
    }
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Done at every node of its set, or the comparison held at all of them.
    Committed,
    /// The comparison did not hold at some node; nothing was written.
    NotHeld,
    /// This node of its set is no member (any more); nothing was done anywhere.
    NotMember(NodeId),
    /// The master was restarted in its midst, and later operations of the same origin had been
    /// done already; nothing was done anywhere.
    MasterLost,
    /// Nothing was done anywhere; its origin asks again. Users never see it.
    Again,
    /// This node was removed from the members before it learned the outcome: done at all others or
    /// at none.
    Unknown,
}

/// A variable, what was written into it, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wrote {
    /// Which.
    pub variable: u32,
    /// The sequence number of the operation.
    pub seq: u64,
    /// What.
    pub value: u64,
}

/// How an epoch begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Opening {
    /// The members.
    pub members: Nodes,
    /// Members that have to take the state over, if they are outside.
    pub joined: Nodes,
    /// Members that the master reaches itself, whatever their place in the tree would be.
    pub apart: Nodes,
    /// The highest sequence number decided.
    pub last: u64,
    /// All of them up to this one are done everywhere.
    pub stable: u64,
    /// The state: what was written. Empty if nobody has joined.
    pub written: Vec<Wrote>,
}

/// What goes over a link, in order and once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Carried {
    /// Down: a new epoch.
    Open(Arc<Opening>),
    /// Down: keep this until it is decided.
    Stage(u64, Arc<Work>, Payload),
    /// Down: how it ended.
    Decide(u64, Outcome, Arc<Work>),
    /// Up: all below have it; whether the comparison holds at all of them.
    Staged(u64, bool),
    /// To the master: do this.
    Ask(Arc<Work>, Payload),
    /// Up: what members below have to tell the master.
    Tell(Payload),
}

/// What a member tells a restarted master of one operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Known {
    /// Its sequence number.
    pub seq: u64,
    /// How it ended, if this is known here.
    pub outcome: Option<Outcome>,
    /// What it is.
    pub work: Arc<Work>,
}

/// What a member tells a restarted master.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    /// The last epoch that it was in; none (0) if it is outside.
    pub epoch: u64,
    /// The members then.
    pub members: Nodes,
    /// All of them have done all up to this one.
    pub stable: u64,
    /// What was written.
    pub written: Vec<Wrote>,
    /// What is not known to be done everywhere.
    pub known: Vec<Known>,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Over a link: its number there, the number expected from the other side, and how far all is
    /// done (up: below this node; down: everywhere).
    Linked {
        /// Numbers are good in this epoch.
        epoch: u64,
        /// This message's.
        number: u64,
        /// The next one expected from the receiver.
        expected: u64,
        /// How far all is done.
        done: u64,
        /// The message proper.
        carried: Carried,
    },
    /// What a linked message says beside the message proper.
    Flush {
        /// Numbers are good in this epoch.
        epoch: u64,
        /// The next one expected from the receiver.
        expected: u64,
        /// How far all is done.
        done: u64,
    },
    /// From the master: it has taken what was asked up to this number.
    Taken {
        /// Numbers are good in this epoch.
        epoch: u64,
        /// The next one expected from the receiver.
        expected: u64,
        /// It has left that one for want of room, which there is now.
        again: bool,
    },
    /// Down: it has heard what it was told up to this number.
    Heard {
        /// Numbers are good in this epoch.
        epoch: u64,
        /// The next one expected from the receiver.
        expected: u64,
    },
    /// To the parent, or the master: renew my lease, and these of others below.
    Renew {
        /// The sender's epoch.
        epoch: u64,
        /// Of whom, and since when.
        renewals: Vec<Renewal>,
    },
    /// From the master, or the parent: these leases are good from when they were asked for.
    Granted {
        /// The master's epoch when it granted them, whoever passes that on.
        epoch: u64,
        /// Of whom, and what they had said.
        renewals: Vec<Renewal>,
    },
    /// To the master: the sender does not reach the one above it, or is not reached.
    Apart {
        /// The sender's epoch.
        epoch: u64,
    },
    /// To the master: take me in, after this epoch.
    Join {
        /// The last epoch that the sender has been told of.
        epoch: u64,
        /// Which life of the sender this is.
        incarnation: u64,
    },
    /// From the master: the epoch, and whether the receiver is a member in it.
    Standing {
        /// The master's epoch.
        epoch: u64,
        /// What the receiver had said, if it wants to join.
        incarnation: u64,
        /// Whether it is one.
        member: bool,
    },
    /// From a restarted master: take part in no epoch before this one; what do you know?
    Collect {
        /// Before its first epoch.
        epoch: u64,
    },
    /// The answer.
    Report {
        /// What the master had said.
        epoch: u64,
        /// What is known.
        account: Account,
    },
}

/// That a member asks for more time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Renewal {
    /// The member.
    pub node: NodeId,
    /// When it asked, by its own clock.
    pub stamp: u64,
}

/// What each kind of message is called, by its number.
pub const KINDS: [&str; protocol::KINDS] = [
    "other", "open", "stage", "decide", "staged", "ask", "flush", "taken", "renew", "granted",
    "join", "standing", "collect", "report", "tell", "heard", "apart",
];

mod kind {
    pub const OPEN: u8 = 1;
    pub const STAGE: u8 = 2;
    pub const DECIDE: u8 = 3;
    pub const STAGED: u8 = 4;
    pub const ASK: u8 = 5;
    pub const FLUSH: u8 = 6;
    pub const TAKEN: u8 = 7;
    pub const RENEW: u8 = 8;
    pub const GRANTED: u8 = 9;
    pub const JOIN: u8 = 10;
    pub const STANDING: u8 = 11;
    pub const COLLECT: u8 = 12;
    pub const REPORT: u8 = 13;
    pub const TELL: u8 = 14;
    pub const HEARD: u8 = 15;
    pub const APART: u8 = 16;
}

impl Message {
    /// Whether a head is of a message that renews leases: it may overtake all others.
    pub fn is_urgent(head: &[u8]) -> bool {
        matches!(head.first(), Some(&(kind::RENEW | kind::GRANTED)))
    }

    /// The bytes, and what is carried beside them.
    pub fn encode(&self) -> (Vec<u8>, Payload) {
        let mut to = Writer::default();
        let mut body = Payload::default();
        match self {
            Message::Linked { epoch, number, expected, done, carried } => {
                let code = match carried {
                    Carried::Open(_) => kind::OPEN,
                    Carried::Stage(..) => kind::STAGE,
                    Carried::Decide(..) => kind::DECIDE,
                    Carried::Staged(..) => kind::STAGED,
                    Carried::Ask(..) => kind::ASK,
                    Carried::Tell(..) => kind::TELL,
                };
                to.u8(code).u64(*epoch).u64(*expected).u64(*done).u64(*number);
                body = to.carried(carried);
            }
            Message::Flush { epoch, expected, done } => {
                to.u8(kind::FLUSH).u64(*epoch).u64(*expected).u64(*done);
            }
            Message::Taken { epoch, expected, again } => {
                to.u8(kind::TAKEN).u64(*epoch).u64(*expected).u8(u8::from(*again));
            }
            Message::Heard { epoch, expected } => {
                to.u8(kind::HEARD).u64(*epoch).u64(*expected);
            }
            Message::Renew { epoch, renewals } => {
                to.u8(kind::RENEW).u64(*epoch).renewals(renewals);
            }
            Message::Granted { epoch, renewals } => {
                to.u8(kind::GRANTED).u64(*epoch).renewals(renewals);
            }
            Message::Apart { epoch } => {
                to.u8(kind::APART).u64(*epoch);
            }
            Message::Join { epoch, incarnation } => {
                to.u8(kind::JOIN).u64(*epoch).u64(*incarnation);
            }
            Message::Standing { epoch, incarnation, member } => {
                to.u8(kind::STANDING).u64(*epoch).u64(*incarnation).u8(u8::from(*member));
            }
            Message::Collect { epoch } => {
                to.u8(kind::COLLECT).u64(*epoch);
            }
            Message::Report { epoch, account } => {
                to.u8(kind::REPORT).u64(*epoch).account(account);
            }
        }
        (to.bytes, body)
    }

    /// Reads a message.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn decode(head: &[u8], body: Payload) -> Result<Message, &'static str> {
        let mut from = Reader { bytes: head, body: Some(body) };
        let code = from.u8()?;
        let epoch = from.u64()?;
        let message = match code {
            kind::OPEN..=kind::ASK | kind::TELL => Message::Linked {
                epoch,
                expected: from.u64()?,
                done: from.u64()?,
                number: from.u64()?,
                carried: match code {
                    kind::OPEN => Carried::Open(Arc::new(from.opening()?)),
                    kind::STAGE => Carried::Stage(from.u64()?, Arc::new(from.work()?), from.body()),
                    kind::DECIDE => {
                        Carried::Decide(from.u64()?, from.outcome()?, Arc::new(from.work()?))
                    }
                    kind::STAGED => Carried::Staged(from.u64()?, from.bool()?),
                    kind::TELL => Carried::Tell(from.body()),
                    _ => Carried::Ask(Arc::new(from.work()?), from.body()),
                },
            },
            kind::FLUSH => Message::Flush { epoch, expected: from.u64()?, done: from.u64()? },
            kind::TAKEN => Message::Taken { epoch, expected: from.u64()?, again: from.bool()? },
            kind::HEARD => Message::Heard { epoch, expected: from.u64()? },
            kind::RENEW => Message::Renew { epoch, renewals: from.renewals()? },
            kind::GRANTED => Message::Granted { epoch, renewals: from.renewals()? },
            kind::APART => Message::Apart { epoch },
            kind::JOIN => Message::Join { epoch, incarnation: from.u64()? },
            kind::STANDING => {
                Message::Standing { epoch, incarnation: from.u64()?, member: from.bool()? }
            }
            kind::COLLECT => Message::Collect { epoch },
            kind::REPORT => Message::Report { epoch, account: from.account()? },
            _ => return Err("a kind that does not exist"),
        };
        from.end()?;
        Ok(message)
    }
}
