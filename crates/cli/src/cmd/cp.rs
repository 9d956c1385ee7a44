//! `muster cp`: files between this machine and the cluster tree.

use super::{Usage, refused, umount};
use crate::cluster::Context;
use crate::progress::Progress;
use crate::run::say;
use crate::unnumbered;
use anyhow::{Result, anyhow, bail};
use muster_machine::manager::spec::{Phase, Status};
use muster_ninep::client::Client;
use muster_ninep::error::{Errno, Error};
use muster_ninep::record::{Attr, mode};
use muster_ninep::synthetic::MADE;
use muster_ninep::tree::OpenFlags;
use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Requests under way for a file whose bytes stay where they are.
const DEPTH: usize = 8;

/// Bytes that are moved at once.
const PIECE: usize = 1 << 20;

/// Copy files to, from or within the cluster tree.
///
/// A path of the cluster tree starts with a colon; all others are of this machine. (A file here
/// whose name starts with a colon is written ./:name.) Sources of the same name, as ranks leave
/// them on each node, are copied one by one, each into a directory of its own. What cannot be
/// copied is said, the rest is copied, and the exit status is 1. So it is if files were left out
/// that tell what happens, as a running job's output: these are copied only if they are named. Of
/// jobs that have ended output and status are copied.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster cp prog data.txt :/nodes/n1/3/fs/\n  \
                        muster cp :/nodes/n1/3/fs/core.17 .\n  \
                        muster cp -r :/nodes/n1/3/fs results")]
pub struct Args {
    /// What to copy, and last where to
    #[arg(required = true, num_args = 2.., value_names = ["SOURCE", "DESTINATION"])]
    paths: Vec<String>,
    /// Directories with all that is in them
    #[arg(short, long)]
    recursive: bool,
}

/// Symbolic links on the way to one file, at most, as for the kernel.
const LINKS_MAX: usize = 40;

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Place {
    Here(PathBuf),
    Cluster(String),
}

/// What is at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    directory: bool,
    mode: u32,
    size: u64,
    /// The file, whatever it is called; none outside of the cluster.
    qid: Option<u64>,
}

impl Found {
    /// Whether it is a file that tells what happens, such as a rank's output: it may wait for that,
    /// and what is read may be read by nobody else. Who names one wants it.
    fn is_made(&self) -> bool {
        !self.directory && self.qid.is_some_and(|path| path & MADE != 0)
    }
}

impl Place {
    fn read(text: &str) -> Place {
        match text.strip_prefix(':') {
            Some(path) => Place::Cluster(path.to_owned()),
            None => Place::Here(text.into()),
        }
    }

    fn join(&self, name: &str) -> Place {
        match self {
            Place::Here(path) => Place::Here(path.join(name)),
            Place::Cluster(path) => {
                Place::Cluster(format!("{}/{name}", path.trim_end_matches('/')))
            }
        }
    }

    /// The same place in the one way to write it that says nothing twice.
    fn plain(&self) -> Place {
        match self {
            Place::Here(path) => Place::Here(path.components().collect()),
            Place::Cluster(path) => Place::Cluster(format!("/{}", names_of(path).join("/"))),
        }
    }

