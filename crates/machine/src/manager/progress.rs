//! The life of a job, without I/O: what happens to its ranks goes in, what to do comes out.
//!
//! *new* → *starting* → *running* → *ending* → *done*; between the first two it is *pending* if it
//! has to wait for its nodes. A job begins to end when a rank fails (unless it is to keep going), a
//! node is lost (unless it tolerates that, and has ranks left), its time is over or somebody ends
//! it: the first of these is why. TERM goes to every rank that runs (a moment after one has failed,
//! for others may be about to end as well), and after a time of grace KILL to all that is left. A
//! rank is *closed* when its program has ended, all its output has been taken and its session is
//! wiped; a job is done when all its ranks are closed. This is the life of one attempt: if it ends
//! by the loss of a node, and the job is to begin again, another follows ([`super::again`]).

use super::place::Place;
use super::spec::{End, Phase, RankPhase, RankStatus, Spec};
use crate::usage::Usage;
use muster_base::ending::Ending;
use muster_base::nodeset::fold_numbers;
use std::time::Duration;

/// What the shell around must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Send this signal to all ranks that run.
    Signal(i32),
    /// Send TERM to them, and CONT behind it: one that is stopped would not hear of it in time.
    Ask,
    /// Kill everything that is left in this rank's session.
    EndRank(usize),
    /// Kill everything in all sessions that are not closed.
    EndAll,
    /// Tell after a moment that it is over.
    Pause,
    /// Tell after the time of grace that it is over.
    Grace,
    /// Tell everybody that the job is done.
    Finish,
}

/// SIGTERM.
const TERM: i32 = 15;
/// SIGKILL.
const KILL: i32 = 9;

/// What asks all ranks to end.
const ASK: [Action; 2] = [Action::Ask, Action::Grace];

/// How long after a rank has failed the others may end by themselves. Ranks whose MPI has found an
/// error take more than twice as long from one to the next (`mpi-abi/src/failure.rs`): of those the
/// first is to be the only one that speaks.
pub const PAUSE: Duration = Duration::from_millis(25);

#[derive(Debug, Clone, PartialEq)]
struct Cause {
    end: End,
    exit: u8,
    why: String,
}

/// What a job goes on in spite of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bears {
    /// Ranks that fail.
    pub failures: bool,
    /// Ranks that are lost, as long as there are others.
    pub losses: bool,
    /// Losses, by beginning again.
    pub again: bool,
}

impl Bears {
    /// As the job's client wants it of an attempt before which so many have failed.
    pub fn of(spec: &Spec, failed: usize) -> Bears {
        let again = failed < spec.requeue as usize;
        Bears { failures: spec.keep_going, losses: spec.tolerate, again }
    }
}

/// A job's state; at first that of one without ranks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    phase: Phase,
    ranks: Vec<RankStatus>,
    closed: Vec<bool>,
    /// How many are not closed.
    open: usize,
    bears: Bears,
    /// The programs are being run: some may run already.
    executing: bool,
    /// Whether nodes were told to run it, though some may lack files: then others may run it.
    is_ordered: bool,
    /// Signals that came meanwhile.
    signals: Vec<i32>,
    cause: Option<Cause>,
    /// A rank's failure ends it, and the others were not asked to end yet.
    is_pausing: bool,
    /// All that is left of it was killed.
    is_killed: bool,
    /// It ends because a node was lost, and begins again when nothing of it is left.
    again: bool,
    /// All its ranks are closed: what is left of them is being wiped.
    finishing: bool,
}

impl Progress {
    /// What it is to bear is known.
    pub fn set_bears(&mut self, bears: Bears) {
        self.bears = bears;
    }

    /// Where it is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Its ranks.
    pub fn ranks(&self) -> &[RankStatus] {
        &self.ranks
    }

    /// Whether a rank is closed.
    pub fn is_closed(&self, rank: usize) -> bool {
        self.closed[rank]
    }

