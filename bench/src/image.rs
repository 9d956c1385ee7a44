//! `bench image`: a boot image that 1, 4, 16 and 64 machines fetch at once, over links of
//! 100 Mbit/s; and 12 MiB to 16 machines over links that are as fast as this machine makes them,
//! beside udpcast.
//!
//! Each machine is a network namespace with a link to one bridge, the server's as well; a link's
//! rate is limited at both of its ends (tbf). A fetch is timed from the start of the first client's
//! process until the last has said that its file is whole, which is when it begins its term.
//!
//! udpcast waits until all receivers have told the sender that they are there, and then sends by
//! multicast; the sender's words tell when it begins. So its rendezvous is known apart.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::child::{self, Child, in_path, target};
use crate::cluster::{self, Guard};
use crate::folder::Folder;
use crate::namespaces::{self, Namespaces};
use crate::ninep::content;
use crate::report::{Case, Report, Samples};

/// Bytes of the images: a kernel with its initial file system, and what udpcast was measured with.
const LARGE: usize = 64 << 20;
const SMALL: usize = 12 << 20;

/// How many fetch at once.
const CLIENTS: [usize; 4] = [1, 4, 16, 64];

/// How many beside udpcast.
const PEERS: usize = 16;

/// A link: 100 Mbit/s, with a queue of 20 ms, and room for the largest packet that Linux makes.
const LINK: &str = "tbf rate 100mbit burst 128kb latency 20ms";

/// Where the server's cluster is, at its machine.
const HOME: &str = "/mnt/c";

/// How long a fetch may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures.
///
/// # Errors
/// When something is missing, or a fetch fails.
pub fn run(quick: bool) -> Result<Report> {
    in_path("tc").context("no tc: cargo xtask setup")?;
    namespaces::become_head()?;
    let home = Folder::new(Path::new("/dev/shm"), "image")?;
    measure(quick, home.path())
}

fn measure(quick: bool, home: &Path) -> Result<Report> {
    let most = CLIENTS[CLIENTS.len() - 1];
    let lab = Lab { hosts: Namespaces::make(most + 1, home)?, home: home.to_owned(), most };
    let server = Server::up(&lab)?;
    let rounds = if quick { 2 } else { 5 };
    let has_udpcast = in_path("udp-sender").is_some();
    let mut cases = match has_udpcast {
        true => beside_udpcast(&lab, &server, rounds)?,
        false => of_udpcast([const { Samples(Vec::new()) }; 3]),
    };
    lab.limit()?;
    cases.splice(0..0, level(&lab, &server, if quick { 1 } else { 3 })?);
    let without = "without udpcast: no udp-sender: cargo xtask setup";
    let missing = (!has_udpcast).then(|| without.to_owned()).into_iter().collect();
    let notes = vec![
        child::first_line("udp-sender", &["--license"]).unwrap_or_default(),
        "udpcast: --full-duplex, --min-receivers as many as there are".to_owned(),
        "ours: TLS between all, every chunk compared with its hash, a term of 5 s".to_owned(),
    ];
    Ok(Report { bench: "image", notes, missing, cases })
}

/// The machines: clients from 1 on, and the server behind them.
struct Lab {
    hosts: Namespaces,
    home: PathBuf,
    most: usize,
}

impl Lab {
    fn server(&self) -> usize {
        self.most + 1
    }

    /// Limits every link, both ways. At such rates Linux makes short packets, and passing those on
    /// for 65 machines would keep this one's processors busy; so they are longer here.
    fn limit(&self) -> Result<()> {
        for host in 1..=self.server() {
            let pid = fs::read_to_string(self.home.join(format!("pid/s{host}")))?;
            let down = format!("tc qdisc add dev v{} root {LINK}", pid.trim());
            done(Command::new("sh").args(["-c", &down]))?;
            let up = format!("tc qdisc add dev eth0 root {LINK}");
            let packets = "echo 32 > /proc/sys/net/ipv4/tcp_min_tso_segs";
            done(&mut self.hosts.at(host, &format!("{up} && {packets}")))?;
        }
        Ok(())
    }
}

fn done(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}", said.trim());
    Ok(())
}

/// A cluster of one node, at a machine of its own.
struct Server<'a> {
    lab: &'a Lab,
    muster: String,
    _guard: Guard,
    /// What every client's command has.
    from: String,
}

