//! The promises of an exported directory, one test each.

mod confined;
mod content;
mod names;
mod rights;

use super::user::act_as_server;
use super::*;
use crate::call::{Outcome, Pause, Port, Standing, Ticket};
use crate::outbox::Outbox;
use crate::tree::Peer;
use rustix::thread::CapabilitySet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};

/// A directory for one test, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("muster-host-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        // Other users' tests work in it, whatever the umask.
        open_to_all(&path);
        Scratch(path)
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        act_as_server().unwrap();
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
}

/// Whether the tests run as root, with the right to be anybody. They hold without it as well.
fn is_root() -> bool {
    user::may_switch()
}

/// Whether the tests have another of root's rights: containers take some away.
fn has(capability: CapabilitySet) -> bool {
    rustix::thread::capabilities(None).unwrap().effective.contains(capability)
}

/// One client of a tree. After each request its thread is the server again, so that a test can
/// look at the files directly.
struct Client {
    tree: Arc<HostTree>,
    port: Arc<Port<HostFid>>,
    woken: Receiver<()>,
    outbox: Outbox,
    root: HostFid,
}

fn options(writable: bool) -> Options {
    Options { writable, users: Users::Peers }
}

fn peer(uid: Option<u32>) -> Peer {
    Peer { uid, name: "test".into() }
}

fn attach(tree: &HostTree, uid: Option<u32>, uname: &str, n_uname: Option<u32>) -> Result<HostFid> {
    let peer = peer(uid);
    let result = tree.attach(&Attach { peer: &peer, uname, n_uname, aname: "" });
    act_as_server().unwrap();
    Ok(result?.0)
}

impl Client {
    /// A client that acts as the user who runs the tests.
    fn new(root: &Path) -> Client {
        let tree = HostTree::new(root, options(true)).unwrap();
        Client::of(&Arc::new(tree), Some(rustix::process::geteuid().as_raw()), None)
    }

    fn of(tree: &Arc<HostTree>, uid: Option<u32>, n_uname: Option<u32>) -> Client {
        let (wake, woken) = channel();
        let root = attach(tree, uid, "", n_uname).unwrap();
        let port = Arc::new(Port::new(move || {
            let _ = wake.send(());
        }));
        Client { tree: tree.clone(), port, woken, outbox: Outbox::default(), root }
    }

    /// Makes a request; if it is parked, `Err(None)`.
    fn start<R>(
        &mut self,
        request: impl FnOnce(&HostTree, &mut Call<'_, HostFid>) -> Answer<R>,
    ) -> std::result::Result<R, Option<Errno>> {
        let (port, outbox) = (&self.port, &mut self.outbox);
        let mut call =
            Call { tag: 1, serial: 1, origin: port, standing: None, outbox, brings: None };
        let answer = request(&self.tree, &mut call);
        act_as_server().unwrap();
        answer.map_err(|pause| match pause {
            Pause::Refused(error) => Some(error.errno),
            Pause::Parked => None,
            Pause::Later => panic!("there is room"),
        })
    }

    /// The answer to a parked request, once it has come.
    fn parked(&mut self) -> Outcome<HostFid> {
        self.woken.recv_timeout(Duration::from_secs(60)).expect("the answer comes");
        self.port.take().pop().expect("it came").outcome
    }

    fn read(
        &mut self,
        fid: &HostFid,
        offset: u64,
        count: usize,
    ) -> std::result::Result<Vec<u8>, Errno> {
        let data = match self.start(|tree, call| tree.read(call, fid, offset, count)) {
            Ok(data) => data,
            Err(Some(errno)) => return Err(errno),
            Err(None) => match self.parked() {
                Outcome::Data(data) => data,
                Outcome::Failed(error) => return Err(error.errno),
                other => panic!("{other:?}"),
            },
        };
        Ok(match data {
            Data::Bytes(bytes) => bytes,
            Data::Filled(filling) => filling.content().to_vec(),
            Data::Mapped(_) => unreachable!("nobody lets the tree map"),
        })
    }

    fn write(
        &mut self,
        fid: &HostFid,
        offset: u64,
        data: &[u8],
    ) -> std::result::Result<u32, Errno> {
        match self.start(|tree, call| tree.write(call, fid, offset, data)) {
            Ok(count) => Ok(count),
            Err(Some(errno)) => Err(errno),
            Err(None) => match self.parked() {
                Outcome::Count(count) => Ok(count),
                other => panic!("{other:?}"),
            },
        }
    }

    fn fsync(&mut self, fid: &HostFid, data: bool) -> std::result::Result<(), Errno> {
        match self.start(|tree, call| tree.fsync(call, fid, data)) {
            Ok(()) => panic!("a sync is not answered by the thread that serves"),
            Err(Some(errno)) => Err(errno),
            Err(None) => match self.parked() {
                Outcome::Done => Ok(()),
                other => panic!("{other:?}"),
            },
        }
    }

    /// A request that never waits.
    fn ask<R>(
        &mut self,
        request: impl FnOnce(&HostTree) -> Result<R>,
    ) -> std::result::Result<R, Errno> {
        let answer = request(&self.tree);
        act_as_server().unwrap();
        answer.map_err(|error| error.errno)
    }

    fn walk_from(&mut self, from: &HostFid, path: &str) -> std::result::Result<HostFid, Errno> {
        let names: Vec<&[u8]> =
            path.split('/').filter(|name| !name.is_empty()).map(str::as_bytes).collect();
        let walked = self.ask(|tree| tree.walk(from, &names))?;
        walked.fid.ok_or(Errno::NOENT)
    }

    fn walk(&mut self, path: &str) -> std::result::Result<HostFid, Errno> {
        self.walk_from(&self.root.clone(), path)
    }

    fn open(&mut self, path: &str, flags: u32) -> std::result::Result<HostFid, Errno> {
        let fid = self.walk(path)?;
        self.ask(|tree| Ok(tree.open(&fid, OpenFlags(flags))?.fid))
    }

    fn create(&mut self, name: &str, flags: u32, mode: u32) -> std::result::Result<HostFid, Errno> {
        let (root, own) = (self.root.clone(), u32::MAX);
        let name = name.as_bytes();
        self.ask(|tree| Ok(tree.create(&root, name, OpenFlags(flags), mode, own)?.fid))
    }

    fn attr(&mut self, fid: &HostFid) -> Attr {
        self.ask(|tree| tree.getattr(fid)).unwrap()
    }

    fn setattr(&mut self, fid: &HostFid, attr: &SetAttr) -> std::result::Result<(), Errno> {
        self.ask(|tree| tree.setattr(fid, attr))
    }

    fn clunk(&mut self, fid: HostFid) -> std::result::Result<(), Errno> {
        self.ask(move |tree| {
            // As the session does: the fid goes, whatever the answer.
            let done = match fid.0.form {
                Form::NewValue(_) => tree.commit(&fid),
                _ => Ok(()),
            };
            tree.clunk(&fid);
            done
        })
    }
}

const RDWR: u32 = OpenFlags::RDWR;

fn os(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}
