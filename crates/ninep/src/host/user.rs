//! Who a request acts as.
//!
//! An attach decides on a user once ([`Users`]); every later request of its fids acts with that
//! user's rights. Where the server is root, the thread that serves a request takes on the user's
//! file system identity: fsuid, fsgid and groups, and for all but root no effective capability
//! at all (setfsuid alone would leave CAP_SETFCAP, with which a user makes himself root). So the
//! kernel decides what is allowed, exactly as for the user's own processes.
//!
//! A thread changes identity lazily and keeps it after the request: the same user's next request
//! costs nothing. Hence a thread that has served other users than the server's own must not start
//! processes or use root's rights any more; those that serve them do nothing else, and a node's
//! serve only the user that the node runs as. A new thread inherits its parent's identity, so a
//! thread that has never switched does not assume to know who it is.
//!
//! Where the server is not root, it acts as itself, and hands what it makes to the group that was
//! asked for if it is one of its own ([`group_to_give`]).

use super::sys;
use crate::error::{Errno, Result, fail};
use crate::tree::Attach;
use rustix::fs::{Gid, Mode};
use rustix::thread::{CapabilitySet, CapabilitySets};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};

/// The group with no rights: that of users whom the system does not know.
const NOGROUP: u32 = 65534;

/// A user with groups: whose rights requests have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// User.
    pub uid: u32,
    /// Group of new files, unless a request names another.
    pub gid: u32,
    /// All groups.
    pub groups: Vec<u32>,
    /// The peer is root: its word on groups is taken, as it could attach as anybody anyway.
    any_group: bool,
}

impl User {
    /// A user with just these groups.
    pub fn new(uid: u32, gid: u32, groups: Vec<u32>) -> User {
        User { uid, gid, groups, any_group: false }
    }

    /// A user with the groups that the system's user database gives it; without an entry there
    /// it has none (group `nogroup`).
    pub fn find(uid: u32) -> User {
        match sys::account_by_number(uid) {
            Some(account) => User::new(uid, account.gid, sys::groups(&account)),
            None => User::new(uid, NOGROUP, Vec::new()),
        }
    }

    /// The user this process runs as.
    pub fn own() -> User {
        let server = server();
        User::new(server.uid, server.gid, server.groups.clone())
    }

    /// Whether the peer's word on group membership is taken.
    pub(super) fn any_group(&self) -> bool {
        self.any_group
    }

    /// The group to act with when the client names `gid`: as for a process, one of the user's
    /// own, or any for root. Else the user's first: clients that know nothing of groups send 0.
    fn acting_group(&self, gid: Option<u32>) -> u32 {
        match gid {
            Some(gid) if gid == u32::MAX => self.gid,
            Some(gid) if self.uid == 0 || self.any_group || self.groups.contains(&gid) => gid,
            _ => self.gid,
        }
    }
}

/// A user's name, if the system knows one.
#[must_use]
pub fn name(uid: u32) -> Option<String> {
    Some(sys::account_by_number(uid)?.name.to_string_lossy().into_owned())
}

/// A group's name, if the system knows one.
#[must_use]
pub fn group_name(gid: u32) -> Option<String> {
    sys::group_name(gid)
}

/// The number of the user with this name, if the system knows one.
pub(super) fn number(name: &str) -> Option<u32> {
    Some(sys::account_by_name(name)?.uid)
}

/// The number of the group with this name, if the system knows one.
pub(super) fn group_number(name: &str) -> Option<u32> {
    sys::group_by_name(name)
}

/// Which user an attach gets.
///
/// A peer whose user the kernel does not tell is refused by every server: a TCP client can make
/// itself unknown by closing its end behind its requests.
///
/// A server that is not root has one user to give: its own. A peer that the kernel says is
/// another (and not root) is refused, and so is everybody who asks for another by number or by
/// an existing name.
///
/// A root server: a peer known to be root attaches as whom it names (by number, else by name,
/// else as root); any other only as itself. The name `nobody` alone asks for nothing: v9fs sends
/// it when its mount names no user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Users {
    /// The rules above.
    #[default]
    Peers,
    /// Everybody acts as this user, whatever he says: for a tree that belongs to one user, behind
    /// a door that lets in only him.
    Only(User),
}

impl Users {
    /// Decides on an attach.
    pub(super) fn choose(&self, who: &Attach<'_>) -> Result<Arc<User>> {
        if let Users::Only(user) = self {
            return Ok(Arc::new(user.clone()));
        }
        let number = who.n_uname.filter(|&uid| uid != u32::MAX);
        let server = server();
        let Some(vouched) = who.peer.uid else {
            let text =
                format!("{}: the kernel does not tell whose connection it is", who.peer.name);
            return fail(Errno::PERM, text);
        };
        if server.switch.is_some() && vouched == 0 {
            let uid = match (number, who.uname) {
                (Some(uid), _) => uid,
                (None, "") => 0,
                (None, name) => by_name(name)?,
            };
            return Ok(Arc::new(User { any_group: true, ..User::find(uid) }));
        }
        let entitled = match &server.switch {
            Some(_) => vouched,
            None if vouched == server.uid || vouched == 0 => server.uid,
            None => {
                let text = format!("user {vouched}: this server serves user {} only", server.uid);
                return fail(Errno::PERM, text);
            }
        };
        let wanted = match (number, who.uname) {
            (Some(uid), _) => uid,
            (None, "" | "nobody") => entitled,
            (None, name) => by_name(name)?,
        };
        if wanted != entitled {
            let text = format!("{}: may attach as user {entitled}, not {wanted}", who.peer.name);
            return fail(Errno::PERM, text);
        }
        let own = server.switch.is_none();
        Ok(Arc::new(if own { User::own() } else { User::find(entitled) }))
    }
}

