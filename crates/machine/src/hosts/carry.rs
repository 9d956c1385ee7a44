//! The program carries itself: a host that lacks this build gets it through its session. A host of
//! another processor gets the one for that, which lies beside this one: `muster.aarch64`. The MPI
//! library goes along where it lies with the program ([`library`]): ranks on hosts need it as well,
//! and nothing is installed there.
//!
//! A build is known by the BLAKE3 hashes of its files. On a host it is kept in the user's cache,
//! under a name made of them, and asked there whether it is what its name says. It is written
//! beside, asked, and then gets its name, the library behind it: who finds only the program sends
//! both. Where hosts share the cache several may do that at once, and what is right is not
//! replaced, each of the two by itself: another host may run it already, and over NFS a file that
//! has lost its last name is gone for who has it mapped.

use super::MARK;
use crate::library::{self, CARRIED};
use muster_base::elf::{self, HERE, Kind, PROCESSORS};
use std::fmt::Write;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file, as it is sent.
#[derive(Clone, Debug)]
struct Sent {
    /// Its hash, in hexadecimal.
    hash: String,
    /// Its bytes.
    size: u64,
    /// It, whatever has its name by the time that it is sent.
    file: Arc<File>,
}

/// A program, and the MPI library that belongs to it, if there is one.
#[derive(Clone, Debug)]
struct Build {
    program: Sent,
    library: Option<Sent>,
}

/// For `sh`: whether a file is the user's, and nobody else may write to it.
const OWN_ALONE: &str = "o() { [ -O \"$1\" ] && \
    case \"$(ls -dlL \"$1\")\" in ?????-??-*) ;; *) false;; esac; }; ";

/// For `sh`: goes to the cache, the first that only the user can write to, and says on standard
/// error why it is not another; `e` is 0 if there is one.
const ENTER: &str = "a() { \
    for d in ${XDG_CACHE_HOME:+\"$XDG_CACHE_HOME/muster\"} \"$HOME/.cache/muster\"; do \
    mkdir -p \"$d\" && cd \"$d\" && { o . && return; \
    echo \"$d: it is not yours, or others can write to it\" >&2; }; done; return 1; }; a; e=$?; ";

/// In place of the hash of a library: there is none.
const NONE: &str = "none";

/// This program, and beside it those for hosts that cannot run it.
#[derive(Clone, Debug)]
pub struct Builds {
    /// What they are all made of.
    sources: String,
    /// For each processor what is sent there, if anything, or what is wrong with it.
    all: Vec<(&'static str, Result<Build, Wrong>)>,
    /// Where those beside are.
    folder: PathBuf,
}

/// Why there is no program for a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wrong {
    Missing,
    /// Its file is something else.
    Program(String),
    /// That of the library beside it is.
    Library(String),
}

/// What users call this process's program.
const OWN: &str = "the program";

/// Where this process's program is, also when its name is gone.
const PROGRAM: &str = "/proc/self/exe";

