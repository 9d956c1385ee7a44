//! Inits that serve one program after another.

use std::fs;

use muster_machine::node::shepherd::{Report, Spawner};
use rustix::io::write;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, prlimit};

use crate::tree::{
    Outcome, Scratch, children, eventually, only_child, shell, signal, start_by, stat,
};

pub const CASES: &[(&str, fn())] = &[
    ("one_init_serves_program_after_program", one_init_serves_program_after_program),
    ("usage_is_that_of_the_program", usage_is_that_of_the_program),
    ("what_ends_soon_tells_its_end_alone", what_ends_soon_tells_its_end_alone),
    ("programs_at_once_have_inits_of_their_own", programs_at_once_have_inits_of_their_own),
    ("an_init_with_processes_left_is_not_free", an_init_with_processes_left_is_not_free),
    ("an_init_whose_mounts_were_changed_is_not_free", changed_mounts),
    ("an_init_that_was_changed_is_not_free", changed_init),
    ("an_init_does_not_grow", an_init_does_not_grow),
    ("what_the_machine_mounts_is_seen_by_the_next", machine_mounts),
    ("a_free_init_that_is_killed_is_missed_by_nobody", killed),
    ("a_program_that_cannot_be_run_ends_its_init", not_to_be_run),
    ("an_order_whose_files_there_is_no_room_for_is_told_so", no_room_for_files),
];

/// Runs a line to its end; the keeper's pid, too.
fn line(spawner: &Spawner, text: &str) -> (Outcome, u32) {
    let mut tree = start_by(spawner, &shell(text));
    tree.stdin = None;
    let keeper = tree.ward.keeper_pid();
    (tree.finish(), keeper)
}

fn one_init_serves_program_after_program() {
    let spawner = Spawner::default();
    let (first, keeper) = line(&spawner, "echo $$; exit 3");
    let init = only_child(keeper);
    let (second, _) = line(&spawner, "echo $$ $PPID; cat; kill -9 $$");
    assert_eq!((first.status, second.status), (Some(3 << 8), Some(9)));
    assert_eq!(only_child(keeper), init);
    assert_eq!(first.text(), "2\n");
    let pids: Vec<u32> = second.text().split_whitespace().map(|w| w.parse().unwrap()).collect();
    assert!(pids[0] > 2 && pids[1] == 1, "{pids:?}");
    // Its streams, not those of the one before; and nothing else is open.
    let (third, _) = line(&spawner, "ls /proc/self/fd; echo bad >&2");
    assert_eq!((third.text(), &third.err[..]), ("0\n1\n2\n3\n", &b"bad\n"[..]));
    // An order that is too long for a message.
    let mut long = shell("echo ${#LONG}");
    long.env.push(("LONG".into(), "x".repeat(100_000)));
    assert_eq!(start_by(&spawner, &long).finish().text(), "100000\n");
    assert_eq!(only_child(keeper), init);
    drop(spawner);
    eventually("the init goes with its daemon", || stat(init, 0).is_none());
}

fn usage_is_that_of_the_program() {
    let spawner = Spawner::default();
    let much = "head -c 3000000 /dev/zero | cat > /dev/null
        n=0; while [ $n -lt 50000 ]; do n=$((n+1)); done";
    let (first, _) = line(&spawner, much);
    let (second, _) = line(&spawner, "head -c 1000 /dev/zero > /dev/null");
    let (first, second) = (first.usage, second.usage);
    assert!(first.cpu_us() > 0, "{first:?}");
    assert!(second.cpu_us() < first.cpu_us(), "{first:?} {second:?}");
    assert!(first.read.is_none_or(|bytes| bytes >= 6_000_000), "{first:?}");
    assert!(second.read.is_none_or(|bytes| (1_000..100_000).contains(&bytes)), "{second:?}");
    assert!(second.written.is_none_or(|bytes| (1_000..100_000).contains(&bytes)), "{second:?}");
    assert!(second.wall_us > 0 && second.max_rss_kib > 0, "{second:?}");
}