impl Server<'_> {
    fn up(lab: &Lab) -> Result<Server<'_>> {
        let muster = fs::canonicalize(target().join("release/muster"))?.display().to_string();
        let own = std::env::current_exe()?.display().to_string();
        let mut guard = Command::new(lab.hosts.agent());
        let line = format!("mkdir -p {HOME}; exec {own} {} {muster} {HOME}", cluster::GUARD);
        let guard = Guard::start(guard.arg(format!("s{}", lab.server())).arg(line))?;
        let mut server = Server { lab, muster, _guard: guard, from: String::new() };
        // The guard knows by this that it may come up after we have ended.
        done(&mut lab.hosts.at(lab.server(), &format!("mkdir -p {HOME}; touch {HOME}/starting")))?;
        server.command("up -N 1")?;
        done(&mut lab.hosts.at(lab.server(), &format!("rm {HOME}/starting")))?;
        for (name, size) in [("large", LARGE), ("small", SMALL)] {
            let path = lab.home.join(name);
            fs::write(&path, content(size, 0x9e37_79b9_7f4a_7c15))?;
            server.command(&format!("image push {name} {}", path.display()))?;
        }
        let address = format!("{}:4564", namespaces::address(lab.server()));
        server.command(&format!("image serve --listen {address}"))?;
        let key = lab.home.join("key");
        // The server's files are in its own /mnt.
        let copy = format!("cp {HOME}/r/default/images/key {}", key.display());
        done(&mut lab.hosts.at(lab.server(), &copy))?;
        server.from = format!("--from {address} --key {}", key.display());
        Ok(server)
    }

    fn command(&self, words: &str) -> Result<()> {
        let settings = format!("MUSTER_RUNTIME={HOME}/r MUSTER_CONFIG={HOME}/config");
        let line = format!("{settings} {} {words}", self.muster);
        done(&mut self.lab.hosts.at(self.lab.server(), &line))
    }

    /// Seconds until so many clients have an image, and the chunks that the server gave.
    fn fetch(&self, image: &str, clients: usize) -> Result<(f64, u64)> {
        let line = format!("{} image fetch {image} -o /mnt/out --json {}", self.muster, self.from);
        let start = Instant::now();
        let mut all = Vec::new();
        for host in 1..=clients {
            let mut command = self.lab.hosts.at(host, &line);
            all.push(Child::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?);
        }
        let said: Result<Vec<Words>> =
            all.iter_mut().map(|client| Ok(Words::of(client.printed()?, "\n"))).collect();
        let mut given = 0;
        for words in said? {
            let said: Value = serde_json::from_str(&words.wait()?).context("a fetch failed")?;
            given += said["from_server"].as_u64().context("it tells what it took")?;
        }
        let time = start.elapsed();
        let same = format!("cmp /mnt/out {}", self.lab.home.join(image).display());
        for (client, host) in all.iter_mut().zip(1..) {
            while client.ended()?.is_none() {
                std::thread::sleep(Duration::from_millis(20));
            }
            done(&mut self.lab.hosts.at(host, &format!("{same} && rm /mnt/out")))?;
        }
        Ok((time.as_secs_f64(), given))
    }
}

/// How the time grows with those who fetch.
fn level(lab: &Lab, server: &Server<'_>, rounds: usize) -> Result<Vec<Case>> {
    let mut times = vec![Samples::default(); CLIENTS.len()];
    let mut given = vec![Samples::default(); CLIENTS.len()];
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..CLIENTS.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let (time, chunks) = server.fetch("large", CLIENTS[at])?;
            times[at].0.push(time);
            given[at].0.push(chunks as f64);
        }
    }
    let case = |what: String, unit, ours: &Samples, peer: &Samples, limit| {
        Case::lower(&what, unit, ours.clone(), ("one client", peer.clone()), limit)
    };
    let of = |at: usize| format!("64 MiB to {} of {} at 100 Mbit/s", CLIENTS[at], lab.most);
    let mut cases: Vec<Case> =
        (1..CLIENTS.len()).map(|at| case(of(at), "s", &times[at], &times[0], 1.0 / 1.5)).collect();
    let last = CLIENTS.len() - 1;
    cases.push(case("chunks that the server gave".into(), "", &given[last], &given[0], 0.0));
    Ok(cases)
}

