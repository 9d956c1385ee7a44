//! Error classes and codes, and what they say (MPI-5.0, sections 9.4 and 9.5): those of the
//! standard, and those that the program adds.
//!
//! The library returns classes only, so a code that is no class is one that the program added.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use muster_mpi::error::{Class, Error, LAST_CODE, Result, SUCCESS};

use crate::abi::constants::MPI_MAX_ERROR_STRING;
use crate::export::export;
use crate::pointer::{Out, Text, TextOut};

/// What the program added: numbers above those of the standard.
#[derive(Debug)]
struct Codes {
    /// Each number's class, which is itself if it is a class, and what it says.
    added: BTreeMap<c_int, (c_int, String)>,
    /// The number that was given last.
    last: c_int,
}

static CODES: Mutex<Codes> = Mutex::new(Codes { added: BTreeMap::new(), last: LAST_CODE });

/// The table. A thread that panicked had not begun to change it.
fn codes() -> MutexGuard<'static, Codes> {
    CODES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The largest number that is in use: the attribute `MPI_LASTUSEDCODE`.
pub fn last_used() -> c_int {
    codes().last
}

/// The error of a number that the program, or a function of it, has given: of a number that it has
/// added, with what that says.
pub fn error(number: c_int) -> Error {
    match (Class::of_number(number), codes().text(number)) {
        (Some(class), _) => class.into(),
        (None, Ok(text)) if !text.is_empty() => Error::new(Class::User(number), text),
        _ => Class::User(number).into(),
    }
}

impl Codes {
    /// A new number, of a class or, without one, a class itself.
    fn add(&mut self, class: Option<c_int>) -> Result<c_int> {
        if let Some(class) = class
            && self.class(class)? != class
        {
            let what = format!("{class} is an error code, and no class");
            return Err(Error::new(Class::Arg, what).value(class));
        }
        self.last += 1;
        self.added.insert(self.last, (class.unwrap_or(self.last), String::new()));
        Ok(self.last)
    }

    /// The class of a number.
    fn class(&self, number: c_int) -> Result<c_int> {
        let added = self.added.get(&number).map(|(class, _)| *class);
        let known = (number == SUCCESS || Class::of_number(number).is_some()).then_some(number);
        added.or(known).ok_or_else(|| unknown(number))
    }

    /// What a number says.
    fn text(&self, number: c_int) -> Result<String> {
        let known = Class::of_number(number);
        match (self.added.get(&number), known) {
            (Some((_, text)), _) => Ok(text.clone()),
            (_, Some(class)) => Ok(format!("{}: {}", class.name(), class.meaning())),
            _ if number == SUCCESS => Ok("MPI_SUCCESS: no error".to_owned()),
            _ => Err(unknown(number)),
        }
    }

    /// Sets what a number says that was added.
    fn describe(&mut self, number: c_int, text: String) -> Result<()> {
        let (_, said) = self.added.get_mut(&number).ok_or_else(|| unknown(number))?;
        *said = text;
        Ok(())
    }

    /// Removes a class, of which no codes are left, or a code. What it says is removed before.
    fn remove(&mut self, number: c_int, is_class: bool) -> Result<()> {
        let class = self.added.get(&number).map(|(class, _)| *class);
        if class.is_none_or(|class| (class == number) != is_class) {
            return Err(unknown(number));
        }
        if self.added.iter().any(|(code, (class, _))| *class == number && *code != number) {
            let what = format!("the class {number} has codes, which are to be removed before it");
            return Err(Error::new(Class::Other, what).of("errorclass"));
        }
        if self.added.get(&number).is_some_and(|(_, text)| !text.is_empty()) {
            let what = format!("the string of {number} is to be removed before it");
            return Err(Error::new(Class::Other, what).value(number));
        }
        self.added.remove(&number);
        Ok(())
    }
}