    /// The last name, which the copy gets in a directory.
    fn name(&self) -> Option<String> {
        match self {
            Place::Here(path) => Some(path.file_name()?.to_str()?.to_owned()),
            Place::Cluster(path) => {
                let name = path.trim_end_matches('/').rsplit('/').next()?;
                (!name.is_empty() && name != "..").then(|| name.to_owned())
            }
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Here(path) => write!(f, "{}", path.display()),
            Place::Cluster(path) => write!(f, ":{path}"),
        }
    }
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let places: Vec<Place> = args.paths.iter().map(|path| Place::read(path)).collect();
    let (to, from) = places.split_last().expect("clap asks for two");
    check_colons(to, from)?;
    let (client, progress) = (context.connect()?, Progress::bytes(0));
    let (mounts, top) = (umount::devices()?, String::new());
    let (has_failed, jobs, left_out) = (false, HashMap::new(), 0);
    let mut copier = Copier { client, progress, total: 0, mounts, top, has_failed, jobs, left_out };
    let target = copier.find(to)?;
    let into = target.is_some_and(|found| found.directory);
    let slash = args.paths.last().is_some_and(|path| path.ends_with('/'));
    if !into && (from.len() > 1 || slash) {
        return Err(match (target, to) {
            (None, Place::Cluster(path)) => {
                let there = copier.deepest(path);
                anyhow!("{to} does not exist; see what is there: muster ls {there}  [E160]")
            }
            (None, _) => anyhow!("{to} does not exist; first: mkdir {to}  [E161]"),
            (Some(_), _) => anyhow!("{to} is no directory  [E160]"),
        });
    }
    let target = |source: &Place| match source.name().filter(|_| into) {
        Some(name) => to.join(&name),
        None => to.clone(),
    };
    check_targets(from, target)?;
    for source in from {
        if let Err(error) = copier.copy_named(source, &target(source), args.recursive) {
            copier.bear_named(error)?;
        }
    }
    Ok(copier.outcome())
}

struct Copier {
    client: Client,
    progress: Progress,
    /// Bytes that are known to be copied in all.
    total: u64,
    /// The devices of mounted clusters.
    mounts: Vec<u64>,
    /// What is copied with all that is in it, if that is of the cluster.
    top: String,
    /// Something could not be copied.
    has_failed: bool,
    /// Directories of jobs, and how much there is of what the job has said.
    jobs: HashMap<String, Output>,
    /// How many files were left out that tell what happens.
    left_out: usize,
}

/// What a file that is made up as it is read is worth to who has not named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// It does not change any more.
    Final,
    /// It tells nothing, or nothing that others do not tell.
    Nothing,
    /// It may wait for what happens, or change.
    Living,
}

/// What is kept of what a job has said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    /// It may say more.
    Living,
    All,
    /// The rest was shown by the muster run that started it.
    End,
    /// It was dropped.
    None,
}

/// Why nothing that follows can be copied either: of what the user has named, or at all.
#[derive(Debug)]
struct Last {
    said: String,
    of_all: bool,
}

impl std::fmt::Display for Last {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Last {}

impl Copier {
    /// The exit status; what has not been said yet is.
    fn outcome(&self) -> ExitCode {
        let (count, are) = match self.left_out {
            1 => ("1 file".to_owned(), "is"),
            count => (format!("{count} files"), "are"),
        };
        if self.left_out > 0 {
            say(&format!(
                "muster: {count} that told what happens {are} not copied; name what you want of it"
            ));
        }
        if self.has_failed || self.left_out > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }

    /// Copies what the user has named.
    fn copy_named(&mut self, source: &Place, target: &Place, recursive: bool) -> Result<()> {
        let no_file = || anyhow!("{source} leads to no file of the cluster  [E160]");
        let source = &self.followed(source, "").ok_or_else(no_file)?;
        let found = self.find(source)?.ok_or_else(|| anyhow!("{source} does not exist  [E160]"))?;
        if found.directory && !recursive {
            bail!("{source} is a directory: give -r to copy it with all that is in it  [E160]");
        }
        check_apart(source, target)?;
        for place in [source, target] {
            if self.is_mounted(place) {
                bail!(
                    "{place} is where a cluster is mounted; write it with a colon, as in \
                     :/nodes/n0/1/fs/FILE, or use cp  [E160]"
                );
            }
        }
        self.top = if let Place::Cluster(path) = source { path.clone() } else { String::new() };
        self.copy(source, target, found)
    }

    /// Says what could not be copied, and goes on as cp(1) does: unless nothing else could be
    /// copied either.
    fn bear(&mut self, error: anyhow::Error) -> Result<()> {
        if error.is::<Last>() || self.client.ended().is_some() {
            return Err(error);
        }
        self.has_failed = true;
        say(&format!("muster: {}", unnumbered(&format!("{error:#}"))));
        Ok(())
    }