/// Beside udpcast, in turn.
fn beside_udpcast(lab: &Lab, server: &Server<'_>, rounds: usize) -> Result<Vec<Case>> {
    let (mut ours, mut theirs, mut whole) =
        (Samples::default(), Samples::default(), Samples::default());
    for round in 0..=rounds {
        let mine = || anyhow::Ok(server.fetch("small", PEERS)?.0);
        let (time, (rendezvous, sending)) = if round % 2 == 0 {
            let time = mine()?;
            (time, udpcast(lab)?)
        } else {
            let its = udpcast(lab)?;
            (mine()?, its)
        };
        // The first warms caches.
        if round > 0 {
            ours.0.push(time * 1e3);
            theirs.0.push(sending * 1e3);
            whole.0.push((rendezvous + sending) * 1e3);
        }
    }
    Ok(of_udpcast([ours, whole, theirs]))
}

/// The rows of ours beside udpcast, and beside what it takes once all are there.
fn of_udpcast([ours, whole, theirs]: [Samples; 3]) -> Vec<Case> {
    let title = format!("12 MiB to {PEERS}, links not limited");
    let case = |peer: Samples, name: &str, limit| Case {
        in_pairs: true,
        ..Case::lower(&title, "ms", ours.clone(), (name, peer), limit)
    };
    vec![case(whole, "udpcast", 10.0), case(theirs, "udpcast without its rendezvous", 1.0)]
}

/// Seconds until udpcast begins to send, and from then until all have said that they have all.
fn udpcast(lab: &Lab) -> Result<(f64, f64)> {
    let (small, options) = (lab.home.join("small"), "--nokbd --interface eth0");
    let start = Instant::now();
    let begin = |host: usize, line: &str, text| {
        let mut command = lab.hosts.at(host, line);
        let mut child = Child::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let words = Words::of(child.printed()?, text);
        anyhow::Ok((child, words))
    };
    let receive = format!("exec udp-receiver --file /mnt/out {options} 2>&1");
    let receivers = (1..=PEERS).map(|host| begin(host, &receive, "Transfer complete"));
    let receivers = receivers.collect::<Result<Vec<_>>>()?;
    let send = format!(
        "exec udp-sender --file {} {options} --full-duplex --min-receivers {PEERS} 2>&1",
        small.display()
    );
    let (_sender, words) = begin(lab.server(), &send, "Starting transfer")?;
    words.wait().context("udp-sender")?;
    let begins = start.elapsed().as_secs_f64();
    for (_, words) in &receivers {
        words.wait().context("udp-receiver")?;
    }
    let ends = start.elapsed().as_secs_f64();
    for ((mut receiver, _), host) in receivers.into_iter().zip(1..) {
        while receiver.ended()?.is_none() {
            ensure!(start.elapsed() < PATIENCE, "udpcast has not ended for {PATIENCE:?}");
            std::thread::sleep(Duration::from_millis(1));
        }
        let same = format!("cmp /mnt/out {} && rm /mnt/out", small.display());
        done(&mut lab.hosts.at(host, &same))?;
    }
    Ok((begins, ends - begins))
}

/// What a process says until it has said something. The rest is read, too, and dropped.
struct Words(mpsc::Receiver<Option<String>>);

impl Words {
    fn of(mut from: ChildStdout, text: &'static str) -> Words {
        let (told, words) = mpsc::channel();
        std::thread::spawn(move || {
            let (mut said, mut part) = (String::new(), [0; 4096]);
            while !said.contains(text) {
                match from.read(&mut part) {
                    Ok(count @ 1..) => said.push_str(&String::from_utf8_lossy(&part[..count])),
                    _ => return drop(told.send(None)),
                }
            }
            // Nobody may be waiting any more.
            let _ = told.send(Some(said));
            let _ = std::io::copy(&mut from, &mut std::io::sink());
        });
        Words(words)
    }

    fn wait(&self) -> Result<String> {
        let said = self.0.recv_timeout(PATIENCE);
        let said = said.with_context(|| format!("it has said nothing for {PATIENCE:?}"))?;
        said.context("it has ended without a word")
    }
}
