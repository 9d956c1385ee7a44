//! How numbers, strings and records lie in a message: little-endian, strings behind a 16-bit
//! length (intro(5)). Every read checks its bounds; nothing is allocated for a length that was
//! merely claimed.

use crate::version::Dialect;

/// A message whose bytes do not form what its type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The message ends before its fields do.
    #[error("message ends inside a field")]
    Short,
    /// Bytes are left behind the last field.
    #[error("message is longer than its fields")]
    Long,
    /// No message has this type number in this dialect.
    #[error("message type {0} is unknown in this dialect")]
    Type(u8),
    /// A string that must be UTF-8 is not.
    #[error("a string is not UTF-8")]
    Utf8,
    /// A walk of more than 16 names.
    #[error("walk of more than 16 names")]
    Names,
}

/// Reads fields from a message body.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// The dialect decides which fields are present.
    pub dialect: Dialect,
}

impl<'a> Reader<'a> {
    /// Reads `body` as fields of `dialect`.
    pub fn new(body: &'a [u8], dialect: Dialect) -> Reader<'a> {
        Reader { rest: body, dialect }
    }

    /// The next `n` bytes.
    ///
    /// # Errors
    /// [`Malformed::Short`] when fewer are left.
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(n).ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Reads one field.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes are not one.
    pub fn get<F: Field<'a>>(&mut self) -> Result<F, Malformed> {
        F::get(self)
    }

    /// Ends the message.
    ///
    /// # Errors
    /// [`Malformed::Long`] when bytes are left.
    pub fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed::Long) }
    }
}

/// Appends fields to a message.
#[derive(Debug)]
pub struct Writer<'a> {
    /// Where the bytes go.
    pub out: &'a mut Vec<u8>,
    /// The dialect decides which fields are present.
    pub dialect: Dialect,
}

impl Writer<'_> {
    /// Appends one field.
    pub fn put<'f>(&mut self, field: &impl Field<'f>) {
        field.put(self);
    }
}

/// One field of a message.
pub trait Field<'a>: Sized {
    /// Reads the field.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes are not one.
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed>;
    /// Appends the field.
    fn put(&self, to: &mut Writer<'_>);
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl<'a> Field<'a> for $number {
            fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
                let bytes = from.bytes(size_of::<$number>())?;
                Ok(<$number>::from_le_bytes(bytes.try_into().expect("length was asked for")))
            }
            fn put(&self, to: &mut Writer<'_>) {
                to.out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
numbers!(u8 u16 u32 u64);

/// A name of a file: bytes, since Linux names need not be UTF-8.
pub type Name<'a> = &'a [u8];

impl<'a> Field<'a> for Name<'a> {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let length: u16 = from.get()?;
        from.bytes(length.into())
    }
    fn put(&self, to: &mut Writer<'_>) {
        // Longer strings cannot be said in 9P; names are checked against NAME_MAX before, and
        // an error's text may be cut.
        let kept = &self[..self.len().min(u16::MAX.into())];
        to.put(&(kept.len() as u16));
        to.out.extend_from_slice(kept);
    }
}

impl<'a> Field<'a> for &'a str {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let bytes: Name<'a> = from.get()?;
        std::str::from_utf8(bytes).map_err(|_| Malformed::Utf8)
    }
    fn put(&self, to: &mut Writer<'_>) {
        to.put(&self.as_bytes());
    }
}

/// The names of a walk: `nwname[2] nwname*(wname[s])`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Names<'a> {
    count: u16,
    list: [Name<'a>; muster_base::limits::WALK_MAX],
}

impl<'a> Names<'a> {
    /// A list of at most 16 names; `None` for more.
    pub fn new(names: &[Name<'a>]) -> Option<Names<'a>> {
        let mut list = [&[][..]; muster_base::limits::WALK_MAX];
        list.get_mut(..names.len())?.copy_from_slice(names);
        Some(Names { count: names.len() as u16, list })
    }

    /// The names.
    pub fn as_slice(&self) -> &[Name<'a>] {
        &self.list[..self.count.into()]
    }
}

impl std::fmt::Debug for Names<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl<'a> Field<'a> for Names<'a> {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count: u16 = from.get()?;
        let mut list = [&[][..]; muster_base::limits::WALK_MAX];
        for name in list.get_mut(..count.into()).ok_or(Malformed::Names)? {
            *name = from.get()?;
        }
        Ok(Names { count, list })
    }
    fn put(&self, to: &mut Writer<'_>) {
        to.put(&self.count);
        self.as_slice().iter().for_each(|name| to.put(name));
    }
}

/// Payload of a read or write: `count[4] data[count]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload<'a>(pub &'a [u8]);

impl<'a> Field<'a> for Payload<'a> {
    fn get(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count: u32 = from.get()?;
        from.bytes(count as usize).map(Payload)
    }
    fn put(&self, to: &mut Writer<'_>) {
        to.put(&(self.0.len() as u32));
        to.out.extend_from_slice(self.0);
    }
}
