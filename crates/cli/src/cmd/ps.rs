//! `muster ps`: jobs, and their ranks.

use super::{SCHEMA, job_refused, now, print_json, table};
use crate::cluster::{Context, Status};
use anyhow::Result;
use muster_base::ending::Ending;
use muster_base::nodeset::fold;
use muster_machine::manager::spec::{RankStatus, Status as Job};
use muster_ninep::client::Client;
use serde_json::{Value, json};
use std::process::ExitCode;

/// List jobs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster ps --all\n  muster ps -r 3")]
pub struct Args {
    /// Only these jobs
    #[arg(value_name = "JOB")]
    jobs: Vec<u32>,
    /// Jobs that have ended, too
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
    let client = context.connect()?;
    let status = Status::read(&client)?;
    let values = chosen(args, &client, &status)?;
    if args.json {
        print_json(&json!({
            "schema": SCHEMA, "cluster": context.cluster, "transport": status.transport,
            "jobs": values,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let jobs: Vec<Job> =
        values.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
    if args.ranks {
        let rows: Vec<Vec<String>> = jobs.iter().flat_map(rank_rows).collect();
        table::print(&["JOB", "RANK", "NODE", "PID", "STATE", "END"], &rows)?;
    } else {
        let rows: Vec<Vec<String>> = jobs.iter().map(|job| job_row(job, now())).collect();
        table::print(&["JOB", "STATE", "NAME", "NODES", "RANKS", "TIME", "EXIT", "WHY"], &rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The status of each job that was asked for.
fn chosen(args: &Args, client: &Client, status: &Status) -> Result<Vec<Value>> {
    let whole = |job: u32| {
        let text = client.read(&format!("jobs/{job}/status"));
        let text = text.map_err(|error| job_refused(job, error))?;
        Ok(serde_json::from_slice(&text)?)
    };
    if !args.jobs.is_empty() {
        return args.jobs.iter().map(|&job| whole(job)).collect();
    }
    let shown = status.jobs.iter().filter(|job| args.all || job["state"] != "done");
    if !args.ranks {
        return Ok(shown.cloned().collect());
    }
    let numbers = shown.filter_map(|job| job["id"].as_u64());
    numbers.map(|number| whole(number as u32)).collect()
}

fn job_row(job: &Job, now: f64) -> Vec<String> {
    let start = job.started.unwrap_or(job.submitted);
    let time = table::span(job.ended.unwrap_or(now) - start);
    let name = job.name.rsplit('/').next().unwrap_or(&job.name);
    let exit = job.exit.map(|code| code.to_string());
    vec![
        job.id.to_string(),
        job.state.name().to_owned(),
        name.to_owned(),
        fold(&job.nodes),
        job.ranks.len().to_string(),
        time,
        exit.unwrap_or_default(),
        job.why.clone().unwrap_or_default(),
    ]
}

fn rank_rows(job: &Job) -> Vec<Vec<String>> {
    let row = |rank: &RankStatus| {
        vec![
            job.id.to_string(),
            rank.rank.to_string(),
            rank.node.clone(),
            rank.pid.map(|pid| pid.to_string()).unwrap_or_default(),
            rank.state.name().to_owned(),
            rank.why
                .clone()
                .or_else(|| rank.status.map(|raw| Ending::of(raw).to_string()))
                .unwrap_or_default(),
        ]
    };
    job.ranks.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_a_row_and_so_is_each_rank() {
        let job: Job = serde_json::from_value(json!({
            "id": 3, "state": "done", "name": "/bin/heat", "nodes": ["n0", "n1"],
            "started": 10.0, "ended": 12.5, "exit": 1, "why": null, "unknown": [],
            "ranks": [
                {"rank": 0, "node": "n0", "pid": 7, "state": "done", "status": 256},
                {"rank": 1, "node": "n1", "state": "lost", "why": "n1 died"},
            ],
        }))
        .expect("a status");
        assert_eq!(job_row(&job, 99.0), ["3", "done", "heat", "n[0-1]", "2", "2.5s", "1", ""]);
        let rows = rank_rows(&job);
        assert_eq!(rows[0], ["3", "0", "n0", "7", "done", "exited 1"]);
        assert_eq!(rows[1], ["3", "1", "n1", "", "lost", "n1 died"]);
    }
}
