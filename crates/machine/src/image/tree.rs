//! The files of images, below `images/` (`docs/files.md`, section 2).

use super::check_size;
use super::store::{Image, Images, NO_MULTICAST, Push};
use crate::chunk::{HASH, Recipe, count, read};
use crate::files::control::{self, Commands};
use crate::files::fixed::Fixed;
use crate::files::lane::Lane;
use crate::files::told::Told;
use muster_base::quote;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::synthetic::{Dir, Entry, File, Handle, Inode, Snapshot, SynCall, Synthetic};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

/// The longest first line of `new`.
const HEAD_MAX: usize = 256;

/// The directory `images`, as the cluster's user has it.
pub fn directory(images: &Arc<Images>) -> Entry {
    Entry::Dir(Arc::new(All { images: images.clone(), is_inside: true, inode: Inode::new(0o555) }))
}

/// The tree behind the door for those who are no members.
pub(super) fn outside(images: &Arc<Images>) -> Synthetic {
    let images = All { images: images.clone(), is_inside: false, inode: Inode::new(0o555) };
    let entry = Entry::Dir(Arc::new(images));
    Synthetic::new(Arc::new(Fixed { inode: Inode::new(0o555), files: vec![("images", entry)] }))
}

/// `images`.
struct All {
    images: Arc<Images>,
    /// Whether images may be made and removed here.
    is_inside: bool,
    inode: Inode,
}

impl Dir for All {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        let images = self.images.clone();
        Ok(match name {
            "status" => {
                Some(File::text(0o444, move || Ok(format!("{}\n", images.status()))).entry())
            }
            "ctl" if self.is_inside => {
                Some(control::file(0o660, move || Ctl(images.clone())).entry())
            }
            "new" if self.is_inside => {
                Some(File::new(0o660, move |_| Ok(New::of(&images))).entry())
            }
            name if !images.archs(name).is_empty() => {
                let inode = Inode::of(0o555, ("image", name));
                let name = name.to_owned();
                Some(Entry::Dir(Arc::new(Archs { images, name, inode })))
            }
            _ => None,
        })
    }

    fn list(&self) -> Vec<String> {
        let own = if self.is_inside { &["status", "ctl", "new"][..] } else { &["status"] };
        own.iter().map(|name| (*name).to_owned()).chain(self.images.names()).collect()
    }
}

/// `images/NAME`.
struct Archs {
    images: Arc<Images>,
    name: String,
    inode: Inode,
}

impl Dir for Archs {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        let files = |image| files(&image, Inode::of(0o555, (&self.name, name, &image.digest)));
        Ok(self.images.get(&self.name, name).map(|image| Entry::Dir(Arc::new(files(image)))))
    }

    fn list(&self) -> Vec<String> {
        self.images.archs(&self.name)
    }
}

/// `images/NAME/ARCH`: what is open stays the image that it was.
fn files(image: &Arc<Image>, inode: Inode) -> Fixed {
    let (data, recipe, size) = (image.clone(), image.clone(), image.recipe.size);
    let (digest, exchange) = (format!("{} {size}\n", image.digest), image.exchange.clone());
    let hashes =
        move |_| Ok(Snapshot(recipe.recipe.chunks.iter().flat_map(|hash| hash.0).collect()));
    let files = vec![
        ("data", File::new(0o444, move |_| Ok(Content(data.clone()))).sized(move || size).entry()),
        ("recipe", File::new(0o444, hashes).entry()),
        ("digest", File::text(0o444, move || Ok(digest.clone())).entry()),
        ("sources", image.exchange.file().entry()),
        ("group", File::text(0o444, move || Ok(exchange.group())).entry()),
    ];
    Fixed { inode, files }
}

/// `data`.
struct Content(Arc<Image>);

impl Handle for Content {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let left = self.0.recipe.size.saturating_sub(offset);
        let count = count.min(usize::try_from(left).unwrap_or(usize::MAX));
        call.fill(count, |room| Ok(self.0.file.read_at(room, offset)?))
    }
}

/// `ctl`.
struct Ctl(Arc<Images>);

impl Commands for Ctl {
    fn obey(&self, line: &str) -> Result<()> {
        let invalid = |why: String| Error::new(Errno::INVAL, why);
        let words = quote::split(line).map_err(|error| invalid(error.to_string()))?;
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["remove", name] => self.0.remove(name, None),
            ["remove", name, arch] => self.0.remove(name, Some(arch)),
            ["listen", at, ref rest @ ..] if rest.is_empty() || *rest == [NO_MULTICAST] => {
                let at = at.parse().map_err(|error| invalid(format!("{error}  [E172]")))?;
                self.0.listen(&at, rest.is_empty())
            }
            ["close"] => self.0.close(),
            _ => Err(invalid(format!("'{line}' is no command here; docs/files.md lists them"))),
        }
    }

    fn status(&self) -> String {
        String::new()
    }
}

/// `new`: an image that comes.
struct New {
    coming: Arc<Mutex<Coming>>,
    lane: Lane,
    lacking: Told,
}

/// How far it is.
enum Coming {
    /// Its name and recipe are told.
    Told { images: Arc<Images>, said: Vec<u8> },
    /// Its chunks come.
    Taken(Push),
    /// It is there. Its chunks may have come from others, so that more is still on its way.
    Done { size: u64 },
    /// It cannot come any more.
    Failed(Error),
}

impl New {
    fn of(images: &Arc<Images>) -> New {
        let coming = Coming::Told { images: images.clone(), said: Vec::new() };
        let lane = Lane::default();
        New { coming: Arc::new(Mutex::new(coming)), lacking: Told::on(&lane), lane }
    }
}