fn what_ends_soon_tells_its_end_alone() {
    let spawner = Spawner::default();
    // The first, for which there is no init yet, and a second one.
    for _ in 0..2 {
        let mut spec = shell("exit 4");
        spec.tells_start = false;
        let mut tree = start_by(&spawner, &spec);
        // On a busy machine it may take longer than that.
        let first = tree.next();
        let ended = if let Report::Started { .. } = first { tree.next() } else { first };
        assert!(matches!(ended, Report::Exited { status: 0x400, .. }), "{ended:?}");
        assert_eq!(tree.next(), Report::Gone);
        tree.ward.release();
    }
    // One that goes on is told of, and can be told apart from its end.
    let mut spec = shell("read line; exit $line");
    spec.tells_start = false;
    let mut tree = start_by(&spawner, &spec);
    let pid = tree.started();
    assert!(stat(pid, 0).is_some());
    write(tree.stdin.as_ref().unwrap(), b"5\n").unwrap();
    assert_eq!(tree.exited(), 5 << 8);
    assert_eq!(tree.next(), Report::Gone);
}

fn programs_at_once_have_inits_of_their_own() {
    let spawner = Spawner::default();
    let mut both = [shell("cat"), shell("cat")].map(|spec| start_by(&spawner, &spec));
    for tree in &mut both {
        tree.started();
    }
    let keeper = both[0].ward.keeper_pid();
    assert_eq!(children(keeper).len(), 2);
    both.into_iter().for_each(|mut tree| {
        tree.stdin = None;
        tree.finish();
    });
    let (outcome, _) = line(&spawner, "exit 0");
    assert_eq!(outcome.status, Some(0));
    assert_eq!(children(keeper).len(), 2, "both wait for more");
}

fn an_init_with_processes_left_is_not_free() {
    let spawner = Spawner::default();
    let mut tree = start_by(&spawner, &shell("sleep 1000 > /dev/null 2>&1 & exit 0"));
    let keeper = tree.ward.keeper_pid();
    tree.started();
    let init = only_child(keeper);
    assert!(matches!(tree.next(), Report::Exited { is_left: true, .. }));
    let mut next = start_by(&spawner, &shell("cat"));
    next.started();
    assert_eq!(children(keeper).len(), 2);
    tree.ward.kill();
    assert_eq!(tree.next(), Report::Gone);
    next.stdin = None;
    next.finish();
    assert_ne!(only_child(keeper), init);
}

fn changed_mounts() {
    let spawner = Spawner::default();
    let (outcome, keeper) =
        line(&spawner, "mount -t tmpfs none /mnt && touch /mnt/muster-was-here");
    if outcome.status != Some(0) {
        return println!("  (no mounts: {})", String::from_utf8_lossy(&outcome.err).trim_end());
    }
    eventually("its namespaces end", || children(keeper).is_empty());
    let (outcome, _) = line(&spawner, "ls /mnt");
    assert!(!outcome.text().contains("muster-was-here"));
}

fn changed_init() {
    let spawner = Spawner::default();
    // What tells it, in which words when it is changed, and what changes it. Nobody has a limit of
    // eight blocks already.
    let changes = [
        ("nice", "5", "renice -n 5 -p 1"),
        ("ulimit -c", "8", "prlimit --pid 1 --core=4096:"),
        ("nproc", "1", "taskset -p 1 1"),
    ];
    for (tells, changed, change) in changes {
        let (_, keeper) = line(&spawner, "exit 0");
        let init = only_child(keeper);
        let (outcome, _) = line(&spawner, &format!("{tells}; {change}"));
        if outcome.status != Some(0) {
            // It has rights here that its programs lack.
            println!("  (no change: {})", String::from_utf8_lossy(&outcome.err).trim_end());
            continue;
        }
        let before = outcome.text().split_whitespace().next();
        let (after, _) = line(&spawner, tells);
        assert_eq!((after.status, after.text().split_whitespace().next()), (Some(0), before));
        // Where somebody has set the same before, nothing changes.
        let is_so = before == Some(changed);
        assert!(is_so || only_child(keeper) != init, "{change} stays, after {before:?}");
    }
}

