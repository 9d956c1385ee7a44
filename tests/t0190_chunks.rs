//! Files that are sent along go in chunks, each known by what it says: a node that holds a chunk is
//! not sent it again.

mod cluster;

use cluster::{Cluster, until};
use muster_base::limits::CHUNK;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;

/// A script with this much behind its end; `seed` makes what is there another.
fn program(text: &str, chunks: usize, seed: u8) -> Vec<u8> {
    let mut bytes = format!("#!/bin/sh\n{text}\nexit 0\n").into_bytes();
    // No two chunks are the same, and no line ends.
    bytes.extend((bytes.len()..chunks * CHUNK).map(|at| {
        let number = (at / CHUNK) as u8;
        if at % 97 == 0 { b'#' } else { b'a' + number.wrapping_mul(7).wrapping_add(seed) % 26 }
    }));
    bytes
}

/// Runs a program, with more to be sent along; how many chunks were sent, of how many.
fn sent(cluster: &Cluster, nodes: &str, program: &Path, more: &[&str]) -> (u64, u64, Value) {
    let program = program.to_str().unwrap();
    let args = [&["run", "--json", "-w", nodes], more, &[program][..]].concat();
    let job = cluster.json(&args);
    assert_eq!(job["exit"], 0, "{job}");
    (job["files"]["chunks"].as_u64().unwrap(), job["files"]["of"].as_u64().unwrap(), job)
}

#[test]
fn a_second_launch_sends_no_chunk_and_a_changed_file_only_what_has_changed() {
    let cluster = Cluster::up("t0190again", 3);
    let at = cluster.file("work", 0o755, program("echo ran $MUSTER_RANK", 5, 0));
    let run = |nodes: &str| {
        let (sent, of, job) = sent(&cluster, nodes, &at, &["--input", "none"]);
        for (rank, told) in job["ranks"].as_array().unwrap().iter().enumerate() {
            assert_eq!(told["stdout"], format!("ran {rank}\n"), "{job}");
        }
        (sent, of)
    };
    assert_eq!(run("n[0-1]"), (5, 5));
    assert_eq!(run("n[0-1]"), (0, 5));
    // One node more lacks all of it.
    assert_eq!(run("n[0-2]"), (5, 5));
    assert_eq!(run("n[0-2]"), (0, 5));
    let mut changed = program("echo ran $MUSTER_RANK", 5, 0);
    changed[3 * CHUNK + 5] ^= 1;
    cluster.file("work", 0o755, changed);
    assert_eq!(run("n[0-2]"), (1, 5));
    // A daemon that was started again holds nothing.
    cluster.kill("n1");
    until("it was seen", || cluster.json(&["cat", "status"])["nodes"][1]["losses"] == 1);
    cluster.await_nodes(3);
    assert_eq!(run("n[0-2]"), (5, 5));
    assert_eq!(run("n[0-2]"), (0, 5));
    // So does the manager's memory; what it sends again is taken as well.
    cluster.kill("manager");
    cluster.await_nodes(3);
    assert_eq!(run("n[0-2]"), (5, 5));
    cluster.down();
}

