//! The images that the manager keeps: files in a chunk store below the cluster's directory, and the
//! door for those who are no members of the cluster.
//!
//! `images/DIGEST` is a file, `images/DIGEST.recipe` the hashes of its chunks, and `images/index`
//! says which image of which architecture is which file, and where the door is. The index is
//! written last, and renamed into place, so the next manager has every image or what was before.

use super::sources::Exchange;
use super::{MODE, Plan, check_name, check_size, put, tree};
use crate::chunk::store::{Chunks, Name, absent, name as digest_of};
use crate::chunk::{Recipe, length, read, write_ranges};
use crate::line::{Circle, Door};
use muster_base::limits::{CHUNK, IMAGES_MAX};
use muster_fabric::Address;
use muster_fabric::transport::socket::Identity;
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::serve::{Server, same_user};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// What is said, or kept, behind the door's address where nothing is to be sent to all.
pub(super) const NO_MULTICAST: &str = "no-multicast";

/// Threads that serve those who come through the door: one reads files while another seals.
const THREADS: usize = 2;

/// An image for one architecture.
pub struct Image {
    pub(super) name: String,
    pub(super) arch: String,
    pub(super) digest: Name,
    pub(super) recipe: Recipe,
    pub(super) file: File,
    pub(super) pushed: f64,
    pub(super) exchange: Arc<Exchange>,
}

/// What the file `index` says.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Index {
    images: Vec<Line>,
    /// Where the door is to be, and, behind it, [`NO_MULTICAST`] where nothing is cast.
    listen: Option<String>,
}

impl Index {
    fn of(state: &State) -> Index {
        let line = |image: &Arc<Image>| Line {
            name: image.name.clone(),
            arch: image.arch.clone(),
            digest: image.digest.to_string(),
            size: image.recipe.size,
            pushed: image.pushed,
        };
        Index { images: state.all.values().map(line).collect(), listen: state.listen.clone() }
    }
}

/// An image in the index.
#[derive(Serialize, Deserialize)]
struct Line {
    name: String,
    arch: String,
    digest: String,
    size: u64,
    pushed: f64,
}

/// All images of a cluster.
pub struct Images {
    directory: PathBuf,
    /// Held, before the state is, by who changes what the index says until it says so. The disk may
    /// be slow, so the state is not: the one thread of the manager's files looks at it.
    writing: Mutex<()>,
    state: Mutex<State>,
    /// Held while it is opened or closed, which waits for those behind it: they must not need it.
    door: Mutex<Option<Door>>,
    /// Whether images are cast to those who hear it.
    multicasts: Arc<AtomicBool>,
}

struct State {
    chunks: Chunks,
    all: BTreeMap<(String, String), Arc<Image>>,
    listen: Option<String>,
    /// Where the door is, if it is open.
    open: Option<String>,
}

fn unkept(error: io::Error) -> Error {
    let text = format!("the manager cannot keep this image: {error}  [E310]");
    Error::new(Errno::from_io_error(&error).unwrap_or(Errno::IO), text)
}

/// The refusal of an image that is not there.
pub(super) fn unknown(name: &str, arch: Option<&str>) -> Error {
    let of = arch.map_or(String::new(), |arch| format!(" for {arch}"));
    let text = format!("there is no image {name}{of}; see: muster image ls  [E171]");
    Error::new(Errno::NOENT, text)
}

