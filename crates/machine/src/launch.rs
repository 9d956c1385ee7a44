//! What manager and nodes write to each other to launch jobs: orders to the nodes, one multicast
//! each, and reports from them (`docs/wire/launch.md`).
//!
//! A rank is *light* from its order on: its node makes the session and runs the program, with no
//! request of the manager's own. If the program has ended soon, the report of its end carries all
//! that there is to know, its output too. If not, the node asks to be *followed*, and the manager
//! does that through the session's files, as everybody would. Until the manager says that it has
//! done with a job (*forget*), the session stays and tells the same: a report that was lost with a
//! manager is not missed by the next one.

pub mod bundle;

use crate::manager::spec::Stdin;
use crate::strober::Table;
use muster_base::limits::TELL_MAX;
use serde::{Deserialize, Serialize};

/// The numbers of light ranks' sessions begin here; those of `clone` begin again before.
pub(crate) const LIGHT: u32 = 1 << 24;

/// Jobs that light ranks' numbers tell apart before they begin again.
const JOBS: u32 = 1 << 18;

/// The session of a job's rank that is one of the first thousands of its node.
pub fn session_of(job: u32, local: usize) -> u32 {
    let local = u32::try_from(local).expect("a node has fewer sessions");
    LIGHT + (job % JOBS) * muster_base::limits::SESSIONS_MAX as u32 + local
}

/// Whether light ranks of two jobs, or attempts, would be in the same sessions.
pub fn share_sessions(one: u32, other: u32) -> bool {
    one % JOBS == other % JOBS
}

/// The exit status that an error's id names: `[E101, exit 127]`.
pub fn exit_in(text: &str) -> u8 {
    let number = text.rsplit_once("exit ").and_then(|(_, rest)| rest.split(']').next());
    number.and_then(|digits| digits.parse().ok()).unwrap_or(125)
}

/// A light rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rank {
    /// Its number in the job.
    pub rank: usize,
    /// Its number at its node.
    pub local: usize,
    /// Its session.
    pub session: u32,
}

/// What to run, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The job or, if it begins again, this attempt: what all letters call it.
    pub job: u32,
    /// What users and tables of slots call it.
    pub known_as: u32,
    /// As the session's `argv` is written; empty if it comes with the files.
    pub argv: String,
    /// As the session's `env` is written; empty if it comes with the files.
    pub env: String,
    /// Which ranks read the job's input: they are followed from the start.
    pub stdin: Stdin,
    /// Where the program works, if not in the session's directory.
    pub chdir: Option<String>,
    /// Whether the scheduler has jobs take turns.
    pub in_turns: bool,
    /// Whether ranks that fill the processors of their machine are bound to them then.
    pub binds: bool,
    /// Bits that the modes of its ranks' new files do not get.
    pub umask: u32,
    /// The view that it was made in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Where.
    pub nodes: Vec<Part>,
}

/// Bits that the modes of new files do not get where nobody says.
pub const UMASK: u32 = 0o022;

/// A node's part of a launch. It travels as a list, for all nodes read the parts of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(String, u64, usize, usize)", into = "(String, u64, usize, usize)")]
pub struct Part {
    /// The node's name.
    pub node: String,
    /// Which start of its daemon is meant; another has no part.
    pub instance: u64,
    /// Its first rank.
    pub first: usize,
    /// How many it has.
    pub count: usize,
}

impl From<(String, u64, usize, usize)> for Part {
    fn from((node, instance, first, count): (String, u64, usize, usize)) -> Part {
        Part { node, instance, first, count }
    }
}

impl From<Part> for (String, u64, usize, usize) {
    fn from(Part { node, instance, first, count }: Part) -> Self {
        (node, instance, first, count)
    }
}

