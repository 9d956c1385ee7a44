//! A session with a host: the program that reaches it, and the words that it carries.

use super::list::Host;
use super::{MARK, Reply, Way};
use crate::keeper;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longest word, and longest line of what a program complains; what is longer is cut.
const LINE_MAX: u64 = 1 << 20;

/// Lines that are kept of what a program complains, and of what a login says.
const KEPT: usize = 4;

/// Words that wait to be heard. A host says one after the other is answered; who says more without
/// being asked is not listened to.
const WORDS: usize = 16;

/// So many bytes are sent before they are counted.
const PART: u64 = 64 << 10;

/// How long a program that has said its last may take to end.
const ENDING: Duration = Duration::from_secs(2);

/// Between two looks at whether it has.
const LOOK: Duration = Duration::from_millis(10);

/// A program that reaches a host, and the threads that move its bytes.
#[derive(Debug)]
pub struct Session {
    /// The host, as people name it.
    pub host: String,
    /// Names of its nodes.
    pub nodes: Vec<String>,
    child: Child,
    pidfd: OwnedFd,
    /// What it is to be sent. Its end is the end of the session's input.
    send: Option<Sender<Bytes>>,
    /// How many bytes of that the program has taken.
    taken: Arc<AtomicU64>,
    /// The host has begun its part, which it has to end before it leaves.
    has_answered: bool,
    /// When it is killed if it has not ended, once it was hung up.
    due: Option<Instant>,
    words: Receiver<String>,
    unasked: Arc<Mutex<Unasked>>,
}

/// The last lines of what is said beside words.
#[derive(Debug, Default)]
struct Unasked {
    /// On standard error.
    complaints: VecDeque<String>,
    /// Before the first word: an account that may not log in says so there.
    greeting: VecDeque<String>,
}

impl Unasked {
    /// Keeps a line, which is shown on a terminal some time.
    fn keep(lines: &mut VecDeque<String>, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(printable(line.trim()));
    }
}

fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// The sessions that a bring-up has begun, for whoever gives it up.
#[derive(Debug, Default)]
pub struct Calls {
    state: Mutex<(bool, Vec<OwnedFd>)>,
}

impl Calls {
    /// Ends them all, and those that are yet to begin: whoever waits for a word hears their end.
    pub fn give_up(&self) {
        let mut state = self.state.lock().expect("nobody panics with it");
        state.0 = true;
        for pidfd in state.1.drain(..) {
            // It may have ended.
            let _ = pidfd_send_signal(pidfd, Signal::TERM);
        }
    }

    /// All hosts are up: their sessions are the keeper's, which has them end in order.
    ///
    /// # Errors
    /// When all was given up.
    pub fn done(&self) -> io::Result<()> {
        let mut state = self.state.lock().expect("nobody panics with it");
        if state.0 {
            return Err(io::Error::other("the bring-up was given up"));
        }
        state.1.clear();
        Ok(())
    }

    fn add(&self, pidfd: OwnedFd) -> io::Result<()> {
        let mut state = self.state.lock().expect("nobody panics with it");
        if state.0 {
            return Err(io::Error::other("the bring-up was given up"));
        }
        state.1.push(pidfd);
        Ok(())
    }
}

/// What is sent.
enum Bytes {
    These(Vec<u8>),
    Of(Box<dyn Read + Send>),
}

