//! Requests of the kernel's that take several of 9P's, one after the other: each step is sent
//! from the callback of the one before.

use super::attributes::{attributes, open_flags};
use super::table::{Place, Table};
use super::watch::{Reply, Waiting};
use fuser::{Errno, FileAttr, FopenFlags, Generation};
use muster_ninep::client::Fid;
use muster_ninep::error::{Errno as NineErrno, Error, Result};
use muster_ninep::tree::OpenFlags;
use std::sync::Arc;
use std::time::Duration;

/// How long the kernel may keep what it was told.
pub(super) const TTL: Duration = Duration::ZERO;

/// The same file under the same number at another time is the same file.
const GENERATION: Generation = Generation(0);

/// How all files are opened: the page cache would cut reads at the size, which is 0 for files
/// that are made up.
pub(super) const HOW: FopenFlags =
    FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);

type Found = (Vec<muster_ninep::record::Qid>, Option<Fid>);

/// The fid at the end of a walk of one name or none.
fn arrived(walked: Result<Found>) -> Result<Fid> {
    walked.and_then(|(_, fid)| fid.ok_or(Error::from(NineErrno::NOENT)))
}

/// A directory: its inode and its fid.
#[derive(Debug, Clone)]
pub(super) struct Parent {
    pub(super) ino: u64,
    pub(super) fid: Fid,
}

/// Finds what `names` lead to from `fid` (none: to itself), enters it in the table as found at
/// `place`, and hands its attributes on.
fn find<R: Reply>(
    table: &Arc<Table>,
    waiting: &Waiting<R>,
    (fid, names): (&Fid, &[&[u8]]),
    place: Place,
    then: impl FnOnce(R, FileAttr) + Send + 'static,
) {
    let table = table.clone();
    waiting.via(|waiting| {
        fid.walk_then(names, move |walked| {
            if walked.as_ref().is_err_and(|error| error.errno == NineErrno::MFILE) {
                table.make_room();
            }
            waiting.go_on(arrived(walked), |waiting, fid| {
                let file = fid.clone();
                waiting.via(|waiting| {
                    file.getattr_then(move |attr| {
                        waiting.answer(attr, |reply, attr| {
                            let ino = table.enter(fid, attr.qid, place);
                            then(reply, attributes(ino, &attr));
                        });
                    })
                });
            });
        })
    });
}

/// Finds `name` in `dir` and answers with it.
pub(super) fn look_up_entry(
    table: &Arc<Table>,
    waiting: &Waiting<fuser::ReplyEntry>,
    dir: &Parent,
    name: &[u8],
) {
    let place = Place { dir: dir.ino, name: name.to_vec() };
    find(table, waiting, (&dir.fid, &[name]), place, |reply, attr| {
        reply.entry(&TTL, &attr, GENERATION);
    });
}

/// Clones a fid and hands the clone on.
pub(super) fn with_clone<R: Reply>(
    waiting: &Waiting<R>,
    fid: &Fid,
    then: impl FnOnce(Waiting<R>, Fid) + Send + 'static,
) {
    waiting.via(|waiting| fid.walk_then(&[], move |walked| waiting.go_on(arrived(walked), then)));
}

/// Opens a file or directory.
pub(super) fn open(
    table: &Arc<Table>,
    waiting: &Waiting<fuser::ReplyOpen>,
    fid: &Fid,
    flags: OpenFlags,
    how: FopenFlags,
) {
    let table = table.clone();
    with_clone(waiting, fid, move |waiting, fid| {
        let file = fid.clone();
        waiting.via(|waiting| {
            file.open_then(flags, move |opened| {
                waiting.answer(opened, |reply, _| reply.opened(table.opened(fid), how));
            })
        });
    });
}

/// Who creates what.
pub(super) struct Creation {
    pub(super) name: Vec<u8>,
    pub(super) mode: u32,
    pub(super) gid: u32,
    pub(super) flags: i32,
}

/// Creates a file, hands the opened fid on.
fn create<R: Reply>(
    waiting: &Waiting<R>,
    dir: &Fid,
    new: Creation,
    then: impl FnOnce(Waiting<R>, Fid, Creation) + Send + 'static,
) {
    with_clone(waiting, dir, move |waiting, fid| {
        let file = fid.clone();
        let flags = open_flags(new.flags | libc::O_CREAT);
        waiting.via(|waiting| {
            let name = new.name.clone();
            let (mode, gid) = (new.mode & 0o7777, new.gid);
            file.create_then(&name, flags, mode, gid, move |created| {
                waiting.go_on_done(created, |waiting, _| then(waiting, fid, new));
            })
        });
    });
}