impl Builds {
    /// That of this process, and those beside its file, whatever links lead there; `sources` says
    /// what this one was built of.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn here(sources: &str) -> io::Result<Builds> {
        Builds::of(&std::fs::read_link(PROGRAM)?, sources)
    }

    /// As [`Builds::here`], if this process's program had that name.
    fn of(file: &Path, sources: &str) -> io::Result<Builds> {
        let own = Build::of(Path::new(PROGRAM), library::of(file))?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        let of = |arch| {
            let beside = beside(folder, arch);
            match beside {
                // The narrower one runs on the wider, too.
                Err(Wrong::Missing) if elf::runs(arch, HERE) => Ok(own.clone()),
                beside => beside,
            }
        };
        let all = PROCESSORS.map(|arch| match arch {
            HERE => (arch, Ok(own.clone())),
            _ => (arch, of(arch)),
        });
        Ok(Builds { sources: sources.to_owned(), all: all.into(), folder: folder.to_owned() })
    }

    /// The command that runs the build for a host there, for `sh`. It says whether the host has it,
    /// and what machine the host is; where it is missing, it reads a line and the program, and says
    /// what came of that. No part of it is secret, and nothing of it needs quoting but the whole.
    pub fn command(&self) -> String {
        let mut cases = String::new();
        for (arch, build) in &self.all {
            if let Ok(build) = build {
                let (of, Sent { hash, size, .. }) = (pattern(arch), &build.program);
                let (n, library) = (build.name(), build.library.as_ref());
                let (l, k) = library.map_or((NONE, 0), |it| (&it.hash, it.size));
                let _ = write!(cases, "\"Linux {of}) n={n}; h={hash}; s={size}; l={l}; k={k};; ");
            }
        }
        let sources = &self.sources;
        // What a shell says first may not end its line, behind which no word is seen. The cache is
        // entered, and what is in it named from there: so it is the same one to the end, whoever
        // can rename what leads to it. To list a directory has a client of NFS ask whether what it
        // knew of it is still so.
        let begin = format!(
            "echo; umask 077; m=$(uname -sm); case \"$m\" in {cases}\
             *) echo \"{MARK}other $m\"; exit 1;; esac; f=./muster-$n; {OWN_ALONE}{ENTER}\
             ls . >/dev/null 2>&1; "
        );
        // Whether a file is that long: some shells run what lacks its end as a script. Whether a
        // program is the right one, and has that library. It says so itself, which tells what was
        // damaged; what others could have made is not asked.
        let judge = format!(
            "z() {{ [ \"$(wc -c <\"$1\")\" = $2 ]; }}; \
             v() {{ z \"$1\" $s && o \"$1\" && {{ [ $2 = {NONE} ] || o \"$1{CARRIED}\"; }} && \
             [ \"$(\"$1\" daemon verify $h {sources} $2)\" = $h ]; }}; "
        );
        // One of the two gets its name. What is there is judged, and replaced only if it is wrong
        // and still the same: another host may have done so meanwhile.
        let place = "i() { ls -di \"$f$1\" 2>/dev/null; }; p() { [ -d \"$f$1\" ] && return 1; \
                     ln \"$t$1\" \"$f$1\" 2>/dev/null && return; \
                     w=$(i \"$1\"); v \"$f\" $2 2>/dev/null || \
                     { [ \"$w\" = \"$(i \"$1\")\" ] && mv -f \"$t$1\" \"$f$1\"; } || \
                     v \"$f\" $2; }; \
                     c() { rm -f \"$t\" \"$t\".*; }; ";
        // Both come as one file: what some programs named `head` read they do not write. It is cut
        // where it lies, so that it takes no more room than both and the library. Who was killed a
        // day ago has left what it had.
        let take = format!(
            "t=$f.part.$(cat /proc/sys/kernel/random/uuid); trap \"c; exit 1\" HUP INT TERM; \
             [ $e = 0 ] && {{ find . -name \"muster-*.part.*\" -mtime +0 \
             -exec rm -f {{}} + 2>/dev/null || :; }} && \
             head -c $((s + k)) >\"$t\" && z \"$t\" $((s + k)) && \
             {{ [ $k = 0 ] || {{ tail -c $k \"$t\" >\"$t{CARRIED}\" && \
             dd if=/dev/null of=\"$t\" bs=1 seek=$s 2>/dev/null; }}; }} && \
             chmod 700 \"$t\" && v \"$t\" $l && {{ sync \"$t\"* 2>/dev/null || :; }} && \
             p \"\" {NONE} && {{ [ $k = 0 ] || p {CARRIED} $l; }}"
        );
        format!(
            "{begin}{judge}if [ $e = 0 ] && v \"$f\" $l 2>/dev/null; then echo \"{MARK}has $m\"; \
             else echo \"{MARK}lacks $m\"; read -r go || exit 1; {place}{take} || \
             {{ c; echo \"{MARK}broken $d\"; exit 1; }}; \
             c; echo \"{MARK}has it\"; fi; exec \"$f\" daemon host"
        )
    }

    /// What is sent to a machine that `uname -sm` names so, one behind the other. Each is as long
    /// as was told, also if somebody cuts or writes it meanwhile: then the host says that it is
    /// not what was sent.
    ///
    /// # Errors
    /// Why nothing is, and what to do.
    pub fn files(&self, machine: &str) -> io::Result<Vec<Box<dyn Read + Send>>> {
        let (_, build) = self.known(machine).ok_or(ErrorKind::NotFound)?;
        let Build { program, library } = build.as_ref().map_err(|_| ErrorKind::NotFound)?;
        let open = |it: &&Sent| -> io::Result<Box<dyn Read + Send>> {
            // Each host's sending has a place of its own in it.
            let file = File::open(format!("/proc/self/fd/{}", it.file.as_raw_fd()))?;
            Ok(Box::new(file.chain(io::repeat(0)).take(it.size)))
        };
        [Some(program), library.as_ref()].iter().flatten().map(open).collect()
    }

    /// The program for a machine that `uname -sm` names so, as its user knows it.
    pub fn program(&self, machine: &str) -> String {
        match self.known(machine) {
            Some((arch, _)) if *arch != HERE => {
                let beside = path_for(&self.folder, arch);
                if beside.exists() { beside.display().to_string() } else { OWN.to_owned() }
            }
            _ => OWN.to_owned(),
        }
    }

    fn known(&self, machine: &str) -> Option<&(&'static str, Result<Build, Wrong>)> {
        let arch = machine.strip_prefix("Linux ").and_then(processor)?;
        self.all.iter().find(|(known, _)| *known == arch)
    }

    /// Why there is nothing for a machine, and what to do.
    pub fn lack(&self, machine: &str) -> String {
        let it = format!("it is {machine}");
        let Some((arch, build)) = self.known(machine) else {
            return format!("{it}, and Muster runs on Linux, on {}", PROCESSORS.join(", "));
        };
        let program = path_for(&self.folder, arch);
        let library = library::carried(&program);
        let (program, library) = (program.display(), library.display());
        let why = match build {
            Err(Wrong::Library(what)) => format!("{library} is {what}. Remove it, or build it"),
            Err(Wrong::Program(what)) => format!("{program} is {what}. Build it"),
            _ => format!("this program is for {HERE}, and there is no {program}. Build it"),
        };
        let (package, file) = match build {
            Err(Wrong::Library(_)) => ("muster-mpi-abi", "libmpi_abi.so"),
            _ => ("muster-cli", "muster"),
        };
        let target = target(arch);
        format!(
            "{it}; {why} of the same sources: cargo build --release --target {target} \
             -p {package}, and copy target/{target}/release/{file} there"
        )
    }
}

