//! What a program in a view sees of others: nothing, wherever it looks.

mod cluster;

use cluster::{Cluster, until};
use muster_ninep::address::Address;
use muster_ninep::client::{Client, Options};
use muster_ninep::error::{Errno, Error};
use muster_ninep::tree::OpenFlags;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};

/// Who attaches to the manager as this user, for this tree.
fn attach(cluster: &Cluster, uname: &str, aname: &str) -> Result<Client, Error> {
    let address = Address::Unix(cluster.directory().join("manager.sock"));
    let (uname, aname) = (uname.to_owned(), aname.to_owned());
    Client::connect(&address, Options { uname, aname, ..Options::default() })
}

fn names(client: &Client, path: &str) -> BTreeSet<String> {
    let entries = client.readdir(path).expect("a directory");
    let names = entries.into_iter().map(|entry| String::from_utf8_lossy(&entry.name).into_owned());
    names.filter(|name| name != "." && name != "..").collect()
}

/// The sessions that a directory of a node's shows.
fn sessions(client: &Client, path: &str) -> BTreeSet<String> {
    names(client, path).into_iter().filter(|name| name.parse::<u32>().is_ok()).collect()
}

/// What `procs` and `usage` tell of sessions: the first words of their lines.
fn told(client: &Client, node: &str) -> [BTreeSet<String>; 2] {
    ["procs", "usage"].map(|file| {
        let text = client.read_to_string(&format!("{node}/{file}")).expect("a text");
        let lines = text.lines().skip(usize::from(file == "usage"));
        lines.filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
    })
}

#[track_caller]
fn hidden<T>(client: &Client, answer: impl FnOnce(&Client) -> Result<T, Error>) {
    let error = answer(client).err().expect("there is no such name");
    assert_eq!(error.errno, Errno::NOENT, "{error}");
}

/// A cluster of two nodes with view `lab` of n1, and a job in each of view and cluster there: the
/// numbers of their sessions at n1, that of the view's first.
fn two_jobs(test: &str) -> (Cluster, [String; 2]) {
    let cluster = Cluster::up(test, 2);
    cluster.muster(&["view", "create", "lab", "--nodes", "n1", "--user", "ann"]).run().ok();
    let mut found: Vec<String> = Vec::new();
    for words in [&["--view", "lab", "run"][..], &["run", "-w", "n1"]] {
        let words = [words, &["--detach", "sleep", "1000"]].concat();
        cluster.muster(&words).run().ok();
        let job = cluster.muster(&["ps"]).run().ok().out.lines().count() as u64 - 1;
        until("it runs", || cluster.job(job)["state"] == "running");
        found.push(cluster.job(job)["ranks"][0]["session"].to_string());
    }
    (cluster, found.try_into().expect("two"))
}

