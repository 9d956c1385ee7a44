//! What a request can fail with, and how it is rendered to each dialect.
//!
//! 9P2000 carries a text, 9P2000.u a text and a number, 9P2000.L a number alone. The number is
//! Linux's errno on the wire of both (`include/net/9p/9p.h`), so an [`Error`] always has one.

use std::borrow::Cow;
use std::fmt;

pub use rustix::io::Errno;

/// An answer that refuses a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// Linux error number.
    pub errno: Errno,
    /// One sentence: what was wrong and where.
    pub text: Cow<'static, str>,
}

impl Error {
    /// An error with a sentence of its own.
    pub fn new(errno: Errno, text: impl Into<Cow<'static, str>>) -> Error {
        Error { errno, text: text.into() }
    }

    /// The same error, with `what` put before its text: `n3: no such file`.
    #[must_use]
    pub fn at(self, what: impl fmt::Display) -> Error {
        Error { errno: self.errno, text: format!("{what}: {}", self.text).into() }
    }

    /// Whether it says that a name does not lead on, which is the end of a walk like any other
    /// (walk(5)). What else fails is told: a want of descriptors does not look like no such file.
    pub(crate) fn ends_walk(&self) -> bool {
        matches!(self.errno, Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP)
    }
}

impl From<Errno> for Error {
    fn from(errno: Errno) -> Error {
        let said = std::io::Error::from_raw_os_error(errno.raw_os_error()).to_string();
        let text = match said.rfind(" (os error") {
            Some(end) => said[..end].to_owned(),
            None => said,
        };
        Error { errno, text: text.into() }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        match Errno::from_io_error(&error) {
            Some(errno) => Error::from(errno),
            None => Error::new(Errno::IO, error.to_string()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

/// The error of that number; EIO for a number that Linux does not use. For numbers that come from
/// elsewhere: [`Errno::from_raw_os_error`] panics at such a one.
#[must_use]
pub fn number(raw: i32) -> Errno {
    if (1..4096).contains(&raw) { Errno::from_raw_os_error(raw) } else { Errno::IO }
}

/// The result of a request.
pub type Result<T> = std::result::Result<T, Error>;

/// Refuses a request: `fail(Errno::PERM, "only the owner may do this")`.
pub fn fail<T, E: From<Error>>(
    errno: Errno,
    text: impl Into<Cow<'static, str>>,
) -> std::result::Result<T, E> {
    Err(Error::new(errno, text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_some_error() {
        for raw in [0, -1, 4096, i32::MIN, i32::MAX] {
            assert_eq!(number(raw), Errno::IO);
        }
        assert_eq!((number(1), number(4095).raw_os_error()), (Errno::PERM, 4095));
    }
}
