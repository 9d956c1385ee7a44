//! 9P2000 and 9P2000.u in terms of the tree's words: open and create modes, stat and wstat,
//! directories that are read as a row of stats. Sources: Plan 9 manual section 5 (open, read,
//! stat) and the 9P2000.u text; where they are silent, what Linux's v9fs sends.
//!
//! Some requests take several steps (wstat may change attributes and rename; making a directory
//! also opens it): each [`Step`] says what to do with the answer of the one before.

use crate::call::{Opened, Outcome};
use crate::desk::{Asked, Desk, ENTRY_MAX, Goal, check_name, check_target};
use crate::desk::{check_unopened, outcome};
use crate::error::{Errno, Error, Result, fail};
use crate::fid::{Cursor, lead};
use crate::message::{Fid, NONUNAME, Rmessage, Tag, Tmessage};
use crate::record::{Attr, Boxed, DirEntry, Qid, SetAttr, Stat, Time, dm, mode};
use crate::session::Session;
use crate::tree::{OpenFlags, Tree};
use crate::version::Dialect;
use crate::wire::{Name, Payload, Writer};
use muster_base::limits::PATH_MAX;

/// Whether to open what was made; and then, whether it is to be removed with its fid.
type Open = Option<bool>;

/// An owner and a group, by names that may be empty.
type Users = (String, String);

/// What to do with a step's answer.
#[derive(Debug)]
pub(crate) enum Step {
    /// Turn attributes into `Rstat`.
    Stat { fid: Fid },
    /// Then say where the link with these attributes leads.
    StatLink { fid: Fid, attr: Box<Attr> },
    /// Then change these attributes and the name, if it is given, and owner and group by theirs.
    Wstat { fid: Fid, name: Vec<u8>, set: SetAttr, users: Users },
    /// The file has this name now. Then change these attributes.
    Renamed { fid: Fid, name: Vec<u8>, set: SetAttr },
    /// If the attributes could not be changed, then give the file its old name back.
    Changed { fid: Fid, back: Vec<u8> },
    /// The file has its old name, unless it is taken, and why its attributes are as they were.
    Undone { fid: Fid, back: Vec<u8>, error: Error },
    /// Then create it, with no more permissions than the directory with these attributes gives.
    Create { fid: Fid, name: Vec<u8>, perm: u32, mode: u8 },
    /// Send entries as stats, at most `count` bytes.
    Entries { fid: Fid, count: usize },
    /// Then walk to what was made.
    Made { fid: Fid, name: Vec<u8>, open: Open },
    /// Then open it, or leave it as it is.
    WalkedTo { fid: Fid, name: Vec<u8>, open: Open },
    /// What was made is open, or may not be.
    OpenedMade { fid: Fid, qid: Qid, remove: bool },
}

impl Step {
    /// The fid that no other request may use meanwhile.
    pub(crate) fn fid(&self) -> Option<Fid> {
        match self {
            Step::Stat { .. } | Step::StatLink { .. } => None,
            Step::Entries { fid, .. }
            | Step::Wstat { fid, .. }
            | Step::Renamed { fid, .. }
            | Step::Changed { fid, .. }
            | Step::Undone { fid, .. }
            | Step::Create { fid, .. }
            | Step::Made { fid, .. }
            | Step::WalkedTo { fid, .. }
            | Step::OpenedMade { fid, .. } => Some(*fid),
        }
    }

    /// The fid whose file is being opened.
    pub(crate) fn opening(&self) -> Option<Fid> {
        match self {
            Step::OpenedMade { fid, .. } => Some(*fid),
            _ => None,
        }
    }
}

/// Modes of open(5) as flags of open(2). 0x80 is 9P2000.u's append, as v9fs sends it.
fn flags_of(mode: u8) -> OpenFlags {
    let access = match mode & 3 {
        1 => OpenFlags::WRONLY,
        2 => OpenFlags::RDWR,
        _ => 0,
    };
    let truncate = if mode & 0x10 != 0 { OpenFlags::TRUNC } else { 0 };
    let append = if mode & 0x80 != 0 { OpenFlags::APPEND } else { 0 };
    OpenFlags(access | truncate | append)
}

