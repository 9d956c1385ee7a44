//! Boot images: files of some hundred MiB that many machines take at once, each for its
//! architecture, as they start.
//!
//! ```text
//!  muster image push ──> manager: images/NAME/ARCH/  data, recipe, digest, sources
//!                           │  ▲
//!              chunks, each │  │ "I have 7; what next?"  "12 from tls!10.78.0.9!40121"
//!             about once    ▼  │
//!  muster image fetch ───── client ◄══ chunks ══► client ◄══ chunks ══► ...
//! ```
//!
//! The manager keeps images as files of a [chunk store](crate::chunk::store), and serves them in
//! its tree ([`tree`]). A client reads the image's recipe, opens `sources`, and asks there where to
//! take which chunk ([`sources`]); the answer is the server itself or another client, for each
//! client serves what it holds while it fetches and for its *term* after that ([`fetch`]). Who is
//! named to whom is [`swarm`]'s to say. Where several fetch at the same time and hear multicast the
//! server sends each chunk once, to all of them (`caster.rs`, `fetch/ear.rs`). Other chunks come by
//! 9P reads of `data` at the server, and of the file with the image's digest as its name at a
//! helper ([`held`]); each is compared with its hash before it is written or passed on.
//!
//! Machines that boot are no members of the cluster. They have one key in common, the cluster's
//! *image key*, which opens the images and nothing else; with it they reach the manager's second
//! door, where the images alone are served, and each other. On the manager's own machine its
//! socket is as good.
//!
//! Who may die when: a client or a helper at any time ([`swarm`]). The manager: what it has is in
//! the cluster's directory, clients and helpers come back to the next one and say what they hold. A
//! client that is killed has the chunks that it wrote, and its successor takes only the others.

mod caster;
pub mod fetch;
mod held;
pub mod sources;
pub mod store;
pub mod swarm;
pub mod tree;

use crate::chunk::{HASH, Hash, Recipe, count};
use muster_base::limits::RECIPE_MAX;
use muster_ninep::error::{Errno, Result, fail};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// How images are kept: the mode of their files.
const MODE: u32 = 0o644;

/// The chunks of an image that differ, in the order in which each is there first; the exchange
/// counts these.
#[derive(Clone, Debug)]
pub struct Plan(Vec<Piece>);

/// One of them: its hash, and where it is first.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// What it is called.
    pub hash: Hash,
    /// Where it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub length: usize,
}

impl Plan {
    /// That of an image.
    pub fn of(recipe: &Recipe) -> Plan {
        let mut seen = HashSet::new();
        let pieces = recipe.pieces().filter(|(hash, ..)| seen.insert(*hash));
        Plan(pieces.map(|(hash, offset, length)| Piece { hash, offset, length }).collect())
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// One of them.
    pub fn get(&self, chunk: swarm::Chunk) -> Option<Piece> {
        self.0.get(chunk as usize).copied()
    }

    /// All, with their numbers.
    pub fn all(&self) -> impl Iterator<Item = (swarm::Chunk, Piece)> + '_ {
        self.0.iter().enumerate().map(|(at, piece)| (at as u32, *piece))
    }
}

/// Has a file that was written whole take another name. Without a wait for the disk a machine that
/// loses its power soon after may have the name, and zeros behind it.
fn put(file: &File, from: &Path, to: &Path) -> io::Result<()> {
    file.sync_all()?;
    fs::rename(from, to)?;
    let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    // Without the name what was there before is there, which is as right.
    let _ = File::open(directory.unwrap_or(Path::new("."))).and_then(|it| it.sync_all());
    Ok(())
}

/// Names of the files beside images.
const RESERVED: [&str; 3] = ["ctl", "new", "status"];

/// What images and architectures may be called: their names are names of files.
///
/// # Errors
/// `EINVAL`.
pub fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_good = !name.is_empty() && name.len() <= 64 && name.chars().all(plain);
    if !is_good || name.starts_with(['-', '.']) || RESERVED.contains(&name) {
        let text = format!(
            "'{name}' is no name for an image or an architecture: up to 64 letters, digits, '-', \
             '_' and '.', beginning with neither '-' nor '.', and none of {}  [E170]",
            RESERVED.join(", ")
        );
        return fail(Errno::INVAL, text);
    }
    Ok(())
}

/// How long an image may be: its recipe has room for so much.
///
/// # Errors
/// `EFBIG`.
pub fn check_size(size: u64) -> Result<()> {
    if size == 0 || count(size) > (RECIPE_MAX / HASH) as u64 {
        let text = format!("an image has 1 byte to 16 GiB, and this one {size} bytes  [E172]");
        return fail(Errno::FBIG, text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_as_long_as_its_recipe_can_tell() {
        let longest = 16 << 30;
        assert!(check_size(1).is_ok() && check_size(longest).is_ok());
        for size in [0, longest + 1, u64::MAX] {
            let refused = check_size(size).unwrap_err();
            assert!(refused.errno == Errno::FBIG && refused.text.contains(&size.to_string()));
        }
    }

    #[test]
    fn who_is_refused_a_name_is_told_what_names_are() {
        for name in ["", "-x", ".x", "a b", "ctl", &"x".repeat(65)] {
            let refused = check_name(name).unwrap_err().text;
            assert!(refused.contains("beginning with neither '-' nor '.'"), "{refused}");
        }
        assert!(check_name("boot-6.1_x").is_ok());
    }
}
