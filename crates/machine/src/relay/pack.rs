//! Local files become a relay stream.
//!
//! First a [`Load`] is listed: every file, directory and link that is to be sent, with its size,
//! so that what cannot be sent is refused before anything is, and a progress bar knows the
//! whole. Then [`Load::stream`] reads the files, one part after the other. A file that has
//! another size by then ends the stream with an error: half of a file must not run.
//!
//! [`Load::stream_known`] tells longer files by their chunks only, and lists where those are found.

use super::format::{Header, PATH_MAX, RECORDS_MAX, is_safe_path};
use super::recipe::Recipes;
use crate::chunk::{self, Hash};
use muster_base::limits::{JOB_CHUNKS_MAX, RECIPE_MAX};
use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a chunk at most.
pub const CHUNK_MAX: usize = 256 * 1024;

/// Bytes of a file that is sent with its record: to ask who has it would cost as much.
const INLINE_MAX: u64 = 4096;

/// Why local files cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The system's word on a file.
    #[error("{path}: {why}", path = .0.display(), why = said(.1))]
    Io(PathBuf, #[source] io::Error),
    /// A socket, device or pipe.
    #[error("{path}: this is {1}, which cannot be sent", path = .0.display())]
    Kind(PathBuf, &'static str),
    /// A name that the stream cannot carry.
    #[error("{path}: no name that can be sent (UTF-8, no newline)", path = .0.display())]
    Name(PathBuf),
    /// Two things under one name.
    #[error("{path}: another file is sent under the name {1}", path = .0.display())]
    Twice(PathBuf, String),
    /// The file is another one than when it was listed.
    #[error("{path}: changed while it was sent (it had {1} bytes, then {2})", path = .0.display())]
    Changed(PathBuf, u64, String),
    /// It says something else than when it was looked at.
    #[error("{path}: changed while it was sent", path = .0.display())]
    Written(PathBuf),
    /// Too many files.
    #[error("{path}: more than {RECORDS_MAX} files cannot be sent", path = .0.display())]
    Many(PathBuf),
}

/// The system's sentence without the number that Rust adds.
fn said(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

#[derive(Debug, Clone)]
enum Kind {
    Dir,
    Link(Vec<u8>),
    File(u64),
}

#[derive(Debug, Clone)]
struct Entry {
    source: PathBuf,
    /// Where it goes.
    name: String,
    mode: u32,
    kind: Kind,
    /// The processor of the nodes that it is for, if not for all.
    arch: Option<&'static str>,
}

/// What is to be sent.
#[derive(Debug, Default)]
pub struct Load {
    texts: Vec<u8>,
    entries: Vec<Entry>,
    /// The names, and the processors that what has them is for.
    names: HashMap<String, Vec<Option<&'static str>>>,
    /// What is added now is for nodes of this processor.
    arch: Option<&'static str>,
    /// What was added by [`Load::add`]: device, inode and name.
    added: HashSet<(u64, u64, String)>,
    bytes: u64,
}

impl Load {
    /// Nothing yet.
    pub fn new() -> Load {
        Load::default()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.entries.is_empty()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The sessions' `argv`.
    pub fn argv(&mut self, text: &str) {
        Header::Argv(text.len()).write(&mut self.texts);
        self.texts.extend_from_slice(text.as_bytes());
    }

    /// The sessions' `env`.
    pub fn env(&mut self, text: &str) {
        Header::Env(text.len()).write(&mut self.texts);
        self.texts.extend_from_slice(text.as_bytes());
    }

    /// Adds a file, or a directory with everything in it, under its last name, which is
    /// returned. If `source` itself is a link, what it points to is sent; links inside a
    /// directory stay links. Adding the same again, as a program that is also named as a file, adds
    /// nothing.
    ///
    /// # Errors
    /// [`PackError`] says what cannot be sent and why.
    pub fn add(&mut self, source: &Path) -> Result<String, PackError> {
        let name = name_of(source)?;
        self.add_as(source, &name)?;
        Ok(name)
    }

    /// The same under another name.
    ///
    /// # Errors
    /// [`PackError`] says what cannot be sent and why.
    pub fn add_as(&mut self, source: &Path, name: &str) -> Result<(), PackError> {
        let meta = fs::metadata(source).map_err(at(source))?;
        if self.added.insert((meta.dev(), meta.ino(), name.to_owned())) {
            self.add_tree(source, name, &meta)?;
        }
        Ok(())
    }

    /// What is added from now on is for nodes of this processor; none: for all.
    pub fn only_for(&mut self, arch: Option<&'static str>) {
        self.arch = arch;
    }

    /// Adds a file or a whole directory.
    fn add_tree(&mut self, source: &Path, name: &str, meta: &Metadata) -> Result<(), PackError> {
        self.add_one(source, name, meta)?;
        if meta.is_dir() { self.add_below(source, name) } else { Ok(()) }
    }

    /// Adds a file under another name, in a directory, for reading only: a node has one for all who
    /// get it.
    ///
    /// # Errors
    /// [`PackError`] says what cannot be sent and why.
    pub fn add_shared(&mut self, source: &Path, dir: &str, name: &str) -> Result<(), PackError> {
        if !self.names.get(dir).is_some_and(|arches| arches.contains(&self.arch)) {
            let above = source.parent().filter(|above| *above != Path::new(""));
            let above = above.unwrap_or(Path::new("."));
            self.add_one(above, dir, &fs::metadata(above).map_err(at(above))?)?;
            // Programs are looked for there first: only its owner may write to it.
            if let Some(entry) = self.entries.last_mut() {
                entry.mode = 0o755;
            }
        }
        self.add_one(source, &format!("{dir}/{name}"), &fs::metadata(source).map_err(at(source))?)?;
        if let Some(entry) = self.entries.last_mut() {
            entry.mode = 0o555;
        }
        Ok(())
    }

    /// Adds everything in a directory under its own names; links stay links.
    ///
    /// # Errors
    /// [`PackError`] says what cannot be sent and why.
    pub fn add_contents(&mut self, source: &Path) -> Result<(), PackError> {
        self.add_below(source, "")
    }

    /// Goes through a tree, without recursion: its depth is the user's.
    fn add_below(&mut self, source: &Path, name: &str) -> Result<(), PackError> {
        let mut pending = vec![(source.to_owned(), name.to_owned())];
        while let Some((dir, name)) = pending.pop() {
            let listed = fs::read_dir(&dir).map_err(at(&dir))?;
            let listed: io::Result<Vec<fs::DirEntry>> = listed.collect();
            let mut listed = listed.map_err(at(&dir))?;
            // The same tree is the same stream.
            listed.sort_unstable_by_key(fs::DirEntry::file_name);
            for entry in listed {
                let source = entry.path();
                let last = entry.file_name();
                let last = last.to_str().ok_or_else(|| PackError::Name(source.clone()))?;
                let name = match &name[..] {
                    "" => last.to_owned(),
                    above => format!("{above}/{last}"),
                };
                let meta = entry.metadata().map_err(at(&source))?;
                self.add_one(&source, &name, &meta)?;
                if meta.is_dir() {
                    pending.push((source, name));
                }
            }
        }
        Ok(())
    }

    fn add_one(&mut self, source: &Path, name: &str, meta: &Metadata) -> Result<(), PackError> {
        if !is_safe_path(name) {
            return Err(PackError::Name(source.into()));
        }
        // Texts, processors and the end are records as well.
        if self.entries.len() >= RECORDS_MAX as usize - 64 {
            return Err(PackError::Many(source.into()));
        }
        let arches = self.names.entry(name.to_owned()).or_default();
        let is_same =
            |arch: &Option<_>| arch.is_none() || self.arch.is_none() || *arch == self.arch;
        if arches.iter().any(is_same) {
            return Err(PackError::Twice(source.into(), name.into()));
        }
        arches.push(self.arch);
        let mut mode = meta.mode() & 0o777;
        let kind = if meta.is_dir() {
            // Else nothing could be put into it.
            mode |= 0o700;
            Kind::Dir
        } else if meta.is_symlink() {
            let target = fs::read_link(source).map_err(at(source))?;
            let target = target.as_os_str().as_bytes().to_owned();
            if target.is_empty() || target.len() > PATH_MAX {
                return Err(PackError::Name(source.into()));
            }
            Kind::Link(target)
        } else if meta.is_file() {
            self.bytes = self.bytes.saturating_add(meta.len());
            Kind::File(meta.len())
        } else {
            return Err(PackError::Kind(source.into(), kind_name(meta)));
        };
        let (source, name, arch) = (source.into(), name.into(), self.arch);
        self.entries.push(Entry { source, name, mode, kind, arch });
        Ok(())
    }

    /// The stream.
    pub fn stream(self) -> Packer {
        let (out, entries) = (self.texts, self.entries.into_iter());
        Packer { out, entries, arch: None, file: None, known: None, ended: false, sent: 0 }
    }

    /// The stream without the bytes of longer files; [`Packer::into_chunks`] tells then what is
    /// left to be sent.
    pub fn stream_known(self, recipes: Recipes) -> Packer {
        let known = Known { recipes, seen: HashSet::new(), chunks: Vec::new() };
        Packer { known: Some(known), ..self.stream() }
    }
}

/// Where a chunk is found.
#[derive(Debug, Clone)]
pub struct Source {
    path: PathBuf,
    offset: u64,
    /// What they hash to.
    hash: Hash,
    /// Its bytes.
    pub length: usize,
}

impl Source {
    /// Reads it.
    ///
    /// # Errors
    /// [`PackError`] when the file cannot be read, or has changed.
    pub fn read(&self, bytes: &mut Vec<u8>) -> Result<(), PackError> {
        let file = open(&self.path)?;
        bytes.resize(self.length, 0);
        file.read_exact_at(bytes, self.offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let had = self.offset + self.length as u64;
                PackError::Changed(self.path.clone(), had, "fewer".to_owned())
            }
            _ => PackError::Io(self.path.clone(), error),
        })?;
        // Nodes would say that it is corrupt, and do not know which file it is of.
        match Hash::of(bytes) == self.hash {
            true => Ok(()),
            false => Err(PackError::Written(self.path.clone())),
        }
    }
}

/// Opens a file; a pipe that was put in its place since does not hold us up.
fn open(path: &Path) -> Result<File, PackError> {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC);
    options.open(path).map_err(at(path))
}

