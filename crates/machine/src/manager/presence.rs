//! Whether a node is there, by what its manager has seen. Without I/O: [`nodes`](super::nodes) sees
//! it, and so does the simulator.
//!
//! A daemon is reached by a connection of its own. It is lost on evidence: that connection closes,
//! or somebody who knows tells how it died. Which of the two comes first, nobody can say, so what
//! it ran is called lost when both are known, or when [`EVIDENCE`] is over. One that lives although
//! its connection has closed is told to join again, and to forget what it ran before it is taken
//! in. One whose lease has ended is silent, and gets no jobs until it answers.

use muster_fabric::protocol::Time;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long, once a connection has closed, the evidence of what became of the daemon is waited
/// for: whoever keeps it is told by the kernel at the same moment, but may have to wait for a
/// processor or a disk that others use.
pub const EVIDENCE: Duration = Duration::from_secs(5);

/// How long a node may be silent before that means something.
pub const SILENCE: Duration = Duration::from_secs(5);

/// What is said of a connection that has closed while nobody knows more.
const CLOSED: &str = "its connection closed";

/// A connection to a daemon.
pub trait Way: Clone {
    /// Which start of the daemon it leads to.
    fn instance(&self) -> u64;
    /// Whether it is this very connection.
    fn is(&self, other: &Self) -> bool;
}

/// What is known of a node.
pub struct Presence<W> {
    /// `None` while it is down.
    pub link: Option<W>,
    /// Why it is down.
    pub why: Option<String>,
    /// Times it was lost.
    pub losses: u32,
    /// The connection that closed, until its ranks are called lost.
    gone: Option<W>,
    /// Which start of the daemon it led to.
    lost: Option<u64>,
    /// What was told of its death, and when, though its connection was not seen to close yet.
    evidence: Option<(Time, String)>,
    /// Since when it has not answered, if its lease has ended.
    silent: Option<Time>,
}

impl<W> Default for Presence<W> {
    fn default() -> Presence<W> {
        let (link, why, losses, gone, lost) = (None, None, 0, None, None);
        Presence { link, why, losses, gone, lost, evidence: None, silent: None }
    }
}

/// A connection has closed.
#[derive(Debug, PartialEq, Eq)]
pub struct Closed {
    /// Why.
    pub why: String,
    /// That is what became of the daemon. Else it is waited for.
    pub is_known: bool,
}

/// What has changed when it was seen who has a lease.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Same,
    /// It has come to be silent.
    Silent,
    /// It answers again: after how long, if it was slow.
    Back(Option<Duration>),
}

impl<W: Way> Presence<W> {
    /// That of a node which has not come yet, for a reason.
    pub fn down(why: &str) -> Presence<W> {
        Presence { why: Some(why.to_owned()), ..Presence::default() }
    }

    /// Whether it can be given jobs: who has no lease cannot be told of them.
    pub fn is_up(&self) -> bool {
        self.link.is_some() && self.silent.is_none()
    }

    /// Whether it has not come to this manager yet.
    pub fn is_new(&self) -> bool {
        self.link.is_none() && self.lost.is_none()
    }

    /// How long it has not answered, if that means something.
    pub fn slow_for(&self, now: Time) -> Option<Duration> {
        let silent = now - self.silent.filter(|_| self.link.is_some())?;
        (silent >= SILENCE).then_some(silent)
    }

    /// Whether a daemon that comes is one that was lost, and has to forget what it ran before it is
    /// taken in.
    pub fn is_lost(&self, instance: u64) -> bool {
        self.link.is_none() && self.lost == Some(instance)
    }

    /// The daemon that is to be told to join, as only its connection is known to have ended.
    pub fn calls_back(&self) -> Option<u64> {
        self.lost.filter(|_| self.link.is_none())
    }

    /// There is a connection to a daemon. The connections before it whose ranks are lost by that,
    /// and why; none if there is one to this daemon already, by which it is reached.
    pub fn joined(&mut self, link: W) -> Option<(Vec<W>, String)> {
        let is_same = |now: &W| now.instance() == link.instance();
        if self.link.as_ref().is_some_and(is_same) {
            return None;
        }
        let losses = self.losses + u32::from(self.link.is_some());
        let joined = Presence { link: Some(link), losses, ..Presence::default() };
        let before = std::mem::replace(self, joined);
        let why = before.evidence.map(|(_, why)| why);
        let why = why.unwrap_or_else(|| "its node daemon was started again".to_owned());
        Some((before.link.into_iter().chain(before.gone).collect(), why))
    }

    /// A connection has closed; none if another has taken its place, as what it ran was given up
    /// then.
    pub fn closed(&mut self, link: &W, now: Time) -> Option<Closed> {
        let gone = self.link.take_if(|own| own.is(link))?;
        self.lost = Some(gone.instance());
        self.gone = Some(gone);
        self.losses += 1;
        let told = self.evidence.take().filter(|(when, _)| now - *when < EVIDENCE);
        let is_known = told.is_some();
        let why = told.map_or_else(|| CLOSED.to_owned(), |(_, why)| why);
        self.why = Some(why.clone());
        Some(Closed { why, is_known })
    }

    /// Somebody who knows tells how it died. True if its connection has closed, so that its ranks
    /// can be given up; if that was not seen yet, what was told waits for it.
    pub fn told(&mut self, why: &str, now: Time) -> bool {
        let is_down = self.link.is_none();
        match is_down {
            true => self.why = Some(why.to_owned()),
            false => self.evidence = Some((now, why.to_owned())),
        }
        is_down
    }

