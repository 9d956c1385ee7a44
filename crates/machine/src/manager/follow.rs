//! Follows the ranks of a job: their output and their ends, by requests that wait at the nodes.
//! No thread waits: each answer, on the client's thread, is acted on and followed by the next
//! request.

use super::hold::{self, Hold, PAUSE};
use super::job::Job;
use super::journal::Record;
use super::nodes::Link;
use crate::output::Output;
use crate::usage::Usage;
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, Error, Result};
use std::sync::Arc;

/// Most that is asked for at once.
const CHUNK: u32 = 64 * 1024;

/// More than what a rank has used takes: ten numbers.
const USAGE_MAX: u32 = 512;

/// What files are opened for: reading.
const READ: u32 = 0;

/// Follows a rank from where its log ends.
pub(super) fn rank(job: &Arc<Job>, rank: usize, link: &Arc<Link>, session: u32) {
    for output in Output::BOTH {
        follow_output(job, (rank, output), link, session);
    }
    follow_end(job, rank, link, session);
}

fn follow_output(job: &Arc<Job>, stream: (usize, Output), link: &Arc<Link>, session: u32) {
    let (job, over) = (job.clone(), link.clone());
    hold::open(link, session, (stream.1.name(), READ), move |opened| match opened {
        Ok(fid) => read_on(&job, stream, fid),
        Err(error) => {
            let link = over.clone();
            let again = move |job: &Arc<Job>| follow_output(job, stream, &link, session);
            unread(&job, stream, &over.client, error, again);
        }
    });
}

fn follow_end(job: &Arc<Job>, rank: usize, link: &Arc<Link>, session: u32) {
    let (job, over) = (job.clone(), link.clone());
    hold::open(link, session, ("wait", READ), move |opened| match opened {
        Ok(fid) => {
            fid.clone().read_then(0, 64, move |answer| {
                drop(fid);
                let told = answer.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                waited(&job, rank, &over, session, told);
            });
        }
        Err(error) => waited(&job, rank, &over, session, Err(error)),
    });
}

fn waited(job: &Arc<Job>, rank: usize, link: &Arc<Link>, session: u32, told: Result<String>) {
    match told {
        Ok(text) => match text.trim().parse() {
            Ok(raw) => {
                job.exited(rank, raw);
                one_less(job, rank);
            }
            Err(_) => job.rank_lost(rank, "its session was wiped"),
        },
        // Whoever watches the connection knows better why, in a moment.
        Err(_) if link.client.ended().is_some() => {}
        Err(error) if error.errno == Errno::AGAIN => {
            let link = link.clone();
            job.later(PAUSE, move |job| follow_end(job, rank, &link, session));
        }
        Err(error) => job.rank_lost(rank, &error.to_string()),
    }
}

fn read_on(job: &Arc<Job>, stream: (usize, Output), fid: Fid) {
    let (rank, output) = stream;
    let Some(placed) = job.placed.get() else { return ended(job, rank, output) };
    let log = placed.log.clone();
    let offset = log.end_of(rank, output);
    let job = job.clone();
    fid.clone().read_then(offset, CHUNK, move |answer| match answer {
        Err(error) => {
            let client = fid.client().clone();
            unread(&job, stream, &client, error, move |job| read_on(job, stream, fid));
        }
        Ok([]) => ended(&job, rank, output),
        Ok(bytes) if job.wrote(rank, output, bytes) => {
            let next = job.clone();
            log.when_room(rank, move || read_on(&next, stream, fid));
        }
        Ok(_) => ended(&job, rank, output),
    });
}

/// Output of a rank could not be had. While its node is only slow to take requests it is asked
/// again; output that there may be and that nobody gets fails the job.
fn unread(
    job: &Arc<Job>,
    (rank, output): (usize, Output),
    client: &Client,
    error: Error,
    again: impl FnOnce(&Arc<Job>) + Send + 'static,
) {
    if client.ended().is_some() {
        // Whoever watches the connection has the rank lost, or what it wrote last.
        return;
    }
    // Of a session that is being wiped nothing comes any more.
    let is_over = job.state().progress.is_closed(rank);
    if !is_over && error.errno == Errno::AGAIN {
        job.later(PAUSE, again);
        return;
    }
    if !is_over {
        let why = match error.errno {
            Errno::STALE => format!("output of rank {rank} was lost to other readers: {error}"),
            _ => format!("output of rank {rank} cannot be read: {error}"),
        };
        job.attempt_failed(&format!("{why}  [E310]"));
    }
    ended(job, rank, output);
}

fn ended(job: &Arc<Job>, rank: usize, output: Output) {
    if let Some(placed) = job.placed.get() {
        placed.log.end([(rank, output)]);
    }
    one_less(job, rank);
}

/// One of the three things to follow has come to its end; after the last the rank is closed.
fn one_less(job: &Arc<Job>, rank: usize) {
    let mut state = job.state();
    let Some(left) = state.followed.get_mut(rank) else { return };
    *left = left.saturating_sub(1);
    if *left > 0 {
        return;
    }
    let Some(Some(hold)) = state.holds.get(rank).cloned() else { return };
    let session = state.progress.ranks()[rank].session;
    drop(state);
    close(job, rank, hold, session);
}

/// Asks what the rank has used, wipes its session, and calls it closed. A node that is only slow to
/// take requests is asked again.
fn close(job: &Arc<Job>, rank: usize, hold: Hold, session: u32) {
    let (job, link) = (job.clone(), hold.link.clone());
    hold::open(&link, session, ("usage", READ), move |opened| match opened {
        Err(error) => not_told(&job, rank, hold, session, error.errno),
        Ok(fid) => {
            fid.clone().read_then(0, USAGE_MAX, move |answer| {
                drop(fid);
                match answer.map(|text| Usage::parse(&String::from_utf8_lossy(text))) {
                    Err(error) => not_told(&job, rank, hold, session, error.errno),
                    Ok(usage) => closed(&job, rank, &hold, usage),
                }
            });
        }
    });
}

/// What a rank has used could not be had.
fn not_told(job: &Arc<Job>, rank: usize, hold: Hold, session: u32, errno: Errno) {
    if errno == Errno::AGAIN {
        job.later(PAUSE, move |job| close(job, rank, hold, session));
    } else {
        closed(job, rank, &hold, None);
    }
}

fn closed(job: &Arc<Job>, rank: usize, hold: &Hold, usage: Option<Usage>) {
    if let Some(manager) = job.manager.upgrade() {
        // The next manager cannot ask any more. A full disk costs what is known of its use.
        let _ = manager.record(&[Record::Closed { job: job.attempt, rank, usage }]);
    }
    let own = job.clone();
    // Told only when it is done: who restarts the manager must find no session of a job that the
    // journal calls done. If the node is gone, so is the session.
    hold.command_then(job, "wipe\n", move || {
        let mut state = own.state();
        state.progress.used(rank, usage);
        if let Some(held) = state.holds.get_mut(rank) {
            *held = None;
        }
        let actions = state.progress.rank_closed(rank);
        own.act(state, actions);
    });
}
