//! What the watch does with what a program has left in its pipes.

use super::*;
use crate::node::orders::Light;
use crate::node::tests::node;
use crate::node::{Node, tree};
use crate::scratch::Scratch;
use muster_base::limits::STREAM_WINDOW;
use muster_ninep::client::{Client, Fid, Options};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::tree::OpenFlags;
use rustix::pipe::{PipeFlags, pipe_with};

/// The rank's session.
const NUMBER: u32 = 1;

/// A rank whose program has ended, has left its output open for others, and has said more than
/// anybody has read.
struct Scene {
    node: Arc<Node>,
    eye: Eye,
    session: Arc<Session>,
    /// Of what it has left behind.
    writes: OwnedFd,
    said: usize,
    reader: Fid,
    read: usize,
    _server: Server,
    _scratch: Scratch,
}

impl Scene {
    fn new(name: &str, link: Option<i32>) -> Scene {
        let scratch = Scratch::new(name);
        let node = node(&scratch);
        let session = node.open_light(NUMBER, Light::default(), None).unwrap();
        let server = Server::start(&Arc::new(tree::of(&node)), 1, same_user).unwrap();
        let client = Client::over(server.connect().unwrap(), &Options::default()).unwrap();
        let reader = client.walk("1/stdout").unwrap();
        reader.open(OpenFlags(0)).unwrap();
        let (reads, writes) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).unwrap();
        let mut eye = Eye::new(node.spawner.spares(), node.directories.clone()).unwrap();
        let register = (token(NUMBER, End::Stdout), Interest::READABLE);
        let registry = eye.poll.registry();
        registry.register(&mut SourceFd(&reads.as_raw_fd()), register.0, register.1).unwrap();
        let outlets = [Some(reads), None].map(Outlet::new);
        eye.watched.insert(NUMBER, Watched::new(session.clone(), None, outlets, link));
        let (said, read) = (0, 0);
        let mut scene = Scene {
            node,
            eye,
            session,
            writes,
            said,
            reader,
            read,
            _server: server,
            _scratch: scratch,
        };
        while scene.say() > 0 {
            scene.look(End::Stdout);
        }
        scene
    }

    /// It writes what there is room for.
    fn say(&mut self) -> usize {
        let bytes = [b'x'; 4096];
        let said = std::iter::from_fn(|| rustix::io::write(&self.writes, &bytes).ok()).sum();
        self.said += said;
        said
    }

    /// Something has happened at one of its descriptors.
    fn look(&mut self, end: End) {
        self.eye.advance(NUMBER, end);
    }

    /// Somebody reads so much, and wants what follows.
    fn read(&mut self, bytes: usize) {
        let until = self.read + bytes;
        while self.read < until {
            let got = self.reader.read_at(self.read as u64, 8192).unwrap();
            assert!(!got.is_empty(), "it ended after {} of {} bytes", self.read, self.said);
            self.read += got.len();
        }
        self.reader.read_at(self.read as u64, 1).unwrap();
    }

    /// The time of what it has left is over.
    fn is_due(&mut self) {
        self.eye.watched.get_mut(&NUMBER).unwrap().leaves = Some(Instant::now());
    }

    /// Whether that has been put off.
    fn is_put_off(&self) -> bool {
        self.eye.watched.get(&NUMBER).is_some_and(|it| it.leaves.is_some())
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.session.wipe();
        self.node.shut_down();
    }
}

/// Its reader made room when its time was over: up to 64 KiB were lost, and the job ended well.
#[test]
fn what_is_in_a_pipe_is_taken_before_the_pipe_is_given_up() {
    for end in [End::Stdin, End::Link] {
        let mut scene = Scene::new("watch-cut", None);
        scene.is_due();
        scene.look(end);
        assert!(scene.is_put_off(), "nobody has read");
        scene.read(STREAM_WINDOW / 2);
        scene.is_due();
        scene.look(end);
        assert!(!scene.is_put_off());
        assert!(scene.eye.watched[&NUMBER].outlets.iter().all(|outlet| outlet.pipe.is_none()));
        scene.read(scene.said - scene.read - 1);
        assert_eq!(scene.reader.read_at(scene.said as u64 - 1, 9).unwrap(), b"x");
        assert_eq!(scene.reader.read_at(scene.said as u64, 9).unwrap(), b"");
    }
}

/// A `tee` that could not write, for its reader was away for more than a second, was killed with
/// what it held.
#[test]
fn what_a_program_has_left_has_its_time_from_when_somebody_reads() {
    let (link, _other) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let mut scene = Scene::new("watch-tee", Some(link.as_raw_fd()));
    for _ in 0..3 {
        scene.is_due();
        scene.look(End::Link);
        assert!(scene.is_put_off(), "nobody has read");
    }
    scene.read(STREAM_WINDOW / 2);
    scene.is_due();
    scene.look(End::Link);
    assert!(scene.is_put_off(), "its time begins");
    // However much it still says, and though its stream is full at each look.
    scene.say();
    scene.read(1);
    scene.look(End::Stdout);
    scene.say();
    scene.is_due();
    scene.look(End::Link);
    assert!(!scene.is_put_off());
}
