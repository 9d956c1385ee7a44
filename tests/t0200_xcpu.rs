//! The XCPU tree of a node, command by command (`docs/files.md`, section 1).

mod cluster;

use cluster::{Cluster, until};
use muster_ninep::client::{Client, File};
use muster_ninep::error::{Errno, Error};
use muster_ninep::tree::OpenFlags;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, test_kill_process};
use std::io::{Seek, SeekFrom, Write};
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn address(cluster: &Cluster, name: &str) -> String {
    format!("unix!{}", cluster.directory().join(format!("{name}.sock")).display())
}

/// A session, kept by its open `clone`.
struct Session {
    node: Client,
    number: String,
    clone: Option<File>,
}

impl Session {
    fn new(node: &Client) -> Session {
        let mut clone = node.open("clone", OpenFlags::default()).expect("a session");
        let number = String::from_utf8(clone.read_rest().expect("its number")).expect("text");
        Session { node: node.clone(), number, clone: Some(clone) }
    }

    /// One with this `argv`.
    fn of(node: &Client, argv: &str) -> Session {
        let session = Session::new(node);
        session.put("argv", argv);
        session
    }

    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.number)
    }

    #[track_caller]
    fn put(&self, name: &str, text: &str) {
        self.may(name, text).unwrap_or_else(|error| panic!("{name} < {text:?}: {error}"));
    }

    fn may(&self, name: &str, text: &str) -> Result<(), Error> {
        self.node.write(&self.at(name), text)
    }

    /// What a refused command is told.
    #[track_caller]
    fn refused(&self, command: &str) -> String {
        self.may("ctl", &format!("{command}\n")).expect_err("it is refused").to_string()
    }

    #[track_caller]
    fn tell(&self, command: &str) {
        self.put("ctl", &format!("{command}\n"));
    }

    #[track_caller]
    fn get(&self, name: &str) -> String {
        let text = self.node.read_to_string(&self.at(name));
        text.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Starts it, and tells what it says and how it ends.
    #[track_caller]
    fn outcome(&self, command: &str) -> (String, String) {
        self.tell(command);
        (self.get("stdout"), self.get("wait"))
    }

    fn exists(&self) -> bool {
        self.node.walk(&self.number).is_ok()
    }
}

#[test]
fn a_program_is_found_by_path_by_name_and_where_it_was_uploaded() {
    let cluster = Cluster::up("x-exec", 1);
    let n0 = cluster.client("n0");
    let said = |text: &str| (text.to_owned(), "0".to_owned());
    assert_eq!(Session::of(&n0, "sh -c 'echo $0 $1' a b").outcome("exec /bin/sh"), said("a b\n"));
    assert_eq!(Session::of(&n0, "echo by name").outcome("exec"), said("by name\n"));
    let sent = Session::of(&n0, "prog 'two words'");
    let mut file = n0.create(&sent.at("fs/prog"), 0o755).expect("created");
    std::io::Write::write_all(&mut file, b"#!/bin/sh\necho \"sent: $1\"; pwd -P\n").unwrap();
    file.into_fid().clunk().unwrap();
    sent.put("env", "PATH=/usr/bin:/bin\n");
    let (out, status) = sent.outcome("exec prog");
    let (first, place) = out.split_once('\n').expect("two lines");
    assert_eq!((first, status.as_str()), ("sent: two words", "0"));
    assert!(place.contains("/n0/xcpu-"), "it works in fs/: {place}");
    let generation_one = Session::of(&n0, "name of one 'x  y'");
    generation_one.put("exec", "#!/bin/sh\necho \"one: $3\"\n");
    assert_eq!(generation_one.may("exec", "again").unwrap_err().errno, Errno::EXIST);
    assert_eq!(generation_one.outcome("exec"), said("one: x  y\n"));
    assert!(generation_one.refused("exec").contains("has run its program already"));
    // As cp(1) writes a file that has holes, which it leaves out.
    let in_pieces = Session::of(&n0, "x");
    let mut file = n0.open(&in_pieces.at("exec"), OpenFlags(OpenFlags::WRONLY)).unwrap();
    for (at, piece) in [(10, "echo whole"), (0, "#!/bin/sh\n")] {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(piece.as_bytes()).unwrap();
    }
    file.into_fid().clunk().unwrap();
    assert_eq!(in_pieces.outcome("exec"), said("whole\n"));
    let wrong = Session::of(&n0, "x");
    assert!(wrong.refused("exec missing").contains("E101"));
    wrong.put("argv", "don't");
    assert!(wrong.refused("exec").contains(&format!("argv of session {}", wrong.number)));
    wrong.put("argv", "true");
    wrong.put("env", "A=1\nnothing\n");
    assert!(wrong.refused("exec").contains("'nothing' is not of the form NAME=VALUE"));
    wrong.put("env", "A=1\n");
    assert_eq!(wrong.outcome("exec /bin/true"), said(""), "what was refused can be put right");
    cluster.down();
}

