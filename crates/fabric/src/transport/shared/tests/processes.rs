//! Two real processes: this test's program is started again, as the peer.

use super::*;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Stdio};

/// Names the path to the peer, and with it that it is one.
const PATH: &str = "MUSTER_TEST_SHM_PATH";
/// What the peer is to do.
const ROLE: &str = "MUSTER_TEST_SHM_ROLE";

/// A peer that ends with the test.
struct Process(Child);

impl Process {
    fn new(role: &str, place: &Place) -> Process {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "transport::shared::tests::processes::peer", "--nocapture"])
            .env(PATH, place.path())
            .env(ROLE, role)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Process(child)
    }

    fn signal(&self, signal: i32) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let signal = rustix::process::Signal::from_named_raw(signal).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The peer: no test of its own, and nothing to do when it is run as one.
#[test]
fn peer() {
    let Ok(path) = std::env::var(PATH) else { return };
    let path = PathBuf::from(path);
    let connect = || {
        let singles = ["echo-single", "forked", "refused", "refused-later"];
        let is_single = singles.contains(&&*std::env::var(ROLE).unwrap());
        let plan = if is_single { Plan::SingleCopy } else { PIPELINED };
        Shared::new(planners(plan)).connect_link(&path, &hello(Lane::Bulk), soon()).unwrap()
    };
    match std::env::var(ROLE).unwrap().as_str() {
        "echo" | "echo-single" => echo(connect()),
        "refused" => {
            sys::refuse(libc::SYS_process_vm_readv).unwrap();
            let link = connect();
            assert!(link.memory.is_none());
            echo(link);
        }
        "refused-later" => {
            let link = connect();
            assert!(link.memory.is_some(), "nobody has refused it yet");
            sys::refuse(libc::SYS_process_vm_readv).unwrap();
            echo(link);
        }
        "flood" => {
            let mut link = connect();
            for number in 0.. {
                let bytes = pattern(number * 37 % 30_000, number);
                if link.send(&[IoSlice::new(&bytes)], soon()).is_err() {
                    return;
                }
            }
        }
        "sink" => {
            let mut link = connect();
            while link.try_take(|_| ()).map_or_else(|error| error.is_would_block(), |()| true) {
                let _ = link.wait(Ready::Receive, soon());
            }
        }
        "forked" => {
            let (mut link, mut bytes) = (connect(), vec![1; 1 << 20]);
            let is_sent = sys::in_a_fork(|| {
                bytes.fill(2);
                link.send(&[IoSlice::new(&bytes)], soon()).is_ok()
            });
            assert!(is_sent && bytes[0] == 1);
        }
        "owner" => {
            let mut copies = Box::new(connect()).remote_copy().unwrap();
            copies.expose(&region(4096, crate::region::Rights::ALL).unwrap()).unwrap();
            while copies.try_progress().is_ok() {
                let _ = copies.wait(Ready::Receive, soon());
            }
        }
        "listen" => {
            let mut links = Shared::default().listen_link(&path).unwrap();
            let _ = links.accept_link(soon());
        }
        "few-descriptors" => few_descriptors(&path),
        other => panic!("no role {other}"),
    }
}

#[test]
fn who_copies_into_the_memory_of_a_killed_peer_is_told_of_its_death() {
    use crate::strategy::{Key, RemoteCopy};
    let (mut process, link, _place) = meet("owner", PIPELINED);
    let mut copies = Box::new(link).remote_copy().unwrap();
    let put = |copies: &mut dyn RemoteCopy| -> Result<bool> {
        copies.try_put(Key(1), 0, &[1; 8], 1)?;
        loop {
            match copies.try_progress()? {
                Some(done) => return Ok(done.result.is_ok()),
                None => copies.wait(Ready::Receive, soon())?,
            }
        }
    };
    while !put(&mut *copies).unwrap() {}
    // From now on through a window.
    assert!(put(&mut *copies).unwrap());
    process.signal(libc::SIGKILL);
    process.0.wait().unwrap();
    let told = (0..1000).find_map(|_| put(&mut *copies).err());
    assert!(matches!(told, Some(Error::Dead { .. })), "{told:?}");
}

/// Sends back what comes until its peer leaves.
fn echo(mut link: Link) {
    let mut bytes = vec![0; 1 << 20];
    while let Ok(count) = link.receive(&mut bytes, soon()) {
        link.send(&[IoSlice::new(&bytes[..count])], soon()).unwrap();
    }
}

