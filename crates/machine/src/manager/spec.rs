//! What a job is asked to be, and what is told of it: the JSON of `jobs/J/spec` and
//! `jobs/J/status` (`docs/files.md`, section 2).

use crate::usage::Usage;
use muster_base::limits::REQUEUES_MAX;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The `time_ms` of a job that asks for no limit, and not for its partition's.
pub const UNLIMITED: u64 = u64::MAX;

/// A job as its client wants it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// How many nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<usize>,
    /// How many ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<usize>,
    /// Ranks that a node gets before the next one gets any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_node: Option<PerNode>,
    /// Which nodes: a node set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodelist: Option<String>,
    /// Which it does not want: a node set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<String>,
    /// Environment besides what the nodes add.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Working directory, if not the session's `fs/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chdir: Option<String>,
    /// Who gets what is written to `jobs/J/stdin`.
    #[serde(default)]
    pub stdin: Stdin,
    /// Time limit; [`UNLIMITED`] is none, where the partition has none either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Jobs of a higher one start first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// The partition that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// The job in which it was started: where nodes are a job's own, it runs on the nodes of that
    /// one if it fits there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<u32>,
    /// Whether the other ranks go on when one fails.
    #[serde(default)]
    pub keep_going: bool,
    /// Whether the other ranks go on when a node is lost.
    #[serde(default)]
    pub tolerate: bool,
    /// How often it may begin again, with other nodes, when a node is lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub requeue: u32,
    /// Whether its ranks may run on any processor, also where ranks of jobs that take turns are
    /// bound to one each.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unbound: bool,
    /// Bits that the modes of its ranks' new files do not get: umask(2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
    /// What to call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Time between TERM and KILL when the job is ended.
    #[serde(default = "grace")]
    pub grace_ms: u64,
}

/// How many ranks a node gets before the next one gets any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number of ranks, or a list of them")]
pub enum PerNode {
    /// Every node as many.
    Same(usize),
    /// Each of the nodes that are named its own number.
    Each(Vec<usize>),
}

impl PerNode {
    /// How many ranks so many nodes have, if that is all that is said of them.
    pub fn on(&self, nodes: usize) -> usize {
        match self {
            PerNode::Same(each) => nodes.saturating_mul(*each),
            PerNode::Each(each) => each.iter().copied().fold(0, usize::saturating_add),
        }
    }
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

fn grace() -> u64 {
    5000
}

/// Which ranks read the job's standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Stdin {
    /// One.
    Rank(usize),
    /// None or all.
    Word(Word),
}

/// The words for [`Stdin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Nobody: every rank finds its input at its end.
    None,
    /// Every rank gets all of it.
    All,
}

impl Default for Stdin {
    fn default() -> Stdin {
        Stdin::Rank(0)
    }
}

impl Stdin {
    /// Nobody reads it.
    pub const NONE: Stdin = Stdin::Word(Word::None);
    /// Everybody reads all of it.
    pub const ALL: Stdin = Stdin::Word(Word::All);

    /// Whether rank `rank` reads it.
    pub fn includes(self, rank: usize) -> bool {
        match self {
            Stdin::Rank(only) => only == rank,
            Stdin::Word(word) => word == Word::All,
        }
    }
}

/// A rank as it is told of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RankStatus {
    /// Its number.
    pub rank: usize,
    /// Its node.
    pub node: String,
    /// Its number among the ranks of its node.
    pub local: usize,
    /// Its session there.
    pub session: u32,
    /// Its process, as the node sees it.
    pub pid: Option<u32>,
    /// `waiting`, `running`, `done` or `lost`.
    pub state: RankPhase,
    /// Raw wait(2) status.
    pub status: Option<i32>,
    /// What happened to it, if it did not end by itself.
    pub why: Option<String>,
    /// What it has used.
    pub usage: Option<Usage>,
}

/// Where a rank is in its life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RankPhase {
    /// Its program does not run yet.
    #[default]
    Waiting,
    /// Its program runs.
    Running,
    /// Its program has ended.
    Done,
    /// Its node or session is gone.
    Lost,
}

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Its client fills in its files.
    #[default]
    New,
    /// It waits for its nodes.
    Pending,
    /// Sessions, files and programs are on their way.
    Starting,
    /// All programs run, or have run.
    Running,
    /// What is left of it is being ended.
    Ending,
    /// Nothing of it is left.
    Done,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// All ranks ended with status 0.
    Done,
    /// A rank failed, or could not be started.
    Failed,
    /// Somebody ended it, or its client went away.
    Killed,
    /// Its time was over.
    Timeout,
    /// A node was lost.
    Lost,
}

