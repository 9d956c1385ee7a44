//! Names of files that hold for the server's life: qids out of what stat(2) tells.
//!
//! A qid's path must tell apart all files of all devices that this process shows, in 63 bits: the
//! last says that a file is made up. Its upper bits number the pairs (device, upper 16 bits of the
//! inode number) in the order in which they are met, its lower 48 are the rest of the inode number.
//! Usually there is one pair, and the path is the inode number. File systems whose inode numbers
//! are hashes have a pair for nearly each file: beyond 16,383 the path is a hash of both, of 62
//! bits, and two of a million files have the same with a chance of 10^-7.

use crate::record::{Attr, Qid, Time, mode};
use rustix::fs::Stat;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, RwLock};

/// What tells a file from all others of the machine while it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Device.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

impl Identity {
    /// The identity of the file with these attributes.
    pub fn of(stat: &Stat) -> Identity {
        Identity { device: stat.st_dev, inode: stat.st_ino }
    }

    fn pair(self) -> (u64, u64) {
        (self.device, self.inode >> 48)
    }
}

/// Pairs that get an index of their own.
const PAIRS_MAX: usize = 0x3fff;

/// The bit of the paths of files beyond them.
const BEYOND: u64 = 1 << 62;

/// Indices of pairs.
#[derive(Debug)]
struct Pairs {
    known: RwLock<HashMap<(u64, u64), u64>>,
    most: usize,
}

/// Those of all trees of this process: they may be parts of one server's.
static PAIRS: LazyLock<Pairs> = LazyLock::new(|| Pairs::up_to(PAIRS_MAX));

impl Pairs {
    fn up_to(most: usize) -> Pairs {
        Pairs { known: RwLock::default(), most }
    }

    fn index(&self, pair: (u64, u64)) -> Option<u64> {
        let known = self.known.read().expect("no holder panics").get(&pair).copied();
        known.or_else(|| self.add(pair))
    }

    fn add(&self, pair: (u64, u64)) -> Option<u64> {
        let mut known = self.known.write().expect("no holder panics");
        let next = known.len();
        match known.get(&pair) {
            Some(index) => Some(*index),
            None if next >= self.most => None,
            None => {
                known.insert(pair, next as u64);
                Some(next as u64)
            }
        }
    }
}

/// Counters of changes. Files share them: a collision only makes a version change once more.
const COUNTERS: usize = 1024;

/// The table of one tree.
#[derive(Debug)]
pub struct Qids {
    /// The root's pair, which is that of nearly all files, and its index.
    first: ((u64, u64), Option<u64>),
    pairs: &'static Pairs,
    /// Changes made through this server: older kernels' timestamps stand still for 4 ms.
    changes: Box<[AtomicU32]>,
}

impl Qids {
    /// A table for a tree whose root is this file.
    pub fn new(root: Identity) -> Qids {
        Qids::with_pairs(root, &PAIRS)
    }

    fn with_pairs(root: Identity, pairs: &'static Pairs) -> Qids {
        let first = root.pair();
        let changes = (0..COUNTERS).map(|_| AtomicU32::new(0)).collect();
        Qids { first: (first, pairs.index(first)), pairs, changes }
    }

    /// The file's path.
    pub fn path(&self, file: Identity) -> u64 {
        let (pair, index) = self.first;
        let index = if file.pair() == pair { index } else { self.pairs.index(file.pair()) };
        match index {
            Some(index) => index << 48 | file.inode & 0xffff_ffff_ffff,
            None => BEYOND | mix(mix(0, file.device), file.inode) >> 2,
        }
    }

    /// The file's qid.
    pub fn qid(&self, stat: &Stat) -> Qid {
        let file = Identity::of(stat);
        Qid {
            kind: Qid::kind_of_mode(stat.st_mode),
            version: self.version(file, stat),
            path: self.path(file),
        }
    }

    fn counter(&self, file: Identity) -> &AtomicU32 {
        &self.changes[(mix(file.inode, file.device) as usize) % COUNTERS]
    }

