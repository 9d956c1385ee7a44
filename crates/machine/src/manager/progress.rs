//! The life of a job, without I/O: what happens to its ranks goes in, what to do comes out.
//!
//! *new* → *starting* → *running* → *ending* → *done*; between the first two it is *pending* if it
//! has to wait for its nodes. A job begins to end when a rank fails (unless it is to keep going), a
//! node is lost (unless it tolerates that, and has ranks left), its time is over or somebody ends
//! it: TERM goes to every rank that runs, and after a time of grace KILL to all that is left. A
//! rank is *closed* when its program has ended, all its output has been taken and its session is
//! wiped; a job is done when all its ranks are closed. This is the life of one attempt: if it ends
//! by the loss of a node, and the job is to begin again, another follows ([`super::again`]).

use super::place::Place;
use super::spec::{End, Phase, RankPhase, RankStatus, Spec};
use crate::usage::Usage;
use muster_base::ending::Ending;
use muster_base::nodeset::fold_numbers;

/// What the shell around must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Send this signal to all ranks that run.
    Signal(i32),
    /// Kill everything that is left in this rank's session.
    EndRank(usize),
    /// Kill everything in all sessions that are not closed.
    EndAll,
    /// Tell after the time of grace that it is over.
    Grace,
    /// Tell everybody that the job is done.
    Finish,
}

/// SIGTERM.
const TERM: i32 = 15;
/// SIGKILL.
const KILL: i32 = 9;

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

/// A job's state.
#[derive(Debug, Clone, PartialEq)]
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
    /// It ends because a node was lost, and begins again when nothing of it is left.
    again: bool,
    /// All its ranks are closed: what is left of them is being wiped.
    finishing: bool,
}

