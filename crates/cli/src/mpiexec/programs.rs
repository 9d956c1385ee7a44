//! What the ranks of an `mpiexec` run. One program is what `muster run` gets; of several, each rank
//! chooses its own by a script that `sh` runs on its node.

use super::{Line, Part, mistake};
use crate::run::failure::exit;
use crate::run::program::{self, Program};
use crate::run::{Failure, environment, foreign};
use muster_base::elf;
use std::path::{Path, PathBuf};

/// Words for `muster run`: the flags; the program and its arguments. `in_place`: all nodes are on
/// this machine, so what is here is there, and nothing is sent.
///
/// # Errors
/// A program that is not there or cannot be run, a variable that is not set.
pub fn words(
    line: &Line,
    here: &Path,
    in_place: bool,
) -> Result<(Vec<String>, Vec<String>), Failure> {
    let at = |part: &Part| place(here, part);
    let mut words = vec!["--chdir".to_owned(), at(&line.parts[0]).display().to_string()];
    // The whole job has them; what a part sets itself comes later, and counts there.
    for wish in &line.global_env {
        words.extend(["--env".to_owned(), wish.clone()]);
    }
    if let [part] = &line.parts[..] {
        for wish in &part.env {
            words.extend(["--env".to_owned(), wish.clone()]);
        }
        let named = &named(part);
        let program = match found(named, &at(part), in_place)? {
            Some(path) if in_place => {
                words.push("--no-send".to_owned());
                path.display().to_string()
            }
            Some(path) => path.display().to_string(),
            None => named.clone(),
        };
        let mut command = vec!["--".to_owned(), program];
        command.extend(part.command[1..].iter().cloned());
        return Ok((words, command));
    }
    let (script, sent) = script(line, here, in_place)?;
    for path in sent {
        words.extend(["--bcast".to_owned(), path.display().to_string()]);
    }
    let name = line.parts[0].command[0].rsplit('/').next().unwrap_or_default();
    words.extend(["--name", name].map(str::to_owned));
    Ok((words, ["--", "sh", "-c", &script].map(str::to_owned).into()))
}

/// Where the ranks of a program work.
fn place(here: &Path, part: &Part) -> PathBuf {
    here.join(part.directory.as_deref().unwrap_or_default())
}

/// By which each rank of several programs becomes its own; what has to be sent for that. Of its
/// parts a rank comes into one only.
fn script(line: &Line, here: &Path, in_place: bool) -> Result<(String, Vec<PathBuf>), Failure> {
    let all = line.ranks().unwrap_or(1);
    let mut sent: Vec<PathBuf> = Vec::new();
    let mut script = String::new();
    let mut ranks: u32 = 0;
    for (number, part) in line.parts.iter().enumerate() {
        let named = &named(part);
        let source = found(named, &place(here, part), in_place)?;
        let path = source.as_ref().map_or(named.clone(), |path| path.display().to_string());
        foreign::check(&Program::There(path), named, all as usize)?;
        // The shell below would run it, though one program alone is refused by its node.
        if source.as_deref().is_some_and(program::is_bare_script) {
            let text = "no program. If it is a script, its first line must name its interpreter, \
                        as #!/bin/sh";
            let text = format!("{named}: {text}");
            return Err(Failure::new("E102", exit::NOT_EXECUTABLE, text));
        }
        let program = match source {
            Some(path) if in_place => quoted(&path.display().to_string()),
            Some(path) => {
                let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if sent.iter().any(|other| *other != path && other.ends_with(&file)) {
                    return Err(mistake(format!("two programs are called {file}: rename one")));
                }
                if !sent.contains(&path) {
                    sent.push(path);
                }
                format!("\"$XCPUPATH\"/{}", quoted(&file))
            }
            None => quoted(named),
        };
        ranks = ranks.saturating_add(part.ranks.unwrap_or(1));
        script += &match number {
            0 => format!("if [ \"$MUSTER_RANK\" -lt {ranks} ]; then\n"),
            _ if number + 1 == line.parts.len() => "else\n".to_owned(),
            _ => format!("elif [ \"$MUSTER_RANK\" -lt {ranks} ]; then\n"),
        };
        script += &exports(part)?;
        script += &format!("export MUSTER_APPNUM={number}\n{}", enters(&place(here, part)));
        let arguments: String =
            part.command[1..].iter().map(|word| " ".to_owned() + &quoted(word)).collect();
        script += &format!("exec {program}{arguments}\n");
    }
    script += "fi\n";
    Ok((script, sent))
}