#[test]
fn a_node_shows_a_view_its_own_sessions_and_has_no_names_for_others() {
    let (cluster, [own, other]) = two_jobs("t0161node");
    let (whole, lab) = (attach(&cluster, "", "").unwrap(), attach(&cluster, "", "views/lab"));
    let lab = lab.expect("the view");
    let both: BTreeSet<String> = [own.clone(), other.clone()].into();
    let only: BTreeSet<String> = [own.clone()].into();
    assert_eq!(sessions(&whole, "nodes/n1"), both);
    assert_eq!(told(&whole, "nodes/n1"), [both.clone(), both]);
    // The same by whatever way one comes to the view.
    let ann = attach(&cluster, "ann", "").unwrap();
    for (client, node) in [(&lab, "nodes/n1"), (&ann, "nodes/n1"), (&whole, "views/lab/nodes/n1")] {
        assert_eq!(sessions(client, node), only, "{node}");
        assert_eq!(told(client, node), [only.clone(), only.clone()], "{node}");
        hidden(client, |client| client.walk(&format!("{node}/{other}")));
        hidden(client, |client| client.read_to_string(&format!("{node}/{other}/argv")));
        hidden(client, |client| client.walk(&format!("{node}/views")));
        let argv = client.read_to_string(&format!("{node}/{own}/argv")).expect("its own");
        assert_eq!(argv, "sleep 1000\n");
    }
    // Up and down again is no way round.
    let node = lab.walk("nodes/n1").unwrap();
    for way in [&["..", "n1"][..], &["..", "..", "nodes", "n1"], &[&own, "..", "..", "n1"]] {
        let way: Vec<&[u8]> = way.iter().chain([&&*other]).map(|name| name.as_bytes()).collect();
        assert_eq!(node.walk(&way).expect_err("no such name").errno, Errno::NOENT, "{way:?}");
    }
    let up = node.walk(&[own.as_bytes(), b"..", b"..", b"..", b"name"]).map(|_| ());
    assert!(up.is_ok(), "`..` stops at the view's root of the node: {up:?}");
    hidden(&lab, |lab| lab.walk("nodes/n0"));
    // A process of another's is none here; what is set for the whole node is not set in a view.
    let pid = whole.read_to_string(&format!("nodes/n1/{other}/ctl")).unwrap();
    let killed = lab.write("nodes/n1/ctl", format!("kill KILL {pid}\n")).expect_err("none here");
    assert_eq!(killed.errno, Errno::SRCH, "{killed}");
    for file in ["env", "ns", "state"] {
        let written = lab.write(&format!("nodes/n1/{file}"), "X=1\n").expect_err("refused");
        assert_eq!(written.errno, Errno::ACCESS, "{written}");
    }
    // It is the same directory each time, and not that of the whole cluster.
    assert_eq!(lab.walk("nodes/n1").unwrap().qid().path, node.qid().path);
    assert_ne!(whole.walk("nodes/n1").unwrap().qid().path, node.qid().path);
    cluster.down();
}

#[test]
fn a_session_made_in_a_view_is_the_views_and_reaches_no_other() {
    let (cluster, [own, other]) = two_jobs("t0161made");
    cluster.muster(&["view", "create", "rest", "--nodes", "n[0-1]"]).run().ok();
    let whole = attach(&cluster, "", "").unwrap();
    let [lab, rest] =
        ["lab", "rest"].map(|view| attach(&cluster, "", &format!("views/{view}")).unwrap());
    let mut clone = lab.open("nodes/n1/clone", OpenFlags::default()).expect("a session");
    let number = String::from_utf8(clone.read_rest().unwrap()).unwrap();
    assert_eq!(sessions(&lab, "nodes/n1"), [own.clone(), number.clone()].into());
    assert_eq!(sessions(&rest, "nodes/n1"), [].into());
    assert!(sessions(&whole, "nodes/n1").contains(&number));
    hidden(&rest, |rest| rest.walk(&format!("nodes/n1/{number}")));
    lab.write(&format!("nodes/n1/{number}/argv"), "echo hello\n").unwrap();
    lab.write(&format!("nodes/n1/{number}/ctl"), "exec\n").unwrap();
    assert_eq!(lab.read_to_string(&format!("nodes/n1/{number}/stdout")).unwrap(), "hello\n");
    // Sessions are named to others by address and number: those of others are not there either.
    let at = |node: &str, number: &str| {
        format!("unix!{}/{number}", cluster.directory().join(format!("{node}.sock")).display())
    };
    let tell = |line: String| lab.write(&format!("nodes/n1/{number}/ctl"), line);
    for line in ["connect", "clone 1"] {
        let error = tell(format!("{line} {}\n", at("n1", &other))).expect_err("not to be seen");
        assert!(error.text.contains(&format!("{other}: no such file")), "{error}");
        tell(format!("{line} {}\n", at("n1", &own))).expect("its own view's");
    }
    let argv = |number: &str| whole.read_to_string(&format!("nodes/n1/{number}/argv")).unwrap();
    assert_eq!((&*argv(&own), &*argv(&other)), ("echo hello\n", "sleep 1000\n"));
    cluster.down();
}

