//! Where the ranks of jobs find Muster's MPI library, whatever they were linked with: a directory
//! of the node's own, in which there is nothing but a link to the library that belongs to this
//! program. Ranks look there before they look elsewhere, but behind what their job has brought
//! along, so a program that was built for the standard ABI elsewhere needs nothing to be set.

use crate::library;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The name by which programs load it.
const LIBRARY: &str = "libmpi_abi.so.1";

/// The directory in a node's own.
const FOLDER: &str = ".mpi";

/// Makes the directory; none where this program is alone.
pub(super) fn provide(directory: &Path) -> Option<PathBuf> {
    let program = std::fs::read_link("/proc/self/exe").ok()?;
    let library = library::of(&program)?;
    let folder = directory.join(FOLDER);
    std::fs::create_dir_all(&folder).ok()?;
    let place = folder.join(LIBRARY);
    // A daemon of this name may have been here before.
    let _ = std::fs::remove_file(&place);
    symlink(library, &place).ok()?;
    Some(folder)
}
