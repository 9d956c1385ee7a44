//! Hosts as namespaces: each has a network and a name of its own, and its own `/mnt`. We are the
//! head then: a network with a bridge to them all.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::child::{self, Child};

/// Says that we are in the head's namespaces already.
const HEAD: &str = "MUSTER_BENCH_HEAD";

/// The head's address.
pub const ADDRESS: &str = "10.78.255.254";

/// Where all of them are.
pub const NETWORK: &str = "10.78.0.0/16";

/// What a host keeps in memory at most: as a machine of half a GiB would.
const MEMORY: &str = "256m";

/// Hosts `s1`, `s2`, ..., which go when we go.
pub struct Namespaces {
    home: PathBuf,
    hosts: Vec<Child>,
}

/// Begins this program again in namespaces of its own, unless it is there.
///
/// # Errors
/// When it cannot be started there; who is not root cannot.
pub fn become_head() -> Result<()> {
    if std::env::var_os(HEAD).is_some() {
        return Ok(());
    }
    let mut again = Command::new("unshare");
    again.args(["--net", "--mount", "--uts"]).arg(std::env::current_exe()?);
    again.args(std::env::args().skip(1));
    Err(again.env(HEAD, "1").exec()).context("unshare")
}

/// The address of host `number`.
pub fn address(number: usize) -> String {
    format!("10.78.{}.{}", number / 250, number % 250 + 1)
}

impl Namespaces {
    /// Makes them, with what they need below `home`.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn make(count: usize, home: &Path) -> Result<Namespaces> {
        fs::create_dir_all(home.join("pid"))?;
        let mut names = format!("127.0.0.1 localhost\n{ADDRESS} head\n");
        for number in 1..=count {
            names += &format!("{} s{number}\n", address(number));
        }
        fs::write(home.join("names"), names)?;
        fs::write(home.join("at-head"), neighbours(count, "br0"))?;
        fs::write(home.join("at-host"), neighbours(count, "eth0"))?;
        fs::write(home.join("agent"), agent(home))?;
        let list = (1..=count).map(|number| format!("s{number}\n")).collect::<String>();
        fs::write(home.join("list"), list)?;
        fs::set_permissions(home.join("agent"), fs::Permissions::from_mode(0o755))?;
        let at = home.display();
        script(&format!(
            "hostname head; ip link set lo up; mount --bind {at}/names /etc/hosts
             ip link show br0 >/dev/null 2>&1 || {{ ip link add br0 address {} type bridge
             ip link set br0 up; ip addr add {ADDRESS}/16 dev br0; }}
             ip -batch {at}/at-head",
            hardware(0)
        ))?;
        let mut all = Namespaces { home: home.to_owned(), hosts: Vec::new() };
        for number in 1..=count {
            all.hosts.push(start(number, home)?);
        }
        Ok(all)
    }

    /// A program that takes ssh's place: options, a host, and a command.
    pub fn agent(&self) -> PathBuf {
        self.home.join("agent")
    }

    /// A file with the names of all, a line each.
    pub fn list(&self) -> PathBuf {
        self.home.join("list")
    }

    /// A command for `sh` at a host.
    pub fn at(&self, number: usize, line: &str) -> Command {
        let mut command = child::command(self.agent());
        command.arg(format!("s{number}")).arg(line);
        command
    }
}

fn agent(home: &Path) -> String {
    let at = home.display();
    format!(
        "#!/bin/sh\nwhile :; do case \"$1\" in -*) shift;; *) break;; esac; done\n\
         host=$1; shift; read -r pid <{at}/pid/$host\n\
         export TMPDIR=/mnt MUSTER_RUNTIME=/mnt/r XDG_CACHE_HOME={at}/cache\n\
         exec nsenter -t \"$pid\" -n -m -u sh -c \"$*\"\n"
    )
}

/// The hardware address of host `number`; 0 is the head.
fn hardware(number: usize) -> String {
    format!("02:00:00:00:{:02x}:{:02x}", number / 256, number % 256)
}

/// Tells `ip` where all are. What the kernel learns of that itself it keeps in one table for all
/// namespaces, in which 64 hosts have no room; what it is told is kept beside.
fn neighbours(count: usize, device: &str) -> String {
    let known = |number, address: &str| {
        let at = hardware(number);
        format!("neigh replace {address} lladdr {at} dev {device} nud permanent\n")
    };
    (1..=count).map(|number| known(number, &address(number))).collect::<String>()
        + &known(0, ADDRESS)
}

/// Starts a host: a process that sleeps in its namespaces.
fn start(number: usize, home: &Path) -> Result<Child> {
    let mut command = child::command("unshare");
    let inside = format!(
        "hostname s{number}; mount -t tmpfs -o size={MEMORY} none /mnt; ip link set lo up; \
         echo ready; exec sleep infinity"
    );
    command.args(["--net", "--mount", "--uts", "sh", "-ec", &inside]);
    let mut child = Child::start(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let mut said = String::new();
    BufReader::new(child.printed()?).read_line(&mut said)?;
    ensure!(said == "ready\n", "host s{number} does not start");
    let pid = child.pid().as_raw_nonzero();
    fs::write(home.join(format!("pid/s{number}")), format!("{pid}\n"))?;
    let (address, hardware, at) = (address(number), hardware(number), home.display());
    script(&format!(
        "ip link add v{pid} type veth peer name eth0 address {hardware} netns {pid}
         ip link set v{pid} master br0 up
         nsenter -t {pid} -n sh -ec 'ip addr add {address}/16 brd + dev eth0; ip link set eth0 up
             ip -batch {at}/at-host'"
    ))?;
    Ok(child)
}

fn script(text: &str) -> Result<()> {
    let done = Command::new("sh").args(["-ec", text]).stdin(Stdio::null()).output()?;
    if !done.status.success() {
        bail!("{text}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}