/// What a program is called: by its path, if one was given for it and it is there.
fn named(part: &Part) -> String {
    let named = &part.command[0];
    let dirs = part.path.iter().flat_map(|path| path.split(':')).filter(|dir| !dir.is_empty());
    let dirs = dirs.filter(|_| !named.contains('/'));
    let files = dirs.map(|dir| Path::new(dir).join(named));
    let found = files.into_iter().find(|file| file.is_file());
    let found = found.and_then(|file| std::path::absolute(file).ok());
    found.map_or(named.clone(), |file| file.display().to_string())
}

/// Where a program is that was named by a path: here, or where its ranks work.
fn found(named: &str, directory: &Path, in_place: bool) -> Result<Option<PathBuf>, Failure> {
    if !named.contains('/') {
        return Ok(None);
    }
    let path = std::path::absolute(named).unwrap_or_else(|_| named.into());
    let there = directory.join(named);
    if !path.exists() && there.exists() {
        return Ok(Some(there));
    }
    let Program::Here(binaries) = program::find(named, true)? else { return Ok(Some(path)) };
    // Beside it, or instead of it, there may be those for other processors.
    let own = binaries.iter().find(|binary| binary.arch == Some(elf::HERE));
    let chosen = own.filter(|_| in_place).map(|binary| std::path::absolute(&binary.path));
    Ok(Some(chosen.and_then(Result::ok).unwrap_or(path)))
}

/// Lines that set the variables of one program among several.
fn exports(part: &Part) -> Result<String, Failure> {
    let mut lines = String::new();
    for (name, value) in environment::gather(std::env::vars_os(), &part.env, false)? {
        if !is_name(&name) {
            let text = "of several programs, each sets its own by a shell, which knows names of \
                        letters, digits and '_'. Use -genv";
            return Err(mistake(format!("{name}: {text}")));
        }
        lines += &format!("export {name}={}\n", quoted(&value));
    }
    Ok(lines)
}

/// Lines that go to where a program works; the rank fails as the node would let it if it had only
/// this program.
fn enters(directory: &Path) -> String {
    let directory = quoted(&directory.display().to_string());
    let said = "muster: %s: no working directory on %s  [E107, exit 125]\\n";
    format!(
        "cd {directory} 2>/dev/null || {{\n\
         printf '{said}' {directory} \"$MUSTER_NODE\" >&2\n\
         exit 125\n}}\n"
    )
}

/// Whether `sh` takes it for a variable's name.
fn is_name(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.chars().all(is_part) && word.starts_with(|c: char| !c.is_ascii_digit())
}

/// A word as `sh` takes it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::super::flags::read;
    use super::*;

    #[test]
    fn a_bare_name_is_looked_for_where_path_says() {
        let words = |path: &str| {
            let line = ["-path", path, "sh", "-c", "true"].map(str::to_owned);
            let words = super::words(&read(&line).expect("flags"), Path::new("/"), true);
            words.expect("a program").1[1].clone()
        };
        assert_eq!(words("/nowhere:/bin"), "/bin/sh");
        assert_eq!(words("/nowhere"), "sh", "then it is the nodes' own");
    }

    #[test]
    fn no_name_of_a_variable_is_taken_for_a_command() {
        let words = |words: &[&str]| {
            let line = read(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
            let words = super::words(&line.expect("flags"), Path::new("/"), true);
            words.map(|(flags, command)| [flags, command].concat().join(" "))
        };
        for odd in ["A;reboot;B", "a.b", "A B", "1A"] {
            let set = format!("{odd}=1");
            let failure = words(&["-x", &set, "true", ":", "true"]).expect_err(odd);
            assert!(failure.text.starts_with(&format!("mpiexec: {odd}: of several")), "{failure}");
            // Without a shell it is a name like others.
            assert!(words(&["-x", &set, "true"]).expect(odd).contains(&format!("--env {set}")));
            let all = words(&["-genv", odd, "1", "true", ":", "true"]).expect(odd);
            assert!(all.contains(&format!("--env {set}")), "{all}");
        }
        let script = words(&["-x", "_a1=it's", "true", ":", "true"]).expect("a name");
        assert!(script.contains("export _a1='it'\\''s'\n"), "{script}");
    }
}
