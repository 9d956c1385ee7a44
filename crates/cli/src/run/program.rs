//! What is to be run: a name that the nodes know, or a file here that goes along with the job.

use super::failure::{Failure, exit};
use rustix::fs::{Access, access};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// This machine's processor, by the kernel's name.
pub const HERE: &str = match std::env::consts::ARCH.as_bytes() {
    b"x86" => "i686",
    b"powerpc64" => "ppc64",
    _ => std::env::consts::ARCH,
};

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A name or path that only means something on the nodes.
    There(String),
    /// A file here, and the processor it is built for, if it is a binary.
    Here(PathBuf, Option<&'static str>),
}

/// Looks for the program that the user named.
///
/// # Errors
/// It is not there (127) or cannot be run (126).
pub fn find(named: &str, send: bool) -> Result<Program, Failure> {
    if !send || !named.contains('/') {
        return Ok(Program::There(named.to_owned()));
    }
    let path = Path::new(named);
    let not_executable = |why: &str| Failure::new("E103", exit::NOT_EXECUTABLE, why);
    let meta = path.metadata().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            let text = format!(
                "{named}: not found here. A program with a slash is sent from here; for one that \
                 is on the nodes add --no-send"
            );
            Failure::new("E101", exit::NOT_FOUND, text)
        }
        _ => not_executable(&format!("{named}: {}", super::said(&error))),
    })?;
    if meta.is_dir() {
        return Err(not_executable(&format!("{named} is a directory, not a program")));
    }
    if !meta.is_file() || access(path, Access::EXEC_OK).is_err() {
        let text = format!("{named} is not executable. If it is a program: chmod +x {named}");
        return Err(not_executable(&text));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_end(&mut head));
    read.map_err(|error| not_executable(&format!("{named}: {}", super::said(&error))))?;
    Ok(Program::Here(path.to_owned(), machine(&head)))
}

/// What the first line of a script says shall run it.
pub fn interpreter(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(256).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line);
    text.split_ascii_whitespace().next().map(str::to_owned)
}

/// The processor an ELF file is for, by the kernel's name (`uname -m`).
fn machine(head: &[u8]) -> Option<&'static str> {
    if head.len() < 20 || !head.starts_with(b"\x7fELF") {
        return None;
    }
    let (wide, number) = (head[4] == 2, [head[18], head[19]]);
    // EI_DATA says in which order the machine's number is written.
    let number = if head[5] == 2 { u16::from_be_bytes(number) } else { u16::from_le_bytes(number) };
    Some(match (number, wide) {
        (3, _) => "i686",
        (62, _) => "x86_64",
        (40, _) => "arm",
        (183, _) => "aarch64",
        (243, true) => "riscv64",
        (21, _) => "ppc64",
        (22, _) => "s390x",
        (258, _) => "loongarch64",
        _ => return None,
    })
}

/// Whether a node of processor `node` runs a binary for `program`.
fn runs(node: &str, program: &str) -> bool {
    node == program
        || matches!((node, program), ("x86_64", "i686") | ("aarch64", "arm"))
        || (node.starts_with("ppc64") && program == "ppc64")
        || (node.starts_with("arm") && program == "arm")
}

/// Checks that all chosen nodes run a binary for `program`. `nodes` are names and processors.
///
/// # Errors
/// Which do not, and what can be done.
pub fn check(named: &str, program: &str, nodes: &[(String, String)]) -> Result<(), Failure> {
    let (can, cannot): (Vec<_>, Vec<_>) = nodes.iter().partition(|(_, node)| runs(node, program));
    let Some((_, other)) = cannot.first() else { return Ok(()) };
    let fold = |nodes: &[&(String, String)]| {
        muster_base::nodeset::fold(nodes.iter().map(|(name, _)| name.as_str()))
    };
    let is = if cannot.len() == 1 { "is" } else { "are" };
    let choice = match can.is_empty() {
        true => format!("Build it for {other}"),
        false => format!("Choose: -w {}", fold(&can)),
    };
    let text = format!("{named} is {program}, {} {is} {other}. {choice}", fold(&cannot));
    Err(Failure::new("E102", exit::NOT_EXECUTABLE, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_slash_are_for_the_nodes() {
        assert_eq!(find("hostname", true), Ok(Program::There("hostname".into())));
        assert_eq!(find("/opt/x", false), Ok(Program::There("/opt/x".into())));
    }

    #[test]
    fn files_are_looked_at() {
        let this = std::env::current_exe().unwrap();
        let named = this.to_str().unwrap();
        let expected = Program::Here(this.clone(), Some(HERE));
        assert_eq!(find(named, true), Ok(expected));
        for (named, code, said) in [
            ("./nothing/here", 127, "./nothing/here: not found here"),
            ("/proc", 126, "/proc is a directory"),
            ("/proc/version", 126, "chmod +x /proc/version"),
            ("/dev/null", 126, "not executable"),
        ] {
            let failure = find(named, true).unwrap_err();
            assert_eq!(failure.exit, code);
            assert!(failure.text.contains(said), "{failure}");
        }
    }

    #[test]
    fn another_processor_is_named() {
        let nodes = |arches: &[&str]| -> Vec<(String, String)> {
            arches.iter().enumerate().map(|(n, a)| (format!("n{n}"), (*a).to_owned())).collect()
        };
        assert_eq!(check("x", "x86_64", &nodes(&["x86_64", "x86_64"])), Ok(()));
        assert_eq!(check("x", "i686", &nodes(&["x86_64"])), Ok(()));
        let failure = check("heat", "x86_64", &nodes(&["x86_64", "x86_64", "aarch64"]));
        assert_eq!(
            failure.unwrap_err().to_string(),
            "heat is x86_64, n2 is aarch64. Choose: -w n[0-1]  [E102, exit 126]"
        );
        let failure = check("heat", "aarch64", &nodes(&["x86_64", "x86_64"]));
        assert_eq!(
            failure.unwrap_err().to_string(),
            "heat is aarch64, n[0-1] are x86_64. Build it for x86_64  [E102, exit 126]"
        );
    }
}
