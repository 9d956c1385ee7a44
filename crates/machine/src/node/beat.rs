//! The heartbeat as a node uses it: the strober of its machine keeps in step with the manager.

use super::Node;
use super::orders::TOLD;
use crate::memory::{Memory, STROBE};
use crate::strober::{self, Phase};
use muster_fabric::heartbeat::Notice;
use muster_fabric::{self as fabric, Deadline};
use muster_ninep::error::{Errno, Error, Result, fail};
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How long to wait for a strobe at once.
const WAIT: Duration = Duration::from_secs(60);

/// How long this process's part of the heartbeat may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Follows it until this node's part of it ends.
pub(super) fn follow(node: &Arc<Node>, memory: &Arc<Memory>) -> io::Result<()> {
    let _ = node.memory.set(Arc::downgrade(memory));
    let (node, mut beats) = (Arc::downgrade(node), memory.beats());
    let memory = Arc::downgrade(memory);
    let work = move || {
        loop {
            match beats.next(Deadline::after(WAIT)) {
                Ok(Notice::Strobe { events, .. }) => {
                    for event in events.iter().filter(|event| event.kind == Phase::EVENT) {
                        let Some((node, memory)) = both(&node, &memory) else { return };
                        if let Ok(phase) = serde_json::from_slice(&event.bytes) {
                            keep_step(&node, &memory, &phase);
                        }
                    }
                }
                Ok(_) | Err(fabric::Error::Deadline { .. }) => {}
                Err(_) => return,
            }
        }
    };
    std::thread::Builder::new().name("beat".into()).spawn(work).map(drop)
}

/// What this node knows of it.
pub(super) fn pulse(node: &Node) -> Result<String> {
    let memory = node.memory.get().and_then(Weak::upgrade);
    let memory =
        memory.ok_or_else(|| Error::new(Errno::AGAIN, "the node is beginning or ending"))?;
    memory.tell_pulse(Deadline::after(ANSWER)).or_else(|error| fail(Errno::IO, error.to_string()))
}

fn both(node: &Weak<Node>, memory: &Weak<Memory>) -> Option<(Arc<Node>, Arc<Memory>)> {
    Some((node.upgrade()?, memory.upgrade()?))
}

/// Tells the strober, if this is the node that told it the table: one of each machine is.
fn keep_step(node: &Node, memory: &Memory, phase: &Phase) {
    let told = memory.get(STROBE, Deadline::after(TOLD));
    if !told.is_ok_and(|stamp| stamp == phase.stamp) {
        return;
    }
    if let Ok(false) = strober::keep_step(&node.setup.home, phase, TOLD) {
        // It was started again and has found no table: the manager sends it once more.
        let _ = memory.set(STROBE, 0);
    }
}
