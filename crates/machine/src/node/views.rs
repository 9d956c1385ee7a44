//! What a node shows of the views of its cluster (`manager/views.rs`).
//!
//! Below `views/NAME` is the tree of the node once more, with the sessions that belong to the view:
//! those of ranks of its jobs, which orders name it for, and those that were made by its `clone`.
//! A session belongs to one view, or to none, from its beginning on, so nobody sees it who is not
//! to, at no moment. A node does not know which views there are: of a name that is none it has
//! no sessions.

use super::Node;
use super::tree::{Files, Root};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::synthetic::{Dir, Entry, Inode};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

/// Which sessions a tree shows: all, or those of a view.
#[derive(Clone)]
pub(super) struct Scope {
    node: Weak<Node>,
    view: Option<Arc<str>>,
}

impl Scope {
    pub(super) fn new(node: Weak<Node>, view: Option<Arc<str>>) -> Scope {
        Scope { node, view }
    }

    /// All.
    pub(super) fn whole(node: &Arc<Node>) -> Scope {
        Scope::new(Arc::downgrade(node), None)
    }

    pub(super) fn node(&self) -> Result<Arc<Node>> {
        self.node.upgrade().ok_or_else(|| Error::new(Errno::IO, "the node is ending"))
    }

    pub(super) fn view(&self) -> Option<&Arc<str>> {
        self.view.as_ref()
    }

    fn has(&self, files: &Files) -> bool {
        self.view.is_none() || self.view == files.session().view
    }

    /// A session that is to be seen.
    pub(super) fn session(&self, number: u32) -> Option<Arc<Files>> {
        self.node().ok()?.session(number).filter(|files| self.has(files))
    }

    /// All of them.
    pub(super) fn sessions(&self) -> Vec<Arc<Files>> {
        let mut all = self.node().map(|node| node.all_sessions()).unwrap_or_default();
        all.retain(|files| self.has(files));
        all
    }
}

/// `views`: a tree for each that somebody asks for.
pub(super) struct ViewsDir {
    whole: Scope,
    inode: Inode,
}

impl ViewsDir {
    pub(super) fn entry(whole: &Scope) -> Entry {
        let (whole, inode) = (whole.clone(), Inode::new(0o555));
        Entry::Dir(Arc::new(ViewsDir { whole, inode }))
    }
}

impl Dir for ViewsDir {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        let of_view = Scope { view: Some(name.into()), ..self.whole.clone() };
        Ok(Some(Entry::Dir(Root::new(&of_view))))
    }

    fn list(&self) -> Vec<String> {
        let views = self.whole.sessions().into_iter().filter_map(|one| one.session().view.clone());
        let views: BTreeSet<Arc<str>> = views.collect();
        views.iter().map(|view| view.to_string()).collect()
    }
}
