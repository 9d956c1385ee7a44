//! What jobs that take turns have to do without on the machines of a cluster.

use crate::cluster::Status;
use crate::run::say;
use muster_base::limits::SLICE_MIN_SHARED;
use muster_base::nodeset::fold;
use muster_ninep::client::Client;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long the manager or a node may take to answer.
const ANSWER: Option<Duration> = Some(Duration::from_secs(2));

/// How long strobers may take to be there, all together, and the pause until they are asked again.
const STROBER: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(20);

/// Tells the user, machine by machine. What cannot be found out is not told.
pub fn tell_limits(client: &Client) {
    for line in limits(&client.with_deadlines(ANSWER, ANSWER)) {
        say(&format!("muster: {line}"));
    }
}

/// The same, in sentences.
fn limits(client: &Client) -> Vec<String> {
    let json =
        |path: &str| -> Option<Value> { serde_json::from_slice(&client.read(path).ok()?).ok() };
    let slots = json("slots").unwrap_or_default();
    let by: Vec<&str> =
        slots["least_by"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if by.is_empty() {
        return Vec::new();
    }
    let status = Status::read(client).unwrap_or_default();
    let host_of = |name: &str| {
        let node = status.nodes.iter().find(|node| node.name == name);
        node.and_then(|node| node.host.clone())
    };
    let mut machines: BTreeMap<bool, Vec<Option<String>>> = BTreeMap::new();
    let until = Instant::now() + STROBER;
    for node in by {
        let path = format!("nodes/{node}/strobe");
        let mut told = json(&path);
        // One that is being started does not answer yet, nor does one that has just died, which may
        // not be the last.
        while told.is_none() && Instant::now() < until {
            std::thread::sleep(PAUSE);
            told = json(&path);
        }
        if let Some(told) = told {
            machines.entry(told["by"] == "freezer").or_default().push(host_of(node));
        }
    }
    machines.into_iter().map(|(is_held, hosts)| sentence(is_held, &hosts)).collect()
}

/// What is so on some machines, where jobs are held by control groups or not. Of one that is all
/// there is no host is told.
fn sentence(is_held: bool, hosts: &[Option<String>]) -> String {
    let ms = SLICE_MIN_SHARED.as_millis();
    let hosts: Vec<&String> = hosts.iter().flatten().collect();
    let on = if hosts.is_empty() { String::new() } else { format!(" on {}", fold(&hosts)) };
    let (how, why) = match is_held {
        true => (String::new(), format!("not run the strober SCHED_FIFO{on}")),
        false => (
            format!(" and are stopped by signals{on}, which SIGCONT undoes"),
            "neither run the strober SCHED_FIFO nor make control groups there".to_owned(),
        ),
    };
    let why = if on.is_empty() { why.replace(" there", "") } else { why };
    format!(
        "jobs take turns of {ms} ms or longer{how}, since you may {why}: see muster explain N125  \
         [N125]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_make_turns_longer_are_named_and_this_machine_alone_is_not() {
        let hosts = |names: &[&str]| -> Vec<Option<String>> {
            names.iter().map(|name| Some((*name).to_owned())).collect()
        };
        assert_eq!(
            sentence(true, &[None]),
            "jobs take turns of 10 ms or longer, since you may not run the strober SCHED_FIFO: see \
             muster explain N125  [N125]"
        );
        assert!(sentence(true, &hosts(&["h2", "h5"])).contains("SCHED_FIFO on h[2,5]: see"));
        assert_eq!(
            sentence(false, &hosts(&["h3"])),
            "jobs take turns of 10 ms or longer and are stopped by signals on h3, which SIGCONT \
             undoes, since you may neither run the strober SCHED_FIFO nor make control groups \
             there: see muster explain N125  [N125]"
        );
        assert!(sentence(false, &[None]).contains("nor make control groups: see"));
    }
}