    /// As [`Copier::bear`] for one of the sources: a node that does not answer keeps no other's.
    fn bear_named(&mut self, error: anyhow::Error) -> Result<()> {
        match error.downcast::<Last>() {
            Ok(last) if last.of_all => Err(last.into()),
            Ok(last) => self.bear(anyhow!(last.said)),
            Err(error) => self.bear(error),
        }
    }

    /// Whether what is here is in a mounted cluster, or would be: it may be the other end of the
    /// copy by another name, or hold it.
    fn is_mounted(&self, place: &Place) -> bool {
        let Place::Here(path) = place else { return false };
        let above = || match path.parent() {
            Some(above) if above.as_os_str().is_empty() => fs::metadata(Path::new(".")),
            Some(above) => fs::metadata(above),
            None => fs::metadata(path),
        };
        let is_ours = |meta: fs::Metadata| self.mounts.contains(&meta.dev());
        !self.mounts.is_empty() && fs::metadata(path).or_else(|_| above()).is_ok_and(is_ours)
    }

    fn find(&self, place: &Place) -> Result<Option<Found>> {
        match place {
            Place::Here(path) => match fs::metadata(path) {
                Ok(meta) => Ok(Some(Found {
                    directory: meta.is_dir(),
                    mode: meta.permissions().mode(),
                    size: meta.len(),
                    qid: None,
                })),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => bail!("{place}: {error}  [E161]"),
            },
            Place::Cluster(path) => match self.client.getattr(path) {
                Ok(Attr { qid, mode, size, .. }) => {
                    Ok(Some(Found { directory: qid.is_dir(), mode, size, qid: Some(qid.path) }))
                }
                Err(error) if error.errno == Errno::NOENT => Ok(None),
                Err(error) => Err(told(error)),
            },
        }
    }

