//! `cargo xtask setup`: what the tests need beyond Rust; with `--bench`, the peers of all
//! benchmarks, too. Debian packages are installed when we are root; otherwise the command to type
//! is printed. What Debian does not have is built (`peers.rs`). Doing it twice is doing it once.

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::conformance;
use crate::libfabric;
use crate::peers;
use crate::workspace::{Usage, cargo, check, find_program, host, output, root};

/// A Debian package, and a program whose presence means that it is not needed.
const PACKAGES: [(&str, &str); 24] = [
    ("attr", "getfattr"), // with the next and QEMU: the guest with Debian's kernel
    ("autoconf", "autoreconf"), // with the next, libtool and make: libfabric
    ("automake", "automake"),
    ("busybox-static", "busybox"),
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
    ("python3", "python3"),       // programs of tests
    ("qemu-system-x86", "qemu-system-x86_64"),
    ("qemu-user-static", "qemu-aarch64-static"), // programs for another processor than ours
    ("slurm-wlm", "slurmctld"),                  // the same inside an allocation; needs munge
    ("udpcast", "udp-sender"),                   // what sends images by multicast, to compare with
    ("xz-utils", "xz"),                          // libfabric's source
];

/// The same for the peers of benchmarks beyond these. What has no program of its own is told by a
/// file, or by a module of Python.
const PEERS: [(&str, &str); 9] = [
    ("iperf3", "iperf3"),
    ("libfabric-bin", "fi_pingpong"),
    ("libmpich-dev", "/usr/include/ARCH-linux-gnu/mpich/mpi.h"),
    ("libopenmpi-dev", "/usr/lib/ARCH-linux-gnu/openmpi/include/mpi.h"),
    ("mpich", "mpiexec.mpich"),
    ("openmpi-bin", "mpirun.openmpi"),
    ("pdsh", "pdsh"),
    ("python3-venv", "python3 -m ensurepip"), // MPIs that PyPI has
    ("ucx-utils", "ucx_perftest"),
];

/// Something that the tests need and that is no package.
type Step = (&'static str, fn(&Path) -> Result<()>);

const STEPS: [Step; 5] = [
    ("crates", fetch_crates),
    ("guest with Debian's kernel", prepare_guest),
    ("Go modules", fetch_modules),
    ("libfabric", libfabric::build),
    ("sources of MPI programs", conformance::fetch),
];

/// Prepares the Linux guest in which the kernel's own 9P client is tested.
const GUEST: &str = "conformance/ninep/guest/setup";

/// Go's 9P clients, as one program.
const GO_CLIENT: &str = "conformance/ninep/go";

/// What `cargo xtask ci` builds.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "fuzz/Cargo.toml"];

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let with_peers = match arguments {
        [] => false,
        [flag] if flag == "--bench" => true,
        [.., other] => return Err(Usage(format!("unexpected argument '{other}'")).into()),
    };
    let root = root()?;
    let peers = if with_peers { &PEERS[..] } else { &[] };
    let missing = PACKAGES.iter().chain(peers).filter(|(_, sign)| !is_there(sign));
    let missing: Vec<&str> = missing.map(|(package, _)| *package).collect();
    // What needs no package is prepared all the same.
    let lacking = if missing.is_empty() { Vec::new() } else { lacking(&missing) };
    let failed = failing(&STEPS, &root);
    let no_peer_is_missing = !with_peers || peers::prepare(&root, None);
    if !no_peer_is_missing {
        eprintln!("setup: the benchmarks named above go without those peers");
    }
    if !failed.is_empty() {
        eprintln!("setup: tests that need them will fail: {}", failed.join(", "));
    }
    if !lacking.is_empty() {
        eprintln!("setup: tests that need these packages will fail: {}", lacking.join(" "));
    }
    if !lacking.is_empty() || !no_peer_is_missing || !failed.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    println!("setup: all there");
    Ok(ExitCode::SUCCESS)
}

/// Takes all steps, and returns the names of those that failed: none needs another, and who cannot
/// have one can use the others.
fn failing(steps: &[Step], root: &Path) -> Vec<&'static str> {
    let failed = steps.iter().filter_map(|(name, step)| {
        let error = step(root).err()?;
        eprintln!("setup: no {name}: {error:#}");
        Some(*name)
    });
    failed.collect()
}

