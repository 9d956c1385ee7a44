//! A file of lines for `mpiexec`, each as between two colons: what `-configfile FILE` stands for
//! (MPI, "Portable MPI process startup").

use super::mistake;
use crate::run::Failure;
use muster_base::quote;

/// What names it: by the standard and MPICH, and by Open MPI.
pub const NAMES: &[&str] = &["configfile", "app"];

/// The words of a file of lines, if the last words name one.
///
/// # Errors
/// It cannot be read.
pub fn named(words: &[String]) -> Result<Option<Vec<String>>, Failure> {
    let (written, path) = match words {
        [word] => (word, word.split_once('=').map(|(_, path)| path)),
        [word, path] if !word.contains('=') => (word, Some(&**path)),
        _ => return Ok(None),
    };
    let name = written.trim_start_matches('-').split('=').next().unwrap_or_default();
    let Some(path) = path.filter(|_| NAMES.contains(&name)) else { return Ok(None) };
    let wrong = |why: String| mistake(format!("{written}: {path}: {why}"));
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| wrong(crate::run::said(&error)))?;
    let mut all = Vec::new();
    let whole = text.replace("\r\n", "\n").replace("\\\n", " ");
    let told = whole.lines().map(str::trim);
    let told = told.filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (at, line) in told.enumerate() {
        if at > 0 {
            all.push(":".into());
        }
        // Open MPI's have the colon as well.
        let line = line.strip_suffix(" :").unwrap_or(line);
        all.extend(quote::split(line).map_err(|error| wrong(format!("'{line}': {error}")))?);
    }
    Ok(Some(all))
}

#[cfg(test)]
mod tests {
    use super::super::{Line, flags};

    fn read(text: &str) -> Result<Line, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        flags::read(&words).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_file_of_lines_is_as_if_they_were_written_with_colons() {
        let path = std::env::temp_dir().join(format!("muster-lines-{}", std::process::id()));
        let text = "# ours\n-n 1 ./a 'x y'\n\n-n 3 \\\n -env X y ./b\n  -n 2 -soft 1,4 c : \n";
        std::fs::write(&path, text).unwrap();
        for flag in ["-configfile ", "--app="] {
            let all = read(&format!("-l {flag}{}", path.display())).unwrap();
            let commands: Vec<_> = all.parts.iter().map(|part| part.command.join("|")).collect();
            assert_eq!((commands.join(" "), all.ranks()), ("./a|x y ./b c".into(), Some(5)));
            assert_eq!(
                (all.run, &*all.parts[1].env),
                (vec!["--label".into()], &["X=y".into()][..])
            );
        }
        // What a program is given is its own.
        assert!(read("-n 1 ./a -configfile /no/such").is_ok());
        std::fs::write(&path, format!("-configfile {}", path.display())).unwrap();
        let itself = read(&format!("-configfile {}", path.display())).expect_err("no end");
        assert!(itself.contains("names no other"), "{itself}");
        std::fs::remove_file(&path).unwrap();
    }
}
