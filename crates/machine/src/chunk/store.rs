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
use crate::relay::receive::Unpacker;
use muster_base::limits::{CHUNK, CHUNK_STORE_MAX, CHUNK_STORE_MIN};
use muster_ninep::error::{Errno, Error, Result, fail};
use std::collections::HashMap;
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
    /// While it grows.
    file: Option<File>,
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

type Stamp = (u64, u32, i64, i64);

fn stamp(meta: &Metadata) -> Stamp {
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
        let (files, found) = (HashMap::new(), HashMap::new());
        Chunks { directory, home: None, counted: None, files, found, clock: 0 }
    }

    /// None yet, in a node's directory below that of all nodes of this machine.
    pub(crate) fn of_node(node: &Path, home: &Path) -> Chunks {
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
        self.files.get(name).is_some_and(|kept| kept.file.is_none())
    }

    /// A job has a file, or does not want it any more. If nobody else does, it may go, and does
    /// unless it is whole.
    pub(crate) fn release(&mut self, name: &Name) {
        let Some(kept) = self.files.get_mut(name) else { return };
        kept.users = kept.users.saturating_sub(1);
        if kept.users == 0 && kept.file.is_some() {
            self.remove(name);
        }
    }

    fn path(&self, name: &Name) -> PathBuf {
        self.directory.join(name.to_string())
    }

    /// A file to be read, whole or growing.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn open(&self, name: &Name) -> Result<File> {
        match self.files.get(name).and_then(|kept| kept.file.as_ref()) {
            Some(growing) => Ok(growing.try_clone()?),
            None => Ok(File::open(self.path(name))?),
        }
    }

    /// Keeps a file that is there already, if it is whole by its length and mode. What it says is
    /// not looked at, which may take long ([`Chunks::to_check`]).
    pub(crate) fn adopt(&mut self, mode: u32, recipe: &Recipe) -> Option<Name> {
        let name = name(mode, recipe);
        if let Some(kept) = self.files.get_mut(&name) {
            kept.users += 1;
            return Some(name);
        }
        let meta = fs::metadata(self.path(&name)).ok()?;
        if meta.len() != recipe.size || meta.mode() & 0o7777 != mode {
            return None;
        }
        let (stamp, used, users) = (stamp(&meta), self.clock, 1);
        let (missing, file) = (HashMap::new(), None);
        let (recipe, is_shared, is_unseen) = (recipe.clone(), false, true);
        self.find(&name, &recipe);
        let kept = Kept { recipe, mode, file, missing, stamp, is_shared, used, users, is_unseen };
        self.files.insert(name, kept);
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
        let Some(kept) = self.files.get_mut(name).filter(|kept| kept.file.is_none()) else {
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
            kept.file = Some(file);
            self.found.retain(|hash, (file, _)| file != name || !missing.contains_key(hash));
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
            let kept = self.files.get_mut(&name).expect("it is there");
            (kept.used, kept.users) = (self.clock, kept.users + 1);
            return Ok(name);
        }
        let users = self.files.get(&name).map_or(0, |kept| kept.users);
        self.remove(&name);
        self.make_room(recipe.size);
        let mut kept = self.begin(&name, mode, recipe)?;
        kept.users = users + 1;
        let left = kept.file.as_ref().filter(|file| file.metadata().is_ok_and(|it| it.len() > 0));
        let left = left.map(File::try_clone).transpose()?;
        kept.file.as_ref().expect("it grows").set_len(recipe.size)?;
        for (hash, offset, length) in recipe.pieces() {
            if left.as_ref().is_some_and(|file| says(file, offset, length, &hash)) {
                continue;
            }
            let found = self.found.get(&hash).copied().filter(|_| copies);
            if let Some((other, from)) = found.filter(|_| !kept.missing.contains_key(&hash)) {
                if self.copy(&kept, offset, (other, from, length), &hash) {
                    continue;
                }
                // Where it was found it is no more.
                self.found.remove(&hash);
            }
            kept.missing.entry(hash).or_default().push(offset);
        }
        let is_whole = kept.missing.is_empty();
        self.files.insert(name, kept);
        if is_whole {
            self.complete(&name)?;
        }
        Ok(name)
    }

    /// A chunk that a file lacks and another has: the other, and where in it that is.
    pub(crate) fn found(&self, name: &Name, hash: &Hash) -> Option<(File, u64)> {
        let (other, offset) = self.found.get(hash).filter(|_| self.lack(&[*name], hash))?;
        let file = self.is_intact(other).then(|| self.open(other).ok()).flatten()?;
        Some((file, *offset))
    }

    fn begin(&self, name: &Name, mode: u32, recipe: &Recipe) -> Result<Kept> {
        if let Err(error) = fs::DirBuilder::new().mode(0o700).create(&self.directory)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error.into());
        }
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        // What is there under the name may be a file that grew, and never leads elsewhere.
        options.custom_flags(libc::O_NOFOLLOW);
        let file = options.open(self.path(name))?;
        let (stamp, used, users) = ((0, 0, 0, 0), self.clock, 0);
        let (missing, file) = (HashMap::new(), Some(file));
        let (recipe, is_shared, is_unseen) = (recipe.clone(), false, false);
        Ok(Kept { recipe, mode, file, missing, stamp, is_shared, used, users, is_unseen })
    }

    /// Copies a chunk from another file; false if that is not what it was.
    fn copy(
        &self,
        to: &Kept,
        at: u64,
        (from, offset, length): (Name, u64, usize),
        hash: &Hash,
    ) -> bool {
        let Some(kept) = self.files.get(&from) else { return false };
        let mut bytes = vec![0; length];
        let read = self.is_intact(&from)
            && self.open(&from).is_ok_and(|file| file.read_exact_at(&mut bytes, offset).is_ok());
        let is_right = read && (!kept.is_unseen || Hash::of(&bytes) == *hash);
        let to = to.file.as_ref().expect("it grows");
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
            kept.file.is_some() || now() == Some(kept.stamp)
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
        let lacks = |(name, kept): (&Name, &Kept)| kept.missing.contains_key(hash).then_some(*name);
        let lacking: Vec<Name> = self.files.iter().filter_map(lacks).collect();
        if lacking.is_empty() {
            return Ok(None);
        }
        if bytes.len() > CHUNK || Hash::of(bytes) != *hash {
            return Err(corrupt());
        }
        let (mut whole, mut place) = (Vec::new(), None);
        for name in lacking {
            let kept = self.files.get_mut(&name).expect("it is there");
            let file = kept.file.as_ref().expect("what lacks a chunk grows");
            for offset in &kept.missing[hash] {
                file.write_all_at(bytes, *offset)?;
            }
            let offsets = kept.missing.remove(hash).expect("it lacks it");
            place = Some((name, offsets[0]));
            if kept.missing.is_empty() {
                whole.push(name);
            }
        }
        whole.iter().try_for_each(|name| self.complete(name))?;
        Ok(place)
    }

    /// A file has all its chunks.
    fn complete(&mut self, name: &Name) -> Result<()> {
        let kept = self.files.get_mut(name).expect("it is there");
        let file = kept.file.take().expect("it grew");
        file.set_permissions(fs::Permissions::from_mode(kept.mode))?;
        let mut head = [0; 4];
        let length = file.read_at(&mut head, 0)?;
        kept.is_shared = may_be_shared(kept.mode, &head[..length]);
        kept.stamp = stamp(&file.metadata()?);
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
            Some(kept) if kept.file.is_none() && self.is_intact(name) => Ok(kept),
            Some(kept) if kept.file.is_none() => {
                let text =
                    format!("{path}: another job has written to the program that they share");
                fail(Errno::BUSY, text + "; run it again")
            }
            _ => fail(Errno::IO, "a chunk of it is missing"),
        }
    }

    /// Removes what was used longest ago while there is no room for so many bytes more.
    fn make_room(&mut self, more: u64) {
        loop {
            let held: u64 = self.files.values().map(|kept| kept.recipe.size).sum();
            if held.saturating_add(more) <= self.most() {
                return;
            }
            let unused = self.files.iter().filter(|(_, kept)| kept.users == 0);
            let Some((oldest, _)) = unused.min_by_key(|(_, kept)| kept.used) else { return };
            let oldest = *oldest;
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
        if self.files.remove(name).is_some() {
            let _ = fs::remove_file(self.path(name));
            self.found.retain(|_, (file, _)| file != name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::receive::Landing;
    use crate::scratch::Scratch;
    use std::ops::{Deref, DerefMut};

    /// Chunks whose directory goes with the test.
    struct Kept {
        chunks: Chunks,
        _directory: Scratch,
    }

    impl Deref for Kept {
        type Target = Chunks;

        fn deref(&self) -> &Chunks {
            &self.chunks
        }
    }

    impl DerefMut for Kept {
        fn deref_mut(&mut self) -> &mut Chunks {
            &mut self.chunks
        }
    }

    fn chunks(of: &str) -> Kept {
        let directory = Scratch::new(&format!("chunks-{of}"));
        Kept { chunks: Chunks::new(directory.to_owned()), _directory: directory }
    }

    fn bytes(seed: u8, length: usize) -> Vec<u8> {
        (0..length).map(|at| seed.wrapping_add((at % 251) as u8)).collect()
    }

    fn recipe(parts: &[&[u8]]) -> Recipe {
        let size = parts.iter().map(|part| part.len() as u64).sum();
        Recipe { size, chunks: parts.iter().map(|part| Hash::of(part)).collect() }
    }

    #[test]
    fn a_file_grows_out_of_its_chunks_and_shares_them_with_the_next() {
        let mut kept = chunks("grow");
        let (a, b, c) = (bytes(1, CHUNK), bytes(2, CHUNK), bytes(3, 77));
        let one = recipe(&[&a, &b, &a, &c]);
        let name = kept.keep(0o755, &one).unwrap();
        assert!(kept.lack(&[name], &one.chunks[0]) && !kept.is_whole(&name));
        for part in [&c, &a, &b] {
            kept.take(&Hash::of(part), part).unwrap();
        }
        let whole = [&a[..], &b, &a, &c].concat();
        assert_eq!(fs::read(kept.path(&name)).unwrap(), whole);
        assert_eq!(fs::metadata(kept.path(&name)).unwrap().mode() & 0o777, 0o755);
        // All of the second is there.
        let other = kept.keep(0o644, &recipe(&[&b, &c])).unwrap();
        assert_eq!(fs::read(kept.path(&other)).unwrap(), [&b[..], &c].concat());
        assert!(kept.is_whole(&other));
    }

    #[test]
    fn the_nodes_of_a_machine_share_the_room() {
        let home = Scratch::new("chunks-share");
        let mut nodes = ["n1", "n2", "n3"].map(|node| Chunks::of_node(&home.join(node), &home));
        for node in &nodes {
            fs::create_dir_all(&node.directory).unwrap();
        }
        // What else is there keeps nothing.
        fs::create_dir_all(home.join("n4")).unwrap();
        assert_eq!(nodes.each_mut().map(Chunks::sharers), [3; 3]);
    }

    #[test]
    fn what_is_left_of_a_file_that_grew_is_not_wanted_again_and_a_whole_one_is_taken_over() {
        let mut kept = chunks("left");
        let (a, b, c) = (bytes(1, CHUNK), bytes(2, CHUNK), bytes(3, CHUNK));
        let one = recipe(&[&a, &b, &c]);
        let name = kept.keep(0o755, &one).unwrap();
        kept.take(&one.chunks[0], &a).unwrap();
        kept.take(&one.chunks[1], &b).unwrap();
        // It is killed, and a byte of what it wrote was never written.
        let file = File::options().write(true).open(kept.path(&name)).unwrap();
        file.write_all_at(&[b[7] ^ 1], CHUNK as u64 + 7).unwrap();
        let mut next = Chunks::new(kept.directory.clone());
        assert_eq!(next.adopt(0o755, &one), None);
        next.keep(0o755, &one).unwrap();
        let lacks = |hash: &Hash| next.lack(&[name], hash);
        assert_eq!(
            [&one.chunks[0], &one.chunks[1], &one.chunks[2]].map(lacks),
            [false, true, true]
        );
        next.take(&one.chunks[2], &c).unwrap();
        next.take(&one.chunks[1], &b).unwrap();
        assert_eq!(fs::read(next.path(&name)).unwrap(), [a, b, c].concat());
        assert_eq!(Chunks::new(kept.directory.clone()).adopt(0o755, &one), Some(name));
    }

    #[test]
    fn a_link_under_the_name_of_a_file_that_grows_is_not_followed() {
        let mut kept = chunks("link");
        let of = recipe(&[&bytes(1, 5000)]);
        let precious = kept.directory.with_extension("precious");
        fs::create_dir_all(&kept.directory).unwrap();
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, kept.path(&super::name(0o644, &of))).unwrap();
        let refused = kept.keep(0o644, &of).unwrap_err();
        assert_eq!(refused.errno, Errno::LOOP);
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        fs::remove_file(&precious).unwrap();
    }

    #[test]
    fn a_file_that_two_have_taken_over_goes_with_the_second_of_them() {
        let mut kept = chunks("twice");
        let a = bytes(1, 5000);
        let of = recipe(&[&a]);
        let name = kept.keep(0o644, &of).unwrap();
        kept.take(&of.chunks[0], &a).unwrap();
        let mut next = Chunks::new(kept.directory.clone());
        assert_eq!([(); 2].map(|()| next.adopt(0o644, &of)), [Some(name); 2]);
        next.release(&name);
        // There is no room for so much, and still it stays.
        next.make_room(u64::MAX);
        assert!(next.path(&name).exists());
        next.release(&name);
        next.make_room(u64::MAX);
        assert!(!next.path(&name).exists());
    }

    #[test]
    fn what_was_taken_over_and_is_wrong_comes_again_where_it_is_and_is_copied_to_nobody() {
        let mut kept = chunks("unseen");
        let (a, b) = (bytes(1, CHUNK), bytes(2, CHUNK));
        let of = recipe(&[&a, &b]);
        let name = kept.keep(0o644, &of).unwrap();
        of.chunks.iter().zip([&a, &b]).for_each(|(hash, part)| kept.take(hash, part).unwrap());
        let file = File::options().write(true).open(kept.path(&name)).unwrap();
        file.write_all_at(&[b[7] ^ 1], CHUNK as u64 + 7).unwrap();
        let mut next = Chunks::new(kept.directory.clone());
        assert_eq!(next.adopt(0o644, &of), Some(name));
        let open = next.open(&name).unwrap();
        let other = next.keep(0o600, &of).unwrap();
        assert_eq!([0, 1].map(|at| next.lack(&[other], &of.chunks[at])), [false, true]);
        let look = next.to_check(&name).expect("it seems to be whole");
        next.checked(&name, &look, absent(&look.file, &of)).unwrap();
        assert!(next.to_check(&name).is_none() && !next.is_whole(&name));
        assert_eq!(next.keep(0o644, &of).unwrap(), name);
        assert_eq!([0, 1].map(|at| next.lack(&[name], &of.chunks[at])), [false, true]);
        next.take(&of.chunks[1], &b).unwrap();
        assert!(next.is_whole(&name));
        let mut all = vec![0; 2 * CHUNK];
        open.read_exact_at(&mut all, 0).unwrap();
        assert_eq!(all, [a, b].concat(), "who had it open has what came again");
        // What is right is not asked for again.
        let look = next.to_check(&name).unwrap();
        next.checked(&name, &look, absent(&look.file, &of)).unwrap();
        assert!(next.is_whole(&name));
    }

    #[test]
    fn a_corrupt_chunk_is_refused_and_the_right_one_still_taken() {
        let mut kept = chunks("corrupt");
        let a = bytes(1, 5000);
        let name = kept.keep(0o755, &recipe(&[&a])).unwrap();
        for wrong in [&bytes(2, 5000)[..], &a[..4999], b""] {
            let refused = kept.take(&Hash::of(&a), wrong).unwrap_err();
            assert!(refused.text.contains("corrupt"), "{refused}");
        }
        assert!(kept.lack(&[name], &Hash::of(&a)));
        kept.take(&Hash::of(&a), &a).unwrap();
        assert_eq!(fs::read(kept.path(&name)).unwrap(), a);
    }

    #[test]
    fn a_file_that_was_written_to_is_made_anew() {
        let mut kept = chunks("written");
        let a = bytes(1, 5000);
        let of = recipe(&[&a]);
        let name = kept.keep(0o755, &of).unwrap();
        kept.take(&Hash::of(&a), &a).unwrap();
        assert!(kept.keep(0o755, &of).is_ok() && kept.is_whole(&name));
        fs::write(kept.path(&name), b"#!/bin/false\n").unwrap();
        kept.keep(0o755, &of).unwrap();
        assert!(kept.lack(&[name], &of.chunks[0]));
        // Nor does another file get its bytes.
        kept.take(&Hash::of(&a), &a).unwrap();
        fs::write(kept.path(&name), b"#!/bin/false\n").unwrap();
        let other = kept.keep(0o600, &of).unwrap();
        assert!(kept.lack(&[other], &of.chunks[0]));
        kept.release(&other);
        assert!(!kept.path(&other).exists() && kept.path(&name).exists());
    }

    #[test]
    fn what_a_job_may_write_to_is_its_own() {
        let mut kept = chunks("own");
        let home = kept.directory.with_extension("session");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir(&home).unwrap();
        let landing =
            Landing { directory: home.clone(), argv: Default::default(), env: Default::default() };
        let mut session = Unpacker::new(vec![landing.clone()], "").unwrap();
        let mut copier = Unpacker::new(vec![landing], "").unwrap().take_places();
        let data = bytes(1, 5000);
        let program = [b"\x7fELF", &data[..]].concat();
        let script = [b"#!/bin/sh\n", &data[..]].concat();
        let cases: [(&str, u32, &[u8], bool); 7] = [
            ("program", 0o755, &program, true),
            ("script", 0o700, &script, true),
            ("read-only", 0o444, &data, true),
            ("data", 0o644, &data, false),
            ("data-of-fat", 0o755, &data, false),
            ("data-of-all", 0o777, &data, false),
            ("program-of-all", 0o777, &program, false),
        ];
        for (path, mode, whole, is_shared) in cases {
            let name = kept.keep(mode, &recipe(&[whole])).unwrap();
            kept.take(&Hash::of(whole), whole).unwrap();
            assert_eq!(kept.give(&name, &mut session, path).unwrap(), is_shared);
            if !is_shared {
                let (file, mode) = kept.to_copy(&name, path).unwrap();
                copier.copy(path, (&file, mode), &mut |step| step()).unwrap();
            }
            let (own, store) = (home.join(path), kept.path(&name));
            assert_eq!(fs::read(&own).unwrap(), whole);
            let inode = |path| fs::metadata(path).unwrap().ino();
            assert_eq!(inode(&own) == inode(&store), is_shared, "{path}");
            if !is_shared {
                fs::write(&own, "changed").unwrap();
                assert_eq!(fs::read(&store).unwrap(), whole, "{path}");
            }
        }
        // What was written to all the same is given to nobody.
        let name = kept.keep(0o755, &recipe(&[&program])).unwrap();
        fs::write(home.join("program"), "changed").unwrap();
        let refused = kept.give(&name, &mut session, "again").unwrap_err();
        assert!(refused.text.contains("another job has written"), "{refused}");
        fs::remove_dir_all(&home).unwrap();
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let mut kept = chunks("room");
        let third = CHUNK_STORE_MAX / 3;
        let one = |seed: u8| {
            // Growing files are sparse, so this takes no room.
            let recipe = Recipe { size: third, chunks: vec![Hash([seed; 32])] };
            (recipe.clone(), Hash([seed; 32]))
        };
        let names: Vec<Name> = (1..=3)
            .map(|seed| {
                let name = kept.keep(0o755, &one(seed).0).unwrap();
                kept.files.get_mut(&name).unwrap().missing.clear();
                kept.complete(&name).unwrap();
                kept.release(&name);
                name
            })
            .collect();
        // One that a job waits for stays, though it was used longer ago than others.
        kept.keep(0o755, &one(1).0).unwrap();
        kept.keep(0o755, &one(4).0).unwrap();
        assert!(kept.files.contains_key(&names[0]) && !kept.files.contains_key(&names[1]));
        assert!(!kept.path(&names[1]).exists() && !kept.found.contains_key(&one(2).1));
    }
}
