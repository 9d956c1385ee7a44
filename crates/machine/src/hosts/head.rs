//! The head's side: calls all hosts, makes the roster of what they answer, keeps the manager.

use super::carry::Builds;
use super::list::Host;
use super::session::{Calls, Session, spawn};
use super::{Answer, Ask, PREFIX, Ports, Start, Started, Way, address_towards_host};
use crate::config::{self, Config};
use crate::descriptors;
use crate::keeper::{self, Keeper, Plan, Runtime, by_file, keep_descriptors};
use crate::roster::{self, Entry, MANAGER};
use muster_base::nodeset::fold;
use muster_fabric::protocol::NodeId;
use muster_fabric::transport::socket::{Identity, PublicKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Hosts that are called at the same time.
const AT_ONCE: usize = 32;

/// How long each phase may take; while the program goes to a host, how long it may take nothing.
const REACH: Duration = Duration::from_secs(30);
const CARRY: Duration = Duration::from_secs(60);
const ANSWER: Duration = Duration::from_secs(30);
const START: Duration = Duration::from_secs(30);

/// How long it is waited for an address of this machine that a host hardly ever needs.
const HINT: Duration = Duration::from_secs(2);

/// What a host reckons with that waits for others: all of those that are called at once get the
/// program, over a line that takes no more than half a megabyte in a second.
const CARRIED: Duration = Duration::from_secs(7200);

/// What is to be brought up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    /// Whom to call, in the order of the nodes.
    pub hosts: Vec<Host>,
    /// How.
    pub way: Way,
    /// Where hosts reach the manager, if the user says.
    pub address: Option<IpAddr>,
    /// Go on without hosts that cannot be brought up.
    pub tolerates: bool,
    /// Files go to all nodes at once, where they hear UDP multicast.
    pub multicasts: bool,
}

/// Why it was not brought up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's key.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// What is kept here.
    #[error(transparent)]
    Keeper(#[from] keeper::Error),
    /// The system has no ports or cannot read our own program.
    #[error("the cluster could not be prepared: {0}  [E125]")]
    System(#[from] io::Error),
    /// Some hosts.
    #[error(
        "{} of {of} hosts cannot be brought up, and nothing was left running: {}  [E201]",
        .failed.len(), .failed.join("; ")
    )]
    Hosts {
        /// Which, and why.
        failed: Vec<String>,
        /// How many there are.
        of: usize,
    },
}

/// A host that has answered.
struct Ready {
    session: Session,
    first: usize,
    answer: Answer,
}

impl AsMut<Session> for Ready {
    fn as_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// A host that is to be called: its nodes begin with that number.
type Call<'a> = (&'a Host, usize);

/// What is the same for all hosts.
struct Head<'a> {
    order: &'a Order,
    calls: &'a Calls,
    builds: Builds,
    identity: Identity,
    ports: Ports,
    /// How the cluster's parts are called.
    part: String,
}

/// Brings up a cluster; `say` is told each host that has started, each that is gone without, and
/// what is strange.
/// Whoever has it in hand may give it up by `calls`; `sources` are what this program was built of.
///
/// # Errors
/// [`Error`]; then nothing is left.
pub fn bring_up(
    runtime: &Runtime,
    name: &str,
    order: &Order,
    calls: &Calls,
    sources: &str,
    say: impl Fn(&str) + Sync,
) -> Result<Keeper, Error> {
    // What the caller has open is not the sessions'; these take four each, and the manager as many.
    keep_descriptors()?;
    descriptors::take_all()?;
    let identity = Config::from_env()?.identity()?;
    let is_ipv6 = order.address.is_some_and(|address| address.is_ipv6());
    let random = Identity::generate().map_err(io::Error::other)?.public_key().to_string();
    let random = &random[random.len() - 8..];
    let part = format!("{PREFIX}{random}");
    // Hosts come to the manager over either; where there is no IPv6, over the other.
    let ports = Ports::keep(true);
    let ports = if is_ipv6 { ports } else { ports.or_else(|_| Ports::keep(false)) };
    let (builds, ports) = (Builds::here(sources)?, ports?);
    let group = order.multicasts.then(|| group(random, ports.shell));
    let head = Head { order, calls, builds, identity, ports, part };
    let firsts = order.hosts.iter().scan(0, |next, host| {
        let first = *next;
        *next += host.nodes;
        Some(first)
    });
    let hosts: Vec<Call<'_>> = order.hosts.iter().zip(firsts).collect();
    let answered = at_once(hosts, |(host, first)| head.call(host, first));
    let ready = head.sift(answered, &say)?;
    head.misplaced(&ready).iter().for_each(|note| say(&format!("note {note}")));
    let rosters: Vec<Vec<Entry>> = ready.iter().map(|one| head.roster_for(one, &ready)).collect();
    let own = head.own_roster(&ready);
    let started = at_once(ready.into_iter().zip(rosters).collect(), |(ready, roster)| {
        let session = start(ready, &roster, group)?;
        say(&format!("up {}", fold(&session.nodes)));
        Ok(session)
    });
    let sessions = head.sift(started, &say)?;
    calls.done()?;
    let plan = Plan {
        sessions,
        lives_by_sessions: order.way == Way::Slurm,
        prepare: Some(Box::new(move |directory| roster::write(directory, &own, group))),
        ports: vec![head.ports],
        ..Plan::new(0, by_file())
    };
    Ok(Keeper::start(runtime, name, plan)?)
}