    /// How it ended: end, exit status, reason.
    pub fn verdict(&self) -> Option<(End, u8, Option<String>)> {
        if self.phase != Phase::Done {
            return None;
        }
        Some(match &self.cause {
            Some(cause) => (cause.end, cause.exit, Some(cause.why.clone())),
            None => (End::Done, 0, self.borne()),
        })
    }

    /// The job waits for its nodes; `false` if it was ended before.
    pub fn queued(&mut self) -> bool {
        let is_new = self.phase == Phase::New;
        if is_new {
            self.phase = Phase::Pending;
        }
        is_new
    }

    /// Whether its ranks have no places yet.
    pub fn is_unplaced(&self) -> bool {
        matches!(self.phase, Phase::New | Phase::Pending)
    }

    /// Whether nothing of it runs yet, nor is about to.
    pub fn is_unstarted(&self) -> bool {
        self.is_unplaced() || self.phase == Phase::Starting && !self.is_ordered
    }

    /// What the job went on in spite of.
    fn borne(&self) -> Option<String> {
        let lost = self.ranks.iter().filter(|rank| rank.state == RankPhase::Lost);
        let lost: Vec<usize> = lost.map(|rank| rank.rank).collect();
        let (word, was) = if lost.len() == 1 { ("rank", "was") } else { ("ranks", "were") };
        let ranks = fold_numbers(&lost, 1);
        (!lost.is_empty()).then(|| format!("{word} {ranks} {was} lost; the others went on"))
    }

    /// The ranks have places and sessions.
    pub fn placed(&mut self, places: Vec<Place>, sessions: Vec<u32>, bears: Bears) {
        (self.phase, self.is_ordered) = (Phase::Starting, false);
        self.bears = bears;
        (self.closed, self.open) = (vec![false; places.len()], places.len());
        let each = |(rank, (place, session)): (usize, (Place, u32))| RankStatus {
            rank,
            node: place.node,
            local: place.local,
            session,
            pid: None,
            state: RankPhase::Waiting,
            status: None,
            why: None,
            usage: None,
        };
        self.ranks = places.into_iter().zip(sessions).enumerate().map(each).collect();
    }

    /// Programs are about to be run; `false` when the job was ended before that.
    pub fn executing(&mut self) -> bool {
        self.executing = self.phase == Phase::Starting;
        self.is_ordered |= self.executing;
        self.executing
    }

    /// They are not to be run yet after all, or not all of them.
    pub fn holds_on(&mut self) {
        self.executing = false;
    }

    /// All programs run, or their nodes have the order to run them. If the job was ended meanwhile,
    /// some were not there to be told: they are asked to end as the others were, and have what is
    /// left of the time of grace.
    pub fn started(&mut self) -> Vec<Action> {
        self.executing = false;
        if self.phase == Phase::Starting {
            self.phase = Phase::Running;
        }
        for rank in self.ranks.iter_mut().filter(|rank| rank.state == RankPhase::Waiting) {
            rank.state = RankPhase::Running;
        }
        let signals = std::mem::take(&mut self.signals);
        match self.phase {
            Phase::Ending if self.is_killed => vec![Action::EndAll],
            // All are asked when that is over.
            Phase::Ending if self.is_pausing => Vec::new(),
            Phase::Ending => vec![Action::Ask],
            _ => signals.into_iter().map(Action::Signal).collect(),
        }
    }

    /// Somebody has sent a signal. Some ranks may not be there yet to get it: it waits for them.
    pub fn signal(&mut self, number: i32) -> Vec<Action> {
        if self.phase != Phase::Starting {
            return vec![Action::Signal(number)];
        }
        if !self.signals.contains(&number) {
            self.signals.push(number);
        }
        Vec::new()
    }

    /// Why the job ends: how, exit status, reason.
    pub fn cause(&self) -> Option<(End, u8, String)> {
        self.cause.as_ref().map(|cause| (cause.end, cause.exit, cause.why.clone()))
    }

    /// The process of a rank is known.
    pub fn pid(&mut self, rank: usize, pid: u32) {
        self.ranks[rank].pid = Some(pid);
    }

