//! How a program starts, what it finds, and what is told of its end.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use muster_machine::node::shepherd::{
    Error, FILES, Identity, Instead, Invalid, Report, Spawner, Spec, Stage, Stdio, Ward,
};

use crate::tree::{
    Outcome, Scratch, eventually, helper as this, pipe, read_all, read_line, run, shell, start,
    start_by, stat,
};
use crate::{Case, NOBODY};

pub const CASES: &[Case] = &[
    ("exit_status_is_the_raw_one", exit_status_is_the_raw_one),
    ("arguments_and_environment_arrive_exactly", arguments_and_environment_arrive_exactly),
    ("large_environment_arrives", large_environment_arrives),
    ("program_starts_from_a_clean_slate", program_starts_from_a_clean_slate),
    (
        "programs_share_a_session_unless_they_take_turns",
        programs_share_a_session_unless_they_take_turns,
    ),
    ("stdin_reaches_the_program", stdin_reaches_the_program),
    ("output_larger_than_a_pipe", output_larger_than_a_pipe),
    ("streams_are_held_by_the_program_alone", streams_are_held_by_the_program_alone),
    ("leaked_descriptors_end_at_the_keeper", leaked_descriptors_end_at_the_keeper),
    ("relative_and_bare_names", relative_and_bare_names),
    ("exec_failures_name_their_errno", exec_failures_name_their_errno),
    (
        "what_is_in_a_programs_place_runs_for_that_file_alone",
        what_is_in_a_programs_place_runs_for_that_file_alone,
    ),
    (
        "a_programs_files_are_in_their_places_however_many_others_run",
        a_programs_files_are_in_their_places_however_many_others_run,
    ),
    ("missing_directory_is_no_exec_failure", missing_directory_is_no_exec_failure),
    ("busy_program_is_tried_again", busy_program_is_tried_again),
    ("impossible_orders_start_nothing", impossible_orders_start_nothing),
    ("started_names_the_outer_pid", started_names_the_outer_pid),
    ("program_sees_its_own_proc", program_sees_its_own_proc),
    ("usage_counts_descendants", usage_counts_descendants),
    ("signals_reach_the_group", signals_reach_the_group),
    ("early_signals_wait", early_signals_wait),
    ("odd_signals", odd_signals),
    ("identity_is_dropped_to", identity_is_dropped_to),
    ("identity_needs_root", identity_needs_root),
    ("many_at_once", many_at_once),
];

/// What the `helper` part does; the first word says.
pub fn helper(words: &[String]) -> ExitCode {
    let mut out = std::io::stdout();
    match words[0].as_str() {
        "words" => std::env::args_os().for_each(|word| {
            out.write_all(word.as_encoded_bytes()).unwrap();
            out.write_all(b"\0").unwrap();
        }),
        "env" => out.write_all(&fs::read("/proc/self/environ").unwrap()).unwrap(),
        "descriptors" => {
            // By name and not by listing, which would need a descriptor.
            for n in 0..4096 {
                if fs::symlink_metadata(format!("/proc/self/fd/{n}")).is_ok() {
                    writeln!(out, "{n}").unwrap();
                }
            }
        }
        "mounts" => crate::script::mounts_stay_inside(),
        other => panic!("no such part: {other}"),
    }
    ExitCode::SUCCESS
}

fn exit_status_is_the_raw_one() {
    for (text, status) in
        [("exit 0", 0), ("exit 42", 42 << 8), ("kill -9 $$", 9), ("kill -TERM $$", 15)]
    {
        let outcome = run(&shell(text));
        assert_eq!(outcome.status, Some(status), "{text}: {outcome:?}");
    }
}

