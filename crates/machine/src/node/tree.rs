//! The files of a node: its root and its sessions (`docs/files.md`, section 1).

use super::ctl::{RootCtl, SessionCtl};
use super::session::{Phase, Presence, Session};
use super::views::{Scope, ViewsDir};
use super::{Node, account, beat, facts};
use crate::files::control;
use crate::files::feed::Feed;
use crate::files::fixed::{Named, find, names};
use crate::files::lane::Lane;
use crate::files::latch::Latch;
use crate::files::stream::Reader;
use crate::files::text::Text;
use crate::files::told;
use crate::relay::receive::{self, Host, Landing};
use crate::strober;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::host::{HostTree, Options, User, Users};
use muster_ninep::synthetic::{Dir, Entry, File, Handle, Inode, SynCall, Synthetic, slice};
use muster_ninep::tree::{Attach, OpenFlags, Peer};
use std::fs;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The name of a session's directory in its own.
const FS: &str = "fs";

/// Name in `fs/` of a binary that was written to `exec`.
pub(super) const UPLOAD: &str = ".exec";

/// How long a strober may take to answer.
const STROBER: Duration = Duration::from_secs(1);

/// The tree that a node serves.
#[must_use]
pub fn of(node: &Arc<Node>) -> Synthetic {
    Synthetic::new(Root::new(&Scope::whole(node)))
}

/// The root of the whole tree, or of a view's.
pub(super) struct Root {
    scope: Scope,
    inode: Inode,
    files: Named,
}

impl Dir for Root {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        Ok(find(&self.files, name).or_else(|| {
            let files = self.session(name)?;
            let presence = files.session.come_in(true).ok();
            presence.is_some().then(|| SessionDir::entry(files, presence))
        }))
    }

    /// A session knows nothing of who lists them all: he neither keeps it nor has been in it.
    fn peek(&self, name: &str) -> Result<Option<Entry>> {
        let session = || Some(SessionDir::entry(self.session(name)?, None));
        Ok(find(&self.files, name).or_else(session))
    }

    fn list(&self) -> Vec<String> {
        let sessions = self.scope.sessions();
        let numbers = sessions.iter().map(|files| files.session.number.to_string());
        names(&self.files).chain(numbers).collect()
    }
}

impl Root {
    fn session(&self, name: &str) -> Option<Arc<Files>> {
        let number = name.parse().ok().filter(|number: &u32| number.to_string() == name)?;
        self.scope.session(number)
    }

    pub(super) fn new(scope: &Scope) -> Arc<Root> {
        let text = |permissions: u32, tell: fn(&Node) -> String| {
            let scope = scope.clone();
            File::text(permissions, move || Ok(tell(&*scope.node()?))).entry()
        };
        let (ctl, shown) = (scope.clone(), scope.clone());
        let (beats, strober) = (scope.clone(), scope.clone());
        let mut files = vec![
            ("clone", clone_file(scope)),
            ("ctl", control::file(0o664, move || RootCtl(ctl.clone())).entry()),
            ("arch", text(0o444, |node| format!("/Linux/{}\n", node.setup.processor.name))),
            ("env", setting(scope, |node| &node.env)),
            ("ns", setting(scope, |node| &node.ns)),
            ("state", setting(scope, |node| &node.state)),
            ("procs", File::text(0o444, move || Ok(procs(&shown))).entry()),
            ("usage", usage_file(scope)),
            ("pwent", text(0o440, |_| facts::users())),
            ("grent", text(0o440, |_| facts::groups())),
            ("name", text(0o444, |node| format!("{}\n", node.setup.name))),
            ("instance", text(0o444, |node| format!("{}\n", node.instance))),
            ("cpus", text(0o444, |_| facts::cpus())),
            ("mem", text(0o444, |_| facts::memory())),
            ("load", text(0o444, |_| facts::load())),
            ("uptime", text(0o444, |node| format!("{}\n", node.started.elapsed().as_secs()))),
            ("heartbeat", told::file(0o444, move || beat::pulse(&*beats.node()?)).entry()),
            ("strobe", told::file(0o444, move || strobe(&*strober.node()?)).entry()),
            ("version", text(0o444, |_| format!("{}\n", env!("CARGO_PKG_VERSION")))),
        ];
        if scope.view().is_none() {
            files.push(("views", ViewsDir::entry(scope)));
        }
        let inode = Inode::of(0o555, ("node", scope.view()));
        Arc::new(Root { scope: scope.clone(), inode, files })
    }
}

