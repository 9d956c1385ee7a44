//! `muster down`: ends a cluster, whatever state it is in.

use super::{SCHEMA, Usage, print_json};
use crate::cluster::{Context, Status, cluster_flag};
use anyhow::{Result, bail};
use muster_base::nodeset::fold;
use muster_machine::keeper::{Downed, down};
use muster_ninep::error::Errno;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;

/// End a cluster and all that runs in it, within ten seconds.
///
/// What is stopped or does not answer is killed. Without a cluster there is nothing to do, and
/// that is no error. A job cannot take its own cluster down.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    if let Some(view) = context.view.as_deref().filter(|view| *view != "/") {
        return Err(Usage(not_alone(&context.cluster, view)).into());
    }
    if let Some(job) = context.own_job() {
        bail!(
            "this is job {job} of cluster {}, and a job cannot take its own cluster down: muster \
             down outside of it  [E129]",
            context.cluster
        );
    }
    if is_in_own_view(context) {
        let text = "down ends the whole cluster, and who is named in a view of it sees no more";
        return Err(Usage(text.to_owned()).into());
    }
    context.clear_dead();
    let jobs = running_jobs(context);
    let downed = down(&context.runtime, &context.cluster)?;
    if args.json {
        let was_up = downed.as_ref().is_some_and(|downed| downed.was_up);
        let Downed { nodes, killed, away, was_ending, .. } = downed.unwrap_or_default();
        print_json(&json!({
            "schema": SCHEMA, "cluster": context.cluster, "was_up": was_up,
            "was_ending": was_ending, "nodes": nodes, "jobs": jobs, "killed": killed,
            "away": away,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let others = context.all_up();
    writeln!(std::io::stdout(), "{}", sentence(&context.cluster, jobs, downed.as_ref(), &others))?;
    Ok(ExitCode::SUCCESS)
}

/// What is said where somebody works in a view.
fn not_alone(cluster: &str, view: &str) -> String {
    let named = cluster_flag(cluster);
    let all = format!("down ends the whole cluster, not the view {view} alone");
    format!("{all}; say so: muster {named}--view / down")
}

/// Whether the manager takes this user for one of a view, who sees no others.
fn is_in_own_view(context: &Context) -> bool {
    let Ok(client) = context.connect() else { return false };
    matches!(client.read_to_string("views/ctl"), Err(error) if error.errno == Errno::NOENT)
}

/// How many jobs are about to be ended, where the manager tells: those of all views.
fn running_jobs(context: &Context) -> Option<usize> {
    let client = context.of(&context.cluster).connect().ok()?;
    let jobs = Status::read(&client).ok()?.jobs;
    Some(jobs.iter().filter(|job| job["state"] != "done").count())
}

fn sentence(
    cluster: &str,
    jobs: Option<usize>,
    downed: Option<&Downed>,
    others: &[String],
) -> String {
    let Some(downed) = downed else {
        let Some(other) = others.first() else {
            return format!("no cluster {cluster} is up: nothing to do");
        };
        let all = others.join(", ");
        return format!(
            "no cluster {cluster} is up, but {all}; to end it: muster --cluster {other} down"
        );
    };
    if !downed.was_up && !downed.was_ending {
        return format!("cluster {cluster} had crashed: what was left of it is removed");
    }
    let nodes = match downed.nodes.len() {
        0 => String::new(),
        1 => format!(": node {} ended", downed.nodes[0]),
        count => format!(": {count} nodes {} ended", fold(&downed.nodes)),
    };
    let jobs = match jobs {
        None | Some(0) => String::new(),
        Some(1) => " with 1 job".into(),
        Some(count) => format!(" with {count} jobs"),
    };
    let killed = match downed.killed.as_slice() {
        [] => String::new(),
        some => format!(" (killed, since it did not end by itself: {})", fold(some)),
    };
    let away = match downed.away.as_slice() {
        [] => String::new(),
        some => format!(
            "; the hosts of {} could not be reached: what runs there ends within a minute, unless \
             it is stopped",
            fold(some)
        ),
    };
    let how = if downed.was_ending { "was ending already, and is down" } else { "is down" };
    format!("cluster {cluster} {how}{nodes}{jobs}{killed}{away}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_works_in_a_view_is_told_how_to_end_them_all() {
        assert!(
            not_alone("default", "lab")
                .ends_with("the view lab alone; say so: muster --view / down")
        );
        assert!(not_alone("x", "lab").ends_with("muster --cluster x --view / down"));
    }

    #[test]
    fn it_says_what_it_ended() {
        let sentence = |jobs, downed: Option<&Downed>| sentence("x", jobs, downed, &[]);
        assert_eq!(sentence(None, None), "no cluster x is up: nothing to do");
        let said = super::sentence("x", None, None, &["lab".to_owned()]);
        assert_eq!(said, "no cluster x is up, but lab; to end it: muster --cluster lab down");
        let mut downed = Downed::default();
        assert!(sentence(None, Some(&downed)).contains("had crashed"));
        downed.was_ending = true;
        assert!(sentence(None, Some(&downed)).ends_with("x was ending already, and is down"));
        downed.was_ending = false;
        downed.was_up = true;
        downed.nodes = ["n0", "n1", "n2"].map(String::from).to_vec();
        let said = sentence(Some(2), Some(&downed));
        assert_eq!(said, "cluster x is down: 3 nodes n[0-2] ended with 2 jobs");
        downed.killed = vec!["manager".into()];
        assert!(sentence(None, Some(&downed)).ends_with("by itself: manager)"));
        (downed.killed, downed.away) = (vec![], vec!["n3".into()]);
        let said = sentence(None, Some(&downed));
        assert!(
            said.contains("3 nodes n[0-2] ended; the hosts of n3 could not be reached"),
            "{said}"
        );
    }
}
