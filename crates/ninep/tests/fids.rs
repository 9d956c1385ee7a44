//! An exported directory and a process with few descriptors. Alone in its program, since the limit
//! is that of the process.

mod peer;

use muster_ninep::error::Errno;
use muster_ninep::host::{HostTree, Options, User, Users};
use muster_ninep::message::Tmessage;
use muster_ninep::version::Version;
use peer::Peer;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// Descriptors that the process may have.
const LIMIT: u64 = 512;

/// A directory of the test's own; gone with it, however it ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = std::env::temp_dir().join(format!("muster-fids-{}", std::process::id()));
        std::fs::create_dir(&path).expect("a new directory");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Walks to a file with one fid after the other until that is refused; how many there are.
fn hoard(peer: &mut Peer<HostTree>) -> usize {
    for fid in 1.. {
        let reply = peer.walk(fid, &["file"]);
        if !reply.is_ok() {
            assert_eq!(reply.refused(), Errno::MFILE);
            return fid as usize - 1;
        }
    }
    unreachable!("there are fewer descriptors than fids")
}

/// Once the first client that kept its fids had all descriptors, and nobody else was even accepted.
#[test]
fn who_hoards_fids_leaves_descriptors_to_others() {
    let limits = rustix::process::Resource::Nofile;
    let mut limit = rustix::process::getrlimit(limits);
    limit.current = Some(LIMIT);
    rustix::process::setrlimit(limits, limit).expect("lower than before");
    let folder = Folder::new();
    std::fs::write(folder.0.join("file"), "").expect("room");
    let options = Options { writable: true, users: Users::Only(User::own()) };
    let tree = Arc::new(HostTree::new(&folder.0, options).expect("a directory"));
    let mut first = Peer::attached(&tree, Version::LINUX);
    let had = hoard(&mut first);
    assert!((50..LIMIT as usize / 4).contains(&had), "{had}");
    let mut second = Peer::attached(&tree, Version::LINUX);
    assert_eq!(hoard(&mut second), had, "one client takes nothing from another");
    // All together leave enough to accept others, and to open what they have.
    let mut others: Vec<_> = (0..8).map(|_| Peer::attached(&tree, Version::LINUX)).collect();
    let all: usize = others.iter_mut().map(hoard).sum();
    assert!(all < LIMIT as usize, "{all}");
    first.open(1).ok();
    let spare: Vec<File> = (0..32).map_while(|_| File::open("/dev/null").ok()).collect();
    assert_eq!(spare.len(), 32);
    drop(spare);
    first.ask(Tmessage::Clunk { fid: 1 }).ok();
    first.ask(Tmessage::Clunk { fid: 2 }).ok();
    others[7].walk(1000, &["file"]).ok();
}