    /// The deepest directory above a path that exists.
    fn deepest<'a>(&self, path: &'a str) -> &'a str {
        let mut path = path.trim_end_matches('/');
        while let Some((above, _)) = path.rsplit_once('/').filter(|(above, _)| !above.is_empty()) {
            path = above;
            if self.client.getattr(path).is_ok() {
                return path;
            }
        }
        "/"
    }

    fn copy(&mut self, from: &Place, to: &Place, found: Found) -> Result<()> {
        if !found.directory {
            return self.copy_file(from, to, found);
        }
        self.make_directory(to, found.mode)?;
        for name in self.names(from)? {
            let copied = name.and_then(|(name, link)| self.copy_within(from, to, &name, link));
            copied.or_else(|error| self.bear(error))?;
        }
        Ok(())
    }

    /// Copies what has this name in a directory.
    fn copy_within(&mut self, from: &Place, to: &Place, name: &str, link: bool) -> Result<()> {
        let (source, target) = (from.join(name), to.join(name));
        let end = if link { self.followed(&source, &self.top) } else { Some(source.clone()) };
        let found = end.as_ref().map_or(Ok(None), |end| self.find(end))?;
        // One that leads to a directory may lead back up, and round and round.
        let what = match (end, found) {
            _ if self.is_mounted(&source) => "where a cluster is mounted",
            (_, Some(inner)) if is_endless(inner.mode) => "a pipe, socket or device",
            (_, Some(inner)) if inner.is_made() => {
                match self.telling(&source)? {
                    Telling::Final => self.copy_file(&source, &target, inner)?,
                    Telling::Nothing => {}
                    Telling::Living => self.left_out += 1,
                }
                return Ok(());
            }
            (Some(end), Some(inner)) if !(link && inner.directory) => {
                return self.copy(&end, &target, inner);
            }
            (_, None) if !link => "gone meanwhile",
            _ => "a link",
        };
        let _ = writeln!(io::stderr(), "muster: {source} is {what}, not copied");
        Ok(())
    }

    /// What a file tells that is made up as it is read.
    fn telling(&mut self, place: &Place) -> Result<Telling> {
        const FINAL: [&str; 6] = ["spec", "status", "usage", "notes", "stdout", "stderr"];
        let Place::Cluster(path) = place else { return Ok(Telling::Living) };
        let Some((job, file)) = of_job(path) else {
            let makes_jobs = names_of(path).ends_with(&["jobs", "clone"]);
            return Ok(if makes_jobs { Telling::Nothing } else { Telling::Living });
        };
        let output = match self.jobs.get(&job) {
            Some(output) => *output,
            None => self.look_at(job)?,
        };
        Ok(match output {
            Output::Living => Telling::Living,
            Output::None if ["stdout", "stderr"].contains(&file) => Telling::Nothing,
            _ if FINAL.contains(&file) => Telling::Final,
            _ => Telling::Nothing,
        })
    }

    /// Sees how much there is of what a job has said, and tells it where that is not all.
    fn look_at(&mut self, job: String) -> Result<Output> {
        let status = self.client.read(&format!("{job}/status")).ok();
        let status = status.and_then(|text| serde_json::from_slice::<Status>(&text).ok());
        let output = match status {
            Some(status) if status.state != Phase::Done => Output::Living,
            None => Output::Living,
            Some(Status { dropped: Some(_), .. }) => Output::None,
            Some(Status { taken: 1.., .. }) => Output::End,
            Some(_) => Output::All,
        };
        match output {
            Output::None => self.bear(anyhow!("{job}: its output was dropped  [E164]"))?,
            Output::End => {
                let text = "of its output only the end is kept: muster run has had it  [N113]";
                self.bear(anyhow!("{job}: {text}"))?;
            }
            Output::Living | Output::All => {}
        }
        self.jobs.insert(job, output);
        Ok(output)
    }

    /// Where the links at a place lead, which in the cluster no server follows. None if that is
    /// nowhere below `top`: what a program has left there leads a copy to no other files.
    fn followed(&self, place: &Place, top: &str) -> Option<Place> {
        let Place::Cluster(path) = place else { return Some(place.clone()) };
        let mut path = path.clone();
        for _ in 0..LINKS_MAX {
            let attr = self.client.getattr(&path);
            if !attr.is_ok_and(|attr| attr.mode & mode::KIND == mode::LINK) {
                return Some(Place::Cluster(path));
            }
            let target = self.client.walk(&path).and_then(|link| link.readlink()).ok()?;
            path = led(&path, std::str::from_utf8(&target).ok()?)?;
            if !names_of(&path).starts_with(&names_of(top)) {
                return None;
            }
        }
        None
    }

    /// The names in a directory, and which are symbolic links.
    fn names(&self, place: &Place) -> Result<Vec<Result<(String, bool)>>> {
        match place {
            Place::Here(path) => {
                let entry = |entry: io::Result<fs::DirEntry>| {
                    let entry = entry.map_err(|error| failed(place, &error))?;
                    let name = entry.file_name().into_string();
                    let name =
                        name.map_err(|name| anyhow!("{place}: {name:?} is not text  [E161]"))?;
                    let kind = entry.file_type().map_err(|error| failed(place, &error))?;
                    Ok((name, kind.is_symlink()))
                };
                let entries = fs::read_dir(path).map_err(|error| failed(place, &error))?;
                Ok(entries.map(entry).collect())
            }
            Place::Cluster(path) => {
                let entries = self.client.readdir(path).map_err(told)?;
                let entry = |entry: muster_ninep::record::DirEntry| {
                    let link = u32::from(entry.kind) << 12 == mode::LINK;
                    let said = String::from_utf8_lossy(&entry.name).into_owned();
                    let name = String::from_utf8(entry.name).ok().filter(|name| is_plain(name));
                    let none = || anyhow!("{place} lists {said:?}, which is no name  [E160]");
                    Ok((name.ok_or_else(none)?, link))
                };
                Ok(entries.into_iter().map(entry).collect())
            }
        }
    }

    fn make_directory(&self, place: &Place, mode: u32) -> Result<()> {
        let made = self.find(place)?;
        if made.is_some_and(|found| found.directory) {
            return Ok(());
        }
        match place {
            Place::Here(path) => fs::create_dir(path).map_err(|error| failed(place, &error)),
            Place::Cluster(path) => self.client.mkdir(path, mode & 0o777 | 0o700).map_err(told),
        }
    }

    fn copy_file(&mut self, from: &Place, to: &Place, found: Found) -> Result<()> {
        // Two names of one file, as by a link or by `..`.
        let is_one = |other: Option<Found>| other.is_some_and(|other| other.qid == found.qid);
        if found.qid.is_some() && matches!(to, Place::Cluster(_)) && is_one(self.find(to)?) {
            bail!("{from} and {to} are the same; nothing was copied  [E160]");
        }
        let mut reader = self.reader(from, found)?;
        let mut writer = self.writer(to, found.mode)?;
        self.total += found.size;
        self.progress.name(from.to_string());
        self.progress.total(self.total);
        let mut buffer = vec![0; PIECE];
        loop {
            let count = match reader.read(&mut buffer) {
                Ok(0) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other.map_err(|error| failed(from, &error))?,
            };
            writer.write_all(&buffer[..count]).map_err(|error| failed(to, &error))?;
            self.progress.add(count as u64);
        }
        writer.flush().map_err(|error| failed(to, &error))
    }

    fn reader(&self, place: &Place, found: Found) -> Result<Box<dyn Read>> {
        match place {
            Place::Here(path) => {
                Ok(Box::new(fs::File::open(path).map_err(|error| failed(place, &error))?))
            }
            Place::Cluster(path) => {
                let file = self.client.open(path, OpenFlags::default()).map_err(told)?;
                // What has no size is made up as it is read, and must be read in order.
                // To ask a file that is made for what follows says that all before has come.
                let depth = if found.size > 0 && !found.is_made() { DEPTH } else { 1 };
                Ok(Box::new(file.with_depth(depth)))
            }
        }
    }

    fn writer(&self, place: &Place, mode: u32) -> Result<Box<dyn Write>> {
        match place {
            Place::Here(path) => {
                let mut options = fs::OpenOptions::new();
                options.write(true).create(true).truncate(true).mode(mode & 0o777);
                Ok(Box::new(options.open(path).map_err(|error| failed(place, &error))?))
            }
            Place::Cluster(path) => {
                let exists = self.find(place)?;
                let file = self.client.create(path, mode & 0o777).map_err(told)?;
                // Writes to a made up file, a job's input for instance, must come in order.
                let is_made = exists.is_some_and(|found| found.size == 0 || found.is_made());
                let depth = if is_made { 1 } else { DEPTH };
                Ok(Box::new(file.with_depth(depth)))
            }
        }
    }
}