    /// Notes that the server has changed the file's content.
    pub fn changed(&self, file: Identity) {
        self.counter(file).fetch_add(1, Ordering::Relaxed);
    }

    #[allow(clippy::unnecessary_cast, reason = "the widths differ between architectures")]
    fn version(&self, file: Identity, stat: &Stat) -> u32 {
        let parts = [
            stat.st_mtime as u64,
            stat.st_mtime_nsec as u64,
            stat.st_ctime as u64,
            stat.st_ctime_nsec as u64,
            stat.st_size as u64,
            self.counter(file).load(Ordering::Relaxed).into(),
        ];
        let mixed = parts.into_iter().fold(0, mix);
        (mixed ^ mixed >> 32) as u32
    }

    /// All attributes of a file, in the protocol's terms.
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between architectures")]
    pub fn attr(&self, stat: &Stat) -> Attr {
        let time = |sec: i64, nsec: u64| Time { sec: sec as u64, nsec };
        Attr {
            valid: Attr::BASIC,
            qid: self.qid(stat),
            mode: stat.st_mode,
            uid: stat.st_uid,
            gid: stat.st_gid,
            nlink: stat.st_nlink as u64,
            rdev: stat.st_rdev,
            size: stat.st_size as u64,
            blksize: stat.st_blksize as u64,
            blocks: stat.st_blocks as u64,
            atime: time(stat.st_atime, stat.st_atime_nsec as u64),
            mtime: time(stat.st_mtime, stat.st_mtime_nsec as u64),
            ctime: time(stat.st_ctime, stat.st_ctime_nsec as u64),
            ..Attr::default()
        }
    }

    /// The qid of a name in a directory, as far as the directory itself tells.
    pub fn qid_of_entry(&self, device: u64, inode: u64, kind: u8) -> Qid {
        let kind = Qid::kind_of_mode(u32::from(kind) << 12 & mode::KIND);
        Qid { kind, version: 0, path: self.path(Identity { device, inode }) }
    }
}

/// One step of a hash: spreads every bit of both numbers over the result.
fn mix(state: u64, value: u64) -> u64 {
    let product = (state ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let folded = (product ^ product >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let folded = (folded ^ folded >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    folded ^ folded >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::MADE;
    use std::collections::HashSet;

    fn pairs(most: usize) -> &'static Pairs {
        Box::leak(Box::new(Pairs::up_to(most)))
    }

    #[test]
    fn paths_of_all_devices_and_inode_numbers_differ_and_stay() {
        let root = Identity { device: 1, inode: 2 };
        let pairs = pairs(3);
        let qids = Qids::with_pairs(root, pairs);
        assert_eq!(qids.path(root), 2, "on the root's device the path is the inode number");
        let mut files = Vec::new();
        for device in 1..=4 {
            for inode in [2, 3, 2 | 1 << 48, 2 | 0xffff << 48, u64::MAX] {
                files.push(Identity { device, inode });
            }
        }
        let paths: Vec<u64> = files.iter().map(|&file| qids.path(file)).collect();
        assert_eq!(paths.iter().collect::<HashSet<_>>().len(), files.len());
        let other = Qids::with_pairs(Identity { device: 4, inode: 2 }, pairs);
        for (&file, &path) in files.iter().zip(&paths).rev() {
            assert_eq!(qids.path(file), path);
            assert_eq!(other.path(file), path, "trees of one server have one numbering");
        }
    }

    /// With inode numbers that are hashes, files were taken for made up: `muster cp -r` left them
    /// out.
    #[test]
    fn no_file_of_a_disk_is_said_to_be_made_up_however_many_pairs_there_are() {
        let qids = Qids::with_pairs(Identity { device: 1, inode: 2 }, pairs(PAIRS_MAX));
        let files = (0..70_000).map(|at| Identity { device: 1, inode: at << 48 | 5 });
        let paths: HashSet<u64> = files.map(|file| qids.path(file)).collect();
        assert_eq!(paths.len(), 1 << 16);
        assert!(paths.iter().all(|path| path & MADE == 0));
    }
}