/// Creates a file and opens it. Its inode is that of the opened file: the name may lead to another
/// by now, or to none.
pub(super) fn create_open(
    table: &Arc<Table>,
    waiting: &Waiting<fuser::ReplyCreate>,
    dir: &Parent,
    new: Creation,
) {
    let (table, dir_ino) = (table.clone(), dir.ino);
    create(waiting, &dir.fid, new, move |waiting, fid, new| {
        let (files, file) = (table.clone(), fid.clone());
        let place = Place { dir: dir_ino, name: new.name };
        find(&table, &waiting, (&file, &[]), place, move |reply, attr| {
            reply.created(&TTL, &attr, GENERATION, files.opened(fid), HOW);
        });
    });
}

/// Creates a regular file that stays closed.
pub(super) fn create_closed(
    table: &Arc<Table>,
    waiting: &Waiting<fuser::ReplyEntry>,
    dir: &Parent,
    new: Creation,
) {
    let (table, dir_ino) = (table.clone(), dir.ino);
    create(waiting, &dir.fid, new, move |waiting, fid, new| {
        let place = Place { dir: dir_ino, name: new.name };
        find(&table, &waiting, (&fid, &[]), place, |reply, attr| {
            reply.entry(&TTL, &attr, GENERATION);
        });
    });
}

/// Answers with the attributes of a file.
pub(super) fn attributes_of(waiting: &Waiting<fuser::ReplyAttr>, ino: u64, fid: &Fid) {
    waiting.via(|waiting| {
        fid.getattr_then(move |attr| {
            waiting.answer(attr, |reply, attr| reply.attr(&TTL, &attributes(ino, &attr)));
        })
    });
}

/// Answers with an extended attribute, or with the list of all, or its size if `room` is 0.
pub(super) fn read_xattr(waiting: &Waiting<fuser::ReplyXattr>, fid: &Fid, name: &[u8], room: u32) {
    waiting.via(|waiting| {
        fid.xattrwalk_then(name, move |found| {
            waiting.go_on(found, |waiting, (fid, size)| match size {
                // A server that has it change meanwhile answers the kernel's second try.
                size if room == 0 => {
                    let size = u32::try_from(size).unwrap_or(u32::MAX);
                    waiting.answer(Ok(size), |reply, size| reply.size(size));
                }
                size if size > room.into() => waiting.refuse(Errno::ERANGE),
                size => read_on(&waiting, &fid, Vec::new(), size as usize),
            });
        })
    });
}

/// Reads on until `size` bytes are there, or the end, and answers with them.
fn read_on(waiting: &Waiting<fuser::ReplyXattr>, fid: &Fid, mut value: Vec<u8>, size: usize) {
    if value.len() >= size {
        return waiting.clone().answer(Ok(value), |reply, value| reply.data(&value));
    }
    let (offset, left) = (value.len() as u64, (size - value.len()) as u32);
    waiting.via(|waiting| {
        let same = fid.clone();
        fid.read_then(offset, left, move |part| {
            waiting.go_on(part, |waiting, part| {
                value.extend_from_slice(part);
                let size = if part.is_empty() { value.len() } else { size };
                read_on(&waiting, &same, value, size);
            });
        })
    });
}

/// Sets an extended attribute; no bytes and `XATTR_REPLACE` remove it.
pub(super) fn write_xattr(
    waiting: &Waiting<fuser::ReplyEmpty>,
    fid: &Fid,
    name: &[u8],
    value: &[u8],
    flags: u32,
) {
    let (name, value) = (name.to_vec(), value.to_vec());
    with_clone(waiting, fid, move |waiting, fid| {
        let same = fid.clone();
        waiting.via(|waiting| {
            same.xattrcreate_then(&name, value.len() as u64, flags, move |created| {
                waiting.go_on(created, |waiting, ()| write_on(&waiting, &fid, value, 0));
            })
        });
    });
}

/// Writes the rest of an extended attribute's value, and sets it with the clunk.
fn write_on(waiting: &Waiting<fuser::ReplyEmpty>, fid: &Fid, value: Vec<u8>, at: usize) {
    if at == value.len() {
        return waiting
            .via(|waiting| fid.clunk_then(move |set| waiting.answer(set, |reply, ()| reply.ok())));
    }
    waiting.via(|waiting| {
        let (same, rest) = (fid.clone(), value.clone());
        fid.write_then(at as u64, &value[at..], move |written| {
            waiting.go_on(written, |waiting, written| match written {
                0 => waiting.refuse(Errno::EIO),
                written => write_on(&waiting, &same, rest, at + written as usize),
            });
        })
    });
}
