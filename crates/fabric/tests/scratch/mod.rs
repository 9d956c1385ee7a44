//! Programs that tests build: packages of their own, which depend on this crate.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a package of one source file in the tests' directory.
pub fn package(name: &str, file: &str, source: &str) -> PathBuf {
    let fabric = Path::new(env!("CARGO_MANIFEST_DIR"));
    let room = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(room.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\nmuster-fabric = {{ path = {fabric:?} }}\n\
         [profile.release]\ncodegen-units = 1\n"
    );
    fs::write(room.join("Cargo.toml"), manifest).unwrap();
    fs::write(room.join(file), source).unwrap();
    // The same versions as everywhere, so that nothing has to be fetched.
    fs::copy(fabric.join("../../Cargo.lock"), room.join("Cargo.lock")).unwrap();
    room
}

/// Runs cargo there: what is printed, or what it complains about.
pub fn cargo(
    room: &Path,
    arguments: &[&str],
    environment: &[(&str, &Path)],
) -> Result<String, String> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(room)
        .output()
        .expect("cargo can be started");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
}