/// A program as a user of either way would notice it: what it is called with, where it works and
/// with which files, what it reads and says, and how it ends.
const SEEN: &str = "#!/bin/sh
echo \"$# of ${0##*/}: $1|$2\"; echo \"$GREETING\"; ls; cat data; umask; ulimit -n
wc -c; head -c 200000 /dev/zero | tr '\\0' x; echo to stderr >&2
(exit 0 < /dev/tty) 2> /dev/null && echo it has a terminal
[ \"$2\" = 3 ] && exit 3
kill -\"$2\" $$
";

#[test]
fn a_program_does_the_same_by_the_files_of_a_session_and_by_muster_run() {
    let cluster = Cluster::up("x-same", 1);
    let n0 = cluster.client("n0");
    cluster.file("prog", 0o755, SEEN);
    cluster.file("data", 0o644, "some data\n");
    let input = "line\n".repeat(30_000);
    for (last, raw) in [("3", 0x300), ("TERM", 15), ("KILL", 9)] {
        let session = Session::of(&n0, &format!("prog 'two words' {last}\n"));
        for (name, mode, text) in [("prog", 0o755, SEEN), ("data", 0o644, "some data\n")] {
            let mut file = n0.create(&session.at(&format!("fs/{name}")), mode).unwrap();
            std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            file.into_fid().clunk().unwrap();
        }
        session.put("env", "PATH=/usr/bin:/bin\n'GREETING=well met'\n");
        session.tell("exec prog");
        session.put("stdin", &input);
        session.tell("close stdin");
        let own = (session.get("stdout"), session.get("stderr"), session.get("wait"));
        let flags = ["--bcast", "data", "--env", "PATH=/usr/bin:/bin", "--env"];
        let flags = [&["run", "--json"], &flags[..], &["GREETING=well met", "./prog"]].concat();
        let run = cluster.muster(&[&flags[..], &["two words", last]].concat());
        let told = run.after("umask 022").input(input.clone()).run().json();
        let rank = &told["ranks"][0];
        let text = |what: &str| rank[what].as_str().unwrap().to_owned();
        assert!(own.0.contains("2 of prog: two words|") && own.0.contains("150000\n"), "{own:?}");
        assert_eq!((text("stdout"), text("stderr"), rank["status"].to_string()), own);
        assert_eq!(own.2, raw.to_string());
    }
    cluster.down();
}

#[test]
fn an_environment_is_quoted_and_xcpu_adds_to_it() {
    let cluster = Cluster::up("x-env", 2);
    let (n0, n1) = (cluster.client("n0"), cluster.client("n1"));
    let before = n0.read_to_string("env").expect("read");
    n0.write("env", format!("{before}\"OF_THE_NODE=it's here\"\n")).expect("written");
    let print = "sh -c 'echo \"$OF_THE_NODE|$XCPUSID|$XCPUID|$XCPU_PARENT|$XCPUPATH\"; pwd -P'";
    let plain = Session::of(&n0, print);
    let (out, _) = plain.outcome("exec sh");
    let (line, place) = out.split_once('\n').unwrap();
    assert_eq!(line, format!("it's here|{}|/0||{}", plain.number, place.trim_end()));
    // A parent is a session that is there; `id` keeps what is not said.
    let parent = Session::new(&n1);
    let of_parent = format!("{}/{}", address(&cluster, "n1"), parent.number);
    let child = Session::of(&n0, print);
    assert_eq!(child.get("id"), "/0");
    child.tell("id 12/3");
    child.tell("id /4");
    child.tell("id 13");
    assert_eq!(child.get("id"), "13/4");
    assert!(child.refused("id 5/x").contains("GID/LID"));
    assert!(child.refused("connect nonsense").contains("nonsense"));
    let nobody = format!("{}/9999", address(&cluster, "n1"));
    assert!(child.refused(&format!("connect {nobody}")).contains(&nobody));
    let nowhere = format!("unix!{}/1", cluster.directory().join("n9.sock").display());
    assert!(child.refused(&format!("connect {nowhere}")).contains(&nowhere));
    child.tell(&format!("connect {of_parent}"));
    assert!(child.refused(&format!("connect {of_parent}")).contains("a parent already"));
    let (out, _) = child.outcome("exec sh");
    assert!(out.contains(&format!("|{}|13/4|{of_parent}|", child.number)), "{out}");
    cluster.down();
}

#[test]
fn a_namespace_script_mounts_binds_and_goes_elsewhere() {
    let cluster = Cluster::up("x-ns", 1);
    let n0 = cluster.client("n0");
    let session = Session::of(&n0, "sh -c 'pwd -P; ls; stat -f -c %T mounted; ls /proc/mounts'");
    n0.mkdir(&session.at("fs/here"), 0o755).unwrap();
    n0.mkdir(&session.at("fs/here/mounted"), 0o755).unwrap();
    n0.mkdir(&session.at("fs/here/bound"), 0o755).unwrap();
    n0.mkdir(&session.at("fs/there"), 0o755).unwrap();
    n0.create(&session.at("fs/there/seen"), 0o644).unwrap();
    session.put("env", "PATH=/usr/bin:/bin\nWHERE=here\n");
    let script =
        "unshare\nmount none $WHERE/mounted tmpfs size=1m\nbind there here/bound\ncd here\n";
    session.put("ns", script);
    let (out, status) = session.outcome("exec sh");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].ends_with("/here"), "{lines:?} {}", session.get("stderr"));
    assert_eq!(
        (&lines[1..], status.as_str()),
        (&["bound", "mounted", "tmpfs", "/proc/mounts"][..], "0")
    );
    // What was mounted was so for the process only.
    assert!(n0.walk(&session.at("fs/here/bound/seen")).is_err());
    let wrong = Session::of(&n0, "true");
    wrong.put("ns", "fly away\n");
    assert!(wrong.refused("exec").contains("ns of session"));
    wrong.put("ns", "cd nowhere\n");
    let said = wrong.refused("exec");
    assert!(said.contains("nowhere"), "{said}");
    // The node's own script is what sessions start with.
    n0.write("ns", "cd /\n").unwrap();
    assert_eq!(Session::of(&n0, "pwd").outcome("exec pwd").0, "/\n");
    // One that cannot be read is no empty one: nobody runs without what it asks for.
    n0.write("ns", b"# f\xfcr alle\nchroot /jail\n").unwrap();
    let said = Session::of(&n0, "pwd").refused("exec pwd");
    assert!(said.contains("ns of session") && said.contains("not UTF-8"), "{said}");
    cluster.down();
}