    /// Whether nothing is known yet of why a connection closed.
    pub fn waits_for_evidence(&self, link: &W) -> bool {
        self.gone.as_ref().is_some_and(|gone| gone.is(link))
    }

    /// The connection that has closed, whose ranks are called lost, and why.
    pub fn give_up(&mut self) -> Option<(W, String)> {
        Some((self.gone.take()?, self.why.clone()?))
    }

    /// It has a lease, or, though its daemon has not died, none: it was heard last at `heard`.
    pub fn heard(&mut self, has_lease: bool, heard: Time, now: Time) -> Heard {
        match (has_lease, self.silent) {
            _ if self.link.is_none() => Heard::Same,
            (true, Some(_)) => {
                let slow = self.slow_for(now);
                self.silent = None;
                Heard::Back(slow)
            }
            (false, None) => {
                self.silent = Some(heard);
                Heard::Silent
            }
            _ => Heard::Same,
        }
    }
}

/// The starts of daemons that are being taken in, one of each node. What one is told to forget for
/// that must not reach it when it has been taken in by another of its tries, and has jobs again;
/// and one that was started again since is not to be replaced by what it was before.
pub struct Coming<K>(BTreeMap<K, u64>);

impl<K> Default for Coming<K> {
    fn default() -> Coming<K> {
        Coming(BTreeMap::new())
    }
}

impl<K: Ord + Clone> Coming<K> {
    /// A start of a node's daemon comes. False if it is being taken in already.
    pub fn comes(&mut self, node: &K, instance: u64) -> bool {
        self.0.insert(node.clone(), instance) != Some(instance)
    }

    /// Whether it is this start that is being taken in.
    pub fn is(&self, node: &K, instance: u64) -> bool {
        self.0.get(node) == Some(&instance)
    }

    /// It has been taken in, or cannot be.
    pub fn over(&mut self, node: &K, instance: u64) {
        if self.is(node, instance) {
            self.0.remove(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which connection it is, and to which start.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Line(u32, u64);

    impl Way for Line {
        fn instance(&self) -> u64 {
            self.1
        }

        fn is(&self, other: &Line) -> bool {
            self == other
        }
    }

    const LINE: Line = Line(1, 70);

    fn present() -> Presence<Line> {
        let mut presence = Presence::default();
        assert_eq!(
            presence.joined(LINE),
            Some((Vec::new(), "its node daemon was started again".into()))
        );
        presence
    }

    fn closed(why: &str, is_known: bool) -> Option<Closed> {
        Some(Closed { why: why.to_owned(), is_known })
    }

    #[test]
    fn whichever_is_seen_first_ranks_are_lost_for_the_reason_that_was_told() {
        let mut told = present();
        assert!(!told.told("killed", Time(1)));
        assert_eq!(told.closed(&LINE, Time(2)), closed("killed", true));
        let mut closing = present();
        assert_eq!(closing.closed(&LINE, Time(1)), closed(CLOSED, false));
        assert!(closing.waits_for_evidence(&LINE) && closing.told("killed", Time(2)));
        for mut one in [told, closing] {
            assert_eq!(one.give_up(), Some((LINE, "killed".to_owned())));
            assert_eq!(one.give_up(), None, "they are lost once");
        }
    }

    #[test]
    fn what_was_told_long_before_is_not_why_a_connection_closes() {
        let mut presence = present();
        presence.told("killed", Time(1));
        assert_eq!(presence.closed(&LINE, Time(1) + EVIDENCE), closed(CLOSED, false));
    }

    #[test]
    fn a_daemon_whose_connection_broke_is_called_back_and_forgets_what_it_ran() {
        let mut presence = present();
        presence.closed(&LINE, Time(1));
        assert_eq!(presence.calls_back(), Some(70));
        assert!(presence.is_lost(70) && !presence.is_lost(71));
        let again = Line(2, 70);
        assert_eq!(presence.joined(again).map(|(lost, _)| lost), Some(vec![LINE]));
        assert!(presence.calls_back().is_none() && presence.is_up());
        assert_eq!(presence.closed(&LINE, Time(2)), None, "it is known already");
        assert_eq!(presence.joined(Line(3, 70)), None, "one way to it is enough");
        assert_eq!(presence.joined(Line(4, 71)).map(|(lost, _)| lost), Some(vec![again]));
    }

    #[test]
    fn a_daemon_is_taken_in_once_at_a_time_and_not_when_it_was_started_again() {
        let mut coming = Coming::default();
        assert!(coming.comes(&1, 70) && !coming.comes(&1, 70) && coming.comes(&2, 70));
        assert!(coming.comes(&1, 71) && !coming.is(&1, 70));
        coming.over(&1, 70);
        assert!(coming.is(&1, 71));
        coming.over(&1, 71);
        assert!(coming.comes(&1, 71));
    }

    #[test]
    fn who_has_no_lease_gets_no_jobs_and_is_slow_when_that_lasts() {
        let mut presence = present();
        let (heard, later) = (Time(5), Time(5) + SILENCE);
        assert_eq!(presence.heard(false, heard, Time(9)), Heard::Silent);
        assert_eq!(presence.heard(false, heard, Time(10)), Heard::Same);
        assert!(!presence.is_up() && presence.slow_for(Time(10)).is_none());
        assert_eq!(presence.slow_for(later), Some(SILENCE));
        assert_eq!(presence.heard(true, heard, later), Heard::Back(Some(SILENCE)));
        assert!(presence.is_up());
    }
}