/// What is set for the whole node: a view does not change it for others.
fn setting(scope: &Scope, text: fn(&Node) -> &Text) -> Entry {
    match (scope.view(), scope.node()) {
        (None, Ok(node)) => text(&node).file(0o664).entry(),
        _ => {
            let scope = scope.clone();
            File::text(0o444, move || text(&*scope.node()?).get()).entry()
        }
    }
}

/// One line for each session: number, pid, state, command.
fn procs(scope: &Scope) -> String {
    let line = |files: &Arc<Files>| {
        let session = &files.session;
        let command = session.argv.get().unwrap_or_default();
        let (pid, state) = match session.state().phase {
            Phase::New => ("-".to_owned(), "new"),
            Phase::Starting => ("-".to_owned(), "starting"),
            Phase::Running { pid } => (pid.to_string(), "running"),
            Phase::Ended { .. } => ("-".to_owned(), "ended"),
            Phase::Wiped => ("-".to_owned(), "wiped"),
        };
        format!("{} {pid} {state} {}\n", session.number, command.lines().next().unwrap_or(""))
    };
    scope.sessions().iter().map(line).collect()
}

/// What the strober of this machine tells of itself.
fn strobe(node: &Node) -> Result<String> {
    let status = strober::ask(&node.setup.home, STROBER).map_err(|error| {
        let text = format!("the strober of {} does not answer: {error}", node.setup.name);
        Error::new(Errno::IO, format!("{text}  [E119]"))
    })?;
    Ok(serde_json::to_string(&status).unwrap_or_default() + "\n")
}

/// `clone`: opening it makes a session, which the open file keeps.
fn clone_file(scope: &Scope) -> Entry {
    struct Cloned {
        number: String,
        _presence: Presence,
    }
    impl Handle for Cloned {
        fn read(&self, _: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
            let number = self.number.as_bytes();
            Ok(slice(number, offset, count).to_vec().into())
        }
    }
    let scope = scope.clone();
    File::new(0o444, move |_| {
        let files = scope.node()?.open_session(scope.view().cloned())?;
        let presence = files.session.come_in(false)?;
        Ok(Cloned { number: files.session.number.to_string(), _presence: presence })
    })
    .entry()
}

/// A session and its files. They are made when somebody looks for one: at most ranks nobody does.
pub(super) struct Files {
    session: Arc<Session>,
    inode: Inode,
    named: OnceLock<Named>,
    /// `fs`: what there is of its directory, which a program may remove.
    fs: OnceLock<Entry>,
}

impl Files {
    pub(super) fn new(session: &Arc<Session>) -> Arc<Files> {
        let (session, inode) = (session.clone(), Inode::new(0o555));
        Arc::new(Files { session, inode, named: OnceLock::new(), fs: OnceLock::new() })
    }

    /// Its directory, as files.
    pub(super) fn fs(&self) -> Result<&Entry> {
        if let Some(fs) = self.fs.get() {
            return Ok(fs);
        }
        let session = &self.session;
        let options = Options { writable: true, users: Users::Only(User::own()) };
        let fs = Arc::new(HostTree::new(&session.directory, options)?);
        let own = rustix::process::geteuid().as_raw();
        let peer = Peer { uid: Some(own), name: "node".to_owned() };
        let who = Attach { peer: &peer, uname: "", n_uname: Some(own), aname: "" };
        let (root, qid) = fs.attach(&who)?;
        Ok(self.fs.get_or_init(|| Entry::mount(fs, root, qid)))
    }

    /// All others, by name.
    fn named(&self) -> &Named {
        self.named.get_or_init(|| self.make())
    }

    fn make(&self) -> Named {
        let s = &self.session;
        let (ctl, id, usage, relay) = (s.clone(), s.clone(), s.clone(), s.clone());
        vec![
            ("ctl", control::file(0o660, move || SessionCtl(ctl.clone())).entry()),
            ("argv", s.argv.file(0o660).entry()),
            ("env", s.env.file(0o660).entry()),
            ("ns", s.ns.file(0o660).entry()),
            ("exec", upload(s)),
            ("stdin", s.stdin.file(0o220).entry()),
            ("stdout", s.stdout.file(0o440).entry()),
            ("stderr", s.stderr.file(0o440).entry()),
            ("stdio", stdio(s)),
            ("wait", s.wait.file(0o440).entry()),
            ("id", File::text(0o440, move || Ok(id_of(&id))).entry()),
            ("usage", File::text(0o440, move || Ok(usage_of(&usage))).entry()),
            ("relay", receive::file(0o660, move || AtNode(relay.clone())).entry()),
        ]
    }

    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }
}

