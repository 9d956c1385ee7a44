//! `muster partition`: named sets of nodes with rules of their own.

use super::{SCHEMA, done, print_json, refused};
use crate::cluster::Context;
use crate::table;
use anyhow::Result;
use muster_base::quote;
use serde_json::{Value, json};
use std::process::ExitCode;

/// List, make or delete partitions: sets of nodes with a priority, a longest time, and times at
/// which they are reserved.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    muster partition create night --nodes n[0-3] --time 8h --reserve 22:00-06:00\n  \
    muster run --partition night -N 4 ./heat")]
pub struct Args {
    #[command(subcommand)]
    order: Option<Order>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Order {
    /// Make a partition, or make one anew: what is not given is not kept
    Create {
        /// Its name
        name: String,
        /// Its nodes, such as n[0-3]
        #[arg(long)]
        nodes: String,
        /// Added to the priority of each of its jobs
        #[arg(long, value_name = "N", allow_hyphen_values = true)]
        priority: Option<i32>,
        /// Longest time that its jobs may have
        #[arg(long, value_name = "TIME")]
        time: Option<String>,
        /// When its nodes are for its jobs only: each day HH:MM-HH:MM (UTC), or once
        /// @SECONDS-@SECONDS (since 1970); may be repeated. A job without a --time never gets nodes
        /// that are reserved each day, as nobody knows whether it ends before
        #[arg(long, value_name = "FROM-TO")]
        reserve: Vec<String>,
    },
    /// Delete a partition, of which no job is left
    Delete {
        /// Its name
        name: String,
    },
}

impl Order {
    /// The line for the file `partitions`.
    fn line(&self) -> String {
        let words = match self {
            Order::Delete { name } => vec!["delete".to_owned(), name.clone()],
            Order::Create { name, nodes, priority, time, reserve } => {
                let mut words = vec!["create".to_owned(), name.clone(), format!("nodes={nodes}")];
                words.extend(priority.map(|priority| format!("priority={priority}")));
                words.extend(time.as_ref().map(|time| format!("time={time}")));
                words.extend(reserve.iter().map(|window| format!("reserve={window}")));
                words
            }
        };
        quote::join(&words) + "\n"
    }
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let client = context.connect()?;
    if let Some(order) = &args.order {
        client.write("partitions", order.line()).map_err(refused)?;
        return done(args.json, context);
    }
    let all = client.read_to_string("partitions").map_err(refused)?;
    let parts: Vec<Value> = all.lines().map(value).collect();
    if args.json {
        let cluster = &context.cluster;
        print_json(&json!({"schema": SCHEMA, "cluster": cluster, "partitions": parts}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let cell = |part: &Value, name: &str| match &part[name] {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::Null => "-".to_owned(),
        one => one.as_str().map_or_else(|| one.to_string(), str::to_owned),
    };
    let names = ["name", "nodes", "priority", "time", "reserve"];
    let rows: Vec<Vec<String>> =
        parts.iter().map(|part| names.map(|name| cell(part, name)).to_vec()).collect();
    table::print(&["PARTITION", "NODES", "PRIORITY", "TIME", "RESERVED"], &rows)?;
    Ok(ExitCode::SUCCESS)
}

/// A line of the file `partitions`.
fn value(line: &str) -> Value {
    let mut words = line.split(' ');
    let mut value = json!({"name": words.next(), "nodes": null, "priority": null, "time": null,
                           "reserve": []});
    for (name, set) in words.filter_map(|word| word.split_once('=')) {
        match &mut value[name] {
            Value::Array(all) => all.push(set.into()),
            one if name == "priority" => *one = set.parse::<i64>().ok().into(),
            one => *one = set.into(),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_a_line_both_ways() {
        let order = Order::Create {
            name: "night".into(),
            nodes: "n[0-3]".into(),
            priority: Some(-5),
            time: Some("8h".into()),
            reserve: vec!["22:00-06:00".into()],
        };
        let line = order.line();
        let words = muster_base::quote::split(line.trim()).unwrap();
        let said = ["nodes=n[0-3]", "priority=-5", "time=8h", "reserve=22:00-06:00"];
        assert_eq!(words[1..], ["night"].into_iter().chain(said).collect::<Vec<_>>());
        let value = value(&words[1..].join(" "));
        assert_eq!((&value["name"], &value["time"]), (&"night".into(), &"8h".into()));
        assert_eq!((&value["reserve"], &value["priority"]), (&json!(["22:00-06:00"]), &json!(-5)));
        let bare = super::value("lab nodes=n0");
        assert!(bare["priority"].is_null() && bare.get("time").is_some(), "{bare}");
    }
}
