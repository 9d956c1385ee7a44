//! Makes a number of all sources that the program is built of, `MUSTER_SOURCES`: what runs on hosts
//! of another processor is another file, and has to be of the same.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files, from that of all crates on.
const SOURCES: [&str; 8] = [
    "base",
    "ninep",
    "fabric",
    "fabric/keys.toml",
    "machine",
    "cli",
    "../Cargo.toml",
    "../Cargo.lock",
];

/// FNV-1a of 64 bits: nobody is to be kept from making two that are equal.
struct Number(u64);

impl Number {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        // Where one ends and the next begins counts, too.
        self.0 = (self.0 ^ bytes.len() as u64).wrapping_mul(0x0100_0000_01b3);
    }
}

fn main() {
    let mut number = Number(0xcbf2_9ce4_8422_2325);
    let crates = PathBuf::from("..");
    for name in SOURCES {
        let path = crates.join(name);
        let path = if path.is_dir() { path.join("src") } else { path };
        println!("cargo::rerun-if-changed={}", path.display());
        add(&mut number, &path);
    }
    println!("cargo::rustc-env=MUSTER_SOURCES={:016x}", number.0);
}

/// Adds a file, or all that are in a folder by the order of their names.
fn add(number: &mut Number, path: &Path) {
    if !path.is_dir() {
        number.add(path.to_string_lossy().as_bytes());
        let read = fs::read(path);
        number.add(&read.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        return;
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    all.sort();
    all.iter().for_each(|path| add(number, path));
}
