//! Where the ranks of jobs find Muster's MPI library, whatever they were linked with: a directory
//! of the node's own, in which there is nothing but a link to the library that belongs to this
//! program. Ranks look there first, so library and daemon are of one build, and a program that was
//! built for the standard ABI elsewhere needs nothing to be set.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The name by which programs load it.
const LIBRARY: &str = "libmpi_abi.so.1";

/// The directory in a node's own.
const FOLDER: &str = ".mpi";

/// Makes the directory; none where this program is alone.
pub(super) fn provide(directory: &Path) -> Option<PathBuf> {
    let program = std::fs::read_link("/proc/self/exe").ok()?;
    let library = beside(&program)?;
    let folder = directory.join(FOLDER);
    std::fs::create_dir_all(&folder).ok()?;
    let place = folder.join(LIBRARY);
    // A daemon of this name may have been here before.
    let _ = std::fs::remove_file(&place);
    symlink(library, &place).ok()?;
    Some(folder)
}

/// The library that was installed or built together with a program.
fn beside(program: &Path) -> Option<PathBuf> {
    let bin = program.parent()?;
    let installed = bin.parent()?.join("lib").join(LIBRARY);
    [installed, bin.join("libmpi_abi.so")].into_iter().find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_library_is_that_of_the_program() {
        let root = std::env::temp_dir().join(format!("muster-mpi-{}", std::process::id()));
        let program = root.join("bin/muster");
        for folder in ["bin", "lib"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        assert_eq!(beside(&program), None);
        fs::write(root.join("bin/libmpi_abi.so"), "built").unwrap();
        let built = beside(&program);
        fs::write(root.join("lib/libmpi_abi.so.1"), "installed").unwrap();
        let installed = beside(&program);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(built, Some(root.join("bin/libmpi_abi.so")));
        assert_eq!(installed, Some(root.join("lib/libmpi_abi.so.1")));
    }
}