impl Progress {
    /// A job without ranks yet.
    pub fn new() -> Progress {
        Progress {
            phase: Phase::New,
            ranks: Vec::new(),
            closed: Vec::new(),
            open: 0,
            bears: Bears::default(),
            executing: false,
            is_ordered: false,
            signals: Vec::new(),
            cause: None,
            again: false,
            finishing: false,
        }
    }

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
    /// they were not there to be told.
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
            Phase::Ending => vec![Action::EndAll],
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
            (Some(cause), _) if self.phase == Phase::Ending && self.was_sent(ending) => {
                self.ranks[rank].why.get_or_insert(format!("ended: {}", cause.why));
            }
            _ => {
                let how = match ending {
                    Ending::Exited(_) => ending.to_string(),
                    Ending::Killed(..) => format!("was {ending}"),
                };
                let why = format!("rank {rank} on {} {how}", self.ranks[rank].node);
                actions.extend(self.fail(End::Failed, exit, why));
            }
        }
        actions
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
        one.state = RankPhase::Lost;
        one.why = Some(reason.to_owned());
        let why = format!("rank {rank} on {} was lost: {reason}", one.node);
        let has_others = self.ranks.iter().any(|rank| rank.state != RankPhase::Lost);
        let mut actions = Vec::new();
        let is_borne = self.bears.losses && has_others;
        if !is_borne && self.begins_again(&why) {
            actions = self.begin_end();
        } else if !is_borne && (self.phase != Phase::Ending || self.cause.is_none()) {
            actions = self.fail(End::Lost, 125, why);
        }
        actions.extend(self.rank_closed(rank));
        actions
    }

    /// Nothing is heard of a rank, whose node is not known to have died: it may run on, and the job
    /// does not begin again beside it.
    pub fn rank_absent(&mut self, rank: usize, reason: &str) -> Vec<Action> {
        (self.bears.again, self.again) = (false, false);
        self.rank_lost(rank, reason)
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

    fn begin_end(&mut self) -> Vec<Action> {
        match self.phase {
            Phase::Ending | Phase::Done => Vec::new(),
            Phase::New | Phase::Pending | Phase::Starting if !self.executing => self.abandon(),
            Phase::New | Phase::Pending | Phase::Starting | Phase::Running => {
                self.phase = Phase::Ending;
                vec![Action::Signal(TERM), Action::Grace]
            }
        }
    }

    /// Somebody or something ends the job. One that was about to begin again does not.
    pub fn end(&mut self, end: End, exit: u8, why: &str) -> Vec<Action> {
        let is_again = end == End::Lost && self.begins_again(why);
        if std::mem::replace(&mut self.again, is_again) && !is_again {
            self.cause = None;
        }
        match self.phase {
            Phase::Done => Vec::new(),
            Phase::New | Phase::Pending => {
                self.cause.get_or_insert(Cause { end, exit, why: why.to_owned() });
                self.phase = if is_again { Phase::Ending } else { Phase::Done };
                vec![Action::Finish]
            }
            Phase::Starting | Phase::Running | Phase::Ending => {
                self.cause.get_or_insert(Cause { end, exit, why: why.to_owned() });
                self.begin_end()
            }
        }
    }

    /// Somebody kills the job: nothing is asked to end first.
    pub fn kill(&mut self, why: &str) -> Vec<Action> {
        // Those that lack files would not tell that they have ended.
        if self.is_unplaced() || self.phase == Phase::Starting && !self.executing {
            return self.end(End::Killed, 137, why);
        }
        if std::mem::take(&mut self.again) {
            self.cause = None;
        }
        self.cause.get_or_insert(Cause { end: End::Killed, exit: 137, why: why.to_owned() });
        if self.phase != Phase::Done {
            self.phase = Phase::Ending;
        }
        self.grace_over()
    }

    /// The time of grace is over, or there is to be none.
    pub fn grace_over(&mut self) -> Vec<Action> {
        if self.phase == Phase::Ending { vec![Action::EndAll] } else { Vec::new() }
    }

    /// What was killed has had time enough: ranks that have not closed are given up.
    pub fn drain_over(&mut self) -> Vec<Action> {
        let open: Vec<usize> = (0..self.closed.len()).filter(|rank| !self.closed[*rank]).collect();
        if !open.is_empty() {
            // A node that only does not answer may run on what would begin again elsewhere.
            (self.bears.again, self.again) = (false, false);
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
        Progress { phase: Phase::Done, ..Progress::new() }
    }

    /// Takes a job up again that a manager before this one has placed.
    pub fn restore(ranks: Vec<RankStatus>, bears: Bears) -> Progress {
        let (closed, open) = (vec![false; ranks.len()], ranks.len());
        Progress { phase: Phase::Running, ranks, closed, open, bears, ..Progress::new() }
    }
}

impl Default for Progress {
    fn default() -> Progress {
        Progress::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(ranks: usize, keep_going: bool) -> Progress {
        bearing(ranks, Bears { failures: keep_going, ..Bears::default() })
    }

    fn bearing(ranks: usize, bears: Bears) -> Progress {
        let mut job = Progress::new();
        let place = |local| Place { node: "n0".to_owned(), local };
        job.placed((0..ranks).map(place).collect(), vec![1; ranks], bears);
        assert!(job.executing());
        assert_eq!(job.started(), []);
        job
    }

    #[test]
    fn a_program_that_cannot_be_run_ends_the_others_unless_the_job_is_to_keep_going() {
        let mut job = running(2, false);
        let actions = job.rank_failed(1, 127, "x: not found");
        assert_eq!(actions, [Action::Signal(TERM), Action::Grace]);
        assert_eq!(job.rank_failed(1, 127, "x: not found"), []);
        job.rank_exited(0, 15);
        assert_eq!(job.rank_closed(0), [Action::Finish]);
        assert_eq!(job.verdict(), Some((End::Failed, 127, Some("x: not found".to_owned()))));
        assert_eq!(job.ranks()[1].status, None);
        let mut job = running(2, true);
        assert_eq!(job.rank_failed(1, 126, "no"), []);
        assert_eq!(job.rank_exited(0, 0), [Action::EndRank(0)]);
        assert_eq!(job.rank_closed(0), [Action::Finish]);
        assert_eq!(job.verdict().unwrap().1, 126);
    }

    fn close_all(job: &mut Progress) -> Vec<Action> {
        (0..job.ranks().len()).flat_map(|rank| job.rank_closed(rank)).collect()
    }

    #[test]
    fn a_job_whose_ranks_all_end_well_is_done_with_0() {
        let mut job = running(2, false);
        assert_eq!(job.rank_exited(1, 0), [Action::EndRank(1)]);
        assert_eq!(job.rank_closed(1), []);
        assert_eq!(job.rank_exited(0, 0), [Action::EndRank(0)]);
        assert_eq!(job.rank_closed(0), [Action::Finish]);
        assert_eq!(job.verdict(), Some((End::Done, 0, None)));
    }

    #[test]
    fn the_first_failure_ends_the_job_and_is_its_exit_status() {
        let mut job = running(3, false);
        let expected = [Action::EndRank(1), Action::Signal(TERM), Action::Grace];
        assert_eq!(job.rank_exited(1, 3 << 8), expected);
        assert_eq!(job.rank_exited(0, TERM), [Action::EndRank(0)]);
        assert_eq!(job.grace_over(), [Action::EndAll]);
        assert_eq!(job.rank_exited(2, 9), [Action::EndRank(2)]);
        assert!(job.ranks()[2].why.as_ref().unwrap().starts_with("ended: rank 1"));
        assert_eq!(close_all(&mut job), [Action::Finish]);
        let (end, exit, why) = job.verdict().unwrap();
        assert_eq!((end, exit), (End::Failed, 3));
        assert_eq!(why.unwrap(), "rank 1 on n0 exited 3");
    }

    #[test]
    fn a_crash_is_told_also_while_the_job_ends() {
        let mut job = running(3, false);
        job.rank_exited(0, 3 << 8);
        job.rank_exited(1, 11);
        job.rank_exited(2, TERM);
        assert_eq!(job.ranks()[1].why, None);
        assert!(job.ranks()[2].why.is_some());
    }

    #[test]
    fn a_job_that_keeps_going_still_tells_the_first_failure() {
        let mut job = running(2, true);
        assert_eq!(job.rank_exited(0, 11), [Action::EndRank(0)]);
        assert_eq!(job.rank_exited(1, 0), [Action::EndRank(1)]);
        close_all(&mut job);
        assert_eq!(job.verdict().unwrap().1, 139);
    }

    #[test]
    fn a_lost_rank_ends_the_job_and_is_closed_at_once() {
        let mut job = running(2, false);
        let actions = job.rank_lost(0, "its node is gone");
        assert_eq!(actions, [Action::Signal(TERM), Action::Grace]);
        job.rank_exited(1, TERM);
        assert_eq!(job.rank_closed(1), [Action::Finish]);
        assert_eq!(job.verdict().unwrap().1, 125);
        assert_eq!(job.verdict().unwrap().0, End::Lost);
    }

    #[test]
    fn a_job_that_tolerates_losses_goes_on_while_it_has_a_rank() {
        let mut job = bearing(3, Bears { losses: true, ..Bears::default() });
        assert_eq!(job.rank_lost(0, "its node is gone"), []);
        assert_eq!(job.rank_lost(2, "its node is gone"), []);
        assert_eq!(job.rank_exited(1, 0), [Action::EndRank(1)]);
        assert_eq!(job.rank_closed(1), [Action::Finish]);
        let (end, exit, why) = job.verdict().unwrap();
        assert_eq!((end, exit), (End::Done, 0));
        assert_eq!(why.unwrap(), "ranks 0,2 were lost; the others went on");
        // A rank that fails ends it as any other job.
        let mut job = bearing(2, Bears { losses: true, ..Bears::default() });
        job.rank_lost(1, "gone");
        assert_eq!(job.rank_exited(0, 3 << 8)[1..], [Action::Signal(TERM), Action::Grace]);
        let mut job = bearing(2, Bears { losses: true, ..Bears::default() });
        job.rank_lost(1, "gone");
        job.rank_lost(0, "gone");
        close_all(&mut job);
        assert_eq!(job.verdict().unwrap().1, 125, "nobody is left");
    }

    fn begun_again(ranks: usize) -> Progress {
        bearing(ranks, Bears { again: true, ..Bears::default() })
    }

    #[test]
    fn a_job_that_begins_again_is_ended_first_and_not_done() {
        let mut job = begun_again(2);
        assert_eq!(job.rank_lost(0, "n0 died"), [Action::Signal(TERM), Action::Grace]);
        job.rank_exited(1, 1 << 8);
        assert_eq!(job.rank_closed(1), [Action::Finish]);
        assert_eq!((job.phase(), job.verdict()), (Phase::Ending, None));
        assert_eq!(job.cleared().unwrap(), "rank 0 on n0 was lost: n0 died");
        assert_eq!(job.rank_lost(1, "late"), [], "it is over");
    }

    #[test]
    fn a_rank_that_failed_before_its_partners_death_was_known_is_no_cause() {
        let mut job = begun_again(2);
        job.rank_exited(1, 1 << 8);
        job.rank_closed(1);
        assert_eq!(job.rank_lost(0, "n0 died"), [Action::Finish]);
        assert!(job.cleared().unwrap().contains("n0 died"));
        // A failure with all nodes alive is one, and so is a node that only does not answer.
        let mut job = begun_again(2);
        job.rank_exited(1, 1 << 8);
        job.rank_closed(1);
        assert_eq!(job.drain_over(), [Action::Finish]);
        assert_eq!((job.cleared(), job.verdict().unwrap().1), (None, 1));
    }

    #[test]
    fn a_job_does_not_begin_again_beside_a_node_that_only_does_not_answer() {
        let mut job = begun_again(2);
        job.rank_lost(0, "n0 died");
        assert!(job.is_again());
        assert_eq!(job.grace_over(), [Action::EndAll]);
        assert_eq!(job.drain_over(), [Action::Finish]);
        assert_eq!(job.cleared(), None);
        let (end, exit, why) = job.verdict().unwrap();
        assert_eq!((end, exit), (End::Lost, 125));
        assert!(why.unwrap().contains("n0 died"));
        // Nothing was open: it begins again.
        let mut job = begun_again(1);
        assert!(job.rank_lost(0, "n0 died").contains(&Action::Finish));
        assert_eq!(job.drain_over(), []);
        assert!(job.cleared().is_some());
    }

    #[test]
    fn a_job_does_not_begin_again_beside_a_rank_that_only_is_not_heard_of() {
        let mut job = begun_again(2);
        job.rank_lost(0, "n0 died");
        assert!(job.rank_absent(1, "it has not come back").contains(&Action::Finish));
        assert_eq!(job.cleared(), None);
        let (end, _, why) = job.verdict().unwrap();
        assert_eq!((end, why.unwrap().contains("n0 died")), (End::Lost, true));
        let mut job = begun_again(2);
        assert_eq!(job.rank_absent(1, "it has not come back")[0], Action::Signal(TERM));
        job.rank_lost(0, "n0 died");
        assert_eq!(job.cleared(), None);
        // One that is not to begin again bears it as any other loss.
        let mut job = bearing(2, Bears { losses: true, ..Bears::default() });
        assert_eq!(job.rank_absent(0, "it has not come back"), []);
    }

    #[test]
    fn a_job_that_somebody_ends_does_not_begin_again() {
        let ends: [fn(&mut Progress); 2] = [
            |job| drop(job.kill("it was killed")),
            |job| drop(job.end(End::Killed, 137, "it was killed")),
        ];
        for end in ends {
            let mut job = begun_again(1);
            assert!(job.rank_lost(0, "n0 died").contains(&Action::Finish));
            end(&mut job);
            assert_eq!(job.cleared(), None);
            assert_eq!(job.verdict(), Some((End::Killed, 137, Some("it was killed".into()))));
            let mut job = begun_again(1);
            end(&mut job);
            job.rank_lost(0, "n0 died");
            assert_eq!(job.cleared(), None);
        }
    }

    #[test]
    fn a_launch_that_lost_a_node_begins_again_and_any_other_has_failed() {
        for (is_lost, again) in [(true, true), (false, false)] {
            let mut job = Progress::new();
            let bears = Bears { again: true, ..Bears::default() };
            job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], bears);
            assert_eq!(job.start_failed(None, 125, "no", is_lost), [Action::Finish]);
            assert_eq!(job.cleared().is_some(), again);
        }
        // Before it had places.
        let mut job = Progress::new();
        job.set_bears(Bears { again: true, ..Bears::default() });
        job.queued();
        assert_eq!(job.end(End::Lost, 125, "n0 is down"), [Action::Finish]);
        assert!(job.cleared().is_some());
    }

    #[test]
    fn a_time_limit_is_124_whatever_the_ranks_say() {
        let mut job = running(1, false);
        job.end(End::Timeout, 124, "its time limit of 1 s has passed");
        job.rank_exited(0, TERM);
        close_all(&mut job);
        assert_eq!(job.verdict().unwrap().1, 124);
    }

    #[test]
    fn a_job_that_cannot_start_ends_at_once() {
        let mut job = Progress::new();
        job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
        let actions = job.start_failed(Some(0), 127, "x: not found", false);
        assert_eq!(actions, [Action::Finish]);
        assert_eq!(job.verdict().unwrap().1, 127);
        assert_eq!(job.start_failed(None, 125, "again", false), [], "it is finished once");
    }

    /// It stayed "ending" for ever: there was no rank that could have ended.
    #[test]
    fn a_job_that_is_ended_while_its_files_come_is_done_at_once() {
        let mut job = Progress::new();
        job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
        assert_eq!(job.end(End::Killed, 143, "its client went away"), [Action::Finish]);
        assert!(!job.executing(), "its programs must not be run any more");
    }

    #[test]
    fn a_signal_that_comes_while_programs_are_being_run_waits_for_them() {
        let mut job = Progress::new();
        assert!(job.is_unstarted());
        job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
        assert!(job.is_unstarted(), "its files come");
        assert!(job.executing() && !job.is_unstarted());
        assert_eq!([10, 12, 10].map(|number| job.signal(number)), [(); 3].map(|()| vec![]));
        assert_eq!(job.started(), [Action::Signal(10), Action::Signal(12)]);
        assert_eq!((job.signal(10), job.started()), (vec![Action::Signal(10)], vec![]));
    }

    /// The order to kill came before there was a process, and the program ran for ever.
    #[test]
    fn programs_that_run_after_their_job_was_ended_are_killed() {
        let mut job = Progress::new();
        job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
        assert!(job.executing());
        assert_eq!(job.end(End::Killed, 143, "x"), [Action::Signal(TERM), Action::Grace]);
        assert_eq!(job.started(), [Action::EndAll]);
        assert_eq!(job.rank_exited(0, 9), [Action::EndRank(0)]);
        assert_eq!(job.rank_closed(0), [Action::Finish]);
        assert_eq!(job.verdict().unwrap().1, 143);
    }

    /// A frozen node kept the job "ending" for ever.
    #[test]
    fn ranks_that_cannot_be_killed_are_given_up() {
        let mut job = running(2, false);
        job.end(End::Killed, 137, "it was killed");
        job.rank_exited(0, 9);
        job.rank_closed(0);
        assert_eq!(job.drain_over(), [Action::Finish]);
        assert_eq!(job.ranks()[1].state, RankPhase::Lost);
        assert_eq!(job.drain_over(), []);
    }

    #[test]
    fn a_job_that_is_killed_is_not_asked_first() {
        let mut job = running(1, false);
        assert_eq!(job.kill("x"), [Action::EndAll]);
        job.rank_exited(0, 9);
        assert_eq!(job.rank_closed(0), [Action::Finish]);
        assert_eq!((job.verdict().unwrap().1, job.kill("y")), (137, vec![]));
    }

    /// Its ranks were called lost after 10 s, since their nodes did not answer.
    #[test]
    fn a_job_that_is_killed_while_nodes_lack_its_files_is_done_at_once() {
        let mut job = Progress::new();
        job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], Bears::default());
        assert!(job.executing());
        job.holds_on();
        assert!(!job.is_unstarted(), "some nodes may have had all files");
        assert_eq!(job.kill("it was killed"), [Action::Finish]);
        assert_eq!(job.verdict(), Some((End::Killed, 137, Some("it was killed".into()))));
        assert!(job.ranks().iter().all(|rank| rank.state != RankPhase::Lost));
    }

    #[test]
    fn a_job_is_finished_once() {
        let mut job = running(1, false);
        job.rank_lost(0, "gone");
        assert_eq!(job.end(End::Killed, 143, "again"), []);
        assert_eq!(job.rank_closed(0), []);
        assert_eq!(job.rank_exited(0, 0), []);
    }
}