fn by_name(name: &str) -> Result<u32> {
    match sys::account_by_name(name) {
        Some(account) => Ok(account.uid),
        None => fail(Errno::PERM, format!("{name:?}: no such user on this machine")),
    }
}

/// The process as it was before any thread changed identity.
struct Server {
    uid: u32,
    gid: u32,
    groups: Vec<u32>,
    /// Its capabilities, if they allow to change identity.
    switch: Option<CapabilitySets>,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let uid = rustix::process::geteuid().as_raw();
        let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
        let sets = rustix::thread::capabilities(None).ok();
        let able = |sets: &CapabilitySets| uid == 0 && sets.effective.contains(needed);
        let mut groups: Vec<u32> = Vec::new();
        for gid in rustix::process::getgroups().unwrap_or_default() {
            groups.push(gid.as_raw());
        }
        let gid = rustix::process::getegid().as_raw();
        Server { uid, gid, groups, switch: sets.filter(able) }
    })
}

/// Whether this process may act as other users.
#[cfg(test)]
pub(super) fn may_switch() -> bool {
    server().switch.is_some()
}

/// Records who the process is, before a thread changes.
pub(super) fn remember_server() {
    server();
}

enum Acting {
    /// Whatever was inherited, or what a failed change left.
    Unknown,
    #[cfg(test)]
    Server,
    User(Arc<User>, u32),
}

thread_local! {
    static ACTING: RefCell<Acting> = const { RefCell::new(Acting::Unknown) };
    static OWN_UMASK: Cell<bool> = const { Cell::new(false) };
}

/// Makes this thread act as `user`, with new files in group `gid` where the user may choose it.
pub(super) fn act_as(user: &Arc<User>, gid: Option<u32>) -> Result<()> {
    let Some(sets) = server().switch else { return Ok(()) };
    let gid = user.acting_group(gid);
    ACTING.with_borrow_mut(|acting| {
        if let Acting::User(current, current_gid) = acting
            && *current_gid == gid
            && (Arc::ptr_eq(current, user) || current == user)
        {
            return Ok(());
        }
        *acting = Acting::Unknown;
        take_on(sets, user.uid, gid, &user.groups)?;
        *acting = Acting::User(user.clone(), gid);
        Ok(())
    })
}

/// Gives this thread the identity of the process back, which it may have left to serve a user: a
/// test goes on to look at what it has done.
#[cfg(test)]
pub(super) fn act_as_server() -> Result<()> {
    let server = server();
    let Some(sets) = server.switch else { return Ok(()) };
    ACTING.with_borrow_mut(|acting| {
        if !matches!(acting, Acting::Server) {
            *acting = Acting::Unknown;
            take_on(sets, server.uid, server.gid, &server.groups)?;
            *acting = Acting::Server;
        }
        Ok(())
    })
}

/// The one place where a thread's identity changes. Any failure leaves the request undone.
fn take_on(sets: CapabilitySets, uid: u32, gid: u32, groups: &[u32]) -> Result<()> {
    rustix::thread::set_capabilities(None, sets)?;
    let groups: Vec<Gid> = groups.iter().map(|&gid| Gid::from_raw(gid)).collect();
    rustix::thread::set_thread_groups(&groups)?;
    if !sys::set_fs_group(gid) || !sys::set_fs_user(uid) {
        return fail(Errno::PERM, format!("the kernel does not let this server act as user {uid}"));
    }
    if uid != 0 {
        let none = CapabilitySet::empty();
        rustix::thread::set_capabilities(None, CapabilitySets { effective: none, ..sets })?;
    }
    Ok(())
}

/// The group that new files of `user` are to have, if it is `gid` that a client names and the
/// kernel gives them another: without root's rights a thread cannot take on a group.
pub(super) fn group_to_give(user: &User, gid: u32) -> Option<u32> {
    let server = server();
    let group = user.acting_group(Some(gid));
    (server.switch.is_none() && group != server.gid).then_some(group)
}

/// Makes the modes of new files those that the client asks for: it has applied its own umask.
/// The thread gets a umask of its own, as that of the process guards the server's own files.
pub(super) fn drop_umask() {
    if !OWN_UMASK.get() && sys::unshare_umask().is_ok() {
        rustix::process::umask(Mode::empty());
        OWN_UMASK.set(true);
    }
}
