//! Jobs that begin again when a node dies (`muster run --requeue`): on which nodes, with what they
//! were sent, how often, and what of the attempts before is left.

mod cluster;

use cluster::{Cluster, Running, signal, stop, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;

/// Says what it was sent and waits; a family of processes with it.
const PROGRAM: &str = "echo begun $MUSTER_RANK of $MUSTER_RESTART_COUNT with $(cat data); \
                       (setsid sleep 600 &); until [ -e $FLAG ]; do sleep 0.1; done; \
                       echo ended $MUSTER_RANK of $MUSTER_RESTART_COUNT; \
                       exit $MUSTER_RESTART_COUNT";

struct Stage {
    cluster: Cluster,
}

impl Stage {
    fn up(nodes: usize) -> Stage {
        let cluster = Cluster::up("t0182", nodes);
        cluster.file("data", 0o644, "some data");
        Stage { cluster }
    }

    /// Starts the job.
    fn start(&self, flags: &[&str]) -> Running {
        let flag = format!("FLAG={}", self.cluster.work().join("flag").display());
        let mut args = vec!["run", "--input", "none", "--env", &flag, "--bcast", "data"];
        args.extend(flags);
        args.extend(["sh", "-c", PROGRAM]);
        self.cluster.muster(&args).start()
    }

    fn let_end(&self) {
        fs::write(self.cluster.work().join("flag"), "").unwrap();
    }

    fn job(&self) -> Value {
        self.cluster.job(1)
    }

    /// Kills a daemon on which the job runs; its name.
    fn kill_one(&self) -> String {
        let node = self.job()["nodes"][0].as_str().expect("it runs").to_owned();
        self.cluster.kill(&node);
        node
    }

    /// Nothing of the job is left anywhere.
    fn is_clean(&self, nodes: usize) {
        self.cluster.await_nodes(nodes);
        self.cluster.no_job_processes();
        for node in 0..nodes {
            until("no session is left", || self.cluster.sessions(node) == 0);
        }
        for kind in ["files", "chunks"] {
            let kept = self.cluster.directory().join(format!("manager/jobs/1.{kind}"));
            assert!(!kept.exists(), "{}", kept.display());
        }
    }
}

fn begun(running: &Running, attempt: usize) -> usize {
    running.out().matches(&format!("of {attempt} with some data")).count()
}

#[test]
fn a_job_whose_node_dies_is_run_anew_on_others_with_its_files() {
    let stage = Stage::up(4);
    let running = stage.start(&["-N", "3", "--requeue", "--timing"]);
    until("it has begun", || begun(&running, 0) == 3);
    let node = stage.kill_one();
    until("it has begun again", || begun(&running, 1) == 3);
    let job = stage.job();
    let why = job["requeued"][0].as_str().unwrap().to_owned();
    assert!(why.starts_with(&format!("rank 0 on {node} was lost: its daemon was killed")), "{why}");
    assert_eq!((job["id"].as_u64(), job["size"].as_u64()), (Some(1), Some(3)));
    let listed = stage.cluster.muster(&["ps"]).run().ok().out;
    assert!(listed.contains("attempt 2, since rank 0 on"), "{listed}");
    stage.let_end();
    let said = running.wait();
    assert_eq!(said.code, 1, "the status of the second attempt: {said:?}");
    assert!(
        said.err.contains(&format!("muster: job 1 begins again, attempt 2: {why}  [N304]")),
        "{said:?}"
    );
    assert!(!said.out.contains("ended 0 of 0") && said.out.contains("of 1"), "{said:?}");
    assert!(
        said.err.contains("nodes: an attempt before ") && said.err.contains(", wait "),
        "{said:?}"
    );
    // What the first has printed is still there.
    let logs = stage.cluster.muster(&["logs", "1"]).run().ok();
    assert!(logs.out.contains("begun 2 of 0") && logs.out.contains("begun 2 of 1"), "{logs:?}");
    assert!(logs.err.contains("what its 2 attempts have printed"), "{logs:?}");
    let past = stage.cluster.json(&["history", "--json"]);
    // Each attempt has a line, with what it has used.
    let jobs = past["jobs"].as_array().unwrap();
    let told = |at: usize| (jobs[at]["id"].as_u64(), jobs[at]["end"].as_str());
    assert_eq!((told(0), told(1)), ((Some(1), Some("lost")), (Some(1), Some("failed"))));
    assert!(jobs.iter().all(|job| job["usage"]["wall_us"].as_u64() > Some(0)), "{past}");
    assert_eq!((&jobs[0]["requeued"], &jobs[1]["requeued"][0]), (&Value::Null, &json!(why)));
    stage.is_clean(4);
    stage.cluster.down();
}

#[test]
fn a_job_that_waits_to_begin_again_survives_the_manager_and_goes_on_when_it_can() {
    let stage = Stage::up(3);
    let running = stage.start(&["-N", "3", "--requeue"]);
    until("it has begun", || begun(&running, 0) == 3);
    // A node that is drained when it comes back is not enough.
    stage.cluster.muster(&["nodes", "--drain", "n1", "--reason", "test"]).run().ok();
    stage.cluster.kill("n1");
    until("it waits", || stage.job()["state"] == "pending");
    stage.cluster.kill("manager");
    until("manager and node are back, and the node is drained", || {
        let nodes = stage.cluster.muster(&["nodes", "--json"]).run().out;
        let nodes: Value = serde_json::from_str(&nodes).unwrap_or_default();
        let mut all = nodes["nodes"].as_array().into_iter().flatten();
        all.any(|node| node["name"] == "n1" && node["state"] == "drained")
    });
    let job = stage.job();
    assert_eq!(
        (job["state"].as_str(), job["requeued"].as_array().map(Vec::len)),
        (Some("pending"), Some(1))
    );
    stage.cluster.muster(&["nodes", "--resume", "n1"]).run().ok();
    until("it has begun again", || begun(&running, 1) == 3);
    // The next manager finds it running, and begins it again when another node dies.
    stage.cluster.kill("manager");
    stage.cluster.await_nodes(3);
    stage.kill_one();
    until("it has begun for the third time", || begun(&running, 2) == 3);
    stage.let_end();
    let said = running.wait();
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(said.err.matches("begins again, attempt").count(), 2, "{said:?}");
    stage.is_clean(3);
    stage.cluster.down();
}

#[test]
fn a_job_that_gives_no_number_of_nodes_begins_again_on_those_that_are_left() {
    let stage = Stage::up(3);
    let running = stage.start(&["-n", "3", "--requeue"]);
    until("it has begun", || begun(&running, 0) == 3);
    assert_eq!(stage.job()["nodes"].as_array().map(Vec::len), Some(3));
    stage.cluster.muster(&["nodes", "--drain", "n1", "--reason", "test"]).run().ok();
    stage.cluster.kill("n1");
    until("it has begun again", || begun(&running, 1) == 3);
    let job = stage.job();
    assert_eq!((&job["nodes"], &job["size"]), (&json!(["n0", "n2"]), &json!(3)));
    stage.let_end();
    assert_eq!(running.wait().code, 1);
    stage.cluster.muster(&["nodes", "--resume", "n1"]).run().ok();
    stage.is_clean(3);
    stage.cluster.down();
}

/// What a node runs goes on while its daemon stands still: a second attempt would be beside it.
#[test]
fn a_job_is_not_begun_again_beside_a_silent_node_by_the_next_manager() {
    let stage = Stage::up(3);
    let mut running = stage.start(&["-N", "2", "--requeue"]);
    until("it has begun", || begun(&running, 0) == 2);
    let node = stage.job()["nodes"][0].as_str().expect("it runs").to_owned();
    let pid = stage.cluster.await_pid(&node);
    stop(pid);
    stage.cluster.kill("manager");
    until("it has ended", || running.ended());
    let said = running.wait();
    signal(pid, Signal::CONT);
    assert_eq!((said.code, said.out.contains("of 1 with")), (125, false), "{said:?}");
    assert!(said.err.contains("was lost: its node has not come back after"), "{said:?}");
    stage.is_clean(3);
    stage.cluster.down();
}

#[test]
fn a_job_begins_again_as_often_as_it_may_and_not_once_it_was_ended() {
    let stage = Stage::up(3);
    let running = stage.start(&["-N", "2", "--requeue=1"]);
    until("it has begun", || begun(&running, 0) == 2);
    stage.kill_one();
    until("it has begun again", || begun(&running, 1) == 2);
    stage.kill_one();
    let said = running.wait();
    assert_eq!(said.code, 125, "{said:?}");
    assert!(said.err.contains("was lost") && said.err.contains("[E304, exit 125]"), "{said:?}");
    stage.is_clean(3);
    // While it waits, it can be ended as any job.
    let list = ["-N", "3", "--requeue"];
    let running = stage.start(&list);
    until("it has begun", || begun(&running, 0) == 3);
    stage.cluster.muster(&["nodes", "--drain", "n2", "--reason", "test"]).run().ok();
    stage.cluster.kill("n2");
    until("it waits", || stage.cluster.job(3)["state"] == "pending");
    stage.cluster.muster(&["kill", "3"]).run().ok();
    stage.cluster.muster(&["nodes", "--resume", "n2"]).run().ok();
    let said = running.wait();
    assert!(said.code > 128 && said.err.contains("[E305"), "{said:?}");
    stage.is_clean(3);
    stage.cluster.down();
}

/// What is left of the attempt had the signal, and the job began again.
#[test]
fn a_job_that_is_interrupted_while_it_ends_to_begin_again_does_not() {
    let stage = Stage::up(3);
    let program = "trap '' TERM; trap 'exit 3' INT; echo begun; while :; do sleep 0.1; done";
    let args = ["run", "--input", "none", "-N", "2", "--requeue", "--grace", "10m"];
    let args = [&args[..], &["sh", "-c", program]].concat();
    let running = stage.cluster.muster(&args).start();
    until("it has begun", || running.out().matches("begun").count() == 2);
    stage.kill_one();
    until("it ends to begin again", || stage.job()["state"] == "ending");
    stage.cluster.muster(&["kill", "-s", "INT", "1"]).run().ok();
    let said = running.wait();
    assert_eq!((said.code, said.out.matches("begun").count()), (130, 2), "{said:?}");
    assert!(said.err.contains("it got the signal INT"), "{said:?}");
    stage.is_clean(3);
    stage.cluster.down();
}

#[test]
fn a_job_that_reads_is_not_begun_again() {
    let cluster = Cluster::none("t0182");
    let said = cluster.muster(&["run", "--requeue", "cat"]).input("x\n").run();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("cannot be read a second time. Use --input none"), "{said:?}");
}
