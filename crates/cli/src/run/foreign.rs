//! A program that was linked with another MPI: started here, each of its ranks would be alone, rank
//! 0 of 1, and nobody would notice before the results are looked at. Its file says so.

use super::failure::{Failure, exit};
use super::libraries;
use super::program::Program;
use std::path::{Path, PathBuf};

/// The standard's library, which any MPI may have, in the version of the ABI that is kept here
/// (MPI-5.0, 20.1). Prototypes of it had other constants, under `.so.0`.
const STANDARD: (&str, &str) = ("libmpi_abi", ".1");

/// Libraries of Open MPI and of MPICH and its kin, without what follows `.so`.
const THEIRS: [&str; 11] = [
    "libmpi",
    "libmpi_cxx",
    "libmpi_mpifh",
    "libmpi_usempi",
    "libmpi_usempi_ignore_tkr",
    "libmpi_usempif08",
    "libmpich",
    "libmpichcxx",
    "libmpichfort",
    "libmpicxx",
    "libmpifort",
];

/// Refuses a program of several ranks that another MPI would have to start.
///
/// # Errors
/// Which it is, and what to do.
pub fn check(program: &Program, named: &str, ranks: usize) -> Result<(), Failure> {
    if ranks < 2 {
        return Ok(());
    }
    let library = files(program).iter().find_map(|path| foreign(path));
    let Some(library) = library else { return Ok(()) };
    let whose = if library.contains("mpich") || library.ends_with(".so.12") {
        "MPICH's kind"
    } else if library.ends_with(".so.40") || library.ends_with(".so.20") {
        "Open MPI"
    } else if library.starts_with(STANDARD.0) {
        "another version of the standard ABI"
    } else {
        "another MPI"
    };
    let text = format!(
        "{named} is linked with {whose} ({library}), so its {ranks} ranks would not know of each \
         other. Link it again with Muster's mpicc, mpicxx or mpifort"
    );
    Err(Failure::new("E502", exit::NOT_EXECUTABLE, text))
}

/// The library of another MPI that a file needs.
fn foreign(path: &Path) -> Option<String> {
    let elf = libraries::read(path).ok()??;
    let is_theirs = |name: &String| match name.split_once(".so") {
        Some((stem, version)) if stem == STANDARD.0 => !["", STANDARD.1].contains(&version),
        Some((stem, _)) => THEIRS.contains(&stem),
        None => false,
    };
    elf.needed.into_iter().find(is_theirs)
}

/// The files here that are, or are likely to be, what the nodes will run.
fn files(program: &Program) -> Vec<PathBuf> {
    match program {
        Program::Here(binaries) => binaries.iter().map(|binary| binary.path.clone()).collect(),
        Program::There(name) if name.contains('/') => vec![name.into()],
        Program::There(name) => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
            places.find(|place| place.is_file()).into_iter().collect()
        }
    }
}