/// The directory of the job, and the name, of a file that tells of a job or a rank of it.
fn of_job(path: &str) -> Option<(String, &str)> {
    let names = names_of(path);
    let (above, file) = match names[..] {
        [.., "ranks", _, file] => (&names[..names.len() - 3], file),
        [.., file] => (&names[..names.len() - 1], file),
        [] => return None,
    };
    let [.., "jobs", number] = above else { return None };
    number.parse::<u32>().is_ok().then(|| (format!("/{}", above.join("/")), file))
}

/// Whether what has this mode may have no end, or wait for somebody. Who names one wants it.
fn is_endless(mode: u32) -> bool {
    [mode::PIPE, mode::SOCKET, mode::CHAR, mode::BLOCK].contains(&(mode & mode::KIND))
}

/// Each copy has an end in the cluster: of two that are both here nobody looks after that they are
/// not the same, or one inside of the other.
fn check_colons(to: &Place, from: &[Place]) -> Result<()> {
    let is_here = |place: &&Place| matches!(place, Place::Here(_));
    if let Some(source) = from.iter().find(is_here).filter(|_| is_here(&to)) {
        let text = format!(
            "neither {source} nor {to} is of the cluster: put a colon before what is, as in \
             :/nodes/n0/1/fs/FILE, or use cp"
        );
        return Err(Usage(text).into());
    }
    Ok(())
}

