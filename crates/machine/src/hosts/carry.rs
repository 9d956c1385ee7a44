//! The program carries itself: a host that lacks this build gets it through its session.
//!
//! A build is known by the BLAKE3 hash of its file. On a host it is kept in the user's cache, under
//! a name with the hash, and asked there whether it is what its name says. It is written beside,
//! asked, and then renamed into place: who looks meanwhile finds all of it or nothing, also where
//! hosts share the cache.

use super::MARK;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// This program, as it is sent.
#[derive(Clone, Debug)]
pub struct Build {
    /// Its hash, in hexadecimal.
    pub hash: String,
    /// Its bytes.
    pub size: u64,
    /// For which machines it is, as `uname -sm` names them.
    pub machine: String,
}

/// Where this process's program is, also when its name is gone.
pub const PROGRAM: &str = "/proc/self/exe";

impl Build {
    /// That of this process.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn own() -> io::Result<Build> {
        let (hash, size) = hash(Path::new(PROGRAM))?;
        let known = rustix::system::uname();
        let words = [known.sysname(), known.machine()].map(|word| word.to_string_lossy());
        Ok(Build { hash, size, machine: words.join(" ") })
    }

    /// The command that runs this build on a host, for `sh`. It says whether the host has it, and
    /// for which machine the host is; where it is missing, it reads a line and the program, and
    /// says what came of that. No part of it is secret, and nothing of it needs quoting but the
    /// whole.
    pub fn command(&self) -> String {
        let Build { hash, size, .. } = self;
        format!(
            "umask 077; d=${{XDG_CACHE_HOME:-$HOME/.cache}}/muster; f=$d/muster-{hash}; \
             if [ \"$(\"$f\" daemon verify {hash} 2>/dev/null)\" = {hash} ]; \
             then echo \"{MARK}has $(uname -sm)\"; \
             else echo \"{MARK}lacks $(uname -sm)\"; read -r go || exit 1; t=$f.$(uname -n).$$; \
             mkdir -p \"$d\" && head -c {size} >\"$t\" && chmod 700 \"$t\" && \
             [ \"$(\"$t\" daemon verify {hash})\" = {hash} ] && \
             {{ sync \"$t\" 2>/dev/null || :; }} && mv -f \"$t\" \"$f\" || \
             {{ rm -f \"$t\"; echo \"{MARK}broken $d\"; exit 1; }}; \
             echo \"{MARK}has it\"; fi; exec \"$f\" daemon host"
        )
    }
}

/// Whether this process runs the build of that hash.
///
/// # Errors
/// When its program cannot be read.
pub fn verify(asked: &str) -> io::Result<bool> {
    Ok(hash(Path::new(PROGRAM))?.0 == asked)
}

fn hash(path: &Path) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let (mut hasher, mut size) = (blake3::Hasher::new(), 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((hasher.finalize().to_hex().to_string(), size)),
            count => {
                hasher.update(&buffer[..count]);
                size += count as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_being_quoted_whole() {
        let build = Build::own().expect("we run");
        assert!(verify(&build.hash).expect("it is read") && !verify("0").expect("it is read"));
        let command = build.command();
        // In single quotes for any login shell; csh minds newlines and exclamation marks there.
        assert!(!command.contains(['\'', '\n', '!']), "{command}");
    }
}