impl Build {
    /// What it is called on a host: by all that it is made of, so that another library makes
    /// another build of it.
    fn name(&self) -> String {
        let Build { program, library } = self;
        let both = |library: &Sent| [&program.hash[..], &library.hash].concat();
        let both =
            library.as_ref().map(|it| blake3::hash(both(it).as_bytes()).to_hex().to_string());
        both.unwrap_or_else(|| program.hash.clone())
    }

    fn of(program: &Path, library: Option<PathBuf>) -> io::Result<Build> {
        let program = Sent::of(program)?;
        Ok(Build { program, library: library.map(|path| Sent::of(&path)).transpose()? })
    }
}

impl Sent {
    fn of(path: &Path) -> io::Result<Sent> {
        let read = || {
            let file = File::open(path)?;
            hash(&file).map(|(hash, size)| Sent { hash, size, file: Arc::new(file) })
        };
        read().map_err(|error| {
            io::Error::new(error.kind(), format!("{} cannot be sent: {error}", path.display()))
        })
    }
}

/// Where the program for a processor lies, beside this one.
fn path_for(folder: &Path, arch: &str) -> PathBuf {
    folder.join(format!("muster.{arch}"))
}

/// The program for a processor that lies beside this one, if it is what its name says, and the
/// library, for which the same holds.
fn beside(folder: &Path, arch: &str) -> Result<Build, Wrong> {
    let path = path_for(folder, arch);
    let unread = |error: io::Error| format!("not to be read: {error}");
    let is_for = |path: &Path| match processor_of(path).map_err(unread)? {
        Some(own) if own == arch => Ok(()),
        Some(other) => Err(format!("for {other}")),
        None => Err("no program".to_owned()),
    };
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Wrong::Missing),
        _ => is_for(&path).map_err(Wrong::Program)?,
    }
    // What else lies there is for this processor.
    let library = Some(library::carried(&path)).filter(|path| path.is_file());
    library.as_deref().map_or(Ok(()), is_for).map_err(Wrong::Library)?;
    Build::of(&path, library).map_err(|error| Wrong::Program(unread(error)))
}

