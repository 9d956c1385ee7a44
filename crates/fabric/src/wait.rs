//! Waiting: look a while without sleeping, then sleep.
//!
//! To look again and again is the fastest way to see something that is about to come, and burns a
//! core that another rank may need. So who waits looks for a moment that is some sleeps long, and
//! when it has looked in vain it sleeps at once the next time, then twice, four times and so on, up
//! to 1024 times: who is never served while looking spends 50 to 100 ns a wait on it.
//!
//! Two ways to look differ in what a look costs. A [`Waiter`]'s is a load from memory: once served,
//! it looks every time. That is enough for two that answer each other: one that looks sees the
//! answer of one that has to be woken, and then answers fast enough for the other to see. Who looks
//! with a call of the system has [`Patience`]: a success saves little there, so it takes back but
//! one of the waits that sleep at once. How soon something came while asleep tells nothing: it
//! comes just as soon where only sleeping lets the peer run.
//!
//! Two that sleep and wake each other end up on one processor, where who looks keeps the other from
//! answering: of four such pairs on two processors each stayed so. So who has looked in vain for
//! long goes to another one first ([`Sleeper::part`]).
//!
//! Those that have a processor each look longer, as long as the clock shows that nobody else gets
//! it in between ([`Waiter::alone`]): it would be idle meanwhile (docs/decisions/waiting.md).
//!
//! Others do not offer their core (`sched_yield`): who gives it away like that gets it back
//! after their time slices, some milliseconds, but who sleeps gets it when it is woken. That is
//! another thing where the others are known to wait in the same way, and to be more than there are
//! processors ([`Waiter::crowded`]): each then has the core for a look only, and a switch of 1 us
//! takes the place of a sleep and a wake-up. Where all of them look at sockets that pays no more:
//! one that is alone on its node sleeps at once ([`Waiter::scattered`]).

use crate::deadline::Deadline;
use crate::error::Result;
use std::time::{Duration, Instant};

/// What is waited for, and how to sleep until it comes.
pub trait Sleeper {
    /// Looks, without waiting.
    fn is_ready(&mut self) -> bool;

    /// Offers the core to others.
    fn offer(&mut self) {
        std::thread::yield_now();
    }

    /// How long what is waited for takes if it is under way, as far as that is known.
    fn takes(&self) -> Duration {
        Duration::ZERO
    }

    /// Goes to another processor if who is waited for has this one, as far as that is known.
    fn part(&mut self) {}

    /// Sleeps until it may have come, at most so long.
    ///
    /// # Errors
    /// What ends the wait.
    fn sleep(&mut self, most: Duration) -> Result<()>;
}

/// How long is looked at memory: a sleep and a wake-up cost 5 to 25 us, for this side and again for
/// the other one, which is what waiting the wrong way may cost.
const LOOK: Duration = Duration::from_micros(50);

/// How long those look that have a processor each, as long as nobody else wants it: half of the 1
/// ms after which a rank that waits is to use none.
const LOOK_ALONE: Duration = Duration::from_micros(500);

/// How often they offer it to each other meanwhile: who was woken may find itself on the processor
/// of who looks for its answer.
const OFFERED: Duration = Duration::from_micros(5);

/// Between two readings of the clock while one looks: if it was longer others had the processor.
const AWAY: Duration = Duration::from_micros(50);

/// How long is looked with calls of the system: with them, a sleep and a wake-up cost up to 50 us.
const LOOK_CALLS: Duration = Duration::from_micros(100);

/// How long the core is offered to others: some of their turns, and far less than the 1 ms after
/// which a rank that waits is to use no processor.
const OFFER: Duration = Duration::from_micros(500);

/// Looks between two readings of the clock; some 100 ns.
const LOOKS: u32 = 16;

/// Looks before the core is offered to others.
const LOOKS_CROWDED: u32 = 4;

/// The most times in a row that something is left out.
const REST_MAX: u32 = 1024;

/// Waits in a row without a look, after which it is asked whether looks can be of any use here.
const PARTED: u32 = 32;

