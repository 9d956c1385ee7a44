//! What to do about signals: a state machine without I/O or clock.
//!
//! Signals go on to the job. Ctrl-C (INT) means that the user wants it to end: if it has not
//! after the grace, TERM follows, and after another grace it is killed. A second Ctrl-C kills it
//! at once; a third one leaves without waiting for the manager's word, which ends the job too,
//! because its owner's connection closes.

use std::time::{Duration, Instant};

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Send the ranks a signal.
    Forward(&'static str),
    /// End the job.
    Kill,
    /// End this command.
    Leave,
}

/// How far the user's wish to end the job has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// INT was sent; TERM is due.
    Interrupted(Instant),
    /// TERM was sent; the kill is due.
    Terminated(Instant),
    Killed,
}

/// The plan.
#[derive(Debug)]
pub struct Plan {
    grace: Duration,
    stage: Stage,
}

impl Plan {
    /// A plan that waits so long between INT, TERM and the kill.
    pub fn new(grace: Duration) -> Plan {
        Plan { grace, stage: Stage::Running }
    }

    /// A signal came.
    pub fn signal(&mut self, name: &'static str, now: Instant) -> Action {
        if name != "INT" {
            return Action::Forward(name);
        }
        match self.stage {
            Stage::Running => {
                self.stage = Stage::Interrupted(now + self.grace);
                Action::Forward("INT")
            }
            Stage::Interrupted(_) | Stage::Terminated(_) => {
                self.stage = Stage::Killed;
                Action::Kill
            }
            Stage::Killed => Action::Leave,
        }
    }

    /// When [`Plan::tick`] has something to do.
    pub fn due(&self) -> Option<Instant> {
        match self.stage {
            Stage::Interrupted(at) | Stage::Terminated(at) => Some(at),
            Stage::Running | Stage::Killed => None,
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Instant) -> Option<Action> {
        match self.stage {
            Stage::Interrupted(at) if at <= now => {
                self.stage = Stage::Terminated(now + self.grace);
                Some(Action::Forward("TERM"))
            }
            Stage::Terminated(at) if at <= now => {
                self.stage = Stage::Killed;
                Some(Action::Kill)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(5);

    #[test]
    fn an_interrupt_escalates() {
        let start = Instant::now();
        let mut plan = Plan::new(GRACE);
        assert_eq!((plan.due(), plan.tick(start)), (None, None));
        assert_eq!(plan.signal("INT", start), Action::Forward("INT"));
        assert_eq!(plan.due(), Some(start + GRACE));
        assert_eq!(plan.tick(start + GRACE / 2), None);
        assert_eq!(plan.tick(start + GRACE), Some(Action::Forward("TERM")));
        assert_eq!(plan.due(), Some(start + GRACE * 2));
        assert_eq!(plan.tick(start + GRACE * 2), Some(Action::Kill));
        assert_eq!((plan.due(), plan.tick(start + GRACE * 9)), (None, None));
    }

    #[test]
    fn a_second_interrupt_kills_and_a_third_leaves() {
        let start = Instant::now();
        for before_second in [Duration::ZERO, GRACE] {
            let mut plan = Plan::new(GRACE);
            plan.signal("INT", start);
            plan.tick(start + before_second);
            assert_eq!(plan.signal("INT", start + before_second), Action::Kill);
            assert_eq!(plan.due(), None);
            assert_eq!(plan.signal("INT", start + before_second), Action::Leave);
        }
    }

    #[test]
    fn other_signals_pass() {
        let now = Instant::now();
        let mut plan = Plan::new(GRACE);
        for name in ["TERM", "HUP", "USR1", "USR2"] {
            assert_eq!(plan.signal(name, now), Action::Forward(name));
        }
        assert_eq!(plan.due(), None);
        plan.signal("INT", now);
        assert_eq!(plan.signal("USR1", now), Action::Forward("USR1"));
        assert_eq!(plan.due(), Some(now + GRACE), "the escalation goes on");
    }
}