/// Refuses modes that open(5) and 9P2000.u do not have. OCEXEC (0x20) is the client's own matter.
fn check_mode(mode: u8) -> Result<()> {
    match mode & 0x0c {
        0 => Ok(()),
        _ => fail(Errno::INVAL, format!("{mode:#x} is no mode of open(5)")),
    }
}

/// ORCLOSE of open(5).
const REMOVE_ON_CLUNK: u8 = 0x40;

/// Mode of a stat from `st_mode`.
fn stat_mode(st_mode: u32, dialect: Dialect) -> u32 {
    let mut bits = st_mode & 0o777;
    if st_mode & mode::KIND == mode::DIR {
        bits |= dm::DIR;
    }
    if dialect == Dialect::Unix {
        bits |= match st_mode & mode::KIND {
            mode::LINK => dm::SYMLINK,
            mode::CHAR | mode::BLOCK => dm::DEVICE,
            mode::PIPE => dm::NAMED_PIPE,
            mode::SOCKET => dm::SOCKET,
            _ => 0,
        };
        for (flag, st) in [(dm::SETUID, 0o4000), (dm::SETGID, 0o2000), (dm::STICKY, 0o1000)] {
            bits |= if st_mode & st != 0 { flag } else { 0 };
        }
    }
    bits
}

/// Permissions of `st_mode` from a stat's mode.
fn permissions(stat_mode: u32, dialect: Dialect) -> u32 {
    let mut bits = stat_mode & 0o777;
    if dialect == Dialect::Unix {
        for (flag, st) in [(dm::SETUID, 0o4000), (dm::SETGID, 0o2000), (dm::STICKY, 0o1000)] {
            bits |= if stat_mode & flag != 0 { st } else { 0 };
        }
    }
    bits
}

/// Refuses files that are to behave as none of a tree's here do.
fn check_bits(stat_mode: u32) -> Result<()> {
    if stat_mode & (dm::APPEND | dm::EXCL) != 0 {
        return fail(Errno::OPNOTSUPP, "no file here is append-only or for one at a time");
    }
    Ok(())
}

/// Refuses a wstat that would make another file of this one: what kind it is, and which, cannot be
/// changed (stat(5)). A version is another after each write, so it is left alone.
fn check_same(stat: &Stat<'_>, qid: Qid) -> Result<()> {
    // plan9port's 9pfuse sends st_mode as it is.
    let is_dir = stat.mode & dm::DIR != 0 || stat.mode & mode::KIND == mode::DIR;
    if stat.mode != u32::MAX && is_dir != qid.is_dir() {
        let is = if is_dir { "a file cannot be made a" } else { "this is and stays a" };
        return fail(Errno::INVAL, format!("{is} directory: its mode has DMDIR, others have not"));
    }
    // We are the only server of this connection, and call ourselves 0.
    let same = |new: u64, none: u64, now: u64| new == none || new == now;
    let is_same = same(stat.kind.into(), u16::MAX.into(), 0)
        && same(stat.dev.into(), u32::MAX.into(), 0)
        && same(stat.qid.kind.into(), u8::MAX.into(), qid.kind.into())
        && same(stat.qid.path, u64::MAX, qid.path);
    match is_same {
        true => Ok(()),
        false => fail(Errno::INVAL, "type, dev and qid cannot be changed: give all ones"),
    }
}

/// The permissions that a new file gets in a directory (open(5)).
fn inherited(perm: u32, directory: u32) -> u32 {
    let mask = if perm & dm::DIR != 0 { 0o777 } else { 0o666 };
    perm & (!mask | directory & mask)
}

/// What a device's extension says in 9P2000.u: `b 8 1`.
fn extension_of(attr: &Attr) -> String {
    let (major, minor) = (rustix::fs::major(attr.rdev), rustix::fs::minor(attr.rdev));
    match attr.mode & mode::KIND {
        mode::CHAR => format!("c {major} {minor}"),
        mode::BLOCK => format!("b {major} {minor}"),
        _ => String::new(),
    }
}

