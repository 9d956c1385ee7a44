//! What is to be run: a name that the nodes know, or a file here that goes along with the job.

use super::failure::{Failure, exit};
use muster_base::elf::{self, Kind};
use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file that is a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// Where it is.
    pub path: PathBuf,
    /// The processor that it is built for, unless it is a script.
    pub arch: Option<&'static str>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A name or path that only means something on the nodes.
    There(String),
    /// A file here; or one for each processor, of which every node takes its own. There is at least
    /// one, and all of several tell their processors.
    Here(Vec<Binary>),
}

/// Looks for the program that the user named: a file of that name and, if it is a binary or there
/// is none, beside it those for other processors, `NAME.ARCH`.
///
/// # Errors
/// It is not there (127) or cannot be run (126).
pub fn find(named: &str, send: bool) -> Result<Program, Failure> {
    if !send || !named.contains('/') {
        return Ok(Program::There(named.to_owned()));
    }
    let mut binaries = Vec::new();
    if Path::new(named).symlink_metadata().is_ok() {
        binaries.push(look(named)?);
        if is_of_its_place(Path::new(named)) {
            let path = std::path::absolute(named).unwrap_or_else(|_| named.into());
            return Ok(Program::There(path.display().to_string()));
        }
    }
    if binaries.iter().all(|binary| binary.arch.is_some()) {
        for arch in elf::PROCESSORS {
            let beside = format!("{named}.{arch}");
            if Path::new(&beside).metadata().is_ok_and(|meta| meta.is_file()) {
                let binary = match (look(&beside), binaries.is_empty()) {
                    (Err(failure), true) => return Err(failure),
                    // It is something else that has such a name.
                    (Ok(Binary { arch: None, .. }) | Err(_), false) => continue,
                    (Ok(binary), _) => binary,
                };
                if binary.arch != Some(arch) {
                    let is = binary.arch.unwrap_or("no binary");
                    let text = format!("{beside} is {is}, though its name says {arch}. Rename it");
                    return Err(Failure::new("E102", exit::NOT_EXECUTABLE, text));
                }
                if !binaries.iter().any(|other| other.arch == binary.arch) {
                    binaries.push(binary);
                }
            }
        }
    }
    if binaries.is_empty() {
        // It says why there is none.
        binaries.push(look(named)?);
    }
    Ok(Program::Here(binaries))
}

/// Whether a program is nothing without what is around it, which it looks for by its own path: the
/// Python of a virtual environment, and libtool's script for a program that is not installed yet,
/// which runs `.libs/NAME` beside it.
fn is_of_its_place(path: &Path) -> bool {
    let around = path.ancestors().skip(1).take(2);
    let is_of_libtool = || {
        // It finds its place also where it is called by a link.
        let script = path.canonicalize().ok()?;
        let (folder, name) = (script.parent()?, script.file_name()?);
        Some(is_script(&script) && folder.join(".libs").join(name).is_file())
    };
    around.into_iter().any(|folder| folder.join("pyvenv.cfg").is_file())
        || is_of_libtool().unwrap_or(false)
}

fn is_script(path: &Path) -> bool {
    let mut head = [0; 2];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"#!"
}

fn look(named: &str) -> Result<Binary, Failure> {
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
    if !meta.is_file() || !is_executable(path, &meta) {
        let text = match meta.is_file() && meta.mode() & 0o111 != 0 {
            true => format!("{named} is executable for others only; see: ls -l {named}"),
            false => format!("{named} is not executable. If it is a program: chmod +x {named}"),
        };
        return Err(not_executable(&text));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_end(&mut head));
    read.map_err(|error| not_executable(&format!("{named}: {}", super::said(&error))))?;
    Ok(Binary { path: path.to_owned(), arch: Kind::of(&head).and_then(Kind::processor) })
}

/// Whether a file is meant to be executed: where it is here nothing may be if that is mounted
/// noexec, but nodes have it elsewhere.
fn is_executable(path: &Path, meta: &Metadata) -> bool {
    let is_noexec = || {
        let stat = statvfs(path);
        stat.is_ok_and(|stat| stat.f_flag.contains(StatVfsMountFlags::NOEXEC))
    };
    access(path, Access::EXEC_OK).is_ok() || meta.mode() & 0o111 != 0 && is_noexec()
}

