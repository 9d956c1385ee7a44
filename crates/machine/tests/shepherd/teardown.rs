//! Who may die when: in any order of deaths, nothing is left.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, Command, ExitCode, Stdio as CommandStdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use muster_machine::node::shepherd::{Report, Spawner, Stdio};
use rustix::process::Signal;

use crate::Case;
use crate::tree::{
    Tree, children, eventually, only_child, pipe, read_all, read_line, ready, shell, signal, start,
    start_by, stat, stop,
};

pub const CASES: &[Case] = &[
    ("leftovers_wait_for_the_caller", leftovers_wait_for_the_caller),
    ("gone_comes_when_leftovers_end", gone_comes_when_leftovers_end),
    ("escapees_die_with_a_kill", escapees_die_with_a_kill),
    ("stopped_processes_die", stopped_processes_die),
    ("kill_at_any_moment", kill_at_any_moment),
    ("drop_kills_and_reaps", drop_kills_and_reaps),
    ("dead_keeper_takes_all", dead_keeper_takes_all),
    ("dead_keeper_is_replaced", dead_keeper_is_replaced),
    ("one_end_is_nobody_elses", one_end_is_nobody_elses),
    ("ended_keeper_is_no_zombie", ended_keeper_is_no_zombie),
    ("dead_init_takes_all", dead_init_takes_all),
    ("outside_signals_do_nothing", outside_signals_do_nothing),
    ("killed_daemon_takes_all", killed_daemon_takes_all),
    ("killed_daemon_takes_stopped_ones", killed_daemon_takes_stopped_ones),
    ("daemon_killed_at_any_moment", daemon_killed_at_any_moment),
];

/// Ways out of a process tree: a new session, a double fork, both, ignored signals. Says "ready"
/// when all of them exist; each holds the standard output.
const ESCAPE: &str = "
    setsid sh -c 'trap \"\" HUP INT TERM; echo up; sleep 1000; :' &
    (setsid sh -c '(echo up; sleep 1000) & exit 0' &)
    (nohup sleep 1000 >/dev/stdout 2>&1 & echo up)
    exec sleep 1000";

fn escaped() -> Tree {
    let mut tree = start(&shell(ESCAPE));
    tree.started();
    for _ in 0..3 {
        assert_eq!(read_line(&mut tree.out), "up");
    }
    tree
}

/// The `daemon` part: starts the shell command it is given on its own streams, says who its
/// keeper is, and waits to be killed.
pub fn daemon(words: &[String]) -> ExitCode {
    let ours = |fd: BorrowedFd| fd.try_clone_to_owned().unwrap();
    let stdio = Stdio {
        stdin: ours(std::io::stdin().as_fd()),
        stdout: ours(std::io::stdout().as_fd()),
        stderr: ours(std::io::stderr().as_fd()),
    };
    let mut ward = Spawner::default().start(&shell(&words[0]), stdio).unwrap();
    println!("{}", ward.keeper_pid());
    loop {
        let _ = ward.receive();
        sleep(Duration::from_millis(20));
    }
}

fn spawn_daemon(command: &str) -> (Child, File) {
    let (out, stdout) = pipe();
    let child = Command::new("/proc/self/exe")
        .args(["daemon", command])
        .stdin(CommandStdio::null())
        .stdout(stdout)
        .spawn()
        .unwrap();
    (child, out)
}

fn slay(mut daemon: Child) {
    daemon.kill().unwrap();
    daemon.wait().unwrap();
}

fn leftovers_wait_for_the_caller() {
    let mut tree = start(&shell("(setsid sleep 1000 &); exit 3"));
    tree.started();
    assert_eq!(tree.exited(), 3 << 8);
    // Not a proof, but a moment in which it could go wrong.
    assert!(!ready(&tree.out, Instant::now() + Duration::from_millis(100)));
    assert_eq!(tree.ward.receive().unwrap(), None);
    assert_eq!(children(tree.init()).len(), 1);
    tree.kill_and_check();
}

fn gone_comes_when_leftovers_end() {
    let mut tree = start(&shell("exec 3<&0; (setsid sh -c 'read x <&3; echo late' &); exit 0"));
    tree.started();
    assert_eq!(tree.exited(), 0);
    tree.feed("x\n");
    assert_eq!(tree.finish().text(), "late\n");
}

fn escapees_die_with_a_kill() {
    let outcome = escaped().kill_and_check();
    assert_eq!(outcome.status, None, "nobody was there to report");
}

fn stopped_processes_die() {
    // The program, by the ward's own signal.
    let tree = escaped();
    tree.ward.signal(libc::SIGSTOP).unwrap();
    tree.kill_and_check();
    // The init: nobody reads the link.
    let tree = escaped();
    let _init = stop(tree.init());
    tree.kill_and_check();
    // The keeper: nobody reaps the init.
    let tree = escaped();
    let _keeper = stop(tree.ward.keeper_pid());
    tree.kill_and_check();
    let tree = escaped();
    let _both = (stop(tree.ward.keeper_pid()), stop(tree.init()));
    tree.kill_and_check();
}