impl Images {
    /// Those that a manager before has left in `directory`, which need not be there.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn open(directory: &Path) -> io::Result<Arc<Images>> {
        let index = match fs::read(directory.join("index")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Index::default(),
            read => serde_json::from_slice(&read?)?,
        };
        let mut chunks = Chunks::new(directory.to_owned());
        let multicasts = Arc::new(AtomicBool::new(true));
        let mut all = BTreeMap::new();
        for line in index.images {
            // One whose file was meddled with is gone.
            if let Some(image) = restore(directory, &mut chunks, &multicasts, &line) {
                all.insert((line.name, line.arch), Arc::new(image));
            }
        }
        let listen = index.listen;
        let state = Mutex::new(State { chunks, all, listen: listen.clone(), open: None });
        let (directory, door) = (directory.to_owned(), Mutex::default());
        let images = Images { directory, writing: Mutex::default(), state, door, multicasts };
        images.sweep();
        let images = Arc::new(images);
        let listen = listen.unwrap_or_default();
        let (at, word) = listen.split_once(' ').unwrap_or((&listen, ""));
        let multicasts = word != NO_MULTICAST;
        images.multicasts.store(multicasts, Ordering::Relaxed);
        if let Ok(at) = at.parse() {
            // Where somebody else has the port now, the door is shut until it is asked for again.
            let _ = images.listen(&at, multicasts);
        }
        Ok(images)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().expect("no holder panics")
    }

    /// Removes what a manager that was killed has left half-done.
    fn sweep(&self) {
        let state = self.state();
        let known: Vec<String> = state.all.values().map(|image| image.digest.to_string()).collect();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().unwrap_or_default();
            let digest = name.strip_suffix(".recipe").unwrap_or(&name);
            let is_known = known.iter().any(|known| known == digest);
            if !is_known && !["index", "key"].contains(&&*name) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// One of them.
    pub(super) fn get(&self, name: &str, arch: &str) -> Option<Arc<Image>> {
        self.state().all.get(&(name.to_owned(), arch.to_owned())).cloned()
    }

    /// Names of images, each once.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.state().all.keys().map(|(name, _)| name.clone()).collect();
        names.dedup();
        names
    }

    /// The architectures of an image.
    pub(super) fn archs(&self, name: &str) -> Vec<String> {
        let state = self.state();
        let of = state.all.keys().filter(|(own, _)| own == name);
        of.map(|(_, arch)| arch.clone()).collect()
    }

    /// What there is, in JSON.
    pub(super) fn status(&self) -> Value {
        let image = |image: &Arc<Image>| {
            let (clients, helpers) = image.exchange.count();
            json!({
                "name": image.name, "arch": image.arch, "size": image.recipe.size,
                "digest": image.digest.to_string(), "pushed": image.pushed,
                "clients": clients, "helpers": helpers,
            })
        };
        let state = self.state();
        let images: Vec<Value> = state.all.values().map(image).collect();
        json!({"images": images, "door": state.open, "key": self.key_file()})
    }

    fn key_file(&self) -> PathBuf {
        self.directory.join("key")
    }

    /// Removes an image, for one architecture or for all. Who is fetching it gets it all the same.
    ///
    /// On a full disk there may be room for the new index only once the files are gone: a line of
    /// the old one whose file is not there tells of no image.
    pub(super) fn remove(&self, name: &str, arch: Option<&str>) -> Result<()> {
        let _writing = self.writing();
        let mut state = self.state();
        let is_meant =
            |(own, of): &(String, String)| own == name && arch.is_none_or(|arch| of == arch);
        let gone: Vec<_> = state.all.keys().filter(|key| is_meant(key)).cloned().collect();
        if gone.is_empty() {
            return Err(unknown(name, arch));
        }
        let gone: Vec<_> = gone.iter().filter_map(|key| state.all.remove_entry(key)).collect();
        let index = Index::of(&state);
        drop(state);
        let mut written = self.write_index(&index);
        let is_written = written.is_ok();
        let mut state = self.state();
        let is_shared =
            |image: &Arc<Image>| state.all.values().any(|other| other.digest == image.digest);
        let (shared, own): (Vec<_>, Vec<_>) =
            gone.into_iter().partition(|(_, image)| !is_written && is_shared(image));
        own.iter().for_each(|(_, image)| self.discard(&mut state, image.digest));
        // An open file takes its room until it is closed.
        drop(own);
        if !is_written {
            drop(state);
            written = self.write_index(&index);
            state = self.state();
        }
        match written {
            // The next manager would find these.
            Err(error) if !shared.is_empty() => {
                state.all.extend(shared);
                Err(error)
            }
            _ => {
                shared.iter().for_each(|(_, image)| self.discard(&mut state, image.digest));
                Ok(())
            }
        }
    }

    /// An image or a push wants a file no longer, which goes with the last of them.
    fn discard(&self, state: &mut State, digest: Name) {
        state.chunks.release(&digest);
        let is_unwanted = state.all.values().all(|image| image.digest != digest);
        // A push of the same may have written its recipe, for an image that is there in a moment.
        if is_unwanted && state.chunks.forget(&digest) {
            let _ = fs::remove_file(self.recipe_file(&digest));
        }
    }

    fn recipe_file(&self, digest: &Name) -> PathBuf {
        self.directory.join(format!("{digest}.recipe"))
    }

    /// Written by who is [writing](Images::writing), and locks nothing else.
    fn write_index(&self, index: &Index) -> Result<()> {
        let text = serde_json::to_vec(index).map_err(io::Error::from).map_err(unkept)?;
        self.write(&self.directory.join("index"), &text)
    }

    /// Writes a file that is whole at any moment, also after the power was lost.
    fn write(&self, at: &Path, bytes: &[u8]) -> Result<()> {
        let new = at.with_extension("new");
        let written = || {
            fs::create_dir_all(&self.directory)?;
            let mut file = File::create(&new)?;
            file.write_all(bytes)?;
            put(&file, &new, at)
        };
        written().map_err(|error| {
            let _ = fs::remove_file(&new);
            unkept(error)
        })
    }

    /// Opens the door, for whoever has the image key, and for the managers to come. Where that
    /// fails, the one that is open stays so.
    pub(super) fn listen(self: &Arc<Images>, at: &Address, multicasts: bool) -> Result<()> {
        let Address::Tls(host, port) = at else {
            let text = format!("{at} is no address for images: write HOST:PORT  [E172]");
            return fail(Errno::INVAL, text);
        };
        let circle = self.circle()?;
        let mut door = self.door.lock().expect("no holder panics");
        let mut before = None;
        let mut opened = self.open_door(&circle, at);
        let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        let is_own =
            |door: &mut Door| matches!(door.address(), Address::Tls(_, own) if own == port);
        if opened.as_ref().is_err_and(is_taken)
            && let Some(gives_way) = door.take_if(is_own)
        {
            before = Some(gives_way.address().clone());
            drop(gives_way);
            opened = self.open_door(&circle, at);
        }
        let not_served = |error: io::Error| {
            let text = format!("images cannot be served at {at}: {error}  [E172]");
            Error::new(Errno::from_io_error(&error).unwrap_or(Errno::IO), text)
        };
        let opened = opened.map_err(not_served).and_then(|opened| {
            let Address::Tls(_, port) = *opened.address() else { unreachable!("it is TLS's") };
            self.note_listen(Address::Tls(host.clone(), port).to_string(), multicasts)?;
            Ok(opened)
        });
        let failed = match opened {
            // Who is behind the one before is done first, and may ask for the state meanwhile.
            Ok(opened) => {
                *door = Some(opened);
                None
            }
            Err(error) => {
                if let Some(before) = before {
                    *door = self.open_door(&circle, &before).ok();
                }
                Some(error)
            }
        };
        self.state().open = door.as_ref().map(|door| door.address().to_string());
        failed.map_or(Ok(()), Err)
    }

    /// Where the door is to be, for the managers to come.
    fn note_listen(&self, mut at: String, multicasts: bool) -> Result<()> {
        if !multicasts {
            at += &format!(" {NO_MULTICAST}");
        }
        let _writing = self.writing();
        let mut state = self.state();
        if state.listen.as_ref() == Some(&at) {
            return Ok(());
        }
        let before = state.listen.replace(at);
        let index = Index::of(&state);
        drop(state);
        let written = self.write_index(&index);
        match written {
            Ok(()) => self.multicasts.store(multicasts, Ordering::Relaxed),
            Err(_) => self.state().listen = before,
        }
        written
    }

    /// Those who have the image key, which is made if there is none.
    fn circle(&self) -> Result<Circle> {
        fs::create_dir_all(&self.directory).map_err(unkept)?;
        let key = self.key_file();
        let bad = |error: &dyn std::fmt::Display| {
            Error::new(Errno::IO, format!("the key for images cannot be used: {error}  [E172]"))
        };
        if !key.exists() {
            let made = Identity::generate().and_then(|identity| identity.store(&key));
            made.map_err(|error| bad(&error))?;
        }
        Ok(Circle::of(&Identity::load(&key).map_err(|error| bad(&error))?))
    }

    fn open_door(self: &Arc<Images>, circle: &Circle, at: &Address) -> io::Result<Door> {
        let tree = Arc::new(tree::outside(self));
        let server = Arc::new(Server::start(&tree, THREADS, same_user)?);
        Door::open_to(circle, at, server)
    }

    /// Closes the door, also if the managers to come cannot be told.
    pub(super) fn close(&self) -> Result<()> {
        *self.door.lock().expect("no holder panics") = None;
        let _writing = self.writing();
        let index = {
            let mut state = self.state();
            (state.listen, state.open) = (None, None);
            Index::of(&state)
        };
        self.write_index(&index).map_err(|Error { errno, text }| {
            let text = format!("the door is shut, but the next manager opens it again: {text}");
            Error::new(errno, text)
        })
    }

    /// Begins to take an image.
    pub(super) fn begin(
        self: &Arc<Images>,
        name: &str,
        arch: &str,
        recipe: Recipe,
    ) -> Result<Push> {
        check_name(name)?;
        check_name(arch)?;
        let digest = digest_of(MODE, &recipe);
        // What is there of it may have suffered. It may be long: nobody else waits meanwhile.
        let look = self.state().chunks.to_check(&digest);
        let looked = look.map(|look| (absent(&look.file, &recipe), look));
        let mut state = self.state();
        let key = (name.to_owned(), arch.to_owned());
        if state.all.len() >= IMAGES_MAX && !state.all.contains_key(&key) {
            let text = format!("a cluster keeps {IMAGES_MAX} images at most  [E172]");
            return fail(Errno::NOSPC, text);
        }
        check_size(recipe.size)?;
        if let Some((absent, look)) = looked {
            state.chunks.checked(&digest, &look, absent)?;
        }
        state.chunks.keep_bare(MODE, &recipe)?;
        let (name, arch) = key;
        let push = Push { images: self.clone(), name, arch, digest, recipe, part: Vec::new() };
        drop(state);
        push.copy();
        Ok(push)
    }
}

