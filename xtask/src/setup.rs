//! `cargo xtask setup`: what the tests and benchmarks need beyond Rust. Debian packages are
//! installed when we are root; otherwise the command to type is printed. Doing it twice is
//! doing it once.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::bench;
use crate::libfabric;
use crate::workspace::{check, find_program, no_arguments, output, root};

/// A Debian package, and a program whose presence means that it is not needed.
const PACKAGES: [(&str, &str); 20] = [
    ("autoconf", "autoreconf"), // with the next, libtool and make: libfabric
    ("automake", "automake"),
    ("cmake", "cmake"),       // asked where MPI is
    ("diod", "diod"),         // the 9P server to beat
    ("fuse3", "fusermount3"), // mounts without being root
    ("g++", "g++"),           // libFuzzer is C++
    ("gfortran", "gfortran"), // MPI programs in Fortran
    ("golang-go", "go"),      // the other 9P server to beat, and a foreign 9P client
    ("iproute2", "ip"),       // networks of the hosts of tests
    ("libtool", "libtoolize"),
    ("make", "make"),
    ("munge", "munged"),
    ("nftables", "nft"), // networks that lose
    ("openssh-client", "ssh"),
    ("openssh-server", "sshd"),   // how a cluster is brought up on hosts
    ("pkg-config", "pkg-config"), // asked where MPI is
    ("qemu-user-static", "qemu-aarch64-static"), // programs for another processor than ours
    ("slurm-wlm", "slurmctld"),   // the same inside an allocation; needs munge
    ("udpcast", "udp-sender"),    // what sends images by multicast, to compare with
    ("xz-utils", "xz"),           // libfabric's source
];

/// Prepares the Linux guest in which the kernel's own 9P client is tested.
const GUEST: &str = "conformance/ninep/guest/setup";

/// Go's 9P clients, as one program.
const GO_CLIENT: &str = "conformance/ninep/go";

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    no_arguments(arguments)?;
    let root = root()?;
    let missing = PACKAGES.iter().filter(|(_, program)| find_program(program).is_none());
    let missing: Vec<&str> = missing.map(|(package, _)| *package).collect();
    if !missing.is_empty() && !install(&missing)? {
        return Ok(ExitCode::FAILURE);
    }
    let guest = root.join(GUEST);
    if guest.exists() {
        check(Command::new(guest).current_dir(&root))?;
    }
    let go_client = root.join(GO_CLIENT);
    if go_client.exists() {
        // Its libraries, checked against go.sum; the tests build it.
        check(Command::new("go").args(["mod", "download"]).current_dir(go_client))?;
    }
    libfabric::build(&root)?;
    // Only a benchmark needs it, and that says so again.
    if let Err(error) = bench::build_peers(&root) {
        eprintln!("setup: `cargo xtask bench 9p` will lack a peer: {error:#}");
    }
    println!("setup: all there");
    Ok(ExitCode::SUCCESS)
}

/// Installs packages; false when that is up to the user.
fn install(packages: &[&str]) -> Result<bool> {
    let names = packages.join(" ");
    if find_program("apt-get").is_none() {
        eprintln!(
            "setup: missing {names} (Debian's names); install them with your package manager"
        );
        return Ok(false);
    }
    if output(Command::new("id").arg("-u"))?.trim() != "0" {
        eprintln!("setup: missing {names}; type: sudo apt-get install -y {names}");
        return Ok(false);
    }
    println!("setup: installing {names}");
    check(apt().args(["update", "-qq"]))?;
    check(apt().args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages))?;
    Ok(true)
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").current_dir(Path::new("/"));
    command
}