/// A file's stat; `users` are the names of its owner and group.
fn stat_of<'a>(
    attr: &Attr,
    dialect: Dialect,
    name: Name<'a>,
    users: (&'a str, &'a str),
    extension: Name<'a>,
) -> Stat<'a> {
    let (uid, gid) = users;
    Stat {
        qid: attr.qid,
        mode: stat_mode(attr.mode, dialect),
        atime: attr.atime.sec as u32,
        mtime: attr.mtime.sec as u32,
        length: if attr.qid.is_dir() { 0 } else { attr.size },
        name,
        uid,
        gid,
        muid: uid,
        extension,
        n_uid: attr.uid,
        n_gid: attr.gid,
        n_muid: attr.uid,
        ..Stat::default()
    }
}

/// The attributes a wstat changes; fields of all ones or empty are left alone (stat(5)). Of users
/// those that are told by number.
fn changes(stat: &Stat<'_>, dialect: Dialect, is_dir: bool) -> Result<SetAttr> {
    let mut set = SetAttr::default();
    if stat.mode != u32::MAX {
        check_bits(stat.mode)?;
        set.valid |= SetAttr::MODE;
        set.mode = permissions(stat.mode, dialect);
    }
    // That of a directory is always told as 0, so that is none to be set.
    if stat.length != u64::MAX && !(is_dir && stat.length == 0) {
        set.valid |= SetAttr::SIZE;
        set.size = stat.length;
    }
    for (seconds, time, bits) in [
        (stat.atime, &mut set.atime, SetAttr::ATIME | SetAttr::ATIME_SET),
        (stat.mtime, &mut set.mtime, SetAttr::MTIME | SetAttr::MTIME_SET),
    ] {
        if seconds != u32::MAX {
            set.valid |= bits;
            *time = Time { sec: seconds.into(), nsec: 0 };
        }
    }
    if dialect == Dialect::Unix && stat.n_uid != NONUNAME {
        (set.valid, set.uid) = (set.valid | SetAttr::UID, stat.n_uid);
    }
    if dialect == Dialect::Unix && stat.n_gid != NONUNAME {
        (set.valid, set.gid) = (set.valid | SetAttr::GID, stat.n_gid);
    }
    Ok(set)
}

/// The owner and group that a wstat tells by name, and not by number as well.
fn named(stat: &Stat<'_>, set: &SetAttr) -> Users {
    let name = |bit, name: &str| if set.has(bit) { String::new() } else { name.to_owned() };
    (name(SetAttr::UID, stat.uid), name(SetAttr::GID, stat.gid))
}

/// What a wstat is to change of a file with these attributes, of which the client has seen no more
/// than a stat says.
fn apart<T: Tree>(
    mut set: SetAttr,
    (user, group): &Users,
    attr: &Attr,
    (tree, dialect): (&T, Dialect),
) -> Result<SetAttr> {
    if dialect == Dialect::Plan9 {
        // It has no words for set user id, set group id and sticky: they stay.
        set.mode |= attr.mode & 0o7000;
    }
    // Who may not write to a file may give back what it read of it, and no byte is cut off that
    // has come since.
    if set.has(SetAttr::SIZE) && set.size == attr.size {
        set.valid &= !SetAttr::SIZE;
    }
    let unknown = |name| fail(Errno::INVAL, format!("'{name}' is no user or group here"));
    if !user.is_empty() && *user != tree.user_name(attr.uid) {
        let Some(number) = tree.user_number(user) else { return unknown(user) };
        (set.valid, set.uid) = (set.valid | SetAttr::UID, number);
    }
    if !group.is_empty() && *group != tree.group_name(attr.gid) {
        let Some(number) = tree.group_number(group) else { return unknown(group) };
        (set.valid, set.gid) = (set.valid | SetAttr::GID, number);
    }
    Ok(set)
}

/// A device's kind and numbers from its extension: `c 1 3`.
fn device(extension: Name<'_>) -> Result<(u32, (u32, u32))> {
    let text = String::from_utf8_lossy(extension);
    let words: Vec<&str> = text.split_whitespace().collect();
    if let [kind @ ("b" | "c"), major, minor] = words[..]
        && let (Ok(major), Ok(minor)) = (major.parse(), minor.parse())
    {
        return Ok((if kind == "b" { mode::BLOCK } else { mode::CHAR }, (major, minor)));
    }
    fail(Errno::INVAL, format!("'{text}' does not name a device; 'c MAJOR MINOR' would"))
}

