//! Files that are kept, and the chunks that they are made of: a node keeps those of the jobs that
//! come, the manager boot images, and who fetches an image its file.
//!
//! A file *grows* until all its chunks are there, then it is *whole*. A chunk that arrives is
//! compared with its hash and written to its place in every growing file that lacks it: into the
//! very file that is executed in the end. What a new file has in common with those that are there
//! is copied from them.
//!
//! Programs and read-only files get a second name in each session that wants them. Others are
//! copied, since a rank may write to what is its own; so is what may be executed but is no program
//! by its first bytes, as all is on some file systems, or may be written to by others than its
//! owner. A program that was written to all the same is known by its time or mode, and no job gets
//! it: it is made anew. When files take too much room, those go that were used longest ago.
//!
//! What is left of a file that grew when its process was killed is looked at chunk by chunk when it
//! is to be kept again: those that are right need not come again.

use crate::chunk::{Hash, Recipe};
use crate::keeper::remove_all;
use crate::relay::receive::Unpacker;
use muster_base::limits::{CHUNK, CHUNK_STORE_MAX, CHUNK_STORE_MIN};
use muster_ninep::error::{Errno, Error, Result, fail};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What part of what is free on their file system the nodes of a machine keep at most: others are
/// there, too, and it may be memory.
const SHARE: u64 = 8;

/// For how long it is known how many nodes share the room.
const COUNTED: Duration = Duration::from_secs(1);

/// The directory of what a node keeps, within its own.
const CHUNKS: &str = "chunks";

/// Which file: its mode and what it says.
pub(crate) type Name = Hash;

/// A file.
struct Kept {
    recipe: Recipe,
    mode: u32,
    /// No descriptor is kept meanwhile: a job may have more files than a process may have open.
    grows: bool,
    /// What is to come, and where it goes.
    missing: HashMap<Hash, Vec<u64>>,
    /// What tells whether it was written to since it was whole.
    stamp: Stamp,
    /// Sessions get it under a second name.
    is_shared: bool,
    /// When it was last wanted.
    used: u64,
    /// Those who wait for it to be whole, or for others to be, or want it to stay.
    users: u32,
    /// A process before has left it, and nobody has looked yet whether it says what it should.
    is_unseen: bool,
}

/// How a program begins that a kernel can run.
const PROGRAMS: [&[u8]; 2] = [b"\x7fELF", b"#!"];

/// Whether jobs may have one file in common, by its mode and first bytes.
fn may_be_shared(mode: u32, head: &[u8]) -> bool {
    let is_program = mode & 0o111 != 0 && PROGRAMS.iter().any(|start| head.starts_with(start));
    mode & 0o222 == 0 || is_program && mode & 0o022 == 0
}

/// What changes when somebody changes a file.
pub(crate) type Stamp = (u64, u32, i64, i64);

pub(crate) fn stamp(meta: &Metadata) -> Stamp {
    (meta.len(), meta.mode(), meta.mtime(), meta.mtime_nsec())
}

/// All of them.
pub(crate) struct Chunks {
    directory: PathBuf,
    /// Where the nodes of this machine have theirs: they share the room.
    home: Option<PathBuf>,
    /// How many those are, and when they were counted.
    counted: Option<(Instant, u64)>,
    files: HashMap<Name, Kept>,
    /// Where a chunk is found: file and offset.
    found: HashMap<Hash, (Name, u64)>,
    /// Who may lack a chunk.
    wanted: HashMap<Hash, Vec<Name>>,
    /// Files that nobody wants, by when they were last wanted.
    unused: BTreeSet<(u64, Name)>,
    /// Bytes of all files.
    held: u64,
    clock: u64,
}

/// The name of a file.
pub(crate) fn name(mode: u32, recipe: &Recipe) -> Name {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&mode.to_le_bytes()).update(&recipe.size.to_le_bytes());
    for hash in &recipe.chunks {
        hasher.update(&hash.0);
    }
    Hash(*hasher.finalize().as_bytes())
}

fn corrupt() -> Error {
    Error::new(Errno::BADMSG, "a chunk of it is corrupt: its bytes are not those of its hash")
}

/// Whether a file has a chunk at a place.
fn says(file: &File, offset: u64, length: usize, hash: &Hash) -> bool {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, offset).is_ok() && Hash::of(&bytes) == *hash
}

/// A file that is looked at, and what told then whether it was written to.
pub(crate) struct Look {
    pub(crate) file: File,
    stamp: Stamp,
}

