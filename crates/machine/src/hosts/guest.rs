//! The host's side: keeps its part of a cluster, for as long as there is one.

use super::session::spawn;
use super::{
    Answer, Ask, MARK, Offer, PREFIX, Ports, Reply, Start, Started, Way, address_towards, sys,
};
use crate::keeper::{self, Keeper, Plan, Runtime, by_file};
use crate::line;
use crate::roster::{self, MANAGER, Roster};
use muster_fabric::Address;
use muster_fabric::transport::socket::Identity;
use muster_ninep::client::Options;
use muster_ninep::error::{Errno, Result as Done};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How long a host keeps its part while it cannot reach the manager.
pub const SILENCE: Duration = Duration::from_secs(60);

/// How long the manager may refuse connections when the session has ended too: one that is started
/// again, even if it died thrice in a row, is there sooner.
const REFUSED: Duration = Duration::from_millis(1500);

/// How long the head may take to say what it wants of a host that it has called.
const ASK: Duration = Duration::from_secs(30);

/// Between two attempts to reach the manager.
const PAUSE: Duration = Duration::from_millis(50);

/// How long one attempt may take.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Runs a host's part: what to do is read from standard input, what has come of it is said on
/// standard output.
///
/// # Errors
/// When nobody is there to be told what is wrong.
pub fn run() -> io::Result<()> {
    // Out of the session of whatever login this is.
    let _ = rustix::process::setsid();
    // Before there is a thread: all that come after block them as well.
    let life = Life::begin(sys::terminations()?)?;
    std::env::set_current_dir("/")?;
    match bring_up(&life) {
        Ok((keeper, manager)) => {
            say(&Reply::Done(Started {}))?;
            life.hold(manager)?;
            let ended = keeper.stop();
            ended.trouble.iter().for_each(|trouble| _ = writeln!(io::stderr(), "{trouble}"));
            Ok(())
        }
        Err(error) => say(&Reply::<()>::Failed(error.to_string())),
    }
}

fn say(word: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(word)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{MARK}{text}")?;
    out.flush()
}

/// What can happen to a host's part from outside.
enum Event {
    /// The head has said a line.
    Word(String),
    /// The session has ended.
    HungUp,
    /// A signal: it is to end.
    Terminated,
    /// The manager is gone.
    Abandoned,
}

/// The threads that wait for that.
struct Life {
    tell: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
    has_hung_up: Arc<AtomicBool>,
    /// The manager was reached once.
    has_reached: Arc<AtomicBool>,
}

impl Life {
    fn begin(terminations: File) -> io::Result<Life> {
        let (tell, events) = mpsc::channel();
        let has_hung_up = Arc::new(AtomicBool::new(false));
        let (words, terminated, told) = (tell.clone(), tell.clone(), has_hung_up.clone());
        // What is told when nobody listens any more comes too late to matter.
        spawn("session", move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                let _ = words.send(Event::Word(line));
            }
            told.store(true, Ordering::Release);
            let _ = words.send(Event::HungUp);
        })?;
        spawn("terminations", move || {
            let _ = (&terminations).read(&mut [0; 128]);
            let _ = terminated.send(Event::Terminated);
        })?;
        Ok(Life { tell, events, has_hung_up, has_reached: Arc::default() })
    }

    /// What the head says next.
    fn heard<T: DeserializeOwned>(&self, what: &str, patience: Duration) -> io::Result<T> {
        match self.events.recv_timeout(patience) {
            Ok(Event::Word(line)) => Ok(serde_json::from_str(&line)?),
            Ok(Event::Terminated) => Err(io::Error::other("it was told by a signal to end")),
            Ok(_) => Err(io::Error::other("the session ended before all was said")),
            Err(_) => {
                let s = patience.as_secs();
                Err(io::Error::other(format!("it has waited {s} s for the head to {what}")))
            }
        }
    }

    /// Returns when there is no cluster any more, or when this host's part is told to end.
    fn hold(self, manager: Address) -> io::Result<()> {
        let Life { tell, events, has_hung_up, has_reached } = self;
        let reached = has_reached.clone();
        spawn("manager", move || {
            stay_while(&manager, &has_hung_up, &reached);
            let _ = tell.send(Event::Abandoned);
        })?;
        for event in events {
            match event {
                Event::Terminated | Event::Abandoned => break,
                // The head has given up before this host has come to its manager.
                Event::HungUp if !has_reached.load(Ordering::Acquire) => break,
                // The manager says whether there is a cluster; and no more words are expected.
                Event::HungUp | Event::Word(_) => {}
            }
        }
        Ok(())
    }
}

