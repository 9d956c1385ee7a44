//! What a function of the standard takes by pointer. Only the entry points make values of these
//! types, of what a program passed, and the standard says what that must be: so using them is safe.
//! Whether a program passed null where it must not is looked at when the value is used.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;

use muster_mpi::error::{About, Class, Error, Result};

use crate::abi::types::MPI_Status;
use crate::argument::Passed;
use crate::export::Argument;
use crate::request::{EMPTY, Ended, Failed};

/// A variable that the function sets, and may read before (`int *flag`).
#[derive(Clone, Copy)]
pub struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Sets it.
    pub fn set(self, value: T) -> Result<()> {
        let place = self.there()?;
        // SAFETY: it is not null, so it is a variable of the program that only we use now.
        unsafe { place.write(value) };
        Ok(())
    }

    /// What it holds.
    pub fn get(self) -> Result<T> {
        let place = self.there()?;
        // SAFETY: it is not null, so it is a variable of the program, which set it.
        Ok(unsafe { place.read() })
    }

    fn there(self) -> Result<*mut T> {
        if self.0.is_null() { Err(missing()) } else { Ok(self.0) }
    }
}

impl<T> Argument for Out<T> {
    type C = *mut T;

    // SAFETY: what it leads to is the caller's promise.
    unsafe fn of(c: *mut T) -> Out<T> {
        Out(c)
    }

    fn passed(&self) -> Passed {
        Passed::Place(self.0.addr())
    }
}

/// A status, or none where the program wants none (`MPI_STATUS_IGNORE`).
#[derive(Clone, Copy)]
pub struct StatusOut(*mut MPI_Status);

impl StatusOut {
    /// Sets it. Its error is another call's business (MPI-5.0, section 3.2.5).
    #[inline]
    pub fn set(self, status: MPI_Status) {
        if !self.0.is_null() {
            // SAFETY: it is not null, so it is a status of the program that only we use now.
            let place = unsafe { &mut *self.0 };
            *place = MPI_Status { MPI_ERROR: place.MPI_ERROR, ..status };
        }
    }

    /// Says how an operation has ended: also of one that has failed what there is to say.
    ///
    /// # Errors
    /// The operation's.
    pub fn set_ended(self, ended: Ended) -> Result<()> {
        match ended {
            Ok(status) => {
                self.set(status);
                Ok(())
            }
            Err(Failed { error, status }) => {
                status.into_iter().for_each(|status| self.set(*status));
                Err(error)
            }
        }
    }

    /// Sets it for a request that nothing is under way of: that has no error, either.
    pub fn set_empty(self) {
        if !self.0.is_null() {
            // SAFETY: it is not null, so it is a status of the program that only we use now.
            unsafe { self.0.write(EMPTY) };
        }
    }
}

impl Argument for StatusOut {
    type C = *mut MPI_Status;

    // SAFETY: what it leads to is the caller's promise.
    unsafe fn of(c: *mut MPI_Status) -> StatusOut {
        StatusOut(c)
    }

    fn passed(&self) -> Passed {
        Passed::Other
    }
}

/// A place for a pointer of any type (`void *baseptr`, which is the address of a pointer).
#[derive(Clone, Copy)]
pub struct OutPointer(*mut c_void);

impl OutPointer {
    /// Sets it.
    pub fn set(self, value: *mut c_void) -> Result<()> {
        Out(self.0.cast::<*mut c_void>()).set(value)
    }
}

impl Argument for OutPointer {
    type C = *mut c_void;

    // SAFETY: what it leads to is the caller's promise.
    unsafe fn of(c: *mut c_void) -> OutPointer {
        OutPointer(c)
    }

    fn passed(&self) -> Passed {
        Passed::Place(self.0.addr())
    }
}

/// An address that nothing is read from here (`void *base`).
#[derive(Clone, Copy)]
pub struct Address(pub *mut c_void);

impl Argument for Address {
    type C = *mut c_void;

    // SAFETY: it is only handed on.
    unsafe fn of(c: *mut c_void) -> Address {
        Address(c)
    }

    fn passed(&self) -> Passed {
        Passed::Address(self.0.addr())
    }
}

/// An address that nothing is read from here (`const void *location`).
#[derive(Clone, Copy)]
pub struct ConstAddress(pub *const c_void);

impl Argument for ConstAddress {
    type C = *const c_void;

    // SAFETY: it is only handed on.
    unsafe fn of(c: *const c_void) -> ConstAddress {
        ConstAddress(c)
    }

    fn passed(&self) -> Passed {
        Passed::Address(self.0.addr())
    }
}