fn restore(
    directory: &Path,
    chunks: &mut Chunks,
    multicasts: &Arc<AtomicBool>,
    line: &Line,
) -> Option<Image> {
    let recipe = fs::read(directory.join(format!("{}.recipe", line.digest))).ok()?;
    let recipe = Recipe { size: line.size, chunks: read(&recipe).collect() };
    let digest = digest_of(MODE, &recipe);
    if digest.to_string() != line.digest || chunks.adopt(MODE, &recipe)? != digest {
        return None;
    }
    let file = chunks.open(&digest).ok()?;
    let exchange = Exchange::new(file.try_clone().ok()?, Plan::of(&recipe), multicasts.clone());
    let (name, arch, pushed) = (line.name.clone(), line.arch.clone(), line.pushed);
    Some(Image { name, arch, digest, recipe, file, pushed, exchange })
}

/// An image that comes. Dropped before it is whole, it was nothing.
pub(super) struct Push {
    images: Arc<Images>,
    name: String,
    arch: String,
    digest: Name,
    recipe: Recipe,
    /// The beginning of a chunk.
    part: Vec<u8>,
}

impl Push {
    /// Takes what other files have. That may be all of a long image: each chunk is looked up, and
    /// taken, by itself, and whoever wants to know something of the images waits for one at most.
    fn copy(&self) {
        let mut bytes = Vec::new();
        for (_, piece) in Plan::of(&self.recipe).all() {
            let found = self.images.state().chunks.found(&self.digest, &piece.hash);
            let Some((file, offset)) = found else { continue };
            bytes.resize(piece.length, 0);
            if file.read_exact_at(&mut bytes, offset).is_ok() {
                // What is not right there, or cannot be written, is to come, and says why then.
                let _ = self.images.state().chunks.take_copy(&piece.hash, &bytes);
            }
        }
    }