impl<T: Tree> Desk<'_, T> {
    /// Requests that only the old dialects have.
    pub(crate) fn ask_old(&mut self, message: Tmessage<'_>) -> Result<Asked<T::Fid>> {
        match message {
            Tmessage::Open { fid, mode } => {
                check_mode(mode)?;
                let flags = flags_of(mode);
                let remove = mode & REMOVE_ON_CLUNK != 0;
                let slot = self.fids.get(fid)?;
                check_unopened(fid, slot)?;
                if slot.qid.is_dir() && (flags.writes() || flags.has(OpenFlags::TRUNC)) {
                    return fail(Errno::ISDIR, "this is a directory");
                }
                let answer = self.tree.open(&mut self.call, &slot.fid, flags);
                Ok((Goal::Open { fid, flags, remove, name: None }, outcome(answer)))
            }
            Tmessage::Create { fid, name, perm, mode, extension } => {
                check_bits(perm)?;
                check_mode(mode)?;
                if self.dialect == Dialect::Unix {
                    return self.create(fid, name, perm, mode, extension.0);
                }
                let directory = &self.fids.directory(fid)?.fid;
                let answer = self.tree.getattr(&mut self.call, directory);
                let step = Step::Create { fid, name: name.to_vec(), perm, mode };
                Ok((Goal::Old(step), outcome(answer)))
            }
            Tmessage::Stat { fid } => {
                let answer = self.tree.getattr(&mut self.call, &self.fids.get(fid)?.fid);
                Ok((Goal::Old(Step::Stat { fid }), outcome(answer)))
            }
            Tmessage::Wstat { fid, stat } => self.wstat(fid, &stat.0),
            _ => unreachable!("ask() sends only these here"),
        }
    }

    fn create(
        &mut self,
        fid: Fid,
        name: Name<'_>,
        perm: u32,
        mode: u8,
        extension: Name<'_>,
    ) -> Result<Asked<T::Fid>> {
        check_name(name)?;
        let (tree, call, gid) = (self.tree, &mut self.call, NONUNAME);
        let slot = self.fids.directory(fid)?;
        check_unopened(fid, slot)?;
        let path = lead(slot.path(), &[name]);
        self.fids.has_room_for(&path)?;
        let dir = &self.fids.get(fid)?.fid;
        let permissions = permissions(perm, self.dialect);
        let special = if self.dialect == Dialect::Unix { perm } else { perm & dm::DIR };
        let answer = if special & dm::DIR != 0 {
            outcome(tree.mkdir(call, dir, name, permissions, gid))
        } else if special & dm::SYMLINK != 0 {
            check_target(extension)?;
            outcome(tree.symlink(call, dir, name, extension, gid))
        } else if special & dm::LINK != 0 {
            // Linux's v9fs ends the number with a newline.
            let number = std::str::from_utf8(extension).ok();
            let number = number.and_then(|text| text.trim_end_matches('\n').parse().ok());
            let Some(target) = number else {
                return fail(Errno::INVAL, "the extension of a hard link is not a fid");
            };
            let (dir, file) = self.fids.two(fid, target)?;
            outcome(tree.link(call, &dir.fid, &file.fid, name))
        } else if special & (dm::DEVICE | dm::NAMED_PIPE | dm::SOCKET) != 0 {
            let (kind, device) = match special {
                pipe if pipe & dm::NAMED_PIPE != 0 => (mode::PIPE, (0, 0)),
                socket if socket & dm::SOCKET != 0 => (mode::SOCKET, (0, 0)),
                _ => device(extension)?,
            };
            outcome(tree.mknod(call, dir, name, kind | permissions, device, gid))
        } else {
            let flags = OpenFlags(flags_of(mode).0 | OpenFlags::EXCL);
            let answer = tree.create(call, dir, name, flags, permissions, gid);
            let (remove, name) = (mode & REMOVE_ON_CLUNK != 0, Some(name.to_vec()));
            return Ok((Goal::Open { fid, flags, remove, name }, outcome(answer)));
        };
        let open = (special & dm::DIR != 0).then_some(mode & REMOVE_ON_CLUNK != 0);
        Ok((Goal::Old(Step::Made { fid, name: name.to_vec(), open }), answer))
    }

    fn wstat(&mut self, fid: Fid, stat: &Stat<'_>) -> Result<Asked<T::Fid>> {
        if !stat.name.is_empty() {
            check_name(stat.name)?;
        }
        let slot = self.fids.get(fid)?;
        let set = changes(stat, self.dialect, slot.qid.is_dir())?;
        check_same(stat, slot.qid)?;
        let users = named(stat, &set);
        let is_named = users != Users::default();
        if is_named || self.dialect == Dialect::Plan9 && set.has(SetAttr::MODE) {
            let answer = self.tree.getattr(&mut self.call, &slot.fid);
            let step = Step::Wstat { fid, name: stat.name.to_vec(), set, users };
            return Ok((Goal::Old(step), outcome(answer)));
        }
        self.change(fid, stat.name, set)
    }

    fn change(&mut self, fid: Fid, name: Name<'_>, set: SetAttr) -> Result<Asked<T::Fid>> {
        let slot = self.fids.get(fid)?;
        // Another fid may have renamed the file since this one came to it.
        let known = slot.name() == name && self.tree.keeps_names(&slot.fid);
        if !name.is_empty() && !known {
            // First, because it can be undone; but not what it would replace.
            let (name, replace) = (name.to_vec(), set.valid == 0);
            let answer = self.tree.rename(&mut self.call, &slot.fid, None, &name, replace);
            return Ok((Goal::Old(Step::Renamed { fid, name, set }), outcome(answer)));
        }
        let answer = if set.valid != 0 {
            outcome(self.tree.setattr(&mut self.call, &slot.fid, &set))
        } else if slot.opened.is_some() {
            // Nothing to change: the server is to make the file safe (stat(5)).
            outcome(self.tree.fsync(&mut self.call, &slot.fid, false))
        } else {
            // Nothing was written through it.
            Ok(Outcome::Done)
        };
        Ok((Goal::Reply, answer))
    }

    /// Tread of a directory (read(5)): it goes on where the last one ended, or starts anew at 0.
    pub(crate) fn read_directory(
        &mut self,
        fid: Fid,
        offset: u64,
        count: usize,
    ) -> Result<Asked<T::Fid>> {
        if self.dialect == Dialect::Linux {
            return fail(Errno::ISDIR, "this is a directory; Treaddir reads it");
        }
        let slot = self.fids.get(fid)?;
        if offset == 0 {
            slot.cursor = Cursor::default();
        }
        if slot.cursor.offset != offset {
            let next = slot.cursor.offset;
            let text = format!("a directory is read in order; byte {next} is next");
            return fail(Errno::INVAL, text);
        }
        self.entries(fid, count)
    }

    fn entries(&mut self, fid: Fid, count: usize) -> Result<Asked<T::Fid>> {
        let slot = self.fids.get(fid)?;
        // A stat is larger than an entry, so no fewer than fit are asked for.
        let (cookie, most) = (slot.cursor.cookie, count.max(ENTRY_MAX));
        Ok((Goal::Old(Step::Entries { fid, count }), self.list(fid, cookie, most, true)?))
    }
}