fn arguments_and_environment_arrive_exactly() {
    let odd = ["", " a  b ", "*", "$HOME", "'\"\\", "naïve ☃", "line\nline", "--", "-x"];
    let mut words = vec!["words"];
    words.extend(odd);
    let outcome = run(&this(&words));
    let expected = [&["shepherd-test", "helper", "words"][..], &odd[..]].concat().join("\0") + "\0";
    assert_eq!(outcome.text(), expected);

    let mut spec = this(&["env"]);
    let env = [("B", "2"), ("A", ""), ("C", "a=b\nc ☃"), ("lower.case-name", "x")];
    spec.env = env.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
    assert_eq!(run(&spec).text(), "B=2\0A=\0C=a=b\nc ☃\0lower.case-name=x\0");
    spec.env.clear();
    assert_eq!(run(&spec).text(), "");

    let outcome = run(&Spec::new("/bin/sh", &["other name", "-c", "echo \"$0\""]));
    assert_eq!(outcome.text(), "other name\n");
    let mut spec = shell("exit 1");
    spec.argv.clear();
    assert_eq!(run(&spec).status, Some(0), "a shell without arguments reads its stdin");
}

fn large_environment_arrives() {
    let mut spec = shell("echo ${#V0} ${#V5}; echo $#");
    for n in 0..6 {
        spec.env.push((format!("V{n}"), "x".repeat(100_000)));
    }
    spec.argv.push("sh".into());
    spec.argv.extend((0..20_000).map(|n| format!("argument-{n}")));
    let outcome = run(&spec);
    assert_eq!(outcome.text(), "100000 100000\n20000\n", "{:?}", outcome.failed);
}

fn program_starts_from_a_clean_slate() {
    // What a careless parent of the daemon leaks.
    let leak = rustix::io::dup(std::io::stdin()).unwrap();
    let spec = this(&["descriptors"]);
    assert_eq!(run(&spec).text(), "0\n1\n2\n");
    drop(leak);

    let scratch = Scratch::new();
    let mut spec = Spec::new("/bin/cat", &["cat", "/proc/self/status"]);
    spec.cwd.clone_from(&scratch.0);
    let outcome = run(&spec);
    let status = outcome.text();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {name} in {status}")).trim().to_owned()
    };
    for signals in ["SigBlk", "SigIgn", "SigCgt", "SigPnd"] {
        assert_eq!(field(signals), "0000000000000000", "{signals}");
    }
    assert_eq!(field("Umask"), "0022");
    assert_eq!(field("NoNewPrivs"), "0");
    assert_eq!(field("NSpid").split_whitespace().last(), Some("2"));

    let mut spec = shell("pwd; ps -o sid= -p $$ 2>/dev/null || true");
    spec.cwd.clone_from(&scratch.0);
    assert_eq!(run(&spec).text().lines().next(), scratch.0.to_str());
    let mut tree = start(&shell("echo; read x"));
    let pid = tree.started();
    read_line(&mut tree.out);
    let own = [pid, tree.ward.keeper_pid()].map(|pid| Some(pid.to_string()));
    assert_eq!([stat(pid, 2), stat(pid, 3)], own, "its own group in the keeper's session");
    assert_eq!(fs::read_link(format!("/proc/{}/cwd", tree.ward.keeper_pid())).unwrap(), {
        std::path::Path::new("/")
    });
    tree.feed("x\n");
    assert_eq!(tree.finish().status, Some(0));
}

/// The kernel shares a processor among sessions, and within one among its processes: who offers its
/// own (sched_yield) does so within its session.
fn programs_share_a_session_unless_they_take_turns() {
    let spawner = Spawner::default();
    let programs = [false, false, true].map(|in_turns| {
        let mut spec = shell("read x");
        spec.in_turns = in_turns;
        let mut tree = start_by(&spawner, &spec);
        (tree.started(), tree)
    });
    let pids = programs.each_ref().map(|(pid, _)| Some(pid.to_string()));
    let groups = programs.each_ref().map(|(pid, _)| stat(*pid, 2));
    let [one, other, in_turns] = programs.each_ref().map(|(pid, _)| stat(*pid, 3));
    assert_eq!(groups, pids, "each leads a group");
    assert_eq!(one, other);
    assert_eq!(in_turns, pids[2]);
    for (_, mut tree) in programs {
        tree.feed("x\n");
        assert_eq!(tree.finish().status, Some(0));
    }
}

