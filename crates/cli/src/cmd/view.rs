//! `muster view`: logical clusters in one.

use super::{SCHEMA, done, print_json, refused, table};
use crate::cluster::Context;
use anyhow::Result;
use muster_base::quote;
use serde_json::{Value, json};
use std::process::ExitCode;

/// List, make or delete views: each is some nodes of the cluster and the jobs made on them.
///
/// Who works in a view (--view, or $MUSTER_VIEW) sees its nodes and jobs and no others; only
/// the files of a node (muster ls /nodes/n3) are of all that runs there. A user who is named with
/// --user works in it without asking, as $USER says; --view / is the whole cluster.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster view create lab --nodes n[0-3]\n  \
                        muster --view lab run -N 4 hostname")]
pub struct Args {
    #[command(subcommand)]
    order: Option<Order>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Order {
    /// Make a view, or change one that has no jobs
    Create {
        /// Its name
        name: String,
        /// Its nodes, such as n[0-3]
        #[arg(long)]
        nodes: String,
        /// Who sees it and nothing else; may be repeated
        #[arg(long, value_name = "NAME")]
        user: Vec<String>,
    },
    /// Delete a view that has no jobs
    Delete {
        /// Its name
        name: String,
    },
}

impl Order {
    /// The line for the file `views/ctl`.
    fn line(&self) -> String {
        let words = match self {
            Order::Delete { name } => vec!["delete".to_owned(), name.clone()],
            Order::Create { name, nodes, user } => {
                let mut words = vec!["create".to_owned(), name.clone(), format!("nodes={nodes}")];
                words.extend(user.iter().map(|user| format!("user={user}")));
                words
            }
        };
        quote::join(&words) + "\n"
    }
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    let client = context.connect()?;
    if let Some(order) = &args.order {
        client.write("views/ctl", order.line()).map_err(refused)?;
        return done(args.json, context);
    }
    let all = client.read_to_string("views/ctl").map_err(refused)?;
    let views: Vec<Value> = all.lines().map(value).collect();
    if args.json {
        print_json(&json!({"schema": SCHEMA, "cluster": context.cluster, "views": views}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |view: &Value| {
        let users: Vec<&str> =
            view["users"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let text = |name: &str| view[name].as_str().unwrap_or_default().to_owned();
        vec![text("name"), text("nodes"), users.join(",")]
    };
    table::print(&["VIEW", "NODES", "USERS"], &views.iter().map(row).collect::<Vec<_>>())?;
    Ok(ExitCode::SUCCESS)
}

/// A line of the file `views/ctl`.
fn value(line: &str) -> Value {
    let mut words = line.split(' ');
    let mut value = json!({"name": words.next(), "nodes": "", "users": []});
    for word in words {
        match (word.split_once('='), &mut value["users"]) {
            (Some(("user", user)), Value::Array(users)) => users.push(user.into()),
            (Some(("nodes", nodes)), _) => value["nodes"] = nodes.into(),
            _ => {}
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_a_line_both_ways() {
        let (name, nodes) = ("lab".to_owned(), "n[0-3]".to_owned());
        let order = Order::Create { name, nodes, user: vec!["ann".into(), "bob".into()] };
        let words = muster_base::quote::split(order.line().trim()).unwrap();
        assert_eq!(words, ["create", "lab", "nodes=n[0-3]", "user=ann", "user=bob"]);
        let value = value(&words[1..].join(" "));
        assert_eq!((&value["nodes"], &value["users"]), (&"n[0-3]".into(), &json!(["ann", "bob"])));
    }
}