/// Whether a script has lines for sbatch, which stand before its commands.
pub fn is_for_sbatch(path: &Path) -> bool {
    let mut head = Vec::new();
    let mut read = || File::open(path).and_then(|file| file.take(4096).read_to_end(&mut head));
    let is_line = |line: &[u8]| line.starts_with(b"#SBATCH");
    read().is_ok() && head.starts_with(b"#!") && head.split(|byte| *byte == b'\n').any(is_line)
}

/// Whether the kernel would not know what to run a file with, and a shell that is told to run it
/// takes it for a script of its own.
pub fn is_bare_script(path: &Path) -> bool {
    let mut head = Vec::new();
    let mut read = || File::open(path).and_then(|file| file.take(256).read_to_end(&mut head));
    path.is_file() && read().is_ok() && !head.starts_with(b"#!") && !head.contains(&0)
}

/// Checks that each of the chosen nodes runs one of these binaries. `nodes` are names and
/// processors.
///
/// # Errors
/// Which do not, and what can be done.
pub fn check(named: &str, binaries: &[Binary], nodes: &[(String, String)]) -> Result<(), Failure> {
    let programs: Vec<&str> = binaries.iter().filter_map(|binary| binary.arch).collect();
    let runs = |node: &str| match programs[..] {
        [] => true,
        [one] => elf::runs(node, one),
        // A node takes what has its processor's name.
        ref several => several.contains(&node),
    };
    let (can, cannot): (Vec<_>, Vec<_>) = nodes.iter().partition(|(_, node)| runs(node));
    let Some((_, other)) = cannot.first() else { return Ok(()) };
    let fold = |nodes: &[&(String, String)]| {
        muster_base::nodeset::fold(nodes.iter().map(|(name, _)| name.as_str()))
    };
    let are = |nodes: &[&(String, String)]| if nodes.len() == 1 { "is" } else { "are" };
    let alike: Vec<&(String, String)> =
        cannot.iter().copied().filter(|(_, node)| node == other).collect();
    let choice = match can.is_empty() {
        true => format!("Build it for {other}"),
        false => format!("Choose: -w {}; or put {named}.{other} beside it", fold(&can)),
    };
    let (nodes, are) = (fold(&alike), are(&alike));
    let text = format!("{named} is {}, {nodes} {are} {other}. {choice}", programs.join(" and "));
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
    fn the_python_of_a_virtual_environment_stays_there() {
        let home = std::env::temp_dir().join(format!("muster-venv-{}", std::process::id()));
        std::fs::create_dir_all(home.join("bin")).unwrap();
        let python = home.join("bin/python");
        std::os::unix::fs::symlink("/bin/sh", &python).unwrap();
        let named = python.to_str().unwrap();
        let alone = find(named, true);
        std::fs::write(home.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        let there = find(named, true);
        std::fs::remove_dir_all(&home).unwrap();
        assert!(matches!(alone, Ok(Program::Here(_))), "{alone:?}");
        assert_eq!(there, Ok(Program::There(named.to_owned())));
    }

    #[test]
    fn files_are_looked_at() {
        let this = std::env::current_exe().unwrap();
        let named = this.to_str().unwrap();
        let expected = Program::Here(vec![Binary { path: this.clone(), arch: Some(elf::HERE) }]);
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

    /// A file that begins like a binary for a processor of this number.
    fn binary(path: &Path, number: u8) {
        use std::os::unix::fs::PermissionsExt;
        let mut head = b"\x7fELF\x02\x01\x01".to_vec();
        head.resize(64, 0);
        head[18] = number;
        std::fs::write(path, head).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn those_for_other_processors_are_found_beside_it() {
        let home = std::env::temp_dir().join(format!("muster-arches-{}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        let named = home.join("heat").to_str().unwrap().to_owned();
        let arches = || match find(&named, true).expect("programs") {
            Program::Here(all) => all.iter().map(|one| one.arch.unwrap()).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        binary(&home.join("heat.aarch64"), 183);
        assert_eq!(arches(), ["aarch64"]);
        binary(&home.join("heat.x86_64"), 62);
        assert_eq!(arches(), ["aarch64", "x86_64"]);
        // The one that was named comes first, and is the one for its processor.
        binary(&home.join("heat"), 62);
        assert_eq!(arches(), ["x86_64", "aarch64"]);
        binary(&home.join("heat.x86_64"), 183);
        let said = find(&named, true).unwrap_err().to_string();
        let what = "is aarch64, though its name says x86_64. Rename it  [E102, exit 126]";
        assert!(said.ends_with(what), "{said}");
        // Something else that has such a name, beside a program that is there.
        std::fs::write(home.join("heat.x86_64"), "how it is built\n").unwrap();
        assert_eq!(arches(), ["x86_64", "aarch64"]);
        // A script is for all.
        std::fs::write(home.join("heat"), "#!/bin/sh\n").unwrap();
        assert!(matches!(find(&named, true), Ok(Program::Here(all)) if all.len() == 1));
        std::fs::remove_dir_all(&home).unwrap();
    }

    #[test]
    fn what_libtool_has_made_is_run_in_its_place() {
        let home = std::env::temp_dir().join(format!("muster-libtool-{}", std::process::id()));
        std::fs::create_dir_all(home.join(".libs")).unwrap();
        let named = home.join("ring").to_str().unwrap().to_owned();
        binary(&home.join(".libs/ring"), 62);
        binary(&home.join("ring"), 62);
        // A program that needs no library from there has none of libtool's scripts.
        assert!(matches!(find(&named, true), Ok(Program::Here(_))));
        std::fs::write(&named, "#! /bin/sh\n").unwrap();
        assert_eq!(find(&named, true), Ok(Program::There(named.clone())));
        let link = home.join("link").to_str().unwrap().to_owned();
        std::os::unix::fs::symlink("ring", &link).unwrap();
        assert_eq!(find(&link, true), Ok(Program::There(link)));
        std::fs::remove_file(home.join(".libs/ring")).unwrap();
        assert!(matches!(find(&named, true), Ok(Program::Here(_))));
        std::fs::remove_dir_all(&home).unwrap();
    }

    #[test]
    fn another_processor_is_named() {
        let check = |named: &str, arches: &[&'static str], nodes: &[(String, String)]| {
            let binary = |arch| Binary { path: PathBuf::new(), arch: Some(arch) };
            let binaries: Vec<Binary> = arches.iter().copied().map(binary).collect();
            super::check(named, &binaries, nodes)
        };
        let nodes = |arches: &[&str]| -> Vec<(String, String)> {
            arches.iter().enumerate().map(|(n, a)| (format!("n{n}"), (*a).to_owned())).collect()
        };
        assert_eq!(check("x", &["x86_64"], &nodes(&["x86_64", "x86_64"])), Ok(()));
        assert_eq!(check("x", &["i686"], &nodes(&["x86_64"])), Ok(()));
        let failure = check("heat", &["x86_64"], &nodes(&["x86_64", "x86_64", "aarch64"]));
        assert_eq!(
            failure.unwrap_err().to_string(),
            "heat is x86_64, n2 is aarch64. Choose: -w n[0-1]; or put heat.aarch64 beside it  \
             [E102, exit 126]"
        );
        let failure = check("heat", &["aarch64"], &nodes(&["x86_64", "x86_64"]));
        assert_eq!(
            failure.unwrap_err().to_string(),
            "heat is aarch64, n[0-1] are x86_64. Build it for x86_64  [E102, exit 126]"
        );
        let both = ["x86_64", "aarch64"];
        assert_eq!(check("heat", &both, &nodes(&both)), Ok(()));
        let failure = check("heat", &both, &nodes(&["x86_64", "arm", "riscv64", "arm"]));
        assert_eq!(
            failure.unwrap_err().to_string(),
            "heat is x86_64 and aarch64, n[1,3] are arm. Choose: -w n0; or put heat.arm beside it  \
             [E102, exit 126]"
        );
    }
}