/// For which processor an ELF file is.
fn processor_of(path: &Path) -> io::Result<Option<&'static str>> {
    let mut head = Vec::new();
    File::open(path)?.take(elf::HEAD as u64).read_to_end(&mut head)?;
    Ok(Kind::of(&head).and_then(Kind::processor))
}

/// The processor of machines that the kernel calls so.
fn processor(machine: &str) -> Option<&'static str> {
    let arch = match machine.as_bytes() {
        [b'i', b'3'..=b'6', b'8', b'6'] => "i686",
        [b'a', b'r', b'm', b'v', b'5'..=b'8', b'l' | b't', ..] => "arm",
        _ => machine,
    };
    PROCESSORS.into_iter().find(|known| *known == arch)
}

/// The machines of a processor, for `sh`, behind what was quoted before.
fn pattern(arch: &str) -> String {
    match arch {
        "i686" => "i\"[3-6]86".to_owned(),
        "arm" => "armv\"[5-8][lt]*".to_owned(),
        _ => format!("{arch}\""),
    }
}

/// What the compiler calls a processor.
fn target(arch: &str) -> String {
    let (cpu, library) = match arch {
        "arm" => ("armv7", "gnueabihf"),
        "ppc64" => ("powerpc64", "gnu"),
        "ppc64le" => ("powerpc64le", "gnu"),
        "riscv64" => ("riscv64gc", "gnu"),
        _ => (arch, "gnu"),
    };
    format!("{cpu}-unknown-linux-{library}")
}

