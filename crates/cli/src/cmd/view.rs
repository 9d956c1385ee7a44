//! `muster view`: logical clusters: a part of one, or several in one.

use super::{SCHEMA, done, print_json, refused};
use crate::cluster::Context;
use crate::table;
use anyhow::Result;
use muster_base::quote;
use serde_json::{Value, json};
use std::process::ExitCode;

/// List, make or delete views: each is some nodes of the cluster and the jobs made on them, and may
/// merge other clusters with these.
///
/// Who works in a view (--view, or $MUSTER_VIEW) sees its nodes and jobs and no others, also below
/// /nodes; --view / is the whole cluster. A user who is named with --user, as $USER says, has no
/// other view of it. This keeps apart who wants to be, and protects nobody from a program that says
/// it is another: all of a cluster runs as one user.
///
/// A view that merges others has their nodes and jobs as well, which are called big.n3 and big.7
/// in it: ps, nodes, history, kill and logs tell of all, and run chooses the cluster that has room.
/// A job is in one of them. Files are below /clusters/big.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster view create lab --nodes n[0-3]\n  \
                        muster --view lab run -N 4 hostname\n  \
                        muster view create all --merge big,cloud")]
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
        /// Its nodes, such as n[0-3]; all that there are now if it merges clusters
        #[arg(long, required_unless_present = "merge")]
        nodes: Option<String>,
        /// Other clusters of yours that it has as a whole
        #[arg(long, value_name = "CLUSTER", value_delimiter = ',')]
        merge: Vec<String>,
        /// Who sees it and nothing else, if not you; may be repeated
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
            Order::Create { name, nodes, merge, user } => {
                let mut words = vec!["create".to_owned(), name.clone()];
                words.extend(nodes.iter().map(|nodes| format!("nodes={nodes}")));
                words.extend(merge.iter().map(|cluster| format!("cluster={cluster}")));
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
        let names = |name: &str| {
            let all = view[name].as_array().into_iter().flatten().filter_map(Value::as_str);
            all.collect::<Vec<_>>().join(",")
        };
        let text = |name: &str| view[name].as_str().unwrap_or_default().to_owned();
        vec![text("name"), text("nodes"), names("clusters"), names("users")]
    };
    table::print(
        &["VIEW", "NODES", "MERGES", "USERS"],
        &views.iter().map(row).collect::<Vec<_>>(),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A line of the file `views/ctl`.
fn value(line: &str) -> Value {
    let mut words = line.split(' ');
    let name = words.next();
    let (mut nodes, mut clusters, mut users) = ("", Vec::new(), Vec::new());
    for word in words {
        match word.split_once('=') {
            Some(("user", user)) => users.push(user),
            Some(("cluster", cluster)) => clusters.push(cluster),
            Some(("nodes", set)) => nodes = set,
            _ => {}
        }
    }
    json!({"name": name, "nodes": nodes, "clusters": clusters, "users": users})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_a_line_both_ways() {
        let (name, nodes) = ("lab".to_owned(), Some("n[0-3]".to_owned()));
        let (merge, user) = (vec!["big".into()], vec!["ann".into(), "bob".into()]);
        let order = Order::Create { name, nodes, merge, user };
        let words = muster_base::quote::split(order.line().trim()).unwrap();
        let told = ["create", "lab", "nodes=n[0-3]", "cluster=big", "user=ann", "user=bob"];
        assert_eq!(words, told);
        let value = value(&words[1..].join(" "));
        assert_eq!((&value["nodes"], &value["users"]), (&"n[0-3]".into(), &json!(["ann", "bob"])));
        assert_eq!(value["clusters"], json!(["big"]));
    }
}