impl Session {
    /// Calls a host: runs `command` there, for `sh`.
    ///
    /// # Errors
    /// When the program that reaches it cannot be started, or all was given up.
    pub fn call(
        host: &Host,
        nodes: &[String],
        way: &Way,
        command: &str,
        calls: &Calls,
    ) -> io::Result<Session> {
        let mut caller = caller(host, way, command);
        // A group of its own: the terminal's Ctrl-C is not for it.
        caller.process_group(0);
        caller.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = caller.get_program().to_string_lossy().into_owned();
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{program}: {error}"));
        let mut child = caller.spawn().map_err(named)?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let pidfd = pidfd.map_err(io::Error::from);
        let pidfd = pidfd.and_then(|pidfd| calls.add(pidfd.try_clone()?).map(|()| pidfd));
        let pidfd = pidfd.inspect_err(|_| _ = child.kill().and_then(|()| child.wait()))?;
        let (send, sent) = channel();
        let (said, words) = sync_channel(WORDS);
        let taken = Arc::new(AtomicU64::new(0));
        let counted = taken.clone();
        let unasked = Arc::new(Mutex::new(Unasked::default()));
        let [mut stdin, stdout, stderr] = [
            File::from(OwnedFd::from(child.stdin.take().expect("it is piped"))),
            File::from(OwnedFd::from(child.stdout.take().expect("it is piped"))),
            File::from(OwnedFd::from(child.stderr.take().expect("it is piped"))),
        ];
        let (greeted, heard) = (unasked.clone(), unasked.clone());
        let writes = spawn("to host", move || write_all(&mut stdin, &sent, &counted));
        let reads = spawn("from host", move || {
            let mut has_begun = false;
            lines(stdout, |line| {
                let mut kept = greeted.lock().expect("nobody panics with it");
                if let Some(word) = line.strip_prefix(MARK) {
                    (has_begun, kept.greeting) = (true, VecDeque::new());
                    // Nobody listens once the host has started.
                    let _ = said.try_send(word.to_owned());
                } else if !has_begun {
                    Unasked::keep(&mut kept.greeting, line);
                }
            });
        });
        let hears = spawn("of host", move || {
            lines(stderr, |line| {
                let mut kept = heard.lock().expect("nobody panics with it");
                Unasked::keep(&mut kept.complaints, line);
            });
        });
        let threads = writes.and(reads).and(hears);
        threads.inspect_err(|_| _ = child.kill().and_then(|()| child.wait()))?;
        let (host, nodes) = (host.name.clone(), nodes.to_vec());
        let (send, has_answered, due) = (Some(send), false, None);
        Ok(Session { host, nodes, child, pidfd, send, taken, has_answered, due, words, unasked })
    }

    /// Says a word.
    pub fn say(&self, word: &impl Serialize) {
        let mut line = serde_json::to_vec(word).expect("words are plain");
        line.push(b'\n');
        self.queue(Bytes::These(line));
    }

    /// Sends a line that tells that files come, and the files.
    pub fn send_files(&self, files: Vec<Box<dyn Read + Send>>) {
        self.queue(Bytes::These(b"go\n".to_vec()));
        files.into_iter().for_each(|file| self.queue(Bytes::Of(file)));
    }

    fn queue(&self, bytes: Bytes) {
        if let Some(send) = &self.send {
            // It fails when the program takes nothing more; that it ends is seen elsewhere.
            let _ = send.send(bytes);
        }
    }

    /// Waits for the host's next word. As long as it takes what it is sent it may be silent.
    ///
    /// # Errors
    /// What became of it instead, in words; `doing` is what it was to do.
    pub fn hear(&mut self, doing: &str, patience: Duration) -> Result<String, String> {
        let taken = || self.taken.load(Ordering::Relaxed);
        let word = await_word(&self.words, patience, taken);
        self.has_answered |= word.is_ok();
        word.map_err(|silence| match silence {
            RecvTimeoutError::Timeout => {
                let s = patience.as_secs();
                format!("{doing}: nothing was heard from it for {s} s{}", self.last_words())
            }
            RecvTimeoutError::Disconnected => format!("{doing}: {}", self.ending()),
        })
    }

    /// Waits for an answer.
    ///
    /// # Errors
    /// As [`Session::hear`].
    pub fn answer<T: DeserializeOwned>(
        &mut self,
        doing: &str,
        patience: Duration,
    ) -> Result<T, String> {
        let word = self.hear(doing, patience)?;
        match serde_json::from_str(&word) {
            Ok(Reply::Done(answer)) => Ok(answer),
            Ok(Reply::Failed(why)) => Err(format!("{doing}: {}", printable(&why))),
            Err(_) => Err(format!("{doing}: it said something else: {word:?}")),
        }
    }

    /// How the program has ended, in its own words where it had some.
    pub fn ending(&mut self) -> String {
        let deadline = Instant::now() + ENDING;
        // The threads that listen hold what they hear as well, until they have heard all.
        let is_talking = |all: &Arc<_>| Arc::strong_count(all) > 1;
        while (matches!(self.child.try_wait(), Ok(None)) || is_talking(&self.unasked))
            && Instant::now() < deadline
        {
            std::thread::sleep(LOOK);
        }
        match (self.complaint(), self.child.try_wait()) {
            (Some(words), _) => words,
            (None, Ok(Some(status))) => format!("the session ended ({status}) without a word"),
            (None, _) => "the session was closed".to_owned(),
        }
    }

