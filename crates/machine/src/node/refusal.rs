//! Why a program cannot be run, in words that say what to do about it.

use super::noexec::{self, LINE_MAX};
use super::processor::{head_of, processor_of};
use super::session::Session;
use super::shepherd::Stage;
use muster_base::elf::{self, Kind};
use muster_ninep::error::{Errno, Error, number};
use std::path::Path;

/// Says why a program could not be run, as the shell's exit codes tell it apart.
pub(super) fn refusal(session: &Session, stage: Stage, errno: i32, what: &str) -> Error {
    let errno = number(errno);
    let reason = Error::from(errno).text;
    let node = session.node.upgrade();
    let setup = node.as_ref().map(|node| &node.setup);
    let node = setup.map_or("its node", |setup| setup.name.as_str());
    // Told as it was named, not where the session has it.
    let fs = session.directory.to_string_lossy();
    let named = match what.strip_prefix(&*fs) {
        Some(inside) => format!(".{inside}"),
        None => what.to_owned(),
    };
    let text = match (stage, errno) {
        (Stage::Exec, Errno::NOENT) if named.contains('/') => match lacks(Path::new(what), node) {
            Some(lacks) => format!("{named}: {lacks}  [E103, exit 127]"),
            None => format!("{named}: not found on {node}  [E101, exit 127]"),
        },
        (Stage::Exec, Errno::NOENT) => {
            format!("{named}: not found on {node} (searched its PATH)  [E101, exit 127]")
        }
        (Stage::Exec, Errno::NOEXEC) => {
            let arch = setup.map_or("another", |setup| setup.processor.name.as_str());
            let none = format!("{named}: no program that {node} ({arch}) can run");
            match processor_of(Path::new(what)) {
                Some(program) if !elf::runs(arch, program) => {
                    format!(
                        "{named} is for {program}, and {node} is {arch}. Choose other nodes, or \
                         send one for {arch}  [E102, exit 126]"
                    )
                }
                Some(_) => format!("{none}  [E102, exit 126]"),
                None => format!(
                    "{none}. If it is a script, its first line must name its interpreter, as \
                     #!/bin/sh  [E102, exit 126]"
                ),
            }
        }
        (Stage::Exec, _) => {
            let said = format!("{named}: cannot be run on {node}");
            match noexec::reason(Path::new(what)) {
                Some(mount) => format!(
                    "{said}: {mount} is mounted noexec there. Send it along, or name one that is \
                     elsewhere  [E109, exit 126]"
                ),
                None => format!("{said}: {reason}  [E103, exit 126]"),
            }
        }
        (Stage::Directory, _) => {
            format!("{named}: no working directory on {node}: {reason}  [E107, exit 125]")
        }
        // Of what is short now there may be enough later.
        (Stage::Namespace, errno) if !matches!(errno, Errno::AGAIN | Errno::NOMEM) => {
            format!("{node} grants the program no namespaces: {reason}  [E307, exit 125]")
        }
        _ => format!("{node} cannot prepare the process: {named}: {reason}  [E107, exit 125]"),
    };
    Error::new(errno, text)
}

/// What a program that is there lacks, as it is said to be not found.
fn lacks(program: &Path, node: &str) -> Option<String> {
    let head = head_of(program, LINE_MAX)?;
    let Some(line) = head.strip_prefix(b"#!") else {
        return Kind::of(&head).map(|_| {
            format!(
                "the loader of shared libraries that it was built for is not on {node}. Link it \
                 statically, or choose other nodes"
            )
        });
    };
    // As the kernel reads it: a carriage return is part of the name.
    let line = line.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let name = line.split([' ', '\t']).find(|word| !word.is_empty())?;
    Some(match name.strip_suffix('\r') {
        Some(meant) => format!(
            "its first line ends in a carriage return, so its interpreter is not {meant}. Write \
             it with the line ends of Unix"
        ),
        None if Path::new(name).exists() => {
            format!("its interpreter {name} lacks something on {node} itself. Run that there")
        }
        None => format!(
            "its interpreter {name} is not on {node}. Change its first line, or choose other nodes"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn what_a_program_lacks_is_told_apart() {
        let home = Scratch::new("lacks");
        let said = |content: &[u8]| lacks(&home.file("x", content), "n3").unwrap_or_default();
        assert_eq!(
            said(b"#! /no/such\t-x\necho\n"),
            "its interpreter /no/such is not on n3. Change its first line, or choose other nodes"
        );
        let windows = said(b"#!/bin/sh\r\necho\r\n");
        assert!(
            windows.contains("carriage return, so its interpreter is not /bin/sh."),
            "{windows}"
        );
        assert!(said(b"#!/bin/sh\n").starts_with("its interpreter /bin/sh lacks something on n3"));
        assert!(said(&std::fs::read("/proc/self/exe").unwrap()).starts_with("the loader of"));
        assert_eq!(said(b"echo\n"), "");
        assert_eq!(lacks(&home.join("none"), "n3"), None);
        assert_eq!(lacks(&home, "n3"), None, "a directory");
    }
}