fn stdin_reaches_the_program() {
    let mut tree = start(&shell("cat; echo end >&2"));
    tree.feed("hello ");
    tree.feed("world");
    tree.stdin = None;
    let outcome = tree.finish();
    assert_eq!((outcome.text(), &outcome.err[..]), ("hello world", &b"end\n"[..]));
}

fn output_larger_than_a_pipe() {
    let outcome = run(&shell("head -c 3000000 /dev/zero"));
    assert_eq!((outcome.out.len(), outcome.status), (3_000_000, Some(0)));
}

fn streams_are_held_by_the_program_alone() {
    let mut tree = start(&shell("exec 3<&0 0<&- >&- 2>&-; read x <&3"));
    tree.started();
    assert!(read_all(&mut tree.out).is_empty() && read_all(&mut tree.err).is_empty());
    assert_eq!(tree.ward.receive().unwrap(), None, "it still runs");
    tree.feed("x\n");
    assert_eq!(tree.finish().status, Some(0));
}

/// What a careless parent of the daemon leaves open would otherwise live as long as the session.
fn leaked_descriptors_end_at_the_keeper() {
    let (mut read, write) = pipe();
    let leak = rustix::io::dup(&write).unwrap();
    let mut tree = start(&shell("read x"));
    tree.started();
    drop((write, leak));
    assert!(read_all(&mut read).is_empty());
    assert_eq!(tree.ward.receive().unwrap(), None, "it still runs");
    tree.feed("x\n");
    assert_eq!(tree.finish().status, Some(0));
}

fn relative_and_bare_names() {
    let scratch = Scratch::new();
    scratch.dir("bin");
    scratch.file("prog", "#!/bin/sh\necho here\n", 0o755);
    scratch.file("bin/prog", "#!/bin/sh\necho there\n", 0o755);
    scratch.file("denied", "#!/bin/sh\n", 0o644);
    scratch.file("bin/denied", "#!/bin/sh\necho allowed\n", 0o755);
    let text = |program: &str, path: Option<&str>| {
        let mut spec = Spec::new(program, &[program]);
        spec.cwd.clone_from(&scratch.0);
        spec.env.extend(path.map(|path| ("PATH".into(), path.into())));
        let outcome = run(&spec);
        assert_eq!(outcome.failed, None);
        outcome.text().to_owned()
    };
    assert_eq!(text("./prog", None), "here\n");
    assert_eq!(text("bin/prog", None), "there\n");
    assert_eq!(text("prog", Some("/nowhere:bin")), "there\n");
    assert_eq!(text("prog", Some("/bin/sh:.:bin")), "here\n");
    assert_eq!(text("prog", Some("/nowhere::bin")), "here\n");
    assert_eq!(text("denied", Some(".:bin")), "allowed\n");
    assert_eq!(text("true", None), "");
}

fn exec_failures_name_their_errno() {
    let scratch = Scratch::new();
    let plain = scratch.file("plain", "#!/bin/sh\n", 0o644);
    let garbage = scratch.file("garbage", "no program\n", 0o755);
    let orphan = scratch.file("orphan", "#!/nowhere/interpreter\n", 0o755);
    let cases = [
        ("/nowhere/prog", libc::ENOENT),
        ("no-such-program-anywhere", libc::ENOENT),
        (plain.to_str().unwrap(), libc::EACCES),
        (scratch.0.to_str().unwrap(), libc::EACCES),
        (garbage.to_str().unwrap(), libc::ENOEXEC),
        (orphan.to_str().unwrap(), libc::ENOENT),
        ("/bin/sh/sh", libc::ENOENT),
    ];
    for (program, errno) in cases {
        let outcome = run(&Spec::new(program, &["x"]));
        assert_eq!(outcome.failed, Some((Stage::Exec, errno, program.to_owned())));
        assert_eq!((outcome.pid, outcome.status), (None, None));
    }
    // One that was found in the PATH is named by where it is.
    for (name, errno) in [("plain", libc::EACCES), ("orphan", libc::ENOENT)] {
        let mut spec = Spec::new(name, &[]);
        spec.env.push(("PATH".into(), format!("/nowhere:{}:/bin", scratch.0.display())));
        let path = scratch.0.join(name).display().to_string();
        assert_eq!(run(&spec).failed, Some((Stage::Exec, errno, path)));
    }
}