fn id_of(session: &Session) -> String {
    let (gid, lid) = &session.state().id;
    format!("{gid}/{lid}")
}

fn usage_of(session: &Session) -> String {
    session.usage().map(|usage| format!("{usage}\n")).unwrap_or_default()
}

/// A text that somebody is about to find out. Dropped without one, it is empty.
struct Promise(Latch);

impl Drop for Promise {
    fn drop(&mut self) {
        self.0.set("");
    }
}

/// `usage`: what the node and all its sessions use. Looked up beside the thread that serves.
fn usage_file(scope: &Scope) -> Entry {
    let (scope, lane) = (scope.clone(), Lane::default());
    File::new(0o444, move |_| {
        let told = Latch::default();
        let (later, scope) = (Promise(told.clone()), scope.clone());
        lane.run(move || {
            let mut usage = account::of_node();
            let used = |files: &Arc<Files>| Some((files.session.number, files.session.usage()?));
            usage.sessions = scope.sessions().iter().filter_map(used).collect();
            later.0.set(usage.text());
        });
        Ok(told)
    })
    .entry()
}

/// `stdio`: reads stdout, writes stdin.
fn stdio(session: &Arc<Session>) -> Entry {
    struct Both(Reader, Feed);
    impl Handle for Both {
        fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
            self.0.read(call, offset, count)
        }
        fn write(&self, call: &mut SynCall<'_>, offset: u64, data: &[u8]) -> Answer<u32> {
            self.1.write(call, offset, data)
        }
    }
    let session = session.clone();
    File::new(0o660, move |_| Ok(Both(session.stdout.reader(), session.stdin.clone()))).entry()
}

/// `exec`: the binary, written once (generation 1), in whatever pieces: cp(1) leaves holes out.
fn upload(session: &Arc<Session>) -> Entry {
    struct Upload(fs::File);
    impl Handle for Upload {
        fn write(&self, _: &mut SynCall<'_>, offset: u64, data: &[u8]) -> Answer<u32> {
            self.0.write_all_at(data, offset)?;
            Ok(data.len() as u32)
        }

        fn truncate(&self, size: u64) -> Result<()> {
            Ok(self.0.set_len(size)?)
        }
    }
    let session = session.clone();
    File::new(0o220, move |flags: OpenFlags| {
        debug_assert!(flags.writes());
        let mut options = fs::File::options();
        options.write(true).create_new(true).mode(0o755);
        let path = session.directory.join(UPLOAD);
        match options.open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                fail(Errno::EXIST, "the binary was written already")
            }
            opened => Ok(Upload(opened?)),
        }
    })
    .entry()
}

/// Where a session's `relay` file is.
struct AtNode(Arc<Session>);

impl Host for AtNode {
    fn own(&self) -> Landing {
        self.0.landing()
    }

    fn address(&self) -> String {
        self.0.node.upgrade().map_or_else(String::new, |node| node.setup.address.clone())
    }

    fn tree(&self) -> String {
        self.0.tree()
    }

    fn session(&self, number: u32) -> Result<Landing> {
        let missing = || Error::new(Errno::NOENT, format!("session {number} does not exist"));
        let session = self.0.scope().session(number).ok_or_else(missing)?.session.clone();
        // What is written to its directory from now on is somebody's who has come in.
        let _presence = session.come_in(true)?;
        Ok(AtNode(session).own())
    }
}

/// A session's directory, with somebody in it.
struct SessionDir {
    files: Arc<Files>,
    /// Of who is in it; who lists all sessions is in none.
    _presence: Option<Presence>,
}

impl SessionDir {
    fn entry(files: Arc<Files>, presence: Option<Presence>) -> Entry {
        Entry::Dir(Arc::new(SessionDir { files, _presence: presence }))
    }
}

impl Dir for SessionDir {
    fn inode(&self) -> &Inode {
        &self.files.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        if name == FS {
            return self.files.fs().cloned().map(Some);
        }
        Ok(find(self.files.named(), name))
    }

    fn list(&self) -> Vec<String> {
        names(self.files.named()).chain([FS.to_owned()]).collect()
    }
}
