//! `muster ps`: jobs, and their ranks.

use super::{SCHEMA, Several, job_path, job_refused, now, print_json, refused};
use crate::cluster::{Context, Status};
use crate::job_rows;
use crate::members::{self, Connections, JobName, label};
use crate::table::{self, Column};
use anyhow::Result;
use muster_base::ending::Ending;
use muster_machine::manager::overview::{JobUsage, Overview};
use muster_machine::manager::spec::{RankPhase, RankStatus, Status as Job};
use muster_ninep::client::Client;
use muster_ninep::error::Errno;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

/// How long what is used now may take to be found out.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(2));

/// List jobs: what runs or waits now, and what it uses.
///
/// TIME is since a job runs or, until it does, since it waits, CPU its processor time, MEM what is
/// resident (of a job that has ended the sum of what its ranks had at most; of one that was killed
/// at once only what was alive then had), READ and WRITTEN the bytes that its ranks have read and
/// written, pipes included.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster ps --all\n  muster ps -r 3")]
pub struct Args {
    /// Only these jobs: numbers, or CLUSTER.NUMBER
    #[arg(value_name = "JOB")]
    jobs: Vec<JobName>,
    /// Jobs that have ended, too, as long as their output is kept: the last 256. See also: muster
    /// history
    #[arg(short, long)]
    all: bool,
    /// A line for each rank
    #[arg(short, long)]
    ranks: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let mut several = Several::of(&args.jobs);
    let (transport, values) = match args.jobs.is_empty() {
        true => listed(args, context)?,
        false => named(args, context, &mut several)?,
    };
    if args.json {
        print_json(&json!({
            "schema": SCHEMA, "cluster": context.cluster, "transport": transport,
            "jobs": values,
        }))?;
        return Ok(several.exit());
    }
    let mut rows = Vec::new();
    for value in values {
        let cluster = value["cluster"].as_str().map(str::to_owned);
        let job: Job = serde_json::from_value(value)?;
        match args.ranks {
            true => rows.extend(rank_rows(&job, cluster.as_deref())),
            false => rows.push(job_rows::row(&job, cluster.as_deref(), now())),
        }
    }
    table::print_fitted(if args.ranks { &RANK_COLUMNS } else { &job_rows::COLUMNS }, &rows)?;
    Ok(several.exit())
}

/// How nodes are reached, and jobs: those of a cluster that the view merges say which it is.
type Told = (String, Vec<Value>);

/// The jobs of all clusters that are seen.
fn listed(args: &Args, context: &Context) -> Result<Told> {
    let client = context.connect()?;
    let (mut transport, mut jobs) = (String::new(), Vec::new());
    for member in members::all(context, &client)? {
        let told = member.tell(|client| {
            let status = Status::read(client)?;
            Ok((chosen(args, client, &status)?, status))
        });
        let Some((of_member, status)) = told? else { continue };
        jobs.extend(of_member.into_iter().map(|job| of_cluster(job, member.name.as_deref())));
        if member.name.is_none() {
            transport = status.transport;
        }
    }
    Ok((transport, jobs))
}

/// The jobs that were named.
fn named(args: &Args, context: &Context, several: &mut Several) -> Result<Told> {
    let (mut transport, mut jobs) = (String::new(), Vec::new());
    let mut connections = Connections::default();
    for name in &args.jobs {
        // Of a cluster that is not reached that is said once.
        let Some(client) = several.next(connections.to(name, context))?.flatten() else { continue };
        let Some(job) = several.next(whole(&client, name))? else { continue };
        transport = job["transport"].as_str().unwrap_or_default().to_owned();
        jobs.push(of_cluster(job, name.cluster()));
    }
    Ok((transport, jobs))
}

fn of_cluster(mut job: Value, cluster: Option<&str>) -> Value {
    if let Some(cluster) = cluster {
        job["cluster"] = cluster.into();
    }
    job
}

/// The status of a job, with what it uses now.
fn whole(client: &Client, name: &JobName) -> Result<Value> {
    let text = told(client, name.number);
    let text = text.map_err(|error| job_refused(client, name, error))?;
    let mut job: Value = serde_json::from_slice(&text)?;
    look(client, &mut job);
    Ok(job)
}

fn told(client: &Client, job: u32) -> muster_ninep::error::Result<Vec<u8>> {
    client.read(&format!("{}/status", job_path(job)))
}

/// The status of a job that was listed. Of one that was forgotten since, what the list said.
fn since_listed(listed: &Value, told: muster_ninep::error::Result<Vec<u8>>) -> Result<Value> {
    match told {
        Err(error) if error.errno == Errno::NOENT => Ok(listed.clone()),
        told => Ok(serde_json::from_slice(&told.map_err(refused)?)?),
    }
}

const RANK_COLUMNS: [Column; 11] = [
    Column { name: "JOB", worth: 9 },
    Column { name: "RANK", worth: 9 },
    Column { name: "NODE", worth: 9 },
    Column { name: "PID", worth: 3 },
    Column { name: "STATE", worth: 8 },
    Column { name: "TIME", worth: 5 },
    Column { name: "CPU", worth: 7 },
    Column { name: "MEM", worth: 6 },
    Column { name: "READ", worth: 1 },
    Column { name: "WRITTEN", worth: 1 },
    Column { name: "END", worth: 9 },
];