fn kill_at_any_moment() {
    for n in 0..60 {
        let mut tree = start(&shell(ESCAPE));
        sleep(Duration::from_micros(n * 100));
        tree.ward.kill();
        tree.ward.kill();
        tree.finish();
    }
}

fn drop_kills_and_reaps() {
    for n in 0..20 {
        let Tree { ward, stdin, mut out, err, .. } = start(&shell(ESCAPE));
        sleep(Duration::from_micros(n * 300));
        drop(ward);
        read_all(&mut out);
        drop((stdin, err));
    }
    assert!(children(std::process::id()).is_empty(), "all are reaped");
}

fn dead_keeper_takes_all() {
    let mut tree = escaped();
    let _init = stop(tree.init());
    signal(tree.ward.keeper_pid(), Signal::KILL);
    assert_eq!(tree.next(), Report::Gone);
    tree.finish_after_gone();
    // Before there is an init, or just after.
    for n in 0..40 {
        let tree = start(&shell(ESCAPE));
        sleep(Duration::from_micros(n * 100));
        signal(tree.ward.keeper_pid(), Signal::KILL);
        tree.finish();
    }
}

fn dead_keeper_is_replaced() {
    let spawner = Spawner::default();
    for _ in 0..3 {
        let mut tree = start_by(&spawner, &shell(ESCAPE));
        tree.started();
        signal(tree.ward.keeper_pid(), Signal::KILL);
        assert_eq!(tree.next(), Report::Gone);
        tree.finish_after_gone();
    }
    assert_eq!(start_by(&spawner, &shell("exit 4")).finish().status, Some(4 << 8));
}

fn one_end_is_nobody_elses() {
    let spawner = Spawner::default();
    let wait = || start_by(&spawner, &shell("echo ready; read x; echo $x"));
    let (first, mut second, third) = (wait(), wait(), wait());
    second.started();
    assert_eq!(first.ward.keeper_pid(), second.ward.keeper_pid());
    first.kill_and_check();
    drop(third);
    second.feed("alive\n");
    let outcome = second.finish();
    assert_eq!((outcome.text(), outcome.status), ("ready\nalive\n", Some(0)));
}

fn ended_keeper_is_no_zombie() {
    let spawner = Spawner::default();
    assert_eq!(start_by(&spawner, &shell("exit 5")).finish().status, Some(5 << 8));
    assert_eq!(children(std::process::id()).len(), 1);
    spawner.end();
    assert!(children(std::process::id()).is_empty(), "while the spawner lives");
    assert_eq!(start_by(&spawner, &shell("exit 6")).finish().status, Some(6 << 8));
}

fn dead_init_takes_all() {
    let mut tree = escaped();
    signal(tree.init(), Signal::KILL);
    assert_eq!(tree.next(), Report::Gone);
    tree.finish_after_gone();
}

fn outside_signals_do_nothing() {
    let mut tree = start(&shell("echo ready; read x; echo $x"));
    tree.started();
    assert_eq!(read_line(&mut tree.out), "ready");
    let (keeper, init) = (tree.ward.keeper_pid(), tree.init());
    assert_ne!(stat(keeper, 3), stat(std::process::id(), 3), "not on our terminal");
    for pid in [keeper, init] {
        for name in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1] {
            signal(pid, name);
        }
    }
    tree.feed("alive\n");
    let outcome = tree.finish();
    assert_eq!((outcome.text(), outcome.status), ("alive\n", Some(0)));
}

fn killed_daemon_takes_all() {
    let (daemon, mut out) = spawn_daemon(ESCAPE);
    for _ in 0..4 {
        read_line(&mut out); // "up" three times, and the keeper's pid
    }
    slay(daemon);
    read_all(&mut out);
}

fn killed_daemon_takes_stopped_ones() {
    for who in ["init", "keeper"] {
        let (daemon, mut out) = spawn_daemon(ESCAPE);
        for _ in 0..4 {
            read_line(&mut out);
        }
        let keeper = only_child(daemon.id());
        let init = only_child(keeper);
        let _stopped = stop(if who == "init" { init } else { keeper });
        slay(daemon);
        read_all(&mut out);
        if who == "keeper" {
            signal(keeper, Signal::CONT);
        }
        eventually("the keeper has gone", || stat(keeper, 0).is_none_or(|state| state == "Z"));
    }
}

fn daemon_killed_at_any_moment() {
    for n in 0..60 {
        let (daemon, mut out) = spawn_daemon(ESCAPE);
        sleep(Duration::from_micros(n * 150));
        slay(daemon);
        read_all(&mut out);
    }
}

impl Tree {
    /// The streams end once the tree is gone.
    fn finish_after_gone(mut self) {
        read_all(&mut self.out);
        read_all(&mut self.err);
        assert_eq!(self.ward.receive().unwrap(), None);
    }
}