    /// The chunks that are to come, as ranges.
    pub(super) fn lacking(&self) -> String {
        let state = self.images.state();
        let plan = Plan::of(&self.recipe);
        let lacks = |piece: &super::Piece| state.chunks.lack(&[self.digest], &piece.hash);
        let lacking = plan.all().filter(|(_, piece)| lacks(piece));
        write_ranges(lacking.map(|(_, piece)| (piece.offset / CHUNK as u64) as u32))
    }

    /// Bytes of the image.
    pub(super) fn size(&self) -> u64 {
        self.recipe.size
    }

    /// Whether all are there.
    pub(super) fn is_whole(&self) -> bool {
        self.images.state().chunks.is_whole(&self.digest)
    }

    /// Takes bytes of a chunk, which come in order.
    pub(super) fn take(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let index = offset / CHUNK as u64;
        let hash = usize::try_from(index).ok().and_then(|index| self.recipe.chunks.get(index));
        let begins = (offset % CHUNK as u64) as usize;
        if begins == 0 {
            self.part.clear();
        }
        let length = length(self.recipe.size, index);
        let (Some(hash), true) = (hash, begins == self.part.len()) else {
            return fail(Errno::INVAL, "a chunk is written from its beginning on");
        };
        if begins + bytes.len() > length {
            return fail(Errno::INVAL, "a write ends where its chunk does");
        }
        self.part.extend_from_slice(bytes);
        if self.part.len() == length {
            self.images.state().chunks.take(hash, &self.part)?;
        }
        Ok(())
    }

