//! Other clusters that views merge: the trees of their managers, to be mounted.
//!
//! A view may have whole clusters of the same user besides nodes of this one. In its tree they are
//! `clusters/NAME`, with the files that a view has and no others: two clusters may merge each
//! other, and whoever goes through such a tree comes to an end. Connections are made by a thread
//! of their own, and again when they have ended: who serves clients must not wait for another
//! manager, which may be waiting for this one.

use crate::keeper::Runtime;
use muster_ninep::client::{Client, Options};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::remote::Remote;
use muster_ninep::synthetic::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// The files of a cluster that are shown.
pub(super) const SHOWN: [&str; 6] = ["status", "arches", "usage", "history", "nodes", "jobs"];

/// How long another manager may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Between two looks at connections that may have ended.
const LOOK: Duration = Duration::from_secs(1);

/// The files of another cluster.
pub(super) type Files = Vec<(&'static str, Entry)>;

/// Those that are merged, and how they are reached.
#[derive(Default)]
pub(super) struct Clusters {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    wanted: BTreeSet<String>,
    /// What came of each; what is not there has not been tried.
    tried: BTreeMap<String, Result<Member>>,
    is_served: bool,
    is_over: bool,
}

struct Member {
    client: Client,
    files: Files,
}

impl Member {
    fn connect(runtime: &Runtime, name: &str) -> Result<Member> {
        let failed = |text: String| Error::new(Errno::HOSTDOWN, text);
        let directory = runtime.open(name).map_err(|error| failed(error.to_string()))?;
        let directory = directory.ok_or_else(|| failed(format!("no cluster {name} is up")))?;
        let name = format!("cluster {name}");
        let options = Options { deadline: Some(ANSWER), name: name.clone(), ..Options::default() };
        let client = Client::connect(&directory.manager(), options)?;
        let client = client.with_deadlines(Some(ANSWER), Some(ANSWER));
        let remote = Arc::new(Remote::new(&client, name));
        let file = |file: &'static str| {
            let (fid, qid) = remote.place_of(&client.walk(file)?);
            Ok((file, Entry::mount(remote.clone(), fid, qid)))
        };
        let files = SHOWN.into_iter().map(file).collect::<Result<Files>>()?;
        Ok(Member { client, files })
    }
}

impl Clusters {
    /// From now on these are merged.
    pub(super) fn set(&self, directory: &Path, wanted: BTreeSet<String>) -> std::io::Result<()> {
        let mut state = self.shared.lock();
        state.tried.retain(|name, tried| wanted.contains(name) && tried.is_ok());
        let is_first = !wanted.is_empty() && !std::mem::replace(&mut state.is_served, true);
        state.wanted = wanted;
        drop(state);
        self.shared.changed.notify_all();
        if is_first {
            let runtime = Runtime::at(directory.parent().unwrap_or(directory));
            let shared = self.shared.clone();
            let serve = move || shared.serve(&runtime);
            std::thread::Builder::new().name("clusters".into()).spawn(serve)?;
        }
        Ok(())
    }

    /// Waits until all were tried, but no longer than one of them may take to answer.
    pub(super) fn await_tried(&self) {
        let is_untried = |state: &mut State| {
            let State { wanted, tried, is_over, .. } = state;
            !*is_over && wanted.iter().any(|name| !tried.contains_key(name))
        };
        let state = self.shared.lock();
        drop(self.shared.changed.wait_timeout_while(state, ANSWER, is_untried));
    }

    /// The files of one of them.
    pub(super) fn files(&self, name: &str) -> Result<Files> {
        match self.shared.lock().tried.get(name) {
            Some(Ok(member)) => Ok(member.files.clone()),
            Some(Err(error)) => Err(Error::new(error.errno, format!("{}  [E128]", error.text))),
            None => {
                let text = format!("cluster {name} is being looked for: try again  [E128]");
                Err(Error::new(Errno::AGAIN, text))
            }
        }
    }
}

impl Drop for Clusters {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// Connects to what is not reached, one after the other: each that hangs takes [`ANSWER`] of a
    /// round, and what has ended is found again by so much later.
    fn serve(&self, runtime: &Runtime) {
        let mut state = self.lock();
        while !state.is_over {
            let is_reached = |name: &&String| {
                let tried = state.tried.get(*name).map(Result::as_ref);
                matches!(tried, Some(Ok(member)) if member.client.ended().is_none())
            };
            let missing: Vec<String> =
                state.wanted.iter().filter(|name| !is_reached(name)).cloned().collect();
            drop(state);
            let tried: Vec<(String, Result<Member>)> = missing
                .into_iter()
                .map(|name| (name.clone(), Member::connect(runtime, &name)))
                .collect();
            state = self.lock();
            let State { wanted, tried: all, .. } = &mut *state;
            all.extend(tried.into_iter().filter(|(name, _)| wanted.contains(name)));
            self.changed.notify_all();
            let untried = state.wanted.iter().any(|name| !state.tried.contains_key(name));
            if untried || state.is_over {
                continue;
            }
            state = match state.wanted.is_empty() {
                // Nothing ends that could be missed.
                true => self.changed.wait(state).expect("no holder panics"),
                false => self.changed.wait_timeout(state, LOOK).expect("no holder panics").0,
            };
        }
    }
}
