//! `muster history`: jobs that have ended.

use super::{SCHEMA, Several, now, print_json};
use crate::cluster::Context;
use crate::job_rows;
use crate::members::{self, Connections, JobName};
use crate::table;
use anyhow::{Result, anyhow};
use muster_base::span;
use muster_machine::manager::spec::{End, Status as Job};
use muster_ninep::client::Client;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// List jobs that have ended, the last ones at the end.
///
/// The cluster remembers thousands of jobs for as long as it is up: 4 to 8 MiB of them, 500 bytes
/// each and more for many nodes or long command lines. Output and single ranks are kept of the last
/// 256 only: muster ps --all. Of a job that has begun again each attempt has a line.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster history 7\n  \
                        muster history --since 1h --state failed,lost\n  \
                        muster history -n 20 --json")]
pub struct Args {
    /// Only these jobs: numbers, or CLUSTER.NUMBER
    #[arg(value_name = "JOB")]
    jobs: Vec<JobName>,
    /// Those that have ended within this time: 90s, 5m, 1h, 2d, HH:MM:SS
    #[arg(long, value_name = "TIME", value_parser = span::parse)]
    since: Option<std::time::Duration>,
    /// Those of this user: a name or a number
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Those that have ended so: done, failed, killed, timeout, lost
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = parse_state)]
    state: Vec<End>,
    /// At most so many, the last ones
    #[arg(short = 'n', long, value_name = "COUNT")]
    last: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn parse_state(text: &str) -> Result<End, String> {
    let found = End::ALL.into_iter().find(|end| end.name() == text);
    found.ok_or_else(|| "a job ends as done, failed, killed, timeout or lost".to_owned())
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let (mut all, mut several) = (Vec::new(), Several::of(&args.jobs));
    let told = told(args, context, &mut several)?;
    for (cluster, text) in &told {
        let cluster = cluster.as_deref();
        let of_cluster = chosen(args, cluster, text, now()).into_iter().map(|(mut value, job)| {
            if let Some(name) = cluster {
                value["cluster"] = name.into();
            }
            (value, job)
        });
        all.extend(of_cluster);
    }
    let is_told = |name: &&JobName| told.iter().any(|(of, _)| of.as_deref() == name.cluster());
    for name in args.jobs.iter().filter(is_told) {
        several.next(
            match all.iter().any(|(value, job)| is_job(name, value["cluster"].as_str(), job.id)) {
                true => Ok(()),
                false => Err(missing(name)),
            },
        )?;
    }
    // Each has its own in order, and at most as many as are asked for.
    all.sort_by(|(_, one), (_, other)| {
        one.ended.unwrap_or(0.0).total_cmp(&other.ended.unwrap_or(0.0))
    });
    let skip = args.last.map_or(0, |last| all.len().saturating_sub(last));
    let chosen = all.split_off(skip);
    if args.json {
        let jobs: Vec<Value> = chosen.into_iter().map(|(value, _)| value).collect();
        print_json(&json!({"schema": SCHEMA, "cluster": context.cluster, "jobs": jobs}))?;
        return Ok(several.exit());
    }
    let row = |(value, job): &(Value, Job)| {
        let mut row = job_rows::row(job, value["cluster"].as_str(), now());
        row.insert(ENDED_AT, ago(now() - job.ended.unwrap_or(0.0)));
        row
    };
    let rows: Vec<Vec<String>> = chosen.iter().map(row).collect();
    let mut columns = job_rows::COLUMNS.to_vec();
    columns.insert(ENDED_AT, table::Column { name: "ENDED", worth: 6 });
    table::print_fitted(&columns, &rows)?;
    Ok(several.exit())
}

/// The history of each cluster that is seen, or of those whose jobs are named, as it is written.
fn told(
    args: &Args,
    context: &Context,
    several: &mut Several,
) -> Result<Vec<(Option<String>, Vec<u8>)>> {
    let read = |client: &Client| client.read("history").map_err(|error| anyhow!("{error}  [E401]"));
    let mut told = Vec::new();
    if args.jobs.is_empty() {
        let client = context.connect()?;
        for member in members::all(context, &client)? {
            let text = member.tell(read)?;
            told.extend(text.map(|text| (member.name, text)));
        }
        return Ok(told);
    }
    let mut connections = Connections::default();
    for name in &args.jobs {
        let cluster = name.cluster().map(str::to_owned);
        if told.iter().all(|(known, _)| *known != cluster)
            && let Some(Some(client)) = several.next(connections.to(name, context))?
            && let Some(text) = several.next(read(&client))?
        {
            told.push((cluster, text));
        }
    }
    Ok(told)
}

/// Whether a job of that cluster is the one that is named.
fn is_job(name: &JobName, cluster: Option<&str>, id: u32) -> bool {
    name.number == id && name.cluster() == cluster
}

