//! Views: one cluster split into several logical ones, each some of its nodes; or several merged
//! into one, as [`clusters`](super::clusters) tells.
//!
//! A view is a tree of its own, `views/NAME`, with the files of a cluster: its nodes, the jobs that
//! were made in it, and what is told of both. A client attaches there, by name or since it gives
//! the name of a user of the view, and has a smaller cluster: what is not in the view has no name
//! there, and its jobs get no nodes outside. Of a node it shows what that has for the view
//! (`node/views.rs`). Who may connect at all is not decided here.

use super::Manager;
use super::job::Job;
use super::settings::{check_name, named, number_of};
use crate::keeper::Runtime;
use muster_base::{nodeset, quote};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::host::user::{self, User};
use muster_ninep::synthetic::Inode;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::hash::Hash;
use std::sync::{Arc, Weak};

/// Some nodes, and who sees them and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct View {
    nodes: BTreeSet<u32>,
    users: BTreeSet<String>,
    /// Other clusters, which it has as a whole.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    clusters: BTreeSet<String>,
    /// The first job that can be its own: the earlier ones were another's of this name.
    #[serde(default)]
    first: u32,
}

impl View {
    pub(super) fn has(&self, node: &str) -> bool {
        number_of(node).is_some_and(|number| self.nodes.contains(&number))
    }

    pub(super) fn nodes(&self) -> Vec<u32> {
        self.nodes.iter().copied().collect()
    }
}

/// What a tree shows: the whole cluster, or a view.
#[derive(Clone)]
pub(super) struct Scope {
    manager: Weak<Manager>,
    view: Option<Arc<str>>,
}

impl Scope {
    /// The whole cluster.
    pub(super) fn whole(manager: &Arc<Manager>) -> Scope {
        Scope { manager: Arc::downgrade(manager), view: None }
    }

    /// A view of it.
    pub(super) fn of(&self, view: &str) -> Scope {
        Scope { manager: self.manager.clone(), view: Some(view.into()) }
    }

    pub(super) fn manager(&self) -> Result<Arc<Manager>> {
        there(&self.manager)
    }

    pub(super) fn view(&self) -> Option<&Arc<str>> {
        self.view.as_ref()
    }

    /// The inode of a directory of this tree, which is another than that of any other tree.
    pub(super) fn inode(&self, what: impl Hash) -> Inode {
        Inode::of(0o555, (self.view(), what))
    }

    /// Whether a node is to be seen.
    pub(super) fn has_node(&self, name: &str) -> bool {
        let Some(view) = &self.view else { return true };
        let Some(manager) = self.manager.upgrade() else { return false };
        let settings = manager.settings.get();
        settings.views.get(&**view).is_some_and(|view| view.has(name))
    }

    /// Whether a job that was made in this view, or in none, is to be seen.
    pub(super) fn has_job(&self, id: u32, view: Option<&str>) -> bool {
        let Some(own) = self.view.as_deref() else { return true };
        let is_own = |manager: Arc<Manager>| {
            // Who has come by a view that is deleted meanwhile keeps what it had.
            manager.settings.get().views.get(own).is_none_or(|own| own.first <= id)
        };
        view == Some(own) && self.manager.upgrade().is_some_and(is_own)
    }

    /// The other clusters to be seen.
    pub(super) fn clusters(&self) -> BTreeSet<String> {
        let (Some(view), Some(manager)) = (&self.view, self.manager.upgrade()) else {
            return BTreeSet::new();
        };
        let settings = manager.settings.get();
        settings.views.get(&**view).map(|view| view.clusters.clone()).unwrap_or_default()
    }

    /// The jobs to be seen.
    pub(super) fn jobs(&self) -> Vec<Arc<Job>> {
        let mut jobs = self.manager.upgrade().map(|manager| manager.all_jobs()).unwrap_or_default();
        jobs.retain(|job| self.has_job(job.id, job.view.as_deref()));
        jobs
    }
}

/// The manager, unless it is ending.
pub(super) fn there(manager: &Weak<Manager>) -> Result<Arc<Manager>> {
    manager.upgrade().ok_or_else(|| Error::new(Errno::IO, "the manager is ending"))
}

/// Whose this cluster is.
fn own_name() -> Option<String> {
    user::name(User::own().uid)
}

