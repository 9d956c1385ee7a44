//! The libraries that programs need, found here to be sent along: `--bcast-libs`.
//!
//! They are looked for as the loader would, by what the files say (`muster_base::elf`); nothing is
//! executed. For each name that a file needs: the RPATH of that file and of those that brought it
//! in, unless it has a RUNPATH; LD_LIBRARY_PATH; its RUNPATH; the loader's cache; the system's
//! directories. A file for another kind of processor is passed over, and so are those for certain
//! models of it (`glibc-hwcaps`): nodes may be of another.
//!
//! The C library stays behind, with all that is part of it: a program names its loader by a path,
//! so that is always the node's own, and the two have to be from one build.

mod cache;

use super::failure::{Failure, exit};
use super::program::{Binary, Program};
use cache::Cache;
use muster_base::elf::{self, Elf, Kind};
use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Where the cache of glibc's loader is.
const CACHE: &str = "/etc/ld.so.cache";

/// Where its libraries are if nothing else says so.
const SYSTEM: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// Where musl's are.
const MUSL: [&str; 3] = ["/lib", "/usr/local/lib", "/usr/lib"];

/// How the names of loaders and of what belongs to the C library begin: glibc's, then musl's.
const OF_LIBC: [&str; 20] = [
    "ld-linux",
    "ld.so.",
    "ld64.so.",
    "libBrokenLocale.so.",
    "libanl.so.",
    "libc.so.",
    "libc_malloc_debug.so.",
    "libdl.so.",
    "libm.so.",
    "libmvec.so.",
    "libnsl.so.1",
    "libnss_compat.so.",
    "libnss_dns.so.",
    "libnss_files.so.",
    "libpthread.so.",
    "libresolv.so.",
    "librt.so.",
    "libutil.so.",
    "ld-musl-",
    "libc.musl-",
];

/// A library that goes along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// What it is asked for by.
    pub name: String,
    /// Where it is here.
    pub path: PathBuf,
    /// The processor of the nodes that it is for, where there are several.
    pub arch: Option<&'static str>,
}

/// Where libraries are looked for, whoever needs them.
struct Places {
    library_path: Vec<String>,
    cache: Cache,
}

impl Places {
    /// Those of this machine and this environment.
    fn here() -> Places {
        let listed = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let cache = Cache::read(&std::fs::read(CACHE).unwrap_or_default());
        Places { library_path: words(&listed.to_string_lossy()), cache }
    }
}

/// The words of LD_LIBRARY_PATH.
fn words(listed: &str) -> Vec<String> {
    // An empty one is the working directory.
    let one = |word: &str| if word.is_empty() { "." } else { word }.to_owned();
    listed.split([':', ';']).filter(|_| !listed.is_empty()).map(one).collect()
}

/// A file whose libraries are looked for.
struct Needs {
    elf: Elf,
    path: PathBuf,
    /// Which of the others has brought it in.
    by: Option<usize>,
}

/// The libraries that are to go along with a program and files.
///
/// # Errors
/// Which is not found, and what needs it; or there is nothing whose libraries could be meant.
pub fn wanted(program: &Program, files: &[PathBuf]) -> Result<Vec<Library>, Failure> {
    let own: &[Binary] = match program {
        Program::There(named) if files.is_empty() => {
            let text = format!(
                "--bcast-libs: {named} is the nodes' own, and so are its libraries. To send yours: \
                 muster run --bcast-libs ./{named}"
            );
            return Err(Failure::new("E100", exit::USAGE, text));
        }
        Program::There(_) => &[],
        Program::Here(binaries) => binaries.as_slice(),
    };
    of(own.iter().map(|binary| &binary.path).chain(files), &Places::here())
}

/// The libraries that some files need, each once; a file that is no binary needs none.
fn of<'a>(
    files: impl IntoIterator<Item = &'a PathBuf>,
    places: &Places,
) -> Result<Vec<Library>, Failure> {
    let (mut found, mut seen, mut kinds) = (Vec::new(), HashSet::new(), HashSet::new());
    for file in files {
        let Some(elf) = read(file)? else { continue };
        let path = file.canonicalize().unwrap_or_else(|_| file.clone());
        kinds.insert(elf.kind);
        let (kind, musl) = (elf.kind, elf.interpreter.as_deref().and_then(musl_directories));
        let mut all = vec![Needs { elf, path, by: None }];
        let mut at = 0;
        while at < all.len() {
            for name in all[at].elf.needed.clone() {
                // A path is nobody's to change.
                let stays = name.contains('/') || OF_LIBC.iter().any(|it| name.starts_with(it));
                if stays || !seen.insert((kind, name.clone())) {
                    continue;
                }
                let at_hand = search(&all, at, &name, places, musl.as_deref());
                let Some((path, elf)) = at_hand else { return Err(missing(file, &all[at], &name)) };
                found.push((kind, Library { name, path: path.clone(), arch: None }));
                all.push(Needs { elf, path, by: Some(at) });
            }
            at += 1;
        }
    }
    let each = |(kind, library): (Kind, Library)| {
        let arch = kind.processor().filter(|_| kinds.len() > 1);
        Library { arch, ..library }
    };
    Ok(found.into_iter().map(each).collect())
}