impl<T: Tree> Session<T> {
    /// Does what follows a step of an old dialect's request.
    pub(crate) fn finish_old(&mut self, tag: Tag, number: u8, step: Step, given: Outcome<T::Fid>) {
        match step {
            Step::Stat { fid } => {
                let Outcome::Attr(attr) = given else { unreachable!() };
                self.tell_stat(tag, number, fid, attr);
            }
            Step::StatLink { fid, attr } => {
                let Outcome::Text(target) = given else { unreachable!() };
                self.reply_stat(tag, fid, &attr, &target);
            }
            Step::Wstat { fid, name, set, users } => {
                let Outcome::Attr(attr) = given else { unreachable!() };
                self.go_on(tag, number, |desk| {
                    let set = apart(set, &users, &attr, (desk.tree, desk.dialect))?;
                    desk.change(fid, &name, set)
                });
            }
            Step::Renamed { fid, name, set } => self.change_renamed(tag, number, fid, &name, set),
            Step::Changed { .. } => self.reply(tag, &Rmessage::Wstat {}),
            Step::Undone { fid, back, error } => {
                self.fids.rename(fid, &back);
                self.refuse(tag, &error);
            }
            Step::Create { fid, name, perm, mode } => {
                let Outcome::Attr(attr) = given else { unreachable!() };
                let perm = inherited(perm, attr.mode);
                self.go_on(tag, number, |desk| desk.create(fid, &name, perm, mode, b""));
            }
            Step::Entries { fid, count } => {
                let Outcome::Entries(entries) = given else { unreachable!() };
                self.reply_entries(tag, number, fid, count, &entries);
            }
            Step::Made { fid, name, open } => self.go_on(tag, number, |desk| {
                let slot = desk.fids.get(fid)?;
                let answer = desk.tree.walk(&mut desk.call, &slot.fid, &[&name]);
                Ok((Goal::Old(Step::WalkedTo { fid, name, open }), outcome(answer)))
            }),
            Step::WalkedTo { fid, name, open } => {
                let Outcome::Walked(walked) = given else { unreachable!() };
                let (Some(file), Some(qid)) = (walked.fid, walked.qids.last().copied()) else {
                    let text = "what was just made is gone again";
                    return self.refuse(tag, &Error::new(Errno::NOENT, text));
                };
                let directory = self.fids.mine(fid).map(|slot| slot.fid.clone());
                self.finish_open(fid, Opened { fid: file, qid, iounit: 0 }, Some(name));
                // The walk has made a file of its own; the directory's is no longer in use.
                directory.into_iter().for_each(|directory| self.tree.clunk(directory));
                let Some(remove) = open else {
                    return self.reply(tag, &Rmessage::Create { qid, iounit: 0 });
                };
                self.go_on(tag, number, |desk| {
                    let slot = desk.fids.get(fid)?;
                    let answer = desk.tree.open(&mut desk.call, &slot.fid, OpenFlags::default());
                    Ok((Goal::Old(Step::OpenedMade { fid, qid, remove }), outcome(answer)))
                });
            }
            Step::OpenedMade { fid, remove, .. } => {
                let Outcome::Opened(opened) = given else { unreachable!() };
                let (qid, iounit) = (opened.qid, self.finish_open(fid, opened, None));
                let slot = self.fids.mine(fid).expect("it was reserved");
                (slot.opened, slot.remove) = (Some(OpenFlags::default()), remove);
                self.reply(tag, &Rmessage::Create { qid, iounit });
            }
        }
    }