fn meet(role: &str, plan: Plan) -> (Process, Link, Place) {
    let place = Place::new();
    let mut links = Shared::new(planners(plan)).listen_link(&place.path()).unwrap();
    let process = Process::new(role, &place);
    let link = links.accept_link(soon()).unwrap();
    assert_eq!(link.peer().pid, Some(process.0.id()), "the kernel says who it is");
    (process, link, place)
}

#[test]
fn two_processes_exchange_messages_of_all_sizes() {
    for (role, plan) in [("echo", PIPELINED), ("echo-single", Plan::SingleCopy)] {
        let (_process, mut link, _place) = meet(role, plan);
        let mut buffer = vec![0; 1 << 20];
        for (seed, size) in [0, 64, 121, 5000, 1 << 20, 3, 77_777].into_iter().enumerate() {
            let bytes = pattern(size, seed);
            link.send(&[IoSlice::new(&bytes)], soon()).unwrap();
            let count = link.receive(&mut buffer, soon()).unwrap();
            assert!(buffer[..count] == bytes, "{size} bytes");
        }
    }
}

#[test]
fn messages_go_another_way_where_the_kernel_refuses_to_read_their_sender() {
    for (role, is_read) in [("refused", false), ("refused-later", true)] {
        let (mut process, mut link, _place) = meet(role, Plan::SingleCopy);
        let mut buffer = vec![0; 1 << 20];
        for (seed, size) in [100_000, 1 << 20, 64, 500_000].into_iter().enumerate() {
            let bytes = pattern(size, seed);
            link.send(&[IoSlice::new(&bytes)], soon()).unwrap();
            let count = link.receive(&mut buffer, soon()).unwrap();
            assert!(buffer[..count] == bytes, "{role}: {size} bytes");
        }
        assert_eq!(link.is_read(), is_read, "{role}: what the peer has found when it connected");
        drop(link);
        assert!(process.0.wait().unwrap().success(), "{role}");
    }
}

#[test]
fn a_fork_sends_what_is_in_its_own_memory() {
    let (mut process, mut link, _place) = meet("forked", PIPELINED);
    let mut buffer = vec![0; 1 << 20];
    assert_eq!(link.receive(&mut buffer, soon()).unwrap(), buffer.len());
    assert!(buffer.iter().all(|byte| *byte == 2), "{} and so on", buffer[0]);
    assert!(process.0.wait().unwrap().success());
}

#[test]
fn what_a_killed_process_had_sent_is_whole_and_then_it_is_dead() {
    for kept in [0, 1, 40, 900] {
        let (process, mut link, _place) = meet("flood", PIPELINED);
        let mut number = 0;
        let error = loop {
            let taken = Datagram::take(&mut link, soon(), &mut |bytes| {
                assert!(bytes == pattern(number * 37 % 30_000, number), "message {number}");
            });
            if let Err(error) = taken {
                break error;
            }
            number += 1;
            if number == kept + 1 {
                process.signal(libc::SIGKILL);
            }
        };
        assert!(matches!(error, Error::Dead { .. }), "{error}");
        let error = link.send(&[IoSlice::new(b"?")], soon()).unwrap_err();
        assert!(matches!(error, Error::Dead { .. }), "{error}");
    }
}

#[test]
fn who_sleeps_for_a_peer_learns_of_its_death() {
    for (role, ready) in [("echo", Ready::Receive), ("sink", Ready::Send)] {
        let (process, mut link, _place) = meet(role, PIPELINED);
        if ready == Ready::Send {
            process.signal(libc::SIGSTOP);
            while link.try_fill(100, |_| ()).is_ok() {}
        }
        let waiter = std::thread::spawn(move || {
            let error = loop {
                let tried = match ready {
                    Ready::Receive => link.try_take(|_| ()),
                    Ready::Send => link.try_fill(1, |_| ()),
                };
                match tried {
                    Err(Error::WouldBlock) => link.wait(ready, soon()).unwrap(),
                    Err(error) => break error,
                    Ok(()) => {}
                }
            };
            assert!(matches!(error, Error::Dead { .. }), "{error}");
        });
        process.signal(libc::SIGKILL);
        waiter.join().unwrap();
    }
}

#[test]
fn a_stopped_peer_costs_a_sender_its_deadline_and_no_more() {
    let (process, mut link, _place) = meet("sink", PIPELINED);
    process.signal(libc::SIGSTOP);
    let bytes = pattern(1 << 20, 1);
    let short = Deadline::after(Duration::from_millis(20));
    let error = link.send(&[IoSlice::new(&bytes)], short).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
    process.signal(libc::SIGCONT);
    // What was begun is taken back, and the connection goes on.
    link.send(&[IoSlice::new(&bytes)], soon()).unwrap();
    link.send(&[IoSlice::new(&bytes)], soon()).unwrap();
}