    /// What a rank has used is known.
    pub fn used(&mut self, rank: usize, usage: Option<Usage>) {
        self.ranks[rank].usage = usage;
    }

    /// The job cannot be started; `rank` is the one that could not, if it was one. `is_lost` says
    /// that a node of its has died.
    pub fn start_failed(
        &mut self,
        rank: Option<usize>,
        exit: u8,
        why: &str,
        is_lost: bool,
    ) -> Vec<Action> {
        if self.phase == Phase::Done {
            return Vec::new();
        }
        if let Some(one) = rank.and_then(|rank| self.ranks.get_mut(rank)) {
            one.why = Some(why.to_owned());
        }
        if !is_lost || !self.begins_again(why) {
            self.cause.get_or_insert(Cause { end: End::Failed, exit, why: why.to_owned() });
        }
        self.abandon()
    }

    /// A node was lost: whether the job begins again when it has ended. A rank that has failed
    /// meanwhile may have done so because others were gone; who was told to end does.
    fn begins_again(&mut self, why: &str) -> bool {
        let is_own = |cause: &Cause| matches!(cause.end, End::Failed | End::Lost);
        if self.bears.again && self.cause.as_ref().is_none_or(is_own) && !self.again {
            self.cause = Some(Cause { end: End::Lost, exit: 125, why: why.to_owned() });
            self.again = true;
        }
        self.again
    }

    /// Whether it ends to begin again.
    pub fn is_again(&self) -> bool {
        self.again
    }

    /// Nothing of it is left. Why it is to begin again, if it is.
    pub fn cleared(&mut self) -> Option<String> {
        self.phase = Phase::Done;
        let cause = self.cause.as_ref().filter(|_| self.again);
        cause.map(|cause| cause.why.clone())
    }

    /// Ends a job whose programs do not run, or only some of them: there is no output to wait
    /// for, and the sessions are wiped when it is finished.
    fn abandon(&mut self) -> Vec<Action> {
        self.phase = Phase::Ending;
        self.closed.fill(true);
        self.open = 0;
        self.finish_if_closed()
    }

    /// A rank's program has ended.
    pub fn rank_exited(&mut self, rank: usize, raw: i32) -> Vec<Action> {
        let one = &mut self.ranks[rank];
        if matches!(one.state, RankPhase::Done | RankPhase::Lost) {
            return Vec::new();
        }
        (one.state, one.status) = (RankPhase::Done, Some(raw));
        let mut actions = vec![Action::EndRank(rank)];
        let ending = Ending::of(raw);
        let exit = ending.exit();
        match (&self.cause, exit) {
            (_, 0) => {}
            (Some(cause), _) if self.were_told_to_end() && self.was_sent(ending) => {
                self.ranks[rank].why.get_or_insert(format!("ended: {}", cause.why));
            }
            _ => {
                let how = match ending {
                    Ending::Exited(_) => ending.to_string(),
                    Ending::Killed(..) => format!("was {ending}"),
                };
                let why = format!("rank {rank} on {} {how}", self.ranks[rank].node);
                let ends = self.fail(End::Failed, exit, why);
                // Ranks that fail together, or when they have come to their end, are not in time
                // with one another: what the last one says of it is not to be lost.
                if ends == ASK && matches!(ending, Ending::Exited(_)) {
                    self.is_pausing = true;
                    actions.push(Action::Pause);
                } else {
                    actions.extend(ends);
                }
            }
        }
        actions
    }

    /// The moment is over in which ranks could end by themselves.
    pub fn pause_over(&mut self) -> Vec<Action> {
        let is_due = std::mem::take(&mut self.is_pausing) && self.phase == Phase::Ending;
        if is_due { ASK.to_vec() } else { Vec::new() }
    }

    /// Whether it ends, and its ranks were told so.
    pub fn were_told_to_end(&self) -> bool {
        self.phase == Phase::Ending && !self.is_pausing
    }

