//! `muster up`: a cluster that stays, on this machine or on several hosts.

use super::scheduler::Settings;
use super::{SCHEMA, Usage, because, print_json, refused};
use crate::cluster::{Context, cluster_flag, node_names, wait_until_joined};
use crate::errand;
use crate::progress::Progress;
use crate::stand_in::{self, StandIn};
use crate::sys;
use crate::turns;
use anyhow::{Result, anyhow, bail};
use muster_base::limits::NODES_HERE_MAX;
use muster_base::nodeset::{expand, fold};
use muster_base::quote;
use muster_base::span;
use muster_machine::config::Config;
use muster_machine::hosts::Way;
use muster_machine::hosts::head::Order;
use muster_machine::hosts::list::{self, Host};
use muster_machine::keeper::{self, State, keep_descriptors};
use muster_machine::memory::read_period;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::IpAddr;
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a cluster that does not stay may take to be gone, and between two looks whether it is.
const GONE: (Duration, Duration) = (Duration::from_secs(15), Duration::from_millis(10));

/// How long a keeper may take to start the daemons of one machine, which takes milliseconds unless
/// it has to end what a crash has left.
const READY: Duration = Duration::from_secs(60);

/// A second signal within this time of the first is the same: timeout(1) sends one to its child,
/// and one to the group that the child is in.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Bring up a cluster of node daemons, on this machine or on several hosts.
///
/// It stays until `muster down`. Nobody but you can reach it. On this machine its sockets are in a
/// directory of yours, and nothing listens on a network. Between hosts all is TLS, and only the
/// cluster's own daemons are let in (needs your key: `muster init`). Hosts need nothing but ssh:
/// the program is sent to those that lack it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster up -N 8\n  muster --cluster lab up -N 2\n  \
                        muster up --hosts lab.txt      lines: [user@]host[:port] [nodes=N], \
                        or lab[1-6]\n  \
                        muster up --slurm              inside of salloc or sbatch")]
#[command(group(clap::ArgGroup::new("elsewhere").args(["hosts", "slurm"])))]
pub struct Args {
    /// Number of nodes on this machine
    #[arg(short = 'N', long, value_name = "COUNT", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=NODES_HERE_MAX as i64))]
    nodes: u16,
    /// On the hosts that a file names, over ssh
    #[arg(long, value_name = "FILE", conflicts_with = "nodes")]
    hosts: Option<PathBuf>,
    /// Reach hosts with COMMAND [-p PORT] HOST LINE instead of ssh (the port if FILE names one);
    /// quotes keep blanks, as in a shell
    #[arg(long, value_name = "COMMAND", requires = "hosts")]
    ssh: Option<String>,
    /// On the nodes of the Slurm allocation that this is called in
    #[arg(long, conflicts_with_all = ["nodes", "hosts"])]
    slurm: bool,
    /// Have nodes stand in for another processor: n[2-3]=aarch64, or n3=aarch64:EMULATOR
    ///
    /// They say that they have it, take the programs that are for it, and run those by qemu-user
    /// or another EMULATOR with its command line. So programs for several kinds of nodes can be
    /// tried on one machine. If the kernel knows the emulator (binfmt_misc), what such a program
    /// starts is emulated, too. Programs that are not static find that processor's loader and C
    /// library in QEMU_LD_PREFIX: muster run --env QEMU_LD_PREFIX=/usr/aarch64-linux-gnu.
    #[arg(long, value_name = "NODES=ARCH", value_parser = stand_in::parse)]
    #[arg(conflicts_with_all = ["hosts", "slurm"])]
    arch: Vec<StandIn>,
    /// Where hosts reach this machine, if ssh or Slurm do not know
    #[arg(long, value_name = "ADDRESS", requires = "elsewhere")]
    address: Option<IpAddr>,
    /// Go on without hosts that cannot be brought up
    #[arg(long, requires = "elsewhere")]
    tolerate_missing: bool,
    /// Files go from node to node only, not to all hosts at once by UDP multicast
    #[arg(long, requires = "elsewhere")]
    no_multicast: bool,
    /// Who starts jobs when: share, fcfs, easy or gang (see muster scheduler --help)
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// From one strobe of the heartbeat to the next, 300us to 1m; 200ms if not given. By it nodes
    /// are known to be late (muster nodes)
    #[arg(long, value_name = "TIME", value_parser = read_period)]
    heartbeat: Option<Duration>,
    #[command(flatten)]
    settings: Settings,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A signal has ended it.
#[derive(Debug)]
struct Interrupted(i32);

/// A signal has ended it, and what it had begun has ended or not.
#[derive(Debug)]
struct Abandoned {
    signal: i32,
    is_gone: bool,
}

impl std::fmt::Display for Abandoned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.is_gone {
            true => "interrupted: nothing of the cluster was left running  [E204]",
            false => {
                "interrupted: the cluster is still ending; muster down ends what is left of it  \
                 [E204]"
            }
        })
    }
}

