//! MPI programs that nobody here wrote, unmodified: fetched from Debian's sources, built with
//! `mpicc` and `mpifort`, and right on one rank and on several, on one node and on two. All of
//! them, larger ones too, are `cargo xtask conformance mpi`.

mod cluster;
mod foreign;
mod mpi;

use std::path::Path;
use std::time::Duration;

use cluster::MUSTER;

/// Time for fetching, building and running one, on a machine that does other things as well.
const LIMIT: Duration = Duration::from_secs(900);

/// A program of `conformance/mpi/programs`, of whose checks so many must be right, in both modes.
fn is_right(name: &str, checks: usize) {
    foreign::need("apt-get", "apt");
    mpi::library();
    for mode in ["--mpi=direct", "--mpi=bcs"] {
        let mut run = foreign::bound(mpi::root().join("conformance/mpi/run"));
        // Where `cargo xtask setup` has put the archives.
        let target = Path::new(MUSTER).ancestors().nth(2).expect("cargo has put it there");
        run.env("MUSTER", MUSTER).arg("--work").arg(target.join("conformance/mpi"));
        run.args(["--mode", mode, name]);
        // Each of its checks has so long, where the machine does other things as well.
        run.env("MUSTER_CHECK_SECONDS", "600");
        foreign::run(run, LIMIT, checks);
    }
}

#[test]
fn netpipes_messages_arrive_whole_on_one_node_and_between_two() {
    is_right("netpipe", 8);
}

#[test]
fn open_mpis_examples_are_right_in_c_and_in_fortran() {
    is_right("openmpi-examples", 16);
}

#[test]
fn fftw_2_has_the_same_transforms_on_several_ranks_as_on_one() {
    is_right("fftw2", 14);
}

#[test]
fn fftw_3_verifies_its_transforms_over_all_ranks() {
    is_right("fftw3", 28);
}