    /// What it complained about last, and what was said in place of a first word.
    fn complaint(&self) -> Option<String> {
        let kept = self.unasked.lock().expect("nobody panics with it");
        let said: Vec<&str> =
            kept.complaints.iter().chain(&kept.greeting).map(String::as_str).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    fn last_words(&self) -> String {
        self.complaint().map_or(String::new(), |said| format!(" ({said})"))
    }

    /// The host without the user.
    pub fn short(&self) -> &str {
        self.host.rsplit_once('@').map_or(&self.host, |(_, host)| host)
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// A descriptor that is readable when the program has ended.
    pub fn pidfd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    /// Whether the program has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends its input, so that the host looks whether there is still a cluster. From now on the
    /// program has a while to end, and the host for its daemons before: who has several hang up
    /// before they are dropped waits once.
    pub fn hang_up(&mut self) {
        self.send = None;
        let leaving = if self.has_answered { keeper::PATIENCE } else { Duration::ZERO };
        self.due.get_or_insert_with(|| Instant::now() + leaving + ENDING);
    }
}

impl AsMut<Session> for Session {
    fn as_mut(&mut self) -> &mut Session {
        self
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The host leaves when its input ends, and the program ends with it.
        self.hang_up();
        while !self.has_ended() && self.due.is_some_and(|due| Instant::now() < due) {
            std::thread::sleep(LOOK);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program that reaches a host and runs a command for `sh` there.
fn caller(host: &Host, way: &Way, command: &str) -> Command {
    let words = match way {
        Way::Slurm => {
            let mut srun = Command::new("srun");
            // A step beside others, on one node, with all that the job has there.
            srun.args(["--overlap", "--nodes=1", "--ntasks=1", "--mem=0", "--cpu-bind=none"]);
            srun.args(["--mpi=none", "--unbuffered", "--input=0"]);
            srun.arg(format!("--nodelist={}", host.name)).args(["sh", "-c", command]);
            let names = std::env::vars_os().map(|(name, _)| name);
            names.filter(|name| is_option_of_srun(name)).for_each(|name| _ = srun.env_remove(name));
            return srun;
        }
        Way::Ssh(words) => words,
    };
    let mut ssh = match words.as_deref() {
        Some([program, rest @ ..]) => {
            let mut own = Command::new(program);
            own.args(rest);
            own
        }
        _ => {
            let mut ssh = Command::new("ssh");
            OPTIONS.iter().for_each(|option| _ = ssh.args(["-o", option]));
            ssh.args(["-T", "-x", "-a"]);
            ssh
        }
    };
    if let Some(port) = host.port {
        ssh.args(["-p", &port.to_string()]);
    }
    // The other side gives it to the user's login shell, whatever that is.
    ssh.arg(&host.name).arg(format!("exec /bin/sh -c '{command}'"));
    ssh
}

/// What ssh is told whatever the user's configuration says. Nobody is there to be asked, and a way
/// that is gone is to be noticed. For as long as the cluster is up the session carries the bytes of
/// a command and nothing else: no agent, no ports, and no other sessions, which would end with it.
/// It goes through a master that is there: some hosts ask for a password that holds once.
const OPTIONS: [&str; 6] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    "ClearAllForwardings=yes",
    "ControlMaster=no",
    "PermitLocalCommand=no",
];

/// What srun is still to know of the allocation that it is called in.
const OF_ALLOCATION: [&str; 6] = [
    "SLURM_CLUSTERS",
    "SLURM_CLUSTER_NAME",
    "SLURM_CONF",
    "SLURM_JOBID",
    "SLURM_JOB_ID",
    "SLURM_JWT",
];

/// Whether a variable may be an option for srun, as those are by which the allocation was made: by
/// `-c 4` a host's ranks would have four processors, by others srun refuses or labels each line.
fn is_option_of_srun(name: &OsStr) -> bool {
    let begins = |with: &str| name.as_encoded_bytes().starts_with(with.as_bytes());
    (begins("SLURM_") || begins("SRUN_")) && !OF_ALLOCATION.iter().any(|kept| name == *kept)
}

pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.into()).spawn(work).map(drop)
}

/// Waits for a word, or until nothing has been taken for so long.
fn await_word(
    words: &Receiver<String>,
    patience: Duration,
    mut taken: impl FnMut() -> u64,
) -> Result<String, RecvTimeoutError> {
    let mut before = taken();
    loop {
        let heard = words.recv_timeout(patience);
        let now = taken();
        if heard != Err(RecvTimeoutError::Timeout) || now == before {
            return heard;
        }
        before = now;
    }
}

/// Sends what is queued, until nobody will queue more or the program takes nothing more.
fn write_all(to: &mut File, queued: &Receiver<Bytes>, taken: &AtomicU64) {
    let mut send = |from: &mut dyn Read| -> io::Result<()> {
        loop {
            match io::copy(&mut from.take(PART), to)? {
                0 => return Ok(()),
                count => taken.fetch_add(count, Ordering::Relaxed),
            };
        }
    };
    for bytes in queued {
        let sent = match bytes {
            Bytes::These(bytes) => send(&mut &bytes[..]),
            Bytes::Of(mut file) => send(&mut file),
        };
        if sent.is_err() {
            return;
        }
    }
}

/// Reads lines until the end.
fn lines(from: File, mut take: impl FnMut(&str)) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while let Ok(1..) = from.by_ref().take(LINE_MAX).read_until(b'\n', &mut line) {
        take(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// A host that is this machine: `--ssh` with a shell that takes the command as it is.
    fn call(command: &str) -> Session {
        let words = ["sh", "-c", "eval \"$1\"", "ssh-to"].map(String::from).to_vec();
        let host = Host { name: "here".into(), port: None, nodes: 1 };
        // $0 is `ssh-to`, $1 the host: the command comes second.
        let words = words.into_iter().map(|word| word.replace("$1", "$2")).collect();
        let (way, calls) = (Way::Ssh(Some(words)), Calls::default());
        Session::call(&host, &["n0".into()], &way, command, &calls).expect("called")
    }

    #[test]
    fn a_session_carries_a_command_and_nothing_of_what_users_have_ssh_carry() {
        let home = Scratch::new("session-ssh");
        let wishes = "ForwardAgent yes\nForwardX11 yes\nLocalForward 8888 localhost:8888\n\
                      RemoteForward 9999 localhost:9999\nDynamicForward 1080\n\
                      ControlMaster auto\nPermitLocalCommand yes\nRequestTTY force\n";
        let config = home.file("config", wishes.as_bytes());
        let host = Host { name: "here".into(), port: Some(2222), nodes: 1 };
        let own = caller(&host, &Way::Ssh(None), "true");
        // It prints what it would do.
        let mut asked = Command::new("ssh");
        let asked = asked.arg("-G").arg("-F").arg(config).args(own.get_args()).output();
        let asked = asked.expect("ssh is there (Debian: openssh-client)");
        let said = String::from_utf8(asked.stdout).expect("text");
        let has = |line: &str| said.lines().any(|own| own == line);
        for line in ["port 2222", "forwardagent no", "forwardx11 no", "controlmaster false"] {
            assert!(has(line), "{line}: {said}");
        }
        assert!(has("permitlocalcommand no") && has("clearallforwardings yes"), "{said}");
        assert!(!said.contains("8888") && !said.contains("9999"), "{said}");
    }

    #[test]
    fn srun_is_told_which_allocation_and_nothing_of_how_it_was_made() {
        let is_kept = |name: &&str| !is_option_of_srun(OsStr::new(name));
        let names = "PATH SLURM_JOB_ID SLURM_CPUS_PER_TASK SRUN_CPUS_PER_TASK SLURM_TRES_PER_TASK \
                     SLURM_CONF SLURM_EXACT SLURM_LABELIO MY_SLURM_DIR SLURM_CONF_SERVER";
        let kept: Vec<&str> = names.split(' ').filter(is_kept).collect();
        assert_eq!(kept, ["PATH", "SLURM_JOB_ID", "SLURM_CONF", "MY_SLURM_DIR"]);
    }

    #[test]
    fn who_gives_up_waits_for_no_host() {
        let (calls, ssh) = (Calls::default(), |script: &str| {
            Way::Ssh(Some(["sh", "-c", script].map(String::from).to_vec()))
        });
        let host = Host { name: "here".into(), port: None, nodes: 1 };
        let call = || Session::call(&host, &["n0".into()], &ssh("exec sleep 1000"), "", &calls);
        let mut session = call().expect("called");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| session.hear("reaching it", 100 * PATIENCE));
            calls.give_up();
            waiting.join().expect("it does not panic").expect_err("it was ended");
        });
        let said = call().expect_err("nobody is called any more").to_string();
        assert!(said.contains("given up"), "{said}");
    }

