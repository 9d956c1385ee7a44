//! Jobs that take turns: launched, told to go together, and timed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::program::{GO, PROGRAM, Work};
use crate::child::Child;
use crate::cluster::Cluster;

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long turns are until all jobs of a measurement are ready.
const BEFORE: Duration = Duration::from_millis(2);

/// By what jobs are started.
#[derive(Clone, Copy, Debug)]
pub enum Scheduler {
    /// All run at once, wherever the kernel puts them.
    Share,
    /// They take turns of that length, and a job alone runs on; ranks that fill the machine are
    /// bound.
    Gang(Duration),
}

/// What jobs took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    /// Seconds from the first rank's start to the last one's end.
    pub wall: f64,
    /// Seconds of processor time of all ranks.
    pub used: f64,
}

/// A cluster whose jobs take turns.
pub struct Gang<'a> {
    cluster: &'a Cluster,
    nodes: usize,
    home: PathBuf,
}

impl<'a> Gang<'a> {
    /// Jobs on all nodes of a cluster; ranks meet below `home`.
    pub fn new(cluster: &'a Cluster, nodes: usize, home: &Path) -> Gang<'a> {
        Gang { cluster, nodes, home: home.to_owned() }
    }

    /// Lets the jobs that are there take turns of `slice`.
    fn take_turns(&self, slice: Duration, jobs: usize) -> Result<()> {
        self.schedule(Scheduler::Gang(slice))?;
        // It arrives a moment later.
        let slice = u64::try_from(slice.as_micros())?;
        self.until("the strober has the table", || {
            let told = self.strober()?;
            Ok(told["slots"] == jobs && told["slice_us"] == slice && told["failed"] == 0)
        })
    }

    /// Has jobs start by a scheduler.
    fn schedule(&self, scheduler: Scheduler) -> Result<()> {
        match scheduler {
            Scheduler::Share => self.cluster.muster(&["scheduler", "share"]),
            Scheduler::Gang(slice) => {
                let slice = format!("{}us", slice.as_micros());
                self.cluster.muster(&["scheduler", "gang", "--slice", &slice])
            }
        }
    }

    /// The shortest turn that the strober keeps to on this machine.
    pub fn least(&self) -> Result<Duration> {
        let mut command = self.cluster.command(&["cat", "/slots"]);
        let said = command.stdout(Stdio::piped()).output()?.stdout;
        let told: Value = serde_json::from_slice(&said).context("the slots are not JSON")?;
        let part = |name: &str| told["least"][name].as_u64().context("the shortest slice");
        Ok(Duration::new(part("secs")?, u32::try_from(part("nanos")?)?))
    }

    /// What the strober tells of itself.
    pub fn strober(&self) -> Result<Value> {
        let mut command = self.cluster.command(&["cat", "/nodes/n0/strobe"]);
        let said = command.stdout(Stdio::piped()).output()?.stdout;
        serde_json::from_slice(&said).context("the strober's file is not JSON")
    }

    /// Runs a job of each of these, all at once; they take turns of that slice where it is set.
    pub fn together(&self, works: &[Work], scheduler: Scheduler) -> Result<Took> {
        let mut jobs = Vec::new();
        self.schedule(match scheduler {
            Scheduler::Share => Scheduler::Share,
            // Soon everybody's turn, until all are ready.
            Scheduler::Gang(_) => Scheduler::Gang(BEFORE),
        })?;
        for (at, work) in works.iter().enumerate() {
            jobs.push(self.start(*work)?);
            self.until("the ranks are ready", || Ok(self.ready()?.len() == at + 1))?;
        }
        if let Scheduler::Gang(slice) = scheduler {
            self.take_turns(slice, works.len())?;
        }
        fs::write(self.home.join(GO), "")?;
        let mut ranks = Vec::new();
        for job in jobs {
            let Some(output) = job.output(PATIENCE)? else { bail!("a job has not ended") };
            ensure!(output.status.success(), "a job ended with {}", output.status);
            let words = String::from_utf8_lossy(&output.stdout).into_owned();
            for line in words.lines() {
                let rank: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
                ensure!(rank.len() == 4, "a rank said {line:?}");
                ranks.push(rank);
            }
        }
        ensure!(ranks.len() == works.len() * self.nodes, "some ranks said nothing");
        self.clear()?;
        let start = ranks.iter().map(|rank| rank[0]).fold(f64::MAX, f64::min);
        let end = ranks.iter().map(|rank| rank[1]).fold(0.0, f64::max);
        let used: f64 = ranks.iter().map(|rank| rank[2]).sum();
        Ok(Took { wall: (end - start) / 1e9, used: used / 1e9 })
    }

    /// Runs a job of each of these, one after the other, each as that scheduler starts it.
    pub fn in_a_row(&self, works: &[Work], scheduler: Scheduler) -> Result<Took> {
        let mut all = Took::default();
        for work in works {
            let took = self.together(&[*work], scheduler)?;
            all = Took { wall: all.wall + took.wall, used: all.used + took.used };
        }
        Ok(all)
    }

    /// Milliseconds that `true` takes while a job on all nodes works, with which it takes turns.
    pub fn interactive(&self, work: Work, slice: Duration, rounds: usize) -> Result<Vec<f64>> {
        self.schedule(Scheduler::Gang(slice))?;
        let big = self.start(work)?;
        self.until("the ranks are ready", || Ok(self.ready()?.len() == 1))?;
        let number = self.ready()?[0];
        fs::write(self.home.join(GO), "")?;
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            self.cluster.muster(&["run", "true"])?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        self.cluster.muster(&["kill", "-s", "KILL", &number.to_string()])?;
        drop(big);
        self.until("the job has ended", || {
            let told = self.cluster.command(&["ps", "--json"]).stdout(Stdio::piped()).output()?;
            let told: Value = serde_json::from_slice(&told.stdout)?;
            Ok(told["jobs"].as_array().is_none_or(Vec::is_empty))
        })?;
        self.clear()?;
        Ok(times)
    }

    fn start(&self, work: Work) -> Result<Child> {
        let (nodes, own) = (self.nodes.to_string(), std::env::current_exe()?);
        // By way of env: a program that is named by its path would be sent along.
        let mut command = self.cluster.command(&["run", "-N", &nodes, "env"]);
        command.arg(own).arg(PROGRAM).args(work.words()).arg(&self.home).stdout(Stdio::piped());
        Child::start(&mut command)
    }

    /// The jobs all of whose ranks are ready, in the order of their numbers.
    fn ready(&self) -> Result<Vec<u32>> {
        let mut jobs: Vec<u32> = Vec::new();
        for entry in fs::read_dir(&self.home)? {
            let name = entry?.file_name().into_string().unwrap_or_default();
            jobs.extend(name.split_once('.').and_then(|(job, _)| job.parse::<u32>().ok()));
        }
        jobs.sort_unstable();
        let all = jobs.chunk_by(|a, b| a == b).filter(|ranks| ranks.len() == self.nodes);
        Ok(all.map(|ranks| ranks[0]).collect())
    }

    /// Nobody is there any more.
    fn clear(&self) -> Result<()> {
        for entry in fs::read_dir(&self.home)? {
            fs::remove_file(entry?.path())?;
        }
        Ok(())
    }

    fn until(&self, what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !is_so()? {
            ensure!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }
}
