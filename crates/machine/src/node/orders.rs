//! The manager's orders to this node, and the reports that it gets: see [`crate::launch`].
//!
//! Two threads: one takes orders as they come, one sends what ranks have to say. What comes while
//! a report is on its way goes with the next, so many ranks that end together cost few letters.

use super::Node;
use super::launch;
use super::session::Session;
use crate::launch::{Order, Rank, Report, Said, What};
use crate::memory::{MANAGER, Memory};
use muster_base::quote;
use muster_fabric::primitive::Nodes;
use muster_fabric::{Deadline, Error as FabricError};
use muster_ninep::error::{Error, Result};
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// How long a report may take to arrive before it is sent once more.
const REPORT: Duration = Duration::from_secs(5);

/// The pause before a report is sent once more, as when the manager is being started again.
const PAUSE: Duration = Duration::from_millis(50);

/// Which rank of which job a session is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Light {
    pub(super) job: u32,
    pub(super) rank: usize,
}

/// What ranks have said and nobody has been told yet.
#[derive(Default)]
pub(super) struct Reports {
    said: Mutex<(Vec<Said>, Vec<u8>, bool)>,
    more: Condvar,
}

impl Light {
    /// That it cannot be run.
    fn failed(self, error: &Error) -> Said {
        let what = What::Failed { why: error.text.to_string() };
        Said { job: self.job, rank: self.rank, what }
    }
}

impl Reports {
    fn lock(&self) -> MutexGuard<'_, (Vec<Said>, Vec<u8>, bool)> {
        self.said.lock().expect("no holder panics")
    }

    /// Has something told, and the output that goes with it.
    pub(super) fn push(&self, said: Said, output: &[u8]) {
        let mut waiting = self.lock();
        waiting.0.push(said);
        waiting.1.extend_from_slice(output);
        self.more.notify_one();
    }

    /// All that there is to tell, waited for; none at the end.
    fn take(&self) -> Option<(Vec<Said>, Vec<u8>)> {
        let nothing = |waiting: &mut (Vec<Said>, _, bool)| waiting.0.is_empty() && !waiting.2;
        let waiting = self.more.wait_while(self.lock(), nothing);
        let mut waiting = waiting.expect("no holder panics");
        if waiting.2 {
            return None;
        }
        Some((std::mem::take(&mut waiting.0), std::mem::take(&mut waiting.1)))
    }

    fn close(&self) {
        self.lock().2 = true;
        self.more.notify_all();
    }

    fn is_closed(&self) -> bool {
        self.lock().2
    }
}

/// The two threads. Dropping it ends them.
pub struct Orders {
    node: Arc<Node>,
    memory: Arc<Memory>,
}

impl Orders {
    /// Begins to take orders.
    ///
    /// # Errors
    /// When no thread is left.
    pub fn serve(node: &Arc<Node>, memory: &Arc<Memory>) -> io::Result<Orders> {
        let (of_orders, of_reports) = (node.clone(), node.clone());
        let (orders, reports) = (memory.clone(), memory.clone());
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        named("orders").spawn(move || {
            while let Some(letter) = orders.next() {
                match Order::read(&letter) {
                    Ok(order) => obey(&of_orders, order),
                    Err(error) => {
                        let said = format!("an order of the manager's cannot be read: {error}");
                        let _ = writeln!(io::stderr(), "{said}");
                    }
                }
            }
        })?;
        named("reports").spawn(move || {
            while let Some((said, output)) = of_reports.reports.take() {
                let node = of_reports.setup.name.clone();
                let report = Report { node, instance: of_reports.instance, said };
                deliver(&of_reports.reports, &reports, &report.letter(&output));
            }
        })?;
        Ok(Orders { node: node.clone(), memory: memory.clone() })
    }
}

impl Drop for Orders {
    fn drop(&mut self) {
        self.memory.close();
        self.node.reports.close();
    }
}

/// Sends a report until it has arrived.
fn deliver(reports: &Reports, memory: &Memory, letter: &[u8]) {
    let to = Nodes::one(MANAGER);
    while !reports.is_closed() {
        let sent = memory.send(&to, letter.to_vec());
        match sent.and_then(|transfer| transfer.wait(Deadline::after(REPORT))) {
            Ok(()) | Err(FabricError::Closed { .. }) => return,
            // It may come twice then, and is heeded once.
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

fn obey(node: &Arc<Node>, order: Order) {
    match order {
        Order::Launch { job, argv, env, chdir, nodes } => {
            let own = nodes.into_iter().filter(|(name, _)| *name == node.setup.name);
            for rank in own.flat_map(|(_, ranks)| ranks) {
                let light = Light { job, rank: rank.rank };
                let ready = prepare(node, light, &rank, (&argv, &env, chdir.as_deref()));
                match ready {
                    Ok(session) => {
                        if let Err(error) = launch::start(&session, None) {
                            session.say_failed(&error);
                        }
                    }
                    Err(error) => node.reports.push(light.failed(&error), &[]),
                }
            }
        }
        Order::Signal { job, signal } => {
            for session in lights(node, |of| of == job) {
                // One that has ended says so itself.
                let _ = session.signal(signal);
            }
        }
        Order::End { job } => lights(node, |of| of == job).iter().for_each(|s| s.kill_all()),
        Order::Forget { jobs } => {
            lights(node, |job| jobs.contains(&job)).iter().for_each(Session::wipe);
        }
        Order::Keep { last, jobs } => {
            lights(node, |job| job <= last && !jobs.contains(&job)).iter().for_each(Session::wipe);
        }
    }
}

/// Makes a rank's session.
fn prepare(
    node: &Arc<Node>,
    light: Light,
    rank: &Rank,
    (argv, env, chdir): (&str, &str, Option<&str>),
) -> Result<Arc<Session>> {
    let session = node.open_light(rank.session, light)?;
    session.argv.set(argv);
    session.env.set(env);
    if let Some(directory) = chdir {
        // Behind what the node's administrator has every session do.
        let before = session.ns.get()?;
        session.ns.set(format!("{before}cd {}\n", quote::quote(directory)));
    }
    session.stdin.close();
    let mut state = session.state();
    state.id = (rank.rank.to_string(), u32::try_from(rank.local).unwrap_or(u32::MAX));
    state.persistent = true;
    drop(state);
    Ok(session)
}

/// The sessions of the light ranks of some jobs.
fn lights(node: &Node, is_meant: impl Fn(u32) -> bool) -> Vec<Arc<Session>> {
    let sessions = node.all_sessions().into_iter().map(|files| files.session().clone());
    sessions.filter(|session| session.light.is_some_and(|of| is_meant(of.job))).collect()
}