    /// Replies with a stat, or asks where the link leads first.
    fn tell_stat(&mut self, tag: Tag, number: u8, fid: Fid, attr: Box<Attr>) {
        let unix = self.version.is_some_and(|version| version.dialect == Dialect::Unix);
        if !unix || attr.mode & mode::KIND != mode::LINK {
            return self.reply_stat(tag, fid, &attr, extension_of(&attr).as_bytes());
        }
        self.go_on(tag, number, |desk| {
            let answer = desk.tree.readlink(&mut desk.call, &desk.fids.get(fid)?.fid);
            Ok((Goal::Old(Step::StatLink { fid, attr }), outcome(answer)))
        });
    }

    /// Changes the attributes of a file that is called `name` now, if any are to be.
    fn change_renamed(&mut self, tag: Tag, number: u8, fid: Fid, name: &[u8], set: SetAttr) {
        let back = self.fids.mine(fid).map_or_else(Vec::new, |slot| slot.name().to_vec());
        self.fids.rename(fid, name);
        if set.valid == 0 {
            return self.reply(tag, &Rmessage::Wstat {});
        }
        self.go_on(tag, number, |desk| {
            let slot = desk.fids.get(fid)?;
            let answer = desk.tree.setattr(&mut desk.call, &slot.fid, &set);
            Ok((Goal::Old(Step::Changed { fid, back }), outcome(answer)))
        });
    }

