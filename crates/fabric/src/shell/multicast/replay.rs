//! Which datagrams have come: each number is taken once, so that who has recorded one gains nothing
//! by sending it again (the window against replays of RFC 4303, 3.4.3).

/// Numbers that are remembered, up to the highest that has come. Later than that comes nothing that
/// was merely overtaken: sockets hold fewer.
pub const WINDOW: u64 = 4096;

/// The numbers that have come.
pub struct Replay {
    /// After the highest.
    next: u64,
    /// A bit for each of the last ones, by the number modulo [`WINDOW`].
    seen: [u64; (WINDOW / 64) as usize],
}

impl Replay {
    /// None has come.
    pub fn new() -> Replay {
        Replay { next: 0, seen: [0; (WINDOW / 64) as usize] }
    }

    /// After the highest that has come.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether this one has not come; what is too old to know has.
    pub fn is_new(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        number >= self.next || (self.next - number <= WINDOW && self.seen[word] & bit == 0)
    }

    /// It has come. Only for those that are new.
    pub fn mark(&mut self, number: u64) {
        for skipped in self.next.max(number.saturating_sub(WINDOW - 1))..number {
            let (word, bit) = place(skipped);
            self.seen[word] &= !bit;
        }
        let (word, bit) = place(number);
        self.seen[word] |= bit;
        self.next = self.next.max(number.saturating_add(1));
    }
}

/// Where its bit is.
fn place(number: u64) -> (usize, u64) {
    let at = number % WINDOW;
    ((at / 64) as usize, 1 << (at % 64))
}
