//! What an administrator has set, kept in the file `settings` of the cluster's directory: it holds
//! until it is changed, also for the next manager.

use super::Manager;
use super::job::Job;
use super::views::View;
use crate::memory::{id_of, name_of};
use crate::schedule::{Config, Partition};
use muster_base::{nodeset, quote};
use muster_fabric::protocol::NodeId;
use muster_ninep::error::{Errno, Result, fail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use std::{fs, io};

/// So many jobs are named that are in the way.
const NAMED: usize = 8;

/// All of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Values {
    /// As [`Config`] reads it; empty is the default.
    pub(super) scheduler: String,
    /// The heartbeat's period, if it was set.
    pub(super) heartbeat: Option<String>,
    /// Nodes that get no jobs, and why.
    pub(super) drained: BTreeMap<String, String>,
    pub(super) partitions: BTreeMap<String, Partition>,
    pub(super) views: BTreeMap<String, View>,
}

impl Values {
    /// Who chooses. What is set was checked when it was; a line of another version is the default.
    pub(super) fn config(&self) -> Config {
        Config::parse(&self.scheduler).unwrap_or_default()
    }
}

/// The values and their file.
pub(super) struct Settings {
    path: PathBuf,
    values: Mutex<Arc<Values>>,
    /// Whose turn it is to change them. Who only looks does not wait for the disk.
    changing: Mutex<()>,
}

impl Settings {
    /// Reads them, if there are any.
    pub(super) fn open(path: &Path) -> io::Result<Settings> {
        let values = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Values::default(),
            read => serde_json::from_slice(&read?)?,
        };
        let (values, changing) = (Mutex::new(Arc::new(values)), Mutex::new(()));
        Ok(Settings { path: path.to_owned(), values, changing })
    }

    /// As they are now. It locks nothing: who has them may call whatever looks at them, too.
    pub(super) fn get(&self) -> Arc<Values> {
        self.values.lock().expect("no holder panics").clone()
    }

    /// As long as this is held nobody changes them.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().expect("no holder panics")
    }

    /// Changes them, in the file first. The file is whole at any moment. What is refused changes
    /// nothing.
    pub(super) fn change(&self, change: impl FnOnce(&mut Values) -> Result<()>) -> Result<()> {
        let _turn = self.turn();
        let mut next = Values::clone(&self.get());
        change(&mut next)?;
        let new = self.path.with_extension("new");
        let written = serde_json::to_vec(&next).map_err(io::Error::from);
        let written = written.and_then(|bytes| fs::write(&new, bytes));
        if let Err(error) = written.and_then(|()| fs::rename(&new, &self.path)) {
            let _ = fs::remove_file(&new);
            let text = format!("the manager cannot keep what is set: {error}  [E310]");
            return fail(Errno::from_io_error(&error).unwrap_or(Errno::IO), text);
        }
        *self.values.lock().expect("no holder panics") = Arc::new(next);
        Ok(())
    }
}

fn invalid<T>(text: impl Into<String>) -> Result<T> {
    fail(Errno::INVAL, text.into())
}

/// The number by which the schedule knows a node.
pub(super) fn number_of(name: &str) -> Option<u32> {
    id_of(name).map(|id| id.0)
}

/// The node of this number.
pub(super) fn named(number: u32) -> String {
    name_of(NodeId(number))
}

/// What partitions and views may be called: their names are words of a command line.
pub(super) fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty()
        || name.len() > 64
        || name.starts_with(['-', '.'])
        || !name.chars().all(plain)
    {
        return invalid(format!(
            "'{name}' is no name: it has up to 64 letters, digits, '-', '_' and '.', and \
             begins with neither '-' nor '.'  [E118]"
        ));
    }
    Ok(())
}

impl Manager {
    /// Has another scheduler choose.
    pub(super) fn set_scheduler(&self, line: &str) -> Result<Config> {
        let config = Config::parse(line).or_else(invalid)?;
        self.settings.change(|values| {
            values.scheduler = config.to_string();
            Ok(())
        })?;
        Ok(config)
    }