#[test]
fn who_is_named_in_a_view_gets_no_other_tree() {
    let cluster = Cluster::up("t0161user", 2);
    for (view, node) in [("lab", "n1"), ("pair", "n[0-1]"), ("other", "n0")] {
        let user: &[&str] = if view == "other" { &[] } else { &["--user", "ann"] };
        let words = [&["view", "create", view, "--nodes", node], user].concat();
        cluster.muster(&words).run().ok();
    }
    let nodes = |aname: &str| names(&attach(&cluster, "ann", aname).unwrap(), "nodes");
    // The first of his views is the root of whoever names none; all of them are by name.
    for aname in ["", "/", "views/lab", "/views//lab/"] {
        assert_eq!(nodes(aname), ["n1".to_owned()].into(), "{aname:?}");
    }
    assert_eq!(nodes("views/pair").len(), 2);
    for aname in ["views", "views/other", "views/lab/..", "images", "views/../views/other"] {
        let refused = attach(&cluster, "ann", aname).map(|_| ()).expect_err(aname);
        assert_eq!(refused.errno, Errno::NOENT, "{aname}: {refused}");
    }
    let root = attach(&cluster, "ann", "/").unwrap();
    for path in ["views", "ctl", "../ctl", "events", "slots"] {
        hidden(&root, |root| root.walk(path));
    }
    let as_ann = |words: &[&str]| cluster.muster(words).env("USER", "ann").run();
    let all = as_ann(&["--view", "/", "ls", "/nodes"]).ok();
    assert_eq!(all.sorted(), ["n1"]);
    as_ann(&["--view", "other", "ps"]).code(1).says("there is no view other");
    as_ann(&["view", "delete", "lab"]).code(1).says("unless you are named in the view");
    for down in [&["down"][..], &["--view", "/", "down"]] {
        as_ann(down).code(2).says("who is named in a view of it sees no more");
    }
    // Whose the cluster is would not come back from there.
    let own = cluster.muster(&["run", "id", "-un"]).run().ok().out;
    let words = ["view", "create", "own", "--nodes", "n0", "--user", own.trim()];
    cluster.muster(&words).run().code(1).says("would be shut out of his own cluster");
    cluster.down();
}

/// It once was the end of the manager, which looked at its settings while it did so.
#[test]
fn a_program_that_is_sent_runs_in_a_view() {
    let cluster = Cluster::up("t0161sent", 2);
    cluster.muster(&["view", "create", "lab", "--nodes", "n1"]).run().ok();
    let own = cluster.work().join("own");
    std::fs::copy("/bin/echo", &own).expect("a program");
    let run = ["--view", "lab", "run", own.to_str().expect("text"), "sent"];
    assert_eq!(cluster.muster(&run).run().ok().out, "sent\n");
    cluster.down();
}

/// The name alone once said whose a job that had ended was.
#[test]
fn a_view_that_is_made_again_has_no_jobs_of_the_first_one() {
    let cluster = Cluster::up("t0161reused", 1);
    let create = |user| {
        let words = ["view", "create", "lab", "--nodes", "n0", "--user", user];
        cluster.muster(&words).run().ok();
    };
    let echo = |said| drop(cluster.muster(&["--view", "lab", "run", "echo", said]).run().ok());
    let jobs = |user| names(&attach(&cluster, user, "").unwrap(), "jobs");
    let past = |user| -> Vec<u64> {
        let lines = attach(&cluster, user, "").unwrap().read_to_string("history").unwrap();
        let lines = lines.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.map(|line: serde_json::Value| line["id"].as_u64().expect("a number")).collect()
    };
    let set = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    create("ann");
    echo("secret");
    // One that is changed stays what it is.
    create("bob");
    assert_eq!((jobs("bob"), past("bob")), (set(&["clone", "1"]), vec![1]));
    cluster.muster(&["view", "delete", "lab"]).run().ok();
    create("bob");
    echo("hello");
    let is_so = || {
        let bob = attach(&cluster, "bob", "").unwrap();
        hidden(&bob, |bob| bob.walk("jobs/1"));
        assert_eq!((jobs("bob"), past("bob")), (set(&["clone", "2"]), vec![2]));
    };
    is_so();
    let old = cluster.kill("manager");
    let is_another = || cluster.pid("manager").is_some_and(|pid| pid != old);
    until("another manager", || is_another() && attach(&cluster, "bob", "").is_ok());
    is_so();
    // Whose the cluster is sees all.
    assert_eq!(jobs(""), set(&["clone", "1", "2"]));
    cluster.down();
}