/// What a program is started with is not left behind by it.
fn an_init_does_not_grow() {
    let spawner = Spawner::default();
    let mut long = shell("exit 0");
    long.env.push(("LONG".into(), "x".repeat(100_000)));
    let tree = start_by(&spawner, &long);
    let keeper = tree.ward.keeper_pid();
    tree.finish();
    let resident = || -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", only_child(keeper))).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let before = resident();
    for _ in 0..100 {
        start_by(&spawner, &long).finish();
    }
    let after = resident();
    assert!(after < before + 4_000, "{before} KiB before, {after} KiB after");
}

fn machine_mounts() {
    let scratch = Scratch::new();
    let place = scratch.dir("mounted");
    let spawner = Spawner::default();
    line(&spawner, "exit 0");
    let mounted = mount("none", &place, "tmpfs", MountFlags::empty(), None);
    if mounted.is_ok() {
        fs::write(place.join("there"), "").unwrap();
    }
    let (seen, keeper) = line(&spawner, &format!("ls {}", place.display()));
    if mounted.is_ok() {
        unmount(&place, UnmountFlags::DETACH).unwrap();
    }
    let (gone, _) = line(&spawner, &format!("ls {}", place.display()));
    assert_eq!(seen.text(), if mounted.is_ok() { "there\n" } else { "" });
    assert_eq!(gone.text(), "");
    only_child(keeper);
}

fn killed() {
    let spawner = Spawner::default();
    let (_, keeper) = line(&spawner, "exit 0");
    let init = only_child(keeper);
    signal(init, Signal::KILL);
    // Its link may still be open.
    eventually("it dies", || stat(init, 0).is_none_or(|state| state == "Z"));
    assert_eq!(line(&spawner, "echo on").0.text(), "on\n");
    assert_ne!(only_child(keeper), init);
}

fn not_to_be_run() {
    let spawner = Spawner::default();
    let (_, keeper) = line(&spawner, "exit 0");
    let mut spec = shell("");
    spec.program = "/nowhere".into();
    let outcome = start_by(&spawner, &spec).finish();
    assert_eq!(outcome.failed.map(|failed| failed.1), Some(libc::ENOENT));
    eventually("its init ends", || children(keeper).is_empty());
    assert_eq!(line(&spawner, "echo on").0.text(), "on\n");
}

/// Its program was said to have been killed.
fn no_room_for_files() {
    let spawner = Spawner::default();
    let mut first = start_by(&spawner, &shell("cat"));
    first.started();
    let keeper = first.ward.keeper_pid();
    let file = |number: &u64| fs::read_to_string(format!("/proc/{keeper}/fdinfo/{number}"));
    let is_open = |number: &u64| file(number).is_ok();
    // What it has of itself keeps the place, when it has done with the first.
    let itself = format!("Pid:\t{keeper}\n");
    let is_itself = |number: &u64| file(number).is_ok_and(|told| told.contains(&itself));
    eventually("a place is kept", || (0..64).filter(is_itself).count() == 2);
    let pid = Pid::from_raw(keeper as i32);
    let usual = getrlimit(Resource::Nofile);
    let least = Rlimit { current: (0..).find(|number| !is_open(number)), ..usual };
    prlimit(pid, Resource::Nofile, least).unwrap();
    let failed = start_by(&spawner, &shell("true")).finish().failed;
    assert_eq!(
        failed.map(|(_, errno, what)| (errno, what)),
        Some((libc::EMFILE, "the order".into()))
    );
    prlimit(pid, Resource::Nofile, usual).unwrap();
    assert_eq!(line(&spawner, "echo on").0.text(), "on\n");
    first.stdin = None;
    assert_eq!(first.finish().status, Some(0));
}