    /// Does what follows a step that failed; the error, if that is all there is to tell.
    pub(crate) fn fail_old(
        &mut self,
        tag: Tag,
        number: u8,
        step: &Step,
        error: Error,
    ) -> Option<Error> {
        match step {
            Step::Changed { fid, back } => {
                // All or nothing (stat(5)).
                self.go_on(tag, number, |desk| {
                    let slot = desk.fids.get(*fid)?;
                    let answer = desk.tree.rename(&mut desk.call, &slot.fid, None, back, false);
                    let step = Step::Undone { fid: *fid, back: back.clone(), error };
                    Ok((Goal::Old(step), outcome(answer)))
                });
                None
            }
            Step::Undone { error, .. } => Some(error.clone()),
            Step::OpenedMade { fid, qid, remove } => {
                // Made with permissions that do not let it be read: it is there (open(5)), and so
                // is its fid, which nobody can read by.
                self.fids.mine(*fid).expect("it was reserved").remove = *remove;
                self.reply(tag, &Rmessage::Create { qid: *qid, iounit: 0 });
                None
            }
            _ => Some(error),
        }
    }

    fn reply_stat(&mut self, tag: Tag, fid: Fid, attr: &Attr, extension: &[u8]) {
        let dialect = self.version.map_or(Dialect::Plan9, |version| version.dialect);
        let name = self.fids.mine(fid).map_or_else(|| b"/".to_vec(), |slot| slot.name().to_vec());
        let (uid, gid) = (self.tree.user_name(attr.uid), self.tree.group_name(attr.gid));
        let extension = &extension[..extension.len().min(PATH_MAX)];
        let stat = stat_of(attr, dialect, &name, (&uid, &gid), extension);
        self.reply(tag, &Rmessage::Stat { stat: Boxed(stat) });
    }

    fn reply_entries(
        &mut self,
        tag: Tag,
        number: u8,
        fid: Fid,
        count: usize,
        entries: &[DirEntry],
    ) {
        let dialect = self.version.map_or(Dialect::Plan9, |version| version.dialect);
        let mut data = Vec::with_capacity(count.min(64 * 1024));
        let Some(slot) = self.fids.mine(fid) else { unreachable!("it was reserved") };
        let (start, mut full) = (slot.cursor, false);
        for entry in entries {
            if entry.name != b"." && entry.name != b".." {
                let before = data.len();
                let attr = entry.attr.unwrap_or_else(|| assumed(entry));
                let mut to = Writer { out: &mut data, dialect };
                let (uid, gid) = (self.tree.user_name(attr.uid), self.tree.group_name(attr.gid));
                let extension = extension_of(&attr);
                let users = (uid.as_str(), gid.as_str());
                to.put(&stat_of(&attr, dialect, &entry.name, users, extension.as_bytes()));
                if data.len() > count {
                    data.truncate(before);
                    full = true;
                    break;
                }
            }
            slot.cursor.cookie = entry.next;
        }
        let moved = slot.cursor.cookie != start.cookie;
        if full && data.is_empty() && !moved && count != start.left {
            let text = format!("no entry fits into {count} bytes");
            return self.refuse(tag, &Error::new(Errno::INVAL, text));
        }
        if data.is_empty() && moved {
            // Only "." and ".." so far.
            return self.go_on(tag, number, |desk| desk.entries(fid, count));
        }
        // Linux's v9fs asks for what is left of its buffer, until it is full or nothing comes, and
        // with an error it forgets what it has.
        slot.cursor.offset += data.len() as u64;
        slot.cursor.left = count - data.len();
        self.reply(tag, &Rmessage::Read { data: Payload(&data) });
    }
}

/// What can be said of an entry whose tree does not know its attributes.
fn assumed(entry: &DirEntry) -> Attr {
    let mode = u32::from(entry.kind) << 12 | if entry.qid.is_dir() { 0o755 } else { 0o644 };
    Attr { qid: entry.qid, mode, nlink: 1, ..Attr::default() }
}