impl Launch {
    /// The ranks of one start of a node's daemon.
    pub fn own(&self, node: &str, instance: u64) -> impl Iterator<Item = Rank> {
        let is_own = move |part: &&Part| part.node == node && part.instance == instance;
        let parts: Vec<&Part> = self.nodes.iter().filter(is_own).collect();
        let job = self.job;
        parts.into_iter().flat_map(move |part| part.ranks(job))
    }
}

impl Part {
    /// Its ranks.
    pub fn ranks(&self, job: u32) -> impl Iterator<Item = Rank> {
        let first = self.first;
        (0..self.count).map(move |local| Rank {
            rank: first + local,
            local,
            session: session_of(job, local),
        })
    }
}

/// How nodes tell what they have of a job's files: in a variable of the global memory, which only
/// grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shipment {
    /// The variable.
    pub variable: u32,
    /// What it is before the first piece; each piece that a node has unpacked adds one.
    pub start: u64,
}

/// What a letter of bytes carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A part of the relay stream. Its number is what the variable is once it was unpacked.
    Piece,
    /// A chunk of a file. Its number is its place among those of the job.
    Chunk,
}

/// Bytes on their way to the nodes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<'a> {
    /// What they are.
    pub kind: Kind,
    /// The job.
    pub job: u32,
    /// Which these are.
    pub number: u64,
    /// They.
    pub bytes: &'a [u8],
}

impl Kind {
    /// What such a letter begins with; an order is JSON and does not.
    fn letter(self) -> u8 {
        match self {
            Kind::Piece => b'P',
            Kind::Chunk => b'C',
        }
    }
}

/// Bytes before those that are carried: the kind, the job, the number.
pub const BYTES_HEAD: usize = 13;

impl<'a> Bytes<'a> {
    /// What the letter begins with.
    pub fn head(kind: Kind, job: u32, number: u64) -> [u8; BYTES_HEAD] {
        let mut head = [kind.letter(); BYTES_HEAD];
        head[1..5].copy_from_slice(&job.to_le_bytes());
        head[5..].copy_from_slice(&number.to_le_bytes());
        head
    }

    /// Reads one; none if it is an order.
    pub fn read(letter: &'a [u8]) -> Option<Bytes<'a>> {
        let (&[first, ref job @ .., _, _, _, _, _, _, _, _], bytes) =
            letter.split_first_chunk::<BYTES_HEAD>()?;
        let number = letter[5..BYTES_HEAD].try_into().expect("eight bytes");
        let job: [u8; 4] = *job;
        let kind = [Kind::Piece, Kind::Chunk].into_iter().find(|kind| kind.letter() == first)?;
        let (job, number) = (u32::from_le_bytes(job), u64::from_le_bytes(number));
        Some(Bytes { kind, job, number, bytes })
    }
}

/// Chunks that come to some nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coming {
    /// The nodes.
    pub nodes: Vec<String>,
    /// The chunks, by their place among those of the job, as ranges.
    pub chunks: String,
}