#[test]
fn a_session_is_cloned_to_others_and_a_dead_one_is_named() {
    let cluster = Cluster::up("x-clone", 4);
    let nodes: Vec<Client> = (0..4).map(|k| cluster.client(&format!("n{k}"))).collect();
    for most in ["2", "1", "0", "-1"] {
        let first = Session::of(&nodes[0], "sh -c 'cat data; echo $X'");
        let mut file = nodes[0].create(&first.at("fs/data"), 0o644).unwrap();
        std::io::Write::write_all(&mut file, b"content ").unwrap();
        file.into_fid().clunk().unwrap();
        first.put("env", "PATH=/usr/bin:/bin\nX='a b'\n");
        let others: Vec<Session> = nodes[1..].iter().map(Session::new).collect();
        let mut targets: Vec<String> = Vec::new();
        for (at, other) in others.iter().enumerate() {
            let place = address(&cluster, &format!("n{}", at + 1));
            targets.push(format!("{place}/{}", other.number));
        }
        let dead = format!("unix!{}/7", cluster.directory().join("n9.sock").display());
        targets.insert(1, dead.clone());
        let said = first.refused(&format!("clone {most} {}", targets.join(",")));
        assert!(said.contains(&dead) && said.contains("1 not reached"), "{most}: {said}");
        for other in &others {
            assert_eq!(other.get("argv"), first.get("argv"));
            let ended = ("content a b\n".to_owned(), "0".to_owned());
            assert_eq!(other.outcome("exec sh"), ended, "with MAX {most}");
        }
    }
    let first = Session::of(&nodes[0], "true");
    assert!(first.refused("clone x a/1").contains("'x'"));
    assert!(first.refused("clone 2 nonsense").contains("nonsense"));
    let other = Session::new(&nodes[1]);
    first.tell(&format!("clone 2 {}/{}", address(&cluster, "n1"), other.number));
    assert_eq!(other.get("argv"), "true");
    cluster.down();
}

