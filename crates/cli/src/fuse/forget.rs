//! Has the kernel forget old inodes when there are too many.

use super::table::Table;
use fuser::{INodeNo, Notifier};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

/// `FUSE_NOTIFY_PRUNE`: inodes to be forgotten that nobody uses. Since Linux 6.18.
const PRUNE: u32 = 9;

/// Until the mount is gone.
pub(super) fn trim(table: &Table, device: &OwnedFd, notifier: &Notifier) {
    let mut prunes = true;
    while let Some(oldest) = table.excess() {
        prunes = prunes && prune(device, oldest.iter().map(|(ino, _)| *ino)).is_ok();
        if prunes {
            continue;
        }
        for (_, place) in oldest {
            // What is in use stays; but it has no name from then on, not even for who has it as
            // his working directory, until somebody looks it up. So directories come last.
            let _ = notifier.inval_entry(INodeNo(place.dir), OsStr::from_bytes(&place.name));
        }
    }
}

/// Has the kernel forget those of some inodes that nobody uses.
fn prune(device: &OwnedFd, inodes: impl ExactSizeIterator<Item = u64>) -> rustix::io::Result<()> {
    let message = note(inodes);
    rustix::io::write(device, &message).map(drop)
}

/// `fuse_out_header`, `fuse_notify_prune_out` and the inodes (linux/fuse.h).
fn note(inodes: impl ExactSizeIterator<Item = u64>) -> Vec<u8> {
    let (header, count) = (32, inodes.len());
    let mut note = Vec::with_capacity(header + 8 * count);
    note.extend_from_slice(&((header + 8 * count) as u32).to_ne_bytes());
    note.extend_from_slice(&PRUNE.to_ne_bytes());
    note.extend_from_slice(&0u64.to_ne_bytes());
    note.extend_from_slice(&(count as u32).to_ne_bytes());
    note.extend_from_slice(&[0; 12]);
    inodes.for_each(|ino| note.extend_from_slice(&ino.to_ne_bytes()));
    note
}