impl std::error::Error for Abandoned {}

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "signal {}", self.0)
    }
}

impl std::error::Error for Interrupted {}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let done = bring_up(args, context);
    if let Err(error) = &done
        && let Some(Abandoned { signal, .. }) = error.downcast_ref()
    {
        // Nobody may be there to read it.
        let _ = writeln!(std::io::stderr(), "muster: {error}");
        return Ok(ExitCode::from(128 + *signal as u8));
    }
    done
}

fn bring_up(args: &Args, context: &Context) -> Result<ExitCode> {
    let start = Instant::now();
    let scheduler = args.settings.line(args.scheduler.as_deref(), "share")?;
    let order = order(args)?;
    check_names(args)?;
    context.clear_dead();
    if let Some(State::Kept(pid)) = context.runtime.state(&context.cluster)? {
        return Err(keeper::Error::Up(context.cluster.clone(), pid).into());
    }
    let total = order.as_ref().map_or(args.nodes.into(), nodes_of);
    let mut progress = Progress::steps("nodes up", total);
    let mut keeper = Starting::begin(context, args, order.as_ref())?;
    let here = order.is_none().then(|| args.nodes.into());
    let joined = keeper.names(here, context).and_then(|names| {
        let alive = || match context.runtime.state(&context.cluster)? {
            Some(State::Kept(_)) => keeper.check(),
            _ => bail!("the manager of cluster {} does not start  [E125]", context.cluster),
        };
        let host_of = |node: &str| host_of(order.as_ref()?, node);
        let told = |up| progress.at(up as u64);
        let client = wait_until_joined(context, &names, host_of, alive, told)?;
        Ok((names, client))
    });
    drop(progress);
    let (names, client) = match joined {
        Err(error) if let Some(&Interrupted(signal)) = error.downcast_ref() => {
            let is_gone = keeper.end() && left_nothing(context);
            bail!(Abandoned { signal, is_gone })
        }
        Err(_) if keeper.end() && keeper.was_taken_down() => bail!(
            "cluster {} was taken down while it was brought up, or its keeper was killed  [E122]",
            context.cluster
        ),
        joined => joined?,
    };
    if let Some(line) = scheduler {
        client.write("scheduler", format!("{line}\n")).map_err(refused)?;
    }
    if let Some(period) = args.heartbeat {
        client.write("heartbeat", span::write(period) + "\n").map_err(refused)?;
    }
    keeper.keep().map_err(because("the keeper has ended", "E125"))?;
    let seconds = start.elapsed().as_secs_f64();
    match told(args, context, &names, order.as_ref(), seconds) {
        // It is up all the same, if nobody wants to know.
        Err(error) if !crate::is_broken_pipe(&error) => bail!(
            "cluster {} is up, but standard output cannot be written: {error}  [E140]",
            context.cluster
        ),
        _ => {}
    }
    if args.scheduler.as_deref() == Some("gang") {
        turns::tell_limits(&client);
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether no process of the cluster is there.
fn left_nothing(context: &Context) -> bool {
    matches!(context.runtime.state(&context.cluster), Ok(None | Some(State::Dead)))
}

/// Checks that nodes which are to stand in for another processor are there.
fn check_names(args: &Args) -> Result<()> {
    let names = node_names(args.nodes.into());
    match args.arch.iter().flat_map(|some| &some.nodes).find(|node| !names.contains(node)) {
        Some(node) => bail!(
            "--arch {node}: this cluster has {}, no {node}. Name one of these, or raise -N  [E113]",
            fold(&names)
        ),
        None => Ok(()),
    }
}

fn nodes_of(order: &Order) -> usize {
    order.hosts.iter().map(|host| host.nodes).sum()
}

/// The host that a node is on.
fn host_of(order: &Order, node: &str) -> Option<String> {
    let mut number: usize = node.strip_prefix('n')?.parse().ok()?;
    for host in &order.hosts {
        match number.checked_sub(host.nodes) {
            None => return Some(host.short().to_owned()),
            Some(left) => number = left,
        }
    }
    None
}

/// The hosts to bring up; none where the cluster is to be on this machine.
fn order(args: &Args) -> Result<Option<Order>> {
    let (hosts, way) = match &args.hosts {
        Some(file) => {
            let words = args.ssh.as_deref().map(words).transpose()?;
            (read_hosts(file)?, Way::Ssh(words))
        }
        None if args.slurm && args.ssh.is_some() => {
            let text = "--ssh is for --hosts FILE: in a Slurm allocation srun starts the daemons";
            return Err(Usage(text.to_owned()).into());
        }
        None if args.slurm => (allocated()?, Way::Slurm),
        None => return no_hosts(args).map(|()| None),
    };
    Config::from_env()?.identity()?;
    let (address, tolerates) = (args.address, args.tolerate_missing);
    Ok(Some(Order { hosts, way, address, tolerates, multicasts: !args.no_multicast }))
}

/// Refuses what is for other hosts only. Clap does so too, but not beside -N, which none of these
/// could go with either.
fn no_hosts(args: &Args) -> Result<()> {
    let flag = match args {
        Args { ssh: Some(_), .. } => "--ssh",
        Args { address: Some(_), .. } => "--address",
        Args { tolerate_missing: true, .. } => "--tolerate-missing",
        Args { no_multicast: true, .. } => "--no-multicast",
        _ => return Ok(()),
    };
    let text = format!("{flag} is for other hosts, and this cluster is here: add --hosts FILE");
    Err(Usage(text).into())
}

/// The words of a command that stands for ssh.
fn words(command: &str) -> Result<Vec<String>> {
    Ok(quote::split(command).map_err(|error| Usage(format!("--ssh: {error}")))?)
}

fn read_hosts(file: &Path) -> Result<Vec<Host>> {
    let named = |why: String| anyhow!("{}: {why}  [E202]", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| named(error.to_string()))?;
    list::read(&text).map_err(|error| named(error.to_string()))
}

/// The nodes of the Slurm allocation that we are in, as Slurm lists them.
fn allocated() -> Result<Vec<Host>> {
    let nodes = std::env::var("SLURM_JOB_NODELIST").unwrap_or_default();
    if nodes.is_empty() {
        bail!(
            "this is no Slurm allocation (SLURM_JOB_NODELIST is not set); get one first: \
             salloc -N 4, and there: muster up --slurm  [E203]"
        );
    }
    let mut scontrol = Command::new("scontrol");
    scontrol.args(["show", "hostnames", &nodes]).stdin(Stdio::null());
    let said = errand::output(&mut scontrol, errand::PATIENCE);
    let said = said.map_err(because("scontrol cannot be started", "E203"))?;
    if !said.status.success() {
        let why = String::from_utf8_lossy(&said.stderr);
        bail!("scontrol does not list the allocation's nodes: {}  [E203]", why.trim());
    }
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    list::read(&text).map_err(because("the allocation's nodes", "E203"))
}

/// What is heard while the cluster is brought up.
enum Event {
    /// The keeper says a line.
    Said(String),
    /// It has ended.
    Ended,
    /// Somebody wants this to end.
    Signal(i32),
}

/// A keeper that ends, with all that it has begun, unless it is told to keep the cluster.
struct Starting {
    process: Child,
    confirm: Option<ChildStdin>,
    events: Receiver<Event>,
}

impl Starting {
    /// Starts the keeper as a process of its own.
    fn begin(context: &Context, args: &Args, order: Option<&Order>) -> Result<Starting> {
        let (tell, events) = channel();
        let heard = tell.clone();
        // Nobody listens when it is over.
        sys::heed(&sys::END, move |signal| drop(heard.send(Event::Signal(signal))))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("muster").args(["--cluster", &context.cluster, "daemon", "keeper"]);
        match order {
            Some(_) => command.arg("--beyond"),
            None => command.args(["--nodes", &args.nodes.to_string()]),
        };
        command.args(args.arch.iter().flat_map(|some| ["--arch".to_owned(), some.to_string()]));
        // Only what the user has named: srun tells hosts all that is set here, and they have places
        // of their own.
        if std::env::var_os("MUSTER_RUNTIME").is_some() {
            command.env("MUSTER_RUNTIME", context.runtime.path());
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let starting = format!("could not start the keeper of cluster {}", context.cluster);
        // A lock or a pipe of the script that calls us would be held for the cluster's life.
        keep_descriptors().map_err(because(&starting, "E125"))?;
        let mut process = command.spawn().map_err(because(&starting, "E125"))?;
        let mut confirm = process.stdin.take().expect("it is piped");
        let said = BufReader::new(process.stdout.take().expect("it is piped"));
        crate::run::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                let _ = tell.send(Event::Said(line));
            }
            let _ = tell.send(Event::Ended);
        });
        if let Some(order) = order {
            let line = format!("{}\n", serde_json::to_string(order)?);
            confirm.write_all(line.as_bytes()).map_err(because(&starting, "E125"))?;
        }
        Ok(Starting { process, confirm: Some(confirm), events })
    }

    /// The names of the nodes that there are, once the keeper has started its daemons; `here` says
    /// how many if all are on this machine.
    fn names(&self, here: Option<usize>, context: &Context) -> Result<Vec<String>> {
        let mut names = here.map_or_else(Vec::new, node_names);
        loop {
            // Hosts take as long as they take, and their waits have limits of their own.
            let patience = if here.is_some() { READY } else { Duration::MAX };
            let said = match self.events.recv_timeout(patience) {
                Ok(Event::Said(said)) => said,
                Ok(Event::Signal(signal)) => bail!(Interrupted(signal)),
                Ok(Event::Ended) => {
                    bail!("the keeper of cluster {} ended without a word  [E125]", context.cluster)
                }
                Err(_) => bail!(
                    "the keeper of cluster {} has said nothing for {} s  [E125]",
                    context.cluster,
                    READY.as_secs()
                ),
            };
            match said.split_once(' ').unwrap_or((&said, "")) {
                ("ready", _) => {
                    names.sort_by_key(|name| name[1..].parse().unwrap_or(usize::MAX));
                    return Ok(names);
                }
                ("up", nodes) => names.extend(expand(nodes)?),
                ("missing", why) => writeln!(std::io::stderr(), "muster: without {why}  [N201]")?,
                ("note", what) => writeln!(std::io::stderr(), "muster: {what}  [N202]")?,
                _ if said.ends_with(']') => bail!("{said}"),
                _ => bail!("{said}  [E125]"),
            }
        }
    }

    /// Whether it may go on.
    fn check(&self) -> Result<()> {
        match self.events.try_recv() {
            Ok(Event::Signal(signal)) => bail!(Interrupted(signal)),
            _ => Ok(()),
        }
    }

    /// Tells the keeper to go on without us.
    fn keep(mut self) -> std::io::Result<()> {
        self.confirm.take().expect("it is taken once").write_all(b"keep\n")
    }

    /// Waits until the keeper has ended, with all that it has begun; false if it takes too long, or
    /// somebody signals that it does.
    fn end(&mut self) -> bool {
        // The end of its input tells the keeper, if nothing else did.
        drop(self.confirm.take());
        let begun = Instant::now();
        let until = begun + GONE.0;
        loop {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return true;
            }
            let is_signalled = matches!(self.events.recv_timeout(GONE.1), Ok(Event::Signal(_)));
            if is_signalled && begun.elapsed() >= AT_ONCE || Instant::now() >= until {
                return false;
            }
        }
    }

    /// Whether somebody has ended the keeper, as muster down does.
    fn was_taken_down(&mut self) -> bool {
        let ended = self.process.try_wait().ok().flatten();
        ended.is_some_and(|status| matches!(status.signal(), Some(libc::SIGTERM | libc::SIGKILL)))
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if self.confirm.is_some() {
            self.end();
        }
    }
}