#[test]
fn sessions_of_a_view_stay_its_own_when_the_manager_is_another() {
    let (cluster, [own, _]) = two_jobs("t0161again");
    let old = cluster.kill("manager");
    until("another manager", || cluster.pid("manager").is_some_and(|pid| pid != old));
    cluster.await_nodes(2);
    let lab = attach(&cluster, "", "views/lab").expect("the view");
    assert_eq!(sessions(&lab, "nodes/n1"), [own].into());
    cluster.down();
}

#[test]
fn what_is_said_of_a_job_that_waits_in_a_view_names_no_others() {
    let cluster = Cluster::up("t0161said", 2);
    cluster.muster(&["scheduler", "gang", "--slots", "2"]).run().ok();
    cluster.muster(&["view", "create", "lab", "--nodes", "n1"]).run().ok();
    cluster.muster(&["view", "create", "rest", "--nodes", "n[0-1]"]).run().ok();
    let mut job = 0;
    let mut start = |view: &str, state: &str| {
        let words = ["--view", view, "run", "--detach", "-N", "1", "-w", "n1", "sleep", "1000"];
        cluster.muster(&words).run().ok();
        job += 1;
        until("it is so far", || cluster.job(job)["state"] == state);
        job
    };
    let (theirs, own) = (start("rest", "running"), start("lab", "running"));
    let (_, waits) = (start("rest", "pending"), start("lab", "pending"));
    let why = |job: u64| cluster.job(job)["why"].as_str().unwrap_or_default().to_owned();
    assert!(why(waits).ends_with("ahead of it: others"), "{}", why(waits));
    let last = start("lab", "pending");
    assert!(why(last).ends_with(&format!("ahead of it: job {waits} and more")), "{}", why(last));
    // Nor does one get there by the name of the cluster, which is the view's.
    for command in ["ps", "logs", "kill"] {
        let named = format!("default.{theirs}");
        let told = cluster.muster(&["--view", "lab", command, &named]).run().code(1);
        told.says(&format!("there is no job {named}"));
        let named = format!("default.{own}");
        cluster.muster(&["--view", "lab", "ps", &named]).run().ok();
        let other = cluster.muster(&["--view", "lab", command, "big.1"]).run().code(1);
        other.says("there is no cluster big in view lab. See: muster --view / view");
    }
    assert_eq!(cluster.job(theirs)["state"], "running");
    let usage = cluster.json(&["--view", "lab", "cat", "/usage"]);
    assert_eq!(usage["slots"]["slots"], serde_json::json!([[], [own]]), "{usage}");
    let usage = cluster.json(&["cat", "/usage"]);
    assert_eq!(usage["slots"]["slots"], serde_json::json!([[theirs], [own]]), "{usage}");
    cluster.down();
}