/// What is put in a program's place runs where the kernel refuses that very file, and nowhere else.
fn what_is_in_a_programs_place_runs_for_that_file_alone() {
    use std::os::unix::fs::MetadataExt;
    let scratch = Scratch::new();
    let refused = scratch.file("refused", "no program\n", 0o644);
    let meta = fs::metadata(&refused).unwrap();
    let own = (meta.dev(), meta.ino());
    let instead = |program: &std::path::Path, of, words: &[&str]| {
        let mut spec = Spec::new(program.to_str().unwrap(), &["called", "a"]);
        let interpreter = words.iter().map(|word| (*word).to_owned()).collect();
        spec.instead = Some(Instead { of, interpreter, is_held: false });
        run(&spec)
    };
    let told = instead(&refused, own, &["/bin/echo", "-n"]);
    assert_eq!(told.out, format!("{} a", refused.display()).into_bytes());
    let denied = |outcome: Outcome| outcome.failed.map(|(_, errno, _)| errno) == Some(libc::EACCES);
    assert!(denied(instead(&refused, (own.0, own.1 + 1), &["/bin/echo"])));
    let runs = scratch.file("runs", "#!/bin/sh\necho itself\n", 0o755);
    let meta = fs::metadata(&runs).unwrap();
    assert_eq!(instead(&runs, (meta.dev(), meta.ino()), &["/bin/echo"]).out, b"itself\n");
}

/// The keeper has two descriptors for each program, and once some of them, which every init begins
/// with, were in the places of its program's files.
fn a_programs_files_are_in_their_places_however_many_others_run() {
    let spawner = Spawner::default();
    let null = || OwnedFd::from(File::options().read(true).write(true).open("/dev/null").unwrap());
    let sleeps = Spec::new("/bin/sleep", &["sleep", "600"]);
    let start = |_| {
        let stdio = Stdio { stdin: null(), stdout: null(), stderr: null() };
        spawner.start(&sleeps, stdio).unwrap()
    };
    let others: Vec<Ward> = (0..400).map(start).collect();
    let (file, (mut out, stdout)) = (null(), pipe());
    let stdio = Stdio { stdin: null(), stdout, stderr: null() };
    let spec = this(&["descriptors"]);
    let ward = spawner.start_with(&spec, stdio, &[file.as_fd(); 100]).unwrap();
    let places = (0..3).chain(FILES..FILES + 100).map(|place| format!("{place}\n"));
    assert_eq!(String::from_utf8(read_all(&mut out)).unwrap(), places.collect::<String>());
    drop((ward, others));
}

fn missing_directory_is_no_exec_failure() {
    let mut spec = shell("true");
    spec.cwd = "/nowhere/at/all".into();
    let expected = (Stage::Directory, libc::ENOENT, "/nowhere/at/all".to_owned());
    assert_eq!(run(&spec).failed, Some(expected));
}

/// Regression in advance: a daemon that has just written a program has a copy of the descriptor
/// in whatever it forks at that moment.
fn busy_program_is_tried_again() {
    let scratch = Scratch::new();
    let path = scratch.file("prog", "", 0o755);
    fs::copy("/bin/true", &path).unwrap();
    let spec = Spec::new(path.to_str().unwrap(), &["prog"]);
    let writer = || OpenOptions::new().append(true).open(&path).unwrap();
    let held = writer();
    let failed = run(&spec).failed.expect("nobody lets go of it");
    assert_eq!((failed.0, failed.1), (Stage::Exec, libc::ETXTBSY));
    drop(held);
    // A machine that stalls here for half a second fails one attempt, not five.
    let recovers = (0..5).any(|_| {
        let held = writer();
        let release = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            drop(held);
        });
        let outcome = run(&spec);
        release.join().unwrap();
        outcome.status == Some(0)
    });
    assert!(recovers);
}