/// Why a host cannot run what was sent to it.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It was damaged on its way.
    #[error("it is not what was sent")]
    Damaged,
    /// The library was, or is not there.
    #[error("the MPI library beside it is not what was sent")]
    Library,
    /// Its other side may mean other things by what it says.
    #[error("it was built of other sources ({own}) than the program that has sent it ({asked})")]
    Sources {
        /// Its own.
        own: String,
        /// The other's.
        asked: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// Sees that this process runs the build of that hash, which is of the sources that were asked for
/// and has that library, if any.
///
/// # Errors
/// [`Unfit`].
pub fn verify(hash: &str, asked: &str, own: &str, library: &str) -> Result<(), Unfit> {
    if asked != own {
        return Err(Unfit::Sources { own: own.to_owned(), asked: asked.to_owned() });
    }
    if self::hash(&File::open(PROGRAM)?)?.0 != hash {
        return Err(Unfit::Damaged);
    }
    let carried = || self::hash(&File::open(library::carried(&std::fs::read_link(PROGRAM)?))?);
    if library != NONE && !carried().is_ok_and(|(own, _)| own == library) {
        return Err(Unfit::Library);
    }
    Ok(())
}

fn hash(file: &File) -> io::Result<(String, u64)> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    Ok((hasher.finalize().to_hex().to_string(), hasher.count()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;
    use std::collections::BTreeMap;
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::process::{Command, Stdio};

    /// A processor whose programs this machine does not run.
    const OTHER: &str = if cfg!(target_arch = "x86_64") { "aarch64" } else { "x86_64" };

    /// The first bytes of this process's program, made those of one for another processor.
    fn head_for(arch: &str) -> Vec<u8> {
        let mut head = std::fs::read(PROGRAM).expect("it is read");
        head.truncate(64);
        (head[18], head[19]) = match arch {
            "aarch64" => (183, 0),
            "loongarch64" => (2, 1),
            "riscv64" => (243, 0),
            _ => (62, 0),
        };
        head
    }

    #[test]
    fn a_command_survives_being_quoted_whole() {
        let home = Scratch::new("carry-quoted");
        home.file(&format!("muster.{OTHER}"), &head_for(OTHER));
        let builds = Builds::of(&home.join("muster"), "abc").expect("we run");
        let command = builds.command();
        // In single quotes for any login shell; csh minds newlines and exclamation marks there.
        assert!(!command.contains(['\'', '\n', '!']), "{command}");
    }

    #[test]
    fn who_runs_another_file_or_one_of_other_sources_says_so() {
        let own = Sent::of(Path::new(PROGRAM)).expect("it is read").hash;
        verify(&own, "abc", "abc", NONE).expect("it is this one");
        assert!(matches!(verify("0", "abc", "abc", NONE), Err(Unfit::Damaged)));
        assert!(matches!(verify(&own, "abc", "abc", "0"), Err(Unfit::Library)));
        let said = verify(&own, "abc", "abd", NONE).expect_err("others").to_string();
        assert!(said.contains("other sources (abd)") && said.contains("(abc)"), "{said}");
    }

    #[test]
    fn every_host_gets_the_program_for_its_processor_or_hears_what_lacks() {
        let home = Scratch::new("carry-choice");
        let mut other = head_for(OTHER);
        other.extend(b"another");
        home.file(&format!("muster.{OTHER}"), &other);
        home.file("muster.riscv64", &head_for(OTHER));
        home.file("muster.s390x", b"#!/bin/sh\n");
        home.file("libmpi_abi.so", b"here");
        let mut there = head_for(OTHER);
        there.extend(b"library");
        home.file(&format!("muster.{OTHER}{CARRIED}"), &there);
        home.file("muster.loongarch64", &head_for("loongarch64"));
        home.file(&format!("muster.loongarch64{CARRIED}"), &there);
        let builds = Builds::of(&home.join("muster"), "abc").expect("we run");
        let sent = |machine: &str| {
            let bytes = |mut file: Box<dyn Read + Send>| {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).map(|_| bytes)
            };
            builds.files(machine)?.into_iter().map(bytes).collect::<io::Result<Vec<_>>>()
        };
        let own = std::fs::read(PROGRAM).expect("it is read");
        assert!(sent(&format!("Linux {HERE}")).is_ok_and(|all| all == [&own[..], b"here"]));
        assert!(sent(&format!("Linux {OTHER}")).is_ok_and(|all| all == [&other[..], &there[..]]));
        for machine in
            ["Linux loongarch64", "Linux riscv64", "Linux s390x", "Linux ppc64le", "Darwin arm64"]
        {
            assert!(sent(machine).is_err(), "{machine}");
        }
        let at = |arch: &str| home.join(format!("muster.{arch}")).display().to_string();
        for (machine, said) in [
            ("Linux riscv64", format!("{} is for {OTHER}. Build", at("riscv64"))),
            (
                "Linux loongarch64",
                format!("{}{CARRIED} is for {OTHER}. Remove it, or build", at("loongarch64")),
            ),
            ("Linux s390x", format!("{} is no program. Build", at("s390x"))),
            ("Linux ppc64le", format!("is for {HERE}, and there is no {}. Build", at("ppc64le"))),
            ("Linux armv7l", "--target armv7-unknown-linux-gnueabihf -p muster-cli".to_owned()),
            ("Darwin arm64", "it is Darwin arm64, and Muster runs on Linux, on ".to_owned()),
        ] {
            let lack = builds.lack(machine);
            assert!(lack.contains(&said), "{machine}: {lack}");
        }
        assert_eq!(["i586", "armv8l", "mips"].map(processor), [Some("i686"), Some("arm"), None]);
    }

    /// A folder whose name a shell may take for something else.
    const CACHE: &str = "a *$1 cache";

    /// The line for `sh` is run by one, on a host whose `uname` says what it is told to; what it
    /// is sent is a script that says what a build says.
    struct Shell {
        home: Scratch,
        builds: Builds,
    }

    impl Shell {
        fn new(test: &str) -> Shell {
            let home = Scratch::new(test);
            let then = "cd \"${0%/*}\"; eval \"$THEN\"";
            for (name, does) in [("uname", "echo Linux $MACHINE"), ("sync", then)] {
                let place = home.file(name, format!("#!/bin/sh\n{does}\n").as_bytes());
                std::fs::set_permissions(place, Permissions::from_mode(0o755)).expect("set");
            }
            home.file("right", b"right");
            let build = |name: &str, library: Option<PathBuf>| {
                let has = format!("[ $5 = none ] || [ \"$(cat \"$0{CARRIED}\")\" = right ]");
                let script = format!("#!/bin/sh\n[ \"$2\" = verify ] || exec echo ran {name}\n");
                let path = home.file(name, format!("{script}{{ {has}; }} && echo $3\n").as_bytes());
                Build::of(&path, library).expect("it is read")
            };
            let wide = build("wide", Some(home.join("right")));
            let all = vec![("riscv64", Ok(wide)), ("arm", Ok(build("narrow", None)))];
            let folder = home.to_path_buf();
            let builds = Builds { sources: "abc".to_owned(), all, folder };
            Shell { home, builds }
        }

        /// What is said by a host of that kind that is sent these files, on which something is done
        /// before they get their names.
        fn called(&self, machine: &str, files: &[&str], then: &str) -> String {
            let home = &self.home;
            let path = format!("{}:/bin:/usr/bin", home.display());
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &self.builds.command()]).env("PATH", path).env("MACHINE", machine);
            shell.env("XDG_CACHE_HOME", home.join(CACHE)).env("THEN", then).env("HOME", &**home);
            let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh");
            let mut to = shell.stdin.take().expect("it is piped");
            let files =
                files.iter().map(|name| std::fs::read(home.join(name)).expect("it is read"));
            // It may want none of it.
            let _ = to.write_all(
                &[b"go\n".to_vec()].into_iter().chain(files).collect::<Vec<_>>().concat(),
            );
            drop(to);
            let said = shell.wait_with_output().expect("it ends").stdout;
            let said = String::from_utf8(said).expect("text").replace(MARK, "");
            said.strip_prefix('\n').expect("what a login says has an end").to_owned()
        }

        /// Where the host keeps what it gets.
        fn place(&self) -> PathBuf {
            self.home.join(CACHE).join("muster")
        }

        /// The name of the program that the host keeps.
        fn wide(&self) -> String {
            format!("muster-{}", self.builds.all[0].1.as_ref().expect("it is there").name())
        }

        /// What the host keeps, by name and inode.
        fn kept(&self) -> BTreeMap<String, u64> {
            let all = std::fs::read_dir(self.place()).expect("it is there").flatten();
            let each = |one: std::fs::DirEntry| {
                let name = one.file_name().into_string().expect("text");
                (name, one.metadata().expect("it is there").ino())
            };
            all.map(each).collect()
        }
    }

    #[test]
    fn a_host_keeps_the_program_for_its_processor_and_runs_it() {
        let host = Shell::new("carry-host");
        let called = |machine: &str, files: &[&str]| host.called(machine, files, "");
        let wide = ["wide", "right"];
        assert_eq!(called("riscv64", &wide), "lacks Linux riscv64\nhas it\nran wide\n");
        assert_eq!(called("riscv64", &wide), "has Linux riscv64\nran wide\n");
        assert_eq!(called("armv7l", &["narrow"]), "lacks Linux armv7l\nhas it\nran narrow\n");
        assert_eq!(called("s390x", &wide), "other Linux s390x\n");
        assert_eq!(host.kept().len(), 3, "nothing is left beside them and the library");
    }

    #[test]
    fn another_library_makes_another_build_and_leaves_that_which_runs() {
        let mut host = Shell::new("carry-builds");
        host.called("riscv64", &["wide", "right"], "");
        let before = host.kept();
        let (_, Ok(build)) = &mut host.builds.all[0] else { panic!("it is there") };
        build.library.as_mut().expect("it has one").hash = "0".to_owned();
        assert_ne!(format!("{}{CARRIED}", host.wide()), *before.keys().last().expect("one"));
        assert_eq!(
            host.called("riscv64", &["wide", "right"], ""),
            "lacks Linux riscv64\nhas it\nran wide\n"
        );
        let after = host.kept();
        assert_eq!(after.len(), 4);
        assert!(before.iter().all(|(name, inode)| after.get(name) == Some(inode)), "{after:?}");
    }

    #[test]
    fn what_is_sent_is_what_was_hashed_and_as_long_whatever_becomes_of_the_file() {
        let host = Shell::new("carry-open");
        let sent = || {
            let mut all = Vec::new();
            for mut file in host.builds.files("Linux riscv64").expect("they are there") {
                file.read_to_end(&mut all).expect("it is read");
            }
            all
        };
        let before = sent();
        std::fs::remove_file(host.home.join("right")).expect("removed");
        host.home.file("right", b"wrong");
        assert_eq!(sent(), before, "another file has its name");
        let program = host.home.join("wide");
        let file = File::options().write(true).open(&program).expect("it is there");
        file.set_len(8).expect("it is cut");
        let cut = sent();
        assert_eq!((cut.len(), &cut[..8]), (before.len(), &before[..8]));
        assert!(cut.ends_with(b"right"));
    }

    #[test]
    fn a_damaged_library_is_replaced_and_nothing_else() {
        let host = Shell::new("carry-library");
        let called = |files: &[&str]| host.called("riscv64", files, "");
        host.home.file("wrong", b"wrong");
        let (program, library) = (host.wide(), format!("{}{CARRIED}", host.wide()));
        let said = called(&["wide", "wrong"]);
        assert!(said.starts_with("lacks Linux riscv64\nbroken "), "{said}");
        assert_eq!(host.kept(), BTreeMap::new());
        called(&["wide", "right"]);
        let before = host.kept();
        let place = host.place().join(&library);
        for spoiled in [None, Some("")] {
            std::fs::remove_file(&place).expect("it is there");
            spoiled.iter().for_each(|text| std::fs::write(&place, text).expect("written"));
            let said = called(&["wide", "right"]);
            assert_eq!(said, "lacks Linux riscv64\nhas it\nran wide\n");
            assert_eq!(std::fs::read(&place).expect("it is there"), b"right");
        }
        let after = host.kept();
        assert_eq!((after.len(), after[&program]), (2, before[&program]));
    }

    #[test]
    fn what_is_cut_off_on_its_way_is_not_run_and_not_kept_nor_what_was_left_days_ago() {
        let host = Shell::new("carry-cut");
        host.home.file("cut", b"#!/bin/sh\necho ran >ran\n");
        std::fs::create_dir_all(host.place()).expect("made");
        let old = host.place().join("muster-0.part.0");
        let file = File::create(&old).expect("made");
        let days = std::time::Duration::from_secs(3 * 24 * 3600);
        file.set_modified(std::time::SystemTime::now() - days).expect("set");
        let said = host.called("riscv64", &["cut"], "");
        assert!(said.starts_with("lacks Linux riscv64\nbroken "), "{said}");
        assert!(!host.place().join("ran").exists());
        assert_eq!(host.kept(), BTreeMap::new());
    }

    /// A program that says that it is the right one: where anybody can put one it is not asked.
    #[test]
    fn what_others_could_have_put_into_the_cache_is_not_run() {
        let host = Shell::new("carry-others");
        let (open, home) = (host.place(), host.home.join(".cache/muster"));
        let mode = |path: &Path, mode: u32| {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
        };
        let length = host.builds.all[0].1.as_ref().expect("it is there").program.size as usize;
        let planted = "#!/bin/sh\n[ \"$2\" = verify ] || exec echo ran planted\necho $3\n";
        let planted = format!("{planted:#<length$}");
        let plant = |folder: &Path| {
            let place = folder.join(host.wide());
            std::fs::write(&place, &planted).expect("written");
            mode(&place, 0o755);
            std::fs::write(folder.join(format!("{}{CARRIED}", host.wide())), "right")
                .expect("written");
        };
        let called = || host.called("riscv64", &["wide", "right"], "");
        std::fs::create_dir_all(&open).expect("made");
        plant(&open);
        assert_eq!(called(), "has Linux riscv64\nran planted\n", "it is the user's alone");
        for others in [0o777, 0o775, 0o1757] {
            mode(&open, others);
            let _ = std::fs::remove_dir_all(&home);
            assert_eq!(called(), "lacks Linux riscv64\nhas it\nran wide\n");
            assert_eq!(called(), "has Linux riscv64\nran wide\n");
        }
        // In a place of the user's alone it may be from a time when it was not.
        for name in [host.wide(), format!("{}{CARRIED}", host.wide())] {
            plant(&home);
            mode(&home.join(name), 0o766);
            let said = called();
            assert!(said.starts_with("lacks Linux riscv64\nhas it\n"), "{said}");
        }
        mode(&home, 0o777);
        assert!(called().starts_with("lacks Linux riscv64\nbroken "));
    }

    /// Over NFS its daemons there lost the files that they were running.
    #[test]
    fn what_another_host_has_put_into_a_shared_cache_meanwhile_stays_and_what_is_damaged_does_not()
    {
        let host = Shell::new("carry-shared");
        let name = host.wide();
        let library = format!("{name}{CARRIED}");
        let put = |from: &str| {
            let place = format!("\"$XDG_CACHE_HOME/muster/{name}\"");
            format!(
                "cp right {place}{CARRIED}; cp {from} {place}; chmod 700 {place}; ln {place} put"
            )
        };
        let inode =
            |name: &str| std::fs::metadata(host.home.join(name)).expect("it is there").ino();
        let said = host.called("riscv64", &["wide", "right"], &put("wide"));
        assert_eq!(said, "lacks Linux riscv64\nhas it\nran wide\n");
        let first = host.kept();
        assert_eq!((first.len(), first[&name]), (2, inode("put")));
        std::fs::remove_file(host.home.join("put")).expect("removed");
        std::fs::remove_file(host.place().join(&name)).expect("removed");
        host.home.file("damaged", b"#!/bin/sh\nexit 1\n");
        let said = host.called("riscv64", &["wide", "right"], &put("damaged"));
        assert_eq!(said, "lacks Linux riscv64\nhas it\nran wide\n");
        let second = host.kept();
        assert_ne!(second[&name], inode("put"));
        assert_eq!(second[&library], first[&library], "it was right");
    }

    /// As when both have found it damaged.
    #[test]
    fn of_two_hosts_that_replace_what_is_damaged_the_later_leaves_what_the_first_has_put() {
        let host = Shell::new("carry-two");
        let name = host.wide();
        host.called("riscv64", &["wide", "right"], "");
        let place = host.place().join(&name);
        // It says no, and has another take its place meanwhile.
        let script = format!(
            "#!/bin/sh\nf=$PWD/$0; cd {}\n\
             cp wide new; chmod 700 new; ln -f new put; mv new \"$f\"; exit 1\n",
            host.home.display()
        );
        let length = std::fs::metadata(&place).expect("it is there").len() as usize;
        let script = format!("{script:#<length$}");
        std::fs::write(&place, &script).expect("written");
        // The first look has mended it already.
        let then = format!("cp damaged \"$XDG_CACHE_HOME/muster/{name}\"");
        host.home.file("damaged", script.as_bytes());
        let said = host.called("riscv64", &["wide", "right"], &then);
        assert_eq!(said, "lacks Linux riscv64\nhas it\nran wide\n");
        let put = std::fs::metadata(host.home.join("put")).expect("it is there").ino();
        assert_eq!(host.kept()[&name], put);
    }
}