#[test]
fn signals_go_by_name_and_number_and_only_to_sessions() {
    let cluster = Cluster::up("x-signal", 1);
    let n0 = cluster.client("n0");
    for (name, number) in [("TERM", "15"), ("SIGKILL", "9"), ("usr1", "10"), ("1", "1")] {
        let session = Session::of(&n0, "sleep 100");
        assert!(session.refused("signal TERM").contains("no program runs"));
        session.tell("exec sleep");
        session.tell(&format!("signal {name}"));
        assert_eq!(session.get("wait"), number, "{name}");
    }
    // The whole group is meant; the root's ctl knows processes by number.
    let session = Session::of(&n0, "sh -c 'sleep 100 & wait'");
    session.tell("exec sh");
    assert!(session.refused("signal NOSUCH").contains("'NOSUCH'"));
    assert!(session.refused("signal 65").contains("'65'"));
    let pid = session.get("ctl");
    let procs = n0.read_to_string("procs").unwrap();
    let line = format!("{} {pid} running sh -c 'sleep 100 & wait'\n", session.number);
    assert!(procs.contains(&line), "{procs}");
    let refused = |command: &str| n0.write("ctl", format!("{command}\n")).unwrap_err();
    assert_eq!(refused("kill TERM 1").errno, Errno::SRCH);
    assert_eq!(refused("user-add me 0 root key").errno, Errno::PERM);
    assert!(refused("group-flush").to_string().contains("no list of users"));
    assert_eq!(refused("fly").errno, Errno::INVAL);
    n0.write("ctl", format!("kill TERM {pid}\n")).unwrap();
    assert_eq!(session.get("wait"), "15");
    assert_eq!(session.get("stdout"), "", "nobody of the group holds it open");
    let own = rustix::process::geteuid().as_raw();
    let users = n0.read_to_string("pwent").unwrap();
    assert_eq!(users.split(':').nth(1), Some(own.to_string().as_str()), "{users}");
    assert!(n0.read_to_string("grent").unwrap().contains(':'));
    assert_eq!(n0.read_to_string("arch").unwrap(), "/Linux/x86_64\n");
    cluster.down();
}

#[test]
fn streams_are_fed_read_closed_and_redirected() {
    let cluster = Cluster::up("x-streams", 1);
    let n0 = cluster.client("n0");
    let session = Session::of(&n0, "sh -c 'cat; echo err >&2; exit 3'");
    session.tell("exec sh");
    session.put("stdin", "in ");
    session.put("stdio", "and out");
    session.tell("close stdin");
    assert_eq!(session.get("stdio"), "in and out");
    assert_eq!((session.get("stderr"), session.get("wait")), ("err\n".into(), "768".into()));
    assert!(session.may("stdin", "late").is_err());
    let closed = Session::of(&n0, "sh -c 'echo lost; echo kept >&2'");
    closed.tell("exec sh");
    closed.tell("close stdout");
    assert!(n0.read(&closed.at("stdout")).is_err());
    assert_eq!((closed.get("stderr"), closed.get("wait")), ("kept\n".into(), "0".into()));
    let there = cluster.file("there", 0o644, "from a file");
    let redirected = Session::of(&n0, "sh -c 'cat; echo err >&2'");
    redirected.tell(&format!("redirect stdin {}", there.display()));
    redirected.tell("redirect stdout out");
    redirected.tell("redirect stderr out");
    assert!(redirected.refused("redirect stdnone out").contains("stdnone"));
    redirected.tell("exec sh");
    assert_eq!(redirected.get("wait"), "0");
    for (name, said) in [
        ("stdin", redirected.may("stdin", "x").unwrap_err()),
        ("stdout", n0.read(&redirected.at("stdout")).unwrap_err()),
        ("stderr", n0.read(&redirected.at("stderr")).unwrap_err()),
    ] {
        assert!(said.to_string().contains("redirected to local file"), "{name}: {said}");
    }
    assert_eq!(redirected.get("fs/out"), "from a fileerr\n");
    assert!(redirected.refused("redirect stdout x").contains("before exec"));
    // A ctl collects a line, whatever the pieces; cutting it forgets the piece.
    let pieces = Session::of(&n0, "sleep 100");
    pieces.tell("exec sleep");
    let ctl = n0.open(&pieces.at("ctl"), OpenFlags(OpenFlags::WRONLY)).unwrap();
    ctl.fid().write_at(0, b"nonsen").unwrap();
    ctl.fid().set_len(0).unwrap();
    ctl.fid().write_at(0, b"sig").unwrap();
    ctl.fid().write_at(3, b"nal KI").unwrap();
    ctl.fid().write_at(9, b"LL\nnonsense\n").unwrap_err();
    assert_eq!(pieces.get("wait"), "9");
    cluster.down();
}