/// Fetches what all is built of, so that the tests need no network.
fn fetch_crates(root: &Path) -> Result<()> {
    for manifest in MANIFESTS {
        let mut fetch = cargo(root);
        fetch.args(["fetch", "--quiet", "--locked", "--target", &host()?, "--manifest-path"]);
        check(fetch.arg(manifest))?;
    }
    Ok(())
}

fn prepare_guest(root: &Path) -> Result<()> {
    check(Command::new(root.join(GUEST)).current_dir(root))
}

/// The libraries of Go's clients, checked against go.sum; the tests build these.
fn fetch_modules(root: &Path) -> Result<()> {
    check(Command::new("go").args(["mod", "download"]).current_dir(root.join(GO_CLIENT)))
}

/// Whether a package's sign is there.
fn is_there(sign: &str) -> bool {
    match sign.strip_prefix("python3 -m ") {
        Some(module) => {
            let mut import = Command::new("python3");
            output(import.args(["-c", &format!("import {module}")])).is_ok()
        }
        None => find_program(&sign.replace("ARCH", std::env::consts::ARCH)).is_some(),
    }
}

/// Installs packages, and returns those that are still missing.
fn lacking<'a>(packages: &[&'a str]) -> Vec<&'a str> {
    let names = packages.join(" ");
    if find_program("apt-get").is_none() {
        eprintln!(
            "setup: missing {names} (Debian's names); install them with your package manager"
        );
        return packages.to_vec();
    }
    if !output(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0") {
        eprintln!("setup: missing {names}; type: sudo apt-get install -y {names}");
        return packages.to_vec();
    }
    println!("setup: installing {names}");
    if let Err(error) = check(apt().args(["update", "-qq"])) {
        eprintln!("setup: {error:#}");
    }
    refused(packages, |some| {
        check(apt().args(["install", "-y", "-qq", "--no-install-recommends"]).args(some))
    })
}

/// Those of some packages that cannot be installed. Of all together none is where one is unknown,
/// so each is tried by itself then.
fn refused<'a>(packages: &[&'a str], install: impl Fn(&[&str]) -> Result<()>) -> Vec<&'a str> {
    if install(packages).is_ok() {
        return Vec::new();
    }
    let is_refused = |package: &&str| {
        let done = install(&[*package]);
        done.inspect_err(|error| eprintln!("setup: no {package}: {error:#}")).is_err()
    };
    packages.iter().copied().filter(is_refused).collect()
}

fn apt() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive").current_dir(Path::new("/"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use std::fs;

    #[test]
    fn what_is_missing_is_told_by_a_program_a_file_or_a_module() {
        for there in ["sh", "/proc/self/status", "python3 -m venv"] {
            assert!(is_there(there), "{there}");
        }
        for missing in ["no-such-program", "/usr/lib/ARCH/no-such-file", "python3 -m no_such"] {
            assert!(!is_there(missing), "{missing}");
        }
    }

    #[test]
    fn a_package_that_is_unknown_does_not_keep_the_others_from_being_installed() {
        let installed = std::cell::RefCell::new(Vec::new());
        let install = |some: &[&str]| {
            if some.contains(&"diod") {
                bail!("unable to locate package diod");
            }
            installed.borrow_mut().extend(some.iter().map(|&name| name.to_owned()));
            Ok(())
        };
        assert_eq!(refused(&["gcc", "diod", "golang"], install), ["diod"]);
        assert_eq!(*installed.borrow(), ["gcc", "golang"]);
        assert!(refused(&["gcc"], |_| Ok(())).is_empty());
    }

    #[test]
    fn what_cannot_be_had_does_not_keep_the_rest_from_being_prepared() {
        let folder = std::env::temp_dir().join(format!("xtask-setup-{}", std::process::id()));
        let steps: [Step; 3] = [
            ("one", |_| bail!("not here")),
            ("two", |folder| Ok(fs::create_dir(folder)?)),
            ("three", |_| bail!("nor this")),
        ];
        let failed = failing(&steps, &folder);
        fs::remove_dir(&folder).expect("the second step has made it");
        assert_eq!(failed, ["one", "three"]);
    }

    #[test]
    fn an_argument_that_is_none_is_told() {
        for wrong in [&["--benches"][..], &["--bench", "all"]] {
            let words: Vec<String> = wrong.iter().map(|&word| word.to_owned()).collect();
            let error = run(&words).unwrap_err().to_string();
            assert_eq!(error, format!("unexpected argument '{}'", wrong[wrong.len() - 1]));
        }
    }
}