    /// A rank's program cannot be run, though others may run: its own failure, with these words.
    pub fn rank_failed(&mut self, rank: usize, exit: u8, why: &str) -> Vec<Action> {
        let one = &mut self.ranks[rank];
        if matches!(one.state, RankPhase::Done | RankPhase::Lost) {
            return self.rank_closed(rank);
        }
        one.state = RankPhase::Done;
        one.why = Some(why.to_owned());
        let mut actions = Vec::new();
        if self.phase != Phase::Ending || self.cause.is_none() {
            actions = self.fail(End::Failed, exit, why.to_owned());
        }
        actions.extend(self.rank_closed(rank));
        actions
    }

    /// Whether an end is what the signals that end a job bring about; any other is a rank's own.
    fn was_sent(&self, ending: Ending) -> bool {
        match ending {
            Ending::Exited(_) => true,
            Ending::Killed(signal, _) => [TERM, KILL].contains(&i32::from(signal)),
        }
    }

    /// A rank is gone, nobody knows how it ended.
    pub fn rank_lost(&mut self, rank: usize, reason: &str) -> Vec<Action> {
        let one = &mut self.ranks[rank];
        if matches!(one.state, RankPhase::Done | RankPhase::Lost) {
            return self.rank_closed(rank);
        }
        self.loses(rank, reason)
    }

    /// A rank is gone with its node, of whose output not all was read. If its program has ended,
    /// well or not, that is a loss, too.
    pub fn output_lost(&mut self, rank: usize, reason: &str) -> Vec<Action> {
        let has_ended = self.ranks[rank].state == RankPhase::Done && !self.closed[rank];
        if !has_ended || matches!(self.phase, Phase::Ending | Phase::Done) {
            return self.rank_lost(rank, reason);
        }
        self.loses(rank, &format!("{reason}, with the last of what it had written"))
    }

    fn loses(&mut self, rank: usize, reason: &str) -> Vec<Action> {
        let one = &mut self.ranks[rank];
        one.state = RankPhase::Lost;
        one.why = Some(reason.to_owned());
        let why = format!("rank {rank} on {} was lost: {reason}", one.node);
        let has_others = self.ranks.iter().any(|rank| rank.state != RankPhase::Lost);
        let mut actions = Vec::new();
        let is_borne = self.bears.losses && has_others;
        if !is_borne && self.begins_again(&why) {
            actions = self.begin_end();
        } else if !is_borne && (self.phase != Phase::Ending || self.cause.is_none()) {
            self.is_ended_by(End::Lost, 125, &why);
            actions = self.begin_end();
        }
        actions.extend(self.rank_closed(rank));
        actions
    }

    /// Nothing is heard of a rank, whose node is not known to have died: it may run on, and the job
    /// does not begin again beside it. If its program has ended, it matters whether all is here
    /// that it has written.
    pub fn rank_absent(&mut self, rank: usize, has_all: bool, reason: &str) -> Vec<Action> {
        self.is_final();
        match has_all {
            true => self.rank_lost(rank, reason),
            false => self.output_lost(rank, reason),
        }
    }

    /// It does not begin again, whatever befell it.
    pub fn is_final(&mut self) {
        (self.bears.again, self.again) = (false, false);
    }

    /// Whether it may begin again, if a node is lost.
    pub fn may_begin_again(&self) -> bool {
        self.bears.again
    }

    /// A rank has failed: the job ends, or goes on with its first failure noted.
    fn fail(&mut self, end: End, exit: u8, why: String) -> Vec<Action> {
        let first = self.cause.is_none();
        self.cause.get_or_insert(Cause { end, exit, why });
        if self.bears.failures || !first && self.phase == Phase::Ending {
            return Vec::new();
        }
        self.begin_end()
    }

    /// Something ends it. Failures in spite of which it went on so far are not why.
    fn is_ended_by(&mut self, end: End, exit: u8, why: &str) {
        let went_on = matches!(self.phase, Phase::Starting | Phase::Running) && self.bears.failures;
        if went_on || self.cause.is_none() {
            self.cause = Some(Cause { end, exit, why: why.to_owned() });
        }
    }

