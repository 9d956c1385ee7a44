//! What a client serves to others: the chunks of an image that it holds, in a tree with one file,
//! named by the image's digest. A read gives bytes of one chunk, or is refused if that is not here.

use crate::chunk::store::{Chunks, Name};
use crate::chunk::{Hash, Recipe};
use muster_base::limits::CHUNK;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::synthetic::{Dir, Entry, File as Served, Handle, Inode, SynCall, Synthetic};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

/// The file of an image, as far as it is here.
pub(super) struct Held {
    pub(super) name: Name,
    pub(super) recipe: Recipe,
    pub(super) chunks: Mutex<Chunks>,
    /// It is renamed when it is whole, and stays what is served.
    pub(super) file: File,
}

impl Held {
    /// Whether a chunk is here, and right.
    pub(super) fn has(&self, hash: &Hash) -> bool {
        !self.chunks.lock().expect("no holder panics").lack(&[self.name], hash)
    }

    /// Whether all of them are.
    pub(super) fn is_whole(&self) -> bool {
        self.chunks.lock().expect("no holder panics").is_whole(&self.name)
    }

    /// Takes a chunk; false if it is here already.
    ///
    /// # Errors
    /// `EBADMSG` when it is not the one, else the system's.
    pub(super) fn take(&self, hash: &Hash, bytes: &[u8]) -> Result<bool> {
        let mut chunks = self.chunks.lock().expect("no holder panics");
        let is_new = chunks.lack(&[self.name], hash);
        chunks.take(hash, bytes).map(|()| is_new)
    }
}

/// The tree of a helper.
pub(super) fn tree(held: &Arc<Held>) -> Synthetic {
    let (of, size, name) = (held.clone(), held.recipe.size, held.name.to_string());
    let file = Served::new(0o444, move |_| Ok(Content(of.clone()))).sized(move || size).entry();
    Synthetic::new(Arc::new(Root { inode: Inode::new(0o555), name, file }))
}

struct Root {
    inode: Inode,
    name: String,
    file: Entry,
}

impl Dir for Root {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        Ok((name == self.name).then(|| self.file.clone()))
    }

    fn list(&self) -> Vec<String> {
        vec![self.name.clone()]
    }
}

struct Content(Arc<Held>);

impl Handle for Content {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let Held { recipe, file, .. } = &*self.0;
        let index = usize::try_from(offset / CHUNK as u64).unwrap_or(usize::MAX);
        let hash = recipe.chunks.get(index).filter(|_| offset < recipe.size);
        let Some(hash) = hash else { return Ok(Vec::new().into()) };
        if !self.0.has(hash) {
            return fail(Errno::NODATA, "this chunk is not here");
        }
        let end = recipe.size.min((index as u64 + 1) * CHUNK as u64);
        let count = count.min((end - offset) as usize);
        call.fill(count, |room| Ok(file.read_at(room, offset)?))
    }
}
