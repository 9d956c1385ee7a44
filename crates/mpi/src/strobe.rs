//! Strobes: ranks exchange messages at the beginnings of slices, all ranks of a machine at the same
//! instants (BCS-MPI, section 4.5).
//!
//! The slices are those of the machine's monotonic clock, so no strober has to tell them. A
//! message that is sent lies in the receiver's ring or box at once; the receiver takes what is
//! there once in each slice, at its beginning or when it first calls the library in it. So a rank
//! that waits is woken by a strobe; and a rank sends no more in a slice than the slice can carry:
//! what is longer is cut, and goes on in the next.
//!
//! *Early strobes.* When all ranks of a node wait, nobody computes whom an exchange would disturb:
//! then they exchange at once. Ranks say in the node's segment that they wait. When all ranks of
//! the job do, those of each node do, so all strobes are early, and no node has to ask another.
//!
//! In which order messages are taken strobes do not change: that is the coscheduled mode's own
//! (`docs/decisions/coscheduled.md`).

use muster_message::{Alarm, Carrier, Failure, Take};
use std::cell::Cell;
use std::time::Duration;

/// What a rank can send in a microsecond: what a core copies.
const BYTES: u64 = 16 << 10;

/// Longer waits for a strobe sleep, so long before its end.
const NAP: Duration = Duration::from_micros(80);

/// What ranks of a node know of each other.
pub trait Node {
    /// Says whether this rank waits.
    fn say_waits(&self, waits: bool);

    /// Whether all ranks here wait.
    fn all_wait(&self) -> bool;
}

/// When there are strobes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strobes {
    /// The length of a slice.
    pub slice: Duration,
    /// Whether there are early ones.
    pub are_early: bool,
}

/// A carrier that keeps to strobes.
pub struct Strobed<C> {
    carrier: C,
    strobes: Strobes,
    /// The slice of the last exchange, and whether it still goes on.
    exchanged: u64,
    is_open: Cell<bool>,
    /// The slice of the last send, and what was sent in it.
    sending: u64,
    sent: u64,
}

impl<C: Carrier + Node> Strobed<C> {
    /// A carrier that keeps to strobes.
    pub fn new(carrier: C, strobes: Strobes) -> Strobed<C> {
        let none = u64::MAX;
        let (exchanged, sending) = (none, none);
        Strobed { carrier, strobes, exchanged, is_open: Cell::new(false), sending, sent: 0 }
    }

    fn length(&self) -> u64 {
        (self.strobes.slice.as_nanos() as u64).max(1)
    }

    /// The time in nanoseconds.
    fn time(&self) -> u64 {
        self.carrier.now().as_nanos() as u64
    }

    /// The slice that it is.
    fn slice(&self) -> u64 {
        self.time() / self.length()
    }

    /// Waits for the next strobe, if there was an exchange in this slice.
    fn wait_for_strobe(&mut self) {
        loop {
            let (now, next) = (self.time(), (self.exchanged.wrapping_add(1)) * self.length());
            if now / self.length() != self.exchanged {
                return;
            }
            if self.strobes.are_early && self.carrier.all_wait() {
                self.is_open.set(true);
                return;
            }
            let left = Duration::from_nanos(next.saturating_sub(now));
            match left.checked_sub(NAP) {
                // Others may need the processor more.
                None => std::thread::yield_now(),
                Some(nap) => std::thread::sleep(nap.min(NAP)),
            }
        }
    }
}

impl<C: Carrier + Node> Carrier for Strobed<C> {
    fn send(&mut self, to: u32, head: &[u8], body: &[u8], offset: usize) -> Result<usize, Failure> {
        let slice = self.slice();
        if slice != self.sending {
            (self.sending, self.sent) = (slice, 0);
        }
        if self.sent >= self.length() / 1000 * BYTES + BYTES {
            return Ok(0);
        }
        let sent = self.carrier.send(to, head, body, offset)?;
        self.sent += sent as u64;
        Ok(sent)
    }

    fn take(&mut self, take: &mut impl Take) -> Result<bool, Failure> {
        if !self.is_open.get() {
            let slice = self.slice();
            if slice == self.exchanged {
                return Ok(false);
            }
            self.exchanged = slice;
        }
        let is_taken = self.carrier.take(take)?;
        self.is_open.set(is_taken);
        Ok(is_taken)
    }

    fn wait(&mut self, room: &[u32], time: Duration) -> Result<(), Failure> {
        self.carrier.say_waits(true);
        let waited = self.carrier.wait(room, time);
        if waited.is_ok() {
            // Who waits was there at each strobe meanwhile: what has come is for the next.
            self.exchanged = self.slice();
            self.wait_for_strobe();
        }
        self.carrier.say_waits(false);
        waited
    }

    fn is_crowded(&self) -> bool {
        self.carrier.is_crowded()
    }

    fn now(&self) -> Duration {
        self.carrier.now()
    }

    fn alarm(&self) -> Option<Alarm> {
        self.carrier.alarm()
    }

    fn has_delivered(&mut self, time: Duration) -> Result<bool, Failure> {
        // It computes nothing meanwhile that an early strobe of its neighbours would disturb.
        self.carrier.say_waits(true);
        let delivered = self.carrier.has_delivered(time);
        self.carrier.say_waits(false);
        delivered
    }

    fn offered_from(&self, to: u32) -> usize {
        self.carrier.offered_from(to)
    }