    fn begin_end(&mut self) -> Vec<Action> {
        match self.phase {
            Phase::Ending | Phase::Done => Vec::new(),
            Phase::New | Phase::Pending | Phase::Starting if !self.executing => self.abandon(),
            Phase::New | Phase::Pending | Phase::Starting | Phase::Running => {
                self.phase = Phase::Ending;
                ASK.to_vec()
            }
        }
    }

    /// Somebody or something ends the job. One that was about to begin again does not, and one that
    /// is done has ended as everybody was told.
    pub fn end(&mut self, end: End, exit: u8, why: &str) -> Vec<Action> {
        if self.phase == Phase::Done {
            return Vec::new();
        }
        let is_again = end == End::Lost && self.begins_again(why);
        if std::mem::replace(&mut self.again, is_again) && !is_again {
            self.cause = None;
        }
        match self.phase {
            Phase::New | Phase::Pending => {
                self.cause.get_or_insert(Cause { end, exit, why: why.to_owned() });
                self.phase = if is_again { Phase::Ending } else { Phase::Done };
                vec![Action::Finish]
            }
            Phase::Starting | Phase::Running | Phase::Ending | Phase::Done => {
                self.is_ended_by(end, exit, why);
                self.begin_end()
            }
        }
    }

    /// Somebody kills the job: nothing is asked to end first.
    pub fn kill(&mut self, why: &str) -> Vec<Action> {
        // Those that lack files would not tell that they have ended.
        let is_done = self.phase == Phase::Done;
        if is_done || self.is_unplaced() || self.phase == Phase::Starting && !self.executing {
            return self.end(End::Killed, 137, why);
        }
        if std::mem::take(&mut self.again) {
            self.cause = None;
        }
        self.is_ended_by(End::Killed, 137, why);
        self.phase = Phase::Ending;
        self.grace_over()
    }

    /// The time of grace is over, or there is to be none.
    pub fn grace_over(&mut self) -> Vec<Action> {
        self.is_pausing = false;
        self.is_killed = self.phase == Phase::Ending;
        if self.is_killed { vec![Action::EndAll] } else { Vec::new() }
    }

    /// It goes on, though its time is over: whatever it is waited for, it is killed.
    pub fn is_late(&mut self) -> Vec<Action> {
        if self.is_killed { Vec::new() } else { self.grace_over() }
    }

    /// What was killed has had time enough: ranks that have not closed are given up.
    pub fn drain_over(&mut self) -> Vec<Action> {
        let open: Vec<usize> = (0..self.closed.len()).filter(|rank| !self.closed[*rank]).collect();
        if !open.is_empty() {
            // A node that only does not answer may run on what would begin again elsewhere.
            self.is_final();
        }
        let lose = |rank| self.rank_lost(rank, "its node does not answer");
        open.into_iter().flat_map(lose).collect()
    }

    /// All output of a rank has been taken and its session is wiped, or both are gone for good.
    pub fn rank_closed(&mut self, rank: usize) -> Vec<Action> {
        if std::mem::replace(&mut self.closed[rank], true) {
            return Vec::new();
        }
        self.open -= 1;
        self.finish_if_closed()
    }

    fn finish_if_closed(&mut self) -> Vec<Action> {
        let is_finished = self.finishing || self.phase == Phase::Done;
        if self.open > 0 || is_finished || self.is_unplaced() {
            return Vec::new();
        }
        self.finishing = true;
        if !self.again {
            self.phase = Phase::Done;
        }
        vec![Action::Finish]
    }

    /// A job that was done before this manager was started.
    pub fn past() -> Progress {
        Progress { phase: Phase::Done, ..Progress::default() }
    }

    /// Takes a job up again that a manager before this one has placed.
    pub fn restore(ranks: Vec<RankStatus>, bears: Bears) -> Progress {
        let (closed, open) = (vec![false; ranks.len()], ranks.len());
        Progress { phase: Phase::Running, ranks, closed, open, bears, ..Progress::default() }
    }
}

#[cfg(test)]
mod tests;
