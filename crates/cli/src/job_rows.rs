//! Jobs as rows of a table: what `ps`, `history` and `top` show of them alike.

use crate::members::{label, labels};
use crate::table::{self, Column};
use muster_base::limits::JOBS_REMEMBERED;
use muster_base::nodeset::fold;
use muster_machine::manager::spec::{Phase, Status as Job};
use muster_machine::usage::Usage;
use muster_ninep::client::Client;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// How much of a name is shown: one long name is not to push all else out of every line.
const NAME_MAX: usize = 40;

/// The columns. Where there is little room those go first that say least.
pub const COLUMNS: [Column; 13] = [
    Column { name: "JOB", worth: 9 },
    Column { name: "STATE", worth: 9 },
    Column { name: "NAME", worth: 9 },
    Column { name: "USER", worth: 1 },
    Column { name: "NODES", worth: 4 },
    Column { name: "RANKS", worth: 5 },
    Column { name: "TIME", worth: 8 },
    Column { name: "CPU", worth: 7 },
    Column { name: "MEM", worth: 6 },
    Column { name: "READ", worth: 2 },
    Column { name: "WRITTEN", worth: 2 },
    Column { name: "EXIT", worth: 3 },
    Column { name: "WHY", worth: 9 },
];

/// The row of a job, of that cluster if a view merges it. Its memory is what is resident now or,
/// when it has ended, the sum of what its ranks had at most.
pub fn row(job: &Job, cluster: Option<&str>, now: f64) -> Vec<String> {
    let usage = job.usage.unwrap_or_default();
    let told = |text: String| if job.usage.is_some() { text } else { String::new() };
    let bytes = |count: Option<u64>| told(count.map_or("-".into(), table::bytes));
    vec![
        label(cluster, job.id),
        state(job).to_owned(),
        table::cut(name(job), NAME_MAX),
        user(job.user),
        fold(labels(cluster, &job.nodes)),
        job.size.to_string(),
        table::span(elapsed(job, now)),
        told(table::span(usage.cpu_us() as f64 / 1e6)),
        told(table::bytes(memory(job, &usage) * 1024)),
        bytes(usage.read),
        bytes(usage.written),
        job.exit.map(|code| code.to_string()).unwrap_or_default(),
        why(job, cluster),
    ]
}

/// What the history tells of a job of which the manager keeps no more: of its last attempt. A view
/// tells of its own.
pub fn forgotten(client: &Client, number: u32) -> Option<Job> {
    let all = client.read("history").ok()?;
    let id = format!("\"id\":{number},");
    // Few of thousands of lines have it.
    let lines = std::str::from_utf8(&all).ok()?.lines().filter(|line| line.contains(&id));
    let jobs = lines.filter_map(|line| serde_json::from_str::<Job>(line).ok());
    jobs.filter(|job| job.id == number).max_by_key(|job| job.requeued.len())
}

/// Says that no more than this is kept of a job.
pub fn no_more_of(label: &str, job: &Job) -> String {
    let exit = job.exit.map(|code| format!(" with exit status {code}")).unwrap_or_default();
    format!(
        "job {label} has ended{exit}, and what it printed is not kept any more: of the last \
         {JOBS_REMEMBERED} jobs it is. See: muster history"
    )
}

/// Why it ended so or waits, in which job it runs and, if it has begun again, why it did the last
/// time.
fn why(job: &Job, cluster: Option<&str>) -> String {
    let attempt = job.requeued.len() + 1;
    let again = job.requeued.last().map(|why| format!("attempt {attempt}, since {why}"));
    let within = job.within.map(|host| format!("in job {}", label(cluster, host)));
    job.why.iter().cloned().chain(within).chain(again).collect::<Vec<_>>().join("; ")
}

/// Where it is in its life or, if that is over, how it ended.
pub fn state(job: &Job) -> &'static str {
    match job.end {
        Some(end) if job.state == Phase::Done => end.name(),
        _ => job.state.name(),
    }
}

/// What it is called, without the program's directory.
pub fn name(job: &Job) -> &str {
    job.name.rsplit('/').next().unwrap_or(&job.name)
}

/// Whose it is. Looked up once for each user, for that reads a file, and jobs may be thousands.
pub fn user(uid: u32) -> String {
    static NAMES: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());
    let look = || muster_ninep::host::user::name(uid).unwrap_or_else(|| uid.to_string());
    NAMES.lock().expect("no holder panics").entry(uid).or_insert_with(look).clone()
}

/// Seconds that it has run, or that it waits; none of one that ended before it ran. To wipe what it
/// leaves is not its own time.
pub fn elapsed(job: &Job, now: f64) -> f64 {
    match (job.started, job.over.or(job.ended)) {
        (Some(started), over) => over.unwrap_or(now) - started,
        (None, Some(_)) => 0.0,
        (None, None) => now - job.stamps.queued.unwrap_or(job.submitted),
    }
}

/// Its memory in KiB.
pub fn memory(job: &Job, usage: &Usage) -> u64 {
    if job.state == Phase::Done { usage.max_rss_kib } else { usage.rss_kib }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_job_is_a_row() {
        let job: Job = serde_json::from_value(json!({
            "id": 3, "state": "done", "name": "/bin/heat", "nodes": ["n0", "n1"], "size": 2,
            "started": 10.0, "ended": 12.5, "exit": 1, "end": "failed", "why": null, "new": [],
            "user": 4_000_000_000_u32,
            "usage": {"user_us": 1_000_000, "system_us": 500_000, "max_rss_kib": 2048,
                "rss_kib": 0, "read": 2048, "written": null},
        }))
        .expect("a status");
        let in_other = super::row(&job, Some("big"), 99.0);
        assert_eq!((&*in_other[0], &*in_other[4]), ("big.3", "big.n[0-1]"));
        let row = row(&job, None, 99.0);
        assert_eq!(row[..7], ["3", "failed", "heat", "4000000000", "n[0-1]", "2", "2.5s"]);
        assert_eq!(row[7..], ["1.5s", "2.0M", "2.0K", "-", "1", ""]);
        assert_eq!(row.len(), COLUMNS.len());
        let again = Job { requeued: vec!["x".into(), "n1 died".into()], ..job };
        assert_eq!(super::row(&again, None, 99.0)[12], "attempt 3, since n1 died");
        let wiped = Job { over: Some(11.0), ..again.clone() };
        assert_eq!(super::row(&wiped, None, 99.0)[6], "1.0s");
        let step = Job { within: Some(2), ..Job::default() };
        assert_eq!(super::row(&step, None, 99.0)[12], "in job 2");
        assert_eq!(super::row(&step, Some("big"), 99.0)[12], "in job big.2");
        let new = Job { id: 4, submitted: 90.0, ..Job::default() };
        assert_eq!(super::row(&new, None, 99.0)[6..11], ["9.0s", "", "", "", ""]);
    }
}