    #[test]
    fn words_are_heard_among_what_a_login_says() {
        let mut session =
            call("echo Welcome; echo \"muster1 {\\\"Done\\\":[1,2]}\"; cat >/dev/null");
        assert_eq!(session.answer::<Vec<u32>>("adding", PATIENCE), Ok(vec![1, 2]));
        session.hang_up();
        let said = session.hear("leaving", PATIENCE).expect_err("it has ended");
        assert!(said.starts_with("leaving: "), "{said}");
    }

    #[test]
    fn who_fails_is_told_in_its_own_words() {
        let mut session = call("echo \"no such road\" >&2; exit 255");
        let said = session.hear("reaching it", PATIENCE).expect_err("it has failed");
        assert_eq!(said, "reaching it: no such road");
        // As nologin does, behind a banner that a terminal would obey.
        let command =
            "printf \"\\033[2JNo entry\\n\" >&2; echo \"This account is closed.\"; exit 1";
        let said = call(command).hear("reaching it", PATIENCE).expect_err("it has failed");
        assert_eq!(said, "reaching it: [2JNo entry; This account is closed.");
        let mut session = call("echo \"muster1 {\\\"Failed\\\":\\\"full\\\"}\"; cat >/dev/null");
        let said = session.answer::<u32>("starting", PATIENCE).expect_err("it has failed");
        assert_eq!(said, "starting: full");
    }