/// What has been copied is not copied over: in a cluster files of different nodes have the same
/// name as a rule. The same file named twice is one copy.
fn check_targets(from: &[Place], target: impl Fn(&Place) -> Place) -> Result<()> {
    let mut known: HashMap<Place, &Place> = HashMap::new();
    for source in from {
        let target = target(source).plain();
        match known.get(&target) {
            Some(other) if other.plain() != source.plain() => bail!(
                "{other} and {source} would both be copied to {target}: copy each into a directory \
                 of its own, or to another name; nothing was copied  [E160]"
            ),
            _ => drop(known.insert(target, source)),
        }
    }
    Ok(())
}

/// What is copied onto itself would be emptied first, and a directory into itself has no end.
fn check_apart(from: &Place, to: &Place) -> Result<()> {
    let (Place::Cluster(source), Place::Cluster(target)) = (from, to) else { return Ok(()) };
    let (source, target) = (names_of(source), names_of(target));
    if source == target {
        bail!("{from} and {to} are the same; nothing was copied  [E160]");
    }
    if target.starts_with(&source) {
        bail!("{to} is inside of {from}, which cannot be copied into itself  [E160]");
    }
    Ok(())
}

/// The names of a path in the cluster, without those that say nothing or are taken back.
fn names_of(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names
}

/// Where a link leads, if its target tells: not one that begins at a root, which is another than
/// the cluster's, nor one that goes up from what may be a link itself.
fn led(link: &str, target: &str) -> Option<String> {
    let mut behind = target.split('/').skip_while(|name| matches!(*name, "" | "." | ".."));
    if target.starts_with('/') || behind.any(|name| name == "..") {
        return None;
    }
    let (above, _) = link.trim_end_matches('/').rsplit_once('/').unwrap_or_default();
    Some(format!("/{}", names_of(&format!("{above}/{target}")).join("/")))
}