/// Does something with each, a few at the same time; results are in order.
fn at_once<T: Send, R: Send>(work: Vec<T>, each: impl Fn(T) -> R + Sync) -> Vec<R> {
    let count = work.len();
    let work: Vec<Mutex<Option<T>>> = work.into_iter().map(|one| Mutex::new(Some(one))).collect();
    let done: Vec<Mutex<Option<R>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..count.min(AT_ONCE) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let (Some(one), Some(done)) = (work.get(at), done.get(at)) else { return };
                    let one = one.lock().expect("nobody panics with it").take();
                    let result = each(one.expect("each is taken once"));
                    *done.lock().expect("nobody panics with it") = Some(result);
                }
            });
        }
    });
    let done = done.into_iter().map(|one| one.into_inner().expect("nobody panics with it"));
    done.map(|one| one.expect("each was done")).collect()
}

impl Head<'_> {
    /// The good ones, if that is enough.
    fn sift<T: AsMut<Session>>(
        &self,
        results: Vec<Result<T, String>>,
        say: &(impl Fn(&str) + Sync),
    ) -> Result<Vec<T>, Error> {
        let of = results.len();
        let (mut good, mut failed) = (Vec::new(), Vec::new());
        for result in results {
            match result {
                Ok(one) => good.push(one),
                Err(why) => failed.push(why),
            }
        }
        if failed.is_empty() || self.order.tolerates && !good.is_empty() {
            failed.iter().for_each(|why| say(&format!("missing {why}")));
            return Ok(good);
        }
        // All at once: then it takes no longer than one.
        good.iter_mut().for_each(|one| one.as_mut().hang_up());
        drop(good);
        Err(Error::Hosts { failed, of })
    }

    /// Calls a host and asks what others have to know of it.
    fn call(&self, host: &Host, first: usize) -> Result<Ready, String> {
        let nodes: Vec<String> =
            (first..first + host.nodes).map(|number| format!("n{number}")).collect();
        let of = |why: String| format!("{}: {why}", host.name);
        let (way, command) = (&self.order.way, self.builds.command());
        let call = || Session::call(host, &nodes, way, &command, self.calls);
        let hint = self.hint(host);
        let (mut session, word) = reach(call, pause).map_err(of)?;
        self.carry(&mut session, &word).map_err(of)?;
        session.say(&Ask {
            cluster: format!("{}-{}", self.part, nodes[0]),
            nodes: nodes.clone(),
            way: self.order.way.clone(),
            manager: self.order.address,
            hint: hint.recv_timeout(HINT).ok(),
            wait_s: self.longest().as_secs(),
        });
        let answer: Answer = session.answer("preparing", ANSWER).map_err(of)?;
        if answer.nodes.len() != nodes.len() {
            return Err(of("it offers another number of nodes than it was asked for".into()));
        }
        if answer.nodes.iter().any(|node| node.key.parse::<PublicKey>().is_err()) {
            return Err(of("it offers a key that is none".into()));
        }
        Ok(Ready { session, first, answer })
    }

    /// What is strange about where hosts take the manager to be. It may be right all the same,
    /// where addresses are translated; behind a jump host it never is.
    fn misplaced(&self, ready: &[Ready]) -> Vec<String> {
        let mut there: BTreeMap<IpAddr, Vec<String>> = BTreeMap::new();
        let said = self.order.address.is_some();
        for Ready { session, answer, .. } in ready.iter().filter(|_| !said) {
            there.entry(answer.manager).or_default().push(session.short().to_owned());
        }
        let strange = there.into_iter().filter(|(address, _)| !is_ours(*address));
        let note = |(address, hosts): (IpAddr, Vec<String>)| {
            let takes = if hosts.len() == 1 { "takes" } else { "take" };
            let hosts = fold(hosts);
            format!(
                "{hosts} {takes} this machine to be at {address}, which is none of its addresses \
                 (a jump host?): if the nodes do not join, give the right one with --address"
            )
        };
        strange.map(note).collect()
    }

    /// Begins to look up which address of this machine leads to a host, beside the call: names that
    /// only ssh knows may take a resolver long, and most hosts know where they were called from.
    fn hint(&self, host: &Host) -> Receiver<IpAddr> {
        let (found, hint) = channel();
        let host = host.short().to_owned();
        let look = move || {
            // Who has called meanwhile does without.
            address_towards_host(&host, 0).map(|own| found.send(own));
        };
        if self.order.address.is_none() {
            // Without a thread there is no hint.
            let _ = spawn("looks up a host", look);
        }
        hint
    }

    /// How long it may take until all hosts have answered.
    fn longest(&self) -> Duration {
        let turns = self.order.hosts.len().div_ceil(AT_ONCE);
        (REACH + CARRIED + ANSWER) * u32::try_from(turns).expect("limits keep it small")
    }

    /// Sees to it that the host runs this build, or that for its processor.
    fn carry(&self, session: &mut Session, word: &str) -> Result<(), String> {
        let (has, machine) = word.split_once(' ').unwrap_or((word, ""));
        match has {
            "has" => return Ok(()),
            "other" => return Err(self.builds.lack(machine)),
            _ => {}
        }
        session.send_files(self.builds.files(machine).map_err(|error| error.to_string())?);
        match session.hear("sending it the program", CARRY)?.split_once(' ') {
            Some(("has", _)) => Ok(()),
            Some(("broken", place)) => {
                let why = session.ending();
                let program = self.builds.program(machine);
                Err(format!("{program} cannot be kept in {place} and run: {why}"))
            }
            _ => Err("sending it the program: it said something else".to_owned()),
        }
    }

    /// The roster as one host reads it. A host that the manager's own machine is calls itself by a
    /// loopback address; elsewhere that is the manager's address.
    fn roster_for(&self, reader: &Ready, ready: &[Ready]) -> Vec<Entry> {
        let manager = reader.answer.manager;
        let seen = |address: IpAddr| if address.is_loopback() { manager } else { address };
        self.entries(manager, ready, seen)
    }

    /// The manager's own.
    fn own_roster(&self, ready: &[Ready]) -> Vec<Entry> {
        let own = own_address(ready.iter().map(|one| one.answer.manager));
        self.entries(own, ready, |address| address)
    }

    fn entries(
        &self,
        manager: IpAddr,
        ready: &[Ready],
        seen: impl Fn(IpAddr) -> IpAddr,
    ) -> Vec<Entry> {
        let head = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let mut entries = vec![Entry {
            node: MANAGER,
            host: head,
            address: manager,
            line: self.ports.line,
            shell: self.ports.shell,
            key: self.identity.public_key(),
        }];
        for Ready { session, first, answer } in ready {
            entries.extend(answer.nodes.iter().zip(*first..).map(|(offer, number)| Entry {
                node: NodeId(u32::try_from(number + 1).expect("limits keep it small")),
                host: session.short().to_owned(),
                address: seen(answer.address),
                line: offer.line,
                shell: offer.shell,
                key: offer.key.parse().expect("it was looked at"),
            }));
        }
        entries
    }
}

