//! Where the bytes of a message are at its user's.

/// The bytes of a message in their order, wherever each of them lies. Positions count from the
/// first.
pub trait Buffer: Sized {
    /// The same for an operation that outlasts the call; this one is not used any more. Messages
    /// that come and go at once do without: what is moved waits for the processor's last stores.
    fn keep(&mut self) -> Self;

    /// As many bytes elsewhere, in memory of its own: for what still comes when the memory of this
    /// one is not to be used any more.
    fn apart(&self) -> Self;

    /// How many bytes there are.
    fn size(&self) -> usize;

    /// All of them, where they lie next to each other.
    fn whole(&self) -> Option<&[u8]>;

    /// The place for all of them, where it is in one piece.
    fn whole_mut(&mut self) -> Option<&mut [u8]>;

    /// Copies bytes out, from a position on.
    fn read(&mut self, at: usize, into: &mut [u8]);

    /// Copies bytes in, from a position on.
    fn write(&mut self, at: usize, from: &[u8]);
}