/// Whether a name that a server lists is one: it must not lead elsewhere.
fn is_plain(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

/// A refusal by a file of the cluster. Who does not answer, or has died, does not answer for the
/// next file.
fn told(error: Error) -> anyhow::Error {
    let of_all = [Errno::NOSPC, Errno::DQUOT, Errno::ROFS].contains(&error.errno);
    let is_last = of_all || [Errno::TIMEDOUT, Errno::HOSTDOWN].contains(&error.errno);
    let said = refused(error);
    if is_last { Last { said: said.to_string(), of_all }.into() } else { said }
}

fn failed(place: &Place, error: &io::Error) -> anyhow::Error {
    use io::ErrorKind::{QuotaExceeded, StorageFull, TimedOut};
    let said = match place {
        Place::Cluster(_) if error.kind() == StorageFull => {
            format!("{place}: its disk is full, and the copy is not whole; make room there  [E160]")
        }
        // The sentence of a 9P error names the path.
        Place::Cluster(_) => format!("{error}  [E160]"),
        Place::Here(path) => format!("{}: {error}  [E161]", path.display()),
    };
    match error.kind() {
        QuotaExceeded | StorageFull => Last { said, of_all: true }.into(),
        TimedOut => Last { said, of_all: false }.into(),
        _ => anyhow!(said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_makes_a_path_of_the_cluster() {
        let place = Place::read(":/nodes/n1/fs/");
        assert_eq!(place, Place::Cluster("/nodes/n1/fs/".into()));
        assert_eq!(place.join("x").to_string(), ":/nodes/n1/fs/x");
        assert_eq!(place.name().as_deref(), Some("fs"));
        assert_eq!(Place::read(":").name(), None);
        assert_eq!(Place::read("./:x"), Place::Here("./:x".into()));
        assert_eq!(Place::read("a/..").name(), None);
    }

    #[test]
    fn a_server_cannot_lead_a_copy_elsewhere() {
        for name in ["", ".", "..", "a/b", "/etc", "a\0"] {
            assert!(!is_plain(name), "{name:?}");
        }
        assert!(is_plain("...") && is_plain("a b"));
    }

    #[test]
    fn a_link_leads_where_its_target_says() {
        for (link, target, end) in [
            ("/fs/d/l", "f", Some("/fs/d/f")),
            ("/fs/d/l/", "./e/f", Some("/fs/d/e/f")),
            ("/fs/d/l", "../f", Some("/fs/f")),
            ("l", "f", Some("/f")),
            ("/fs/d/l", "/fs/f", None),
            ("/fs/d/l", "e/../f", None),
        ] {
            assert_eq!(led(link, target).as_deref(), end, "{link} {target}");
        }
    }

    #[test]
    fn files_of_jobs_are_known_by_their_place() {
        for (path, job) in [
            ("/jobs/3/stdout", Some(("/jobs/3", "stdout"))),
            ("jobs/3/ranks/0/wait", Some(("/jobs/3", "wait"))),
            ("/views/a/clusters/big/jobs/3/ctl", Some(("/views/a/clusters/big/jobs/3", "ctl"))),
            ("/jobs/clone", None),
            ("/nodes/n0/3/stdout", None),
            ("/", None),
        ] {
            let job = job.map(|(job, file)| (job.to_owned(), file));
            assert_eq!(of_job(path), job, "{path}");
        }
    }

    /// Once a file that was named beside one of the cluster was emptied where it was copied to its
    /// own place.
    #[test]
    fn of_each_copy_an_end_is_in_the_cluster() {
        let check = |to: &str, from: &[&str]| {
            let from: Vec<Place> = from.iter().map(|path| Place::read(path)).collect();
            check_colons(&Place::read(to), &from)
        };
        for from in [&["a"][..], &[":/a", "b"], &["b", ":/a"]] {
            assert!(check(".", from).expect_err("here and here").is::<Usage>());
        }
        check(".", &[":/a", ":/b"]).expect("from the cluster");
        check(":/a", &["a", ":/b"]).expect("to the cluster");
    }

    #[test]
    fn of_two_sources_of_one_name_none_is_copied_over_the_other() {
        let check = |from: &[&str]| {
            let from: Vec<Place> = from.iter().map(|path| Place::read(path)).collect();
            let into = Place::read("res/");
            let target = |source: &Place| into.join(&source.name().expect("a name"));
            check_targets(&from, target).map_err(|error| error.to_string())
        };
        for from in [[":/nodes/n0/3/fs", ":/nodes/n1/3/fs/"], ["a/out", "b/./out"]] {
            let said = check(&from).expect_err(from[0]);
            assert!(said.contains("copied to res/") && said.contains("directory of its"), "{said}");
        }
        check(&[":/nodes/n0/3/fs/a", ":/nodes/n0/3/fs/b", "c"]).expect("three names");
        check(&["a/out", "a//out", ":/a", "://b/../a/"]).expect("a file that is named twice");
    }

    #[test]
    fn nothing_is_copied_onto_itself_or_into_itself() {
        let apart = |from: &str, to: &str| {
            let said = check_apart(&Place::read(from), &Place::read(to));
            said.map_err(|error| error.to_string())
        };
        let same = apart(":/nodes/n0/1/fs/a", "://nodes/n0/./1/fs/a/").unwrap_err();
        assert!(same.contains("the same"), "{same}");
        let inside = apart(":/nodes/n0/1/fs", ":/nodes/n0/1/fs/b").unwrap_err();
        assert!(inside.contains("into itself"), "{inside}");
        for (from, to) in [(":/a", ":/ab"), (":/a/b", ":/a"), ("a", ":a"), (":a", "a")] {
            apart(from, to).expect(from);
        }
    }
}
