//! In which order the messages of an MPI program are taken: what `muster run` has the ranks do.

use super::failure::{Failure, exit};
use muster_base::span;
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Slices of `--mpi=bcs` if nothing is said.
const STROBE: Duration = Duration::from_micros(20);
/// The shortest: a strobe takes some of it itself.
const STROBE_MIN: Duration = Duration::from_micros(1);

fn strobe(text: &str) -> Result<Duration, String> {
    match span::parse(text)? {
        length if length < STROBE_MIN => Err("a slice is 1us at least; 20us if not given".into()),
        length => Ok(length),
    }
}

/// When messages go, and in which order they are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// At once, in the order in which they come
    #[default]
    #[value(aliases = ["none", "openmpi", "pmi2", "pmix", "pmix_v3", "pmix_v4", "pmix_v5"])]
    Direct,
    /// Buffered and coscheduled: at strobes, in an order that the program alone determines
    Bcs,
}

/// The flags for it.
#[derive(Clone, Debug, clap::Args)]
pub struct Wanted {
    /// How MPI programs exchange messages
    ///
    /// With bcs (buffered coscheduled) a run of a program is like every other: which message a
    /// receive from any source gets, and what tests and probes tell, is determined by the order of
    /// ranks and calls, not by the time at which messages come. A call whose answer could still
    /// change waits until all ranks wait.
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    mpi: Mode,

    /// Length of the slices at whose beginnings ranks exchange messages with --mpi=bcs; 20us if not
    /// given
    #[arg(long, value_name = "TIME", value_parser = strobe)]
    strobe: Option<Duration>,

    /// Keep to the strobes with --mpi=bcs also when all ranks of a node wait
    #[arg(long)]
    fixed_strobes: bool,

    /// Print a digest of all messages that were received, and of what calls were told
    ///
    /// Two runs of an MPI program with the same digest were the same.
    #[arg(long)]
    digest: bool,

    /// Write to FILE in which order an MPI program's messages were taken
    ///
    /// Rank 0 makes the file in MPI_Init, where the others wait for that, and writes it when all
    /// have ended, in MPI_Finalize: of a run that fails between there is an empty file, which
    /// --replay refuses.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Have an MPI program's messages taken in the order that --record has written to FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "mpi"])]
    replay: Option<PathBuf>,
}

/// Looks whether a file can be written, or made.
fn can_be_written(path: &Path) -> Result<(), Failure> {
    let refused = |text| Failure::new("E140", exit::USAGE, format!("--record: {text}"));
    if path.is_dir() {
        return Err(refused(format!("{0} is a directory. Name a file: {0}/FILE", path.display())));
    }
    let parent = path.parent().unwrap_or(Path::new(""));
    let dir = Path::new(".").join(parent);
    if !dir.is_dir() {
        let parent = parent.display();
        return Err(refused(format!("{parent}: no such directory. First: mkdir -p {parent}")));
    }
    let written = if path.exists() { path } else { &dir };
    access(written, Access::WRITE_OK).map_err(|error| {
        let why = super::said(&error.into());
        refused(format!("{} cannot be written: {why}", path.display()))
    })
}

impl Wanted {
    /// Looks for flags that would do nothing.
    ///
    /// # Errors
    /// The first of them.
    pub fn look(&self) -> Result<(), Failure> {
        let asked = [("--strobe", self.strobe.is_some()), ("--fixed-strobes", self.fixed_strobes)];
        match asked.iter().find(|(_, is_asked)| *is_asked) {
            Some((flag, _)) if self.mpi != Mode::Bcs => {
                let text = format!("{flag}: only --mpi=bcs has strobes. Add it, or omit {flag}");
                Err(Failure::new("E100", exit::USAGE, text))
            }
            _ => Ok(()),
        }
    }

    /// Looks for the files that rank 0 is to write or read, where it runs on this machine.
    ///
    /// # Errors
    /// The one that cannot be.
    pub fn look_at_files(&self) -> Result<(), Failure> {
        if let Some(path) = &self.record {
            can_be_written(path)?;
        }
        let Some(path) = &self.replay else { return Ok(()) };
        let why = match path.metadata() {
            Ok(meta) if meta.is_dir() => "is a directory".to_owned(),
            Ok(_) => return Ok(()),
            Err(error) => super::said(&error),
        };
        let text = format!("--replay {}: {why}. Use what --record has written", path.display());
        Err(Failure::new("E100", exit::USAGE, text))
    }

    /// Whether rank 0 writes or reads a file.
    pub fn has_files(&self) -> bool {
        self.record.is_some() || self.replay.is_some()
    }

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
        let strobe = || format!("{}{early}", self.strobe.unwrap_or(STROBE).as_nanos());
        add("MUSTER_MPI_STROBE", is_coscheduled.then(strobe));
        add("MUSTER_MPI_DIGEST", self.digest.then(|| "1".to_owned()));
        add("MUSTER_MPI_RECORD", self.record.as_deref().map(absolute));
        add("MUSTER_MPI_REPLAY", self.replay.as_deref().map(absolute));
        all
    }
}
