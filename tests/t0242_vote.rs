//! What ranks find out about all of them at once: `muster.h`.

mod cluster;
mod mpi;

use cluster::{Cluster, signal, stop, until};
use mpi::Mpi;
use rustix::process::Signal;

#[test]
fn who_finds_that_nothing_is_left_to_do_finds_it_when_all_of_it_is_done() {
    let mpi = Mpi::installed();
    let program = mpi.program("quiescent");
    let cluster = Cluster::up("t0242work", 3);
    for (nodes, ranks) in [("1", "1"), ("1", "4"), ("2", "2"), ("3", "3"), ("3", "7")] {
        let done = cluster.muster(&["run", "-N", nodes, "-n", ranks, &program]).run().ok();
        assert_eq!(done.out, format!("ok {ranks}\n"));
    }
    let alone = std::process::Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&alone.stdout), "ok 1\n", "{alone:?}");
    cluster.down();
}

/// Ranks in Python, without any library: lines over a socket.
const SCRIPT: &str = r#"
import os, socket, sys, time
def vote(s, line):
    s.sendall((line + "\n").encode())
    return s.makefile().readline().strip()
def enter(rank=os.environ["MUSTER_RANK"]):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ["MUSTER_VOTE"])
    return s, vote(s, "rank %s %s" % (os.environ["MUSTER_JOB"], rank))
rank = int(os.environ["MUSTER_RANK"])
s, told = enter()
assert told == "1", told
if rank == 0:
    for line in "vote", "live", "live -1", "reached x", "x" * 4000:
        assert vote(s, line).startswith("error "), line
        if len(line) > 100:
            s, told = enter()
    assert "votes already" in enter()[1]
    assert "does not belong to rank 1" in enter("1")[1], enter("1")
assert vote(s, "quiescent") == "0", "it is busy"
vote(s, "live %d" % (5 + rank))
if rank == 2:
    open("held", "w").close()
    while not os.path.exists("end"):
        time.sleep(0.01)
    sys.exit(0)
vote(s, "quiet")
print("quiet", flush=True)
while vote(s, "quiescent") != "1":
    time.sleep(0.001)
assert vote(s, "reached 5") == "1" and vote(s, "reached 7") == "0"
print("found", os.path.exists("end"), flush=True)
"#;

#[test]
fn a_rank_that_has_ended_is_quiet_and_holds_nothing_and_others_are_told_why_not() {
    let cluster = Cluster::up("t0242ended", 2);
    cluster.file("ranks.py", 0o644, SCRIPT);
    let work = cluster.work();
    let words = ["run", "-N", "2", "-n", "3", "-D", work.to_str().unwrap(), "python3", "ranks.py"];
    let job = cluster.muster(&words).start();
    job.await_out("quiet\nquiet");
    until("the third one is there", || work.join("held").exists());
    assert!(!job.out().contains("found"), "one is busy: {}", job.out());
    std::fs::write(work.join("end"), "").unwrap();
    let done = job.wait().ok();
    assert_eq!(done.out.matches("found True").count(), 2, "{}", done.out);
    // Another job gets the same variables at some time: what one leaves is no vote in it.
    std::fs::remove_file(work.join("held")).unwrap();
    cluster.muster(&words).run().ok();
    cluster.down();
}

/// The last rank speaks the page's dialogue while the others are busy and hold 5.
const DIALOGUE: &str = r#"
import os, socket, time
def vote(line):
    s.sendall((line + "\n").encode())
    return answers.readline().rstrip("\n")
def await_file(name):
    while not os.path.exists(name):
        time.sleep(0.01)
job, rank = os.environ["MUSTER_JOB"], os.environ["MUSTER_RANK"]
if rank == "2":
    await_file("ready 0")
    await_file("ready 1")
# Who says nothing is hung up on.
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["MUSTER_VOTE"])
answers = s.makefile()
if rank == "2":
    for line in open("dialogue"):
        said, answer = line.removeprefix("C: ").rstrip("\n").split("S: ")
        told = vote(said.strip().replace("rank 7 2", "rank %s %s" % (job, rank)))
        assert told == answer, (said, told)
    open("end", "w").close()
