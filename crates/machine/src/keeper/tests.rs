//! A keeper with daemons that only follow their lifeline: this test program again.

use super::*;
use rustix::process::{Signal, kill_process};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// A directory of a test; nothing of it is left.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("mk-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a directory in /tmp");
        Scratch(path.canonicalize().expect("it exists"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A test that failed may have left a cluster: nothing of it may outlive the test.
        let runtime = Runtime::at(self.0.join("r"));
        let own = rustix::process::getpid();
        if !matches!(runtime.state("x"), Ok(Some(State::Kept(pid))) if pid == own) {
            let _ = down(&runtime, "x");
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const DAEMON: &str = "MUSTER_TEST_DAEMON";
const KEEPER: &str = "MUSTER_TEST_KEEPER";

/// What the keeper starts: `daemon manager ...`, `daemon strober ...`, `daemon node ...`.
#[test]
fn acts_as_a_daemon_when_asked() {
    let Ok(asked) = std::env::var(DAEMON) else { return };
    let words: Vec<&str> = asked.split(' ').collect();
    let after = |flag: &str| words.iter().skip_while(|word| **word != flag).nth(1).copied();
    let name = after("--name").unwrap_or(words[1]);
    let dir = after("--dir").expect("it is told where");
    let directory = Directory::at(Path::new(dir)).expect("it is safe");
    let presence = Presence::enter(&directory).expect("it is there");
    let pid = std::process::id().to_string();
    std::fs::write(directory.path().join(format!("{name}.up")), pid).expect("written");
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("the lifeline ends");
    presence.leave(&directory).expect("left");
    std::process::exit(0);
}

/// A keeper in a process of its own.
#[test]
fn acts_as_a_keeper_when_asked() {
    let Ok(runtime) = std::env::var(KEEPER) else { return };
    let report: Report = Arc::new(|_, _| Ok(()));
    let keeper = Keeper::start(&Runtime::at(runtime), "x", plan(3, report)).expect("started");
    keeper.wait();
}

fn myself(test: &str) -> String {
    let exe = std::env::current_exe().expect("we run");
    format!("exec {} --exact keeper::tests::{test} --nocapture", exe.display())
}

fn plan(nodes: usize, report: Report) -> Plan {
    // One that is to die at once does so in the shell: ten such deaths within ten seconds take less
    // than those seconds then, however busy the machine is.
    let dies = "d=; n=$2; for w; do [ \"$p\" = --dir ] && d=$w; [ \"$p\" = --name ] && n=$w; p=$w; \
                done; [ -e \"$d/$n.bad\" ] && exit 3";
    let daemon = myself("acts_as_a_daemon_when_asked");
    let script = format!("{dies}; {DAEMON}=\"$*\" {daemon}");
    let prefix = vec!["-c".into(), script.into(), "sh".into()];
    Plan { program: "/bin/sh".into(), prefix, ..Plan::new(nodes, report) }
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The process that wrote a mark, when it is not `before`.
fn marked(dir: &Path, mark: &str, before: Option<Pid>) -> Pid {
    until(mark, || {
        let text = std::fs::read_to_string(dir.join(mark)).ok()?;
        let pid = Pid::from_raw(text.parse().ok()?)?;
        (Some(pid) != before).then_some(pid)
    })
}

fn marks(dir: &Path, names: &[&str]) -> Vec<Pid> {
    until("the list of daemons", || dir.join("pids").exists().then_some(()));
    names.iter().map(|name| marked(dir, &format!("{name}.up"), None)).collect()
}

/// Stops a process, and waits until each of its threads has: the signal alone lets them run on.
fn stop(pid: Pid) {
    kill_process(pid, Signal::STOP).expect("alive");
    let tasks = format!("/proc/{}/task", pid.as_raw_nonzero());
    until("a stop", || {
        let mut tasks = std::fs::read_dir(&tasks).ok()?.flatten();
        let stopped = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("stat"));
            stat.is_ok_and(|stat| stat.contains(") T "))
        };
        tasks.all(stopped).then_some(())
    });
}

fn is_alive(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    // A zombie whose parent is not us counts as dead.
    stat.is_ok_and(|stat| !stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}

fn nothing_left(scratch: &Scratch, pids: &[Pid]) {
    until("the end of all daemons", || pids.iter().all(|pid| !is_alive(*pid)).then_some(()));
    until("the end of the directory", || (!scratch.path().join("r").exists()).then_some(()));
}

struct Kept {
    keeper: Keeper,
    dir: PathBuf,
    said: Arc<Mutex<Vec<String>>>,
}

fn keep(scratch: &Scratch, nodes: usize) -> Kept {
    let said: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = said.clone();
    let report: Report = Arc::new(move |_, line| {
        heard.lock().expect("no panic").push(line.to_owned());
        Ok(())
    });
    let runtime = Runtime::at(scratch.path().join("r"));
    let keeper = Keeper::start(&runtime, "x", plan(nodes, report)).expect("started");
    let dir = keeper.directory().path().to_owned();
    Kept { keeper, dir, said }
}

#[test]
fn a_kept_cluster_is_alone_and_stops_without_a_trace() {
    let scratch = Scratch::new("stop");
    let kept = keep(&scratch, 2);
    let pids = marks(&kept.dir, &["manager", "n0", "n1"]);
    let runtime = Runtime::at(scratch.path().join("r"));
    let again = Keeper::start(&runtime, "x", plan(1, Arc::new(|_, _| Ok(()))));
    let said = again.err().expect("there is one").to_string();
    assert!(said.contains("is up already") && said.contains("[E124]"), "{said}");
    assert!(matches!(runtime.state("x"), Ok(Some(State::Kept(_)))));
    assert_eq!(kept.keeper.stop(), Ended::default());
    nothing_left(&scratch, &pids);
    assert!(runtime.state("x").expect("safe").is_none());
}

#[test]
fn the_dead_are_started_again_and_their_death_is_told() {
    let scratch = Scratch::new("dead");
    let kept = keep(&scratch, 2);
    let pids = marks(&kept.dir, &["manager", "n0", "n1"]);
    std::fs::create_dir_all(kept.dir.join("n1/3/fs")).expect("made");
    kill_process(pids[2], Signal::KILL).expect("alive");
    let n1 = marked(&kept.dir, "n1.up", Some(pids[2]));
    let told = until("evidence", || kept.said.lock().expect("no panic").first().cloned());
    assert_eq!(told, "lost n1 its daemon was killed by signal 9");
    assert!(!kept.dir.join("n1").exists());
    kill_process(pids[0], Signal::KILL).expect("alive");
    let manager = marked(&kept.dir, "manager.up", Some(pids[0]));
    let log = std::fs::read_to_string(kept.keeper.directory().log()).expect("a log");
    assert!(log.contains("keeper: n1: its daemon was killed by signal 9"), "{log}");
    assert!(kept.said.lock().expect("no panic").len() == 1);
    kept.keeper.stop();
    nothing_left(&scratch, &[n1, manager, pids[1]]);
}

/// What cleans /tmp has once removed what a cluster of eleven days was known by.
#[test]
fn where_a_cluster_is_kept_nothing_ages() {
    use rustix::fs::{FlockOperation, flock};
    let scratch = Scratch::new("ages");
    let base = scratch.path().join("r");
    std::fs::create_dir(&base).expect("made");
    std::fs::set_permissions(&base, std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .expect("our own");
    // As systemd-tmpfiles asks. Who was there first has it until it has looked at all.
    let cleaner = File::open(&base).expect("it is there");
    flock(&cleaner, FlockOperation::NonBlockingLockExclusive).expect("nobody else has it");
    let kept = keep(&scratch, 1);
    flock(&cleaner, FlockOperation::Unlock).expect("it was ours");
    let clean = || {
        let it = File::open(&base).expect("it is there");
        flock(&it, FlockOperation::NonBlockingLockExclusive).err()
    };
    until("the lock", || clean().is_some().then_some(()));
    kept.keeper.stop();
    // A child of another test may have a copy of the cleaner's descriptor for a moment.
    until("the lock's end", || clean().is_none().then_some(()));
}

/// Such a daemon once became that of a cluster of one machine, and waited there for its manager.
#[test]
fn where_the_roster_of_several_hosts_is_gone_no_daemon_is_started_again() {
    let scratch = Scratch::new("roster");
    let report: Report = Arc::new(|_, _| Ok(()));
    let prepare: Prepare = Box::new(|directory| crate::roster::write(directory, &[], None));
    let plan = Plan { prepare: Some(prepare), ..plan(1, report) };
    let runtime = Runtime::at(scratch.path().join("r"));
    let keeper = Keeper::start(&runtime, "x", plan).expect("started");
    let dir = keeper.directory().path().to_owned();
    let pids = marks(&dir, &["manager", "n0"]);
    std::fs::remove_file(dir.join("roster")).expect("it is there");
    kill_process(pids[1], Signal::KILL).expect("alive");
    until("the reason", || {
        let log = std::fs::read_to_string(keeper.directory().log()).expect("a log");
        log.contains("n0: its daemon could not start: the cluster's roster").then_some(())
    });
    keeper.stop();
    nothing_left(&scratch, &pids);
}

#[test]
fn a_cluster_whose_directory_is_removed_ends() {
    let scratch = Scratch::new("removed");
    let kept = keep(&scratch, 2);
    let pids = marks(&kept.dir, &["manager", "n0", "n1"]);
    std::fs::remove_dir_all(&kept.dir).expect("it is there");
    until("all have ended", || pids.iter().all(|pid| !is_alive(*pid)).then_some(()));
    kept.keeper.wait();
}

#[test]
fn a_stopped_daemon_is_killed_at_the_end() {
    let scratch = Scratch::new("stopped");
    let kept = keep(&scratch, 2);
    let pids = marks(&kept.dir, &["manager", "n0", "n1"]);
    stop(pids[1]);
    let ended = kept.keeper.stop();
    assert_eq!(ended.killed, ["n0"]);
    nothing_left(&scratch, &pids);
}

/// Waits until the keeper's log says so.
fn await_log(kept: &Kept, words: &str) {
    until("the log's word", || {
        let log = std::fs::read_to_string(kept.keeper.directory().log()).ok()?;
        log.contains(words).then_some(())
    });
}

#[test]
fn a_stopped_strober_makes_place_for_another() {
    let scratch = Scratch::new("strober");
    let kept = keep(&scratch, 1);
    let pids = marks(&kept.dir, &["strober", "manager", "n0"]);
    stop(pids[0]);
    let another = marked(&kept.dir, "strober.up", Some(pids[0]));
    assert_eq!(kept.keeper.stop(), Ended::default());
    nothing_left(&scratch, &[pids, vec![another]].concat());
}

#[test]
fn a_node_that_dies_again_and_again_is_given_up_alone() {
    let scratch = Scratch::new("giveup");
    let kept = keep(&scratch, 2);
    let pids = marks(&kept.dir, &["manager", "n0", "n1"]);
    std::fs::write(kept.dir.join("n0.bad"), "").expect("written");
    kill_process(pids[1], Signal::KILL).expect("alive");
    await_log(&kept, "n0 died 10 times within 10 s: given up\n");
    assert!(is_alive(pids[0]) && is_alive(pids[2]));
    let said = kept.said.lock().expect("no panic").clone();
    assert_eq!(said.last().map(String::as_str), Some("lost n0 its daemon ended with status 3"));
    kept.keeper.stop();
    nothing_left(&scratch, &pids);
}

#[test]
fn a_manager_that_has_served_is_tried_again_whatever_keeps_it_from_starting() {
    let scratch = Scratch::new("served");
    let kept = keep(&scratch, 2);
    let pids = marks(&kept.dir, &["manager", "n0", "n1"]);
    std::thread::sleep(std::time::Duration::from_millis(10_500));
    std::fs::write(kept.dir.join("manager.bad"), "").expect("written");
    kill_process(pids[0], Signal::KILL).expect("alive");
    await_log(&kept, "manager died 10 times within 10 s: tried again later\n");
    assert!(is_alive(pids[1]) && is_alive(pids[2]));
    std::fs::remove_file(kept.dir.join("manager.bad")).expect("it was there");
    let manager = until("a manager that lives", || {
        let pid = std::fs::read_to_string(kept.dir.join("manager.up")).ok()?.parse().ok()?;
        Pid::from_raw(pid).filter(|pid| is_alive(*pid))
    });
    kept.keeper.stop();
    nothing_left(&scratch, &[manager, pids[1], pids[2]]);
}

struct Apart(std::process::Child);

impl Apart {
    fn start(scratch: &Scratch) -> Apart {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &myself("acts_as_a_keeper_when_asked")]);
        command.env(KEEPER, scratch.path().join("r")).stdout(Stdio::null()).stderr(Stdio::null());
        Apart(command.spawn().expect("a shell"))
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nothing_outlives_a_killed_keeper() {
    let scratch = Scratch::new("kill9");
    let apart = Apart::start(&scratch);
    let dir = scratch.path().join("r/x");
    let pids = marks(&dir, &["manager", "n0", "n1", "n2"]);
    kill_process(apart.pid(), Signal::KILL).expect("alive");
    nothing_left(&scratch, &pids);
}

#[test]
fn down_ends_a_cluster_whatever_is_stopped_or_dead() {
    let scratch = Scratch::new("down");
    let runtime = Runtime::at(scratch.path().join("r"));
    assert_eq!(down(&runtime, "x").expect("none"), None);
    let dir = scratch.path().join("r/x");
    for stopped in ["", "n1", "manager"] {
        let apart = Apart::start(&scratch);
        let names = ["manager", "n0", "n1", "n2"];
        let pids = marks(&dir, &names);
        if let Some(at) = names.iter().position(|name| *name == stopped) {
            stop(pids[at]);
        }
        let downed = down(&runtime, "x").expect("down").expect("there was one");
        assert!(downed.was_up);
        assert_eq!(downed.nodes, ["n0", "n1", "n2"]);
        // The kernel may have been faster: it hangs up on stopped orphans.
        assert!(downed.killed.iter().all(|name| name == stopped), "{downed:?}");
        drop(apart);
        nothing_left(&scratch, &pids);
    }
}

#[test]
fn down_ends_a_stopped_keeper_and_what_a_crash_has_left() {
    let scratch = Scratch::new("crash");
    let runtime = Runtime::at(scratch.path().join("r"));
    let dir = scratch.path().join("r/x");
    let apart = Apart::start(&scratch);
    let pids = marks(&dir, &["manager", "n0", "n1", "n2"]);
    stop(pids[1]);
    stop(apart.pid());
    let downed = down(&runtime, "x").expect("down").expect("there was one");
    assert_eq!(downed.killed.first().map(String::as_str), Some("keeper"));
    drop(apart);
    nothing_left(&scratch, &pids);
    // What a stopped daemon and its killed keeper leave behind is no obstacle to the next.
    let apart = Apart::start(&scratch);
    let pids = marks(&dir, &["manager", "n0", "n1", "n2"]);
    stop(pids[3]);
    drop(apart);
    let kept = keep(&scratch, 1);
    until("its end", || (!is_alive(pids[3])).then_some(()));
    let pids = marks(&kept.dir, &["manager", "n0"]);
    kept.keeper.stop();
    nothing_left(&scratch, &pids);
}

#[test]
fn daemons_whose_keeper_was_killed_before_it_noted_them_are_waited_for() {
    let scratch = Scratch::new("unnoted");
    let runtime = Runtime::at(scratch.path().join("r"));
    let directory = runtime.make("x").expect("made").expect("new");
    let starting = Presence::enter(&directory).expect("it is there");
    let leaves = std::thread::spawn(move || {
        std::thread::sleep(KILLED + Duration::from_millis(500));
        drop(starting);
    });
    assert_eq!(down(&runtime, "x").expect("down").map(|downed| downed.was_ending), Some(true));
    leaves.join().expect("no panic");
    assert!(!directory.is_linked());
}

#[test]
fn what_a_crash_has_left_of_clusters_with_names_of_their_own_goes_with_the_next_one() {
    let scratch = Scratch::new("crashed");
    let runtime = Runtime::at(scratch.path().join("r"));
    let make = |name| {
        let directory = runtime.make(name).expect("it can be made").expect("it is new");
        std::fs::write(directory.log(), "its last words").expect("written");
        directory
    };
    let age = |directory: &Directory| {
        let opened = File::open(directory.path()).expect("it is there");
        opened.set_modified(SystemTime::now() - Duration::from_secs(90)).expect("it is ours");
    };
    let [dead, lives, begins, other] = ["run-1", "run-2", "run-3", "lab"].map(make);
    let presence = Presence::enter(&lives).expect("it is there");
    [&dead, &lives, &other].into_iter().for_each(age);
    // A child that another test has just forked holds what is locked here until it executes.
    until("the dead one is cleared", || {
        clear_dead(&runtime, "run-");
        (!dead.is_linked()).then_some(())
    });
    assert_eq!(runtime.clusters().expect("they are safe"), ["lab", "run-2", "run-3"]);
    assert!(begins.is_linked(), "somebody may be about to enter it");
    presence.leave(&lives).expect("left");
}
