//! Namespace scripts, run by the kernel.

use std::fs;
use std::path::Path;
use std::process::Command;

use muster_machine::node::shepherd::{Identity, NsCommand, Spec, Stage};

use crate::tree::{Scratch, run, shell};
use crate::{Case, NOBODY};

pub const CASES: &[Case] = &[
    ("bind_shows_one_place_in_another", bind_shows_one_place_in_another),
    ("mounts_stay_inside", mounts_stay_inside),
    ("mounts_stay_inside_when_mounts_are_shared", mounts_stay_inside_when_mounts_are_shared),
    ("cd_comes_before_the_program", cd_comes_before_the_program),
    ("chroot_confines", chroot_confines),
    ("failing_line_is_named", failing_line_is_named),
    ("dropped_identity_runs_it_without_root", dropped_identity_runs_it_without_root),
];

/// A shell command in a scratch directory that the script knows as `$D`.
fn scripted(scratch: &Scratch, script: &str, text: &str) -> Spec {
    let mut spec = shell(text);
    spec.env.push(("D".into(), scratch.0.to_str().unwrap().into()));
    spec.namespace = NsCommand::parse_script(script, &spec.env).unwrap();
    spec
}

fn bind_shows_one_place_in_another() {
    let scratch = Scratch::new();
    let (_, b) = (scratch.dir("a"), scratch.dir("b"));
    scratch.file("a/x", "found\n", 0o644);
    for script in ["bind $D/a $D/b", "unshare\nbind $D/a $D/b"] {
        let outcome = run(&scripted(&scratch, script, "cat $D/b/x"));
        assert_eq!(outcome.text(), "found\n", "{outcome:?}");
    }
    assert_eq!(fs::read_dir(b).unwrap().count(), 0, "nothing leaks out");
}

pub fn mounts_stay_inside() {
    let scratch = Scratch::new();
    let b = scratch.dir("b");
    let script = "mount none $D/b tmpfs size=1m,nosuid,mode=1777";
    let outcome = run(&scripted(&scratch, script, "echo hi >$D/b/f; cat $D/b/f; read x"));
    assert_eq!(outcome.text(), "hi\n", "{outcome:?}");
    assert_eq!(fs::read_dir(&b).unwrap().count(), 0);
    let outcome = run(&scripted(&scratch, "mount none $D/b tmpfs ro", "echo hi >$D/b/f"));
    assert_ne!(outcome.status, Some(0), "read-only");
    assert!(!b.join("f").exists());
}

/// As systemd has it: what is mounted in one mount namespace appears in the others.
fn mounts_stay_inside_when_mounts_are_shared() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let status = Command::new("unshare")
        .args(["--mount", "--propagation", "shared"])
        .arg(std::env::current_exe().unwrap())
        .args(["helper", "mounts"])
        .status()
        .unwrap();
    assert!(status.success());
}

fn cd_comes_before_the_program() {
    let scratch = Scratch::new();
    scratch.dir("b");
    scratch.file("b/prog", "#!/bin/sh\npwd\n", 0o755);
    let mut spec = scripted(&scratch, "cd $D\ncd b", "");
    spec.program = "./prog".into();
    spec.argv = vec!["prog".into()];
    let outcome = run(&spec);
    assert_eq!(outcome.text().trim_end(), scratch.0.join("b").to_str().unwrap());
}

fn chroot_confines() {
    let scratch = Scratch::new();
    scratch.file("outside", "", 0o644);
    scratch.dir("r");
    scratch.file("r/marker", "inside\n", 0o644);
    let mut script = String::from("cd /tmp\n");
    for dir in ["usr", "bin", "lib", "lib64"] {
        if Path::new("/").join(dir).exists() {
            scratch.dir(&format!("r/{dir}"));
            script += &format!("bind /{dir} $D/r/{dir}\n");
        }
    }
    script += "chroot $D/r";
    let outcome = run(&scripted(&scratch, &script, "cat marker; pwd; echo ../*"));
    assert_eq!(outcome.text(), "inside\n/\n../bin ../lib ../lib64 ../marker ../usr\n");
}

fn failing_line_is_named() {
    let scratch = Scratch::new();
    for (script, errno) in [
        ("bind /nowhere/a $D", libc::ENOENT),
        ("cd /nowhere", libc::ENOENT),
        ("mount none /proc nosuchfs ro", libc::ENODEV),
        ("chroot /nowhere", libc::ENOENT),
    ] {
        let spec = scripted(&scratch, script, "true");
        let outcome = run(&spec);
        let what = spec.namespace[0].to_string();
        assert_eq!(outcome.failed, Some((Stage::Script, errno, what)));
    }
    // The kernel's 9P client may be missing, or shut to those who are not root.
    let spec = scripted(&scratch, "import 127.0.0.1!1 $D", "true");
    let (stage, errno, what) = run(&spec).failed.unwrap();
    assert_eq!(
        (stage, what),
        (Stage::Script, format!("import 127.0.0.1!1 {}", scratch.0.display()))
    );
    assert!([libc::ENODEV, libc::EPERM, libc::ECONNREFUSED].contains(&errno), "{errno}");
}

/// Root's daemon must not lend its power to a user's script.
fn dropped_identity_runs_it_without_root() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.dir("b");
    let secret = scratch.dir("secret");
    scratch.file("secret/key", "root's\n", 0o600);
    crate::tree::set_mode(&secret, 0o700);
    let mut spec = scripted(
        &scratch,
        "mount none $D/b tmpfs size=1m",
        "echo hi >$D/b/f; cat $D/b/f; id -u; grep -E 'Cap(Eff|Prm|Amb)' /proc/self/status",
    );
    spec.identity = Some(Identity { uid: NOBODY, gid: NOBODY, groups: vec![] });
    let zero = "0000000000000000";
    let expected = format!("hi\n{NOBODY}\nCapPrm:\t{zero}\nCapEff:\t{zero}\nCapAmb:\t{zero}\n");
    let outcome = run(&spec);
    assert_eq!(outcome.text(), expected, "{outcome:?}");

    spec.namespace = NsCommand::parse_script("bind $D/secret/key $D/b", &spec.env).unwrap();
    assert_eq!(run(&spec).failed.map(|f| (f.0, f.1)), Some((Stage::Script, libc::EACCES)));
}