/// The status of each job of a cluster that is shown, with what it uses now.
fn chosen(args: &Args, client: &Client, status: &Status) -> Result<Vec<Value>> {
    let shown = status.jobs.iter().filter(|job| args.all || job["state"] != "done");
    if args.ranks {
        let whole = |listed: &Value| {
            let number = listed["id"].as_u64().unwrap_or_default() as u32;
            let mut job = since_listed(listed, told(client, number))?;
            look(client, &mut job);
            Ok(job)
        };
        return shown.map(whole).collect();
    }
    let mut shown: Vec<Value> = shown.cloned().collect();
    if shown.iter().any(|job| job["state"] != "done") {
        // Of those that do not tell, what was known before is shown.
        let now: Overview = read(client, "usage").unwrap_or_default();
        let used = now.jobs.iter().map(|job| (u64::from(job.id), job.usage));
        let used: HashMap<_, _> = used.collect();
        for job in &mut shown {
            let usage = job["id"].as_u64().and_then(|id| used.get(&id));
            usage.into_iter().for_each(|usage| job["usage"] = json!(usage));
        }
    }
    Ok(shown)
}

/// Adds what a job that has not ended uses now, and each of its ranks.
fn look(client: &Client, job: &mut Value) {
    if job["state"] == "done" {
        return;
    }
    let usage = read::<JobUsage>(client, &format!("jobs/{}/usage", job["id"]));
    let Some(usage) = usage else { return };
    job["usage"] = json!(usage.usage);
    // Not by an index, which would give a job that waits ranks that are null.
    let ranks = job.get_mut("ranks").and_then(Value::as_array_mut).into_iter().flatten();
    for (rank, used) in ranks.zip(&usage.ranks) {
        rank["usage"] = json!(used.usage);
    }
}

fn read<T: DeserializeOwned>(client: &Client, path: &str) -> Option<T> {
    let patient = client.with_deadlines(PATIENCE, PATIENCE);
    serde_json::from_slice(&patient.read(path).ok()?).ok()
}

fn rank_rows(job: &Job, cluster: Option<&str>) -> Vec<Vec<String>> {
    let row = |rank: &RankStatus| {
        let usage = rank.usage.unwrap_or_default();
        let told = |text: String| if rank.usage.is_some() { text } else { String::new() };
        let bytes = |count: Option<u64>| told(count.map_or("-".into(), table::bytes));
        let span = |micros: u64| told(table::span(micros as f64 / 1e6));
        let runs = rank.state == RankPhase::Running;
        let memory = if runs { usage.rss_kib } else { usage.max_rss_kib };
        let ending = || rank.status.map(|raw| Ending::of(raw).to_string());
        vec![
            label(cluster, job.id),
            rank.rank.to_string(),
            label(cluster, &rank.node),
            rank.pid.map(|pid| pid.to_string()).unwrap_or_default(),
            rank.state.name().to_owned(),
            span(usage.wall_us),
            span(usage.cpu_us()),
            told(table::bytes(memory * 1024)),
            bytes(usage.read),
            bytes(usage.written),
            rank.why.clone().or_else(ending).unwrap_or_default(),
        ]
    };
    job.ranks.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_is_forgotten_while_jobs_are_listed_takes_no_other_with_it() {
        let listed = json!({"id": 3, "state": "done"});
        let told = since_listed(&listed, Err(Errno::NOENT.into())).expect("what was listed");
        assert_eq!(told, listed);
        let told = since_listed(&listed, Ok(br#"{"id": 3, "ranks": []}"#.into())).expect("more");
        assert_eq!(told, json!({"id": 3, "ranks": []}));
        since_listed(&listed, Err(Errno::TIMEDOUT.into())).expect_err("who does not answer");
    }

    #[test]
    fn each_rank_is_a_row() {
        let job: Job = serde_json::from_value(json!({
            "id": 3, "state": "done", "unknown": [],
            "ranks": [
                {"rank": 0, "node": "n0", "pid": 7, "state": "done", "status": 256, "usage":
                    {"user_us": 20_000, "max_rss_kib": 8, "wall_us": 1_000_000, "written": 3}},
                {"rank": 1, "node": "n1", "state": "lost", "why": "n1 died"},
            ],
        }))
        .expect("a status");
        let rows = rank_rows(&job, None);
        assert_eq!(rows[0][..7], ["3", "0", "n0", "7", "done", "1.0s", "0.0s"]);
        assert_eq!(rows[0][7..], ["8.0K", "-", "3B", "exited 1"]);
        assert_eq!(rows[1], ["3", "1", "n1", "", "lost", "", "", "", "", "", "n1 died"]);
        assert_eq!(rows[0].len(), RANK_COLUMNS.len());
        assert_eq!(rank_rows(&job, Some("big"))[1][..3], ["big.3", "1", "big.n1"]);
    }
}