fn missing(program: &Path, needs: &Needs, name: &str) -> Failure {
    let via = match needs.by {
        Some(_) => format!(" (by way of {})", needs.path.display()),
        None => String::new(),
    };
    let text = format!(
        "{} needs the shared library {name}{via}, which is not found here. Add its directory: \
         export LD_LIBRARY_PATH=DIR",
        program.display()
    );
    Failure::new("E106", exit::NOT_FOUND, text)
}

/// What a file says of itself; none if it is no binary.
pub(super) fn read(path: &Path) -> Result<Option<Elf>, Failure> {
    let damaged = |why: String| {
        let text = format!("{}: {why}: its libraries are not known", path.display());
        Failure::new("E103", exit::NOT_EXECUTABLE, text)
    };
    match path.metadata() {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Ok(None),
        Err(error) => return Err(damaged(super::said(&error))),
    }
    let file = File::open(path).map_err(|error| damaged(super::said(&error)))?;
    let part = |offset, length| {
        let mut bytes = vec![0; length];
        let mut has = 0;
        while has < length {
            match file.read_at(&mut bytes[has..], offset + has as u64) {
                Ok(read) if read > 0 => has += read,
                _ => break,
            }
        }
        bytes.truncate(has);
        bytes
    };
    elf::read(part).map_err(|error| damaged(error.to_string()))
}

/// The first file of that name, for that processor, that the loader would come to.
fn search(
    all: &[Needs],
    at: usize,
    name: &str,
    places: &Places,
    musl: Option<&[PathBuf]>,
) -> Option<(PathBuf, Elf)> {
    let (needs, kind) = (&all[at], all[0].elf.kind);
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut by = Some(at).filter(|_| needs.elf.runpath.is_none());
    while let Some(one) = by.map(|by| &all[by]) {
        let rpath = one.elf.rpath.as_deref().filter(|_| one.elf.runpath.is_none());
        directories.extend(rpath.into_iter().flat_map(|list| listed(list, &one.path, kind)));
        by = one.by;
    }
    // What is replaced there means the program.
    let words = places.library_path.iter();
    directories.extend(words.flat_map(|word| listed(word, &all[0].path, kind)));
    let runpath = needs.elf.runpath.as_deref();
    directories.extend(runpath.into_iter().flat_map(|list| listed(list, &needs.path, kind)));
    let mut files: Vec<PathBuf> = directories.iter().map(|dir| dir.join(name)).collect();
    match musl {
        Some(musl) => files.extend(musl.iter().map(|dir| dir.join(name))),
        None => {
            files.extend(places.cache.of(name).map(PathBuf::from));
            files.extend(system(kind).map(|dir| dir.join(name)));
        }
    }
    files.into_iter().find_map(|path| {
        let elf = read(&path).ok().flatten().filter(|elf| elf.kind == kind)?;
        // What it brings in may be named from where it is.
        Some((std::path::absolute(&path).unwrap_or(path), elf))
    })
}

/// The directories of an RPATH or RUNPATH.
fn listed(list: &str, file: &Path, kind: Kind) -> Vec<PathBuf> {
    let origin = file.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    let words = list.split(':').filter(|word| !word.is_empty());
    let libs = libs(kind);
    let replaced = |word: &str| {
        let put = |word: String, name: &str, by: &str| {
            word.replace(&format!("${{{name}}}"), by).replace(&format!("${name}"), by)
        };
        let word = put(word.to_owned(), "ORIGIN", &origin);
        let word = put(word, "PLATFORM", kind.processor().unwrap_or_default());
        libs.iter().map(|lib| PathBuf::from(put(word.clone(), "LIB", lib))).collect::<Vec<_>>()
    };
    let mut all: Vec<PathBuf> = words.flat_map(replaced).collect();
    all.dedup();
    all
}

/// How Debian calls a kind in directories' names.
fn triplet(kind: Kind) -> String {
    match kind.processor().unwrap_or_default() {
        "i686" => "i386-linux-gnu".to_owned(),
        "arm" => "arm-linux-gnueabihf".to_owned(),
        "ppc64le" => "powerpc64le-linux-gnu".to_owned(),
        name => format!("{name}-linux-gnu"),
    }
}

