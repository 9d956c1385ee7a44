//! The life of a job, without I/O: what happens to its ranks goes in, what to do comes out.
//!
//! *new* → *starting* → *running* → *ending* → *done*. A job begins to end when a rank fails
//! (unless it is to keep going), a node is lost, its time is over or somebody ends it: TERM goes
//! to every rank that runs, and after a time of grace KILL to all that is left. A rank is
//! *closed* when its program has ended, all its output has been taken and its session is wiped;
//! a job is done when all its ranks are closed.

use super::place::Place;
use super::spec::{End, Phase, RankPhase, RankStatus, Usage};
use muster_base::ending::Ending;

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

#[derive(Debug, Clone, PartialEq)]
struct Cause {
    end: End,
    exit: u8,
    why: String,
}

/// A job's state.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    phase: Phase,
    ranks: Vec<RankStatus>,
    closed: Vec<bool>,
    keep_going: bool,
    cause: Option<Cause>,
}

impl Progress {
    /// A job without ranks yet.
    pub fn new() -> Progress {
        let (ranks, closed) = (Vec::new(), Vec::new());
        Progress { phase: Phase::New, ranks, closed, keep_going: false, cause: None }
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
            None => (End::Done, 0, None),
        })
    }

    /// The ranks have places and sessions.
    pub fn placed(&mut self, places: Vec<Place>, sessions: Vec<u32>, keep_going: bool) {
        self.phase = Phase::Starting;
        self.keep_going = keep_going;
        self.closed = vec![false; places.len()];
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

    /// All programs run.
    pub fn started(&mut self) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Running;
        }
        for rank in self.ranks.iter_mut().filter(|rank| rank.state == RankPhase::Waiting) {
            rank.state = RankPhase::Running;
        }
    }

    /// The process of a rank is known.
    pub fn pid(&mut self, rank: usize, pid: u32) {
        self.ranks[rank].pid = Some(pid);
    }

    /// What a rank has used is known.
    pub fn used(&mut self, rank: usize, usage: Option<Usage>) {
        self.ranks[rank].usage = usage;
    }

    /// The job cannot be started; `rank` is the one that could not, if it was one.
    pub fn start_failed(&mut self, rank: Option<usize>, exit: u8, why: &str) -> Vec<Action> {
        if let Some(rank) = rank {
            self.ranks[rank].why = Some(why.to_owned());
        }
        self.cause.get_or_insert(Cause { end: End::Failed, exit, why: why.to_owned() });
        self.phase = Phase::Ending;
        let mut actions = vec![Action::EndAll];
        // Nothing has run, so there is no output to wait for.
        for rank in 0..self.ranks.len() {
            actions.extend(self.rank_closed(rank));
        }
        actions.extend(self.finish_if_closed());
        actions
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
            (Some(cause), _) if self.phase == Phase::Ending => {
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

    /// A rank is gone, nobody knows how it ended.
    pub fn rank_lost(&mut self, rank: usize, reason: &str) -> Vec<Action> {
        let one = &mut self.ranks[rank];
        if matches!(one.state, RankPhase::Done | RankPhase::Lost) {
            return self.rank_closed(rank);
        }
        one.state = RankPhase::Lost;
        one.why = Some(reason.to_owned());
        let why = format!("rank {rank} on {} was lost: {reason}", one.node);
        let mut actions = Vec::new();
        if self.phase != Phase::Ending || self.cause.is_none() {
            actions = self.fail(End::Lost, 125, why);
        }
        actions.extend(self.rank_closed(rank));
        actions
    }

    /// A rank has failed: the job ends, or goes on with its first failure noted.
    fn fail(&mut self, end: End, exit: u8, why: String) -> Vec<Action> {
        let first = self.cause.is_none();
        self.cause.get_or_insert(Cause { end, exit, why });
        if self.keep_going || !first && self.phase == Phase::Ending {
            return Vec::new();
        }
        self.begin_end()
    }

    fn begin_end(&mut self) -> Vec<Action> {
        if matches!(self.phase, Phase::Ending | Phase::Done) {
            return Vec::new();
        }
        self.phase = Phase::Ending;
        vec![Action::Signal(TERM), Action::Grace]
    }

    /// Somebody or something ends the job.
    pub fn end(&mut self, end: End, exit: u8, why: &str) -> Vec<Action> {
        match self.phase {
            Phase::Done => Vec::new(),
            Phase::New => {
                self.cause = Some(Cause { end, exit, why: why.to_owned() });
                self.phase = Phase::Done;
                vec![Action::Finish]
            }
            Phase::Starting | Phase::Running | Phase::Ending => {
                self.cause.get_or_insert(Cause { end, exit, why: why.to_owned() });
                self.begin_end()
            }
        }
    }

    /// The time of grace is over, or there is to be none.
    pub fn grace_over(&mut self) -> Vec<Action> {
        if self.phase == Phase::Ending { vec![Action::EndAll] } else { Vec::new() }
    }

    /// All output of a rank has been taken and its session is wiped, or both are gone for good.
    pub fn rank_closed(&mut self, rank: usize) -> Vec<Action> {
        if std::mem::replace(&mut self.closed[rank], true) {
            return Vec::new();
        }
        self.finish_if_closed()
    }

    fn finish_if_closed(&mut self) -> Vec<Action> {
        let all = self.closed.iter().all(|closed| *closed);
        if !all || self.phase == Phase::Done || self.phase == Phase::New {
            return Vec::new();
        }
        self.phase = Phase::Done;
        vec![Action::Finish]
    }

    /// A job that was done before this manager was started.
    pub fn past() -> Progress {
        Progress { phase: Phase::Done, ..Progress::new() }
    }

    /// Takes a job up again that a manager before this one has placed.
    pub fn restore(ranks: Vec<RankStatus>, keep_going: bool) -> Progress {
        let closed = vec![false; ranks.len()];
        Progress { phase: Phase::Running, ranks, closed, keep_going, cause: None }
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
        let mut job = Progress::new();
        let place = |local| Place { node: "n0".to_owned(), local };
        job.placed((0..ranks).map(place).collect(), vec![1; ranks], keep_going);
        job.started();
        job
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
        job.placed(vec![Place { node: "n0".to_owned(), local: 0 }], vec![1], false);
        let actions = job.start_failed(Some(0), 127, "x: not found");
        assert_eq!(actions, [Action::EndAll, Action::Finish]);
        assert_eq!(job.verdict().unwrap().1, 127);
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
