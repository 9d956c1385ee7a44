//! Giving way to others while nothing comes.
//!
//! Who tests or probes in a loop never waits, so it keeps its processor to the end of its time
//! slice, 3 ms and more, from whomever it has to share it with: another job, a rank of another host
//! where hosts are parts of one machine, maybe the very rank that it waits for. Nobody can say
//! beforehand that there is somebody. But who has asked in vain again and again, and had the
//! processor for less time than went by, knows that others had it; for a while it then sleeps in
//! between until something comes. Time in which the program computes between its questions is its
//! own and says nothing. (Time in which it sleeps says too much; a nap more is nothing to it.)

use rustix::process::Pid;
use rustix::thread::gettid;
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Questions in vain after which it is looked, or slept: some 10 us.
const ASKED: u32 = 64;

/// For how long others had the processor, if that is to mean anything: a daemon that has something
/// to do takes less, who computes more.
const AWAY: Duration = Duration::from_millis(1);

/// How long that is remembered. Then it takes one more slice of others' to know it anew, so what is
/// found out again soon is remembered for twice as long, up to the longest.
const REMEMBERED: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(3);
const SOON: Duration = Duration::from_millis(20);

/// How long is slept at most: the program may wait for something that is no message.
pub(crate) const NAP: Duration = Duration::from_micros(100);

/// What one knows of others.
#[derive(Default)]
pub(crate) struct Courtesy {
    /// Questions in vain since something came, or since the last look.
    asked: u32,
    /// When it was looked last, by which thread: the time, and its own on a processor.
    looked: Option<(Pid, Duration, Duration)>,
    /// Until when others are taken to want the processor, and for how long that was remembered.
    until: Duration,
    remembered: Duration,
}

impl Courtesy {
    /// Something has come, or it is waited for otherwise.
    #[inline]
    pub(crate) fn served(&mut self) {
        (self.asked, self.looked) = (0, None);
    }

    /// It was asked in vain. Whether to sleep before the next question.
    #[inline]
    pub(crate) fn gives_way(&mut self) -> bool {
        self.asked += 1;
        if self.asked < ASKED {
            return false;
        }
        self.asked = 0;
        self.looks(time(ClockId::Monotonic), || (gettid(), time(ClockId::ThreadCPUTime)))
    }

    /// The same, after some questions.
    fn looks(&mut self, now: Duration, own: impl FnOnce() -> (Pid, Duration)) -> bool {
        if now < self.until {
            self.looked = None;
            return true;
        }
        let (thread, own) = own();
        let before = self.looked.replace((thread, now, own));
        let before = before.filter(|(looked, ..)| *looked == thread);
        // The number may be that of a new thread by now, which had less.
        let had = |had| own.saturating_sub(had);
        let away = |(_, then, before)| now.saturating_sub(then).saturating_sub(had(before));
        let is_wanted = before.map(away).is_some_and(|away| away >= AWAY);
        if is_wanted {
            let is_again = now - self.until < SOON;
            let longer = (2 * self.remembered).clamp(REMEMBERED, LONGEST);
            self.remembered = if is_again { longer } else { REMEMBERED };
            self.until = now + self.remembered;
        }
        is_wanted
    }
}

/// What a clock says.
pub(crate) fn time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at so many microseconds of the clock, of which the thread had so many.
    fn looks(courtesy: &mut Courtesy, now: u64, own: u64) -> bool {
        looks_as(courtesy, Pid::INIT, now, own)
    }

    fn looks_as(courtesy: &mut Courtesy, thread: Pid, now: u64, own: u64) -> bool {
        let [now, own] = [now, own].map(Duration::from_micros);
        courtesy.looks(now, || (thread, own))
    }

    #[test]
    fn what_one_thread_had_says_nothing_of_another() {
        let (mut courtesy, other) = (Courtesy::default(), Pid::from_raw(2).expect("a number"));
        assert!(!looks(&mut courtesy, 1000, 900));
        assert!(!looks_as(&mut courtesy, other, 5000, 10));
        assert!(!looks(&mut courtesy, 9000, 910));
        assert!(looks(&mut courtesy, 13_000, 920));
    }

    #[test]
    fn a_new_thread_of_the_same_number_may_have_had_less() {
        let mut courtesy = Courtesy::default();
        assert!(!looks(&mut courtesy, 1000, 900));
        assert!(!looks(&mut courtesy, 1500, 10));
    }

    #[test]
    fn who_has_the_processor_to_itself_gives_nothing_away_however_long_it_computes() {
        let mut courtesy = Courtesy::default();
        // Others take less than a millisecond in between.
        let shares = |at: u64| (at * 5000, at * 4100);
        assert!((1..100).map(shares).all(|(now, own)| !looks(&mut courtesy, now, own)));
    }

    #[test]
    fn who_shares_it_sleeps_in_between_until_that_is_to_be_found_out_anew() {
        let mut courtesy = Courtesy::default();
        assert!(!looks(&mut courtesy, 1000, 10));
        assert!(looks(&mut courtesy, 4000, 20));
        assert!((5000..104_000).step_by(200).all(|now| looks(&mut courtesy, now, 30)));
        // What it slept says nothing of others.
        assert!(!looks(&mut courtesy, 110_000, 40));
        assert!(!looks(&mut courtesy, 110_020, 60));
        assert!(looks(&mut courtesy, 113_000, 70));
        // That was soon. The next time it is not.
        assert!((114_000..313_000).step_by(200).all(|now| looks(&mut courtesy, now, 80)));
        assert!(!looks(&mut courtesy, 400_000, 90));
        assert!(looks(&mut courtesy, 403_000, 100));
        assert!((404_000..503_000).step_by(200).all(|now| looks(&mut courtesy, now, 110)));
        assert!(!looks(&mut courtesy, 503_000, 120));
    }

    #[test]
    fn what_comes_in_between_begins_it_all_again() {
        let mut courtesy = Courtesy::default();
        assert!(!looks(&mut courtesy, 1000, 10));
        courtesy.served();
        assert!(!looks(&mut courtesy, 9000, 20), "it may have slept until it came");
        let asked = (0..10 * ASKED).filter(|_| {
            courtesy.served();
            courtesy.gives_way()
        });
        assert_eq!(asked.count(), 0);
    }
}
