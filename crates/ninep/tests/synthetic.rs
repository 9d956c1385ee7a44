//! Directories that are made up, as clients see them.

mod peer;

use muster_ninep::error::{Errno, Result};
use muster_ninep::message::{Rmessage, Tmessage};
use muster_ninep::record::DirEntry;
use muster_ninep::synthetic::{Dir, Entry, File, Inode, Synthetic};
use muster_ninep::version::{Dialect, Version};
use muster_ninep::wire::Reader;
use peer::Peer;
use std::sync::{Arc, Mutex};

/// A directory whose files come and go.
struct Jobs(Inode, Mutex<Vec<String>>);

impl Dir for Jobs {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, name: &str) -> Result<Option<Entry>> {
        let is_there = self.list().iter().any(|own| own == name);
        Ok(is_there.then(|| File::text(0o444, || Ok(String::new())).entry()))
    }
    fn list(&self) -> Vec<String> {
        self.1.lock().expect("no holder panics").clone()
    }
}

fn jobs(names: &[&str]) -> Arc<Jobs> {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Arc::new(Jobs(Inode::new(0o555), Mutex::new(names)))
}

/// The names from `offset` on.
fn list(peer: &mut Peer<Synthetic>, offset: u64) -> Vec<String> {
    let data = peer.ask(Tmessage::Readdir { fid: 1, offset, count: 1000 }).data();
    let (mut from, mut names) = (Reader::new(&data, Dialect::Linux), Vec::new());
    while from.left() > 0 {
        let entry = DirEntry::get(&mut from).expect("an entry");
        names.push(String::from_utf8(entry.name).expect("UTF-8"));
    }
    names
}

/// Who watched `jobs/` with one open directory never saw a new one.
#[test]
fn a_directory_read_again_from_its_start_lists_what_is_there_now() {
    let jobs = jobs(&["1", "2"]);
    let mut peer = Peer::attached(&Arc::new(Synthetic::new(jobs.clone())), Version::LINUX);
    peer.walk(1, &[]).ok();
    peer.ask(Tmessage::Lopen { fid: 1, flags: 0 }).ok();
    assert_eq!(list(&mut peer, 0), [".", "..", "1", "2"]);
    *jobs.1.lock().expect("no holder panics") = vec!["2".into(), "3".into()];
    assert_eq!(list(&mut peer, 3), ["2"], "a listing goes on as it has begun");
    assert_eq!(list(&mut peer, 0), [".", "..", "2", "3"]);
}

#[test]
fn one_connection_has_no_more_fids_than_its_tree_gives_it() {
    let tree = Arc::new(Synthetic::new(jobs(&["1"])).with_fids_max(3));
    let mut peer = Peer::attached(&tree, Version::LINUX);
    peer.walk(1, &["1"]).ok();
    peer.walk(2, &["1"]).ok();
    assert_eq!(peer.walk(3, &["1"]).refused(), Errno::MFILE);
    peer.ask(Tmessage::Clunk { fid: 1 }).ok();
    peer.walk(3, &["1"]).ok();
}

/// cp(1) takes a file that has another number when it is opened for one that was replaced.
#[test]
fn a_file_that_is_made_at_each_walk_has_one_number() {
    let tree = Arc::new(Synthetic::new(jobs(&["1", "2"])));
    let mut peer = Peer::attached(&tree, Version::LINUX);
    let mut number = |name: &str| {
        let walked = peer.walk(1, &[name]).ok();
        let Rmessage::Walk { qids } = walked.message() else { panic!("{walked:?}") };
        let number = qids.0[0].path;
        peer.ask(Tmessage::Clunk { fid: 1 }).ok();
        number
    };
    let (first, again, other) = (number("1"), number("1"), number("2"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    peer.walk(1, &[]).ok();
    peer.ask(Tmessage::Lopen { fid: 1, flags: 0 }).ok();
    let data = peer.ask(Tmessage::Readdir { fid: 1, offset: 2, count: 1000 }).data();
    let listed = DirEntry::get(&mut Reader::new(&data, Dialect::Linux)).expect("an entry");
    assert_eq!(listed.qid.path, first, "a listing tells the same");
}
