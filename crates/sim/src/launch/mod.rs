//! Launches in a simulated cluster: what `muster run` sets going between a manager and its nodes.
//!
//! **As shipped** are the global memory ([`muster_fabric::primitive`]), the letters and what reads
//! and writes them, the relay stream and its parser, the life of a job (`Progress`), flow control
//! (`Flow`, `Lacking`), who may send files (`Shipping`), what nodes count (`Tally`), who holds
//! which chunk (`Holdings`), where ranks go (`place`), who is there (`Presence`), and the orders
//! that nobody waits for (`Outbox`). **Written for the simulator** is what drives them where
//! daemons have threads, files and processes: [`manager`], [`job`] and [`node`] follow the daemons'
//! files that they name.
//!
//! Sessions are names, programs are words that say how long they run, and a node's connection to
//! the manager is nothing but that it is there: it breaks with one of its core's, and closes when
//! it dies. Left out are the manager's restart (its journal is a file), input of jobs and output,
//! ranks that are followed through their files, and time limits of a minute.
//!
//! Work costs what [`Prices`] say. With prices and a network of its own [`model`] says how long a
//! launch takes in a cluster of any size.

#[cfg(test)]
mod counts;
mod daemon;
mod job;
mod manager;
pub mod model;
mod node;
#[cfg(test)]
mod passing;
mod reader;

pub use daemon::{Ask, Daemon, Tell};
use manager::Manager;
use muster_base::limits::{CHUNK, LETTER_MAX};
use muster_fabric::primitive::{Config, Core, Nodes};
use muster_fabric::protocol::{NodeId, Time};
use muster_machine::chunk::Hash;
use muster_machine::manager::spec::End;
use muster_machine::memory::{LEASE, MANAGER, VARIABLES, name_of};
use muster_machine::relay::format::Header;
pub use node::Flaws;
use node::Node;
use reader::Reader;
use std::rc::Rc;

/// Children of a node in the trees, as `machine/src/memory.rs` has it.
const ARITY: usize = 16;

/// What work costs: nanoseconds, and picoseconds for a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// A launch, however many nodes it has: the client's work and the manager's.
    pub begin: u64,
    /// A byte of a file, until the manager has it to send.
    pub give: u64,
    /// A byte of an order, to who reads it.
    pub letter: u64,
    /// A byte of a file, to a node that compares it with its hash and writes it down.
    pub keep: u64,
    /// A rank: its session, control group, processes, and their ends.
    pub rank: u64,
    /// A report, to the manager.
    pub report: u64,
}

/// A job that a client wants.
#[derive(Clone, Debug)]
pub struct Wish {
    /// One rank on each of so many nodes, or of all that there are.
    pub nodes: usize,
    /// Microseconds that its program runs, and its raw status in the end.
    pub program: (u64, i32),
    /// Bytes of each file that goes along.
    pub files: Vec<usize>,
    /// Files of two jobs are the same if this is.
    pub salt: u64,
    /// The environment.
    pub env: String,
    /// How often it may begin again when a node is lost.
    pub requeue: u32,
}

/// How a job has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Which.
    pub job: u32,
    /// What the last attempt at it was called by letters.
    pub attempt: u32,
    /// How many attempts before it have failed, and how many were allowed to.
    pub failed: (u32, u32),
    /// How many nodes were wanted.
    pub wanted: usize,
    /// How.
    pub end: End,
    /// Its exit status.
    pub exit: u8,
    /// Why.
    pub why: Option<String>,
    /// How many ranks that had.
    pub ranks: usize,
    /// How many chunks its files have.
    pub chunks: usize,
    /// Nanoseconds from its submission until its files were there, by the manager's clock.
    pub sent: u64,
    /// Until it was done.
    pub ended: u64,
}

/// What a program's words say: microseconds, and a raw status.
fn program(argv: &str) -> (u64, i32) {
    let mut words = argv.split_whitespace().skip(1).map(|word| word.parse::<i64>().unwrap_or(0));
    let mut next = || words.next().unwrap_or(0);
    (next() as u64, next() as i32)
}

impl Wish {
    fn argv(&self) -> String {
        format!("program {} {}\n", self.program.0, self.program.1)
    }

    /// The chunks of its files: bytes that occur in no other.
    fn chunks(&self) -> Vec<(Hash, Vec<u8>)> {
        let mut chunks = Vec::new();
        for (file, size) in self.files.iter().enumerate() {
            for at in (0..*size).step_by(CHUNK) {
                let mut bytes = vec![7; CHUNK.min(size - at)];
                let mark = format!("{} {file} {at}", self.salt);
                let length = mark.len().min(bytes.len());
                bytes[..length].copy_from_slice(&mark.as_bytes()[..length]);
                chunks.push((Hash::of(&bytes), bytes));
            }
        }
        chunks
    }

    /// The relay stream that tells its files by their chunks.
    fn stream(&self, chunks: &[(Hash, Vec<u8>)]) -> Vec<u8> {
        let (mut stream, mut chunks) = (Vec::new(), chunks.iter());
        for (file, size) in self.files.iter().enumerate() {
            Header::Known(0o755, *size as u64, format!("file{file}")).write(&mut stream);
            for (hash, _) in chunks.by_ref().take(size.div_ceil(CHUNK)) {
                stream.extend_from_slice(&hash.0);
            }
        }
        Header::End.write(&mut stream);
        stream
    }
}

/// Which start of a daemon a life of a node is: as long as those of daemons, which are times.
pub fn instance(life: u32) -> u64 {
    1_800_000_000_000_000_000 + u64::from(life)
}

/// Makes the daemons of one cluster. Node 0 is the manager.
pub struct Makers {
    /// How many nodes there are, the manager included.
    pub nodes: u32,
    /// What work costs.
    pub prices: Prices,
    reader: Rc<Reader>,
}

impl Makers {
    /// Of a cluster of so many nodes, the manager included.
    pub fn new(nodes: u32, prices: Prices) -> Makers {
        Makers { nodes, prices, reader: Rc::default() }
    }

    /// A daemon that begins a life.
    pub fn daemon(&self, id: NodeId, life: u32, now: Time, flaws: Flaws) -> Daemon {
        let all = Nodes::range(0..=self.nodes - 1);
        let config = Config::new(id, u64::from(life + 1) << 32);
        let config = Config {
            lease: LEASE - config.slack,
            arity: ARITY,
            variables: VARIABLES + 1,
            regions: vec![LETTER_MAX as u64],
            end_is_death: true,
            ..config
        };
        let core = match life {
            0 => Core::member(config, all.clone(), now),
            _ => Core::outside(config, now),
        };
        if id == MANAGER {
            return Daemon::manager(core, Manager::new(self.prices, all));
        }
        let (name, reader) = (name_of(id), self.reader.clone());
        Daemon::node(core, Node::new(name, instance(life), self.prices, flaws, reader), life)
    }
}
