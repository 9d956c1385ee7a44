//! What a rank has written into the segment that cannot be. It is an error of who reads it, who
//! goes on with what others have written.

use super::Place;
use crate::error::Error;

/// Whose it is, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Garbage {
    pub(super) of: Place,
    pub(super) what: &'static str,
}

impl From<Garbage> for Error {
    fn from(Garbage { of, what }: Garbage) -> Error {
        Error::Malformed { peer: of.to_string(), what: what.to_owned() }
    }
}