fn told(
    args: &Args,
    context: &Context,
    names: &[String],
    order: Option<&Order>,
    seconds: f64,
) -> Result<()> {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // Some may be missing.
    let hosts = order.map(|order| {
        names.iter().filter_map(|name| host_of(order, name)).collect::<BTreeSet<String>>()
    });
    if args.json {
        let transport = if hosts.is_some() { "tls" } else { "unix" };
        let mut told = json!({
            "schema": SCHEMA, "cluster": context.cluster, "nodes": names, "transport": transport,
            "cpus": cpus, "seconds": seconds,
        });
        if let Some(hosts) = hosts {
            told["hosts"] = json!(hosts);
        }
        return print_json(&told);
    }
    let (count, s) = (names.len(), if names.len() == 1 { "" } else { "s" });
    let cores = if cpus == 1 { "one core".to_owned() } else { format!("{cpus} cores") };
    let flag = cluster_flag(&context.cluster);
    let mut out = std::io::stdout().lock();
    match hosts {
        None => writeln!(
            out,
            "{count} embedded node{s} {} up in {seconds:.2} s, sharing {cores}. Only you can \
             reach them.",
            fold(names)
        )?,
        Some(hosts) => {
            let (names, hosts) = (fold(names), fold(&hosts));
            writeln!(out, "{count} node{s} {names} up in {seconds:.2} s, on {hosts}, over TLS.")?;
        }
    }
    writeln!(out, "Try: muster {flag}run -n {count} -l hostname")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside -N clap asked for no hosts, and these were taken without a word.
    #[test]
    fn what_is_for_other_hosts_is_not_overlooked_without_any() {
        use clap::Parser;
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            args: Args,
        }
        for flag in ["--ssh=x", "--address=1.2.3.4", "--tolerate-missing", "--no-multicast"] {
            let line = Line::try_parse_from(["up", "-N", "2", flag]);
            let said = line.map_or_else(
                |error| error.to_string(),
                |line| order(&line.args).expect_err("no hosts").to_string(),
            );
            assert!(said.contains(flag.split('=').next().unwrap()), "{said}");
        }
    }

    #[test]
    fn a_word_of_what_stands_for_ssh_may_have_blanks() {
        let said = words("ssh -o 'ProxyCommand nc a %h'  -v").expect("closed");
        assert_eq!(said, ["ssh", "-o", "ProxyCommand nc a %h", "-v"]);
        assert!(words("ssh -o 'Proxy").expect_err("not closed").is::<Usage>());
    }
}