/// A text of the program (`const char *key`).
#[derive(Clone, Copy)]
pub struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    /// Its bytes, without the zero at its end.
    pub fn bytes(self) -> Result<&'a [u8]> {
        if self.0.is_null() {
            return Err(missing());
        }
        // SAFETY: it is not null, so a zero ends it, and the program leaves it alone meanwhile.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    /// Its characters; what is no UTF-8 is replaced.
    pub fn text(self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }
}

impl Argument for Text<'_> {
    type C = *const c_char;

    // SAFETY: what it leads to is the caller's promise.
    unsafe fn of(c: *const c_char) -> Self {
        Text(c, PhantomData)
    }

    fn passed(&self) -> Passed {
        Passed::Address(self.0.addr())
    }
}

/// Room for a text (`char *string`), as long as the function says or the standard.
#[derive(Clone, Copy)]
pub struct TextOut(*mut c_char);

impl TextOut {
    /// Writes a text and a zero into `room` bytes, as much as fits, and returns its length without
    /// the zero. Text that is cut is cut between characters.
    pub fn set(self, text: &[u8], room: c_int) -> Result<c_int> {
        let Some(most) = usize::try_from(room).ok().and_then(|room| room.checked_sub(1)) else {
            return Ok(0);
        };
        if self.0.is_null() {
            return Err(missing());
        }
        let length = cut(text, most).len();
        // SAFETY: the program gives room for `room` bytes, of which `length` and a zero are used.
        unsafe {
            self.0.copy_from_nonoverlapping(text.as_ptr().cast(), length);
            self.0.add(length).write(0);
        }
        Ok(length as c_int)
    }
}

/// As much of a text as fits, cut between characters. No character has more than four bytes; where
/// so many are none the text is in another encoding.
pub fn cut(text: &[u8], most: usize) -> &[u8] {
    let is_within = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let most = most.min(text.len());
    let end = (most.saturating_sub(3)..=most).rev().find(|at| !is_within(at));
    &text[..end.unwrap_or(most)]
}

impl Argument for TextOut {
    type C = *mut c_char;

    // SAFETY: what it leads to is the caller's promise.
    unsafe fn of(c: *mut c_char) -> TextOut {
        TextOut(c)
    }

    fn passed(&self) -> Passed {
        Passed::Place(self.0.addr())
    }
}

/// An argument that is not looked at.
#[derive(Clone, Copy)]
pub struct Unused<C>(PhantomData<C>);

impl<C> Argument for Unused<C> {
    type C = C;

    // SAFETY: nothing is done with it.
    unsafe fn of(_: C) -> Unused<C> {
        Unused(PhantomData)
    }

    fn passed(&self) -> Passed {
        Passed::Other
    }
}

/// A pointer of the program is null.
fn missing() -> Error {
    let what = "an argument that must be an address is null";
    Error::new(Class::Arg, what).about(About::Address(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Room for ten bytes, written with `text` as if it had `room`.
    fn written(text: &str, room: c_int) -> (c_int, Vec<u8>) {
        let mut place = [b'~' as c_char; 10];
        // SAFETY: it has room for ten bytes.
        let out = unsafe { TextOut::of(place.as_mut_ptr()) };
        let length = out.set(text.as_bytes(), room).expect("not null");
        (length, place.map(|byte| byte as u8).to_vec())
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_between_characters_and_ended() {
        assert_eq!(written("abc", 10), (3, b"abc\0~~~~~~".to_vec()));
        assert_eq!(written("abc", 0), (0, b"~~~~~~~~~~".to_vec()));
        assert_eq!(written("abcdef", 4), (3, b"abc\0~~~~~~".to_vec()));
        assert_eq!(written("ab\u{e9}", 4), (2, b"ab\0~~~~~~~".to_vec()));
        assert_eq!(cut(b"caf\xe9 au lait", 4), b"caf\xe9", "Latin 1");
        assert_eq!(cut(&[0xbf; 9], 5), [0xbf; 5]);
        assert_eq!(written("ab\u{e9}", 5), (4, "ab\u{e9}\0~~~~~".as_bytes().to_vec()));
    }

    #[test]
    fn null_is_an_error_and_no_crash() {
        // SAFETY: null is what the test passes.
        let (out, text) =
            unsafe { (Out::<c_int>::of(std::ptr::null_mut()), Text::of(std::ptr::null())) };
        assert_eq!(out.set(1).expect_err("null").class, Class::Arg);
        assert_eq!(text.bytes().expect_err("null").class, Class::Arg);
    }
}
