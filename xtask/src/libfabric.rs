//! The libfabric that tests and benchmarks use: 2.1, from Debian's source package, because older
//! releases of Debian have older ones. It has only the providers that need no hardware.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::conformance::DEBIAN_SOURCE;
use crate::workspace::{check, output, target_dir};

/// The upstream part of Debian 13's source package, and its checksum there.
const ARCHIVE: &str = "libfabric_2.1.0.orig.tar.xz";
const SHA256: &str = "1a66369772d5bb151737214af1c478993e969cf298e8f9ed369e7a2ab8d8c6df";

/// What is left out, above all what would search for devices when the library is opened.
const WITHOUT: [&str; 20] = [
    "psm2",
    "psm3",
    "sockets",
    "verbs",
    "efa",
    "cxi",
    "usnic",
    "udp",
    "rxm",
    "mrail",
    "rxd",
    "sm2",
    "ucx",
    "lpp",
    "perf",
    "trace",
    "profile",
    "hook_debug",
    "hook_hmem",
    "lnx",
];

/// Builds it into `peers/libfabric` of the target directory, once.
pub fn build(root: &Path) -> Result<()> {
    let peers = target_dir(root).join("peers");
    let (folder, work) = (peers.join("libfabric"), peers.join("libfabric.build"));
    let stamp = folder.join("checksum");
    if fs::read_to_string(&stamp).is_ok_and(|built| built == SHA256) {
        return Ok(());
    }
    eprintln!("setup: building libfabric 2.1");
    for old in [&folder, &work] {
        if old.exists() {
            fs::remove_dir_all(old).with_context(|| format!("removing {}", old.display()))?;
        }
    }
    fs::create_dir_all(&work).with_context(|| format!("creating {}", work.display()))?;
    let mut fetch = Command::new(root.join(DEBIAN_SOURCE));
    check(fetch.args(["libfabric", ARCHIVE, SHA256]).arg(work.join("source.tar.xz")))?;
    // What they say is only of interest when they fail, and then at its end.
    let run = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        output(command.args(arguments).current_dir(&work)).map(drop)
    };
    run("tar", &["--strip-components=1", "-xf", "source.tar.xz"])?;
    run("autoreconf", &["-i"])?;
    let mut options = vec![format!("--prefix={}", folder.display())];
    options.extend(WITHOUT.map(|what| format!("--enable-{what}=no")));
    let monitors = ["kdreg2", "memhooks-monitor", "uffd-monitor", "static"];
    options.extend(monitors.map(|what| format!("--disable-{what}")));
    options.extend(["--enable-opx=no", "--with-uring=no"].map(str::to_owned));
    run("./configure", &options.iter().map(String::as_str).collect::<Vec<_>>())?;
    let jobs = format!("-j{}", std::thread::available_parallelism().map_or(1, usize::from));
    run("make", &[&jobs, "src/libfabric.la"])?;
    run("make", &["install-libLTLIBRARIES", "install-rdmaincludeHEADERS"])?;
    fs::remove_dir_all(&work).with_context(|| format!("removing {}", work.display()))?;
    fs::write(&stamp, SHA256).with_context(|| format!("writing {}", stamp.display()))
}