#[test]
fn who_writes_line_after_line_is_read_in_few_pieces_and_whole() {
    const LINES: usize = 300;
    let cluster = Cluster::up("x-pieces", 1);
    let n0 = cluster.client("n0");
    let line = format!("i=0; while [ $i -lt {LINES} ]; do echo $i; i=$((i+1)); sleep 0.001; done");
    let session = Session::of(&n0, &format!("sh -c '{line}'"));
    let begun = Instant::now();
    session.tell("exec sh");
    let stdout = n0.open(&session.at("stdout"), OpenFlags::default()).unwrap();
    let (mut said, mut pieces) = (Vec::new(), 0);
    loop {
        let piece = stdout.fid().read_at(said.len() as u64, 8192).unwrap();
        if piece.is_empty() {
            break;
        }
        said.extend(piece);
        pieces += 1;
    }
    let expected: String = (0..LINES).map(|at| format!("{at}\n")).collect();
    assert_eq!(String::from_utf8(said).unwrap(), expected);
    // A few at once and at its end, and fifty a second.
    let most = 8 + begun.elapsed().as_millis() / 20;
    assert!(pieces <= most, "{pieces} pieces in {:?}", begun.elapsed());
    cluster.down();
}

#[test]
fn a_session_lives_as_long_as_somebody_needs_it() {
    let cluster = Cluster::up("x-life", 1);
    let n0 = cluster.client("n0");
    // With its last fid, once somebody was in it.
    let mut idle = Session::of(&n0, "true");
    idle.clone = None;
    until("an idle session goes with its last fid", || !idle.exists());
    // Its process keeps it; `wait` answers although nobody was there when it ended.
    let mut runs = Session::of(&n0, "sh -c 'sleep 0.5; : >done; sleep 100'");
    runs.tell("exec sh");
    runs.clone = None;
    until("its process works", || n0.walk(&runs.at("fs/done")).is_ok());
    runs.tell("signal KILL");
    until("and it goes with its process", || !runs.exists());
    let mut persistent = Session::of(&n0, "true");
    persistent.tell("type persistent");
    assert!(persistent.refused("type other").contains("'type'"));
    persistent.clone = None;
    // A shell's: nobody has entered before its clone was closed, though somebody lists them all.
    let mut shell = Session::new(&n0);
    let lists = n0.walk("").unwrap();
    lists.open(OpenFlags::default()).unwrap();
    shell.clone = None;
    drop(lists);
    std::thread::sleep(Duration::from_secs(1));
    assert!(persistent.exists() && shell.exists());
    shell.put("argv", "echo by hand");
    assert_eq!(shell.outcome("exec echo"), ("by hand\n".into(), "0".into()));
    persistent.tell("type normal");
    until("not persistent any more", || !persistent.exists());
    // A wipe answers those who wait, and ends those who tried to get away.
    let wiped = Session::of(&n0, "sh -c 'setsid sleep 1000 & echo $!; sleep 1000'");
    wiped.tell("exec sh");
    let (tell, told) = mpsc::channel();
    let wait = n0.open(&wiped.at("wait"), OpenFlags::default()).unwrap();
    wait.fid().read_then(0, 100, move |answer| tell.send(answer.map(<[u8]>::to_vec)).unwrap());
    let pid: i32 = wiped.get("ctl").parse().unwrap();
    wiped.tell("wipe");
    assert_eq!(told.recv_timeout(Duration::from_secs(20)).unwrap().unwrap(), b"");
    until("its process is gone", || test_kill_process(Pid::from_raw(pid).unwrap()).is_err());
    assert!(!wiped.exists());
    shell.tell("wipe");
    cluster.down();
}