    fn is_gone(&self, rank: u32) -> Option<Failure> {
        let gone = self.carrier.is_gone(rank);
        // Who hears it looks whether all that the rank has sent is here, and that no strobe says.
        self.is_open.set(self.is_open.get() || gone.is_some());
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use muster_message::Arrival;
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    thread_local! {
        static TIME: Cell<u64> = const { Cell::new(0) };
    }

    /// Time goes on by a microsecond whenever it is looked at.
    fn clock() -> u64 {
        TIME.set(TIME.get() + 1_000);
        TIME.get()
    }

    #[derive(Default)]
    struct Shared {
        messages: VecDeque<u8>,
        waits: bool,
        others_wait: bool,
        is_gone: bool,
    }

    struct Row(Rc<RefCell<Shared>>);

    impl Node for Row {
        fn say_waits(&self, waits: bool) {
            self.0.borrow_mut().waits = waits;
        }

        fn all_wait(&self) -> bool {
            let shared = self.0.borrow();
            shared.waits && shared.others_wait
        }
    }

    impl Carrier for Row {
        fn send(&mut self, _: u32, _: &[u8], body: &[u8], at: usize) -> Result<usize, Failure> {
            Ok((body.len() - at).min(64 << 10))
        }

        fn take(&mut self, take: &mut impl Take) -> Result<bool, Failure> {
            let Some(byte) = self.0.borrow_mut().messages.pop_front() else { return Ok(false) };
            take.take(Arrival::new(0, 1, 0, &mut &[byte][..]));
            Ok(true)
        }

        fn wait(&mut self, _: &[u32], _: Duration) -> Result<(), Failure> {
            Ok(())
        }

        fn has_delivered(&mut self, _: Duration) -> Result<bool, Failure> {
            // By one who takes it only when all wait.
            Ok(self.all_wait())
        }

        fn offered_from(&self, _: u32) -> usize {
            usize::MAX
        }

        fn now(&self) -> Duration {
            Duration::from_nanos(clock())
        }

        fn is_gone(&self, rank: u32) -> Option<Failure> {
            let evidence = "it was ended".to_owned();
            self.0.borrow().is_gone.then_some(Failure::Gone { rank, evidence })
        }
    }

    fn strobed(are_early: bool) -> (Strobed<Row>, Rc<RefCell<Shared>>) {
        let shared = Rc::new(RefCell::new(Shared::default()));
        let strobes = Strobes { slice: Duration::from_micros(50), are_early };
        TIME.set(1_000_000);
        (Strobed::new(Row(shared.clone()), strobes), shared)
    }

    fn taken(carrier: &mut Strobed<Row>) -> usize {
        let mut count = 0;
        while carrier.take(&mut |_: Arrival<'_>| count += 1).unwrap() {}
        count
    }

    #[test]
    fn all_that_a_rank_has_sent_is_here_once_it_is_known_to_be_gone() {
        let (mut carrier, shared) = strobed(false);
        assert_eq!(taken(&mut carrier), 0);
        shared.borrow_mut().messages.extend([1, 2]);
        assert_eq!(carrier.is_gone(0), None);
        assert_eq!(taken(&mut carrier), 0, "the slice has had its exchange");
        shared.borrow_mut().is_gone = true;
        assert!(carrier.is_gone(0).is_some());
        assert_eq!(taken(&mut carrier), 2);
    }

    #[test]
    fn what_comes_in_a_slice_is_taken_at_the_next_strobe() {
        let (mut carrier, shared) = strobed(true);
        shared.borrow_mut().messages.extend([1, 2]);
        assert_eq!(taken(&mut carrier), 2);
        shared.borrow_mut().messages.push_back(3);
        assert_eq!(taken(&mut carrier), 0, "the slice has had its exchange");
        let slice = TIME.get() / 50_000;
        carrier.wait(&[], Duration::ZERO).unwrap();
        assert_eq!(TIME.get() / 50_000, slice + 1, "it waits for the strobe, and no longer");
        assert_eq!(taken(&mut carrier), 1);
        assert!(!shared.borrow().waits);
    }

    #[test]
    fn where_all_wait_the_strobe_is_early_unless_strobes_are_fixed() {
        for are_early in [true, false] {
            let (mut carrier, shared) = strobed(are_early);
            assert_eq!(taken(&mut carrier), 0);
            shared.borrow_mut().others_wait = true;
            shared.borrow_mut().messages.push_back(1);
            let slice = TIME.get() / 50_000;
            carrier.wait(&[], Duration::ZERO).unwrap();
            assert_eq!(taken(&mut carrier), 1);
            assert_eq!(TIME.get() / 50_000 == slice, are_early);
        }
    }

    #[test]
    fn one_who_waits_until_all_is_delivered_keeps_nobody_from_an_early_strobe() {
        let (mut carrier, shared) = strobed(true);
        assert!(!carrier.has_delivered(Duration::ZERO).unwrap());
        shared.borrow_mut().others_wait = true;
        assert!(carrier.has_delivered(Duration::ZERO).unwrap());
        assert!(!shared.borrow().waits);
    }

    #[test]
    fn long_messages_are_cut_over_slices() {
        let (mut carrier, _) = strobed(true);
        let message = vec![0; 10 << 20];
        let (mut sent, mut slices) = (0, std::collections::BTreeMap::<u64, usize>::new());
        while sent < message.len() {
            let now = carrier.send(1, &[], &message, sent).unwrap();
            *slices.entry(carrier.sending).or_default() += now;
            sent += now;
        }
        assert!(slices.len() > 10, "{slices:?}");
        // A slice of 50 us carries 50 times what a microsecond does, and the piece that fills it.
        assert!(slices.values().all(|bytes| *bytes <= (51 << 14) + (64 << 10)), "{slices:?}");
    }
}
