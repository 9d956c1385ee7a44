//! In which order the messages of an MPI program are taken: what `muster run` has the ranks do.

use muster_base::span;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// When messages go, and in which order they are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// At once, in the order in which they come
    #[default]
    Direct,
    /// Buffered and coscheduled: at strobes, in an order that the program alone determines
    Bcs,
}

/// The flags for it.
#[derive(Debug, clap::Args)]
pub struct Wanted {
    /// How MPI programs exchange messages
    ///
    /// With bcs (buffered coscheduled) a run of a program is like every other: which message a
    /// receive from any source gets, and what tests and probes tell, is determined by the order of
    /// ranks and calls, not by the time at which messages come. A call whose answer could still
    /// change waits until all ranks wait.
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    mpi: Mode,

    /// Length of the slices at whose beginnings ranks exchange messages with --mpi=bcs
    #[arg(long, value_name = "TIME", default_value = "20us", value_parser = span::parse)]
    strobe: Duration,

    /// Keep to the strobes with --mpi=bcs also when all ranks of a node wait
    #[arg(long)]
    fixed_strobes: bool,

    /// Print a digest of all messages that were received, and of what calls were told
    ///
    /// Two runs of an MPI program with the same digest were the same.
    #[arg(long)]
    digest: bool,

    /// Write to FILE in which order an MPI program's messages were taken (rank 0 does, in the end)
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Have an MPI program's messages taken in the order that --record has written to FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "mpi"])]
    replay: Option<PathBuf>,
}

impl Wanted {
    /// The variables that tell the ranks.
    pub fn variables(&self) -> Vec<(String, String)> {
        let absolute = |path: &Path| {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            path.to_string_lossy().into_owned()
        };
        let mut all = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            all.extend(value.map(|value| (name.to_owned(), value)));
        };
        let is_coscheduled = self.mpi == Mode::Bcs;
        add("MUSTER_MPI", is_coscheduled.then(|| "bcs".to_owned()));
        let early = if self.fixed_strobes { " fixed" } else { "" };
        let strobe = || format!("{}{early}", self.strobe.as_nanos());
        add("MUSTER_MPI_STROBE", is_coscheduled.then(strobe));
        add("MUSTER_MPI_DIGEST", self.digest.then(|| "1".to_owned()));
        add("MUSTER_MPI_RECORD", self.record.as_deref().map(absolute));
        add("MUSTER_MPI_REPLAY", self.replay.as_deref().map(absolute));
        all
    }
}
