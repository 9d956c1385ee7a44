//! A program that was sent to a node where a shared library of its is missing, or older than what
//! it was built with: its loader says so on stderr and ends. What is to be done about it is what
//! the user has to know.

use super::failure::{Failure, exit};
use muster_base::ending::Ending;
use muster_machine::manager::spec::Status;
use muster_ninep::client::Client;
use muster_ninep::tree::OpenFlags;

/// Bytes of stderr in which the loader's words are looked for: they come first.
const WORDS: u32 = 4096;

/// What the loaders of glibc and musl say before the library's name.
const MISSING: [&str; 2] =
    ["error while loading shared libraries: ", "Error loading shared library "];

/// With what status loaders end: without a library, and with one that is too old.
const STATUSES: [u8; 2] = [exit::NOT_FOUND, 1];

/// What the loader lacks.
#[derive(Debug, PartialEq, Eq)]
enum Lack<'a> {
    /// A library.
    Library(&'a str),
    /// A version of one that is there.
    Version(&'a str, &'a str),
}

/// The failure, if a rank's loader has told of one.
pub fn lacking(client: &Client, status: &Status, named: &str) -> Option<Failure> {
    let code = status.exit.filter(|code| STATUSES.contains(code))?;
    let is_loaders = |raw| Ending::of(raw) == Ending::Exited(code);
    let rank = status.ranks.iter().find(|rank| rank.status.is_some_and(is_loaders))?;
    let path = format!("jobs/{}/ranks/{}/stderr", status.id, rank.rank);
    let file = client.open(&path, OpenFlags::default()).ok()?.into_fid();
    let said = file.read_at(0, WORDS).ok()?;
    let said = String::from_utf8_lossy(&said);
    let node = &rank.node;
    let (id, text) = match lack_in(&said)? {
        Lack::Library(library) => {
            let needs = format!("{named} needs the shared library {library}");
            ("E105", format!("{needs}, which is not on {node}. Send it along: --bcast-libs"))
        }
        Lack::Version(library, version) if is_of_libc(library) => {
            let needs = format!("{named} needs {version}, and the C library of {node} is older");
            ("E108", format!("{needs}. Build it on a system as old, or link it statically"))
        }
        Lack::Version(library, version) => {
            let needs = format!("{named} needs {version}, and {library} of {node} is older");
            ("E105", format!("{needs}. Send yours along: --bcast-libs"))
        }
    };
    Some(Failure::new(id, code, text))
}

fn is_of_libc(library: &str) -> bool {
    ["libc.so.", "libm.so.", "ld-linux"].iter().any(|start| library.starts_with(start))
}

fn lack_in(said: &str) -> Option<Lack<'_>> {
    if let Some((_, rest)) = MISSING.iter().find_map(|mark| said.split_once(mark)) {
        let name = rest.split([':', '\n', ' ']).next()?;
        return (!name.is_empty()).then_some(Lack::Library(name));
    }
    // PROGRAM: /PATH/LIBRARY: version `VERSION' not found (required by FILE)
    let line = said.lines().find(|line| line.contains("' not found (required by "))?;
    let (before, rest) = line.split_once(": version `")?;
    let library = before.rsplit(['/', ' ']).next()?;
    Some(Lack::Version(library, rest.split('\'').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_words_name_the_library() {
        let glibc = "./x: error while loading shared libraries: libq.so.6: cannot open shared \
                     object file: No such file or directory\n";
        assert_eq!(lack_in(glibc), Some(Lack::Library("libq.so.6")));
        let musl = "Error loading shared library libq.so: No such file (needed by ./x)\n";
        assert_eq!(lack_in(musl), Some(Lack::Library("libq.so")));
        assert_eq!(lack_in("exit 127\n"), None);
    }

    #[test]
    fn the_loaders_words_name_the_version_that_is_too_new() {
        let said = "./x: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found \
                    (required by ./x)\n";
        assert_eq!(lack_in(said), Some(Lack::Version("libc.so.6", "GLIBC_2.38")));
        let said = "./x: /lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./x)";
        let lack = lack_in(said);
        assert_eq!(lack, Some(Lack::Version("libstdc++.so.6", "GLIBCXX_3.4.32")));
        assert!(is_of_libc("libc.so.6") && !is_of_libc("libstdc++.so.6"));
        assert_eq!(lack_in("file 'x' not found (required by you)"), None);
    }
}
