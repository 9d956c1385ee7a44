//! Jobs with the shell alone (`cat clone`, `cp`, `echo`, `cat`), through `muster mount`.

mod cluster;
mod foreign;

use cluster::{Cluster, DEADLINE, until};
use rustix::process::Signal;

#[test]
fn a_mount_that_is_served_in_the_foreground_goes_when_a_signal_ends_it() {
    let cluster = Cluster::up("t0230signal", 1);
    let mount = cluster.work().join("m");
    std::fs::create_dir(&mount).expect("made");
    let nodes = mount.join("nodes");
    for signal in [Signal::INT, Signal::TERM] {
        let serves = cluster.muster(&["mount", "-f", mount.to_str().expect("text")]).start();
        until("it is mounted", || nodes.is_dir());
        serves.signal(signal);
        serves.wait().ok();
        assert!(!nodes.exists() && std::fs::read_dir(&mount).is_ok(), "nothing is left of it");
    }
    // Who uses it may go on; but who insists does not wait for that.
    let serves = cluster.muster(&["mount", "-f", mount.to_str().expect("text")]).start();
    until("it is mounted", || nodes.is_dir());
    let used = std::fs::File::open(&nodes).expect("it is there");
    serves.signal(Signal::INT);
    until("it is unmounted", || !nodes.exists());
    serves.signal(Signal::INT);
    serves.wait().code(130);
    drop(used);
    cluster.down();
}

/// cp(1) looks at a file before and after it opens it, and takes one that has got another number
/// for one that was replaced meanwhile: it skipped every file of a job.
#[test]
fn what_is_made_up_at_each_look_is_copied_below_a_mount() {
    let cluster = Cluster::up("t0230copies", 1);
    cluster.muster(&["view", "create", "lab", "--nodes", "n0"]).run().ok();
    cluster.muster(&["run", "--detach", "echo", "said"]).run().ok();
    cluster.muster(&["wait", "1"]).run().ok();
    let mount = cluster.work().join("m");
    std::fs::create_dir(&mount).expect("made");
    cluster.muster(&["mount", mount.to_str().expect("text")]).run().ok();
    for (tool, file) in [
        ("cp", "jobs/1/stdout"),
        ("install", "jobs/1/stdout"),
        ("cp", "jobs/1/ranks/0/status"),
        ("cp", "views/lab/status"),
        ("cp", "images/status"),
        ("cp", "nodes/n0/views/lab/procs"),
    ] {
        let (from, to) = (mount.join(file), cluster.work().join("copy"));
        let said = std::process::Command::new(tool).args([&from, &to]).output().expect("it runs");
        assert!(said.status.success(), "{tool} {file}: {}", String::from_utf8_lossy(&said.stderr));
        if file == "jobs/1/stdout" {
            assert_eq!(std::fs::read(&to).expect("the copy"), b"said\n");
        }
        std::fs::remove_file(&to).expect("a copy each");
    }
    cluster.muster(&["umount", mount.to_str().expect("text")]).run().ok();
    cluster.down();
}

#[test]
fn jobs_with_the_shell_alone() {
    foreign::need("busybox", "busybox-static");
    let cluster = Cluster::up("shell", 2);
    std::fs::create_dir(cluster.work().join("m")).expect("made");
    let mount = cluster.work().join("m");
    cluster.muster(&["mount", mount.to_str().expect("text")]).run().ok();
    let script = foreign::conformance("guest/xcpu.sh");
    let text = std::fs::read_to_string(&script).expect("the script");
    let names = text.lines().filter_map(|line| line.strip_prefix("t_")?.strip_suffix("() {"));
    // The kernel remembers a directory that it has seen, and so keeps a fid in the session.
    let names: Vec<&str> = names.filter(|name| *name != "close_ends_it").collect();
    assert!(names.len() >= 22, "{names:?}");
    let mut shell = foreign::bound("sh");
    shell.arg(script).arg("nodes/n1").args(&names).env("TOP", &mount);
    foreign::run(shell, DEADLINE, names.len());
    cluster.down();
}
