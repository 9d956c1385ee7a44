//! `cargo xtask install --prefix DIR`: builds, and lays out what users need below DIR:
//!
//! ```text
//! bin/      muster, mpiexec, mpirun, mpicc, mpicc_abi, mpicxx, mpic++, mpifort, mpif77, mpif90
//! lib/      libmpi_abi.so.1, libmpi_abi.so, pkgconfig/mpi_abi.pc, pkgconfig/mpi.pc
//! include/  mpi.h, mpif.h, mpi.f90, mpi_f08.f90, muster_types.f90, muster_places.f90, muster.h
//! ```
//!
//! Nothing in it knows DIR: the tree may be moved.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::workspace::{Usage, cargo, check, root, target_dir};

/// What pkg-config says of the library, by both of its names.
const PACKAGE: &str = "prefix=${pcfiledir}/../..\n\n\
    Name: Muster MPI\n\
    Description: MPI 5.0 by its standard binary interface\n\
    Version: 5.0\n\
    Cflags: -I${prefix}/include\n\
    Libs: -L${prefix}/lib -Wl,--enable-new-dtags,-rpath,${prefix}/lib -lmpi_abi\n";

/// The command.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let [flag, prefix] = arguments else {
        return Err(Usage("--prefix DIR is wanted".into()).into());
    };
    if flag != "--prefix" {
        return Err(Usage(format!("unexpected argument '{flag}'")).into());
    }
    // The caller's directory is not ours: cargo starts us where it was started itself.
    install(&root()?, Path::new(prefix))?;
    Ok(ExitCode::SUCCESS)
}

/// Builds, and lays it out.
pub fn install(root: &Path, prefix: &Path) -> Result<()> {
    let packages = ["-p", "muster-cli", "-p", "muster-mpi-abi"];
    check(cargo(root).args(["build", "--release"]).args(packages))?;
    lay_out(root, &target_dir(root).join("release"), prefix)?;
    // Whoever uses the tree may not be allowed to write there, so `use mpi` is compiled now, where
    // there is a compiler for it.
    let _ = Command::new(prefix.join("bin/mpifort")).arg("-showme:compile").output();
    Ok(())
}

/// Copies what was built in one folder, and the checkout's own files, below another.
fn lay_out(root: &Path, built: &Path, prefix: &Path) -> Result<()> {
    let [bin, lib, include] = ["bin", "lib", "include"].map(|name| prefix.join(name));
    let packages = lib.join("pkgconfig");
    for folder in [&bin, &lib, &include, &packages] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    copy(&built.join("muster"), &bin.join("muster"))?;
    copy(&built.join("libmpi_abi.so"), &lib.join("libmpi_abi.so.1"))?;
    link("libmpi_abi.so.1", &lib.join("libmpi_abi.so"))?;
    for (from, to) in [(root.join("bin"), &bin), (root.join("include"), &include)] {
        for entry in fs::read_dir(&from)? {
            let (path, to) = {
                let entry = entry?;
                (entry.path(), to.join(entry.file_name()))
            };
            match fs::read_link(&path) {
                Ok(target) => link(&target, &to)?,
                Err(_) => copy(&path, &to)?,
            }
        }
    }
    for name in ["mpi_abi.pc", "mpi.pc"] {
        fs::write(packages.join(name), PACKAGE)?;
    }
    Ok(())
}