/// Something that is tried ever less often while it is in vain.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// How many times it is still left out.
    left: u32,
    /// How many times it was after it was in vain.
    last: u32,
}

impl Rest {
    /// Whether it is left out this time.
    pub(crate) fn rests(&mut self) -> bool {
        let rests = self.left > 0;
        self.left -= u32::from(rests);
        rests
    }

    /// It was in vain.
    pub(crate) fn in_vain(&mut self) {
        self.last = (2 * self.last).clamp(1, REST_MAX);
        self.left = self.last;
    }

    /// It was not.
    pub(crate) fn served(&mut self) {
        *self = Rest::default();
    }
}

/// How one end waits for what it sees in memory; it learns.
#[derive(Debug, Default)]
pub struct Waiter {
    rest: Rest,
    manner: Manner,
}

/// Among whom one waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Manner {
    /// Nobody knows.
    #[default]
    Unknown,
    /// They have a processor each.
    Alone,
    /// They are more than there are processors.
    Crowded,
    /// They are, and each is reached by sockets only.
    Scattered,
}

impl Waiter {
    /// One of those that wait for each other and have a processor each.
    pub(crate) fn alone() -> Waiter {
        Waiter { rest: Rest::default(), manner: Manner::Alone }
    }

    /// One of more that wait for each other than there are processors.
    pub(crate) fn crowded() -> Waiter {
        Waiter { rest: Rest::default(), manner: Manner::Crowded }
    }

    /// One of those, and the only one of its node. What the others are given when it offers its
    /// core they use up for looks of their own: of 16 nodes on two processors a barrier took 550
    /// us so, and 300 by sleeps.
    pub(crate) fn scattered() -> Waiter {
        Waiter { rest: Rest::default(), manner: Manner::Scattered }
    }

    /// Whether it is one of more than there are processors.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        matches!(self.manner, Manner::Crowded | Manner::Scattered)
    }

    /// Whether `sleeper` is ready at once, or in a moment so short that no clock needs to be read:
    /// to read it takes 25 to 100 ns, half a message's way.
    #[inline]
    pub(crate) fn sees(&self, sleeper: &mut impl Sleeper) -> bool {
        let looks = match self.manner {
            Manner::Unknown | Manner::Alone => LOOKS,
            Manner::Crowded => LOOKS_CROWDED,
            Manner::Scattered => 1,
        };
        (0..looks).any(|_| look(sleeper))
    }

    /// Waits until `sleeper` is ready; false when the deadline has passed before.
    ///
    /// # Errors
    /// What [`Sleeper::sleep`] says.
    pub fn wait(&mut self, sleeper: &mut impl Sleeper, deadline: Deadline) -> Result<bool> {
        if self.looks(sleeper, deadline) {
            return Ok(true);
        }
        while !sleeper.is_ready() {
            let Some(left) = deadline.left() else { return Ok(false) };
            sleeper.sleep(left)?;
        }
        Ok(true)
    }

    /// Whether a wait would begin with looking.
    #[inline]
    pub(crate) fn is_looking(&self) -> bool {
        self.rest.left == 0
    }

    /// Looks for as long as it makes sense, and learns.
    fn looks(&mut self, sleeper: &mut impl Sleeper, deadline: Deadline) -> bool {
        let most = match self.manner {
            Manner::Crowded => return offers(sleeper, deadline),
            Manner::Scattered => return false,
            Manner::Alone => LOOK_ALONE,
            Manner::Unknown => LOOK.max(sleeper.takes()),
        };
        let rest = &mut self.rest;
        if rest.rests() {
            return false;
        }
        if (0..LOOKS).any(|_| look(sleeper)) {
            rest.last = 0;
            return true;
        }
        // A wait that must end sooner tells nothing about what looking is good for.
        let Some(left) = deadline.left().filter(|left| *left > LOOK) else { return false };
        if rest.last >= PARTED {
            sleeper.part();
        }
        let is_seen = look_for(sleeper, most.min(left), self.manner == Manner::Alone);
        match is_seen {
            true => rest.served(),
            false => rest.in_vain(),
        }
        is_seen
    }
}