impl Coming {
    fn write(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        self.go_on(|now| match now {
            Coming::Told { images, mut said } => {
                said.extend_from_slice(data);
                begun(&images, &said).map(|push| match push {
                    Some(push) => Coming::Taken(push),
                    None => Coming::Told { images, said },
                })
            }
            Coming::Taken(mut push) => push.take(offset, data).map(|()| Coming::Taken(push)),
            Coming::Done { size } if size.checked_sub(offset) >= Some(data.len() as u64) => {
                Ok(Coming::Done { size })
            }
            Coming::Done { .. } => fail(Errno::INVAL, "this image has come already"),
            Coming::Failed(error) => Err(error),
        })
    }

    /// Takes a step, and the last one when all chunks are there.
    fn go_on(&mut self, step: impl FnOnce(Coming) -> Result<Coming>) -> Result<()> {
        let next = step(std::mem::replace(self, Coming::Done { size: 0 }));
        let next = next.and_then(|next| match next {
            Coming::Taken(push) if push.is_whole() => {
                let size = push.size();
                push.commit().map(|()| Coming::Done { size })
            }
            other => Ok(other),
        });
        *self = next.unwrap_or_else(Coming::Failed);
        match self {
            Coming::Failed(error) => Err(error.clone()),
            _ => Ok(()),
        }
    }

    fn lacking(&mut self) -> Result<String> {
        // Asked before the last step: what comes meanwhile may be all that was lacking.
        let lacking = match self {
            Coming::Taken(push) => push.lacking(),
            _ => String::new(),
        };
        // Whoever lacks nothing any more writes nothing.
        self.go_on(Ok)?;
        match self {
            Coming::Told { .. } => fail(Errno::INVAL, "the recipe comes first"),
            Coming::Taken(_) if lacking.is_empty() => {
                let text = "the manager could not finish this image's file; push it again  [E310]";
                fail(Errno::IO, text)
            }
            Coming::Taken(_) => Ok(lacking + "\n"),
            Coming::Done { .. } => Ok("\n".to_owned()),
            Coming::Failed(error) => Err(error.clone()),
        }
    }
}

/// Reads `NAME ARCH SIZE`, a line, and the recipe behind it.
fn begun(images: &Arc<Images>, said: &[u8]) -> Result<Option<Push>> {
    let invalid = || Error::new(Errno::INVAL, "an image begins with NAME ARCH SIZE and its recipe");
    let Some(end) = said.iter().position(|byte| *byte == b'\n') else {
        return if said.len() > HEAD_MAX { Err(invalid()) } else { Ok(None) };
    };
    let head = std::str::from_utf8(&said[..end]).map_err(|_| invalid())?;
    let words: Vec<&str> = head.split(' ').collect();
    let [name, arch, size] = words[..] else { return Err(invalid()) };
    let size: u64 = size.parse().map_err(|_| invalid())?;
    check_size(size)?;
    let hashes = count(size) as usize * HASH;
    match said.len() - end - 1 {
        so_far if so_far < hashes => Ok(None),
        so_far if so_far > hashes => Err(invalid()),
        _ => {
            let recipe = Recipe { size, chunks: read(&said[end + 1..]).collect() };
            images.begin(name, arch, recipe).map(Some)
        }
    }
}

impl Handle for New {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let coming = self.coming.clone();
        let lacking = move || coming.lock().expect("no holder panics").lacking();
        self.lacking.read(call, offset, count, lacking)
    }

    fn write(&self, call: &mut SynCall<'_>, offset: u64, data: &[u8]) -> Answer<u32> {
        let (coming, data) = (self.coming.clone(), data.to_vec());
        self.lane.answer(call, move || {
            coming.lock().expect("no holder panics").write(offset, &data)?;
            Ok(data.len() as u32)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Hash;
    use crate::scratch::Scratch;
    use muster_base::limits::CHUNK;

    /// An image that comes: what is told first of it.
    fn coming(images: &Arc<Images>, name: &str, chunks: &[&[u8]]) -> Coming {
        let size: usize = chunks.iter().map(|chunk| chunk.len()).sum();
        let mut said = format!("{name} any {size}\n").into_bytes();
        said.extend(chunks.iter().flat_map(|chunk| Hash::of(chunk).0));
        let mut coming = Coming::Told { images: images.clone(), said: Vec::new() };
        coming.write(0, &said).unwrap();
        coming
    }

    #[test]
    fn images_with_chunks_in_common_come_at_the_same_time() {
        let scratch = Scratch::new("coming");
        let images = Images::open(&scratch).unwrap();
        let (common, own) = (vec![1; CHUNK], vec![2; 77]);
        let mut one = coming(&images, "one", &[&common]);
        let mut two = coming(&images, "two", &[&common, &own]);
        let mut three = coming(&images, "three", &[&own]);
        assert_eq!(two.lacking().unwrap(), "0-1\n");
        // The first has said half of it when it comes from another.
        one.write(0, &common[..CHUNK / 2]).unwrap();
        two.write(0, &common).unwrap();
        one.write(CHUNK as u64 / 2, &common[CHUNK / 2..]).unwrap();
        assert!(images.get("one", "any").is_some());
        // What is there already may be said on, and nothing beyond.
        one.write(0, &common[..CHUNK / 2]).unwrap();
        two.write(CHUNK as u64, &own).unwrap();
        assert!(images.get("two", "any").is_some());
        // Who lacks nothing any more when it asks writes nothing.
        assert_eq!(three.lacking().unwrap(), "\n");
        assert!(images.get("three", "any").is_some());
        let beyond = one.write(CHUNK as u64, b"more").unwrap_err();
        assert!(beyond.text.contains("has come already"), "{beyond}");
    }
}