/// Copies a file over what is there. A new file takes its place: a program that runs keeps its own.
fn copy(from: &Path, to: &Path) -> Result<()> {
    remove(to)?;
    fs::copy(from, to)
        .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Makes a symbolic link in the place of what is there.
fn link(target: impl AsRef<Path>, place: &Path) -> Result<()> {
    remove(place)?;
    symlink(target, place).with_context(|| format!("cannot make the link {}", place.display()))
}

/// Removes a file, if it is there.
fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::output;
    use std::os::unix::fs::PermissionsExt;

    /// What a checkout's wrappers take, with these settings: the library's folder and the program.
    fn taken(checkout: &Path, settings: &[(&str, &Path)]) -> [String; 2] {
        [("mpicc", "-showme:libdirs"), ("mpiexec", "-n")].map(|(name, argument)| {
            let mut command = Command::new(checkout.join("bin").join(name));
            for other in ["MUSTER_LIB", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
                command.env_remove(other);
            }
            command.arg(argument).envs(settings.iter().copied());
            let said = output(&mut command).unwrap_or_else(|error| error.to_string());
            said.trim().replace(&format!("{}/", checkout.display()), "")
        })
    }

    #[test]
    fn a_checkouts_wrappers_take_what_is_where_cargo_is_told_to_build() {
        let root = root().expect("cargo runs tests");
        let checkout = std::env::temp_dir().join(format!("xtask-target-{}", std::process::id()));
        fs::create_dir_all(checkout.join("bin")).expect("a folder");
        for name in ["mpicc", "mpiexec"] {
            fs::copy(root.join("bin").join(name), checkout.join("bin").join(name)).expect("there");
        }
        for folder in ["target/release", "other/debug", "third"] {
            let folder = checkout.join(folder);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("libmpi_abi.so"), "").expect("a file");
            let program = folder.join("muster");
            fs::write(&program, "#!/bin/sh\necho \"$0\"\n").expect("a file");
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        let [other, third] = ["other", "third"].map(|name| checkout.join(name));
        let plain = taken(&checkout, &[]);
        let told = taken(&checkout, &[("CARGO_TARGET_DIR", &other)]);
        let relative = taken(&checkout, &[("CARGO_BUILD_TARGET_DIR", Path::new("other"))]);
        let [lib, _] = taken(&checkout, &[("CARGO_TARGET_DIR", &other), ("MUSTER_LIB", &third)]);
        fs::remove_dir_all(checkout.join("target")).expect("removed");
        fs::create_dir(checkout.join(".cargo")).expect("a folder");
        fs::write(checkout.join(".cargo/config.toml"), "[build]\ntarget-dir = \"other\"\n")
            .expect("a file");
        fs::write(checkout.join("Cargo.toml"), "[workspace]\n").expect("a file");
        let settings = taken(&checkout, &[]);
        fs::remove_dir_all(&checkout).expect("removed");
        assert_eq!(plain, ["target/release", "target/release/muster"]);
        let elsewhere = ["other/debug", "other/debug/muster"];
        assert_eq!([told, relative, settings], [elsewhere; 3]);
        assert_eq!(lib, "third");
    }

    #[test]
    fn a_checkout_that_may_not_be_written_has_a_library_to_link_with() {
        let root = root().expect("cargo runs tests");
        let checkout = std::env::temp_dir().join(format!("xtask-kept-{}", std::process::id()));
        let built = checkout.join("target/release");
        for folder in [&checkout.join("bin"), &checkout.join("may-not"), &built] {
            fs::create_dir_all(folder).expect("a folder");
        }
        fs::copy(root.join("bin/mpicc"), checkout.join("bin/mpicc")).expect("it is there");
        fs::write(built.join("libmpi_abi.so"), "").expect("a file");
        let refused = checkout.join("may-not/ln");
        fs::write(&refused, "#!/bin/sh\necho no >&2\nexit 1\n").expect("a file");
        fs::set_permissions(refused, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let path = std::env::var("PATH").expect("cargo was found by it");
        let path = format!("{}:{path}", checkout.join("may-not").display());
        let mut command = Command::new("sh");
        for other in ["MUSTER_LIB", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"] {
            command.env_remove(other);
        }
        command.arg(checkout.join("bin/mpicc")).arg("-showme:libdirs").env("PATH", path);
        let done = command.output();
        fs::remove_dir_all(&checkout).expect("removed");
        let done = done.expect("there is a shell");
        let [said, complaint] = [done.stdout, done.stderr].map(|it| String::from_utf8(it).unwrap());
        assert_eq!((said, &*complaint), (format!("{}\n", built.display()), ""));
    }

    #[test]
    fn an_installed_wrapper_finds_what_is_beside_it() {
        let root = root().expect("cargo runs tests");
        let place = std::env::temp_dir().join(format!("xtask-install-{}", std::process::id()));
        let built = place.join("built");
        fs::create_dir_all(&built).expect("a folder");
        for name in ["muster", "libmpi_abi.so"] {
            fs::write(built.join(name), name).expect("a file");
        }
        let prefix = place.join("prefix");
        lay_out(&root, &built, &prefix).expect("laid out");
        lay_out(&root, &built, &prefix).expect("and once more over it");
        let said = output(Command::new(prefix.join("bin/mpicxx")).args(["-show", "a.cc"]));
        let packages = prefix.join("lib/pkgconfig");
        let package = output(
            Command::new("pkg-config").env("PKG_CONFIG_PATH", &packages).args(["--libs", "mpi"]),
        );
        let library = fs::read_to_string(prefix.join("lib/libmpi_abi.so")).expect("the link leads");
        fs::remove_dir_all(&place).expect("removed");
        let (said, lib) = (said.expect("the wrapper runs"), prefix.join("lib"));
        let (include, lib) = (prefix.join("include"), lib.display());
        assert_eq!(
            said.trim(),
            format!(
                "c++ a.cc -I{} -L{lib} -Wl,--enable-new-dtags,-rpath,{lib} -lmpi_abi",
                include.display()
            )
        );
        assert!(package.expect("pkg-config runs").contains("-lmpi_abi"));
        assert_eq!(library, "libmpi_abi.so");
    }
}
