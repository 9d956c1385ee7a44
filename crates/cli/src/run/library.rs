//! A program that was sent to a node where a shared library of its is missing: its loader says so
//! on stderr and ends with status 127, and which library that is, is what the user has to know.

use super::failure::{Failure, exit};
use muster_base::ending::Ending;
use muster_machine::manager::spec::Status;
use muster_ninep::client::Client;
use muster_ninep::tree::OpenFlags;

/// Bytes of stderr in which the loader's words are looked for: they come first.
const WORDS: u32 = 4096;

/// What the loaders of glibc and musl say before the library's name.
const MARKS: [&str; 2] =
    ["error while loading shared libraries: ", "Error loading shared library "];

/// The failure, if a rank's loader has told of one.
pub fn missing(client: &Client, status: &Status, named: &str) -> Option<Failure> {
    let is_loaders = |raw| Ending::of(raw) == Ending::Exited(exit::NOT_FOUND);
    let rank = status.ranks.iter().find(|rank| rank.status.is_some_and(is_loaders))?;
    let path = format!("jobs/{}/ranks/{}/stderr", status.id, rank.rank);
    let file = client.open(&path, OpenFlags::default()).ok()?.into_fid();
    let said = file.read_at(0, WORDS).ok()?;
    let library = library_in(&String::from_utf8_lossy(&said))?.to_owned();
    let node = &rank.node;
    let text = format!(
        "{named} needs the shared library {library}, which is not on {node}. Send it along: \
         --bcast /PATH/{library} --env LD_LIBRARY_PATH=."
    );
    Some(Failure::new("E105", exit::NOT_FOUND, text))
}

fn library_in(said: &str) -> Option<&str> {
    let rest = MARKS.iter().find_map(|mark| said.split_once(mark))?.1;
    let name = rest.split([':', '\n', ' ']).next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loaders_words_name_the_library() {
        let glibc = "./x: error while loading shared libraries: libq.so.6: cannot open shared \
                     object file: No such file or directory\n";
        assert_eq!(library_in(glibc), Some("libq.so.6"));
        let musl = "Error loading shared library libq.so: No such file (needed by ./x)\n";
        assert_eq!(library_in(musl), Some("libq.so"));
        assert_eq!(library_in("exit 127\n"), None);
    }
}