impl Look {
    /// Its length and time.
    fn written(&self) -> (u64, i64, i64) {
        (self.stamp.0, self.stamp.2, self.stamp.3)
    }
}

/// The chunks that a file should have and has not, and where they go.
pub(crate) fn absent(file: &File, recipe: &Recipe) -> HashMap<Hash, Vec<u64>> {
    let mut absent: HashMap<Hash, Vec<u64>> = HashMap::new();
    for (hash, offset, length) in recipe.pieces() {
        if !says(file, offset, length, &hash) {
            absent.entry(hash).or_default().push(offset);
        }
    }
    absent
}

impl Chunks {
    /// None yet, in a directory that is there or can be made.
    pub(crate) fn new(directory: PathBuf) -> Chunks {
        let (files, found, wanted) = (HashMap::new(), HashMap::new(), HashMap::new());
        let (unused, held, clock) = (BTreeSet::new(), 0, 0);
        Chunks { directory, home: None, counted: None, files, found, wanted, unused, held, clock }
    }

    /// None yet, in a node's directory below that of all nodes of this machine.
    pub(crate) fn of_node(node: &Path, home: &Path) -> Chunks {
        // Nobody counts what a daemon that was killed may have left.
        let _ = remove_all(&node.join(CHUNKS));
        Chunks { home: Some(home.to_owned()), ..Chunks::new(node.join(CHUNKS)) }
    }

    /// How many keep files on this machine.
    fn sharers(&mut self) -> u64 {
        if let Some((_, count)) = self.counted.filter(|(when, _)| when.elapsed() < COUNTED) {
            return count;
        }
        let nodes = self.home.as_ref().and_then(|home| fs::read_dir(home).ok());
        let has = |node: &fs::DirEntry| node.path().join(CHUNKS).is_dir();
        let count = nodes.map_or(1, |nodes| nodes.flatten().filter(has).count().max(1) as u64);
        self.counted = Some((Instant::now(), count));
        count
    }

    /// Bytes that may be kept.
    fn most(&mut self) -> u64 {
        let sharers = self.sharers();
        let free = rustix::fs::statvfs(&self.directory);
        let free = free.map_or(u64::MAX, |stat| stat.f_bavail.saturating_mul(stat.f_frsize));
        (CHUNK_STORE_MAX / sharers).max(CHUNK_STORE_MIN).min(free / SHARE / sharers)
    }

    /// Whether some of these files lack a chunk.
    pub(crate) fn lack(&self, files: &[Name], hash: &Hash) -> bool {
        let lacks = |name| self.files.get(name).is_none_or(|kept| kept.missing.contains_key(hash));
        files.iter().any(lacks)
    }

    /// Whether a file has all its chunks.
    pub(crate) fn is_whole(&self, name: &Name) -> bool {
        self.files.get(name).is_some_and(|kept| !kept.grows)
    }

    /// Somebody wants a file.
    fn hold(&mut self, name: &Name) {
        let Some(kept) = self.files.get_mut(name) else { return };
        self.unused.remove(&(kept.used, *name));
        (kept.used, kept.users) = (self.clock, kept.users + 1);
    }

    /// A job has a file, or does not want it any more. If nobody else does, it may go, and does
    /// unless it is whole and there is room for it.
    pub(crate) fn release(&mut self, name: &Name) {
        let Some(kept) = self.files.get_mut(name) else { return };
        kept.users = kept.users.saturating_sub(1);
        if kept.users > 0 {
            return;
        }
        self.unused.insert((kept.used, *name));
        if kept.grows {
            self.remove(name);
        }
        self.make_room(0);
    }

    fn path(&self, name: &Name) -> PathBuf {
        self.directory.join(name.to_string())
    }