/// A job as it is told of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// Its number.
    pub id: u32,
    /// Where it is in its life.
    pub state: Phase,
    /// What it is called.
    pub name: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Its user.
    pub user: u32,
    /// The view that it was made in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Its nodes.
    pub nodes: Vec<String>,
    /// The job whose nodes these are, while it is a step of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<u32>,
    /// How many ranks it has.
    pub size: usize,
    /// Its ranks; not told in lists of many jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankStatus>,
    /// What those of its ranks have used of whom it is known.
    pub usage: Option<Usage>,
    /// When it was made, seconds since 1970.
    pub submitted: f64,
    /// What came before its programs ran.
    #[serde(flatten)]
    pub stamps: Stamps,
    /// When its programs ran.
    pub started: Option<f64>,
    /// When all ranks had ended and all that they said was there.
    pub over: Option<f64>,
    /// When nothing of it was left.
    pub ended: Option<f64>,
    /// Its exit status.
    pub exit: Option<u8>,
    /// How it ended.
    pub end: Option<End>,
    /// Why it ended so, or what it waits for.
    pub why: Option<String>,
    /// Why each attempt before this one failed. All else here is of this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requeued: Vec<String>,
    /// Bytes of `output` that are not kept: who took them has them.
    #[serde(skip_serializing_if = "is_zero")]
    pub taken: u64,
    /// Why nothing of `output` is kept any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// Whether it goes on without ranks that are lost.
    #[serde(skip_serializing_if = "is_zero")]
    pub tolerate: bool,
    /// The partition that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Its own priority, without that of its partition.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// How long it may run, if that is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// What its nodes are reached by.
    pub transport: String,
}

/// When what came of an attempt before its programs ran, seconds since 1970, and what was sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stamps {
    /// It began to wait for its nodes; none of one that got them at once.
    pub queued: Option<f64>,
    /// It got its nodes.
    pub allotted: Option<f64>,
    /// Its ranks had places, and the journal knew.
    pub placed: Option<f64>,
    /// Its files were at all nodes.
    pub sent: Option<f64>,
    /// How much of them had to be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Sent>,
}

/// How much of a job's files had to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Chunks that some node lacked.
    pub chunks: usize,
    /// Chunks that there are.
    pub of: usize,
    /// How often nodes were told which chunks come.
    #[serde(default)]
    pub rounds: usize,
    /// Bytes that the manager has sent by multicast meanwhile, those of other jobs included.
    #[serde(default)]
    pub multicast: u64,
}

impl Spec {
    /// Checks what no cluster could change.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        if self.requeue > REQUEUES_MAX {
            return Err(format!("requeue {}, {REQUEUES_MAX} at most", self.requeue));
        }
        if self.requeue > 0 && self.stdin != Stdin::NONE {
            return Err("one that may begin again has no input: what was read is gone".to_owned());
        }
        Ok(())
    }
}

/// Bytes of arguments that a summary tells.
const SUMMARY_ARGV_MAX: usize = 1024;

impl Status {
    /// The same without ranks, and with a few arguments.
    pub fn summary(&self) -> Status {
        let mut room = SUMMARY_ARGV_MAX;
        let fits = |word: &&String| {
            let left = room.checked_sub(word.len());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let argv = self.argv.iter().take_while(fits).cloned().collect();
        Status { argv, ranks: Vec::new(), ..self.clone() }
    }
}

impl RankPhase {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            RankPhase::Waiting => "waiting",
            RankPhase::Running => "running",
            RankPhase::Done => "done",
            RankPhase::Lost => "lost",
        }
    }
}

impl End {
    /// All of them.
    pub const ALL: [End; 5] = [End::Done, End::Failed, End::Killed, End::Timeout, End::Lost];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            End::Done => "done",
            End::Failed => "failed",
            End::Killed => "killed",
            End::Timeout => "timeout",
            End::Lost => "lost",
        }
    }
}

impl Phase {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Phase::New => "new",
            Phase::Pending => "pending",
            Phase::Starting => "starting",
            Phase::Running => "running",
            Phase::Ending => "ending",
            Phase::Done => "done",
        }
    }
}