fn missing(name: &JobName) -> anyhow::Error {
    let (job, listing) = (name.label(), name.listing());
    anyhow!("no job {job} is remembered that has ended so; see: {listing}  [E162]")
}

/// Where the column is that says when.
const ENDED_AT: usize = 6;

/// The jobs that are asked for, by when they ended, each attempt of those that have begun again for
/// itself. Of what is told twice the last counts: a manager has died while it wrote the first.
fn chosen(args: &Args, cluster: Option<&str>, lines: &[u8], now: f64) -> Vec<(Value, Job)> {
    let lines = lines.split(|byte| *byte == b'\n');
    let mut last: BTreeMap<_, (usize, Value, Job)> = BTreeMap::new();
    for (at, line) in lines.enumerate() {
        // A line that was cut off tells nothing.
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        let Ok(job) = serde_json::from_value::<Job>(value.clone()) else { continue };
        last.insert((job.id, job.requeued.len()), (at, value, job));
    }
    let mut all: Vec<(usize, Value, Job)> = last.into_values().collect();
    all.sort_by_key(|(at, ..)| *at);
    let is_asked = |job: &Job| {
        let since = args
            .since
            .is_none_or(|span| job.ended.is_some_and(|ended| ended >= now - span.as_secs_f64()));
        let by = |user: &String| *user == job.user.to_string() || *user == job_rows::user(job.user);
        let state = args.state.is_empty() || job.end.is_some_and(|end| args.state.contains(&end));
        let mut named = args.jobs.iter();
        let named = args.jobs.is_empty() || named.any(|name| is_job(name, cluster, job.id));
        named && since && state && args.user.as_ref().is_none_or(by)
    };
    let asked = all.into_iter().filter(|(_, _, job)| is_asked(job));
    let asked: Vec<(Value, Job)> = asked.map(|(_, value, job)| (value, job)).collect();
    // Of those that are named it is told whether they are there.
    let most = args.last.filter(|_| args.jobs.is_empty());
    let skip = most.map_or(0, |last| asked.len().saturating_sub(last));
    asked.into_iter().skip(skip).collect()
}

/// How long ago, in the largest unit.
fn ago(seconds: f64) -> String {
    match seconds.max(0.0) as u64 {
        s @ 0..60 => format!("{s}s ago"),
        s @ 60..3600 => format!("{}m ago", s / 60),
        s @ 3600..86_400 => format!("{}h ago", s / 3600),
        s => format!("{}d ago", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(words: &[&str]) -> Vec<u32> {
        #[derive(clap::Parser)]
        struct Only {
            #[command(flatten)]
            args: Args,
        }
        let words = ["history"].iter().chain(words);
        let only = <Only as clap::Parser>::try_parse_from(words).expect("flags");
        let lines = "{\"id\":2,\"user\":7,\"ended\":50,\"end\":\"done\"}\n\
                     {\"id\":1,\"user\":7,\"ended\":60,\"end\":\"failed\"}\n\
                     {\"id\":3,\"us\n\
                     {\"id\":4,\"user\":8,\"ended\":90,\"end\":\"killed\"}\n\
                     {\"id\":2,\"user\":7,\"ended\":95,\"end\":\"killed\"}\n\
                     {\"id\":5,\"user\":9,\"ended\":96,\"end\":\"lost\"}\n\
                     {\"id\":5,\"user\":9,\"ended\":97,\"end\":\"done\",\"requeued\":[\"n0\"]}\n";
        chosen(&only.args, None, lines.as_bytes(), 100.0).iter().map(|(_, job)| job.id).collect()
    }

    #[test]
    fn jobs_are_chosen_by_time_user_and_end_and_each_is_told_once() {
        assert_eq!(ids(&[]), [1, 4, 2, 5, 5], "5 has begun again");
        assert_eq!(ids(&["--since", "20s"]), [4, 2, 5, 5]);
        assert_eq!(ids(&["--user", "7"]), [1, 2]);
        assert_eq!(ids(&["--state", "failed,lost"]), [1, 5]);
        assert_eq!(ids(&["--last", "3"]), [2, 5, 5]);
        assert_eq!(ids(&["--state", "killed", "--user", "8", "-n", "5"]), [4]);
        assert_eq!(ids(&["4", "5"]), [4, 5, 5]);
        assert_eq!(ids(&["5", "--state", "lost"]), [5]);
        assert_eq!(
            ids(&["3", "big.4"]),
            [0; 0],
            "the first is not told whole, the other elsewhere"
        );
    }

    #[test]
    fn when_is_told_in_one_unit() {
        let of = [(0.4, "0s ago"), (61.0, "1m ago"), (7300.0, "2h ago"), (2e5, "2d ago")];
        of.iter().for_each(|(seconds, said)| assert_eq!(ago(*seconds), *said));
    }
}