#[test]
fn what_is_no_view_or_cannot_be_one_is_refused_in_a_sentence() {
    let cluster = Cluster::up("t0161bad", 1);
    let long = "x".repeat(65);
    let user = |name| ["view", "create", "lab", "--nodes", "n0", "--user", name];
    cluster.muster(&["view", "create", "lab", "--nodes", "n0"]).run().ok();
    for (words, said) in [
        // Each was a tree's name once: of all views, or of a view's nodes.
        (&["--view", "", "ps"][..], "there is no view ''. See:"),
        (&["--view", "lab/nodes", "ps"], "there is no view lab/nodes. See:"),
        (&["--view", "..", "ps"], "there is no view ... See:"),
        (&["view", "create", &long, "--nodes", "n0"], "it has up to 64 letters"),
        (&["view", "create", ".x", "--nodes", "n0"], "begins with neither '-' nor '.'"),
        (&["view", "create", "ctl", "--nodes", "n0"], "'ctl' is a file"),
        (&user("a b"), "'a b' is no user's name"),
        (&user(""), "'' is no user's name"),
    ] {
        let said = cluster.muster(words).run().code(1).says(said);
        assert_eq!(said.err.trim().lines().count(), 1, "{}", said.err);
    }
    // Who has come by a view that is deleted meanwhile.
    let lab = attach(&cluster, "", "views/lab").unwrap();
    cluster.muster(&["view", "delete", "lab"]).run().ok();
    let mut clone = lab.open("jobs/clone", OpenFlags::default()).expect("a job");
    let job = String::from_utf8(clone.read_rest().unwrap()).unwrap();
    lab.write(&format!("jobs/{}/spec", job.trim()), r#"{"argv":["true"]}"#).unwrap();
    let refused = lab.write(&format!("jobs/{}/ctl", job.trim()), "start\n").expect_err("no view");
    assert!(refused.text.contains("view lab was deleted"), "{refused}");
    // As good as not set, as with every other variable.
    cluster.muster(&["ps"]).env("MUSTER_VIEW", "").run().ok();
    cluster.down();
}

/// Once each walk to one led to a directory of its own, and a kernel took the one before it for
/// removed, with whoever worked in it.
#[test]
fn a_directory_of_a_view_or_of_a_job_is_the_same_each_time_and_another_in_each_tree() {
    let (cluster, _) = two_jobs("t0161same");
    let whole = attach(&cluster, "", "").unwrap();
    let paths = [
        "views/lab",
        "views/lab/nodes",
        "views/lab/nodes/n1",
        "views/lab/jobs",
        "views/lab/jobs/1/ranks/0",
        "nodes/n1",
        "jobs/1",
        "jobs/1/ranks",
        "jobs/1/ranks/0",
        "jobs/2/ranks/0",
    ];
    let qid = |path: &str| whole.walk(path).expect("a directory").qid().path;
    let found: Vec<u64> = paths.iter().map(|path| qid(path)).collect();
    assert_eq!(found, paths.iter().map(|path| qid(path)).collect::<Vec<_>>());
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), paths.len(), "{found:?}");
    let mount = cluster.work().join("m");
    std::fs::create_dir(&mount).expect("made");
    let at = mount.to_str().expect("text");
    cluster.muster(&["mount", at]).run().ok();
    // The kernel looks again, and `pwd` asks it.
    let script = "cd $0; sleep 1.2; ls $0 >/dev/null; exec /bin/pwd -P";
    let shells = paths.map(|path| {
        let mut shell = Command::new("bash");
        shell.args(["-c", script, &format!("{at}/{path}")]).stdout(Stdio::piped());
        (path, shell.spawn().expect("a shell"))
    });
    for (path, shell) in shells {
        let out = shell.wait_with_output().expect("it ends").stdout;
        assert_eq!(String::from_utf8_lossy(&out).trim(), format!("{at}/{path}"));
    }
    cluster.muster(&["umount", at]).run().ok();
    cluster.down();
}

#[test]
fn a_job_of_a_view_is_no_step_of_another_views() {
    let cluster = Cluster::up("t0161step", 1);
    cluster.muster(&["scheduler", "fcfs"]).run().ok();
    for view in ["lab", "rest"] {
        cluster.muster(&["view", "create", view, "--nodes", "n0"]).run().ok();
    }
    cluster.muster(&["--view", "rest", "run", "--detach", "sleep", "1000"]).run().ok();
    until("it runs", || cluster.job(1)["state"] == "running");
    // A job of the same view is one, and has its nodes.
    for (view, state) in [("lab", "pending"), ("rest", "running")] {
        let client = attach(&cluster, "", &format!("views/{view}")).unwrap();
        let mut clone = client.open("jobs/clone", OpenFlags::default()).expect("a job");
        let number = String::from_utf8(clone.read_rest().unwrap()).unwrap();
        let spec = r#"{"argv":["sleep","1000"],"within":1,"stdin":"none"}"#;
        client.write(&format!("jobs/{number}/spec"), spec).expect("written");
        client.write(&format!("jobs/{number}/ctl"), "start\n").expect("started");
        let job = cluster.job(number.parse().unwrap());
        assert_eq!(job["state"], state, "{job}");
        assert_eq!(job["within"] == 1, view == "rest", "{job}");
    }
    cluster.down();
}