/// Whether an address is one of this machine's.
fn is_ours(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

/// The manager's own address, of those by which hosts reach it. It listens to all of that one's
/// family: if some host comes over IPv6 that is IPv6, whose listeners hear IPv4, too.
fn own_address(mut reached: impl Iterator<Item = IpAddr> + Clone) -> IpAddr {
    let any = reached.clone().next().unwrap_or(Ipv4Addr::LOCALHOST.into());
    reached.find(IpAddr::is_ipv6).unwrap_or(any)
}

/// A group of a cluster's own, by random digits, in the range that every site has for itself (RFC
/// 2365), and a port that no TCP listener is given here. A host where it is taken hears nothing,
/// and gets what it needs down the tree; who shares it with others only hears more.
fn group(digits: &str, port: u16) -> SocketAddrV4 {
    let [.., high, low] = u32::from_str_radix(digits, 16).unwrap_or_default().to_be_bytes();
    SocketAddrV4::new(Ipv4Addr::new(239, 255, high, low), port)
}

/// How often a host is called again whose sshd has closed the connection at once.
const AGAIN: u32 = 4;

/// What ssh says then. By default an sshd does that to some who come while ten others are not let
/// in yet, which all hosts of one address, or behind one, may be.
const DROPPED: [&str; 3] =
    ["exchange_identification", "Connection closed by", "Connection reset by"];

/// Calls a host; its first word.
fn reach(
    call: impl Fn() -> io::Result<Session>,
    pause: impl Fn(u32) -> Duration,
) -> Result<(Session, String), String> {
    for again in 0.. {
        let mut session = call().map_err(|error| format!("it cannot be called: {error}"))?;
        match session.hear("reaching it", REACH) {
            Ok(word) => return Ok((session, word)),
            Err(why) if again < AGAIN && DROPPED.iter().any(|said| why.contains(said)) => {
                std::thread::sleep(pause(again));
            }
            Err(why) => return Err(why),
        }
    }
    unreachable!("the last try returns")
}

/// How long to wait before a host is called again: not as long as others who were refused, too, and
/// longer each time.
fn pause(again: u32) -> Duration {
    let most = 1000 << again;
    Duration::from_millis(300 + RandomState::new().hash_one(again) % most)
}

/// Has a host start its nodes.
fn start(
    ready: Ready,
    roster: &[Entry],
    multicast: Option<SocketAddrV4>,
) -> Result<Session, String> {
    let Ready { mut session, .. } = ready;
    session.say(&Start { roster: roster.iter().map(Entry::to_string).collect(), multicast });
    match session.answer::<Started>("starting its nodes", START) {
        Ok(_) => Ok(session),
        Err(why) => Err(format!("{}: {why}", session.host)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn the_manager_listens_where_each_host_reaches_it() {
        let own = |reached: &[&str]| {
            let reached = reached.iter().map(|address| address.parse().expect("an address"));
            own_address(reached).to_string()
        };
        assert_eq!(own(&["10.0.0.1", "10.1.0.1"]), "10.0.0.1");
        assert_eq!(own(&["10.0.0.1", "fd00::1", "10.1.0.1"]), "fd00::1");
        assert_eq!(own(&[]), "127.0.0.1");
    }

    #[test]
    fn a_host_whose_sshd_drops_the_connection_is_called_again_and_one_that_refuses_is_not() {
        let home = Scratch::new("reach");
        let tries = || std::fs::read(home.join("tries")).expect("it was called").len();
        let (host, calls) = (Host { name: "here".into(), port: None, nodes: 1 }, Calls::default());
        let reached = |ends: &str| {
            let _ = std::fs::remove_file(home.join("tries"));
            let script = format!("cd {}; printf x >>tries; {ends}; exit 255", home.display());
            let way = Way::Ssh(Some(["sh", "-c", &script].map(String::from).to_vec()));
            let call = || Session::call(&host, &["n0".into()], &way, "", &calls);
            reach(call, |_| Duration::ZERO).map(|(_, word)| word)
        };
        let dropped = "echo kex_exchange_identification: read: Connection reset by peer >&2";
        let third = format!("[ $(cat tries) = xxx ] && exec echo muster1 has it; {dropped}");
        assert_eq!((reached(&third).as_deref(), tries()), (Ok("has it"), 3));
        assert!(reached(dropped).is_err_and(|why| why.contains("Connection reset")));
        assert_eq!(tries(), 1 + AGAIN as usize);
        let refused = "echo 'me@here: Permission denied (publickey).' >&2";
        assert!(reached(refused).is_err_and(|why| why.contains("Permission denied")));
        assert_eq!(tries(), 1);
    }

    #[test]
    fn all_is_done_in_order_and_once() {
        let done = at_once((0..3 * AT_ONCE).collect(), |number| number * 2);
        assert_eq!(done, (0..3 * AT_ONCE).map(|number| number * 2).collect::<Vec<_>>());
    }
}