/// One look, and a moment for the core's other thread.
fn look(sleeper: &mut impl Sleeper) -> bool {
    let is_ready = sleeper.is_ready();
    if !is_ready {
        std::hint::spin_loop();
    }
    is_ready
}

/// Looks, and offers the core to others in between.
fn offers(sleeper: &mut impl Sleeper, deadline: Deadline) -> bool {
    if sleeper.is_ready() {
        return true;
    }
    if deadline.left().is_none_or(|left| left <= OFFER) {
        return false;
    }
    let start = Instant::now();
    loop {
        sleeper.offer();
        if sleeper.is_ready() {
            return true;
        }
        if start.elapsed() >= OFFER {
            return false;
        }
    }
}

/// Looks for so long, but no longer than until others have had the processor.
fn look_for(sleeper: &mut impl Sleeper, most: Duration, offers: bool) -> bool {
    let start = Instant::now();
    let (mut last, mut offered) = (start, start);
    loop {
        if (0..LOOKS).any(|_| look(sleeper)) {
            return true;
        }
        let now = Instant::now();
        if now - start >= most || now - last >= AWAY {
            return false;
        }
        last = now;
        if offers && now - offered >= OFFERED {
            sleeper.offer();
            offered = now;
        }
    }
}

/// How long one end goes on looking with calls of the system; it learns.
#[derive(Debug)]
pub struct Patience {
    since: Instant,
    rest: Rest,
}

impl Patience {
    /// At first it looks.
    #[expect(clippy::new_without_default, reason = "a moment has no default")]
    pub fn new() -> Patience {
        Patience { since: Instant::now(), rest: Rest::default() }
    }

    /// A wait begins.
    pub fn begin(&mut self) {
        self.since = Instant::now();
    }

    /// Whether to look once more; if not, it is time to sleep.
    pub fn lasts(&self) -> bool {
        std::hint::spin_loop();
        self.rest.left == 0 && self.since.elapsed() < LOOK_CALLS
    }

    /// Looking has found something.
    pub fn found(&mut self) {
        self.rest.last = self.rest.last.saturating_sub(1);
    }