impl Manager {
    /// Makes, changes or deletes a view: `create NAME nodes=NODES cluster=NAME... user=NAME...`,
    /// `delete NAME`.
    pub(super) fn set_view(&self, line: &str) -> Result<()> {
        let words =
            quote::split(line).map_err(|error| Error::new(Errno::INVAL, error.to_string()))?;
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["create", name, ref words @ ..] => {
                check_name(name)?;
                if name == "ctl" {
                    return fail(Errno::INVAL, "'ctl' is a file: it names no view  [E118]");
                }
                let mut view = self.parse_view(words)?;
                self.settings.change(|values| {
                    self.has_no_jobs(name)?;
                    let old = values.views.get(name).map(|old| old.first);
                    view.first = old.unwrap_or_else(|| self.jobs().last + 1);
                    values.views.insert(name.to_owned(), view);
                    Ok(())
                })?;
                self.reach_clusters()?;
                // Who has made it may want their files next. Commands wait on threads of their own.
                self.clusters.await_tried();
                Ok(())
            }
            ["delete", name] => {
                self.settings.change(|values| {
                    if values.views.remove(name).is_none() {
                        return fail(Errno::NOENT, format!("there is no view {name}  [E117]"));
                    }
                    self.has_no_jobs(name)
                })?;
                Ok(self.reach_clusters()?)
            }
            _ => fail(
                Errno::INVAL,
                format!(
                    "'{line}' is no command of views: write create NAME nodes=n[0-3], or delete \
                     NAME  [E118]"
                ),
            ),
        }
    }

    /// Has the other clusters reached that views have.
    pub(super) fn reach_clusters(&self) -> std::io::Result<()> {
        let settings = self.settings.get();
        let wanted = settings.views.values().flat_map(|view| view.clusters.iter().cloned());
        let wanted = wanted.collect();
        self.clusters.set(&self.directory, wanted)
    }

    /// Another cluster's name, if there is such a cluster.
    fn parse_cluster(&self, name: &str) -> Result<String> {
        let refuse = |errno, text: String| fail(errno, text + "  [E118]");
        if self.directory.file_name().is_some_and(|own| own == name) {
            return refuse(
                Errno::INVAL,
                format!("a view of cluster {name} has that by its nodes: name others to merge"),
            );
        }
        let base = self.directory.parent().unwrap_or(&self.directory);
        match Runtime::at(base).is_up(name) {
            Ok(true) => Ok(name.to_owned()),
            Ok(false) => refuse(Errno::NOENT, format!("no cluster {name} is up that is yours")),
            Err(error) => fail(Errno::INVAL, error.to_string()),
        }
    }

    fn parse_view(&self, words: &[&str]) -> Result<View> {
        let mut view = View::default();
        for word in words {
            match word.split_once('=') {
                Some(("nodes", set)) => {
                    let names = self.expand(set)?;
                    view.nodes.extend(names.iter().filter_map(|name| number_of(name)));
                }
                Some(("user", user)) if Some(user) == own_name().as_deref() => {
                    let text = format!("{user} would be shut out of his own cluster: a view's");
                    let text = text + " users are others; set MUSTER_VIEW to work in it  [E118]";
                    return fail(Errno::INVAL, text);
                }
                Some(("user", user)) if user.is_empty() || user.contains(char::is_whitespace) => {
                    return fail(Errno::INVAL, format!("'{user}' is no user's name  [E118]"));
                }
                Some(("user", user)) => drop(view.users.insert(user.to_owned())),
                Some(("cluster", name)) => drop(view.clusters.insert(self.parse_cluster(name)?)),
                _ => {
                    let text = format!("'{word}' says nothing of a view: write nodes=, user=");
                    return fail(Errno::INVAL, text + " or cluster=  [E118]");
                }
            }
        }
        if view.nodes.is_empty() && !view.clusters.is_empty() {
            view.nodes.extend(self.nodes.names().iter().filter_map(|name| number_of(name)));
        }
        if view.nodes.is_empty() {
            return fail(Errno::INVAL, "a view has nodes: write for instance nodes=n[0-3]  [E118]");
        }
        Ok(view)
    }

    fn has_no_jobs(&self, view: &str) -> Result<()> {
        self.is_unused(("view", view), |job| job.view.as_deref() == Some(view))
    }

    /// The views that a user sees, if he does not see everything.
    pub(super) fn views_of(&self, user: &str) -> Vec<String> {
        let settings = self.settings.get();
        let his = settings.views.iter().filter(|(_, view)| view.users.contains(user));
        his.map(|(name, _)| name.clone()).collect()
    }

    /// All views, a line each.
    pub(super) fn views(&self) -> String {
        let mut text = String::new();
        for (name, view) in &self.settings.get().views {
            let nodes: Vec<String> = view.nodes.iter().map(|node| named(*node)).collect();
            let words = |word: &str, all: &BTreeSet<String>| -> String {
                all.iter().map(|one| format!(" {word}={one}")).collect()
            };
            let clusters = words("cluster", &view.clusters);
            let users = words("user", &view.users);
            let _ = writeln!(text, "{name} nodes={}{clusters}{users}", nodeset::fold(&nodes));
        }
        text
    }
}