/// From the manager to the nodes of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Make sessions for these ranks; their files come next.
    Make {
        /// What to run, and where.
        launch: Launch,
        /// Of the files.
        shipment: Shipment,
    },
    /// The stream has told of files by their chunks: put together those that are there. Whoever
    /// lacks one that is not to come says so.
    Chunks {
        /// The job.
        job: u32,
        /// What the variable is at least once this is done; each chunk adds one that is there with
        /// all before it.
        count: u64,
        /// What comes next.
        coming: Vec<Coming>,
    },
    /// Run the ranks of a job that have sessions.
    Run {
        /// The job.
        job: u32,
    },
    /// Make sessions for these ranks and run them: they have no files.
    Launch(Launch),
    /// Send a signal to the light ranks of a job.
    Signal {
        /// The job.
        job: u32,
        /// The ranks that nobody follows yet.
        ranks: Vec<usize>,
        /// The signal.
        signal: i32,
    },
    /// Kill all processes of a job's light ranks.
    End {
        /// The job.
        job: u32,
    },
    /// To the other nodes of a job that goes on: this one of them is lost, with its ranks.
    Lost {
        /// The job.
        job: u32,
        /// The node.
        node: String,
        /// Which start of its daemon.
        instance: u64,
    },
    /// Say again how ranks of these jobs have ended: a node that passed that on may have died.
    Again {
        /// The jobs.
        jobs: Vec<u32>,
    },
    /// The manager has all that it wants of these jobs: wipe their sessions.
    Forget {
        /// The jobs.
        jobs: Vec<u32>,
    },
    /// To a node whose connection from the manager has closed: join again, unless it is another
    /// start of the daemon.
    Join {
        /// The start that is meant.
        instance: u64,
    },
    /// To one node of each machine: its strober is to go by this table of slots.
    Strobe(Table),
    /// To a node that may not have heard everything: it may forget all jobs but these.
    Keep {
        /// The last that the manager knows of; not meant are those after it.
        last: u32,
        /// The jobs.
        jobs: Vec<u32>,
        /// Ranks of these that nobody has heard of yet: who has no session for one of its own says
        /// so.
        expected: Vec<(String, u32, Rank)>,
        /// If given, only this start of the daemon is meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<u64>,
    },
}

/// From a node to the manager: what its ranks have to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The node's name.
    pub node: String,
    /// Which start of its daemon this is.
    pub instance: u64,
    /// One thing after another.
    pub said: Vec<Said>,
}

/// What is said of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The job.
    pub job: u32,
    /// The rank.
    pub rank: usize,
    /// What.
    pub what: What,
}

impl Said {
    /// About how many bytes of a letter it takes, and exactly how many of output.
    pub fn size(&self) -> (usize, usize) {
        match &self.what {
            What::Failed { why } => (100 + 2 * why.len(), 0),
            What::Lacks { chunks } => (100 + chunks.len(), 0),
            What::Unpacks | What::Follow { .. } => (100, 0),
            What::Ended { usage, stdout, stderr, .. } => (200 + usage.len(), stdout + stderr),
        }
    }
}

/// What has become of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Its program cannot be run.
    Failed {
        /// Why.
        why: String,
    },
    /// Its node lacks chunks of the job's files that nobody has said are to come.
    Lacks {
        /// They, as ranges.
        chunks: String,
    },
    /// Its node has all of the job's files, and is long to copy them for its ranks: it has come on
    /// since it said so last.
    Unpacks,
    /// Its program runs on, reads the job's input, or has said more than a report holds: its
    /// session's files tell.
    Follow {
        /// Its process, if it still runs.
        pid: Option<u32>,
    },
    /// Its program has ended, and all else of it is gone. The output stands behind the report.
    Ended {
        /// Raw wait(2) status.
        status: i32,
        /// As the session's `usage` tells.
        usage: String,
        /// Bytes of its output behind the report, after those of the ranks before.
        stdout: usize,
        /// Bytes of stderr, behind those of stdout.
        stderr: usize,
    },
}

/// Why a letter is none.
#[derive(Debug, thiserror::Error)]
pub enum BadLetter {
    /// Its text.
    #[error("a letter with a head that is none: {0}")]
    Head(#[from] serde_json::Error),
    /// What stands behind it.
    #[error("a letter whose body has {has} bytes, not the {told} that its head tells of")]
    Body {
        /// How many it has.
        has: usize,
        /// How many it should have.
        told: usize,
    },
    /// A bundle that ends within one of its letters.
    #[error("a bundle of letters that is cut off: its last {has} bytes are no letter")]
    Cut {
        /// How many bytes are left.
        has: usize,
    },
}

impl Order {
    /// As it travels.
    pub fn letter(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an order is always JSON")
    }

    /// Reads one.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(letter: &[u8]) -> Result<Order, BadLetter> {
        Ok(serde_json::from_slice(letter)?)
    }
}