/// Answers what the head asks, and starts the nodes.
fn bring_up(life: &Life) -> io::Result<(Keeper, Address)> {
    let ask: Ask = life.heard("say what it wants", ASK)?;
    let runtime = Runtime::from_env();
    keeper::clear_dead(&runtime, PREFIX);
    let manager = manager_of(&ask)?;
    let address = address_towards(manager)?;
    let mut keys = Vec::new();
    let mut ports = Vec::new();
    let mut nodes = Vec::new();
    for _ in &ask.nodes {
        let identity = Identity::generate().map_err(io::Error::other)?;
        let kept = Ports::keep(address.is_ipv6())?;
        let key = identity.public_key().to_string();
        nodes.push(Offer { key, line: kept.line, shell: kept.shell });
        keys.push(identity);
        ports.push(kept);
    }
    say(&Reply::Done(Answer { address, manager, nodes }))?;
    let patience = Duration::from_secs(ask.wait_s);
    let start: Start = life.heard("hear from all hosts", patience)?;
    let entries = start.roster.iter().map(|line| line.parse()).collect::<io::Result<Vec<_>>>()?;
    let names = ask.nodes.clone();
    let prepare = move |directory: &Path| {
        roster::write(directory, &entries, start.multicast)?;
        let files = names.iter().map(|name| roster::key_file(directory, name));
        let stored = files.zip(&keys).try_for_each(|(file, key)| key.store(&file));
        stored.map_err(io::Error::other)
    };
    let plan = Plan {
        has_manager: false,
        nodes: ask.nodes.clone(),
        prepare: Some(Box::new(prepare)),
        ports,
        ..Plan::new(0, by_file())
    };
    let keeper = Keeper::start(&runtime, &ask.cluster, plan).map_err(io::Error::other)?;
    // The keeper speaks with the key of its first node.
    let roster = Roster::of(keeper.directory())?;
    roster.enter_node(&ask.nodes[0])?;
    let manager = roster.line(MANAGER);
    Ok((keeper, manager.ok_or_else(|| io::Error::other("the roster has no manager"))?))
}

/// The manager's address, as this host reaches it: where the session comes from, if nobody says.
fn manager_of(ask: &Ask) -> io::Result<IpAddr> {
    let name = match ask.way {
        Way::Ssh(_) => "SSH_CONNECTION",
        Way::Slurm => "SLURM_LAUNCH_NODE_IPADDR",
    };
    let said = std::env::var(name).unwrap_or_default();
    let from = said.split_whitespace().next().unwrap_or_default();
    manager_at(ask, name, from).map_err(io::Error::other)
}

/// The same, where that variable has that address.
fn manager_at(ask: &Ask, name: &str, from: &str) -> Result<IpAddr, String> {
    ask.manager.or(from.parse().ok()).or(ask.hint).ok_or_else(|| {
        let why = match from {
            "" => format!("{name} is not set here"),
            // It says on which interface, and daemons are not told that.
            link if link.contains('%') => format!("it was called from {link}, of one link alone"),
            other => format!("{name} has no address here but {other:?}"),
        };
        format!("{why}; give the head's address: --address ADDRESS")
    })
}

/// Returns when the manager has not been reached for long, or when it refuses and the session has
/// ended as well.
fn stay_while(manager: &Address, hung_up: &AtomicBool, reached: &AtomicBool) {
    let mut lost = Instant::now();
    // Since when each attempt was refused.
    let mut refused: Option<Instant> = None;
    loop {
        match stay(manager, reached) {
            Ok(()) => (lost, refused) = (Instant::now(), None),
            Err(error) if error.errno == Errno::CONNREFUSED => {
                refused.get_or_insert_with(Instant::now);
            }
            Err(_) => refused = None,
        }
        let is_refused = refused.is_some_and(|since| since.elapsed() > REFUSED);
        if lost.elapsed() > SILENCE || is_refused && hung_up.load(Ordering::Acquire) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Connects to the manager, and returns when the connection has ended.
fn stay(manager: &Address, reached: &AtomicBool) -> Done<()> {
    let options = Options { deadline: Some(ATTEMPT), ..Options::default() };
    let client = line::connect("keeper", manager, options)?;
    reached.store(true, Ordering::Release);
    let (told, ended) = mpsc::channel::<()>();
    client.on_close(move |_| drop(told));
    // Nothing is sent: it ends with the connection.
    let _ = ended.recv();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::os::unix::net::UnixListener;

    #[test]
    fn who_was_called_from_an_address_of_one_link_asks_for_another_and_says_why() {
        let mut ask = Ask {
            cluster: "host-1".into(),
            nodes: Vec::new(),
            way: Way::Ssh(None),
            manager: None,
            hint: None,
            wait_s: 1,
        };
        let at = |ask: &Ask, from: &str| manager_at(ask, "SSH_CONNECTION", from);
        let known = |address: &str| address.parse::<IpAddr>().expect("an address");
        assert_eq!(at(&ask, "fd00::1"), Ok(known("fd00::1")));
        let said = at(&ask, "fe80::1%eth0").expect_err("it names an interface");
        assert!(said.starts_with("it was called from fe80::1%eth0") && said.contains("--address"));
        assert!(at(&ask, "").expect_err("nobody says").starts_with("SSH_CONNECTION is not set"));
        ask.hint = Some(known("10.0.0.1"));
        assert_eq!(at(&ask, ""), Ok(known("10.0.0.1")));
        ask.manager = Some(known("10.0.0.2"));
        assert_eq!(at(&ask, "fd00::1"), Ok(known("10.0.0.2")));
    }

    /// Behind a firewall a host once kept its part for a minute after `muster up` had said that
    /// nothing was left.
    #[test]
    fn who_has_never_reached_the_manager_leaves_when_the_head_hangs_up() {
        let scratch = Scratch::new("guest-unreached");
        let socket = scratch.join("manager.sock");
        // It takes connections, and says nothing.
        let silent = UnixListener::bind(&socket).unwrap();
        silent.set_nonblocking(true).unwrap();
        let (tell, events) = mpsc::channel();
        tell.send(Event::HungUp).unwrap();
        let (has_hung_up, has_reached) = (Arc::new(AtomicBool::new(true)), Arc::default());
        let life = Life { tell, events, has_hung_up, has_reached };
        life.hold(format!("unix!{}", socket.display()).parse().unwrap()).unwrap();
        let attempts = std::iter::from_fn(|| silent.accept().ok()).count();
        assert!(attempts <= 1, "it has tried {attempts} times");
    }
}
