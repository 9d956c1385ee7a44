//! The input of a job's ranks: what is written to `stdin` goes to all that read it.
//!
//! A client whose manager was killed does not know whether its last write came through. It says
//! how far it had come (`resume stdin OFFSET`) and writes on from there; what a rank has beyond
//! that, which its node knows, is not given to it again.

use super::hold::Hold;
use super::job::Job;
use super::spec::{Phase, RankPhase};
use muster_ninep::call::{Answer, Ticket};
use muster_ninep::client::{Cancel, Fid};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::synthetic::{Entry, File, Handle, SynCall};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// How long a node may take to say that it has closed an input.
const CLOSED: Duration = Duration::from_secs(2);

/// After which a node is given again what it had no room for.
const PAUSE: Duration = Duration::from_millis(10);

/// Ends the input of all ranks that read; returns when their nodes know.
pub(super) fn close(job: &Arc<Job>) {
    let holds: Vec<Hold> = job.state().holds.iter().flatten().cloned().collect();
    let (told, answers) = mpsc::channel();
    for hold in holds.iter().filter(|hold| hold.stdin.is_some()) {
        let told = told.clone();
        hold.command_then(job, "close stdin\n", move || {
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
        skips.push((rank, taken(&stdin)?.saturating_sub(offset)));
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

/// What a rank has been given. One that is gone by now needs no input.
fn taken(stdin: &Fid) -> Result<u64> {
    match stdin.getattr() {
        // Its node takes no more requests for now: the client asks again.
        Err(error) if error.errno == Errno::AGAIN => Err(error),
        taken => Ok(taken.map_or(0, |attr| attr.size)),
    }
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
    fn readers(&self, length: usize) -> Result<Vec<Reader>> {
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
        let reader = |(rank, stdin)| Reader { rank, stdin, has: skip(rank) };
        Ok(readers.into_iter().map(reader).collect())
    }
}

/// One who reads.
struct Reader {
    rank: usize,
    stdin: Fid,
    /// How many of the bytes to be written it has already.
    has: usize,
}

/// A write that several take.
struct Share {
    data: Vec<u8>,
    state: Mutex<Settling>,
    later: Box<dyn Fn(Deed) + Send + Sync>,
}

type Deed = Box<dyn FnOnce() + Send>;

struct Settling {
    /// Who has not answered yet.
    left: usize,
    /// Whether one has taken the bytes.
    taken: bool,
    /// Whether one has had them before.
    had: bool,
    /// From whom they were taken back.
    without: Vec<Reader>,
    /// What was sent, by rank, to be taken back; none any more once it was.
    sent: Option<BTreeMap<usize, Cancel>>,
    /// Whom to answer, and what to do if nobody has taken them.
    then: Option<(Ticket<u32>, Deed)>,
}

impl Share {
    fn send(self: &Arc<Share>, reader: Reader) {
        let (share, stdin, rank) = (self.clone(), reader.stdin.clone(), reader.rank);
        let data = &self.data[reader.has..];
        let sent = stdin.write_then(0, data, move |answer| share.settle(reader, &answer));
        let mut state = self.state.lock().expect("no holder panics");
        // What one has, all are to have: then it is taken back from nobody.
        let is_wanted = state.taken;
        if let Some(all) = &mut state.sent {
            all.insert(rank, sent);
            return;
        }
        drop(state);
        if !is_wanted {
            sent.flush();
        }
    }

    /// Takes it back from whoever has not taken it.
    fn flush(&self) {
        let sent = self.state.lock().expect("no holder panics").sent.take();
        sent.iter().flat_map(BTreeMap::values).for_each(Cancel::flush);
    }

    /// One for whom there was no room may have it by now.
    fn send_again(self: &Arc<Share>, reader: Reader) {
        let state = self.state.lock().expect("no holder panics");
        let is_back = state.sent.is_none() && !state.taken;
        drop(state);
        if is_back {
            return self.settle(reader, &fail(Errno::INTR, "the write was taken back"));
        }
        self.send(reader);
    }

    /// One has taken the bytes, has ended, or had the write taken back. After the last one it is
    /// answered; that some have ended matters only when all have.
    fn settle(self: &Arc<Share>, reader: Reader, answer: &Result<u32>) {
        let mut state = self.state.lock().expect("no holder panics");
        match answer {
            Ok(_) => state.taken = true,
            Err(error) if error.errno == Errno::INTR => state.without.push(reader),
            Err(error) if error.errno == Errno::AGAIN => {
                // Too much waits for its node. The rank lives, and is to miss nothing.
                if state.sent.is_some() || state.taken {
                    let share = self.clone();
                    return (self.later)(Box::new(move || share.send_again(reader)));
                }
                state.without.push(reader);
            }
            Err(_) => {}
        }
        state.left -= 1;
        if state.left > 0 {
            return;
        }
        let without = std::mem::take(&mut state.without);
        if state.taken && !without.is_empty() {
            // The flush came too late: what one has, all are to have.
            state.left = without.len();
            drop(state);
            return without.into_iter().for_each(|reader| self.send(reader));
        }
        let (taken, then) = (state.taken || state.had && without.is_empty(), state.then.take());
        drop(state);
        let Some((ticket, give_back)) = then else { return };
        ticket.answer(if taken {
            Ok(self.data.len() as u32)
        } else if without.is_empty() {
            fail(Errno::PIPE, "all ranks that read have ended")
        } else {
            give_back();
            fail(Errno::INTR, "the write was taken back")
        });
    }
}

/// Has all readers take `data`; `later` does something in a moment. A flush takes it back from all
/// of them, and is answered when they have said what became of it; `give_back` is called if none
/// has taken it.
fn hand_out(
    call: &mut SynCall<'_>,
    readers: Vec<Reader>,
    data: &[u8],
    later: impl Fn(Deed) + Send + Sync + 'static,
    give_back: impl FnOnce() + Send + 'static,
) -> Answer<u32> {
    let has_all = |reader: &Reader| reader.has == data.len() && reader.has > 0;
    let (having, wanting): (Vec<Reader>, Vec<Reader>) = readers.into_iter().partition(has_all);
    if wanting.is_empty() {
        return Ok(data.len() as u32);
    }
    call.park(|ticket| {
        // Nobody can have flushed it yet, and from here on only the nodes know.
        ticket.claim();
        let hook = ticket.flush_hook();
        let state = Settling {
            left: wanting.len(),
            taken: false,
            had: !having.is_empty(),
            without: Vec::new(),
            sent: Some(BTreeMap::new()),
            then: Some((ticket, Box::new(give_back))),
        };
        let (state, later) = (Mutex::new(state), Box::new(later));
        let share = Arc::new(Share { data: data.to_vec(), state, later });
        wanting.into_iter().for_each(|reader| share.send(reader));
        hook.set(move || share.flush());
    })
}

impl Handle for Input {
    fn write(&self, call: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        // What one message to a node cannot carry is left to the client's next write.
        let data = &data[..data.len().min(self.most())];
        let readers = self.readers(data.len())?;
        let had: Vec<(usize, usize)> = readers.iter().map(|one| (one.rank, one.has)).collect();
        let job = self.job.clone();
        let waiting = job.clone();
        let later = move |deed: Deed| {
            waiting.later(PAUSE, move |_| deed());
        };
        hand_out(call, readers, data, later, move || {
            let mut state = job.state();
            for (rank, has) in had {
                if let Some(skip) = state.skips.get_mut(rank) {
                    *skip += has as u64;
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