    /// It is whole: from now on this is the image of that name.
    pub(super) fn commit(self) -> Result<()> {
        let hashes: Vec<u8> = self.recipe.chunks.iter().flat_map(|hash| hash.0).collect();
        let recipe_file = self.images.recipe_file(&self.digest);
        // It may be long on its way to the disk: nobody else waits meanwhile.
        let file = self.images.state().chunks.open(&self.digest)?;
        file.sync_all().map_err(unkept)?;
        let _writing = self.images.writing();
        self.images.write(&recipe_file, &hashes)?;
        let (plan, multicasts) = (Plan::of(&self.recipe), self.images.multicasts.clone());
        let exchange = Exchange::new(file.try_clone()?, plan, multicasts);
        let image = Image {
            name: self.name.clone(),
            arch: self.arch.clone(),
            digest: self.digest,
            recipe: self.recipe.clone(),
            file,
            pushed: crate::manager::now(),
            exchange,
        };
        let mut state = self.images.state();
        // The image's hold on the file, beside this push's, which ends with it.
        state.chunks.keep(MODE, &self.recipe)?;
        let key = (self.name.clone(), self.arch.clone());
        let before = state.all.insert(key.clone(), Arc::new(image));
        let index = Index::of(&state);
        drop(state);
        let written = self.images.write_index(&index);
        let mut state = self.images.state();
        if let Err(error) = written {
            match before {
                Some(before) => state.all.insert(key, before),
                None => state.all.remove(&key),
            };
            state.chunks.release(&self.digest);
            return Err(error);
        }
        if let Some(before) = before {
            self.images.discard(&mut state, before.digest);
        }
        Ok(())
    }
}