/// What `$LIB` may stand for.
fn libs(kind: Kind) -> [String; 3] {
    [format!("lib/{}", triplet(kind)), "lib64".to_owned(), "lib".to_owned()]
}

/// Directories of the system, those of compilers for other processors among them.
fn system(kind: Kind) -> impl Iterator<Item = PathBuf> {
    let triplet = triplet(kind);
    let debian = [format!("/lib/{triplet}"), format!("/usr/lib/{triplet}")];
    let cross = format!("/usr/{triplet}/lib");
    debian.into_iter().chain(SYSTEM.map(str::to_owned)).chain([cross]).map(PathBuf::from)
}

/// Where the libraries of programs that musl's loader loads are; none if it is another loader.
fn musl_directories(interpreter: &str) -> Option<Vec<PathBuf>> {
    let name = interpreter.rsplit('/').next()?;
    let stem = name.strip_prefix("ld-musl-")?.split('.').next()?;
    let listed = std::fs::read_to_string(format!("/etc/ld-musl-{stem}.path")).unwrap_or_default();
    let words: Vec<PathBuf> =
        listed.split([':', '\n']).filter(|word| !word.is_empty()).map(PathBuf::from).collect();
    Some(if words.is_empty() { MUSL.map(PathBuf::from).to_vec() } else { words })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_stays_and_what_is_named_like_it_goes() {
        let stays = |name: &str| OF_LIBC.iter().any(|it| name.starts_with(it));
        for name in ["libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6", "libpthread.so.0"] {
            assert!(stays(name), "{name}");
        }
        for name in ["libc++.so.1", "libmpi.so.40", "libgcc_s.so.1", "libdlib.so", "libmd.so.0"] {
            assert!(!stays(name), "{name}");
        }
    }

    #[test]
    fn a_path_of_directories_is_read_as_the_loader_does() {
        let kind = read(Path::new("/proc/self/exe")).unwrap().expect("a binary").kind;
        let file = Path::new("/opt/x/bin/prog");
        let all = listed("$ORIGIN/../lib:${ORIGIN}::/opt/y", file, kind);
        assert_eq!(all, ["/opt/x/bin/../lib", "/opt/x/bin", "/opt/y"].map(PathBuf::from));
        assert!(listed("/usr/$LIB", file, kind).contains(&PathBuf::from("/usr/lib64")));
    }

    #[test]
    fn where_a_program_is_may_stand_in_the_path_of_libraries() {
        let name = "libgcc_s.so.1";
        let own = std::env::current_exe().unwrap();
        let there = of([&own], &Places::here()).unwrap().into_iter().find(|one| one.name == name);
        let Some(there) = there else { return };
        let place = std::env::temp_dir().join(format!("muster-origin-{}", std::process::id()));
        std::fs::create_dir_all(place.join("bin")).unwrap();
        std::fs::create_dir_all(place.join("lib")).unwrap();
        let program = place.join("bin/program");
        std::fs::copy(&own, &program).unwrap();
        std::fs::copy(&there.path, place.join("lib").join(name)).unwrap();
        let library_path = words("/nowhere;$ORIGIN/../lib");
        let found = of([&program], &Places { library_path, cache: Cache::default() }).unwrap();
        let found = found.into_iter().find(|one| one.name == name).unwrap();
        let is_ours = found.path.canonicalize().unwrap().starts_with(place.canonicalize().unwrap());
        std::fs::remove_dir_all(&place).unwrap();
        assert!(is_ours, "{}", found.path.display());
    }

    #[test]
    fn an_empty_word_is_the_working_directory() {
        assert_eq!(
            (words("a::b"), words("")),
            (["a", ".", "b"].map(String::from).to_vec(), vec![])
        );
    }

    #[test]
    fn what_is_no_binary_needs_nothing() {
        let places = Places { library_path: Vec::new(), cache: Cache::default() };
        let files = ["/proc/version", "/proc", "/etc/passwd"].map(PathBuf::from);
        assert_eq!(of(&files, &places), Ok(Vec::new()));
    }

    #[test]
    fn this_program_finds_its_libraries_as_the_loader_did() {
        let own = std::env::current_exe().unwrap();
        let found = of([&own], &Places::here()).unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        for Library { path, .. } in &found {
            let path = path.canonicalize().unwrap();
            assert!(maps.contains(path.to_str().unwrap()), "{} is not what runs", path.display());
        }
        // Rust's own programs need it for unwinding.
        let is_mapped = maps.contains("libgcc_s.so.1");
        assert_eq!(is_mapped, found.iter().any(|one| one.name == "libgcc_s.so.1"), "{found:?}");
    }
}