    /// A wait had to sleep.
    pub fn slept(&mut self) {
        if !self.rest.rests() {
            self.rest.in_vain();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_in_vain_becomes_rare_and_successes_bring_it_back() {
        let mut patience = Patience::new();
        let mut looked = 0;
        for _ in 0..1000 {
            looked += u32::from(patience.rest.left == 0);
            patience.slept();
        }
        assert!((5..15).contains(&looked), "{looked}");
        while patience.rest.left > 0 {
            patience.slept();
        }
        (0..REST_MAX).for_each(|_| patience.found());
        patience.slept();
        assert_eq!(patience.rest.left, 1);
    }

    /// Ready after so many sleeps.
    struct After(u32);

    impl Sleeper for After {
        fn is_ready(&mut self) -> bool {
            self.0 == 0
        }

        fn sleep(&mut self, _most: Duration) -> Result<()> {
            self.0 -= 1;
            Ok(())
        }
    }

    #[test]
    fn a_wait_sleeps_until_what_it_waits_for_has_come_or_its_deadline_has() {
        let mut waiter = Waiter::default();
        assert!(waiter.wait(&mut After(3), Deadline::after(Duration::from_secs(20))).unwrap());
        assert!(waiter.wait(&mut After(0), Deadline::now()).unwrap());
        assert!(!waiter.wait(&mut After(3), Deadline::now()).unwrap());
    }

    #[test]
    fn one_that_is_alone_on_its_node_among_many_sleeps_at_once() {
        struct Sleeps(u32, u32);
        impl Sleeper for Sleeps {
            fn is_ready(&mut self) -> bool {
                self.0 += 1;
                self.1 == 3
            }
            fn offer(&mut self) {
                panic!("nobody has a use for it");
            }
            fn sleep(&mut self, _most: Duration) -> Result<()> {
                self.1 += 1;
                Ok(())
            }
        }
        let (mut waiter, mut sleeper) = (Waiter::scattered(), Sleeps(0, 0));
        assert!(!waiter.sees(&mut sleeper));
        assert!(waiter.wait(&mut sleeper, Deadline::after(Duration::from_secs(20))).unwrap());
        assert_eq!((sleeper.0, sleeper.1), (5, 3), "a look before, and one for each sleep");
    }

    #[test]
    fn one_of_many_offers_its_core_and_sleeps_in_the_end() {
        let mut waiter = Waiter::crowded();
        let soon = Deadline::after(Duration::from_secs(20));
        assert!(waiter.wait(&mut After(3), soon).unwrap());
        let mut looked = Looked(5);
        assert!(waiter.wait(&mut looked, soon).unwrap());
        assert_eq!(looked.0, 0);
        assert!(!waiter.wait(&mut After(3), Deadline::now()).unwrap());
    }

    #[test]
    fn who_is_never_served_while_looking_ends_up_sleeping_at_once() {
        let mut waiter = Waiter::default();
        for _ in 0..4 * REST_MAX {
            waiter.wait(&mut After(1), Deadline::after(Duration::from_secs(20))).unwrap();
        }
        assert_eq!(waiter.rest.last, REST_MAX, "{waiter:?}");
    }

    /// Ready after so many looks.
    struct Looked(u32);

    impl Sleeper for Looked {
        fn is_ready(&mut self) -> bool {
            self.0 = self.0.saturating_sub(1);
            self.0 == 0
        }

        fn sleep(&mut self, _most: Duration) -> Result<()> {
            Ok(())
        }
    }

    /// Others have the processor at each look; how many there were, and whether it has slept.
    struct Interrupted(u32, bool);

    impl Sleeper for Interrupted {
        fn is_ready(&mut self) -> bool {
            self.0 += 1;
            let begun = Instant::now();
            while begun.elapsed() < AWAY / LOOKS {}
            self.1
        }

        fn sleep(&mut self, _most: Duration) -> Result<()> {
            self.1 = true;
            Ok(())
        }
    }

    #[test]
    fn who_looks_sleeps_once_others_had_the_processor() {
        let (mut waiter, mut sleeper) = (Waiter::alone(), Interrupted(0, false));
        assert!(waiter.wait(&mut sleeper, Deadline::after(Duration::from_secs(20))).unwrap());
        assert!(sleeper.1, "it sleeps");
        // A first look without a clock, one with it, and those around the sleep.
        assert!(sleeper.0 <= 2 * LOOKS + 4, "{}", sleeper.0);
        assert!(!waiter.is_looking());
    }

    /// Ready after 200 us, of 20 ms that it may take.
    struct Takes(Instant);

    impl Sleeper for Takes {
        fn is_ready(&mut self) -> bool {
            self.0.elapsed() > 4 * LOOK
        }

        fn takes(&self) -> Duration {
            Duration::from_millis(20)
        }

        fn sleep(&mut self, most: Duration) -> Result<()> {
            std::thread::sleep(most.min(4 * LOOK));
            Ok(())
        }
    }

    #[test]
    fn what_is_known_to_take_long_is_looked_for_as_long() {
        // Now and then others have the core, and a look ends early.
        for _ in 0..1000 {
            let mut waiter = Waiter::default();
            let soon = Deadline::after(Duration::from_secs(20));
            assert!(waiter.wait(&mut Takes(Instant::now()), soon).unwrap());
            if waiter.is_looking() {
                return;
            }
        }
        panic!("it has always slept");
    }

    #[test]
    fn who_is_served_again_while_looking_looks_every_time() {
        let mut waiter =
            Waiter { rest: Rest { left: REST_MAX, last: REST_MAX }, manner: Manner::Unknown };
        // Now and then a look may end early, where others have the core.
        for _ in 0..10_000 {
            waiter.wait(&mut Looked(40), Deadline::after(Duration::from_secs(20))).unwrap();
            if waiter.rest.last == 0 {
                assert_eq!(waiter.rest.left, 0);
                return;
            }
        }
        panic!("{waiter:?}");
    }
}
