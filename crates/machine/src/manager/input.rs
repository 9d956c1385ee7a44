//! The input of a job's ranks: what is written to `stdin` goes to all that read it.
//!
//! A client whose manager was killed does not know whether its last write came through. It says
//! how far it had come (`resume stdin OFFSET`) and writes on from there; what a rank has beyond
//! that, which its node knows, is not given to it again.

use super::hold::Hold;
use super::job::Job;
use super::spec::{Phase, RankPhase};
use muster_ninep::call::{Answer, Ticket};
use muster_ninep::client::Fid;
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::synthetic::{Entry, File, Handle, SynCall};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// How long a node may take to say that it has closed an input.
const CLOSED: Duration = Duration::from_secs(2);

/// Ends the input of all ranks that read; returns when their nodes know.
pub(super) fn close(job: &Arc<Job>) {
    let holds: Vec<Hold> = job.state().holds.iter().flatten().cloned().collect();
    let (told, answers) = mpsc::channel();
    for hold in holds.iter().filter(|hold| hold.stdin.is_some()) {
        let told = told.clone();
        hold.ctl.write_then(0, b"close stdin\n", move |_| {
            // Nobody listens any more if it took too long.
            let _ = told.send(());
        });
    }
    drop(told);
    // A node that does not answer keeps nobody from ending its job.
    while answers.recv_timeout(CLOSED).is_ok() {}
}

/// Notes what each rank has beyond `offset`.
pub(super) fn resume(job: &Arc<Job>, offset: u64) -> Result<()> {
    let readers: Vec<(usize, Option<Fid>)> = {
        let state = job.state();
        let Some(spec) = &state.spec else { return Ok(()) };
        let all = state.holds.iter().enumerate();
        let reads = all.filter(|(rank, _)| {
            let running = state.progress.ranks()[*rank].state == RankPhase::Running;
            running && spec.stdin.includes(*rank)
        });
        reads.map(|(rank, hold)| (rank, hold.as_ref().and_then(|h| h.stdin.clone()))).collect()
    };
    let mut skips = Vec::new();
    for (rank, stdin) in readers {
        let Some(stdin) = stdin else {
            return fail(Errno::AGAIN, format!("rank {rank} has not been found again yet"));
        };
        // One that is gone by now needs no input.
        let taken = stdin.getattr().map_or(0, |attr| attr.size);
        skips.push((rank, taken.saturating_sub(offset)));
    }
    let mut state = job.state();
    state.skips = vec![0; state.holds.len()];
    for (rank, skip) in skips {
        if let Some(own) = state.skips.get_mut(rank) {
            *own = skip;
        }
    }
    Ok(())
}

/// `stdin`: what is written goes to the ranks that read it.
pub(super) struct Input {
    job: Arc<Job>,
    rank: Option<usize>,
}

impl Input {
    pub(super) fn file(job: &Arc<Job>, rank: Option<usize>) -> Entry {
        let job = job.clone();
        File::new(0o220, move |_| Ok(Input { job: job.clone(), rank })).entry()
    }

    /// Bytes that one write to any of the nodes can carry.
    fn most(&self) -> usize {
        let state = self.job.state();
        let inputs = state.holds.iter().flatten().filter_map(|hold| hold.stdin.as_ref());
        inputs.map(Fid::max_data).min().map_or(usize::MAX, |most| most as usize)
    }

    /// Who reads, and how many of the next `length` bytes each has already.
    fn readers(&self, length: usize) -> Result<Vec<(Fid, usize)>> {
        let mut state = self.job.state();
        if matches!(state.progress.phase(), Phase::New | Phase::Pending | Phase::Starting) {
            return fail(Errno::AGAIN, "the job has not started yet");
        }
        let wanted = |at: &usize| self.rank.is_none_or(|rank| rank == *at);
        let all = state.holds.iter().enumerate().filter(|(at, _)| wanted(at));
        let readers = all.filter_map(|(at, hold)| Some((at, hold.as_ref()?.stdin.clone()?)));
        let readers: Vec<(usize, Fid)> = readers.collect();
        if readers.is_empty() {
            return fail(Errno::PIPE, "no rank reads this input");
        }
        let mut skip = |at: usize| {
            let Some(left) = state.skips.get_mut(at) else { return 0 };
            let skip = usize::try_from(*left).unwrap_or(usize::MAX).min(length);
            *left -= skip as u64;
            skip
        };
        Ok(readers.into_iter().map(|(at, fid)| (fid, skip(at))).collect())
    }
}

/// The answer to one write, which several ranks take.
struct Share {
    left: AtomicUsize,
    taken: AtomicUsize,
    ticket: Mutex<Option<Ticket<u32>>>,
    length: u32,
}

impl Share {
    /// One has taken the bytes, or has ended. The last one answers; that some have ended matters
    /// only when all have.
    fn settle(&self, taken: bool) {
        self.taken.fetch_add(usize::from(taken), Ordering::AcqRel);
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let taken = self.taken.load(Ordering::Acquire) > 0;
        let ended = Error::new(Errno::PIPE, "all ranks that read have ended");
        if let Some(ticket) = self.ticket.lock().expect("no holder panics").take() {
            ticket.answer(if taken { Ok(self.length) } else { Err(ended) });
        }
    }
}

impl Handle for Input {
    fn write(&self, call: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        // What one message to a node cannot carry is left to the client's next write.
        let data = &data[..data.len().min(self.most())];
        let readers = self.readers(data.len())?;
        let length = data.len() as u32;
        call.park(|ticket| {
            let share = Arc::new(Share {
                left: AtomicUsize::new(readers.len()),
                taken: AtomicUsize::new(0),
                ticket: Mutex::new(Some(ticket)),
                length,
            });
            for (reader, skip) in readers {
                let share = share.clone();
                if skip == data.len() && skip > 0 {
                    share.settle(true);
                } else {
                    let settle = move |answer: Result<u32>| share.settle(answer.is_ok());
                    reader.write_then(0, &data[skip..], settle);
                }
            }
        })
    }
}
