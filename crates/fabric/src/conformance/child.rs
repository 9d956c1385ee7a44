//! Promises that need a process of their own: one that is killed, and one without descriptors.

use super::{Subject, hello, listen, meet_at, not_applicable, soon};
use crate::error::Error;
use crate::strategy::Datagram;
use crate::transport::Lane;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::env;
use std::io::IoSlice;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Tells a child what it is; its value is the address to connect to, or [`EXHAUST`].
const ROLE: &str = "MUSTER_CONFORMANCE_CHILD";
const EXHAUST: &str = "exhaust";

/// A child that does not outlive its test.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts this test program again with the one test that does what a child does.
fn start(test: &str, role: &str) -> Guard {
    // A path of modules begins with the crate, a test's name does not.
    let (_, name) = test.split_once("::").expect("a test in a module");
    let program = env::current_exe().expect("a test is a program");
    let mut command = Command::new(program);
    command.args(["--exact", name, "--test-threads=1", "--nocapture"]).env(ROLE, role);
    Guard(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("it starts again"))
}

/// What a child does; nothing in a process that is none.
pub fn child(subject: &impl Subject) {
    match env::var(ROLE) {
        Err(_) => {}
        Ok(role) if role == EXHAUST => exhaust(subject),
        Ok(address) => {
            let address = address.parse().expect("the parent's address");
            let end = subject.transport().connect(&address, &hello(Lane::Bulk), soon()).unwrap();
            let mut end = end.datagram().unwrap();
            end.send(&[IoSlice::new(b"kill me")], soon()).unwrap();
            // The parent kills this process, and ends by itself when it does not.
            std::thread::sleep(Duration::from_secs(30));
            drop(end);
        }
    }
}

/// SIGKILL of a peer is told as its death, behind the messages that it had sent.
pub fn a_killed_peer_is_dead(subject: &impl Subject, child: &str) {
    if !subject.transport().capabilities().processes {
        let why = "it reaches no other process";
        return not_applicable(subject, "a_killed_peer_is_dead", why);
    }
    let mut listener = listen(subject);
    let mut child = start(child, &listener.address().to_string());
    let accepted = listener.accept(soon()).expect("the child connects");
    assert!(accepted.peer().pid.is_none_or(|pid| pid == child.0.id()));
    let mut accepted = accepted.datagram().unwrap();
    accepted.take(soon(), &mut |message| assert_eq!(message, b"kill me")).unwrap();
    child.0.kill().unwrap();
    let error = accepted.take(soon(), &mut |_| panic!("no more was sent")).unwrap_err();
    assert!(matches!(error, Error::Dead { .. }), "{error}");
    let refused = (0..1000).find_map(|_| accepted.send(&[IoSlice::new(b"x")], soon()).err());
    assert!(matches!(refused, Some(Error::Dead { .. })), "{refused:?}");
}

/// Without descriptors there is an error that says so; with some again all goes on.
pub fn exhausted_descriptors_are_an_error_that_passes(subject: &impl Subject, child: &str) {
    if !subject.transport().capabilities().processes {
        // The child looks all the same: its connections are still there without descriptors.
        let why = "between threads it may need none";
        not_applicable(subject, "exhausted_descriptors_are_an_error_that_passes", why);
    }
    let status = start(child, EXHAUST).0.wait().unwrap();
    assert!(status.success(), "{status}");
}

fn exhaust(subject: &impl Subject) {
    let mut listener = listen(subject);
    let address = listener.address().clone();
    // Once before, so that everything is loaded that the first connection loads.
    drop(meet_at(subject, &mut *listener, Lane::Bulk));
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(40), maximum }).unwrap();
    let (mut ends, mut held, mut told) = (Vec::new(), Vec::new(), None);
    // A transport between threads needs no descriptors and never gets there.
    for _ in 0..100 {
        std::thread::scope(|scope| {
            let connect = || subject.transport().connect(&address, &hello(Lane::Bulk), brief());
            let connecting = scope.spawn(connect);
            for result in [listener.accept(brief()), connecting.join().expect("no panic")] {
                match result {
                    Ok(end) => ends.push(end),
                    Err(error @ Error::Exhausted { .. }) => told = Some(error),
                    // The other end of one that could not be had, told so or not.
                    Err(Error::Deadline { .. } | Error::Dead { .. } | Error::Refused { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
        if told.is_some() {
            break;
        }
        // Who lacks the last one may be within a library that waits for better times, and tells
        // nobody; so each time there is one less for the others.
        held.extend(std::fs::File::open("/dev/null"));
    }
    assert!(told.is_some() || !subject.transport().capabilities().processes);
    drop((ends, held));
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    // Those who had given up may stand before the door still.
    while let Ok(end) = listener.accept(brief()) {
        drop(end);
    }
    drop(meet_at(subject, &mut *listener, Lane::Bulk));
}

fn brief() -> crate::Deadline {
    crate::Deadline::after(Duration::from_millis(200))
}