    #[test]
    fn who_says_nothing_is_not_waited_for_forever() {
        let mut session = call("cat >/dev/null");
        let said = session.hear("reaching it", Duration::from_millis(50)).expect_err("silence");
        assert!(said.contains("nothing was heard"), "{said}");
    }

    /// Ten hosts that got the program over a slow line were all given up in the middle of it.
    #[test]
    fn who_takes_what_it_is_sent_is_waited_for() {
        let (say, words) = channel();
        let (mut asked, patience) = (0, Duration::from_millis(1));
        let taken = || {
            asked += 1;
            if asked == 5 {
                say.send("has it".to_owned()).expect("it is heard");
            }
            asked
        };
        assert_eq!(await_word(&words, patience, taken).as_deref(), Ok("has it"));
        assert_eq!(await_word(&words, patience, || 5), Err(RecvTimeoutError::Timeout));
    }

    #[test]
    fn all_that_is_sent_is_counted() {
        let home = Scratch::new("session-sent");
        let file = home.file("long", &[b'x'; 200_000]);
        let (send, sent) = channel();
        send.send(Bytes::These(b"go\n".to_vec())).expect("it is taken");
        send.send(Bytes::Of(Box::new(File::open(file).expect("it is there"))))
            .expect("it is taken");
        drop(send);
        let mut to = File::create(home.join("to")).expect("made");
        let taken = AtomicU64::new(0);
        write_all(&mut to, &sent, &taken);
        assert_eq!(taken.into_inner(), 200_003);
        assert_eq!(std::fs::metadata(home.join("to")).expect("it is there").len(), 200_003);
    }

    /// Once each was waited for in turn, and a cluster of thirty lost hosts took a minute to end.
    #[test]
    fn those_that_do_not_end_are_waited_for_all_at_once() {
        let mut sessions: Vec<Session> = (0..8).map(|_| call("exec sleep 1000")).collect();
        let pids: Vec<Pid> = sessions.iter().map(Session::pid).collect();
        sessions.iter_mut().for_each(Session::hang_up);
        drop(sessions.pop());
        // As it happens to each when it is dropped.
        sessions.iter_mut().for_each(Session::hang_up);
        let now = Instant::now();
        assert!(sessions.iter().all(|one| one.due.is_some_and(|due| due <= now)));
        drop(sessions);
        let is_there = |pid: &Pid| rustix::process::test_kill_process(*pid).is_ok();
        assert!(!pids.iter().any(is_there));
    }
}
