//! A program that was sent to a node where a shared library of its is missing, or older than what
//! it was built with: its loader says so on stderr and ends. What is to be done about it is what
//! the user has to know.

use super::failure::{Failure, exit};
use muster_base::ending::Ending;
use muster_machine::manager::spec::Status;
use muster_machine::node::LIBRARIES;
use muster_ninep::client::Client;
use muster_ninep::tree::OpenFlags;

/// Bytes of stderr in which the loader's words are looked for: they come first.
const WORDS: u32 = 4096;

/// What the loaders of glibc and musl say before the library's name.
const MISSING: [&str; 2] =
    ["error while loading shared libraries: ", "Error loading shared library "];

/// What they say behind it if it may not be executed.
const UNMAPPED: [&str; 2] =
    ["failed to map segment from shared object", "Operation not permitted (needed by"];

/// With what status a loader ends that finds a library too old; without one, it is 127.
const TOO_OLD: u8 = 1;

/// What the loader lacks.
#[derive(Debug, PartialEq, Eq)]
enum Lack<'a> {
    /// A library.
    Library(&'a str),
    /// Leave to execute what is in one that is there.
    Leave(&'a str),
    /// A version of one that is there, and who needs it.
    Version(&'a str, &'a str, &'a str),
}

/// The failure, if a rank's loader has told of one.
pub fn lacking(client: &Client, status: &Status, named: &str) -> Option<Failure> {
    // After all other jobs the manager is spared the question: it may have to look through their
    // output for the answer.
    let code = status.exit.filter(|code| [exit::NOT_FOUND, TOO_OLD].contains(code))?;
    let is_loaders = |raw| Ending::of(raw) == Ending::Exited(code);
    let rank = status.ranks.iter().find(|rank| rank.status.is_some_and(is_loaders))?;
    let path = format!("jobs/{}/ranks/{}/stderr", status.id, rank.rank);
    let file = client.open(&path, OpenFlags::default()).ok()?.into_fid();
    let said = file.read_at(0, WORDS).ok()?;
    let said = String::from_utf8_lossy(&said);
    let node = &rank.node;
    let (id, text) = match lack_in(code, &said)? {
        Lack::Library(library) => {
            let needs = format!("{named} needs the shared library {library}");
            ("E105", format!("{needs}, which is not on {node}. Send it along: --bcast-libs"))
        }
        Lack::Leave(library) => {
            let text = format!("{named} cannot load {library}: where it is on {node} is mounted");
            ("E109", format!("{text} noexec. Send it along: --bcast-libs"))
        }
        Lack::Version(_, version, by) if by.split('/').any(|part| part == LIBRARIES) => {
            let name = by.rsplit('/').next().unwrap_or(by);
            let needs = format!("{name}, which was sent along, needs {version}");
            ("E108", format!("{needs}, which {node} has not. Run {named} without --bcast-libs"))
        }
        Lack::Version(library, version, _) if is_of_libc(library) => {
            let needs = format!("{named} needs {version}, and the C library of {node} is older");
            ("E108", format!("{needs}. Build it on a system as old, or link it statically"))
        }
        Lack::Version(library, version, _) => {
            let needs = format!("{named} needs {version}, and {library} of {node} is older");
            ("E105", format!("{needs}. Send yours along: --bcast-libs"))
        }
    };
    Some(Failure::new(id, code, text))
}

fn is_of_libc(library: &str) -> bool {
    ["libc.so.", "libm.so.", "ld-linux"].iter().any(|start| library.starts_with(start))
}

fn lack_in(code: u8, said: &str) -> Option<Lack<'_>> {
    if code == exit::NOT_FOUND {
        let (_, rest) = MISSING.iter().find_map(|mark| said.split_once(mark))?;
        let name = rest.split([':', '\n', ' ']).next().filter(|name| !name.is_empty())?;
        let line = rest.lines().next()?;
        let is_there = UNMAPPED.iter().any(|words| line.contains(words));
        return Some(if is_there { Lack::Leave(name) } else { Lack::Library(name) });
    }
    // PROGRAM: /PATH/LIBRARY: version `VERSION' not found (required by FILE)
    let line = said.lines().find(|line| line.contains("' not found (required by "))?;
    let (before, rest) = line.split_once(": version `")?;
    let library = before.rsplit(['/', ' ']).next()?;
    let by = rest.split_once("(required by ")?.1.trim_end_matches(')');
    (code == TOO_OLD).then_some(Lack::Version(library, rest.split('\'').next()?, by))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_words_name_the_library() {
        let glibc = "./x: error while loading shared libraries: libq.so.6: cannot open shared \
                     object file: No such file or directory\n";
        assert_eq!(lack_in(127, glibc), Some(Lack::Library("libq.so.6")));
        let musl = "Error loading shared library libq.so: No such file (needed by ./x)\n";
        assert_eq!(lack_in(127, musl), Some(Lack::Library("libq.so")));
        for said in [
            "./x: error while loading shared libraries: libq.so: failed to map segment from shared \
             object\n",
            "Error loading shared library libq.so: Operation not permitted (needed by ./x)\n",
        ] {
            assert_eq!(lack_in(127, said), Some(Lack::Leave("libq.so")));
        }
        assert_eq!(lack_in(127, "exit 127\n"), None);
        assert_eq!(lack_in(1, glibc), None);
    }

    #[test]
    fn the_loaders_words_name_the_version_that_is_too_new() {
        let said = "./x: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found \
                    (required by ./x)\n";
        let lack = Lack::Version("libc.so.6", "GLIBC_2.38", "./x");
        assert_eq!(lack_in(1, said), Some(lack));
        let said = "./x: /lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./x)";
        let lack = lack_in(1, said);
        assert_eq!(lack, Some(Lack::Version("libstdc++.so.6", "GLIBCXX_3.4.32", "./x")));
        // Somebody else's words.
        assert_eq!(lack_in(3, said), None);
        assert!(is_of_libc("libc.so.6") && !is_of_libc("libstdc++.so.6"));
        assert_eq!(lack_in(1, "file 'x' not found (required by you)"), None);
    }
}