fn impossible_orders_start_nothing() {
    let refused = |spec: Spec| {
        let (stdin, (_out, stdout), (_err, stderr)) = (pipe().1, pipe(), pipe());
        Spawner::default().start(&spec, Stdio { stdin, stdout, stderr }).unwrap_err()
    };
    let mut spec = shell("true");
    spec.cwd = "relative".into();
    assert!(matches!(refused(spec), Error::Invalid(Invalid::RelativeDirectory(_))));
    let mut spec = shell("true");
    spec.argv.push("a\0b".into());
    assert!(matches!(refused(spec), Error::Invalid(Invalid::Nul(_))));
    let mut spec = shell("true");
    spec.cwd = unsafe_name().into();
    assert!(matches!(refused(spec), Error::Encode(_)));
    let (stdin, (_out, stdout), (_err, stderr)) = (pipe().1, pipe(), pipe());
    let nowhere = std::path::Path::new("/nowhere/muster");
    let spawner = Spawner::with(nowhere, &["shepherd"]);
    let error = spawner.start(&shell("true"), Stdio { stdin, stdout, stderr });
    assert!(matches!(error, Err(Error::Spawn(e)) if e.kind() == std::io::ErrorKind::NotFound));
}

/// A path that is not UTF-8.
fn unsafe_name() -> std::ffi::OsString {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(b"/\xff".to_vec())
}

fn started_names_the_outer_pid() {
    let mut tree = start(&Spec::new("/bin/cat", &["cat"]));
    let pid = tree.started();
    // The kernel gives it its name a moment after it lets go of the init's memory.
    eventually("it is cat", || fs::read_to_string(format!("/proc/{pid}/comm")).unwrap() == "cat\n");
    assert_eq!(stat(pid, 1), Some(tree.init().to_string()));
    tree.stdin = None;
    assert_eq!(tree.finish().status, Some(0));
}

fn program_sees_its_own_proc() {
    let possible = std::process::Command::new("unshare")
        .args(["-Urpf", "--mount-proc", "true"])
        .status()
        .is_ok_and(|status| status.success());
    if !possible {
        println!("  (this machine lets nobody mount a fresh /proc)");
        return;
    }
    let text = "cat /proc/1/comm; echo $$; set -- /proc/[0-9]*; echo $#";
    // init and sh
    assert_eq!(run(&shell(text)).text(), "muster-init\n2\n2\n");
}

fn usage_counts_descendants() {
    let burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    let used = |text: &str| {
        let usage = run(&shell(text)).usage;
        assert!(usage.max_rss_kib > 100, "{usage:?}");
        usage.user_us + usage.system_us
    };
    // A busy machine makes the same work cost more at one time than at another.
    let is_more = |what: &str, than: &dyn Fn(u64) -> u64| {
        assert!((0..5).any(|_| used(what) > than(used(burn))), "never: {what}");
    };
    assert!((0..5).any(|_| used(burn) > 2 * used("true")));
    is_more(&format!("({burn}) & ({burn}); wait"), &|one| one * 3 / 2);
    // An orphan, which the init reaps.
    is_more(
        &format!("p=$( ({burn}) >/dev/null & echo $!); while kill -0 $p; do sleep 0.1; done"),
        &|one| one / 2,
    );
}

fn signals_reach_the_group() {
    let mut tree =
        start(&shell("trap 'echo got; exit 7' TERM; sh -c 'echo ready; exec sleep 1000' & wait"));
    tree.started();
    assert_eq!(read_line(&mut tree.out), "ready");
    tree.ward.signal(libc::SIGTERM).unwrap();
    // The sleep is past its exec, which resets traps; the end of the output needs its death, too.
    let outcome = tree.finish();
    assert_eq!((outcome.text(), outcome.status), ("got\n", Some(7 << 8)));

    // Everyone in the group, and nobody outside it.
    let text = "sleep 1000 & setsid sh -c 'echo other; sleep 1000' & wait";
    let mut tree = start(&shell(text));
    tree.started();
    assert_eq!(read_line(&mut tree.out), "other");
    let init = tree.init();
    tree.ward.signal(libc::SIGINT).unwrap();
    tree.ward.signal(libc::SIGKILL).unwrap();
    assert!(matches!(tree.next(), Report::Exited { status: 2 | 9, .. }));
    crate::tree::eventually("the group is dead, the other session is not", || {
        crate::tree::children(init).len() == 1
    });
    assert_eq!(tree.ward.receive().unwrap(), None);
    tree.kill_and_check();
}