    /// The number of a node that there is.
    fn known(&self, name: &str) -> Option<u32> {
        let is_known = self.nodes.names().iter().any(|one| one == name);
        number_of(name).filter(|_| is_known)
    }

    /// Names of a node set, all of which there are.
    pub(super) fn expand(&self, set: &str) -> Result<Vec<String>> {
        let names = nodeset::expand(set).or_else(|error| invalid(format!("{error}  [E113]")))?;
        match names.iter().find(|name| self.known(name).is_none()) {
            Some(name) => fail(Errno::NOENT, format!("there is no node {name}  [E113]")),
            None => Ok(names),
        }
    }

    /// Notes that nodes get no jobs from now on, or do again.
    pub(super) fn note_drained(&self, names: &[String], why: Option<&str>) -> Result<()> {
        self.settings.change(|values| {
            for name in names {
                match why {
                    Some(why) => drop(values.drained.insert(name.clone(), why.to_owned())),
                    None => drop(values.drained.remove(name)),
                }
            }
            Ok(())
        })?;
        let event = if why.is_some() { "node drained" } else { "node resumed" };
        for name in names {
            self.event(json!({"event": event, "node": name, "why": why}));
        }
        Ok(())
    }

    /// Makes, changes or deletes a partition: `create NAME WORD...`, `delete NAME`.
    pub(super) fn set_partition(&self, line: &str) -> Result<()> {
        let words = quote::split(line).or_else(|error| invalid(error.to_string()))?;
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["create", name, ref words @ ..] => {
                check_name(name)?;
                let part = Partition::parse(words, |name| self.known(name)).or_else(invalid)?;
                let now = Duration::try_from_secs_f64(super::now()).unwrap_or_default();
                self.settings.change(|Values { partitions, .. }| {
                    let others = partitions.iter().filter(|(other, _)| other.as_str() != name);
                    part.check(now, others, named).or_else(invalid)?;
                    partitions.insert(name.to_owned(), part);
                    Ok(())
                })
            }
            ["delete", name] => self.settings.change(|Values { partitions, .. }| {
                if partitions.remove(name).is_none() {
                    return fail(Errno::NOENT, format!("there is no partition {name}  [E117]"));
                }
                // They would wait for nodes that they cannot have, now or when they begin again.
                self.is_unused(("partition", name), |job| {
                    let state = job.state();
                    let of = state.spec.as_ref().and_then(|spec| spec.partition.as_deref());
                    of == Some(name)
                })
            }),
            _ => invalid(format!(
                "'{line}' is no command of partitions: write create NAME nodes=n[0-3], or delete \
                 NAME  [E118]"
            )),
        }
    }

    /// Refuses to change what jobs have been promised that are not done.
    pub(super) fn is_unused(
        &self,
        (kind, name): (&str, &str),
        is_of: impl Fn(&Job) -> bool,
    ) -> Result<()> {
        let jobs = self.all_jobs();
        let live: Vec<String> = jobs
            .iter()
            .filter(|job| !job.is_done() && is_of(job))
            .map(|job| job.id.to_string())
            .collect();
        let named = live.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(" ");
        let text = match live.len() {
            0 => return Ok(()),
            1 => format!("{kind} {name} is in use by job {named}. First: muster kill {named}"),
            2..=NAMED => {
                format!("{kind} {name} is in use by jobs {named}. First: muster kill {named}")
            }
            all => format!("{kind} {name} is in use by {all} jobs. First: muster kill {named} ..."),
        };
        fail(Errno::BUSY, text + "  [E118]")
    }

    /// All partitions, a line each.
    pub(super) fn partitions(&self) -> String {
        let mut text = String::new();
        for (name, part) in &self.settings.get().partitions {
            let _ = writeln!(text, "{name} {}", part.words(named));
        }
        text
    }
}
