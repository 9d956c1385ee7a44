//! What to do about signals: a state machine without I/O or clock.
//!
//! Signals go on to the job. Ctrl-C (INT) means that the user wants it to end, and so do TERM, as
//! of a service manager or timeout(1), and HUP, when the terminal goes. Ranks may heed them or
//! not: if the job has not ended after the grace, the next stronger signal follows, TERM, and
//! after another grace it is killed. The same signal a second time, not at once, kills it; one
//! more leaves without waiting for the manager's word, which ends the job too, because its owner's
//! connection closes. A second HUP means nothing: the kernel sends one when a terminal goes, and
//! the shell another. One signal is enough also where nobody takes the output of a job that has
//! ended: `session.rs` leaves then.

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
    /// It was there already.
    Nothing,
}

/// A second TERM within this time is the first one: timeout(1) sends one to its child, and one to
/// the group that the child is in.
const AT_ONCE: Duration = Duration::from_millis(500);

/// The same of INT, which timeout(1) sends if it is told to. Nobody types that fast.
pub const TYPED: Duration = Duration::from_millis(50);

/// How far the user's wish to end the job has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// INT or HUP was sent; TERM is due.
    Asked(Instant),
    /// TERM was sent; the kill is due.
    Terminated(Instant),
    Killed,
}

/// The plan.
#[derive(Debug)]
pub struct Plan {
    grace: Duration,
    stage: Stage,
    /// When INT has come.
    interrupted: Option<Instant>,
    /// When TERM has come from outside, that which counts.
    terminated: Option<Instant>,
}

impl Plan {
    /// A plan that waits so long between INT, TERM and the kill.
    pub fn new(grace: Duration) -> Plan {
        Plan { grace, stage: Stage::Running, interrupted: None, terminated: None }
    }

    /// A signal came.
    pub fn signal(&mut self, name: &'static str, now: Instant) -> Action {
        let is_again = match name {
            // Who is interrupted twice at once may be so while it sees to the first.
            "INT" if self.interrupted.is_some_and(|at| now < at + TYPED) => {
                return Action::Nothing;
            }
            "INT" => self.interrupted.replace(now).is_some(),
            "TERM" if self.terminated.is_some_and(|at| now < at + AT_ONCE) => {
                return Action::Forward(name);
            }
            "TERM" => self.terminated.replace(now).is_some(),
            "HUP" if self.stage != Stage::Killed => false,
            _ => return Action::Forward(name),
        };
        self.stage = match self.stage {
            Stage::Killed => return Action::Leave,
            _ if is_again => Stage::Killed,
            Stage::Running | Stage::Asked(_) if name == "TERM" => {
                Stage::Terminated(now + self.grace)
            }
            Stage::Running => Stage::Asked(now + self.grace),
            // What is due stays so.
            stage => stage,
        };
        if is_again { Action::Kill } else { Action::Forward(name) }
    }

    /// When [`Plan::tick`] has something to do.
    pub fn due(&self) -> Option<Instant> {
        match self.stage {
            Stage::Asked(at) | Stage::Terminated(at) => Some(at),
            Stage::Running | Stage::Killed => None,
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Instant) -> Option<Action> {
        match self.stage {
            Stage::Asked(at) if at <= now => {
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
        for before_second in [TYPED, GRACE] {
            let mut plan = Plan::new(GRACE);
            plan.signal("INT", start);
            plan.tick(start + before_second);
            assert_eq!(plan.signal("INT", start + before_second), Action::Kill);
            assert_eq!(plan.due(), None);
            assert_eq!(plan.signal("INT", start + before_second + TYPED), Action::Leave);
        }
    }

    /// `timeout -s INT` killed the ranks at once.
    #[test]
    fn an_interrupt_that_comes_twice_at_once_is_one() {
        let start = Instant::now();
        let mut plan = Plan::new(GRACE);
        assert_eq!(plan.signal("INT", start), Action::Forward("INT"));
        assert_eq!(plan.signal("INT", start + TYPED / 2), Action::Nothing);
        assert_eq!(plan.due(), Some(start + GRACE));
        // Nor does one that is sent so end this command before its job.
        assert_eq!(plan.signal("INT", start + GRACE), Action::Kill);
        assert_eq!(plan.signal("INT", start + GRACE + TYPED / 2), Action::Nothing);
    }

    #[test]
    fn to_be_terminated_or_hung_up_escalates_as_well() {
        let start = Instant::now();
        let mut plan = Plan::new(GRACE);
        assert_eq!(plan.signal("HUP", start), Action::Forward("HUP"));
        // The shell sends another one.
        assert_eq!(plan.signal("HUP", start + GRACE / 2), Action::Forward("HUP"));
        assert_eq!(plan.due(), Some(start + GRACE));
        assert_eq!(plan.tick(start + GRACE), Some(Action::Forward("TERM")));
        assert_eq!(plan.tick(start + GRACE * 2), Some(Action::Kill));
        assert_eq!(plan.signal("HUP", start + GRACE * 2), Action::Forward("HUP"));
        assert_eq!(plan.signal("TERM", start + GRACE * 2), Action::Leave);
        // There is nothing between TERM and the kill, and who asks by it need not wait for HUP's.
        let mut plan = Plan::new(GRACE);
        plan.signal("HUP", start);
        assert_eq!(plan.signal("TERM", start + GRACE / 2), Action::Forward("TERM"));
        assert_eq!(plan.due(), Some(start + GRACE / 2 + GRACE));
        assert_eq!(plan.signal("INT", start + GRACE), Action::Forward("INT"));
        assert_eq!(plan.tick(start + GRACE), None, "who interrupts puts off nothing");
        assert_eq!(plan.tick(start + GRACE * 2), Some(Action::Kill));
    }

    #[test]
    fn a_second_term_kills_unless_it_is_the_first_ones_shadow() {
        let start = Instant::now();
        let mut plan = Plan::new(GRACE);
        for moment in [Duration::ZERO, AT_ONCE / 2] {
            assert_eq!(plan.signal("TERM", start + moment), Action::Forward("TERM"));
            assert_eq!(plan.due(), Some(start + GRACE));
        }
        assert_eq!(plan.signal("TERM", start + AT_ONCE), Action::Kill);
        assert_eq!(plan.due(), None);
        // timeout(1) may be what sends the second, too.
        assert_eq!(plan.signal("TERM", start + AT_ONCE), Action::Forward("TERM"));
        assert_eq!(plan.signal("TERM", start + AT_ONCE * 2), Action::Leave);
    }

    #[test]
    fn other_signals_pass() {
        let now = Instant::now();
        let mut plan = Plan::new(GRACE);
        for name in ["USR1", "USR2"] {
            assert_eq!(plan.signal(name, now), Action::Forward(name));
        }
        assert_eq!(plan.due(), None);
        plan.signal("INT", now);
        assert_eq!(plan.signal("USR1", now), Action::Forward("USR1"));
        assert_eq!(plan.due(), Some(now + GRACE), "the escalation goes on");
    }
}