/// The files that are told by their chunks.
#[derive(Debug)]
struct Known {
    recipes: Recipes,
    seen: HashSet<Hash>,
    chunks: Vec<Source>,
}

/// The last name of a path.
fn name_of(source: &Path) -> Result<String, PackError> {
    let name = match source.file_name() {
        Some(name) => name.to_owned(),
        // `.`, `dir/..`: the directory's own name.
        None => {
            let full = source.canonicalize().map_err(at(source))?;
            full.file_name().ok_or_else(|| PackError::Name(source.into()))?.to_owned()
        }
    };
    let name = name.to_str().ok_or_else(|| PackError::Name(source.into()))?;
    Ok(name.to_owned())
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> PackError + '_ {
    move |error| PackError::Io(path.to_owned(), error)
}

fn kind_name(meta: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = meta.file_type();
    match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

/// A file that is being sent.
#[derive(Debug)]
struct Sending {
    source: PathBuf,
    file: File,
    size: u64,
    left: u64,
}

/// The stream of a [`Load`], chunk by chunk.
#[derive(Debug)]
pub struct Packer {
    /// What the next chunk starts with.
    out: Vec<u8>,
    entries: std::vec::IntoIter<Entry>,
    /// What the stream has last said whom things are for.
    arch: Option<&'static str>,
    file: Option<Sending>,
    known: Option<Known>,
    ended: bool,
    sent: u64,
}

impl Packer {
    /// The different chunks of the files that were told by their chunks, in order.
    pub fn into_chunks(self) -> Vec<Source> {
        self.known.map_or_else(Vec::new, |known| known.chunks)
    }

    /// Bytes of files in the chunks so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Puts the next chunk, of [`CHUNK_MAX`] bytes at most, into `chunk`; false at the end of
    /// the stream.
    ///
    /// # Errors
    /// [`PackError`] when a file cannot be read or has changed. The stream cannot go on then.
    pub fn next_chunk(&mut self, chunk: &mut Vec<u8>) -> Result<bool, PackError> {
        chunk.clear();
        while self.out.len() < CHUNK_MAX {
            if self.file.is_some() {
                self.read_on()?;
            } else if let Some(entry) = self.entries.next() {
                self.begin(entry)?;
            } else {
                if !self.ended {
                    Header::End.write(&mut self.out);
                    self.ended = true;
                }
                break;
            }
        }
        // Headers and texts are appended whole, so there may be more than one chunk of them.
        let most = self.out.len().min(CHUNK_MAX);
        let rest = self.out.split_off(most);
        chunk.append(&mut self.out);
        self.out = rest;
        Ok(!chunk.is_empty())
    }

    fn begin(&mut self, entry: Entry) -> Result<(), PackError> {
        if entry.arch != self.arch {
            self.arch = entry.arch;
            Header::Arch(entry.arch.map(str::to_owned)).write(&mut self.out);
        }
        match entry.kind {
            Kind::Dir => Header::Dir(entry.mode, entry.name).write(&mut self.out),
            Kind::Link(target) => {
                Header::Link(target.len(), entry.name).write(&mut self.out);
                self.out.extend_from_slice(&target);
            }
            Kind::File(size) => {
                let file = open(&entry.source)?;
                let now = file.metadata().map_err(at(&entry.source))?;
                if !now.is_file() || now.len() != size {
                    let now = now.len().to_string();
                    return Err(PackError::Changed(entry.source, size, now));
                }
                if self.is_told(size) {
                    return self.tell(entry.source, entry.name, entry.mode, (&file, &now));
                }
                Header::File(entry.mode, size, entry.name).write(&mut self.out);
                self.file = Some(Sending { source: entry.source, file, size, left: size });
            }
        }
        Ok(())
    }

    /// Whether a file of this length is told by its chunks.
    fn is_told(&self, size: u64) -> bool {
        let chunks = chunk::count(size) as usize;
        let fits = |known: &Known| known.chunks.len() + chunks <= JOB_CHUNKS_MAX;
        let is_short = size <= INLINE_MAX || chunks * chunk::HASH > RECIPE_MAX;
        self.known.as_ref().is_some_and(fits) && !is_short
    }

    /// Tells a file by its chunks.
    fn tell(
        &mut self,
        source: PathBuf,
        name: String,
        mode: u32,
        (file, meta): (&File, &Metadata),
    ) -> Result<(), PackError> {
        let Some(known) = &mut self.known else { return Ok(()) };
        let recipe = known.recipes.of(file, meta).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                PackError::Changed(source.clone(), meta.len(), "fewer".to_owned())
            }
            _ => PackError::Io(source.clone(), error),
        })?;
        Header::Known(mode, recipe.size, name).write(&mut self.out);
        for (hash, offset, length) in recipe.pieces() {
            self.out.extend_from_slice(&hash.0);
            if known.seen.insert(hash) {
                known.chunks.push(Source { path: source.clone(), offset, hash, length });
            }
        }
        Ok(())
    }

    /// Reads on in the file that is being sent, up to a full chunk.
    fn read_on(&mut self) -> Result<(), PackError> {
        let Some(sending) = &mut self.file else { return Ok(()) };
        let room = CHUNK_MAX.saturating_sub(self.out.len()) as u64;
        let asked = room.min(sending.left);
        let read = (&sending.file).take(asked).read_to_end(&mut self.out);
        let read = read.map_err(at(&sending.source))? as u64;
        sending.left -= read;
        self.sent += read;
        let changed = |now: String| PackError::Changed(sending.source.clone(), sending.size, now);
        if read < asked {
            return Err(changed((sending.size - sending.left).to_string()));
        }
        if sending.left == 0 {
            let mut more = [0];
            if sending.file.read(&mut more).map_err(at(&sending.source))? > 0 {
                return Err(changed("more".into()));
            }
            self.file = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::format::{BadStream, Parser, Sink};
    use crate::scratch::Scratch;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A directory that goes with the test.
    /// One line for each thing told, and how many bytes of data.
    #[derive(Default)]
    struct Lines(Vec<String>, usize);

    impl Sink for Lines {
        type Error = BadStream;
        fn argv(&mut self, text: &str) -> Result<(), BadStream> {
            self.0.push(format!("argv {text}"));
            Ok(())
        }
        fn env(&mut self, text: &str) -> Result<(), BadStream> {
            self.0.push(format!("env {text}"));
            Ok(())
        }
        fn arch(&mut self, arch: Option<&str>) -> Result<(), BadStream> {
            self.0.push(format!("arch {arch:?}"));
            Ok(())
        }
        fn dir(&mut self, path: &str, mode: u32) -> Result<(), BadStream> {
            self.0.push(format!("dir {path} {mode:o}"));
            Ok(())
        }
        fn link(&mut self, path: &str, target: &[u8]) -> Result<(), BadStream> {
            self.0.push(format!("link {path} {}", String::from_utf8_lossy(target)));
            Ok(())
        }
        fn file(&mut self, path: &str, mode: u32, size: u64) -> Result<(), BadStream> {
            self.0.push(format!("file {path} {mode:o} {size}"));
            Ok(())
        }
        fn data(&mut self, bytes: &[u8]) -> Result<(), BadStream> {
            self.1 += bytes.len();
            Ok(())
        }
        fn end(&mut self) -> Result<(), BadStream> {
            self.0.push("end".into());
            Ok(())
        }
    }

    fn told(load: Load) -> Result<Lines, PackError> {
        let (mut packer, mut parser) = (load.stream(), Parser::default());
        let (mut lines, mut chunk) = (Lines::default(), Vec::new());
        while packer.next_chunk(&mut chunk)? {
            assert!(chunk.len() <= CHUNK_MAX);
            parser.push(&chunk, &mut lines).unwrap();
        }
        parser.finish().unwrap();
        assert_eq!(lines.1 as u64, packer.sent());
        Ok(lines)
    }

    #[test]
    fn a_tree_is_sent_as_it_is() {
        let dir = Scratch::new("pack-tree");
        let tree = dir.join("in put");
        fs::create_dir_all(tree.join("deep/er")).unwrap();
        dir.file("in put/b", &vec![7; 3 * CHUNK_MAX + 5]);
        dir.file("in put/deep/a", b"");
        symlink("../b", tree.join("deep/l")).unwrap();
        let program = dir.file("prog", b"#!/bin/sh\n");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
        fs::set_permissions(tree.join("deep/er"), fs::Permissions::from_mode(0o500)).unwrap();
        for path in ["in put", "in put/deep", "in put/b", "in put/deep/a"] {
            let mode = if path.ends_with(['b', 'a']) { 0o640 } else { 0o755 };
            fs::set_permissions(dir.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        let mut load = Load::new();
        assert!(load.is_empty());
        load.argv("./prog 'x y'");
        assert_eq!(load.add(&program).unwrap(), "prog");
        assert_eq!(load.add(&tree).unwrap(), "in put");
        assert_eq!(load.bytes(), 3 * CHUNK_MAX as u64 + 15);
        let lines = told(load).unwrap();
        let big = 3 * CHUNK_MAX + 5;
        let expected = [
            "argv ./prog 'x y'".to_owned(),
            "file prog 755 10".to_owned(),
            "dir in put 755".to_owned(),
            format!("file in put/b 640 {big}"),
            "dir in put/deep 755".to_owned(),
            "file in put/deep/a 640 0".to_owned(),
            "dir in put/deep/er 700".to_owned(),
            "link in put/deep/l ../b".to_owned(),
            "end".to_owned(),
        ];
        assert_eq!(lines.0, expected);
    }

    #[test]
    fn what_is_shared_has_a_directory_and_nobody_writes_to_it() {
        let dir = Scratch::new("pack-shared");
        let (one, two) = (dir.file("libq.so.1.2", b"1"), dir.file("libz.so", b"22"));
        let mut load = Load::new();
        load.add_shared(&one, ".libs", "libq.so.1").unwrap();
        load.add_shared(&two, ".libs", "libz.so").unwrap();
        let lines = told(load).unwrap().0;
        assert_eq!(lines[0], "dir .libs 755");
        assert_eq!(lines[1..], ["file .libs/libq.so.1 555 1", "file .libs/libz.so 555 2", "end"]);
        let mut load = Load::new();
        load.add_shared(&one, ".libs", "same").unwrap();
        assert!(load.add_shared(&two, ".libs", "same").is_err());
        assert!(load.add_shared(&two, ".libs", "../same").is_err());
    }

    #[test]
    fn what_is_for_some_nodes_may_have_a_name_of_what_is_for_others() {
        let dir = Scratch::new("pack-arches");
        let file = |name: &str, content: &[u8]| {
            let path = dir.file(name, content);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            path
        };
        let (one, two) = (file("heat.x86_64", b"1"), file("heat.arm", b"22"));
        let mut load = Load::new();
        load.only_for(Some("x86_64"));
        load.add_as(&one, "heat").unwrap();
        load.only_for(Some("arm"));
        load.add_as(&two, "heat").unwrap();
        load.only_for(None);
        assert!(matches!(load.add_as(&file("heat", b"3"), "heat"), Err(PackError::Twice(..))));
        load.add(&file("data", b"4")).unwrap();
        let said = |name: &str, bytes: usize| format!("file {name} 644 {bytes}");
        let lines: Vec<String> = told(load).unwrap().0;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (first, second, third) = (said("heat", 1), said("heat", 2), said("data", 1));
        let arches = ["arch Some(\"x86_64\")", "arch Some(\"arm\")", "arch None"];
        assert_eq!(lines, [arches[0], &first, arches[1], &second, arches[2], &third, "end"]);
    }

    #[test]
    fn a_text_longer_than_a_chunk_is_cut() {
        let mut load = Load::new();
        let text = "x".repeat(2 * CHUNK_MAX);
        load.env(&text);
        assert_eq!(told(load).unwrap().0, [format!("env {text}"), "end".into()]);
    }

    #[test]
    fn what_cannot_be_sent_is_named() {
        let dir = Scratch::new("pack-bad");
        let one = dir.file("one", b"1");
        let mut load = Load::new();
        load.add(&one).unwrap();
        load.add(&one).unwrap();
        assert_eq!(load.bytes(), 1, "the same file goes once");
        let other = Scratch::new("pack-other");
        let error = load.add(&other.file("one", b"2")).unwrap_err().to_string();
        assert!(error.ends_with("one: another file is sent under the name one"), "{error}");
        let error = load.add(&dir.join("none")).unwrap_err().to_string();
        assert!(error.ends_with("none: No such file or directory"), "{error}");
        let error = load.add(Path::new("/dev/null")).unwrap_err().to_string();
        assert!(error.ends_with("this is a device, which cannot be sent"), "{error}");
        let strange = dir.file("new\nline", b"");
        assert!(matches!(load.add(&strange), Err(PackError::Name(_))));
    }

    #[test]
    fn a_file_that_changes_ends_the_stream() {
        let dir = Scratch::new("pack-change");
        let size = 2 * CHUNK_MAX;
        for (after, said) in [(size + 1, "then more"), (size / 2, "then 262144")] {
            let path = dir.file("f", &vec![0; size]);
            let mut load = Load::new();
            load.add(&path).unwrap();
            let (mut packer, mut chunk) = (load.stream(), Vec::new());
            assert!(packer.next_chunk(&mut chunk).unwrap());
            let grown = File::options().write(true).open(&path).unwrap();
            grown.set_len(after as u64).unwrap();
            let error = loop {
                match packer.next_chunk(&mut chunk) {
                    Ok(more) => assert!(more, "the stream ended well"),
                    Err(error) => break error.to_string(),
                }
            };
            assert!(error.contains(said), "{error}");
            let mut load = Load::new();
            load.add(&path).unwrap();
            dir.file("f", b"other");
            assert!(told(load).err().unwrap().to_string().contains("then 5"));
        }
    }

    /// It was sent, and each node said of a file without a name that it was corrupt.
    #[test]
    fn a_file_that_is_written_to_after_it_was_told_is_named() {
        let dir = Scratch::new("pack-written");
        let path = dir.file("f", &[7; 5000]);
        let mut load = Load::new();
        load.add(&path).unwrap();
        let (mut packer, mut part) = (load.stream_known(Recipes::default()), Vec::new());
        while packer.next_chunk(&mut part).unwrap() {}
        let [source] = &packer.into_chunks()[..] else { panic!("it is one chunk") };
        source.read(&mut part).unwrap();
        assert_eq!(part, [7; 5000]);
        File::options().write(true).open(&path).unwrap().write_all_at(b"x", 3).unwrap();
        let said = source.read(&mut part).unwrap_err().to_string();
        assert_eq!(said, format!("{}: changed while it was sent", path.display()));
    }
}