#[test]
fn a_node_that_has_dropped_what_it_was_sent_gets_it_beside_what_is_new() {
    let cluster = Cluster::up("t0190dropped", 3);
    let data = |seed: u8| {
        let mut data = program("", 12, 5);
        data[4 * CHUNK] = seed;
        data[9 * CHUNK] = seed;
        cluster.file("data", 0o644, data)
    };
    let run = |seed: u8| {
        let more = ["--input", "none", "--bcast", data(seed).to_str().unwrap()].map(str::to_owned);
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let at = cluster.file("work", 0o755, "#!/bin/sh\ncksum < data\n");
        let (sent, _, job) = sent(&cluster, "n[0-2]", &at, &more);
        let ranks = job["ranks"].as_array().unwrap();
        let sums: Vec<&str> = ranks.iter().map(|rank| rank["stdout"].as_str().unwrap()).collect();
        assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
        (sent, sums[0].to_owned())
    };
    let (_, first) = run(1);
    // The manager does not know; two chunks are new, and come in the first round.
    for node in ["n1", "n2"] {
        let kept = cluster.directory().join(node).join("chunks");
        for file in std::fs::read_dir(kept).unwrap().flatten() {
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    let (sent, second) = run(2);
    assert_ne!(first, second);
    // Each of the others once, or once for each of the two if one was heard of later.
    assert!((12..=22).contains(&sent), "{sent} chunks");
    assert_eq!(run(2), (0, second));
    cluster.down();
}

/// Nodes that are thought to have everything are told to run at once, so only the one that says
/// that it lacks something waits for it.
#[test]
fn a_node_that_turns_out_to_lack_what_it_had_gets_it_and_all_ranks_run_once() {
    let cluster = Cluster::up("t0190lacks", 3);
    let data = cluster.file("data", 0o644, program("", 12, 5));
    let work = cluster.file("work", 0o755, "#!/bin/sh\necho $MUSTER_RANK; cksum < data\n");
    let more = ["--input", "none", "--bcast", data.to_str().unwrap()];
    let said = |job: &Value| -> Vec<String> {
        let ranks = job["ranks"].as_array().unwrap();
        ranks.iter().map(|rank| rank["stdout"].as_str().unwrap().to_owned()).collect()
    };
    let (_, all, first) = sent(&cluster, "n[0-2]", &work, &more);
    let kept = cluster.directory().join("n1/chunks");
    for round in 0..5 {
        for file in std::fs::read_dir(&kept).unwrap().flatten() {
            std::fs::remove_file(file.path()).unwrap();
        }
        let (again, _, job) = sent(&cluster, "n[0-2]", &work, &more);
        assert_eq!((again, said(&job)), (all, said(&first)), "round {round}");
        assert_eq!(sent(&cluster, "n[0-2]", &work, &more).0, 0, "round {round}");
    }
    cluster.down();
}

#[test]
fn what_a_rank_writes_to_its_files_is_its_own() {
    let cluster = Cluster::up("t0190own", 1);
    let text =
        "cat < data | tail -c 4; printf more >> data; chmod u+w \"$0\"; printf '\\n#' >> \"$0\"";
    let at = cluster.file("work", 0o755, program(text, 2, 0));
    let mut data = program("", 2, 5);
    data.extend(b"last");
    let data = cluster.file("data", 0o644, data);
    let more = ["--input", "none", "--bcast", data.to_str().unwrap()];
    let run = || {
        let (sent, of, job) = sent(&cluster, "n0", &at, &more);
        let out = job["ranks"][0]["stdout"].as_str().unwrap().to_owned();
        (sent, of, out)
    };
    assert_eq!(run(), (5, 5, "last".to_owned()));
    // The program was written to, so the node makes it anew; the data are as they were.
    let (again, _, out) = run();
    assert_eq!((again, &*out), (2, "last"));
    cluster.down();
}

#[test]
fn jobs_that_send_the_same_files_at_once_all_get_them() {
    let cluster = Cluster::up("t0190once", 2);
    let at = cluster.file("work", 0o755, program("echo ran", 6, 0));
    let at = at.to_str().unwrap();
    let start = || cluster.muster(&["run", "-n", "4", "--input", "none", at]).start();
    let mut jobs: Vec<_> = (0..6).map(|_| start()).collect();
    // One goes away over it.
    jobs[2].signal(Signal::KILL);
    drop(jobs.remove(2).wait());
    for job in jobs {
        assert_eq!(job.wait().ok().out, "ran\n".repeat(4));
    }
    cluster.down();
}

#[test]
fn a_rank_that_reads_gets_its_files_the_same_way() {
    let cluster = Cluster::up("t0190reads", 2);
    let at = cluster.file("work", 0o755, program("cat; echo $MUSTER_RANK", 3, 0));
    let at = at.to_str().unwrap();
    for chunks in ["3 of 3", "0 of 3"] {
        let call = cluster.muster(&["run", "-n", "2", "-l", "--timing", at]).input("said\n");
        let said = call.run().ok().says(&format!(", {chunks} chunks)"));
        assert_eq!(said.sorted(), ["0: 0", "0: said", "1: 1"]);
    }
    cluster.down();
}

/// Its start failed: the job had ended before all nodes had said that they have its files.
#[test]
fn a_rank_that_ends_at_once_gives_its_job_its_status_whatever_it_reads() {
    let cluster = Cluster::up("t0190ends", 2);
    for status in [0, 3] {
        let at = cluster.file("work", 0o755, program(&format!("exit {status}"), 3, status));
        for round in 0..5 {
            for more in [&["-n", "1"][..], &["-N", "2"], &["-N", "2", "--keep-going"]] {
                let args = [&["run"], more, &[at.to_str().unwrap()]].concat();
                let ended = cluster.muster(&args).run().code(status.into());
                assert!(!ended.err.contains("[E402"), "round {round}, {more:?}: {ended:?}");
            }
        }
    }
    cluster.down();
}
