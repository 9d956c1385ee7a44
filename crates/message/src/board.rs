//! What ranks show each other where they share memory: short operands of collectives, which all of
//! them want to see, without a message for each two. Ranks are named by their numbers in the job.

use std::ops::Range;

/// A place on a board. Numbers begin at 1, and each is used once. Who shows something has taken
/// what all others of those who share the board showed as the number before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Which board.
    pub board: u32,
    /// The number.
    pub number: u32,
}

/// The boards that a carrier has.
pub trait Boards {
    /// The ranks that see them.
    fn seers(&self) -> Range<u32>;

    /// Shows some bytes, and a label.
    fn show(&mut self, spot: Spot, label: u32, bytes: &[u8]);

    /// The label of what a rank shows, once it does.
    fn label(&self, rank: u32, spot: Spot) -> Option<u32>;

    /// The first bytes of it.
    fn read(&self, rank: u32, spot: Spot, into: &mut [u8]);

    /// The carrier's wait ends when all of these show something, too. Those who do now are not
    /// expected.
    fn expect(&mut self, spot: Spot, ranks: &mut dyn Iterator<Item = u32>);

    /// Where ranks have to share processors: lets the others have this one for a moment, until all
    /// show what is expected there; whether they do.
    fn linger(&mut self, spot: Spot) -> bool;

    /// Whether anything is shown that is expected.
    fn has_shown(&self) -> bool;

    /// All that these show is taken.
    fn leave(&mut self, spot: Spot, ranks: &mut dyn Iterator<Item = u32>);

    /// Nothing is expected there any more.
    fn forget(&mut self, spot: Spot);

    /// Whether a rank has taken all up to this number.
    fn has_left(&self, rank: u32, spot: Spot) -> bool;
}
