//! A cluster inside a Slurm allocation: Slurm of Debian, with a slurmd on each of four hosts.

mod cluster;
mod hosts;

use cluster::{Call, call, until};
use hosts::{Hosts, OWN};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const NODES: usize = 4;

/// Hosts with slurmd, and a head with slurmctld and munge, all ready.
fn slurm(test: &str) -> Hosts {
    for (program, package) in
        [("munged", "munge"), ("slurmctld", "slurmctld"), ("slurmd", "slurmd")]
    {
        assert!(
            Path::new("/usr/sbin").join(program).exists(),
            "{program} is missing: type `cargo xtask setup` as root, or apt-get install {package}"
        );
    }
    let slurmd = "mkdir -p -m 700 $1; mkdir /run/slurm
        for i in $(seq 1200); do [ -S /media/munge ] && break; sleep 0.05; done; \
        [ -S /media/munge ] || exit 1; echo ready; exec 1>&2
        SLURM_CONF=/media/slurm.conf slurmd -D -N $0 & wait";
    // The first process of a host is a shell, which reaps what Slurm leaves to it.
    let hosts = Hosts::waiting(test, NODES, prepare, |_| format!("{OWN}{slurmd}"));
    let ready = format!("sinfo -h -t idle -o %D | grep -qx {NODES}");
    until("all nodes of Slurm are idle", || within(&hosts, &["sh", "-c", &ready]).run().code == 0);
    hosts.muster(&["init"]).run().ok();
    hosts
}

/// What Slurm has to know, and the daemons of its head.
fn prepare(home: &Path) -> String {
    let mut text = String::from(
        "ClusterName=test\nSlurmctldHost=head(10.78.0.254)\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket=/media/munge\nStateSaveLocation=/media/state\n\
         SlurmdSpoolDir=/run/slurm/spool\nSlurmctldPidFile=/media/slurmctld.pid\n\
         SlurmdPidFile=/run/slurm/slurmd.pid\nProctrackType=proctrack/linuxproc\n\
         TaskPlugin=task/none\nMpiDefault=none\nJobAcctGatherType=jobacct_gather/none\n\
         ReturnToService=2\nSwitchType=switch/none\nSelectType=select/linear\n\
         SlurmdParameters=config_overrides\nKillWait=20\n\
         TaskProlog=/media/prolog\n",
    );
    for node in 1..=NODES {
        text += &format!("NodeName=h{node} NodeAddr={} CPUs=2\n", hosts::address(node));
    }
    text += &format!("PartitionName=p Nodes=h[1-{NODES}] Default=YES State=UP\n");
    fs::write(home.join("slurm.conf"), text).expect("written");
    // As sites do it: each step has temporary files of its own.
    let prolog = home.join("prolog");
    fs::write(&prolog, "#!/bin/sh\necho export TMPDIR=/run/step\n").expect("written");
    fs::set_permissions(&prolog, fs::Permissions::from_mode(0o755)).expect("set");
    fs::create_dir(home.join("state")).expect("made");
    fs::write(home.join("munge.key"), [7; 1024]).expect("written");
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(home.join("munge.key"), mode).expect("set");
    let files =
        ["key", "pid", "log", "seed"].map(|file| format!("--{file}-file=/media/munge.{file}"));
    format!(
        "munged --foreground --force --socket=/media/munge {} 1>&2 &
         SLURM_CONF=/media/slurm.conf slurmctld -D 1>&2 & echo ready; wait",
        files.join(" ")
    )
}

/// A command at the head that knows Slurm.
fn within(hosts: &Hosts, words: &[&str]) -> Call {
    let mut command: Command = hosts.at_head();
    command.arg("SLURM_CONF=/media/slurm.conf").args(words);
    call(command)
}

#[test]
fn a_cluster_in_an_allocation_runs_a_job_and_goes_without_a_trace() {
    let hosts = slurm("slurm");
    within(&hosts, &[cluster::MUSTER, "up", "--slurm"]).run().code(1).says("[E203]");
    // What the allocation was made with is not for the steps that call its hosts.
    let script = "export SLURM_LABELIO=1 SLURM_NTASKS_PER_NODE=2 SLURM_EXCLUSIVE=user; \
                  $0 up --slurm && $0 run -n 8 -l hostname && $0 nodes && $0 down";
    let words = ["salloc", "-N", "4", "sh", "-ec", script, cluster::MUSTER];
    let said = within(&hosts, &words).run().ok();
    for node in 1..=NODES {
        assert_eq!(said.out.matches(&format!(": h{node}\n")).count(), 2, "{}", said.out);
    }
    assert!(said.out.contains("4 nodes n[0-3] ended"), "{}", said.out);
    hosts.leftovers();
}

#[test]
fn each_host_of_an_allocation_has_its_part_in_a_place_of_its_own() {
    let hosts = slurm("place");
    let script = "unset MUSTER_RUNTIME; mkdir t; export TMPDIR=$PWD/t; $0 up --slurm >&2
                  $0 run -n 4 printenv MUSTER_RUNTIME; $0 down >&2; rmdir t";
    let words = ["salloc", "-N", "4", "sh", "-ec", script, cluster::MUSTER];
    let said = within(&hosts, &words).run().ok();
    let uid = rustix::process::geteuid().as_raw();
    assert_eq!(said.out, format!("/run/step/muster-{uid}\n").repeat(NODES));
    hosts.leftovers();
}

#[test]
fn the_end_of_an_allocation_is_the_end_of_its_cluster() {
    let hosts = slurm("scancel");
    let script = "$0 up --slurm && $0 run --detach -N 4 sleep 1000 && $0 nodes";
    let words = ["salloc", "-N", "4", "sh", "-ec", script, cluster::MUSTER];
    let said = within(&hosts, &words).run().ok();
    assert!(said.out.contains("h4"), "{}", said.out);
    hosts.leftovers();
}