#[test]
fn the_descriptor_tells_of_arrivals_and_of_the_end() {
    use rustix::event::{PollFd, PollFlags, poll};
    let (process, mut link, _place) = meet("echo", PIPELINED);
    let readable = |link: &Link| {
        let time = rustix::event::Timespec { tv_sec: 20, tv_nsec: 0 };
        let descriptor = link.descriptor();
        poll(&mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)], Some(&time)).unwrap()
    };
    link.descriptor();
    for _ in 0..20 {
        assert!(matches!(link.try_take(|_| ()), Err(Error::WouldBlock)));
        // What is sent meanwhile takes nothing away from what tells of arrivals.
        (0..100).for_each(|_| link.send(&[IoSlice::new(&[9; 5])], soon()).unwrap());
        assert_eq!(readable(&link), 1);
        for _ in 0..100 {
            while let Err(error) = link.try_take(|bytes| assert_eq!(bytes, [9; 5])) {
                assert!(error.is_would_block(), "{error}");
                assert_eq!(readable(&link), 1);
            }
        }
    }
    while link.try_take(|_| ()).is_ok() {}
    process.signal(libc::SIGKILL);
    assert_eq!(readable(&link), 1);
    let error = Datagram::take(&mut link, soon(), &mut |_| ()).unwrap_err();
    assert!(matches!(error, Error::Dead { .. }), "{error}");
}

#[test]
fn a_path_that_a_dead_listener_left_is_taken_over() {
    let place = Place::new();
    let process = Process::new("listen", &place);
    let end = soon();
    while !place.path().exists() && end.left().is_some() {
        std::thread::yield_now();
    }
    process.signal(libc::SIGKILL);
    drop(process);
    assert!(place.path().exists());
    Shared::default().listen_link(&place.path()).unwrap();
}

#[test]
fn a_process_without_descriptors_is_told_and_goes_on_when_it_has_some() {
    let place = Place::new();
    let mut process = Process::new("few-descriptors", &place);
    assert!(process.0.wait().unwrap().success());
}

fn few_descriptors(path: &Path) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let shared = Shared::default();
    let mut links = shared.listen_link(path).unwrap();
    let before = getrlimit(Resource::Nofile);
    let next = u64::try_from(std::fs::File::open("/").unwrap().as_raw_fd());
    for more in 0..3 {
        let limit = Rlimit { current: Some(next.unwrap() + more), maximum: before.maximum };
        setrlimit(Resource::Nofile, limit).unwrap();
        let error = shared.connect_link(path, &hello(Lane::Bulk), Deadline::now()).err().unwrap();
        let is_right = matches!(error, Error::Exhausted { .. } | Error::Deadline { .. });
        assert!(is_right, "{more}: {error}");
    }
    let accepted = links.accept_link(Deadline::after(Duration::from_millis(1))).err().unwrap();
    assert!(matches!(accepted, Error::Exhausted { .. } | Error::Deadline { .. }), "{accepted}");
    setrlimit(Resource::Nofile, before).unwrap();
    links.accept_link(Deadline::after(Duration::from_millis(1))).err().unwrap();
    // Room for the connection, and none for its memory.
    let (stranger, memory) = (hostile::stranger(path), segment::memory("test", 8 << 20).unwrap());
    let bytes = crate::transport::hello::write(&hello(Lane::Bulk));
    socket::send(stranger.as_fd(), &bytes, Some(memory.as_fd())).unwrap();
    let next = std::fs::File::open("/").unwrap().as_raw_fd() as u64;
    let limit = Rlimit { current: Some(next + 1), maximum: before.maximum };
    setrlimit(Resource::Nofile, limit).unwrap();
    // Takes it in, and then hears it.
    for _ in 0..2 {
        let error = links.accept_link(soon()).err().unwrap();
        assert!(matches!(error, Error::Exhausted { .. }), "{error}");
    }
    let refusal = hostile::answer(&stranger).unwrap_err().to_string();
    assert!(refusal.contains("no file descriptors left"), "{refusal}");
    setrlimit(Resource::Nofile, before).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| shared.connect_link(path, &hello(Lane::Bulk), soon()).unwrap());
        links.accept_link(soon()).unwrap();
    });
}