impl Report {
    /// Whether it may be told, combined with others' (`fabric/src/primitive/tell.rs`): it has the
    /// ends of ranks only, which are said again when that is asked for, and is short.
    pub fn may_be_told(&self, letter: &[u8]) -> bool {
        let is_end = |said: &Said| matches!(said.what, What::Ended { .. });
        !self.said.is_empty() && self.said.iter().all(is_end) && letter.len() <= TELL_MAX
    }

    /// As it travels: a line of JSON, and the output of which it tells behind it.
    pub fn letter(&self, output: &[u8]) -> Vec<u8> {
        let mut letter = serde_json::to_vec(self).expect("a report is always JSON");
        letter.push(b'\n');
        letter.extend_from_slice(output);
        letter
    }

    /// Reads one, with the output behind it.
    ///
    /// # Errors
    /// When it is none.
    pub fn read(letter: &[u8]) -> Result<(Report, &[u8]), BadLetter> {
        let end = letter.iter().position(|&byte| byte == b'\n').unwrap_or(letter.len());
        let report: Report = serde_json::from_slice(&letter[..end])?;
        let output = letter.get(end + 1..).unwrap_or_default();
        let told = report.said.iter().fold(0_usize, |sum, said| match said.what {
            What::Ended { stdout, stderr, .. } => sum.saturating_add(stdout).saturating_add(stderr),
            _ => sum,
        });
        if told != output.len() {
            return Err(BadLetter::Body { has: output.len(), told });
        }
        Ok((report, output))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters that `docs/wire/launch.md` prints.
    fn printed() -> Vec<serde_json::Value> {
        let page = include_str!("../../../docs/wire/launch.md");
        let blocks = page.split("\n\n").filter(|block| block.starts_with("    {"));
        blocks.map(|block| serde_json::from_str(block).expect("a letter")).collect()
    }

    #[test]
    fn the_letters_of_the_wire_page_are_what_is_sent() {
        let (reports, orders): (Vec<_>, Vec<_>) =
            printed().into_iter().partition(|letter| letter.get("said").is_some());
        assert_eq!((orders.len(), reports.len()), (13, 1));
        let value = |letter: &[u8]| serde_json::from_slice::<serde_json::Value>(letter).unwrap();
        for printed in orders {
            let order = Order::read(printed.to_string().as_bytes()).unwrap();
            assert_eq!(value(&order.letter()), printed);
        }
        let letter = format!("{}\nhi\n", reports[0]);
        let (report, output) = Report::read(letter.as_bytes()).expect("a report");
        assert_eq!(output, b"hi\n");
        let sent = report.letter(output);
        assert_eq!(value(sent.strip_suffix(b"\nhi\n").unwrap()), reports[0]);
    }

    #[test]
    fn bytes_are_read_as_they_were_written_and_are_no_order() {
        for (kind, first) in [(Kind::Piece, b'P'), (Kind::Chunk, b'C')] {
            let head = Bytes::head(kind, 7, 1 << 40);
            assert_eq!(head, [first, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
            let letter = [&head[..], b"bytes"].concat();
            let read = Bytes { kind, job: 7, number: 1 << 40, bytes: b"bytes" };
            assert_eq!(Bytes::read(&letter), Some(read));
            assert!(Order::read(&letter).is_err());
        }
        assert_eq!(Bytes::read(&Order::End { job: 1 }.letter()), None);
        assert_eq!(Bytes::read(b"P"), None);
    }

    #[test]
    fn a_report_that_is_cut_off_is_none() {
        let ended = What::Ended { status: 0, usage: String::new(), stdout: 3, stderr: 1 };
        let said = vec![Said { job: 1, rank: 0, what: ended }];
        let report = Report { node: "n0".to_owned(), instance: 1, said };
        let letter = report.letter(b"out!");
        assert!(Report::read(&letter).is_ok());
        for end in 0..letter.len() {
            assert!(Report::read(&letter[..end]).is_err(), "{end}");
        }
        assert!(Report::read(&[&letter[..], b"x"].concat()).is_err());
    }
}