impl Drop for Push {
    fn drop(&mut self) {
        let mut state = self.images.state();
        self.images.discard(&mut state, self.digest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Hash;
    use crate::scratch::Scratch;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    fn pushed(images: &Arc<Images>, name: &str, content: &[u8]) -> Result<()> {
        let recipe = Recipe { size: content.len() as u64, chunks: vec![Hash::of(content)] };
        let mut push = images.begin(name, "any", recipe)?;
        push.take(0, content)?;
        push.commit()
    }

    /// Files are written here no more, as on a full disk.
    fn fill(directory: &Path) {
        fs::create_dir(directory.join("index.new")).unwrap();
    }

    fn files(directory: &Path) -> usize {
        fs::read_dir(directory).unwrap().count()
    }

    #[test]
    fn on_a_full_disk_an_image_is_removed_or_still_there() {
        let scratch = Scratch::new("full");
        let images = Images::open(&scratch).unwrap();
        for (name, content) in [("own", &b"own"[..]), ("one", b"same"), ("other", b"same")] {
            pushed(&images, name, content).unwrap();
        }
        fill(&scratch);
        assert_eq!(files(&scratch), 2 + 2 * 2);
        images.remove("own", None).unwrap();
        assert_eq!(files(&scratch), 2 + 2, "its bytes are gone");
        let said = images.remove("one", None).unwrap_err();
        assert!(said.text.contains("[E310]"), "{said}");
        assert_eq!(images.names(), ["one", "other"]);
        drop(images);
        let images = Images::open(&scratch).unwrap();
        assert_eq!(images.names(), ["one", "other"], "the next manager has the same");
        let key = ("one".to_owned(), "any".to_owned());
        assert!(images.state().all.contains_key(&key));
    }

    #[test]
    fn a_push_that_is_broken_off_loses_no_image_whose_file_had_another_time_or_mode() {
        let scratch = Scratch::new("touched");
        let images = Images::open(&scratch).unwrap();
        let chunks = [vec![1; CHUNK], vec![2; 77]];
        let hashes = chunks.iter().map(|chunk| Hash::of(chunk)).collect();
        let recipe = Recipe { size: CHUNK as u64 + 77, chunks: hashes };
        let begin = || images.begin("one", "any", recipe.clone()).unwrap();
        let mut one = begin();
        one.take(0, &chunks[0]).unwrap();
        one.take(CHUNK as u64, &chunks[1]).unwrap();
        let file = scratch.join(one.digest.to_string());
        one.commit().unwrap();
        // As a backup does that was restored.
        let open = File::options().write(true).open(&file).unwrap();
        open.set_modified(std::time::UNIX_EPOCH).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(begin().is_whole());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
        open.write_all_at(&[9], CHUNK as u64 + 5).unwrap();
        assert_eq!(begin().lacking(), "1");
        drop(images);
        let images = Images::open(&scratch).unwrap();
        let one = images.get("one", "any").expect("the next manager has it");
        let mut all = vec![0; CHUNK];
        one.file.read_exact_at(&mut all, 0).unwrap();
        assert_eq!(all, chunks[0]);
    }

    #[test]
    fn who_lists_the_images_waits_for_nobody_who_waits_for_the_disk() {
        let scratch = Scratch::new("slow");
        let images = Images::open(&scratch).unwrap();
        pushed(&images, "one", b"bytes").unwrap();
        // To open it takes until somebody reads from it.
        let slow = scratch.join("index.new");
        mknodat(CWD, &slow, FileType::Fifo, Mode::RWXU, 0).unwrap();
        std::thread::scope(|scope| {
            let removing = scope.spawn(|| images.remove("one", None));
            let is_gone = || images.state.try_lock().is_ok_and(|state| state.all.is_empty());
            let mut looks = 0;
            while !is_gone() && !removing.is_finished() && looks < 1000 {
                looks += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            let shown = is_gone() && !removing.is_finished();
            // The word that it is there is lost with the pipe, and is written anew.
            drop(File::open(&slow).unwrap());
            removing.join().unwrap().unwrap();
            assert!(shown);
        });
        drop(images);
        assert!(Images::open(&scratch).unwrap().names().is_empty());
    }

    #[test]
    fn to_push_again_mends_a_file_that_became_longer() {
        let scratch = Scratch::new("longer");
        let images = Images::open(&scratch).unwrap();
        pushed(&images, "one", b"bytes").unwrap();
        let digest = images.get("one", "any").unwrap().digest.to_string();
        let mut open = File::options().append(true).open(scratch.join(digest)).unwrap();
        open.write_all(b"\n").unwrap();
        pushed(&images, "one", b"bytes").unwrap();
        assert_eq!(open.metadata().unwrap().len(), 5);
        drop(images);
        assert_eq!(Images::open(&scratch).unwrap().names(), ["one"], "the next manager has it");
    }

    #[test]
    fn a_push_copies_what_other_images_have_and_asks_for_what_is_wrong_there() {
        let scratch = Scratch::new("copied");
        let images = Images::open(&scratch).unwrap();
        let chunks = [vec![1; CHUNK], vec![2; CHUNK], vec![3; 77]];
        let recipe = |chunks: &[Vec<u8>]| Recipe {
            size: chunks.iter().map(|chunk| chunk.len() as u64).sum(),
            chunks: chunks.iter().map(|chunk| Hash::of(chunk)).collect(),
        };
        let mut one = images.begin("one", "any", recipe(&chunks[..2])).unwrap();
        one.take(0, &chunks[0]).unwrap();
        one.take(CHUNK as u64, &chunks[1]).unwrap();
        let file = scratch.join(one.digest.to_string());
        one.commit().unwrap();
        let whole = images.begin("swapped", "any", recipe(&[chunks[1].clone(), chunks[0].clone()]));
        assert!(whole.unwrap().is_whole());
        // A byte rots where no time of the file tells of it.
        let open = File::options().write(true).open(file).unwrap();
        let changed = open.metadata().unwrap().modified().unwrap();
        open.write_all_at(&[9], 7).unwrap();
        open.set_modified(changed).unwrap();
        let other = images.begin("other", "any", recipe(&chunks)).unwrap();
        assert_eq!(other.lacking(), "0,2");
    }

    #[test]
    fn a_file_that_is_being_pushed_stays_when_an_image_that_is_the_same_goes() {
        let scratch = Scratch::new("same");
        let images = Images::open(&scratch).unwrap();
        let recipe = Recipe { size: 4, chunks: vec![Hash::of(b"same")] };
        let begin = |name: &str| images.begin(name, "any", recipe.clone()).unwrap();
        let (mut one, other) = (begin("one"), begin("other"));
        one.take(0, b"same").unwrap();
        one.commit().unwrap();
        images.remove("one", None).unwrap();
        assert!(other.is_whole(), "it goes with the last who wants it");
        other.commit().unwrap();
        // Nor does one go that cannot be kept, while another may be.
        let other = begin("other");
        fill(&scratch);
        assert!(begin("third").commit().is_err());
        assert!(other.is_whole());
        drop(other);
        assert_eq!(images.names(), ["other"]);
        fs::remove_dir(scratch.join("index.new")).unwrap();
        images.remove("other", None).unwrap();
        assert_eq!(files(&scratch), 1, "nobody wants it any more");
        assert!(!begin("last").is_whole());
        assert_eq!(files(&scratch), 1, "nor what was broken off");
    }

    #[test]
    fn on_a_full_disk_the_door_stays_where_it_is_and_is_shut_all_the_same() {
        let scratch = Scratch::new("door");
        let images = Images::open(&scratch).unwrap();
        let at = "tls!127.0.0.1!0".parse().unwrap();
        images.listen(&at, true).unwrap();
        let shown = |images: &Images| images.status()["door"].clone();
        let first = shown(&images);
        fill(&scratch);
        images.listen(&at, true).unwrap_err();
        assert_eq!(shown(&images), first);
        // Where it is already there is nothing to write.
        images.listen(&first.as_str().unwrap().parse().unwrap(), true).unwrap();
        assert_eq!(shown(&images), first);
        let said = images.close().unwrap_err();
        assert!(said.text.starts_with("the door is shut, but"), "{said}");
        assert!(shown(&images).is_null());
    }

    #[test]
    fn where_no_more_images_are_kept_one_of_them_may_still_become_another() {
        let scratch = Scratch::new("replaced");
        let images = Images::open(&scratch).unwrap();
        let push = |name: &str, content: &[u8]| pushed(&images, name, content);
        push("i0", b"same").unwrap();
        let one = images.get("i0", "any").unwrap();
        for number in 1..IMAGES_MAX {
            images.state().all.insert((format!("i{number}"), "any".to_owned()), one.clone());
        }
        assert!(push("more", b"same").unwrap_err().text.contains("images at most"));
        push("i7", b"other").unwrap();
        assert_eq!(images.get("i7", "any").unwrap().recipe.size, 5);
    }
}
