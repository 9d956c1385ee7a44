//! The recipes of local files: what their chunks hash to, remembered while they stay as they are.
//!
//! A file's identity is its device, inode, length and times; while they are the same, so is what it
//! says, with one exception: what is changed twice within the grain of the clock that stamps it.
//! So a file that was changed a moment ago is not remembered, as git does it. Nor is one that is
//! hashed as soon as looked up; and of many, the oldest are forgotten.

use crate::chunk::{HASH, Hash, Recipe, count, length, read};
use muster_base::limits::CHUNK;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds for which a change may hide another: the coarsest clock of a file system has two.
const GRAIN: i64 = 2;

/// Bytes of a file that is worth to be remembered.
const WORTH: u64 = 64 << 10;

/// How many are remembered: each takes an inode and a page, which may be memory.
const MOST: usize = 4096;

/// How files are hashed, and where that is remembered.
#[derive(Clone, Debug, Default)]
pub struct Recipes {
    directory: Option<PathBuf>,
}

impl Recipes {
    /// Remembers in a directory, which need not be there; it is to be its user's alone.
    pub fn remembered(directory: PathBuf) -> Recipes {
        Recipes { directory: Some(directory) }
    }

    /// The recipe of an open file.
    ///
    /// # Errors
    /// When it cannot be read, [`io::ErrorKind::UnexpectedEof`] when it is shorter than it was.
    pub fn of(&self, file: &File, meta: &Metadata) -> io::Result<Recipe> {
        self.of_telling(file, meta, |_| {})
    }

    /// The same, telling how many bytes more were hashed: a long file takes a while.
    ///
    /// # Errors
    /// As [`Recipes::of`].
    pub fn of_telling(
        &self,
        file: &File,
        meta: &Metadata,
        more: impl FnMut(u64),
    ) -> io::Result<Recipe> {
        let size = meta.len();
        let directory = self.directory.as_ref().filter(|_| size >= WORTH);
        let at = directory.map(|directory| directory.join(identity(meta)));
        let remembered = at.as_ref().and_then(|at| fs::read(at).ok());
        if let Some(hashes) = remembered
            && hashes.len() as u64 == count(size) * HASH as u64
        {
            return Ok(Recipe { size, chunks: read(&hashes).collect() });
        }
        let recipe = hash(file, size, more)?;
        let after = file.metadata()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let is_settled = i64::try_from(now).unwrap_or(i64::MAX) - meta.ctime() > GRAIN;
        if let Some(at) = at.filter(|_| is_settled && identity(&after) == identity(meta)) {
            // Where it cannot be remembered it is hashed again.
            let _ = remember(&at, &recipe);
        }
        Ok(recipe)
    }
}

fn hash(mut file: &File, size: u64, mut more: impl FnMut(u64)) -> io::Result<Recipe> {
    let mut buffer = vec![0; CHUNK.min(usize::try_from(size).unwrap_or(CHUNK))];
    let mut chunks = Vec::new();
    for index in 0..count(size) {
        let bytes = &mut buffer[..length(size, index)];
        file.read_exact(bytes)?;
        chunks.push(Hash::of(bytes));
        more(bytes.len() as u64);
    }
    Ok(Recipe { size, chunks })
}

fn identity(meta: &Metadata) -> String {
    let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
    let times = times.map(|time| format!("{time:x}")).join("-");
    format!("{:x}-{:x}-{:x}-{times}", meta.dev(), meta.ino(), meta.len())
}

/// Renamed into place: nobody reads half of it.
fn remember(at: &Path, recipe: &Recipe) -> io::Result<()> {
    let Some(directory) = at.parent() else { return Ok(()) };
    // Not its parents: a cluster that is gone leaves none.
    if let Err(error) = fs::create_dir(directory)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    let new = at.with_extension(std::process::id().to_string());
    let hashes: Vec<u8> = recipe.chunks.iter().flat_map(|hash| hash.0).collect();
    fs::write(&new, hashes)?;
    fs::rename(&new, at)?;
    forget_oldest(directory, MOST)
}

/// Makes room for more where there are too many, among them what was half written when its process
/// was killed.
fn forget_oldest(directory: &Path, most: usize) -> io::Result<()> {
    if fs::read_dir(directory)?.count() <= most {
        return Ok(());
    }
    let when = |one: fs::DirEntry| Some((one.metadata().ok()?.modified().ok()?, one.path()));
    let mut all: Vec<_> = fs::read_dir(directory)?.flatten().filter_map(when).collect();
    all.sort_unstable();
    let many = (all.len() - most.min(all.len())) + most / 4;
    // Another may do the same.
    all.iter().take(many).for_each(|(_, path)| drop(fs::remove_file(path)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::fs::FileExt;
    use std::time::Duration;

    #[test]
    fn a_recipe_is_remembered_as_long_as_the_file_is_the_same() {
        let place = Scratch::new("recipe");
        let path = place.file("file", &[7; 2 * CHUNK + 5]);
        let recipes = Recipes::remembered(place.join("recipes"));
        let of = || {
            let file = File::open(&path).unwrap();
            recipes.of(&file, &file.metadata().unwrap()).unwrap()
        };
        let kept = || fs::read_dir(place.join("recipes")).map_or(0, Iterator::count);
        let (whole, file, mut told) = (of(), File::open(&path).unwrap(), Vec::new());
        let telling = recipes.of_telling(&file, &file.metadata().unwrap(), |more| told.push(more));
        assert_eq!((telling.unwrap(), told), (whole.clone(), vec![CHUNK as u64, CHUNK as u64, 5]));
        assert_eq!((whole.size, whole.chunks.len()), (2 * CHUNK as u64 + 5, 3));
        assert_eq!(whole.chunks[2], Hash::of(&[7; 5]));
        // It was written a moment ago.
        assert_eq!(kept(), 0);
        std::thread::sleep(Duration::from_secs(GRAIN as u64 + 2));
        assert_eq!((of(), kept()), (whole.clone(), 1));
        assert_eq!((of(), kept()), (whole.clone(), 1));
        File::options().write(true).open(&path).unwrap().write_all_at(b"x", 3).unwrap();
        let changed = of();
        assert_ne!(changed.chunks[0], whole.chunks[0]);
        assert_eq!(changed.chunks[1], whole.chunks[1]);
    }

    #[test]
    fn of_too_many_recipes_the_oldest_are_forgotten() {
        let place = Scratch::new("recipes");
        for (at, name) in (0..).zip(["c", "b.77", "d", "a", "e", "f"]) {
            let file = File::create(place.join(name)).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(at)).unwrap();
        }
        let kept = || {
            let names = fs::read_dir(&*place).unwrap().flatten().map(|one| one.file_name());
            let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
            names.sort_unstable();
            names
        };
        forget_oldest(&place, 6).unwrap();
        assert_eq!(kept().len(), 6);
        forget_oldest(&place, 4).unwrap();
        assert_eq!(kept(), ["a", "e", "f"]);
    }
}
