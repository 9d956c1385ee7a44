//! Bad input and broken surroundings: one sentence, in time, and nothing left running.

mod cluster;
#[path = "cluster/spawn.rs"]
mod spawn;

use cluster::{Cluster, MUSTER, call, signal, stop, until};
use muster_base::limits::CHUNK;
use muster_machine::chunk::Hash;
use muster_ninep::client::{Client, Fid};
use muster_ninep::tree::OpenFlags;
use rustix::process::Signal;
use spawn::Session;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Whoever is to be told within two seconds is told within this on a busy machine.
const PROMPT: Duration = Duration::from_secs(20);

fn manager(cluster: &Cluster) -> Client {
    cluster.client("manager").with_deadlines(Some(PROMPT), Some(PROMPT))
}

/// Makes a job; it lives as long as the fid.
fn job(client: &Client) -> (Fid, String) {
    let clone = client.open("jobs/clone", OpenFlags::default()).unwrap().into_fid();
    let id = String::from_utf8(clone.read_at(0, 32).unwrap()).unwrap();
    (clone, format!("jobs/{id}"))
}

fn bad_specs(client: &Client) {
    for spec in [
        "",
        "{",
        "[]",
        "\"x\"",
        "{\"argv\":[]}",
        "{\"argv\":[\"x\"],\"no\":1}",
        "\u{e9}\0",
        "{\"argv\":[\"x\"],\"ranks\":-1}",
        "{\"argv\":[\"x\"],\"ranks\":18446744073709551615}",
        "{\"argv\":[\"x\"],\"nodes\":99999999999}",
        "{\"argv\":[\"true\"],\"nodelist\":\"n[0-999999999]\"}",
        "{\"argv\":[\"true\"],\"stdin\":\"x\"}",
        "{\"argv\":[\"a\\u0000b\"]}",
        "{\"argv\":[\"true\"],\"env\":{\"A=B\":\"x\"}}",
        "{\"argv\":[\"true\"],\"env\":{\"\":\"\\u0000\"}}",
    ] {
        let (_owner, path) = job(client);
        client.write(&format!("{path}/spec"), spec).unwrap();
        let refused = client.write(&format!("{path}/ctl"), "start\n");
        if spec.contains("A=B") {
            continue;
        }
        let text = refused.map(|()| spec).unwrap_err().to_string();
        assert!(text.contains("  [E"), "{spec}: {text}");
    }
}

fn bad_orders(client: &Client) {
    let (_owner, path) = job(client);
    for line in [
        "",
        "\n",
        "what\n",
        "signal\n",
        "signal NO\n",
        "signal 99\n",
        "close\n",
        "'\n",
        "start x\n",
    ] {
        let told = client.write(&format!("{path}/ctl"), line);
        assert_eq!(told.is_err(), !line.trim().is_empty(), "{line:?} {told:?}");
    }
    assert!(client.write(&format!("{path}/ctl"), b"\xff\xfe\n").is_err());
    assert!(client.write(&format!("{path}/spec"), vec![b'x'; 40 << 20]).is_err());
    for line in
        ["join\n", "join a b c\n", "join n9 nowhere 1\n", "join n9 unix!/no/such 1\n", "lost\n"]
    {
        assert!(client.write("ctl", line).is_err(), "{line:?}");
    }
}

fn bad_files(client: &Client) {
    for stream in [
        &b"x"[..],
        b"\n",
        b"file 755 -1 x\n",
        b"file 4755 1 x\nx",
        b"dir 755 ../x\n",
        b"dir 755 /x\n",
        b"file 644 1 'a/../../b'\nx",
        b"relay 2 x/1\n",
        b"argv 99999999999\n",
        b"end\nmore",
        b"link 0 x\n",
        &[b'a'; 20_000],
    ] {
        let (_owner, path) = job(client);
        client.write(&format!("{path}/spec"), "{\"argv\":[\"true\"]}").unwrap();
        let file = client.open(&format!("{path}/files"), OpenFlags(OpenFlags::WRONLY)).unwrap();
        let told = file.fid().write_at(0, stream);
        let started = client.write(&format!("{path}/ctl"), "start\n");
        assert!(told.is_err() || started.is_err(), "{:?}", String::from_utf8_lossy(stream));
    }
}