fn unknown(number: c_int) -> Error {
    let what = format!("{number} is no error code, or none that the program added");
    Error::new(Class::Arg, what).value(number)
}

export! {
    /// The class of an error code.
    fn MPI_Error_class(errorcode: c_int, errorclass: Out<c_int>) {
        errorclass.set(codes().class(errorcode)?)
    }

    /// What an error code says.
    fn MPI_Error_string(errorcode: c_int, string: TextOut, length: Out<c_int>) {
        let text = codes().text(errorcode)?;
        length.set(string.set(text.as_bytes(), MPI_MAX_ERROR_STRING)?)
    }

    /// A new class.
    fn MPI_Add_error_class(errorclass: Out<c_int>) {
        errorclass.set(codes().add(None)?)
    }

    /// A new code of a class.
    fn MPI_Add_error_code(errorclass: c_int, errorcode: Out<c_int>) {
        errorcode.set(codes().add(Some(errorclass))?)
    }

    /// What a class or code that was added says.
    fn MPI_Add_error_string(errorcode: c_int, string: Text<'_>) {
        codes().describe(errorcode, string.text()?)
    }

    /// Takes a class back.
    fn MPI_Remove_error_class(errorclass: c_int) {
        codes().remove(errorclass, true)
    }

    /// Takes a code back.
    fn MPI_Remove_error_code(errorcode: c_int) {
        codes().remove(errorcode, false)
    }

    /// Has a class or code say nothing again.
    fn MPI_Remove_error_string(errorcode: c_int) {
        codes().describe(errorcode, String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Codes {
        Codes { added: BTreeMap::new(), last: LAST_CODE }
    }

    #[test]
    fn added_classes_and_codes_say_what_the_program_gave_them() {
        let mut codes = none();
        let class = codes.add(None).expect("a class");
        let code = codes.add(Some(class)).expect("a code");
        assert!(LAST_CODE < class && class < code && codes.last == code);
        assert_eq!((codes.class(class), codes.class(code)), (Ok(class), Ok(class)));
        codes.describe(code, "it is too late".to_owned()).expect("it was added");
        assert_eq!(codes.text(code).as_deref(), Ok("it is too late"));
        assert_eq!(codes.text(class).as_deref(), Ok(""));
        let truncate = Class::Truncate.number();
        let of_standard = codes.add(Some(truncate)).expect("a code of a standard class");
        assert_eq!(codes.class(of_standard), Ok(truncate));
        assert!(codes.text(truncate).expect("known").starts_with("MPI_ERR_TRUNCATE: "));
    }

    #[test]
    fn what_was_not_added_is_neither_described_nor_removed() {
        let mut codes = none();
        for number in [-1, 0, Class::Arg.number(), LAST_CODE + 1] {
            assert_eq!(codes.describe(number, String::new()).expect_err("no").class, Class::Arg);
            assert_eq!(codes.remove(number, true).expect_err("no").class, Class::Arg);
        }
        assert_eq!(codes.add(Some(LAST_CODE + 1)).expect_err("no class").class, Class::Arg);
    }

    #[test]
    fn a_class_goes_after_its_codes_and_a_code_after_its_string() {
        let mut codes = none();
        let class = codes.add(None).expect("a class");
        let code = codes.add(Some(class)).expect("a code");
        assert_eq!(codes.remove(class, true).expect_err("it has a code").class, Class::Other);
        assert_eq!(codes.remove(class, false).expect_err("no code").class, Class::Arg);
        codes.describe(code, "too late".to_owned()).expect("it was added");
        assert_eq!(codes.remove(code, false).expect_err("it has a string").class, Class::Other);
        codes.describe(code, String::new()).expect("it was added");
        codes.remove(code, false).expect("gone");
        codes.remove(class, true).expect("gone, too");
        assert_eq!(codes.class(class).expect_err("gone").class, Class::Arg);
        assert_eq!(codes.add(None), Ok(code + 1), "numbers are not given twice");
    }
}
