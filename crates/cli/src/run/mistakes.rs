//! What can be seen to be a mistake before anything is started.

use super::failure::{Failure, exit};
use super::show::Goal;
use super::{Input, Wish, foreign};
use muster_base::nodeset;
use muster_machine::manager::spec::Spec;
use rustix::fs::{Access, access};
use std::path::Path;

/// Looks for what cannot be, whatever the cluster has.
///
/// # Errors
/// The first mistake, with exit status 2.
pub fn look(wish: &Wish) -> Result<(), Failure> {
    if let (Some(nodes), Some(ranks)) = (wish.spec.nodes, wish.spec.ranks)
        && ranks < nodes
    {
        let have = if ranks == 1 { "1 rank".into() } else { format!("{ranks} ranks") };
        let text = format!("{have} cannot be on {nodes} nodes: each needs one. Use -N {ranks}");
        return Err(mistake("E111", text));
    }
    if wish.spec.requeue > 0 && wish.input != Input::None {
        let text = "--requeue: a rank's input cannot be read a second time. Use --input none, and \
                    send what ranks read along: --bcast FILE";
        return Err(mistake("E100", text));
    }
    let ranks = rank_count(&wish.spec);
    foreign::check(&wish.program, &wish.named, ranks.unwrap_or(1))?;
    check_input(&wish.input, ranks)?;
    for path in &wish.bcast {
        readable(path).map_err(|why| {
            let text = format!("--bcast {}: {why}. See: ls -l {0}", path.display());
            mistake("E104", text)
        })?;
    }
    wish.goals.iter().try_for_each(check_directory)
}

fn mistake(id: &'static str, text: impl Into<String>) -> Failure {
    Failure::new(id, exit::USAGE, text)
}

/// How many ranks there will be; nothing if the nodes are chosen by a set that is none.
fn rank_count(spec: &Spec) -> Option<usize> {
    let nodes = match (spec.ranks, spec.nodes, &spec.nodelist) {
        (Some(ranks), _, _) => return Some(ranks),
        (None, Some(nodes), _) => nodes,
        (None, None, Some(list)) => nodeset::expand(list).ok()?.len(),
        (None, None, None) => 1,
    };
    Some(spec.per_node.as_ref().map_or(nodes, |each| each.on(nodes)))
}

fn check_input(input: &Input, ranks: Option<usize>) -> Result<(), Failure> {
    match (input, ranks) {
        (Input::Rank(rank), Some(ranks)) if *rank as usize >= ranks => {
            let last = ranks.saturating_sub(1);
            let are = if ranks == 1 {
                "there is only rank 0".to_owned()
            } else {
                format!("there are ranks 0-{last}")
            };
            let text = format!(
                "--input {rank}: {are}. Use --input {last}, or ./{rank} for a file of that name"
            );
            Err(mistake("E100", text))
        }
        (Input::File(path), _) => readable(path)
            .and_then(|directory| match directory {
                true => Err("is a directory, not input".to_owned()),
                false => Ok(()),
            })
            .map_err(|why| {
                let text =
                    format!("--input {}: {why}. Use a file, none, all or a rank", path.display());
                mistake("E141", text)
            }),
        _ => Ok(()),
    }
}

/// Whether it is a directory; why it cannot be read. It is not opened: a pipe is opened once.
fn readable(path: &Path) -> Result<bool, String> {
    let meta = path.metadata().map_err(|error| super::said(&error))?;
    access(path, Access::READ_OK).map_err(|error| super::said(&error.into()))?;
    Ok(meta.is_dir())
}

/// A directory that is missing, or is where a file is to be, is better known before the job runs.
fn check_directory(goal: &Goal) -> Result<(), Failure> {
    let Goal::Files(template) = goal else { return Ok(()) };
    if let Some(file) = template.fixed()
        && Path::new(file).is_dir()
    {
        let text = format!("{file} is a directory, not a file for output. Use {file}/NAME");
        return Err(mistake("E140", text));
    }
    let Some(dir) = template.fixed_dir() else { return Ok(()) };
    if Path::new(dir).is_dir() {
        return Ok(());
    }
    let text = format!("{dir}: no such directory for output files. First: mkdir -p {dir}");
    Err(mistake("E140", text))
}
