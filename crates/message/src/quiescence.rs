//! Logical quiescence: all ranks wait, and no message is under way. It is what wildcards and tests
//! of the coscheduled mode wait for, because a program comes to it in the same state however fast
//! its ranks are.
//!
//! *Need.* A rank that cannot go on without it says so to rank 0. *Waves.* Rank 0 asks all, down a
//! binomial tree; each rank tells, when it waits and all below it have told, how many messages it
//! has sent and received so far; and rank 0 gets the sums. If as many had been received by the end
//! of one wave as have been sent by the end of the next, there was quiescence between the two (the
//! four counters of Mattern 1987). *Reveal.* Then rank 0 tells all, down the tree, that the next
//! epoch has begun. A rank that has heard it may send before another has: so a message says of
//! which epoch it is, and one of the next epoch tells the news as well.
//!
//! Ranks do not leave while others may need them: they end by a barrier.

/// What ranks say to one another. Epochs and waves are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// To rank 0: this rank waits for the end of an epoch.
    Need { epoch: u32 },
    /// From above: tell.
    Ask { wave: u32 },
    /// To above: all below wait, and have sent and received so many; whether any still needs it.
    Tell { wave: u32, sent: u64, received: u64, needs: bool },
    /// From above: this epoch begins.
    Reveal { epoch: u32 },
}

/// What a rank knows.
pub(crate) struct Quiescence {
    me: u32,
    below: Vec<u32>,
    epoch: u32,
    /// Messages sent and received, other than signals.
    sent: u64,
    received: u64,
    /// For which epoch rank 0 has been told of the need.
    needed: Option<u32>,
    /// The wave that this rank has not told of, and what those below have said.
    wave: u32,
    is_open: bool,
    told: usize,
    sums: (u64, u64),
    needs_below: bool,
    /// At rank 0: how many had been received at the end of the wave before; and whether a rank has
    /// come to need it while this one goes on.
    before: Option<u64>,
    again: bool,
    /// What is to be said, and to whom.
    pub(crate) signals: Vec<(u32, Signal)>,
}

impl Quiescence {
    pub(crate) fn new(me: u32, size: u32) -> Quiescence {
        let own = if me == 0 { u32::BITS } else { me.trailing_zeros() };
        let below = (0..own).map_while(|bit| Some(me | 1_u32.checked_shl(bit)?));
        Quiescence {
            me,
            below: below.filter(|rank| *rank < size).collect(),
            epoch: 0,
            sent: 0,
            received: 0,
            needed: None,
            wave: 0,
            is_open: false,
            told: 0,
            sums: (0, 0),
            needs_below: false,
            before: None,
            again: false,
            signals: Vec::new(),
        }
    }

    /// How many times there was quiescence.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// A message leaves this rank.
    pub(crate) fn sends(&mut self) {
        self.sent += 1;
    }

    /// One has come, all of it.
    pub(crate) fn receives(&mut self) {
        self.received += 1;
    }

    /// A signal has come; whether an epoch begins by it.
    pub(crate) fn hear(&mut self, signal: Signal) -> bool {
        match signal {
            Signal::Need { epoch } if epoch == self.epoch => self.need(),
            // The need has gone by.
            Signal::Need { .. } => {}
            Signal::Ask { wave } => self.open(wave),
            Signal::Tell { wave, sent, received, needs } => {
                debug_assert!(self.is_open && wave == self.wave, "who is not asked tells nothing");
                self.told += 1;
                self.sums = (self.sums.0 + sent, self.sums.1 + received);
                self.needs_below |= needs;
            }
            Signal::Reveal { epoch } => {
                self.signals.extend(self.below.iter().map(|to| (*to, Signal::Reveal { epoch })));
                // A message may have brought the news before.
                if epoch != self.epoch {
                    self.begin();
                    return true;
                }
            }
        }
        false
    }

    /// The next epoch begins.
    pub(crate) fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.needed = None;
    }

    /// This rank waits, all it has sent has left, and nothing has come. `needs`: it cannot go on
    /// without quiescence. Whether an epoch begins by it.
    pub(crate) fn rest(&mut self, needs: bool) -> bool {
        if needs && self.needed != Some(self.epoch) {
            self.needed = Some(self.epoch);
            match self.me {
                0 => self.need(),
                _ => self.signals.push((0, Signal::Need { epoch: self.epoch })),
            }
        }
        while self.is_open && self.told == self.below.len() {
            self.is_open = false;
            let (sent, received) = (self.sums.0 + self.sent, self.sums.1 + self.received);
            let needs = needs || self.needs_below;
            if self.me > 0 {
                // Should it come to need it after this, it says so anew.
                self.needed = needs.then_some(self.epoch);
                let above = self.me & (self.me - 1);
                let wave = self.wave;
                self.signals.push((above, Signal::Tell { wave, sent, received, needs }));
            } else if needs && self.before == Some(sent) {
                (self.before, self.again) = (None, false);
                self.begin();
                let epoch = self.epoch;
                self.signals.extend(self.below.iter().map(|to| (*to, Signal::Reveal { epoch })));
                return true;
            } else if needs || std::mem::take(&mut self.again) {
                self.before = Some(received);
                self.open(self.wave.wrapping_add(1));
            } else {
                (self.before, self.needed) = (None, None);
            }
        }
        false
    }

    /// At rank 0: somebody waits.
    fn need(&mut self) {
        if self.is_open {
            self.again = true;
        } else {
            self.before = None;
            self.open(self.wave.wrapping_add(1));
        }
    }

    /// A wave begins here.
    fn open(&mut self, wave: u32) {
        (self.wave, self.is_open) = (wave, true);
        (self.told, self.sums, self.needs_below) = (0, (0, 0), false);
        self.signals.extend(self.below.iter().map(|to| (*to, Signal::Ask { wave })));
    }
}