fn early_signals_wait() {
    for _ in 0..20 {
        let mut tree = start(&Spec::new("/bin/sleep", &["sleep", "1000"]));
        tree.ward.signal(libc::SIGTERM).unwrap();
        tree.started();
        assert_eq!(tree.exited(), libc::SIGTERM);
        assert_eq!(tree.next(), Report::Gone);
    }
}

fn odd_signals() {
    let mut tree = start(&Spec::new("/bin/sleep", &["sleep", "1000"]));
    tree.started();
    for signal in [0, -1, 65, i32::MIN] {
        assert!(tree.ward.signal(signal).is_err());
    }
    tree.ward.signal(64).unwrap();
    assert_eq!(tree.exited(), 64);
    assert_eq!(tree.next(), Report::Gone);
    assert!(tree.ward.signal(libc::SIGTERM).is_err(), "nobody is left to signal");
    tree.ward.kill();
}

fn identity_is_dropped_to() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut spec = Spec::new("/bin/cat", &["cat", "/proc/self/status"]);
    spec.identity = Some(Identity { uid: NOBODY, gid: 1234, groups: vec![9, 7] });
    let outcome = run(&spec);
    let status: Vec<&str> = outcome.text().lines().collect();
    for expected in [
        "Uid:\t65534\t65534\t65534\t65534",
        "Gid:\t1234\t1234\t1234\t1234",
        "Groups:\t7 9 ",
        "CapInh:\t0000000000000000",
        "CapPrm:\t0000000000000000",
        "CapEff:\t0000000000000000",
        "CapAmb:\t0000000000000000",
        "NoNewPrivs:\t0",
    ] {
        assert!(status.contains(&expected), "no {expected:?} in {}", outcome.text());
    }
    // One that differs in nothing but the user is another identity all the same.
    let groups = rustix::process::getgroups().unwrap();
    let groups = groups.iter().map(|group| group.as_raw()).collect();
    let mut same = shell("id -u; id -g");
    same.identity = Some(Identity { uid: NOBODY, gid: 0, groups });
    assert_eq!(run(&same).text(), format!("{NOBODY}\n0\n"));
    // The working directory is entered as the identity.
    let scratch = Scratch::new();
    crate::tree::set_mode(&scratch.0, 0o700);
    spec.cwd.clone_from(&scratch.0);
    assert_eq!(run(&spec).failed.map(|f| (f.0, f.1)), Some((Stage::Directory, libc::EACCES)));
}

fn identity_needs_root() {
    let me = rustix::process::geteuid().as_raw();
    let groups = rustix::process::getgroups().unwrap().iter().map(|g| g.as_raw()).collect();
    let mut spec = shell("id -u");
    spec.identity = Some(Identity { uid: me, gid: rustix::process::getegid().as_raw(), groups });
    assert_eq!(run(&spec).text(), format!("{me}\n"), "who we are already");
    if me != 0 {
        spec.identity = Some(Identity { uid: 0, gid: 0, groups: vec![] });
        assert_eq!(run(&spec).failed.map(|f| (f.0, f.1)), Some((Stage::Identity, libc::EPERM)));
    }
}

fn many_at_once() {
    let spawner = Arc::new(Spawner::default());
    let threads: Vec<_> = (0..4)
        .map(|t| {
            let spawner = spawner.clone();
            thread::spawn(move || {
                let shell = |n| shell(&format!("echo {t}.{n}; exit {n}"));
                let trees: Vec<_> = (0..16).map(|n| (n, start_by(&spawner, &shell(n)))).collect();
                for (n, tree) in trees {
                    let outcome = tree.finish();
                    assert_eq!(outcome.text(), format!("{t}.{n}\n"));
                    assert_eq!(outcome.status, Some(n << 8));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