#[test]
fn what_is_written_to_the_files_may_be_anything() {
    let cluster = Cluster::up("t0140files", 2);
    let client = manager(&cluster);
    bad_specs(&client);
    bad_orders(&client);
    bad_files(&client);
    // A start may come once only; the job does not mind.
    let (owner, path) = job(&client);
    client.write(&format!("{path}/spec"), "{\"argv\":[\"sleep\",\"600\"]}").unwrap();
    client.write(&format!("{path}/ctl"), "start\n").unwrap();
    let again = client.write(&format!("{path}/ctl"), "start\n").unwrap_err().to_string();
    assert!(again.contains("started"), "{again}");
    let status = client.read_to_string(&format!("{path}/status")).unwrap();
    assert!(status.contains("\"running\""), "{status}");
    drop(owner);
    cluster.no_job_processes();
    let all = cluster.json(&["ps", "--json"]);
    until("nothing is left of them", || cluster.sessions(0) == 0);
    assert!(all["jobs"].as_array().unwrap().len() <= 1, "{all}");
    cluster.muster(&["run", "-N", "2", "true"]).run().ok();
    cluster.down();
}

/// Tells of a file by its chunks and gives these, the first one spoilt; what is said to who starts
/// the job then.
fn start_with_spoilt_chunk(client: &Client, path: &str, right: &[u8]) -> String {
    let files = client.open(&format!("{path}/files"), OpenFlags(OpenFlags::WRONLY)).unwrap();
    let mut told = format!("known 644 {} data\n", right.len()).into_bytes();
    right.chunks(CHUNK).for_each(|chunk| told.extend(Hash::of(chunk).0));
    told.extend(b"end\n");
    files.fid().write_at(0, &told).unwrap();
    drop(files);
    assert_eq!(client.read_to_string(&format!("{path}/chunks")).unwrap().trim(), "0-1");
    let mut given = right.to_vec();
    given[7] ^= 1;
    let chunks = client.open(&format!("{path}/chunks"), OpenFlags(OpenFlags::WRONLY)).unwrap();
    let most = chunks.fid().max_data() as usize;
    for (at, part) in given.chunks(most.min(CHUNK / 4)).enumerate() {
        // The job may have ended meanwhile.
        let _ = chunks.fid().write_at((at * most.min(CHUNK / 4)) as u64, part);
    }
    client.write(&format!("{path}/ctl"), "start\n").map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_client_that_gives_other_bytes_than_it_has_told_of_is_told_so_and_no_node_keeps_them() {
    let cluster = Cluster::up("t0140chunk", 2);
    let client = manager(&cluster);
    let right: Vec<u8> = (0..CHUNK + 5000).map(|at| (at % 251) as u8).collect();
    // Sent on as they come, and kept by the manager before.
    for kept in ["", ",\"requeue\":1"] {
        let (owner, path) = job(&client);
        let spec = format!("{{\"argv\":[\"true\"],\"nodes\":2,\"stdin\":\"none\"{kept}}}");
        client.write(&format!("{path}/spec"), spec).unwrap();
        let said = start_with_spoilt_chunk(&client, &path, &right);
        assert!(said.contains("a chunk of it is corrupt"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        let status = client.read_to_string(&format!("{path}/status")).unwrap();
        let status: serde_json::Value = serde_json::from_str(&status).unwrap();
        assert_eq!((&status["exit"], &status["requeued"]), (&125.into(), &Default::default()));
        assert!(said.contains(status["why"].as_str().unwrap()), "{said}: {status}");
        drop(owner);
    }
    cluster.no_job_processes();
    (0..2).for_each(|node| until("no session is left", || cluster.sessions(node) == 0));
    // A job tells its end before it hears that its nodes have forgotten it.
    until("the manager keeps nothing of it", || {
        let left = fs::read_dir(cluster.directory().join("jobs")).unwrap().flatten();
        let mut left = left.map(|file| file.path().extension().map(ToOwned::to_owned));
        !left.any(|kind| kind.is_some_and(|kind| kind == "files" || kind == "chunks"))
    });
    // The nodes have what is right if they are given that.
    cluster.file("data", 0o644, &right);
    let run = ["run", "-N", "2", "--bcast", "data", "sha256sum", "data"];
    let mut sum = std::process::Command::new("sha256sum");
    let sum = sum.arg("data").current_dir(cluster.work()).output().unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert_eq!(cluster.muster(&run).run().ok().out, sum.repeat(2));
    cluster.down();
}

/// It was told that the job has been started or ended already, and not why.
#[test]
fn who_starts_a_job_that_has_lost_a_node_meanwhile_is_told_which() {
    let cluster = Cluster::up("t0140lost", 2);
    let client = manager(&cluster);
    let (_owner, path) = job(&client);
    client.write(&format!("{path}/spec"), "{\"argv\":[\"sleep\",\"600\"],\"nodes\":2}").unwrap();
    let files = client.open(&format!("{path}/files"), OpenFlags(OpenFlags::WRONLY)).unwrap();
    files.fid().write_at(0, b"file 644 1 x\nxend\n").unwrap();
    cluster.kill("n1");
    let state = || client.read_to_string(&format!("{path}/status")).unwrap();
    until("the job has ended", || state().contains("\"state\":\"done\""));
    let why = client.write(&format!("{path}/ctl"), "start\n").unwrap_err().to_string();
    assert!(why.contains("n1") && why.contains("[E304"), "{why}");
    cluster.down();
}

#[test]
fn what_is_written_to_a_session_may_be_anything() {
    let cluster = Cluster::up("t0140session", 1);
    let session = Session::open(&cluster.directory().join("n0.sock"));
    for line in [
        "what",
        "exec",
        "exec a b",
        "signal",
        "signal TERM",
        "clone",
        "clone x y",
        "clone 2 x",
        "clone 1 tcp!nowhere/1",
        "type",
        "type x",
        "id",
        "id x/y",
        "redirect",
        "redirect stdin /no/such",
        "close",
        "close x",
        "'",
        "exec /no/such",
        "exec /etc/passwd",
        "exec /",
    ] {
        let told = session.order(line);
        // A redirection is looked at when the program is run.
        assert_eq!(told.is_err(), line != "redirect stdin /no/such", "{line}: {told:?}");
    }
    drop(session);
    // A program that could not be run does not spoil the session.
    let session = Session::open(&cluster.directory().join("n0.sock"));
    let missing = session.order("exec nonexist").unwrap_err().to_string();
    assert!(
        missing.contains("nonexist: not found on n0 (searched its PATH)  [E101, exit 127]"),
        "{missing}"
    );
    session.client.write(&session.path("argv"), "sh -c 'cat; echo done'\n").unwrap();
    session.order("exec").unwrap();
    session.client.write(&session.path("stdin"), "in\n").unwrap();
    session.order("close stdin").unwrap();
    let mut out = session.client.open(&session.path("stdout"), OpenFlags::default()).unwrap();
    assert_eq!(out.read_rest().unwrap(), b"in\ndone\n");
    assert_eq!(session.client.read(&session.path("wait")).unwrap(), b"0");
    // What nobody wants to read does not stop a program.
    let session = Session::open(&cluster.directory().join("n0.sock"));
    session.client.write(&session.path("argv"), "sh -c 'head -c 3000000 /dev/zero'\n").unwrap();
    session.order("close stdout").unwrap();
    session.order("exec").unwrap();
    assert_eq!(session.client.read(&session.path("wait")).unwrap(), b"0");
    drop((session, out));
    cluster.no_job_processes();
    cluster.down();
}

/// Its directory stayed for ever where the keeper had no descriptors left.
#[test]
fn a_job_that_has_too_few_descriptors_leaves_no_cluster() {
    for few in 8..=12 {
        let cluster = Cluster::none("t0140few");
        let call = cluster.muster(&["run", "true"]).after(&format!("ulimit -n {few}"));
        call.run().code(125).says("Too many open files; look at ulimit -n  [E125");
        cluster.leftovers();
    }
}

#[test]
fn commands_say_what_is_wrong_with_the_surroundings() {
    let cluster = Cluster::none("t0140env");
    for args in
        [&["ps"][..], &["nodes"], &["logs", "1"], &["kill", "1"], &["cat", "status"], &["ls"]]
    {
        cluster.muster(args).run().code(1).sentence("E120");
    }
    cluster.muster(&["--cluster", "x", "run", "true"]).run().code(125).sentence("E120");
    assert!(cluster.muster(&["down"]).run().ok().out.contains("nothing to do"));
    cluster.leftovers();
    // A directory that others may write.
    fs::create_dir(cluster.runtime()).unwrap();
    fs::set_permissions(cluster.runtime(), fs::Permissions::from_mode(0o777)).unwrap();
    cluster.muster(&["up"]).run().code(1).sentence("E131");
    cluster.muster(&["run", "true"]).run().code(125).sentence("E131");
    fs::remove_dir(cluster.runtime()).unwrap();
    fs::write(cluster.runtime(), "a file").unwrap();
    let said = cluster.muster(&["up"]).run().code(1);
    assert!(said.err.contains("  [E13"), "{}", said.err);
    fs::remove_file(cluster.runtime()).unwrap();
    let long = "x".repeat(120);
    let call =
        cluster.muster(&["up"]).env("MUSTER_RUNTIME", cluster.work().join(long).to_str().unwrap());
    call.run().code(1).sentence("E132");
    cluster.muster(&["--cluster", "a/b", "up"]).run().code(2).sentence("E130");
    let odd = |runtime: &str| cluster.muster(&["up"]).env("MUSTER_RUNTIME", runtime).run();
    odd("/proc/none").code(1).sentence("E133");
    odd(&format!("{}/a\nb", cluster.work().display())).code(1).sentence("E132");
    cluster.leftovers();
    // It is one line also where a name has two.
    cluster.file("a\nb", 0o644, "");
    cluster.muster(&["run", "--bcast", "a\nb", "true"]).run().code(2).sentence("E104");
    // So are other mistakes with files, whoever finds them.
    for name in ["a/x", "b/x"] {
        cluster.file(name, 0o644, "");
    }
    let pipe = cluster.work().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    for (args, id, said) in [
        (&["--bcast", "a/x", "--bcast", "b/x"][..], "E104", "b/x: another file is sent"),
        (&["--bcast", "pipe"], "E104", "pipe: this is a pipe, which cannot be sent"),
        (&["-o", "a"], "E140", "a is a directory, not a file for output. Use a/NAME"),
    ] {
        let all = [&["run"], args, &["true"]].concat();
        cluster.muster(&all).run().code(2).says(said).sentence(id);
    }
    // What is relative is so to where each command is called.
    let call = |args: &[&str]| cluster.muster(args).env("MUSTER_RUNTIME", "../r").run();
    let up = call(&["up", "-N", "1", "--json"]).ok().json();
    assert_eq!((&up["schema"], &up["nodes"]), (&1.into(), &serde_json::json!(["n0"])));
    assert_eq!(call(&["run", "echo", "well"]).ok().out, "well\n");
    call(&["cat", "/nodes/n9/mem"]).code(1).sentence("E160");
    call(&["kill", "7"]).code(1).says_only("no job 7");
    for (path, why) in [
        ("/", "this is a directory"),
        ("/nodes/n0/name/x", "what it would be in is not a directory"),
    ] {
        let said = call(&["write", path, "x"]).code(1).err;
        assert_eq!(said, format!("muster: {path}: {why}  [E160]\n"));
    }
    assert!(call(&["down"]).ok().out.contains("node n0 ended"));
    cluster.leftovers();
}

#[test]
fn mistakes_are_told_in_one_sentence_with_status_2() {
    let cluster = Cluster::none("t0140usage");
    let object = cluster.muster(&["run", "--json", "-n", "0", "true"]).run().code(2).json();
    assert_eq!((&object["exit"], &object["error"]["id"]), (&2.into(), &"E100".into()));
    for (words, part) in [
        (&["pss"][..], "'ps'"),
        (&["up", "-N", "0"], "1..=256"),
        (&["up", "--tolerate-missing"], "--hosts"),
        (&["kill", "-s", "FOO", "1"], "[E163]"),
        (&["cp", "a", "b"], "colon"),
        (&["export", "/", "--listen", "0.0.0.0:0"], "[E150]"),
        (&["explain", "E999x"], "muster explain"),
        (&["--cluster", "a/b", "ps"], "[E130]"),
    ] {
        cluster.muster(words).run().code(2).says_only(part);
    }
}

/// It sounded like a directory that is not there.
#[test]
fn a_machine_that_grants_no_namespaces_is_told_of() {
    let cluster = Cluster::none("t0140spaces");
    let none = "echo 0 > /proc/sys/user/max_pid_namespaces; exec \"$@\"";
    let within = format!("exec unshare -Ur sh -c '{none}' sh \"$@\"");
    let said = cluster.muster(&["run", "-n", "1", "true"]).after(&within).run().code(125);
    said.says("n0 grants the program no namespaces: ").sentence("E307, exit 125]");
    cluster.leftovers();
}

#[test]
fn who_is_refused_by_a_cluster_of_another_build_hears_that_it_is_one() {
    let cluster = Cluster::up("build", 1);
    let [same, other] = ["same", "other"].map(|name| cluster.work().join(name));
    for path in [&same, &other] {
        fs::copy(MUSTER, path).unwrap();
    }
    fs::OpenOptions::new().append(true).open(&other).unwrap().write_all(b"x").unwrap();
    let logs = |program: &Path| {
        let mut command = Command::new(program);
        command.args(["logs", "99"]).env("MUSTER_RUNTIME", cluster.runtime());
        call(command).run().code(1)
    };
    assert!(!logs(&same).err.contains("[N120]"), "a copy is no other");
    let own = Path::new(MUSTER).canonicalize().unwrap();
    logs(&other).says(&format!("another build of muster, {}", own.display())).says("[N120]");
}

#[test]
fn a_manager_that_is_gone_or_frozen_is_told_of() {
    let cluster = Cluster::up("t0140manager", 2);
    let socket = cluster.directory().join("manager.sock");
    fs::rename(&socket, cluster.work().join("s")).unwrap();
    cluster.muster(&["ps"]).run().code(1).sentence("E121");
    cluster.muster(&["run", "true"]).run().code(125).sentence("E121");
    fs::rename(cluster.work().join("s"), &socket).unwrap();
    cluster.muster(&["run", "true"]).run().ok();
    let pid = cluster.await_pid("manager");
    stop(pid);
    cluster.muster(&["ps"]).run().code(1).sentence("E121");
    cluster.muster(&["run", "true"]).run().code(125).sentence("E121");
    signal(pid, Signal::CONT);
    cluster.muster(&["run", "true"]).run().ok();
    cluster.down();
}

/// It named each file that it left out, some hundred, and copied nothing.
#[test]
fn of_jobs_that_have_ended_cp_copies_what_they_said_and_counts_what_others_still_say() {
    let cluster = Cluster::up("t0140cp", 1);
    cluster.muster(&["run", "echo", "said"]).run().ok();
    cluster.muster(&["cp", "-r", ":/jobs", "ended"]).run().ok();
    let text = |path: &str| std::fs::read_to_string(cluster.work().join(path)).unwrap();
    assert_eq!((text("ended/1/stdout").as_str(), text("ended/1/stderr").as_str()), ("said\n", ""));
    assert_eq!(text("ended/1/ranks/0/stdout"), "said\n");
    assert!(text("ended/1/status").contains("\"state\":\"done\""));
    let lives = cluster.muster(&["run", "sh", "-c", "echo lives; exec sleep 600"]).start();
    lives.await_out("lives");
    let said = cluster.muster(&["cp", "-r", ":/jobs", "both"]).run().code(1);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    said.says("files that told what happens are not copied");
    assert_eq!(text("both/1/stdout"), "said\n");
    cluster.muster(&["kill", "2"]).run().ok();
    drop(lives.wait());
    cluster.down();
}

/// It panicked.
#[test]
fn without_a_thread_for_it_a_command_names_the_limit_in_one_sentence() {
    // Not root's, to whom the limit does not apply.
    let Some(cluster) = Cluster::of_nobody("t0140threads") else { return };
    let mut limited = Command::new("setpriv");
    limited.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--nproc=1"]);
    limited.args([cluster::MUSTER, "up"]).env("MUSTER_RUNTIME", cluster.runtime());
    let said = limited.output().unwrap();
    let err = String::from_utf8_lossy(&said.stderr);
    assert_eq!((said.status.code(), err.lines().count()), (Some(125), 1), "{err}");
    assert!(
        err.contains("look at ulimit -u, and at pids.max of the control group  [E125"),
        "{err}"
    );
    cluster.leftovers();
}

#[test]
fn a_reader_below_a_node_that_is_killed_is_told_so() {
    let cluster = Cluster::up("t0140reader", 2);
    let client = manager(&cluster);
    let clone = client.open("nodes/n1/clone", OpenFlags::default()).unwrap().into_fid();
    let id = String::from_utf8(clone.read_at(0, 32).unwrap()).unwrap();
    let reader = cluster.muster(&["cat", &format!("nodes/n1/{id}/stdout")]).start();
    std::thread::sleep(Duration::from_millis(300));
    cluster.kill("n1");
    let said = reader.wait().code(1);
    assert!(said.err.contains("n1"), "{}", said.err);
    assert!(clone.read_at(0, 32).is_err());
    cluster.await_nodes(2);
    assert_eq!(cluster.muster(&["cat", "nodes/n1/name"]).run().ok().out, "n1\n");
    cluster.down();
}

#[test]
fn a_full_disk_costs_the_job_and_nothing_else() {
    let cluster = Cluster::none("t0140full");
    let Some(disk) = Disk::mount(&cluster, "size=5m,mode=700") else { return };
    let (disk, runtime) = (&disk.0, disk.0.join("r"));
    let call =
        |args: &[&str]| cluster.muster(args).env("MUSTER_RUNTIME", runtime.to_str().unwrap());
    call(&["up", "-N", "2"]).run().ok();
    // What the job has printed stays, so the disk must be small for another reason.
    let ballast = disk.join("ballast");
    fs::write(&ballast, vec![0; 3 << 20]).unwrap();
    let said = call(&["run", "-N", "2", "head", "-c", "3000000", "/dev/zero"]).run().code(125);
    assert!(said.err.contains("[E310"), "{}", said.err);
    fs::remove_file(&ballast).unwrap();
    cluster.file("big", 0o644, vec![1; 6 << 20]);
    let said = call(&["run", "-N", "2", "--bcast", "big", "true"]).run().code(125);
    assert!(said.err.contains("  [E"), "{}", said.err);
    // The nodes throw away what they had of it, before or after that answer.
    let free = || rustix::fs::statvfs(disk).map_or(0, |disk| disk.f_bavail * disk.f_frsize);
    until("the disk has room again", || free() > 5 << 19);
    let filler = disk.join("filler");
    // Or that would make room.
    call(&["logs", "--drop", "1"]).run().ok();
    let _ = fs::write(&filler, vec![0; 8 << 20]);
    // More than what is free in the journal's last page: that has some set aside.
    call(&["run", "--env", &format!("PAD={}", "x".repeat(8192)), "true"]).run().ok();
    let said = call(&["run", "head", "-c", "300000", "/dev/zero"]).run().code(125);
    assert!(said.err.contains("[E310"), "{}", said.err);
    call(&["ps"]).run().ok();
    // Nor does that keep the next manager from starting, though this one has died over a record.
    let journal = fs::File::options().append(true).open(runtime.join("default/journal"));
    let _ = journal.unwrap().write_all(b"{");
    fill_to_the_last_page(&filler);
    let pids = fs::read_to_string(runtime.join("default/pids")).unwrap();
    let manager = pids.lines().find_map(|line| line.strip_prefix("manager ")).unwrap();
    signal(manager.split(' ').next().unwrap().parse().unwrap(), Signal::KILL);
    until("the next manager is there", || call(&["ps"]).run().code == 0);
    // It heals without a restart.
    fs::remove_file(&filler).unwrap();
    assert_eq!(call(&["run", "-N", "2", "echo", "well"]).run().ok().out, "well\nwell\n");
    let _ = fs::write(&filler, vec![0; 8 << 20]);
    call(&["down"]).run().ok();
    assert!(!runtime.exists());
    // That there is no room is said, too, where nothing can be started: what the keeper has open
    // to its end is room.
    let taken =
        || rustix::fs::statvfs(disk).map(|disk| (disk.f_blocks - disk.f_bfree) * disk.f_frsize);
    let is_all = || taken().unwrap() == fs::metadata(&filler).unwrap().blocks() * 512;
    until("nothing that was removed is open any more", is_all);
    fill_to_the_last_page(&filler);
    for args in [&["up"][..], &["run", "true"]] {
        let said = call(args).run();
        assert!(said.code != 0 && said.err.contains("No space left on device"), "{said:?}");
        said.sentence("E133");
        assert!(!runtime.exists());
    }
}

#[test]
fn a_file_that_may_grow_no_more_costs_the_job_and_not_the_manager() {
    let cluster = Cluster::none("t0140limit");
    // Blocks of 512 bytes or, in some shells, of 1024.
    cluster.muster(&["up", "-N", "1"]).after("ulimit -f 3000").run().ok();
    let pid = cluster.pid("manager");
    let said = cluster.muster(&["run", "head", "-c", "9000000", "/dev/zero"]).run().code(125);
    assert!(said.err.contains("File too large  [E310, exit 125]"), "{}", said.err);
    assert!(!said.err.contains("[E143"), "one failure is told once: {}", said.err);
    assert_eq!(cluster.muster(&["run", "echo", "well"]).run().ok().out, "well\n");
    assert_eq!(cluster.pid("manager"), pid);
    let write = "head -c 9000000 /dev/zero > long";
    let said = cluster.muster(&["run", "sh", "-c", write]).run();
    assert_eq!(said.code, 128 + 25, "a program has the limit as everywhere: {said:?}");
    cluster.down();
}

#[test]
fn outputs_of_jobs_that_ended_first_make_room_on_a_full_disk_and_are_said_to_be_gone() {
    let cluster = Cluster::none("t0140room");
    let Some(disk) = Disk::mount(&cluster, "size=12m,mode=700") else { return };
    let runtime = disk.0.join("r");
    let call =
        |args: &[&str]| cluster.muster(args).env("MUSTER_RUNTIME", runtime.to_str().unwrap());
    call(&["up", "-N", "1"]).run().ok();
    let prints = |script: &str| {
        call(&["run", "--detach", "sh", "-c", script]).run().ok();
    };
    let ended = |job: &str| {
        call(&["logs", "-f", job]).run();
        call(&["ps", "--json", job]).run().ok().json()["jobs"][0].clone()
    };
    for (job, script) in [("1", "echo first"), ("2", "head -c 3000000 /dev/zero")] {
        prints(script);
        ended(job);
    }
    prints("head -c 30000000 /dev/zero");
    let why = ended("3")["why"].to_string();
    assert!(
        why.contains("job 3 takes most") && why.contains("muster logs --drop 3  [E310"),
        "{why}"
    );
    let dropped = |job: &str, why: &str| {
        let said = call(&["logs", job]).run().code(1);
        assert!(said.err.contains(why) && said.out.is_empty(), "{said:?}");
        said.sentence("E164");
    };
    let full = format!("the disk of {} was full", runtime.join("default").display());
    dropped("1", &full);
    dropped("2", &full);
    // That one is the next to go.
    assert_eq!(call(&["run", "echo", "well"]).run().ok().out, "well\n");
    dropped("3", &full);
    let log = fs::read_to_string(runtime.join("default/keeper.log")).unwrap();
    assert!(log.contains("what job 2 has printed is dropped"), "{log}");
    // One that goes on is named, with what ends it.
    prints("echo one; yes | head -c 4000000; exec sleep 1000");
    until("all is there", || call(&["logs", "5"]).run().out.len() == 4_000_004);
    let filler = disk.0.join("filler");
    let _ = fs::write(&filler, vec![0; 16 << 20]);
    let said = call(&["run", "head", "-c", "300000", "/dev/zero"]).run().code(125);
    said.says("job 5 takes most, 5 MB: muster kill 5, and muster logs --drop 5  [E310, exit 125]");
    fs::remove_file(&filler).unwrap();
    let said = call(&["logs", "--drop", "5"]).run().code(1);
    said.sentence("E165");
    call(&["kill", "5"]).run().ok();
    ended("5");
    assert!(call(&["logs", "5"]).run().ok().out.starts_with("one\n"));
    call(&["logs", "--drop", "5"]).run().ok();
    dropped("5", "somebody asked for that");
    let said = call(&["cat", "jobs/5/stdout"]).run();
    assert!(said.code != 0 && said.err.contains("was dropped"), "{said:?}");
    // The next manager knows it, too.
    let pids = fs::read_to_string(runtime.join("default/pids")).unwrap();
    let manager = pids.lines().find_map(|line| line.strip_prefix("manager ")).unwrap();
    signal(manager.split(' ').next().unwrap().parse().unwrap(), Signal::KILL);
    until("the next manager is there", || call(&["ps"]).run().code == 0);
    dropped("2", &full);
    dropped("5", "somebody asked for that");
    call(&["down"]).run().ok();
}

/// They are kept where outputs are, from when they come until the job runs.
#[test]
fn files_of_a_job_that_may_begin_again_have_the_room_of_outputs_of_jobs_that_have_ended() {
    let cluster = Cluster::none("t0140files");
    let Some(disk) = Disk::mount(&cluster, "size=24m,mode=700") else { return };
    let runtime = disk.0.join("r");
    let call =
        |args: &[&str]| cluster.muster(args).env("MUSTER_RUNTIME", runtime.to_str().unwrap());
    call(&["up", "-N", "1"]).run().ok();
    // The first goes when another job is made, as each has some room then.
    for bytes in ["1500000", "9000000"] {
        call(&["run", "--detach", "head", "-c", bytes, "/dev/zero"]).run().ok();
    }
    for job in ["1", "2"] {
        call(&["wait", job]).run().ok();
    }
    let tree = cluster.work().join("tree");
    fs::create_dir(&tree).unwrap();
    for file in 0..800 {
        fs::write(tree.join(file.to_string()), [7; 4000]).unwrap();
    }
    let _ = fs::write(disk.0.join("filler"), vec![0; 32 << 20]);
    let count = ["sh", "-c", "ls tree | wc -l"];
    let args = [&["run", "--requeue", "--bcast", "tree"][..], &count].concat();
    assert_eq!(call(&args).run().ok().out, "800\n");
    call(&["logs", "2"]).run().code(1).sentence("E164");
    call(&["down"]).run().ok();
}

fn fill_to_the_last_page(filler: &Path) {
    let mut more = fs::File::options().append(true).open(filler).unwrap();
    while more.write_all(&[0; 4096]).is_ok() {}
}

/// A small disk that goes with the test; only root can mount one.
struct Disk(PathBuf);

impl Disk {
    fn mount(cluster: &Cluster, options: &str) -> Option<Disk> {
        let at = cluster.work().join("disk");
        fs::create_dir(&at).unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", options, "muster"]).arg(&at).status();
        if !mounted.is_ok_and(|status| status.success()) {
            eprintln!("only root can mount a small disk: nothing tested");
            return None;
        }
        Some(Disk(at))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let mut down = Command::new(env!("CARGO_BIN_EXE_muster"));
        let _ = down.arg("down").env("MUSTER_RUNTIME", self.0.join("r")).output();
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