    /// A file to be read, whole or growing.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn open(&self, name: &Name) -> Result<File> {
        Ok(File::open(self.path(name))?)
    }

    /// A file that grows, to be written. What is there under its name never leads elsewhere.
    fn open_growing(&self, name: &Name, is_new: bool) -> Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create(is_new).mode(0o600);
        Ok(options.custom_flags(libc::O_NOFOLLOW).open(self.path(name))?)
    }

    /// Keeps a file that is there already, if it is whole by its length and mode. What it says is
    /// not looked at, which may take long ([`Chunks::to_check`]).
    pub(crate) fn adopt(&mut self, mode: u32, recipe: &Recipe) -> Option<Name> {
        let name = name(mode, recipe);
        if self.files.contains_key(&name) {
            self.hold(&name);
            return Some(name);
        }
        let meta = fs::metadata(self.path(&name)).ok()?;
        if meta.len() != recipe.size || meta.mode() & 0o7777 != mode {
            return None;
        }
        let (stamp, used, users) = (stamp(&meta), self.clock, 1);
        let (missing, grows) = (HashMap::new(), false);
        let (recipe, is_shared, is_unseen) = (recipe.clone(), false, true);
        self.find(&name, &recipe);
        let kept = Kept { recipe, mode, grows, missing, stamp, is_shared, used, users, is_unseen };
        self.insert(name, kept);
        Some(name)
    }

    /// A file that is whole as far as is known, though somebody may have written to it. [`absent`]
    /// looks whether it is, without the store, and [`Chunks::checked`] is told.
    pub(crate) fn to_check(&self, name: &Name) -> Option<Look> {
        let file = if self.is_whole(name) { self.open(name).ok()? } else { return None };
        let stamp = stamp(&file.metadata().ok()?);
        Some(Look { file, stamp })
    }

    /// A file that is whole was looked at. If it lacks chunks it grows again, where it is: who has
    /// it open gets them too. If it lacks none it is right, whatever was done to its time or mode,
    /// but for what was written behind its end.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn checked(
        &mut self,
        name: &Name,
        look: &Look,
        missing: HashMap<Hash, Vec<u64>>,
    ) -> Result<()> {
        let (path, is_intact) = (self.path(name), self.is_intact(name));
        let Some(kept) = self.files.get_mut(name).filter(|kept| !kept.grows) else {
            return Ok(());
        };
        let now = || fs::metadata(&path).map(|meta| stamp(&meta));
        // One that was written to meanwhile, or is not ours any more, is made anew when it is
        // wanted.
        let own = || {
            fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file())
                && fs::set_permissions(&path, fs::Permissions::from_mode(kept.mode)).is_ok()
        };
        let is_ours = is_intact || own();
        if !is_ours || !now().is_ok_and(|now| (now.0, now.2, now.3) == look.written()) {
            return Ok(());
        }
        if !missing.is_empty() {
            let file = File::options().read(true).write(true).open(&path)?;
            file.set_len(kept.recipe.size)?;
            kept.grows = true;
            self.found.retain(|hash, (file, _)| file != name || !missing.contains_key(hash));
            missing.keys().for_each(|hash| self.wanted.entry(*hash).or_default().push(*name));
            kept.missing = missing;
        } else {
            // The pieces do not tell of bytes behind them, with which the next who takes it over
            // would not have it.
            if look.stamp.0 != kept.recipe.size {
                File::options().write(true).open(&path)?.set_len(kept.recipe.size)?;
            }
            kept.stamp = now()?;
        }
        kept.is_unseen = false;
        Ok(())
    }

    /// Has a file kept, with as much of it as is there, until it is [released](Chunks::release).
    ///
    /// # Errors
    /// The system's, as when there is no room.
    pub(crate) fn keep(&mut self, mode: u32, recipe: &Recipe) -> Result<Name> {
        self.keep_with(mode, recipe, true)
    }

    /// The same without what other files have of it, which may be long to copy: [`Chunks::found`]
    /// says where that is, chunk by chunk.
    ///
    /// # Errors
    /// As [`Chunks::keep`].
    pub(crate) fn keep_bare(&mut self, mode: u32, recipe: &Recipe) -> Result<Name> {
        self.keep_with(mode, recipe, false)
    }

    fn keep_with(&mut self, mode: u32, recipe: &Recipe, copies: bool) -> Result<Name> {
        self.clock += 1;
        let name = name(mode, recipe);
        if self.is_intact(&name) {
            self.hold(&name);
            return Ok(name);
        }
        let users = self.files.get(&name).map_or(0, |kept| kept.users);
        self.remove(&name);
        self.make_room(recipe.size);
        let file = self.begin(&name)?;
        let is_left = file.metadata()?.len() > 0;
        file.set_len(recipe.size)?;
        let mut missing: HashMap<Hash, Vec<u64>> = HashMap::new();
        for (hash, offset, length) in recipe.pieces() {
            if is_left && says(&file, offset, length, &hash) {
                continue;
            }
            let found = self.found.get(&hash).copied().filter(|_| copies);
            if let Some((other, from)) = found.filter(|_| !missing.contains_key(&hash)) {
                if self.copy(&file, offset, (other, from, length), &hash) {
                    continue;
                }
                // Where it was found it is no more.
                self.found.remove(&hash);
            }
            missing.entry(hash).or_default().push(offset);
        }
        let is_whole = missing.is_empty();
        let (recipe, stamp, used, users) = (recipe.clone(), (0, 0, 0, 0), self.clock, users + 1);
        let (grows, is_shared, is_unseen) = (true, false, false);
        let kept = Kept { recipe, mode, grows, missing, stamp, is_shared, used, users, is_unseen };
        self.insert(name, kept);
        if is_whole {
            self.complete(&name, &file)?;
        }
        Ok(name)
    }

    fn insert(&mut self, name: Name, kept: Kept) {
        self.held += kept.recipe.size;
        kept.missing.keys().for_each(|hash| self.wanted.entry(*hash).or_default().push(name));
        self.files.insert(name, kept);
    }

    /// A chunk that a file lacks and another has: the other, and where in it that is.
    pub(crate) fn found(&self, name: &Name, hash: &Hash) -> Option<(File, u64)> {
        let (other, offset) = self.found.get(hash).filter(|_| self.lack(&[*name], hash))?;
        let file = self.is_intact(other).then(|| self.open(other).ok()).flatten()?;
        Some((file, *offset))
    }

    fn begin(&self, name: &Name) -> Result<File> {
        if let Err(error) = fs::DirBuilder::new().mode(0o700).create(&self.directory)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error.into());
        }
        self.open_growing(name, true)
    }

    /// Copies a chunk from another file; false if that is not what it was.
    fn copy(
        &self,
        to: &File,
        at: u64,
        (from, offset, length): (Name, u64, usize),
        hash: &Hash,
    ) -> bool {
        let Some(kept) = self.files.get(&from) else { return false };
        let mut bytes = vec![0; length];
        let read = self.is_intact(&from)
            && self.open(&from).is_ok_and(|file| file.read_exact_at(&mut bytes, offset).is_ok());
        let is_right = read && (!kept.is_unseen || Hash::of(&bytes) == *hash);
        is_right && to.write_all_at(&bytes, at).is_ok()
    }

    /// Has a file that is kept for somebody made anew if it was written to since. Of such a file
    /// chunks are lacking again.
    ///
    /// # Errors
    /// The system's, as when there is no room.
    pub(crate) fn mend(&mut self, mode: u32, recipe: &Recipe) -> Result<()> {
        let is_kept = self.files.contains_key(&name(mode, recipe));
        let name = self.keep(mode, recipe)?;
        if is_kept {
            // Who wants it has been counted.
            self.release(&name);
        }
        Ok(())
    }

    /// Whether a file is there and nobody has written to it.
    fn is_intact(&self, name: &Name) -> bool {
        self.files.get(name).is_some_and(|kept| {
            let now = || fs::metadata(self.path(name)).map(|meta| stamp(&meta)).ok();
            kept.grows || now() == Some(kept.stamp)
        })
    }

    /// Takes a chunk that was sent.
    ///
    /// # Errors
    /// When it is not the one of that hash, or cannot be written.
    pub(crate) fn take(&mut self, hash: &Hash, bytes: &[u8]) -> Result<()> {
        // Where it was found before it may be wrong.
        let place = self.put(hash, bytes)?;
        self.found.extend(place.map(|place| (*hash, place)));
        Ok(())
    }

    /// Takes a chunk that was read where it is [found](Chunks::found), which it is there still.
    ///
    /// # Errors
    /// As [`Chunks::take`].
    pub(crate) fn take_copy(&mut self, hash: &Hash, bytes: &[u8]) -> Result<()> {
        self.put(hash, bytes).map(drop)
    }

    /// Writes a chunk to where it is lacking; one of these places.
    fn put(&mut self, hash: &Hash, bytes: &[u8]) -> Result<Option<(Name, u64)>> {
        let wanted = self.wanted.get(hash).into_iter().flatten().copied();
        let lacks =
            |name: &Name| self.files.get(name).is_some_and(|it| it.missing.contains_key(hash));
        let lacking: Vec<Name> = wanted.filter(lacks).collect();
        if lacking.is_empty() {
            return Ok(None);
        }
        if bytes.len() > CHUNK || Hash::of(bytes) != *hash {
            return Err(corrupt());
        }
        let (mut place, mut written) = (None, Ok(()));
        for name in lacking {
            // One that cannot be written keeps no other from being whole.
            match self.fill(&name, hash, bytes) {
                Ok(offset) => place = Some((name, offset)),
                failed => written = written.and(failed.map(drop)),
            }
        }
        // Who could not be written lacks it still.
        let files = &self.files;
        let lacks = |name: &Name| files.get(name).is_some_and(|it| it.missing.contains_key(hash));
        if let Some(wanted) = self.wanted.get_mut(hash) {
            wanted.retain(lacks);
            if wanted.is_empty() {
                self.wanted.remove(hash);
            }
        }
        written.map(|()| place)
    }

    /// Writes a chunk to where a file lacks it; one of these places.
    fn fill(&mut self, name: &Name, hash: &Hash, bytes: &[u8]) -> Result<u64> {
        let file = self.open_growing(name, false)?;
        let kept = self.files.get_mut(name).expect("it is there");
        let offsets = &kept.missing[hash];
        for offset in offsets {
            file.write_all_at(bytes, *offset)?;
        }
        let offset = offsets[0];
        kept.missing.remove(hash);
        if kept.missing.is_empty() {
            self.complete(name, &file)?;
        }
        Ok(offset)
    }

    /// A file has all its chunks.
    fn complete(&mut self, name: &Name, file: &File) -> Result<()> {
        let kept = self.files.get_mut(name).expect("it is there");
        file.set_permissions(fs::Permissions::from_mode(kept.mode))?;
        let mut head = [0; 4];
        let length = file.read_at(&mut head, 0)?;
        kept.is_shared = may_be_shared(kept.mode, &head[..length]);
        kept.stamp = stamp(&file.metadata()?);
        kept.grows = false;
        let recipe = kept.recipe.clone();
        self.find(name, &recipe);
        Ok(())
    }

    fn find(&mut self, name: &Name, recipe: &Recipe) {
        for (hash, offset, _) in recipe.pieces() {
            self.found.entry(hash).or_insert((*name, offset));
        }
    }

    /// Puts a file that is whole into the sessions of a job, if they may have it in common; false
    /// if they need copies ([`Chunks::to_copy`]).
    ///
    /// # Errors
    /// When it is not whole, was written to meanwhile, or cannot be put there.
    pub(crate) fn give(&self, name: &Name, to: &mut Unpacker, path: &str) -> Result<bool> {
        Ok(self.whole(name, path)?.is_shared && to.link(path, &self.path(name))?)
    }

    /// A file that is whole, to be copied, which may take long, and its mode.
    ///
    /// # Errors
    /// When it is not whole, was written to meanwhile, or cannot be read.
    pub(crate) fn to_copy(&self, name: &Name, path: &str) -> Result<(File, u32)> {
        Ok((File::open(self.path(name))?, self.whole(name, path)?.mode))
    }

    fn whole(&self, name: &Name, path: &str) -> Result<&Kept> {
        match self.files.get(name) {
            Some(kept) if !kept.grows && self.is_intact(name) => Ok(kept),
            Some(kept) if !kept.grows => {
                let text =
                    format!("{path}: another job has written to the program that they share");
                fail(Errno::BUSY, text + "; run it again")
            }
            _ => fail(Errno::IO, "a chunk of it is missing"),
        }
    }

    /// Removes what was used longest ago while there is no room for so many bytes more.
    fn make_room(&mut self, more: u64) {
        while self.held.saturating_add(more) > self.most() {
            let Some((_, oldest)) = self.unused.first().copied() else { return };
            self.remove(&oldest);
        }
    }

    /// Removes a file that nobody wants; true if it is not kept then.
    pub(crate) fn forget(&mut self, name: &Name) -> bool {
        if self.files.get(name).is_some_and(|kept| kept.users == 0) {
            self.remove(name);
        }
        !self.files.contains_key(name)
    }

    /// Removes a file, whoever wants it.
    fn remove(&mut self, name: &Name) {
        let Some(kept) = self.files.remove(name) else { return };
        let _ = fs::remove_file(self.path(name));
        self.unused.remove(&(kept.used, *name));
        self.held -= kept.recipe.size;
        for hash in &kept.recipe.chunks {
            if self.found.get(hash).is_some_and(|(file, _)| file == name) {
                self.found.remove(hash);
            }
            if let Some(files) = self.wanted.get_mut(hash) {
                files.retain(|file| file != name);
                if files.is_empty() {
                    self.wanted.remove(hash);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