/// Its control group was nobody's then, and stayed until the node ended.
#[test]
fn a_session_that_is_wiped_while_its_program_is_being_started_leaves_nothing() {
    let cluster = Cluster::up("x-wiped", 1);
    let n0 = cluster.client("n0");
    for round in 0..100 {
        let session = Session::of(&n0, "sleep 1000");
        let open = || n0.open(&session.at("ctl"), OpenFlags(OpenFlags::WRONLY)).unwrap();
        let (one, other) = (open(), open());
        // Each time the wipe finds the start a little further.
        one.fid().write_then(0, b"exec sleep\n", |_| ());
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_micros(10 * round) {}
        other.fid().write_at(0, b"wipe\n").unwrap();
        assert!(!session.exists());
    }
    cluster.no_job_processes();
    until("no control group is left", || cluster.inner_groups().is_empty());
    cluster.down();
}

/// What is told of a request that is taken back.
fn taken_back(start: impl FnOnce(mpsc::Sender<Result<(), Error>>) -> muster_ninep::client::Cancel) {
    let (tell, told) = mpsc::channel();
    let cancel = start(tell);
    assert!(told.recv_timeout(Duration::from_millis(200)).is_err(), "it waits");
    let begin = Instant::now();
    cancel.flush();
    let answer = told.recv_timeout(Duration::from_secs(20)).expect("an answer");
    assert_eq!(answer.expect_err("it had no effect").errno, Errno::INTR);
    assert!(begin.elapsed() < Duration::from_secs(10));
}

/// Descriptors of a process, and how many it may have.
fn descriptors(pid: i32) -> (u64, Rlimit) {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let limit = prlimit(Pid::from_raw(pid), Resource::Nofile, getrlimit(Resource::Nofile));
    (open as u64, limit.unwrap())
}

/// Each stayed for ever, and a node has so many at most.
#[test]
fn a_session_that_cannot_be_made_leaves_nothing() {
    let cluster = Cluster::up("x-short", 1);
    let n0 = cluster.client("n0");
    let pid = cluster.await_pid("n0");
    let (open, usual) = descriptors(pid);
    // The first that are left are for other things.
    let mut made = None;
    let mut refused = 0;
    for more in 0.. {
        let limit = Rlimit { current: Some(open + more), ..usual };
        prlimit(Pid::from_raw(pid), Resource::Nofile, limit).unwrap();
        made = n0.open("clone", OpenFlags::default()).ok();
        if made.is_some() {
            break;
        }
        refused += 1;
    }
    prlimit(Pid::from_raw(pid), Resource::Nofile, usual).unwrap();
    assert_ne!(refused, 0, "there were always some left");
    until("what was not made has gone", || cluster.sessions(0) == 1);
    drop(made);
    cluster.down();
}

#[test]
fn whoever_waits_can_be_told_not_to() {
    let cluster = Cluster::up("x-flush", 1);
    let n0 = cluster.client("n0");
    // It reads nothing until it is told.
    let session =
        Session::of(&n0, "sh -c 'trap \"wc -c; exit\" USR1; while sleep 0.1; do :; done'");
    session.tell("exec sh");
    for name in ["stdout", "stderr", "stdio", "wait"] {
        let file = n0.open(&session.at(name), OpenFlags::default()).unwrap();
        taken_back(|tell| {
            file.fid().read_then(0, 100, move |answer| drop(tell.send(answer.map(|_| ()))))
        });
    }
    let stdin = n0.open(&session.at("stdin"), OpenFlags(OpenFlags::WRONLY)).unwrap();
    let mut written = 0;
    let piece = [b'x'; 4096];
    loop {
        let (tell, told) = mpsc::channel();
        let cancel = stdin.fid().write_then(written, &piece, move |it| drop(tell.send(it)));
        let soon = told.recv_timeout(Duration::from_millis(500));
        let count = soon.map(|answer| answer.expect("there is room")).or_else(|_| {
            cancel.flush();
            // There may be room all the same, and who writes it has waited for a processor.
            told.recv_timeout(Duration::from_secs(20)).expect("an answer")
        });
        match count {
            Ok(count) => written += u64::from(count),
            Err(error) => {
                assert_eq!(error.errno, Errno::INTR, "it had no effect");
                break;
            }
        }
        assert!(written < 1 << 20, "nobody reads, and all is taken");
    }
    session.tell("close stdin");
    session.tell("signal USR1");
    assert_eq!(session.get("stdout").trim(), written.to_string());
    cluster.down();
}
