//! Muster's MPI library, of the same build as a program of Muster's: where it lies.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is behind the name of a program in that of the library that was carried with it.
pub(crate) const CARRIED: &str = ".libmpi_abi.so";

/// The library that was carried, installed or built together with a program.
pub(crate) fn of(program: &Path) -> Option<PathBuf> {
    let bin = program.parent()?;
    let installed = bin.parent().map(|prefix| prefix.join("lib/libmpi_abi.so.1"));
    let places = [Some(carried(program)), installed, Some(bin.join("libmpi_abi.so"))];
    places.into_iter().flatten().find(|path| path.is_file())
}

/// Where it is if it was carried: the folder has those of other builds as well.
pub(crate) fn carried(program: &Path) -> PathBuf {
    let mut name = OsString::from(program);
    name.push(CARRIED);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::fs;

    #[test]
    fn the_library_is_that_of_the_program() {
        let root = Scratch::new("library");
        let program = root.join("bin/muster");
        for folder in ["bin", "lib"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        assert_eq!(of(&program), None);
        for file in ["bin/libmpi_abi.so", "lib/libmpi_abi.so.1", "bin/muster.libmpi_abi.so"] {
            fs::write(root.join(file), file).unwrap();
            assert_eq!(of(&program), Some(root.join(file)));
        }
        assert_eq!(of(&root.join("bin/other")), Some(root.join("lib/libmpi_abi.so.1")));
    }
}