else:
    assert vote("rank %s %s" % (job, rank)) == "1"
    assert vote("live 5") == "1"
    open("ready " + rank, "w").close()
    await_file("end")
"#;

#[test]
fn the_documents_dialogue_is_what_is_said() {
    let page = include_str!("../docs/wire/vote.md");
    let lines = page.lines().filter_map(|line| line.strip_prefix("    C: "));
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() > 5, "{lines:?}");
    let cluster = Cluster::up("t0242page", 2);
    cluster.file("ranks.py", 0o644, DIALOGUE);
    cluster.file("dialogue", 0o644, lines.join("\n"));
    let work = cluster.work();
    let words = ["run", "-N", "2", "-n", "3", "-D", work.to_str().unwrap(), "python3", "ranks.py"];
    cluster.muster(&words).run().ok();
    cluster.down();
}

/// Two ranks that have found once that nothing is left; then both have work again, and the second
/// has done its own.
const AGAIN: &str = r#"
import os, socket, time
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ["MUSTER_VOTE"])
answers = s.makefile()
def vote(line):
    s.sendall((line + "\n").encode())
    return answers.readline().strip()
def await_file(name):
    while not os.path.exists(name):
        time.sleep(0.01)
rank = os.environ["MUSTER_RANK"]
assert vote("rank %s %s" % (os.environ["MUSTER_JOB"], rank)) == "1"
vote("quiet")
while vote("quiescent") != "1":
    time.sleep(0.001)
print("found", flush=True)
await_file("more")
assert vote("busy") == "1"
if rank == "1":
    assert vote("quiet") == "1"
    print("quiet again", flush=True)
    await_file("back")
    told = vote("quiescent")
    # Its node may not say before it has joined.
    while told.startswith("error"):
        time.sleep(0.01)
        told = vote("quiescent")
    print("told", told, flush=True)
await_file("end")
"#;

/// What was once found it is told anew when it joins, though its ranks have gone on since.
#[test]
fn a_node_that_stood_still_does_not_take_what_was_found_before_for_what_is_so_now() {
    let cluster = Cluster::up("t0242still", 2);
    cluster.file("again.py", 0o644, AGAIN);
    let events = cluster.muster(&["cat", "events"]).start();
    let work = cluster.work();
    let words = ["run", "-N", "2", "-n", "2", "-D", work.to_str().unwrap(), "python3", "again.py"];
    let job = cluster.muster(&words).start();
    job.await_out("found\nfound");
    std::fs::write(work.join("more"), "").unwrap();
    job.await_out("quiet again");
    let node = cluster.await_pid("n1");
    stop(node);
    events.await_out("\"node slow\"");
    signal(node, Signal::CONT);
    events.await_out("\"node answers\"");
    std::fs::write(work.join("back"), "").unwrap();
    job.await_out("told");
    std::fs::write(work.join("end"), "").unwrap();
    let done = job.wait().ok();
    assert!(done.out.ends_with("told 0\n"), "the first is busy: {}", done.out);
    drop(events);
    cluster.down();
}

/// A rank that comes while its node may not speak, and again.
const REFUSED: &str = r#"
import os, socket, time
def enter():
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ["MUSTER_VOTE"])
    s.sendall(("rank %s 0\n" % os.environ["MUSTER_JOB"]).encode())
    return s, s.makefile().readline().strip()
s, told = enter()
assert told == "1", told
print("there", flush=True)
# The node learns a moment later that one has gone.
while told == "1" or "votes already" in told:
    s.close()
    time.sleep(0.01)
    s, told = enter()
open("refused", "w").close()
while told != "1":
    s.close()
    time.sleep(0.01)
    s, told = enter()
"#;

#[test]
fn a_rank_that_could_not_be_let_in_once_is_let_in_later() {
    let cluster = Cluster::up("t0242refused", 1);
    cluster.file("refused.py", 0o644, REFUSED);
    let work = cluster.work();
    let job =
        cluster.muster(&["run", "-D", work.to_str().unwrap(), "python3", "refused.py"]).start();
    job.await_out("there");
    let manager = cluster.await_pid("manager");
    // Without it the node's lease ends.
    stop(manager);
    until("it is refused", || work.join("refused").exists());
    signal(manager, Signal::CONT);
    job.wait().ok();
    cluster.down();
}
