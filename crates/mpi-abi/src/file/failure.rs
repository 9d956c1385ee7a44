//! What the system says went wrong with a file, as MPI's classes and as a sentence.

use std::io;
use std::path::Path;

use muster_mpi::error::{Class, Error};

/// The class of a system's error.
fn class(error: &io::Error) -> Class {
    match error.raw_os_error() {
        Some(libc::ENOENT) => Class::NoSuchFile,
        Some(libc::EEXIST) => Class::FileExists,
        Some(libc::EACCES | libc::EPERM) => Class::Access,
        Some(libc::EROFS) => Class::ReadOnly,
        Some(libc::ENOSPC) => Class::NoSpace,
        Some(libc::EDQUOT) => Class::Quota,
        Some(libc::EBUSY | libc::ETXTBSY) => Class::FileInUse,
        Some(libc::ENAMETOOLONG | libc::ENOTDIR | libc::EISDIR | libc::ELOOP) => Class::BadFile,
        Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::ESPIPE) => Class::UnsupportedOperation,
        Some(libc::ENOMEM) => Class::NoMem,
        _ => Class::Io,
    }
}

/// What went wrong when something was done with a file ("open", "write to").
pub fn failed(doing: &str, name: &Path, error: impl Into<io::Error>) -> Error {
    let error = error.into();
    Error::new(class(&error), format!("cannot {doing} '{}': {error}", name.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_file_and_has_the_standards_class() {
        let said = |number| failed("open", Path::new("a/b"), io::Error::from_raw_os_error(number));
        let error = said(libc::ENOENT);
        assert_eq!(error.class, Class::NoSuchFile);
        assert!(error.what.starts_with("cannot open 'a/b': "), "{error}");
        assert_eq!(said(libc::EROFS).class, Class::ReadOnly);
        assert_eq!(said(libc::EIO).class, Class::Io);
    }
}
