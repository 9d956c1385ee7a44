//! Slurm as a peer: a daemon for each node, all on loopback or each in its host's namespaces, with
//! a tmpfs of its own at `/mnt`. Authentication by munge; no accounting, no plugins that we could
//! not have as well.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::child::{self, Child, in_path};
use crate::namespaces::{self, Namespaces};

/// How long its daemons may take until all nodes are there.
const UP: Duration = Duration::from_secs(60);

/// What its daemons say, below where it is.
const LOG: &str = "daemons.log";

/// A Slurm cluster with an allocation of all its nodes.
pub struct Slurm {
    conf: PathBuf,
    job: String,
    _daemons: Vec<Child>,
}

impl Slurm {
    /// Brings it up below `home`. An error has the daemons' last words, whose logs go with `home`.
    pub fn up(home: &Path, nodes: usize, hosts: Option<&Namespaces>) -> Result<Slurm> {
        Slurm::begin(home, nodes, hosts).map_err(|error| {
            let logs = ["munge.log", LOG].map(|name| last_line(&home.join(name)));
            let words: Vec<String> = logs.into_iter().flatten().collect();
            error.context(format!("its daemons' last words: {words:?}"))
        })
    }

    fn begin(home: &Path, nodes: usize, hosts: Option<&Namespaces>) -> Result<Slurm> {
        for (program, package) in
            [("munged", "munge"), ("slurmctld", "slurmctld"), ("slurmd", "slurmd")]
        {
            ensure!(in_path(program).is_some(), "no {program}: apt-get install {package}");
        }
        fs::create_dir_all(home)?;
        // Munge insists that nobody else can write on the way to its socket, and all can read.
        fs::set_permissions(home, fs::Permissions::from_mode(0o755))?;
        let conf = home.join("slurm.conf");
        fs::write(&conf, configuration(home, nodes, hosts.is_some())?)?;
        let mut daemons = vec![Child::start(&mut munge(home)?)?];
        await_file(&home.join("munge"), &mut daemons[0])?;
        let quiet = |command: &mut Command| -> Result<Child> {
            // All daemons write to one.
            let log = || File::options().create(true).append(true).open(home.join(LOG));
            Child::start(command.env("SLURM_CONF", &conf).stdout(log()?).stderr(log()?))
        };
        daemons.push(quiet(child::command("slurmctld").arg("-D"))?);
        for node in 1..=nodes {
            let slurmd = format!("exec slurmd -D -N s{node}");
            let own = format!("mount -t tmpfs none /mnt && {slurmd}");
            daemons.push(match hosts {
                Some(hosts) => quiet(&mut hosts.at(node, &slurmd))?,
                None => quiet(child::command("unshare").args(["-m", "sh", "-c", &own]))?,
            });
        }
        let mut slurm = Slurm { conf, job: String::new(), _daemons: daemons };
        slurm.allocate(nodes)?;
        Ok(slurm)
    }

    fn allocate(&mut self, nodes: usize) -> Result<()> {
        let deadline = Instant::now() + UP;
        let all = nodes.to_string();
        loop {
            let mut salloc = self.command("salloc", &["--no-shell", "--immediate=2", "-N", &all]);
            let said = salloc.stderr(Stdio::piped()).output().context("salloc")?;
            let text = String::from_utf8_lossy(&said.stderr).into_owned();
            let granted = text.lines().find(|line| line.contains("Granted job allocation"));
            if let Some(job) = granted.and_then(|line| line.split_whitespace().last()) {
                self.job = job.to_owned();
                return Ok(());
            }
            if Instant::now() > deadline {
                bail!("slurm gives no allocation of {nodes} nodes: {text}");
            }
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Runs a program once on each node.
    pub fn srun(&self, nodes: usize, program: &str) -> Result<Command> {
        let count = nodes.to_string();
        let job = format!("--jobid={}", self.job);
        // Overlap: a step need not wait until the one before it is cleaned up.
        let args = [&job, "--overlap", "--mpi=none", "-N", &count, "-n", &count, program];
        Ok(self.command("srun", &args))
    }

    /// Sends a file to `/mnt` of each node.
    pub fn sbcast(&self, file: &Path) -> Command {
        let job = format!("--jobid={}", self.job);
        let mut command = self.command("sbcast", &["--force", &job]);
        command.arg(file).arg("/mnt/big");
        command
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        // Without a keeper: it would be a part of what is measured.
        let mut command = Command::new(program);
        command.env("SLURM_CONF", &self.conf).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = self.command("scancel", &[&self.job]).status();
    }
}

fn configuration(home: &Path, nodes: usize, beyond: bool) -> Result<String> {
    let host = fs::read_to_string("/proc/sys/kernel/hostname")?;
    let host = host.trim().split('.').next().unwrap_or("localhost");
    let at = home.display();
    let head = if beyond { namespaces::ADDRESS } else { "127.0.0.1" };
    let mut text = format!(
        "ClusterName=bench\nSlurmctldHost={host}({head})\nSlurmUser=root\nSlurmdUser=root\n\
         AuthType=auth/munge\nAuthInfo=socket={at}/munge\nSlurmctldPort=17900\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool-%n\n\
         SlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd-%n.pid\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n\
         JobAcctGatherType=jobacct_gather/none\nReturnToService=2\nSwitchType=switch/none\n\
         SelectType=select/linear\nSlurmdParameters=config_overrides\n"
    );
    for node in 1..=nodes {
        let port = 17900 + node;
        let place = match beyond {
            true => format!("NodeHostname=s{node} NodeAddr={}", namespaces::address(node)),
            false => format!("NodeHostname={host} NodeAddr=127.0.0.1"),
        };
        text += &format!("NodeName=s{node} {place} Port={port} CPUs=2\n");
    }
    fs::create_dir_all(home.join("state"))?;
    Ok(text + &format!("PartitionName=p Nodes=s[1-{nodes}] Default=YES State=UP\n"))
}

fn munge(home: &Path) -> Result<Command> {
    let key = home.join("key");
    let mut bytes = [0; 1024];
    std::io::Read::read_exact(&mut File::open("/dev/urandom")?, &mut bytes)?;
    File::create(&key)?.write_all(&bytes)?;
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
    let mut command = child::command("munged");
    command.args(["--foreground", "--force"]);
    for (option, name) in [
        ("key-file", "key"),
        ("socket", "munge"),
        ("pid-file", "munge.pid"),
        ("log-file", "munge.log"),
        ("seed-file", "munge.seed"),
    ] {
        command.arg(format!("--{option}={}", home.join(name).display()));
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

fn last_line(log: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(log).ok()?).into_owned();
    text.lines().last().map(str::to_owned)
}

fn await_file(path: &Path, munged: &mut Child) -> Result<()> {
    let deadline = Instant::now() + UP;
    while !path.exists() {
        if let Some(status) = munged.ended()? {
            bail!("munged ended with {status}");
        }
        ensure!(Instant::now() < deadline, "munged does not make {}", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
