//! Control groups around wards.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use muster_machine::node::cgroup::{Cgroup, Error, Hierarchy};
use muster_machine::node::shepherd::{Report, Spec, Stage};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::process::Signal;

use crate::Case;
use crate::tree::{SOON, eventually, read_all, read_line, run, shell, signal, start};

pub const CASES: &[Case] = &[
    ("program_is_born_in_its_group", program_is_born_in_its_group),
    ("group_kill_is_told_as_a_signal", group_kill_is_told_as_a_signal),
    ("frozen_session_still_answers_and_dies", frozen_session_still_answers_and_dies),
    ("kill_does_not_need_the_keeper", kill_does_not_need_the_keeper),
    ("sweep_removes_what_a_daemon_left", sweep_removes_what_a_daemon_left),
    ("groups_have_plain_names", groups_have_plain_names),
    ("missing_group_is_told", missing_group_is_told),
];

/// Whether there has to be a hierarchy: for root, where one can be written to.
fn is_due() -> bool {
    let mounts = fs::read("/proc/self/mountinfo").unwrap();
    let mount = muster_machine::mounts::read(&mounts).find(|mount| mount.kind == "cgroup2");
    let is_writable = |at| accessat(CWD, at, Access::WRITE_OK, AtFlags::EACCESS).is_ok();
    rustix::process::geteuid().is_root() && mount.is_some_and(|mount| is_writable(mount.at))
}

/// The groups of one test; gone with it.
struct Groups {
    hierarchy: Hierarchy,
    name: String,
}

impl Groups {
    fn new(test: &str) -> Option<Groups> {
        match Hierarchy::detect() {
            Ok(hierarchy) => {
                let name = format!("test-{test}-{}", std::process::id());
                Some(Groups { hierarchy, name })
            }
            Err(reason) => {
                assert!(!is_due(), "{reason}");
                println!("  ({reason})");
                None
            }
        }
    }

    fn create(&self, session: &str) -> Cgroup {
        self.hierarchy.create(&self.name, session).unwrap()
    }

    fn whole(&self) -> PathBuf {
        self.hierarchy.group(&self.name).unwrap()
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        let swept = self.hierarchy.sweep(&self.name, SOON);
        if !std::thread::panicking() {
            swept.unwrap();
            assert!(!self.whole().exists());
        }
    }
}

fn grouped(group: &Cgroup, text: &str) -> Spec {
    let mut spec = shell(text);
    spec.cgroup = Some(group.path().to_owned());
    spec
}

fn program_is_born_in_its_group() {
    let Some(groups) = Groups::new("born") else {
        return;
    };
    let group = groups.create("1");
    let mut tree = start(&grouped(&group, "grep ^0:: /proc/self/cgroup; read x"));
    let pid = tree.started();
    let line = read_line(&mut tree.out);
    assert!(line.ends_with(&format!("/muster-{}/1", groups.name)), "{line}");
    let inside = || fs::read_to_string(group.path().join("cgroup.procs")).unwrap();
    eventually("only the program is inside", || inside() == format!("{pid}\n"));
    assert_eq!(group.populated().unwrap(), Some(true));
    tree.feed("x\n");
    assert_eq!(tree.finish().status, Some(0));
    assert_eq!(group.populated().unwrap(), Some(false));
    group.remove(SOON).unwrap();
    assert_eq!(group.populated().unwrap(), None);
    group.kill(SOON).unwrap();
    group.remove(SOON).unwrap();
}

fn group_kill_is_told_as_a_signal() {
    let Some(groups) = Groups::new("kill") else {
        return;
    };
    let group = groups.create("1");
    let mut tree = start(&grouped(&group, "(setsid sleep 1000 &) ; echo up; sleep 1000; :"));
    tree.started();
    assert_eq!(read_line(&mut tree.out), "up");
    assert!(matches!(group.remove(Duration::ZERO), Err(Error::Populated { .. })));
    group.kill(SOON).unwrap();
    assert_eq!(group.populated().unwrap(), Some(false));
    assert_eq!(tree.exited(), libc::SIGKILL);
    assert_eq!(tree.next(), Report::Gone);
    group.remove(SOON).unwrap();
}

fn frozen_session_still_answers_and_dies() {
    let Some(groups) = Groups::new("freeze") else {
        return;
    };
    let group = groups.create("1");
    let mut tree = start(&grouped(&group, "echo up; read x; echo $x; sleep 1000"));
    tree.started();
    assert_eq!(read_line(&mut tree.out), "up");
    group.freeze().unwrap();
    eventually("it freezes", || group.frozen().unwrap() == Some(true));
    tree.feed("x\n");
    // CONT does not cheat a freezer.
    tree.ward.signal(libc::SIGCONT).unwrap();
    let moment = std::time::Instant::now() + Duration::from_millis(100);
    assert!(!crate::tree::ready(&tree.out, moment));
    group.thaw().unwrap();
    assert_eq!(read_line(&mut tree.out), "x");
    group.freeze().unwrap();
    eventually("it freezes", || group.frozen().unwrap() == Some(true));
    tree.kill_and_check();
    group.remove(SOON).unwrap();
}

/// The keeper that cannot run at all: only the init's pidfd is left.
fn kill_does_not_need_the_keeper() {
    let Some(groups) = Groups::new("keeper") else {
        return;
    };
    let group = groups.create("1");
    let mut tree = start(&shell("echo up; exec sleep 1000"));
    tree.started();
    assert_eq!(read_line(&mut tree.out), "up");
    let keeper = tree.ward.keeper_pid().to_string();
    fs::write(group.path().join("cgroup.procs"), keeper).unwrap();
    group.freeze().unwrap();
    eventually("it freezes", || group.frozen().unwrap() == Some(true));
    signal(tree.init(), Signal::STOP);
    tree.ward.kill();
    read_all(&mut tree.out);
    group.thaw().unwrap();
    tree.finish();
}

fn sweep_removes_what_a_daemon_left() {
    let Some(groups) = Groups::new("sweep") else {
        return;
    };
    let (one, two) = (groups.create("1"), groups.create("2"));
    assert!(groups.hierarchy.create(&groups.name, "1").is_err(), "a session's group is new");
    let mut trees = [start(&grouped(&one, "sleep 1000")), start(&grouped(&two, "sleep 1000"))];
    for tree in &mut trees {
        tree.started();
    }
    fs::create_dir(one.path().join("made-by-the-program")).unwrap();
    two.freeze().unwrap();
    groups.hierarchy.sweep(&groups.name, SOON).unwrap();
    assert!(!groups.whole().exists());
    for mut tree in trees {
        assert_eq!(tree.exited(), libc::SIGKILL);
        assert_eq!(tree.next(), Report::Gone);
    }
    groups.hierarchy.sweep(&groups.name, SOON).unwrap();
}

fn groups_have_plain_names() {
    let Some(groups) = Groups::new("names") else {
        return;
    };
    for bad in ["", ".", "..", "a/b", "../x", "a\nb", "a\0b"] {
        assert!(matches!(groups.hierarchy.create(bad, "1"), Err(Error::Name(_))));
        assert!(matches!(groups.hierarchy.create(&groups.name, bad), Err(Error::Name(_))));
        assert!(matches!(groups.hierarchy.sweep(bad, SOON), Err(Error::Name(_))));
    }
}

fn missing_group_is_told() {
    let mut spec = shell("true");
    spec.cgroup = Some("/nowhere/group".into());
    let expected = (Stage::Cgroup, libc::ENOENT, "/nowhere/group".to_owned());
    assert_eq!(run(&spec).failed, Some(expected));
}
